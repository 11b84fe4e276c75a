// Gaussian measurements of the same sums, each with noise of its own, and their mean weighted by precision: what rounds in rho
// publish (formulas.md 6.3). Weights are 1/sigma^2, rounded down to 90 bits or more; the mean with them is exact, and rounded
// once, where it is published.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <boost/multiprecision/cpp_int.hpp>

#include "privacy/mechanism.hpp"

namespace dp::privacy {

class RunningMean {
  public:
    // groups: coordinates of each measure.
    RunningMean(std::size_t measures, std::size_t groups);

    // measured: lattice integers, group by group, measure by measure; plan: that of the measurement (plan_measurement).
    void add(const ReleasePlan &plan, const std::vector<__int128> &measured);

    std::size_t measures() const { return weights_.size(); }
    std::size_t groups() const { return groups_; }
    bool empty() const { return rho_ == Rho(); } // nothing was measured yet: there is no mean
    Rho rho() const { return rho_; }             // of all measurements together: what was charged

    // The mean in units of 2^-bits of the lattice's, to the nearest, half away from zero. bits 0: counts and sums of integers.
    int128 mean(std::size_t group, std::size_t measure, int bits) const;
    // Returns the standard deviation of the mean, in lattice units.
    double stddev(std::size_t measure) const;
    // Returns the half-width of the interval around the mean as it is published, in lattice units.
    double halfwidth(std::size_t measure, int bits) const;
    // The largest standard deviation whose half-width, in lattice units, is at most this; 0 if there is none.
    static double stddev_for(double halfwidth, int bits);

    // All of it in digits and spaces, and back: the state that a later refinement continues from.
    std::string text() const;
    // Errors: InvalidParameter for what text() does not write.
    static RunningMean from_text(const std::string &text);

  private:
    using integer = boost::multiprecision::cpp_int;
    std::size_t groups_;
    Rho rho_;
    std::vector<integer> weights_;  // by measure: sums of the weights, in units of 2^-288
    std::vector<integer> weighted_; // sums of weights times measured numbers, in the same; by group, then by measure
};
// The decimals of the lattice that a mean of real numbers is published with.
constexpr int bits_of_real_mean = 20;

} // namespace dp::privacy
