// Computes sizes of what a unit (person) brings to each measure: it may have several rows, in several groups (formulas.md, 9.6).
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

// Returns the share that clipping leaves of a unit, in the measure that it takes most of: the smallest of kept / brought, 1 where the
// unit brings nothing. brought, kept: norms of measure_norms, before and after.
double share_left(std::size_t measures, const double *brought, const double *kept);

} // namespace dp::privacy
