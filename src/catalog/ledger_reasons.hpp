// Why a charge was denied, for the controller.
#pragma once

#include "catalog/ledger.hpp"

namespace dp::catalog {

// Tells the controller why, and nobody else: a policy's charge tells its analyst that it was denied, and no more. Core region.
Reason reason_for(const Charge &what, const privacy::BoundSettings &bound, const privacy::Totals &totals,
                  privacy::Denial denial, const privacy::Cost &cost);

} // namespace dp::catalog
