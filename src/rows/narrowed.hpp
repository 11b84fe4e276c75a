// What conditions say of the values in the rows that are counted (formulas.md, 8.12): conjuncts of WHERE and of the views' filters, which
// stand above all joins.
#pragma once

#include "query/range.hpp"
#include "rows/question.hpp"

namespace dp::rows {

struct Narrowed;

// Reads conditions (Node *, over the tables, their constants folded; null ones say nothing).
const Narrowed *read_conditions(const List *conditions);
// Intersects the range of an expression with what the conditions say of it. Where they do not meet the range stays.
void narrow(const Narrowed *narrowed, Node *expression, query::Range *range);

// Returns the conjuncts of a condition, at any depth of AND.
List *conjuncts_of(Node *condition);
// Tells whether a condition holds for all equal values of x or for none. Of types whose equal values may differ only comparisons of x
// itself are known to.
bool is_of_value(Node *condition, Node *x);
// Returns the conditions of the question (Node *, total) that these columns alone decide (Var *, over the tables).
List *conditions_over(const Question *question, const List *columns);

// Lists the groups that conditions name: key = constant, key IN (..), and these joined by OR. False: they name none. 54000: too many.
bool named_groups(const Narrowed *narrowed, const Question *question, int key, Node *folded, KeyDomain *domain);

// Raises 22023: the conditions leave none of the values that are declared of the columns of a key. Both are named where they are intervals
// that do not meet.
[[noreturn]] void refuse_empty(const Narrowed *narrowed, Node *folded, query::ColumnRange of_column, void *context);

// Tells whether a key is a column that may be NULL, also where the conditions hold, and its list of groups has no NULL: rows may be in no
// group.
bool lacks_null(const Question *question, int key);

} // namespace dp::rows
