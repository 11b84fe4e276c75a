-- One row for each person in a sub-SELECT, and an aggregation above it. Where limits are ample answers are those of plain SQL over the
-- tables: noise is small at epsilon 100, beyond 25 times its scale it is once in 10^10 draws.
\set VERBOSITY default
LOAD 'dp_rdr';
SET ROLE regress_controller;
CREATE TABLE pu_patient (pid integer PRIMARY KEY, sex text, age integer);
INSERT INTO pu_patient SELECT i, CASE WHEN i % 3 = 0 THEN 'f' ELSE 'm' END, i % 90 FROM generate_series(1, 900) i;
CREATE TABLE pu_visit (vid integer PRIMARY KEY, pid integer, reason text, cost numeric(8, 2), days integer, urgent boolean, admitted date, score float8);
INSERT INTO pu_visit
SELECT p * 100 + v, CASE WHEN p % 97 = 0 THEN NULL ELSE p END, (ARRAY['heart', 'lung', 'bone'])[1 + (p + v) % 3], CASE WHEN (p + v) % 11 > 0 THEN (p * 7 + v * 131) % 997 + 0.50 END,
       (p + v) % 15, CASE WHEN (p * v) % 5 > 0 THEN (p * v) % 5 < 2 END, date '2024-01-01' + (p * 13 + v * 31) % 360, p / 7.0
FROM generate_series(1, 900) p, generate_series(1, p % 7) v;
CREATE TABLE pu_code (reason text PRIMARY KEY, organ boolean, weight integer);
INSERT INTO pu_code VALUES ('heart', true, 3), ('lung', true, 2), ('bone', false, 1);
SELECT dp_protect('pu_patient', 'pu_patient_dp', unit => 'pid');
SELECT dp_protect('pu_visit', 'pu_visit_dp', unit => 'pid -> pu_patient(pid)', max_rows => 10);
SELECT dp_set_bounds('pu_visit', 'cost', 0, 1000), dp_set_bounds('pu_visit', 'days', 0, 20), dp_set_bounds('pu_visit', 'admitted', date '2024-01-01', date '2024-12-31'),
       dp_set_bounds('pu_patient', 'age', 0, 90), dp_set_groups('pu_visit', 'reason', '{heart,lung,bone}'), dp_set_groups('pu_patient', 'sex', '{f,m}');
SELECT dp_set_public('pu_code', 'pu_patient');
GRANT SELECT ON pu_code TO regress_analyst;
SELECT dp_set_odometer('pu_patient', 'none', delta_total => 0.9);
-- With replay: questions that differ below alone must be different ones.
SELECT dp_grant(v, 'regress_analyst', tau => 0, candidates => '{100}', epsilon_max => 100, delta => 1e-6, replay => '1 day') FROM unnest('{pu_patient_dp,pu_visit_dp}'::regclass[]) v;

-- ---------------------------------------------------------------------------------------------------------------------
-- What plain SQL says
-- ---------------------------------------------------------------------------------------------------------------------

CREATE VIEW pu_per AS SELECT pid AS person, count(*) AS visits FROM pu_visit WHERE pid IS NOT NULL GROUP BY pid;
CREATE VIEW pu_per_dp AS SELECT pid AS person, count(*) AS visits FROM pu_visit_dp WHERE pid IS NOT NULL GROUP BY pid;
GRANT SELECT ON pu_per_dp TO regress_analyst;

-- query: columns g and x, over the tables where _dp is taken away. d: the largest value of one person; measures: that share epsilon.
CREATE TABLE pu_query (name text PRIMARY KEY, query text, d numeric, measures integer);
INSERT INTO pu_query VALUES
('people', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT pid, count(*) FROM pu_visit_dp WHERE pid IS NOT NULL GROUP BY pid) t', 1, 1),
('names that are given again', 'SELECT NULL::text AS g, sum(c2) AS x FROM (SELECT count(*) AS c2, 2 * count(*), pid, 3 * count(*) AS c4, 4 * count(*) FROM pu_visit_dp WHERE pid IS NOT NULL GROUP BY pid) t', 10, 1),
('a view', 'SELECT NULL::text AS g, sum(visits) AS x FROM pu_per_dp', 10, 1),
('names', 'SELECT NULL::text AS g, sum("the rows") + sum("Sum") AS x FROM (SELECT pid AS "who is it", count(*), count(urgent), count(*) AS "the rows", sum(days) AS "Sum", sum(days) FROM pu_visit_dp WHERE pid IS NOT NULL GROUP BY 1) AS t (a, b, c, "the rows")', 210, 2),
('people by name', 'SELECT NULL::text AS g, count(DISTINCT pid) + count(pid) AS x FROM (SELECT pid, count(*) FROM pu_visit_dp WHERE pid IS NOT NULL GROUP BY pid) t', 1, 1),
('people, no aggregate below', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT pid FROM pu_visit_dp WHERE pid IS NOT NULL AND urgent GROUP BY pid) t', 1, 1),
('rows of people', 'SELECT NULL::text AS g, sum(n) AS x FROM (SELECT pid, count(*) AS n FROM pu_visit_dp WHERE pid IS NOT NULL GROUP BY pid) t', 10, 1),
('on average', 'SELECT NULL::text AS g, avg(n) * 100 AS x FROM (SELECT pid, count(*) AS n FROM pu_visit_dp WHERE pid IS NOT NULL GROUP BY pid) t', 10, 2),
('who comes again', 'SELECT NULL::text AS g, count(*) FILTER (WHERE n > 1) AS x FROM (SELECT pid, count(*) AS n FROM pu_visit_dp WHERE pid IS NOT NULL GROUP BY pid) t', 1, 1),
('a histogram', 'SELECT n::text AS g, count(*) AS x FROM (SELECT pid, count(*) AS n FROM pu_visit_dp WHERE pid IS NOT NULL GROUP BY pid) t GROUP BY n', 1, 1),
('none as well', 'SELECT n::text AS g, count(*) AS x FROM (SELECT p.pid, count(v.vid) AS n FROM pu_patient_dp p LEFT JOIN pu_visit_dp v ON v.pid = p.pid GROUP BY p.pid) t GROUP BY n', 1, 1),
('bands', 'SELECT CASE WHEN cost < 500 THEN ''a'' WHEN cost < 1500 THEN ''b'' ELSE ''c'' END AS g, count(*) AS x FROM (SELECT pid, sum(cost) AS cost FROM pu_visit_dp WHERE pid IS NOT NULL GROUP BY pid) t GROUP BY 1', 1, 1),
('spent', 'SELECT NULL::text AS g, sum(cost) AS x FROM (SELECT pid, sum(cost) AS cost FROM pu_visit_dp WHERE pid IS NOT NULL GROUP BY pid) t', 10000, 1),
('capped', 'SELECT NULL::text AS g, sum(least(cost, 100)) AS x FROM (SELECT pid, sum(cost) AS cost FROM pu_visit_dp WHERE pid IS NOT NULL GROUP BY pid) t', 10000, 1),
('having', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT pid FROM pu_visit_dp WHERE pid IS NOT NULL GROUP BY pid HAVING count(*) >= 3 AND sum(days) < 30) t', 1, 1),
('where above', 'SELECT NULL::text AS g, sum(n) AS x FROM (SELECT pid, count(*) AS n, max(days) AS longest FROM pu_visit_dp WHERE pid IS NOT NULL GROUP BY pid) t WHERE longest > 10', 10, 1),
('of the two', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT pid FROM pu_visit_dp WHERE reason IN (''heart'', ''lung'') AND pid IS NOT NULL GROUP BY pid HAVING count(DISTINCT reason) = 2) t', 1, 1),
('some and all', 'SELECT NULL::text AS g, count(*) FILTER (WHERE any_urgent AND NOT all_urgent) AS x FROM (SELECT pid, bool_or(urgent) AS any_urgent, bool_and(urgent) AS all_urgent FROM pu_visit_dp WHERE pid IS NOT NULL GROUP BY pid) t', 1, 1),
('first month', 'SELECT date_trunc(''month'', first)::text AS g, count(*) AS x FROM (SELECT pid, min(admitted) AS first FROM pu_visit_dp WHERE pid IS NOT NULL GROUP BY pid) t GROUP BY date_trunc(''month'', first)', 1, 1),
('between', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT pid, min(admitted) AS first, max(admitted) AS last FROM pu_visit_dp WHERE pid IS NOT NULL GROUP BY pid) t WHERE last - first > 90', 1, 1),
('expressions below', 'SELECT NULL::text AS g, sum(x) AS x FROM (SELECT pid, 2 * count(*) + coalesce(sum(days), 0) AS x FROM pu_visit_dp WHERE pid IS NOT NULL GROUP BY pid) t', 220, 1),
('filters below', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT pid, count(*) FILTER (WHERE reason = ''lung'') AS lung, count(*) FILTER (WHERE urgent) AS urgent FROM pu_visit_dp WHERE pid IS NOT NULL GROUP BY pid) t WHERE lung > urgent', 1, 1),
('averages', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT pid, avg(cost) AS a, avg(days) AS b FROM pu_visit_dp WHERE pid IS NOT NULL GROUP BY pid) t WHERE a > 400 AND b < 8', 1, 1),
('WITH', 'WITH t AS (SELECT pid, count(*) AS n FROM pu_visit_dp WHERE pid IS NOT NULL GROUP BY pid) SELECT NULL::text AS g, count(*) AS x FROM t WHERE n = 2', 1, 1),
('a join below', 'SELECT NULL::text AS g, sum(x) AS x FROM (SELECT p.pid, sum(v.days) FILTER (WHERE p.sex = ''f'') AS x FROM pu_patient_dp p JOIN pu_visit_dp v ON v.pid = p.pid WHERE p.age > 20 GROUP BY p.pid) t', 200, 1),
('a public table below', 'SELECT n::text AS g, count(*) AS x FROM (SELECT v.pid, count(*) FILTER (WHERE c.organ) AS n FROM pu_visit_dp v JOIN pu_code c ON c.reason = v.reason WHERE v.pid IS NOT NULL GROUP BY v.pid) t GROUP BY n', 1, 1),
('EXISTS below', 'SELECT NULL::text AS g, sum(n) AS x FROM (SELECT p.pid, count(*) AS n FROM pu_visit_dp p WHERE p.pid IS NOT NULL AND EXISTS (SELECT FROM pu_visit_dp u WHERE u.pid = p.pid AND u.urgent) GROUP BY p.pid) t', 10, 1),
('sub-SELECTs below', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT who, count(*) AS n FROM (SELECT pid AS who, days AS d FROM pu_visit_dp WHERE pid IS NOT NULL) v WHERE d > 7 GROUP BY who) t WHERE n > 1', 1, 1),
('two of them', 'SELECT NULL::text AS g, (SELECT count(*) FROM (SELECT pid FROM pu_visit_dp WHERE pid IS NOT NULL AND urgent GROUP BY pid) a) + (SELECT count(*) FROM (SELECT pid FROM pu_visit_dp WHERE pid IS NOT NULL GROUP BY pid) b) AS x', 2, 2),
('the median', 'SELECT NULL::text AS g, percentile_disc(0.5) WITHIN GROUP (ORDER BY n) * 1000 AS x FROM (SELECT pid, count(*) AS n FROM pu_visit_dp WHERE pid IS NOT NULL GROUP BY pid) t', 1, 1),
('different numbers', 'SELECT NULL::text AS g, count(DISTINCT n) * 1000 AS x FROM (SELECT pid, count(*) AS n FROM pu_visit_dp WHERE pid IS NOT NULL GROUP BY pid) t', 40, 1),
('constants', 'SELECT NULL::text AS g, sum(CASE WHEN n > 3 THEN 1 ELSE 0 END) AS x FROM (SELECT pid, count(*) AS n FROM pu_visit_dp WHERE pid IS NOT NULL GROUP BY pid) t', 1, 1),
('having above', 'SELECT n::text AS g, count(*) AS x FROM (SELECT pid, count(*) AS n FROM pu_visit_dp WHERE pid IS NOT NULL GROUP BY pid) t GROUP BY n HAVING count(*) > 100', 1, 1);
CREATE TABLE pu_reference (name text, g text, x numeric);
DO $$
DECLARE
    q pu_query;
BEGIN
    FOR q IN SELECT * FROM pu_query LOOP
        EXECUTE format('INSERT INTO pu_reference SELECT %L, * FROM (%s) q', q.name, replace(q.query, '_dp', ''));
    END LOOP;
END $$;
GRANT SELECT ON pu_query TO regress_analyst;
CREATE TABLE pu_answer (name text, g text, x numeric);
GRANT INSERT ON pu_answer TO regress_analyst;
SET ROLE regress_analyst;
DO $$
DECLARE
    q pu_query;
BEGIN
    FOR q IN SELECT * FROM pu_query LOOP
        EXECUTE format('INSERT INTO pu_answer SELECT %L, * FROM (%s) q', q.name, q.query);
    END LOOP;
END $$;
SET ROLE regress_controller;
SELECT a.name, count(*) FILTER (WHERE r.x IS NOT NULL) AS groups, count(*) FILTER (WHERE r.x IS NULL) AS empty, bool_and(abs(a.x - coalesce(r.x, 0)) <= 25 * d * measures / 100 + 1) AS agree
FROM pu_query NATURAL JOIN pu_answer a LEFT JOIN pu_reference r ON r.name = a.name AND r.g IS NOT DISTINCT FROM a.g GROUP BY 1 ORDER BY a.name COLLATE "C";
-- No group of the reference is missing, and they say something: what is counted is far more than the noise.
SELECT r.name, r.g FROM pu_reference r LEFT JOIN pu_answer a ON r.name = a.name AND r.g IS NOT DISTINCT FROM a.g WHERE a.name IS NULL;
SELECT count(*) AS queries, count(*) FILTER (WHERE most > 3 * (25 * d * measures / 100 + 1)) AS far
FROM (SELECT name, max(x) AS most FROM pu_reference GROUP BY name) r NATURAL JOIN pu_query;

-- ---------------------------------------------------------------------------------------------------------------------
-- What one person is worth
-- ---------------------------------------------------------------------------------------------------------------------

-- Somebody with 500 visits is one person; his counts and sums stop at those of max_rows, and at the bounds.
SELECT dp_protect('pu_visit', 'pu_few_dp', filter => 'pid <= 2');
SELECT dp_grant('pu_few_dp', 'regress_analyst', tau => 0, candidates => '{100}', epsilon_max => 100, delta => 1e-6);
INSERT INTO pu_visit SELECT 1000000 + i, 2, 'lung', 1999 * i, 20, true, '2025-05-05', 'NaN' FROM generate_series(1, 500) i;
SET ROLE regress_analyst;
SELECT abs(n - 2) < 3 AS people, abs(rows - 11) < 12 AS rows, cost BETWEEN 2000 AND 18000 AS cost
FROM (SELECT count(*) AS n, sum(n) AS rows, sum(cost) AS cost FROM (SELECT pid, count(*) AS n, sum(cost) AS cost FROM pu_few_dp GROUP BY pid) t) q;
-- In the last group, rather than in none.
SELECT n FROM (SELECT n, count(*) AS people FROM (SELECT pid, count(*) AS n FROM pu_few_dp GROUP BY pid) t GROUP BY n) q WHERE people > 0.5 AND n > 7;
SELECT month FROM (SELECT date_trunc('month', last)::date AS month, count(*) AS people FROM (SELECT pid, max(admitted) AS last FROM pu_few_dp GROUP BY pid) t GROUP BY 1) q WHERE people > 0.5 AND month > '2024-11-01';
SELECT * FROM dp_query('SELECT n, count(*) FROM (SELECT pid, count(*) AS n FROM pu_few_dp GROUP BY pid) t GROUP BY n', max_rows => 3) AS q (n bigint, people bigint) WHERE n > 2 AND people > 0;
SET ROLE regress_controller;
DELETE FROM pu_visit WHERE vid >= 1000000;
-- Parameters at any depth; and another question below is another question, though all above is the same.
SET ROLE regress_analyst;
PREPARE pu_more(integer, text) AS SELECT count(*) AS x FROM (SELECT pid FROM pu_visit_dp WHERE reason <> $2 GROUP BY pid HAVING count(*) > $1) t;
SELECT count(*) AS one, count(*) FILTER (WHERE n > 3) AS four FROM (SELECT pid, count(*) AS n FROM pu_visit_dp WHERE reason <> 'lung' GROUP BY pid) t \gset
EXECUTE pu_more(0, 'lung') \gset first_
EXECUTE pu_more(3, 'lung') \gset second_
SELECT abs(:first_x - :one) < 3 AND abs(:second_x - :four) < 3 AND :one > :four + 100 AS parameters;
DEALLOCATE pu_more;
SELECT count(*) AS again FROM (SELECT pid FROM pu_visit_dp WHERE reason <> 'lung' GROUP BY pid HAVING count(*) > 3) t \gset
SELECT count(*) = :again AS again FROM (SELECT pid FROM pu_visit_dp WHERE reason <> 'lung' GROUP BY pid HAVING count(*) > 3) t;
SELECT reason FROM dp_last_release();
-- Given again is what was asked, though parameters alone tell two columns apart.
SET ROLE regress_controller;
SELECT dp_protect('pu_visit', 'pu_again_dp');
SELECT dp_grant('pu_again_dp', 'regress_analyst', tau => 0, candidates => '{100}', epsilon_max => 100, delta => 1e-6, replay => '1 day');
SET ROLE regress_analyst;
PREPARE pu_some(integer, integer) AS SELECT sum(x) AS x, sum(y) AS y FROM (SELECT pid, sum(days) FILTER (WHERE days > $1) AS x, sum(days) FILTER (WHERE days > $2) AS y FROM pu_again_dp GROUP BY pid) t;
PREPARE pu_swapped(integer, integer) AS SELECT sum(y) AS y, sum(x) AS x FROM (SELECT pid, sum(days) FILTER (WHERE days > $1) AS x, sum(days) FILTER (WHERE days > $2) AS y FROM pu_again_dp GROUP BY pid) t;
EXECUTE pu_some(12, 2) \gset first_
EXECUTE pu_some(12, 2) \gset again_
EXECUTE pu_swapped(2, 12) \gset swapped_
SELECT :first_x = :again_x AND :first_y = :again_y AS again, abs(:first_x - :swapped_y) < 500 AND abs(:first_y - :swapped_x) < 500 AND :first_y > :first_x + 5000 AS swapped;
DEALLOCATE pu_some;
DEALLOCATE pu_swapped;
SET ROLE regress_controller;
-- Extremes: nothing that a row holds makes it fail.
CREATE TABLE pu_odd (pid integer, n numeric, big bigint, small smallint, d date, t timestamp, note text, f float8, yes boolean);
INSERT INTO pu_odd VALUES (1, 'NaN', 9223372036854775807, -32768, 'infinity', '-infinity', repeat('x', 3000000), 'NaN', NULL), (1, 'Infinity', 9223372036854775807, 32767, '-infinity', 'infinity', NULL, 1e308, true),
    (2, '-Infinity', -9223372036854775808, 0, '5874897-12-31', '294276-12-31', '', -1e308, false), (2, 1e1000, -9223372036854775808, NULL, NULL, NULL, 'é', '-Infinity', false), (NULL, 1, 1, 1, NULL, NULL, NULL, 0, true);
SELECT dp_protect('pu_odd', 'pu_odd_dp', unit => 'pid', max_rows => 1000000);
SELECT dp_set_bounds('pu_odd', 'n', -1e290, 1e290), dp_set_odometer('pu_odd', 'none', delta_total => 0.9), dp_grant('pu_odd_dp', 'regress_analyst', tau => 0, candidates => '{100}', epsilon_max => 100, delta => 1e-6);
SET ROLE regress_analyst;
SELECT abs(n) < 4 AS n
FROM (SELECT count(*) FILTER (WHERE s > 1 OR a > 1 OR lo < 1 OR hi > 1 OR b > 1 OR bs > 1 OR sm > 1 OR ba > 1 OR d1 > '2024-01-01' OR t1 > '2024-01-01' OR y OR z OR k + l > 1 OR d2 - d1 > 3) AS n
      FROM (SELECT pid, sum(n) AS s, avg(n) AS a, min(n) AS lo, max(n) AS hi, max(big) AS b, sum(big) AS bs, sum(small) AS sm, avg(big) AS ba, min(d) AS d1, max(d) AS d2, min(t) AS t1,
                   bool_or(yes) AS y, every(yes) AS z, count(DISTINCT note) AS k, count(DISTINCT n) + count(DISTINCT f) AS l
            FROM pu_odd_dp GROUP BY pid) p) q;
-- Two spellings of one value are one, whichever row comes first.
SET ROLE regress_controller;
CREATE TABLE pu_spelled (pid integer, n numeric, PRIMARY KEY (pid, n));
INSERT INTO pu_spelled SELECT i, x FROM generate_series(1, 400) i, unnest('{1.0,3.000}'::numeric[]) x;
SELECT dp_protect('pu_spelled', 'pu_spelled_dp', unit => 'pid', max_rows => 5);
SELECT dp_set_bounds('pu_spelled', 'n', 0, 10), dp_set_odometer('pu_spelled', 'none', delta_total => 0.9), dp_grant('pu_spelled_dp', 'regress_analyst', tau => 0, candidates => '{100}', epsilon_max => 100, delta => 1e-6);
SET ROLE regress_analyst;
SELECT abs(n - 400) < 3 AS spelled FROM (SELECT count(*) FILTER (WHERE low::text = '1' AND high::text = '3') AS n FROM (SELECT pid, min(n) AS low, max(n) AS high FROM pu_spelled_dp GROUP BY pid) t) q;

-- Risks are those of people.
SET ROLE regress_controller;
SELECT count(*) > 0 AS answered FROM dp_risk('SELECT avg(n) FROM (SELECT pid, count(*) AS n FROM pu_visit_dp GROUP BY pid) t', exact => true);
SELECT count(*) > 0 AS answered FROM dp_risk('SELECT avg(days) FROM pu_visit_dp', exact => true);
SET ROLE regress_analyst;

-- ---------------------------------------------------------------------------------------------------------------------
-- What is said beforehand, and in the ledger
-- ---------------------------------------------------------------------------------------------------------------------

SELECT column_name, accepted, reason, error95, unit, max_rows, max_groups
FROM unnest(ARRAY['SELECT count(*), sum(n), avg(cost) FROM (SELECT pid, count(*) AS n, sum(cost) AS cost FROM pu_visit_dp GROUP BY pid) t',
                  'SELECT n, count(*) FROM (SELECT pid, count(*) AS n FROM pu_visit_dp GROUP BY pid) t GROUP BY n',
                  'SELECT count(*) FROM (SELECT pid, sum(score::numeric) AS s FROM pu_visit_dp GROUP BY pid) t WHERE s > 3']) WITH ORDINALITY a (query, i), dp_explain(query) e
ORDER BY i;
SET ROLE regress_controller;
SELECT left(query, 180) AS query, parameters ->> 'unit' AS unit, parameters ->> 'max_rows' AS max_rows, parameters ->> 'rows_of_unit' AS rows_of_unit
FROM dp_rdr.ledger WHERE relation ~ '^public\.pu_' AND query ~ 'reason = ANY|HAVING|AS s1 WHERE|LEFT JOIN|EXISTS' GROUP BY 1, 2, 3, 4 ORDER BY left(query, 180) COLLATE "C";
-- The controller's own view: what one person moves.
SELECT * FROM dp_risk('SELECT count(*), sum(n) FROM (SELECT pid, count(*) AS n FROM pu_visit_dp GROUP BY pid) t', '{1}');
SELECT count(*) AS people, max(individuals) FROM dp_risk_records('SELECT sum(n) FROM (SELECT pid, count(*) AS n FROM pu_visit_dp GROUP BY pid) t', 1);

-- ---------------------------------------------------------------------------------------------------------------------
-- Refused, before anything is charged
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE pu_row (id integer PRIMARY KEY, x integer);
SELECT dp_protect('pu_row', 'pu_row_dp');
SELECT dp_grant('pu_row_dp', 'regress_analyst', tau => 0.5);
SELECT count(*) AS charged FROM dp_rdr.ledger \gset
SET ROLE regress_analyst;
\set VERBOSITY default
SELECT pid, n FROM (SELECT pid, count(*) AS n FROM pu_visit_dp GROUP BY pid) t WHERE n > 3;
SELECT n FROM (SELECT pid, count(*) AS n FROM pu_visit_dp GROUP BY pid) t ORDER BY n LIMIT 1;
SELECT pid, count(*) FROM (SELECT pid, count(*) AS n FROM pu_visit_dp GROUP BY pid) t GROUP BY pid;
SELECT max(pid) FROM (SELECT pid FROM pu_visit_dp GROUP BY pid) t;
SELECT count(t) FROM (SELECT pid, count(*) AS n FROM pu_visit_dp GROUP BY pid) t;
SELECT avg(x) FROM (SELECT pid, sum(score) AS x FROM pu_visit_dp GROUP BY pid) t;
SELECT avg(x) FROM (SELECT pid, min(score) AS x FROM pu_visit_dp GROUP BY pid) t;
SELECT count(x) FROM (SELECT pid, string_agg(reason, ',') AS x FROM pu_visit_dp GROUP BY pid) t;
SELECT count(x) FROM (SELECT pid, stddev_pop(days) AS x FROM pu_visit_dp GROUP BY pid) t;
SELECT count(x) FROM (SELECT pid, percentile_disc(0.5) WITHIN GROUP (ORDER BY days) AS x FROM pu_visit_dp GROUP BY pid) t;
SELECT sum(x) FROM (SELECT pid, sum(DISTINCT days) AS x FROM pu_visit_dp GROUP BY pid) t;
SELECT count(*) FROM (SELECT pid FROM pu_visit_dp GROUP BY pid HAVING lower(max(days)::text) = 'x' AND pg_sleep(count(*)) IS NOT NULL) t;
SELECT count(*) FROM (SELECT pid, count(*) AS n, row_number() OVER () AS r FROM pu_visit_dp GROUP BY pid) t;
SELECT count(*) FROM (SELECT pid, count(*) AS n FROM pu_visit_dp GROUP BY pid LIMIT 10) t;
SELECT count(*) FROM (SELECT DISTINCT pid, count(*) AS n FROM pu_visit_dp GROUP BY pid) t;
SELECT count(*) FROM (SELECT pid, generate_series(1, count(*)) AS n FROM pu_visit_dp GROUP BY pid) t;
SELECT count(*) FROM (SELECT pid, count(*) FROM pu_visit_dp GROUP BY ROLLUP (pid)) t;
SELECT count(*) FROM (SELECT id, count(*) FROM pu_row_dp GROUP BY id) t;
SELECT count(*) FROM (SELECT o.pid, count(*) FROM pu_patient_dp p LEFT JOIN pu_visit_dp o ON o.pid = p.pid GROUP BY o.pid) t;
SELECT count(*) FROM (SELECT pid, (SELECT count(*) FROM pu_row_dp) AS n FROM pu_visit_dp GROUP BY pid) t WHERE n > 1000;
SELECT t.n FROM (SELECT pid, count(*) AS n FROM pu_visit_dp GROUP BY pid) t JOIN pu_patient_dp p USING (pid);
SELECT (SELECT count(*) FROM (SELECT pid, sum(c.weight) AS n FROM pu_visit_dp GROUP BY pid) t) FROM pu_code c;
SELECT (SELECT count(*) FROM (SELECT pid, count(*) + c.weight AS n FROM pu_visit_dp GROUP BY pid) t WHERE n > 2) FROM pu_code c;
SELECT (SELECT count(*) FROM (SELECT pid, count(*) AS n FROM pu_visit_dp GROUP BY pid) t WHERE n > c.weight) FROM pu_code c;
-- Each level names the one below many times; and so many aggregates that they are no record.
SELECT attempt(format('SELECT %s FROM (SELECT pid, %s AS x FROM pu_visit_dp GROUP BY pid) t', string_agg('sum(x + ' || i || ')', ', '), (SELECT string_agg('count(*)', ' + ') FROM generate_series(1, 300))))
FROM generate_series(1, 300) i;
SELECT attempt(format('SELECT sum(x) FROM (SELECT pid, %s AS x FROM pu_visit_dp GROUP BY pid) t', string_agg('sum(days+' || i || ')', ' + '))) FROM generate_series(1, 1100) i;
SELECT dp_request('SELECT count(*) FROM (SELECT pid, count(*) AS n FROM pu_visit_dp GROUP BY pid) t', 'why');
SET ROLE regress_controller;
SELECT count(*) - :charged AS charged FROM dp_rdr.ledger;
RESET ROLE;
