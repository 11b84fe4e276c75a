#include "rows/run_plan.hpp"

#include "border/each.hpp"
#include "border/hooks.hpp"
#include "border/permissions.hpp"
#include "rows/arrays.hpp"

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

DestReceiver *taker_of(TakeRow take, void *context) {
    auto *taker = zeroed<Taker>();
    *taker = {{take_row, begin_taking, end_taking, forget_taker, DestNone},
              take,
              context,
              AllocSetContextCreate(CurrentMemoryContext, "dp_rdr row", ALLOCSET_DEFAULT_SIZES)};
    return &taker->base;
}

bool take_rows(PlannedStmt *plan, const List *checked, TakeRow take, void *context, QueryEnvironment *copies) {
    return run_plan(plan, checked, taker_of(take, context), copies);
}

// ---- what a plan opens -----------------------------------------------------------------------------------------------

static Relation open_listed(Oid oid, List **opened) {
    *opened = lappend_oid(*opened, oid);
    return relation_open(oid, AccessShareLock);
}

// Returns its TOAST table, if it has one. The planner opens each of its indexes, whether it uses it or not.
static Oid lock_with_indexes(Oid table, List **opened) {
    Relation relation = open_listed(table, opened);
    Oid toast = relation->rd_rel->reltoastrelid;
    for (Oid oid : border::each_oid(RelationGetIndexList(relation)))
        relation_close(open_listed(oid, opened), NoLock);
    relation_close(relation, NoLock);
    return toast;
}

List *lock_opened(const List *tables) {
    List *opened = NIL;
    for (Oid oid : border::each_oid(tables)) {
        Oid toast = lock_with_indexes(oid, &opened);
        if (OidIsValid(toast))
            (void)lock_with_indexes(toast, &opened);
    }
    return opened;
}

void check_files(const List *opened) {
    for (Oid oid : border::each_oid(opened)) {
        Relation relation = relation_open(oid, NoLock);
        if (RELKIND_HAS_STORAGE(relation->rd_rel->relkind) && !smgrexists(RelationGetSmgr(relation), MAIN_FORKNUM))
            ereport(ERROR,
                    (errcode(ERRCODE_UNDEFINED_FILE),
                     errmsg("the file of relation \"%s\" is not there", RelationGetRelationName(relation)),
                     errdetail("Nothing was charged."), errhint("The administrator should look at its tablespace.")));
        relation_close(relation, NoLock);
    }
}

} // namespace dp::rows
