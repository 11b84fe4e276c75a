// Sensitivities by an l2 norm over the groups of a unit, for Gaussian noise (formulas.md, 9.14).
#pragma once

#include "rows/question.hpp"

namespace dp::rows {

// Sets the noise that a prepared question is answered with. Until then it is clipped as for Laplace noise, which is right
// for any; from here on D_j and the clip are those of max_rows_per_group where that says something (9.14).
void set_mechanism(const catalog::Reading &reading, Question *question, privacy::Mechanism mechanism);

} // namespace dp::rows
