#include "keeper/queue.hpp"

#include <algorithm>
#include <cmath>

#include "border/versions.hpp"
#include "keeper/start.hpp"

namespace dp::keeper {

static int self = -1; // of a keeper: its place in the table

int this_keeper() {
    return self;
}

static void lock() {
    LWLockAcquire(&pool()->lock, LW_EXCLUSIVE);
}

static void unlock() {
    LWLockRelease(&pool()->lock);
}

static Slot &slot_at(int slot) {
    return pool()->slots[slot];
}

ConditionVariable *slot_freed() {
    return &pool()->slot_freed;
}

// ---- clients -------------------------------------------------------------------------------------------------------

// Under the lock. What one login has under way is bounded, and the last slots are for those who have none: the others find
// room.
static int free_slot_for(Oid login, Size size) {
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

// Under the lock. What comes while a batch is charged, or waits to be, gathers in the queue: the next batch is all of it.
static bool gathers() {
    return pool()->batch_since != 0;
}

// Under the lock. Microseconds, of which only those count in which the queue gathers.
static int64 batch_clock() {
    return pool()->batch_time + (gathers() ? GetCurrentTimestamp() - pool()->batch_since : 0);
}

// Under the lock. Whether a keeper may go on with it now.
static bool is_left(const Slot &slot) {
    State state = state_of(slot);
    return state == State::charged || (state == State::pending && (slot.alone || !gathers()));
}

// Under the lock. Null: none is.
static Keeper *idle_keeper() {
    for (Keeper &keeper : pool()->keepers)
        if (keeper.life == Life::idle)
            return &keeper;
    return nullptr;
}

// Under the lock.
static void wake_idle_keeper() {
    if (Keeper *keeper = idle_keeper()) {
        keeper->life = Life::woken;
        SetLatch(&keeper->process->procLatch);
    }
}

bool submit(int index, Size size) {
    lock();
    Slot &slot = slot_at(index);
    slot.filled = size;
    slot.ticket = ++pool()->tickets;
    slot.since = GetCurrentTimestamp();
    slot.clock = batch_clock();
    set_state(slot, State::pending);
    bool idle = idle_keeper() != nullptr;
    if (is_left(slot))
        wake_idle_keeper();
    unlock();
    return idle;
}

Size part_there(int index, bool *last, Loss *lost) {
    Size size = 0;
    LWLockAcquire(&pool()->lock, LW_SHARED);
    const Slot &slot = slot_at(index);
    *lost = slot.lost;
    if (slot.lost == Loss::none && !slot.taken) {
        size = slot.filled;
        *last = slot.last;
    }
    unlock();
    return size;
}

void part_taken(int index) {
    lock();
    Slot &slot = slot_at(index);
    slot.taken = true;
    if (!slot.last && slot.keeper >= 0)
        SetLatch(&pool()->keepers[slot.keeper].process->procLatch);
    unlock();
}

static void forget(int index) {
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

void free_slot(int slot) {
    forget(slot);
}

void abandon(int index) {
    bool mine = false;
    lock();
    Slot &slot = slot_at(index);
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
        forget(index);
}

// ---- keepers: what comes next --------------------------------------------------------------------------------------

namespace {
struct Candidate {
    int slot;
    uint64 ticket;
    Oid login;
    int round; // how many requests of the same login are older
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

constexpr int retry_ms = 20;
constexpr int no_worker_ms = 10000; // for so long no other keeper is counted on

// Under the lock. How many keepers there can be now.
static int possible_keepers(int living) {
    int possible = Min(most_keepers(), most_workers());
    if (TimestampDifferenceExceeds(pool()->no_worker, GetCurrentTimestamp(), no_worker_ms))
        return possible;
    return Min(possible, living);
}

// Under the lock. How many keepers one login, or the tables of other servers, may have.
static int most_for_one() {
    int living = 0;
    for (const Keeper &keeper : pool()->keepers)
        living += keeper.life != Life::none && keeper.life != Life::starting;
    return Max(1, possible_keepers(living) - 1);
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
            candidates[n++] = Candidate{i, slot.ticket, slot.login, 0};
    }
    std::sort(candidates, candidates + n, [](const Candidate &a, const Candidate &b) { return a.ticket < b.ticket; });
    return n;
}

// Everybody's first request comes before anybody's second.
static void order_by_turns(Candidate *candidates, int n) {
    for (int i = 0; i < n; i++)
        for (int j = i - 1; j >= 0; j--)
            if (candidates[j].login == candidates[i].login) {
                candidates[i].round = candidates[j].round + 1;
                break;
            }
    std::sort(candidates, candidates + n, [](const Candidate &a, const Candidate &b) {
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

static void take(Slot &slot, State state) {
    slot.keeper = self;
    set_state(slot, state);
}

int take_pending(int *slots) {
    Candidate candidates[nslots];
    int taken = 0;
    lock();
    int n = waiting(State::pending, GetCurrentTimestamp(), candidates);
    order_by_turns(candidates, n);
    bool gathering = gathers();
    for (int i = 0; i < n && taken < most_in_batch; i++) {
        Slot &slot = slot_at(candidates[i].slot);
        if ((slot.alone ? taken > 0 || comes_later(slot) : gathering) || !may_work_for(slot))
            continue;
        take(slot, State::charging);
        slots[taken++] = candidates[i].slot;
        if (slot.alone) {
            pool()->keepers[self].reading_for = slot.login;
            break;
        }
        slot.left = Max(0, batch_clock() - slot.clock); // the clock may have been set
    }
    unlock();
    return taken;
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

int take_charged() {
    Candidate candidates[nslots];
    int found = -1;
    lock();
    TimestampTz now = GetCurrentTimestamp();
    Oid last = pool()->keepers[self].reading_for;
    int n = waiting(State::charged, now, candidates);
    for (int i = 0; i < n && found < 0; i++)
        if (has_a_turn(slot_at(candidates[i].slot), last, now) && !is_held_elsewhere(slot_at(candidates[i].slot)))
            found = candidates[i].slot;
    order_by_turns(candidates, n);
    for (int i = 0; i < n && found < 0; i++) {
        const Slot &slot = slot_at(candidates[i].slot);
        if (slot.keeper == self && may_read(slot))
            found = candidates[i].slot;
    }
    for (int i = 0; i < n && found < 0; i++)
        if (may_read(slot_at(candidates[i].slot)))
            found = candidates[i].slot;
    if (found >= 0) {
        take(slot_at(found), State::running);
        pool()->keepers[self].reading_for = slot_at(found).login;
        pool()->keepers[self].slot = found;
    }
    unlock();
    return found;
}

bool somebody_is_pending() {
    bool pending = false;
    LWLockAcquire(&pool()->lock, LW_SHARED);
    for (const Slot &slot : pool()->slots)
        pending = pending || state_of(slot) == State::pending;
    unlock();
    return pending;
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
        forget(index);
}

void put_back(int index, bool locked) {
    slot_at(index).locked = locked;
    back_to_pending(index, true, TimestampTzPlusMilliseconds(GetCurrentTimestamp(), retry_ms));
}

void hand_back(int index) {
    back_to_pending(index, false, 0);
}

void mark_committing(const int *slots, int n) {
    lock();
    for (int i = 0; i < n; i++)
        slot_at(slots[i]).committing = true;
    unlock();
}

void set_aside(int index) {
    back_to_pending(index, true, 0);
}

bool mark_elsewhere(int index) {
    lock();
    bool was = slot_at(index).elsewhere;
    slot_at(index).elsewhere = true;
    unlock();
    return was;
}

void mark_running(int index) {
    lock();
    pool()->keepers[self].slot = index;
    set_state(slot_at(index), State::running);
    unlock();
}

void mark_charged(int index, const bytea *charged, privacy::Epsilon epsilon, privacy::Day period) {
    lock();
    Slot &slot = slot_at(index);
    slot.charger = self;
    slot.locked = false;
    memcpy(slot.charged, VARDATA(charged), sizeof slot.charged);
    slot.epsilon = epsilon;
    slot.period = period;
    set_state(slot, State::charged);
    unlock();
}

bool is_charged(int index, const bytea *charged) {
    return memcmp(slot_at(index).charged, VARDATA(charged), PG_SHA256_DIGEST_LENGTH) == 0;
}

void give_back_charged(int index, bool locked) {
    lock();
    Slot &slot = slot_at(index);
    slot.locked = locked;
    slot.keeper = slot.charger;
    slot.retry = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), retry_ms);
    set_state(slot, State::charged);
    if (slot.charger >= 0 && slot.charger != self)
        SetLatch(&pool()->keepers[slot.charger].process->procLatch);
    unlock();
}

bool is_cancelled(int index) {
    return slot_at(index).cancelled;
}

bool is_over(int index, uint64 ticket) {
    LWLockAcquire(&pool()->lock, LW_SHARED);
    const Slot &slot = slot_at(index);
    State state = state_of(slot);
    bool over = slot.ticket != ticket || (state != State::charged && state != State::running);
    unlock();
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
    pool()->keepers[self].slot = -1;
    slot.keeper = -1;
    if (slot.charger >= 0 && slot.charger != self) // gives its locks back
        SetLatch(&pool()->keepers[slot.charger].process->procLatch);
    set_state(slot, State::done);
}

bool send_part(int index, const void *bytes, Size size, bool last) {
    Slot &slot = slot_at(index);
    Assert(size > 0 && size <= slot.capacity);
    if (!slot.taken && !wait_until_taken(slot))
        return false;
    memcpy(buffer_of(slot), bytes, size);
    lock();
    bool cancelled = slot.cancelled;
    if (!cancelled) {
        slot.filled = size;
        slot.last = last;
        slot.taken = false;
        if (last)
            finish(slot);
        SetLatch(&slot.client->procLatch);
    }
    unlock();
    return !cancelled;
}

// Under the lock.
static Loss loss_of(const Slot &slot) {
    if (state_of(slot) != State::charging)
        return Loss::charged;
    return slot.committing ? Loss::unknown : Loss::uncharged;
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
    pool()->keepers[self].slot = -1;
    bool told = fail(slot_at(index));
    unlock();
    if (!told)
        forget(index);
}

// Under the lock.
static void wake_for_work() {
    for (const Slot &slot : pool()->slots)
        if (is_left(slot)) {
            wake_idle_keeper();
            break;
        }
}

void wake_another() {
    lock();
    wake_for_work();
    unlock();
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

static void get_in_line(bool batch) {
    lock();
    pool()->keepers[self].turn = ++pool()->tickets;
    set_batch(batch);
    unlock();
}

static bool try_turn() {
    lock();
    Keeper &keeper = pool()->keepers[self];
    bool mine = pool()->charging < 0 && next_in_turn() == &keeper;
    if (mine) {
        pool()->charging = self;
        keeper.turn = 0;
    }
    unlock();
    return mine;
}

void take_charge_turn(bool batch) {
    get_in_line(batch);
    while (!try_turn()) {
        (void)WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, 100,
                        border::wait_event("DpRdrChargeTurn"));
        ResetLatch(MyLatch);
        CHECK_FOR_INTERRUPTS();
    }
}

// Under the lock. Also of a keeper that goes while it waits.
static void leave_line() {
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
    lock();
    leave_line();
    unlock();
}

// ---- the table of keepers ------------------------------------------------------------------------------------------

// Under the lock. The place that a client has reserved. A keeper that is started by a session with the library of before, and
// has loaded the new one, finds none: it stays where there are too few, and goes without a word where there are enough.
static int place_to_enter() {
    int reserved = -1, empty = -1, living = 0;
    for (int i = max_keepers - 1; i >= 0; i--) {
        Life life = pool()->keepers[i].life;
        reserved = life == Life::starting ? i : reserved;
        empty = life == Life::none ? i : empty;
        living += life != Life::starting && life != Life::none;
    }
    return reserved >= 0 ? reserved : living < most_keepers() ? empty : -1;
}

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
    return self = place;
}

void leave_pool() {
    if (self < 0)
        return;
    LWLockReleaseAll();
    ConditionVariableCancelSleep(); // before its memory is gone
    int orphans[nslots], norphans = 0;
    lock();
    for (int i = 0; i < nslots; i++) {
        Slot &slot = slot_at(i);
        State state = state_of(slot);
        if (slot.charger == self && state != State::free)
            slot.charger = -1;
        if (slot.client != nullptr && (state == State::charged || state == State::pending))
            SetLatch(&slot.client->procLatch); // it looks whether there is a keeper, and starts one
        if (slot.keeper != self)
            continue;
        if (state == State::charged)
            slot.keeper = -1; // any other reads it
        else if ((state == State::charging || state == State::running) && !fail(slot))
            orphans[norphans++] = i;
    }
    leave_line();
    pool()->keepers[self].life = Life::none;
    pool()->keepers[self].process = nullptr;
    unlock();
    for (int i = 0; i < norphans; i++)
        forget(orphans[i]);
    self = -1;
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
    *milliseconds = Min(*milliseconds, later ? retry_ms : TimestampDifferenceMilliseconds(now, slot.retry) + 1);
    return false;
}

bool becomes_idle(long *milliseconds) {
    bool work = false;
    lock();
    Keeper &keeper = pool()->keepers[self];
    TimestampTz now = GetCurrentTimestamp();
    keeper.reading_for = InvalidOid;
    keeper.slot = -1;
    for (const Slot &slot : pool()->slots)
        work = work || is_work(slot, now, milliseconds);
    keeper.life = work ? Life::busy : Life::idle;
    unlock();
    return !work;
}

static int time_class(double microseconds) {
    return microseconds <= 1 ? 0 : Min(nclasses - 1, static_cast<int>(std::log2(microseconds) * 4));
}

void count_charges(const int *slots, int charges, double microseconds) {
    lock();
    pool()->keepers[self].charges += charges;
    pool()->keepers[self].commits++;
    for (int i = 0; i < charges; i++) {
        int64 left = slots == nullptr ? 0 : slot_at(slots[i]).left;
        pool()->charge_times[time_class(microseconds + static_cast<double>(left))]++;
    }
    unlock();
}

} // namespace dp::keeper
