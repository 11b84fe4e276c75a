// Aggregates of two columns: corr(y, x) and the like (formulas.md, 8.10).
#pragma once

#include "query/leaf.hpp"

namespace dp::query {

// Returns true for an aggregate of two columns that is answered.
bool takes_two_columns(const Aggref *call);

// The argument of such a call is the point that y and x make: NULL where either of them is, and one node wherever an argument is. Nobody
// can write it, since point() is on no list of what may touch a row (query/total); it cannot fail.
Node *joint_argument(Node *y, Node *x);
// y and x; NIL: it is another argument.
List *joint_parts(Node *argument);

} // namespace dp::query
