// Tells versions of rows apart: what a charge depends on is looked at again by the writer. A version is the same in every process.
#pragma once

#include "catalog/lookup.hpp"

namespace dp::catalog {

// Returns the SHA-256 of versions, of the same length however many there are.
char *hashed(const StringInfoData &versions);
// Appends the versions of rows (Row *).
void append_versions(StringInfo versions, const List *found);
// Appends those of all rows of one table whose key begins with this.
void append_table(StringInfo versions, const Reading &reading, const char *table, Datum first);
// Returns a hash of two, in this order.
const char *joined_versions(const char *first, const char *other);

} // namespace dp::catalog
