// Shows a controller the risk of the people in a table (doc/reference.md).
#include <algorithm>
#include <cmath>

#include "privacy/pair_release.hpp"
#include "privacy/joint.hpp"
#include "privacy/sparse_vector.hpp"
#include "privacy/triple.hpp"

#include "catalog/decimals.hpp"
#include "query/grammar.hpp"
#include "release/choose.hpp"
#include "release/select.hpp"
#include "risk/exact_risk.hpp"
#include "risk/printed_risk.hpp"
#include "rows/measures.hpp"
#include "rows/unit_checks.hpp"
#include "sql/call_arguments.hpp"
#include "sql/general.hpp"
#include "sql/risk_calls.hpp"
#include "sql/risk_rows.hpp"
#include "sql/statement_leaves.hpp"

namespace dp::sql {

using risk::Memo;
using rows::Question;

View view_of(FunctionCallInfo fcinfo, const Statement &statement, int mechanism, int delta, int leaf) {
    require(fcinfo, mechanism, "mechanism");
    View view = {};
    view.mechanism = mechanism_named(text_argument(fcinfo, mechanism));
    view.calibration = privacy::Calibration::sound;
    view.has_delta = !PG_ARGISNULL(delta);
    if (view.has_delta)
        view.delta = catalog::checked_delta(PG_GETARG_DATUM(delta), "delta");
    view.question = leaf_question(statement, view.mechanism, leaf);
    return view;
}

// Arguments from `mechanism` on: mechanism, delta, calibration, exact. (A sensitivity makes it a general query.)
static View view_arguments(FunctionCallInfo fcinfo, const Statement &statement, int first, int leaf) {
    require(fcinfo, first + 2, "calibration");
    require(fcinfo, first + 3, "exact");
    privacy::Calibration calibration = calibration_named(text_argument(fcinfo, first + 2));
    View view = view_of(fcinfo, statement, first, first + 1, leaf);
    view.calibration = calibration;
    view.exact = PG_GETARG_BOOL(first + 3);
    if (view.calibration == privacy::Calibration::sound)
        rows::check_delta(view.question, view.mechanism, view.delta);
    return view;
}

constexpr int risk_group_a = 9; // argument of dp_risk

// ---- noise of one candidate ----------------------------------------------------------------------------------------

// `published`: the artefact's sensitivities and scales (formulas.md, 2). Depends on n and on the data: display only.
static double published_sensitivity(const View &view, int aggregate, int64 rows) {
    const Question *question = view.question;
    const privacy::Bounds *bounds = question->bounds[question->measure_of[aggregate]];
    switch (question->leaf->aggregates[aggregate].fn) {
    case privacy::Aggregate::sum:
        return Max(std::fabs(bounds->low), std::fabs(bounds->high));
    case privacy::Aggregate::avg:
        return (bounds->high - bounds->low) / static_cast<double>(Max(rows, int64{1}));
    case privacy::Aggregate::count_star:
    case privacy::Aggregate::count:
    case privacy::Aggregate::count_units:
        return 1;
    default: {
        privacy::Aggregate fn = question->leaf->aggregates[aggregate].fn;
        return privacy::largest_spread_change(fn) * privacy::spread_unit(fn, *bounds);
    }
    }
}

static double published_coordinates(const View &view, const Memo *memo) {
    return static_cast<double>(memo->groups_present) * view.question->leaf->naggregates;
}

// b, or sigma.
static double published_scale(const View &view, const Memo *memo, privacy::Epsilon epsilon) {
    double delta1 = 0, delta2 = 0;
    for (int i = 0; i < view.question->leaf->naggregates; i++) {
        double sensitivity = published_sensitivity(view, i, memo->rows);
        delta1 += sensitivity;
        delta2 = std::hypot(delta2, sensitivity);
    }
    if (view.mechanism == privacy::Mechanism::laplace)
        return delta1 / epsilon.value();
    double n = static_cast<double>(Max(memo->rows, int64{1}));
    double delta = view.has_delta ? view.delta.value() : 1 / (n * n);
    return delta2 * std::sqrt(2 * std::log(1.25 / delta)) / epsilon.value();
}

static Noise published_noise(const View &view, const Memo *memo, privacy::Epsilon epsilon) {
    double k = published_coordinates(view, memo), scale = published_scale(view, memo, epsilon);
    if (view.mechanism == privacy::Mechanism::laplace)
        return Noise{k * scale, std::sqrt(2.0) * scale, scale * std::log(20.0)};
    return Noise{k * scale * scale, scale, 1.959963984540054 * scale};
}

// Computes the noise of a variance or deviation as if half of the values lay at either bound, where it is largest.
static Noise spread_noise(const privacy::MeasureNoise &noise, const privacy::Bounds &bounds, privacy::Aggregate fn,
                          int64 rows) {
    privacy::int128 half = static_cast<privacy::int128>(Max(rows, int64{1})) * privacy::pair_one / 2;
    const privacy::Triple triple = {half, 0, half};
    double value = privacy::spread_of(fn, triple, bounds);
    privacy::Interval interval = privacy::spread_interval(fn, triple, bounds, noise);
    double halfwidth = Max(value - interval.lower, interval.upper - value);
    return Noise{0, halfwidth / 2, halfwidth};
}

// Computes the noise of one aggregate of a pair or a triple; the mean's depends on how many rows there are.
static Noise part_noise(privacy::MeasureKind kind, const privacy::MeasureNoise &noise, const privacy::Bounds &bounds,
                        privacy::Aggregate fn, int64 rows) {
    if (privacy::is_spread(fn))
        return spread_noise(noise, bounds, fn, rows);
    if (fn == privacy::Aggregate::avg) {
        double range = bounds.high - bounds.low, count = static_cast<double>(Max(rows, int64{1}));
        double one = static_cast<double>(privacy::pair_one);
        double halfwidth =
            kind == privacy::MeasureKind::triple ? 1.5 * noise.halfwidth(0.05 / 3) : noise.halfwidth(0.025);
        return Noise{0, Min(range, range * (noise.stddev() / one) / std::sqrt(2.0) / count),
                     Min(range, range * halfwidth / one / count)};
    }
    return Noise{0, privacy::part_stddev(kind, fn, noise, bounds), privacy::part_halfwidth(kind, fn, noise, bounds)};
}

// Computes the noise of what is drawn, or of several sums of two columns, from its law in the group where it is largest.
static Noise noise_by_law(const Question *question, const privacy::ReleasePlan *plan, const Memo *memo, int aggregate) {
    const int j = question->measure_of[aggregate];
    const privacy::PrintedNumber number = risk::number_of(question, aggregate);
    const int first = rows::first_coordinate_of(question, j);
    Noise noise = {0, 0, 0};
    for (int g = 0; g < memo->ngroups; g++) {
        CHECK_FOR_INTERRUPTS();
        const risk::Group group = risk::group_at(question, memo, g);
        border::core([&] {
            const bool drawn = number.kind == privacy::MeasureKind::quantile;
            const privacy::Distance error =
                drawn ? risk::quantile_error(question, *plan, j, group)
                      : privacy::distance_of_number(number, plan->noise[j], group.sums + first);
            const double unit = drawn ? privacy::width_of(*question->grids[j]) : privacy::unit_of_number(number);
            noise.stddev = Max(noise.stddev, unit * std::sqrt(error.square));
            noise.error95 = Max(noise.error95, unit * error.within95);
        });
    }
    return noise;
}

// Core region.
static Noise aggregate_noise(const View &view, const privacy::ReleasePlan &plan, const Memo *memo, int aggregate) {
    const Question *question = view.question;
    int j = question->measure_of[aggregate];
    const privacy::MeasureNoise &noise = plan.noise[j];
    const privacy::Bounds *bounds = question->bounds[j];
    const privacy::Measure &measure = (*question->measures)[j];
    if (measure.kind == privacy::MeasureKind::pair || measure.kind == privacy::MeasureKind::triple)
        return part_noise(measure.kind, noise, *bounds, question->leaf->aggregates[aggregate].fn,
                          memo->smallest_group);
    return Noise{0, noise.stddev() * privacy::unit_of(measure, bounds),
                 privacy::measure_halfwidth(noise, measure, bounds)};
}

static Noise number_noise(const View &view, const privacy::ReleasePlan *plan, const Memo *memo, int aggregate) {
    const privacy::MeasureKind kind = (*view.question->measures)[view.question->measure_of[aggregate]].kind;
    if (kind == privacy::MeasureKind::quantile || privacy::is_joint(kind))
        return noise_by_law(view.question, plan, memo, aggregate);
    return border::core([&] { return aggregate_noise(view, *plan, memo, aggregate); });
}

Noise noise_of_number(const View &view, const Memo *memo, privacy::Epsilon epsilon, int aggregate) {
    return number_noise(view, risk::plan_in_context(view.question, view.mechanism, epsilon, view.delta), memo, aggregate);
}

static Noise sound_noise(const View &view, const Memo *memo, privacy::Epsilon epsilon) {
    const privacy::ReleasePlan *plan = risk::plan_in_context(view.question, view.mechanism, epsilon, view.delta);
    Noise noise = {risk::noise_term(view.question, memo, plan), 0, 0};
    for (int i = 0; i < view.question->leaf->naggregates; i++) {
        const Noise one = number_noise(view, plan, memo, i);
        noise.stddev = Max(noise.stddev, one.stddev);
        noise.error95 = Max(noise.error95, one.error95);
    }
    return noise;
}

Noise noise_of(const View &view, const Memo *memo, privacy::Epsilon epsilon) {
    if (view.calibration == privacy::Calibration::sound)
        return sound_noise(view, memo, epsilon);
    return border::core([&] { return published_noise(view, memo, epsilon); });
}

// ---- the exact indicator -------------------------------------------------------------------------------------------

static risk::ExactRisks exact_risks(const View &view, const Memo *memo, privacy::Epsilon epsilon) {
    if (view.calibration == privacy::Calibration::sound)
        return risk::exact_risks(view.question, memo,
                                 risk::plan_in_context(view.question, view.mechanism, epsilon, view.delta));
    privacy::CoordinateNoise noise; // continuous
    noise.family =
        view.mechanism == privacy::Mechanism::laplace ? privacy::NoiseFamily::laplace : privacy::NoiseFamily::gaussian;
    noise.scale = border::core([&] { return published_scale(view, memo, epsilon); });
    noise.k = published_coordinates(view, memo);
    return risk::published_risks(view.question, memo, noise);
}

void check_not_empty(const Memo *memo) {
    if (memo->rows == 0)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("the table is empty: there is nobody whose risk could be shown")));
}

// ---- the sparse vector selection -----------------------------------------------------------------------------------

namespace {
// Holds what a candidate would meet in the selection by tau_var (formulas.md, 3.3).
struct Selection {
    bool wanted; // tau_var is given
    double tau_var;
    double epsilon_svt;
};
} // namespace

static Selection selection_arguments(FunctionCallInfo fcinfo, int first) {
    require(fcinfo, first + 1, "epsilon_svt");
    Selection selection = {!PG_ARGISNULL(first), 0, checked_epsilon_svt(PG_GETARG_DATUM(first + 1)).value()};
    if (selection.wanted)
        selection.tau_var = checked_tau_var(PG_GETARG_FLOAT8(first));
    return selection;
}

// Variance of r_i, the RDRs divided by the largest that one record could have. Core region.
static double selection_variance(const View &view, const Memo *memo, double noise_term) {
    double m = view.question->nmeasures;
    if (view.mechanism == privacy::Mechanism::laplace)
        return static_cast<double>(memo->profile->variance()) / ((m + noise_term) * (m + noise_term));
    privacy::Moments moments;
    for (const auto &[pis, individuals] : memo->profile->values())
        moments.add(std::sqrt((pis * pis + noise_term) / (m + noise_term)), individuals);
    return static_cast<double>(moments.variance());
}

// Core region.
static Tested tested_as(const View &view, const Memo *memo, const Selection &selection, privacy::Epsilon epsilon) {
    const Question *question = view.question;
    int m = question->nmeasures, k1 = question->ncoordinates;
    auto candidate = privacy::svt_candidate(view.mechanism, *question->measures, question->thresholded, epsilon,
                                            privacy::delta_charged(view.mechanism, question->thresholded, view.delta),
                                            selection.tau_var);
    auto sensitivity =
        view.mechanism == privacy::Mechanism::laplace
            ? privacy::svt_sensitivity_laplace(m, k1, epsilon.value(), selection.tau_var)
            : privacy::svt_sensitivity_gaussian(m, k1, std::sqrt(candidate.noise_term / k1), selection.tau_var);
    double n = static_cast<double>(memo->rows);
    double statistic = n * (selection_variance(view, memo, candidate.noise_term) - selection.tau_var);
    double accept = candidate.always_passes
                        ? 1
                        : privacy::svt_accept_probability(statistic / sensitivity.delta_G, selection.epsilon_svt);
    return Tested{true, statistic, sensitivity.delta_G, accept};
}

// ---- dp_risk -------------------------------------------------------------------------------------------------------

bool has_groups(FunctionCallInfo fcinfo, int argument) {
    if (PG_ARGISNULL(argument) != PG_ARGISNULL(argument + 1))
        refuse_half_of_groups();
    return !PG_ARGISNULL(argument);
}

void read_groups(FunctionCallInfo fcinfo, int argument, const rows::Question *question, release::Terms *terms) {
    if (!has_groups(fcinfo, argument))
        return;
    const Oid relation = question->settings->relation;
    terms->group_a = query::canonical_condition(text_argument(fcinfo, argument), relation, "group_a");
    terms->group_b = query::canonical_condition(text_argument(fcinfo, argument + 1), relation, "group_b");
}

Datum rho_of(const View &view, privacy::Epsilon epsilon) {
    return catalog::to_numeric(risk::plan_in_context(view.question, view.mechanism, epsilon, view.delta)->rho());
}

static privacy::RiskRow risk_row_of(const View &view, const Memo *memo, privacy::Epsilon epsilon, const Noise &noise) {
    if (view.exact)
        return risk::risk_row_of(memo, exact_risks(view, memo, epsilon), epsilon);
    return border::core([&] { return privacy::risk_row(*memo->profile, view.mechanism, epsilon, noise.term); });
}

// Sets the risks of two groups of people, if they are compared.
static void set_medians(const View &view, const Memo *memo, const release::Terms &people, Candidate *candidate) {
    candidate->has_medians = people.group_a != nullptr;
    if (!candidate->has_medians)
        return;
    const double term = candidate->noise.term;
    candidate->median_a =
        border::core([&] { return privacy::rdr_of(memo->profile_a->lower_median(), view.mechanism, term); });
    candidate->median_b =
        border::core([&] { return privacy::rdr_of(memo->profile_b->lower_median(), view.mechanism, term); });
}

// Without noise the risks are the sensitivities.
static void put_infinity(ReturnSetInfo *result, const View &view, const Memo *memo, const release::Terms &people, int leaf) {
    Candidate candidate = {};
    candidate.epsilon = catalog::text_numeric("Infinity");
    candidate.row = border::core([&] { return privacy::risk_row(*memo->profile, view.mechanism, privacy::Epsilon{}, 0); });
    candidate.leaf = leaf;
    set_medians(view, memo, people, &candidate);
    put_candidate(result, candidate);
}

// Reads the people, and groups of them that are to be compared. 22023 for these with `exact`.
static Memo *read_people(FunctionCallInfo fcinfo, const View &view, release::Terms *people) {
    read_groups(fcinfo, risk_group_a, view.question, people);
    if (view.exact && people->group_a != nullptr)
        refuse_value("exact does not go with a pair of groups", "Leave exact out: medians of bounds are shown.");
    Memo *memo = risk::leave_one_out(rows::OwnRows(view.question), view.mechanism, view.calibration,
                                     view.exact ? risk::Detail::changes : risk::Detail::profile,
                                     release::people_of(view.question, *people));
    check_not_empty(memo);
    if (people->group_a != nullptr)
        (void)release::check_people(memo, *people);
    return memo;
}

static void put_leaf(FunctionCallInfo fcinfo, const Statement &statement, const Selection &selection, int leaf) {
    auto *result = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
    View view = view_arguments(fcinfo, statement, 2, leaf);
    bool infinite;
    const auto *candidates = candidates_argument(fcinfo, 1, &infinite);
    if (selection.wanted && view.calibration == privacy::Calibration::sound)
        release::check_selectable(view.question);
    release::Terms people = {};
    Memo *memo = read_people(fcinfo, view, &people);
    if (infinite)
        put_infinity(result, view, memo, people, leaf);
    bool sound = view.calibration == privacy::Calibration::sound;
    for (std::size_t i = 0; i < candidates->size(); i++) {
        CHECK_FOR_INTERRUPTS();
        privacy::Epsilon epsilon = (*candidates)[i];
        Candidate candidate = {};
        candidate.epsilon = catalog::to_numeric(epsilon);
        candidate.leaf = leaf;
        candidate.noise = noise_of(view, memo, epsilon);
        candidate.row = risk_row_of(view, memo, epsilon, candidate.noise);
        candidate.tested = {false, candidate.row.variance, 0, 0};
        if (sound && selection.wanted)
            candidate.tested = border::core([&] { return tested_as(view, memo, selection, epsilon); });
        candidate.has_statistic = candidate.tested.known || !sound;
        candidate.has_rho = sound;
        candidate.error = sound ? risk::error_of_noise(view.question, memo) : 0;
        if (sound)
            candidate.rho = rho_of(view, epsilon);
        set_medians(view, memo, people, &candidate);
        put_candidate(result, candidate);
    }
}

DP_CALL(dp_risk) {
    require(fcinfo, 0, "query");
    const Statement statement = cut_statement(text_argument(fcinfo, 0));
    if (general_risk(fcinfo, statement))
        return Datum(0);
    Selection selection = selection_arguments(fcinfo, 7);
    InitMaterializedSRF(fcinfo, 0);
    tell_leaves(statement);
    for (int leaf = 1; leaf <= statement.leaves(); leaf++)
        put_leaf(fcinfo, statement, selection, leaf);
    return Datum(0);
}

// ---- dp_risk_records -----------------------------------------------------------------------------------------------

// epsilon: numeric; at infinity the risks are the sensitivities.
static Indicator indicator_of(const View &view, const Memo *memo, Datum argument) {
    Indicator indicator = {memo, view.mechanism, 0, {}};
    if (takes_away(argument))
        return indicator;
    const privacy::Epsilon epsilon = catalog::checked_epsilon(argument, "epsilon");
    if (view.exact)
        indicator.risks = exact_risks(view, memo, epsilon);
    else
        indicator.term = noise_of(view, memo, epsilon).term;
    return indicator;
}

DP_CALL(dp_risk_records) {
    require(fcinfo, 0, "query");
    const Statement statement = cut_statement(text_argument(fcinfo, 0));
    if (general_risk_records(fcinfo, statement))
        return Datum(0);
    require(fcinfo, 1, "epsilon");
    if (!takes_away(PG_GETARG_DATUM(1)))
        (void)catalog::checked_epsilon(PG_GETARG_DATUM(1), "epsilon");
    require(fcinfo, 7, "leaf");
    View view = view_arguments(fcinfo, statement, 2, PG_GETARG_INT32(7));
    InitMaterializedSRF(fcinfo, 0);
    auto *result = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
    Memo *memo = risk::leave_one_out(rows::OwnRows(view.question), view.mechanism, view.calibration, risk::Detail::records);
    if (memo->rows > 0) {
        Indicator indicator = indicator_of(view, memo, PG_GETARG_DATUM(1));
        put_records(result, memo, RecordNumbers{risks_of_record, &indicator, true}, 1);
    }
    return Datum(0);
}

} // namespace dp::sql
