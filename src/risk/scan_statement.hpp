// The statements of leave-one-out, run without SPI: rows come one by one, and the scans say how many they met.
#pragma once

#include "border/scope.hpp"
#include "rows/run_plan.hpp"

namespace dp::risk {

// Makes SELECT FROM entry WHERE ..., without aggregates.
Query *make_select(RangeTblEntry *entry, Node *where);
// Adds an expression to the targets and to what is grouped by.
void add_group(Query *query, Node *expression);

constexpr int64 not_known = -1;

// Runs a query that was made of checked nodes, under the active snapshot and with the current rights. What is returned: the
// rows of `table` (with its partitions) that the plan's scans met, whether or not a condition let them pass; not_known where
// the plan has a shape that does not tell. InvalidOid: nobody asks. checked: the relations that may be read; NIL: any.
int64 run_query(Query *query, Oid table, rows::TakeRow take, void *context, const List *checked);
// Does so with a function that takes one row, as rows::for_each_row().
template <class Take> int64 run_query(Query *query, Oid table, Take take, const List *checked = NIL) {
    const rows::TakeRow call = [](void *context, TupleTableSlot *row) { (*static_cast<Take *>(context))(row); };
    return run_query(query, table, call, &take, checked);
}

// Returns a query over more than the protected table, as run_query() takes it: views are expanded, and nothing is recorded of it.
Query *expanded(const Query *query);

// Runs a plan again and again, each time with other values of its parameters.
void run_again(PlannedStmt *plan, ParamListInfo parameters, rows::TakeRow take, void *context);

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
