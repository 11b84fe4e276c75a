// Converts between rho and (epsilon, delta) at one Renyi order (formulas.md 5.3). Each order gives a valid bound, so the best one is
// searched for in doubles. Number: double for the search, digits of any length for the result.
#pragma once

#include <cmath>

namespace dp::privacy {

// Returns the order, less 1, at which a function of its logarithm is largest, or nearly so: a grid, then golden section. No useful
// order lies outside: epsilon from 10^-9 to 10^8, any delta.
template <class Function> double best_order(Function value) {
    constexpr double first = -32, last = 48, step = 0.125;
    double best = first, largest = value(first);
    for (double t = first + step; t <= last; t += step)
        if (const double here = value(t); here > largest) {
            best = t;
            largest = here;
        }
    const double ratio = 0.5 * (std::sqrt(5.0) - 1);
    double low = best - step, high = best + step;
    for (int i = 0; i < 40; ++i) {
        const double left = high - ratio * (high - low), right = low + ratio * (high - low);
        (value(left) >= value(right) ? high : low) = value(left) >= value(right) ? right : left;
    }
    return std::exp(0.5 * (low + high));
}

inline double log_1p(double x) {
    return std::log1p(x);
}
template <class Number> Number log_1p(const Number &x) {
    return log(Number(1 + x));
}

// Returns the rho that is (epsilon, delta)-DP by this order. order: less 1.
template <class Number> Number cap_at(const Number &order, const Number &epsilon, const Number &log_inverse_delta) {
    return (epsilon + log_1p(Number(1 / order)) - (log_inverse_delta - log_1p(order)) / order) / (1 + order);
}

// Returns the epsilon at which rho is (epsilon, delta)-DP by this order. order: less 1.
template <class Number> Number epsilon_at(const Number &order, const Number &rho, const Number &log_inverse_delta) {
    return (1 + order) * rho - log_1p(Number(1 / order)) + (log_inverse_delta - log_1p(order)) / order;
}

} // namespace dp::privacy
