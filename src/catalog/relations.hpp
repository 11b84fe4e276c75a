// Names and owners of relations, and roles that one can become.
#pragma once

#include "border/postgres.hpp"

namespace dp::catalog {

// Returns the name of a relation, qualified and quoted.
const char *qualified_name(Oid relation);
Oid relation_owner(Oid relation);

// Returns the role and all that it can become: what it is a member of, directly or not, whether it inherits from them or not.
List *roles_of(Oid role);

// Tells whether a view is in restricted_view, whatever its rule is by now.
bool is_registered_view(Oid view);
bool is_protected_table(Oid relation);
// Tells whether a table is protected, or a partition or child of one that is, at any depth.
bool is_part_of_protected(Oid relation);
// Tells whether a table is declared public for anybody.
bool is_public_table(Oid relation);

} // namespace dp::catalog
