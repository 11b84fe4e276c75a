#include "privacy/cell_sums.hpp"

#include <algorithm>

namespace dp::privacy {

CellSums CellSums::operator+(const CellSums &o) const {
    return {epsilon + o.epsilon, delta + o.delta, epsilon_epoch + o.epsilon_epoch, delta_epoch + o.delta_epoch,
            rho + o.rho,         pure + o.pure,   rho_only + o.rho_only};
}

CellSums CellSums::operator-(const CellSums &o) const {
    return {epsilon - o.epsilon, delta - o.delta, epsilon_epoch - o.epsilon_epoch, delta_epoch - o.delta_epoch,
            rho - o.rho,         pure - o.pure,   rho_only - o.rho_only};
}

bool CellSums::operator==(const CellSums &o) const {
    return epsilon == o.epsilon && delta == o.delta && epsilon_epoch == o.epsilon_epoch &&
           delta_epoch == o.delta_epoch && rho == o.rho && pure == o.pure && rho_only == o.rho_only;
}

void CellSums::begin_epoch() {
    *this = {epsilon, delta, {}, {}, {}, {}, 0};
}

Spent CellSums::spent() const {
    Spent spent;
    spent.epsilon = epsilon;
    spent.delta = delta;
    spent.epsilon_before = epsilon - epsilon_epoch;
    spent.delta_before = delta - delta_epoch;
    spent.rho = rho;
    spent.pure = pure;
    spent.rho_only = rho_only > 0;
    return spent;
}

CellSums sums_of_all(const Spent &spent) {
    return {spent.epsilon, spent.delta, spent.epsilon_of_epoch(), spent.delta_of_epoch(),
            spent.rho,     spent.pure,  spent.rho_only ? 1 : 0};
}

CellSums added_by(const Cost &cost, Basis basis) {
    Spent spent;
    add(&spent, cost, basis);
    return sums_of_all(spent);
}

CellSums largest(const CellSums &a, const CellSums &b) {
    return {std::max(a.epsilon, b.epsilon),
            std::max(a.delta, b.delta),
            std::max(a.epsilon_epoch, b.epsilon_epoch),
            std::max(a.delta_epoch, b.delta_epoch),
            std::max(a.rho, b.rho),
            std::max(a.pure, b.pure),
            std::max(a.rho_only, b.rho_only)};
}

void add(Spent *spent, const CellSums &sums) {
    spent->epsilon = spent->epsilon + sums.epsilon;
    spent->delta = spent->delta + sums.delta;
    spent->rho = spent->rho + sums.rho;
    spent->pure = spent->pure + sums.pure;
    spent->rho_only = spent->rho_only || sums.rho_only > 0;
}

// ---- refusals ------------------------------------------------------------------------------------------------------

bool Refusal::refuses(const CellSums &sums) const {
    const bool too_much_rho = rho && sums.rho > *rho;
    return (epsilon && sums.epsilon > *epsilon) || (delta && sums.delta > *delta) ||
           (epsilon_epoch && sums.epsilon_epoch > *epsilon_epoch) || (delta_epoch && sums.delta_epoch > *delta_epoch) ||
           (too_much_rho && (!pure || sums.rho_only > 0 || sums.pure > *pure));
}

// Sums are not below 0, so behind this they all are refused.
static Epsilon below_all() {
    return Epsilon::from_units(-1);
}

// The basic rule stands beside the cap for a charge that is pure (5.4).
static void set_cap(const Cost &cost, Rho cap, Epsilon total, Refusal *refusal) {
    refusal->rho = cap - cost.rho;
    if (cost.pure)
        refusal->pure = total - cost.epsilon;
}

Refusal refusal_of_table(const Cost &cost, const BoundSettings &bound) {
    Refusal refusal;
    const Basis basis = bound.basis_of(cost.pure);
    if (bound.bound == Bound::none)
        return refusal;
    if (bound.bound != Bound::zcdp) {
        refusal.epsilon = bound.epsilon_total ? *bound.epsilon_total - cost.epsilon : below_all();
        refusal.delta = bound.delta_total - cost.charged(basis);
        return refusal;
    }
    refusal.delta_epoch = bound.delta_mechanisms() - cost.charged(basis);
    if (!bound.epsilon_total)
        return refusal;
    if (!bound.splits_pure()) {
        set_cap(cost, bound.rho_total, *bound.epsilon_total, &refusal);
        return refusal;
    }
    refusal.rho = bound.rho_total - (basis == Basis::rho ? cost.rho : Rho());
    refusal.epsilon_epoch = bound.epsilon_pure - (basis == Basis::epsilon ? cost.epsilon : Epsilon());
    return refusal;
}

// Beside an epsilon_pure a role may use one of its two sums alone.
static void set_split_share(const Cost &cost, const BoundSettings &bound, Epsilon share, Refusal *refusal) {
    const bool epsilon = bound.basis_of(cost.pure) == Basis::epsilon;
    refusal->epsilon = share - (epsilon ? cost.epsilon : Epsilon());
    refusal->rho = epsilon ? Rho() : rho_cap(share, bound.delta_conversion, bound.cap) - cost.rho;
    if (!epsilon)
        refusal->epsilon_epoch = Epsilon();
}

static void set_profile(const Cost &cost, Basis basis, Epsilon profile, const Spent &conditional, Refusal *refusal) {
    const bool other = conditional.epsilon.units() > 0 || conditional.delta.units() > 0 ||
                       conditional.rho.units() > 0 || conditional.rho_only;
    const bool is_pure = !other && basis == Basis::epsilon && cost.charged(basis).units() == 0;
    const Epsilon least = is_pure ? profile - cost.epsilon : below_all();
    refusal->epsilon = refusal->epsilon ? std::min(*refusal->epsilon, least) : least;
    refusal->delta = Delta();
    refusal->rho = Rho();
    refusal->pure.reset();
}

Refusal refusal_of_role(const Cost &cost, const BoundSettings &bound, std::optional<Epsilon> share,
                        std::optional<Epsilon> profile, const Spent &conditional) {
    Refusal refusal;
    if (share && bound.bound != Bound::zcdp)
        refusal.epsilon = *share - cost.epsilon;
    else if (share && bound.splits_pure())
        set_split_share(cost, bound, *share, &refusal);
    else if (share)
        set_cap(cost, rho_cap(*share, bound.delta_conversion, bound.cap), *share, &refusal);
    if (profile)
        set_profile(cost, bound.basis_of(cost.pure), *profile, conditional, &refusal);
    return refusal;
}

} // namespace dp::privacy
