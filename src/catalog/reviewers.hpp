// Finds out who decides on requests about a table.
#pragma once

#include "catalog/access.hpp"

namespace dp::catalog {

// Whether the role is a reviewer of the table, or a member of one that inherits from it. Superusers need a membership, too.
bool is_reviewer(const Reading &reading, Oid relation, Oid role);

} // namespace dp::catalog
