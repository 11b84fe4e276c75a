#include "query/make.hpp"

namespace dp::query {

Const *text_constant(const char *text) {
    return makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1, CStringGetTextDatum(text), false, false);
}

Const *int_constant(int32 value, bool isnull) {
    return makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(value), isnull, true);
}

Node *make_parameter(int number, Oid type, int32 typmod, Oid collation, int location) {
    auto *parameter = makeNode(Param);
    parameter->paramkind = PARAM_EXTERN;
    parameter->paramid = number;
    parameter->paramtype = type;
    parameter->paramtypmod = typmod;
    parameter->paramcollid = get_typcollation(type);
    parameter->location = location;
    auto *node = reinterpret_cast<Node *>(parameter);
    return collation == parameter->paramcollid ? node : collated(node, collation, location);
}

Node *collated(Node *node, Oid collation, int location) {
    auto *collate = makeNode(CollateExpr);
    collate->arg = reinterpret_cast<Expr *>(node);
    collate->collOid = collation;
    collate->location = location;
    return reinterpret_cast<Node *>(collate);
}

Node *cast_to_text(Node *node) {
    auto *cast = makeNode(CoerceViaIO);
    cast->arg = reinterpret_cast<Expr *>(node);
    cast->resulttype = TEXTOID;
    cast->resultcollid = DEFAULT_COLLATION_OID;
    cast->coerceformat = COERCE_EXPLICIT_CAST;
    cast->location = exprLocation(node);
    return reinterpret_cast<Node *>(cast);
}

Node *coalesced(Node *value, Const *otherwise, Oid collation, int location) {
    auto *choice = makeNode(CoalesceExpr);
    choice->coalescetype = otherwise->consttype;
    choice->coalescecollid = collation;
    choice->args = list_make2(value, otherwise);
    choice->location = location;
    return reinterpret_cast<Node *>(choice);
}

Node *null_test(Node *node, NullTestType type) {
    auto *test = makeNode(NullTest);
    test->arg = reinterpret_cast<Expr *>(node);
    test->nulltesttype = type;
    test->location = -1;
    return reinterpret_cast<Node *>(test);
}

Var *column_showing(int varno, int number, const Node *expression, Index level) {
    return makeVar(varno, static_cast<AttrNumber>(number), exprType(expression), exprTypmod(expression),
                   exprCollation(expression), level);
}

int place_in(List **nodes, Node *node) {
    *nodes = list_append_unique(*nodes, node);
    int place = 1;
    while (!equal(list_nth(*nodes, place - 1), node))
        place++;
    return place;
}

SortGroupClause *make_grouping(const Node *expression) {
    auto *clause = makeNode(SortGroupClause);
    get_sort_group_operators(exprType(expression), false, false, false, &clause->sortop, &clause->eqop, nullptr,
                             &clause->hashable);
    return clause;
}

Query *make_select() {
    auto *query = makeNode(Query);
    query->commandType = CMD_SELECT;
    query->canSetTag = true;
    query->jointree = makeFromExpr(NIL, nullptr);
    return query;
}

RangeTblRef *reference_to(int varno) {
    auto *reference = makeNode(RangeTblRef);
    reference->rtindex = varno;
    return reference;
}

TargetEntry *add_target(Query *query, Node *expression, const char *name) {
    const int number = list_length(query->targetList) + 1;
    auto *target = makeTargetEntry(reinterpret_cast<Expr *>(expression), static_cast<AttrNumber>(number),
                                   name == nullptr ? nullptr : pstrdup(name), false);
    query->targetList = lappend(query->targetList, target);
    return target;
}

void add_item(Query *query, RangeTblEntry *entry) {
    query->rtable = lappend(query->rtable, entry);
    query->jointree->fromlist = lappend(query->jointree->fromlist, reference_to(list_length(query->rtable)));
}

RangeTblEntry *subquery_entry(Query *query, const char *name, bool in_from) {
    return addRangeTableEntryForSubquery(make_parsestate(nullptr), query, makeAlias(name, NIL), false, in_from)->p_rte;
}

} // namespace dp::query
