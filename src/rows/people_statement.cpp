// A sub-SELECT with rows of units in the internal statement:
//
//   SELECT columns.., unit..
//   FROM (SELECT aggregates.., only_value(carried).., keys.., unit.. FROM tables WHERE .. AND links GROUP BY keys.., unit..) person WHERE having
//
// and one that keeps them
//
//   FROM (SELECT function OVER (PARTITION BY unit.. ORDER BY written.., all columns that are read).., carried.., unit.. FROM ..) person
#include "border/each.hpp"
#include "border/guard.hpp"
#include "border/refuse.hpp"
#include "border/walk.hpp"
#include "rows/canonical.hpp"
#include "rows/from_clause.hpp"
#include "rows/nodes.hpp"
#include "rows/partition_union.hpp"
#include "rows/people_sources.hpp"
#include "rows/unit_windows.hpp"

namespace dp::rows {

// The value that all rows of a unit have, as it lies there: nothing is fetched, compared or made longer.
DP_FUNCTION(dp_only_value_step) {
    return PG_GETARG_DATUM(0);
}

static Node *only_value(Node *value) {
    const Oid function = internal_function("only_value", {ANYELEMENTOID});
    Aggref *call = make_aggregate(function, exprType(value), list_make1(value), nullptr);
    call->aggcollid = exprCollation(value);
    return as_node(call);
}

// A column of the unit is equal in all rows, in one spelling: of several the one that a plan meets first would stand above. Any other one
// is of one row (rows/unit_rows), and stays as it is.
static Node *carried_value(const Question *question, Node *column) {
    if (question->per_unit->windows != NIL)
        return in_short_spelling(column);
    return only_value(list_member(question->per_unit->of_unit, column) ? in_one_spelling(column) : another(column));
}

static List *values_of_unit(const Question *question) {
    List *values = NIL;
    for (auto *value : border::each<Node>(question->units->values))
        values = lappend(values, in_one_spelling(value));
    return values;
}

static List *canonical_keys(const Question *question) {
    List *keys = NIL;
    for (auto *key : border::each<Node>(question->per_unit->grouped)) {
        const query::Key spec = {key, 0, exprType(key), exprTypmod(key), exprCollation(key), nullptr};
        keys = lappend(keys, canonical_key(another(key), spec));
    }
    return keys;
}

static Query *select_per_unit(const Question *question, List **values) {
    Query *query = select_from_sources(question, question->where);
    const bool grouped = question->per_unit->windows == NIL;
    for (auto *one : border::each<Node>(question->per_unit->columns))
        add_target(query, grouped ? another(one) : in_short_spelling(one));
    for (auto *one : border::each<Node>(question->per_unit->carried))
        add_target(query, carried_value(question, one));
    group_by(query, canonical_keys(question), true);
    *values = NIL;
    const int before = list_length(query->targetList);
    for (auto *value : border::each<Node>(question->units->values))
        *values = lappend(*values, column_like(value, query::unit_varno, before + list_length(*values) + 1));
    if (grouped) {
        group_by(query, values_of_unit(question), true);
        return query;
    }
    for (auto *value : border::each<Node>(values_of_unit(question)))
        add_target(query, value);
    add_windows(query, question, question->units->values);
    return query;
}

// Returns where a column stands in a list of some, from 0; -1: it is none of them.
static int place_of(const List *columns, const Var *column) {
    ListCell *cell;
    foreach (cell, columns)
        if (lfirst_node(Var, cell)->varno == column->varno && lfirst_node(Var, cell)->varattno == column->varattno)
            return foreach_current_index(cell);
    return -1;
}

// The unit's own columns stand last, as they are grouped by: where Citus keeps the rows it must see that nothing else is.
static int number_of_column(const Question *question, const Var *column) {
    const PerUnit *per_unit = question->per_unit;
    const int carried = list_length(per_unit->columns), grouped = carried + list_length(per_unit->carried);
    if (const int place = place_of(question->units->values, column); place >= 0)
        return grouped + list_length(per_unit->grouped) + place + 1;
    if (const int place = place_of(per_unit->carried, column); place >= 0)
        return carried + place + 1;
    refuse_form("a column of a sub-SELECT that is a part of what it groups by, of which a person may have several values, is not "
                "supported in a query on a restricted view",
                "Write the column as it stands in GROUP BY, and compute above the sub-SELECT.");
}

static Node *over_statement(Node *node, void *context) {
    if (node == nullptr)
        return nullptr;
    const auto *question = static_cast<const Question *>(context);
    const PerUnit *per_unit = question->per_unit;
    ListCell *cell;
    foreach (cell, per_unit->grouped)
        if (equal(lfirst(cell), node)) {
            const int before = list_length(per_unit->columns) + list_length(per_unit->carried);
            return as_node(column_like(node, 1, before + foreach_current_index(cell) + 1));
        }
    if (!IsA(node, Var))
        return border::mutate_expression(node, over_statement, context);
    const auto *column = castNode(Var, node);
    const int number = column->varno == query::unit_varno ? column->varattno : number_of_column(question, column);
    // A new one: an outer join below the statement is none of what reads it (varnullingrels).
    return as_node(column_like(node, 1, number));
}

void check_columns(const Question *people) {
    if (!query::computes_columns(people->leaf->per_unit))
        return;
    for (int i = 0; i < people->leaf->nkeys; i++)
        (void)over_statement(another(people->keys[i]), const_cast<Question *>(people));
    (void)over_statement(another(people->per_unit->where), const_cast<Question *>(people));
    (void)canonical_keys(people);
    check_read_columns(people);
}

// Rows as they are.
static Query *select_rows(const Question *question) {
    Query *query = select_from_sources(question, question->where);
    query->hasAggs = false;
    for (int i = 0; i < question->leaf->nkeys; i++)
        add_target(query, another(question->keys[i]));
    for (auto *value : border::each<Node>(question->units->values))
        add_target(query, another(value));
    return query;
}

static Query *select_branches(const Question *people) {
    List *parts = NIL;
    for (int i = 0; i < people->nsources; i++)
        parts = lappend(parts, select_people(people->sources[i].people));
    return union_all(parts);
}

Query *select_people(const Question *people) {
    if (has_branches(people))
        return select_branches(people);
    if (people->leaf->per_unit->form == query::PeopleForm::rows)
        return select_rows(people);
    List *values = NIL;
    Query *below = select_per_unit(people, &values);
    Node *where = over_statement(another(people->per_unit->where), const_cast<Question *>(people));
    Query *query = make_aggregation(subquery_entry(below, "person"), where);
    query->hasAggs = false;
    for (int i = 0; i < people->leaf->nkeys; i++)
        add_target(query, over_statement(another(people->keys[i]), const_cast<Question *>(people)));
    for (auto *value : border::each<Node>(values))
        add_target(query, over_statement(value, const_cast<Question *>(people)));
    return query;
}

} // namespace dp::rows
