#include "privacy/row_limit.hpp"

#include <algorithm>
#include <cmath>

#include "privacy/lattice.hpp"
#include "privacy/risk.hpp"
#include "privacy/zcdp.hpp"

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

void UnitRows::add(int128 amount) {
    for (std::size_t k = 0; k < limits_.size() && amount * parts_ > limits_[k] * of_parts_; ++k)
        ++above_[k];
}

static std::optional<ReleasePlan> plan_of_count(const CountTerms &terms, std::uint64_t sensitivity) {
    std::vector<Measure> count(1);
    count.front().sensitivity = sensitivity;
    const bool gaussian = terms.mechanism == Mechanism::gaussian;
    const double most = gaussian ? within_domain_eps_star_gaussian(terms.tau, 1, 1, 1, terms.delta.value())
                                 : within_domain_eps_star(terms.tau, 1, 1, 1);
    std::vector<Epsilon> candidates;
    for (Epsilon candidate : terms.candidates)
        if (candidate <= terms.epsilon_max)
            candidates.push_back(candidate);
    const std::optional<Epsilon> price = largest_candidate(candidates, most, price_slack);
    if (!price)
        return std::nullopt;
    if (terms.mechanism == Mechanism::automatic && terms.in_rho && prefers_gaussian(count, *price))
        return plan_measurement(count, false, rho_of_pure(*price), {});
    return plan_release(gaussian ? Mechanism::gaussian : Mechanism::laplace, count, false, *price,
                        gaussian ? terms.delta : Delta());
}

std::optional<MeasureNoise> noise_of_count(const CountTerms &terms, std::uint64_t sensitivity) {
    const std::optional<ReleasePlan> plan = plan_of_count(terms, sensitivity);
    return plan ? std::optional<MeasureNoise>(plan->noise.front()) : std::nullopt;
}

std::optional<Cost> cost_of_count(const CountTerms &terms) {
    const std::optional<ReleasePlan> plan = plan_of_count(terms, 1);
    if (!plan)
        return std::nullopt;
    Cost cost;
    cost.epsilon = plan->epsilon;
    cost.delta = plan->delta;
    cost.rho = plan->rho();
    cost.pure = plan->noise.front().mechanism == Mechanism::laplace;
    return cost;
}

double error95_of_count(const CountTerms &terms, std::uint64_t sensitivity) {
    const std::optional<MeasureNoise> noise = noise_of_count(terms, sensitivity);
    if (!noise)
        throw InvalidParameter("this tau permits no count: pass a smaller one");
    return noise->halfwidth(0.05);
}

std::int64_t limit_threshold(Epsilon epsilon, double error95) {
    constexpr int least = 2; // 10^-9 of epsilon: of less one half would be 0
    constexpr double largest = 1e12;
    if (epsilon.units() < least)
        throw InvalidParameter("epsilon must be at least 0.000000002 to choose max_rows");
    return static_cast<std::int64_t>(std::min(std::max(error95, 4 / epsilon.value()), largest));
}

} // namespace dp::privacy
