// Totals in rho: what the bound `zcdp` permits (formulas.md 5.4).
#pragma once

#include "privacy/account.hpp"

namespace dp::privacy {

// Returns the target that the bound at all times is tuned at (5.5): above 0, rho_target or the total itself.
Rho anytime_target(const BoundSettings &bound);
// Whether the sums behind a charge are beyond the total of the table, or a role's beyond its share.
bool exceeds_rho_total(const Spent &after, const BoundSettings &bound);
bool exceeds_rho_share(const Spent &after, const BoundSettings &bound, Epsilon share);

} // namespace dp::privacy
