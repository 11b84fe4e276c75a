// How many rows of one unit shall count (max_rows), chosen from the rows under differential privacy (formulas.md, 9.10): the first
// of 1, 2, 3, 4, 6, 8, 12, ... that few units exceed, by the sparse vector technique in integers (3.4).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "privacy/account.hpp"
#include "privacy/decimal.hpp"
#include "privacy/mechanism.hpp"
#include "privacy/noise.hpp"

namespace dp::privacy {

constexpr int default_most_rows = 1 << 14; // of max_rows that may be chosen, unless somebody says more
constexpr int steps_of_bound = 16; // of sizes: a limit of them is a number of such parts of the largest size

// The limits that are compared: those below `most`, which is what is left when none suffices.
std::vector<int> compared_limits(int most);

// Counts the units that have more than each limit: rows, or in a sum sizes, whose limits are in parts of the largest one. A unit
// without rows is none.
class UnitRows {
  public:
    explicit UnitRows(int most) : limits_(compared_limits(most)), above_(limits_.size(), 0), most_(most) {}
    UnitRows(int most, std::uint64_t largest_size) : UnitRows(most) {
        parts_ = steps_of_bound;
        of_parts_ = largest_size;
    }
    void add(int128 amount); // of one more unit: its rows, or how much its sizes come to. Below 2^120
    std::size_t size() const { return limits_.size(); }
    int limit(std::size_t k) const { return k < limits_.size() ? limits_[k] : most_; }
    std::int64_t above(std::size_t k) const { return above_[k]; }

  private:
    std::vector<int> limits_;
    std::vector<std::int64_t> above_;
    int most_;
    int128 parts_ = 1, of_parts_ = 1; // a limit of 1 is of_parts/parts
};

// Says what the noise of a count follows from: what a policy permits, and whether the bound adds up rho of any noise.
struct CountTerms {
    double tau = 0;
    Mechanism mechanism = Mechanism::laplace;
    std::vector<Epsilon> candidates; // descending
    Epsilon epsilon_max;
    Delta delta; // of Gaussian noise
    bool in_rho = false;
};
// Returns the noise of a number by itself that one unit moves by `sensitivity` at most, as it would be drawn. None: it is denied.
std::optional<MeasureNoise> noise_of_count(const CountTerms &terms, std::uint64_t sensitivity);
// Returns what one count of people is charged. None: it is denied.
std::optional<Cost> cost_of_count(const CountTerms &terms);
// Returns the error95 of a number, of one person h. Errors: InvalidParameter where it is denied.
double error95_of_count(const CountTerms &terms, std::uint64_t sensitivity);

// T': so many units may have more rows than the limit that is chosen. Errors: InvalidParameter for an epsilon that cannot be split.
std::int64_t limit_threshold(Epsilon epsilon, double error95);

// Half of epsilon is for the noise on the threshold, half for that on each comparison, rounded down.
inline LaplaceScale limit_noise(Epsilon epsilon) {
    return laplace_scale(1, Epsilon::from_units(epsilon.units() / 2));
}

// One of the compared limits, or `most`. epsilon-DP. compared: what was seen on the way, a margin for each comparison.
template <class Generator>
int choose_row_limit(Generator &bits, Epsilon epsilon, std::int64_t threshold, const UnitRows &rows,
                     std::vector<std::int64_t> *compared = nullptr) {
    const LaplaceScale scale = limit_noise(epsilon);
    const int128 noisy = discrete_laplace(bits, scale);
    for (std::size_t k = 0; k < rows.size(); ++k) {
        const std::int64_t margin = threshold - rows.above(k);
        const int128 noise = discrete_laplace(bits, scale);
        if (compared != nullptr)
            compared->push_back(margin);
        if (margin + noise >= noisy)
            return rows.limit(k);
    }
    return rows.limit(rows.size());
}

} // namespace dp::privacy
