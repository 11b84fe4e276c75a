// Which of the declared groups a question shows. Conditions of WHERE on the keys alone say nothing about rows: they are
// evaluated on the public list, and a group that they exclude is not in the answer.
#pragma once

#include "rows/question.hpp"

namespace dp::rows {

// Of the groups of a question whose keys are all declared (all of the product, or those of `places`) keeps those that WHERE does not
// exclude. Errors: 22023 when no group is left.
void choose_shown(Question *question);

} // namespace dp::rows
