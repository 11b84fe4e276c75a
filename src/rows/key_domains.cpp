#include "rows/key_domains.hpp"

#include "catalog/settings.hpp"
#include "query/from.hpp"
#include "rows/expression_groups.hpp"
#include "rows/groups.hpp"
#include "rows/narrowed.hpp"
#include "rows/nodes.hpp"
#include "rows/people_sources.hpp"
#include "rows/public_values.hpp"
#include "rows/listed_values.hpp"
#include "rows/pinned.hpp"
#include "border/each.hpp"
#include "border/refuse.hpp"

namespace dp::rows {

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
        auto *values = zeroed<Datum>(domain->count + 1);
        auto *nulls = zeroed<bool>(domain->count + 1);
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
        question->domains[key] = stored_domain(declared, spec->type, spec->typmod, spec->collation, name);
    else if (has_type_domain(spec->type))
        question->domains[key] = type_domain(spec->type, spec->collation, is_nullable(question, column));
    else
        return derive_domain(columns, question, key, folded, &question->domains[key]);
    return true;
}

// ---- which are shown -------------------------------------------------------------------------------------------------

// The conjuncts of WHERE, at any depth of AND, that mention keys and no other column, over these. One without any column hides no
// group: WHERE false asks for the columns of an answer.
static List *conditions_on_keys(const Question *question, const List *keys) {
    List *conditions = NIL;
    for (auto *conjunct : border::each<Node>(query::conjuncts_of(question->where))) {
        bool others;
        Node *condition = over_listed(conjunct, keys, &others);
        bool decides = !others && contain_var_clause(condition);
        for (auto *met : border::each<const Var>(pull_var_clause(condition, 0)))
            decides = decides && is_of_value(conjunct, static_cast<Node *>(list_nth(keys, met->varattno - 1)));
        if (decides)
            conditions = lappend(conditions, condition);
    }
    return conditions;
}

// The groups for which the conditions hold. As in the internal statement, FALSE and NULL exclude.
static int keep_groups(const Question *question, const List *keys, List *conditions, int64 *kept) {
    auto *listed = array_of<Listed>(list_length(keys));
    for (int i = 0; i < list_length(keys); i++)
        listed[i] = {question->domains[i].count, question->domains[i].values, question->domains[i].nulls};
    Trial trial = begin_trial(keys);
    trial.test = ExecPrepareQual(conditions, trial.state);
    int n = 0;
    for (int group = 0; group < question->ngroups; group++) {
        CHECK_FOR_INTERRUPTS();
        const int64 place = place_of_group(question, group);
        set_place(trial, listed, place);
        if (ExecQual(trial.test, GetPerTupleExprContext(trial.state)))
            kept[n++] = place;
        ResetPerTupleExprContext(trial.state);
    }
    end_trial(trial);
    return n;
}

void choose_shown(Question *question) {
    const List *keys = keys_of(question);
    List *conditions = conditions_on_keys(question, keys);
    if (keys == NIL || (conditions == NIL && question->places == nullptr))
        return;
    // Where conditions would take too long the list stays as it is: that says nothing about rows either.
    if (question->places == nullptr &&
        question->ngroups * query::time_of_group(question->where_cost) > query::longest_derivation)
        return;
    auto *kept = array_of<int64>(question->ngroups + 1);
    question->ngroups =
        pinned_as(question->settings->owner, [&] { return keep_groups(question, keys, conditions, kept); });
    question->places = kept;
    if (question->ngroups == 0 && !question->groups_only)
        refuse_value("the conditions exclude every declared group: nothing private would be answered",
                     "The groups of a column are those that the controller declared with "
                     "dp_set_groups(); of a boolean or enum column all values.");
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

// The groups of a column of UNION ALL are those of one of its parts.
static bool groups_of_branches(const Question *people, AttrNumber column, KeyDomain *domain) {
    Datum *values = nullptr;
    bool *nulls = nullptr;
    int n = 0;
    for (int i = 0; i < people->nsources; i++) {
        KeyDomain part = {};
        if (!groups_of_people(people->sources[i].people, column, &part))
            return false;
        values = i == 0 ? array_of<Datum>(part.count + 1) : static_cast<Datum *>(repalloc(values, sizeof(Datum) * (n + part.count + 1)));
        nulls = i == 0 ? array_of<bool>(part.count + 1) : static_cast<bool *>(repalloc(nulls, n + part.count + 1));
        memcpy(values + n, part.values, sizeof(Datum) * part.count);
        memcpy(nulls + n, part.nulls, sizeof(bool) * part.count);
        n += part.count;
    }
    const query::Key &key = people->leaf->keys[column - 1];
    *domain = domain_of_values(key.type, key.collation, values, nulls, n);
    domain->derived = true;
    return n > 0;
}

bool groups_of_people(const Question *people, AttrNumber column, KeyDomain *domain) {
    const int key = column - 1;
    if (key >= people->leaf->nkeys)
        return false;
    if (has_branches(people))
        return groups_of_branches(people, column, domain);
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
