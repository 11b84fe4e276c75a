#include "query/other_words.hpp"

#include "border/walk.hpp"
#include "query/marks.hpp"

namespace dp::query {

namespace {
struct Saying {
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

static Node *in_words(Node *node, void *context) {
    auto *saying = static_cast<Saying *>(context);
    if (node == nullptr)
        return nullptr;
    Node *inner = marked(node);
    Node *call = inner == nullptr ? node : inner;
    if (IsA(call, Aggref)) {
        Node *said = nullptr;
        if (castNode(Aggref, call)->agglevelsup == saying->level)
            said = saying->words({castNode(Aggref, call), inner == nullptr ? nullptr : castNode(FuncExpr, node)},
                                 saying->context);
        return said == nullptr ? static_cast<Node *>(copyObject(node)) : said;
    }
    if (!IsA(node, Query))
        return border::mutate_expression(node, in_words, context);
    saying->level++;
    Query *query = border::mutate_query(castNode(Query, node), in_words, context, 0);
    saying->level--;
    return reinterpret_cast<Node *>(query);
}

void say_aggregates(Query *query, Words words, void *context) {
    Saying saying = {words, context, 0};
    query->targetList = reinterpret_cast<List *>(in_words(reinterpret_cast<Node *>(query->targetList), &saying));
    query->havingQual = in_words(query->havingQual, &saying);
}

} // namespace dp::query
