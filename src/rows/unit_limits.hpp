// How many rows and groups one unit may bring: what is declared, asked for, and known by keys.
#pragma once

#include "rows/question.hpp"

namespace dp::rows {

void limit_rows(const Question *question, Units *units);
void limit_groups(Question *question, Units *units);

} // namespace dp::rows
