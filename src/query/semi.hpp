// Semi-joins: conjuncts of WHERE that ask whether a further source has a row for this one (formulas.md, 9.9).
#pragma once

#include "query/leaf.hpp"

namespace dp::query {

// Takes [NOT] EXISTS (SELECT .. FROM source WHERE ..) and x [NOT] IN (SELECT .. FROM source ..) out of leaf->where: the source
// comes behind those of FROM, and its condition into leaf->semi_joins. Sub-SELECTs of another form stay where they are, and are refused
// there. 0A000: what such a sub-SELECT may not have, naming it; NOT IN over a facade; 54000: more than max_sources.
void read_semi_joins(Leaf *leaf, Query *query, ParseState *source);

// Whether it would be one in WHERE.
bool has_form_of_semi_join(const SubLink *link);

// Executor's checks of the sub-SELECTs, as of the leaf itself.
void check_semi_permissions(const Leaf *leaf);

} // namespace dp::query
