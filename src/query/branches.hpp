// UNION of rows of units (formulas.md, 9.19): a sub-SELECT whose parts are sources of their own, and stand below each other.
#pragma once

#include "query/leaf.hpp"
#include "query/levels.hpp"

namespace dp::query {

// Makes UNION of rows, which keeps one of equal ones, GROUP BY of all columns over UNION ALL; INTERSECT and EXCEPT of rows of units such a
// one with HAVING, which asks for the sides that a row is on. 0A000: of others.
void group_union(const Level *level, ParseState *source);

// Lists the parts of UNION ALL, RangeTblEntry *. Errors: 0A000 for any other set operation, and for a cut.
List *branches_of(const Query *query, ParseState *source);
// Gives the columns of a part the types that those of all have. Errors: 0A000 where its rows are not those of units.
void adapt_branch(const Level *part, const Query *all, ParseState *source);

// Reads UNION ALL as a source of a leaf, like read_people() (query/from).
Leaf *read_branches(Query *all, ParseState *source);

} // namespace dp::query
