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

namespace {
struct Taker {
    DestReceiver base;
    TakeRow take;
    void *context;
    MemoryContext scratch;
};
} // namespace

static bool take_row(TupleTableSlot *row, DestReceiver *self) {
    const auto *taker = reinterpret_cast<const Taker *>(self);
    MemoryContext old = MemoryContextSwitchTo(taker->scratch);
    slot_getallattrs(row);
    taker->take(taker->context, row);
    MemoryContextSwitchTo(old);
    MemoryContextReset(taker->scratch);
    return true;
}

static void begin_taking(DestReceiver *, int, TupleDesc) {}
static void end_taking(DestReceiver *) {}

static void forget_taker(DestReceiver *self) {
    MemoryContextDelete(reinterpret_cast<Taker *>(self)->scratch);
}

bool take_rows(PlannedStmt *plan, const List *checked, TakeRow take, void *context, QueryEnvironment *copies) {
    auto *taker = static_cast<Taker *>(palloc0(sizeof(Taker)));
    *taker = {{take_row, begin_taking, end_taking, forget_taker, DestNone},
              take,
              context,
              AllocSetContextCreate(CurrentMemoryContext, "dp_rdr row", ALLOCSET_DEFAULT_SIZES)};
    return run_plan(plan, checked, &taker->base, copies);
}

} // namespace dp::rows
