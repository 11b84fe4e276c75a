// One row for each unit between the tables and a leaf (query/per_unit; formulas.md, 9.12). The internal statement becomes
//
//   SELECT unit.., dp_rdr.cells(spec, unit.., keys.., arguments..)
//   FROM (SELECT aggregates.., only_value(carried).., unit.. FROM tables WHERE .. AND links GROUP BY unit..) s
//   WHERE .. AND its key is declared GROUP BY unit..
//
// so that a unit brings one row, whatever it has. Everything above is over Vars of query::unit_varno and over the columns that are
// carried, Vars of the tables; both are columns of `s`.
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

// The sub-SELECT, with what is carried and the unit's columns behind the aggregates; and the latter as Vars of unit_varno, in `values`.
Query *select_per_unit(const Question *question, List **values);
// Vars of unit_varno, and what is carried, become Vars of the statement's only entry. A copy.
Node *over_statement(const Question *question, Node *node);

} // namespace dp::rows
