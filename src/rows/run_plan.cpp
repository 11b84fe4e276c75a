#include "rows/run_plan.hpp"

#include "border/hooks.hpp"
#include "border/permissions.hpp"

namespace dp::rows {

bool run_plan(PlannedStmt *plan, const List *checked, DestReceiver *receiver, QueryEnvironment *copies) {
    if (!border::reads_only(plan, checked))
        return false;
    border::end_unhooked(border::run_unhooked(plan, receiver, nullptr, copies));
    receiver->rDestroy(receiver);
    return true;
}

} // namespace dp::rows
