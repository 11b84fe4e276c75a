#include "query/constants.hpp"

#include "border/walk.hpp"
#include "query/spelled.hpp"

namespace dp::query {

// ---- lengths -------------------------------------------------------------------------------------------------------

static Size length_of(const Const *value) {
    return value->constisnull || value->constlen != -1 ? 0 : toast_raw_datum_size(value->constvalue) - VARHDRSZ;
}

[[noreturn]] static void refuse_length(ParseState *source, int location) {
    ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                    errmsg("a constant in a query on a restricted view is longer than %d bytes", longest_value),
                    errhint("Constants, parameters and what is computed from them may have 64 kB each."),
                    source ? parser_errposition(source, location) : 0));
    pg_unreachable();
}

void check_length(const Const *value, ParseState *source) {
    bool array = OidIsValid(get_element_type(value->consttype));
    if (length_of(value) > (array ? longest_array : longest_value))
        refuse_length(source, value->location);
}

// ---- what a call could make ----------------------------------------------------------------------------------------

static double number(const Const *value) {
    return value->constisnull ? 0 : Max(0, DatumGetInt32(value->constvalue));
}

static const Const *constant(List *arguments, int i) {
    return static_cast<const Const *>(list_nth(arguments, i));
}

static bool quotes(const Const *value) {
    return !value->constisnull && strchr(TextDatumGetCString(value->constvalue), '\\') != nullptr;
}

// The most bytes that a built-in makes of constants: of these few it is not bounded by a small multiple of what they get
// (numbers have 74 kB at most, and texts, bits and characters padded to a declared length 40 MB).
static double most_bytes(Oid function, List *arguments) {
    double text = list_length(arguments) > 0 ? static_cast<double>(length_of(constant(arguments, 0))) : 0;
    switch (function) {
    case F_REPEAT:
        return text * number(constant(arguments, 1));
    case F_LPAD_TEXT_INT4:
    case F_LPAD_TEXT_INT4_TEXT:
    case F_RPAD_TEXT_INT4:
    case F_RPAD_TEXT_INT4_TEXT:
        return number(constant(arguments, 1));
    case F_REPLACE:
    case F_REGEXP_REPLACE_TEXT_TEXT_TEXT:
    case F_REGEXP_REPLACE_TEXT_TEXT_TEXT_TEXT:
    case F_REGEXP_REPLACE_TEXT_TEXT_TEXT_INT4:
    case F_REGEXP_REPLACE_TEXT_TEXT_TEXT_INT4_INT4:
    case F_REGEXP_REPLACE_TEXT_TEXT_TEXT_INT4_INT4_TEXT: {
        // At every place what it is replaced by, which may hold the text itself again and again.
        constexpr double harmless = 256; // then the result is measured when it is there
        double by = static_cast<double>(length_of(constant(arguments, 2)));
        return (text + 1) * (by + 1) * (quotes(constant(arguments, 2)) ? text + 1 : 1) / harmless;
    }
    default:
        return 0;
    }
}

// ---- folding -------------------------------------------------------------------------------------------------------

static Node *evaluated(Node *node) {
    auto *root = makeNode(PlannerInfo);
    root->glob = makeNode(PlannerGlobal);
    return estimate_expression_value(root, node);
}

static Node *parameter_value(const Param *param, ParamListInfo parameters) {
    ParamExternData *value = &parameters->params[param->paramid - 1];
    int16 length;
    bool by_value;
    get_typlenbyval(param->paramtype, &length, &by_value);
    auto *constant = makeConst(param->paramtype, param->paramtypmod, param->paramcollid, length, value->value,
                               value->isnull, by_value);
    if (length_of(constant) > longest_value)
        refuse_length(nullptr, -1);
    return reinterpret_cast<Node *>(constant);
}

static bool is_not_constant(Node *node, void *) {
    if (node == nullptr || IsA(node, Const))
        return false;
    return (!IsA(node, List) && !IsA(node, CaseWhen)) || border::walk_expression(node, is_not_constant, nullptr);
}

// What stands below has been folded. Where the operand of CASE x WHEN ... is one, its comparisons cannot be.
static bool is_of_constants(Node *node) {
    if (IsA(node, CaseExpr) && castNode(CaseExpr, node)->arg != nullptr)
        return !contain_var_clause(node);
    return !border::walk_expression(node, is_not_constant, nullptr);
}

static void check_growth(Node *node) {
    if (IsA(node, FuncExpr)) {
        auto *call = castNode(FuncExpr, node);
        if (most_bytes(call->funcid, call->args) > longest_value)
            refuse_length(nullptr, -1);
    }
}

// A call whose arguments have been folded.
static Node *fold_call(Node *node) {
    if (IsA(node, List) || IsA(node, CaseWhen) || IsA(node, Var) || IsA(node, CaseTestExpr) || IsA(node, Const) ||
        !is_of_constants(node))
        return node;
    check_growth(node);
    node = evaluated(node);
    if (IsA(node, Const))
        check_length(castNode(Const, node));
    return node;
}

// From the innermost call outwards.
static Node *fold_calls(Node *node, void *context) {
    if (node == nullptr)
        return nullptr;
    CHECK_FOR_INTERRUPTS();
    if (IsA(node, Param) && context != nullptr)
        return parameter_value(castNode(Param, node), static_cast<ParamListInfo>(context));
    node = border::mutate_expression(node, fold_calls, context);
    Node *spelled = in_other_words(node, fold_call);
    return spelled != nullptr ? spelled : fold_call(node);
}

Node *fold_constants(Node *expression, ParamListInfo parameters) {
    return evaluated(fold_calls(expression, parameters));
}

} // namespace dp::query
