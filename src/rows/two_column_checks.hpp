// Checks what is asked for of two columns: covariances, correlations and lines of regression (formulas.md, 8.10).
#pragma once

#include "rows/question.hpp"

namespace dp::rows {

bool has_joint(const Question *question);

// 0A000: rows that other servers keep.
void check_joint(const Question *question);

} // namespace dp::rows
