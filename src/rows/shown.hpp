// Which of the declared groups a question shows. Conditions of WHERE on the keys alone say nothing about rows: they are
// evaluated on the public list, and a group that they exclude is not in the answer.
#pragma once

#include "rows/question.hpp"

namespace dp::rows {

// Of the groups of a question whose keys are all declared (all of the product, or those of `places`) keeps those that WHERE does not
// exclude. Errors: 22023 when no group is left.
void choose_shown(Question *question);

// Place of a group in the product of the declared keys, from its number in the answer; and the reverse, -1: not shown. The product may
// be far larger than the list of its places.
int64 place_of_group(const Question *question, int group);
int group_at_place(const Question *question, int64 place);

} // namespace dp::rows
