// Evaluates what a statement computes for a leaf and passes to it (query/own_values).
#pragma once

#include "release/ask.hpp"

namespace dp::sql {

// Evaluates arguments as the caller, in his session, as if he asked now: constants, and values and rows of his own. around: the query that
// reads the leaf. False, and nothing was evaluated: they follow from answers, or from queries of WITH further up.
bool evaluate_arguments(const Query *around, const List *arguments, release::Ask *ask);

} // namespace dp::sql
