// The plan of a question: what is asked, by names, with its constants as values.
#pragma once

#include "rows/question.hpp"

namespace dp::rows {

// Names what is asked, once it is known which measures that takes. Sets plan, measure_order and text.
void find_plan(Question *question);
// Returns the place of a measure in the plan; -1: nobody asks for it.
int place_in_plan(const Question *question, int measure);

} // namespace dp::rows
