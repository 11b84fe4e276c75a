// Periods in the ledger (formulas.md 5.7).
#pragma once

#include "catalog/ledger_sums.hpp"

namespace dp::catalog {

// Describes, where a period is set, which one a charge was decided in, and since when it counts: a jsonb; else 0.
Datum period_text(const privacy::BoundSettings &bound, const privacy::Standing &sums, privacy::Account account);

} // namespace dp::catalog
