#include "query/make.hpp"

namespace dp::query {

static Oid order_of(const Expr *node) {
    return lookup_type_cache(exprType(reinterpret_cast<const Node *>(node)), TYPECACHE_BTREE_OPFAMILY)->btree_opf;
}

// Under a deterministic collation only equal texts are equal.
bool keeps_equality(const RelabelType *cast) {
    const Oid order = order_of(cast->arg);
    const Oid one = cast->resultcollid, other = exprCollation(reinterpret_cast<const Node *>(cast->arg));
    return OidIsValid(order) && order == order_of(&cast->xpr) &&
           (one == other || (OidIsValid(one) && OidIsValid(other) && get_collation_isdeterministic(one) &&
                             get_collation_isdeterministic(other)));
}

Node *without_equal_relabelings(Node *node) {
    while (node != nullptr && IsA(node, RelabelType) && keeps_equality(castNode(RelabelType, node)))
        node = reinterpret_cast<Node *>(castNode(RelabelType, node)->arg);
    return node;
}

Const *text_constant(const char *text) {
    return makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1, CStringGetTextDatum(text), false, false);
}

Const *int_constant(int32 value, bool isnull) {
    return makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(value), isnull, true);
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
