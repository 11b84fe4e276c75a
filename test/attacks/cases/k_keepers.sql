-- What others see of the processes that read for an analyst, while they have nothing to do.

-- C18 SAME
SELECT count(*) FROM person_dp WHERE age = 90
  superuser> DO $d$ BEGIN FOR i IN 1..2000 LOOP EXIT WHEN NOT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'dp_rdr keeper' AND datname = current_database() AND \
    (coalesce(state, '') <> 'idle' OR pid IN (SELECT pid FROM pg_locks WHERE locktype = 'relation'))); PERFORM pg_sleep(0.01), pg_stat_clear_snapshot(); END LOOP; END $d$
  superuser> SELECT DISTINCT backend_type, usename, state, query, backend_xmin IS NULL FROM pg_stat_activity WHERE datname = current_database() AND backend_type LIKE 'dp_rdr%'
SELECT sex, avg(salary) FROM person_dp WHERE id = 4242 GROUP BY sex
  superuser> DO $d$ BEGIN FOR i IN 1..2000 LOOP EXIT WHEN NOT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'dp_rdr keeper' AND datname = current_database() AND \
    (coalesce(state, '') <> 'idle' OR pid IN (SELECT pid FROM pg_locks WHERE locktype = 'relation'))); PERFORM pg_sleep(0.01), pg_stat_clear_snapshot(); END LOOP; END $d$
  stranger> SELECT DISTINCT query, backend_xmin FROM pg_stat_activity WHERE datname = current_database() AND usename IS DISTINCT FROM current_user AND query NOT IN ('', '<insufficient privilege>')
SELECT count(*) FROM person_dp WHERE id = 4242
  superuser> DO $d$ BEGIN FOR i IN 1..2000 LOOP EXIT WHEN NOT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'dp_rdr keeper' AND datname = current_database() AND \
    (coalesce(state, '') <> 'idle' OR pid IN (SELECT pid FROM pg_locks WHERE locktype = 'relation'))); PERFORM pg_sleep(0.01), pg_stat_clear_snapshot(); END LOOP; END $d$
  stranger> SELECT l.locktype, l.relation::regclass, l.mode FROM pg_locks l JOIN pg_stat_get_activity(NULL) a USING (pid) JOIN pg_database d ON d.oid = a.datid WHERE a.backend_type = 'dp_rdr keeper' AND d.datname = current_database()
  superuser> SELECT l.locktype, l.relation::regclass, l.mode FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE a.backend_type = 'dp_rdr keeper' AND a.datname = current_database() AND locktype <> 'virtualxid'

-- What a session has counted is there when the next case begins, and does not arrive while that one looks.
-- C07 NOCHARGE
superuser> CREATE TABLE counted AS SELECT relid, seq_scan FROM pg_stat_all_tables WHERE relid = 'person'::regclass
  controller> SELECT count(*) FROM person
  controller> SELECT count(*) FROM person
superuser> SELECT 1 / (s.seq_scan = c.seq_scan + 2)::integer FROM pg_stat_all_tables s JOIN counted c USING (relid)
  superuser> DROP TABLE counted

-- A keeper tells what it has counted when it has nothing to do, at the latest when it ends.
-- C07 SAME
superuser> CREATE TEMP TABLE own AS SELECT relid, seq_scan, seq_tup_read, idx_scan, idx_tup_fetch, n_tup_ins, n_tup_upd FROM pg_stat_all_tables WHERE relname IN ('person', 'scarce')
  SELECT count(*) FROM person_dp WHERE age = 90
  SELECT sex, sum(salary) FROM person_dp WHERE id = 4242 GROUP BY sex
  SELECT pg_stat_force_next_flush()
  superuser> SELECT count(pg_terminate_backend(pid, 60000)) > 0 FROM pg_stat_activity WHERE backend_type = 'dp_rdr keeper' AND datname = current_database()
  superuser> SELECT s.relname, s.seq_scan - o.seq_scan, s.seq_tup_read - o.seq_tup_read, s.idx_scan - o.idx_scan, s.idx_tup_fetch - o.idx_tup_fetch FROM pg_stat_all_tables s JOIN own o USING (relid) ORDER BY 1

-- C18 SAME
SELECT count(*) FROM person_dp WHERE age = 90
  SELECT pg_stat_force_next_flush()
  superuser> SELECT count(pg_terminate_backend(pid, 60000)) > 0 FROM pg_stat_activity WHERE backend_type = 'dp_rdr keeper' AND datname = current_database()
  superuser> SELECT temp_files, conflicts, deadlocks, sessions_fatal, sessions_killed FROM pg_stat_database WHERE datname = current_database()
