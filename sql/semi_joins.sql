-- Semi-joins: EXISTS and IN as conjuncts of WHERE (those that are values are in semi_values), over restricted views of the same people and over public tables. What they leave of
-- the rows is compared with plain SQL; noise is small at epsilon 100.

LOAD 'dp_rdr';
CREATE SCHEMA semi AUTHORIZATION regress_controller;
GRANT USAGE ON SCHEMA semi TO regress_analyst;
SET search_path = semi, public;
SET ROLE regress_controller;
CREATE TABLE patient (patient_id integer PRIMARY KEY, ward integer);
CREATE TABLE visit (visit_id integer PRIMARY KEY, patient_id integer, code text, cost integer);
CREATE TABLE bill (visit_id integer, amount integer);
CREATE TABLE letter (author integer, subject text);
INSERT INTO patient SELECT i, i % 5 FROM generate_series(1, 1000) i;
INSERT INTO visit SELECT i, 1 + i % 800, CASE WHEN i % 10 < 9 THEN 'c' || i % 10 END, i % 100 FROM generate_series(1, 4000) i;
INSERT INTO visit SELECT 5000 + i, NULL, 'c0', 1 FROM generate_series(1, 500) i; -- nobody's
INSERT INTO bill SELECT i, i % 50 FROM generate_series(1, 4000, 2) i;
INSERT INTO letter SELECT i, 's' || i % 3 FROM generate_series(1, 2000) i;
CREATE TABLE code (code text PRIMARY KEY, weight integer);
INSERT INTO code SELECT 'c' || i, i FROM generate_series(0, 4) i;
CREATE TABLE code_null (code text);
INSERT INTO code_null VALUES ('c1'), (NULL);
CREATE TABLE nothing (code text);
CREATE TABLE hidden (code text);
SELECT dp_protect('patient', 'patient_dp', unit => 'patient_id'), dp_protect('visit', 'visit_dp', unit => 'patient_id -> patient', max_rows => 10),
       dp_protect('bill', 'bill_dp', unit => 'visit_id -> visit', max_rows => 10), dp_protect('visit', 'dear_dp', filter => 'cost >= 50'),
       dp_protect('letter', 'letter_dp', unit => 'author', max_rows => 3);
SELECT dp_set_public(t, 'patient') FROM unnest('{code,code_null,nothing,hidden}'::regclass[]) t;
SELECT dp_set_odometer('patient', 'none'), dp_set_odometer('letter', 'none');
SELECT dp_grant(v, 'regress_analyst', tau => 0, candidates => '{100}', epsilon_max => 100)
FROM unnest('{patient_dp,visit_dp,bill_dp,dear_dp,letter_dp}'::regclass[]) v;
GRANT SELECT ON code, code_null, nothing TO regress_analyst;

-- The same question of the tables: rows of nobody are in no answer, and everybody is within his limits.
CREATE TABLE asked (n serial, query text, plain text);
INSERT INTO asked (query) VALUES
('SELECT count(*) FROM patient_dp p WHERE EXISTS (SELECT FROM visit_dp v WHERE v.patient_id = p.patient_id)'),
('SELECT count(*) FROM patient_dp p WHERE NOT EXISTS (SELECT 1 FROM visit_dp v WHERE v.patient_id = p.patient_id)'),
('SELECT count(*) FROM patient_dp p WHERE EXISTS (SELECT * FROM visit_dp v WHERE p.patient_id = v.patient_id AND v.cost > 90 AND v.code = ''c3'') AND p.ward > 3'),
('SELECT count(*) FROM patient_dp p WHERE NOT EXISTS (SELECT FROM visit_dp v WHERE v.patient_id = p.patient_id AND v.cost % 7 = p.ward)'),
('SELECT count(*) FROM patient_dp p WHERE p.patient_id IN (SELECT v.patient_id FROM visit_dp v WHERE v.cost < 10)'),
('SELECT count(*) FROM visit_dp v WHERE EXISTS (SELECT FROM bill_dp b WHERE b.visit_id = v.visit_id AND b.amount < 20)'),
('SELECT count(*) FROM visit_dp v WHERE v.visit_id IN (SELECT visit_id FROM bill_dp) AND NOT EXISTS (SELECT FROM visit_dp o WHERE o.patient_id = v.patient_id AND o.cost > v.cost)'),
('SELECT count(*) FROM patient_dp p WHERE EXISTS (SELECT FROM dear_dp v WHERE v.patient_id = p.patient_id)'),
('SELECT count(*) FROM patient_dp p WHERE NOT EXISTS (SELECT FROM dear_dp v WHERE v.patient_id = p.patient_id)'),
('SELECT count(*) FROM patient_dp p JOIN visit_dp v ON v.patient_id = p.patient_id WHERE EXISTS (SELECT FROM dear_dp d WHERE d.patient_id = p.patient_id AND d.code = v.code)'),
('SELECT count(*) FROM visit_dp v WHERE EXISTS (SELECT FROM code c WHERE c.code = v.code)'),
('SELECT count(*) FROM visit_dp v WHERE NOT EXISTS (SELECT FROM code c WHERE c.code = v.code AND c.weight > 2)'),
('SELECT count(*) FROM visit_dp WHERE code IN (SELECT code FROM code WHERE weight < 3)'),
('SELECT count(*) FROM visit_dp WHERE code NOT IN (SELECT code FROM code)'),
('SELECT count(*) FROM visit_dp WHERE code NOT IN (SELECT code FROM code_null)'),
('SELECT count(*) FROM visit_dp WHERE code NOT IN (SELECT code FROM nothing)'),
('SELECT count(*) FROM visit_dp WHERE code IN (SELECT code FROM nothing)'),
('SELECT count(*) FROM visit_dp WHERE NOT code IN (SELECT code FROM code WHERE weight > 1) AND cost > 10'),
('SELECT count(DISTINCT v.patient_id) FROM visit_dp v LEFT JOIN code c ON c.code = v.code WHERE EXISTS (SELECT FROM bill_dp b WHERE b.visit_id = v.visit_id)');
UPDATE asked SET plain = regexp_replace(replace(replace(query, '_dp', ''), 'FROM visit WHERE', 'FROM visit WHERE patient_id IS NOT NULL AND'),
                                        'FROM visit v WHERE (?!v.patient)(?!p.patient)', 'FROM visit v WHERE v.patient_id IS NOT NULL AND ', 'g');
UPDATE asked SET plain = regexp_replace(plain, 'FROM dear (\w) WHERE', 'FROM visit \1 WHERE \1.cost >= 50 AND');
GRANT SELECT ON asked TO regress_analyst;
CREATE TABLE answer (n integer, x bigint);
GRANT INSERT ON answer TO regress_analyst;
SET ROLE regress_analyst;
DO $$
DECLARE
    q record;
    x bigint;
BEGIN
    FOR q IN SELECT * FROM semi.asked ORDER BY n LOOP
        EXECUTE q.query INTO x;
        INSERT INTO semi.answer VALUES (q.n, x);
    END LOOP;
END $$;
SET ROLE regress_controller;
CREATE FUNCTION exact(query text) RETURNS bigint LANGUAGE plpgsql AS $$ DECLARE x bigint; BEGIN EXECUTE query INTO x; RETURN x; END $$;
SELECT n, exact(plain), x AS answer, plain FROM asked JOIN answer USING (n) WHERE abs(exact(plain) - x) > 25 ORDER BY n;
SELECT n, round(exact(plain), -1) AS about FROM asked ORDER BY n;
SET ROLE regress_analyst;
-- They multiply nothing: what a person brings is what he brings without.
SELECT (SELECT max_rows FROM dp_explain('SELECT count(*) FROM visit_dp v WHERE EXISTS (SELECT FROM bill_dp b WHERE b.visit_id = v.visit_id)')) AS semi,
       (SELECT max_rows FROM dp_explain('SELECT count(*) FROM visit_dp v JOIN bill_dp b ON b.visit_id = v.visit_id')) AS joined,
       (SELECT max_rows FROM dp_explain('SELECT count(*) FROM patient_dp p WHERE EXISTS (SELECT FROM visit_dp v WHERE v.patient_id = p.patient_id)')) AS one;

-- Refused, each with what to write instead.
SELECT query, attempt(query) FROM unnest(ARRAY[
'SELECT count(*) FROM patient_dp p WHERE p.patient_id NOT IN (SELECT patient_id FROM visit_dp)',
'SELECT count(*) FROM patient_dp p WHERE p.ward NOT IN (SELECT cost FROM visit_dp v WHERE v.patient_id = p.patient_id)',
'SELECT sum((SELECT max(weight) FROM code)) FROM patient_dp p',
'SELECT count(*) FROM patient_dp p WHERE EXISTS (SELECT FROM visit_dp v)',
'SELECT count(*) FROM patient_dp p WHERE EXISTS (SELECT FROM visit_dp v WHERE v.cost = p.ward)',
'SELECT count(*) FROM patient_dp p WHERE EXISTS (SELECT FROM visit_dp v WHERE v.patient_id > p.patient_id)',
'SELECT count(*) FROM patient_dp p WHERE EXISTS (SELECT FROM letter_dp l WHERE l.author = p.patient_id)',
'SELECT count(*) FROM patient_dp p WHERE EXISTS (SELECT FROM code c WHERE c.weight > p.ward)',
'SELECT count(*) FROM patient_dp p WHERE EXISTS (SELECT FROM code)',
'SELECT count(*) FROM visit_dp v WHERE EXISTS (SELECT FROM ONLY code c WHERE c.code = v.code)',
'SELECT count(*) FROM visit_dp v WHERE v.code IN (SELECT code FROM ONLY code)',
'SELECT count(*) FROM patient_dp p WHERE EXISTS (SELECT FROM visit_dp v, bill_dp b WHERE v.patient_id = p.patient_id)',
'SELECT count(*) FROM patient_dp p WHERE EXISTS (SELECT FROM visit_dp v WHERE v.patient_id = p.patient_id LIMIT 1)',
'SELECT count(*) FROM patient_dp p WHERE EXISTS (SELECT count(*) FROM code v WHERE v.weight = p.ward)',
'SELECT count(*) FROM patient_dp p WHERE EXISTS (SELECT FROM code c WHERE c.weight = p.ward AND EXISTS (SELECT FROM code d WHERE d.weight = c.weight))',
'SELECT count(*) FROM patient_dp p WHERE EXISTS (SELECT FROM visit v WHERE v.patient_id = p.patient_id)',
'SELECT count(*) FROM patient_dp p WHERE EXISTS (SELECT FROM pg_class c WHERE c.relnatts = p.ward)',
'SELECT count(*) FROM patient_dp p WHERE (p.ward, p.patient_id) NOT IN (SELECT weight, weight FROM code)',
'SELECT count(*) FROM patient_dp p WHERE p.ward = ANY (SELECT weight FROM code) IS NOT FALSE',
'SELECT count(*) FROM patient_dp p WHERE p.ward > ALL (SELECT weight FROM code)',
'SELECT count(*) FROM visit_dp v WHERE EXISTS (SELECT FROM hidden h WHERE h.code = v.code)',
'SELECT count(*) FROM visit_dp v WHERE v.code IN (SELECT code FROM hidden)',
'SELECT count(*) FROM code c WHERE EXISTS (SELECT FROM visit_dp v WHERE v.code = c.code)']) query;
-- In a text of one's own.
SELECT attempt($$SELECT * FROM dp_rdr.release('SELECT count(*) AS c1 FROM semi.code c WHERE (EXISTS (SELECT FROM semi.visit_dp v WHERE (v.code = c.code)))', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)$$),
       attempt($$SELECT * FROM dp_rdr.release('SELECT count(*) AS c1 FROM semi.patient_dp p WHERE (EXISTS (SELECT FROM semi.visit v WHERE (v.patient_id = p.patient_id)))', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)$$);
