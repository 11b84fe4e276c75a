#include "privacy/rho_bound.hpp"

namespace dp::privacy {

// A total of nothing may be raised after the first charge: the target is then that of a bound without a total.
Rho anytime_target(const BoundSettings &bound) {
    const Rho target = bound.epsilon_total ? bound.rho_total : bound.rho_target;
    return target.units() > 0 ? target : rho_cap(Epsilon::from_units(1000000000), bound.delta_conversion, Cap::tight);
}

bool exceeds_rho_total(const Spent &after, const BoundSettings &bound) {
    if (!bound.epsilon_total)
        return false; // an odometer: counted, and bounded at all times
    if (bound.splits_pure())
        return after.rho > bound.rho_total || after.epsilon_of_epoch() > bound.epsilon_pure;
    return after.rho > bound.rho_total && !(bound.keeps_basic_rule(after) && after.pure <= *bound.epsilon_total);
}

// Beside an epsilon_pure a share bounds the one sum that the role uses, or the role would have it twice. The setter checks that, but
// a charge may be under way meanwhile.
bool exceeds_rho_share(const Spent &after, const BoundSettings &bound, Epsilon share) {
    if (bound.splits_pure() && after.rho.units() == 0)
        return after.epsilon > share;
    if (bound.splits_pure())
        return after.epsilon > share || after.epsilon_of_epoch().units() > 0 ||
               after.rho > rho_cap(share, bound.delta_conversion, bound.cap);
    return (after.rho_only || after.pure > share) && after.rho > rho_cap(share, bound.delta_conversion, bound.cap);
}

} // namespace dp::privacy
