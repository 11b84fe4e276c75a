// Checks a leaf against a closed grammar over checked nodes, by OID (architecture.md, 5; K2). Everything that is not named here
// is refused, with the part named and the same text whatever the rows.
#pragma once

#include "query/condition.hpp"
#include "query/leaf.hpp"
#include "query/parse.hpp"

namespace dp::query {

// The leaf that a query level is, or an error (0A000 with the offending part; 42501 for raw columns; 55000 for a relation
// that is no facade). `source` may be null.
Leaf *check_leaf(const Query *written, ParseState *source);

// Returns the column under relabelings (varchar as text, a domain as its base type); null if the argument is anything else.
Var *argument_column(Node *argument);

// Whether min, max or a percentile is asked for.
bool asks_quantile(const Leaf *leaf);
// Whether what is asked for is of two columns: a covariance, a correlation, a line of regression.
bool asks_joint(const Leaf *leaf);

} // namespace dp::query
