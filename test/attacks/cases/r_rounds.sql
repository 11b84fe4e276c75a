-- Answers by accuracy: rounds of steps, and what refines them. A round is one release, however many steps it has. Where few rows
-- or none are asked about, within is so strict that the ceiling ends the round in both databases, but for a chance of 10^-6.

-- B01 CHARGED 1
BEGIN
  SELECT * FROM dp_query('SELECT count(*) FROM person_dp', within => 0.3) AS (n bigint)
  ROLLBACK
BEGIN
  SAVEPOINT s
  SELECT * FROM dp_query('SELECT count(*) FROM person_dp WHERE age = 90', within => 0.05) AS (n bigint)
  ROLLBACK TO s
  COMMIT
DO $$ BEGIN PERFORM * FROM dp_query('SELECT count(*) FROM person_dp', within => 0.3) AS (n bigint); RAISE EXCEPTION 'gone'; EXCEPTION WHEN raise_exception THEN NULL; END $$
SET statement_timeout = 1000
  ? SELECT 1 / (n - n) FROM dp_query('SELECT count(*) FROM person_dp', within => 0.3) AS (n bigint)
  RESET statement_timeout

-- B08 CHARGED 1
BEGIN READ ONLY
  SELECT * FROM dp_query('SELECT count(*) FROM person_dp WHERE age = 90', within => 0.05) AS (n bigint)
  COMMIT

-- B09 FRESH 2
SELECT * FROM dp_query('SELECT sum(salary) FROM person_dp', within => 0.3) AS (n bigint)
  SELECT * FROM dp_query('SELECT sum(salary) FROM person_dp', within => 0.3) AS (n bigint)

-- A29 REFUSE 42501|0A000|42804|22023|22004|55000|53400
SELECT * FROM dp_rdr.release('SELECT note FROM public.person_dp', NULL, 1, 0.1, NULL, 1, true, NULL, NULL, NULL) AS (note text)
SELECT * FROM dp_rdr.release('SELECT count(*) AS c1 FROM public.person', NULL, 1, 0.1, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)
SELECT * FROM dp_rdr.release('SELECT count(*) AS c1 FROM public.person_dp', NULL, 1, 'NaN', NULL, 1, true, NULL, NULL, NULL) AS (n bigint)
SELECT * FROM dp_rdr.release('SELECT count(*) AS c1 FROM public.person_dp', NULL, 1, 0.1, NULL, 'Infinity', true, NULL, NULL, NULL) AS (n bigint)
SELECT * FROM dp_rdr.release('SELECT count(*) AS c1 FROM public.person_dp', NULL, 1, NULL, 0, 1, true, NULL, NULL, NULL) AS (n bigint)
SELECT * FROM dp_query('SELECT note, count(*) FROM person_dp GROUP BY note', within => 0.1) AS (note text, n bigint)
SELECT * FROM dp_query('SELECT avg(salary) FROM person_dp WHERE id = 4242', error95 => 10) AS (n numeric)
SELECT * FROM dp_query('SELECT max(salary) FROM person_dp', within => 0.1) AS (n int)
SELECT * FROM dp_query('SELECT count(*) FROM person_dp WHERE 1 / (age - 90) > 0', error95 => 0.001) AS (n bigint)
SELECT * FROM dp_refine() AS (n bigint)
SELECT * FROM dp_refine(within => 0.1) AS (note text)
stranger> SELECT * FROM dp_query('SELECT count(*) FROM person_dp', within => 0.1) AS (n bigint)
selector> SELECT * FROM dp_query('SELECT count(*) FROM person_dp', within => 0.1) AS (n bigint)
SELECT * FROM dp_query('SELECT count(*) FROM person_dp', error95 => 1) AS (n bigint)

-- A31 CHARGED 1
SELECT * FROM dp_query('SELECT count(*) FROM person_dp', within => 0.3) AS (n bigint)
  stranger> ! SELECT * FROM dp_refine() AS (n bigint)

-- C11 SHAPE
SELECT n IS NULL AS empty FROM dp_query('SELECT count(*) FROM person_dp WHERE age = 90', within => 0.05) AS (n bigint)
SELECT sex, n IS NULL AS empty FROM dp_query('SELECT sex, count(*), sum(salary) FROM person_dp WHERE id = 4242 GROUP BY sex', within => 0.05) AS (sex text, n bigint, s bigint)
finder> SELECT count(*) > 0 AS some FROM dp_query('SELECT city, count(*) FROM person_dp GROUP BY city', error95 => 10) AS (city text, n bigint)

-- C02 NOLEAK
SELECT n IS NULL AS empty FROM dp_query('SELECT count(*) FROM person_dp WHERE 1 / (age - 90) > 0', within => 0.05) AS (n bigint)
SELECT n IS NULL AS empty FROM dp_query('SELECT sum(height) FROM person_dp WHERE note LIKE ''xyz%''', within => 0.05) AS (n float8)

-- C07 SAME
superuser> CREATE TEMP TABLE own AS SELECT relid, seq_scan, seq_tup_read, idx_scan, idx_tup_fetch, n_tup_ins, n_tup_upd FROM pg_stat_all_tables WHERE relname IN ('person', 'scarce')
  SELECT n IS NULL AS empty FROM dp_query('SELECT count(*) FROM person_dp WHERE age = 90', within => 0.05) AS (n bigint)
  SELECT n IS NULL AS empty FROM dp_query('SELECT sum(salary) FROM person_dp WHERE id = 4242', within => 0.05) AS (n bigint)
  SELECT pg_stat_force_next_flush()
  superuser> SELECT count(pg_terminate_backend(pid, 60000)) > 0 FROM pg_stat_activity WHERE backend_type = 'dp_rdr keeper' AND datname = current_database()
  superuser> SELECT s.relname, s.seq_scan - o.seq_scan, s.seq_tup_read - o.seq_tup_read, s.idx_scan - o.idx_scan, s.idx_tup_fetch - o.idx_tup_fetch FROM pg_stat_all_tables s JOIN own o USING (relid) ORDER BY 1

-- C18 SAME
SELECT n IS NULL AS empty FROM dp_query('SELECT sum(salary) FROM person_dp WHERE id = 4242', within => 0.05) AS (n bigint)
  superuser> DO $d$ BEGIN FOR i IN 1..2000 LOOP EXIT WHEN NOT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'dp_rdr keeper' AND datname = current_database() AND \
    (coalesce(state, '') <> 'idle' OR pid IN (SELECT pid FROM pg_locks WHERE locktype = 'relation'))); PERFORM pg_sleep(0.01), pg_stat_clear_snapshot(); END LOOP; END $d$
  stranger> SELECT DISTINCT query, backend_xmin FROM pg_stat_activity WHERE datname = current_database() AND usename IS DISTINCT FROM current_user AND query NOT IN ('', '<insufficient privilege>')
  superuser> SELECT l.locktype, l.relation::regclass, l.mode FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE a.backend_type = 'dp_rdr keeper' AND a.datname = current_database() AND locktype <> 'virtualxid'

-- A28 REFUSE 42501
SELECT kind FROM dp_rdr.ledger_row WHERE kind = 'increment'

-- A28 SAME
SELECT n IS NULL AS empty FROM dp_query('SELECT count(*) FROM person_dp WHERE age = 90', within => 0.05) AS (n bigint)
  SELECT count(*) FROM dp_rdr.ledger WHERE relation = 'public.person'
