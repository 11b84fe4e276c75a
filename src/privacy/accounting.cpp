#include "privacy/accounting.hpp"

#include <algorithm>

#include "privacy/risk.hpp"

namespace dp::privacy {

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
    if (request.delta.units() < 0)
        throw InvalidParameter("delta must not be negative");
}

static bool exceeds_total(Epsilon consumed, const BoundSettings &bound) {
    if (bound.bound == Bound::none)
        return false; // counted only
    if (!bound.epsilon_total)
        return bound.bound == Bound::filter; // a filter without a total allows nothing
    return consumed > *bound.epsilon_total;
}

Decision decide(const ChargeRequest &request, const BoundSettings &bound, const Totals &totals, const Totals &role) {
    check_request(request);
    const Epsilon consumed = totals.epsilon(request.account);
    const std::optional<Epsilon> permitted = permitted_candidate(request);
    if (!permitted)
        return {Denial::no_candidate, {}};
    // Under `dynamic` only candidates above what is consumed count. The largest permitted one is above it if any is; and a
    // smaller request must be above it, too.
    const Epsilon epsilon = request.requested ? std::min(*permitted, *request.requested) : *permitted;
    // (Beside what the selection of this very epsilon has consumed.)
    if (bound.bound == Bound::dynamic && epsilon <= consumed - request.selection)
        return {Denial::dynamic_bound, epsilon};
    if (exceeds_total(consumed + epsilon, bound))
        return {Denial::epsilon_total, epsilon};
    if (request.share && role.epsilon(request.account) + epsilon > *request.share)
        return {Denial::role_share, epsilon};
    if (bound.bound != Bound::none && totals.delta(request.account) + request.delta > bound.delta_total)
        return {Denial::delta_total, epsilon};
    return {Denial::none, epsilon};
}

// ---- selection ----

// The range that bounds leave when the selection itself costs `price`.
static SelectionRange range_at(const SelectionRequest &request, const BoundSettings &bound, const Totals &totals,
                               const Totals &role, Epsilon price) {
    const Epsilon consumed = totals.public_epsilon;
    SelectionRange range;
    range.charged = price;
    const auto too_large = [&](Epsilon candidate) {
        return (request.epsilon_max && candidate > *request.epsilon_max) ||
               (request.requested && candidate > *request.requested) ||
               exceeds_total(consumed + price + candidate, bound) ||
               (request.share && role.public_epsilon + price + candidate > *request.share);
    };
    while (range.first < request.candidates.size() && too_large(request.candidates[range.first]))
        ++range.first;
    range.last = request.candidates.size();
    while (bound.bound == Bound::dynamic && range.last > range.first && request.candidates[range.last - 1] <= consumed)
        --range.last;
    if (range.first == range.last)
        range.denial = Denial::no_candidate;
    return range;
}

SelectionRange cut_candidates(const SelectionRequest &request, const BoundSettings &bound, const Totals &totals,
                              const Totals &role) {
    SelectionRange range;
    if (bound.bound != Bound::none && totals.public_delta + request.delta > bound.delta_total) {
        range.denial = Denial::delta_total;
        return range;
    }
    // Nothing is tested when the largest candidate passes anyhow; then the selection is free.
    range = range_at(request, bound, totals, role, Epsilon());
    if (range.denial != Denial::none || range.first >= request.tested)
        return range;
    range = range_at(request, bound, totals, role, request.epsilon_svt);
    if (range.first >= request.tested)
        range.charged = Epsilon();
    return range;
}

std::optional<Epsilon> odometer_sequential(const std::vector<Charge> &charges, Delta delta_global) {
    Charge sum;
    for (const Charge &charge : charges) {
        sum.epsilon = sum.epsilon + charge.epsilon;
        sum.delta = sum.delta + charge.delta;
    }
    return sum.delta <= delta_global ? std::optional<Epsilon>(sum.epsilon) : std::nullopt;
}

// ---- Names ----

std::optional<Bound> bound_from_name(const std::string &name) {
    for (Bound bound : {Bound::filter, Bound::dynamic, Bound::none})
        if (name == name_of(bound))
            return bound;
    return std::nullopt;
}

const char *name_of(Bound bound) {
    switch (bound) {
    case Bound::filter:
        return "filter";
    case Bound::dynamic:
        return "dynamic";
    case Bound::none:
        return "none";
    }
    return "";
}

const char *name_of(Account account) {
    return account == Account::public_account ? "public" : "conditional";
}

} // namespace dp::privacy
