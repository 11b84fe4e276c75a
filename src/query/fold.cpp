#include "query/fold.hpp"

#include "border/versions.hpp"
#include "border/walk.hpp"
#include "catalog/facade.hpp"
#include "query/remedy.hpp"

namespace dp::query {

void refuse_part(const char *part, const char *remedy, ParseState *source, int location) {
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("%s is not supported in a query on a restricted view", part), errhint("%s", remedy),
                    parser_errposition(source, location)));
    pg_unreachable();
}

bool aggregates(const Query *query) {
    return query->hasAggs || query->groupClause != NIL || query->groupingSets != NIL;
}

// ---- who reads rows ------------------------------------------------------------------------------------------------

CommonTableExpr *find_cte(const RangeTblEntry *entry, const Level *level, const Level **owner) {
    for (Index up = entry->ctelevelsup; up > 0 && level != nullptr; up--)
        level = level->outer;
    if (level == nullptr)
        return nullptr;
    *owner = level;
    ListCell *cell;
    foreach (cell, level->query->cteList)
        if (strcmp(lfirst_node(CommonTableExpr, cell)->ctename, entry->ctename) == 0)
            return lfirst_node(CommonTableExpr, cell);
    return nullptr;
}

// The query behind an entry that is a sub-SELECT, a view or a CTE, at its level; null query: none, or one that changes data.
static Level query_of(const RangeTblEntry *entry, const Level *level) {
    if (entry->rtekind == RTE_SUBQUERY)
        return Level{entry->subquery, level};
    const Level *owner = nullptr;
    CommonTableExpr *cte =
        entry->rtekind == RTE_CTE && !entry->self_reference ? find_cte(entry, level, &owner) : nullptr;
    if (cte == nullptr || castNode(Query, cte->ctequery)->commandType != CMD_SELECT)
        return Level{nullptr, nullptr};
    return Level{castNode(Query, cte->ctequery), owner};
}

// `seen`: queries of CTEs that are known to read none. Each is looked at once, however many refer to it.
static bool reads_rows_of(const Level *level, List **seen) {
    check_stack_depth();
    CHECK_FOR_INTERRUPTS();
    ListCell *cell;
    foreach (cell, level->query->rtable) {
        auto *entry = lfirst_node(RangeTblEntry, cell);
        if (OidIsValid(catalog::expanded_facade(entry)))
            return true;
        Level below = query_of(entry, level);
        // HAVING without an aggregate makes one row of whatever stands below.
        if (below.query == nullptr || aggregates(below.query) || below.query->havingQual != nullptr ||
            list_member_ptr(*seen, below.query))
            continue;
        if (reads_rows_of(&below, seen))
            return true;
        if (entry->rtekind == RTE_CTE)
            *seen = lappend(*seen, below.query);
    }
    return false;
}

bool reads_rows(const Level *level) {
    List *seen = NIL;
    return reads_rows_of(level, &seen);
}

// ---- what stands between -------------------------------------------------------------------------------------------

static bool find_window(Node *node, void *context) {
    if (node == nullptr)
        return false;
    if (IsA(node, WindowFunc)) {
        *static_cast<int *>(context) = castNode(WindowFunc, node)->location;
        return true;
    }
    return border::walk_expression(node, find_window, context);
}

void refuse_window(const Query *query, ParseState *source) {
    int location = -1;
    find_window(reinterpret_cast<Node *>(query->targetList), &location);
    refuse_part("a window function over rows", "Aggregate with GROUP BY: window functions may be used over the answer.",
                source, location);
}

static int first_location(const List *clauses, List *targets) {
    return exprLocation(get_sortgroupclause_expr(linitial_node(SortGroupClause, clauses), targets));
}

// The index of the only FROM item, or a refusal.
static int only_item(const Query *query, ParseState *source) {
    List *items = query->jointree->fromlist;
    if (list_length(items) == 1 && IsA(linitial(items), RangeTblRef))
        return linitial_node(RangeTblRef, items)->rtindex;
    auto *join = static_cast<JoinExpr *>(items == NIL ? nullptr : linitial(items));
    refuse_part("a join", "Aggregate over the restricted view alone, GROUP BY what joins it, and join the answer.",
                source, join != nullptr && IsA(join, JoinExpr) ? exprLocation(join->quals) : -1);
}

// A level below the aggregation may project, rename, filter, and sort in vain.
static void check_projection(const Query *query, ParseState *source) {
    if (query->setOperations != nullptr)
        refuse_part("UNION, INTERSECT or EXCEPT of rows", "Aggregate in each part, and combine the answers.", source,
                    -1);
    if (query->hasWindowFuncs)
        refuse_window(query, source);
    if (query->distinctClause != NIL)
        refuse_part("DISTINCT below an aggregation", distinct_remedy, source,
                    first_location(query->distinctClause, query->targetList));
    if (query->limitCount != nullptr || query->limitOffset != nullptr)
        refuse_part("LIMIT or OFFSET below an aggregation", "Filter with WHERE, or aggregate first and cut the answer.",
                    source, exprLocation(query->limitCount != nullptr ? query->limitCount : query->limitOffset));
    if (query->hasTargetSRFs)
        refuse_part("a set-returning function below an aggregation", "Aggregate columns of the view.", source, -1);
    if (query->rowMarks != NIL)
        refuse_part("FOR UPDATE or FOR SHARE", "Leave it out.", source, -1);
}

// ---- folding -------------------------------------------------------------------------------------------------------

namespace {
struct WholeRow {
    int index;
    int level;
    ParseState *source;
};
} // namespace

static bool refuse_whole_row(Node *node, void *context) {
    auto *whole = static_cast<WholeRow *>(context);
    if (node == nullptr)
        return false;
    if (IsA(node, Var)) {
        auto *var = castNode(Var, node);
        if (var->varno == whole->index && var->varlevelsup == static_cast<Index>(whole->level) && var->varattno == 0)
            refuse_part("a whole row", "Name columns; count(*) counts rows.", whole->source, var->location);
        return false;
    }
    if (IsA(node, Query)) {
        whole->level++;
        border::walk_query(castNode(Query, node), refuse_whole_row, context, 0);
        whole->level--;
        return false;
    }
    return border::walk_expression(node, refuse_whole_row, context);
}

// Each level may name a column of the level below several times, so the text that a few short levels open into doubles with
// every one of them: it is counted before it is made.
constexpr int64 most_nodes = 20000; // more than 64 kB of SQL have

static bool count_node(Node *node, void *context) {
    if (node == nullptr)
        return false;
    CHECK_FOR_INTERRUPTS();
    ++*static_cast<int64 *>(context);
    return IsA(node, Query) ? border::walk_query(castNode(Query, node), count_node, context, 0)
                            : border::walk_expression(node, count_node, context);
}

namespace {
struct Growth {
    int index, level;
    List *columns;
    int64 *sizes; // of the columns, counted when they are met
    int64 nodes;
};
} // namespace

static bool add_opened(Node *node, void *context) {
    auto *growth = static_cast<Growth *>(context);
    if (node == nullptr)
        return false;
    CHECK_FOR_INTERRUPTS();
    growth->nodes++;
    if (IsA(node, Var)) {
        auto *var = castNode(Var, node);
        int n = var->varattno;
        if (var->varno != growth->index || var->varlevelsup != static_cast<Index>(growth->level) || n <= 0 ||
            n > list_length(growth->columns))
            return false;
        int64 *size = &growth->sizes[n - 1];
        if (*size == 0)
            count_node(static_cast<Node *>(list_nth(growth->columns, n - 1)), size);
        growth->nodes += *size;
    } else if (IsA(node, Query)) {
        growth->level++;
        border::walk_query(castNode(Query, node), add_opened, context, 0);
        growth->level--;
        return false;
    }
    return border::walk_expression(node, add_opened, context);
}

static void check_size(Node *node, const Folded *folded, ParseState *source) {
    int n = list_length(folded->columns);
    Growth growth = {folded->index, 0, folded->columns, static_cast<int64 *>(palloc0(sizeof(int64) * (n + 1))), 0};
    add_opened(node, &growth);
    if (growth.nodes > most_nodes)
        ereport(ERROR, (errcode(ERRCODE_STATEMENT_TOO_COMPLEX),
                        errmsg("the sub-SELECTs of the query open into an expression of more than %d parts",
                               static_cast<int>(most_nodes)),
                        errhint("Name a computed column fewer times in the level above it."),
                        source ? parser_errposition(source, exprLocation(node)) : 0));
}

Node *on_facade(Node *node, const Folded *folded, ParseState *source, bool *sublinks) {
    WholeRow whole = {folded->index, 0, source};
    refuse_whole_row(node, &whole);
    if (folded->columns != NIL) {
        check_size(node, folded, source);
        return border::replace_columns(node, folded->index, folded->columns, sublinks);
    }
    ChangeVarNodes(node, folded->index, 1, 0);
    return node;
}

// `dropped`: nothing else will refer to the entry, so that a CTE that is not used any more is not planned either.
static Folded fold_entry(const RangeTblEntry *entry, const Level *level, ParseState *source, bool dropped) {
    check_stack_depth();
    Oid view = catalog::expanded_facade(entry);
    if (OidIsValid(view)) {
        Folded folded = {view, 0, NIL, nullptr, {}};
        folded.views.add(level->query, entry, entry->subquery);
        return folded;
    }
    if (entry->rtekind == RTE_CTE) {
        const Level *owner = nullptr;
        CommonTableExpr *cte = find_cte(entry, level, &owner);
        if (cte->cterecursive)
            refuse_part("WITH RECURSIVE", "Aggregate over the restricted view alone.", source, cte->location);
        dropped = dropped && --cte->cterefcount == 0;
    }
    Level below = query_of(entry, level);
    Query *query = below.query;
    if (query == nullptr || aggregates(query)) // the rows are in an entry that a rule has left behind
        refuse_part("a query of this form", "Select from one restricted view.", source, -1);
    check_projection(query, source);
    int index = only_item(query, source);
    Folded inner = fold_entry(rt_fetch(index, query->rtable), &below, source, dropped);
    inner.index = index;
    bool sublinks = false; // shape refuses those that are used
    Folded folded = inner;
    folded.columns = reinterpret_cast<List *>(
        on_facade(reinterpret_cast<Node *>(copyObject(query->targetList)), &inner, source, &sublinks));
    folded.condition = make_and_qual(
        inner.condition, on_facade(static_cast<Node *>(copyObject(query->jointree->quals)), &inner, source, &sublinks));
    folded.views.add(level->query, entry, query);
    return folded;
}

Folded fold_from(const Level *level, ParseState *source) {
    int index = only_item(level->query, source);
    Folded folded = fold_entry(rt_fetch(index, level->query->rtable), level, source, true);
    folded.index = index;
    return folded;
}

} // namespace dp::query
