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

// Reads FROM and WHERE. Expressions over joins' columns become such over columns of the sources. of_unit: of a sub-SELECT with rows of units.
void open_from(Leaf *leaf, Query *query, bool of_unit, ParseState *source);
// Checks that a key's type has an order: groups are matched and sorted by its default btree operators.
void check_key_type(Node *key, ParseState *source);
// Makes a key of an expression over the sources.
Key key_of(const Leaf *leaf, Node *expression, SortGroupClause *clause);
// Checks the conditions of FROM, WHERE and sub-SELECTs, and of HAVING.
void check_conditions(const Leaf *leaf, ParseState *source);

// Whether min, max or a percentile is asked for.
bool asks_quantile(const Leaf *leaf);
// Whether what is asked for is of two columns: a covariance, a correlation, a line of regression.
bool asks_joint(const Leaf *leaf);

} // namespace dp::query
