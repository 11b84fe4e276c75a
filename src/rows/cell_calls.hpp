// Asks dp_rdr.cells for the measures of a question, and reads its results where a row is a unit.
#pragma once

#include "privacy/sparse_vector.hpp"

#include "rows/cell_site.hpp"
#include "rows/question.hpp"

namespace dp::rows {

// Returns the columns of the internal statement that have the sums of the measures: one for each, or for each coordinate where
// points are added up. among: whom they are about, unless that is in the statement's WHERE.
List *cell_columns(const Question *question, Node *among);
int number_of_cell_columns(const Question *question);
// Reads them in one row of the statement. cells: question->ncells numbers that are 0 before.
void read_cells(const Question *question, const Datum *columns, privacy::int128 *sums, int64 *cells);

// Makes the specification of measures, as a constant. header: all but their number.
Node *make_spec(const Question *question, SpecHeader header, const List *measures, const privacy::SvtCandidate *tested);
// Likewise of statements over rows.
Node *spec_of_rows(const Question *question, const List *measures);
// Returns what a row contributes to a measure: its argument (true for a count of rows) where FILTER holds, else NULL; to all of them.
Node *contributed_node(const Question *question, int measure);
List *contributed_nodes(const Question *question);
// Reads the specification of a question as the aggregate of its internal statement does: what a row contributes is added by that.
const CellSite *site_of(const Question *question);
// Lists all measures of a question.
List *all_measures(const Question *question);
// Makes a call of dp_rdr.cells.
Aggref *call_cells(List *arguments, Node *filter);
// Makes a call of dp_rdr.cell: the cell of a row, an integer, in the grid of a quantile; -1 where it is in none.
Node *cell_of_row(const Question *question, int measure);
// Reads one coordinate of a result, which has `width` sums, or none.
privacy::int128 sum_at(Datum result, int coordinate, int width);

// Makes count(*), or count(argument).
Node *count_aggregate(Node *argument, Node *filter);
// Makes the condition a AND b, either of which may be missing.
Node *both(Node *a, Node *b);

} // namespace dp::rows
