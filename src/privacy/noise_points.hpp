// A fixed set of points that stands for independent noises (formulas.md 1.2a): means over it are the same each time.
#pragma once

#include <array>
#include <vector>

#include "privacy/mechanism.hpp"

namespace dp::privacy {

// Holds as many independent noises of scale 1 as a measure has coordinates, at most.
using NoisePoint = std::array<double, most_coordinates>;
// Returns 2,042 points: Korobov's lattice, shifted, each point with its mirror image, since noise is symmetric.
// rough: a quarter of them, for what is only compared.
const std::vector<NoisePoint> &noise_points(Mechanism mechanism, bool rough = false);
// Returns the scale of a measure's noise, by which a point is multiplied: b, or sigma.
double scale_of_noise(const MeasureNoise &noise);

// Holds what is known of a distance between a number that is printed and another one.
struct Distance {
    double mean = 0, square = 0; // of its size
    double within95 = 0;         // with probability 0.95 it is at most that
};
// Computes it from equally likely errors, which it sorts.
Distance distance_of(std::vector<double> &errors);

} // namespace dp::privacy
