// A background worker for each charge: the caller's side hands it an entry through a segment of shared memory, the worker
// commits it and writes the verdict back.
#include "catalog/ledger_worker.hpp"

#include "border/scope.hpp"
#include "catalog/ledger_bytes.hpp"
#include "catalog/ledger_writer.hpp"

extern "C" {
#include <storage/shm_toc.h>
}

namespace dp::catalog {

namespace {

// Whatever changes in the segment raises this number; a worker serves requests of its own layout alone.
constexpr uint32 mail_layout = 2;

enum class Status : uint32 { unanswered = 0, answered = 1, other_layout = 2 };

// Keys of the table of contents.
enum Key : uint64 { key_mail, key_entry };

struct Mail {
    // These three, key_mail and WorkerArguments are the same in every layout.
    uint32 layout; // mail_layout
    uint32 size;   // of this struct
    pg_atomic_uint32 status;
    Verdict verdict; // written before the status
    Size bytes;      // of the entry
};
static_assert(offsetof(Mail, layout) == 0 && offsetof(Mail, size) == 4 && offsetof(Mail, status) == 8);

// What the worker needs before it can see the segment (bgw_extra). The segment is found by a handle that the server may
// give to another segment once the caller has gone: the nonce, its magic number, tells the two apart.
struct WorkerArguments {
    Oid database;
    uint64 nonce;
};

// A request on its way. The segment belongs to the transaction's resource owner: an error on the caller's side, a cancel
// for instance, detaches it; a worker that has attached keeps its own mapping, one that comes later finds nothing.
struct Sent {
    dsm_segment *segment;
    uint64 nonce;
    Mail *mail;
};

Sent send(const Entry &entry) {
    StringInfoData bytes;
    initStringInfo(&bytes);
    encode(entry, &bytes);
    Sent sent;
    if (!pg_strong_random(&sent.nonce, sizeof sent.nonce))
        ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate random values")));
    shm_toc_estimator estimator;
    shm_toc_initialize_estimator(&estimator);
    shm_toc_estimate_chunk(&estimator, sizeof(Mail));
    shm_toc_estimate_chunk(&estimator, bytes.len);
    shm_toc_estimate_keys(&estimator, 2);
    Size size = shm_toc_estimate(&estimator);
    sent.segment = dsm_create(size, 0);
    shm_toc *toc = shm_toc_create(sent.nonce, dsm_segment_address(sent.segment), size);
    sent.mail = static_cast<Mail *>(shm_toc_allocate(toc, sizeof(Mail)));
    memset(static_cast<void *>(sent.mail), 0, sizeof(Mail));
    sent.mail->layout = mail_layout;
    sent.mail->size = sizeof(Mail);
    sent.mail->bytes = bytes.len;
    pg_atomic_init_u32(&sent.mail->status, static_cast<uint32>(Status::unanswered));
    shm_toc_insert(toc, key_mail, sent.mail);
    void *copy = shm_toc_allocate(toc, bytes.len);
    memcpy(copy, bytes.data, bytes.len);
    shm_toc_insert(toc, key_entry, copy);
    pfree(bytes.data);
    return sent;
}

BackgroundWorker describe_worker(const Sent &sent) {
    BackgroundWorker worker;
    memset(&worker, 0, sizeof worker);
    strlcpy(worker.bgw_name, "dp_rdr charge", BGW_MAXLEN);
    strlcpy(worker.bgw_type, "dp_rdr charge", BGW_MAXLEN);
    worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
    worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
    worker.bgw_restart_time = BGW_NEVER_RESTART;
    strlcpy(worker.bgw_library_name, "$libdir/dp_rdr", BGW_MAXLEN);
    strlcpy(worker.bgw_function_name, "dp_rdr_charge_worker", BGW_MAXLEN);
    worker.bgw_main_arg = UInt32GetDatum(dsm_segment_handle(sent.segment));
    WorkerArguments arguments;
    memset(&arguments, 0, sizeof arguments);
    arguments.database = MyDatabaseId;
    arguments.nonce = sent.nonce;
    static_assert(sizeof arguments <= BGW_EXTRALEN);
    memcpy(worker.bgw_extra, &arguments, sizeof arguments);
    worker.bgw_notify_pid = MyProcPid;
    return worker;
}

constexpr int slot_patience_ms = 2000;
constexpr int slot_retry_ms = 2; // a client without think time would otherwise always be the one to find the slot

// Charges take a few milliseconds, so a slot is worth a short wait; false when none came free.
bool start_worker(BackgroundWorker *worker, BackgroundWorkerHandle **handle) {
    TimestampTz start = GetCurrentTimestamp();
    while (!RegisterDynamicBackgroundWorker(worker, handle)) {
        CHECK_FOR_INTERRUPTS();
        if (TimestampDifferenceExceeds(start, GetCurrentTimestamp(), slot_patience_ms))
            return false;
        (void)WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, slot_retry_ms, PG_WAIT_EXTENSION);
        ResetLatch(MyLatch);
    }
    return true;
}

void deliver(Entry *entry) {
    Sent sent = send(*entry);
    BackgroundWorker worker = describe_worker(sent);
    BackgroundWorkerHandle *handle;
    Status status = Status::unanswered;
    if (start_worker(&worker, &handle)) {
        // Not only until the status is there: a worker that outlives its caller's statement would keep DROP DATABASE
        // waiting and its slot taken. The postmaster's death ends the wait too; then the status decides as always.
        (void)WaitForBackgroundWorkerShutdown(handle);
        pfree(handle);
        status = static_cast<Status>(pg_atomic_read_u32(&sent.mail->status));
        pg_read_barrier();
        if (status == Status::answered)
            entry->verdict = sent.mail->verdict;
    } else
        entry->hint = "All background workers are in use. Try again, or ask the administrator to raise "
                      "\"max_worker_processes\".";
    dsm_detach(sent.segment);
    if (status == Status::other_layout)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("the library of dp_rdr was replaced while this session was running"),
                        errdetail("Nothing was charged."), errhint("Reconnect.")));
}

// One charge of a table at a time: whoever asks, and is denied, all the time has one background worker at most, however many
// connections he opens. First come, first served, and the wait can be cancelled. No SQL takes a lock of this class: objects
// of a class have its catalog's OID, and the odometer is none. Whoever holds it waits for his worker and for no other lock,
// and the worker for locks two seconds at most. An error on the way gives it back.
LOCKTAG queue_of(Oid relation) {
    LOCKTAG tag;
    Oid odometers = get_relname_relid("odometer", border::extension_schema());
    SET_LOCKTAG_OBJECT(tag, MyDatabaseId, odometers, relation, 0);
    return tag;
}

// ---- the worker's side ----

// False when the caller has gone meanwhile: nothing to do, nobody to tell.
bool open_mail(dsm_handle handle, const WorkerArguments &arguments, Mail **mail, const char **bytes) {
    dsm_segment *segment = dsm_attach(handle);
    if (segment == nullptr)
        return false;
    shm_toc *toc = shm_toc_attach(arguments.nonce, dsm_segment_address(segment));
    if (toc == nullptr)
        return false;
    *mail = static_cast<Mail *>(shm_toc_lookup(toc, key_mail, false));
    *bytes = static_cast<const char *>(shm_toc_lookup(toc, key_entry, true));
    return true;
}

constexpr int odometer_patience_ms = 2000;
constexpr long odometer_retry_us = 5000;

// The writer waits for no odometer that somebody else holds; the caller of this one is worth a short wait.
void commit_patiently(Entry *entry) {
    TimestampTz start = GetCurrentTimestamp();
    for (;;) {
        commit_charges(&entry, 1);
        if (entry->verdict.outcome != Outcome::busy ||
            TimestampDifferenceExceeds(start, GetCurrentTimestamp(), odometer_patience_ms))
            return;
        pg_usleep(odometer_retry_us);
        CHECK_FOR_INTERRUPTS();
    }
}

void work(dsm_handle handle) {
    // The default handler of a worker ends the process at once, also in the middle of a commit.
    pqsignal(SIGTERM, die);
    BackgroundWorkerUnblockSignals();
    WorkerArguments arguments;
    memcpy(&arguments, MyBgworkerEntry->bgw_extra, sizeof arguments);
    Mail *mail;
    const char *bytes;
    if (!open_mail(handle, arguments, &mail, &bytes))
        return;
    Entry *entry = nullptr;
    if (mail->layout == mail_layout && mail->size == sizeof(Mail) && bytes != nullptr)
        entry = decode(bytes, mail->bytes);
    if (entry == nullptr) {
        pg_atomic_write_u32(&mail->status, static_cast<uint32>(Status::other_layout));
        return;
    }
    // By no name, that is as the bootstrap superuser: the extension's owner need not be allowed to log in.
    BackgroundWorkerInitializeConnectionByOid(arguments.database, InvalidOid, 0);
    border::force_settings();
    commit_patiently(entry);
    mail->verdict = entry->verdict;
    pg_write_barrier();
    pg_atomic_write_u32(&mail->status, static_cast<uint32>(Status::answered));
}

} // namespace

void deliver_by_worker(Entry *entry) {
    const bool in_turn = entry->kind == RequestKind::charge || entry->kind == RequestKind::selection;
    LOCKTAG queue = queue_of(entry->what->settings->relation);
    if (in_turn)
        (void)LockAcquire(&queue, ExclusiveLock, false, false);
    deliver(entry);
    if (in_turn)
        (void)LockRelease(&queue, ExclusiveLock, false);
}

} // namespace dp::catalog

// Main function of the background worker; its argument is the handle of the caller's segment.
extern "C" PGDLLEXPORT void dp_rdr_charge_worker(Datum handle);

void dp_rdr_charge_worker(Datum handle) {
    dp::border::core([&] { dp::catalog::work(DatumGetUInt32(handle)); });
}
