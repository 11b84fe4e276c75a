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
    LWLockAcquire(&keeper::pool()->lock, LW_SHARED);
    memcpy(copy, keeper::pool()->keepers, sizeof copy);
    LWLockRelease(&keeper::pool()->lock);
    for (const keeper::Keeper &keeper : copy)
        if (keeper.life != keeper::Life::none)
            put_keeper(result, keeper);
    return Datum(0);
}

// dp_rdr.charge_times() -> (microseconds, charges): how many took at most so long and longer than the row before says.
DP_FUNCTION(charge_times) {
    InitMaterializedSRF(fcinfo, 0);
    auto *result = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
    uint64 copy[keeper::nclasses];
    LWLockAcquire(&keeper::pool()->lock, LW_SHARED);
    memcpy(copy, keeper::pool()->charge_times, sizeof copy);
    LWLockRelease(&keeper::pool()->lock);
    for (int i = 0; i < keeper::nclasses; i++) {
        Datum values[2] = {Float8GetDatum(std::exp2((i + 1) / 4.0)), Int64GetDatum(copy[i])};
        bool nulls[2] = {};
        if (copy[i] > 0)
            tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
    }
    return Datum(0);
}

} // namespace dp::sql
