// Where test/greybox looks on: the plan of a release, its integers before conversion, and what a selection or a choice of max_rows compares. Nothing,
// but in a library that is built for that suite and never installed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "privacy/mechanism.hpp"
#include "privacy/sparse_vector.hpp"

#ifdef DP_RDR_BITS_FROM_FILE
#include "file_trace.hpp"
#else

namespace dp::release::trace {

inline void planned(const privacy::ReleasePlan &) {}
inline void released(const privacy::int128 *, int) {}
inline void drawn_from(const std::int64_t *, int, std::int64_t, const privacy::MeasureNoise &) {}
inline void selected(const std::vector<privacy::SvtCandidate> &, const std::vector<privacy::SelectionSums> &,
                     std::optional<std::size_t>) {}
inline void limited(const std::vector<std::int64_t> &, int) {}

} // namespace dp::release::trace

#endif
