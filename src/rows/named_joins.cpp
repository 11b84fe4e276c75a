#include "rows/named_joins.hpp"

#include "border/each.hpp"
#include "border/versions.hpp"
#include "rows/nodes.hpp"

namespace dp::rows {

static int index_of(const Node *item) {
    return IsA(item, JoinExpr) ? reinterpret_cast<const JoinExpr *>(item)->rtindex
                               : reinterpret_cast<const RangeTblRef *>(item)->rtindex;
}

// One side's: their numbers there go into `numbers`.
static void add_columns(const Query *query, int index, RangeTblEntry *join, List **numbers) {
    List *names = NIL, *columns = NIL;
    RangeTblEntry *side = rt_fetch(index, query->rtable);
    border::expand_entry(side, index, &names, &columns);
    join->eref->colnames = list_concat(join->eref->colnames, names);
    join->joinaliasvars = list_concat(join->joinaliasvars, columns);
    for (int i = 0; i < list_length(columns); i++)
        *numbers = lappend_int(*numbers, side->rtekind == RTE_JOIN
                                             ? i + 1
                                             : static_cast<const Var *>(list_nth(columns, i))->varattno);
}

// Moves a join behind its sides, as the server's parser puts it; its number also stands in columns that it may make NULL.
static int put_behind(Query *query, int index) {
    query->rtable = lappend(query->rtable, rt_fetch(index, query->rtable));
    lfirst(list_nth_cell(query->rtable, index - 1)) = no_entry("moved");
    ChangeVarNodes(reinterpret_cast<Node *>(query), index, list_length(query->rtable), 0);
    return list_length(query->rtable);
}

static void name_columns(Query *query, Node *item) {
    if (!IsA(item, JoinExpr))
        return;
    auto *join = castNode(JoinExpr, item);
    name_columns(query, join->larg);
    name_columns(query, join->rarg);
    const int left = index_of(join->larg), right = index_of(join->rarg);
    const int index = join->rtindex < Max(left, right) ? put_behind(query, join->rtindex) : join->rtindex;
    RangeTblEntry *entry = rt_fetch(index, query->rtable);
    entry->joinmergedcols = 0;
    entry->eref->colnames = entry->joinaliasvars = entry->joinleftcols = entry->joinrightcols = NIL;
    add_columns(query, left, entry, &entry->joinleftcols);
    add_columns(query, right, entry, &entry->joinrightcols);
}

void name_join_columns(Query *query) {
    for (auto *entry : border::each<RangeTblEntry>(query->rtable))
        if (entry->rtekind == RTE_SUBQUERY)
            name_join_columns(entry->subquery);
    for (auto *item : border::each<Node>(query->jointree->fromlist))
        name_columns(query, item);
}

} // namespace dp::rows
