// Checks of dp_audit: rights on the rows, the extension itself, bounds and policies.
#include "sql/audit.hpp"

namespace dp::sql {

static const char *const subject = R"sql(
, instrument AS ( -- functions whose results are for the controller alone (formulas.md, 4.1)
  SELECT p.oid, p.proname AS name FROM own_object o JOIN pg_proc p ON o.classid = 'pg_proc'::regclass AND p.oid = o.objid
  WHERE p.proname ~ '^dp_(loss|risk|report$|inspect_signal$|find_epsilon$)'),
told AS ( -- relations whose rules call them, through whatever is in between
  SELECT r.ev_class AS oid, i.name FROM instrument i JOIN pg_depend d ON d.refclassid = 'pg_proc'::regclass AND d.refobjid = i.oid
  JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
  UNION
  SELECT r.ev_class, t.name FROM told t JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = t.oid
  JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid AND r.ev_class <> t.oid),
copy AS (
  SELECT c.oid, c.oid::regclass::text AS name, c.relowner, c.relacl, string_agg(DISTINCT t.name, ', ') AS told
  FROM told t JOIN pg_class c ON c.oid = t.oid AND c.relkind = 'm' WHERE c.relowner IN (SELECT owner FROM controlled) GROUP BY c.oid)
)sql";

static const Check checks[] = {
    // ---- who reaches the rows ----
    // MAINTAIN (from 17 on): VACUUM VERBOSE says how many rows there are.
    {"critical", R"sql( -- rights to read, to count, to attach a trigger that reads, to probe keys by a foreign key
SELECT g.oid::regclass, format('%s has %s', g.grantee, string_agg(g.rights, ', ' ORDER BY g.rights)),
       format('REVOKE %s ON %s FROM %s;', string_agg(g.rights, ', ' ORDER BY g.rights), g.oid::regclass, g.grantee)
FROM granted g WHERE g.privilege IN ('SELECT', 'MAINTAIN', 'REFERENCES', 'TRIGGER') GROUP BY g.oid, g.grantee)sql"},
    {"critical", R"sql( -- a partition of another's
SELECT p.oid::regclass, format('belongs to %s, and not to %s, who owns %s', c.relowner::regrole, p.owner::regrole,
       p.relation::regclass), format('ALTER TABLE %s OWNER TO %s;', p.oid::regclass, p.owner::regrole)
FROM part p JOIN pg_class c ON c.oid = p.oid JOIN pg_roles r ON r.oid = c.relowner WHERE c.relowner <> p.owner AND NOT r.rolsuper)sql"},
    {"critical", R"sql( -- an analyst who is also a controller
SELECT m.member::regrole, format('has a policy and may act for %s, the owner of %s', c.owner::regrole,
       string_agg(DISTINCT c.name, ', ')), format('REVOKE %s FROM %s;', m.via::regrole, m.member::regrole)
FROM controlled c JOIN member m ON m.role = c.owner JOIN analyst a ON a.relation = c.relation AND a.oid = m.member
JOIN pg_roles r ON r.oid = m.member AND NOT r.rolsuper GROUP BY m.member, m.via, c.owner)sql"},
    {"critical", R"sql( -- an analyst who needs no grant
SELECT DISTINCT p.name, format('has a policy and %s', p.power), p.remedy
FROM power p WHERE p.oid IN (SELECT oid FROM analyst))sql"},
    {"critical", R"sql( -- a view or materialized view that others may read
SELECT v.name, format('%s %s, and %s may read it', v.reads, v.relation::regclass, x.grantee),
       CASE WHEN x.grantee = v.relowner::regrole::text
            THEN format('ALTER %s %s OWNER TO %s;', v.kind, v.name, v.owner::regrole)
            ELSE format('REVOKE ALL ON %s FROM %s;', v.name, x.grantee) END
FROM reading_view v JOIN exposed_view x ON x.oid = v.oid AND x.relation = v.relation)sql"},
    {"critical", R"sql( -- a function that reads the rows for others
SELECT d.name,
       format('reads %s with the rights of %s, and %s may call it', p.relation::regclass, d.owner::regrole, d.caller),
       format('REVOKE EXECUTE ON ROUTINE %s FROM %s;', d.name, d.caller)
FROM definer d JOIN uses u ON u.function = d.oid
JOIN (SELECT oid, relation FROM part UNION SELECT oid, relation FROM reading_view) p ON p.oid = u.relation)sql"},
    {"critical", R"sql( -- a function that shows others what is for the controller alone
SELECT d.name, format('calls %s with the rights of %s, and %s may call it', i.names, d.owner::regrole, d.caller),
       format('REVOKE EXECUTE ON ROUTINE %s FROM %s;', d.name, d.caller)
FROM definer d, LATERAL (
  SELECT string_agg(DISTINCT i.name, ', ') FROM instrument i WHERE d.source ~ format('\m%s\M', i.name) OR EXISTS (
    SELECT FROM pg_depend x WHERE x.classid = 'pg_proc'::regclass AND x.objid = d.oid
      AND x.refclassid = 'pg_proc'::regclass AND x.refobjid = i.oid)) i (names)
WHERE d.owner IN (SELECT owner FROM controlled) AND i.names IS NOT NULL)sql"},
    {"critical", R"sql( -- a stored copy of it that others may read
SELECT c.name, format('has a copy of what %s told, and %s may read it', c.told, r.name), format('REVOKE ALL ON %s FROM %s;', c.name, r.name)
FROM copy c, LATERAL (SELECT x.grantee, x.privilege_type FROM aclexplode(c.relacl) x
  UNION SELECT x.grantee, x.privilege_type FROM pg_attribute t, aclexplode(t.attacl) x WHERE t.attrelid = c.oid) a
JOIN role r ON r.oid = a.grantee AND NOT r.super WHERE a.privilege_type = 'SELECT' AND a.grantee <> c.relowner)sql"},
    {"warning", R"sql(
SELECT c.name, format('has a copy of what %s told: numbers that follow from private rows, in each dump too', c.told),
       format('DROP MATERIALIZED VIEW %s; -- and ask when the numbers are needed', c.name)
FROM copy c)sql"},
    {"critical", R"sql( -- a registered view with another rule
SELECT f.name, format('is no longer a restricted view over %s: its rule was replaced', f.table_name),
       format('SELECT dp_unprotect(%L); -- drops it; then dp_protect() and dp_grant() again', f.name)
FROM facade f WHERE f.exists AND NOT dp_rdr.is_facade(f.view, f.relation))sql"},

    {"warning", R"sql( -- a view that was made anew, with its table or by hand
SELECT x.name, CASE WHEN x.earlier THEN 'was made anew together with its table, and answers nobody until its declarations go on'
                    ELSE 'looks like a restricted view, is not registered, and answers nobody' END,
       CASE WHEN x.earlier THEN format('SELECT dp_refresh(%L);', x.name)
            ELSE format('DROP VIEW %s; -- then dp_protect() and dp_grant()', x.name) END
FROM (SELECT c.oid::regclass::text AS name, EXISTS (SELECT FROM dp_rdr.restricted_view v
             WHERE v.name = format('%I.%I', n.nspname, c.relname)) AS earlier
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'v' AND pg_has_role($1, c.relowner, 'USAGE')
        AND c.oid IN (SELECT r.ev_class FROM pg_rewrite r JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
                      WHERE d.refclassid = 'pg_proc'::regclass AND d.refobjid = 'dp_rdr.deny(regclass)'::regprocedure)
        AND NOT EXISTS (SELECT FROM dp_rdr.restricted_view v WHERE v.view::oid = c.oid)) x)sql"},
    {"critical", R"sql( -- who may connect there makes a foreign table of his own
SELECT DISTINCT format('foreign server %I', f.srvname),
       format('%s may use it, and has the user mapping of %s: the rows of %s for a foreign table of its own', r.name,
              CASE m.umuser WHEN 0 THEN 'PUBLIC' ELSE r.name END, f.oid::regclass),
       CASE m.umuser WHEN 0 THEN format('DROP USER MAPPING FOR PUBLIC SERVER %I; -- and one for the owner alone', f.srvname)
            ELSE format('REVOKE USAGE ON FOREIGN SERVER %I FROM %s; -- if it is mapped to a user who sees the rows',
                        f.srvname, r.name) END
FROM remote f, aclexplode(f.srvacl) a JOIN role r ON r.oid = a.grantee AND NOT r.super
JOIN pg_user_mappings m ON m.umuser IN (0, a.grantee)
WHERE m.srvid = f.server AND a.grantee <> f.owner)sql"},

    // ---- the extension itself ----
    {"critical", R"sql( -- who may create in the schemas that the extension trusts
SELECT format('schema %I', n.nspname), format('%s may create objects in it', r.name),
       format('REVOKE CREATE ON SCHEMA %I FROM %s;', n.nspname, r.name)
FROM pg_namespace n, aclexplode(n.nspacl) a JOIN role r ON r.oid = a.grantee AND NOT r.super
WHERE n.nspname IN ('dp_rdr', 'pg_catalog') AND a.privilege_type = 'CREATE' AND a.grantee <> n.nspowner)sql"},
    {"critical", R"sql( -- who may drop the extension, or take objects out of it: no other command gives it to somebody else
SELECT 'extension dp_rdr', format('belongs to %s, who is not a superuser', r.oid::regrole),
       format('REASSIGN OWNED BY %s TO %s; -- all that it owns in this database', r.oid::regrole, n.nspowner::regrole)
FROM pg_extension e JOIN pg_roles r ON r.oid = e.extowner AND NOT r.rolsuper, pg_namespace n
WHERE e.extname = 'dp_rdr' AND n.nspname = 'dp_rdr')sql"},
    {"critical", R"sql( -- objects in dp_rdr that are not the extension's, or not its owner's
SELECT o.name, CASE WHEN o.own THEN format('belongs to %s, and not to the owner of the extension', o.owner::regrole)
                    ELSE 'is in the schema of the extension and not a part of it' END,
       CASE WHEN o.own THEN format('ALTER %s %s OWNER TO %s;', o.kind, o.name, n.nspowner::regrole)
            WHEN o.owner IN (n.nspowner, e.extowner) -- the ledger itself may have been taken out
            THEN format('ALTER EXTENSION dp_rdr ADD %s %s; -- or DROP, if somebody else has made it', o.kind, o.name)
            ELSE format('DROP %s %s; -- deletes it', o.kind, o.name) END
FROM pg_namespace n JOIN pg_extension e ON e.extname = n.nspname, LATERAL (
  SELECT CASE c.relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' WHEN 'f' THEN 'FOREIGN TABLE'
                        ELSE 'TABLE' END,
         c.oid::regclass::text, c.relowner, ('pg_class'::regclass, c.oid) IN (SELECT m.classid, m.objid FROM own_object m)
  FROM pg_class c WHERE c.relnamespace = n.oid AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
  UNION ALL
  SELECT 'ROUTINE', p.oid::regprocedure::text, p.proowner,
         ('pg_proc'::regclass, p.oid) IN (SELECT m.classid, m.objid FROM own_object m)
  FROM pg_proc p WHERE p.pronamespace = n.oid) o (kind, name, owner, own)
WHERE n.nspname = 'dp_rdr' AND (NOT o.own OR o.owner NOT IN (n.nspowner, e.extowner)))sql"},
    {"critical", R"sql( -- rights on the catalog and the ledger
SELECT c.oid::regclass, format('%s has %s', r.name, string_agg(a.privilege_type, ', ' ORDER BY a.privilege_type)),
       format('REVOKE %s ON %s FROM %s;', string_agg(a.privilege_type, ', ' ORDER BY a.privilege_type),
              c.oid::regclass, r.name)
FROM pg_class c, LATERAL (
  SELECT x.grantee, x.privilege_type FROM aclexplode(c.relacl) x
  UNION SELECT x.grantee, x.privilege_type FROM pg_attribute t, aclexplode(t.attacl) x WHERE t.attrelid = c.oid) a
JOIN role r ON r.oid = a.grantee AND NOT r.super
WHERE c.relnamespace = 'dp_rdr'::regnamespace AND c.relkind IN ('r', 'v', 'S') AND a.grantee <> c.relowner
  AND (c.relname NOT IN ('ledger', 'spending', 'denials') OR a.privilege_type <> 'SELECT')
GROUP BY c.oid, r.name)sql"},
    {"critical", R"sql( -- a ledger that was tampered with, or lost rows in a restore
SELECT c.name, format('its ledger is not whole: %s', c.fault),
       format('SELECT * FROM dp_rdr.ledger WHERE relation = %L ORDER BY id; -- compare with a copy kept elsewhere', c.name)
FROM (SELECT name, dp_rdr.ledger_fault(id) AS fault FROM controlled WHERE first) c WHERE c.fault IS NOT NULL)sql"},

    // ---- bounds and policies ----
    {"warning", R"sql( -- no bound, or one that says nothing
SELECT c.name, CASE WHEN c.bound = 'none' THEN 'nothing bounds the total privacy loss'
                    WHEN c.epsilon_total > 10 THEN format('epsilon_total = %s promises next to nothing', c.epsilon_total)
                    ELSE format('with delta_total = %s people may be disclosed outright', c.delta_total) END,
       format('SELECT dp_set_odometer(%L, %s);', c.name, CASE
              WHEN c.bound = 'none' THEN 'bound => ''filter'', epsilon_total => 1'
              WHEN c.epsilon_total > 10 THEN 'epsilon_total => 1' ELSE 'delta_total => 0.000001' END)
FROM controlled c WHERE c.first AND (c.bound = 'none' OR c.epsilon_total > 10 OR c.delta_total > 0.001))sql"},
    {"warning", R"sql( -- totals that are spent anew in every period
SELECT c.name, format('epsilon_total and delta_total are spent anew in every %s, and nothing bounds the %s of all together',
                      c.period, CASE WHEN c.epsilon_lifetime IS NULL THEN 'epsilon' ELSE 'delta' END),
       format('SELECT dp_set_odometer(%L, %s => %s);', c.name,
              CASE WHEN c.epsilon_lifetime IS NULL THEN 'epsilon_lifetime' ELSE 'delta_lifetime' END,
              CASE WHEN c.epsilon_lifetime IS NULL THEN 10 * c.epsilon_total ELSE 10 * c.delta_total END)
FROM controlled c
WHERE c.first AND c.period IS NOT NULL AND (c.epsilon_lifetime IS NULL OR c.delta_lifetime IS NULL AND c.delta_total > 0)
UNION ALL
SELECT c.name, format('epsilon_lifetime = %s promises next to nothing', c.epsilon_lifetime),
       format('SELECT dp_set_odometer(%L, epsilon_lifetime => 10);', c.name)
FROM controlled c WHERE c.first AND c.period IS NOT NULL AND c.epsilon_lifetime > 10)sql"},
    {"warning", R"sql( -- the papers' rule alone, or totals in rho that are counted only
SELECT c.name, format('the bound "%s" has no epsilon_total: the loss %s', c.bound,
                      CASE c.bound WHEN 'dynamic' THEN 'may reach twice the largest candidate' ELSE 'is counted, and nothing stops it' END),
       format('SELECT dp_set_odometer(%L, epsilon_total => 1);', c.name)
FROM controlled c WHERE c.first AND c.bound IN ('dynamic', 'zcdp') AND c.epsilon_total IS NULL)sql"},
    {"warning", R"sql( -- before analysts meet "query denied"
SELECT c.name, format('%s %% of %s is used: %s of %s', floor(100 * b.used / b.total), b.name, trim_scale(b.used), trim_scale(b.total)),
       format('SELECT * FROM dp_spending(%L); -- who spent it; dp_set_odometer() sets the total', c.name)
FROM controlled c, dp_rdr.budget(c.relation) b WHERE c.first AND b.total > 0 AND b.used >= 0.8 * b.total)sql"},
    {"warning",
     R"sql( -- a public table: a foreign key marks in xmax which of its rows somebody has, and its errors tell it
SELECT x.relation, format('is referred to by %s, and %s has %s: system columns and refusals tell which of its rows somebody has',
                          x.referring, x.grantee, x.rights),
       format('REVOKE %1$s ON %2$s FROM %3$s;', x.rights, x.relation, x.grantee) ||
       CASE WHEN x.rights ~ 'SELECT' THEN format(' GRANT SELECT (%s) ON %s TO %s;', (
           SELECT string_agg(quote_ident(n.attname), ', ' ORDER BY n.attnum) FROM pg_attribute n
           WHERE n.attrelid = x.relation AND n.attnum > 0 AND NOT n.attisdropped), x.relation, x.grantee) ELSE '' END
FROM (SELECT p.relation, r.name AS grantee, string_agg(DISTINCT k.conrelid::regclass::text, ', ') AS referring,
             string_agg(DISTINCT a.privilege_type, ', ') AS rights
      FROM controlled c JOIN dp_rdr.public_table p ON p.domain = c.id
      JOIN pg_constraint k ON k.contype = 'f' AND k.confrelid = p.relation::oid
      JOIN dp_rdr.protected_table t ON t.relation::oid = k.conrelid
      JOIN pg_class o ON o.oid = p.relation, aclexplode(o.relacl) a JOIN role r ON r.oid = a.grantee AND NOT r.super
      WHERE c.first AND a.privilege_type IN ('SELECT', 'UPDATE', 'DELETE') AND a.grantee NOT IN (o.relowner, c.owner)
      GROUP BY p.relation, r.name) x)sql"},
    {"warning", R"sql( -- one row is one individual
SELECT c.name, h.finding, h.remedy
FROM controlled c, dp_rdr.people_hints(c.relation) h WHERE h.severity = 'warning')sql"},
    {"warning", R"sql( -- answers that are not differentially private
SELECT p.name, format('answers to %s are not differentially private (within_data)', p.grantee_name) ||
       CASE WHEN d.others IS NULL THEN '' ELSE format(', those to %s are', d.others) END,
       format('SELECT dp_revoke(%L, %L);', p.name, p.grantee_name)
FROM permit p, LATERAL (SELECT string_agg(DISTINCT o.grantee_name, ', ') FROM permit o
                        WHERE o.relation = p.relation AND o.selection <> 'within_data') d (others)
WHERE p.selection = 'within_data' AND p.exists)sql"},
    {"warning", R"sql( -- what he asks publicly from now on may depend on what he was told
SELECT c.name, format('role %s has had a request decided in sight of the rows, and asks under a policy that is differentially private on %s',
                      r.oid::regrole, string_agg(DISTINCT p.name, ', ')),
       format('SELECT dp_revoke(%L, %L); -- or decide on his requests with basis => ''public''', min(p.name), min(p.grantee_name))
FROM dp_rdr.request q JOIN controlled c ON c.id = q.table_id JOIN pg_roles r ON r.oid IN (q.requester, q.session_role)
JOIN permit p ON p.relation = c.relation AND p.exists AND p.selection <> 'within_data'
WHERE q.basis = 'rows' AND NOT r.rolsuper AND pg_has_role(r.oid, p.grantee::oid, 'MEMBER')
GROUP BY c.name, r.oid)sql"},
    {"warning", R"sql( -- one answer tells too much
SELECT p.name, format('one answer to %s may cost %s', p.grantee_name,
       CASE WHEN p.epsilon_max > 10 THEN 'epsilon = ' || p.epsilon_max ELSE 'delta = ' || p.delta END),
       format('SELECT dp_grant(%L, %L, %s);', p.name, p.grantee_name,
              CASE WHEN p.epsilon_max > 10 THEN 'epsilon_max => 1' ELSE 'delta => 0.000001' END)
FROM permit p WHERE p.exists AND (p.epsilon_max > 10 OR p.delta > 0.001))sql"},
    {"warning", R"sql( -- policies of superusers
SELECT p.name, format('%s has a policy and is a superuser, who sees everything', p.grantee_name),
       format('SELECT dp_revoke(%L, %L);', p.name, p.grantee_name)
FROM permit p JOIN pg_roles r ON r.oid = p.grantee AND r.rolsuper)sql"},
    {"warning", R"sql( -- dropped, or missing where a dump was restored
SELECT p.name, format('has a policy for role %s, which does not exist', p.grantee::oid),
       format('DELETE FROM dp_rdr.policy WHERE view::oid = %s AND grantee::oid = %s;', p.view::oid, p.grantee::oid)
FROM permit p WHERE NOT p.exists
UNION ALL
SELECT c.name, format('has a reviewer, role %s, who does not exist', v.reviewer::oid),
       format('DELETE FROM dp_rdr.reviewer WHERE relation::oid = %s AND reviewer::oid = %s;', c.relation, v.reviewer::oid)
FROM controlled c JOIN dp_rdr.reviewer v ON v.relation = c.relation
WHERE NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = v.reviewer))sql"},
    {"warning", R"sql( -- by DROP OWNED or REVOKE: who grants SELECT again has the policy back as well
SELECT p.name, format('has a policy for %s, who may not read it', p.grantee_name),
       format('SELECT dp_revoke(%L, %L); -- or GRANT SELECT ON %s TO %s', p.name, p.grantee_name, p.name, p.grantee_name)
FROM permit p WHERE p.exists AND NOT has_any_column_privilege(p.grantee::oid, p.view::oid, 'SELECT'))sql"},
    {"warning", R"sql( -- a restricted view that was dropped behind our back: a new view may get its number
SELECT c.name, format('its restricted view %s does not exist any more', f.view),
       format('DELETE FROM dp_rdr.policy WHERE view::oid = %s; DELETE FROM dp_rdr.restricted_view WHERE view::oid = %s;',
              f.view, f.view)
FROM facade f JOIN controlled c ON c.relation = f.relation WHERE NOT f.exists)sql"},
    {"warning", R"sql( -- a restricted view that someone else may replace
SELECT f.name, format('belongs to %s, and not to %s, who owns %s', c.relowner::regrole, f.owner::regrole, f.table_name),
       format('ALTER VIEW %s OWNER TO %s;', f.name, f.owner::regrole)
FROM facade f JOIN pg_class c ON c.oid = f.view WHERE f.exists AND c.relowner <> f.owner)sql"},
};

const Chapter rights_chapter = {subject, checks, sizeof checks / sizeof checks[0]};

} // namespace dp::sql
