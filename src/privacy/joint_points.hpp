// Values of two columns to integers (formulas.md 8.10), once per row.
#pragma once

#include "privacy/lattice.hpp"

namespace dp::privacy {

// Two values at once, each between its bounds: w of the first, y, and of the second, x.
struct JointLattice {
    PairLattice y, x;
};
// Their four products, none below 0, in units of 1/one: they make `one` together, whatever the values are. And w (1 - w) of
// either, which is a quarter of it at most.
struct JointPoint {
    std::int64_t both = 0, y_alone = 0, x_alone = 0, neither = 0;
    std::int64_t y_spread = 0, x_spread = 0;
};
inline std::int64_t to_unit_point(const PairLattice &lattice, double v, std::int64_t one) {
    const double w = (v - lattice.lower) / lattice.range;
    return clamp(to_integer(w * static_cast<double>(one)), 0, one);
}
// one: a power of two, at most 2^30. A NaN on either side contributes to nothing.
inline std::optional<JointPoint> to_joint_point(const JointLattice &lattice, double y, double x, std::int64_t one) {
    if (std::isnan(y) || std::isnan(x))
        return std::nullopt;
    const std::int64_t a = to_unit_point(lattice.y, y, one), b = to_unit_point(lattice.x, x, one);
    JointPoint point;
    point.both = a * b / one;
    point.y_alone = a - point.both;
    point.x_alone = b - point.both;
    point.neither = one - a - b + point.both; // (one - a)(one - b) / one, rounded down: not below 0
    point.y_spread = a * (one - a) / one;
    point.x_spread = b * (one - b) / one;
    return point;
}

} // namespace dp::privacy
