#include "query/aggregate_rewrites.hpp"

#include "border/visit.hpp"
#include "query/interval_marks.hpp"
#include "query/make.hpp"

namespace dp::query {

Node *with_mark(const FuncExpr *mark, Node *aggregate) {
    if (mark == nullptr)
        return aggregate;
    auto *copy = static_cast<FuncExpr *>(copyObjectImpl(mark));
    copy->args = list_make1(aggregate);
    copy->funcresulttype = exprType(aggregate);
    copy->funccollid = exprCollation(aggregate);
    return reinterpret_cast<Node *>(copy);
}

static Node *rewritten(Node *tree, Words words, void *context) {
    return border::change(tree, [=](Node *node, Index level) -> Node * {
        Node *call = below_mark(node);
        if (!IsA(call, Aggref))
            return nullptr;
        Node *said = nullptr;
        if (castNode(Aggref, call)->agglevelsup == level)
            said = words({castNode(Aggref, call), call == node ? nullptr : castNode(FuncExpr, node)}, context);
        return said == nullptr ? copied(node) : said;
    });
}

void say_aggregates(Query *query, Words words, void *context) {
    query->targetList =
        reinterpret_cast<List *>(rewritten(reinterpret_cast<Node *>(query->targetList), words, context));
    query->havingQual = rewritten(query->havingQual, words, context);
}

} // namespace dp::query
