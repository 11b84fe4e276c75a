// Checks of dp_audit: further ways to the rows, statistics and settings of the server, and what an owner should know.
#include "sql/audit.hpp"

namespace dp::sql {

static const Check checks[] = {
    // ---- other ways, and ways for those who are trusted ----
    {"warning", R"sql( -- rights to write: rows that somebody made, counted like all others
SELECT g.oid::regclass, format('%s has %s', g.grantee, string_agg(g.rights, ', ' ORDER BY g.rights)),
       format('REVOKE %s ON %s FROM %s;', string_agg(g.rights, ', ' ORDER BY g.rights), g.oid::regclass, g.grantee)
FROM granted g WHERE g.privilege NOT IN ('SELECT', 'MAINTAIN', 'REFERENCES', 'TRIGGER') GROUP BY g.oid, g.grantee)sql"},
    {"warning", R"sql( -- powerful roles that are no analysts
SELECT DISTINCT p.name, p.power, p.remedy FROM power p WHERE p.oid NOT IN (SELECT oid FROM analyst))sql"},
    {"warning", R"sql( -- functions whose text names the table, or what reads it: a string body leaves no dependency
SELECT DISTINCT d.name,
       format('may read %s with the rights of %s, and %s may call it: its text has the name', p.oid::regclass,
              d.owner::regrole, d.caller),
       format('REVOKE EXECUTE ON ROUTINE %s FROM %s;', d.name, d.caller)
FROM definer d JOIN (SELECT oid FROM part UNION SELECT oid FROM reader) p ON has_any_column_privilege(d.owner, p.oid, 'SELECT')
JOIN pg_class c ON c.oid = p.oid
WHERE NOT EXISTS (SELECT FROM uses u WHERE u.function = d.oid AND u.relation = p.oid)
  AND d.source ~* ('(^|\W)' || regexp_replace(c.relname, '(\W)', '\\\1', 'g') || '(\W|$)'))sql"},
    {"warning", R"sql( -- rules that hand rows on
SELECT r.ev_class::regclass, format('its rule %I reads or copies rows of %s', r.rulename, x.relation::regclass),
       format('DROP RULE %I ON %s; -- deletes it', r.rulename, r.ev_class::regclass)
FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class JOIN (
  SELECT oid, rulename, relation FROM reader
  UNION SELECT p.oid, w.rulename, p.relation FROM part p JOIN pg_rewrite w ON w.ev_class = p.oid
) x ON x.oid = r.ev_class AND x.rulename = r.rulename WHERE c.relkind IN ('r', 'p') OR r.ev_type <> '1')sql"},
    {"warning", R"sql( -- subscribers get the rows
SELECT format('publication %I', b.pubname),
       format('sends the rows of %s to its subscribers', string_agg(g.name, ', ' ORDER BY g.name)),
       CASE WHEN bool_and(g.named)
            THEN format('ALTER PUBLICATION %I DROP TABLE %s;', b.pubname, string_agg(g.name, ', ' ORDER BY g.name))
            ELSE format('DROP PUBLICATION IF EXISTS %I; -- deletes it', b.pubname) END
FROM pg_publication b, LATERAL (
  SELECT p.oid::regclass::text, EXISTS (SELECT FROM pg_publication_rel r WHERE r.prpubid = b.oid AND r.prrelid = p.oid)
  FROM (SELECT DISTINCT oid FROM part) p JOIN pg_get_publication_tables(b.pubname) t ON t.relid = p.oid) g (name, named)
GROUP BY b.pubname)sql"},
    {"warning", R"sql( -- subscribers get the ledger
SELECT format('publication %I', b.pubname),
       'sends the ledger, policies and stored answers of dp_rdr to its subscribers',
       format('DROP PUBLICATION IF EXISTS %I; -- then one FOR TABLE, with the tables that it is for', b.pubname)
FROM pg_publication b WHERE EXISTS (
  SELECT FROM pg_get_publication_tables(b.pubname) t JOIN pg_class c ON c.oid = t.relid
  WHERE c.relnamespace = 'dp_rdr'::regnamespace))sql"},
    {"warning", R"sql( -- a foreign key tells him who writes the referring table which keys exist
SELECT k.conrelid::regclass,
       format('its foreign key %I tells who writes to it which keys of %s exist', k.conname, k.confrelid::regclass),
       format('ALTER TABLE %s DROP CONSTRAINT %I; -- deletes it', k.conrelid::regclass, k.conname)
FROM pg_constraint k JOIN part p ON p.oid = k.confrelid JOIN pg_class c ON c.oid = k.conrelid
WHERE k.contype = 'f' AND k.conparentid = 0 AND (c.relowner <> p.owner
  OR EXISTS (SELECT FROM aclexplode(c.relacl) a WHERE a.grantee <> p.owner AND a.privilege_type IN ('INSERT', 'UPDATE'))
  OR EXISTS (SELECT FROM pg_attribute t, aclexplode(t.attacl) a WHERE t.attrelid = c.oid AND a.grantee <> p.owner
             AND a.privilege_type IN ('INSERT', 'UPDATE'))))sql"},
    {"warning", R"sql( -- and who deletes or renames a key that is referred to, which of them are used
SELECT k.confrelid::regclass,
       format('the foreign key %I of %s tells %s, who may change it, which of its keys are used there', k.conname,
              k.conrelid::regclass, r.name),
       CASE WHEN c.relowner = r.oid THEN format('ALTER TABLE %s OWNER TO %s;', k.confrelid::regclass, p.owner::regrole)
            ELSE format('REVOKE UPDATE, DELETE ON %s FROM %s;', k.confrelid::regclass, r.name) END
FROM pg_constraint k JOIN part p ON p.oid = k.conrelid JOIN pg_class c ON c.oid = k.confrelid
JOIN role r ON NOT r.super AND r.oid <> p.owner AND (r.oid = c.relowner OR r.oid IN (
  SELECT a.grantee FROM aclexplode(c.relacl) a WHERE a.privilege_type IN ('UPDATE', 'DELETE')
  UNION ALL SELECT a.grantee FROM pg_attribute t, aclexplode(t.attacl) a
  WHERE t.attrelid = c.oid AND a.privilege_type = 'UPDATE'))
WHERE k.contype = 'f' AND k.conparentid = 0 AND k.confrelid NOT IN (SELECT oid FROM part))sql"},
    {"warning", R"sql( -- which number is next
SELECT q.oid::regclass, format('counts the rows of %s, and %s may look', m.oid::regclass, r.name),
       format('REVOKE ALL ON SEQUENCE %s FROM %s;', q.oid::regclass, r.name)
FROM (SELECT DISTINCT oid, owner FROM part) m
JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = m.oid AND d.classid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
JOIN pg_class q ON q.oid = d.objid AND q.relkind = 'S', aclexplode(q.relacl) a
JOIN role r ON r.oid = a.grantee AND NOT r.super WHERE a.grantee <> m.owner)sql"},
    {"warning", R"sql( -- foreign tables over it read as whoever it is mapped to
SELECT DISTINCT format('foreign server %I', f.srvname),
       format('leads back to this database, and %s may use it as the user of a mapping', r.name),
       format('REVOKE USAGE ON FOREIGN SERVER %I FROM %s; -- if that user sees the rows', f.srvname, r.name)
FROM pg_foreign_server f, aclexplode(f.srvacl) a JOIN role r ON r.oid = a.grantee AND NOT r.super
WHERE a.grantee <> f.srvowner AND 'dbname=' || current_database() = ANY (f.srvoptions)
  AND EXISTS (SELECT FROM pg_user_mapping u WHERE u.umserver = f.oid AND u.umuser IN (0, a.grantee)))sql"},
    {"warning", R"sql( -- code that sees each changed row, and may change others
SELECT t.tgrelid::regclass, format('its trigger %I sees the rows that change', t.tgname),
       format('DROP TRIGGER %I ON %s; -- deletes it', t.tgname, t.tgrelid::regclass)
FROM pg_trigger t WHERE t.tgrelid IN (SELECT oid FROM part) AND NOT t.tgisinternal AND t.tgparentid = 0
  AND t.tgfoid <> 'dp_rdr.keep_cell()'::regprocedure)sql"},
    {"critical", R"sql( -- who changes his cell has the totals of both
SELECT p.oid::regclass, CASE
         WHEN g.oid IS NULL THEN 'has a partition, and no trigger keeps its rows in their cells'
         WHEN g.tgenabled <> 'A' THEN format('its trigger %I does not fire always', g.tgname)
         ELSE format('its trigger %I fires behind %I, and may move a row to another cell', o.tgname, g.tgname) END,
       CASE WHEN g.oid IS NULL AND p.oid <> c.relation::oid THEN format('ALTER TABLE %s NO INHERIT %s;', p.oid::regclass, c.relation::regclass)
            WHEN g.oid IS NULL THEN format('SELECT dp_unset_partition(%L); -- or dp_set_partition(), which makes the trigger', c.relation::regclass)
            WHEN g.tgenabled <> 'A' THEN format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I;', p.oid::regclass, g.tgname)
            ELSE format('ALTER TRIGGER %I ON %s RENAME TO %I;', o.tgname, o.tgrelid::regclass, 'a' || o.tgname) END
FROM dp_rdr.partition c JOIN part p ON p.relation = c.relation::oid
LEFT JOIN pg_trigger g ON g.tgrelid = p.oid AND g.tgfoid = 'dp_rdr.keep_cell()'::regprocedure
LEFT JOIN LATERAL (
  SELECT t.tgname, t.tgrelid FROM pg_trigger t
  WHERE t.tgrelid = p.oid AND NOT t.tgisinternal AND t.tgtype & 19 = 19 AND t.tgname::text COLLATE "C" > g.tgname::text
  ORDER BY t.tgname LIMIT 1) o ON true
WHERE c.column_name IS NOT NULL AND c.place IS NULL
  AND (g.oid IS NULL OR g.tgenabled <> 'A' OR o.tgname IS NOT NULL))sql"},
    {"warning", R"sql( -- functions that are reached instead of ours when their arguments match better
SELECT p.oid::regprocedure, 'has the name of a function of dp_rdr and may be called in its place',
       format('DROP ROUTINE %s; -- deletes it', p.oid::regprocedure)
FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace AND n.nspname !~ '^pg_temp_'
WHERE ('pg_proc'::regclass, p.oid) NOT IN (SELECT classid, objid FROM own_object)
  AND p.proname IN (SELECT o.proname FROM own_object m JOIN pg_proc o ON m.classid = 'pg_proc'::regclass AND o.oid = m.objid
                    WHERE o.pronamespace = 'pg_catalog'::regnamespace))sql"},

    // ---- partitions on other servers ----
    {"warning", R"sql( -- he may have the owner's connections, passwords and all, go elsewhere
SELECT DISTINCT format('foreign server %I', f.srvname),
       format('belongs to %s, who may let it point elsewhere', f.srvowner::regrole),
       format('ALTER SERVER %I OWNER TO %s;', f.srvname, f.owner::regrole)
FROM remote f JOIN pg_roles r ON r.oid = f.srvowner AND NOT r.rolsuper WHERE f.srvowner <> f.owner)sql"},
    {"warning", R"sql( -- what a keeper waits for cannot be interrupted
SELECT DISTINCT format('foreign server %I', f.srvname), 'has no connect_timeout: while it is away each question holds a keeper',
       format('ALTER SERVER %I OPTIONS (ADD connect_timeout ''2'');', f.srvname)
FROM remote f WHERE NOT EXISTS (SELECT FROM unnest(f.srvoptions) o WHERE o ~ '^connect_timeout=[1-9]'))sql"},
    {"warning", R"sql( -- exact sums on the way
SELECT DISTINCT format('foreign server %I', f.srvname), 'exact sums and keys come from it over a network, and nothing says that they are encrypted',
       format('ALTER SERVER %I OPTIONS (ADD sslmode ''verify-full'');', f.srvname)
FROM remote f WHERE NOT EXISTS (SELECT FROM unnest(f.srvoptions) o
  WHERE o ~ '^sslmode=(require|verify-ca|verify-full)$' OR o ~ '^host=(/|localhost$|127[.]|::1$)'))sql"},
    {"warning", R"sql( -- keys in which equal values may stand twice
SELECT i.indexrelid::regclass, format('is no key of %s until it is made again: %s has version %s now, and %s is recorded',
         i.indrelid::regclass, CASE v.oid WHEN 100 THEN 'the collation of the database' ELSE 'collation ' || v.oid::regcollation END,
         coalesce(v.actual, 'none'), coalesce(v.recorded, 'none')),
       format('REINDEX INDEX %s; -- when all indexes of that collation are made again: %s', i.indexrelid::regclass,
              CASE v.oid WHEN 100 THEN format('ALTER DATABASE %I REFRESH COLLATION VERSION;', current_database())
              ELSE format('ALTER COLLATION %s REFRESH VERSION;', v.oid::regcollation) END)
FROM (SELECT DISTINCT oid FROM part) p JOIN pg_index i ON i.indrelid = p.oid AND i.indisunique,
     LATERAL (SELECT l.oid, CASE l.oid WHEN 100 THEN d.datcollversion ELSE l.collversion END,
                     CASE l.oid WHEN 100 THEN pg_database_collation_actual_version(d.oid) ELSE pg_collation_actual_version(l.oid) END
              FROM unnest(i.indcollation) o JOIN pg_collation l ON l.oid = o JOIN pg_database d ON d.datname = current_database())
     v (oid, recorded, actual)
WHERE v.recorded IS DISTINCT FROM v.actual AND NOT EXISTS (SELECT FROM pg_inherits h WHERE h.inhrelid = i.indexrelid))sql"},
    {"info", R"sql( -- rows that nobody has verified again for long
SELECT c.name, format('its ledger was last verified from its first row on %s', to_char(timezone('UTC', v.whole_at), 'YYYY-MM-DD')),
       format('SELECT dp_verify_ledger(%L, "full" => true);', c.name)
FROM controlled c JOIN dp_rdr.verified_ledger v ON v.table_id = c.id
WHERE c.first AND v.whole_at < clock_timestamp() - interval '90 days')sql"},
    {"info", R"sql( -- rows that are in no answer
SELECT c.name, format('rows whose %I is NULL belong to nobody, and are in no answer', a.attname),
       format('ALTER TABLE %s ALTER COLUMN %I SET NOT NULL;', c.name, a.attname)
FROM controlled c JOIN dp_rdr.protected_table t ON t.relation = c.relation
JOIN pg_attribute a ON a.attrelid = c.relation AND a.attname = ANY (t.unit) AND a.attnum > 0 AND (NOT a.attnotnull OR EXISTS (
  SELECT FROM pg_constraint n WHERE n.contype = 'n' AND n.conrelid = a.attrelid AND n.conkey = ARRAY[a.attnum] AND NOT n.convalidated))
UNION ALL
SELECT c.name, format('rows whose (%s) no row of %s has belong to nobody, and are in no answer', n.unit, t.parent),
       format('ALTER TABLE %s ADD FOREIGN KEY (%s) REFERENCES %s (%s);', c.name, n.unit, t.parent, n.key)
FROM controlled c JOIN dp_rdr.protected_table t ON t.relation = c.relation AND t.parent_key IS NOT NULL,
     LATERAL (SELECT string_agg(quote_ident(u), ', ' ORDER BY place), string_agg(quote_ident(k), ', ' ORDER BY place)
              FROM unnest(t.unit, t.parent_key) WITH ORDINALITY x (u, k, place)) n (unit, key)
WHERE EXISTS (SELECT FROM pg_class p WHERE p.oid = t.parent) AND NOT EXISTS (
  SELECT FROM pg_constraint f WHERE f.contype = 'f' AND f.conrelid = c.relation AND f.confrelid = t.parent AND f.convalidated
  AND cardinality(f.conkey) = cardinality(t.unit) AND NOT EXISTS (
    SELECT FROM pg_attribute a WHERE a.attrelid = c.relation AND a.attnum = ANY (f.conkey) AND a.attname <> ALL (t.unit))))sql"},
    {"info", R"sql( -- what is seen there
SELECT format('foreign server %I', f.srvname),
       format('its administrators see the rows of %s, and its log, activity and pg_stat_statements show the conditions of questions and how many groups they had',
              string_agg(f.oid::regclass::text, ', ' ORDER BY f.oid::regclass::text)),
       'ALTER ROLE ... SET log_statement = ''none''; -- there, for the user of the mapping'
FROM remote f GROUP BY f.srvname)sql"},

    // ---- statistics of the server ----
    // One call of one of them, or one look at a view that calls it, shows rows, and what others read, write and are charged.
    {"warning", R"sql(
SELECT v.object, format('PUBLIC may call %s: they %s', coalesce(v.called, string_agg(DISTINCT p.proname, ', ')), v.what),
       format('DO $$BEGIN EXECUTE (SELECT string_agg(format(''REVOKE EXECUTE ON FUNCTION %%s FROM PUBLIC'', oid::regprocedure), '';'') '
              'FROM pg_proc WHERE pronamespace = 11 AND proname ~ ''%s''); END$$;', v.functions)
FROM pg_proc p JOIN (VALUES
  ('statistics functions', '^pg_stat_get_(xact_)?(numscans|tup|blocks|live|dead|mod|ins)', 'them, and read views like pg_stat_all_tables',
   'count the rows of every table and each change of one, charges and denials too'),
  ('statistics functions', '^pg_stat_get_(buf_|bgw|checkp|slru|(backend_)?(io|wal)$)',
   'them, and read views like pg_stat_bgwriter and pg_stat_io', 'count the buffers that reading long values took'),
  ('statistics functions', '^pg_stat_get_(db|progress)_', 'them, and read views like pg_stat_database',
   'count what all sessions read and write'),
  ('size functions', '^pg_(table(space)?|indexes|(total_)?relation|database)_size$', NULL, 'tell how large every table is')
) v (object, functions, called, what) ON p.proname ~ v.functions
WHERE p.pronamespace = 'pg_catalog'::regnamespace AND has_function_privilege('public', p.oid, 'EXECUTE')
GROUP BY v.object, v.functions, v.called, v.what)sql"},
    {"warning", R"sql( -- a condition on them is asked of what they hide, and EXPLAIN ANALYZE counts it
SELECT 'statistics views', format('PUBLIC may read %s: EXPLAIN ANALYZE tells how many distinct values and NULLs any column has',
                                  string_agg(c.relname, ', ' ORDER BY c.relname)),
       format('REVOKE SELECT ON %s FROM PUBLIC;', string_agg(c.oid::regclass::text, ', ' ORDER BY c.relname))
FROM pg_class c WHERE c.relnamespace = 'pg_catalog'::regnamespace AND c.relname IN ('pg_stats', 'pg_stats_ext', 'pg_stats_ext_exprs')
  AND has_any_column_privilege('public', c.oid, 'SELECT') HAVING count(*) > 0)sql"},
    // Extensions that show what planner and executor met. A view's function is called as whoever reads the view.
    {"warning", R"sql(
SELECT e.extname, format('PUBLIC may call %s: %s', string_agg(DISTINCT p.proname, ', '), v.finding),
       format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC;', string_agg(p.oid::regprocedure::text, ', ' ORDER BY p.oid::regprocedure::text))
FROM pg_extension e JOIN (VALUES
  ('hypopg', '^hypopg_(create_index|relation_size)$',
   'the size of an index that is not there tells how many rows the planner expects to meet a condition'),
  ('pg_qualstats', '^pg_qualstats(_names|_example_quer.*)?$', 'it shows constants of others'' statements, and how many rows met them'),
  ('pg_stat_statements', '^pg_stat_statements$',
   'it tells how many rows each statement returned; for dp_risk_records() that is the number of distinct records'),
  ('pg_stat_monitor', '^pg_stat_monitor', 'it tells how many rows each statement returned'),
  ('pg_stat_kcache', '^pg_stat_kcache$', 'it tells how much each statement read and wrote'),
  ('pgfincore', '^pgfincore', 'it tells how large every table is, and what of it was read'),
  ('pg_buffercache', '^pg_buffercache_(pages|summary|usage_counts)$', 'it tells what of every table was read'),
  ('pg_freespacemap', '^pg_freespace$', 'it tells how full every table is'),
  ('pg_visibility', '^pg_(visib|check)', 'it tells how large every table is, and what changes'),
  ('pgstattuple', '^pg(stat|_relpages)', 'it counts the rows of every table'),
  ('pg_walinspect', '^pg_get_wal', 'it shows every change')
) v (extension, functions, finding) ON v.extension = e.extname
JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.classid = 'pg_proc'::regclass
JOIN pg_proc p ON p.oid = d.objid AND p.proname ~ v.functions AND has_function_privilege('public', p.oid, 'EXECUTE')
GROUP BY e.extname, v.finding)sql"},
    {"info", R"sql(
SELECT 'pg_class', 'reltuples and relpages tell everybody how many rows a table has, since its last VACUUM or ANALYZE',
       'DO $$BEGIN EXECUTE (SELECT format(''REVOKE SELECT ON pg_class FROM PUBLIC; GRANT SELECT (tableoid, %s) ON pg_class '
       'TO PUBLIC'', string_agg(attname, '','')) FROM pg_attribute WHERE attrelid = 1259 AND attnum > 0 '
       'AND attname !~ ''^rel(tup|pag|all)''); END$$; -- and psql''s \dt+ fails'
WHERE has_column_privilege('public', 'pg_class', 'reltuples', 'SELECT'))sql"},

    // ---- settings ----
    {"warning", R"sql(
SELECT s.name, format('is %s: %s', s.value, k.finding),
       coalesce(s.remedy, format('ALTER SYSTEM SET %s = %L; %s', s.name, k.advice, s.takes_effect))
FROM setting s JOIN (VALUES
  ('fsync', '^(on|true|yes|1)$', 'a crash can lose charges of answers that were given', 'on'),
  ('full_page_writes', '^(on|true|yes|1)$', 'a crash can damage the ledger', 'on'),
  ('auto_explain.log_min_duration', '^-1', 'plans and row counts of internal statements get into the server log', '-1'),
  ('pg_stat_statements.track', '^(top|none)$', 'the row counts of statements inside functions are shown to everybody', 'top')
) k (name, safe, finding, advice) ON k.name = s.name AND s.value !~* k.safe)sql"},
    {"warning", R"sql( -- a query failed while it read rows: there may be a way to make a row decide about errors
SELECT f.name, format('role %s (session of %s) is suspended under the policy of %s, since one of its queries failed',
                      s.role::text, s.session_role::text, s.grantee::text),
       format('SELECT dp_resume(%L, %L); -- once the query of its ledger row of kind suspension is understood', f.name,
              s.grantee::text)
FROM facade f JOIN dp_rdr.suspension s ON s.view = f.view)sql"},
    {"info", R"sql(
SELECT s.name, format('is %s: %s', s.value, k.finding),
       coalesce(s.remedy, format('ALTER SYSTEM SET %s = %L; %s', s.name, k.advice, s.takes_effect))
FROM setting s JOIN (VALUES
  ('log_statement', '^none$', 'the server log shows statements, with the values in them', 'none'),
  ('log_min_duration_statement', '^-1', 'the server log shows statements and how long they took', '-1'),
  ('log_min_duration_sample', '^-1', 'the server log shows statements and how long they took', '-1'),
  ('log_duration', '^(off|false|no|0)$', 'the server log shows how long statements took', 'off'),
  ('log_parameter_max_length_on_error', '^0', 'the server log shows the parameters of failed statements', '0'),
  ('log_temp_files', '^-1', 'the server log shows the sizes of sorts and groupings', '-1'),
  ('pg_stat_statements.track_planning', '^(off|false|no|0)$', 'the planning of statements is measured', 'off'),
  ('track_functions', '^none$', 'the calls of functions in the controllers'' statements are counted', 'none'),
  ('synchronous_commit', '^(on|local|remote_write|remote_apply|true|yes|1)$',
   'a crash can undo a dp_revoke() or a smaller total (charges are safe)', 'on'),
  ('max_worker_processes', '^([4-9]|\d\d+)$',
   'half of them answer analysts: while the one reads a large table, all others wait for it', '8')
) k (name, safe, finding, advice) ON k.name = s.name AND s.value !~* k.safe)sql"},
    {"info", R"sql(
SELECT 'log_parameter_max_length', format('is %s: statements are logged, with the values of their parameters', p.value),
       coalesce(p.remedy, 'ALTER SYSTEM SET log_parameter_max_length = 0; SELECT pg_reload_conf();')
FROM setting p WHERE p.name = 'log_parameter_max_length' AND p.value !~ '^0' AND EXISTS (
  SELECT FROM setting s WHERE s.name = 'log_statement' AND s.value <> 'none'
  OR s.name IN ('log_min_duration_statement', 'log_min_duration_sample') AND s.value !~ '^-1'))sql"},
    {"info", R"sql(
SELECT 'session_preload_libraries',
       'the first statement of a connection on a restricted view only loads dp_rdr, and is refused',
       format('ALTER DATABASE %I SET session_preload_libraries = %s;', current_database(), concat_ws(', ', (
         SELECT string_agg(quote_ident(btrim(x, ' "')), ', ') FROM setting s, unnest(string_to_array(s.value, ',')) x
         WHERE s.name = 'session_preload_libraries' AND btrim(x, ' "') <> ''), 'dp_rdr'))
WHERE NOT EXISTS (SELECT FROM setting s WHERE s.value ~ '\mdp_rdr\M'
                  AND s.name IN ('shared_preload_libraries', 'session_preload_libraries')))sql"},

    // ---- to know ----
    {"info", R"sql( -- controllers
SELECT m.member::regrole,
       format('may act for %s, the owner of %s', c.owner::regrole, string_agg(DISTINCT c.name, ', ')),
       format('REVOKE %s FROM %s;', m.via::regrole, m.member::regrole)
FROM controlled c JOIN member m ON m.role = c.owner JOIN pg_roles r ON r.oid = m.member AND NOT r.rolsuper
WHERE NOT EXISTS (SELECT FROM analyst a WHERE a.relation = c.relation AND a.oid = m.member)
GROUP BY m.member, m.via, c.owner)sql"},
    {"info", R"sql( -- views and copies that nobody else may read
SELECT v.name, format('%s %s', v.reads, v.relation::regclass), format('DROP %s %s; -- deletes it', v.kind, v.name)
FROM reading_view v WHERE NOT EXISTS (SELECT FROM exposed_view x WHERE x.oid = v.oid))sql"},
    {"info", R"sql( -- functions that ask under the policy of their owner
SELECT d.name,
       format('asks %s with the rights and the policy of %s, and %s may call it', f.name, d.owner::regrole, d.caller),
       format('REVOKE EXECUTE ON ROUTINE %s FROM %s;', d.name, d.caller)
FROM definer d JOIN uses u ON u.function = d.oid JOIN facade f ON f.view = u.relation)sql"},
    {"info", R"sql( -- rights on tables to come
SELECT format('default privileges of %s', d.defaclrole::regrole),
       format('new tables, and so new partitions, are given to %s', r.name),
       format('ALTER DEFAULT PRIVILEGES FOR ROLE %s%s REVOKE ALL ON TABLES FROM %s;', d.defaclrole::regrole,
              ' IN SCHEMA ' || nullif(d.defaclnamespace, 0)::regnamespace, r.name)
FROM pg_default_acl d JOIN role r ON r.oid IN (SELECT a.grantee FROM aclexplode(d.defaclacl) a)
WHERE d.defaclobjtype = 'r' AND d.defaclrole IN (SELECT owner FROM controlled) AND r.oid <> d.defaclrole)sql"},
    {"info", R"sql( -- a restricted view that refuses every query
SELECT f.name, 'answers no query: ' || f.fault,
       CASE WHEN f.hint ~ 'dp_refresh' THEN format('SELECT dp_refresh(%L);', f.name)
            WHEN f.hint ~ 'dp_unprotect' THEN
            format('SELECT dp_unprotect(%L); -- drops it; then dp_protect() and dp_grant() again', f.name)
            ELSE '-- ' || f.hint END
FROM (SELECT x.name, split_part(x.fault, E'\n', 1) AS fault, split_part(x.fault, E'\n', 2) AS hint
      FROM (SELECT name, dp_rdr.facade_fault(view, relation) AS fault FROM facade
            WHERE exists AND dp_rdr.is_facade(view, relation)) x WHERE x.fault IS NOT NULL) f)sql"},
    {"info", R"sql( -- a public table that refuses every query
SELECT x.name, format('answers no query as a public table of %s: %s', x.table_name, split_part(x.fault, E'\n', 1)),
       '-- ' || split_part(x.fault, E'\n', 2)
FROM (SELECT p.relation::text AS name, c.name AS table_name, dp_rdr.public_fault(p.relation, c.relation) AS fault
      FROM controlled c JOIN dp_rdr.public_table p ON p.domain = c.id
      WHERE c.first AND EXISTS (SELECT FROM pg_class o WHERE o.oid = p.relation)) x WHERE x.fault IS NOT NULL)sql"},
    {"info", R"sql( -- a public table: what is written there from private rows is told
SELECT p.relation, format('is a public table of %s, and %s may write it: its rows must not come from private ones', c.name,
                          string_agg(DISTINCT r.name, ', ')),
       format('REVOKE INSERT, UPDATE ON %s FROM %s; -- unless it is theirs to fill', p.relation, string_agg(DISTINCT r.name, ', '))
FROM controlled c JOIN dp_rdr.public_table p ON p.domain = c.id JOIN pg_class o ON o.oid = p.relation, aclexplode(o.relacl) a
JOIN role r ON r.oid = a.grantee AND NOT r.super
WHERE c.first AND a.privilege_type IN ('INSERT', 'UPDATE') AND a.grantee NOT IN (o.relowner, c.owner)
GROUP BY p.relation, c.name)sql"},
    {"info", R"sql( -- columns that came later
SELECT f.name, format('lacks columns that %s has got since: %s', f.table_name,
                      string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum)), format('SELECT dp_refresh(%L);', f.name)
FROM facade f JOIN dp_rdr.restricted_view v ON v.view = f.view
JOIN pg_attribute a ON a.attrelid = f.relation AND a.attnum > 0 AND NOT a.attisdropped
  AND (v.columns IS NULL OR a.attname = ANY (v.columns))
WHERE f.exists AND NOT EXISTS (SELECT FROM pg_attribute o WHERE o.attrelid = f.view AND o.attname = a.attname)
GROUP BY f.name, f.table_name)sql"},
    {"info", R"sql( -- one row is one individual, as far as the keys tell
SELECT c.name, h.finding, h.remedy
FROM controlled c, dp_rdr.people_hints(c.relation) h WHERE h.severity = 'info')sql"},
    {"info", R"sql( -- roles that are refused for having too many policies
SELECT p.name, format('%s inherits the policies of %s and has none of its own', m.member::regrole,
                      string_agg(DISTINCT p.grantee_name, ', ')),
       format('SELECT dp_grant(%L, %L, tau => 0.95);', p.name, m.member::regrole)
FROM permit p JOIN member m ON m.role = p.grantee JOIN pg_roles r ON r.oid = m.member AND NOT r.rolsuper
WHERE pg_has_role(m.member, p.grantee::oid, 'USAGE')
  AND NOT EXISTS (SELECT FROM permit o WHERE o.view = p.view AND o.grantee = m.member)
GROUP BY p.name, m.member HAVING count(DISTINCT p.grantee) > 1)sql"},
    {"info", R"sql( -- a preference that no answer meets
SELECT p.name, format('tau = 1 denies %s every query', p.grantee_name),
       format('SELECT dp_grant(%L, %L, tau => 0.95);', p.name, p.grantee_name)
FROM permit p WHERE p.tau = 1 AND p.exists)sql"},
    {"info", R"sql( -- row-level security is not ours
SELECT p.oid::regclass, 'its row-level security does not apply to answers',
       format('ALTER TABLE %s DISABLE ROW LEVEL SECURITY; -- and use the filter of dp_protect()', p.oid::regclass)
FROM part p JOIN pg_class c ON c.oid = p.oid AND c.relrowsecurity AND NOT c.relforcerowsecurity)sql"},
    {"info", R"sql( -- noise as wide as the bounds
SELECT format('%s.%I', c.name, b.column_name),
       format('its bounds from %s to %s make sums and averages useless', b.lower, b.upper),
       format('SELECT dp_set_bounds(%L, %L, lower, upper); -- public bounds that fit', c.name, b.column_name)
FROM controlled c JOIN dp_rdr.column_bounds b ON b.relation = c.relation
WHERE greatest(abs(b.lower), abs(b.upper)) > 1e12
  AND NOT EXISTS (SELECT FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid AND t.typcategory = 'D'
                  WHERE a.attrelid = c.relation AND a.attname = b.column_name))sql"},
    {"info", R"sql( -- a new column of that name would have them
SELECT format('%s.%I', c.name, d.column_name), format('%s are declared for a column that does not exist any more', d.what),
       coalesce((SELECT format('SELECT dp_refresh(%L);', min(f.name)) FROM facade f WHERE f.relation = c.relation AND f.exists
                 HAVING count(*) > 0),
                format('DELETE FROM dp_rdr.%I WHERE relation::oid = %s AND column_name = %L;', d.catalog, c.relation, d.column_name))
FROM controlled c JOIN (SELECT relation, column_name, 'bounds', 'column_bounds' FROM dp_rdr.column_bounds
  UNION ALL SELECT relation, column_name, 'groups', 'column_groups' FROM dp_rdr.column_groups
) d (relation, column_name, what, catalog) ON d.relation = c.relation
WHERE NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.relation AND a.attname = d.column_name AND a.attnum > 0
                  AND NOT a.attisdropped))sql"},
    {"info", R"sql( -- for who administers the server: missing where a dump was restored, or made anew and not refreshed
SELECT x.name, format('%s names it, and it does not exist', string_agg(DISTINCT x.catalog, ', ')),
       '-- bring it back and call dp_refresh() for its view, or let the next dp_protect() of any table forget it'
FROM (SELECT coalesce(t.name, t.relation::text), 'dp_rdr.protected_table' FROM dp_rdr.protected_table t
      WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = t.relation)
      UNION ALL
      SELECT coalesce(v.name, v.view::text), 'dp_rdr.restricted_view' FROM dp_rdr.restricted_view v
      WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = v.view)
      UNION ALL
      SELECT format('relation %s', p.relation), 'dp_rdr.public_table' FROM dp_rdr.public_table p
      WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = p.relation)) x (name, catalog)
WHERE (SELECT rolsuper FROM pg_roles WHERE oid = $1) GROUP BY x.name ORDER BY x.name COLLATE "C")sql"},
    {"info", R"sql( -- for who administers the server: a new role may get the number of a dropped one
SELECT 'dp_rdr', 'dp_rdr.request has rows of roles that do not exist any more: what gets their number would inherit them',
       '-- the next dp_protect() takes care of them'
WHERE (SELECT rolsuper FROM pg_roles WHERE oid = $1) AND EXISTS (SELECT FROM dp_rdr.request q
  WHERE q.requester::oid < 4026531840::oid AND NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = q.requester)))sql"},
    {"info", R"sql( -- what cannot be hidden
SELECT 'server', 'the position in the write-ahead log, waits, running times and the locks of a session show to everybody',
       NULL)sql"},
};

const Chapter server_chapter = {"", checks, sizeof checks / sizeof checks[0]};

} // namespace dp::sql
