#include "keeper/queue.hpp"

#include <utility>

#include "border/versions.hpp"

namespace dp::keeper {

ConditionVariable *slot_freed() {
    return &pool()->slot_freed;
}

// ---- clients -------------------------------------------------------------------------------------------------------

int reserve_slot(Kind kind, Oid role, Oid session_role, Oid relation, Size size) {
    dsa_pointer buffer = dsa_allocate_extended(area(), size, DSA_ALLOC_NO_OOM);
    if (!DsaPointerIsValid(buffer))
        return -1;
    lock();
    int found = pool()->closed ? -1 : free_slot_for(GetAuthenticatedUserId(), size);
    if (found >= 0) {
        Slot &slot = slot_at(found);
        slot.kind = kind;
        slot.cancelled = slot.last = slot.locked = slot.committing = slot.elsewhere = false;
        slot.lost = Loss::none;
        slot.relation = relation;
        slot.asked = GetCurrentTimestamp();
        slot.alone =
            kind == Kind::approve || kind == Kind::limit; // its charges are one keeper's from the first to the last
        slot.taken = true;
        slot.keeper = slot.charger = -1;
        slot.client = MyProc;
        slot.login = GetAuthenticatedUserId();
        slot.role = role;
        slot.session_role = session_role;
        slot.buffer = buffer;
        slot.capacity = size;
        slot.filled = 0;
        slot.retry = 0;
        set_state(slot, State::writing);
    }
    unlock();
    if (found < 0)
        dsa_free(area(), buffer);
    return found;
}

bool submit(int index, Size size) {
    const Locked lock(pool()->lock);
    Slot &slot = slot_at(index);
    slot.filled = size;
    slot.ticket = ++pool()->tickets;
    slot.since = GetCurrentTimestamp();
    slot.clock = batch_clock();
    set_state(slot, State::pending);
    const bool idle = idle_keeper() != nullptr;
    if (is_left(slot))
        wake_idle_keeper();
    return idle;
}

Size part_there(int index, bool *last, Loss *lost) {
    const Locked lock(pool()->lock, LW_SHARED);
    const Slot &slot = slot_at(index);
    *lost = slot.lost;
    if (slot.lost != Loss::none || slot.taken)
        return 0;
    *last = slot.last;
    return slot.filled;
}

void part_taken(int index) {
    const Locked lock(pool()->lock);
    Slot &slot = slot_at(index);
    slot.taken = true;
    if (!slot.last && slot.keeper >= 0)
        SetLatch(&pool()->keepers[slot.keeper].process->procLatch);
}

void free_slot(int index) {
    dsa_free(area(), slot_at(index).buffer);
    lock();
    Slot &slot = slot_at(index);
    slot.client = nullptr;
    slot.buffer = InvalidDsaPointer;
    slot.keeper = -1;
    set_state(slot, State::free);
    unlock();
    ConditionVariableBroadcast(slot_freed());
}

// Under the lock.
static Loss loss_of(const Slot &slot) {
    const State state = state_of(slot);
    if (state != State::writing && state != State::pending && state != State::charging)
        return Loss::charged;
    return slot.committing ? Loss::unknown : Loss::uncharged;
}

Loss abandon(int index) {
    bool mine = false;
    lock();
    Slot &slot = slot_at(index);
    const Loss loss = loss_of(slot);
    switch (state_of(slot)) {
    case State::free:
        break;
    case State::writing:
    case State::pending:
    case State::done:
        mine = true;
        set_state(slot, State::writing); // no keeper takes it
        break;
    default:
        slot.cancelled = true;
        slot.client = nullptr;
        if (slot.keeper >= 0) // which goes on if it is at another request, or commits this one's charge
            kill(pool()->keepers[slot.keeper].pid, SIGINT);
    }
    unlock();
    if (mine)
        free_slot(index);
    return loss;
}

// ---- keepers: what comes next --------------------------------------------------------------------------------------

// Under the lock. False: it is not in the state that it is taken from.
static bool take(Slot &slot, State from, State to) {
    if (state_of(slot) != from)
        return false;
    slot.keeper = this_keeper();
    set_state(slot, to);
    return true;
}

int take_pending(int *slots) {
    int order[nslots], taken = 0;
    const Locked lock(pool()->lock);
    const int n = by_turns(State::pending, order);
    for (int i = 0; i < n && taken < most_in_batch; i++) {
        Slot &slot = slot_at(order[i]);
        if (!may_charge(slot, taken) || !take(slot, State::pending, State::charging))
            continue;
        slots[taken++] = order[i];
        if (slot.alone) {
            pool()->keepers[this_keeper()].reading_for = slot.login;
            break;
        }
        slot.left = Max(0, batch_clock() - slot.clock); // the clock may have been set
    }
    return taken;
}

int take_charged() {
    const Locked lock(pool()->lock);
    const int found = next_charged();
    if (found < 0 || !take(slot_at(found), State::charged, State::running))
        return -1;
    pool()->keepers[this_keeper()].reading_for = slot_at(found).login;
    pool()->keepers[this_keeper()].slot = found;
    return found;
}

static void back_to_pending(int index, bool alone, TimestampTz retry) {
    lock();
    Slot &slot = slot_at(index);
    slot.keeper = -1;
    slot.committing = false;
    if (alone && !slot.alone)
        slot.since = GetCurrentTimestamp();
    slot.alone = slot.alone || alone;
    slot.retry = retry;
    bool cancelled = slot.cancelled;
    if (!cancelled) {
        set_state(slot, State::pending);
        if (retry == 0)
            wake_idle_keeper();
    }
    unlock();
    if (cancelled)
        free_slot(index);
}

void put_back(int index, bool locked) {
    slot_at(index).locked = locked;
    back_to_pending(index, true, TimestampTzPlusMilliseconds(GetCurrentTimestamp(), lock_retry_ms));
}

void hand_back(int index) {
    back_to_pending(index, false, 0);
}

bool mark_committing(int index) {
    const Locked lock(pool()->lock);
    Slot &slot = slot_at(index);
    slot.committing = !slot.cancelled;
    return slot.committing;
}

void set_aside(int index) {
    back_to_pending(index, true, 0);
}

bool mark_elsewhere(int index) {
    const Locked lock(pool()->lock);
    return std::exchange(slot_at(index).elsewhere, true);
}

void mark_running(int index) {
    const Locked lock(pool()->lock);
    pool()->keepers[this_keeper()].slot = index;
    set_state(slot_at(index), State::running);
}

void mark_charged(int index, const bytea *charged, privacy::Epsilon epsilon, privacy::Day period,
                  int64 begun) {
    const Locked lock(pool()->lock);
    Slot &slot = slot_at(index);
    slot.charger = this_keeper();
    slot.locked = false;
    memcpy(slot.charged, VARDATA(charged), sizeof slot.charged);
    slot.epsilon = epsilon;
    slot.period = period;
    slot.begun = begun;
    set_state(slot, State::charged);
}

bool is_charged(int index, const bytea *charged) {
    return memcmp(slot_at(index).charged, VARDATA(charged), PG_SHA256_DIGEST_LENGTH) == 0;
}

void give_back_charged(int index, bool locked) {
    const Locked lock(pool()->lock);
    Slot &slot = slot_at(index);
    slot.locked = locked;
    slot.keeper = slot.charger;
    slot.retry = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), lock_retry_ms);
    set_state(slot, State::charged);
    if (slot.charger >= 0 && slot.charger != this_keeper())
        SetLatch(&pool()->keepers[slot.charger].process->procLatch);
}

bool is_cancelled(int index) {
    return slot_at(index).cancelled;
}

bool is_over(int index, uint64 ticket) {
    const Locked lock(pool()->lock, LW_SHARED);
    const Slot &slot = slot_at(index);
    State state = state_of(slot);
    bool over = slot.ticket != ticket || (state != State::charged && state != State::running);
    return over;
}

// Nobody holds a keeper up by not taking what it asked for.
constexpr int taking_ms = 10000;

static bool wait_until_taken(Slot &slot) {
    TimestampTz start = GetCurrentTimestamp();
    for (;;) {
        ResetLatch(MyLatch);
        pg_memory_barrier();
        if (slot.cancelled)
            return false;
        if (slot.taken)
            return true;
        if (TimestampDifferenceExceeds(start, GetCurrentTimestamp(), taking_ms))
            return false;
        (void)WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, 1000,
                        border::wait_event("DpRdrClient"));
        CHECK_FOR_INTERRUPTS();
    }
}

// Under the lock.
static void finish(Slot &slot) {
    pool()->keepers[this_keeper()].slot = -1;
    slot.keeper = -1;
    if (slot.charger >= 0 && slot.charger != this_keeper()) // gives its locks back
        SetLatch(&pool()->keepers[slot.charger].process->procLatch);
    set_state(slot, State::done);
}

bool send_part(int index, const void *bytes, Size size, bool last) {
    Slot &slot = slot_at(index);
    Assert(size > 0 && size <= slot.capacity);
    if (!slot.taken && !wait_until_taken(slot))
        return false;
    memcpy(buffer_of(slot), bytes, size);
    const Locked lock(pool()->lock);
    if (slot.cancelled)
        return false;
    slot.filled = size;
    slot.last = last;
    slot.taken = false;
    if (last)
        finish(slot);
    SetLatch(&slot.client->procLatch);
    return true;
}

// Under the lock. Its client is told; a slot whose client has gone is freed. The buffer stays as it is: the client may be
// about to copy it.
static bool fail(Slot &slot) {
    slot.keeper = -1;
    if (slot.cancelled) {
        set_state(slot, State::writing);
        return false;
    }
    slot.lost = loss_of(slot);
    set_state(slot, State::done);
    SetLatch(&slot.client->procLatch);
    return true;
}

void give_up(int index) {
    lock();
    pool()->keepers[this_keeper()].slot = -1;
    bool told = fail(slot_at(index));
    unlock();
    if (!told)
        free_slot(index);
}

// ---- the table of keepers ------------------------------------------------------------------------------------------

int enter_pool() {
    lock();
    int place = pool()->closed ? -1 : place_to_enter();
    if (place >= 0) {
        Keeper &keeper = pool()->keepers[place];
        keeper.life = Life::busy;
        keeper.pid = MyProcPid;
        keeper.process = MyProc;
        keeper.reading_for = InvalidOid;
        keeper.slot = -1;
        keeper.turn = 0;
        keeper.batch = false;
        keeper.charges = keeper.commits = 0;
    }
    unlock();
    set_this_keeper(place);
    return place;
}

void leave_pool() {
    if (this_keeper() < 0)
        return;
    LWLockReleaseAll();
    ConditionVariableCancelSleep(); // before its memory is gone
    int orphans[nslots], norphans = 0;
    lock();
    for (int i = 0; i < nslots; i++) {
        Slot &slot = slot_at(i);
        State state = state_of(slot);
        if (slot.charger == this_keeper() && state != State::free)
            slot.charger = -1;
        if (slot.client != nullptr && (state == State::charged || state == State::pending))
            SetLatch(&slot.client->procLatch); // it looks whether there is a keeper, and starts one
        if (slot.keeper != this_keeper())
            continue;
        if (state == State::charged)
            slot.keeper = -1; // any other reads it
        else if ((state == State::charging || state == State::running) && !fail(slot))
            orphans[norphans++] = i;
    }
    leave_line();
    pool()->keepers[this_keeper()].life = Life::none;
    pool()->keepers[this_keeper()].process = nullptr;
    unlock();
    for (int i = 0; i < norphans; i++)
        free_slot(orphans[i]);
    set_this_keeper(-1);
}

} // namespace dp::keeper
