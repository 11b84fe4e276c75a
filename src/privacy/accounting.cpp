#include "privacy/accounting.hpp"

#include <algorithm>

#include "privacy/enum_names.hpp"
#include "privacy/risk.hpp"

namespace dp::privacy {

// ---- sums ----

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

// ---- periods ----

// The later of a day and the period of this kind that the sums have been in last.
static Day met_by(const PeriodSums &sums, PeriodKind kind, Day otherwise) {
    return sums.kind ? std::max(begin_of(kind, sums.start), otherwise) : otherwise;
}

// Sums of the same kind count as 0 when their period is over. Those of another kind are carried over, and all that was ever
// spent where there was none, until the first turn behind the day on which the period was set.
static void enter_period(Spent *spent, const Period &period, Day today, Day start) {
    PeriodSums &sums = spent->period;
    const bool same = sums.kind == period.kind;
    const bool over = !sums.kind || start > begin_of(period.kind, sums.start);
    const bool turned = same || begin_of(period.kind, today) > begin_of(period.kind, period.since);
    if (over && turned)
        sums.epsilon = Epsilon(), sums.delta = Delta();
    else if (!sums.kind)
        sums.epsilon = spent->epsilon, sums.delta = spent->delta;
    sums.start = start;
    sums.kind = period.kind;
}

Standing standing(const Totals &table, const Totals &role, const BoundSettings &bound, Day today) {
    Standing now = {table, role};
    for (Account account : {Account::public_account, Account::conditional}) {
        Spent &of_table = now.table.of(account), &of_role = now.role.of(account);
        if (!bound.period) {
            of_table.period = of_role.period = PeriodSums();
            continue;
        }
        const PeriodKind kind = bound.period->kind;
        const Day start = met_by(of_role.period, kind, met_by(of_table.period, kind, begin_of(kind, today)));
        enter_period(&of_table, *bound.period, today, start);
        enter_period(&of_role, *bound.period, today, start);
    }
    return now;
}

// A total of nothing may be raised after the first charge: the target is then that of a bound without a total.
Rho BoundSettings::anytime_target() const {
    const Rho target = epsilon_total ? rho_total : rho_target;
    return target.units() > 0 ? target : rho_cap(Epsilon::from_units(1000000000), delta_conversion, Cap::tight);
}

Rho Limits::rho(Epsilon epsilon) const {
    return pure ? rho_of_pure(epsilon, measures) : rho_of(epsilon);
}

// Gaussian noise is calibrated for its rho, which takes a while: only where rho decides.
Cost Limits::cost(Epsilon epsilon, const BoundSettings &bound) const {
    Cost cost;
    cost.epsilon = epsilon;
    cost.delta = delta;
    cost.groups = groups;
    cost.pure = pure;
    if (bound.basis_of(pure) == Basis::rho)
        cost.rho = rho(epsilon);
    return cost;
}

Cost cost_of_selection(Epsilon epsilon) {
    Cost cost;
    cost.epsilon = epsilon;
    cost.rho = rho_of_pure(epsilon);
    return cost;
}

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

static Spent after(Spent spent, const Cost &cost, Basis basis) {
    add(&spent, cost, basis);
    return spent;
}

// ---- the bounds ----

// The basic rule stands beside the cap as long as every charge of the epoch has a loss in epsilon (5.4).
static bool within_rho(const Spent &spent, Rho cap, Epsilon total) {
    return spent.rho <= cap || (!spent.rho_only && spent.pure <= total);
}

static bool exceeds_zcdp(const Spent &after, const BoundSettings &bound) {
    if (!bound.epsilon_total)
        return false; // an odometer: counted, and bounded at all times
    if (bound.splits_pure())
        return after.rho > bound.rho_total || after.epsilon_of_epoch() > bound.epsilon_pure;
    return !within_rho(after, bound.rho_total, *bound.epsilon_total);
}

static bool exceeds_total(const Spent &after, const BoundSettings &bound) {
    switch (bound.bound) {
    case Bound::zcdp:
        return exceeds_zcdp(after, bound);
    case Bound::none:
        return false; // counted only
    case Bound::filter:
    case Bound::dynamic:
        break;
    }
    if (!bound.epsilon_total)
        return bound.bound == Bound::filter; // a filter without a total allows nothing
    return (bound.period ? after.period.epsilon : after.epsilon) > *bound.epsilon_total;
}

static bool exceeds_delta(const Spent &after, const BoundSettings &bound) {
    if (bound.bound == Bound::none)
        return false;
    return bound.bound == Bound::zcdp ? after.delta_of_epoch() > bound.delta_mechanisms()
                                      : (bound.period ? after.period.delta : after.delta) > bound.delta_total;
}

// Over all periods together.
static bool exceeds_lifetime(const Spent &after, const BoundSettings &bound) {
    return bound.period && bound.epsilon_lifetime && after.epsilon > *bound.epsilon_lifetime;
}

static bool exceeds_delta_lifetime(const Spent &after, const BoundSettings &bound) {
    return bound.period && bound.delta_lifetime && after.delta > *bound.delta_lifetime;
}

// Tests the sums of a role against its share, as those of the table against its total; a role has no delta of its own. Beside an
// epsilon_pure a share bounds the one sum that the role uses, or the role would have it twice. The setter checks that, but a charge
// may be under way meanwhile.
static bool exceeds_share(const Spent &after, const BoundSettings &bound, Epsilon share) {
    if (bound.bound != Bound::zcdp)
        return (bound.period ? after.period.epsilon : after.epsilon) > share;
    if (bound.splits_pure() && after.rho.units() == 0)
        return after.epsilon > share;
    if (bound.splits_pure())
        return after.epsilon > share || after.epsilon_of_epoch().units() > 0 ||
               after.rho > rho_cap(share, bound.delta_conversion, bound.cap);
    return (after.rho_only || after.pure > share) && after.rho > rho_cap(share, bound.delta_conversion, bound.cap);
}

// A risk profile holds under pure epsilon alone, over all periods. Who grants it looks at the role's charges, but one may be under
// way meanwhile: whatever it was, the role has had its last answer then.
static bool breaks_profile(const Cost &cost, Account account, const BoundSettings &bound, Totals role,
                           Epsilon profile) {
    add(&role.of(account), cost, bound.basis_of(cost.pure));
    const Spent all = role.read_by(Account::conditional);
    return all.delta.units() > 0 || all.rho.units() > 0 || all.rho_only || role.of_conditional.epsilon.units() > 0 ||
           all.epsilon > profile;
}

Denial fit(const Cost &cost, Account account, const BoundSettings &bound, const Totals &totals, const Totals &role,
           std::optional<Epsilon> share, std::optional<Epsilon> profile) {
    const Basis basis = bound.basis_of(cost.pure);
    const Spent table = after(totals.read_by(account), cost, basis);
    if (exceeds_total(table, bound))
        return Denial::epsilon_total;
    if (exceeds_lifetime(table, bound))
        return Denial::epsilon_lifetime;
    if (share && exceeds_share(after(role.read_by(account), cost, basis), bound, *share))
        return Denial::role_share;
    if (profile && breaks_profile(cost, account, bound, role, *profile))
        return Denial::role_share;
    if (exceeds_delta(table, bound))
        return Denial::delta_total;
    return exceeds_delta_lifetime(table, bound) ? Denial::delta_lifetime : Denial::none;
}

// ---- the decision ----

// Step 1 without the rule of `dynamic`: the largest candidate that tau and the policy's cap permit.
static std::optional<Epsilon> permitted_candidate(const ChargeRequest &request) {
    std::vector<Epsilon> candidates;
    for (Epsilon candidate : request.candidates)
        if (candidate.units() > 0 && (!request.epsilon_max || candidate <= *request.epsilon_max))
            candidates.push_back(candidate);
    return largest_candidate(candidates, request.eps_star, request.slack);
}

// A charge that is not positive would give budget back.
static void check_request(const ChargeRequest &request) {
    if (request.requested && request.requested->units() <= 0)
        throw InvalidParameter("epsilon must be at least 0.000000001");
    if (request.delta.units() < 0 || request.groups.units() < 0)
        throw InvalidParameter("delta must not be negative");
}

std::optional<Epsilon> choose(const ChargeRequest &request) {
    check_request(request);
    const std::optional<Epsilon> permitted = permitted_candidate(request);
    if (!permitted)
        return std::nullopt;
    return request.requested ? std::min(*permitted, *request.requested) : *permitted;
}

Decision decide(const ChargeRequest &request, const BoundSettings &bound, const Totals &totals, const Totals &role) {
    const std::optional<Epsilon> epsilon = choose(request);
    if (!epsilon)
        return {Denial::no_candidate, {}};
    const Cost cost = request.cost(*epsilon, bound);
    // Under `dynamic` only candidates above what is consumed count. The largest permitted one is above it if any is; and a
    // smaller request must be above it, too.
    if (bound.bound == Bound::dynamic && *epsilon <= totals.read_by(request.account).epsilon)
        return {Denial::dynamic_bound, cost};
    return {fit(cost, request.account, bound, totals, role, request.share, request.profile), cost};
}

// ---- selection ----

// The range that bounds leave when the selection itself costs `price`.
static SelectionRange range_at(const SelectionRequest &request, const BoundSettings &bound, const Totals &totals,
                               const Totals &role, Epsilon price) {
    constexpr Account account = Account::public_account;
    Totals table_then = totals, role_then = role;
    const Cost selection = cost_of_selection(price);
    if (price.units() > 0) {
        add(&table_then.of_public, selection, bound.basis_of(true));
        add(&role_then.of_public, selection, bound.basis_of(true));
    }
    SelectionRange range;
    range.charged = price;
    // Returns what forbids a candidate; the bounds come last.
    const auto forbidden = [&](Epsilon candidate) {
        if ((request.epsilon_max && candidate > *request.epsilon_max) ||
            (request.requested && candidate > *request.requested))
            return Denial::no_candidate;
        return fit(request.cost(candidate, bound), account, bound, table_then, role_then, request.share,
                   request.profile);
    };
    Denial last = Denial::no_candidate;
    while (range.first < request.candidates.size() &&
           (last = forbidden(request.candidates[range.first])) != Denial::none)
        ++range.first;
    range.last = request.candidates.size();
    if (range.first >= request.tested)
        range.charged = Epsilon();
    // Under `dynamic` the selection is a charge like others, and so is the release behind it.
    const Epsilon consumed = totals.of_public.epsilon;
    const bool small = range.charged.units() > 0 && range.charged <= consumed;
    while (bound.bound == Bound::dynamic && range.last > range.first &&
           (small || request.candidates[range.last - 1] <= consumed + range.charged))
        --range.last;
    if (range.first == range.last) {
        range.denial = Denial::no_candidate;
        range.cause = last == Denial::none ? Denial::dynamic_bound : last;
    }
    return range;
}

// Whether the delta of the release fits, whatever its epsilon will be.
static Denial fit_of_delta(const SelectionRequest &request, const BoundSettings &bound, Spent spent) {
    const Delta asked = bound.bound == Bound::zcdp ? request.groups : request.delta;
    spent.delta = spent.delta + asked;
    spent.period.delta = spent.period.delta + asked;
    if (exceeds_delta(spent, bound))
        return Denial::delta_total;
    return exceeds_delta_lifetime(spent, bound) ? Denial::delta_lifetime : Denial::none;
}

SelectionRange cut_candidates(const SelectionRequest &request, const BoundSettings &bound, const Totals &totals,
                              const Totals &role) {
    SelectionRange range;
    range.denial = range.cause = fit_of_delta(request, bound, totals.of_public);
    if (range.denial != Denial::none)
        return range;
    // Nothing is tested when the largest candidate passes anyhow; then the selection is free.
    range = range_at(request, bound, totals, role, Epsilon());
    if (range.denial != Denial::none || range.first >= request.tested)
        return range;
    return range_at(request, bound, totals, role, request.epsilon_svt);
}

// ---- Names ----

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

static const char *words_for_total(const BoundSettings &bound, Basis basis) {
    if (bound.bound != Bound::zcdp)
        return bound.period ? "epsilon_total of the period" : "epsilon_total of the table";
    return basis == Basis::epsilon ? "epsilon_pure of the table" : "rho_total of the table";
}

static const char *words_for_share(const BoundSettings &bound, bool profile) {
    if (profile)
        return "share of the role (epsilon_total or risk profile)";
    return bound.period ? "share of the role (epsilon_total) in the period" : "share of the role (epsilon_total)";
}

const char *words_for(Denial denial, const BoundSettings &bound, Basis basis, bool profile) {
    switch (denial) {
    case Denial::none:
        break;
    case Denial::no_candidate:
        return "no epsilon meets the preference";
    case Denial::dynamic_bound:
        return "bound dynamic of the table";
    case Denial::epsilon_total:
        return words_for_total(bound, basis);
    case Denial::role_share:
        return words_for_share(bound, profile);
    case Denial::delta_total:
        return bound.period ? "delta_total of the period" : "delta_total of the table";
    case Denial::epsilon_lifetime:
        return "epsilon_lifetime of the table";
    case Denial::delta_lifetime:
        return "delta_lifetime of the table";
    }
    return "";
}

const char *name_of(Basis basis) {
    return basis == Basis::epsilon ? "epsilon" : "rho";
}

} // namespace dp::privacy
