#include "release/estimate.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "privacy/attack.hpp"
#include "privacy/candidate_range.hpp"
#include "privacy/disclosure.hpp"
#include "privacy/standing.hpp"

#include "border/each.hpp"
#include "catalog/ledger_cells.hpp"
#include "release/accuracy.hpp"
#include "release/charge.hpp"
#include "release/choose.hpp"
#include "release/judge.hpp"
#include "release/accuracy_next.hpp"
#include "release/select.hpp"
#include "rows/unit_checks.hpp"
#include "rows/quantiles.hpp"

namespace dp::release {

// ---- what the bounds leave -----------------------------------------------------------------------------------------

// Reads the account that a keeper reads when a DP mode charges; never the conditional one. It is as it will be when the charge comes:
// another epoch, or period, may have begun that no charge has met yet.
static privacy::Repeated read_account(const catalog::Reading &reading, const rows::Question *question, const Terms &terms) {
    const catalog::Settings *settings = question->settings;
    const catalog::Terms *now = catalog::read_terms(reading, settings->view, InvalidOid, InvalidOid);
    privacy::Odometer odometer;
    if (now == nullptr || !catalog::read_odometer(reading, settings->id_text, &odometer))
        refuse_state(psprintf("%s has no odometer", settings->relation_name));
    privacy::Repeated account;
    if (now->epoch < odometer.epoch)
        catalog::refuse_ahead(*settings);
    account.bound = now->bound;
    border::core([&] { privacy::enter_epoch(&odometer, now->epoch); });
    privacy::Totals role = catalog::read_share(reading, settings->id_text, terms.grantee, now->epoch);
    if (question->touched != nullptr)
        catalog::look_at_cells(reading, settings->id_text, terms.grantee, *question->touched, now->epoch,
                               &odometer.totals, &role);
    const privacy::Standing standing = privacy::standing(odometer.totals, role, now->bound, catalog::today());
    account.totals = standing.table;
    account.role = standing.role;
    account.share = terms.caps.share;
    account.profile = terms.caps.profile;
    return account;
}

static void add_cost(privacy::Repeated *account, const privacy::Cost &cost, bool of_role) {
    const privacy::Basis basis = account->bound.basis_of(cost.pure);
    privacy::add(&account->totals.of_public, cost, basis);
    if (of_role)
        privacy::add(&account->role.of_public, cost, basis);
}

static void add_earlier(privacy::Repeated *account, const rows::Question *question, const Terms &terms, const List *earlier) {
    for (auto *charge : border::each<const Earlier>(earlier)) {
        if (charge->relation != question->settings->relation)
            continue;
        bool of_role = strcmp(charge->grantee, terms.grantee) == 0;
        if (charge->selection.epsilon.units() > 0)
            add_cost(account, charge->selection, of_role);
        add_cost(account, charge->cost, of_role);
    }
}

// ---- the decision, without the charge ------------------------------------------------------------------------------

// The price, whatever has been spent. Core region.
static void price_alone(privacy::ChargeRequest request, Estimate *estimate) {
    request.share.reset();
    request.profile.reset();
    privacy::BoundSettings unbounded;
    unbounded.bound = privacy::Bound::none;
    privacy::Decision price = privacy::decide(request, unbounded, privacy::Totals{}, privacy::Totals{});
    estimate->priced = price.denial == privacy::Denial::none;
    estimate->epsilon = price.cost.epsilon;
}

static void decide(const rows::Question *question, const Terms &terms, const Permitted &permitted,
                   const privacy::Repeated &account, Estimate *estimate) {
    border::core([&] {
        privacy::ChargeRequest request;
        set_request(question, terms, permitted, estimate->delta, &request);
        price_alone(request, estimate);
        privacy::Decision now = privacy::decide(request, account.bound, account.totals, account.role);
        estimate->denied = now.denial != privacy::Denial::none;
        estimate->cost = now.cost;
    });
}

// Measures that differ by their FILTER alone; they share epsilon, where groups would not.
static int filtered_measures(const std::vector<privacy::Measure> &measures) {
    std::map<std::pair<privacy::MeasureKind, int>, int> filters;
    int most = 0;
    for (const privacy::Measure &measure : measures)
        if (measure.filter >= 0)
            most = std::max(most, ++filters[{measure.kind, measure.argument}]);
    return most;
}

// Bounds what one answer tells about one person (formulas.md 7), in each way to look at it. Core region.
static void weigh(const std::vector<privacy::AttackedLoss> &ways, Estimate *estimate) {
    const privacy::AttackedLoss &first = ways.front();
    const bool pure = first.rho == 0 && first.delta == 0;
    estimate->posterior50 = pure ? privacy::posterior_of_half(first.epsilon) : std::numeric_limits<double>::quiet_NaN();
    estimate->advantage = privacy::largest_advantage(ways);
}

// Gaussian noise has two bounds: what it was calibrated to, and its rho.
static std::vector<privacy::AttackedLoss> ways_of(const privacy::ReleasePlan &plan) {
    const privacy::AttackedLoss in_rho = {0, plan.rho().value(), plan.delta_groups.value()};
    if (plan.mechanism == privacy::Mechanism::gaussian && plan.delta_noise == privacy::Delta()) // it has no epsilon
        return {in_rho};
    std::vector<privacy::AttackedLoss> ways = {{plan.epsilon.value(), 0, plan.delta.value()}};
    if (plan.mechanism == privacy::Mechanism::gaussian || plan.shares > 1)
        ways.push_back(in_rho);
    return ways;
}

static void foresee(const rows::Question *question, const Terms &terms, Estimate *estimate) {
    const privacy::ReleasePlan *plan = plan_of(question, terms, estimate->epsilon);
    estimate->threshold = plan->threshold.value_or(0);
    double ranks = 0;
    border::core([&] {
        estimate->rho = plan->rho();
        estimate->filtered = filtered_measures(*question->measures);
        weigh(ways_of(*plan), estimate);
        ranks = rank_halfwidth(question, *plan);
    });
    estimate->error95 = halfwidths(question, *plan);
    if (const char *text = rank_text(ranks))
        estimate->note = text;
}

// Cuts the candidates as the worker would, those that the data decide on and those that they do not.
static void select(const rows::Question *question, const Terms &terms, const privacy::Repeated &account,
                   Estimate *estimate) {
    const auto *facts = selection_candidates(question, terms);
    border::core([&] {
        privacy::SelectionRequest request;
        set_limits(question, terms, estimate->delta, &request);
        request.tested = privacy::tested_candidates(*facts);
        request.epsilon_svt = terms.epsilon_svt;
        const privacy::SelectionRange range =
            privacy::cut_candidates(request, account.bound, account.totals, account.role);
        estimate->denied = range.denial != privacy::Denial::none;
        estimate->priced = !estimate->denied;
        if (estimate->denied)
            return;
        estimate->selected = range.charged.units() > 0;
        estimate->selection = range.charged;
        estimate->epsilon = (*terms.candidates)[range.first];
        estimate->cost = request.cost(estimate->epsilon, account.bound);
        if (estimate->selected)
            estimate->selection_cost = privacy::cost_of_selection(range.charged);
    });
}

// ---- by accuracy ---------------------------------------------------------------------------------------------------

static bool fits(const privacy::Cost &cost, const privacy::Repeated &account) {
    return border::core([&] {
        return privacy::fit(cost, privacy::Account::public_account, account.bound, account.totals, account.role,
                            account.share, account.profile) == privacy::Denial::none;
    });
}

// Returns the cost of steps that come to so much together.
static privacy::Cost cost_of_steps(const Course &course, privacy::Epsilon epsilon, privacy::Rho rho,
                                   privacy::Delta groups) {
    privacy::Step step;
    step.is_step = true;
    step.basis = course.measured ? privacy::Basis::rho : privacy::Basis::epsilon;
    step.epsilon = epsilon;
    step.rho = rho;
    return border::core([&] { return privacy::cost_of_step(step, groups); });
}

// The first step is charged as soon as it fits; how far the others come depends on the answer.
static void estimate_steps(const rows::Question *question, const Terms &terms, const Course &course,
                           const privacy::Repeated &account, const double *magnitude, Estimate *estimate) {
    Foreseen end = foresee_round(question, terms, course, magnitude);
    estimate->epsilon = end.epsilon;
    estimate->rho = course.measured ? end.rho : border::core([&] { return privacy::rho_of_pure(end.epsilon); });
    estimate->error95 = end.error95;
    estimate->cost = cost_of_steps(course, end.epsilon, end.rho, {});
    // Of answers as large as the caller supposes; others would tell more.
    if (magnitude != nullptr)
        estimate->posterior50 = estimate->advantage = std::numeric_limits<double>::quiet_NaN();
    else
        border::core([&] { weigh({{end.epsilon.value(), end.rho.value(), 0}}, estimate); });
    estimate->denied = !fits(cost_of_steps(course, end.first, end.first_rho, {}), account);
    estimate->note = magnitude == nullptr ? "at most: it ends as soon as the answer is accurate"
                                          : psprintf("if every value were %s%s", float8out_internal(*magnitude),
                                                     end.reached ? "" : ": less accurate than asked for");
}

static void estimate_measurement(const rows::Question *question, const Terms &terms, const Course &course,
                                 const privacy::Repeated &account, Estimate *estimate) {
    const privacy::ReleasePlan *plan = plan_of(question, terms, {});
    estimate->threshold = plan->threshold.value_or(0);
    border::core([&] {
        estimate->rho = plan->rho();
        weigh({{0, plan->rho().value(), plan->delta_groups.value()}}, estimate);
    });
    estimate->error95 = halfwidths(question, *plan);
    estimate->cost = cost_of_steps(course, {}, estimate->rho, estimate->delta);
    estimate->denied = !fits(estimate->cost, account);
}

static void estimate_course(const rows::Question *question, const Terms &terms, const privacy::Repeated &account,
                            const double *magnitude, Estimate *estimate) {
    Permitted permitted = from_public_facts(question, terms);
    Course course = plan_course(question, terms, permitted, false);
    estimate->priced = course.priced && !course.dearer;
    estimate->denied = !estimate->priced;
    estimate->note = course.dearer ? both_prices(course) : nullptr;
    estimate->measured = course.measured;
    if (course.measured)
        estimate->mechanism = privacy::Mechanism::gaussian;
    if (!estimate->priced)
        return;
    if (course.in_steps) {
        estimate_steps(question, terms, course, account, magnitude, estimate);
        return;
    }
    Terms one = terms_of_course(terms, course);
    estimate->delta = delta_of(question, one);
    if (course.measured)
        estimate_measurement(question, one, course, account, estimate);
    else {
        decide(question, one, permitted, account, estimate);
        foresee(question, one, estimate);
    }
}

Estimate estimate(const catalog::Reading &reading, const rows::Question *question, const Terms &terms,
                  const List *earlier, const double *magnitude) {
    rows::check_delta(question, terms.mechanism, terms.delta);
    check_policy(question, terms);
    Estimate estimate = {};
    estimate.from_data = !is_public(terms.algorithm);
    if (estimate.from_data)
        return estimate;
    estimate.delta = delta_of(question, terms);
    privacy::Repeated account = read_account(reading, question, terms);
    estimate.selects = is_selected(terms.algorithm);
    estimate.standing = account;
    add_earlier(&account, question, terms, earlier);
    estimate.mechanism = terms.mechanism;
    if (terms.wanted.asked()) {
        estimate_course(question, terms, account, magnitude, &estimate);
        check_can_show(question, estimate.threshold);
        return estimate;
    }
    if (is_selected(terms.algorithm))
        select(question, terms, account, &estimate);
    else
        decide(question, terms, from_public_facts(question, terms), account, &estimate);
    if (estimate.priced && !estimate.selected)
        foresee(question, terms, &estimate);
    estimate.standing.cost = estimate.cost;
    check_can_show(question, estimate.threshold);
    return estimate;
}

// ---- in advance ----------------------------------------------------------------------------------------------------

// The most that a selection can come to: the largest candidate, beside its own charge.
static privacy::Epsilon most_selected(const Terms &terms) {
    return border::core([&] {
        privacy::Epsilon most;
        for (privacy::Epsilon candidate : *terms.candidates)
            if (!terms.caps.epsilon_max || candidate <= *terms.caps.epsilon_max)
                most = Max(most, Min(candidate, terms.caps.requested.value_or(candidate)));
        return most.units() == 0 ? most : most + terms.epsilon_svt;
    });
}

Price price_in_advance(const rows::Question *question, const Terms &terms) {
    Price price = {};
    if (!is_public(terms.algorithm))
        return price;
    if (is_selected(terms.algorithm)) {
        price.epsilon = most_selected(terms);
        price.known = price.epsilon.units() > 0;
        return price;
    }
    Permitted permitted = from_public_facts(question, terms);
    Estimate estimate = {};
    estimate.delta = delta_of(question, terms);
    border::core([&] {
        privacy::ChargeRequest request;
        set_request(question, terms, permitted, estimate.delta, &request);
        price_alone(request, &estimate);
    });
    price.known = estimate.priced;
    if (!estimate.priced)
        return price;
    foresee(question, terms, &estimate);
    price.epsilon = estimate.epsilon;
    price.error95 = estimate.error95;
    return price;
}

} // namespace dp::release
