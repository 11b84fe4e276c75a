// Checks who may read private rows: a keeper for analysts, and the table's owner in a call of their own. Called wherever a statement
// over a protected table is about to be planned (architecture.md, 3.8).
#pragma once

#include "rows/question.hpp"

namespace dp::rows {

// This process is a keeper, for the rest of its life.
void become_keeper();
bool is_keeper();

// Raises XX000, and aborts where assertions are on, in a process that must not read for this question.
void check_reader(const Question *question);

} // namespace dp::rows
