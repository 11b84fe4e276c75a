#include "privacy/scaled_numbers.hpp"

#include <cmath>
#include <limits>

#include "privacy/exact.hpp"
#include "privacy/numbers.hpp"

namespace dp::privacy {

using exact::cpp_int;

// Whether a magnitude that is no multiple of the last place becomes the next larger one.
static bool is_outward(bool negative, Direction direction) {
    return direction == (negative ? Direction::down : Direction::up);
}

// Returns the size of n 2^exponent in units of 10^-places.
static cpp_int scaled(int128 n, int exponent, unsigned places, Direction direction) {
    cpp_int value = exact::integer(n < 0 ? -static_cast<uint128>(n) : static_cast<uint128>(n));
    value *= boost::multiprecision::pow(cpp_int(10), places);
    if (exponent >= 0)
        return value << static_cast<unsigned>(exponent);
    const cpp_int divisor = cpp_int(1) << static_cast<unsigned>(-exponent);
    if (direction == Direction::nearest)
        return (2 * value + divisor) / (2 * divisor);
    if (is_outward(n < 0, direction))
        value += divisor - 1;
    return value / divisor;
}

std::string scaled_text(int128 n, int exponent, Direction direction) {
    std::size_t places = 0;
    for (cpp_int one = 1; exponent < 0 && one < cpp_int(1) << static_cast<unsigned>(-exponent); ++places)
        one *= 10;
    const cpp_int value = scaled(n, exponent, static_cast<unsigned>(places), direction);
    std::string text = value.str();
    if (text.size() <= places)
        text.insert(0, places + 1 - text.size(), '0');
    if (places > 0)
        text.insert(text.size() - places, ".");
    return (n < 0 && value != 0 ? "-" : "") + text;
}

std::int64_t scaled_integer(int128 n, int exponent, Direction direction) {
    constexpr auto least = std::numeric_limits<std::int64_t>::min(), most = std::numeric_limits<std::int64_t>::max();
    cpp_int value = scaled(n, exponent, 0, direction);
    if (n < 0)
        value = -value;
    return value < least ? least : value > most ? most : value.convert_to<std::int64_t>();
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
