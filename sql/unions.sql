-- UNION of rows of people as a source (formulas.md, 9.19). Where limits are ample answers are those of plain SQL over the tables (as in people_sources.sql).
\set VERBOSITY default
LOAD 'dp_rdr';
SET ROLE regress_controller;
CREATE TABLE uo_person (pid integer PRIMARY KEY, sex text NOT NULL, age integer NOT NULL);
INSERT INTO uo_person SELECT i, CASE WHEN i % 3 = 0 THEN 'f' ELSE 'm' END, i % 90 FROM generate_series(1, 600) i;
CREATE TABLE uo_order (oid integer PRIMARY KEY, pid integer, kind text, worth numeric(8, 2), amount smallint, day date);
INSERT INTO uo_order SELECT p * 10 + v, CASE WHEN p % 97 = 0 THEN NULL ELSE p END, (ARRAY['book', 'pen'])[1 + (p + v) % 2], (p * 7 + v * 31) % 97 + 0.50, (p + v) % 9,
       date '2024-01-01' + (p * 13 + v * 31) % 360 FROM generate_series(1, 600) p, generate_series(1, p % 5) v;
CREATE TABLE uo_return (rid integer PRIMARY KEY, pid integer NOT NULL, kind text, worth numeric(6, 1), amount bigint, day date);
INSERT INTO uo_return SELECT p * 10 + v, p, (ARRAY['book', 'lamp'])[1 + (p + v) % 2], (p * 3 + v * 17) % 50, (p + v) % 4, date '2024-01-01' + (p * 5 + v * 11) % 360
FROM generate_series(1, 600) p, generate_series(1, p % 3) v;
CREATE TABLE uo_kind (kind text PRIMARY KEY, paper boolean);
INSERT INTO uo_kind VALUES ('book', true), ('pen', false), ('lamp', false);
CREATE TABLE uo_row (rid integer PRIMARY KEY, x integer);
INSERT INTO uo_row SELECT i, i % 10 FROM generate_series(1, 500) i;
SELECT dp_protect('uo_person', 'uo_person_dp', unit => 'pid');
SELECT dp_protect('uo_order', 'uo_order_dp', unit => 'pid -> uo_person(pid)', max_rows => 5), dp_protect('uo_return', 'uo_return_dp', unit => 'pid -> uo_person(pid)', max_rows => 3);
SELECT dp_protect('uo_row', 'uo_row_dp');
SELECT dp_set_bounds('uo_order', 'worth', 0, 100), dp_set_bounds('uo_return', 'worth', 0, 50), dp_set_bounds('uo_order', 'amount', 0, 8), dp_set_bounds('uo_return', 'amount', 0, 3),
       dp_set_bounds('uo_order', 'day', date '2024-01-01', date '2024-12-31'), dp_set_bounds('uo_return', 'day', date '2024-01-01', date '2024-12-31'),
       dp_set_groups('uo_order', 'kind', '{book,pen}'), dp_set_groups('uo_return', 'kind', '{book,lamp}'), dp_set_groups('uo_person', 'sex', '{f,m}'), dp_set_bounds('uo_person', 'age', 0, 90);
SELECT dp_set_public('uo_kind', 'uo_person');
GRANT SELECT ON uo_kind TO regress_analyst;
SELECT dp_set_odometer('uo_person', 'none', delta_total => 0.9), dp_set_odometer('uo_row', 'none', delta_total => 0.9);
SELECT dp_grant(v, 'regress_analyst', tau => 0, candidates => '{100}', epsilon_max => 100, delta => 1e-6) FROM unnest('{uo_person_dp,uo_order_dp,uo_return_dp,uo_row_dp}'::regclass[]) v;
CREATE VIEW uo_both AS SELECT pid, day FROM uo_order WHERE pid IS NOT NULL UNION ALL SELECT pid, day FROM uo_return;
CREATE VIEW uo_both_dp AS SELECT pid, day FROM uo_order_dp WHERE pid IS NOT NULL UNION ALL SELECT pid, day FROM uo_return_dp;
GRANT SELECT ON uo_both_dp TO regress_analyst;

-- ---------------------------------------------------------------------------------------------------------------------
-- What plain SQL says
-- ---------------------------------------------------------------------------------------------------------------------

-- query: columns g and x, over the tables where _dp is taken away. d: the largest that one person brings; measures: that share epsilon.
CREATE TABLE uo_query (name text PRIMARY KEY, query text, d numeric, measures integer);
INSERT INTO uo_query VALUES
('rows', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT pid FROM uo_order_dp WHERE pid IS NOT NULL UNION ALL SELECT pid FROM uo_return_dp) u', 8, 1),
('rows that name nobody', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT FROM uo_order_dp WHERE pid IS NOT NULL UNION ALL SELECT FROM uo_return_dp) u', 8, 1),
('people', 'SELECT NULL::text AS g, count(DISTINCT pid) AS x FROM (SELECT pid, day FROM uo_order_dp UNION ALL SELECT pid, day FROM uo_return_dp) u', 1, 1),
('three of one view', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT pid FROM uo_return_dp UNION ALL SELECT pid FROM uo_return_dp UNION ALL SELECT pid FROM uo_return_dp WHERE day > ''2024-06-30'') u', 9, 1),
('sums of two types', 'SELECT NULL::text AS g, sum(worth) AS x FROM (SELECT worth FROM uo_order_dp WHERE pid IS NOT NULL UNION ALL SELECT -worth FROM uo_return_dp) u', 800, 1),
('whole numbers of two types', 'SELECT NULL::text AS g, sum(amount) AS x FROM (SELECT pid, amount FROM uo_order_dp WHERE pid IS NOT NULL UNION ALL SELECT pid, amount FROM uo_return_dp) u', 64, 1),
('declared groups of both', 'SELECT kind AS g, count(*) AS x FROM (SELECT kind, pid FROM uo_order_dp WHERE pid IS NOT NULL UNION ALL SELECT kind, pid FROM uo_return_dp) u GROUP BY kind', 8, 1),
('a constant for each', 'SELECT what AS g, count(*) AS x FROM (SELECT ''order'' AS what, pid FROM uo_order_dp WHERE pid IS NOT NULL UNION ALL SELECT ''return'', pid FROM uo_return_dp) u GROUP BY what', 8, 1),
('months', 'SELECT date_trunc(''month'', day)::date::text AS g, count(*) AS x FROM (SELECT pid, day FROM uo_order_dp WHERE pid IS NOT NULL UNION ALL SELECT pid, day FROM uo_return_dp) u WHERE day < ''2024-07-01'' GROUP BY date_trunc(''month'', day)', 8, 1),
('a view of both', 'SELECT NULL::text AS g, count(*) AS x FROM uo_both_dp WHERE day >= ''2024-03-01''', 8, 1),
('joined', 'SELECT p.sex AS g, count(*) AS x FROM uo_person_dp p JOIN (SELECT pid, day FROM uo_order_dp UNION ALL SELECT pid, day FROM uo_return_dp) u USING (pid) GROUP BY p.sex', 8, 1),
('outer-joined', 'SELECT NULL::text AS g, count(u.day) AS x FROM uo_person_dp p LEFT JOIN uo_both_dp u ON u.pid = p.pid AND u.day < ''2024-03-01''', 8, 1),
('beside a public table', 'SELECT k.paper::text AS g, count(*) AS x FROM (SELECT kind, pid FROM uo_order_dp WHERE pid IS NOT NULL UNION ALL SELECT kind, pid FROM uo_return_dp) u JOIN uo_kind k USING (kind) GROUP BY k.paper', 8, 1),
('a public table below', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT o.pid FROM uo_order_dp o JOIN uo_kind k USING (kind) WHERE k.paper AND o.pid IS NOT NULL UNION ALL SELECT pid FROM uo_return_dp) u', 8, 1),
('people below', 'SELECT NULL::text AS g, sum(n) AS x FROM (SELECT pid, count(*) AS n FROM uo_order_dp WHERE pid IS NOT NULL GROUP BY pid UNION ALL SELECT pid, count(*) FROM uo_return_dp GROUP BY pid) u', 10, 1),
('people above', 'SELECT n::text AS g, count(*) AS x FROM (SELECT pid, count(*) AS n FROM uo_both_dp GROUP BY pid) t WHERE n < 4 GROUP BY n', 1, 1),
('in each other', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT pid FROM uo_return_dp UNION ALL (SELECT pid FROM uo_order_dp WHERE pid IS NOT NULL UNION ALL SELECT pid FROM uo_person_dp ORDER BY 1)) u', 9, 1),
('WITH, twice', 'WITH r AS (SELECT pid, day FROM uo_return_dp), u AS (SELECT * FROM r UNION ALL SELECT * FROM r) SELECT NULL::text AS g, count(*) AS x FROM u', 6, 1),
('EXISTS below', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT p.pid FROM uo_person_dp p WHERE EXISTS (SELECT FROM uo_return_dp r WHERE r.pid = p.pid) UNION ALL SELECT pid FROM uo_person_dp WHERE age > 60) u', 2, 1),
('IN below', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT p.pid FROM uo_person_dp p WHERE p.pid IN (SELECT pid FROM uo_return_dp GROUP BY pid HAVING count(*) > 1) UNION ALL SELECT pid FROM uo_person_dp WHERE age > 60) u', 2, 1),
('UNION', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT pid FROM uo_order_dp WHERE pid IS NOT NULL UNION SELECT pid FROM uo_return_dp) u', 8, 1),
('UNION, kinds', 'SELECT kind AS g, count(*) AS x FROM (SELECT pid, kind FROM uo_order_dp WHERE pid IS NOT NULL UNION SELECT pid, kind FROM uo_return_dp) u GROUP BY kind', 8, 1),
('UNION, joined', 'SELECT p.sex AS g, count(*) AS x FROM uo_person_dp p JOIN (SELECT pid, kind FROM uo_order_dp UNION SELECT pid, kind FROM uo_return_dp) u USING (pid) GROUP BY p.sex', 8, 1),
('FULL JOIN, as its hint says', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT p.pid FROM uo_person_dp p LEFT JOIN uo_return_dp r ON r.pid = p.pid UNION ALL SELECT r.pid FROM uo_return_dp r LEFT JOIN uo_person_dp p ON r.pid = p.pid WHERE p.pid IS NULL) u', 6, 1),
('INTERSECT', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT pid FROM uo_order_dp INTERSECT SELECT pid FROM uo_return_dp) u', 1, 1),
('INTERSECT, kinds', 'SELECT kind AS g, count(*) AS x FROM (SELECT pid, kind FROM uo_order_dp WHERE pid IS NOT NULL INTERSECT SELECT pid, kind FROM uo_return_dp) u GROUP BY kind', 8, 1),
('EXCEPT', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT pid FROM uo_person_dp EXCEPT SELECT pid FROM uo_return_dp) u', 9, 1),
('EXCEPT of a UNION', 'SELECT p.sex AS g, count(*) AS x FROM uo_person_dp p JOIN (SELECT pid FROM uo_person_dp EXCEPT (SELECT pid FROM uo_return_dp UNION SELECT pid FROM uo_order_dp)) u USING (pid) GROUP BY p.sex', 9, 1),
('UNION, groups alone', 'SELECT kind AS g, 1 AS x FROM uo_order_dp UNION SELECT kind, 1 FROM uo_return_dp', 8, 1);
CREATE TABLE uo_reference (name text, g text, x numeric);
DO $$
DECLARE
    q uo_query;
BEGIN
    FOR q IN SELECT * FROM uo_query LOOP
        EXECUTE format('INSERT INTO uo_reference SELECT %L, * FROM (%s) q', q.name, replace(q.query, '_dp', ''));
    END LOOP;
END $$;
GRANT SELECT ON uo_query TO regress_analyst;
CREATE TABLE uo_answer (name text, g text, x numeric);
GRANT INSERT ON uo_answer TO regress_analyst;
SET ROLE regress_analyst;
DO $$
DECLARE
    q uo_query;
BEGIN
    FOR q IN SELECT * FROM uo_query LOOP
        BEGIN
            EXECUTE format('INSERT INTO uo_answer SELECT %L, * FROM (%s) q', q.name, q.query);
        EXCEPTION WHEN OTHERS THEN
            RAISE NOTICE '%: %', q.name, SQLERRM;
        END;
    END LOOP;
END $$;
SET ROLE regress_controller;
SELECT a.name, count(*) FILTER (WHERE r.x IS NOT NULL) AS groups, bool_and(abs(a.x - coalesce(r.x, 0)) <= 25 * d * measures / 100 + 1) AS agree
FROM uo_query NATURAL JOIN uo_answer a LEFT JOIN uo_reference r ON r.name = a.name AND r.g IS NOT DISTINCT FROM a.g GROUP BY 1 ORDER BY a.name COLLATE "C";
-- No group of the reference is missing.
SELECT r.name, r.g FROM uo_reference r LEFT JOIN uo_answer a ON r.name = a.name AND r.g IS NOT DISTINCT FROM a.g WHERE a.name IS NULL;

-- ---------------------------------------------------------------------------------------------------------------------
-- How many rows of a person there are, and what the ledger shows
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_analyst;
SELECT i, column_name, accepted, unit, max_rows, max_groups
FROM unnest(ARRAY['SELECT count(*) FROM uo_both_dp', 'SELECT count(*) FROM uo_person_dp p JOIN uo_both_dp u USING (pid)', 'SELECT count(*) FROM uo_both_dp a JOIN uo_both_dp b ON a.pid = b.pid AND a.day = b.day',
                  'SELECT count(*) FROM (SELECT pid, day FROM uo_order_dp UNION SELECT pid, day FROM uo_return_dp) u',
                  'SELECT count(*) FROM (SELECT pid, count(*) FROM uo_order_dp GROUP BY pid UNION ALL SELECT pid, 0 FROM uo_return_dp) u']) WITH ORDINALITY a (query, i), dp_explain(query) e ORDER BY i;
SET ROLE regress_controller;
SELECT DISTINCT query, parameters ->> 'tables' AS tables, parameters ->> 'max_rows' AS max_rows FROM dp_rdr.ledger WHERE query ~ 'UNION ALL' AND query ~ 'uo_' ORDER BY 1 LIMIT 4;
-- What one person moves: all rows of a person, of both tables.
SELECT count(*) AS people, sum(individuals) AS together FROM dp_risk_records('SELECT count(*) FROM uo_both_dp', 1);

-- ---------------------------------------------------------------------------------------------------------------------
-- Refused, before anything is charged
-- ---------------------------------------------------------------------------------------------------------------------

RESET ROLE;
SELECT count(*) AS charged FROM dp_rdr.ledger \gset
SET ROLE regress_analyst;
-- Which rows there are would depend on other people's; rows of nobody; rows that are people; groups beside rows.
SELECT count(*) FROM (SELECT kind FROM uo_order_dp INTERSECT SELECT kind FROM uo_return_dp) u;
SELECT count(*) FROM (SELECT pid FROM uo_order_dp EXCEPT ALL SELECT pid FROM uo_return_dp) u;
SELECT count(*) FROM (SELECT kind FROM uo_order_dp UNION ALL SELECT kind FROM uo_kind) u;
SELECT count(*) FROM (SELECT x FROM uo_row_dp UNION ALL SELECT x FROM uo_row_dp) u;
SELECT count(*) FROM (SELECT kind FROM uo_order_dp UNION ALL SELECT kind FROM uo_return_dp GROUP BY kind) u;
SELECT count(*) FROM (SELECT pid FROM uo_order_dp UNION SELECT pid FROM uo_return_dp UNION ALL SELECT pid FROM uo_person_dp) u;
SELECT count(*) FROM (SELECT pid FROM uo_order_dp UNION ALL SELECT x FROM uo_row_dp) u;
SELECT count(*) FROM (SELECT pid FROM uo_order_dp UNION ALL SELECT pid FROM uo_return_dp LIMIT 10) u;
-- What it does not show, or not at the same place, links nothing.
SELECT count(*) FROM uo_person_dp p JOIN (SELECT kind FROM uo_order_dp UNION ALL SELECT kind FROM uo_return_dp) u ON u.kind = p.sex;
SELECT count(*) FROM uo_person_dp p JOIN (SELECT pid AS a, oid AS b FROM uo_order_dp UNION ALL SELECT rid, pid FROM uo_return_dp) u ON u.a = p.pid;
SELECT pid, count(*) FROM uo_both_dp GROUP BY pid;
RESET ROLE;
SELECT count(*) - :charged AS charged FROM dp_rdr.ledger;
-- The forms of the hints.
SET ROLE regress_analyst;
SELECT count(*) > 0 AS fine FROM uo_order_dp o WHERE EXISTS (SELECT FROM uo_return_dp r WHERE r.pid = o.pid);
SELECT count(*) > 0 AS fine FROM (SELECT pid FROM (SELECT pid FROM uo_order_dp UNION SELECT pid FROM uo_return_dp) s UNION ALL SELECT pid FROM uo_person_dp) u;
SELECT (SELECT count(*) FROM uo_row_dp) + (SELECT count(*) FROM uo_row_dp WHERE x > 5) > 0 AS fine;
