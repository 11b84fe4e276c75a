// Looks through what changes nothing but the type or the collation of an expression.
#pragma once

#include "border/postgres.hpp"

namespace dp::query {

// Returns what stands below casts that change nothing but the type.
inline Node *without_relabelings(Node *node) {
    while (node != nullptr && IsA(node, RelabelType))
        node = reinterpret_cast<Node *>(castNode(RelabelType, node)->arg);
    return node;
}

// Whether a cast that changes nothing but the type keeps equal values equal and others different: not so text::bpchar.
bool keeps_equality(const RelabelType *cast);
// Returns what stands below such casts.
Node *without_equal_relabelings(Node *node);

// Returns what stands below COLLATE and such casts.
inline Node *without_labels(Node *node) {
    for (node = without_relabelings(node); node != nullptr && IsA(node, CollateExpr); node = without_relabelings(node))
        node = reinterpret_cast<Node *>(castNode(CollateExpr, node)->arg);
    return node;
}

} // namespace dp::query
