// What is summed or averaged: a column with declared bounds, or an expression whose bounds follow from those of its columns
// (formulas.md, 8.8).
#pragma once

#include "query/cost.hpp"
#include "query/range.hpp"
#include "rows/question.hpp"

namespace dp::rows {

struct Narrowed;

// Where the values of the tables' columns lie; each is looked up once.
struct ColumnRanges {
    const catalog::Reading *reading;
    const Question *question;
    query::Range *known; // by query::column_number
    bool *is_known;
    double tried; // nanoseconds that derived groups have cost so far (rows/expression_groups)
    const Narrowed *narrowed; // by what WHERE says (rows/narrowed); null: not yet known
};
ColumnRanges column_ranges(const catalog::Reading &reading, const Question *question);
query::Range range_of_column(const Var *column, void *columns); // ColumnRanges *
query::Range range_over_columns(Node *expression, ColumnRanges *columns); // over the tables, constants folded
bool gives_nan_over(Node *expression, ColumnRanges *columns); // some column in it may be NaN
// Resolves one expression over the tables, its constants folded.
Expression resolve_expression(ColumnRanges *columns, Node *folded, query::RowCost *cost);
// Computed once per argument that is no column: the node that is evaluated, and where its values lie.
void resolve_arguments(ColumnRanges *columns, Question *question, query::RowCost *cost);

// Narrows the bounds of arguments that are columns, once these are known.
void narrow_columns(ColumnRanges *columns, Question *question);

// 55000: nobody declared bounds of the column, or the expression has none.
const privacy::Bounds *argument_bounds(const catalog::Reading &reading, const Question *question, int aggregate);
// Returns the bounds of the second of two columns, x.
const privacy::Bounds *second_bounds(const catalog::Reading &reading, const Question *question, int aggregate);
// Refuses an expression over the views of which no bounds follow (55000). below: of one person's rows.
[[noreturn]] void refuse_unbounded(const Question *question, Node *argument, bool below);

} // namespace dp::rows
