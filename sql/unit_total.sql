-- A public total of the sizes in one person's sum: how right a sum is by it, whom it scales down, of what it is, and that it is taken back.
\set VERBOSITY default
LOAD 'dp_rdr';
SET ROLE regress_controller;
CREATE TABLE ut_buyer (id integer PRIMARY KEY, town text NOT NULL);
CREATE TABLE ut_line (buyer integer NOT NULL REFERENCES ut_buyer, cost numeric(6, 2), n integer, paid float8, shop text NOT NULL, kind integer NOT NULL);
CREATE TABLE ut_kind (kind integer PRIMARY KEY, name text);
CREATE TABLE ut_tag (kind integer NOT NULL, tag text);
-- 50 people spend 40 in 4 lines; 10 spend 200: 150 in one shop, 50 in the other; 5 buy for 100, and give as much back.
INSERT INTO ut_buyer SELECT i, 't' || i % 2 FROM generate_series(1, 65) i;
INSERT INTO ut_line SELECT i, 10, 1, 10, 'a', k FROM generate_series(1, 50) i, generate_series(1, 4) k;
INSERT INTO ut_line SELECT i, 25, 2, 25, CASE WHEN k <= 6 THEN 'a' ELSE 'b' END, k FROM generate_series(51, 60) i, generate_series(1, 8) k;
INSERT INTO ut_line SELECT i, CASE WHEN k <= 4 THEN 25 ELSE -25 END, 0, 0, 'b', k FROM generate_series(61, 65) i, generate_series(1, 8) k;
INSERT INTO ut_kind SELECT k, 'k' || k FROM generate_series(1, 8) k;
INSERT INTO ut_tag SELECT k, 't' || j FROM generate_series(1, 8) k, generate_series(1, 3) j;
SELECT dp_protect('ut_buyer', 'ut_buyer_dp', unit => 'id'), dp_protect('ut_line', 'ut_line_dp', unit => 'buyer -> ut_buyer(id)', max_rows => 100) \g (tuples_only=on)
SELECT dp_set_bounds('ut_line', 'cost', -30, 30), dp_set_bounds('ut_line', 'n', 0, 10), dp_set_bounds('ut_line', 'paid', 0, 30),
       dp_set_groups('ut_line', 'shop', '{a,b}'), dp_set_groups('ut_buyer', 'town', '{t0,t1}'), dp_set_public('ut_kind', 'ut_line'), dp_set_public('ut_tag', 'ut_line'),
       dp_set_odometer('ut_line', 'none', delta_total => 0.5) \g (tuples_only=on)
SELECT dp_grant('ut_line_dp', 'regress_analyst', tau => 0, epsilon_max => 100, candidates => '{100,0.05}'),
       dp_grant('ut_buyer_dp', 'regress_analyst', tau => 0, epsilon_max => 100, candidates => '{100,0.05}') \g (tuples_only=on)
GRANT SELECT ON ut_kind, ut_tag TO regress_analyst;

-- What an answer would be right to at epsilon 0.05, and why. R M = 3,000.
CREATE FUNCTION right_to(query text) RETURNS TABLE (column_name text, error95 numeric, reason text) LANGUAGE sql AS $$
    SELECT e.column_name, round((e.error95 * 100 / 0.05)::numeric, -1), e.reason FROM dp_explain(query) e WHERE e.error95 IS NOT NULL $$;
GRANT EXECUTE ON FUNCTION right_to TO regress_analyst;
CREATE FUNCTION totals() RETURNS TABLE (name text, value text, call text) LANGUAGE sql AS $$ SELECT name, value, call FROM dp_settings('ut_line') WHERE item = 'total' $$;
SET ROLE regress_analyst;
SELECT * FROM right_to('SELECT sum(cost) FROM ut_line_dp');
SET ROLE regress_controller;
SELECT dp_set_total('ut_line', 'cost', 60), dp_set_total('ut_line_dp', 'n*paid', 70.5), dp_set_total('ut_line', 'n', 9999);
SELECT * FROM totals();
SET ROLE regress_analyst;
SELECT * FROM right_to('SELECT sum(cost) FROM ut_line_dp');

-- ---------------------------------------------------------------------------------------------------------------------
-- Whom it scales down: noise of scale 0.6 is no 30 in 10^21 draws
-- ---------------------------------------------------------------------------------------------------------------------

-- 50 x 40 + 10 x 60 + nothing of those who gave back what they bought
SELECT abs(sum - 2600) < 30 AS as_expected FROM (SELECT sum(cost) FROM ut_line_dp) s;
-- Over all groups together: 45 of 150 and 15 of 50; of 100 bought and 100 given back nothing is left in one shop.
SELECT shop, abs(sum - CASE shop WHEN 'a' THEN 2450 ELSE 150 END) < 30 AS as_expected FROM (SELECT shop, sum(cost) FROM ut_line_dp GROUP BY shop) s ORDER BY shop;
-- Sizes, not the sum: what is bought by those who give it back is 30 of 100.
SELECT abs(sum - (50 * 40 + 10 * 60 + 5 * 60)) < 30 AS as_expected FROM (SELECT sum(cost) FROM ut_line_dp WHERE cost > 0) s;
SELECT sign, abs(sum - CASE sign WHEN 1 THEN 50 * 40 + 10 * 60 + 5 * 30 ELSE -150 END) < 30 AS as_expected
FROM (SELECT CASE WHEN cost < 0 THEN -1 WHEN cost > 0 THEN 1 ELSE 0 END AS sign, sum(cost) FROM ut_line_dp GROUP BY 1) s WHERE sign <> 0 ORDER BY 1;
-- A fraction of one's own rows is within it all the more.
SELECT abs(sum - (50 * 20 + 10 * 50)) < 30 AS as_expected FROM (SELECT sum(cost) FILTER (WHERE kind <= 2) FROM ut_line_dp WHERE cost > 0 AND n > 0) s;
-- With Gaussian noise, by the root of the squares, with and without a limit of the rows in each group.
SET ROLE regress_controller;
SELECT dp_grant('ut_line_dp', 'regress_analyst', mechanism => 'gaussian', delta => 1e-6);
SET ROLE regress_analyst;
-- D = T: who has 150 and 50 keeps 56.9 and 19.0, and 10 times that beside the 2000 of others is in the sums.
SELECT shop, abs(sum - CASE shop WHEN 'a' THEN 2000 + 569 ELSE 190 END) < 60 AS as_expected FROM (SELECT shop, sum(cost) FROM ut_line_dp GROUP BY shop) s ORDER BY shop;
-- D = ceil(sqrt(T C M)) = sqrt(60 x 1 x 30) = 42.4: who has 150 and 50 in two groups has a norm of 158, and keeps 40.2 and 13.4.
SELECT shop, abs(sum - CASE shop WHEN 'a' THEN 2000 + 402 ELSE 134 END) < 100 AS as_expected
FROM dp_query('SELECT shop, sum(cost) FROM ut_line_dp GROUP BY shop', max_rows_per_group => 1) AS s (shop text, sum numeric) ORDER BY shop;
SET ROLE regress_controller;
SELECT dp_grant('ut_line_dp', 'regress_analyst', mechanism => 'laplace', delta => 0);
SET ROLE regress_analyst;

-- ---------------------------------------------------------------------------------------------------------------------
-- Of what it is
-- ---------------------------------------------------------------------------------------------------------------------

-- The expression, as it is folded; in a larger one, beside an average or a count of it, of a column of another name: none.
SELECT q AS query, r.* FROM unnest(ARRAY['sum(n * paid)', 'sum((n)*(paid))', 'sum(paid * n)', 'sum(cost), count(*)', 'sum(cost), avg(cost)', 'sum(cost), count(cost)', 'avg(cost)',
    'sum(cost + 0)', 'sum(-cost)', 'sum(n)', 'sum(paid)', 'sum(cost) FILTER (WHERE n > 0), sum(cost) FILTER (WHERE n < 1)', 'sum(cost::numeric)']) q, right_to('SELECT ' || q || ' FROM ut_line_dp') r;
-- What is 9,999 is more than 100 rows of 10: it limits nothing. A smaller max_rows may be the limit.
SELECT column_name, round((error95 * 2000)::numeric, -1) AS error95, reason FROM dp_explain('SELECT sum(cost) FROM ut_line_dp', max_rows => 1);
-- Joined with what has one row for each of its rows it holds; with what repeats them it does not.
SELECT q AS query, r.error95, r.reason FROM unnest(ARRAY['ut_line_dp l', 'ut_line_dp l JOIN ut_buyer_dp b ON b.id = l.buyer', 'ut_line_dp l JOIN ut_kind k USING (kind)',
    'ut_line_dp l JOIN ut_tag t USING (kind)', 'ut_line_dp l LEFT JOIN ut_buyer_dp b ON b.id = l.buyer', 'ut_buyer_dp b LEFT JOIN ut_line_dp l ON b.id = l.buyer',
    'ut_line_dp l JOIN ut_line_dp m ON m.buyer = l.buyer']) q, right_to('SELECT sum(l.cost) FROM ' || q) r;
SELECT town, abs(sum - 1300) < 30 AS as_expected FROM (SELECT town, sum(cost) FROM ut_line_dp l JOIN ut_buyer_dp b ON b.id = l.buyer GROUP BY town) s ORDER BY town;
-- One row for each person has limits of its own.
SELECT * FROM right_to('SELECT sum(s) FROM (SELECT buyer, sum(cost) AS s FROM ut_line_dp GROUP BY buyer) p');
-- A parameter that makes it the same expression.
PREPARE by_parameter AS SELECT abs(sum - 2600) < 30 AS as_expected FROM (SELECT sum(cost) FROM ut_line_dp WHERE kind < $1) s;
EXECUTE by_parameter(100);

-- What was charged says so; a change is another question, and changes what is prepared.
SET ROLE regress_controller;
SELECT parameters -> 'totals' AS totals, parameters -> 'max_rows' AS max_rows, min(query COLLATE "C") AS one_of, count(*) FROM dp_rdr.ledger
WHERE relation = 'public.ut_line' GROUP BY 1, 2 ORDER BY 3;
SELECT dp_grant('ut_line_dp', 'regress_analyst', replay => '1 day');
SET ROLE regress_analyst;
SELECT sum(n) AS first FROM ut_line_dp WHERE n > -1 \gset
SELECT sum(n) = :first AS again FROM ut_line_dp WHERE n > -1;
SET ROLE regress_controller;
SELECT dp_set_total('ut_line', 'n', 20);
SET ROLE regress_analyst;
SELECT accepted, reason FROM dp_explain('SELECT sum(n) FROM ut_line_dp WHERE n > -1');
SET ROLE regress_controller;
SELECT count(*) AS charged FROM dp_rdr.ledger WHERE query ~ 'n > -1|n > \(-1\)|n > ''-1''';
SET ROLE regress_analyst;
SELECT abs(sum - 360) < 30 AS as_expected FROM (SELECT sum(n) FROM ut_line_dp WHERE n > -1) s;
SET ROLE regress_controller;
SELECT count(*) AS charged FROM dp_rdr.ledger WHERE query ~ 'n > -1|n > \(-1\)|n > ''-1''';
SELECT dp_grant('ut_line_dp', 'regress_analyst', replay => '0');

-- ---------------------------------------------------------------------------------------------------------------------
-- What is refused, what is taken back
-- ---------------------------------------------------------------------------------------------------------------------

SELECT left(a, 40) AS arguments, attempt(format('SELECT dp_set_total(%s)', a)) AS outcome FROM unnest(ARRAY['''ut_line'', ''cost'', 0', '''ut_line'', ''cost'', 0.00', '''ut_line'', ''cost'', -1', '''ut_line'', ''cost'', ''NaN''',
    '''ut_line'', ''cost'', ''-Infinity''', '''ut_line'', ''cost'', 1e400', '''ut_line'', ''cost'', NULL', '''ut_line'', NULL, 1', 'NULL, ''cost'', 1', '''ut_line'', ''shop'', 1', '''ut_line'', ''nothing'', 1',
    '''ut_line'', ''cost, n'', 1', '''ut_line'', ''cost FROM ut_line'', 1', '''ut_line'', ''sum(cost)'', 1', '''ut_line'', ''(SELECT 1)'', 1', '''ut_line'', ''random()'', 1', '''ut_line'', '''', 1',
    '''ut_line'', ''cost > 1'', 1', '''ut_buyer'', ''id'', 1', '''pg_class'', ''relpages'', 1', '''ut_kind'', ''kind'', 1', format('''ut_line'', ''cost%s'', 1', repeat(' + 1', 300))]) a;
SET ROLE regress_analyst;
SELECT attempt('SELECT dp_set_total(''ut_line'', ''cost'', 1)');
SET ROLE regress_controller;
SELECT * FROM totals();
-- What is printed is the same total.
SELECT call FROM totals() \gexec
SELECT name, value FROM totals();
-- An analyst sees those of columns that his view shows.
SELECT dp_protect('ut_line', 'ut_short_dp', columns => '{shop,cost}');
SELECT dp_grant('ut_short_dp', 'regress_analyst', tau => 0.95, mechanism => 'auto');
SET ROLE regress_analyst;
SELECT name, value FROM dp_about('ut_line_dp') WHERE item IN ('unit', 'total');
SELECT name, value FROM dp_about('ut_short_dp') WHERE item = 'total' OR name = 'mechanism';
SET ROLE regress_controller;
SELECT dp_unprotect('ut_short_dp');
-- A column of another name has none; what it had can be taken back as it is printed.
ALTER TABLE ut_line RENAME COLUMN n TO pieces;
SELECT dp_refresh('ut_line_dp');
SET ROLE regress_analyst;
SELECT reason FROM dp_explain('SELECT sum(cost) FROM ut_line_dp');
SET ROLE regress_controller;
SELECT dp_set_total('ut_line', 'n', 'Infinity'), dp_set_total('ut_line', '((n)::double precision * paid)', 'Infinity'), dp_set_total('ut_line', 'pieces', 'Infinity'),
       attempt('SELECT dp_set_total(''ut_line'', ''n'', ''Infinity'')');
SELECT dp_set_total('ut_line', ' "cost" ', 'Infinity');
SELECT * FROM totals();
SET ROLE regress_analyst;
SELECT * FROM right_to('SELECT sum(cost) FROM ut_line_dp');
SET ROLE regress_controller;
-- It goes with the table.
SELECT dp_set_total('ut_line', 'cost', 1);
SELECT dp_unprotect('ut_line_dp'), dp_unprotect('ut_buyer_dp');
DROP TABLE ut_line, ut_buyer, ut_kind, ut_tag;
CREATE TABLE ut_other (v integer);
SELECT dp_protect('ut_other', 'ut_other_dp');
RESET ROLE;
SELECT count(*) AS left_over FROM dp_rdr.unit_limit;
SET ROLE regress_controller;
SELECT dp_unprotect('ut_other_dp');
DROP TABLE ut_other;
DROP FUNCTION right_to, totals;
