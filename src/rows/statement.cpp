#include "rows/statement.hpp"

#include "border/permissions.hpp"
#include "border/versions.hpp"

namespace dp::rows {

bool run_plan(PlannedStmt *plan, const List *checked, DestReceiver *receiver, QueryEnvironment *copies) {
    if (!border::reads_only(plan, checked))
        return false;
    border::forget_empty_permissions(plan);
    QueryDesc *desc =
        CreateQueryDesc(plan, "(dp_rdr)", GetActiveSnapshot(), InvalidSnapshot, receiver, nullptr, copies, 0);
    standard_ExecutorStart(desc, 0);
    border::run_plan_unhooked(desc);
    standard_ExecutorFinish(desc);
    standard_ExecutorEnd(desc);
    FreeQueryDesc(desc);
    receiver->rDestroy(receiver);
    return true;
}

} // namespace dp::rows
