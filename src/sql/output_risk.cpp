// dp_risk_output: what one concrete answer says about each record (doc/reference.md).
#include <cmath>

#include "privacy/pair_release.hpp"
#include "privacy/risk_output.hpp"

#include "catalog/decimals.hpp"
#include "risk/change.hpp"
#include "risk/unit_changes.hpp"
#include "rows/unit_checks.hpp"
#include "sql/call_arguments.hpp"
#include "sql/risk_calls.hpp"
#include "sql/risk_rows.hpp"

namespace dp::sql {

using risk::Memo;
using rows::Question;

namespace {
enum OutputArgument { output_query, output_output, output_mechanism, output_epsilon, output_delta, output_leaf };

// The numbers of an answer and the exact ones: aggregates left to right within the rows of the result.
struct Output {
    int ngroups, naggregates;
    double *values; // ngroups x naggregates
    double *exact;
    double *scale; // per aggregate: b or sigma of its noise, in its own unit; null without a loss
};
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

static Output read_output(const Question *question, const Memo *memo, ArrayType *array) {
    Datum *elements;
    bool *nulls;
    int n, ncolumns;
    deconstruct_array(array, FLOAT8OID, sizeof(float8), true, TYPALIGN_DOUBLE, &elements, &nulls, &n);
    const int *columns = columns_of(question, &ncolumns);
    Output output = {memo->ngroups, question->leaf->naggregates, nullptr, nullptr, nullptr};
    if (n != output.ngroups * ncolumns)
        refuse_length(question, n, output.ngroups, ncolumns);
    Size size = sizeof(double) * (static_cast<Size>(output.ngroups) * output.naggregates + 1);
    output.values = static_cast<double *>(palloc0(size));
    output.exact = static_cast<double *>(palloc0(size));
    for (int group = 0; group < output.ngroups; group++)
        for (int a = 0; a < output.naggregates; a++) {
            int from = group * ncolumns + columns[a], to = group * output.naggregates + a;
            output.values[to] = output_value(question, elements[from], nulls[from], a);
            output.exact[to] = risk::exact_answer(question, memo, group, a);
        }
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
struct Said {
    double rdr, loss;
};
} // namespace

// l1 or l2 norm of two parts.
static double norm(const View &view, double a, double b) {
    return view.mechanism == privacy::Mechanism::laplace ? a + std::fabs(b) : std::hypot(a, b);
}

static double distance_in(const View &view, const Output &output, int group) {
    double distance = 0;
    for (int at = group * output.naggregates; at < (group + 1) * output.naggregates; at++)
        distance = norm(view, distance, output.values[at] - output.exact[at]);
    return distance;
}

// || output - q(x) || without one group, for each group; for people who are in none, behind them, all of it.
static double *rest_of_groups(const View &view, const Output &output) {
    auto *rest = static_cast<double *>(palloc0(sizeof(double) * (static_cast<Size>(output.ngroups) + 1)));
    double before = 0, after = 0;
    for (int group = 0; group < output.ngroups; group++) {
        rest[group] = before;
        before = norm(view, before, distance_in(view, output, group));
    }
    rest[output.ngroups] = before;
    for (int group = output.ngroups - 1; group >= 0; group--) {
        rest[group] = norm(view, rest[group], after);
        after = norm(view, after, distance_in(view, output, group));
    }
    return rest;
}

static Said said_of(const View &view, const Memo *memo, const Output &output, const double *rest, int64 i) {
    int group = i < memo->nrecords ? risk::group_of(memo, i) : -1;
    Said said = {rest[group < 0 ? output.ngroups : group], 0};
    for (int a = 0; group >= 0 && a < output.naggregates; a++) {
        int at = group * output.naggregates + a;
        double without = risk::answer_without(view.question, memo, i, a);
        said.rdr = norm(view, said.rdr, output.values[at] - without);
        if (output.scale != nullptr)
            said.loss +=
                privacy::coordinate_loss(view.mechanism, output.values[at], output.exact[at], without, output.scale[a]);
    }
    return said;
}

namespace {
struct Sayings {
    const View *view;
    const Memo *memo;
    const Output *output;
    const double *rest;
};
} // namespace

static void numbers_of(void *context, int64 record, double *rdr, double *loss) {
    auto *sayings = static_cast<const Sayings *>(context);
    Said said = said_of(*sayings->view, sayings->memo, *sayings->output, sayings->rest, record);
    *rdr = said.rdr;
    *loss = said.loss;
}

DP_CALL(dp_risk_output) {
    require(fcinfo, output_output, "output");
    require(fcinfo, output_leaf, "leaf");
    require(fcinfo, output_query, "query");
    const Statement statement = cut_statement(text_argument(fcinfo, output_query));
    View view = view_of(fcinfo, statement, output_mechanism, output_delta, PG_GETARG_INT32(output_leaf));
    risk::check_units(view.question, {privacy::Calibration::sound, false, false, true});
    InitMaterializedSRF(fcinfo, 0);
    auto *result = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
    double *scale = scales_of_loss(fcinfo, view);
    // Grouped as it is released, read as it is printed.
    Memo *memo = risk::leave_one_out(rows::OwnRows(view.question), view.mechanism, privacy::Calibration::sound, risk::Detail::records);
    Output output = read_output(view.question, memo, array_argument(fcinfo, output_output));
    output.scale = scale;
    Sayings sayings = {&view, memo, &output, rest_of_groups(view, output)};
    put_records(result, memo, RecordNumbers{numbers_of, &sayings, output.scale != nullptr}, 0);
    return Datum(0);
}

} // namespace dp::sql
