// Computes what is printed from noisy sums: post-processing of the pair (formulas.md 8.6) and 95 % intervals (8.7). Never an error,
// whatever was drawn.
#pragma once

#include "privacy/mechanism.hpp"

namespace dp::privacy {

struct PairRelease {
    int128 count = 0;       // c rounded, half away from zero
    double count_exact = 0; // c
    double sum = 0;
    double avg = 0; // clamped to [L, U]
};
PairRelease release_pair(int128 s1, int128 s0, const Bounds &bounds);
struct Interval {
    double lower = 0, upper = 0;
};
Interval pair_avg_interval(int128 s1, int128 s0, const Bounds &bounds, const MeasureNoise &noise);
Interval pair_avg_interval(int128 s1, int128 s0, const Bounds &bounds, double h); // each sum is off by h units at most
double pair_count_halfwidth(const MeasureNoise &noise);
double pair_sum_halfwidth(const MeasureNoise &noise, const Bounds &bounds);
// A lattice unit of a count or of a sum of its own is 2^this of what is printed. bounds null: count.
int unit_exponent(const Measure &measure, const Bounds *bounds);
double unit_of(const Measure &measure, const Bounds *bounds);
// Half-width of such a measure, in the aggregate's own unit.
double measure_halfwidth(const MeasureNoise &noise, const Measure &measure, const Bounds *bounds);

} // namespace dp::privacy
