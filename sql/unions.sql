-- UNION of rows of people as a source (formulas.md, 9.19). Where limits are ample answers are those of plain SQL over the tables (as in people_sources.sql).
\set VERBOSITY default
LOAD 'dp_rdr';
SET ROLE regress_controller;
CREATE TABLE un_person (pid integer PRIMARY KEY, sex text NOT NULL, age integer NOT NULL);
INSERT INTO un_person SELECT i, CASE WHEN i % 3 = 0 THEN 'f' ELSE 'm' END, i % 90 FROM generate_series(1, 600) i;
CREATE TABLE un_order (oid integer PRIMARY KEY, pid integer, kind text, worth numeric(8, 2), amount smallint, day date);
INSERT INTO un_order SELECT p * 10 + v, CASE WHEN p % 97 = 0 THEN NULL ELSE p END, (ARRAY['book', 'pen'])[1 + (p + v) % 2], (p * 7 + v * 31) % 97 + 0.50, (p + v) % 9,
       date '2024-01-01' + (p * 13 + v * 31) % 360 FROM generate_series(1, 600) p, generate_series(1, p % 5) v;
CREATE TABLE un_return (rid integer PRIMARY KEY, pid integer NOT NULL, kind text, worth numeric(6, 1), amount bigint, day date);
INSERT INTO un_return SELECT p * 10 + v, p, (ARRAY['book', 'lamp'])[1 + (p + v) % 2], (p * 3 + v * 17) % 50, (p + v) % 4, date '2024-01-01' + (p * 5 + v * 11) % 360
FROM generate_series(1, 600) p, generate_series(1, p % 3) v;
CREATE TABLE un_kind (kind text PRIMARY KEY, paper boolean);
INSERT INTO un_kind VALUES ('book', true), ('pen', false), ('lamp', false);
CREATE TABLE un_row (rid integer PRIMARY KEY, x integer);
INSERT INTO un_row SELECT i, i % 10 FROM generate_series(1, 500) i;
SELECT dp_protect('un_person', 'un_person_dp', unit => 'pid');
SELECT dp_protect('un_order', 'un_order_dp', unit => 'pid -> un_person(pid)', max_rows => 5), dp_protect('un_return', 'un_return_dp', unit => 'pid -> un_person(pid)', max_rows => 3);
SELECT dp_protect('un_row', 'un_row_dp');
SELECT dp_set_bounds('un_order', 'worth', 0, 100), dp_set_bounds('un_return', 'worth', 0, 50), dp_set_bounds('un_order', 'amount', 0, 8), dp_set_bounds('un_return', 'amount', 0, 3),
       dp_set_bounds('un_order', 'day', date '2024-01-01', date '2024-12-31'), dp_set_bounds('un_return', 'day', date '2024-01-01', date '2024-12-31'),
       dp_set_groups('un_order', 'kind', '{book,pen}'), dp_set_groups('un_return', 'kind', '{book,lamp}'), dp_set_groups('un_person', 'sex', '{f,m}'), dp_set_bounds('un_person', 'age', 0, 90);
SELECT dp_set_public('un_kind', 'un_person');
GRANT SELECT ON un_kind TO regress_analyst;
SELECT dp_set_odometer('un_person', 'none', delta_total => 0.9), dp_set_odometer('un_row', 'none', delta_total => 0.9);
SELECT dp_grant(v, 'regress_analyst', tau => 0, candidates => '{100}', epsilon_max => 100, delta => 1e-6) FROM unnest('{un_person_dp,un_order_dp,un_return_dp,un_row_dp}'::regclass[]) v;
CREATE VIEW un_both AS SELECT pid, day FROM un_order WHERE pid IS NOT NULL UNION ALL SELECT pid, day FROM un_return;
CREATE VIEW un_both_dp AS SELECT pid, day FROM un_order_dp WHERE pid IS NOT NULL UNION ALL SELECT pid, day FROM un_return_dp;
GRANT SELECT ON un_both_dp TO regress_analyst;

-- ---------------------------------------------------------------------------------------------------------------------
-- What plain SQL says
-- ---------------------------------------------------------------------------------------------------------------------

-- query: columns g and x, over the tables where _dp is taken away. d: the largest that one person brings; measures: that share epsilon.
CREATE TABLE un_query (name text PRIMARY KEY, query text, d numeric, measures integer);
INSERT INTO un_query VALUES
('rows', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT pid FROM un_order_dp WHERE pid IS NOT NULL UNION ALL SELECT pid FROM un_return_dp) u', 8, 1),
('rows that name nobody', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT FROM un_order_dp WHERE pid IS NOT NULL UNION ALL SELECT FROM un_return_dp) u', 8, 1),
('people', 'SELECT NULL::text AS g, count(DISTINCT pid) AS x FROM (SELECT pid, day FROM un_order_dp UNION ALL SELECT pid, day FROM un_return_dp) u', 1, 1),
('three of one view', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT pid FROM un_return_dp UNION ALL SELECT pid FROM un_return_dp UNION ALL SELECT pid FROM un_return_dp WHERE day > ''2024-06-30'') u', 9, 1),
('sums of two types', 'SELECT NULL::text AS g, sum(worth) AS x FROM (SELECT worth FROM un_order_dp WHERE pid IS NOT NULL UNION ALL SELECT -worth FROM un_return_dp) u', 800, 1),
('whole numbers of two types', 'SELECT NULL::text AS g, sum(amount) AS x FROM (SELECT pid, amount FROM un_order_dp WHERE pid IS NOT NULL UNION ALL SELECT pid, amount FROM un_return_dp) u', 64, 1),
('declared groups of both', 'SELECT kind AS g, count(*) AS x FROM (SELECT kind, pid FROM un_order_dp WHERE pid IS NOT NULL UNION ALL SELECT kind, pid FROM un_return_dp) u GROUP BY kind', 8, 1),
('a constant for each', 'SELECT what AS g, count(*) AS x FROM (SELECT ''order'' AS what, pid FROM un_order_dp WHERE pid IS NOT NULL UNION ALL SELECT ''return'', pid FROM un_return_dp) u GROUP BY what', 8, 1),
('months', 'SELECT date_trunc(''month'', day)::date::text AS g, count(*) AS x FROM (SELECT pid, day FROM un_order_dp WHERE pid IS NOT NULL UNION ALL SELECT pid, day FROM un_return_dp) u WHERE day < ''2024-07-01'' GROUP BY date_trunc(''month'', day)', 8, 1),
('a view of both', 'SELECT NULL::text AS g, count(*) AS x FROM un_both_dp WHERE day >= ''2024-03-01''', 8, 1),
('joined', 'SELECT p.sex AS g, count(*) AS x FROM un_person_dp p JOIN (SELECT pid, day FROM un_order_dp UNION ALL SELECT pid, day FROM un_return_dp) u USING (pid) GROUP BY p.sex', 8, 1),
('outer-joined', 'SELECT NULL::text AS g, count(u.day) AS x FROM un_person_dp p LEFT JOIN un_both_dp u ON u.pid = p.pid AND u.day < ''2024-03-01''', 8, 1),
('beside a public table', 'SELECT k.paper::text AS g, count(*) AS x FROM (SELECT kind, pid FROM un_order_dp WHERE pid IS NOT NULL UNION ALL SELECT kind, pid FROM un_return_dp) u JOIN un_kind k USING (kind) GROUP BY k.paper', 8, 1),
('a public table below', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT o.pid FROM un_order_dp o JOIN un_kind k USING (kind) WHERE k.paper AND o.pid IS NOT NULL UNION ALL SELECT pid FROM un_return_dp) u', 8, 1),
('people below', 'SELECT NULL::text AS g, sum(n) AS x FROM (SELECT pid, count(*) AS n FROM un_order_dp WHERE pid IS NOT NULL GROUP BY pid UNION ALL SELECT pid, count(*) FROM un_return_dp GROUP BY pid) u', 10, 1),
('people above', 'SELECT n::text AS g, count(*) AS x FROM (SELECT pid, count(*) AS n FROM un_both_dp GROUP BY pid) t WHERE n < 4 GROUP BY n', 1, 1),
('in each other', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT pid FROM un_return_dp UNION ALL (SELECT pid FROM un_order_dp WHERE pid IS NOT NULL UNION ALL SELECT pid FROM un_person_dp ORDER BY 1)) u', 9, 1),
('WITH, twice', 'WITH r AS (SELECT pid, day FROM un_return_dp), u AS (SELECT * FROM r UNION ALL SELECT * FROM r) SELECT NULL::text AS g, count(*) AS x FROM u', 6, 1),
('EXISTS below', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT p.pid FROM un_person_dp p WHERE EXISTS (SELECT FROM un_return_dp r WHERE r.pid = p.pid) UNION ALL SELECT pid FROM un_person_dp WHERE age > 60) u', 2, 1),
('IN below', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT p.pid FROM un_person_dp p WHERE p.pid IN (SELECT pid FROM un_return_dp GROUP BY pid HAVING count(*) > 1) UNION ALL SELECT pid FROM un_person_dp WHERE age > 60) u', 2, 1),
('UNION', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT pid FROM un_order_dp WHERE pid IS NOT NULL UNION SELECT pid FROM un_return_dp) u', 8, 1),
('UNION, kinds', 'SELECT kind AS g, count(*) AS x FROM (SELECT pid, kind FROM un_order_dp WHERE pid IS NOT NULL UNION SELECT pid, kind FROM un_return_dp) u GROUP BY kind', 8, 1),
('UNION, joined', 'SELECT p.sex AS g, count(*) AS x FROM un_person_dp p JOIN (SELECT pid, kind FROM un_order_dp UNION SELECT pid, kind FROM un_return_dp) u USING (pid) GROUP BY p.sex', 8, 1),
('FULL JOIN, as its hint says', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT p.pid FROM un_person_dp p LEFT JOIN un_return_dp r ON r.pid = p.pid UNION ALL SELECT r.pid FROM un_return_dp r LEFT JOIN un_person_dp p ON r.pid = p.pid WHERE p.pid IS NULL) u', 6, 1),
('INTERSECT', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT pid FROM un_order_dp INTERSECT SELECT pid FROM un_return_dp) u', 1, 1),
('INTERSECT, kinds', 'SELECT kind AS g, count(*) AS x FROM (SELECT pid, kind FROM un_order_dp WHERE pid IS NOT NULL INTERSECT SELECT pid, kind FROM un_return_dp) u GROUP BY kind', 8, 1),
('EXCEPT', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT pid FROM un_person_dp EXCEPT SELECT pid FROM un_return_dp) u', 9, 1),
('EXCEPT of a UNION', 'SELECT p.sex AS g, count(*) AS x FROM un_person_dp p JOIN (SELECT pid FROM un_person_dp EXCEPT (SELECT pid FROM un_return_dp UNION SELECT pid FROM un_order_dp)) u USING (pid) GROUP BY p.sex', 9, 1),
('UNION, groups alone', 'SELECT kind AS g, 1 AS x FROM un_order_dp UNION SELECT kind, 1 FROM un_return_dp', 8, 1);
CREATE TABLE un_reference (name text, g text, x numeric);
DO $$
DECLARE
    q un_query;
BEGIN
    FOR q IN SELECT * FROM un_query LOOP
        EXECUTE format('INSERT INTO un_reference SELECT %L, * FROM (%s) q', q.name, replace(q.query, '_dp', ''));
    END LOOP;
END $$;
GRANT SELECT ON un_query TO regress_analyst;
CREATE TABLE un_answer (name text, g text, x numeric);
GRANT INSERT ON un_answer TO regress_analyst;
SET ROLE regress_analyst;
DO $$
DECLARE
    q un_query;
BEGIN
    FOR q IN SELECT * FROM un_query LOOP
        BEGIN
            EXECUTE format('INSERT INTO un_answer SELECT %L, * FROM (%s) q', q.name, q.query);
        EXCEPTION WHEN OTHERS THEN
            RAISE NOTICE '%: %', q.name, SQLERRM;
        END;
    END LOOP;
END $$;
SET ROLE regress_controller;
SELECT a.name, count(*) FILTER (WHERE r.x IS NOT NULL) AS groups, bool_and(abs(a.x - coalesce(r.x, 0)) <= 25 * d * measures / 100 + 1) AS agree
FROM un_query NATURAL JOIN un_answer a LEFT JOIN un_reference r ON r.name = a.name AND r.g IS NOT DISTINCT FROM a.g GROUP BY 1 ORDER BY a.name COLLATE "C";
-- No group of the reference is missing.
SELECT r.name, r.g FROM un_reference r LEFT JOIN un_answer a ON r.name = a.name AND r.g IS NOT DISTINCT FROM a.g WHERE a.name IS NULL;

-- ---------------------------------------------------------------------------------------------------------------------
-- How many rows of a person there are, and what the ledger shows
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_analyst;
SELECT i, column_name, accepted, unit, max_rows, max_groups
FROM unnest(ARRAY['SELECT count(*) FROM un_both_dp', 'SELECT count(*) FROM un_person_dp p JOIN un_both_dp u USING (pid)', 'SELECT count(*) FROM un_both_dp a JOIN un_both_dp b ON a.pid = b.pid AND a.day = b.day',
                  'SELECT count(*) FROM (SELECT pid, day FROM un_order_dp UNION SELECT pid, day FROM un_return_dp) u',
                  'SELECT count(*) FROM (SELECT pid, count(*) FROM un_order_dp GROUP BY pid UNION ALL SELECT pid, 0 FROM un_return_dp) u']) WITH ORDINALITY a (query, i), dp_explain(query) e ORDER BY i;
SET ROLE regress_controller;
SELECT DISTINCT query, parameters ->> 'tables' AS tables, parameters ->> 'max_rows' AS max_rows FROM dp_rdr.ledger WHERE query ~ 'UNION ALL' AND query ~ 'un_' ORDER BY 1 LIMIT 4;
-- What one person moves: all rows of a person, of both tables.
SELECT count(*) AS people, sum(individuals) AS together FROM dp_risk_records('SELECT count(*) FROM un_both_dp', 1);

-- ---------------------------------------------------------------------------------------------------------------------
-- Refused, before anything is charged
-- ---------------------------------------------------------------------------------------------------------------------

RESET ROLE;
SELECT count(*) AS charged FROM dp_rdr.ledger \gset
SET ROLE regress_analyst;
-- Which rows there are would depend on other people's; rows of nobody; rows that are people; groups beside rows.
SELECT count(*) FROM (SELECT kind FROM un_order_dp INTERSECT SELECT kind FROM un_return_dp) u;
SELECT count(*) FROM (SELECT pid FROM un_order_dp EXCEPT ALL SELECT pid FROM un_return_dp) u;
SELECT count(*) FROM (SELECT kind FROM un_order_dp UNION ALL SELECT kind FROM un_kind) u;
SELECT count(*) FROM (SELECT x FROM un_row_dp UNION ALL SELECT x FROM un_row_dp) u;
SELECT count(*) FROM (SELECT kind FROM un_order_dp UNION ALL SELECT kind FROM un_return_dp GROUP BY kind) u;
SELECT count(*) FROM (SELECT pid FROM un_order_dp UNION SELECT pid FROM un_return_dp UNION ALL SELECT pid FROM un_person_dp) u;
SELECT count(*) FROM (SELECT pid FROM un_order_dp UNION ALL SELECT x FROM un_row_dp) u;
SELECT count(*) FROM (SELECT pid FROM un_order_dp UNION ALL SELECT pid FROM un_return_dp LIMIT 10) u;
-- What it does not show, or not at the same place, links nothing.
SELECT count(*) FROM un_person_dp p JOIN (SELECT kind FROM un_order_dp UNION ALL SELECT kind FROM un_return_dp) u ON u.kind = p.sex;
SELECT count(*) FROM un_person_dp p JOIN (SELECT pid AS a, oid AS b FROM un_order_dp UNION ALL SELECT rid, pid FROM un_return_dp) u ON u.a = p.pid;
SELECT pid, count(*) FROM un_both_dp GROUP BY pid;
RESET ROLE;
SELECT count(*) - :charged AS charged FROM dp_rdr.ledger;
-- The forms of the hints.
SET ROLE regress_analyst;
SELECT count(*) > 0 AS fine FROM un_order_dp o WHERE EXISTS (SELECT FROM un_return_dp r WHERE r.pid = o.pid);
SELECT count(*) > 0 AS fine FROM (SELECT pid FROM (SELECT pid FROM un_order_dp UNION SELECT pid FROM un_return_dp) s UNION ALL SELECT pid FROM un_person_dp) u;
SELECT (SELECT count(*) FROM un_row_dp) + (SELECT count(*) FROM un_row_dp WHERE x > 5) > 0 AS fine;
