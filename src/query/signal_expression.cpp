#include "query/signal_expression.hpp"

#include "border/listed.hpp"
#include "border/refuse.hpp"
#include "border/scope.hpp"
#include "border/visit.hpp"
#include "catalog/foreign_code.hpp"
#include "query/cost.hpp"
#include "query/make.hpp"
#include "query/parse.hpp"
#include "query/grammar.hpp"
#include "query/total.hpp"
extern "C" {
#include <parser/parse_expr.h>
}

namespace dp::query {

// ---- parsing -------------------------------------------------------------------------------------------------------

// Before anything is analysed: what stands in a sub-SELECT would be looked up, and its literals read.
static bool has_sub_select(Node *node, void *context) {
    if (node == nullptr)
        return false;
    return IsA(node, SubLink) || border::walk_raw(node, has_sub_select, context);
}

static Node *raw_expression(const char *text, const char *name) {
    RawStmt *statement = only_expression(text);
    if (statement == nullptr)
        ereport(ERROR, (errcode(ERRCODE_SYNTAX_ERROR), errmsg("%s is not one expression: %s", name, text),
                        errhint("Write what you would write in a SELECT list, of columns answer.* and dp.*.")));
    check_names(statement);
    Node *expression = linitial_node(ResTarget, castNode(SelectStmt, statement->stmt)->targetList)->val;
    if (has_sub_select(expression, nullptr))
        refuse_form(psprintf("a sub-SELECT is not supported in the %s of a signal", name),
                    "Write it with columns of answer and dp, and with constants.");
    return expression;
}

// A relation of these columns that is never read.
static ParseNamespaceItem *add_answer(ParseState *state, const char *alias, const AnswerColumns &columns) {
    Query *query = make_select();
    for (int i = 0; i < columns.n; i++) {
        add_target(query,
                   reinterpret_cast<Node *>(makeNullConst(columns.types[i], -1, get_typcollation(columns.types[i]))),
                   columns.names[i]);
    }
    return addRangeTableEntryForSubquery(state, query, makeAlias(alias, NIL), false, true);
}

static void hint_columns(void *of) {
    const auto *columns = static_cast<const AnswerColumns *>(of);
    if (geterrcode() == ERRCODE_UNDEFINED_COLUMN)
        errhint("The columns of the answer are %s.",
                border::listed(0, columns->n, [=](int i) { return quote_identifier(columns->names[i]); }));
}

static Node *analyse(Node *raw, const AnswerColumns &columns, bool reads_answer) {
    ParseState *state = make_parsestate(nullptr);
    ParseNamespaceItem *answer = add_answer(state, "answer", columns), *dp = add_answer(state, "dp", columns);
    if (reads_answer)
        addNSItemToQuery(state, answer, false, true, true);
    addNSItemToQuery(state, dp, false, true, true);
    ErrorContextCallback hint = {error_context_stack, hint_columns, const_cast<AnswerColumns *>(&columns)};
    error_context_stack = &hint;
    Node *expression = transformExpr(state, raw, EXPR_KIND_WHERE);
    error_context_stack = hint.previous;
    assign_expr_collations(state, expression);
    return expression;
}

// ---- who asks, and when --------------------------------------------------------------------------------------------

// A leaf has the values of its requester's session; this text is read again when it is decided on, and when its owner inspects it. It says
// the same each time.
[[noreturn]] static void refuse_moving(const char *what, const char *name) {
    refuse_form(psprintf("%s is not supported in the %s of a signal", what, name), "Write the value that it has now.",
                "It would not say the same when it is asked for, inspected and decided on.");
}

static bool is_moving_word(const char *word, Size length) {
    static const char *const words[] = {"now", "today", "tomorrow", "yesterday"};
    for (const char *moving : words)
        if (length == strlen(moving) && pg_strncasecmp(word, moving, length) == 0)
            return true;
    return false;
}

// Finds a word that the clock gives a meaning, as dates are read: letters that stand together are a word.
static bool has_moving_word(Node *node, void *context) {
    if (node == nullptr)
        return false;
    if (!IsA(node, A_Const))
        return border::walk_raw(node, has_moving_word, context);
    auto *value = castNode(A_Const, node);
    if (value->isnull || value->val.node.type != T_String)
        return false;
    for (const char *at = strVal(&value->val); *at != '\0';) {
        const char *start = at;
        while (isalpha(static_cast<unsigned char>(*at)))
            at++;
        if (is_moving_word(start, at - start))
            return true;
        at += at == start ? 1 : 0;
    }
    return false;
}

// Dates and times, and arrays and ranges of them.
static bool is_of_time(Oid type) {
    char category;
    bool preferred;
    get_type_category_preferred(part_of(getBaseType(type)), &category, &preferred);
    return category == TYPCATEGORY_DATETIME;
}

static bool has_date(Node *expression) {
    return border::any(expression,
                       [](Node *node) { return IsA(node, Const) && is_of_time(castNode(Const, node)->consttype); });
}

// raw: what `expression` was made of.
static void check_still(Node *raw, Node *expression, const char *name) {
    border::any(expression, [=](Node *node) {
        const Oid function = IsA(node, FuncExpr) ? castNode(FuncExpr, node)->funcid : InvalidOid;
        const auto *cast = reinterpret_cast<const CoerceViaIO *>(node);
        if (IsA(node, SQLValueFunction))
            refuse_moving("what depends on who asks, or when,", name);
        if (function == F_NOW || function == F_TRANSACTION_TIMESTAMP || function == F_STATEMENT_TIMESTAMP)
            refuse_moving("the clock", name);
        if (IsA(node, CoerceViaIO) && is_of_time(cast->resulttype) &&
            !contain_var_clause(reinterpret_cast<Node *>(cast->arg)))
            refuse_moving("a date that is computed from a text", name);
        return false;
    });
    if (has_moving_word(raw, nullptr) && has_date(expression))
        refuse_moving("a date such as 'now' or 'today'", name);
}

// ---- checks --------------------------------------------------------------------------------------------------------

// The type of a column may have been dropped, and its name be another's.
static void check_columns(const AnswerColumns &columns) {
    for (int i = 0; i < columns.n; i++)
        if (catalog::input_runs_code(columns.types[i]))
            refuse_state(psprintf("type %s is another one than that of the answer", format_type_be(columns.types[i])));
}

static void check_number(Node *expression, const char *name) {
    switch (getBaseType(exprType(expression))) {
    case INT2OID:
    case INT4OID:
    case INT8OID:
    case FLOAT4OID:
    case FLOAT8OID:
    case NUMERICOID:
        return;
    default:
        ereport(ERROR,
                (errcode(ERRCODE_DATATYPE_MISMATCH),
                 errmsg("the %s of a signal must be a number, not %s", name, format_type_be(exprType(expression))),
                 errhint("Write CASE WHEN ... THEN 1 ELSE 0 END, for instance.")));
    }
}

// Both answers are one row: the columns of dp come behind those of answer.
static Node *side_by_side(Node *expression, int columns) {
    return border::change(expression, [=](Node *node, Index) -> Node * {
        if (!IsA(node, Var))
            return nullptr;
        auto *var = castNode(Var, copied(node));
        constexpr int dp = 2; // in the order in which they were added
        if (var->varno == dp)
            var->varattno += columns;
        var->varno = var->varnosyn = 1;
        var->varattnosyn = var->varattno;
        return reinterpret_cast<Node *>(var);
    });
}

static Node *make_expression(const char *text, const char *name, const AnswerColumns &columns, bool reads_answer) {
    check_columns(columns);
    Node *raw = raw_expression(text, name), *unchanged = static_cast<Node *>(copyObject(raw));
    Node *expression = analyse(raw, columns, reads_answer);
    check_condition(expression, nullptr);
    check_still(unchanged, expression, name);
    check_number(expression, name);
    RowCost cost = {};
    expression = make_total(expression, nullptr, &cost);
    set_size_limit(expression, size_limit(&cost));
    return side_by_side(expression, columns.n);
}

Node *make_task_expression(const char *text, const char *name, const AnswerColumns &columns, bool reads_answer) {
    border::SettingsScope settings = border::SettingsScope::enter();
    TextScope scope;
    scope.enter(psprintf("SELECT %s", text));
    Node *expression = make_expression(text, name, columns, reads_answer);
    scope.leave();
    settings.leave();
    return expression;
}

} // namespace dp::query
