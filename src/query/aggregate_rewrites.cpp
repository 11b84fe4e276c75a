#include "query/aggregate_rewrites.hpp"

#include "border/walk.hpp"
#include "query/interval_marks.hpp"

namespace dp::query {

namespace {
struct Rewrite {
    Words words;
    void *context;
    Index level; // sublinks deep
};
} // namespace

Node *with_mark(const FuncExpr *mark, Node *aggregate) {
    if (mark == nullptr)
        return aggregate;
    auto *copy = static_cast<FuncExpr *>(copyObjectImpl(mark));
    copy->args = list_make1(aggregate);
    copy->funcresulttype = exprType(aggregate);
    copy->funccollid = exprCollation(aggregate);
    return reinterpret_cast<Node *>(copy);
}

static Node *rewritten(Node *node, void *context) {
    auto *rewrite = static_cast<Rewrite *>(context);
    if (node == nullptr)
        return nullptr;
    Node *inner = marked(node);
    Node *call = inner == nullptr ? node : inner;
    if (IsA(call, Aggref)) {
        Node *said = nullptr;
        if (castNode(Aggref, call)->agglevelsup == rewrite->level)
            said = rewrite->words({castNode(Aggref, call), inner == nullptr ? nullptr : castNode(FuncExpr, node)},
                                  rewrite->context);
        return said == nullptr ? static_cast<Node *>(copyObject(node)) : said;
    }
    if (!IsA(node, Query))
        return border::mutate_expression(node, rewritten, context);
    rewrite->level++;
    Query *query = border::mutate_query(castNode(Query, node), rewritten, context, 0);
    rewrite->level--;
    return reinterpret_cast<Node *>(query);
}

void say_aggregates(Query *query, Words words, void *context) {
    Rewrite rewrite = {words, context, 0};
    query->targetList = reinterpret_cast<List *>(rewritten(reinterpret_cast<Node *>(query->targetList), &rewrite));
    query->havingQual = rewritten(query->havingQual, &rewrite);
}

} // namespace dp::query
