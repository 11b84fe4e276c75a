-- Direct reads: rows, parts of rows, and whatever tells one row from none.

-- A01 REFUSE 42501
SELECT * FROM person_dp
SELECT note FROM person_dp WHERE id = 4242
SELECT p.* FROM person_dp AS p (a, b, c) ORDER BY 2 DESC LIMIT 1
SELECT 1 FROM person_dp WHERE id = 4242
SELECT FROM person_dp
SELECT note FROM ONLY person_dp WHERE age = 90
SELECT count(*), (SELECT note FROM person_dp WHERE id = 4242) FROM public_city
SELECT inhabitants FROM public_city WHERE age > (SELECT age FROM person_dp WHERE id = 4242)

-- A01 NOCHARGE
SELECT * FROM person_dp LIMIT 0

-- A02 REFUSE 42501
TABLE person_dp
TABLE public.person_dp ORDER BY age DESC LIMIT 1
(TABLE person_dp) UNION ALL (TABLE person_dp)
WITH w AS (TABLE person_dp) TABLE w

-- A03 REFUSE 42501|42809
COPY person_dp TO STDOUT
COPY person_dp (note) TO STDOUT (FORMAT csv)
COPY (SELECT * FROM person_dp) TO STDOUT
COPY (SELECT note FROM person_dp WHERE id = 4242) TO STDOUT (FORMAT binary)
COPY (TABLE person_dp) TO STDOUT (FORMAT csv, HEADER)
COPY person TO STDOUT

-- A03 SHAPE
COPY (SELECT length(count(*)::text) > 0 FROM person_dp) TO STDOUT

-- A04 REFUSE 42501
BEGIN
  DECLARE c CURSOR FOR SELECT * FROM person_dp
  FETCH c
BEGIN
  DECLARE c CURSOR WITH HOLD FOR SELECT note FROM person_dp WHERE id = 4242
  COMMIT
BEGIN
  DECLARE c BINARY INSENSITIVE SCROLL CURSOR FOR SELECT * FROM person_dp ORDER BY age
  FETCH LAST FROM c
BEGIN
  DECLARE c CURSOR FOR SELECT * FROM person_dp
  MOVE ALL FROM c
DO $$ DECLARE c refcursor; r record; BEGIN OPEN c FOR EXECUTE 'SELECT note FROM person_dp'; FETCH c INTO r; RAISE WARNING '%', r; END $$

-- A05 REFUSE 42501|0A000
WITH w AS (SELECT * FROM person_dp) SELECT note FROM w WHERE age = 90
WITH w AS NOT MATERIALIZED (SELECT * FROM person_dp), x AS (SELECT * FROM w) SELECT * FROM x
WITH RECURSIVE w AS (SELECT age FROM person_dp UNION ALL SELECT age + 1 FROM w WHERE age < 10) SELECT * FROM w
WITH RECURSIVE w (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM w WHERE EXISTS (SELECT FROM person_dp WHERE age > 89 + n)) SELECT max(n) FROM w
WITH RECURSIVE w AS (SELECT id, age FROM person_dp UNION ALL SELECT id, age FROM w WHERE false) SEARCH DEPTH FIRST BY id SET o SELECT * FROM w

-- A06 REFUSE 42501
SELECT (SELECT note FROM person_dp WHERE id = 4242)
SELECT (SELECT p FROM person_dp p WHERE id = 4242)
SELECT (ARRAY(SELECT note FROM person_dp ORDER BY age DESC))[1]
SELECT coalesce((SELECT note FROM person_dp WHERE id = 4242), 'nobody')
SELECT CASE WHEN (SELECT age FROM person_dp WHERE id = 4242) = 90 THEN 'there' ELSE 'not there' END
SELECT inhabitants FROM public_city ORDER BY (SELECT age FROM person_dp WHERE id = 4242)
SELECT inhabitants FROM public_city LIMIT (SELECT age FROM person_dp WHERE id = 4242)
SELECT inhabitants FROM public_city OFFSET (SELECT id FROM person_dp WHERE age = 90)
VALUES ((SELECT note FROM person_dp WHERE id = 4242))

-- A07 REFUSE 42501
SELECT 1 WHERE EXISTS (SELECT FROM person_dp WHERE id = 4242 AND age = 90)
SELECT NOT EXISTS (SELECT * FROM person_dp WHERE id = 4242)
SELECT EXISTS (SELECT 1 FROM person_dp WHERE id = 4242 LIMIT 1)
SELECT city FROM public_city WHERE city IN (SELECT city FROM person_dp)
SELECT city FROM public_city WHERE city NOT IN (SELECT city FROM person_dp)
SELECT city FROM public_city c WHERE EXISTS (SELECT FROM person_dp p WHERE p.city = c.city AND p.age = c.age)
SELECT 90 = ALL (SELECT age FROM person_dp WHERE id = 4242)
SELECT (90, 'Atlantis') = ANY (SELECT age, city FROM person_dp)
SELECT city FROM public_city WHERE (city, age) IN (SELECT city, age FROM person_dp)
SELECT ROW(4242, 90) = (SELECT id, age FROM person_dp WHERE id = 4242)
SELECT ARRAY(SELECT 1 FROM person_dp WHERE id = 4242) = '{1}'
SELECT cardinality(ARRAY(SELECT a FROM (SELECT 1 FROM person_dp WHERE age = 90) q (a) WHERE a = 1)) > 0
SELECT city FROM public_city c WHERE age = ANY (ARRAY(SELECT age FROM person_dp WHERE id = 4242))

-- A08 REFUSE 42501|0A000
SELECT x.note FROM generate_series(4242, 4242) g, LATERAL (SELECT note FROM person_dp WHERE id = g) x
SELECT x.n FROM public_city c, LATERAL (SELECT count(*) AS n FROM person_dp p WHERE p.city = c.city) x
SELECT x.n FROM public_city c LEFT JOIN LATERAL (SELECT 1 AS n FROM person_dp p WHERE p.age = c.age LIMIT 1) x ON true
SELECT c.city FROM public_city c CROSS JOIN LATERAL (SELECT FROM person_dp WHERE age = c.age) x
SELECT p.id, u FROM person_dp p, unnest(ARRAY[p.note, p.city]) u

-- A09 REFUSE 42501|0A000
SELECT age FROM person_dp UNION ALL SELECT 0
SELECT city FROM public_city INTERSECT SELECT city FROM person_dp
SELECT city FROM public_city EXCEPT ALL SELECT city FROM person_dp
SELECT count(*) FROM (SELECT note FROM person_dp UNION SELECT note FROM person_dp) u
SELECT u.city FROM (SELECT city FROM person_dp UNION ALL SELECT city FROM public_city) u WHERE u.city = 'Atlantis'
SELECT (SELECT age FROM person_dp UNION SELECT 1 LIMIT 1)

-- A10 REFUSE 42501|0A000
CREATE TEMP VIEW mine AS SELECT note, age FROM person_dp
  SELECT * FROM mine
CREATE TEMP VIEW mine AS SELECT note, age FROM person_dp WHERE age = 90 WITH LOCAL CHECK OPTION
  CREATE TEMP VIEW again AS SELECT * FROM mine, (SELECT inhabitants FROM public_city) c
  SELECT * FROM again
CREATE TEMP VIEW mine WITH (security_barrier) AS SELECT * FROM person_dp
  SELECT note FROM mine WHERE id = 4242
CREATE TEMP VIEW mine WITH (security_invoker) AS SELECT * FROM person_dp
  SELECT note FROM mine WHERE id = 4242
CREATE TEMP RECURSIVE VIEW mine (note) AS SELECT note FROM person_dp
  TABLE mine

-- A11 REFUSE 42501|0A000
CREATE FUNCTION pg_temp.f() RETURNS SETOF text LANGUAGE sql STABLE AS 'SELECT note FROM person_dp'
  SELECT * FROM pg_temp.f()
CREATE FUNCTION pg_temp.f() RETURNS SETOF person_dp LANGUAGE sql STABLE ROWS 1 AS 'SELECT * FROM person_dp'
  SELECT f.note FROM pg_temp.f() WHERE age = 90
CREATE FUNCTION pg_temp.f() RETURNS TABLE (note text, age integer) LANGUAGE sql IMMUTABLE AS 'SELECT note, age FROM person_dp'
  SELECT count(*) FROM pg_temp.f() WHERE age = 90
CREATE FUNCTION pg_temp.f() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT count(*) FROM person'
  SELECT pg_temp.f()
CREATE FUNCTION pg_temp.f(a integer) RETURNS SETOF text LANGUAGE sql STABLE AS 'SELECT note FROM person_dp WHERE age = a'
  SELECT n FROM public_city c, LATERAL pg_temp.f(c.age) n

-- A12 REFUSE 42501|0A000
CREATE FUNCTION pg_temp.f() RETURNS SETOF text LANGUAGE sql STABLE BEGIN ATOMIC SELECT note FROM person_dp; END
  SELECT * FROM pg_temp.f()
CREATE FUNCTION pg_temp.f() RETURNS text LANGUAGE sql STABLE RETURN (SELECT note FROM person_dp WHERE id = 4242)
  SELECT pg_temp.f()
CREATE FUNCTION pg_temp.f() RETURNS boolean LANGUAGE sql IMMUTABLE RETURN EXISTS (SELECT FROM person_dp WHERE id = 4242)
  SELECT pg_temp.f()

-- A13 REFUSE 42501|0A000
DO $$ DECLARE r record; BEGIN EXECUTE 'SELECT note FROM person_dp' INTO r; RAISE WARNING '%', r; END $$
DO $$ DECLARE r record; BEGIN FOR r IN SELECT * FROM person_dp LOOP RAISE WARNING '%', r; END LOOP; END $$
DO $$ BEGIN PERFORM 1 FROM person_dp WHERE id = 4242; IF FOUND THEN RAISE WARNING 'there'; END IF; END $$
DO $$ DECLARE n text; BEGIN SELECT note INTO STRICT n FROM person_dp WHERE id = 4242; RAISE WARNING '%', n; END $$
CREATE PROCEDURE pg_temp.p(INOUT n text) LANGUAGE sql AS 'SELECT note FROM person_dp WHERE id = 4242'
  CALL pg_temp.p(NULL)
CREATE FUNCTION pg_temp.f() RETURNS person_dp LANGUAGE plpgsql AS $$ DECLARE r person_dp; BEGIN SELECT * INTO r FROM person_dp WHERE id = 4242; RETURN r; END $$
  SELECT (pg_temp.f()).note
CREATE FUNCTION pg_temp.f() RETURNS SETOF record LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY EXECUTE 'TABLE person_dp'; END $$
  SELECT n FROM pg_temp.f() AS (i int, a int, s text, c text, n text, sa int, h float8, r numeric, b date, se timestamp, m mood, me boolean)

-- A14 REFUSE 42501|0A000
SELECT query_to_xml('SELECT note FROM person_dp', true, true, '')
SELECT table_to_xml('person_dp'::regclass, false, false, '')
SELECT database_to_xml(true, true, '')
SELECT query_to_xml('SELECT count(*) FROM person', true, true, '')
SELECT cursor_to_xml('c', 10, true, true, '') FROM (SELECT 1 FROM person_dp) q
SELECT word FROM ts_stat('SELECT to_tsvector(note) FROM person_dp')
SELECT ts_rewrite('a'::tsquery, 'SELECT ''a''::tsquery, plainto_tsquery(note) FROM person_dp')
BEGIN
  DECLARE c CURSOR FOR SELECT * FROM person_dp
  SELECT cursor_to_xml('c', 10, true, true, '')

-- A14 NOCHARGE
SELECT table_to_xmlschema('person_dp', true, true, '')

-- A15 REFUSE 42501|0A000
CREATE TEMP TABLE mine AS SELECT * FROM person_dp
CREATE TEMP TABLE mine AS TABLE person_dp WITH DATA
SELECT note INTO TEMP mine FROM person_dp WHERE age = 90
PREPARE p AS SELECT note FROM person_dp
  CREATE TEMP TABLE mine AS EXECUTE p
CREATE TEMP TABLE mine (age integer, note text)
  INSERT INTO mine SELECT age, note FROM person_dp RETURNING *
CREATE TEMP TABLE mine (age integer PRIMARY KEY, note text)
  INSERT INTO mine VALUES (90, '')
  INSERT INTO mine SELECT age, note FROM person_dp ON CONFLICT (age) DO UPDATE SET note = excluded.note RETURNING *
CREATE TEMP TABLE mine AS SELECT 90 AS age, '' AS note
  UPDATE mine SET note = p.note FROM person_dp p WHERE p.age = mine.age RETURNING *
CREATE TEMP TABLE mine AS SELECT 90 AS age, '' AS note
  UPDATE mine SET note = (SELECT note FROM person_dp p WHERE p.age = mine.age)
CREATE TEMP TABLE mine AS SELECT 90 AS age, '' AS note
  DELETE FROM mine USING person_dp p WHERE p.age = mine.age RETURNING *
CREATE TEMP TABLE mine AS SELECT 90 AS age, '' AS note
  MERGE INTO mine USING person_dp p ON p.age = mine.age WHEN MATCHED THEN DELETE
CREATE TEMP TABLE mine AS SELECT 90 AS age, '' AS note
  MERGE INTO mine USING public_city c ON true WHEN MATCHED AND EXISTS (SELECT FROM person_dp WHERE age = 90) THEN DELETE
CREATE TEMP TABLE mine (age integer)
  WITH i AS (INSERT INTO mine SELECT age FROM person_dp RETURNING age) SELECT * FROM i

-- A15 REFUSE 42501|0A000|55000
CREATE TEMP VIEW mine AS SELECT * FROM person_dp
  UPDATE mine SET age = 1 RETURNING *
INSERT INTO person_dp (id) VALUES (1) RETURNING *
UPDATE person_dp SET note = note RETURNING note
DELETE FROM person_dp WHERE age = 90 RETURNING *
MERGE INTO person_dp p USING public_city c ON p.age = c.age WHEN MATCHED THEN DELETE

-- A16 REFUSE 42501|0A000
CREATE TEMP TABLE mine (a integer)
  CREATE FUNCTION pg_temp.t() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING '%', (SELECT note FROM person_dp WHERE id = 4242); RETURN new; END $$
  CREATE TRIGGER t BEFORE INSERT ON mine FOR EACH ROW EXECUTE FUNCTION pg_temp.t()
  INSERT INTO mine VALUES (1)
CREATE TEMP TABLE mine (a integer)
  CREATE RULE r AS ON INSERT TO mine DO ALSO SELECT note FROM person_dp
  INSERT INTO mine VALUES (1)
CREATE FUNCTION pg_temp.f(a integer) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT note FROM public.person_dp WHERE id = a'
  CREATE TEMP TABLE mine AS SELECT 4242 AS a
  CREATE INDEX ON mine (pg_temp.f(a))
CREATE FUNCTION pg_temp.f() RETURNS text LANGUAGE sql AS 'SELECT note FROM person_dp WHERE id = 4242'
  CREATE TEMP TABLE mine (a integer, b text DEFAULT pg_temp.f())
  INSERT INTO mine VALUES (1) RETURNING b
CREATE FUNCTION pg_temp.f(a integer) RETURNS boolean LANGUAGE sql AS 'SELECT EXISTS (SELECT FROM person_dp WHERE age = a)'
  CREATE TEMP TABLE mine (a integer CHECK (pg_temp.f(a)))
  INSERT INTO mine VALUES (90)
CREATE FUNCTION pg_temp.f() RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN EXISTS (SELECT FROM person_dp WHERE id = 4242); END $$
  EXPLAIN (VERBOSE) SELECT pg_temp.f()
CREATE FUNCTION pg_temp.f() RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN (SELECT count(*) FROM person); END $$
  EXPLAIN SELECT 1 WHERE pg_temp.f() > 1000
CREATE TEMP TABLE mine (a integer)
  ALTER TABLE mine ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY
  CREATE POLICY p ON mine USING (EXISTS (SELECT FROM person_dp WHERE age = a))
  INSERT INTO mine VALUES (90)
CREATE TEMP TABLE mine AS SELECT 1 AS a
  ALTER TABLE mine ADD COLUMN b text GENERATED ALWAYS AS ((SELECT note FROM person_dp)) STORED
CREATE TEMP TABLE mine AS SELECT 1 AS a
  ALTER TABLE mine ALTER a TYPE text USING (SELECT note FROM person_dp WHERE id = 4242)

-- A17 REFUSE 42501
PREPARE p AS SELECT * FROM person_dp
  EXECUTE p
PREPARE p (integer) AS SELECT note FROM person_dp WHERE id = $1
  ! EXECUTE p (4242)
  ! EXECUTE p (4242)
  ! EXECUTE p (4242)
  ! EXECUTE p (4242)
  ! EXECUTE p (4242)
  ! EXECUTE p (4242)
  EXECUTE p (4242)
PREPARE p AS SELECT note FROM person_dp
  EXPLAIN ANALYZE EXECUTE p

-- A18 REFUSE 42501|0A000
SELECT person_dp FROM person_dp
SELECT p::text FROM person_dp p
SELECT to_jsonb(p) FROM person_dp p
SELECT hashtext(p::text), hash_record(p) FROM person_dp p
SELECT (p).note FROM (SELECT p FROM person_dp p OFFSET 0) q
SELECT count(p) FROM person_dp p
SELECT count(p.*) FROM person_dp p
SELECT count(DISTINCT p) FROM person_dp p
SELECT count(*) FROM person_dp p WHERE p IS NOT NULL
SELECT count(*) FROM person_dp p WHERE p = p
SELECT count(*) FROM person_dp p WHERE p::text = ''
SELECT count(*) FROM person_dp p WHERE ROW(p.*) IS NULL
SELECT count(*) FROM person_dp p WHERE to_jsonb(p) ? 'a'
SELECT count(*) FILTER (WHERE p IS DISTINCT FROM NULL) FROM person_dp p
SELECT p, count(*) FROM person_dp p GROUP BY p
SELECT dp_sum(p.age), row_to_json(p) FROM person_dp p GROUP BY p

-- A19 REFUSE 42703|42501|0A000
SELECT ctid FROM person_dp
SELECT count(*) FROM person_dp WHERE ctid = '(0,1)'
SELECT count(xmin) FROM person_dp
SELECT tableoid, count(*) FROM person_dp GROUP BY tableoid
SELECT count(*) FROM person_dp WHERE cmax IS NULL
SELECT * FROM person_dp FOR UPDATE
SELECT note FROM person_dp FOR SHARE SKIP LOCKED
SELECT count(*) FROM person_dp FOR UPDATE
SELECT n FROM (SELECT count(*) AS n FROM person_dp) q, public_city FOR UPDATE OF public_city

-- A20 REFUSE 0A000|42501
SELECT string_agg(note, ',') FROM person_dp
SELECT array_agg(note ORDER BY age DESC) FROM person_dp
SELECT json_object_agg(id, note), jsonb_agg(note) FROM person_dp
SELECT min(note), max(salary) FROM person_dp
SELECT (max(note)) FROM person_dp WHERE age = 90
SELECT mode() WITHIN GROUP (ORDER BY note) FROM person_dp
SELECT percentile_disc(ARRAY[[0.5, 1]]) WITHIN GROUP (ORDER BY salary) FROM person_dp
SELECT percentile_disc(ARRAY[0.5, 1]) WITHIN GROUP (ORDER BY note) FROM person_dp
SELECT percentile_disc(ARRAY[age / 100.0, 1]) WITHIN GROUP (ORDER BY salary) FROM person_dp GROUP BY age
SELECT percentile_disc(1) WITHIN GROUP (ORDER BY note) FROM person_dp
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY person_dp) FROM person_dp
SELECT percentile_cont(1) WITHIN GROUP (ORDER BY age(seen, born)) FROM person_dp
SELECT max(age(seen)) FROM person_dp
SELECT dp_high(max(salary)) FROM person_dp
SELECT every(age < 90) FROM person_dp
SELECT bit_xor(age) FROM person_dp
SELECT regr_sxx(age, salary), covar_pop(age, salary) FROM person_dp
SELECT dense_rank(73) WITHIN GROUP (ORDER BY age) FROM person_dp
SELECT range_agg(int4range(age, age + 1)) FROM person_dp
SELECT count(*) FROM person_dp HAVING max(note) = 'x'
SELECT count(*) FROM person_dp ORDER BY max(note)
SELECT 1 FROM person_dp HAVING bool_or(id = 4242)
SELECT sum(age(seen, born)) FROM person_dp

-- A21 REFUSE 0A000|42501
SELECT count(*) OVER () FROM person_dp
SELECT sum(salary) OVER (ORDER BY id ROWS 1 PRECEDING) FROM person_dp
SELECT dp_sum(salary) OVER (PARTITION BY age) FROM person_dp
SELECT dp_count(*) OVER w FROM person_dp WINDOW w AS (ORDER BY id)
SELECT lag(note) OVER (ORDER BY age), ntile(2) OVER () FROM person_dp
SELECT first_value(note) OVER (ORDER BY age DESC) FROM person_dp LIMIT 1
SELECT q.r FROM (SELECT rank() OVER (ORDER BY salary) AS r, id FROM person_dp) q WHERE id = 4242
SELECT count(*) FROM (SELECT row_number() OVER (PARTITION BY age) AS r FROM person_dp) q WHERE r > 1

-- A21 REFUSE 0A000|55000
SELECT dp_count(*) OVER () FROM public_city
SELECT dp_sum(age, 0, 100, 0.1) OVER () FROM public_city

-- A22 REFUSE 0A000|42501|42P13
CREATE AGGREGATE pg_temp.sum(integer) (SFUNC = int4larger, STYPE = integer)
  SELECT pg_temp.sum(age) FROM person_dp
CREATE AGGREGATE pg_temp.mine(integer) (SFUNC = int4pl, STYPE = integer, INITCOND = '0')
  SELECT pg_temp.mine(age) FROM person_dp
CREATE AGGREGATE pg_temp.raw(bytea, VARIADIC "any") (SFUNC = dp_rdr.cells_step, STYPE = internal)
CREATE AGGREGATE pg_temp.count(*) (SFUNC = int8inc, STYPE = int8, INITCOND = '0')
  SELECT pg_temp.count(*) FROM person_dp

-- A23 REFUSE 0A000|42501
CREATE FUNCTION pg_temp.snoop(x text) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS $$ BEGIN RAISE WARNING 'snooped: %', x; RETURN true; END $$
  SELECT count(*) FROM person_dp WHERE pg_temp.snoop(note)
CREATE FUNCTION pg_temp.snoop(x anyelement) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE WARNING 'snooped: %', x; RETURN true; END $$
  SELECT count(*) FROM person_dp WHERE CASE WHEN pg_temp.snoop(note) THEN true END
CREATE FUNCTION pg_temp.snoop(x integer) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT x + 1'
  SELECT sum(pg_temp.snoop(salary)) FROM person_dp
CREATE FUNCTION pg_temp.snoop(x integer) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT x + 1'
  SELECT pg_temp.snoop(age), count(*) FROM person_dp GROUP BY 1
CREATE FUNCTION pg_temp.same(a text, b text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE WARNING '%', a; RETURN a = b; END $$
  CREATE OPERATOR pg_temp.= (LEFTARG = text, RIGHTARG = text, FUNCTION = pg_temp.same)
  SELECT count(*) FROM person_dp WHERE note OPERATOR(pg_temp.=) 'a'
CREATE FUNCTION pg_temp.same(a text, b text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE WARNING '%', a; RETURN a = b; END $$
  CREATE OPERATOR pg_temp.=== (LEFTARG = text, RIGHTARG = text, FUNCTION = pg_temp.same)
  SELECT count(*) FROM person_dp WHERE note OPERATOR(pg_temp.===) ANY ('{a,b}')
CREATE DOMAIN pg_temp.nosy AS text CHECK (VALUE <> 'a')
  SELECT count(*) FROM person_dp WHERE note::pg_temp.nosy = 'b'
CREATE DOMAIN pg_temp.nosy AS integer CHECK (VALUE < 90)
  SELECT avg(age::pg_temp.nosy) FROM person_dp
CREATE TYPE pg_temp.pair AS (a text, b text)
  SELECT count(*) FROM person_dp WHERE ROW(note, city)::pg_temp.pair = ROW('a', 'b')::pg_temp.pair
CREATE TYPE pg_temp.box AS (v text)
  CREATE FUNCTION pg_temp.to_box(x text) RETURNS pg_temp.box LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING '%', x; RETURN ROW(x); END $$
  CREATE CAST (text AS pg_temp.box) WITH FUNCTION pg_temp.to_box(text)
  SELECT count(*) FROM person_dp WHERE (note::pg_temp.box).v = 'a'
CREATE TYPE pg_temp.feeling AS ENUM ('low', 'fair', 'high')
  CREATE FUNCTION pg_temp.feel(x mood) RETURNS pg_temp.feeling LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING '%', x; RETURN 'low'; END $$
  CREATE CAST (mood AS pg_temp.feeling) WITH FUNCTION pg_temp.feel(mood) AS IMPLICIT
  SELECT count(*) FROM person_dp WHERE mood::pg_temp.feeling = 'low'

-- A23 NOLEAK
CREATE COLLATION pg_temp.mine (PROVIDER = icu, LOCALE = 'und-u-ks-level1', DETERMINISTIC = false)
  SELECT count(*) FROM person_dp WHERE note = 'A' COLLATE pg_temp.mine
SELECT count(*) FROM person_dp WHERE note COLLATE "C" < city COLLATE "POSIX"

-- A24 NOLEAK
CREATE FUNCTION pg_temp.snoop(x anyelement) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'snooped: %', x; RETURN true; END $$
  CREATE DOMAIN pg_temp.int8 AS bigint CHECK (pg_temp.snoop(VALUE))
  CREATE DOMAIN pg_temp.text AS pg_catalog.text CHECK (pg_temp.snoop(VALUE))
  CREATE DOMAIN pg_temp.float8 AS double precision CHECK (pg_temp.snoop(VALUE))
  CREATE DOMAIN pg_temp.numeric AS pg_catalog.numeric CHECK (pg_temp.snoop(VALUE))
  SET search_path = pg_temp, pg_catalog, public
  SELECT sex, pg_catalog.avg(salary), pg_catalog.sum(height), pg_catalog.count(*) FROM public.person_dp GROUP BY sex
CREATE TEMP TABLE pg_proc AS SELECT 1 AS oid
  CREATE TEMP TABLE policy AS SELECT 1 AS view
  CREATE TEMP TABLE odometer (id uuid, public_epsilon numeric)
  CREATE TEMP TABLE restricted_view (view regclass)
  CREATE TEMP TABLE person (id integer, age integer, note text)
  SET search_path = pg_temp, dp_rdr, pg_catalog, public
  SELECT pg_catalog.count(*) FROM public.person_dp

-- A25 NOCHARGE
CREATE TEMP TABLE person_dp (age integer)
  SELECT count(*) FROM person_dp
CREATE TEMP TABLE person_dp (age integer)
  SET search_path = pg_temp, public
  SELECT count(age), sum(age) FROM person_dp
WITH person_dp AS (SELECT 1 AS age) SELECT count(*), sum(age) FROM person_dp
SELECT count(*) FROM public_city AS person_dp

-- A25 REFUSE 55000
CREATE TEMP TABLE person_dp (age integer)
  SELECT dp_count(*) FROM person_dp
CREATE TEMP VIEW person_dp AS SELECT 1 AS age
  SELECT * FROM dp_query('SELECT count(*) FROM person_dp') AS (n bigint)
SELECT dp_count(*) FROM public_city
SELECT dp_avg(age) FROM public_city

-- A26 REFUSE 42501
SET ROLE attack_controller
SET SESSION AUTHORIZATION attack_controller
SET ROLE attack_team
ALTER ROLE attack_analyst SUPERUSER
GRANT attack_controller TO attack_analyst
ALTER VIEW person_dp OWNER TO attack_analyst
SELECT set_config('role', 'attack_controller', false)
SELECT set_config('session_authorization', 'attack_controller', false)

-- A27 REFUSE 42601|0A000|55000|42501|22004|42P02|42P01|42804
SELECT * FROM dp_query('SELECT count(*) FROM person_dp; SELECT note FROM person_dp') AS (n bigint)
SELECT * FROM dp_query('SELECT count(*) FROM person_dp;;SELECT 1') AS (n bigint)
SELECT * FROM dp_query('COPY person_dp TO STDOUT') AS (n bigint)
SELECT * FROM dp_query('EXPLAIN ANALYZE SELECT count(*) FROM person_dp') AS (n text)
SELECT * FROM dp_query('TABLE person') AS (n bigint)
SELECT * FROM dp_query('SELECT note FROM person_dp WHERE id = 4242') AS (n text)
SELECT * FROM dp_query('WITH d AS (DELETE FROM person RETURNING 1) SELECT count(*) FROM d, person_dp') AS (n bigint)
SELECT * FROM dp_query('SELECT count(*) FROM person_dp WHERE age = $1') AS (n bigint)
SELECT * FROM dp_query('') AS (n bigint)
SELECT * FROM dp_query(NULL) AS (n bigint)
SELECT * FROM dp_query('SELECT count(*) FROM person_dp') AS (n text)
SELECT * FROM dp_query('SELECT count(*) FROM person_dp, (SELECT note FROM person_dp WHERE id = 4242) x') AS (n bigint)
SELECT * FROM dp_query('SELECT count(*) FROM person') AS (n bigint)
SELECT * FROM dp_query('VALUES (1::bigint)') AS (n bigint)
SELECT * FROM dp_query('SELECT max(note) FROM person_dp') AS (n text)

-- A27 NOLEAK
SELECT * FROM dp_query('SELECT * FROM dp_query(''SELECT count(*) FROM person_dp'') AS (n bigint)') AS (n bigint)

-- A28 REFUSE 42501
SELECT * FROM dp_rdr.ledger_row
DELETE FROM dp_rdr.odometer
UPDATE dp_rdr.odometer SET public_epsilon = 0
INSERT INTO dp_rdr.ledger_row SELECT
TRUNCATE dp_rdr.ledger_row
BEGIN
  LOCK dp_rdr.odometer IN ACCESS SHARE MODE
SELECT * FROM dp_rdr.policy
UPDATE dp_rdr.column_bounds SET upper = 1e9
SELECT nextval('dp_rdr.ledger_row_id_seq')
SELECT last_value FROM dp_rdr.ledger_row_id_seq
COPY dp_rdr.ledger_row TO STDOUT
SELECT * FROM dp_odometer('person')
SELECT dp_verify_ledger('person')

-- A29 REFUSE 42501|0A000|55000|42601|22004|22023|42804|42883|42P02
SELECT note FROM dp_rdr.deny('person') AS (note text)
SELECT * FROM dp_rdr.release('SELECT note FROM public.person_dp', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (note text)
SELECT * FROM dp_rdr.release('SELECT count(*) FROM public.person', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)
SELECT * FROM dp_rdr.release('SELECT count(*) AS c1 FROM public.person_dp; DELETE FROM public.person', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)
SELECT * FROM dp_rdr.release('SELECT max(note) AS c1 FROM public.person_dp', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n text)
SELECT * FROM dp_rdr.release('SELECT count(*) AS c1 FROM public.person_dp', 1e9, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)
SELECT * FROM dp_rdr.release('SELECT count(*) AS c1 FROM public.person_dp', 'Infinity', 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)
SELECT * FROM dp_rdr.release('SELECT count(*) AS c1 FROM public.person_dp', NULL, 'NaN', NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)
SELECT * FROM dp_rdr.release('SELECT count(*) AS c1 FROM public.person_dp', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n text)
SELECT * FROM dp_rdr.release('SELECT count(*) AS c1 FROM public.person_dp WHERE note = $1', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)
SELECT dp_rdr.release('SELECT note FROM public.person_dp', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL)
SELECT dp_rdr.cells('\x', age) FROM person_dp
SELECT dp_rdr.cell('\x', age) FROM person_dp
SELECT dp_rdr.cells('\x00', age) FROM person_dp
SELECT dp_rdr.cells(decode(repeat('00', 96), 'hex'), age) FROM public_city
SELECT dp_rdr.cells_step(NULL, '\x', 1)
SELECT * FROM dp_risk('SELECT count(*) FROM person_dp')
SELECT * FROM dp_risk_records('SELECT count(*) FROM person_dp', 1)
SELECT * FROM dp_risk_output('SELECT count(*) FROM person_dp', '{1}')
SELECT * FROM dp_risk_summary('SELECT count(*) FROM person_dp')
SELECT * FROM dp_risk('SELECT max(age) FROM person_dp', sensitivity => 1)
SELECT * FROM dp_risk_records('SELECT array_agg(note) FROM person_dp', 1, sensitivity => 1)
CALL dp_find_epsilon('SELECT count(*) FROM person_dp', 0.5)
CALL dp_find_epsilon('SELECT max(age) FROM person_dp', 0.5, sensitivity => 1)
CALL dp_find_epsilon('SELECT count(*) FROM person_dp', 0.5, indicator => 'output')
CALL dp_find_epsilon('SELECT count(*) FROM person_dp', 0.5, group_a => 'id = 4242', group_b => 'id <> 4242')
CALL dp_find_and_release_epsilon('SELECT count(*) FROM person_dp', 0.1)
SELECT dp_set_bounds('person', 'salary', 0, 1e9)
SELECT dp_grant('person_dp', 'attack_analyst', tau => 0.001)
SELECT dp_unprotect('person_dp')
SELECT dp_protect('public_city', 'pg_temp.city_dp')

-- A29 NOLEAK
SELECT * FROM dp_audit()
SELECT dp_rdr.ledger_hash(1, '', '')

-- A29 SHAPE
SELECT * FROM dp_rdr.release('SELECT count(*) AS c1 FROM public.person_dp', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)

-- A30 REFUSE 0A000|42501|55000
SELECT DISTINCT ON (sex) sex, note FROM person_dp ORDER BY sex, age DESC
SELECT sex, count(*) FROM person_dp GROUP BY ROLLUP (sex, city)
SELECT count(*) FROM person_dp TABLESAMPLE SYSTEM (1)
SELECT DISTINCT city FROM person_dp
SELECT city FROM person_dp GROUP BY city HAVING max(age) = 90
SELECT age FROM person_dp ORDER BY age DESC FETCH FIRST ROW WITH TIES

-- A30 SHAPE
SELECT sex, count(*) FROM person_dp GROUP BY sex HAVING count(*) > -1000000 ORDER BY sex DESC
SELECT sex FROM person_dp GROUP BY sex HAVING count(*) > -1000000 AND avg(salary) >= 0 ORDER BY sex
SELECT count(*) FROM person_dp HAVING count(*) = 123456789
SELECT DISTINCT count(*) FROM person_dp
SELECT sex, sum(salary) IS NULL FROM person_dp GROUP BY sex ORDER BY 1 LIMIT 1

-- A31 REFUSE 42501
superuser> PREPARE p AS SELECT note FROM person_dp
  superuser> ! EXECUTE p
  superuser> SET ROLE attack_analyst
  superuser> EXECUTE p
controller> PREPARE p AS SELECT * FROM person_dp WHERE age = 90
  controller> EXECUTE p
superuser> CREATE FUNCTION pg_temp.f() RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT note FROM person_dp WHERE age = 90); END $$
  superuser> ! SELECT pg_temp.f()
  superuser> SET ROLE attack_analyst
  superuser> SELECT pg_temp.f()
superuser> BEGIN
  superuser> DECLARE c CURSOR FOR SELECT note FROM person_dp
  superuser> SET LOCAL ROLE attack_analyst
  superuser> FETCH c

-- A31 CHARGED 1
superuser> PREPARE p AS SELECT count(*) FROM person_dp
  superuser> SET ROLE attack_analyst
  superuser> EXECUTE p
  superuser> RESET ROLE
  superuser> SET ROLE attack_stranger
  superuser> ! EXECUTE p

-- A34 REFUSE 42501|0A000|42P17
CREATE EVENT TRIGGER e ON ddl_command_end EXECUTE FUNCTION pg_temp.f()
CREATE FUNCTION pg_temp.f() RETURNS integer LANGUAGE c AS 'dp_rdr', 'dp_query'
CREATE FUNCTION pg_temp.f() RETURNS integer LANGUAGE internal AS 'int4pl'
CREATE EXTENSION pg_stat_statements
CREATE EXTENSION plperlu
COPY (SELECT 1) TO PROGRAM 'cat'
COPY public_city TO '/tmp/stolen'
LOAD '/tmp/x'
LOAD 'dp_rdr'
CREATE LANGUAGE plperl
CREATE SCHEMA mine
CREATE TABLE mine (a integer)
CREATE PUBLICATION p FOR TABLE person
ALTER SYSTEM SET shared_preload_libraries = ''
ALTER DATABASE attack_with SET session_preload_libraries = ''
SELECT pg_read_file('PG_VERSION')
SELECT lo_import('/etc/passwd')
SET session_preload_libraries = ''
SET session_replication_role = replica
CREATE FUNCTION pg_temp.f(text) RETURNS boolean LANGUAGE sql LEAKPROOF AS 'SELECT true'

-- A35 SAME
SELECT pg_get_viewdef('person_dp'), pg_get_viewdef('person_dp'::regclass, true)
SELECT ev_action FROM pg_rewrite WHERE ev_class = 'person_dp'::regclass
SELECT definition FROM pg_views WHERE viewname = 'person_dp'
SELECT attname, atttypid, atttypmod, attstattarget FROM pg_attribute WHERE attrelid = 'person_dp'::regclass ORDER BY attnum
SELECT obj_description(oid), * FROM (SELECT oid, relname, relacl FROM pg_class WHERE relname LIKE 'person%') q ORDER BY 2
