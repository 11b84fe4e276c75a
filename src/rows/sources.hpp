// The tables that a leaf is read from: those behind its sources, and those that lead from their rows to units, behind them
// (formulas.md, 9.1 and 9.7).
#pragma once

#include "rows/question.hpp"

namespace dp::rows {

// Locks the tables of the leaf's sources, in one order for all, and reads their settings and columns into question->sources; the
// first one's stand for all in question->settings. Errors: 55000 for what is no restricted view or has changed, 0A000 for
// several domains, or several sources whose rows are units.
void open_sources(const catalog::Reading &reading, Question *question, ParamListInfo parameters);

// Locks and checks the tables and those on the paths to their units; leaves them in question->checked. What the paths mean; null where
// a row is a unit. Errors: 55000, naming the table and the remedy; 0A000 for joins that are not linked, or of tables that other
// servers keep.
Units *resolve_sources(const catalog::Reading &reading, Question *question);
// Resolves the one table of question->settings, where there is no leaf.
Units *resolve_table(Question *question);

// Repeats the checks of resolve_sources() as the tables' owner, because a charge takes time. Returns the tables with their parts.
// Errors: 55000, also where a unit had one row at most and no key says so any more.
const List *check_sources(const Question *question);

// Makes a statement over one of several sources alone, with what leads to its units; their columns into `values`.
Query *select_from_source(const Question *question, int source, List **values);

} // namespace dp::rows
