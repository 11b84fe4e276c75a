// Which cells of a partition a question touches, and the condition that keeps its statements to them (formulas.md, 5.9).
#pragma once

#include "rows/compared.hpp"

namespace dp::rows {

// Finds the cells from the conditions and the keys of a question, and what all of its internal statements are to add. Does nothing without a
// partition. Errors: 55000 where its column is another one now; 0A000 for tables that other servers keep; 22023 where no cell is left.
void find_touched(const Narrowed *narrowed, Question *question);

} // namespace dp::rows
