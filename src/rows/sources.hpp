// The tables that a leaf is read from: the facade's at varno 1, then those that lead from its rows to their units
// (formulas.md, 9.1).
#pragma once

#include "rows/question.hpp"

namespace dp::rows {

// Locks and checks the table and those on the path to its units; leaves them in question->checked. What the path means; null where
// a row is a unit. Errors: 55000, naming the table and the remedy.
Units *resolve_sources(Question *question);

// What was checked then, once more, and of now: a charge takes its time. As the owner of the tables. Returns them with their parts.
// Errors: 55000, also where a unit had one row at most and no key says so any more.
const List *check_sources(const Question *question);

// SELECT FROM table [, ancestors..] WHERE where AND links, those of a clipped question; they are a part of question->where
// elsewhere. Whoever runs it needs no permission on any.
Query *select_from_sources(const Question *question, Node *where);

} // namespace dp::rows
