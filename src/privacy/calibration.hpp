// Scales from exact fractions: for privacy/*.cpp and tests.
#pragma once

#include "privacy/exact.hpp"
#include "privacy/noise.hpp"

namespace dp::privacy {

// sigma^2 = numerator / denominator, exactly, rounded UP to the sampler's grid.
GaussianScale gaussian_scale_up(const exact::cpp_int &numerator, const exact::cpp_int &denominator);

} // namespace dp::privacy
