// Sub-SELECTs with rows of units, as sources of a leaf (formulas.md, 9.12 and 9.18):
//
//   SELECT avg(n) FROM (SELECT patient_id, count(*) AS n FROM visits_dp GROUP BY patient_id) t
//   SELECT avg(seen - before) FROM (SELECT seen, lag(seen) OVER (PARTITION BY patient_id ORDER BY seen) AS before FROM visits_dp) t
//
// Each is a leaf of its own, whose keys are its columns, and has no measures. Above it, it is a table of the domain.
#include "border/each.hpp"
#include "border/grouping.hpp"
#include "border/versions.hpp"
#include "border/visit.hpp"
#include "catalog/facade.hpp"
#include "query/aggregate_table.hpp"
#include "query/branches.hpp"
#include "query/flatten_subselects.hpp"
#include "query/from.hpp"
#include "query/limits.hpp"
#include "query/make.hpp"
#include "query/hints.hpp"
#include "query/condition.hpp"
#include "query/grammar.hpp"
#include "query/asked_limits.hpp"
#include "query/windows.hpp"

namespace dp::query {

constexpr char cast_remedy[] = "Cast what is aggregated: sum(x::numeric).";

// ---- of a statement ------------------------------------------------------------------------------------------------

// Through the sub-SELECTs, views and CTEs that hand it on.
static FacadeColumn find_below(const Level *level, const RangeTblEntry *entry, AttrNumber attno) {
    const Level below = query_of(entry, level), *owner;
    if (entry->rtekind == RTE_CTE && below.query != nullptr && find_cte(entry, level, &owner)->cterecursive)
        return FacadeColumn{};
    if (below.query == nullptr || below.query->commandType != CMD_SELECT || below.query->groupingSets != NIL ||
        attno > list_length(below.query->targetList))
        return FacadeColumn{};
    return find_column(&below, reinterpret_cast<Node *>(
                                   static_cast<TargetEntry *>(list_nth(below.query->targetList, attno - 1))->expr));
}

FacadeColumn find_column(const Level *level, Node *node) {
    check_stack_depth();
    CHECK_FOR_INTERRUPTS();
    node = without_equal_relabelings(node);
    if (node == nullptr || !IsA(node, Var))
        return FacadeColumn{};
    auto *var = castNode(Var, node);
    if (var->varattno <= 0 || var->varlevelsup != 0 || var->varno > list_length(level->query->rtable))
        return FacadeColumn{};
    const RangeTblEntry *entry = rt_fetch(var->varno, level->query->rtable);
    if (entry->rtekind == RTE_JOIN)
        return find_column(level, static_cast<Node *>(list_nth(entry->joinaliasvars, var->varattno - 1)));
    if (Node *key = border::grouped_by(entry, var->varattno))
        return find_column(level, key);
    Oid view = catalog::expanded_facade(entry);
    return OidIsValid(view) ? FacadeColumn{entry, view, var->varattno} : find_below(level, entry, var->varattno);
}

// Returns the keys of a level that are columns of one facade.
static List *keys_of_entry(const Level *level, const List *keys, const RangeTblEntry *entry) {
    List *columns = NIL;
    for (auto *item : border::each<SortGroupClause>(keys)) {
        const FacadeColumn column = find_column(level, get_sortgroupclause_expr(item, level->query->targetList));
        if (column.entry == entry)
            columns = list_append_unique_int(columns, column.attno);
    }
    return columns;
}

static bool covers_unit(Oid view, const List *columns) {
    const List *of_unit = unit_columns_now(view).columns;
    return of_unit != NIL && list_difference_int(of_unit, columns) == NIL;
}

// Whether the columns of the unit of one facade are among the keys of a level, or of a window in it.
static bool has_unit_among(const Level *level, const List *keys) {
    List *seen = NIL;
    for (auto *item : border::each<SortGroupClause>(keys)) {
        const FacadeColumn column = find_column(level, get_sortgroupclause_expr(item, level->query->targetList));
        if (column.entry == nullptr || list_member_ptr(seen, column.entry))
            continue;
        if (covers_unit(column.view, keys_of_entry(level, keys, column.entry)))
            return true;
        seen = lappend(seen, const_cast<RangeTblEntry *>(column.entry));
    }
    return false;
}

bool has_rows_of_units(const Level *level) {
    const Query *query = level->query;
    if (query->commandType == CMD_SELECT && keeps_rows(query)) {
        for (auto *window : border::each<const WindowClause>(query->windowClause))
            if (!has_unit_among(level, window->partitionClause))
                return false;
        return true;
    }
    if (query->commandType != CMD_SELECT || query->groupClause == NIL || query->groupingSets != NIL)
        return false;
    Query own = *query; // all that stands below is looked at where it is: copies at each level would add up
    own.rtable = list_copy(own.rtable);
    border::flatten_grouping(&own);
    const Level flat = {&own, level->outer};
    return has_unit_among(&flat, own.groupClause);
}

void refuse_outer(Query *leaf, ParseState *source) {
    border::visit_query(leaf, 0, [=](Node *node, Index level) {
        if (IsA(node, Var) && castNode(Var, node)->varlevelsup > level)
            refuse_part("a column of an outer query", outer_remedy, source, exprLocation(node));
        if (IsA(node, Aggref) && castNode(Aggref, node)->agglevelsup > level)
            refuse_part("an aggregate of an outer query", "Aggregate in the query that reads the view.", source,
                        exprLocation(node));
        return border::Step::in;
    });
}

// ---- of a leaf -----------------------------------------------------------------------------------------------------

void check_per_unit(const Query *below, ParseState *source) {
    constexpr char above[] = "Write it above the sub-SELECT with rows of one person.";
    refuse_if(!aggregates(below) && below->havingQual != nullptr, "HAVING without GROUP BY", above, source, -1);
    if (below->hasWindowFuncs && !keeps_rows(below))
        refuse_window(below, source);
    refuse_if(below->hasWindowFuncs && !shows_window(below), "a window function in ORDER BY of a sub-SELECT",
              "Leave ORDER BY out: it changes nothing there.", source, -1);
    refuse_if(below->hasTargetSRFs, "a set-returning function", above, source, -1);
    refuse_if(below->groupingSets != NIL, "GROUPING SETS, ROLLUP or CUBE", sets_remedy, source, -1);
    refuse_if(below->distinctClause != NIL, "DISTINCT",
              keeps_rows(below) ? "Write it above the sub-SELECT, as GROUP BY the person and what shall be different."
                                : "Leave it out: there is one row for each person.",
              source, -1);
    refuse_if(is_cut(below), "LIMIT or OFFSET",
              keeps_rows(below) ? "Number the rows by row_number() AS n, and filter above: WHERE n <= 3."
                                : "Filter by HAVING.",
              source, -1);
    refuse_if(below->rowMarks != NIL, "FOR UPDATE or FOR SHARE", "Leave it out.", source, -1);
}

static const Var *plain_column(Node *node) {
    node = without_equal_relabelings(node);
    return IsA(node, Var) && castNode(Var, node)->varattno > 0 ? castNode(Var, node) : nullptr;
}

static List *expressions_of(const List *clauses, const Query *below) {
    List *expressions = NIL;
    for (auto *clause : border::each<SortGroupClause>(clauses))
        expressions = lappend(expressions, get_sortgroupclause_expr(clause, below->targetList));
    return expressions;
}

// The columns of a source that say whose its rows are, as column_number.
static UnitColumns unit_of_source(const Source &source) {
    UnitColumns found = {};
    if (source.people != nullptr)
        found = {source.people->per_unit->unit, true, 0};
    else if (!source.is_public)
        found = unit_columns_now(source.relation);
    found.columns = numbers_of(source, found.columns);
    return found;
}

// The columns of a unit that a column is one of; NIL: of none that the sub-SELECT groups by.
static const List *unit_of_column(const Leaf *leaf, const Var *column) {
    for (auto *item : border::each<List>(leaf->counted))
        if (list_member_int(item, column_number(column)))
            return item;
    return NIL;
}

static void add_unit(Leaf *leaf, const UnitColumns &unit) {
    if (unit.direct)
        leaf->counted = list_append_unique(leaf->counted, unit.columns);
    else
        leaf->per_unit->hidden = unit.of_unit;
}

// The units of sources that are all there, in leaf->counted: that they still are units is looked at with the question. In all rows of
// one these columns are the same, whichever source they are of: joined rows are of one unit.
static void find_units(Leaf *leaf, const List *keys, const Query *below, ParseState *source) {
    List *columns = NIL;
    for (auto *part : border::each<Node>(keys))
        if (const Var *column = plain_column(part))
            columns = list_append_unique_int(columns, column_number(column));
    bool found = false, nullable = false;
    for (int i = 0; i < leaf->njoined; i++) {
        const UnitColumns unit = unit_of_source(leaf->sources[i]);
        if (unit.columns == NIL || list_difference_int(unit.columns, columns) != NIL || (keeps_rows(below) && !unit.direct))
            continue;
        if (!leaf->sources[i].nullable)
            add_unit(leaf, unit);
        found = found || !leaf->sources[i].nullable;
        nullable = nullable || leaf->sources[i].nullable;
    }
    if (!found && nullable)
        refuse_part(psprintf("%s the columns that name a person on the nullable side of an outer join",
                             keeps_rows(below) ? "PARTITION BY" : "GROUP BY"),
                    "Take the same columns of the side that is kept.", source, -1);
    if (!found && keeps_rows(below))
        refuse_window(below, source);
    if (!found)
        refuse_part("an aggregation below another one", "Group it by the columns that name a person.", source, -1);
}

// Returns keys that are no columns of the unit.
static List *without_unit(const Leaf *leaf, const List *keys) {
    List *others = NIL;
    for (auto *key : border::each<Node>(keys)) {
        const Var *column = plain_column(key);
        if (column == nullptr || unit_of_column(leaf, column) == NIL)
            others = lappend(others, copied(key));
    }
    return others;
}

// Reads the group keys beside the unit.
static void read_keys(Leaf *leaf, const Query *below, ParseState *source) {
    const List *keys = expressions_of(below->groupClause, below);
    find_units(leaf, keys, below, source);
    leaf->per_unit->keys = without_unit(leaf, keys);
    check_condition(reinterpret_cast<Node *>(leaf->per_unit->keys), source);
}

// ---- its windows ---------------------------------------------------------------------------------------------------

// By the default order of its type: another one may be somebody's.
static void check_order(const SortGroupClause *clause, Node *expression, ParseState *source) {
    check_key_type(expression, source);
    const TypeCacheEntry *type = lookup_type_cache(exprType(expression), TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
    refuse_if(clause->sortop != type->lt_opr && clause->sortop != type->gt_opr, "ORDER BY ... USING", "Write ASC or DESC.", source,
              exprLocation(expression));
}

// Returns the place of the window that a call needs. Of a whole partition its order says nothing.
static Index place_of_window(Leaf *leaf, const Query *below, const WindowFunc *call, ParseState *source) {
    const WindowClause *clause = window_of(below, call);
    check_window(call, clause, source);
    Window made = {without_unit(leaf, expressions_of(clause->partitionClause, below)), NIL, NIL, !call->winagg};
    for (auto *key : border::each<Node>(made.partition))
        check_key_type(key, source);
    ListCell *cell;
    foreach (cell, made.numbered ? clause->orderClause : NIL) {
        auto *order = copyObject(lfirst_node(SortGroupClause, cell));
        Node *expression = get_sortgroupclause_expr(order, below->targetList);
        check_order(order, expression, source);
        order->tleSortGroupRef = 0;
        made.order = lappend(made.order, copied(expression));
        made.clauses = lappend(made.clauses, order);
    }
    check_condition(reinterpret_cast<Node *>(list_concat_copy(made.partition, made.order)), source);
    foreach (cell, leaf->per_unit->windows) {
        const auto *known = static_cast<const Window *>(lfirst(cell));
        if (known->numbered == made.numbered && equal(known->partition, made.partition) &&
            equal(known->order, made.order) && equal(known->clauses, made.clauses))
            return foreach_current_index(cell) + 1;
    }
    auto *window = static_cast<Window *>(palloc(sizeof(Window)));
    *window = made;
    leaf->per_unit->windows = lappend(leaf->per_unit->windows, window);
    return list_length(leaf->per_unit->windows);
}

// ---- its aggregates ------------------------------------------------------------------------------------------------

static bool is_whole(Oid type) {
    return type == INT2OID || type == INT4OID || type == INT8OID;
}

static bool has_extreme(Oid type) {
    return is_whole(type) || type == NUMERICOID || type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID ||
           type == TIMEOID || type == TIMETZOID || type == TEXTOID || type_is_enum(type);
}

static const char *remedy_of(const Aggref *call) {
    Oid type = call->aggargtypes == NIL ? InvalidOid : linitial_oid(call->aggargtypes);
    if ((type == FLOAT4OID || type == FLOAT8OID) && !takes_two_columns(call))
        return cast_remedy;
    if (type == BPCHAROID)
        return "Cast it: max(x::text), which has no blanks behind it.";
    return "A person's rows are aggregated by count, count(DISTINCT x), sum, avg, min, max (of whole numbers, "
           "numerics, "
           "texts, dates, timestamps, times and enums), bool_or and bool_and.";
}

static void check_call(const Aggref *call, ParseState *source) {
    const UnitAggregate fn = unit_aggregate(call);
    if (call->agglevelsup > 0 || fn == UnitAggregate::none)
        refuse_part(psprintf("aggregate %s of one person's rows", get_func_name(call->aggfnoid)), remedy_of(call),
                    source, call->location);
    if (call->aggorder != NIL || (call->aggdistinct != NIL && fn != UnitAggregate::count_values))
        refuse_part("ORDER BY or DISTINCT in an aggregate of one person's rows",
                    "Leave it out, or count: count(DISTINCT x).", source, call->location);
    for (auto *arg : border::each<TargetEntry>(call->args)) {
        auto *argument = reinterpret_cast<Node *>(arg->expr);
        if (IsA(argument, RowExpr))
            refuse_part("count(DISTINCT ...) of several columns", row_remedy, source, call->location);
        check_condition(argument, source);
        if (fn != UnitAggregate::extreme)
            continue;
        if (!has_extreme(getBaseType(exprType(argument))))
            refuse_part("min or max of one person's values of this type", remedy_of(call), source, call->location);
        check_collation(call->inputcollid, list_make1(argument), source, call->location);
    }
    check_condition(reinterpret_cast<Node *>(call->aggfilter), source);
}

// ---- its columns ---------------------------------------------------------------------------------------------

// An aggregate becomes a column, or what is seen through a window; what it is grouped by stays one.
static Node *as_columns(const Node *expression, Leaf *leaf, const Query *below, ParseState *source) {
    PerUnit *rows = leaf->per_unit;
    return border::change(copied(expression), [=](Node *node, Index) -> Node * {
        if (IsA(node, Var)) {
            (void)place_in(&rows->carried, node);
            return node;
        }
        if (!IsA(node, Aggref) && !IsA(node, WindowFunc))
            return IsA(node, Query) ? node : nullptr;
        auto *over = IsA(node, WindowFunc) ? castNode(WindowFunc, node) : nullptr;
        if (over != nullptr)
            over->winref = place_of_window(leaf, below, over, source);
        if (over == nullptr || over->winagg)
            check_call(over == nullptr ? castNode(Aggref, node) : call_of(over), source);
        Var *column = column_showing(unit_varno, place_in(&rows->columns, node), node);
        column->location = exprLocation(node);
        return reinterpret_cast<Node *>(column);
    });
}

static Key column_key(const Leaf *leaf, Node *expression, ParseState *source) {
    check_condition(expression, source);
    return key_of(leaf, expression, make_grouping(expression));
}

// The number of the column that shows this one of the unit, by its place among these; or that behind all which are shown.
static int number_of_unit(const Leaf *leaf, int place) {
    for (int i = 0; i < leaf->nkeys; i++) {
        const Var *column = plain_column(leaf->keys[i].expression);
        for (auto *unit : border::each<List>(column == nullptr ? NIL : leaf->counted))
            if (list_nth_int(unit, place) == column_number(column))
                return i + 1;
    }
    return leaf->nkeys + place + 1;
}

// The units of rows that stand as they are, in leaf->counted, whether they are shown or not.
static void find_units_of_rows(Leaf *leaf, ParseState *source) {
    for (int i = 0; i < leaf->njoined; i++) {
        const UnitColumns unit = unit_of_source(leaf->sources[i]);
        if (unit.columns != NIL && !leaf->sources[i].nullable)
            add_unit(leaf, unit);
    }
    if (leaf->counted == NIL && leaf->per_unit->hidden == 0)
        refuse_part("UNION ALL of rows whose columns do not name a person",
                    has_unit_now(leaf->view)
                        ? "Join the view whose columns name a person in each of its SELECTs."
                        : "Ask each SELECT by itself, and add the answers: SELECT (SELECT count(*) FROM a) + (SELECT "
                          "count(*) FROM b).",
                    source, -1);
}

Leaf *read_people(Query *below, ParseState *source) {
    if (below->setOperations != nullptr)
        return read_branches(below, source);
    auto *leaf = static_cast<Leaf *>(palloc0(sizeof(Leaf)));
    border::flatten_grouping(below);
    check_per_unit(below, source);
    const PeopleForm form = aggregates(below) ? PeopleForm::grouped : keeps_rows(below) ? PeopleForm::windows : PeopleForm::rows;
    open_from(leaf, below, form == PeopleForm::grouped, source);
    ListCell *cell;
    leaf->per_unit = static_cast<PerUnit *>(palloc0(sizeof(PerUnit)));
    leaf->per_unit->form = form;
    if (form == PeopleForm::grouped)
        read_keys(leaf, below, source);
    else if (form == PeopleForm::rows)
        find_units_of_rows(leaf, source);
    foreach (cell, below->windowClause)
        find_units(leaf, expressions_of(lfirst_node(WindowClause, cell)->partitionClause, below), below, source);
    if (form != PeopleForm::grouped)
        check_outputs(list_length(below->targetList));
    leaf->keys = static_cast<Key *>(palloc0(sizeof(Key) * (list_length(below->targetList) + 1)));
    for (auto *target : border::each<TargetEntry>(below->targetList)) {
        auto *column = reinterpret_cast<Node *>(target->expr);
        if (!target->resjunk)
            leaf->keys[leaf->nkeys++] =
                column_key(leaf, form == PeopleForm::rows ? column : as_columns(column, leaf, below, source), source);
    }
    leaf->per_unit->where = as_columns(below->havingQual, leaf, below, source);
    check_unit_columns(list_length(leaf->per_unit->columns) + list_length(leaf->per_unit->carried));
    check_conditions(leaf, source);
    if (leaf->counted != NIL)
        leaf->per_unit->hidden = 0;
    const int n = leaf->counted != NIL ? list_length(static_cast<const List *>(linitial(leaf->counted))) : leaf->per_unit->hidden;
    for (int i = 0; i < n; i++)
        leaf->per_unit->unit = lappend_int(leaf->per_unit->unit, number_of_unit(leaf, i));
    return leaf;
}

} // namespace dp::query
