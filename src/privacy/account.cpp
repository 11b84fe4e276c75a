#include "privacy/account.hpp"

#include "privacy/enum_names.hpp"

namespace dp::privacy {

Spent Spent::operator+(const Spent &o) const {
    Spent sum;
    sum.epsilon = epsilon + o.epsilon;
    sum.delta = delta + o.delta;
    sum.epsilon_before = epsilon_before + o.epsilon_before;
    sum.delta_before = delta_before + o.delta_before;
    sum.rho = rho + o.rho;
    sum.pure = pure + o.pure;
    sum.rho_only = rho_only || o.rho_only;
    sum.period = period.kind ? period : o.period;
    sum.period.epsilon = period.epsilon + o.period.epsilon;
    sum.period.delta = period.delta + o.period.delta;
    return sum;
}

void Spent::begin_epoch() {
    Spent next;
    next.epsilon = next.epsilon_before = epsilon;
    next.delta = next.delta_before = delta;
    next.period = period;
    *this = next;
}

Standing Standing::without_period(const Totals &table, const Totals &role) {
    Standing now = {table, role};
    for (Totals *totals : {&now.table, &now.role})
        totals->of_public.period = totals->of_conditional.period = PeriodSums();
    return now;
}

void add(Spent *spent, const Cost &cost, Basis basis) {
    spent->delta = spent->delta + cost.charged(basis);
    if (spent->period.kind)
        spent->period.delta = spent->period.delta + cost.charged(basis);
    if (basis == Basis::epsilon) {
        spent->epsilon = spent->epsilon + cost.epsilon;
        if (spent->period.kind)
            spent->period.epsilon = spent->period.epsilon + cost.epsilon;
        return;
    }
    spent->rho = spent->rho + cost.rho;
    if (cost.pure)
        spent->pure = spent->pure + cost.epsilon;
    else
        spent->rho_only = true;
}

Spent after(Spent spent, const Cost &cost, Basis basis) {
    add(&spent, cost, basis);
    return spent;
}

std::optional<Bound> bound_from_name(const std::string &name) {
    return value_named(name, Bound::zcdp);
}

const char *name_of(Bound bound) {
    constexpr const char *names[] = {"filter", "dynamic", "none", "zcdp"};
    return names[static_cast<int>(bound)];
}

const char *name_of(Account account) {
    return account == Account::public_account ? "public" : "conditional";
}

const char *name_of(Basis basis) {
    return basis == Basis::epsilon ? "epsilon" : "rho";
}

} // namespace dp::privacy
