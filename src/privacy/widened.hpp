// How much further noise reaches at another level than 5 % (formulas.md 4.7).
#pragma once

#include <cmath>

#include "privacy/mechanism.hpp"
#include "privacy/noise.hpp"

namespace dp::privacy {

// Returns by how much a half-width at the level 0.05 is to be multiplied for a smaller one. The tail of Laplace noise, and of sums of
// it, falls at least as fast: -log P(|X| > h) is convex, and 0 at 0.
inline double widened(Mechanism mechanism, double level) {
    constexpr double usual = 0.05;
    return mechanism == Mechanism::laplace ? std::log(level) / std::log(usual)
                                           : normal_upper_quantile(level / 2) / normal_upper_quantile(usual / 2);
}

} // namespace dp::privacy
