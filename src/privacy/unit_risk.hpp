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

// Returns the PIS of clipped values: the sum of the measures' norms divided by D for Laplace noise, at most m, or the root of the sum
// of their squares for Gaussian noise, at most sqrt(m). A count or a sum has its l2 norm there, a pair or a triple the norm that it was
// clipped to.
double unit_pis(Mechanism mechanism, const std::vector<Measure> &measures, const std::vector<Norm> &norms,
                const std::vector<std::uint64_t> &sensitivities, const int128 *values, std::size_t groups);

// Returns the share that clipping leaves of a unit, in the measure that it takes most of: the smallest of kept / brought, 1 where the
// unit brings nothing. brought, kept: norms of measure_norms, before and after.
double share_left(std::size_t measures, const double *brought, const double *kept);

} // namespace dp::privacy
