// Charges of an answer by accuracy (formulas.md 5.2 and 6).
#pragma once

#include "privacy/account.hpp"

namespace dp::privacy {

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

} // namespace dp::privacy
