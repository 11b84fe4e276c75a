#include "risk/printed_risk.hpp"

#include <cmath>

#include "privacy/joint.hpp"
#include "privacy/noise.hpp"
#include "rows/quantiles.hpp"

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

static std::vector<double> probabilities_of(const Question *question, const privacy::ReleasePlan &plan, int measure,
                                            const Group &group) {
    return privacy::cell_probabilities(counts_of_cells(question, measure, group).data(), question->grids[measure]->cells,
                                       (*question->measures)[measure].fraction, plan.noise[measure]);
}

static Aggregate fn_of(const Question *question, int measure) {
    return question->leaf->aggregates[(*question->measures)[measure].calls.front()].fn;
}

std::vector<std::pair<double, double>> quantile_points(const Question *question, const privacy::ReleasePlan &plan,
                                                       int measure, const Group &group) {
    return privacy::quantile_points(*question->grids[measure], fn_of(question, measure),
                                    probabilities_of(question, plan, measure, group));
}

privacy::Distance quantile_error(const Question *question, const privacy::ReleasePlan &plan, int measure,
                                 const Group &group) {
    return privacy::quantile_distance(*question->grids[measure], fn_of(question, measure),
                                      probabilities_of(question, plan, measure, group),
                                      quantile_without(question, measure, group, nullptr, 0));
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

} // namespace dp::risk
