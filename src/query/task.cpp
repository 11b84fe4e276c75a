#include "query/task.hpp"

#include "border/scope.hpp"
#include "border/walk.hpp"
#include "catalog/foreign_code.hpp"
#include "query/cost.hpp"
#include "query/names.hpp"
#include "query/shape.hpp"
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
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("a sub-SELECT is not supported in the %s of a signal", name),
                        errhint("Write it with columns of answer and dp, and with constants.")));
    return expression;
}

// A relation of these columns that is never read.
static ParseNamespaceItem *add_answer(ParseState *state, const char *alias, const AnswerColumns &columns) {
    Query *query = makeNode(Query);
    query->commandType = CMD_SELECT;
    query->canSetTag = true;
    query->jointree = makeFromExpr(NIL, nullptr);
    for (int i = 0; i < columns.n; i++) {
        auto *value = reinterpret_cast<Expr *>(makeNullConst(columns.types[i], -1, get_typcollation(columns.types[i])));
        query->targetList = lappend(query->targetList, makeTargetEntry(value, i + 1, pstrdup(columns.names[i]), false));
    }
    return addRangeTableEntryForSubquery(state, query, makeAlias(alias, NIL), false, true);
}

static Node *analyse(Node *raw, const AnswerColumns &columns, bool reads_answer) {
    ParseState *state = make_parsestate(nullptr);
    ParseNamespaceItem *answer = add_answer(state, "answer", columns), *dp = add_answer(state, "dp", columns);
    if (reads_answer)
        addNSItemToQuery(state, answer, false, true, true);
    addNSItemToQuery(state, dp, false, true, true);
    Node *expression = transformExpr(state, raw, EXPR_KIND_WHERE);
    assign_expr_collations(state, expression);
    return expression;
}

// ---- checks --------------------------------------------------------------------------------------------------------

// The type of a column may have been dropped, and its name be another's.
static void check_columns(const AnswerColumns &columns) {
    for (int i = 0; i < columns.n; i++)
        if (catalog::input_runs_code(columns.types[i]))
            ereport(ERROR,
                    (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                     errmsg("type %s is another one than that of the answer", format_type_be(columns.types[i]))));
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
static Node *side_by_side(Node *node, void *context) {
    if (node == nullptr)
        return nullptr;
    if (!IsA(node, Var))
        return border::mutate_expression(node, side_by_side, context);
    auto *var = copyObject(castNode(Var, node));
    constexpr int dp = 2; // in the order in which they were added
    if (var->varno == dp)
        var->varattno += *static_cast<int *>(context);
    var->varno = var->varnosyn = 1;
    var->varattnosyn = var->varattno;
    return reinterpret_cast<Node *>(var);
}

static Node *make_expression(const char *text, const char *name, const AnswerColumns &columns, bool reads_answer) {
    check_columns(columns);
    Node *expression = analyse(raw_expression(text, name), columns, reads_answer);
    check_condition(expression, nullptr);
    check_number(expression, name);
    RowCost cost = {};
    expression = make_total(expression, nullptr, &cost);
    set_size_limit(expression, size_limit(&cost));
    int n = columns.n;
    return side_by_side(expression, &n);
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
