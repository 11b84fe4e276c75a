// Roles of the catalog that do not exist: a dump had them, or they were dropped.
#pragma once

#include "border/postgres.hpp"

namespace dp::catalog {

// From here on no number of the catalog is that of a role. One that PostgreSQL gives to a role so late is not served.
constexpr Oid first_absent_role = 0xF0000000;

} // namespace dp::catalog
