#include "privacy/candidate_range.hpp"

namespace dp::privacy {

Cost cost_of_selection(Epsilon epsilon) {
    Cost cost;
    cost.epsilon = epsilon;
    cost.rho = rho_of_pure(epsilon);
    return cost;
}

// The range that bounds leave when the selection itself costs `price`.
static SelectionRange range_at(const SelectionRequest &request, const BoundSettings &bound, const Totals &totals,
                               const Totals &role, Epsilon price) {
    constexpr Account account = Account::public_account;
    Totals table_then = totals, role_then = role;
    const Cost selection = cost_of_selection(price);
    if (price.units() > 0) {
        add(&table_then.of_public, selection, bound.basis_of(true));
        add(&role_then.of_public, selection, bound.basis_of(true));
    }
    SelectionRange range;
    range.charged = price;
    // Returns what forbids a candidate; the bounds come last.
    const auto forbidden = [&](Epsilon candidate) {
        if ((request.epsilon_max && candidate > *request.epsilon_max) ||
            (request.requested && candidate > *request.requested))
            return Denial::no_candidate;
        return fit(request.cost(candidate, bound), account, bound, table_then, role_then, request.share,
                   request.profile);
    };
    Denial last = Denial::no_candidate;
    while (range.first < request.candidates.size() &&
           (last = forbidden(request.candidates[range.first])) != Denial::none)
        ++range.first;
    range.last = request.candidates.size();
    if (range.first >= request.tested)
        range.charged = Epsilon();
    // Under `dynamic` the selection is a charge like others, and so is the release behind it.
    const Epsilon consumed = totals.of_public.epsilon;
    const bool small = range.charged.units() > 0 && range.charged <= consumed;
    while (bound.bound == Bound::dynamic && range.last > range.first &&
           (small || request.candidates[range.last - 1] <= consumed + range.charged))
        --range.last;
    if (range.first == range.last) {
        range.denial = Denial::no_candidate;
        range.cause = last == Denial::none ? Denial::dynamic_bound : last;
    }
    return range;
}

// Whether the delta of the release fits, whatever its epsilon will be.
static Denial fit_of_delta(const SelectionRequest &request, const BoundSettings &bound, Spent spent) {
    const Delta asked = bound.bound == Bound::zcdp ? request.groups : request.delta;
    spent.delta = spent.delta + asked;
    spent.period.delta = spent.period.delta + asked;
    return fit_delta(spent, bound);
}

SelectionRange cut_candidates(const SelectionRequest &request, const BoundSettings &bound, const Totals &totals,
                              const Totals &role) {
    SelectionRange range;
    range.denial = range.cause = fit_of_delta(request, bound, totals.of_public);
    if (range.denial != Denial::none)
        return range;
    // Nothing is tested when the largest candidate passes anyhow; then the selection is free.
    range = range_at(request, bound, totals, role, Epsilon());
    if (range.denial != Denial::none || range.first >= request.tested)
        return range;
    return range_at(request, bound, totals, role, request.epsilon_svt);
}

} // namespace dp::privacy
