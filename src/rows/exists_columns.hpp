// Tests: EXISTS and IN (SELECT ...) as values (formulas.md, 9.9). Each is an outer join with the different values that its sources have
// where rows are compared, so that it makes no row two:
//
//   SELECT .., t.found IS TRUE FROM visit LEFT JOIN (SELECT true AS found, visit_id FROM diagnosis WHERE .. GROUP BY visit_id) t
//   ON t.visit_id = visit.visit_id
#pragma once

#include "rows/aggregate_arguments.hpp"

namespace dp::rows {

// 0A000: x IN (SELECT y ..) whose value is told apart from false where it is NULL, and x or y may be; a condition that is none of
// equalities any more once its constants are folded.
void check_tests(ColumnRanges *columns, const Question *question);

} // namespace dp::rows
