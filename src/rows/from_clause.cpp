#include "rows/from_clause.hpp"

#include "border/each.hpp"
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
    return as_node(var);
}

static Query *select_from_tested(const Question *question, const query::SemiJoin *semi, Node *condition,
                                 List **varnos) {
    Query *query = make_query();
    *varnos = NIL;
    for (int i = 0; i < semi->nsources; i++) {
        const Source &source = question->sources[semi->source + i];
        add_to_from(query, entry_of(question, source));
        *varnos = lappend_int(*varnos, source.source->varno);
    }
    query->jointree->quals = as_inner(condition, *varnos);
    return query;
}

// [NOT] EXISTS (SELECT FROM sources WHERE condition) [OR unless]
static Node *semi_join(const Question *question, const query::SemiJoin *semi) {
    List *varnos = NIL;
    Query *query = select_from_tested(question, semi, semi->condition, &varnos);
    add_target(query, as_node(query::int_constant(1)));
    auto *link = makeNode(SubLink);
    link->subLinkType = EXISTS_SUBLINK;
    link->subselect = as_node(query);
    link->location = -1;
    Node *test = as_node(link);
    if (semi->negated)
        test = as_node(makeBoolExpr(NOT_EXPR, list_make1(test), -1));
    return semi->unless == nullptr ? test
                                   : as_node(makeBoolExpr(OR_EXPR, list_make2(another(semi->unless), test), -1));
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
        select_from_tested(question, semi, as_node(make_ands_explicit(parts.inner)), &varnos);
    add_target(query, makeBoolConst(true, false));
    *on = parts.outer;
    for (auto *link : border::each<OpExpr>(parts.links)) {
        ListCell *side = list_nth_cell(link->args, query::inner_argument(link, inner));
        auto *key = static_cast<Node *>(lfirst(side));
        group_by(query, list_make1(as_inner(key, varnos)), true);
        lfirst(side) = column_like(key, semi->test, list_length(query->targetList));
        *on = lappend(*on, link);
    }
    return query;
}

// Makes one item of those in FROM that a condition is about, and takes them out.
static Node *take_items(List **items, Bitmapset *varnos) {
    List *taken = NIL;
    for (auto *item : border::each<Node>(*items)) {
        List *of_item = NIL, *joins = NIL;
        query::find_sources(item, &of_item, &joins);
        bool is_meant = false;
        ListCell *varno;
        foreach (varno, of_item)
            is_meant = is_meant || bms_is_member(lfirst_int(varno), varnos);
        if (is_meant)
            taken = lappend(taken, item);
    }
    *items = list_difference_ptr(*items, taken);
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
    join->quals = as_node(make_ands_explicit(on));
    join->rtindex = question->sources[semi->source].source->varno;
    join->larg = take_items(&query->jointree->fromlist, bms_del_member(pull_varnos_of(join->quals), semi->test));
    join->rarg = entry_ref(semi->test);
    query->jointree->fromlist = lappend(query->jointree->fromlist, join);
    auto *entry = makeNode(RangeTblEntry);
    entry->jointype = JOIN_LEFT;
    put_entry(query, join->rtindex, join_entry(entry));
    put_entry(query, semi->test, subquery_entry(found, "tested"));
}

// ---- all of FROM ---------------------------------------------------------------------------------------------------

// SELECT FROM sources WHERE ..., with aggregates, at the places that the leaf's entries have: the tables behind its views, copies of
// public ones, and its joins. A source that only sub-SELECTs read has no entry.
static Query *select_from_joined(const Question *question, Node *where) {
    Query *query = make_query();
    query->hasAggs = true;
    for (auto *asked : border::each<RangeTblEntry>(question->leaf->query->rtable)) {
        const Source *source = source_at(question, list_length(query->rtable) + 1);
        add_entry(query, source == nullptr          ? join_entry(asked)
                         : source->source->tested ? no_entry("tested")
                                                  : entry_of(question, *source));
    }
    query->jointree = makeFromExpr(static_cast<List *>(copyObject(question->from)), where);
    for (auto *one : border::each<const query::SemiJoin>(question->semi_joins)) {
        if (one->test != 0) {
            join_test(query, question, one);
            continue;
        }
        query->hasSubLinks = true;
        query->jointree->quals = make_and_qual(query->jointree->quals, semi_join(question, one));
    }
    return query;
}

void add_ancestors(Query *query, const List *ancestors) {
    for (Oid relation : border::each_oid(ancestors))
        add_to_from(query, relation_entry(relation, true));
}

Query *select_from_sources(const Question *question, Node *where) {
    Node *all = make_and_qual(another(where), another(question->in_touched));
    if (!is_clipped(question))
        return make_aggregation(table_entry(question), all);
    all = make_and_qual(all, static_cast<Node *>(copyObject(question->units->links)));
    Query *query =
        is_joined(question) ? select_from_joined(question, all) : make_aggregation(table_entry(question), all);
    add_ancestors(query, question->units->ancestors);
    return query;
}

} // namespace dp::rows
