// One request in the keeper that has it: its memory, its locks, its transactions, its charges, and what goes back.
#pragma once

#include "border/attempt.hpp"
#include "border/scope.hpp"
#include "border/versions.hpp"
#include "keeper/queue.hpp"
#include "keeper/stream.hpp"
#include "keeper/watch.hpp"
#include "release/approve.hpp"
#include "release/choose_row_limit.hpp"
#include "release/round.hpp"

namespace dp::keeper {

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
    StringInfo message;     // an answer that costs nothing, or is stored before it leaves, whole; or null
    List *locked;           // LockRelId *, to the end of the request
    bool marked;            // its charge is marked in its slot: it can be read later
    bool reads;             // all that its reading opens is locked in the transaction of the reading
    bool stepped;           // a step of it was read: it cannot begin again
    ErrorData *in_the_way;  // behind the charge, before a row was read
    uint64 aborts;          // that were counted when they were locked
};

// Holds the allocations of a batch that serve no single request. What goes on when a request is closed goes on here.
extern MemoryContext of_all;
Request *open_request(int slot);
void close_request(Request *request);
// Tells whether its locks are still there: when a transaction is aborted, whosever, the server takes them away as well.
bool has_locks(const Request *request);
// Locks for the session all that the reading will open. So it stays as it was checked, over the transactions in between, and
// the reading waits for nobody behind the charge. If another session waits for one of these locks it goes first: refuses a
// request that is not charged yet. The charged ones that hold it up end with their answers.
void lock_for_request(Request *request);
// Returns the tables and all that is opened with them, as they are now, locked to the end of the transaction.
List *lock_opened(const Request *request);

// Called once, when the process begins.
void watch_aborts();

// ---- transactions ----

// Shows a keeper's work in pg_stat_activity: the login and the view, no value of the question, nothing that depends on rows.
void show_activity(const Request *request);
// Returns the slot that is served now, for the handler of SIGINT; -1: none.
int slot_served();
void set_slot_served(int slot);

// A transaction of the request's own, as who asks. An error is returned, and what the transaction did is gone. It is undone
// as a subtransaction: the end of a whole one would take the locks of all other requests along. Ends in the request's memory.
// limit_ms: after so long it is cancelled; 0: never.
template <class Work>
ErrorData *in_transaction(Request *request, const char *lock_timeout, int limit_ms, Work &&work) {
    ErrorData *volatile error = nullptr;
    set_slot_served(request->slot);
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
    set_slot_served(-1);
    forget_told();
    QueryCancelPending = false; // it came too late, and was for nobody else
    MemoryContextSwitchTo(request->memory);
    return error;
}

// Tells whether it is for now that a request fails: it comes again. Of a deadlock nobody knows who waits for the other.
bool is_for_now(const ErrorData *error);
// Tells whether partitions came while the tables were looked at: nothing was read.
bool is_changed(const ErrorData *error);

// ---- charges ----

// Returns when what is committed is durable. Slots: of requests; null for one that comes later in a round.
void commit(catalog::Entry **entries, const int *slots, int n);
// Commits one that cannot be put back: rows were read before it.
void commit_patiently(catalog::Entry *entry);
// Writes down that a failure may tell something about a row: it ends what its role may ask (architecture.md, 3.6).
void suspend(Request *request);
// Returns true once a lock was waited for long enough, counted from when it was first met; the time in the queue before is left out.
bool out_of_patience(const Request *request);

// ---- what goes back ----

void reply(Request *request, Reply kind, const border::Writer &writer);
void reply_error(Request *request, const ErrorData *error);
template <class T> void reply_done(Request *request, const T &value) {
    border::Writer writer = border::Writer::begin();
    writer.put(value);
    reply(request, Reply::done, writer);
}
// Writes facts and rows. Ends the rows, also where nobody takes them any more.
void put_answer(Stream *stream, const release::Answer &answer);
// Returns all of an answer, to be sent behind its transaction.
StringInfo message_of(const release::Answer &answer);

// Returns an error as data.
ErrorData *error_with(int sqlstate, const char *message, const char *hint, const char *detail = nullptr);
// Returns the one for a request whose charge stays, and whose tables do not.
ErrorData *changed_error();
// Returns the error that a refusal raises, as data; null: it raises none. In the request's memory.
template <class Raise> ErrorData *error_of(Request *request, Raise &&raise) {
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

} // namespace dp::keeper
