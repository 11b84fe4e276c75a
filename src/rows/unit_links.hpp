// How the rows of one table find their units (formulas.md, 9.1).
#pragma once

#include "rows/question.hpp"

namespace dp::rows {

// Returns how the rows of one source find their units. entries: how many places the range table has; tables that are read beside
// them stand behind. joined: null where the source stands alone.
Units *units_of(const Question *question, const catalog::UnitPath *path, int varno, int entries,
                const query::Joined *joined);

// Locks them in one order for all, to the end of the transaction: what was checked is what is read.
void lock_in_order(List *relations);
// Locks and checks a table and those on the path to its units; returns them with their parts.
const List *lock_and_check(catalog::Settings *settings);

} // namespace dp::rows
