// Which cells of a partition a question touches, and the condition that keeps its statements to them (formulas.md, 5.9).
#pragma once

#include "rows/compared.hpp"

namespace dp::rows {

// Finds the cells from the conditions, the keys (over the tables, their constants folded) and the filters of a question, and what all of its
// internal statements are to add. Does nothing without a partition, or where nothing tells the cell of a row. Errors: 55000 where its column is another one now; 0A000 for tables that other servers keep; 22023 where no cell is left.
void find_touched(const Narrowed *narrowed, const List *folded, Question *question);

// Returns the cells that a charge is added to: those that are touched, or, of partition 0, all and those to come; null: there is no partition.
const catalog::Touched *charged_cells(const Question *question);

// Sets the last cell that has begun for questions that are resolved from here on, as it was when one was charged; 0: the clock tells.
void resolve_at(int64 begun);
// Checks, with the tables locked, that the column still tells the cell of a row. 55000: a key or the column is gone.
void check_cells(const Question *question);
// Keeps a question to the rows of these cells, whatever it touches; to all rows with null, or if nothing tells the cell of a row.
void keep_to_cells(const catalog::Touched *touched, Question *question);

} // namespace dp::rows
