-- Joins of restricted views of the same people. Where limits are ample answers are those of plain SQL over the tables: noise is small
-- at epsilon 100, beyond 25 times its scale it is once in 10^10 draws.
\set VERBOSITY default
LOAD 'dp_rdr';
SET ROLE regress_controller;

-- ---------------------------------------------------------------------------------------------------------------------
-- Customers, orders, items of orders (a path over them), shipments of orders, and accounts, at most one for each customer
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE uj_customers (cid integer PRIMARY KEY, sex text, region text, age integer);
INSERT INTO uj_customers SELECT i, CASE WHEN i % 3 = 0 THEN 'f' WHEN i % 31 <> 0 THEN 'm' END, 'r' || i % 4, i % 90 FROM generate_series(1, 400) i;
CREATE TABLE uj_orders (oid integer PRIMARY KEY, cid integer, status text, total integer, placed date);
INSERT INTO uj_orders SELECT i, CASE WHEN i % 13 = 0 THEN NULL WHEN i % 17 = 0 THEN 9999 ELSE 1 + i * 7 % 380 END, -- nobody's, and of no customer
    (ARRAY['paid', 'open', 'lost'])[1 + i % 3], i % 50, date '2025-01-01' + i % 300 FROM generate_series(1, 900) i;
CREATE TABLE uj_items (item integer, order_id integer, part text, price numeric(6, 2), n integer);
INSERT INTO uj_items SELECT i, CASE WHEN i % 23 = 0 THEN NULL WHEN i % 29 = 0 THEN 7777 ELSE 1 + i * 11 % 850 END, 'p' || i % 5, i % 40 / 4.0, i % 7
FROM generate_series(1, 1800) i;
CREATE TABLE uj_shipments (oid integer, weight integer, lost boolean);
INSERT INTO uj_shipments SELECT 1 + i * 3 % 900, i % 20, CASE WHEN i % 4 > 0 THEN i % 4 = 1 END FROM generate_series(1, 500) i;
CREATE TABLE uj_accounts (cid integer UNIQUE, credit integer);
INSERT INTO uj_accounts SELECT 2 * i, i % 100 FROM generate_series(1, 150) i;
CREATE TABLE uj_visits (cid integer, visit_no integer, page text, PRIMARY KEY (cid, visit_no)) PARTITION BY RANGE (visit_no);
CREATE TABLE uj_visits_1 PARTITION OF uj_visits FOR VALUES FROM (0) TO (2);
CREATE TABLE uj_visits_2 PARTITION OF uj_visits FOR VALUES FROM (2) TO (9);
INSERT INTO uj_visits SELECT 1 + i % 200, i / 200, 'w' || i % 3 FROM generate_series(0, 799) i;

SELECT dp_protect('uj_customers', 'uj_customers_dp', unit => 'cid');
SELECT dp_protect('uj_orders', 'uj_orders_dp', unit => 'cid -> uj_customers(cid)', max_rows => 10);
SELECT dp_protect('uj_items', 'uj_items_dp', unit => 'order_id -> uj_orders(oid)', max_rows => 40, max_groups => 5);
SELECT dp_protect('uj_shipments', 'uj_shipments_dp', unit => 'oid -> uj_orders(oid)', max_rows => 20);
SELECT dp_protect('uj_accounts', 'uj_accounts_dp', unit => 'cid -> uj_customers(cid)');
SELECT dp_protect('uj_visits', 'uj_visits_dp', unit => 'cid -> uj_customers(cid)', max_rows => 8);
SELECT dp_protect('uj_orders', 'uj_paid_dp', filter => 'status = ''paid''');
SELECT dp_set_groups('uj_customers', 'sex', '{f,m}'), dp_set_groups('uj_customers', 'region', '{r0,r1,r2,r3}'), dp_set_groups('uj_orders', 'status', '{paid,open,lost}'),
       dp_set_groups('uj_items', 'part', '{p0,p1,p2,p3,p4}'), dp_set_groups('uj_visits', 'page', '{w0,w1,w2}');
SELECT dp_set_bounds('uj_items', 'price', 0, 10), dp_set_bounds('uj_items', 'n', 0, 6), dp_set_bounds('uj_orders', 'total', 0, 50), dp_set_bounds('uj_customers', 'age', 0, 90),
       dp_set_bounds('uj_shipments', 'weight', 0, 20), dp_set_bounds('uj_accounts', 'credit', 0, 100);
SELECT dp_set_odometer('uj_customers', 'none', delta_total => 0.9);
SELECT dp_grant(v, 'regress_analyst', tau => 0, candidates => '{100}', epsilon_max => 100, delta => 1e-6)
FROM unnest('{uj_customers_dp,uj_orders_dp,uj_items_dp,uj_shipments_dp,uj_accounts_dp,uj_visits_dp,uj_paid_dp}'::regclass[]) v;

-- query: columns g and x; plain SQL over the tables where _dp is taken away, the filter of a view is put in its place, and rows without a
-- customer are left out (the comment behind WHERE is what must be there). d: what a unit brings to x at most, R times the largest value;
-- measures: that share epsilon.
CREATE TABLE uj_query (name text PRIMARY KEY, query text, d numeric, measures integer);
INSERT INTO uj_query VALUES
('inner', 'SELECT NULL::text AS g, count(*) AS x FROM uj_orders_dp o JOIN uj_items_dp i ON i.order_id = o.oid WHERE o.status = ''paid'' /* o.cid */', 40, 1),
('sum', 'SELECT NULL::text AS g, sum(i.price) AS x FROM uj_orders_dp o JOIN uj_items_dp i ON i.order_id = o.oid WHERE o.status = ''paid'' /* o.cid */', 400, 1),
('expression over both', 'SELECT NULL::text AS g, sum(i.price * i.n + o.total) AS x FROM uj_orders_dp o JOIN uj_items_dp i ON i.order_id = o.oid WHERE true /* o.cid */', 4400, 1),
('comma', 'SELECT NULL::text AS g, count(*) AS x FROM uj_items_dp i, uj_orders_dp o, uj_customers_dp c WHERE i.order_id = o.oid AND o.cid = c.cid AND c.age > 30', 40, 1),
('key of one row', 'SELECT sex AS g, count(*) AS x FROM uj_customers_dp c JOIN uj_orders_dp o USING (cid) WHERE true GROUP BY sex', 10, 1),
('people by a column of another', 'SELECT status AS g, count(DISTINCT c.cid) AS x FROM uj_customers_dp c JOIN uj_orders_dp o ON o.cid = c.cid WHERE true GROUP BY status', 3, 1),
('keys of both', 'SELECT sex || status AS g, x FROM (SELECT sex, status, count(*) AS x FROM uj_customers_dp c JOIN uj_orders_dp o ON o.cid = c.cid WHERE true GROUP BY sex, status) q WHERE true', 10, 1),
('left', 'SELECT NULL::text AS g, count(*) AS x FROM uj_customers_dp c LEFT JOIN uj_orders_dp o ON o.cid = c.cid WHERE true', 10, 1),
('left, values that are there', 'SELECT NULL::text AS g, count(o.oid) AS x FROM uj_customers_dp c LEFT JOIN uj_orders_dp o USING (cid) WHERE true', 10, 1),
('left, people who have some', 'SELECT NULL::text AS g, count(DISTINCT o.cid) AS x FROM uj_customers_dp c LEFT JOIN uj_orders_dp o ON o.cid = c.cid AND o.status = ''open'' WHERE true', 1, 1),
('left, who has none', 'SELECT NULL::text AS g, count(*) AS x FROM uj_customers_dp c LEFT JOIN uj_orders_dp o ON o.cid = c.cid WHERE o.oid IS NULL', 10, 1),
('left, by its own column', 'SELECT status AS g, count(*) AS x FROM uj_customers_dp c LEFT JOIN uj_orders_dp o ON o.cid = c.cid WHERE status IS NOT NULL GROUP BY status', 10, 1),
('right', 'SELECT NULL::text AS g, count(o.oid) AS x FROM uj_orders_dp o RIGHT JOIN uj_customers_dp c ON o.cid = c.cid WHERE true', 10, 1),
('a chain of outer joins', 'SELECT NULL::text AS g, count(*) AS x FROM uj_customers_dp c LEFT JOIN uj_orders_dp o ON o.cid = c.cid LEFT JOIN uj_items_dp i ON i.order_id = o.oid WHERE true', 400, 1),
('a join on the nullable side', 'SELECT NULL::text AS g, count(*) AS x FROM uj_customers_dp c LEFT JOIN (uj_orders_dp o JOIN uj_items_dp i ON i.order_id = o.oid AND i.n > 2) ON o.cid = c.cid WHERE true', 40, 1),
('inner behind outer', 'SELECT sex AS g, count(*) AS x FROM uj_customers_dp c LEFT JOIN uj_orders_dp o ON o.cid = c.cid JOIN uj_visits_dp v ON v.cid = c.cid WHERE true GROUP BY sex', 80, 1),
('one row by keys', 'SELECT sex AS g, sum(credit) AS x FROM uj_customers_dp c JOIN uj_accounts_dp a ON a.cid = c.cid WHERE true GROUP BY sex', 100, 1),
('one row by keys, outer', 'SELECT NULL::text AS g, sum(coalesce(credit, 50)) AS x FROM uj_customers_dp c LEFT JOIN uj_accounts_dp a ON a.cid = c.cid WHERE true', 100, 1),
('a join by its name', 'SELECT j.region AS g, sum(j.total) AS x FROM (uj_customers_dp c JOIN uj_orders_dp o USING (cid)) j WHERE j.age > 10 GROUP BY j.region', 500, 1),
('an outer join by its name', 'SELECT NULL::text AS g, count(j.item) AS x FROM (uj_customers_dp c LEFT JOIN (uj_orders_dp o JOIN uj_items_dp i ON i.order_id = o.oid) AS k ON k.cid = c.cid) j (a, b, region, d, e, f, g, h, k, item) WHERE j.region <> ''r0''', 40, 1),
('with itself', 'SELECT NULL::text AS g, count(*) AS x FROM uj_orders_dp a JOIN uj_orders_dp b ON a.cid = b.cid AND a.oid < b.oid WHERE a.cid < 9999', 100, 1),
('with itself on a key', 'SELECT v.page AS g, count(*) AS x FROM uj_visits_dp v JOIN uj_visits_dp w ON v.cid = w.cid AND v.visit_no = w.visit_no WHERE true GROUP BY v.page', 8, 1),
('two paths to one table', 'SELECT NULL::text AS g, count(*) AS x FROM uj_items_dp i JOIN uj_shipments_dp s ON s.oid = i.order_id WHERE true /* (SELECT cid FROM uj_orders o WHERE o.oid = i.order_id) */', 800, 1),
('four tables', 'SELECT region AS g, count(*) AS x FROM uj_customers_dp c JOIN uj_orders_dp o ON o.cid = c.cid JOIN uj_items_dp i ON i.order_id = o.oid LEFT JOIN uj_shipments_dp s ON s.oid = o.oid WHERE true GROUP BY region', 800, 1),
('sub-SELECTs', 'SELECT page AS g, count(*) AS x FROM (SELECT cid AS who, age AS old FROM uj_customers_dp WHERE age < 60) c JOIN (SELECT cid AS of, page FROM uj_visits_dp WHERE visit_no > 0) v ON of = who WHERE old > 10 GROUP BY page', 8, 1),
('a sub-SELECT on the nullable side', 'SELECT NULL::text AS g, count(*) AS x FROM uj_customers_dp c LEFT JOIN (SELECT cid AS of, page FROM uj_visits_dp WHERE visit_no > 0) v ON of = cid WHERE true', 8, 1),
('a filter of the view', 'SELECT NULL::text AS g, count(*) AS x FROM uj_customers_dp c LEFT JOIN uj_paid_dp o ON o.cid = c.cid WHERE true', 10, 1),
('a filter of the view that is kept', 'SELECT NULL::text AS g, count(*) AS x FROM uj_paid_dp o LEFT JOIN uj_items_dp i ON i.order_id = o.oid WHERE true /* o.cid */', 400, 1),
('a CTE used twice', 'WITH v AS (SELECT * FROM uj_visits_dp WHERE page <> ''w1'') SELECT NULL::text AS g, count(*) AS x FROM v a JOIN v b ON a.cid = b.cid AND a.visit_no < b.visit_no WHERE true', 64, 1),
('filter over both', 'SELECT NULL::text AS g, count(*) FILTER (WHERE age > total) AS x FROM uj_customers_dp c JOIN uj_orders_dp o ON o.cid = c.cid WHERE true', 10, 1),
('derived groups of both', 'SELECT (age > total)::text AS g, count(*) AS x FROM uj_customers_dp c JOIN uj_orders_dp o ON o.cid = c.cid WHERE total IS NOT NULL GROUP BY age > total', 10, 1),
('groups that nobody declared', 'SELECT lost::text AS g, count(*) AS x FROM uj_orders_dp o JOIN uj_shipments_dp s ON s.oid = o.oid WHERE true /* o.cid */ GROUP BY lost', 20, 2);

CREATE FUNCTION uj_plain(query text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT regexp_replace(replace(replace(query, 'uj_paid_dp', '(SELECT * FROM uj_orders WHERE status = ''paid'')'), '_dp', ''), 'WHERE (.*?)/\* (.*?) \*/', 'WHERE \1 AND \2 IS NOT NULL')
$$;
CREATE TABLE uj_reference (name text, g text, x numeric);
DO $$
DECLARE
    q uj_query;
BEGIN
    FOR q IN SELECT * FROM uj_query LOOP
        EXECUTE format('INSERT INTO uj_reference SELECT %L, * FROM (%s) q', q.name, uj_plain(q.query));
    END LOOP;
END $$;
GRANT SELECT ON uj_query TO regress_analyst;
CREATE TABLE uj_answer (name text, g text, x numeric);
GRANT INSERT ON uj_answer TO regress_analyst;
SET ROLE regress_analyst;
DO $$
DECLARE
    q uj_query;
BEGIN
    FOR q IN SELECT * FROM uj_query LOOP
        EXECUTE format('INSERT INTO uj_answer SELECT %L, * FROM (%s) q', q.name, q.query);
    END LOOP;
END $$;
SET ROLE regress_controller;
-- Groups of NULL are in a reference alone, where none were declared.
SELECT name, count(*) FILTER (WHERE a.x IS NOT NULL) AS groups, bool_and(abs(a.x - coalesce(r.x, 0)) <= 25 * d * measures / 100 + 1) AS agree
FROM uj_query NATURAL JOIN uj_answer a LEFT JOIN uj_reference r USING (name) WHERE a.g IS NOT DISTINCT FROM r.g GROUP BY name ORDER BY name COLLATE "C";
-- And they say something: what is counted is far more than the noise.
SELECT count(*) AS queries, count(*) FILTER (WHERE most > 3 * (25 * d * measures / 100 + 1)) AS far
FROM (SELECT name, max(x) AS most FROM uj_reference GROUP BY name) r NATURAL JOIN uj_query;

-- ---------------------------------------------------------------------------------------------------------------------
-- Units without limits: clipped, by joined rows
-- ---------------------------------------------------------------------------------------------------------------------

-- Somebody with 500 orders counts for four.
SELECT dp_protect('uj_orders', 'uj_few_dp', filter => 'cid <= 3');
SELECT dp_grant('uj_few_dp', 'regress_analyst', tau => 0, candidates => '{100}', epsilon_max => 100, delta => 1e-6);
INSERT INTO uj_orders SELECT 10000 + i, 2, 'paid', 1, '2025-01-01' FROM generate_series(1, 500) i;
SELECT sum(least(n, 4)) AS four FROM (SELECT count(*) AS n FROM uj_orders WHERE cid <= 3 GROUP BY cid) o \gset
SET ROLE regress_analyst;
SELECT abs(x - :four) < 3 AS clipped, x BETWEEN 1 AND 15 AS few FROM dp_query('SELECT count(*) FROM uj_few_dp a JOIN uj_customers_dp c ON a.cid = c.cid', max_rows => 4) AS q (x bigint);
SET ROLE regress_controller;
DELETE FROM uj_orders WHERE oid > 10000;

-- ---------------------------------------------------------------------------------------------------------------------
-- What is said beforehand, and in the ledger
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_analyst;
SELECT column_name, accepted, reason, error95, unit, max_rows, max_groups
FROM unnest(ARRAY['SELECT count(*), sum(i.price) FROM uj_orders_dp o JOIN uj_items_dp i ON i.order_id = o.oid',
                  'SELECT sex, count(*) FROM uj_customers_dp c JOIN uj_orders_dp o ON o.cid = c.cid GROUP BY sex',
                  'SELECT count(o.oid) FROM uj_customers_dp c LEFT JOIN uj_orders_dp o USING (cid)',
                  'SELECT sex, sum(credit) FROM uj_customers_dp c JOIN uj_accounts_dp a USING (cid) GROUP BY sex',
                  'SELECT status, count(*) FROM uj_orders_dp o JOIN uj_items_dp i ON i.order_id = o.oid GROUP BY status']) WITH ORDINALITY a (query, n), dp_explain(query) e
ORDER BY n;
SET ROLE regress_controller;
SELECT relation, view, parameters -> 'unit' AS unit, parameters -> 'max_rows' AS max_rows, parameters -> 'max_groups' AS max_groups, parameters -> 'tables' AS tables
FROM dp_rdr.ledger WHERE relation::text ~ 'uj_' AND query ~ 'page = 1|shipments' GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 4, 6;

-- ---------------------------------------------------------------------------------------------------------------------
-- Refused, before anything is charged
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE uj_others (cid integer, x integer);
SELECT dp_protect('uj_others', 'uj_others_dp');
SELECT dp_grant('uj_others_dp', 'regress_analyst', tau => 0.5);
CREATE TABLE uj_strangers (cid integer PRIMARY KEY, x integer);
SELECT dp_protect('uj_strangers', 'uj_strangers_dp', unit => 'cid');
SELECT dp_grant('uj_strangers_dp', 'regress_analyst', tau => 0.5);
CREATE TABLE uj_labels (cid integer, label text);
GRANT SELECT ON uj_labels TO regress_analyst;
CREATE TABLE uj_calls (caller integer, callee integer, oid integer);
SELECT dp_protect('uj_calls', 'uj_calls_dp', unit => 'caller -> uj_customers(cid)', max_rows => 5);
SELECT dp_grant('uj_calls_dp', 'regress_analyst', tau => 0, candidates => '{100}', epsilon_max => 100, delta => 1e-6);
SELECT count(*) AS charged FROM dp_rdr.ledger \gset
SET ROLE regress_analyst;
-- No link, or not by the unit's columns.
SELECT count(*) FROM uj_customers_dp c, uj_orders_dp o;
SELECT count(*) FROM uj_customers_dp c JOIN uj_orders_dp o ON o.oid = c.cid;
SELECT count(*) FROM uj_customers_dp c JOIN uj_calls_dp k ON k.callee = c.cid;
SELECT count(*) FROM uj_calls_dp a JOIN uj_calls_dp b ON a.caller = b.callee;
SELECT count(*) FROM uj_orders_dp o JOIN uj_calls_dp k ON k.oid = o.oid;
SELECT count(*) FROM uj_items_dp i JOIN uj_items_dp j ON i.item = j.item;
SELECT count(*) FROM uj_items_dp i JOIN uj_customers_dp c ON i.order_id = c.cid;
SELECT count(*) FROM uj_items_dp i JOIN uj_shipments_dp s ON s.weight = i.n;
-- Not an equality that always holds.
SELECT count(*) FROM uj_customers_dp c JOIN uj_orders_dp o ON o.cid >= c.cid;
SELECT count(*) FROM uj_customers_dp c JOIN uj_orders_dp o ON o.cid = c.cid OR o.total > 3;
SELECT count(*) FROM uj_customers_dp c JOIN uj_orders_dp o ON o.cid IS NOT DISTINCT FROM c.cid;
SELECT count(*) FROM uj_customers_dp c JOIN uj_orders_dp o ON o.cid = c.cid + 0;
SELECT count(*) FROM uj_customers_dp c JOIN uj_orders_dp o ON o.cid::numeric = c.cid::numeric;
SELECT count(*) FROM uj_customers_dp c JOIN uj_orders_dp o ON NOT (o.cid <> c.cid);
-- Outer joins: what links their nullable side must stand in their ON.
SELECT count(*) FROM uj_customers_dp c LEFT JOIN uj_orders_dp o ON true WHERE o.cid = c.cid;
SELECT count(*) FROM uj_customers_dp c LEFT JOIN uj_orders_dp o ON o.total > 3 WHERE o.cid = c.cid;
SELECT count(*) FROM uj_customers_dp c LEFT JOIN (uj_orders_dp o CROSS JOIN uj_visits_dp v) ON o.cid = c.cid;
SELECT count(*) FROM uj_customers_dp c LEFT JOIN uj_orders_dp o ON o.cid = c.cid, uj_visits_dp v WHERE v.cid = o.cid;
SELECT count(*) FROM (uj_customers_dp c CROSS JOIN uj_visits_dp v) LEFT JOIN uj_orders_dp o ON o.cid = c.cid AND v.cid = c.cid;
SELECT count(*) FROM uj_customers_dp c LEFT JOIN uj_orders_dp o ON o.cid = c.cid JOIN uj_visits_dp v ON v.cid = o.cid;
SELECT count(*) FROM uj_customers_dp c FULL JOIN uj_orders_dp o ON o.cid = c.cid;
SELECT count(*) FROM uj_customers_dp c LEFT JOIN (SELECT cid, coalesce(total, 0) AS total FROM uj_orders_dp) o ON o.cid = c.cid;
SELECT count(DISTINCT cid) FROM uj_customers_dp c LEFT JOIN uj_orders_dp o USING (cid) GROUP BY o.cid;
-- Other people, rows that are people, tables of anybody's, shapes.
SELECT count(*) FROM uj_customers_dp c JOIN uj_strangers_dp s ON s.cid = c.cid;
SELECT count(*) FROM uj_others_dp a JOIN uj_others_dp b ON a.cid = b.cid;
SELECT count(*) FROM uj_customers_dp c JOIN uj_others_dp o ON o.cid = c.cid;
SELECT count(*) FROM uj_customers_dp c JOIN uj_labels l ON l.cid = c.cid;
SELECT count(*) FROM uj_customers_dp c, LATERAL (SELECT * FROM uj_orders_dp o WHERE o.cid = c.cid) o;
SELECT count(*) FROM uj_customers_dp c JOIN uj_orders_dp o ON o.cid = c.cid AND o.total IN (SELECT 3);
SELECT sum(DISTINCT o.oid) FROM uj_customers_dp c JOIN uj_orders_dp o ON o.cid = c.cid;
SELECT o.cid, count(*) FROM uj_customers_dp c JOIN uj_orders_dp o ON o.cid = c.cid GROUP BY o.cid;
SELECT count(c) FROM uj_customers_dp c JOIN uj_orders_dp o ON o.cid = c.cid;
SELECT sum(o.oid) FROM uj_customers_dp c JOIN uj_orders_dp o ON o.cid = c.cid;
-- Sizes.
SELECT count(*) FROM uj_visits_dp a, uj_visits_dp b, uj_visits_dp c, uj_visits_dp d, uj_visits_dp e, uj_visits_dp f, uj_visits_dp g, uj_visits_dp h
WHERE a.cid = b.cid AND b.cid = c.cid AND c.cid = d.cid AND d.cid = e.cid AND e.cid = f.cid AND f.cid = g.cid AND g.cid = h.cid;
SELECT count(*) FROM uj_visits_dp a, uj_visits_dp b, uj_visits_dp c, uj_visits_dp d, uj_visits_dp e, uj_visits_dp f, uj_visits_dp g, uj_visits_dp h, uj_customers_dp i
WHERE a.cid = b.cid;
-- Requests are about one view.
SELECT dp_request('SELECT count(*) FROM uj_customers_dp c JOIN uj_orders_dp o ON o.cid = c.cid', 'to know');
-- The text of a leaf, written by hand.
SELECT * FROM dp_rdr.release('SELECT count(*) FROM public.uj_customers_dp c JOIN public.uj_labels l ON l.cid = c.cid', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint);
SELECT * FROM dp_rdr.release('SELECT count(*) FROM public.uj_customers_dp c, LATERAL (SELECT 1) l', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint);
SET ROLE regress_controller;
-- Policies that are not equal.
SELECT dp_grant('uj_orders_dp', 'regress_analyst', tau => 0.25);
SET ROLE regress_analyst;
SELECT count(*) FROM uj_customers_dp c JOIN uj_orders_dp o ON o.cid = c.cid;
SET ROLE regress_controller;
SELECT dp_revoke('uj_orders_dp', 'regress_analyst');
SET ROLE regress_analyst;
SELECT count(*) FROM uj_customers_dp c JOIN uj_orders_dp o ON o.cid = c.cid;
SET ROLE regress_controller;
SELECT count(*) - :charged AS charged FROM dp_rdr.ledger;

-- ---------------------------------------------------------------------------------------------------------------------
-- The controller's instrument, and stored answers
-- ---------------------------------------------------------------------------------------------------------------------

SELECT dp_grant('uj_orders_dp', 'regress_analyst', tau => 0, candidates => '{100}', epsilon_max => 100, delta => 1e-6);
SELECT record, individuals, pis FROM dp_risk_records('SELECT count(*) FROM uj_customers_dp c JOIN uj_orders_dp o ON o.cid = c.cid', 1) ORDER BY pis DESC NULLS LAST, 1 LIMIT 3;
-- Units of all joined tables and of the unit table: 400 customers, and one of orders who is none.
SELECT sum(individuals) AS population FROM dp_risk_records('SELECT count(*) FROM uj_accounts_dp a JOIN uj_orders_dp o ON o.cid = a.cid', 1);
SELECT dp_set_odometer('uj_customers', 'filter', epsilon_total => 9000, delta_total => 0.5);
SELECT dp_grant(v, 'regress_analyst', replay => '1 day') FROM unnest('{uj_customers_dp,uj_orders_dp}'::regclass[]) v;
SET ROLE regress_analyst;
SELECT count(*) AS a FROM uj_customers_dp c JOIN uj_orders_dp o ON o.cid = c.cid AND o.total > 3 \gset
SELECT count(*) = :a AS the_same FROM uj_customers_dp c JOIN uj_orders_dp o ON o.cid = c.cid AND o.total > 3;
SELECT count(*) AS b FROM uj_customers_dp c LEFT JOIN uj_orders_dp o ON o.cid = c.cid AND o.total > 3 \gset
SET ROLE regress_controller;
SELECT :b > :a + 20 AS another_question, count(*) AS charges FROM dp_rdr.ledger WHERE query ~ 'total > 3' AND query ~ 'uj_';

-- Eight sources, and seven outer joins, of rows that find their people over two other tables.
CREATE TABLE uj_lines (line integer PRIMARY KEY, oid integer);
CREATE TABLE uj_notes (note integer PRIMARY KEY, line integer);
SELECT dp_protect('uj_lines', 'uj_lines_dp', unit => 'oid -> uj_orders(oid)', max_rows => 10);
SELECT dp_protect('uj_notes', 'uj_notes_dp', unit => 'line -> uj_lines(line)', max_rows => 1);
SELECT dp_grant('uj_notes_dp', 'regress_analyst', tau => 0, candidates => '{100}', epsilon_max => 100);
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM uj_notes_dp a' || string_agg(format(' LEFT JOIN uj_notes_dp %1$s ON %1$s.line = a.line', t), '')) FROM unnest('{b,c,d,e,f,g,h}'::text[]) t;

-- A condition that is never true leaves no equality once constants are folded. What is asked behind the charge is what was parsed.
SELECT count(*) IS NOT NULL AS answered FROM uj_customers_dp c, uj_orders_dp o WHERE c.cid = o.cid AND 1 = 0;
SELECT count(*) IS NOT NULL AS answered FROM uj_customers_dp c JOIN uj_orders_dp o ON o.cid = c.cid WHERE false;
SELECT count(*) IS NOT NULL AS answered FROM uj_customers_dp c LEFT JOIN uj_orders_dp o ON o.cid = c.cid AND false;
