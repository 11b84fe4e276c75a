// dp_odometer and dp_verify_ledger: what a controller asks of the ledger.
#include "border/guard.hpp"
#include "border/versions.hpp"
#include "catalog/access.hpp"
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
    uint64 rows = visit.run("SELECT t.relation::oid, t.id FROM dp_rdr.protected_table t WHERE t.relation::oid = $1 "
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

DP_CALL(dp_odometer) {
    constexpr int columns = 8;
    ProtectedTable table = controlled_table(PG_GETARG_OID(0));
    InitMaterializedSRF(fcinfo, 0);
    auto *result = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
    Visit visit = Visit::read();
    uint64 rows =
        run_for(visit, table,
                "SELECT a.account, a.epsilon, a.delta, a.releases, a.denials, t.bound, "
                "CASE t.bound WHEN 'none' THEN NULL ELSE t.epsilon_total END, " // it does not bind, but is kept
                "t.delta_total FROM dp_rdr.odometer o JOIN dp_rdr.protected_table t ON t.id = o.id, LATERAL "
                "(VALUES (1, 'public', o.public_epsilon, o.public_delta, o.public_releases, o.public_denials), "
                "(2, 'conditional', o.conditional_epsilon, o.conditional_delta, o.conditional_releases, "
                "o.conditional_denials)) a (place, account, epsilon, delta, releases, denials) "
                "WHERE o.id = $1 ORDER BY a.place");
    for (uint64 row = 0; row < rows; row++) {
        Datum values[columns];
        bool nulls[columns];
        for (int i = 0; i < columns; i++)
            values[i] = Spi::value(row, i + 1, &nulls[i]);
        tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
    }
    visit.leave();
    if (rows == 0)
        ereport(ERROR,
                (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("%s has no odometer", table.name),
                 errhint("Its totals may have been left out of a restore; dp_protect() on the table rebuilds them "
                         "from the ledger.")));
    return Datum{0};
}

namespace {

// The first row that does not fit, as a text. Rows of one table have ascending ids: they are given under its lock.
const char *const misfit_sql = R"sql(
SELECT 'row ' || r.id || ': ' || r.misfit FROM (
  SELECT l.id, CASE
      WHEN l.content_version <> 1 THEN 'its content version ' || l.content_version || ' is not known'
      WHEN l.content <> dp_rdr.ledger_content(l) THEN 'its content differs from its columns'
      WHEN l.previous_hash <> lag(l.hash, 1, '\x'::bytea) OVER (ORDER BY l.id) THEN 'it does not follow the row before it'
      WHEN l.hash <> dp_rdr.ledger_hash(l.content_version, l.previous_hash, l.content) THEN 'its hash is wrong'
      WHEN l.account NOT IN ('public', 'conditional') THEN 'it belongs to no account'
    END AS misfit
  FROM dp_rdr.ledger_row l WHERE l.table_id = $1) r
WHERE r.misfit IS NOT NULL ORDER BY r.id LIMIT 1)sql";

// What the rows add up to, against the odometer and the shares of roles.
const char *const totals_sql = R"sql(
WITH entry AS (SELECT * FROM dp_rdr.ledger_row l WHERE l.table_id = $1),
account AS (
  SELECT a.name, coalesce(sum(e.epsilon), 0) AS epsilon, coalesce(sum(e.delta), 0) AS delta,
         count(e.id) FILTER (WHERE e.kind NOT IN ('selection', 'suspension')) AS releases
  FROM (VALUES ('public'), ('conditional')) a (name) LEFT JOIN entry e ON e.account = a.name GROUP BY a.name),
stored AS (
  SELECT 'public' AS name, public_epsilon AS epsilon, public_delta AS delta, public_releases AS releases
  FROM dp_rdr.odometer WHERE id = $1
  UNION ALL SELECT 'conditional', conditional_epsilon, conditional_delta, conditional_releases
  FROM dp_rdr.odometer WHERE id = $1),
role AS (
  SELECT grantee, coalesce(sum(epsilon) FILTER (WHERE account = 'public'), 0) AS public_epsilon,
         coalesce(sum(delta) FILTER (WHERE account = 'public'), 0) AS public_delta,
         coalesce(sum(epsilon) FILTER (WHERE account = 'conditional'), 0) AS conditional_epsilon,
         coalesce(sum(delta) FILTER (WHERE account = 'conditional'), 0) AS conditional_delta
  FROM entry WHERE grantee IS NOT NULL GROUP BY grantee),
share AS (SELECT * FROM dp_rdr.odometer_share WHERE id = $1)
SELECT 'the odometer is missing' WHERE NOT EXISTS (SELECT FROM dp_rdr.odometer WHERE id = $1)
UNION ALL
SELECT 'the head of the chain is not the hash of the last row' FROM dp_rdr.odometer o
WHERE o.id = $1 AND o.head <> coalesce((SELECT hash FROM entry ORDER BY id DESC LIMIT 1), '\x'::bytea)
UNION ALL
SELECT 'the totals of the account ' || a.name || ' are not the sums of its rows'
FROM account a JOIN stored s ON s.name = a.name
WHERE (a.epsilon, a.delta, a.releases) IS DISTINCT FROM (s.epsilon, s.delta, s.releases)
UNION ALL
SELECT 'the share of role ' || coalesce(r.grantee, s.grantee) || ' is not the sum of its rows'
FROM role r FULL JOIN share s ON s.grantee = r.grantee
WHERE (r.public_epsilon, r.public_delta, r.conditional_epsilon, r.conditional_delta) IS DISTINCT FROM
      (s.public_epsilon, s.public_delta, s.conditional_epsilon, s.conditional_delta))sql";

// Null when the ledger is whole.
char *first_misfit(Datum id) {
    Visit visit = Visit::read();
    ProtectedTable table{InvalidOid, id, nullptr};
    char *misfit = nullptr;
    if (run_for(visit, table, misfit_sql) > 0)
        misfit = visit.spi.text(0, 1);
    else if (run_for(visit, table, totals_sql) > 0)
        misfit = visit.spi.text(0, 1);
    visit.leave();
    return misfit;
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
