// Which groups conditions leave, and which they name (formulas.md, 8.12): conjuncts of WHERE and of the views' filters, which stand above
// all joins.
#pragma once

#include "rows/aggregate_arguments.hpp"
#include "rows/compared.hpp"

namespace dp::rows {

// Tells whether a condition holds for all equal values of x or for none. Of types whose equal values may differ only comparisons of x
// itself are known to.
bool is_of_value(Node *condition, Node *x);
// Returns the conditions of the question (Node *, total) that these columns alone decide (Var *, over the tables).
List *conditions_over(const Question *question, const List *columns);

// Lists the groups that conditions name: key = constant, key IN (..), and these joined by OR. False: they name none. 54000: too many.
bool named_groups(const Narrowed *narrowed, const Question *question, int key, Node *folded, KeyDomain *domain);

// Refuses conditions that no count of one person's rows can meet, whatever rows there are (22023): WHERE and HAVING, and each FILTER.
void check_counts(ColumnRanges *columns, const Question *question);
// Says of which column conditions leave nothing that was declared: there may be such rows, but hardly anybody means them. Null: of none.
const char *text_of_beyond(ColumnRanges *columns, const Question *question);

// Says how many groups conditions name or leave, and which bounds follow from them; null: they change neither.
const char *text_of_narrowed(const Question *question);

// Tells whether a key is a column that may be NULL, also where the conditions hold, and its list of groups has no NULL: rows may be in no
// group.
bool lacks_null(const Question *question, int key);

} // namespace dp::rows
