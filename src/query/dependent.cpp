#include "query/dependent.hpp"

#include "border/each.hpp"
#include "border/walk.hpp"
#include "query/distinct.hpp"
#include "query/limits.hpp"

namespace dp::query {

namespace {
struct Dependent {
    const Query *query;
    List *keys;
    Distinct columns; // Var *
};
} // namespace

// The parser has let pass what a key of the relation determines, and what is a part of an expression that is grouped by.
static bool find_dependent(Node *node, void *context) {
    auto *dependent = static_cast<Dependent *>(context);
    if (node == nullptr || IsA(node, Aggref) || IsA(node, GroupingFunc) || IsA(node, Query) ||
        list_member(dependent->keys, node))
        return false;
    if (IsA(node, Var)) {
        auto *column = castNode(Var, node);
        if (column->varlevelsup == 0 && rt_fetch(column->varno, dependent->query->rtable)->rtekind == RTE_RELATION)
            dependent->columns.add(node);
        return false;
    }
    return border::walk_expression(node, find_dependent, context);
}

// The target that shows the column; else one that nobody sees; null: there may be none beside DISTINCT.
static TargetEntry *target_of(Query *query, Node *column) {
    for (auto *item : border::each<TargetEntry>(query->targetList))
        if (equal(item->expr, column))
            return item;
    if (query->distinctClause != NIL)
        return nullptr;
    auto *target = makeTargetEntry(reinterpret_cast<Expr *>(copyObject(column)),
                                   static_cast<AttrNumber>(list_length(query->targetList) + 1), nullptr, true);
    query->targetList = lappend(query->targetList, target);
    return target;
}

static void group_by(Query *query, Node *column) {
    auto *clause = makeNode(SortGroupClause);
    get_sort_group_operators(exprType(column), false, false, false, &clause->sortop, &clause->eqop, nullptr,
                             &clause->hashable);
    TargetEntry *target = OidIsValid(clause->eqop) ? target_of(query, column) : nullptr;
    if (target == nullptr)
        return;
    clause->tleSortGroupRef = assignSortGroupRef(target, query->targetList);
    query->groupClause = lappend(query->groupClause, clause);
}

void group_dependent(Query *query) {
    if (query->constraintDeps == NIL || query->groupingSets != NIL)
        return;
    Dependent dependent = {query, NIL, Distinct::none()};
    for (auto *clause : border::each<SortGroupClause>(query->groupClause))
        dependent.keys = lappend(dependent.keys, get_sortgroupclause_expr(clause, query->targetList));
    find_dependent(reinterpret_cast<Node *>(query->targetList), &dependent);
    find_dependent(query->havingQual, &dependent);
    check_outputs(list_length(query->groupClause) + dependent.columns.count()); // before each is looked for in the list
    for (auto *part : border::each<Node>(dependent.columns.nodes))
        group_by(query, part);
}

} // namespace dp::query
