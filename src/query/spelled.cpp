#include "query/spelled.hpp"

#include "border/walk.hpp"
#include "query/total.hpp"

namespace dp::query {

static Node *text_constant(const char *text) {
    return reinterpret_cast<Node *>(
        makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1, CStringGetTextDatum(text), false, false));
}

// A literal that nothing gives a type.
static Node *literal_as_text(const Const *literal) {
    if (literal->constisnull)
        return reinterpret_cast<Node *>(makeNullConst(TEXTOID, -1, DEFAULT_COLLATION_OID));
    return text_constant(DatumGetCString(literal->constvalue));
}

// Null: a cast would show something else. Of a boolean it is another word, and of char(n) it leaves blanks out.
static Node *as_text(Node *node) {
    const Oid type = getBaseType(exprType(node));
    if (type == TEXTOID)
        return node;
    if (type == UNKNOWNOID && IsA(node, Const))
        return literal_as_text(castNode(Const, node));
    if (type == VARCHAROID)
        return reinterpret_cast<Node *>(
            makeRelabelType(reinterpret_cast<Expr *>(node), TEXTOID, -1, exprCollation(node), COERCE_EXPLICIT_CAST));
    if (find_total_cast(type, TEXTOID) == nullptr)
        return nullptr;
    auto *cast = makeNode(CoerceViaIO);
    cast->arg = reinterpret_cast<Expr *>(node);
    cast->resulttype = TEXTOID;
    cast->resultcollid = DEFAULT_COLLATION_OID;
    cast->coerceformat = COERCE_EXPLICIT_CAST;
    cast->location = exprLocation(node);
    return reinterpret_cast<Node *>(cast);
}

// Of the collation of all: what it was given may be numbers alone, which have none.
static Node *joined(Node *left, Node *right, const FuncExpr *call) {
    return reinterpret_cast<Node *>(makeFuncExpr(F_TEXTCAT, TEXTOID, list_make2(left, right), call->funccollid,
                                                 call->funccollid, COERCE_EXPLICIT_CALL));
}

static Node *or_nothing(Node *text, const FuncExpr *call) {
    auto *choice = makeNode(CoalesceExpr);
    choice->coalescetype = TEXTOID;
    choice->coalescecollid = call->funccollid;
    choice->args = list_make2(text, text_constant(""));
    choice->location = call->location;
    return reinterpret_cast<Node *>(choice);
}

// before: a constant that stands before each value that is there; or null. Null: some value has no such text.
static Node *all_texts(const List *values, Node *before, const FuncExpr *call) {
    Node *all = nullptr;
    ListCell *cell;
    foreach (cell, values) {
        Node *text = as_text(static_cast<Node *>(lfirst(cell)));
        if (text == nullptr)
            return nullptr;
        if (before != nullptr)
            text = joined(static_cast<Node *>(copyObject(before)), text, call);
        text = or_nothing(text, call);
        all = all == nullptr ? text : joined(all, text, call);
    }
    return all;
}

// The first separator goes.
static Node *behind(Node *all, const Const *separator, const FuncExpr *call) {
    const int length = pg_mbstrlen(TextDatumGetCString(separator->constvalue));
    auto *start = makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(length + 1), false, true);
    return reinterpret_cast<Node *>(makeFuncExpr(F_SUBSTR_TEXT_INT4, TEXTOID, list_make2(all, start), call->funccollid,
                                                 call->funccollid, COERCE_EXPLICIT_CALL));
}

static bool is_concatenation(Node *node) {
    if (!IsA(node, FuncExpr) || castNode(FuncExpr, node)->funcvariadic)
        return false;
    const Oid function = castNode(FuncExpr, node)->funcid;
    return function == F_CONCAT || function == F_CONCAT_WS;
}

static bool has_concatenation(Node *node, void *) {
    if (node == nullptr)
        return false;
    if (IsA(node, Query))
        return border::walk_query(castNode(Query, node), has_concatenation, nullptr, 0);
    return is_concatenation(node) || border::walk_expression(node, has_concatenation, nullptr);
}

// Null: there are none for it.
static Node *in_other_words(const FuncExpr *call) {
    if (call->funcid == F_CONCAT)
        return all_texts(call->args, nullptr, call);
    auto *separator = static_cast<Node *>(linitial(call->args));
    if (!IsA(separator, Const) || castNode(Const, separator)->constisnull)
        return nullptr;
    Node *all = all_texts(list_copy_tail(call->args, 1), separator, call);
    return all == nullptr ? nullptr : behind(all, castNode(Const, separator), call);
}

static Node *spell(Node *node, void *) {
    if (node == nullptr)
        return nullptr;
    if (IsA(node, Query))
        return reinterpret_cast<Node *>(border::mutate_query(castNode(Query, node), spell, nullptr, 0));
    node = border::mutate_expression(node, spell, nullptr);
    Node *spelled = is_concatenation(node) ? in_other_words(castNode(FuncExpr, node)) : nullptr;
    return spelled == nullptr ? node : spelled;
}

void spell_out(Query *query) {
    if (has_concatenation(reinterpret_cast<Node *>(query), nullptr))
        (void)border::mutate_query(query, spell, nullptr, QTW_DONT_COPY_QUERY);
}

} // namespace dp::query
