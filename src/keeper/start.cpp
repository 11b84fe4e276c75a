#include "keeper/start.hpp"

// The library that a keeper loads. That of test/greybox is another one.
#ifndef DP_RDR_LIBRARY
#define DP_RDR_LIBRARY "$libdir/dp_rdr"
#endif

namespace dp::keeper {

static int setting = 3;

void define_settings() {
    DefineCustomIntVariable("dp_rdr.keepers", "Background workers that answer the analysts of one database, at most.",
                            "All databases together have at most half of max_worker_processes.", &setting, 3, 1,
                            max_keepers, PGC_SIGHUP, 0, nullptr, nullptr, nullptr);
}

int most_keepers() {
    return setting;
}

int most_workers() {
    return Max(1, max_worker_processes / 2);
}

// One that was to start and has not for so long never will.
constexpr int starting_ms = 5000;

// Under the pool's lock.
static int count_keepers(bool *starting) {
    int n = 0;
    *starting = false;
    TimestampTz now = GetCurrentTimestamp();
    for (Keeper &keeper : pool()->keepers) {
        if (keeper.life == Life::starting && TimestampDifferenceExceeds(keeper.since, now, starting_ms))
            keeper.life = Life::none;
        n += keeper.life != Life::none;
        *starting = *starting || keeper.life == Life::starting;
    }
    return n;
}

static int living_keepers() {
    bool starting;
    const Locked lock(pool()->lock);
    return count_keepers(&starting);
}

bool keeper_lives() {
    const Locked lock(pool()->lock, LW_SHARED);
    for (const Keeper &keeper : pool()->keepers)
        if (keeper.life != Life::none && keeper.life != Life::starting)
            return true;
    return false;
}

// The place is taken before the worker is asked for: else every client that finds none starts one.
static int reserve_place() {
    bool starting;
    const Locked lock(pool()->lock);
    if (count_keepers(&starting) >= most_keepers() || starting)
        return -1;
    for (int i = 0; i < max_keepers; i++)
        if (pool()->keepers[i].life == Life::none) {
            pool()->keepers[i].life = Life::starting;
            pool()->keepers[i].since = GetCurrentTimestamp();
            return i;
        }
    return -1;
}

static void give_place(int place) {
    const Locked lock(pool()->lock);
    pool()->no_worker = GetCurrentTimestamp();
    if (pool()->keepers[place].life == Life::starting)
        pool()->keepers[place].life = Life::none;
}

// All databases together leave half of the slots to others. What this one has is counted anew each time: a worker that never
// came to life, or died without a word, is not counted for ever.
static bool reserve_worker() {
    int others = 0, own = living_keepers();
    const Locked lock(directory()->lock);
    for (const DatabaseEntry &entry : directory()->databases)
        if (&entry != database_entry())
            others += entry.keepers;
    bool room = others + own <= most_workers();
    database_entry()->keepers = room ? own : own - 1;
    return room;
}

void keeper_is_gone() {
    int own = living_keepers();
    const Locked lock(directory()->lock);
    database_entry()->keepers = own;
}

// Sets how often a process that waits says so.
constexpr int waiting_ms = 1000;

static void say_waiting() {
    if (keeper_lives())
        return;
    const Locked lock(directory()->lock);
    database_entry()->waiting = GetCurrentTimestamp();
}

bool somebody_waits() {
    TimestampTz now = GetCurrentTimestamp();
    const Locked lock(directory()->lock, LW_SHARED);
    for (const DatabaseEntry &entry : directory()->databases)
        if (entry.waiting != 0 && entry.database != MyDatabaseId &&
            !TimestampDifferenceExceeds(entry.waiting, now, waiting_ms))
            return true;
    return false;
}

static BackgroundWorker describe_worker() {
    BackgroundWorker worker;
    memset(&worker, 0, sizeof worker);
    snprintf(worker.bgw_name, BGW_MAXLEN, "dp_rdr keeper of %s", get_database_name(MyDatabaseId));
    strlcpy(worker.bgw_type, "dp_rdr keeper", BGW_MAXLEN);
    worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
    worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
    worker.bgw_restart_time = BGW_NEVER_RESTART;
    static_assert(sizeof DP_RDR_LIBRARY <= sizeof worker.bgw_library_name,
                  "the library's path is too long for a worker");
    strlcpy(worker.bgw_library_name, DP_RDR_LIBRARY, sizeof worker.bgw_library_name);
    strlcpy(worker.bgw_function_name, "dp_rdr_keeper_main", BGW_MAXLEN);
    worker.bgw_main_arg = ObjectIdGetDatum(MyDatabaseId);
    worker.bgw_notify_pid = 0;
    return worker;
}

bool start_keeper() {
    int place = reserve_place();
    if (place < 0)
        return true; // enough, or on their way
    BackgroundWorker worker = describe_worker();
    if (reserve_worker() && RegisterDynamicBackgroundWorker(&worker, nullptr))
        return true;
    give_place(place);
    keeper_is_gone();
    say_waiting();
    return false;
}

} // namespace dp::keeper
