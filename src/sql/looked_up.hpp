// What the server evaluates of a text that somebody else may have written (dp_explain, dp_risk and their like).
#pragma once

#include "border/postgres.hpp"

namespace dp::sql {

// Tells whether expressions and queries have the same values at each look, lock no row, and run nothing but functions that the server
// brings along, over tables that have no code of somebody else's. What is not known to be so is not.
bool may_be_looked_up(List *nodes);

} // namespace dp::sql
