// The caller's side of a charge: request, worker, wait, verdict. Nothing here writes to the ledger.
#include "catalog/ledger.hpp"

#include "border/scope.hpp"
#include "catalog/decimals.hpp"
#include "catalog/ledger_request.hpp"

namespace dp::catalog {

// A worker asked for on a standby never starts, and the wait for it never ends.
static void check_not_in_recovery() {
    if (RecoveryInProgress())
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("cannot charge a privacy loss during recovery"),
                        errhint("Restricted views are answered by the primary server.")));
}

void check_can_charge() {
    check_not_in_recovery();
    if (IsInParallelMode() || IsParallelWorker())
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("cannot charge a privacy loss during a parallel operation"),
                        errhint("Declare functions that query restricted views PARALLEL UNSAFE.")));
    // Its predicate locks, shown to everyone in pg_locks, count the pages and rows that an answer has read.
    if (IsolationIsSerializable())
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("cannot query a restricted view in a serializable transaction"),
                        errhint("Use the isolation level READ COMMITTED or REPEATABLE READ.")));
#if PG_VERSION_NUM < 170000 // removed there
    // A snapshot that is too old fails at the first page that was changed since, as one row may have changed it.
    if (OldSnapshotThresholdActive())
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("cannot query a restricted view while old_snapshot_threshold is set"),
                        errhint("Set old_snapshot_threshold = -1, the default, and restart the server.")));
#endif
}

namespace {

// The parts of a request, before they have a segment to live in.
struct Parcels {
    struct Parcel {
        Key key;
        const void *data;
        Size size;
    };
    static constexpr int capacity = 16;
    Parcel items[capacity];
    int n = 0;

    void add(Key key, const void *data, Size size) {
        Assert(n < capacity);
        if (size > 0)
            items[n++] = Parcel{key, data, size};
    }
    void add_text(Key key, const char *text) {
        if (text != nullptr)
            add(key, text, strlen(text) + 1);
    }
};

// A request on its way. The segment belongs to the transaction's resource owner: an error on the caller's side, a cancel
// for instance, detaches it; a worker that has attached keeps its own mapping, one that comes later finds nothing.
struct Mail {
    dsm_segment *segment;
    uint64 nonce;
    Request *request;
};

Mail send(const Parcels &parcels) {
    Mail mail;
    if (!pg_strong_random(&mail.nonce, sizeof mail.nonce))
        ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate random values")));
    shm_toc_estimator estimator;
    shm_toc_initialize_estimator(&estimator);
    for (int i = 0; i < parcels.n; i++)
        shm_toc_estimate_chunk(&estimator, parcels.items[i].size);
    shm_toc_estimate_keys(&estimator, parcels.n);
    Size size = shm_toc_estimate(&estimator);
    mail.segment = dsm_create(size, 0);
    shm_toc *toc = shm_toc_create(mail.nonce, dsm_segment_address(mail.segment), size);
    for (int i = 0; i < parcels.n; i++) {
        void *copy = shm_toc_allocate(toc, parcels.items[i].size);
        memcpy(copy, parcels.items[i].data, parcels.items[i].size);
        shm_toc_insert(toc, parcels.items[i].key, copy);
    }
    mail.request = static_cast<Request *>(shm_toc_lookup(toc, key_request, false));
    mail.request->layout = layout_number;
    mail.request->size = sizeof(Request);
    pg_atomic_init_u32(&mail.request->status, static_cast<uint32>(Status::pending));
    return mail;
}

BackgroundWorker describe_worker(const Mail &mail) {
    BackgroundWorker worker;
    memset(&worker, 0, sizeof worker);
    strlcpy(worker.bgw_name, "dp_rdr charge", BGW_MAXLEN);
    strlcpy(worker.bgw_type, "dp_rdr charge", BGW_MAXLEN);
    worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
    worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
    worker.bgw_restart_time = BGW_NEVER_RESTART;
    strlcpy(worker.bgw_library_name, "$libdir/dp_rdr", BGW_MAXLEN);
    strlcpy(worker.bgw_function_name, "dp_rdr_charge_worker", BGW_MAXLEN);
    worker.bgw_main_arg = UInt32GetDatum(dsm_segment_handle(mail.segment));
    WorkerArguments arguments;
    memset(&arguments, 0, sizeof arguments);
    arguments.database = MyDatabaseId;
    arguments.nonce = mail.nonce;
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

enum class Failure { none, no_slot, not_committed };

struct Verdict {
    Status status;
    Failure failure;
    privacy::Epsilon epsilon;
    uint64 first, last;
    Reason reason;
};

// Runs a request to its end. A cancel while waiting is an error here; the charge may be committed all the same.
Verdict deliver(const Parcels &parcels) {
    check_not_in_recovery();
    Mail mail = send(parcels);
    BackgroundWorker worker = describe_worker(mail);
    BackgroundWorkerHandle *handle;
    Verdict verdict{Status::pending, Failure::no_slot, {}, 0, 0, {}};
    if (start_worker(&worker, &handle)) {
        // Not only until the status is there: a worker that outlives its caller's statement would keep DROP DATABASE
        // waiting and its slot taken. The postmaster's death ends the wait too; then the status decides as always.
        (void)WaitForBackgroundWorkerShutdown(handle);
        pfree(handle);
        verdict.status = static_cast<Status>(pg_atomic_read_u32(&mail.request->status));
        pg_read_barrier();
        verdict.epsilon = mail.request->epsilon;
        verdict.first = mail.request->first;
        verdict.last = mail.request->last;
        verdict.reason = mail.request->reason;
        verdict.failure = verdict.status == Status::pending ? Failure::not_committed : Failure::none;
    }
    dsm_detach(mail.segment);
    if (verdict.status == Status::other_layout)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("the library of dp_rdr was replaced while this session was running"),
                        errdetail("Nothing was charged."), errhint("Reconnect.")));
    return verdict;
}

const char *hint_for(Failure failure) {
    if (failure == Failure::no_slot)
        return "All background workers are in use. Try again, or ask the administrator to raise "
               "\"max_worker_processes\".";
    return "The server log tells what stopped the background worker, for instance a lock on the ledger. Try again.";
}

template <class Number> const char *printed(Number number) {
    return numeric_text(to_numeric(number));
}

// No candidate: by the rows or the preference, or (a selection) by what the bounds leave.
const char *lack_of_candidates(const Charge &what, const Reason &reason) {
    if (what.candidates->empty())
        return "No candidate of epsilon was accepted by the selection.";
    const char *least = printed(what.candidates->back());
    if (strcmp(what.kind, "selection") == 0)
        return psprintf("Epsilon %s is spent of epsilon_total %s: no candidate, from %s on, fits beside epsilon_svt.",
                        printed(reason.spent), printed(reason.total), least);
    if (!(what.eps_star > 0))
        return "No epsilon meets the preference.";
    return psprintf("The preference permits epsilon up to about %.6g, and the smallest candidate is %s.", what.eps_star,
                    least);
}

const char *explain_denial(const Charge &what, const Reason &reason) {
    switch (reason.denial) {
    case privacy::Denial::no_candidate:
        return lack_of_candidates(what, reason);
    case privacy::Denial::dynamic_bound:
        return psprintf("The charge would be epsilon %s; under the bound dynamic it must be above what is spent, %s.",
                        printed(reason.asked), printed(reason.spent));
    case privacy::Denial::epsilon_total:
        return psprintf("The charge would be epsilon %s; %s of epsilon_total %s is spent.", printed(reason.asked),
                        printed(reason.spent), printed(reason.total));
    case privacy::Denial::delta_total:
        return psprintf("The charge would be delta %s; %s of delta_total %s is spent.", printed(what.delta),
                        printed(reason.delta_spent), printed(reason.delta_total));
    default:
        return nullptr;
    }
}

[[noreturn]] void refuse_denied(const Charge &what, const Reason &reason) {
    // Analysts get no detail, and one hint for every reason: what is left is the controller's business.
    const char *detail = what.grantee == nullptr ? explain_denial(what, reason) : nullptr;
    if (detail == nullptr)
        ereport(ERROR,
                (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED), errmsg("query denied"),
                 errhint("dp_explain() tells what a query would cost now; a cheaper one may still be answered.")));
    ereport(ERROR, (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED), errmsg("query denied"), errdetail("%s", detail)));
    pg_unreachable();
}

[[noreturn]] void refuse_charge(const Verdict &verdict, const Charge &what) {
    switch (verdict.status) {
    case Status::denied:
        refuse_denied(what, verdict.reason);
        break;
    case Status::changing:
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("the settings of %s are changing", what.settings->relation_name),
                        errhint("Try again after the transaction that changes them has ended.")));
        break;
    default:
        ereport(ERROR,
                (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                 errmsg("charge was not committed; no answer is released"), errhint("%s", hint_for(verdict.failure))));
    }
    pg_unreachable();
}

Request request_of(const Charge &what) {
    Request request{};
    request.kind = RequestKind::charge;
    request.relation = what.settings->relation;
    request.view = what.settings->view;
    request.role = GetUserId();
    request.session_role = GetSessionUserId();
    request.mechanism = what.mechanism;
    request.account = what.account;
    request.eps_star = what.eps_star;
    request.slack = what.slack;
    request.has_epsilon_max = what.has_epsilon_max;
    request.epsilon_max = what.epsilon_max;
    request.has_requested = what.has_requested;
    request.requested = what.requested;
    request.has_share = what.has_share;
    request.share = what.share;
    request.delta = what.delta;
    request.delta_noise = what.delta_noise;
    request.delta_groups = what.delta_groups;
    request.thresholded = what.thresholded;
    request.selection = what.selection;
    request.worst = what.worst;
    request.candidates = what.candidates->size();
    request.measures = what.measures == nullptr ? 0 : what.measures->size();
    return request;
}

void add_texts(Parcels &parcels, const Charge &what) {
    parcels.add_text(key_id, what.settings->id_text);
    parcels.add_text(key_relation_name, what.settings->relation_name);
    parcels.add_text(key_owner, GetUserNameFromId(what.settings->owner, false));
    parcels.add_text(key_view_name, what.settings->view_name);
    parcels.add_text(key_fingerprint, what.settings->fingerprint);
    parcels.add_text(key_query, what.query);
    parcels.add_text(key_grantee, what.grantee);
    parcels.add_text(key_algorithm, what.algorithm);
    parcels.add_text(key_guarantee, what.guarantee);
    parcels.add_text(key_kind, what.kind);
    parcels.add_text(key_parameters, what.parameters);
}

void add_measures(Parcels &parcels, const Charge &what, uint64 n) {
    if (n == 0)
        return;
    if (what.sensitivities->size() != n)
        elog(ERROR, "%zu sensitivities for " UINT64_FORMAT " measures", what.sensitivities->size(), n);
    auto *measures = static_cast<PlannedMeasure *>(palloc(n * sizeof(PlannedMeasure)));
    for (uint64 i = 0; i < n; i++) {
        const privacy::Measure &measure = (*what.measures)[i];
        measures[i] = PlannedMeasure{measure.kind, measure.argument, measure.filter};
    }
    parcels.add(key_measures, measures, n * sizeof(PlannedMeasure));
    parcels.add(key_sensitivities, what.sensitivities->data(), n * sizeof(uint64));
}

} // namespace

// One charge of a table at a time: whoever asks, and is denied, all the time has one background worker at most, however many
// connections he opens. First come, first served, and the wait can be cancelled. No SQL takes a lock of this class: objects
// of a class have its catalog's OID, and the odometer is none. Whoever holds it waits for his worker and for no other lock,
// and the worker for locks two seconds at most. An error on the way gives it back.
static LOCKTAG queue_of(Oid relation) {
    LOCKTAG tag;
    Oid odometers = get_relname_relid("odometer", border::extension_schema());
    SET_LOCKTAG_OBJECT(tag, MyDatabaseId, odometers, relation, 0);
    return tag;
}

static Verdict deliver_in_turn(const Parcels &parcels, Oid relation) {
    LOCKTAG queue = queue_of(relation);
    (void)LockAcquire(&queue, ExclusiveLock, false, false);
    Verdict verdict = deliver(parcels);
    (void)LockRelease(&queue, ExclusiveLock, false);
    return verdict;
}

// Runs the request; returns only when it is committed.
static Verdict commit(const Charge &what, Request *request) {
    check_can_charge();
    Parcels parcels;
    parcels.add(key_request, request, sizeof *request);
    add_texts(parcels, what);
    parcels.add(key_candidates, what.candidates->data(), what.candidates->size() * sizeof(privacy::Epsilon));
    add_measures(parcels, what, request->measures);
    Verdict verdict = deliver_in_turn(parcels, request->relation);
    if (verdict.status != Status::committed)
        refuse_charge(verdict, what);
    return verdict;
}

privacy::Epsilon charge(const Charge &what) {
    Request request = request_of(what);
    return commit(what, &request).epsilon;
}

SelectionCharge charge_selection(const Charge &what, privacy::Epsilon epsilon_svt, uint64 tested) {
    Request request = request_of(what);
    request.kind = RequestKind::selection;
    request.selection = epsilon_svt;
    request.tested = tested;
    // The row of the selection carries no delta: it is pure.
    request.delta_after = what.delta;
    request.delta = request.delta_noise = request.delta_groups = privacy::Delta();
    Verdict verdict = commit(what, &request);
    return SelectionCharge{verdict.first, verdict.last, verdict.epsilon};
}

bool commit_suspension(const Settings &settings, const char *query, const char *grantee) {
    Charge nothing = {};
    nothing.settings = &settings;
    nothing.query = query;
    nothing.grantee = grantee;
    nothing.algorithm = nothing.guarantee = "none";
    nothing.kind = "suspension";
    nothing.parameters = "{}";
    Request request{};
    request.kind = RequestKind::suspension;
    request.relation = settings.relation;
    request.view = settings.view;
    request.role = GetUserId();
    request.session_role = GetSessionUserId();
    request.account = privacy::Account::public_account;
    Parcels parcels;
    parcels.add(key_request, &request, sizeof request);
    add_texts(parcels, nothing);
    return deliver(parcels).status == Status::committed;
}

void create_odometer(const char *id_text, const char *relation_name, const char *owner) {
    Request request{};
    request.kind = RequestKind::create_odometer;
    Parcels parcels;
    parcels.add(key_request, &request, sizeof request);
    parcels.add_text(key_id, id_text);
    parcels.add_text(key_relation_name, relation_name);
    parcels.add_text(key_owner, owner);
    Verdict verdict = deliver(parcels);
    if (verdict.status != Status::committed)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("could not create the odometer of %s", relation_name),
                        errhint("%s", verdict.failure == Failure::no_slot
                                          ? hint_for(verdict.failure)
                                          : "If CREATE EXTENSION dp_rdr ran in this transaction, commit it first; "
                                            "otherwise the server log tells the cause.")));
}

} // namespace dp::catalog
