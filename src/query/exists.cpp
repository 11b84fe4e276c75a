#include "query/exists.hpp"

#include <utility>

#include "border/each.hpp"
#include "border/permissions.hpp"
#include "border/visit.hpp"
#include "border/varnos.hpp"
#include "catalog/facade.hpp"
#include "catalog/public_table.hpp"
#include "query/flatten_subselects.hpp"
#include "query/from.hpp"
#include "query/limits.hpp"
#include "query/make.hpp"
#include "query/hints.hpp"
#include "query/tested_links.hpp"
#include "query/total_table.hpp"

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

static bool is_exists_or_in(const SubLink *link) {
    return link->subLinkType == EXISTS_SUBLINK || link->subLinkType == ANY_SUBLINK;
}

static bool find_semi_join(Node *conjunct, Found *found) {
    found->negated = IsA(conjunct, BoolExpr) && castNode(BoolExpr, conjunct)->boolop == NOT_EXPR;
    Node *inner = found->negated ? static_cast<Node *>(linitial(castNode(BoolExpr, conjunct)->args)) : conjunct;
    if (!IsA(inner, SubLink))
        return false;
    found->link = castNode(SubLink, inner);
    return is_exists_or_in(found->link);
}

static bool is_relation(const RangeTblEntry *entry) {
    return entry->rtekind == RTE_RELATION && entry->tablesample == nullptr &&
           (OidIsValid(catalog::table_of_facade(entry->relid)) || catalog::is_public_table(entry->relid));
}

// Its relations, RangeTblEntry *, where all of FROM are such as may be asked about, numbered as they stand there; else NIL.
static List *relations_of(const Query *query) {
    List *relations = NIL;
    ListCell *cell;
    foreach (cell, query->commandType == CMD_SELECT ? query->jointree->fromlist : NIL) {
        auto *item = static_cast<Node *>(lfirst(cell));
        if (!IsA(item, RangeTblRef) || castNode(RangeTblRef, item)->rtindex != foreach_current_index(cell) + 1)
            return NIL;
        RangeTblEntry *entry = rt_fetch(castNode(RangeTblRef, item)->rtindex, query->rtable);
        if (!is_relation(entry))
            return NIL;
        relations = lappend(relations, entry);
    }
    return relations;
}

static bool has_form_of_semi_join(const SubLink *link) {
    return is_exists_or_in(link) && relations_of(castNode(Query, link->subselect)) != NIL;
}

const char *remedy_of_sub_select(const SubLink *link) {
    if (is_exists_or_in(link) && has_form_of_semi_join(link))
        return exists_remedy;
    if (!contain_vars_of_level(link->subselect, 1))
        return subselect_remedy;
    return is_exists_or_in(link) ? form_remedy : correlated_remedy;
}

static void refuse_if(bool condition, const char *part, const char *remedy, const Reading *reading,
                      const Found &found) {
    if (condition)
        refuse_part(
            psprintf("%s in a sub-SELECT of %s", part, found.link->subLinkType == EXISTS_SUBLINK ? "EXISTS" : "IN"),
            remedy, reading->source, found.link->location);
}

static void check_form(const Query *query, const Reading *reading, const Found &found) {
    const char *plain = "Write SELECT FROM restricted views or public tables WHERE their columns equal those outside.";
    refuse_if(query->setOperations != nullptr, "UNION, INTERSECT or EXCEPT", plain, reading, found);
    refuse_if(query->cteList != NIL, "WITH", plain, reading, found);
    refuse_if(query->hasAggs || query->groupClause != NIL || query->groupingSets != NIL || query->havingQual != nullptr,
              "an aggregation",
              "Join a sub-SELECT with one row for each person: JOIN (SELECT person, count(*) AS n FROM ... GROUP BY "
              "person) s "
              "ON s.person = ... WHERE s.n > 3.",
              reading, found);
    refuse_if(query->hasWindowFuncs, "a window function", plain, reading, found);
    refuse_if(query->hasTargetSRFs, "a set-returning function", plain, reading, found);
    refuse_if(query->hasSubLinks, "a sub-SELECT", "Join what it reads, or ask in two conditions.", reading, found);
    refuse_if(query->distinctClause != NIL, "DISTINCT", "Leave it out: one row is as good as two.", reading, found);
    refuse_if(is_cut(query), "LIMIT or OFFSET",
              found.link->subLinkType == EXISTS_SUBLINK
                  ? "Leave it out: one row is as good as two."
                  : "Without it more rows would match: ask for those values first, and write them as constants: x IN "
                    "(FIRST, SECOND).",
              reading, found);
    refuse_if(query->rowMarks != NIL, "FOR UPDATE or FOR SHARE", "Leave it out.", reading, found);
}

// ---- its condition -------------------------------------------------------------------------------------------------

// Puts the columns of the sub-SELECT that IN compares with.
static Node *with_targets(Node *test, const Query *query) {
    return border::change(test, [=](Node *node, Index) -> Node * {
        if (!IsA(node, Param) || castNode(Param, node)->paramkind != PARAM_SUBLINK)
            return nullptr;
        const auto *target = list_nth_node(TargetEntry, query->targetList, castNode(Param, node)->paramid - 1);
        return copied(reinterpret_cast<Node *>(target->expr));
    });
}

// Over the sources of the leaf: its n relations become those from `first` on. Their varnos are larger, so the last one comes first.
static Node *over_sources(Node *condition, const Leaf *leaf, int first, int n) {
    if (condition == nullptr)
        return nullptr;
    for (int i = n; --i >= 0;)
        ChangeVarNodes(condition, i + 1, leaf->sources[first + i].varno, 0);
    IncrementVarSublevelsUp(condition, -1, 1);
    return condition;
}

// x op y of IN; null for EXISTS.
static Node *comparison(const Found &found, const Query *query) {
    if (found.link->subLinkType != ANY_SUBLINK)
        return nullptr;
    Node *test = copied(found.link->testexpr);
    IncrementVarSublevelsUp(test, 1, 0);
    return with_targets(test, query);
}

static void add_source(const Reading *reading, const RangeTblEntry *entry) {
    Leaf *leaf = reading->leaf;
    check_sources(leaf->nsources + 1);
    auto *own = copyObject(const_cast<RangeTblEntry *>(entry));
    reading->query->rtable = lappend(reading->query->rtable, own);
    border::forget_permission(own);
    border::set_permission(reading->query, own, 0); // the sub-SELECT's own are checked
    const int varno = list_length(reading->query->rtable);
    const bool is_public = !OidIsValid(catalog::table_of_facade(entry->relid));
    leaf->sources[leaf->nsources++] = Source{entry->relid, varno, is_public, false, true, InvalidOid, nullptr, nullptr};
}

namespace {
// A sub-SELECT whose sources are the leaf's.
struct Opened {
    int source, nsources;
    Node *where; // of the sub-SELECT
    Node *test;  // x op y of IN; null for EXISTS
    Node *condition() const { return make_and_qual(copied(where), copied(test)); }
};
} // namespace

// Refuses nondeterministic collations in a sub-SELECT: some plans keep one of the rows that such a collation calls equal.
static void check_collations(Node *expression, ParseState *source) {
    border::any(expression, [=](Node *node) {
        if (IsA(node, Var))
            open_collation(castNode(Var, node)->varcollid, source, castNode(Var, node)->location);
        return false;
    });
}

static Opened open_sources(const Reading *reading, const Found &found, const List *relations) {
    auto *query = castNode(Query, found.link->subselect);
    Leaf *leaf = reading->leaf;
    Opened opened = {leaf->nsources, list_length(relations), nullptr, nullptr};
    check_form(query, reading, found);
    for (auto *relation : border::each<RangeTblEntry>(relations)) {
        refuse_if(!relation->inh, "ONLY", only_remedy, reading, found);
        add_source(reading, relation);
    }
    check_collations(query->jointree->quals, reading->source);
    check_collations(found.link->testexpr, reading->source);
    check_collations(reinterpret_cast<Node *>(query->targetList), reading->source);
    opened.where = over_sources(copied(query->jointree->quals), leaf, opened.source, opened.nsources);
    opened.test = over_sources(comparison(found, query), leaf, opened.source, opened.nsources);
    return opened;
}

static SemiJoin *add_semi_join(Leaf *leaf, const Opened &opened, Node *condition, bool negated, Node *unless) {
    auto *semi = static_cast<SemiJoin *>(palloc0(sizeof(SemiJoin)));
    *semi = SemiJoin{opened.source, opened.nsources, condition, negated, unless, 0, nullptr, NIL};
    leaf->semi_joins = lappend(leaf->semi_joins, semi);
    return semi;
}

static Bitmapset *varnos_of(const Leaf *leaf, int source, int n) {
    Bitmapset *varnos = nullptr;
    for (int i = source; i < source + n; i++)
        varnos = bms_add_member(varnos, leaf->sources[i].varno);
    return varnos;
}

Bitmapset *varnos_of_semi_join(const Leaf *leaf, const SemiJoin *semi) {
    return varnos_of(leaf, semi->source, semi->nsources);
}

// ---- what links it -------------------------------------------------------------------------------------------------

// An expression over its sources equals one over others, by the operator that its values are told apart by: so one of those that differ
// is equal at most.
static bool is_link(const OpExpr *call, Bitmapset *inner) {
    if (!IsA(call, OpExpr) || list_length(call->args) != 2)
        return false;
    Node *left = static_cast<Node *>(linitial(call->args)), *right = static_cast<Node *>(lsecond(call->args));
    Bitmapset *of_left = border::varnos_of(left), *of_right = border::varnos_of(right);
    if (!bms_is_subset(of_left, inner)) {
        std::swap(left, right);
        std::swap(of_left, of_right);
    }
    if (bms_is_empty(of_left) || bms_is_empty(of_right) || !bms_is_subset(of_left, inner) ||
        bms_overlap(of_right, inner))
        return false;
    const TypeCacheEntry *type = lookup_type_cache(exprType(left), TYPECACHE_BTREE_OPFAMILY | TYPECACHE_EQ_OPR);
    return OidIsValid(type->btree_opf) && OidIsValid(type->eq_opr) &&
           get_op_opfamily_strategy(call->opno, type->btree_opf) == BTEqualStrategyNumber;
}

int inner_argument(const OpExpr *link, Bitmapset *inner) {
    return bms_is_subset(border::varnos_of(static_cast<Node *>(linitial(link->args))), inner) ? 0 : 1;
}

// The values that it compares are sorted, or hashed: by functions that cannot fail.
static bool is_sorted_safely(const OpExpr *link, Bitmapset *inner) {
    Oid type = exprType(static_cast<Node *>(list_nth(link->args, inner_argument(link, inner))));
    Oid compare = lookup_type_cache(type, TYPECACHE_CMP_PROC)->cmp_proc;
    return OidIsValid(compare) && find_total(compare) != nullptr;
}

bool split_test(Node *condition, Bitmapset *inner, TestParts *parts) {
    *parts = TestParts{NIL, NIL, NIL};
    for (auto *conjunct : border::each<Node>(conjuncts_of(condition))) {
        Bitmapset *varnos = border::varnos_of(conjunct);
        if (bms_is_subset(varnos, inner))
            parts->inner = lappend(parts->inner, conjunct);
        else if (!bms_overlap(varnos, inner))
            parts->outer = lappend(parts->outer, conjunct);
        else if (is_link(reinterpret_cast<OpExpr *>(conjunct), inner) &&
                 is_sorted_safely(castNode(OpExpr, conjunct), inner))
            parts->links = list_append_unique(parts->links, conjunct);
        else
            return false;
    }
    return parts->links != NIL;
}

// The varnos of one side of an equality, and those of the other; false: it is none between two of these.
static bool joins_two(Node *conjunct, Bitmapset *inner, Bitmapset **left, Bitmapset **right) {
    if (!IsA(conjunct, OpExpr) || list_length(castNode(OpExpr, conjunct)->args) != 2)
        return false;
    *left = border::varnos_of(static_cast<Node *>(linitial(castNode(OpExpr, conjunct)->args)));
    *right = border::varnos_of(static_cast<Node *>(lsecond(castNode(OpExpr, conjunct)->args)));
    return bms_is_subset(*left, inner) && bms_is_subset(*right, inner) && !bms_is_empty(*left) &&
           is_link(castNode(OpExpr, conjunct), *left);
}

// Its tables are joined with each other by equalities of their own, or all rows of one would be joined with all of another before the
// row outside is looked at.
static void check_joined_inside(const Reading *reading, const Found &found, const Opened &opened) {
    Bitmapset *inner = varnos_of(reading->leaf, opened.source, opened.nsources);
    Bitmapset *reached = bms_make_singleton(bms_next_member(inner, -1));
    const List *conjuncts = conjuncts_of(opened.condition());
    for (bool more = true; more;) {
        more = false;
        for (auto *conjunct : border::each<Node>(conjuncts)) {
            Bitmapset *left, *right;
            if (!joins_two(conjunct, inner, &left, &right) || bms_overlap(left, reached) == bms_overlap(right, reached))
                continue;
            reached = bms_add_members(bms_add_members(reached, left), right);
            more = true;
        }
    }
    if (bms_num_members(reached) < bms_num_members(inner))
        refuse_part("a sub-SELECT of tables that no equality joins with each other",
                    "Write one inside, beside those with the row outside: WHERE a.id = b.id AND a.id = outer.id.",
                    reading->source, found.link->location);
}

// Rows are found by what is equal, or each would be compared with all. Of several sources rows::resolve_sources says whether each is
// reached; of a private one it wants columns as they are.
static void check_equality(const Reading *reading, const Found &found, const Opened &opened) {
    Bitmapset *inner = varnos_of(reading->leaf, opened.source, opened.nsources);
    for (auto *item : border::each<const OpExpr>(conjuncts_of(opened.condition())))
        if (is_link(item, inner))
            return;
    refuse_part("a sub-SELECT without an equality of a column of its own and one outside of it",
                "Compare columns as they are: WHERE inner.column = outer.column.", reading->source,
                found.link->location);
}

// ---- conjuncts -----------------------------------------------------------------------------------------------------

// x NOT IN (SELECT y ..) is not false but unknown where a y is NULL, or x and there is a row. The rows are nobody's.
static void add_not_in(const Reading *reading, const Found &found, const Opened &opened) {
    refuse_if(!IsA(opened.test, OpExpr), "several columns", "Write NOT EXISTS with an equality of each.", reading,
              found);
    Bitmapset *inner = varnos_of(reading->leaf, opened.source, opened.nsources);
    auto *call = castNode(OpExpr, opened.test);
    const int of_y = inner_argument(call, inner);
    Node *x = static_cast<Node *>(list_nth(call->args, 1 - of_y)), *y = static_cast<Node *>(list_nth(call->args, of_y));
    refuse_if(!bms_is_subset(border::varnos_of(opened.where), inner), "a column of the outer query",
              "Write NOT EXISTS.", reading, found);
    Node *again = copied(opened.where);
    add_semi_join(reading->leaf, opened, opened.condition(), true, nullptr);
    add_semi_join(reading->leaf, opened, make_and_qual(again, null_test(copied(y), IS_NULL)), true, nullptr);
    add_semi_join(reading->leaf, opened, opened.where, true, null_test(copied(x), IS_NOT_NULL));
}

static bool is_any_private(const Leaf *leaf, const Opened &opened) {
    for (int i = opened.source; i < opened.source + opened.nsources; i++)
        if (!leaf->sources[i].is_public)
            return true;
    return false;
}

static bool take(const Reading *reading, Node *conjunct) {
    Found found = {};
    if (!find_semi_join(conjunct, &found))
        return false;
    const List *relations = relations_of(castNode(Query, found.link->subselect));
    if (relations == NIL)
        return false;
    const Opened opened = open_sources(reading, found, relations);
    check_equality(reading, found, opened);
    check_joined_inside(reading, found, opened);
    const bool not_in = found.negated && opened.test != nullptr;
    if (not_in && is_any_private(reading->leaf, opened))
        refuse_part("NOT IN over a restricted view",
                    "Write NOT EXISTS: one NULL in a row of somebody's would decide for all.", reading->source,
                    found.link->location);
    if (not_in)
        add_not_in(reading, found, opened);
    else
        add_semi_join(reading->leaf, opened, opened.condition(), found.negated, nullptr);
    return true;
}

void read_semi_joins(Leaf *leaf, Query *query, ParseState *source) {
    const Reading reading = {leaf, query, source};
    Node *kept = nullptr;
    for (auto *conjunct : border::each<Node>(conjuncts_of(leaf->where)))
        if (!take(&reading, conjunct))
            kept = make_and_qual(kept, conjunct);
    leaf->where = kept;
}

// ---- tests ---------------------------------------------------------------------------------------------------------

// The entry that a test's column is of: nothing of it is read.
static int add_entry(Query *query) {
    auto *entry = makeNode(RangeTblEntry);
    entry->rtekind = RTE_RESULT;
    entry->eref = makeAlias("tested", NIL);
    query->rtable = lappend(query->rtable, entry);
    return list_length(query->rtable);
}

// Both sides of each comparison of IN: it is unknown where one of them is NULL and no row is equal.
static List *compared(Node *test) {
    List *sides = NIL;
    for (auto *conjunct : border::each<OpExpr>(conjuncts_of(test)))
        if (IsA(conjunct, OpExpr))
            sides = list_concat(sides, static_cast<List *>(copyObject(conjunct->args)));
    return sides;
}

// Only `true` matters: a FILTER, a condition of CASE, what AND and OR make of these.
static const SemiJoin *find_test(const Leaf *leaf, const SubLink *link, bool only_true) {
    for (auto *semi : border::each<const SemiJoin>(leaf->semi_joins)) {
        if (semi->test != 0 && equal(semi->written, link) &&
            (link->subLinkType == EXISTS_SUBLINK || (semi->present == NIL) == only_true))
            return semi;
    }
    return nullptr;
}

static const SemiJoin *add_test(const Reading *reading, SubLink *link, bool only_true) {
    if (const SemiJoin *known = find_test(reading->leaf, link, only_true))
        return known;
    const Found found = {link, false};
    const Opened opened = open_sources(reading, found, relations_of(castNode(Query, link->subselect)));
    check_joined_inside(reading, found, opened);
    SemiJoin *test = add_semi_join(reading->leaf, opened, opened.condition(), false, nullptr);
    TestParts parts;
    if (!split_test(test->condition, varnos_of_semi_join(reading->leaf, test), &parts))
        refuse_part(
            "a sub-SELECT outside of WHERE with another condition than equalities of its columns with those "
            "outside of it",
            "Compare by = what is inside with what is outside; or write it as a condition of WHERE, of its own.",
            reading->source, link->location);
    check_compared(list_length(parts.links));
    test->test = add_entry(reading->query);
    test->written = copyObject(link);
    test->present = only_true ? NIL : compared(opened.test);
    return test;
}

// Makes the column of a test. No row has NULL in it, and nothing is ever declared of it.
static Node *column_of_test(const Leaf *leaf, const SemiJoin *test) {
    auto *column = makeVar(test->test, 1, BOOLOID, -1, InvalidOid, 0);
#if PG_VERSION_NUM >= 160000 // of the join that brings it, at the place of its first source (rows/sources)
    column->varnullingrels = bms_make_singleton(leaf->sources[test->source].varno);
#else
    (void)leaf;
#endif
    auto *found = makeNode(BooleanTest);
    found->arg = reinterpret_cast<Expr *>(column);
    found->booltesttype = IS_TRUE;
    found->location = test->written->location;
    return reinterpret_cast<Node *>(found);
}

static Node *put_test(SubLink *link, bool only_true, void *context) {
    const auto *reading = static_cast<const Reading *>(context);
    return has_form_of_semi_join(link) ? column_of_test(reading->leaf, add_test(reading, link, only_true)) : nullptr;
}

void read_tests(Leaf *leaf, Query *query, bool of_unit, ParseState *source) {
    Reading reading = {leaf, query, source};
    leaf->where = put_links(leaf->where, true, true, put_test, &reading);
    query->targetList = reinterpret_cast<List *>(
        put_links(reinterpret_cast<Node *>(query->targetList), false, !of_unit, put_test, &reading));
    if (of_unit)
        query->havingQual = put_links(query->havingQual, false, false, put_test, &reading);
}

const SemiJoin *test_of(const Leaf *leaf, const Var *column) {
    for (auto *semi : border::each<const SemiJoin>(leaf->semi_joins)) {
        if (semi->test != 0 && semi->test == static_cast<int>(column->varno))
            return semi;
    }
    return nullptr;
}

Node *with_tests_written(const Leaf *leaf, Node *expression) {
    return border::change(expression, [=](Node *node, Index) -> Node * {
        const SemiJoin *test = IsA(node, Var) ? test_of(leaf, castNode(Var, node)) : nullptr;
        return test == nullptr ? nullptr : copied(reinterpret_cast<Node *>(test->written));
    });
}

// ---- permissions ---------------------------------------------------------------------------------------------------

static void check_sub_selects(Node *node) {
    border::visit(node, [](Node *part, Index) {
        if (IsA(part, Query))
            border::check_permissions(castNode(Query, part));
        return border::Step::in;
    });
}

void check_semi_permissions(const Leaf *leaf) {
    check_sub_selects(reinterpret_cast<Node *>(leaf->query->jointree));
    for (auto *semi : border::each<const SemiJoin>(leaf->semi_joins))
        check_sub_selects(reinterpret_cast<Node *>(semi->written));
}

} // namespace dp::query
