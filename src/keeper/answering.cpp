#include "keeper/answering.hpp"

#include "catalog/ledger_writer.hpp"
#include "release/signal.hpp"
#include "rows/evaluate.hpp"
#include "rows/guarded_read.hpp"

namespace dp::keeper {

bool ends_with_charge(Request *request) {
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

// ---- the rows ------------------------------------------------------------------------------------------------------

// For a lock that was not taken before, of a catalog for instance. Its holder does not wait for this keeper: the client cannot take
// one while he waits, and what he held was met before the charge.
constexpr const char *behind_charge = "30s";

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

// Does what may read rows, as the charge has paid for it. False: it has failed, which `fail` tells, or the request goes on later.
template <class Work, class Fail> static bool does_behind_charge(Request *request, Work &&work, Fail &&fail) {
    ErrorData *error = in_reading(request, work);
    if (rows::take_suspension())
        suspend(request);
    if (is_for_later(request, error))
        request->in_the_way = error;
    else if (error != nullptr)
        fail(behind_charge_of(request, error));
    return error == nullptr;
}

template <class Work> static bool does_behind_charge(Request *request, Work &&work) {
    return does_behind_charge(request, work, [&](const ErrorData *error) { reply_error(request, error); });
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

// Commits what goes with a charge that was made. It needs no odometer, and so no turn among those who charge.
static bool commit_beside(const Request *request, catalog::RequestKind kind, const catalog::Storing *storing,
                          const catalog::Settling *settling) {
    catalog::Charge nothing = {};
    nothing.settings = request->question->settings;
    catalog::Entry entry = catalog::entry_for(nothing, kind);
    entry.storing = storing;
    entry.settling = settling;
    catalog::Entry *entries[] = {&entry};
    catalog::commit_charges(entries, 1);
    return entry.verdict.outcome == catalog::Outcome::committed;
}

static void put_error(Stream *stream, const ErrorData *error) {
    border::Writer writer = border::Writer::begin();
    write_error(&writer, error);
    if (stream->begun)
        put_bytes(stream, &another_reply, sizeof another_reply);
    else
        stream->filled = 0;
    put_reply(stream, Reply::error, writer.bytes);
}

void answer(Request *request) {
    if (!take_steps(request))
        return;
    Stream stream = open_stream(request->slot);
    const catalog::Storing *storing = nullptr;
    const bool read = does_behind_charge(
        request,
        [&] {
            release::Answer answer = release::finish(request->round);
            storing = answer.storing;
            if (storing == nullptr)
                put_answer(&stream, answer);
            else
                request->message = message_of(answer);
        },
        [&](const ErrorData *error) { put_error(&stream, error); });
    if (request->in_the_way != nullptr) {
        pfree(stream.bytes);
        return;
    }
    if (read && storing != nullptr) {
        // Committed before the first row leaves: who cancels now, or rolls back, and asks again is given what was drawn for him. One
        // that fails is logged by the writer, and the answer goes its way.
        (void)commit_beside(request, catalog::RequestKind::store, storing, nullptr);
        put_bytes(&stream, request->message->data, request->message->len);
    }
    close_stream(&stream);
}

// ---- approvals -----------------------------------------------------------------------------------------------------

// Stores the drawn answer, in a commit of its own, if the request is still what its charge has made of it. Tells the approver how
// it has ended.
static void settle(Request *request, catalog::Settling *settling) {
    settling->ledger_row = request->claim->ledger_row;
    if (!commit_beside(request, catalog::RequestKind::settle, nullptr, settling)) {
        reply_error(request, error_with(ERRCODE_T_R_STATEMENT_COMPLETION_UNKNOWN,
                                        psprintf("the answer to request " INT64_FORMAT " was not stored", settling->request),
                                        "The server log tells the cause. It has to be asked for again.", "Its charge stays."));
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
    const bool selected = does_behind_charge(request, [&] { release::select(request->round); });
    if (!selected)
        rows::discard_unfinished();
    return selected && charge_next(request);
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

static void answer_limit(Request *request) {
    int limit = 0;
    if (does_behind_charge(request, [&] {
            limit = release::choose_limit(request->checked->paid_by(*request->entry), *request->wish);
        }))
        reply_done(request, limit);
}

void answer_alone(Request *request) {
    note_claimed(request);
    mark_running(request->slot);
    if (!has_locks(request)) // an error of the commit took them
        reply_error(request, changed_error());
    else if (request->wish != nullptr)
        answer_limit(request);
    else if (pay_the_rest(request)) {
        if (request->claim == nullptr)
            answer(request);
        else
            answer_requester(request);
    }
}

} // namespace dp::keeper
