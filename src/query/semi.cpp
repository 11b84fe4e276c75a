#include "query/semi.hpp"

#include "border/permissions.hpp"
#include "border/walk.hpp"
#include "catalog/facade.hpp"
#include "catalog/public_table.hpp"
#include "query/fold.hpp"
#include "query/join.hpp"
#include "query/limits.hpp"
#include "query/remedy.hpp"

namespace dp::query {

namespace {
// A conjunct that is a semi-join.
struct Found {
    SubLink *link;
    bool negated;
};

struct Reading {
    Leaf *leaf;
    Query *query;
    ParseState *source;
};
} // namespace

// ---- what the sub-SELECT is ----------------------------------------------------------------------------------------

static bool find_semi_join(Node *conjunct, Found *found) {
    found->negated = IsA(conjunct, BoolExpr) && castNode(BoolExpr, conjunct)->boolop == NOT_EXPR;
    Node *inner = found->negated ? static_cast<Node *>(linitial(castNode(BoolExpr, conjunct)->args)) : conjunct;
    if (!IsA(inner, SubLink))
        return false;
    found->link = castNode(SubLink, inner);
    return found->link->subLinkType == EXISTS_SUBLINK || found->link->subLinkType == ANY_SUBLINK;
}

// Its only relation, if that is one to be asked about.
static RangeTblEntry *only_relation(const Query *query) {
    List *items = query->jointree->fromlist;
    if (query->commandType != CMD_SELECT || list_length(items) != 1 || !IsA(linitial(items), RangeTblRef) ||
        linitial_node(RangeTblRef, items)->rtindex != 1)
        return nullptr;
    RangeTblEntry *entry = rt_fetch(1, query->rtable);
    if (entry->rtekind != RTE_RELATION || entry->tablesample != nullptr)
        return nullptr;
    return OidIsValid(catalog::table_of_facade(entry->relid)) || catalog::is_public_table(entry->relid) ? entry
                                                                                                        : nullptr;
}

bool has_form_of_semi_join(const SubLink *link) {
    return (link->subLinkType == EXISTS_SUBLINK || link->subLinkType == ANY_SUBLINK) &&
           only_relation(castNode(Query, link->subselect)) != nullptr;
}

static void refuse_if(bool condition, const char *part, const char *remedy, const Reading *reading,
                      const Found &found) {
    if (condition)
        refuse_part(
            psprintf("%s in a sub-SELECT of %s", part, found.link->subLinkType == EXISTS_SUBLINK ? "EXISTS" : "IN"),
            remedy, reading->source, found.link->location);
}

static void check_form(const Query *query, const Reading *reading, const Found &found) {
    const char *plain = "Write SELECT FROM one restricted view or public table WHERE its columns equal those outside.";
    refuse_if(query->setOperations != nullptr, "UNION, INTERSECT or EXCEPT", plain, reading, found);
    refuse_if(query->cteList != NIL, "WITH", plain, reading, found);
    refuse_if(query->hasAggs || query->groupClause != NIL || query->groupingSets != NIL || query->havingQual != nullptr,
              "an aggregation", plain, reading, found);
    refuse_if(query->hasWindowFuncs, "a window function", plain, reading, found);
    refuse_if(query->hasTargetSRFs, "a set-returning function", plain, reading, found);
    refuse_if(query->hasSubLinks, "a sub-SELECT", "Join what it reads, or ask in two conditions.", reading, found);
    refuse_if(query->distinctClause != NIL, "DISTINCT", "Leave it out: one row is as good as two.", reading, found);
    refuse_if(query->limitCount != nullptr || query->limitOffset != nullptr, "LIMIT or OFFSET",
              "Leave it out: one row is as good as two.", reading, found);
    refuse_if(query->rowMarks != NIL, "FOR UPDATE or FOR SHARE", "Leave it out.", reading, found);
}

// ---- its condition -------------------------------------------------------------------------------------------------

// A column of the sub-SELECT that IN compares with.
static Node *put_targets(Node *node, void *context) {
    if (node == nullptr)
        return nullptr;
    if (IsA(node, Param) && castNode(Param, node)->paramkind == PARAM_SUBLINK) {
        auto *target = list_nth_node(TargetEntry, static_cast<const Query *>(context)->targetList,
                                     castNode(Param, node)->paramid - 1);
        return static_cast<Node *>(copyObject(static_cast<void *>(target->expr)));
    }
    return border::mutate_expression(node, put_targets, context);
}

// Over the sources of the leaf, this one at varno.
static Node *over_sources(Node *condition, int varno) {
    if (condition == nullptr)
        return nullptr;
    ChangeVarNodes(condition, 1, varno, 0);
    IncrementVarSublevelsUp(condition, -1, 1);
    return condition;
}

static Node *is_null(Node *node, NullTestType type) {
    auto *test = makeNode(NullTest);
    test->arg = reinterpret_cast<Expr *>(copyObject(node));
    test->nulltesttype = type;
    test->location = -1;
    return reinterpret_cast<Node *>(test);
}

// x op y of IN; null for EXISTS.
static Node *comparison(const Found &found, const Query *query) {
    if (found.link->subLinkType != ANY_SUBLINK)
        return nullptr;
    auto *test = static_cast<Node *>(copyObject(found.link->testexpr));
    IncrementVarSublevelsUp(test, 1, 0);
    return put_targets(test, const_cast<Query *>(query));
}

static int add_source(const Reading *reading, const RangeTblEntry *entry) {
    Leaf *leaf = reading->leaf;
    check_sources(leaf->nsources + 1);
    auto *own = copyObject(const_cast<RangeTblEntry *>(entry));
    reading->query->rtable = lappend(reading->query->rtable, own);
    border::set_permission(reading->query, own, 0); // the sub-SELECT's own are checked
    const int varno = list_length(reading->query->rtable);
    const bool is_public = !OidIsValid(catalog::table_of_facade(entry->relid));
    leaf->sources[leaf->nsources] = Source{entry->relid, varno, is_public, false, true};
    return leaf->nsources++;
}

static void add_semi_join(Leaf *leaf, int source, Node *condition, bool negated, Node *unless) {
    auto *semi = static_cast<SemiJoin *>(palloc0(sizeof(SemiJoin)));
    *semi = SemiJoin{source, condition, negated, unless};
    leaf->semi_joins = lappend(leaf->semi_joins, semi);
}

// Rows are found by equal columns, or each would be compared with all.
static void check_equality(const Reading *reading, const Found &found, int source, Node *condition) {
    const int varno = reading->leaf->sources[source].varno;
    ListCell *cell;
    foreach (cell, find_equalities(reading->leaf, NIL, condition)) {
        auto *equality = static_cast<const Equality *>(lfirst(cell));
        if (varno_of(equality->left) == varno || varno_of(equality->right) == varno)
            return;
    }
    refuse_part("a sub-SELECT without an equality of a column of its own and one outside of it",
                "Compare columns as they are: WHERE inner.column = outer.column.", reading->source,
                found.link->location);
}

// x NOT IN (SELECT y ..) is not false but unknown where a y is NULL, or x and there is a row. The rows are nobody's.
static void add_not_in(const Reading *reading, const Found &found, int source, Node *where, Node *test) {
    refuse_if(!IsA(test, OpExpr), "several columns", "Write NOT EXISTS with an equality of each.", reading, found);
    const int varno = reading->leaf->sources[source].varno;
    auto *call = castNode(OpExpr, test);
    const bool inner_first = bms_is_member(varno, pull_varnos(nullptr, static_cast<Node *>(linitial(call->args))));
    Node *x = static_cast<Node *>(inner_first ? lsecond(call->args) : linitial(call->args));
    Node *y = static_cast<Node *>(inner_first ? linitial(call->args) : lsecond(call->args));
    Relids beside = bms_del_member(pull_varnos(nullptr, where), varno);
    refuse_if(!bms_is_empty(beside), "a column of the outer query", "Write NOT EXISTS.", reading, found);
    Node *again = static_cast<Node *>(copyObject(where)), *once_more = static_cast<Node *>(copyObject(where));
    add_semi_join(reading->leaf, source, make_and_qual(again, test), true, nullptr);
    add_semi_join(reading->leaf, source, make_and_qual(once_more, is_null(y, IS_NULL)), true, nullptr);
    add_semi_join(reading->leaf, source, where, true, is_null(x, IS_NOT_NULL));
}

static bool take(const Reading *reading, Node *conjunct) {
    Found found = {};
    if (!find_semi_join(conjunct, &found))
        return false;
    auto *query = castNode(Query, found.link->subselect);
    const RangeTblEntry *entry = only_relation(query);
    if (entry == nullptr)
        return false;
    check_form(query, reading, found);
    refuse_if(!entry->inh, "ONLY", only_remedy, reading, found);
    const int source = add_source(reading, entry), varno = reading->leaf->sources[source].varno;
    Node *where = over_sources(static_cast<Node *>(copyObject(query->jointree->quals)), varno);
    Node *test = over_sources(comparison(found, query), varno);
    check_equality(reading, found, source,
                   make_and_qual(static_cast<Node *>(copyObject(where)), static_cast<Node *>(copyObject(test))));
    const bool not_in = found.negated && test != nullptr;
    if (not_in && !reading->leaf->sources[source].is_public)
        refuse_part("NOT IN over a restricted view",
                    "Write NOT EXISTS: one NULL in a row of somebody's would decide for all.", reading->source,
                    found.link->location);
    if (not_in)
        add_not_in(reading, found, source, where, test);
    else
        add_semi_join(reading->leaf, source, make_and_qual(where, test), found.negated, nullptr);
    return true;
}

static Node *take_all(const Reading *reading, Node *where) {
    check_stack_depth();
    if (where == nullptr || take(reading, where))
        return nullptr;
    if (!IsA(where, BoolExpr) || castNode(BoolExpr, where)->boolop != AND_EXPR)
        return where;
    Node *kept = nullptr;
    ListCell *cell;
    foreach (cell, castNode(BoolExpr, where)->args)
        kept = make_and_qual(kept, take_all(reading, static_cast<Node *>(lfirst(cell))));
    return kept;
}

static bool check_sub_select(Node *node, void *) {
    if (node == nullptr)
        return false;
    if (IsA(node, Query))
        border::check_permissions(castNode(Query, node));
    return IsA(node, Query) ? border::walk_query(castNode(Query, node), check_sub_select, nullptr, 0)
                            : border::walk_expression(node, check_sub_select, nullptr);
}

void check_semi_permissions(const Leaf *leaf) {
    (void)check_sub_select(reinterpret_cast<Node *>(leaf->query->jointree), nullptr);
}

void read_semi_joins(Leaf *leaf, Query *query, ParseState *source) {
    Reading reading = {leaf, query, source};
    leaf->where = take_all(&reading, leaf->where);
}

} // namespace dp::query
