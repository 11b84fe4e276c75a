// Accounts and bounds of the total privacy loss of a protected table (formulas.md 5.1, 5.2), in exact decimals.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "privacy/decimal.hpp"

namespace dp::privacy {

enum class Bound { filter, dynamic, none };
enum class Account { public_account, conditional };

// The amount of a `conditional` charge was chosen from the data; decisions about it read the sum of both accounts.
// Decisions of DP modes read the public account only: nothing that an analyst of a DP mode sees depends on the other.
struct Totals {
    Epsilon public_epsilon, conditional_epsilon;
    Delta public_delta, conditional_delta;
    Epsilon epsilon(Account a) const {
        return a == Account::public_account ? public_epsilon : public_epsilon + conditional_epsilon;
    }
    Delta delta(Account a) const {
        return a == Account::public_account ? public_delta : public_delta + conditional_delta;
    }
};

struct BoundSettings {
    Bound bound = Bound::filter;
    std::optional<Epsilon> epsilon_total; // filter: always; dynamic: optional
    Delta delta_total;
};

// What the caller's terms permit, before the account is looked at.
struct Limits {
    std::vector<Epsilon> candidates;    // descending
    std::optional<Epsilon> epsilon_max; // the policy's cap
    std::optional<Epsilon> requested;   // the caller asks for less
    std::optional<Epsilon> share;       // the role's share of the total
    Delta delta;                        // what the release will charge (8.5)
};

struct ChargeRequest : Limits {
    Account account = Account::public_account;
    double eps_star = 0;  // what tau permits: 0 none, infinity all
    double slack = 1e-12; // relative, on eps_star
    Epsilon selection;    // what the selection of this epsilon has been charged already (3.3)
};

enum class Denial { none, no_candidate, dynamic_bound, epsilon_total, role_share, delta_total };

struct Decision {
    Denial denial = Denial::none;
    Epsilon epsilon; // charged when denial is none; otherwise what would have been, 0 without a candidate
};

// The decision of 5.2, steps 1 to 3; the caller adds the charge to the account. role: the role's own sums.
Decision decide(const ChargeRequest &request, const BoundSettings &bound, const Totals &totals, const Totals &role);

// What a sparse vector selection may choose from, before its first comparison (3.3, "Order"; 5.2). The list that is left is
// contiguous: what is too large is cut from its front, what `dynamic` forbids from its end.
struct SelectionRequest : Limits {
    std::size_t tested = 0; // the first so many candidates are tested, the others pass whatever the data are
    Epsilon epsilon_svt;
};
struct SelectionRange {
    Denial denial = Denial::none;
    std::size_t first = 0, last = 0; // candidates [first, last)
    Epsilon charged;                 // epsilon_svt; 0 when the first candidate left passes anyhow
};
SelectionRange cut_candidates(const SelectionRequest &request, const BoundSettings &bound, const Totals &totals,
                              const Totals &role);

// 5.1: sum of eps if the deltas add up to at most delta_global, else no value (infinite).
struct Charge {
    Epsilon epsilon;
    Delta delta;
};
std::optional<Epsilon> odometer_sequential(const std::vector<Charge> &charges, Delta delta_global);

// Names used in SQL: "filter", "dynamic", "none"; "public", "conditional".
std::optional<Bound> bound_from_name(const std::string &name);
const char *name_of(Bound bound);
const char *name_of(Account account);

} // namespace dp::privacy
