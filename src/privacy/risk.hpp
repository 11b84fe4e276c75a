// The relative disclosure risk indicator: profiles of per-instance sensitivities, RDR, Find-epsilon-from-RDR and the
// analyst's price (formulas.md 1, 2, 4). Works on profiles only: O(distinct values), never O(rows x candidates).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "privacy/decimal.hpp"
#include "privacy/mechanism.hpp"

namespace dp::privacy {

// Count, mean and sum of squared deviations of weighted values, updated value by value (Welford): no cancellation when
// the values are close together, which they are for small epsilon.
class Moments {
  public:
    void add(long double value, std::int64_t weight);
    std::int64_t count() const { return n_; }
    long double variance() const { return n_ == 0 ? 0 : squares_ / n_; } // of the population

  private:
    std::int64_t n_ = 0;
    long double mean_ = 0, squares_ = 0;
};

// PIS of all individuals: value -> number of individuals.
class PisProfile {
  public:
    // Without the values only their range and their variance are known, and nothing grows with them.
    enum class Keep { values, range };
    explicit PisProfile(Keep keep = Keep::values) : keep_(keep) {}
    void add(double pis, std::int64_t individuals); // individuals <= 0: ignored; pis: a number >= 0
    bool empty() const { return moments_.count() == 0; }
    std::int64_t individuals() const { return moments_.count(); }
    double min() const; // of a non-empty profile: an empty table has no RDR (std::logic_error)
    double max() const;
    double lower_median() const; // the smallest value that at least half of the individuals do not exceed
    long double variance() const { return moments_.variance(); }        // population variance of the PIS
    const std::vector<std::pair<double, std::int64_t>> &values() const; // different ones, ascending
    std::size_t kept() const { return added_.size(); }

  private:
    void settle() const; // sorts, and adds up equal values
    mutable std::vector<std::pair<double, std::int64_t>> added_;
    mutable std::size_t settled_ = 0; // so many of the first are sorted and different
    Keep keep_;
    double min_ = 0, max_ = 0;
    Moments moments_;
};

constexpr double infinite_epsilon = std::numeric_limits<double>::infinity();

// Papers' candidates: 10,9,...,1, 0.9,...,0.1, ..., 0.009,...,0.001 (37 values, descending).
const std::vector<Epsilon> &paper_candidates();
// Sorts descending. Errors: InvalidParameter unless 1 to 64 different values within [10^-9, 100].
std::vector<Epsilon> checked_candidates(std::vector<Epsilon> candidates);
// Errors: InvalidParameter ("tau must be between 0 and 1") for NaN or outside.
void check_tau(double tau);

// ---- Find-epsilon (2) ----
// Relative slack on eps_star when a candidate is compared with it. 1e-12 absorbs rounding only. The sound calibration has
// 1e-8, so that a wide lattice, where D sinh(y/D) exceeds y by a hair, gives the candidate of the papers' formula.
constexpr double price_slack = 1e-12; // within_domain_eps_star*
constexpr double sound_slack = 1e-8;  // a search by bounds of risks under Laplace noise

struct EpsilonChoice {
    double eps_star = 0;           // 0: none passes; infinite_epsilon: every one passes
    std::optional<Epsilon> chosen; // largest candidate <= eps_star (with the slack of section 2)
};
// The largest candidate <= limit * (1 + slack); none if there is none.
std::optional<Epsilon> largest_candidate(const std::vector<Epsilon> &candidates, double limit, double slack);
// The eps with delta_BW(eps, sigma, sensitivity) = delta; 0 when sigma is more than eps = 0 needs.
double analytic_eps_star(double sigma, double sensitivity, double delta);

// ---- The analyst's price (4) ----
// tau_w = tau / (tau + w (1 - tau)): the preference of a query of weight w > 0 (5.2; clipped to the policy's range before).
double weighted_tau(double tau, double weight);
// eps* = m asinh(w k1 (1-tau) / (m tau)); tau = 0: infinite, tau = 1: 0. Gaussian: 0 < delta <= 1.
double within_domain_eps_star(double tau, double weight, int k1, int m);
double within_domain_eps_star_gaussian(double tau, double weight, int k1, int m, double delta);

// ---- The risk table (dp_risk) ----
enum class Calibration { sound, published };
struct RiskRow {
    Epsilon epsilon;
    double rdr_min = 0, rdr_max = 0;
    double ratio = 1;    // rdr_min / rdr_max; 1 when rdr_max is 0 (nobody is exposed at all)
    double variance = 0; // population variance of RDR_i / rdr_max over all individuals
};
// Computes the row of one candidate for a vector of k coordinates. noise: N(eps) or k b for Laplace, k sigma^2 for Gaussian.
// Precondition: the profile is not empty.
RiskRow risk_row(const PisProfile &profile, Mechanism mechanism, Epsilon epsilon, double noise);
// Returns PIS + noise for Laplace noise, sqrt(PIS^2 + noise) for Gaussian.
double rdr_of(double pis, Mechanism mechanism, double noise);

} // namespace dp::privacy
