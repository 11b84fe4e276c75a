-- What a statement tells beside its rows.

-- C01 NOLEAK
SELECT count(*) FROM person_dp WHERE 1 / (age - 90) = 0
SELECT count(*) FROM person_dp WHERE age % (age - 90) = 0
SELECT count(*) FROM person_dp WHERE sqrt(89 - age) > 0
SELECT count(*) FROM person_dp WHERE ln(90 - age) > 0
SELECT count(*) FROM person_dp WHERE age * 24000000 > 0
SELECT count(*) FROM person_dp WHERE (age - 91 + 2147483647) > 0
SELECT count(*) FROM person_dp WHERE -salary * 100 < 0
SELECT count(*) FROM person_dp WHERE abs(salary - 2147483647 - 2) > 0
SELECT count(*) FROM person_dp WHERE power(salary, 42) > 0
SELECT count(*) FROM person_dp WHERE exp(salary) > 0
SELECT count(*) FROM person_dp WHERE height * 1e308 > 0
SELECT count(*) FROM person_dp WHERE height::integer > 0
SELECT count(*) FROM person_dp WHERE rate::integer > 0
SELECT count(*) FROM person_dp WHERE round(rate, 2000) > 0
SELECT count(*) FROM person_dp WHERE rate % 2 > 0
SELECT count(*) FROM person_dp WHERE salary::smallint > 0
SELECT count(*) FROM person_dp WHERE seen::date > '2000-01-01'
SELECT count(*) FROM person_dp WHERE seen - born > interval '1 day'
SELECT count(*) FROM person_dp WHERE born + salary > '2000-01-01'
SELECT count(*) FROM person_dp WHERE date_trunc('day', seen) > '2000-01-01'
SELECT count(*) FROM person_dp WHERE extract(year FROM seen) > 2000
SELECT count(*) FROM person_dp WHERE seen + interval '100000 years' > '2000-01-01'
SELECT count(*) FROM person_dp WHERE width_bucket(height, 0, 1, 10) > 0
SELECT count(*) FROM person_dp WHERE width_bucket(age, 0, age - 90, 10) > 0
SELECT sum(salary / (age - 90)) FROM person_dp
SELECT count(1 / (age - 90)) FROM person_dp
SELECT count(*) FILTER (WHERE 1 / (age - 90) = 0) FROM person_dp
SELECT sum(age * 24000000) FROM person_dp
SELECT avg(salary::smallint) FROM person_dp
SELECT age / (age - 90), count(*) FROM person_dp GROUP BY 1
SELECT count(*) FROM person_dp WHERE CASE WHEN age = 90 THEN 1 / (age - 90) ELSE 0 END = 0
SELECT count(*) FROM person_dp WHERE age <> 90 OR 1 / (age - 90) = 0
SELECT count(*) FROM person_dp WHERE age = 90 AND 1 / 0 = 1
SELECT count(*) FROM person_dp WHERE coalesce(member, 1 / (age - 90) = 1)
SELECT count(*) FROM (SELECT 1 / (age - 90) AS x FROM person_dp) q
SELECT count(*) FROM (SELECT * FROM person_dp WHERE 1 / (age - 90) = 0) q
SELECT count(*) FROM person_dp WHERE id = 4242 AND current_setting('no.such') = 'a'
SELECT count(*) FROM person_dp WHERE id = 4242 AND to_date('x', 'YYYY') IS NULL
SELECT count(*) FROM person_dp WHERE id = 4242 AND has_table_privilege('no such', 'select')
SELECT count(*) FROM person_dp WHERE id = 4242 AND date_trunc('no such', now()) IS NULL
SELECT count(*) FROM person_dp WHERE id = 4242 AND 1 / (extract(epoch FROM now())::bigint * 0) = 1
SELECT count(*) FROM person_dp WHERE id = 4242 AND now() + interval '1 day' * 1e300 IS NOT NULL
SELECT count(*) FROM person_dp WHERE CASE id WHEN 4242 THEN 'no such'::text::regclass IS NULL ELSE true END
SELECT count(*) FROM person_dp WHERE txid_current() > 0

-- C01 REFUSE 42501|0A000
SELECT count(*) FROM person_dp WHERE table_to_xml('person', true, false, '') IS NOT NULL
SELECT count(*) FROM person_dp WHERE table_to_xml('person_dp', true, false, '')::text <> ''

-- C02 NOLEAK
SELECT count(*) FROM person_dp WHERE note::integer = 1
SELECT count(*) FROM person_dp WHERE note::mood = 'low'
SELECT count(*) FROM person_dp WHERE note::mood > 'low'
SELECT count(*) FROM person_dp WHERE note::date > '2000-01-01'
SELECT count(*) FROM person_dp WHERE note::boolean
SELECT count(*) FROM person_dp WHERE note::json IS NULL
SELECT count(*) FROM person_dp WHERE note::uuid IS NULL
SELECT count(*) FROM person_dp WHERE note::regrole IS NULL
SELECT count(*) FROM person_dp WHERE to_date(note, 'YYYY') IS NULL
SELECT count(*) FROM person_dp WHERE to_number(note, '999') IS NULL
SELECT count(*) FROM person_dp WHERE to_tsquery(note) IS NULL
SELECT count(*) FROM person_dp WHERE 'a' ~ note
SELECT count(*) FROM person_dp WHERE 'a' SIMILAR TO note
SELECT count(*) FROM person_dp WHERE 'a' LIKE 'b' ESCAPE note
SELECT count(*) FROM person_dp WHERE 'a\' LIKE note
SELECT count(*) FROM person_dp WHERE chr(age - 90) = 'a'
SELECT count(*) FROM person_dp WHERE substr(note, 1, age - 91) = 'a'
SELECT count(*) FROM person_dp WHERE decode(note, 'hex') IS NULL
SELECT count(*) FROM person_dp WHERE convert_from(note::bytea, 'EUC_JP') IS NULL
SELECT count(*) FROM person_dp WHERE current_setting(note) IS NULL
SELECT count(*) FROM person_dp WHERE has_table_privilege(note, 'SELECT')
SELECT count(*) FROM person_dp WHERE timezone(note, seen) IS NULL
SELECT count(*) FROM person_dp WHERE date_trunc(note, seen) IS NULL
SELECT count(*) FROM person_dp WHERE format(note) IS NULL
SELECT count(*) FROM person_dp WHERE note::xml IS NULL
SELECT count(*) FROM person_dp WHERE (note || '}')::integer[] IS NULL
SELECT count(*) FROM person_dp WHERE nullif(note, '')::int8 > 0
SELECT count(*) FROM person_dp WHERE age = ANY (ARRAY[note::integer])
SELECT note::integer, count(*) FROM person_dp GROUP BY 1
SELECT count(note::integer) FROM person_dp

-- C03 REFUSE 0A000|42501
CREATE TEMP SEQUENCE s
  SELECT count(*) FROM person_dp WHERE nextval('s') > 0
CREATE TEMP SEQUENCE s
  SELECT count(*) FROM person_dp WHERE setval('s', age) > 0
SELECT count(*) FROM person_dp WHERE set_config('my.note', note, false) = ''
SELECT count(*) FROM person_dp WHERE pg_try_advisory_lock(age)
SELECT count(*) FROM person_dp WHERE pg_advisory_lock(age) IS NULL
SELECT count(*) FROM person_dp WHERE pg_notify('c', note) IS NULL
SELECT count(*) FROM person_dp WHERE lo_from_bytea(0, note::bytea) > 0
SELECT count(*) FROM person_dp WHERE pg_cancel_backend(age)
SELECT count(*) FROM person_dp WHERE pg_terminate_backend(age, 1)
SELECT count(*) FROM person_dp WHERE pg_logical_emit_message(false, 'p', note) IS NULL
SELECT count(*) FROM person_dp WHERE random() < 0.5
SELECT count(*) FROM person_dp WHERE clock_timestamp() > seen
SELECT count(*) FROM person_dp WHERE query_to_xml(note, true, true, '') IS NULL
SELECT count(*) FROM person_dp WHERE dp_query(note) IS NULL
SELECT count(*) FROM person_dp WHERE gen_random_uuid() IS NULL
SELECT count(setseed(age)) FROM person_dp

-- C03 NOLEAK
CREATE TEMP SEQUENCE s
  ? SELECT count(*) FROM person_dp WHERE nextval('s') > 0
  SELECT last_value, is_called FROM s

-- C04 SAME
EXPLAIN SELECT count(*) FROM person_dp WHERE sex = 'Male'
EXPLAIN SELECT count(*) FROM person_dp WHERE age = 90
EXPLAIN SELECT city, count(*) FROM person_dp WHERE id > 4000 GROUP BY city
EXPLAIN (VERBOSE) SELECT sex, sum(salary) FROM person_dp WHERE city = 'Atlantis' GROUP BY sex ORDER BY 2
EXPLAIN SELECT note FROM person_dp WHERE id = 4242
EXPLAIN SELECT * FROM person_dp p JOIN public_city c USING (city)
EXPLAIN (FORMAT xml) SELECT count(*) FROM (SELECT * FROM person_dp WHERE age = 90) q
EXPLAIN SELECT c.city FROM public_city c WHERE EXISTS (SELECT FROM person_dp p WHERE p.age = c.age)
! EXPLAIN UPDATE person_dp SET age = 1
EXPLAIN (SETTINGS, BUFFERS OFF) SELECT count(*) FROM person_dp WHERE note = 'a'

-- Whoever may not read the table is told before the planner prints what it expects, where the library is loaded.
-- C04 REFUSE 42501 @shared
SET debug_print_plan = on
  SET client_min_messages = log
  SELECT 1 FROM person WHERE mood = 'high'

-- C04 REFUSE 42501
SET debug_print_plan = on
  SET client_min_messages = log
  SELECT c.city FROM public_city c, person p WHERE p.city = c.city

-- C05 SAME
EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF) SELECT count(*) FROM person_dp WHERE age = 90
EXPLAIN (ANALYZE, VERBOSE, TIMING OFF, SUMMARY OFF) SELECT sex, avg(salary) FROM person_dp WHERE city = 'Atlantis' GROUP BY sex
EXPLAIN (ANALYZE, WAL, TIMING OFF, SUMMARY OFF) SELECT sum(salary) FROM person_dp
! EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF) SELECT * FROM person_dp
EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF) SELECT * FROM person_dp LIMIT 0
EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF, FORMAT json) SELECT sex, count(*) FROM person_dp GROUP BY sex HAVING count(*) IS NOT NULL
EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF) CREATE TEMP TABLE own AS SELECT sex, count(*) FROM person_dp GROUP BY sex

-- C06 SAME
SELECT * FROM pg_stats WHERE tablename IN ('person', 'person_dp', 'scarce')
SELECT * FROM pg_stats_ext
SELECT relpages > 0, reltuples FROM pg_class WHERE relname = 'person_dp'

-- C06 REFUSE 42501
SELECT * FROM pg_statistic
SELECT * FROM pg_statistic WHERE starelid = 'person'::regclass

-- C07 SAME
BEGIN
  SELECT count(*) FROM person_dp WHERE age = 90
  SELECT pg_stat_get_xact_tuples_returned(i.indexrelid), pg_stat_get_xact_tuples_fetched(i.indrelid), pg_stat_get_xact_numscans(i.indexrelid) FROM pg_index i WHERE i.indrelid = 'person'::regclass ORDER BY i.indexrelid
BEGIN
  SELECT sex, count(*) FROM person_dp WHERE id = 4242 GROUP BY sex
  SELECT seq_scan, seq_tup_read, idx_scan, idx_tup_fetch FROM pg_stat_xact_all_tables WHERE relname IN ('person', 'scarce') ORDER BY relname
BEGIN
  SELECT city, count(*) FROM person_dp WHERE city = 'Atlantis' GROUP BY sex, city HAVING false
  ROLLBACK
SET enable_seqscan = off
  BEGIN
  SELECT count(*) FROM person_dp WHERE age = 90 AND city = 'Atlantis'
  SELECT pg_stat_get_xact_tuples_returned('person_age'::regclass), pg_stat_get_xact_tuples_returned('person_city'::regclass), pg_stat_get_xact_tuples_returned('person_pkey'::regclass), pg_stat_get_xact_tuples_returned('person'::regclass), pg_stat_get_xact_blocks_fetched('person'::regclass) < 1000000
BEGIN
  SELECT sum(salary) FROM person_dp
  SELECT relname, n_tup_ins, n_tup_upd, n_tup_del FROM pg_stat_xact_all_tables WHERE n_tup_ins + n_tup_upd + n_tup_del > 0 AND schemaname LIKE 'dp%' ORDER BY 1
SELECT count(*) FROM person_dp WHERE age = 90
  SELECT pg_stat_force_next_flush()
  SELECT seq_scan, seq_tup_read, idx_scan, idx_tup_fetch FROM pg_stat_all_tables WHERE relname = 'person' AND idx_scan > 1000000
  SELECT idx_scan, idx_tup_read, idx_tup_fetch FROM pg_stat_all_indexes WHERE relname = 'person' ORDER BY indexrelname

-- The four statements of the ledger's writer are planned when a keeper is new: which it is depends on the clock.
-- C08 SAME @watched
superuser> CREATE EXTENSION IF NOT EXISTS pg_stat_statements
  superuser> SELECT pg_stat_statements_reset(0, (SELECT oid FROM pg_database WHERE datname = current_database()), 0) IS NOT NULL
  SELECT sex, count(*) FROM person_dp WHERE age = 90 GROUP BY sex
  SELECT count(DISTINCT age) FROM public_city
  SELECT calls, CASE WHEN query NOT LIKE '<insufficient%' THEN plans END, rows, toplevel, left(query, 200) FROM pg_stat_statements s JOIN pg_database d ON d.oid = dbid WHERE datname = current_database() ORDER BY 5, 3, 2, 1, 4
superuser> CREATE EXTENSION IF NOT EXISTS pg_stat_statements
  superuser> SELECT pg_stat_statements_reset(0, (SELECT oid FROM pg_database WHERE datname = current_database()), 0) IS NOT NULL
  finder> SELECT age, avg(salary) FROM person_dp GROUP BY age ORDER BY age LIMIT 0
  finder> SELECT age, count(*) FROM person_dp GROUP BY age ORDER BY 1
  superuser> SELECT calls, CASE WHEN query NOT LIKE '%dp_rdr.%' THEN plans END, rows, toplevel, query FROM pg_stat_statements s JOIN pg_database d ON d.oid = dbid WHERE datname = current_database() AND query NOT LIKE '%dp_odometer%' ORDER BY 5, 3, 2, 1, 4

-- C09 SHAPE
SET debug_print_plan = on
  SET debug_print_rewritten = on
  SET debug_print_parse = on
  SET client_min_messages = log
  SELECT sex, avg(salary) FROM person_dp WHERE age = 90 GROUP BY sex
SET client_min_messages = debug1
  SELECT sex, avg(salary) FROM person_dp WHERE age = 90 GROUP BY sex
SET client_min_messages = log
  SET trace_sort = on
  SELECT age, count(*) FROM person_dp GROUP BY age ORDER BY age

-- C09 REFUSE 42501
SET log_statement_stats = on
SET log_executor_stats = on
SET log_min_messages = debug5
SET log_min_duration_statement = 0
SET zero_damaged_pages = on

-- C10 SAME
BEGIN
  CREATE TEMP TABLE own AS SELECT sex, count(*) FROM person_dp GROUP BY sex
  SELECT sex FROM own
BEGIN
  CREATE TEMP TABLE own AS SELECT mood, member, count(*) FROM person_dp WHERE id = 4242 GROUP BY mood, member
  SELECT mood, member FROM own
BEGIN
  CREATE TEMP TABLE own AS SELECT age, sex, avg(salary) FROM person_dp GROUP BY age, sex
  SELECT age, sex FROM own

-- C10 SHAPE
finder> SELECT city, count(*) FROM person_dp WHERE id = 4242 GROUP BY city
finder> SELECT sex, city IS NULL FROM person_dp WHERE age = 90 GROUP BY sex, city
finder> SELECT note, count(*) FROM person_dp GROUP BY note
finder> SELECT born, avg(salary) FROM person_dp WHERE age = 90 GROUP BY born

-- C10 REFUSE 55000|0A000
SELECT city, count(*) FROM person_dp GROUP BY city
SELECT note, sex, count(*) FROM person_dp GROUP BY note, sex

-- C11 SHAPE
SELECT count(*), sum(salary), avg(salary), count(note) FROM person_dp WHERE id = 4242
SELECT avg(height), sum(height), avg(rate), sum(rate) FROM person_dp WHERE false
SELECT sum(salary) IS NULL, avg(salary) IS NULL FROM person_dp WHERE id = 4242
SELECT sex, sum(salary) IS NULL, avg(height) IS NULL FROM person_dp WHERE age = 90 GROUP BY sex
SELECT coalesce(sum(salary)::text, 'nobody') = 'nobody' FROM person_dp WHERE id = 4242
SELECT sum(salary) FILTER (WHERE id = 4242) IS NULL FROM person_dp

-- C12 SAME
CREATE TEMP TABLE own AS SELECT sex, count(*) FROM person_dp GROUP BY sex
  SELECT sex FROM own ORDER BY ctid
CREATE TEMP TABLE own AS SELECT mood, sex, count(*) FROM person_dp GROUP BY sex, mood
  SELECT sex, mood FROM own ORDER BY ctid
CREATE TEMP TABLE own AS SELECT member, count(*) FROM person_dp GROUP BY 1
  SELECT member FROM own ORDER BY ctid

-- C13 REFUSE 0A000|42501
SELECT count(*) FROM person_dp WHERE CASE WHEN id = 4242 THEN pg_sleep(2) IS NULL ELSE true END
SELECT count(*) FROM person_dp WHERE repeat(note, 20000000) = 'q'
SELECT count(*) FROM person_dp WHERE lpad(note, salary) = 'q'
SELECT count(*) FROM person_dp WHERE note ~ '(a+)+$'
SELECT count(*) FROM person_dp WHERE regexp_replace(note, '(.*)(.*)(.*)x', '') = ''
SELECT count(*) FROM person_dp WHERE rate ^ 100000 > 0
SELECT count(*) FROM person_dp WHERE factorial(age) > 0
SELECT count(*) FROM person_dp WHERE array_fill(age, ARRAY[salary]) IS NULL
SELECT count(*) FROM person_dp WHERE cardinality(string_to_array(repeat(note, 1000000), 'a')) > 1

-- C14 SAME
DO $$ DECLARE n bigint; BEGIN EXECUTE 'SELECT * FROM (SELECT count(*) FROM person_dp WHERE age = 90) q'; GET DIAGNOSTICS n = ROW_COUNT; RAISE NOTICE '%', n; END $$
CREATE TEMP TABLE own (n bigint)
  INSERT INTO own SELECT count(*) FROM person_dp WHERE id = 4242
DO $$ BEGIN PERFORM count(*) FROM person_dp WHERE id = 4242; RAISE NOTICE '%', FOUND; END $$
CREATE TEMP TABLE own AS SELECT sex, count(*) FROM person_dp WHERE age = 90 GROUP BY sex
BEGIN
  DECLARE c CURSOR FOR SELECT sex, count(*) FROM person_dp WHERE age = 90 GROUP BY sex
  MOVE ALL FROM c

-- C15 SHAPE
SELECT sum(height), avg(height), sum(rate), avg(rate) FROM person_dp
SELECT sum(height) = 'NaN', avg(height) = 'NaN', sum(rate) = 'NaN', avg(rate) IN ('NaN', 'Infinity') FROM person_dp
SELECT avg(height) BETWEEN 50 AND 250, avg(rate) BETWEEN 0 AND 1 FROM person_dp WHERE id = 4242
SELECT sex, sum(height)::text IN ('NaN', 'Infinity', '-Infinity') FROM person_dp WHERE id = 4242 GROUP BY sex
SELECT count(*) FROM person_dp WHERE height = 'NaN' AND rate = 'Infinity' AND seen = 'infinity'

-- C16 SAME
SELECT pg_get_viewdef('person_dp'), pg_get_viewdef('scarce_dp')
SELECT view_definition FROM information_schema.views WHERE table_name = 'person_dp'
SELECT column_name, data_type, column_default, is_nullable FROM information_schema.columns WHERE table_name = 'person_dp' ORDER BY ordinal_position

-- C17 SAME
SELECT pg_stat_force_next_flush()
  BEGIN
  SELECT sex, sum(salary), avg(height) FROM person_dp GROUP BY sex
  SELECT funcname, calls FROM pg_stat_xact_user_functions ORDER BY 1
SELECT avg(rate) FROM person_dp
  SELECT pg_stat_force_next_flush()
  SELECT funcname, calls > 1000 FROM pg_stat_user_functions ORDER BY 1

-- C18 SAME
BEGIN
  SELECT count(*) FROM person_dp WHERE age = 90
  SELECT locktype, relation::regclass, mode, granted, fastpath FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'relation' ORDER BY 2, 3
SELECT count(*) FROM person_dp
  SELECT backend_type, state, query FROM pg_stat_activity WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()
SELECT count(*) FROM person_dp
  SELECT schemaname, sequencename, last_value FROM pg_sequences ORDER BY 1, 2
SELECT objid FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
SET work_mem = '64kB'
  SELECT age, sex, count(*) FROM person_dp GROUP BY age, sex
  SELECT temp_files, temp_bytes FROM pg_stat_database WHERE datname = current_database()
SELECT count(*) FROM person_dp WHERE age = 90
  SELECT xact_rollback < 0, conflicts, deadlocks, temp_files FROM pg_stat_database WHERE datname = current_database()

-- C21 SHAPE
SELECT sum(salary), sum(age), avg(age) FROM person_dp
SELECT sum(salary)::integer IS NULL FROM person_dp WHERE id = 4242

-- C21 NOLEAK
SELECT sum(salary * age) FROM person_dp
SELECT sum(salary * 100) FROM person_dp
SELECT sum(salary::int8 * 126000000000) FROM person_dp
SELECT sum(rate * 1e100000) FROM person_dp

-- Counters of the whole server's and of a backend's reading and writing, which the fetches of long values move: functions
-- that everybody may call until the remedy of dp_audit() is applied.
-- C06 REFUSE 42501 @shared >=16
superuser> REVOKE EXECUTE ON FUNCTION pg_stat_get_io() FROM PUBLIC
  SELECT backend_type, reads, hits FROM pg_stat_io
-- C06 REFUSE 42501 @shared >=18
superuser> REVOKE EXECUTE ON FUNCTION pg_stat_get_backend_io(integer), pg_stat_get_backend_wal(integer) FROM PUBLIC
  SELECT * FROM pg_stat_get_backend_io(pg_backend_pid())
SELECT * FROM pg_stat_get_backend_wal(pg_backend_pid())
-- C06 NOCHARGE @shared >=16
superuser> GRANT EXECUTE ON FUNCTION pg_stat_get_io() TO PUBLIC
-- C06 NOCHARGE @shared >=18
superuser> GRANT EXECUTE ON FUNCTION pg_stat_get_backend_io(integer), pg_stat_get_backend_wal(integer) TO PUBLIC

-- C26 SHAPE
SET :forced_parallel = on
  SET parallel_setup_cost = 0
  SET parallel_tuple_cost = 0
  SET min_parallel_table_scan_size = 0
  SELECT sex, avg(salary), sum(height), count(*) FROM person_dp GROUP BY sex
SET :forced_parallel = regress
  SELECT count(*) FROM person_dp
SET max_parallel_workers_per_gather = 0
  SELECT avg(rate) FROM person_dp
SET enable_hashagg = off
  SET enable_sort = off
  SET enable_seqscan = off
  SELECT sex, count(*) FROM person_dp GROUP BY sex

-- C27 SHAPE
SET work_mem = '64kB'
  SELECT id, count(*) FROM person_dp WHERE id = 4242 GROUP BY id HAVING count(*) > 1000000000
SET work_mem = '64kB'
  finder> SET work_mem = '64kB'
  finder> SELECT note, count(*) FROM person_dp GROUP BY note HAVING count(*) > 1000000000

-- C27 REFUSE 42501
SET temp_file_limit = 0

-- C30 REFUSE 42501
SELECT * FROM dp_odometer('person')
SELECT * FROM dp_odometer('scarce')
SELECT public_epsilon FROM dp_rdr.odometer

-- C30 NOLEAK
SELECT count(*) FROM person_dp
  ? SELECT * FROM dp_last_release()

-- C03 CHARGED 2
SELECT count(*) FROM person_dp WHERE (SELECT count(*) FROM person_dp) > age
