// How an internal statement is executed (architecture.md, 3.6).
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
bool take_rows(PlannedStmt *plan, const List *checked, TakeRow take, void *context, QueryEnvironment *copies);
template <class Take>
bool for_each_row(PlannedStmt *plan, const List *checked, Take take, QueryEnvironment *copies = nullptr) {
    const TakeRow call = [](void *context, TupleTableSlot *row) { (*static_cast<Take *>(context))(row); };
    return take_rows(plan, checked, call, &take, copies);
}

} // namespace dp::rows
