// Whose turn it is, and who is woken. Nothing here changes the state of a slot: who waits too long, or has more than his share, is all
// that it decides.
#pragma once

#include "keeper/pool.hpp"

namespace dp::keeper {

inline void lock() {
    LWLockAcquire(&pool()->lock, LW_EXCLUSIVE);
}
inline void unlock() {
    LWLockRelease(&pool()->lock);
}
inline Slot &slot_at(int slot) {
    return pool()->slots[slot];
}

// ---- under the lock ----

// Bounds the requests that one login has under way. The last slots are for those who have none. -1: there is no room.
int free_slot_for(Oid login, Size size);
// Whether a keeper may go on with it now.
bool is_left(const Slot &slot);
// Null: none is.
Keeper *idle_keeper();
void wake_idle_keeper();
void wake_for_work();
// Microseconds, of which only those count in which the queue gathers.
int64 batch_clock();
// The slots in a state that may be tried now, by turns of their logins.
int by_turns(State state, int *slots);
// Whether a pending one may be charged now, behind so many of the batch.
bool may_charge(const Slot &slot, int taken);
// The charged one that this keeper reads next; -1: none.
int next_charged();
// Also of a keeper that goes while it waits.
void leave_line();
// The place that a client has reserved. A keeper that is started by a session with the library of before, and has
// loaded the new one, finds none: it stays where there are too few, and goes without a word where there are enough.
int place_to_enter();

// ---- by itself ----

constexpr int lock_retry_ms = 20;
constexpr int turn_ms = 250;
bool somebody_is_pending();
// After a request: another keeper may go on with what is left.
void wake_another();
int this_keeper();
void set_this_keeper(int place);
// Returns how many keepers of this database live.
int living_now();
bool becomes_idle(long *milliseconds); // false: there is work; true: look again after so long at the latest
// One keeper commits charges at a time, in the order in which they come: who takes long to wake up is not overtaken. While a
// batch has its turn, or waits for it, what is pending is left for the next one.
void take_charge_turn(bool batch);
void give_charge_turn();
// How long the charges of one commit took, from their preparation on. Of a round's, slots is null.
void count_charges(const int *slots, int charges, double microseconds);

} // namespace dp::keeper
