-- Risk profiles: what they allow, what an epsilon means, what is refused (doc/formulas.md 7).

LOAD 'dp_rdr';
\pset null '-'
\set VERBOSITY default
SET extra_float_digits = -6; -- nine digits

-- ---------------------------------------------------------------------------------------------------------------------
-- The paper's numbers
-- ---------------------------------------------------------------------------------------------------------------------

-- Table 1: posteriors up to 0.25, or up to r times the prior; and the constant profile beside it.
SELECT r, dp_profile_epsilon(dp_profile('inclusion', relative => r, absolute => 0.25)) AS inclusion,
       dp_profile_epsilon(dp_profile('constant', relative => r)) AS constant
FROM unnest('{1.5,3,6}'::float8[]) r;
SELECT round(u.noise_stddev::numeric, 3) AS stddev, u.error95, round(100 * u.p_exact::numeric, 1) AS percent_exact
FROM dp_profile_utility(ARRAY(SELECT dp_profile('inclusion', relative => r, absolute => 0.25) FROM unnest('{1.5,3,6}'::float8[]) r)) u;
-- Durham: RMSE 0.5303, and which of two counts that differ by one comes out as the larger.
SELECT u.profile ->> 'absolute' AS absolute, u.epsilon, round(u.noise_stddev::numeric, 4) AS rmse, u.distance,
       round(u.p_switch::numeric, 4) AS p_switch
FROM dp_profile_utility(ARRAY[dp_profile('inclusion', relative => 5, absolute => 0.5),
                              dp_profile('inclusion', relative => 5, absolute => 0.25)], distances => '{0,1,1.9,2,10}') u;

-- All kinds. The epsilon in a profile is shown, and never read.
SELECT dp_profile(kind, relative => 3) FROM unnest('{constant,inclusion,value,both}'::text[]) kind;
SELECT dp_profile('inclusion', relative => 1.2, absolute => 0.25, prior => 0.1), dp_profile('value', relative => 3, absolute => 0.1, prior => 0.05);
SELECT dp_profile('both', relative => 3, absolute => 0.25), dp_profile('difference', absolute => 0.2);
SELECT dp_profile('points', p => '{0.1,0.5,0.4}', q => '{1,1,1}', r => '{3,1.5,NULL}');
SELECT dp_profile('points', p => '{0.4}', q => '{1}', r => '{3}'); -- 3 times 0.4 is more than 1: no constraint
SELECT dp_profile_epsilon(dp_profile('points', p => '{0.4}', q => '{1}', r => '{3}'));
SELECT dp_profile_epsilon('{"kind": "constant", "relative": 3, "epsilon": 99}');
SELECT dp_profile_epsilon('{"kind": "constant", "relative": 3, "epsilon": "none"}');
SELECT dp_profile_epsilon('{"kind": "inclusion", "relative": 3, "prior": null}');

-- Against whom it binds; posterior_at is what its epsilon comes to, never above what is allowed.
SELECT * FROM dp_risk_profile(dp_profile('inclusion', relative => 3, absolute => 0.25));
SELECT * FROM dp_risk_profile(dp_profile('value', relative => 3, absolute => 0.1, prior => 0.5), '{0.01,0.5}');
SELECT * FROM dp_risk_profile(dp_profile('constant', relative => 3), '{0.1,1}'); -- ever rarer values of somebody who is there
SELECT * FROM dp_risk_profile(dp_profile('difference', absolute => 0.2), '{0.4,1}');
SELECT * FROM dp_risk_profile(dp_profile('points', p => '{0.5,0.1,0.4}', q => '{1,1,1}', r => '{1.5,3,NULL}'));
SELECT count(*), count(*) FILTER (WHERE posterior_at > posterior * (1 + 1e-12)) AS above
FROM unnest(ARRAY[dp_profile('both', relative => 3, absolute => 0.25), dp_profile('constant', relative => 2),
                  dp_profile('value', relative => 1.5, absolute => 0.3, prior => 0.2), dp_profile('difference', absolute => 0.1)]) profile,
     dp_risk_profile(profile);

-- What an epsilon means.
SELECT * FROM dp_epsilon_meaning(1);
SELECT * FROM dp_epsilon_meaning(0.5, '{0.1}', '{0.01,1}');
SELECT abs(posterior_max - 0.6339745962155613) < 1e-12 AS as_defined FROM dp_epsilon_meaning(ln(3)/2, '{0.5}'); -- sqrt(3)/(1 + sqrt(3))
SELECT * FROM dp_epsilon_meaning('Infinity', '{0.1}', '{1}');
SELECT * FROM dp_epsilon_meaning(0, '{0.1}', '{0.5}');

-- What totals in rho buy, and mean. Half of delta, as a table has it by default, buys less.
SELECT * FROM dp_plan();
SELECT preset, counts, averages, error95, error95_rows, recognised FROM dp_plan(0.5e-6, 40);
SELECT p.preset, p.posterior10 - m.posterior_max BETWEEN 0 AND 0.001 AS as_it_means
FROM dp_plan() p, dp_epsilon_meaning(p.epsilon_total::float8, '{0.1}') m;

-- ---------------------------------------------------------------------------------------------------------------------
-- Expressions
-- ---------------------------------------------------------------------------------------------------------------------

-- Of the closed kinds they come to the same, up to the grid.
SELECT abs(dp_profile_epsilon(dp_profile('expression', expression => 'greatest(0.25/(p*q), 3)'))
           - dp_profile_epsilon(dp_profile('both', relative => 3, absolute => 0.25))) < 2e-5 AS both,
       abs(dp_profile_epsilon(dp_profile('expression', expression => '1 + 0.2/(p*q)'))
           - dp_profile_epsilon(dp_profile('difference', absolute => 0.2))) < 2e-5 AS difference,
       abs(dp_profile_epsilon(dp_profile('expression', expression => 'CASE q WHEN 1 THEN greatest(0.25/p, 3) END'))
           - dp_profile_epsilon(dp_profile('inclusion', relative => 3, absolute => 0.25))) < 2e-5 AS inclusion;
-- A hundred thousandth is taken off: what the search misses by errs on the safe side.
SELECT bool_and(dp_profile_epsilon(dp_profile('expression', expression => r::text)) < dp_profile_epsilon(dp_profile('constant', relative => r))) AS safe
FROM unnest('{1.001,2,3,10,30}'::float8[]) r;
-- Somebody who is nearly certain has lines of his own.
SELECT dp_profile('expression', expression => 'CASE WHEN p > 0.9999 AND p < 1 AND q > 0.9999 AND q < 1 THEN 1.00001 ELSE 8 END') ->> 'epsilon' AS nearly_certain;
-- A jump that is never looked at is refused.
SELECT dp_profile('expression', expression => '3', p => '{8.4e-7}') ->> 'epsilon' AS smallest;
SELECT dp_profile('expression', expression => '3', p => '{0.1,8e-7}');
SELECT dp_profile('expression', expression => '3', q => '{1e-300}');
-- A jump has a line on either side of it. Declared for one prior too many, it changes nothing.
SELECT dp_profile('expression', expression => 'CASE WHEN p <= 0.01234 AND p > 0.01233 AND q = 1 THEN 1.5 ELSE 8 END') ->> 'epsilon' AS missed,
       dp_profile('expression', expression => 'CASE WHEN p <= 0.01234 AND p > 0.01233 AND q = 1 THEN 1.5 ELSE 8 END', p => '{0.01234}') ->> 'epsilon' AS found,
       dp_profile('expression', expression => 'CASE WHEN p < 0.1 THEN 3 ELSE 5 END', p => '{0.1}', q => '{0.5}') ->> 'epsilon' AS below_a_jump;
SELECT * FROM dp_risk_profile(dp_profile('expression', expression => 'CASE WHEN q > 0.5 THEN 2 + sqrt(p) END', q => '{0.5}'), '{0.1,0.5,1}');
SELECT dp_profile('expression', expression => 'NULL::float8') AS nobody_is_considered;
-- 200 operators on five grids, and the grids have an end.
SET statement_timeout = '1min';
SELECT dp_profile_epsilon(dp_profile('expression', expression => '3 + ' || repeat('(p-p)+', 48) || '0')) > 0 AS answered;
RESET statement_timeout;

-- It is arithmetic: nothing is looked up, locked, slept or changed, whoever wrote the profile.
\set VERBOSITY terse
CREATE FUNCTION public.abs(float8) RETURNS float8 LANGUAGE sql IMMUTABLE AS 'SELECT 1/0.0::float8'; -- not the one that is meant
SET search_path = public, pg_catalog;
SELECT dp_profile_epsilon(dp_profile('expression', expression => 'abs(-3::float8)'));
SELECT e AS expression, attempt(format('SELECT dp_profile_epsilon(%L)', jsonb_build_object('kind', 'expression', 'expression', e)))
FROM unnest(ARRAY['(SELECT 3)', 'EXISTS (SELECT FROM pg_class)', '3 + (SELECT count(*) FROM paper_query)', 'p = ANY (SELECT 3)',
    'random()', 'now()', 'pg_sleep(1)', 'pg_backend_pid()', 'nextval(''x'')', 'pg_advisory_lock(1)', 'setseed(p)', 'lo_unlink(1)',
    'public.abs(p)', 'public.attempt(''x'')', 'p OPERATOR(public.+) q', '''a''::public.colour', 'regress_user.f(p)', 'dp_rdr.abs(1)',
    'length(''abc'')', '''3''::text::float8', 'repeat(''3'', 9)::float8', 'to_number(''3'', ''9'')', '''{3}''::float8[]', '(ARRAY[3,4])[1]',
    'ROW(p, q)', 'generate_series(1, 3)', 'sum(p)', 'row_number() OVER ()', 'factorial(20)', '9.9::numeric ^ 99999', 'exp(0.5)', 'x', 't.p', 'p.q',
    '$1', '*', 'p > q', 'true', '''3''', '3 FROM pg_class', '3; SELECT 4', '3, 4', '3 AS r', '', '3)', 'DISTINCT 3', '1/(p - 1)', '''NaN''::float8',
    '0.5', '-p', '1', '3 --', 'p IN (0.1, 0.2)', 'current_user', '3 COLLATE "C"', 'now()::date - now()::date', 'inet_server_port()',
    'CASE WHEN p > 0.5 THEN 3 ELSE random() END', 'exp(0.5::float8) * 2', 'nullif(3, q)', '3 IS DISTINCT FROM p']) e;
SELECT attempt(format('SELECT dp_profile(%L, expression => %L)', 'expression', '3' || repeat(' + p', 200)));
SELECT attempt(format('SELECT dp_profile(%L, expression => %L)', 'expression', '3' || repeat(' ', 66000)));
-- Numbers of many digits, however they are spelled.
SELECT attempt(format('SELECT dp_profile(%L, expression => %L)', 'expression', e))
FROM unnest(ARRAY['3.' || repeat('1', 39), '3.' || repeat('1', 40), '3 + 1e-5000 * p', 'p * 1e130000', '3 + p * ''1e-50''::float8']) e;
RESET search_path;
DROP FUNCTION public.abs(float8);
-- Of a syntax error the place in the expression is shown.
\set VERBOSITY default
SELECT dp_profile('expression', expression => 'greatest(3 4)');
\set VERBOSITY terse
-- As its caller, with his rights.
BEGIN;
REVOKE EXECUTE ON FUNCTION pg_catalog.dsqrt(float8) FROM PUBLIC;
SET LOCAL ROLE regress_stranger;
SELECT dp_profile('expression', expression => '2 + dsqrt(p)');
ROLLBACK;

-- ---------------------------------------------------------------------------------------------------------------------
-- Refused
-- ---------------------------------------------------------------------------------------------------------------------

\set VERBOSITY default
SELECT dp_profile('sometimes', relative => 3);
SELECT dp_profile('constant');
SELECT dp_profile('constant', relative => 3, absolute => 0.1);
SELECT dp_profile('inclusion', relative => 1);
SELECT dp_profile('inclusion', relative => 3, absolute => 1);
SELECT dp_profile('inclusion', relative => 3, prior => 0);
SELECT dp_profile('difference', absolute => 0);
SELECT dp_profile('points', p => '{0.1,0.2}', q => '{1}', r => '{3,3}');
SELECT dp_profile('points', p => '{0.1}', q => '{1}', r => '{0.9}');
SELECT dp_profile('points', p => '{0.1}', q => '{1}', r => '{NaN}');
SELECT dp_profile('points', p => '{0}', q => '{1}', r => '{3}');
SELECT dp_profile('points', p => '{{0.1}}', q => '{1}', r => '{3}');
SELECT dp_profile('constant', relative => 1 + 1e-12);
SELECT dp_profile_epsilon('{"kind": "constant", "relatif": 3}');
\set VERBOSITY terse
SELECT s, attempt(s) FROM unnest(ARRAY[
    $$SELECT dp_profile(NULL)$$, $$SELECT dp_profile('constant', relative => 'NaN')$$, $$SELECT dp_profile('constant', relative => 'Infinity')$$,
    $$SELECT dp_profile('constant', relative => -3)$$, $$SELECT dp_profile('both', relative => 3, absolute => -0.1)$$,
    $$SELECT dp_profile('both', relative => 3, absolute => 'NaN')$$, $$SELECT dp_profile('both', relative => 3, prior => 0.1)$$,
    $$SELECT dp_profile('value', relative => 3, prior => 1.1)$$, $$SELECT dp_profile('value', relative => 3, prior => 'NaN')$$,
    $$SELECT dp_profile('difference', relative => 3)$$, $$SELECT dp_profile('points', p => '{0.1}', q => '{1}')$$,
    $$SELECT dp_profile('points', p => '{NULL}', q => '{1}', r => '{3}')$$, $$SELECT dp_profile('points', p => '{1.5}', q => '{1}', r => '{3}')$$,
    $$SELECT dp_profile('points', p => '{0.1}', q => '{1}', r => '{Infinity}')$$, $$SELECT dp_profile('points', p => '{}', q => '{}', r => '{}')$$,
    $$SELECT dp_profile('expression')$$, $$SELECT dp_profile('expression', expression => '3', r => '{3}')$$,
    $$SELECT dp_profile('expression', expression => '3', p => '{2}')$$,
    $$SELECT dp_profile('points', p => array_fill(0.1::float8, '{1001}'), q => array_fill(1::float8, '{1001}'), r => array_fill(3::float8, '{1001}'))$$,
    $$SELECT dp_profile_epsilon(NULL)$$, $$SELECT dp_profile_epsilon('{}')$$, $$SELECT dp_profile_epsilon('[3]')$$, $$SELECT dp_profile_epsilon('3')$$,
    $$SELECT dp_profile_epsilon('{"kind": 3}')$$, $$SELECT dp_profile_epsilon('{"kind": "constant", "relative": "3"}')$$,
    $$SELECT dp_profile_epsilon('{"kind": "constant", "relative": 1e999}')$$, $$SELECT dp_profile_epsilon('{"kind": "points", "p": 0.1, "q": [1], "r": [3]}')$$,
    $$SELECT dp_profile_epsilon('{"kind": "points", "p": [[0.1]], "q": [1], "r": [3]}')$$,
    $$SELECT dp_profile_epsilon(jsonb_build_object('kind', 'points', 'p', array_fill('x'::text, '{1001}'), 'q', '{1}'::float8[], 'r', '{3}'::float8[]))$$,
    $$SELECT * FROM dp_profile_utility(array_fill('{"kind": "constant", "relative": 3}'::jsonb, '{101}'))$$,
    $$SELECT * FROM dp_risk_profile(NULL)$$, $$SELECT * FROM dp_risk_profile('{"kind": "constant", "relative": 3}', NULL)$$,
    $$SELECT * FROM dp_risk_profile('{"kind": "constant", "relative": 3}', '{0}')$$,
    $$SELECT * FROM dp_risk_profile('{"kind": "constant", "relative": 3}', '{NULL}')$$,
    $$SELECT * FROM dp_epsilon_meaning(NULL)$$, $$SELECT * FROM dp_epsilon_meaning(-1)$$, $$SELECT * FROM dp_epsilon_meaning('NaN')$$,
    $$SELECT * FROM dp_plan(0)$$, $$SELECT * FROM dp_plan(1)$$, $$SELECT * FROM dp_plan('NaN')$$, $$SELECT * FROM dp_plan(NULL)$$,
    $$SELECT * FROM dp_plan(1e-30)$$, $$SELECT * FROM dp_plan(max_rows => 0)$$, $$SELECT * FROM dp_plan(max_rows => 1048577)$$, $$SELECT * FROM dp_plan(max_rows => NULL)$$,
    $$SELECT * FROM dp_epsilon_meaning(1, '{2}')$$, $$SELECT * FROM dp_epsilon_meaning(1, q => '{NULL}')$$,
    $$SELECT * FROM dp_profile_utility(NULL)$$, $$SELECT * FROM dp_profile_utility(ARRAY[NULL::jsonb])$$,
    $$SELECT * FROM dp_profile_utility('{}', distances => '{-1}')$$, $$SELECT * FROM dp_profile_utility('{}', distances => '{Infinity}')$$]) s;

-- ---------------------------------------------------------------------------------------------------------------------
-- The noise of a query, for its owner and for who has a policy
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_controller;
CREATE TABLE ward AS SELECT id, 20 + id % 60 AS age, id % 3 AS room FROM generate_series(1, 200) id;
SELECT dp_protect('ward', 'ward_dp');
SELECT dp_set_bounds('ward', 'age', 0, 100), dp_set_groups('ward', 'room', '{0,1,2}'), dp_grant('ward_dp', 'regress_analyst', tau => 0.9);
SET ROLE regress_analyst;
SELECT round(noise_stddev::numeric, 6) AS stddev, error95, round(p_exact::numeric, 6) AS p_exact, distance, round(p_switch::numeric, 6) AS p_switch
FROM unnest(ARRAY['SELECT count(*) FROM ward_dp', 'SELECT count(*), count(age) FROM ward_dp', 'SELECT sum(age) FROM ward_dp', 'SELECT avg(age) FROM ward_dp',
                  'SELECT room, count(*) FROM ward_dp GROUP BY room']) query,
     dp_profile_utility(ARRAY[dp_profile('inclusion', relative => 3, absolute => 0.25)], query, '{1,5}') ORDER BY query COLLATE "C", distance;
SELECT epsilon, noise_stddev, p_exact FROM dp_profile_utility(ARRAY[dp_profile('expression', expression => 'NULL')], 'SELECT count(*) FROM ward_dp');
SELECT dp_profile_utility('{}', 'SELECT CASE WHEN id > 0 THEN age END, count(*) FROM ward_dp GROUP BY 1'); -- groups that nobody declared need a delta
SET ROLE regress_stranger;
SELECT dp_profile_utility('{}', 'SELECT count(*) FROM ward_dp');
RESET ROLE;
