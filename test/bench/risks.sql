-- Times dp_risk with 37 candidates over a million rows, in seconds of the processor. Targets: 1.2 times the plain GROUP BY of the same columns
-- where the noise has a closed form; 1.5 times the plain answer and 0.5 s for the rest, in ten groups.
\set QUIET on
SET client_min_messages = error;
SET max_parallel_workers = 0;
CREATE EXTENSION IF NOT EXISTS dp_rdr;
CREATE TABLE risky AS SELECT i AS id, i * 7919 % 100 AS age, i * 31 % 99 AS hours, i * 104729 % 5000 AS zip, i % 40 AS ward, i * 7907 % 10000 AS cost, i * 3 % 10 AS edu
FROM generate_series(1, 1000000::bigint) i;
SELECT dp_protect('risky', 'risky_dp'), dp_set_bounds('risky', 'cost', 0, 10000), dp_set_bounds('risky', 'age', 0, 100), dp_set_bounds('risky', 'hours', 0, 100),
       dp_set_groups('risky', 'edu', '{0,1,2,3,4,5,6,7,8,9}'), dp_set_groups('risky', 'ward', ARRAY(SELECT i::text FROM generate_series(0, 39) i)) \g /dev/null
CREATE FUNCTION cpu_of(statement text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
    used CONSTANT text := $s$SELECT (split_part(s, ' ', 14)::numeric + split_part(s, ' ', 15)::numeric) / 100 FROM regexp_replace(pg_read_file('/proc/self/stat'), '\(.*\)', 'x') s$s$;
    begun numeric;
    ended numeric;
BEGIN
    EXECUTE statement; -- into memory first
    EXECUTE used INTO begun;
    EXECUTE statement;
    EXECUTE used INTO ended;
    RETURN ended - begun;
END $$;
CREATE TABLE bench_risk (asked text, by text, plain text, times numeric, more numeric);
INSERT INTO bench_risk VALUES ('count(*), sum(age)', NULL, 'SELECT age, count(*) FROM risky GROUP BY age', 1.2, 0),
    ('count(*), sum(age)', 'ward', 'SELECT ward, age, count(*) FROM risky GROUP BY ward, age', 1.2, 0);
INSERT INTO bench_risk SELECT asked, 'edu', format('SELECT edu, %s FROM risky GROUP BY edu', asked), 1.5, 0.5
FROM unnest(ARRAY['avg(age)', 'percentile_disc(0.5) WITHIN GROUP (ORDER BY age)', 'corr(age, hours)', 'count(DISTINCT zip)', 'var_pop(cost)']) asked;
\set QUIET off
SELECT asked, by, risk AS dp_risk, plain, round(times * plain + more, 2) AS target
FROM (SELECT asked, by, times, more, cpu_of(plain) AS plain,
             cpu_of(format('SELECT FROM dp_risk(%L)', concat_ws(' ', 'SELECT', by || ',', asked, 'FROM risky_dp', 'GROUP BY ' || by))) AS risk FROM bench_risk) s;
