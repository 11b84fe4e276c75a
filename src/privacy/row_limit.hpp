// How many rows of one unit shall count (max_rows), chosen from the rows under differential privacy (formulas.md, 9.10): the first
// of 1, 2, 4, ... that a share of the units does not exceed, by the sparse vector technique in integers (3.4).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "privacy/decimal.hpp"
#include "privacy/sparse_vector.hpp"

namespace dp::privacy {

using Share = Decimal<9>;

// 2^0 .. 2^19 are compared; what none of them suffices for is 2^20.
constexpr int compared_limits = 20;

// Units by how many rows they have: at most 1, 2, 4, ..., 2^19, and more. A unit is in one class.
class UnitRows {
  public:
    void add(std::int64_t rows); // of one more unit; a unit without rows is none
    std::int64_t units() const;
    std::int64_t within(int k) const; // units with at most 2^k rows

  private:
    std::array<std::int64_t, compared_limits + 1> classes_{};
};

// floor( units with at most 2^k rows - share of all units ): one unit more or less moves it by at most 1. share from 0 to 1.
int128 row_limit_margin(const UnitRows &rows, Share share, int k);

// Errors: InvalidParameter for a share below 0 or above 1, and as svt_split.
void check_row_limit(Epsilon epsilon, Share share);

// A power of two, at most 2^20. epsilon-DP. compared: what was seen on the way, a margin for each comparison.
template <class Generator>
int choose_row_limit(Generator &bits, Epsilon epsilon, Share share, const UnitRows &rows,
                     std::vector<std::int64_t> *compared = nullptr) {
    const SvtSplit split = svt_split(epsilon);
    const SvtCandidate one; // of sensitivity 1
    const int128 threshold = discrete_laplace(bits, svt_threshold_scale(split));
    for (int k = 0; k < compared_limits; ++k) {
        const int128 margin = row_limit_margin(rows, share, k);
        const int128 noise = discrete_laplace(bits, svt_comparison_scale(split, one));
        if (compared != nullptr)
            compared->push_back(static_cast<std::int64_t>(margin));
        if (svt_accepts(one, margin, noise, threshold))
            return 1 << k;
    }
    return 1 << compared_limits;
}

} // namespace dp::privacy
