-- Settings, limits and the depth of the stack are the caller's; none of them reaches the reading of rows, which is a keeper's.
-- Nor do those of the database, with which a keeper starts.
LOAD 'dp_rdr';
-- One that has just ended by itself is warned of.
\set new_keepers 'SET client_min_messages = error; SELECT count(pg_terminate_backend(pid, 5000)) >= 0 AS others_start FROM pg_stat_activity WHERE backend_type = ''dp_rdr keeper'' AND datname = current_database(); RESET client_min_messages'

-- Two neighbours of 60,000 rows: `near` has one row more, which holds every extreme.
SET client_min_messages = warning;
CREATE EXTENSION pg_trgm;
RESET client_min_messages;
SET ROLE regress_controller;
CREATE TABLE far (id integer, word varchar(100), long_text text, list integer[]);
INSERT INTO far SELECT id, CASE WHEN id <= 1998 THEN 'common rare' ELSE 'common ' || id END, 'short', '{1,2}'
FROM generate_series(1, 60000) id;
CREATE TABLE near (LIKE far);
INSERT INTO near VALUES (-1, 'common rare', repeat('long', 100000), '{{1,2},{3,4}}');
INSERT INTO near SELECT * FROM far;
CREATE INDEX far_word ON far USING gin (word gin_trgm_ops);
CREATE INDEX near_word ON near USING gin (word gin_trgm_ops);
ANALYZE near;
ANALYZE far;
SELECT dp_protect('near', 'near_dp'), dp_protect('far', 'far_dp');
SELECT dp_set_odometer(t, 'none'), dp_grant((t || '_dp')::regclass, 'regress_analyst', tau => 0.5, delta => 1e-6)
FROM unnest('{near,far}'::regclass[]) t;

-- Costs that make an index cheap, and a GIN index that leaves out rows beyond a limit: 1,998 rows are within, one more and
-- nearly all are left out. (The table itself shows it: the test could fail.)
SET enable_indexscan = off;
SET enable_bitmapscan = off;
SET enable_seqscan = off;
SET cpu_tuple_cost = 1e300;
SET gin_fuzzy_search_limit = 333;
SELECT count(*) FROM far WHERE word LIKE '%common%rare%';
SELECT count(*) < 1000 AS left_out FROM near WHERE word LIKE '%common%rare%';
SET ROLE regress_analyst;
SELECT count(*) BETWEEN 1900 AND 2100 AS all_of_them FROM far_dp WHERE word LIKE '%common%rare%';
SELECT count(*) BETWEEN 1900 AND 2100 AS all_of_them FROM near_dp WHERE word LIKE '%common%rare%';
RESET enable_indexscan;
RESET enable_bitmapscan;
RESET enable_seqscan;
RESET cpu_tuple_cost;
RESET gin_fuzzy_search_limit;
RESET ROLE;
SELECT format('ALTER DATABASE %I SET %s', current_database(), s)
FROM unnest('{enable_indexscan = off,enable_bitmapscan = off,cpu_tuple_cost = 1e300,gin_fuzzy_search_limit = 333}'::text[]) s \gexec
:new_keepers;
SET ROLE regress_analyst;
SELECT count(*) BETWEEN 1900 AND 2100 AS all_of_them FROM far_dp WHERE word LIKE '%common%rare%';
SELECT count(*) BETWEEN 1900 AND 2100 AS all_of_them FROM near_dp WHERE word LIKE '%common%rare%';
RESET ROLE;
SELECT format('ALTER DATABASE %I RESET %s', current_database(), s)
FROM unnest('{enable_indexscan,enable_bitmapscan,cpu_tuple_cost,gin_fuzzy_search_limit}'::text[]) s \gexec
:new_keepers;
SET ROLE regress_analyst;

-- An array of columns has an error for rows of other dimensions, and for those that are too long.
SELECT attempt($$SELECT count(ARRAY[list, '{1,2}']) FROM near_dp$$), attempt($$SELECT count(ARRAY[list, '{1,2}']) FROM far_dp$$);
SELECT attempt($$SELECT count(*) FROM far_dp WHERE coalesce(ARRAY[list], '{}') IS NOT NULL$$);
SELECT attempt($$SELECT id = ANY (ARRAY[id, 1]), count(*) FROM far_dp GROUP BY 1$$);
SELECT attempt($$SELECT count(*) FROM far_dp WHERE id = ANY (ARRAY[1, 2, 3]) AND id IN (length('a'), 7)$$);

-- All temporary space but a little is used up by the caller himself: keys of one row, 200 kB of them, need no more of it.
-- (It is his process's alone now: neither his limit nor his use reach the keeper that reads.)
RESET ROLE;
SET temp_file_limit = '1MB';
SET ROLE regress_analyst;
SET work_mem = '64kB';
BEGIN;
DECLARE filler CURSOR WITH HOLD FOR SELECT repeat('x', 1000) FROM generate_series(1, 940);
COMMIT;
SELECT string_agg(format('CASE WHEN id = -1 THEN repeat(%L, 900) END', chr(97 + i % 26) || i), ', ') AS keys
FROM generate_series(1, 100) i \gset
SELECT left(attempt('CREATE TEMP TABLE too_much AS SELECT repeat(md5(id::text), 30) AS t FROM generate_series(1, 5000) id ORDER BY t'), 5) AS state;
SELECT attempt('SELECT count(*) FROM far_dp GROUP BY ' || :'keys');
SELECT attempt('SELECT count(*) FROM near_dp GROUP BY ' || :'keys');
CLOSE filler;
RESET work_mem;
RESET ROLE;
RESET temp_file_limit;
-- A limit of the database, which these keys and the ids beside them exceed.
SELECT format('ALTER DATABASE %I SET %s', current_database(), s) FROM unnest('{temp_file_limit = ''100kB'',work_mem = ''64kB''}'::text[]) s \gexec
:new_keepers;
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM far_dp GROUP BY id, ' || :'keys');
SELECT attempt('SELECT count(*) FROM near_dp GROUP BY id, ' || :'keys');
RESET ROLE;
SELECT format('ALTER DATABASE %I RESET %s', current_database(), s) FROM unnest('{temp_file_limit,work_mem}'::text[]) s \gexec
:new_keepers;

-- LIKE calls itself for each % that a text lets it pass. From how deep may one ask? As deep as one likes, or not at all.
CREATE FUNCTION deep(depth integer, statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RETURN CASE WHEN depth = 0 THEN attempt(statement) ELSE deep(depth - 1, statement) END;
EXCEPTION WHEN statement_too_complex THEN
    RETURN '54001 ' || sqlerrm;
END $$;
CREATE FUNCTION ask(depth integer, asked text) RETURNS text LANGUAGE sql AS $$
    SELECT deep(depth, format('SELECT count(*) FROM %I WHERE CASE WHEN id = -1 THEN repeat(%L, 2000) ELSE %L END LIKE %L',
                              asked, 'a', 'b', repeat('%a', 490) || '%'))
$$;
-- The first depth at which `far` is refused, and those around it: at each of them `near` answers alike.
CREATE FUNCTION deepest() RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    low integer = 1;
    high integer = 4000;
    middle integer;
BEGIN
    WHILE low < high LOOP
        middle = (low + high) / 2;
        IF ask(middle, 'far_dp') = 'accepted' THEN low = middle + 1; ELSE high = middle; END IF;
    END LOOP;
    RETURN low;
END $$;
SET ROLE regress_analyst;
SELECT deepest() - 1 AS deepest \gset
SELECT DISTINCT ask(:deepest - depth, 'near_dp') FROM generate_series(0, 24) depth;
SELECT DISTINCT ask(:deepest + depth, 'near_dp') FROM generate_series(2, 26) depth;

-- The lock that fetching a long value takes is there before, whether there is a long value or not: a function of the
-- superuser's, in place of one that the internal statement calls, fails where it is not. The asking session has none of it.
RESET ROLE;
CREATE TABLE locks_wanted AS SELECT 2 AS n;
GRANT SELECT ON locks_wanted TO PUBLIC;
SELECT pg_get_functiondef('dp_rdr.int4pl(integer, integer)'::regprocedure) AS whole \gset
CREATE FUNCTION locks_on_long_values(asked name, process integer) RETURNS bigint LANGUAGE sql
RETURN (SELECT count(*) FROM pg_locks l, pg_class c WHERE c.oid = asked::regclass AND l.pid = process AND l.mode = 'AccessShareLock' AND
               (l.relation = c.reltoastrelid OR l.relation IN (SELECT indexrelid FROM pg_index WHERE indrelid = c.reltoastrelid)));
CREATE OR REPLACE FUNCTION dp_rdr.int4pl(integer, integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
    IF $1 = 1 AND greatest(public.locks_on_long_values('public.near', pg_backend_pid()), public.locks_on_long_values('public.far', pg_backend_pid()))
       <> (SELECT n FROM public.locks_wanted) THEN
        RAISE EXCEPTION 'the locks are not there' USING ERRCODE = 'insufficient_resources';
    END IF;
    RETURN $1 + $2;
END $$;
SET ROLE regress_analyst;
SELECT attempt($$SELECT count(*) FROM near_dp WHERE id + 1 > -9 AND long_text LIKE '%long%'$$), locks_on_long_values('near', pg_backend_pid());
SELECT attempt($$SELECT count(*) FROM far_dp WHERE id + 1 > -9 AND long_text LIKE '%long%'$$), locks_on_long_values('far', pg_backend_pid());
RESET ROLE;
UPDATE locks_wanted SET n = 3; -- the test could fail
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM far_dp WHERE id + 1 > -9');
RESET ROLE;
DROP TABLE locks_wanted;
:whole;

-- An error that ends the session would show its text, and suspend nobody. A hole that nobody knows of, made by the superuser:
RESET ROLE;
SELECT pg_get_functiondef('dp_rdr.int4pl(integer, integer)'::regprocedure) AS whole \gset
CREATE OR REPLACE FUNCTION dp_rdr.int4pl(integer, integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
    IF $1 < 0 THEN
        RAISE EXCEPTION 'the victim is %', $1;
    END IF;
    RETURN $1 + $2;
END $$;
-- The session ends, as it asked for, by an error that says nothing of the row; the keeper has suspended its role before. It
-- does not end by the setting itself: with that of the database neither.
\setenv PGDATABASE :DBNAME
SELECT format('ALTER DATABASE %I SET exit_on_error = on', current_database()) AS exits,
       format('ALTER DATABASE %I RESET exit_on_error', current_database()) AS usual \gset
:exits;
:new_keepers;
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM near_dp') AS by_a_new_keeper;
RESET ROLE;
:usual;
\! psql -X -q -c "LOAD 'dp_rdr'; SET ROLE regress_analyst; SET exit_on_error = on" -c "SELECT count(*) FROM near_dp WHERE id + 1 > 0" -c "SELECT 'the session goes on'" 2>&1 | head -n 2
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM near_dp');
SELECT attempt('SELECT count(*) FROM far_dp WHERE id + 1 > 0');
RESET ROLE;
:whole;
SET ROLE regress_controller;
SELECT dp_resume('near_dp', 'regress_analyst');
SELECT dp_unprotect('near_dp'), dp_unprotect('far_dp');
DROP TABLE near, far;
RESET ROLE;
DROP EXTENSION pg_trgm;
DROP FUNCTION deep, ask, deepest, locks_on_long_values;

-- Functions of the internal statement that anybody may call: with types that have no header, too.
SET ROLE regress_stranger;
SELECT dp_rdr.up_to_size(1, 5), dp_rdr.up_to_size('a'::"char", 5), dp_rdr.up_to_size('a'::name, 0), dp_rdr.up_to_size(1.5::float8, -1),
       dp_rdr.up_to_size('abc'::text, 2) IS NULL AS too_long, dp_rdr.up_to_size('abc'::text, 3), dp_rdr.up_to_size('abc'::text, -5) IS NULL AS below;
SELECT dp_rdr.canonical(1, 5), dp_rdr.canonical('(1,2)'::point, 5), dp_rdr.is_short(1), dp_rdr.is_short('(1,2)'::point);
RESET ROLE;
