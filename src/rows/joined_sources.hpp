// The sources of a leaf that joins several (formulas.md, 9.7 to 9.9). Nothing of it is called for a leaf over one.
#pragma once

#include "rows/aggregate_arguments.hpp"

namespace dp::rows {

// 0A000: their people have different odometers, or each row of one is a person of its own.
void check_one_domain(const catalog::Settings *first, const catalog::Settings *other);
// Errors: 55000 for what is no public table for the view, 0A000 where each row of the view is a person of its own.
void check_declared(const catalog::Reading &reading, const catalog::Settings *settings, const query::Source &source);

// Locks all of them, and all ancestors, before any is looked at, and checks them. Returns them with their parts.
const List *lock_and_check_joined(const Question *question);

// Returns how joined rows find their units. reading: where rows of public tables are counted; null where it does not matter how many.
// 0A000: something is not linked.
Units *joined_units(const Question *question, const catalog::Reading *reading);

// Sets how many joined rows a unit may have at most. 54000: too many.
void limit_joined_rows(const Question *question, Units *units);

// 54000: a joined row would have more columns than a row may have.
void check_carried_columns(const Question *question);

// Checks tests: EXISTS and IN (SELECT ...) as values (formulas.md, 9.9). Each is an outer join with the different values that its sources have
// where rows are compared, so that it makes no row two:
//
//   SELECT .., t.found IS TRUE FROM visit LEFT JOIN (SELECT true AS found, visit_id FROM diagnosis WHERE .. GROUP BY visit_id) t
//   ON t.visit_id = visit.visit_id
//
// 0A000: x IN (SELECT y ..) whose value is told apart from false where it is NULL, and x or y may be; a condition that is none of
// equalities any more once its constants are folded.
void check_tests(ColumnRanges *columns, const Question *question);

} // namespace dp::rows
