-- Keeping an answer without its charge, or an answer twice for one charge.

-- B01 CHARGED 1
BEGIN
  SELECT count(*) FROM person_dp
  ROLLBACK
BEGIN
  SELECT sex, avg(salary) FROM person_dp GROUP BY sex
  ABORT AND CHAIN
BEGIN
  CREATE TEMP TABLE kept ON COMMIT DROP AS SELECT count(*) AS n FROM person_dp
  SELECT n FROM kept
  ROLLBACK

-- B02 CHARGED 1
BEGIN
  SAVEPOINT s
  SELECT count(*) FROM person_dp
  ROLLBACK TO s
  COMMIT
BEGIN
  SAVEPOINT s
  SELECT count(*) FROM person_dp
  ! SELECT 1 / 0
  ROLLBACK TO s
  ROLLBACK

-- B02 CHARGED 2
BEGIN
  SAVEPOINT s
  SELECT count(*) FROM person_dp
  ROLLBACK TO s
  SELECT count(*) FROM person_dp
  ROLLBACK TO s
  RELEASE s
  ROLLBACK

-- B03 CHARGED 1
DO $$ DECLARE n bigint; BEGIN SELECT count(*) INTO n FROM person_dp; RAISE EXCEPTION 'undo'; EXCEPTION WHEN OTHERS THEN RETURN; END $$
! DO $$ DECLARE n bigint; BEGIN n := (SELECT count(*) FROM person_dp); RAISE EXCEPTION 'undo'; END $$
! DO $$ BEGIN PERFORM count(*) FROM person_dp; PERFORM 1 / 0; END $$
! DO $$ BEGIN EXECUTE 'SELECT count(*) FROM person_dp'; RAISE SQLSTATE 'P0004' USING MESSAGE = 'assert'; EXCEPTION WHEN OTHERS THEN NULL; END $$

-- B04 CHARGED 1
! SELECT count(*) FROM person_dp; SELECT 1 / 0
! SELECT count(*) FROM person_dp; SELECT note FROM person_dp
BEGIN; SELECT count(*) FROM person_dp; ROLLBACK
SELECT count(*) FROM person_dp; ROLLBACK
! SELECT count(*) / 0 FROM person_dp
! SELECT 1 / (count(*) - count(*)) FROM person_dp
! SELECT (count(*)::text || 'x')::integer IS NULL FROM (SELECT 1) q WHERE (SELECT count(*) FROM person_dp) IS NOT NULL

-- B05 CHARGED 1
CREATE TEMP TABLE own (a integer UNIQUE DEFERRABLE INITIALLY DEFERRED)
  ! INSERT INTO own SELECT g FROM generate_series(1, 2) g, (SELECT count(*) FROM person_dp) q UNION ALL SELECT 1
CREATE TEMP TABLE own (a integer)
  CREATE FUNCTION pg_temp.fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'undo'; END $$
  CREATE CONSTRAINT TRIGGER t AFTER INSERT ON own DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION pg_temp.fail()
  BEGIN
  INSERT INTO own VALUES (1)
  SELECT count(*) FROM person_dp
  ! COMMIT
CREATE TEMP TABLE own (a integer)
  CREATE FUNCTION pg_temp.fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'undo'; END $$
  CREATE TRIGGER t AFTER INSERT ON own FOR EACH STATEMENT EXECUTE FUNCTION pg_temp.fail()
  ! INSERT INTO own SELECT count(*) FROM person_dp

-- B06 CHARGED 1
! DO $$ DECLARE n bigint; BEGIN SELECT count(*) INTO n FROM person_dp; PERFORM pg_cancel_backend(pg_backend_pid()); PERFORM pg_sleep(2); END $$
BEGIN
  SELECT count(*) FROM person_dp
  SET LOCAL statement_timeout = '50ms'
  ! SELECT pg_sleep(2)
  ROLLBACK

-- B06 NOLEAK
SET statement_timeout = '20ms'
  ? SELECT pg_sleep(0.1)

-- B07 CHARGED 1
BEGIN
  SELECT count(*) FROM person_dp
  ? PREPARE TRANSACTION ':database'
  ? ROLLBACK PREPARED ':database'

-- B08 NOLEAK
BEGIN READ ONLY
  SELECT count(*) FROM person_dp
  ROLLBACK
SET default_transaction_read_only = on
  SELECT count(*) FROM person_dp

-- B08 CHARGED 1
BEGIN READ ONLY
  SELECT count(*) FROM person_dp
  COMMIT
SET default_transaction_read_only = on
  SELECT count(*) FROM person_dp
BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY
  SELECT count(*) FROM person_dp
  ROLLBACK

-- B08 CHARGED 1
BEGIN ISOLATION LEVEL SERIALIZABLE
  SELECT count(*) FROM person_dp
  ROLLBACK
BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE
  SELECT count(*) FROM person_dp

-- C18 SAME
BEGIN ISOLATION LEVEL SERIALIZABLE
  SELECT count(*) FROM person_dp WHERE age = 90
  SELECT locktype, relation::regclass, page, tuple FROM pg_locks WHERE mode = 'SIReadLock' AND relation IN (SELECT oid FROM pg_class WHERE relname ~ '^(person|scarce)')

-- B09 FRESH 8
PREPARE p AS SELECT count(*) FROM person_dp
  EXECUTE p
  EXECUTE p
  EXECUTE p
  EXECUTE p
  EXECUTE p
  EXECUTE p
  EXECUTE p
  EXECUTE p
SET plan_cache_mode = force_generic_plan
  PREPARE p (integer) AS SELECT count(*) FROM person_dp WHERE age > $1
  EXECUTE p (30)
  EXECUTE p (30)
  EXECUTE p (30)
  EXECUTE p (30)
  EXECUTE p (30)
  EXECUTE p (30)
  EXECUTE p (30)
  EXECUTE p (30)

-- B09 FRESH 5
CREATE FUNCTION pg_temp.f() RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN (SELECT count(*) FROM person_dp); END $$
  SELECT pg_temp.f()
  SELECT pg_temp.f()
  SELECT pg_temp.f()
  SELECT pg_temp.f()
  SELECT pg_temp.f()
CREATE FUNCTION pg_temp.f() RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT count(*) FROM person_dp'
  SELECT pg_temp.f() FROM generate_series(1, 5)
CREATE TEMP VIEW mine AS SELECT count(*) AS n FROM person_dp
  SELECT n FROM mine
  SELECT n FROM mine
  SELECT n FROM mine
  SELECT n FROM mine
  SELECT n FROM mine
DO $$ DECLARE n bigint; BEGIN CREATE TEMP TABLE own (n bigint); FOR i IN 1..5 LOOP SELECT count(*) INTO n FROM person_dp; INSERT INTO own VALUES (n); END LOOP; END $$
  SELECT n FROM own

-- B10 CHARGED 1
WITH w AS (SELECT count(*) AS n FROM person_dp) SELECT a.n = b.n FROM w a, w b
SELECT q.n FROM generate_series(1, 3), (SELECT count(*) AS n FROM person_dp) q
SELECT (SELECT count(*) FROM person_dp) FROM generate_series(1, 3)
SELECT count(*), count(*) + 1 FROM person_dp
BEGIN
  DECLARE c SCROLL CURSOR FOR SELECT sex, count(*) FROM person_dp GROUP BY sex
  FETCH ALL FROM c
  FETCH FIRST FROM c
  FETCH ABSOLUTE 2 FROM c
  FETCH BACKWARD ALL FROM c
  ROLLBACK
BEGIN
  DECLARE c CURSOR WITH HOLD FOR SELECT count(*) FROM person_dp
  COMMIT
  FETCH ALL FROM c
  CLOSE c
SELECT g FROM generate_series(1, 3) g WHERE (SELECT count(*) FROM person_dp) IS NOT NULL
SELECT CASE WHEN (SELECT count(*) FROM person_dp) IS NULL THEN (SELECT count(*) FROM person_dp WHERE age = 90) END IS NULL

-- B10 CHARGED 2
SELECT count(*) FROM person_dp UNION ALL SELECT count(*) FROM person_dp
SELECT (SELECT count(*) FROM person_dp), (SELECT count(*) FROM person_dp)
SELECT a.n - b.n FROM (SELECT count(*) AS n FROM person_dp) a, (SELECT count(*) AS n FROM person_dp) b
SELECT a.sex, a.count, b.avg FROM (SELECT sex, count(*) FROM person_dp GROUP BY sex) a JOIN (SELECT sex, avg(salary) FROM person_dp GROUP BY sex) b USING (sex) ORDER BY 1

-- B10 NOCHARGE
SELECT count(*) FROM person_dp LIMIT 0
WITH unused AS (SELECT count(*) FROM person_dp) SELECT 1
SELECT CASE WHEN false THEN (SELECT count(*) FROM person_dp) END
SELECT 1 WHERE false AND (SELECT count(*) FROM person_dp) > 0
SELECT n FROM (SELECT count(*) AS n FROM person_dp) q WHERE false
PREPARE p AS SELECT count(*) FROM person_dp
  DEALLOCATE p
BEGIN
  DECLARE c CURSOR FOR SELECT count(*) FROM person_dp
  CLOSE c
  COMMIT
CREATE TEMP VIEW mine AS SELECT count(*) FROM person_dp
CREATE TEMP TABLE own AS SELECT count(*) FROM person_dp WITH NO DATA

-- B10 NOLEAK
SELECT EXISTS (SELECT count(*) FROM person_dp WHERE id = 4242)
SELECT g FROM generate_series(1, 2) g WHERE EXISTS (SELECT sex FROM person_dp WHERE id = 4242 GROUP BY sex)
SELECT 1 IN (SELECT 1 FROM (SELECT count(*) FROM person_dp WHERE age = 90) q)

-- B11 NOCHARGE
EXPLAIN SELECT count(*) FROM person_dp
EXPLAIN (VERBOSE, COSTS, SETTINGS) SELECT sex, avg(salary) FROM person_dp WHERE age = 90 GROUP BY sex HAVING count(*) > 1
EXPLAIN (FORMAT json) SELECT count(*) FROM person_dp WHERE city = 'Atlantis'
PREPARE p (integer) AS SELECT count(*) FROM person_dp WHERE age = $1
  EXPLAIN EXECUTE p (90)
CREATE FUNCTION pg_temp.f() RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT count(*) FROM person_dp'
  EXPLAIN SELECT pg_temp.f()
EXPLAIN CREATE TEMP TABLE own AS SELECT count(*) FROM person_dp
EXPLAIN DECLARE c CURSOR FOR SELECT count(*) FROM person_dp

-- B12 REFUSE 42602|42704|42501|22023
? SELECT * FROM person_dp
  SET dp_rdr.seed = 1
? SELECT * FROM person_dp
  SET dp_rdr.tau = 0
? SELECT * FROM person_dp
  SET dp_rdr.epsilon = 100
? SELECT * FROM person_dp
  SELECT set_config('dp_rdr.enabled', 'off', false)
? SELECT * FROM person_dp
  ALTER ROLE attack_analyst SET dp_rdr.enabled = off

-- B13 FRESH 6
SELECT setseed(0.5), count(*)::bigint FROM person_dp
  SELECT setseed(0.5)
  SELECT count(*) FROM person_dp
  SELECT setseed(0.5)
  SELECT count(*) FROM person_dp
  SELECT setseed(0.5)
  SELECT count(*) FROM person_dp
  SELECT setseed(0.5)
  SELECT count(*) FROM person_dp
  SELECT count(*) FROM person_dp

-- B15 CHARGED 3
SELECT count(*) FROM person_dp
  colleague> SELECT count(*) FROM person_dp
  finder> SELECT count(*) FROM person_dp

-- B16 CHARGED 2
colleague> SELECT count(*) FROM person_dp
  colleague> SET ROLE attack_team
  colleague> SELECT count(*) FROM person_dp

-- B16 REFUSE 42501
stranger> SELECT count(*) FROM person_dp
stranger> SELECT * FROM dp_query('SELECT count(*) FROM person_dp') AS (n bigint)
colleague> SET ROLE attack_analyst

-- B17 CHARGED 2
SELECT count(*) FROM person_dp
  SELECT count(*) FROM person_few
SELECT (SELECT count(*) FROM person_dp) - (SELECT count(*) FROM person_few)

-- B17 REFUSE 42501|42703
SELECT id FROM person_few
SELECT count(note) FROM person_few
SELECT count(*) FROM person_few WHERE person_few.note = 'a'

-- B19 CHARGED 2
BEGIN ISOLATION LEVEL REPEATABLE READ
  SELECT count(*) FROM public_city
  colleague> SELECT count(*) FROM person_dp
  SELECT count(*) FROM person_dp
  COMMIT

-- B24 CHARGED 2
BEGIN
  SELECT count(*) FROM person_dp
  colleague> SET lock_timeout = '2s'
  colleague> SELECT count(*) FROM person_dp
  ROLLBACK

-- B25 FRESH 6
SELECT count(*) FROM person_dp WHERE age > 30
  SELECT count(*) FROM person_dp WHERE age > 30
  SELECT count(*) FROM person_dp WHERE age > 30
  SELECT count(*) FROM person_dp WHERE age > 30
  SELECT count(*) FROM person_dp WHERE age > 30
  SELECT count(*) FROM person_dp WHERE age > 30

-- B26 FRESH 6
SELECT count(*) FROM person_dp WHERE age > 30
  SELECT count(*) FROM person_dp WHERE NOT age <= 30
  SELECT count(*) FROM person_dp WHERE 30 < age
  SELECT count(1) FROM person_dp WHERE age >= 31
  SELECT dp_count(*) FROM public.person_dp p WHERE p.age > 30
  SELECT count(*) FILTER (WHERE age > 30) FROM person_dp

-- B30 CHARGED 1
SET timezone = 'Pacific/Kiritimati'
  SELECT count(*) FROM person_dp

-- B31 CHARGED 1
SET synchronous_commit = off
  SELECT count(*) FROM person_dp

-- B32 REFUSE 22023|42883|0A000
SELECT * FROM dp_query('SELECT count(*) FROM person_dp', 'NaN') AS (n bigint)
SELECT * FROM dp_query('SELECT count(*) FROM person_dp', 'Infinity') AS (n bigint)
SELECT * FROM dp_query('SELECT count(*) FROM person_dp', -1) AS (n bigint)
SELECT * FROM dp_query('SELECT count(*) FROM person_dp', 0) AS (n bigint)
SELECT * FROM dp_query('SELECT count(*) FROM person_dp', -0.0) AS (n bigint)
SELECT * FROM dp_query('SELECT count(*) FROM person_dp', 1e-320) AS (n bigint)
SELECT * FROM dp_query('SELECT count(*) FROM person_dp', 1e9) AS (n bigint)
SELECT * FROM dp_query('SELECT count(*) FROM person_dp', weight => 'Infinity') AS (n bigint)
SELECT * FROM dp_query('SELECT count(*) FROM person_dp', weight => -1) AS (n bigint)
SELECT dp_count(age, 'NaN') FROM public_city
SELECT dp_sum(age, 0, 1, -1) FROM public_city
SELECT dp_avg(age, 1, 0, 1) FROM public_city

-- B32 CHARGED 1
SELECT * FROM dp_query('SELECT count(*) FROM person_dp', 0.001) AS (n bigint)
SELECT * FROM dp_query('SELECT count(*) FROM person_dp', 100) AS (n bigint)
