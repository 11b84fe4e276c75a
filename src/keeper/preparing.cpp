#include "keeper/preparing.hpp"

#include "catalog/facade.hpp"
#include "catalog/ledger_bytes.hpp"
#include "release/accuracy_plan.hpp"
#include "release/resolved.hpp"
#include "release/signal.hpp"
#include "rows/engine.hpp"
#include "rows/guarded_read.hpp"
#include "rows/unit_checks.hpp"

namespace dp::keeper {

static bool asked_elsewhere = false;

bool has_asked_elsewhere() {
    return asked_elsewhere;
}

// ---- questions -----------------------------------------------------------------------------------------------------

constexpr int many_measures = 16;

bool takes_long(const Request *request) {
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
    // The client may hold a lock that this keeper would wait for, and waits for the keeper itself: no deadlock detector sees it.
    if (!ConditionalLockRelationOid(request->ask.view, AccessShareLock))
        refuse_with(ERRCODE_LOCK_NOT_AVAILABLE, "a lock is in the way");
    if (get_rel_name(request->ask.view) == nullptr)
        refuse_state("the restricted view was made in a transaction that has not been committed",
                     "Commit it, and ask again: only what is committed is answered about.");
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

bool prepare_answer(Request *request) {
    const Slot &slot = pool()->slots[request->slot];
    border::Reader reader = message_in(slot);
    request->ask = read_ask(&reader, catalog::Asker{request->role, request->session_role});
    prepare_question(request);
    if (!request->paid && write_uncharged(request))
        return request->alone || static_cast<Size>(request->message->len) <= slot.capacity;
    if (!may_ask_nodes(request) || (takes_long(request) && !request->alone))
        return false;
    border::check_stack_room();
    lock_for_request(request);
    request->round = release::begin(*request->checked, request->ask.refines ? &request->ask.refinable : nullptr);
    request->entry = release::due(request->round);
    request->charged = DatumGetByteaP(release::hash_of_charge(request->round));
    return true;
}

// ---- requests, limits, charges -------------------------------------------------------------------------------------

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

// ---- failures ------------------------------------------------------------------------------------------------------

static bool took_too_long(const Request *request, const ErrorData *error) {
    return error->sqlerrcode == ERRCODE_QUERY_CANCELED && !is_cancelled(request->slot);
}

static bool is_away(const Request *request, const ErrorData *error) {
    return request->question != nullptr && request->question->remote &&
           (ERRCODE_TO_CATEGORY(error->sqlerrcode) == ERRCODE_CONNECTION_EXCEPTION || took_too_long(request, error));
}

// Returns what is said of it: nothing of what another server has said while the transaction of the preparation ended.
static ErrorData *said_of(const Request *request, ErrorData *error) {
    if (is_away(request, error))
        return error_with(ERRCODE_FDW_UNABLE_TO_ESTABLISH_CONNECTION,
                          psprintf("a partition of %s cannot be reached", request->question->settings->relation_name),
                          "Ask again later.", "Nothing was charged.");
    if (is_for_now(error))
        return error_with(ERRCODE_LOCK_NOT_AVAILABLE,
                          "the restricted view or its table is locked by another transaction",
                          "Ask again when the change of the table has ended. A transaction that has locked the table itself "
                          "cannot ask.",
                          "Nothing was charged.");
    if (took_too_long(request, error))
        return error_with(ERRCODE_PROGRAM_LIMIT_EXCEEDED, "the query takes too long before it reads a row",
                          "Ask in several queries, or write a shorter one.", "Nothing was charged.");
    return error;
}

// The request is answered or put back: nothing more is done with it now.
static void end_unprepared(Request *request, ErrorData *error) {
    if (error == nullptr)
        set_aside(request->slot);
    else {
        const bool away = is_away(request, error), waits = !away && is_for_now(error);
        const bool too_long = !away && took_too_long(request, error);
        if ((waits && !out_of_patience(request)) || (too_long && !request->alone))
            put_back(request->slot, waits);
        else
            reply_error(request, said_of(request, error));
    }
    close_request(request);
}

// Sent behind the transaction: an error of its end is no second answer.
static void end_uncharged(Request *request) {
    Stream stream = open_stream(request->slot);
    put_bytes(&stream, request->message->data, request->message->len);
    close_stream(&stream);
    close_request(request);
}

Request *prepare(int slot) {
    Request *request = open_request(slot);
    bool ready = true;
    // Others wait with a request of a batch, so it waits for nobody.
    ErrorData *error = in_transaction(request, request->alone ? "2s" : "10ms", request->alone ? 5000 : batch_ms, [&] {
        if (request->kind == Kind::charge)
            request->entry = catalog::decode(buffer_of(pool()->slots[slot]), pool()->slots[slot].filled);
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
        end_unprepared(request, error);
    else if (request->message == nullptr)
        return request;
    else
        end_uncharged(request);
    return nullptr;
}

} // namespace dp::keeper
