-- Where a person has one row in a group, count(*) over discovered groups is the number that is compared with the threshold: it is drawn
-- once (formulas.md, 9.3.5).
LOAD 'dp_rdr';
SET client_min_messages = error;
SET ROLE regress_controller;

-- Each of 300 people has three of six products, each once, by a key; in oc_visit each twice, and nothing says how often.
CREATE TABLE oc_person (pid integer PRIMARY KEY);
INSERT INTO oc_person SELECT i FROM generate_series(1, 300) i;
CREATE TABLE oc_order (pid integer, product text, qty integer, note text, PRIMARY KEY (pid, product));
INSERT INTO oc_order SELECT i, 'p' || (i + k) % 6, 4 * (i % 3), CASE WHEN i % 2 = 0 THEN 'even' END FROM generate_series(1, 300) i, generate_series(1, 3) k;
CREATE TABLE oc_visit (pid integer, product text, qty integer, note text);
INSERT INTO oc_visit SELECT o.* FROM oc_order o, generate_series(1, 2);

SELECT dp_protect('oc_person', 'oc_person_dp', unit => 'pid');
SELECT dp_protect(t, t || '_dp', unit => 'pid -> oc_person(pid)', max_rows => 6, max_groups => 4) FROM unnest('{oc_order,oc_visit}'::text[]) t;
SELECT dp_set_bounds(t, 'qty', 0, 10) FROM unnest('{oc_order,oc_visit}'::regclass[]) t;
SELECT dp_set_odometer('oc_person', 'none', delta_total => 0.9);
SELECT dp_grant(t, 'regress_analyst', tau => 0, mechanism => 'laplace', candidates => '{100,1}', epsilon_max => 100, delta => 1e-6, replay => '1 day')
FROM unnest('{oc_person_dp,oc_order_dp,oc_visit_dp}'::regclass[]) t;
RESET ROLE;

-- ---------------------------------------------------------------------------------------------------------------------
-- What it costs
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_analyst;
-- Two measures in place of three: what is compared with the threshold, and all noise, are two thirds.
CREATE TEMP TABLE asked (n integer GENERATED ALWAYS AS IDENTITY, of text, query text, max_rows integer);
INSERT INTO asked (of, query, max_rows) VALUES
    ('no key', 'SELECT product, count(*), sum(qty) FROM oc_visit_dp GROUP BY product', NULL),
    ('a key', 'SELECT product, count(*), sum(qty) FROM oc_order_dp GROUP BY product', NULL),
    ('both', 'SELECT product, count(*), count(DISTINCT pid), sum(qty) FROM oc_order_dp GROUP BY product', NULL),
    ('a filter', 'SELECT product, count(*) FILTER (WHERE qty > 3), sum(qty) FROM oc_order_dp GROUP BY product', NULL),
    ('may be NULL', 'SELECT product, count(note), sum(qty) FROM oc_order_dp GROUP BY product', NULL),
    ('a part of the key', 'SELECT qty + length(product), count(*), sum(qty) FROM oc_order_dp GROUP BY 1', NULL),
    ('one row', 'SELECT product, count(*), sum(qty) FROM oc_visit_dp GROUP BY product', 1),
    ('two rows', 'SELECT product, count(*), sum(qty) FROM oc_visit_dp GROUP BY product', 2),
    ('a level', 'SELECT product, count(*), sum(s) FROM (SELECT pid, product, sum(qty) AS s FROM oc_visit_dp GROUP BY pid, product) t GROUP BY product', NULL),
    ('a level of more', 'SELECT product, count(*), sum(s) FROM (SELECT pid, product, qty, sum(qty) AS s FROM oc_visit_dp GROUP BY pid, product, qty) t GROUP BY product', NULL),
    ('a join by keys', 'SELECT o.product, count(*), sum(o.qty) FROM oc_order_dp o JOIN oc_person_dp p ON p.pid = o.pid GROUP BY o.product', NULL),
    ('a join of rows', 'SELECT o.product, count(*), sum(o.qty) FROM oc_order_dp o JOIN oc_visit_dp v ON v.pid = o.pid GROUP BY o.product', NULL);
SELECT a.of, max(e.threshold) AS threshold, count(e.error95) AS numbers, round(max(e.error95) FILTER (WHERE e.column_name = 'count')::numeric, 2) AS error95
FROM asked a, dp_explain(a.query, max_rows => a.max_rows, epsilon => 1) e GROUP BY a.n, a.of ORDER BY a.n;

-- ---------------------------------------------------------------------------------------------------------------------
-- What it says
-- ---------------------------------------------------------------------------------------------------------------------

-- Exact but for noise of 0.09 at most: more than 2 has a probability below 1e-9. All of it twice where nothing says that people have one row.
SELECT bool_and(abs(n - 150) <= 2) AS rows, bool_and(abs(s - 600) <= 25) AS sums, count(*) AS groups FROM (SELECT product, count(*) AS n, sum(qty) AS s FROM oc_order_dp GROUP BY product) t;
SELECT bool_and(abs(n - 300) <= 2) AS rows, count(*) AS groups FROM (SELECT product, count(*) AS n, sum(qty) AS s FROM oc_visit_dp GROUP BY product) t;
SELECT bool_and(abs(n - 100) <= 2) AS some, count(*) AS groups FROM (SELECT product, count(*) FILTER (WHERE qty > 3) AS n, sum(qty) AS s FROM oc_order_dp GROUP BY product) t;
SELECT abs(sum(n) - 450) <= 12 AS there, count(*) AS groups FROM (SELECT product, count(note) AS n, sum(qty) AS s FROM oc_order_dp GROUP BY product) t;
SELECT bool_and(abs(n - 150) <= 2) AS people, bool_and(abs(s - 1200) <= 60) AS sums FROM (SELECT product, count(*) AS n, sum(s) AS s
    FROM (SELECT pid, product, sum(qty) AS s FROM oc_visit_dp GROUP BY pid, product) t GROUP BY product) t;
-- Of one row of each person as many groups have people: 300 in all.
SELECT abs(sum(n) - 300) <= 6 AS people FROM dp_query('SELECT product, count(*) FROM oc_visit_dp GROUP BY product', max_rows => 1) AS (product text, n bigint);
RESET ROLE;

-- With much noise the two are one number, or they are not.
SET ROLE regress_controller;
SELECT dp_revoke(v, 'regress_analyst'), dp_grant(v, 'regress_analyst', tau => 0, mechanism => m, candidates => '{0.5}', epsilon_max => 0.5, delta => 0.1, replay => '1 day')
FROM (VALUES ('oc_order_dp'::regclass, 'auto'), ('oc_visit_dp', 'laplace')) v (v, m);
RESET ROLE;
SET ROLE regress_analyst;
SELECT bool_and(n = people) AS one, count(*) > 0 AS some FROM (SELECT product, count(*) AS n, count(DISTINCT pid) AS people FROM oc_order_dp GROUP BY product) t;
SELECT bool_and(n = people) AS one FROM (SELECT product, count(*) AS n, count(DISTINCT pid) AS people FROM oc_visit_dp GROUP BY product) t;
-- Whichever is asked for, the answer is that question's.
CREATE TEMP TABLE first AS SELECT product, count(*) AS n, sum(qty) AS s FROM oc_order_dp GROUP BY product;
SELECT count(*) > 0 AS some, bool_and(f.n = t.n AND f.s = t.s) AS again FROM first f FULL JOIN (SELECT product, sum(qty) AS s, count(DISTINCT pid) AS n FROM oc_order_dp GROUP BY product) t USING (product);
RESET ROLE;

-- ---------------------------------------------------------------------------------------------------------------------
-- What is written down, and what people bear
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_controller;
SELECT l.query, p ->> 'k1' AS k1, jsonb_array_length(p -> 'measures') AS measures, p #>> '{measures,0,of}' AS of, p #>> '{measures,0,sensitivity}' AS d
FROM dp_rdr.ledger l, LATERAL (SELECT l.parameters::jsonb) x (p) WHERE l.relation = 'public.oc_order' ORDER BY l.id DESC LIMIT 2;
-- Whoever has three orders brings three quarters of what four groups may, to the count that is drawn once.
SELECT max(r.pis), min(r.pis), count(*) FROM dp_risk_records('SELECT product, count(*) FROM oc_order_dp GROUP BY product', 1, delta => 1e-6) r;
SELECT count(*) AS people, count(DISTINCT epsilon) AS amounts, bool_and(epsilon > 0) AS all_of_them FROM dp_loss_records('oc_person');
RESET ROLE;
