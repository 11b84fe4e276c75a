#include "risk/general_question.hpp"

#include "border/walk.hpp"
#include "catalog/facade.hpp"
#include "catalog/foreign_code.hpp"
#include "catalog/foreign_part.hpp"
#include "query/aggregate_table.hpp"
#include "query/flatten_subselects.hpp"
#include "query/limits.hpp"
#include "risk/unit_changes.hpp"

namespace dp::risk {

// ---- the columns of the result -------------------------------------------------------------------------------------

static bool is_number(Oid type) {
    switch (getBaseType(type)) {
    case INT2OID:
    case INT4OID:
    case INT8OID:
    case FLOAT4OID:
    case FLOAT8OID:
    case NUMERICOID:
        return true;
    default:
        return false;
    }
}

static bool is_group_key(const Query *query, const TargetEntry *target) {
    ListCell *cell;
    foreach (cell, query->groupClause)
        if (target->ressortgroupref != 0 &&
            lfirst_node(SortGroupClause, cell)->tleSortGroupRef == target->ressortgroupref)
            return true;
    return false;
}

static const Query *query_behind(const Query *query, const RangeTblEntry *entry) {
    if (entry->rtekind == RTE_SUBQUERY)
        return entry->subquery;
    ListCell *cell;
    foreach (cell, entry->rtekind == RTE_CTE && entry->ctelevelsup == 0 ? query->cteList : NIL)
        if (strcmp(lfirst_node(CommonTableExpr, cell)->ctename, entry->ctename) == 0)
            return castNode(Query, lfirst_node(CommonTableExpr, cell)->ctequery);
    return nullptr;
}

// A group key of the level, or a column that is one of a level below.
static bool tells_rows_apart(const Query *query, const TargetEntry *target) {
    check_stack_depth();
    if (is_group_key(query, target))
        return true;
    auto *var = reinterpret_cast<Var *>(target->expr);
    if (!IsA(var, Var) || var->varlevelsup != 0 || var->varattno <= 0 || query->setOperations != nullptr)
        return false;
    const Query *below = query_behind(query, rt_fetch(var->varno, query->rtable));
    return below != nullptr && var->varattno <= list_length(below->targetList) &&
           tells_rows_apart(below, list_nth_node(TargetEntry, below->targetList, var->varattno - 1));
}

static ResultColumn describe_column(const GeneralQuestion *question, const TargetEntry *target, bool hidden) {
    auto *expression = reinterpret_cast<Node *>(target->expr);
    ResultColumn column = {};
    column.hidden = hidden;
    column.name = target->resname ? target->resname : "?column?";
    column.type = exprType(expression);
    column.typmod = exprTypmod(expression);
    column.collation = exprCollation(expression);
    column.coordinate = !hidden && is_number(column.type) && !tells_rows_apart(question->general->query, target);
    if (!column.coordinate)
        return column;
    column.kind = rows::value_kind(column.type);
    BareAggregate aggregate;
    if (find_bare_aggregate(question, expression, &aggregate))
        column.z = aggregate.z();
    return column;
}

// Group keys that are not selected become columns, so that rows can be matched. (Not below DISTINCT: it would not mean the
// same.)
static void describe_result(GeneralQuestion *question) {
    Query *query = question->general->query;
    query::check_outputs(list_length(query->targetList));
    question->columns =
        static_cast<ResultColumn *>(palloc0(sizeof(ResultColumn) * (list_length(query->targetList) + 1)));
    ListCell *cell;
    foreach (cell, query->targetList) {
        auto *target = lfirst_node(TargetEntry, cell);
        bool hidden = target->resjunk && is_group_key(query, target) && query->distinctClause == NIL;
        if (hidden)
            target->resname = psprintf("key %d", foreach_current_index(cell) + 1);
        target->resjunk = target->resjunk && !hidden;
        if (!target->resjunk)
            question->columns[question->ncolumns++] = describe_column(question, target, hidden);
    }
    for (int i = 0; i < question->ncolumns; i++)
        question->ncoordinates += question->columns[i].coordinate ? 1 : 0;
    if (question->ncoordinates == 0)
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("the result of the query has no number"),
                        errhint("Risk is how far the numbers of a result move: select an aggregate.")));
}

// ---- bare aggregates -----------------------------------------------------------------------------------------------

double BareAggregate::z() const {
    switch (call.fn) {
    case privacy::Aggregate::avg:
    case privacy::Aggregate::min:
    case privacy::Aggregate::max:
    case privacy::Aggregate::percentile_cont:
    case privacy::Aggregate::percentile_disc:
        return bounds == nullptr ? 0 : bounds->low + (bounds->high - bounds->low) / 2;
    default:
        return 0;
    }
}

// The column under conversions that keep the number.
static const Var *bare_column(Node *argument) {
    for (;;) {
        if (IsA(argument, RelabelType))
            argument = reinterpret_cast<Node *>(castNode(RelabelType, argument)->arg);
        else if (IsA(argument, FuncExpr) && castNode(FuncExpr, argument)->funcformat == COERCE_IMPLICIT_CAST &&
                 list_length(castNode(FuncExpr, argument)->args) == 1 &&
                 is_number(exprType(static_cast<Node *>(linitial(castNode(FuncExpr, argument)->args)))))
            argument = static_cast<Node *>(linitial(castNode(FuncExpr, argument)->args));
        else
            return IsA(argument, Var) ? castNode(Var, argument) : nullptr;
    }
}

static const privacy::Bounds *argument_bounds(const GeneralQuestion *question, Node *argument) {
    const query::General *general = question->general;
    const Var *column = bare_column(argument);
    if (column == nullptr || column->varlevelsup != 0 || column->varattno <= 0 ||
        !list_member_ptr(general->facades, rt_fetch(column->varno, general->query->rtable)))
        return nullptr;
    return question->bounds[column->varattno];
}

// A constant fraction of one ordinary ascending percentile.
static bool read_fraction(const Aggref *call, double *fraction) {
    if (list_length(call->aggdirectargs) != 1)
        return false;
    // Folded by the server's functions only: a view in between may be somebody else's, and this runs with the caller's rights.
    auto *argument = static_cast<Node *>(linitial(call->aggdirectargs));
    Node *value =
        catalog::has_foreign_code(argument) ? argument : eval_const_expressions(nullptr, copyObject(argument));
    if (!IsA(value, Const) || castNode(Const, value)->constisnull || castNode(Const, value)->consttype != FLOAT8OID)
        return false;
    *fraction = DatumGetFloat8(castNode(Const, value)->constvalue);
    auto *order = linitial_node(SortGroupClause, call->aggorder);
    Oid type = exprType(reinterpret_cast<Node *>(linitial_node(TargetEntry, call->args)->expr));
    return *fraction >= 0 && *fraction <= 1 && order->sortop == lookup_type_cache(type, TYPECACHE_LT_OPR)->lt_opr;
}

static bool find_statistic(const Aggref *call, privacy::StatisticCall *statistic) {
    const std::optional<privacy::Aggregate> fn = query::measure_of(call->aggfnoid);
    if (!fn)
        return false;
    const bool count = *fn == privacy::Aggregate::count_star || *fn == privacy::Aggregate::count;
    statistic->fn = count ? call->aggdistinct != NIL ? privacy::Aggregate::count_values : privacy::Aggregate::count : *fn;
    if (*fn == privacy::Aggregate::percentile_cont || *fn == privacy::Aggregate::percentile_disc)
        return read_fraction(call, &statistic->fraction);
    return call->aggkind == AGGKIND_NORMAL && call->aggorder == NIL && (call->aggdistinct == NIL || count);
}

bool find_bare_aggregate(const GeneralQuestion *question, Node *target, BareAggregate *aggregate) {
    *aggregate = BareAggregate{};
    if (!IsA(target, Aggref) || castNode(Aggref, target)->agglevelsup != 0)
        return false;
    auto *call = castNode(Aggref, target);
    if (!find_statistic(call, &aggregate->call))
        return false;
    aggregate->filter = reinterpret_cast<Node *>(call->aggfilter);
    if (call->aggstar)
        return true;
    if (list_length(call->args) != 1)
        return false;
    aggregate->argument = reinterpret_cast<Node *>(linitial_node(TargetEntry, call->args)->expr);
    aggregate->bounds = argument_bounds(question, aggregate->argument);
    switch (aggregate->call.fn) {
    case privacy::Aggregate::count:
        return true;
    case privacy::Aggregate::count_values:
        return OidIsValid(lookup_type_cache(exprType(aggregate->argument), TYPECACHE_CMP_PROC)->cmp_proc);
    default:
        return is_number(exprType(aggregate->argument));
    }
}

// ---- preparing -----------------------------------------------------------------------------------------------------

static void read_bounds(const catalog::Reading &reading, GeneralQuestion *question) {
    Oid view = question->settings->view;
    int columns = list_length(linitial_node(RangeTblEntry, question->general->facades)->eref->colnames);
    question->nview_columns = columns;
    question->bounds = static_cast<const privacy::Bounds **>(palloc0(sizeof(privacy::Bounds *) * (columns + 1)));
    for (AttrNumber i = 1; i <= columns; i++) {
        Oid type = getBaseType(get_atttype(view, i));
        if (is_number(type))
            question->bounds[i] =
                catalog::column_bounds(reading, question->settings->relation,
                                       get_attname(question->settings->relation, question->map[i], false),
                                       rows::is_integer(rows::value_kind(type)));
    }
}

// Citus would bring together rows of this server and of others by writing some to files.
static bool check_places(Node *node, void *context) {
    auto table = *static_cast<const Oid *>(context);
    if (node == nullptr)
        return false;
    if (!IsA(node, Query))
        return border::walk_expression(node, check_places, context);
    ListCell *cell;
    foreach (cell, castNode(Query, node)->rtable) {
        auto *entry = lfirst_node(RangeTblEntry, cell);
        if (entry->rtekind == RTE_RELATION && entry->relkind != RELKIND_VIEW &&
            catalog::is_known_to_citus(entry->relid) != catalog::is_known_to_citus(table))
            ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                            errmsg("one of %s and %s is kept on other nodes, and the other is not", get_rel_name(table),
                                   get_rel_name(entry->relid)),
                            errhint("Distribute both, or make a table that is not protected a reference table with "
                                    "create_reference_table().")));
    }
    return border::walk_query(castNode(Query, node), check_places, context, 0);
}

GeneralQuestion *prepare_general(const catalog::Reading &reading, query::General *general, const char *text,
                                 ErrorData *refusal) {
    if (refusal != nullptr && list_length(general->views) > 1) // it is none
        ReThrowError(refusal);
    query::check_general(general);
    auto *question = static_cast<GeneralQuestion *>(palloc0(sizeof(GeneralQuestion)));
    question->general = general;
    question->text = text;
    question->refusal = refusal == nullptr ? nullptr : refusal->message;
    Oid view = linitial_oid(general->views), relation = catalog::table_of_facade(view);
    LockRelationOid(relation, AccessShareLock);
    question->settings = catalog::read_settings(reading, view);
    if (question->settings == nullptr || question->settings->relation != relation)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("%s is not a registered restricted view", catalog::qualified_name(view)),
                        errhint("Restricted views are made with dp_protect().")));
    catalog::check_protectable(relation);
    if (question->settings->unit != nullptr)
        (void)catalog::check_unit_path(question->settings->unit);
    check_general(question->settings, refusal);
    check_places(reinterpret_cast<Node *>(general->query), &relation);
    auto *table = static_cast<rows::Question *>(palloc0(sizeof(rows::Question)));
    table->settings = question->settings;
    question->table = table;
    question->map = catalog::map_columns(view, relation);
    read_bounds(reading, question);
    describe_result(question);
    return question;
}

} // namespace dp::risk
