// Defines small arithmetic that several files of this room need: results are finite and within range, whatever noise was drawn.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "privacy/decimal.hpp"

namespace dp::privacy {

constexpr double pi = 3.14159265358979323846;
constexpr int128 largest_int128 = static_cast<int128>(~uint128{0} >> 1);

// Cuts an infinity to the largest double; NaN becomes 0.
inline double finite(double x) {
    constexpr double largest = std::numeric_limits<double>::max();
    return std::isnan(x) ? 0 : std::clamp(x, -largest, largest);
}

// Returns the sum, or the largest or smallest integer where it would overflow.
inline int128 saturating_add(int128 a, int128 b) {
    int128 sum = 0;
    return !__builtin_add_overflow(a, b, &sum) ? sum : a < 0 ? -largest_int128 : largest_int128;
}

// Returns c/(c-1), which corrects the variance of a sample; counts below 2 are taken as 2.
template <class Real> Real of_sample_factor(Real count) {
    const Real c = std::max<Real>(2, count);
    return c / (c - 1);
}

// Halves an interval so many times, to the side of a number that `too_low` tells from smaller ones.
struct Bracket {
    double low, high;
};
template <class TooLow> Bracket halved(double low, double high, int times, TooLow too_low) {
    for (; times > 0; --times) {
        const double middle = 0.5 * (low + high);
        (too_low(middle) ? low : high) = middle;
    }
    return {low, high};
}

// Returns P(Z > x) and the density at x of a standard normal variable.
inline double normal_above(double x) {
    return 0.5 * std::erfc(x / std::sqrt(2.0));
}
inline double normal_density(double x) {
    return std::exp(-0.5 * x * x) / std::sqrt(2 * pi);
}

} // namespace dp::privacy
