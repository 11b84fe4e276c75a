// Values to integers (formulas.md 8.2): every value is rounded to a lattice fixed by public bounds, then clamped as an
// integer, then summed in 128 bits. Sums do not depend on the order of rows or on parallel plans.
#pragma once

#include <cmath>
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

    std::uint64_t sensitivity() const; // Dz = max(|zL|, |zU|), at least 1
};

// Errors: InvalidParameter unless L < U, both finite, |L|,|U| <= 2^1000, max(|L|,|U|) >= 2^-900.
// integer_type: the column is smallint, integer or bigint (unit 1 when the bounds are integers and M <= 2^40).
Bounds make_bounds(const std::string &lower, const std::string &upper, bool integer_type);

// D of any measure, in lattice units: of 2^20 rows of a unit, 2^30 each.
constexpr std::uint64_t largest_sensitivity = std::uint64_t{1} << 50;

// A positive number in units of 2^exponent, rounded up; at most largest_sensitivity. Errors: those of a bound.
std::uint64_t points_up(const std::string &number, int exponent);

// Every digit of a number, in decimals without an exponent: a finite double has some 1,074 of them at most behind the point.
std::string exact_text(double x);

// The constants of a per-row conversion, small enough to be passed as arguments of an aggregate.
struct SumLattice {
    double scale = 1; // 1/g, a power of two (exact)
    std::int64_t z_lower = 0, z_upper = 0;
};
struct PairLattice {
    double lower = 0, range = 1; // w = (v - lower) / range
};
SumLattice sum_lattice(const Bounds &bounds);
PairLattice pair_lattice(const Bounds &bounds);

constexpr std::int64_t pair_one = std::int64_t{1} << 30; // 1 = 2^30 units of w

// Once per row, hence here. The clamp on the integer comes last in each: the sensitivity holds whatever the conversion
// before it did.

inline std::int64_t clamp(std::int64_t z, std::int64_t low, std::int64_t high) {
    return z < low ? low : z > high ? high : z;
}

// To the nearest integer, half away from zero, as std::round does (a call of the library, where the compiler may not assume
// newer processors): what truncation leaves is exact. Beyond +-2^62 (and for a NaN, which nobody sends) some integer.
inline std::int64_t to_integer(double x) {
    constexpr double limit = 4611686018427387904.0;
    if (!(x < limit))
        return std::int64_t{1} << 62;
    if (x <= -limit)
        return -(std::int64_t{1} << 62);
    const auto z = static_cast<std::int64_t>(x);
    const double rest = x - static_cast<double>(z);
    return z + static_cast<int>(rest >= 0.5) - static_cast<int>(rest <= -0.5);
}

// One value -> lattice point in [zL, zU]; NaN -> no value (contributes to nothing); infinities go to the bounds.
inline std::optional<std::int64_t> to_sum_point(const SumLattice &lattice, double v) {
    if (std::isnan(v))
        return std::nullopt;
    return clamp(to_integer(v * lattice.scale), lattice.z_lower, lattice.z_upper);
}

// An integer where the unit is 1: exact.
inline std::int64_t to_sum_point_whole(const SumLattice &lattice, std::int64_t v) {
    return clamp(v, lattice.z_lower, lattice.z_upper);
}
inline std::int64_t to_sum_point_integer(const SumLattice &lattice, std::int64_t v) {
    return to_sum_point_whole(lattice, lattice.scale == 1 ? v : to_integer(static_cast<double>(v) * lattice.scale));
}

// z1 of the AVG pair in [0, 2^30]; z0 = 2^30 - z1.
inline std::optional<std::int64_t> to_pair_point(const PairLattice &lattice, double v) {
    if (std::isnan(v))
        return std::nullopt;
    const double w = (v - lattice.lower) / lattice.range; // 0/0 if the bounds are the same double: any point will do
    return clamp(to_integer(w * static_cast<double>(pair_one)), 0, pair_one);
}

// The VAR triple of w and 1 - w: squares and rest; what is left to 2^30 is the third. None is below 0.
struct TriplePoint {
    std::int64_t squares = 0, rest = 0;
};
inline std::optional<TriplePoint> to_triple_point(const PairLattice &lattice, double v) {
    if (std::isnan(v))
        return std::nullopt;
    const double ratio = (v - lattice.lower) / lattice.range;
    const double w = !(ratio > 0) ? 0 : ratio < 1 ? ratio : 1, other = 1 - w;
    TriplePoint point;
    point.squares = clamp(to_integer(w * w * static_cast<double>(pair_one)), 0, pair_one);
    point.rest = clamp(to_integer(other * other * static_cast<double>(pair_one)), 0, pair_one - point.squares);
    return point;
}

} // namespace dp::privacy
