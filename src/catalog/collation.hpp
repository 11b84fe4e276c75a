// Versions of collations: a library of the operating system, or ICU, orders texts, and a later version of it may order them
// otherwise. PostgreSQL records a version and warns; indexes that were made before are then in another order than comparisons.
#pragma once

#include "border/postgres.hpp"

namespace dp::catalog {

// Whether a collation orders by bytes, or has the version that is recorded: of the default collation that of the database. What has
// no version, by its provider, is taken to have one order for ever, as PostgreSQL does.
bool is_collation_current(Oid collation);

// For messages: its name; and the statement that records the version that it has now.
const char *collation_name(Oid collation);
const char *refresh_of_collation(Oid collation);

} // namespace dp::catalog
