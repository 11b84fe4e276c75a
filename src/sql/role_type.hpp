// Roles and relations of the catalog that do not exist: a dump had them, or they were dropped.
#pragma once

#include "catalog/access.hpp"

namespace dp::sql {

// Gives the rows of roles that were dropped a number that no role has, so that a new role with the old one inherits nothing. Rows that
// somebody has locked are left for the next time.
void forget_dropped_roles(const catalog::Visit &visit);

// Returns an expression in SQL for the number that stands for one that is gone. number: an expression for the one that it had.
const char *absent_sql(const char *number);

} // namespace dp::sql
