#include "query/public_view.hpp"

#include "border/permissions.hpp"
#include "border/visit.hpp"
#include "catalog/public_table.hpp"

namespace dp::query {

// columns: TargetEntry *, Vars of the table, of the view that is entry `index`.
static void rename_columns(Query *query, int index, const List *columns) {
    border::visit_query(query, 0, [=](Node *node, Index level) {
        auto *var = reinterpret_cast<Var *>(node);
        if (IsA(node, Var) && var->varno == index && var->varlevelsup == level && var->varattno > 0) {
            const auto *target = list_nth_node(TargetEntry, columns, var->varattno - 1);
            var->varattno = var->varattnosyn = castNode(Var, target->expr)->varattno;
        }
        return border::Step::in;
    });
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

static void open_level(Query *query) {
    ListCell *cell;
    foreach (cell, query->rtable) {
        auto *entry = lfirst_node(RangeTblEntry, cell);
        Query *below = entry->rtekind == RTE_RELATION ? catalog::public_view(entry->relid) : nullptr;
        if (below == nullptr)
            continue;
        border::check_permission(query, entry);
        border::check_permissions(below);
        rename_columns(query, foreach_current_index(cell) + 1, below->targetList);
        const auto *table = rt_fetch(linitial_node(RangeTblRef, below->jointree->fromlist)->rtindex, below->rtable);
        become_table(query, entry, table->relid, border::permission_of(below, table).role);
    }
}

Query *with_public_views_open(const Query *leaf) {
    auto *opened = static_cast<Query *>(copyObject(const_cast<Query *>(leaf)));
    border::visit(reinterpret_cast<Node *>(opened), [](Node *node, Index) {
        if (IsA(node, Query))
            open_level(castNode(Query, node));
        return border::Step::in;
    });
    return opened;
}

} // namespace dp::query
