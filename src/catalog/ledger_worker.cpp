// The worker's side of a charge: lock the odometer, decide, write, commit; only then say so.
//
// It has its own process and transaction, so nothing that the caller does or fails to do later takes a charge back. It
// catches no error: one that happens here ends the process, the status stays `pending`, and the caller releases nothing.
#include "catalog/ledger.hpp"

#include "catalog/decimals.hpp"
#include "border/scope.hpp"
#include "border/spi.hpp"
#include "catalog/ledger_request.hpp"

namespace dp::catalog {

namespace {

using border::Spi;

struct Setting {
    const char *name;
    const char *value;
};

// The worker starts with what the server, ALTER DATABASE and ALTER ROLE say. None of it may weaken a charge.
const Setting forced_settings[] = {
    {"synchronous_commit", "on"},                        // a charge that a crash can lose is none
    {"default_transaction_read_only", "off"},            //
    {"default_transaction_deferrable", "off"},           //
    {"default_transaction_isolation", "read committed"}, // decisions read what is committed once the lock is held
    {"search_path", "pg_catalog, pg_temp"},              //
    {"session_replication_role", "origin"},              // triggers that copy the ledger elsewhere fire
    {"row_security", "off"},                             // an error rather than a ledger seen in part
    // The caller waits on a latch: no deadlock detector sees that the worker waits for a lock of the caller's.
    {"lock_timeout", "2s"},
    {"statement_timeout", "0"},                   //
    {"idle_in_transaction_session_timeout", "0"}, //
    {"idle_session_timeout", "0"},                //
#if PG_VERSION_NUM >= 170000
    {"transaction_timeout", "0"}, //
#endif
    {"TimeZone", "UTC"},                      // texts, should one depend on them
    {"DateStyle", "ISO, YMD"},                //
    {"IntervalStyle", "postgres"},            //
    {"extra_float_digits", "1"},              //
    {"bytea_output", "hex"},                  //
    {"quote_all_identifiers", "off"},         // names in the ledger
    {"standard_conforming_strings", "on"},    // the same text must mean the same statement
    {"transform_null_equals", "off"},         //
    {"array_nulls", "on"},                    //
    {"client_min_messages", "error"},         //
    {"jit", "off"},                           // five small statements
    {"max_parallel_workers_per_gather", "0"}, // worker slots are for charges
};

void force_settings() {
    for (const Setting &setting : forced_settings)
        set_config_option(setting.name, setting.value, PGC_SUSET, PGC_S_SESSION, GUC_ACTION_SET, true, 0, false);
}

// The caller's mail, mapped until the process ends.
struct Letter {
    shm_toc *toc;
    Request *request;
    const char *text(Key key) const { return static_cast<const char *>(shm_toc_lookup(toc, key, true)); }
};

// False when the caller has gone meanwhile: nothing to do, nobody to tell.
bool open_letter(dsm_handle handle, const WorkerArguments &arguments, Letter *letter) {
    dsm_segment *segment = dsm_attach(handle);
    if (segment == nullptr)
        return false;
    letter->toc = shm_toc_attach(arguments.nonce, dsm_segment_address(segment));
    if (letter->toc == nullptr)
        return false;
    letter->request = static_cast<Request *>(shm_toc_lookup(letter->toc, key_request, false));
    return true;
}

// Parameters of one statement.
struct Parameters {
    static constexpr int capacity = 26;
    Oid types[capacity];
    Datum values[capacity];
    char nulls[capacity];
    int n = 0;

    void add(Oid type, Datum value, bool isnull = false) {
        Assert(n < capacity);
        types[n] = type;
        values[n] = value;
        nulls[n++] = isnull ? 'n' : ' ';
    }
    void add_text(const char *text) {
        add(TEXTOID, text == nullptr ? Datum{0} : CStringGetTextDatum(text), text == nullptr);
    }
    void add_oid(Oid oid) { add(OIDOID, ObjectIdGetDatum(oid)); }
    void add_uuid(const char *text) { add(UUIDOID, DirectFunctionCall1(uuid_in, CStringGetDatum(text))); }
    template <int Places> void add_numeric(privacy::Decimal<Places> value) { add(NUMERICOID, to_numeric(value)); }
};

uint64 run(const Spi &spi, const char *sql, Parameters &parameters) {
    return spi.run(sql, false, parameters.n, parameters.types, parameters.values, parameters.nulls);
}

// Column of the only row of the last result; nothing for NULL.
privacy::Epsilon epsilon_at(int column, bool *isnull) {
    Datum value = Spi::value(0, column, isnull);
    return *isnull ? privacy::Epsilon() : to_epsilon(value, "a total of epsilon");
}

privacy::Delta delta_at(int column, bool *isnull) {
    Datum value = Spi::value(0, column, isnull);
    return *isnull ? privacy::Delta() : to_delta(value, "a total of delta");
}

privacy::Totals totals_at(int first_column) {
    bool isnull;
    privacy::Totals totals;
    totals.public_epsilon = epsilon_at(first_column, &isnull);
    totals.public_delta = delta_at(first_column + 1, &isnull);
    totals.conditional_epsilon = epsilon_at(first_column + 2, &isnull);
    totals.conditional_delta = delta_at(first_column + 3, &isnull);
    return totals;
}

// ---- what the decision reads ----

struct Odometer {
    privacy::Totals totals;
    Datum head;
};

// From here on this process is the only one that charges this table.
Odometer lock_odometer(const Spi &spi, const Letter &letter) {
    Parameters parameters;
    parameters.add_uuid(letter.text(key_id));
    uint64 rows = run(spi,
                      "SELECT o.public_epsilon, o.public_delta, o.conditional_epsilon, o.conditional_delta, o.head "
                      "FROM dp_rdr.odometer o WHERE o.id = $1 FOR UPDATE",
                      parameters);
    if (rows != 1)
        ereport(ERROR,
                (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                 errmsg("%s has no odometer", letter.text(key_relation_name)),
                 errhint("Its totals may have been left out of a restore; dp_protect() on the table rebuilds them "
                         "from the ledger.")));
    bool isnull;
    return Odometer{totals_at(1), Spi::value(0, 5, &isnull)};
}

struct Terms {
    privacy::BoundSettings bound;
    privacy::Totals role; // sums of the policy's grantee
};

enum TermsColumn { col_fingerprint = 1, col_permitted, col_bound, col_epsilon_total, col_delta_total, col_role };

void read_bound(const Spi &spi, privacy::BoundSettings *bound) {
    const char *name = spi.text(0, col_bound);
    bool isnull;
    privacy::Epsilon epsilon_total = epsilon_at(col_epsilon_total, &isnull);
    if (!isnull)
        bound->epsilon_total = epsilon_total;
    bound->delta_total = delta_at(col_delta_total, &isnull);
    bool known = border::core([&] {
        auto parsed = privacy::bound_from_name(name);
        bound->bound = parsed.value_or(privacy::Bound::filter);
        return parsed.has_value();
    });
    if (!known)
        elog(ERROR, "unknown bound \"%s\"", name);
}

Oid grantee_of(const Letter &letter) {
    const char *name = letter.text(key_grantee);
    return name == nullptr ? InvalidOid : get_role_oid(name, true);
}

// One statement, one snapshot, taken while the lock is held: what it returns is what the charge rests on. False when it is
// not what the caller has seen, be it changed meanwhile or not committed yet. The grantee is asked for by name among the
// committed policies, or a role renamed in an open transaction would start with a share of its own.
bool read_terms(const Spi &spi, const Letter &letter, Terms *terms) {
    Parameters parameters;
    parameters.add_oid(letter.request->relation);
    parameters.add_oid(letter.request->view);
    parameters.add_text(letter.text(key_grantee));
    parameters.add_uuid(letter.text(key_id));
    parameters.add_oid(grantee_of(letter));
    uint64 rows = run(spi,
                      psprintf("SELECT (%s), $3 IS NULL OR EXISTS (SELECT FROM dp_rdr.policy p "
                               "WHERE p.view::oid = $2 AND p.grantee::oid = $5), "
                               "t.bound, t.epsilon_total, t.delta_total, "
                               "s.public_epsilon, s.public_delta, s.conditional_epsilon, s.conditional_delta "
                               "FROM dp_rdr.protected_table t "
                               "LEFT JOIN dp_rdr.odometer_share s ON s.id = t.id AND s.grantee = $3 "
                               "WHERE t.relation::oid = $1 AND t.id = $4",
                               fingerprint_sql),
                      parameters);
    if (rows != 1 || strcmp(spi.text(0, col_fingerprint), letter.text(key_fingerprint)) != 0)
        return false;
    bool isnull;
    if (!DatumGetBool(Spi::value(0, col_permitted, &isnull)))
        return false;
    read_bound(spi, &terms->bound);
    terms->role = totals_at(col_role);
    return true;
}

// ---- the decision ----

// What one charge comes to.
struct Price {
    privacy::Epsilon epsilon;
    privacy::Epsilon selection; // what of it paid for a selection
    privacy::Epsilon worst;     // the most that the round could have come to
    privacy::Rho rho;
};

std::vector<privacy::Epsilon> candidates_of(const Letter &letter) {
    auto *first = static_cast<const privacy::Epsilon *>(shm_toc_lookup(letter.toc, key_candidates, true));
    return first == nullptr ? std::vector<privacy::Epsilon>()
                            : std::vector<privacy::Epsilon>(first, first + letter.request->candidates);
}

// Core region.
void set_limits(const Letter &letter, privacy::Delta delta, privacy::Limits *limits) {
    const Request &request = *letter.request;
    limits->candidates = candidates_of(letter);
    if (request.has_epsilon_max)
        limits->epsilon_max = request.epsilon_max;
    if (request.has_requested)
        limits->requested = request.requested;
    if (request.has_share)
        limits->share = request.share;
    limits->delta = delta;
}

// What the controller may know, and nobody else: a policy's charge tells its analyst that it was denied, and no more.
void tell_reason(const Letter &letter, const Terms &terms, const privacy::Totals &totals, privacy::Denial denial,
                 privacy::Epsilon asked) {
    if (letter.text(key_grantee) != nullptr)
        return;
    Request &request = *letter.request;
    request.reason = Reason{denial,
                            asked,
                            totals.epsilon(request.account),
                            terms.bound.epsilon_total.value_or(privacy::Epsilon()),
                            totals.delta(request.account),
                            terms.bound.delta_total};
}

bool decide(const Letter &letter, const Terms &terms, const privacy::Totals &totals, privacy::Epsilon *epsilon) {
    return border::core([&] {
        const Request &request = *letter.request;
        privacy::ChargeRequest asked;
        set_limits(letter, request.delta, &asked);
        asked.account = request.account;
        asked.eps_star = request.eps_star;
        asked.slack = request.slack;
        asked.selection = request.selection;
        privacy::Decision decision = privacy::decide(asked, terms.bound, totals, terms.role);
        *epsilon = decision.epsilon;
        tell_reason(letter, terms, totals, decision.denial, decision.epsilon);
        return decision.denial == privacy::Denial::none;
    });
}

// Core region.
privacy::Epsilon worst_case(const Letter &letter, privacy::Epsilon charged) {
    const Request &request = *letter.request;
    privacy::Epsilon worst = charged;
    if (strcmp(letter.text(key_algorithm), "within_domain") == 0)
        return worst;
    if (request.worst.units() > 0)
        return request.worst;
    for (privacy::Epsilon candidate : candidates_of(letter)) {
        if (request.has_epsilon_max && candidate > request.epsilon_max)
            continue;
        if (request.has_requested && candidate > request.requested)
            candidate = request.requested;
        if (candidate > worst)
            worst = candidate;
    }
    return worst;
}

// Core region.
privacy::Rho zcdp_cost(const Letter &letter, privacy::Epsilon charged) {
    const Request &request = *letter.request;
    if (request.measures == 0) {
        if (request.mechanism != privacy::Mechanism::laplace)
            throw privacy::InvalidParameter("a Gaussian charge names no measures");
        return privacy::Rho::from_double(privacy::rho_from_pure_eps(charged.value()), privacy::Rounding::up);
    }
    auto *planned = static_cast<const PlannedMeasure *>(shm_toc_lookup(letter.toc, key_measures, true));
    auto *first = static_cast<const uint64 *>(shm_toc_lookup(letter.toc, key_sensitivities, true));
    std::vector<privacy::Measure> measures;
    for (uint64 i = 0; i < request.measures; i++)
        measures.push_back({planned[i].kind, planned[i].argument, planned[i].filter, {}});
    std::vector<std::uint64_t> sensitivities(first, first + request.measures);
    return privacy::plan_release(request.mechanism, measures, sensitivities, request.thresholded, charged,
                                 request.delta)
        .rho;
}

Price price_of(const Letter &letter, privacy::Epsilon charged) {
    return border::core([&] {
        return Price{charged, privacy::Epsilon(), worst_case(letter, charged), zcdp_cost(letter, charged)};
    });
}

bool cut(const Letter &letter, const Terms &terms, const privacy::Totals &totals) {
    return border::core([&] {
        Request &request = *letter.request;
        privacy::SelectionRequest asked;
        set_limits(letter, request.delta_after, &asked);
        asked.tested = request.tested;
        asked.epsilon_svt = request.selection;
        privacy::SelectionRange range = privacy::cut_candidates(asked, terms.bound, totals, terms.role);
        request.first = range.first;
        request.last = range.last;
        request.epsilon = range.charged;
        tell_reason(letter, terms, totals, range.denial, {});
        return range.denial == privacy::Denial::none;
    });
}

// A selection is pure, whatever noise its release will have.
Price price_of_selection(const Letter &letter) {
    return border::core([&] {
        const Request &request = *letter.request;
        privacy::Epsilon charged = request.epsilon;
        return Price{charged, charged, charged + candidates_of(letter)[request.first],
                     privacy::Rho::from_double(privacy::rho_from_pure_eps(charged.value()), privacy::Rounding::up)};
    });
}

// ---- what is written ----

const char *account_prefix(const Request &request) {
    return request.account == privacy::Account::public_account ? "public" : "conditional";
}

const char *role_name(Oid role) {
    const char *name = GetUserNameFromId(role, true);
    return name != nullptr ? name : psprintf("%u", role);
}

// As it is now, quoted as this process quotes; what the caller called it, should it be gone by now.
const char *name_or(Oid relation, const char *otherwise) {
    const char *name = get_rel_name(relation);
    return name == nullptr ? otherwise
                           : quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)), name);
}

// The ledger is kept for ever. Of a long text it has the beginning, and in `parameters` the length and the hash of all of it.
constexpr int kept_text = 8 * 1024;

const char *beginning_of(const char *text) {
    static const char mark[] = " ... (cut)";
    int kept = pg_mbcliplen(text, static_cast<int>(strlen(text)), kept_text - static_cast<int>(strlen(mark)));
    return psprintf("%s%s", pnstrdup(text, kept), mark);
}

// Content and hash come from the functions that dp_verify_ledger uses. clock_timestamp() is called once: a CTE that is
// MATERIALIZED is never folded into the two places that read it.
const char *const insert_sql = R"sql(
WITH charge AS MATERIALIZED (
  SELECT $1 AS table_id, clock_timestamp() AS at, $2 AS relation, $3 AS relation_oid, $4 AS view, $5 AS view_oid,
         $6 AS grantee, $7 AS role_name, $8 AS role_oid, $9 AS session_role, $10 AS query, $11 AS account, $12 AS kind,
         $13 AS algorithm, $14 AS mechanism, $15 AS epsilon, $16 AS epsilon_svt, $17 AS epsilon_worst,
         $18 AS delta, $19 AS delta_noise, $20 AS delta_groups, $21 AS rho,
         $22::jsonb || CASE WHEN $26 IS NULL THEN '{}' ELSE jsonb_build_object('query_bytes', octet_length($26),
           'query_sha256', encode(sha256(convert_to($26, getdatabaseencoding())), 'hex')) END AS parameters,
         $23 AS guarantee, $25 AS outcome
), sealed AS MATERIALIZED (
  SELECT c.*, 1 AS content_version,
         dp_rdr.ledger_content(ROW(0, c.*, 1, '\x', '\x', '\x')::dp_rdr.ledger_row) AS content,
         $24::bytea AS previous_hash
  FROM charge c
)
INSERT INTO dp_rdr.ledger_row (table_id, at, relation, relation_oid, view, view_oid, grantee, role_name, role_oid,
  session_role, query, account, kind, algorithm, mechanism, epsilon, epsilon_svt, epsilon_worst, delta, delta_noise,
  delta_groups, rho, parameters, guarantee, outcome, content_version, content, previous_hash, hash)
SELECT s.*, dp_rdr.ledger_hash(s.content_version, s.previous_hash, s.content) FROM sealed s
RETURNING hash)sql";

// The new head of the chain.
Datum write_ledger_row(const Spi &spi, const Letter &letter, const Odometer &odometer, const Price &price) {
    const Request &request = *letter.request;
    const bool suspends = request.kind == RequestKind::suspension;
    Parameters row;
    row.add_uuid(letter.text(key_id));
    row.add_text(name_or(request.relation, letter.text(key_relation_name)));
    row.add_oid(request.relation);
    row.add_text(name_or(request.view, letter.text(key_view_name)));
    row.add_oid(request.view);
    row.add_text(letter.text(key_grantee));
    row.add_text(role_name(request.role));
    row.add_oid(request.role);
    row.add_text(role_name(request.session_role));
    const char *query = letter.text(key_query);
    bool cut = query != nullptr && strlen(query) > kept_text;
    row.add_text(cut ? beginning_of(query) : query);
    row.add_text(account_prefix(request));
    row.add_text(letter.text(key_kind));
    row.add_text(letter.text(key_algorithm));
    row.add_text(suspends ? "none" : request.mechanism == privacy::Mechanism::laplace ? "laplace" : "gaussian");
    row.add_numeric(price.epsilon);
    row.add_numeric(price.selection);
    row.add_numeric(price.worst);
    row.add_numeric(request.delta);
    row.add_numeric(request.delta_noise);
    row.add_numeric(request.delta_groups);
    row.add_numeric(price.rho);
    row.add_text(letter.text(key_parameters));
    row.add_text(letter.text(key_guarantee));
    row.add(BYTEAOID, odometer.head);
    row.add_text(suspends ? "suspended" : "charged");
    row.add_text(cut ? query : nullptr);
    if (run(spi, insert_sql, row) != 1)
        elog(ERROR, "the charge wrote no ledger row");
    bool isnull;
    return Spi::value(0, 1, &isnull);
}

void add_to_odometer(const Spi &spi, const Letter &letter, const Price &price, Datum head) {
    const char *account = account_prefix(*letter.request);
    Parameters parameters;
    parameters.add_uuid(letter.text(key_id));
    parameters.add_numeric(price.epsilon);
    parameters.add_numeric(letter.request->delta);
    parameters.add(BYTEAOID, head);
    parameters.add_text(name_or(letter.request->relation, letter.text(key_relation_name)));
    parameters.add_text(letter.text(key_owner));
    // A selection is no release: nobody has been answered yet.
    parameters.add(INT8OID, Int64GetDatum(letter.request->kind == RequestKind::charge ? 1 : 0));
    uint64 rows = run(spi,
                      psprintf("UPDATE dp_rdr.odometer SET %s_epsilon = trim_scale(%s_epsilon + $2), "
                               "%s_delta = trim_scale(%s_delta + $3), %s_releases = %s_releases + $7, "
                               "head = $4, relation_name = $5, owner = $6 WHERE id = $1",
                               account, account, account, account, account, account),
                      parameters);
    if (rows != 1)
        elog(ERROR, "the charge moved no odometer");
}

void add_to_share(const Spi &spi, const Letter &letter, const Price &price) {
    if (letter.text(key_grantee) == nullptr)
        return;
    const char *account = account_prefix(*letter.request);
    Parameters parameters;
    parameters.add_uuid(letter.text(key_id));
    parameters.add_text(letter.text(key_grantee));
    parameters.add_numeric(price.epsilon);
    parameters.add_numeric(letter.request->delta);
    uint64 rows = run(spi,
                      psprintf("INSERT INTO dp_rdr.odometer_share AS s (id, grantee, %s_epsilon, %s_delta) "
                               "VALUES ($1, $2, $3, $4) ON CONFLICT (id, grantee) DO UPDATE "
                               "SET %s_epsilon = trim_scale(s.%s_epsilon + $3), %s_delta = trim_scale(s.%s_delta + $4)",
                               account, account, account, account, account, account),
                      parameters);
    if (rows != 1)
        elog(ERROR, "the charge moved no share");
}

void count_denial(const Spi &spi, const Letter &letter) {
    const char *account = account_prefix(*letter.request);
    Parameters parameters;
    parameters.add_uuid(letter.text(key_id));
    run(spi, psprintf("UPDATE dp_rdr.odometer SET %s_denials = %s_denials + 1 WHERE id = $1", account, account),
        parameters);
}

// ---- the requests ----

void write(const Spi &spi, const Letter &letter, const Odometer &odometer, const Price &price) {
    Datum head = write_ledger_row(spi, letter, odometer, price);
    add_to_odometer(spi, letter, price, head);
    add_to_share(spi, letter, price);
}

Status charge_table(const Spi &spi, const Letter &letter) {
    Odometer odometer = lock_odometer(spi, letter);
    Terms terms;
    if (!read_terms(spi, letter, &terms))
        return Status::changing;
    privacy::Epsilon epsilon;
    if (!decide(letter, terms, odometer.totals, &epsilon)) {
        count_denial(spi, letter);
        return Status::denied;
    }
    write(spi, letter, odometer, price_of(letter, epsilon));
    letter.request->epsilon = epsilon;
    return Status::committed;
}

// Cuts the candidates by what the public account leaves, and charges their selection.
Status charge_selection_of(const Spi &spi, const Letter &letter) {
    Odometer odometer = lock_odometer(spi, letter);
    Terms terms;
    if (!read_terms(spi, letter, &terms))
        return Status::changing;
    if (!cut(letter, terms, odometer.totals)) {
        count_denial(spi, letter);
        return Status::denied;
    }
    if (letter.request->epsilon.units() > 0)
        write(spi, letter, odometer, price_of_selection(letter));
    return Status::committed;
}

// The role that asked and that of its session ask no more on the view. Nothing is charged: what failed was charged before,
// and its row stays. The settings may have changed meanwhile; that is no way around it.
Status suspend_role(const Spi &spi, const Letter &letter) {
    Odometer odometer = lock_odometer(spi, letter);
    Parameters parameters;
    parameters.add_oid(letter.request->view);
    parameters.add_oid(grantee_of(letter));
    parameters.add_text(role_name(letter.request->role));
    parameters.add_text(role_name(letter.request->session_role));
    if (run(spi,
            "INSERT INTO dp_rdr.suspension (view, grantee, role_name, session_role, at) "
            "VALUES ($1::regclass, $2::regrole, $3, $4, clock_timestamp()) ON CONFLICT DO NOTHING",
            parameters) == 1)
        write(spi, letter, odometer, Price{});
    return Status::committed;
}

// A ledger whose totals are gone, after a restore of a part, gets them back from its rows.
const char *const create_sql = R"sql(
INSERT INTO dp_rdr.odometer AS o (id, relation_name, owner, public_epsilon, public_delta, public_releases,
  conditional_epsilon, conditional_delta, conditional_releases, head)
SELECT $1, $2, $3,
  coalesce(trim_scale(sum(l.epsilon) FILTER (WHERE l.account = 'public')), 0),
  coalesce(trim_scale(sum(l.delta) FILTER (WHERE l.account = 'public')), 0),
  count(*) FILTER (WHERE l.account = 'public' AND l.kind NOT IN ('selection', 'suspension')),
  coalesce(trim_scale(sum(l.epsilon) FILTER (WHERE l.account = 'conditional')), 0),
  coalesce(trim_scale(sum(l.delta) FILTER (WHERE l.account = 'conditional')), 0),
  count(*) FILTER (WHERE l.account = 'conditional' AND l.kind NOT IN ('selection', 'suspension')),
  coalesce((SELECT h.hash FROM dp_rdr.ledger_row h WHERE h.table_id = $1 ORDER BY h.id DESC LIMIT 1), '\x')
FROM dp_rdr.ledger_row l WHERE l.table_id = $1
ON CONFLICT (id) DO NOTHING)sql";

const char *const create_shares_sql = R"sql(
INSERT INTO dp_rdr.odometer_share AS s (id, grantee, public_epsilon, public_delta, conditional_epsilon, conditional_delta)
SELECT $1, l.grantee,
  coalesce(trim_scale(sum(l.epsilon) FILTER (WHERE l.account = 'public')), 0),
  coalesce(trim_scale(sum(l.delta) FILTER (WHERE l.account = 'public')), 0),
  coalesce(trim_scale(sum(l.epsilon) FILTER (WHERE l.account = 'conditional')), 0),
  coalesce(trim_scale(sum(l.delta) FILTER (WHERE l.account = 'conditional')), 0)
FROM dp_rdr.ledger_row l WHERE l.table_id = $1 AND l.grantee IS NOT NULL GROUP BY l.grantee
ON CONFLICT (id, grantee) DO UPDATE SET (public_epsilon, public_delta, conditional_epsilon, conditional_delta) =
  (EXCLUDED.public_epsilon, EXCLUDED.public_delta, EXCLUDED.conditional_epsilon, EXCLUDED.conditional_delta))sql";

Status create_odometer_row(const Spi &spi, const Letter &letter) {
    Parameters parameters;
    parameters.add_uuid(letter.text(key_id));
    parameters.add_text(letter.text(key_relation_name));
    parameters.add_text(letter.text(key_owner));
    if (run(spi, create_sql, parameters) == 1) {
        Parameters id;
        id.add_uuid(letter.text(key_id));
        run(spi, create_shares_sql, id);
    }
    return Status::committed;
}

Status serve(const Spi &spi, const Letter &letter) {
    switch (letter.request->kind) {
    case RequestKind::charge:
        return charge_table(spi, letter);
    case RequestKind::selection:
        return charge_selection_of(spi, letter);
    case RequestKind::create_odometer:
        return create_odometer_row(spi, letter);
    case RequestKind::suspension:
        return suspend_role(spi, letter);
    }
    elog(ERROR, "unknown request");
}

Status perform(const Letter &letter) {
    SetCurrentStatementStartTimestamp();
    StartTransactionCommand();
    PushActiveSnapshot(GetTransactionSnapshot());
    // ALTER DATABASE ... SET role would otherwise make every charge fail.
    border::RoleScope role = border::RoleScope::enter(border::extension_owner());
    Spi spi = Spi::connect();
    Status status = serve(spi, letter);
    spi.finish();
    role.leave();
    PopActiveSnapshot();
    // A cancel of the wait for synchronous standbys would look like success. SIGINT was for lock_timeout; that is over.
    pqsignal(SIGINT, SIG_IGN);
    CHECK_FOR_INTERRUPTS();
    CommitTransactionCommand();
    // Termination ends that wait as well, and is noticed here: the process goes, the status stays `pending`.
    CHECK_FOR_INTERRUPTS();
    return status;
}

void work(dsm_handle handle) {
    // The default handler of a worker ends the process at once, also in the middle of a commit.
    pqsignal(SIGTERM, die);
    BackgroundWorkerUnblockSignals();
    WorkerArguments arguments;
    memcpy(&arguments, MyBgworkerEntry->bgw_extra, sizeof arguments);
    Letter letter;
    if (!open_letter(handle, arguments, &letter))
        return;
    if (letter.request->layout != layout_number || letter.request->size != sizeof(Request)) {
        pg_atomic_write_u32(&letter.request->status, static_cast<uint32>(Status::other_layout));
        return;
    }
    // By no name, that is as the bootstrap superuser: the extension's owner need not be allowed to log in.
    BackgroundWorkerInitializeConnectionByOid(arguments.database, InvalidOid, 0);
    force_settings();
    Status status = perform(letter);
    pg_write_barrier();
    pg_atomic_write_u32(&letter.request->status, static_cast<uint32>(status));
}

} // namespace

} // namespace dp::catalog

// Main function of the background worker; its argument is the handle of the caller's segment.
extern "C" PGDLLEXPORT void dp_rdr_charge_worker(Datum handle);

void dp_rdr_charge_worker(Datum handle) {
    dp::border::core([&] { dp::catalog::work(DatumGetUInt32(handle)); });
}
