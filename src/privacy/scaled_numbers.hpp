// Prints noisy integers in their unit (formulas.md 8.2, 8.7).
#pragma once

#include <cstdint>
#include <string>

#include "privacy/decimal.hpp"

namespace dp::privacy {

// Says how a printed number is rounded: to the nearest (half away from zero), or outwards, as the ends of an interval are.
enum class Direction { nearest, down, up };

// Decimal text of n * 2^exponent, rounded to the first decimal place that is not coarser than the unit 2^exponent; no
// exponent notation; integers when exponent >= 0.
std::string scaled_text(int128 n, int exponent, Direction direction = Direction::nearest);
// n * 2^exponent as a bigint, saturated; and as a double, infinite where it is too large (nearest: half to even).
std::int64_t scaled_integer(int128 n, int exponent, Direction direction = Direction::nearest);
double scaled_double(int128 n, int exponent, Direction direction = Direction::nearest);
// n moved by h >= 0, any number of units, and not less; saturated.
int128 moved_down(int128 n, double h);
int128 moved_up(int128 n, double h);

} // namespace dp::privacy
