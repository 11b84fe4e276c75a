#include "privacy/risk.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>

#include "privacy/calibration.hpp"

namespace dp::privacy {

// ---- Candidates and preferences ----

const std::vector<Epsilon> &paper_candidates() {
    static const std::vector<Epsilon> candidates = [] {
        std::vector<Epsilon> list{Epsilon::from_units(10'000'000'000)};
        for (int128 step : {1'000'000'000, 100'000'000, 10'000'000, 1'000'000})
            for (int digit = 9; digit >= 1; --digit)
                list.push_back(Epsilon::from_units(digit * step));
        return list;
    }();
    return candidates;
}

std::vector<Epsilon> checked_candidates(std::vector<Epsilon> candidates) {
    const Epsilon largest = Epsilon::from_units(100'000'000'000);
    if (candidates.empty() || candidates.size() > 64)
        throw InvalidParameter("between 1 and 64 candidates of epsilon are needed");
    std::sort(candidates.begin(), candidates.end(), std::greater<>());
    if (candidates.back() < Epsilon::from_units(1) || candidates.front() > largest)
        throw InvalidParameter("candidates of epsilon must be between 0.000000001 and 100");
    if (std::adjacent_find(candidates.begin(), candidates.end()) != candidates.end())
        throw InvalidParameter("candidates of epsilon must be different");
    return candidates;
}

void check_tau(double tau) {
    if (!(tau >= 0 && tau <= 1)) // false for NaN
        throw InvalidParameter("tau must be between 0 and 1");
}

// ---- Find-epsilon ----

std::optional<Epsilon> largest_candidate(const std::vector<Epsilon> &candidates, double limit, double slack) {
    std::optional<Epsilon> largest;
    for (Epsilon candidate : candidates)
        if (candidate.value() <= limit * (1 + slack) && (!largest || candidate > *largest))
            largest = candidate;
    return largest;
}

static EpsilonChoice choose(double eps_star, const std::vector<Epsilon> &candidates, double slack) {
    return {eps_star, largest_candidate(candidates, eps_star, slack)};
}

// Decides both ends of tau and equal risks without a formula; no value otherwise. missing = tau p_max - p_min.
static std::optional<double> eps_star_without_formula(double missing, double tau) {
    if (missing <= 0)
        return infinite_epsilon;
    if (tau == 1)
        return 0;
    return std::nullopt;
}

// The eps with delta_BW(eps, sigma, sensitivity) = delta; 0 when sigma is more than eps = 0 needs.
static double analytic_eps_star(double sigma, double sensitivity, double delta) {
    const double a = sensitivity / sigma;
    if (delta_balle_wang(0, sigma, sensitivity) <= delta)
        return 0;
    // So little noise that eps exceeds 10^6, where delta_BW is a difference of numbers of the size of e^eps. The root is
    // a^2/2 + a Phi^-1(1 - delta) or more, and Phi^-1(1 - delta) > -9 for every delta below 1 in double precision.
    if (!(a < 2048))
        return a * (a / 2 - 9);
    double high = 1;
    while (delta_balle_wang(high, sigma, sensitivity) > delta)
        high *= 2;
    double low = high == 1 ? 0 : high / 2;
    for (int step = 0; step < 200; ++step) {
        const double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high)
            break;
        (delta_balle_wang(middle, sigma, sensitivity) >= delta ? low : high) = middle;
    }
    return low;
}

GaussianChoice find_eps_gaussian(double pis_min, double pis_max, double k, double delta2, double tau, double delta,
                                 const std::vector<Epsilon> &candidates) {
    check_tau(tau);
    if (!(delta > 0 && delta <= 1))
        throw InvalidParameter("delta must be greater than 0 and at most 1");
    const double missing = tau * pis_max - pis_min;
    GaussianChoice choice;
    double classic, analytic;
    if (const std::optional<double> known = eps_star_without_formula(missing, tau)) {
        choice.sigma_star = *known == 0 ? infinite_epsilon : 0;
        classic = analytic = *known;
    } else {
        // Differences of squares as products: exact where they nearly vanish, and no square leaves the range of double.
        choice.sigma_star = std::sqrt(missing / (k * (1 - tau))) * std::sqrt((tau * pis_max + pis_min) / (1 + tau));
        classic = delta2 * std::sqrt(2 * std::log(1.25 / delta)) / choice.sigma_star;
        analytic = analytic_eps_star(choice.sigma_star, delta2, delta);
    }
    choice.classic = choose(classic, candidates, price_slack);
    choice.analytic = choose(analytic, candidates, price_slack);
    return choice;
}

// ---- The analyst's price ----

static void check_price(double tau, double weight, int k1, int m) {
    check_tau(tau);
    if (!(weight > 0) || std::isinf(weight))
        throw InvalidParameter("weight must be a number greater than 0");
    if (k1 < 1 || m < 1)
        throw std::logic_error("a query without a measure has no epsilon");
}

double weighted_tau(double tau, double weight) {
    check_price(tau, weight, 1, 1);
    return tau == 0 ? 0 : tau / (tau + weight * (1 - tau));
}

double within_domain_eps_star(double tau, double weight, int k1, int m) {
    check_price(tau, weight, k1, m);
    if (tau == 0)
        return infinite_epsilon;
    return m * std::asinh(weight * k1 * (1 - tau) / (m * tau)); // 0 for tau = 1
}

double within_domain_eps_star_gaussian(double tau, double weight, int k1, int m, double delta) {
    check_price(tau, weight, k1, m);
    const double largest = std::sqrt(m); // l2 sensitivity of m scaled measures, and the largest PIS of one record
    return find_eps_gaussian(0, largest, k1, largest, weighted_tau(tau, weight), delta, {}).analytic.eps_star;
}

} // namespace dp::privacy
