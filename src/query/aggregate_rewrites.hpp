// Rewrites aggregates that a leaf does not know into those that it does: several fractions (fractions), intervals (intervals).
// The question changes; the columns of the statement keep their types.
#pragma once

#include "border/postgres.hpp"

namespace dp::query {

// An aggregate where it stands.
struct Call {
    Aggref *aggregate;
    const FuncExpr *mark; // dp_low or dp_high around it; null: none
};

// null: it stays as it is.
using Words = Node *(*)(const Call &call, void *context);

// In the target list and HAVING of a level, also where sub-SELECTs in them refer to it.
void say_aggregates(Query *query, Words words, void *context);

// Puts a mark around an aggregate of another type; returns the aggregate where there is no mark.
Node *with_mark(const FuncExpr *mark, Node *aggregate);

} // namespace dp::query
