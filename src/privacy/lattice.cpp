#include "privacy/lattice.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "privacy/exact.hpp"
#include "privacy/numbers.hpp"

namespace dp::privacy {

namespace {

using exact::cpp_int;
using boost::multiprecision::cpp_rational;

constexpr int largest_exponent = 1000;       // |L|, |U| <= 2^1000
constexpr int smallest_exponent = -900;      // M >= 2^-900
constexpr int lattice_bits = 30;             // M is at most 2^30 units
constexpr int integer_lattice_bits = 40;     // integers keep the unit 1 up to here
constexpr std::size_t longest_quotation = 40; // of a number in a message

std::string quoted(const std::string &text) {
    return text.size() <= longest_quotation ? text : text.substr(0, longest_quotation) + "...";
}

// Also guards the arithmetic: no power of ten is formed for a number that is out of range anyway.
cpp_rational parse_bound(const std::string &text, const char *which) {
    const std::optional<exact::Scanned> scanned = exact::scan(text);
    if (!scanned)
        throw InvalidParameter(std::string(which) + " bound must be a finite number, not \"" + quoted(text) + "\"");
    const long top = static_cast<long>(scanned->digits.size()) + scanned->exponent;
    if (!scanned->digits.empty() && top > 302) // 10^302 > 2^1000
        throw InvalidParameter(std::string(which) + " bound " + quoted(text) + " is too large: at most 2^1000 (about 1e301) is allowed");
    if (!scanned->digits.empty() && top < -20000) // below what numeric can hold
        throw InvalidParameter(std::string(which) + " bound " + quoted(text) + " has too many decimals");
    if (scanned->digits.empty())
        return 0;
    const cpp_rational digits = cpp_int((scanned->negative ? "-" : "") + scanned->digits),
                       power = pow(cpp_int(10), static_cast<unsigned>(std::labs(scanned->exponent)));
    return scanned->exponent < 0 ? cpp_rational(digits / power) : cpp_rational(digits * power);
}

cpp_rational power_of_two(int exponent) {
    const cpp_rational power = cpp_int(1) << static_cast<unsigned>(std::abs(exponent));
    return exponent < 0 ? cpp_rational(1 / power) : power;
}

// Smallest c with x <= 2^c, x > 0.
int log2_up(const cpp_rational &x) {
    int c = static_cast<int>(msb(numerator(x))) - static_cast<int>(msb(denominator(x))) - 1;
    while (power_of_two(c) < x)
        ++c;
    return c;
}

// x / 2^exponent to the nearest integer, half away from zero.
cpp_int rounded(const cpp_rational &x, int exponent) {
    const cpp_rational size = abs(x) / power_of_two(exponent);
    const cpp_int d = denominator(size), nearest = (2 * numerator(size) + d) / (2 * d);
    return x < 0 ? cpp_int(-nearest) : nearest;
}

void check_bounds(const Bounds &b, const cpp_rational &lower, const cpp_rational &upper, const cpp_rational &largest) {
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

double Bounds::unit() const { return std::ldexp(1.0, exponent); }

std::uint64_t Bounds::sensitivity() const {
    const std::int64_t largest = std::max(z_lower < 0 ? -z_lower : z_lower, z_upper < 0 ? -z_upper : z_upper);
    return static_cast<std::uint64_t>(std::max<std::int64_t>(1, largest));
}

Bounds make_bounds(const std::string &lower, const std::string &upper, bool integer_type) {
    Bounds b;
    b.lower = lower;
    b.upper = upper;
    b.integer_type = integer_type;
    const cpp_rational l = parse_bound(lower, "lower"), u = parse_bound(upper, "upper");
    const cpp_rational largest = std::max<cpp_rational>(abs(l), abs(u));
    check_bounds(b, l, u, largest);
    b.low = std::strtod(lower.c_str(), nullptr);
    b.high = std::strtod(upper.c_str(), nullptr);
    const int top = log2_up(largest);
    const bool keeps_integers = integer_type && denominator(l) == 1 && denominator(u) == 1 && top <= integer_lattice_bits;
    b.exponent = keeps_integers ? 0 : top - lattice_bits;
    b.z_lower = rounded(l, b.exponent).convert_to<std::int64_t>();
    b.z_upper = rounded(u, b.exponent).convert_to<std::int64_t>();
    return b;
}

std::uint64_t points_up(const std::string &number, int exponent) {
    const cpp_rational x = parse_bound(number, "total") / power_of_two(exponent);
    const cpp_int points = (numerator(x) + denominator(x) - 1) / denominator(x);
    return points < 1 ? 1 : points > largest_sensitivity ? largest_sensitivity : points.convert_to<std::uint64_t>();
}

SumLattice sum_lattice(const Bounds &bounds) {
    return {std::ldexp(1.0, -bounds.exponent), bounds.z_lower, bounds.z_upper};
}

PairLattice pair_lattice(const Bounds &bounds) { return {bounds.low, bounds.high - bounds.low}; }

} // namespace dp::privacy
