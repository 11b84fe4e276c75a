// How accurate a release is: 95 % half-widths in the unit of each aggregate (formulas.md 8.7).
#pragma once

#include "rows/question.hpp"

namespace dp::release {

// Of one aggregate under a plan. NaN for an average: its width depends on how many rows there are. Core region.
double halfwidth(const rows::Question *question, const privacy::ReleasePlan &plan, int aggregate);

} // namespace dp::release
