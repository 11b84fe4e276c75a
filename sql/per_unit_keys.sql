-- One row for each person in a sub-SELECT that groups by columns of which a person has one value as well: SELECT sex, avg(n) FROM (SELECT
-- pid, sex, count(*) AS n ... GROUP BY pid, sex) t GROUP BY sex. Limits are ample, and noise is small at epsilon 100: answers are those of
-- plain SQL over the tables (as in per_unit.sql).
\set VERBOSITY default
LOAD 'dp_rdr';
SET ROLE regress_controller;
CREATE TYPE pk_blood AS ENUM ('0', 'A', 'B', 'AB');
CREATE TABLE pk_patient (pid integer PRIMARY KEY, sex text, age integer, postcode text, insured boolean, weight numeric(5, 1), blood pk_blood, born date, code char(4), ward text);
INSERT INTO pk_patient
SELECT i, CASE WHEN i % 3 = 0 THEN 'f' ELSE 'm' END, CASE WHEN i % 13 > 0 THEN i % 90 END, 'P' || i % 8, CASE WHEN i % 5 > 0 THEN i % 5 < 3 END, 40 + i % 80 + 0.5,
       (ARRAY['0', 'A', 'B', 'AB'])[1 + i % 4]::pk_blood, date '1940-01-01' + i * 30, (ARRAY['x', 'yy', 'zzz'])[1 + i % 3], 'w' || i % 4
FROM generate_series(1, 900) i;
CREATE TABLE pk_visit (vid integer PRIMARY KEY, pid integer, reason text, days integer, urgent boolean);
INSERT INTO pk_visit
SELECT p * 100 + v, CASE WHEN p % 97 = 0 THEN NULL ELSE p END, (ARRAY['heart', 'lung', 'bone'])[1 + (p + v) % 3], (p + v) % 15, (p * v) % 5 < 2
FROM generate_series(1, 900) p, generate_series(1, p % 7) v;
CREATE TABLE pk_extra (pid integer CONSTRAINT pk_one UNIQUE, smokes boolean);
INSERT INTO pk_extra SELECT i, i % 4 = 0 FROM generate_series(1, 600) i;
CREATE TABLE pk_post (postcode text PRIMARY KEY, region text, density integer);
INSERT INTO pk_post SELECT 'P' || i, (ARRAY['north', 'south', 'west'])[1 + i % 3], i * 10 FROM generate_series(0, 7) i;
CREATE TABLE pk_region (region text UNIQUE, capital text, hot boolean);
INSERT INTO pk_region VALUES ('north', 'N', false), ('south', 'S', true), ('west', 'W', NULL);
CREATE TABLE pk_code (reason text PRIMARY KEY, organ boolean);
INSERT INTO pk_code VALUES ('heart', true), ('lung', true), ('bone', false);
CREATE TABLE pk_many (postcode text, street text);
INSERT INTO pk_many SELECT 'P' || i % 8, 's' || i FROM generate_series(0, 30) i;
SELECT dp_protect('pk_patient', 'pk_patient_dp', unit => 'pid');
SELECT dp_protect('pk_visit', 'pk_visit_dp', unit => 'pid -> pk_patient(pid)', max_rows => 10);
SELECT dp_protect('pk_extra', 'pk_extra_dp', unit => 'pid -> pk_patient(pid)', max_rows => 3);
SELECT dp_set_bounds('pk_visit', 'days', 0, 20), dp_set_bounds('pk_patient', 'age', 0, 90), dp_set_bounds('pk_patient', 'weight', 0, 200), dp_set_groups('pk_visit', 'reason', '{heart,lung,bone}'),
       dp_set_groups('pk_patient', 'sex', '{f,m}'), dp_set_groups('pk_patient', 'code', '{x,yy,zzz}');
SELECT dp_set_public(t, 'pk_patient') FROM unnest('{pk_post,pk_region,pk_code,pk_many}'::regclass[]) t;
GRANT SELECT ON pk_post, pk_region, pk_code, pk_many TO regress_analyst;
SELECT dp_set_odometer('pk_patient', 'none', delta_total => 0.9);
SELECT dp_grant(v, 'regress_analyst', tau => 0, candidates => '{100}', epsilon_max => 100, delta => 1e-6) FROM unnest('{pk_patient_dp,pk_visit_dp,pk_extra_dp}'::regclass[]) v;

-- ---------------------------------------------------------------------------------------------------------------------
-- What plain SQL says
-- ---------------------------------------------------------------------------------------------------------------------

CREATE VIEW pk_per AS SELECT p.pid AS person, p.sex, p.ward, count(*) AS visits FROM pk_patient p JOIN pk_visit v ON v.pid = p.pid GROUP BY p.pid, p.sex, p.ward;
CREATE VIEW pk_per_dp AS SELECT p.pid AS person, p.sex, p.ward, count(*) AS visits FROM pk_patient_dp p JOIN pk_visit_dp v ON v.pid = p.pid GROUP BY p.pid, p.sex, p.ward;
GRANT SELECT ON pk_per_dp TO regress_analyst;

-- query: columns g and x, over the tables where _dp is taken away. d: the largest value of one person; measures: that share epsilon.
CREATE TABLE pk_query (name text PRIMARY KEY, query text, d numeric, measures integer);
INSERT INTO pk_query VALUES
('a key of people', 'SELECT sex AS g, sum(n) AS x FROM (SELECT v.pid, p.sex, count(*) AS n FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY v.pid, p.sex) t GROUP BY sex', 10, 1),
('on average', 'SELECT sex AS g, avg(n) * 100 AS x FROM (SELECT v.pid, p.sex, count(*) AS n FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY v.pid, p.sex) t GROUP BY sex', 10, 2),
('people', 'SELECT sex AS g, count(*) + count(DISTINCT pid) + count(pid) AS x FROM (SELECT v.pid, p.sex FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY v.pid, p.sex) t GROUP BY sex', 3, 1),
('their own columns are counted', 'SELECT NULL::text AS g, count(age) + count(insured) AS x FROM (SELECT v.pid, p.age, p.insured FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY 1, 2, 3) t', 2, 2),
('different ones', 'SELECT NULL::text AS g, count(DISTINCT ward) * 1000 AS x FROM (SELECT v.pid, p.ward FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY 1, 2) t', 1000, 1),
('a key that nobody declared', 'SELECT ward AS g, count(*) AS x FROM (SELECT v.pid, p.ward FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY 1, 2) t GROUP BY ward', 1, 1),
('enums, with NULL', 'SELECT blood::text AS g, count(*) AS x FROM (SELECT v.pid, p.blood FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY 1, 2) t GROUP BY blood', 1, 1),
('booleans, with NULL', 'SELECT insured::text AS g, sum(n) AS x FROM (SELECT v.pid, p.insured, count(*) AS n FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY 1, 2) t GROUP BY insured', 10, 1),
('padded', 'SELECT code::text AS g, sum(n) AS x FROM (SELECT v.pid, p.code, count(*) AS n FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY 1, 2) t GROUP BY code', 10, 1),
('both kinds of key', 'SELECT sex || n::text AS g, x FROM (SELECT sex, n, count(*) AS x FROM (SELECT v.pid, p.sex, count(*) AS n FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY 1, 2) t GROUP BY sex, n) q', 1, 1),
('where above', 'SELECT NULL::text AS g, sum(n) AS x FROM (SELECT p.pid, p.age, count(*) AS n FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY p.pid, p.age) t WHERE age >= 60', 10, 1),
('where above, of both', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT p.pid, p.age, count(*) AS n FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY p.pid, p.age) t WHERE age > 10 * n', 1, 1),
('where above, on the key', 'SELECT sex AS g, sum(n) AS x FROM (SELECT v.pid, p.sex, count(*) AS n FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY 1, 2) t WHERE sex = ''f'' GROUP BY sex', 10, 1),
('where below, on the key', 'SELECT sex AS g, sum(n) AS x FROM (SELECT v.pid, p.sex, count(*) AS n FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid WHERE p.sex <> ''m'' GROUP BY 1, 2) t GROUP BY sex', 10, 1),
('having below', 'SELECT sex AS g, count(*) AS x FROM (SELECT v.pid, p.sex FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY v.pid, p.sex, p.age HAVING count(*) > 2 AND p.age > 40) t GROUP BY sex', 1, 1),
('having above', 'SELECT sex AS g, count(*) AS x FROM (SELECT v.pid, p.sex FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY 1, 2) t GROUP BY sex HAVING count(*) > 300', 1, 1),
('filters', 'SELECT NULL::text AS g, count(*) FILTER (WHERE sex = ''f'' AND n > 2) AS x FROM (SELECT v.pid, p.sex, count(*) AS n FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY 1, 2) t', 1, 1),
('summed', 'SELECT sex AS g, sum(age) AS x FROM (SELECT v.pid, p.sex, p.age FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY 1, 2, 3) t GROUP BY sex', 90, 1),
('summed with what is aggregated', 'SELECT sex AS g, sum(age * n) AS x FROM (SELECT v.pid, p.sex, p.age, count(*) AS n FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY 1, 2, 3) t GROUP BY sex', 900, 1),
('a numeric', 'SELECT NULL::text AS g, avg(weight) * 10 AS x FROM (SELECT v.pid, p.weight, count(*) AS n FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY 1, 2) t WHERE n > 1', 20, 2),
('the median', 'SELECT NULL::text AS g, percentile_disc(0.5) WITHIN GROUP (ORDER BY age) * 100 AS x FROM (SELECT v.pid, p.age FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY 1, 2) t', 1, 1),
('bands', 'SELECT CASE WHEN age < 30 THEN ''a'' WHEN age < 60 THEN ''b'' ELSE ''c'' END AS g, sum(n) AS x FROM (SELECT v.pid, p.age, count(*) AS n FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY 1, 2) t GROUP BY 1', 10, 1),
('bands below', 'SELECT band AS g, sum(n) AS x FROM (SELECT v.pid, CASE WHEN p.age < 30 THEN ''a'' WHEN p.age < 60 THEN ''b'' ELSE ''c'' END AS band, count(*) AS n FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY 1, 2) t GROUP BY band', 10, 1),
('computed below', 'SELECT NULL::text AS g, sum(x) AS x FROM (SELECT v.pid, p.age + 2 * count(*) AS x FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY v.pid, p.age) t', 110, 1),
('years', 'SELECT extract(decade FROM born)::text AS g, count(*) AS x FROM (SELECT v.pid, p.born FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY 1, 2) t GROUP BY 1', 1, 1),
('unused', 'SELECT NULL::text AS g, sum(n) AS x FROM (SELECT v.pid, p.ward, p.age, count(*) AS n FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY 1, 2, 3) t', 10, 1),
('both names of the person', 'SELECT sex AS g, count(*) AS x FROM (SELECT v.pid, p.pid AS same, p.sex FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY v.pid, p.pid, p.sex) t GROUP BY sex', 1, 1),
('people without a visit', 'SELECT sex || n::text AS g, x FROM (SELECT sex, n, count(*) AS x FROM (SELECT p.pid, p.sex, count(v.vid) AS n FROM pk_patient_dp p LEFT JOIN pk_visit_dp v ON v.pid = p.pid GROUP BY p.pid, p.sex) t GROUP BY sex, n) q', 1, 1),
('their own table', 'SELECT sex AS g, sum(age) AS x FROM (SELECT pid, sex, age, count(*) AS n FROM pk_patient_dp GROUP BY pid, sex, age) t WHERE n = 1 GROUP BY sex', 90, 1),
('a public table', 'SELECT region AS g, sum(n) AS x FROM (SELECT v.pid, c.region, count(*) AS n FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid JOIN pk_post c ON c.postcode = p.postcode GROUP BY v.pid, c.region) t GROUP BY region', 10, 1),
('a public table and the person''s', 'SELECT region || sex AS g, x FROM (SELECT region, sex, sum(n) AS x FROM (SELECT v.pid, c.region, p.sex, count(*) AS n FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid JOIN pk_post c ON c.postcode = p.postcode GROUP BY 1, 2, 3) t GROUP BY region, sex) q', 10, 1),
('by the key of a public table', 'SELECT region AS g, sum(density) AS x FROM (SELECT v.pid, c.postcode, c.region, c.density FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid JOIN pk_post c ON c.postcode = p.postcode GROUP BY v.pid, c.postcode) t GROUP BY region', 70, 1),
('two public tables', 'SELECT region || capital AS g, x FROM (SELECT region, capital, count(*) AS x FROM (SELECT v.pid, c.region, r.capital FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid JOIN pk_post c ON c.postcode = p.postcode JOIN pk_region r ON r.region = c.region GROUP BY 1, 2, 3) t GROUP BY 1, 2) q', 1, 1),
('their own table and a public one', 'SELECT region AS g, sum(age) AS x FROM (SELECT p.pid, c.region, p.age FROM pk_patient_dp p JOIN pk_post c ON c.postcode = p.postcode GROUP BY 1, 2, 3) t WHERE region <> ''west'' GROUP BY region', 90, 1),
('public condition above', 'SELECT NULL::text AS g, sum(n) AS x FROM (SELECT v.pid, c.density, count(*) AS n FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid JOIN pk_post c ON c.postcode = p.postcode GROUP BY 1, 2) t WHERE density > 30', 10, 1),
('a public table on the nullable side', 'SELECT region AS g, sum(n) AS x FROM (SELECT v.pid, c.region, count(*) AS n FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid LEFT JOIN pk_post c ON c.postcode = p.postcode AND p.age > 40 GROUP BY v.pid, c.region) t GROUP BY region', 10, 1),
('two of them', 'SELECT capital AS g, sum(density) AS x FROM (SELECT p.pid, r.capital, c.density, count(v.vid) AS n FROM pk_patient_dp p LEFT JOIN pk_visit_dp v ON v.pid = p.pid LEFT JOIN pk_post c ON c.postcode = p.postcode AND c.density < 60 LEFT JOIN pk_region r ON r.region = c.region GROUP BY 1, 2, 3) t WHERE n > 1 OR density IS NULL GROUP BY capital', 70, 1),
('people without a row of another table', 'SELECT smokes::text AS g, sum(n) AS x FROM (SELECT p.pid, e.smokes, count(v.vid) AS n FROM pk_patient_dp p LEFT JOIN pk_visit_dp v ON v.pid = p.pid LEFT JOIN pk_extra_dp e ON e.pid = p.pid GROUP BY 1, 2) t GROUP BY smokes', 10, 1),
('a row''s public table beside', 'SELECT sex AS g, sum(n) AS x FROM (SELECT v.pid, p.sex, count(*) FILTER (WHERE o.organ) AS n FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid JOIN pk_code o ON o.reason = v.reason GROUP BY 1, 2) t GROUP BY sex', 10, 1),
('EXISTS below', 'SELECT sex AS g, sum(n) AS x FROM (SELECT p.pid, p.sex, count(*) AS n FROM pk_patient_dp p JOIN pk_visit_dp v ON v.pid = p.pid WHERE EXISTS (SELECT FROM pk_visit_dp u WHERE u.pid = p.pid AND u.urgent) GROUP BY p.pid, p.sex) t GROUP BY sex', 10, 1),
('DISTINCT', 'SELECT sex AS g, count(*) AS x FROM (SELECT DISTINCT v.pid, p.sex FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid) t GROUP BY sex', 1, 1),
('WITH', 'WITH t AS (SELECT v.pid, p.sex, count(*) AS n FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY 1, 2) SELECT sex AS g, avg(n) * 100 AS x FROM t GROUP BY sex', 10, 2),
('a view', 'SELECT sex AS g, sum(visits) AS x FROM pk_per_dp GROUP BY sex', 10, 1),
('sub-SELECTs below', 'SELECT s AS g, sum(n) AS x FROM (SELECT who, s, count(*) AS n FROM (SELECT v.pid AS who, p.sex AS s FROM pk_visit_dp v JOIN pk_patient_dp p USING (pid)) j GROUP BY who, s) t GROUP BY s', 10, 1),
('sets', 'SELECT coalesce(sex, ''all'') AS g, sum(n) AS x FROM (SELECT v.pid, p.sex, count(*) AS n FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY 1, 2) t GROUP BY ROLLUP (sex)', 10, 2),
('a constant beside', 'SELECT k AS g, sum(n) AS x FROM (SELECT v.pid, p.sex || ''!'' AS k, ''one''::text AS c, count(*) AS n FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY v.pid, p.sex || ''!'', ''one''::text) t GROUP BY k', 10, 1);
CREATE TABLE pk_reference (name text, g text, x numeric);
DO $$
DECLARE
    q pk_query;
BEGIN
    FOR q IN SELECT * FROM pk_query LOOP
        EXECUTE format('INSERT INTO pk_reference SELECT %L, * FROM (%s) q', q.name, replace(q.query, '_dp', ''));
    END LOOP;
END $$;
GRANT SELECT ON pk_query TO regress_analyst;
CREATE TABLE pk_answer (name text, g text, x numeric);
GRANT INSERT ON pk_answer TO regress_analyst;
SET ROLE regress_analyst;
DO $$
DECLARE
    q pk_query;
    message text;
BEGIN
    FOR q IN SELECT * FROM pk_query ORDER BY name COLLATE "C" LOOP
        BEGIN
            EXECUTE format('INSERT INTO pk_answer SELECT %L, * FROM (%s) q', q.name, q.query);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS message = PG_EXCEPTION_DETAIL;
            RAISE NOTICE '%: % %', q.name, sqlerrm, message;
        END;
    END LOOP;
END $$;
SET ROLE regress_controller;
SELECT a.name, count(*) FILTER (WHERE r.x IS NOT NULL) AS groups, count(*) FILTER (WHERE r.x IS NULL) AS empty, bool_and(abs(a.x - coalesce(r.x, 0)) <= 25 * d * measures / 100 + 1) AS agree
FROM pk_query NATURAL JOIN pk_answer a LEFT JOIN pk_reference r ON r.name = a.name AND r.g IS NOT DISTINCT FROM a.g GROUP BY 1 ORDER BY a.name COLLATE "C";
-- No group of the reference is missing, and they say something: what is counted is far more than the noise.
SELECT r.name, r.g FROM pk_reference r LEFT JOIN pk_answer a ON r.name = a.name AND r.g IS NOT DISTINCT FROM a.g WHERE a.name IS NULL;
SELECT count(*) AS queries, count(*) FILTER (WHERE most > 3 * (25 * d * measures / 100 + 1)) AS far
FROM (SELECT name, max(x) AS most FROM pk_reference GROUP BY name) r NATURAL JOIN pk_query;

-- ---------------------------------------------------------------------------------------------------------------------
-- What one person is worth
-- ---------------------------------------------------------------------------------------------------------------------

-- Somebody with 500 visits is one person, with one row in the group of his sex; his count stops at max_rows, his age at its bounds.
SELECT dp_protect('pk_visit', 'pk_few_dp', filter => 'pid <= 2'), dp_protect('pk_patient', 'pk_two_dp', filter => 'pid <= 2');
SELECT dp_grant(v, 'regress_analyst', tau => 0, candidates => '{100}', epsilon_max => 100, delta => 1e-6) FROM unnest('{pk_few_dp,pk_two_dp}'::regclass[]) v;
INSERT INTO pk_visit SELECT 1000000 + i, 2, 'lung', 20, true FROM generate_series(1, 500) i;
UPDATE pk_patient SET age = 2000000000 WHERE pid = 2;
SET ROLE regress_analyst;
SELECT sex, abs(people - CASE sex WHEN 'm' THEN 2 ELSE 0 END) < 3 AS people, abs(rows - CASE sex WHEN 'm' THEN 11 ELSE 0 END) < 12 AS rows, abs(age - CASE sex WHEN 'm' THEN 91 ELSE 0 END) < 80 AS age
FROM (SELECT sex, count(*) AS people, sum(n) AS rows, sum(age) AS age FROM (SELECT v.pid, p.sex, p.age, count(*) AS n FROM pk_few_dp v JOIN pk_two_dp p ON p.pid = v.pid GROUP BY 1, 2, 3) t GROUP BY sex) q;
SET ROLE regress_controller;
DELETE FROM pk_visit WHERE vid >= 1000000;
UPDATE pk_patient SET age = 2 WHERE pid = 2;
-- Risks are those of people, and no order of rows, no plan and no worker is in what they bring.
SELECT dp_risk('SELECT avg(age) FROM (SELECT v.pid, p.age, count(*) AS n FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY 1, 2) t WHERE n > 1');
SELECT * FROM dp_risk('SELECT sex, count(*), sum(n) FROM (SELECT v.pid, p.sex, count(*) AS n FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY 1, 2) t GROUP BY sex', '{1}');
CREATE TABLE pk_digest (query text, digest text);
CREATE PROCEDURE pk_digest() LANGUAGE plpgsql AS $$
DECLARE
    q text;
BEGIN
    FOREACH q IN ARRAY ARRAY['SELECT sex, count(*), sum(age * n) FROM (SELECT v.pid, p.sex, p.age, count(*) AS n FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY 1, 2, 3) t GROUP BY sex',
        'SELECT ward, code, count(*) FROM (SELECT v.pid, p.ward, p.code, p.insured FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY 1, 2, 3, 4) t WHERE insured IS NOT FALSE GROUP BY ward, code',
        'SELECT region, avg(density) FROM (SELECT v.pid, c.region, c.density, max(v.days) AS d FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid JOIN pk_post c ON c.postcode = p.postcode GROUP BY 1, 2, 3) t WHERE d > 3 GROUP BY region'] LOOP
        INSERT INTO pk_digest SELECT q, md5(string_agg(r::text, '|' ORDER BY r::text)) FROM dp_risk_records(q, 1, delta => 1e-6) r;
    END LOOP;
END $$;
CALL pk_digest();
SET work_mem = '64kB';
CALL pk_digest();
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
CALL pk_digest();
SET enable_hashagg = off;
CALL pk_digest();
RESET ALL;
SET ROLE regress_controller;
SELECT left(query, 28) AS query, count(*), count(DISTINCT digest) FROM pk_digest GROUP BY query ORDER BY query COLLATE "C";

-- A person by two columns.
CREATE TABLE pk_pair (h integer, k integer, sex text, PRIMARY KEY (k, h));
INSERT INTO pk_pair SELECT i / 30, i % 30, CASE WHEN i % 4 = 0 THEN 'f' ELSE 'm' END FROM generate_series(0, 399) i;
CREATE TABLE pk_pair_row (h integer, k integer, n integer);
INSERT INTO pk_pair_row SELECT h, k, i FROM pk_pair, generate_series(1, 3) i;
SELECT dp_protect('pk_pair', 'pk_pair_dp', unit => 'h, k'), dp_protect('pk_pair_row', 'pk_pair_row_dp', unit => 'h, k -> pk_pair(h, k)', max_rows => 3), dp_set_groups('pk_pair', 'sex', '{f,m}'),
       dp_set_odometer('pk_pair', 'none', delta_total => 0.9);
SELECT dp_grant(v, 'regress_analyst', tau => 0, candidates => '{100}', epsilon_max => 100, delta => 1e-6) FROM unnest('{pk_pair_dp,pk_pair_row_dp}'::regclass[]) v;
SET ROLE regress_analyst;
SELECT sex, round(rows, -1) AS rows, round(people, -1) AS people
FROM (SELECT sex, sum(n) AS rows, count(*) AS people FROM (SELECT r.k, p.sex, r.h, count(*) AS n FROM pk_pair_row_dp r JOIN pk_pair_dp p ON p.h = r.h AND p.k = r.k GROUP BY r.k, p.sex, r.h) t GROUP BY sex) q;
SET ROLE regress_controller;

-- ---------------------------------------------------------------------------------------------------------------------
-- What rows may hold
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE pk_odd_person (pid integer PRIMARY KEY, f float8, n numeric, c char(5), note text, d date, wide integer[], doc jsonb, gap interval);
INSERT INTO pk_odd_person
SELECT i, (ARRAY['NaN', '-0', '0', 'Infinity', '1e308'])[1 + i % 5]::float8, (ARRAY['NaN', '1.0', '1.000', '-Infinity', '1e1000'])[1 + i % 5]::numeric, (ARRAY['a', 'a  ', 'b', NULL, ''])[1 + i % 5],
       (ARRAY['x', repeat('y', 999), repeat('z', 1001), NULL, ''])[1 + i % 5], (ARRAY['infinity', '-infinity', '5874897-12-31', NULL, '2024-01-01'])[1 + i % 5]::date, ARRAY[i % 5], jsonb_build_object('k', i % 2),
       (ARRAY['1 month', '30 days'])[1 + i % 2]::interval
FROM generate_series(1, 100) i;
-- Of these one is 600 MB long.
INSERT INTO pk_odd_person (pid, f, c, note) VALUES (1000, 'NaN', 'a', repeat(repeat('x', 1000), 600000));
CREATE TABLE pk_odd (pid integer, k integer);
INSERT INTO pk_odd SELECT p.pid, i FROM pk_odd_person p, generate_series(1, 3) i;
SELECT dp_protect('pk_odd_person', 'pk_odd_person_dp', unit => 'pid'), dp_protect('pk_odd', 'pk_odd_dp', unit => 'pid -> pk_odd_person(pid)', max_rows => 3), dp_set_bounds('pk_odd_person', 'n', -10, 10),
       dp_set_bounds('pk_odd_person', 'f', -10, 10), dp_set_groups('pk_odd_person', 'gap', '{1 month}'), dp_set_odometer('pk_odd_person', 'none', delta_total => 0.9);
SELECT dp_grant(v, 'regress_analyst', tau => 0, candidates => '{100}', epsilon_max => 100, delta => 1e-6) FROM unnest('{pk_odd_person_dp,pk_odd_dp}'::regclass[]) v;
CREATE VIEW pk_odd_all AS SELECT p.pid, f, n, c, note, d, wide, doc, gap, count(*) AS rows FROM pk_odd_dp o JOIN pk_odd_person_dp p ON p.pid = o.pid GROUP BY p.pid, f, n, c, note, d, wide, doc, gap;
GRANT SELECT ON pk_odd_all TO regress_analyst;
SET ROLE regress_analyst;
SELECT f, round(x, -1) AS people FROM (SELECT f, count(*) AS x FROM pk_odd_all GROUP BY f) q ORDER BY f;
SELECT left(n::text, 9) AS n, round(x, -1) AS people FROM (SELECT n, count(*) AS x FROM pk_odd_all GROUP BY n) q ORDER BY q.n;
SELECT '"' || c || '"' AS c, round(x, -1) AS people FROM (SELECT c, count(*) AS x FROM pk_odd_all GROUP BY c) q ORDER BY 1;
SELECT left(note, 1) AS note, length(note), round(x, -1) AS people FROM (SELECT note, count(*) AS x FROM pk_odd_all GROUP BY note) q ORDER BY 1;
SELECT d, round(x, -1) AS people FROM (SELECT d, count(*) AS x FROM pk_odd_all GROUP BY d) q ORDER BY d;
SELECT gap, round(x, -1) AS people FROM (SELECT gap, count(*) AS x FROM pk_odd_all GROUP BY gap) q;
SELECT abs(a - 101) < 3 AND abs(b - 20) < 3 AND abs(c - 100) < 3 AND abs(d - 50) < 3 AND abs(e - 303) < 6 AS counts
FROM (SELECT count(*) FILTER (WHERE note LIKE 'x%' OR note IS NULL OR rows > 0) AS a, count(*) FILTER (WHERE note = 'x') AS b, count(wide) AS c,
             count(*) FILTER (WHERE doc ->> 'k' = '1') AS d, sum(rows) AS e FROM pk_odd_all) q;
SELECT abs(f) <= 1010 AND abs(n) <= 3030 AS sums FROM (SELECT sum(f) AS f, sum(n * rows) AS n FROM pk_odd_all WHERE f < 'Infinity' OR n > 0 OR upper(c) = 'A' OR d - date '2024-01-01' > 3) q;
SELECT abs(notes - 80) < 30 AS different FROM (SELECT count(DISTINCT note) * 20 AS notes FROM pk_odd_all) q;
SET ROLE regress_controller;

-- ---------------------------------------------------------------------------------------------------------------------
-- What is said beforehand, in the ledger, and again
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_analyst;
SELECT column_name, accepted, reason, error95, unit, max_rows, max_groups
FROM unnest(ARRAY['SELECT sex, count(*), avg(n), sum(age) FROM (SELECT v.pid, p.sex, p.age, count(*) AS n FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY 1, 2, 3) t GROUP BY sex',
                  'SELECT region, count(*) FROM (SELECT v.pid, c.region FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid JOIN pk_post c ON c.postcode = p.postcode GROUP BY 1, 2) t GROUP BY region',
                  'SELECT ward, count(*) FROM (SELECT v.pid, p.ward FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY 1, 2) t GROUP BY ward',
                  'SELECT reason, count(*) FROM (SELECT v.pid, v.reason FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY 1, 2) t GROUP BY reason']) WITH ORDINALITY a (query, i), dp_explain(query) e
ORDER BY i;
EXPLAIN (COSTS off, VERBOSE) SELECT sex, avg(n) FROM (SELECT v.pid, p.sex, count(*) AS n FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY v.pid, p.sex) t WHERE sex <> 'x' GROUP BY sex;
SET ROLE regress_controller;
SELECT dp_grant(v, 'regress_analyst', replay => '1 day') FROM unnest('{pk_patient_dp,pk_visit_dp,pk_extra_dp}'::regclass[]) v;
SET ROLE regress_analyst;
-- An answer is given again to what is the same question.
CREATE TEMP TABLE pk_again (question text, reason text);
DO $$
DECLARE
    q text;
BEGIN
    FOREACH q IN ARRAY ARRAY[
        'SELECT count(*) AS same FROM (SELECT v.pid, p.sex FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY v.pid, p.sex HAVING count(*) > 2) t WHERE sex = ''m''',
        'SELECT count(*) AS same FROM (SELECT v.pid, p.sex FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY v.pid, p.sex HAVING count(*) > 2) t WHERE sex = ''m''',
        'SELECT count(*) AS unused FROM (SELECT v.pid, p.age, p.sex FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY v.pid, p.age, p.sex HAVING count(*) > 2) t WHERE sex = ''m''',
        'SELECT count(*) AS other_value FROM (SELECT v.pid, p.sex FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY v.pid, p.sex HAVING count(*) > 2) t WHERE sex = ''f''',
        'SELECT count(*) AS other_column FROM (SELECT v.pid, p.ward AS sex FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY v.pid, p.ward HAVING count(*) > 2) t WHERE sex = ''m''',
        'SELECT count(*) AS other_rows FROM (SELECT v.pid, p.sex FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY v.pid, p.sex HAVING count(*) > 3) t WHERE sex = ''m''',
        'SELECT sum(age) AS other_sum FROM (SELECT v.pid, p.sex, p.age FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY v.pid, p.sex, p.age HAVING count(*) > 2) t WHERE sex = ''m'''] LOOP
        EXECUTE 'SELECT * FROM (' || q || ') q';
        INSERT INTO pk_again SELECT substring(q FROM 'AS (\w+)'), reason FROM dp_last_release();
    END LOOP;
END $$;
SELECT * FROM pk_again;
SET ROLE regress_controller;
SELECT DISTINCT regexp_replace(query, '\s+', ' ', 'g') AS query, parameters ->> 'unit' AS unit, parameters ->> 'max_rows' AS max_rows, parameters ->> 'rows_of_unit' AS rows_of_unit
FROM dp_rdr.ledger WHERE relation ~ '^public\.pk_' AND query ~ '10 \* c|density AS c2, count|sex AS c2, count.*pk_patient_dp, public.pk_visit_dp WHERE \(pk_visit_dp' ORDER BY 1;

-- ---------------------------------------------------------------------------------------------------------------------
-- Refused, before anything is charged
-- ---------------------------------------------------------------------------------------------------------------------

SELECT count(*) AS charged FROM dp_rdr.ledger \gset
SET ROLE regress_analyst;
-- A column that follows from one of several rows.
SELECT organ, count(*) FROM (SELECT v.pid, o.reason, o.organ FROM pk_visit_dp v JOIN pk_code o ON o.reason = v.reason GROUP BY v.pid, o.reason) t GROUP BY organ;
-- Groups of one person.
SELECT pid, count(*) FROM (SELECT v.pid, p.sex FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY v.pid, p.sex) t GROUP BY pid;
SELECT same, count(*) FROM (SELECT v.pid, p.pid AS same FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY v.pid, p.pid) t GROUP BY same;
SELECT vid, count(*) FROM (SELECT v.pid, p.sex, v.vid FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY v.pid, p.sex, v.vid) t GROUP BY vid;
SELECT count(*) FROM (SELECT sex, count(*) AS n FROM pk_patient_dp GROUP BY sex, random()) t;
SELECT count(*) FROM (SELECT p.pid, random() FROM pk_patient_dp p GROUP BY p.pid, random()) t;
SELECT count(*) FROM (SELECT p.pid, (SELECT count(*) FROM pk_post c WHERE c.postcode = p.postcode) FROM pk_patient_dp p GROUP BY p.pid, 2) t;
SELECT attempt('SELECT count(*) FROM (SELECT p.pid, p FROM pk_patient_dp p GROUP BY p.pid, p) t'); -- whose place PostgreSQL 18 does not keep
SELECT count(*) FROM (SELECT p.pid, p.ward ~ p.sex FROM pk_patient_dp p GROUP BY 1, 2) t;
SELECT sex, n FROM (SELECT v.pid, p.sex, count(*) AS n FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY v.pid, p.sex) t;
SELECT sex, count(*) FROM (SELECT v.pid, p.sex FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY ROLLUP (v.pid, p.sex)) t GROUP BY sex;
SELECT sex, max(n) FROM (SELECT v.pid, p.sex, string_agg(p.ward, ',') AS n FROM pk_visit_dp v JOIN pk_patient_dp p ON p.pid = v.pid GROUP BY v.pid, p.sex) t GROUP BY sex;
SELECT sum(x) FROM (SELECT p.pid, p.born - date '1900-01-01' AS x FROM pk_patient_dp p GROUP BY 1, 2) t;
SELECT sum(score) FROM (SELECT p.pid, p.pid * p.age AS score FROM pk_patient_dp p GROUP BY 1, 2) t;
-- A key that is gone: what it said does not hold any more.
\set smokers 'SELECT smokes, count(*) FROM (SELECT v.pid, e.smokes FROM pk_visit_dp v JOIN pk_extra_dp e ON e.pid = v.pid GROUP BY v.pid, e.smokes) t GROUP BY smokes'
SET ROLE regress_controller;
ALTER TABLE pk_extra DROP CONSTRAINT pk_one;
SET ROLE regress_analyst;
SELECT DISTINCT max_rows FROM dp_explain(:'smokers');
SET ROLE regress_controller;
SELECT count(*) - :charged AS charged FROM dp_rdr.ledger;
ALTER TABLE pk_extra ADD CONSTRAINT pk_one UNIQUE (pid);
SET ROLE regress_analyst;
SELECT smokes, x > 100 AS many FROM (SELECT smokes, count(*) AS x FROM (SELECT v.pid, e.smokes FROM pk_visit_dp v JOIN pk_extra_dp e ON e.pid = v.pid GROUP BY v.pid, e.smokes) t GROUP BY smokes) q ORDER BY 1;
SET ROLE regress_controller;
RESET ROLE;
