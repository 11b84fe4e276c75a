#include "rows/nodes.hpp"

#include "border/each.hpp"
#include "border/permissions.hpp"

namespace dp::rows {

RangeTblEntry *relation_entry(Oid relation, bool with_parts) {
    Relation table = table_open(relation, NoLock);
    auto *entry = makeNode(RangeTblEntry);
    entry->rtekind = RTE_RELATION;
    entry->relid = relation;
    entry->relkind = table->rd_rel->relkind;
    entry->rellockmode = AccessShareLock;
    entry->inh = with_parts;
    entry->inFromCl = true;
    List *names = NIL;
    for (int i = 0; i < RelationGetDescr(table)->natts; i++)
        names = lappend(names, makeString(pstrdup(NameStr(TupleDescAttr(RelationGetDescr(table), i)->attname))));
    entry->eref = makeAlias(RelationGetRelationName(table), names);
    table_close(table, NoLock);
    return entry;
}

RangeTblEntry *join_entry(const RangeTblEntry *entry) {
    auto *join = makeNode(RangeTblEntry);
    join->rtekind = RTE_JOIN;
    join->jointype = entry->jointype == JOIN_RIGHT ? JOIN_LEFT : entry->jointype; // its sides were exchanged
    join->eref = makeAlias("joined", NIL);
    join->inFromCl = true;
    return join;
}

RangeTblEntry *subquery_entry(Query *query, const char *name) {
    auto *entry = makeNode(RangeTblEntry);
    entry->rtekind = RTE_SUBQUERY;
    entry->subquery = query;
    entry->inFromCl = true;
    List *names = NIL;
    for (auto *one : border::each<TargetEntry>(query->targetList))
        names = lappend(names, makeString(pstrdup(one->resname)));
    entry->alias = makeAlias(name, NIL);
    entry->eref = makeAlias(name, names);
    return entry;
}

Aggref *make_aggregate(Oid function, Oid result_type, List *arguments, Node *filter) {
    auto *call = makeNode(Aggref);
    call->aggfnoid = function;
    call->aggtype = result_type;
    call->aggtranstype = InvalidOid; // the planner fills it in
    call->aggstar = arguments == NIL;
    call->aggkind = AGGKIND_NORMAL;
    call->aggsplit = AGGSPLIT_SIMPLE;
    call->aggno = call->aggtransno = -1;
    call->location = -1;
    call->aggfilter = reinterpret_cast<Expr *>(filter);
    for (auto *argument : border::each<Node>(arguments)) {
        call->aggargtypes = lappend_oid(call->aggargtypes, exprType(argument));
        call->args = lappend(call->args, makeTargetEntry(reinterpret_cast<Expr *>(argument),
                                                         list_length(call->args) + 1, nullptr, false));
    }
    return call;
}

Node *null_test(Node *node, NullTestType type) {
    auto *test = makeNode(NullTest);
    test->arg = reinterpret_cast<Expr *>(node);
    test->nulltesttype = type;
    test->location = -1;
    return reinterpret_cast<Node *>(test);
}

Node *another(Node *node) {
    return static_cast<Node *>(copyObject(node));
}

Node *value_where(Node *condition, Node *value) {
    auto *when = makeNode(CaseWhen);
    when->expr = reinterpret_cast<Expr *>(condition);
    when->result = reinterpret_cast<Expr *>(value);
    when->location = -1;
    auto *choice = makeNode(CaseExpr);
    choice->casetype = exprType(value);
    choice->casecollid = exprCollation(value);
    choice->args = list_make1(when);
    choice->defresult =
        reinterpret_cast<Expr *>(makeNullConst(choice->casetype, exprTypmod(value), choice->casecollid));
    choice->location = -1;
    return reinterpret_cast<Node *>(choice);
}

Node *make_exact_sum(Node *argument, Node *filter) {
    auto *zero = makeConst(NUMERICOID, -1, InvalidOid, -1, NumericGetDatum(int64_to_numeric(0)), false, false);
    auto *choice = makeNode(CoalesceExpr);
    choice->coalescetype = NUMERICOID;
    choice->args = list_make2(make_aggregate(F_SUM_INT8, NUMERICOID, list_make1(argument), filter), zero);
    choice->location = -1;
    return reinterpret_cast<Node *>(choice);
}

Query *make_aggregation(RangeTblEntry *entry, Node *where) {
    auto *query = makeNode(Query);
    query->commandType = CMD_SELECT;
    query->canSetTag = true;
    query->hasAggs = true;
    query->rtable = list_make1(entry);
    border::set_permission(query, entry, 0); // the facade's was checked; the statement runs as the table's owner
    auto *ref = makeNode(RangeTblRef);
    ref->rtindex = 1;
    query->jointree = makeFromExpr(list_make1(ref), where);
    return query;
}

void add_target(Query *query, Node *expression) {
    int number = list_length(query->targetList) + 1;
    query->targetList = lappend(query->targetList, makeTargetEntry(reinterpret_cast<Expr *>(expression), number,
                                                                   psprintf("c%d", number), false));
}

void group_by(Query *query, const List *values, bool shown) {
    ListCell *cell;
    foreach (cell, values) {
        add_target(query, another(static_cast<Node *>(lfirst(cell))));
        auto *target = llast_node(TargetEntry, query->targetList);
        target->resjunk = !shown;
        auto *clause = makeNode(SortGroupClause);
        get_sort_group_operators(exprType(static_cast<Node *>(lfirst(cell))), true, true, false, &clause->sortop,
                                 &clause->eqop, nullptr, &clause->hashable);
        clause->tleSortGroupRef = target->ressortgroupref = target->resno;
        query->groupClause = lappend(query->groupClause, clause);
    }
}

} // namespace dp::rows
