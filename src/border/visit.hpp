// Walks over parse trees with a lambda, in place of a callback and the record of what it needs.
#pragma once

#include "border/walk.hpp"

namespace dp::border {

// Says where a walk goes behind a node: into its parts, past them, or nowhere.
enum class Step : uint8 { in, past, stop };

template <class F> struct Visit {
    F see;
    Index level; // queries between the beginning and the node
    int flags;
};

template <class F> bool visit_node(Node *node, void *context) {
    auto *visit = static_cast<Visit<F> *>(context);
    if (node == nullptr)
        return false;
    const Step step = visit->see(node, visit->level);
    if (step != Step::in)
        return step == Step::stop;
    if (!IsA(node, Query))
        return walk_expression(node, visit_node<F>, context);
    visit->level++;
    const bool stopped = walk_query(castNode(Query, node), visit_node<F>, context, visit->flags);
    visit->level--;
    return stopped;
}

// Shows the nodes of an expression, and of queries in it, to see(node, level), a Step. Returns whether that said stop. flags: of
// query_tree_walker().
template <class F> bool visit(Node *expression, int flags, F see) {
    Visit<F> all = {see, 0, flags};
    return visit_node<F>(expression, &all);
}
template <class F> bool visit(Node *expression, F see) {
    return visit(expression, 0, see);
}

// Shows what stands in a query: that is of level 0.
template <class F> bool visit_query(Query *query, int flags, F see) {
    Visit<F> all = {see, 0, flags};
    return walk_query(query, visit_node<F>, &all, flags);
}

// Returns whether something holds for a node of an expression; queries in it are not looked into.
template <class F> bool any(Node *expression, F holds) {
    return visit(expression, [&](Node *node, Index) {
        return holds(node) ? Step::stop : IsA(node, Query) ? Step::past : Step::in;
    });
}

template <class F> Node *change_node(Node *node, void *context) {
    auto *change = static_cast<Visit<F> *>(context);
    Node *other = node == nullptr ? nullptr : change->see(node, change->level);
    if (node == nullptr || other != nullptr)
        return other;
    if (!IsA(node, Query))
        return mutate_expression(node, change_node<F>, context);
    change->level++;
    Query *query = mutate_query(castNode(Query, node), change_node<F>, context, change->flags);
    change->level--;
    return reinterpret_cast<Node *>(query);
}

// Returns an expression, and queries in it, with put(node, level) for a node. Null there: the node with its parts changed.
template <class F> Node *change(Node *expression, int flags, F put) {
    Visit<F> all = {put, 0, flags};
    return change_node<F>(expression, &all);
}
template <class F> Node *change(Node *expression, F put) {
    return change(expression, 0, put);
}

} // namespace dp::border
