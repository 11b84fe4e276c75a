// Shows the keepers of a database to its administrator (doc/operations.md).
#include <cmath>

#include "keeper/pool.hpp"
#include "sql/result_rows.hpp"

namespace dp::sql {

using catalog::if_given;

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
        rows.put(if_given(keeper.life != keeper::Life::starting, keeper.pid), name_of(keeper.life),
                 static_cast<int64>(keeper.charges), static_cast<int64>(keeper.commits));
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
        rows.put(if_given(queued->client != 0, queued->client), queued->login,
                 if_given(OidIsValid(queued->relation), queued->relation), name_of(queued->state),
                 if_given(queued->keeper != 0, queued->keeper), catalog::Moment{queued->since});
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
        rows.put(std::exp2((i + 1) / 4.0), static_cast<int64>(copy[i]));
    }
    return Datum(0);
}

} // namespace dp::sql
