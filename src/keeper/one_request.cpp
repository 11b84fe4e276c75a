#include "keeper/one_request.hpp"

#include "border/each.hpp"
#include "catalog/ledger_writer.hpp"
#include "keeper/turns.hpp"
#include "rows/population.hpp"
#include "rows/run_plan.hpp"

namespace dp::keeper {

static volatile sig_atomic_t served = -1;

int slot_served() {
    return served;
}

void set_slot_served(int slot) {
    served = slot;
}

// When a transaction is aborted, whosever, the server takes the locks of the session away as well.
static uint64 aborts = 0;

static void count_abort(XactEvent event, void *) {
    if (event == XACT_EVENT_ABORT)
        aborts++;
}

void watch_aborts() {
    RegisterXactCallback(count_abort, nullptr);
}

// ---- memory and locks ----------------------------------------------------------------------------------------------

MemoryContext of_all = nullptr;

Request *open_request(int slot) {
    const Slot &shared = pool()->slots[slot];
    MemoryContext memory = AllocSetContextCreate(TopMemoryContext, "dp_rdr request", ALLOCSET_DEFAULT_SIZES);
    auto *request = static_cast<Request *>(MemoryContextAllocZero(memory, sizeof(Request)));
    request->slot = slot;
    request->ticket = shared.ticket;
    request->kind = shared.kind;
    request->role = shared.role;
    request->session_role = shared.session_role;
    request->alone = shared.alone;
    request->memory = memory;
    request->aborts = aborts;
    return request;
}

bool has_locks(const Request *request) {
    return request->aborts == aborts;
}

void close_request(Request *request) {
    if (request->elsewhere)
        stop_watching();
    if (request->round != nullptr)
        release::discard(request->round);
    if (has_locks(request))
        for (auto *one : border::each<LockRelId>(request->locked))
            UnlockRelationIdForSession(one, AccessShareLock);
    MemoryContextSwitchTo(of_all); // else it would go on in what is deleted
    MemoryContextDelete(request->memory);
}

List *lock_opened(const Request *request) {
    List *tables = find_all_inheritors(request->question->settings->relation, AccessShareLock, nullptr);
    if (release::is_selected(request->checked->terms.algorithm)) // which depends on how many people there are
        tables = list_concat_unique_oid(tables, rows::lock_population(request->question));
    return rows::lock_opened(list_concat_unique_oid(tables, request->question->checked));
}

// Tells whether one of the relations has an entry in the shared table of locks. Fast-path locks have none: nobody waits for them.
static bool has_entry(const List *relations) {
    bool any = false;
    for (Oid relation : border::each_oid(relations)) {
        LOCKTAG tag;
        SET_LOCKTAG_RELATION(tag, MyDatabaseId, relation);
        any = any || LockWaiterCount(&tag) > 0;
    }
    return any;
}

static bool waits_for(const LockInstanceData &lock, const List *relations) {
    return lock.waitLockMode != NoLock && lock.locktag.locktag_type == LOCKTAG_RELATION &&
           lock.locktag.locktag_field1 == MyDatabaseId && DoLockModesConflict(lock.waitLockMode, AccessShareLock) &&
           list_member_oid(relations, lock.locktag.locktag_field2);
}

// Tells whether somebody waits for a lock on one of these relations, of a mode that AccessShareLock is in the way of. A session that
// holds a lock is granted it again past such a waiter, who would never come to his turn.
static bool is_waited_for(const List *relations) {
    if (!has_entry(relations))
        return false;
    const LockData *all = GetLockStatusData();
    bool waited = false;
    for (int i = 0; i < all->nelements && !waited; i++)
        waited = waits_for(all->locks[i], relations);
    return waited;
}

void lock_for_request(Request *request) {
    const List *opened = lock_opened(request);
    if (!request->paid) {
        if (is_waited_for(opened))
            refuse_with(ERRCODE_LOCK_NOT_AVAILABLE, "a lock is in the way");
        rows::check_files(opened);
    }
    for (Oid oid : border::each_oid(opened)) {
        auto *lock = static_cast<LockRelId *>(palloc(sizeof(LockRelId)));
        lock->relId = oid;
        lock->dbId = MyDatabaseId;
        LockRelationIdForSession(lock, AccessShareLock);
        request->locked = lappend(request->locked, lock);
    }
}

void show_activity(const Request *request) {
    const char *login = GetUserNameFromId(pool()->slots[request->slot].login, true);
    login = login == nullptr ? "a role that is gone" : quote_identifier(login);
    pgstat_report_activity(
        STATE_RUNNING, request->question == nullptr
                           ? psprintf("dp_rdr: preparing for %s", login)
                           : psprintf("dp_rdr: reading for %s on %s", login, request->question->settings->view_name));
}

bool is_changed(const ErrorData *error) {
    return error->sqlerrcode == ERRCODE_T_R_SERIALIZATION_FAILURE;
}

bool is_for_now(const ErrorData *error) {
    return error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE || error->sqlerrcode == ERRCODE_T_R_DEADLOCK_DETECTED ||
           is_changed(error);
}

// ---- charges -------------------------------------------------------------------------------------------------------

constexpr int patience_ms = 2000;
constexpr long retry_ms = 20;

bool out_of_patience(const Request *request) {
    return request->alone &&
           TimestampDifferenceExceeds(pool()->slots[request->slot].since, GetCurrentTimestamp(), patience_ms);
}

void commit(catalog::Entry **entries, const int *slots, int n) {
    instr_time start, time;
    INSTR_TIME_SET_CURRENT(start);
    pgstat_report_activity(STATE_RUNNING, "dp_rdr: charging");
    take_charge_turn(slots != nullptr && !pool()->slots[slots[0]].alone);
    catalog::Entry *kept[most_in_batch];
    int nkept = 0;
    for (int i = 0; i < n; i++)
        if (slots == nullptr || mark_committing(slots[i]))
            kept[nkept++] = entries[i];
        else // as if it had to wait: nobody waits for it
            entries[i]->verdict.outcome = catalog::Outcome::busy;
    catalog::commit_charges(kept, nkept);
    give_charge_turn();
    INSTR_TIME_SET_CURRENT(time);
    INSTR_TIME_SUBTRACT(time, start);
    count_charges(slots, n, INSTR_TIME_GET_DOUBLE(time) * 1e6);
    for (int i = 0; i < n; i++)
        if (entries[i]->verdict.outcome == catalog::Outcome::unlooked && catalog::look_into_many(entries[i]))
            commit(&entries[i], slots == nullptr ? nullptr : &slots[i], 1);
}

void commit_patiently(catalog::Entry *entry) {
    TimestampTz start = GetCurrentTimestamp();
    for (;;) {
        commit(&entry, nullptr, 1);
        if (entry->verdict.outcome != catalog::Outcome::busy ||
            TimestampDifferenceExceeds(start, GetCurrentTimestamp(), patience_ms))
            return;
        (void)WaitLatch(MyLatch, WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, retry_ms, border::wait_event("DpRdrOdometer"));
        CHECK_FOR_INTERRUPTS();
    }
}

void suspend(Request *request) {
    catalog::Charge nothing =
        catalog::suspension_of(*request->question->settings, request->question->asker, request->question->text,
                               request->question->grantee, request->question->grantee_oid);
    catalog::Entry entry = catalog::entry_for(nothing, catalog::RequestKind::suspension);
    commit_patiently(&entry);
    if (entry.verdict.outcome == catalog::Outcome::committed)
        return;
    // Somebody may hold the odometer for as long as he likes; the suspension does not wait for it.
    entry.kind = catalog::RequestKind::bare_suspension;
    commit_patiently(&entry);
    bool suspended = entry.verdict.outcome == catalog::Outcome::committed;
    ereport(LOG, (errmsg(suspended ? "a role is suspended on %s without a row in the ledger"
                                   : "a role could not be suspended on %s",
                         request->question->settings->view_name)));
}

// ---- what goes back ------------------------------------------------------------------------------------------------

void reply(Request *request, Reply kind, const border::Writer &writer) {
    Stream stream = open_stream(request->slot);
    put_reply(&stream, kind, writer.bytes);
    close_stream(&stream);
}

void reply_error(Request *request, const ErrorData *error) {
    border::Writer writer = border::Writer::begin();
    write_error(&writer, error);
    reply(request, Reply::error, writer);
}

void put_answer(Stream *stream, const release::Answer &answer) {
    border::Writer facts = border::Writer::begin();
    write(&facts, answer.facts);
    put_reply(stream, Reply::answer, facts.bytes);
    TupleTableSlot *slot = MakeSingleTupleTableSlot(answer.desc, &TTSOpsMinimalTuple);
    while (stream->taken && tuplestore_gettupleslot(answer.rows, true, false, slot)) {
        bool copied;
        MinimalTuple row = ExecFetchSlotMinimalTuple(slot, &copied);
        put_row(stream, row);
        if (copied)
            heap_free_minimal_tuple(row);
    }
    ExecDropSingleTupleTableSlot(slot);
    tuplestore_end(answer.rows);
    end_rows(stream);
}

StringInfo message_of(const release::Answer &answer) {
    Stream stream = open_message();
    put_answer(&stream, answer);
    return stream.whole;
}

ErrorData *error_with(int sqlstate, const char *message, const char *hint, const char *detail) {
    auto *error = static_cast<ErrorData *>(palloc0(sizeof(ErrorData)));
    error->sqlerrcode = sqlstate;
    error->message = pstrdup(message);
    error->hint = pstrdup(hint);
    error->detail = detail == nullptr ? nullptr : pstrdup(detail);
    return error;
}

ErrorData *changed_error() {
    return error_with(ERRCODE_T_R_STATEMENT_COMPLETION_UNKNOWN, "the table or its settings changed while it was asked",
                      "Its charge stays. Ask again.");
}

} // namespace dp::keeper
