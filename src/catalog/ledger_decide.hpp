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

// Returns the sums as they stand now, with those of the cell that has most.
Standpoint standpoint_of(const Basis *basis, const OpenOdometer &odometer);
// Decides on a charge or a selection: leaves in *cost what it costs, or in *denial why it is denied. Of a selection the candidates that are
// left, and its price, are in the verdict. False: its cells are too many to look into now (Outcome::unlooked).
bool weigh(const border::Spi &spi, const Entry &entry, const OpenOdometer &odometer, Standpoint *point, Verdict *verdict,
           privacy::Cost *cost, privacy::Denial *denial);
// Says what a charge comes to that was weighed.
Price price_of(const Entry &entry, const Standpoint &point, const Verdict &verdict, privacy::Cost cost);

} // namespace dp::catalog
