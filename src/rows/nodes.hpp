// Nodes of internal statements. What is passed becomes a part of the result: none may stand in two places, since the planner
// writes to them.
#pragma once

#include "border/postgres.hpp"

namespace dp::rows {

// FROM relation, or FROM ONLY relation. Needs a lock that somebody holds.
RangeTblEntry *relation_entry(Oid relation, bool with_parts);
// The entry of a join whose columns nothing names.
RangeTblEntry *join_entry(const RangeTblEntry *entry);
// FROM (query) name.
RangeTblEntry *subquery_entry(Query *query, const char *name);
// Without arguments: name(*).
Aggref *make_aggregate(Oid function, Oid result_type, List *arguments, Node *filter);
// node IS NULL, or IS NOT NULL.
Node *null_test(Node *node, NullTestType type);
// A copy: none stands in two places.
Node *another(Node *node);
// CASE WHEN the condition holds THEN the value END: NULL elsewhere.
Node *value_where(Node *condition, Node *value);
// COALESCE(sum(argument), 0), a numeric; of bigint.
Node *make_exact_sum(Node *argument, Node *filter);
// SELECT FROM entry WHERE ..., with aggregates.
Query *make_aggregation(RangeTblEntry *entry, Node *where);
void add_target(Query *query, Node *expression);
// Adds them to the targets and to what is grouped by, each by the default operators of its type. shown: they are columns of the result.
void group_by(Query *query, const List *values, bool shown);

} // namespace dp::rows
