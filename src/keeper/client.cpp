#include "keeper/client.hpp"

#include <utility>

#include "border/versions.hpp"
#include "catalog/ledger_bytes.hpp"
#include "keeper/queue.hpp"
#include "keeper/start.hpp"

namespace dp::keeper {

namespace {
// A request under way.
struct Conversation {
    int slot;
    bool gone;         // it was abandoned
    bool started;      // a keeper was woken, or one starts
    TimestampTz start; // of waiting without a keeper
    const char *part;  // what is there to be read, a copy
    Size size, at;
    bool last;
    Loss lost;             // what is read is zeros from here on, unless none
    StringInfoData buffer; // of the part
};
} // namespace

[[noreturn]] static void refuse_no_slot() {
    refuse_with(ERRCODE_TOO_MANY_CONNECTIONS, "no background worker could be started",
                "All background workers are in use. Try again, or ask the administrator to raise "
                "\"max_worker_processes\".",
                "Nothing was charged.");
}

// The server has taken one on, which does not join those of this library.
[[noreturn]] static void refuse_not_started() {
    refuse_with(ERRCODE_CANNOT_CONNECT_NOW, "no background worker could be started",
                "If the library of dp_rdr was replaced while this session was running, reconnect. Otherwise "
                "the server's log says why none has started.",
                "Nothing was charged.");
}

[[noreturn]] static void refuse_lost(Loss loss) {
    if (loss == Loss::uncharged)
        refuse_with(ERRCODE_CANNOT_CONNECT_NOW, "no answer is released", "Ask again.",
                    "The background worker that had the request has ended. Nothing was charged.");
    refuse_with(ERRCODE_T_R_STATEMENT_COMPLETION_UNKNOWN, "no answer is released",
                "The controller sees in the ledger what was charged. Ask again.",
                loss == Loss::charged
                    ? "The background worker that had the request has ended. What was charged stays."
                    : "The background worker that had the request has ended while it was charged. It is not known "
                      "whether the charge was committed.");
}

// ---- waiting -------------------------------------------------------------------------------------------------------

constexpr int patience_ms = 2000;
constexpr int starting_patience_ms = 10000; // one that was asked for may find a busy machine, or never come to life
constexpr long look_ms = 200;               // whether a keeper lives
constexpr long retry_ms =
    2; // for a worker slot: a client without think time would otherwise always be the one to find it

// A keeper lives, or one is on its way; else raises an error after a while.
static bool keeper_is_there(Conversation *talk, State state) {
    bool started = start_keeper();
    if (keeper_lives()) {
        talk->start = 0;
        return true;
    }
    if (talk->start == 0)
        talk->start = GetCurrentTimestamp();
    if (TimestampDifferenceExceeds(talk->start, GetCurrentTimestamp(), started ? starting_patience_ms : patience_ms)) {
        if (state != State::pending)
            refuse_lost(Loss::charged);
        if (started)
            refuse_not_started();
        refuse_no_slot();
    }
    return started;
}

static Loss abandon_once(Conversation *talk) {
    return std::exchange(talk->gone, true) ? Loss::none : abandon(talk->slot);
}

// Adds to a cancel, or a timeout, what became of the charge. Nothing is said of one that will not be made.
static void say_charge(void *talk) {
    if (geterrcode() != ERRCODE_QUERY_CANCELED)
        return;
    const Loss loss = abandon_once(static_cast<Conversation *>(talk));
    if (loss == Loss::unknown)
        errdetail("It may have been charged: the controller sees that in the ledger.");
    else if (loss == Loss::charged)
        errdetail("What was charged stays.");
}

static void wait_a_moment(long milliseconds) {
    (void)WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, milliseconds,
                    border::wait_event("DpRdrAnswer"));
    ResetLatch(MyLatch);
    CHECK_FOR_INTERRUPTS();
}

static void wait_for_part(Conversation *talk) {
    const Slot &slot = pool()->slots[talk->slot];
    for (bool there = talk->started;;) {
        Size size = part_there(talk->slot, &talk->last, &talk->lost);
        if (talk->lost != Loss::none)
            return;
        if (size > 0) {
            resetStringInfo(&talk->buffer);
            appendBinaryStringInfo(&talk->buffer, buffer_of(slot), static_cast<int>(size));
            part_taken(talk->slot);
            talk->part = talk->buffer.data;
            talk->size = size;
            talk->at = 0;
            return;
        }
        ErrorContextCallback charge = {error_context_stack, say_charge, talk};
        error_context_stack = &charge;
        wait_a_moment(there ? look_ms : retry_ms);
        error_context_stack = charge.previous;
        State state = state_of(slot);
        there = (state != State::pending && state != State::charged) || keeper_is_there(talk, state);
    }
}

// Bytes of the answer, which may go over several parts.
static void read_bytes(Conversation *talk, void *into, Size size) {
    auto *to = static_cast<char *>(into);
    while (size > 0) {
        if (talk->at == talk->size) {
            if (talk->last && talk->size > 0)
                elog(ERROR, "an answer of dp_rdr is cut short");
            wait_for_part(talk);
        }
        if (talk->lost != Loss::none) {
            memset(to, 0, size);
            return;
        }
        Size there = Min(size, talk->size - talk->at);
        memcpy(to, talk->part + talk->at, there);
        talk->at += there;
        to += there;
        size -= there;
    }
}

// ---- a slot --------------------------------------------------------------------------------------------------------

constexpr Size least_buffer = 16 * 1024; // what an answer comes in, part by part

// -1: there is none now.
static int try_slot(Kind kind, Oid role, Oid session_role, Oid relation, Size size) {
    int slot = reserve_slot(kind, role, session_role, relation, size);
    if (slot >= 0 || !pool()->closed)
        return slot;
    ConditionVariableCancelSleep(); // of one that lies in what is left
    (void)live_pool();
    return reserve_slot(kind, role, session_role, relation, size);
}

static int wait_for_slot(Kind kind, Oid role, Oid session_role, Oid relation, Size size) {
    if (size > request_limit)
        refuse_size(psprintf("a query on a restricted view and its parameters are longer than %zu bytes together",
                             request_limit));
    int slot = try_slot(kind, role, session_role, relation, Max(size, least_buffer));
    if (slot >= 0)
        return slot;
    ConditionVariablePrepareToSleep(slot_freed());
    while ((slot = try_slot(kind, role, session_role, relation, Max(size, least_buffer))) < 0)
        (void)ConditionVariableTimedSleep(slot_freed(), look_ms, border::wait_event("DpRdrSlot"));
    ConditionVariableCancelSleep();
    return slot;
}

static void abandon_slot(int, Datum talk) {
    (void)abandon_once(reinterpret_cast<Conversation *>(DatumGetPointer(talk)));
}

namespace {
struct Received {
    Reply reply;
    border::Reader block; // an error, or facts, or an entry's outcome
    Loss loss;            // with Reply::lost
};
} // namespace

// Sends the bytes, lets `read` take the answer, and frees the slot, whatever happens.
template <class Read>
static void converse(Kind kind, const catalog::Asker &asker, Oid relation, const StringInfoData &bytes,
                     Received *received, Read &&read) {
    (void)pool();
    Conversation talk = {};
    initStringInfo(&talk.buffer);
    talk.slot = wait_for_slot(kind, asker.role, asker.session_role, relation, bytes.len);
    PG_ENSURE_ERROR_CLEANUP(abandon_slot, PointerGetDatum(&talk));
    {
        memcpy(buffer_of(pool()->slots[talk.slot]), bytes.data, bytes.len);
        talk.started = submit(talk.slot, bytes.len) || start_keeper();
        read(&talk);
    }
    PG_END_ENSURE_ERROR_CLEANUP(abandon_slot, PointerGetDatum(&talk));
    if (talk.last || talk.lost != Loss::none)
        free_slot(talk.slot);
    else
        (void)abandon_once(&talk); // what follows is not wanted
    received->loss = talk.lost;
    if (talk.lost != Loss::none)
        received->reply = Reply::lost;
}

// ---- answers -------------------------------------------------------------------------------------------------------

// A text of the answer that comes as its size and its bytes.
static border::Reader read_block(Conversation *talk, Size size) {
    auto *bytes = static_cast<char *>(palloc(size + 1));
    read_bytes(talk, bytes, size);
    return border::Reader{bytes, bytes + size};
}

static Received receive(Conversation *talk) {
    Received received = {};
    uint32 size;
    read_bytes(talk, &received.reply, sizeof received.reply);
    read_bytes(talk, &size, sizeof size);
    received.block = read_block(talk, size);
    if (talk->lost != Loss::none)
        received.reply = Reply::lost;
    return received;
}

// Rows, each behind its length; after the last a 0, or no_row and an error.
static void receive_rows(Conversation *talk, Tuplestorestate *rows, TupleDesc desc, Received *end) {
    TupleTableSlot *slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
    for (;;) {
        uint32 size;
        read_bytes(talk, &size, sizeof size);
        if (talk->lost != Loss::none || size == 0)
            break;
        if (size == another_reply) {
            *end = receive(talk);
            break;
        }
        auto *tuple = static_cast<MinimalTuple>(palloc(size));
        read_bytes(talk, tuple, size);
        if (talk->lost != Loss::none)
            break;
        ExecStoreMinimalTuple(tuple, slot, true);
        tuplestore_puttupleslot(rows, slot);
    }
    ExecDropSingleTupleTableSlot(slot);
}

[[noreturn]] static void refuse_answer(Received *received) {
    if (received->reply == Reply::error)
        raise_error(&received->block);
    refuse_lost(received->loss);
}

release::Facts ask(const release::Ask &what, Tuplestorestate *rows, TupleDesc desc, StringInfo sent) {
    border::Writer writer = border::Writer::begin();
    write(&writer, what);
    *sent = writer.bytes;
    Received received = {};
    release::Facts facts = {};
    converse(Kind::answer, what.asker, what.view, writer.bytes, &received, [&](Conversation *talk) {
        received = receive(talk);
        if (received.reply != Reply::answer)
            return;
        facts = read<release::Facts>(&received.block);
        receive_rows(talk, rows, desc, &received);
    });
    if (received.reply != Reply::answer)
        refuse_answer(&received);
    return facts;
}

// Sends what is wished, and returns what comes of it.
template <class Outcome, class Wish>
static Outcome outcome_of(Kind kind, const catalog::Asker &asker, Oid relation, const Wish &wish) {
    border::Writer writer = border::Writer::begin();
    write(&writer, wish);
    Received received = {};
    converse(kind, asker, relation, writer.bytes, &received, [&](Conversation *talk) { received = receive(talk); });
    if (received.reply != Reply::done)
        refuse_answer(&received);
    return received.block.take<Outcome>();
}

release::Settled approve(const release::Approval &approval, const catalog::Asker &approver) {
    return outcome_of<release::Settled>(Kind::approve, approver, InvalidOid, approval);
}

int choose_limit(const release::LimitWish &wish, const catalog::Asker &asker) {
    return outcome_of<int>(Kind::limit, asker, wish.view, wish);
}

void deliver(catalog::Entry *entry) {
    border::Writer writer = border::Writer::begin();
    catalog::encode(*entry, &writer.bytes);
    Received received = {};
    converse(Kind::charge, entry->what->asker, entry->what->settings->view, writer.bytes, &received,
             [&](Conversation *talk) { received = receive(talk); });
    if (received.reply == Reply::lost && received.loss != Loss::uncharged) {
        entry->verdict.outcome = catalog::Outcome::lost;
        return;
    }
    if (received.reply != Reply::done)
        refuse_answer(&received);
    entry->verdict = received.block.take<catalog::Verdict>();
}

} // namespace dp::keeper
