#include "risk/printed_risk.hpp"

#include <algorithm>
#include <cmath>

#include "border/refuse.hpp"
#include "privacy/joint.hpp"
#include "privacy/noise.hpp"
#include "rows/quantiles.hpp"

namespace dp::risk {

using privacy::Aggregate;
using privacy::MeasureKind;
using privacy::Mechanism;
using rows::Question;

constexpr int64 few_groups = 1024; // of so many the noise of each is computed in full

double error_of_noise(const Question *question, const Memo *memo) {
    constexpr double of_points = 0.05, of_many_groups = 0.01;
    for (const privacy::Measure &measure : *question->measures)
        if (measure.kind == MeasureKind::triple || privacy::is_joint(measure.kind))
            return of_points;
    return question->thresholded && depends_on_group(question) && memo->ngroups > few_groups ? of_many_groups : 0;
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

// Core region. All numbers of a group that are computed from several sums, or drawn. rough: for comparisons.
static double numbers_noise(const Question *question, const privacy::ReleasePlan &plan, const Group &group, bool rough = false) {
    double term = 0;
    for (int j = 0, first = 0; j < question->nmeasures; first += (*question->measures)[j++].coordinates()) {
        const privacy::Measure &measure = (*question->measures)[j];
        if (measure.kind == MeasureKind::quantile)
            term += quantile_error(question, plan, j, group).mean;
        for (int call : measure.calls)
            if (measure.has_parts())
                term += privacy::error_of_number(number_of(question, call), plan.noise[j], group.sums + first, rough);
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

// ---- the least of many groups --------------------------------------------------------------------------------------

namespace {
struct Candidate {
    double rough; // noise
    int group;
    bool operator<(const Candidate &o) const { return rough < o.rough; }
};
} // namespace

// Refuses so many groups that the search takes minutes at each epsilon: each of their numbers is looked at. 53000 suspends no analyst.
static void check_search(const Question *question, int ngroups) {
    constexpr double most = 1e6;
    double numbers = 0;
    for (const privacy::Measure &measure : *question->measures)
        numbers += measure.has_parts() ? static_cast<double>(measure.calls.size()) : 0;
    if (numbers * ngroups > most)
        refuse_with(ERRCODE_INSUFFICIENT_RESOURCES,
                    psprintf("the least noise of %.0f numbers in %d groups takes too long to find", numbers, ngroups),
                    "Declare the groups, ask about fewer of them, or for fewer averages and the like.",
                    psprintf("At most %.0f numbers in groups that nobody declared are compared.", most));
}

// Returns the groups among which the least noise is looked for: all of few, else those of which it roughly is least.
static Candidate *candidates_for_least(const Question *question, const Memo *memo, const privacy::ReleasePlan *plan, int *n) {
    constexpr int kept = 256;
    const bool many = memo->ngroups > few_groups;
    *n = many ? kept : memo->ngroups;
    check_search(question, memo->ngroups);
    auto *candidates = static_cast<Candidate *>(palloc(sizeof(Candidate) * *n));
    for (int group = 0; group < memo->ngroups; group++) {
        CHECK_FOR_INTERRUPTS();
        const Group at = group_at(question, memo, group);
        const double rough = many ? border::core([&] { return numbers_noise(question, *plan, at, true); }) : 0;
        if (group < *n) {
            candidates[group] = {rough, group};
            std::push_heap(candidates, candidates + group + 1);
        } else if (rough < candidates[0].rough) {
            std::pop_heap(candidates, candidates + *n);
            candidates[*n - 1] = {rough, group};
            std::push_heap(candidates, candidates + *n);
        }
    }
    return candidates;
}

static double least_noise(const Question *question, const Memo *memo, const privacy::ReleasePlan *plan) {
    int n;
    Candidate *candidates = candidates_for_least(question, memo, plan, &n);
    double least = get_float8_infinity();
    for (int i = 0; i < n; i++) {
        CHECK_FOR_INTERRUPTS();
        const Group at = group_at(question, memo, candidates[i].group);
        const double noise = border::core([&] { return numbers_noise(question, *plan, at); });
        least = Min(least, noise);
    }
    pfree(candidates);
    return least;
}

double noise_term(const Question *question, const Memo *memo, const privacy::ReleasePlan *plan) {
    Empty empty = {};
    double other = border::core([&] { return other_noise(question, *plan); });
    if (!depends_on_group(question))
        return other * (question->thresholded ? 1 : question->ngroups);
    if (memo->ngroups == 0)
        return other + noise_of_nobody(question, plan, &empty);
    if (question->thresholded)
        return other + least_noise(question, memo, plan);
    double sum = 0;
    for (int group = 0; group < memo->ngroups; group++) {
        CHECK_FOR_INTERRUPTS();
        const Group at = group_at(question, memo, group);
        sum += other + (is_empty(question, at) ? noise_of_nobody(question, plan, &empty)
                                               : border::core([&] { return numbers_noise(question, *plan, at); }));
    }
    return sum;
}

} // namespace dp::risk
