#include "privacy/scaled_numbers.hpp"

#include <algorithm>
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
