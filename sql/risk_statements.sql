-- Every shape of statement that an analyst may send has a risk, a report and an epsilon, leaf by leaf. No noisy number is printed.

LOAD 'dp_rdr';
CREATE TABLE rs_person (pid integer PRIMARY KEY, sex text, age integer);
CREATE TABLE rs_visit (vid integer PRIMARY KEY, pid integer NOT NULL REFERENCES rs_person, ward text, cost integer, days integer);
CREATE TABLE rs_place (ward text PRIMARY KEY, region text NOT NULL);
INSERT INTO rs_person SELECT i, CASE i % 2 WHEN 0 THEN 'F' ELSE 'M' END, 18 + i * 7 % 60 FROM generate_series(1, 120) i;
INSERT INTO rs_visit SELECT i, 1 + i * 13 % 110, substr('abc', 1 + i % 3, 1), i * 37 % 101, i * 7 % 19 FROM generate_series(1, 270) i;
INSERT INTO rs_place VALUES ('a', 'n'), ('b', 'n'), ('c', 's');
SELECT dp_protect('rs_person', 'rs_person_dp', unit => 'pid'), dp_protect('rs_visit', 'rs_visit_dp', unit => 'pid', max_rows => 3);
SELECT dp_set_bounds('rs_visit', 'cost', 0, 100), dp_set_bounds('rs_visit', 'days', 0, 18), dp_set_bounds('rs_person', 'age', 18, 77),
       dp_set_groups('rs_visit', 'ward', '{a,b,c}'), dp_set_groups('rs_person', 'sex', '{F,M}'), dp_set_public('rs_place', 'rs_visit'),
       dp_set_odometer('rs_visit', 'none'), dp_set_odometer('rs_person', 'none');

CREATE TABLE rs_shape (place serial, shape text, relation regclass DEFAULT 'rs_visit', leaves int DEFAULT 1, query text);
INSERT INTO rs_shape (shape, query) VALUES
('count', 'SELECT count(*) FROM rs_visit_dp'),
('average', 'SELECT avg(cost) FROM rs_visit_dp'),
('variance', 'SELECT var_pop(cost) FROM rs_visit_dp'),
('deviation', 'SELECT stddev(cost) FROM rs_visit_dp'),
('sum of an expression', 'SELECT sum(cost * 2 + days) FROM rs_visit_dp'),
('FILTER', 'SELECT count(*) FILTER (WHERE cost > 50), count(*) FROM rs_visit_dp'),
('ends of an interval', 'SELECT dp_low(count(*)), dp_high(count(*)) FROM rs_visit_dp'),
('CASE', 'SELECT sum(CASE WHEN ward = ''a'' THEN cost ELSE 0 END) FROM rs_visit_dp'),
('derived key', 'SELECT days / 10, count(*) FROM rs_visit_dp GROUP BY 1'),
('join', 'SELECT p.sex, count(*) FROM rs_visit_dp v JOIN rs_person_dp p USING (pid) GROUP BY p.sex'),
('join with a public table', 'SELECT region, avg(cost) FROM rs_visit_dp JOIN rs_place USING (ward) GROUP BY region'),
('sub-SELECT by person', 'SELECT avg(n) FROM (SELECT pid, count(*) AS n FROM rs_visit_dp GROUP BY pid) s'),
('count of people', 'SELECT count(DISTINCT pid) FROM rs_visit_dp'),
('correlation', 'SELECT corr(cost, days) FROM rs_visit_dp'),
('covariance', 'SELECT covar_samp(cost, days) FROM rs_visit_dp'),
('line of regression', 'SELECT regr_slope(cost, days), regr_intercept(cost, days) FROM rs_visit_dp'),
('percentile', 'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY cost) FROM rs_visit_dp'),
('several percentiles', 'SELECT percentile_disc(ARRAY[0.25, 0.5]) WITHIN GROUP (ORDER BY cost) FROM rs_visit_dp'),
('maximum', 'SELECT max(cost) FROM rs_visit_dp'),
('count of values', 'SELECT count(DISTINCT cost) FROM rs_visit_dp'),
('ORDER BY LIMIT', 'SELECT ward, avg(cost) FROM rs_visit_dp GROUP BY ward ORDER BY 2 DESC LIMIT 2'),
('WITH', 'WITH w AS (SELECT ward, sum(cost) AS s FROM rs_visit_dp GROUP BY ward) SELECT max(s) FROM w'),
('WITH, read twice', 'WITH w AS (SELECT ward, sum(cost) AS s FROM rs_visit_dp GROUP BY ward) SELECT a.ward FROM w a, w b WHERE a.s > b.s'),
('function of an answer', 'SELECT round(avg(cost), 1) FROM rs_visit_dp'),
('ratio', 'SELECT ward, sum(cost) / count(*) AS mean FROM rs_visit_dp GROUP BY ward'),
('HAVING', 'SELECT ward, count(*) FROM rs_visit_dp GROUP BY ward HAVING count(*) > 50'),
('average over groups', 'SELECT avg(n) FROM (SELECT ward, count(*) AS n FROM rs_visit_dp GROUP BY ward) s'),
('percentile by group', 'SELECT ward, percentile_disc(0.9) WITHIN GROUP (ORDER BY cost) FROM rs_visit_dp GROUP BY ward'),
('window', 'SELECT ward, rank() OVER (ORDER BY count(*) DESC) FROM rs_visit_dp GROUP BY ward');
INSERT INTO rs_shape (shape, relation, leaves, query) VALUES
('EXISTS', 'rs_person', 1, 'SELECT count(*) FROM rs_person_dp p WHERE EXISTS (SELECT FROM rs_visit_dp v WHERE v.pid = p.pid AND v.cost > 50)'),
('ROLLUP', 'rs_visit', 2, 'SELECT ward, count(*) FROM rs_visit_dp GROUP BY ROLLUP (ward)'),
('CUBE', 'rs_visit', 4, 'SELECT ward, days / 10, count(*) FROM rs_visit_dp GROUP BY CUBE (ward, days / 10)'),
('difference of two answers', 'rs_person', 2, 'SELECT (SELECT max(cost) FROM rs_visit_dp) - (SELECT avg(age) FROM rs_person_dp)'),
('UNION', 'rs_visit', 2, 'SELECT count(*) FROM rs_visit_dp UNION ALL SELECT count(*) FROM rs_person_dp');

-- What each call makes of a shape: the number of leaves, each with the noise of the others.
CREATE FUNCTION rs_risk(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RETURN (SELECT max(leaf) FROM dp_risk(query, '{10,1,0.1}') HAVING count(*) = 3 * max(leaf) AND bool_and(ratio BETWEEN 0 AND 1 AND rho > 0 AND error95 >= 0));
EXCEPTION WHEN OTHERS THEN
    RETURN sqlstate || ' ' || sqlerrm;
END $$;
CREATE FUNCTION rs_summary(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RETURN (SELECT max(leaf) FROM dp_risk_summary(query, epsilons => '{10,1,0.1}') HAVING count(*) = 3 * max(leaf));
EXCEPTION WHEN OTHERS THEN
    RETURN sqlstate || ' ' || sqlerrm;
END $$;
CREATE FUNCTION rs_records(query text, leaves int) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RETURN (SELECT count(DISTINCT leaf) FROM generate_series(1, leaves) leaf, dp_risk_records(query, 1, leaf => leaf) r WHERE r.individuals > 0);
EXCEPTION WHEN OTHERS THEN
    RETURN sqlstate || ' ' || sqlerrm;
END $$;
CREATE FUNCTION rs_report(relation regclass, query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RETURN cardinality(xpath('//h:div[@class="question"][.//h:tr[contains(@class, "candidate")]][.//h:section[starts-with(@id, "people")]]',
                             dp_report(relation, query, epsilons => '{10,1,0.1}')::xml, '{{h,http://www.w3.org/1999/xhtml}}'));
EXCEPTION WHEN OTHERS THEN
    RETURN sqlstate || ' ' || sqlerrm;
END $$;
-- Of one question an array, of several an object.
CREATE PROCEDURE rs_call(query text, tau float8, INOUT epsilon numeric, INOUT answer jsonb, candidates numeric[] = '{10,1,0.1}') LANGUAGE plpgsql AS $$
BEGIN
    CALL dp_find_epsilon(query, tau, epsilon, answer, candidates => candidates);
END $$;
CREATE TABLE rs_found (place int, found text, epsilon numeric, expected numeric);
DO $$
DECLARE
    s rs_shape;
    e numeric;
    a jsonb;
BEGIN
    SET LOCAL client_min_messages = warning;
    FOR s IN SELECT * FROM rs_shape LOOP
        BEGIN
            CALL rs_call(s.query, 0.3, e, a);
            INSERT INTO rs_found VALUES (s.place, CASE jsonb_typeof(a) WHEN 'array' THEN 1 ELSE (SELECT count(*) FROM jsonb_each(a) WHERE jsonb_typeof(value) = 'array') END, e,
                                         (SELECT sum(chosen) FROM (SELECT max(r.epsilon) AS chosen FROM dp_risk(s.query, '{10,1,0.1}') r
                                                                           WHERE rdr_min - error * noise >= 0.3 * (rdr_max - error * noise) GROUP BY leaf) c));
        EXCEPTION WHEN OTHERS THEN
            INSERT INTO rs_found VALUES (s.place, sqlstate || ' ' || sqlerrm);
        END;
    END LOOP;
END $$;
SET client_min_messages = warning;
CREATE TABLE rs_seen AS
SELECT s.place, shape, leaves, rs_risk(query) AS risk, rs_summary(query) AS summary, rs_records(query, leaves) AS records, rs_report(relation, query) AS report, found,
       epsilon = expected AS as_risk
FROM rs_shape s JOIN rs_found USING (place);
SELECT * FROM rs_seen ORDER BY place;
SELECT count(*) AS shapes, count(*) FILTER (WHERE leaves::text = ALL (ARRAY[risk, summary, records, report, found]) AND as_risk) AS all_of_it FROM rs_seen;
-- The twenty-nine that have to have all of it, by name.
SELECT count(*) AS named, count(*) FILTER (WHERE risk = leaves::text) AS risk, count(*) FILTER (WHERE summary = leaves::text) AS summary,
       count(*) FILTER (WHERE report = leaves::text) AS report, count(*) FILTER (WHERE found = leaves::text AND as_risk) AS found, array_agg(name) FILTER (WHERE leaves IS NULL) AS missing
FROM unnest(ARRAY['count', 'average', 'variance', 'deviation', 'sum of an expression', 'FILTER', 'ends of an interval', 'CASE', 'derived key', 'join',
                  'join with a public table', 'EXISTS', 'sub-SELECT by person', 'count of people', 'correlation', 'covariance', 'line of regression', 'percentile',
                  'several percentiles', 'maximum', 'count of values', 'ORDER BY LIMIT', 'WITH', 'function of an answer', 'ratio', 'HAVING', 'ROLLUP',
                  'average over groups', 'percentile by group']) name LEFT JOIN rs_seen ON shape = name;

-- The same on the Adult data: what a table of one row for each person is asked.
SELECT query, rs_risk(query) AS risk, rs_report('adult', query) AS report
FROM unnest(ARRAY['SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY hours_per_week) FROM adult_dp', 'SELECT corr(capital_gain, hours_per_week) FROM adult_dp',
                  'SELECT marital_status, round(avg(hours_per_week), 1) FROM adult_dp GROUP BY marital_status HAVING count(*) > 1000 ORDER BY 2 DESC LIMIT 3',
                  'SELECT marital_status, count(*) FROM adult_dp GROUP BY ROLLUP (marital_status)']) query;
RESET client_min_messages;

-- Several questions are told apart.
\set VERBOSITY default
\set SHOW_CONTEXT never
SELECT DISTINCT leaf FROM dp_risk('SELECT ward, count(*) FROM rs_visit_dp GROUP BY ROLLUP (ward)', '{1}') ORDER BY leaf;
SELECT unnest(xpath('//h:section[starts-with(@id, "query") or @id = "statement"]/*[self::h:h2 or self::h:pre]//text()', page::xml, '{{h,http://www.w3.org/1999/xhtml}}'))
FROM dp_report('rs_visit', 'SELECT ward, count(*) FROM rs_visit_dp GROUP BY ROLLUP (ward)') page;
-- No id stands twice on the page.
SELECT count(*) > 20 AS many, count(*) = count(DISTINCT id::text) AS different
FROM dp_report('rs_visit', 'SELECT ward, count(*) FROM rs_visit_dp GROUP BY ROLLUP (ward)') page, unnest(xpath('//@id', page::xml)) id;
SELECT dp_report('rs_visit', 'SELECT avg(age) FROM rs_person_dp UNION ALL SELECT count(*) FROM rs_person_dp');

-- ---------------------------------------------------------------------------------------------------------------------
-- Epsilons of all questions are found before one is charged
-- ---------------------------------------------------------------------------------------------------------------------

-- No candidate keeps tau for the second: neither is charged, and one denial is counted.
SELECT sum(releases) AS releases, sum(denials) AS denials FROM dp_odometer('rs_visit') \gset before_
CALL dp_find_epsilon('SELECT max(cost) FROM rs_visit_dp UNION ALL SELECT count(*) FROM rs_visit_dp', 1);
SELECT sum(releases) - :before_releases AS charged, sum(denials) - :before_denials AS denied FROM dp_odometer('rs_visit');
-- A total that the first answer uses up: the answer is not lost, and counts alone.
SELECT dp_set_odometer('rs_person', 'filter', epsilon_total => (SELECT sum(epsilon) + 15 FROM dp_odometer('rs_person')));
CREATE TABLE rs_kept (epsilon numeric, answer jsonb);
DO $$
DECLARE
    e numeric;
    a jsonb;
BEGIN
    CALL rs_call('SELECT sex, count(*) FROM rs_person_dp GROUP BY ROLLUP (sex)', 0, e, a, '{10}');
    INSERT INTO rs_kept VALUES (e, a);
END $$;
SELECT epsilon, jsonb_array_length(answer -> '1') AS groups, answer -> '2' AS second FROM rs_kept;
-- The first of them raises.
CALL dp_find_epsilon('SELECT sex, count(*) FROM rs_person_dp GROUP BY ROLLUP (sex)', 0, candidates => '{10}');
-- Looks at drawn answers are for one question.
CALL dp_find_epsilon('SELECT ward, count(*) FROM rs_visit_dp GROUP BY ROLLUP (ward)', 0.5, indicator => 'output');
-- ---------------------------------------------------------------------------------------------------------------------
-- What is refused says why
-- ---------------------------------------------------------------------------------------------------------------------

\set VERBOSITY terse
CREATE TABLE rs_refused (reason text, query text, mechanism text DEFAULT 'laplace');
INSERT INTO rs_refused VALUES
('Gaussian noise', 'SELECT max(cost) FROM rs_visit_dp', 'gaussian'),
('Gaussian noise, one of two', 'SELECT (SELECT max(cost) FROM rs_visit_dp) - (SELECT avg(cost) FROM rs_visit_dp)', 'gaussian'),
('two columns', 'SELECT max(cost), min(days) FROM rs_visit_dp', 'laplace'),
('a sub-SELECT', 'SELECT count(*) FROM rs_visit_dp WHERE cost > (SELECT avg(cost) FROM rs_visit_dp)', 'laplace'),
('groups alone', 'SELECT DISTINCT ward FROM rs_visit_dp', 'laplace');
ALTER TABLE rs_refused ADD risk text, ADD report text, ADD find text;
SET client_min_messages = warning;
UPDATE rs_refused SET risk = attempt(format('SELECT dp_risk(%L, mechanism => %L, delta => %L)', query, mechanism, CASE mechanism WHEN 'gaussian' THEN '1e-6' END)),
                      report = attempt(format('SELECT dp_report(%L, %L, mechanism => %L, delta => %L)', 'rs_visit', query, mechanism, CASE mechanism WHEN 'gaussian' THEN '1e-6' END)),
                      find = attempt(format('CALL dp_find_epsilon(%L, 0.5, mechanism => %L, delta => %L)', query, mechanism, CASE mechanism WHEN 'gaussian' THEN '1e-6' END));
RESET client_min_messages;
SELECT reason, split_part(risk, ' | ', 1) AS said, report = risk AS report, find = risk AS find FROM rs_refused ORDER BY reason;
-- Where a row is a person, the owner may still look at it as at a general query.
SELECT count(*) FROM dp_risk('SELECT max(age) FROM rs_person_dp', '{1}', 'gaussian', 1e-6);
\set VERBOSITY default
CALL dp_find_epsilon('SELECT max(age) FROM rs_person_dp', 0.5, mechanism => 'gaussian', delta => 1e-6);
\set VERBOSITY terse
-- Values and rows of his own are looked up as when he asks: the risk is that of the question with what they are written out. What follows from
-- answers, or changes with each look, is not.
CREATE TABLE rs_mine AS SELECT * FROM (VALUES ('a', 40), ('c', 60)) v (ward, cost);
CREATE TABLE rs_own (name text, own text, written text);
INSERT INTO rs_own VALUES
('value', 'SELECT count(*) FROM rs_visit_dp WHERE cost > (SELECT min(cost) FROM rs_mine)', 'SELECT count(*) FROM rs_visit_dp WHERE cost > 40'),
('list', 'SELECT sum(cost) FROM rs_visit_dp WHERE ward IN (SELECT ward FROM rs_mine UNION SELECT ''x'')', 'SELECT sum(cost) FROM rs_visit_dp WHERE ward IN (''a'', ''c'')'),
('rows', 'SELECT count(*) FROM rs_visit_dp v JOIN rs_mine m ON v.ward = m.ward AND v.cost > m.cost', 'SELECT count(*) FROM rs_visit_dp WHERE ward = ''a'' AND cost > 40 OR ward = ''c'' AND cost > 60'),
('WITH', 'WITH m AS (SELECT max(cost) AS c FROM rs_mine) SELECT count(*) FROM rs_visit_dp WHERE cost < (SELECT c FROM m)', 'SELECT count(*) FROM rs_visit_dp WHERE cost < 60'),
('two', 'SELECT (SELECT count(*) FROM rs_visit_dp WHERE cost < (SELECT max(cost) FROM rs_mine)) - (SELECT count(*) FROM rs_visit_dp)',
 'SELECT (SELECT count(*) FROM rs_visit_dp WHERE cost < 60) - (SELECT count(*) FROM rs_visit_dp)');
SET client_min_messages = warning;
SELECT name, (SELECT array_agg(round(ratio::numeric, 9) ORDER BY leaf, epsilon) FROM dp_risk(own, '{10,1}') r) =
             (SELECT array_agg(round(ratio::numeric, 9) ORDER BY leaf, epsilon) FROM dp_risk(written, '{10,1}') r) AS risk,
       (SELECT array_agg(epsilon) FROM dp_explain(own)) = (SELECT array_agg(epsilon) FROM dp_explain(written)) AS price FROM rs_own ORDER BY name;
RESET client_min_messages;
SELECT q, attempt(format('SELECT dp_risk(%L)', q)) FROM unnest(ARRAY['SELECT count(*) FROM rs_visit_dp WHERE cost > (SELECT 10 * random())',
    'WITH n AS (SELECT count(*) AS c FROM rs_visit_dp) SELECT count(*) FROM rs_visit_dp WHERE cost > (SELECT c FROM n)',
    'SELECT count(*) FROM rs_visit_dp WHERE cost > (SELECT 1 / (min(cost) - 40) FROM rs_mine)']) q;
SELECT reason, epsilon FROM dp_explain('SELECT count(*) FROM rs_visit_dp WHERE cost > (SELECT 1 / (min(cost) - 40) FROM rs_mine)');
DROP TABLE rs_mine, rs_own;
-- Two groups of people beside each other: the median risk of either.
SELECT epsilon, abs(median_a - coalesce(noise, 0) - a) < 1e-8 AS women, abs(median_b - coalesce(noise, 0) - b) < 1e-8 AS men, a <> b AS differ
FROM dp_risk('SELECT sum(age) FROM rs_person_dp WHERE age > 20', '{Infinity,1}', group_a => $$sex = 'F'$$, group_b => $$sex = 'M'$$),
     (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY risk) FILTER (WHERE sex = 'F') AS a, percentile_disc(0.5) WITHIN GROUP (ORDER BY risk) FILTER (WHERE sex = 'M') AS b
      FROM (SELECT sex, CASE WHEN age > 20 THEN age / 77.0::float8 ELSE 0 END AS risk FROM rs_person) p) m;
SELECT median_a, median_b FROM dp_risk('SELECT sum(age) FROM rs_person_dp', '{1}');
SELECT attempt($$SELECT dp_risk('SELECT sum(age) FROM rs_person_dp', '{1}', group_a => 'true')$$), attempt($$SELECT dp_risk('SELECT sum(age) FROM rs_person_dp', '{1}', group_a => 'true', group_b => 'age > 30')$$),
       attempt($$SELECT dp_risk('SELECT sum(age) FROM rs_person_dp', '{1}', group_a => 'false', group_b => 'age > 30')$$), attempt($$SELECT dp_risk('SELECT sum(cost) FROM rs_visit_dp', '{1}', group_a => 'days > 3', group_b => 'days < 3')$$),
       attempt($$SELECT dp_risk('SELECT sum(age) FROM rs_person_dp', '{1}', exact => true, group_a => 'age < 30', group_b => 'age > 30')$$),
       attempt($$SELECT dp_risk('SELECT sum(age) FROM rs_person_dp', '{1}', sensitivity => 77, group_a => 'age < 30', group_b => 'age > 30')$$);
-- Infinity is a noise to look at, not one to draw.
SELECT epsilon, noise, rdr_max > 0 AS somebody FROM dp_risk('SELECT 2 * count(*) FROM rs_person_dp', '{Infinity}', sensitivity => 2);
SELECT bool_and(pis = rdr) AS without_noise FROM dp_risk_records('SELECT avg(cost) FROM rs_visit_dp', 'Infinity');
SELECT bool_and(pis = rdr) AS without_noise FROM dp_risk_records('SELECT 2 * count(*) FROM rs_person_dp', 'Infinity', sensitivity => 2);
SELECT attempt($$CALL dp_find_epsilon('SELECT avg(cost) FROM rs_visit_dp', 0.5, candidates => '{Infinity,1}')$$), attempt($$SELECT dp_risk('SELECT avg(cost) FROM rs_visit_dp', '{Infinity,-1}')$$),
       attempt($$SELECT dp_risk('SELECT avg(cost) FROM rs_visit_dp', '{NaN}')$$), attempt($$SELECT dp_risk('SELECT avg(cost) FROM rs_visit_dp', '{-Infinity}')$$),
       attempt($$SELECT count(*) FROM dp_risk_records('SELECT avg(cost) FROM rs_visit_dp', '-Infinity')$$);
SELECT epsilon FROM dp_risk_summary('SELECT avg(cost) FROM rs_visit_dp', epsilons => '{Infinity,1}');

-- ---------------------------------------------------------------------------------------------------------------------
-- 64 kB of whatever is no question: an error, and nothing is lost
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE rs_bad (place serial, what text, text text);
INSERT INTO rs_bad (what, text) VALUES
('one word', repeat('x', 65536)), ('brackets', 'SELECT ' || repeat('(', 65536)), ('quotes', repeat('''', 65535)), ('dollars', repeat('$', 65536)),
('comments', repeat('/* ', 21845)), ('semicolons', repeat(';', 65536)), ('statements', repeat('SELECT count(*) FROM rs_visit_dp; ', 2000)),
('bytes', (SELECT string_agg(chr(1 + i * 7919 % 255), '') FROM generate_series(1, 65536) i)), ('a long name', 'SELECT count(*) FROM ' || repeat('x', 65500)),
('minus', 'SELECT sum(' || repeat('- ', 32700) || 'cost) FROM rs_visit_dp'),
('joins', 'SELECT count(*) FROM rs_visit_dp' || repeat(', rs_visit_dp', 5000)), ('levels', repeat('SELECT * FROM (', 4000) || 'SELECT count(*) FROM rs_visit_dp' || repeat(') s', 4000));
ALTER TABLE rs_bad ADD risk text, ADD summary text, ADD records text, ADD output text, ADD report text, ADD find text, ADD groups text;
-- The state of the error alone: the message has what was asked in it.
CREATE FUNCTION rs_state(call text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    SET LOCAL client_min_messages = error;
    EXECUTE call;
    RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
    RETURN sqlstate;
END $$;
SELECT sum(epsilon) AS epsilon, sum(releases) AS releases FROM dp_odometer('rs_visit') \gset before_
UPDATE rs_bad SET risk = rs_state(format('SELECT dp_risk(%L)', text)), summary = rs_state(format('SELECT dp_risk_summary(%L)', text)),
                  records = rs_state(format('SELECT dp_risk_records(%L, 1)', text)), output = rs_state(format('SELECT dp_risk_output(%L, ''{1}'')', text)),
                  report = rs_state(format('SELECT dp_report(''rs_visit'', %L)', text)), find = rs_state(format('CALL dp_find_epsilon(%L, 0.5)', text)),
                  groups = rs_state(format('SELECT dp_risk(''SELECT count(*) FROM rs_person_dp'', group_a => %L, group_b => ''age > 30'')', text));
SELECT place, what, risk, summary, records, output, report, find, groups FROM rs_bad ORDER BY place;
SELECT sum(epsilon) - :before_epsilon AS spent, sum(releases) - :before_releases AS released FROM dp_odometer('rs_visit');
-- Also as numbers. A condition of that length is a question.
SELECT rs_state(format('SELECT dp_risk(''SELECT count(*) FROM rs_visit_dp'', ''{%s1}'')', repeat('0.5,', 16384))) AS candidates,
       rs_state(format('SELECT dp_risk_output(''SELECT count(*) FROM rs_visit_dp'', ''{%s1}'')', repeat('NaN,', 16384))) AS output,
       rs_state(format('SELECT dp_risk(''SELECT count(*) FROM rs_visit_dp'', mechanism => %L)', repeat('m', 65536))) AS mechanism,
       rs_state(format('SELECT dp_loss_records(%L)', repeat('x', 65536))) AS losses;
SELECT count(*) FROM dp_risk('SELECT count(*) FROM rs_visit_dp WHERE cost IN (' || repeat('5,', 32000) || '7)', '{1}');
