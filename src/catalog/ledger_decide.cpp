#include "catalog/ledger_decide.hpp"

#include <algorithm>

#include "privacy/candidate_range.hpp"

#include "catalog/ledger_periods.hpp"
#include "catalog/lookup.hpp"

namespace dp::catalog {

// ---- what a request rests on ----

static bool same_text(const char *a, const char *b) {
    return a == nullptr || b == nullptr ? a == b : strcmp(a, b) == 0;
}

bool BasisKey::operator==(const BasisKey &key) const {
    return view == key.view && role == key.role && same_text(grantee, key.grantee) && others.n == key.others.n &&
           memcmp(others.views, key.others.views, sizeof(Oid) * others.n) == 0;
}

static BasisKey key_of(const Charge &what) {
    return {what.settings->view, what.asker.role, what.settings->others, what.grantee};
}

// Returns the role, if it still has the name under which its share is counted.
static Oid named_grantee(const Charge &what) {
    return what.grantee != nullptr && get_role_oid(what.grantee, true) == what.grantee_oid ? what.grantee_oid
                                                                                           : InvalidOid;
}

// One snapshot, taken while the lock is held: what it shows is what a charge rests on. The grantee is asked for by name among
// the committed policies, or a role renamed in an open transaction would start with a share of its own.
static Basis *read_basis(const Charge &what, OpenOdometer *odometer) {
    auto *basis = static_cast<Basis *>(palloc0(sizeof(Basis)));
    basis->key = key_of(what);
    CommandCounterIncrement();
    Reading reading = Reading::open();
    basis->terms = read_terms(reading, basis->key.view, basis->key.role, named_grantee(what), &basis->key.others);
    if (what.grantee != nullptr) {
        privacy::Spread spread;
        const privacy::Totals share =
            read_share(reading, odometer->id, what.grantee, odometer->state.epoch, &spread);
        basis->share = known_share(odometer, what.grantee, share, spread);
    }
    reading.close();
    return basis;
}

const Basis *basis_of(const Charge &what, OpenOdometer *odometer) {
    for (auto *basis : border::each<Basis>(odometer->bases))
        if (basis->key == key_of(what))
            return basis;
    Basis *basis = read_basis(what, odometer);
    odometer->bases = lappend(odometer->bases, basis);
    return basis;
}

bool agreed(const Basis &basis, const Charge &what) {
    const Terms *terms = basis.terms;
    const Settings &settings = *what.settings;
    if (terms == nullptr || terms->relation != settings.relation || strcmp(terms->id_text, settings.id_text) != 0)
        return false;
    if (what.grantee != nullptr && !terms->permitted)
        return false;
    return same_text(terms->fingerprint, settings.fingerprint) && same_text(terms->policies, settings.policies);
}

// ---- the decision ----

// Core region.
static privacy::Rho zcdp_cost(const Charge &what, privacy::Epsilon charged) {
    if (what.measures == nullptr || what.measures->empty()) {
        if (what.mechanism != privacy::Mechanism::laplace)
            throw privacy::InvalidParameter("a Gaussian charge names no measures");
        return privacy::rho_of_pure(charged);
    }
    return privacy::plan_release(what.mechanism, *what.measures, what.thresholded, charged, what.delta).rho();
}

// Sets what the caller's terms permit. Core region.
static void set_limits(const Charge &what, privacy::Limits *limits) {
    limits->candidates = *what.candidates;
    static_cast<privacy::Caps &>(*limits) = what.caps;
    limits->delta = what.delta;
    limits->groups = what.delta_groups;
    limits->pure = what.mechanism == privacy::Mechanism::laplace;
    limits->measures = what.measures == nullptr ? 1 : std::max<std::size_t>(what.measures->size(), 1);
    limits->rho_of = [&what](privacy::Epsilon epsilon) { return zcdp_cost(what, epsilon); };
}

privacy::Denial decide(const Charge &what, const Standpoint &point, Verdict *verdict, privacy::Cost *cost) {
    return border::core([&] {
        privacy::ChargeRequest asked;
        set_limits(what, &asked);
        asked.account = what.account;
        asked.eps_star = what.eps_star;
        asked.slack = what.slack;
        const privacy::BoundSettings &bound = point.basis->terms->bound;
        privacy::Decision decision = privacy::decide(asked, bound, point.sums.table, point.sums.role);
        verdict->epsilon = decision.cost.epsilon;
        verdict->reason = reason_for(what, bound, point.sums.table, decision.denial, decision.cost);
        *cost = decision.cost;
        return decision.denial;
    });
}

privacy::Denial afford_step(const Charge &what, const Standpoint &point, Verdict *verdict, privacy::Cost *cost) {
    return border::core([&] {
        const privacy::BoundSettings &bound = point.basis->terms->bound;
        *cost = privacy::cost_of_step(what.step, what.delta_groups);
        const privacy::Denial denial = privacy::fit(*cost, what.account, bound, point.sums.table, point.sums.role,
                                                    what.caps.share, what.caps.profile);
        verdict->epsilon = cost->epsilon;
        verdict->reason = reason_for(what, bound, point.sums.table, denial, *cost);
        return denial;
    });
}

privacy::Denial cut(const Entry &entry, const Standpoint &point, Verdict *verdict) {
    return border::core([&] {
        const Charge &what = *entry.what;
        privacy::SelectionRequest asked;
        set_limits(what, &asked);
        asked.tested = entry.tested;
        asked.epsilon_svt = entry.epsilon_svt;
        const privacy::BoundSettings &bound = point.basis->terms->bound;
        privacy::SelectionRange range = privacy::cut_candidates(asked, bound, point.sums.table, point.sums.role);
        verdict->first = range.first;
        verdict->last = range.last;
        verdict->epsilon = range.charged;
        privacy::Cost cost;
        cost.delta = what.delta;
        cost.groups = what.delta_groups;
        verdict->reason = reason_for(what, bound, point.sums.table, range.denial, cost);
        return range.cause;
    });
}

// Core region.
static privacy::Epsilon worst_case(const Charge &what, privacy::Epsilon charged) {
    privacy::Epsilon worst = charged;
    if (what.step.is_step)
        return std::max(what.worst, what.step.before + charged);
    if (strcmp(what.algorithm, "within_domain") == 0 || strcmp(what.algorithm, "profile") == 0)
        return worst;
    if (what.worst.units() > 0)
        return what.worst;
    for (privacy::Epsilon candidate : *what.candidates) {
        if (what.caps.epsilon_max && candidate > *what.caps.epsilon_max)
            continue;
        if (what.caps.requested)
            candidate = std::min(candidate, *what.caps.requested);
        if (candidate > worst)
            worst = candidate;
    }
    return worst;
}

// Says what every row says of when and on what it was decided.
static Price price_at(const Charge &what, const Standpoint &point) {
    Price price = {};
    price.epoch = point.basis->terms->epoch;
    price.period = period_text(point.basis->terms->bound, point.sums, what.account);
    price.at = point.at;
    return price;
}

// A selection is pure, whatever noise its release will have: its row carries no delta.
Price price_of(const Entry &entry, const Standpoint &point, const Verdict &verdict, privacy::Cost cost) {
    const Charge &what = *entry.what;
    const privacy::BoundSettings &bound = point.basis->terms->bound;
    Price price = price_at(what, point);
    border::core([&] {
        if (entry.kind == RequestKind::selection) {
            price.cost = privacy::cost_of_selection(verdict.epsilon);
            price.selection = verdict.epsilon;
            price.worst = verdict.epsilon + (*what.candidates)[verdict.first];
            price.basis = bound.basis_of(true);
            return;
        }
        if (cost.rho.units() == 0) // it decided nothing
            cost.rho = zcdp_cost(what, cost.epsilon);
        price.cost = cost;
        price.worst = worst_case(what, cost.epsilon);
        price.delta_noise = what.delta_noise;
        price.basis = bound.basis_of(cost.pure);
    });
    return price;
}

} // namespace dp::catalog
