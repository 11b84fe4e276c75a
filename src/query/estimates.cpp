#include "query/estimates.hpp"

#include "border/guard.hpp"
#include "border/permissions.hpp"
#include "catalog/facade.hpp"

namespace dp::query {

namespace {
get_relation_info_hook_type previous_relation_info = nullptr;
} // namespace

static bool is_plain_table(char relkind) {
    return relkind == RELKIND_RELATION || relkind == RELKIND_PARTITIONED_TABLE || relkind == RELKIND_FOREIGN_TABLE;
}

// Most statements end here: who has the privileges on the table needs no look into the catalog of dp_rdr.
static bool is_permitted(Oid relation, const border::Permission &permission) {
    Oid role = OidIsValid(permission.role) ? permission.role : GetUserId();
    return pg_class_aclmask(relation, role, permission.needed, ACLMASK_ALL) == permission.needed;
}

// `entry` carries the privileges for reading `relation`, itself or a part of it.
static void check_reader(const Query *query, const RangeTblEntry *entry, Oid relation) {
    if (entry->rtekind != RTE_RELATION || relation < FirstNormalObjectId)
        return;
    border::Permission permission = border::permission_of(query, entry);
    if (permission.needed != 0 && !is_permitted(entry->relid, permission) && OidIsValid(catalog::deny_function()) &&
        catalog::is_part_of_protected(relation))
        border::check_permission(query, entry);
}

void check_protected(const Query *query, const RangeTblEntry *entry) {
    if (entry->rtekind == RTE_RELATION && is_plain_table(entry->relkind))
        check_reader(query, entry, entry->relid);
}

// Children are read with the privileges of the table that the statement names.
static const RangeTblEntry *named_entry(PlannerInfo *root, Index index) {
    const RangeTblEntry *entry = planner_rt_fetch(index, root);
    while (border::permission_of(root->parse, entry).needed == 0 && root->append_rel_array != nullptr &&
           root->append_rel_array[index] != nullptr) {
        index = root->append_rel_array[index]->parent_relid;
        entry = planner_rt_fetch(index, root);
    }
    return entry;
}

static void look_at_relation(PlannerInfo *root, Oid relation, bool inhparent, RelOptInfo *rel) {
    border::core([&] { check_reader(root->parse, named_entry(root, rel->relid), relation); });
    if (previous_relation_info != nullptr)
        previous_relation_info(root, relation, inhparent, rel);
}

void install_relation_hook() {
    previous_relation_info = get_relation_info_hook;
    get_relation_info_hook = look_at_relation;
}

} // namespace dp::query
