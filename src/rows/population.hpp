// Counts the people of a question, in its answer or not (formulas.md, 9.6): the different units of the domain's table of people and of the
// question's own tables before WHERE and FILTER, together. NULL and what has no unit is nobody.
#pragma once

#include "rows/question.hpp"

namespace dp::rows {

// Locks and checks the table of people to the end of the transaction, where the question does not read it; returns it with its parts. Errors:
// those of a table that cannot be read.
List *lock_population(const Question *question);

// Counts them, as the tables' owner, under the active snapshot. checked: of check_sources. False: nothing was read (for_each_unit).
bool count_units(const Question *question, const List *checked, int64 *n);

} // namespace dp::rows
