-- Budgets that begin anew with every period: totals and shares within one, the lifetime pair and profiles over all. A period turns here
-- by moving the stored one back, as the superuser; on a clock that moves, test/t/031_periods.pl.
\set SHOW_CONTEXT never
SET SESSION AUTHORIZATION regress_controller;
CREATE TABLE period_people AS SELECT i AS id, i % 40 + 20 AS age, i % 2 = 0 AS member FROM generate_series(1, 500) i;
SELECT dp_protect('period_people', 'period_people_dp');
SELECT dp_grant('period_people_dp', 'regress_analyst', tau => 0.9), dp_grant('period_people_dp', 'regress_second', tau => 0.9, epsilon_total => 0.2);
SELECT dp_set_odometer('period_people', epsilon_total => 0.3);
RESET SESSION AUTHORIZATION;

-- A count is 0.1. How many of so many are answered.
CREATE FUNCTION answered(role text, times integer, query text = 'SELECT count(*) FROM period_people_dp') RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    n bigint := 0;
BEGIN
    FOR i IN 1..times LOOP
        EXECUTE format('SET SESSION AUTHORIZATION %I', role);
        n := n + CASE WHEN attempt(query) = 'accepted' THEN 1 ELSE 0 END;
        RESET SESSION AUTHORIZATION;
    END LOOP;
    RETURN n;
END $$;
CREATE FUNCTION turn(back interval = '3 years') RETURNS void LANGUAGE sql AS $$
    UPDATE dp_rdr.privacy_domain SET period_since = period_since - back;
    UPDATE dp_rdr.odometer SET public_period_start = public_period_start - back,
                               conditional_period_start = conditional_period_start - back;
    UPDATE dp_rdr.odometer_share SET public_period_start = public_period_start - back,
                                     conditional_period_start = conditional_period_start - back $$;
CREATE VIEW sums AS SELECT account, epsilon, delta, epsilon_total, epsilon_claim, delta_claim, period_epsilon, period_delta, epsilon_lifetime,
    delta_lifetime FROM dp_odometer('period_people');
GRANT SELECT ON sums TO PUBLIC;

-- What is no period, what does not go with one, and what a lifetime must be.
SET SESSION AUTHORIZATION regress_controller;
SELECT dp_set_odometer('period_people', period => 'hour');
SELECT dp_set_odometer('period_people', period => 'Month');
SELECT dp_set_odometer('period_people', epsilon_lifetime => 2);
SELECT dp_set_odometer('period_people', delta_lifetime => 1e-5);
SELECT dp_set_odometer('period_people', period => 'month', epsilon_lifetime => 0.2);
SELECT dp_set_odometer('period_people', period => 'month', delta_total => 1e-5, delta_lifetime => 1e-6);
SELECT dp_set_odometer('period_people', period => 'month', epsilon_lifetime => 'NaN');
SELECT dp_set_odometer('period_people', period => 'month', delta_lifetime => 1);
SELECT dp_set_odometer('period_people', 'zcdp', 1, 1e-6, period => 'month');
SELECT dp_set_odometer('period_people', 'none', period => 'month'), dp_set_odometer('period_people', 'dynamic', period => 'month');
-- Nothing of it was set.
SELECT * FROM sums;

-- The total binds within a month, as before until it turns: what was spent counts.
RESET SESSION AUTHORIZATION;
SELECT answered('regress_second', 1);
SET SESSION AUTHORIZATION regress_controller;
SELECT dp_set_odometer('period_people', period => 'month');
SELECT dp_set_odometer('period_people', epsilon_lifetime => 0.75);
SELECT * FROM sums;
SELECT account, period_end = (date_trunc('month', now() AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC' AS end_of_month
FROM dp_odometer('period_people');
-- Not with another bound now, in this order.
SELECT dp_set_odometer('period_people', 'none');
SELECT dp_set_odometer('period_people', 'zcdp', delta_total => 1e-6);
-- Nor with a total above the lifetime.
SELECT dp_set_odometer('period_people', epsilon_total => 0.8);
RESET SESSION AUTHORIZATION;
SELECT answered('regress_analyst', 3); -- two of three
SELECT answered('regress_second', 1);
SELECT * FROM sums;
SELECT public_period_kind, public_period_start = date_trunc('month', now(), 'UTC') AS of_this_month, public_period_epsilon,
    conditional_period_kind FROM dp_rdr.odometer WHERE relation_name = 'public.period_people';
SELECT grantee, public_epsilon, public_period_kind, public_period_epsilon FROM dp_rdr.odometer_share WHERE id =
    (SELECT domain FROM dp_rdr.protected_table WHERE relation = 'period_people'::regclass) ORDER BY grantee;
SELECT parameters -> 'period' ->> 'kind' AS kind, (parameters -> 'period' ->> 'start')::date = date_trunc('month', at AT TIME ZONE 'UTC') AS starts,
    (parameters -> 'period' ->> 'since')::date = (at AT TIME ZONE 'UTC')::date AS since
FROM dp_rdr.ledger WHERE relation = 'public.period_people' ORDER BY id;
SELECT dp_verify_ledger('period_people');

-- What analysts see: that they are denied, and no more.
\set VERBOSITY default
SET SESSION AUTHORIZATION regress_analyst;
SELECT count(*) FROM period_people_dp;
SELECT accepted, reason FROM dp_explain('SELECT count(*) FROM period_people_dp');
SET SESSION AUTHORIZATION regress_controller;
-- The controller's own call is told which total it is.
CALL dp_find_epsilon('SELECT count(*) FROM period_people_dp', 0.9);
\set VERBOSITY default
RESET SESSION AUTHORIZATION;

-- The next month: total and share begin anew, what was ever spent goes on. The share is 0.2, the total 0.3.
SELECT turn();
SELECT * FROM sums;
SET SESSION AUTHORIZATION regress_analyst;
SELECT accepted, reason FROM dp_explain('SELECT count(*) FROM period_people_dp');
RESET SESSION AUTHORIZATION;
SELECT answered('regress_second', 4), answered('regress_analyst', 3);
SELECT * FROM sums;
SELECT grantee, public_epsilon, public_period_epsilon FROM dp_rdr.odometer_share WHERE id =
    (SELECT domain FROM dp_rdr.protected_table WHERE relation = 'period_people'::regclass) ORDER BY grantee;

-- And the next, which the lifetime ends: 0.6 of 0.75 are spent.
SELECT turn();
SELECT answered('regress_analyst', 3);
SELECT * FROM sums;
SET SESSION AUTHORIZATION regress_analyst;
SELECT accepted, reason FROM dp_explain('SELECT count(*) FROM period_people_dp');
SET SESSION AUTHORIZATION regress_controller;
CALL dp_find_epsilon('SELECT count(*) FROM period_people_dp', 0.9);
SELECT dp_set_odometer('period_people', epsilon_lifetime => 1);
RESET SESSION AUTHORIZATION;
SELECT answered('regress_analyst', 1);

-- No call frees anything before a turn: another kind, none and back, the same again.
SELECT period_epsilon FROM sums;
SET SESSION AUTHORIZATION regress_controller;
SELECT dp_set_odometer('period_people', period => 'day');
SELECT period_epsilon FROM sums WHERE account = 'public';
SELECT dp_set_odometer('period_people', period => 'year');
SELECT period_epsilon FROM sums WHERE account = 'public';
SELECT dp_set_odometer('period_people', period => 'week'), dp_set_odometer('period_people', period => 'quarter'), dp_set_odometer('period_people', period => 'month');
SELECT period_epsilon FROM sums WHERE account = 'public';
-- Without a period the total binds over everything, and the lifetime ends with it.
SELECT dp_set_odometer('period_people', period => '');
SELECT * FROM sums;
RESET SESSION AUTHORIZATION;
SELECT answered('regress_analyst', 1);
SET SESSION AUTHORIZATION regress_controller;
SELECT dp_set_odometer('period_people', period => 'month', epsilon_lifetime => 5);
SELECT period_epsilon FROM sums WHERE account = 'public';
-- What is charged in none belongs to everything: all that was ever spent counts when a period is set again.
SELECT dp_set_odometer('period_people', period => '', epsilon_total => 1);
RESET SESSION AUTHORIZATION;
SELECT answered('regress_analyst', 1);
SELECT public_period_kind, public_period_start, public_period_epsilon FROM dp_rdr.odometer WHERE relation_name = 'public.period_people';
SET SESSION AUTHORIZATION regress_controller;
SELECT dp_set_odometer('period_people', period => 'month', epsilon_lifetime => 5);
SELECT * FROM sums;
SELECT dp_set_odometer('period_people', epsilon_lifetime => 'Infinity');
SELECT epsilon_claim, delta_claim, epsilon_lifetime FROM sums WHERE account = 'public';
SELECT severity, finding, remedy FROM dp_audit() WHERE finding ~ 'every month';
RESET SESSION AUTHORIZATION;

-- A table whose total is spent already is not closed for ever: the first turn behind the setting frees it, also for a role that asks
-- for the first time then, and nobody had to ask before.
UPDATE dp_rdr.privacy_domain SET period_since = period_since - 400 FROM dp_rdr.protected_table WHERE id = domain AND relation = 'period_people'::regclass;
SELECT * FROM sums WHERE account = 'public';
SELECT answered('regress_second', 3), answered('regress_analyst', 10);
SELECT * FROM sums WHERE account = 'public';

-- A clock that was ahead has turned the period; set back, it gives nothing.
UPDATE dp_rdr.odometer SET public_period_start = '2199-05-01 00:00 UTC' WHERE relation_name = 'public.period_people';
SELECT answered('regress_analyst', 1);
SELECT period_end AT TIME ZONE 'UTC' AS period_end, period_epsilon FROM dp_odometer('period_people') WHERE account = 'public';
SET SESSION AUTHORIZATION regress_controller;
SELECT dp_set_odometer('period_people', period => 'day', epsilon_lifetime => 5);
SELECT period_end AT TIME ZONE 'UTC' AS period_end, period_epsilon FROM dp_odometer('period_people') WHERE account = 'public';
RESET SESSION AUTHORIZATION;

-- No time zone moves a period.
UPDATE dp_rdr.odometer SET public_period_start = date_trunc('month', now(), 'UTC') WHERE relation_name = 'public.period_people';
SET TimeZone = 'Pacific/Kiritimati';
SELECT period_end = date_trunc('day', now(), 'UTC') + interval '1 day' AS same FROM dp_odometer('period_people') WHERE account = 'public';
SET TimeZone = 'America/Adak';
SELECT period_end = date_trunc('day', now(), 'UTC') + interval '1 day' AS same FROM dp_odometer('period_people') WHERE account = 'public';
RESET TimeZone;

-- Charges chosen from the rows never turn the public period, nor end it, and read both accounts.
UPDATE dp_rdr.privacy_domain SET epsilon_total = 9, epsilon_lifetime = 99 FROM dp_rdr.protected_table WHERE id = domain AND relation = 'period_people'::regclass;
SET SESSION AUTHORIZATION regress_controller;
SELECT dp_set_odometer('period_people', period => 'month', epsilon_total => 0.5, epsilon_lifetime => 99);
RESET SESSION AUTHORIZATION;
SELECT turn();
CREATE TEMP TABLE before AS SELECT public_period_kind, public_period_start, public_period_epsilon FROM dp_rdr.odometer
    WHERE relation_name = 'public.period_people';
SET SESSION AUTHORIZATION regress_controller;
CALL dp_find_epsilon('SELECT count(*) FROM period_people_dp', 0.9, candidates => '{0.2}') \gset
CALL dp_find_epsilon('SELECT count(*) FROM period_people_dp', 0.9, candidates => '{0.2}') \gset
\set VERBOSITY default
CALL dp_find_epsilon('SELECT count(*) FROM period_people_dp', 0.9, candidates => '{0.2}');
\set VERBOSITY default
RESET SESSION AUTHORIZATION;
SELECT b = (o.public_period_kind, o.public_period_start, o.public_period_epsilon) AS public_as_before, conditional_period_kind,
    conditional_period_start = date_trunc('month', now(), 'UTC') AS of_this_month, conditional_period_epsilon
FROM dp_rdr.odometer o, before b WHERE relation_name = 'public.period_people';
SELECT answered('regress_analyst', 9);
SELECT account, period_epsilon FROM sums;

-- A charge under another bound ends the period of its account: with the end of an epoch under zcdp, all of it counts.
SET SESSION AUTHORIZATION regress_controller;
SELECT dp_set_odometer('period_people', 'zcdp', 5, 1e-6, period => '');
RESET SESSION AUTHORIZATION;
SELECT answered('regress_analyst', 1);
SELECT public_period_kind, conditional_period_kind FROM dp_rdr.odometer WHERE relation_name = 'public.period_people';
SET SESSION AUTHORIZATION regress_controller;
SELECT dp_set_odometer('period_people', 'filter', 5, 1e-5, period => 'year', epsilon_lifetime => 10, delta_lifetime => 1e-4);
SELECT * FROM sums;
RESET SESSION AUTHORIZATION;
SELECT answered('regress_analyst', 1);
SELECT kind, epsilon, parameters ? 'period' AS in_a_period FROM dp_rdr.ledger WHERE relation = 'public.period_people' ORDER BY id DESC LIMIT 3;
SELECT account, epsilon, period_epsilon, delta, period_delta FROM sums;
DROP TABLE period_people CASCADE;

-- A table of its own whose ledger stays whole: selections, rounds, profiles, deltas; lost totals come back with their periods.
SET SESSION AUTHORIZATION regress_controller;
CREATE TABLE period_visitor AS SELECT i AS id, i % 40 + 20 AS age FROM generate_series(1, 2000) i;
SELECT dp_protect('period_visitor', 'period_visitor_dp');
SELECT dp_set_odometer('period_visitor', epsilon_total => 2, delta_total => 3e-7);
SELECT dp_grant('period_visitor_dp', 'regress_analyst', tau_var => 0.5, epsilon_svt => 0.1, candidates => '{0.3,0.2,0.1}', delta => 1e-7),
       dp_grant('period_visitor_dp', 'regress_second', tau => 0.9, profile => dp_profile('constant', relative => 1.7)),
       dp_grant('period_visitor_dp', 'regress_team', selection => 'within_data', tau => 0.9, epsilon_max => 0.3);
RESET SESSION AUTHORIZATION;
SELECT answered('regress_analyst', 1, 'SELECT count(*) FROM period_visitor_dp'), answered('regress_second', 1, 'SELECT count(*) FROM period_visitor_dp'), answered('regress_member', 1, 'SELECT count(*) FROM period_visitor_dp');
SET SESSION AUTHORIZATION regress_controller;
SELECT dp_set_odometer('period_visitor', period => 'week', epsilon_lifetime => 3, delta_lifetime => 3e-7);
RESET SESSION AUTHORIZATION;
SELECT answered('regress_analyst', 1, 'SELECT count(*) FROM period_visitor_dp'), answered('regress_second', 1, 'SELECT count(*) FROM period_visitor_dp'), answered('regress_member', 1, 'SELECT count(*) FROM period_visitor_dp');
SET SESSION AUTHORIZATION regress_second;
SELECT count(*) FROM dp_query('SELECT count(*) FROM period_visitor_dp', error95 => 60) AS (n bigint);
RESET SESSION AUTHORIZATION;
SELECT count(*), account, kind, algorithm, parameters -> 'period' ->> 'kind' AS period FROM dp_rdr.ledger WHERE relation = 'public.period_visitor'
GROUP BY 2, 3, 4, 5 ORDER BY 2, 3, 4, 5;
SELECT dp_verify_ledger('period_visitor');
SELECT account, delta = period_delta AS all_delta, epsilon = period_epsilon AS all_epsilon FROM dp_odometer('period_visitor');
-- Delta is spent by groups that nobody declared, three times.
SELECT answered('regress_analyst', 4, 'SELECT age, count(*) FROM period_visitor_dp GROUP BY age');
SELECT delta, period_delta FROM dp_odometer('period_visitor') WHERE account = 'public';
SELECT dp_verify_ledger('period_visitor');
CREATE TEMP TABLE kept AS SELECT to_jsonb(o) - '{public_denials,conditional_denials}'::text[] AS row FROM dp_rdr.odometer o
    WHERE relation_name = 'public.period_visitor' UNION ALL
    SELECT to_jsonb(s) FROM dp_rdr.odometer_share s WHERE id = (SELECT domain FROM dp_rdr.protected_table WHERE relation = 'period_visitor'::regclass);
DELETE FROM dp_rdr.odometer_share WHERE id = (SELECT domain FROM dp_rdr.protected_table WHERE relation = 'period_visitor'::regclass);
DELETE FROM dp_rdr.odometer WHERE relation_name = 'public.period_visitor';
SET SESSION AUTHORIZATION regress_controller;
SELECT dp_protect('period_visitor', 'period_visitor_again');
RESET SESSION AUTHORIZATION;
SELECT count(*), count(k.row) = count(*) AS same FROM (
    SELECT to_jsonb(o) - '{public_denials,conditional_denials}'::text[] AS row FROM dp_rdr.odometer o WHERE relation_name = 'public.period_visitor'
    UNION ALL SELECT to_jsonb(s) FROM dp_rdr.odometer_share s WHERE id = (SELECT domain FROM dp_rdr.protected_table WHERE relation = 'period_visitor'::regclass)) n
LEFT JOIN kept k ON k.row = n.row;
SELECT dp_verify_ledger('period_visitor');
-- What is not in the ledger is found.
UPDATE dp_rdr.odometer SET public_period_start = public_period_start - interval '7 days' WHERE relation_name = 'public.period_visitor';
SELECT dp_verify_ledger('period_visitor');
UPDATE dp_rdr.odometer SET public_period_start = public_period_start + interval '7 days', public_period_epsilon = 0 WHERE relation_name = 'public.period_visitor';
SELECT dp_verify_ledger('period_visitor');
UPDATE dp_rdr.odometer o SET public_period_epsilon = (row ->> 'public_period_epsilon')::numeric FROM kept
    WHERE o.relation_name = 'public.period_visitor' AND row ? 'relation_name';
UPDATE dp_rdr.odometer_share SET public_period_kind = NULL WHERE grantee = 'regress_second' AND public_period_kind = 'week';
SELECT dp_verify_ledger('period_visitor');

DROP TABLE period_visitor CASCADE;

-- A period that is taken away and set again on one day: verified rows are added up between its turns, not across them.
SET SESSION AUTHORIZATION regress_controller;
CREATE TABLE period_caller AS SELECT i AS id FROM generate_series(1, 200) i;
SELECT dp_protect('period_caller', 'period_caller_dp');
SELECT dp_grant('period_caller_dp', 'regress_analyst', tau => 0.99);
RESET SESSION AUTHORIZATION;
SELECT dp_set_odometer('period_caller', period => 'month', epsilon_lifetime => 2), dp_verify_ledger('period_caller');
SELECT answered('regress_analyst', 2, 'SELECT count(*) FROM period_caller_dp');
SELECT dp_verify_ledger('period_caller'), dp_set_odometer('period_caller', period => '');
SELECT answered('regress_analyst', 2, 'SELECT count(*) FROM period_caller_dp');
SELECT dp_verify_ledger('period_caller'), dp_set_odometer('period_caller', period => 'month');
SELECT answered('regress_analyst', 2, 'SELECT count(*) FROM period_caller_dp');
SELECT dp_verify_ledger('period_caller'), dp_verify_ledger('period_caller'), dp_verify_ledger('period_caller', "full" => true);
DROP TABLE period_caller CASCADE;

-- A risk profile binds over all periods: 0.265 for a role, whose share begins anew, 0.693 for a table that has one.
SET SESSION AUTHORIZATION regress_controller;
CREATE TABLE period_guest AS SELECT i AS id FROM generate_series(1, 200) i;
SELECT dp_protect('period_guest', 'period_guest_dp');
SELECT dp_grant('period_guest_dp', 'regress_analyst', tau => 0.9),
       dp_grant('period_guest_dp', 'regress_second', tau => 0.9, profile => dp_profile('constant', relative => 1.7));
SELECT dp_set_odometer('period_guest', epsilon_total => 0.4, period => 'day', profile => dp_profile('constant', relative => 4));
SELECT epsilon_total, epsilon_lifetime, epsilon_claim FROM dp_odometer('period_guest') WHERE account = 'public';
RESET SESSION AUTHORIZATION;
SELECT answered('regress_second', 1, 'SELECT count(*) FROM period_guest_dp'), answered('regress_analyst', 5, 'SELECT count(*) FROM period_guest_dp');
SELECT turn();
SELECT answered('regress_second', 3, 'SELECT count(*) FROM period_guest_dp'), answered('regress_analyst', 5, 'SELECT count(*) FROM period_guest_dp');
SELECT turn();
SELECT answered('regress_analyst', 5, 'SELECT count(*) FROM period_guest_dp');
SELECT epsilon, period_epsilon FROM dp_odometer('period_guest') WHERE account = 'public';
DROP TABLE period_guest CASCADE;
DROP FUNCTION answered, turn;
