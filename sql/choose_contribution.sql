-- How many rows of one person shall count, chosen under differential privacy. At epsilon 100 noise of scale 0.04 is no 5 in 10^40 draws.
\set VERBOSITY default
LOAD 'dp_rdr';
SET ROLE regress_controller;
CREATE FUNCTION pg_temp.attempt(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    hint text;
BEGIN
    EXECUTE statement;
    RETURN 'done';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    RETURN SQLSTATE || ' ' || SQLERRM || coalesce(' -- ' || nullif(hint, ''), '');
END $$;

-- 1,000 people: 600 with 1 row, 300 with 3, 90 with 10, 10 with 700. Rows of nobody, and of too long a name for a person, are no unit's.
CREATE TABLE cc_rider (id text PRIMARY KEY);
INSERT INTO cc_rider SELECT 'r' || i FROM generate_series(1, 1000) i;
CREATE TABLE cc_trip (trip serial, rider text, km integer);
INSERT INTO cc_trip (rider, km)
SELECT 'r' || i, k % 50 FROM generate_series(1, 1000) i,
       generate_series(1, CASE WHEN i <= 600 THEN 1 WHEN i <= 900 THEN 3 WHEN i <= 990 THEN 10 ELSE 700 END) k;
INSERT INTO cc_trip (rider, km) SELECT NULL, 1 FROM generate_series(1, 5000);
INSERT INTO cc_trip (rider, km) SELECT repeat('x', 1001), 1 FROM generate_series(1, 3000);
CREATE TABLE cc_stop (trip integer, place text);
INSERT INTO cc_stop SELECT trip, 'p' || k FROM cc_trip, generate_series(1, 2) k WHERE rider <= 'r3';
CREATE UNIQUE INDEX ON cc_trip (trip);
CREATE TABLE cc_alone (id integer PRIMARY KEY, v integer);
SELECT dp_protect('cc_rider', 'cc_rider_dp', unit => 'id');
SELECT dp_protect('cc_trip', 'cc_trip_dp', unit => 'rider -> cc_rider(id)', max_rows => 2, max_groups => 2);
SELECT dp_protect('cc_stop', 'cc_stop_dp', unit => 'trip -> cc_trip(trip)', max_rows => 7);
SELECT dp_protect('cc_alone', 'cc_alone_dp');
SELECT dp_set_bounds('cc_trip', 'km', 0, 50);
SELECT dp_set_odometer('cc_rider', epsilon_total => 2000);

-- 400 have more than 2 rows, 100 more than 8, 10 more than 512. A count of people is right to 30 at tau 0.9, 60 at 0.95, 300 at 0.99, 600 at 0.995.
CALL dp_choose_contribution('cc_trip', 100, tau => 0.995);
CALL dp_choose_contribution('cc_trip', 100, most => NULL, tau => 0.99);
SELECT max_rows, max_groups FROM dp_domain('cc_trip') WHERE relation = 'cc_trip'::regclass;
CALL dp_choose_contribution('cc_trip', 100);
CALL dp_choose_contribution('cc_trip', 100, tau => 0.6);
CALL dp_choose_contribution('cc_trip', 100, 100, 0.6);
-- Of the strictest policy that is granted, as far as it is below 1.
SELECT dp_grant('cc_trip_dp', 'regress_analyst', tau => 0.99), dp_grant('cc_trip_dp', 'regress_second', tau => 0.5), dp_grant('cc_trip_dp', 'regress_team', tau => 1);
CALL dp_choose_contribution('cc_trip', 100);
SELECT dp_revoke('cc_trip_dp', r) FROM unnest('{regress_analyst,regress_second,regress_team}'::regrole[]) r;
SELECT relation, max_rows, max_groups FROM dp_domain('cc_trip');
-- Where all may exceed it the first suffices.
CALL dp_choose_contribution('cc_trip', 100, tau => 0.999);
-- max_groups came down with it, and stays there.
SELECT max_rows, max_groups FROM dp_domain('cc_trip') WHERE relation = 'cc_trip'::regclass;
-- By the view as well, and over a path.
CALL dp_choose_contribution('cc_stop_dp', 100);
SELECT dp_set_contribution('cc_trip', 2, 2);

-- How much the sizes in a sum come to: 1, 6, 55 and 17,150 km. Parts of the bound are 3.125. Limits beyond max_rows of the bound say nothing, and
-- what is given back does not take away from what was bought.
CALL dp_choose_contribution('cc_trip', 100, value => 'km');
SELECT name, value, call FROM dp_settings('cc_trip') WHERE item = 'total';
CALL dp_choose_contribution('cc_trip', 100, tau => 0.99, value => '0 - km');
CALL dp_choose_contribution('cc_trip', 100, tau => 0.6, value => 'km::numeric / 2');
CALL dp_choose_contribution('cc_trip', 100, most => 1000, tau => 0.6, value => 'km');
CALL dp_choose_contribution('cc_trip', 100, most => 1, tau => 0.6, value => 'km');
-- Over a path.
SELECT dp_set_bounds('cc_stop', 'trip', 0, 10);
CALL dp_choose_contribution('cc_stop', 100, tau => 0.5, value => 'trip');
SELECT dp_set_total('cc_trip', e, 'Infinity') FROM unnest('{km,0 - km,km::numeric / 2}'::text[]) e;
SELECT dp_set_total('cc_stop', 'trip', 'Infinity');

-- Each is a charge of the domain, whatever it chose, with what it was for in it. The chain holds, and the totals follow from the rows.
SELECT account, kind, algorithm, mechanism, epsilon, epsilon_svt, epsilon_worst, delta, guarantee, view, role_name, query, parameters - 'period' AS parameters
FROM dp_rdr.ledger WHERE relation IN ('public.cc_trip', 'public.cc_stop') ORDER BY id;
SELECT account, epsilon, releases FROM dp_odometer('cc_rider') WHERE account = 'public';
SELECT * FROM dp_verify_ledger('cc_rider');
SELECT * FROM dp_verify_ledger('cc_trip');

-- ---------------------------------------------------------------------------------------------------------------------
-- Refused, and nothing is charged
-- ---------------------------------------------------------------------------------------------------------------------

SELECT epsilon AS before FROM dp_odometer('cc_rider') WHERE account = 'public' \gset
SELECT a, pg_temp.attempt(format('CALL dp_choose_contribution(%s)', a)) AS outcome FROM (VALUES
    ('NULL, 1'), ('''cc_trip'', NULL'), ('''cc_trip'', 0'), ('''cc_trip'', 100.1'), ('''cc_trip'', ''NaN'''),
    ('''cc_trip'', 0.000000001'), ('''cc_trip'', 1, 0'), ('''cc_trip'', 1, 1048577'), ('''cc_trip'', 1, tau => 1'), ('''cc_trip'', 1, tau => 1.1'), ('''cc_trip'', 1, tau => -0.1'), ('''cc_trip'', 1, tau => ''NaN'''),
    ('''cc_trip'', 1, value => ''trip'''), ('''cc_trip'', 1, value => ''rider'''), ('''cc_trip'', 1, value => ''nothing'''), ('''cc_trip'', 1, value => ''random()'''), ('''cc_trip'', 1, 0, value => ''km'''), ('''cc_rider'', 1, value => ''id::integer'''),
    ('''cc_alone'', 1'), ('''cc_rider'', 1'), ('''pg_class'', 1')) v (a);
SET ROLE regress_analyst;
SELECT pg_temp.attempt($$CALL dp_choose_contribution('cc_trip', 1)$$);
SET ROLE regress_controller;
-- Settings that are changing are not looked at, nor a table that is locked.
BEGIN;
SELECT dp_set_bounds('cc_trip', 'km', 0, 60);
CALL dp_choose_contribution('cc_trip', 1);
ROLLBACK;
BEGIN;
LOCK TABLE cc_trip IN ACCESS EXCLUSIVE MODE;
CALL dp_choose_contribution('cc_trip', 1);
ROLLBACK;
DROP VIEW cc_stop_dp;
CALL dp_choose_contribution('cc_stop', 1);
SELECT epsilon - :before AS charged FROM dp_odometer('cc_rider') WHERE account = 'public';

-- By the number of people that was said: too few.
SELECT dp_set_people('cc_rider', 200);
CALL dp_choose_contribution('cc_trip', 1);
SELECT dp_set_people('cc_rider', 300);
CALL dp_choose_contribution('cc_trip', 0.05, tau => 0.5);
SELECT dp_set_people('cc_rider', 0);
SELECT epsilon - :before AS charged FROM dp_odometer('cc_rider') WHERE account = 'public';

-- Beyond the total it is denied, with the reason.
SELECT dp_set_odometer('cc_rider', epsilon_total => :before + 0.5);
CALL dp_choose_contribution('cc_trip', 0.51);
CALL dp_choose_contribution('cc_trip', 0.5, tau => 0.999);
SELECT epsilon - :before AS charged, denials FROM dp_odometer('cc_rider') WHERE account = 'public';

-- What is rolled back stays charged, and is not kept.
SELECT dp_set_contribution('cc_trip', 2, 2), dp_set_odometer('cc_rider', epsilon_total => 4000);
BEGIN;
CALL dp_choose_contribution('cc_trip', 100);
ROLLBACK;
SELECT max_rows FROM dp_domain('cc_trip') WHERE relation = 'cc_trip'::regclass;
SELECT epsilon - :before AS charged FROM dp_odometer('cc_rider') WHERE account = 'public';

-- In rho: a pure charge, converted. Nothing of it says otherwise than the rows do.
SELECT dp_set_odometer('cc_rider', 'zcdp', epsilon_total => 6000, delta_total => 1e-3);
CALL dp_choose_contribution('cc_trip', 1, tau => 0.999);
SELECT kind, basis, epsilon, rho, guarantee FROM dp_rdr.ledger WHERE relation = 'public.cc_trip' ORDER BY id DESC LIMIT 1;
SELECT * FROM dp_verify_ledger('cc_trip');

-- A table without units' rows, and without rows at all: nobody is left out by anything.
TRUNCATE cc_stop;
SELECT dp_protect('cc_stop', 'cc_stop_dp');
DO $$
DECLARE
    chosen numeric; before float8; after float8;
BEGIN
    CALL dp_choose_contribution('cc_stop', 1, NULL, NULL, NULL, chosen, before, after);
    IF chosen IS NULL OR chosen NOT BETWEEN 1 AND 16384 THEN
        RAISE 'chosen: %', chosen;
    END IF;
END $$;
-- The account is made again from the ledger.
CREATE TEMP TABLE cc_before AS SELECT * FROM dp_odometer('cc_rider');
RESET ROLE;
DELETE FROM dp_rdr.odometer o USING dp_rdr.protected_table t WHERE t.domain = o.id AND t.relation = 'cc_trip'::regclass;
SET ROLE regress_controller;
SELECT dp_protect('cc_trip', 'cc_again_dp');
SELECT account, b.epsilon = o.epsilon AND b.releases = o.releases AS same FROM dp_odometer('cc_rider') o JOIN cc_before b USING (account) ORDER BY 1;
SELECT * FROM dp_verify_ledger('cc_trip');

RESET ROLE;
