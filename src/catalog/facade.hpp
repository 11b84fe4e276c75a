// The facade: a view over deny(table), which has the table's columns and no path to its rows (architecture.md, 4; K1).
#pragma once

#include "catalog/relations.hpp"

namespace dp::catalog {

// dp_rdr.deny(regclass); InvalidOid where the extension is not installed.
Oid deny_function();

// The table behind a view whose stored rule has exactly the form SELECT its columns FROM deny('table'); else InvalidOid.
Oid table_of_facade(Oid view);

// The view that a subquery was expanded from; InvalidOid: it was none.
Oid expanded_view(const RangeTblEntry *entry);
// The view that a subquery was expanded from, if that view is a facade (after view expansion); else InvalidOid.
Oid expanded_facade(const RangeTblEntry *entry);

// Checks that the columns of the facade agree with the table's in name, type, typmod and collation, and maps them:
// result[attno of the view] = attno of the table. 55000 otherwise.
// The caller holds a lock on both.
AttrNumber *map_columns(Oid view, Oid relation);

// Refuses (55000) what cannot be protected, or no longer can: not a plain or partitioned table, FORCE ROW LEVEL
// SECURITY, a child or partition of another table, partitions of another owner who is no superuser, or on other servers (unless as
// foreign_part.hpp says), system catalogs, temporary tables, and code of a user's that the planner would run (foreign_code.hpp). Returns the table and all its
// partitions and children, locked: what was checked. Its cost is that of planning: a look at each index and constraint.
List *check_protectable(Oid relation);

// Refuses (0A000) a column that no restricted view may have: reading a literal of its type may run code of a user's.
void check_column_type(const char *name, Oid type);

} // namespace dp::catalog
