// The tables that a leaf is read from: the facade's at varno 1, then those that lead from its rows to their units
// (formulas.md, 9.1).
#pragma once

#include "rows/question.hpp"

namespace dp::rows {

// All of them and their parts, locked and checked as they are now; what keys say of units must be what it was when the question was resolved
// (55000). As the tables' owner. Called again by whoever evaluates: a charge takes its time.
const List *check_sources(const Question *question);

// SELECT FROM table [, ancestors..] WHERE where [AND links], with aggregates or without targets yet. Whoever runs it needs no permission on them.
Query *select_from_sources(const Question *question, Node *where);

} // namespace dp::rows
