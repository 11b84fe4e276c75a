-- Risk profiles that bind: shares of roles, totals of tables, and what they do not go with.

LOAD 'dp_rdr';
\pset null '-'
SET ROLE regress_controller;
CREATE TABLE clinic AS SELECT id, 20 + id % 60 AS age, id % 3 AS room FROM generate_series(1, 300) id;
SELECT dp_protect('clinic', 'clinic_dp'), dp_protect('clinic', 'clinic_second_dp');
SELECT dp_set_bounds('clinic', 'age', 0, 100), dp_set_groups('clinic', 'room', '{0,1,2}');
RESET ROLE;
CREATE VIEW clinic_policies AS SELECT view, grantee, tau, tau_var, selection, epsilon_max, epsilon_total, profile FROM dp_rdr.policy
WHERE view::text LIKE 'clinic%' ORDER BY view::text, grantee::text;
GRANT SELECT ON clinic_policies TO regress_controller;
SET ROLE regress_controller;
CREATE VIEW clinic_charges AS SELECT role_name, kind, algorithm, epsilon, epsilon_worst, delta, parameters - 'measures' - 'declared' AS parameters, guarantee, basis
FROM dp_rdr.ledger WHERE relation = 'public.clinic' ORDER BY id;

-- ---------------------------------------------------------------------------------------------------------------------
-- A policy that is its profile: no tau, a share
-- ---------------------------------------------------------------------------------------------------------------------

SELECT dp_set_odometer('clinic', epsilon_total => 5);
SELECT dp_grant('clinic_dp', 'regress_analyst', profile => dp_profile('constant', relative => 3));
SELECT dp_grant('clinic_dp', 'regress_analyst', profile => '{"kind": "constant", "relative": 3, "epsilon": 99}', epsilon_max => 0.3); -- recomputed
SELECT * FROM clinic_policies;
SET ROLE regress_analyst;
-- The largest candidate up to epsilon_max, or what is asked for; and no more than the share of 0.549306144 in all.
SELECT accepted, reason, epsilon, error95 FROM dp_explain('SELECT count(*) FROM clinic_dp');
SELECT count(*) BETWEEN -10 AND 700 FROM clinic_dp;
SELECT n IS NOT NULL FROM dp_query('SELECT count(*) FROM clinic_dp', epsilon => 0.2) AS (n bigint);
SELECT count(*) FROM clinic_dp;
SELECT * FROM dp_query('SELECT count(*) FROM clinic_dp', epsilon => 0.049306145) AS (n bigint);
SELECT n IS NOT NULL FROM dp_query('SELECT count(*) FROM clinic_dp', epsilon => 0.049306144) AS (n bigint);
SELECT accepted, reason, epsilon FROM dp_explain('SELECT count(*) FROM clinic_dp');
SET ROLE regress_controller;
SELECT * FROM clinic_charges;
SELECT account, epsilon, delta, epsilon_total FROM dp_odometer('clinic');
SELECT dp_verify_ledger('clinic');

-- Beside tau it caps the share only. The smaller of the two shares binds.
SELECT dp_grant('clinic_dp', 'regress_second', tau => 0.5, profile => dp_profile('constant', relative => 3));
SELECT dp_grant('clinic_dp', 'regress_second', epsilon_total => 0.1); -- keeps the profile
SELECT * FROM clinic_policies WHERE grantee = 'regress_second'::regrole;
SET ROLE regress_second;
SELECT * FROM dp_query('SELECT count(*) FROM clinic_dp', epsilon => 0.11) AS (n bigint);
SELECT n IS NOT NULL FROM dp_query('SELECT count(*) FROM clinic_dp', epsilon => 0.1) AS (n bigint);
SET ROLE regress_controller;
SELECT dp_grant('clinic_dp', 'regress_second', epsilon_total => 'Infinity');
SET ROLE regress_second;
SELECT * FROM dp_query('SELECT count(*) FROM clinic_dp', epsilon => 0.45) AS (n bigint);
SELECT n IS NOT NULL FROM dp_query('SELECT count(*) FROM clinic_dp', epsilon => 0.449306144) AS (n bigint);
SET ROLE regress_controller;

-- Setters: what goes with what.
SELECT dp_grant('clinic_dp', 'regress_second', selection => 'profile');
SELECT tau, tau_var, selection, profile IS NOT NULL AS profile FROM clinic_policies WHERE grantee = 'regress_second'::regrole;
SELECT dp_grant('clinic_dp', 'regress_second', profile => '{}');           -- nothing would be left
SELECT dp_grant('clinic_dp', 'regress_second', tau => 0.5);                -- beside it again
SELECT tau, tau_var, selection, profile IS NOT NULL AS profile FROM clinic_policies WHERE grantee = 'regress_second'::regrole;
SELECT dp_grant('clinic_dp', 'regress_second', tau_var => 0.2);
SELECT tau, tau_var, selection, profile IS NOT NULL AS profile FROM clinic_policies WHERE grantee = 'regress_second'::regrole;
SELECT dp_grant('clinic_dp', 'regress_second', profile => '{}');
SELECT tau, tau_var, selection, profile IS NOT NULL AS profile FROM clinic_policies WHERE grantee = 'regress_second'::regrole;
SELECT dp_grant('clinic_dp', 'regress_second', selection => 'profile');    -- needs one
SELECT dp_grant('clinic_dp', 'regress_second', selection => 'profile', tau => 0.5, profile => dp_profile('constant', relative => 3));
SELECT dp_grant('clinic_dp', 'regress_member', selection => 'within_domain', profile => dp_profile('constant', relative => 3));
SELECT dp_grant('clinic_dp', 'regress_member', profile => '{}');
SELECT dp_grant('clinic_dp', 'regress_member', profile => dp_profile('points', p => '{0.4}', q => '{1}', r => '{3}')); -- constrains nothing
SELECT dp_grant('clinic_dp', 'regress_member', profile => '{"kind": "constant"}');

-- ---------------------------------------------------------------------------------------------------------------------
-- Pure epsilon alone, on all views of the table, in either order
-- ---------------------------------------------------------------------------------------------------------------------

SELECT dp_grant('clinic_dp', 'regress_member', mechanism => 'gaussian', delta => 1e-6, profile => dp_profile('constant', relative => 3));
SELECT dp_grant('clinic_dp', 'regress_member', delta => 1e-6, profile => dp_profile('constant', relative => 3));
SELECT dp_grant('clinic_dp', 'regress_member', tau => 0.9, selection => 'within_data', profile => dp_profile('constant', relative => 3));
SELECT dp_grant('clinic_dp', 'regress_analyst', mechanism => 'gaussian', delta => 1e-6);
\set VERBOSITY terse
SELECT dp_set_odometer('clinic', delta_total => 1e-4);
SELECT dp_grant('clinic_second_dp', 'regress_analyst', tau => 0.9, mechanism => 'gaussian', delta => 1e-6);
SELECT dp_grant('clinic_second_dp', 'regress_analyst', tau => 0.9, delta => 1e-6);
SELECT dp_grant('clinic_second_dp', 'regress_analyst', tau => 0.9, selection => 'within_data');
SELECT dp_grant('clinic_second_dp', 'regress_analyst', tau => 0.9); -- has the profile, too, and the one sum
SET ROLE regress_analyst;
SELECT count(*) FROM clinic_second_dp;
SET ROLE regress_controller;
\set VERBOSITY default
SELECT dp_grant('clinic_second_dp', 'regress_analyst', profile => dp_profile('constant', relative => 3.1));
SELECT view, tau, profile FROM clinic_policies WHERE grantee = 'regress_analyst'::regrole;
SELECT dp_grant('clinic_second_dp', 'regress_analyst', profile => '{}');
SELECT dp_grant('clinic_dp', 'regress_analyst', tau => 0.5), dp_grant('clinic_second_dp', 'regress_analyst', profile => '{}');
SELECT dp_grant('clinic_dp', 'regress_analyst', selection => 'profile', profile => dp_profile('constant', relative => 3));
\set VERBOSITY terse
SELECT dp_grant('clinic_second_dp', 'regress_member', tau => 0.9, mechanism => 'gaussian', delta => 1e-6);
SELECT dp_grant('clinic_dp', 'regress_member', profile => dp_profile('constant', relative => 3));
-- zcdp charges Laplace noise in rho, but for what has an epsilon_pure.
SELECT dp_set_odometer('clinic', 'zcdp');
SELECT dp_set_odometer('clinic', 'zcdp', epsilon_pure => 1);
SELECT dp_set_odometer('clinic', epsilon_pure => 0);
SET ROLE regress_analyst;
SELECT count(*) FROM clinic_dp; -- the share goes on
SET ROLE regress_controller;
SELECT dp_revoke('clinic_second_dp', 'regress_analyst'), dp_revoke('clinic_dp', 'regress_analyst');
SELECT dp_set_odometer('clinic', epsilon_pure => 0);
SELECT dp_grant('clinic_dp', 'regress_analyst', profile => dp_profile('constant', relative => 3));
SELECT dp_set_odometer('clinic', 'filter');
-- A history of another kind: a delta, rho, an epsilon from the data.
SET ROLE regress_member;
SELECT count(*) BETWEEN -1000 AND 1000 FROM clinic_second_dp;
SET ROLE regress_controller;
SELECT dp_revoke('clinic_second_dp', 'regress_member');
SELECT dp_grant('clinic_dp', 'regress_member', profile => dp_profile('constant', relative => 3));
CREATE TABLE annex AS TABLE clinic;
SELECT dp_protect('annex', 'annex_dp');
SELECT dp_set_odometer('annex', 'zcdp', 1, 1e-6), dp_grant('annex_dp', 'regress_analyst', tau => 0.9), dp_grant('annex_dp', 'regress_second', tau => 0.9, selection => 'within_data', epsilon_max => 0.01);
SET ROLE regress_analyst;
SELECT count(*) BETWEEN -1000 AND 1000 FROM annex_dp;
SET ROLE regress_second;
SELECT count(*) IS NOT NULL FROM annex_dp; -- noise of a hundred and more
SET ROLE regress_controller;
SELECT dp_set_odometer('annex', 'filter', 3, 0);
SELECT dp_grant('annex_dp', 'regress_analyst', profile => dp_profile('constant', relative => 3));
SELECT dp_grant('annex_dp', 'regress_second', selection => 'within_domain', profile => dp_profile('constant', relative => 3));
SELECT dp_grant('annex_dp', 'regress_member', profile => dp_profile('constant', relative => 3));

-- Under the policies of other roles, too: what was answered under them is looked at, what will be is not counted.
CREATE TABLE porch AS TABLE clinic;
SELECT dp_protect('porch', 'porch_dp'), dp_protect('porch', 'porch_second_dp'), dp_protect('porch', 'porch_third_dp');
SELECT dp_set_odometer('porch', epsilon_total => 9, delta_total => 1e-4), dp_grant('porch_second_dp', 'regress_team', tau => 0.9, epsilon_max => 0.1);
\set VERBOSITY default
SELECT dp_grant('porch_dp', 'regress_member', profile => dp_profile('constant', relative => 3), epsilon_max => 0.1);
\set VERBOSITY terse
SELECT dp_grant('porch_dp', 'regress_member', profile => '{}', tau => 0.9), dp_grant('porch_third_dp', 'regress_team', tau => 0.9, mechanism => 'gaussian', delta => 1e-6);
SET ROLE regress_member;
SELECT count(*) BETWEEN -1000 AND 1000 FROM porch_third_dp;
SET ROLE regress_controller;
SELECT dp_grant('porch_dp', 'regress_member', profile => dp_profile('constant', relative => 3));
SELECT dp_grant('porch_dp', 'regress_analyst', profile => dp_profile('constant', relative => 3), epsilon_max => 0.4); -- has had none
SELECT dp_grant('porch_dp', 'regress_analyst', epsilon_max => 0.5);

-- ---------------------------------------------------------------------------------------------------------------------
-- A total
-- ---------------------------------------------------------------------------------------------------------------------

SELECT dp_revoke('annex_dp', 'regress_second');
SELECT dp_set_odometer('annex', profile => dp_profile('constant', relative => 9)); -- the epoch's end will have a delta
SELECT dp_set_odometer('clinic', profile => dp_profile('constant', relative => 9), delta_total => 0); -- there was one
CREATE TABLE hospice AS TABLE clinic;
SELECT dp_protect('hospice', 'hospice_dp');
\set VERBOSITY default
SELECT dp_set_odometer('hospice', profile => dp_profile('inclusion', relative => 3, absolute => 0.25)); -- 1.299, above epsilon_total 1
SELECT dp_set_odometer('hospice', profile => dp_profile('constant', relative => 3));                    -- 0.549, below it
SELECT dp_set_odometer('hospice', 'zcdp', delta_total => 1e-6);
SELECT dp_set_odometer('hospice', 'none');
SELECT dp_set_odometer('hospice', delta_total => 1e-6);
SELECT dp_set_odometer('hospice', epsilon_total => 0.5);
SELECT dp_set_odometer('hospice', epsilon_total => 0.6);
SELECT dp_set_odometer('hospice', profile => '{"kind": "points", "p": [0.4], "q": [1], "r": [3]}');
\set VERBOSITY terse
SELECT dp_set_odometer('hospice', epsilon_total => 'Infinity');
SELECT account, bound, epsilon_total, epsilon_claim, delta_claim FROM dp_odometer('hospice');
SELECT dp_grant('hospice_dp', 'regress_analyst', tau => 0.1);
SET ROLE regress_analyst;
SELECT n IS NOT NULL FROM dp_query('SELECT count(*) FROM hospice_dp', epsilon => 0.5) AS (n bigint);
SELECT * FROM dp_query('SELECT count(*) FROM hospice_dp', epsilon => 0.05) AS (n bigint);
SELECT accepted, reason FROM dp_explain('SELECT count(*) FROM hospice_dp');
SET ROLE regress_controller;
-- History counts in the total.
SELECT dp_set_odometer('hospice', profile => dp_profile('constant', relative => 1.5));
SELECT dp_set_odometer('hospice', 'dynamic');
SELECT count(*) AS no_total FROM dp_audit() WHERE finding LIKE '%dynamic%' AND object = 'hospice'; -- the profile's is one
SELECT dp_set_odometer('hospice', 'filter', profile => '{}'); -- no total would be left
SELECT dp_set_odometer('hospice', 'filter', 1, profile => '{}');
SELECT account, bound, epsilon, epsilon_total, epsilon_claim FROM dp_odometer('hospice');

SET ROLE regress_controller;
SELECT dp_set_odometer('hospice', profile => dp_profile('both', relative => 3, absolute => 0.25));
SELECT account, epsilon_total FROM dp_odometer('hospice');
-- Beside it no epsilon is chosen from the data, in either order.
\set VERBOSITY default
SELECT dp_grant('hospice_dp', 'regress_second', tau => 0.9, selection => 'within_data');
SELECT dp_set_odometer('hospice', epsilon_total => 9, profile => '{}'), dp_grant('hospice_dp', 'regress_second', tau => 0.9, selection => 'within_data');
SELECT dp_set_odometer('hospice', profile => dp_profile('constant', relative => 9));
\set VERBOSITY terse
SELECT dp_grant('hospice_dp', 'regress_second', selection => 'within_domain'), dp_set_odometer('hospice', profile => dp_profile('constant', relative => 9));
SELECT dp_grant('hospice_dp', 'regress_second', profile => dp_profile('constant', relative => 3), epsilon_max => 0.4);
RESET ROLE;
SELECT bound, epsilon_total, profile FROM dp_rdr.protected_table JOIN dp_rdr.privacy_domain ON id = domain WHERE relation = 'hospice'::regclass;

-- ---------------------------------------------------------------------------------------------------------------------
-- A profile that stands alone answers: without an epsilon_max one answer costs a tenth of what it allows, or the smallest candidate
-- ---------------------------------------------------------------------------------------------------------------------

RESET ROLE;
SET ROLE regress_controller;
CREATE TABLE lodge AS TABLE clinic;
SELECT dp_protect('lodge', 'lodge_dp'), dp_protect('lodge', 'lodge_second_dp'), dp_set_odometer('lodge', epsilon_total => 20);
\set VERBOSITY default
SELECT dp_grant('lodge_dp', 'regress_analyst', profile => dp_profile('constant', relative => 3));       -- allows ln(3)/2
SELECT dp_grant('lodge_dp', 'regress_second', profile => dp_profile('constant', relative => 1.01));      -- allows 0.004975165
SELECT dp_grant('lodge_dp', 'regress_member', profile => dp_profile('constant', relative => 3), candidates => '{0.3,0.2}');
SELECT dp_grant('lodge_second_dp', 'regress_stranger', profile => dp_profile('constant', relative => 1e9)); -- 1 at most
SELECT dp_grant('lodge_dp', 'regress_team', tau => 0.5);
RESET ROLE;
SELECT p.grantee, p.epsilon_max FROM dp_rdr.policy p WHERE p.view::text LIKE 'lodge%' ORDER BY p.grantee::text;
SELECT p.grantee, p.epsilon_max = greatest(least(1, trunc((p.profile ->> 'epsilon')::numeric / 10, 9)), coalesce((SELECT min(c) FROM unnest(p.candidates) c), 0.001)) AS as_said
FROM dp_rdr.policy p WHERE p.view::text LIKE 'lodge%' AND p.profile IS NOT NULL ORDER BY p.grantee::text;
SET ROLE regress_analyst;
SELECT count(*) IS NOT NULL AS answered FROM lodge_dp;
SELECT epsilon FROM dp_last_release();
SET ROLE regress_second;
SELECT count(*) IS NOT NULL AS answered FROM lodge_dp;
SELECT epsilon FROM dp_last_release();
SET ROLE regress_member;
SELECT count(*) IS NOT NULL AS answered FROM lodge_dp;
SELECT epsilon FROM dp_last_release();
RESET ROLE;
