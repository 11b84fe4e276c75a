// The decision about a charge (formulas.md 5.2).
#pragma once

#include <functional>
#include <vector>

#include "privacy/account.hpp"

namespace dp::privacy {

// Holds what else bounds epsilon, whatever the candidates are.
struct Caps {
    std::optional<Epsilon> epsilon_max; // the policy's cap
    std::optional<Epsilon> requested;   // the caller asks for less
    std::optional<Epsilon> share;       // the role's share of the total
    std::optional<Epsilon> profile;     // a risk profile's: bounds all that the role is ever charged, which is pure
};

// Says what the caller's terms permit, before the account is read.
struct Limits : Caps {
    std::vector<Epsilon> candidates;    // descending
    Delta delta;                        // what the release will charge (8.5),
    Delta groups;                       // and what of it is the groups'
    bool pure = true;                   // Laplace noise
    std::size_t measures = 1;           // of pure noise: each has an equal share of epsilon (5.3)
    std::function<Rho(Epsilon)> rho_of; // of noise that is not pure: what it costs at an epsilon
    Rho rho(Epsilon epsilon) const;
    Cost cost(Epsilon epsilon, const BoundSettings &bound) const;
};

struct ChargeRequest : Limits {
    Account account = Account::public_account;
    double eps_star = 0;  // what tau permits: 0 none, infinity all
    double slack = 1e-12; // relative, on eps_star
};

enum class Denial {
    none,
    no_candidate,
    dynamic_bound,
    epsilon_total,
    role_share,
    delta_total,
    epsilon_lifetime,
    delta_lifetime
};

struct Decision {
    Denial denial = Denial::none;
    Cost cost; // what is charged when denial is none; otherwise what would have been, 0 without a candidate
};

// Steps 1 and 2 of 5.2: the largest candidate that the preference and the caller permit, whatever was spent.
std::optional<Epsilon> choose(const ChargeRequest &request);
// Step 3, for what one charge has come to be after it: whether table and role may pay. `dynamic` looks at more: decide().
// totals and role, here and below: of standing().
Denial fit(const Cost &cost, Account account, const BoundSettings &bound, const Totals &totals, const Totals &role,
           std::optional<Epsilon> share, std::optional<Epsilon> profile = std::nullopt);
// The decision of 5.2, steps 1 to 3; the caller adds the charge to the account. role: the role's own sums.
Decision decide(const ChargeRequest &request, const BoundSettings &bound, const Totals &totals, const Totals &role);
// The part of step 3 that is about delta, of the sums behind a charge.
Denial fit_delta(const Spent &after, const BoundSettings &bound);

} // namespace dp::privacy
