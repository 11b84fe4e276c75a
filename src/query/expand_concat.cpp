#include "query/expand_concat.hpp"

#include "border/each.hpp"
#include "query/make.hpp"
#include "query/total_casts.hpp"
#include "query/total_table.hpp"

namespace dp::query {

// Whether a cast shows the same. Of a boolean it is another word, and of char(n) it leaves blanks out.
static bool has_text(Node *node) {
    const Oid type = getBaseType(exprType(node));
    return type == TEXTOID || type == VARCHAROID || (type == UNKNOWNOID && IsA(node, Const)) ||
           find_total_cast(type, TEXTOID) != nullptr;
}

const char *concatenation_remedy(const List *arguments) {
    for (auto *argument : border::each<Node>(arguments)) {
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

// Casts a value that is no constant to text.
static Node *as_text(Node *node) {
    const Oid type = getBaseType(exprType(node));
    if (type == TEXTOID)
        return node;
    if (type == VARCHAROID)
        return reinterpret_cast<Node *>(
            makeRelabelType(reinterpret_cast<Expr *>(node), TEXTOID, -1, exprCollation(node), COERCE_EXPLICIT_CAST));
    return cast_to_text(node);
}

namespace {
// Holds the text that the values so far were joined to.
struct Concatenation {
    const FuncExpr *call;
    Node *all;
    StringInfoData run; // constants behind it: one text, however many they are
};
} // namespace

// Joins two texts under the collation of the call: its arguments may be numbers alone, which have none.
static Node *concat_call(Node *left, Node *right, const FuncExpr *call) {
    if (left == nullptr)
        return right;
    return reinterpret_cast<Node *>(makeFuncExpr(F_TEXTCAT, TEXTOID, list_make2(left, right), call->funccollid,
                                                 call->funccollid, COERCE_EXPLICIT_CALL));
}

static Node *coalesce_empty(Node *text, const FuncExpr *call) {
    return coalesced(text, text_constant(""), call->funccollid, call->location);
}

static void end_run(Concatenation *to) {
    if (to->run.len == 0)
        return;
    Const *text = text_constant(to->run.data);
    check_length(text);
    to->all = concat_call(to->all, reinterpret_cast<Node *>(text), to->call);
    resetStringInfo(&to->run);
}

static void add_constant(const Const *value, Oid type, const char *before, Concatenation *to) {
    Oid output;
    bool is_varlena;
    if (value->constisnull)
        return;
    getTypeOutputInfo(type, &output, &is_varlena);
    appendStringInfoString(&to->run, before);
    appendStringInfoString(&to->run, OidOutputFunctionCall(output, value->constvalue));
}

// before: stands before each value that is there.
static Concatenation all_texts(const FuncExpr *call, const List *values, const char *before) {
    Concatenation to = {call, nullptr, {}};
    initStringInfo(&to.run);
    for (auto *value : border::each<Node>(values)) {
        if (IsA(without_labels(value), Const)) {
            add_constant(castNode(Const, without_labels(value)), exprType(value), before, &to);
            continue;
        }
        end_run(&to);
        Node *text = as_text(value);
        if (before[0] != '\0')
            text = concat_call(reinterpret_cast<Node *>(text_constant(before)), text, call);
        to.all = concat_call(to.all, coalesce_empty(text, call), call);
    }
    end_run(&to);
    if (to.all == nullptr)
        to.all = reinterpret_cast<Node *>(text_constant(""));
    return to;
}

// The first separator goes.
static Node *substring_after(Node *all, const char *separator, const FuncExpr *call) {
    auto *start = int_constant(pg_mbstrlen(separator) + 1);
    return reinterpret_cast<Node *>(makeFuncExpr(F_SUBSTR_TEXT_INT4, TEXTOID, list_make2(all, start), call->funccollid,
                                                 call->funccollid, COERCE_EXPLICIT_CALL));
}

bool is_concatenation(Oid function) {
    return function == F_CONCAT || function == F_CONCAT_WS;
}

static Node *with_separator(const FuncExpr *call) {
    Node *separator = without_labels(static_cast<Node *>(linitial(call->args)));
    if (!IsA(separator, Const))
        return nullptr;
    if (castNode(Const, separator)->constisnull) // then all of it is
        return reinterpret_cast<Node *>(makeNullConst(TEXTOID, -1, call->funccollid));
    const char *before = TextDatumGetCString(castNode(Const, separator)->constvalue);
    return substring_after(all_texts(call, list_copy_tail(call->args, 1), before).all, before, call);
}

Node *in_other_words(Node *node) {
    if (!IsA(node, FuncExpr) || !is_concatenation(castNode(FuncExpr, node)->funcid))
        return nullptr;
    auto *call = castNode(FuncExpr, node);
    if (call->funcvariadic || concatenation_remedy(call->args) != nullptr)
        return nullptr;
    return call->funcid == F_CONCAT ? all_texts(call, call->args, "").all : with_separator(call);
}

} // namespace dp::query
