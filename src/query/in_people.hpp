// x IN (SELECT person FROM .. GROUP BY person HAVING ..) as a join with a sub-SELECT that has one row for each person (formulas.md, 9.12).
#pragma once

#include "query/levels.hpp"

namespace dp::query {

// Moves such conditions of a level into its FROM. Each key is in one row of the sub-SELECT, so a row outside is joined with one at most, where
// IN is true. A conjunct of WHERE becomes an inner join, any other one an outer join and a test of its key. The rest stays. 0A000: an IN whose
// NULL would matter.
void join_people(const Level *level, ParseState *source);

} // namespace dp::query
