#include "query/outer_query.hpp"

#include "border/each.hpp"
#include "border/scope.hpp"
#include "border/visit.hpp"
#include "catalog/facade.hpp"
#include "catalog/settings.hpp"
#include "query/flatten_subselects.hpp"

namespace dp::query {

// The mark: a place in the source text that is none. It stays with a plan, nobody else looks at it (below 0 is
// "unknown" to the server), and whoever calls release() himself has no use for it.
constexpr int used_groups = -2; // computed with; one less: cut

Oid release_function(bool parameters) {
    static const Oid types[release_arguments + 1] = {TEXTOID, NUMERICOID, FLOAT8OID, FLOAT8OID, FLOAT8OID, FLOAT8OID,
                                                     BOOLOID, INT4OID,    INT4OID,   INT4OID,   ANYOID};
    return border::internal_function("release", release_arguments + (parameters ? 1 : 0), types);
}

bool is_release(Oid function) {
    return function == release_function(false) || function == release_function(true);
}

Use use_of_groups(Node *call) {
    const int mark = call != nullptr && IsA(call, FuncExpr) ? castNode(FuncExpr, call)->location : -1;
    return mark == used_groups ? Use::computed : mark == used_groups - 1 ? Use::cut : Use::shown;
}

// ---- how many rows it has ------------------------------------------------------------------------------------------

// Bound the expected groups of a key whose groups nobody declared, and of all keys together. Nobody declares more than most_groups.
constexpr double guessed_groups = 100, most_groups = 10000;

static double groups_of_type(Oid type) {
    if (type == BOOLOID)
        return 2;
    if (!type_is_enum(type))
        return guessed_groups;
    CatCList *labels = SearchSysCacheList1(ENUMTYPOIDNAME, ObjectIdGetDatum(type));
    const int n = labels->n_members;
    ReleaseCatCacheList(labels);
    return Max(n, 1);
}

static double groups_of_key(const catalog::Reading &reading, const Query *leaf, Node *key) {
    const Oid type = getBaseType(exprType(key));
    if (!IsA(key, Var))
        return groups_of_type(type);
    auto *column = castNode(Var, key);
    const RangeTblEntry *entry = rt_fetch(column->varno, leaf->rtable);
    const Oid table = entry->rtekind == RTE_RELATION ? catalog::table_of_facade(entry->relid) : InvalidOid;
    ArrayType *declared =
        OidIsValid(table) ? catalog::column_groups(reading, table, get_attname(entry->relid, column->varattno, false))
                          : nullptr;
    return declared == nullptr ? groups_of_type(type) : Max(ArrayGetNItems(ARR_NDIM(declared), ARR_DIMS(declared)), 1);
}

void expect_rows(FuncExpr *call, const Query *leaf) {
    double rows = 1;
    if (leaf->groupClause != NIL) {
        catalog::Reading reading = catalog::Reading::open();
        for (auto *clause : border::each<SortGroupClause>(leaf->groupClause))
            rows = Min(most_groups,
                       rows * groups_of_key(reading, leaf, get_sortgroupclause_expr(clause, leaf->targetList)));
        reading.close();
    }
    linitial_node(Const, call->args)->location = used_groups - static_cast<int>(rows);
}

double expected_rows(Node *call) {
    auto *leaf = IsA(call, FuncExpr) ? static_cast<Node *>(linitial(castNode(FuncExpr, call)->args)) : nullptr;
    if (leaf == nullptr || !IsA(leaf, Const) || castNode(Const, leaf)->location >= used_groups)
        return 0;
    return used_groups - castNode(Const, leaf)->location;
}

// ---- what else is executed ------------------------------------------------------------------------------------------

bool walk_executed(Query *query, border::Walker walker, void *context) {
    for (auto *cte : border::each<CommonTableExpr>(query->cteList)) {
        if ((cte->cterefcount > 0 || castNode(Query, cte->ctequery)->commandType != CMD_SELECT) &&
            walker(cte->ctequery, context))
            return true;
    }
    return border::walk_query(query, walker, context, QTW_IGNORE_CTE_SUBQUERIES);
}

static bool scans_facade(const Query *query) {
    return border::any(reinterpret_cast<Node *>(query->jointree), [=](Node *node) {
        return IsA(node, RangeTblRef) &&
               OidIsValid(catalog::expanded_facade(rt_fetch(castNode(RangeTblRef, node)->rtindex, query->rtable)));
    });
}

static bool find_rows(Node *node, void *context) {
    if (node == nullptr || !IsA(node, Query))
        return node != nullptr && border::walk_expression(node, find_rows, context);
    auto *query = castNode(Query, node);
    return scans_facade(query) || walk_executed(query, find_rows, context);
}

bool shows_rows(Query *query) {
    return find_rows(reinterpret_cast<Node *>(query), nullptr);
}

// ---- whether they are computed with ---------------------------------------------------------------------------------

namespace {
struct Walk {
    const Level *level;
    Use use;          // by this level or one further out
    List *visited[3]; // CTEs that have been, by their use: once is enough, however often they are read
};
} // namespace

static bool mark_walker(Node *node, void *context);

static bool combines_rows(Node *node) {
    if (node == nullptr || !IsA(node, SetOperationStmt))
        return false;
    auto *operation = castNode(SetOperationStmt, node);
    return operation->op != SETOP_UNION || !operation->all || combines_rows(operation->larg) ||
           combines_rows(operation->rarg);
}

// Returns what a level does with the rows of its FROM. Filters, sorting and expressions over single rows show them.
static Use use_of_rows(const Query *query) {
    List *from = query->jointree == nullptr ? NIL : query->jointree->fromlist;
    bool join = list_length(from) > 1 || (from != NIL && !IsA(linitial(from), RangeTblRef));
    if (join || aggregates(query) || query->hasWindowFuncs || query->distinctClause != NIL ||
        combines_rows(query->setOperations))
        return Use::computed;
    return is_cut(query) ? Use::cut : Use::shown;
}

static void mark_query(Query *query, const Level *outer, Use use, Walk *walk);

static void mark_cte(const RangeTblEntry *entry, Walk *walk) {
    const Level *owner = nullptr;
    CommonTableExpr *cte = entry->self_reference ? nullptr : find_cte(entry, walk->level, &owner);
    for (int use = static_cast<int>(walk->use); use < 3; use++)
        if (cte == nullptr || list_member_ptr(walk->visited[use], cte))
            return;
    List **visited = &walk->visited[static_cast<int>(walk->use)];
    *visited = lappend(*visited, cte);
    mark_query(castNode(Query, cte->ctequery), owner, cte->cterecursive ? Use::computed : walk->use, walk);
}

static void mark_entry(const RangeTblEntry *entry, Walk *walk) {
    if (entry->rtekind == RTE_SUBQUERY)
        mark_query(entry->subquery, walk->level, walk->use, walk);
    else if (entry->rtekind == RTE_CTE)
        mark_cte(entry, walk);
    else if (walk->use != Use::shown && entry->rtekind == RTE_FUNCTION && list_length(entry->functions) == 1) {
        Node *call = linitial_node(RangeTblFunction, entry->functions)->funcexpr;
        if (IsA(call, FuncExpr) && is_release(castNode(FuncExpr, call)->funcid))
            castNode(FuncExpr, call)->location = used_groups - (walk->use == Use::cut ? 1 : 0);
    }
}

static void mark_query(Query *query, const Level *outer, Use use, Walk *walk) {
    CHECK_FOR_INTERRUPTS();
    check_stack_depth();
    const Level level = {query, outer}, *level_before = walk->level;
    const Use use_before = walk->use;
    walk->level = &level;
    walk->use = Max(use, use_of_rows(query));
    for (auto *entry : border::each<RangeTblEntry>(query->rtable))
        mark_entry(entry, walk);
    border::walk_query(query, mark_walker, walk, QTW_IGNORE_RT_SUBQUERIES | QTW_IGNORE_CTE_SUBQUERIES);
    // Executed although nothing may read it.
    for (auto *cte : border::each<CommonTableExpr>(query->cteList)) {
        auto *statement = castNode(Query, cte->ctequery);
        if (statement->commandType != CMD_SELECT)
            mark_query(statement, &level, Use::shown, walk);
    }
    walk->level = level_before;
    walk->use = use_before;
}

// Marks releases in expressions: there they are one value for the level around: compared, looked up, counted.
static bool mark_walker(Node *node, void *context) {
    if (node == nullptr)
        return false;
    if (!IsA(node, Query))
        return border::walk_expression(node, mark_walker, context);
    auto *walk = static_cast<Walk *>(context);
    mark_query(castNode(Query, node), walk->level, Use::computed, walk);
    return false;
}

void mark_used_groups(Query *query) {
    Walk walk = {};
    mark_query(query, nullptr, Use::shown, &walk);
}

// ---- which noisy rows are shown ------------------------------------------------------------------------------------

static int chosen_rows = static_cast<int>(NoiseRows::show);

void define_noise_setting() {
    static const config_enum_entry options[] = {{"show", static_cast<int>(NoiseRows::show), false},
                                                {"hide", static_cast<int>(NoiseRows::hide), false},
                                                {"silent", static_cast<int>(NoiseRows::silent), false},
                                                {nullptr, 0, false}};
    DefineCustomEnumVariable("dp_rdr.noise", "Whether rows of GROUP BY that are nothing but noise are shown.",
                             "With hide a NOTICE says how many were left out; silent shows them, and says nothing.",
                             &chosen_rows, static_cast<int>(NoiseRows::show), options, PGC_USERSET, 0, nullptr, nullptr,
                             nullptr);
}

NoiseRows noise_rows() {
    return static_cast<NoiseRows>(chosen_rows);
}

} // namespace dp::query
