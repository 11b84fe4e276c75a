// Covariances, correlations and lines of regression of two columns from the noisy sums of four products (formulas.md 8.10),
//
//   a b,   a (1-b),   (1-a) b,   (1-a)(1-b)     with a = (y - L)/(U - L) of the first column and b of the second,
//
// and, where what is asked for divides by a variance, of a (1-a) and b (1-b): what they print, and 95 % intervals.
#pragma once

#include "privacy/joint_points.hpp"
#include "privacy/mechanism.hpp"
#include "privacy/pair_release.hpp"
#include "privacy/noise_points.hpp"

namespace dp::privacy {

constexpr bool is_joint(MeasureKind kind) {
    return kind == MeasureKind::products || kind == MeasureKind::moments;
}

// Lattice units of 1. Of moments half as many: their l1 norm is up to half as large again, and largest_sensitivity is that of
// 2^20 rows of 2^30.
constexpr std::int64_t joint_one(MeasureKind kind) {
    return kind == MeasureKind::moments ? pair_one / 2 : pair_one;
}
// The l1 norm of what a row adds, at most.
constexpr std::uint64_t joint_sensitivity(MeasureKind kind) {
    const auto one = static_cast<std::uint64_t>(joint_one(kind));
    return kind == MeasureKind::moments ? one + one / 2 : one;
}

// The bounds of both columns.
struct JointBounds {
    const Bounds &y, &x;
};
JointLattice joint_lattice(const JointBounds &bounds);

// In the order in which they are released; the last two of moments alone.
struct JointSums {
    MeasureKind kind = MeasureKind::products;
    int128 both = 0, y_alone = 0, x_alone = 0, neither = 0;
    int128 y_spread = 0, x_spread = 0;
};
JointSums joint_sums(MeasureKind kind, const int128 *noisy);
// Returns the noisy number of rows, and its half-width: four times that of one sum at a quarter of 0.05.
double joint_count(const JointSums &sums);
double joint_count_halfwidth(MeasureKind kind, const MeasureNoise &noise);

// fn: is_joint. Without noise the number of the values, 0 where SQL has NULL: of no rows, of one in a sample, and where a variance is
// 0 that is divided by. A correlation lies in [-1, 1], the rest is finite.
double joint_number(Aggregate fn, const JointSums &sums, const JointBounds &bounds);
// Holds the number, and with probability 0.95 that of the exact sums, if it is one.
Interval joint_interval(Aggregate fn, const JointSums &sums, const JointBounds &bounds, const MeasureNoise &noise);
// ---- for the controller (1.2a) -------------------------------------------------------------------------------------

// Returns exact sums with the variance 0 of a column that has one value in all rows: rounding leaves it less than a grain, and the number
// nothing that it could be divided by.
JointSums without_grains(const JointSums &sums);
// Returns the unit that such a number's distances are told in: the most that one record moves it by; of a slope or an intercept
// a size that they seldom exceed, beyond which a distance counts as 1.
double joint_unit(Aggregate fn, const JointBounds &bounds);
// Returns how far a number moves when a record is left out, in that unit.
double joint_change(Aggregate fn, const JointSums &sums, const JointSums &without, const JointBounds &bounds);
// Returns the number in that unit, and what it is at each of some noise_points().
double joint_scaled(Aggregate fn, const JointBounds &bounds, const JointSums &sums);
std::vector<double> joint_points(Aggregate fn, const MeasureNoise &noise, const JointBounds &bounds, const JointSums &sums,
                                 const std::vector<NoisePoint> &points);
// Returns the size that a distance counts as, at most.
double largest_distance(Aggregate fn);
} // namespace dp::privacy
