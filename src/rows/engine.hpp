// Finds the server that keeps a table's rows, where that decides how exact sums are asked for.
#pragma once

#include "border/postgres.hpp"

namespace dp::rows {

struct Question;

// Whether other servers keep rows that the question is about: foreign partitions, or nodes of Citus.
bool is_elsewhere(const Question *question);

// Whether they do and add up for themselves what rows bring, not units: there histograms and different values are not asked for.
bool adds_up_rows_elsewhere(const Question *question);

// Whether Citus keeps the table's rows on other nodes. It has partial sums computed there of aggregates that it knows, as
// sum(bigint). Others it calls for each row in a way that costs more than the row, or it gathers the rows.
bool is_on_other_nodes(Oid table);

// By which Citus tells where a row belongs: rows that differ in it may lie in the same place of different nodes.
// InvalidAttrNumber where all rows are in one place.
AttrNumber distribution_column(Oid table);

// The plan of an internal statement. Past all hooks, but where it reads a table that Citus distributes: that is planned by its
// planner_hook.
PlannedStmt *plan(Query *query, int options);

// Within a scope of settings, before rows of such a table are read: the other nodes plan their part as this server would,
// without indexes (K6). For tables of this server nothing is done.
void pin_nodes(Oid table);

// Likewise how the nodes join tables and put units together, as border::pin_joins.
void pin_joins_of_nodes(Oid table, bool hashed);

// Before a charge: 55000 if a node that alone keeps some of the table's rows does not answer the owner. Nothing is read, and
// for tables of this server nothing is done. One look serves a second of questions about a table, unless one fails.
void check_nodes(Oid table, Oid owner);
void forget_nodes();

} // namespace dp::rows
