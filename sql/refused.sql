-- What an analyst tries, and gets an error that depends on the query and on public facts only. Ids as in the catalogue of
-- attacks: A reads, B budget, C side channels, D statistics, X configuration. One person in the data, the canary, has
-- values that nobody else has (age 90, note canary-7319): they must not appear anywhere in the output.

LOAD 'dp_rdr';
SET client_min_messages = warning;
DROP ROLE IF EXISTS regress_both, regress_team_two;
RESET client_min_messages;
CREATE ROLE regress_team_two;
CREATE ROLE regress_both IN ROLE regress_team, regress_team_two;

SET ROLE regress_controller;
CREATE TABLE person (
    id     integer NOT NULL,
    age    integer,
    sex    text,
    city   text,
    note   text,
    salary integer,
    born   date,
    many   integer
);
INSERT INTO person
SELECT id, 20 + id % 60, CASE id % 2 WHEN 0 THEN 'Female' ELSE 'Male' END, 'city ' || id % 5, 'note ' || id, 1000 * (id % 7),
       date '1980-01-01' + id, id % 300
FROM generate_series(1, 100) id;
INSERT INTO person VALUES (7319, 90, 'Other', 'Nowhere', 'canary-7319', 7319731, '1899-12-31', 5);
SELECT dp_protect('person', 'person_dp');
SELECT dp_set_bounds('person', 'salary', 0, 10000), dp_set_groups('person', 'sex', '{Female,Male}'),
       dp_set_groups('person', 'many', (SELECT array_agg(g::text) FROM generate_series(1, 300) g)),
       dp_set_groups('person', 'id', (SELECT array_agg(g::text) FROM generate_series(1, 100) g));
SELECT dp_grant('person_dp', 'regress_analyst', tau => 0.95);
SELECT dp_grant('person_dp', 'regress_team', tau => 0.95), dp_grant('person_dp', 'regress_team_two', tau => 0.9);
GRANT SELECT ON person_dp TO regress_second;
CREATE TABLE account_before AS SELECT * FROM dp_odometer('person');
CREATE VIEW plain_view AS SELECT age FROM person;
GRANT SELECT ON plain_view TO regress_analyst;

CREATE TABLE attack (n integer GENERATED ALWAYS AS IDENTITY, id text, statement text, outcome text);
GRANT SELECT, INSERT, UPDATE ON attack TO regress_analyst;

-- Everything an error says is searched for the canary.
CREATE FUNCTION observe(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    detail text;
    hint text;
    context text;
BEGIN
    EXECUTE statement;
    RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT, context = PG_EXCEPTION_CONTEXT;
    -- The statement itself is part of the context.
    IF sqlerrm || detail || hint || replace(context, statement, '') ~ 'canary-7319|7319731|Nowhere|1899' THEN
        RETURN 'LEAK';
    END IF;
    RETURN sqlstate || ' ' || sqlerrm;
END $$;

-- ---------------------------------------------------------------------------------------------------------------------
-- Rows (42501, from the view itself or before)
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_analyst;
CREATE TEMP VIEW over AS SELECT * FROM person_dp;
CREATE TEMP VIEW over_over AS SELECT age, note FROM over WHERE age > 80;
CREATE FUNCTION pg_temp.inlined() RETURNS SETOF text LANGUAGE sql STABLE AS 'SELECT note FROM person_dp';
CREATE FUNCTION pg_temp.atomic() RETURNS SETOF text LANGUAGE sql STABLE BEGIN ATOMIC SELECT note FROM person_dp; END;
CREATE FUNCTION pg_temp.scalar() RETURNS text LANGUAGE sql STABLE AS 'SELECT note FROM person_dp ORDER BY age DESC LIMIT 1';
CREATE FUNCTION pg_temp.plain() RETURNS text LANGUAGE plpgsql AS 'DECLARE r record; BEGIN FOR r IN SELECT * FROM person_dp LOOP RETURN r.note; END LOOP; END';
CREATE TEMP TABLE own (age integer, note text);
INSERT INTO own VALUES (90, NULL);

INSERT INTO attack (id, statement) VALUES
    ('A01', 'SELECT * FROM person_dp'),
    ('A01', 'SELECT note FROM person_dp WHERE age = 90'),
    ('A01', 'SELECT note FROM person_dp ORDER BY age DESC LIMIT 1'),
    ('A01', 'SELECT DISTINCT note FROM person_dp'),
    ('A01', 'SELECT FROM person_dp'),
    ('A01', 'SELECT 1 FROM person_dp'),
    ('A02', 'TABLE person_dp'),
    ('A05', 'WITH w AS (SELECT * FROM person_dp) SELECT * FROM w'),
    ('A05', 'WITH w AS MATERIALIZED (SELECT * FROM person_dp) SELECT * FROM w'),
    ('A05', 'WITH RECURSIVE w AS (SELECT age FROM person_dp UNION SELECT age - 1 FROM w WHERE age > 89) SELECT * FROM w'),
    ('A06', 'SELECT (SELECT note FROM person_dp WHERE id = 7319)'),
    ('A07', 'SELECT 1 WHERE EXISTS (SELECT 1 FROM person_dp WHERE id = 7319 AND age = 90)'),
    ('A07', 'SELECT g FROM generate_series(80, 99) g WHERE g IN (SELECT age FROM person_dp)'),
    ('A07', 'SELECT ARRAY(SELECT note FROM person_dp)'),
    ('A07', 'SELECT 90 = ANY (SELECT age FROM person_dp)'),
    ('A08', 'SELECT x.* FROM generate_series(7319, 7319) g, LATERAL (SELECT note FROM person_dp WHERE id = g) x'),
    ('A09', 'SELECT age FROM person_dp UNION ALL SELECT 0'),
    ('A09', 'SELECT age FROM person_dp INTERSECT SELECT 90'),
    ('A09', 'SELECT 90 EXCEPT SELECT age FROM person_dp'),
    ('A10', 'SELECT * FROM over'),
    ('A10', 'SELECT * FROM over_over'),
    ('A11', 'SELECT * FROM pg_temp.inlined()'),
    ('A12', 'SELECT * FROM pg_temp.atomic()'),
    ('A13', 'SELECT pg_temp.scalar()'),
    ('A13', 'SELECT pg_temp.plain()'),
    ('A13', 'DO $do$ DECLARE r text; BEGIN EXECUTE ''SELECT note FROM person_dp WHERE id = 7319'' INTO r; RAISE WARNING ''%'', r; END $do$'),
    ('A14', 'SELECT query_to_xml(''SELECT * FROM person_dp'', true, true, '''')'),
    ('A14', 'SELECT table_to_xml(''person_dp'', true, true, '''')'),
    ('A14', 'SELECT schema_to_xml(''public'', true, true, '''')'),
    ('A14', 'SELECT query_to_xml_and_xmlschema(''SELECT note FROM person_dp'', true, true, '''')'),
    ('A14', 'SELECT * FROM ts_stat(''SELECT to_tsvector(note) FROM person_dp'')'),
    ('A14', 'SELECT ts_rewrite(''a''::tsquery, ''SELECT ''''a''''::tsquery, plainto_tsquery(note) FROM person_dp'')'),
    ('A15', 'CREATE TEMP TABLE copied AS SELECT * FROM person_dp'),
    ('A15', 'SELECT * INTO TEMP copied FROM person_dp'),
    ('A15', 'INSERT INTO own SELECT age, note FROM person_dp RETURNING *'),
    ('A15', 'UPDATE own SET note = p.note FROM person_dp p WHERE p.age = own.age RETURNING *'),
    ('A15', 'DELETE FROM own USING person_dp p WHERE p.age = own.age RETURNING p.note'),
    ('A15', 'MERGE INTO own USING person_dp p ON p.age = own.age WHEN MATCHED THEN UPDATE SET note = p.note'),
    ('A15', 'UPDATE person_dp SET note = ''x'''),
    ('A15', 'INSERT INTO person_dp (id) VALUES (1)'),
    ('A15', 'DELETE FROM person_dp'),
    ('A15', 'TRUNCATE person_dp'),
    ('A18', 'SELECT person_dp FROM person_dp'),
    ('A18', 'SELECT person_dp::text FROM person_dp'),
    ('A18', 'SELECT row_to_json(person_dp) FROM person_dp'),
    ('A18', 'SELECT (p).* FROM (SELECT p FROM person_dp p) q'),
    ('A19', 'SELECT ctid FROM person_dp'),
    ('A19', 'SELECT xmin, tableoid FROM person_dp'),
    ('A19', 'SELECT * FROM person_dp FOR UPDATE'),
    ('A21', 'SELECT lag(note) OVER () FROM person_dp'),
    ('A21', 'SELECT row_number() OVER (ORDER BY age), note FROM person_dp'),
    ('X02', 'SELECT * FROM person'),
    ('X02', 'CREATE TEMP TABLE fk (id integer REFERENCES person (id))');
UPDATE attack SET outcome = observe(statement) WHERE outcome IS NULL;
SELECT id, statement, outcome FROM attack ORDER BY n;

-- A cursor reads at FETCH, a held one at COMMIT. COPY. EXPLAIN. A prepared plan.
\set VERBOSITY sqlstate
BEGIN; DECLARE c CURSOR FOR SELECT * FROM person_dp; FETCH c; ROLLBACK;               -- A04
BEGIN; DECLARE c CURSOR WITH HOLD FOR SELECT * FROM person_dp; COMMIT;                -- A04
COPY person_dp TO STDOUT;                                                             -- A03
COPY (SELECT * FROM person_dp) TO STDOUT;                                             -- A03
COPY person TO STDOUT;                                                                -- A03
PREPARE p AS SELECT * FROM person_dp; EXECUTE p; EXECUTE p;                           -- A17
EXPLAIN (ANALYZE) SELECT * FROM person_dp;                                            -- C05
EXPLAIN (COSTS OFF) SELECT * FROM person_dp WHERE age = 90;                           -- C04
EXPLAIN (VERBOSE, COSTS OFF) SELECT pg_temp.scalar();                                 -- A16
-- Another role's plan of the same connection, the owner's and a superuser's: nobody is exempt.
RESET ROLE;
PREPARE q AS SELECT * FROM person_dp; EXECUTE q;                                      -- A31
SET ROLE regress_controller;
EXECUTE q;
SELECT * FROM person_dp;
SET ROLE regress_analyst;
EXECUTE q;
RESET ROLE;
BEGIN; DECLARE c CURSOR FOR SELECT * FROM person_dp; SET LOCAL ROLE regress_analyst; FETCH c; ROLLBACK;
SET ROLE regress_analyst;
DEALLOCATE ALL;
-- No row, no error: what tools send to learn the columns.
SELECT * FROM person_dp LIMIT 0;
\set VERBOSITY terse

-- ---------------------------------------------------------------------------------------------------------------------
-- Aggregate queries of another shape (0A000)
-- ---------------------------------------------------------------------------------------------------------------------

CREATE FUNCTION pg_temp.snoop(x anyelement) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS
    $$ BEGIN RAISE WARNING 'snooped: %', x; RETURN true; END $$;
CREATE FUNCTION pg_temp.same(a integer, b integer) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS
    $$ BEGIN RAISE WARNING 'snooped: %', a; RETURN a = b; END $$;
CREATE OPERATOR pg_temp.@@@ (LEFTARG = integer, RIGHTARG = integer, FUNCTION = pg_temp.same);
CREATE DOMAIN pg_temp.nosy AS integer CHECK (pg_temp.snoop(VALUE));
CREATE TYPE pg_temp.wrapped AS (v integer);
CREATE FUNCTION pg_temp.wrap(x integer) RETURNS pg_temp.wrapped LANGUAGE plpgsql AS
    $$ BEGIN RAISE WARNING 'snooped: %', x; RETURN ROW(x); END $$;
CREATE CAST (integer AS pg_temp.wrapped) WITH FUNCTION pg_temp.wrap(integer);
CREATE FUNCTION pg_temp.keep(state bigint, x text) RETURNS bigint LANGUAGE plpgsql AS
    $$ BEGIN RAISE WARNING 'snooped: %', x; RETURN state; END $$;
CREATE AGGREGATE pg_temp.count(text) (SFUNC = pg_temp.keep, STYPE = bigint, INITCOND = '0');
CREATE TEMP SEQUENCE counter;

INSERT INTO attack (id, statement) VALUES
    ('A20', 'SELECT string_agg(note, '','') FROM person_dp'),
    ('A20', 'SELECT array_agg(age) FROM person_dp'),
    ('A20', 'SELECT json_agg(note), jsonb_object_agg(id, note) FROM person_dp'),
    ('A20', 'SELECT xmlagg(xmlelement(name x, note)) FROM person_dp'),
    ('A20', 'SELECT min(note) FROM person_dp'),
    ('A20', 'SELECT max(note) FROM person_dp'),
    ('A20', 'SELECT mode() WITHIN GROUP (ORDER BY note) FROM person_dp'),
    ('A20', 'SELECT percentile_disc(1) WITHIN GROUP (ORDER BY note) FROM person_dp'),
    ('A20', 'SELECT bool_or(age = 90), bit_or(age) FROM person_dp'),
    ('A20', 'SELECT regr_count(age, salary), corr(age, salary) FROM person_dp'),
    ('A20', 'SELECT rank(89) WITHIN GROUP (ORDER BY age) FROM person_dp'),
    ('A18', 'SELECT count(person_dp) FROM person_dp'),
    ('A18', 'SELECT count(*) FROM person_dp WHERE person_dp IS NOT NULL'),
    ('A18', 'SELECT count(*) FROM person_dp WHERE person_dp::text LIKE ''%canary%'''),
    ('A18', 'SELECT count(*) FROM person_dp GROUP BY person_dp'),
    ('A19', 'SELECT count(ctid) FROM person_dp'),
    ('A21', 'SELECT count(*) OVER () FROM person_dp'),
    ('A21', 'SELECT dp_count(*) OVER (ORDER BY id) FROM person_dp'),
    ('A21', 'SELECT sum(salary) OVER (PARTITION BY sex) FROM person_dp'),
    ('A22', 'SELECT pg_temp.count(note) FROM person_dp'),
    ('A22', 'CREATE AGGREGATE pg_temp.raw(bytea, VARIADIC "any") (SFUNC = dp_rdr.cells_step, STYPE = internal)'),
    ('A23', 'SELECT count(*) FROM person_dp WHERE pg_temp.snoop(note)'),
    ('A23', 'SELECT count(*) FILTER (WHERE pg_temp.snoop(note)) FROM person_dp'),
    ('A23', 'SELECT count(pg_temp.snoop(note)) FROM person_dp'),
    ('A23', 'SELECT count(*) FROM person_dp WHERE age OPERATOR(pg_temp.@@@) 90'),
    ('A23', 'SELECT count(*) FROM person_dp WHERE age OPERATOR(pg_temp.@@@) ANY (ARRAY[90])'),
    ('A23', 'SELECT count(*) FROM person_dp WHERE age::pg_temp.nosy = 90'),
    ('A23', 'SELECT count(*) FROM person_dp WHERE (age::pg_temp.wrapped).v = 90'),
    ('A23', 'SELECT count(*) FROM person_dp WHERE CAST(age AS pg_temp.nosy) IS NULL'),
    ('A23', 'SELECT sum(age::pg_temp.nosy) FROM person_dp'),
    ('A23', 'SELECT count(*) FROM person_dp GROUP BY pg_temp.snoop(note)'),
    ('A30', 'SELECT DISTINCT ON (sex) sex, note FROM person_dp'),
    ('A30', 'SELECT count(*) FROM person_dp TABLESAMPLE BERNOULLI (1)'),
    ('C03', 'SELECT count(*) FROM person_dp WHERE nextval(''counter'') > 0'),
    ('C03', 'SELECT count(*) FROM person_dp WHERE set_config(''x.y'', note, false) = ''a'''),
    ('C03', 'SELECT count(*) FROM person_dp WHERE pg_try_advisory_lock(age)'),
    ('C03', 'SELECT count(*) FROM person_dp WHERE age = 90 AND pg_sleep(9) IS NULL'),
    ('C03', 'SELECT count(*) FROM person_dp WHERE random() < 0.5'),
    ('C02', 'SELECT count(*) FROM person_dp WHERE note::time = ''0:00'''),
    ('C02', 'SELECT count(*) FROM person_dp WHERE to_date(note, ''YYYY'') IS NULL'),
    ('C02', 'SELECT count(*) FROM person_dp WHERE note::regclass IS NULL'),
    ('C02', 'SELECT count(*) FROM person_dp WHERE current_setting(note) IS NULL'),
    ('C02', 'SELECT count(*) FROM person_dp WHERE note::json IS NULL'),
    ('C02', 'SELECT count(*) FROM person_dp WHERE ''a'' ~ note'),
    ('C13', 'SELECT count(*) FROM person_dp WHERE repeat(note, 20000000) LIKE ''%q'''),
    ('C13', 'SELECT count(*) FROM person_dp WHERE note ~ ''(a+)+$'''),
    ('D01', 'SELECT count(*) FROM person_dp, generate_series(1, 1000)'),
    ('D01', 'SELECT count(*) FROM person_dp a JOIN person_dp b USING (id)'),
    ('D01', 'SELECT count(*) FROM person_dp a LEFT JOIN own b ON a.age > b.age'),
    ('D01', 'SELECT count(*) FROM (SELECT * FROM person_dp UNION ALL SELECT * FROM person_dp) u'),
    ('D01', 'SELECT count(*) FROM person_dp CROSS JOIN LATERAL (SELECT age) l'),
    ('D02', 'SELECT sum(CASE WHEN id = 7319 THEN id * 1e12 ELSE 0 END) FROM person_dp'),
    ('D02', 'SELECT sum(salary * 1000) FROM person_dp'),
    ('D02', 'SELECT sum(generate_series(1, 1000)) FROM person_dp'),
    ('D02', 'SELECT count(*), generate_series(1, age) FROM person_dp GROUP BY age'),
    ('D04', 'SELECT age % 2, count(*) FROM person_dp GROUP BY 1'),
    ('D09', 'SELECT sex, count(*) FROM person_dp GROUP BY ROLLUP (sex), ROLLUP (sex)'),
    ('D09', 'SELECT sex, count(*) FROM person_dp GROUP BY GROUPING SETS ((sex), (sex))'),
    ('D12', 'SELECT count(DISTINCT (age, salary)) FROM person_dp'),
    ('D12', 'SELECT sum(DISTINCT salary) FROM person_dp'),
    ('D12', 'SELECT array_agg(DISTINCT salary) FROM person_dp'),
    ('D12', 'SELECT count(*) FROM person_dp WHERE (age, salary) < (40, 1000)'),
    ('D12', 'SELECT sum(salary ORDER BY age) FROM person_dp'),
    ('D12', 'SELECT count(*) FROM person_dp WHERE age > (SELECT 30)'),
    ('D12', 'SELECT count(*) FROM person_dp WHERE age IN (SELECT age FROM own)'),
    ('D12', 'SELECT count(*) FROM person_dp p WHERE EXISTS (SELECT FROM own o WHERE o.age = p.age)'),
    ('D12', 'SELECT o.age, (SELECT count(*) FROM person_dp p WHERE p.age = o.age) FROM own o'),
    ('D13', 'SELECT count(*) FROM person_dp p, own o WHERE p.age = o.age'),
    ('', 'SELECT count(*) FROM person_dp WHERE age = ANY (ARRAY[id, 90])'),
    ('', 'SELECT var_samp(salary) FROM person_dp'),
    ('', 'SELECT sex FROM person_dp GROUP BY sex'),
    ('', 'SELECT count(*) FROM person_dp WHERE ROW(age, id) IS NULL'),
    ('', 'SELECT count(*) FROM (SELECT age FROM person_dp LIMIT 1) l'),
    ('', 'SELECT count(*) FROM (SELECT DISTINCT age FROM person_dp) l');
UPDATE attack SET outcome = observe(statement) WHERE outcome IS NULL;
SELECT id, statement, outcome FROM attack WHERE n > 53 ORDER BY n;

-- ---------------------------------------------------------------------------------------------------------------------
-- Missing declarations and permissions
-- ---------------------------------------------------------------------------------------------------------------------

SELECT statement, attempt(statement) FROM (VALUES
    ('SELECT sum(age) FROM person_dp'),
    ('SELECT avg(age), sum(salary) FROM person_dp'),
    ('SELECT city, count(*) FROM person_dp GROUP BY city'),
    ('SELECT sex, city, count(*) FROM person_dp GROUP BY sex, city'),
    ('SELECT many, id, count(*) FROM person_dp GROUP BY many, id'),
    ('SELECT many, id, sex, avg(salary) FROM person_dp GROUP BY many, id, sex'),
    ('SELECT count(*) FROM unknown_dp'),
    ('SELECT count(unknown) FROM person_dp'),
    ('SELECT count(*) FROM person')) t (statement);
SET ROLE regress_stranger;
SELECT attempt('SELECT count(*) FROM person_dp') AS neither_select_nor_policy;
SELECT attempt($$SELECT * FROM dp_query('SELECT count(*) FROM person_dp') AS (n bigint)$$) AS neither_select_nor_policy;
SET ROLE regress_second;
SELECT attempt('SELECT count(*) FROM person_dp') AS no_policy;
SELECT attempt('SELECT * FROM person_dp') AS rows;
SET ROLE regress_controller;
SELECT attempt('SELECT count(*) FROM person_dp') AS owner_without_policy;
-- Rights on some columns of the view are rights on these: through the planner, dp_query and the internal call alike.
SELECT dp_grant('person_dp', 'regress_second', tau => 0.95, epsilon_total => 0.05);
REVOKE SELECT ON person_dp FROM regress_second;
GRANT SELECT (sex, salary) ON person_dp TO regress_second;
SET ROLE regress_second;
SELECT statement, attempt(statement) FROM (VALUES
    ('SELECT count(*) FROM person_dp WHERE age = 90'), ('SELECT count(note) FROM person_dp'), ('SELECT many, count(*) FROM person_dp GROUP BY many'),
    ('SELECT sum(salary) FILTER (WHERE age = 90) FROM person_dp'), ('SELECT * FROM dp_query(''SELECT count(*) FROM person_dp WHERE age = 90'') AS (n bigint)'),
    ('SELECT * FROM dp_rdr.release(''SELECT count(*) FROM public.person_dp WHERE age = 90'', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)'),
    ('SELECT sex, sum(salary) FROM person_dp WHERE sex <> ''Other'' GROUP BY sex'), ('SELECT sum(salary) FROM person_dp')) t (statement);
SET ROLE regress_controller;
SELECT dp_revoke('person_dp', 'regress_second');
SET ROLE regress_both;
SELECT attempt('SELECT count(*) FROM person_dp') AS two_inherited_policies;
RESET ROLE;
SELECT attempt('SELECT count(*) FROM person_dp') LIKE '42501 role % has no policy on restricted view public.person_dp' AS superuser;
SET ROLE regress_analyst;
-- In a serializable transaction, too, since a keeper reads: no predicate lock, shown to everybody, counts what was read.
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT attempt('SELECT count(*) FROM person_dp');
SELECT count(*) AS predicate_locks FROM pg_locks WHERE mode = 'SIReadLock' AND relation = 'person'::regclass;
ROLLBACK;
-- The owner's own calls read in his session: refused there.
SET ROLE regress_controller;
BEGIN ISOLATION LEVEL SERIALIZABLE;
CALL dp_find_epsilon('SELECT count(*) FROM person_dp', 0.5);
ROLLBACK;
SET ROLE regress_analyst;

-- ---------------------------------------------------------------------------------------------------------------------
-- dp_query takes one SELECT over a restricted view (A27)
-- ---------------------------------------------------------------------------------------------------------------------

SELECT query, attempt(format('SELECT * FROM dp_query(%L) AS (n bigint)', query)) FROM (VALUES
    ('SELECT count(*) FROM person_dp; SELECT count(*) FROM person_dp'),
    ('SELECT count(*) FROM person_dp; DROP TABLE own'),
    (''), (NULL), ('-- nothing'), ('SELECT count(*'),
    ('COPY person_dp TO STDOUT'), ('EXPLAIN SELECT count(*) FROM person_dp'), ('SET dp_rdr.x = 1'),
    ('INSERT INTO own SELECT 1'), ('UPDATE own SET age = 1'), ('DELETE FROM own'), ('TRUNCATE own'), ('DO $do$ BEGIN END $do$'),
    ('VALUES (1::bigint)'), ('SELECT 1::bigint'), ('SELECT count(*) INTO TEMP t FROM person_dp'),
    ('WITH d AS (DELETE FROM own RETURNING 1) SELECT count(*) FROM person_dp'),
    ('WITH d AS (INSERT INTO own SELECT 1 RETURNING 1) SELECT count(*) FROM d'),
    ('SELECT count(*) FROM person'), ('SELECT count(*) FROM own'), ('SELECT count(*) FROM plain_view'),
    ('SELECT id::bigint FROM person_dp'), ('SELECT count(*) FROM person_dp FOR UPDATE'),
    ('SELECT count(*) FROM person_dp WHERE age > $1'),
    ('SELECT * FROM dp_query(''SELECT age FROM person_dp'') AS (n bigint)'),
    ('SELECT * FROM dp_query(''SELECT count(*) FROM person'') AS (n bigint)'),
    ('SELECT count(*) FROM unknown_dp'),
    ('SELECT sum(salary) FROM person_dp WHERE pg_temp.snoop(note)')) t (query);
SELECT call, attempt('SELECT * FROM ' || call) FROM (VALUES
    ($$dp_query('SELECT count(*) FROM person_dp') AS (n text)$$),
    ($$dp_query('SELECT count(*) FROM person_dp') AS (n bigint, m bigint)$$),
    ($$dp_query('SELECT count(*) FROM person_dp')$$),
    ($$dp_query('SELECT count(*) FROM person_dp', 0) AS (n bigint)$$),
    ($$dp_query('SELECT count(*) FROM person_dp', 1e-10) AS (n bigint)$$),
    ($$dp_query('SELECT count(*) FROM person_dp', -1) AS (n bigint)$$),
    ($$dp_query('SELECT count(*) FROM person_dp', 101) AS (n bigint)$$),
    ($$dp_query('SELECT count(*) FROM person_dp', 'NaN') AS (n bigint)$$),
    ($$dp_query('SELECT count(*) FROM person_dp', 'Infinity') AS (n bigint)$$),
    ($$dp_query('SELECT count(*) FROM person_dp', NULL, 0) AS (n bigint)$$),
    ($$dp_query('SELECT count(*) FROM person_dp', NULL, 'NaN') AS (n bigint)$$),
    ($$dp_query('SELECT count(*) FROM person_dp', NULL, -1) AS (n bigint)$$)) t (call);

-- ---------------------------------------------------------------------------------------------------------------------
-- Internals called directly, tables, forged views (A24, A25, A28, A29)
-- ---------------------------------------------------------------------------------------------------------------------

SELECT id, statement, attempt(statement) FROM (VALUES
    ('A29', 'SELECT * FROM dp_rdr.deny(''person'') AS (id integer, age integer)'),
    ('A29', 'SELECT count(*) FROM dp_rdr.deny(''person'') AS (id integer, age integer)'),
    ('A29', 'SELECT * FROM dp_rdr.release(''SELECT age FROM public.person_dp'', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (age integer)'),
    ('A29', 'SELECT * FROM dp_rdr.release(''SELECT note AS c1, count(*) AS c2 FROM public.person_dp GROUP BY note'', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (c1 text, c2 bigint)'),
    ('A29', 'SELECT * FROM dp_rdr.release(''SELECT count(*) FROM public.person'', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)'),
    ('A29', 'SELECT * FROM dp_rdr.release(''SELECT count(*) FROM pg_temp.own'', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)'),
    ('A29', 'SELECT * FROM dp_rdr.release(''SELECT max(note) FROM public.person_dp'', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n integer)'),
    ('A29', 'SELECT * FROM dp_rdr.release(''SELECT count(*) FROM public.person_dp; DROP TABLE own'', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)'),
    ('A29', 'SELECT * FROM dp_rdr.release(''DELETE FROM own'', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)'),
    ('A29', 'SELECT * FROM dp_rdr.release(''SELECT count(*) FROM public.person_dp'', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n text)'),
    ('A29', 'SELECT * FROM dp_rdr.release(''SELECT count(*) FROM public.person_dp'', 0, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)'),
    ('A29', 'SELECT * FROM dp_rdr.release(''SELECT count(*) FROM public.person_dp'', ''NaN'', 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)'),
    ('A29', 'SELECT * FROM dp_rdr.release(''SELECT count(*) FROM public.person_dp'', NULL, ''NaN'', NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)'),
    ('A29', 'SELECT * FROM dp_rdr.release(NULL, NULL, 1, true, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)'),
    ('A29', 'SELECT * FROM dp_rdr.release(''SELECT count(*) FROM public.person_dp WHERE age > $2'', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL, 5) AS (n bigint)'),
    ('A29', 'SELECT * FROM dp_rdr.release(''SELECT count(*) FROM public.person_dp HAVING count(*) > 90'', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)'),
    ('A29', 'SELECT * FROM dp_rdr.release(''SELECT count(*) FROM public.person_dp LIMIT 1'', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)'),
    ('A29', 'SELECT * FROM dp_rdr.release(''SELECT count(*) FROM pg_temp.over'', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)'),
    ('A29', 'SELECT dp_rdr.cells_step(1, ''\x'', 1)'),
    ('A29', 'SELECT dp_rdr.ledger_hash(1, '''', '''')'),
    ('A29', 'SELECT dp_rdr.cells(''\x'', age) FROM person_dp'),
    ('A28', 'SELECT * FROM dp_rdr.protected_table'),
    ('A28', 'SELECT * FROM dp_rdr.policy'),
    ('A28', 'UPDATE dp_rdr.odometer SET public_epsilon = 0'),
    ('A28', 'DELETE FROM dp_rdr.ledger_row'),
    ('A28', 'DELETE FROM dp_rdr.ledger'),
    ('A28', 'INSERT INTO dp_rdr.ledger_row SELECT'),
    ('A28', 'TRUNCATE dp_rdr.odometer'),
    ('A28', 'LOCK dp_rdr.odometer'),
    ('A28', 'SELECT nextval(''dp_rdr.ledger_row_id_seq'')'),
    ('', 'SELECT dp_protect(''own'', ''own_dp'')'),
    ('', 'SELECT dp_protect(''person'', ''pg_temp.mine'')'),
    ('', 'SELECT dp_unprotect(''person_dp'')'),
    ('', 'SELECT dp_set_bounds(''person'', ''salary'', 0, 1)'),
    ('', 'SELECT dp_set_groups(''person'', ''note'', ''{a}'')'),
    ('', 'SELECT dp_set_odometer(''person'', ''none'', NULL)'),
    ('', 'SELECT dp_set_odometer(''person_dp'', ''none'', NULL)'),
    ('', 'SELECT dp_grant(''person_dp'', ''regress_analyst'', tau => 0)'),
    ('', 'SELECT dp_revoke(''person_dp'', ''regress_second'')'),
    ('B29', 'DROP EXTENSION dp_rdr'),
    ('X06', 'CREATE OR REPLACE VIEW person_dp AS SELECT 1 AS id'),
    ('B12', 'SET dp_rdr.seed = 1')) t (id, statement);

-- The controller cannot write to the ledger either (X01, B29).
SET ROLE regress_controller;
SELECT statement, attempt(statement) FROM (VALUES
    ('UPDATE dp_rdr.odometer SET public_epsilon = 0'), ('DELETE FROM dp_rdr.ledger_row'), ('DELETE FROM dp_rdr.ledger'),
    ('TRUNCATE dp_rdr.ledger_row'), ('UPDATE dp_rdr.policy SET tau = 0'), ('UPDATE dp_rdr.privacy_domain SET bound = ''none'''),
    ('DROP TABLE dp_rdr.odometer'), ('ALTER TABLE dp_rdr.odometer DISABLE TRIGGER ALL')) t (statement);

-- Views that look like a restricted view.
SET ROLE regress_analyst;
CREATE TEMP VIEW forged AS SELECT * FROM dp_rdr.deny('person'::regclass) AS (id integer, age integer, note text, salary integer);
CREATE TEMP VIEW forged_types AS SELECT * FROM dp_rdr.deny('person'::regclass) AS (id text, age bigint);
CREATE TEMP VIEW forged_swapped AS SELECT age AS id, id AS age FROM dp_rdr.deny('person'::regclass) AS (id integer, age integer);
CREATE TEMP VIEW forged_filter AS SELECT * FROM dp_rdr.deny('person'::regclass) AS (id integer, age integer) WHERE pg_temp.snoop(id);
CREATE TEMP VIEW forged_other AS SELECT * FROM dp_rdr.deny('paper_query'::regclass) AS (id text);
CREATE TEMP VIEW forged_expression AS SELECT pg_temp.snoop(id), age FROM dp_rdr.deny('person'::regclass) AS (id integer, age integer);
SELECT statement, attempt(statement) FROM (VALUES
    ('SELECT count(*) FROM forged'), ('SELECT note FROM forged'), ('SELECT sum(salary) FROM forged'),
    ('SELECT count(*) FROM forged_types'), ('SELECT count(*) FROM forged_swapped'), ('SELECT count(*) FROM forged_filter'),
    ('SELECT count(*) FROM forged_other'), ('SELECT count(*) FROM forged_expression'),
    ('SELECT * FROM dp_query(''SELECT count(*) FROM forged'') AS (n bigint)'),
    ('SELECT * FROM dp_rdr.release(''SELECT count(*) FROM pg_temp.forged'', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)')) t (statement);

-- A25: names are resolved first. A temporary table is not the restricted view: its own rows, and no charge.
CREATE TEMP TABLE person_dp (age integer);
SET search_path = pg_temp, public;
SELECT count(*) AS own_rows FROM person_dp;
SELECT attempt('SELECT dp_count(*) FROM person_dp');
SELECT attempt('SELECT * FROM dp_query(''SELECT count(*) FROM person_dp'') AS (n bigint)') LIKE '55000 pg_temp%.person_dp is not a restricted view%' AS refused;
RESET search_path;
DROP TABLE pg_temp.person_dp;

-- A24: types and tables of the analyst's own, where an unqualified name of the extension might meet them.
CREATE DOMAIN pg_temp.int8 AS bigint CHECK (pg_temp.snoop(VALUE));
CREATE DOMAIN pg_temp.numeric AS pg_catalog.numeric CHECK (pg_temp.snoop(VALUE));
CREATE DOMAIN pg_temp.text AS pg_catalog.text CHECK (pg_temp.snoop(VALUE));
CREATE DOMAIN pg_temp.float8 AS double precision CHECK (pg_temp.snoop(VALUE));
CREATE DOMAIN pg_temp.regclass AS pg_catalog.regclass CHECK (pg_temp.snoop(VALUE));
CREATE TEMP TABLE odometer (id uuid);
CREATE TEMP TABLE pg_class (oid oid);
SET search_path = pg_temp, public, pg_catalog;
SELECT pg_catalog.left(public.attempt('SELECT pg_catalog.count(*) FROM public.person_dp'), 8) AS answered_without_snooping;
SELECT pg_catalog.left(public.attempt('SELECT sex, pg_catalog.avg(salary) FROM public.person_dp GROUP BY sex'), 8) AS answered_without_snooping;
RESET search_path;
DROP DOMAIN pg_temp.int8, pg_temp.numeric, pg_temp.text, pg_temp.float8, pg_temp.regclass;
DROP TABLE pg_temp.odometer, pg_temp.pg_class;

-- ---------------------------------------------------------------------------------------------------------------------
-- The same statements without the canary: the same errors
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_controller;
DELETE FROM person WHERE note = 'canary-7319';
SET ROLE regress_analyst;
SELECT count(*) AS statements, count(*) FILTER (WHERE outcome IS DISTINCT FROM observe(statement)) AS differences,
       count(*) FILTER (WHERE outcome = 'LEAK') AS leaks
FROM attack;
DISCARD TEMP;

-- ---------------------------------------------------------------------------------------------------------------------
-- All of it cost nothing but the three answers above, 0.05, 0.05 and 0.1, and one denial. Nothing is destroyed.
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_controller;
SELECT b.account, a.epsilon - b.epsilon AS epsilon, a.delta - b.delta AS delta, a.releases - b.releases AS releases, a.denials - b.denials AS denials
FROM dp_odometer('person') a JOIN account_before b USING (account);
SELECT count(*) FROM person;
SELECT dp_verify_ledger('person');
SELECT bool_and(query !~ '7319') AS ledger_without_canary FROM dp_rdr.ledger WHERE relation = 'public.person';

SELECT dp_unprotect('person_dp');
DROP VIEW plain_view;
DROP TABLE person, account_before, attack;
DROP FUNCTION observe;
RESET ROLE;
DROP ROLE regress_both, regress_team_two;
