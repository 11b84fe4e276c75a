#include "privacy/quantile.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace dp::privacy {

namespace {

constexpr double largest_point = 0x1p62;
constexpr int most_decimals = 15;

// A bound as a number of points: exactly where it is written as a whole number of them.
double scaled(double bound, double scale) {
    return std::clamp(bound * scale, -largest_point, largest_point);
}

std::int64_t point_of_bound(const std::string &text, double bound, double scale, bool lower) {
    if (scale == 1 && text.find_first_not_of("-0123456789") == std::string::npos)
        return std::strtoll(text.c_str(), nullptr, 10); // beyond 64 bits: the last one
    // 0.1 is not a tenth: what is a point but for rounding is one.
    const double at = scaled(bound, scale), nearest = std::round(at);
    if (std::fabs(at - nearest) <= 1e-9 * std::max(1.0, std::fabs(at) * 1e-6))
        return static_cast<std::int64_t>(nearest);
    return static_cast<std::int64_t>(lower ? std::ceil(at) : std::floor(at));
}

// Edge i of cells + 1.
double edge(const Grid &grid, int i) {
    if (i == grid.cells)
        return grid.high;
    const double share = static_cast<double>(i) / grid.cells;
    return std::clamp((1 - share) * grid.low + share * grid.high, grid.low, grid.high);
}

// First point of cell i; of the cell behind the last: last + 1.
int128 first_point(const Grid &grid, int i) {
    const auto points = static_cast<uint128>(static_cast<int128>(grid.last) - grid.first) + 1;
    const auto cells = static_cast<uint128>(static_cast<unsigned>(grid.cells));
    return static_cast<int128>(grid.first) +
           static_cast<int128>((points * static_cast<unsigned>(i) + cells - 1) / cells);
}

uint128 distance(int128 target, int128 low, int128 high) {
    return static_cast<uint128>(target < low ? low - target : target > high ? target - high : int128{0});
}

// ln(20 H): H cells, each at the level 0.05 / H.
double logarithm(int cells) {
    return std::log(20.0 * cells);
}

} // namespace

std::int64_t fraction_of(double q) {
    if (!(q >= 0 && q <= 1))
        throw InvalidParameter("the fraction of a percentile must be between 0 and 1");
    return std::llround(q * static_cast<double>(fraction_one));
}

Grid grid_of(const Bounds &bounds, int decimals) {
    Grid grid;
    grid.low = bounds.low;
    grid.high = bounds.high;
    grid.cells = most_cells;
    if (decimals < 0 || decimals > most_decimals)
        return grid;
    grid.scale = std::pow(10, decimals);
    grid.of_points = decimals == 0 || std::max(std::fabs(bounds.low), std::fabs(bounds.high)) * grid.scale < 0x1p53;
    if (!grid.of_points)
        return grid;
    grid.first = point_of_bound(bounds.lower, bounds.low, grid.scale, true);
    grid.last = std::max(grid.first, point_of_bound(bounds.upper, bounds.high, grid.scale, false));
    const int128 points = static_cast<int128>(grid.last) - grid.first + 1;
    grid.cells = points < most_cells ? static_cast<int>(points) : most_cells;
    return grid;
}

std::int64_t point_of_cell(const Grid &grid, Aggregate fn, int cell) {
    return static_cast<std::int64_t>(fn == Aggregate::min ? first_point(grid, cell) : first_point(grid, cell + 1) - 1);
}

double number_of_cell(const Grid &grid, Aggregate fn, int cell) {
    double low = edge(grid, cell), high = edge(grid, cell + 1);
    if (grid.of_points) {
        low = static_cast<double>(point_of_cell(grid, Aggregate::min, cell)) / grid.scale;
        high = static_cast<double>(point_of_cell(grid, Aggregate::max, cell)) / grid.scale;
    }
    return fn == Aggregate::percentile_cont ? 0.5 * low + 0.5 * high : fn == Aggregate::min ? low : high;
}

double rank_error95(int cells, std::int64_t fraction, const MeasureNoise &noise) {
    return static_cast<double>(utility_range(fraction)) / static_cast<double>(fraction_one) * noise.laplace.value() *
           logarithm(cells);
}

std::int64_t rank_margin(int cells, const MeasureNoise &noise) {
    return static_cast<std::int64_t>(std::ceil(std::min(0x1p55, 2 * noise.laplace.value() * logarithm(cells))));
}

std::vector<unsigned __int128> utility_gaps(const std::int64_t *counts, int cells, std::int64_t fraction,
                                            std::int64_t margin) {
    int128 total = 0;
    for (int i = 0; i < cells; ++i)
        total += counts[i];
    const int128 target = fraction == 0              ? static_cast<int128>(margin) * fraction_one
                          : fraction == fraction_one ? (total - margin) * fraction_one
                                                     : total * fraction;
    std::vector<unsigned __int128> gaps;
    gaps.reserve(static_cast<std::size_t>(cells));
    int128 below = 0;
    for (int i = 0; i < cells; ++i) {
        gaps.push_back(distance(target, below * fraction_one, (below + counts[i]) * fraction_one));
        below += counts[i];
    }
    const unsigned __int128 best = *std::min_element(gaps.begin(), gaps.end());
    for (unsigned __int128 &gap : gaps)
        gap -= best;
    return gaps;
}

} // namespace dp::privacy
