-- EXISTS and IN (SELECT ...) as values: in what is grouped by and aggregated, in FILTER, in CASE and below OR; and over joins. What is
-- answered is compared with plain SQL, where rows of nobody are left out; noise is small at epsilon 100.

LOAD 'dp_rdr';
CREATE SCHEMA tests AUTHORIZATION regress_controller;
CREATE SCHEMA plain AUTHORIZATION regress_controller;
GRANT USAGE ON SCHEMA tests TO regress_analyst, regress_second;
CREATE FUNCTION tests.charges() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM dp_rdr.ledger';
SET search_path = tests, public;
SET ROLE regress_controller;
CREATE TABLE patient (patient_id integer PRIMARY KEY, ward integer, mentor integer);
CREATE TABLE visit (visit_id integer PRIMARY KEY, patient_id integer, code text, cost integer NOT NULL, since timestamptz);
CREATE TABLE bill (visit_id integer NOT NULL, amount integer, note text);
INSERT INTO patient SELECT i, i % 5, 1 + (i * 7) % 1000 FROM generate_series(1, 1000) i;
INSERT INTO visit SELECT i, 1 + i % 800, CASE WHEN i % 10 < 9 THEN 'c' || i % 10 END, i % 100, timestamptz '2025-01-01 UTC' + i * interval '1 hour'
FROM generate_series(1, 4000) i;
INSERT INTO visit SELECT 5000 + i, NULL, 'c0', 1, NULL FROM generate_series(1, 500) i; -- nobody's
INSERT INTO bill SELECT i, i % 50, repeat('x', i % 40) FROM generate_series(1, 4000, 2) i;
INSERT INTO bill SELECT i, 3, 'again' FROM generate_series(1, 4000, 5) i;
INSERT INTO bill SELECT 9000 + i, 3, 'of no visit' FROM generate_series(1, 100) i;
CREATE TABLE code (code text PRIMARY KEY, weight integer, since date);
INSERT INTO code SELECT 'c' || i, i, date '2025-01-01' + i FROM generate_series(0, 4) i;
CREATE TABLE code_null (code text, weight integer);
INSERT INTO code_null VALUES ('c1', 1), (NULL, 2), ('c1', 3);
CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE loose (code text COLLATE blind);
INSERT INTO loose VALUES ('c1'), ('C1');
SELECT dp_protect('patient', 'patient_dp', unit => 'patient_id'), dp_protect('visit', 'visit_dp', unit => 'patient_id -> patient', max_rows => 10),
       dp_protect('bill', 'bill_dp', unit => 'visit_id -> visit', max_rows => 20), dp_protect('visit', 'dear_dp', filter => 'cost >= 50');
SELECT dp_set_bounds('visit', 'cost', 0, 100), dp_set_bounds('bill', 'amount', 0, 50), dp_set_groups('visit', 'code', '{c0,c1,c2,c3,c4,c5,c6,c7,c8,NULL}'),
       dp_set_groups('patient', 'ward', '{0,1,2,3,4}');
SELECT dp_set_public(t, 'patient') FROM unnest('{code,code_null,loose}'::regclass[]) t;
CREATE TABLE one (p integer, o integer);
SELECT dp_protect('one', 'a', unit => 'p -> patient', max_rows => 2), dp_protect('one', 'b');
SELECT dp_set_odometer('patient', 'none');
SELECT dp_grant(v, 'regress_analyst', tau => 0, candidates => '{100}', epsilon_max => 100)
FROM unnest('{patient_dp,visit_dp,bill_dp,dear_dp,a,b}'::regclass[]) v;
GRANT SELECT ON code, code_null, loose TO regress_analyst;
-- What an analyst would see if there were no noise: no row of nobody.
CREATE VIEW plain.patient_dp AS SELECT * FROM patient;
CREATE VIEW plain.visit_dp AS SELECT * FROM visit WHERE patient_id IS NOT NULL;
CREATE VIEW plain.dear_dp AS SELECT * FROM visit WHERE patient_id IS NOT NULL AND cost >= 50;
CREATE VIEW plain.bill_dp AS SELECT b.* FROM bill b JOIN visit USING (visit_id) WHERE patient_id IS NOT NULL;

CREATE TABLE asked (n serial, query text);
INSERT INTO asked (query) VALUES
-- Of a key.
('SELECT EXISTS (SELECT FROM visit_dp v WHERE v.patient_id = p.patient_id) AS k, count(*) AS n FROM patient_dp p GROUP BY 1'),
('SELECT p.ward::text || EXISTS (SELECT FROM visit_dp v WHERE v.patient_id = p.patient_id AND v.cost > 90)::text AS k, count(*) AS n FROM patient_dp p GROUP BY 1'),
('SELECT NOT EXISTS (SELECT FROM dear_dp v WHERE v.patient_id = p.patient_id) AS k, count(*) AS n FROM patient_dp p GROUP BY 1 ORDER BY 1'),
('SELECT CASE WHEN EXISTS (SELECT FROM bill_dp b WHERE b.visit_id = v.visit_id AND b.amount > 20) THEN ''dear'' WHEN cost > 50 THEN ''visit'' ELSE ''none'' END AS k, count(*) AS n FROM visit_dp v GROUP BY 1'),
('SELECT k, count(*) AS n FROM (SELECT EXISTS (SELECT FROM bill_dp b WHERE b.visit_id = v.visit_id) AS k FROM visit_dp v) t GROUP BY k'),
('WITH t AS (SELECT v.cost, v.visit_id IN (SELECT visit_id FROM bill_dp) AS k FROM visit_dp v) SELECT k, sum(cost) AS n FROM t WHERE cost > 10 OR k GROUP BY k'),
('SELECT v.patient_id IN (SELECT DISTINCT patient_id FROM dear_dp) AS k, count(*) AS n FROM visit_dp v GROUP BY 1'),
('SELECT coalesce(k::text, ''all'') AS k, n FROM (SELECT EXISTS (SELECT FROM visit_dp v WHERE v.patient_id = p.patient_id) AS k, count(*) AS n FROM patient_dp p GROUP BY ROLLUP (1)) t'),
('SELECT DISTINCT EXISTS (SELECT FROM visit_dp v WHERE v.patient_id = p.patient_id) AS k, 0 AS n FROM patient_dp p'),
-- Of what is aggregated.
('SELECT 1 AS k, count(*) FILTER (WHERE EXISTS (SELECT FROM visit_dp v WHERE v.patient_id = p.patient_id)) AS n FROM patient_dp p'),
('SELECT 1 AS k, count(*) FILTER (WHERE NOT EXISTS (SELECT 1 FROM bill_dp b WHERE v.visit_id = b.visit_id) AND v.cost < 50) AS n FROM visit_dp v'),
('SELECT 1 AS k, sum(CASE WHEN v.visit_id IN (SELECT b.visit_id FROM bill_dp b WHERE b.note LIKE ''x%'') THEN v.cost ELSE 0 END) AS n FROM visit_dp v'),
('SELECT 1 AS k, 1000 * avg(EXISTS (SELECT FROM visit_dp v WHERE v.patient_id = p.patient_id)::int) AS n FROM patient_dp p'),
('SELECT 1 AS k, count(CASE WHEN code IN (SELECT code FROM code WHERE weight > 1) THEN 1 END) AS n FROM visit_dp'),
('SELECT 1 AS k, count(*) FILTER (WHERE code IN (SELECT code FROM code_null)) AS n FROM visit_dp'),
('SELECT 1 AS k, count(*) FILTER (WHERE code IN (SELECT code FROM code_null) OR cost IN (SELECT weight FROM code)) AS n FROM visit_dp'),
('SELECT 1 AS k, count(DISTINCT v.patient_id) FILTER (WHERE v.cost IN (SELECT weight FROM code WHERE code LIKE ''c%'')) AS n FROM visit_dp v'),
('SELECT 1 AS k, count(DISTINCT v.patient_id) FILTER (WHERE EXISTS (SELECT FROM bill_dp b WHERE b.visit_id = v.visit_id)) - count(DISTINCT v.patient_id) FILTER (WHERE NOT EXISTS (SELECT FROM bill_dp b WHERE b.visit_id = v.visit_id)) AS n FROM visit_dp v'),
('SELECT coalesce(v.code, ''none'') AS k, count(*) FILTER (WHERE EXISTS (SELECT FROM bill_dp b WHERE b.visit_id = v.visit_id)) AS n FROM visit_dp v GROUP BY 1'),
-- Below OR, beside a semi-join, and several at once.
('SELECT 1 AS k, count(*) AS n FROM patient_dp p WHERE p.ward = 1 OR EXISTS (SELECT FROM visit_dp v WHERE v.patient_id = p.patient_id)'),
('SELECT 1 AS k, count(*) AS n FROM patient_dp p WHERE EXISTS (SELECT FROM visit_dp v WHERE v.patient_id = p.patient_id) <> EXISTS (SELECT FROM dear_dp v WHERE v.patient_id = p.patient_id)'),
('SELECT EXISTS (SELECT FROM dear_dp d WHERE d.patient_id = p.patient_id) AS k, count(*) AS n FROM patient_dp p WHERE EXISTS (SELECT FROM visit_dp v WHERE v.patient_id = p.patient_id) GROUP BY 1'),
('SELECT EXISTS (SELECT FROM dear_dp d WHERE d.patient_id = p.patient_id) AS k, count(*) FILTER (WHERE EXISTS (SELECT FROM visit_dp v WHERE v.patient_id = p.patient_id AND p.ward > 2)) AS n FROM patient_dp p GROUP BY 1'),
-- Over joins, inner and outer.
('SELECT EXISTS (SELECT FROM bill_dp b WHERE b.visit_id = v.visit_id) AS k, count(*) AS n FROM patient_dp p JOIN visit_dp v ON v.patient_id = p.patient_id GROUP BY 1'),
('SELECT EXISTS (SELECT FROM bill_dp b WHERE b.visit_id = v.visit_id) AS k, count(*) AS n FROM patient_dp p LEFT JOIN visit_dp v ON v.patient_id = p.patient_id GROUP BY 1'),
('SELECT 1 AS k, count(*) FILTER (WHERE EXISTS (SELECT FROM dear_dp d WHERE d.patient_id = p.patient_id AND d.code = v.code)) AS n FROM patient_dp p, visit_dp v WHERE v.patient_id = p.patient_id'),
('SELECT c.weight AS k, count(*) FILTER (WHERE EXISTS (SELECT FROM bill_dp b WHERE b.visit_id = v.visit_id)) AS n FROM visit_dp v JOIN code c ON c.code = v.code GROUP BY 1'),
-- Of one person's rows.
('SELECT 1 AS k, 100 * avg(n) AS n FROM (SELECT v.patient_id, count(*) FILTER (WHERE EXISTS (SELECT FROM bill_dp b WHERE b.visit_id = v.visit_id)) AS n FROM visit_dp v GROUP BY 1) t'),
('SELECT n AS k, count(*) AS n FROM (SELECT v.patient_id, bool_or(EXISTS (SELECT FROM code c WHERE c.code = v.code AND weight = 3)) AS n FROM visit_dp v WHERE code IS NOT NULL OR cost IN (SELECT weight FROM code) GROUP BY 1) t GROUP BY 1'),
('SELECT 1 AS k, count(*) AS n FROM (SELECT v.patient_id FROM visit_dp v GROUP BY 1 HAVING count(*) FILTER (WHERE v.visit_id IN (SELECT visit_id FROM bill_dp)) > 2) t'),
-- Sub-SELECTs over joins.
('SELECT 1 AS k, count(*) AS n FROM patient_dp p WHERE EXISTS (SELECT FROM visit_dp v JOIN bill_dp b USING (visit_id) WHERE v.patient_id = p.patient_id AND b.amount < 5)'),
('SELECT 1 AS k, count(*) AS n FROM patient_dp p WHERE EXISTS (SELECT FROM visit_dp v, visit_dp w WHERE v.patient_id = p.patient_id AND w.patient_id = v.patient_id AND w.cost = v.cost + 1)'),
('SELECT 1 AS k, count(*) AS n FROM patient_dp p WHERE NOT EXISTS (SELECT FROM visit_dp v JOIN code c ON c.code = v.code JOIN bill_dp b ON b.visit_id = v.visit_id WHERE v.patient_id = p.patient_id AND c.weight = 3)'),
('SELECT EXISTS (SELECT FROM visit_dp v JOIN bill_dp b ON b.visit_id = v.visit_id AND b.amount > v.cost WHERE v.patient_id = p.patient_id) AS k, count(*) AS n FROM patient_dp p GROUP BY 1'),
('SELECT 1 AS k, count(*) AS n FROM patient_dp p WHERE p.patient_id IN (SELECT v.patient_id FROM visit_dp v JOIN bill_dp b USING (visit_id) WHERE b.amount = 3)'),
-- An expression equals a column of a public table.
('SELECT 1 AS k, count(*) AS n FROM visit_dp v WHERE v.cost / 10 NOT IN (SELECT weight FROM code)'),
('SELECT 1 AS k, count(*) AS n FROM visit_dp v WHERE EXISTS (SELECT FROM code c WHERE c.code = left(v.code, 2) AND c.weight * 10 = v.cost - 1)'),
('SELECT upper(v.code) IN (SELECT upper(code) FROM code) IS TRUE AS k, 0 AS n FROM visit_dp v WHERE code IS NOT NULL GROUP BY 1');
CREATE TABLE answer (n integer, k text, x numeric);
GRANT SELECT ON asked TO regress_analyst;
GRANT INSERT ON answer TO regress_analyst;
CREATE PROCEDURE ask(into_table text) LANGUAGE plpgsql AS $$
DECLARE
    q record;
BEGIN
    FOR q IN SELECT * FROM tests.asked ORDER BY n LOOP
        BEGIN
            EXECUTE format('INSERT INTO tests.%I SELECT %s, k::text, n::numeric FROM (%s) a', into_table, q.n, q.query);
        EXCEPTION WHEN OTHERS THEN
            RAISE NOTICE '% %', q.query, sqlerrm;
        END;
    END LOOP;
END $$;
CREATE TABLE exact (LIKE answer);
SET search_path = plain, tests, public;
CALL ask('exact');
SET search_path = tests, public;
SET ROLE regress_analyst;
CALL ask('answer');
SET ROLE regress_controller;
SELECT n, k, e.x AS exact, a.x AS answer, query
FROM (exact e FULL JOIN answer a USING (n, k)) JOIN asked USING (n) WHERE abs(coalesce(e.x, 0) - coalesce(a.x, -1000)) > 40 + e.x / 20 ORDER BY 1, 2;
SELECT n, string_agg(coalesce(k, 'NULL') || ': ' || round(x, -1), ', ' ORDER BY k) AS about FROM exact GROUP BY n ORDER BY n;

SET ROLE regress_analyst;
-- They multiply nothing, and a value of one row of a person's puts him into one group.
SELECT n, max_rows, max_groups FROM (VALUES
(1, 'SELECT count(*) FILTER (WHERE EXISTS (SELECT FROM bill_dp b WHERE b.visit_id = v.visit_id)) FROM visit_dp v'),
(2, 'SELECT EXISTS (SELECT FROM bill_dp b WHERE b.visit_id = v.visit_id), count(*) FROM visit_dp v GROUP BY 1'),
(3, 'SELECT EXISTS (SELECT FROM bill_dp b WHERE b.visit_id = v.visit_id), count(*) FROM visit_dp v GROUP BY v.code, 1'),
(4, 'SELECT EXISTS (SELECT FROM dear_dp d WHERE d.patient_id = p.patient_id), count(*) FROM patient_dp p JOIN visit_dp v ON v.patient_id = p.patient_id GROUP BY 1'),
(5, 'SELECT EXISTS (SELECT FROM dear_dp d WHERE d.patient_id = v.patient_id AND d.cost = v.cost), count(*) FROM patient_dp p JOIN visit_dp v ON v.patient_id = p.patient_id GROUP BY p.ward, 1')) q (n, query),
LATERAL dp_explain(query) ORDER BY n;
-- Their groups follow: of none that is not declared.
SELECT DISTINCT threshold IS NULL AS declared FROM dp_explain('SELECT EXISTS (SELECT FROM bill_dp b WHERE b.visit_id = v.visit_id), count(*) FROM visit_dp v GROUP BY 1');

-- What is grouped by may stand in the result as a part of something else, also negated and in HAVING and ORDER BY.
SET ROLE regress_controller;
CREATE TABLE parts (LIKE answer);
GRANT INSERT ON parts TO regress_analyst;
SET ROLE regress_analyst;
INSERT INTO parts SELECT 1, CASE WHEN EXISTS (SELECT FROM code c WHERE c.code = v.code) THEN 'x' ELSE 'y' END, count(*) FROM visit_dp v
GROUP BY EXISTS (SELECT FROM code c WHERE c.code = v.code);
INSERT INTO parts SELECT 2, (NOT EXISTS (SELECT FROM code c WHERE c.weight = v.patient_id))::text, count(*) FROM visit_dp v
GROUP BY EXISTS (SELECT FROM code c WHERE c.weight = v.patient_id) HAVING NOT EXISTS (SELECT FROM code c WHERE c.weight = v.patient_id) OR count(*) < 10000;
INSERT INTO parts SELECT 3, row_number() OVER (ORDER BY NOT EXISTS (SELECT FROM bill_dp b WHERE b.visit_id = v.visit_id))::text, count(*) FROM visit_dp v
GROUP BY EXISTS (SELECT FROM bill_dp b WHERE b.visit_id = v.visit_id) ORDER BY NOT EXISTS (SELECT FROM bill_dp b WHERE b.visit_id = v.visit_id);
SET ROLE regress_controller;
SELECT n, k, round(x, -1) AS about FROM parts ORDER BY n, k;
SET ROLE regress_analyst;

-- Refused, each with what to write instead.
SELECT query, attempt(query) FROM unnest(ARRAY[
-- other conditions than equalities, outside of WHERE
'SELECT EXISTS (SELECT FROM visit_dp w WHERE w.patient_id = v.patient_id AND w.cost > v.cost), count(*) FROM visit_dp v GROUP BY 1',
'SELECT count(*) FILTER (WHERE EXISTS (SELECT FROM visit_dp w WHERE w.patient_id = v.patient_id OR w.cost = 1)) FROM visit_dp v',
'SELECT count(*) FILTER (WHERE EXISTS (SELECT FROM visit_dp w)) FROM visit_dp v',
'SELECT count(*) FILTER (WHERE EXISTS (SELECT FROM visit_dp w WHERE w.cost > 3)) FROM visit_dp v',
'SELECT count(*) FILTER (WHERE EXISTS (SELECT FROM visit_dp w WHERE w.patient_id = v.patient_id AND w.patient_id > 3 + v.cost)) FROM visit_dp v',
-- rows of somebody else's
'SELECT count(*) FILTER (WHERE EXISTS (SELECT FROM visit_dp w WHERE w.code = v.code)) FROM visit_dp v',
'SELECT EXISTS (SELECT FROM visit_dp w WHERE w.patient_id = p.mentor), count(*) FROM patient_dp p GROUP BY 1',
'SELECT p.mentor IN (SELECT patient_id FROM dear_dp), count(*) FROM patient_dp p GROUP BY 1',
'SELECT count(*) FROM patient_dp p WHERE EXISTS (SELECT FROM visit_dp v, visit_dp w WHERE v.patient_id = p.patient_id AND w.code = v.code)',
'SELECT count(*) FROM patient_dp p WHERE EXISTS (SELECT FROM visit_dp v JOIN bill_dp b ON b.visit_id > v.visit_id WHERE v.patient_id = p.patient_id)',
'SELECT count(*) FROM patient_dp p WHERE EXISTS (SELECT FROM visit_dp v, code c WHERE v.patient_id = p.patient_id)',
'SELECT EXISTS (SELECT FROM visit_dp w WHERE w.patient_id = p.patient_id) FROM patient_dp p',
-- what may be NULL where that is another thing than false
'SELECT code IN (SELECT code FROM code), count(*) FROM visit_dp GROUP BY 1',
'SELECT cost IN (SELECT weight FROM code_null), count(*) FROM visit_dp GROUP BY 1',
'SELECT count(*) FILTER (WHERE NOT (code IN (SELECT code FROM code) OR cost = 1)) FROM visit_dp',
'SELECT p.patient_id IN (SELECT visit_id FROM bill_dp), count(*) FROM patient_dp p GROUP BY 1',
'SELECT v.patient_id IN (SELECT patient_id FROM dear_dp), count(*) FROM patient_dp p LEFT JOIN visit_dp v ON v.patient_id = p.patient_id GROUP BY 1',
-- where their tables are not joined with each other, and each row of one would meet all of another
'SELECT count(*) FROM patient_dp p WHERE EXISTS (SELECT FROM visit_dp v, visit_dp w WHERE v.patient_id = p.patient_id AND w.patient_id = p.patient_id)',
'SELECT count(*) FILTER (WHERE EXISTS (SELECT FROM visit_dp v, visit_dp w WHERE v.patient_id = p.patient_id AND w.patient_id = p.patient_id)) FROM patient_dp p',
'SELECT count(*) FROM visit_dp v WHERE EXISTS (SELECT FROM code c, code d WHERE c.weight = v.cost AND d.code = v.code)',
-- what a collation calls equal
'SELECT count(*) FILTER (WHERE EXISTS (SELECT FROM loose l WHERE l.code = v.code COLLATE "C")) FROM visit_dp v',
'SELECT count(*) FROM visit_dp v WHERE EXISTS (SELECT FROM loose l WHERE l.code COLLATE "C" = v.code)',
'SELECT count(*) FILTER (WHERE v.code COLLATE "C" IN (SELECT code FROM loose)) FROM visit_dp v',
-- where they cannot stand
'SELECT count(*) FROM patient_dp p LEFT JOIN visit_dp v ON v.patient_id = p.patient_id AND EXISTS (SELECT FROM bill_dp b WHERE b.visit_id = v.visit_id)',
'SELECT avg(n) FROM (SELECT patient_id, EXISTS (SELECT FROM bill_dp b WHERE b.visit_id = v.visit_id) AS e, count(*) AS n FROM visit_dp v GROUP BY 1, 2) t',
'SELECT count(*) FROM (SELECT patient_id, count(*) AS n FROM visit_dp v GROUP BY 1) t WHERE EXISTS (SELECT FROM code c WHERE c.weight = t.n)',
'SELECT count(*) FROM (SELECT patient_id FROM visit_dp v GROUP BY 1 HAVING EXISTS (SELECT FROM dear_dp d WHERE d.patient_id = v.patient_id)) t',
'SELECT v.cost > ALL (SELECT weight FROM code), count(*) FROM visit_dp v GROUP BY 1',
'SELECT sum((SELECT max(weight) FROM code c WHERE c.code = v.code)) FROM visit_dp v',
-- what they may not have
'SELECT count(*) FILTER (WHERE EXISTS (SELECT FROM visit_dp w WHERE w.patient_id = p.patient_id LIMIT 1)) FROM patient_dp p',
'SELECT count(*) FILTER (WHERE p.ward IN (SELECT max(weight) FROM code)) FROM patient_dp p',
'SELECT count(*) FILTER (WHERE EXISTS (SELECT FROM patient_dp q LEFT JOIN visit_dp v ON v.patient_id = q.patient_id WHERE q.patient_id = p.patient_id)) FROM patient_dp p',
'SELECT count(*) FILTER (WHERE EXISTS (SELECT FROM visit w WHERE w.patient_id = p.patient_id)) FROM patient_dp p',
'SELECT count(*) FILTER (WHERE EXISTS (SELECT FROM pg_class w WHERE w.relnatts = p.ward)) FROM patient_dp p',
'SELECT count(*) FILTER (WHERE EXISTS (SELECT FROM ONLY code c WHERE c.weight = p.ward)) FROM patient_dp p',
'SELECT count(*) FILTER (WHERE v.since IN (SELECT since FROM code)) FROM visit_dp v',
'SELECT count(*) FILTER (WHERE EXISTS (SELECT FROM code c WHERE c.code = v.code AND 1 / c.weight = 1)) FROM visit_dp v',
'SELECT count(*) FROM patient_dp p WHERE EXISTS (SELECT FROM visit_dp a, visit_dp b, visit_dp c, visit_dp d, visit_dp e, visit_dp f, visit_dp g, visit_dp h
 WHERE a.patient_id = p.patient_id AND b.patient_id = p.patient_id AND c.patient_id = p.patient_id AND d.patient_id = p.patient_id AND e.patient_id = p.patient_id
 AND f.patient_id = p.patient_id AND g.patient_id = p.patient_id AND h.patient_id = p.patient_id)']) query;
-- More equalities than a row has columns would be an error where there is a row.
SELECT attempt(format('SELECT count(*) FILTER (WHERE EXISTS (SELECT FROM bill_dp b WHERE b.visit_id = v.visit_id AND %s)) FROM visit_dp v', string_agg(format('b.amount + %s = v.cost', i), ' AND ')))
FROM generate_series(1, 100) i;
SELECT attempt(format('SELECT count(*) FROM a WHERE EXISTS (SELECT FROM b WHERE b.p = a.p AND %s)', string_agg(format('b.o+%s=a.o', i), ' AND '))) FROM generate_series(1, 1600) i;
SELECT attempt(format('SELECT count(*) FROM a JOIN b ON b.p = a.p AND %s', string_agg(format('b.o+%s=a.o', i), ' AND '))) FROM generate_series(1, 1600) i;
-- Constants that make it another condition are looked at before the charge.
PREPARE compared (integer) AS SELECT count(*) FILTER (WHERE EXISTS (SELECT FROM code c WHERE c.weight = CASE WHEN $1 > 0 THEN 3 ELSE p.ward END)) FROM patient_dp p;
SELECT attempt('EXECUTE compared (1)'), attempt('EXECUTE compared (0)');
-- SELECT on what they read is asked for as for any other table.
SET ROLE regress_controller;
SELECT dp_grant('patient_dp', 'regress_second', tau => 0, candidates => '{100}', epsilon_max => 100);
SET ROLE regress_second;
SELECT attempt('SELECT count(*) FILTER (WHERE EXISTS (SELECT FROM visit_dp v WHERE v.patient_id = p.patient_id)) FROM patient_dp p'),
       attempt('SELECT count(*) FILTER (WHERE EXISTS (SELECT FROM code c WHERE c.weight = p.ward)) FROM patient_dp p');
SELECT attempt($$SELECT * FROM dp_rdr.release('SELECT count(*) FILTER (WHERE (EXISTS (SELECT FROM tests.visit_dp v WHERE (v.patient_id = p.patient_id)))) AS c1 FROM tests.patient_dp p', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)$$);
SET ROLE regress_analyst;
SELECT attempt($$SELECT * FROM dp_rdr.release('SELECT count(*) FILTER (WHERE (EXISTS (SELECT FROM tests.visit_dp v WHERE (v.patient_id = p.patient_id)))) AS c1 FROM tests.patient_dp p', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)$$),
       attempt($$SELECT * FROM dp_rdr.release('SELECT count(*) FILTER (WHERE (EXISTS (SELECT FROM tests.visit v WHERE (v.patient_id = p.patient_id)))) AS c1 FROM tests.patient_dp p', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)$$);
-- The same question, and others: what they compare with is a part of it.
SET ROLE regress_controller;
SELECT dp_grant(v, 'regress_analyst', replay => '1 day') FROM unnest('{patient_dp,visit_dp,dear_dp}'::regclass[]) v;
SET ROLE regress_analyst;
SELECT charges() AS before \gset
SELECT count(*) FILTER (WHERE EXISTS (SELECT FROM dear_dp v WHERE v.patient_id = p.patient_id AND v.cost > 60)) > 0 AS n FROM patient_dp p;
SELECT charges() - :before AS charges;
SELECT count(*) FILTER (WHERE EXISTS (SELECT FROM dear_dp v WHERE v.patient_id = p.patient_id AND v.cost > 60)) > 0 AS n FROM patient_dp p;
SELECT charges() - :before AS charges;
SELECT count(*) FILTER (WHERE EXISTS (SELECT FROM dear_dp v WHERE v.patient_id = p.patient_id AND v.cost > 61)) > 0 AS n FROM patient_dp p;
SELECT charges() - :before AS charges;
SELECT count(*) FILTER (WHERE EXISTS (SELECT FROM visit_dp v WHERE v.patient_id = p.patient_id AND v.cost > 60)) > 0 AS n FROM patient_dp p;
SELECT charges() - :before AS charges;
SELECT count(*) FILTER (WHERE NOT EXISTS (SELECT FROM visit_dp v WHERE v.patient_id = p.patient_id AND v.cost > 60)) > 0 AS n FROM patient_dp p;
SELECT charges() - :before AS charges;
SELECT sum(CASE WHEN p.ward < 2 AND EXISTS (SELECT 1 FROM visit_dp v WHERE v.patient_id = p.patient_id) THEN 1 ELSE 0 END) > 0 AS n FROM patient_dp p;
SELECT charges() - :before AS charges;
SELECT sum(CASE WHEN p.ward < 3 AND EXISTS (SELECT 1 FROM visit_dp v WHERE v.patient_id = p.patient_id) THEN 1 ELSE 0 END) > 0 AS n FROM patient_dp p;
SELECT charges() - :before AS charges;
SELECT sum(CASE WHEN p.ward < 3 AND NOT EXISTS (SELECT 1 FROM visit_dp v WHERE v.patient_id = p.patient_id) THEN 1 ELSE 0 END) > 0 AS n FROM patient_dp p;
SELECT charges() - :before AS charges;
-- Whatever stands first: in columns, in WHERE, or where the session changed something itself (so that its settings are compared).
SELECT charges() AS before \gset
SELECT count(*) FILTER (WHERE EXISTS (SELECT FROM visit_dp v WHERE v.patient_id = p.patient_id AND v.cost > 7)) > 0 AS n,
       sum(CASE WHEN EXISTS (SELECT FROM dear_dp v WHERE v.patient_id = p.patient_id AND v.cost > 70) THEN 1 ELSE 0 END) > 0 AS s FROM patient_dp p;
SELECT sum(CASE WHEN EXISTS (SELECT FROM dear_dp v WHERE v.patient_id = p.patient_id AND v.cost > 70) THEN 1 ELSE 0 END) > 0 AS s,
       count(*) FILTER (WHERE EXISTS (SELECT FROM visit_dp v WHERE v.patient_id = p.patient_id AND v.cost > 7)) > 0 AS n FROM patient_dp p;
SELECT charges() - :before AS charges;
SELECT count(*) > 0 AS n FROM patient_dp p WHERE EXISTS (SELECT FROM visit_dp v WHERE v.patient_id = p.patient_id AND v.cost > 7)
AND EXISTS (SELECT FROM dear_dp v WHERE v.patient_id = p.patient_id);
BEGIN;
CREATE TEMP TABLE changed (n integer);
SELECT count(*) > 0 AS n FROM patient_dp p WHERE EXISTS (SELECT FROM dear_dp v WHERE v.patient_id = p.patient_id)
AND EXISTS (SELECT FROM visit_dp v WHERE v.patient_id = p.patient_id AND v.cost > 7);
COMMIT;
SELECT charges() - :before AS charges;
-- The controller's instrument takes them as well: who has no visit of his own moves nothing.
SET ROLE regress_controller;
SELECT sum(individuals) AS people, count(*) FILTER (WHERE pis > 0) > 0 AS moving FROM dp_risk_records('SELECT count(*) FILTER (WHERE EXISTS (SELECT FROM visit_dp v WHERE v.patient_id = p.patient_id)) FROM patient_dp p', 1);
-- An expression is named as it is written.
SET ROLE regress_analyst;
SELECT dp_explain('SELECT sum(CASE WHEN cost < 10 AND EXISTS (SELECT 1 FROM bill_dp b WHERE b.visit_id = v.visit_id) THEN visit_id END) FROM visit_dp v');
