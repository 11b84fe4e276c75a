#include "release/explain.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "catalog/decimals.hpp"
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

enum AccountColumn { col_bound = 1, col_epsilon_total, col_delta_total, col_epsilon, col_delta, col_role_epsilon };
} // namespace

static privacy::Epsilon epsilon_at(int column, bool *isnull) {
    Datum value = border::Spi::value(0, column, isnull);
    return *isnull ? privacy::Epsilon() : catalog::to_epsilon(value, "a total of epsilon");
}

static privacy::Delta delta_at(int column) {
    bool isnull;
    Datum value = border::Spi::value(0, column, &isnull);
    return isnull ? privacy::Delta() : catalog::to_delta(value, "a total of delta");
}

static Account read_row(const catalog::Visit &visit) {
    Account account;
    const char *name = visit.spi.text(0, col_bound);
    bool isnull;
    privacy::Epsilon total = epsilon_at(col_epsilon_total, &isnull);
    border::core([&] { account.bound.bound = privacy::bound_from_name(name).value_or(privacy::Bound::filter); });
    if (!isnull)
        account.bound.epsilon_total = total;
    account.bound.delta_total = delta_at(col_delta_total);
    account.totals.public_epsilon = epsilon_at(col_epsilon, &isnull);
    account.totals.public_delta = delta_at(col_delta);
    account.role.public_epsilon = epsilon_at(col_role_epsilon, &isnull);
    return account;
}

static Account read_account(const catalog::Reading &reading, const rows::Question *question, const Terms &terms) {
    Oid types[2] = {TEXTOID, TEXTOID};
    Datum values[2] = {CStringGetTextDatum(question->settings->id_text), CStringGetTextDatum(terms.grantee)};
    static border::Statement statement(
        "SELECT t.bound, t.epsilon_total, t.delta_total, o.public_epsilon, o.public_delta, "
        "s.public_epsilon FROM dp_rdr.protected_table t JOIN dp_rdr.odometer o ON o.id = t.id "
        "LEFT JOIN dp_rdr.odometer_share s ON s.id = t.id AND s.grantee = $2 WHERE t.id = $1::uuid");
    catalog::Visit visit = catalog::Visit::read(reading);
    uint64 rows = visit.run(statement, 2, types, values);
    Account account = rows == 1 ? read_row(visit) : Account{};
    visit.leave();
    if (rows != 1)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("%s has no odometer", question->settings->relation_name)));
    return account;
}

static void add_earlier(Account *account, const rows::Question *question, const Terms &terms, const List *earlier) {
    ListCell *cell;
    foreach (cell, earlier) {
        auto *charge = static_cast<const Earlier *>(lfirst(cell));
        if (charge->relation != question->settings->relation)
            continue;
        account->totals.public_epsilon = account->totals.public_epsilon + charge->epsilon;
        account->totals.public_delta = account->totals.public_delta + charge->delta;
        if (strcmp(charge->grantee, terms.grantee) == 0)
            account->role.public_epsilon = account->role.public_epsilon + charge->epsilon;
    }
}

// ---- the decision, without the charge ------------------------------------------------------------------------------

// Core region.
static void set_limits(const Terms &terms, privacy::Delta delta, privacy::Limits *limits) {
    limits->candidates = *terms.candidates;
    if (terms.has_epsilon_max)
        limits->epsilon_max = terms.epsilon_max;
    if (terms.has_requested)
        limits->requested = terms.requested;
    if (terms.has_share)
        limits->share = terms.share;
    limits->delta = delta;
}

static void decide(const Terms &terms, const Permitted &permitted, const Account &account, Estimate *estimate) {
    border::core([&] {
        privacy::ChargeRequest request;
        set_limits(terms, estimate->delta, &request);
        request.eps_star = permitted.eps_star;
        request.slack = permitted.slack;
        privacy::ChargeRequest alone = request; // the price, whatever has been spent
        alone.share.reset();
        privacy::BoundSettings unbounded;
        unbounded.bound = privacy::Bound::none;
        privacy::Decision price = privacy::decide(alone, unbounded, privacy::Totals{}, privacy::Totals{});
        estimate->priced = price.denial == privacy::Denial::none;
        estimate->epsilon = price.epsilon;
        privacy::Decision now = privacy::decide(request, account.bound, account.totals, account.role);
        estimate->denied = now.denial != privacy::Denial::none;
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

static void foresee(const rows::Question *question, const Terms &terms, Estimate *estimate) {
    const query::Leaf *leaf = question->leaf;
    double *error95 = static_cast<double *>(palloc(sizeof(double) * (leaf->noutputs + 1)));
    border::core([&] {
        auto plan = privacy::plan_release(terms.mechanism, *question->measures, *question->sensitivities,
                                          question->thresholded, estimate->epsilon, estimate->delta);
        estimate->threshold = plan.threshold.value_or(0);
        estimate->filtered = filtered_measures(*question->measures);
        for (int i = 0; i < leaf->noutputs; i++)
            error95[i] = leaf->outputs[i].is_key ? std::numeric_limits<double>::quiet_NaN()
                                                 : halfwidth(question, plan, leaf->outputs[i].index);
    });
    estimate->error95 = error95;
}

// The cut that the worker would make, on the candidates that the data decide on and on those that they do not.
static privacy::SelectionRange cut(const Terms &terms, const Account &account, privacy::Delta delta,
                                   const std::vector<privacy::SvtCandidate> &facts) {
    privacy::SelectionRequest request;
    set_limits(terms, delta, &request);
    request.tested = privacy::tested_candidates(facts);
    request.epsilon_svt = terms.epsilon_svt;
    return privacy::cut_candidates(request, account.bound, account.totals, account.role);
}

static void select(const rows::Question *question, const Terms &terms, const Account &account, Estimate *estimate) {
    const auto *facts = selection_candidates(question, terms);
    border::core([&] {
        privacy::SelectionRange range = cut(terms, account, estimate->delta, *facts);
        estimate->denied = range.denial != privacy::Denial::none;
        estimate->priced = !estimate->denied;
        if (estimate->denied)
            return;
        estimate->selected = range.charged.units() > 0;
        estimate->selection = range.charged;
        estimate->epsilon = (*terms.candidates)[range.first];
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
        decide(terms, choose(question, terms), account, &estimate); // from public facts
    if (estimate.priced && !estimate.selected)
        foresee(question, terms, &estimate);
    return estimate;
}

} // namespace dp::release
