#include "risk/printed_risk.hpp"

#include <cmath>

#include "privacy/joint.hpp"
#include "privacy/noise.hpp"
#include "rows/quantiles.hpp"
#include "rows/two_column_checks.hpp"

namespace dp::risk {

using privacy::Aggregate;
using privacy::MeasureKind;
using privacy::Mechanism;
using rows::Question;

// Variances, what is of two columns and quantiles are no integrals: their laws are summed over points, or over cells.
static bool prints_by_points(const Question *question) {
    for (const privacy::Measure &measure : *question->measures)
        if (measure.kind != MeasureKind::count && measure.kind != MeasureKind::sum && measure.kind != MeasureKind::pair)
            return true;
    return false;
}

double error_of_noise(const Question *question) {
    for (const privacy::Measure &measure : *question->measures)
        if (measure.kind == MeasureKind::triple || privacy::is_joint(measure.kind))
            return 0.05;
    return 0;
}

const privacy::ReleasePlan *plan_in_context(const Question *question, Mechanism mechanism, privacy::Epsilon epsilon,
                                            privacy::Delta delta) {
    auto *plan = border::context_new<privacy::ReleasePlan>();
    border::core([&] {
        *plan = privacy::plan_release(mechanism, *question->measures, question->thresholded, epsilon,
                                      privacy::delta_charged(mechanism, question->thresholded, delta));
    });
    return plan;
}

// ---- the noise of all groups ---------------------------------------------------------------------------------------

// Counts and sums of their own, in one group. Core region.
static double other_noise(const Question *question, const privacy::ReleasePlan &plan) {
    double term = 0;
    for (int j = 0; j < question->nmeasures; j++) {
        const privacy::Measure &measure = (*question->measures)[j];
        if (measure.has_parts() || measure.kind == MeasureKind::quantile)
            continue;
        double D = static_cast<double>((*question->measures)[j].sensitivity);
        term += plan.mechanism == Mechanism::laplace
                    ? privacy::discrete_laplace_mean_abs(plan.noise[j].laplace.value()) / D
                    : std::pow(plan.noise[j].stddev() / D, 2);
    }
    return term;
}

// Core region. What the pair of one group prints: for the search for the least.
static double pair_noise(const Question *question, const privacy::ReleasePlan &plan, int measure,
                         const privacy::PairTotals &totals) {
    double term = 0;
    for (int call : (*question->measures)[measure].calls) {
        const privacy::PrintedNumber number = number_of(question, call);
        const double weight = privacy::weight_of_rows(number.fn, number.rows);
        term += privacy::printed_error(number.fn, plan.noise[measure], *number.bounds, totals) *
                (plan.mechanism == Mechanism::laplace ? weight : weight * weight);
    }
    return term;
}

privacy::Distance quantile_error(const Question *question, const privacy::ReleasePlan &plan, int measure,
                                 const Group &group) {
    const privacy::Grid &grid = *question->grids[measure];
    const privacy::Measure &one = (*question->measures)[measure];
    const Aggregate fn = question->leaf->aggregates[one.calls.front()].fn;
    const int64 *upto = group.upto + first_cell_of(question, measure);
    std::vector<std::int64_t> counts(static_cast<std::size_t>(grid.cells));
    for (int i = 0; i < grid.cells; i++)
        counts[i] = upto[i] - (i == 0 ? 0 : upto[i - 1]);
    return privacy::quantile_distance(
        grid, fn, privacy::cell_probabilities(counts.data(), grid.cells, one.fraction, plan.noise[measure]),
        privacy::exact_quantile(grid, fn, privacy::exact_cell(upto, grid.cells, one.fraction)));
}

// Core region. All numbers of a group that are computed from several sums, or drawn.
static double numbers_noise(const Question *question, const privacy::ReleasePlan &plan, const Group &group) {
    double term = 0;
    for (int j = 0, first = 0; j < question->nmeasures; first += (*question->measures)[j++].coordinates()) {
        const privacy::Measure &measure = (*question->measures)[j];
        if (measure.kind == MeasureKind::quantile)
            term += quantile_error(question, plan, j, group).mean;
        for (int call : measure.calls)
            if (measure.has_parts())
                term += privacy::error_of_number(number_of(question, call), plan.noise[j], group.sums + first);
    }
    return term;
}

static bool is_empty(const Question *question, const Group &group) {
    for (int c = 0; c < question->ncoordinates; c++)
        if (group.sums[c] != 0)
            return false;
    for (int i = question->ncells - 1; i >= 0; i--)
        if (group.upto[i] != 0)
            return false;
    return true;
}

namespace {
// Remembers what the pairs of a group without values print: among thousands of declared groups most may be such.
struct Empty {
    bool known;
    double noise;
};
} // namespace

static double noise_of_nobody(const Question *question, const privacy::ReleasePlan *plan, Empty *empty) {
    if (empty->known)
        return empty->noise;
    auto *sums = static_cast<privacy::int128 *>(palloc0(sizeof(privacy::int128) * (question->ncoordinates + 1)));
    auto *upto = static_cast<int64 *>(palloc0(sizeof(int64) * (question->ncells + 1)));
    *empty = Empty{true, border::core([&] { return numbers_noise(question, *plan, Group{sums, upto}); })};
    pfree(sums);
    pfree(upto);
    return empty->noise;
}

static bool prints_average(const Question *question, int measure) {
    for (int call : (*question->measures)[measure].calls)
        if (question->leaf->aggregates[call].fn == Aggregate::avg)
            return true;
    return false;
}

// How many pairs print an average, and the last of them.
static int count_averages(const Question *question, int *measure) {
    int n = 0;
    for (int j = 0; j < question->nmeasures; j++)
        if ((*question->measures)[j].kind == MeasureKind::pair && prints_average(question, j)) {
            *measure = j;
            n++;
        }
    return n;
}

static int count_pairs(const Question *question) {
    int n = 0;
    for (const privacy::Measure &measure : *question->measures)
        n += measure.kind == MeasureKind::pair ? 1 : 0;
    return n;
}

const Averages *averages_of_groups(const Question *question, const Memo *memo) {
    int measure = -1;
    if (!question->thresholded || count_averages(question, &measure) != 1 || count_pairs(question) != 1 ||
        prints_by_points(question))
        return nullptr;
    Averages *averages = begin_averages();
    const int first = first_coordinate_of(question, measure);
    for (int64 group = 0; group < memo->ngroups; group++) {
        CHECK_FOR_INTERRUPTS();
        add_average(averages, privacy::totals_of(MeasureKind::pair, memo->sums.at(group) + first));
    }
    finish_averages(averages);
    return averages;
}

namespace {
struct Term {
    const Question *question;
    const privacy::ReleasePlan *plan;
    int measure;
    double other;
};
} // namespace

static double term_of(void *context, const privacy::PairTotals &totals) {
    auto *term = static_cast<const Term *>(context);
    return term->other +
           border::core([&] { return pair_noise(term->question, *term->plan, term->measure, totals); });
}

static double least_noise(const Question *question, const Memo *memo, const privacy::ReleasePlan *plan, double other) {
    Term term = {question, plan, -1, other};
    (void)count_averages(question, &term.measure);
    PairError error = {plan->noise[term.measure], other, 0};
    for (int call : (*question->measures)[term.measure].calls) {
        const privacy::PrintedNumber number = number_of(question, call);
        const double rows = privacy::weight_of_rows(number.fn, number.rows);
        const double weight = plan->mechanism == Mechanism::laplace ? rows : rows * rows;
        if (number.fn == Aggregate::avg)
            error.weight += weight;
        else
            error.others +=
                weight * border::core([&] { return privacy::printed_error(number.fn, error.noise, *number.bounds, {}); });
    }
    error.others *= 1 - 1e-12; // added up in another order
    return least_term(memo->averages, error, term_of, &term);
}

double noise_term(const Question *question, const Memo *memo, const privacy::ReleasePlan *plan) {
    Empty empty = {};
    double other = border::core([&] { return other_noise(question, *plan); });
    if (!depends_on_group(question))
        return other * (question->thresholded ? 1 : question->ngroups);
    int measure;
    // Only the errors of averages and variances depend on the group.
    if (memo->ngroups == 0 ||
        (question->thresholded && count_averages(question, &measure) == 0 && !prints_by_points(question)))
        return other + noise_of_nobody(question, plan, &empty);
    if (memo->averages != nullptr)
        return least_noise(question, memo, plan, other);
    double sum = 0, least = get_float8_infinity();
    for (int64 group = 0; group < memo->ngroups; group++) {
        CHECK_FOR_INTERRUPTS();
        const Group at = group_at(question, memo, static_cast<int>(group));
        double one = other + (is_empty(question, at) ? noise_of_nobody(question, plan, &empty)
                                                     : border::core([&] { return numbers_noise(question, *plan, at); }));
        sum += one;
        least = Min(least, one);
    }
    return question->thresholded ? least : sum;
}

// ---- the exact indicator -------------------------------------------------------------------------------------------

static void refuse_unless_one_number(const Question *question, const privacy::ReleasePlan *plan) {
    if (plan->mechanism == Mechanism::laplace ||
        (question->nmeasures == 1 && question->leaf->naggregates == 1 && question->leaf->nkeys == 0))
        return;
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("the exact indicator of an average is not supported with Gaussian noise on several numbers"),
                    errhint("Leave exact out, use Laplace noise, or ask for the average alone.")));
}

static double position_of(const privacy::PairTotals &totals) {
    return totals.count > 0 ? totals.difference / totals.count : 0;
}

// Returns what a record that is in a group changes.
static const privacy::int128 *change_in_group(const Memo *memo, int64 record) {
    return memo->changes.at(memo->records.at(record)->first_part);
}

// Where the average is without the record, as seen from where it is.
static double offset_without(const privacy::int128 *sums, const privacy::int128 *change) {
    const privacy::PairTotals with = privacy::totals_of(MeasureKind::pair, sums),
                              value = privacy::totals_of(MeasureKind::pair, change);
    if (value.count == 0)
        return 0;
    if (with.count < 2)
        return -position_of(with);
    // (S - v)/(n - 1) - S/n = (S/n - v)/(n - 1), within the bounds.
    double offset = (position_of(with) - value.difference) / (with.count - 1);
    return Min(Max(offset, -1 - position_of(with)), 1 - position_of(with));
}

// Core region. Counts and sums, of a pair or of their own, for Laplace noise.
static double excess_of_others(const Question *question, const privacy::ReleasePlan &plan, const privacy::int128 *change) {
    double excess = 0;
    for (int j = 0; j < question->nmeasures; change += (*question->measures)[j++].coordinates()) {
        const privacy::Measure &measure = (*question->measures)[j];
        if (!measure.has_parts()) {
            double d = std::fabs(static_cast<double>(*change)), b = plan.noise[j].laplace.value();
            excess += (d + privacy::discrete_laplace_mean_abs(b) * std::expm1(-d / b)) /
                      static_cast<double>((*question->measures)[j].sensitivity);
            continue;
        }
        for (int call : measure.calls) {
            const privacy::PrintedNumber number = number_of(question, call);
            if (number.fn == Aggregate::avg)
                continue;
            double d = privacy::change_of_number(number, change, change) * privacy::unit_of_number(number);
            excess += privacy::printed_distance(number.fn, plan.noise[j], *number.bounds, d) -
                      privacy::printed_distance(number.fn, plan.noise[j], *number.bounds, 0);
        }
    }
    return excess;
}

namespace {
// The average of one group: E|A - average without the record| - E|A - average| for each of its records.
struct Average {
    double low, high; // of the offsets
    int64 nrecords;
    privacy::AverageDistances *distances; // null: nobody is in the group
    double alone;
};

// A run of records whose groups are all known at its end: of one group, or of all declared ones.
struct Run {
    const Question *question;
    const Memo *memo;
    const privacy::ReleasePlan *plan;
    int64 from, to;
    int first_group, ngroups;
};
} // namespace

static double offset_of(const Run &run, int64 record, int group, int first) {
    return offset_without(run.memo->sums.at(group) + first, change_in_group(run.memo, record) + first);
}

static Average *averages_of(const Run &run, int measure) {
    const int first = first_coordinate_of(run.question, measure);
    auto *averages = static_cast<Average *>(palloc0(sizeof(Average) * Max(run.ngroups, 1)));
    for (int64 i = run.from; i < run.to; i++) {
        int group = group_of(run.memo, i);
        if (group < 0)
            continue;
        Average *average = &averages[group - run.first_group];
        double offset = offset_of(run, i, group, first);
        average->low = Min(average->low, offset);
        average->high = Max(average->high, offset);
        average->nrecords++;
    }
    for (int g = 0; g < run.ngroups; g++) {
        Average *average = &averages[g];
        if (average->nrecords == 0)
            continue;
        auto *printed = border::context_new<privacy::PrintedAverage>(
            run.plan->noise[measure],
            privacy::totals_of(MeasureKind::pair, run.memo->sums.at(run.first_group + g) + first));
        average->distances =
            border::context_new<privacy::AverageDistances>(*printed, average->low, average->high, average->nrecords);
        average->alone = border::core([&] { return printed->distance(0); });
    }
    return averages;
}

static void add_averages(const Run &run, int measure, const border::Spill<double> &excess) {
    const int first = first_coordinate_of(run.question, measure);
    const Average *averages = averages_of(run, measure);
    for (int64 i = run.from; i < run.to; i++) {
        CHECK_FOR_INTERRUPTS();
        int group = group_of(run.memo, i);
        if (group < 0)
            continue;
        const Average *average = &averages[group - run.first_group];
        double offset = offset_of(run, i, group, first);
        if (offset != 0)
            *excess.change(i) += border::core([&] { return (*average->distances)(offset); }) - average->alone;
    }
}

// Run by run: group by group where the records come so, else all groups at once, which are the declared ones.
static void add_all_averages(const Question *question, const Memo *memo, const privacy::ReleasePlan *plan,
                             const border::Spill<double> &excess) {
    MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "dp_rdr averages", ALLOCSET_DEFAULT_SIZES);
    MemoryContext old = MemoryContextSwitchTo(scratch);
    for (int64 from = 0, to; from < memo->nrecords; from = to) {
        int first = memo->by_group ? group_of(memo, from) : 0;
        for (to = from; to < memo->nrecords && (!memo->by_group || group_of(memo, to) == first);)
            to = memo->by_group ? to + 1 : memo->nrecords;
        Run run = {question, memo, plan, from, to, first, memo->by_group ? 1 : memo->ngroups};
        for (int j = 0; j < question->nmeasures; j++)
            if (prints_average(question, j))
                add_averages(run, j, excess);
        MemoryContextReset(scratch);
    }
    MemoryContextSwitchTo(old);
    MemoryContextDelete(scratch);
}

ExactRisks exact_printed_risks(const Question *question, const Memo *memo, const privacy::ReleasePlan *plan) {
    if (prints_by_points(question))
        ereport(ERROR,
                (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                 errmsg("exact is not supported for %s",
                        rows::has_quantile(question) ? "min, max and percentiles"
                        : rows::has_joint(question)  ? "covariances, correlations and lines of regression"
                                                     : "variances and standard deviations"),
                 errhint("Leave exact out.")));
    refuse_unless_one_number(question, plan);
    ExactRisks risks = {0, memo->excess};
    border::empty_spill(risks.excess.bytes);
    bool laplace = plan->mechanism == Mechanism::laplace;
    if (laplace)
        risks.noise = noise_term(question, memo, plan);
    else {
        const privacy::PairTotals totals = privacy::totals_of(MeasureKind::pair, memo->sums.at(0));
        risks.noise = border::core([&] { return privacy::PrintedAverage(plan->noise[0], totals).distance(0); });
    }
    for (int64 i = 0; i <= memo->nrecords; i++) {
        CHECK_FOR_INTERRUPTS();
        bool somebody = laplace && i < memo->nrecords && group_of(memo, i) >= 0;
        const privacy::int128 *change = somebody ? change_in_group(memo, i) : nullptr;
        *risks.excess.append() =
            somebody ? border::core([&] { return excess_of_others(question, *plan, change); }) : 0;
    }
    add_all_averages(question, memo, plan, risks.excess);
    return risks;
}

privacy::RiskRow risk_row_of(const Memo *memo, const ExactRisks &risks, privacy::Epsilon epsilon) {
    privacy::RiskRow row;
    row.epsilon = epsilon;
    privacy::RdrRange range = range_of(memo, risks, false);
    privacy::Moments moments;
    for (int64 i = 0; i < memo->nrecords; i++)
        moments.add(*risks.excess.at(i), memo->records.at(i)->individuals);
    if (memo->outside > 0)
        moments.add(0, memo->outside);
    row.rdr_min = range.min;
    row.rdr_max = range.max;
    if (row.rdr_max > 0) {
        row.ratio = row.rdr_min / row.rdr_max;
        row.variance = static_cast<double>(moments.variance() / row.rdr_max / row.rdr_max);
    }
    return row;
}

static double median_of(const Memo *memo, const ExactRisks &risks, bool Record::*in, int64 members) {
    auto *profile = border::context_new<privacy::PisProfile>();
    for (int64 i = 0; i < memo->nrecords; i++) {
        const Record *record = memo->records.at(i);
        if (record->*in) {
            double risk = Max(risks.noise + *risks.excess.at(i), 0.0);
            border::core([&] { profile->add(risk, record->individuals); });
            members -= record->individuals;
        }
    }
    return border::core([&] {
        profile->add(risks.noise, members);
        return profile->lower_median();
    });
}

privacy::RdrRange range_of(const Memo *memo, const ExactRisks &risks, bool groups) {
    if (groups) {
        double a = median_of(memo, risks, &Record::in_a, memo->members_a);
        double b = median_of(memo, risks, &Record::in_b, memo->members_b);
        return privacy::RdrRange{Min(a, b), Max(a, b)};
    }
    privacy::RdrRange range = {privacy::infinite_epsilon, 0};
    for (int64 i = 0; i < memo->nrecords + (memo->outside > 0 ? 1 : 0); i++) {
        range.min = Min(range.min, risks.noise + *risks.excess.at(i));
        range.max = Max(range.max, risks.noise + *risks.excess.at(i));
    }
    return range;
}

} // namespace dp::risk
