#include "rows/from_clause.hpp"

#include "border/permissions.hpp"
#include "rows/joined_from.hpp"
#include "rows/nodes.hpp"

namespace dp::rows {

static void add_source(Query *query, Oid relation) {
    RangeTblEntry *entry = relation_entry(relation, true);
    query->rtable = lappend(query->rtable, entry);
    border::set_permission(query, entry, 0);
    auto *ref = makeNode(RangeTblRef);
    ref->rtindex = list_length(query->rtable);
    query->jointree->fromlist = lappend(query->jointree->fromlist, ref);
}

void add_ancestors(Query *query, const List *ancestors) {
    ListCell *cell;
    foreach (cell, ancestors)
        add_source(query, lfirst_oid(cell));
}

Query *select_from_sources(const Question *question, Node *where) {
    Node *all = make_and_qual(another(where), another(question->in_touched));
    if (question->units == nullptr || !question->units->clipped)
        return make_aggregation(table_entry(question), all);
    all = make_and_qual(all, static_cast<Node *>(copyObject(question->units->links)));
    Query *query =
        is_joined(question) ? select_from_joined(question, all) : make_aggregation(table_entry(question), all);
    add_ancestors(query, question->units->ancestors);
    return query;
}

} // namespace dp::rows
