#include "catalog/ledger_reasons.hpp"

namespace dp::catalog {

// Tells whether it is the total over all periods that is in the way; of a selection without candidates, the one that leaves less.
static bool is_for_life(const privacy::BoundSettings &bound, const privacy::Spent &spent, privacy::Denial denial) {
    if (denial == privacy::Denial::epsilon_lifetime || denial == privacy::Denial::delta_lifetime)
        return true;
    return denial == privacy::Denial::no_candidate && bound.period && bound.epsilon_lifetime &&
           *bound.epsilon_lifetime - spent.epsilon <
               bound.epsilon_total.value_or(privacy::Epsilon()) - spent.period.epsilon;
}

// Sets the reason under bounds that count in epsilon.
static void tell_of_epsilon(const privacy::BoundSettings &bound, const privacy::Spent &spent, privacy::Denial denial,
                            Reason *reason) {
    reason->has_period = bound.period.has_value();
    reason->lifetime = is_for_life(bound, spent, denial);
    const bool period = reason->has_period && !reason->lifetime;
    reason->spent = period ? spent.period.epsilon : spent.epsilon;
    reason->total = (reason->lifetime ? bound.epsilon_lifetime : bound.epsilon_total).value_or(privacy::Epsilon());
    reason->delta_spent = period ? spent.period.delta : spent.delta;
    reason->delta_total = reason->lifetime ? bound.delta_lifetime.value_or(privacy::Delta()) : bound.delta_total;
}

Reason reason_for(const Charge &what, const privacy::BoundSettings &bound, const privacy::Totals &totals,
                         privacy::Denial denial, const privacy::Cost &cost) {
    Reason reason = {};
    if (what.grantee != nullptr)
        return reason;
    const privacy::Spent spent = totals.read_by(what.account);
    const bool zcdp = bound.bound == privacy::Bound::zcdp;
    reason.denial = denial;
    reason.bound = bound.bound;
    reason.basis = bound.basis_of(cost.pure);
    reason.asked = cost.epsilon;
    reason.rho_asked = cost.rho;
    reason.delta_asked = cost.charged(reason.basis);
    if (!zcdp) {
        tell_of_epsilon(bound, spent, denial, &reason);
        return reason;
    }
    reason.spent = spent.epsilon_of_epoch();
    reason.total = bound.epsilon_pure;
    reason.rho_spent = spent.rho;
    reason.rho_total = bound.rho_total;
    reason.delta_spent = spent.delta_of_epoch();
    reason.delta_total = bound.delta_mechanisms();
    return reason;
}

} // namespace dp::catalog
