-- Settings, limits and the depth of the stack are the caller's; what they do to the reading of rows must not follow the rows.
LOAD 'dp_rdr';

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
SET cpu_tuple_cost = 1e300;
SET gin_fuzzy_search_limit = 333;
SELECT count(*) FROM far WHERE word LIKE '%common%rare%';
SELECT count(*) < 1000 AS left_out FROM near WHERE word LIKE '%common%rare%';
SET ROLE regress_analyst;
SELECT count(*) BETWEEN 1900 AND 2100 AS all_of_them FROM far_dp WHERE word LIKE '%common%rare%';
SELECT count(*) BETWEEN 1900 AND 2100 AS all_of_them FROM near_dp WHERE word LIKE '%common%rare%';
RESET enable_indexscan;
RESET enable_bitmapscan;
RESET cpu_tuple_cost;
RESET gin_fuzzy_search_limit;

-- An array of columns has an error for rows of other dimensions, and for those that are too long.
SELECT attempt($$SELECT count(ARRAY[list, '{1,2}']) FROM near_dp$$), attempt($$SELECT count(ARRAY[list, '{1,2}']) FROM far_dp$$);
SELECT attempt($$SELECT count(*) FROM far_dp WHERE coalesce(ARRAY[list], '{}') IS NOT NULL$$);
SELECT attempt($$SELECT id = ANY (ARRAY[id, 1]), count(*) FROM far_dp GROUP BY 1$$);
SELECT attempt($$SELECT count(*) FROM far_dp WHERE id = ANY (ARRAY[1, 2, 3]) AND id IN (length('a'), 7)$$);

-- All temporary space but a little is used up by the caller himself: keys of one row, 200 kB of them, need no more of it.
RESET ROLE;
SET temp_file_limit = '1MB';
SET ROLE regress_analyst;
SET work_mem = '64kB';
BEGIN;
DECLARE filler CURSOR WITH HOLD FOR SELECT repeat('x', 1000) FROM generate_series(1, 940);
COMMIT;
SELECT string_agg(format('CASE WHEN id = -1 THEN repeat(%L, 900) END', chr(97 + i % 26) || i), ', ') AS keys
FROM generate_series(1, 100) i \gset
SELECT attempt('CREATE TEMP TABLE too_much AS SELECT repeat(md5(id::text), 30) AS t FROM generate_series(1, 5000) id ORDER BY t');
SELECT attempt('SELECT count(*) FROM far_dp GROUP BY ' || :'keys');
SELECT attempt('SELECT count(*) FROM near_dp GROUP BY ' || :'keys');
CLOSE filler;
RESET work_mem;
RESET ROLE;
RESET temp_file_limit;

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

-- The lock that fetching a long value takes is there before, whether there is a long value or not.
RESET ROLE;
CREATE FUNCTION locks_on_long_values(asked regclass) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    PERFORM attempt(format('SELECT count(*) FROM %s_dp WHERE long_text LIKE %L', asked, '%long%'));
    RETURN (SELECT count(*) FROM pg_locks l, pg_class c WHERE c.oid = asked AND l.pid = pg_backend_pid() AND l.mode = 'AccessShareLock' AND
                   (l.relation = c.reltoastrelid OR l.relation IN (SELECT indexrelid FROM pg_index WHERE indrelid = c.reltoastrelid)));
END $$;
SET ROLE regress_analyst;
SELECT locks_on_long_values('near'), locks_on_long_values('far');

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
SET ROLE regress_analyst;
SET exit_on_error = on;
SELECT attempt('SELECT count(*) FROM near_dp WHERE id + 1 > 0');
RESET exit_on_error;
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
