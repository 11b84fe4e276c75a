// Released numbers as SQL values, by saturation: whether a conversion fails would tell how large the number is (C21).
// Everything here is post-processing of numbers that already carry their noise.
#pragma once

#include "privacy/decimal.hpp"
#include "privacy/lattice.hpp"

#include "border/postgres.hpp"

namespace dp::release {

// A count as bigint.
Datum count_result(privacy::int128 noisy_count);
// noisy_sum * 2^exponent as what sum() returns for the column's type: bigint, numeric (exact), real or double precision.
Datum sum_result(Oid result_type, privacy::int128 noisy_sum, int exponent);
// A sum or an average as it is printed: a numeric rounded to its decimals; -1, or another type: as it is.
Datum rounded_result(Oid result_type, Datum value, int decimals);
// A sum that is not a number of lattice units (that of a pair), as the same types.
Datum real_sum_result(Oid result_type, double noisy_sum);
// A mean as what avg() returns: numeric (15 significant digits) or double precision. With `bounds` a numeric is cut to
// them as they were declared: of more than 15 digits they are neither doubles nor printed in full.
Datum avg_result(Oid result_type, double noisy_mean, const privacy::Bounds *bounds = nullptr);

} // namespace dp::release
