-- What others see of the processes that read for an analyst, while they have nothing to do.

-- C18 SAME
SELECT count(*) FROM person_dp WHERE age = 90
  SELECT pg_sleep(0.2)
  superuser> SELECT DISTINCT backend_type, usename, state, query, backend_xmin IS NULL FROM pg_stat_activity WHERE datname = current_database() AND backend_type LIKE 'dp_rdr%'
SELECT sex, avg(salary) FROM person_dp WHERE id = 4242 GROUP BY sex
  SELECT pg_sleep(0.2)
  stranger> SELECT DISTINCT query, backend_xmin FROM pg_stat_activity WHERE datname = current_database() AND usename IS DISTINCT FROM current_user AND query NOT IN ('', '<insufficient privilege>')
SELECT count(*) FROM person_dp WHERE id = 4242
  SELECT pg_sleep(0.2)
  stranger> SELECT l.locktype, l.relation::regclass, l.mode FROM pg_locks l JOIN pg_stat_get_activity(NULL) a USING (pid) WHERE a.backend_type = 'dp_rdr keeper'
  superuser> SELECT l.locktype, l.relation::regclass, l.mode FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE a.backend_type = 'dp_rdr keeper' AND locktype <> 'virtualxid'

-- C07 SAME
superuser> CREATE TEMP TABLE own AS SELECT relid, seq_scan, seq_tup_read, idx_scan, idx_tup_fetch, n_tup_ins, n_tup_upd FROM pg_stat_all_tables WHERE relname IN ('person', 'scarce')
  SELECT count(*) FROM person_dp WHERE age = 90
  SELECT sex, sum(salary) FROM person_dp WHERE id = 4242 GROUP BY sex
  SELECT pg_sleep(1.2)
  superuser> SELECT s.relname, s.seq_scan - o.seq_scan, s.seq_tup_read - o.seq_tup_read, s.idx_scan - o.idx_scan, s.idx_tup_fetch - o.idx_tup_fetch FROM pg_stat_all_tables s JOIN own o USING (relid) ORDER BY 1

-- C18 SAME
SELECT count(*) FROM person_dp WHERE age = 90
  SELECT pg_sleep(1.2)
  superuser> SELECT temp_files, conflicts, deadlocks, sessions_fatal, sessions_killed FROM pg_stat_database WHERE datname = current_database()
