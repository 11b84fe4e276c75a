-- What an analyst meets in the first hours: refusals that name the part and a remedy, and each remedy is followed to the letter.

LOAD 'dp_rdr';
\pset null '-'
SET ROLE regress_controller;
CREATE TYPE severity AS ENUM ('low', 'high');
CREATE TABLE hospital (
    id integer, patient integer, ward text, sex text, born date, admitted timestamp, discharged timestamp, diagnosis text,
    cost numeric(12, 2), paid numeric, age smallint, smoker boolean, severity severity, length interval,
    -- What cannot be declared of an expression can be of a generated column: groups for a month, bounds for a number.
    month date GENERATED ALWAYS AS (make_date(extract(year FROM admitted)::integer, extract(month FROM admitted)::integer, 1)) STORED,
    days numeric GENERATED ALWAYS AS (extract(epoch FROM length) / 86400) STORED,
    cost_squared numeric GENERATED ALWAYS AS (cost * cost) STORED);
INSERT INTO hospital
SELECT i, i % 1500, (ARRAY['icu', 'surgery', 'oncology', 'maternity'])[1 + i % 4], (ARRAY['f', 'm'])[1 + i / 2 % 2],
       date '1930-01-01' + i * 7 % 33000, timestamp '2025-01-01' + i % 365 * interval '1 day',
       timestamp '2025-01-04' + i % 365 * interval '1 day', 'D' || i % 300, i % 5000 + 0.25, i % 5000 * 1.005, i % 100,
       i % 3 = 0, 'low', i % 9 * interval '1 day'
FROM generate_series(1, 6000) i;
SELECT dp_protect('hospital', 'hospital_dp');
SELECT dp_set_bounds('hospital', 'cost', 0, 5000), dp_set_bounds('hospital', 'paid', 0, 5000), dp_set_bounds('hospital', 'age', 0, 110),
       dp_set_bounds('hospital', 'days', 0, 60), dp_set_bounds('hospital', 'cost_squared', 0, 25000000),
       dp_set_groups('hospital', 'ward', '{icu,surgery,oncology,maternity}'), dp_set_groups('hospital', 'sex', '{f,m}'),
       dp_set_groups('hospital', 'month', (SELECT array_agg(d::date::text)
                                       FROM generate_series('2025-01-01', '2025-12-01', interval '1 month') d)),
       dp_set_odometer('hospital', 'none', NULL, 0.9);
SELECT dp_grant('hospital_dp', 'regress_analyst', tau => 0.5), dp_grant('hospital_dp', 'regress_second', tau => 0.5, delta => 1e-12);

CREATE FUNCTION refusal(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    remedy text;
BEGIN
    EXECUTE statement;
    RETURN NULL;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS remedy = PG_EXCEPTION_HINT;
    RETURN format(E'%s %s\n   %s', sqlstate, sqlerrm, remedy);
END $$;

-- ---------------------------------------------------------------------------------------------------------------------
-- What people write, and the remedy that the hint describes
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE hint (n integer GENERATED ALWAYS AS IDENTITY, refused text, remedy text);
COPY hint (refused, remedy) FROM stdin (DELIMITER '|');
SELECT * FROM hospital_dp LIMIT 10|SELECT ward, count(*) FROM hospital_dp GROUP BY ward
SELECT DISTINCT ward FROM hospital_dp|SELECT ward, count(*) FROM hospital_dp GROUP BY ward
SELECT DISTINCT ON (ward) ward, cost FROM hospital_dp|SELECT ward, avg(cost) FROM hospital_dp GROUP BY ward
TABLE hospital_dp|SELECT count(*) FROM hospital_dp
SELECT count(DISTINCT (ward, sex)) FROM hospital_dp|SELECT count(DISTINCT ward \|\| ' ' \|\| sex) FROM hospital_dp
SELECT sum(DISTINCT cost) FROM hospital_dp|SELECT count(DISTINCT cost) FROM hospital_dp
SELECT sum(cost ORDER BY age) FROM hospital_dp|SELECT sum(cost) FROM hospital_dp
SELECT percentile_cont('{}'::float8[]) WITHIN GROUP (ORDER BY cost) FROM hospital_dp|SELECT percentile_cont(ARRAY[0.25, 0.75]) WITHIN GROUP (ORDER BY cost) FROM hospital_dp
SELECT percentile_cont(ARRAY[age / 100.0]) WITHIN GROUP (ORDER BY cost) FROM hospital_dp GROUP BY age|SELECT percentile_cont(0.25) WITHIN GROUP (ORDER BY cost), percentile_cont(0.75) WITHIN GROUP (ORDER BY cost) FROM hospital_dp
SELECT mode() WITHIN GROUP (ORDER BY ward) FROM hospital_dp|SELECT ward, count(*) FROM hospital_dp GROUP BY ward ORDER BY 2 DESC LIMIT 1
SELECT max(diagnosis) FROM hospital_dp|SELECT count(*) FILTER (WHERE diagnosis > 'D2') FROM hospital_dp
SELECT min(length) FROM hospital_dp|SELECT count(*) FILTER (WHERE admitted < '2025-02-01') FROM hospital_dp
SELECT regr_sxx(cost, age) FROM hospital_dp|SELECT var_pop(age), count(*) FROM hospital_dp WHERE age IS NOT NULL AND cost IS NOT NULL
SELECT regr_avgy(cost, age) FROM hospital_dp|SELECT avg(cost) FROM hospital_dp WHERE age IS NOT NULL
SELECT regr_sxy(cost, age) FROM hospital_dp|SELECT covar_pop(cost, age), corr(cost, age), regr_slope(cost, age) FROM hospital_dp
SELECT string_agg(ward, ',') FROM hospital_dp|SELECT ward, count(*) FROM hospital_dp GROUP BY ward
SELECT array_agg(patient) FROM hospital_dp|SELECT ward, count(*) FROM hospital_dp GROUP BY ward
SELECT bool_or(smoker) FROM hospital_dp|SELECT count(*) FILTER (WHERE smoker) FROM hospital_dp
SELECT every(smoker) FROM hospital_dp|SELECT count(*) FILTER (WHERE smoker) FROM hospital_dp
SELECT avg(length) FROM hospital_dp|SELECT avg(days), avg(least(greatest(extract(epoch FROM length), 0), 60 * 86400)), count(*) FILTER (WHERE length > interval '3 days') FROM hospital_dp
SELECT avg(age(discharged, admitted)) FROM hospital_dp|SELECT avg(least(greatest(discharged - admitted, interval '0'), interval '60 days')) FROM hospital_dp
SELECT avg(discharged - admitted) FROM hospital_dp|SELECT avg(least(greatest(discharged - admitted, interval '0'), interval '60 days')) FROM hospital_dp
SELECT avg(extract(epoch FROM length)) FROM hospital_dp|SELECT avg(least(greatest(extract(epoch FROM length), 0), 60 * 86400)) FROM hospital_dp
SELECT sum(patient * 2) FROM hospital_dp|SELECT sum(least(greatest(patient * 2, 0), 3000)) FROM hospital_dp
SELECT ward, count(*) FROM hospital_dp GROUP BY GROUPING SETS (ward, ward)|SELECT ward, count(*) FROM hospital_dp GROUP BY DISTINCT GROUPING SETS (ward, ward)
SELECT date_trunc('month', admitted), count(*) FROM hospital_dp GROUP BY 1|SELECT month, count(*) FROM hospital_dp GROUP BY month
SELECT to_char(admitted, 'YYYY-MM'), count(*) FROM hospital_dp GROUP BY 1|SELECT to_char(month, 'YYYY-MM'), count(*) FROM hospital_dp GROUP BY month
SELECT diagnosis, count(*) FROM hospital_dp GROUP BY diagnosis|SELECT sex, count(*) FROM hospital_dp GROUP BY sex
SELECT count(*) FROM hospital_dp WHERE concat(ward, '-', smoker) = 'icu-t'|SELECT count(*) FROM hospital_dp WHERE concat(ward, '-', CASE WHEN smoker THEN 't' ELSE 'f' END) = 'icu-t'
SELECT count(*) FROM hospital_dp WHERE diagnosis ~ '^D1'|SELECT count(*) FROM hospital_dp WHERE diagnosis LIKE 'D1%'
SELECT count(*) FROM hospital_dp WHERE sqrt(cost) > 10|SELECT count(*) FROM hospital_dp WHERE cost > 10 * 10
SELECT count(*) FROM hospital_dp WHERE random() < 0.5|SELECT count(*) FROM hospital_dp
SELECT count(*) FROM hospital_dp WHERE ward LIKE ANY (ARRAY['i%', 's%'])|SELECT count(*) FROM hospital_dp WHERE ward LIKE 'i%' OR ward LIKE 's%'
SELECT count(*) FROM hospital_dp WHERE patient IN (SELECT patient FROM hospital_dp LIMIT 3)|SELECT count(*) FROM hospital_dp WHERE patient IN (SELECT generate_series(1, 3))
SELECT count(*) FROM hospital_dp WHERE cost > (SELECT cost FROM hospital_dp LIMIT 1)|SELECT count(*) FROM hospital_dp WHERE cost > (SELECT avg(cost) FROM hospital_dp)
SELECT count(*) FROM hospital_dp FULL JOIN (VALUES ('icu')) m (ward) USING (ward)|SELECT s.n FROM (SELECT ward, count(*) AS n FROM hospital_dp GROUP BY ward) s JOIN (VALUES ('icu')) m (ward) USING (ward)
SELECT m.ward, (SELECT count(*) FROM hospital_dp s WHERE s.ward = m.ward) FROM (VALUES ('icu')) m (ward)|SELECT ward, s.n FROM (VALUES ('icu')) m (ward) JOIN (SELECT ward, count(*) AS n FROM hospital_dp GROUP BY ward) s USING (ward)
SELECT ward, row_number() OVER (ORDER BY cost) FROM hospital_dp|SELECT ward, count(*), rank() OVER (ORDER BY count(*) DESC) FROM hospital_dp GROUP BY ward
SELECT count(*) FROM (SELECT DISTINCT ward FROM hospital_dp) t|SELECT count(*) FROM (SELECT ward FROM hospital_dp GROUP BY ward HAVING count(*) > 100) g
SELECT avg(cost) FROM (SELECT * FROM hospital_dp ORDER BY cost LIMIT 100) t|SELECT avg(cost) FROM hospital_dp WHERE cost < 100
SELECT count(*) FROM (SELECT ward FROM hospital_dp UNION ALL SELECT 'gp') t|SELECT sum(n) FROM (SELECT count(*) AS n FROM hospital_dp UNION ALL SELECT 1) t
SELECT ward FROM hospital_dp GROUP BY ward|SELECT ward, count(*) FROM hospital_dp GROUP BY ward
SELECT count(hospital_dp) FROM hospital_dp|SELECT count(*) FROM hospital_dp
SELECT generate_series(1, age), count(*) FROM hospital_dp GROUP BY 1|SELECT count(*) FROM hospital_dp
WITH RECURSIVE w AS (SELECT ward FROM hospital_dp UNION SELECT ward FROM w) SELECT count(*) FROM w|SELECT count(*) FROM hospital_dp
SELECT dp_query('SELECT count(*) FROM hospital_dp')|SELECT * FROM dp_query('SELECT count(*) FROM hospital_dp') AS (n bigint)
SELECT * FROM dp_query('SELECT count(*) FROM hospital_dp') AS (n integer)|SELECT * FROM dp_query('SELECT count(*) FROM hospital_dp') AS (count bigint)
\.
GRANT SELECT ON hint TO regress_analyst, regress_second;
SET ROLE regress_analyst;
\t on
\pset format unaligned
SELECT format(E'%s\n=> %s', refused, refusal(refused)) FROM hint ORDER BY n;
SELECT count(*) || ' remedies' FROM hint;
SELECT 'not accepted: ' || remedy || ' ' || refusal(remedy) FROM hint WHERE refusal(remedy) IS NOT NULL ORDER BY n;
-- A hint that is pasted stops at its placeholder, or asks nothing but what was asked: no number in it runs.
CREATE FUNCTION pg_temp.pasted(part text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE CASE WHEN part ~ '^dp_set' THEN 'SELECT ' || part ELSE 'SELECT sum(' || part || ') FROM hospital_dp' END;
    RETURN 'runs: ' || part;
EXCEPTION WHEN undefined_column THEN
    RETURN 'stops';
END $$;
SELECT DISTINCT pg_temp.pasted(m[1]) FROM hint, refusal(refused) r, regexp_matches(r, '(dp_set_[a-z]+\(''[^)]*\))', 'g') m;
SELECT DISTINCT pg_temp.pasted(format('CASE WHEN %s THEN 1 END', m[1])) FROM hint, refusal(refused) r, regexp_matches(r, 'it: WHERE (.*? BETWEEN LOW AND HIGH)', 'g') m;
SELECT DISTINCT pg_temp.pasted(m[1]) FROM hint, refusal(refused) r, regexp_matches(r, 'or (least\(greatest\(.*?, LOW\), HIGH\))', 'g') m;
SELECT refused AS number_that_runs FROM hint, refusal(refused) r WHERE r ~ '(least|greatest)[(].*[(,] *[0-9]+[),]' AND r !~ 'LOW' ORDER BY n;
-- With a delta groups may be discovered; the rest is refused alike.
SET ROLE regress_second;
SELECT 'answered: ' || refused FROM hint WHERE refusal(refused) IS NULL ORDER BY n;
SELECT refusal('SELECT width_bucket(cost, 0, 5000, 10), count(*) FROM hospital_dp GROUP BY 1') IS NULL;

-- No bounds, no policy, no privilege, a slip of the pen.
SELECT refusal('SELECT sum(patient) FROM hospital_dp');
SELECT refusal('SELECT wrad, count(*) FROM hospital_dp GROUP BY 1');
SET ROLE regress_stranger;
SELECT refusal('SELECT count(*) FROM hospital_dp');
SET ROLE regress_controller;
GRANT SELECT ON hospital_dp TO regress_stranger;
SET ROLE regress_stranger;
SELECT refusal('SELECT count(*) FROM hospital_dp');
SET ROLE regress_controller;
SELECT dp_set_odometer('hospital', 'filter', 0.001, 0.9);
SET ROLE regress_analyst;
SELECT refusal('SELECT count(*) FROM hospital_dp');
SET ROLE regress_controller;
SELECT dp_set_odometer('hospital', 'none', NULL, 0.9);
\t off
\pset format aligned

-- A connection that has the library.
\c
LOAD 'dp_rdr';
SET ROLE regress_analyst;
SELECT * FROM hospital_dp;

-- ---------------------------------------------------------------------------------------------------------------------
-- Groups that nobody declared
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_second;
-- Said once in a connection.
SELECT patient, count(*) FROM hospital_dp WHERE id <= 20 GROUP BY patient;
SELECT patient, count(*) FROM hospital_dp WHERE id <= 20 GROUP BY patient;
-- Whoever computes with them is warned, once for a statement. (Groups of one row appear once in 10^12 times.)
SELECT count(*) FROM (SELECT count(*), patient FROM hospital_dp WHERE id <= 20 GROUP BY patient) t;
SELECT column_name, epsilon, error95, reason FROM dp_last_release();
SELECT patient FROM hospital_dp WHERE id <= 20 GROUP BY patient LIMIT 1;
SELECT patient, sum(count(*)) OVER () FROM hospital_dp WHERE id <= 20 GROUP BY patient;
SELECT DISTINCT count(*) FROM hospital_dp WHERE id <= 20 GROUP BY patient;
WITH w AS (SELECT patient, count(*) AS n FROM hospital_dp WHERE id <= 20 GROUP BY 1) SELECT avg(a.n) FROM w a JOIN w b USING (patient);
SELECT patient FROM hospital_dp WHERE id <= 20 GROUP BY patient EXCEPT SELECT 1;
SELECT 1 AS one WHERE EXISTS (SELECT patient FROM hospital_dp WHERE id <= 20 GROUP BY patient);
SELECT count(*) FROM (SELECT * FROM (SELECT patient, age FROM hospital_dp WHERE id <= 20 GROUP BY 1, 2) a UNION ALL SELECT patient, age FROM hospital_dp WHERE id <= 20 GROUP BY 1, 2) b;
SELECT * FROM dp_query('SELECT count(*) FROM (SELECT patient FROM hospital_dp WHERE id <= 20 GROUP BY patient) t') AS (n bigint);
PREPARE patients AS SELECT count(*) FROM (SELECT patient FROM hospital_dp WHERE id <= $1 GROUP BY patient) t;
EXECUTE patients (20);
EXECUTE patients (30);
DEALLOCATE patients;
-- Not for groups that are shown as they are, nor for declared ones.
SELECT n FROM (SELECT patient, 2 * count(*) AS n FROM hospital_dp WHERE id <= 20 GROUP BY patient) t WHERE n > 500 ORDER BY n;
SELECT patient FROM hospital_dp WHERE id <= 20 GROUP BY patient UNION ALL SELECT patient FROM hospital_dp WHERE id <= 20 GROUP BY patient;
SELECT count(*) FROM (SELECT ward, count(*) FROM hospital_dp GROUP BY ward) t;
-- dp_explain says the same beforehand.
SELECT * FROM dp_explain('SELECT count(*) FROM (SELECT count(*), patient FROM hospital_dp WHERE id <= 20 GROUP BY patient) t');
SELECT column_name, error95, threshold, reason FROM dp_explain('SELECT patient, count(*) FROM hospital_dp WHERE id <= 20 GROUP BY patient ORDER BY 2');
SELECT column_name, error95, threshold, reason FROM dp_explain('SELECT ward, count(*) FROM hospital_dp GROUP BY ward');
-- Under within_data the threshold is the data's.
SET ROLE regress_controller;
SET client_min_messages = error;
SELECT dp_grant('hospital_dp', 'regress_second', tau => 0.5, selection => 'within_data', delta => 1e-12);
RESET client_min_messages;
SET ROLE regress_second;
SELECT count(*) FROM (SELECT patient FROM hospital_dp WHERE id <= 20 GROUP BY patient) t;
SELECT column_name, threshold, reason FROM dp_explain('SELECT patient, count(*) FROM hospital_dp WHERE id <= 20 GROUP BY patient');

-- ---------------------------------------------------------------------------------------------------------------------
-- Forms that the asker can paste: above one row for each person by the names that stand there, of keys by themselves
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_controller;
CREATE TABLE buyer (buyer integer PRIMARY KEY, email text UNIQUE, phone text NOT NULL, city text, since timestamptz NOT NULL);
CREATE TABLE buy (buyer integer NOT NULL REFERENCES buyer, parcel integer NOT NULL, line integer NOT NULL, qty integer NOT NULL, price numeric NOT NULL, bought date NOT NULL, PRIMARY KEY (parcel, line));
INSERT INTO buyer SELECT i, i || '@x.example', i % 90, 'c' || i % 9, '2025-01-01' FROM generate_series(1, 500) i;
INSERT INTO buy SELECT 1 + i % 500, i / 2, i % 2, i % 7, i % 9, '2025-02-02' FROM generate_series(1, 2000) i;
SELECT dp_protect('buyer', 'buyer_dp', unit => 'buyer'), dp_protect('buy', 'buy_dp', unit => 'buyer -> buyer', max_rows => 4);
SELECT dp_set_odometer('buyer', 'none', NULL, 0.9);
SELECT dp_grant(v, 'regress_analyst', tau => 0, candidates => '{1}') FROM unnest('{buyer_dp,buy_dp}'::regclass[]) v;
CREATE TABLE written (n integer GENERATED ALWAYS AS IDENTITY, refused text, remedy text);
COPY written (refused, remedy) FROM stdin (DELIMITER ';');
SELECT avg(spent) FROM (SELECT buyer, sum(qty) AS spent FROM buy_dp GROUP BY 1) t;SELECT avg(spent) FROM (SELECT buyer, sum(qty) AS spent FROM buy_dp GROUP BY 1) t WHERE spent BETWEEN 0 AND 50
SELECT avg(spent) FROM (SELECT buyer, sum(qty) AS spent FROM buy_dp GROUP BY 1) t;SELECT avg(least(greatest(spent, 0), 50)) FROM (SELECT buyer, sum(qty) AS spent FROM buy_dp GROUP BY 1) t
SELECT max(a * 2) FROM (SELECT buyer, sum(qty) / count(*) AS a FROM buy_dp GROUP BY buyer) t;SELECT max(a * 2) FROM (SELECT buyer, sum(qty) / count(*) AS a FROM buy_dp GROUP BY buyer) t WHERE (a * 2) BETWEEN 0 AND 30
SELECT avg(spent) FROM (SELECT buyer, sum(price) AS spent FROM buy_dp GROUP BY 1) t;SELECT avg(spent) FROM (SELECT buyer, sum(price) AS spent FROM buy_dp WHERE price BETWEEN 0 AND 10 GROUP BY 1) t
SELECT date_trunc('month', first), count(*) FROM (SELECT buyer, min(bought) AS first FROM buy_dp GROUP BY 1) t GROUP BY 1;SELECT date_trunc('month', first), count(*) FROM (SELECT buyer, min(bought) AS first FROM buy_dp GROUP BY 1) t WHERE first BETWEEN '2025-01-01' AND '2025-03-31' GROUP BY 1
SELECT city, n, count(*) FROM (SELECT b.buyer, b.city, count(*) AS n FROM buyer_dp b JOIN buy_dp USING (buyer) GROUP BY 1, 2) t GROUP BY 1, 2;SELECT city, n, count(*) FROM (SELECT b.buyer, b.city, count(*) AS n FROM buyer_dp b JOIN buy_dp USING (buyer) GROUP BY 1, 2) t WHERE city IN ('c1', 'c2') GROUP BY 1, 2
SELECT b.city, count(*) FROM buyer_dp b JOIN buy_dp USING (buyer) GROUP BY 1;SELECT b.city, count(*) FROM buyer_dp b JOIN buy_dp USING (buyer) WHERE b.city IN ('c1') GROUP BY 1
SELECT upper(city), count(*) FROM buyer_dp GROUP BY 1;SELECT upper(city), count(*) FROM buyer_dp WHERE upper(city) IN ('C1', 'C2') GROUP BY 1
SELECT extract(year FROM since), count(*) FROM buyer_dp GROUP BY 1;SELECT extract(year FROM since), count(*) FROM buyer_dp WHERE since BETWEEN '2020-01-01' AND '2026-01-01' GROUP BY 1
SELECT since, count(*) FROM buyer_dp GROUP BY 1;SELECT date_trunc('month', since), count(*) FROM buyer_dp WHERE since BETWEEN '2025-01-01' AND '2026-01-01' GROUP BY 1
SELECT phone, count(*) FROM buyer_dp GROUP BY phone;SELECT count(DISTINCT phone) FROM buyer_dp
SELECT email, count(*) FROM buyer_dp GROUP BY email;SELECT count(DISTINCT email), count(*) FILTER (WHERE email LIKE '%@x.example') FROM buyer_dp
SELECT split_part(email, '@', 2), count(*) FROM buyer_dp GROUP BY 1;SELECT split_part(email, '@', 2), count(*) FROM buyer_dp WHERE split_part(email, '@'::text, 2) IN ('x.example') GROUP BY 1
SELECT parcel, count(*) FROM buy_dp GROUP BY parcel;SELECT parcel, count(*) FROM buy_dp WHERE parcel IN (1, 2) GROUP BY parcel
SELECT qty, phone, count(*) FROM buy_dp JOIN buyer_dp USING (buyer) WHERE qty BETWEEN 1 AND 5000 AND phone IN ('1', '2', '3') GROUP BY 1, 2;SELECT qty, phone, count(*) FROM buy_dp JOIN buyer_dp USING (buyer) WHERE qty BETWEEN 1 AND 50 AND phone IN ('1', '2', '3') GROUP BY 1, 2
\.
GRANT SELECT ON written TO regress_analyst;
SET ROLE regress_analyst;
\t on
\pset format unaligned
SELECT format(E'%s\n=> %s', refused, refusal(refused)) FROM written ORDER BY n;
SELECT 'not accepted: ' || remedy || ' ' || refusal(remedy) FROM written WHERE refusal(remedy) IS NOT NULL ORDER BY n;
\t off
\pset format aligned
SET ROLE regress_controller;
DROP TABLE written, buyer, buy CASCADE;

-- ---------------------------------------------------------------------------------------------------------------------
-- Keys that lead to a person: of a step, of rows, of the person
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_controller;
CREATE TABLE donor (donor integer PRIMARY KEY, sex text);
CREATE TABLE gift (gift integer PRIMARY KEY, donor integer NOT NULL REFERENCES donor);
CREATE TABLE receipt_line (line integer PRIMARY KEY, gift integer NOT NULL REFERENCES gift, amount integer);
CREATE TABLE voter (voter integer PRIMARY KEY, sex text);
INSERT INTO donor SELECT i, 'f' FROM generate_series(1, 500) i;
INSERT INTO gift SELECT i, 1 + i % 500 FROM generate_series(1, 1000) i;
INSERT INTO receipt_line SELECT i, 1 + i % 1000, i % 10 FROM generate_series(1, 2000) i;
INSERT INTO voter SELECT i, 'm' FROM generate_series(1, 500) i;
SELECT dp_protect('donor', 'donor_dp', unit => 'donor', max_rows => 1), dp_protect('gift', 'gift_dp', unit => 'donor -> donor', max_rows => 4),
       dp_protect('receipt_line', 'receipt_line_dp', unit => 'gift -> gift', max_rows => 9), dp_protect('voter', 'voter_dp');
SELECT dp_set_odometer(t, 'none', NULL, 0.9) FROM unnest('{donor,voter}'::regclass[]) t;
SELECT dp_grant(v, 'regress_second', tau => 0, delta => 1e-12, candidates => '{0.5}', epsilon_max => 0.5)
FROM unnest('{donor_dp,gift_dp,receipt_line_dp,voter_dp}'::regclass[]) v;
CREATE TABLE led (n integer GENERATED ALWAYS AS IDENTITY, refused text, remedy text);
COPY led (refused, remedy) FROM stdin (DELIMITER '|');
SELECT gift, count(*) FROM receipt_line_dp GROUP BY gift|SELECT count(DISTINCT g.donor) FROM receipt_line_dp l JOIN gift_dp g ON g.gift = l.gift
SELECT line, count(*) FROM receipt_line_dp GROUP BY line|SELECT count(DISTINCT g.donor) FROM receipt_line_dp l JOIN gift_dp g ON g.gift = l.gift
SELECT donor, count(*) FROM gift_dp GROUP BY donor|SELECT count(DISTINCT donor), count(*)::numeric / count(DISTINCT donor) FROM gift_dp
SELECT gift, count(*) FROM gift_dp GROUP BY gift|SELECT count(DISTINCT donor) FILTER (WHERE gift < 9) FROM gift_dp
SELECT avg(n) FROM (SELECT gift, count(*) AS n FROM gift_dp GROUP BY gift) t|SELECT avg(least(n, 9)) FROM (SELECT donor, count(*) AS n FROM gift_dp GROUP BY donor) t
SELECT voter, count(*) FROM voter_dp GROUP BY voter|SELECT count(*), count(*) FILTER (WHERE sex = 'm') FROM voter_dp
\.
GRANT SELECT ON led TO regress_second;
SET ROLE regress_second;
\t on
\pset format unaligned
SELECT format(E'%s\n=> %s', refused, refusal(refused)) FROM led ORDER BY n;
SELECT 'not accepted: ' || remedy || ' ' || refusal(remedy) FROM led WHERE refusal(remedy) IS NOT NULL ORDER BY n;
\t off
\pset format aligned
SET ROLE regress_controller;
SET client_min_messages = warning;
DROP TABLE donor, gift, receipt_line, voter, led CASCADE;
RESET client_min_messages;

-- ---------------------------------------------------------------------------------------------------------------------
-- Forms in hints are pasted as they stand: joins, aliases, quoted names, views of other schemas, CTEs, sub-SELECTs
-- ---------------------------------------------------------------------------------------------------------------------

RESET ROLE;
CREATE SCHEMA "My Data" AUTHORIZATION regress_controller;
CREATE SCHEMA shown AUTHORIZATION regress_controller;
SET ROLE regress_controller;
SET client_min_messages = warning;
CREATE TABLE "My Data"."Customer" ("Id" integer PRIMARY KEY, "Birth Year" integer, region text, item integer);
CREATE TABLE "My Data".purchase (pid integer PRIMARY KEY, "Customer Id" integer NOT NULL REFERENCES "My Data"."Customer", item integer,
    "Unit Price" numeric(8,2), qty integer, bought timestamp, shipped timestamp);
CREATE TABLE "My Data".line (line integer PRIMARY KEY, pid integer NOT NULL REFERENCES "My Data".purchase, item integer, weight numeric);
CREATE TABLE "My Data"."Item" (item integer PRIMARY KEY, "Kind" text);
INSERT INTO "My Data"."Customer" SELECT i, 1950 + i % 50, 'r' || i % 4, i % 20 FROM generate_series(1, 400) i;
INSERT INTO "My Data".purchase SELECT i, 1 + i % 400, i % 20, i % 50, i % 5, timestamp '2024-01-01' + i % 365 * interval '1 day',
    timestamp '2024-01-05' + i % 365 * interval '1 day' FROM generate_series(1, 900) i;
INSERT INTO "My Data".line SELECT i, 1 + i % 900, i % 20, i % 9 FROM generate_series(1, 1800) i;
INSERT INTO "My Data"."Item" SELECT i, 'k' || i % 3 FROM generate_series(0, 19) i;
SELECT dp_protect('"My Data"."Customer"', 'shown."Customer dp"', unit => '"Id"', max_rows => 1),
       dp_protect('"My Data".purchase', 'shown.purchase_dp', unit => '"Customer Id" -> "My Data"."Customer"', max_rows => 4),
       dp_protect('"My Data".line', 'shown."line-dp"', unit => 'pid -> "My Data".purchase', max_rows => 9);
SELECT dp_set_public('"My Data"."Item"', '"My Data"."Customer"'), dp_set_odometer('"My Data"."Customer"', 'none', NULL, 0.9);
SELECT dp_grant(v, 'regress_analyst', tau => 0.5, replay => '1 hour') FROM unnest(ARRAY['shown."Customer dp"', 'shown.purchase_dp', 'shown."line-dp"']::regclass[]) v;
GRANT USAGE ON SCHEMA shown, "My Data" TO regress_analyst;
GRANT SELECT ON "My Data"."Item" TO regress_analyst;
RESET client_min_messages;
-- What is asked of an argument, or by a key (fn is then empty), of a FROM; behind a WITH. What LOW and HIGH stand for.
CREATE TABLE form (n integer GENERATED ALWAYS AS IDENTITY, fn text, argument text, source text, condition text DEFAULT '', before text DEFAULT '',
    low text DEFAULT '0', high text DEFAULT '9');
INSERT INTO form (fn, argument, source) VALUES
    ('sum', '"Birth Year"', 'shown."Customer dp"'),
    ('sum', 'c."Birth Year"', 'shown."Customer dp" c'),
    ('avg', 'x.qty', '(SELECT qty FROM shown.purchase_dp p) x'),
    ('sum', 'p.qty * p."Unit Price"', 'shown.purchase_dp p JOIN "My Data"."Item" i USING (item)'),
    ('avg', 'p."Unit Price"', 'shown.purchase_dp p JOIN "My Data"."Item" "The Item" ON "The Item".item = p.item'),
    ('sum', 'p.item', 'shown.purchase_dp p JOIN "My Data"."Item" i ON i.item = p.item'),
    ('sum', 'purchase_dp.item', 'shown.purchase_dp JOIN "My Data"."Item" i ON i.item = purchase_dp.item'),
    ('sum', 'l.item', 'shown."line-dp" l JOIN shown.purchase_dp p USING (pid)'),
    ('sum', 'a.qty + b.qty', 'shown.purchase_dp a JOIN shown.purchase_dp b USING ("Customer Id")'),
    ('avg', 'p.shipped - p.bought', 'shown.purchase_dp p JOIN "My Data"."Item" i USING (item)'),
    ('percentile_cont(0.5) WITHIN GROUP ', 'ORDER BY p."Unit Price"', 'shown.purchase_dp p JOIN shown."Customer dp" c ON c."Id" = p."Customer Id"'),
    ('sum', 'qty', 'shown.purchase_dp LEFT JOIN "My Data"."Item" i USING (item)'),
    ('covar_pop', 'p.qty, p."Unit Price"', 'shown.purchase_dp p JOIN "My Data"."Item" i USING (item)'),
    ('sum', 'w.qty', '(SELECT p.qty, c.region FROM shown.purchase_dp p JOIN shown."Customer dp" c ON c."Id" = p."Customer Id") w'),
    ('', 'c."Id"', 'shown."Customer dp" c'),
    ('', 'p."Customer Id"', 'shown.purchase_dp p'),
    ('', 'c."Id"', 'shown.purchase_dp p JOIN shown."Customer dp" c ON c."Id" = p."Customer Id"'),
    ('', 'p."Customer Id"', 'shown.purchase_dp p JOIN "My Data"."Item" i USING (item)'),
    ('', 'l.pid', 'shown."line-dp" l JOIN shown.purchase_dp p ON p.pid = l.pid'),
    ('', 'b."Customer Id"', 'shown.purchase_dp a JOIN shown.purchase_dp b USING ("Customer Id")'),
    ('', 'c.region', 'shown.purchase_dp p JOIN shown."Customer dp" c ON c."Id" = p."Customer Id"'),
    ('', 'p.item', 'shown.purchase_dp p JOIN "My Data"."Item" i ON i.item = p.item');
INSERT INTO form (fn, argument, source, condition) VALUES
    ('sum', 'l.weight * p.qty', 'shown."line-dp" l, shown.purchase_dp p', 'l.pid = p.pid'),
    ('sum', 'p.item', 'shown.purchase_dp p', 'EXISTS (SELECT FROM shown."line-dp" l WHERE l.pid = p.pid)');
INSERT INTO form (fn, argument, source, before) VALUES
    ('sum', 'w.qty', 'w', 'WITH w AS (SELECT p.qty, c.region FROM shown.purchase_dp p JOIN shown."Customer dp" c ON c."Id" = p."Customer Id") '),
    ('sum', 'w.qty + 1', 'w JOIN "My Data"."Item" USING (item)', 'WITH w AS (SELECT * FROM shown.purchase_dp p WHERE p.qty > 1) '),
    ('avg', 'w.qty', 'w', 'WITH w AS (SELECT * FROM shown.purchase_dp p) ');
INSERT INTO form (fn, argument, source, low, high) VALUES
    ('max', 'p.bought', 'shown.purchase_dp p JOIN "My Data"."Item" i USING (item)', 'timestamp ''2024-01-01''', 'timestamp ''2025-01-01''');
GRANT SELECT ON form TO regress_analyst;
CREATE FUNCTION statement(form, argument text, condition text) RETURNS text LANGUAGE sql AS $$
    SELECT $1.before || CASE WHEN $1.fn = '' THEN format('SELECT %s, count(*) FROM %s%s GROUP BY 1', $2, $1.source, ' WHERE ' || nullif($3, ''))
        ELSE format('SELECT %s(%s) FROM %s', $1.fn, $2, $1.source) || coalesce(' WHERE ' || nullif(concat_ws(' AND ', nullif($1.condition, ''), nullif($3, '')), ''), '') END $$;
CREATE FUNCTION pasted(form) RETURNS TABLE (form text, statement text) LANGUAGE sql AS $$
    WITH refused AS (SELECT refusal(statement($1, $1.argument, '')) AS hint), parts AS (
        SELECT 'WHERE' AS kind, m[1] AS part FROM refused, regexp_matches(hint, 'it: WHERE (.*? BETWEEN LOW AND HIGH)', 'g') m
        UNION ALL SELECT 'names', m[1] || ' IN (''1'', ''2'')' FROM refused, regexp_matches(hint, 'groups: WHERE (.*?) IN \(VALUE, ', 'g') m
        UNION ALL SELECT 'clamp', m[1] FROM refused, regexp_matches(hint, '(least\(greatest\(.*?, LOW\), HIGH\))', 'g') m
        UNION ALL SELECT 'count', m[1] FROM refused, regexp_matches(hint, '(count\(DISTINCT .*?\)), with', 'g') m
        UNION ALL SELECT 'count', m[1] FROM refused, regexp_matches(hint, '(count\(\*\)::numeric / .*?) is', 'g') m
        UNION ALL SELECT 'controller', m[1] FROM refused, regexp_matches(hint, '(dp_set_[a-z]+\(''.*?(?:HIGH|GROUPS)\))', 'g') m)
    SELECT DISTINCT kind, CASE WHEN kind IN ('WHERE', 'names') THEN statement($1, $1.argument, filled)
        WHEN kind = 'clamp' THEN statement($1, CASE WHEN $1.fn ~ 'WITHIN' THEN 'ORDER BY ' ELSE '' END || filled, '')
        WHEN kind = 'count' THEN $1.before || format('SELECT %s FROM %s', filled, $1.source) ELSE 'SELECT ' || filled END
    FROM parts, replace(replace(replace(part, 'LOW', $1.low), 'HIGH', $1.high), 'GROUPS', '''{1,NULL}''') filled
    WHERE kind <> 'controller' OR filled !~ '(TABLE|COLUMN)_NAME' $$;
SET ROLE regress_analyst;
SELECT statement(f, argument, '') AS without_a_form FROM form f WHERE NOT EXISTS (SELECT FROM pasted(f)) ORDER BY n;
CREATE TEMP TABLE pasted AS SELECT f.n, f.fn, p.* FROM form f, pasted(f) p;
SELECT form, count(*), count(CASE WHEN form <> 'controller' THEN refusal(statement) END) AS refused FROM pasted GROUP BY 1 ORDER BY 1;
-- Of two arguments the second has no bounds either.
SELECT n, statement, refusal(statement) FROM pasted WHERE form <> 'controller' AND refusal(statement) IS NOT NULL ORDER BY n, statement;
GRANT SELECT ON pasted TO regress_controller;
-- The controller declares what the hints ask for: then each is answered.
SET ROLE regress_controller;
SELECT DISTINCT statement, refusal(statement) FROM pasted WHERE form = 'controller' ORDER BY 1;
SET ROLE regress_analyst;
SELECT statement(f, argument, ''), refusal(statement(f, argument, '')) FROM form f WHERE n IN (SELECT n FROM pasted WHERE form = 'controller') AND refusal(statement(f, argument, '')) IS NOT NULL ORDER BY n;
-- Aliases are no part of a question: the second finds the answer of the first.
SELECT (SELECT count(*) FROM shown.purchase_dp p JOIN "My Data"."Item" i USING (item)) = (SELECT count(*) FROM shown.purchase_dp x JOIN "My Data"."Item" y USING (item)) AS found;
SELECT (SELECT count(*) FROM shown.purchase_dp p WHERE EXISTS (SELECT FROM shown."line-dp" l WHERE l.pid = p.pid)) = (SELECT count(*) FROM shown.purchase_dp x WHERE EXISTS (SELECT FROM shown."line-dp" WHERE pid = x.pid)) AS found;
SET ROLE regress_controller;
SET client_min_messages = warning;
DROP FUNCTION statement, pasted;
DROP TABLE "My Data".line, "My Data".purchase, "My Data"."Customer", "My Data"."Item", form CASCADE;
DROP SCHEMA "My Data", shown CASCADE;
RESET client_min_messages;

-- ---------------------------------------------------------------------------------------------------------------------
-- FILTERs share epsilon, groups do not; printed digits
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_analyst;
SELECT DISTINCT epsilon, error95, reason FROM dp_explain($$SELECT count(*) FILTER (WHERE ward = 'icu'), count(*) FILTER (WHERE ward = 'surgery'),
    count(*) FILTER (WHERE ward = 'oncology') FROM hospital_dp$$);
SELECT column_name, epsilon, error95, reason FROM dp_explain('SELECT ward, count(*) FROM hospital_dp GROUP BY ward');
SELECT reason FROM dp_explain('SELECT count(*), count(*) FILTER (WHERE smoker), sum(cost) FILTER (WHERE age > 3) FROM hospital_dp');
-- A sum of numeric(12, 2) has two decimals, beside an average too; without a scale as many as the bounds give.
SELECT scale(sum(cost)) AS cost, scale(sum(paid)) AS paid, scale(sum(age)::numeric) AS age, scale(sum(days)) AS days FROM hospital_dp;
SELECT scale(sum(cost)) AS sum, scale(avg(cost)) AS avg, avg(cost) BETWEEN 0 AND 5000 AS within FROM hospital_dp;
SELECT column_name, error95 FROM dp_explain('SELECT sum(cost), sum(paid) FROM hospital_dp');
-- Bounds that are finer than the column are not lost.
SET ROLE regress_controller;
SELECT dp_set_bounds('hospital', 'cost', 0, 5000.125);
SET ROLE regress_analyst;
SELECT scale(sum(cost)) AS cost FROM hospital_dp;
SET ROLE regress_controller;
SELECT dp_unprotect('hospital_dp');
DROP TABLE hospital, hint;
DROP TYPE severity;
DROP FUNCTION refusal(text);
RESET ROLE;
