-- Totals that promise what attacks may achieve: in epsilon, in rho, and as a role's share (doc/formulas.md 7.5).

LOAD 'dp_rdr';
\pset null '-'
SET extra_float_digits = -6; -- nine digits
SET SESSION AUTHORIZATION regress_controller;
CREATE TABLE fence AS SELECT id, 20 + id % 60 AS age FROM generate_series(1, 300) id;
SELECT dp_protect('fence', 'fence_dp'), dp_set_bounds('fence', 'age', 0, 100);
SELECT dp_grant('fence_dp', 'regress_analyst', tau => 0.95);
SELECT dp_profile('attack', advantage => 0.25), dp_profile('attack', tpr => 0.05, fpr => 0.01);
SELECT * FROM dp_risk_profile(dp_profile('attack', advantage => 0.25), '{0.1,0.5}');

-- How many counts of 0.05 each target buys: in epsilon, through that epsilon under zcdp, in rho.
RESET SESSION AUTHORIZATION;
CREATE FUNCTION fence_left(settings text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
BEGIN
    SET LOCAL client_min_messages = warning;
    SET SESSION AUTHORIZATION regress_controller;
    PERFORM dp_set_odometer('fence', profile => '{}', epsilon_total => 1);
    EXECUTE format('SELECT dp_set_odometer(''fence'', %s)', settings);
    SET SESSION AUTHORIZATION regress_analyst;
    SELECT answers INTO n FROM dp_remaining('SELECT count(*) FROM fence_dp');
    RESET SESSION AUTHORIZATION;
    RETURN n;
END $$;
CREATE TABLE fence_targets (place, target) AS SELECT * FROM (VALUES (1, 'advantage => 0.05'), (2, 'advantage => 0.1'), (3, 'advantage => 0.25'), (4, 'advantage => 0.5'),
    (5, 'tpr => 0.05, fpr => 0.01'), (6, 'tpr => 0.1, fpr => 0.01')) t;
CREATE FUNCTION fence_epsilon(target text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
    total numeric;
BEGIN
    EXECUTE format('SELECT dp_profile_epsilon(dp_profile(''attack'', %s))', target) INTO total;
    RETURN total;
END $$;
SELECT target, fence_left(format('''filter'', ''Infinity'', delta_total => 0, profile => dp_profile(''attack'', %s)', target)) AS epsilon,
    fence_left(format('''zcdp'', %s, delta_total => 1e-6, delta_conversion => 1e-6', fence_epsilon(target))) AS through_epsilon,
    fence_left(format('''zcdp'', ''Infinity'', delta_total => 1e-6, delta_conversion => 1e-6, profile => dp_profile(''attack'', %s)', target)) AS rho
FROM fence_targets ORDER BY place;
-- What is told; a total of its own that is smaller binds.
SET SESSION AUTHORIZATION regress_controller;
\set VERBOSITY default
SELECT dp_set_odometer('fence', profile => '{}', epsilon_total => 1);
SELECT dp_set_odometer('fence', 'zcdp', delta_total => 1e-6, delta_conversion => 1e-6, profile => dp_profile('attack', advantage => 0.25));
SELECT dp_set_odometer('fence', epsilon_total => 'Infinity', profile => dp_profile('attack', advantage => 0.25));
SELECT name, value FROM dp_settings('fence') WHERE item = 'budget' AND name IN ('bound', 'profile', 'epsilon_total', 'rho_total', 'rho_target');
SELECT epsilon_total, rho_total, epsilon_claim, delta_claim FROM dp_odometer('fence') WHERE account = 'public';
-- Asked until it denies, all of pure charges: 102 answers, of which the epsilon is 5.1. No attack on them comes to more.
SET SESSION AUTHORIZATION regress_analyst;
\set VERBOSITY terse
DO $$
DECLARE
    n bigint;
    asked integer := 0;
BEGIN
    LOOP
        SELECT count(*) INTO n FROM fence_dp;
        asked := asked + 1;
    END LOOP;
EXCEPTION WHEN OTHERS THEN
    RAISE NOTICE '% answers, then %: %', asked, sqlstate, sqlerrm;
END $$;
SET SESSION AUTHORIZATION regress_controller;
SELECT account, epsilon_claim, delta_claim, releases FROM dp_odometer('fence') WHERE account = 'public';
SELECT max(advantage_max) <= 0.25 AS kept, max(advantage_max) > 0.249 AS used FROM dp_attack_risk('fence');
SELECT dp_verify_ledger('fence');
SELECT substring(dp_report('fence') FROM 'The total is a promise[^.]*[.][^.]*[.][^.]*[.]') AS said;

-- While it stands the sums do not begin anew.
\set VERBOSITY default
SELECT dp_set_odometer('fence', 'filter');
SELECT dp_set_odometer('fence', epsilon_pure => 0.1);
SELECT dp_set_odometer('fence', 'filter', profile => dp_profile('attack', advantage => 0.5));
SELECT dp_set_odometer('fence', delta_total => 2e-6); -- a delta for groups, of which the promise takes account
SELECT epsilon_total, rho_total FROM dp_odometer('fence') WHERE account = 'public';
SELECT dp_set_odometer('fence', profile => dp_profile('attack', advantage => 0.1)); -- broken already: no promise is told
SELECT dp_set_odometer('fence', profile => '{}', epsilon_total => 2);
SELECT dp_set_odometer('fence', epsilon_pure => 0.1, epsilon_total => 'Infinity', profile => dp_profile('attack', advantage => 0.25));
-- Under filter all that was ever spent counts.
SELECT dp_set_odometer('fence', profile => '{}', epsilon_total => 1);
SELECT dp_set_odometer('fence', 'filter', 'Infinity', delta_total => 1e-3, profile => dp_profile('attack', advantage => 0.99995));
SELECT dp_set_odometer('fence', profile => dp_profile('attack', advantage => 0.25));

-- What it does not go with, and what is none.
\set VERBOSITY terse
CREATE TABLE fence_new AS SELECT * FROM fence;
SELECT dp_protect('fence_new', 'fence_new_dp');
SELECT s, attempt(format('SELECT dp_set_odometer(''fence_new'', %s)', s)) FROM unnest(ARRAY[
    $$'dynamic', profile => dp_profile('attack', advantage => 0.1)$$, $$'none', profile => dp_profile('attack', advantage => 0.1)$$,
    $$period => 'month', profile => dp_profile('attack', advantage => 0.1)$$, $$delta_total => 0.1, profile => dp_profile('attack', advantage => 0.1)$$,
    $$delta_total => 0.1, profile => dp_profile('attack', tpr => 0.2, fpr => 0.1)$$,
    $$'zcdp', delta_total => 0.2, delta_conversion => 0.1, profile => dp_profile('attack', advantage => 0.1)$$,
    $$'zcdp', 'Infinity', delta_total => 1e-6, rho_target => 0.1, profile => dp_profile('attack', advantage => 0.1)$$,
    $$'zcdp', 'Infinity', delta_total => 1e-6, epsilon_pure => 0.3, profile => dp_profile('attack', advantage => 0.1)$$,
    $$'zcdp', 'Infinity', delta_total => 1e-6, profile => dp_profile('constant', relative => 3)$$,
    $$'filter', 'Infinity', delta_total => 1e-6, profile => dp_profile('attack', advantage => 0.1)$$, $$period => 'month'$$]) s;
SELECT epsilon_total FROM dp_odometer('fence_new') WHERE account = 'public';
SELECT s, attempt('SELECT dp_profile(''attack''' || s || ')') FROM unnest(ARRAY['', ', advantage => 0', ', advantage => 1', ', advantage => ''NaN''',
    ', tpr => 0.1', ', fpr => 0.1', ', tpr => 0.1, fpr => 0.1', ', tpr => 0.1, fpr => 0', ', tpr => 1, fpr => 0.1', ', tpr => 0.1, fpr => 0.05, advantage => 0.1',
    ', relative => 3', ', advantage => 1e-10', ', tpr => 0.1, fpr => ''Infinity''']) s;

-- As a role's share it is its epsilon, of pure answers.
SELECT dp_set_odometer('fence_new', profile => '{}', epsilon_total => 3, delta_total => 0);
SELECT dp_grant('fence_new_dp', 'regress_second', tau => 0.95, profile => dp_profile('attack', tpr => 0.05, fpr => 0.01));
SELECT dp_grant('fence_new_dp', 'regress_analyst', tau => 0.95, mechanism => 'gaussian', delta => 1e-6, profile => dp_profile('attack', advantage => 0.1));
SET SESSION AUTHORIZATION regress_second;
SELECT * FROM dp_remaining('SELECT count(*) FROM fence_new_dp');
RESET SESSION AUTHORIZATION;
DROP TABLE fence_targets;
DROP FUNCTION fence_left(text), fence_epsilon(text);
