#include "query/condition.hpp"

#include "border/each.hpp"
#include "border/listed.hpp"
#include "border/refuse.hpp"
#include "border/scope.hpp"
#include "border/walk.hpp"
#include "catalog/foreign_code.hpp"
#include "query/parse.hpp"
#include "query/hints.hpp"
#include "query/interval_marks.hpp"
#include "query/exists.hpp"
#include "query/expand_concat.hpp"
#include "query/total_casts.hpp"
#include "query/total_table.hpp"
extern "C" {
#include <parser/parse_expr.h>
}

namespace dp::query {

void check_collation(Oid collation, List *arguments, ParseState *source, int location) {
    // Without a collation the comparison raises an error for the first row that it meets, and none when there is no row.
    for (auto *part : border::each<Node>(arguments))
        if (!OidIsValid(collation) && type_is_collatable(exprType(part)))
            ereport(ERROR, (errcode(ERRCODE_INDETERMINATE_COLLATION),
                            errmsg("could not determine which collation to use for a comparison"),
                            errhint("Use the COLLATE clause to set the collation explicitly."),
                            source ? parser_errposition(source, location) : 0));
    open_collation(collation, source, location);
}

static const char *name_of_call(Oid function, List *arguments) {
    const char *name = get_func_name(function), *types = border::listed(0, list_length(arguments), [=](int i) {
        return format_type_be(exprType(static_cast<Node *>(list_nth(arguments, i))));
    });
    return psprintf("function %s(%s)", name == nullptr ? "?" : name, types);
}

// A call that meets rows must be total, whatever they hold; one of constants is evaluated before the charge.
static void check_call(Node *node, Oid function, Oid collation, List *arguments, ParseState *source) {
    int location = exprLocation(node);
    bool columns = contains_column(reinterpret_cast<Node *>(arguments));
    const TotalFunction *entry = columns ? find_total(function) : nullptr;
    refuse_if(columns ? entry == nullptr : !is_harmless_on_constants(function), name_of_call(function, arguments),
              part_of_mark(function) != Part::value ? mark_remedy : function_remedy(function), source, location);
    const char *remedy = is_concatenation(function) ? concatenation_remedy(arguments) : nullptr;
    refuse_if(remedy != nullptr, name_of_call(function, arguments), remedy, source, location);
    check_collation(collation, arguments, source, location);
    if (entry == nullptr)
        return;
    const char *problem = collation_problem(entry, collation);
    refuse_if(problem != nullptr, problem, "Compare with =, or add COLLATE \"C\".", source, location);
    ListCell *cell;
    foreach (cell, arguments) {
        int i = foreach_current_index(cell);
        auto *argument = static_cast<Node *>(lfirst(cell));
        if (!entry->wants_constant(i))
            continue;
        refuse_if(contains_column(argument),
                  psprintf("%s with a column as argument %d", name_of_call(function, arguments), i + 1),
                  "Write a constant there.", source, location);
        // Parameters and what is computed get their values later, and are checked then.
        if (IsA(argument, Const))
            check_constant(entry, i, castNode(Const, argument), source);
    }
}

static bool check_node(Node *node, void *context);

constexpr char clocks_remedy[] = "Compare values of one type: cast what is computed, as in date_trunc('month', "
                                 "x)::date = x; of columns the owner of "
                                 "a table can add one, GENERATED ALWAYS AS (x AT TIME ZONE 'UTC') STORED.";

// timestamptz = timestamp, and = date. Local times are not in the order of the instants that they stand for where clocks are turned, and
// two may stand for one: the server would find out of order what it has sorted to join it, and raise an error where somebody's row
// matches; and what is a key of the one is none of the other (formulas.md, 9.7).
static bool turns_with_clocks(Oid op, Oid function, const List *arguments) {
    return list_length(arguments) == 2 && contains_column(static_cast<Node *>(linitial(arguments))) &&
           contains_column(static_cast<Node *>(lsecond(arguments))) &&
           op_mergejoinable(op, exprType(static_cast<Node *>(linitial(arguments)))) &&
           func_volatile(function) != PROVOLATILE_IMMUTABLE;
}

// Checks a call and goes on into its arguments.
static bool check_operator(Node *node, Oid op, Oid function, Oid collation, List *arguments, ParseState *source) {
    refuse_if(op >= FirstUnpinnedObjectId, "a user-defined operator", "Use the built-in operators.", source,
              exprLocation(node));
    refuse_if(turns_with_clocks(op, function, arguments), "an equality that depends on the time zone", clocks_remedy,
              source, exprLocation(node));
    check_call(node, function, collation, arguments, source);
    return border::walk_expression(node, check_node, source);
}

// An array of varchar read as an array of text, element by element without a function: what IN does for varchar columns. Constants may
// also be converted, once: what width_bucket(bigint, ARRAY[1, 2]) does.
static bool converts_constants(const ArrayCoerceExpr *expr) {
    const bool constant = !contains_column(reinterpret_cast<Node *>(expr->arg));
    auto *element = reinterpret_cast<Node *>(expr->elemexpr);
    for (;;) {
        if (IsA(element, RelabelType))
            element = reinterpret_cast<Node *>(castNode(RelabelType, element)->arg);
        else if (constant && IsA(element, FuncExpr) && is_harmless_on_constants(castNode(FuncExpr, element)->funcid))
            element = static_cast<Node *>(linitial(castNode(FuncExpr, element)->args));
        else
            return IsA(element, CaseTestExpr);
    }
}

static bool check_var(Var *var, ParseState *source) {
    refuse_if(var->varlevelsup > 0, "a column of an outer query", outer_remedy, source, var->location);
    refuse_if(var->varattno == 0, "a whole row", "Name columns; count(*) counts rows.", source, var->location);
    refuse_if(var->varattno < 0, "a system column", "Name columns of the view.", source, var->location);
    return false;
}

static void check_array_operator(ScalarArrayOpExpr *expr, ParseState *source) {
    set_sa_opfuncid(expr);
    int location = exprLocation(reinterpret_cast<Node *>(expr));
    refuse_if(contains_column(static_cast<Node *>(lsecond(expr->args))), "an array of columns", "Write IN (constants).",
              source, location);
    const TotalFunction *entry = find_total(expr->opfuncid);
    refuse_if(entry != nullptr && entry->constants != 0, "LIKE ANY or LIKE ALL", "Combine LIKE by OR or AND.", source,
              location);
}

// GREATEST and LEAST compare by the type's btree function.
static void check_greatest(const MinMaxExpr *expr, ParseState *source) {
    TypeCacheEntry *type = lookup_type_cache(expr->minmaxtype, TYPECACHE_CMP_PROC);
    refuse_if(
        !OidIsValid(type->cmp_proc) || find_total(type->cmp_proc) == nullptr,
        psprintf("%s of type %s", expr->op == IS_GREATEST ? "GREATEST" : "LEAST", format_type_be(expr->minmaxtype)),
        "Use CASE.", source, expr->location);
    check_collation(expr->inputcollid, expr->args, source, expr->location);
}

static bool is_plain_type(Oid type) {
    return type < FirstUnpinnedObjectId || type_is_enum(type);
}

static void check_cast_through_text(const CoerceViaIO *cast, ParseState *source) {
    auto *argument = reinterpret_cast<Node *>(cast->arg);
    Oid from = exprType(argument);
    bool fine = contains_column(argument) ? find_total_cast(from, cast->resulttype) != nullptr
                                          : is_plain_type(getBaseType(from)) && is_plain_type(cast->resulttype);
    refuse_if(!fine, psprintf("a cast from %s to %s", format_type_be(from), format_type_be(cast->resulttype)),
              total_hint, source, cast->location);
}

// Every node kind that is not a call: what it is made of is checked by the walk.
static void check_structure(Node *node, ParseState *source) {
    int location = exprLocation(node);
    switch (nodeTag(node)) {
    case T_Const:
        refuse_if(is_slow_to_read(castNode(Const, node)->consttype),
                  psprintf("a constant of type %s", format_type_be(castNode(Const, node)->consttype)),
                  "Leave it out: no column can be compared with it.", source, location);
        check_length(castNode(Const, node), source);
        return;
    case T_List:
    case T_BoolExpr:
    case T_BooleanTest:
    case T_CaseExpr:
    case T_CaseWhen:
    case T_CaseTestExpr:
    case T_CoalesceExpr:
    case T_SQLValueFunction:
        return;
    case T_ArrayExpr: // raises an error for parts of different dimensions, and for a result beyond a gigabyte
        refuse_if(contains_column(node), "an array of columns", "Name the columns one by one.", source, location);
        return;
    case T_Param:
        refuse_if(castNode(Param, node)->paramkind != PARAM_EXTERN, "a value from an outer query",
                  "Write the condition with constants or parameters.", source, location);
        return;
    case T_NullTest:
        refuse_if(castNode(NullTest, node)->argisrow, "IS NULL of a row", "Test columns.", source, location);
        return;
    case T_RelabelType:
        refuse_if(!is_plain_type(castNode(RelabelType, node)->resulttype),
                  psprintf("a cast to type %s", format_type_be(castNode(RelabelType, node)->resulttype)),
                  "Use the built-in types.", source, location);
        return;
    case T_CollateExpr:
        // The library behind a collation of somebody's own may fail when it meets the first row.
        refuse_if(castNode(CollateExpr, node)->collOid >= FirstNormalObjectId, "a user-defined collation",
                  "Use the built-in collations.", source, location);
        return;
    case T_CoerceToDomain:
        refuse_part(psprintf("a cast to domain %s", format_type_be(castNode(CoerceToDomain, node)->resulttype)),
                    "Use the built-in types.", source, location);
        return;
    case T_SubLink:
        refuse_part("a sub-SELECT in a condition", remedy_of_sub_select(castNode(SubLink, node)), source, location);
        return;
    case T_RowCompareExpr:
        refuse_part("a comparison of rows by their order", "Compare columns: a < c OR (a = c AND b < d).", source,
                    location);
        return;
    case T_Aggref:
    case T_WindowFunc:
    case T_GroupingFunc:
        refuse_part("an aggregate in a condition", "Write the condition with columns and constants.", source, location);
        return;
    default:
        refuse_part("an expression of this kind", total_hint, source, location);
    }
}

static bool check_node(Node *node, void *context) {
    auto *source = static_cast<ParseState *>(context);
    check_stack_depth();
    if (node == nullptr)
        return false;
    switch (nodeTag(node)) {
    case T_Var:
        return check_var(castNode(Var, node), source);
    case T_OpExpr:
    case T_DistinctExpr: // the same struct, and NullIfExpr
    case T_NullIfExpr: {
        auto *expr = reinterpret_cast<OpExpr *>(node);
        set_opfuncid(expr);
        return check_operator(node, expr->opno, expr->opfuncid, expr->inputcollid, expr->args, source);
    }
    case T_ScalarArrayOpExpr: {
        auto *expr = castNode(ScalarArrayOpExpr, node);
        check_array_operator(expr, source);
        return check_operator(node, expr->opno, expr->opfuncid, expr->inputcollid, expr->args, source);
    }
    case T_FuncExpr: {
        auto *expr = castNode(FuncExpr, node);
        refuse_if(expr->funcretset, "a set-returning function", "Leave it out: a row is in one group.", source,
                  expr->location);
        check_call(node, expr->funcid, expr->inputcollid, expr->args, source);
        break;
    }
    case T_ArrayCoerceExpr:
        refuse_if(!converts_constants(castNode(ArrayCoerceExpr, node)), "a cast of an array", "Write IN (constants).",
                  source, exprLocation(node));
        return check_node(reinterpret_cast<Node *>(castNode(ArrayCoerceExpr, node)->arg), context);
    case T_MinMaxExpr:
        check_greatest(castNode(MinMaxExpr, node), source);
        break;
    case T_CoerceViaIO:
        check_cast_through_text(castNode(CoerceViaIO, node), source);
        break;
    default:
        check_structure(node, source);
    }
    return border::walk_expression(node, check_node, context);
}

void check_condition(Node *condition, ParseState *source) {
    check_node(condition, source);
}

// Reading a constant may run code of a type's owner (foreign_code.hpp), and a condition is read again by every query, with
// the rights of whoever asks: types and columns that could do that are refused before the text is analysed.
static bool has_foreign_literals(Node *node, void *context) {
    if (node == nullptr)
        return false;
    Oid type = InvalidOid;
    name_columns(node);
    if (IsA(node, TypeName))
        type = resolve_type(castNode(TypeName, node));
    else if (IsA(node, FuncCall)) // type('literal') is one, too
        type = LookupTypeNameOid(nullptr, makeTypeNameFromNameList(castNode(FuncCall, node)->funcname), true);
    else if (IsA(node, ColumnRef) && IsA(llast(castNode(ColumnRef, node)->fields), String)) {
        Oid relation = *static_cast<Oid *>(context);
        AttrNumber column = get_attnum(relation, strVal(llast(castNode(ColumnRef, node)->fields)));
        type = column > 0 ? get_atttype(relation, column) : InvalidOid;
    }
    if (OidIsValid(type) && catalog::input_runs_code(type))
        refuse_form(psprintf("a condition must not use type %s", format_type_be(type)), nullptr,
                    "Reading a constant of that type may run functions of its owner with the rights of "
                    "whoever asks.");
    return border::walk_raw(node, has_foreign_literals, context);
}

// Over the table as varno 1, a condition or a value.
static Node *check_over_table(const char *text, Oid relation, const char *name, bool is_condition) {
    RawStmt *statement = only_expression(text);
    if (statement == nullptr)
        ereport(ERROR,
                (errcode(ERRCODE_SYNTAX_ERROR),
                 errmsg(is_condition ? "the %s is not a condition: %s" : "the %s is not an expression: %s", name, text),
                 errhint(is_condition ? "Write what you would write after WHERE."
                                      : "Write what you would write between the parentheses of sum().")));
    auto *select = castNode(SelectStmt, statement->stmt);
    has_foreign_literals(linitial_node(ResTarget, select->targetList)->val, &relation);
    ParseState *state = make_parsestate(nullptr);
    Relation table = table_open(relation, AccessShareLock);
    ParseNamespaceItem *item = addRangeTableEntryForRelation(state, table, AccessShareLock, nullptr, true, true);
    addNSItemToQuery(state, item, true, true, true);
    Node *written = linitial_node(ResTarget, select->targetList)->val;
    Node *condition = is_condition ? transformWhereClause(state, written, EXPR_KIND_WHERE, name)
                                   : transformExpr(state, written, EXPR_KIND_WHERE);
    assign_expr_collations(state, condition);
    table_close(table, NoLock);
    check_condition(condition, nullptr);
    // Whose rows are seen must not follow the clock, nor the settings of whoever asks.
    if (contain_mutable_functions(condition))
        refuse_form(psprintf("the %s depends on the time or on settings: %s", name, text),
                    "Compare with constants; use timestamp rather than timestamp with time zone.");
    return condition;
}

Node *check_table_condition(const char *text, Oid relation, const char *name) {
    return eval_const_expressions(nullptr, check_over_table(text, relation, name, true));
}

Node *check_table_expression(const char *text, Oid relation) {
    return check_over_table(text, relation, "text", false);
}

const char *canonical_condition(const char *text, Oid relation, const char *name) {
    Node *condition = check_table_condition(text, relation, name);
    border::SettingsScope settings = border::SettingsScope::enter();
    const char *canonical =
        deparse_expression(condition, deparse_context_for(get_rel_name(relation), relation), false, false);
    settings.leave();
    return canonical;
}

} // namespace dp::query
