// Evaluates expressions over values that are listed, in the place of rows: which of them conditions leave, and what becomes of them.
// All of it is public. Under the settings and as the role of the internal statement the same text means the same there.
#pragma once

#include "border/postgres.hpp"

namespace dp::rows {

// Puts columns in the place of nodes (Node *): the first of them is column 1 of varno 1. *others: some column is in none of them.
Node *over_listed(Node *node, const List *nodes, bool *others);

// Evaluates over such columns, whose values stand in the slot.
struct Trial {
    EState *state;
    TupleTableSlot *slot;
    ExprState *test; // a condition; or null, which holds
};
// nodes: what the columns stand for. Their values are NULL.
Trial begin_trial(const List *nodes);
void end_trial(const Trial &trial);

// Values of one column.
struct Listed {
    int64 n;
    const Datum *values;
    const bool *nulls;
};
// Sets the values at a place in the product of all columns, of which the last one comes first to its next value.
void set_place(const Trial &trial, const Listed *columns, int64 place);

} // namespace dp::rows
