// Names and owners of relations, and roles that one can become.
#pragma once

#include "border/postgres.hpp"

namespace dp::catalog {

// Returns the name of a relation, qualified and quoted.
const char *qualified_name(Oid relation);
Oid relation_owner(Oid relation);

// Returns the role and all that it can become: what it is a member of, directly or not, whether it inherits from them or not.
List *roles_of(Oid role);

} // namespace dp::catalog
