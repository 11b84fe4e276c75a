// Columns that follow from what is grouped by: GROUP BY names the key of a public table, and the statement shows other columns of its row.
#pragma once

#include "border/postgres.hpp"

namespace dp::query {

// They become keys as well, which splits no group (formulas.md, 9.8): an answer holds keys and numbers, and nothing else. Where there are
// grouping sets, and in sub-SELECTs of the target list, they stay as they are, and the rest of the statement refuses them. 54000: more keys than
// an answer may have.
void group_dependent(Query *query);

} // namespace dp::query
