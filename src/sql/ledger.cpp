// dp_odometer and dp_verify_ledger: what a controller asks of the ledger.
#include "border/guard.hpp"
#include "border/versions.hpp"
#include "catalog/access.hpp"
#include "catalog/decimals.hpp"
#include "catalog/ledger_rebuild.hpp"
#include "catalog/odometer.hpp"
#include "catalog/settings.hpp"

namespace {

using dp::border::Spi;
using dp::catalog::Visit;

struct ProtectedTable {
    Oid relation;
    Datum id;
    const char *name; // qualified and quoted
};

// A protected table, or one of its restricted views. Invalid OID if it is neither.
ProtectedTable find_protected(Oid argument) {
    ProtectedTable table{InvalidOid, Datum{0}, nullptr};
    Visit visit = Visit::read();
    Oid types[1] = {OIDOID};
    Datum values[1] = {ObjectIdGetDatum(argument)};
    uint64 rows = visit.run("SELECT t.relation::oid, t.domain FROM dp_rdr.protected_table t WHERE t.relation::oid = $1 "
                            "OR t.relation = (SELECT v.relation FROM dp_rdr.restricted_view v WHERE v.view::oid = $1)",
                            1, types, values);
    if (rows > 0) {
        bool isnull;
        table.relation = DatumGetObjectId(Spi::value(0, 1, &isnull));
        auto *id = static_cast<pg_uuid_t *>(MemoryContextAlloc(visit.spi.caller, sizeof(pg_uuid_t)));
        memcpy(id, DatumGetUUIDP(Spi::value(0, 2, &isnull)), sizeof(pg_uuid_t));
        table.id = UUIDPGetDatum(id);
    }
    visit.leave();
    return table;
}

// What the caller named, if it is his: who may not look does not learn either whether there is anything to see.
ProtectedTable controlled_table(Oid argument) {
    ProtectedTable table = find_protected(argument);
    Oid relation = OidIsValid(table.relation) ? table.relation : argument;
    const char *name = get_rel_name(relation);
    if (name == nullptr)
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("relation with OID %u does not exist", relation)));
    if (!dp::border::owns_relation(relation, GetUserId()))
        aclcheck_error(ACLCHECK_NOT_OWNER, get_relkind_objtype(get_rel_relkind(relation)), name);
    table.name = dp::catalog::qualified_name(relation);
    if (!OidIsValid(table.relation))
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("%s is not protected", table.name),
                        errhint("Protect a table with dp_protect(relation, view).")));
    return table;
}

uint64 run_for(const Visit &visit, const ProtectedTable &table, const char *sql) {
    Oid types[1] = {UUIDOID};
    Datum values[1] = {table.id};
    return visit.run(sql, 1, types, values);
}

} // namespace

namespace {

using namespace dp;

// What is stored of a table as a whole, and of its epoch and its periods as no charge may have met them yet.
struct Account {
    privacy::BoundSettings bound;
    privacy::Odometer odometer;
};

constexpr int columns = 18;
enum Column {
    col_account,
    col_epsilon,
    col_delta,
    col_releases,
    col_denials,
    col_bound,
    col_epsilon_total,
    col_delta_total,
    col_rho,
    col_rho_total,
    col_epsilon_anytime,
    col_epsilon_claim,
    col_delta_claim,
    col_period_epsilon,
    col_period_delta,
    col_period_end,
    col_epsilon_lifetime,
    col_delta_lifetime
};

struct Output {
    Datum values[columns];
    bool nulls[columns];
    void set(Column column, Datum value) {
        values[column] = value;
        nulls[column] = false;
    }
    template <int Places> void set(Column column, privacy::Decimal<Places> value) {
        set(column, catalog::to_numeric(value));
    }
};

// What the epoch has come to under zcdp, with all before it; rho is that of the epoch alone.
void put_zcdp(Output *output, const Account &account, const privacy::Spent &spent, const privacy::Claim &claim) {
    privacy::Loss loss = border::core([&] { return privacy::shown(spent, account.bound); });
    privacy::Epsilon anytime = border::core([&] { return privacy::shown_anytime(spent, account.bound, claim); });
    output->set(col_epsilon, loss.epsilon);
    output->set(col_delta, loss.delta);
    output->set(col_rho, spent.rho);
    if (account.bound.epsilon_total)
        output->set(col_rho_total, account.bound.rho_total);
    output->set(col_epsilon_anytime, Float8GetDatum(anytime.value()));
}

// The sums in the period that the account is in now, and when that turns.
void put_period(Output *output, const privacy::BoundSettings &bound, const privacy::PeriodSums &sums) {
    output->set(col_period_epsilon, sums.epsilon);
    output->set(col_period_delta, sums.delta);
    output->set(col_period_end,
                TimestampTzGetDatum(catalog::to_moment(privacy::end_of(bound.period->kind, sums.start))));
    if (bound.epsilon_lifetime)
        output->set(col_epsilon_lifetime, *bound.epsilon_lifetime);
    if (bound.delta_lifetime)
        output->set(col_delta_lifetime, *bound.delta_lifetime);
}

// With periods that go on for ever, only what binds over all of them is claimed.
void put_claim_for_life(Output *output, const privacy::BoundSettings &bound, const privacy::Spent &spent) {
    if (bound.epsilon_lifetime)
        output->set(col_epsilon_claim, Max(spent.epsilon, *bound.epsilon_lifetime));
    if (bound.delta_lifetime)
        output->set(col_delta_claim, Max(spent.delta, *bound.delta_lifetime));
    else if (bound.delta_total.units() == 0)
        output->set(col_delta_claim, spent.delta);
}

// What is guaranteed of the public account, whatever is asked from now on. Nothing rests on the other.
void put_claim(Output *output, const Account &account) {
    const privacy::BoundSettings &bound = account.bound;
    const privacy::Spent &spent = account.odometer.totals.of_public;
    if (bound.bound == privacy::Bound::none || !bound.epsilon_total)
        return;
    if (bound.bound == privacy::Bound::zcdp) {
        privacy::Claim claim = account.odometer.claim;
        border::core([&] { claim.raise(bound); });
        output->set(col_epsilon_claim, spent.epsilon_before + *claim.total);
        output->set(col_delta_claim, spent.delta_before + claim.conversion + claim.mechanisms);
    } else if (bound.period) {
        put_claim_for_life(output, bound, spent);
    } else {
        output->set(col_epsilon_claim, Max(spent.epsilon, *bound.epsilon_total));
        output->set(col_delta_claim, Max(spent.delta, bound.delta_total));
    }
}

void put_account(ReturnSetInfo *result, const Account &account, privacy::Account which,
                 const catalog::Counted &counted) {
    const bool open = which == privacy::Account::public_account;
    const privacy::Spent &spent = open ? account.odometer.totals.of_public : account.odometer.totals.of_conditional;
    Output output;
    memset(output.values, 0, sizeof output.values);
    memset(output.nulls, true, sizeof output.nulls);
    output.set(col_account, CStringGetTextDatum(privacy::name_of(which)));
    output.set(col_epsilon, spent.epsilon);
    output.set(col_delta, spent.delta);
    output.set(col_releases, Int64GetDatum(counted.releases));
    output.set(col_denials, Int64GetDatum(counted.denials));
    output.set(col_bound, CStringGetTextDatum(privacy::name_of(account.bound.bound)));
    if (account.bound.epsilon_total && account.bound.bound != privacy::Bound::none) // it does not bind, but is kept
        output.set(col_epsilon_total, *account.bound.epsilon_total);
    output.set(col_delta_total, account.bound.delta_total);
    if (account.bound.bound == privacy::Bound::zcdp)
        put_zcdp(&output, account, spent, open ? account.odometer.claim : privacy::Claim());
    if (account.bound.period)
        put_period(&output, account.bound, spent.period);
    if (open)
        put_claim(&output, account);
    tuplestore_putvalues(result->setResult, result->setDesc, output.values, output.nulls);
}

} // namespace

DP_CALL(dp_odometer) {
    ProtectedTable table = controlled_table(PG_GETARG_OID(0));
    InitMaterializedSRF(fcinfo, 0);
    auto *result = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
    catalog::Reading reading = catalog::Reading::open();
    const catalog::Bound *bound = catalog::read_bound(reading, table.relation);
    Account account;
    catalog::Counts counts;
    bool found = bound != nullptr && catalog::read_odometer(reading, bound->id_text, &account.odometer, &counts);
    reading.close();
    if (!found)
        ereport(ERROR,
                (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("%s has no odometer", table.name),
                 errhint("Its totals may have been left out of a restore; dp_protect() on the table rebuilds them "
                         "from the ledger.")));
    account.bound = bound->settings;
    border::core([&] { privacy::enter_epoch(&account.odometer, bound->epoch); });
    account.odometer.totals =
        privacy::standing(account.odometer.totals, privacy::Totals(), account.bound, catalog::today()).table;
    put_account(result, account, privacy::Account::public_account, counts.of_public);
    put_account(result, account, privacy::Account::conditional, counts.of_conditional);
    return Datum{0};
}

namespace {

// The first row that does not fit, as a text. Rows of one table have ascending ids: they are given under its lock.
const char *const misfit_sql = R"sql(
SELECT 'row ' || r.id || ': ' || r.misfit FROM (
  SELECT l.id, CASE
      WHEN l.content_version <> 2 THEN 'its content version ' || l.content_version || ' is not known'
      WHEN l.content <> dp_rdr.ledger_content(l) THEN 'its content differs from its columns'
      WHEN l.previous_hash <> lag(l.hash, 1, '\x'::bytea) OVER (ORDER BY l.id) THEN 'it does not follow the row before it'
      WHEN l.hash <> dp_rdr.ledger_hash(l.content_version, l.previous_hash, l.content) THEN 'its hash is wrong'
      WHEN l.account NOT IN ('public', 'conditional') THEN 'it belongs to no account'
      WHEN l.basis NOT IN ('epsilon', 'rho') THEN 'it moves no sum'
      WHEN l.kind = 'increment' AND l.algorithm <> 'accuracy' THEN 'it is a step of no round'
      WHEN l.algorithm = 'accuracy' AND l.basis = 'rho' AND (l.epsilon <> 0 OR l.kind NOT IN ('gaussian', 'increment'))
        THEN 'it is a step in rho that is charged in epsilon'
    END AS misfit
  FROM dp_rdr.ledger_row l WHERE l.table_id = $1) r
WHERE r.misfit IS NOT NULL ORDER BY r.id LIMIT 1)sql";

// What the rows add up to, against the odometer and the shares of roles.
const char *const totals_sql = R"sql(
stored AS (
  SELECT o.epoch, a.* FROM dp_rdr.odometer o, LATERAL (VALUES
    ('public', public_epsilon, public_delta, public_releases, public_epsilon_before, public_delta_before,
     public_rho, public_pure, public_rho_only),
    ('conditional', conditional_epsilon, conditional_delta, conditional_releases, conditional_epsilon_before,
     conditional_delta_before, conditional_rho, conditional_pure, conditional_rho_only))
    a (name, epsilon, delta, releases, epsilon_before, delta_before, rho, pure, rho_only)
  WHERE o.id = $1),
share AS (
  SELECT s.grantee, s.epoch, a.* FROM dp_rdr.odometer_share s, LATERAL (VALUES
    ('public', public_epsilon, public_delta, public_epsilon_before, public_rho, public_pure, public_rho_only),
    ('conditional', conditional_epsilon, conditional_delta, conditional_epsilon_before, conditional_rho,
     conditional_pure, conditional_rho_only))
    a (name, epsilon, delta, epsilon_before, rho, pure, rho_only)
  WHERE s.id = $1),
stored_period AS (
  SELECT s.grantee, a.* FROM (
    SELECT '' AS grantee, public_period_kind, public_period_start, public_period_epsilon, public_period_delta,
      conditional_period_kind, conditional_period_start, conditional_period_epsilon, conditional_period_delta
    FROM dp_rdr.odometer WHERE id = $1
    UNION ALL SELECT grantee, public_period_kind, public_period_start, public_period_epsilon, public_period_delta,
      conditional_period_kind, conditional_period_start, conditional_period_epsilon, conditional_period_delta
    FROM dp_rdr.odometer_share WHERE id = $1) s, LATERAL (VALUES
    ('public', public_period_kind, public_period_start, public_period_epsilon, public_period_delta),
    ('conditional', conditional_period_kind, conditional_period_start, conditional_period_epsilon,
     conditional_period_delta)) a (account, kind, start, epsilon, delta))
SELECT 'the odometer is missing' WHERE NOT EXISTS (SELECT FROM dp_rdr.odometer WHERE id = $1)
UNION ALL
SELECT 'the head of the chain is not the hash of the last row' FROM dp_rdr.odometer o
WHERE o.id = $1 AND o.head <> coalesce((SELECT hash FROM entry ORDER BY id DESC LIMIT 1), '\x'::bytea)
UNION ALL
SELECT 'the totals of the account ' || a.name || ' are not the sums of its rows'
FROM account a JOIN stored s ON s.name = a.name
WHERE (a.epsilon, a.delta, a.releases) IS DISTINCT FROM (s.epsilon, s.delta, s.releases)
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
-- The later of the clock's, which the row shows, and those that table and role were in.
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
 ORDER BY coalesce(r.grantee, s.grantee) COLLATE "C" LIMIT 1))sql";

// Charges are decided on a cap that was computed once: it must not be above what the totals beside it make.
char *misfit_of_cap(Datum id) {
    Visit visit = Visit::read();
    ProtectedTable table{InvalidOid, id, nullptr};
    Oid relation = InvalidOid;
    bool isnull = true;
    if (run_for(visit, table, "SELECT t.relation::oid FROM dp_rdr.protected_table t WHERE t.domain = $1 LIMIT 1") == 1)
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
    privacy::Rho cap = border::core(
        [&] { return privacy::rho_cap(*set.epsilon_total - set.epsilon_pure, set.delta_conversion, set.cap); });
    if (set.rho_total <= cap)
        return nullptr;
    return psprintf("rho_total of the table is %s, above the %s that its totals make",
                    catalog::numeric_text(catalog::to_numeric(set.rho_total)),
                    catalog::numeric_text(catalog::to_numeric(cap)));
}

// A domain that was joined into another: if it has a chain, or had one, that ends with the join (but for suspensions by questions that were charged before), and what the join has carried is what its rows come to, for each
// role and for nobody's share. Parameters: its id, and that of the domain that counts it.
const char *const joined_sql = R"sql(
WITH entry AS (SELECT * FROM dp_rdr.ledger_row l WHERE l.table_id = $1),
finish AS (SELECT * FROM entry WHERE kind = 'join' AND parameters ? 'into' ORDER BY id DESC LIMIT 1),
carried AS (
  SELECT l.* FROM dp_rdr.privacy_domain d JOIN dp_rdr.ledger_row l ON l.table_id = d.id
  WHERE $2 IN (d.id, d.joined_into) AND l.kind = 'join' AND l.parameters ->> 'from' = $1::text)
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

// Of all domains that were joined into this one.
char *misfit_of_joined(const Visit &visit, const ProtectedTable &table) {
    if (run_for(visit, table, carried_sql) > 0)
        return visit.spi.text(0, 1);
    uint64 n = run_for(visit, table, "SELECT d.id FROM dp_rdr.privacy_domain d WHERE d.joined_into = $1 ORDER BY d.id");
    auto *ids = static_cast<char **>(palloc(sizeof(char *) * (n + 1)));
    for (uint64 i = 0; i < n; i++)
        ids[i] = visit.spi.text(i, 1);
    for (uint64 i = 0; i < n; i++) {
        ProtectedTable joined{InvalidOid, DirectFunctionCall1(uuid_in, CStringGetDatum(ids[i])), nullptr};
        Oid types[2] = {UUIDOID, UUIDOID};
        Datum values[2] = {joined.id, table.id};
        if (run_for(visit, joined, misfit_sql) > 0 || run_for(visit, joined, carried_sql) > 0 ||
            visit.run(joined_sql, 2, types, values) > 0)
            return psprintf("of the domain %s, which was joined into it: %s", ids[i], visit.spi.text(0, 1));
    }
    return nullptr;
}

// Null when the ledger is whole.
char *first_misfit(Datum id) {
    Visit visit = Visit::read();
    ProtectedTable table{InvalidOid, id, nullptr};
    char *misfit = nullptr;
    if (run_for(visit, table, misfit_sql) > 0)
        misfit = visit.spi.text(0, 1);
    else if (run_for(
                 visit, table,
                 psprintf("WITH now AS (SELECT coalesce((SELECT o.epoch FROM dp_rdr.odometer o WHERE o.id = $1), 0) "
                          "AS epoch), %s, %s",
                          catalog::ledger_sums_sql, totals_sql)) > 0)
        misfit = visit.spi.text(0, 1);
    else
        misfit = misfit_of_joined(visit, table);
    visit.leave();
    return misfit != nullptr ? misfit : misfit_of_cap(id);
}

} // namespace

DP_CALL(dp_verify_ledger) {
    ProtectedTable table = controlled_table(PG_GETARG_OID(0));
    const char *misfit = first_misfit(table.id);
    if (misfit != nullptr)
        ereport(WARNING,
                (errcode(ERRCODE_DATA_CORRUPTED), errmsg("the ledger of %s is not whole: %s", table.name, misfit)));
    PG_RETURN_BOOL(misfit == nullptr);
}

// The same for dp_audit, by the id of the protected table.
DP_FUNCTION(dp_ledger_fault) {
    const char *misfit = first_misfit(PG_GETARG_DATUM(0));
    if (misfit == nullptr)
        PG_RETURN_NULL();
    return CStringGetTextDatum(misfit);
}
