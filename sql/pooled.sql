-- A connection that a pool hands on: what its user was answered last is not the next one's to see, to refine or to be charged for.
LOAD 'dp_rdr';

SET ROLE regress_controller;
CREATE TABLE pooled (id integer, tag text);
INSERT INTO pooled SELECT id, 'tag' FROM generate_series(1, 2000) id;
SELECT dp_protect('pooled', 'pooled_dp');
SELECT dp_set_odometer('pooled', 'zcdp', epsilon_total => 100, delta_total => 1e-6, delta_conversion => 1e-7);
SELECT dp_grant('pooled_dp', 'regress_analyst', tau => 0.1, delta => 1e-7);

SET ROLE regress_analyst;
SELECT tag, n > 0 AS answered FROM dp_query('SELECT tag, count(*) FROM pooled_dp GROUP BY tag', error95 => 50) AS (tag text, n bigint);
SELECT count(*) AS columns FROM dp_last_release();
-- Neither a transaction that fails nor one that is undone is an end of the session.
BEGIN;
SELECT tag, n > 0 AS answered FROM dp_query('SELECT tag, count(*) FROM pooled_dp GROUP BY tag', error95 => 50) AS (tag text, n bigint);
ROLLBACK;
SELECT count(*) AS columns FROM dp_last_release();
BEGIN;
SAVEPOINT s;
SELECT 1 / 0;
ROLLBACK TO s;
COMMIT;
SELECT count(*) AS columns FROM dp_last_release();
SET work_mem = '1MB';
RESET work_mem;
SELECT count(*) AS columns FROM dp_last_release();

DISCARD ALL;
SET ROLE regress_analyst;
SELECT count(*) AS columns FROM dp_last_release();
SELECT * FROM dp_refine() AS (tag text, n bigint);
-- The notice is for each who has the connection.
SELECT tag, n > 0 AS answered FROM dp_query('SELECT tag, count(*) FROM pooled_dp GROUP BY tag') AS (tag text, n bigint);
SELECT tag, n > 0 AS answered FROM dp_query('SELECT tag, count(*) FROM pooled_dp GROUP BY tag') AS (tag text, n bigint);
SELECT count(*) AS columns FROM dp_last_release();
-- Some poolers run the parts of DISCARD ALL.
RESET ALL;
SELECT count(*) AS columns FROM dp_last_release();
SELECT name FROM pg_settings WHERE name LIKE 'dp_rdr.%';
SET dp_rdr.session_mark = on;

RESET ROLE;
-- Of what was answered in a transaction that is undone, likewise.
RESET ALL;
BEGIN;
SET ROLE regress_analyst;
SELECT n > 0 AS answered FROM dp_query('SELECT count(*) FROM pooled_dp') AS (n bigint);
ROLLBACK;
SET ROLE regress_analyst;
SELECT count(*) AS columns FROM dp_last_release();
DISCARD ALL;
SET ROLE regress_analyst;
SELECT count(*) AS columns FROM dp_last_release();

-- What the queue shows is for administrators.
SELECT count(*) FROM dp_rdr.queue();
RESET ROLE;
SELECT count(*) FROM dp_rdr.queue();
SET ROLE pg_monitor;
SELECT count(*) FROM dp_rdr.queue();
RESET ROLE;
