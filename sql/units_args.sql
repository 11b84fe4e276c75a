-- What an analyst says of units: how much of one counts (max_rows, max_groups), and how many there are (count(DISTINCT unit)).
\set VERBOSITY default

SET ROLE regress_controller;
CREATE TABLE lone (id integer, ward text, cost integer);
INSERT INTO lone SELECT i, 'w' || i % 3, i % 10 FROM generate_series(1, 300) i;
SELECT dp_protect('lone', 'lone_dp');
SELECT dp_set_groups('lone', 'ward', '{w0,w1,w2}'), dp_set_bounds('lone', 'cost', 0, 10);
SELECT dp_set_odometer('lone', 'none', delta_total => 0.9);
SELECT dp_grant('lone_dp', 'regress_analyst', tau => 0, candidates => '{100}', epsilon_max => 100);
RESET ROLE;

-- ---------------------------------------------------------------------------------------------------------------------
-- Where each row is a unit
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_analyst;
-- Values that are none, whatever the table is.
SELECT * FROM dp_query('SELECT count(*) FROM lone_dp', max_rows => 0) AS (n bigint);
SELECT * FROM dp_query('SELECT count(*) FROM lone_dp', max_rows => -1) AS (n bigint);
SELECT * FROM dp_query('SELECT count(*) FROM lone_dp', max_rows => 1048577) AS (n bigint);
SELECT * FROM dp_query('SELECT count(*) FROM lone_dp', max_groups => 0) AS (n bigint);
SELECT * FROM dp_query('SELECT count(*) FROM lone_dp', max_rows => 3, max_groups => 4) AS (n bigint);
SELECT * FROM dp_explain('SELECT count(*) FROM lone_dp', max_rows => 0);
SELECT * FROM dp_explain('SELECT count(*) FROM lone_dp', max_rows => 2, max_groups => 3);
SELECT dp_request('SELECT count(*) FROM lone_dp', 'to know', max_rows => 0);
SELECT * FROM dp_rdr.release('SELECT count(*) FROM public.lone_dp', NULL, 1, NULL, NULL, 1, true, 0, NULL, NULL) AS (n bigint);
SELECT * FROM dp_rdr.release('SELECT count(*) FROM public.lone_dp', NULL, 1, NULL, NULL, 1, true, 2, 3, NULL) AS (n bigint);
-- Good ones, but nobody here has several rows.
SELECT * FROM dp_query('SELECT count(*) FROM lone_dp', max_rows => 1) AS (n bigint);
SELECT * FROM dp_query('SELECT count(*) FROM lone_dp', max_groups => 1048576) AS (n bigint);
SELECT * FROM dp_rdr.release('SELECT count(*) FROM public.lone_dp', NULL, 1, NULL, NULL, 1, true, 5, 5, NULL) AS (n bigint);
SELECT accepted, reason, unit, max_rows, max_groups FROM dp_explain('SELECT count(*) FROM lone_dp', max_rows => 5);
SELECT dp_request('SELECT count(*) FROM lone_dp', 'to know', max_rows => 5);
-- NULL is what is declared.
SELECT n BETWEEN 299 AND 301 AS all_of_them FROM dp_query('SELECT count(*) FROM lone_dp', max_rows => NULL, max_groups => NULL) AS (n bigint);
SELECT column_name, accepted, error95, unit, max_rows, max_groups FROM dp_explain('SELECT ward, count(*), sum(cost) FROM lone_dp GROUP BY ward');
-- Several columns are counted as DISTINCT where they are the unit alone.
SELECT count(DISTINCT (id, ward)) FROM lone_dp;
SELECT sum(DISTINCT cost) FROM lone_dp;
RESET ROLE;
SELECT count(*) AS charges, bool_or(parameters ? 'unit' OR parameters ? 'max_rows' OR parameters ? 'max_groups') AS limits
FROM dp_rdr.ledger WHERE relation = 'public.lone';

-- ---------------------------------------------------------------------------------------------------------------------
-- Where people have several rows: 40 with one visit each, 10 with eight each in two wards
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_controller;
CREATE TABLE call (uid integer, ward text, cost integer, note text);
INSERT INTO call SELECT i, 'w' || i % 2, 5, 'n' || i FROM generate_series(1, 40) i;
INSERT INTO call SELECT 100 + i, 'w' || k % 2, 5, 'n' || i FROM generate_series(1, 10) i, generate_series(1, 8) k;
INSERT INTO call VALUES (NULL, 'w0', 5, 'nobody''s');
SELECT dp_protect('call', 'call_dp', unit => 'uid', max_rows => 8, max_groups => 2);
SELECT dp_set_groups('call', 'ward', '{w0,w1}'), dp_set_bounds('call', 'cost', 0, 10);
SELECT dp_set_odometer('call', 'none', delta_total => 0.9);
SELECT dp_grant('call_dp', 'regress_analyst', tau => 0, candidates => '{100}', epsilon_max => 100, epsilon_min => 0.01);
CREATE TABLE caller (uid integer PRIMARY KEY, age integer);
INSERT INTO caller SELECT i, i % 90 FROM generate_series(1, 200) i;
SELECT dp_protect('caller', 'caller_dp', unit => 'uid');
SELECT dp_set_odometer('caller', 'none', delta_total => 0.9);
SELECT dp_grant('caller_dp', 'regress_analyst', tau => 0, candidates => '{100}', epsilon_max => 100);
RESET ROLE;

-- The noise is below 2 but for one in a million draws: b is at most 8 / 100 of a row for each measure.
SET ROLE regress_analyst;
SELECT round(count(*), -1) AS visits, round(count(DISTINCT uid), -1) AS people FROM call_dp;
SELECT ward, round(count(*), -1) AS visits, round(count(DISTINCT uid), -1) AS people FROM call_dp GROUP BY ward ORDER BY 1;
SELECT round(count(DISTINCT (uid)), -1) AS people, round(count(DISTINCT ROW(uid)), -1) AS too FROM call_dp;
SELECT round(count(DISTINCT uid) FILTER (WHERE uid > 100), -1) AS many FROM call_dp;
-- Clipped: ten people bring four visits each, or one; a larger limit than the declared one clips nothing either.
SELECT round(n, -1) AS visits FROM dp_query('SELECT count(*) FROM call_dp', max_rows => 4) AS (n bigint);
SELECT round(n, -1) AS visits FROM dp_query('SELECT count(*) FROM call_dp', max_rows => 1) AS (n bigint);
SELECT n BETWEEN 90 AND 150 AS visits FROM dp_query('SELECT count(*) FROM call_dp', max_rows => 100, max_groups => 1) AS (n bigint); -- b is a row
SELECT round(n, -1) AS visits FROM dp_rdr.release('SELECT count(*) FROM public.call_dp', NULL, 1, NULL, NULL, 1, true, 4, NULL, NULL) AS (n bigint);
-- A person in two groups is half a person in each.
SELECT ward, n BETWEEN 23 AND 27 AS people FROM dp_query('SELECT ward, count(DISTINCT uid) FROM call_dp GROUP BY ward', max_groups => 1) AS (ward text, n bigint) ORDER BY 1;
-- A sum is bounded by what so many rows could bring: eight visits of 5 are no more than four of 10.
SELECT ward, round(n, -1) AS visits, s BETWEEN 270 AND 330 AS cost FROM dp_query('SELECT ward, count(*), sum(cost) FROM call_dp GROUP BY ward', max_rows => 4) AS (ward text, n bigint, s bigint) ORDER BY 1;
-- Where a key shows that people have one row, they are its rows.
SELECT round(count(*), -1) AS rows, round(count(DISTINCT uid), -1) AS people FROM caller_dp;

-- What is said beforehand.
SELECT column_name, accepted, reason, epsilon, unit, max_rows, max_groups FROM dp_explain('SELECT count(*), count(DISTINCT uid) FROM call_dp');
SELECT column_name, reason, error95 > 0 AS known, unit, max_rows, max_groups FROM dp_explain('SELECT ward, count(*), count(DISTINCT uid) FROM call_dp GROUP BY ward', max_rows => 5, max_groups => 1);
SELECT column_name, reason, error95, unit, max_rows, max_groups FROM dp_explain('SELECT count(*), count(DISTINCT uid) FROM caller_dp');
-- error95 grows with what counts; within and error95 ask for people and rows, not for what they are added up as.
SELECT max_rows, round(error95::numeric, 2) AS error95 FROM generate_series(2, 8, 2) r,
    LATERAL (SELECT error95, max_rows FROM dp_explain('SELECT ward, count(*) FROM call_dp GROUP BY ward', max_rows => r) WHERE column_name = 'count') e;
SELECT n BETWEEN 0 AND 100 AS people FROM dp_query('SELECT count(DISTINCT uid) FROM call_dp', error95 => 5) AS (n bigint);
SELECT round(error95) AS error95 FROM dp_last_release();

-- The ends of intervals are in people and rows.
SELECT ward, n BETWEEN l AND h AS within, h - l BETWEEN 0 AND 4 AS narrow FROM (SELECT ward, count(*) AS n, dp_low(count(*)) AS l, dp_high(count(*)) AS h FROM call_dp GROUP BY ward) q ORDER BY 1;

-- An accuracy is asked for in visits and people: steps with Laplace noise, then measurements that are charged in rho.
SELECT ward, n BETWEEN -60 AND 180 AS visits FROM dp_query('SELECT ward, count(*) FROM call_dp GROUP BY ward', error95 => 10, within => 0.001) AS (ward text, n bigint) ORDER BY 1;
SELECT error95 BETWEEN 5 AND 10 AS as_asked, reached FROM dp_last_release();
RESET ROLE;
SET ROLE regress_controller;
SET client_min_messages = warning; -- what it comes to so far
SELECT dp_set_odometer('call', 'zcdp', epsilon_total => 90, delta_total => 0.9);
SELECT dp_grant('call_dp', 'regress_analyst', mechanism => 'gaussian', delta => 1e-6);
RESET ROLE;
SET ROLE regress_analyst;
SELECT ward, n BETWEEN 20 AND 100 AS visits, n BETWEEN l AND h AND h - l BETWEEN 10 AND 22 AS interval
FROM dp_query('SELECT ward, count(*), dp_low(count(*)), dp_high(count(*)) FROM call_dp GROUP BY ward', error95 => 10, within => 0.001) AS (ward text, n bigint, l bigint, h bigint) ORDER BY 1;
SELECT error95 BETWEEN 5 AND 10 AS as_asked, reached FROM dp_last_release();
SELECT count(*) FROM dp_query('SELECT ward, count(*) FROM call_dp GROUP BY ward', error95 => 10) AS (ward text, n bigint);
SELECT ward, n BETWEEN 40 AND 80 AS visits FROM dp_refine(error95 => 5) AS (ward text, n bigint) ORDER BY 1;
SELECT error95 BETWEEN 3 AND 5 AS as_asked, reached FROM dp_last_release();
RESET ROLE;
SET ROLE regress_controller;
SELECT dp_grant('call_dp', 'regress_analyst', mechanism => 'laplace');
SELECT dp_set_odometer('call', 'none', delta_total => 0.9);
RESET client_min_messages;
RESET ROLE;
SET ROLE regress_analyst;

-- Refused, with what to write instead.
SELECT count(DISTINCT (uid, note)) FROM call_dp;
SELECT sum(DISTINCT uid) FROM call_dp;
RESET ROLE;
SET ROLE regress_controller;
SELECT dp_grant('call_dp', 'regress_analyst', delta => 1e-6, candidates => '{1}');
RESET ROLE;
SET ROLE regress_analyst;
SELECT uid, count(*) FROM call_dp GROUP BY uid;
SELECT DISTINCT uid FROM call_dp;
SELECT uid, ward, count(*) FROM call_dp GROUP BY uid, ward;
-- One row for each person, below an aggregation, is one of a count of people.
SELECT abs(people - 50) < 40 AS people FROM (SELECT count(*) AS people FROM (SELECT DISTINCT uid FROM call_dp) t) n;
SELECT reason FROM dp_explain('SELECT uid FROM call_dp GROUP BY uid');
-- Groups that nobody declared: T for one group of a person and for two.
SELECT max_groups, min(threshold) AS threshold FROM generate_series(1, 2) g,
    LATERAL dp_explain('SELECT note, count(*) FROM call_dp GROUP BY note', max_groups => g) GROUP BY 1 ORDER BY 1;

RESET ROLE;
SET ROLE regress_controller;
SELECT dp_grant('call_dp', 'regress_analyst', candidates => '{100}');
RESET ROLE;

-- Requests keep what was asked for.
SET SESSION AUTHORIZATION regress_analyst;
SELECT dp_request('SELECT ward, count(*) FROM call_dp GROUP BY ward', 'to know', max_rows => 4, max_groups => 1) AS request \gset
RESET SESSION AUTHORIZATION;
SELECT parameters ->> 'max_rows' AS max_rows, parameters ->> 'max_groups' AS max_groups FROM dp_rdr.request WHERE id = :request;
SET SESSION AUTHORIZATION regress_controller;
SELECT state FROM dp_approve(:request, basis => 'public');
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_analyst;
SELECT ward, round(n, -1) AS visits FROM dp_fetch(:request) AS (ward text, n bigint) ORDER BY 1;
-- More noise of the same kind is in visits, too; a signal on rows of which one person may change several is none.
SELECT count(*) AS redrawn, bool_and(n BETWEEN 35 AND 45) AS near FROM dp_redraw(:request, 100) AS (draw int, ward text, n bigint);
SELECT dp_request_signal(:request, 'mean', 'answer.n / 100.0', 'is it good');
RESET SESSION AUTHORIZATION;
-- And so does the ledger.
SELECT DISTINCT parameters -> 'unit' AS unit, parameters -> 'max_rows' AS max_rows, parameters -> 'max_groups' AS max_groups,
       jsonb_path_query_array(parameters, '$.measures[*].grain') AS grains, jsonb_path_query_array(parameters, '$.measures[*].of') AS of
FROM dp_rdr.ledger WHERE relation IN ('public.call', 'public.caller') ORDER BY 1, 2, 3, 4, 5;

-- A question with other limits is another one, also where answers are given again.
SET ROLE regress_controller;
SELECT dp_grant('call_dp', 'regress_analyst', replay => '1 day');
RESET ROLE;
CREATE FUNCTION call_charges() RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$ SELECT count(*) FROM dp_rdr.ledger WHERE relation = 'public.call' $$;
SELECT call_charges() AS before \gset
SET ROLE regress_analyst;
SELECT max_rows, ward, round(n, -1) AS visits
FROM (VALUES (1, 8), (2, 8), (3, 4), (4, 4), (5, 16), (6, 8)) r (i, max_rows),
     LATERAL (SELECT * FROM dp_query('SELECT ward, count(*) FROM call_dp GROUP BY ward', max_rows => max_rows + 0 * i) AS (ward text, n bigint)) q
WHERE ward = 'w0' ORDER BY i;
SELECT ward, round(count(*), -1) AS visits FROM call_dp GROUP BY ward ORDER BY 1; -- the declared limit, as asked before
SELECT call_charges() - :before AS charges;
RESET ROLE;
DROP FUNCTION call_charges;
