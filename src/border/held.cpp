#include "border/held.hpp"

#include <utils/portal.h>

namespace dp::border {

bool can_hold_rows() {
    return !InSecurityRestrictedOperation();
}

static void copy_rows(TupleDesc desc, Tuplestorestate *from, Tuplestorestate *to) {
    TupleTableSlot *slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
    while (tuplestore_gettupleslot(from, true, false, slot)) {
        CHECK_FOR_INTERRUPTS();
        tuplestore_puttupleslot(to, slot);
    }
    ExecDropSingleTupleTableSlot(slot);
}

// Makes a portal as HoldPortal() of the server leaves that of a cursor WITH HOLD when its transaction commits. Until then it
// goes with the transaction, as after an error here.
void hold_rows(const char *name, const char *source, TupleDesc desc, Tuplestorestate *rows) {
    Portal portal = CreatePortal(name, true, true);
    MemoryContext old = MemoryContextSwitchTo(portal->portalContext);
    PortalDefineQuery(portal, nullptr, pstrdup(source), CMDTAG_SELECT, NIL, nullptr);
    portal->tupDesc = CreateTupleDescCopy(desc);
    portal->cursorOptions = CURSOR_OPT_HOLD | CURSOR_OPT_NO_SCROLL;
    portal->strategy = PORTAL_ONE_SELECT;
    PortalCreateHoldStore(portal);
    MemoryContextSwitchTo(portal->holdContext);
    tuplestore_rescan(rows);
    copy_rows(desc, rows, portal->holdStore);
    MemoryContextSwitchTo(old);
    portal->atStart = true;
    portal->atEnd = false;
    portal->portalPos = 0;
    portal->status = PORTAL_READY;
    portal->resowner = nullptr; // it goes with the transaction
    portal->createSubid = portal->activeSubid = InvalidSubTransactionId;
    portal->createLevel = 0;
}

} // namespace dp::border
