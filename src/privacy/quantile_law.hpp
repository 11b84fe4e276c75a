// The law of a quantile that is drawn (formulas.md 1.2c): how far it is from the exact one. For the controller alone.
#pragma once

#include <utility>

#include "privacy/noise_points.hpp"
#include "privacy/quantile.hpp"

namespace dp::privacy {

// Holds what somebody has in one cell.
struct CellCount {
    int cell;
    std::int64_t count;
};
// Returns the cell of the exact quantile, without noise and margin: the lowest that has rows, and at least the fraction of all at or below
// it; -1 of no rows. upto: rows at or below each cell. less: what is left out of them, by cell, ascending.
int exact_cell(const std::int64_t *upto, int cells, std::int64_t fraction, const CellCount *less = nullptr, int nless = 0);
// Returns the number of a cell; of no rows, -1, the middle of the bounds.
double exact_quantile(const Grid &grid, Aggregate fn, int cell);
// Returns the probability with which permute_and_flip draws each cell.
std::vector<double> cell_probabilities(const std::int64_t *counts, int cells, std::int64_t fraction,
                                       const MeasureNoise &noise);
// Computes the distance of the number that is drawn from another one, as a part of the bounds' width.
Distance quantile_distance(const Grid &grid, Aggregate fn, const std::vector<double> &probabilities, double from);
// Lists the numbers with their probabilities, as parts of that width.
std::vector<std::pair<double, double>> quantile_points(const Grid &grid, Aggregate fn, const std::vector<double> &probabilities);
double width_of(const Grid &grid);

} // namespace dp::privacy
