// The exact expectation that the indicator stands for, E||o - q(x without the record)||, in place of its upper bound
// (formulas.md 1.2, 2). It depends on what a record changes in each coordinate, not on the norm of that alone.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "privacy/risk.hpp"

namespace dp::privacy {

// ---- One record, one kind of noise ----
// Returns E|d + sigma Z| for normal noise on one coordinate.
double rdr_gaussian_exact_k1(double difference, double sigma);
// Returns E|d + Z| for the discrete Gaussian of parameter sigma, |d| an integer.
double discrete_gaussian_mean_abs(double difference, double sigma);

// ---- A vector of several measures ----
enum class NoiseFamily { laplace, discrete_laplace, gaussian, discrete_gaussian };

// The noise on all coordinates of one measure. Differences and scale are in units of the measure; distances are taken after
// a division by `unit`.
struct CoordinateNoise {
    NoiseFamily family = NoiseFamily::laplace;
    double scale = 1; // b or sigma
    double unit = 1;  // D
    double k = 1;     // coordinates of the whole vector that have this noise
};

// E||o - q(x without the record)|| for one candidate's noise: l1 with Laplace noise, l2 with Gaussian noise (all measures have
// the same kind). It is noise() for a record that changes nothing, and noise() + excess() for others: the parts are kept
// apart, for at small epsilon the second is a small fraction of the first.
class ExactRdr {
  public:
    // noise_of[c]: the measure of coordinate c of a change. largest: the largest sum of (change/unit)^2 of any record.
    ExactRdr(std::vector<CoordinateNoise> noise, std::vector<int> noise_of, double largest);
    double noise() const { return noise_term_; }
    // groups: whose changes lie one behind the other.
    double excess(const double *change, std::size_t groups = 1) const;
    double of(const double *change) const { return noise_term_ + excess(change); }

  private:
    bool laplace() const;
    bool one_coordinate() const;
    double excess_laplace(const double *change, std::size_t groups) const;
    double excess_gaussian(const double *change, std::size_t groups) const;
    void place_nodes(double largest);
    const std::vector<double> &log_ratios(int measure, double difference) const;
    template <class Function> double integral(Function f) const;

    std::vector<CoordinateNoise> noise_;
    std::vector<int> noise_of_;
    double noise_term_ = 0;
    std::vector<double> points_, transform_; // t, and E e^(-t||Z||^2) there
    mutable std::map<std::pair<int, double>, std::vector<double>> log_ratios_;
};

// Smallest and largest RDR: what the ratio is made of.
struct RdrRange {
    double min = 0, max = 0;
    bool meets(double tau) const { return min >= tau * max * (1 - price_slack); }
};

// ---- One concrete output (1.3) ----
// Returns by how much likelier, as a logarithm, one coordinate's output is with the record than without it. The sum over the
// coordinates is the loss of the whole output. It is signed: outputs nearer to the answer without the record have a negative loss.
// Without the sign it would not grow with the indicator.
// Laplace noise of scale b, Gaussian noise of standard deviation `scale`.
double coordinate_loss(Mechanism mechanism, double output, double with, double without, double scale);

} // namespace dp::privacy
