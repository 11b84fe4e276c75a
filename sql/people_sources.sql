-- Sub-SELECTs with rows of people as sources: joined, outer-joined, filtered, grouped, nested. Where limits are ample answers are those of plain
-- SQL over the tables (as in per_unit.sql).
\set VERBOSITY default
LOAD 'dp_rdr';
SET ROLE regress_controller;
CREATE TABLE ps_patient (pid integer PRIMARY KEY, sex text NOT NULL, age integer NOT NULL);
INSERT INTO ps_patient SELECT i, CASE WHEN i % 3 = 0 THEN 'f' ELSE 'm' END, i % 90 FROM generate_series(1, 900) i;
CREATE TABLE ps_visit (vid integer PRIMARY KEY, pid integer, reason text, dose numeric, cost numeric(8, 2), days integer, admitted date);
INSERT INTO ps_visit
SELECT p * 100 + v, CASE WHEN p % 97 = 0 THEN NULL ELSE p END, (ARRAY['heart', 'lung', 'bone'])[1 + (p + v) % 3], ((ARRAY['1', '1.0', '1.00', '2'])[1 + (p * 3 + v) % 4])::numeric,
       (p * 7 + v * 131) % 997 + 0.50, (p + v) % 15, date '2024-01-01' + (p * 13 + v * 31) % 360
FROM generate_series(1, 900) p, generate_series(1, p % 7) v;
CREATE TABLE ps_line (lid integer PRIMARY KEY, vid integer, drug text, price integer);
INSERT INTO ps_line SELECT vid * 10 + l, CASE WHEN vid % 89 = 0 THEN NULL ELSE vid END, (ARRAY['a', 'b', 'c'])[1 + (vid + l) % 3], (vid * 3 + l) % 40 FROM ps_visit, generate_series(1, 1 + vid % 3) l;
CREATE TABLE ps_code (reason text PRIMARY KEY, organ boolean);
INSERT INTO ps_code VALUES ('heart', true), ('lung', true), ('bone', false);
SELECT dp_protect('ps_patient', 'ps_patient_dp', unit => 'pid');
SELECT dp_protect('ps_visit', 'ps_visit_dp', unit => 'pid -> ps_patient(pid)', max_rows => 10);
SELECT dp_protect('ps_line', 'ps_line_dp', unit => 'vid -> ps_visit(vid)', max_rows => 30);
SELECT dp_set_bounds('ps_line', 'price', 0, 40), dp_set_groups('ps_line', 'drug', '{a,b,c}');
SELECT dp_set_bounds('ps_visit', 'cost', 0, 1000), dp_set_bounds('ps_visit', 'days', 0, 20), dp_set_bounds('ps_visit', 'admitted', date '2024-01-01', date '2024-12-31'),
       dp_set_bounds('ps_patient', 'age', 0, 90), dp_set_groups('ps_visit', 'reason', '{heart,lung,bone}'), dp_set_groups('ps_patient', 'sex', '{f,m}');
SELECT dp_set_public('ps_code', 'ps_patient');
GRANT SELECT ON ps_code TO regress_analyst;
SELECT dp_set_odometer('ps_patient', 'none', delta_total => 0.9);
SELECT dp_grant(v, 'regress_analyst', tau => 0, candidates => '{100}', epsilon_max => 100, delta => 1e-6) FROM unnest('{ps_patient_dp,ps_visit_dp,ps_line_dp}'::regclass[]) v;
CREATE VIEW ps_first AS SELECT pid, min(admitted) AS first, count(*) AS n FROM ps_visit WHERE pid IS NOT NULL GROUP BY pid;
CREATE VIEW ps_first_dp AS SELECT pid, min(admitted) AS first, count(*) AS n FROM ps_visit_dp WHERE pid IS NOT NULL GROUP BY pid;
GRANT SELECT ON ps_first_dp TO regress_analyst;

-- ---------------------------------------------------------------------------------------------------------------------
-- What plain SQL says
-- ---------------------------------------------------------------------------------------------------------------------

-- query: columns g and x, over the tables where _dp is taken away. d: the largest that one person brings; measures: that share epsilon.
CREATE TABLE ps_query (name text PRIMARY KEY, query text, d numeric, measures integer);
INSERT INTO ps_query VALUES
('joined', 'SELECT NULL::text AS g, count(*) AS x FROM ps_patient_dp p JOIN (SELECT pid, count(*) AS n FROM ps_visit_dp GROUP BY pid) s USING (pid) WHERE p.age > 60', 1, 1),
('on average', 'SELECT NULL::text AS g, avg(s.n) * 100 AS x FROM ps_patient_dp p JOIN (SELECT pid, count(*) AS n FROM ps_visit_dp GROUP BY pid) s USING (pid) WHERE p.age > 60', 20, 2),
('WITH, filtered', 'WITH s AS (SELECT pid, count(*) AS n FROM ps_visit_dp GROUP BY pid) SELECT p.sex AS g, sum(s.n) AS x FROM ps_patient_dp p, s WHERE s.pid = p.pid AND s.n > 2 GROUP BY p.sex', 10, 1),
('WITH, twice', 'WITH s AS (SELECT pid, count(*) AS n FROM ps_visit_dp GROUP BY pid) SELECT NULL::text AS g, count(*) AS x FROM s a JOIN s b USING (pid) WHERE a.n = b.n', 1, 1),
('outer, by what it counts', 'SELECT s.n::text AS g, count(*) AS x FROM ps_patient_dp p LEFT JOIN (SELECT pid, count(*) AS n FROM ps_visit_dp GROUP BY pid) s ON s.pid = p.pid GROUP BY s.n', 1, 1),
('outer, nobody is 0', 'SELECT NULL::text AS g, sum(coalesce(s.n, 0)) AS x FROM ps_patient_dp p LEFT JOIN (SELECT pid, count(*) AS n FROM ps_visit_dp GROUP BY pid) s ON s.pid = p.pid', 10, 1),
('outer, computed below', 'SELECT NULL::text AS g, count(s.n) AS x FROM ps_patient_dp p LEFT JOIN (SELECT pid, coalesce(count(days), 0) + 1 AS n FROM ps_visit_dp WHERE days > 7 GROUP BY pid) s ON s.pid = p.pid', 1, 1),
('outer, HAVING', 'SELECT NULL::text AS g, count(*) FILTER (WHERE s.pid IS NULL) AS x FROM ps_patient_dp p LEFT JOIN (SELECT pid FROM ps_visit_dp GROUP BY pid HAVING count(*) > 3) s ON s.pid = p.pid', 1, 1),
('a view of rows', 'SELECT date_trunc(''month'', f.first)::text AS g, count(*) AS x FROM ps_patient_dp p JOIN ps_first_dp f USING (pid) WHERE p.sex = ''f'' GROUP BY date_trunc(''month'', f.first)', 1, 1),
('cohorts', 'SELECT to_char(f.cohort, ''YYYY-MM'') AS g, count(DISTINCT v.pid) AS x FROM ps_visit_dp v JOIN (SELECT pid, date_trunc(''month'', min(admitted)) AS cohort, min(admitted) AS first FROM ps_visit_dp GROUP BY pid) f USING (pid) WHERE v.admitted > f.first + 60 GROUP BY 1', 10, 1),
('retention', 'SELECT NULL::text AS g, count(DISTINCT v.pid) AS x FROM ps_visit_dp v JOIN (SELECT pid, min(admitted) AS first FROM ps_visit_dp GROUP BY pid) f USING (pid) WHERE v.admitted > f.first + 90', 1, 1),
('days between', 'SELECT NULL::text AS g, sum(v.admitted - f.first) AS x FROM ps_visit_dp v JOIN (SELECT pid, min(admitted) AS first FROM ps_visit_dp GROUP BY pid) f USING (pid)', 36500, 1),
('by the person and a reason', 'SELECT k.reason AS g, sum(k.n) AS x FROM (SELECT pid, reason, count(*) AS n FROM ps_visit_dp WHERE pid IS NOT NULL GROUP BY pid, reason) k GROUP BY k.reason', 100, 1),
('baskets', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT pid, reason FROM ps_visit_dp WHERE pid IS NOT NULL GROUP BY pid, reason) a JOIN (SELECT pid, reason FROM ps_visit_dp GROUP BY pid, reason) b USING (pid) WHERE a.reason = ''heart'' AND b.reason = ''lung''', 100, 1),
('worth of a visit', 'SELECT NULL::text AS g, sum(worth) AS x FROM (SELECT pid, vid, sum(cost) AS worth FROM ps_visit_dp WHERE pid IS NOT NULL GROUP BY pid, vid) o', 100000, 1),
('DISTINCT', 'SELECT reason AS g, count(*) AS x FROM (SELECT DISTINCT pid, reason FROM ps_visit_dp WHERE pid IS NOT NULL) k GROUP BY reason', 10, 1),
('by a month', 'SELECT m::date::text AS g, count(*) AS x FROM (SELECT pid, date_trunc(''month'', admitted) AS m FROM ps_visit_dp WHERE pid IS NOT NULL GROUP BY pid, date_trunc(''month'', admitted)) k GROUP BY m', 10, 1),
('one spelling', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT pid, dose FROM ps_visit_dp WHERE pid IS NOT NULL GROUP BY pid, dose) k', 10, 1),
('levels', 'SELECT most::text AS g, count(*) AS x FROM (SELECT pid, max(n) AS most FROM (SELECT pid, reason, count(*) AS n FROM ps_visit_dp WHERE pid IS NOT NULL GROUP BY pid, reason) k GROUP BY pid) t GROUP BY most', 1, 1),
('levels, joined', 'SELECT p.sex AS g, sum(t.kinds) AS x FROM ps_patient_dp p JOIN (SELECT k.pid, count(*) AS kinds FROM (SELECT pid, reason FROM ps_visit_dp GROUP BY pid, reason) k GROUP BY k.pid) t ON t.pid = p.pid GROUP BY p.sex', 10, 1),
('projected between', 'SELECT NULL::text AS g, sum(twice) AS x FROM (SELECT 2 * n AS twice FROM (SELECT pid, count(*) AS n FROM ps_visit_dp WHERE pid IS NOT NULL GROUP BY pid) s WHERE n > 2) t', 20, 1),
('a public table below', 'SELECT NULL::text AS g, sum(s.n) AS x FROM ps_patient_dp p JOIN (SELECT v.pid, count(*) FILTER (WHERE c.organ) AS n FROM ps_visit_dp v JOIN ps_code c USING (reason) GROUP BY v.pid) s USING (pid)', 10, 1),
('a public column that is not shown', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT v.pid, count(*) AS n FROM ps_visit_dp v JOIN ps_code c USING (reason) WHERE v.pid IS NOT NULL GROUP BY v.pid, c.organ) s', 10, 1),
('a public table beside', 'SELECT c.organ::text AS g, count(*) AS x FROM (SELECT pid, reason FROM ps_visit_dp WHERE pid IS NOT NULL GROUP BY pid, reason) k JOIN ps_code c USING (reason) GROUP BY c.organ', 10, 1),
('EXISTS above', 'SELECT NULL::text AS g, sum(s.n) AS x FROM (SELECT pid, count(*) AS n FROM ps_visit_dp WHERE pid IS NOT NULL GROUP BY pid) s WHERE EXISTS (SELECT FROM ps_visit_dp v WHERE v.pid = s.pid AND v.reason = ''lung'')', 10, 1),
('EXISTS below', 'SELECT NULL::text AS g, count(*) AS x FROM ps_patient_dp p JOIN (SELECT a.pid, count(*) AS n FROM ps_visit_dp a WHERE EXISTS (SELECT FROM ps_visit_dp v WHERE v.pid = a.pid AND v.days > 12) GROUP BY a.pid) s USING (pid) WHERE s.n > 2', 1, 1),
('people with the column of another', 'SELECT p.sex AS g, avg(s.total) AS x FROM ps_patient_dp p JOIN (SELECT v.pid, q.age, sum(v.cost) AS total FROM ps_visit_dp v JOIN ps_patient_dp q USING (pid) GROUP BY v.pid, q.age) s USING (pid) WHERE s.age < 50 GROUP BY p.sex', 20000, 2),
('IN, HAVING', 'SELECT p.sex AS g, count(*) AS x FROM ps_patient_dp p WHERE p.age < 80 AND p.pid IN (SELECT pid FROM ps_visit_dp GROUP BY pid HAVING count(*) > 3) GROUP BY p.sex', 1, 1),
('IN, of all', 'SELECT NULL::text AS g, count(*) AS x FROM ps_patient_dp WHERE pid IN (SELECT v.pid FROM ps_visit_dp v WHERE v.days > 7 GROUP BY 1)', 1, 1),
('IN, of rows', 'SELECT v.reason AS g, count(*) AS x FROM ps_visit_dp v WHERE v.pid IN (SELECT pid FROM ps_visit_dp GROUP BY pid HAVING max(days) > 12) GROUP BY v.reason', 10, 1),
('IN twice, WITH', 'WITH s AS (SELECT pid, days FROM ps_visit_dp) SELECT NULL::text AS g, count(*) AS x FROM ps_patient_dp p WHERE p.pid IN (SELECT pid FROM s GROUP BY pid HAVING count(*) > 2) AND p.pid IN (SELECT pid FROM s WHERE days < 4 GROUP BY pid)', 1, 1),
('IN, OR', 'SELECT p.sex AS g, count(*) AS x FROM ps_patient_dp p WHERE p.age > 80 OR p.pid IN (SELECT pid FROM ps_visit_dp GROUP BY pid HAVING count(*) > 3) GROUP BY p.sex', 1, 1),
('IN, FILTER', 'SELECT NULL::text AS g, count(*) FILTER (WHERE p.pid IN (SELECT pid FROM ps_visit_dp GROUP BY pid HAVING count(*) > 3)) AS x FROM ps_patient_dp p', 1, 1),
('IN, CASE', 'SELECT NULL::text AS g, sum(CASE WHEN p.age < 40 AND p.pid IN (SELECT pid FROM ps_visit_dp GROUP BY pid HAVING count(*) > 3) THEN 2 ELSE 1 END) AS x FROM ps_patient_dp p', 2, 1),
('IN, grouped by', 'SELECT (p.pid IN (SELECT pid FROM ps_visit_dp WHERE pid IS NOT NULL GROUP BY pid HAVING count(*) > 3))::text AS g, count(*) AS x FROM ps_patient_dp p GROUP BY p.pid IN (SELECT pid FROM ps_visit_dp WHERE pid IS NOT NULL GROUP BY pid HAVING count(*) > 3)', 1, 1),
('IN, below', 'SELECT t.sex AS g, count(*) AS x FROM (SELECT p.sex FROM ps_patient_dp p WHERE p.pid IN (SELECT pid FROM ps_visit_dp GROUP BY pid HAVING count(*) > 3)) t GROUP BY t.sex', 1, 1),
('IN, below as a column', 'SELECT t.often::text AS g, count(*) AS x FROM (SELECT p.pid IN (SELECT pid FROM ps_visit_dp WHERE pid IS NOT NULL GROUP BY pid HAVING count(*) > 3) AS often FROM ps_patient_dp p) t GROUP BY t.often', 1, 1),
('IN, of two keys', 'SELECT NULL::text AS g, count(*) AS x FROM ps_visit_dp v WHERE (v.pid, v.reason) IN (SELECT pid, reason FROM ps_visit_dp GROUP BY pid, reason HAVING count(*) > 1)', 10, 1),
('NOT IN', 'SELECT NULL::text AS g, count(*) AS x FROM ps_patient_dp p WHERE p.pid NOT IN (SELECT pid FROM ps_visit_dp WHERE pid IS NOT NULL GROUP BY pid HAVING count(*) > 3)', 1, 1),
('NOT IN, of plain rows', 'SELECT NULL::text AS g, count(*) AS x FROM ps_patient_dp p WHERE p.age < 70 AND p.pid NOT IN (SELECT pid FROM ps_visit_dp WHERE pid IS NOT NULL AND reason = ''lung'')', 1, 1),
('NOT IN, of rows', 'SELECT NULL::text AS g, count(*) AS x FROM ps_visit_dp v WHERE v.days > 3 AND v.pid NOT IN (SELECT pid FROM ps_visit_dp WHERE pid IS NOT NULL GROUP BY pid HAVING max(days) > 12)', 10, 1),
('worth of a visit, by its lines', 'SELECT NULL::text AS g, sum(worth) AS x FROM (SELECT vid, sum(price) AS worth FROM ps_line_dp WHERE vid % 97 > 0 AND vid / 100 % 97 > 0 GROUP BY vid) o', 36000, 1),
('how many visits have as many lines', 'SELECT n::text AS g, count(*) AS x FROM (SELECT vid, count(*) AS n FROM ps_line_dp WHERE vid / 100 % 97 > 0 GROUP BY vid) o WHERE n < 4 GROUP BY n', 30, 1),
('baskets of a visit', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT vid, bool_or(drug = ''a'') AS a, bool_or(drug = ''b'') AS b FROM ps_line_dp WHERE vid / 100 % 97 > 0 GROUP BY vid) o WHERE a AND b', 30, 1),
('by the visit and a drug', 'SELECT drug AS g, count(*) AS x FROM (SELECT vid, drug FROM ps_line_dp WHERE vid / 100 % 97 > 0 GROUP BY vid, drug) o GROUP BY drug', 30, 1),
('lines in two parts', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT drug FROM ps_line_dp WHERE vid / 100 % 97 > 0 UNION ALL SELECT reason FROM ps_visit_dp WHERE pid IS NOT NULL) u', 40, 1),
('a key with itself', 'SELECT NULL::text AS g, sum(a.days + b.days) AS x FROM ps_visit_dp a JOIN ps_visit_dp b ON a.vid = b.vid WHERE a.pid IS NOT NULL', 400, 1),
('a key with itself, below', 'WITH t AS (SELECT v.*, p.sex FROM ps_visit_dp v JOIN ps_patient_dp p USING (pid)) SELECT t.sex AS g, count(*) AS x FROM t JOIN ps_visit_dp w ON w.vid = t.vid GROUP BY t.sex', 10, 1),
('DISTINCT of fewer keys', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT DISTINCT pid, reason FROM ps_visit_dp WHERE pid IS NOT NULL GROUP BY pid, reason, days) k', 10, 1),
('a constant IN public rows', 'SELECT NULL::text AS g, count(*) AS x FROM ps_patient_dp WHERE ''lung'' IN (SELECT reason FROM ps_code)', 1, 1),
('sets', 'SELECT coalesce(p.sex, ''all'') AS g, count(*) AS x FROM ps_patient_dp p JOIN (SELECT pid FROM ps_visit_dp GROUP BY pid HAVING count(*) > 3) s USING (pid) GROUP BY ROLLUP (p.sex)', 1, 1);
CREATE TABLE ps_reference (name text, g text, x numeric);
DO $$
DECLARE
    q ps_query;
BEGIN
    FOR q IN SELECT * FROM ps_query LOOP
        EXECUTE format('INSERT INTO ps_reference SELECT %L, * FROM (%s) q', q.name, replace(q.query, '_dp', ''));
    END LOOP;
END $$;
GRANT SELECT ON ps_query TO regress_analyst;
CREATE TABLE ps_answer (name text, g text, x numeric);
GRANT INSERT ON ps_answer TO regress_analyst;
SET ROLE regress_analyst;
DO $$
DECLARE
    q ps_query;
BEGIN
    FOR q IN SELECT * FROM ps_query LOOP
        BEGIN
            EXECUTE format('INSERT INTO ps_answer SELECT %L, * FROM (%s) q', q.name, q.query);
        EXCEPTION WHEN OTHERS THEN
            RAISE NOTICE '%: %', q.name, SQLERRM;
        END;
    END LOOP;
END $$;
SET ROLE regress_controller;
SELECT a.name, count(*) FILTER (WHERE r.x IS NOT NULL) AS groups, bool_and(abs(a.x - coalesce(r.x, 0)) <= 25 * d * measures / 100 + 1) AS agree
FROM ps_query NATURAL JOIN ps_answer a LEFT JOIN ps_reference r ON r.name = a.name AND r.g IS NOT DISTINCT FROM a.g GROUP BY 1 ORDER BY a.name COLLATE "C";
-- No group of the reference is missing.
SELECT r.name, r.g FROM ps_reference r LEFT JOIN ps_answer a ON r.name = a.name AND r.g IS NOT DISTINCT FROM a.g WHERE a.name IS NULL;

-- What IN cannot ask of people: several rows for each, of whom somebody may be NULL where that decides; EXISTS of what is aggregated.
SET ROLE regress_analyst;
SELECT count(*) FROM ps_patient_dp p WHERE p.pid IN (SELECT pid FROM ps_visit_dp GROUP BY pid, reason HAVING count(*) > 1);
SELECT count(*) FROM ps_patient_dp p WHERE p.pid NOT IN (SELECT pid FROM ps_visit_dp GROUP BY pid HAVING count(*) > 3);
SELECT count(*) FROM ps_patient_dp p LEFT JOIN ps_visit_dp v USING (pid) WHERE v.pid NOT IN (SELECT pid FROM ps_patient_dp GROUP BY pid HAVING max(age) > 50);
SELECT count(*) FROM ps_patient_dp p WHERE p.pid > ANY (SELECT pid FROM ps_visit_dp GROUP BY pid);
SELECT count(*) FROM ps_patient_dp p WHERE p.age IN (SELECT pid FROM ps_visit_dp GROUP BY pid);
SELECT count(*) FROM ps_patient_dp p WHERE EXISTS (SELECT FROM ps_visit_dp v WHERE v.pid = p.pid HAVING count(*) > 3);

-- ---------------------------------------------------------------------------------------------------------------------
-- How many rows of a person there are
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_analyst;
SELECT i, column_name, accepted, unit, max_rows, max_groups
FROM unnest(ARRAY['SELECT count(*) FROM ps_patient_dp p JOIN (SELECT pid, count(*) AS n FROM ps_visit_dp GROUP BY pid) s USING (pid)',
                  'SELECT count(*) FROM ps_patient_dp p JOIN (SELECT pid, reason, count(*) AS n FROM ps_visit_dp GROUP BY pid, reason) s USING (pid)',
                  'SELECT count(*) FROM ps_patient_dp p JOIN (SELECT v.pid, q.sex, count(*) AS n FROM ps_visit_dp v JOIN ps_patient_dp q USING (pid) GROUP BY v.pid, q.sex) s USING (pid)',
                  'SELECT s.reason, count(*) FROM ps_patient_dp p JOIN (SELECT pid, reason, count(*) AS n FROM ps_visit_dp GROUP BY pid, reason) s USING (pid) GROUP BY s.reason',
                  'SELECT count(*) FROM ps_visit_dp v JOIN (SELECT pid, reason FROM ps_visit_dp GROUP BY pid, reason) s ON s.pid = v.pid AND s.reason = v.reason']) WITH ORDINALITY a (query, i), dp_explain(query) e
ORDER BY i;
SET ROLE regress_controller;
SELECT DISTINCT query, parameters ->> 'tables' AS tables, parameters ->> 'max_rows' AS max_rows, parameters ->> 'rows_of_unit' AS rows_of_unit
FROM dp_rdr.ledger WHERE relation ~ '^public\.ps_' AND query ~ 'age > 60|AS c3 FROM public.ps_visit_dp' ORDER BY 1;
-- The controller's own view: what one person moves.
SELECT count(*) AS people, max(individuals) AS together FROM dp_risk_records('SELECT count(*), sum(s.n) FROM ps_patient_dp p JOIN (SELECT pid, count(*) AS n FROM ps_visit_dp GROUP BY pid) s USING (pid)', 1);
SELECT * FROM dp_risk('SELECT count(*) FROM ps_patient_dp p JOIN (SELECT pid, count(*) AS n FROM ps_visit_dp GROUP BY pid) s USING (pid)', '{1}');

-- ---------------------------------------------------------------------------------------------------------------------
-- Refused, before anything is charged
-- ---------------------------------------------------------------------------------------------------------------------

RESET ROLE;
SELECT count(*) AS charged FROM dp_rdr.ledger \gset
SET ROLE regress_analyst;
-- What it does not show links nothing.
SELECT count(*) FROM ps_patient_dp p JOIN (SELECT count(*) AS n FROM ps_visit_dp GROUP BY pid) s ON s.n = p.age;
SELECT count(*) FROM ps_patient_dp p JOIN (SELECT pid, count(*) AS n FROM ps_visit_dp GROUP BY pid) s ON s.n = p.age;
SELECT count(*) FROM ps_patient_dp p LEFT JOIN (SELECT pid, count(*) AS n FROM ps_visit_dp GROUP BY pid) s ON s.n = p.age WHERE s.pid = p.pid;
-- Grouped by something else.
SELECT count(*) FROM ps_patient_dp p JOIN (SELECT vid, count(*) AS n FROM ps_visit_dp GROUP BY vid) s ON s.vid = p.pid;
-- What chooses among rows, or depends on rows outside.
SELECT count(*) FROM ps_patient_dp p JOIN LATERAL (SELECT v.pid, count(*) AS n FROM ps_visit_dp v WHERE v.pid = p.pid GROUP BY v.pid) s ON s.pid = p.pid;
SELECT count(*) FROM ps_patient_dp p JOIN (SELECT pid, count(*) AS n FROM ps_visit_dp GROUP BY pid LIMIT 3) s USING (pid);
SELECT count(*) FROM ps_patient_dp p JOIN (SELECT DISTINCT ON (pid) pid, count(*) AS n FROM ps_visit_dp GROUP BY pid) s USING (pid);
SELECT count(*) FROM ps_patient_dp p JOIN (SELECT pid, reason, count(*) AS n FROM ps_visit_dp GROUP BY ROLLUP (pid, reason)) s USING (pid);
SELECT count(*) FROM ps_patient_dp p JOIN (SELECT pid, sum(days::float8) AS n FROM ps_visit_dp GROUP BY pid) s USING (pid);
-- Groups of one person.
SELECT s.pid, count(*) FROM ps_patient_dp p JOIN (SELECT pid, count(*) AS n FROM ps_visit_dp GROUP BY pid) s USING (pid) GROUP BY s.pid;
SELECT s.vid, count(*) FROM (SELECT pid, vid, count(*) AS n FROM ps_visit_dp GROUP BY pid, vid) s GROUP BY s.vid;
SELECT s.vid, count(*) FROM (SELECT vid, count(*) AS n FROM ps_line_dp GROUP BY vid) s GROUP BY s.vid;
-- No key.
SELECT count(*) FROM ps_visit_dp a JOIN ps_visit_dp b ON a.days = b.days;
SELECT count(*) FROM ps_patient_dp p JOIN (SELECT vid, count(*) AS n FROM ps_line_dp GROUP BY vid) s ON s.vid = p.pid;
-- What no count can be.
SELECT count(*) FROM ps_patient_dp p JOIN (SELECT pid, count(*) AS n FROM ps_visit_dp GROUP BY pid) s USING (pid) WHERE s.n > 10;
RESET ROLE;
SELECT count(*) - :charged AS charged FROM dp_rdr.ledger;
