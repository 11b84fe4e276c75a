-- How many answers a total buys, one bound beside the other; whoever meets an odometer that is ahead of its table.

LOAD 'dp_rdr';
\set VERBOSITY terse
SET ROLE regress_controller;

-- Asks until it is denied. What ends it is the last word of the table; anything else ends the test.
CREATE FUNCTION answers(question text) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    answered integer := 0;
BEGIN
    LOOP
        EXECUTE question;
        answered := answered + 1;
    END LOOP;
EXCEPTION WHEN configuration_limit_exceeded THEN
    RETURN answered;
END $$;

-- ---- Counts at tau 0.95 cost 0.05 each, with Laplace noise. All of delta_total is for the conversion: groups are declared

CREATE TABLE wallet (bound text, total numeric, view text);
INSERT INTO wallet SELECT b, t, format('%s_%s', b, t) FROM unnest('{filter,zcdp}'::text[]) b, unnest('{1,3,10}'::int[]) t;
DO $$
DECLARE
    w record;
BEGIN
    FOR w IN SELECT * FROM wallet LOOP
        EXECUTE format('CREATE TABLE %I AS SELECT g AS x FROM generate_series(1, 3) g', 'of_' || w.view);
        PERFORM dp_protect(('of_' || w.view)::regclass, w.view);
        PERFORM dp_grant(w.view::regclass, 'regress_analyst', tau => 0.95);
        IF w.bound = 'zcdp' THEN
            PERFORM dp_set_odometer(('of_' || w.view)::regclass, w.bound, w.total, 1e-6, delta_conversion => 1e-6);
        ELSE
            PERFORM dp_set_odometer(('of_' || w.view)::regclass, w.bound, w.total, 1e-6);
        END IF;
    END LOOP;
END $$;
GRANT SELECT ON wallet TO regress_analyst;
SET ROLE regress_analyst;
SELECT w.bound, w.total, b.answers, b.answers >= wanted AS enough
FROM wallet w JOIN (VALUES ('filter', 1, 20), ('filter', 3, 60), ('filter', 10, 200), ('zcdp', 1, 20), ('zcdp', 3, 148), ('zcdp', 10, 1231))
    v (bound, total, wanted) USING (bound, total), LATERAL answers(format('SELECT count(*) FROM %I', w.view)) b (answers)
ORDER BY 1, 2;
SET ROLE regress_controller;
-- What is promised is the total, whatever was answered.
SELECT w.bound, w.total, o.releases, o.denials, o.epsilon <= w.total AS within, o.rho <= o.rho_total AS within_rho, o.epsilon_claim, o.delta_claim
FROM wallet w, LATERAL dp_odometer(('of_' || w.view)::regclass) o WHERE o.account = 'public' ORDER BY 1, 2;
SELECT bool_and(dp_verify_ledger(('of_' || view)::regclass)) AS whole FROM wallet;

-- ---- An odometer that is ahead of its table, as a restore of a part leaves it: who asks is told so, and the owner how to go on

RESET ROLE;
UPDATE dp_rdr.privacy_domain SET epoch = epoch - 1 FROM dp_rdr.protected_table WHERE id = domain AND relation = 'of_zcdp_3'::regclass;
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM zcdp_3');
SELECT accepted, reason FROM dp_explain('SELECT count(*) FROM zcdp_3');
\set VERBOSITY default
SELECT count(*) FROM zcdp_3;
\set VERBOSITY terse
SET ROLE regress_controller;
SELECT dp_verify_ledger('of_zcdp_3');
-- It is no denial. What is shown is what is there.
SELECT account, releases, denials, rho > 0 AS spent FROM dp_odometer('of_zcdp_3');
SELECT severity, object, finding FROM dp_audit() WHERE object = 'public.of_zcdp_3' AND finding ~ 'epoch';
SELECT dp_set_odometer('of_zcdp_3');
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM zcdp_3');
SET ROLE regress_controller;
SELECT kind, basis, epsilon, epoch FROM dp_rdr.ledger WHERE relation = 'public.of_zcdp_3' ORDER BY id DESC LIMIT 2;

DO $$
DECLARE
    w record;
BEGIN
    FOR w IN SELECT * FROM wallet LOOP
        EXECUTE format('DROP TABLE %I CASCADE', 'of_' || w.view);
    END LOOP;
END $$;
DROP TABLE wallet;
DROP FUNCTION answers(text);
RESET ROLE;
