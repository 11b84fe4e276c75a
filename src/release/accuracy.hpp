// How accurate a release is: 95 % half-widths in the unit of each aggregate (formulas.md 8.7).
#pragma once

#include "rows/question.hpp"

namespace dp::release {

// Of one aggregate under a plan. NaN for an average: its width depends on how many rows there are. Core region.
double halfwidth(const rows::Question *question, const privacy::ReleasePlan &plan, int aggregate);

// Returns the half-width of the number of values that an average or a spread is made with. Core region.
double count_halfwidth(const rows::Question *question, const privacy::ReleasePlan &plan, int aggregate);

// Of a measure that is no pair: a width in the aggregate's own unit as it is reported, behind its rounding.
double printed_halfwidth(const rows::Question *question, int aggregate, double width);
// Binary places beyond the lattice's that a mean of measurements is published with (privacy::RunningMean). Core region.
int mean_bits(const rows::Question *question, int measure);

// Decimals that an average is printed with; of what its sum is. -1: those that there are.
int average_decimals(int decimals);
// How far rounding to them moves a number at most; 0 for -1.
double rounding_of(int decimals);

} // namespace dp::release
