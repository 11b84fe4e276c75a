// Values to integers (formulas.md 8.2): every value is rounded to a lattice fixed by public bounds, then clamped as an
// integer, then summed in 128 bits. Sums do not depend on the order of rows or on parallel plans.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "privacy/decimal.hpp"

namespace dp::privacy {

// Bad public input (bounds, tau, epsilon ...): what() is a message for the user, in lower case, without a full stop.
class InvalidParameter : public std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

// Exactly what one column's declared bounds mean. lower/upper are decimal texts as numeric_out prints them.
struct Bounds {
    std::string lower, upper; // exact, as declared
    double low = 0, high = 0; // nearest doubles
    int exponent = 0;         // unit g = 2^exponent
    std::int64_t z_lower = 0; // round(L/g), half away from zero
    std::int64_t z_upper = 0;
    bool integer_type = false;

    double unit() const;              // g
    std::uint64_t sensitivity() const; // Dz = max(|zL|, |zU|), at least 1
};

// Errors: InvalidParameter unless L < U, both finite, |L|,|U| <= 2^1000, max(|L|,|U|) >= 2^-900.
// integer_type: the column is smallint, integer or bigint (unit 1 when the bounds are integers and M <= 2^40).
Bounds make_bounds(const std::string &lower, const std::string &upper, bool integer_type);

// The constants of a per-row conversion, small enough to be passed as arguments of an aggregate.
struct SumLattice {
    double scale = 1;             // 1/g, a power of two (exact)
    std::int64_t z_lower = 0, z_upper = 0;
};
struct PairLattice {
    double lower = 0, range = 1; // w = (v - lower) / range
};
SumLattice sum_lattice(const Bounds &bounds);
PairLattice pair_lattice(const Bounds &bounds);

constexpr std::int64_t pair_one = std::int64_t{1} << 30; // 1 = 2^30 units of w

// One value -> lattice point in [zL, zU]; NaN -> no value (contributes to nothing); infinities go to the bounds.
// The integer overload is exact when the unit is 1.
std::optional<std::int64_t> to_sum_point(const SumLattice &lattice, double v);
std::int64_t to_sum_point_integer(const SumLattice &lattice, std::int64_t v);
// z1 of the AVG pair in [0, 2^30]; z0 = 2^30 - z1.
std::optional<std::int64_t> to_pair_point(const PairLattice &lattice, double v);

// Exact decimal text of n * 2^exponent, rounded (half away from zero) to the first decimal place that is not coarser
// than the unit 2^exponent; no exponent notation; integers when exponent >= 0.
std::string scaled_text(int128 n, int exponent);

} // namespace dp::privacy
