// From PostgreSQL 18 on the parser adds an entry for the grouping to the range table, and target list and HAVING name the keys
// as its columns. We look for keys as expressions over what is in FROM, as every version before says it.
#pragma once

#include "border/postgres.hpp"

namespace dp::border {

// One level, in place. Not for one with grouping sets that the planner will see: there a key is not its expression.
void flatten_grouping(Query *level);
// Returns the expression that a column of the entry of a grouping stands for; null: it is another entry.
Node *grouped_by(const RangeTblEntry *entry, AttrNumber attno);
// All levels, for what is deparsed and parsed anew.
void flatten_all_grouping(Query *query);

} // namespace dp::border
