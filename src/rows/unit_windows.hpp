// Resolves functions over windows of one unit's rows (query/windows; formulas.md, 9.18).
#pragma once

#include "query/cost.hpp"
#include "rows/aggregate_arguments.hpp"

namespace dp::rows {

// Resolves the windows of a question, and lists the columns that it reads beside them. Its functions and carried columns are known.
void resolve_windows(Question *question, query::RowCost *cost);

// Returns a function that depends on the order of rows over the tables, total. Where its values lie goes to *range, the column whose values
// they are, if any, to *of.
Node *resolve_numbered(ColumnRanges *columns, const WindowFunc *asked, query::Range *range, Var **of,
                       query::RowCost *cost);
// Puts calls over a window in the place of aggregates.
Node *over_window(Node *aggregate, Index window);

// Refuses columns of which equal values may look different, or that have no order (0A000).
void check_read_columns(const Question *people);

// Returns the number of the column that shows a key of a sub-SELECT; 0: none does.
int number_of_key(const query::Leaf *leaf, Node *key);
// Returns the number of the column that numbers all rows of a unit; 0: there is none.
int number_of_rows(const Question *people);
// Returns how many rows of a unit in a source meet the conditions above it at most, by the numbers that it gives them; INT_MAX: any.
int most_numbered(const Question *question, const Source &source, ParamListInfo parameters);

// Makes the windows of a statement that has the columns of the unit.
void add_windows(Query *query, const Question *people, const List *values);
// Returns an expression over the one spelling of each column; a column is one as well.
Node *in_one_spelling(Node *expression);
// Likewise, where what is longer than a key is NULL.
Node *in_short_spelling(Node *expression);

} // namespace dp::rows
