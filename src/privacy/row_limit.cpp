#include "privacy/row_limit.hpp"

#include <algorithm>
#include <cmath>

#include "privacy/lattice.hpp"
#include "privacy/risk.hpp"

namespace dp::privacy {

std::vector<int> compared_limits(int most) {
    std::vector<int> limits;
    for (int power = 1; power < most; power *= 2) {
        limits.push_back(power);
        if (power > 1 && power + power / 2 < most)
            limits.push_back(power + power / 2);
    }
    return limits;
}

void UnitRows::add(std::int64_t rows) {
    for (std::size_t k = 0; k < limits_.size() && rows > limits_[k]; ++k)
        ++above_[k];
}

double error95_of_people(double tau) {
    const double epsilon = within_domain_eps_star(tau, 1, 1, 1);
    if (!(epsilon > 0))
        throw InvalidParameter("tau 1 permits no count: pass a smaller one");
    return std::log(20.0) / epsilon;
}

std::int64_t limit_threshold(Epsilon epsilon, double error95) {
    constexpr int least = 2; // 10^-9 of epsilon: of less one half would be 0
    constexpr double largest = 1e12;
    if (epsilon.units() < least)
        throw InvalidParameter("epsilon must be at least 0.000000002 to choose max_rows");
    return static_cast<std::int64_t>(std::min(std::max(error95, 4 / epsilon.value()), largest));
}

} // namespace dp::privacy
