#include "release/accuracy.hpp"

#include <cmath>
#include <limits>

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

// Exact and printed sum are multiples of the last decimal place, and so is their distance (8.7).
static double to_places(double width, int decimals) {
    double places = decimals < 0 ? 0 : std::pow(10, decimals), scaled = width * places;
    return places > 0 && scaled < 0x1p52 ? std::round(scaled) / places : width;
}

double printed_halfwidth(const rows::Question *question, int aggregate, double width) {
    return to_places(width, question->decimals[aggregate]);
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
        return to_places(privacy::measure_halfwidth(plan.noise[j], (*question->measures)[j], question->bounds[j]),
                         question->decimals[aggregate]);
    const bool triple = (*question->measures)[j].kind == privacy::MeasureKind::triple;
    const privacy::MeasureNoise &noise = plan.noise[j];
    const privacy::Bounds &bounds = *question->bounds[j];
    switch (question->leaf->aggregates[aggregate].fn) {
    case privacy::Aggregate::sum:
        return to_places(triple ? privacy::triple_sum_halfwidth(noise, bounds)
                                : privacy::pair_sum_halfwidth(noise, bounds),
                         question->decimals[aggregate]);
    case privacy::Aggregate::count:
        return triple ? privacy::triple_count_halfwidth(noise) : privacy::pair_count_halfwidth(noise);
    default:
        return std::numeric_limits<double>::quiet_NaN();
    }
}

} // namespace dp::release
