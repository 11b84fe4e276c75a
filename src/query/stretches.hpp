// How long an expression keeps its value while a moment passes: the grid of moments that shows all its values (formulas.md, 8.11).
#pragma once

#include "border/postgres.hpp"

namespace dp::query {

constexpr int64 endless = PG_INT64_MAX;

// Returns microseconds, of which the values of a column of dates or timestamps that are multiples meet each value of the expression,
// beside the first and the last of its range. 0: it may change at any moment. endless: it asks whether there is a moment, and no more.
// The constants of the expression are folded.
// period: in any so many microseconds the expression has all values that it ever has, beside that of an infinite moment. 0: nobody knows.
int64 stretch_of(Node *expression, const Var *column, int64 *period = nullptr);

} // namespace dp::query
