// Reads and sets the rights that the executor checks before a statement runs. Up to PostgreSQL 15 each entry of the range
// table has its own; from 16 on they stand in a list of the query's, which the entry points into, and a view that has been expanded
// keeps its own entry in place of OLD and NEW in the view's query.
#pragma once

#include "border/postgres.hpp"

namespace dp::border {

struct Permission {
    Oid role;       // whose privileges count; InvalidOid: of whoever runs the statement
    AclMode needed; // 0: nothing is checked
};

// Returns the rights that an entry of the query's range table demands.
Permission permission_of(const Query *query, const RangeTblEntry *entry);

// For an entry that was made by hand, once it is in the query's range table. An entry that is no relation has none.
void set_permission(Query *query, RangeTblEntry *entry, AclMode needed);
// Removes the entries of a plan that need nothing: from 16 on the executor takes it for a mistake when it is asked to check
// nothing, and with assertions ends the server.
void forget_empty_permissions(PlannedStmt *plan);
// Whether a plan reads these relations and no other. (relationOids has constants of type oid and regclass as well.)
bool reads_only(const PlannedStmt *plan, const List *relations);
// Gives an entry that was copied into another query's range table what the first one demands.
void copy_permission(const Query *query, const RangeTblEntry *entry, Query *into, RangeTblEntry *copy);
// For the entry of a view that has become its table: nothing is checked any more, and rows are read with the rights of a role.
void set_reader(Query *query, RangeTblEntry *entry, Oid role);
// For an entry that is no relation any more.
void forget_permission(RangeTblEntry *entry);

// Whether the current user may do with the entry what the query wants of it.
bool is_permitted(const Query *query, const RangeTblEntry *entry);
// Checks what the executor would of one level, and of one entry of it: its error 42501 if they fail. By the privileges alone, not by
// ExecutorCheckPerms_hook, which expects a statement that runs; that is called where the caller's own statement starts.
void check_permissions(const Query *query);
void check_permission(const Query *query, const RangeTblEntry *entry);

// Views that a statement reads through and that leave its range table: their permissions are still checked, and a plan dies
// with each of them.
struct PassedViews {
    List *entries; // RangeTblEntry *, plain relations that nothing refers to
    List *infos;   // from 16 on: RTEPermissionInfo *, one for each

    // From the innermost to the outermost. `entry` of `query` is what was made of the view, or any other sub-SELECT; `below` is
    // the query that it stands for.
    void add(const Query *query, const RangeTblEntry *entry, const Query *below);
    // The query's range table becomes `first` and they.
    void keep(Query *query, RangeTblEntry *first) const;
};

} // namespace dp::border
