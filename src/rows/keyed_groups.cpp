#include "rows/keyed_groups.hpp"

#include "border/each.hpp"
#include "catalog/domain.hpp"
#include "rows/public_values.hpp"

namespace dp::rows {

namespace {
// Columns of a table that are known where a group and a unit are.
struct Known {
    const Source *source;
    int n;
    AttrNumber *columns;
};
} // namespace

// Returns the only table of which a unit may have several rows, where each of them is in one joined row at most; null: there is none.
static const Source *counted_source(const Question *question) {
    const query::Joined *joined = question->units->joined;
    if (joined == nullptr)
        return &question->sources[0];
    if (joined->several < 0 || question->sources[joined->several].people != nullptr || joined->max_rows != question->sources[joined->several].settings->unit->max_rows)
        return nullptr;
    return &question->sources[joined->several];
}

// Returns the key as a plain column of a source, numbered as those of the tables; 0: it is none.
static AttrNumber column_of_key(const Question *question, int key) {
    const auto *column = reinterpret_cast<const Var *>(question->leaf->keys[key].expression);
    if (!IsA(column, Var) || source_at(question, column->varno) == nullptr)
        return InvalidAttrNumber;
    return map_number(question, query::column_number(column));
}

// Adds the columns of a source that WHERE equates with this one. Equalities are strict: neither is NULL in a joined row.
static void add_equated(const Question *question, AttrNumber number, Known *known) {
    const query::Joined *joined = question->units->joined;
    for (auto *equality : border::each<const query::Equality>(joined == nullptr ? NIL : joined->equalities)) {
        if (equality->on != nullptr || equality->by != nullptr || (equality->left != number && equality->right != number))
            continue;
        const AttrNumber other = equality->left == number ? equality->right : equality->left;
        if (query::varno_of(other) == known->source->source->varno)
            known->columns[known->n++] = query::attno_of(other);
    }
}

static bool covers(const Known &known) {
    return catalog::covers_key(known.source->relation, known.n, known.columns);
}

// Has room for the unit, and for each key or equality once.
static Known begin_known(const Question *question, const Source *source) {
    const query::Joined *joined = question->units->joined;
    const int room = catalog::max_unit_columns + question->leaf->nkeys +
                     2 * list_length(joined == nullptr ? NIL : joined->equalities) * (question->leaf->nkeys + 1);
    return Known{source, 0, static_cast<AttrNumber *>(palloc(sizeof(AttrNumber) * room))};
}

// The unit, the keys that are columns of the table and never NULL, and what is equated with keys.
static Known known_by_keys(const Question *question, const Source *source) {
    const catalog::UnitPath *path = source->settings->unit;
    Known known = begin_known(question, source);
    for (int i = 0; i < path->ncolumns; i++)
        known.columns[known.n++] = path->columns[i];
    for (int i = 0; i < question->leaf->nkeys; i++) {
        const AttrNumber number = column_of_key(question, i);
        if (number == InvalidAttrNumber)
            continue;
        if (query::varno_of(number) == source->source->varno && !is_nullable(question, number))
            known.columns[known.n++] = query::attno_of(number);
        add_equated(question, number, &known);
    }
    return known;
}

// Adds what the rows of a public table with one group's values may be joined by, if that is a key of it. Returns how many there are of
// them; 1 where it adds nothing.
static int64 add_public(const catalog::Reading &reading, const Question *question, const Source &source, Known *known) {
    Known key = begin_known(question, &source);
    const int before = known->n;
    for (auto *equality : border::each<const query::Equality>(question->units->joined->equalities)) {
        const bool left = query::varno_of(equality->left) == source.source->varno;
        const AttrNumber own = left ? equality->left : equality->right, other = left ? equality->right : equality->left;
        if (equality->on != nullptr || equality->by != nullptr || query::varno_of(own) != source.source->varno ||
            query::varno_of(other) != known->source->source->varno)
            continue;
        key.columns[key.n++] = query::attno_of(own);
        known->columns[known->n++] = query::attno_of(other);
    }
    Known shown = begin_known(question, &source);
    for (int i = 0; i < question->leaf->nkeys; i++) {
        const AttrNumber number = column_of_key(question, i);
        if (number != InvalidAttrNumber && query::varno_of(number) == source.source->varno)
            shown.columns[shown.n++] = query::attno_of(number);
    }
    if (shown.n == 0 || source.source->rows != nullptr || !covers(key)) {
        known->n = before;
        return 1;
    }
    return largest_multiplicity(&reading, *source.source, shown.n, shown.columns, true);
}

int rows_per_group_by_keys(const catalog::Reading &reading, const Question *question) {
    const int most = question->units->max_rows;
    const Source *source = counted_source(question);
    if (source == nullptr || !source->settings->unit->direct || source->source->nullable)
        return most;
    Known known = known_by_keys(question, source);
    int64 rows = 1;
    for (int i = 0; i < question->nsources && !covers(known); i++)
        if (question->sources[i].source->is_public && !question->sources[i].source->tested)
            rows = Min(rows * Max(add_public(reading, question, question->sources[i], &known), 1), most);
    return covers(known) ? static_cast<int>(Min(rows, most)) : most;
}

} // namespace dp::rows
