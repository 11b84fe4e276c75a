#include "privacy/lattice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

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
    const Ratio l = parse_bound(lower, "lower"), u = parse_bound(upper, "upper");
    const Ratio magnitude_l{magnitude(l), l.denominator}, magnitude_u{magnitude(u), u.denominator};
    const Ratio &largest = magnitude_l < magnitude_u ? magnitude_u : magnitude_l;
    check_bounds(b, l, u, largest);
    b.low = exact::nearest_double(l);
    b.high = exact::nearest_double(u);
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

SumLattice sum_lattice(const Bounds &bounds) {
    return {std::ldexp(1.0, -bounds.exponent), bounds.z_lower, bounds.z_upper};
}

PairLattice pair_lattice(const Bounds &bounds) { return {bounds.low, bounds.high - bounds.low}; }

// Whether a magnitude that is no multiple of the last place becomes the next larger one.
static bool is_outward(bool negative, Direction direction) {
    return direction == (negative ? Direction::down : Direction::up);
}

std::string scaled_text(int128 n, int exponent, Direction direction) {
    const bool negative = n < 0;
    cpp_int value = exact::integer(negative ? -static_cast<uint128>(n) : static_cast<uint128>(n));
    if (exponent >= 0) {
        value <<= static_cast<unsigned>(exponent);
        return (negative && value != 0 ? "-" : "") + value.str();
    }
    const cpp_int divisor = cpp_int(1) << static_cast<unsigned>(-exponent);
    cpp_int one = 1;
    std::size_t places = 0;
    for (; one < divisor; ++places)
        one *= 10;
    value *= one;
    if (direction == Direction::nearest)
        value = (2 * value + divisor) / (2 * divisor);
    else if (is_outward(negative, direction))
        value = (value + divisor - 1) / divisor;
    else
        value /= divisor;
    std::string text = value.str();
    if (text.size() <= places)
        text.insert(0, places + 1 - text.size(), '0');
    text.insert(text.size() - places, ".");
    return (negative && value != 0 ? "-" : "") + text;
}

std::int64_t scaled_integer(int128 n, int exponent, Direction direction) {
    constexpr uint128 beyond = uint128{1} << 64; // any bigint; cut there before the sign goes on, so nothing overflows
    const uint128 magnitude = n < 0 ? -static_cast<uint128>(n) : static_cast<uint128>(n);
    const int shift = exponent < 0 ? -exponent : exponent;
    uint128 scaled = 0;
    if (exponent < 0) {
        const uint128 whole = shift <= 127 ? magnitude >> shift : 0;
        const bool half = shift <= 127 && (magnitude >> (shift - 1) & 1) != 0;
        const bool exact = shift <= 127 ? whole << shift == magnitude : magnitude == 0;
        scaled = whole + (direction == Direction::nearest ? half : !exact && is_outward(n < 0, direction));
    } else if (magnitude != 0)
        scaled = shift < 64 && magnitude <= beyond >> shift ? magnitude << shift : beyond;
    const auto value = static_cast<int128>(std::min(scaled, beyond));
    constexpr int128 largest = std::numeric_limits<std::int64_t>::max();
    return static_cast<std::int64_t>(n < 0 ? std::max(-value, -largest - 1) : std::min(value, largest));
}

double scaled_double(int128 n, int exponent, Direction direction) {
    if (direction == Direction::nearest)
        return std::ldexp(static_cast<double>(n), exponent);
    uint128 magnitude = n < 0 ? -static_cast<uint128>(n) : static_cast<uint128>(n);
    int shift = 0;
    bool lost = false;
    for (; magnitude >> 53 != 0; ++shift, magnitude >>= 1)
        lost = lost || (magnitude & 1) != 0;
    magnitude += lost && is_outward(n < 0, direction);
    return std::ldexp(n < 0 ? -static_cast<double>(magnitude) : static_cast<double>(magnitude), exponent + shift);
}

int128 moved_down(int128 n, double h) {
    return -moved_up(n < -largest_int128 ? largest_int128 : -n, h);
}

int128 moved_up(int128 n, double h) {
    const double units = std::ceil(h);
    return units < 0x1p126 ? saturating_add(n, static_cast<int128>(units)) : largest_int128;
}

} // namespace dp::privacy
