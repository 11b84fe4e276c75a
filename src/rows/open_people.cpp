#include "border/each.hpp"
#include "rows/people_sources.hpp"
#include "rows/resolve.hpp"
#include "rows/unit_windows.hpp"

namespace dp::rows {

static Oid order_of(Node *value) {
    return lookup_type_cache(exprType(value), TYPECACHE_BTREE_OPFAMILY)->btree_opf;
}

// Returns the path of the table that it is: by the columns of the unit that it shows, under the names that they have there. most: of a
// unit's rows so many meet the conditions above it, whatever is declared.
static catalog::UnitPath *path_of_people(const Question *people, int most) {
    const catalog::UnitPath *end = people->units->path;
    while (!end->direct)
        end = end->parent;
    auto *path = array_of<catalog::UnitPath>(1);
    *path = *end;
    path->relation = InvalidOid;
    path->parent = nullptr;
    path->columns = array_of<AttrNumber>(path->ncolumns);
    for (int i = 0; i < path->ncolumns; i++) {
        const int column = list_nth_int(people->leaf->per_unit->unit, i);
        auto *value = static_cast<Node *>(list_nth(people->units->values, i));
        if (column <= people->leaf->nkeys && order_of(people->keys[column - 1]) != order_of(value))
            elog(ERROR, "a column of a sub-SELECT is taken for one of the unit");
        path->columns[i] = static_cast<AttrNumber>(column);
    }
    path->keyed = people->per_unit->one_row || most == 1;
    path->max_rows = path->keyed ? 1 : Min(people->per_unit->max_rows, most);
    path->max_groups = path->max_rows_per_group = 0;
    return path;
}

List *key_of_people(const Source &source) {
    const Question *people = source.people;
    if (!query::computes_columns(people->leaf->per_unit))
        return list_make1_int(0);
    List *numbers = list_copy(people->leaf->per_unit->unit);
    if (!source.settings->unit->keyed && people->per_unit->windows != NIL)
        return lappend_int(numbers, number_of_rows(people));
    for (auto *key : border::each<Node>(people->per_unit->grouped_keys))
        numbers = lappend_int(numbers, number_of_key(people->leaf, key));
    return numbers;
}

void open_people(const catalog::Reading &reading, Question *question, int number, ParamListInfo parameters) {
    Source *source = &question->sources[number];
    query::Leaf *leaf = source->source->people;
    leaf->limits = question->leaf->limits;
    Question *people = prepare_people(reading, leaf, parameters, psprintf("%s%d.", question->place, source->source->varno));
    source->people = people;
    source->settings = array_of<catalog::Settings>(1);
    *source->settings = *people->settings;
    source->settings->unit = path_of_people(people, most_numbered(question, *source, parameters));
    source->settings->filter = nullptr;
    source->settings->partition = nullptr;
}

} // namespace dp::rows
