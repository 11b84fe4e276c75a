#include "keeper/serving.hpp"

#include "keeper/answering.hpp"
#include "keeper/preparing.hpp"
#include "keeper/turns.hpp"
#include "rows/guarded_read.hpp"
#include "rows/touched.hpp"

namespace dp::keeper {

// ---- charged requests ----------------------------------------------------------------------------------------------

// Lists the requests that this keeper has charged and somebody has yet to read: their locks stand until then.
static Request *held[nslots];

static void hold(Request *request) {
    if (held[request->slot] != nullptr) // of the slot's last request, which another keeper has answered
        close_request(held[request->slot]);
    held[request->slot] = request;
    request->marked = true;
    const catalog::Touched *touched = request->entry->what->touched;
    mark_charged(request->slot, request->charged, request->entry->verdict.epsilon, request->entry->verdict.period,
                 touched == nullptr ? 0 : touched->begun);
}

void release_locks() {
    for (Request *&request : held)
        if (request != nullptr && is_over(request->slot, request->ticket)) {
            close_request(request);
            request = nullptr;
        }
}

// Gives up the locks of all of them: each counts for itself, so a deadlock stays as long as one holds what is waited for.
static void let_go_of_held() {
    for (Request *&request : held)
        if (request != nullptr) {
            close_request(request);
            request = nullptr;
        }
}

static Request *find_held(int slot) {
    Request *request = held[slot];
    if (request == nullptr || request->ticket != pool()->slots[slot].ticket)
        return nullptr;
    held[slot] = nullptr;
    MemoryContextSwitchTo(request->memory);
    if (has_locks(request))
        return request;
    close_request(request); // it is checked again
    return nullptr;
}

// Charged by another keeper: resolved again here, and read if it comes to what was charged, to the same price. A literal may mean
// something else by now. Null: not here, not now.
static Request *resume(int slot) {
    Request *request = open_request(slot);
    bool same = false;
    request->alone = false;
    request->paid = request->marked = true;
    int charger = pool()->slots[slot].charger;
    bool elsewhere = charger >= 0 && charger != this_keeper(); // there it can be read as well
    rows::resolve_at(pool()->slots[slot].begun); // a month that has begun since was not charged
    ErrorData *error = in_transaction(request, elsewhere ? "10ms" : for_now, elsewhere ? 200 : 0, [&] {
        if (!prepare_answer(request))
            return;
        const Slot &shared = pool()->slots[slot];
        same = is_charged(slot, request->charged);
        if (same)
            release::continue_charged(request->round, shared.epsilon, shared.period);
    });
    rows::resolve_at(0);
    if (error == nullptr && same)
        return request;
    bool locked = error != nullptr && is_for_now(error);
    if (locked || (pool()->slots[slot].charger >= 0 && pool()->slots[slot].charger != this_keeper()))
        give_back_charged(slot, locked);
    else
        reply_error(request, changed_error());
    close_request(request);
    return nullptr;
}

// Gives back a request that something is in the way of. What it has locked stays as it was checked, while a lock is waited for. A
// deadlock is ended by giving up these locks, and those of all that wait; then, and where partitions came, it is resolved again.
static void read_later(Request *request) {
    const int slot = request->slot;
    const bool keeps =
        !request->paid && has_locks(request) && request->in_the_way->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE;
    FreeErrorData(request->in_the_way);
    request->in_the_way = nullptr;
    if (keeps) {
        held[slot] = request;
    } else {
        close_request(request);
        let_go_of_held();
    }
    give_back_charged(slot, true);
}

static void answer_charged(int slot) {
    Request *request = find_held(slot);
    if (request == nullptr)
        request = resume(slot);
    if (request == nullptr)
        return;
    wake_another();
    answer(request);
    if (request->in_the_way != nullptr)
        read_later(request);
    else
        close_request(request);
}

// ---- serving -------------------------------------------------------------------------------------------------------

static void charge_batch(Request **requests, int n) {
    auto **entries = static_cast<catalog::Entry **>(palloc(sizeof(catalog::Entry *) * n));
    int slots[most_in_batch];
    for (int i = 0; i < n; i++) {
        entries[i] = requests[i]->entry;
        slots[i] = requests[i]->slot;
    }
    commit(entries, slots, n);
    for (int i = 0; i < n; i++) {
        Request *request = requests[i];
        MemoryContextSwitchTo(request->memory);
        if (ends_with_charge(request)) {
            close_request(request);
        } else if (request->alone && (request->wish != nullptr || request->claim != nullptr || takes_long(request))) {
            answer_alone(request);
            close_request(request);
        } else {
            release::charged(request->round);
            hold(request);
        }
    }
}

static int prepare_batch(Request **requests) {
    int slots[most_in_batch], n = 0;
    int taken = take_pending(slots);
    TimestampTz start = GetCurrentTimestamp();
    for (int i = 0; i < taken; i++) {
        // One that takes long is enough for those that wait with it.
        if (i > 0 && TimestampDifferenceExceeds(start, GetCurrentTimestamp(), batch_ms)) {
            hand_back(slots[i]);
            continue;
        }
        Request *request = prepare(slots[i]);
        if (request != nullptr)
            requests[n++] = request;
    }
    return n;
}

void serve() {
    of_all = AllocSetContextCreate(TopMemoryContext, "dp_rdr batch", ALLOCSET_DEFAULT_SIZES);
    MemoryContextSwitchTo(of_all);
    Request *requests[most_in_batch];
    int n = prepare_batch(requests);
    MemoryContextSwitchTo(of_all);
    if (n > 0)
        charge_batch(requests, n);
    // Charges requests that come while answers take long in between, so that they have a turn.
    TimestampTz start = GetCurrentTimestamp();
    for (int slot = take_charged(); slot >= 0; slot = take_charged()) {
        answer_charged(slot);
        release_locks();
        if (TimestampDifferenceExceeds(start, GetCurrentTimestamp(), turn_ms) && somebody_is_pending())
            break;
    }
    release_locks();
    MemoryContext memory = of_all;
    of_all = TopMemoryContext;
    MemoryContextSwitchTo(of_all);
    MemoryContextDelete(memory);
}

} // namespace dp::keeper
