// Permute-and-flip (formulas.md 8.9). Integers only: no floating point decides which cell is drawn.
#pragma once

#include <utility>

#include "privacy/noise_impl.hpp"
#include "privacy/quantile.hpp"

namespace dp::privacy {

// A cell in random order is taken with probability e^(-gap s / t), or else the next one is tried.
template <class Generator>
int permute_and_flip(Generator &bits, const std::vector<detail::native128> &gaps, uint128 s, uint128 t) {
    using detail::native128;
    constexpr native128 largest = native128{1} << 90; // 2^60 rows; times s < 2^37
    std::vector<int> order(gaps.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = static_cast<int>(i);
    for (std::size_t i = 0;; ++i) {
        const std::size_t chosen = i + detail::uniform_to(bits, order.size() - 1 - i);
        std::swap(order[i], order[chosen]);
        const native128 gap = gaps[static_cast<std::size_t>(order[i])];
        if (detail::exponential(bits, native128((gap < largest ? gap : largest) * native128(s)), native128(t)))
            return order[i]; // at the latest the best one: its gap is 0
    }
}

// counts: of the grid's cells. noise: Laplace, for the measure's sensitivity and share.
template <class Generator>
int draw_cell(Generator &bits, const std::int64_t *counts, int cells, std::int64_t fraction,
              const MeasureNoise &noise) {
    if (noise.mechanism != Mechanism::laplace || cells < 1 || detail::width(noise.laplace.s) > 37 ||
        detail::width(noise.laplace.t) > 96)
        throw std::domain_error("scale of a quantile out of range");
    return permute_and_flip(bits, utility_gaps(counts, cells, fraction, rank_margin(cells, noise)), noise.laplace.s,
                            noise.laplace.t * static_cast<uint128>(utility_range(fraction)));
}

} // namespace dp::privacy
