// The FROM of an internal statement over several sources, with its EXISTS (formulas.md, 9.7 to 9.9). Nothing of it is called for a leaf
// over one.
#pragma once

#include "rows/question.hpp"

namespace dp::rows {

// SELECT FROM sources WHERE ..., with aggregates, at the places that the leaf's entries have: the tables behind its views, copies of
// public ones, and its joins.
Query *select_from_joined(const Question *question, Node *where);

} // namespace dp::rows
