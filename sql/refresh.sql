-- dp_refresh: a restricted view made anew after its table has changed. Foreign keys that tell of persons with many rows.
\set VERBOSITY default
SET ROLE regress_controller;
CREATE TABLE worker (id integer PRIMARY KEY, age integer, wage numeric(10,2), town text, gone integer);
INSERT INTO worker SELECT i, 20 + i % 40, 1000 + i, 't' || i % 3, i FROM generate_series(1, 60) i;
SELECT dp_protect('worker', 'worker_dp', filter => 'age >= 20');
SELECT dp_protect('worker', 'worker_list', columns => '{town,age}');
SELECT dp_set_odometer('worker', epsilon_total => 1000);
SELECT dp_set_bounds('worker', 'wage', 0, 2000), dp_set_bounds('worker', 'gone', 0, 60), dp_set_groups('worker', 'town', '{t0,t1,t2}');
SELECT dp_grant('worker_dp', 'regress_analyst', tau => 0, epsilon_max => 50, candidates => '{50}');
SELECT dp_grant('worker_list', 'regress_analyst', tau => 0, epsilon_max => 50, candidates => '{50}');
GRANT SELECT ON worker_dp TO regress_second WITH GRANT OPTION;
GRANT SELECT (age, wage) ON worker_dp TO regress_stranger;
COMMENT ON VIEW worker_dp IS 'what analysts see';
COMMENT ON COLUMN worker_dp.age IS 'in years';
RESET ROLE;
SET ROLE regress_second;
GRANT SELECT ON worker_dp TO regress_team;
RESET ROLE;
CREATE FUNCTION looks(v regclass) RETURNS TABLE (what text, value text) LANGUAGE sql AS $$
    SELECT 'columns', string_agg(format('%I %s', attname, format_type(atttypid, atttypmod)), ', ' ORDER BY attnum)
    FROM pg_attribute WHERE attrelid = v AND attnum > 0
    UNION ALL SELECT 'owner', relowner::regrole::text FROM pg_class WHERE oid = v
    UNION ALL SELECT 'access', replace(array_to_string(relacl, ' '), 'xtm/', 'xt/') FROM pg_class WHERE oid = v
    UNION ALL SELECT 'access to ' || attname, array_to_string(attacl, ' ') FROM pg_attribute WHERE attrelid = v AND attacl IS NOT NULL
    UNION ALL SELECT 'comment', obj_description(v, 'pg_class')
    UNION ALL SELECT 'comment on ' || attname, col_description(v, attnum) FROM pg_attribute WHERE attrelid = v AND col_description(v, attnum) IS NOT NULL
    UNION ALL SELECT 'options', array_to_string(reloptions, ' ') FROM pg_class WHERE oid = v
    UNION ALL SELECT 'filter', filter FROM dp_rdr.restricted_view WHERE view = v
    UNION ALL SELECT 'policy', grantee::text FROM dp_rdr.policy WHERE view = v $$;
CREATE FUNCTION asks(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE n bigint;
BEGIN
    SET LOCAL ROLE regress_analyst;
    EXECUTE query INTO n;
    RETURN n;
EXCEPTION WHEN OTHERS THEN
    RETURN sqlstate || ' ' || sqlerrm;
END $$;

-- Nothing has changed: the same view.
SELECT 'worker_dp'::regclass::oid AS before \gset
SELECT dp_refresh('worker_dp') = :before AS same;

-- A column is added: it goes behind the others, and the view stays the one that others build on.
SET ROLE regress_controller;
CREATE VIEW built AS SELECT count(*) AS n FROM worker_dp;
ALTER TABLE worker ADD COLUMN shift integer DEFAULT 1;
SELECT object, finding, remedy FROM dp_audit() WHERE remedy ~ 'dp_refresh';
SELECT dp_refresh('worker_dp') = :before AS same, dp_refresh('worker_list');
RESET ROLE;
SELECT * FROM looks('worker_dp');
SELECT * FROM looks('worker_list');
SELECT asks('SELECT count(*) FROM worker_dp WHERE shift = 1') ~ '^\d+$' AS answered;

-- Another type, another name, a dropped column: the view must be another, and what depends on it stops that.
SET ROLE regress_controller;
ALTER TABLE worker ALTER COLUMN wage TYPE numeric(12,2);
ALTER TABLE worker RENAME COLUMN shift TO turn;
ALTER TABLE worker DROP COLUMN gone;
RESET ROLE;
SELECT asks('SELECT count(*) FROM worker_dp');
SET ROLE regress_controller;
SELECT object, finding, remedy FROM dp_audit() WHERE remedy ~ 'dp_refresh';
SELECT dp_refresh('worker_dp');
DROP VIEW built;
CREATE FUNCTION takes(w worker_dp) RETURNS integer LANGUAGE sql AS 'SELECT 1';
SELECT dp_refresh('worker_dp');
DROP FUNCTION takes;
ALTER VIEW worker_dp SET (security_barrier = true);
PREPARE wages AS SELECT sum(wage) > 0 AS paid FROM worker_dp;
SELECT dp_refresh('worker_dp') = :before AS same, dp_refresh('worker_list');
SELECT object, finding FROM dp_audit() WHERE remedy ~ 'dp_refresh';
RESET ROLE;
SELECT * FROM looks('worker_dp');
SELECT * FROM looks('worker_list');
SELECT count(*) AS left_behind FROM dp_rdr.policy WHERE view::oid = :before;
SELECT asks('SELECT count(*) FROM worker_dp WHERE turn = 1') ~ '^\d+$' AS answered, asks('SELECT count(*) FROM worker_list') ~ '^\d+$' AS list;
SET ROLE regress_analyst;
EXECUTE wages; -- prepared on the view before
DEALLOCATE wages;
RESET ROLE;

-- All of it or nothing.
SELECT 'worker_dp'::regclass::oid AS before \gset
BEGIN;
ALTER TABLE worker RENAME COLUMN turn TO shift;
SELECT dp_refresh('worker_dp') = :before AS same;
ROLLBACK;
SELECT 'worker_dp'::regclass::oid = :before AS same;
SELECT asks('SELECT count(*) FROM worker_dp WHERE turn = 1') ~ '^\d+$' AS answered;

-- What cannot be made anew stays as it was.
SET ROLE regress_controller;
BEGIN;
ALTER TABLE worker RENAME COLUMN age TO years;
SELECT dp_refresh('worker_dp'); -- its filter
ROLLBACK;
BEGIN;
ALTER TABLE worker DROP COLUMN town, DROP COLUMN age;
SELECT dp_refresh('worker_list');
ROLLBACK;
SELECT dp_refresh('worker');
SELECT dp_refresh(NULL);
RESET ROLE;
SET ROLE regress_analyst;
SELECT dp_refresh('worker_dp');
RESET ROLE;
-- Views change hands with their tables only when told to; they stay whose they are.
ALTER TABLE worker OWNER TO regress_team;
GRANT CREATE ON SCHEMA public TO regress_team;
ALTER TABLE worker ADD COLUMN extra date;
SET ROLE regress_controller;
SELECT dp_refresh('worker_dp');
SET ROLE regress_member;
SELECT dp_refresh('worker_dp');
RESET ROLE;
SELECT * FROM looks('worker_dp') WHERE what IN ('columns', 'owner');
REVOKE CREATE ON SCHEMA public FROM regress_team;

-- A listed column comes back with a column of its name, and others are listed instead.
SET ROLE regress_controller;
CREATE TABLE reader (id integer, class text, age integer, "odd one" integer);
SELECT dp_protect('reader', 'reader_dp', columns => '{class,age}');
ALTER TABLE reader RENAME COLUMN class TO tier;
SELECT attempt('SELECT count(*) FROM reader_dp');
SELECT dp_refresh('reader_dp');
SELECT string_agg(attname, ', ' ORDER BY attnum) AS columns FROM pg_attribute WHERE attrelid = 'reader_dp'::regclass AND attnum > 0;
ALTER TABLE reader RENAME COLUMN tier TO class;
SELECT object, finding, remedy FROM dp_audit() WHERE object = 'public.reader_dp' AND finding ~ 'lacks';
SELECT dp_refresh('reader_dp');
SELECT string_agg(attname, ', ' ORDER BY attnum) AS columns FROM pg_attribute WHERE attrelid = 'reader_dp'::regclass AND attnum > 0;
ALTER VIEW reader_dp RENAME COLUMN class TO tier;
SELECT attempt('SELECT count(*) FROM reader_dp');
SELECT dp_refresh('reader_dp');
SELECT string_agg(attname, ', ' ORDER BY attnum) AS columns FROM pg_attribute WHERE attrelid = 'reader_dp'::regclass AND attnum > 0;
SELECT dp_refresh('reader_dp', columns => '{class,age,"odd one"}'), dp_refresh('reader_dp');
SELECT string_agg(attname, ', ' ORDER BY attnum) AS columns FROM pg_attribute WHERE attrelid = 'reader_dp'::regclass AND attnum > 0;
SELECT call FROM dp_settings('reader') WHERE item = 'view';
SELECT dp_refresh('reader_dp', columns => '{id}');
SELECT string_agg(attname, ', ' ORDER BY attnum) AS columns FROM pg_attribute WHERE attrelid = 'reader_dp'::regclass AND attnum > 0;
SELECT attempt($$SELECT dp_refresh('reader_dp', columns => '{id,none}')$$), attempt($$SELECT dp_refresh('reader_dp', columns => '{}')$$);
SELECT string_agg(attname, ', ' ORDER BY attnum) AS columns FROM pg_attribute WHERE attrelid = 'reader_dp'::regclass AND attnum > 0;
SELECT dp_unprotect('reader_dp');
DROP TABLE reader;
RESET ROLE;

-- ---------------------------------------------------------------------------------------------------------------------
-- Keys that tell of persons with many rows
-- ---------------------------------------------------------------------------------------------------------------------

ALTER TABLE worker OWNER TO regress_controller;
SET ROLE regress_controller;
CREATE TABLE town (name text PRIMARY KEY);
CREATE TABLE round (id integer PRIMARY KEY, worker integer REFERENCES worker, boss integer REFERENCES round, at text REFERENCES town);
SELECT dp_protect('round', 'round_dp');
CREATE TABLE badge (worker integer UNIQUE REFERENCES worker, town text, day date, UNIQUE (town, day), FOREIGN KEY (town) REFERENCES town);
SELECT dp_protect('badge', 'badge_dp');
SELECT dp_unprotect('worker_dp'), dp_unprotect('worker_list');
SELECT dp_protect('worker', 'worker_dp');
SELECT severity, object, finding, remedy FROM dp_audit() WHERE object ~ '^public\.(round|badge|worker|town)$' AND finding ~ 'person';

SELECT dp_unprotect('round_dp'), dp_unprotect('badge_dp'), dp_unprotect('worker_dp');
DROP TABLE round, badge, worker, town;

-- ---------------------------------------------------------------------------------------------------------------------
-- A table that was made anew together with its views, as Citus does it
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE ledge (id integer, pages integer, kind text);
INSERT INTO ledge SELECT i, i % 100, 'k' || i % 2 FROM generate_series(1, 200) i;
CREATE TABLE lamp (id integer);
CREATE TABLE crate (id integer);
SELECT dp_protect('ledge', 'ledge_dp', filter => 'id <= 100');
SELECT dp_protect('ledge', 'ledge_all');
SELECT dp_set_odometer('ledge', epsilon_total => 500);
SELECT dp_set_bounds('ledge', 'pages', 0, 100), dp_set_groups('ledge', 'kind', '{k0,k1}');
SELECT dp_grant('ledge_dp', 'regress_analyst', tau => 0, epsilon_max => 50, candidates => '{50}');
SELECT dp_grant('ledge_all', 'regress_analyst', tau => 0, epsilon_max => 50, candidates => '{50}', epsilon_total => 200);
SELECT asks('SELECT count(*) FROM ledge_dp');
BEGIN;
DROP VIEW ledge_dp, ledge_all;
ALTER TABLE ledge RENAME TO ledge_1;
CREATE TABLE ledge (LIKE ledge_1);
INSERT INTO ledge SELECT * FROM ledge_1;
DROP TABLE ledge_1;
CREATE VIEW ledge_dp AS SELECT * FROM dp_rdr.deny('public.ledge'::regclass) AS (id integer, pages integer, kind text);
CREATE VIEW ledge_all AS SELECT * FROM dp_rdr.deny('public.ledge'::regclass) AS (id integer, pages integer, kind text);
CREATE VIEW nowhere_dp AS SELECT * FROM dp_rdr.deny('public.crate'::regclass) AS (id integer);
COMMIT;
SELECT asks('SELECT count(*) FROM ledge_dp');
SELECT severity, object, finding, remedy FROM dp_audit() WHERE object ~ 'public.(ledge|lamp|crate|nowhere)_(dp|all)$';
-- Another table is protected meanwhile, and forgets nothing of this one.
SELECT dp_protect('lamp', 'lamp_dp');
SELECT dp_refresh('nowhere_dp');
SET ROLE regress_second;
SELECT dp_refresh('ledge_dp');
SET ROLE regress_controller;
SELECT dp_refresh('ledge_dp');
RESET ROLE;
SELECT * FROM looks('ledge_dp') WHERE what IN ('columns', 'filter', 'policy');
SELECT asks('SELECT count(*) FROM ledge_dp'), asks('SELECT count(*) FROM ledge_all');
SET ROLE regress_controller;
SELECT dp_refresh('ledge_all');
SELECT dp_refresh('ledge_all');
SELECT asks('SELECT count(*) FROM ledge_all');
SELECT account, releases, epsilon, epsilon_total FROM dp_odometer('ledge') WHERE account = 'public';
RESET ROLE;
SELECT grantee, epsilon_total FROM dp_rdr.policy WHERE view = 'ledge_all'::regclass;
SELECT column_name, lower, upper FROM dp_rdr.column_bounds WHERE relation = 'ledge'::regclass;
SET ROLE regress_controller;
SELECT object, finding FROM dp_audit() WHERE object ~ 'public.(ledge|lamp|crate|nowhere)_(dp|all)$';
-- One that is protected anew begins with what its name has spent, as ever.
SELECT dp_unprotect('ledge_all');
BEGIN;
DROP VIEW ledge_dp;
DROP TABLE ledge;
CREATE TABLE ledge (id integer, pages integer, kind text);
COMMIT;
SELECT dp_protect('ledge', 'ledge_dp');
SELECT epsilon, epsilon_total FROM dp_odometer('ledge') WHERE account = 'public';
RESET ROLE;
SELECT count(*) FROM dp_rdr.protected_table WHERE name = 'public.ledge';
SET ROLE regress_controller;
SELECT dp_unprotect('ledge_dp'), dp_unprotect('lamp_dp');
DROP VIEW nowhere_dp;
DROP TABLE ledge, lamp, crate;
RESET ROLE;
DROP FUNCTION looks, asks;
