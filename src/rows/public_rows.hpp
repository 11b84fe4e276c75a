// Public rows as a join reads them: a copy, made before any private row is read (architecture.md, 3.6).
//
// How much of a side a join reads depends on the other one. Of a table that an analyst may write he could see afterwards whether it
// was read: scans begin where another has stopped, and pages that were read take his next rows. So it is read as a whole, whatever else
// there is, with what its rows keep out of line.
#pragma once

#include "rows/question.hpp"

namespace dp::rows {

// 54000: a joined row may carry more long values of public rows than there is room for. A public check.
void check_public_columns(const Question *question);

// An entry of the internal statement for a public source: its rows, copied.
RangeTblEntry *public_entry(const Question *question, const Source &source);

// The copies of all public sources of a question, for run_plan; null: it has none. Under the active snapshot, as the current role.
// *executed: false where a plan would have read other relations than those that were checked, and nothing was copied.
QueryEnvironment *copy_public_rows(const Question *question, const List *checked, bool *executed);

// Hashes what the question uses of the rows of its public tables, in whatever order they come; 0: it has none. Answers that are averaged
// must be answers to one question. Under the active snapshot. Errors: 55000 when a plan would have read other relations.
uint64 hash_of_public_rows(const Question *question);

} // namespace dp::rows
