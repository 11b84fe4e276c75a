// Resolves what a sub-SELECT with rows of units aggregates, and by what it tells them apart (query/per_unit; formulas.md, 9.12).
#pragma once

#include "query/cost.hpp"
#include "rows/aggregate_arguments.hpp"

namespace dp::rows {

// Of a leaf that has it: the aggregates over the tables, total, and where their values lie. question->units is known. Before keys and
// arguments. Errors: 55000 a numeric without bounds is summed; 0A000 values that cannot be counted, or rows on other servers.
void resolve_per_unit(ColumnRanges *columns, Question *question, query::RowCost *cost);

// Limits what a unit brings to one row, in one group. 0A000: a unit may have several values of a column that stands above, or that is
// one group's below.
void begin_per_unit(Question *question, Units *units);
// Whether that is so now, where it was not when the question was resolved.
bool has_lost_carried(const Question *question, const Units *now);

} // namespace dp::rows
