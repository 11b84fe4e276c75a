// Checks of dp_audit on tables that Citus distributes. They ask no other node: all of it follows from what this one knows.
#include "sql/audit.hpp"

namespace dp::sql {

static const char *const subject_sql = R"sql(
, elsewhere AS ( -- controlled tables that have rows on other nodes
  SELECT c.relation, c.name, c.owner FROM controlled c JOIN pg_dist_partition p ON p.logicalrelid = c.relation)
)sql";

static const Check checks[] = {
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

const Chapter citus_chapter = {subject_sql, checks, sizeof checks / sizeof checks[0]};

} // namespace dp::sql
