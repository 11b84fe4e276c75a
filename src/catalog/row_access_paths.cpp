#include "catalog/row_access_paths.hpp"

#include "catalog/parameters.hpp"

namespace dp::catalog {

// What there is, for the tables of whoever may act for their owner ($1), and for all roles.
static const char *const of_controller_sql = R"sql(
WITH RECURSIVE controlled AS ( -- protected tables of the caller
  SELECT t.relation::oid AS relation, t.relation::text AS name, c.relowner AS owner, t.domain AS id,
         NOT EXISTS (SELECT FROM dp_rdr.protected_table o JOIN pg_class x ON x.oid = o.relation
                     WHERE o.domain = t.domain AND o.relation::oid < t.relation::oid) AS first, -- of its domain
         d.bound, least(d.epsilon_total, (d.profile ->> 'epsilon')::numeric) AS epsilon_total, d.delta_total,
         d.period, least(d.epsilon_lifetime, (d.profile ->> 'epsilon')::numeric) AS epsilon_lifetime, d.delta_lifetime
  FROM dp_rdr.protected_table t JOIN dp_rdr.privacy_domain d ON d.id = t.domain JOIN pg_class c ON c.oid = t.relation
  WHERE pg_has_role($1, c.relowner, 'USAGE')),
role AS (
  SELECT 0::oid AS oid, 'PUBLIC' AS name, false AS super
  UNION ALL SELECT oid, oid::regrole::text, rolsuper FROM pg_roles))sql";

// The same of one table ($1) and of roles ($2).
static const char *const of_roles_sql = R"sql(
WITH RECURSIVE controlled AS (
  SELECT t.relation::oid AS relation, t.relation::text AS name, c.relowner AS owner, t.domain AS id
  FROM dp_rdr.protected_table t JOIN pg_class c ON c.oid = t.relation WHERE t.relation = $1),
role AS (
  SELECT 0::oid AS oid, 'PUBLIC' AS name, false AS super
  UNION ALL SELECT oid, oid::regrole::text, rolsuper FROM pg_roles WHERE oid = ANY ($2)))sql";

static const char *const names_sql = R"sql(,
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
granted AS ( -- rights of others on the tables and their columns
  SELECT p.oid, a.privilege_type AS privilege, a.privilege_type AS rights, r.name AS grantee
  FROM part p JOIN pg_class c ON c.oid = p.oid, aclexplode(c.relacl) a JOIN role r ON r.oid = a.grantee
  WHERE a.grantee NOT IN (c.relowner, p.owner)
  UNION ALL
  SELECT p.oid, a.privilege_type, format('%s (%I)', a.privilege_type, t.attname), r.name
  FROM part p JOIN pg_class c ON c.oid = p.oid JOIN pg_attribute t ON t.attrelid = p.oid AND NOT t.attisdropped,
       aclexplode(t.attacl) a JOIN role r ON r.oid = a.grantee
  WHERE a.grantee NOT IN (c.relowner, p.owner)),
given AS ( -- what comes with a role of the server's
  SELECT * FROM (VALUES
    ('pg_read_all_data', 'may read every table'), ('pg_write_all_data', 'may write every table'),
    ('pg_maintain', 'may have the rows of every table counted (VACUUM VERBOSE)'),
    ('pg_read_server_files', 'may read the files of the server'),
    ('pg_write_server_files', 'may write the files of the server'),
    ('pg_execute_server_program', 'may run programs on the server'),
    ('pg_stat_scan_tables', 'may scan every table for its statistics'),
    ('pg_read_all_stats', 'sees the statements and statistics of all roles')) k (role, power)),
attribute AS (
  SELECT r.oid, r.name, k.power, format('ALTER ROLE %s %s;', r.name, k.remedy) AS remedy
  FROM role r JOIN pg_roles o ON o.oid = r.oid, LATERAL (VALUES
    (o.rolreplication, 'may copy the whole server by replication', 'NOREPLICATION'),
    (o.rolbypassrls, 'is not held by row-level security', 'NOBYPASSRLS'),
    (o.rolcreaterole AND current_setting('server_version_num')::integer < 160000, -- from there on of roles that it administers
     'may make itself a member of the owner''s role', 'NOCREATEROLE')) k (has, power, remedy)
  WHERE k.has AND NOT r.super AND r.oid >= 16384),
changed AS ( -- rights that were changed since the server, or an extension, was made
  SELECT p.oid::regprocedure::text AS name, 'EXECUTE ON ROUTINE' AS rights, 'may call' AS power, p.proowner AS owner, p.proacl AS acl,
         i.initprivs AS first
  FROM pg_init_privs i JOIN pg_proc p ON i.classoid = 'pg_proc'::regclass AND p.oid = i.objoid
  WHERE p.proacl IS DISTINCT FROM i.initprivs
  UNION ALL
  SELECT c.oid::regclass::text, 'ALL ON', 'has rights on', c.relowner, c.relacl, i.initprivs
  FROM pg_init_privs i JOIN pg_class c ON i.classoid = 'pg_class'::regclass AND i.objsubid = 0 AND c.oid = i.objoid
  WHERE c.relacl IS DISTINCT FROM i.initprivs AND c.relnamespace <> 'dp_rdr'::regnamespace
  UNION ALL -- what holds values of rows, or lets somebody in as another
  SELECT c.oid::regclass::text, 'ALL ON', 'has rights on', c.relowner, t.attacl, NULL
  FROM pg_attribute t JOIN pg_class c ON c.oid = t.attrelid
  WHERE t.attacl IS NOT NULL AND t.attrelid IN ('pg_statistic'::regclass, 'pg_statistic_ext_data'::regclass,
    'pg_largeobject'::regclass, 'pg_authid'::regclass, 'pg_user_mapping'::regclass)),
entrusted AS ( -- what was for nobody at first, and is now for somebody
  SELECT DISTINCT r.oid, r.name, format('%s %s', c.power, c.name) AS power,
         format('REVOKE %s %s FROM %s;', c.rights, c.name, r.name) AS remedy
  FROM changed c, aclexplode(c.acl) a JOIN role r ON r.oid = a.grantee AND NOT r.super AND (r.oid = 0 OR r.oid >= 16384)
  WHERE a.grantee <> c.owner AND NOT EXISTS (
    SELECT FROM aclexplode(c.first) x WHERE x.grantee IN (0, a.grantee) AND x.privilege_type = a.privilege_type)
  UNION
  SELECT r.oid, r.name, format('may set the parameter %s of the server', p.parname),
         format('REVOKE SET, ALTER SYSTEM ON PARAMETER %s FROM %s;', p.parname, r.name)
  FROM pg_parameter_acl p, aclexplode(p.paracl) a JOIN role r ON r.oid = a.grantee AND NOT r.super
  WHERE r.oid = 0 OR r.oid >= 16384),
power AS ( -- what lets a role without any grant reach every table
  SELECT r.oid, r.oid::regrole::text AS name, k.power, format('REVOKE %s FROM %s;', m.via::regrole, r.oid::regrole) AS remedy
  FROM given k JOIN pg_roles g ON g.rolname = k.role JOIN member m ON m.role = g.oid
  JOIN pg_roles r ON r.oid = m.member AND NOT r.rolsuper AND r.oid >= 16384
  UNION ALL SELECT * FROM attribute
  UNION ALL SELECT * FROM entrusted),
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
  WHERE a.grantee <> v.owner AND a.privilege_type = 'SELECT'
  UNION -- who has taken his own right away may give it back to himself
  SELECT v.oid, v.relation, r.name FROM reading_view v JOIN role r ON r.oid = v.relowner AND NOT r.super
  WHERE v.relowner <> v.owner),
definer AS ( -- functions with their owner's rights that others may call
  SELECT DISTINCT p.oid, p.oid::regprocedure::text AS name, p.proowner AS owner, p.prosrc AS source, r.name AS caller
  FROM pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a JOIN role r ON r.oid = a.grantee
  WHERE p.prosecdef AND a.grantee <> p.proowner AND NOT r.super),
uses AS ( -- functions and what their parsed bodies, and those of functions that they call, refer to
  SELECT d.objid AS function, d.refobjid AS relation FROM pg_depend d
  WHERE d.classid = 'pg_proc'::regclass AND d.refclassid = 'pg_class'::regclass
  UNION
  SELECT d.objid, u.relation FROM uses u JOIN pg_depend d ON d.refclassid = 'pg_proc'::regclass AND d.refobjid = u.function
  WHERE d.classid = 'pg_proc'::regclass),
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
// For who can become one of the roles: `role` has these alone, and PUBLIC. Whoever owns something gives himself its rights.
static const char *const ways_sql = R"sql(,
mine AS (SELECT DISTINCT oid FROM part),
shown AS (SELECT oid FROM mine UNION SELECT oid FROM reader),
code AS ( -- what runs with rows of theirs, or when some are shown
  SELECT 'pg_trigger'::regclass AS classid, t.oid, s.oid AS relation FROM shown s JOIN pg_trigger t ON t.tgrelid = s.oid
  UNION ALL SELECT 'pg_policy'::regclass, y.oid, s.oid FROM shown s JOIN pg_policy y ON y.polrelid = s.oid
  UNION ALL SELECT 'pg_rewrite'::regclass, w.oid, s.oid FROM shown s JOIN pg_rewrite w ON w.ev_class = s.oid),
reading AS ( -- functions whose parsed bodies read them, and those whose parsed bodies call such a one
  SELECT d.objid AS oid FROM shown s JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = s.oid
  WHERE d.classid = 'pg_proc'::regclass
  UNION
  SELECT d.objid FROM reading f JOIN pg_depend d ON d.refclassid = 'pg_proc'::regclass AND d.refobjid = f.oid
  WHERE d.classid = 'pg_proc'::regclass),
telling AS ( -- functions that read them with their owners' rights; a string body leaves no dependency
  SELECT p.oid, p.proowner, p.proacl, CASE WHEN n.relation IS NULL THEN format('reads %s', $1::regclass)
                                           ELSE format('has the name of %s in its text', n.relation) END AS what
  FROM pg_proc p LEFT JOIN LATERAL (
    SELECT s.oid::regclass AS relation FROM shown s JOIN pg_class c ON c.oid = s.oid
    WHERE p.prosrc ~* ('(^|\W)' || regexp_replace(c.relname, '(\W)', '\\\1', 'g') || '(\W|$)')
      AND has_any_column_privilege(p.proowner, s.oid, 'SELECT') LIMIT 1) n ON true
  WHERE p.prosecdef AND (n.relation IS NOT NULL OR p.oid IN (SELECT oid FROM reading))),
beside AS ( -- relations that are bound to the tables
  SELECT k.conrelid AS oid, format('which has a foreign key to %s', m.oid::regclass) AS what, NULL::text[] AS rights
  FROM mine m JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = m.oid
  JOIN pg_constraint k ON d.classid = 'pg_constraint'::regclass AND k.oid = d.objid AND k.contype = 'f'
  WHERE k.confrelid = m.oid -- who reads or writes there learns which keys exist
  UNION ALL
  SELECT k.confrelid, format('to which %s has a foreign key', m.oid::regclass), '{UPDATE,DELETE}'
  FROM mine m JOIN pg_constraint k ON k.conrelid = m.oid AND k.contype = 'f' -- who deletes there learns which keys are used
  UNION ALL
  SELECT d.objid, format('which counts the rows of %s', m.oid::regclass), NULL
  FROM mine m JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = m.oid
  WHERE d.classid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
    AND EXISTS (SELECT FROM pg_class q WHERE q.oid = d.objid AND q.relkind = 'S')
  UNION ALL
  SELECT d.refobjid, format('to which a rule of %s may hand its rows', m.oid::regclass), NULL
  FROM mine m JOIN pg_rewrite w ON w.ev_class = m.oid
  JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid AND d.refclassid = 'pg_class'::regclass
  UNION ALL
  SELECT v.oid, format('which reads %s', $1::regclass), NULL FROM reader v
  UNION ALL -- tables and views of the extension that are not for everybody
  SELECT c.oid, 'which is the extension''s own', NULL FROM own_object o
  JOIN pg_class c ON o.classid = 'pg_class'::regclass AND c.oid = o.objid AND c.relname NOT IN ('ledger', 'spending', 'denials')),
here AS ( -- servers for foreign tables that lead back to this database, as somebody who may see the rows perhaps
  SELECT s.oid, s.srvname, s.srvowner, s.srvacl FROM pg_foreign_server s
  WHERE 'dbname=' || current_database() = ANY (s.srvoptions) AND EXISTS (
    SELECT FROM pg_user_mapping u WHERE u.umserver = s.oid AND (u.umuser = 0 OR u.umuser IN (SELECT oid FROM role))))
SELECT w.way FROM (
  SELECT 1, format('%s is a superuser', r.name) FROM role r WHERE r.super
  UNION ALL
  SELECT 2, format('%s owns %s', r.name, m.oid::regclass)
  FROM mine m JOIN pg_class c ON c.oid = m.oid JOIN role r ON r.oid = c.relowner
  UNION ALL
  SELECT 2, format('%s may make objects in the schema %I', r.name, n.nspname)
  FROM pg_namespace n JOIN role r ON r.oid = n.nspowner OR r.oid IN (
    SELECT a.grantee FROM aclexplode(n.nspacl) a WHERE a.privilege_type = 'CREATE')
  WHERE n.nspname IN ('dp_rdr', 'pg_catalog')
  UNION ALL
  SELECT 3, format('%s has %s on %s', g.grantee, g.rights, g.oid::regclass) FROM mine m JOIN granted g ON g.oid = m.oid
  UNION ALL
  SELECT 4, format('a member of %s %s', r.name, k.power) FROM given k JOIN role r ON r.name = k.role
  UNION ALL
  SELECT 4, format('%s %s', p.name, p.power) FROM (SELECT * FROM attribute UNION ALL SELECT * FROM entrusted) p
  UNION ALL -- from 16 on it may not reach the owner's role by it, but it makes roles that decide
  SELECT 4, format('%s has CREATEROLE', r.name) FROM role r JOIN pg_roles o ON o.oid = r.oid WHERE o.rolcreaterole
  UNION ALL
  SELECT 5, format('%s has rights on %s, %s', r.name, c.oid::regclass, b.what)
  FROM beside b JOIN pg_class c ON c.oid = b.oid AND c.oid NOT IN (SELECT oid FROM mine), LATERAL (
    SELECT c.relowner AS grantee
    UNION ALL SELECT a.grantee FROM aclexplode(c.relacl) a WHERE b.rights IS NULL OR a.privilege_type = ANY (b.rights)
    UNION ALL SELECT a.grantee FROM pg_attribute t, aclexplode(t.attacl) a
    WHERE t.attrelid = c.oid AND t.attacl IS NOT NULL AND (b.rights IS NULL OR a.privilege_type = ANY (b.rights))) a
  JOIN role r ON r.oid = a.grantee
  UNION ALL
  SELECT 6, format('%s may call %s, which %s, with the rights of %s', r.name, p.oid::regprocedure, p.what, p.proowner::regrole)
  FROM telling p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a JOIN role r ON r.oid = a.grantee
  UNION ALL -- a trigger's function needs no right to be called
  SELECT 6, format('%s may change rows of %s, whose trigger calls %s, which %s', r.name, c.oid::regclass, p.oid::regprocedure, p.what)
  FROM telling p JOIN pg_trigger t ON t.tgfoid = p.oid JOIN pg_class c ON c.oid = t.tgrelid, LATERAL (
    SELECT c.relowner AS grantee
    UNION ALL SELECT a.grantee FROM aclexplode(c.relacl) a WHERE a.privilege_type <> 'SELECT') a JOIN role r ON r.oid = a.grantee
  UNION ALL
  SELECT 7, format('%s owns %s, which rows of %s pass through', r.name, p.oid::regprocedure, x.relation::regclass)
  FROM code x JOIN pg_depend d ON d.classid = x.classid AND d.objid = x.oid AND d.refclassid = 'pg_proc'::regclass
  JOIN pg_proc p ON p.oid = d.refobjid JOIN role r ON r.oid = p.proowner
  UNION ALL
  SELECT 8, format('%s may use the foreign server %I, which keeps rows of %s', r.name, f.srvname, $1::regclass)
  FROM remote f JOIN role r ON r.oid = f.srvowner OR r.oid IN (SELECT a.grantee FROM aclexplode(f.srvacl) a)
  UNION ALL
  SELECT 8, format('%s may use the foreign server %I, which leads back to this database', r.name, f.srvname)
  FROM here f JOIN role r ON r.oid = f.srvowner OR r.oid IN (SELECT a.grantee FROM aclexplode(f.srvacl) a)
  UNION ALL
  SELECT 8, format('%s has rights on %s, which the foreign server %I fetches from this database', r.name, c.oid::regclass, f.srvname)
  FROM here f JOIN pg_foreign_table t ON t.ftserver = f.oid JOIN pg_class c ON c.oid = t.ftrelid
  JOIN role r ON r.oid = c.relowner OR r.oid IN (SELECT a.grantee FROM aclexplode(c.relacl) a)
  UNION ALL -- answers that the rows have chosen
  SELECT 9, format('%s has a policy within_data on %s', r.name, p.name)
  FROM permit p JOIN role r ON r.oid = p.grantee WHERE p.selection = 'within_data'
  UNION ALL
  SELECT 10, format('%s has asked for request %s, which was decided in sight of the rows', r.name, q.id)
  FROM dp_rdr.request q JOIN controlled c ON c.id = q.table_id JOIN role r ON r.oid IN (q.requester, q.session_role)
  WHERE q.basis = 'rows') w (place, way)
ORDER BY w.place, w.way COLLATE "C" LIMIT 1)sql";

static const char *joined(const char *first, const char *second, const char *third) {
    MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
    const char *text = psprintf("%s%s%s", first, second, third);
    MemoryContextSwitchTo(old);
    return text;
}

const char *subject_sql() {
    static const char *text = nullptr;
    if (text == nullptr)
        text = joined(of_controller_sql, names_sql, "");
    return text;
}

static Datum oid_array(const List *roles) {
    auto *elements = static_cast<Datum *>(palloc(sizeof(Datum) * (list_length(roles) + 1)));
    int n = 0;
    for (Oid role : border::each_oid(roles))
        elements[n++] = ObjectIdGetDatum(role);
    return PointerGetDatum(construct_array(elements, n, OIDOID, sizeof(Oid), true, TYPALIGN_INT));
}

const char *way_to_rows(Oid relation, const List *roles) {
    static border::Statement statement(nullptr);
    if (statement.text == nullptr)
        statement.text = joined(of_roles_sql, names_sql, ways_sql);
    const Typed of_roles = {OIDARRAYOID, oid_array(roles)};
    Visit visit = Visit::read();
    // There are few roles and one table: every step is a look into an index, whatever the statistics of the catalogs say.
    border::set_locally("enable_hashjoin", "off");
    border::set_locally("enable_mergejoin", "off");
    uint64 rows = run(visit, statement, relation, of_roles);
    const char *way = rows == 0 ? nullptr : visit.spi.text(0, 1);
    visit.leave();
    return way;
}

} // namespace dp::catalog
