// The sound sparse vector selection: the largest candidate epsilon whose RDRs vary no more than tau_var, chosen under
// differential privacy (formulas.md 3.3, 3.4; Dwork and Roth, "The Algorithmic Foundations of Differential Privacy", 3.6;
// Lyu, Su, Li, "Understanding the Sparse Vector Technique", for the split of the budget).
//
// Everything but SelectionSums is a function of public facts. What is compared is an integer, and so is the noise.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "privacy/decimal.hpp"
#include "privacy/mechanism.hpp"
#include "privacy/noise.hpp"

namespace dp::privacy {

// ---- the query in real numbers (3.3): for display, and for the choice of what is tested ----

// eps1 : eps2 = 1 : 2^(2/3), each rounded down to 9 digits. threshold + comparison <= epsilon_svt.
struct SvtSplit {
    Epsilon threshold;  // eps1: of the noise on the threshold, drawn once
    Epsilon comparison; // eps2: of the noise on each comparison
};
// Errors: InvalidParameter for epsilon_svt below 3e-9 (a share would be 0) or above 100.
SvtSplit svt_split(Epsilon epsilon_svt);

struct SvtSensitivity {
    double noise_term = 0;      // N_j = k1 / sinh(eps / m); k1 sigma^2 for Gaussian noise
    double width = 0;           // w_j: normalised RDRs lie in [1 - w_j, 1]
    double delta_G = 0;         // max(tau_var, w_j^2 - tau_var)
    bool always_passes = false; // w_j^2 / 4 <= tau_var: whatever the data
};
// m measures, k1 coordinates of one group. sigma: standard deviation of the noise in scaled units (sensitivity 1 a measure).
SvtSensitivity svt_sensitivity_laplace(int m, int k1, double eps, double tau_var);
SvtSensitivity svt_sensitivity_gaussian(int m, int k1, double sigma, double tau_var);

// Probability that a candidate, tested alone, is accepted. gap = G_j / delta_G: positive when it violates tau_var.
// Continuous noise; the shares are not rounded.
double svt_accept_probability(double gap, double eps_svt);

// ---- the selection in integers (3.4) ----

// One candidate as it is tested.
struct SvtCandidate {
    Epsilon epsilon;
    Mechanism mechanism = Mechanism::laplace;
    int m = 1;
    double noise_term = 0;  // as above; of the noise that is drawn
    int128 least = 0;       // p of a record with PIS 0; Laplace: 0
    int128 tolerance = 0;   // C_j
    int128 sensitivity = 1; // Delta_j
    bool always_passes = false;
};
SvtCandidate svt_candidate_laplace(Epsilon epsilon, int m, int k1, double tau_var);
// noise_term: k1 sigma^2, or the sum over the coordinates of one group of the variances drawn, in scaled units.
SvtCandidate svt_candidate_gaussian(Epsilon epsilon, int m, double noise_term, double tau_var);
// Returns the candidate for a release of these measures: `plan_release` with the charge epsilon and the policy's delta.
SvtCandidate svt_candidate(Mechanism mechanism, const std::vector<Measure> &measures, bool thresholded, Epsilon epsilon,
                           Delta delta, double tau_var);
// All candidates of a list that descends.
std::vector<SvtCandidate> svt_candidates(Mechanism mechanism, const std::vector<Measure> &measures, bool thresholded,
                                         const std::vector<Epsilon> &epsilons, Delta delta, double tau_var);
// How many are tested: the list ends before the first that always passes.
std::size_t tested_candidates(const std::vector<SvtCandidate> &candidates);

// p_i of one record in [least, 2^30]; a function of the record and of public constants alone. pis: norm of its scaled parts.
std::int64_t svt_point(const SvtCandidate &candidate, double pis);

// Sums over all n records of the table, those that the query rejects included (their point is `least`).
struct SelectionSums {
    std::int64_t n = 0;
    int128 s1 = 0, s2 = 0; // of p_i and p_i^2
};
// h_j: how far below tolerance the variance is, times n. Neighbouring tables differ by at most `sensitivity`.
int128 svt_margin(const SvtCandidate &candidate, const SelectionSums &sums);

// The scale of the noise on the threshold and on the comparison of one candidate.
LaplaceScale svt_threshold_scale(const SvtSplit &split);
LaplaceScale svt_comparison_scale(const SvtSplit &split, const SvtCandidate &candidate);

// Whether margin plus noise reaches the noisy threshold.
inline bool svt_accepts(const SvtCandidate &candidate, int128 margin, int128 noise, int128 threshold) {
    return (margin + noise) * (int128{1} << 20) >= candidate.sensitivity * threshold;
}

// The first of the `tested` candidates that is accepted. sums: one per tested candidate. epsilon_svt-DP.
template <class Generator>
std::optional<std::size_t> svt_select(Generator &bits, Epsilon epsilon_svt, const std::vector<SvtCandidate> &candidates,
                                      const std::vector<SelectionSums> &sums) {
    const SvtSplit split = svt_split(epsilon_svt);
    const int128 threshold = discrete_laplace(bits, svt_threshold_scale(split));
    for (std::size_t j = 0; j < sums.size(); ++j) {
        const int128 noise = discrete_laplace(bits, svt_comparison_scale(split, candidates[j]));
        if (svt_accepts(candidates[j], svt_margin(candidates[j], sums[j]), noise, threshold))
            return j;
    }
    return std::nullopt;
}

} // namespace dp::privacy
