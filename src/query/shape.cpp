#include "query/shape.hpp"

#include "border/scope.hpp"
#include "border/walk.hpp"
#include "catalog/facade.hpp"
#include "catalog/settings.hpp"
#include "query/total.hpp"

namespace dp::query {

// One line per refusal, so that the list reads as a table.
static void refuse_if(bool condition, const char *part, const char *remedy, ParseState *source, int location) {
    if (condition)
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("%s is not supported in a query on a restricted view", part), errhint("%s", remedy),
                        source ? parser_errposition(source, location) : 0));
}

// ---- parsing -------------------------------------------------------------------------------------------------------

Parsed parse_select(const char *text, const Oid *types, int ntypes) {
    List *statements = raw_parser(text, RAW_PARSE_DEFAULT);
    if (list_length(statements) != 1)
        ereport(ERROR, (errcode(ERRCODE_SYNTAX_ERROR),
                        statements == NIL ? errmsg("the query is empty") : errmsg("the query has several statements"),
                        errhint("Pass exactly one SELECT.")));
    auto *raw = linitial_node(RawStmt, statements);
    if (!IsA(raw->stmt, SelectStmt))
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("the query is not a SELECT"),
                        errhint("Pass exactly one SELECT.")));
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

static bool contains_column(Node *node, void *) {
    if (node == nullptr)
        return false;
    return IsA(node, Var) || border::walk_expression(node, contains_column, nullptr);
}

static void check_call(Node *node, Oid function, Oid collation, List *arguments, ParseState *source) {
    const char *name = get_func_name(function);
    int location = exprLocation(node);
    bool columns = contains_column(reinterpret_cast<Node *>(arguments), nullptr);
    refuse_if(
        columns ? !is_total(function) : !is_harmless_on_constants(function),
        psprintf("function %s(%s)", name ? name : "?",
                 list_length(arguments) > 0 ? format_type_be(exprType(static_cast<Node *>(linitial(arguments)))) : ""),
        "Use comparisons of columns with constants, combined by AND, OR, NOT, IN, BETWEEN and IS NULL.", source,
        location);
    // Without a collation the comparison raises an error for the first row that it meets, and none when there is no row.
    ListCell *cell;
    foreach (cell, arguments)
        if (!OidIsValid(collation) && type_is_collatable(exprType(static_cast<Node *>(lfirst(cell)))))
            ereport(ERROR, (errcode(ERRCODE_INDETERMINATE_COLLATION),
                            errmsg("could not determine which collation to use for a comparison"),
                            errhint("Use the COLLATE clause to set the collation explicitly."),
                            source ? parser_errposition(source, location) : 0));
}

static bool check_node(Node *node, void *context);

// Checks a call and goes on into its arguments.
static bool check_operator(Node *node, Oid op, Oid function, Oid collation, List *arguments, ParseState *source) {
    refuse_if(op >= FirstUnpinnedObjectId, "a user-defined operator", "Use the built-in comparisons.", source,
              exprLocation(node));
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
    refuse_if(var->varlevelsup > 0, "a column of an outer query", "Write the condition with constants.", source,
              var->location);
    refuse_if(var->varattno == 0, "a whole row", "Name columns.", source, var->location);
    refuse_if(var->varattno < 0, "a system column", "Name columns of the view.", source, var->location);
    return false;
}

static bool check_parameter(Param *param, ParseState *source) {
    refuse_if(param->paramkind != PARAM_EXTERN, "a value from an outer query",
              "Write the condition with constants or parameters.", source, param->location);
    return false;
}

static bool check_node(Node *node, void *context) {
    auto *source = static_cast<ParseState *>(context);
    if (node == nullptr)
        return false;
    switch (nodeTag(node)) {
    case T_Const:
    case T_List:
    case T_BoolExpr:
    case T_BooleanTest:
    case T_RelabelType:
    case T_ArrayExpr:
        break;
    case T_Param:
        return check_parameter(castNode(Param, node), source);
    case T_Var:
        return check_var(castNode(Var, node), source);
    case T_NullTest:
        refuse_if(castNode(NullTest, node)->argisrow, "IS NULL of a row", "Test columns.", source, exprLocation(node));
        break;
    case T_OpExpr:
    case T_DistinctExpr: {
        auto *expr = reinterpret_cast<OpExpr *>(node); // DistinctExpr is the same struct
        set_opfuncid(expr);
        return check_operator(node, expr->opno, expr->opfuncid, expr->inputcollid, expr->args, source);
    }
    case T_ScalarArrayOpExpr: {
        auto *expr = castNode(ScalarArrayOpExpr, node);
        set_sa_opfuncid(expr);
        refuse_if(contains_column(static_cast<Node *>(lsecond(expr->args)), nullptr), "an array of columns",
                  "Write IN (constants).", source, exprLocation(node));
        return check_operator(node, expr->opno, expr->opfuncid, expr->inputcollid, expr->args, source);
    }
    case T_FuncExpr: {
        auto *expr = castNode(FuncExpr, node);
        refuse_if(expr->funcretset, "a set-returning function", "Write the condition with constants.", source,
                  expr->location);
        check_call(node, expr->funcid, expr->inputcollid, expr->args, source);
        break;
    }
    case T_ArrayCoerceExpr:
        refuse_if(!relabels_elements(castNode(ArrayCoerceExpr, node)), "a cast of an array", "Write IN (constants).",
                  source, exprLocation(node));
        return check_node(reinterpret_cast<Node *>(castNode(ArrayCoerceExpr, node)->arg), context);
    case T_CollateExpr:
        refuse_if(castNode(CollateExpr, node)->collOid >= FirstNormalObjectId, "a user-defined collation",
                  "Use a built-in collation.", source, exprLocation(node));
        break;
    case T_SubLink:
        refuse_if(true, "a sub-SELECT in a condition", "Write the condition with constants.", source,
                  exprLocation(node));
        break;
    case T_Aggref:
    case T_WindowFunc:
    case T_GroupingFunc:
        refuse_if(true, "an aggregate in a condition", "Write the condition with columns and constants.", source,
                  exprLocation(node));
        break;
    default:
        refuse_if(true, "an expression of this kind",
                  "Use comparisons of columns with constants, combined by AND, OR, NOT, IN, BETWEEN and IS NULL.",
                  source, exprLocation(node));
    }
    return border::walk_expression(node, check_node, context);
}

void check_condition(Node *condition, ParseState *source) {
    check_node(condition, source);
}

static Node *substitute_parameters(Node *node, void *context) {
    auto *parameters = static_cast<ParamListInfo>(context);
    if (node == nullptr)
        return nullptr;
    if (IsA(node, Param) && parameters != nullptr) {
        auto *param = castNode(Param, node);
        ParamExternData *value = &parameters->params[param->paramid - 1];
        int16 length;
        bool by_value;
        get_typlenbyval(param->paramtype, &length, &by_value);
        return reinterpret_cast<Node *>(makeConst(param->paramtype, param->paramtypmod, param->paramcollid, length,
                                                  value->value, value->isnull, by_value));
    }
    return border::mutate_expression(node, substitute_parameters, context);
}

Node *fold_constants(Node *condition, ParamListInfo parameters) {
    return eval_const_expressions(nullptr, substitute_parameters(condition, parameters));
}

Node *check_view_filter(const char *text, Oid relation) {
    // Parsed as the only target of a SELECT: a text that is more than one expression shows in the other clauses.
    List *statements = raw_parser(psprintf("SELECT %s", text), RAW_PARSE_DEFAULT);
    auto *select =
        list_length(statements) == 1 ? castNode(SelectStmt, linitial_node(RawStmt, statements)->stmt) : nullptr;
    if (select == nullptr || select->op != SETOP_NONE || list_length(select->targetList) != 1 ||
        linitial_node(ResTarget, select->targetList)->name || select->fromClause || select->whereClause ||
        select->groupClause || select->havingClause || select->sortClause || select->distinctClause ||
        select->intoClause || select->limitCount || select->limitOffset || select->windowClause || select->withClause ||
        select->lockingClause || select->valuesLists)
        ereport(ERROR, (errcode(ERRCODE_SYNTAX_ERROR), errmsg("the filter is not a condition: %s", text),
                        errhint("Write what you would write after WHERE.")));
    ParseState *state = make_parsestate(nullptr);
    Relation table = table_open(relation, AccessShareLock);
    ParseNamespaceItem *item = addRangeTableEntryForRelation(state, table, AccessShareLock, nullptr, true, true);
    addNSItemToQuery(state, item, true, true, true);
    Node *condition =
        transformWhereClause(state, linitial_node(ResTarget, select->targetList)->val, EXPR_KIND_WHERE, "filter");
    assign_expr_collations(state, condition);
    table_close(table, NoLock);
    check_condition(condition, nullptr);
    return fold_constants(condition, nullptr);
}

const char *canonical_filter(const char *text, Oid relation) {
    Node *condition = check_view_filter(text, relation);
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

static bool among(Oid function, const Oid (&list)[6]) {
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
    else
        return false;
    return true;
}

// The column under relabelings (varchar as text, a domain as its base type); null if the argument is anything else.
static Var *argument_column(Node *argument) {
    while (IsA(argument, RelabelType))
        argument = reinterpret_cast<Node *>(castNode(RelabelType, argument)->arg);
    return IsA(argument, Var) ? castNode(Var, argument) : nullptr;
}

// count(1) is what some tools write for count(*).
static bool counts_rows(const Aggref *call) {
    auto *argument = reinterpret_cast<Const *>(linitial_node(TargetEntry, call->args)->expr);
    return IsA(argument, Const) && !argument->constisnull;
}

static int filter_index(Leaf *leaf, Expr *filter, ParseState *source) {
    if (filter == nullptr)
        return -1;
    check_condition(reinterpret_cast<Node *>(filter), source);
    ListCell *cell;
    foreach (cell, leaf->filters)
        if (equal(lfirst(cell), filter))
            return foreach_current_index(cell);
    leaf->filters = lappend(leaf->filters, filter);
    return list_length(leaf->filters) - 1;
}

static void check_clauses(const Aggref *call, ParseState *source) {
    int at = call->location;
    refuse_if(call->aggdistinct != NIL, "DISTINCT in an aggregate", "Use count(*), count(x), sum(x) or avg(x).", source,
              at);
    refuse_if(call->aggorder != NIL, "ORDER BY in an aggregate", "Leave it out.", source, at);
    refuse_if(call->aggkind != AGGKIND_NORMAL, "an ordered-set aggregate", "Use count(*), count(x), sum(x) or avg(x).",
              source, at);
    refuse_if(call->agglevelsup > 0, "an aggregate of an outer query", "Aggregate in the query that reads the view.",
              source, at);
}

static void add_aggregate(Leaf *leaf, Aggref *call, ParseState *source) {
    check_clauses(call, source);
    privacy::Aggregate fn;
    refuse_if(!identify(call, &fn), psprintf("aggregate %s", get_func_name(call->aggfnoid)),
              "Use count(*), count(x), sum(x) or avg(x).", source, call->location);
    Aggregate *aggregate = &leaf->aggregates[leaf->naggregates++];
    aggregate->fn = fn;
    aggregate->node = call;
    aggregate->result_type = call->aggtype;
    aggregate->attno = 0;
    if (fn == privacy::Aggregate::count && counts_rows(call))
        aggregate->fn = privacy::Aggregate::count_star;
    else if (fn != privacy::Aggregate::count_star) {
        Node *argument = reinterpret_cast<Node *>(linitial_node(TargetEntry, call->args)->expr);
        Var *column = argument_column(argument);
        refuse_if(column == nullptr, "an aggregate of an expression", "Aggregate a column of the view.", source,
                  call->location);
        check_var(column, source);
        aggregate->attno = column->varattno;
    }
    aggregate->filter = filter_index(leaf, call->aggfilter, source);
}

// ---- the query level -----------------------------------------------------------------------------------------------

static void check_level(const Query *query, ParseState *source) {
    refuse_if(query->setOperations != nullptr, "UNION, INTERSECT or EXCEPT", "Ask one SELECT.", source, -1);
    refuse_if(query->cteList != NIL, "WITH", "Write the query without it.", source, -1);
    refuse_if(query->hasWindowFuncs, "a window function", "Aggregate with GROUP BY.", source, -1);
    refuse_if(query->hasTargetSRFs, "a set-returning function", "Select group keys and aggregates.", source, -1);
    refuse_if(query->hasSubLinks, "a sub-SELECT", "Write the query with constants.", source, -1);
    refuse_if(query->groupingSets != NIL, "GROUPING SETS, ROLLUP or CUBE", "Use a plain GROUP BY.", source, -1);
    refuse_if(query->havingQual != nullptr, "HAVING", "Filter the answer.", source, -1);
    refuse_if(query->distinctClause != NIL, "DISTINCT", "Use GROUP BY.", source, -1);
    refuse_if(query->limitCount != nullptr || query->limitOffset != nullptr, "LIMIT or OFFSET", "Cut the answer.",
              source, -1);
    refuse_if(query->rowMarks != NIL, "FOR UPDATE or FOR SHARE", "Leave it out.", source, -1);
    refuse_if(list_length(query->jointree->fromlist) != 1 || !IsA(linitial(query->jointree->fromlist), RangeTblRef),
              "a join, or a query without FROM", "Select from one restricted view.", source, -1);
}

static void find_view(Leaf *leaf, const Query *query, ParseState *source) {
    int index = linitial_node(RangeTblRef, query->jointree->fromlist)->rtindex;
    RangeTblEntry *entry = rt_fetch(index, query->rtable);
    refuse_if(entry->rtekind != RTE_RELATION, "FROM anything but a restricted view", "Select from one restricted view.",
              source, -1);
    refuse_if(entry->tablesample != nullptr, "TABLESAMPLE", "Leave it out.", source, -1);
    refuse_if(index != 1, "a query of this form", "Select from one restricted view.", source, -1);
    if (!OidIsValid(catalog::table_of_facade(entry->relid)))
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("%s is not a restricted view", catalog::qualified_name(entry->relid)),
                        errhint("Query a view that was made with dp_protect().")));
    leaf->view = entry->relid;
    leaf->entry = entry;
}

static void add_key(Leaf *leaf, const Query *query, SortGroupClause *clause, ParseState *source) {
    Node *expression = get_sortgroupclause_expr(clause, query->targetList);
    refuse_if(!IsA(expression, Var), "GROUP BY an expression", "Group by columns of the view.", source,
              exprLocation(expression));
    auto *var = castNode(Var, expression);
    check_var(var, source);
    // Groups are matched and ordered by the type's default btree operators.
    TypeCacheEntry *type = lookup_type_cache(var->vartype, TYPECACHE_EQ_OPR | TYPECACHE_LT_OPR | TYPECACHE_CMP_PROC);
    refuse_if(!OidIsValid(type->cmp_proc), psprintf("GROUP BY a column of type %s", format_type_be(var->vartype)),
              "Group by a column of a type with an order.", source, var->location);
    leaf->keys[leaf->nkeys++] = Key{var->varattno, var->vartype, var->vartypmod, var->varcollid, clause};
}

static Output output_of(const Leaf *leaf, const TargetEntry *target, ParseState *source) {
    const char *name = target->resname ? target->resname : "?column?";
    auto *node = reinterpret_cast<Node *>(target->expr);
    for (int i = 0; i < leaf->nkeys; i++)
        if (IsA(node, Var) && castNode(Var, node)->varattno == leaf->keys[i].attno)
            return Output{true, i, name};
    for (int i = 0; i < leaf->naggregates; i++)
        if (equal(node, leaf->aggregates[i].node))
            return Output{false, i, name};
    if (contains_column(node, nullptr) || contain_aggs_of_level(node, 0))
        refuse_if(true, "an expression over aggregates or keys", "Select group keys and aggregates as they are.",
                  source, exprLocation(node));
    refuse_if(true, "a constant in the SELECT list", "Select group keys and aggregates.", source, exprLocation(node));
    return Output{};
}

// Target list: the group keys and the aggregates, the same aggregate twice is one.
static void add_outputs(Leaf *leaf, const Query *query, ParseState *source) {
    ListCell *cell;
    foreach (cell, query->targetList) {
        auto *target = lfirst_node(TargetEntry, cell);
        bool known = false;
        for (int i = 0; i < leaf->naggregates && !known; i++)
            known = equal(target->expr, leaf->aggregates[i].node);
        if (IsA(target->expr, Aggref) && !known)
            add_aggregate(leaf, castNode(Aggref, target->expr), source);
    }
    foreach (cell, query->targetList) {
        auto *target = lfirst_node(TargetEntry, cell);
        if (!target->resjunk)
            leaf->outputs[leaf->noutputs++] = output_of(leaf, target, source);
    }
}

Leaf *check_leaf(Query *query, ParseState *source) {
    auto *leaf = static_cast<Leaf *>(palloc0(sizeof(Leaf)));
    check_level(query, source);
    find_view(leaf, query, source);
    int size = list_length(query->targetList) + list_length(query->groupClause);
    leaf->keys = static_cast<Key *>(palloc0(sizeof(Key) * (size + 1)));
    leaf->aggregates = static_cast<Aggregate *>(palloc0(sizeof(Aggregate) * (size + 1)));
    leaf->outputs = static_cast<Output *>(palloc0(sizeof(Output) * (size + 1)));
    if (!query->hasAggs && query->groupClause == NIL)
        ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("rows of a restricted view are private"),
                        errhint("Ask for aggregates: count(*), count(x), sum(x), avg(x), with or without GROUP BY.")));
    leaf->where = query->jointree->quals;
    check_condition(leaf->where, source);
    ListCell *cell;
    foreach (cell, query->groupClause)
        add_key(leaf, query, lfirst_node(SortGroupClause, cell), source);
    add_outputs(leaf, query, source);
    refuse_if(query->sortClause != NIL, "ORDER BY", "Sort the answer.", source, -1);
    return leaf;
}

} // namespace dp::query
