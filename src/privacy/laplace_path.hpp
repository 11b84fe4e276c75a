// Laplace noise that can be looked at again and again, each time with less noise, for the price of the last look: all of it is
// drawn at once, from the least noise to the most, and looked at the other way round (formulas.md 6.4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "privacy/mechanism.hpp"

namespace dp::privacy {

// Where a round may look: epsilons from small ones up to the ceiling, and the noise there. Public facts only.
class LaplaceGrid {
  public:
    // The ceiling and what lies below it by powers of 2^(1/8), down to about 0.0014: a ceiling below that is the only point. A
    // grid of one point has the noise of a plain answer. measures: of plan_release.
    // Errors: InvalidParameter unless 10^-9 <= ceiling <= 100, and as of plan_release.
    LaplaceGrid(Epsilon ceiling, const std::vector<Measure> &measures);

    std::size_t size() const { return epsilons_.size(); }
    std::size_t measures() const { return kind_of_.size(); }
    Epsilon epsilon(std::size_t point) const { return epsilons_[point]; } // charged in all for a look at this point
    const MeasureNoise &noise(std::size_t point, std::size_t measure) const { return at(point, measure).noise; }
    double stddev(std::size_t point, std::size_t measure) const { return at(point, measure).stddev; }
    double halfwidth(std::size_t point, std::size_t measure) const { return at(point, measure).halfwidth; }
    // Returns, in units of 2^-63, the probability with which the noise of the next point stays as it is at this one:
    // ( sinh(1/(2b)) / sinh(1/(2b')) )^2 for this point's scale b and the next one's b'. For all points but the last.
    std::uint64_t keep(std::size_t point, std::size_t measure) const { return at(point, measure).keep; }

    // The standard deviation of the first point whose half-width is at most this (both in lattice units); 0 if there is none.
    double stddev_for(double halfwidth, std::size_t measure) const;
    // The first point after this one whose standard deviations are at most `wanted` (one per measure, in lattice units;
    // infinite: it has what it needs); the last one if there is none.
    std::size_t next(std::size_t point, const std::vector<double> &wanted) const;

  private:
    struct Point {
        MeasureNoise noise;
        double stddev = 0, halfwidth = 0;
        std::uint64_t keep = 0;
    };
    std::vector<Epsilon> epsilons_;          // ascending
    std::vector<std::size_t> kind_of_;       // measures of one sensitivity are of one kind
    std::vector<std::vector<Point>> points_; // by kind

    const Point &at(std::size_t point, std::size_t measure) const { return points_[kind_of_[measure]][point]; }
    std::vector<Point> points_of(std::uint64_t sensitivity) const;
};

// The noise of all points, for `groups` coordinates of each measure.
class LaplacePath {
  public:
    LaplacePath(const LaplaceGrid &grid, std::size_t groups, BitSource &bits);

    // To be added to the exact sum. Nobody may see a number of this point before grid.epsilon(point) is charged.
    int128 noise(std::size_t point, std::size_t group, std::size_t measure) const;

  private:
    // Up to which point a coordinate has this noise: it changes at every sixth point or so.
    struct Stretch {
        int128 noise;
        std::uint32_t last;
    };
    std::size_t measures_;
    std::vector<Stretch> stretches_; // by coordinate; of each the last one first
    std::vector<std::size_t> first_; // of each coordinate, and where the last one's end

    void draw(const LaplaceGrid &grid, std::size_t measure, BitSource &bits);
};

} // namespace dp::privacy
