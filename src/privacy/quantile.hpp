// Percentiles, minimum and maximum: one cell of a public grid, drawn by permute-and-flip from an exact histogram
// (formulas.md 8.9). The draw itself: quantile_draw.hpp.
#pragma once

#include <cmath>
#include <optional>
#include <vector>

#include "privacy/mechanism.hpp"

namespace dp::privacy {

constexpr int most_cells = 1024;
// q of a percentile in units of 10^-9; 0 is the minimum, and fraction_one the maximum.
constexpr std::int64_t fraction_one = 1000000000;

constexpr bool is_quantile(Aggregate fn) {
    return fn == Aggregate::percentile_cont || fn == Aggregate::percentile_disc || fn == Aggregate::min ||
           fn == Aggregate::max;
}
// InvalidParameter: not between 0 and 1.
std::int64_t fraction_of(double q);

// The cells between two bounds: of the points first, ..., last, which are `scale` to 1, as evenly as can be; or, where values
// are no points, of equal widths between low and high.
struct Grid {
    int cells = 1;
    bool of_points = false;
    std::int64_t first = 0, last = 0;
    double scale = 1; // a power of ten
    double low = 0, high = 1;
};
// decimals: of all values between the bounds (0: whole numbers); -1: not known, or too many to be points.
Grid grid_of(const Bounds &bounds, int decimals);

inline int cell_of_point(const Grid &grid, std::int64_t point) {
    const auto points = static_cast<uint128>(static_cast<int128>(grid.last) - grid.first) + 1;
    const auto offset = static_cast<uint128>(static_cast<int128>(clamp(point, grid.first, grid.last)) - grid.first);
    if (points < uint128{1} << 53) // every row of a table comes by here
        return static_cast<int>(static_cast<std::uint64_t>(offset) * static_cast<unsigned>(grid.cells) /
                                static_cast<std::uint64_t>(points));
    return static_cast<int>(offset * static_cast<unsigned>(grid.cells) / points);
}
// Cell i has what lies above its lower edge, up to its upper edge. A NaN is in none.
inline std::optional<int> cell_of_number(const Grid &grid, double value) {
    if (std::isnan(value))
        return std::nullopt;
    if (grid.of_points)
        return cell_of_point(grid, to_integer(value * grid.scale));
    const double at =
        (0.5 * value - 0.5 * grid.low) / (0.5 * grid.high - 0.5 * grid.low) * grid.cells; // no difference is infinite
    if (!(at > 1)) // also where the bounds are one double
        return 0;
    return at >= grid.cells ? grid.cells - 1 : static_cast<int>(std::ceil(at)) - 1;
}

// Returns the number that is printed for a cell: its upper edge, for the minimum its lower one, for percentile_cont its middle.
std::int64_t point_of_cell(const Grid &grid, Aggregate fn, int cell); // of_points, and not percentile_cont
double number_of_cell(const Grid &grid, Aggregate fn, int cell);

// Twice the sensitivity of the utility, in units of 10^-9 rows, for a sensitivity of one row: 2 max(q, 1 - q).
constexpr std::int64_t utility_range(std::int64_t fraction) {
    return 2 * (fraction > fraction_one - fraction ? fraction : fraction_one - fraction);
}
// With probability 0.95 the rank of the cell that is drawn is off by less than this many rows.
double rank_error95(int cells, std::int64_t fraction, const MeasureNoise &noise);
// How far from the end the rank lies that minimum and maximum look for: with probability 0.95 somebody is there or beyond.
std::int64_t rank_margin(int cells, const MeasureNoise &noise);

// How far the utility of each cell is below the best one, in units of 10^-9 rows. counts: of each cell, none below 0.
std::vector<unsigned __int128> utility_gaps(const std::int64_t *counts, int cells, std::int64_t fraction,
                                            std::int64_t margin);

} // namespace dp::privacy
