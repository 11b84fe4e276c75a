// The way of requests through a keeper. "Durable before read" can be seen here: serve() prepares (public facts alone), commit()
// returns when the charges are on disk, and only behind it is called what reads rows: by answer(), answer_requester(), take_step(),
// select_and_charge() and answer_limit(). (within_data alone searches the rows while it prepares.)
#include "keeper/serving.hpp"

#include "border/each.hpp"
#include "border/scope.hpp"
#include "border/version.hpp"
#include "border/versions.hpp"
#include "catalog/facade.hpp"
#include "catalog/ledger_bytes.hpp"
#include "catalog/ledger_writer.hpp"
#include "keeper/queue.hpp"
#include "keeper/stream.hpp"
#include "keeper/waiters.hpp"
#include "keeper/watch.hpp"
#include "release/accuracy_plan.hpp"
#include "release/resolved.hpp"
#include "release/round.hpp"
#include "release/choose_row_limit.hpp"
#include "release/signal.hpp"
#include "rows/unit_checks.hpp"
#include "rows/guarded_read.hpp"
#include "rows/opened.hpp"
#include "rows/engine.hpp"
#include "rows/touched.hpp"

namespace dp::keeper {

namespace {
// A request in this keeper. Lives in a memory context of its own, over several transactions.
struct Request {
    int slot;
    uint64 ticket;
    Kind kind;
    Oid role, session_role;
    bool alone;     // nobody else waits for it
    bool paid;      // it was charged by another keeper
    bool elsewhere; // other servers keep rows of its table
    MemoryContext memory;
    release::Ask ask;
    const release::Checked *checked; // null: not yet, like `question`
    const rows::Question *question;
    release::Round *round;
    const catalog::Requested *requested; // of an approval: what is permitted, and how
    const release::Decision *decision;
    const release::LimitWish *wish; // of a limit
    catalog::Claim *claim;
    catalog::Entry *entry;  // what is charged next
    const bytea *charged;   // of an answer: release::hash_of_charge
    StringInfoData message; // an answer that costs nothing, or is stored before it leaves, whole; or none
    List *locked;           // LockRelId *, to the end of the request
    bool marked;            // its charge is marked in its slot: it can be read later
    bool reads;             // all that its reading opens is locked in the transaction of the reading
    bool stepped;           // a step of it was read: it cannot begin again
    ErrorData *in_the_way;  // behind the charge, before a row was read
    uint64 aborts;          // that were counted when they were locked
};
} // namespace

static volatile sig_atomic_t served = -1;

int slot_served() {
    return served;
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

static bool asked_elsewhere = false;

bool has_asked_elsewhere() {
    return asked_elsewhere;
}

// ---- requests ------------------------------------------------------------------------------------------------------

// Holds the allocations that serve no single request; each request has its own memory.
static MemoryContext of_all = nullptr;

static Request *open_request(int slot) {
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

static bool has_locks(const Request *request) {
    return request->aborts == aborts;
}

static void close_request(Request *request) {
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

// Shows a keeper's work in pg_stat_activity: the login and the view, no value of the question, nothing that depends on rows.
static void show_activity(const Request *request) {
    const char *login = GetUserNameFromId(pool()->slots[request->slot].login, true);
    login = login == nullptr ? "a role that is gone" : quote_identifier(login);
    pgstat_report_activity(
        STATE_RUNNING, request->question == nullptr
                           ? psprintf("dp_rdr: preparing for %s", login)
                           : psprintf("dp_rdr: reading for %s on %s", login, request->question->settings->view_name));
}

// A transaction of the request's own, as who asks. An error is returned, and what the transaction did is gone. It is undone
// as a subtransaction: the end of a whole one would take the locks of all other requests along. Ends in the request's memory.
// limit_ms: after so long it is cancelled; 0: never.
template <class Work>
static ErrorData *in_transaction(Request *request, const char *lock_timeout, int limit_ms, Work &&work) {
    ErrorData *volatile error = nullptr;
    served = request->slot;
    PG_TRY();
    {
        if (is_cancelled(request->slot))
            refuse_with(ERRCODE_QUERY_CANCELED, "the client has gone");
        SetCurrentStatementStartTimestamp();
        StartTransactionCommand();
        PushActiveSnapshot(GetTransactionSnapshot());
        border::set_locally("lock_timeout", lock_timeout);
        MemoryContextSwitchTo(request->memory);
        show_activity(request);
        if (limit_ms > 0)
            enable_timeout_after(STATEMENT_TIMEOUT, limit_ms);
        error = border::attempt([&] {
            border::RoleScope role = border::RoleScope::enter(request->role);
            work();
            role.leave();
        });
        disable_timeout(STATEMENT_TIMEOUT, false);
        PopActiveSnapshot();
        CommitTransactionCommand();
        if (error != nullptr)
            RESUME_INTERRUPTS();
    }
    PG_CATCH();
    {
        HOLD_INTERRUPTS();
        MemoryContextSwitchTo(request->memory);
        // Else it is why the transaction cannot end well (Citus has lost a connection), and what was caught.
        if (error == nullptr)
            error = CopyErrorData();
        FlushErrorState();
        disable_timeout(STATEMENT_TIMEOUT, false);
        AbortCurrentTransaction();
        RESUME_INTERRUPTS();
    }
    PG_END_TRY();
    served = -1;
    forget_told();
    QueryCancelPending = false; // it came too late, and was for nobody else
    MemoryContextSwitchTo(request->memory);
    return error;
}

// ---- what goes back ------------------------------------------------------------------------------------------------

static void reply(Request *request, Reply kind, const border::Writer &writer) {
    Stream stream = open_stream(request->slot);
    put_reply(&stream, kind, writer.bytes);
    close_stream(&stream);
}

static void reply_error(Request *request, const ErrorData *error) {
    border::Writer writer = border::Writer::begin();
    write_error(&writer, error);
    reply(request, Reply::error, writer);
}

template <class T> static void reply_done(Request *request, const T &value) {
    border::Writer writer = border::Writer::begin();
    writer.put(value);
    reply(request, Reply::done, writer);
}

// An error that refuse() raises, as data.
template <class Raise> static ErrorData *error_of(Request *request, Raise &&raise) {
    ErrorData *volatile error = nullptr;
    PG_TRY();
    { raise(); }
    PG_CATCH();
    {
        MemoryContextSwitchTo(request->memory);
        error = CopyErrorData();
        FlushErrorState();
    }
    PG_END_TRY();
    return error;
}

// Gives an error behind the charge the one SQLSTATE that says so. Other servers may have raised it outside of rows/guarded_read: then
// it also loses their words.
static const ErrorData *behind_charge_of(Request *request, ErrorData *error) {
    if (request->question->remote) {
        ErrorData *replaced = error_of(request, [&] { rows::replace_remote_error(request->question, error); });
        error = replaced == nullptr ? error : replaced;
    }
    error->sqlerrcode = ERRCODE_T_R_STATEMENT_COMPLETION_UNKNOWN;
    if (error->hint == nullptr)
        error->hint = pstrdup("What was charged stays. Ask again.");
    return error;
}

template <class Put> static void each_row(const release::Answer &answer, Put &&put) {
    TupleTableSlot *slot = MakeSingleTupleTableSlot(answer.desc, &TTSOpsMinimalTuple);
    bool more = true;
    while (more && tuplestore_gettupleslot(answer.rows, true, false, slot)) {
        bool copied;
        MinimalTuple row = ExecFetchSlotMinimalTuple(slot, &copied);
        more = put(row);
        if (copied)
            heap_free_minimal_tuple(row);
    }
    ExecDropSingleTupleTableSlot(slot);
    tuplestore_end(answer.rows);
}

// ---- before the charge: public facts -------------------------------------------------------------------------------

// The client may hold a lock that this keeper would wait for, and waits for the keeper itself: no deadlock detector sees it.
[[noreturn]] static void refuse_locked() {
    refuse_with(ERRCODE_LOCK_NOT_AVAILABLE, "a lock is in the way");
}

[[noreturn]] static void refuse_uncommitted() {
    refuse_state("the restricted view was made in a transaction that has not been committed",
                 "Commit it, and ask again: only what is committed is answered about.");
}

// Returns the tables and all that is opened with them, as they are now, locked to the end of the transaction.
static List *lock_opened(const Request *request) {
    List *tables = find_all_inheritors(request->question->settings->relation, AccessShareLock, nullptr);
    return rows::lock_opened(list_concat_unique_oid(tables, request->question->checked));
}

// Locks for the session all that the reading will open. So it stays as it was checked, over the transactions in between, and
// the reading waits for nobody behind the charge. If another session waits for one of these locks it goes first: refuses a
// request that is not charged yet. The charged ones that hold it up end with their answers.
static void lock_for_request(Request *request) {
    const List *opened = lock_opened(request);
    if (!request->paid && is_waited_for(opened))
        refuse_locked();
    for (Oid oid : border::each_oid(opened)) {
        auto *lock = static_cast<LockRelId *>(palloc(sizeof(LockRelId)));
        lock->relId = oid;
        lock->dbId = MyDatabaseId;
        LockRelationIdForSession(lock, AccessShareLock);
        request->locked = lappend(request->locked, lock);
    }
}

// Whether it may take long to find the price: a search in the rows, a calibration of Gaussian noise for each candidate, other
// servers that are asked whether they are there; with many measures also the price of an accuracy.
constexpr int many_measures = 16;

static bool takes_long(const Request *request) {
    const release::Terms &terms = request->checked->terms;
    return release::is_measured(terms) ||
           (request->ask.wanted.asked() && request->question->nmeasures > many_measures) ||
           (terms.algorithm != release::Algorithm::within_domain && terms.algorithm != release::Algorithm::profile &&
            terms.algorithm != release::Algorithm::approved) ||
           terms.mechanism == privacy::Mechanism::gaussian || request->elsewhere;
}

// Whether the queue has let this keeper ask other servers, if there are any to be asked: one keeper at least is left for tables
// that are all here.
static bool may_ask_nodes(const Request *request) {
    if (!request->elsewhere)
        return true;
    bool may = mark_elsewhere(request->slot);
    if (may)
        watch_connections();
    asked_elsewhere |= may;
    return may;
}

// Before the text is analysed, which reads its literals as of the types of the columns beside them: anybody may make a view that
// looks like a restricted one, over columns whose types run his code.
static void check_view(Oid view) {
    if (!catalog::is_registered_view(view))
        refuse_state(psprintf("%s is not a registered restricted view", catalog::qualified_name(view)),
                     "Restricted views are made with dp_protect().");
    Relation relation = table_open(view, NoLock);
    TupleDesc columns = RelationGetDescr(relation);
    for (int i = 0; i < columns->natts; i++)
        catalog::check_column_type(NameStr(TupleDescAttr(columns, i)->attname), TupleDescAttr(columns, i)->atttypid);
    table_close(relation, NoLock);
}

// All of an answer, to be sent behind its transaction.
static StringInfoData message_of(const release::Answer &answer) {
    border::Writer facts = border::Writer::begin(), message = border::Writer::begin();
    write(&facts, answer.facts);
    message.put(Reply::answer);
    message.put(static_cast<uint32>(facts.bytes.len));
    message.put_bytes(facts.bytes.data, facts.bytes.len);
    each_row(answer, [&](MinimalTuple row) {
        message.put(static_cast<uint32>(row->t_len));
        message.put_bytes(row, row->t_len);
        return true;
    });
    message.put(uint32{0});
    return message.bytes;
}

// An answer that costs nothing, if there is one for the question: no charge, no row of the ledger, no private row.
static bool write_uncharged(Request *request) {
    release::Answer answer = release::uncharged(request->question, request->checked->terms);
    if (answer.rows == nullptr)
        return false;
    request->message = message_of(answer);
    return true;
}

static void keep_checked(Request *request, const release::Checked &checked) {
    request->checked = new (palloc(sizeof(release::Checked))) release::Checked(checked);
    request->question = checked.question;
}

// The question as it is asked, under what is committed. As who asks.
static void prepare_question(Request *request) {
    if (!ConditionalLockRelationOid(request->ask.view, AccessShareLock))
        refuse_locked();
    if (get_rel_name(request->ask.view) == nullptr)
        refuse_uncommitted();
    check_view(request->ask.view);
    border::set_locally("TimeZone", request->ask.time_zone);
    query::Leaf *leaf = release::check_ask(request->ask);
    keep_checked(request, release::resolve(request->ask, leaf, request->paid));
    request->elsewhere = rows::is_elsewhere(request->question);
    if (request->alone &&
        !request->question->remote) // how long it takes to find the price is bounded elsewhere, if at all
        disable_timeout(STATEMENT_TIMEOUT, false);
}

// Reads a request of a session whose library is this one.
static border::Reader message_in(const Slot &slot) {
    border::check_version();
    return border::Reader{buffer_of(slot), buffer_of(slot) + slot.capacity};
}

// False: not in a batch, or not yet. An answer that costs nothing and whose client may take his time to take it comes back alone
// as well.
static bool prepare_answer(Request *request) {
    const Slot &slot = pool()->slots[request->slot];
    border::Reader reader = message_in(slot);
    request->ask = read_ask(&reader, catalog::Asker{request->role, request->session_role});
    prepare_question(request);
    if (!request->paid && write_uncharged(request))
        return request->alone || static_cast<Size>(request->message.len) <= slot.capacity;
    if (!may_ask_nodes(request) || (takes_long(request) && !request->alone))
        return false;
    border::check_stack_room();
    lock_for_request(request);
    request->round = release::begin(*request->checked, request->ask.refines ? &request->ask.refinable : nullptr);
    request->entry = release::due(request->round);
    request->charged = DatumGetByteaP(release::hash_of_charge(request->round));
    return true;
}

// Reads the decision and its request as they are committed: nothing that the approver did in an open transaction counts.
static void read_decision(Request *request, const release::Approval &approval, const catalog::Requested **parent) {
    catalog::Reading reading = catalog::Reading::open();
    request->requested = catalog::find_request(reading, approval.request, false);
    *parent = nullptr;
    if (request->requested != nullptr && request->requested->is_signal())
        *parent = catalog::find_request(reading, request->requested->parent, true);
    reading.close();
    request->decision =
        release::decide(approval, catalog::Asker{request->role, request->session_role}, request->requested, *parent);
    request->role = request->requested->asker.role;
    if (!SearchSysCacheExists1(AUTHOID, ObjectIdGetDatum(request->role)))
        refuse_state(psprintf("the role that made request " INT64_FORMAT " does not exist any more", approval.request));
}

// Prepares the question of a request with the rights of its requester.
static void prepare_requested(Request *request, const catalog::Requested *parent) {
    request->ask = release::ask_of(*request->requested, request->decision);
    if (parent != nullptr) {
        auto *wish = static_cast<release::Wish *>(palloc(sizeof(release::Wish)));
        *wish = release::wish_of(*request->requested, parent);
        request->ask.wish = wish;
    }
    prepare_question(request);
    if (request->checked->signal == nullptr)
        release::check_same(*request->requested, request->question);
    rows::check_asks_something(request->question);
    border::check_stack_room();
}

static void claim(Request *request) {
    lock_for_request(request);
    request->round = release::begin(*request->checked, nullptr);
    request->claim = static_cast<catalog::Claim *>(palloc(sizeof(catalog::Claim)));
    *request->claim = release::claim_of(*request->decision);
    request->entry = release::due(request->round);
    request->entry->claim = request->claim;
}

// From the decision on all is done as the requester. False: not yet.
static bool prepare_approval(Request *request) {
    border::Reader reader = message_in(pool()->slots[request->slot]);
    release::Approval approval = read<release::Approval>(&reader);
    const catalog::Requested *parent;
    read_decision(request, approval, &parent);
    border::RoleScope requester = border::RoleScope::enter(request->role);
    prepare_requested(request, parent);
    bool ready = may_ask_nodes(request);
    if (ready)
        claim(request);
    requester.leave();
    return ready;
}

// A round of one charge without a question of an analyst's.
static void prepare_limit(Request *request) {
    border::Reader reader = message_in(pool()->slots[request->slot]);
    auto *wish = static_cast<release::LimitWish *>(palloc(sizeof(release::LimitWish)));
    *wish = read<release::LimitWish>(&reader);
    request->wish = wish;
    keep_checked(request, release::resolve_limit(*wish, catalog::Asker{request->role, request->session_role}));
    lock_for_request(request);
    auto *charge = static_cast<catalog::Charge *>(palloc(sizeof(catalog::Charge)));
    *charge = release::limit_charge(request->question, *wish);
    request->entry = static_cast<catalog::Entry *>(palloc(sizeof(catalog::Entry)));
    *request->entry = catalog::entry_for(*charge);
    border::check_stack_room();
}

static void prepare_charge(Request *request) {
    const Slot &slot = pool()->slots[request->slot];
    request->entry = catalog::decode(buffer_of(slot), slot.filled);
}

constexpr int patience_ms = 2000;
constexpr long retry_ms = 20;

// Returns true once a lock was waited for long enough, counted from when it was first met; the time in the queue before is left out.
static bool out_of_patience(const Request *request) {
    return request->alone &&
           TimestampDifferenceExceeds(pool()->slots[request->slot].since, GetCurrentTimestamp(), patience_ms);
}

// Others wait with a request of a batch, so it waits for nobody.
static const char *lock_timeout_of(const Request *request) {
    return request->alone ? "2s" : "10ms";
}

[[noreturn]] static void refuse_changed() {
    refuse_with(ERRCODE_T_R_STATEMENT_COMPLETION_UNKNOWN, "the table or its settings changed while it was asked",
                "Its charge stays. Ask again.");
}

// Limits the preparation of a request in a batch, in milliseconds, as the others of the batch wait for it. A request that is alone
// has a longer limit, as it holds a keeper. (query/constants bounds functions that look at no timer.)
constexpr int batch_ms = 200;

static int limit_of(const Request *request) {
    return request->alone ? 5000 : batch_ms;
}

static bool took_too_long(const Request *request, const ErrorData *error) {
    return error->sqlerrcode == ERRCODE_QUERY_CANCELED && !is_cancelled(request->slot);
}

static ErrorData *long_error(Request *request) {
    return error_of(request, [] {
        refuse_size("the query takes too long before it reads a row", "Ask in several queries, or write a shorter one.",
                    "Nothing was charged.");
    });
}

static ErrorData *locked_error(Request *request) {
    return error_of(request, [] {
        refuse_with(ERRCODE_LOCK_NOT_AVAILABLE, "the restricted view or its table is locked by another transaction",
                    "Ask again when the change of the table has ended. A transaction that has locked the "
                    "table itself cannot ask.",
                    "Nothing was charged.");
    });
}

// Nothing of what another server has said while the transaction of the preparation ended.
static ErrorData *away_error(Request *request) {
    return error_of(request, [&] {
        refuse_with(ERRCODE_FDW_UNABLE_TO_ESTABLISH_CONNECTION,
                    psprintf("a partition of %s cannot be reached", request->question->settings->relation_name),
                    "Ask again later.", "Nothing was charged.");
    });
}

static bool is_away(const Request *request, const ErrorData *error) {
    return request->question != nullptr && request->question->remote &&
           (ERRCODE_TO_CATEGORY(error->sqlerrcode) == ERRCODE_CONNECTION_EXCEPTION || took_too_long(request, error));
}

// Partitions came while the tables were looked at: nothing was read.
static bool is_changed(const ErrorData *error) {
    return error->sqlerrcode == ERRCODE_T_R_SERIALIZATION_FAILURE;
}

// Tells whether it is for now that a request fails: it comes again. Of a deadlock nobody knows who waits for the other.
static bool is_for_now(const ErrorData *error) {
    return error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE || error->sqlerrcode == ERRCODE_T_R_DEADLOCK_DETECTED ||
           is_changed(error);
}

// The request is answered or put back: nothing more is done with it now. Null, for in_batch.
static Request *end_unprepared(Request *request, ErrorData *error) {
    if (error == nullptr) {
        set_aside(request->slot);
        close_request(request);
        return nullptr;
    }
    if (is_away(request, error))
        error = away_error(request);
    bool too_long = took_too_long(request, error);
    bool waits = is_for_now(error);
    if ((waits && !out_of_patience(request)) || (too_long && !request->alone))
        put_back(request->slot, waits);
    else
        reply_error(request, waits ? locked_error(request) : too_long ? long_error(request) : error);
    close_request(request);
    return nullptr;
}

// Sent behind the transaction: an error of its end is no second answer.
static Request *end_uncharged(Request *request) {
    Stream stream = open_stream(request->slot);
    put_bytes(&stream, request->message.data, request->message.len);
    close_stream(&stream);
    close_request(request);
    return nullptr;
}

static void suspend(Request *request);

// A request that can be charged; null: it is through with already, or comes again alone.
static Request *prepare(int slot) {
    Request *request = open_request(slot);
    bool ready = true;
    ErrorData *error = in_transaction(request, lock_timeout_of(request), limit_of(request), [&] {
        if (request->kind == Kind::charge)
            prepare_charge(request);
        else if (request->kind == Kind::approve)
            ready = prepare_approval(request);
        else if (request->kind == Kind::limit)
            prepare_limit(request);
        else
            ready = prepare_answer(request);
    });
    if (rows::take_suspension()) // within_data searches the rows for its price
        suspend(request);
    if (error != nullptr || !ready)
        return end_unprepared(request, error);
    return request->message.data == nullptr ? request : end_uncharged(request);
}

// ---- the charge ----------------------------------------------------------------------------------------------------

// Returns when what is committed is durable. Slots: of requests; null for one that comes later in a round.
static void commit(catalog::Entry **entries, const int *slots, int n) {
    instr_time start, time;
    INSTR_TIME_SET_CURRENT(start);
    pgstat_report_activity(STATE_RUNNING, "dp_rdr: charging");
    take_charge_turn(slots != nullptr && !pool()->slots[slots[0]].alone);
    if (slots != nullptr)
        mark_committing(slots, n);
    catalog::commit_charges(entries, n);
    give_charge_turn();
    INSTR_TIME_SET_CURRENT(time);
    INSTR_TIME_SUBTRACT(time, start);
    count_charges(slots, n, INSTR_TIME_GET_DOUBLE(time) * 1e6);
}

// One that cannot be put back: rows were read before it.
static void commit_patiently(catalog::Entry *entry) {
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

// Ends a request that was not charged, or whose charge is all that was asked for. Returns false if it goes on.
static bool ends_with_charge(Request *request) {
    if (request->entry->verdict.outcome == catalog::Outcome::busy && !out_of_patience(request)) {
        put_back(request->slot, false);
        return true;
    }
    if (request->kind == Kind::charge) {
        reply_done(request, request->entry->verdict);
        return true;
    }
    if (request->entry->verdict.outcome == catalog::Outcome::committed)
        return false;
    reply_error(request, error_of(request, [&] { catalog::refuse(*request->entry); }));
    return true;
}

// ---- after the charge: the rows ------------------------------------------------------------------------------------

// For a lock that was not taken before, of a catalog for instance. Its holder does not wait for this keeper: the client cannot take
// one while he waits, and what he held was met before the charge.
constexpr const char *behind_charge = "30s";
// For an index or a partition that is newer than the locks of a request that can be read later.
constexpr const char *for_now = "300ms";

// A transaction that reads rows. What came behind the charge is locked first; then no lock of DDL is waited for any more. Where parallel
// workers fail for lack of resources, it reads once more without any: what it needs itself it had before the charge.
template <class Work> static ErrorData *in_reading(Request *request, Work &&work) {
    const bool first = request->marked && !request->reads;
    const auto read = [&](bool with_workers) {
        return in_transaction(request, first ? for_now : behind_charge, 0, [&] {
            if (request->ask.time_zone != nullptr) // a limit has none
                border::set_locally("TimeZone", request->ask.time_zone);
            if (!with_workers)
                border::set_locally("max_parallel_workers_per_gather", "0");
            if (first) {
                (void)lock_opened(request);
                request->reads = true;
                border::set_locally("lock_timeout", behind_charge);
            }
            work();
        });
    };
    ErrorData *error = read(true);
    return error != nullptr && rows::take_lack_of_workers() ? read(false) : error;
}

// Tells whether what came behind the charge, a lock or a partition, is in the way of a request that can be read later: no row was
// read yet.
static bool is_for_later(const Request *request, const ErrorData *error) {
    return error != nullptr && request->marked && !request->stepped &&
           (is_changed(error) || (!request->reads && is_for_now(error)));
}

// A failure that may tell something about a row ends what its role may ask (architecture.md, 3.6).
static void suspend(Request *request) {
    catalog::Charge nothing =
        catalog::suspension_of(*request->question->settings, request->question->asker, request->question->text,
                               request->question->grantee, request->question->grantee_oid);
    catalog::Entry entry = catalog::entry_for(nothing);
    entry.kind = catalog::RequestKind::suspension;
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

// Does what may read rows, as the charge has paid for it. False: the request has ended with an error, or goes on later.
template <class Work> static bool does_behind_charge(Request *request, Work &&work) {
    ErrorData *error = in_reading(request, work);
    if (rows::take_suspension())
        suspend(request);
    if (is_for_later(request, error))
        request->in_the_way = error;
    else if (error != nullptr)
        reply_error(request, behind_charge_of(request, error));
    return error == nullptr;
}

static void send_rows(Stream *stream, const release::Answer &answer) {
    border::Writer facts = border::Writer::begin();
    write(&facts, answer.facts);
    put_reply(stream, Reply::answer, facts.bytes);
    if (stream->taken)
        each_row(answer, [&](MinimalTuple row) {
            put_row(stream, row);
            return stream->taken;
        });
    else
        tuplestore_end(answer.rows);
    end_rows(stream);
}

// Reads the rows, the first time, and takes the step that is paid. False: it has ended with an error.
static bool take_step(Request *request) {
    const bool taken = does_behind_charge(request, [&] { release::step(request->round); });
    request->stepped |= taken;
    return taken;
}

// From one step to the next of an answer by accuracy, each charged before it is taken. Their number follows from what is
// answered. One that is not committed, for whatever reason, is not taken: the answer is what was paid. False: it has ended.
static bool take_steps(Request *request) {
    while (release::must_step(request->round)) {
        if (!take_step(request))
            return false;
        if (release::is_paid(request->round))
            return true;
        request->entry = release::due(request->round);
        commit_patiently(request->entry);
        if (request->entry->verdict.outcome == catalog::Outcome::committed)
            release::charged(request->round);
        else
            release::stop_early(request->round);
    }
    return true;
}

// Committed before the first row leaves: who cancels now, or rolls back, and asks again is given what was drawn for him. One
// that fails is logged by the writer, and the answer goes its way. It needs no odometer, and so no turn among those who charge.
static void store(Request *request, const catalog::Storing *storing) {
    catalog::Charge nothing = {};
    nothing.settings = request->question->settings;
    catalog::Entry entry = catalog::entry_for_storing(nothing, storing);
    catalog::Entry *entries[] = {&entry};
    catalog::commit_charges(entries, 1);
}

// Reads the rows. What was charged stays, whatever happens here.
static void answer(Request *request) {
    if (!take_steps(request))
        return;
    Stream stream = open_stream(request->slot);
    const catalog::Storing *storing = nullptr;
    ErrorData *error = in_reading(request, [&] {
        release::Answer answer = release::finish(request->round);
        storing = answer.storing;
        if (storing == nullptr)
            send_rows(&stream, answer);
        else
            request->message = message_of(answer);
    });
    if (rows::take_suspension())
        suspend(request);
    if (is_for_later(request, error)) {
        pfree(stream.bytes);
        request->in_the_way = error;
        return;
    }
    if (error == nullptr && storing != nullptr) {
        store(request, storing);
        put_bytes(&stream, request->message.data, request->message.len);
    }
    if (error != nullptr) {
        border::Writer writer = border::Writer::begin();
        write_error(&writer, behind_charge_of(request, error));
        uint32 mark = another_reply;
        if (stream.begun)
            put_bytes(&stream, &mark, sizeof mark);
        else
            stream.filled = 0;
        put_reply(&stream, Reply::error, writer.bytes);
    }
    close_stream(&stream);
}

// ---- approvals -----------------------------------------------------------------------------------------------------

[[noreturn]] static void refuse_unsettled(int64 id) {
    refuse_with(ERRCODE_T_R_STATEMENT_COMPLETION_UNKNOWN,
                psprintf("the answer to request " INT64_FORMAT " was not stored", id),
                "The server log tells the cause. It has to be asked for again.", "Its charge stays.");
}

// Stores the drawn answer, in a commit of its own, if the request is still what its charge has made of it. Tells the approver how
// it has ended.
static void settle(Request *request, catalog::Settling *settling) {
    catalog::Charge nothing = {};
    nothing.settings = request->question->settings;
    settling->ledger_row = request->claim->ledger_row;
    catalog::Entry entry = catalog::entry_for_settling(nothing, settling);
    catalog::Entry *entries[] = {&entry};
    catalog::commit_charges(entries, 1);
    if (entry.verdict.outcome != catalog::Outcome::committed) {
        reply_error(request, error_of(request, [&] { refuse_unsettled(settling->request); }));
        return;
    }
    release::Settled settled = {};
    strlcpy(settled.state, settling->state, sizeof settled.state);
    settled.epsilon = request->claim->charged;
    settled.sighted = !release::is_public(request->checked->terms);
    reply_done(request, settled);
}

// Reads the rows. Nothing of the answer goes to who has permitted it.
static void answer_requester(Request *request) {
    catalog::Settling *settling = nullptr;
    const bool drawn = does_behind_charge(request, [&] {
        const release::Terms &terms = request->checked->terms;
        if (request->checked->signal != nullptr) {
            settling = release::settle(*request->decision, release::finish_signal(request->round),
                                       !release::is_public(terms));
            return;
        }
        release::Answer answer = release::finish(request->round);
        settling = release::settle(*request->requested, *request->decision, request->question, terms, answer);
        tuplestore_end(answer.rows);
    });
    if (drawn)
        settle(request, settling);
}

// No candidate was found, or there is not enough left for it: what was charged for the selection stays.
static void settle_denied(Request *request) {
    catalog::Settling settling = {};
    settling.request = request->claim->request;
    settling.state = "denied";
    settle(request, &settling);
}

// A charge for the request is durable.
static void note_claimed(Request *request) {
    if (request->claim == nullptr)
        return;
    const catalog::Verdict &verdict = request->entry->verdict;
    request->claim->taken = true;
    request->claim->ledger_row = verdict.ledger_row;
    request->claim->charged = request->claim->charged + verdict.epsilon;
}

// Replaces words that say of one charge that nothing was charged: others were committed before it. Not where nobody knows.
static ErrorData *behind_other_charges(const Request *request, ErrorData *error) {
    if (request->entry->verdict.outcome == catalog::Outcome::lost)
        return error;
    error->detail = pstrdup("What was charged before stays.");
    error->hint = pstrdup("Ask again.");
    return error;
}

// Charges what is due. False: it has ended.
static bool charge_next(Request *request) {
    request->entry = release::due(request->round);
    request->entry->claim = request->claim;
    commit_patiently(request->entry);
    if (request->entry->verdict.outcome == catalog::Outcome::committed) {
        note_claimed(request);
        return true;
    }
    if (request->claim != nullptr && request->entry->verdict.outcome == catalog::Outcome::denied) {
        settle_denied(request);
        return false;
    }
    ErrorData *error = error_of(request, [&] { catalog::refuse(*request->entry); });
    bool denied = request->entry->verdict.outcome == catalog::Outcome::denied;
    reply_error(request, denied ? error : behind_charge_of(request, behind_other_charges(request, error)));
    return false;
}

// Selects epsilon from the rows, under the charge of the selection, and charges what was selected. False: it has ended.
static bool select_and_charge(Request *request) {
    ErrorData *error = in_reading(request, [&] { release::select(request->round); });
    if (error != nullptr)
        rows::discard_unfinished();
    if (rows::take_suspension())
        suspend(request);
    if (error != nullptr) {
        reply_error(request, behind_charge_of(request, error));
        return false;
    }
    return charge_next(request);
}

// The round goes on behind a charge. What it charges next may name columns, so it needs a transaction. False: it has ended.
static bool go_on(Request *request) {
    return does_behind_charge(request, [&] { release::charged(request->round); });
}

// From the first charge to the last, for a request whose charges depend on the rows.
static bool pay_the_rest(Request *request) {
    if (!go_on(request))
        return false;
    while (!release::is_paid(request->round) && !release::must_step(request->round)) {
        bool charged = release::must_select(request->round) ? select_and_charge(request) : charge_next(request);
        if (!charged || !go_on(request))
            return false;
    }
    return true;
}

// ---- limits --------------------------------------------------------------------------------------------------------

// Reads the rows. What was charged stays, whatever happens here.
static void answer_limit(Request *request) {
    int limit = 0;
    if (does_behind_charge(request, [&] {
            limit = release::choose_limit(request->checked->paid_by(*request->entry), *request->wish);
        }))
        reply_done(request, limit);
}

// ---- charged requests ----------------------------------------------------------------------------------------------

// Lists the requests that this keeper has charged and somebody has yet to read: their locks stand until then.
static Request *held[nslots];

static void hold(Request *request) {
    if (held[request->slot] != nullptr) // of the slot's last request, which another keeper has answered
        close_request(held[request->slot]);
    held[request->slot] = request;
    request->marked = true;
    const catalog::Touched *touched = request->entry->what->touched;
    mark_charged(request->slot, request->charged, request->entry->verdict.epsilon, request->entry->verdict.period,
                 touched == nullptr ? 0 : touched->begun);
}

void release_locks() {
    for (Request *&request : held)
        if (request != nullptr && is_over(request->slot, request->ticket)) {
            close_request(request);
            request = nullptr;
        }
}

// Gives up the locks of all of them: each counts for itself, so a deadlock stays as long as one holds what is waited for.
static void let_go_of_held() {
    for (Request *&request : held)
        if (request != nullptr) {
            close_request(request);
            request = nullptr;
        }
}

static Request *find_held(int slot) {
    Request *request = held[slot];
    if (request == nullptr || request->ticket != pool()->slots[slot].ticket)
        return nullptr;
    held[slot] = nullptr;
    MemoryContextSwitchTo(request->memory);
    if (has_locks(request))
        return request;
    close_request(request); // it is checked again
    return nullptr;
}

// Charged by another keeper: resolved again here, and read if it comes to what was charged, to the same price. A literal may mean
// something else by now. Null: not here, not now.
static Request *resume(int slot) {
    Request *request = open_request(slot);
    bool same = false;
    request->alone = false;
    request->paid = request->marked = true;
    int charger = pool()->slots[slot].charger;
    bool elsewhere = charger >= 0 && charger != this_keeper(); // there it can be read as well
    rows::resolve_at(pool()->slots[slot].begun); // a month that has begun since was not charged
    ErrorData *error = in_transaction(request, elsewhere ? "10ms" : for_now, elsewhere ? 200 : 0, [&] {
        if (!prepare_answer(request))
            return;
        const Slot &shared = pool()->slots[slot];
        same = is_charged(slot, request->charged);
        if (same)
            release::continue_charged(request->round, shared.epsilon, shared.period);
    });
    rows::resolve_at(0);
    if (error == nullptr && same)
        return request;
    bool locked = error != nullptr && is_for_now(error);
    if (locked || (pool()->slots[slot].charger >= 0 && pool()->slots[slot].charger != this_keeper()))
        give_back_charged(slot, locked);
    else
        reply_error(request, error_of(request, [] { refuse_changed(); }));
    close_request(request);
    return nullptr;
}

// Gives back a request that something is in the way of. What it has locked stays as it was checked, while a lock is waited for. A
// deadlock is ended by giving up these locks, and those of all that wait; then, and where partitions came, it is resolved again.
static void read_later(Request *request) {
    const int slot = request->slot;
    const bool keeps =
        !request->paid && has_locks(request) && request->in_the_way->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE;
    FreeErrorData(request->in_the_way);
    request->in_the_way = nullptr;
    if (keeps) {
        held[slot] = request;
    } else {
        close_request(request);
        let_go_of_held();
    }
    give_back_charged(slot, true);
}

static void answer_charged(int slot) {
    Request *request = find_held(slot);
    if (request == nullptr)
        request = resume(slot);
    if (request == nullptr)
        return;
    wake_another();
    answer(request);
    if (request->in_the_way != nullptr)
        read_later(request);
    else
        close_request(request);
}

// ---- serving -------------------------------------------------------------------------------------------------------

static void charge_batch(Request **requests, int n) {
    auto **entries = static_cast<catalog::Entry **>(palloc(sizeof(catalog::Entry *) * n));
    int slots[most_in_batch];
    for (int i = 0; i < n; i++) {
        entries[i] = requests[i]->entry;
        slots[i] = requests[i]->slot;
    }
    commit(entries, slots, n);
    for (int i = 0; i < n; i++) {
        Request *request = requests[i];
        MemoryContextSwitchTo(request->memory);
        if (ends_with_charge(request)) {
            close_request(request);
        } else if (request->alone && (request->wish != nullptr || request->claim != nullptr || takes_long(request))) {
            note_claimed(request);
            mark_running(request->slot);
            if (!has_locks(request)) // an error of the commit took them
                reply_error(request, error_of(request, [] { refuse_changed(); }));
            else if (request->wish != nullptr)
                answer_limit(request);
            else if (pay_the_rest(request)) {
                if (request->claim == nullptr)
                    answer(request);
                else
                    answer_requester(request);
            }
            close_request(request);
        } else {
            release::charged(request->round);
            hold(request);
        }
    }
}

static int prepare_batch(Request **requests) {
    int slots[most_in_batch], n = 0;
    int taken = take_pending(slots);
    TimestampTz start = GetCurrentTimestamp();
    for (int i = 0; i < taken; i++) {
        // One that takes long is enough for those that wait with it.
        if (i > 0 && TimestampDifferenceExceeds(start, GetCurrentTimestamp(), batch_ms)) {
            hand_back(slots[i]);
            continue;
        }
        Request *request = prepare(slots[i]);
        if (request != nullptr)
            requests[n++] = request;
    }
    return n;
}

void serve() {
    of_all = AllocSetContextCreate(TopMemoryContext, "dp_rdr batch", ALLOCSET_DEFAULT_SIZES);
    MemoryContextSwitchTo(of_all);
    Request *requests[most_in_batch];
    int n = prepare_batch(requests);
    MemoryContextSwitchTo(of_all);
    if (n > 0)
        charge_batch(requests, n);
    // Charges requests that come while answers take long in between, so that they have a turn.
    TimestampTz start = GetCurrentTimestamp();
    for (int slot = take_charged(); slot >= 0; slot = take_charged()) {
        answer_charged(slot);
        release_locks();
        if (TimestampDifferenceExceeds(start, GetCurrentTimestamp(), turn_ms) && somebody_is_pending())
            break;
    }
    release_locks();
    MemoryContext memory = of_all;
    of_all = TopMemoryContext;
    MemoryContextSwitchTo(of_all);
    MemoryContextDelete(memory);
}

} // namespace dp::keeper
