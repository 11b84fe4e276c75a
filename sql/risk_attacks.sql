-- dp_attack_risk: what the answers so far can tell an attacker (doc/formulas.md 7.4); posterior50 and advantage_max of one answer.

LOAD 'dp_rdr';
\pset null '-'
SET extra_float_digits = -6; -- nine digits
SET ROLE regress_controller;
CREATE TABLE station AS SELECT id, 20 + id % 60 AS age, id % 3 AS room FROM generate_series(1, 300) id;
SELECT dp_protect('station', 'station_dp');
SELECT dp_set_bounds('station', 'age', 0, 100), dp_set_groups('station', 'room', '{0,1,2}'), dp_set_odometer('station', epsilon_total => 20, delta_total => 0.001);
SELECT dp_grant('station_dp', 'regress_analyst', tau => 0.1, epsilon_max => 1), dp_grant('station_dp', 'regress_second', tau => 0.1, mechanism => 'gaussian', delta => 1e-6),
       dp_grant('station_dp', 'regress_team', tau_var => 0.01, candidates => '{0.5,0.001}', epsilon_svt => 0.1);

-- Nothing was asked: an attacker guesses.
SELECT * FROM dp_attack_risk('station') WHERE prior = 0.1;

-- One answer of epsilon 1: exactly min(e fpr, 1 - (1 - fpr)/e), and the posterior of Theorem 1 at small rates.
SET ROLE regress_analyst;
SELECT accepted, epsilon, delta, posterior50, advantage_max FROM dp_explain('SELECT count(*) FROM station_dp');
SELECT count(*) IS NOT NULL FROM station_dp;
SELECT epsilon, delta, posterior50 FROM dp_last_release();
SET ROLE regress_controller;
SELECT * FROM dp_attack_risk('station_dp');
SELECT bool_and(abs(tpr_max - least(exp(1) * fpr, 1 - exp(-1) * (1 - fpr))) < 1e-8) AS exact,
       bool_and(posterior_max <= exp(1) * prior / (exp(1) * prior + 1 - prior) + 1e-8) AS below_theorem_1
FROM dp_attack_risk('station');

-- Of a round of steps nothing is said for one magnitude alone: other answers would tell more.
SET ROLE regress_analyst;
SELECT posterior50 < 1 AS posterior50, advantage_max < 1 AS advantage_max, reason FROM dp_explain('SELECT sum(age) FROM station_dp', within => 0.1);
SELECT posterior50, advantage_max, reason FROM dp_explain('SELECT sum(age) FROM station_dp', within => 0.1, magnitude => 50);
-- Nor is what is foreseen for it taken for accurate where it is not.
SELECT magnitude, reason FROM unnest('{0,100000}'::float8[]) magnitude, dp_explain('SELECT count(*) FROM station_dp', within => 0.1, magnitude => magnitude);
SET ROLE regress_controller;
-- Also of answers that a login had as another role.
SET client_min_messages = warning; -- the login has many names
SELECT tpr_max > 0.01 AS found FROM dp_attack_risk('station', session_user::regrole) WHERE (fpr, prior) = (0.01, 0.5);
RESET client_min_messages;

-- Gaussian noise: its rho says more than its epsilon and delta.
SET ROLE regress_second;
SELECT accepted, epsilon, delta, posterior50, advantage_max FROM dp_explain('SELECT count(*) FROM station_dp');
SELECT count(*) IS NOT NULL FROM station_dp;
SELECT epsilon, delta, posterior50 FROM dp_last_release();
SET ROLE regress_controller;
SELECT * FROM dp_attack_risk('station', 'regress_second') WHERE prior = 0.1;
SELECT bool_and(tpr_max < least(exp(1) * fpr + 1e-6, 1 - exp(-1) * (1 - 1e-6 - fpr))) AS better_than_epsilon_and_delta
FROM dp_attack_risk('station', 'regress_second');
-- Both together: the pure part in epsilon beside the other in rho.
SELECT * FROM dp_attack_risk('station') WHERE prior = 0.1;
SELECT bool_and(a.tpr_max >= b.tpr_max AND a.tpr_max >= c.tpr_max) AS more_than_each
FROM dp_attack_risk('station') a JOIN dp_attack_risk('station', 'regress_analyst') b USING (fpr, prior) JOIN dp_attack_risk('station', 'regress_second') c USING (fpr, prior);

-- A selection is charged, too; asked by a member it belongs to the role of the policy, and to the member's own.
SET ROLE regress_member;
SELECT posterior50, advantage_max FROM dp_explain('SELECT count(*) FROM station_dp');
SELECT count(*) IS NOT NULL FROM station_dp;
SELECT epsilon_svt, abs(posterior50 - 1/(1 + exp(-(epsilon + epsilon_svt)))) < 1e-12 AS of_both FROM dp_last_release();
SET ROLE regress_controller;
SELECT kind, role_name FROM dp_rdr.ledger WHERE relation = 'public.station' ORDER BY id;
SET client_min_messages = warning; -- what was selected is not known beforehand
SELECT a.tpr_max = b.tpr_max AS same FROM dp_attack_risk('station', 'regress_team') a JOIN dp_attack_risk('station', 'regress_member') b USING (fpr, prior) LIMIT 1;
SELECT abs(tpr_max / fpr - exp((SELECT sum(epsilon) FROM dp_rdr.ledger WHERE role_name = 'regress_member' AND relation = 'public.station'))) < 1e-6 AS of_both
FROM dp_attack_risk('station', 'regress_member') WHERE (fpr, prior) = (0.001, 0.5);
RESET client_min_messages;

-- An epsilon that was chosen from the data bounds nothing for who saw the answer, and is said of the others.
SELECT dp_grant('station_dp', 'regress_stranger', tau => 0.5, selection => 'within_data', epsilon_max => 0.1);
SET ROLE regress_stranger;
SELECT posterior50, advantage_max FROM dp_explain('SELECT count(*) FROM station_dp');
SELECT count(*) IS NOT NULL FROM station_dp;
SELECT posterior50 FROM dp_last_release();
SET ROLE regress_controller;
SELECT DISTINCT tpr_max, advantage_max, posterior_max FROM dp_attack_risk('station', 'regress_stranger');
CREATE TABLE depot AS TABLE station;
SELECT dp_protect('depot', 'depot_dp');
SELECT dp_grant('depot_dp', 'regress_second', tau => 0.5, selection => 'within_data', epsilon_max => 0.1);
SET ROLE regress_second;
SELECT count(*) IS NOT NULL FROM depot_dp;
SET ROLE regress_controller;
SELECT * FROM dp_attack_risk('depot') WHERE prior = 0.5 AND fpr = 0.01;

-- Discovered groups have a delta, with which somebody is found for certain.
SELECT dp_grant('station_dp', 'regress_analyst', delta => 1e-4);
SET ROLE regress_analyst;
SELECT DISTINCT epsilon, delta, posterior50, advantage_max FROM dp_explain('SELECT CASE WHEN id > 0 THEN age END AS age, count(*) FROM station_dp GROUP BY 1');
RESET ROLE;

-- ---------------------------------------------------------------------------------------------------------------------
-- Totals in rho, and epochs
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_controller;
\set VERBOSITY terse
CREATE TABLE lounge AS TABLE station;
SELECT dp_protect('lounge', 'lounge_dp');
SELECT dp_set_odometer('lounge', 'zcdp', 3, 1e-6), dp_grant('lounge_dp', 'regress_analyst', tau => 0.1, epsilon_max => 0.1),
       dp_grant('lounge_dp', 'regress_second', tau => 0.1, epsilon_max => 0.1, mechanism => 'gaussian', delta => 1e-7);
SET ROLE regress_analyst;
SELECT posterior50 FROM dp_explain('SELECT count(*) FROM lounge_dp'); -- one answer of Laplace noise is pure, whatever the total is kept in
DO $$ BEGIN FOR i IN 1..20 LOOP PERFORM count(*) FROM lounge_dp; END LOOP; END $$;
SET ROLE regress_controller;
-- Twenty of epsilon 0.1 are epsilon 2, or less in rho: both bounds are known, the smaller one counts.
SELECT fpr, tpr_max, tpr_max < exp(2) * fpr AS below_the_sum FROM dp_attack_risk('lounge') WHERE prior = 0.5 AND fpr < 0.2;
SET ROLE regress_second;
SELECT count(*) IS NOT NULL FROM lounge_dp;
SET ROLE regress_controller;
CREATE TABLE in_rho AS SELECT * FROM dp_attack_risk('lounge');
-- The next epoch does not forget: neither what was charged, nor does its closing count twice.
SELECT dp_set_odometer('lounge', 'filter', 10, 1e-4);
SET ROLE regress_analyst;
SELECT count(*) IS NOT NULL FROM lounge_dp;
SET ROLE regress_controller;
SELECT kind, account, epsilon, basis, epoch FROM dp_rdr.ledger WHERE relation = 'public.lounge' AND (kind = 'closing' OR epoch > 0) ORDER BY id;
SELECT bool_and(a.tpr_max > b.tpr_max) AS more, bool_and(a.tpr_max < exp(0.1) * b.tpr_max) AS no_more_than_one_answer
FROM dp_attack_risk('lounge') a JOIN in_rho b USING (fpr, prior) WHERE fpr < 0.3;

-- Who may ask.
\set VERBOSITY default
SET ROLE regress_analyst;
SELECT * FROM dp_attack_risk('lounge');
SELECT * FROM dp_attack_risk('lounge_dp');
SET ROLE regress_controller;
SELECT * FROM dp_attack_risk(NULL);
SELECT * FROM dp_attack_risk('paper_query');
SELECT * FROM dp_attack_risk('lounge', 'regress_nobody');
-- A ledger that lost a row would tell too little.
RESET ROLE;
BEGIN;
DELETE FROM dp_rdr.ledger_row WHERE id = (SELECT max(id) FROM dp_rdr.ledger_row WHERE relation = 'public.lounge');
SET LOCAL ROLE regress_controller;
SELECT * FROM dp_attack_risk('lounge');
ROLLBACK;
