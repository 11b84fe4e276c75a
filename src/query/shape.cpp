#include "query/shape.hpp"

#include "privacy/joint.hpp"
#include "privacy/quantile.hpp"

#include "border/grouping.hpp"
#include "border/scope.hpp"
#include "border/versions.hpp"
#include "border/walk.hpp"
#include "catalog/facade.hpp"
#include "catalog/foreign_code.hpp"
#include "catalog/settings.hpp"
#include "query/distinct.hpp"
#include "query/join.hpp"
#include "query/joint.hpp"
#include "query/limits.hpp"
#include "query/marks.hpp"
#include "query/names.hpp"
#include "query/per_unit.hpp"
#include "query/public_view.hpp"
#include "query/remedy.hpp"
#include "query/semi.hpp"
#include "query/spelled.hpp"
#include "query/total.hpp"
#include "query/units.hpp"
extern "C" {
#include <parser/parse_expr.h>
}

namespace dp::query {

// One line per refusal, so that the list reads as a table.
static void refuse_if(bool condition, const char *part, const char *remedy, ParseState *source, int location) {
    if (condition)
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("%s is not supported in a query on a restricted view", part), errhint("%s", remedy),
                        source ? parser_errposition(source, location) : 0));
}

// ---- parsing -------------------------------------------------------------------------------------------------------

static RawStmt *only_statement(const char *text) {
    check_text(text);
    List *statements = raw_parser(text, RAW_PARSE_DEFAULT);
    if (list_length(statements) != 1)
        ereport(ERROR, (errcode(ERRCODE_SYNTAX_ERROR),
                        statements == NIL ? errmsg("the query is empty") : errmsg("the query has several statements"),
                        errhint("Pass exactly one SELECT.")));
    auto *raw = linitial_node(RawStmt, statements);
    if (!IsA(raw->stmt, SelectStmt))
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("the query is not a SELECT"),
                        errhint("Pass exactly one SELECT.")));
    return raw;
}

static Parsed analyse(RawStmt *raw, const char *text, const Oid *types, int ntypes) {
    ParseState *source = make_parsestate(nullptr);
    source->p_sourcetext = text;
    if (ntypes > 0)
        setup_parse_fixed_parameters(source, types, ntypes);
    Query *query = transformTopLevelStmt(source, raw);
    if (query->commandType != CMD_SELECT || query->hasModifyingCTE)
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("the query is not a plain SELECT"),
                        errhint("Pass a SELECT without INTO and without data-modifying WITH.")));
    return Parsed{query, source};
}

Parsed parse_select(const char *text, const Oid *types, int ntypes) {
    return analyse(only_statement(text), text, types, ntypes);
}

Parsed parse_leaf(const char *text, const Oid *types, int ntypes, Oid only_view) {
    RawStmt *raw = only_statement(text);
    check_names(raw);
    if (OidIsValid(only_view))
        check_reads_only(raw, only_view);
    return analyse(raw, text, types, ntypes);
}

static void report_position(void *text) {
    int position = geterrposition();
    if (position > 0) {
        errposition(0);
        internalerrposition(position);
        internalerrquery(static_cast<const char *>(text));
    }
}

void TextScope::enter(const char *text) {
    callback.previous = error_context_stack;
    callback.callback = report_position;
    callback.arg = const_cast<char *>(text);
    error_context_stack = &callback;
}

void TextScope::leave() const {
    error_context_stack = callback.previous;
}

// ---- conditions ----------------------------------------------------------------------------------------------------

void check_collation(Oid collation, List *arguments, ParseState *source, int location) {
    // Without a collation the comparison raises an error for the first row that it meets, and none when there is no row.
    ListCell *cell;
    foreach (cell, arguments)
        if (!OidIsValid(collation) && type_is_collatable(exprType(static_cast<Node *>(lfirst(cell)))))
            ereport(ERROR, (errcode(ERRCODE_INDETERMINATE_COLLATION),
                            errmsg("could not determine which collation to use for a comparison"),
                            errhint("Use the COLLATE clause to set the collation explicitly."),
                            source ? parser_errposition(source, location) : 0));
    open_collation(collation, source, location);
}

static const char *name_of_call(Oid function, List *arguments) {
    StringInfoData name;
    initStringInfo(&name);
    appendStringInfo(&name, "function %s(", get_func_name(function) ? get_func_name(function) : "?");
    ListCell *cell;
    foreach (cell, arguments)
        appendStringInfo(&name, "%s%s", foreach_current_index(cell) > 0 ? ", " : "",
                         format_type_be(exprType(static_cast<Node *>(lfirst(cell)))));
    appendStringInfoChar(&name, ')');
    return name.data;
}

// A call that meets rows must be total, whatever they hold; one of constants is evaluated before the charge.
static void check_call(Node *node, Oid function, Oid collation, List *arguments, ParseState *source) {
    int location = exprLocation(node);
    bool columns = contains_column(reinterpret_cast<Node *>(arguments));
    const TotalFunction *entry = columns ? find_total(function) : nullptr;
    refuse_if(columns ? entry == nullptr : !is_harmless_on_constants(function), name_of_call(function, arguments),
              function_remedy(function), source, location);
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

// An array of varchar read as an array of text, element by element without a function: what IN does for varchar columns.
static bool relabels_elements(const ArrayCoerceExpr *expr) {
    auto *element = reinterpret_cast<Node *>(expr->elemexpr);
    while (IsA(element, RelabelType))
        element = reinterpret_cast<Node *>(castNode(RelabelType, element)->arg);
    return IsA(element, CaseTestExpr);
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
        refuse_if(true, psprintf("a cast to domain %s", format_type_be(castNode(CoerceToDomain, node)->resulttype)),
                  "Use the built-in types.", source, location);
        return;
    case T_SubLink:
        refuse_if(true, "a sub-SELECT in a condition", remedy_of_sub_select(castNode(SubLink, node)), source, location);
        return;
    case T_Aggref:
    case T_WindowFunc:
    case T_GroupingFunc:
        refuse_if(true, "an aggregate in a condition", "Write the condition with columns and constants.", source,
                  location);
        return;
    default:
        refuse_if(true, "an expression of this kind", total_hint, source, location);
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
        refuse_if(!relabels_elements(castNode(ArrayCoerceExpr, node)), "a cast of an array", "Write IN (constants).",
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
    if (IsA(node, TypeName))
        type = LookupTypeNameOid(nullptr, castNode(TypeName, node), true);
    else if (IsA(node, FuncCall)) // type('literal') is one, too
        type = LookupTypeNameOid(nullptr, makeTypeNameFromNameList(castNode(FuncCall, node)->funcname), true);
    else if (IsA(node, ColumnRef) && IsA(llast(castNode(ColumnRef, node)->fields), String)) {
        Oid relation = *static_cast<Oid *>(context);
        AttrNumber column = get_attnum(relation, strVal(llast(castNode(ColumnRef, node)->fields)));
        type = column > 0 ? get_atttype(relation, column) : InvalidOid;
    }
    if (OidIsValid(type) && catalog::input_runs_code(type))
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("a condition must not use type %s", format_type_be(type)),
                        errdetail("Reading a constant of that type may run functions of its owner with the rights of "
                                  "whoever asks.")));
    return border::walk_raw(node, has_foreign_literals, context);
}

// Parsed as the only target of a SELECT: a text that is more than one expression shows in the other clauses.
RawStmt *only_expression(const char *text) {
    check_text(text);
    List *statements = raw_parser(psprintf("SELECT %s", text), RAW_PARSE_DEFAULT);
    if (list_length(statements) != 1)
        return nullptr;
    auto *select = castNode(SelectStmt, linitial_node(RawStmt, statements)->stmt);
    bool more = select->op != SETOP_NONE || list_length(select->targetList) != 1 ||
                linitial_node(ResTarget, select->targetList)->name || select->fromClause || select->whereClause ||
                select->groupClause || select->havingClause || select->sortClause || select->distinctClause ||
                select->intoClause || select->limitCount || select->limitOffset || select->windowClause ||
                select->withClause || select->lockingClause || select->valuesLists;
    return more ? nullptr : linitial_node(RawStmt, statements);
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
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("the %s depends on the time or on settings: %s", name, text),
                        errhint("Compare with constants; use timestamp rather than timestamp with time zone.")));
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

// ---- aggregates ----------------------------------------------------------------------------------------------------

static Oid marker(const char *name, int nargs, const Oid *types) {
    List *qualified = list_make2(makeString(pstrdup("pg_catalog")), makeString(pstrdup(name)));
    return LookupFuncName(qualified, nargs, types, true);
}

// sum and avg for the numeric types, by OID.
static const Oid sums[] = {F_SUM_INT2, F_SUM_INT4, F_SUM_INT8, F_SUM_FLOAT4, F_SUM_FLOAT8, F_SUM_NUMERIC};
static const Oid averages[] = {F_AVG_INT2, F_AVG_INT4, F_AVG_INT8, F_AVG_FLOAT4, F_AVG_FLOAT8, F_AVG_NUMERIC};

static const Oid variances_of_population[] = {F_VAR_POP_INT2,   F_VAR_POP_INT4,   F_VAR_POP_INT8,
                                              F_VAR_POP_FLOAT4, F_VAR_POP_FLOAT8, F_VAR_POP_NUMERIC};
static const Oid variances[] = {F_VAR_SAMP_INT2,   F_VAR_SAMP_INT4,    F_VAR_SAMP_INT8,   F_VAR_SAMP_FLOAT4,
                                F_VAR_SAMP_FLOAT8, F_VAR_SAMP_NUMERIC, F_VARIANCE_INT2,   F_VARIANCE_INT4,
                                F_VARIANCE_INT8,   F_VARIANCE_FLOAT4,  F_VARIANCE_FLOAT8, F_VARIANCE_NUMERIC};
static const Oid deviations_of_population[] = {F_STDDEV_POP_INT2,   F_STDDEV_POP_INT4,   F_STDDEV_POP_INT8,
                                               F_STDDEV_POP_FLOAT4, F_STDDEV_POP_FLOAT8, F_STDDEV_POP_NUMERIC};
static const Oid deviations[] = {F_STDDEV_SAMP_INT2,   F_STDDEV_SAMP_INT4,    F_STDDEV_SAMP_INT8, F_STDDEV_SAMP_FLOAT4,
                                 F_STDDEV_SAMP_FLOAT8, F_STDDEV_SAMP_NUMERIC, F_STDDEV_INT2,      F_STDDEV_INT4,
                                 F_STDDEV_INT8,        F_STDDEV_FLOAT4,       F_STDDEV_FLOAT8,    F_STDDEV_NUMERIC};

static const Oid minima[] = {F_MIN_INT2,   F_MIN_INT4,    F_MIN_INT8, F_MIN_FLOAT4,
                             F_MIN_FLOAT8, F_MIN_NUMERIC, F_MIN_DATE, F_MIN_TIMESTAMP, F_MIN_TIMESTAMPTZ};
static const Oid maxima[] = {F_MAX_INT2,   F_MAX_INT4,    F_MAX_INT8, F_MAX_FLOAT4,
                             F_MAX_FLOAT8, F_MAX_NUMERIC, F_MAX_DATE, F_MAX_TIMESTAMP, F_MAX_TIMESTAMPTZ};

template <std::size_t n> static bool among(Oid function, const Oid (&list)[n]) {
    for (Oid candidate : list)
        if (candidate == function)
            return true;
    return false;
}

static bool identify(const Aggref *call, privacy::Aggregate *fn) {
    Oid type = call->args == NIL ? InvalidOid : linitial_oid(call->aggargtypes);
    Oid any[1] = {ANYOID};
    if (call->aggfnoid == F_COUNT_ || call->aggfnoid == marker("dp_count", 0, nullptr))
        *fn = privacy::Aggregate::count_star;
    else if (call->aggfnoid == F_COUNT_ANY || call->aggfnoid == marker("dp_count", 1, any))
        *fn = privacy::Aggregate::count;
    else if (among(call->aggfnoid, sums) || call->aggfnoid == marker("dp_sum", 1, &type))
        *fn = privacy::Aggregate::sum;
    else if (among(call->aggfnoid, averages) || call->aggfnoid == marker("dp_avg", 1, &type))
        *fn = privacy::Aggregate::avg;
    else if (among(call->aggfnoid, variances_of_population))
        *fn = privacy::Aggregate::var_pop;
    else if (among(call->aggfnoid, variances))
        *fn = privacy::Aggregate::var_samp;
    else if (among(call->aggfnoid, deviations_of_population))
        *fn = privacy::Aggregate::stddev_pop;
    else if (among(call->aggfnoid, deviations))
        *fn = privacy::Aggregate::stddev_samp;
    else if (among(call->aggfnoid, minima))
        *fn = privacy::Aggregate::min;
    else if (among(call->aggfnoid, maxima))
        *fn = privacy::Aggregate::max;
    else if (call->aggfnoid == F_PERCENTILE_CONT_FLOAT8_FLOAT8)
        *fn = privacy::Aggregate::percentile_cont;
    else if (call->aggfnoid == F_PERCENTILE_DISC_FLOAT8_ANYELEMENT)
        *fn = privacy::Aggregate::percentile_disc;
    else
        return identify_joint(call, fn);
    return true;
}

// The column under relabelings (varchar as text, a domain as its base type); null if the argument is anything else.
static Var *argument_column(Node *argument) {
    while (IsA(argument, RelabelType))
        argument = reinterpret_cast<Node *>(castNode(RelabelType, argument)->arg);
    return IsA(argument, Var) && castNode(Var, argument)->varno != unit_varno ? castNode(Var, argument) : nullptr;
}

static bool is_cast_to_double(Oid function) {
    return function == F_FLOAT8_INT2 || function == F_FLOAT8_INT4 || function == F_FLOAT8_INT8 ||
           function == F_FLOAT8_FLOAT4 || function == F_FLOAT8_NUMERIC;
}

Node *before_cast_to_double(Node *number) {
    if (!IsA(number, FuncExpr) || !is_cast_to_double(castNode(FuncExpr, number)->funcid))
        return number;
    return static_cast<Node *>(linitial(castNode(FuncExpr, number)->args));
}

// percentile_cont takes double precision, and the parser casts other numbers to it, which keeps their order: the grid is that of
// what was written.
static Node *argument_of(const Aggref *call) {
    auto *argument = reinterpret_cast<Node *>(linitial_node(TargetEntry, call->args)->expr);
    privacy::Aggregate joint;
    if (identify_joint(call, &joint))
        return joint_argument(argument, reinterpret_cast<Node *>(lsecond_node(TargetEntry, call->args)->expr));
    return call->aggfnoid == F_PERCENTILE_CONT_FLOAT8_FLOAT8 ? before_cast_to_double(argument) : argument;
}

Var *column_of_argument(const Aggref *call) {
    return argument_column(argument_of(call));
}

// count(1) is what some tools write for count(*).
static bool counts_rows(const Aggref *call) {
    auto *argument = reinterpret_cast<Const *>(linitial_node(TargetEntry, call->args)->expr);
    return IsA(argument, Const) && !argument->constisnull;
}

// count(expression) is count(*) of the rows where it is there: one person is one row of it, whatever the expression.
static Expr *and_present(Expr *filter, Node *argument) {
    auto *test = makeNode(NullTest);
    test->arg = reinterpret_cast<Expr *>(argument);
    test->nulltesttype = IS_NOT_NULL;
    test->location = -1;
    auto *present = reinterpret_cast<Expr *>(test);
    return filter == nullptr ? present : makeBoolExpr(AND_EXPR, list_make2(filter, present), -1);
}

namespace {
// Collects the distinct aggregates, arguments and filters of a leaf, whose lists they become.
struct Met {
    Distinct aggregates; // Aggref *
    Distinct arguments, filters;
};
} // namespace

static int filter_index(Met *met, Expr *filter, ParseState *source) {
    if (filter == nullptr)
        return -1;
    check_condition(reinterpret_cast<Node *>(filter), source);
    return met->filters.add(reinterpret_cast<Node *>(filter)) - 1;
}

// Of one fraction; those of an array are asked one by one (query/fractions).
static bool is_percentile(const Aggref *call) {
    return call->aggfnoid == F_PERCENTILE_CONT_FLOAT8_FLOAT8 || call->aggfnoid == F_PERCENTILE_DISC_FLOAT8_ANYELEMENT;
}

// The source of all of these columns; null: of several, or none.
static const Source *source_of_columns(const Leaf *leaf, const List *columns) {
    const Source *source = nullptr;
    ListCell *cell;
    foreach (cell, columns) {
        const Source *found = source_of(leaf, varno_of(static_cast<AttrNumber>(lfirst_int(cell))));
        if (source != nullptr && found != source)
            return nullptr;
        source = found;
    }
    return source;
}

static const char *count_of_any_units(const Leaf *leaf) {
    for (int i = 0; i < leaf->nsources; i++)
        if (const char *of_units = leaf->sources[i].is_public ? nullptr : count_of_units_now(leaf->sources[i].relation))
            return of_units;
    return nullptr;
}

// The source whose units these columns are; null: of none.
static const Source *source_of_units(const Leaf *leaf, const List *columns) {
    const Source *source = source_of_columns(leaf, columns);
    return source != nullptr && !source->is_public && count_units_now(source->relation, columns) ? source : nullptr;
}

// count(DISTINCT x) of anything but the columns that are the unit.
static bool counts_values(const Leaf *leaf, const Aggref *call) {
    return call->aggdistinct != NIL && call->aggfnoid == F_COUNT_ANY &&
           source_of_units(leaf, counted_columns(call)) == nullptr;
}

// What may be distinct are units, and what is counted.
static void check_distinct(const Leaf *leaf, const Aggref *call, ParseState *source) {
    if (call->aggdistinct == NIL)
        return;
    refuse_if(call->aggfnoid != F_COUNT_ANY, "DISTINCT in an aggregate other than count", other_distinct_remedy, source,
              call->location);
    List *columns = counted_columns(call);
    if (const Source *counted = source_of_units(leaf, columns)) {
        // A row of NULLs is a value of its own: nobody's.
        refuse_if(counted->nullable && list_length(columns) > 1,
                  "DISTINCT over several columns of the nullable side of an outer join",
                  "Count people by the columns of the preserved side, with FILTER (WHERE column IS NOT NULL).", source,
                  call->location);
        return;
    }
    if (!IsA(linitial_node(TargetEntry, call->args)->expr, RowExpr))
        return;
    const char *of_units = count_of_any_units(leaf);
    refuse_if(true, "count(DISTINCT ...) of several columns",
              of_units == nullptr ? row_remedy : psprintf("People are counted by %s. %s", of_units, row_remedy), source,
              call->location);
}

static void check_clauses(const Leaf *leaf, const Aggref *call, ParseState *source) {
    int at = call->location;
    bool percentile = is_percentile(call);
    refuse_if(call->aggkind != AGGKIND_NORMAL && !percentile, psprintf("aggregate %s", get_func_name(call->aggfnoid)),
              aggregate_remedy(call), source, at);
    check_distinct(leaf, call, source);
    refuse_if(call->aggorder != NIL && !percentile, "ORDER BY in an aggregate", "Leave it out.", source, at);
    refuse_if(call->agglevelsup > 0, "an aggregate of an outer query", "Aggregate in the query that reads the view.",
              source, at);
}

// What a grid may lie over.
static bool has_points(Oid type) {
    return type == INT2OID || type == INT4OID || type == INT8OID || type == FLOAT4OID || type == FLOAT8OID ||
           type == NUMERICOID || type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID;
}

// A constant fraction, and values in their usual order or the reverse.
static void set_percentile(Aggregate *aggregate, const Aggref *call, ParseState *source) {
    int at = call->location;
    Oid type = exprType(reinterpret_cast<Node *>(linitial_node(TargetEntry, call->args)->expr));
    refuse_if(!has_points(type) || call->aggtype != type,
              psprintf("%s of values of type %s", get_func_name(call->aggfnoid), format_type_be(type)),
              type == INTERVALOID ? interval_remedy : quantile_remedy, source, at);
    aggregate->fraction = static_cast<Node *>(linitial(call->aggdirectargs));
    refuse_if(contains_column(aggregate->fraction), "a column as the fraction of a percentile",
              "Write a constant there, 0.5 for the median.", source, at);
    check_condition(aggregate->fraction, source);
    Oid sort = linitial_node(SortGroupClause, call->aggorder)->sortop;
    const TypeCacheEntry *order = lookup_type_cache(type, TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
    refuse_if(sort != order->lt_opr && sort != order->gt_opr, "ORDER BY with an operator of its own",
              "Write ORDER BY x, or ORDER BY x DESC.", source, at);
    aggregate->descending = sort == order->gt_opr;
}

// Of the point that two columns make those know that take two: whoever writes it counts something else, which is refused.
static int place_of_argument(const Met *met, Node *argument, privacy::Aggregate fn) {
    return joint_parts(argument) != NIL && !privacy::is_joint(fn) ? -1 : met->arguments.place_of(argument) - 1;
}

// The argument of an aggregate: a column, or an expression. count(expression) has one where the same is summed as well, so that
// both are of one measure; of its own it counts the rows where it is there.
static void set_argument(const Met *met, Aggregate *aggregate, const Aggref *call, Expr **filter, ParseState *source) {
    Node *argument = argument_of(call);
    if (Var *column = argument_column(argument)) {
        check_var(column, source);
        aggregate->attno = column_number(column);
        return;
    }
    aggregate->argument = place_of_argument(met, argument, aggregate->fn);
    if (aggregate->argument < 0) {
        aggregate->fn = privacy::Aggregate::count_star;
        *filter = and_present(*filter, argument);
    }
}

// What is summed, or counted by its values, before any aggregate is looked at.
static void add_argument(const Leaf *leaf, Met *met, const Aggref *call, ParseState *source) {
    privacy::Aggregate fn;
    if (!identify(call, &fn) || fn == privacy::Aggregate::count_star ||
        (fn == privacy::Aggregate::count && !counts_values(leaf, call)))
        return;
    Node *argument = argument_of(call);
    if (argument_column(argument) != nullptr || place_of_argument(met, argument, fn) >= 0)
        return;
    check_clauses(leaf, call, source);
    check_condition(privacy::is_joint(fn) ? reinterpret_cast<Node *>(joint_parts(argument)) : argument, source);
    met->arguments.add(argument);
}

static void add_aggregate(Leaf *leaf, Met *met, Aggref *call, ParseState *source) {
    check_clauses(leaf, call, source);
    privacy::Aggregate fn;
    refuse_if(!identify(call, &fn), psprintf("aggregate %s", get_func_name(call->aggfnoid)), aggregate_remedy(call),
              source, call->location);
    Aggregate *aggregate = &leaf->aggregates[leaf->naggregates++];
    aggregate->fn = fn;
    aggregate->node = call;
    aggregate->result_type = call->aggtype;
    aggregate->attno = 0;
    aggregate->argument = -1;
    if (is_percentile(call))
        set_percentile(aggregate, call, source);
    Expr *filter = call->aggfilter;
    if (counts_values(leaf, call)) {
        aggregate->fn = privacy::Aggregate::count_values;
        set_argument(met, aggregate, call, &filter, source);
    } else if (call->aggdistinct != NIL) {
        List *counted = counted_columns(call);
        leaf->counted = list_append_unique(leaf->counted, counted);
        aggregate->fn = privacy::Aggregate::count_units;
        if (source_of_columns(leaf, counted)->nullable) // of one column
            filter = and_present(filter, argument_of(call));
    } else if (fn == privacy::Aggregate::count && counts_rows(call))
        aggregate->fn = privacy::Aggregate::count_star;
    else if (fn != privacy::Aggregate::count_star)
        set_argument(met, aggregate, call, &filter, source);
    aggregate->filter = filter_index(met, filter, source);
}

// ---- the query level -----------------------------------------------------------------------------------------------

static void check_level(const Query *query, ParseState *source) {
    refuse_if(query->setOperations != nullptr, "UNION, INTERSECT or EXCEPT", "Ask one SELECT.", source, -1);
    refuse_if(query->cteList != NIL, "WITH", "Write the query without it.", source, -1);
    refuse_if(query->hasWindowFuncs, "a window function", "Aggregate with GROUP BY.", source, -1);
    refuse_if(query->hasTargetSRFs, "a set-returning function", "Select group keys and aggregates.", source, -1);
    refuse_if(query->groupingSets != NIL, "GROUPING SETS, ROLLUP or CUBE", sets_remedy, source, -1);
    refuse_if(query->havingQual != nullptr, "HAVING", "Filter the answer.", source, -1);
    refuse_if(query->distinctClause != NIL, "DISTINCT", "Use SELECT x, count(*) ... GROUP BY x.", source, -1);
    refuse_if(query->limitCount != nullptr || query->limitOffset != nullptr, "LIMIT or OFFSET", "Cut the answer.",
              source, -1);
    refuse_if(query->rowMarks != NIL, "FOR UPDATE or FOR SHARE", "Leave it out.", source, -1);
    refuse_if(query->jointree->fromlist == NIL, "a join, or a query without FROM", "Select from one restricted view.",
              source, -1);
}

// Expressions over joins' columns become such over columns of the sources.
static void open_from(Leaf *leaf, Query *query, bool of_unit, ParseState *source) {
    leaf->query = query;
    if (list_length(query->rtable) > 1) {
        query->targetList =
            reinterpret_cast<List *>(border::columns_of_joined(query, reinterpret_cast<Node *>(query->targetList)));
        query->havingQual = border::columns_of_joined(query, query->havingQual);
    }
    read_sources(leaf, query, source);
    read_semi_joins(leaf, query, source);
    read_tests(leaf, query, of_unit, source);
}

static void open_level(Leaf *leaf, Query *query, ParseState *source) {
    Query *below = per_unit_query(query);
    if (below == nullptr)
        return open_from(leaf, query, false, source);
    border::flatten_grouping(below);
    check_per_unit(below, source);
    open_from(leaf, below, true, source);
    read_per_unit(leaf, query, below, source);
    check_condition(leaf->per_unit->where, source);
}

// Groups are matched and ordered by the type's default btree operators, which must be built-in; for an expression, where
// the analyst chose the type, total as well.
static void check_key_type(Node *key, ParseState *source) {
    Oid type = exprType(key);
    Oid compare = lookup_type_cache(type, TYPECACHE_EQ_OPR | TYPECACHE_LT_OPR | TYPECACHE_CMP_PROC)->cmp_proc;
    bool fine = IsA(key, Var) ? OidIsValid(compare) : OidIsValid(compare) && find_total(compare) != nullptr;
    refuse_if(!fine, psprintf("GROUP BY a value of type %s", format_type_be(type)),
              "Group by values of a type with an order.", source, exprLocation(key));
    check_collation(exprCollation(key), list_make1(key), source, exprLocation(key));
}

static void add_key(Leaf *leaf, const Query *query, SortGroupClause *clause, ParseState *source) {
    Node *expression = get_sortgroupclause_expr(clause, query->targetList);
    check_condition(expression, source);
    check_key_type(expression, source);
    AttrNumber attno = InvalidAttrNumber;
    if (IsA(expression, Var) && castNode(Var, expression)->varno != unit_varno)
        attno = column_number(castNode(Var, expression));
    leaf->keys[leaf->nkeys++] =
        Key{expression, attno, exprType(expression), exprTypmod(expression), exprCollation(expression), clause};
}

// What may be an aggregate, marked or as it is.
static Node *aggregate_of(Node *node, Part *part) {
    Node *inner = marked(node, part);
    return inner == nullptr ? node : inner;
}

// How wide an interval of a percentile is depends on where the rows lie, and a draw does not tell that.
static void check_part(const Aggregate &aggregate, Part part, ParseState *source) {
    refuse_if(part != Part::value && privacy::is_quantile(aggregate.fn),
              "dp_low or dp_high of min, max or a percentile",
              "Ask for percentiles on both sides: those of 0.45 and 0.55 enclose the median unless their ranks are off "
              "by more than dp_explain() says.",
              source, aggregate.node->location);
}

static Output output_of(const Leaf *leaf, const Met &met, const TargetEntry *target, ParseState *source) {
    const char *name = target->resname ? target->resname : "?column?";
    auto *node = reinterpret_cast<Node *>(target->expr);
    for (int i = 0; i < leaf->nkeys; i++)
        if (equal(node, leaf->keys[i].expression))
            return Output{true, i, name, Part::value};
    Part part = Part::value;
    Node *call = aggregate_of(node, &part);
    if (const int place = met.aggregates.place_of(call)) {
        check_part(leaf->aggregates[place - 1], part, source);
        return Output{false, place - 1, name, part};
    }
    if (contains_column(node) || contain_aggs_of_level(node, 0))
        refuse_if(true, "an expression over aggregates or keys", "Select group keys and aggregates as they are.",
                  source, exprLocation(node));
    refuse_if(true, "a constant in the SELECT list", "Select group keys and aggregates.", source, exprLocation(node));
    return Output{};
}

// Target list: the group keys and the aggregates. The same aggregate twice is one, and so are its value and the ends of its
// interval: one measure, one price, one draw.
static void add_outputs(Leaf *leaf, const Query *query, ParseState *source) {
    Met met = {Distinct::none(), Distinct::none(), Distinct::none()};
    ListCell *cell;
    foreach (cell, query->targetList) {
        Part part;
        Node *call = aggregate_of(reinterpret_cast<Node *>(lfirst_node(TargetEntry, cell)->expr), &part);
        if (IsA(call, Aggref))
            add_argument(leaf, &met, castNode(Aggref, call), source);
    }
    foreach (cell, query->targetList) {
        auto *node = reinterpret_cast<Node *>(lfirst_node(TargetEntry, cell)->expr);
        Part part = Part::value;
        Node *call = aggregate_of(node, &part);
        if (part != Part::value && !IsA(call, Aggref))
            refuse_mark(node, source);
        if (IsA(call, Aggref) && met.aggregates.add(call) > leaf->naggregates)
            add_aggregate(leaf, &met, castNode(Aggref, call), source);
    }
    leaf->arguments = met.arguments.nodes;
    leaf->filters = met.filters.nodes;
    foreach (cell, query->targetList) {
        auto *target = lfirst_node(TargetEntry, cell);
        if (!target->resjunk)
            leaf->outputs[leaf->noutputs++] = output_of(leaf, met, target, source);
    }
}

bool asks_joint(const Leaf *leaf) {
    for (int i = 0; i < leaf->naggregates; i++)
        if (privacy::is_joint(leaf->aggregates[i].fn))
            return true;
    return false;
}

bool asks_quantile(const Leaf *leaf) {
    for (int i = 0; i < leaf->naggregates; i++)
        if (privacy::is_quantile(leaf->aggregates[i].fn))
            return true;
    return false;
}

Leaf *check_leaf(const Query *written, ParseState *source) {
    auto *leaf = static_cast<Leaf *>(palloc0(sizeof(Leaf)));
    Query *query = with_public_views_open(written);
    border::flatten_grouping(query);
    check_level(query, source);
    open_level(leaf, query, source);
    check_outputs(list_length(query->targetList)); // the keys are among them
    int size = list_length(query->targetList) + list_length(query->groupClause);
    leaf->keys = static_cast<Key *>(palloc0(sizeof(Key) * (size + 1)));
    leaf->aggregates = static_cast<Aggregate *>(palloc0(sizeof(Aggregate) * (size + 1)));
    leaf->outputs = static_cast<Output *>(palloc0(sizeof(Output) * (size + 1)));
    if (!query->hasAggs && query->groupClause == NIL)
        ereport(ERROR,
                (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("%s", private_rows), errhint("%s", rows_remedy)));
    check_condition(leaf->where, source);
    List *conditions = conditions_of(leaf->from);
    check_condition(reinterpret_cast<Node *>(conditions), source);
    ListCell *cell;
    foreach (cell, leaf->semi_joins) {
        auto *semi = static_cast<const SemiJoin *>(lfirst(cell));
        check_condition(semi->condition, source);
        check_condition(semi->unless, source);
    }
    foreach (cell, query->groupClause)
        add_key(leaf, query, lfirst_node(SortGroupClause, cell), source);
    add_outputs(leaf, query, source);
    refuse_if(query->sortClause != NIL, "ORDER BY", "Sort the answer.", source, -1);
    return leaf;
}

} // namespace dp::query
