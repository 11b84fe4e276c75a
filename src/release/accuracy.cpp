#include "release/accuracy.hpp"

#include <cmath>
#include <limits>

#include "privacy/joint.hpp"
#include "privacy/pair_release.hpp"
#include "privacy/quantile.hpp"
#include "privacy/running_mean.hpp"
#include "privacy/scaled_numbers.hpp"
#include "privacy/triple.hpp"

#include "release/convert.hpp"

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
    const privacy::MeasureKind kind = (*question->measures)[j].kind;
    return (privacy::is_joint(kind) ? privacy::joint_count_halfwidth(kind, plan.noise[j])
                                    : privacy::part_halfwidth(kind, privacy::Aggregate::count, plan.noise[j],
                                                              *question->bounds[j])) +
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
        return std::numeric_limits<double>::quiet_NaN(); // of its rank alone
    if (!(*question->measures)[j].has_parts())
        return printed_halfwidth(
            question, aggregate,
            privacy::measure_halfwidth(plan.noise[j], (*question->measures)[j], question->bounds[j]));
    switch (question->leaf->aggregates[aggregate].fn) {
    case privacy::Aggregate::sum:
        return printed_halfwidth(question, aggregate,
                                 privacy::part_halfwidth((*question->measures)[j].kind, privacy::Aggregate::sum, plan.noise[j],
                                                         *question->bounds[j]));
    case privacy::Aggregate::count:
        return count_halfwidth(question, plan, aggregate);
    default:
        return std::numeric_limits<double>::quiet_NaN();
    }
}

double rank_halfwidth(const rows::Question *question, const privacy::ReleasePlan &plan) {
    double worst = 0;
    for (int j = 0; j < question->nmeasures; j++) {
        const privacy::Measure &measure = (*question->measures)[j];
        if (measure.kind != privacy::MeasureKind::quantile)
            continue;
        const int cells = question->grids[j]->cells;
        double error = privacy::rank_error95(cells, measure.fraction, plan.noise[j]);
        if (measure.fraction == 0 || measure.fraction == privacy::fraction_one)
            error += static_cast<double>(privacy::rank_margin(cells, plan.noise[j]));
        worst = std::max(worst, error / static_cast<double>(measure.grain));
    }
    return worst;
}

const char *rank_text(double halfwidth) {
    return halfwidth > 0 ? psprintf("the rank of min, max and percentiles is off by less than %.0f rows (95 %%)", std::ceil(halfwidth))
                         : nullptr;
}

double *halfwidths(const rows::Question *question, const privacy::ReleasePlan &plan) {
    return width_of_each(question->leaf, [&](int aggregate) { return halfwidth(question, plan, aggregate); });
}

using privacy::Direction;

static privacy::int128 moved(privacy::int128 noisy, double h, Direction direction) {
    return direction == Direction::down ? privacy::moved_down(noisy, h) : privacy::moved_up(noisy, h);
}

// A half-width in units of 2^exponent. What was cut to the largest double is taken for more than any number.
static double in_units(double error95, int exponent) {
    return error95 < std::numeric_limits<double>::max() ? std::ldexp(error95, -exponent) : HUGE_VAL;
}

static Datum count_end(const Released &released, Direction direction) {
    double h = in_units(released.error95, released.exponent);
    return count_result(moved(*released.noisy, h, direction), released.exponent, direction);
}

static Datum sum_end(const Released &released, Oid type, int decimals, Direction direction) {
    if (type == NUMERICOID && decimals >= 0)
        return printed_end(released.value, released.error95, decimals, direction);
    double h = in_units(released.error95, released.exponent);
    return sum_result(type, moved(*released.noisy, h, direction), released.exponent, direction);
}

// The rounding of 15 digits, of the value to the nearest and of its interval outwards, is not of the same place at a power of ten.
static Datum not_beyond(Datum end, Datum value, Direction direction) {
    return direction == Direction::down ? DirectFunctionCall2(numeric_smaller, end, value)
                                        : DirectFunctionCall2(numeric_larger, end, value);
}

privacy::PairRelease released_pair(const rows::Question *question, int aggregate, const privacy::int128 *noisy) {
    const int j = question->measure_of[aggregate];
    return border::core([&] {
        const privacy::Halves halves = privacy::released_halves((*question->measures)[j].kind, noisy);
        return privacy::release_pair(halves.s1, halves.s0, *question->bounds[j]);
    });
}

double real_number(const rows::Question *question, int aggregate, const privacy::int128 *noisy) {
    const int j = question->measure_of[aggregate];
    const privacy::MeasureKind kind = (*question->measures)[j].kind;
    const privacy::Aggregate fn = question->leaf->aggregates[aggregate].fn;
    return border::core([&] {
        return privacy::is_joint(fn) ? privacy::joint_number(fn, privacy::joint_sums(kind, noisy),
                                                             {*question->bounds[j], *question->second_bounds[j]})
                                     : privacy::printed_number(kind, fn, noisy, *question->bounds[j]);
    });
}

privacy::Interval real_interval(const rows::Question *question, int aggregate, const privacy::int128 *noisy,
                                const privacy::MeasureNoise &noise) {
    const int j = question->measure_of[aggregate];
    const privacy::MeasureKind kind = (*question->measures)[j].kind;
    const privacy::Aggregate fn = question->leaf->aggregates[aggregate].fn;
    return border::core([&] {
        return privacy::is_joint(fn)
                   ? privacy::joint_interval(fn, privacy::joint_sums(kind, noisy),
                                             {*question->bounds[j], *question->second_bounds[j]}, noise)
                   : privacy::printed_interval(kind, fn, noisy, *question->bounds[j], noise);
    });
}

static double real_end_of(const Released &released, Direction direction) {
    const privacy::Interval interval =
        real_interval(released.question, released.aggregate, released.noisy, *released.noise);
    return direction == Direction::down ? interval.lower : interval.upper;
}

static Datum pair_end(const Released &released, Oid type, int decimals, Direction direction) {
    const rows::Question *question = released.question;
    const privacy::Aggregate fn = question->leaf->aggregates[released.aggregate].fn;
    const privacy::Bounds *bounds = question->bounds[question->measure_of[released.aggregate]];
    const bool real = fn == privacy::Aggregate::avg || privacy::is_spread(fn);
    if (fn == privacy::Aggregate::sum && type == NUMERICOID && decimals >= 0)
        return printed_end(released.value, released.error95, decimals, direction);
    if (fn != privacy::Aggregate::sum && !real)
        return count_result(
            moved(released_pair(question, released.aggregate, released.noisy).count, released.error95, direction), 0);
    const double width = direction == Direction::down ? -released.error95 : released.error95;
    const double end = real ? real_end_of(released, direction)
                            : released_pair(question, released.aggregate, released.noisy).sum + width;
    if (privacy::is_spread(fn) && direction == Direction::down && end <= 0) // never below 0
        return real_sum_result(type, 0);
    const Datum result = fn == privacy::Aggregate::avg
                             ? avg_end(type, end, average_decimals(decimals), bounds, direction)
                             : real_end(type, end, real ? -1 : decimals, direction);
    return type == NUMERICOID ? not_beyond(result, released.value, direction) : result;
}

Datum interval_end(const Released &released, query::Part part) {
    const rows::Question *question = released.question;
    Direction direction = part == query::Part::low ? Direction::down : Direction::up;
    Oid type = question->leaf->aggregates[released.aggregate].result_type;
    int decimals = question->decimals[released.aggregate];
    switch ((*question->measures)[question->measure_of[released.aggregate]].kind) {
    case privacy::MeasureKind::count:
        return count_end(released, direction);
    case privacy::MeasureKind::sum:
        return sum_end(released, type, decimals, direction);
    case privacy::MeasureKind::pair:
    case privacy::MeasureKind::triple:
        return pair_end(released, type, decimals, direction);
    case privacy::MeasureKind::products:
    case privacy::MeasureKind::moments:
        return Float8GetDatum(real_end_of(released, direction));
    case privacy::MeasureKind::quantile: // refused when the leaf is checked (query/grammar)
        break;
    }
    elog(ERROR, "an aggregate has no interval");
}

} // namespace dp::release
