// Decides charges: whether table and role can pay, and what each comes to.
#pragma once

#include "catalog/ledger_sums.hpp"

namespace dp::catalog {

// Holds what the requests of a batch rest on that one role asks on one view under one policy.
struct Basis {
    Oid view, role;
    OtherViews others;
    const char *grantee; // or null
    const Terms *terms;  // null: the view is not registered any more
    OpenShare *share;    // null without a grantee
};

// Holds what a request is decided on: its basis, and the sums in the period in which the clock is, read once.
struct Standpoint {
    const Basis *basis;
    TimestampTz at;
    privacy::Standing sums;
};

// Reads what a charge rests on, once for all requests of the batch that rest on the same: nobody else can charge meanwhile.
const Basis *basis_of(const Charge &what, OpenOdometer *odometer);
// Tells whether that is what the caller has seen: false when it has changed meanwhile or is not committed yet.
bool agreed(const Basis &basis, const Charge &what);

// Chooses what is charged, which stays in *cost.
privacy::Denial decide(const Charge &what, const Standpoint &point, Verdict *verdict, privacy::Cost *cost);
// Decides on a step, whose price is given: only what table and role may pay is looked at.
privacy::Denial afford_step(const Charge &what, const Standpoint &point, Verdict *verdict, privacy::Cost *cost);
// Cuts the candidates of a selection. Returns why nothing is left, or `none`.
privacy::Denial cut(const Entry &entry, const Standpoint &point, Verdict *verdict);

Price price_of(const Charge &what, const Standpoint &point, privacy::Cost cost);
// A selection is pure, whatever noise its release will have: its row carries no delta.
Price price_of_selection(const Charge &what, const Standpoint &point, const Verdict &verdict);
// Puts the totals in force into the row of a charge under zcdp that raises what its epoch promises.
void claim(const Charge &what, const privacy::BoundSettings &bound, OpenOdometer *odometer, Price *price);

} // namespace dp::catalog
