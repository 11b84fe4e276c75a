#include "query/interval_marks.hpp"

#include "border/walk.hpp"

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
    ereport(ERROR,
            (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
             errmsg("%s of anything but one aggregate of the view is not supported in a query on a restricted view",
                    get_func_name(castNode(FuncExpr, call)->funcid)),
             errhint("%s", mark_remedy), source ? parser_errposition(source, exprLocation(call)) : 0));
    pg_unreachable();
}

static bool refuse_left(Node *node, void *context) {
    if (node == nullptr)
        return false;
    if (marked(node) != nullptr)
        refuse_mark(node, static_cast<ParseState *>(context));
    return IsA(node, Query) ? border::walk_query(castNode(Query, node), refuse_left, context, 0)
                            : border::walk_expression(node, refuse_left, context);
}

void refuse_marks(Query *query, ParseState *source) {
    refuse_left(reinterpret_cast<Node *>(query), source);
}

} // namespace dp::query
