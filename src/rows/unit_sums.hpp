// Exact sums as a reading leaves them behind; of what units bring, each clipped (formulas.md, 9.2).
#pragma once

#include "rows/may_read.hpp"
#include "rows/selection_sums.hpp"

namespace dp::rows {

// Holds what was read. It lives in backend memory and goes nowhere without noise.
struct Sums {
    // Declared groups (or no keys): ngroups x ncoordinates, group-major, the groups of the answer in canonical order.
    privacy::int128 *values;
    // Thresholded groups: one row per group of the data: the keys, a column for each coordinate, and one with all cells of quantiles.
    Tuplestorestate *store;
    TupleDesc desc;
    // Cells of quantiles, declared groups: ngroups x question->ncells (rows/quantiles).
    int64 *cells;
};

// Describes the store of a thresholded question: the keys, then a column of sixteen bytes for each coordinate, and the cells.
TupleDesc describe_unit_sums(const Question *question);

// Inside of `caught`, as the table's owner. Fills sums->values, or the store, whose groups are in canonical order and each there
// once. selection: what epsilon is selected by is added up of the same units; or null. False: nothing was read (for_each_unit).
bool sum_units(const MayRead &right, const List *checked, const Selection *selection, Sums *sums);

// Reads one row of the store. cells: question->ncells numbers that are set; null: nobody needs them.
void read_unit_sums(const Question *question, const Datum *columns, privacy::int128 *values, int64 *cells);

} // namespace dp::rows
