#include "rows/key_domains.hpp"

#include "border/scope.hpp"
#include "catalog/settings.hpp"
#include "rows/expression_groups.hpp"
#include "rows/groups.hpp"
#include "rows/narrowed.hpp"
#include "rows/nodes.hpp"
#include "rows/people_sources.hpp"
#include "rows/public_values.hpp"
#include "rows/visible_groups.hpp"

namespace dp::rows {

// The texts were stored under pinned settings and are read under the same ones: what they mean is not the caller's to choose.
static KeyDomain stored_domain(ArrayType *declared, const query::Key *spec, const char *name) {
    border::SettingsScope scope = border::SettingsScope::enter();
    KeyDomain domain = declared_domain(declared, spec->type, spec->typmod, spec->collation, name);
    scope.leave();
    return domain;
}

// Its values are nobody's secret. More than an answer may have groups are discovered, like those that nobody declared.
static bool read_public_domain(const catalog::Reading &reading, const Question *question, AttrNumber column,
                               KeyDomain *domain) {
    return public_domain(reading, *source_at(question, query::varno_of(column))->source, query::attno_of(column),
                         max_coordinates, domain);
}

// The groups of a key that is a column of a sub-SELECT are those that it has there, and NULL where an outer join may add that.
static bool read_people_domain(const Question *question, Node *folded, KeyDomain *domain) {
    const auto *column = reinterpret_cast<const Var *>(folded);
    const Source *source = IsA(column, Var) ? source_at(question, static_cast<int>(column->varno)) : nullptr;
    if (source == nullptr || source->people == nullptr || !groups_of_people(source->people, column->varattno, domain))
        return false;
    if (source->source->nullable && domain->find(Datum(0), true) < 0) {
        auto *values = static_cast<Datum *>(palloc0(sizeof(Datum) * (domain->count + 1)));
        auto *nulls = static_cast<bool *>(palloc0(sizeof(bool) * (domain->count + 1)));
        memcpy(values, domain->values, sizeof(Datum) * domain->count);
        memcpy(nulls, domain->nulls, sizeof(bool) * domain->count);
        nulls[domain->count++] = true;
        domain->values = values;
        domain->nulls = nulls;
    }
    return true;
}

bool read_domain(const catalog::Reading &reading, Question *question, int key, ColumnRanges *columns,
                        Node *folded) {
    const query::Key *spec = &question->leaf->keys[key];
    const AttrNumber column = question->key_columns[key];
    const bool is_public =
        column != InvalidAttrNumber && source_at(question, query::varno_of(column))->source->is_public;
    if (!is_public && named_groups(columns->narrowed, question, key, folded, &question->domains[key]))
        return true;
    if (column == InvalidAttrNumber && read_people_domain(question, folded, &question->domains[key]))
        return true;
    if (column == InvalidAttrNumber)
        return derive_domain(columns, question, key, folded, &question->domains[key]);
    if (is_public)
        return read_public_domain(reading, question, column, &question->domains[key]);
    const char *name = column_name(question, column);
    ArrayType *declared = catalog::column_groups(reading, relation_of(question, column), name);
    if (declared != nullptr)
        question->domains[key] = stored_domain(declared, spec, name);
    else if (has_type_domain(spec->type))
        question->domains[key] = type_domain(spec->type, spec->collation, is_nullable(question, column));
    else
        return derive_domain(columns, question, key, folded, &question->domains[key]);
    return true;
}

// ---- of a sub-SELECT with rows of units ------------------------------------------------------------------------------

// Leaves of the groups of one column those for which conditions on it alone hold, as a question with this key would.
static void leave_shown(const Question *people, int key) {
    Question alone = *people;
    query::Leaf leaf = *people->leaf;
    leaf.keys += key;
    leaf.nkeys = 1;
    alone.leaf = &leaf;
    alone.keys += key;
    alone.domains += key;
    alone.ngroups = alone.domains->count;
    alone.where = make_and_qual(another(people->where), another(people->per_unit->where));
    choose_shown(&alone);
    for (int i = 0; alone.places != nullptr && i < alone.ngroups; i++) {
        alone.domains->values[i] = alone.domains->values[alone.places[i]];
        alone.domains->nulls[i] = alone.domains->nulls[alone.places[i]];
    }
    alone.domains->count = alone.ngroups;
}

bool groups_of_people(const Question *people, AttrNumber column, KeyDomain *domain) {
    const int key = column - 1;
    if (key >= people->leaf->nkeys)
        return false;
    auto *own = const_cast<Question *>(people);
    if (people->domains[key].values == nullptr) {
        if (!read_domain(*people->ranges->reading, own, key, people->ranges, static_cast<Node *>(list_nth(people->folded, key))))
            return false;
        leave_shown(people, key);
    }
    *domain = people->domains[key];
    return true;
}

} // namespace dp::rows
