// Implements dp_audit: it names what in this database weakens the protection of the caller's tables (A32, A33, C06, C08, C25, X). The
// checks run as the owner of the extension under pinned settings, in one statement.
#include "catalog/facade.hpp"
#include "catalog/row_access_paths.hpp"
#include "sql/audit.hpp"
#include "sql/domain_members.hpp"
#include "sql/refusal.hpp"
#include "sql/result_rows.hpp"

namespace dp::sql {

using catalog::Visit;

// ---- tables that Citus distributes ----------------------------------------------------------------------------------

// They ask no other node: all of it follows from what this one knows.
static const char *const citus_subject = R"sql(
, elsewhere AS ( -- controlled tables that have rows on other nodes
  SELECT c.relation, c.name, c.owner FROM controlled c JOIN pg_dist_partition p ON p.logicalrelid = c.relation)
)sql";

static const Check citus_checks[] = {
    {"warning", R"sql( -- Citus connects as the owner
SELECT r.oid::regrole, format('owns %s and may not log in, but Citus connects to other nodes as this role: no query is answered',
       string_agg(e.name, ', ' ORDER BY e.name)), format('ALTER ROLE %s LOGIN;', r.oid::regrole)
FROM elsewhere e JOIN pg_roles r ON r.oid = e.owner AND NOT r.rolcanlogin GROUP BY r.oid)sql"},
    {"warning", R"sql( -- made where Citus did not see it
SELECT e.owner::regrole, format('owns %s, and Citus has not made this role on the other nodes',
       string_agg(e.name, ', ' ORDER BY e.name)),
       format('SELECT * FROM run_command_on_workers(%L); -- unless it is there', format('CREATE ROLE %s LOGIN', e.owner::regrole))
FROM elsewhere e
WHERE NOT EXISTS (SELECT FROM pg_dist_object o WHERE o.classid = 'pg_authid'::regclass AND o.objid = e.owner) AND e.owner <> 10
GROUP BY e.owner)sql"},
    {"warning", R"sql(
SELECT 'extension dp_rdr', 'Citus has not made it on the other nodes, which keep rows of protected tables',
       'SELECT * FROM run_command_on_workers(''CREATE EXTENSION IF NOT EXISTS dp_rdr''); -- where its library is installed'
FROM pg_extension x WHERE x.extname = 'dp_rdr' AND EXISTS (SELECT FROM elsewhere)
  AND NOT EXISTS (SELECT FROM pg_dist_object o WHERE o.classid = 'pg_extension'::regclass AND o.objid = x.oid))sql"},
    {"warning", R"sql(
SELECT 'functions of Citus', format('PUBLIC may call %s: they tell how large each shard is, or ask other nodes for their statistics',
       string_agg(DISTINCT p.proname, ', ')),
       'DO $$BEGIN EXECUTE (SELECT string_agg(format(''REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC'', oid::regprocedure), '';'') '
       'FROM pg_proc WHERE pronamespace = 11 AND proname ~ ''^(citus_(table|relation|total_relation)_size|citus_shard_(sizes|'
       'cost_by_disk_size)|run_command_on_.*)$''); END$$;'
FROM pg_proc p WHERE p.pronamespace = 'pg_catalog'::regnamespace AND EXISTS (SELECT FROM elsewhere)
  AND p.proname ~ '^(citus_(table|relation|total_relation)_size|citus_shard_(sizes|cost_by_disk_size)|run_command_on_.*)$'
  AND has_function_privilege('public', p.oid, 'EXECUTE') HAVING count(*) > 0)sql"},
    {"warning", R"sql( -- what shards answer are exact sums
SELECT 'citus.node_conninfo', format('sslmode is %s: exact sums of shards cross the network %s', c.mode,
       CASE WHEN c.mode IN ('require', 'verify-ca') THEN 'to whoever answers in a node''s name' ELSE 'as they are' END),
       'ALTER SYSTEM SET citus.node_conninfo = ''sslmode=verify-full sslrootcert=FILE''; SELECT pg_reload_conf();'
FROM (SELECT coalesce(substring(setting FROM 'sslmode\s*=\s*''?([a-z-]+)'), 'prefer') FROM pg_settings
      WHERE name = 'citus.node_conninfo') c (mode)
WHERE c.mode <> 'verify-full' AND EXISTS (SELECT FROM elsewhere))sql"},
    {"info", R"sql(
SELECT s.name, format('is %s: %s', s.value, k.finding),
       coalesce(s.remedy, format('ALTER SYSTEM SET %s = %L; %s', s.name, k.advice, s.takes_effect))
FROM setting s JOIN (VALUES
  ('citus.log_remote_commands', '^(off|false|no|0)$', 'the server log shows the statements on shards', 'off'),
  ('citus.multi_task_query_log_level', '^off$', 'the server log shows statements on several shards', 'off'),
  ('citus.stat_statements_track', '^none$', 'citus_stat_statements counts statements, with the shard that was asked', 'none'),
  ('citus.stat_tenants_track', '^none$', 'citus_stat_tenants counts queries by values of the distribution column', 'none')
) k (name, safe, finding, advice) ON k.name = s.name AND s.value !~* k.safe
WHERE EXISTS (SELECT FROM elsewhere))sql"},
    {"info", R"sql( -- the remedies of dp_audit for statistics work on this node
SELECT DISTINCT a.oid::regrole, 'has a policy and may log in on other nodes, if they let in who comes: statistics there count rows of shards',
       format('SELECT * FROM run_command_on_workers(%L);',
              format('SET citus.enable_ddl_propagation TO off; ALTER ROLE %s NOLOGIN', a.oid::regrole))
FROM analyst a JOIN elsewhere e ON e.relation = a.relation JOIN pg_roles r ON r.oid = a.oid AND r.rolcanlogin AND NOT r.rolsuper
JOIN pg_dist_object o ON o.classid = 'pg_authid'::regclass AND o.objid = a.oid)sql"},
    {"info", R"sql(
SELECT 'other nodes', format('keep rows of %s: their logs, activity and pg_stat_statements show statements on shards, and how many '
                             'groups these returned', string_agg(e.name, ', ' ORDER BY e.name)),
       'SELECT * FROM run_command_on_workers($$SELECT extversion FROM pg_extension WHERE extname = ''dp_rdr''$$); '
       '-- the library must be the same everywhere'
FROM elsewhere e HAVING count(*) > 0)sql"},
};

static const Chapter citus_chapter = {citus_subject, citus_checks, lengthof(citus_checks)};

// ---- the network and the disks --------------------------------------------------------------------------------------

// The ways into the server, and what crosses the network or lies on disks unencrypted: the papers' escrow asks for a "secure platform"
// (doc/operations.md). An earlier line that turns everybody away who comes without TLS covers later ones.
static const char *const transport_subject = R"sql(
, rule AS ( -- lines of pg_hba.conf that concern this database
  SELECT h.line_number AS line, coalesce((to_jsonb(h) ->> 'rule_number')::integer, h.line_number) AS place, -- files may include files
         h.type, h.auth_method AS method, coalesce(h.address, '') AS address,
         h.user_name && '{all}' AND h.database && '{all}' AS for_all
  FROM pg_hba_file_rules h
  WHERE h.error IS NULL AND (h.database && ARRAY['all', 'sameuser', 'samerole', 'samegroup', current_database()::text]
                             OR EXISTS (SELECT FROM unnest(h.database) d WHERE d ~ '^[/+@]'))),
plain_rule AS ( -- that let in over a network without TLS
  SELECT r.* FROM rule r
  WHERE r.type IN ('host', 'hostnossl', 'hostnogssenc') AND r.method <> 'reject'
    AND r.address NOT IN ('::1', 'localhost', 'samehost') AND r.address !~ '^127[.]'
    AND NOT EXISTS (SELECT FROM rule e WHERE e.place < r.place AND e.type IN ('host', 'hostnossl') AND e.method = 'reject'
      AND e.for_all AND (e.address IN ('all', r.address) OR e.address = '0.0.0.0' AND r.address ~ '^[0-9.]+$'
                         OR e.address = '::' AND r.address ~ ':')))
)sql";

static const Check transport_checks[] = {
    {"warning", R"sql(
SELECT 'ssl', 'is off: passwords, queries and answers cross the network as they are',
       'ALTER SYSTEM SET ssl = on; SELECT pg_reload_conf(); -- with ssl_cert_file and ssl_key_file in place'
FROM pg_settings s JOIN pg_settings l ON l.name = 'listen_addresses' AND l.setting !~ '^\s*((localhost|127[.][0-9.]+|::1)\s*,?\s*)*$'
WHERE s.name = 'ssl' AND s.setting = 'off' AND EXISTS (SELECT FROM plain_rule))sql"},
    {"warning", R"sql(
SELECT 'pg_hba.conf', format('lets in over the network without TLS: line %s', string_agg(line::text, ', ' ORDER BY line)),
       'SELECT pg_reload_conf(); -- after writing hostssl in place of host there'
FROM plain_rule WHERE EXISTS (SELECT FROM pg_settings WHERE name = 'ssl' AND setting = 'on') HAVING count(*) > 0)sql"},
    {"warning", R"sql(
SELECT 'pg_hba.conf', format('lets in whoever comes as any role that he names, a table''s owner too: line %s',
                             string_agg(line::text, ', ' ORDER BY line)),
       'SELECT pg_reload_conf(); -- after writing peer (type local) or scram-sha-256 in place of trust there'
FROM rule WHERE method = 'trust' HAVING count(*) > 0)sql"},
    {"info", R"sql(
SELECT 'server', 'whether its disks are encrypted cannot be seen from SQL: data files, write-ahead log, temporary files, swap '
                 'and backups hold rows as they are', NULL)sql"},
};

static const Chapter transport_chapter = {transport_subject, transport_checks, lengthof(transport_checks)};

// ---- dp_audit ----------------------------------------------------------------------------------------------------------

static void add_check(StringInfo sql, int place, const Check &check) {
    appendStringInfo(sql,
                     "%s SELECT %d AS place, %s AS severity, object::text, finding::text, remedy::text "
                     "FROM (%s\n) x (object, finding, remedy)\n",
                     place == 0 ? "SELECT severity, object, finding, remedy FROM (" : "UNION ALL", place,
                     quote_literal_cstr(check.severity), check.sql);
}

// Returns all checks in one statement, so that all of them see one state of the database. Severe findings come first.
static const char *all_checks() {
    const Chapter *const chapters[] = {&citus_chapter, &rights_chapter, &server_chapter, &transport_chapter};
    const size_t first = OidIsValid(get_relname_relid("pg_dist_partition", PG_CATALOG_NAMESPACE)) ? 0 : 1;
    StringInfoData names, sql;
    initStringInfo(&names);
    initStringInfo(&sql);
    for (size_t c = first; c < lengthof(chapters); c++)
        appendStringInfoString(&names, chapters[c]->subject);
    int place = 0;
    for (const char *severity : {"critical", "warning", "info"})
        for (size_t c = first; c < lengthof(chapters); c++)
            for (int i = 0; i < chapters[c]->nchecks; i++)
                if (strcmp(chapters[c]->checks[i].severity, severity) == 0)
                    add_check(&sql, place++, chapters[c]->checks[i]);
    return psprintf("%s%s) x ORDER BY place, object COLLATE \"C\", finding COLLATE \"C\", remedy COLLATE \"C\"",
                    names.data, sql.data);
}

DP_CALL(dp_audit) {
    Oid caller = GetUserId(), owner = border::extension_owner();
    const ResultRows rows(fcinfo);
    if (!superuser_arg(owner)) {
        // Every look at the catalog runs as this role: it cannot be trusted, and may not even be able to look.
        rows.put("critical", "schema dp_rdr",
                 psprintf("belongs to %s, who is not a superuser", quote_identifier(GetUserNameFromId(owner, false))),
                 psprintf("ALTER SCHEMA dp_rdr OWNER TO %s;",
                          quote_identifier(GetUserNameFromId(BOOTSTRAP_SUPERUSERID, false))));
        return Datum(0);
    }
    Visit visit = Visit::read();
    bool controls = run(visit, psprintf("%sSELECT FROM controlled", catalog::subject_sql()), caller) > 0;
    if (!controls && !superuser_arg(caller))
        refuse_right("must be owner of a protected table", "The controller of a table is its owner.");
    rows.put_all(visit, run(visit, psprintf("%s%s", catalog::subject_sql(), all_checks()), caller));
    visit.leave();
    return Datum(0);
}

// ---- for the checks ------------------------------------------------------------------------------------------------

DP_FUNCTION(dp_is_facade) {
    bool is_facade = false;
    // For the lock on the view, which a look does not keep.
    const char *refusal =
        refusal_of([&] { is_facade = catalog::table_of_facade(PG_GETARG_OID(0)) == PG_GETARG_OID(1); });
    PG_RETURN_BOOL(refusal == nullptr && is_facade);
}

DP_FUNCTION(dp_facade_fault) {
    Oid view = PG_GETARG_OID(0), relation = PG_GETARG_OID(1);
    const ErrorData *refusal = refusal_by([&] {
        LockRelationOid(view, AccessShareLock);
        LockRelationOid(relation, AccessShareLock);
        catalog::check_protectable(relation);
        catalog::map_columns(view, relation);
        catalog::UnitPath *path = declared_unit(relation);
        if (path != nullptr)
            (void)catalog::check_unit_path(path);
    });
    return text_of_fault(fcinfo, refusal, "%s\n%s");
}

} // namespace dp::sql
