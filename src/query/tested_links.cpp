#include "query/tested_links.hpp"

#include "border/visit.hpp"

namespace dp::query {

namespace {
struct Walk {
    bool only_true; // of the expression that is looked at
    bool everywhere;
    PutLink put;
    void *context;
};
} // namespace

static Node *put_here(Node *node, void *context);

static Node *put_below(Node *node, Walk walk, bool only_true) {
    walk.only_true = only_true;
    return put_here(node, &walk);
}

static Node *put_into_aggregate(const Aggref *call, Walk walk) {
    walk.everywhere = true;
    auto *own = copyObject(const_cast<Aggref *>(call));
    own->args = reinterpret_cast<List *>(put_below(reinterpret_cast<Node *>(own->args), walk, false));
    own->aggfilter = reinterpret_cast<Expr *>(put_below(reinterpret_cast<Node *>(own->aggfilter), walk, true));
    return reinterpret_cast<Node *>(own);
}

static Node *put_into_when(const CaseWhen *when, const Walk &walk) {
    auto *own = copyObject(const_cast<CaseWhen *>(when));
    own->expr = reinterpret_cast<Expr *>(put_below(reinterpret_cast<Node *>(own->expr), walk, true));
    own->result = reinterpret_cast<Expr *>(put_below(reinterpret_cast<Node *>(own->result), walk, false));
    return reinterpret_cast<Node *>(own);
}

static Node *put_here(Node *node, void *context) {
    auto *walk = static_cast<Walk *>(context);
    check_stack_depth();
    if (node == nullptr)
        return nullptr;
    if (IsA(node, Aggref))
        return put_into_aggregate(castNode(Aggref, node), *walk);
    if (IsA(node, CaseWhen))
        return put_into_when(castNode(CaseWhen, node), *walk);
    if (IsA(node, BooleanTest) && (castNode(BooleanTest, node)->booltesttype == IS_TRUE ||
                                   castNode(BooleanTest, node)->booltesttype == IS_NOT_TRUE)) {
        auto *own = copyObject(castNode(BooleanTest, node));
        own->arg = reinterpret_cast<Expr *>(put_below(reinterpret_cast<Node *>(own->arg), *walk, true));
        return reinterpret_cast<Node *>(own);
    }
    if (IsA(node, SubLink)) {
        Node *other =
            walk->everywhere ? walk->put(castNode(SubLink, node), walk->only_true, walk->context) : nullptr;
        return other == nullptr ? node : other; // shape refuses it
    }
    Walk below = *walk;
    below.only_true =
        walk->only_true && (IsA(node, List) || (IsA(node, BoolExpr) && castNode(BoolExpr, node)->boolop != NOT_EXPR));
    return border::mutate_expression(node, put_here, &below);
}

Node *put_links(Node *node, bool only_true, bool everywhere, PutLink put, void *context) {
    Walk walk = {only_true, everywhere, put, context};
    return put_here(node, &walk);
}

} // namespace dp::query
