#include "query/interval_marks.hpp"

#include "border/visit.hpp"
#include "query/hints.hpp"

namespace dp::query {

static bool is_mark(Oid function, const char *name) {
    Oid any[1] = {ANYELEMENTOID};
    List *qualified = list_make2(makeString(pstrdup("pg_catalog")), makeString(pstrdup(name)));
    return function == LookupFuncName(qualified, 1, any, true);
}

Part part_of_mark(Oid function) {
    if (function < FirstUnpinnedObjectId)
        return Part::value;
    return is_mark(function, "dp_low") ? Part::low : is_mark(function, "dp_high") ? Part::high : Part::value;
}

Node *marked(Node *node, Part *part) {
    if (node == nullptr || !IsA(node, FuncExpr))
        return nullptr;
    auto *call = castNode(FuncExpr, node);
    Part which = part_of_mark(call->funcid);
    if (which == Part::value)
        return nullptr;
    if (part != nullptr)
        *part = which;
    return static_cast<Node *>(linitial(call->args));
}

void refuse_mark(Node *call, ParseState *source) {
    refuse_part(psprintf("%s of anything but one aggregate of the view", get_func_name(castNode(FuncExpr, call)->funcid)),
                mark_remedy, source, exprLocation(call));
}

void refuse_marks(Query *query, ParseState *source) {
    border::visit(reinterpret_cast<Node *>(query), [=](Node *node, Index) {
        if (marked(node) != nullptr)
            refuse_mark(node, source);
        return border::Step::in;
    });
}

} // namespace dp::query
