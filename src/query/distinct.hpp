// Distinct expressions, as equal() tells them apart, in order of first use. A look-up does not compare with all of them:
// a statement may hold any number of aggregates.
#pragma once

#include "border/postgres.hpp"

namespace dp::query {

struct Distinct {
    List *nodes;
    HTAB *places; // hash value -> places in `nodes`; null: there are none

    static Distinct none();
    // Adds a node if there is no equal one. Returns its place, counted from 1.
    int add(Node *node);
    // Counted from 1; 0 if there is no equal node.
    int place_of(Node *node) const;
    int count() const {
        return list_length(nodes);
    }
};

} // namespace dp::query
