-- What a controller declares, and every value that is refused: bounds, groups, the odometer's bound, policies. What fails
-- changes nothing.

LOAD 'dp_rdr';
SET ROLE regress_controller;
\set VERBOSITY terse

CREATE TYPE mood AS ENUM ('bad', 'fair', 'good');
CREATE DOMAIN grade AS smallint CHECK (VALUE BETWEEN 0 AND 6);
CREATE DOMAIN label AS varchar(4);
RESET ROLE;
CREATE SCHEMA apart AUTHORIZATION regress_controller;
SET ROLE regress_controller;
CREATE COLLATION apart.loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE thing (
    i2 smallint, i4 integer, i8 bigint, f4 real, f8 double precision, n numeric, n2 numeric(6, 2), g grade,
    t text, v varchar(4), c char(4), l label, d date, b boolean, m mood, x xml, ci text COLLATE apart.loose, "Odd ""name" integer
);
CREATE TABLE unprotected (v integer);
CREATE VIEW ordinary AS SELECT * FROM thing;
SELECT dp_protect('thing', 'thing_dp');

-- The settings of the table, to see what changed.
RESET ROLE;
CREATE FUNCTION settings(OUT what text, OUT value text) RETURNS SETOF record LANGUAGE sql SECURITY DEFINER AS $$
    SELECT what, value FROM (
        SELECT 'bounds of ' || column_name, lower::float8 || '..' || upper::float8 FROM dp_rdr.column_bounds WHERE relation = 'thing'::regclass UNION ALL
        SELECT 'groups of ' || column_name, groups::text FROM dp_rdr.column_groups WHERE relation = 'thing'::regclass UNION ALL
        SELECT 'bound', concat_ws(' ', bound, epsilon_total, delta_total) FROM dp_rdr.protected_table JOIN dp_rdr.privacy_domain ON id = domain WHERE relation = 'thing'::regclass UNION ALL
        SELECT 'policy of ' || grantee, concat_ws(' ', 'tau', tau, selection, mechanism, 'delta', delta, 'max', epsilon_max, 'share', epsilon_total,
                         cardinality(candidates) || ' candidates')
        FROM dp_rdr.policy WHERE view = 'thing_dp'::regclass) s (what, value)
    ORDER BY what COLLATE "C" $$;
CREATE FUNCTION bound() RETURNS text LANGUAGE sql AS $$ SELECT value FROM settings() WHERE what = 'bound' $$;
SET ROLE regress_controller;

-- ---------------------------------------------------------------------------------------------------------------------
-- Bounds
-- ---------------------------------------------------------------------------------------------------------------------

SELECT arguments, attempt('SELECT dp_set_bounds(' || arguments || ')') FROM (VALUES
    ($$'thing', 'i2', 0, 10$$), ($$'thing', 'i4', -5, 5$$), ($$'thing', 'i8', 0, 9223372036854775807$$),
    ($$'thing', 'f4', -0.5, 0.5$$), ($$'thing', 'f8', 0, 1e300$$), ($$'thing', 'n', 1e-200, 2e-200$$), ($$'thing', 'n2', 0, 9999.99$$),
    ($$'thing', 'g', 0, 6$$), ($$'thing', 'Odd "name', 1, 2$$), ($$'thing_dp', 'i4', -7, 7$$),
    ($$'thing', 'i4', 1, 1$$), ($$'thing', 'i4', 2, 1$$), ($$'thing', 'i4', 'NaN', 1$$), ($$'thing', 'i4', 0, 'NaN'$$),
    ($$'thing', 'i4', '-Infinity', 1$$), ($$'thing', 'i4', 0, 'Infinity'$$), ($$'thing', 'f8', 0, 1e302$$), ($$'thing', 'f8', 0, 1e-272$$),
    ($$'thing', 'i4', NULL, 1$$), ($$'thing', 'i4', 0, NULL$$), ($$'thing', NULL, 0, 1$$), ($$NULL, 'i4', 0, 1$$),
    ($$'thing', 'unknown', 0, 1$$), ($$'thing', 'ctid', 0, 1$$), ($$'thing', 'I4', 0, 1$$), ($$'thing', '', 0, 1$$),
    ($$'thing', 't', 0, 1$$), ($$'thing', 'd', 0, 1$$), ($$'thing', 'b', 0, 1$$), ($$'thing', 'm', 0, 1$$),
    ($$'unprotected', 'v', 0, 1$$), ($$'ordinary', 'i4', 0, 1$$), ($$'unknown', 'v', 0, 1$$)) t (arguments);
-- Literals are read as values of the column: errors name it, and a type without bounds comes first.
SELECT arguments, attempt('SELECT dp_set_bounds(' || arguments || ')') FROM (VALUES
    ($$'thing', 't', 'desk', 'shelf'$$), ($$'thing', 'b', 'f', 't'$$), ($$'thing', 'i4', 'a', '1'$$), ($$'thing', 'd', 'a', '2025-01-01'$$)) t (arguments);
SELECT * FROM settings() WHERE what ~ '^bounds';

-- ---------------------------------------------------------------------------------------------------------------------
-- Groups: cast to the column's type once, compared as its values
-- ---------------------------------------------------------------------------------------------------------------------

SELECT arguments, attempt('SELECT dp_set_groups(' || arguments || ')') FROM (VALUES
    ($$'thing', 'i4', '{1,2,NULL}'$$), ($$'thing', 't', '{a,A,"",NULL}'$$), ($$'thing', 'v', '{ab,cd}'$$), ($$'thing', 'c', '{a,b}'$$),
    ($$'thing', 'n', '{1,2.5}'$$), ($$'thing', 'd', '{2024-01-31,2024-02-29}'$$), ($$'thing', 'b', '{true}'$$), ($$'thing', 'm', '{good,bad}'$$),
    ($$'thing', 'l', '{abcd}'$$), ($$'thing', 'g', '{0,1,2}'$$), ($$'thing', 'Odd "name', '{1}'$$), ($$'thing_dp', 'i2', '{7}'$$),
    ($$'thing', 'i4', '{1,01}'$$), ($$'thing', 'n', '{1.0,1.00}'$$), ($$'thing', 'c', '{a,"a "}'$$), ($$'thing', 't', '{a,b,a}'$$),
    ($$'thing', 'i4', '{NULL,NULL}'$$), ($$'thing', 'f8', '{0,-0}'$$), ($$'thing', 'b', '{t,true}'$$), ($$'thing', 'd', '{2024-01-31,20240131}'$$),
    ($$'thing', 'ci', '{a,b}'$$), ($$'thing', 'i4', '{}'$$), ($$'thing', 'i4', NULL$$), ($$'thing', NULL, '{1}'$$), ($$NULL, 'i4', '{1}'$$),
    ($$'thing', 'i4', '{one}'$$), ($$'thing', 'm', '{excellent}'$$), ($$'thing', 'g', '{9}'$$), ($$'thing', 'v', '{abcde}'$$), ($$'thing', 'i2', '{70000}'$$),
    ($$'thing', 'x', '{<a/>}'$$), ($$'thing', 'unknown', '{1}'$$), ($$'unprotected', 'v', '{1}'$$), ($$'unknown', 'v', '{1}'$$)) t (arguments);
SELECT what, value FROM settings() WHERE what ~ '^groups';

-- ---------------------------------------------------------------------------------------------------------------------
-- The odometer's bound
-- ---------------------------------------------------------------------------------------------------------------------

SELECT arguments, attempt('SELECT dp_set_odometer(' || arguments || ')'), bound() FROM (VALUES
    ($$'thing', 'filter', 3.5, 1e-6$$), ($$'thing', 'dynamic'$$), ($$'thing', 'dynamic', NULL, 1e-5$$), ($$'thing', 'none', NULL$$), ($$'thing', 'none', 2$$),
    ($$'thing'$$), ($$'thing', epsilon_total => 0$$), ($$'thing', delta_total => 0.5$$), ($$'thing_dp', 'filter', 2$$),
    ($$'thing', 'filter', NULL$$), ($$'thing', 'sequential'$$), ($$'thing', NULL$$), ($$'thing', 'FILTER'$$), ($$'thing', epsilon_total => -1$$),
    ($$'thing', epsilon_total => 'NaN'$$), ($$'thing', epsilon_total => 'Infinity'$$), ($$'thing', delta_total => -1e-9$$),
    ($$'thing', delta_total => 1$$), ($$'thing', delta_total => 'NaN'$$), ($$'thing', delta_total => NULL$$),
    ($$'unprotected'$$), ($$'ordinary'$$), ($$'unknown'$$), ($$NULL$$)) t (arguments);

-- ---------------------------------------------------------------------------------------------------------------------
-- Policies
-- ---------------------------------------------------------------------------------------------------------------------

SELECT dp_set_odometer('thing', delta_total => 1e-4);
SELECT arguments, attempt($$SELECT dp_grant('thing_dp', 'regress_analyst', $$ || arguments || ')') FROM (VALUES
    ($$tau => 0$$), ($$tau => 1$$), ($$tau => 0.5, selection => 'within_domain'$$), ($$0.25, mechanism => 'gaussian', delta => 1e-4$$),
    ($$tau => 0.95, candidates => '{0.1,3,0.000000001,100}', epsilon_max => 100, epsilon_total => 7, delta => 0.00005$$),
    ($$tau => NULL$$), ($$tau => 0.5, tau_var => 0.5$$), ($$tau => 'NaN'$$), ($$tau => -0.1$$), ($$tau => 1.1$$), ($$tau => 'Infinity'$$),
    ($$tau => 0.5, selection => 'released'$$), ($$tau => 0.5, selection => 'best'$$),
    ($$tau => 0.5, mechanism => 'exponential'$$), ($$tau => 0.5, mechanism => NULL$$),
    ($$tau => 0.5, mechanism => 'gaussian'$$), ($$tau => 0.5, mechanism => 'gaussian', delta => 0$$),
    ($$tau => 0.5, delta => 1$$), ($$tau => 0.5, delta => -1e-9$$), ($$tau => 0.5, delta => 'NaN'$$), ($$tau => 0.5, delta => NULL$$),
    ($$tau => 0.5, delta => 0.000100001$$),
    ($$tau => 0.5, epsilon_max => 0$$), ($$tau => 0.5, epsilon_max => 1e-10$$), ($$tau => 0.5, epsilon_max => 101$$), ($$tau => 0.5, epsilon_max => 'NaN'$$),
    ($$tau => 0.5, epsilon_max => 'Infinity'$$), ($$tau => 0.5, epsilon_max => NULL$$), ($$tau => 0.5, epsilon_total => -1$$), ($$tau => 0.5, epsilon_total => 'NaN'$$),
    ($$tau => 0.5, epsilon_svt => 0$$), ($$tau => 0.5, epsilon_svt => 'NaN'$$),
    ($$tau => 0.5, candidates => '{}'$$), ($$tau => 0.5, candidates => '{NaN}'$$), ($$tau => 0.5, candidates => '{Infinity}'$$),
    ($$tau => 0.5, candidates => '{1,NULL}'$$), ($$tau => 0.5, candidates => '{-1}'$$), ($$tau => 0.5, candidates => '{0}'$$),
    ($$tau => 0.5, candidates => '{1e-10}'$$), ($$tau => 0.5, candidates => '{1,2,1.000}'$$), ($$tau => 0.5, candidates => '{0.1,0.1000000001}'$$),
    ($$tau => 0.5, candidates => '{{0.1,0.2},{0.3,0.3}}'$$), ($$tau => 0.5, candidates => '{101}'$$),
    ($$tau => 0.5, candidates => (SELECT array_agg(g) FROM generate_series(1, 64) g)$$), ($$tau => 0.5, candidates => (SELECT array_agg(g) FROM generate_series(1, 65) g)$$),
    ($$tau => 0.5, weight_min => 0$$), ($$tau => 0.5, weight_max => 'NaN'$$), ($$tau => 0.5, weight_min => -1$$), ($$tau => 0.5, weight_max => 'Infinity'$$)) t (arguments);
SELECT statement, attempt(statement) FROM (VALUES
    ($$SELECT dp_grant('thing', 'regress_analyst', 0.5)$$), ($$SELECT dp_grant('ordinary', 'regress_analyst', 0.5)$$),
    ($$SELECT dp_grant('unknown', 'regress_analyst', 0.5)$$), ($$SELECT dp_grant('thing_dp', 'regress_nobody', 0.5)$$),
    ($$SELECT dp_grant(NULL, 'regress_analyst', 0.5)$$), ($$SELECT dp_grant('thing_dp', NULL, 0.5)$$),
    ($$SELECT dp_revoke('thing', 'regress_analyst')$$), ($$SELECT dp_revoke('thing_dp', 'regress_nobody')$$), ($$SELECT dp_revoke(NULL, 'regress_analyst')$$),
    ($$SELECT dp_unprotect('thing')$$), ($$SELECT dp_unprotect('ordinary')$$), ($$SELECT dp_unprotect(NULL)$$)) t (statement);
SELECT * FROM settings() WHERE what ~ '^policy';

-- What the controller is warned of.
\set VERBOSITY default
SELECT dp_grant('thing_dp', 'regress_second', tau => 0.95, selection => 'within_data');
SELECT dp_revoke('thing_dp', 'regress_stranger');
\set VERBOSITY terse
-- SELECT on the view comes and goes with the policy.
SELECT r AS role, has_table_privilege(r, 'thing_dp', 'SELECT') AS may_select FROM unnest('{regress_analyst,regress_second,regress_stranger}'::text[]) r;
SELECT dp_revoke('thing_dp', 'regress_second');
SELECT dp_grant('thing_dp', 'regress_analyst', 0.9); -- keeps the rest
SELECT has_table_privilege('regress_second', 'thing_dp', 'SELECT') AS may_select;
SELECT * FROM settings() WHERE what ~ '^policy';

-- ---------------------------------------------------------------------------------------------------------------------
-- The owner alone
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE settings_before AS SELECT * FROM settings();
GRANT ALL ON thing, thing_dp TO regress_analyst;
SET ROLE regress_analyst;
SELECT statement, attempt(statement) FROM (VALUES
    ($$SELECT dp_protect('thing', 'pg_temp.other_dp')$$), ($$SELECT dp_unprotect('thing_dp')$$),
    ($$SELECT dp_set_bounds('thing', 'i4', 0, 1)$$), ($$SELECT dp_set_bounds('thing', 'unknown', 0, 1)$$), ($$SELECT dp_set_bounds('thing_dp', 'i4', 0, 1)$$),
    ($$SELECT dp_set_groups('thing', 't', '{x}')$$), ($$SELECT dp_set_odometer('thing', 'none', NULL)$$), ($$SELECT dp_set_odometer('unprotected')$$),
    ($$SELECT dp_grant('thing_dp', 'regress_analyst', tau => 0)$$), ($$SELECT dp_revoke('thing_dp', 'regress_analyst')$$)) t (statement);
SET ROLE regress_controller;
SELECT count(*) AS changed FROM (TABLE settings_before EXCEPT SELECT * FROM settings()) s;

-- A member of the owning role is a controller; so is a superuser.
CREATE TABLE members (v integer);
RESET ROLE;
ALTER TABLE members OWNER TO regress_team;
GRANT CREATE ON SCHEMA public TO regress_team;
SET ROLE regress_member;
SELECT dp_protect('members', 'members_dp');
SELECT dp_set_bounds('members', 'v', 0, 1), dp_set_odometer('members', 'none', NULL), dp_grant('members_dp', 'regress_analyst', 0.5);
SELECT account, bound FROM dp_odometer('members');
SELECT relname, relowner::regrole FROM pg_class WHERE relname IN ('members', 'members_dp') ORDER BY 1;
RESET ROLE;
SELECT dp_set_bounds('members', 'v', 0, 2);
SELECT dp_unprotect('members_dp');

DROP TABLE members;
REVOKE CREATE ON SCHEMA public FROM regress_team;
SET ROLE regress_controller;
SELECT dp_unprotect('thing_dp');
DROP TABLE thing, unprotected, settings_before CASCADE;
DROP TYPE mood, grade, label;
RESET ROLE;
DROP SCHEMA apart CASCADE;
DROP FUNCTION settings, bound;
