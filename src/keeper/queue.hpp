// The way of a request through its slot. Each function takes the pool's lock for a moment and raises nothing under it.
#pragma once

#include "keeper/turns.hpp"

namespace dp::keeper {

// ---- clients ----

// A slot in state `writing` with a buffer of at least `size` bytes; -1 when there is none, or no memory, for this login now, or the pool
// is closed.
int reserve_slot(Kind kind, Oid role, Oid session_role, Oid relation, Size size);
// The request is in its buffer. Returns false when no keeper was idle.
bool submit(int slot, Size size);
// Returns the size of the part that the keeper has written and the client not yet taken; 0: nothing yet. `last`: nothing
// follows. `lost`: nothing comes any more, and what came before is no answer.
Size part_there(int slot, bool *last, Loss *lost);
void part_taken(int slot);
// After the last part, or before the slot was submitted.
void free_slot(int slot);
// The client goes, whatever the state. From `charging` on the keeper frees the slot when it is through with it. Returns what became of
// the charge; of one that is prepared nothing will.
Loss abandon(int slot);
// Broadcast whenever a slot comes free.
ConditionVariable *slot_freed();

// ---- keepers ----

constexpr int most_in_batch = 64;

// Takes requests to be charged, by turns of the logins, at most most_in_batch of them: into `charging`. One that is `alone`
// comes alone; of the others none while a batch of another keeper's is charged.
int take_pending(int *slots);
// Takes one that is charged, own ones first, but before them who has waited for turn_ms while nobody reads for him: into
// `running`; -1: none that this keeper may read now.
int take_charged();
// Later, alone. locked: a lock of somebody else is in the way.
void put_back(int slot, bool locked);
// Untouched, to be taken with the next ones.
void hand_back(int slot);
// From here on nobody can tell whether its charge is durable, should this keeper end, until it is marked otherwise. False: its client
// has gone, and nothing is charged.
bool mark_committing(int slot);
// To be taken alone, as soon as it may be.
void set_aside(int slot);
// Marks that other servers keep rows of its table; it must be taken as such before one is asked. False: it was not marked before.
bool mark_elsewhere(int slot);
// The keeper that has it goes on with it.
void mark_running(int slot);
// Charged; any keeper may read it that comes to the same hash (release::hash_of_charge, a bytea).
void mark_charged(int slot, const bytea *charged, privacy::Epsilon epsilon, privacy::Day period,
                  int64 begun);
// Whether the hash is that of what was charged.
bool is_charged(int slot, const bytea *charged);
// One that was taken although charged by another keeper, and cannot be read here. locked: as long as that one lives no other is to try.
void give_back_charged(int slot, bool locked);
bool is_cancelled(int slot);
// A part of the answer; false when nobody takes it any more, or not in time.
bool send_part(int slot, const void *bytes, Size size, bool last);
// The client has gone, or does not take its answer.
void give_up(int slot);
// Whether a request that this keeper has charged has had its answer.
bool is_over(int slot, uint64 ticket);

// ---- the table of keepers ----

int enter_pool();  // index of this process; -1: there are enough, and nobody of this library has asked for one
void leave_pool(); 
} // namespace dp::keeper
