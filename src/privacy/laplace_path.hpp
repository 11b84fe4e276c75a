// Laplace noise that can be looked at again and again, each time with less noise, for the price of the last look: all of it is
// drawn at once, from the least noise to the most, and looked at the other way round (formulas.md 6.4).
#pragma once

#include <cstddef>
#include <vector>

#include "privacy/mechanism.hpp"

namespace dp::privacy {

// Where a round may look: epsilons from small ones up to the ceiling, and the noise there. Public facts only.
class LaplaceGrid {
  public:
    // The ceiling and what lies below it by powers of 2^(1/8), down to about 0.0014. A ceiling below that is one point, with the
    // noise of a plain answer. Errors: InvalidParameter unless 10^-9 <= ceiling <= 100, and as of plan_release.
    LaplaceGrid(Epsilon ceiling, const std::vector<std::uint64_t> &sensitivities);

    std::size_t size() const { return epsilons_.size(); }
    std::size_t measures() const { return sensitivities_.size(); }
    Epsilon epsilon(std::size_t point) const { return epsilons_[point]; } // charged in all for a look at this point
    const MeasureNoise &noise(std::size_t point, std::size_t measure) const;
    double stddev(std::size_t point, std::size_t measure) const { return noise(point, measure).stddev(); }
    double halfwidth(std::size_t point, std::size_t measure) const { return noise(point, measure).halfwidth(0.05); }

    // The standard deviation of the first point whose half-width is at most this (both in lattice units); 0 if there is none.
    double stddev_for(double halfwidth, std::size_t measure) const;
    // The first point after this one whose standard deviations are at most `wanted` (one per measure, in lattice units;
    // infinite: it has what it needs); the last one if there is none.
    std::size_t next(std::size_t point, const std::vector<double> &wanted) const;

  private:
    std::vector<std::uint64_t> sensitivities_;
    std::vector<Epsilon> epsilons_;   // ascending
    std::vector<MeasureNoise> noise_; // by point, then by measure
};

// The noise of all points, for `groups` coordinates of each measure.
class LaplacePath {
  public:
    LaplacePath(const LaplaceGrid &grid, std::size_t groups, BitSource &bits);

    // To be added to the exact sum. Nobody may see a number of this point before grid.epsilon(point) is charged.
    int128 noise(std::size_t point, std::size_t group, std::size_t measure) const;
};

} // namespace dp::privacy
