// Expressions of a question as text.
#pragma once

#include "rows/question.hpp"

namespace dp::rows {

// An expression over unit_varno with the aggregates in the place of the columns, for texts; over the views, or the tables. A copy.
Node *with_aggregates(const Question *question, Node *node, bool views);
// As the statement computes them: their parameters are values. A copy.
Node *with_columns(const Question *question, Node *node);
// An expression over the tables, as text: columns behind the names of their tables where there are several.
const char *text_over_tables(const Question *question, Node *node);
// The same over the views of the leaf.
const char *text_over_views(const Question *question, Node *node);
// What it is called where people look: its column, or the expression over the view.
const char *argument_text(const Question *question, int aggregate);
// Returns an argument of the leaf as it was written; of two columns both.
const char *expression_text(const Question *question, Node *expression);
// Returns one of two columns as it was written, without the cast to double precision that the server adds.
Node *as_written(const List *parts, int part);

} // namespace dp::rows
