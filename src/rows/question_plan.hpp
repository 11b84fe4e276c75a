// The plan of a question: what is asked, by names, with its constants as values.
#pragma once

#include "rows/question.hpp"

namespace dp::rows {

// Names what is asked, once it is known which measures that takes. Sets plan, measure_order and text.
void find_plan(Question *question);

} // namespace dp::rows
