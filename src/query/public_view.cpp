#include "query/public_view.hpp"

#include "border/permissions.hpp"
#include "border/walk.hpp"
#include "catalog/public_table.hpp"

namespace dp::query {

namespace {
struct Columns {
    int index; // of the view's entry
    Index level;
    const List *columns; // TargetEntry *: Vars of the table
};
} // namespace

static bool rename_columns(Node *node, void *context) {
    auto *view = static_cast<Columns *>(context);
    if (node == nullptr)
        return false;
    if (IsA(node, Query)) {
        view->level++;
        (void)border::walk_query(castNode(Query, node), rename_columns, context, 0);
        view->level--;
        return false;
    }
    if (!IsA(node, Var))
        return border::walk_expression(node, rename_columns, context);
    auto *var = castNode(Var, node);
    if (var->varno == view->index && var->varlevelsup == view->level && var->varattno > 0) {
        const auto *target = list_nth_node(TargetEntry, view->columns, var->varattno - 1);
        var->varattno = var->varattnosyn = castNode(Var, target->expr)->varattno;
    }
    return false;
}

// Whoever has the view's rights on the table reads what is looked up in it.
static void become_table(Query *query, RangeTblEntry *entry, Oid table, Oid reader) {
    List *names = NIL;
    AttrNumber column = 0;
    while (char *name = get_attname(table, ++column, true)) // no lock: a keeper waits for none
        names = lappend(names, makeString(name));
    entry->relid = table;
    entry->relkind = get_rel_relkind(table);
    if (entry->alias != nullptr)
        entry->alias = makeAlias(entry->eref->aliasname, NIL);
    entry->eref = makeAlias(entry->eref->aliasname, names);
    border::set_reader(query, entry, reader);
}

static bool open_level(Node *node, void *) {
    if (node == nullptr)
        return false;
    if (!IsA(node, Query))
        return border::walk_expression(node, open_level, nullptr);
    auto *query = castNode(Query, node);
    ListCell *cell;
    foreach (cell, query->rtable) {
        auto *entry = lfirst_node(RangeTblEntry, cell);
        Query *below = entry->rtekind == RTE_RELATION ? catalog::public_view(entry->relid) : nullptr;
        if (below == nullptr)
            continue;
        border::check_permission(query, entry);
        border::check_permissions(below);
        Columns columns = {foreach_current_index(cell) + 1, 0, below->targetList};
        (void)border::walk_query(query, rename_columns, &columns, 0);
        const auto *table = rt_fetch(linitial_node(RangeTblRef, below->jointree->fromlist)->rtindex, below->rtable);
        become_table(query, entry, table->relid, border::permission_of(below, table).role);
    }
    return border::walk_query(query, open_level, nullptr, 0);
}

Query *with_public_views_open(const Query *leaf) {
    auto *opened = static_cast<Query *>(copyObject(const_cast<Query *>(leaf)));
    (void)open_level(reinterpret_cast<Node *>(opened), nullptr);
    return opened;
}

} // namespace dp::query
