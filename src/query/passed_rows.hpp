// Rows that a statement passes to a leaf, a column as an array: they follow from no row of a view but through answers of their own
// (formulas.md, 9.17). In a leaf they are unnest(..) of constants.
#pragma once

#include "query/own_values.hpp"

namespace dp::query {

// Whether an entry of FROM has rows to pass. answer: as in query/own_values.
bool has_rows_to_pass(const RangeTblEntry *entry, const Level *level, const Level *answer);

// Makes them a query of WITH, and the leaf's entry, each column of which is what ARRAY(SELECT column FROM it) gives.
RangeTblEntry *pass_rows(const Query *query, const RangeTblEntry *entry, const Move &move, int number,
                         CommonTableExpr **with);

// Nobody computes columns of `leaf` that it does not name.
void forget_unused_columns(Query *leaf);

} // namespace dp::query
