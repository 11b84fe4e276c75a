#include "border/permissions.hpp"

namespace dp::border {

#if PG_VERSION_NUM >= 160000

static RTEPermissionInfo *info_of(const Query *query, const RangeTblEntry *entry) {
    return entry->perminfoindex == 0 ? nullptr
                                     : getRTEPermissionInfo(query->rteperminfos, const_cast<RangeTblEntry *>(entry));
}

Permission permission_of(const Query *query, const RangeTblEntry *entry) {
    const RTEPermissionInfo *info = info_of(query, entry);
    return info == nullptr ? Permission{InvalidOid, 0} : Permission{info->checkAsUser, info->requiredPerms};
}

void set_permission(Query *query, RangeTblEntry *entry, AclMode needed) {
    if (entry->rtekind == RTE_RELATION)
        addRTEPermissionInfo(&query->rteperminfos, entry)->requiredPerms = needed;
}

void forget_empty_permissions(PlannedStmt *plan) {
    List *kept = NIL;
    ListCell *cell;
    foreach (cell, plan->rtable) {
        auto *entry = lfirst_node(RangeTblEntry, cell);
        if (entry->perminfoindex == 0)
            continue;
        RTEPermissionInfo *info = getRTEPermissionInfo(plan->permInfos, entry);
        if (info->requiredPerms != 0)
            kept = lappend(kept, info);
        entry->perminfoindex = info->requiredPerms != 0 ? list_length(kept) : 0;
    }
    plan->permInfos = kept;
}

void forget_permission(RangeTblEntry *entry) {
    entry->perminfoindex = 0;
}

void check_permissions(const Query *query) {
    ExecCheckPermissions(query->rtable, query->rteperminfos, true);
}

void check_permission(const Query *query, const RangeTblEntry *entry) {
    RTEPermissionInfo *info = info_of(query, entry);
    if (info == nullptr)
        return;
    auto *alone = copyObject(const_cast<RangeTblEntry *>(entry));
    alone->perminfoindex = 1;
    ExecCheckPermissions(list_make1(alone), list_make1(info), true);
}

void PassedViews::add(const Query *query, const RangeTblEntry *entry, const Query *) {
    if (entry->rtekind != RTE_SUBQUERY || !OidIsValid(entry->relid))
        return;
    auto *view = makeNode(RangeTblEntry);
    view->rtekind = RTE_RELATION;
    view->relid = entry->relid;
    view->relkind = entry->relkind;
    view->rellockmode = entry->rellockmode;
    view->eref = copyObject(entry->eref);
    entries = lcons(view, entries);
    infos = lcons(copyObject(info_of(query, entry)), infos);
}

void PassedViews::keep(Query *query, RangeTblEntry *first) const {
    ListCell *cell;
    foreach (cell, entries)
        lfirst_node(RangeTblEntry, cell)->perminfoindex = foreach_current_index(cell) + 1;
    query->rtable = lcons(first, entries);
    query->rteperminfos = infos;
}

#else

Permission permission_of(const Query *, const RangeTblEntry *entry) {
    return Permission{entry->checkAsUser, entry->requiredPerms};
}

void set_permission(Query *, RangeTblEntry *entry, AclMode needed) {
    entry->requiredPerms = needed;
}

void forget_empty_permissions(PlannedStmt *) {}

void forget_permission(RangeTblEntry *entry) {
    entry->requiredPerms = 0;
    entry->selectedCols = nullptr;
}

void check_permissions(const Query *query) {
    ExecCheckRTPerms(query->rtable, true);
}

void check_permission(const Query *, const RangeTblEntry *entry) {
    ExecCheckRTPerms(list_make1(const_cast<RangeTblEntry *>(entry)), true);
}

// The entries OLD and NEW record the permissions of a view, and the role to check.
void PassedViews::add(const Query *, const RangeTblEntry *, const Query *below) {
    List *rule = NIL;
    ListCell *cell;
    foreach (cell, below->rtable)
        if (lfirst_node(RangeTblEntry, cell)->rtekind == RTE_RELATION) {
            auto *entry = copyObject(lfirst_node(RangeTblEntry, cell));
            entry->inFromCl = false;
            rule = lappend(rule, entry);
        }
    entries = list_concat(rule, entries);
}

void PassedViews::keep(Query *query, RangeTblEntry *first) const {
    query->rtable = lcons(first, entries);
}

#endif

bool reads_only(const PlannedStmt *plan, const List *relations) {
    ListCell *cell;
    foreach (cell, plan->rtable) {
        auto *entry = lfirst_node(RangeTblEntry, cell);
        if (entry->rtekind == RTE_RELATION && !list_member_oid(relations, entry->relid))
            return false;
    }
    return true;
}

} // namespace dp::border
