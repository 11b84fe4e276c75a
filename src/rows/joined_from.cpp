#include "rows/joined_from.hpp"

#include "border/each.hpp"
#include "border/permissions.hpp"
#include "border/walk.hpp"
#include "query/from.hpp"
#include "query/exists.hpp"
#include "rows/nodes.hpp"
#include "rows/people_sources.hpp"
#include "rows/public_rows.hpp"

namespace dp::rows {

// ---- sources of sub-SELECTs ----------------------------------------------------------------------------------------

// Where Citus keeps the rows a public table is a reference table, which each node reads by itself.
static RangeTblEntry *entry_of(const Question *question, const Source &source) {
    if (source.source->rows != nullptr)
        return copyObject(const_cast<RangeTblEntry *>(source.source->rows));
    if (source.people != nullptr)
        return subquery_entry(select_people(source.people), "people");
    return source.source->is_public && !question->by_points ? public_entry(question, source)
                                                            : relation_entry(source.relation, true);
}

// Columns of its sources, listed by varno, become those of a sub-SELECT, all others of the query around it.
static Node *as_inner(Node *node, void *context) {
    if (node == nullptr)
        return nullptr;
    if (!IsA(node, Var))
        return border::mutate_expression(node, as_inner, context);
    auto *var = copyObject(castNode(Var, node));
    var->varlevelsup = 1;
    ListCell *cell;
    foreach (cell, static_cast<const List *>(context))
        if (lfirst_int(cell) == static_cast<int>(castNode(Var, node)->varno)) {
            var->varno = var->varnosyn = foreach_current_index(cell) + 1;
            var->varlevelsup = 0;
        }
    return reinterpret_cast<Node *>(var);
}

static Query *select_from_tested(const Question *question, const query::SemiJoin *semi, Node *condition,
                                 List **varnos) {
    auto *query = makeNode(Query);
    query->commandType = CMD_SELECT;
    query->canSetTag = true;
    List *items = NIL;
    *varnos = NIL;
    for (int i = 0; i < semi->nsources; i++) {
        const Source &source = question->sources[semi->source + i];
        RangeTblEntry *entry = entry_of(question, source);
        query->rtable = lappend(query->rtable, entry);
        if (entry->rtekind == RTE_RELATION)
            border::set_permission(query, entry, 0);
        auto *ref = makeNode(RangeTblRef);
        ref->rtindex = i + 1;
        items = lappend(items, ref);
        *varnos = lappend_int(*varnos, source.source->varno);
    }
    query->jointree = makeFromExpr(items, as_inner(condition, *varnos));
    return query;
}

static Node *over_tested(Node *expression, List *varnos) {
    return as_inner(expression, varnos);
}

// [NOT] EXISTS (SELECT FROM sources WHERE condition) [OR unless]
static Node *semi_join(const Question *question, const query::SemiJoin *semi) {
    List *varnos = NIL;
    Query *query = select_from_tested(question, semi, semi->condition, &varnos);
    add_target(query, reinterpret_cast<Node *>(
                          makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(1), false, true)));
    auto *link = makeNode(SubLink);
    link->subLinkType = EXISTS_SUBLINK;
    link->subselect = reinterpret_cast<Node *>(query);
    link->location = -1;
    Node *test = reinterpret_cast<Node *>(link);
    if (semi->negated)
        test = reinterpret_cast<Node *>(makeBoolExpr(NOT_EXPR, list_make1(test), -1));
    return semi->unless == nullptr
               ? test
               : reinterpret_cast<Node *>(makeBoolExpr(OR_EXPR, list_make2(another(semi->unless), test), -1));
}

// True: some of them are conjuncts.
static bool has_conjuncts(const Question *question) {
    for (auto *one : border::each<const query::SemiJoin>(question->semi_joins))
        if (one->test == 0)
            return true;
    return false;
}

static Node *with_semi_joins(const Question *question, Node *where) {
    for (auto *one : border::each<const query::SemiJoin>(question->semi_joins))
        if (one->test == 0)
            where = make_and_qual(where, semi_join(question, one));
    return where;
}

// ---- EXISTS as a column ----------------------------------------------------------------------------------------------

// SELECT true AS found, keys FROM sources WHERE .. GROUP BY keys. What links it, over its columns, into `on`.
static Query *select_found(const Question *question, const query::SemiJoin *semi, List **on) {
    Bitmapset *inner = query::varnos_of_semi_join(question->leaf, semi);
    query::TestParts parts;
    if (!query::split_test(static_cast<Node *>(another(semi->condition)), inner, &parts))
        elog(ERROR, "a test of a question is no comparison");
    List *varnos = NIL;
    Query *query =
        select_from_tested(question, semi, reinterpret_cast<Node *>(make_ands_explicit(parts.inner)), &varnos);
    add_target(query, makeBoolConst(true, false));
    *on = parts.outer;
    for (auto *link : border::each<OpExpr>(parts.links)) {
        ListCell *side = list_nth_cell(link->args, query::inner_argument(link, inner));
        auto *key = static_cast<Node *>(lfirst(side));
        group_by(query, list_make1(over_tested(key, varnos)), true);
        lfirst(side) = makeVar(semi->test, static_cast<AttrNumber>(list_length(query->targetList)), exprType(key),
                               exprTypmod(key), exprCollation(key), 0);
        *on = lappend(*on, link);
    }
    return query;
}

// Makes one item of those in FROM that a condition is about, and takes them out.
static Node *take_items(List **items, Bitmapset *varnos) {
    List *taken = NIL, *kept = NIL;
    ListCell *cell;
    foreach (cell, *items) {
        List *of_item = NIL, *joins = NIL;
        query::find_sources(static_cast<Node *>(lfirst(cell)), &of_item, &joins);
        bool is_meant = false;
        ListCell *varno;
        foreach (varno, of_item)
            is_meant = is_meant || bms_is_member(lfirst_int(varno), varnos);
        if (is_meant)
            taken = lappend(taken, lfirst(cell));
        else
            kept = lappend(kept, lfirst(cell));
    }
    *items = kept;
    return query::one_item(taken);
}

static void put_entry(Query *query, int varno, RangeTblEntry *entry) {
    lfirst(list_nth_cell(query->rtable, varno - 1)) = entry;
}

static void join_test(Query *query, const Question *question, const query::SemiJoin *semi) {
    List *on = NIL;
    Query *found = select_found(question, semi, &on);
    auto *join = makeNode(JoinExpr);
    join->jointype = JOIN_LEFT;
    join->quals = reinterpret_cast<Node *>(make_ands_explicit(on));
    join->rtindex = question->sources[semi->source].source->varno;
    join->larg = take_items(&query->jointree->fromlist, bms_del_member(pull_varnos_of(join->quals), semi->test));
    auto *ref = makeNode(RangeTblRef);
    ref->rtindex = semi->test;
    join->rarg = reinterpret_cast<Node *>(ref);
    query->jointree->fromlist = lappend(query->jointree->fromlist, join);
    auto *entry = makeNode(RangeTblEntry);
    entry->jointype = JOIN_LEFT;
    put_entry(query, join->rtindex, join_entry(entry));
    put_entry(query, semi->test, subquery_entry(found, "tested"));
}

static void join_tests(Query *query, const Question *question) {
    for (auto *one : border::each<const query::SemiJoin>(question->semi_joins))
        if (one->test != 0)
            join_test(query, question, one);
}

// ---- all of FROM ---------------------------------------------------------------------------------------------------

// Stands for a source that only sub-SELECTs read.
static RangeTblEntry *no_entry() {
    auto *entry = makeNode(RangeTblEntry);
    entry->rtekind = RTE_RESULT;
    entry->eref = makeAlias("tested", NIL);
    return entry;
}

Query *select_from_joined(const Question *question, Node *where) {
    auto *query = makeNode(Query);
    query->commandType = CMD_SELECT;
    query->canSetTag = true;
    query->hasAggs = true;
    ListCell *cell;
    foreach (cell, question->leaf->query->rtable) {
        RangeTblEntry *entry = join_entry(lfirst_node(RangeTblEntry, cell));
        for (int i = 0; i < question->nsources; i++)
            if (question->sources[i].source->varno == foreach_current_index(cell) + 1)
                entry = question->sources[i].source->tested ? no_entry() : entry_of(question, question->sources[i]);
        query->rtable = lappend(query->rtable, entry);
        if (entry->rtekind == RTE_RELATION)
            border::set_permission(query, entry,
                                   0); // the facades' were checked; the statement runs as the tables' owner
    }
    query->hasSubLinks = has_conjuncts(question);
    query->jointree = makeFromExpr(static_cast<List *>(copyObject(question->from)), with_semi_joins(question, where));
    join_tests(query, question);
    return query;
}

} // namespace dp::rows
