// Nodes of internal statements. What is passed becomes a part of the result: none may stand in two places, since the planner
// writes to them.
#pragma once

#include <initializer_list>

#include "query/make.hpp"

namespace dp::rows {

// Takes a node of some kind for one of any.
template <class T> Node *as_node(T *node) {
    return reinterpret_cast<Node *>(node);
}

using query::coalesced;
using query::null_test;
using query::subquery_entry;

// Begins a SELECT of nothing, from nothing.
inline Query *make_query() {
    return query::make_select();
}
// Adds an entry to the range table; in FROM, behind what is there. Whoever runs the query needs no permission on it: that on the facade
// was checked, and the statement runs as the table's owner.
void add_entry(Query *query, RangeTblEntry *entry);
void add_to_from(Query *query, RangeTblEntry *entry);
// Makes an item of FROM: the entry at this place.
inline Node *entry_ref(int varno) {
    return as_node(query::reference_to(varno));
}
// Stands in the range table where nothing is read.
RangeTblEntry *no_entry(const char *name);
// FROM relation, or FROM ONLY relation. Needs a lock that somebody holds.
RangeTblEntry *relation_entry(Oid relation, bool with_parts);
// The entry of a join whose columns nothing names.
RangeTblEntry *join_entry(const RangeTblEntry *entry);
// Without arguments: name(*).
Aggref *make_aggregate(Oid function, Oid result_type, List *arguments, Node *filter);
// Makes a call of a function; of one of the schema dp_rdr, by its name and the types that it is declared with.
Node *make_call(Oid function, Oid result_type, List *arguments, Oid collation = InvalidOid, Oid of_input = InvalidOid);
Oid internal_function(const char *name, std::initializer_list<Oid> types);
// Makes a column that has the type of a node.
inline Var *column_like(const Node *node, int varno, int number) {
    return query::column_showing(varno, number, node);
}
// Returns a node as one of another type that its own may stand for.
Node *relabelled(Node *node, Oid type);
Const *make_bytea(const bytea *bytes);
// Makes node IS TRUE and the like.
Node *truth_test(Node *node, BoolTestType type);
// A copy: none stands in two places.
inline Node *another(const Node *node) {
    return query::copied(node);
}
// CASE WHEN the condition holds THEN the value ELSE the other END; NULL without another.
Node *value_where(Node *condition, Node *value, Node *otherwise = nullptr);
// Makes GREATEST(a, b), or LEAST.
Node *extreme_of(Oid type, MinMaxOp op, Node *a, Node *b);
// COALESCE(sum(argument), 0), a numeric; of bigint.
Node *make_exact_sum(Node *argument, Node *filter);
// SELECT FROM entry WHERE ..., with aggregates.
Query *make_aggregation(RangeTblEntry *entry, Node *where);
void add_target(Query *query, Node *expression);
// Adds them to the targets and to what is grouped by, each by the default operators of its type. shown: they are columns of the result.
void group_by(Query *query, const List *values, bool shown);
// Groups by the target that was added last.
void group_by_last(Query *query, SortGroupClause *clause);

} // namespace dp::rows
