// Writes an entry of the ledger as flat bytes: so it travels through shared memory to the process that commits it.
#pragma once

#include "catalog/ledger.hpp"

extern "C" {
#include <lib/stringinfo.h>
}

namespace dp::catalog {

// Appends the entry, with its charge and all that commit_charges() needs of the settings. The verdict does not travel. Equal entries
// are equal bytes.
void encode(const Entry &entry, StringInfo buffer);

// Returns the entry, in CurrentMemoryContext. Errors: bytes that are no entry.
Entry *decode(const char *bytes, Size size);

} // namespace dp::catalog
