// Whole numbers that an expression may all give (formulas.md, 8.11).
#pragma once

#include "query/range.hpp"

namespace dp::query {

// Returns how far neighbouring values of an expression lie apart at most, if each of its columns has all values of its type between its
// bounds: 0 for a floating-point column. Infinite: nobody knows. Its constants are folded, and each column is in it once.
double gap_of(Node *expression, ColumnRange of_column, void *context);

// Returns what the values of a step are multiples of, and all of these occur between the ends of its range: 1 of floor(x), a division of
// integers, a year, 100 of round(x, -2). 0: the expression is no step.
double step_of(Node *expression, ColumnRange of_column, void *context);

} // namespace dp::query
