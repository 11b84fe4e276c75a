#include "border/each.hpp"
#include "border/permissions.hpp"

namespace dp::border {

#if PG_VERSION_NUM >= 160000

using Info = RTEPermissionInfo;

static Info *info_of(const Query *query, const RangeTblEntry *entry) {
    return entry->perminfoindex == 0 ? nullptr
                                     : getRTEPermissionInfo(query->rteperminfos, const_cast<RangeTblEntry *>(entry));
}

Permission permission_of(const Query *query, const RangeTblEntry *entry) {
    const Info *info = info_of(query, entry);
    return info == nullptr ? Permission{InvalidOid, 0} : Permission{info->checkAsUser, info->requiredPerms};
}

void set_permission(Query *query, RangeTblEntry *entry, AclMode needed) {
    if (entry->rtekind == RTE_RELATION)
        addRTEPermissionInfo(&query->rteperminfos, entry)->requiredPerms = needed;
}

void forget_empty_permissions(PlannedStmt *plan) {
    List *kept = NIL;
    for (auto *entry : border::each<RangeTblEntry>(plan->rtable)) {
        if (entry->perminfoindex == 0)
            continue;
        RTEPermissionInfo *info = getRTEPermissionInfo(plan->permInfos, entry);
        if (info->requiredPerms != 0)
            kept = lappend(kept, info);
        entry->perminfoindex = info->requiredPerms != 0 ? list_length(kept) : 0;
    }
    plan->permInfos = kept;
}

void set_reader(Query *query, RangeTblEntry *entry, Oid role) {
    entry->perminfoindex = 0;
    RTEPermissionInfo *info = addRTEPermissionInfo(&query->rteperminfos, entry);
    info->checkAsUser = role;
    info->requiredPerms = 0;
}

void copy_permission(const Query *query, const RangeTblEntry *entry, Query *into, RangeTblEntry *copy) {
    if (const Info *info = info_of(query, entry)) {
        into->rteperminfos = lappend(into->rteperminfos, copyObject(const_cast<RTEPermissionInfo *>(info)));
        copy->perminfoindex = list_length(into->rteperminfos);
    }
}

void forget_permission(RangeTblEntry *entry) {
    entry->perminfoindex = 0;
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

using Info = RangeTblEntry;

static const Info *info_of(const Query *, const RangeTblEntry *entry) {
    return entry->rtekind == RTE_RELATION ? entry : nullptr;
}

Permission permission_of(const Query *, const RangeTblEntry *entry) {
    return Permission{entry->checkAsUser, entry->requiredPerms};
}

void set_permission(Query *, RangeTblEntry *entry, AclMode needed) {
    entry->requiredPerms = needed;
}

void forget_empty_permissions(PlannedStmt *) {}

void set_reader(Query *, RangeTblEntry *entry, Oid role) {
    entry->checkAsUser = role;
    entry->requiredPerms = 0;
}

void copy_permission(const Query *, const RangeTblEntry *, Query *, RangeTblEntry *) {}

void forget_permission(RangeTblEntry *entry) {
    entry->requiredPerms = 0;
    entry->selectedCols = nullptr;
}

// The entries OLD and NEW record the permissions of a view, and the role to check.
void PassedViews::add(const Query *, const RangeTblEntry *, const Query *below) {
    List *rule = NIL;
    for (auto *item : border::each<RangeTblEntry>(below->rtable))
        if (item->rtekind == RTE_RELATION) {
            auto *entry = copyObject(item);
            entry->inFromCl = false;
            rule = lappend(rule, entry);
        }
    entries = list_concat(rule, entries);
}

void PassedViews::keep(Query *query, RangeTblEntry *first) const {
    query->rtable = lcons(first, entries);
}

#endif

// Columns that a statement names, or any one where it names none.
static bool may_use(const Info &info, Oid role, const Bitmapset *columns, AclMode mode) {
    if (bms_is_empty(columns))
        return pg_attribute_aclcheck_all(info.relid, role, mode, ACLMASK_ANY) == ACLCHECK_OK;
    for (int i = bms_next_member(columns, -1); i >= 0; i = bms_next_member(columns, i)) {
        auto column = static_cast<AttrNumber>(i + FirstLowInvalidHeapAttributeNumber);
        AclResult found = column == InvalidAttrNumber // the whole row
                              ? pg_attribute_aclcheck_all(info.relid, role, mode, ACLMASK_ALL)
                              : pg_attribute_aclcheck(info.relid, column, role, mode);
        if (found != ACLCHECK_OK)
            return false;
    }
    return true;
}

static bool is_granted(const Info &info) {
    Oid role = OidIsValid(info.checkAsUser) ? info.checkAsUser : GetUserId();
    AclMode missing = info.requiredPerms & ~pg_class_aclmask(info.relid, role, info.requiredPerms, ACLMASK_ALL);
    return (missing & ~(ACL_SELECT | ACL_INSERT | ACL_UPDATE)) == 0 &&
           ((missing & ACL_SELECT) == 0 || may_use(info, role, info.selectedCols, ACL_SELECT)) &&
           ((missing & ACL_INSERT) == 0 || may_use(info, role, info.insertedCols, ACL_INSERT)) &&
           ((missing & ACL_UPDATE) == 0 || may_use(info, role, info.updatedCols, ACL_UPDATE));
}

bool is_permitted(const Query *query, const RangeTblEntry *entry) {
    const Info *info = info_of(query, entry);
    return info == nullptr || info->requiredPerms == 0 || is_granted(*info);
}

void check_permission(const Query *query, const RangeTblEntry *entry) {
    if (!is_permitted(query, entry))
        aclcheck_error(ACLCHECK_NO_PRIV, get_relkind_objtype(get_rel_relkind(entry->relid)),
                       get_rel_name(entry->relid));
}

void check_permissions(const Query *query) {
    for (auto *entry : border::each<RangeTblEntry>(query->rtable))
        check_permission(query, entry);
}

bool reads_only(const PlannedStmt *plan, const List *relations) {
    for (auto *entry : border::each<RangeTblEntry>(plan->rtable)) {
        if (entry->rtekind == RTE_RELATION && !list_member_oid(relations, entry->relid))
            return false;
    }
    return true;
}

} // namespace dp::border
