#include "query/intervals.hpp"

#include "border/each.hpp"
#include "border/scope.hpp"
#include "query/aggregate_rewrites.hpp"
#include "query/make.hpp"

namespace dp::query {

namespace {
// Where an expression stands.
struct Stand {
    const List *people; // Query *, by varno; null: a table
    Index level;        // sublinks below the level of the columns
};
} // namespace

// ---- seconds of an interval ----------------------------------------------------------------------------------------

// Returns an expression for the seconds of an interval, a numeric; null: nobody knows that it has no months. The parts of CASE and the like become seconds
// one by one, as their bounds are those of numbers.
static Node *seconds_of(Node *interval, const Stand &stand);

// With the same parts, which are not copied again at each depth.
template <class T> static T *flat_copy(const T *node) {
    auto *copy = static_cast<T *>(palloc(sizeof(T)));
    *copy = *node;
    return copy;
}

static Node *epoch_of(Node *interval) {
    return reinterpret_cast<Node *>(makeFuncExpr(F_EXTRACT_TEXT_INTERVAL, NUMERICOID,
                                                 list_make2(text_constant("epoch"), interval), InvalidOid,
                                                 DEFAULT_COLLATION_OID, COERCE_SQL_SYNTAX));
}

// Infinite ones, of PostgreSQL 17, have months as well.
static Node *seconds_of_constant(Const *interval) {
    if (interval->constisnull)
        return reinterpret_cast<Node *>(makeNullConst(NUMERICOID, -1, InvalidOid));
    return DatumGetIntervalP(interval->constvalue)->month == 0 ? epoch_of(reinterpret_cast<Node *>(interval)) : nullptr;
}

// NIL: of one of them nobody knows.
static List *seconds_of_all(const List *intervals, const Stand &stand) {
    List *all = NIL;
    for (auto *interval : border::each<Node>(intervals)) {
        Node *seconds = seconds_of(interval, stand);
        if (seconds == nullptr)
            return NIL;
        all = lappend(all, seconds);
    }
    return all;
}

static Node *seconds_of_sum(const OpExpr *sum, const char *op, const Stand &stand) {
    List *parts = seconds_of_all(sum->args, stand);
    if (parts == NIL)
        return nullptr;
    List *name = list_make2(makeString(pstrdup("pg_catalog")), makeString(pstrdup(op)));
    Node *left = list_length(parts) > 1 ? static_cast<Node *>(linitial(parts)) : nullptr;
    ParseState *none = make_parsestate(nullptr);
    return reinterpret_cast<Node *>(make_op(none, name, left, static_cast<Node *>(llast(parts)), nullptr, -1));
}

static Node *seconds_of_operation(OpExpr *operation, const Stand &stand) {
    set_opfuncid(operation);
    switch (operation->opfuncid) {
    case F_TIMESTAMP_MI:
    case F_TIMESTAMPTZ_MI:
        return epoch_of(reinterpret_cast<Node *>(operation));
    case F_INTERVAL_PL:
        return seconds_of_sum(operation, "+", stand);
    case F_INTERVAL_MI:
    case F_INTERVAL_UM:
        return seconds_of_sum(operation, "-", stand);
    default:
        return nullptr;
    }
}

static Node *seconds_of_case(const CaseExpr *choice, const Stand &stand) {
    auto *seconds = flat_copy(choice);
    seconds->casetype = NUMERICOID;
    seconds->args = NIL;
    for (auto *arm : border::each<CaseWhen>(choice->args)) {
        auto *when = flat_copy(arm);
        when->result = reinterpret_cast<Expr *>(seconds_of(reinterpret_cast<Node *>(when->result), stand));
        if (when->result == nullptr)
            return nullptr;
        seconds->args = lappend(seconds->args, when);
    }
    seconds->defresult = reinterpret_cast<Expr *>(seconds_of(reinterpret_cast<Node *>(choice->defresult), stand));
    return seconds->defresult == nullptr ? nullptr : reinterpret_cast<Node *>(seconds);
}

// COALESCE, and GREATEST: without months intervals are in the order of their seconds, and equal where these are.
template <class T> static Node *seconds_of_choice(const T *choice, Oid T::*type, const Stand &stand) {
    auto *seconds = flat_copy(choice);
    seconds->*type = NUMERICOID;
    seconds->args = seconds_of_all(choice->args, stand);
    return seconds->args == NIL ? nullptr : reinterpret_cast<Node *>(seconds);
}

static Node *seconds_of_null_if(const NullIfExpr *choice, const Stand &stand) {
    auto *seconds = flat_copy(choice);
    seconds->opno = lookup_type_cache(NUMERICOID, TYPECACHE_EQ_OPR)->eq_opr;
    seconds->opfuncid = get_opcode(seconds->opno);
    return seconds_of_choice(seconds, &NullIfExpr::opresulttype, stand);
}

// Returns the number of the column that a sub-SELECT shows an expression by: one that it has, or one more.
static AttrNumber number_of_column(Query *below, Node *expression) {
    AttrNumber last = 0;
    for (auto *target : border::each<TargetEntry>(below->targetList)) {
        if (!target->resjunk && equal(target->expr, expression))
            return target->resno;
        last = static_cast<AttrNumber>(last + (target->resjunk ? 0 : 1));
    }
    auto *shown =
        makeTargetEntry(reinterpret_cast<Expr *>(expression), last + 1, psprintf("seconds_%d", last + 1), false);
    below->targetList = list_insert_nth(below->targetList, last, shown);
    ListCell *cell;
    foreach (cell, below->targetList)
        lfirst_node(TargetEntry, cell)->resno = static_cast<AttrNumber>(foreach_current_index(cell) + 1);
    return shown->resno;
}

// A column of a sub-SELECT with rows of units is what stands there, in seconds.
static Node *seconds_of_column(Var *column, const Stand &stand) {
    if (column->varno > list_length(stand.people) || column->varlevelsup != stand.level)
        return nullptr;
    auto *below = static_cast<Query *>(list_nth(stand.people, column->varno - 1));
    if (below == nullptr || column->varattno <= 0 || column->varattno > list_length(below->targetList))
        return nullptr;
    const auto *target = list_nth_node(TargetEntry, below->targetList, column->varattno - 1);
    Node *seconds = seconds_of(reinterpret_cast<Node *>(target->expr), {NIL, 0});
    if (seconds == nullptr)
        return nullptr;
    const AttrNumber number = number_of_column(below, seconds);
    return reinterpret_cast<Node *>(
        column_showing(static_cast<int>(column->varno), number, seconds, column->varlevelsup));
}

static Node *seconds_of(Node *interval, const Stand &stand) {
    check_stack_depth();
    CHECK_FOR_INTERRUPTS();
    if (interval == nullptr || exprType(interval) != INTERVALOID)
        return nullptr;
    switch (nodeTag(interval)) {
    case T_Const:
        return seconds_of_constant(castNode(Const, interval));
    case T_Var:
        return seconds_of_column(castNode(Var, interval), stand);
    case T_OpExpr:
        return seconds_of_operation(castNode(OpExpr, interval), stand);
    case T_CaseExpr:
        return seconds_of_case(castNode(CaseExpr, interval), stand);
    case T_CoalesceExpr:
        return seconds_of_choice(castNode(CoalesceExpr, interval), &CoalesceExpr::coalescetype, stand);
    case T_MinMaxExpr:
        return seconds_of_choice(castNode(MinMaxExpr, interval), &MinMaxExpr::minmaxtype, stand);
    case T_NullIfExpr:
        return seconds_of_null_if(reinterpret_cast<NullIfExpr *>(interval), stand);
    default:
        return nullptr;
    }
}

// ---- aggregates of seconds -----------------------------------------------------------------------------------------

namespace {
// An aggregate of intervals, and the same of numbers.
struct Pair {
    Oid intervals, numbers, type;
};
} // namespace

static const Pair pairs[] = {
    {F_AVG_INTERVAL, F_AVG_NUMERIC, NUMERICOID},
    {F_SUM_INTERVAL, F_SUM_NUMERIC, NUMERICOID},
    {F_MIN_INTERVAL, F_MIN_NUMERIC, NUMERICOID},
    {F_MAX_INTERVAL, F_MAX_NUMERIC, NUMERICOID},
    {F_PERCENTILE_DISC_FLOAT8_ANYELEMENT, F_PERCENTILE_DISC_FLOAT8_ANYELEMENT, NUMERICOID},
    {F_PERCENTILE_CONT_FLOAT8_INTERVAL, F_PERCENTILE_CONT_FLOAT8_FLOAT8, FLOAT8OID},
};

// The order of intervals as that of numbers; false: it is neither of the usual ones.
static bool order_numbers(SortGroupClause *order, Oid type) {
    const TypeCacheEntry *old = lookup_type_cache(INTERVALOID, TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
    const TypeCacheEntry *now = lookup_type_cache(type, TYPECACHE_LT_OPR | TYPECACHE_GT_OPR | TYPECACHE_EQ_OPR);
    if (order->sortop != old->lt_opr && order->sortop != old->gt_opr)
        return false;
    order->sortop = order->sortop == old->lt_opr ? now->lt_opr : now->gt_opr;
    order->eqop = now->eq_opr;
    return true;
}

static Node *cast_to(Oid function, Oid type, Node *number) {
    return reinterpret_cast<Node *>(
        makeFuncExpr(function, type, list_make1(number), InvalidOid, InvalidOid, COERCE_IMPLICIT_CAST));
}

// Returns the aggregate over seconds; null: it has a clause that these do not take.
static Aggref *over_seconds(const Aggref *call, const Pair &pair, Node *seconds) {
    auto *numbers = static_cast<Aggref *>(copyObjectImpl(call));
    const bool percentile = call->aggkind == AGGKIND_ORDERED_SET;
    if (call->aggdistinct != NIL || (call->aggorder != NIL) != percentile)
        return nullptr;
    if (percentile && !order_numbers(linitial_node(SortGroupClause, numbers->aggorder), pair.type))
        return nullptr;
    numbers->aggfnoid = pair.numbers;
    numbers->aggtype = pair.type;
    llast_oid(numbers->aggargtypes) = pair.type;
    if (pair.type == FLOAT8OID)
        seconds = cast_to(F_FLOAT8_NUMERIC, FLOAT8OID, seconds);
    linitial_node(TargetEntry, numbers->args)->expr = reinterpret_cast<Expr *>(seconds);
    return numbers;
}

static Oid interval_function() {
    static const Oid types[] = {NUMERICOID};
    return border::internal_function("as_interval", 1, types);
}

static Node *as_interval(Node *seconds) {
    if (exprType(seconds) == FLOAT8OID)
        seconds = cast_to(F_NUMERIC_FLOAT8, NUMERICOID, seconds);
    return reinterpret_cast<Node *>(makeFuncExpr(interval_function(), INTERVALOID, list_make1(seconds), InvalidOid,
                                                 InvalidOid, COERCE_EXPLICIT_CALL));
}

Node *before_interval(Node *node) {
    if (node == nullptr || !IsA(node, FuncExpr) || castNode(FuncExpr, node)->funcid < FirstUnpinnedObjectId ||
        castNode(FuncExpr, node)->funcid != interval_function())
        return node;
    auto *seconds = static_cast<Node *>(linitial(castNode(FuncExpr, node)->args));
    const bool cast = IsA(seconds, FuncExpr) && castNode(FuncExpr, seconds)->funcid == F_NUMERIC_FLOAT8;
    return cast ? static_cast<Node *>(linitial(castNode(FuncExpr, seconds)->args)) : seconds;
}

static Node *in_seconds(const Call &call, void *context) {
    const Aggref *aggregate = call.aggregate;
    if (aggregate->aggtype != INTERVALOID || list_length(aggregate->args) != 1)
        return nullptr;
    for (const Pair &pair : pairs) {
        if (aggregate->aggfnoid != pair.intervals)
            continue;
        auto *interval = reinterpret_cast<Node *>(linitial_node(TargetEntry, aggregate->args)->expr);
        Node *seconds = seconds_of(interval, {static_cast<const List *>(context), aggregate->agglevelsup});
        Aggref *numbers = seconds == nullptr ? nullptr : over_seconds(aggregate, pair, seconds);
        return numbers == nullptr ? nullptr : as_interval(with_mark(call.mark, reinterpret_cast<Node *>(numbers)));
    }
    return nullptr;
}

void ask_seconds(Query *query, const List *people) {
    say_aggregates(query, in_seconds, const_cast<List *>(people));
}

} // namespace dp::query
