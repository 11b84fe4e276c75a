#include "query/dependent.hpp"

#include "border/each.hpp"
#include "border/visit.hpp"
#include "query/distinct.hpp"
#include "query/limits.hpp"
#include "query/make.hpp"

namespace dp::query {

// The parser has let pass what a key of the relation determines, and what is a part of an expression that is grouped by.
static void find_dependent(const Query *query, Node *expression, const List *keys, Distinct *columns) {
    border::visit(expression, [=](Node *node, Index) {
        if (IsA(node, Aggref) || IsA(node, GroupingFunc) || IsA(node, Query) || list_member(keys, node))
            return border::Step::past;
        auto *column = reinterpret_cast<Var *>(node);
        if (IsA(node, Var) && column->varlevelsup == 0 &&
            rt_fetch(column->varno, query->rtable)->rtekind == RTE_RELATION)
            columns->add(node);
        return border::Step::in;
    });
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
    SortGroupClause *clause = make_grouping(column);
    TargetEntry *target = OidIsValid(clause->eqop) ? target_of(query, column) : nullptr;
    if (target == nullptr)
        return;
    clause->tleSortGroupRef = assignSortGroupRef(target, query->targetList);
    query->groupClause = lappend(query->groupClause, clause);
}

void group_dependent(Query *query) {
    if (query->constraintDeps == NIL || query->groupingSets != NIL)
        return;
    Distinct columns = Distinct::none();
    List *keys = NIL;
    for (auto *clause : border::each<SortGroupClause>(query->groupClause))
        keys = lappend(keys, get_sortgroupclause_expr(clause, query->targetList));
    find_dependent(query, reinterpret_cast<Node *>(query->targetList), keys, &columns);
    find_dependent(query, query->havingQual, keys, &columns);
    check_outputs(list_length(query->groupClause) + columns.count()); // before each is looked for in the list
    for (auto *part : border::each<Node>(columns.nodes))
        group_by(query, part);
}

} // namespace dp::query
