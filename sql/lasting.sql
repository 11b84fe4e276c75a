-- How long a total lasts where cells have it each: counts by the month, and disjoint counts to an accuracy (doc/formulas.md 5.9).
\set SHOW_CONTEXT never
LOAD 'dp_rdr';
SET client_min_messages = warning;
CREATE FUNCTION lasting_asked(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
    found boolean;
BEGIN
    EXECUTE query INTO n;
    SELECT bool_and(reached) INTO found FROM dp_last_release();
    RETURN coalesce(found, true);
EXCEPTION WHEN configuration_limit_exceeded THEN
    RETURN false;
END $$;

-- 36 months, a total of 1, tau 0.95: each month is asked about until it is denied. Without a partition all of it buys 20.
SET SESSION AUTHORIZATION regress_controller;
CREATE TABLE lasting_visits (id integer, at date);
INSERT INTO lasting_visits SELECT i, (date_trunc('month', now() AT TIME ZONE 'UTC') - i % 36 * interval '1 month')::date + i % 28 FROM generate_series(0, 3599) i;
CREATE TABLE lasting_plain AS TABLE lasting_visits;
SELECT dp_protect(t, t || '_dp'), dp_set_odometer(t, epsilon_total => 1), dp_grant((t || '_dp')::regclass, 'regress_analyst', tau => 0.95) FROM unnest('{lasting_visits,lasting_plain}'::text[]) t;
SELECT dp_set_partition('lasting_visits', 'at', by => 'month', since => (date_trunc('month', now() AT TIME ZONE 'UTC') - interval '35 months')::date::text);
SET SESSION AUTHORIZATION regress_analyst;
CREATE FUNCTION pg_temp.lasting_months(view text) RETURNS SETOF integer LANGUAGE plpgsql AS $$
DECLARE
    month date;
    n integer;
BEGIN
    FOR i IN 0 .. 35 LOOP
        month := date_trunc('month', now() AT TIME ZONE 'UTC') - i * interval '1 month';
        n := 0;
        WHILE lasting_asked(format('SELECT count(*) FROM %s WHERE at >= %L AND at < %L', view, month, (month + interval '1 month')::date)) LOOP
            n := n + 1;
        END LOOP;
        RETURN NEXT n;
    END LOOP;
END $$;
SELECT 'by month' AS total, count(*) AS months, min(n) AS least, max(n) AS most, sum(n) AS answers FROM pg_temp.lasting_months('lasting_visits_dp') n
UNION ALL SELECT 'one for all', count(*), min(n), max(n), sum(n) FROM pg_temp.lasting_months('lasting_plain_dp') n;
SET SESSION AUTHORIZATION regress_controller;
SELECT count(*) AS lines, min(epsilon) AS epsilon, min("left") AS "left" FROM dp_cells('lasting_visits') WHERE cells !~ 'NULL';
SELECT dp_verify_ledger('lasting_visits', true);
-- A role whose share is a promise about attacks has it in each month: 4 counts at an advantage of 0.1.
SELECT dp_set_odometer('lasting_visits', epsilon_total => 10), dp_grant('lasting_visits_dp', 'regress_second', tau => 0.95, profile => dp_profile('attack', advantage => 0.1));
SET SESSION AUTHORIZATION regress_second;
CREATE FUNCTION pg_temp.lasting_share(back integer) RETURNS bigint LANGUAGE sql AS $$
    SELECT count(*) FILTER (WHERE lasting_asked(format('SELECT count(*) FROM lasting_visits_dp WHERE at >= %L AND at < %L', m, (m + interval '1 month')::date)))
    FROM (SELECT (date_trunc('month', now() AT TIME ZONE 'UTC') - back * interval '1 month')::date AS m) month, generate_series(1, 6) i $$;
SELECT pg_temp.lasting_share(3) AS one_month, pg_temp.lasting_share(7) AS another;
SELECT lasting_asked('SELECT count(*) FROM lasting_visits_dp') AS all_months;
SET SESSION AUTHORIZATION regress_controller;
SELECT dp_verify_ledger('lasting_visits', true);

-- 300 counts that fall as 1/j, 10,000 in all, asked for from the largest down to a relative error of 0.1 with a total of 10 (6.7). Each value is a cell.
-- One total for all is used up after some 43 of them; no run in 10^6 has 150.
RESET SESSION AUTHORIZATION;
CREATE FUNCTION lasting_counts(view text) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    n integer := 0;
BEGIN
    FOR j IN 1 .. 300 LOOP
        n := n + lasting_asked(format('SELECT n FROM dp_query(%L, within => 0.1) AS (n bigint)', format('SELECT count(*) FROM %s WHERE k = %s', view, j)))::integer;
    END LOOP;
    RETURN n;
END $$;
SET SESSION AUTHORIZATION regress_controller;
CREATE TABLE lasting_one AS SELECT j AS k FROM (SELECT j, greatest(1, round(10000.0 / j / sum(1.0 / j) OVER ())::integer) AS n FROM generate_series(1, 300) j) c, generate_series(1, n);
CREATE TABLE lasting_whole AS TABLE lasting_one;
SELECT dp_protect(t, t || '_dp'), dp_set_odometer(t, epsilon_total => 10), dp_grant((t || '_dp')::regclass, 'regress_analyst', tau => 0, candidates => '{10}', epsilon_max => 10)
FROM unnest('{lasting_one,lasting_whole}'::text[]) t;
SELECT dp_set_partition('lasting_one', 'k', by => '1', since => '1', until => '300');
SET SESSION AUTHORIZATION regress_analyst;
SELECT lasting_counts('lasting_one_dp') AS answered;
SELECT lasting_counts('lasting_whole_dp') BETWEEN 20 AND 150 AS one_by_one;
SET SESSION AUTHORIZATION regress_controller;
SELECT max(epsilon) <= 10 AS kept FROM dp_cells('lasting_one');
SELECT dp_verify_ledger('lasting_one', true);

-- What different cells were charged counts together for everybody, once there is another partition: one had most before the epoch, another one in it.
CREATE TABLE lasting_wards (id integer, ward text);
INSERT INTO lasting_wards SELECT i, (ARRAY['a', 'b'])[1 + i % 2] FROM generate_series(1, 100) i;
SELECT dp_protect('lasting_wards', 'lasting_wards_dp'), dp_set_groups('lasting_wards', 'ward', '{a,b}'), dp_set_odometer('lasting_wards', epsilon_total => 9);
SELECT dp_grant('lasting_wards_dp', 'regress_analyst', tau => 0, candidates => '{0.5}'), dp_set_partition('lasting_wards', 'ward');
SET SESSION AUTHORIZATION regress_analyst;
SELECT lasting_asked($$SELECT count(*) FROM lasting_wards_dp WHERE ward = 'a'$$) FROM generate_series(1, 3);
SET SESSION AUTHORIZATION regress_controller;
SELECT dp_set_odometer('lasting_wards', 'zcdp', epsilon_total => 9, epsilon_pure => 4, delta_total => 1e-6);
SET SESSION AUTHORIZATION regress_analyst;
SELECT lasting_asked($$SELECT count(*) FROM lasting_wards_dp WHERE ward = 'b'$$) FROM generate_series(1, 2);
SET SESSION AUTHORIZATION regress_controller;
SELECT cells, epsilon, "left" FROM dp_cells('lasting_wards');
SELECT dp_unset_partition('lasting_wards');
SET SESSION AUTHORIZATION regress_analyst;
SELECT lasting_asked($$SELECT count(*) FROM lasting_wards_dp$$);
RESET SESSION AUTHORIZATION;
SELECT kind, epsilon, parameters ->> 'raised' AS raised FROM dp_rdr.ledger WHERE relation = 'public.lasting_wards' ORDER BY id DESC LIMIT 2;
SET SESSION AUTHORIZATION regress_controller;
SELECT epsilon, epsilon_claim FROM dp_odometer('lasting_wards') WHERE account = 'public';
SELECT dp_verify_ledger('lasting_wards', true);
-- Totals that are lost come back with it.
RESET SESSION AUTHORIZATION;
CREATE TEMPORARY TABLE lasting_kept AS SELECT * FROM dp_rdr.odometer WHERE relation_name = 'public.lasting_wards';
DELETE FROM dp_rdr.odometer_share WHERE id = (SELECT id FROM lasting_kept);
DELETE FROM dp_rdr.odometer WHERE id = (SELECT id FROM lasting_kept);
SET SESSION AUTHORIZATION regress_controller;
SELECT dp_protect('lasting_wards', 'lasting_again_dp');
SELECT dp_verify_ledger('lasting_wards', true);
RESET SESSION AUTHORIZATION;
SELECT (o.public_epsilon, o.public_epsilon_before, o.all_epsilon_epoch) = (k.public_epsilon, k.public_epsilon_before, k.all_epsilon_epoch) AS same FROM dp_rdr.odometer o JOIN lasting_kept k USING (id);
SET SESSION AUTHORIZATION regress_controller;
DROP TABLE lasting_visits, lasting_plain, lasting_one, lasting_whole, lasting_wards CASCADE;
RESET SESSION AUTHORIZATION;
DROP FUNCTION lasting_asked, lasting_counts;
RESET client_min_messages;
