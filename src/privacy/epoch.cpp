#include "privacy/epoch.hpp"

#include <algorithm>

#include "privacy/rho_bound.hpp"

namespace dp::privacy {

void Claim::raise(const BoundSettings &bound) {
    if (bound.epsilon_total)
        total = charged && total ? std::max(*total, *bound.epsilon_total) : *bound.epsilon_total;
    conversion = std::max(conversion, bound.delta_conversion);
    mechanisms = std::max(mechanisms, bound.delta_mechanisms());
    if (!charged)
        target = anytime_target(bound);
    charged = true;
}

bool Claim::operator==(const Claim &other) const {
    return charged == other.charged && total == other.total && conversion == other.conversion &&
           mechanisms == other.mechanisms && target == other.target;
}

// Returns the epsilon of charges in rho, by a conversion; of pure ones alone it is at most their sum.
static Epsilon no_more_than_pure(const Spent &spent, Epsilon converted) {
    return spent.rho_only ? converted : std::min(converted, spent.pure);
}

Loss promised(const Spent &spent, const Claim &claim) {
    if (!claim.charged)
        return {spent.epsilon_of_epoch(), spent.delta_of_epoch()};
    const Epsilon epsilon =
        claim.total ? *claim.total - spent.epsilon_of_epoch() : eps_anytime(spent.rho, claim.conversion, claim.target);
    return {spent.epsilon_of_epoch() + no_more_than_pure(spent, epsilon),
            claim.conversion + (claim.total ? claim.mechanisms : spent.delta_of_epoch())};
}

// At one time alone: nothing rests on it.
static Loss displayed(const Spent &spent, Delta conversion) {
    return {spent.epsilon_of_epoch() + no_more_than_pure(spent, eps_from_rho(spent.rho, conversion)),
            spent.delta_of_epoch() + (spent.rho.units() > 0 ? conversion : Delta())};
}

std::optional<Loss> closing(const Odometer &odometer, Account account) {
    const bool open = account == Account::public_account;
    const Spent &spent = open ? odometer.totals.of_public : odometer.totals.of_conditional;
    if (open ? !odometer.claim.charged : !odometer.conditional_conversion)
        return std::nullopt;
    const Loss whole = open ? promised(spent, odometer.claim) : displayed(spent, *odometer.conditional_conversion);
    return Loss{whole.epsilon - spent.epsilon_of_epoch(), whole.delta - spent.delta_of_epoch()};
}

void begin_epoch(Odometer *odometer, int epoch) {
    odometer->totals.of_public.begin_epoch();
    odometer->totals.of_conditional.begin_epoch();
    odometer->claim = Claim();
    odometer->conditional_conversion.reset();
    odometer->epoch = epoch;
}

void enter_epoch(Odometer *odometer, int epoch) {
    if (epoch <= odometer->epoch)
        return;
    for (Account account : {Account::public_account, Account::conditional})
        if (const std::optional<Loss> end = closing(*odometer, account)) {
            Spent &spent = odometer->totals.of(account);
            spent.epsilon = spent.epsilon + end->epsilon;
            spent.delta = spent.delta + end->delta;
        }
    begin_epoch(odometer, epoch);
}

Loss shown(const Spent &spent, const BoundSettings &bound) {
    const Loss epoch = displayed(spent, bound.delta_conversion);
    return {spent.epsilon_before + epoch.epsilon, spent.delta_before + epoch.delta};
}

// The target was fixed at the first charge, as that in force moves with the totals. delta' is that in force: it is shown beside.
Epsilon shown_anytime(const Spent &spent, const BoundSettings &bound, const Claim &claim) {
    const Rho target = claim.charged ? claim.target : anytime_target(bound);
    return spent.epsilon + no_more_than_pure(spent, eps_anytime(spent.rho, bound.delta_conversion, target));
}

} // namespace dp::privacy
