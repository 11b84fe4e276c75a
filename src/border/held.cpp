#include "border/held.hpp"

#include <utils/portal.h>

#include "border/stored_rows.hpp"

namespace dp::border {

bool can_hold_rows() {
    return !InSecurityRestrictedOperation();
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
    each_stored_row(rows, desc, [=](TupleTableSlot *slot) { tuplestore_puttupleslot(portal->holdStore, slot); });
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
