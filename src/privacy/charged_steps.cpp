#include "privacy/charged_steps.hpp"

#include "privacy/lattice.hpp"

namespace dp::privacy {

Cost cost_of_step(const Step &step, Delta groups) {
    Cost cost;
    cost.delta = cost.groups = groups;
    cost.pure = step.basis == Basis::epsilon;
    if (step.before.units() < 0 || (cost.pure ? step.epsilon.units() : step.rho.units()) <= 0)
        throw InvalidParameter("a step must cost something");
    if (cost.pure) {
        cost.epsilon = step.epsilon;
        cost.rho = rho_of_pure(step.before + step.epsilon) - rho_of_pure(step.before);
    } else
        cost.rho = step.rho;
    return cost;
}

bool takes_steps(const BoundSettings &bound, Basis basis) {
    return bound.bound != Bound::dynamic && bound.basis_of(basis == Basis::epsilon) == basis;
}

bool is_cut_by_turn(const Step &step, const BoundSettings &bound, const Standing &now, Account account) {
    const Spent &spent = account == Account::public_account ? now.table.of_public : now.table.of_conditional;
    return bound.period && step.increment && spent.period.start != step.period;
}

} // namespace dp::privacy
