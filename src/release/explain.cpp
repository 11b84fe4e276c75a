#include "release/explain.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "privacy/attack.hpp"
#include "privacy/disclosure.hpp"

#include "catalog/odometer.hpp"
#include "release/accuracy.hpp"
#include "release/choose.hpp"
#include "release/select.hpp"

namespace dp::release {

// ---- what the bounds leave -----------------------------------------------------------------------------------------

namespace {
// What the worker reads when a DP mode charges; never the conditional account.
struct Account {
    privacy::BoundSettings bound;
    privacy::Totals totals;
    privacy::Totals role;
};
} // namespace

// As it will be when the charge comes: another epoch may have begun that no charge has met yet.
static Account read_account(const catalog::Reading &reading, const rows::Question *question, const Terms &terms) {
    const catalog::Settings *settings = question->settings;
    const catalog::Terms *now = catalog::read_terms(reading, settings->view, InvalidOid, InvalidOid);
    privacy::Odometer odometer;
    if (now == nullptr || !catalog::read_odometer(reading, settings->id_text, &odometer))
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("%s has no odometer", settings->relation_name)));
    Account account;
    if (now->epoch < odometer.epoch)
        catalog::refuse_ahead(*settings);
    account.bound = now->bound;
    border::core([&] { privacy::enter_epoch(&odometer, now->epoch); });
    account.totals = odometer.totals;
    account.role = catalog::read_share(reading, settings->id_text, terms.grantee, now->epoch);
    return account;
}

static void add_cost(Account *account, const privacy::Cost &cost, bool of_role) {
    const privacy::Basis basis = account->bound.basis_of(cost.pure);
    privacy::add(&account->totals.of_public, cost, basis);
    if (of_role)
        privacy::add(&account->role.of_public, cost, basis);
}

static void add_earlier(Account *account, const rows::Question *question, const Terms &terms, const List *earlier) {
    ListCell *cell;
    foreach (cell, earlier) {
        auto *charge = static_cast<const Earlier *>(lfirst(cell));
        if (charge->relation != question->settings->relation)
            continue;
        bool of_role = strcmp(charge->grantee, terms.grantee) == 0;
        if (charge->selection.epsilon.units() > 0)
            add_cost(account, charge->selection, of_role);
        add_cost(account, charge->cost, of_role);
    }
}

// ---- the decision, without the charge ------------------------------------------------------------------------------

// Core region.
static void set_limits(const rows::Question *question, const Terms &terms, privacy::Delta delta,
                       privacy::Limits *limits) {
    limits->candidates = *terms.candidates;
    if (terms.has_epsilon_max)
        limits->epsilon_max = terms.epsilon_max;
    if (terms.has_requested)
        limits->requested = terms.requested;
    if (terms.has_share)
        limits->share = terms.share;
    limits->delta = delta;
    limits->groups = privacy::delta_of_groups(terms.mechanism, question->thresholded, delta);
    limits->pure = terms.mechanism == privacy::Mechanism::laplace;
    limits->rho_of = [question, &terms, delta](privacy::Epsilon epsilon) {
        return privacy::plan_release(terms.mechanism, *question->measures, *question->sensitivities,
                                     question->thresholded, epsilon, delta)
            .rho();
    };
}

static void decide(const rows::Question *question, const Terms &terms, const Permitted &permitted,
                   const Account &account, Estimate *estimate) {
    border::core([&] {
        privacy::ChargeRequest request;
        set_limits(question, terms, estimate->delta, &request);
        request.eps_star = permitted.eps_star;
        request.slack = permitted.slack;
        privacy::ChargeRequest alone = request; // the price, whatever has been spent
        alone.share.reset();
        privacy::BoundSettings unbounded;
        unbounded.bound = privacy::Bound::none;
        privacy::Decision price = privacy::decide(alone, unbounded, privacy::Totals{}, privacy::Totals{});
        estimate->priced = price.denial == privacy::Denial::none;
        estimate->epsilon = price.cost.epsilon;
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

// What one answer tells about one person (formulas.md 7). Gaussian noise is looked at in both ways, but for noise that has no
// epsilon: it is charged in rho alone. Core region.
static void weigh(const privacy::ReleasePlan &plan, Estimate *estimate) {
    const bool laplace = plan.mechanism == privacy::Mechanism::laplace;
    const double epsilon = plan.epsilon.value(), delta = plan.delta.value(), groups = plan.delta_groups.value();
    estimate->posterior50 = laplace && plan.delta.units() == 0 ? privacy::posterior_of_half(epsilon)
                                                               : std::numeric_limits<double>::quiet_NaN();
    std::vector<privacy::AttackedLoss> ways;
    if (laplace || (plan.epsilon.units() > 0 && plan.delta_noise.units() > 0))
        ways.push_back({epsilon, 0, delta});
    if (!laplace)
        ways.push_back({0, plan.rho().value(), groups});
    estimate->advantage = privacy::largest_advantage(ways);
}

static void foresee(const rows::Question *question, const Terms &terms, Estimate *estimate) {
    const query::Leaf *leaf = question->leaf;
    double *error95 = static_cast<double *>(palloc(sizeof(double) * (leaf->noutputs + 1)));
    border::core([&] {
        auto plan = privacy::plan_release(terms.mechanism, *question->measures, *question->sensitivities,
                                          question->thresholded, estimate->epsilon, estimate->delta);
        estimate->threshold = plan.threshold.value_or(0);
        estimate->filtered = filtered_measures(*question->measures);
        weigh(plan, estimate);
        for (int i = 0; i < leaf->noutputs; i++)
            error95[i] = leaf->outputs[i].is_key ? std::numeric_limits<double>::quiet_NaN()
                                                 : halfwidth(question, plan, leaf->outputs[i].index);
    });
    estimate->error95 = error95;
}

// The cut that the worker would make, on the candidates that the data decide on and on those that they do not.
static privacy::SelectionRange cut(const rows::Question *question, const Terms &terms, const Account &account,
                                   privacy::Delta delta, const std::vector<privacy::SvtCandidate> &facts) {
    privacy::SelectionRequest request;
    set_limits(question, terms, delta, &request);
    request.tested = privacy::tested_candidates(facts);
    request.epsilon_svt = terms.epsilon_svt;
    return privacy::cut_candidates(request, account.bound, account.totals, account.role);
}

static void select(const rows::Question *question, const Terms &terms, const Account &account, Estimate *estimate) {
    const auto *facts = selection_candidates(question, terms);
    border::core([&] {
        privacy::SelectionRange range = cut(question, terms, account, estimate->delta, *facts);
        estimate->denied = range.denial != privacy::Denial::none;
        estimate->priced = !estimate->denied;
        if (estimate->denied)
            return;
        estimate->selected = range.charged.units() > 0;
        estimate->selection = range.charged;
        estimate->epsilon = (*terms.candidates)[range.first];
        privacy::SelectionRequest request;
        set_limits(question, terms, estimate->delta, &request);
        estimate->cost = request.cost(estimate->epsilon, account.bound);
        if (range.charged.units() > 0)
            estimate->selection_cost = privacy::cost_of_selection(range.charged);
    });
}

Estimate estimate(const catalog::Reading &reading, const rows::Question *question, const Terms &terms,
                  const List *earlier) {
    rows::check_delta(question, terms.mechanism, terms.delta);
    Estimate estimate = {};
    estimate.from_data = !is_public(terms.algorithm);
    if (estimate.from_data)
        return estimate;
    estimate.delta =
        border::core([&] { return privacy::delta_charged(terms.mechanism, question->thresholded, terms.delta); });
    Account account = read_account(reading, question, terms);
    add_earlier(&account, question, terms, earlier);
    if (is_selected(terms.algorithm))
        select(question, terms, account, &estimate);
    else
        decide(question, terms, choose(question, terms), account, &estimate); // from public facts
    if (estimate.priced && !estimate.selected)
        foresee(question, terms, &estimate);
    return estimate;
}

} // namespace dp::release
