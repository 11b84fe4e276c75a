// Minimum, maximum and percentiles of a question (formulas.md 8.9): an exact histogram over a public grid for each, by group.
//
//   dp_rdr.histogram(value, facts bytea) -> bytea     rows by cell; facts: the grid
//
// The state has room for all cells from its first row on, whatever the values are. What is returned names the cells that
// somebody is in: it is no longer than the rows of a group, of which those that nobody declared may be very many.
#pragma once

#include "privacy/quantile.hpp"

#include "rows/question.hpp"

namespace dp::rows {

bool has_quantile(const Question *question);

// Of each aggregate its fraction in units of 10^-9, -1 where it is no quantile. Errors: 22003, 22023.
const int64 *resolve_fractions(const query::Leaf *leaf, ParamListInfo parameters);

// 0A000: groups that nobody declared, rows that other servers keep.
void check_quantiles(const Question *question);
// Their grids, when units and bounds are known. 0A000: of several columns, where a unit may have several rows; 54000: too many cells.
void find_grids(Question *question);

// Which cell is drawn: two questions with the same text, argument and filter are answered by the same one.
const char *quantile_text(const Question *question, int measure);

// 0A000 where the risk of a leaf is asked for.
void check_has_risk(const Question *question);

// The aggregate of the internal statement.
Node *histogram_of(const Question *question, int measure, Node *column, Node *filter);
// Where a unit may have several rows: the cell of a row, an integer, NULL where it is in none (rows/contribution). All quantiles
// are of one argument then, and have as many cells; 0 without one.
Node *cell_of_row(const Question *question);
int number_of_cells(const Question *question);
// What it returned for one group, of all quantiles: question->ncells numbers that are 0 before.
void read_histograms(const Question *question, const Datum *columns, int64 *cells);

} // namespace dp::rows
