#include "catalog/ways.hpp"

#include "catalog/access.hpp"

namespace dp::catalog {

const char *const subject_sql = R"sql(
WITH RECURSIVE controlled AS ( -- protected tables of the caller
  SELECT t.relation::oid AS relation, t.relation::text AS name, c.relowner AS owner, t.id, t.bound,
         least(t.epsilon_total, (t.profile ->> 'epsilon')::numeric) AS epsilon_total, t.delta_total,
         t.period, least(t.epsilon_lifetime, (t.profile ->> 'epsilon')::numeric) AS epsilon_lifetime, t.delta_lifetime
  FROM dp_rdr.protected_table t JOIN pg_class c ON c.oid = t.relation WHERE pg_has_role($1, c.relowner, 'USAGE')),
part AS ( -- they, their partitions and children
  SELECT relation AS oid, relation, owner FROM controlled
  UNION SELECT i.inhrelid, p.relation, p.owner FROM part p JOIN pg_inherits i ON i.inhparent = p.oid),
facade AS (
  SELECT v.view::oid AS view, v.view::text AS name, c.relation, c.owner, c.name AS table_name,
         EXISTS (SELECT FROM pg_class x WHERE x.oid = v.view AND x.relkind = 'v') AS exists
  FROM dp_rdr.restricted_view v JOIN controlled c ON c.relation = v.relation),
permit AS ( -- policies
  SELECT p.*, f.name, f.relation, f.table_name, p.grantee::text AS grantee_name,
         EXISTS (SELECT FROM pg_roles r WHERE r.oid = p.grantee) AS exists
  FROM facade f JOIN dp_rdr.policy p ON p.view = f.view),
member AS ( -- who is in which role, and by which of his memberships
  SELECT roleid AS role, member, roleid AS via FROM pg_auth_members
  UNION SELECT m.role, a.member, a.roleid FROM member m JOIN pg_auth_members a ON a.roleid = m.member),
analyst AS ( -- who has a policy, or is in a role that has one
  SELECT relation, grantee::oid AS oid FROM permit
  UNION SELECT p.relation, m.member FROM permit p JOIN member m ON m.role = p.grantee),
role AS (
  SELECT 0::oid AS oid, 'PUBLIC' AS name, false AS super
  UNION ALL SELECT oid, oid::regrole::text, rolsuper FROM pg_roles),
granted AS ( -- rights of others on the tables and their columns
  SELECT p.oid, a.privilege_type AS privilege, a.privilege_type AS rights, r.name AS grantee
  FROM part p JOIN pg_class c ON c.oid = p.oid, aclexplode(c.relacl) a JOIN role r ON r.oid = a.grantee
  WHERE a.grantee NOT IN (c.relowner, p.owner)
  UNION ALL
  SELECT p.oid, a.privilege_type, format('%s (%I)', a.privilege_type, t.attname), r.name
  FROM part p JOIN pg_class c ON c.oid = p.oid JOIN pg_attribute t ON t.attrelid = p.oid AND NOT t.attisdropped,
       aclexplode(t.attacl) a JOIN role r ON r.oid = a.grantee
  WHERE a.grantee NOT IN (c.relowner, p.owner)),
power AS ( -- what lets a role without any grant reach every table
  SELECT r.oid, r.oid::regrole::text AS name, k.power,
         format('REVOKE %s FROM %s;', m.via::regrole, r.oid::regrole) AS remedy
  FROM (VALUES ('pg_read_all_data', 'may read every table'), ('pg_write_all_data', 'may write every table'),
               ('pg_maintain', 'may have the rows of every table counted (VACUUM VERBOSE)'),
               ('pg_read_server_files', 'may read the files of the server'),
               ('pg_write_server_files', 'may write the files of the server'),
               ('pg_execute_server_program', 'may run programs on the server'),
               ('pg_stat_scan_tables', 'may scan every table for its statistics'),
               ('pg_read_all_stats', 'sees the statements and statistics of all roles')) k (role, power)
  JOIN pg_roles g ON g.rolname = k.role JOIN member m ON m.role = g.oid
  JOIN pg_roles r ON r.oid = m.member AND NOT r.rolsuper AND r.oid >= 16384
  UNION ALL
  SELECT r.oid, r.oid::regrole::text, k.power, format('ALTER ROLE %s %s;', r.oid::regrole, k.remedy)
  FROM pg_roles r, LATERAL (VALUES
    (r.rolreplication, 'may copy the whole server by replication', 'NOREPLICATION'),
    (r.rolbypassrls, 'is not held by row-level security', 'NOBYPASSRLS'),
    (r.rolcreaterole AND current_setting('server_version_num')::integer < 160000, -- from there on of roles that it administers
     'may make itself a member of the owner''s role', 'NOCREATEROLE')) k (has, power, remedy)
  WHERE k.has AND NOT r.rolsuper AND r.oid >= 16384),
reader AS ( -- relations whose rules read the tables, through whatever is in between
  SELECT r.ev_class AS oid, r.rulename, p.relation, p.owner
  FROM part p JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = p.oid
  JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid AND r.ev_class <> p.oid
  WHERE r.ev_class NOT IN (SELECT view FROM dp_rdr.restricted_view)
  UNION
  SELECT r.ev_class, r.rulename, p.relation, p.owner
  FROM reader p JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = p.oid
  JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid AND r.ev_class <> p.oid
  WHERE r.ev_class NOT IN (SELECT view FROM dp_rdr.restricted_view) AND r.ev_class NOT IN (SELECT oid FROM part)),
reading_view AS (
  SELECT r.relation, r.owner, c.oid, c.relowner, c.oid::regclass::text AS name, c.relacl,
         CASE c.relkind WHEN 'v' THEN 'VIEW' ELSE 'MATERIALIZED VIEW' END AS kind,
         CASE c.relkind WHEN 'v' THEN 'reads' ELSE 'has a copy of rows of' END AS reads
  FROM reader r JOIN pg_class c ON c.oid = r.oid WHERE c.relkind IN ('v', 'm')),
exposed_view AS (
  SELECT v.oid, v.relation, r.name AS grantee
  FROM reading_view v, aclexplode(coalesce(v.relacl, acldefault('r', v.relowner))) a
  JOIN role r ON r.oid = a.grantee AND NOT r.super
  WHERE a.grantee <> v.owner AND a.privilege_type = 'SELECT'
  UNION
  SELECT v.oid, v.relation, r.name
  FROM reading_view v JOIN pg_attribute t ON t.attrelid = v.oid, aclexplode(t.attacl) a
  JOIN role r ON r.oid = a.grantee AND NOT r.super
  WHERE a.grantee <> v.owner AND a.privilege_type = 'SELECT'),
definer AS ( -- functions with their owner's rights that others may call
  SELECT DISTINCT p.oid, p.oid::regprocedure::text AS name, p.proowner AS owner, p.prosrc AS source, r.name AS caller
  FROM pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a JOIN role r ON r.oid = a.grantee
  WHERE p.prosecdef AND a.grantee <> p.proowner AND NOT r.super),
uses AS ( -- functions and what their parsed bodies refer to
  SELECT d.objid AS function, d.refobjid AS relation FROM pg_depend d
  WHERE d.classid = 'pg_proc'::regclass AND d.refclassid = 'pg_class'::regclass),
remote AS ( -- partitions that another server keeps
  SELECT p.oid, p.owner, s.oid AS server, s.srvname, s.srvowner, s.srvacl, s.srvoptions
  FROM part p JOIN pg_foreign_table t ON t.ftrelid = p.oid JOIN pg_foreign_server s ON s.oid = t.ftserver),
own_object AS ( -- members of the extension
  SELECT d.classid, d.objid FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'dp_rdr'
  WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'),
stored_setting AS ( -- of this database and of roles
  SELECT split_part(c, '=', 1) AS name, substr(c, strpos(c, '=') + 1) AS value, s.setrole,
         format('ALTER %s RESET %s;', CASE WHEN s.setrole = 0 THEN format('DATABASE %I', current_database())
                WHEN s.setdatabase = 0 THEN format('ROLE %s', s.setrole::regrole)
                ELSE format('ROLE %s IN DATABASE %I', s.setrole::regrole, current_database()) END,
                split_part(c, '=', 1)) AS remedy
  FROM pg_db_role_setting s, unnest(s.setconfig) c
  WHERE s.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))),
setting AS ( -- reset_val: what a session begins with; our own settings are pinned
  SELECT name, value, remedy, NULL AS takes_effect FROM stored_setting
  UNION ALL
  SELECT s.name, s.reset_val, NULL,
         CASE s.context WHEN 'postmaster' THEN '-- and restart the server' ELSE 'SELECT pg_reload_conf();' END
  FROM pg_settings s
  WHERE NOT EXISTS (SELECT FROM stored_setting x WHERE x.name = s.name AND x.setrole = 0))
)sql";

// Of one table ($2), for who can become one of $3. `role` has PUBLIC as 0.
static const char *const ways_sql = R"sql(,
reach AS (SELECT * FROM role r WHERE r.oid = ANY ($3) OR r.oid = 0),
mine AS (SELECT DISTINCT oid FROM part WHERE relation = $2)
SELECT w.way FROM (
  SELECT 1, format('%s is a superuser', r.name) FROM reach r WHERE r.super
  UNION ALL
  SELECT 2, format('%s owns %s', r.name, m.oid::regclass)
  FROM mine m JOIN pg_class c ON c.oid = m.oid JOIN reach r ON r.oid = c.relowner
  UNION ALL
  SELECT 3, format('%s has %s on %s', g.grantee, g.rights, g.oid::regclass)
  FROM mine m JOIN granted g ON g.oid = m.oid JOIN reach r ON r.name = g.grantee
  UNION ALL
  SELECT 4, format('%s %s', p.name, p.power) FROM power p JOIN reach r ON r.oid = p.oid
  UNION ALL -- from 16 on it may not reach the owner's role by it, but it makes roles that decide
  SELECT 4, format('%s has CREATEROLE', r.name) FROM reach r JOIN pg_roles o ON o.oid = r.oid WHERE o.rolcreaterole
  UNION ALL
  SELECT 5, format('%s has rights on %s, which reads %s', r.name, c.oid::regclass, v.relation::regclass)
  FROM reader v JOIN pg_class c ON c.oid = v.oid, aclexplode(coalesce(c.relacl, acldefault('r', c.relowner))) a
  JOIN reach r ON r.oid = a.grantee WHERE v.relation = $2
  UNION ALL
  SELECT 5, format('%s has rights on columns of %s, which reads %s', r.name, v.oid::regclass, v.relation::regclass)
  FROM reader v JOIN pg_attribute t ON t.attrelid = v.oid AND t.attacl IS NOT NULL, aclexplode(t.attacl) a
  JOIN reach r ON r.oid = a.grantee WHERE v.relation = $2
  UNION ALL
  SELECT 6, format('%s may call %s, which reads %s with the rights of %s', d.caller, d.name, $2::regclass, d.owner::regrole)
  FROM definer d JOIN uses u ON u.function = d.oid JOIN reach r ON r.name = d.caller
  WHERE u.relation IN (SELECT oid FROM mine UNION SELECT v.oid FROM reader v WHERE v.relation = $2)
  UNION ALL -- a string body leaves no dependency
  SELECT 6, format('%s may call %s, whose text names %s', d.caller, d.name, m.oid::regclass)
  FROM definer d JOIN reach r ON r.name = d.caller JOIN mine m ON has_table_privilege(d.owner, m.oid, 'SELECT')
  JOIN pg_class c ON c.oid = m.oid
  WHERE d.source ~* ('(^|\W)' || regexp_replace(c.relname, '(\W)', '\\\1', 'g') || '(\W|$)')
  UNION ALL -- whose function runs with each row that changes
  SELECT 7, format('%s owns the function of a trigger on %s', r.name, t.tgrelid::regclass)
  FROM pg_trigger t JOIN mine m ON m.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid JOIN reach r ON r.oid = p.proowner
  WHERE NOT t.tgisinternal
  UNION ALL -- who writes there learns which keys exist
  SELECT 8, format('%s has rights on %s, which has a foreign key to %s', r.name, c.oid::regclass, k.confrelid::regclass)
  FROM pg_constraint k JOIN mine m ON m.oid = k.confrelid JOIN pg_class c ON c.oid = k.conrelid AND c.oid NOT IN (SELECT oid FROM mine),
       aclexplode(coalesce(c.relacl, acldefault('r', c.relowner))) a JOIN reach r ON r.oid = a.grantee
  WHERE k.contype = 'f'
  UNION ALL
  SELECT 9, format('%s may use the foreign server %I, which keeps rows of %s', r.name, f.srvname, $2::regclass)
  FROM remote f JOIN mine m ON m.oid = f.oid JOIN pg_foreign_server s ON s.oid = f.server,
       aclexplode(coalesce(s.srvacl, acldefault('S', s.srvowner))) a JOIN reach r ON r.oid = a.grantee
  UNION ALL -- answers that the rows have chosen
  SELECT 10, format('%s has a policy within_data on %s', r.name, p.name)
  FROM permit p JOIN reach r ON r.oid = p.grantee WHERE p.relation = $2 AND p.selection = 'within_data'
  UNION ALL
  SELECT 11, format('%s has asked for request %s, which was decided in sight of the rows', r.name, q.id)
  FROM dp_rdr.request q JOIN controlled c ON c.id = q.table_id JOIN reach r ON r.oid IN (q.requester, q.session_role)
  WHERE c.relation = $2 AND q.basis = 'rows') w (place, way)
ORDER BY w.place, w.way COLLATE "C" LIMIT 1)sql";

// One plan for the life of the process.
static const char *statement_text() {
    MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
    const char *text = psprintf("%s%s", subject_sql, ways_sql);
    MemoryContextSwitchTo(old);
    return text;
}

static Datum oid_array(const List *roles) {
    auto *elements = static_cast<Datum *>(palloc(sizeof(Datum) * (list_length(roles) + 1)));
    ListCell *cell;
    foreach (cell, roles)
        elements[foreach_current_index(cell)] = ObjectIdGetDatum(lfirst_oid(cell));
    return PointerGetDatum(construct_array(elements, list_length(roles), OIDOID, sizeof(Oid), true, TYPALIGN_INT));
}

const char *way_to_rows(Oid relation, Oid owner, const List *roles) {
    static border::Statement statement(nullptr);
    if (statement.text == nullptr)
        statement.text = statement_text();
    Oid types[3] = {OIDOID, OIDOID, OIDARRAYOID};
    Datum values[3] = {ObjectIdGetDatum(owner), ObjectIdGetDatum(relation), oid_array(roles)};
    Visit visit = Visit::read();
    uint64 rows = visit.run(statement, 3, types, values);
    const char *way = rows == 0 ? nullptr : visit.spi.text(0, 1);
    visit.leave();
    return way;
}

} // namespace dp::catalog
