#include "query/general_query.hpp"

#include "border/each.hpp"
#include "border/grouping.hpp"
#include "border/permissions.hpp"
#include "border/visit.hpp"
#include "catalog/facade.hpp"
#include "catalog/settings.hpp"
#include "query/aggregate_table.hpp"
#include "query/flatten_subselects.hpp"
#include "query/hints.hpp"
#include "query/interval_marks.hpp"

namespace dp::query {

// ---- restricted views ----------------------------------------------------------------------------------------------

// The OLD and NEW entries of a view's rule are not in its FROM.
static bool reads_view(const RangeTblEntry *entry) {
    return entry->rtekind == RTE_RELATION && entry->relkind == RELKIND_VIEW && entry->inFromCl;
}

static Query *view_query(Oid view) {
    Relation relation = table_open(view, AccessShareLock);
    auto *query = static_cast<Query *>(copyObject(get_view_query(relation)));
    table_close(relation, NoLock);
    return query;
}

static bool leads_to_facade(Query *query) {
    check_stack_depth();
    return border::visit(reinterpret_cast<Node *>(query), [](Node *node, Index) {
        for (auto *entry : border::each<RangeTblEntry>(IsA(node, Query) ? castNode(Query, node)->rtable : NIL))
            if (reads_view(entry) &&
                (OidIsValid(catalog::table_of_facade(entry->relid)) || leads_to_facade(view_query(entry->relid))))
                return border::Step::stop;
        return border::Step::in;
    });
}

// The caller may read a view that he uses; what stands in it is his own table, or checked when the query runs.
static void expand_view(RangeTblEntry *entry, Query *query) {
    AclResult access = pg_class_aclcheck(entry->relid, GetUserId(), ACL_SELECT);
    if (access != ACLCHECK_OK)
        aclcheck_error(access, OBJECT_VIEW, get_rel_name(entry->relid));
    entry->rtekind = RTE_SUBQUERY;
    entry->subquery = query;
    entry->relid = InvalidOid;
    entry->relkind = 0;
    entry->rellockmode = 0;
    entry->inh = false;
    border::forget_permission(entry);
    if (entry->alias == nullptr)
        entry->alias = makeAlias(entry->eref->aliasname, NIL);
}

static void collect_facades(General *general) {
    border::visit(reinterpret_cast<Node *>(general->query), [=](Node *node, Index) {
        for (auto *entry : border::each<RangeTblEntry>(IsA(node, Query) ? castNode(Query, node)->rtable : NIL)) {
            if (!reads_view(entry))
                continue;
            if (OidIsValid(catalog::table_of_facade(entry->relid))) {
                general->facades = lappend(general->facades, entry);
                general->views = list_append_unique_oid(general->views, entry->relid);
                continue;
            }
            Query *below = view_query(entry->relid);
            if (leads_to_facade(below))
                expand_view(entry, below);
        }
        return border::Step::in;
    });
}

General *find_facades(const Query *query, ParseState *source) {
    auto *general = static_cast<General *>(palloc0(sizeof(General)));
    general->query = copyObject(const_cast<Query *>(query));
    general->source = source;
    collect_facades(general);
    border::flatten_all_grouping(general->query);
    return general;
}

bool is_general(const General *general) {
    return general->facades != NIL && border::visit(reinterpret_cast<Node *>(general->query), [](Node *node, Index) {
               return IsA(node, Query) && aggregates(castNode(Query, node)) ? border::Step::stop : border::Step::in;
           });
}

// ---- functions -----------------------------------------------------------------------------------------------------

static bool is_volatile(Oid function, void *context) {
    if (func_volatile(function) != PROVOLATILE_VOLATILE)
        return false;
    *static_cast<Oid *>(context) = function;
    return true;
}

static void check_functions(Node *node, ParseState *source) {
    if (marked(node) != nullptr)
        refuse_part(get_func_name(castNode(FuncExpr, node)->funcid), "Leave it out: the risk is that of the aggregate.",
                    source, exprLocation(node));
    Oid function = InvalidOid;
    if (check_functions_in_node(node, is_volatile, &function))
        refuse_part(psprintf("volatile function %s", format_procedure(function)),
                    "The query is run once without each record: it must give the same result on the same rows.", source,
                    exprLocation(node));
}

// ---- tables --------------------------------------------------------------------------------------------------------

static bool check_node(Node *node, void *context);

// A part of the protected table, or another protected table, would keep the record that the view leaves out.
static void check_table(Oid relation, General *general) {
    Oid protected_table = catalog::table_of_facade(linitial_oid(general->views));
    bool part = list_member_oid(find_all_inheritors(protected_table, AccessShareLock, nullptr), relation);
    if (part || catalog::is_protected_table(relation))
        refuse_part(psprintf("protected table %s beside the view", catalog::qualified_name(relation)),
                    "Read one restricted view, and tables that are not protected.", general->source, -1);
}

static void check_entry(const RangeTblEntry *entry, General *general) {
    if (entry->tablesample != nullptr)
        refuse_part("TABLESAMPLE", "Leave it out.", general->source, -1);
    if (entry->rtekind != RTE_RELATION || !entry->inFromCl || list_member_ptr(general->facades, entry))
        return;
    if (entry->relkind == RELKIND_VIEW)
        check_node(reinterpret_cast<Node *>(view_query(entry->relid)), general);
    else
        check_table(entry->relid, general);
}

static bool check_node(Node *node, void *context) {
    auto *general = static_cast<General *>(context);
    check_stack_depth();
    if (node == nullptr)
        return false;
    if (IsA(node, Aggref)) {
        auto *call = castNode(Aggref, node);
        call->aggfnoid = plain_aggregate(call);
    }
    if (!IsA(node, Query)) {
        check_functions(node, general->source);
        return border::walk_expression(node, check_node, context);
    }
    auto *query = castNode(Query, node);
    if (query->rowMarks != NIL)
        refuse_part("FOR UPDATE or FOR SHARE", "Leave it out.", general->source, -1);
    for (auto *entry : border::each<RangeTblEntry>(query->rtable))
        check_entry(entry, general);
    return border::walk_query(query, check_node, context, 0);
}

// ---- columns -------------------------------------------------------------------------------------------------------

namespace {
struct Mention {
    General *general;
    const Level *level;
};
} // namespace

static bool collect_columns(Node *node, void *context);

static void collect_var(const Var *var, Mention *mention) {
    const Level *level = mention->level;
    for (Index up = var->varlevelsup; up > 0; up--)
        level = level->outer;
    const RangeTblEntry *entry = rt_fetch(var->varno, level->query->rtable);
    if (entry->rtekind == RTE_JOIN && var->varattno > 0) { // a column merged by USING
        Mention there = {mention->general, level};
        collect_columns(static_cast<Node *>(list_nth(entry->joinaliasvars, var->varattno - 1)), &there);
        return;
    }
    bool facade = list_member_ptr(mention->general->facades, entry);
    if (var->varattno == 0 && (facade || entry->rtekind == RTE_JOIN))
        refuse_part("a whole row", "Name columns.", mention->general->source, var->location);
    if (facade)
        mention->general->columns = list_append_unique_int(mention->general->columns, var->varattno);
}

static bool collect_columns(Node *node, void *context) {
    auto *mention = static_cast<Mention *>(context);
    if (node == nullptr)
        return false;
    if (IsA(node, Var)) {
        collect_var(castNode(Var, node), mention);
        return false;
    }
    if (!IsA(node, Query))
        return border::walk_expression(node, collect_columns, context);
    Level level = {castNode(Query, node), mention->level};
    Mention below = {mention->general, &level};
    return border::walk_query(level.query, collect_columns, &below, QTW_IGNORE_JOINALIASES);
}

// ---- all of it -----------------------------------------------------------------------------------------------------

static bool is_one_level(const General *general) {
    const Query *query = general->query;
    return list_length(query->rtable) == 1 && linitial(query->rtable) == linitial(general->facades) &&
           list_length(query->jointree->fromlist) == 1 && query->cteList == NIL && !query->hasSubLinks &&
           query->setOperations == nullptr && (query->hasAggs || query->groupClause != NIL);
}

// Whether the node keeps the entry: no outer join above it can fill its columns with NULL.
static bool keeps(Node *node, int entry) {
    check_stack_depth();
    if (IsA(node, RangeTblRef))
        return castNode(RangeTblRef, node)->rtindex == entry;
    if (IsA(node, FromExpr)) {
        for (auto *part : border::each<Node>(castNode(FromExpr, node)->fromlist))
            if (keeps(part, entry))
                return true;
        return false;
    }
    auto *join = castNode(JoinExpr, node);
    return (join->jointype != JOIN_RIGHT && join->jointype != JOIN_FULL && keeps(join->larg, entry)) ||
           (join->jointype != JOIN_LEFT && join->jointype != JOIN_FULL && keeps(join->rarg, entry));
}

// A join with an alias hides the names of what it joins.
static bool hides_names(const Query *query) {
    for (auto *entry : border::each<RangeTblEntry>(query->rtable))
        if (entry->rtekind == RTE_JOIN && entry->alias != nullptr)
            return true;
    return false;
}

// Named once, in FROM itself, so that nothing else depends on its rows: not a sub-SELECT, not the other tables.
static int separable_facade(const General *general) {
    const Query *query = general->query;
    if (list_length(general->facades) != 1 || query->setOperations != nullptr || hides_names(query) ||
        (!query->hasAggs && query->groupClause == NIL))
        return 0;
    ListCell *cell;
    foreach (cell, query->rtable) {
        int entry = foreach_current_index(cell) + 1;
        if (lfirst(cell) == linitial(general->facades))
            return keeps(reinterpret_cast<Node *>(query->jointree), entry) ? entry : 0;
    }
    return 0;
}

void check_general(General *general) {
    if (list_length(general->views) > 1)
        refuse_part("a second restricted view", "Ask about one restricted view.", general->source, -1);
    check_node(reinterpret_cast<Node *>(general->query), general);
    Mention mention = {general, nullptr};
    collect_columns(reinterpret_cast<Node *>(general->query), &mention);
    list_sort(general->columns, list_int_cmp);
    general->one_level = is_one_level(general);
    general->facade = separable_facade(general);
}

} // namespace dp::query
