#include "privacy/lattice.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "privacy/exact.hpp"
#include "privacy/numbers.hpp"

namespace dp::privacy {

namespace {

using exact::cpp_int;
using exact::Ratio;

constexpr int largest_exponent = 1000;       // |L|, |U| <= 2^1000
constexpr int smallest_exponent = -900;      // M >= 2^-900
constexpr int lattice_bits = 30;             // M is at most 2^30 units
constexpr int integer_lattice_bits = 40;     // integers keep the unit 1 up to here
constexpr std::size_t longest_quotation = 40; // of a number in a message

cpp_int magnitude(const Ratio &x) { return x.numerator < 0 ? cpp_int(-x.numerator) : x.numerator; }

std::string quoted(const std::string &text) {
    return text.size() <= longest_quotation ? text : text.substr(0, longest_quotation) + "...";
}

// Also guards the arithmetic: no power of ten is formed for a number that is out of range anyway.
Ratio parse_bound(const std::string &text, const char *which) {
    const std::optional<exact::Scanned> scanned = exact::scan(text);
    if (!scanned)
        throw InvalidParameter(std::string(which) + " bound must be a finite number, not \"" + quoted(text) + "\"");
    const long top = static_cast<long>(scanned->digits.size()) + scanned->exponent;
    if (!scanned->digits.empty() && top > 302) // 10^302 > 2^1000
        throw InvalidParameter(std::string(which) + " bound " + quoted(text) + " is too large: at most 2^1000 (about 1e301) is allowed");
    if (!scanned->digits.empty() && top < -20000) // below what numeric can hold
        throw InvalidParameter(std::string(which) + " bound " + quoted(text) + " has too many decimals");
    return exact::ratio_of(*scanned);
}

// 2^exponent
Ratio power_of_two(int exponent) {
    Ratio x;
    x.numerator = 1;
    if (exponent >= 0)
        x.numerator <<= static_cast<unsigned>(exponent);
    else
        x.denominator <<= static_cast<unsigned>(-exponent);
    return x;
}

// Smallest c with x <= 2^c, x > 0.
int log2_up(const Ratio &x) {
    int c = static_cast<int>(msb(x.numerator)) - static_cast<int>(msb(x.denominator)) - 1;
    while (power_of_two(c) < x)
        ++c;
    return c;
}

// x / 2^exponent to the nearest integer, half away from zero.
cpp_int rounded(const Ratio &x, int exponent) {
    cpp_int n = magnitude(x), d = x.denominator;
    if (exponent >= 0)
        d <<= static_cast<unsigned>(exponent);
    else
        n <<= static_cast<unsigned>(-exponent);
    const cpp_int nearest = (2 * n + d) / (2 * d);
    return x.numerator < 0 ? cpp_int(-nearest) : nearest;
}

bool is_integer(const Ratio &x) { return x.numerator % x.denominator == 0; }

void check_bounds(const Bounds &b, const Ratio &lower, const Ratio &upper, const Ratio &largest) {
    if (!(lower < upper))
        throw InvalidParameter("lower bound " + quoted(b.lower) + " must be less than upper bound " + quoted(b.upper));
    if (power_of_two(largest_exponent) < largest)
        throw InvalidParameter("bounds " + quoted(b.lower) + " and " + quoted(b.upper) +
                               " are too large: at most 2^1000 (about 1e301) is allowed");
    if (largest < power_of_two(smallest_exponent))
        throw InvalidParameter("bounds " + quoted(b.lower) + " and " + quoted(b.upper) +
                               " are too small: one of them must be at least 2^-900 (about 1e-271) in magnitude");
}

} // namespace

std::uint64_t Bounds::sensitivity() const {
    const std::int64_t largest = std::max(z_lower < 0 ? -z_lower : z_lower, z_upper < 0 ? -z_upper : z_upper);
    return static_cast<std::uint64_t>(std::max<std::int64_t>(1, largest));
}

Bounds make_bounds(const std::string &lower, const std::string &upper, bool integer_type) {
    Bounds b;
    b.lower = lower;
    b.upper = upper;
    b.integer_type = integer_type;
    const Ratio l = parse_bound(lower, "lower"), u = parse_bound(upper, "upper");
    const Ratio magnitude_l{magnitude(l), l.denominator}, magnitude_u{magnitude(u), u.denominator};
    const Ratio &largest = magnitude_l < magnitude_u ? magnitude_u : magnitude_l;
    check_bounds(b, l, u, largest);
    b.low = std::strtod(lower.c_str(), nullptr);
    b.high = std::strtod(upper.c_str(), nullptr);
    const int top = log2_up(largest);
    const bool keeps_integers = integer_type && is_integer(l) && is_integer(u) && top <= integer_lattice_bits;
    b.exponent = keeps_integers ? 0 : top - lattice_bits;
    b.z_lower = rounded(l, b.exponent).convert_to<std::int64_t>();
    b.z_upper = rounded(u, b.exponent).convert_to<std::int64_t>();
    return b;
}

std::uint64_t points_up(const std::string &number, int exponent) {
    const Ratio x = parse_bound(number, "total");
    cpp_int n = x.numerator, d = x.denominator;
    if (exponent >= 0)
        d <<= static_cast<unsigned>(exponent);
    else
        n <<= static_cast<unsigned>(-exponent);
    const cpp_int points = (n + d - 1) / d;
    return points < 1 ? 1 : points > largest_sensitivity ? largest_sensitivity : points.convert_to<std::uint64_t>();
}

std::string exact_text(double x) {
    char text[1500];
    std::snprintf(text, sizeof text, "%.1074f", x);
    std::string digits = text;
    digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.back() == '.')
        digits.pop_back();
    return digits;
}

SumLattice sum_lattice(const Bounds &bounds) {
    return {std::ldexp(1.0, -bounds.exponent), bounds.z_lower, bounds.z_upper};
}

PairLattice pair_lattice(const Bounds &bounds) { return {bounds.low, bounds.high - bounds.low}; }

} // namespace dp::privacy
