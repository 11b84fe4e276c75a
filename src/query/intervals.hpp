// Aggregates of intervals that are differences of timestamps: avg(ended - started) is asked as the seconds that it has, and the statement
// makes an interval of the answer. Months have no length, so an interval that may have some is left to be refused.
#pragma once

#include "border/postgres.hpp"

namespace dp::query {

// In place: sum, avg, min, max and percentiles. people: Query *, of the sources those that have rows of units; null: a relation.
void ask_seconds(Query *query, const List *people);

// Returns the aggregate below a node that makes an interval of it; any other node as it is.
Node *before_interval(Node *node);

} // namespace dp::query
