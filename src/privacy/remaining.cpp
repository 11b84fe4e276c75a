#include "privacy/remaining.hpp"

#include <algorithm>

namespace dp::privacy {

namespace {

// Beyond every total, and small enough for the sum of a thousand such.
constexpr int128 saturated = static_cast<int128>(1e17) * static_cast<int128>(1e15);

template <int Places> Decimal<Places> times(Decimal<Places> value, std::int64_t n) {
    int128 product;
    if (__builtin_mul_overflow(static_cast<__int128>(value.units()), static_cast<__int128>(n), &product) ||
        product > saturated)
        product = saturated;
    return Decimal<Places>::from_units(product);
}

void add_times(Spent *spent, const Repeated &charge, std::int64_t n) {
    if (n == 0)
        return;
    Cost cost = charge.cost;
    cost.epsilon = times(cost.epsilon, n);
    cost.delta = times(cost.delta, n);
    cost.groups = times(cost.groups, n);
    cost.rho = times(cost.rho, n);
    add(spent, cost, charge.bound.basis_of(charge.cost.pure));
}

// Returns why charge `i` of a round is denied, if it is, after `before` whole rounds and the earlier charges of its own.
Denial meets(const std::vector<Repeated> &round, std::size_t i, std::int64_t before) {
    const Repeated &charge = round[i];
    Totals totals = charge.totals, role = charge.role;
    for (std::size_t j = 0; j < round.size(); j++) {
        const std::int64_t n = before + (j < i ? 1 : 0);
        if (round[j].table != charge.table)
            continue;
        add_times(&totals.of_public, round[j], n);
        if (round[j].grantee == charge.grantee)
            add_times(&role.of_public, round[j], n);
    }
    if (charge.bound.bound == Bound::dynamic && charge.cost.epsilon <= totals.of_public.epsilon)
        return Denial::dynamic_bound;
    return fit(charge.cost, Account::public_account, charge.bound, totals, role, charge.share, charge.profile);
}

// Returns the charges that decide whether a round is answered. Among those that share their sums it is the last, as sums only grow.
// Under `dynamic` it is each, as each must be above what is spent.
std::vector<std::size_t> decisive(const std::vector<Repeated> &round) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < round.size(); i++) {
        bool last = true;
        for (std::size_t j = i + 1; j < round.size(); j++)
            last = last && (round[j].table != round[i].table || round[j].grantee != round[i].grantee);
        if (last || round[i].bound.bound == Bound::dynamic)
            found.push_back(i);
    }
    return found;
}

} // namespace

Remaining remaining(const std::vector<Repeated> &round) {
    const std::vector<std::size_t> places = decisive(round);
    const auto answered = [&](std::int64_t n) { // the n-th round, behind n - 1
        return std::all_of(places.begin(), places.end(),
                           [&](std::size_t i) { return meets(round, i, n - 1) == Denial::none; });
    };
    constexpr std::int64_t most = std::int64_t{1} << 60;
    std::int64_t good = 0, bad = 1;
    for (; answered(bad); bad *= 2) {
        good = bad;
        if (bad == most)
            return Remaining{false, 0, Denial::none, 0};
    }
    while (bad - good > 1) {
        const std::int64_t middle = good + (bad - good) / 2;
        (answered(middle) ? good : bad) = middle;
    }
    Remaining result;
    result.rounds = good;
    for (std::size_t i = 0; i < round.size() && result.denial == Denial::none; i++) {
        result.denial = meets(round, i, good);
        result.denied = i;
    }
    return result;
}

} // namespace dp::privacy
