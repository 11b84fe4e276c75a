-- count(DISTINCT x): how many different values there are, of people with many rows and of rows that are people. At epsilon 100 the noise
-- of one such count is 0 (scale at most 0.05), so answers are printed.
\set VERBOSITY default
LOAD 'dp_rdr';
SET ROLE regress_controller;
CREATE FUNCTION pg_temp.attempt(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    hint text;
BEGIN
    EXECUTE statement;
    RETURN 'done';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    RETURN SQLSTATE || ' ' || SQLERRM || coalesce(' -- ' || nullif(hint, ''), '');
END $$;

-- Forty patients; each took drug d0 and two others, of thirty; patient 7 took a hundred that nobody else did. Equal values that look
-- different: 1.0 and 1.00, 0 and -0, blanks at the end; NULL; long texts, of which three are too long.
CREATE TYPE dv_mood AS ENUM ('low', 'high');
CREATE TABLE dv_patient (pid integer PRIMARY KEY, city text);
INSERT INTO dv_patient SELECT i, 'city ' || i % 9 FROM generate_series(1, 40) i;
CREATE TABLE dv_dose (pid integer, drug text, ward text, kind text, amount numeric, weight float8, small float4, code char(5), note text, mood dv_mood,
                      day date, at timestamptz, flag boolean, key uuid, bits bit(3), span interval, list integer[], who text COLLATE "C");
INSERT INTO dv_dose (pid, drug, ward, kind) SELECT i, 'd' || k, substr('ab', 1 + i % 2, 1), substr('pq', 1 + i % 2, 1)
FROM generate_series(1, 40) i, LATERAL (VALUES (0), (1 + i % 30), (1 + (i + 7) % 30)) v (k);
INSERT INTO dv_dose (pid, drug, ward, kind) SELECT 7, 'own ' || k, substr('ab', 1 + k % 2, 1), 'p' FROM generate_series(1, 100) k;
INSERT INTO dv_dose (pid, drug, ward, kind) VALUES (NULL, 'nobody''s', 'a', 'p'), (999, 'of no patient', 'b', 'q'), (3, NULL, 'a', 'p');
SELECT dp_protect('dv_patient', 'dv_patient_dp', unit => 'pid');
SELECT dp_protect('dv_dose', 'dv_dose_dp', unit => 'pid -> dv_patient(pid)', max_rows => 5);
SELECT dp_set_groups('dv_dose', 'ward', '{a,b}'), dp_set_bounds('dv_dose', 'amount', 0, 10);
SELECT dp_set_odometer('dv_patient', 'none', delta_total => 0.9);
SELECT dp_grant(v, 'regress_analyst', tau => 0, candidates => '{100}', epsilon_max => 100, delta => 1e-6)
FROM unnest('{dv_patient_dp,dv_dose_dp}'::regclass[]) v;

-- ---------------------------------------------------------------------------------------------------------------------
-- The union of what each keeps: five of patient 7's own, however many he has
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_analyst;
SELECT count(DISTINCT drug) FROM dv_dose_dp WHERE drug LIKE 'd%';
SELECT count(DISTINCT drug) AS own FROM dv_dose_dp WHERE drug LIKE 'own%';
SELECT n AS own FROM dp_query('SELECT count(DISTINCT drug) FROM dv_dose_dp WHERE drug LIKE ''own%''', max_rows => 1) AS (n bigint);
SELECT n BETWEEN 44 AND 84 AS own FROM dp_query('SELECT count(DISTINCT drug) FROM dv_dose_dp WHERE drug LIKE ''own%''', max_rows => 64) AS (n bigint);
SELECT count(DISTINCT drug) FILTER (WHERE ward = 'a') AS own FROM dv_dose_dp WHERE drug LIKE 'own%';
-- By declared groups: five pairs of a ward and a drug in all.
SELECT sum(n) AS own, max(n) < 6 AS some FROM (SELECT ward, count(DISTINCT drug) AS n FROM dv_dose_dp WHERE drug LIKE 'own%' GROUP BY ward) q;
SELECT ward, count(DISTINCT drug) FROM dv_dose_dp WHERE drug LIKE 'd%' GROUP BY ward ORDER BY ward;
SELECT n FROM dp_query('SELECT ward, count(DISTINCT drug) FROM dv_dose_dp WHERE drug LIKE ''d%'' GROUP BY ward', max_rows => 3) AS (w text, n bigint);
-- Discovered ones, beside the count of people that the threshold looks at.
CREATE TEMP TABLE dv_kind AS SELECT kind, count(DISTINCT drug) AS n FROM dv_dose_dp WHERE drug LIKE 'd%' GROUP BY kind;
SELECT kind, n BETWEEN 12 AND 36 AS drugs FROM dv_kind ORDER BY kind;
-- Beside other measures, and twice: one draw. Expressions.
SELECT count(DISTINCT drug) - count(DISTINCT drug) AS same, count(DISTINCT drug) BETWEEN 20 AND 42 AS drugs, count(*) BETWEEN 100 AND 140 AS doses,
       count(DISTINCT pid) BETWEEN 35 AND 45 AS people FROM dv_dose_dp WHERE drug LIKE 'd%';
SELECT count(DISTINCT length(drug)) FROM dv_dose_dp WHERE drug LIKE 'd%';
SELECT count(DISTINCT left(drug, 2)) FROM dv_dose_dp WHERE drug LIKE 'd%';
SELECT count(DISTINCT upper(drug)) FROM dv_dose_dp WHERE drug LIKE 'd_';
SELECT count(DISTINCT CASE WHEN drug = 'd0' THEN 'zero' WHEN drug = 'd1' THEN 'one' END) FROM dv_dose_dp;
SELECT count(DISTINCT 1) FROM dv_dose_dp;
SELECT ward, n FROM (SELECT ward, count(DISTINCT drug) AS n FROM dv_dose_dp WHERE drug LIKE 'd%' GROUP BY ward HAVING count(DISTINCT drug) > 5) q ORDER BY n DESC, ward;
SELECT dp_low(count(DISTINCT drug)) <= count(DISTINCT drug) AS low, dp_high(count(DISTINCT drug)) >= count(DISTINCT drug) AS high FROM dv_dose_dp;
-- People without a row each: values as such. A row of the table of people is a person.
SELECT count(DISTINCT city), count(DISTINCT pid) FROM dv_patient_dp;
SELECT count(DISTINCT city) FROM dv_patient_dp WHERE pid > 38;
SELECT column_name, accepted, epsilon, error95, max_rows FROM dp_explain('SELECT count(DISTINCT drug) FROM dv_dose_dp');
SELECT column_name, accepted, epsilon, error95 FROM dp_explain('SELECT count(*) FROM dv_dose_dp');
RESET ROLE;
SET ROLE regress_controller;
SELECT parameters -> 'measures' AS measures, parameters -> 'max_rows' AS max_rows FROM dp_rdr.ledger WHERE relation = 'public.dv_dose' ORDER BY id LIMIT 1;
SELECT parameters -> 'measures' AS measures FROM dp_rdr.ledger WHERE relation = 'public.dv_patient' ORDER BY id LIMIT 1;

-- ---------------------------------------------------------------------------------------------------------------------
-- Equal values, whatever they look like
-- ---------------------------------------------------------------------------------------------------------------------

TRUNCATE dv_dose;
INSERT INTO dv_dose SELECT i, NULL, 'a', 'p', (ARRAY['1', '1.0', '1.00', '-0', '0.000', 'NaN', '1e3', '1000', 'Infinity'])[1 + i % 9]::numeric,
    (ARRAY['0', '-0', 'NaN', '1e-300', '1'])[1 + i % 5]::float8, (ARRAY['0', '-0', 'NaN', '1'])[1 + i % 4]::float4,
    (ARRAY['x', 'x ', 'x    ', ' x'])[1 + i % 4], CASE WHEN i % 3 = 0 THEN NULL ELSE repeat('long ' || i % 2, 20000) END, (ARRAY['low', 'high'])[1 + i % 2]::dv_mood,
    date '2020-01-01' + i % 6, (ARRAY['2020-01-01 12:00+00', '2020-01-01 13:00+01', '2020-01-01 12:00+01'])[1 + i % 3]::timestamptz, i % 2 = 0,
    ('00000000-0000-0000-0000-00000000000' || i % 7)::uuid, (ARRAY['101', '011'])[1 + i % 2]::bit(3), (ARRAY['1 month', '30 days'])[1 + i % 2]::interval,
    ARRAY[i % 2], chr(97 + i % 4)
FROM generate_series(1, 36) i;
CREATE TABLE dv_plain AS SELECT d.* FROM dv_dose d;
ALTER TABLE dv_plain ALTER note SET STORAGE EXTERNAL;
SELECT dp_protect('dv_plain', 'dv_plain_dp');
SELECT dp_set_odometer('dv_plain', 'none', delta_total => 0.9);
SELECT dp_grant('dv_plain_dp', 'regress_analyst', tau => 0, candidates => '{100}', epsilon_max => 100, delta => 1e-6);
-- Of more than a megabyte: as NULL.
INSERT INTO dv_dose (pid, note) SELECT i, repeat('x', 1048576 + i) FROM generate_series(1, 3) i;
INSERT INTO dv_dose (pid, note) VALUES (4, repeat('x', 1048576));
INSERT INTO dv_plain (pid, note) SELECT pid, note FROM dv_dose WHERE length(note) > 1000000;
SELECT n, (SELECT count(DISTINCT amount)::text FROM dv_plain) AS plain FROM (VALUES ('of PostgreSQL')) v (n);
CREATE TEMP TABLE dv_column (place integer, name text);
INSERT INTO dv_column SELECT i, c FROM unnest('{amount,weight,small,code,mood,day,at,flag,key,bits,who,ward,drug}'::text[]) WITH ORDINALITY u (c, i);
CREATE TEMP TABLE dv_result (place integer, name text, exact bigint, units bigint, rows bigint);
GRANT ALL ON dv_column, dv_result TO regress_analyst;
DO $$
DECLARE
    c record;
    exact bigint;
    units bigint;
    plain bigint;
BEGIN
    FOR c IN SELECT * FROM dv_column ORDER BY place LOOP
        EXECUTE format('SELECT count(DISTINCT %I) FROM dv_plain', c.name) INTO exact;
        SET ROLE regress_analyst;
        EXECUTE format('SELECT count(DISTINCT %I) FROM dv_dose_dp', c.name) INTO units;
        EXECUTE format('SELECT count(DISTINCT %I) FROM dv_plain_dp', c.name) INTO plain;
        SET ROLE regress_controller;
        INSERT INTO dv_result VALUES (c.place, c.name, exact, units, plain);
    END LOOP;
END $$;
SELECT name, exact, units, rows FROM dv_result ORDER BY place;
SET ROLE regress_analyst;
SELECT count(DISTINCT note) AS units FROM dv_dose_dp;
SELECT count(DISTINCT note) AS rows FROM dv_plain_dp;
SELECT flag, count(DISTINCT amount), count(DISTINCT day) FROM dv_plain_dp GROUP BY flag ORDER BY flag;
-- Where nobody is
SELECT count(DISTINCT amount) FROM dv_dose_dp WHERE amount > 5000 AND amount < 6000;

-- ---------------------------------------------------------------------------------------------------------------------
-- Refused, and nothing is charged
-- ---------------------------------------------------------------------------------------------------------------------

RESET ROLE;
SET ROLE regress_controller;
SELECT dp_protect('dv_dose', 'dv_var_dp'), dp_protect('dv_plain', 'dv_varp_dp'), dp_protect('dv_plain', 'dv_within_dp');
SELECT dp_grant('dv_var_dp', 'regress_analyst', tau_var => 0.01), dp_grant('dv_varp_dp', 'regress_analyst', tau_var => 0.01),
       dp_grant('dv_within_dp', 'regress_analyst', tau => 0.5, selection => 'within_data');
SELECT max(id) AS last FROM dp_rdr.ledger \gset
SET ROLE regress_analyst;
SELECT q, pg_temp.attempt(q) AS outcome FROM (VALUES
    (1, 'SELECT sum(DISTINCT amount) FROM dv_dose_dp'),
    (2, 'SELECT avg(DISTINCT amount) FROM dv_plain_dp'),
    (3, 'SELECT count(DISTINCT (ward, drug)) FROM dv_dose_dp'),
    (4, 'SELECT count(DISTINCT span) FROM dv_dose_dp'),
    (5, 'SELECT count(DISTINCT list) FROM dv_plain_dp'),
    (7, 'SELECT count(DISTINCT random()) FROM dv_plain_dp'),
    (9, 'SELECT count(DISTINCT amount) FROM dv_var_dp'),
    (10, 'SELECT count(DISTINCT amount) FROM dv_varp_dp'),
    (11, 'SELECT count(DISTINCT amount) FROM dv_within_dp'),
    (12, 'SELECT n FROM dp_query(''SELECT count(DISTINCT amount) FROM dv_dose_dp GROUP BY ward'', max_rows => 1048576) AS (n bigint)'),
    (13, 'SELECT count(DISTINCT amount ORDER BY amount) FROM dv_plain_dp')) v (place, q) ORDER BY place;
RESET ROLE;
SET ROLE regress_controller;
-- The controller's instruments. The published noise is known of general queries alone, where a row is a person.
SELECT q, pg_temp.attempt(q) AS outcome FROM (VALUES
    (1, 'SELECT count(*) FROM dp_risk(''SELECT count(DISTINCT amount) FROM dv_plain_dp'', calibration => ''published'')'),
    (2, 'SELECT count(*) FROM dp_risk(''SELECT count(DISTINCT amount) FROM dv_dose_dp'')'),
    (3, 'SELECT count(*) FROM dp_risk_records(''SELECT count(DISTINCT amount) FROM dv_dose_dp'', 1)'),
    (4, 'SELECT count(*) FROM dp_risk_output(''SELECT count(DISTINCT amount) FROM dv_plain_dp'', ''{3}'')'),
    (5, 'CALL dp_find_epsilon(''SELECT count(DISTINCT amount) FROM dv_dose_dp'', 0.5)'),
    (6, 'CALL dp_find_and_release_epsilon(''SELECT count(DISTINCT amount) FROM dv_plain_dp'', 0.01)')) v (place, q) ORDER BY place;
SELECT count(*) AS charged FROM dp_rdr.ledger WHERE id > :last;

-- ---------------------------------------------------------------------------------------------------------------------
-- The aggregate: any order, any parts, plans and spilling give the same
-- ---------------------------------------------------------------------------------------------------------------------

-- 30,000 people with up to 12 values out of 200,000; 200 people with 300 values each.
CREATE TABLE dv_many (who integer, v integer, g integer);
INSERT INTO dv_many SELECT i, (i::bigint * 7919 + k * 104729) % 200000, k % 3 FROM generate_series(1, 30000) i, generate_series(1, 1 + i % 12) k;
INSERT INTO dv_many SELECT 100000 + i, (i + k * 17) % 200000, k % 3 FROM generate_series(1, 200) i, generate_series(1, 300) k;
ANALYZE dv_many;
SELECT dp_protect('dv_many', 'dv_many_dp', unit => 'who', max_rows => 12, max_groups => 3);
SELECT dp_set_odometer('dv_many', 'none', delta_total => 0.9);
SELECT dp_grant('dv_many_dp', 'regress_analyst', tau => 0, candidates => '{100}', epsilon_max => 100, delta => 1e-6);
SET ROLE regress_analyst;
CREATE TEMP TABLE dv_first AS SELECT count(DISTINCT v) AS n FROM dv_many_dp;
CREATE TEMP TABLE dv_groups AS SELECT g, count(DISTINCT v) AS n FROM dv_many_dp GROUP BY g;
RESET ROLE;
-- All values of who has at most 12, and 12 of each of the others at most.
SELECT n BETWEEN least - 6 AND least + 200 * 12 + 6 AS within, n > least AS more FROM dv_first, (SELECT count(DISTINCT v) AS least FROM dv_many WHERE who < 100000) q;
-- In another order, on other pages.
CREATE TEMP TABLE dv_copy AS SELECT * FROM dv_many;
TRUNCATE dv_many;
INSERT INTO dv_many SELECT * FROM dv_copy ORDER BY v % 1009, who DESC;
INSERT INTO dv_many SELECT * FROM dv_copy WHERE v % 3 = 0; -- values that are there twice
SET ROLE regress_analyst;
SELECT abs(n - (SELECT count(DISTINCT v) FROM dv_many_dp)) <= 6 AS same FROM dv_first;
-- Two measures share epsilon, and the noise is twice as wide.
SELECT count(*), bool_and(abs(a.n - b.n) <= 10) AS same FROM (SELECT g, count(DISTINCT v) AS n FROM dv_many_dp GROUP BY g) a JOIN dv_groups b USING (g);
RESET ROLE;
