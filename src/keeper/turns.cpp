#include "keeper/turns.hpp"

#include <algorithm>
#include <cmath>

#include "border/versions.hpp"
#include "keeper/start.hpp"

namespace dp::keeper {

static int self = -1; // of a keeper: its place in the table

int this_keeper() {
    return self;
}

void set_this_keeper(int place) {
    self = place;
}

// ---- room and waking -----------------------------------------------------------------------------------------------

int free_slot_for(Oid login, Size size) {
    int held = 0, found = -1, left = 0;
    Size bytes = 0;
    for (int i = 0; i < nslots; i++) {
        Slot &slot = slot_at(i);
        if (state_of(slot) == State::free) {
            found = found < 0 ? i : found;
            left++;
        } else if (slot.login == login) {
            held++;
            bytes += slot.capacity;
        }
    }
    bool room = held < slots_of_login && (held == 0 || left > slots_kept) && bytes + size <= area_limit / 2;
    return room ? found : -1;
}

// Under the lock. What comes while a batch is charged, or waits to be, gathers in the queue: the next batch is all of it.
static bool gathers() {
    return pool()->batch_since != 0;
}

int64 batch_clock() {
    return pool()->batch_time + (gathers() ? GetCurrentTimestamp() - pool()->batch_since : 0);
}

bool is_left(const Slot &slot) {
    State state = state_of(slot);
    return state == State::charged || (state == State::pending && (slot.alone || !gathers()));
}

Keeper *idle_keeper() {
    for (Keeper &keeper : pool()->keepers)
        if (keeper.life == Life::idle)
            return &keeper;
    return nullptr;
}

void wake_idle_keeper() {
    if (Keeper *keeper = idle_keeper()) {
        keeper->life = Life::woken;
        SetLatch(&keeper->process->procLatch);
    }
}

// ---- whose turn it is ----------------------------------------------------------------------------------------------

namespace {
struct Candidate {
    int slot;
    uint64 ticket;
    Oid login;
    int round; // how many requests of the same login are older
    bool tried; // a lock was in the way of reading it
    TimestampTz retry;
};
} // namespace

// Under the lock. How many other keepers prepare, charge or read for slots of which this is true.
template <class Test> static int keepers_with(Test test) {
    static_assert(max_keepers <= 32);
    uint32 found = 0;
    for (const Slot &slot : pool()->slots) {
        const State state = state_of(slot);
        if (slot.keeper >= 0 && slot.keeper != self && (state == State::charging || state == State::running) && test(slot))
            found |= uint32{1} << slot.keeper;
    }
    return pg_popcount32(found);
}

static int keepers_of(Oid login) {
    return keepers_with([=](const Slot &slot) { return slot.login == login; });
}

constexpr int no_worker_ms = 10000; // for so long no other keeper is counted on

// Under the lock. How many keepers there can be now.
static int possible_keepers(int living) {
    int possible = Min(most_keepers(), most_workers());
    if (TimestampDifferenceExceeds(pool()->no_worker, GetCurrentTimestamp(), no_worker_ms))
        return possible;
    return Min(possible, living);
}

// Under the lock.
static int count_living() {
    int living = 0;
    for (const Keeper &keeper : pool()->keepers)
        living += keeper.life != Life::none && keeper.life != Life::starting;
    return living;
}

// Under the lock. How many keepers one login, or the tables of other servers, may have.
static int most_for_one() {
    return Max(1, possible_keepers(count_living()) - 1);
}

int living_now() {
    const Locked lock(pool()->lock, LW_SHARED);
    return count_living();
}

// Under the lock. A server that hangs may hold a keeper for as long as it likes: one is left to tables that are all here.
static bool leaves_one_here(const Slot &slot) {
    return !slot.elsewhere || keepers_with([](const Slot &other) { return other.elsewhere; }) < most_for_one();
}

// Under the lock. One login never has all keepers, whatever they do for it, if there can be more than one.
static bool may_work_for(const Slot &slot) {
    return keepers_of(slot.login) < most_for_one() && leaves_one_here(slot);
}

static int waiting(State state, TimestampTz now, Candidate *candidates) {
    int n = 0;
    for (int i = 0; i < nslots; i++) {
        const Slot &slot = slot_at(i);
        if (state_of(slot) == state && slot.retry <= now)
            candidates[n++] = Candidate{i, slot.ticket, slot.login, 0, state == State::charged && slot.locked, slot.retry};
    }
    std::sort(candidates, candidates + n, [](const Candidate &a, const Candidate &b) { return a.ticket < b.ticket; });
    return n;
}

// Everybody's first request comes before anybody's second. What a lock was in the way of comes behind the rest, the one that was tried
// longest ago first.
static void order_by_turns(Candidate *candidates, int n) {
    for (int i = 0; i < n; i++)
        for (int j = i - 1; j >= 0; j--)
            if (candidates[j].login == candidates[i].login) {
                candidates[i].round = candidates[j].round + 1;
                break;
            }
    std::sort(candidates, candidates + n, [](const Candidate &a, const Candidate &b) {
        if (a.tried != b.tried)
            return b.tried;
        if (a.tried && a.retry != b.retry)
            return a.retry < b.retry;
        return a.round != b.round ? a.round < b.round : a.ticket < b.ticket;
    });
}

// Under the lock. Whether the login's charged questions about the same view come first: their locks may hold up whom this one
// waits for, and a keeper that waits for him reads nothing.
static bool comes_later(const Slot &slot) {
    if (state_of(slot) != State::pending || !slot.locked)
        return false;
    for (const Slot &other : pool()->slots)
        if (state_of(other) == State::charged && other.login == slot.login && other.relation == slot.relation)
            return true;
    return false;
}

// Under the lock. Whether it is the turn of a login that has waited and that nobody works for: several logins whose questions
// take long never keep out another one.
static bool has_a_turn(const Slot &slot, Oid last, TimestampTz now) {
    return slot.login != last && keepers_of(slot.login) == 0 && leaves_one_here(slot) &&
           TimestampDifferenceExceeds(slot.since, now, turn_ms);
}

// Under the lock. Whether a lock is in the way of all but who has charged it, and holds one already.
static bool is_held_elsewhere(const Slot &slot) {
    return state_of(slot) == State::charged && slot.locked && slot.charger >= 0 && slot.charger != self;
}

// Under the lock. Whether this keeper may read a charged one now.
static bool may_read(const Slot &slot) {
    return may_work_for(slot) && !is_held_elsewhere(slot);
}

int by_turns(State state, int *slots) {
    Candidate candidates[nslots];
    const int n = waiting(state, GetCurrentTimestamp(), candidates);
    order_by_turns(candidates, n);
    for (int i = 0; i < n; i++)
        slots[i] = candidates[i].slot;
    return n;
}

bool may_charge(const Slot &slot, int taken) {
    return (slot.alone ? taken == 0 && !comes_later(slot) : !gathers()) && may_work_for(slot);
}

int next_charged() {
    Candidate candidates[nslots];
    const TimestampTz now = GetCurrentTimestamp();
    const Oid last = pool()->keepers[self].reading_for;
    const int n = waiting(State::charged, now, candidates);
    for (int i = 0; i < n; i++)
        if (has_a_turn(slot_at(candidates[i].slot), last, now) && !is_held_elsewhere(slot_at(candidates[i].slot)))
            return candidates[i].slot;
    order_by_turns(candidates, n);
    for (int i = 0; i < n; i++)
        if (slot_at(candidates[i].slot).keeper == self && may_read(slot_at(candidates[i].slot)))
            return candidates[i].slot;
    for (int i = 0; i < n; i++)
        if (may_read(slot_at(candidates[i].slot)))
            return candidates[i].slot;
    return -1;
}

bool somebody_is_pending() {
    const Locked lock(pool()->lock, LW_SHARED);
    for (const Slot &slot : pool()->slots)
        if (state_of(slot) == State::pending)
            return true;
    return false;
}

void wake_for_work() {
    for (const Slot &slot : pool()->slots)
        if (is_left(slot)) {
            wake_idle_keeper();
            break;
        }
}

void wake_another() {
    const Locked lock(pool()->lock);
    wake_for_work();
}

// ---- the turn to charge --------------------------------------------------------------------------------------------

// Under the lock. Who waits for it, and has for longest; null: nobody.
static Keeper *next_in_turn() {
    Keeper *next = nullptr;
    for (Keeper &keeper : pool()->keepers)
        if (keeper.turn != 0 && (next == nullptr || keeper.turn < next->turn))
            next = &keeper;
    return next;
}

// Under the lock.
static void set_batch(bool batch) {
    int64 time = batch_clock();
    pool()->keepers[self].batch = batch;
    bool any = false;
    for (const Keeper &keeper : pool()->keepers)
        any = any || keeper.batch;
    pool()->batch_time = time;
    pool()->batch_since = any ? GetCurrentTimestamp() : 0;
}

static bool try_turn() {
    const Locked lock(pool()->lock);
    Keeper &keeper = pool()->keepers[self];
    if (pool()->charging >= 0 || next_in_turn() != &keeper)
        return false;
    pool()->charging = self;
    keeper.turn = 0;
    return true;
}

void take_charge_turn(bool batch) {
    {
        const Locked lock(pool()->lock);
        pool()->keepers[self].turn = ++pool()->tickets;
        set_batch(batch);
    }
    while (!try_turn()) {
        (void)WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, 100,
                        border::wait_event("DpRdrChargeTurn"));
        ResetLatch(MyLatch);
        CHECK_FOR_INTERRUPTS();
    }
}

void leave_line() {
    pool()->keepers[self].turn = 0;
    set_batch(false);
    if (pool()->charging == self)
        pool()->charging = -1;
    Keeper *next = next_in_turn();
    if (pool()->charging < 0 && next != nullptr)
        SetLatch(&next->process->procLatch);
    wake_for_work();
}

void give_charge_turn() {
    const Locked lock(pool()->lock);
    leave_line();
}

// ---- the table of keepers ------------------------------------------------------------------------------------------

int place_to_enter() {
    int reserved = -1, empty = -1, living = 0;
    for (int i = max_keepers - 1; i >= 0; i--) {
        Life life = pool()->keepers[i].life;
        reserved = life == Life::starting ? i : reserved;
        empty = life == Life::none ? i : empty;
        living += life != Life::starting && life != Life::none;
    }
    return reserved >= 0 ? reserved : living < most_keepers() ? empty : -1;
}

// Under the lock. Whether this keeper may take it; *milliseconds is at most the time until it may be taken again.
static bool is_work(const Slot &slot, TimestampTz now, long *milliseconds) {
    if (!is_left(slot))
        return false;
    if (!may_work_for(slot))
        return false;
    bool later = comes_later(slot);
    if (slot.retry <= now && !later)
        return true;
    *milliseconds = Min(*milliseconds, later ? lock_retry_ms : TimestampDifferenceMilliseconds(now, slot.retry) + 1);
    return false;
}

bool becomes_idle(long *milliseconds) {
    bool work = false;
    const Locked lock(pool()->lock);
    Keeper &keeper = pool()->keepers[self];
    TimestampTz now = GetCurrentTimestamp();
    keeper.reading_for = InvalidOid;
    keeper.slot = -1;
    for (const Slot &slot : pool()->slots)
        work = work || is_work(slot, now, milliseconds);
    keeper.life = work ? Life::busy : Life::idle;
    return !work;
}

static int time_class(double microseconds) {
    return microseconds <= 1 ? 0 : Min(nclasses - 1, static_cast<int>(std::log2(microseconds) * 4));
}

void count_charges(const int *slots, int charges, double microseconds) {
    const Locked lock(pool()->lock);
    pool()->keepers[self].charges += charges;
    pool()->keepers[self].commits++;
    for (int i = 0; i < charges; i++) {
        int64 left = slots == nullptr ? 0 : slot_at(slots[i]).left;
        pool()->charge_times[time_class(microseconds + static_cast<double>(left))]++;
    }
}

} // namespace dp::keeper
