// Roles and relations of the catalog that do not exist: a dump had them, or they were dropped.
#pragma once

#include "catalog/access.hpp"

namespace dp::sql {

// Returns the statements that format() makes of the name of the table and of the column (%1$I, %2$I), for every column of the catalog of a
// type, 'role' or 'relation': List of char *.
List *for_columns(const catalog::Visit &visit, const char *type, const char *format);

// Give the rows of roles, of tables and views that were dropped a number that nothing has, so that a new one with the old number
// inherits nothing. Rows that somebody has locked are left for the next time.
void forget_dropped_roles(const catalog::Visit &visit);
void forget_dropped_relations(const catalog::Visit &visit);

} // namespace dp::sql
