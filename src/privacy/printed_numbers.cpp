#include "privacy/printed_numbers.hpp"

#include <algorithm>
#include <cmath>

#include "privacy/joint.hpp"

namespace dp::privacy {

namespace {

using Parts = PartSums<long double>;

template <class Real = long double> PartSums<Real> parts_of(MeasureKind kind, const int128 *sums) {
    const auto at = [&](int c) { return static_cast<Real>(static_cast<long double>(sums[c]) / pair_one); };
    return kind == MeasureKind::pair ? PartSums<Real>{at(0), 0, at(1)} : PartSums<Real>{at(0), at(1), at(2)};
}

Parts minus(const Parts &a, const Parts &b) {
    return {a.squares - b.squares, a.middle - b.middle, a.rest - b.rest};
}

// (D - d)/(C - c) - D/C = (D c - d C)/(C (C - c)): what nearly cancels is taken off before anything is rounded.
long double change_of_position(const Parts &sums, const Parts &change, const Bounds &bounds) {
    const Parts without = minus(sums, change);
    if (!(without.count() >= 1))
        return scaled_part(Aggregate::avg, without, bounds) - scaled_part(Aggregate::avg, sums, bounds);
    return (sums.difference() * change.count() - change.difference() * sums.count()) /
           (sums.count() * without.count());
}

// Takes a change that rounding alone may have made for none.
double settled(long double change) {
    const auto size = static_cast<double>(std::fabs(change));
    return size < 0x1p-58 ? 0 : size;
}

double change_of_one_column(const PrintedNumber &number, const Parts &sums, const Parts &change) {
    const Bounds &bounds = *number.bounds;
    switch (number.fn) {
    case Aggregate::sum:
        return settled(scaled_part(number.fn, change, bounds));
    case Aggregate::avg:
        return settled(change_of_position(sums, change, bounds));
    case Aggregate::count:
    case Aggregate::count_star:
        return settled(change.count());
    default:
        return settled(scaled_part(number.fn, sums, bounds) - scaled_part(number.fn, minus(sums, change), bounds));
    }
}

JointBounds joint_bounds(const PrintedNumber &number) {
    return {*number.bounds, *number.second};
}

} // namespace

double sensitivity_of_row(const Measure &measure, const Bounds *bounds) {
    if (is_joint(measure.kind))
        return static_cast<double>(joint_sensitivity(measure.kind));
    return measure.has_parts() ? static_cast<double>(pair_one)
           : measure.kind == MeasureKind::sum ? static_cast<double>(bounds->sensitivity()) : 1;
}

PairTotals totals_of(MeasureKind kind, const int128 *sums) {
    const Parts parts = parts_of(kind, sums);
    return {static_cast<double>(parts.count()), static_cast<double>(parts.difference())};
}

double weight_of_rows(Aggregate fn, double rows) {
    switch (fn) {
    case Aggregate::count:
    case Aggregate::count_star:
    case Aggregate::sum:
        return 1 / rows;
    case Aggregate::avg:
        return (rows + 1) / (2 * rows);
    default:
        return 1;
    }
}

double change_of_number(const PrintedNumber &number, const int128 *sums, const int128 *change) {
    if (is_joint(number.kind)) {
        int128 without[most_coordinates] = {};
        for (int c = 0; c < coordinates_of(number.kind); ++c)
            without[c] = sums[c] - change[c];
        return settled(joint_change(number.fn, joint_sums(number.kind, sums), joint_sums(number.kind, without),
                                    joint_bounds(number)));
    }
    return weight_of_rows(number.fn, number.rows) *
           change_of_one_column(number, parts_of(number.kind, sums), parts_of(number.kind, change));
}

double offset_of_average(const PrintedNumber &number, const int128 *sums, const int128 *change) {
    return static_cast<double>(change_of_position(parts_of(number.kind, sums), parts_of(number.kind, change), *number.bounds));
}

double scaled_number(const PrintedNumber &number, const int128 *sums) {
    return is_joint(number.kind) ? joint_scaled(number.fn, joint_bounds(number), joint_sums(number.kind, sums))
                                 : scaled_part(number.fn, parts_of<double>(number.kind, sums), *number.bounds);
}

std::vector<double> points_of_number(const PrintedNumber &number, const MeasureNoise &noise, const int128 *sums, bool rough) {
    const std::vector<NoisePoint> &points = noise_points(noise.mechanism, rough);
    if (is_joint(number.kind))
        return joint_points(number.fn, noise, joint_bounds(number), joint_sums(number.kind, sums), points);
    const PartSums<double> exact = parts_of<double>(number.kind, sums);
    const double scale = scale_of_noise(noise) / static_cast<double>(pair_one);
    const bool pair = number.kind == MeasureKind::pair;
    std::vector<double> numbers;
    numbers.reserve(points.size());
    for (const NoisePoint &z : points)
        numbers.push_back(scaled_part<double>(number.fn,
                                              {exact.squares + scale * z[0], pair ? 0 : exact.middle + scale * z[1],
                                               exact.rest + scale * (pair ? z[1] : z[2])},
                                              *number.bounds));
    return numbers;
}

static std::vector<double> errors_of_number(const PrintedNumber &number, const MeasureNoise &noise, const int128 *sums,
                                            bool rough) {
    const double truth = scaled_number(number, sums), most = largest_distance(number.fn);
    std::vector<double> errors = points_of_number(number, noise, sums, rough);
    for (double &error : errors)
        error = std::min(std::fabs(error - truth), most);
    return errors;
}

double error_of_number(const PrintedNumber &number, const MeasureNoise &noise, const int128 *sums, bool rough) {
    const bool laplace = noise.mechanism == Mechanism::laplace;
    const double weight = weight_of_rows(number.fn, number.rows), factor = laplace ? weight : weight * weight;
    if (number.kind == MeasureKind::pair && !rough)
        return factor * printed_error(number.fn, noise, *number.bounds, totals_of(number.kind, sums));
    const std::vector<double> errors = errors_of_number(number, noise, sums, rough);
    double sum = 0;
    for (const double error : errors)
        sum += laplace ? error : error * error;
    return factor * sum / static_cast<double>(errors.size());
}

Distance distance_of_number(const PrintedNumber &number, const MeasureNoise &noise, const int128 *sums) {
    std::vector<double> errors = errors_of_number(number, noise, sums, false);
    return distance_of(errors);
}

double unit_of_number(const PrintedNumber &number) {
    if (is_joint(number.kind))
        return joint_unit(number.fn, joint_bounds(number));
    const double of_spread = is_spread(number.fn) ? spread_unit(number.fn, *number.bounds) : 1;
    return of_spread * largest_printed_change(number.fn, *number.bounds) / weight_of_rows(number.fn, number.rows);
}

double exact_number(const PrintedNumber &number, const int128 *sums) {
    if (is_joint(number.kind))
        return joint_number(number.fn, without_grains(joint_sums(number.kind, sums)), joint_bounds(number));
    const Halves halves = released_halves(number.kind, sums);
    switch (number.fn) {
    case Aggregate::count:
    case Aggregate::count_star:
        return release_pair(halves.s1, halves.s0, *number.bounds).count_exact;
    case Aggregate::sum:
        return release_pair(halves.s1, halves.s0, *number.bounds).sum;
    default:
        return printed_number(number.kind, number.fn, sums, *number.bounds);
    }
}

} // namespace dp::privacy
