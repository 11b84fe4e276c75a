#include "query/make.hpp"

#include "border/each.hpp"

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

static Node *union_between(const Query *first, int begin, int end) {
    if (end - begin == 1)
        return reinterpret_cast<Node *>(reference_to(begin + 1));
    const int middle = begin + (end - begin) / 2; // a balanced tree: there may be thousands
    auto *both = makeNode(SetOperationStmt);
    both->op = SETOP_UNION;
    both->all = true;
    both->larg = union_between(first, begin, middle);
    both->rarg = union_between(first, middle, end);
    for (auto *target : border::each<TargetEntry>(first->targetList)) {
        auto *column = reinterpret_cast<Node *>(target->expr);
        if (target->resjunk)
            continue;
        both->colTypes = lappend_oid(both->colTypes, exprType(column));
        both->colTypmods = lappend_int(both->colTypmods, exprTypmod(column));
        both->colCollations = lappend_oid(both->colCollations, exprCollation(column));
    }
    return reinterpret_cast<Node *>(both);
}

Node *union_tree(const Query *first, int n) {
    return union_between(first, 0, n);
}

Query *union_all(const List *queries, const char *name) {
    auto *first = linitial_node(Query, queries);
    Query *all = make_select();
    for (auto *one : border::each<Query>(queries))
        all->rtable =
            lappend(all->rtable, subquery_entry(one, psprintf("%s %d", name, list_length(all->rtable) + 1), false));
    all->setOperations = union_tree(first, list_length(queries));
    for (auto *target : border::each<TargetEntry>(first->targetList))
        if (!target->resjunk)
            add_target(all, reinterpret_cast<Node *>(column_showing(1, target->resno, reinterpret_cast<Node *>(target->expr))),
                       target->resname);
    return all;
}

} // namespace dp::query
