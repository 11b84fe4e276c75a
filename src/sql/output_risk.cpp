// dp_risk_output: what one concrete answer says about each record (doc/reference.md).
#include <cmath>

#include "privacy/pair_release.hpp"
#include "privacy/risk_exact.hpp"

#include "catalog/decimals.hpp"
#include "risk/output_distance.hpp"
#include "rows/unit_checks.hpp"
#include "sql/call_arguments.hpp"
#include "sql/risk_calls.hpp"
#include "sql/risk_rows.hpp"

namespace dp::sql {

using risk::Memo;
using rows::Question;

namespace {
enum OutputArgument { output_query, output_output, output_mechanism, output_epsilon, output_delta, output_leaf };
} // namespace

// Aggregates that are written twice are one, and stand where they were first. Ends of intervals are passed over.
static int *columns_of(const Question *question, int *ncolumns) {
    const query::Leaf *leaf = question->leaf;
    auto *columns = static_cast<int *>(palloc(sizeof(int) * (leaf->naggregates + 1)));
    for (int i = 0; i < leaf->naggregates; i++)
        columns[i] = -1;
    *ncolumns = 0;
    for (int i = leaf->noutputs - 1; i >= 0; i--)
        *ncolumns += leaf->outputs[i].is_key ? 0 : 1;
    for (int i = leaf->noutputs - 1, at = *ncolumns; i >= 0; i--)
        if (!leaf->outputs[i].is_key) {
            at--;
            if (leaf->outputs[i].part == query::Part::value)
                columns[leaf->outputs[i].index] = at;
        }
    for (int i = 0; i < leaf->naggregates; i++)
        if (columns[i] < 0)
            refuse_form("the answer has an interval without its number",
                        "Name the aggregate beside dp_low and dp_high.");
    return columns;
}

[[noreturn]] static void refuse_length(const Question *question, int given, int ngroups, int ncolumns) {
    const char *groups = question->thresholded ? "the groups that are in the table, in the order of their keys"
                                               : "the declared groups, in the order of their keys";
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
             errmsg_plural("output must have %d number, not %d", "output must have %d numbers, not %d",
                           ngroups * ncolumns, ngroups * ncolumns, given),
             question->leaf->nkeys == 0
                 ? errhint("Pass the aggregates of the query, left to right.")
                 : errhint("Pass, for each of the %d rows of the answer (%s, NULL last), its aggregates, left to "
                           "right.",
                           ngroups, groups)));
    pg_unreachable();
}

// NULL stands for a number of a group that did not reach its threshold: like any absent group it counts as the answer over
// nothing.
static double absent(const Question *question, int aggregate) {
    if (question->leaf->aggregates[aggregate].fn != privacy::Aggregate::avg)
        return 0; // groups of min, max and percentiles are declared
    const privacy::Bounds &bounds = *question->bounds[question->measure_of[aggregate]];
    return bounds.low + (bounds.high - bounds.low) / 2;
}

static double output_value(const Question *question, Datum value, bool isnull, int aggregate) {
    if (isnull && question->thresholded)
        return absent(question, aggregate);
    if (isnull || !std::isfinite(DatumGetFloat8(value)))
        refuse_value(psprintf("output contains %s", isnull ? "NULL" : float8out_internal(DatumGetFloat8(value))),
                     "Pass the numbers of an answer. NULL stands for a group that the answer does not have; "
                     "declared groups are always there.");
    return DatumGetFloat8(value);
}

static risk::Output read_output(const View &view, const Memo *memo, ArrayType *array) {
    const Question *question = view.question;
    Datum *elements;
    bool *nulls;
    int n, ncolumns;
    deconstruct_array(array, FLOAT8OID, sizeof(float8), true, TYPALIGN_DOUBLE, &elements, &nulls, &n);
    const int *columns = columns_of(question, &ncolumns);
    if (n != memo->ngroups * ncolumns)
        refuse_length(question, n, memo->ngroups, ncolumns);
    risk::Output output = risk::begin_output(question, memo, view.mechanism, false);
    for (int group = 0; group < memo->ngroups; group++)
        for (int a = 0; a < output.naggregates; a++) {
            const int from = group * ncolumns + columns[a];
            output.values[group * output.naggregates + a] = output_value(question, elements[from], nulls[from], a);
        }
    risk::finish_output(&output);
    return output;
}

// ---- realised loss -------------------------------------------------------------------------------------------------

// Why there is no realised loss; null: there is one. What is compared must be what the noise was added to.
static const char *why_no_loss(const Question *question) {
    if (question->thresholded)
        return "groups appear by a noisy count that the answer need not show";
    for (int j = 0; j < question->nmeasures; j++)
        switch ((*question->measures)[j].kind) {
        case privacy::MeasureKind::pair:
            return "an average is computed from two noisy sums that the answer does not show";
        case privacy::MeasureKind::triple:
            return "a variance is computed from three noisy sums that the answer does not show";
        case privacy::MeasureKind::products:
        case privacy::MeasureKind::moments:
            return "what is of two columns is computed from noisy sums that the answer does not show";
        case privacy::MeasureKind::quantile:
            return "min, max and percentiles are drawn from a histogram that the answer does not show";
        default:
            break;
        }
    return nullptr;
}

static double *noise_scales(const View &view, privacy::Epsilon epsilon) {
    const Question *question = view.question;
    auto *scales = static_cast<double *>(palloc0(sizeof(double) * (question->leaf->naggregates + 1)));
    border::core([&] {
        auto plan = privacy::plan_release(view.mechanism, *question->measures, question->thresholded, epsilon,
                                          privacy::delta_charged(view.mechanism, question->thresholded, view.delta));
        for (int a = 0; a < question->leaf->naggregates; a++) {
            int j = question->measure_of[a];
            const privacy::MeasureNoise &noise = plan.noise[j];
            double units =
                noise.mechanism == privacy::Mechanism::laplace ? noise.laplace.value() : noise.gaussian.sigma();
            scales[a] = units * privacy::unit_of((*question->measures)[j], question->bounds[j]);
        }
    });
    return scales;
}

static double *scales_of_loss(FunctionCallInfo fcinfo, const View &view) {
    if (PG_ARGISNULL(output_epsilon))
        return nullptr;
    privacy::Epsilon epsilon = catalog::checked_epsilon(PG_GETARG_DATUM(output_epsilon), "epsilon");
    const char *reason = why_no_loss(view.question);
    if (reason != nullptr) {
        ereport(NOTICE, (errmsg("loss is NULL: %s", reason)));
        return nullptr;
    }
    rows::check_delta(view.question, view.mechanism, view.delta);
    return noise_scales(view, epsilon);
}

// ---- records -------------------------------------------------------------------------------------------------------

namespace {
struct Sayings {
    const View *view;
    risk::Output output;
    const double *scale; // per aggregate: b or sigma of its noise, in its own unit; null without a loss
};
} // namespace

static double loss_of(const Sayings &sayings, int64 record) {
    const risk::Output &output = sayings.output;
    const risk::Record one =
        record < output.memo->nrecords ? *output.memo->records.at(record) : risk::Record{};
    double loss = 0;
    for (int i = 0; i < one.nparts; i++)
        for (int a = 0; a < output.naggregates; a++) {
            const int64 part = one.first_part + i;
            const int at = output.memo->parts.at(part)->group * output.naggregates + a;
            loss += privacy::coordinate_loss(sayings.view->mechanism, output.values[at], output.exact[at],
                                             risk::answer_without(output.question, output.memo, part, a), sayings.scale[a]);
        }
    return loss;
}

static void numbers_of(void *context, int64 record, double *rdr, double *loss) {
    auto *sayings = static_cast<const Sayings *>(context);
    *rdr = risk::output_distance(sayings->output, record);
    *loss = sayings->scale == nullptr ? 0 : loss_of(*sayings, record);
}

DP_CALL(dp_risk_output) {
    require(fcinfo, {output_output, output_leaf, output_query});
    const Statement statement = cut_statement(text_argument(fcinfo, output_query));
    View view = view_of(fcinfo, statement, output_mechanism, output_delta, PG_GETARG_INT32(output_leaf));
    InitMaterializedSRF(fcinfo, 0);
    auto *result = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
    double *scale = scales_of_loss(fcinfo, view);
    // Grouped as it is released, read as it is printed.
    Memo *memo = risk::leave_one_out(rows::OwnRows(view.question), view.mechanism, privacy::Calibration::sound,
                                     risk::Detail::everything);
    Sayings sayings = {&view, read_output(view, memo, array_argument(fcinfo, output_output)), scale};
    put_records(result, memo, RecordNumbers{numbers_of, &sayings, scale != nullptr}, 0);
    return Datum(0);
}

} // namespace dp::sql
