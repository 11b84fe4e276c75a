#include "sql/profile_expression.hpp"

#include <cmath>

#include "border/scope.hpp"
#include "border/walk.hpp"
#include "query/shape.hpp"
extern "C" {
#include <parser/parse_expr.h>
}

namespace dp::sql {

struct ProfileExpression {
    EState *executor;
    ExprContext *context;
    ExprState *state;
    ParamListInfo values; // p and q
};

namespace {

// At most this many functions and operators: on doubles five grids of 40,000 to 60,000 points take less than a second. Numeric takes
// time by its digits, of which constants have few; products of many of them still take minutes. It can be cancelled at every point.
constexpr int most_calls = 200, most_digits = 40;
constexpr int longest_expression = 64 * 1024;

[[noreturn]] void refuse(const char *part) {
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("%s is not supported in the expression of a risk profile", part),
                    errhint("Use arithmetic on p, q and numbers, functions of float8, comparisons, CASE, coalesce, "
                            "greatest and least: greatest(0.1/(p*q), 3).")));
    pg_unreachable();
}

// ---- before it is analysed -----------------------------------------------------------------------------------------

// Parsed as the only target of a SELECT: a text that is more than one expression shows in the other clauses.
Node *parse(const char *text, const char *statement) {
    List *statements = raw_parser(statement, RAW_PARSE_DEFAULT);
    auto *raw = list_length(statements) == 1 ? linitial_node(RawStmt, statements) : nullptr;
    auto *select = raw != nullptr && IsA(raw->stmt, SelectStmt) ? castNode(SelectStmt, raw->stmt) : nullptr;
    if (select == nullptr || select->op != SETOP_NONE || list_length(select->targetList) != 1 ||
        linitial_node(ResTarget, select->targetList)->name || select->fromClause || select->whereClause ||
        select->groupClause || select->havingClause || select->sortClause || select->distinctClause ||
        select->intoClause || select->limitCount || select->limitOffset || select->windowClause || select->withClause ||
        select->lockingClause || select->valuesLists)
        ereport(ERROR, (errcode(ERRCODE_SYNTAX_ERROR), errmsg("the expression of a risk profile is none: %s", text),
                        errhint("Write one expression over p and q: greatest(0.1/(p*q), 3).")));
    return linitial_node(ResTarget, select->targetList)->val;
}

void check_name(List *name) {
    if (list_length(name) > 1 && (list_length(name) > 2 || strcmp(strVal(linitial(name)), "pg_catalog") != 0))
        refuse(NameListToString(name));
}

// A sub-SELECT would be analysed, and the relations in it opened, before its node is met; a literal of somebody's type would be
// read by his code. Unqualified names are looked for in pg_catalog alone.
bool check_raw(Node *node, void *context) {
    if (node == nullptr)
        return false;
    if (IsA(node, SubLink) || IsA(node, SelectStmt))
        refuse("a sub-SELECT");
    if (IsA(node, TypeName))
        check_name(castNode(TypeName, node)->names);
    else if (IsA(node, FuncCall))
        check_name(castNode(FuncCall, node)->funcname);
    else if (IsA(node, A_Expr))
        check_name(castNode(A_Expr, node)->name);
    else if (IsA(node, CollateClause))
        check_name(castNode(CollateClause, node)->collname);
    return border::walk_raw(node, check_raw, context);
}

Node *column(ParseState *, ColumnRef *reference) {
    const char *name = list_length(reference->fields) == 1 && IsA(linitial(reference->fields), String)
                           ? strVal(linitial(reference->fields))
                           : nullptr;
    if (name == nullptr || (strcmp(name, "p") != 0 && strcmp(name, "q") != 0))
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN),
                        errmsg("the expression of a risk profile names %s",
                               name == nullptr ? "more than p and q" : psprintf("\"%s\"", name)),
                        errhint("It is over p, the prior that somebody is in the data, and q, the prior that the value "
                                "is sensitive if so.")));
    auto *value = makeNode(Param);
    value->paramkind = PARAM_EXTERN;
    value->paramid = name[0] == 'p' ? 1 : 2;
    value->paramtype = FLOAT8OID;
    value->paramtypmod = -1;
    value->location = reference->location;
    return reinterpret_cast<Node *>(value);
}

// ---- what may run --------------------------------------------------------------------------------------------------

bool is_number(Oid type) {
    return type == BOOLOID || type == INT2OID || type == INT4OID || type == INT8OID || type == FLOAT4OID ||
           type == FLOAT8OID;
}

// Constants such as 0.1 are numeric; what works on them takes time by their digits.
bool is_numeric_arithmetic(Oid function) {
    static const Oid list[] = {
        F_NUMERIC_ADD,    F_NUMERIC_SUB,  F_NUMERIC_MUL,  F_NUMERIC_DIV,    F_NUMERIC_UMINUS,      F_NUMERIC_UPLUS,
        F_NUMERIC_EQ,     F_NUMERIC_NE,   F_NUMERIC_LT,   F_NUMERIC_LE,     F_NUMERIC_GT,          F_NUMERIC_GE,
        F_NUMERIC_INT2,   F_NUMERIC_INT4, F_NUMERIC_INT8, F_NUMERIC_FLOAT4, F_NUMERIC_FLOAT8,      F_FLOAT8_NUMERIC,
        F_FLOAT4_NUMERIC, F_INT4_NUMERIC, F_INT8_NUMERIC, F_INT2_NUMERIC,   F_NUMERIC_NUMERIC_INT4};
    for (Oid candidate : list)
        if (candidate == function)
            return true;
    return false;
}

// The server's own, immutable, from numbers to numbers: such a function has no text to open, nothing to lock or to change. The
// flag alone would not do, which is why the types are looked at.
void check_function(Oid function) {
    Oid *types;
    int nargs;
    Oid result = get_func_signature(function, &types, &nargs);
    bool harmless = function < FirstUnpinnedObjectId && func_volatile(function) == PROVOLATILE_IMMUTABLE &&
                    get_func_prokind(function) == PROKIND_FUNCTION && !get_func_retset(function) && is_number(result);
    for (int i = 0; i < nargs; i++)
        harmless = harmless && is_number(types[i]);
    if (!harmless && !is_numeric_arithmetic(function))
        refuse(psprintf("function %s", format_procedure(function)));
}

void check_type(Node *node) {
    Oid type = exprType(node);
    if (!is_number(type) && type != NUMERICOID)
        refuse(psprintf("a value of type %s", format_type_be(type)));
}

// Its value, not its spelling: 1e1000 has a thousand digits.
void check_digits(const Const *constant) {
    if (constant->constisnull || constant->consttype != NUMERICOID)
        return;
    const char *text = DatumGetCString(DirectFunctionCall1(numeric_out, constant->constvalue));
    int digits = 0;
    for (const char *c = text; *c != '\0'; c++)
        digits += *c >= '0' && *c <= '9';
    if (digits > most_digits)
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("a number in the expression of a risk profile has more than %d digits", most_digits),
                        errhint("Write a double: '1e-50'::float8.")));
}

void count_call(int *calls) {
    if (++*calls > most_calls)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("the expression of a risk profile has more than %d functions and operators", most_calls),
                        errhint("Use a shorter one, or a profile of the kind 'points'.")));
}

bool check_node(Node *node, void *calls) {
    if (node == nullptr)
        return false;
    switch (nodeTag(node)) {
    case T_List:
        break;
    case T_CaseWhen:
        break;
    case T_Const:
        check_digits(castNode(Const, node));
        [[fallthrough]];
    case T_Param:
    case T_CaseTestExpr:
    case T_CaseExpr:
    case T_CoalesceExpr:
    case T_MinMaxExpr:
    case T_BoolExpr:
    case T_NullTest:
    case T_BooleanTest:
    case T_RelabelType:
        check_type(node);
        count_call(static_cast<int *>(calls));
        break;
    case T_FuncExpr:
        check_function(castNode(FuncExpr, node)->funcid);
        count_call(static_cast<int *>(calls));
        break;
    case T_OpExpr:
    case T_NullIfExpr:
    case T_DistinctExpr: { // one struct
        auto *call = reinterpret_cast<OpExpr *>(node);
        set_opfuncid(call);
        check_function(call->opfuncid);
        count_call(static_cast<int *>(calls));
        break;
    }
    case T_Aggref:
    case T_WindowFunc:
        refuse("an aggregate or window function");
    case T_CoerceViaIO:
        refuse("a text");
    default:
        refuse("this kind of expression");
    }
    return border::walk_expression(node, check_node, calls);
}

Expr *analyse(Node *raw) {
    ParseState *source = make_parsestate(nullptr);
    source->p_pre_columnref_hook = column;
    Node *expression = transformExpr(source, raw, EXPR_KIND_SELECT_TARGET);
    Oid type = exprType(expression);
    Node *number = type == BOOLOID ? nullptr
                                   : coerce_to_target_type(source, expression, type, FLOAT8OID, -1, COERCION_ASSIGNMENT,
                                                           COERCE_IMPLICIT_CAST, -1);
    if (number == nullptr)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("the expression of a risk profile is of type %s, not a number", format_type_be(type)),
                        errhint("It is the relative risk that is allowed: greatest(0.1/(p*q), 3).")));
    assign_expr_collations(source, number);
    int calls = 0;
    check_node(number, &calls);
    return reinterpret_cast<Expr *>(number);
}

} // namespace

ProfileExpression *read_profile_expression(const char *text) {
    if (strlen(text) > longest_expression)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("the expression of a risk profile is longer than %d bytes", longest_expression),
                        errhint("Use a shorter one, or a profile of the kind 'points'.")));
    auto *expression = static_cast<ProfileExpression *>(palloc0(sizeof(ProfileExpression)));
    border::SettingsScope settings = border::SettingsScope::enter(); // names mean the server's own
    const char *statement = psprintf("SELECT %s", text);
    query::TextScope scope;
    scope.enter(statement); // where errors are is said of this text
    Node *raw = parse(text, statement);
    (void)check_raw(raw, nullptr);
    Expr *analysed = analyse(raw);
    scope.leave();
    settings.leave();
    expression->values = makeParamList(2);
    for (int i = 0; i < 2; i++)
        expression->values->params[i] = ParamExternData{Float8GetDatum(0), false, PARAM_FLAG_CONST, FLOAT8OID};
    expression->executor = CreateExecutorState();
    MemoryContext old = MemoryContextSwitchTo(expression->executor->es_query_cxt);
    expression->context = CreateExprContext(expression->executor);
    expression->context->ecxt_param_list_info = expression->values;
    expression->state = ExecInitExprWithParams(expression_planner(analysed), expression->values);
    MemoryContextSwitchTo(old);
    return expression;
}

void evaluate_profile_expression(const ProfileExpression *expression, const double *p, const double *q, double *allowed,
                                 int n) {
    for (int i = 0; i < n; i++) {
        CHECK_FOR_INTERRUPTS();
        expression->values->params[0].value = Float8GetDatum(p[i]);
        expression->values->params[1].value = Float8GetDatum(q[i]);
        ResetExprContext(expression->context);
        bool isnull;
        Datum value = ExecEvalExprSwitchContext(expression->state, expression->context, &isnull);
        allowed[i] = isnull ? get_float8_infinity() : DatumGetFloat8(value);
        if (std::isnan(allowed[i]))
            ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                            errmsg("the risk profile allows NaN at the prior p = %s, q = %s", float8out_internal(p[i]),
                                   float8out_internal(q[i])),
                            errhint("A relative risk is a number above 1; NULL stands for an adversary who is not "
                                    "considered.")));
    }
}

} // namespace dp::sql
