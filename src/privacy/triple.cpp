#include "privacy/triple.hpp"

#include <algorithm>
#include <cmath>

#include "privacy/numbers.hpp"
#include "privacy/pair_release.hpp"

namespace dp::privacy {

namespace {

constexpr double one = static_cast<double>(pair_one);
constexpr double beta = 0.05;

PartSums<double> sums_of(const Triple &triple) {
    return {static_cast<double>(triple.squares) / one, static_cast<double>(triple.middle) / one,
            static_cast<double>(triple.rest) / one};
}

// Returns the variance or deviation of w, from the variance of the population and the count that a sample's is corrected by.
template <class Real> Real from_variance(Aggregate fn, Real variance, Real count) {
    const Real v = is_sample(fn) ? variance * of_sample_factor(count) : variance;
    return is_deviation(fn) ? std::sqrt(v) : v;
}

template <class Real> Real variance_of(const PartSums<Real> &sums) {
    const Real c = std::max<Real>(1, sums.count()), mean = std::clamp<Real>((sums.squares + sums.middle / 2) / c, 0, 1);
    return std::clamp<Real>(sums.squares / c - mean * mean, 0, 0.25);
}

// From w to values.
double scaled(Aggregate fn, double spread, const Bounds &bounds) {
    const double half = 0.5 * bounds.high - 0.5 * bounds.low;
    return finite(is_deviation(fn) ? 2 * half * spread : 2 * half * (2 * half * spread));
}

// (x -+ h) / c, c between low and high, both above 0.
Interval quotient(double x, double h, double low, double high) {
    const double a = x - h, b = x + h;
    return {a / (a < 0 ? low : high), b / (b < 0 ? high : low)};
}

} // namespace

// The parts of a half unit go to the second: its sum with the first stays.
Halves halves_of(const Triple &triple) {
    const int128 half = triple.middle / 2;
    return {saturating_add(triple.squares, half), saturating_add(triple.rest, triple.middle - half)};
}

double spread_of(Aggregate fn, const Triple &triple, const Bounds &bounds) {
    const PartSums<double> sums = sums_of(triple);
    return scaled(fn, from_variance(fn, variance_of(sums), sums.count()), bounds);
}

// Bonferroni: each sum gets beta / 3, so the count is off by 3 h at most, and the numerator of the mean by 1.5 h.
Interval spread_interval(Aggregate fn, const Triple &triple, const Bounds &bounds, const MeasureNoise &noise) {
    const PartSums<double> sums = sums_of(triple);
    const double h = noise.halfwidth(beta / 3) / one;
    const double low = std::max(1.0, sums.count() - 3 * h), high = std::max(1.0, sums.count() + 3 * h);
    const Interval square = quotient(sums.squares, h, low, high);
    Interval mean = quotient(sums.squares + 0.5 * sums.middle, 1.5 * h, low, high);
    mean = {std::clamp<double>(mean.lower, 0, 1), std::clamp<double>(mean.upper, 0, 1)};
    const double least = std::clamp<double>(square.lower - mean.upper * mean.upper, 0, 0.25);
    const double most = std::clamp<double>(square.upper - mean.lower * mean.lower, 0, 0.25);
    return {scaled(fn, from_variance(fn, least, high), bounds), scaled(fn, from_variance(fn, most, low), bounds)};
}

double part_stddev(MeasureKind kind, Aggregate fn, const MeasureNoise &noise, const Bounds &bounds) {
    const bool triple = kind == MeasureKind::triple;
    const double of_each = noise.stddev() / one;
    return fn == Aggregate::sum
               ? of_each * std::hypot(bounds.low, bounds.high, triple ? 0.5 * (bounds.low + bounds.high) : 0)
               : of_each * std::sqrt(triple ? 3.0 : 2.0);
}

double part_halfwidth(MeasureKind kind, Aggregate fn, const MeasureNoise &noise, const Bounds &bounds) {
    const bool sum = fn == Aggregate::sum;
    if (kind == MeasureKind::pair)
        return sum ? pair_sum_halfwidth(noise, bounds) : pair_count_halfwidth(noise);
    const double h = noise.halfwidth(beta / 3) / one;
    return sum ? finite(1.5 * h * (std::fabs(bounds.low) + std::fabs(bounds.high))) : std::floor(3 * h + 0.5);
}

Interval triple_avg_interval(const Triple &triple, const Bounds &bounds, const MeasureNoise &noise) {
    const Halves halves = halves_of(triple);
    return pair_avg_interval(halves.s1, halves.s0, bounds, 1.5 * noise.halfwidth(beta / 3));
}

Halves released_halves(MeasureKind kind, const int128 *noisy) {
    return kind == MeasureKind::triple ? halves_of({noisy[0], noisy[1], noisy[2]}) : Halves{noisy[0], noisy[1]};
}

double printed_number(MeasureKind kind, Aggregate fn, const int128 *noisy, const Bounds &bounds) {
    if (is_spread(fn))
        return spread_of(fn, {noisy[0], noisy[1], noisy[2]}, bounds);
    const Halves halves = released_halves(kind, noisy);
    return release_pair(halves.s1, halves.s0, bounds).avg;
}

Interval printed_interval(MeasureKind kind, Aggregate fn, const int128 *noisy, const Bounds &bounds,
                          const MeasureNoise &noise) {
    if (kind == MeasureKind::pair)
        return pair_avg_interval(noisy[0], noisy[1], bounds, noise);
    const Triple triple{noisy[0], noisy[1], noisy[2]};
    return is_spread(fn) ? spread_interval(fn, triple, bounds, noise) : triple_avg_interval(triple, bounds, noise);
}

// ---- for the controller --------------------------------------------------------------------------------------------

double spread_unit(Aggregate fn, const Bounds &bounds) {
    const double half = 0.5 * bounds.high - 0.5 * bounds.low;
    return is_deviation(fn) ? half : finite(half * half);
}

double largest_spread_change(Aggregate fn) {
    switch (fn) {
    case Aggregate::var_samp:
        return 2;
    case Aggregate::stddev_samp:
        return std::sqrt(2.0);
    default:
        return 1;
    }
}

template <class Real> Real scaled_part(Aggregate fn, const PartSums<Real> &sums, const Bounds &bounds) {
    const Real c = sums.count(), s1 = sums.squares + sums.middle / 2, s0 = sums.rest + sums.middle / 2;
    switch (fn) {
    case Aggregate::sum: {
        const Real largest = std::max(std::fabs(bounds.low), std::fabs(bounds.high));
        return bounds.high / largest * s1 + bounds.low / largest * s0;
    }
    case Aggregate::avg:
        return std::clamp<Real>(sums.difference() / std::max<Real>(1, c), -1, 1);
    case Aggregate::count:
    case Aggregate::count_star:
        return std::round(c);
    default: // w is half of a position
        return from_variance(fn, variance_of(sums), c) * (is_deviation(fn) ? 2 : 4) / static_cast<Real>(largest_spread_change(fn));
    }
}

template double scaled_part(Aggregate, const PartSums<double> &, const Bounds &);
template long double scaled_part(Aggregate, const PartSums<long double> &, const Bounds &);

} // namespace dp::privacy
