#include "risk/printed_risk.hpp"

#include <cmath>

#include "privacy/noise.hpp"
#include "privacy/triple.hpp"
#include "rows/units.hpp"

namespace dp::risk {

using privacy::Aggregate;
using privacy::MeasureKind;
using privacy::Mechanism;
using rows::Question;

bool prints_pairs(const Question *question) {
    if (rows::is_clipped(question)) // the sums that are drawn tell units of many rows from those of few (9.6)
        return false;
    for (int j = 0; j < question->nmeasures; j++)
        if ((*question->measures)[j].has_parts())
            return true;
    return false;
}

static bool prints_triples(const Question *question) {
    for (const privacy::Measure &measure : *question->measures)
        if (measure.kind == MeasureKind::triple)
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
    const Contribution &contribution = memo->contributions.at(record)[measure];
    const privacy::Bounds &bounds = *question->bounds[measure];
    if (privacy::is_spread(fn))
        return privacy::leave_one_out_spread(fn, memo->states.at(memo->records.at(record)->group)[measure],
                                             contribution.there, privacy::position_of(bounds, contribution.value));
    switch (fn) {
    case Aggregate::sum:
        return privacy::leave_one_out_sum(contribution.there, contribution.value);
    case Aggregate::avg:
        return privacy::leave_one_out_avg(memo->states.at(memo->records.at(record)->group)[measure], contribution.there,
                                          contribution.value, 0.5 * bounds.low + 0.5 * bounds.high);
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

static privacy::PairTotals totals_of(const Question *question, const privacy::GroupState &state, int measure) {
    return privacy::pair_totals(*question->bounds[measure], static_cast<double>(state.values), state.sum);
}

// Counts and sums of their own, in one group. Core region.
static double other_noise(const Question *question, const privacy::ReleasePlan &plan) {
    double term = 0;
    for (int j = 0; j < question->nmeasures; j++) {
        if ((*question->measures)[j].has_parts())
            continue;
        double D = static_cast<double>((*question->sensitivities)[j]);
        term += plan.mechanism == Mechanism::laplace
                    ? privacy::discrete_laplace_mean_abs(plan.noise[j].laplace.value()) / D
                    : std::pow(plan.noise[j].stddev() / D, 2);
    }
    return term;
}

// Core region. What the pair of one group prints.
static double pair_noise(const Question *question, const privacy::ReleasePlan &plan, int measure,
                         const privacy::PairTotals &totals, double term) {
    for (int call : (*question->measures)[measure].calls)
        term += privacy::printed_error(question->leaf->aggregates[call].fn, plan.noise[measure],
                                       *question->bounds[measure], totals);
    return term;
}

// Core region. The same of a triple.
static double triple_noise(const Question *question, const privacy::ReleasePlan &plan, int measure,
                           const privacy::GroupState &state, double term) {
    const privacy::Moments3 moments = {static_cast<double>(state.values), static_cast<double>(state.positions),
                                       static_cast<double>(state.squares)};
    for (int call : (*question->measures)[measure].calls)
        term += privacy::triple_error(question->leaf->aggregates[call].fn, plan.noise[measure],
                                      *question->bounds[measure], moments);
    return term;
}

// Core region. The same of all its pairs and triples.
static double pairs_noise(const Question *question, const privacy::ReleasePlan &plan,
                          const privacy::GroupState *states) {
    double term = 0;
    for (int j = 0; j < question->nmeasures; j++)
        if ((*question->measures)[j].kind == MeasureKind::pair)
            term = pair_noise(question, plan, j, totals_of(question, states[j], j), term);
        else if ((*question->measures)[j].kind == MeasureKind::triple)
            term = triple_noise(question, plan, j, states[j], term);
    return term;
}

static bool is_empty(const Question *question, const privacy::GroupState *states) {
    for (int j = 0; j < question->nmeasures; j++)
        if (states[j].values != 0)
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
    auto *nobody = static_cast<privacy::GroupState *>(palloc0(sizeof(privacy::GroupState) * (question->nmeasures + 1)));
    *empty = Empty{true, border::core([&] { return pairs_noise(question, *plan, nobody); })};
    pfree(nobody);
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
        prints_triples(question))
        return nullptr;
    Averages *averages = begin_averages();
    for (int64 group = 0; group < memo->ngroups; group++) {
        CHECK_FOR_INTERRUPTS();
        add_average(averages, totals_of(question, memo->states.at(group)[measure], measure));
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
           border::core([&] { return pair_noise(term->question, *term->plan, term->measure, totals, 0); });
}

static double least_noise(const Question *question, const Memo *memo, const privacy::ReleasePlan *plan, double other) {
    Term term = {question, plan, -1, other};
    (void)count_averages(question, &term.measure);
    PairError error = {plan->noise[term.measure], other, 0};
    for (int call : (*question->measures)[term.measure].calls) {
        Aggregate fn = question->leaf->aggregates[call].fn;
        if (fn == Aggregate::avg)
            error.weight++;
        else
            error.others += border::core(
                [&] { return privacy::printed_error(fn, error.noise, *question->bounds[term.measure], {}); });
    }
    error.others *= 1 - 1e-12; // added up in another order
    return least_term(memo->averages, error, term_of, &term);
}

double printed_noise_term(const Question *question, const Memo *memo, const privacy::ReleasePlan *plan) {
    Empty empty = {};
    double other = border::core([&] { return other_noise(question, *plan); });
    int measure;
    // Only the errors of averages and variances depend on the group.
    if (memo->ngroups == 0 ||
        (question->thresholded && count_averages(question, &measure) == 0 && !prints_triples(question)))
        return other + noise_of_nobody(question, plan, &empty);
    if (memo->averages != nullptr)
        return least_noise(question, memo, plan, other);
    double sum = 0, least = get_float8_infinity();
    for (int64 group = 0; group < memo->ngroups; group++) {
        CHECK_FOR_INTERRUPTS();
        const privacy::GroupState *states = memo->states.at(group);
        double one =
            other + (is_empty(question, states) ? noise_of_nobody(question, plan, &empty)
                                                : border::core([&] { return pairs_noise(question, *plan, states); }));
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

// Counts and sums, of a pair or of their own, for Laplace noise.
static double excess_of_others(const Question *question, const Memo *memo, const privacy::ReleasePlan &plan,
                               int64 record) {
    double excess = 0;
    for (int j = 0; j < question->nmeasures; j++) {
        const Contribution contribution = memo->contributions.at(record)[j];
        const privacy::Measure &measure = (*question->measures)[j];
        if (!contribution.there)
            continue;
        if (!measure.has_parts()) {
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

static double offset_of(const Run &run, int64 record, int group, int measure) {
    return offset_without(run.question, run.memo->states.at(group)[measure],
                          run.memo->contributions.at(record)[measure], measure);
}

static Average *averages_of(const Run &run, int measure) {
    auto *averages = static_cast<Average *>(palloc0(sizeof(Average) * Max(run.ngroups, 1)));
    for (int64 i = run.from; i < run.to; i++) {
        int group = run.memo->records.at(i)->group;
        if (group < 0)
            continue;
        Average *average = &averages[group - run.first_group];
        double offset = offset_of(run, i, group, measure);
        average->low = Min(average->low, offset);
        average->high = Max(average->high, offset);
        average->nrecords++;
    }
    for (int g = 0; g < run.ngroups; g++) {
        Average *average = &averages[g];
        if (average->nrecords == 0)
            continue;
        const privacy::GroupState state = run.memo->states.at(run.first_group + g)[measure];
        auto *printed = border::context_new<privacy::PrintedAverage>(run.plan->noise[measure],
                                                                     totals_of(run.question, state, measure));
        average->distances =
            border::context_new<privacy::AverageDistances>(*printed, average->low, average->high, average->nrecords);
        average->alone = border::core([&] { return printed->distance(0); });
    }
    return averages;
}

static void add_averages(const Run &run, int measure, const border::Spill<double> &excess) {
    const Average *averages = averages_of(run, measure);
    for (int64 i = run.from; i < run.to; i++) {
        CHECK_FOR_INTERRUPTS();
        int group = run.memo->records.at(i)->group;
        if (group < 0)
            continue;
        const Average *average = &averages[group - run.first_group];
        double offset = offset_of(run, i, group, measure);
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
        int first = memo->by_group ? memo->records.at(from)->group : 0;
        for (to = from; to < memo->nrecords && (!memo->by_group || memo->records.at(to)->group == first);)
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
    if (prints_triples(question))
        ereport(ERROR,
                (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                 errmsg("exact is not supported for variances and standard deviations"), errhint("Leave exact out.")));
    refuse_unless_one_number(question, plan);
    ExactRisks risks = {0, memo->excess};
    border::empty_spill(risks.excess.bytes);
    bool laplace = plan->mechanism == Mechanism::laplace;
    if (laplace)
        risks.noise = printed_noise_term(question, memo, plan);
    else {
        const privacy::GroupState state = memo->states.at(0)[0];
        risks.noise = border::core(
            [&] { return privacy::PrintedAverage(plan->noise[0], totals_of(question, state, 0)).distance(0); });
    }
    for (int64 i = 0; i <= memo->nrecords; i++) {
        CHECK_FOR_INTERRUPTS();
        bool somebody = laplace && i < memo->nrecords && memo->records.at(i)->group >= 0;
        *risks.excess.append() = somebody ? excess_of_others(question, memo, *plan, i) : 0;
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
