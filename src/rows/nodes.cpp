#include "rows/nodes.hpp"

#include "border/each.hpp"
#include "border/permissions.hpp"
#include "border/scope.hpp"

namespace dp::rows {

void add_entry(Query *query, RangeTblEntry *entry) {
    query->rtable = lappend(query->rtable, entry);
    border::set_permission(query, entry, 0);
}

void add_to_from(Query *query, RangeTblEntry *entry) {
    add_entry(query, entry);
    query->jointree->fromlist = lappend(query->jointree->fromlist, entry_ref(list_length(query->rtable)));
}

RangeTblEntry *no_entry(const char *name) {
    auto *entry = makeNode(RangeTblEntry);
    entry->rtekind = RTE_RESULT;
    entry->eref = makeAlias(name, NIL);
    return entry;
}

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

Node *make_call(Oid function, Oid result_type, List *arguments, Oid collation, Oid of_input) {
    return as_node(makeFuncExpr(function, result_type, arguments, collation, of_input, COERCE_EXPLICIT_CALL));
}

Oid internal_function(const char *name, std::initializer_list<Oid> types) {
    return border::internal_function(name, static_cast<int>(types.size()), types.begin());
}

Node *relabelled(Node *node, Oid type) {
    return exprType(node) == type ? node
                                  : as_node(makeRelabelType(reinterpret_cast<Expr *>(node), type, -1,
                                                            exprCollation(node), COERCE_IMPLICIT_CAST));
}

Const *make_bytea(const bytea *bytes) {
    return makeConst(BYTEAOID, -1, InvalidOid, -1, PointerGetDatum(bytes), false, false);
}

Node *truth_test(Node *node, BoolTestType type) {
    auto *test = makeNode(BooleanTest);
    test->arg = reinterpret_cast<Expr *>(node);
    test->booltesttype = type;
    test->location = -1;
    return as_node(test);
}

Node *value_where(Node *condition, Node *value, Node *otherwise) {
    auto *when = makeNode(CaseWhen);
    when->expr = reinterpret_cast<Expr *>(condition);
    when->result = reinterpret_cast<Expr *>(value);
    when->location = -1;
    auto *choice = makeNode(CaseExpr);
    choice->casetype = exprType(value);
    choice->casecollid = exprCollation(value);
    choice->args = list_make1(when);
    if (otherwise == nullptr)
        otherwise = as_node(makeNullConst(choice->casetype, exprTypmod(value), choice->casecollid));
    choice->defresult = reinterpret_cast<Expr *>(otherwise);
    choice->location = -1;
    return as_node(choice);
}

Node *extreme_of(Oid type, MinMaxOp op, Node *a, Node *b) {
    auto *extreme = makeNode(MinMaxExpr);
    extreme->minmaxtype = type;
    extreme->op = op;
    extreme->args = list_make2(a, b);
    extreme->location = -1;
    return as_node(extreme);
}

Node *make_exact_sum(Node *argument, Node *filter) {
    auto *zero = makeConst(NUMERICOID, -1, InvalidOid, -1, NumericGetDatum(int64_to_numeric(0)), false, false);
    return coalesced(as_node(make_aggregate(F_SUM_INT8, NUMERICOID, list_make1(argument), filter)), zero);
}

Query *make_aggregation(RangeTblEntry *entry, Node *where) {
    Query *query = make_query();
    query->hasAggs = true;
    add_to_from(query, entry);
    query->jointree->quals = where;
    return query;
}

void add_target(Query *query, Node *expression) {
    int number = list_length(query->targetList) + 1;
    query->targetList = lappend(query->targetList, makeTargetEntry(reinterpret_cast<Expr *>(expression), number,
                                                                   psprintf("c%d", number), false));
}

void group_by_last(Query *query, SortGroupClause *clause) {
    auto *target = llast_node(TargetEntry, query->targetList);
    clause->tleSortGroupRef = target->ressortgroupref = target->resno;
    query->groupClause = lappend(query->groupClause, clause);
}

void group_by(Query *query, const List *values, bool shown) {
    for (auto *value : border::each<Node>(values)) {
        add_target(query, another(value));
        llast_node(TargetEntry, query->targetList)->resjunk = !shown;
        auto *clause = makeNode(SortGroupClause);
        get_sort_group_operators(exprType(value), true, true, false, &clause->sortop, &clause->eqop, nullptr,
                                 &clause->hashable);
        group_by_last(query, clause);
    }
}

} // namespace dp::rows
