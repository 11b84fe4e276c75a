#include "query/in_people.hpp"

#include "border/each.hpp"
#include "border/grouping.hpp"
#include "border/visit.hpp"
#include "catalog/facade.hpp"
#include "query/asked_limits.hpp"
#include "query/from.hpp"
#include "query/hints.hpp"
#include "query/make.hpp"
#include "query/tested_links.hpp"

namespace dp::query {

// ---- what it is ----------------------------------------------------------------------------------------------------

// The clause that a column of a sub-SELECT is grouped by; null: none.
static const SortGroupClause *clause_of(const Query *below, const TargetEntry *target) {
    for (auto *clause : border::each<const SortGroupClause>(below->groupClause))
        if (target->ressortgroupref != 0 && clause->tleSortGroupRef == target->ressortgroupref)
            return clause;
    return nullptr;
}

// Tells a sub-SELECT that shows what it groups by, and nothing else: of equal rows there is one.
static bool shows_its_keys(const Query *below) {
    if (below->groupClause == NIL || below->setOperations != nullptr || below->hasTargetSRFs)
        return false;
    int shown = 0;
    for (auto *target : border::each<TargetEntry>(below->targetList)) {
        if (!target->resjunk && clause_of(below, target) == nullptr)
            return false;
        shown += target->resjunk ? 0 : 1;
    }
    return shown == list_length(below->groupClause);
}

// Tells x = y of IN, of each column by the operator that it is grouped by.
static bool are_equalities(const SubLink *link, const Query *below) {
    int number = 0;
    for (auto *test : border::each<OpExpr>(link->subLinkType == ANY_SUBLINK ? conjuncts_of(link->testexpr) : NIL)) {
        if (!IsA(test, OpExpr) || list_length(test->args) != 2 || number >= list_length(below->groupClause) ||
            contain_subplans(static_cast<Node *>(linitial(test->args))) ||
            test->opno != clause_of(below, list_nth_node(TargetEntry, below->targetList, number))->eqop)
            return false;
        number++;
    }
    return number > 0 && number == list_length(below->groupClause);
}

static bool is_of_people(const SubLink *link, const Level *level) {
    if (!IsA(link->subselect, Query))
        return false;
    const Level below = {castNode(Query, link->subselect), level};
    return shows_its_keys(below.query) && are_equalities(link, below.query) &&
           !contain_vars_of_level(link->subselect, 1) && has_rows_of_units(&below);
}

// ---- joins ---------------------------------------------------------------------------------------------------------

static int add_people(Query *query, const SubLink *link) {
    auto *entry = makeNode(RangeTblEntry);
    entry->rtekind = RTE_SUBQUERY;
    entry->subquery = castNode(Query, link->subselect);
    entry->inFromCl = true;
    List *names = NIL;
    for (auto *target : border::each<TargetEntry>(entry->subquery->targetList))
        if (!target->resjunk)
            names = lappend(names, makeString(pstrdup(target->resname == nullptr ? "?column?" : target->resname)));
    entry->eref = makeAlias(psprintf("people%d", list_length(query->rtable) + 1), names);
    entry->alias = copyObject(entry->eref);
    query->rtable = lappend(query->rtable, entry);
    return list_length(query->rtable);
}

static Node *column_of(const Query *query, int index, int number) {
    const auto *below = rt_fetch(index, query->rtable)->subquery;
    return reinterpret_cast<Node *>(
        makeVarFromTargetEntry(index, list_nth_node(TargetEntry, below->targetList, number - 1)));
}

// The condition of IN, over the entry.
static Node *equality(const Query *query, const SubLink *link, int index) {
    return border::change(link->testexpr, [=](Node *node, Index) -> Node * {
        return IsA(node, Param) && castNode(Param, node)->paramkind == PARAM_SUBLINK
                   ? column_of(query, index, castNode(Param, node)->paramid)
                   : nullptr;
    });
}

// Returns the condition that takes the place of IN.
static Node *join_one(Query *query, const SubLink *link) {
    const int index = add_people(query, link);
    query->jointree->fromlist = lappend(query->jointree->fromlist, reference_to(index));
    return equality(query, link, index);
}

// Groups a plain sub-SELECT of NOT IN by all that it shows, which changes nothing, where it has rows of units then.
static void group_negated(const SubLink *link, const Level *level) {
    auto *below = castNode(Query, link->subselect);
    const Level own = {below, level};
    if (link->subLinkType != ANY_SUBLINK || aggregates(below) || below->distinctClause != NIL || below->havingQual != nullptr ||
        below->sortClause != NIL || below->hasWindowFuncs || !reads_rows(&own))
        return;
    for (auto *target : border::each<TargetEntry>(below->targetList)) {
        auto *grouping = make_grouping(reinterpret_cast<Node *>(target->expr));
        grouping->tleSortGroupRef = target->ressortgroupref = target->resno;
        below->groupClause = lappend(below->groupClause, grouping);
    }
    if (!is_of_people(link, level) || is_cut(below))
        below->groupClause = NIL;
}

static Node *join_all(const Level *level, Node *where) {
    check_stack_depth();
    if (where != nullptr && IsA(where, BoolExpr) && castNode(BoolExpr, where)->boolop == NOT_EXPR &&
        IsA(linitial(castNode(BoolExpr, where)->args), SubLink))
        group_negated(linitial_node(SubLink, castNode(BoolExpr, where)->args), level);
    if (where != nullptr && IsA(where, SubLink) && is_of_people(castNode(SubLink, where), level))
        return join_one(level->query, castNode(SubLink, where));
    if (where != nullptr && IsA(where, BoolExpr) && castNode(BoolExpr, where)->boolop == AND_EXPR) {
        ListCell *cell;
        foreach (cell, castNode(BoolExpr, where)->args)
            lfirst(cell) = join_all(level, static_cast<Node *>(lfirst(cell)));
    }
    return where;
}

// ---- tests ---------------------------------------------------------------------------------------------------------

namespace {
// IN that stands in expressions, and the outer join that says whether it holds.
struct Known {
    SubLink *link; // as it was
    Node *found;
};
struct Tests {
    const Level *level;
    ParseState *source;
    List *known; // Known *
};
} // namespace

// Whether an entry stands on a nullable side of an outer join.
static bool is_nullable_side(Node *tree, int varno, bool nullable) {
    if (IsA(tree, RangeTblRef))
        return nullable && castNode(RangeTblRef, tree)->rtindex == varno;
    if (IsA(tree, FromExpr)) {
        bool found = false;
        for (auto *item : border::each<Node>(castNode(FromExpr, tree)->fromlist))
            found = found || is_nullable_side(item, varno, nullable);
        return found;
    }
    const auto *join = castNode(JoinExpr, tree);
    return is_nullable_side(join->larg, varno, nullable || join->jointype == JOIN_RIGHT || join->jointype == JOIN_FULL) ||
           is_nullable_side(join->rarg, varno, nullable || join->jointype == JOIN_LEFT || join->jointype == JOIN_FULL);
}

// Whether a column of a restricted view is one that the table declares NOT NULL.
static bool is_never_null(Oid view, AttrNumber attno) {
    HeapTuple tuple = SearchSysCacheAttName(catalog::table_of_facade(view), get_attname(view, attno, false));
    if (!HeapTupleIsValid(tuple))
        return false;
    const bool never = reinterpret_cast<Form_pg_attribute>(GETSTRUCT(tuple))->attnotnull;
    ReleaseSysCache(tuple);
    return never;
}

// Whether a column of a level is NULL in no row that counts: the table has none there, or one of the conditions leaves it out.
static bool has_no_null(const Level *level, Node *column) {
    column = without_equal_relabelings(column);
    if (!IsA(column, Var) || castNode(Var, column)->varlevelsup != 0 || castNode(Var, column)->varattno <= 0 ||
        level->query->setOperations != nullptr || level->query->groupingSets != NIL)
        return false;
    for (auto *one : border::each<NullTest>(conjuncts_of(level->query->jointree->quals)))
        if (IsA(one, NullTest) && one->nulltesttype == IS_NOT_NULL && equal(one->arg, column))
            return true;
    const auto *var = castNode(Var, column);
    const RangeTblEntry *entry = rt_fetch(var->varno, level->query->rtable);
    if (entry->rtekind == RTE_JOIN)
        return has_no_null(level, static_cast<Node *>(list_nth(entry->joinaliasvars, var->varattno - 1)));
    if (Node *key = border::grouped_by(entry, var->varattno))
        return has_no_null(level, key);
    if (is_nullable_side(reinterpret_cast<Node *>(level->query->jointree), var->varno, false))
        return false;
    const Oid view = catalog::expanded_facade(entry);
    if (OidIsValid(view))
        return is_never_null(view, var->varattno);
    const Level below = query_of(entry, level);
    const TargetEntry *target = below.query == nullptr ? nullptr : get_tle_by_resno(below.query->targetList, var->varattno);
    return target != nullptr && has_no_null(&below, reinterpret_cast<Node *>(target->expr));
}

// Whether a column says whose a row is: that of nobody does not count.
static bool names_unit(const Level *level, Node *column) {
    const FacadeColumn of = find_column(level, column);
    return of.entry != nullptr && list_member_int(unit_columns_now(of.view).columns, of.attno);
}

// Whether IN is true or false for each row that counts.
static bool is_never_unknown(const SubLink *link, const Level *level) {
    const Level below = {castNode(Query, link->subselect), level};
    int number = 0;
    for (auto *test : border::each<OpExpr>(conjuncts_of(link->testexpr))) {
        Node *outer = without_equal_relabelings(static_cast<Node *>(linitial(test->args)));
        const auto *target = list_nth_node(TargetEntry, below.query->targetList, number++);
        if (!IsA(outer, Var) || castNode(Var, outer)->varlevelsup != 0 ||
            is_nullable_side(reinterpret_cast<Node *>(level->query->jointree), castNode(Var, outer)->varno, false) ||
            find_column(level, outer).entry != rt_fetch(castNode(Var, outer)->varno, level->query->rtable) ||
            !(names_unit(level, outer) || has_no_null(level, outer)) || !has_no_null(&below, reinterpret_cast<Node *>(target->expr)))
            return false;
    }
    return true;
}

static Node *join_outer(Query *query, const SubLink *link) {
    const int index = add_people(query, link);
    auto *join = makeNode(JoinExpr);
    join->jointype = JOIN_LEFT;
    join->larg = one_item(query->jointree->fromlist);
    join->rarg = reinterpret_cast<Node *>(reference_to(index));
    join->quals = equality(query, link, index);
    query->jointree->fromlist = list_make1(join);
    return null_test(column_of(query, index, 1), IS_NOT_NULL);
}

static Node *test_people(SubLink *link, bool only_true, void *context) {
    auto *tests = static_cast<Tests *>(context);
    if (!is_of_people(link, tests->level))
        return nullptr;
    const char *name = linitial_node(TargetEntry, castNode(Query, link->subselect)->targetList)->resname;
    name = quote_identifier(name == nullptr ? "PERSON" : name);
    if (!only_true && !is_never_unknown(link, tests->level))
        refuse_part("NOT IN of people, or IN as a value, where one of them may be NULL",
                    psprintf("Add WHERE %s IS NOT NULL to the sub-SELECT; or write LEFT JOIN (the sub-SELECT) s ON s.%s "
                             "= ..., and s.%s IS NULL in the place of NOT IN.",
                             name, name, name),
                    tests->source, link->location);
    for (auto *known : border::each<const Known>(tests->known))
        if (equal(known->link, link))
            return copied(known->found);
    auto *known = static_cast<Known *>(palloc(sizeof(Known)));
    *known = {copyObject(link), join_outer(tests->level->query, link)};
    tests->known = lappend(tests->known, known);
    return copied(known->found);
}

static Node *again(SubLink *link, bool, void *context) {
    for (auto *known : border::each<const Known>(static_cast<const Tests *>(context)->known))
        if (equal(known->link, link))
            return copied(known->found);
    return nullptr;
}

// Changes what is aggregated and grouped by; of a level that hands rows on all that it shows. A key may stand elsewhere as well.
static void test_targets(Tests *tests) {
    Query *query = tests->level->query;
    const bool rows = !aggregates(query);
    for (auto *target : border::each<TargetEntry>(query->targetList))
        target->expr = reinterpret_cast<Expr *>(put_links(reinterpret_cast<Node *>(target->expr), false,
                                                          rows || clause_of(query, target) != nullptr, test_people, tests));
    query->havingQual = put_links(query->havingQual, false, false, test_people, tests);
    for (auto *target : border::each<TargetEntry>(query->targetList))
        target->expr =
            reinterpret_cast<Expr *>(put_links(reinterpret_cast<Node *>(target->expr), false, true, again, tests));
}

void join_people(const Level *level, ParseState *source) {
    Query *query = level->query;
    if (query->commandType != CMD_SELECT || !query->hasSubLinks || query->setOperations != nullptr ||
        query->jointree->fromlist == NIL || (!aggregates(query) && level->outer == nullptr) || !reads_rows(level))
        return;
    border::flatten_grouping(query); // its entry is the last one of the range table
    query->jointree->quals = join_all(level, query->jointree->quals);
    Tests tests = {level, source, NIL};
    query->jointree->quals = put_links(query->jointree->quals, true, true, test_people, &tests);
    test_targets(&tests);
}

} // namespace dp::query
