#include "release/answer_interval.hpp"

#include <cmath>

#include "privacy/joint.hpp"
#include "privacy/pair_release.hpp"
#include "privacy/scaled_numbers.hpp"
#include "privacy/triple.hpp"
#include "release/accuracy.hpp"
#include "release/convert.hpp"

namespace dp::release {

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

static privacy::MeasureKind kind_of(const Released &released) {
    return (*released.question->measures)[released.question->measure_of[released.aggregate]].kind;
}

static Datum pair_sum_end(const Released &released, Oid type, int decimals, Direction direction) {
    if (type == NUMERICOID && decimals >= 0)
        return printed_end(released.value, released.error95, decimals, direction);
    const privacy::Bounds &bounds = *released.question->bounds[released.question->measure_of[released.aggregate]];
    double sum = border::core([&] {
        const privacy::Halves halves = privacy::released_halves(kind_of(released), released.noisy);
        return privacy::release_pair(halves.s1, halves.s0, bounds).sum;
    });
    double end = direction == Direction::down ? sum - released.error95 : sum + released.error95;
    Datum result = real_end(type, end, decimals, direction);
    return type == NUMERICOID ? not_beyond(result, released.value, direction) : result;
}

static Datum pair_avg_end(const Released &released, Oid type, int decimals, Direction direction) {
    const privacy::Bounds *bounds = released.question->bounds[released.question->measure_of[released.aggregate]];
    privacy::Interval interval = border::core([&] {
        return privacy::printed_interval(kind_of(released), privacy::Aggregate::avg, released.noisy, *bounds,
                                         *released.noise);
    });
    double end = direction == Direction::down ? interval.lower : interval.upper;
    Datum result = avg_end(type, end, average_decimals(decimals), bounds, direction);
    return type == NUMERICOID ? not_beyond(result, released.value, direction) : result;
}

static Datum pair_count_end(const Released &released, Direction direction) {
    const privacy::Bounds &bounds = *released.question->bounds[released.question->measure_of[released.aggregate]];
    privacy::int128 count = border::core([&] {
        const privacy::Halves halves = privacy::released_halves(kind_of(released), released.noisy);
        return privacy::release_pair(halves.s1, halves.s0, bounds).count;
    });
    return count_result(moved(count, released.error95, direction), 0);
}

// Never below 0.
static Datum spread_end(const Released &released, Oid type, Direction direction) {
    const rows::Question *question = released.question;
    const privacy::Bounds &bounds = *question->bounds[question->measure_of[released.aggregate]];
    privacy::Aggregate fn = question->leaf->aggregates[released.aggregate].fn;
    privacy::Interval interval = border::core([&] {
        return privacy::printed_interval(privacy::MeasureKind::triple, fn, released.noisy, bounds, *released.noise);
    });
    if (direction == Direction::down && interval.lower <= 0)
        return real_sum_result(type, 0);
    Datum result = real_end(type, direction == Direction::down ? interval.lower : interval.upper, -1, direction);
    return type == NUMERICOID ? not_beyond(result, released.value, direction) : result;
}

static Datum pair_end(const Released &released, Oid type, int decimals, Direction direction) {
    if (privacy::is_spread(released.question->leaf->aggregates[released.aggregate].fn))
        return spread_end(released, type, direction);
    switch (released.question->leaf->aggregates[released.aggregate].fn) {
    case privacy::Aggregate::sum:
        return pair_sum_end(released, type, decimals, direction);
    case privacy::Aggregate::avg:
        return pair_avg_end(released, type, decimals, direction);
    default:
        return pair_count_end(released, direction);
    }
}

static Datum joint_end(const Released &released, Direction direction) {
    const rows::Question *question = released.question;
    const int j = question->measure_of[released.aggregate];
    const privacy::Aggregate fn = question->leaf->aggregates[released.aggregate].fn;
    const privacy::Interval interval = border::core([&] {
        return privacy::joint_interval(fn, privacy::joint_sums(kind_of(released), released.noisy),
                                       {*question->bounds[j], *question->second_bounds[j]}, *released.noise);
    });
    return Float8GetDatum(direction == Direction::down ? interval.lower : interval.upper);
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
        return joint_end(released, direction);
    case privacy::MeasureKind::quantile: // refused when the leaf is checked (query/grammar)
        break;
    }
    elog(ERROR, "an aggregate has no interval");
}

} // namespace dp::release
