// Sums of charges, and what is set to bound them (formulas.md 5.1 to 5.7), in exact decimals.
#pragma once

#include <optional>
#include <string>

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

// Holds what a decision reads: the sums of a table and of a role in the periods that it takes place in.
struct Standing {
    Totals table, role;
    // No period is set: sums belong to none.
    static Standing without_period(const Totals &table, const Totals &role);
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
    bool rho_alone = false; // a promise about attacks, which the basic rule would break (7.5)
    // filter: with a period the totals bind within one, these over all (a risk profile among them).
    std::optional<Period> period;
    std::optional<Epsilon> epsilon_lifetime;
    std::optional<Delta> delta_lifetime;
    Delta delta_mechanisms() const {
        return delta_total - delta_conversion;
    }                           // delta'': for groups that nobody declared
    // The basic rule stands beside the cap as long as every charge of the epoch has a loss in epsilon (5.4).
    bool keeps_basic_rule(const Spent &spent) const { return !splits_pure() && !rho_alone && !spent.rho_only; }
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

// Step 4 of 5.2, for the sums of a table and of a role alike.
void add(Spent *spent, const Cost &cost, Basis basis);
Spent after(Spent spent, const Cost &cost, Basis basis);

// Names used in SQL: "filter", "dynamic", "none", "zcdp"; "public", "conditional".
std::optional<Bound> bound_from_name(const std::string &name);
const char *name_of(Bound bound);
const char *name_of(Account account);
const char *name_of(Basis basis);

} // namespace dp::privacy
