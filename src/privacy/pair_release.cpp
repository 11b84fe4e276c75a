#include "privacy/pair_release.hpp"

#include <algorithm>
#include <cmath>

#include "privacy/numbers.hpp"

namespace dp::privacy {

namespace {

constexpr double one = static_cast<double>(pair_one);

int128 saturating_subtract(int128 a, int128 b) {
    return saturating_add(a, b < -largest_int128 ? largest_int128 : -b);
}

// n units of 2^-30 to the nearest integer, half away from zero.
int128 to_integer(int128 n) {
    const int128 magnitude = n < 0 ? saturating_subtract(0, n) : n;
    const int128 rounded = saturating_add(magnitude, pair_one / 2) / pair_one;
    return n < 0 ? -rounded : rounded;
}

// u s1 + l s0. Bounds near 2^1000 times a big sum could overflow on the way to a finite result (or to inf - inf).
double combined(double u, double s1, double l, double s0) {
    const int shift = std::max(std::fabs(u), std::fabs(l)) > 0x1p500 ? 200 : 0;
    return finite(std::ldexp(std::ldexp(u, -shift) * s1 + std::ldexp(l, -shift) * s0, shift));
}

// Where the pair puts the mean: position on [-1, 1] between the bounds, and the same for a distance of h units.
struct PairPosition {
    double center, halfwidth;
};
PairPosition pair_position(int128 s1, int128 s0, double h) {
    const double count = std::max(1.0, static_cast<double>(saturating_add(s1, s0)) / one);
    return {static_cast<double>(saturating_subtract(s1, s0)) / one / count, 2 * h / one / count};
}
double at_position(const Bounds &bounds, double position) {
    if (std::fabs(position) >= 1) // the bounds as they are, which the sum below may miss
        return position < 0 ? bounds.low : bounds.high;
    const double middle = 0.5 * bounds.low + 0.5 * bounds.high, half_range = 0.5 * bounds.high - 0.5 * bounds.low;
    const double value = middle + half_range * position;
    return std::min(std::max(value, bounds.low), bounds.high);
}

// P(|Z1 + r Z0| > t) for two Laplace variables of scale 1, 0 <= r <= 1.
double two_laplace_tail(double r, double t) {
    if (r == 1)
        return (1 + 0.5 * t) * std::exp(-t);
    if (r == 0)
        return std::exp(-t);
    const double log_square = 2 * std::log1p(r - 1); // both differences below vanish at r = 1
    return std::exp(-t) * std::expm1(log_square - t * (1 - r) / r) / std::expm1(log_square);
}

constexpr double beta = 0.05;

// t with P(|u Z1 + l Z0| > t) = beta, Z scaled to sensitivity 1; no rounding.
double combined_halfwidth(const MeasureNoise &noise, double u, double l) {
    const double a = std::max(std::fabs(u), std::fabs(l)), c = std::min(std::fabs(u), std::fabs(l));
    if (noise.mechanism == Mechanism::gaussian)
        return finite(normal_upper_quantile(beta / 2) * (noise.gaussian.sigma() / one) * std::hypot(u, l));
    const double high = halved(0, 64, 100, [&](double t) { return two_laplace_tail(c / a, t) > beta; }).high;
    return finite(high * (noise.laplace.value() / one) * a);
}

} // namespace

PairRelease release_pair(int128 s1, int128 s0, const Bounds &bounds) {
    const int128 total = saturating_add(s1, s0);
    PairRelease release;
    release.count = to_integer(total);
    release.count_exact = static_cast<double>(total) / one;
    release.sum = combined(bounds.high, static_cast<double>(s1) / one, bounds.low, static_cast<double>(s0) / one);
    release.avg = at_position(bounds, pair_position(s1, s0, 0).center);
    return release;
}

// Bonferroni: each half gets beta / 2. For c >= 1 the corners (s1 + h, s0 - h) have the same sum.
Interval pair_avg_interval(int128 s1, int128 s0, const Bounds &bounds, const MeasureNoise &noise) {
    return pair_avg_interval(s1, s0, bounds, noise.halfwidth(beta / 2));
}

Interval pair_avg_interval(int128 s1, int128 s0, const Bounds &bounds, double h) {
    const PairPosition p = pair_position(s1, s0, h);
    return {at_position(bounds, p.center - p.halfwidth), at_position(bounds, p.center + p.halfwidth)};
}

double pair_count_halfwidth(const MeasureNoise &noise) {
    return std::floor(combined_halfwidth(noise, 1, 1) + 0.5);
}

double pair_sum_halfwidth(const MeasureNoise &noise, const Bounds &bounds) {
    return combined_halfwidth(noise, bounds.high, bounds.low);
}

int unit_exponent(const Measure &measure, const Bounds *bounds) {
    if (bounds != nullptr)
        return bounds->exponent;
    int exponent = 0;
    for (std::uint64_t grain = measure.grain; grain > 1; grain >>= 1)
        --exponent;
    return exponent;
}

double unit_of(const Measure &measure, const Bounds *bounds) {
    return std::ldexp(1, unit_exponent(measure, bounds));
}

double measure_halfwidth(const MeasureNoise &noise, const Measure &measure, const Bounds *bounds) {
    return finite(noise.halfwidth(beta) * unit_of(measure, bounds));
}

} // namespace dp::privacy
