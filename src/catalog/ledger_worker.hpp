// A background worker for each charge: the way of an entry where no other process commits charges.
#pragma once

#include "catalog/ledger.hpp"

namespace dp::catalog {

// Waits for the table's turn, starts a worker, waits for its end. Errors: 55000 when the library was replaced while this session
// was running. A cancel while waiting is an error too; the charge may be committed all the same.
void deliver_by_worker(Entry *entry);

} // namespace dp::catalog
