// Cuts a controller's statement into what is released of it: the risk is that of each part, and what a statement does with answers is
// post-processing (formulas.md 1.1).
#pragma once

#include "rows/question.hpp"

namespace dp::sql {

// Returns how many leaves a statement has that an analyst may send; 0: it is none, or is refused.
int count_leaves(const char *text);
// Prepares a leaf of the statement, from 1 on; 0: its only one. Errors: as for an analyst, but 42501 for anybody but the owner of the
// table; 22023 where there is no such leaf, or several and none is chosen.
rows::Question *leaf_question(const char *text, privacy::Mechanism mechanism, int leaf);

} // namespace dp::sql
