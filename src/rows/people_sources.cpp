#include "rows/people_sources.hpp"

#include "border/each.hpp"
#include "query/from.hpp"
#include "query/leaf_rows.hpp"
#include "query/make.hpp"
#include "query/constants.hpp"
#include "rows/compared.hpp"
#include "rows/nodes.hpp"

namespace dp::rows {

static int number_of_key(const query::Leaf *leaf, Node *key) {
    for (int i = 0; i < leaf->nkeys; i++)
        if (equal(leaf->keys[i].expression, key))
            return i + 1;
    return 0;
}

// Returns the number of a column that numbers all rows of a unit; 0: there is none.
static int number_of_rows(const Question *people) {
    ListCell *cell;
    foreach (cell, people->leaf->per_unit->columns) {
        const auto *call = reinterpret_cast<const WindowFunc *>(lfirst(cell));
        const auto *window = static_cast<const query::Window *>(
            list_nth(people->leaf->per_unit->windows, static_cast<int>(call->winref) - 1));
        auto *column = query::column_showing(query::unit_varno, foreach_current_index(cell) + 1, static_cast<Node *>(lfirst(cell)));
        const int number = number_of_key(people->leaf, as_node(column));
        if (call->winfnoid == F_ROW_NUMBER && window->partition == NIL && number > 0)
            return number;
    }
    return 0;
}

List *key_of_people(const Source &source) {
    const Question *people = source.people;
    const query::PeopleForm form = people->leaf->per_unit->form;
    if (form == query::PeopleForm::rows || form == query::PeopleForm::branches)
        return list_make1_int(0);
    List *numbers = list_copy(people->leaf->per_unit->unit);
    if (!source.settings->unit->keyed && people->per_unit->windows != NIL)
        return lappend_int(numbers, number_of_rows(people));
    for (auto *key : border::each<Node>(people->per_unit->grouped_keys))
        numbers = lappend_int(numbers, number_of_key(people->leaf, key));
    return numbers;
}

// Lists what holds in all joined rows that show one of a source: WHERE, and the ON of outer joins on whose nullable side it stands.
static List *conditions_on(const Question *question, const query::Source *source) {
    List *conditions = list_make1(question->leaf->where);
    for (auto *join : border::each<JoinExpr>(query::joins_of(question->leaf->from))) {
        List *varnos = NIL, *joins = NIL;
        query::find_sources(join->rarg, &varnos, &joins);
        if (join->jointype == JOIN_LEFT && list_member_int(varnos, source->varno))
            conditions = lappend(conditions, join->quals);
    }
    return conditions;
}

int most_numbered(const Question *question, const Source &source, ParamListInfo parameters) {
    const Question *people = source.people;
    const int number = people->per_unit->windows == NIL ? 0 : number_of_rows(people);
    if (number == 0)
        return INT_MAX;
    List *folded = NIL;
    for (auto *condition : border::each<Node>(conditions_on(question, source.source)))
        folded = lappend(folded, query::fold_constants(another(condition), parameters));
    Var *column = source_column(question, InvalidOid, source.source->varno, static_cast<AttrNumber>(number));
    query::Range range = {{1, INT_MAX, 0}, false};
    narrow(read_conditions(folded), as_node(column), &range);
    return static_cast<int>(range.span.high);
}

const char *name_of_source(const Question *question, const Source &source) {
    return source.people == nullptr
               ? query::name_of_source(source.source->relation, source.source->rows)
               : psprintf("sub-SELECT %s", quote_identifier(rt_fetch(source.source->varno, question->leaf->query->rtable)
                                                                ->eref->aliasname));
}

List *tables_of(const Question *question) {
    List *tables = NIL;
    for (int i = 0; i < question->nsources; i++) {
        const Source &source = question->sources[i];
        if (source.people != nullptr)
            tables = list_concat(tables, tables_of(source.people));
        else if (source.source->rows == nullptr)
            tables = lappend_oid(tables, source.relation);
    }
    return tables;
}

const Question *only_people(const Question *question) {
    const Question *people = question->nsources > 1 ? nullptr : question->sources[0].people;
    return people == nullptr || !people->per_unit->one_row || people->per_unit->windows != NIL ? nullptr : people;
}

int rows_below(const Question *question) {
    int most = question->per_unit == nullptr ? 0 : question->per_unit->max_rows;
    for (int i = 0; i < question->nsources; i++)
        if (question->sources[i].people != nullptr)
            most = Max(most, rows_below(question->sources[i].people));
    return most;
}

} // namespace dp::rows
