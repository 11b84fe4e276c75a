// Minimum, maximum and percentiles of a question (formulas.md 8.9): an exact histogram over a public grid for each, by group.
#pragma once

#include "privacy/quantile.hpp"

#include "rows/question.hpp"

namespace dp::rows {

bool has_quantile(const Question *question);

// Returns the fraction of each aggregate in units of 10^-9, -1 where it is no quantile. Errors: 22003, 22023.
const int64 *resolve_fractions(const query::Leaf *leaf, ParamListInfo parameters);

// 0A000: rows that other servers keep.
void check_quantiles(const Question *question);
// Their grids, when units and bounds are known. 0A000: of several columns, where a unit may have several rows; 54000: too many cells.
void find_grids(Question *question);

// Which cell is drawn: two questions with the same text, argument and filter are answered by the same one.
const char *quantile_text(const Question *question, int measure);

// Returns the first measure that is a quantile, -1 without one, and the cells of its grid, 0 without one. Where a unit may have several
// rows all quantiles are of one argument.
int first_quantile(const Question *question);
int number_of_cells(const Question *question);

} // namespace dp::rows
