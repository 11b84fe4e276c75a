// Decides charges: whether table and role can pay, and what each comes to.
#pragma once

#include "catalog/ledger_sums.hpp"

namespace dp::catalog {

// Names what requests of a batch have in common if they rest on the same: one role asks on one view under one policy. All of it
// is compared, since terms and share are read for all of it.
struct BasisKey {
    Oid view, role;
    OtherViews others;
    const char *grantee; // or null
    bool operator==(const BasisKey &key) const;
};

// Holds what such requests rest on.
struct Basis {
    BasisKey key;
    const Terms *terms;  // null: the view is not registered any more
    OpenShare *share;    // null without a grantee
};

// Holds what a request is decided on: its basis, and the sums in the period in which the clock is, read once.
struct Standpoint {
    const Basis *basis;
    TimestampTz at;
    privacy::Standing sums; // of a charge on cells those of the touched ones that have most
};

// Reads what a charge rests on, once for all requests of the batch that rest on the same: nobody else can charge meanwhile.
const Basis *basis_of(const Charge &what, OpenOdometer *odometer);
// Tells whether that is what the caller has seen: false when it has changed meanwhile or is not committed yet.
bool agreed(const Basis &basis, const Charge &what);

// Chooses what is charged, which stays in *cost.
privacy::Denial decide(const Charge &what, const Standpoint &point, Verdict *verdict, privacy::Cost *cost);
// Decides on a step, whose price is given: only what table and role may pay is looked at.
privacy::Denial afford_step(const Charge &what, const Standpoint &point, Verdict *verdict, privacy::Cost *cost);
// Cuts the candidates of a selection by what the public account leaves. Returns why nothing is left, or `none`.
privacy::Denial cut(const Entry &entry, const Standpoint &point, Verdict *verdict);

// Says what a charge or a selection comes to, decided so.
Price price_of(const Entry &entry, const Standpoint &point, const Verdict &verdict, privacy::Cost cost);

} // namespace dp::catalog
