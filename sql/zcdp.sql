-- Totals in rho: the bound zcdp, what is charged under it, and what an epoch of it comes to.

LOAD 'dp_rdr';
ALTER SEQUENCE dp_rdr.ledger_row_id_seq RESTART WITH 20001; -- row numbers below do not depend on the files before
\set VERBOSITY terse
SET ROLE regress_controller;
CREATE TABLE canvas AS SELECT id, 20 + id % 60 AS age, id % 5 AS area FROM generate_series(1, 300) id;
SELECT dp_protect('canvas', 'canvas_dp');
SELECT dp_set_bounds('canvas', 'age', 0, 100), dp_set_groups('canvas', 'area', '{0,1,2,3,4}');

-- What the ledger has of a table; rho to 9 digits.
CREATE FUNCTION charges(name text) RETURNS TABLE (role_name text, account text, kind text, epsilon numeric, delta numeric, delta_groups numeric,
    rho numeric, basis text, epoch integer, guarantee text) LANGUAGE sql AS $$
    SELECT l.role_name, l.account, l.kind, l.epsilon, l.delta, l.delta_groups, round(l.rho, 9), l.basis, l.epoch, l.guarantee
    FROM dp_rdr.ledger l WHERE l.relation = 'public.' || name ORDER BY l.id $$;
CREATE VIEW zcdp_account AS
SELECT t.t AS name, o.account, o.epsilon, o.delta, o.releases, o.denials, round(o.rho, 9) AS rho, round(o.rho_total, 9) AS rho_total,
       round(o.epsilon_anytime::numeric, 6) AS anytime, o.epsilon_claim, o.delta_claim
FROM unnest('{canvas}'::regclass[]) t, dp_odometer(t) o;

-- ---------------------------------------------------------------------------------------------------------------------
-- Setting it
-- ---------------------------------------------------------------------------------------------------------------------

\set VERBOSITY default
SELECT dp_set_odometer('canvas', 'zcdp'); -- no delta yet
SELECT dp_set_odometer('canvas', 'filter', cap => 'classic');
SELECT dp_set_odometer('canvas', epsilon_pure => 0.5);
SELECT dp_set_odometer('canvas', rho_target => 0.5);
SELECT dp_set_odometer('canvas', delta_conversion => 0.5);
SELECT dp_set_odometer('canvas', 'zcdp', delta_total => 1e-6, delta_conversion => 2e-6);
SELECT dp_set_odometer('canvas', 'zcdp', delta_total => 1e-6, delta_conversion => 0);
SELECT dp_set_odometer('canvas', 'zcdp', delta_total => 1e-6, delta_conversion => 'NaN');
SELECT dp_set_odometer('canvas', 'zcdp', delta_total => 1e-6, delta_conversion => 'Infinity');
SELECT dp_set_odometer('canvas', 'zcdp', delta_total => 1e-30); -- half of it is nothing
SELECT dp_set_odometer('canvas', 'zcdp', delta_total => 1e-6, cap => 'Tight');
SELECT dp_set_odometer('canvas', 'zcdp', delta_total => 1e-6, epsilon_pure => -0.1);
SELECT dp_set_odometer('canvas', 'zcdp', delta_total => 1e-6, epsilon_pure => 1);
SELECT dp_set_odometer('canvas', 'zcdp', delta_total => 1e-6, epsilon_total => 'Infinity', epsilon_pure => 1);
SELECT dp_set_odometer('canvas', 'zcdp', delta_total => 1e-6, rho_target => 0.5);
SELECT dp_set_odometer('canvas', 'zcdp', delta_total => 1e-6, epsilon_total => 'Infinity', rho_target => 0);
SELECT dp_set_odometer('canvas', 'zcdp', delta_total => 1e-6, epsilon_total => 'Infinity', rho_target => -1);
SELECT dp_set_odometer('canvas', 'zcdp', delta_total => 1e-6, epsilon_total => 'Infinity', rho_target => 'NaN');
SELECT dp_set_odometer('canvas', 'zcdp', delta_total => 1e-6, epsilon_total => 'NaN');
SELECT dp_set_odometer('canvas', 'zcdp', delta_total => 1e-6, epsilon_total => -1);
SELECT dp_set_odometer('canvas', 'zcdp', delta_total => 1);
\set VERBOSITY terse
SELECT name, account, epsilon, delta, rho, rho_total, anytime, epsilon_claim, delta_claim FROM zcdp_account; -- nothing was set

-- Both caps; NULL keeps what is set; delta_conversion follows delta_total until it is given.
RESET ROLE;
CREATE VIEW zcdp_stored AS SELECT bound, epsilon_total, delta_total, delta_conversion, cap, epsilon_pure, rho_target, rho_total, epoch
FROM dp_rdr.protected_table JOIN dp_rdr.privacy_domain ON id = domain WHERE relation = 'canvas'::regclass;
GRANT SELECT ON zcdp_stored TO regress_controller;
SET ROLE regress_controller;
SELECT dp_set_odometer('canvas', 'zcdp', 1, 1e-6);
SELECT * FROM zcdp_stored;
SELECT dp_set_odometer('canvas', cap => 'classic');
SELECT * FROM zcdp_stored;
SELECT dp_set_odometer('canvas', 'zcdp', delta_total => 2e-6);
SELECT * FROM zcdp_stored;
SELECT dp_set_odometer('canvas', delta_conversion => 1e-6, cap => 'tight');
SELECT dp_set_odometer('canvas', delta_total => 1e-6, epsilon_total => 10);
SELECT * FROM zcdp_stored; -- the papers' cap of (10, 1e-6)
SELECT dp_set_odometer('canvas', delta_total => 1e-7); -- less than what is set for the conversion
SELECT dp_set_odometer('canvas', epsilon_total => 'Infinity');
SELECT * FROM zcdp_stored; -- tuned at the cap of epsilon 1
SELECT dp_set_odometer('canvas', rho_target => 0.5);
SELECT dp_set_odometer('canvas', rho_target => 0.5); -- the same: the epoch stays
SELECT * FROM zcdp_stored;
SELECT dp_set_odometer('canvas', 'filter'); -- needs a total
SELECT dp_set_odometer('canvas', epsilon_total => 0);
SELECT * FROM zcdp_stored; -- closed
SELECT dp_set_odometer('canvas', 'none');
SELECT * FROM zcdp_stored; -- what goes with zcdp has ended with it
SELECT dp_set_odometer('canvas', 'zcdp', 1, 1e-6);
SELECT * FROM zcdp_stored;

-- ---------------------------------------------------------------------------------------------------------------------
-- Charges: Laplace and Gaussian noise, groups, and the end of it
-- ---------------------------------------------------------------------------------------------------------------------

SELECT dp_grant('canvas_dp', 'regress_analyst', tau => 0.95);
SELECT dp_grant('canvas_dp', 'regress_second', tau => 0.95, mechanism => 'gaussian', delta => 1e-8, epsilon_max => 0.3);
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM canvas_dp') FROM generate_series(1, 3);
SET ROLE regress_controller;
SELECT * FROM zcdp_account; -- pure charges come to no more than their sum
SET ROLE regress_second;
SELECT column_name, accepted, epsilon, delta FROM dp_explain('SELECT area, count(*), avg(age) FROM canvas_dp GROUP BY area');
SELECT attempt('SELECT area, count(*), avg(age) FROM canvas_dp GROUP BY area');
SELECT attempt('SELECT id, count(*) FROM canvas_dp GROUP BY id'); -- groups that nobody declared
SET ROLE regress_controller;
SELECT * FROM charges('canvas');
SELECT parameters -> 'totals' AS totals, count(*) FROM dp_rdr.ledger WHERE relation = 'public.canvas' GROUP BY 1 ORDER BY 2;
SELECT * FROM zcdp_account;
SELECT dp_verify_ledger('canvas');
-- dp_explain knows what the leaves before it in a statement would cost, in rho.
SET ROLE regress_second;
SELECT n, attempt('SELECT count(*) FROM canvas_dp') FROM generate_series(1, 2) n;
SELECT leaf, accepted FROM dp_explain('SELECT (SELECT count(*) FROM canvas_dp) + (SELECT count(*) FROM canvas_dp WHERE age > 30)
    + (SELECT count(*) FROM canvas_dp WHERE age > 40) + (SELECT count(*) FROM canvas_dp WHERE age > 50)');
SELECT attempt, count(*) FROM (SELECT attempt('SELECT count(*) FROM canvas_dp') FROM generate_series(1, 20)) a GROUP BY 1 ORDER BY 1;
SET ROLE regress_analyst;
SELECT column_name, accepted FROM dp_explain('SELECT count(*) FROM canvas_dp');
SELECT attempt('SELECT count(*) FROM canvas_dp'); -- no basic rule any more
SET ROLE regress_controller;
SELECT * FROM zcdp_account;
SELECT sum(rho) <= (SELECT rho_total FROM zcdp_stored) AS within, count(*) FROM dp_rdr.ledger WHERE relation = 'public.canvas' AND basis = 'rho';
-- The controller's own call is told why.
\set VERBOSITY default
CALL dp_find_and_release_epsilon('SELECT count(*) FROM canvas_dp', 0.00001, candidates => '{0.5,0.4}');
CALL dp_find_epsilon('SELECT count(*) FROM canvas_dp', 0);
\set VERBOSITY terse

-- Only what groups need is charged as delta, and only that is bound by the rest of delta_total.
SELECT dp_set_odometer('canvas', epsilon_total => 5);
SELECT dp_grant('canvas_dp', 'regress_analyst', delta => 3e-7);
SELECT dp_grant('canvas_dp', 'regress_analyst', delta => 6e-7); -- more than is left for groups
SET ROLE regress_analyst;
SELECT n, attempt('SELECT id, count(*) FROM canvas_dp GROUP BY id') FROM generate_series(1, 2) n;
SELECT attempt('SELECT count(*) FROM canvas_dp');
SET ROLE regress_controller;
SELECT kind, epsilon, delta, delta_noise, delta_groups, guarantee FROM dp_rdr.ledger WHERE relation = 'public.canvas' AND delta_groups > 0 ORDER BY id;
\set VERBOSITY default
SELECT dp_set_odometer('canvas', delta_conversion => 1e-6); -- nothing is left for groups
SELECT dp_set_odometer('canvas', epsilon_total => 0.9);
\set VERBOSITY terse
SELECT * FROM zcdp_account; -- the claim is the largest of each: it grows within an epoch
SELECT dp_verify_ledger('canvas');

-- ---------------------------------------------------------------------------------------------------------------------
-- Epochs
-- ---------------------------------------------------------------------------------------------------------------------

\set VERBOSITY default
SELECT dp_set_odometer('canvas', 'filter', 6, 2e-6);
\set VERBOSITY terse
SELECT * FROM zcdp_account; -- as it will be: no charge has met it yet
SELECT count(*) AS closings FROM dp_rdr.ledger WHERE relation = 'public.canvas' AND kind = 'closing';
SET ROLE regress_analyst;
SELECT column_name, accepted FROM dp_explain('SELECT count(*) FROM canvas_dp');
SELECT attempt('SELECT count(*) FROM canvas_dp');
SELECT attempt('SELECT count(*) FROM canvas_dp');
SET ROLE regress_controller;
SELECT * FROM charges('canvas') WHERE epoch > 5 OR kind = 'closing';
SELECT role_name, view, query, mechanism, algorithm, outcome, parameters FROM dp_rdr.ledger WHERE relation = 'public.canvas' AND kind = 'closing';
-- Nobody has spent the end of an epoch: each role's spending is what its charges say.
SELECT role_name, sum(epsilon), sum(delta), sum(rho) FROM dp_rdr.spending WHERE relation = 'public.canvas' GROUP BY 1
EXCEPT SELECT role_name, sum(epsilon), sum(delta), sum(rho) FROM dp_rdr.ledger WHERE relation = 'public.canvas' AND outcome = 'charged' AND kind <> 'closing' GROUP BY 1;
SELECT DISTINCT role_name FROM dp_rdr.spending WHERE relation = 'public.canvas' ORDER BY 1;
SELECT regexp_matches(dp_report('canvas'), '<td[^>]*>regress_controller</td>');
SELECT * FROM zcdp_account;
SELECT dp_verify_ledger('canvas');
-- A request that is then denied ends the epoch as well.
\set VERBOSITY default
SELECT dp_set_odometer('canvas', 'zcdp', 1);
\set VERBOSITY terse
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM canvas_dp');
SET ROLE regress_controller;
SELECT dp_set_odometer('canvas', 'filter', 0);
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM canvas_dp');
SET ROLE regress_controller;
SELECT kind, epsilon, delta, basis, epoch FROM dp_rdr.ledger WHERE relation = 'public.canvas' ORDER BY id DESC LIMIT 2;
SELECT * FROM zcdp_account;
SELECT dp_verify_ledger('canvas');
-- In a transaction that is rolled back nothing ends; within it nobody is charged.
BEGIN;
SELECT dp_set_odometer('canvas', 'zcdp', 1);
SET LOCAL ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM canvas_dp');
ROLLBACK;
SELECT bound, epoch FROM zcdp_stored;

-- Without a total: counted, and bounded at any time.
SELECT dp_set_odometer('canvas', 'zcdp', 'Infinity', 4e-6);
SET ROLE regress_second;
SELECT n, attempt('SELECT count(*) FROM canvas_dp') FROM generate_series(1, 3) n;
SET ROLE regress_controller;
SELECT parameters -> 'totals' AS totals FROM dp_rdr.ledger WHERE relation = 'public.canvas' AND parameters ? 'totals' ORDER BY id DESC LIMIT 1;
SELECT * FROM zcdp_account;
\set VERBOSITY default
SELECT dp_set_odometer('canvas', rho_target => 0.1); -- it is fixed in advance: another epoch
\set VERBOSITY terse
SET ROLE regress_second;
SELECT attempt('SELECT count(*) FROM canvas_dp');
SET ROLE regress_controller;
SELECT kind, epsilon, delta, basis, epoch FROM dp_rdr.ledger WHERE relation = 'public.canvas' ORDER BY id DESC LIMIT 2;
SELECT * FROM zcdp_account;
SELECT dp_verify_ledger('canvas');
SELECT object, finding, remedy FROM dp_audit() WHERE finding LIKE '%zcdp%';

-- ---------------------------------------------------------------------------------------------------------------------
-- A total of its own for Laplace noise
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE queue AS TABLE canvas;
SELECT dp_protect('queue', 'queue_dp');
CREATE OR REPLACE VIEW zcdp_account AS
SELECT t.t AS name, o.account, o.epsilon, o.delta, o.releases, o.denials, round(o.rho, 9) AS rho, round(o.rho_total, 9) AS rho_total,
       round(o.epsilon_anytime::numeric, 6) AS anytime, o.epsilon_claim, o.delta_claim
FROM unnest('{queue}'::regclass[]) t, dp_odometer(t) o;
SELECT dp_set_odometer('queue', 'zcdp', 2, 1e-6, epsilon_pure => 0.2);
SELECT dp_grant('queue_dp', 'regress_analyst', tau => 0.95),
       dp_grant('queue_dp', 'regress_second', tau => 0.95, mechanism => 'gaussian', delta => 1e-8, epsilon_max => 0.3);
SET ROLE regress_analyst;
SELECT n, attempt('SELECT count(*) FROM queue_dp') FROM generate_series(1, 5) n;
SET ROLE regress_second;
SELECT attempt('SELECT count(*) FROM queue_dp');
SET ROLE regress_controller;
SELECT * FROM charges('queue');
SELECT * FROM zcdp_account;
\set VERBOSITY default
CALL dp_find_epsilon('SELECT count(*) FROM queue_dp', 0);
CALL dp_find_and_release_epsilon('SELECT count(*) FROM queue_dp', 0.00001, candidates => '{0.5,0.4}');
SELECT dp_set_odometer('queue', epsilon_pure => 0.1);
SELECT dp_set_odometer('queue', epsilon_pure => 0);
\set VERBOSITY terse
SELECT * FROM zcdp_account;
SELECT dp_set_odometer('queue', epsilon_pure => 0.2);

-- Shares. A role that uses both would have it twice, whatever comes first.
SELECT dp_grant('queue_dp', 'regress_second', epsilon_total => 0.25);
SELECT dp_protect('queue', 'queue2_dp');
\set VERBOSITY default
SELECT dp_grant('queue2_dp', 'regress_second', tau => 0.95);
SELECT dp_set_odometer('queue', epsilon_pure => 0);
SELECT dp_grant('queue2_dp', 'regress_second', tau => 0.95);
SELECT dp_set_odometer('queue', epsilon_pure => 0.2);
\set VERBOSITY terse
SELECT dp_revoke('queue2_dp', 'regress_second');
SELECT attempt($$SELECT dp_grant('queue_dp', 'regress_second', tau_var => 0.01)$$); -- 0: selections are in rho, too
SELECT attempt($$SELECT dp_set_odometer('queue', epsilon_pure => 0.2)$$);
SELECT dp_grant('queue_dp', 'regress_second', tau => 0.95), dp_grant('queue_dp', 'regress_analyst', epsilon_total => 0.12);
-- In rho the same test with the share for the total: the sum in epsilon, or the cap. What was charged in an earlier epoch, more
-- than the whole share, is not counted.
SET ROLE regress_analyst;
SELECT n, attempt('SELECT count(*) FROM queue_dp') FROM generate_series(1, 4) n;
SET ROLE regress_second;
SELECT n, attempt($$SELECT * FROM dp_query('SELECT count(*) FROM queue_dp', epsilon => 0.05) AS (n bigint)$$) FROM generate_series(1, 4) n;
SET ROLE regress_controller;
SELECT role_name, count(*), sum(epsilon) AS epsilon, round(sum(rho), 9) AS rho FROM dp_rdr.ledger
WHERE relation = 'public.queue' AND basis = 'rho' GROUP BY role_name ORDER BY role_name;
SELECT dp_verify_ledger('queue');

-- ---------------------------------------------------------------------------------------------------------------------
-- Selections, and the account of what the rows have chosen
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE tram AS TABLE canvas;
SELECT dp_protect('tram', 'tram_dp');
SELECT dp_set_odometer('tram', 'zcdp', 4, 1e-6);
-- Everybody is counted, so the larger candidate passes, but for a chance of e^-40.
SELECT dp_grant('tram_dp', 'regress_analyst', tau_var => 0.05, candidates => '{0.9,0.01}', epsilon_svt => 2);
SELECT dp_grant('tram_dp', 'regress_second', tau => 0.5, selection => 'within_data', epsilon_max => 0.4);
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM tram_dp');
SET ROLE regress_second;
SELECT n, attempt('SELECT count(*) FROM tram_dp') FROM generate_series(1, 3) n;
SET ROLE regress_controller;
SELECT account, kind, epsilon, basis, epoch, guarantee, parameters ? 'totals' AS totals FROM dp_rdr.ledger WHERE relation = 'public.tram' ORDER BY id;
SELECT account, epsilon > 0 AS epsilon, delta, releases, denials, rho > 0 AS rho, epsilon_claim, delta_claim FROM dp_odometer('tram');
-- A charge of the conditional account raises no claim of the public one.
SELECT dp_set_odometer('tram', epsilon_total => 5);
SET ROLE regress_second;
SELECT attempt('SELECT count(*) FROM tram_dp');
SET ROLE regress_controller;
SELECT dp_verify_ledger('tram');
SELECT dp_set_odometer('tram', 'filter', 6, 2e-6);
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM tram_dp');
SET ROLE regress_controller;
SELECT account, kind, epsilon, delta, basis, epoch FROM dp_rdr.ledger WHERE relation = 'public.tram' AND kind = 'closing' ORDER BY id;
SELECT dp_verify_ledger('tram');

-- ---------------------------------------------------------------------------------------------------------------------
-- Tampering shows, and totals that were lost come back from the rows
-- ---------------------------------------------------------------------------------------------------------------------

RESET ROLE;
CREATE FUNCTION tamper(statement text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    whole boolean;
BEGIN
    EXECUTE statement;
    whole := dp_verify_ledger('queue', "full" => true);
    RAISE EXCEPTION USING errcode = 'P0001', message = whole;
EXCEPTION WHEN raise_exception THEN
    RETURN sqlerrm;
END $$;
CREATE VIEW of_queue AS SELECT domain FROM dp_rdr.protected_table WHERE relation = 'queue'::regclass;
SELECT tamper('UPDATE dp_rdr.odometer SET public_rho = 0 WHERE id = (TABLE of_queue)') AS whole;
SELECT tamper('UPDATE dp_rdr.odometer SET public_pure = 0 WHERE id = (TABLE of_queue)') AS whole;
SELECT tamper('UPDATE dp_rdr.odometer SET public_rho_only = NOT public_rho_only WHERE id = (TABLE of_queue)') AS whole;
SELECT tamper('UPDATE dp_rdr.odometer SET public_epsilon_before = 0 WHERE id = (TABLE of_queue)') AS whole;
SELECT tamper('UPDATE dp_rdr.odometer SET claim_epsilon = 0.1 WHERE id = (TABLE of_queue)') AS whole;
SELECT tamper('UPDATE dp_rdr.odometer SET claim_conversion = NULL WHERE id = (TABLE of_queue)') AS whole;
SELECT tamper('UPDATE dp_rdr.odometer SET epoch = epoch + 1 WHERE id = (TABLE of_queue)') AS whole;
SELECT tamper('UPDATE dp_rdr.odometer SET epoch = epoch - 1 WHERE id = (TABLE of_queue)') AS whole;
SELECT tamper('UPDATE dp_rdr.odometer_share SET public_rho = 0 WHERE id = (TABLE of_queue)') AS whole;
SELECT tamper('UPDATE dp_rdr.odometer_share SET epoch = 99 WHERE id = (TABLE of_queue)') AS whole;
SELECT tamper($$UPDATE dp_rdr.ledger_row SET basis = 'epsilon' WHERE basis = 'rho' AND table_id = (TABLE of_queue)$$) IS NOT TRUE AS seen;
SELECT tamper($$UPDATE dp_rdr.ledger_row SET epoch = 2 WHERE epoch = 1 AND table_id = (TABLE of_queue)$$) IS NOT TRUE AS seen;
-- What dp_protect() makes of the rows is what was there; but for denials, which are in no row.
CREATE TEMP TABLE kept AS SELECT to_jsonb(o) - '{public_denials,conditional_denials}'::text[] AS kept FROM dp_rdr.odometer o
WHERE id IN (SELECT domain FROM dp_rdr.protected_table WHERE relation IN ('queue'::regclass, 'canvas'::regclass, 'tram'::regclass));
CREATE TEMP TABLE kept_shares AS SELECT to_jsonb(s) AS kept FROM dp_rdr.odometer_share s
WHERE id IN (SELECT domain FROM dp_rdr.protected_table WHERE relation IN ('queue'::regclass, 'canvas'::regclass, 'tram'::regclass));
CREATE TEMP TABLE epochs AS SELECT relation, epoch FROM dp_rdr.protected_table JOIN dp_rdr.privacy_domain ON id = domain;
DELETE FROM dp_rdr.odometer WHERE id IN (SELECT domain FROM dp_rdr.protected_table WHERE relation IN ('queue'::regclass, 'canvas'::regclass, 'tram'::regclass));
DELETE FROM dp_rdr.odometer_share s USING dp_rdr.protected_table t WHERE t.domain = s.id AND t.relation IN ('queue'::regclass, 'canvas'::regclass, 'tram'::regclass);
SET ROLE regress_controller;
SELECT dp_protect('queue', 'queue3_dp'), dp_protect('canvas', 'canvas3_dp'), dp_protect('tram', 'tram3_dp');
RESET ROLE;
SELECT count(*) AS differences FROM (TABLE kept EXCEPT SELECT to_jsonb(o) - '{public_denials,conditional_denials}'::text[] FROM dp_rdr.odometer o) d;
SELECT count(*) AS differences FROM (TABLE kept_shares EXCEPT SELECT to_jsonb(s) FROM dp_rdr.odometer_share s) d;
-- It is closed at what was spent, and the epoch ends.
SELECT t.relation, d.bound, d.cap, d.epsilon_pure, d.rho_total, d.epoch > e.epoch AS ended FROM dp_rdr.protected_table t JOIN dp_rdr.privacy_domain d ON d.id = t.domain JOIN epochs e USING (relation)
WHERE t.relation IN ('queue'::regclass, 'canvas'::regclass) ORDER BY 1;
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM queue_dp');
SET ROLE regress_controller;
SELECT dp_verify_ledger('queue'), dp_verify_ledger('canvas'), dp_verify_ledger('tram');
SELECT kind, epsilon, delta, epoch FROM dp_rdr.ledger WHERE relation = 'public.queue' ORDER BY id DESC LIMIT 1;
-- A table of the same name goes on with the totals, in an epoch of its own.
DROP TABLE queue CASCADE;
CREATE TABLE queue AS SELECT 1 AS age;
SELECT dp_protect('queue', 'queue_dp');
SELECT dp_grant('queue_dp', 'regress_analyst', tau => 0.95);
SELECT dp_set_odometer('queue', 'filter', 9, 1e-5);
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM queue_dp');
SET ROLE regress_controller;
SELECT dp_verify_ledger('queue');
SELECT kind, epsilon, delta, basis FROM dp_rdr.ledger WHERE relation = 'public.queue' ORDER BY id DESC LIMIT 2;

DROP VIEW zcdp_account;
DROP FUNCTION charges;
DROP TABLE canvas, queue, tram CASCADE;
RESET ROLE;
DROP FUNCTION tamper;

-- One count that costs more than the whole total is denied from the start: whoever grants it or sets the total is told.
SET SESSION AUTHORIZATION regress_controller;
CREATE TABLE dear (id integer);
SET client_min_messages = error;
SELECT dp_protect('dear', 'dear_dp');
RESET client_min_messages;
SELECT dp_set_odometer('dear', 'zcdp', epsilon_total => 1, delta_total => 1e-6, delta_conversion => 1e-6);
SELECT dp_grant('dear_dp', 'regress_analyst', tau => 0.75, mechanism => 'auto');
SELECT dp_grant('dear_dp', 'regress_second', tau => 0.95, mechanism => 'auto');
SELECT dp_set_odometer('dear', epsilon_total => 0.9);
SET SESSION AUTHORIZATION regress_analyst;
SELECT attempt('SELECT count(*) FROM dear_dp');
SET SESSION AUTHORIZATION regress_controller;
SELECT dp_set_odometer('dear', epsilon_total => 2);
SELECT dp_grant('dear_dp', 'regress_second', tau => 0.95, epsilon_total => 0.01);
SELECT dp_set_odometer('dear', 'filter', epsilon_total => 0.05);
SET client_min_messages = error;
SELECT dp_unprotect('dear_dp');
RESET client_min_messages;
DROP TABLE dear;
RESET SESSION AUTHORIZATION;
