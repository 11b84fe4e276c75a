// Partitions on other servers (postgres_fdw). What is asked of them is an aggregation or nothing: a plan that would fetch their
// rows is not run. Before the charge each is asked once for nothing, so that a server that is away costs nobody anything.
#pragma once

#include "rows/question.hpp"

namespace dp::rows {

// The plan of an internal statement in which foreign tables are aggregated where they are, whatever that is estimated to cost.
PlannedStmt *plan_remotely(Query *query);
// Plans an aggregation over a table and its parts, each leaf's where it is kept; null: rows would be fetched, or keys come as texts that
// are not the same everywhere.
PlannedStmt *plan_over_parts(const Query *query, const List *parts);

// Tells whether an SQLSTATE says that another server is away, goes, or was told to stop. No row decides about it. Its words may be
// about rows all the same.
bool is_about_a_server(int sqlstate);

// Tells what a server must have in common with this one, as dp_rdr.is_other_node() wants it.
const char *node_facts();

// Before the charge of a question about such a table: plans the statement of each foreign leaf, and runs it with a condition
// that its server knows to be false. No row is read. Errors: 0A000 when rows would travel; HV00N when a server cannot be
// reached; 55000 when it cannot be asked, because its encoding or its tables are not what they should be.
// The owner sees what the server has said.
void check_remote_parts(const Question *question, const Query *statement);

} // namespace dp::rows
