// The sums of a table and of a role in the periods that a decision takes place in (formulas.md 5.7).
#pragma once

#include "privacy/account.hpp"

namespace dp::privacy {

// `today` is what the clock shows. Each account, of table and role alike, is in the latest of their own periods and the clock's:
// no clock that goes back gives anything, and no charge of one account turns the other. Where no period is set, sums belong to
// none. A charge that is accepted leaves the sums of its account like this, and is added to them.
Standing standing(const Totals &table, const Totals &role, const BoundSettings &bound, Day today);

} // namespace dp::privacy
