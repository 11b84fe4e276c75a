// FROM and WHERE of internal statements: the tables behind the views, copies of public ones, sub-SELECTs, and what leads to units.
#pragma once

#include "rows/question.hpp"

namespace dp::rows {

// SELECT FROM sources [, ancestors..] WHERE where AND links, those of a clipped question; they are a part of question->where
// elsewhere. Whoever runs it needs no permission on any.
Query *select_from_sources(const Question *question, Node *where);
// Adds the tables that lead to units to FROM, behind what is there.
void add_ancestors(Query *query, const List *ancestors);

} // namespace dp::rows
