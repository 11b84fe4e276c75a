-- All on one page: dp_settings and the calls that set a table up again, dp_about, dp_remaining, dp_rdr.spending, dp_rdr.denials.
LOAD 'dp_rdr';
SET client_min_messages = warning;
DROP ROLE IF EXISTS regress_pages, regress_asks, regress_asks_too, regress_reads, "regress_'q""\x;%s";
CREATE ROLE regress_pages;
CREATE ROLE regress_asks;
CREATE ROLE regress_asks_too;
CREATE ROLE regress_reads;
CREATE ROLE "regress_'q""\x;%s";
GRANT CREATE ON SCHEMA public TO regress_pages;
RESET client_min_messages;
SELECT current_user AS superuser \gset
\pset columns 100
\pset format wrapped

-- ---- what is set up, under names that mean to be taken for something else ----
CREATE SCHEMA "s;'--" AUTHORIZATION regress_pages;
SET ROLE regress_pages;
GRANT USAGE ON SCHEMA "s;'--" TO PUBLIC;
CREATE TABLE "s;'--"."T ""%s\'" (id integer, "n'; DROP" integer, "g'\" text, v numeric(12, 2), later integer);
INSERT INTO "s;'--"."T ""%s\'" SELECT i, i % 50, chr(97 + i % 3), i, i FROM generate_series(1, 200) i;
\set table '''"s;''''--"."T ""%s\\''''"'''
SELECT :table::regclass AS the_table;
SELECT dp_protect(:table, '"s;''--"."all ''\"');
SELECT dp_protect(:table, '"s;''--"."some"', columns => '{"g''\\","n''; DROP"}', filter => '"g''\" <> $$b''\$$ AND id < 1000');
SELECT dp_set_bounds(:table, 'n''; DROP', -7, 50);
SELECT dp_set_bounds(:table, 'v', 0.5, 200);
SELECT dp_set_groups(:table, E'g''\\', ARRAY['a', E'b''\\"{},', NULL, 'c']);
SELECT dp_set_odometer(:table, epsilon_total => 2, delta_total => 1e-5);
SELECT dp_grant('"s;''--"."all ''\"', 'regress_asks', tau => 0.95, epsilon_total => 0.123, delta => 1e-6, weight_max => 4,
                candidates => '{1,0.5,0.05}');
SELECT dp_grant('"s;''--"."all ''\"', 'regress_asks_too', tau_var => 1e-4, epsilon_svt => 0.2);
SET client_min_messages = error;
SELECT dp_grant('"s;''--"."some"', '"regress_''q""\x;%s"', tau => 0.9, selection => 'within_data', epsilon_max => 0.5,
                group_a => '"g''\" = $$a$$', group_b => '"g''\" = $$c$$');
RESET client_min_messages;
SELECT dp_grant('"s;''--"."some"', 'regress_asks', selection => 'profile', mechanism => 'laplace', epsilon_max => 0.3, delta => 0,
                profile => dp_profile('both', relative => 3, absolute => 0.1));
SELECT dp_grant('"s;''--"."all ''\"', 'regress_asks', delta => 0);
SELECT dp_grant('"s;''--"."some"', 'regress_asks', selection => 'profile', mechanism => 'laplace', epsilon_max => 0.3,
                profile => dp_profile('points', p => '{0.1,0.5}', q => '{1,0.5}', r => '{2,3}'));
GRANT SELECT ON "s;'--"."T ""%s\'" TO regress_reads;
GRANT SELECT ("n'; DROP", v) ON "s;'--"."T ""%s\'" TO "regress_'q""\x;%s";

-- (Superusers have other names elsewhere.)
SELECT item, name, value FROM dp_settings(:table) WHERE value <> 'superuser';
SELECT call FROM dp_settings(:table) WHERE call IS NOT NULL;

-- A restricted view means its table.
SELECT count(*) = (SELECT count(*) FROM dp_settings(:table)) AS the_same FROM dp_settings('"s;''--"."some"');

-- ---- saved, and set up again over a copy ----
CREATE TABLE saved AS SELECT row_number() OVER () AS place, * FROM dp_settings(:table);
ALTER TABLE "s;'--"."T ""%s\'" RENAME TO old;
ALTER VIEW "s;'--"."all '\" RENAME TO old_all;
ALTER VIEW "s;'--"."some" RENAME TO old_some;
CREATE TABLE "s;'--"."T ""%s\'" (LIKE "s;'--".old);
SET client_min_messages = error;
\pset tuples_only on
SELECT call FROM saved ORDER BY place \gexec
\pset tuples_only off
RESET client_min_messages;
SELECT count(call) AS calls FROM saved;
(SELECT 'was' AS only, item, name, value, call FROM saved EXCEPT SELECT 'was', * FROM dp_settings(:table))
UNION ALL
(SELECT 'is', * FROM dp_settings(:table) EXCEPT SELECT 'is', item, name, value, call FROM saved);
-- Under another search_path the texts are the same.
SET search_path = "s;'--", public;
(SELECT item, name, value, call FROM saved EXCEPT SELECT * FROM dp_settings(:table));
RESET search_path;
DROP TABLE saved;
-- All other bounds and what goes with them; a call twice is as good as once.
CREATE FUNCTION again(argument regclass) RETURNS TABLE (bound text, budget text, same boolean) LANGUAGE plpgsql AS $$
DECLARE
    before text := (SELECT string_agg(s::text, E'\n') FROM dp_settings(argument) s WHERE s.item IN ('budget', 'policy'));
    call text;
BEGIN
    FOR call IN SELECT s.call FROM dp_settings(argument) s WHERE s.item IN ('budget', 'policy') AND s.call IS NOT NULL LOOP
        EXECUTE call;
    END LOOP;
    RETURN QUERY SELECT s.value, regexp_replace(s.call, '.*bound => ', ''),
        before = (SELECT string_agg(o::text, E'\n') FROM dp_settings(argument) o WHERE o.item IN ('budget', 'policy'))
    FROM dp_settings(argument) s WHERE s.item = 'budget' AND s.name = 'bound';
END $$;
CREATE TABLE turns (x integer);
SELECT dp_protect('turns', 'turns_dp');
SELECT dp_set_odometer('turns', delta_total => 1e-6);
SELECT dp_grant('turns_dp', 'regress_asks', tau => 0.95, mechanism => 'gaussian', delta => 1e-9);
SELECT dp_set_odometer('turns', bound => 'zcdp', epsilon_total => 3, delta_total => 1e-6, delta_conversion => 2e-7, cap => 'classic',
                       epsilon_pure => 0.5);
SELECT * FROM again('turns');
SELECT dp_set_odometer('turns', epsilon_total => 'Infinity', epsilon_pure => 0, rho_target => 0.04);
SELECT * FROM again('turns');
SELECT dp_set_odometer('turns', bound => 'dynamic');
SELECT * FROM again('turns');
SELECT dp_set_odometer('turns', bound => 'none');
SELECT * FROM again('turns');
SELECT dp_grant('turns_dp', 'regress_asks', mechanism => 'laplace', delta => 0);
SELECT dp_set_odometer('turns', bound => 'filter', delta_total => 0, profile => dp_profile('value', relative => 3, prior => 0.1));
SELECT * FROM again('turns');

-- ---- whose page it is ----
RESET ROLE;
SET ROLE regress_asks;
SELECT attempt($$SELECT * FROM dp_settings('turns')$$), attempt($$SELECT * FROM dp_settings('turns_dp')$$);
SELECT attempt($$SELECT * FROM dp_rdr.budget('turns'::regclass)$$), attempt($$SELECT * FROM dp_rdr.denial$$);
SELECT attempt($$SELECT * FROM dp_settings(NULL)$$), attempt($$SELECT * FROM dp_settings('pg_class')$$);
RESET ROLE;
SET ROLE regress_pages;
CREATE TABLE plain (x integer);
SELECT attempt($$SELECT * FROM dp_settings('plain')$$);

-- ---- what was denied, and why ----
CREATE TABLE people (x integer, g text);
INSERT INTO people SELECT i, chr(97 + i % 2) FROM generate_series(1, 100) i;
SELECT dp_protect('people', 'people_dp');
SELECT dp_set_bounds('people', 'x', 0, 100);
SELECT dp_set_groups('people', 'g', '{a,b}');
\set ask 'SET ROLE regress_asks; SELECT attempt($$SELECT count(*) FROM people_dp$$); RESET ROLE; SET ROLE regress_pages; SELECT reason, account, times FROM dp_rdr.denials WHERE relation = \'public.people\' ORDER BY last DESC LIMIT 1;'
\pset tuples_only on
SELECT dp_grant('people_dp', 'regress_asks', tau => 0.95, epsilon_total => 0.04);
:ask
SELECT dp_set_odometer('people', epsilon_total => 0.04), dp_grant('people_dp', 'regress_asks', epsilon_total => 'Infinity');
:ask
:ask
SELECT dp_set_odometer('people', epsilon_total => 1, delta_total => 1e-6),
       dp_grant('people_dp', 'regress_asks', mechanism => 'gaussian', delta => 1e-6);
SELECT dp_set_odometer('people', delta_total => 1e-7);
:ask
SELECT dp_grant('people_dp', 'regress_asks', mechanism => 'laplace', delta => 0, tau => 1);
:ask
SELECT dp_grant('people_dp', 'regress_asks', tau => 0.95, epsilon_max => 0.0005);
:ask
SELECT dp_grant('people_dp', 'regress_asks', tau => 0.95, epsilon_max => 1);
SELECT dp_set_odometer('people', bound => 'zcdp', epsilon_total => 0.03, delta_total => 1e-6);
:ask
SELECT dp_set_odometer('people', epsilon_total => 1, epsilon_pure => 0.03);
:ask
-- Of a selection what is in the way of the smallest candidate; a step of a round like any charge.
SELECT dp_set_odometer('people', bound => 'filter', epsilon_total => 0.0005, delta_total => 0);
SELECT dp_grant('people_dp', 'regress_asks', tau_var => 1e-4);
:ask
SELECT dp_grant('people_dp', 'regress_asks', tau => 0.95, epsilon_total => 0.0002);
SELECT dp_set_odometer('people', epsilon_total => 1);
SET ROLE regress_asks;
SELECT attempt($$SELECT n FROM dp_query('SELECT count(*) FROM people_dp', within => 0.1) AS (n bigint)$$);
SET ROLE regress_pages;
SELECT reason, account, times FROM dp_rdr.denials WHERE relation = 'public.people' ORDER BY last DESC LIMIT 1;
SELECT dp_set_odometer('people', epsilon_total => 0.15), dp_grant('people_dp', 'regress_asks', epsilon_total => 'Infinity');
SELECT dp_grant('people_dp', 'regress_asks', selection => 'profile', profile => dp_profile('inclusion', relative => 1.1), epsilon_max => 0.15);
:ask
SELECT dp_grant('people_dp', 'regress_asks', profile => '{}', tau => 0.95, epsilon_max => 1);
SELECT dp_set_odometer('people', bound => 'dynamic', epsilon_total => 1);
SET ROLE regress_asks;
SELECT attempt($$SELECT count(*) FROM people_dp$$);
SET ROLE regress_pages;
:ask
-- Within a period, and over all.
SET client_min_messages = error;
SELECT dp_set_odometer('people', bound => 'filter', epsilon_total => 0.06, period => 'year', epsilon_lifetime => 0.5);
:ask
SELECT dp_set_odometer('people', epsilon_total => 0.07, epsilon_lifetime => 0.07);
RESET client_min_messages;
RESET ROLE;
UPDATE dp_rdr.privacy_domain SET period_since = '2001-02-03' FROM dp_rdr.protected_table WHERE id = domain AND relation = 'people'::regclass;
UPDATE dp_rdr.odometer SET public_period_kind = 'year', public_period_start = '2001-01-01 00:00Z' WHERE relation_name = 'public.people';
SET ROLE regress_pages;
:ask
SELECT dp_set_odometer('people', epsilon_total => 1, period => '');
-- From the data, and the owner's own call.
SET client_min_messages = error;
SELECT dp_set_odometer('people', bound => 'filter');
SELECT dp_grant('people_dp', 'regress_asks', tau => 1, selection => 'within_data');
RESET client_min_messages;
:ask
CALL dp_find_and_release_epsilon('SELECT count(*) FROM people_dp', 0.000001, 5, NULL, NULL, candidates => '{5}');
SELECT role_name, reason, account, times FROM dp_rdr.denials WHERE relation = 'public.people' ORDER BY last DESC LIMIT 1;
\pset tuples_only off

-- All of them, as often as the odometer has counted.
SELECT sum(d.times) = (SELECT sum(o.denials) FROM dp_odometer('people') o) AS as_counted, count(*) AS different,
       bool_and(first <= last) AS in_order
FROM dp_rdr.denials d WHERE relation = 'public.people';
SELECT view, role_name, session_role = :'superuser' AS session, query, reason, account, times
FROM dp_rdr.denials WHERE relation = 'public.people' ORDER BY reason COLLATE "C", account, query, role_name COLLATE "C";

-- Of a long question the beginning.
SELECT dp_set_odometer('people', epsilon_total => 0.01), dp_grant('people_dp', 'regress_asks', selection => 'within_domain', tau => 0.95);
SET ROLE regress_asks;
SELECT attempt('SELECT count(*) FROM people_dp WHERE g = ' || quote_literal(repeat('x', 20000)));
SELECT attempt('SELECT count(*) FROM people_dp WHERE g = ' || quote_literal(repeat('x', 20000)));
SET ROLE regress_pages;
SELECT length(query), regexp_replace(right(query, 106), '[0-9a-f]{64}', 'hash') AS ends, times FROM dp_rdr.denials WHERE length(query) > 1000;

-- Analysts see that they were denied, and nothing else; nor does another owner.
SET ROLE regress_asks;
SELECT count(*) FROM dp_rdr.denials;
SELECT count(*) FROM dp_rdr.spending;
SET ROLE regress_controller;
SELECT count(*) FROM dp_rdr.denials WHERE relation LIKE '%people';
SELECT count(*) FROM dp_rdr.spending WHERE relation LIKE '%people';

-- ---- who spent what ----
SET ROLE regress_pages;
SELECT relation, view, day = (now() AT TIME ZONE 'UTC')::date AS today, role_name, account, releases, epsilon, delta, rho
FROM dp_rdr.spending WHERE relation = 'public.people' ORDER BY role_name, account;
SELECT (SELECT sum(epsilon) FROM dp_rdr.spending WHERE relation = 'public.people') =
       (SELECT sum(epsilon) FROM dp_odometer('people')) AS as_counted;

-- ---- the analyst's page ----
SELECT dp_set_odometer('people', epsilon_total => 1.5, delta_total => 1e-6),
       dp_grant('people_dp', 'regress_asks', epsilon_total => 1);
SET ROLE regress_asks;
SELECT * FROM dp_about('people_dp');
-- How often: as often as it is answered.
CREATE FUNCTION pg_temp.until_denied(question text) RETURNS TABLE (answers bigint, reason text, asked bigint, after bigint)
LANGUAGE plpgsql AS $$
BEGIN
    SELECT r.answers, r.reason INTO answers, reason FROM dp_remaining(question) r;
    asked := 0;
    WHILE attempt(question) = 'accepted' LOOP
        asked := asked + 1;
    END LOOP;
    SELECT r.answers INTO after FROM dp_remaining(question) r;
    RETURN NEXT;
END $$;
SELECT * FROM pg_temp.until_denied('SELECT g, count(*), sum(x) FROM people_dp GROUP BY g');
SET ROLE regress_pages;
SELECT dp_grant('people_dp', 'regress_asks', epsilon_total => 1.19);
SET ROLE regress_asks;
SELECT * FROM pg_temp.until_denied('SELECT (SELECT count(*) FROM people_dp), (SELECT sum(x) FROM people_dp)');
SET ROLE regress_pages;
SELECT dp_grant('people_dp', 'regress_asks', epsilon_total => 'Infinity');
SET ROLE regress_asks;
SELECT * FROM pg_temp.until_denied('SELECT count(*), avg(x) FROM people_dp');
SET ROLE regress_pages;
SET client_min_messages = warning;
SELECT dp_set_odometer('people', bound => 'zcdp', epsilon_total => 1, delta_total => 1e-6);
SET ROLE regress_asks;
SELECT * FROM pg_temp.until_denied('SELECT count(*) FROM people_dp');
SET ROLE regress_pages;
SELECT dp_set_odometer('people', epsilon_total => 3);
SELECT dp_grant('people_dp', 'regress_asks', mechanism => 'gaussian', delta => 1e-6);
SET ROLE regress_asks;
SELECT * FROM pg_temp.until_denied('SELECT sum(x) FROM people_dp');
SELECT * FROM dp_about('people_dp') WHERE item IN ('policy', 'price', 'answers left');
SET ROLE regress_pages;
SELECT dp_set_odometer('people', bound => 'dynamic', epsilon_total => 9), dp_grant('people_dp', 'regress_asks', mechanism => 'laplace', delta => 0);
SET ROLE regress_asks;
SELECT * FROM pg_temp.until_denied('SELECT count(*) FROM people_dp');
SET ROLE regress_pages;
SELECT dp_set_odometer('people', bound => 'dynamic', epsilon_total => 'Infinity'), dp_grant('people_dp', 'regress_asks', tau => 0.001, epsilon_max => 10);
SET ROLE regress_asks;
SELECT * FROM pg_temp.until_denied('SELECT count(*) FROM people_dp');
-- With a period, and a replay.
SET ROLE regress_pages;
SELECT dp_set_odometer('people', bound => 'filter', epsilon_total => 30, period => 'month', epsilon_lifetime => 30.2, delta_lifetime => 1e-5);
SELECT dp_grant('people_dp', 'regress_asks', tau => 0.95, epsilon_max => 1, replay => '1 month 02:00', epsilon_total => 28);
SET ROLE regress_asks;
SELECT item, name, regexp_replace(value, '\d{4}-\d\d-\d\d', 'DAY') AS value FROM dp_about('people_dp') WHERE item IN ('answers left', 'period', 'replay');
SET ROLE regress_pages;
SELECT item, name, regexp_replace(value, '\d{4}-\d\d-\d\d', 'DAY') AS value FROM dp_settings('people') WHERE item = 'budget';
SELECT value = (SELECT to_char(period_end AT TIME ZONE 'UTC', 'YYYY-MM-DD') FROM dp_odometer('people') LIMIT 1) AS same_end FROM dp_settings('people') WHERE name = 'period end';
SELECT * FROM again('people');
-- What was answered is given again; what will be, too.
SET ROLE regress_asks;
SELECT * FROM dp_remaining('SELECT count(*) FROM people_dp WHERE x > 7');
SELECT attempt('SELECT count(*) FROM people_dp WHERE x > 7');
SELECT * FROM dp_remaining('SELECT count(*) FROM people_dp WHERE x > 7');
SELECT * FROM dp_remaining('SELECT g FROM people_dp GROUP BY g');
SELECT * FROM dp_remaining('SELECT (SELECT count(*) FROM people_dp WHERE x > 7), (SELECT count(*) FROM people_dp WHERE x > 8)');
SELECT value FROM dp_about('people_dp') WHERE item = 'answers left';
SET ROLE regress_pages;
SELECT dp_grant('people_dp', 'regress_asks', replay => '0', epsilon_total => 'Infinity');
SELECT dp_set_odometer('people', bound => 'none', period => '');
RESET client_min_messages;
SET ROLE regress_asks;
SELECT * FROM dp_remaining('SELECT count(*) FROM people_dp');
SELECT * FROM dp_remaining('SELECT x, count(*) FROM people_dp GROUP BY x');
SELECT * FROM dp_remaining('SELECT * FROM people_dp');
SELECT * FROM dp_remaining('SELECT 1');
SELECT attempt('SELECT * FROM dp_remaining(NULL)'), attempt('SELECT * FROM dp_about(NULL)');
-- From the data; selected; nobody's.
RESET ROLE;
SET ROLE regress_pages;
SET client_min_messages = error;
SELECT dp_grant('people_dp', 'regress_asks', tau => 0.95, selection => 'within_data');
RESET client_min_messages;
SELECT dp_grant('people_dp', 'regress_asks_too', tau_var => 1e-4, delta => 1e-6);
SET ROLE regress_asks;
SELECT * FROM dp_about('people_dp') WHERE item IN ('policy', 'price', 'answers left');
SELECT * FROM dp_remaining('SELECT count(*) FROM people_dp');
SET ROLE regress_asks_too;
SELECT * FROM dp_about('people_dp') WHERE item IN ('policy', 'price', 'answers left');
SELECT * FROM dp_remaining('SELECT count(*) FROM people_dp');
SET ROLE regress_reads;
SELECT attempt($$SELECT * FROM dp_about('people_dp')$$), attempt($$SELECT * FROM dp_about('people')$$);
SELECT * FROM dp_remaining('SELECT count(*) FROM people_dp');

-- ---- what charges from the data cannot change ----
SET ROLE regress_pages;
CREATE TABLE twins (x integer);
INSERT INTO twins SELECT generate_series(1, 100);
SELECT dp_protect('twins', 'twins_dp');
SELECT dp_set_bounds('twins', 'x', 0, 100);
SELECT dp_grant('twins_dp', 'regress_asks', tau => 0.95, epsilon_total => 0.7);
SET client_min_messages = error;
SELECT dp_grant('twins_dp', 'regress_asks_too', tau => 0.5, selection => 'within_data');
SET ROLE regress_asks;
CREATE FUNCTION pg_temp.shown() RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(x, E'\n') FROM (
      SELECT a::text FROM dp_about('twins_dp') a
      UNION ALL SELECT r::text FROM dp_remaining('SELECT count(*), sum(x) FROM twins_dp') r
      UNION ALL SELECT e::text FROM dp_explain('SELECT avg(x) FROM twins_dp WHERE x = 4') e) y (x)
$$;
SELECT pg_temp.shown() AS filter_before \gset
SET ROLE regress_asks_too;
SELECT attempt('SELECT count(*), sum(x) FROM twins_dp WHERE x > 30') FROM generate_series(1, 3);
SET ROLE regress_asks;
SELECT pg_temp.shown() = :'filter_before' AS the_same;
SET ROLE regress_pages;
SELECT dp_set_odometer('twins', epsilon_total => 1.9, period => 'year', epsilon_lifetime => 3);
SET ROLE regress_asks;
SELECT pg_temp.shown() AS period_before \gset
SET ROLE regress_asks_too;
SELECT attempt('SELECT count(*), sum(x) FROM twins_dp WHERE x > 30') FROM generate_series(1, 2);
SET ROLE regress_asks;
SELECT pg_temp.shown() = :'period_before' AS the_same;
SET ROLE regress_pages;
SELECT dp_set_odometer('twins', bound => 'zcdp', epsilon_total => 2, delta_total => 1e-6, period => '');
SET ROLE regress_asks;
SELECT pg_temp.shown() AS zcdp_before \gset
SET ROLE regress_asks_too;
SELECT attempt('SELECT count(*), sum(x) FROM twins_dp WHERE x > 30') FROM generate_series(1, 2);
SET ROLE regress_asks;
SELECT pg_temp.shown() = :'zcdp_before' AS the_same;
SET ROLE regress_pages;
SELECT account, epsilon > 0.5 OR rho > 0.1 AS much FROM dp_odometer('twins') ORDER BY account;
SELECT name FROM dp_settings('twins') WHERE name = 'conditional';
RESET client_min_messages;

-- ---- before it is used up ----
SET ROLE regress_pages;
SET client_min_messages = error;
SELECT dp_revoke('people_dp', 'regress_asks_too');
SELECT dp_set_odometer('people', bound => 'filter', epsilon_total => 20, delta_total => 1e-6);
RESET client_min_messages;
SELECT name, value FROM dp_settings('people') WHERE item = 'budget' AND name ~ 'used|left';
SELECT finding, remedy FROM dp_audit() WHERE object = 'people' AND finding ~ 'is used' OR object = 'public.people' AND finding ~ 'is used';
SELECT epsilon / 0.8 AS total FROM dp_odometer('people') WHERE account = 'public' \gset
SELECT dp_set_odometer('people', epsilon_total => :total);
SELECT finding ~ '^80 % of epsilon_total is used' AS told, remedy FROM dp_audit() WHERE finding ~ 'is used' AND remedy ~ 'people';
SELECT dp_set_odometer('people', epsilon_total => :total + 0.01);
SELECT count(*) FROM dp_audit() WHERE finding ~ 'is used' AND remedy ~ 'people';

-- Under none no total binds, and none is shown; the call that sets the table up again has what is kept.
SET ROLE regress_pages;
SET client_min_messages = warning;
SELECT dp_set_odometer('people', bound => 'none', epsilon_total => 9);
SELECT name, value, call ~ 'epsilon_total => 9,' AS kept FROM dp_settings('people') WHERE item = 'budget' AND (name ~ 'total' OR name = 'bound') ORDER BY name;
RESET client_min_messages;

RESET ROLE;
DROP OWNED BY regress_pages, regress_asks, regress_asks_too, regress_reads, "regress_'q""\x;%s";
DELETE FROM dp_rdr.denial d WHERE NOT EXISTS (SELECT FROM dp_rdr.protected_table t JOIN pg_class c ON c.oid = t.relation WHERE t.domain = d.table_id);
DELETE FROM dp_rdr.protected_table t WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = t.relation);
DELETE FROM dp_rdr.stored_answer;
DROP ROLE regress_pages, regress_asks, regress_asks_too, regress_reads, "regress_'q""\x;%s";
