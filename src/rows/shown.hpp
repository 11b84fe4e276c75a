// Which of the declared groups a question shows. Conditions of WHERE on the keys alone say nothing about rows: they are
// evaluated on the public list, and a group that they exclude is not in the answer.
#pragma once

#include "rows/question.hpp"

namespace dp::rows {

// Sets ngroups, places and shown of a question whose keys are all declared, once; ngroups holds the size of their product.
// Errors: 22023 when no group is left.
void choose_shown(Question *question);

// Place of a group in the product of the declared keys, from its number in the answer; and the reverse, -1: not shown.
int place_of_group(const Question *question, int group);
int group_at_place(const Question *question, int place);

} // namespace dp::rows
