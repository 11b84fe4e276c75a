-- What a controller's answer takes of memory: one value while that is small, else a cursor; runs of a query are compared row by
-- row.

LOAD 'dp_rdr';
CREATE TABLE names AS SELECT i AS id, repeat(md5((i / 2)::text), 31) AS name FROM generate_series(1, 60000) i;
ANALYZE names;
SELECT dp_protect('names', 'names_dp'), dp_set_odometer('names', 'none');
SET work_mem = '4MB';
SET hash_mem_multiplier = 2;
SET max_parallel_workers_per_gather = 0;
-- The most that this process has ever had in memory, in MB.
CREATE FUNCTION peak() RETURNS numeric LANGUAGE sql AS $$
    SELECT substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s+(\d+)')::numeric / 1024
$$;
SELECT count(*) FROM (SELECT name, count(*) FROM names GROUP BY name OFFSET 0) s;
SELECT peak() AS before \gset

-- 30 MB of names: four times as much on their way.
CALL dp_find_epsilon('SELECT name, count(*) AS n FROM names_dp GROUP BY name', 0, NULL, NULL, candidates => '{100}', sensitivity => 1);
SELECT peak() - :before < 108 AS within_bounds;
SELECT name, is_holdable, is_scrollable, statement FROM pg_cursors;
FETCH 0 FROM dp_answer;
FETCH 1 FROM dp_answer \gset
SELECT length(:'name'), round(:n);
CREATE FUNCTION rest() RETURNS TABLE (rows bigint, different bigint, in_order boolean) LANGUAGE plpgsql AS $$
DECLARE
    answer refcursor := 'dp_answer';
    r record;
    before text := '';
BEGIN
    rows := 0; different := 0; in_order := true;
    LOOP
        FETCH answer INTO r;
        EXIT WHEN NOT FOUND;
        rows := rows + 1;
        different := different + CASE WHEN round(r.n) = 2 OR round(r.n) = 1 THEN 0 ELSE 1 END;
        in_order := in_order AND r.name > before;
        before := r.name;
    END LOOP;
    RETURN NEXT;
END $$;
SELECT * FROM rest();
CLOSE dp_answer;
SELECT name FROM pg_cursors;
-- It was charged once, and stays charged; the cursor is that of the last answer, also behind ROLLBACK.
SELECT releases, epsilon FROM dp_odometer('names') WHERE account = 'conditional';
BEGIN;
CALL dp_find_epsilon('SELECT name, count(*) AS n FROM names_dp GROUP BY name', 0, NULL, NULL, candidates => '{50}', sensitivity => 1);
CALL dp_find_epsilon('SELECT name AS other, count(*) AS n FROM names_dp GROUP BY name', 0, NULL, NULL, candidates => '{20}', sensitivity => 1);
ROLLBACK;
SELECT count(*) FROM pg_cursors;
FETCH 1 FROM dp_answer \gset
SELECT length(:'other');
SELECT releases, epsilon FROM dp_odometer('names') WHERE account = 'conditional';
CLOSE ALL;
-- Answers of leaves, whose groups are discovered.
CALL dp_find_epsilon('SELECT name, count(*) AS n FROM names_dp WHERE id > 1 GROUP BY name', 0, NULL, NULL, delta => 1e-6, candidates => '{100}');
MOVE FORWARD ALL IN dp_answer;
CALL dp_find_and_release_epsilon('SELECT name, count(*) AS n FROM names_dp WHERE id > 1 GROUP BY name', 1, 1, NULL, NULL, delta => 1e-6, candidates => '{100}');
MOVE FORWARD ALL IN dp_answer;
CLOSE dp_answer;
SELECT peak() - :before < 108 AS within_bounds;
-- More memory, one value.
SET work_mem = '64MB';
CREATE TABLE found (epsilon numeric, answer jsonb);
DO $$
DECLARE
    e numeric;
    a jsonb;
BEGIN
    CALL dp_find_epsilon('SELECT name, count(*) AS n FROM names_dp GROUP BY name', 0, e, a, candidates => '{100}', sensitivity => 1);
    INSERT INTO found VALUES (e, a);
END $$;
SELECT epsilon, jsonb_array_length(answer) AS rows, length(answer -> 7 ->> 'name') AS name FROM found;
RESET work_mem;
SELECT name FROM pg_cursors;
-- Code that a table's owner has run by others leaves no cursor.
CREATE FUNCTION ask() RETURNS integer LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    e numeric;
    a jsonb;
BEGIN
    CALL dp_find_epsilon('SELECT name, count(*) AS n FROM names_dp GROUP BY name', 0, e, a, candidates => '{100}', sensitivity => 1);
    RETURN 1;
END $$;
CREATE MATERIALIZED VIEW asked AS SELECT ask();
DROP FUNCTION ask;
SELECT dp_unprotect('names_dp');
DROP TABLE names, found;

-- Three people in many groups of a result that is computed again without each of them.
CREATE TABLE three AS SELECT i AS id FROM generate_series(1, 3) i;
SELECT dp_protect('three', 'three_dp');
\connect -
LOAD 'dp_rdr';
SET work_mem = '4MB';
SELECT count(*) FROM (SELECT g, count(*) FROM generate_series(1, 600000) g GROUP BY g OFFSET 0) s;
SELECT peak() AS before \gset
SELECT epsilon, rdr_min, rdr_max FROM dp_risk('SELECT g % 200000 AS g, count(*) FROM three_dp, generate_series(1, 200000) g GROUP BY 1 HAVING true', '{1}', sensitivity => 1000000);
SELECT peak() - :before < 40 AS on_disk;
SELECT dp_unprotect('three_dp');
DROP FUNCTION peak, rest;
DROP TABLE three;
