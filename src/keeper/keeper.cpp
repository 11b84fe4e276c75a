// The life of a keeper: a background worker of one database that charges and reads for its analysts (architecture.md, 3.8).
#include "border/hooks.hpp"
#include "border/scope.hpp"
#include "border/versions.hpp"
#include "catalog/ledger.hpp"
#include "keeper/queue.hpp"
#include "keeper/preparing.hpp"
#include "keeper/serving.hpp"
#include "keeper/start.hpp"
#include "keeper/watch.hpp"
#include "rows/may_read.hpp"

namespace dp::keeper {

// ---- signals -------------------------------------------------------------------------------------------------------

// SIGINT says that the client of the request that is read now has gone, or that a lock took too long (the server's own
// timer). Whatever else sends it, pg_cancel_backend() for instance, does nothing.
static void on_sigint(SIGNAL_ARGS) {
    int saved = errno;
    int slot = slot_served();
    if (get_timeout_indicator(LOCK_TIMEOUT, false) || get_timeout_indicator(STATEMENT_TIMEOUT, false) ||
        (slot >= 0 && is_cancelled(slot))) {
        InterruptPending = true;
        QueryCancelPending = true;
        note_told();
    }
    SetLatch(MyLatch);
    errno = saved;
}

// Whether it only waits for work: then it goes without a word when it is told to, as when the server shuts down.
static volatile sig_atomic_t idle = 0, told_to_go = 0;

static void on_sigterm(SIGNAL_ARGS) {
    int saved = errno;
    told_to_go = 1;
    note_told();
    if (idle == 0)
        die(postgres_signal_arg);
    SetLatch(MyLatch);
    errno = saved;
}

static void set_handlers() {
    pqsignal(SIGTERM, on_sigterm);
    pqsignal(SIGINT, on_sigint);
    pqsignal(SIGHUP, SignalHandlerForConfigReload);
    BackgroundWorkerUnblockSignals();
}

// ---- the end -------------------------------------------------------------------------------------------------------

static void leave(int, Datum) {
    leave_pool();
    // A process that ends outside a transaction leaves its session's locks to whoever gets its place in shared memory: until that
    // one ends, nobody alters the tables. Requests that were charged here, and are read elsewhere, are locked there as well.
    AbortOutOfAnyTransaction();
    LockReleaseAll(DEFAULT_LOCKMETHOD, true);
    keeper_is_gone();
}

// Nothing that a keeper calls may charge behind its rounds' back.
[[noreturn]] static void charge_in_rounds_alone(catalog::Entry *) {
    elog(ERROR, "a keeper charges in its rounds alone");
}

// DROP DATABASE, or one that copies this database, waits until nobody else is in it: they hold its lock.
static bool database_is_wanted() {
    LOCKTAG tag;
    SET_LOCKTAG_OBJECT(tag, InvalidOid, DatabaseRelationId, MyDatabaseId, 0);
    if (LockAcquire(&tag, RowExclusiveLock, true, true) == LOCKACQUIRE_NOT_AVAIL)
        return true;
    (void)LockRelease(&tag, RowExclusiveLock, true);
    return false;
}

// ---- the loop ------------------------------------------------------------------------------------------------------

constexpr int idle_ms = 60 * 1000;
constexpr int kept = 2; // stay, whatever there is to do
constexpr long look_ms = 500;
constexpr uint64 most_requests = 10000; // caches of record types and of plans never shrink
constexpr Size most_memory = 256 * 1024 * 1024;

static void handle_interrupts() {
    CHECK_FOR_INTERRUPTS();
    if (ConfigReloadPending) {
        ConfigReloadPending = false;
        ProcessConfigFile(PGC_SIGHUP);
    }
    if (catchupInterruptPending)
        ProcessCatchupInterrupt();
}

static bool has_served_enough(uint64 rounds) {
    constexpr uint64 between_looks = 256;
    return rounds >= most_requests ||
           (rounds % between_looks == 0 && MemoryContextMemAllocated(TopMemoryContext, true) > most_memory);
}

// A database under constant load does not keep all worker slots from another one.
static bool gives_way(TimestampTz start, TimestampTz *last_look) {
    constexpr int turn_ms = 1000, between_looks_ms = 100;
    TimestampTz now = GetCurrentTimestamp();
    if (!TimestampDifferenceExceeds(*last_look, now, between_looks_ms))
        return false;
    *last_look = now;
    return TimestampDifferenceExceeds(start, now, turn_ms) && somebody_waits();
}

// Tells whether it goes for want of work. Two stay: any login can take the slots that are free with queries of its own, and one keeper
// may be busy with a long scan. Connections to other servers are not kept for ever.
static bool is_spare(TimestampTz idle_since) {
    return TimestampDifferenceExceeds(idle_since, GetCurrentTimestamp(), idle_ms) &&
           (living_now() > kept || has_asked_elsewhere());
}

// Nothing to do for now. False: it is time to go.
static bool rest(TimestampTz idle_since, long milliseconds) {
    int found = WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, milliseconds,
                          border::wait_event("DpRdrIdle"));
    ResetLatch(MyLatch);
    handle_interrupts();
    if ((found & WL_TIMEOUT) == 0)
        return told_to_go == 0;
    pgstat_report_stat(true);
    return !is_spare(idle_since) && !database_is_wanted() && !somebody_waits();
}

static void keep() {
    TimestampTz start = GetCurrentTimestamp(), idle_since = start, last_look = start;
    for (uint64 rounds = 0; !has_served_enough(rounds) && !gives_way(start, &last_look); rounds++) {
        handle_interrupts();
        for (long milliseconds = look_ms; becomes_idle(&milliseconds); milliseconds = look_ms) {
            pgstat_report_activity(STATE_IDLE, "");
            idle = 1;
            if (told_to_go != 0 || !rest(idle_since, milliseconds))
                return;
            idle = 0;
            release_locks();
        }
        border::drop_hooks();
        if (told_to_go != 0)
            return;
        serve();
        idle_since = GetCurrentTimestamp();
    }
}

// Adds the database to each message that a keeper writes to the log. log_line_prefix knows no database of a background worker.
// Clients do not see this context: their messages are written anew.
static void name_database(void *name) {
    errcontext("background worker of database \"%s\"", static_cast<const char *>(name));
}

static void name_in_log() {
    static char name[NAMEDATALEN];
    static ErrorContextCallback callback = {nullptr, name_database, name};
    strlcpy(name, get_database_name(MyDatabaseId), sizeof name);
    callback.previous = error_context_stack;
    error_context_stack = &callback;
}

// A keeper that is alone starts another while there is a slot.
static void start_second() {
    StartTransactionCommand();
    if (living_now() < kept)
        (void)start_keeper();
    CommitTransactionCommand();
}

static void work(Oid database) {
    set_handlers();
    border::drop_hooks();
    rows::become_keeper();
    watch_aborts();
    catalog::deliver_by(charge_in_rounds_alone);
    // By no name, that is as the bootstrap superuser: the extension's owner need not be allowed to log in.
    BackgroundWorkerInitializeConnectionByOid(database, InvalidOid, 0);
    border::force_settings();
    StartTransactionCommand();
    name_in_log();
    (void)pool();
    CommitTransactionCommand();
    if (enter_pool() < 0)
        return;
    before_shmem_exit(leave, Datum(0));
    start_second();
    keep();
}

} // namespace dp::keeper

extern "C" PGDLLEXPORT void dp_rdr_keeper_main(Datum database);

void dp_rdr_keeper_main(Datum database) {
    dp::border::core([&] { dp::keeper::work(DatumGetObjectId(database)); });
}
