// Requests: looking at them, fetching their answers, deciding on them, and who reviews (doc/analyst.md, doc/controller.md).
#include "border/listed.hpp"
#include "catalog/row_access_paths.hpp"
#include "keeper/client.hpp"
#include "release/approve.hpp"
#include "release/asked.hpp"
#include "sql/analyst.hpp"
#include "sql/call_arguments.hpp"
#include "sql/controller.hpp"
#include "sql/decide_requests.hpp"
#include "sql/result_rows.hpp"
#include "sql/role_type.hpp"

using dp::catalog::run;
using dp::catalog::Visit;

namespace dp::sql {

// ---- looking -------------------------------------------------------------------------------------------------------

// Tells the price of a decision in sight of the rows to their owner alone.
static const char *const requests_sql = R"sql(
SELECT r.id, r.at, r.requester::text, r.view::text, r.kind, r.shown, r.purpose, s.state,
       CASE WHEN r.basis IS DISTINCT FROM 'rows' OR a.owner THEN (r.terms ->> 'epsilon')::numeric END,
       CASE WHEN r.basis IS DISTINCT FROM 'rows' OR a.owner THEN r.error95 END,
       r.approver, r.expires_at, r.basis, r.reason,
       CASE WHEN (r.parameters ->> 'zoned')::boolean THEN r.parameters ->> 'time_zone' END
FROM dp_rdr.request r
LEFT JOIN LATERAL ( -- the table behind the view; of a view that is gone any of its domain, which have one owner
  SELECT t.relation, c.oid, c.relowner FROM dp_rdr.protected_table t
  JOIN pg_class c ON c.oid = t.relation LEFT JOIN dp_rdr.restricted_view v ON v.view = r.view AND v.relation = t.relation
  WHERE t.domain = coalesce((SELECT d.joined_into FROM dp_rdr.privacy_domain d WHERE d.id = r.table_id), r.table_id) ORDER BY v.view IS NULL, t.relation::oid LIMIT 1) t ON true,
LATERAL (SELECT CASE WHEN r.state = 'pending' AND r.expires_at <= clock_timestamp() THEN 'expired' ELSE r.state END) s (state),
LATERAL (SELECT t.oid IS NOT NULL AND pg_has_role($1, t.relowner, 'USAGE')) a (owner)
WHERE (r.requester::oid = $1 OR a.owner OR r.decider = 'review' AND EXISTS (
         SELECT FROM dp_rdr.reviewer v JOIN pg_roles p ON p.oid = v.reviewer
         WHERE v.relation = t.relation AND pg_has_role($1, p.oid, 'USAGE')))
  AND ($2 IS NULL OR s.state = $2)
ORDER BY r.id)sql";

static void check_state_name(const char *state) {
    if (state == nullptr)
        return;
    for (const char *known : {"pending", "charged", "answered", "held", "rejected", "withdrawn", "denied", "expired"})
        if (strcmp(state, known) == 0)
            return;
    refuse_value(psprintf("unknown state \"%s\"", state),
                 "Use 'pending', 'charged', 'answered', 'held', 'rejected', 'withdrawn', 'denied' or 'expired'; "
                 "NULL for all.");
}

DP_CALL(dp_requests) {
    const char *state = text_argument(fcinfo, 0);
    check_state_name(state);
    const ResultRows rows(fcinfo);
    static border::Statement statement(requests_sql);
    const Oid asker = GetUserId(); // in the visit it is the extension's owner
    Visit visit = Visit::read();
    rows.put_as_they_are(run(visit, statement, asker, state));
    visit.leave();
    return Datum(0);
}

// ---- fetching ------------------------------------------------------------------------------------------------------

// With its answer: the requester's once it is released, its table's owner's once it is drawn.
const catalog::Requested *answered_request(int64 id) {
    catalog::Reading reading = catalog::Reading::open();
    const catalog::Requested *request = catalog::find_request(reading, id, true);
    if (request == nullptr)
        catalog::refuse_unknown(id);
    const bool own = request->asker.role == GetUserId(), held = strcmp(request->state, "held") == 0;
    const bool owner = (!own || held) && catalog::access_to(reading, *request, GetUserId()).owner;
    if (!own && !owner)
        catalog::refuse_unknown(id);
    reading.close();
    bool there = strcmp(request->state, "answered") == 0 || (owner && held);
    if (!there || request->rows == nullptr)
        refuse_state(
            psprintf("there is nothing to fetch: request " INT64_FORMAT " is %s", id, catalog::shown_state(*request)),
            strcmp(request->state, "charged") == 0
                ? "It is being answered; if that takes longer than its query it has failed, and its charge stays."
                : "dp_requests(NULL) shows the state of your requests.");
    return request;
}

void check_fetched_columns(const catalog::Requested &request, TupleDesc expected, const char *first) {
    border::SettingsScope settings = border::SettingsScope::enter();
    int before = first == nullptr ? 0 : 1;
    int n, nnames;
    bool *nulls;
    Datum *types = release::texts_in(request.types, &n, &nulls),
          *names = release::texts_in(request.names, &nnames, &nulls);
    bool same = n + before == expected->natts && (before == 0 || TupleDescAttr(expected, 0)->atttypid == INT4OID);
    for (int i = 0; same && i < n; i++)
        same = release::type_kept(types[i]) == TupleDescAttr(expected, before + i)->atttypid;
    settings.leave();
    if (same)
        return;
    const char *columns = border::listed(-before, n, [&](int i) {
        return i < 0 ? psprintf("%s integer", first)
                     : psprintf("%s %s", quote_identifier(TextDatumGetCString(names[i])),
                                format_type_be(release::type_kept(types[i])));
    });
    refuse_with(ERRCODE_DATATYPE_MISMATCH, "the declared columns are not those of the answer",
                psprintf("Write AS (%s).", columns));
}

DP_CALL(dp_fetch) {
    check_in_from(fcinfo, "dp_fetch");
    const catalog::Requested *request = answered_request(PG_GETARG_INT64(0));
    InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
    auto *result = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
    check_fetched_columns(*request, result->setDesc, nullptr);
    release::each_fetched_row(*request, result->setDesc, [&](Datum *values, bool *nulls) {
        tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
    });
    return Datum(0);
}

DP_CALL(dp_answer) {
    const catalog::Requested *request = answered_request(PG_GETARG_INT64(0));
    TupleDesc desc = release::fetched_columns(*request);
    JsonColumns columns = json_columns(desc);
    StringInfo json = makeStringInfo();
    release::each_fetched_row(*request, desc, [&](Datum *values, bool *nulls) {
        appendStringInfoString(json, json->len == 0 ? "[" : ", ");
        appendStringInfoString(json, row_json(columns, values, nulls));
    });
    appendStringInfoString(json, json->len == 0 ? "[]" : "]");
    return DirectFunctionCall1(jsonb_in, CStringGetDatum(json->data));
}

// ---- deciding ------------------------------------------------------------------------------------------------------

namespace {
enum ApproveArgument {
    approve_request,
    approve_tau,
    approve_tau_var,
    approve_epsilon,
    approve_selection,
    approve_basis,
    approve_hold
};
} // namespace

static void read_selection(FunctionCallInfo fcinfo, release::Approval *approval) {
    const char *selection = text_argument(fcinfo, approve_selection);
    if (selection == nullptr)
        return;
    bool tau = strcmp(selection, "within_domain") == 0 || strcmp(selection, "within_data") == 0;
    if (!tau && strcmp(selection, "released") != 0)
        refuse_value(psprintf("unknown selection \"%s\"", selection),
                     "Use 'within_domain' or 'within_data' with tau, 'released' with tau_var.");
    if (tau ? !approval->has_tau : !approval->has_tau_var)
        refuse_value(psprintf("selection \"%s\" needs %s", selection, tau ? "tau" : "tau_var"),
                     "Pass it as well, or leave the selection out.");
    approval->within_data = strcmp(selection, "within_data") == 0;
}

static void read_basis(FunctionCallInfo fcinfo, release::Approval *approval) {
    const char *basis = text_argument(fcinfo, approve_basis);
    if (basis == nullptr)
        return;
    approval->is_public = strcmp(basis, "public") == 0;
    approval->in_sight = strcmp(basis, "rows") == 0;
    if (!approval->is_public && !approval->in_sight)
        refuse_value(psprintf("unknown basis \"%s\"", basis),
                     "Use 'public' if nobody who decides has looked at rows for it, else 'rows'.");
}

static release::Approval approval_of(FunctionCallInfo fcinfo) {
    release::Approval approval = {};
    approval.request = PG_GETARG_INT64(approve_request);
    approval.has_tau = !PG_ARGISNULL(approve_tau);
    approval.has_tau_var = !PG_ARGISNULL(approve_tau_var);
    epsilon_argument(fcinfo, approve_epsilon, &approval);
    if (approval.has_tau + approval.has_tau_var + approval.has_epsilon > 1)
        refuse_value("at most one of tau, tau_var and epsilon can be given",
                     "Without any the terms are those of the requester's policy.");
    if (approval.has_tau)
        approval.tau = checked_tau(PG_GETARG_FLOAT8(approve_tau));
    if (approval.has_tau_var)
        approval.tau_var = checked_tau_var(PG_GETARG_FLOAT8(approve_tau_var));
    read_selection(fcinfo, &approval);
    read_basis(fcinfo, &approval);
    approval.hold = PG_GETARG_BOOL(approve_hold);
    return approval;
}

const catalog::Requested *seen_request(int64 id, catalog::Access *access) {
    catalog::Reading reading = catalog::Reading::open();
    const catalog::Requested *request = catalog::find_request(reading, id, false);
    if (request == nullptr)
        catalog::refuse_unknown(id);
    *access = catalog::access_to(reading, *request, GetUserId());
    reading.close();
    if (!access->requester && !access->owner && !access->reviewer)
        catalog::refuse_unknown(id);
    return request;
}

DP_CALL(dp_approve) {
    require(fcinfo, {approve_request, approve_hold});
    catalog::check_can_ask();
    release::Approval approval = approval_of(fcinfo);
    // A keeper does not see what the caller's own open transaction has made or changed. Whether he may decide is looked at there.
    catalog::Access access;
    const catalog::Requested *request = seen_request(approval.request, &access);
    if (request->open)
        catalog::check_pending(*request);
    release::Settled settled = keeper::approve(approval, catalog::current_asker());
    return record(fcinfo, settled.state, settled.epsilon, settled.sighted ? "conditional" : "public");
}

[[noreturn]] static void refuse_state_of(const catalog::Requested &request, const char *hint) {
    refuse_state(psprintf("request " INT64_FORMAT " is %s", request.id, catalog::shown_state(request)), hint);
}

// In the caller's transaction. A keeper that charges it meanwhile comes first, or finds it locked and leaves it.
static void move_request(const catalog::Requested &request, const char *from, const char *to, const char *basis,
                         const char *reason) {
    const char *approver = GetUserNameFromId(GetUserId(), false);
    Visit visit = Visit::write();
    uint64 rows = run(visit,
                      "UPDATE dp_rdr.request SET state = $3, basis = coalesce($4, basis), approver = $5, "
                      "reason = coalesce($6, reason), decided_at = clock_timestamp() "
                      "WHERE id = $1 AND state = $2 AND (state <> 'pending' OR expires_at > clock_timestamp())",
                      request.id, from, to, basis, approver, reason);
    visit.leave();
    if (rows == 0)
        refuse_state(psprintf("request " INT64_FORMAT " is not %s any more", request.id, from),
                     "dp_requests(NULL) shows its state.");
}

DP_CALL(dp_release) {
    require(fcinfo, 0, "request");
    catalog::Access access;
    const catalog::Requested *request = seen_request(PG_GETARG_INT64(0), &access);
    if (!access.owner)
        refuse_right(psprintf("must be owner of the table that request " INT64_FORMAT " is about", request->id),
                     "Whoever holds an answer back hands it out.");
    catalog::check_not_own(*request, catalog::current_asker());
    if (strcmp(request->state, "held") != 0)
        refuse_state_of(*request, "Only an answer that is held back can be released.");
    move_request(*request, "held", "answered", nullptr, nullptr);
    PG_RETURN_VOID();
}

static void withdraw(const catalog::Requested &request, const char *reason) {
    if (strcmp(catalog::shown_state(request), "pending") != 0)
        refuse_state_of(request, "Only what is pending can be withdrawn.");
    move_request(request, "pending", "withdrawn", nullptr, reason);
}

static void reject_held(const catalog::Requested &request, const catalog::Access &access, const char *reason) {
    if (!access.owner)
        refuse_state_of(request, "Only the owner of the table decides on it now.");
    move_request(request, "held", "rejected", nullptr, reason);
}

// Behind a look of somebody else's that is not committed yet: it is waited for. Signals that wait are marked with their answer.
static bool was_seen_meanwhile(const catalog::Requested &request) {
    Visit visit = Visit::write();
    const bool seen =
        run(visit, "SELECT r.looked_at IS NOT NULL FROM dp_rdr.request r WHERE r.id = $1 FOR UPDATE", request.id) > 0 &&
        catalog::value_at<bool>(0, 1);
    visit.leave();
    return seen;
}

// A decision on public facts, and the owner's: rows were shown for none of what it is about.
static void check_unseen(const catalog::Requested &request) {
    catalog::Reading reading = catalog::Reading::open();
    const catalog::Requested *parent =
        request.is_signal() ? catalog::find_request(reading, request.parent, false) : nullptr;
    reading.close();
    const catalog::Requested *seen = catalog::seen_of(request, parent);
    if (seen == nullptr && !was_seen_meanwhile(request))
        return;
    refuse_state(
        psprintf("somebody has looked at rows for request " INT64_FORMAT, seen == nullptr ? request.id : seen->id),
        "Leave it to the reviewers, or let it expire.", "A decision that may depend on them is none on public facts.");
}

// A rejection is a decision as well: of a request for reviewers it is one on public facts, whoever makes it.
static void reject_pending(const catalog::Requested &request, const catalog::Access &access, const char *reason) {
    if (strcmp(catalog::shown_state(request), "pending") != 0)
        refuse_state_of(request, "Only what is pending, or held back, can be rejected.");
    bool review = strcmp(request.decider, "review") == 0;
    if (!access.owner)
        catalog::check_blind(*access.settings, catalog::current_asker());
    else if (review)
        check_unseen(request);
    move_request(request, "pending", "rejected", review ? "public" : "rows", reason);
}

DP_CALL(dp_reject) {
    require(fcinfo, 0, "request");
    const char *reason = text_argument(fcinfo, 1);
    if (reason != nullptr)
        check_length(reason, "a reason");
    catalog::Access access;
    const catalog::Requested *request = seen_request(PG_GETARG_INT64(0), &access);
    bool held = strcmp(request->state, "held") == 0;
    if (access.requester && !(held && access.owner))
        withdraw(*request, reason);
    else if (held)
        reject_held(*request, access, reason);
    else
        reject_pending(*request, access, reason);
    PG_RETURN_VOID();
}

// ---- reviewers -----------------------------------------------------------------------------------------------------

static void warn_of_sight(Oid reviewer, Oid relation) {
    const char *way = catalog::way_to_rows(relation, catalog::roles_of(reviewer));
    if (way != nullptr)
        ereport(WARNING,
                (errmsg("role %s cannot decide as a reviewer of %s yet",
                        quote_identifier(GetUserNameFromId(reviewer, false)), catalog::qualified_name(relation)),
                 errdetail("%s.", way), errhint("dp_audit() lists what to revoke.")));
}

DP_CALL(dp_set_review) {
    require(fcinfo, {0, 1});
    Oid relation = protected_relation(PG_GETARG_OID(0));
    ArrayType *reviewers = PG_GETARG_ARRAYTYPE_P(1);
    if (array_contains_nulls(reviewers))
        refuse_with(ERRCODE_NULL_VALUE_NOT_ALLOWED, "reviewers must not contain NULL");
    Visit visit = Visit::write();
    lock_declarations(visit, relation);
    forget_dropped_roles(visit);
    run(visit, "DELETE FROM dp_rdr.reviewer r WHERE r.relation::oid = $1", relation);
    (void)run(visit,
              "INSERT INTO dp_rdr.reviewer (relation, reviewer) SELECT $1::regclass, unnest($2) ON CONFLICT DO NOTHING",
              relation, catalog::Typed::array(REGROLEARRAYOID, reviewers));
    visit.leave();
    const auto *roles = reinterpret_cast<const Oid *>(ARR_DATA_PTR(reviewers));
    for (int i = 0; i < ArrayGetNItems(ARR_NDIM(reviewers), ARR_DIMS(reviewers)); i++) {
        (void)GetUserNameFromId(roles[i], false);
        warn_of_sight(roles[i], relation);
        warn_of_schema(roles[i], relation, "protected table");
    }
    PG_RETURN_VOID();
}

} // namespace dp::sql
