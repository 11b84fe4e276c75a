// Whole numbers that an expression may all give (formulas.md, 8.11).
#pragma once

#include "query/range.hpp"

namespace dp::query {

// Returns what the values of a step are multiples of, and all of these occur between the ends of its range: 1 of floor(x), a division of
// integers, a year, 100 of round(x, -2). 0: the expression is no step. Its
// constants are folded, and each column is in it once.
double step_of(Node *expression, ColumnRange of_column, void *context);

} // namespace dp::query
