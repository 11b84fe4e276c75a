// How an internal statement is executed (architecture.md, 3.6), and the relations that its plan opens.
#pragma once

#include "border/postgres.hpp"

namespace dp::rows {

// The rows of a plan to where they are wanted. False: it would read other relations than those that were checked (a partition may
// be attached after the check), and was not executed. Past the hooks of other extensions: how many rows there are, and what
// auto_explain shows of the nodes below, are private (K6, C08).
// copies: of what it reads beside tables; null: nothing.
bool run_plan(PlannedStmt *plan, const List *checked, DestReceiver *receiver, QueryEnvironment *copies = nullptr);

// Does so with a function that takes one row, whose columns are there, in memory that is reset behind it.
using TakeRow = void (*)(void *context, TupleTableSlot *row);
DestReceiver *taker_of(TakeRow take, void *context);
bool take_rows(PlannedStmt *plan, const List *checked, TakeRow take, void *context, QueryEnvironment *copies);
template <class Take>
bool for_each_row(PlannedStmt *plan, const List *checked, Take take, QueryEnvironment *copies = nullptr) {
    const TakeRow call = [](void *context, TupleTableSlot *row) { (*static_cast<Take *>(context))(row); };
    return take_rows(plan, checked, call, &take, copies);
}

// Locks what a plan over the tables may open, and returns it: of each table its indexes, its TOAST table and the indexes of that.
// Whoever rebuilds a table takes its locks in that order, so nobody meets him from the other side. AccessShareLock, to the end of
// the transaction; lock_timeout goes for each.
List *lock_opened(const List *tables);

// Refuses relations that are locked and have no file, before anything is charged (58P01). Else their first page would fail behind the
// charge. Each look opens the files anew, so it is made once for a question.
void check_files(const List *opened);

} // namespace dp::rows
