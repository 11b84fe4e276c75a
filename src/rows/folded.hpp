// The constants of a leaf.
#pragma once

#include "query/leaf.hpp"

namespace dp::rows {

// Puts values in the places of parameters and constant expressions, wherever the leaf has them. Aggregates that are equal then take
// the same argument and filter. Once that is done, nothing below needs
// the parameters. Errors: those of query::fold_constants.
void fold_leaf(query::Leaf *leaf, ParamListInfo parameters);

// Evaluates the arrays of rows that the statement passes, before anything is looked up in them.
void fold_passed_rows(query::Leaf *leaf, ParamListInfo parameters);

} // namespace dp::rows
