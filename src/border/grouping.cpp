#include "border/grouping.hpp"

#include "border/walk.hpp"

namespace dp::border {

#if PG_VERSION_NUM >= 180000

// The planner asks for the whole tree no more than this does; the entry is the last one, as grouping is analysed last.
void flatten_grouping(Query *level) {
    if (!level->hasGroupRTE)
        return;
    if (llast_node(RangeTblEntry, level->rtable)->rtekind != RTE_GROUP)
        elog(ERROR, "the entry of the grouping is not the last one of its range table");
    level->targetList =
        reinterpret_cast<List *>(flatten_group_exprs(nullptr, level, reinterpret_cast<Node *>(level->targetList)));
    level->havingQual = flatten_group_exprs(nullptr, level, level->havingQual);
    level->rtable = list_truncate(level->rtable, list_length(level->rtable) - 1);
    level->hasGroupRTE = false;
}

static bool flatten_walker(Node *node, void *context) {
    if (node == nullptr)
        return false;
    if (!IsA(node, Query))
        return walk_expression(node, flatten_walker, context);
    flatten_grouping(castNode(Query, node));
    return walk_query(castNode(Query, node), flatten_walker, context, 0);
}

void flatten_all_grouping(Query *query) {
    flatten_walker(reinterpret_cast<Node *>(query), nullptr);
}

Node *grouped_by(const RangeTblEntry *entry, AttrNumber attno) {
    return entry->rtekind == RTE_GROUP ? static_cast<Node *>(list_nth(entry->groupexprs, attno - 1)) : nullptr;
}

#else

Node *grouped_by(const RangeTblEntry *, AttrNumber) {
    return nullptr;
}
void flatten_grouping(Query *) {}
void flatten_all_grouping(Query *) {}

#endif

} // namespace dp::border
