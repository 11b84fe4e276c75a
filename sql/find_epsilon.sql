-- dp_find_epsilon: the largest candidate that meets tau, charged once, answered once; and what a controller sees of the
-- risk beforehand. No noisy number is printed: answers are compared with bounds that their noise exceeds with
-- probability below 1e-9 each.

LOAD 'dp_rdr';
SET ROLE regress_controller;

CREATE FUNCTION find(query text, tau float8, mechanism text = 'laplace', delta numeric = NULL, candidates numeric[] = NULL,
                     OUT epsilon numeric, OUT answer jsonb) LANGUAGE plpgsql AS $$
BEGIN
    CALL dp_find_epsilon(query, tau, epsilon, answer, mechanism, delta, candidates);
END $$;

-- ---------------------------------------------------------------------------------------------------------------------
-- The papers' queries at tau = 0.95, the average at 0.9
-- ---------------------------------------------------------------------------------------------------------------------

-- The epsilon found; a JSON array with one object for each row of the answer.
CREATE TABLE found AS SELECT q.id, f.epsilon, f.answer FROM paper_query q, LATERAL find(q.query, CASE q.id WHEN 'Q4' THEN 0.9 ELSE 0.95 END) f;
SELECT id, epsilon, jsonb_typeof(answer) AS type, jsonb_array_length(answer) AS rows,
       (SELECT string_agg(key, ', ' ORDER BY key) FROM jsonb_object_keys(answer -> 0) key) AS columns
FROM found ORDER BY id;

-- Their order and the group keys are canonical.
SELECT row ->> 'marital_status' AS marital_status FROM found, jsonb_array_elements(answer) row WHERE id = 'Q2';

-- Counts: P(|noise| > h) < 2 exp(-epsilon h). The average is a quotient of noisy sums over some 4,300 rows: both sums are
-- within 230 with probability 1 - 4e-10. The sum: noise of scale 99999 / 0.05.
SELECT abs((answer -> 0 ->> 'count')::bigint - (SELECT count(*) FROM adult
           WHERE income = '>50K' AND education_num = 13 AND age = 25)) < 450 AS near FROM found WHERE id = 'Q1';
SELECT count(*) AS groups, bool_and(abs((row ->> 'count')::bigint - (SELECT count(*) FROM adult
           WHERE race = 'Asian-Pac-Islander' AND age BETWEEN 30 AND 40 AND marital_status = row ->> 'marital_status')) < 90) AS near
FROM found, jsonb_array_elements(answer) row WHERE id = 'Q2';
SELECT abs((answer -> 0 ->> 'count')::bigint - (SELECT count(*) FROM adult
           WHERE native_country <> 'United-States' AND sex = 'Female')) < 450 AS near FROM found WHERE id = 'Q3';
SELECT abs((answer -> 0 ->> 'avg')::numeric - (SELECT avg(hours_per_week) FROM adult
           WHERE workclass IN ('Federal-gov', 'Local-gov', 'State-gov'))) < 6 AS near,
       (answer -> 0 ->> 'avg')::numeric BETWEEN 1 AND 99 AS within_bounds FROM found WHERE id = 'Q4';
SELECT abs((answer -> 0 ->> 'sum')::bigint - (SELECT sum(capital_gain) FROM adult)) < 45e6 AS near FROM found WHERE id = 'Q5';

-- The charges: in an account of their own, each of the amount found.
SELECT account, epsilon, delta, releases, denials FROM dp_odometer('adult');
SELECT account, kind, algorithm, mechanism, epsilon, epsilon_svt, epsilon_worst, delta, guarantee, outcome, role_name, relation,
       view, parameters ->> 'tau' AS tau, parameters ->> 'k1' AS k1, parameters ->> 'groups' AS groups,
       parameters #>> '{measures,0,kind}' AS kind, parameters #>> '{measures,0,sensitivity}' AS sensitivity
FROM dp_rdr.ledger WHERE relation = 'public.adult' ORDER BY id;
SELECT query FROM dp_rdr.ledger WHERE relation = 'public.adult' ORDER BY id;

-- ---------------------------------------------------------------------------------------------------------------------
-- The bound: denied, never less
-- ---------------------------------------------------------------------------------------------------------------------

-- 0.8 would be too much: 0.55 of 1 is consumed. An analyst's denial says no more.
SELECT attempt($$CALL dp_find_epsilon('SELECT count(*) FROM adult_dp WHERE age > 30', 0.5)$$);
-- No candidate meets tau.
SELECT attempt($$CALL dp_find_epsilon('SELECT count(*) FROM adult_dp WHERE age > 30', 0.95, candidates => '{0.06,0.1,0.2}')$$);
SELECT attempt($$CALL dp_find_epsilon('SELECT count(*) FROM adult_dp WHERE age > 30', 1)$$);
SELECT account, epsilon, releases, denials FROM dp_odometer('adult');

-- The largest candidate that fits exactly is answered.
SELECT epsilon FROM find('SELECT count(*) FROM adult_dp WHERE age > 30', 0.05, candidates => '{0.45,0.05}');
SELECT account, epsilon, releases, denials FROM dp_odometer('adult');
SELECT attempt($$CALL dp_find_epsilon('SELECT count(*) FROM adult_dp WHERE age > 30', 0.95, candidates => '{0.000000001}')$$);

-- Under dynamic only candidates above what is consumed count: all permitted ones are below.
SELECT dp_set_odometer('adult', 'dynamic', 'Infinity');
SELECT attempt($$CALL dp_find_epsilon('SELECT count(*) FROM adult_dp WHERE age > 30', 0.5)$$);
SELECT epsilon FROM find('SELECT count(*) FROM adult_dp WHERE age > 30', 0.25, candidates => '{1.8,1.0,0.2}');
SELECT attempt($$CALL dp_find_epsilon('SELECT count(*) FROM adult_dp WHERE age > 30', 0.05, candidates => '{2.8,1}')$$);
SELECT epsilon FROM find('SELECT count(*) FROM adult_dp WHERE age > 30', 0.05, candidates => '{2.800000001,1}');

-- ---------------------------------------------------------------------------------------------------------------------
-- Other preferences. Expected: the largest candidate <= eps*, computed here from the formula of the noise that is drawn
-- (p_min = 0, p_max = 1): m D asinh(k (1 - tau) / (D tau)), D the sensitivity in lattice units.
-- ---------------------------------------------------------------------------------------------------------------------

SELECT dp_set_odometer('adult', 'none', NULL);
CREATE TABLE preference (what text, query text, m int, k int, d float8);
INSERT INTO preference VALUES
    ('count', 'SELECT count(*) FROM adult_dp WHERE age > 30', 1, 1, 1),
    ('count(x)', 'SELECT count(age) FROM adult_dp WHERE age > 30', 1, 1, 1),
    ('filtered count', 'SELECT count(*) FILTER (WHERE age > 30) FROM adult_dp', 1, 1, 1),
    ('groups', 'SELECT marital_status, count(*) FROM adult_dp WHERE age > 30 GROUP BY 1', 1, 7, 1),
    ('sum', 'SELECT sum(capital_gain) FROM adult_dp', 1, 1, 99999),
    ('narrow sum', 'SELECT sum(hours_per_week) FROM adult_dp WHERE age > 30', 1, 1, 99),
    ('two counts', 'SELECT count(*), count(*) FILTER (WHERE age > 40) FROM adult_dp WHERE age > 30', 2, 2, 1);
CREATE TABLE found_for AS
SELECT p.what, t.tau, f.epsilon,
       (SELECT max(c) FROM unnest('{10,9,8,7,6,5,4,3,2,1,0.9,0.8,0.7,0.6,0.5,0.4,0.3,0.2,0.1,0.09,0.08,0.07,0.06,0.05,0.04,0.03,
                                    0.02,0.01,0.009,0.008,0.007,0.006,0.005,0.004,0.003,0.002,0.001}'::numeric[]) c
        WHERE c <= p.m * p.d * asinh(p.k * (1 - t.tau) / (p.d * p.m * t.tau)) * (1 + 1e-8)) AS expected
FROM preference p, (VALUES (0.95::float8), (0.9), (0.75), (0.5), (0.25), (0.05)) t (tau), LATERAL find(p.query, t.tau) f;
SELECT * FROM found_for WHERE epsilon IS DISTINCT FROM expected;
SELECT what, max(epsilon) FILTER (WHERE tau = 0.95) AS "0.95", max(epsilon) FILTER (WHERE tau = 0.9) AS "0.9",
       max(epsilon) FILTER (WHERE tau = 0.75) AS "0.75", max(epsilon) FILTER (WHERE tau = 0.5) AS "0.5",
       max(epsilon) FILTER (WHERE tau = 0.25) AS "0.25", max(epsilon) FILTER (WHERE tau = 0.05) AS "0.05"
FROM found_for GROUP BY what ORDER BY what COLLATE "C";

-- Equal risks, or nobody at risk: every epsilon meets every tau. tau = 0 asks for nothing.
SELECT epsilon FROM find('SELECT count(*) FROM adult_dp', 1);
SELECT epsilon FROM find('SELECT count(*) FROM adult_dp WHERE age > 500', 1);
SELECT epsilon FROM find('SELECT count(*) FROM adult_dp WHERE age > 30', 0);
SELECT epsilon FROM find('SELECT count(*) FROM adult_dp WHERE age > 500', 0.95, candidates => '{0.5,20,100,3}');

-- Discrete Gaussian. eps* = 1.2515, 3.7868, 8.3854 at tau = 0.95, 0.75, 0.5 for delta = 1e-5, and 1.8626 for 1e-9: what is drawn
-- at 1.863 is an integer, wider by a hair, and keeps tau as well.
SELECT tau, epsilon FROM (VALUES (0.95), (0.75), (0.5)) t (tau),
       LATERAL find('SELECT count(*) FROM adult_dp WHERE age > 30', tau, 'gaussian', 1e-5);
SELECT epsilon FROM find('SELECT count(*) FROM adult_dp WHERE age > 30', 0.95, 'gaussian', 1e-9,
                         '{1.861,1.862,1.863}');
SELECT mechanism, kind, epsilon, delta, delta_noise, delta_groups, rho > 0 AS rho
FROM dp_rdr.ledger WHERE relation = 'public.adult' AND mechanism = 'gaussian' ORDER BY id;

-- Groups that nobody declared: they appear above a threshold, which needs a delta. k is that of one group.
SELECT epsilon, jsonb_array_length(answer) BETWEEN 1 AND 16 AS rows
FROM find('SELECT education, count(*) FROM adult_dp GROUP BY education', 0.25, delta => 1e-6);
SELECT mechanism, kind, epsilon, delta, delta_noise, delta_groups, parameters ->> 'groups' AS groups
FROM dp_rdr.ledger ORDER BY id DESC LIMIT 1;

-- delta is bounded, too: 0.000031001 are spent.
SELECT dp_set_odometer('adult', 'filter', 1000, delta_total => 0.00004);
SELECT attempt($$CALL dp_find_epsilon('SELECT count(*) FROM adult_dp', 0.5, mechanism => 'gaussian', delta => 0.000009)$$);
SELECT attempt($$CALL dp_find_epsilon('SELECT count(*) FROM adult_dp', 0.5, mechanism => 'gaussian', delta => 0.000008999)$$);
SELECT account, delta, delta_total FROM dp_odometer('adult');

-- A table without rows has no RDR: the price that analysts pay.
CREATE TABLE nobody (v integer);
SELECT dp_protect('nobody', 'nobody_dp');
SELECT dp_set_odometer('nobody', 'none', NULL);
SELECT tau, epsilon FROM (VALUES (0.95), (0.5), (0)) t (tau), LATERAL find('SELECT count(*) FROM nobody_dp', tau);
SELECT attempt($$SELECT * FROM dp_risk('SELECT count(*) FROM nobody_dp')$$);

-- ---------------------------------------------------------------------------------------------------------------------
-- What is refused
-- ---------------------------------------------------------------------------------------------------------------------

SELECT left(arguments, 90) AS arguments, attempt('CALL dp_find_epsilon(' || arguments || ')') FROM (VALUES
    ($$'SELECT count(*) FROM adult_dp', NULL$$),
    ($$NULL, 0.5$$),
    ($$'SELECT count(*) FROM adult_dp', -0.1$$),
    ($$'SELECT count(*) FROM adult_dp', 1.1$$),
    ($$'SELECT count(*) FROM adult_dp', 'NaN'$$),
    ($$'SELECT count(*) FROM adult_dp', 0.5, mechanism => 'uniform'$$),
    ($$'SELECT count(*) FROM adult_dp', 0.5, mechanism => 'gaussian'$$),
    ($$'SELECT count(*) FROM adult_dp', 0.5, mechanism => 'gaussian', delta => 0$$),
    ($$'SELECT count(*) FROM adult_dp', 0.5, mechanism => 'gaussian', delta => 1$$),
    ($$'SELECT count(*) FROM adult_dp', 0.5, mechanism => 'gaussian', delta => -1e-6$$),
    ($$'SELECT count(*) FROM adult_dp', 0.5, mechanism => 'gaussian', delta => 'NaN'$$),
    ($$'SELECT count(*) FROM adult_dp', 0.5, candidates => '{}'$$),
    ($$'SELECT count(*) FROM adult_dp', 0.5, candidates => '{1,1.0}'$$),
    ($$'SELECT count(*) FROM adult_dp', 0.5, candidates => '{1,NULL}'$$),
    ($$'SELECT count(*) FROM adult_dp', 0.5, candidates => '{0}'$$),
    ($$'SELECT count(*) FROM adult_dp', 0.5, candidates => '{NaN}'$$),
    ($$'SELECT count(*) FROM adult_dp', 0.5, candidates => '{Infinity}'$$),
    ($$'SELECT count(*) FROM adult_dp', 0.5, candidates => '{101}'$$),
    (format($$'SELECT count(*) FROM adult_dp', 0.5, candidates => '%s'$$, (SELECT array_agg(g / 10.0) FROM generate_series(1, 65) g))),
    ($$'SELECT count(*) FROM adult_dp', 0.5, indicator => 'expectation'$$),
    ($$'SELECT education, count(*) FROM adult_dp GROUP BY education', 0.5$$),
    ($$'SELECT sum(age) FROM adult_dp', 0.5$$),
    ($$'SELECT count(*) FROM adult', 0.5$$),
    ($$'SELECT count(*) FROM adult_xy', 0.5$$),
    ($$'SELECT * FROM adult_dp', 0.5$$),
    ($$'DELETE FROM adult', 0.5$$),
    ($$'SELECT count(*) FROM adult_dp; SELECT 1', 0.5$$),
    ($$'', 0.5$$)) t (arguments);

-- Not the controller: nothing is said about the table, whatever the role may ask as an analyst.
SELECT dp_grant('adult_dp', 'regress_analyst', tau => 0.95);
SET ROLE regress_analyst;
SELECT attempt($$CALL dp_find_epsilon('SELECT count(*) FROM adult_dp', 0.5)$$);
SELECT attempt($$SELECT * FROM dp_risk('SELECT count(*) FROM adult_dp')$$);
SELECT attempt($$SELECT * FROM dp_risk_records('SELECT count(*) FROM adult_dp', 1)$$);
SET ROLE regress_stranger;
SELECT attempt($$CALL dp_find_epsilon('SELECT count(*) FROM adult_dp', 0.5)$$);
SELECT attempt($$SELECT * FROM dp_risk('SELECT count(*) FROM adult_dp')$$);
SELECT attempt($$SELECT * FROM dp_risk_records('SELECT count(*) FROM adult_dp', 1)$$);
SELECT attempt($$SELECT * FROM dp_risk('SELECT sum(age) FROM adult_dp')$$);
SET ROLE regress_controller;
SELECT dp_revoke('adult_dp', 'regress_analyst');

-- ---------------------------------------------------------------------------------------------------------------------
-- dp_risk, sound calibration, against the formulas: N(eps) = k / (D sinh(eps/D)) joins every PIS
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE risk AS SELECT p.*, r.* FROM preference p, LATERAL dp_risk(p.query) r WHERE p.m = 1;
SELECT what, count(*) AS candidates, array_agg(epsilon ORDER BY n) = array_agg(epsilon ORDER BY epsilon DESC) AS largest_first,
       bool_and(abs(rdr_min - expected) <= 1e-9 * expected AND abs(noise - expected) <= 1e-9 * expected) AS rdr_min, bool_and(abs(rdr_max - 1 - expected) <= 1e-9) AS rdr_max,
       bool_and(abs(ratio - expected / (1 + expected)) <= 1e-9) AS ratio
FROM (SELECT *, k / (d * sinh(epsilon::float8 / d)) AS expected, row_number() OVER () AS n FROM risk) r
GROUP BY what ORDER BY what COLLATE "C";

-- PIS is 1 for a share f of the people and 0 for the others: the normalised RDRs have the variance f (1 - f) / (1 + N)^2.
SELECT bool_and(abs(variance - f * (1 - f) * (1 - ratio) ^ 2) <= 1e-12) AS variance
FROM risk, (SELECT avg((age > 30)::int)::float8 AS f FROM adult) a WHERE what IN ('count', 'groups', 'average', 'filtered count');

-- Noise of a count: variance 2u/(1-u)^2, u = exp(-eps); half-width h: smallest with 2 u^(h+1)/(1+u) <= 0.05.
SELECT bool_and(abs(noise_stddev - sqrt(2 * u) / (1 - u)) <= 1e-9 * noise_stddev) AS stddev,
       bool_and(2 * u ^ (error95 + 1) / (1 + u) <= 0.05 AND (error95 = 0 OR 2 * u ^ error95 / (1 + u) > 0.05)) AS error95
FROM (SELECT *, exp(-epsilon::float8) AS u FROM risk WHERE what IN ('count', 'groups')) r;
SELECT bool_and(abs(noise_stddev / (99999 * sqrt(2) / epsilon::float8) - 1) < 1e-6) AS stddev,
       bool_and(abs(error95 / (99999 * ln(20) / epsilon::float8) - 1) < 1e-3) AS error95 FROM risk WHERE what = 'sum';

-- Gaussian: ratio = sqrt(k s^2 / (1 + k s^2)), s the deviation of the noise that is drawn.
SELECT bool_and(abs(ratio - sqrt(s2 / (1 + s2))) <= 1e-9) AS ratio, bool_and(abs(rdr_min - sqrt(s2)) <= 1e-9 * rdr_min) AS rdr_min
FROM (SELECT *, noise_stddev ^ 2 AS s2 FROM dp_risk((SELECT query FROM preference WHERE what = 'count'), mechanism => 'gaussian', delta => 1e-5)) r;
SELECT epsilon, round(noise_stddev::numeric, 4) AS stddev, error95
FROM dp_risk('SELECT count(*) FROM adult_dp', '{0.5,10,1}', 'gaussian', 1e-5);

SELECT arguments, attempt($$SELECT * FROM dp_risk('SELECT count(*) FROM adult_dp', $$ || arguments || ')') FROM (VALUES
    ($$'{}'$$), ($$'{0}'$$), ($$'{1,1}'$$), ($$'{NaN}'$$), ($$mechanism => 'gaussian'$$), ($$calibration => 'unsound'$$),
    ($$mechanism => 'exponential'$$), ($$mechanism => 'gaussian', delta => 0$$), ($$mechanism => 'gaussian', delta => 1$$)) t (arguments);
SELECT arguments, attempt($$SELECT * FROM dp_risk_records('SELECT count(*) FROM adult_dp', $$ || arguments || ')') FROM (VALUES
    ($$NULL$$), ($$0$$), ($$'NaN'$$), ($$101$$), ($$1, mechanism => 'gaussian'$$)) t (arguments);

-- ---------------------------------------------------------------------------------------------------------------------
-- dp_risk_records: everybody is in it once, riskiest first, those outside the condition in one row
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE record AS
SELECT q.id, c.calibration, row_number() OVER () AS n, r.*
FROM paper_query q, (VALUES ('sound'), ('published')) c (calibration), LATERAL dp_risk_records(q.query, 0.5, calibration => c.calibration) r;
SELECT id, calibration, sum(individuals) AS individuals,
       count(*) FILTER (WHERE record IS NULL) AS outside_rows, sum(individuals) FILTER (WHERE record IS NULL) AS outside,
       max(pis) FILTER (WHERE record IS NULL) AS their_pis,
       bool_and(pis <= before IS NOT FALSE) AS riskiest_first,
       count(*) FILTER (WHERE record IS NOT NULL) = count(DISTINCT record) AS distinct_records,
       round(max(pis)::numeric, 6) AS max_pis, round(min(pis)::numeric, 6) AS min_pis
FROM (SELECT *, lag(pis) OVER (PARTITION BY id, calibration ORDER BY n) AS before FROM record) r
GROUP BY id, calibration ORDER BY id, calibration DESC;
-- One noise term for all, and the extremes of dp_risk.
SELECT r.id, calibration, r.spread < 1e-9 * r.rdr_max AS one_noise_term, (r.rdr_min, r.rdr_max) = (k.rdr_min, k.rdr_max) AS extremes
FROM (SELECT id, calibration, min(rdr) AS rdr_min, max(rdr) AS rdr_max, max(rdr - pis) - min(rdr - pis) AS spread
      FROM record GROUP BY 1, 2) r
JOIN paper_query q USING (id), LATERAL dp_risk(q.query, '{0.5}', calibration => r.calibration) k
ORDER BY 1, 2 DESC;
-- The columns of a record are those that the query mentions.
SELECT id, record, individuals FROM record WHERE id IN ('Q1', 'Q2') AND calibration = 'sound' AND record IS NOT NULL
    AND individuals = (SELECT max(individuals) FROM record r WHERE r.id = record.id AND r.calibration = 'sound' AND r.record IS NOT NULL);

-- Looking at the risk was free: as many charges as calls of dp_find_epsilon that answered.
SELECT account, releases = (SELECT count(*) FROM dp_rdr.ledger WHERE relation = 'public.adult' AND account = o.account) AS charges
FROM dp_odometer('adult') o;
SELECT dp_verify_ledger('adult') AS adult, dp_verify_ledger('nobody') AS nobody;

SELECT dp_unprotect('nobody_dp');
DROP TABLE found, preference, found_for, nobody, risk, record;
DROP FUNCTION find;
RESET ROLE;

-- ---------------------------------------------------------------------------------------------------------------------
-- What the formulas say of the papers' programs
-- ---------------------------------------------------------------------------------------------------------------------

RESET ROLE;
SET ROLE regress_controller;
-- Q4: leaving out one of those who are averaged moves the average by more than (U - L) over the rows of the table, which is refused.
WITH part AS (SELECT hours_per_week::numeric AS h FROM adult WHERE workclass IN ('Federal-gov', 'Local-gov', 'State-gov')),
     total AS (SELECT sum(h) AS s, count(*) AS n FROM part)
SELECT min(n) AS n, round(max(abs(s / n - (s - h) / (n - 1))), 5) AS moved, round(max(abs(s / n - (s - h) / (n - 1))) * 32561 / 98, 2) AS times FROM part, total;
SELECT regexp_replace(attempt(format('CALL dp_find_epsilon(%L, 0.5, sensitivity => 98.0/32561)', query)), '(0\.\d{5})\d*', '\1', 'g') FROM paper_query WHERE id = 'Q4';
-- A draw of a count that is z off, for tau = k/(k+1): those that pass, by what dp_risk_output shows of them, have the probability e^(-k epsilon)
-- under the law (1-u)/(1+u) u^|z| that is drawn.
CREATE TABLE dozen AS SELECT i AS id FROM generate_series(1, 12) i;
SELECT dp_protect('dozen', 'dozen_dp');
CREATE TABLE off AS
SELECT z, (SELECT min(rdr) / nullif(max(rdr), 0) FROM dp_risk_output('SELECT count(*) FROM dozen_dp WHERE id <= 6', ARRAY[6 + z]::float8[])) AS ratio
FROM generate_series(-60, 60) z;
SELECT k, epsilon, abs(sum((1 - exp(-epsilon)) / (1 + exp(-epsilon)) * exp(-epsilon * abs(z))) - exp(-k * epsilon)) < 1e-9 AS as_said
FROM off, (VALUES (1), (3), (19)) t (k), unnest('{0.5,1,3,10}'::float8[]) epsilon
WHERE coalesce(ratio, 1) >= k / (k + 1.0) - 1e-12 GROUP BY k, epsilon ORDER BY k, epsilon;
SELECT z, round(ratio::numeric, 4) AS ratio FROM off WHERE z BETWEEN -3 AND 3 ORDER BY z;
DROP TABLE off;
RESET ROLE;
