// How many rows of a unit are in one group of an answer, as far as keys and public rows tell (formulas.md, 9.14).
#pragma once

#include "rows/question.hpp"

namespace dp::rows {

// Returns C by keys: at most max_rows, which it is where they tell nothing. Public rows are counted where keys of GROUP BY are theirs.
int rows_per_group_by_keys(const catalog::Reading &reading, const Question *question);

} // namespace dp::rows
