// Measures of a question: what is summed for its aggregates, and what a row or a unit changes of it (formulas.md 8, 9).
#pragma once

#include "rows/question.hpp"

namespace dp::rows {

// Returns the measures of a leaf of the question. Where a unit has one row its rows are counted, as everywhere; one_in_group: where it
// has one in each group, units are (8.5). Core region.
std::vector<privacy::Measure> measures_of(const Question *question, const query::Leaf *leaf, const int64 *fractions,
                                          bool thresholded, bool one_in_group);
// Returns where the coordinates of a measure begin among those of a group.
int first_coordinate_of(const Question *question, int measure);
void find_measures(const catalog::Reading &reading, Question *question, const int64 *fractions);
void find_sensitivities(const catalog::Reading &reading, Question *question);
void find_decimals(Question *question);

// Sets the noise that a prepared question is answered with. Until then it is clipped as for Laplace noise, which is right
// for any; from here on D_j and the clip are those of max_rows_per_group where that says something (9.14).
void set_mechanism(const catalog::Reading &reading, Question *question, privacy::Mechanism mechanism);

} // namespace dp::rows
