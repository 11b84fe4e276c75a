// The writer of the ledger: locks odometers, decides, writes, commits; several charges in one transaction.
#pragma once

#include "catalog/ledger.hpp"

namespace dp::catalog {

// Runs the entries in one transaction, each decided on the totals that those before it leave, and sets their verdicts once it
// is durable. To be called outside a transaction, by a process of its own that is connected as the bootstrap superuser
// under forced settings. No request that a rule refuses fails the others; after an unexpected error each runs alone, and
// the one that fails stays `pending`, with the error in the server log. Raises nothing but the end of the process.
//
// An entry is `busy`, untouched, when somebody else holds its odometer: nobody waits here while others wait for him.
// It is `unlooked`, untouched, when so many cells have to be looked into that others would wait too long.
void commit_charges(Entry **entries, int n);

// Looks into the cells of an entry that is `unlooked`, in a transaction of its own, while others may charge: denied now, it is denied
// when it is run once more. False: it has failed, as its verdict says, and nothing was done.
bool look_into_many(Entry *entry);

} // namespace dp::catalog
