#include "release/accuracy.hpp"

#include <cmath>
#include <limits>

#include "privacy/pair_release.hpp"
#include "privacy/running_mean.hpp"
#include "privacy/triple.hpp"

namespace dp::release {

constexpr int places_of_average = 6; // beyond those of the values: a million of them is averaged to their own precision

int average_decimals(int decimals) {
    return decimals < 0 ? -1 : decimals + places_of_average;
}

double rounding_of(int decimals) {
    return decimals < 0 ? 0 : 0.5 * std::pow(10, -decimals);
}

// Whether units bring it parts of rows: they are clipped over several groups.
static bool is_in_parts(const rows::Question *question, int aggregate) {
    return !(*question->measures)[question->measure_of[aggregate]].one_group;
}

// Places that a number is printed with; -1: those that there are.
static int printed_places(const rows::Question *question, int aggregate) {
    return question->leaf->aggregates[aggregate].result_type == INT8OID ? 0 : question->decimals[aggregate];
}

// Exact and printed sum are multiples of the last decimal place, and so is their distance. What clipping leaves of a unit in
// several groups is none: the exact sum may be half a place further away, and nothing is rounded down (8.7).
double printed_halfwidth(const rows::Question *question, int aggregate, double width) {
    const bool parts = is_in_parts(question, aggregate);
    const int decimals = parts ? printed_places(question, aggregate) : question->decimals[aggregate];
    const double places = decimals < 0 ? 0 : std::pow(10, decimals), scaled = width * places;
    if (!(places > 0 && scaled < 0x1p52))
        return width;
    return (parts ? std::ceil(scaled + 0.5) : std::round(scaled)) / places;
}

// A whole number, as long as the exact one is.
double count_halfwidth(const rows::Question *question, const privacy::ReleasePlan &plan, int aggregate) {
    const int j = question->measure_of[aggregate];
    return ((*question->measures)[j].kind == privacy::MeasureKind::triple
                ? privacy::triple_count_halfwidth(plan.noise[j])
                : privacy::pair_count_halfwidth(plan.noise[j])) +
           (is_in_parts(question, aggregate) ? 1 : 0);
}

// Counts, and sums on a lattice of whole numbers, are whole numbers; the lattice of a count that is not has enough places.
int mean_bits(const rows::Question *question, int measure) {
    const privacy::Bounds *bounds = question->bounds[measure];
    return bounds == nullptr || bounds->exponent >= 0 ? 0 : privacy::bits_of_real_mean;
}

double halfwidth(const rows::Question *question, const privacy::ReleasePlan &plan, int aggregate) {
    int j = question->measure_of[aggregate];
    if ((*question->measures)[j].kind == privacy::MeasureKind::quantile)
        return std::numeric_limits<double>::quiet_NaN(); // of its rank alone: rank_error95
    if (!(*question->measures)[j].has_parts())
        return printed_halfwidth(
            question, aggregate,
            privacy::measure_halfwidth(plan.noise[j], (*question->measures)[j], question->bounds[j]));
    const bool triple = (*question->measures)[j].kind == privacy::MeasureKind::triple;
    const privacy::MeasureNoise &noise = plan.noise[j];
    const privacy::Bounds &bounds = *question->bounds[j];
    switch (question->leaf->aggregates[aggregate].fn) {
    case privacy::Aggregate::sum:
        return printed_halfwidth(question, aggregate,
                                 triple ? privacy::triple_sum_halfwidth(noise, bounds)
                                        : privacy::pair_sum_halfwidth(noise, bounds));
    case privacy::Aggregate::count:
        return count_halfwidth(question, plan, aggregate);
    default:
        return std::numeric_limits<double>::quiet_NaN();
    }
}

} // namespace dp::release
