-- dp_low and dp_high: an end of the interval of an aggregate, for the price of the aggregate.

LOAD 'dp_rdr';
ALTER SEQUENCE dp_rdr.ledger_row_id_seq RESTART WITH 45001;
SET ROLE regress_controller;
CREATE TABLE flock AS SELECT id, (ARRAY['cow', 'hen'])[1 + id % 2] AS kind, id % 30 AS age, (id % 900 + 0.25)::numeric(8,2) AS price,
                             (id % 900)::numeric AS free, (id % 100) / 100.0::float8 AS rate, (id % 50)::real AS weight, id::bigint AS tag,
                             (id % 9)::smallint AS legs
                      FROM generate_series(1, 3000) id;
SELECT dp_protect('flock', 'flock_dp');
SELECT dp_set_groups('flock', 'kind', '{cow,hen,owl}'), dp_set_bounds('flock', 'age', 0, 30), dp_set_bounds('flock', 'price', 0, 1000.50),
       dp_set_bounds('flock', 'free', 0, 1000), dp_set_bounds('flock', 'rate', -1, 1), dp_set_bounds('flock', 'weight', 0.1, 50),
       dp_set_bounds('flock', 'tag', -9e18, 9e18), dp_set_bounds('flock', 'legs', 0.5, 8.5);
SELECT dp_set_odometer('flock', 'none', delta_total => 0.9);
GRANT SELECT ON flock_dp TO regress_analyst, regress_second;
SELECT dp_grant('flock_dp', 'regress_analyst', tau => 0.95);
CREATE VIEW flock_spent AS SELECT epsilon, releases FROM dp_odometer('flock') WHERE account = 'public';
RESET ROLE;

-- One price and one draw: an interval alone, a number alone, all three.
SET ROLE regress_analyst;
SELECT dp_low(count(*)) IS NOT NULL AS answered FROM flock_dp;
SELECT column_name, epsilon, error95 FROM dp_last_release();
SELECT count(*) - dp_low(count(*)) AS below, dp_high(count(*)) - count(*) AS above FROM flock_dp;
SELECT column_name, epsilon, error95 FROM dp_last_release();
SELECT kind, count(*) - dp_low(count(*)) AS below, dp_high(count(*)) - count(*) AS above FROM flock_dp GROUP BY kind ORDER BY kind;
RESET ROLE;
SET ROLE regress_controller;
SELECT * FROM flock_spent;
RESET ROLE;
SET ROLE regress_analyst;

-- Every aggregate, by itself and as a pair: low <= value <= high; what is no average is as far from its ends as error95 says, or rounded
-- outwards to the type.
CREATE FUNCTION pg_temp.ends(aggregate text, beside text = 'count(*)') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    report text;
    error95 float8;
BEGIN
    EXECUTE format('SELECT string_agg(format(''%%s%%s %%s'', ok, same, type), '', '' ORDER BY kind) FROM ('
        'SELECT kind, n BETWEEN l AND h AS ok, CASE WHEN (n - l) = (h - n) THEN '' even'' ELSE '''' END AS same, '
        'concat_ws('' '', pg_typeof(n), nullif(pg_typeof(l), pg_typeof(n)), nullif(pg_typeof(h), pg_typeof(n))) AS type '
        'FROM (SELECT kind, %1$s AS n, dp_low(%1$s) AS l, dp_high(%1$s) AS h, %2$s FROM flock_dp GROUP BY kind) a) b', aggregate, beside) INTO report;
    RETURN report;
END $$;
SELECT a AS aggregate, regexp_replace(pg_temp.ends(a), ' even', '', 'g') AS ends
FROM unnest(array['count(*)', 'dp_count(*)', 'count(age)', 'sum(age)', 'sum(legs)', 'sum(price)', 'sum(free)', 'sum(rate)', 'sum(weight)', 'sum(tag)', 'dp_sum(age)', 'avg(age)',
                  'avg(price)', 'avg(free)', 'avg(rate)', 'avg(weight)', 'avg(tag)', 'avg(legs)', 'sum(age) FILTER (WHERE age > 3)']) a;
SELECT a AS aggregate, regexp_replace(pg_temp.ends(a, 'avg(age), avg(price), avg(free), avg(rate), avg(weight), avg(tag), avg(legs)'), ' even', '', 'g') AS ends
FROM unnest(array['count(age)', 'sum(age)', 'sum(price)', 'sum(free)', 'sum(rate)', 'sum(weight)', 'sum(tag)', 'sum(legs)', 'avg(price)']) a;
-- To the last decimal place where it is known.
SELECT pg_temp.ends('sum(price)'), pg_temp.ends('sum(price)', 'avg(price)'), pg_temp.ends('sum(age)');
SELECT sum(price) - dp_low(sum(price)) AS below, dp_high(sum(price)) - sum(price) AS above FROM flock_dp;
SELECT column_name, error95 FROM dp_last_release();
SELECT scale(dp_low(avg(price))) <= 8 AND scale(dp_low(sum(price))) = 2 AS places FROM flock_dp;

-- Averages stay within their bounds, though nothing is known of an empty group.
SELECT dp_low(avg(age)) >= 0 AND dp_high(avg(age)) <= 30 AS age, dp_low(avg(rate)) >= -1 AND dp_high(avg(rate)) <= 1 AS rate, dp_low(avg(weight)) >= 0.1 AND dp_high(avg(weight)) <= 50 AS weight FROM flock_dp WHERE age = 99;
SELECT avg(age) - dp_low(avg(age)) < 1 AND dp_high(avg(age)) - avg(age) < 1 AS narrow FROM flock_dp;

-- Wherever an aggregate may stand.
SELECT kind FROM flock_dp GROUP BY kind HAVING dp_low(count(*)) > 1000 ORDER BY dp_high(count(*)) > 0, kind;
SELECT kind, rank() OVER (ORDER BY dp_low(count(*)) > 1000 DESC) FROM flock_dp GROUP BY kind ORDER BY 2, 1;
WITH a AS (SELECT kind, count(*) AS n, dp_low(count(*)) AS low FROM flock_dp GROUP BY kind) SELECT count(*), bool_and(n - low = 60) FROM a;
SELECT bool_and(w.low <= w.n) FROM (SELECT dp_low(sum(age)) / 2 AS low, sum(age) / 2 AS n FROM (SELECT age, kind FROM flock_dp WHERE age > 2) t GROUP BY kind) w;
SELECT CASE WHEN dp_low(count(*)) > 100 THEN 'many' ELSE 'few' END AS judged, (SELECT dp_high(sum(age)) - sum(age)) AS above, sum(age) - (SELECT max(x) FROM (SELECT dp_low(sum(age)) + 0 * i AS x FROM generate_series(1, 2) i) v) AS below FROM flock_dp;
SELECT least(dp_high(count(*)) - dp_low(count(*)), 1) FROM flock_dp UNION ALL SELECT (dp_high(count(*) FILTER (WHERE age > 3)) - count(*) FILTER (WHERE age > 3))::int FROM flock_dp;
PREPARE asked(int) AS SELECT count(*) FILTER (WHERE age > $1) - dp_low(count(*) FILTER (WHERE age > $1)) AS below FROM flock_dp WHERE age < $1 + 10;
EXECUTE asked(5);
CREATE TEMP VIEW my_flock AS SELECT kind, count(*) AS n, dp_low(count(*)), dp_high(count(*)) FROM flock_dp GROUP BY kind;
SELECT kind, n - dp_low AS below, dp_high - n AS above FROM my_flock ORDER BY kind;
SELECT replace(pg_get_viewdef('my_flock'::regclass), 'flock_dp.', '') AS pg_get_viewdef; -- from 16 on it names no table where there is one
SELECT n - l AS below FROM dp_query('SELECT count(*), dp_low(count(*)) FROM flock_dp', epsilon => 0.01) AS (n bigint, l bigint);
SELECT n - l AS below FROM dp_rdr.release('SELECT count(*), dp_low(count(*)) FROM public.flock_dp', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint, l bigint);
SELECT dp_low(count(*)), dp_high(count(*)), dp_low(avg(price)), dp_high(sum(weight)) FROM flock_dp \gdesc
SELECT leaf, column_name, accepted, epsilon, error95 FROM dp_explain('SELECT kind, avg(age), dp_low(avg(age)), 2 * dp_high(count(*)) FROM flock_dp GROUP BY kind HAVING dp_low(sum(age)) > 3');
SELECT leaf, column_name, accepted, epsilon, error95 FROM dp_explain('SELECT dp_low(count(*)) FROM flock_dp');
SELECT leaf, column_name, accepted, epsilon, error95 FROM dp_explain('SELECT count(*) FROM flock_dp');
SELECT avg(age) BETWEEN dp_low(avg(age)) AND dp_high(avg(age)) AS a FROM flock_dp;
SELECT column_name, epsilon, error95 > 0 AND error95 < 1 AS error FROM dp_last_release();

-- What is refused, uncharged.
RESET ROLE;
SET ROLE regress_controller;
SELECT releases AS releases_before FROM flock_spent \gset
RESET ROLE;
CREATE FUNCTION refused_mark(asked text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    message text; hint text; state text;
BEGIN
    EXECUTE asked;
    RETURN 'answered';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(E'\n', state || ': ' || message, nullif(hint, ''));
END $$;
SET ROLE regress_analyst;
\pset tuples_only on
\pset format unaligned
SELECT E'\n' || q || E'\n' || refused_mark(q) FROM unnest(array[
    'SELECT dp_low(min(age)) FROM flock_dp', 'SELECT dp_high(sum(DISTINCT age)) FROM flock_dp', 'SELECT dp_low(sum(sqrt(age))) FROM flock_dp',
    'SELECT dp_low(age) FROM flock_dp', 'SELECT dp_low(count(*) + 1) FROM flock_dp', 'SELECT dp_low(count(*)::numeric) FROM flock_dp',
    'SELECT dp_low(2 * dp_high(count(*))) FROM flock_dp', 'SELECT dp_low(dp_high(count(*))) FROM flock_dp', 'SELECT count(*), dp_low(5) FROM flock_dp',
    'SELECT count(*) FROM flock_dp HAVING dp_low(5) > 3', 'SELECT count(*) FROM flock_dp WHERE dp_low(age) > 3', 'SELECT count(*) FROM flock_dp WHERE age > dp_low(3)',
    'SELECT count(*) FILTER (WHERE dp_high(age) > 3) FROM flock_dp', 'SELECT sum(dp_low(age)) FROM flock_dp', 'SELECT count(dp_low(age)) FROM flock_dp',
    'SELECT dp_low(kind), count(*) FROM flock_dp GROUP BY kind', 'SELECT dp_low(age), count(*) FROM flock_dp GROUP BY dp_low(age)',
    'SELECT dp_low(sum(count(*)) OVER ()) FROM flock_dp GROUP BY kind', 'SELECT dp_low(count(*) OVER ()) FROM flock_dp', 'SELECT dp_low(count(*)) OVER () FROM flock_dp',
    'SELECT dp_low(n) FROM (SELECT kind, count(*) AS n FROM flock_dp GROUP BY kind) a', 'SELECT dp_low(sum(n)) FROM (SELECT kind, count(*) AS n FROM flock_dp GROUP BY kind) a',
    'SELECT count(*), (SELECT dp_low(count(*)) FROM pg_class) FROM flock_dp', 'SELECT (SELECT dp_low(sum(age) + 1)) FROM flock_dp', 'SELECT count(*), (SELECT dp_low(count(*))) FROM flock_dp', 'SELECT kind, count(*), (SELECT dp_low(kind)) FROM flock_dp GROUP BY kind', 'SELECT dp_low(NULL::int), count(*) FROM flock_dp',
    'SELECT * FROM dp_rdr.release(''SELECT dp_low(1 + count(*)) FROM public.flock_dp'', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)',
    'SELECT * FROM dp_rdr.release(''SELECT dp_low(age) FROM public.flock_dp GROUP BY age'', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)',
    'SELECT count(*) FROM (SELECT dp_low(age) AS a FROM flock_dp) t WHERE a > 3']) WITH ORDINALITY u (q, i) ORDER BY i;
-- Off a restricted view they are nothing.
SELECT E'\n' || q || E'\n' || refused_mark(q) FROM unnest(array[
    'SELECT dp_low(count(*)) FROM pg_class', 'SELECT dp_high(sum(x)) FROM generate_series(1, 3) x', 'SELECT dp_low(NULL::int)', 'SELECT dp_high(''x''::text)',
    'SELECT x FROM generate_series(1, 3) x WHERE dp_low(x) > 2', 'SELECT dp_low(''x'')']) WITH ORDINALITY u (q, i) ORDER BY i;
EXPLAIN (COSTS OFF) SELECT dp_low(1);
SELECT reason FROM dp_explain('SELECT dp_low(count(*) + 1) FROM flock_dp');
RESET ROLE;
SET ROLE regress_controller;
SELECT releases - :releases_before FROM flock_spent;
\pset tuples_only off
\pset format aligned

-- Where epsilon follows from the rows, the width would show it. Before a row is read; the statements of dp_explain likewise.
SET client_min_messages = error;
SELECT dp_grant('flock_dp', 'regress_second', tau => 0.95, selection => 'within_data');
RESET client_min_messages;
RESET ROLE;
SET ROLE regress_second;
SELECT refused_mark('SELECT count(*), dp_low(count(*)) FROM flock_dp');
SELECT refused_mark('SELECT count(*) FROM flock_dp HAVING dp_high(count(*)) > 3');
SELECT refused_mark('SELECT count(*) FROM flock_dp');
SELECT accepted, reason FROM dp_explain('SELECT dp_low(count(*)) FROM flock_dp');
RESET ROLE;
SET ROLE regress_controller;
SELECT account, releases - CASE account WHEN 'public' THEN :releases_before ELSE 0 END AS releases, denials FROM dp_odometer('flock') ORDER BY 1;

-- A selection releases its epsilon first.
SELECT dp_grant('flock_dp', 'regress_second', tau_var => 0.1);
RESET ROLE;
SET ROLE regress_second;
SELECT dp_low(count(*)) <= count(*) AND count(*) <= dp_high(count(*)) AS ordered FROM flock_dp;
RESET ROLE;

-- Gaussian noise, groups that nobody declared.
SET ROLE regress_controller;
SELECT dp_grant('flock_dp', 'regress_second', tau => 0.99, mechanism => 'gaussian', delta => 1e-6);
RESET ROLE;
SET ROLE regress_second;
SELECT count(*) - dp_low(count(*)) AS below, dp_high(count(*)) - count(*) AS above FROM flock_dp;
SELECT column_name, mechanism, error95 FROM dp_last_release();
SELECT bool_and(avg(age) BETWEEN dp_low(avg(age)) AND dp_high(avg(age))) OVER () AS a, sum(rate) BETWEEN dp_low(sum(rate)) AND dp_high(sum(rate)) AS s FROM flock_dp;
SET client_min_messages = error;
SELECT count(*) > 3 AS several, bool_and(n - low = 14 AND high - n = 14) AS even FROM (SELECT CASE WHEN id > 0 THEN age END AS age, count(*) AS n, dp_low(count(*)) AS low, dp_high(count(*)) AS high FROM flock_dp GROUP BY 1) a;
RESET client_min_messages;
RESET ROLE;

-- At the ends of a type: the last number that it has, and no error.
SET ROLE regress_controller;
CREATE TABLE vast AS SELECT 1 AS id, 2147483647 AS i, 1e38::real AS r, 1e300::float8 AS f, 1e200::numeric AS n FROM generate_series(1, 3);
SELECT dp_protect('vast', 'vast_dp');
SELECT dp_set_bounds('vast', 'i', -2147483648, 2147483647), dp_set_bounds('vast', 'r', '-3e38', '3e38'), dp_set_bounds('vast', 'f', '-1e300', '1e300'), dp_set_bounds('vast', 'n', '-1e250', '1e250');
SELECT dp_set_odometer('vast', 'none', delta_total => 0.9);
GRANT SELECT ON vast_dp TO regress_analyst;
SELECT dp_grant('vast_dp', 'regress_analyst', tau => 0.95, epsilon_min => 1e-9);
RESET ROLE;
SET ROLE regress_analyst;
SELECT refused_mark($$CREATE TEMP TABLE vast_answer AS SELECT * FROM dp_query('SELECT sum(i), dp_low(sum(i)), dp_high(sum(i)), sum(r), dp_low(sum(r)), dp_high(sum(r)), sum(f), dp_low(sum(f)), dp_high(sum(f)),
    sum(n), dp_low(sum(n)), dp_high(sum(n)), count(*), dp_low(count(*)), dp_high(count(*)) FROM vast_dp', epsilon => 1e-9)
    AS (i bigint, il bigint, ih bigint, r real, rl real, rh real, f float8, fl float8, fh float8, n numeric, nl numeric, nh numeric, c bigint, cl bigint, ch bigint)$$);
SELECT i BETWEEN il AND ih AS i, il = '-9223372036854775808' OR ih = 9223372036854775807 AS i_clamped, r BETWEEN rl AND rh AS r, abs(rl) = '3.4028235e38' AND abs(rh) = '3.4028235e38' AS r_clamped,
       f BETWEEN fl AND fh AS f, abs(fl) = '1.7976931348623157e308' AND abs(fh) = '1.7976931348623157e308' AS f_clamped, n BETWEEN nl AND nh AS n, ch - c = c - cl AS c FROM vast_answer;
SELECT refused_mark($$CREATE TEMP TABLE vast_pair AS SELECT * FROM dp_query('SELECT sum(i), dp_low(sum(i)), dp_high(sum(i)), avg(i), dp_low(avg(i)), dp_high(avg(i)), sum(f), dp_low(sum(f)), dp_high(sum(f)),
    avg(f), dp_low(avg(f)), dp_high(avg(f)), sum(n), dp_low(sum(n)), dp_high(sum(n)), avg(n), dp_low(avg(n)), dp_high(avg(n)) FROM vast_dp', epsilon => 1e-9)
    AS (i bigint, il bigint, ih bigint, ia numeric, ial numeric, iah numeric, f float8, fl float8, fh float8, fa float8, fal float8, fah float8, n numeric, nl numeric, nh numeric, na numeric, nal numeric, nah numeric)$$);
SELECT i BETWEEN il AND ih AS i, ia BETWEEN ial AND iah AS ia, ial >= -2147483648 AND iah <= 2147483647 AS within, f BETWEEN fl AND fh AS f, fa BETWEEN fal AND fah AND fal >= -1e300 AND fah <= 1e300 AS fa, n BETWEEN nl AND nh AS n, na BETWEEN nal AND nah AS na FROM vast_pair;
RESET ROLE;

-- Answers by accuracy: the interval is that of the number that is shown.
SET ROLE regress_controller;
CREATE TABLE pond AS SELECT id, id % 4 AS room, id % 30 AS age, (id % 10)::float8 / 4 AS depth FROM generate_series(1, 4000) id;
SELECT dp_protect('pond', 'pond_dp');
SELECT dp_set_bounds('pond', 'age', 0, 30), dp_set_bounds('pond', 'depth', 0, 3), dp_set_groups('pond', 'room', '{0,1,2,3}');
SELECT dp_set_odometer('pond', 'zcdp', epsilon_total => 50, delta_total => 1e-3);
GRANT SELECT ON pond_dp TO regress_analyst;
SELECT dp_grant('pond_dp', 'regress_analyst', tau => 0.5, delta => 1e-8);
RESET ROLE;
SET ROLE regress_analyst;
SELECT bool_and(n - l = h - n) AS even, count(DISTINCT n - l) AS widths, bool_and(s - sl = sh - s) AS even_sum, bool_and(d BETWEEN dl AND dh) AS d
FROM dp_query('SELECT room, count(*), dp_low(count(*)), dp_high(count(*)), sum(age), dp_low(sum(age)), dp_high(sum(age)), sum(depth), dp_low(sum(depth)), dp_high(sum(depth)) FROM pond_dp GROUP BY room', within => 0.2, error95 => 300)
    AS (room int, n bigint, l bigint, h bigint, s bigint, sl bigint, sh bigint, d float8, dl float8, dh float8);
SELECT column_name, mechanism, epsilon FROM dp_last_release();
CREATE TEMP TABLE refined AS SELECT * FROM dp_refine() AS (room int, n bigint, l bigint, h bigint, s bigint, sl bigint, sh bigint, d float8, dl float8, dh float8);
SELECT bool_and(n - l = e.error95 AND h - n = e.error95) AS as_said, bool_and(s - sl = f.error95 AND sh - s = f.error95) AS as_said_of_sums, bool_and(d BETWEEN dl AND dh) AS d, bool_and(abs((dh - dl) / 2 - g.error95) < 1e-6) AS as_said_of_reals
FROM refined, (SELECT error95 FROM dp_last_release() OFFSET 1 LIMIT 1) e, (SELECT error95 FROM dp_last_release() OFFSET 4 LIMIT 1) f, (SELECT error95 FROM dp_last_release() OFFSET 7 LIMIT 1) g;
RESET ROLE;
SET ROLE regress_controller;
SELECT dp_grant('flock_dp', 'regress_second', tau => 0.5, mechanism => 'laplace');
RESET ROLE;
SET ROLE regress_second;
CREATE TEMP TABLE looked AS SELECT * FROM dp_query('SELECT count(*), dp_low(count(*)), dp_high(count(*)), sum(price), dp_low(sum(price)), dp_high(sum(price)) FROM flock_dp', within => 0.2) AS (n bigint, l bigint, h bigint, p numeric, pl numeric, ph numeric);
SELECT n - l = e.error95 AND h - n = e.error95 AS as_said, (p - pl)::float8 = f.error95 AND (ph - p)::float8 = f.error95 AS as_said_of_sums, scale(pl)
FROM looked, (SELECT error95 FROM dp_last_release() LIMIT 1) e, (SELECT error95 FROM dp_last_release() OFFSET 3 LIMIT 1) f;
RESET ROLE;

-- The controller's instruments look at the aggregate.
SET ROLE regress_controller;
SELECT count(*) AS different FROM (SELECT * FROM dp_risk('SELECT kind, count(*), dp_low(count(*)) FROM flock_dp WHERE age > 3 GROUP BY kind')
    EXCEPT SELECT * FROM dp_risk('SELECT kind, count(*) FROM flock_dp WHERE age > 3 GROUP BY kind')) d;
SELECT refused_mark('SELECT * FROM dp_risk(''SELECT max(n) FROM (SELECT kind, dp_low(count(*)) AS n FROM flock_dp GROUP BY kind) a'')');
SELECT count(*) FROM dp_risk_output('SELECT dp_low(count(*)), count(*) FROM flock_dp', array[2900, 3000], 'laplace', 0.1);
SELECT refused_mark('SELECT * FROM dp_risk_output(''SELECT dp_low(count(*)) FROM flock_dp'', array[2900], ''laplace'', 0.1)');
CALL dp_find_and_release_epsilon('SELECT count(*), dp_low(count(*)) FROM flock_dp', 0.1, 0.1, NULL, NULL) \gset found_
SELECT (a ->> 'dp_low')::bigint <= (a ->> 'count')::bigint AS ordered FROM jsonb_array_elements(:'found_answer') a;
RESET ROLE;

DROP FUNCTION refused_mark(text);
SET ROLE regress_controller;
RESET ROLE;
DROP VIEW my_flock;
SET ROLE regress_controller;
SET client_min_messages = error;
DROP VIEW flock_spent;
SELECT dp_unprotect('flock_dp'), dp_unprotect('vast_dp'), dp_unprotect('pond_dp');
DROP TABLE flock, vast, pond CASCADE;
