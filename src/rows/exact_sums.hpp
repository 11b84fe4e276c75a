// Exact sums, as a reading leaves them behind.
#pragma once

#include "rows/question.hpp"

namespace dp::rows {

// Holds what was read. It lives in backend memory and goes nowhere without noise.
struct Sums {
    // Declared groups (or no keys): ngroups x ncoordinates, group-major, the groups of the answer in canonical order.
    privacy::int128 *values;
    // Thresholded groups: one row per group of the data: the keys, then a column for each coordinate.
    Tuplestorestate *store;
    TupleDesc desc;
    // Cells of quantiles, declared groups: ngroups x question->ncells (rows/quantiles).
    int64 *cells;
};

} // namespace dp::rows
