// Accounts and bounds of the total privacy loss of a protected table (formulas.md 5.1 to 5.7), in exact decimals.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "privacy/decimal.hpp"
#include "privacy/period.hpp"
#include "privacy/zcdp.hpp"

namespace dp::privacy {

enum class Bound { filter, dynamic, none, zcdp };
enum class Account { public_account, conditional };
// Which sum a charge moves.
enum class Basis { epsilon, rho };

// Adds up charges. epsilon and delta go on for ever; an epoch begins where the bound does (5.6).
struct Spent {
    Epsilon epsilon; // of charges on the basis epsilon
    Delta delta;
    Epsilon epsilon_before; // the same when the epoch began
    Delta delta_before;
    // In this epoch, on the basis rho:
    Rho rho;
    Epsilon pure;          // what the pure ones among them are in epsilon,
    bool rho_only = false; // and whether there is another
    PeriodSums period;     // of the period that the last charge was in
    Epsilon epsilon_of_epoch() const { return epsilon - epsilon_before; }
    Delta delta_of_epoch() const { return delta - delta_before; }
    void begin_epoch(); // the sums that go on for ever go on
    Spent operator+(const Spent &o) const;
};

// The amount of a `conditional` charge was chosen from the data; decisions about it read the sum of both accounts.
// Decisions of DP modes read the public account only: nothing that an analyst of a DP mode sees depends on the other.
struct Totals {
    Spent of_public, of_conditional;
    Spent read_by(Account a) const { return a == Account::public_account ? of_public : of_public + of_conditional; }
    Spent &of(Account a) { return a == Account::public_account ? of_public : of_conditional; }
};

struct BoundSettings {
    Bound bound = Bound::filter;
    std::optional<Epsilon> epsilon_total; // filter: always; dynamic and zcdp: optional
    Delta delta_total;
    // zcdp:
    Delta delta_conversion; // delta': what rho is converted at
    Cap cap = Cap::tight;
    Epsilon epsilon_pure; // P: above 0, pure charges have a total of their own, in epsilon
    Rho rho_total;        // with an epsilon_total: the cap of the rest
    Rho rho_target;       // without: what the bound that holds at all times is tuned at
    // filter: with a period the totals bind within one, these over all (a risk profile among them).
    std::optional<Period> period;
    std::optional<Epsilon> epsilon_lifetime;
    std::optional<Delta> delta_lifetime;
    Delta delta_mechanisms() const {
        return delta_total - delta_conversion;
    }                           // delta'': for groups that nobody declared
    Rho anytime_target() const; // above 0, for what holds at all times: rho_target, or the total itself
    bool splits_pure() const { return bound == Bound::zcdp && epsilon_pure.units() > 0; }
    Basis basis_of(bool pure) const {
        return bound != Bound::zcdp || (pure && splits_pure()) ? Basis::epsilon : Basis::rho;
    }
};

// Half of delta_total, down; the rest is for groups that nobody declared.
constexpr Delta default_conversion(Delta delta_total) {
    return Delta::from_units(delta_total.units() / 2);
}

// Describes one charge.
struct Cost {
    Epsilon epsilon; // nominal
    Delta delta;     // of noise and groups together
    Delta groups;    // of it, what the threshold of groups takes (8.5)
    Rho rho;         // of the noise drawn; 0 where the basis is epsilon and nobody has asked yet
    bool pure = true;
    Delta charged(Basis basis) const { return basis == Basis::epsilon ? delta : groups; }
};

// Says what the caller's terms permit, before the account is read.
struct Limits {
    std::vector<Epsilon> candidates;    // descending
    std::optional<Epsilon> epsilon_max; // the policy's cap
    std::optional<Epsilon> requested;   // the caller asks for less
    std::optional<Epsilon> share;       // the role's share of the total
    std::optional<Epsilon> profile;     // a risk profile's: bounds all that the role is ever charged, which is pure
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

// Holds what a decision reads: the sums of a table and of a role in the periods that it takes place in.
struct Standing {
    Totals table, role;
};
// `today` is what the clock shows. Each account, of table and role alike, is in the latest of their own periods and the clock's:
// no clock that goes back gives anything, and no charge of one account turns the other. Where no period is set, sums belong to
// none. A charge that is accepted leaves the sums of its account like this, and is added to them.
Standing standing(const Totals &table, const Totals &role, const BoundSettings &bound, Day today);

// Steps 1 and 2 of 5.2: the largest candidate that the preference and the caller permit, whatever was spent.
std::optional<Epsilon> choose(const ChargeRequest &request);
// Step 3, for what one charge has come to be after it: whether table and role may pay. `dynamic` looks at more: decide().
// totals and role, here and below: of standing().
Denial fit(const Cost &cost, Account account, const BoundSettings &bound, const Totals &totals, const Totals &role,
           std::optional<Epsilon> share, std::optional<Epsilon> profile = std::nullopt);
// The decision of 5.2, steps 1 to 3; the caller adds the charge to the account. role: the role's own sums.
Decision decide(const ChargeRequest &request, const BoundSettings &bound, const Totals &totals, const Totals &role);
// Step 4, for the sums of a table and of a role alike.
void add(Spent *spent, const Cost &cost, Basis basis);

// Says what a sparse vector selection may choose from, before its first comparison (3.3, "Order"; 5.2). The list that is left is
// contiguous: candidates that are too large are cut from its front, those that `dynamic` forbids from its end.
struct SelectionRequest : Limits {
    std::size_t tested = 0; // the first so many candidates are tested, the others pass whatever the data are
    Epsilon epsilon_svt;
};
struct SelectionRange {
    Denial denial = Denial::none;
    Denial cause = Denial::none;     // of no_candidate: why not even the smallest
    std::size_t first = 0, last = 0; // candidates [first, last)
    Epsilon charged;                 // epsilon_svt; 0 when the first candidate left passes anyhow
};
SelectionRange cut_candidates(const SelectionRequest &request, const BoundSettings &bound, const Totals &totals,
                              const Totals &role);
// A selection is pure, whatever noise its release will have.
Cost cost_of_selection(Epsilon epsilon);

// One step of a round whose noise shrinks until its answer is accurate. Its price is given: the caller has cut it at a ceiling that
// follows from public facts, as the answers do that have been released so far.
struct Step {
    bool is_step = false;
    bool increment = false;       // a later one; the first is the round's only release
    Basis basis = Basis::epsilon; // in epsilon it is pure, in rho it never is
    Epsilon epsilon;              // what it adds, on the basis epsilon
    Epsilon before;               // and what the steps before it have come to
    Rho rho;                      // on the basis rho: of the noise drawn
    Day period = 0;               // of an increment: the period that the first step was charged in, where one is set
};
// A Laplace step costs in rho what it adds to the rho of the whole: so the steps add up to no less.
Cost cost_of_step(const Step &step, Delta groups);
// Whether the bound charges such steps: in epsilon where a sum of epsilon is bounded or counted, else in rho. `dynamic` charges
// none, as each of them would have to be above all that was spent.
bool takes_steps(const BoundSettings &bound, Basis basis);
// Whether the period has turned since the round began. It ends there: one of its looks alone, seen behind the others or without them,
// may tell more than it adds (5.7).
bool is_cut_by_turn(const Step &step, const BoundSettings &bound, const Standing &now, Account account);

// Names used in SQL: "filter", "dynamic", "none", "zcdp"; "public", "conditional".
std::optional<Bound> bound_from_name(const std::string &name);
const char *name_of(Bound bound);
const char *name_of(Account account);
const char *name_of(Basis basis);
// The limit that a denial comes from: "epsilon_total of the table". profile: the role's share is, or may be, that of a risk profile.
const char *words_for(Denial denial, const BoundSettings &bound, Basis basis, bool profile);

} // namespace dp::privacy
