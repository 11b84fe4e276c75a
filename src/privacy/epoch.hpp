// Epochs of an odometer: what one under `zcdp` promises, and what it comes to in epsilon when it ends (formulas.md 5.6).
#pragma once

#include "privacy/accounting.hpp"

namespace dp::privacy {

// Holds, for an account under `zcdp`, the largest total and the largest deltas in force at any charge of the epoch, each by itself.
struct Claim {
    bool charged = false;         // there was a charge
    std::optional<Epsilon> total; // none: there was no total
    Delta conversion, mechanisms; // delta', delta''
    Rho target;                   // above 0; that of the first charge, so that it is fixed in advance
    void raise(const BoundSettings &bound);
    bool operator==(const Claim &other) const;
};

// A pair (epsilon, delta).
struct Loss {
    Epsilon epsilon;
    Delta delta;
};

// The odometer of one table.
struct Odometer {
    Totals totals;
    int epoch = 0;
    Claim claim; // of the public account
    // Nothing rests on the conditional account: of its claim only the largest delta' is kept.
    std::optional<Delta> conditional_conversion;
};

// Returns what the epoch of the public account promises as a whole, if it ends now. Zero without a charge in rho.
Loss promised(const Spent &spent, const Claim &claim);
// Returns the charge that ends the epoch of an account: the claim less what its charges have added to the sums. None without a charge.
std::optional<Loss> closing(const Odometer &odometer, Account account);
// The sums go on, and the epoch begins with nothing. Closings have been added before.
void begin_epoch(Odometer *odometer, int epoch);
// All of it at once: what the odometer will be when the first request of a new epoch comes. It never goes back.
void enter_epoch(Odometer *odometer, int epoch);

// Returns the loss of an account under `zcdp`, all epochs together, for an end that was planned in advance.
Loss shown(const Spent &spent, const BoundSettings &bound);
// Returns the epsilon that holds whenever somebody looks, at the delta of shown(). claim: of the public account. Where nothing was
// charged its target is that of the bound.
Epsilon shown_anytime(const Spent &spent, const BoundSettings &bound, const Claim &claim);

} // namespace dp::privacy
