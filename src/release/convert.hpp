// Released numbers as SQL values, by saturation: whether a conversion fails would tell how large the number is (C21).
// Everything here is post-processing of numbers that already carry their noise.
#pragma once

#include "privacy/decimal.hpp"
#include "privacy/lattice.hpp"
#include "privacy/quantile.hpp"
#include "privacy/scaled_numbers.hpp"

#include "border/postgres.hpp"

namespace dp::release {

// noisy_count * 2^exponent as bigint (privacy::unit_exponent).
Datum count_result(privacy::int128 noisy_count, int exponent,
                   privacy::Direction direction = privacy::Direction::nearest);
// noisy_sum * 2^exponent as what sum() returns for the column's type: bigint, numeric (exact), real or double precision.
Datum sum_result(Oid result_type, privacy::int128 noisy_sum, int exponent,
                 privacy::Direction direction = privacy::Direction::nearest);
// A sum or an average as it is printed: a numeric rounded to its decimals; -1, or another type: as it is.
Datum rounded_result(Oid result_type, Datum value, int decimals);
// A sum that is not a number of lattice units (that of a pair), as the same types.
Datum real_sum_result(Oid result_type, double noisy_sum);
// A mean as what avg() returns: numeric (15 significant digits) or double precision. With `bounds` a numeric is cut to
// them as they were declared: of more than 15 digits they are neither doubles nor printed in full.
Datum avg_result(Oid result_type, double noisy_mean, const privacy::Bounds *bounds = nullptr);
// A cell as what min, max or a percentile returns: an integer, numeric, real or double precision, a date or timestamp.
Datum quantile_result(Oid result_type, privacy::Aggregate fn, const privacy::Grid &grid, int cell,
                      const privacy::Bounds *bounds);

// Ends of intervals (formulas.md 8.7), rounded outwards: down or up, never to the nearest.
// Of a sum that is no number of lattice units: a numeric has 15 significant digits, and `decimals` at most unless they are -1.
Datum real_end(Oid result_type, double value, int decimals, privacy::Direction direction);
// Prints an average, cut to the bounds.
Datum avg_end(Oid result_type, double value, int decimals, const privacy::Bounds *bounds, privacy::Direction direction);
// Prints a numeric with `decimals`, as its half-width is: exact.
Datum printed_end(Datum printed, double halfwidth, int decimals, privacy::Direction direction);

} // namespace dp::release
