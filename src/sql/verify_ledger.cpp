// dp_verify_ledger: whether the rows of a ledger are those that were written, and come to its totals.
#include "border/versions.hpp"
#include "catalog/cells_of_ledger.hpp"
#include "catalog/ledger_rebuild.hpp"
#include "sql/call_arguments.hpp"
#include "sql/ledger_pages.hpp"

namespace {

using namespace dp;
using border::Spi;
using catalog::Visit;

// The ledger of one domain, read from the row that was verified last on, or as a whole.
struct Ledger {
    Datum id; // uuid, of the domain
    bool whole;

    // Runs a statement with the parameters id, whole, and others. One that is kept reads rows by their keys, however many of them the
    // planner expects behind the verified one.
    template <class Sql, class... T> uint64 run(const Visit &visit, Sql &&sql, const T &...others) const {
        return catalog::run(visit, sql, catalog::Typed{UUIDOID, id}, whole, others...);
    }
};

// Finds the first row that does not fit, as a text, of those behind the row that was verified last; with $2 of all rows. Rows of one
// table have ascending ids: they are given under its lock.
border::Statement misfit_rows(R"sql(
WITH verified AS (
  SELECT v.row_id, v.hash FROM dp_rdr.verified_ledger v WHERE v.table_id = $1 AND NOT $2
  UNION ALL SELECT 0, '\x' ORDER BY 1 DESC LIMIT 1)
SELECT 'row ' || r.id || ': ' || r.misfit FROM (
  SELECT v.row_id AS id, 'it was removed, or another took its place, since it was verified' AS misfit FROM verified v
  WHERE v.row_id > 0 AND NOT EXISTS (
    SELECT FROM dp_rdr.ledger_row l WHERE (l.table_id, l.id, l.hash) = ($1, v.row_id, v.hash))
  UNION ALL
  SELECT l.id, CASE
      WHEN l.content_version <> 2 THEN 'its content version ' || l.content_version || ' is not known'
      WHEN l.content <> dp_rdr.ledger_content(l) THEN 'its content differs from its columns'
      WHEN l.previous_hash <> lag(l.hash, 1, (SELECT v.hash FROM verified v)) OVER (ORDER BY l.id) THEN 'it does not follow the row before it'
      WHEN l.hash <> dp_rdr.ledger_hash(l.content_version, l.previous_hash, l.content) THEN 'its hash is wrong'
      WHEN l.account NOT IN ('public', 'conditional') THEN 'it belongs to no account'
      WHEN l.basis NOT IN ('epsilon', 'rho') THEN 'it moves no sum'
      WHEN l.kind = 'increment' AND l.algorithm <> 'accuracy' THEN 'it is a step of no round'
      WHEN l.algorithm = 'accuracy' AND l.basis = 'rho' AND (l.epsilon <> 0 OR l.kind NOT IN ('gaussian', 'increment'))
        THEN 'it is a step in rho that is charged in epsilon'
    END
  FROM dp_rdr.ledger_row l WHERE l.table_id = $1 AND l.id > (SELECT v.row_id FROM verified v)) r
WHERE r.misfit IS NOT NULL ORDER BY r.id LIMIT 1)sql");

// Names the sums of the odometer and of the shares of roles, by account.
const char *const stored_sql = R"sql(
stored AS (
  SELECT o.epoch, a.* FROM dp_rdr.odometer o, LATERAL (VALUES %s)
    a (name, epsilon, delta, releases, epsilon_before, delta_before, rho, pure, rho_only)
  WHERE o.id = $1),
share AS (
  SELECT s.grantee, s.epoch, a.* FROM dp_rdr.odometer_share s, LATERAL (VALUES %s)
    a (name, epsilon, delta, epsilon_before, rho, pure, rho_only)
  WHERE s.id = $1),
stored_period AS (
  SELECT '' AS grantee, a.* FROM dp_rdr.odometer o, LATERAL (VALUES %s) a (account, kind, start, epsilon, delta) WHERE o.id = $1
  UNION ALL
  SELECT s.grantee, a.* FROM dp_rdr.odometer_share s, LATERAL (VALUES %s) a (account, kind, start, epsilon, delta) WHERE s.id = $1))sql";

// Names what is stored of cells, with what was charged to all, where it changes.
const char *const found_sql = R"sql(
found AS (
  SELECT f.grantee, f.first, f.sums FROM (
    SELECT c.*, lag(c.sums) OVER (PARTITION BY c.grantee ORDER BY c.first) AS before FROM (
      SELECT c.grantee, c.first, ARRAY[k.sums[1] + c.epsilon, k.sums[2] + c.delta, k.sums[3] + c.epsilon_epoch, k.sums[4] + c.delta_epoch,
        k.sums[5] + c.rho, k.sums[6] + c.pure, k.sums[7] + c.rho_only] AS sums FROM dp_rdr.odometer_cell c JOIN known k ON k.grantee = c.grantee
      WHERE c.id = $1 AND c.first < 9223372036854775807
      UNION ALL SELECT k.grantee, p.others, k.sums FROM known k, part p WHERE NOT EXISTS (
        SELECT FROM dp_rdr.odometer_cell c WHERE c.id = $1 AND c.grantee = k.grantee AND c.first <= p.others)) c) f
  WHERE f.sums IS DISTINCT FROM f.before))sql";

// Compares them with the sums of the rows.
const char *const totals_sql = R"sql(
SELECT 'the odometer is missing' WHERE NOT EXISTS (SELECT FROM dp_rdr.odometer WHERE id = $1)
UNION ALL
SELECT 'the head of the chain is not the hash of the last row' FROM dp_rdr.odometer o
WHERE o.id = $1 AND o.head <>
  coalesce((SELECT l.hash FROM dp_rdr.ledger_row l WHERE l.table_id = $1 ORDER BY l.id DESC LIMIT 1), '\x'::bytea)
UNION ALL
SELECT 'the totals of the account ' || a.name || ' are not the sums of its rows'
FROM account a JOIN stored s ON s.name = a.name
WHERE (a.epsilon, a.delta, a.releases) IS DISTINCT FROM (s.epsilon, s.delta, s.releases)
UNION ALL
(SELECT format('the sums of cells%s are not those of their rows', ' of role ' || nullif(coalesce(c.grantee, f.grantee), ''))
 FROM computed c FULL JOIN found f ON f.grantee = c.grantee AND f.first = c.first
 WHERE c.sums IS DISTINCT FROM f.sums ORDER BY coalesce(c.grantee, f.grantee) COLLATE "C" LIMIT 1)
UNION ALL
(SELECT format('the sums of cells to come%s are not those of their rows', ' of role ' || nullif(k.grantee, ''))
 FROM known k JOIN coming c ON c.grantee = k.grantee
 LEFT JOIN dp_rdr.odometer_cell o ON o.id = $1 AND o.grantee = k.grantee AND o.first = 9223372036854775807
 WHERE c.sums <> ARRAY[coalesce(o.epsilon, 0), coalesce(o.delta, 0), coalesce(o.epsilon_epoch, 0), coalesce(o.delta_epoch, 0),
   coalesce(o.rho, 0), coalesce(o.pure, 0), coalesce(o.rho_only, 0)] ORDER BY k.grantee COLLATE "C" LIMIT 1)
UNION ALL
(SELECT format('the sums of cells%s do not come to those of the cell that has most', ' of role ' || nullif(k.grantee, ''))
 FROM known k WHERE k.most <> (
   SELECT array_agg(m.most ORDER BY m.i) FROM (
     SELECT u.i, max(u.sum) - k.sums[u.i] AS most FROM found f, unnest(f.sums) WITH ORDINALITY u (sum, i) WHERE f.grantee = k.grantee
     GROUP BY u.i) m) ORDER BY k.grantee COLLATE "C" LIMIT 1)
UNION ALL
SELECT format('the sums of epoch %s of the account %s are not those of its rows', s.epoch, a.name)
FROM account a JOIN stored s ON s.name = a.name
WHERE (a.epsilon_before, a.delta_before, a.rho, a.pure, a.rho_only) IS DISTINCT FROM
      (s.epsilon_before, s.delta_before, s.rho, s.pure, s.rho_only)
UNION ALL
SELECT format('the claim of epoch %s is not that of its rows', o.epoch)
FROM dp_rdr.odometer o JOIN account p ON p.name = 'public' JOIN account c ON c.name = 'conditional'
WHERE o.id = $1 AND (p.claim_epsilon, p.claim_conversion, p.claim_mechanisms, p.claim_target, c.claim_conversion)
  IS DISTINCT FROM (o.claim_epsilon, o.claim_conversion, o.claim_mechanisms, o.claim_target, o.conditional_conversion)
UNION ALL
SELECT format('the sums of the account %s in its period are not those of its rows', s.account)
FROM stored_period s LEFT JOIN in_period i USING (grantee, account)
WHERE s.grantee = '' AND (s.kind, s.start, s.epsilon, s.delta)
  IS DISTINCT FROM (i.kind, i.start, coalesce(i.epsilon, 0), coalesce(i.delta, 0))
UNION ALL
(SELECT format('the share of role %s in its period is not the sum of its rows', s.grantee)
 FROM stored_period s LEFT JOIN in_period i USING (grantee, account)
 WHERE s.grantee <> '' AND (s.kind, s.start, s.epsilon, s.delta)
   IS DISTINCT FROM (i.kind, i.start, coalesce(i.epsilon, 0), coalesce(i.delta, 0))
 ORDER BY s.grantee COLLATE "C" LIMIT 1)
UNION ALL
-- The later of the clock's, which the row shows, and those that table and role were in. Of rows that are added up the first is here.
(SELECT format('row %s is in a period that its time does not make', m.id)
 FROM marked m WHERE m.period IS NOT NULL GROUP BY m.id
 HAVING min(m.start) <> greatest(min(date_trunc(m.period, m.at)), max(date_trunc(m.period, m.last_start::timestamp)))::date
 ORDER BY m.id LIMIT 1)
UNION ALL
SELECT format('row %s is of epoch %s, behind epoch %s of the odometer', e.id, e.epoch, o.epoch)
FROM dp_rdr.odometer o JOIN LATERAL (SELECT * FROM entry WHERE epoch > o.epoch ORDER BY id LIMIT 1) e ON true
WHERE o.id = $1
UNION ALL
SELECT format('the odometer is in epoch %s, ahead of epoch %s of its table; dp_set_odometer() begins one behind both',
              o.epoch, d.epoch)
FROM dp_rdr.odometer o JOIN dp_rdr.privacy_domain d ON d.id = o.id WHERE o.id = $1 AND o.epoch > d.epoch
UNION ALL
(SELECT format('epoch %s of the account %s has ended, but no row closes it', e.epoch, e.account)
 FROM dp_rdr.odometer o JOIN entry e ON e.epoch < o.epoch
 WHERE o.id = $1 AND e.totals IS NOT NULL
   AND NOT EXISTS (SELECT FROM entry c WHERE c.kind = 'closing' AND (c.epoch, c.account) = (e.epoch, e.account))
 ORDER BY e.id LIMIT 1)
UNION ALL
(SELECT 'the share of role ' || coalesce(r.grantee, s.grantee) || ' is not the sum of its rows'
 FROM role r FULL JOIN share s ON s.grantee = r.grantee AND s.name = r.name
 WHERE (r.epoch, r.epsilon, r.delta, r.epsilon_before, r.rho, r.pure, r.rho_only) IS DISTINCT FROM
      (s.epoch, s.epsilon, s.delta, s.epsilon_before, s.rho, s.pure, s.rho_only)
 ORDER BY coalesce(r.grantee, s.grantee) COLLATE "C" LIMIT 1)
UNION ALL
SELECT format('the largest sums of epoch %s over cells are not those of its rows', o.epoch)
FROM dp_rdr.odometer o JOIN account p ON p.name = 'public' WHERE o.id = $1
  AND (p.all_epsilon_epoch, p.all_delta_epoch, p.all_rho_only) <> (o.all_epsilon_epoch + o.most_epsilon_epoch,
    o.all_delta_epoch + o.most_delta_epoch, o.all_rho_only + o.most_rho_only))sql";

// Charges are decided on a cap that was computed once: it must not be above what the totals beside it make.
char *misfit_of_cap(const Ledger &ledger) {
    Visit visit = Visit::read();
    Oid relation = InvalidOid;
    bool isnull = true;
    if (ledger.run(visit, "SELECT t.relation::oid FROM dp_rdr.protected_table t WHERE t.domain = $1 LIMIT 1") == 1)
        relation = DatumGetObjectId(Spi::value(0, 1, &isnull));
    visit.leave();
    if (isnull)
        return nullptr;
    catalog::Reading reading = catalog::Reading::open();
    const catalog::Bound *bound = catalog::read_bound(reading, relation);
    reading.close();
    if (bound == nullptr || bound->settings.bound != privacy::Bound::zcdp || !bound->settings.epsilon_total)
        return nullptr;
    const privacy::BoundSettings &set = bound->settings;
    if (set.delta_conversion.units() <= 0 || set.epsilon_pure > *set.epsilon_total)
        return pstrdup("the totals of the table are not such as dp_set_odometer() sets");
    privacy::Rho cap = border::core([&] {
        return privacy::rho_cap(*set.epsilon_total - set.epsilon_pure, set.delta_conversion,
                                set.rho_alone ? privacy::Cap::tight : set.cap);
    });
    if (set.rho_total <= cap)
        return nullptr;
    return psprintf("rho_total of the table is %s, above the %s that its totals make",
                    sql::printed(set.rho_total),
                    sql::printed(cap));
}

// A domain that was joined into another: if it has a chain, or had one, that ends with the join (but for suspensions by questions that were charged before), and what the join has carried is what its rows come to, for each
// role and for nobody's share. Parameters: its id, whether all rows are read, and the id of the domain that counts it.
const char *const joined_sql = R"sql(
WITH entry AS (SELECT * FROM dp_rdr.charges($1, $2)),
finish AS (SELECT * FROM dp_rdr.ledger_row l WHERE l.table_id = $1 AND l.kind = 'join' AND l.parameters ? 'into' ORDER BY l.id DESC LIMIT 1),
carried AS (
  SELECT l.* FROM dp_rdr.privacy_domain d JOIN dp_rdr.ledger_row l ON l.table_id = d.id
  WHERE $3 IN (d.id, d.joined_into) AND l.kind = 'join' AND l.parameters ->> 'from' = $1::text)
SELECT 'no row ends it' WHERE NOT EXISTS (SELECT FROM finish) AND (EXISTS (SELECT FROM entry) OR EXISTS (SELECT FROM carried))
UNION ALL
SELECT 'something was charged behind its end'
WHERE EXISTS (SELECT FROM entry e JOIN finish f ON e.id > f.id WHERE e.kind <> 'suspension' OR (e.epsilon, e.delta, e.rho) <> (0, 0, 0))
UNION ALL
SELECT 'no row carries what it was charged' WHERE NOT EXISTS (SELECT FROM carried) AND EXISTS (SELECT FROM entry)
UNION ALL
SELECT 'what was carried was not the end of its chain'
WHERE EXISTS (SELECT FROM carried c WHERE c.parameters ->> 'head' IS DISTINCT FROM (SELECT encode(hash, 'hex') FROM finish))
UNION ALL
(SELECT format('its charges of the account %s are not what was carried', coalesce(s.account, c.account))
 FROM (SELECT account, grantee, sum(epsilon) FILTER (WHERE basis = 'epsilon') AS epsilon, sum(delta) AS delta FROM entry
       GROUP BY account, grantee) s
 FULL JOIN (SELECT account, grantee, sum(epsilon) AS epsilon, sum(delta) AS delta FROM carried GROUP BY account, grantee) c
   ON c.account = s.account AND coalesce(c.grantee, '') = coalesce(s.grantee, '')
 WHERE (coalesce(s.epsilon, 0), coalesce(s.delta, 0)) <> (coalesce(c.epsilon, 0), coalesce(c.delta, 0))
 ORDER BY 1 LIMIT 1))sql";

// A row that carries something of a domain that is counted elsewhere, or by itself; and one that ends a chain which is somebody's.
const char *const carried_sql = R"sql(
SELECT * FROM (
  SELECT format('row %s: it carries the charges of a domain that is none of this one''s', l.id)
  FROM dp_rdr.ledger_row l WHERE l.table_id = $1 AND l.kind = 'join' AND l.parameters ? 'from' AND NOT EXISTS (
    SELECT FROM dp_rdr.privacy_domain d JOIN dp_rdr.privacy_domain o ON o.id = $1
    WHERE d.id::text = l.parameters ->> 'from' AND d.joined_into IN (o.id, o.joined_into))
  UNION ALL
  SELECT format('row %s: it ends the ledger of a domain that was joined into another, and this one was not', l.id)
  FROM dp_rdr.ledger_row l WHERE l.table_id = $1 AND l.kind = 'join' AND l.parameters ? 'into' AND NOT EXISTS (
    SELECT FROM dp_rdr.privacy_domain d WHERE d.id = $1 AND d.joined_into IS NOT NULL)) f (fault)
ORDER BY f.fault LIMIT 1)sql";

// Returns the last row of the ledger; 0 without one.
int64 last_row(const Visit &visit, const Ledger &ledger) {
    ledger.run(visit, "SELECT coalesce(max(l.id), 0) FROM dp_rdr.ledger_row l WHERE l.table_id = $1");
    return catalog::value_at<int64>(0, 1);
}

// Remembers that the rows up to $3 are whole, and what they come to. A run is a stretch of an account's rows in one period: what is
// added up across its ends would begin another period than its rows did.
const char *const remember_sql = R"sql(
INSERT INTO dp_rdr.verified_ledger AS v (table_id, row_id, hash, at, whole_at, charges)
SELECT l.table_id, l.id, l.hash, c.now, c.now, (
  SELECT jsonb_agg(to_jsonb(s) ORDER BY s.id) FROM (
    SELECT min(c.id) AS id, sum(c.row_count) AS row_count, c.account, c.grantee, c.role_name, c.role_oid, c.session_role, c.kind,
      c.algorithm, sum(c.epsilon) AS epsilon, sum(c.delta) AS delta, sum(c.delta_groups) AS delta_groups, sum(c.rho) AS rho,
      c.basis, c.epoch, sum(c.carried) AS carried, (array_agg(c.at ORDER BY c.id))[1] AS at, c.period, c.start, c.since,
      CASE WHEN c.totals IS NOT NULL THEN jsonb_build_object(
        'epsilon_total', max((c.totals ->> 'epsilon_total')::numeric),
        'delta_conversion', max((c.totals ->> 'delta_conversion')::numeric),
        'delta_mechanisms', max((c.totals ->> 'delta_mechanisms')::numeric),
        'rho_target', (array_agg(c.totals ->> 'rho_target' ORDER BY c.id))[1]) END AS totals,
      CASE WHEN c.raised IS NOT NULL THEN ARRAY[sum(c.raised[1]), sum(c.raised[2]), sum(c.raised[3]), sum(c.raised[4]), sum(c.raised[5]), sum(c.raised[6]), sum(c.raised[7]),
        sum(c.raised[8]), sum(c.raised[9]), sum(c.raised[10]), sum(c.raised[11]), sum(c.raised[12]), sum(c.raised[13]), sum(c.raised[14])] END AS raised, c.cells
    FROM (SELECT r.*, count(*) FILTER (WHERE r.turns) OVER (PARTITION BY r.account ORDER BY r.id) AS run FROM (
            SELECT e.*, (e.period, e.start, e.since) IS DISTINCT FROM
                        lag((e.period, e.start, e.since)) OVER (PARTITION BY e.account ORDER BY e.id) AS turns
            FROM dp_rdr.charges($1, $2) e WHERE e.id <= $3) r) c
    GROUP BY c.account, c.grantee, c.role_name, c.role_oid, c.session_role, c.kind, c.algorithm, c.basis, c.epoch, c.period, c.start,
      c.since, c.run, c.rho > 0, c.totals IS NOT NULL, c.raised IS NOT NULL, c.cells, date_trunc('month', c.at)) s)
FROM dp_rdr.ledger_row l CROSS JOIN (SELECT clock_timestamp() OFFSET 0) c (now) WHERE (l.table_id, l.id) = ($1, $3)
  AND NOT EXISTS (SELECT FROM dp_rdr.verified_ledger o WHERE o.table_id = $1 AND o.row_id > $3)
ON CONFLICT (table_id) DO UPDATE SET row_id = EXCLUDED.row_id, hash = EXCLUDED.hash, at = EXCLUDED.at, charges = EXCLUDED.charges,
  whole_at = CASE WHEN $2 THEN EXCLUDED.whole_at ELSE v.whole_at END)sql";

// Nothing waits for it: who cannot write now verifies the same rows again the next time.
void remember(const Ledger &ledger, int64 row) {
    if (row == 0 || XactReadOnly || RecoveryInProgress() || IsolationUsesXactSnapshot())
        return;
    Visit visit = Visit::write();
    Oid table = get_relname_relid("verified_ledger", get_namespace_oid("dp_rdr", false));
    if (ConditionalLockRelationOid(table, ShareRowExclusiveLock))
        ledger.run(visit, remember_sql, row);
    visit.leave();
}

// Returns the first misfit of the rows themselves and of what they carry of other domains; null without one.
char *misfit_of_rows(const Visit &visit, const Ledger &ledger) {
    return ledger.run(visit, misfit_rows) > 0 || ledger.run(visit, carried_sql) > 0 ? visit.spi.text(0, 1) : nullptr;
}

// Returns the first misfit of a domain that was joined into that of the ledger; null when it is whole, which is then remembered.
char *misfit_of_joined(const Ledger &joined, const Ledger &ledger) {
    Visit visit = Visit::read();
    const int64 row = last_row(visit, joined);
    char *misfit = misfit_of_rows(visit, joined);
    if (misfit == nullptr && joined.run(visit, joined_sql, catalog::Typed{UUIDOID, ledger.id}) > 0)
        misfit = visit.spi.text(0, 1);
    visit.leave();
    if (misfit == nullptr)
        remember(joined, row);
    return misfit;
}

// Returns the first misfit of all domains that were joined into that of the ledger; null without one.
char *misfit_of_all_joined(const Ledger &ledger) {
    Visit visit = Visit::read();
    uint64 n = ledger.run(visit, "SELECT d.id FROM dp_rdr.privacy_domain d WHERE d.joined_into = $1 ORDER BY d.id");
    auto **ids = static_cast<char **>(MemoryContextAlloc(visit.spi.caller, sizeof(char *) * (n + 1)));
    for (uint64 i = 0; i < n; i++)
        ids[i] = visit.spi.text(i, 1);
    visit.leave();
    for (uint64 i = 0; i < n; i++) {
        char *misfit = misfit_of_joined({DirectFunctionCall1(uuid_in, CStringGetDatum(ids[i])), ledger.whole}, ledger);
        if (misfit != nullptr)
            return psprintf("of the domain %s, which was joined into it: %s", ids[i], misfit);
    }
    return nullptr;
}

// Returns the first misfit of the sums of the rows, those of the odometer and those of the shares; null without one.
char *misfit_of_sums(const Visit &visit, const Ledger &ledger) {
    static border::Statement sums(nullptr);
    if (sums.text == nullptr) {
        const char *periods =
            catalog::for_accounts("('@', @_period_kind, @_period_start, @_period_epsilon, @_period_delta)");
        const char *stored = psprintf(
            stored_sql,
            catalog::for_accounts(
                "('@', @_epsilon, @_delta, @_releases, @_epsilon_before, @_delta_before, @_rho, @_pure, @_rho_only)"),
            catalog::for_accounts("('@', @_epsilon, @_delta, @_epsilon_before, @_rho, @_pure, @_rho_only)"), periods,
            periods);
        sums.text = MemoryContextStrdup(TopMemoryContext,
                                        psprintf("WITH now AS (SELECT coalesce((SELECT o.epoch FROM dp_rdr.odometer o "
                                                 "WHERE o.id = $1), 0) AS epoch, $2 AS whole), %s, %s, %s, %s %s",
                                                 catalog::ledger_sums_sql, catalog::cells_of_ledger_sql(), stored,
                                                 found_sql, totals_sql));
    }
    return ledger.run(visit, sums) > 0 ? visit.spi.text(0, 1) : nullptr;
}

// Returns the first misfit of a ledger; null when it is whole, which is then remembered.
char *first_misfit(const Ledger &ledger) {
    Visit visit = Visit::read();
    const int64 row = last_row(visit, ledger);
    char *misfit = misfit_of_rows(visit, ledger);
    if (misfit == nullptr)
        misfit = misfit_of_sums(visit, ledger);
    visit.leave();
    if (misfit == nullptr)
        misfit = misfit_of_all_joined(ledger);
    if (misfit == nullptr)
        misfit = misfit_of_cap(ledger);
    if (misfit == nullptr)
        remember(ledger, row);
    return misfit;
}

} // namespace

DP_CALL(dp_verify_ledger) {
    sql::ProtectedTable table = sql::controlled_table(PG_GETARG_OID(0));
    const char *misfit = first_misfit({table.id, PG_GETARG_BOOL(1)});
    if (misfit != nullptr)
        ereport(WARNING,
                (errcode(ERRCODE_DATA_CORRUPTED), errmsg("the ledger of %s is not whole: %s", table.name, misfit)));
    PG_RETURN_BOOL(misfit == nullptr);
}

// Returns the first misfit to dp_audit and to a join of two domains, by the id of the domain; NULL without one.
DP_FUNCTION(dp_ledger_fault) {
    const char *misfit = first_misfit({PG_GETARG_DATUM(0), PG_GETARG_BOOL(1)});
    if (misfit == nullptr)
        PG_RETURN_NULL();
    return CStringGetTextDatum(misfit);
}
