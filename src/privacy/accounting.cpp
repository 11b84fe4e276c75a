#include "privacy/accounting.hpp"

#include <algorithm>

#include "privacy/rho_bound.hpp"
#include "privacy/risk.hpp"

namespace dp::privacy {

Rho Limits::rho(Epsilon epsilon) const {
    return pure ? rho_of_pure(epsilon, measures) : rho_of(epsilon);
}

// Gaussian noise is calibrated for its rho, which takes a while: only where rho decides.
Cost Limits::cost(Epsilon epsilon, const BoundSettings &bound) const {
    Cost cost;
    cost.epsilon = epsilon;
    cost.delta = delta;
    cost.groups = groups;
    cost.pure = pure;
    if (bound.basis_of(pure) == Basis::rho)
        cost.rho = rho(epsilon);
    return cost;
}

// ---- the bounds ----

static bool exceeds_total(const Spent &after, const BoundSettings &bound) {
    switch (bound.bound) {
    case Bound::zcdp:
        return exceeds_rho_total(after, bound);
    case Bound::none:
        return false; // counted only
    case Bound::filter:
    case Bound::dynamic:
        break;
    }
    if (!bound.epsilon_total)
        return bound.bound == Bound::filter; // a filter without a total allows nothing
    return (bound.period ? after.period.epsilon : after.epsilon) > *bound.epsilon_total;
}

static bool exceeds_delta(const Spent &after, const BoundSettings &bound) {
    if (bound.bound == Bound::none)
        return false;
    return bound.bound == Bound::zcdp ? after.delta_of_epoch() > bound.delta_mechanisms()
                                      : (bound.period ? after.period.delta : after.delta) > bound.delta_total;
}

// Over all periods together.
static bool exceeds_lifetime(const Spent &after, const BoundSettings &bound) {
    return bound.period && bound.epsilon_lifetime && after.epsilon > *bound.epsilon_lifetime;
}

static bool exceeds_delta_lifetime(const Spent &after, const BoundSettings &bound) {
    return bound.period && bound.delta_lifetime && after.delta > *bound.delta_lifetime;
}

// Tests the sums of a role against its share, as those of the table against its total; a role has no delta of its own.
static bool exceeds_share(const Spent &after, const BoundSettings &bound, Epsilon share) {
    if (bound.bound == Bound::zcdp)
        return exceeds_rho_share(after, bound, share);
    return (bound.period ? after.period.epsilon : after.epsilon) > share;
}

// A risk profile holds under pure epsilon alone, over all periods. Who grants it looks at the role's charges, but one may be under
// way meanwhile: whatever it was, the role has had its last answer then.
static bool breaks_profile(const Cost &cost, Account account, const BoundSettings &bound, Totals role,
                           Epsilon profile) {
    add(&role.of(account), cost, bound.basis_of(cost.pure));
    const Spent all = role.read_by(Account::conditional);
    return all.delta.units() > 0 || all.rho.units() > 0 || all.rho_only || role.of_conditional.epsilon.units() > 0 ||
           all.epsilon > profile;
}

Denial fit_delta(const Spent &after, const BoundSettings &bound) {
    if (exceeds_delta(after, bound))
        return Denial::delta_total;
    return exceeds_delta_lifetime(after, bound) ? Denial::delta_lifetime : Denial::none;
}

Denial fit(const Cost &cost, Account account, const BoundSettings &bound, const Totals &totals, const Totals &role,
           std::optional<Epsilon> share, std::optional<Epsilon> profile) {
    const Basis basis = bound.basis_of(cost.pure);
    const Spent table = after(totals.read_by(account), cost, basis);
    if (exceeds_total(table, bound))
        return Denial::epsilon_total;
    if (exceeds_lifetime(table, bound))
        return Denial::epsilon_lifetime;
    if (share && exceeds_share(after(role.read_by(account), cost, basis), bound, *share))
        return Denial::role_share;
    if (profile && breaks_profile(cost, account, bound, role, *profile))
        return Denial::role_share;
    return fit_delta(table, bound);
}

// ---- the decision ----

// Step 1 without the rule of `dynamic`: the largest candidate that tau and the policy's cap permit.
static std::optional<Epsilon> permitted_candidate(const ChargeRequest &request) {
    std::vector<Epsilon> candidates;
    for (Epsilon candidate : request.candidates)
        if (candidate.units() > 0 && (!request.epsilon_max || candidate <= *request.epsilon_max))
            candidates.push_back(candidate);
    return largest_candidate(candidates, request.eps_star, request.slack);
}

// A charge that is not positive would give budget back.
static void check_request(const ChargeRequest &request) {
    if (request.requested && request.requested->units() <= 0)
        throw InvalidParameter("epsilon must be at least 0.000000001");
    if (request.delta.units() < 0 || request.groups.units() < 0)
        throw InvalidParameter("delta must not be negative");
}

std::optional<Epsilon> choose(const ChargeRequest &request) {
    check_request(request);
    const std::optional<Epsilon> permitted = permitted_candidate(request);
    if (!permitted)
        return std::nullopt;
    return request.requested ? std::min(*permitted, *request.requested) : *permitted;
}

Decision decide(const ChargeRequest &request, const BoundSettings &bound, const Totals &totals, const Totals &role) {
    const std::optional<Epsilon> epsilon = choose(request);
    if (!epsilon)
        return {Denial::no_candidate, {}};
    const Cost cost = request.cost(*epsilon, bound);
    // Under `dynamic` only candidates above what is consumed count. The largest permitted one is above it if any is; and a
    // smaller request must be above it, too.
    if (bound.bound == Bound::dynamic && *epsilon <= totals.read_by(request.account).epsilon)
        return {Denial::dynamic_bound, cost};
    return {fit(cost, request.account, bound, totals, role, request.share, request.profile), cost};
}

} // namespace dp::privacy
