#include "query/spelled.hpp"

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

// Whether a cast shows the same. Of a boolean it is another word, and of char(n) it leaves blanks out.
static bool has_text(Node *node) {
    const Oid type = getBaseType(exprType(node));
    return type == TEXTOID || type == VARCHAROID || (type == UNKNOWNOID && IsA(node, Const)) ||
           find_total_cast(type, TEXTOID) != nullptr;
}

const char *concatenation_remedy(const List *arguments) {
    ListCell *cell;
    foreach (cell, arguments) {
        auto *argument = static_cast<Node *>(lfirst(cell));
        if (has_text(argument))
            continue;
        switch (getBaseType(exprType(argument))) {
        case BOOLOID:
            return "Write CASE WHEN x THEN 't' ELSE 'f' END for a boolean.";
        case BPCHAROID:
            return "Write x::text for a value of type character(n): that leaves out the blanks at its end.";
        default:
            return "It takes texts, numbers, dates and the like, one by one.";
        }
    }
    return nullptr;
}

static Node *as_text(Node *node) {
    const Oid type = getBaseType(exprType(node));
    if (type == TEXTOID)
        return node;
    if (type == UNKNOWNOID)
        return literal_as_text(castNode(Const, node));
    if (type == VARCHAROID)
        return reinterpret_cast<Node *>(
            makeRelabelType(reinterpret_cast<Expr *>(node), TEXTOID, -1, exprCollation(node), COERCE_EXPLICIT_CAST));
    auto *cast = makeNode(CoerceViaIO);
    cast->arg = reinterpret_cast<Expr *>(node);
    cast->resulttype = TEXTOID;
    cast->resultcollid = DEFAULT_COLLATION_OID;
    cast->coerceformat = COERCE_EXPLICIT_CAST;
    cast->location = exprLocation(node);
    return reinterpret_cast<Node *>(cast);
}

namespace {
struct Spelling {
    const FuncExpr *call;
    Node *(*fold)(Node *);
};
} // namespace

// Of the collation of all: what it was given may be numbers alone, which have none.
static Node *joined(Node *left, Node *right, const Spelling &spelling) {
    const Oid collation = spelling.call->funccollid;
    return spelling.fold(reinterpret_cast<Node *>(
        makeFuncExpr(F_TEXTCAT, TEXTOID, list_make2(left, right), collation, collation, COERCE_EXPLICIT_CALL)));
}

static Node *or_nothing(Node *text, const Spelling &spelling) {
    auto *choice = makeNode(CoalesceExpr);
    choice->coalescetype = TEXTOID;
    choice->coalescecollid = spelling.call->funccollid;
    choice->args = list_make2(text, text_constant(""));
    choice->location = spelling.call->location;
    return spelling.fold(reinterpret_cast<Node *>(choice));
}

// before: a constant that stands before each value that is there; or null.
static Node *all_texts(const List *values, Node *before, const Spelling &spelling) {
    Node *all = nullptr;
    ListCell *cell;
    foreach (cell, values) {
        Node *text = spelling.fold(as_text(static_cast<Node *>(lfirst(cell))));
        if (before != nullptr)
            text = joined(static_cast<Node *>(copyObject(before)), text, spelling);
        text = or_nothing(text, spelling);
        all = all == nullptr ? text : joined(all, text, spelling);
    }
    return all;
}

// The first separator goes.
static Node *behind(Node *all, const Const *separator, const Spelling &spelling) {
    const Oid collation = spelling.call->funccollid;
    const int length = pg_mbstrlen(TextDatumGetCString(separator->constvalue));
    auto *start = makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(length + 1), false, true);
    return spelling.fold(reinterpret_cast<Node *>(
        makeFuncExpr(F_SUBSTR_TEXT_INT4, TEXTOID, list_make2(all, start), collation, collation, COERCE_EXPLICIT_CALL)));
}

bool is_concatenation(Oid function) {
    return function == F_CONCAT || function == F_CONCAT_WS;
}

static Node *with_separator(const Spelling &spelling) {
    auto *separator = static_cast<Node *>(linitial(spelling.call->args));
    if (!IsA(separator, Const))
        return nullptr;
    if (castNode(Const, separator)->constisnull) // then all of it is
        return reinterpret_cast<Node *>(makeNullConst(TEXTOID, -1, spelling.call->funccollid));
    Node *all = all_texts(list_copy_tail(spelling.call->args, 1), separator, spelling);
    return behind(all, castNode(Const, separator), spelling);
}

Node *in_other_words(Node *node, Node *(*fold)(Node *)) {
    if (!IsA(node, FuncExpr) || !is_concatenation(castNode(FuncExpr, node)->funcid))
        return nullptr;
    const Spelling spelling = {castNode(FuncExpr, node), fold};
    if (spelling.call->funcvariadic || concatenation_remedy(spelling.call->args) != nullptr)
        return nullptr;
    return spelling.call->funcid == F_CONCAT ? all_texts(spelling.call->args, nullptr, spelling)
                                             : with_separator(spelling);
}

} // namespace dp::query
