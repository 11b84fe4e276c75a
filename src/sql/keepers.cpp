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
    keeper::Pool *pool = keeper::live_pool();
    LWLockAcquire(&pool->lock, LW_SHARED);
    for (const keeper::Keeper &keeper : pool->keepers)
        if (keeper.life != keeper::Life::none)
            rows.put(if_given(keeper.life != keeper::Life::starting, keeper.pid), name_of(keeper.life),
                     static_cast<int64>(keeper.charges), static_cast<int64>(keeper.commits));
    LWLockRelease(&pool->lock);
    return Datum(0);
}

static const char *name_of(keeper::State state) {
    static const char *const names[] = {"free", "asking", "waiting", "charging", "charged", "reading", "answered"};
    return names[static_cast<int>(state)];
}

// dp_rdr.queue() -> (client_pid, login, relation, state, keeper_pid, since): requests under way.
DP_FUNCTION(dp_queue) {
    const ResultRows rows(fcinfo);
    keeper::Pool *pool = keeper::live_pool();
    LWLockAcquire(&pool->lock, LW_SHARED);
    for (const keeper::Slot &slot : pool->slots) {
        const keeper::State state = keeper::state_of(slot);
        if (state == keeper::State::free)
            continue;
        const int client = slot.client == nullptr ? 0 : slot.client->pid;
        const int by = slot.keeper < 0 ? 0 : pool->keepers[slot.keeper].pid;
        rows.put(if_given(client != 0, client), slot.login, if_given(OidIsValid(slot.relation), slot.relation),
                 name_of(state), if_given(by != 0, by), catalog::Moment{slot.asked});
    }
    LWLockRelease(&pool->lock);
    return Datum(0);
}

// dp_rdr.charge_times() -> (microseconds, charges): how many took at most so long and longer than the row before says.
DP_FUNCTION(charge_times) {
    const ResultRows rows(fcinfo);
    keeper::Pool *pool = keeper::live_pool();
    LWLockAcquire(&pool->lock, LW_SHARED);
    for (int i = 0; i < keeper::nclasses; i++)
        if (pool->charge_times[i] > 0)
            rows.put(std::exp2((i + 1) / 4.0), static_cast<int64>(pool->charge_times[i]));
    LWLockRelease(&pool->lock);
    return Datum(0);
}

} // namespace dp::sql
