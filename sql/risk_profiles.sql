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

-- Any other rule as a list of adversaries
-- ---------------------------------------------------------------------------------------------------------------------

-- Of the closed kinds they come to no less, and to the same up to the distance of two adversaries.
CREATE TABLE adversary AS SELECT exp(-0.1 * i) AS p, exp(-0.1 * j) AS q FROM generate_series(0, 30) i, generate_series(0, 30) j;
SELECT rule, epsilon >= closed AND epsilon < closed * 1.1 AS close
FROM (SELECT 'both', dp_profile_epsilon(dp_profile('points', p => array_agg(p), q => array_agg(q), r => array_agg(greatest(0.25 / (p * q), 3)))),
             dp_profile_epsilon(dp_profile('both', relative => 3, absolute => 0.25)) FROM adversary
      UNION ALL
      SELECT 'difference', dp_profile_epsilon(dp_profile('points', p => array_agg(p), q => array_agg(q), r => array_agg(1 + 0.2 / (p * q)))),
             dp_profile_epsilon(dp_profile('difference', absolute => 0.2)) FROM adversary) rules (rule, epsilon, closed);
-- The least that is allowed counts, wherever it stands; NULL is nobody.
SELECT dp_profile('points', p => ARRAY(SELECT p FROM unnest('{0.1,0.2,0.5}'::float8[]) p), q => ARRAY(SELECT 1 FROM generate_series(1, 3)),
                  r => ARRAY(SELECT CASE WHEN p < 0.3 THEN greatest(0.25 / p, 1.3) END FROM unnest('{0.1,0.2,0.5}'::float8[]) p)) AS profile;
DROP TABLE adversary;
-- A definition is numbers: nothing in it is evaluated.
SELECT dp_profile_epsilon('{"kind": "expression", "expression": "(SELECT 3)"}');
SELECT dp_profile_epsilon('{"kind": "constant", "relative": 3, "expression": "(SELECT 3)"}');

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
SELECT epsilon, noise_stddev, p_exact FROM dp_profile_utility(ARRAY[dp_profile('points', p => '{0.4}', q => '{1}', r => '{NULL}')], 'SELECT count(*) FROM ward_dp');
SELECT dp_profile_utility('{}', 'SELECT CASE WHEN id > 0 THEN age END, count(*) FROM ward_dp GROUP BY 1'); -- groups that nobody declared need a delta
SET ROLE regress_stranger;
SELECT dp_profile_utility('{}', 'SELECT count(*) FROM ward_dp');
RESET ROLE;
