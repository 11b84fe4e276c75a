// What becomes of an answer when something is computed from it: redrawing it, and signals (doc/analyst.md, doc/controller.md).
#include "release/approve.hpp"
#include "release/estimate.hpp"
#include "release/redraw.hpp"
#include "release/resolved.hpp"
#include "release/signal.hpp"
#include "sql/analyst.hpp"
#include "sql/call_arguments.hpp"
#include "sql/statement_leaves.hpp"
#include "sql/refusal.hpp"
#include "sql/decide_requests.hpp"
#include "sql/result_rows.hpp"

using dp::catalog::Visit;

namespace dp::sql {

[[noreturn]] static void refuse_kind(const catalog::Requested &request, const char *what, const char *hint) {
    refuse_state(psprintf("request " INT64_FORMAT " is %s", request.id, what), hint);
}

// ---- more noise ----------------------------------------------------------------------------------------------------

namespace {
struct Output {
    ReturnSetInfo *result;
    Datum *values;
    bool *nulls;
};
} // namespace

static void put_drawn(void *context, int draw, const Datum *values, const bool *nulls) {
    auto *output = static_cast<Output *>(context);
    int n = output->result->setDesc->natts - 1;
    output->values[0] = Int32GetDatum(draw);
    memcpy(output->values + 1, values, sizeof(Datum) * n);
    memcpy(output->nulls + 1, nulls, sizeof(bool) * n);
    tuplestore_putvalues(output->result->setResult, output->result->setDesc, output->values, output->nulls);
}

// How wide the noise is tells what was charged.
static void check_public(const catalog::Requested &request) {
    if (request.basis == nullptr || strcmp(request.basis, "public") != 0)
        refuse_state(psprintf("request " INT64_FORMAT " was decided on in sight of the rows", request.id),
                     "dp_fetch() has its answer.",
                     "How much noise its answer has is told to nobody: it would show the price.");
}

constexpr int most_draws = 1000;

DP_CALL(dp_redraw) {
    require(fcinfo, {0, 1});
    check_in_from(fcinfo, "dp_redraw");
    int draws = PG_GETARG_INT32(1);
    if (draws < 1 || draws > most_draws)
        refuse_value(psprintf("draws must be between 1 and %d, not %d", most_draws, draws));
    const catalog::Requested *request = answered_request(PG_GETARG_INT64(0));
    check_public(*request);
    if (request->is_signal())
        refuse_kind(*request, "a signal", "dp_redraw() is for the answer that it goes on from.");
    InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
    auto *result = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
    check_fetched_columns(*request, result->setDesc, "draw");
    int n = result->setDesc->natts;
    Output output = {result, static_cast<Datum *>(palloc0(sizeof(Datum) * n)),
                     static_cast<bool *>(palloc0(sizeof(bool) * n))};
    release::redraw(*request, draws, put_drawn, &output);
    return Datum(0);
}

// ---- asking for a signal -------------------------------------------------------------------------------------------

namespace {
enum SignalArgument {
    signal_request,
    signal_task,
    signal_value,
    signal_purpose,
    signal_reference,
    signal_k,
    signal_lower,
    signal_upper,
    signal_epsilon,
    signal_expires
};

struct Priced {
    catalog::Settings *settings;
    release::Price price;
    double error95;
};
} // namespace

static release::Wish wish_arguments(FunctionCallInfo fcinfo, const catalog::Requested *parent) {
    release::Wish wish = {};
    wish.parent = parent;
    wish.task = text_argument(fcinfo, signal_task);
    wish.value = text_argument(fcinfo, signal_value);
    wish.reference = text_argument(fcinfo, signal_reference);
    wish.has_k = !PG_ARGISNULL(signal_k);
    wish.k = wish.has_k ? PG_GETARG_INT32(signal_k) : 0;
    wish.lower = PG_GETARG_FLOAT8(signal_lower);
    wish.upper = PG_GETARG_FLOAT8(signal_upper);
    release::check_wish(&wish);
    return wish;
}

// Of the requester's own, an answer that was handed out.
static const catalog::Requested *parent_of(FunctionCallInfo fcinfo) {
    int64 id = PG_GETARG_INT64(signal_request);
    const catalog::Requested *parent = answered_request(id);
    if (parent->asker.role != GetUserId())
        refuse_right(psprintf("request " INT64_FORMAT " was made by another role", id),
                     "Who has asked for the answer asks for signals on it. dp_inspect_signal() shows the "
                     "owner of the table what they are.");
    if (strcmp(parent->state, "answered") != 0)
        refuse_kind(*parent, parent->state, "A signal is about an answer that was handed out.");
    if (parent->is_signal())
        refuse_form("a signal on a signal is not supported",
                    psprintf("Ask for it on request " INT64_FORMAT ".", parent->parent));
    return parent;
}

// All that would be refused later is refused now; the price is that of now.
static Priced look_at(release::Ask *ask) {
    Priced priced = {};
    ErrorData *refusal = refusal_by([&] {
        border::TimeZoneScope zone = border::TimeZoneScope::enter(ask->time_zone);
        query::Leaf *leaf = release::check_ask(*ask);
        check_not_temporary(leaf);
        check_one_view(leaf, "a signal");
        const release::Checked resolved = release::resolve(*ask, leaf, true);
        zone.leave();
        priced.settings = resolved.question->settings;
        // Found in the rows, or after a look at them: not of a signal.
        if (!release::is_public(resolved.terms.algorithm) || release::is_selected(resolved.terms.algorithm))
            return;
        priced.price = release::price_in_advance(resolved.charged, resolved.terms);
        if (priced.price.known)
            priced.error95 = release::error_of(resolved.signal, priced.price.error95[0]);
    });
    if (refusal != nullptr)
        ReThrowError(refusal);
    return priced;
}

static void store_signal(const Visit &visit, const release::Wish &wish, const release::Ask &ask, const Priced &priced,
                         const char *purpose, TimestampTz now, TimestampTz expires) {
    const release::Price &price = priced.price;
    // The leaf is the parent's, and so are its parameters.
    uint64 rows = catalog::run(
        visit,
        "INSERT INTO dp_rdr.request (kind, table_id, parent, requester, session_role, decider, at, expires_at, view, "
        "query, parameters, purpose, epsilon_wanted, task, terms, names, types, error95, shown) "
        "SELECT 'signal', p.table_id, p.id, $2::regrole, $3::regrole, p.decider, $4, $5, p.view, p.query, "
        "p.parameters, $6, $8, $7, jsonb_build_object('epsilon', $9), '{dp,exact,error95}', "
        "array_fill('double precision'::text, '{3}'), CASE WHEN $10 IS NOT NULL THEN ARRAY[NULL, $10, NULL] END, $12 "
        "FROM dp_rdr.request p WHERE p.id = $1 AND p.state = 'answered' AND p.view::oid = $11 RETURNING id",
        wish.parent->id, ask.asker.role, ask.asker.session_role, catalog::Moment{now}, catalog::Moment{expires},
        purpose, catalog::Json{release::wish_json(wish)}, catalog::if_given(ask.has_epsilon, ask.epsilon),
        catalog::if_given(price.known, price.epsilon), catalog::if_given(price.known, priced.error95),
        priced.settings->view, wish.call);
    if (rows != 1)
        refuse_kind(*wish.parent, "not answered any more", "dp_requests(NULL) shows its state.");
}

DP_CALL(dp_request_signal) {
    require(fcinfo, {signal_request, signal_task, signal_value, signal_purpose, signal_lower, signal_upper,
                     signal_expires});
    catalog::check_can_ask();
    const char *purpose = text_argument(fcinfo, signal_purpose);
    check_length(purpose, "a purpose");
    TimestampTz now = GetCurrentTimestamp(), expires = expiry(PG_GETARG_DATUM(signal_expires), now);
    const catalog::Requested *parent = parent_of(fcinfo);
    release::Wish wish = wish_arguments(fcinfo, parent);
    release::Ask ask = release::ask_of(*parent, nullptr);
    ask.asker = catalog::current_asker();
    ask.wish = &wish;
    epsilon_argument(fcinfo, signal_epsilon, &ask);
    Priced priced = look_at(&ask);
    const Visit visit = begin_request(*priced.settings, ask.asker.role);
    store_signal(visit, wish, ask, priced, purpose, now, expires);
    return end_request(visit, *priced.settings);
}

// ---- the owner's look ----------------------------------------------------------------------------------------------

// Who may not see rows hears the same as of a request that is not there, unless it is his.
static const catalog::Requested *signal_to_inspect(int64 id, const catalog::Requested **parent) {
    catalog::Access access;
    const catalog::Requested *request = seen_request(id, &access);
    catalog::Reading reading = catalog::Reading::open();
    *parent = request->is_signal() ? catalog::find_request(reading, request->parent, true) : nullptr;
    reading.close();
    if (!access.owner)
        refuse_right(psprintf("must be owner of the table that request " INT64_FORMAT " is about", id),
                     "Exact numbers are for the owner alone; its requester is given noisy ones.");
    if (*parent == nullptr)
        refuse_kind(*request, "no signal", "dp_answer() has the answer to a request, once it is drawn.");
    return request;
}

DP_CALL(dp_inspect_signal) {
    require(fcinfo, 0, "request");
    const catalog::Requested *parent;
    const catalog::Requested *request = signal_to_inspect(PG_GETARG_INT64(0), &parent);
    catalog::record_look(*request); // before there is something to see
    release::Wish wish = release::wish_of(*request, parent);
    release::Ask ask = release::ask_of(*parent, nullptr);
    border::TimeZoneScope zone = border::TimeZoneScope::enter(ask.time_zone);
    const rows::Question *question = controllers_question(ask, privacy::Mechanism::laplace);
    release::Looked looked = release::look(release::bind(wish, question));
    zone.leave();
    return record(fcinfo, looked.dp, looked.exact);
}

} // namespace dp::sql
