// Aggregates of one level of a statement, said by aggregates that a leaf knows: several fractions (fractions), intervals (intervals).
// What is asked changes, what the statement shows does not: its type stays the same.
#pragma once

#include "query/distinct.hpp"

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

// Holds the first name that targets give to each aggregate, or column of the answer. A target may show it as it is, as an interval,
// or in an array: then its number there is part of the name.
struct ShownNames {
    Distinct nodes;
    List *names; // char *: of each node

    // unnamed: also of a target that has no name of its own ("?column?").
    static ShownNames of(const List *targets, bool unnamed);
    // null: no target shows the node.
    const char *name_of(Node *node) const;

  private:
    void add(Node *shown, char *name);
};

} // namespace dp::query
