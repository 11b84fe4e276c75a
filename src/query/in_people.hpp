// x IN (SELECT person FROM .. GROUP BY person HAVING ..) as a join with a sub-SELECT that has one row for each person (formulas.md, 9.12).
#pragma once

#include "query/levels.hpp"

namespace dp::query {

// Moves such conditions of a level that aggregates into its FROM. Each person is in one row of the sub-SELECT, so a row outside is joined
// with one at most, where IN is true. What is no such condition stays. 0A000: NOT IN.
void join_people(const Level *level, ParseState *source);

} // namespace dp::query
