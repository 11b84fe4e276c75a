-- Each way through the extension once, while every cache is emptied whenever it may be (debug_discard_caches): what was found in
-- one and is still held points to junk. Answers have no noise to speak of, so that they can be told. The output is TAP.
--
--   psql -qXAt -f test/asserts/no_caches.sql       as a superuser, on a server with assertions of its own; changes its settings
\set ON_ERROR_STOP on
CREATE EXTENSION dp_rdr;
SELECT format('ALTER DATABASE %I SET session_preload_libraries = dp_rdr', current_database()) \gexec
SET client_min_messages = error;
CREATE ROLE controller LOGIN;
CREATE ROLE readers;
CREATE ROLE analyst LOGIN IN ROLE readers;
CREATE ROLE chooser LOGIN;
GRANT CREATE ON SCHEMA public TO controller;
CREATE SEQUENCE result_number;
GRANT USAGE ON result_number TO PUBLIC;
CREATE FUNCTION ok(holds boolean, what text) RETURNS text LANGUAGE sql AS
$$SELECT CASE WHEN holds THEN 'ok ' ELSE 'not ok ' END || nextval('public.result_number') || ' - ' || what$$;

\connect
SET SESSION AUTHORIZATION controller;
SET client_min_messages = error;
CREATE TYPE mood AS ENUM ('calm', 'gay', 'sad');
CREATE TABLE town (name text PRIMARY KEY, land text);
INSERT INTO town VALUES ('Oslo', 'no'), ('Pisa', 'it'), ('Rome', 'it');
CREATE TABLE person (id integer, age smallint CHECK (age >= 0), pay numeric(10,2), rate double precision, town text, mood mood,
                     born date, note varchar(20), PRIMARY KEY (id, age)) PARTITION BY RANGE (age);
CREATE TABLE young PARTITION OF person FOR VALUES FROM (0) TO (40);
CREATE TABLE old PARTITION OF person FOR VALUES FROM (40) TO (200);
CREATE INDEX ON person (lower(town)) WHERE age > 3;
INSERT INTO person SELECT g, g % 80, g % 100, g % 7, (ARRAY['Oslo', 'Pisa', 'Rome'])[1 + g % 3], (ARRAY['calm', 'gay', 'sad'])[1 + g % 3]::mood,
    date '1980-01-01' + g, 'note ' || g % 5 FROM generate_series(1, 400) g;
CREATE STATISTICS of_person ON (age + 1), town FROM person;
ANALYZE person;
CREATE TABLE loose (a integer, b text);
INSERT INTO loose SELECT g, 'x' || g % 4 FROM generate_series(1, 100) g;

SELECT ok(dp_protect('person', 'person_dp', filter => 'age < 60 AND lower(town) <> ''x''')::text = 'person_dp', 'dp_protect');
SELECT ok(dp_protect('loose', 'loose_dp')::text = 'loose_dp', 'dp_protect of another table');
SELECT dp_set_bounds('person', 'pay', 0, 100), dp_set_bounds('person', 'rate', 0, 10), dp_set_bounds('loose', 'a', 0, 100);
SELECT dp_set_groups('person', 'town', '{Oslo,Pisa,Rome}');
SELECT dp_set_odometer('person', 'filter', 1e6, 0.1), dp_set_odometer('loose', 'none');
SELECT dp_grant('person_dp', 'readers', tau => 0, epsilon_max => 100, candidates => '{100}', delta => 1e-9);
SELECT dp_grant('loose_dp', 'analyst', tau => 0.5, selection => 'within_data', epsilon_max => 100, candidates => '{1,100}');
SELECT dp_grant('person_dp', 'chooser', tau_var => 0.5, delta => 1e-9);

\connect
ALTER SYSTEM SET debug_discard_caches = 1;
SELECT pg_reload_conf() AS reloaded, pg_sleep(1) AS slept \gset
\connect
SET SESSION AUTHORIZATION analyst;
SELECT ok(current_setting('debug_discard_caches') = '1', 'no caches');

SELECT ok(count(*) = 300, 'a count') FROM person_dp;
SELECT ok(count(*) = 3 AND sum(n) BETWEEN 290 AND 310, 'declared groups')
FROM (SELECT town, count(*) AS n FROM person_dp GROUP BY town) t;
SELECT ok(count(*) = 5 AND sum(n) BETWEEN 290 AND 310, 'discovered groups') FROM (SELECT note, count(*) AS n FROM person_dp GROUP BY note) t;
SELECT ok(s BETWEEN 10000 AND 20000 AND a BETWEEN 2 AND 4, 'a sum and an average')
FROM (SELECT sum(pay) AS s, avg(rate) FILTER (WHERE mood <> 'sad') AS a FROM person_dp) t;
SELECT ok(count(*) >= 0, 'total functions')
FROM (SELECT count(*) AS n FROM person_dp WHERE extract(year FROM born) > 1980 AND upper(note) LIKE 'NOTE%' AND age + 1 > 3 AND town IN ('Oslo', 'Pisa')) t;
PREPARE asked(integer, text) AS SELECT count(*) AS n FROM person_dp WHERE age > $1 AND town = $2;
SELECT ok(true, 'a prepared statement');
EXECUTE asked(10, 'Oslo') \gset of_
EXECUTE asked(10, 'Oslo') \gset again_
SELECT ok(abs(:of_n - :again_n) <= 1, 'it answers twice');
WITH w AS (SELECT town AS t, pay FROM person_dp WHERE age > 2), x AS (SELECT t, sum(pay) AS s FROM w GROUP BY t HAVING count(*) > 3)
SELECT ok(count(*) = 3, 'WITH, HAVING and a join with a table') FROM x JOIN (VALUES ('Oslo'), ('Pisa'), ('Rome')) v (t) USING (t);
SELECT ok(n BETWEEN 299 AND 301, 'dp_query') FROM dp_query('SELECT count(*) FROM person_dp') AS (n bigint);
SELECT ok(count(*) > 0, 'dp_explain') FROM dp_explain('SELECT town, count(*) FROM person_dp GROUP BY town');
SELECT ok(count(*) > 0, 'dp_last_release') FROM dp_last_release();
SELECT ok(abs(s - 5050) < 300, 'within_data') FROM (SELECT sum(a) AS s FROM loose_dp) t;
DO $$BEGIN PERFORM count(*) FROM person_dp WHERE age / 0 > 1; EXCEPTION WHEN OTHERS THEN NULL; END$$;
DO $$BEGIN PERFORM age FROM person_dp; EXCEPTION WHEN insufficient_privilege THEN NULL; END$$;
\connect
SET SESSION AUTHORIZATION chooser;
SELECT ok(count(*) <= 3, 'a selection') FROM (SELECT town, count(*) AS n FROM person_dp GROUP BY town) t;

\connect
SET SESSION AUTHORIZATION controller;
SELECT ok(count(*) > 0, 'dp_risk') FROM dp_risk('SELECT town, avg(pay) FROM person_dp GROUP BY town', '{1,2}');
SELECT ok(count(*) > 0, 'dp_risk_records') FROM dp_risk_records('SELECT sum(pay) FROM person_dp WHERE age > 20', 1);
SELECT ok(count(*) > 0, 'dp_risk_summary') FROM dp_risk_summary('SELECT count(*) FROM person_dp');
SELECT ok(count(*) > 0, 'a closed form over a join')
FROM dp_risk('SELECT land, max(pay), count(DISTINCT note) FROM person_dp JOIN town ON town = name GROUP BY land', '{1}', sensitivity => 100);
SELECT ok(count(*) > 0, 'a rerun') FROM dp_risk('SELECT b, max(a) - min(a) FROM loose_dp WHERE a < 9 GROUP BY b', '{1}', sensitivity => 100);
CALL dp_find_epsilon('SELECT sum(a) FROM loose_dp', 0.9);
CALL dp_find_epsilon('SELECT max(a) FROM loose_dp', 0.9, sensitivity => 100);
SELECT ok(true, 'dp_find_epsilon');
ALTER TABLE loose ADD c integer;
SELECT dp_refresh('loose_dp');
SELECT ok(count(*) = 3, 'dp_refresh') FROM pg_attribute WHERE attrelid = 'loose_dp'::regclass AND attnum > 0;
SELECT ok(count(*) > 10, 'the ledger') FROM dp_rdr.ledger;
SELECT ok(dp_verify_ledger('person') AND dp_verify_ledger('loose'), 'which is whole');
SELECT dp_revoke('person_dp', 'chooser'), dp_unprotect('loose_dp');
SELECT ok(to_regclass('loose_dp') IS NULL, 'dp_unprotect');
