// What a controller looks at: the risk of the people in a table (README.md).
#include <cmath>

#include "catalog/decimals.hpp"
#include "release/leave_one_out.hpp"
#include "sql/arguments.hpp"
#include "sql/general.hpp"
#include "sql/question.hpp"

namespace dp::sql {

using release::Memo;
using release::Question;

namespace {
// The arguments that dp_risk and dp_risk_records share.
struct View {
    Question *question;
    privacy::Mechanism mechanism;
    privacy::Calibration calibration;
    bool has_delta;
    privacy::Delta delta;
};
} // namespace

static privacy::Calibration calibration_named(const char *name) {
    if (strcmp(name, "sound") == 0)
        return privacy::Calibration::sound;
    if (strcmp(name, "published") != 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("unknown calibration: \"%s\"", name),
                        errhint("Use 'sound' or 'published'.")));
    return privacy::Calibration::published;
}

// Arguments from `mechanism` on: mechanism, delta, calibration, exact. (A sensitivity makes it a general query.)
static View view_arguments(FunctionCallInfo fcinfo, int first) {
    require(fcinfo, 0, "query");
    require(fcinfo, first, "mechanism");
    require(fcinfo, first + 2, "calibration");
    refuse_if_true(fcinfo, first + 3, "exact");
    View view = {};
    view.mechanism = mechanism_named(text_argument(fcinfo, first));
    view.calibration = calibration_named(text_argument(fcinfo, first + 2));
    view.has_delta = !PG_ARGISNULL(first + 1);
    if (view.has_delta)
        view.delta = catalog::checked_delta(PG_GETARG_DATUM(first + 1), "delta");
    view.question = controllers_question(text_argument(fcinfo, 0));
    if (view.calibration == privacy::Calibration::sound)
        release::check_delta(view.question, view.mechanism, view.delta);
    return view;
}

// ---- noise of one candidate ----------------------------------------------------------------------------------------

namespace {
struct Noise {
    double term;   // what joins the PIS in an RDR (risk_row)
    double stddev; // largest of any aggregate, in its own unit
    double error95;
};
} // namespace

// `published`: the artefact's sensitivities and scales (formulas.md, 2). Depends on n and on the data: display only.
static double published_sensitivity(const View &view, int aggregate, int64 rows) {
    const Question *question = view.question;
    const privacy::Bounds *bounds = question->bounds[question->measure_of[aggregate]];
    switch (question->leaf->aggregates[aggregate].fn) {
    case privacy::Aggregate::sum:
        return Max(std::fabs(bounds->low), std::fabs(bounds->high));
    case privacy::Aggregate::avg:
        return (bounds->high - bounds->low) / static_cast<double>(Max(rows, int64{1}));
    default:
        return 1;
    }
}

static Noise published_noise(const View &view, const Memo *memo, privacy::Epsilon epsilon) {
    double delta1 = 0, delta2 = 0;
    for (int i = 0; i < view.question->leaf->naggregates; i++) {
        double sensitivity = published_sensitivity(view, i, memo->rows);
        delta1 += sensitivity;
        delta2 = std::hypot(delta2, sensitivity);
    }
    double k = static_cast<double>(memo->groups_present) * view.question->leaf->naggregates;
    if (view.mechanism == privacy::Mechanism::laplace) {
        double b = delta1 / epsilon.value();
        return Noise{k * b, std::sqrt(2.0) * b, b * std::log(20.0)};
    }
    double n = static_cast<double>(Max(memo->rows, int64{1}));
    double delta = view.has_delta ? view.delta.value() : 1 / (n * n);
    double sigma = delta2 * std::sqrt(2 * std::log(1.25 / delta)) / epsilon.value();
    return Noise{k * sigma * sigma, sigma, 1.959963984540054 * sigma};
}

// What the noise of a pair means for one of its aggregates; the mean's depends on how many rows there are.
static Noise pair_noise(const privacy::MeasureNoise &noise, const privacy::Bounds &bounds, privacy::Aggregate fn,
                        int64 rows) {
    double one = static_cast<double>(privacy::pair_one), stddev = noise.stddev() / one;
    double range = bounds.high - bounds.low, count = static_cast<double>(Max(rows, int64{1}));
    switch (fn) {
    case privacy::Aggregate::avg:
        return Noise{0, Min(range, range * stddev / std::sqrt(2.0) / count),
                     Min(range, range * noise.halfwidth(0.025) / one / count)};
    case privacy::Aggregate::sum:
        return Noise{0, stddev * std::hypot(bounds.low, bounds.high), privacy::pair_sum_halfwidth(noise, bounds)};
    default:
        return Noise{0, stddev * std::sqrt(2.0), privacy::pair_count_halfwidth(noise)};
    }
}

static Noise aggregate_noise(const View &view, const privacy::ReleasePlan &plan, const Memo *memo, int aggregate) {
    const Question *question = view.question;
    int j = question->measure_of[aggregate];
    const privacy::MeasureNoise &noise = plan.noise[j];
    const privacy::Bounds *bounds = question->bounds[j];
    if ((*question->measures)[j].kind == privacy::MeasureKind::pair)
        return pair_noise(noise, *bounds, question->leaf->aggregates[aggregate].fn, memo->smallest_group);
    return Noise{0, noise.stddev() * (bounds ? bounds->unit() : 1), privacy::measure_halfwidth(noise, bounds)};
}

// N(eps), or k sigma^2 with the variance of the law that is sampled, both in scaled units.
static double sound_term(const View &view, const privacy::ReleasePlan &plan, privacy::Epsilon epsilon) {
    auto measures = release::noise_measures(view.question);
    if (view.mechanism == privacy::Mechanism::laplace)
        return privacy::rdr_noise_term(epsilon.value(), measures);
    double term = 0;
    for (std::size_t j = 0; j < measures.size(); j++) {
        double scaled = plan.noise[j].stddev() / measures[j].D;
        term += measures[j].k * scaled * scaled;
    }
    return term;
}

static Noise sound_noise(const View &view, const Memo *memo, privacy::Epsilon epsilon) {
    const Question *question = view.question;
    auto plan =
        privacy::plan_release(view.mechanism, *question->measures, *question->sensitivities, question->thresholded,
                              epsilon, privacy::delta_charged(view.mechanism, question->thresholded, view.delta));
    Noise noise = {sound_term(view, plan, epsilon), 0, 0};
    for (int i = 0; i < question->leaf->naggregates; i++) {
        Noise one = aggregate_noise(view, plan, memo, i);
        noise.stddev = Max(noise.stddev, one.stddev);
        noise.error95 = Max(noise.error95, one.error95);
    }
    return noise;
}

// Core region.
static Noise noise_of(const View &view, const Memo *memo, privacy::Epsilon epsilon) {
    return view.calibration == privacy::Calibration::published ? published_noise(view, memo, epsilon)
                                                               : sound_noise(view, memo, epsilon);
}

static void check_not_empty(const Memo *memo) {
    if (memo->rows == 0)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("the table is empty: there is nobody whose risk could be shown")));
}

// ---- dp_risk -------------------------------------------------------------------------------------------------------

DP_FUNCTION(dp_risk) {
    if (general_risk(fcinfo))
        return Datum(0);
    View view = view_arguments(fcinfo, 2);
    auto *candidates = catalog::candidates_from_array(array_argument(fcinfo, 1));
    InitMaterializedSRF(fcinfo, 0);
    auto *result = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
    Memo *memo = release::leave_one_out(view.question, view.mechanism, view.calibration, false);
    check_not_empty(memo);
    for (std::size_t i = 0; i < candidates->size(); i++) {
        CHECK_FOR_INTERRUPTS();
        privacy::Epsilon epsilon = (*candidates)[i];
        Noise noise = border::core([&] { return noise_of(view, memo, epsilon); });
        privacy::RiskRow row =
            border::core([&] { return privacy::risk_row(*memo->profile, view.mechanism, epsilon, noise.term); });
        Datum values[7] = {catalog::to_numeric(epsilon), Float8GetDatum(row.rdr_min),  Float8GetDatum(row.rdr_max),
                           Float8GetDatum(row.ratio),    Float8GetDatum(row.variance), Float8GetDatum(noise.stddev),
                           Float8GetDatum(noise.error95)};
        bool nulls[7] = {};
        tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
    }
    return Datum(0);
}

// ---- dp_risk_records -----------------------------------------------------------------------------------------------

static Datum record_json(const Memo *memo, const release::Record *record) {
    HeapTuple tuple = heap_form_tuple(memo->desc, record->columns, record->nulls);
    Datum json = DirectFunctionCall1(row_to_json, HeapTupleGetDatum(tuple));
    return DirectFunctionCall1(jsonb_in, CStringGetDatum(TextDatumGetCString(json)));
}

static int by_pis_descending(const void *a, const void *b) {
    double x = static_cast<const release::Record *>(a)->pis, y = static_cast<const release::Record *>(b)->pis;
    return (x < y) - (x > y);
}

DP_FUNCTION(dp_risk_records) {
    if (general_risk_records(fcinfo))
        return Datum(0);
    require(fcinfo, 1, "epsilon");
    privacy::Epsilon epsilon = catalog::checked_epsilon(PG_GETARG_DATUM(1), "epsilon");
    View view = view_arguments(fcinfo, 2);
    InitMaterializedSRF(fcinfo, 0);
    auto *result = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
    Memo *memo = release::leave_one_out(view.question, view.mechanism, view.calibration, true);
    double term = border::core([&] { return noise_of(view, memo, epsilon).term; });
    qsort(memo->records, memo->nrecords, sizeof(release::Record), by_pis_descending);
    for (int64 i = 0; i < memo->nrecords + (memo->outside > 0 ? 1 : 0); i++) {
        CHECK_FOR_INTERRUPTS();
        bool outside = i == memo->nrecords;
        double pis = outside ? 0 : memo->records[i].pis;
        Datum values[4] = {outside ? Datum(0) : record_json(memo, &memo->records[i]),
                           Int64GetDatum(outside ? memo->outside : memo->records[i].individuals), Float8GetDatum(pis),
                           Float8GetDatum(privacy::rdr_of(pis, view.mechanism, term))};
        bool nulls[4] = {outside, false, false, false};
        tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
    }
    return Datum(0);
}

} // namespace dp::sql
