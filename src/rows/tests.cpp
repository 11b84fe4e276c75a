#include "rows/tests.hpp"

#include "query/constants.hpp"
#include "query/from.hpp"
#include "query/semi.hpp"
#include "rows/nodes.hpp"
#include "rows/sources.hpp"
#include "rows/texts.hpp"

namespace dp::rows {

// ---- checks --------------------------------------------------------------------------------------------------------

static bool is_of_source(const Source &source, const Var *column) {
    return source.source->varno == static_cast<int>(column->varno);
}

// A row without it is nobody's, and in no answer.
static bool names_unit(const Question *question, Node *node) {
    while (IsA(node, RelabelType))
        node = reinterpret_cast<Node *>(castNode(RelabelType, node)->arg);
    for (int i = 0; IsA(node, Var) && i < question->nsources; i++) {
        const Source &source = question->sources[i];
        const catalog::UnitPath *path = source.settings == nullptr ? nullptr : source.settings->unit;
        if (path == nullptr || source.source->nullable || !is_of_source(source, castNode(Var, node)))
            continue;
        for (int j = 0; j < path->ncolumns; j++)
            if (path->columns[j] == castNode(Var, node)->varattno)
                return true;
    }
    return false;
}

static void check_present(ColumnRanges *columns, const Question *question, Node *side, ParamListInfo parameters) {
    Node *node = map_to_tables(query::fold_constants(another(side), parameters), question);
    if (names_unit(question, node) || !range_over_columns(node, columns).nullable)
        return;
    const char *name = text_over_views(question, side);
    ereport(
        ERROR,
        (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
         errmsg("IN (SELECT ...) that may be NULL is not supported outside of WHERE in a query on a restricted view"),
         errdetail("It is NULL, rather than false, where %s is.", name),
         errhint("Write EXISTS (SELECT FROM ... WHERE inner.column = outer.column), which is true or false. IN may be "
                 "NULL in FILTER and in the condition of a CASE, but not below NOT.")));
}

void check_tests(ColumnRanges *columns, const Question *question, ParamListInfo parameters) {
    ListCell *cell, *side;
    foreach (cell, question->semi_joins) {
        auto *semi = static_cast<const query::SemiJoin *>(lfirst(cell));
        query::TestParts parts;
        if (semi->test == 0)
            continue;
        if (!query::split_test(semi->condition, query::varnos_of_semi_join(question->leaf, semi), &parts))
            ereport(ERROR,
                    (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                     errmsg("a sub-SELECT outside of WHERE whose constants leave no equality with what is outside of "
                            "it is not supported in a query on a restricted view"),
                     errhint("Ask for what it would say by itself: whether it has a row is the same for all.")));
        foreach (side, semi->present)
            check_present(columns, question, static_cast<Node *>(lfirst(side)), parameters);
    }
}

// ---- the statement -------------------------------------------------------------------------------------------------

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
    ListCell *cell;
    foreach (cell, parts.links) {
        auto *link = lfirst_node(OpExpr, cell);
        ListCell *side = list_nth_cell(link->args, query::inner_argument(link, inner));
        auto *key = static_cast<Node *>(lfirst(side));
        group_by(query, list_make1(over_tested(key, varnos)), true);
        lfirst(side) = makeVar(semi->test, static_cast<AttrNumber>(list_length(query->targetList)), exprType(key),
                               exprTypmod(key), exprCollation(key), 0);
        *on = lappend(*on, link);
    }
    return query;
}

// Those items of FROM that a condition is about become one; the others stay.
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

void join_tests(Query *query, const Question *question) {
    ListCell *cell;
    foreach (cell, question->semi_joins)
        if (static_cast<const query::SemiJoin *>(lfirst(cell))->test != 0)
            join_test(query, question, static_cast<const query::SemiJoin *>(lfirst(cell)));
}

} // namespace dp::rows
