// When keepers start, and how many there may be.
#pragma once

#include "keeper/pool.hpp"

namespace dp::keeper {

// The setting dp_rdr.keepers: of one database at most.
int most_keepers();
void define_settings();
// Returns how many keepers all databases together may have.
int most_workers();

// Starts one more keeper of this database unless there are enough, or one is starting. False when the server has no worker
// slot for it now.
bool start_keeper();
// Whether one lives; one that is starting does not yet.
bool keeper_lives();
// Called by a keeper that goes; gives its place in the sum over all databases back.
void keeper_is_gone();
// Whether another database waits for a worker slot that an idle keeper has.
bool somebody_waits();

} // namespace dp::keeper
