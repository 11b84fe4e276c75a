-- Windows over the rows of a person: what the functions give is that of plain SQL over the tables (as in people_sources.sql), also where rows tie.
\set VERBOSITY default
LOAD 'dp_rdr';
SET ROLE regress_controller;
CREATE TABLE win_person (pid integer PRIMARY KEY, sex text NOT NULL);
INSERT INTO win_person SELECT i, CASE WHEN i % 3 = 0 THEN 'f' ELSE 'm' END FROM generate_series(1, 900) i;
CREATE TABLE win_visit (vid integer PRIMARY KEY, pid integer, reason text, dose numeric, cost numeric(8, 2), days integer, admitted date, seen timestamp, note jsonb, span interval,
                        low text COLLATE "C", weight float8);
INSERT INTO win_visit
SELECT p * 100 + v, CASE WHEN p % 97 = 0 THEN NULL ELSE p END, (ARRAY['heart', 'lung', 'bone', NULL])[1 + (p + v * v) % 4], ((ARRAY['1', '1.0', '1.00', '2'])[1 + (p * 3 + v) % 4])::numeric,
       (p * 7 + v * 131) % 997 + 0.50, (p + v / 3) % 15, date '2024-01-01' + (p * 13 + v * 31) % 360, timestamp '2024-01-01' + (p * 13 + v * v * 7) % 360 * interval '1 hour', '{}', '1 day',
       'x' || (p + v) % 2, v % 3
FROM generate_series(1, 900) p, generate_series(1, p % 7) v;
CREATE TABLE win_code (reason text PRIMARY KEY, organ boolean);
INSERT INTO win_code VALUES ('heart', true), ('lung', true), ('bone', false);
SELECT dp_protect('win_person', 'win_person_dp', unit => 'pid');
SELECT dp_protect('win_visit', 'win_visit_dp', unit => 'pid -> win_person(pid)', max_rows => 10);
SELECT dp_set_bounds('win_visit', 'cost', 0, 1000), dp_set_bounds('win_visit', 'days', 0, 20), dp_set_bounds('win_visit', 'admitted', date '2024-01-01', date '2024-12-31'),
       dp_set_bounds('win_visit', 'seen', timestamp '2024-01-01', timestamp '2024-01-31'), dp_set_groups('win_visit', 'reason', '{heart,lung,bone,NULL}'), dp_set_groups('win_person', 'sex', '{f,m}');
SELECT dp_set_public('win_code', 'win_person');
GRANT SELECT ON win_code TO regress_analyst;
SELECT dp_set_odometer('win_person', 'none', delta_total => 0.9);
SELECT dp_grant(v, 'regress_analyst', tau => 0, candidates => '{100}', epsilon_max => 100, delta => 1e-6) FROM unnest('{win_person_dp,win_visit_dp}'::regclass[]) v;
CREATE VIEW win_step AS SELECT pid, seen, lag(seen) OVER (PARTITION BY pid ORDER BY seen) AS before FROM win_visit WHERE pid IS NOT NULL;
CREATE VIEW win_step_dp AS SELECT pid, seen, lag(seen) OVER (PARTITION BY pid ORDER BY seen) AS before FROM win_visit_dp WHERE pid IS NOT NULL;
GRANT SELECT ON win_step_dp TO regress_analyst;

-- ---------------------------------------------------------------------------------------------------------------------
-- What plain SQL says
-- ---------------------------------------------------------------------------------------------------------------------

-- query: columns g and x, over the tables where _dp is taken away. d: the largest that one person brings; measures: that share epsilon. Where rows
-- tie plain SQL has all columns in ORDER BY.
CREATE TABLE win_query (name text PRIMARY KEY, query text, d numeric, measures integer);
INSERT INTO win_query VALUES
('first of each', 'SELECT reason AS g, count(*) AS x FROM (SELECT pid, reason, row_number() OVER (PARTITION BY pid ORDER BY vid) AS n FROM win_visit_dp WHERE pid IS NOT NULL) t WHERE n = 1 GROUP BY reason', 1, 1),
('last of each, WITH', 'WITH t AS (SELECT *, row_number() OVER (PARTITION BY pid ORDER BY admitted DESC, vid) AS n FROM (SELECT vid, pid, admitted, reason FROM win_visit_dp WHERE pid IS NOT NULL) v) SELECT p.sex AS g, count(*) AS x FROM t JOIN win_person_dp p USING (pid) WHERE t.n = 1 AND t.reason = ''lung'' GROUP BY p.sex', 1, 1),
('first three', 'SELECT NULL::text AS g, sum(days) AS x FROM (SELECT pid, days, row_number() OVER (PARTITION BY pid ORDER BY vid) AS n FROM win_visit_dp WHERE pid IS NOT NULL) t WHERE n <= 3', 60, 1),
('how many', 'SELECT n::text AS g, count(*) AS x FROM (SELECT pid, row_number() OVER (PARTITION BY pid) AS n FROM win_visit_dp WHERE pid IS NOT NULL) t GROUP BY n', 10, 1),
('days between', 'SELECT NULL::text AS g, sum(admitted - before) AS x FROM (SELECT pid, admitted, lag(admitted) OVER (PARTITION BY pid ORDER BY admitted) AS before FROM win_visit_dp WHERE pid IS NOT NULL) t', 3650, 1),
('hours between, a view', 'SELECT NULL::text AS g, sum(extract(epoch FROM seen - before) / 3600) AS x FROM win_step_dp', 7200, 1),
('sessions', 'SELECT NULL::text AS g, count(*) FILTER (WHERE before IS NULL OR seen - before > interval ''1 day'') AS x FROM win_step_dp', 10, 1),
('sessions of each', 'SELECT n::text AS g, count(*) AS x FROM (SELECT pid, count(*) FILTER (WHERE before IS NULL OR seen - before > interval ''1 day'') AS n FROM win_step_dp GROUP BY pid) s GROUP BY n', 1, 1),
('what comes next', 'SELECT later AS g, count(*) AS x FROM (SELECT pid, reason, lead(reason) OVER (PARTITION BY pid ORDER BY vid) AS later FROM win_visit_dp WHERE pid IS NOT NULL) t WHERE reason = ''heart'' GROUP BY later', 10, 1),
('two back, or none', 'SELECT NULL::text AS g, sum(back) AS x FROM (SELECT lag(days, 2, 40) OVER (PARTITION BY pid ORDER BY vid) AS back FROM win_visit_dp WHERE pid IS NOT NULL) t', 400, 1),
('back to the first', 'SELECT NULL::text AS g, sum(days - began) AS x FROM (SELECT days, first_value(days) OVER (PARTITION BY pid ORDER BY vid ROWS UNBOUNDED PRECEDING) AS began FROM win_visit_dp WHERE pid IS NOT NULL) t', 200, 1),
('ahead by less than nothing', 'SELECT NULL::text AS g, count(b) AS x FROM (SELECT lead(days, -1) OVER (PARTITION BY pid ORDER BY vid) AS b FROM win_visit_dp WHERE pid IS NOT NULL) t', 10, 1),
('of all rows', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT pid, cost, avg(cost) OVER (PARTITION BY pid) AS mean, max(days) OVER (PARTITION BY pid) AS most, count(*) OVER (PARTITION BY pid) AS n FROM win_visit_dp WHERE pid IS NOT NULL) t WHERE cost > mean AND n > 2 AND most > 5', 10, 1),
('a part of the whole', 'SELECT NULL::text AS g, sum(least(greatest(100 * cost / total, 0), 100)) AS x FROM (SELECT cost, sum(cost) OVER (PARTITION BY pid ORDER BY vid ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS total FROM win_visit_dp WHERE pid IS NOT NULL) t WHERE total > 0', 1000, 1),
('in a part', 'SELECT n::text AS g, count(*) AS x FROM (SELECT count(*) FILTER (WHERE days > 3) OVER (PARTITION BY pid, reason) AS n FROM win_visit_dp WHERE pid IS NOT NULL) t GROUP BY n', 10, 1),
('new reasons', 'SELECT reason AS g, count(*) AS x FROM (SELECT pid, reason, row_number() OVER (PARTITION BY pid, reason ORDER BY admitted, vid) AS n FROM win_visit_dp WHERE pid IS NOT NULL) t WHERE n = 1 GROUP BY reason', 10, 1),
('texts', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT reason, min(reason) OVER (PARTITION BY pid) AS lowest, bool_or(days > 9) OVER (PARTITION BY pid) AS late FROM win_visit_dp WHERE pid IS NOT NULL) t WHERE reason = lowest AND late', 10, 1),
('outer, first', 'SELECT coalesce(f.reason, ''none'') AS g, count(*) AS x FROM win_person_dp p LEFT JOIN (SELECT pid, reason, row_number() OVER (PARTITION BY pid ORDER BY vid) AS n FROM win_visit_dp) f ON f.pid = p.pid AND f.n = 1 GROUP BY 1', 1, 1),
('outer, filtered below', 'SELECT NULL::text AS g, count(f.pid) AS x FROM win_person_dp p LEFT JOIN (SELECT pid FROM (SELECT pid, row_number() OVER (PARTITION BY pid ORDER BY vid) AS n FROM win_visit_dp) t WHERE n = 3) f ON f.pid = p.pid', 1, 1),
('of two rows', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT pid, reason, row_number() OVER (PARTITION BY pid ORDER BY vid) AS n FROM win_visit_dp) a JOIN (SELECT pid, reason, row_number() OVER (PARTITION BY pid ORDER BY vid) AS n FROM win_visit_dp) b USING (pid, n) WHERE a.reason = b.reason', 10, 1),
('favourite', 'SELECT reason AS g, count(*) AS x FROM (SELECT pid, reason, row_number() OVER (PARTITION BY pid ORDER BY n DESC, reason) AS place FROM (SELECT pid, reason, count(*) AS n FROM win_visit_dp WHERE pid IS NOT NULL GROUP BY pid, reason) k) t WHERE place = 1 GROUP BY reason', 1, 1),
('windows over windows', 'SELECT n::text AS g, count(*) AS x FROM (SELECT pid, row_number() OVER (PARTITION BY pid ORDER BY vid) AS n FROM (SELECT pid, vid, reason, lag(reason) OVER (PARTITION BY pid ORDER BY vid) AS before FROM win_visit_dp WHERE pid IS NOT NULL) t WHERE reason IS DISTINCT FROM before) u GROUP BY n', 10, 1),
('joined below', 'SELECT sex AS g, count(*) AS x FROM (SELECT p.sex, v.days, lag(v.days) OVER (PARTITION BY p.pid ORDER BY v.vid) AS before FROM win_person_dp p JOIN win_visit_dp v USING (pid)) t WHERE days < before GROUP BY sex', 10, 1),
('of a column that is never NULL', 'SELECT before AS g, count(*) AS x FROM (SELECT lag(p.sex) OVER (PARTITION BY p.pid ORDER BY v.vid) AS before FROM win_person_dp p JOIN win_visit_dp v USING (pid)) t GROUP BY before', 10, 1),
('by the other side', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT row_number() OVER (PARTITION BY p.pid ORDER BY v.vid) AS a, count(*) OVER (PARTITION BY v.pid) AS b FROM win_person_dp p JOIN win_visit_dp v ON v.pid = p.pid) t WHERE a = b', 10, 1),
('a public table below', 'SELECT organ::text AS g, count(*) AS x FROM (SELECT c.organ, row_number() OVER (PARTITION BY v.pid ORDER BY v.vid) AS n FROM win_visit_dp v LEFT JOIN win_code c USING (reason) WHERE v.pid IS NOT NULL) t WHERE n = 2 GROUP BY organ', 1, 1),
('a public table above', 'SELECT c.organ::text AS g, count(*) AS x FROM (SELECT pid, lead(reason) OVER (PARTITION BY pid ORDER BY vid) AS later FROM win_visit_dp WHERE pid IS NOT NULL) t JOIN win_code c ON c.reason = t.later GROUP BY c.organ', 10, 1),
('people above', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT pid, max(admitted - before) AS most FROM (SELECT pid, admitted, lag(admitted) OVER (PARTITION BY pid ORDER BY admitted) AS before FROM win_visit_dp WHERE pid IS NOT NULL) t GROUP BY pid HAVING max(admitted - before) > 60) u', 1, 1),
('EXISTS below', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT EXISTS (SELECT FROM win_code c WHERE c.reason = v.reason AND c.organ) AS organ, row_number() OVER (PARTITION BY v.pid ORDER BY v.vid) AS n FROM win_visit_dp v WHERE v.pid IS NOT NULL) t WHERE organ AND n = 1', 1, 1),
('the last first, of NULL', 'SELECT first AS g, count(*) AS x FROM (SELECT pid, first_value(reason) OVER w AS first, row_number() OVER w AS n FROM win_visit_dp WHERE pid IS NOT NULL WINDOW w AS (PARTITION BY pid ORDER BY reason DESC NULLS FIRST)) t WHERE n = 1 GROUP BY first', 1, 1),
('one spelling', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT dose, lag(dose) OVER (PARTITION BY pid ORDER BY dose) AS before FROM win_visit_dp WHERE pid IS NOT NULL) t WHERE before = dose', 10, 1),
('tied rows', 'SELECT reason AS g, count(*) AS x FROM (SELECT pid, reason, days, row_number() OVER (PARTITION BY pid ORDER BY days, reason) AS n FROM win_visit_dp WHERE pid IS NOT NULL) t WHERE n <= 2 GROUP BY reason', 2, 1),
('IN of the grouped', 'SELECT NULL::text AS g, count(*) AS x FROM win_person_dp WHERE pid IN (SELECT pid FROM (SELECT pid, days - lag(days) OVER (PARTITION BY pid ORDER BY vid) AS up FROM win_visit_dp) t GROUP BY pid HAVING max(up) > 0)', 1, 1);
CREATE TABLE win_reference (name text, g text, x numeric);
DO $$
DECLARE
    q win_query;
BEGIN
    FOR q IN SELECT * FROM win_query LOOP
        EXECUTE format('INSERT INTO win_reference SELECT %L, * FROM (%s) q', q.name, replace(q.query, '_dp', ''));
    END LOOP;
END $$;
GRANT SELECT ON win_query TO regress_analyst;
CREATE TABLE win_answer (name text, g text, x numeric);
GRANT INSERT ON win_answer TO regress_analyst;
SET ROLE regress_analyst;
DO $$
DECLARE
    q win_query;
BEGIN
    FOR q IN SELECT * FROM win_query LOOP
        BEGIN
            EXECUTE format('INSERT INTO win_answer SELECT %L, * FROM (%s) q', q.name, q.query);
        EXCEPTION WHEN OTHERS THEN
            RAISE NOTICE '%: %', q.name, SQLERRM;
        END;
    END LOOP;
END $$;
SET ROLE regress_controller;
SELECT a.name, count(*) FILTER (WHERE r.x IS NOT NULL) AS groups, bool_and(abs(a.x - coalesce(r.x, 0)) <= 25 * d * measures / 100 + 1) AS agree
FROM win_query NATURAL JOIN win_answer a LEFT JOIN win_reference r ON r.name = a.name AND r.g IS NOT DISTINCT FROM a.g GROUP BY 1 ORDER BY a.name COLLATE "C";
-- No group of the reference is missing.
SELECT r.name, r.g FROM win_reference r LEFT JOIN win_answer a ON r.name = a.name AND r.g IS NOT DISTINCT FROM a.g WHERE a.name IS NULL ORDER BY 1, 2;
-- Statements made of parts at random: counts of at most ten rows of a person, which noise moves by more than 3 in one of 10^13.
CREATE TABLE win_random (query text);
SELECT max(id) AS last FROM dp_rdr.ledger WHERE relation ~ '^public\.win_' \gset
CREATE FUNCTION win_pick(n int, o text, part text) RETURNS text LANGUAGE sql RETURN
    format((ARRAY['row_number() OVER (PARTITION BY %2$s ORDER BY %1$s)', 'lag(days) OVER (PARTITION BY %2$s ORDER BY %1$s)', 'lead(days, 2) OVER (PARTITION BY %2$s ORDER BY %1$s)',
                  'lag(days, 1, 9) OVER (PARTITION BY %2$s ORDER BY %1$s)', 'first_value(days) OVER (PARTITION BY %2$s ORDER BY %1$s)', 'count(*) OVER (PARTITION BY %2$s)',
                  'sum(days) FILTER (WHERE days > 2) OVER (PARTITION BY %2$s)', 'max(days) OVER (PARTITION BY %2$s)', 'avg(days) OVER (PARTITION BY %2$s)',
                  'first_value(days * 2) OVER (PARTITION BY %2$s ORDER BY %1$s ROWS UNBOUNDED PRECEDING)'])[1 + n], o, part);
SELECT setseed(0.5);
INSERT INTO win_random
SELECT format('SELECT count(*) FROM (SELECT %s, %s AS a, %s AS b FROM (SELECT vid, v.pid, reason, v.days, dose, admitted, seen, p.sex FROM win_visit_dp v %s win_person_dp p ON p.pid = v.pid WHERE v.pid IS NOT NULL) s%s) t WHERE %s',
    (ARRAY['days', 'days, reason', 'pid, days'])[1 + floor(random() * 3)], win_pick(window_a, o, part), win_pick(window_b, o, part), (ARRAY['JOIN', 'LEFT JOIN'])[1 + floor(random() * 2)],
    (ARRAY['', ' WHERE days > 3', ' WHERE reason <> ''lung''', ' WHERE reason IS NULL OR sex = ''f'''])[1 + floor(random() * 4)],
    (ARRAY['a > b', 'a <= b OR b IS NULL', 'a = 1', 'a IS NOT NULL AND days > 4', 'a BETWEEN 1 AND 2', 'b - a > 2', 'a < days'])[1 + floor(random() * 7)])
FROM (SELECT i, (ARRAY['vid', 'days, vid', 'days DESC, vid', 'reason NULLS FIRST, vid DESC', 'dose, seen DESC NULLS LAST, vid', 'admitted - date ''2024-01-01'', vid'])[1 + floor(random() * 6)] AS o,
             (ARRAY['pid', 'pid, reason', 'days % 2, pid'])[1 + floor(random() * 3)] AS part, floor(random() * 10)::int AS window_a, floor(random() * 10)::int AS window_b FROM generate_series(1, 200) i) r;
GRANT SELECT ON win_random TO regress_analyst;
CREATE TABLE win_counted (query text, n bigint);
GRANT INSERT ON win_counted TO regress_analyst;
SET ROLE regress_analyst;
DO $$
DECLARE
    q text;
BEGIN
    FOR q IN SELECT query FROM win_random LOOP
        EXECUTE format('INSERT INTO win_counted SELECT %L, * FROM (%s) q', q, q);
    END LOOP;
END $$;
SET ROLE regress_controller;
DO $$
DECLARE
    q record;
    exact bigint;
BEGIN
    FOR q IN SELECT * FROM win_counted LOOP
        EXECUTE replace(q.query, '_dp', '') INTO exact;
        IF abs(exact - q.n) > 3 THEN
            RAISE WARNING '% and not % of %', q.n, exact, q.query;
        END IF;
    END LOOP;
END $$;
SELECT count(*), count(*) FILTER (WHERE n > 3) > 120 AS many FROM win_counted;

-- ---------------------------------------------------------------------------------------------------------------------
-- How many rows of a person there are, and what is charged
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_analyst;
SELECT i, column_name, accepted, unit, max_rows, max_groups
FROM unnest(ARRAY['SELECT count(*) FROM (SELECT pid, row_number() OVER (PARTITION BY pid ORDER BY vid) AS n FROM win_visit_dp) t',
                  'SELECT count(*) FROM (SELECT pid, row_number() OVER (PARTITION BY pid ORDER BY vid) AS n FROM win_visit_dp) t WHERE n = 1',
                  'SELECT count(*) FROM (SELECT pid, row_number() OVER (PARTITION BY pid ORDER BY vid) AS n FROM win_visit_dp) t WHERE n < 4 AND n > 1',
                  'SELECT count(*) FROM (SELECT pid, row_number() OVER (PARTITION BY pid, reason ORDER BY vid) AS n FROM win_visit_dp) t WHERE n = 1',
                  'SELECT count(*) FROM (SELECT pid, row_number() OVER (PARTITION BY pid ORDER BY vid) AS n FROM win_visit_dp) t WHERE n = 1 OR pid = 3',
                  'SELECT count(f.n) FROM win_person_dp p LEFT JOIN (SELECT pid, row_number() OVER (PARTITION BY pid ORDER BY vid) AS n FROM win_visit_dp) f ON f.pid = p.pid AND n <= 2',
                  'SELECT count(f.n) FROM win_person_dp p LEFT JOIN (SELECT pid, row_number() OVER (PARTITION BY pid ORDER BY vid) AS n FROM win_visit_dp) f ON f.pid = p.pid WHERE n <= 2',
                  'SELECT count(f.n) FROM win_person_dp p LEFT JOIN (SELECT pid, row_number() OVER (PARTITION BY pid ORDER BY vid) AS n FROM win_visit_dp) f ON f.pid = p.pid WHERE n = 1',
                  'SELECT count(*) FROM (SELECT pid, count(*) OVER (PARTITION BY pid) AS n FROM win_person_dp) t',
                  'SELECT count(*) FROM (SELECT pid, row_number() OVER (PARTITION BY pid ORDER BY vid) AS n FROM win_visit_dp) f LEFT JOIN win_person_dp p ON p.pid = f.pid AND f.n = 1',
                  'SELECT count(*) FROM (SELECT pid, row_number() OVER (PARTITION BY pid ORDER BY vid) AS n FROM win_visit_dp) t WHERE n = 3',
                  'SELECT count(*) FROM win_person_dp p JOIN (SELECT pid, row_number() OVER (PARTITION BY pid ORDER BY vid) AS n FROM win_visit_dp) f USING (pid)',
                  'SELECT count(*) FROM (SELECT pid, row_number() OVER (PARTITION BY pid ORDER BY vid) AS n FROM win_visit_dp) a JOIN (SELECT pid, row_number() OVER (PARTITION BY pid ORDER BY vid) AS n FROM win_visit_dp) b USING (pid, n)']) WITH ORDINALITY a (query, i), dp_explain(query) e
ORDER BY i;
-- Rows that tie in all that is written: the answer is that of the rows, wherever they lie. (At epsilon 100 a count of people has no noise that rounding leaves.)
SELECT reason, count(*) FROM (SELECT pid, reason, row_number() OVER (PARTITION BY pid) AS n FROM win_visit_dp) t WHERE n = 1 GROUP BY reason ORDER BY reason \g (footer=off)
SELECT count(*) FILTER (WHERE before::text LIKE '%.%') AS spelled, count(*) FILTER (WHERE began = 'x1' AND days > 7) AS began
FROM (SELECT days, row_number() OVER w AS n, lead(dose) OVER w AS before, first_value(low) OVER w AS began FROM win_visit_dp WINDOW w AS (PARTITION BY pid ORDER BY days / 8 DESC)) t WHERE n = 1;
SET ROLE regress_controller;
CREATE TABLE win_again AS TABLE win_visit;
TRUNCATE win_visit;
INSERT INTO win_visit SELECT * FROM win_again ORDER BY hashint4(vid);
SET ROLE regress_analyst;
SELECT reason, count(*) FROM (SELECT pid, reason, row_number() OVER (PARTITION BY pid) AS n FROM win_visit_dp) t WHERE n = 1 GROUP BY reason ORDER BY reason \g (footer=off)
SELECT count(*) FILTER (WHERE before::text LIKE '%.%') AS spelled, count(*) FILTER (WHERE began = 'x1' AND days > 7) AS began
FROM (SELECT days, row_number() OVER w AS n, lead(dose) OVER w AS before, first_value(low) OVER w AS began FROM win_visit_dp WINDOW w AS (PARTITION BY pid ORDER BY days / 8 DESC)) t WHERE n = 1;
PREPARE win_first(bigint) AS SELECT count(*) FROM (SELECT pid, row_number() OVER (PARTITION BY pid ORDER BY vid) AS n FROM win_visit_dp) t WHERE n <= $1;
EXECUTE win_first(1) \gset win_
SET ROLE regress_controller;
SELECT query, parameters ->> 'max_rows' AS max_rows, parameters ->> 'rows_of_unit' AS rows_of_unit
FROM dp_rdr.ledger WHERE relation ~ '^public\.win_' ORDER BY id DESC LIMIT 1;
SELECT DISTINCT query FROM dp_rdr.ledger WHERE relation ~ '^public\.win_' AND query ~ 'OVER' AND query !~ 'row_number' AND id <= :last ORDER BY 1;
-- A declared limit of one row is no key: whoever has more is clipped.
SELECT dp_set_contribution('win_visit', max_rows => 1);
SET ROLE regress_analyst;
SELECT max_rows, reason FROM dp_explain('SELECT count(*) FROM (SELECT pid, row_number() OVER (PARTITION BY pid ORDER BY vid) AS n FROM win_visit_dp) t')
UNION ALL SELECT max_rows, reason FROM dp_explain('SELECT count(*) FROM (SELECT pid, row_number() OVER (PARTITION BY pid ORDER BY vid) AS n FROM win_visit_dp) t WHERE n = 1');
SET ROLE regress_controller;
SELECT dp_set_contribution('win_visit', max_rows => 10);
-- The controller's own view: what one person moves.
SELECT count(*) AS people, max(individuals) AS together FROM dp_risk_records('SELECT count(*) FROM (SELECT pid, days - lag(days) OVER (PARTITION BY pid ORDER BY vid) AS up FROM win_visit_dp) t WHERE up > 0', 1);
SELECT * FROM dp_risk('SELECT count(*) FROM (SELECT pid, row_number() OVER (PARTITION BY pid ORDER BY vid) AS n FROM win_visit_dp) t WHERE n = 1', '{1}');

-- ---------------------------------------------------------------------------------------------------------------------
-- Refused, before anything is charged
-- ---------------------------------------------------------------------------------------------------------------------

RESET ROLE;
SELECT count(*) AS charged FROM dp_rdr.ledger \gset
SET ROLE regress_analyst;
-- Other functions, running aggregates and frames.
SELECT count(*) FROM (SELECT pid, rank() OVER (PARTITION BY pid ORDER BY days) AS n FROM win_visit_dp) t WHERE n = 1;
SELECT count(*) FROM (SELECT pid, dense_rank() OVER (PARTITION BY pid ORDER BY days) AS n FROM win_visit_dp) t WHERE n = 1;
SELECT count(*) FROM (SELECT pid, ntile(4) OVER (PARTITION BY pid ORDER BY days) AS n FROM win_visit_dp) t WHERE n = 1;
SELECT count(*) FROM (SELECT pid, percent_rank() OVER (PARTITION BY pid ORDER BY days) AS n FROM win_visit_dp) t WHERE n < 0.5;
SELECT count(x) FROM (SELECT last_value(days) OVER (PARTITION BY pid ORDER BY vid) AS x FROM win_visit_dp) t;
SELECT count(x) FROM (SELECT nth_value(days, 2) OVER (PARTITION BY pid ORDER BY vid) AS x FROM win_visit_dp) t;
SELECT sum(x) FROM (SELECT sum(days) OVER (PARTITION BY pid ORDER BY vid) AS x FROM win_visit_dp) t;
SELECT sum(x) FROM (SELECT sum(days) OVER (PARTITION BY pid ROWS UNBOUNDED PRECEDING) AS x FROM win_visit_dp) t;
SELECT sum(x) FROM (SELECT count(*) OVER (PARTITION BY pid ORDER BY vid ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS x FROM win_visit_dp) t;
SELECT count(x) FROM (SELECT first_value(days) OVER (PARTITION BY pid ORDER BY vid ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS x FROM win_visit_dp) t;
SELECT count(x) FROM (SELECT first_value(days) OVER (PARTITION BY pid ORDER BY vid ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW) AS x FROM win_visit_dp) t;
SELECT sum(x) FROM (SELECT sum(days::float8) OVER (PARTITION BY pid) AS x FROM win_visit_dp) t;
SELECT sum(x) FROM (SELECT sum(weight) OVER (PARTITION BY pid) AS x FROM win_visit_dp) t;
SELECT count(x) FROM (SELECT array_agg(days) OVER (PARTITION BY pid) AS x FROM win_visit_dp) t;
SELECT count(x) FROM (SELECT lag(days, days) OVER (PARTITION BY pid ORDER BY vid) AS x FROM win_visit_dp) t;
SELECT count(x) FROM (SELECT lag(factorial(days::bigint)) OVER (PARTITION BY pid ORDER BY vid) AS x FROM win_visit_dp) t;
-- Windows over more than one person's rows.
SELECT count(*) FROM (SELECT pid, row_number() OVER (ORDER BY vid) AS n FROM win_visit_dp) t WHERE n = 1;
SELECT count(*) FROM (SELECT pid, row_number() OVER (PARTITION BY reason ORDER BY vid) AS n FROM win_visit_dp) t WHERE n = 1;
SELECT count(*) FROM (SELECT pid, row_number() OVER (PARTITION BY -pid ORDER BY vid) AS n FROM win_visit_dp) t WHERE n = 1;
SELECT count(*) FROM (SELECT row_number() OVER (PARTITION BY pid ORDER BY vid) AS n, lag(days) OVER (ORDER BY vid) AS x FROM win_visit_dp) t WHERE n = 1;
SELECT count(*) FROM (SELECT row_number() OVER (PARTITION BY v.pid) AS n FROM win_person_dp p LEFT JOIN win_visit_dp v USING (pid)) t WHERE n = 1;
SELECT count(*) FROM (SELECT sum(days) OVER (PARTITION BY vid) AS x FROM win_visit_dp) t;
-- What is not aggregated (tools ask for no row to learn the columns); what chooses among rows, or is grouped beside.
SELECT * FROM win_step_dp LIMIT 0;
SELECT * FROM win_step_dp LIMIT 1;
SELECT pid, row_number() OVER (PARTITION BY pid) FROM win_visit_dp;
SELECT count(*) FROM (SELECT pid, reason, row_number() OVER (PARTITION BY pid ORDER BY count(*)) AS n FROM win_visit_dp GROUP BY pid, reason) t WHERE n = 1;
SELECT count(*) FROM (SELECT DISTINCT pid, first_value(reason) OVER (PARTITION BY pid ORDER BY vid) AS r FROM win_visit_dp) t;
SELECT count(*) FROM (SELECT pid, row_number() OVER (PARTITION BY pid ORDER BY vid) AS n FROM win_visit_dp LIMIT 3) t;
SELECT count(*) FROM win_person_dp p, LATERAL (SELECT v.pid, row_number() OVER (PARTITION BY v.pid ORDER BY vid) AS n FROM win_visit_dp v WHERE v.pid = p.pid) t WHERE n = 1;
SELECT count(*) FROM win_person_dp p JOIN (SELECT row_number() OVER (PARTITION BY pid ORDER BY vid) AS n FROM win_visit_dp) t ON t.n = p.pid;
SELECT count(*) FROM (SELECT pid, days FROM win_visit_dp ORDER BY row_number() OVER (PARTITION BY pid)) t;
SELECT * FROM dp_rdr.release('SELECT count(*) FROM (SELECT days FROM public.win_visit_dp ORDER BY row_number() OVER (PARTITION BY pid)) t', NULL::numeric, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint);
-- Columns of which equal values may look different, also where they are only shown.
SELECT count(*) FROM (SELECT pid, note, row_number() OVER (PARTITION BY pid) AS n FROM win_visit_dp) t WHERE n = 1;
SELECT count(*) FROM (SELECT pid, row_number() OVER (PARTITION BY pid ORDER BY span) AS n FROM win_visit_dp) t WHERE n = 1;
SELECT count(*) FROM (SELECT pid, row_number() OVER (PARTITION BY pid ORDER BY vid USING OPERATOR(pg_catalog.<)) AS n, lag(note) OVER (PARTITION BY pid ORDER BY vid) AS x FROM win_visit_dp) t WHERE x IS NULL;
-- Too many.
SELECT format('SELECT count(*) FROM (SELECT pid, %s FROM win_visit_dp) t', string_agg(format('row_number() OVER (PARTITION BY pid ORDER BY vid + %s) AS n%s', i, i), ', ')) AS many FROM generate_series(1, 17) i \gset
:many;
RESET ROLE;
SELECT count(*) - :charged AS charged_since FROM dp_rdr.ledger;
