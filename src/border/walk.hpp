// expression_tree_walker and friends with typed callbacks: before PostgreSQL 16 they are declared with an empty parameter
// list (1c27d16e6e5 gave them prototypes).
#pragma once

#include "border/postgres.hpp"

namespace dp::border {

using Walker = bool (*)(Node *, void *);
using Mutator = Node *(*)(Node *, void *);

#if PG_VERSION_NUM >= 160000
inline Walker walker(Walker f) {
    return f;
}
inline Mutator mutator(Mutator f) {
    return f;
}
#else
inline bool (*walker(Walker f))() {
    return reinterpret_cast<bool (*)()>(reinterpret_cast<void *>(f));
}
inline Node *(*mutator(Mutator f))() {
    return reinterpret_cast<Node *(*)()>(reinterpret_cast<void *>(f));
}
#endif

// Every step of every walk comes through one of these four: a statement of any size can be cancelled, and the server's
// walkers check the depth of the stack.
inline bool walk_expression(Node *node, Walker f, void *context) {
    CHECK_FOR_INTERRUPTS();
    return expression_tree_walker(node, walker(f), context);
}
inline bool walk_raw(Node *node, Walker f, void *context) {
    return raw_expression_tree_walker(node, walker(f), context);
}
inline bool walk_query(Query *query, Walker f, void *context, int flags) {
    CHECK_FOR_INTERRUPTS();
    return query_tree_walker(query, walker(f), context, flags);
}
inline Node *mutate_expression(Node *node, Mutator f, void *context) {
    CHECK_FOR_INTERRUPTS();
    return expression_tree_mutator(node, mutator(f), context);
}
inline Query *mutate_query(Query *query, Mutator f, void *context, int flags) {
    CHECK_FOR_INTERRUPTS();
    return query_tree_mutator(query, mutator(f), context, flags);
}

} // namespace dp::border
