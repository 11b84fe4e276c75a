#include "risk/printed.hpp"

#include <cmath>

#include "privacy/noise.hpp"

namespace dp::risk {

using privacy::Aggregate;
using privacy::MeasureKind;
using privacy::Mechanism;
using rows::Question;

bool prints_pairs(const Question *question) {
    for (int j = 0; j < question->nmeasures; j++)
        if ((*question->measures)[j].kind == MeasureKind::pair)
            return true;
    return false;
}

const privacy::ReleasePlan *plan_in_context(const Question *question, Mechanism mechanism, privacy::Epsilon epsilon,
                                            privacy::Delta delta) {
    auto *plan = border::context_new<privacy::ReleasePlan>();
    border::core([&] {
        *plan = privacy::plan_release(mechanism, *question->measures, *question->sensitivities, question->thresholded,
                                      epsilon, privacy::delta_charged(mechanism, question->thresholded, delta));
    });
    return plan;
}

// ---- what a record moves -------------------------------------------------------------------------------------------

static double change_of_printed(const Question *question, const Memo *memo, int64 record, int measure, Aggregate fn) {
    const Contribution &contribution = memo->contributions[record * question->nmeasures + measure];
    const privacy::Bounds &bounds = *question->bounds[measure];
    switch (fn) {
    case Aggregate::sum:
        return privacy::leave_one_out_sum(contribution.there, contribution.value);
    case Aggregate::avg:
        return privacy::leave_one_out_avg(
            memo->states[static_cast<int64>(memo->group_of[record]) * question->nmeasures + measure],
            contribution.there, contribution.value, 0.5 * bounds.low + 0.5 * bounds.high);
    default:
        return privacy::leave_one_out_count(contribution.there);
    }
}

double printed_part(const Question *question, const Memo *memo, Mechanism mechanism, int64 record, int measure) {
    double part = 0;
    for (int call : (*question->measures)[measure].calls) {
        Aggregate fn = question->leaf->aggregates[call].fn;
        double one = change_of_printed(question, memo, record, measure, fn) /
                     privacy::largest_printed_change(fn, *question->bounds[measure]);
        part = mechanism == Mechanism::laplace ? part + one : std::hypot(part, one);
    }
    return part;
}

// ---- the noise of all groups ---------------------------------------------------------------------------------------

static const privacy::GroupState &state_of(const Question *question, const Memo *memo, int64 group, int measure) {
    return memo->states[group * question->nmeasures + measure];
}

static privacy::PairTotals totals_of(const Question *question, const privacy::GroupState &state, int measure) {
    return privacy::pair_totals(*question->bounds[measure], static_cast<double>(state.values), state.sum);
}

// Counts and sums of their own, in one group. Core region.
static double other_noise(const Question *question, const privacy::ReleasePlan &plan) {
    double term = 0;
    for (int j = 0; j < question->nmeasures; j++) {
        if ((*question->measures)[j].kind == MeasureKind::pair)
            continue;
        double D = static_cast<double>((*question->sensitivities)[j]);
        term += plan.mechanism == Mechanism::laplace
                    ? privacy::discrete_laplace_mean_abs(plan.noise[j].laplace.value()) / D
                    : std::pow(plan.noise[j].stddev() / D, 2);
    }
    return term;
}

// Core region. What the pairs of one group print.
static double pair_noise(const Question *question, const privacy::ReleasePlan &plan,
                         const privacy::GroupState *states) {
    double term = 0;
    for (int j = 0; j < question->nmeasures; j++)
        if ((*question->measures)[j].kind == MeasureKind::pair)
            for (int call : (*question->measures)[j].calls)
                term += privacy::printed_error(question->leaf->aggregates[call].fn, plan.noise[j], *question->bounds[j],
                                               totals_of(question, states[j], j));
    return term;
}

static bool is_empty(const Question *question, const privacy::GroupState *states) {
    for (int j = 0; j < question->nmeasures; j++)
        if (states[j].values != 0)
            return false;
    return true;
}

double printed_noise_term(const Question *question, const Memo *memo, const privacy::ReleasePlan *plan) {
    auto *nobody = static_cast<privacy::GroupState *>(palloc0(sizeof(privacy::GroupState) * (question->nmeasures + 1)));
    double empty = border::core([&] { return pair_noise(question, *plan, nobody); });
    double other = border::core([&] { return other_noise(question, *plan); });
    if (memo->ngroups == 0)
        return empty + other;
    double sum = 0, least = get_float8_infinity();
    for (int64 group = 0; group < memo->ngroups; group++) {
        CHECK_FOR_INTERRUPTS();
        const privacy::GroupState *states = &state_of(question, memo, group, 0);
        double one =
            other + (is_empty(question, states) ? empty // of thousands of declared groups most may be
                                                : border::core([&] { return pair_noise(question, *plan, states); }));
        sum += one;
        least = Min(least, one);
    }
    return question->thresholded ? least : sum;
}

// ---- the exact indicator -------------------------------------------------------------------------------------------

namespace {
// What the records of one group have in common.
struct GroupWork {
    const Question *question;
    const Memo *memo;
    const privacy::ReleasePlan *plan;
    const int64 *records; // of the group
    int64 nrecords;
};
} // namespace

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

// Where the average is without the record, as seen from where it is.
static double offset_without(const Question *question, const privacy::GroupState &state,
                             const Contribution &contribution, int measure) {
    privacy::PairTotals with = totals_of(question, state, measure);
    if (!contribution.there)
        return 0;
    const privacy::Bounds &bounds = *question->bounds[measure];
    double value = privacy::pair_totals(bounds, 1, contribution.value).difference;
    if (state.values < 2)
        return -position_of(with);
    // (S - v)/(n - 1) - S/n = (S/n - v)/(n - 1), within the bounds.
    double offset = (position_of(with) - value) / (with.count - 1);
    return Min(Max(offset, -1 - position_of(with)), 1 - position_of(with));
}

// Averages of one group and measure: E|A - average without the record| - E|A - average|.
static void add_average(const GroupWork &work, int measure, double *excess) {
    const Question *question = work.question;
    const privacy::GroupState &state = state_of(question, work.memo, work.memo->group_of[work.records[0]], measure);
    auto *offsets = static_cast<double *>(MemoryContextAllocHuge(CurrentMemoryContext, sizeof(double) * work.nrecords));
    double low = 0, high = 0;
    for (int64 i = 0; i < work.nrecords; i++) {
        offsets[i] = offset_without(question, state,
                                    work.memo->contributions[work.records[i] * question->nmeasures + measure], measure);
        low = Min(low, offsets[i]);
        high = Max(high, offsets[i]);
    }
    auto *average =
        border::context_new<privacy::PrintedAverage>(work.plan->noise[measure], totals_of(question, state, measure));
    auto *distances = border::context_new<privacy::AverageDistances>(*average, low, high, work.nrecords);
    double alone = border::core([&] { return average->distance(0); });
    for (int64 i = 0; i < work.nrecords; i++) {
        CHECK_FOR_INTERRUPTS();
        if (offsets[i] != 0)
            excess[work.records[i]] += border::core([&] { return (*distances)(offsets[i]); }) - alone;
    }
    pfree(offsets);
}

// Counts and sums, of a pair or of their own, for Laplace noise. Core region.
static double excess_of_others(const Question *question, const Memo *memo, const privacy::ReleasePlan &plan,
                               int64 record) {
    double excess = 0;
    for (int j = 0; j < question->nmeasures; j++) {
        const Contribution &contribution = memo->contributions[record * question->nmeasures + j];
        const privacy::Measure &measure = (*question->measures)[j];
        if (!contribution.there)
            continue;
        if (measure.kind != MeasureKind::pair) {
            double d = measure.kind == MeasureKind::count ? 1 : std::fabs(static_cast<double>(contribution.point));
            double b = plan.noise[j].laplace.value();
            excess += (d + privacy::discrete_laplace_mean_abs(b) * std::expm1(-d / b)) /
                      static_cast<double>((*question->sensitivities)[j]);
            continue;
        }
        for (int call : measure.calls) {
            Aggregate fn = question->leaf->aggregates[call].fn;
            double d = change_of_printed(question, memo, record, j, fn);
            if (fn != Aggregate::avg)
                excess += privacy::printed_distance(fn, plan.noise[j], *question->bounds[j], d) -
                          privacy::printed_distance(fn, plan.noise[j], *question->bounds[j], 0);
        }
    }
    return excess;
}

static bool prints_average(const Question *question, int measure) {
    for (int call : (*question->measures)[measure].calls)
        if (question->leaf->aggregates[call].fn == Aggregate::avg)
            return true;
    return false;
}

// Record numbers, group by group: counting sort. starts: ngroups + 1 positions.
static int64 *records_by_group(const Memo *memo, int64 **starts) {
    *starts = static_cast<int64 *>(MemoryContextAllocExtended(CurrentMemoryContext, sizeof(int64) * (memo->ngroups + 2),
                                                              MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO));
    for (int64 i = 0; i < memo->nrecords; i++)
        if (memo->group_of[i] >= 0)
            (*starts)[memo->group_of[i] + 2]++;
    for (int64 group = 0; group < memo->ngroups; group++)
        (*starts)[group + 2] += (*starts)[group + 1];
    auto *order =
        static_cast<int64 *>(MemoryContextAllocHuge(CurrentMemoryContext, sizeof(int64) * (memo->nrecords + 1)));
    for (int64 i = 0; i < memo->nrecords; i++)
        if (memo->group_of[i] >= 0)
            order[(*starts)[memo->group_of[i] + 1]++] = i;
    return order;
}

ExactRisks exact_printed_risks(const Question *question, const Memo *memo, const privacy::ReleasePlan *plan) {
    refuse_unless_one_number(question, plan);
    ExactRisks risks = {
        0, static_cast<double *>(MemoryContextAllocExtended(CurrentMemoryContext, sizeof(double) * (memo->nrecords + 1),
                                                            MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO))};
    bool laplace = plan->mechanism == Mechanism::laplace;
    if (laplace)
        risks.noise = printed_noise_term(question, memo, plan);
    else
        risks.noise = border::core([&] {
            return privacy::PrintedAverage(plan->noise[0], totals_of(question, state_of(question, memo, 0, 0), 0))
                .distance(0);
        });
    for (int64 i = 0; i < memo->nrecords && laplace; i++) {
        CHECK_FOR_INTERRUPTS();
        if (memo->group_of[i] >= 0)
            risks.excess[i] = border::core([&] { return excess_of_others(question, memo, *plan, i); });
    }
    MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "dp_rdr averages", ALLOCSET_DEFAULT_SIZES);
    MemoryContext old = MemoryContextSwitchTo(scratch);
    int64 *starts;
    const int64 *order = records_by_group(memo, &starts);
    for (int64 group = 0; group < memo->ngroups; group++) {
        GroupWork work = {question, memo, plan, order + starts[group], starts[group + 1] - starts[group]};
        for (int j = 0; j < question->nmeasures && work.nrecords > 0; j++)
            if (prints_average(question, j))
                add_average(work, j, risks.excess);
    }
    MemoryContextSwitchTo(old);
    MemoryContextDelete(scratch);
    return risks;
}

privacy::RiskRow risk_row_of(const Memo *memo, const ExactRisks &risks, privacy::Epsilon epsilon) {
    return border::core([&] {
        privacy::RiskRow row;
        row.epsilon = epsilon;
        privacy::RdrRange range = range_of(memo, risks, false);
        privacy::Moments moments;
        for (int64 i = 0; i < memo->nrecords; i++)
            moments.add(risks.excess[i], memo->records[i].individuals);
        if (memo->outside > 0)
            moments.add(0, memo->outside);
        row.rdr_min = range.min;
        row.rdr_max = range.max;
        if (row.rdr_max > 0) {
            row.ratio = row.rdr_min / row.rdr_max;
            row.variance = static_cast<double>(moments.variance() / row.rdr_max / row.rdr_max);
        }
        return row;
    });
}

static double median_of(const Memo *memo, const ExactRisks &risks, const bool *in, int64 members) {
    privacy::PisProfile profile;
    for (int64 i = 0; i < memo->nrecords; i++)
        if (in[i]) {
            profile.add(Max(risks.noise + risks.excess[i], 0.0), memo->records[i].individuals);
            members -= memo->records[i].individuals;
        }
    profile.add(risks.noise, members);
    return profile.lower_median();
}

// Core region.
privacy::RdrRange range_of(const Memo *memo, const ExactRisks &risks, bool groups) {
    if (groups) {
        double a = median_of(memo, risks, memo->in_a, memo->members_a);
        double b = median_of(memo, risks, memo->in_b, memo->members_b);
        return privacy::RdrRange{Min(a, b), Max(a, b)};
    }
    privacy::RdrRange range = {privacy::infinite_epsilon, 0};
    for (int64 i = 0; i < memo->nrecords + (memo->outside > 0 ? 1 : 0); i++) {
        range.min = Min(range.min, risks.noise + risks.excess[i]);
        range.max = Max(range.max, risks.noise + risks.excess[i]);
    }
    return range;
}

} // namespace dp::risk
