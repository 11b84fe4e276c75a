// Aggregates of one level of a statement, said by aggregates that a leaf knows: several fractions (fractions), intervals (intervals).
// What is asked changes, what the statement shows does not: its type stays the same.
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

// The same mark around an aggregate of another type; without a mark the aggregate.
Node *with_mark(const FuncExpr *mark, Node *aggregate);

} // namespace dp::query
