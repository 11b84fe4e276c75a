// FROM of a leaf's text: what a level was folded onto (query/flatten_subselects), as plain entries of a range table.
#pragma once

#include "query/flatten_subselects.hpp"

namespace dp::query {

// Gives the leaf the range table and the joins of a level that was folded, and its condition.
void add_from(Query *leaf, const Folded *folded, const Query *query);

// Whether some source is such a sub-SELECT.
bool has_people(const Folded *folded);
// 54001: too many parts, once references to its columns become what these are.
void check_opened_people(const Query *query, const Folded *folded, ParseState *source);

} // namespace dp::query
