// dp_risk_summary: the risk table as text range plots for a terminal (doc/reference.md).
#include <cmath>

#include "catalog/decimals.hpp"
#include "risk/change.hpp"
#include "risk/unit_changes.hpp"
#include "rows/unit_checks.hpp"
#include "rows/units.hpp"
#include "sql/call_arguments.hpp"
#include "sql/risk_calls.hpp"

namespace dp::sql {

using risk::Memo;

// ---- plots ---------------------------------------------------------------------------------------------------------

namespace {
// Logarithmic, and common to all candidates: bars of equal length are equal ratios.
struct Scale {
    double low, high; // ln
};
constexpr int plot_width = 32;

struct Line {
    privacy::Epsilon epsilon;
    double rdr_min, rdr_max, ratio, error95;
};
} // namespace

// From a fifth of the smallest RDR_max: below, bars end in an arrow. Next to no noise would otherwise squeeze all the rest.
static Scale scale_of(const Line *lines, int n) {
    double least = lines[0].rdr_max, most = lines[0].rdr_max, lowest = lines[0].rdr_min;
    for (int i = 1; i < n; i++) {
        least = Min(least, lines[i].rdr_max);
        most = Max(most, lines[i].rdr_max);
        lowest = Min(lowest, lines[i].rdr_min);
    }
    if (most <= 0)
        return Scale{0, 1};
    double low = Max(lowest, (least > 0 ? least : most) / 5);
    return Scale{std::log(low), std::log(Max(most, low * 1.01))};
}

static int position(const Scale &scale, double value) {
    double at = value > 0 ? (std::log(value) - scale.low) / (scale.high - scale.low) : -1;
    return static_cast<int>(std::floor(Min(Max(at, 0.0), 1.0) * (plot_width - 1) + 0.5));
}

// |====| from RDR_min to RDR_max, or one | where both are in one place.
static const char *plot(const Scale &scale, const Line &line) {
    auto *text = static_cast<char *>(palloc(plot_width + 1));
    int from = position(scale, line.rdr_min), to = position(scale, line.rdr_max);
    bool beyond = line.rdr_min <= 0 || std::log(line.rdr_min) < scale.low - 1e-9;
    memset(text, ' ', from);
    memset(text + from, '=', to - from + 1);
    text[from] = beyond ? '<' : '|';
    if (to > from)
        text[to] = '|';
    text[to + 1] = '\0';
    return text;
}

// ---- numbers -------------------------------------------------------------------------------------------------------

double rounded(double value) {
    return std::isfinite(value) ? strtod(psprintf("%.4g", value), nullptr) : value;
}

// A number with as many decimals as an error of this size leaves meaning to.
static const char *written(double value, double error) {
    if (std::fabs(value) >= 1e12 || (value != 0 && std::fabs(value) < 1e-6))
        return psprintf("%.4g", value);
    bool whole = value == std::floor(value) && error == std::floor(error);
    double digits = whole ? 0 : error > 0 ? 1 - std::floor(std::log10(error)) : 4;
    return psprintf("%.*f", static_cast<int>(Min(Max(digits, 0.0), 8.0)), value);
}

Truth truth_of(const View &view, Memo *memo) {
    if (rows::is_clipped(view.question))
        risk::add_groups_of_units(rows::OwnRows(view.question), memo);
    Truth truth = {};
    for (int group = 0; group < memo->ngroups; group++)
        for (int a = 0; a < view.question->leaf->naggregates; a++, truth.n++) {
            double value = risk::exact_answer(view.question, memo, group, a);
            truth.smallest = truth.n == 0 ? value : Min(truth.smallest, value);
            truth.largest = truth.n == 0 ? value : Max(truth.largest, value);
        }
    return truth;
}

const char *range_text(const Truth &truth, double error95) {
    if (truth.n == 1)
        return psprintf("%s .. %s", written(truth.smallest - error95, error95),
                        written(truth.smallest + error95, error95));
    if (truth.n == 0)
        return "no number";
    return psprintf(INT64_FORMAT " in %s .. %s", truth.n, written(truth.smallest, error95),
                    written(truth.largest, error95));
}

// ---- dp_risk_summary -----------------------------------------------------------------------------------------------

static Line line_of(const View &view, const Memo *memo, privacy::Epsilon epsilon) {
    Noise noise = noise_of(view, memo, epsilon);
    return border::core([&] {
        double low = privacy::rdr_of(memo->profile->min(), view.mechanism, noise.term);
        double high = privacy::rdr_of(memo->profile->max(), view.mechanism, noise.term);
        return Line{epsilon, low, high, high == 0 ? 1 : low / high, noise.error95};
    });
}

// With equal risks the ratio is 1 whatever the noise: nothing is wrong, but tau does not help to choose.
static void explain_equal_risks(const Memo *memo) {
    bool equal = border::core([&] { return memo->profile->min() == memo->profile->max(); });
    if (equal)
        ereport(NOTICE, (errmsg("everybody's risk is equal for this query: any epsilon meets any tau"),
                         errhint("Choose epsilon by the accuracy that you need and by what the odometer has left.")));
}

static void put_line(ReturnSetInfo *result, const Scale &scale, const Line &line, const char *range, int leaf) {
    Datum values[6] = {catalog::to_numeric(line.epsilon), CStringGetTextDatum(plot(scale, line)),
                       Float8GetDatum(rounded(line.error95)), CStringGetTextDatum(range),
                       Float8GetDatum(rounded(line.ratio)), Int32GetDatum(leaf)};
    bool nulls[6] = {};
    tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

static void put_leaf(FunctionCallInfo fcinfo, const Statement &statement, int leaf) {
    auto *result = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
    View view = view_of(fcinfo, statement, 1, 2, leaf);
    rows::check_delta(view.question, view.mechanism, view.delta);
    auto *candidates = catalog::candidates_from_array(array_argument(fcinfo, 3));
    Memo *memo = risk::leave_one_out(rows::OwnRows(view.question), view.mechanism, view.calibration, risk::Detail::range);
    check_not_empty(memo);
    explain_equal_risks(memo);
    Truth truth = truth_of(view, memo);
    int n = static_cast<int>(candidates->size());
    auto *lines = static_cast<Line *>(palloc0(sizeof(Line) * n));
    for (int i = 0; i < n; i++) {
        CHECK_FOR_INTERRUPTS();
        lines[i] = line_of(view, memo, (*candidates)[i]);
    }
    Scale scale = scale_of(lines, n);
    for (int i = 0; i < n; i++)
        put_line(result, scale, lines[i], range_text(truth, lines[i].error95), leaf);
}

DP_CALL(dp_risk_summary) {
    require(fcinfo, 0, "query");
    InitMaterializedSRF(fcinfo, 0);
    const Statement statement = cut_statement(text_argument(fcinfo, 0));
    tell_leaves(statement);
    for (int leaf = 1; leaf <= statement.leaves(); leaf++)
        put_leaf(fcinfo, statement, leaf);
    return Datum(0);
}

} // namespace dp::sql
