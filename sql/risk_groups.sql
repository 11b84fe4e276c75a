-- Many groups in what a controller looks at: the least error of an average is found without looking at every group, and an
-- answer of many rows waits on disk until it is one value.

LOAD 'dp_rdr';
-- The averages of x lie on both sides of where the noise moves an average least, and most of them on one.
CREATE TABLE throng AS
SELECT *, 12 + 36 * power(g * 197 % 450 / 450::float8, 2) AS x
FROM (SELECT i AS id, (i % 300) + CASE WHEN i > 3000 THEN 150 ELSE 0 END AS g, sqrt(i) AS w, i % 11 AS few FROM generate_series(0, 3500) i) s;
ANALYZE throng;
SELECT dp_protect('throng', 'throng_dp'), dp_set_bounds('throng', 'w', 0, 60), dp_set_bounds('throng', 'x', 0, 60), dp_set_bounds('throng', 'few', 0, 10), dp_set_bounds('throng', 'id', 0, 3500);
SELECT dp_set_odometer('throng', 'none');
-- Row 0 is in no answer: the smallest risk is what the noise alone makes. Of all groups it is that of the best of them.
CREATE FUNCTION noise(query text, mechanism text) RETURNS TABLE (epsilon numeric, noise float8) LANGUAGE sql AS $$
    SELECT epsilon, rdr_min FROM dp_risk(query, '{50,10,1,0.3,0.1,0.01,0.001}', mechanism, 1e-6)
$$;
CREATE TABLE asked (mechanism text, aggregates text);
INSERT INTO asked VALUES ('laplace', 'avg(x)'), ('laplace', 'avg(w)'), ('laplace', 'avg(w), count(w), count(*)'), ('laplace', 'avg(few), sum(few)'),
    ('laplace', 'count(w), sum(w)'), ('gaussian', 'avg(x), sum(id)'), ('gaussian', 'avg(few), count(few)');
CREATE TABLE of_all AS
SELECT a.*, n.*
FROM asked a, noise(format('SELECT g, %s FROM throng_dp WHERE id > 0 GROUP BY g', aggregates), mechanism) n;
CREATE TABLE of_each AS
SELECT a.*, n.*
FROM asked a, (SELECT DISTINCT g FROM throng) s,
     noise(format('SELECT g, %s FROM throng_dp WHERE id > 0 AND g + 0 = %s GROUP BY g', aggregates, g), mechanism) n;
SELECT mechanism, aggregates, count(*) AS compared, count(*) FILTER (WHERE a.noise <> e.noise) AS different
FROM of_all a JOIN (SELECT mechanism, aggregates, epsilon, min(noise) AS noise FROM of_each GROUP BY mechanism, aggregates, epsilon) e
     USING (mechanism, aggregates, epsilon)
GROUP BY mechanism, aggregates ORDER BY mechanism, aggregates;

-- Of more than 1024 groups the least is looked for among those that roughly have it, and is less than a hundredth above it. Halves are
-- looked at group by group.
CREATE TABLE least_of_many AS
SELECT g, i, 5 + 90 * power(g * 613 % 1800 / 1800.0, 3) + i AS x FROM generate_series(0, 1799) g, generate_series(1, CASE WHEN g < 400 THEN 2 ELSE 4 + g * 197 % 9 END) i;
SELECT dp_protect('least_of_many', 'least_of_many_dp'), dp_set_bounds('least_of_many', 'x', 0, 110), dp_set_odometer('least_of_many', 'none');
WITH asked AS (SELECT * FROM (VALUES ('laplace', 'avg(x)', 0.01), ('gaussian', 'avg(x), count(x)', 0.01), ('laplace', 'stddev_samp(x)', 0.05)) a (mechanism, aggregates, error)),
     half AS (SELECT a.mechanism, aggregates, r.epsilon, min(r.noise) AS least
              FROM asked a, unnest('{0,1}'::int[]) h,
                   dp_risk(format('SELECT g, %1$s FROM least_of_many_dp WHERE g + 0 >= 900 * %2$s AND g + 0 < 900 + 900 * %2$s GROUP BY g', aggregates, h), '{10,1,0.1,0.01}', a.mechanism, 1e-6) r
              GROUP BY 1, 2, 3)
SELECT a.mechanism, a.aggregates, count(*) AS compared, bool_and(r.error = a.error) AS said, bool_and(r.noise BETWEEN least * (1 - 1e-9) AND least * 1.01) AS nearly_the_least
FROM asked a, dp_risk(format('SELECT g, %s FROM least_of_many_dp GROUP BY g', aggregates), '{10,1,0.1,0.01}', a.mechanism, 1e-6) r JOIN half h USING (epsilon)
WHERE (h.mechanism, h.aggregates) = (a.mechanism, a.aggregates) GROUP BY 1, 2 ORDER BY 1, 2;

-- An answer as one value is what its text says, also for the functions that look into it.
CREATE TABLE found (name text, epsilon numeric, answer jsonb, same boolean);
CREATE PROCEDURE find(name text, query text) LANGUAGE plpgsql AS $$
DECLARE
    e numeric;
    a jsonb;
BEGIN
    CALL dp_find_epsilon(query, 0, e, a, candidates => '{100}', sensitivity => 1);
    INSERT INTO found VALUES (name, e, a);
    IF name <> 'large' THEN
        UPDATE found SET same = a = a::text::jsonb AND pg_column_size(a) = pg_column_size(a::text::jsonb)
        WHERE found.name = find.name;
    END IF;
END $$;
CALL find('many', 'SELECT g, count(*) AS n, ''a"'' || g AS "t ""x""" FROM throng_dp GROUP BY g');
CALL find('nobody', 'SELECT g, count(*) AS n FROM throng_dp WHERE id < 0 GROUP BY g');
CALL find('one', 'SELECT count(DISTINCT g) AS n FROM throng_dp');
-- What has no order, and what is NULL.
CALL find('json', 'SELECT nullif(g, 7) AS g, count(*) AS n, (''{"a": [1, "b"]}''::json) AS j FROM throng_dp WHERE g < 40 GROUP BY 1');
CALL find('hidden', 'SELECT count(*) AS n FROM throng_dp WHERE g < 40 GROUP BY g');
SELECT name, epsilon, jsonb_array_length(answer) AS rows, same,
       answer -> 33 -> 'g' AS g, answer -> 39 #> '{j,a,1}' AS b, answer -> -1 ? 'g' AS with_g FROM found;
SELECT answer -> 0 ->> E't "x"' AS text, round((answer -> 0 ->> 'n')::numeric) AS n FROM found WHERE name = 'many';
SELECT name, count(*) AS compared, count(*) FILTER (WHERE (round((e.row ->> 'n')::numeric) = c.n AND (e.row ->> 'g')::integer IS NOT DISTINCT FROM c.g) IS NOT TRUE) AS different
FROM found, jsonb_array_elements(answer) WITH ORDINALITY AS e (row, at)
     JOIN (SELECT row_number() OVER (ORDER BY g) AS at, g, n FROM (SELECT g, count(*) AS n FROM throng GROUP BY g) s) c USING (at)
WHERE name = 'many' GROUP BY name;
TRUNCATE found;

-- The most that this process has ever had in memory, in MB.
CREATE FUNCTION peak() RETURNS numeric LANGUAGE sql AS $$
    SELECT substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s+(\d+)')::numeric / 1024
$$;
SELECT dp_unprotect('throng_dp');
DROP TABLE throng;
CREATE TABLE pairs AS SELECT i AS id, i / 2 AS g FROM generate_series(1, 200000) i;
ANALYZE pairs;
SELECT dp_protect('pairs', 'pairs_dp'), dp_set_odometer('pairs', 'none');
SET work_mem = '4MB';
SET max_parallel_workers_per_gather = 0;
SELECT count(*) FROM (SELECT g, count(*) FROM pairs GROUP BY g OFFSET 0) s;
SELECT peak() AS before \gset
CALL find('large', 'SELECT g, count(*) AS n FROM pairs_dp GROUP BY g');
SELECT peak() - :before < 60 AS on_disk, jsonb_array_length(answer) AS rows, pg_column_size(answer) > 1000000 AS large FROM found;
RESET work_mem;
RESET max_parallel_workers_per_gather;

DROP FUNCTION peak, noise;
DROP PROCEDURE find;
SELECT dp_unprotect('pairs_dp');
DROP TABLE asked, of_all, of_each, found, pairs;
