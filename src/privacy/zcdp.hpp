// Zero-concentrated differential privacy in exact decimals, each rounded to the safe side: what a total in rho is decided on
// (formulas.md 5.3, 5.4). The conversions in doubles beside them (mechanism.hpp) calibrate noise, and decide nothing.
#pragma once

#include <string>

#include "privacy/decimal.hpp"

namespace dp::privacy {

// Which conversion of rho to (epsilon, delta) a cap is made of: of all orders, or the one of Bun and Steinke.
enum class Cap { tight, classic };

// Returns epsilon tanh(epsilon/2m), rounded up: of m independent parts, each epsilon/m-DP. 0 <= epsilon <= 100.
Rho rho_of_pure(Epsilon epsilon, std::size_t parts = 1);

// The largest rho that is (epsilon, delta)-DP, rounded down; 0 for epsilon 0, which allows nothing. 0 < delta < 1.
Rho rho_cap(Epsilon epsilon, Delta delta, Cap cap);

// The smallest epsilon that rho is (epsilon, delta)-DP at, by the tight conversion, rounded up; 0 for rho 0.
Epsilon eps_from_rho(Rho rho, Delta delta);

// Returns what the loss stays below at all times at once, but for an event of probability delta, after charges that add up to rho.
// It is the smaller of two bounds, each at half of delta, rounded up. target > 0 is fixed in advance: near it the linear bound is
// good, the mixture over a wide range.
Epsilon eps_anytime(Rho rho, Delta delta, Rho target);
// Returns the same in doubles, for numbers that nothing is decided on. All above 0.
double eps_anytime(double rho, double delta, double target);

// Names used in SQL: "tight", "classic".
std::optional<Cap> cap_from_name(const std::string &name);
const char *name_of(Cap cap);

} // namespace dp::privacy
