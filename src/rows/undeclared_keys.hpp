// Says what helps where a key of GROUP BY has no list of groups, and may not discover them.
#pragma once

#include "rows/question.hpp"

namespace dp::rows {

// Returns the key as whoever asks can write it in WHERE; null: it can be written nowhere there, or names of it make no list.
const char *key_in_where(const Question *question);
// Says what to write, what to ask the controller for, or what the controller can do; delta: that one might do as well.
const char *groups_remedy(const Question *question, bool delta);

} // namespace dp::rows
