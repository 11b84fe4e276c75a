// Measures with the sensitivities that a test gives them.
#pragma once

#include <cstdint>
#include <vector>

#include "privacy/mechanism.hpp"

namespace dp::privacy {

inline std::vector<Measure> measured(std::vector<Measure> measures, const std::vector<std::uint64_t> &sensitivities) {
    for (std::size_t j = 0; j < measures.size(); ++j)
        measures[j].sensitivity = sensitivities.at(j);
    return measures;
}

// Counts.
inline std::vector<Measure> measured(const std::vector<std::uint64_t> &sensitivities) {
    return measured(std::vector<Measure>(sensitivities.size()), sensitivities);
}

} // namespace dp::privacy
