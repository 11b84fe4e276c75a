// Contribution bounds: what one unit may bring to a measure (formulas.md, 9).
#pragma once

#include <cstddef>
#include <cstdint>

#include "privacy/decimal.hpp"

namespace dp::privacy {

// Names the norm that a clip keeps at most D. l1: the sum of abs(v). groups: the l2 norm over groups of the l1 norms of what is in
// each. For a count or a sum that is the l2 norm, for a pair or a triple no less.
enum class Norm { l1, groups };

// Clips what a unit brings to one measure: integers by group and coordinate, those of one group side by side, groups `stride` apart.
// The result has a norm of at most D: v if its norm n is at most D, else sign(v) floor(abs(v) D / ceil(n)). D <= largest_sensitivity.
void clip(Norm norm, int128 *values, std::size_t groups, std::size_t stride, std::size_t coordinates,
          std::uint64_t sensitivity);

// Order in which the groups of a unit are kept when it has more than it may bring: a 64-bit hash of the canonical bytes of
// the group's key, seeded with the domain and the unit. No secret: it depends on the unit's own rows alone.
std::uint64_t group_hash(std::uint64_t seed, const unsigned char *bytes, std::size_t size);

// D of a measure (9.2), at most largest_sensitivity. R: max_rows; kappa: max_groups; grain: lattice points of one counted row
// or unit. Of a product that is larger D is the limit: then units within R are clipped as well.
std::uint64_t count_sensitivity(int max_rows, std::uint64_t grain);
std::uint64_t sum_sensitivity(int max_rows, std::uint64_t row_sensitivity);
std::uint64_t pair_sensitivity(int max_rows); // and of a triple
std::uint64_t units_sensitivity(int max_groups, std::uint64_t grain);
// D for Norm::groups, of rows that each add at most `row_sensitivity` to one group: ceil(sqrt(R C) row_sensitivity). C:
// max_rows_per_group, at most R.
std::uint64_t spread_sensitivity(int max_rows, int max_rows_per_group, std::uint64_t row_sensitivity);
// D for Norm::groups, of a sum whose sizes come to `total` in all: the smaller of that and ceil(sqrt(total C row_sensitivity)).
std::uint64_t spread_of_total(std::uint64_t total, int max_rows_per_group, std::uint64_t row_sensitivity);

// Lattice points of a counted row where a unit may be in several groups: floors lose at most 2^-20 of a row each.
constexpr std::uint64_t fine_grain = std::uint64_t{1} << 20;

} // namespace dp::privacy
