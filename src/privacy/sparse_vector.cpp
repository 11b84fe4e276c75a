#include "privacy/sparse_vector.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "privacy/exact.hpp"

#include "privacy/lattice.hpp"

namespace dp::privacy {

constexpr int128 one = int128{1} << 30; // 1 = 2^30 units of p
constexpr std::int64_t billion = 1000000000;

// By value: std::max takes references, and int128 may be less aligned than those may expect.
static int128 larger(int128 a, int128 b) {
    return a < b ? b : a;
}

static void check_tau_var(double tau_var) {
    if (!(tau_var >= 0 && tau_var <= 1))
        throw InvalidParameter("tau_var must be between 0 and 1");
}

static void check_shape(int m, int k1) {
    if (m < 1 || k1 < 1)
        throw std::logic_error("a query without a measure has no epsilon");
}

// ---- the query in real numbers ----

SvtSplit svt_split(Epsilon epsilon_svt) {
    const long double root = std::cbrt(4.0L); // 2^(2/3)
    if (epsilon_svt.units() > 100 * int128{billion})
        throw InvalidParameter("epsilon_svt must be at most 100");
    const auto units = static_cast<long double>(epsilon_svt.units());
    SvtSplit split = {Epsilon::from_units(static_cast<int128>(units / (1 + root))),
                      Epsilon::from_units(static_cast<int128>(units * root / (1 + root)))};
    if (split.threshold.units() < 1)
        throw InvalidParameter("epsilon_svt must be at least 0.000000003");
    return split;
}

static SvtSensitivity sensitivity_of(double noise_term, double width, double tau_var) {
    return {noise_term, width, std::max(tau_var, width * width - tau_var), width * width / 4 <= tau_var};
}

SvtSensitivity svt_sensitivity_laplace(int m, int k1, double eps, double tau_var) {
    check_shape(m, k1);
    check_tau_var(tau_var);
    const double noise_term = k1 / std::sinh(eps / m);
    return sensitivity_of(noise_term, m / (m + noise_term), tau_var);
}

SvtSensitivity svt_sensitivity_gaussian(int m, int k1, double sigma, double tau_var) {
    check_shape(m, k1);
    check_tau_var(tau_var);
    const double noise_term = k1 * sigma * sigma;
    return sensitivity_of(noise_term, 1 - std::sqrt(noise_term / (m + noise_term)), tau_var);
}

// Difference of two Laplace variables of scales s1 and s2: P(difference >= gap) for gap >= 0, by symmetry for gap < 0.
double svt_accept_probability(double gap, double eps_svt) {
    const double root = std::cbrt(4.0);
    const double s1 = (1 + root) / eps_svt, s2 = 2 * (1 + root) / (root * eps_svt);
    const double g = std::fabs(gap);
    const double tail = (s1 * s1 * std::exp(-g / s1) - s2 * s2 * std::exp(-g / s2)) / (2 * (s1 * s1 - s2 * s2));
    return gap >= 0 ? tail : 1 - tail;
}

// ---- the selection in integers ----

// A real number that is a public constant from then on. At most 2^100: what is larger always passes all the same.
static int128 rounded_down(long double x) {
    return static_cast<int128>(std::floor(std::min(x, std::ldexp(1.0L, 100))));
}

SvtCandidate svt_candidate_laplace(Epsilon epsilon, int m, int k1, double tau_var) {
    const SvtSensitivity public_facts = svt_sensitivity_laplace(m, k1, epsilon.value(), tau_var);
    SvtCandidate candidate;
    candidate.epsilon = epsilon;
    candidate.m = m;
    candidate.noise_term = public_facts.noise_term;
    const int128 beta = rounded_down(std::ldexp(candidate.noise_term / m, 30));
    const auto scale = static_cast<long double>(one + beta);
    candidate.tolerance = rounded_down(tau_var * scale * scale + 0.5L);
    candidate.sensitivity = larger(candidate.tolerance, one * one - candidate.tolerance);
    candidate.always_passes = candidate.tolerance >= (int128{1} << 58);
    return candidate;
}

SvtCandidate svt_candidate_gaussian(Epsilon epsilon, int m, double noise_term, double tau_var) {
    check_shape(m, 1);
    check_tau_var(tau_var);
    SvtCandidate candidate;
    candidate.epsilon = epsilon;
    candidate.mechanism = Mechanism::gaussian;
    candidate.m = m;
    candidate.noise_term = noise_term;
    candidate.least = svt_point(candidate, 0);
    const int128 width = one - candidate.least;
    candidate.tolerance = rounded_down(std::ldexp(static_cast<long double>(tau_var), 60) + 0.5L);
    // Never 0: with hardly any room between the least and the largest point, such a candidate passes.
    candidate.sensitivity = larger(larger(candidate.tolerance, width * width - candidate.tolerance), 1);
    candidate.always_passes = 4 * candidate.tolerance >= width * width;
    return candidate;
}

SvtCandidate svt_candidate(Mechanism mechanism, const std::vector<Measure> &measures, bool thresholded, Epsilon epsilon,
                           Delta delta, double tau_var) {
    const int m = static_cast<int>(measures.size());
    if (mechanism == Mechanism::laplace)
        return svt_candidate_laplace(epsilon, m, coordinates_of_one_group(measures), tau_var);
    const ReleasePlan plan = plan_release(mechanism, measures, thresholded, epsilon, delta);
    double noise_term = 0;
    for (std::size_t j = 0; j < measures.size(); ++j) {
        const double scaled = plan.noise[j].stddev() / static_cast<double>(measures[j].sensitivity);
        noise_term += measures[j].coordinates() * scaled * scaled;
    }
    return svt_candidate_gaussian(epsilon, m, noise_term, tau_var);
}

std::vector<SvtCandidate> svt_candidates(Mechanism mechanism, const std::vector<Measure> &measures, bool thresholded,
                                         const std::vector<Epsilon> &epsilons, Delta delta, double tau_var) {
    std::vector<SvtCandidate> candidates;
    for (Epsilon epsilon : epsilons)
        candidates.push_back(svt_candidate(mechanism, measures, thresholded, epsilon, delta, tau_var));
    return candidates;
}

std::size_t tested_candidates(const std::vector<SvtCandidate> &candidates) {
    const auto first = std::find_if(candidates.begin(), candidates.end(),
                                    [](const SvtCandidate &candidate) { return candidate.always_passes; });
    return static_cast<std::size_t>(first - candidates.begin());
}

std::int64_t svt_point(const SvtCandidate &candidate, double pis) {
    double r = pis / candidate.m;
    if (candidate.mechanism == Mechanism::gaussian)
        r = std::sqrt((pis * pis + candidate.noise_term) / (candidate.m + candidate.noise_term));
    const auto point = static_cast<std::int64_t>(r * static_cast<double>(one) + 0.5); // r >= 0: cutting rounds down
    // The sensitivity must hold whatever the last bit of a square root does.
    return std::min(std::max(point, static_cast<std::int64_t>(candidate.least)), static_cast<std::int64_t>(one));
}

using wide = boost::multiprecision::int256_t;

// By value: Boost takes a reference, and int128 may be less aligned than that may expect.
static wide widened(__int128 x) { return wide(x); }

int128 svt_margin(const SvtCandidate &candidate, const SelectionSums &sums) {
    if (sums.n == 0)
        return 0;
    // n is private: nothing here may overflow, or raise, for any number of rows (3.4).
    const wide n = widened(sums.n), s1 = widened(sums.s1);
    const wide excess = n * widened(sums.s2) - s1 * s1 - n * n * widened(candidate.tolerance);
    const wide margin = excess <= 0 ? wide(-excess / n) : wide(-((excess + n - 1) / n)); // floor(-excess / n)
    const wide most = wide(1) << 97;
    const wide cut = margin > most ? most : margin < -most ? wide(-most) : margin;
    return static_cast<int128>(cut.convert_to<__int128>());
}

LaplaceScale svt_threshold_scale(const SvtSplit &split) {
    return laplace_scale(uint128{1} << 20, split.threshold);
}

LaplaceScale svt_comparison_scale(const SvtSplit &split, const SvtCandidate &candidate) {
    return laplace_scale(2 * static_cast<uint128>(candidate.sensitivity), split.comparison);
}

} // namespace dp::privacy
