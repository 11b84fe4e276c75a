// The statements of leave-one-out, run without SPI: rows come one by one, and the scans say how many they met.
#pragma once

#include "border/scope.hpp"

namespace dp::risk {

// Makes SELECT FROM entry WHERE ..., without aggregates.
Query *make_select(RangeTblEntry *entry, Node *where);
// Adds an expression to the targets and to what is grouped by. Its type needs an equality alone.
void add_group(Query *query, Node *expression);
// Returns condition IS TRUE.
Node *is_true(Node *condition);

// Takes a row; its values are gone afterwards. Called in memory that is reset behind it.
using TakeRow = void (*)(void *reader, Datum *values, bool *nulls);

constexpr int64 not_known = -1;

// Gives rows to `take`, with memory of its own below the current one.
DestReceiver *receiver_of(TakeRow take, void *reader);

// Runs a query that was made of checked nodes, under the active snapshot and with the current rights. What is returned: the
// rows of `table` (with its partitions) that the plan's scans met, whether or not a condition let them pass; not_known where
// the plan has a shape that does not tell. InvalidOid: nobody asks. checked: the relations that may be read; NIL: any.
int64 run_query(Query *query, Oid table, TakeRow take, void *reader, const List *checked = NIL);

// Runs a statement from its text, for queries over more than the protected table: views are expanded.
int64 run_text(const char *text, Oid table, TakeRow take, void *reader);

// Plans a text that run_again() runs again and again, each time with other values of its parameters.
PlannedStmt *plan_text(const char *text, int nparameters, Oid *types);
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
