-- What is said of an answer: that it is noise, that groups are missing, that a limit clips; rows of noise that are left out; and what is
-- refused because nothing could show. A shop: visits of 6,000 guests, 64 towns of which two have people. Each statement has a false
-- alarm in fewer than 1 of 1e9 runs. The reader's epsilon of 100 moves a count with probability 2 exp(-100). Of 64 empty towns 32 counts lie
-- beyond error95 with probability C(64, 32) 0.05^32 < 1e-22. How many do is not printed (VERBOSITY sqlstate).
CREATE ROLE regress_reader;
CREATE ROLE regress_searcher;
CREATE ROLE regress_noisy;
LOAD 'dp_rdr';
SET dp_rdr.noise = show;
CREATE SCHEMA shop AUTHORIZATION regress_controller;
SET ROLE regress_controller;
CREATE TABLE shop.guest (guest_id integer PRIMARY KEY, town text, age integer NOT NULL, score integer NOT NULL, mood integer NOT NULL, joined text);
-- Thousands in two towns, nobody in the others.
INSERT INTO shop.guest SELECT i, CASE WHEN i % 2 = 0 THEN 'ulm' ELSE 'bonn' END, 20 + i % 60, i % 100, i % 60, '2025-01-01' FROM generate_series(1, 6000) i;
CREATE TABLE shop.visit (visit_id integer PRIMARY KEY, guest_id integer NOT NULL REFERENCES shop.guest, day date NOT NULL);
INSERT INTO shop.visit SELECT i, 1 + i % 6000, date '2025-01-01' + i % 300 FROM generate_series(1, 60000) i;
SELECT dp_protect('shop.guest', 'shop.guest_dp', unit => 'guest_id'), dp_protect('shop.visit', 'shop.visit_dp', unit => 'guest_id', max_rows => 10);
SELECT dp_set_bounds('shop.guest', 'score', 0, 100);
SELECT dp_set_groups('shop.guest', 'town', ARRAY['ulm', 'bonn'] || ARRAY(SELECT 'town ' || i FROM generate_series(1, 62) i));
SELECT dp_set_odometer('shop.guest', epsilon_total => 100000, delta_total => 0.01);
GRANT USAGE ON SCHEMA shop TO regress_reader, regress_searcher, regress_noisy;
SELECT dp_grant('shop.guest_dp', 'regress_reader', tau => 0, epsilon_max => 100, candidates => '{100}', epsilon_min => 1, delta => 1e-6), dp_grant('shop.visit_dp', 'regress_reader', tau => 0, epsilon_max => 100, candidates => '{100}', delta => 1e-6);
SELECT dp_grant('shop.guest_dp', 'regress_noisy', tau => 0.9, delta => 1e-6), dp_grant('shop.visit_dp', 'regress_noisy', tau => 0.9, delta => 1e-6);
SELECT dp_grant('shop.guest_dp', 'regress_searcher', tau => 0.9, selection => 'within_data');

-- NULL: the column may have it, and the list does not. Said once for a shape, whatever its constants are; not where WHERE excludes it.
SET ROLE regress_reader;
SELECT count(*) > 0 AS t FROM (SELECT 1) x, LATERAL (SELECT town, count(*) FROM shop.guest_dp WHERE age > 20 GROUP BY town) t;
SET dp_rdr.noise = hide;
SELECT town FROM (SELECT town, count(*) AS n FROM shop.guest_dp WHERE age > 20 GROUP BY town) t ORDER BY town;
SELECT town FROM (SELECT town, count(*) AS n FROM shop.guest_dp WHERE age > 21 GROUP BY town) t ORDER BY town LIMIT 1;
SELECT town FROM (SELECT town, count(*) AS n FROM shop.guest_dp WHERE age > 21 AND town <> 'ulm' GROUP BY town) t ORDER BY town;
-- Averages by the count that they are made with; deviations and correlations likewise.
SELECT town FROM (SELECT town, avg(score) AS a FROM shop.guest_dp WHERE town IS NOT NULL GROUP BY town) t ORDER BY town;
SELECT town FROM (SELECT town, stddev(score) AS s FROM shop.guest_dp WHERE town IS NOT NULL GROUP BY town) t ORDER BY town;
SELECT town FROM (SELECT town, corr(score, 100 - score) AS r FROM shop.guest_dp WHERE town IS NOT NULL GROUP BY town) t ORDER BY town;
SELECT town FROM (SELECT town, covar_pop(score, 100 - score) AS c FROM shop.guest_dp WHERE town IS NOT NULL GROUP BY town) t ORDER BY town;
-- A total of all groups is a total of all groups.
SELECT sum(n) > 5000 AS t, count(n) FROM (SELECT town, count(*) AS n FROM shop.guest_dp WHERE town IS NOT NULL GROUP BY town) t;
-- HAVING comes after it; a row without a count or a sum stays.
SELECT town FROM shop.guest_dp WHERE town IS NOT NULL GROUP BY town HAVING count(*) > 100 ORDER BY 1;
SELECT count(*) FROM (SELECT DISTINCT town FROM shop.guest_dp WHERE town IS NOT NULL GROUP BY town) t;
-- Prepared statements look at the setting when they are executed; views that somebody built, and dp_query, hide as well.
PREPARE towns AS SELECT town FROM (SELECT town, count(*) AS n FROM shop.guest_dp WHERE town <> 'x' GROUP BY town) t ORDER BY town LIMIT 3;
EXECUTE towns;
SET dp_rdr.noise = show;
SET client_min_messages = warning;
SELECT count(*) FROM (SELECT town, count(*) AS n FROM shop.guest_dp WHERE town <> 'x' GROUP BY town OFFSET 0) t;
EXECUTE towns;
RESET client_min_messages;
SET dp_rdr.noise = hide;
CREATE TEMP VIEW by_town AS SELECT town, count(*) AS n FROM shop.guest_dp WHERE town <> 'y' GROUP BY town;
SELECT town FROM by_town ORDER BY n DESC, town LIMIT 0;
SELECT * FROM dp_query('SELECT town FROM (SELECT town, count(*) AS n FROM shop.guest_dp WHERE town <> ''z'' GROUP BY town) t') AS (town text) ORDER BY 1;
BEGIN;
DECLARE c CURSOR FOR SELECT town FROM (SELECT town, count(*) AS n FROM shop.guest_dp WHERE town <> 'z' GROUP BY town) t ORDER BY town;
FETCH ALL FROM c;
COMMIT;
SELECT column_name, numbers, noise, rows_hidden FROM dp_last_release();
SET dp_rdr.noise = show;
SET dp_rdr.noise = 'half';

-- Where nothing is hidden the same is told of dp_query, of a cursor, and once of all grouping sets.
SELECT count(*) FROM dp_query('SELECT town, count(*) FROM shop.guest_dp WHERE mood > 1 GROUP BY town') AS (town text, n bigint);
BEGIN;
DECLARE c CURSOR FOR SELECT town, count(*) FROM shop.guest_dp WHERE mood > 1 AND age > 1 GROUP BY town;
FETCH 0 FROM c;
MOVE ALL FROM c;
COMMIT;
SELECT count(*) FROM (SELECT town, age > 30 AS o, count(*) FROM shop.guest_dp GROUP BY GROUPING SETS ((town), (town, age > 30), ()) OFFSET 0) t;
SET dp_rdr.noise = hide;
SELECT town, o FROM (SELECT town, age > 30 AS o, count(*) AS n FROM shop.guest_dp WHERE town IS NOT NULL GROUP BY GROUPING SETS ((town), (town, age > 30), ())) t ORDER BY 1, 2;
SET dp_rdr.noise = show;

-- dp_explain and dp_set_groups say what the list lacks.
SELECT DISTINCT reason FROM dp_explain('SELECT town, count(*) FROM shop.guest_dp GROUP BY town');
SELECT DISTINCT reason FROM dp_explain('SELECT town, count(*) FROM shop.guest_dp WHERE town <> ''x'' GROUP BY town');
-- Texts that are no dates.
SELECT count(*) FROM shop.guest_dp WHERE joined::date > '2024-01-01';
SELECT count(*) FROM shop.guest_dp WHERE joined::date > '2024-02-01';

-- An answer that is given again hides as it is asked for now, and says so each time.
SET ROLE regress_controller;
SELECT dp_grant('shop.guest_dp', 'regress_reader', tau => 0, epsilon_max => 100, candidates => '{100}', epsilon_min => 1, delta => 1e-6, replay => '1 day');
SET ROLE regress_reader;
SELECT count(*) FROM (SELECT town, count(*) FROM shop.guest_dp WHERE age < 90 AND town IS NOT NULL GROUP BY town LIMIT 100) t;
SET dp_rdr.noise = hide;
SELECT town, count(*) FROM shop.guest_dp WHERE age < 90 AND town IS NOT NULL GROUP BY town ORDER BY town;
SELECT town, count(*) FROM shop.guest_dp WHERE age < 90 AND town IS NOT NULL GROUP BY town ORDER BY town;
SELECT DISTINCT reason, epsilon, numbers, rows_hidden FROM dp_last_release();
-- What an owner decides about is the whole answer; where its price was found in the rows (basis rows) nothing is judged either.
RESET ROLE;
SET SESSION AUTHORIZATION regress_reader;
SELECT dp_request('SELECT town, count(*) AS n FROM shop.guest_dp WHERE town IS NOT NULL GROUP BY town', 'towns') AS public,
    dp_request('SELECT town, count(*) AS n FROM shop.guest_dp WHERE town <> ''x'' GROUP BY town', 'towns') AS of_rows \gset
SET SESSION AUTHORIZATION regress_controller;
SELECT state FROM dp_approve(:public, epsilon => 100, basis => 'public');
SELECT state FROM dp_approve(:of_rows, tau => 0, selection => 'within_data', basis => 'rows');
SET SESSION AUTHORIZATION regress_reader;
SELECT count(*) FROM dp_fetch(:public) AS (town text, n bigint);
SELECT count(*) FROM dp_fetch(:of_rows) AS (town text, n bigint);
RESET SESSION AUTHORIZATION;
SET ROLE regress_reader;
SET dp_rdr.noise = show;

-- Withheld: once for a threshold of a shape, and again where it is another one. Groups that nobody declared are not hidden.
SELECT count(*) > 0 AS t FROM shop.guest_dp GROUP BY mood HAVING count(*) > 1000;
SELECT count(*) > 0 AS t FROM shop.guest_dp GROUP BY mood HAVING count(*) > 1000;
SELECT n FROM dp_query('SELECT count(*) FROM shop.guest_dp GROUP BY mood HAVING count(*) > 1000', epsilon => 5) AS (n bigint);

-- Noise: nobody is that old. Once for a shape, until DISCARD ALL; silent says nothing.
SET ROLE regress_noisy;
\set VERBOSITY sqlstate
SELECT FROM (SELECT town, count(*) AS n FROM shop.guest_dp WHERE age > 200 AND town IS NOT NULL GROUP BY town) t LIMIT 1;
SELECT FROM (SELECT town, count(*) AS n FROM shop.guest_dp WHERE age > 201 AND town IS NOT NULL GROUP BY town) t LIMIT 1;
SELECT noise > 32 AS t, numbers FROM dp_last_release();
-- Averages of nobody: fewer than 1 of 300 is by chance not wider than half of the bounds, so 32 of 64 in fewer than 1e-60.
SELECT FROM (SELECT town, avg(score) AS a FROM shop.guest_dp WHERE age > 200 AND town IS NOT NULL GROUP BY town) t LIMIT 1;
SELECT FROM (SELECT town, avg(score) AS a FROM shop.guest_dp WHERE age > 201 AND town IS NOT NULL GROUP BY town) t LIMIT 1;
SELECT column_name, numbers, noise > 32 AS noise, rows_hidden FROM dp_last_release();
-- So are variances, deviations and numbers of two columns of nobody, as rarely by chance not; of thousands of people none is, whatever its size.
SELECT FROM (SELECT town, stddev(score) AS s, var_pop(score) AS v, covar_samp(score, 2 * score) AS c FROM shop.guest_dp WHERE age > 200 AND town IS NOT NULL GROUP BY town) t LIMIT 1;
SELECT column_name, numbers, noise > 32 AS noise, coarse > 32 AS coarse FROM dp_last_release() WHERE column_name <> 'town';
SELECT FROM (SELECT town, corr(score, 2 * score) AS r, regr_r2(score, 2 * score) AS r2, regr_slope(score, 2 * score) AS b, regr_intercept(score, 2 * score) AS a
    FROM shop.guest_dp WHERE age > 200 AND town IS NOT NULL GROUP BY town) t LIMIT 1;
SELECT column_name, numbers, noise > 32 AS noise, coarse > 32 AS coarse FROM dp_last_release() WHERE column_name <> 'town';
SET ROLE regress_reader;
SELECT FROM (SELECT stddev(score) AS s, var_pop(score) AS v, covar_samp(score, 2 * score) AS c, corr(score, 2 * score) AS r, regr_r2(score, 2 * score) AS r2,
    regr_slope(score, 2 * score) AS b, regr_intercept(score, 2 * score + 1) AS a FROM shop.guest_dp) t;
SELECT column_name, numbers, noise, coarse FROM dp_last_release();
SET ROLE regress_noisy;
\set VERBOSITY terse
SELECT FROM (SELECT corr(score, 2 * score) AS r FROM shop.guest_dp WHERE age > 200 OR age < 0) t;
\set VERBOSITY sqlstate
-- Coarse: of 120 people each, error95 is 30. That half of them lie within it of 0, or four fifths by weight beyond 200, happens in fewer than 1
-- of 1e30 runs. Averages of the smaller scores are right to more than 15 % of them.
SELECT FROM (SELECT score / 2 AS pair, count(*) AS n FROM shop.guest_dp GROUP BY 1) t LIMIT 1;
SELECT FROM (SELECT score / 2 AS pair, count(*) AS n FROM shop.guest_dp GROUP BY 1) t LIMIT 1;
SELECT column_name, numbers, noise < 20 AS few, coarse > 40 AS coarse FROM dp_last_release();
SELECT FROM (SELECT score / 2 AS pair, avg(score) AS a FROM shop.guest_dp GROUP BY 1) t LIMIT 1;
SELECT column_name, numbers, noise < 20 AS few, coarse > 25 AS coarse FROM dp_last_release();
-- All people are no coarse number.
SELECT FROM (SELECT count(*) AS n, avg(score) FROM shop.guest_dp) t;
SELECT column_name, numbers, noise, coarse FROM dp_last_release();
RESET ROLE;
DISCARD ALL;
LOAD 'dp_rdr';
SET dp_rdr.noise = show;
SET ROLE regress_noisy;
SELECT FROM (SELECT town, avg(score) AS a FROM shop.guest_dp WHERE age > 202 AND town IS NOT NULL GROUP BY town) t LIMIT 1;
SET dp_rdr.noise = silent;
SELECT FROM (SELECT town, avg(score) AS a FROM shop.guest_dp WHERE age > 202 AND age > 203 AND town IS NOT NULL GROUP BY town) t LIMIT 1;
SET dp_rdr.noise = show;
SELECT FROM (SELECT town, avg(score) AS a FROM shop.guest_dp WHERE age > 203 AND age > 202 AND town IS NOT NULL GROUP BY town) t LIMIT 1;
\set VERBOSITY terse
-- Ranks: what 100 people say of them follows from the price alone.
SET ROLE regress_controller;
SELECT dp_set_people('shop.guest', 100);
SET ROLE regress_noisy;
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY score) BETWEEN 0 AND 100 AS t FROM shop.guest_dp;
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY score) BETWEEN 0 AND 100 AS t FROM shop.guest_dp;
SET ROLE regress_controller;
SELECT dp_set_people('shop.guest', 0);
SET ROLE regress_noisy;

-- Clipped: 60,000 visits of 6,000 guests, of whom ten count.
SELECT count(*) > 0 AS t FROM shop.visit_dp;
SET ROLE regress_controller;
SELECT dp_set_people('shop.guest', 6000);
SET ROLE regress_noisy;
SELECT count(*) > 0 AS t FROM shop.visit_dp;
SELECT count(*) > 0 AS t FROM shop.visit_dp WHERE day > '2025-01-01';
-- Also of groups, of a part of the rows and of sums, as far as what is counted is more than a quarter of what may be.
SET ROLE regress_controller;
SELECT dp_set_bounds('shop.visit', 'day', date '2025-01-01', date '2025-10-27');
SET ROLE regress_reader;
SELECT count(*) FROM (SELECT date_trunc('month', day) AS month, count(*) FROM shop.visit_dp GROUP BY 1 OFFSET 0) t;
SELECT count(*) FROM (SELECT date_trunc('month', day) AS month, count(*) FROM shop.visit_dp WHERE day < '2025-02-01' GROUP BY 1 OFFSET 0) t;
SELECT sum(CASE WHEN day > '2025-03-01' THEN 2 ELSE 0 END) > 0 AS t FROM shop.visit_dp;
SELECT count(DISTINCT guest_id) > 0 AS t FROM shop.visit_dp;
SELECT count(*) > 0 AS t FROM shop.guest_dp;
-- Gaussian noise is of the root of the squares of what is in each group: of one row in each of ten 3.2, where 10 count.
SET ROLE regress_controller;
SELECT dp_grant('shop.visit_dp', 'regress_reader', mechanism => 'gaussian');
SET ROLE regress_reader;
SELECT count(*) FROM (SELECT date_trunc('month', day) AS month, count(*) FROM shop.visit_dp WHERE day > '2024-12-31' GROUP BY 1 OFFSET 0) t;
SELECT count(*) FROM (SELECT date_trunc('month', day) AS month, count(*) FROM shop.visit_dp WHERE day <= '2025-05-01' GROUP BY 1 OFFSET 0) t;
SET ROLE regress_controller;
SELECT dp_set_contribution('shop.visit', max_rows_per_group => 2);
SET ROLE regress_reader;
SELECT count(*) FROM (SELECT date_trunc('month', day) AS month, count(*) FROM shop.visit_dp WHERE day >= '2025-01-01' GROUP BY 1 OFFSET 0) t;
SET ROLE regress_controller;
SELECT dp_grant('shop.visit_dp', 'regress_reader', mechanism => 'laplace'), dp_set_contribution('shop.visit', max_rows_per_group => 10), dp_unset_bounds('shop.visit', 'day');
SET ROLE regress_reader;
-- What it names can be asked.
SET ROLE regress_reader;
SELECT * FROM dp_query('SELECT count(*) FROM (SELECT guest_id, count(*) AS n FROM shop.visit_dp GROUP BY guest_id) t WHERE n > 10', max_rows => 20) AS (people bigint);
SET ROLE regress_noisy;

-- A limit is told once of a view, whoever asks what: few may have most of the rows, which no number shows. Not where it was passed, where
-- people are counted, or what no limit changes.
SET ROLE regress_controller;
SELECT dp_set_contribution('shop.visit', max_rows => 100);
RESET ROLE;
DISCARD ALL;
LOAD 'dp_rdr';
SET dp_rdr.noise = show;
SET ROLE regress_reader;
SELECT n > 0 AS t FROM dp_query('SELECT count(*) FROM shop.visit_dp', max_rows => 100) AS (n bigint);
SELECT count(DISTINCT guest_id) > 0 AS t FROM shop.visit_dp;
SELECT count(*) > 0 AS t FROM shop.guest_dp;
SELECT count(*) > 0 AS t FROM (SELECT guest_id, count(*) AS n FROM shop.guest_dp GROUP BY guest_id) t;
SELECT count(*) > 0 AS t FROM (SELECT guest_id, min(day) AS first FROM shop.visit_dp GROUP BY guest_id) t;
SELECT avg(n) > 0 AS t FROM (SELECT guest_id, count(*) AS n FROM shop.visit_dp GROUP BY guest_id) t;
SELECT count(*) > 0 AS t FROM shop.visit_dp WHERE day > '2025-01-01';
RESET ROLE;
DISCARD ALL;
LOAD 'dp_rdr';
SET dp_rdr.noise = show;
SET ROLE regress_reader;
SET dp_rdr.max_rows = 50;
SELECT count(*) > 0 AS t FROM shop.visit_dp WHERE day > '2025-01-02';
RESET dp_rdr.max_rows;
-- Counts and sums are clipped each by itself: said for each shape with two of them; an average is clipped by one factor, and so is a single number.
SELECT count(*) > 0 AS t FROM shop.visit_dp WHERE day > '2025-01-03';
SELECT count(*) FILTER (WHERE day < '2025-02-01')::numeric / count(*) < 1 AS t FROM shop.visit_dp;
SELECT avg(CASE WHEN day < '2025-02-01' THEN 1.0 ELSE 0 END) < 1 AS t FROM shop.visit_dp;
SELECT count(*) > 0 AS t, count(DISTINCT guest_id) > 0 AS p FROM shop.visit_dp;
SELECT count(*) > 0 AS t, count(*) FILTER (WHERE age > 30) > 0 AS f FROM shop.guest_dp;
-- What it names can be asked, above what counts.
SELECT people BETWEEN -5 AND 5 AS t FROM dp_query('SELECT count(*) FROM (SELECT guest_id, count(*) AS n FROM shop.visit_dp GROUP BY guest_id) t WHERE n > 50', max_rows => 100) AS (people bigint);
SET ROLE regress_controller;
SELECT dp_grant('shop.guest_dp', 'regress_reader', replay => '0'), dp_grant('shop.visit_dp', 'regress_reader', epsilon_min => 1);

-- The same of counts and sums in a sub-SELECT beside others: in IN, a join, a window, a UNION and below another level, where keys say that a person
-- has one row outside. What was told of the view counts as told. Not where nothing is counted, or what keys hold.
\set again 'RESET ROLE; DISCARD ALL; LOAD ''dp_rdr''; SET dp_rdr.noise = show; SET ROLE regress_reader;'
:again
SELECT count(*) < 9 AS t FROM shop.guest_dp WHERE guest_id IN (SELECT guest_id FROM shop.visit_dp GROUP BY guest_id HAVING count(*) < 5);
SELECT count(*) > 0 AS t FROM shop.visit_dp;
:again
SELECT sum(n) > 0 AS t FROM shop.guest_dp JOIN (SELECT guest_id, count(*) AS n FROM shop.visit_dp GROUP BY guest_id) t USING (guest_id);
:again
SELECT avg(n) > 0 AS t FROM (SELECT count(*) OVER (PARTITION BY guest_id) AS n, row_number() OVER (PARTITION BY guest_id ORDER BY day) AS r FROM shop.visit_dp) t WHERE r = 1;
:again
SELECT avg(n) > 0 AS t FROM (SELECT guest_id, count(DISTINCT day) AS n FROM (SELECT guest_id, day FROM shop.visit_dp UNION ALL SELECT guest_id, NULL::date FROM shop.guest_dp) u GROUP BY guest_id) t;
:again
SELECT max_n > 0 AS t FROM (SELECT avg(m) AS max_n FROM (SELECT guest_id, max(n) AS m FROM (SELECT guest_id, day, count(*) AS n FROM shop.visit_dp GROUP BY guest_id, day) d GROUP BY guest_id) t) t;
:again
SELECT count(*) > 0 AS t FROM shop.guest_dp WHERE guest_id IN (SELECT guest_id FROM shop.visit_dp GROUP BY guest_id HAVING min(day) > '2024-01-01');
SELECT avg(n) > 0 AS t FROM (SELECT count(*) OVER (PARTITION BY guest_id) AS n FROM shop.guest_dp) t;
SELECT sum(n) > 0 AS t FROM shop.guest_dp JOIN (SELECT guest_id, count(*) AS n FROM shop.guest_dp GROUP BY guest_id) t USING (guest_id);
-- Of a join the query is of its only view with several rows; where there are two it names none, and the view alone is told of all the same.
SELECT count(*) > 0 AS t FROM shop.visit_dp v JOIN shop.guest_dp g ON g.guest_id = v.guest_id;
SELECT count(*) > 0 AS t FROM shop.visit_dp;
:again
SELECT count(*) > 0 AS t FROM shop.visit_dp v JOIN shop.visit_dp w ON w.guest_id = v.guest_id;
SELECT count(*) > 0 AS t FROM shop.visit_dp v JOIN shop.visit_dp w ON w.guest_id = v.guest_id AND v.day <= w.day;
SELECT count(*) > 0 AS t FROM shop.visit_dp;
SELECT reason FROM dp_explain('SELECT sum(n) FROM shop.guest_dp JOIN (SELECT guest_id, count(*) AS n FROM shop.visit_dp GROUP BY guest_id) t USING (guest_id)');
SET ROLE regress_controller;
SELECT dp_set_contribution('shop.visit', max_rows => 10);

-- Nobody can have more than what counts: refused before the charge, in HAVING, in WHERE and in FILTER. What can be is answered.
SELECT releases AS before FROM dp_odometer('shop.guest') WHERE account = 'public' \gset
SET ROLE regress_noisy;
\set VERBOSITY default
SELECT count(*) FROM (SELECT guest_id FROM shop.visit_dp GROUP BY guest_id HAVING count(*) > 20) t;
SELECT count(*) FROM (SELECT guest_id, count(*) AS n FROM shop.visit_dp GROUP BY guest_id) t WHERE n BETWEEN 11 AND 15;
SELECT count(*), count(*) FILTER (WHERE visits + 1 > 30) FROM (SELECT guest_id, count(DISTINCT day) AS visits FROM shop.visit_dp GROUP BY guest_id) t;
SELECT count(*) FROM (SELECT guest_id, count(*) AS n FROM shop.visit_dp GROUP BY guest_id) t WHERE n = 0;
SELECT accepted, reason FROM dp_explain('SELECT count(*) FROM (SELECT guest_id FROM shop.visit_dp GROUP BY guest_id HAVING count(*) > 20) t');
\set VERBOSITY terse
SET ROLE regress_controller;
SELECT releases - :before AS charged FROM dp_odometer('shop.guest') WHERE account = 'public';
SET ROLE regress_reader;
SELECT count(*) > 5000 AS t FROM (SELECT guest_id FROM shop.visit_dp GROUP BY guest_id HAVING count(*) >= 10) t;
SELECT n BETWEEN -5 AND 5 AS t FROM dp_query('SELECT count(*) FROM (SELECT guest_id FROM shop.visit_dp GROUP BY guest_id HAVING count(*) > 20) t', max_rows => 40) AS (n bigint);
SELECT count(*) < 9 AS t FROM (SELECT guest_id, sum(extract(day FROM day)) AS d FROM shop.visit_dp GROUP BY guest_id) t WHERE d > 5000;

-- Conditions that leave nothing of what was declared: there may be such rows, so it is answered, and said each time. dp_explain says it before.
SELECT count(*) < 9 AS t FROM shop.guest_dp WHERE town = 'rome';
SELECT count(*) < 9 AS t FROM shop.guest_dp WHERE town = 'rom';
SELECT count(*) < 9 AS t FROM shop.guest_dp WHERE age > 30 AND (town IN ('Ulm', 'Bonn') OR town = 'rome');
SELECT count(*) FILTER (WHERE town = 'Ulm') < 9 AS t FROM shop.guest_dp;
SELECT count(*) < 9 AS t FROM shop.guest_dp WHERE score > 100;
SELECT count(*) < 9 AS t FROM shop.guest_dp g WHERE score BETWEEN -9 AND -1 AND town = 'ulm';
SELECT reason FROM dp_explain('SELECT count(*) FROM shop.guest_dp WHERE town = ''oslo''');
SELECT count(*) > 9 AS t FROM shop.guest_dp WHERE town IN ('rome', 'ulm') AND score >= 100 - 50;
SELECT count(*) > 9 AS t FROM shop.guest_dp WHERE town = 'rome' OR age > 20;
SELECT count(*) > 9 AS t FROM shop.guest_dp WHERE town <> 'rome' AND age <> 1000;
SET dp_rdr.noise = silent;
SELECT count(*) < 9 AS t FROM shop.guest_dp WHERE town = 'rome';
SET dp_rdr.noise = show;

-- Discovered groups of more people than there are: refused before the charge, and dp_explain says so. Not of more rows.
SET ROLE regress_controller;
SELECT releases AS before FROM dp_odometer('shop.guest') WHERE account = 'public' \gset
SELECT dp_set_people('shop.guest', 1000);
SET ROLE regress_noisy;
SELECT day, count(*) FROM shop.visit_dp GROUP BY day;
SELECT accepted, reason FROM dp_explain('SELECT day, count(*) FROM shop.visit_dp GROUP BY day') LIMIT 1;
SET ROLE regress_controller;
SELECT dp_set_people('shop.guest', 100);
SET ROLE regress_noisy;
SELECT age, count(*) FROM shop.guest_dp GROUP BY age;
SET ROLE regress_controller;
SELECT releases - :before AS charged FROM dp_odometer('shop.guest') WHERE account = 'public';
-- The remedy works.
SELECT dp_set_groups('shop.guest', 'age', ARRAY(SELECT i::text FROM generate_series(20, 79) i));
SET ROLE regress_noisy;
SET client_min_messages = warning;
SELECT count(*) FROM (SELECT age, count(*) FROM shop.guest_dp GROUP BY age OFFSET 0) t;
RESET client_min_messages;

-- Noise of 300 empty days is no visit of anybody: it says nothing of the limit, though its squares come to more than a quarter of that of 100 people.
SET ROLE regress_controller;
SELECT dp_set_people('shop.guest', 0), dp_grant('shop.visit_dp', 'regress_noisy', mechanism => 'gaussian'), dp_set_bounds('shop.visit', 'day', date '2025-01-01', date '2025-10-27');
SET ROLE regress_noisy;
\set VERBOSITY sqlstate
SELECT FROM (SELECT day, count(*) AS n FROM shop.visit_dp WHERE visit_id < 0 GROUP BY day) t LIMIT 1;
SET ROLE regress_controller;
SELECT dp_set_people('shop.guest', 100);
SET ROLE regress_noisy;
SELECT FROM (SELECT day, count(*) AS n FROM shop.visit_dp WHERE visit_id < -1 GROUP BY day) t LIMIT 1;
SELECT error95 * sqrt(300) / 1.96 > 500 AS many FROM dp_last_release() WHERE column_name = 'n';
\set VERBOSITY terse

-- Ranks that are no noise are told all the same, with the steps of a grid that is coarser than the values. Of 60 groups of 100 people an average, and a
-- share, has 0 in its interval in 95 of 100: that of fewer than 31 has by chance in less than 1e-9 of the runs.
SET ROLE regress_controller;
SELECT dp_set_people('shop.guest', 6000), dp_grant('shop.guest_dp', 'regress_reader', tau => 0, epsilon_max => 1, epsilon_min => 1, candidates => '{1}', delta => 1e-6);
CREATE TABLE shop.season (name text PRIMARY KEY);
INSERT INTO shop.season VALUES ('summer'), ('winter');
SELECT dp_set_public('shop.season', 'shop.guest');
GRANT SELECT ON shop.season TO regress_reader;
SET ROLE regress_noisy;
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY score) >= 0 AS t FROM shop.guest_dp WHERE age > 0;
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY score * 1000) >= 0 AS t FROM shop.guest_dp;
SET ROLE regress_reader;
SET client_min_messages = warning;
SELECT count(*) FROM (SELECT mood, avg(CASE WHEN score > 200 THEN score ELSE 0 END) AS a FROM shop.guest_dp WHERE mood BETWEEN 0 AND 59 GROUP BY mood OFFSET 0) t;
SELECT noise > numbers / 2 AS noise FROM dp_last_release() WHERE column_name = 'a';
SELECT count(*) FROM (SELECT mood, avg(CASE WHEN score > 200 THEN 1.0 ELSE 0 END) AS a FROM shop.guest_dp WHERE mood BETWEEN 0 AND 59 GROUP BY mood OFFSET 0) t;
SELECT noise, coarse > numbers / 2 AS coarse FROM dp_last_release() WHERE column_name = 'a';
RESET client_min_messages;
-- Nobody has more rows than keys and a public table say, so nothing can be clipped.
SELECT count(*) > 0 AS t, count(*) FILTER (WHERE age > 30) > 0 AS f FROM shop.guest_dp CROSS JOIN shop.season;

-- Under within_data nothing is judged, said or hidden: a half-width would tell epsilon.
SET ROLE regress_searcher;
SET dp_rdr.noise = hide;
SELECT count(n) FROM (SELECT town, count(*) AS n FROM shop.guest_dp WHERE town IS NOT NULL GROUP BY town LIMIT 100) t;
SELECT town FROM (SELECT town, count(*) AS n FROM shop.guest_dp WHERE town IS NOT NULL GROUP BY town) t ORDER BY town LIMIT 3;
SELECT column_name, numbers, noise, rows_hidden FROM dp_last_release();
RESET ROLE;
DROP OWNED BY regress_reader, regress_searcher, regress_noisy;
DROP ROLE regress_reader, regress_searcher, regress_noisy;
