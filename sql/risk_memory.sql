-- What is known of the records and of their groups goes to disk beyond a share of work_mem: the same numbers come out, and
-- memory does not grow with the table.

LOAD 'dp_rdr';
CREATE TABLE multitude (id integer, g integer, h text, v integer, w double precision);
INSERT INTO multitude SELECT i, i % 7, 'h' || i % 3001, i * 7919::bigint % 20011, sqrt(i) FROM generate_series(1, 20000) i;
ANALYZE multitude;
SELECT dp_protect('multitude', 'multitude_dp'), dp_set_odometer('multitude', 'none', NULL);
SELECT dp_set_bounds('multitude', 'v', 0, 20011), dp_set_bounds('multitude', 'w', 0, 150), dp_set_groups('multitude', 'g', '{0,1,2,3,4,5,NULL}');

CREATE TABLE asked (id integer GENERATED ALWAYS AS IDENTITY, query text, calibration text, exact boolean);
INSERT INTO asked (query, calibration, exact) VALUES
    ('SELECT sum(v) FROM multitude_dp WHERE id <> 17', 'sound', false),
    ('SELECT sum(v), avg(w) FROM multitude_dp WHERE id <> 17', 'sound', true),
    ('SELECT g, avg(w), count(*) FROM multitude_dp GROUP BY g', 'sound', true),
    ('SELECT g, sum(v), sum(w) FROM multitude_dp GROUP BY g', 'sound', true),
    ('SELECT h, avg(v), sum(w) FROM multitude_dp GROUP BY h', 'published', false),
    ('SELECT h, sum(v) FROM multitude_dp GROUP BY h', 'sound', true),
    ('SELECT h, stddev(w), count(DISTINCT v) FROM multitude_dp GROUP BY h', 'general', false),
    ('SELECT count(DISTINCT h), count(DISTINCT id), max(v) FROM multitude_dp', 'general', false);
CREATE TABLE seen (memory text, query integer, kind text, at bigint, a numeric, b double precision, c double precision);
CREATE PROCEDURE look(memory text) LANGUAGE plpgsql AS $$
DECLARE
    q asked;
BEGIN
    PERFORM set_config('work_mem', memory, false);
    FOR q IN SELECT * FROM asked LOOP
        INSERT INTO seen
        SELECT memory, q.id, 'risk', row_number() OVER (ORDER BY epsilon), epsilon, rdr_min + rdr_max, variance
        FROM dp_risk(q.query, '{1,0.1}', 'laplace', 1e-6, CASE q.calibration WHEN 'general' THEN 'sound' ELSE q.calibration END, q.exact,
                     sensitivity => CASE q.calibration WHEN 'general' THEN 30000 END);
        INSERT INTO seen
        SELECT memory, q.id, 'record', row_number() OVER (ORDER BY round(pis::numeric, 6), record::text), individuals, pis, rdr
        FROM dp_risk_records(q.query, 1, 'laplace', 1e-6, CASE q.calibration WHEN 'general' THEN 'sound' ELSE q.calibration END, q.exact,
                             sensitivity => CASE q.calibration WHEN 'general' THEN 30000 END);
    END LOOP;
    INSERT INTO seen
    SELECT memory, 0, 'output', row_number() OVER (ORDER BY record::text), individuals, rdr, loss
    FROM dp_risk_output('SELECT g, sum(v) FROM multitude_dp GROUP BY g', '{1,2,3,4,5,6,7}', epsilon => 1);
END $$;
CALL look('64kB');
CALL look('64MB');
RESET work_mem;
SELECT kind, count(*) AS compared,
       count(*) FILTER (WHERE (s.a = l.a AND abs(s.b - l.b) <= 1e-9 * (1 + abs(l.b)) AND abs(s.c - l.c) <= 1e-9 * (1 + abs(l.c))) IS NOT TRUE) AS different
FROM (SELECT * FROM seen WHERE memory = '64kB') s FULL JOIN (SELECT * FROM seen WHERE memory = '64MB') l USING (query, kind, at) GROUP BY kind ORDER BY kind;

-- The most that this process has ever had in memory, in MB.
CREATE FUNCTION peak() RETURNS numeric LANGUAGE sql AS $$
    SELECT substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s+(\d+)')::numeric / 1024
$$;
TRUNCATE multitude;
INSERT INTO multitude SELECT i, i % 7, 'h' || i, i, i FROM generate_series(1, 300000) i;
ANALYZE multitude;
-- What a plain grouping takes is PostgreSQL's.
SELECT count(*) FROM (SELECT h, v, w, count(*) FROM multitude GROUP BY h, v, w OFFSET 0) s;
SELECT peak() AS before \gset
SELECT count(*) FROM dp_risk('SELECT h, avg(v), sum(w) FROM multitude_dp GROUP BY h', '{1}', 'laplace', 1e-6, 'published');
SELECT count(*) FROM dp_risk_records('SELECT h, sum(v), sum(w) FROM multitude_dp GROUP BY h', 1, 'laplace', 1e-6);
SELECT count(*) FROM dp_risk('SELECT h, max(v), stddev(w) FROM multitude_dp GROUP BY h', '{1}', sensitivity => 1000000);
-- So many numbers of groups that nobody declared would be compared for minutes at each epsilon.
SELECT attempt($$SELECT dp_risk('SELECT h, avg(v), avg(w), avg(v + 1), avg(v + 2) FROM multitude_dp GROUP BY h', '{1}', delta => 1e-6)$$);
SELECT peak() - :before < 32 AS on_disk;
DROP FUNCTION peak;
SELECT dp_unprotect('multitude_dp');
DROP PROCEDURE look;
DROP TABLE asked, seen, multitude;
