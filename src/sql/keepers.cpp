// Shows the keepers of a database to its administrator (doc/operations.md).
#include <cmath>

#include "keeper/pool.hpp"
#include "sql/result_rows.hpp"

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

// dp_rdr.keepers() -> (pid, state, charges, commits): the keepers that live now.
DP_FUNCTION(keepers) {
    const ResultRows rows(fcinfo);
    keeper::Keeper copy[keeper::max_keepers];
    keeper::Pool *pool = keeper::live_pool();
    LWLockAcquire(&pool->lock, LW_SHARED);
    memcpy(copy, pool->keepers, sizeof copy);
    LWLockRelease(&pool->lock);
    for (const keeper::Keeper &keeper : copy) {
        if (keeper.life == keeper::Life::none)
            continue;
        if (keeper.life != keeper::Life::starting)
            rows.set("pid", Int32GetDatum(keeper.pid));
        rows.set("state", name_of(keeper.life));
        rows.set("charges", Int64GetDatum(keeper.charges));
        rows.set("commits", Int64GetDatum(keeper.commits));
        rows.put();
    }
    return Datum(0);
}

static const char *name_of(keeper::State state) {
    static const char *const names[] = {"free", "asking", "waiting", "charging", "charged", "reading", "answered"};
    return names[static_cast<int>(state)];
}

namespace {
struct Queued { // a slot as it is shown
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

// dp_rdr.queue() -> (client_pid, login, relation, state, keeper_pid, since): requests under way.
DP_FUNCTION(dp_queue) {
    const ResultRows rows(fcinfo);
    Queued queue[keeper::nslots];
    keeper::Pool *pool = keeper::live_pool();
    LWLockAcquire(&pool->lock, LW_SHARED);
    int n = copy_queue(queue);
    LWLockRelease(&pool->lock);
    for (const Queued *queued = queue; queued < queue + n; queued++) {
        if (queued->client != 0)
            rows.set("client_pid", Int32GetDatum(queued->client));
        rows.set("login", ObjectIdGetDatum(queued->login));
        if (OidIsValid(queued->relation))
            rows.set("relation", ObjectIdGetDatum(queued->relation));
        rows.set("state", name_of(queued->state));
        if (queued->keeper != 0)
            rows.set("keeper_pid", Int32GetDatum(queued->keeper));
        rows.set("since", TimestampTzGetDatum(queued->since));
        rows.put();
    }
    return Datum(0);
}

// dp_rdr.charge_times() -> (microseconds, charges): how many took at most so long and longer than the row before says.
DP_FUNCTION(charge_times) {
    const ResultRows rows(fcinfo);
    uint64 copy[keeper::nclasses];
    keeper::Pool *pool = keeper::live_pool();
    LWLockAcquire(&pool->lock, LW_SHARED);
    memcpy(copy, pool->charge_times, sizeof copy);
    LWLockRelease(&pool->lock);
    for (int i = 0; i < keeper::nclasses; i++) {
        if (copy[i] == 0)
            continue;
        rows.set("microseconds", Float8GetDatum(std::exp2((i + 1) / 4.0)));
        rows.set("charges", Int64GetDatum(copy[i]));
        rows.put();
    }
    return Datum(0);
}

} // namespace dp::sql
