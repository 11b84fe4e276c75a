// Versions of collations: a library of the operating system, or ICU, orders texts, and a later version of it may order them
// otherwise. PostgreSQL records a version and warns; indexes that were made before are then in another order than comparisons.
#pragma once

#include "border/postgres.hpp"

namespace dp::catalog {

// Tells whether a collation orders by bytes, or has its recorded version. The default collation has its version in pg_database.
// A collation whose provider gives no version counts as current, as in PostgreSQL.
bool is_collation_current(Oid collation);

// For messages: its name, as SQL and in words; and the statement that records the version that it has now.
const char *qualified_collation(Oid collation);
const char *collation_name(Oid collation);
const char *refresh_of_collation(Oid collation);

} // namespace dp::catalog
