// The statements of leave-one-out, run without SPI: rows come one by one, and the scans say how many they met.
#pragma once

#include "border/scope.hpp"

namespace dp::risk {

// Makes SELECT FROM entry WHERE ..., without aggregates.
Query *make_select(RangeTblEntry *entry, Node *where);
// Adds an expression to the targets and to what is grouped by. Its type needs an equality alone.
void add_group(Query *query, Node *expression);

// Takes a row; its values are gone afterwards. Called in memory that is reset behind it.
using TakeRow = void (*)(void *reader, Datum *values, bool *nulls);

constexpr int64 not_known = -1;

// Runs a query that was made of checked nodes, under the active snapshot and with the current rights. What is returned: the
// rows of `table` (with its partitions) that the plan's scans met, whether or not a condition let them pass; not_known where
// the plan has a shape that does not tell. InvalidOid: nobody asks. checked: the relations that may be read; NIL: any.
int64 run_query(Query *query, Oid table, TakeRow take, void *reader, const List *checked = NIL);

// Returns a query over more than the protected table, as run_query() takes it: views are expanded, and nothing is recorded of it.
Query *expanded(const Query *query);

// Runs a plan again and again, each time with other values of its parameters.
void run_again(PlannedStmt *plan, ParamListInfo parameters, TakeRow take, void *reader);

// Calls `read` as the tables' owner, under pinned settings and the active snapshot.
template <class Read> void as_owner(Oid owner, Read &&read) {
    border::SettingsScope settings = border::SettingsScope::enter();
    border::RoleScope role = border::RoleScope::enter(owner);
    PushActiveSnapshot(GetActiveSnapshot());
    read();
    PopActiveSnapshot();
    role.leave();
    settings.leave();
}

// SELECT count(*), ... : the one row of bigints.
void run_counts(Query *query, int64 *counts, const List *checked = NIL);

} // namespace dp::risk
