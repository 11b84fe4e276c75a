// Constants of a question. Whoever asks evaluates what may take long, in his own process and at his own cost, so another process gets
// literals, values of parameters, and calls whose time is bounded by their length (architecture.md, 3.3). He evaluates as well what
// depends on the time or on names, which may mean something else in another process.
#pragma once

#include "query/leaf.hpp"
#include "query/parse.hpp"

namespace dp::query {

// Returns true for an expression that PostgreSQL computes when it is executed: of columns, literals, nothing that has its meaning at
// its place alone.
bool is_computed(Node *node);

// Returns true for a type whose values are written as names, of labels or of what a catalog has: each may become another value's.
bool is_name(Oid type);

// Checks a leaf and evaluates in it the constants that fold_constants would refuse, as the current user. Sets *evaluated to the leaf
// with their values, unchecked, or to null where it has none, nor a time such as 'now' that is not written as its value. Errors: those of check_leaf, and the natural ones of the constants.
Leaf *check_own_leaf(Parsed parsed, ParamListInfo parameters, Query **evaluated);

// Returns the expression with its functions opened and its constants evaluated, for the process of whoever wrote it.
Node *evaluate_constants(Node *expression);

// Returns the expression with parameters replaced by their values, with what is constant evaluated, the stable functions too (none is
// left to be evaluated for some rows only), and with concat in other words (query/expand_concat). Errors: 0A000 for a constant that may take
// long, or is computed from a name, 54000 for a value that is too long.
Node *fold_constants(Node *expression, ParamListInfo parameters);

} // namespace dp::query
