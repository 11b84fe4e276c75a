// SQL for the sums of cells that the rows of a ledger come to (formulas.md, 5.9).
#pragma once

#include "border/spi.hpp"

namespace dp::catalog {

// Returns a list of SQL, in which the names of a cell's sums stand for @.
const char *for_sums(const char *text);

// Returns what a WITH needs behind ledger_sums_sql, for an odometer that has the partition of its table: part, its cells; known, what each
// account ('': the table's) was charged for all cells, and the most beside it; computed and coming, what the rows say of cells, from `first` on, and of
// those to come.
const char *cells_of_ledger_sql();

// Returns the rows of the table of cells that these make.
const char *rows_of_cells_sql();

} // namespace dp::catalog
