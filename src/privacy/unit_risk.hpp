// The risk of a unit (person) that may have several rows, in several groups (formulas.md, 9.6): what it brings to each measure,
// clipped, as a part of the most that any unit may.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "privacy/contribution.hpp"
#include "privacy/mechanism.hpp"

namespace dp::privacy {

// values: of each of a unit's groups the coordinates of all measures, one measure after the other; groups side by side.

// The l1 norms of its parts in the measures: as many as these.
void measure_norms(const std::vector<Measure> &measures, const int128 *values, std::size_t groups, double *norms);

// Of clipped values: the sum of the measures' norms divided by D (Laplace), or the root of the sum of their squares (Gaussian;
// the l2 norm of a count or a sum, of a pair or a triple the norm that it was clipped to). At most m, or sqrt(m).
double unit_pis(Mechanism mechanism, const std::vector<Measure> &measures, const std::vector<Norm> &norms,
                const std::vector<std::uint64_t> &sensitivities, const int128 *values, std::size_t groups);

// What clipping leaves of a unit, in the measure that it takes most of: the smallest of kept / brought, and 1 where it brings
// nothing. Norms of measure_norms, before and after.
double share_left(std::size_t measures, const double *brought, const double *kept);

} // namespace dp::privacy
