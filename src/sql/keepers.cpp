// What an administrator sees of the keepers of his database (doc/operations.md).
#include <cmath>

#include "keeper/pool.hpp"
#include "sql/arguments.hpp"

namespace dp::sql {

static const char *name_of(keeper::Life life) {
    switch (life) {
    case keeper::Life::starting:
        return "starting";
    case keeper::Life::idle:
    case keeper::Life::woken:
        return "idle";
    default:
        return "busy";
    }
}

static void put_keeper(ReturnSetInfo *result, const keeper::Keeper &keeper) {
    Datum values[4] = {Int32GetDatum(keeper.pid), CStringGetTextDatum(name_of(keeper.life)),
                       Int64GetDatum(keeper.charges), Int64GetDatum(keeper.commits)};
    bool nulls[4] = {keeper.life == keeper::Life::starting};
    tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

// dp_rdr.keepers() -> (pid, state, charges, commits): the keepers that live now.
DP_FUNCTION(keepers) {
    InitMaterializedSRF(fcinfo, 0);
    auto *result = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
    keeper::Keeper copy[keeper::max_keepers];
    keeper::Pool *pool = keeper::live_pool();
    LWLockAcquire(&pool->lock, LW_SHARED);
    memcpy(copy, pool->keepers, sizeof copy);
    LWLockRelease(&pool->lock);
    for (const keeper::Keeper &keeper : copy)
        if (keeper.life != keeper::Life::none)
            put_keeper(result, keeper);
    return Datum(0);
}

static const char *name_of(keeper::State state) {
    static const char *const names[] = {"free", "asking", "waiting", "charging", "charged", "reading", "answered"};
    return names[static_cast<int>(state)];
}

namespace {
struct Queued { // of a slot, what is shown
    int client, keeper;
    Oid login, relation;
    keeper::State state;
    TimestampTz since;
};
} // namespace

// Under the pool's lock.
static int copy_queue(Queued *queue) {
    int n = 0;
    for (const keeper::Slot &slot : keeper::pool()->slots) {
        keeper::State state = keeper::state_of(slot);
        if (state == keeper::State::free)
            continue;
        int by = slot.keeper < 0 ? 0 : keeper::pool()->keepers[slot.keeper].pid;
        queue[n++] =
            Queued{slot.client == nullptr ? 0 : slot.client->pid, by, slot.login, slot.relation, state, slot.asked};
    }
    return n;
}

static void put_queued(ReturnSetInfo *result, const Queued &queued) {
    Datum values[6] = {Int32GetDatum(queued.client),      ObjectIdGetDatum(queued.login),
                       ObjectIdGetDatum(queued.relation), CStringGetTextDatum(name_of(queued.state)),
                       Int32GetDatum(queued.keeper),      TimestampTzGetDatum(queued.since)};
    bool nulls[6] = {queued.client == 0, false, !OidIsValid(queued.relation), false, queued.keeper == 0, false};
    tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

// dp_rdr.queue() -> (client_pid, login, relation, state, keeper_pid, since): requests under way.
DP_FUNCTION(dp_queue) {
    InitMaterializedSRF(fcinfo, 0);
    auto *result = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
    Queued queue[keeper::nslots];
    keeper::Pool *pool = keeper::live_pool();
    LWLockAcquire(&pool->lock, LW_SHARED);
    int n = copy_queue(queue);
    LWLockRelease(&pool->lock);
    for (int i = 0; i < n; i++)
        put_queued(result, queue[i]);
    return Datum(0);
}

// dp_rdr.charge_times() -> (microseconds, charges): how many took at most so long and longer than the row before says.
DP_FUNCTION(charge_times) {
    InitMaterializedSRF(fcinfo, 0);
    auto *result = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
    uint64 copy[keeper::nclasses];
    keeper::Pool *pool = keeper::live_pool();
    LWLockAcquire(&pool->lock, LW_SHARED);
    memcpy(copy, pool->charge_times, sizeof copy);
    LWLockRelease(&pool->lock);
    for (int i = 0; i < keeper::nclasses; i++) {
        Datum values[2] = {Float8GetDatum(std::exp2((i + 1) / 4.0)), Int64GetDatum(copy[i])};
        bool nulls[2] = {};
        if (copy[i] > 0)
            tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
    }
    return Datum(0);
}

} // namespace dp::sql
