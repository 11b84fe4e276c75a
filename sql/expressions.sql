-- Sums, averages and variances of expressions: the bounds that follow from what is declared of the columns, and the answers at the
-- largest epsilon against what plain SQL computes row by row, clamped to these bounds.
--
-- With one measure a noise has the scale 1/100 of its sensitivity, and exceeds 0.3 of it with probability below 2 exp(-30).

LOAD 'dp_rdr';
SET client_min_messages = warning;
DROP ROLE IF EXISTS regress_expressions;
RESET client_min_messages;
CREATE ROLE regress_expressions;
\set VERBOSITY terse
\pset null '-'

SET ROLE regress_controller;
CREATE TABLE sale (
    id integer NOT NULL, region text, qty smallint NOT NULL, price numeric(8, 2), cost float8, rebate real, points bigint, ratio numeric,
    paid boolean, code varchar(5), note text, placed date, shipped timestamp, at timestamptz, age integer);
INSERT INTO sale
SELECT i, (ARRAY['north', 'south', NULL])[1 + i % 3], i % 12, i % 100 + 0.25, i * 0.37 - 20, i % 10 / 4.0, i * 1000000007::bigint % 5000, i / 7.0,
       CASE i % 4 WHEN 0 THEN NULL ELSE i % 4 = 1 END, repeat('x', i % 6), CASE i % 5 WHEN 0 THEN i::text ELSE 'note ' || i END,
       date '2023-01-01' + i * 3, timestamp '2023-01-01 10:00' + i * interval '7 hours', timestamptz '2024-06-01 12:00+00' + i * interval '1 day',
       i % 90
FROM generate_series(1, 240) i;
-- Beyond the bounds, and beyond the types of what is computed.
INSERT INTO sale (id, qty, price, cost, rebate, points, ratio, placed, shipped, age) VALUES
    (241, 32767, 999999.99, 'Infinity', 'NaN', 9223372036854775807, 'NaN', 'infinity', '-infinity', 2147483647),
    (242, -32768, -999999.99, '-Infinity', '-Infinity', -9223372036854775808, 'Infinity', '-infinity', 'infinity', -2147483648),
    (243, 0, 0, 'NaN', 'Infinity', 0, 1e300, '4000-01-01', '4000-01-01', 0), (244, 0, NULL, 1e308, 3e38, -1, -1e-300, NULL, NULL, NULL),
    (245, -1, 'NaN', -0.0, 1e-45, 7, 0, '0044-03-15 BC', '0044-03-15 BC', -1);
SELECT dp_protect('sale', 'sale_dp');
SELECT dp_set_bounds('sale', 'qty', 0, 11), dp_set_bounds('sale', 'price', 0, 100), dp_set_bounds('sale', 'cost', -20, 80.5),
       dp_set_bounds('sale', 'rebate', 0, 2.5), dp_set_bounds('sale', 'points', 0, 5000), dp_set_bounds('sale', 'age', 0, 110),
       dp_set_bounds('sale', 'placed', date '2023-01-01', date '2024-12-31'),
       dp_set_bounds('sale', 'shipped', timestamp '2023-01-01', timestamp '2023-03-31 23:59:59.999999'), dp_set_odometer('sale', 'none', NULL);
SELECT dp_grant('sale_dp', 'regress_expressions', tau => 0, epsilon_max => 100, candidates => '{100}');

CREATE TABLE expression (n integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, e text);
COPY expression (e) FROM stdin;
1
2.50
-3
CASE WHEN paid THEN 1 ELSE 0 END
CASE WHEN paid THEN price WHEN qty > 5 THEN 2 * price END
CASE region WHEN 'north' THEN qty ELSE -qty END
paid::integer
(price > 50)::integer
qty * price
qty * qty
qty * 1000
qty + age
qty - age
-qty
abs(qty - 5)
age / 10
age / (qty - 5)
age % 7
age * age * age
age + 2147483647
points * 2
points * points
points + age
price * 2
price + cost
price - 0.005
price / 3
price / (qty + 1)
price % 7
price * 1.19
round(price * 1.19, 2)
round(price, -1)
round(price)
trunc(price, 1)
floor(price)
ceil(price / 7)
sign(price - 50)
cost * cost
cost * 1e100
cost + price::float8
cost::integer
cost::numeric
cost::numeric(6, 1)
cost::real
round(cost)
trunc(cost)
rebate * 2
rebate + cost
rebate::float8
age::numeric
age::float8 / 12
age::bigint
points::integer
coalesce(age, 0)
coalesce(price, 100.00)
coalesce(nullif(age, 0), 110)
100 / nullif(age, 0)
least(age, 50)
greatest(age, qty)
least(greatest(id, 0), 100)
least(greatest(ratio, 0), 10)
least(greatest(ratio, -1), 1) * 100
least(greatest(extract(epoch FROM at), 0), 2000000000)
date '2025-01-01' - placed
placed - date '2023-01-01'
shipped::date - placed
extract(year FROM placed)
extract(month FROM placed)
extract(dow FROM shipped)
extract(hour FROM shipped)
extract(epoch FROM shipped)
date_part('doy', placed)
date_part('isoyear', shipped)
extract(decade FROM placed) + extract(century FROM placed)
width_bucket(price, 0, 100, 4)
width_bucket(cost, -20, 80, 3)
length(code)
octet_length(code)
length(left(note, 3))
length(code) * price
\.
GRANT SELECT ON expression TO regress_expressions;

-- Row by row; nothing where plain SQL raises an error, or has NULL or NaN.
CREATE FUNCTION value_of(e text, row_id integer) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
    value float8;
BEGIN
    EXECUTE format('SELECT (%s)::float8 FROM sale WHERE id = $1', e) INTO value USING row_id;
    RETURN nullif(value, 'NaN');
EXCEPTION WHEN OTHERS THEN
    RETURN NULL;
END $$;
CREATE TABLE exact AS SELECT n, id, value_of(e, id) AS value FROM expression, sale;

-- The answers, in order; the ledger has the bounds.
SET ROLE regress_expressions;
CREATE FUNCTION pg_temp.ask(statement text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
    answer float8;
BEGIN
    EXECUTE statement INTO answer;
    RETURN answer;
END $$;
CREATE TEMP TABLE answer AS
SELECT n, pg_temp.ask(format('SELECT sum(%s) FROM sale_dp', e)) AS sum, pg_temp.ask(format('SELECT avg(%s) FROM sale_dp', e)) AS avg,
       pg_temp.ask(format('SELECT var_pop(%s) FROM sale_dp', e)) AS variance, pg_temp.ask(format('SELECT stddev(%s) FROM sale_dp', e)) AS deviation
FROM expression;
GRANT SELECT ON answer TO regress_controller;

SET ROLE regress_controller;
CREATE VIEW charged AS
SELECT (3 + row_number() OVER (ORDER BY id)) / 4 AS n, (row_number() OVER (ORDER BY id) - 1) % 4 AS what, m ->> 'kind' AS kind, m ->> 'expression' AS expression,
       (m ->> 'lower')::float8 AS lower, (m ->> 'upper')::float8 AS upper, (m ->> 'sensitivity')::float8 AS sensitivity, m ->> 'lower' AS from, m ->> 'upper' AS to
FROM (SELECT id, parameters::jsonb -> 'measures' -> 0 AS m FROM dp_rdr.ledger WHERE relation = 'public.sale') l;
-- Whole numbers are summed in whole units, others in 2^-30 of the power of two above the larger bound.
\a
SELECT e.n, e.e, c.from, c.to, CASE WHEN c.sensitivity = greatest(-c.lower, c.upper) THEN 'whole' ELSE 'units of 2^-30' END AS lattice,
       x.n AS there, abs(a.sum - x.sum) <= 0.3 * greatest(-c.lower, c.upper) + 1e-6 * (1 + abs(x.sum)) AS sum,
       abs(a.avg - x.avg) <= 2 * 0.3 * (c.upper - c.lower) / (x.n - 0.6) + 1e-6 * (1 + abs(x.avg)) AS avg,
       abs(a.variance - x.variance) <= 4 * (c.upper - c.lower) ^ 2 / (x.n - 1) + 1e-6 AS variance,
       abs(a.deviation ^ 2 - x.variance * x.n / (x.n - 1)) <= 4 * (c.upper - c.lower) ^ 2 / (x.n - 2) + 1e-6 AS deviation,
       x.beyond AS clamped
FROM expression e JOIN charged c ON c.n = e.n AND c.what = 0 JOIN answer a ON a.n = e.n,
     LATERAL (SELECT count(value) AS n, sum(v) AS sum, avg(v) AS avg, var_pop(v) AS variance, count(*) FILTER (WHERE value NOT BETWEEN c.lower - 1e-9 AND c.upper + 1e-9) AS beyond
              FROM exact x, LATERAL (SELECT CASE WHEN value IS NOT NULL THEN least(greatest(value, c.lower), c.upper) END AS v) v WHERE x.n = e.n) x
ORDER BY e.n;
\a
-- One argument, one charge, whatever it is called: the same bounds and expression in all four.
SELECT count(*) FROM (SELECT n FROM charged GROUP BY n HAVING count(DISTINCT (expression, lower, upper)) > 1 OR string_agg(kind, ' ' ORDER BY what) <> 'sum pair triple triple') x;

-- ---------------------------------------------------------------------------------------------------------------------
-- What shares a measure, and what has none
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_expressions;
SELECT abs(s - 2 * c) < 2 AS one_measure, abs(a - 2) < 0.5 AS average FROM (SELECT sum(qty * 0 + 2) AS s, count(qty * 0 + 2) AS c, avg(qty * 0 + 2) AS a FROM sale_dp) x;
SELECT sum(age * 2) FILTER (WHERE paid) IS NOT NULL AS there, count(age * 2) > 0 AS counted, stddev(age * 2) FILTER (WHERE NOT paid) > 0 AS spread FROM sale_dp;
SET ROLE regress_controller;
SELECT parameters::jsonb -> 'measures' AS measures FROM dp_rdr.ledger WHERE relation = 'public.sale' ORDER BY id DESC LIMIT 2;

-- LEAST and GREATEST pass NULL by, also one that stands for an error: such rows have the constant.
SET ROLE regress_expressions;
SELECT abs(sum(least(greatest(note::integer, 0), 60)) - 48 * 60 + 180) < 700 AS sum, count(least(greatest(note::integer, 0), 60)) BETWEEN 243 AND 247 AS everybody,
       avg(greatest(least(cost * 1e308, 3), -3)) BETWEEN 0 AND 3 AS overflow FROM sale_dp;
-- Parameters are part of the expression.
SET ROLE regress_expressions;
PREPARE scaled(integer) AS SELECT abs(sum(age * $1)) < 10000000 FROM sale_dp;
EXECUTE scaled(3);
EXECUTE scaled(-7);
SET ROLE regress_controller;
SELECT m -> 'lower' AS lower, m -> 'upper' AS upper, m ->> 'expression' AS expression
FROM (SELECT id, parameters::jsonb -> 'measures' -> 0 AS m FROM dp_rdr.ledger WHERE relation = 'public.sale' ORDER BY id DESC LIMIT 2) l ORDER BY id;

-- A sum of decimals ends where decimals do, also where doubles are about to run out of digits.
CREATE TABLE turnover (a numeric(16, 6), b numeric(16, 6));
SELECT dp_protect('turnover', 'turnover_dp'), dp_set_bounds('turnover', 'a', 0, 1200000000.1), dp_set_bounds('turnover', 'b', 0, 1000000000.2);
SELECT dp_grant('turnover_dp', 'regress_expressions', tau => 0, epsilon_max => 100, candidates => '{1}');
SET ROLE regress_expressions;
SELECT sum(a + b) IS NOT NULL AS asked FROM turnover_dp;
SET ROLE regress_controller;
SELECT m -> 'lower' AS lower, m -> 'upper' AS upper
FROM (SELECT parameters::jsonb -> 'measures' -> 0 AS m FROM dp_ledger('turnover')) l;
DROP TABLE turnover CASCADE;

SET ROLE regress_expressions;
CREATE TABLE pg_temp.refused (n integer GENERATED ALWAYS AS IDENTITY, statement text);
COPY refused (statement) FROM stdin;
SELECT sum(id) FROM sale_dp
SELECT sum(id + 1) FROM sale_dp
SELECT sum(ratio * 2) FROM sale_dp
SELECT avg(price / cost) FROM sale_dp
SELECT avg(price / (age - 5.0)) FROM sale_dp
SELECT stddev(cost * 1e305) FROM sale_dp
SELECT sum(extract(epoch FROM at)) FROM sale_dp
SELECT sum(length(note)) FROM sale_dp
SELECT sum(note::integer) FROM sale_dp
SELECT sum(least(id, 5)) FROM sale_dp
SELECT sum(least(greatest(id, age), 5)) FROM sale_dp
SELECT sum(coalesce(id, 0)) FROM sale_dp
SELECT sum(CASE WHEN paid THEN id ELSE 0 END) FROM sale_dp
SELECT sum(sqrt(cost)) FROM sale_dp
SELECT sum(random()) FROM sale_dp
SELECT sum(age * (SELECT 1)) FROM sale_dp
SELECT sum(count(*)) FROM sale_dp
SELECT sum(age(shipped)) FROM sale_dp
SELECT sum(1 / 0) FROM sale_dp
SELECT sum(dp_low(age)) FROM sale_dp
SELECT var_pop(DISTINCT age) FROM sale_dp
SELECT regr_sxx(age, qty) FROM sale_dp
SELECT sum((age * qty)::money::numeric) FROM sale_dp
\.
SELECT statement, attempt(statement) FROM refused ORDER BY n;
-- A bound of a column is enough, or the wrap that the hint shows.
SELECT attempt('SELECT sum(least(greatest(id, 0), 1000)) FROM sale_dp');
-- What a column of its own may take per row is for all of the statement: an expression that a triple evaluates three times costs as much.
SELECT left(attempt(format('SELECT %s FROM sale_dp', string_agg(format('stddev(price %% %s %% 7 %% 5 %% 3)', i), ','))), 60) FROM generate_series(1, 10) i;
-- A cast that is repeated does not make the look at it longer.
SELECT attempt(format('SELECT sum(%sage%s) FROM sale_dp', repeat('(', 200), repeat(' > 0)::integer', 200)));

-- ---------------------------------------------------------------------------------------------------------------------
-- Bounds of dates
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_controller;
SELECT attempt(s) FROM unnest(ARRAY[
    $$SELECT dp_set_bounds('sale', 'placed', 0, 5)$$, $$SELECT dp_set_bounds('sale', 'age', date '2020-01-01', date '2021-01-01')$$,
    $$SELECT dp_set_bounds('sale', 'placed', date '2021-01-01', date '2020-01-01')$$, $$SELECT dp_set_bounds('sale', 'placed', date '2021-01-01', 'infinity')$$,
    $$SELECT dp_set_bounds('sale', 'placed', timestamp '2021-01-01', timestamp '2022-01-01')$$, $$SELECT dp_set_bounds('sale', 'shipped', date '2021-01-01', '-infinity')$$,
    $$SELECT dp_set_bounds('sale', 'shipped', timestamp 'infinity', timestamp '2022-01-01')$$, $$SELECT dp_set_bounds('sale', 'at', timestamp '2021-01-01', timestamp '2022-01-01')$$,
    $$SELECT dp_set_bounds('sale', 'nothing', date '2021-01-01', date '2022-01-01')$$, $$SELECT dp_set_bounds('sale', 'placed', NULL::date, date '2022-01-01')$$,
    $$SELECT dp_set_bounds('sale', 'age', '0', '110.0')$$, $$SELECT dp_set_bounds('sale', 'age', 'young', 'old')$$,
    $$SELECT dp_set_bounds('sale', 'placed', '2023-01-01', '2024-12-31')$$, $$SELECT dp_set_bounds('sale', 'placed', '2023-02-31', '2024-12-31')$$,
    $$SELECT dp_set_bounds('sale', 'shipped', '2023-01-01 12:00', '2023-03-31')$$, $$SELECT dp_set_bounds('sale', 'note', '1', '2')$$,
    $$SELECT dp_set_bounds('sale', 'shipped', date '2023-01-01', date '2024-01-01')$$]) s;
SELECT item, name, value, call FROM dp_settings('sale') WHERE item = 'bounds' AND name IN ('age', 'placed', 'shipped');
SET ROLE regress_expressions;
SELECT name, value FROM dp_about('sale_dp') WHERE item = 'column' AND name IN ('age', 'placed', 'shipped');
SELECT name FROM dp_about('sale_dp') WHERE item = 'price' ORDER BY name COLLATE "C";
RESET ROLE;
SET client_min_messages = warning;
DROP TABLE sale, expression, exact CASCADE;
DROP FUNCTION value_of;
