#include "catalog/requests.hpp"

#include "border/versions.hpp"
#include "catalog/described_row.hpp"
#include "catalog/row_access_paths.hpp"

namespace dp::catalog {

// ---- reading -------------------------------------------------------------------------------------------------------

template <class V> static void fields(V &visit, Requested &request) {
    std::optional<int64> parent;
    visit("id", request.id);
    visit("table_id", request.table);
    visit("requester", request.asker.role);
    visit("session_role", request.asker.session_role);
    visit("view", request.view);
    visit("kind", request.kind);
    visit("decider", request.decider);
    visit("state", request.state);
    visit("basis", request.basis);
    visit("query", request.query);
    visit("shown", request.shown);
    visit("parameters", request.parameters);
    visit("expires_at", request.expires);
    visit("epsilon_wanted", request.wanted);
    visit("looked_at", request.looked_at);
    visit("names", request.names);
    visit("types", request.types);
    visit("parent", parent);
    visit("task", request.task);
    request.parent = parent.value_or(0);
}

static void read_answer(const RowReader &visit, Requested *request) {
    Datum terms;
    visit("rows", request->rows);
    visit("coordinates", request->coordinates);
    visit("error95", request->error95);
    visit("terms", terms);
    if (terms == Datum{0})
        return;
    JsonbValue value;
    const JsonbValue *law = getKeyJsonValueFromContainer(&DatumGetJsonbP(terms)->root, "law", 3, &value);
    if (law != nullptr && law->type == jbvBinary)
        request->law = JsonbToCString(nullptr, law->val.binary.data, law->val.binary.len);
}

static Requested *read_request(const Row &row, bool with_rows) {
    auto *request = static_cast<Requested *>(palloc0(sizeof(Requested)));
    RowReader visit{row};
    fields(visit, *request);
    request->open = TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(row.tuple->t_data));
    if (with_rows)
        read_answer(visit, request);
    return request;
}

// A join takes requests with it but those that somebody is changing at that moment.
static pg_uuid_t domain_now(const Reading &reading, pg_uuid_t id) {
    Lookup domains = Lookup::open("privacy_domain", reading);
    const Row *row = only(domains.rows(UUIDPGetDatum(&id)));
    std::optional<pg_uuid_t> joined;
    if (row != nullptr)
        RowReader{*row}("joined_into", joined);
    id = joined.value_or(id);
    domains.close();
    return id;
}

const Requested *find_request(const Reading &reading, int64 id, bool with_rows) {
    Lookup requests = Lookup::open("request", reading);
    const Row *row = only(requests.rows(Int64GetDatum(id)));
    Requested *request = row == nullptr ? nullptr : read_request(*row, with_rows);
    requests.close();
    if (request != nullptr)
        request->table = domain_now(reading, request->table);
    return request;
}

// ---- who may -------------------------------------------------------------------------------------------------------

static List *reviewers_of(const Reading &reading, Oid relation) {
    Lookup reviewers = Lookup::open("reviewer", reading);
    List *roles = NIL;
    for (auto *row : border::each<const Row>(reviewers.rows(ObjectIdGetDatum(relation))))
        roles = lappend_oid(roles, DatumGetObjectId(row->value("reviewer")));
    reviewers.close();
    return roles;
}

bool has_reviewers(const Reading &reading, Oid relation) {
    return reviewers_of(reading, relation) != NIL;
}

// A superuser has the privileges of every role: only real membership counts, as for policies.
bool is_reviewer(const Reading &reading, Oid relation, Oid role) {
    for (Oid reviewer : border::each_oid(reviewers_of(reading, relation))) {
        if (SearchSysCacheExists1(AUTHOID, ObjectIdGetDatum(reviewer)) && is_member_of_role_nosuper(role, reviewer) &&
            has_privs_of_role(role, reviewer))
            return true;
    }
    return false;
}

Access access_to(const Reading &reading, const Requested &request, Oid role) {
    Access access = {};
    access.requester = request.asker.role == role;
    access.settings = read_settings(reading, request.view);
    // The number of a view that was dropped may be another's now.
    if (access.settings != nullptr && memcmp(&access.settings->id, &request.table, sizeof(pg_uuid_t)) != 0)
        access.settings = nullptr;
    if (access.settings == nullptr)
        return access;
    access.owner = border::owns_relation(access.settings->relation, role);
    access.reviewer = strcmp(request.decider, "review") == 0 && is_reviewer(reading, access.settings->relation, role);
    return access;
}

void refuse_unknown(int64 id) {
    refuse_right(psprintf("there is no request " INT64_FORMAT " of role \"%s\", nor one on which it decides", id,
                          GetUserNameFromId(GetUserId(), false)),
                 "dp_requests(NULL) lists those that you have made, and those on which you decide.");
}

void check_not_own(const Requested &request, const Asker &approver) {
    const Oid askers[2] = {request.asker.role, request.asker.session_role};
    for (Oid asker : askers) {
        bool same = approver.session_role == asker || approver.role == request.asker.role;
        bool member = !superuser_arg(approver.session_role) && is_member_of_role_nosuper(approver.session_role, asker);
        if (same || member)
            refuse_right(psprintf("request " INT64_FORMAT " is one that you could have made yourself", request.id),
                         "Somebody else has to decide, in a connection of his own login.",
                         "Neither who asks nor who may act for him decides, in whichever role.");
    }
}

const char *shown_state(const Requested &request) {
    bool expired = strcmp(request.state, "pending") == 0 && request.expires <= GetCurrentTimestamp();
    return expired ? "expired" : request.state;
}

void check_pending(const Requested &request) {
    if (request.open)
        refuse_state(psprintf("request " INT64_FORMAT
                              " was made or changed in a transaction that has not been committed",
                              request.id),
                     "Commit it first.");
    if (strcmp(shown_state(request), "pending") != 0)
        refuse_state(psprintf("request " INT64_FORMAT " is %s", request.id, shown_state(request)),
                     "Only what is pending can be decided on. It may be asked for again with dp_request().");
}

void check_blind(const Settings &settings, const Asker &reviewer) {
    List *roles = list_union_oid(roles_of(reviewer.role), roles_of(reviewer.session_role));
    const char *way = way_to_rows(settings.relation, roles);
    if (way == nullptr)
        return;
    refuse_right(psprintf("who may see rows of %s does not decide as a reviewer", settings.relation_name),
                 "The owner of the table takes that away (dp_audit() has remedies), or decides himself.",
                 psprintf("%s.", way));
}

void record_look(const Requested &request) {
    const int64 answer = request.is_signal() ? request.parent : request.id;
    Visit visit = Visit::write();
    (void)run(visit,
              "UPDATE dp_rdr.request SET looked_at = clock_timestamp() WHERE table_id IN "
              "(SELECT d.id FROM dp_rdr.privacy_domain d WHERE $3 IN (d.id, d.joined_into)) AND looked_at IS NULL AND ("
              "state = 'pending' AND (id = $1 OR id = $2 OR parent = $2) OR state = 'answered' AND id = $2)",
              request.id, answer, request.table);
    visit.leave();
}

const Requested *seen_of(const Requested &request, const Requested *parent) {
    if (request.looked_at)
        return &request;
    return parent != nullptr && parent->looked_at ? parent : nullptr;
}

// ---- writing -------------------------------------------------------------------------------------------------------

bool take_request(const border::Spi &spi, const Claim &claim) {
    static border::Statement statement(
        "SELECT 1 FROM dp_rdr.request r WHERE r.id = $1 AND r.state = 'pending' AND r.expires_at > clock_timestamp() "
        "AND (r.looked_at IS NULL OR NOT $2) FOR UPDATE SKIP LOCKED");
    if (claim.taken)
        return true;
    return run(spi, statement, claim.request, claim.unseen) == 1;
}

// Returns the number of a row of the ledger, unless none was written.
static std::optional<int64> row_or_none(int64 row) {
    return row == 0 ? std::nullopt : std::optional<int64>(row);
}

void mark_charged(const border::Spi &spi, const Claim &claim, privacy::Epsilon epsilon, int64 ledger_row) {
    static border::Statement statement(
        "UPDATE dp_rdr.request SET state = 'charged', ledger_id = $2, "
        "terms = CASE WHEN state = 'pending' THEN $3 ELSE terms END || jsonb_build_object('epsilon', $4 + "
        "CASE WHEN state = 'pending' THEN 0 ELSE (terms ->> 'epsilon')::numeric END), "
        "basis = $5, approver = $6, decided_at = clock_timestamp(), error95 = NULL WHERE id = $1");
    if (run(spi, statement, claim.request, row_or_none(ledger_row), Json{claim.terms}, epsilon, claim.basis,
            claim.approver) != 1)
        elog(ERROR, "a request was charged and is not there");
}

bool settle_request(const border::Spi &spi, const Settling &settling) {
    static border::Statement statement(
        "UPDATE dp_rdr.request SET state = $3, rows = $4, coordinates = $5, error95 = $6, "
        "terms = CASE WHEN $7 IS NULL THEN terms ELSE terms || jsonb_build_object('law', $7) END "
        "WHERE id = $1 AND state = 'charged' AND ledger_id IS NOT DISTINCT FROM $2");
    return run(spi, statement, settling.request, row_or_none(settling.ledger_row), settling.state,
               Typed::array(TEXTARRAYOID, settling.rows), Typed::array(NUMERICARRAYOID, settling.coordinates),
               Typed::array(FLOAT8ARRAYOID, settling.error95), Json{settling.law}) == 1;
}

} // namespace dp::catalog
