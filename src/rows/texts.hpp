// Expressions of a question as text.
#pragma once

#include "rows/question.hpp"

namespace dp::rows {

// Returns an expression over the views of the leaf, as text.
const char *text_over_views(const Question *question, Node *node);
// Returns the name of an argument for people: its column, or the expression over the view.
const char *argument_text(const Question *question, int aggregate);
// Returns expressions over the views as they were written, behind each other: joined ones by the aliases of the statement.
const char *written_text(const Question *question, const List *expressions);
// Returns the same, cut where it is long.
const char *expression_text(const Question *question, const List *expressions);
// Cuts a long expression: it stands in messages and in the ledger, beside the text.
const char *shortened(const char *text);
// Lists the arguments of an aggregate as they were written: without the casts to double precision that the server adds where it has
// two, or a percentile.
List *written_arguments(const query::Aggregate &aggregate);

} // namespace dp::rows
