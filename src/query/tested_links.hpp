// Sub-SELECTs that are values of expressions, where only `true` may matter: a FILTER, a condition of CASE, what AND and OR make of these.
#pragma once

#include "border/postgres.hpp"

namespace dp::query {

// Returns what takes the place of a sub-SELECT; null: it stays. only_true: false and unknown are the same there.
using PutLink = Node *(*)(SubLink *link, bool only_true, void *context);

// Changes the sub-SELECTs of an expression. everywhere: also outside of aggregates.
Node *put_links(Node *node, bool only_true, bool everywhere, PutLink put, void *context);

} // namespace dp::query
