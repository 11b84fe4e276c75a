-- Totals in rho where things take a turn: totals that are moved or too large, a role that changes its noise, a selection that
-- selects nothing.

LOAD 'dp_rdr';
ALTER SEQUENCE dp_rdr.ledger_row_id_seq RESTART WITH 25001; -- row numbers below do not depend on the files before
\set VERBOSITY terse
SET ROLE regress_controller;
CREATE TABLE barge AS SELECT id, 20 + id % 60 AS age FROM generate_series(1, 300) id;
SELECT dp_protect('barge', 'barge_dp');
SELECT dp_set_bounds('barge', 'age', 0, 100);

-- ---- Totals out of range, and a part that is too small to count

SELECT dp_set_odometer('barge', 'zcdp', 100000.000000001, 1e-6);
SELECT dp_set_odometer('barge', 'zcdp', 3, 1e-6, epsilon_pure => 1e-10);
RESET ROLE;
SELECT epsilon_pure FROM dp_rdr.protected_table JOIN dp_rdr.privacy_domain ON id = domain WHERE relation = 'barge'::regclass;
SET ROLE regress_controller;

-- ---- What holds at all times does not follow totals that are moved

SELECT dp_grant('barge_dp', 'regress_second', tau => 0.95, mechanism => 'gaussian', delta => 1e-8, epsilon_max => 0.3);
SET ROLE regress_second;
SELECT attempt('SELECT count(*) FROM barge_dp') FROM generate_series(1, 2);
SET ROLE regress_controller;
SELECT account, epsilon_anytime >= epsilon AND (epsilon_anytime > 0) = (rho > 0) AS above, epsilon_claim FROM dp_odometer('barge');
CREATE TEMP TABLE first AS SELECT epsilon_anytime FROM dp_odometer('barge') WHERE account = 'public';
SELECT dp_set_odometer('barge', epsilon_total => 0);
SELECT account, rho_total, epsilon_anytime >= epsilon AS above, epsilon_claim FROM dp_odometer('barge');
SELECT dp_set_odometer('barge', epsilon_total => 30);
SET ROLE regress_second;
SELECT attempt('SELECT count(*) FROM barge_dp');
SET ROLE regress_controller;
SELECT o.epsilon_anytime > f.epsilon_anytime AS grows FROM dp_odometer('barge') o, first f WHERE o.account = 'public';
SELECT dp_verify_ledger('barge'); -- the target is that of the first row
-- It goes with the delta beside it, also where that was larger before. The reference is 5.5 of the formulas, at the first rho_total.
CREATE FUNCTION anytime(v float8, d float8, target float8) RETURNS float8 LANGUAGE sql AS $$
    SELECT least(v * (1 + sqrt(ln(2 / d) / target)) + ln(2 / d) / sqrt(ln(2 / d) / target),
                 v + sqrt((2 * v + g) * (c + ln((2 * v + g) / g))))
    FROM (SELECT 2 * ln(2 / d)) l (c), LATERAL (SELECT 2 * target / (c + ln(1 + c))) m (g)
$$;
CREATE TABLE punt AS TABLE barge;
SELECT dp_protect('punt', 'punt_dp'), dp_set_odometer('punt', 'zcdp', 3, 1e-6);
SELECT dp_grant('punt_dp', 'regress_second', tau => 0.5, mechanism => 'gaussian', delta => 1e-8, epsilon_max => 0.5);
SELECT rho_total AS target FROM dp_odometer('punt') WHERE account = 'public' \gset
SET ROLE regress_second;
SELECT attempt('SELECT count(*) FROM punt_dp') FROM generate_series(1, 6);
SET ROLE regress_controller;
CREATE FUNCTION shown_of_punt(target float8) RETURNS TABLE (delta_total numeric, as_delta boolean, as_defined boolean, after boolean) LANGUAGE sql AS $$
    SELECT o.delta_total, o.delta = o.delta_total / 2, abs(epsilon_anytime - anytime(v, o.delta::float8, target)) < 1e-6, epsilon_anytime > epsilon
    FROM dp_odometer('punt') o, (SELECT sum(rho)::float8 AS v FROM dp_rdr.ledger WHERE relation = 'public.punt') l WHERE o.account = 'public'
$$;
SELECT * FROM shown_of_punt(:target);
SELECT dp_set_odometer('punt', delta_total => 2e-12, epsilon_total => 9);
SELECT * FROM shown_of_punt(:target);
SELECT dp_set_odometer('punt', delta_total => 1e-4);
SELECT * FROM shown_of_punt(:target);
-- A delta for the conversion that changes where no total is set begins an epoch.
SELECT dp_set_odometer('barge', epsilon_total => 'Infinity');
SELECT dp_set_odometer('barge', delta_conversion => 1e-7);
SET ROLE regress_second;
SELECT attempt('SELECT count(*) FROM barge_dp');
SET ROLE regress_controller;
SELECT dp_set_odometer('barge', delta_conversion => 2e-7);
SET ROLE regress_second;
SELECT attempt('SELECT count(*) FROM barge_dp');
SET ROLE regress_controller;
SELECT kind, delta, epoch FROM dp_rdr.ledger WHERE relation = 'public.barge' ORDER BY id DESC LIMIT 3;
SELECT dp_verify_ledger('barge');

-- ---- Another noise in the same epoch: the share would be there twice

CREATE TABLE ferry AS TABLE barge;
SELECT dp_protect('ferry', 'ferry_dp');
SELECT dp_set_odometer('ferry', 'zcdp', 3, 1e-6, epsilon_pure => 1);
SELECT dp_grant('ferry_dp', 'regress_analyst', tau => 0.95, epsilon_total => 0.8);
SELECT dp_grant('ferry_dp', 'regress_second', tau => 0.95, mechanism => 'gaussian', delta => 1e-8, epsilon_max => 0.3, epsilon_total => 0.8);
SELECT dp_grant('ferry_dp', 'regress_analyst', mechanism => 'gaussian', delta => 1e-8, epsilon_max => 0.3); -- nothing was charged yet
SELECT dp_grant('ferry_dp', 'regress_analyst', mechanism => 'laplace', delta => 0);
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM ferry_dp');
SET ROLE regress_second;
SELECT attempt('SELECT count(*) FROM ferry_dp');
SET ROLE regress_controller;
\set VERBOSITY default
SELECT dp_grant('ferry_dp', 'regress_analyst', mechanism => 'gaussian', delta => 1e-8);
SELECT dp_grant('ferry_dp', 'regress_second', mechanism => 'laplace', delta => 0);
\set VERBOSITY terse
SELECT dp_revoke('ferry_dp', 'regress_analyst');
SELECT dp_grant('ferry_dp', 'regress_analyst', tau => 0.95, mechanism => 'gaussian', delta => 1e-8, epsilon_total => 0.8);
SELECT dp_set_odometer('ferry', epsilon_pure => 0.9); -- another epoch
SELECT dp_grant('ferry_dp', 'regress_analyst', tau => 0.95, mechanism => 'gaussian', delta => 1e-8, epsilon_total => 0.8);

-- ---- A selection is charged, and nothing is selected: half of the rows are counted, so risks are not equal

CREATE TABLE canoe AS TABLE barge;
SELECT dp_protect('canoe', 'canoe_dp');
SELECT dp_set_odometer('canoe', 'zcdp', 30, 1e-6);
SELECT dp_grant('canoe_dp', 'regress_analyst', tau_var => 0.000001, candidates => '{0.9,0.5}', epsilon_svt => 20);
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM canoe_dp WHERE age < 50');
SET ROLE regress_controller;
SELECT kind, epsilon, basis, parameters ? 'totals' AS totals FROM dp_rdr.ledger WHERE relation = 'public.canoe' ORDER BY id;
SELECT epsilon, epsilon_claim FROM dp_odometer('canoe') WHERE account = 'public';
SELECT dp_verify_ledger('canoe');
SELECT dp_set_odometer('canoe', 'filter', 60, 1e-5);
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM canoe_dp WHERE age < 50');
SET ROLE regress_controller;
SELECT kind, epsilon, delta, basis, epoch FROM dp_rdr.ledger WHERE relation = 'public.canoe' ORDER BY id;
SELECT dp_verify_ledger('canoe');

-- With Gaussian noise a selection is charged in rho as well, and one that passes anyhow is free.
SELECT dp_set_odometer('canoe', 'zcdp', 30, 1e-5);
SELECT dp_grant('canoe_dp', 'regress_second', tau_var => 0.000001, candidates => '{0.9,0.5}', epsilon_svt => 8, mechanism => 'gaussian', delta => 1e-8);
SET ROLE regress_second;
SELECT attempt('SELECT count(*) FROM canoe_dp WHERE age < 50');
SET ROLE regress_controller;
SELECT dp_grant('canoe_dp', 'regress_second', tau_var => 0.05);
SET ROLE regress_second;
SELECT attempt('SELECT count(*) FROM canoe_dp WHERE age < 50');
SET ROLE regress_controller;
SELECT kind, epsilon, delta, round(rho, 9) AS rho, basis FROM dp_rdr.ledger WHERE relation = 'public.canoe' ORDER BY id DESC LIMIT 2;

-- ---- The end of an epoch that no charge has met yet: dp_explain knows it, and so does a new table of the same name

SELECT dp_grant('canoe_dp', 'regress_analyst', tau => 0.95, candidates => '{}'); -- ends tau_var
SET ROLE regress_analyst;
SELECT accepted FROM dp_explain('SELECT count(*) FROM canoe_dp');
SET ROLE regress_controller;
SELECT dp_set_odometer('canoe', 'filter', 41, 1e-3); -- 40 in epsilon, and what the epoch comes to
SET ROLE regress_analyst;
SELECT accepted FROM dp_explain('SELECT count(*) FROM canoe_dp');
SET ROLE regress_controller;
SELECT dp_set_odometer('canoe', 'zcdp', 30, 1e-5);
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM canoe_dp');
SET ROLE regress_controller;
DROP TABLE canoe CASCADE;
CREATE TABLE canoe AS TABLE barge;
SELECT dp_protect('canoe', 'canoe_dp');
SELECT dp_grant('canoe_dp', 'regress_analyst', tau => 0.95);
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM canoe_dp');
SET ROLE regress_controller;
SELECT kind, epsilon, basis, epoch FROM dp_rdr.ledger WHERE relation = 'public.canoe' ORDER BY id DESC LIMIT 3;
SELECT account, epsilon_claim FROM dp_odometer('canoe');
SELECT dp_verify_ledger('canoe');

-- ---- What a restore of a part leaves: an odometer ahead of its table, an epoch that has ended without a row that says so

RESET ROLE;
BEGIN;
UPDATE dp_rdr.privacy_domain SET epoch = epoch - 1 FROM dp_rdr.protected_table WHERE id = domain AND relation = 'barge'::regclass;
SELECT dp_verify_ledger('barge');
ROLLBACK;
BEGIN;
UPDATE dp_rdr.odometer SET epoch = epoch + 1, public_rho = 0, public_pure = 0, public_rho_only = false, claim_epsilon = NULL,
    claim_conversion = NULL, claim_mechanisms = NULL, claim_target = NULL, public_epsilon_before = public_epsilon, public_delta_before = public_delta
WHERE id = (SELECT domain FROM dp_rdr.protected_table WHERE relation = 'barge'::regclass);
UPDATE dp_rdr.privacy_domain SET epoch = epoch + 1 FROM dp_rdr.protected_table WHERE id = domain AND relation = 'barge'::regclass;
SELECT dp_verify_ledger('barge');
ROLLBACK;
-- A cap that its totals do not make.
BEGIN;
UPDATE dp_rdr.privacy_domain SET rho_total = 99 FROM dp_rdr.protected_table WHERE id = domain AND relation = 'ferry'::regclass;
SELECT dp_verify_ledger('ferry');
ROLLBACK;
SET ROLE regress_controller;
SELECT dp_verify_ledger('barge'), dp_verify_ledger('ferry');

DROP TABLE first;
DROP TABLE barge, ferry, canoe CASCADE;
RESET ROLE;
