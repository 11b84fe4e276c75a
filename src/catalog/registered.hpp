// Looks up whether relations are declared, without a statement and without a snapshot: the planner asks.
#pragma once

#include "border/postgres.hpp"

namespace dp::catalog {

// Tells whether a view is in restricted_view, whatever its rule is by now.
bool is_registered_view(Oid view);
bool is_protected_table(Oid relation);
// Tells whether a table is protected, or a partition or child of one that is, at any depth.
bool is_part_of_protected(Oid relation);
// Tells whether a table is declared public for anybody.
bool is_public_table(Oid relation);

} // namespace dp::catalog
