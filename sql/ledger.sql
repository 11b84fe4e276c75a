-- Charges: none is taken back, the two accounts, the bounds of the total, roles' shares, and a ledger that shows tampering.

LOAD 'dp_rdr';
ALTER SEQUENCE dp_rdr.ledger_row_id_seq RESTART WITH 100001; -- row numbers below do not depend on the files before
GRANT CREATE ON SCHEMA public TO regress_second;

SET ROLE regress_controller;
CREATE TABLE visit AS SELECT id, 20 + id % 60 AS age, false AS sick FROM generate_series(1, 200) id;
SELECT dp_protect('visit', 'visit_dp');
SELECT dp_grant('visit_dp', 'regress_analyst', tau => 0.95, epsilon_min => 0.000000001);

-- Totals of the public and the conditional account, for everybody (an analyst cannot call dp_odometer).
CREATE FUNCTION spent(relation regclass, OUT public numeric, OUT conditional numeric, OUT releases bigint, OUT denials bigint)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
RETURN (SELECT (max(epsilon) FILTER (WHERE account = 'public'), max(epsilon) FILTER (WHERE account = 'conditional'),
                sum(o.releases)::bigint, sum(o.denials)::bigint)
        FROM dp_odometer(relation) o);

-- ---------------------------------------------------------------------------------------------------------------------
-- A charge stays, whatever becomes of the transaction that asked (B01-B05, B08, B19)
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_analyst;
\set VERBOSITY terse

BEGIN;
SELECT count(*) IS NOT NULL AS answered FROM visit_dp;
ROLLBACK;
SELECT * FROM spent('visit');

BEGIN;
SAVEPOINT s;
SELECT count(*) IS NOT NULL AS answered FROM visit_dp;
ROLLBACK TO s;
COMMIT;
SELECT * FROM spent('visit');

DO $$
DECLARE
    n bigint;
BEGIN
    SELECT count(*) INTO n FROM visit_dp;
    RAISE EXCEPTION USING errcode = 'P0001';
EXCEPTION WHEN raise_exception THEN
    RAISE NOTICE 'answered: %', n IS NOT NULL;
END $$;
SELECT * FROM spent('visit');

-- One simple-query message, whose second statement fails.
SELECT count(*) IS NOT NULL AS answered FROM visit_dp \; SELECT 1 / 0;
SELECT * FROM spent('visit');

-- An error in the rest of the same statement.
SELECT 1 / (n - n) FROM (SELECT count(*) AS n FROM visit_dp) AS answer;
SELECT * FROM spent('visit');

-- An error at commit.
CREATE TEMP TABLE once (k integer UNIQUE DEFERRABLE INITIALLY DEFERRED);
BEGIN;
INSERT INTO once VALUES (1), (1);
SELECT count(*) IS NOT NULL AS answered FROM visit_dp;
COMMIT;
SELECT * FROM spent('visit');

BEGIN READ ONLY;
SELECT count(*) IS NOT NULL AS answered FROM visit_dp;
COMMIT;
SET default_transaction_read_only = on;
SELECT count(*) IS NOT NULL AS answered FROM visit_dp;
RESET default_transaction_read_only;
SELECT * FROM spent('visit');

BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) IS NOT NULL AS answered FROM visit_dp;
SELECT count(*) IS NOT NULL AS answered FROM visit_dp;
COMMIT;
SELECT * FROM spent('visit');

-- Other settings that a caller can change.
SET synchronous_commit = off;
SET search_path = pg_temp;
SET lock_timeout = 1;
SELECT pg_catalog.count(*) IS NOT NULL AS answered FROM public.visit_dp;
RESET ALL;
SET ROLE regress_analyst;
SELECT * FROM spent('visit');

-- ---------------------------------------------------------------------------------------------------------------------
-- Bound filter: a total of exactly 1 after twenty answers of 0.05 each, and not one more (D24)
-- ---------------------------------------------------------------------------------------------------------------------

SELECT n, attempt('SELECT count(*) FROM visit_dp WHERE age > ' || n) AS outcome FROM generate_series(12, 22) n;
SELECT * FROM spent('visit');
SELECT attempt($$SELECT * FROM dp_query('SELECT count(*) FROM visit_dp', epsilon => 0.000000001) AS (n bigint)$$);

SET ROLE regress_controller;
SELECT dp_set_odometer('visit', epsilon_total => 1.05);
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM visit_dp') FROM generate_series(1, 2);
SET ROLE regress_controller;
SELECT account, epsilon, delta, releases, denials, bound, epsilon_total, delta_total FROM dp_odometer('visit');
-- A total of 0 closes the table; one below what is consumed, too.
SELECT dp_set_odometer('visit', epsilon_total => 0);
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM visit_dp');

-- ---------------------------------------------------------------------------------------------------------------------
-- Bounds dynamic and none, epsilon_max, shares
-- ---------------------------------------------------------------------------------------------------------------------

-- dynamic: with equal prices exactly one answer, for all roles together; a laxer tau gets one more, and what is asked for
-- must be above the total, too.
SET ROLE regress_controller;
CREATE TABLE fresh AS TABLE visit;
SELECT dp_protect('fresh', 'fresh_dp');
SELECT dp_grant('fresh_dp', 'regress_analyst', tau => 0.95), dp_grant('fresh_dp', 'regress_second', tau => 0.5);
SELECT dp_set_odometer('fresh', 'dynamic', 'Infinity');
SET ROLE regress_analyst;
SELECT n, attempt('SELECT count(*) FROM fresh_dp') FROM generate_series(1, 2) n;
SET ROLE regress_second;
SELECT attempt($$SELECT * FROM dp_query('SELECT count(*) FROM fresh_dp', epsilon => 0.05) AS (n bigint)$$);
SELECT attempt($$SELECT * FROM dp_query('SELECT count(*) FROM fresh_dp', epsilon => 0.050000001) AS (n bigint)$$);
SELECT n, attempt('SELECT count(*) FROM fresh_dp') FROM generate_series(1, 2) n;
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM fresh_dp');
SELECT * FROM spent('fresh');

-- One answer a statement: with two of them, the first would cost and the second be denied. Refused before any charge.
SET ROLE regress_controller;
CREATE TABLE fresher AS TABLE visit;
CREATE TABLE freshest AS TABLE visit;
SELECT dp_protect('fresher', 'fresher_dp'), dp_protect('freshest', 'freshest_dp');
SELECT dp_grant('fresher_dp', 'regress_analyst', tau => 0.95), dp_grant('fresher_dp', 'regress_second', tau => 0.5),
       dp_grant('freshest_dp', 'regress_analyst', tau => 0.95);
SELECT dp_set_odometer('fresher', 'dynamic', 'Infinity'), dp_set_odometer('freshest', 'dynamic', 'Infinity');
SET ROLE regress_analyst;
SELECT left(attempt('SELECT (SELECT count(*) FROM freshest_dp), (SELECT count(*) FROM freshest_dp WHERE age > 30)'), 5) AS sqlstate;
SELECT * FROM spent('freshest');

-- With a total both rules hold.
SET ROLE regress_controller;
SELECT dp_set_odometer('fresher', 'dynamic', 0.8);
SET ROLE regress_analyst;
SELECT n, attempt('SELECT count(*) FROM fresher_dp') FROM generate_series(1, 2) n;
SET ROLE regress_second;
SELECT attempt('SELECT count(*) FROM fresher_dp');
SET ROLE regress_controller;
SELECT dp_set_odometer('fresher', 'dynamic', 0.85);
SET ROLE regress_second;
SELECT attempt('SELECT count(*) FROM fresher_dp');
SELECT * FROM spent('fresher');

-- none: counted only. A role's own share still holds, for all its members together; epsilon_max caps every answer.
SET ROLE regress_controller;
SELECT dp_set_odometer('fresher', 'none', NULL);
SELECT dp_revoke('fresher_dp', 'regress_analyst'), dp_grant('fresher_dp', 'regress_analyst', tau => 0.95, epsilon_total => 0.15),
       dp_grant('fresher_dp', 'regress_team', tau => 0.05, epsilon_max => 0.25, epsilon_total => 0.5),
       dp_revoke('fresher_dp', 'regress_second'), dp_grant('fresher_dp', 'regress_second', tau => 0);
SET ROLE regress_analyst;
SELECT n, attempt('SELECT count(*) FROM fresher_dp') FROM generate_series(1, 3) n; -- 0.05 were spent before
SET ROLE regress_member;
SELECT n, attempt('SELECT count(*) FROM fresher_dp') FROM generate_series(1, 2) n;
SET ROLE regress_team;
SELECT n, attempt('SELECT count(*) FROM fresher_dp') FROM generate_series(1, 2) n;
SELECT attempt($$SELECT * FROM dp_query('SELECT count(*) FROM fresher_dp', 0.1) AS (n bigint)$$);
SET ROLE regress_second;
SELECT n, attempt('SELECT count(*) FROM fresher_dp') FROM generate_series(1, 2) n;
SET ROLE regress_controller;
SELECT role_name, epsilon, epsilon_worst FROM dp_rdr.ledger WHERE relation = 'public.fresher' ORDER BY id;
SELECT account, epsilon, releases, denials, bound, epsilon_total FROM dp_odometer('fresher_dp'); -- the view names its table, too
-- A share goes on when the policy is granted again or taken back in between.
SELECT dp_revoke('fresher_dp', 'regress_analyst');
SELECT dp_grant('fresher_dp', 'regress_analyst', tau => 0.95, epsilon_total => 0.2);
SET ROLE regress_analyst;
SELECT n, attempt('SELECT count(*) FROM fresher_dp') FROM generate_series(1, 2) n;

-- Settings that are changed in the same open transaction: the process that charges does not see them. Nothing is charged.
SET ROLE regress_controller;
BEGIN;
SELECT dp_set_odometer('fresher', 'filter', 100);
SET LOCAL ROLE regress_second;
SELECT attempt('SELECT count(*) FROM fresher_dp');
SET LOCAL ROLE regress_controller;
SELECT attempt($$CALL dp_find_epsilon('SELECT count(*) FROM fresher_dp', 0.5)$$);
ROLLBACK;
BEGIN;
SELECT dp_set_groups('fresher', 'sick', '{false,true}');
SELECT attempt($$CALL dp_find_epsilon('SELECT count(*) FROM fresher_dp', 0.5)$$);
ROLLBACK;
BEGIN;
SELECT dp_revoke('fresher_dp', 'regress_second'), dp_grant('fresher_dp', 'regress_second', tau => 0.1);
SET LOCAL ROLE regress_second;
SELECT attempt('SELECT count(*) FROM fresher_dp');
ROLLBACK;
SET ROLE regress_controller;
SELECT account, epsilon, releases, denials FROM dp_odometer('fresher');

-- ---------------------------------------------------------------------------------------------------------------------
-- Two accounts. healthy: nobody is sick. outbreak: one patient more, who is.
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE healthy AS TABLE visit;
CREATE TABLE outbreak AS TABLE visit;
INSERT INTO outbreak VALUES (201, 42, true);
SELECT dp_protect('healthy', 'healthy_dp'), dp_protect('outbreak', 'outbreak_dp');
SELECT dp_set_odometer('healthy', 'filter', 20), dp_set_odometer('outbreak', 'filter', 20);
SELECT dp_grant(v, 'regress_analyst', tau => 0.95), dp_set_bounds(t, 'age', 0, 120)
FROM (VALUES ('healthy', 'healthy_dp'), ('outbreak', 'outbreak_dp')) s (t, v);
SELECT dp_grant('healthy_dp', 'regress_second', tau => 0.95, selection => 'within_data');
SELECT dp_grant('outbreak_dp', 'regress_second', tau => 0.95, selection => 'within_data');

-- The epsilon that is chosen from the data differs as much as it can.
SELECT attempt($$CALL dp_find_epsilon('SELECT count(*) FROM healthy_dp WHERE sick', 0.95)$$);
SELECT attempt($$CALL dp_find_epsilon('SELECT count(*) FROM outbreak_dp WHERE sick', 0.95)$$);
SELECT 'healthy' AS relation, s.* FROM spent('healthy') s UNION ALL SELECT 'outbreak', s.* FROM spent('outbreak') s;

-- What an analyst of a DP mode sees does not: outcomes, numbers of rows, the public account. With % for the table's name.
CREATE FUNCTION transcript(name text) RETURNS TABLE (n bigint, query text, outcome text, rows_seen bigint, public numeric)
LANGUAGE plpgsql AS $$
DECLARE
    asked record;
BEGIN
    FOR asked IN SELECT row_number() OVER () AS n, q FROM unnest(ARRAY[
            'SELECT count(*) FROM %_dp', 'SELECT count(*) FROM %_dp WHERE sick', 'SELECT sick, count(*) FROM %_dp GROUP BY sick',
            'SELECT avg(age), sum(age), count(age) FROM %_dp WHERE sick', 'SELECT id, count(*) FROM %_dp GROUP BY id',
            'SELECT sum(id) FROM %_dp WHERE sick', 'SELECT sick FROM %_dp', 'SELECT id, count(*) FROM %_dp WHERE sick GROUP BY 1',
            'SELECT sick, sum(age) FROM %_dp GROUP BY sick HAVING sick', 'SELECT count(*) FROM %_dp WHERE sick AND age = 42',
            'SELECT avg(age) FROM %_dp WHERE age = 43 AND sick', 'SELECT count(*) FROM %_dp']) q LOOP
        n := asked.n;
        query := replace(asked.q, '%', name);
        outcome := left(attempt('CREATE TEMP TABLE seen AS ' || query), 5);
        rows_seen := NULL;
        IF outcome = 'accep' THEN
            SELECT count(*) INTO rows_seen FROM seen;
            DROP TABLE seen;
        END IF;
        public := (spent(name::regclass)).public;
        query := asked.q;
        RETURN NEXT;
    END LOOP;
END $$;
SELECT dp_set_odometer('healthy', 'filter', 0.5), dp_set_odometer('outbreak', 'filter', 0.5);
SET ROLE regress_analyst;
CREATE TEMP TABLE seen_by_analyst AS SELECT 'healthy' AS name, t.* FROM transcript('healthy') t;
INSERT INTO seen_by_analyst SELECT 'outbreak', t.* FROM transcript('outbreak') t;
SELECT n, query, outcome, rows_seen, public FROM seen_by_analyst WHERE name = 'healthy' ORDER BY n;
SELECT count(*) AS differences
FROM (SELECT * FROM seen_by_analyst WHERE name = 'healthy') h FULL JOIN (SELECT * FROM seen_by_analyst WHERE name = 'outbreak') o USING (n)
WHERE (h.query, h.outcome, h.rows_seen, h.public) IS DISTINCT FROM (o.query, o.outcome, o.rows_seen, o.public);

-- The same scale of noise: everything that is recorded of their charges agrees.
SET ROLE regress_controller;
CREATE VIEW recorded AS
SELECT relation, row_number() OVER (PARTITION BY relation ORDER BY id) AS n, account, kind, algorithm, mechanism, epsilon, epsilon_worst,
       delta, delta_noise, delta_groups, rho, parameters - 'declared' AS parameters, guarantee, replace(query, 'outbreak', 'healthy') AS query
FROM dp_rdr.ledger WHERE account = 'public' AND relation IN ('public.healthy', 'public.outbreak');
SELECT count(*) AS charges, count(*) FILTER (WHERE to_jsonb(h) - 'relation' <> to_jsonb(o) - 'relation') AS differences
FROM (SELECT * FROM recorded WHERE relation = 'public.healthy') h FULL JOIN (SELECT * FROM recorded WHERE relation = 'public.outbreak') o USING (n);
SELECT n, kind, epsilon, epsilon_worst, round(rho, 9) AS rho, parameters, query FROM recorded WHERE relation = 'public.healthy' ORDER BY n;

-- A role whose epsilon is chosen from the data is judged by both accounts together. Its charges are conditional, too.
SET ROLE regress_second;
SELECT attempt('SELECT count(*) FROM healthy_dp WHERE sick') AS healthy, attempt('SELECT count(*) FROM outbreak_dp WHERE sick') AS outbreak;
SET ROLE regress_controller;
SELECT dp_set_odometer('outbreak', 'filter', 0.6), dp_set_odometer('healthy', 'filter', 11.5);
SET ROLE regress_second;
SELECT attempt('SELECT count(*) FROM healthy_dp WHERE sick') AS healthy, attempt('SELECT count(*) FROM outbreak_dp WHERE sick') AS outbreak;
SELECT 'healthy' AS relation, s.* FROM spent('healthy') s UNION ALL SELECT 'outbreak', s.* FROM spent('outbreak') s;
SET ROLE regress_controller;
SELECT relation, role_name, account, kind, algorithm, epsilon, epsilon_worst, guarantee
FROM dp_rdr.ledger WHERE relation IN ('public.healthy', 'public.outbreak') AND account = 'conditional' ORDER BY id;

-- ---------------------------------------------------------------------------------------------------------------------
-- The ledger is a chain of hashes that its owner can check, and that shows tampering
-- ---------------------------------------------------------------------------------------------------------------------

SELECT count(*) AS rows, bool_and(hash = sha256(convert_to(content_version::text, 'UTF8') || '|'::bytea || previous_hash || '|'::bytea || content)) AS hashes,
       bool_and(previous_hash = before) AS chained
FROM (SELECT *, lag(hash, 1, ''::bytea) OVER (ORDER BY id) AS before FROM dp_rdr.ledger WHERE relation = 'public.visit') l;
SELECT bool_and(session_role = session_user) AS session_role, bool_and(at BETWEEN now() - interval '1 hour' AND clock_timestamp()) AS at,
       bool_and(convert_from(content, 'UTF8')::json ->> 10 = query) AS content
FROM dp_rdr.ledger WHERE relation = 'public.visit';
SELECT relation, dp_verify_ledger(relation) AS whole FROM unnest('{visit,fresh,fresher,healthy,outbreak,healthy_dp}'::regclass[]) relation;

-- A superuser can write to it. Every statement is taken back before the next.
RESET ROLE;
CREATE FUNCTION tamper(statement text, "full" boolean DEFAULT true) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    whole boolean;
BEGIN
    EXECUTE statement;
    whole := dp_verify_ledger('visit', "full");
    RAISE EXCEPTION USING errcode = 'P0001', message = whole;
EXCEPTION WHEN raise_exception THEN
    RETURN sqlerrm;
END $$;
SELECT tamper('SELECT 1') AS whole;
SELECT tamper('UPDATE dp_rdr.ledger_row SET epsilon = 0.01 WHERE id = 100003') AS whole;
SELECT tamper('UPDATE dp_rdr.ledger_row SET query = ''x'' WHERE id = 100003') AS whole;
SELECT tamper('UPDATE dp_rdr.ledger_row SET at = at - interval ''1 microsecond'' WHERE id = 100004') AS whole;
SELECT tamper('UPDATE dp_rdr.ledger_row SET account = ''conditional'' WHERE id = 100005') AS whole;
SELECT tamper($$UPDATE dp_rdr.ledger_row l SET epsilon = 0.01, content = dp_rdr.ledger_content((l.id, l.table_id, l.at, l.relation, l.relation_oid,
    l.view, l.view_oid, l.grantee, l.role_name, l.role_oid, l.session_role, l.query, l.account, l.kind, l.algorithm, l.mechanism, 0.01, l.epsilon_svt,
    l.epsilon_worst, l.delta, l.delta_noise, l.delta_groups, l.rho, l.parameters, l.guarantee, l.outcome, l.content_version, l.content, l.previous_hash,
    l.hash, l.basis, l.epoch, l.grantee_oid, l.session_oid)::dp_rdr.ledger_row) WHERE id = 100006$$) AS whole;
SELECT tamper('UPDATE dp_rdr.ledger_row SET hash = sha256(''x'') WHERE id = 100007') AS whole;
SELECT tamper('UPDATE dp_rdr.ledger_row SET content_version = 3 WHERE id = 100008') AS whole;
SELECT tamper('DELETE FROM dp_rdr.ledger_row WHERE id = 100002') AS whole;
SELECT tamper('DELETE FROM dp_rdr.ledger_row WHERE relation = ''public.visit'' AND id = 100001') AS whole;
SELECT tamper('DELETE FROM dp_rdr.ledger_row WHERE id = (SELECT max(id) FROM dp_rdr.ledger_row WHERE relation = ''public.visit'')') AS whole;
SELECT tamper('DELETE FROM dp_rdr.ledger_row WHERE relation = ''public.visit''') AS whole;
SELECT tamper('UPDATE dp_rdr.odometer SET public_epsilon = 0 WHERE relation_name = ''public.visit''') AS whole;
SELECT tamper('UPDATE dp_rdr.odometer SET conditional_delta = 1 WHERE relation_name = ''public.visit''') AS whole;
SELECT tamper('UPDATE dp_rdr.odometer SET public_releases = 1 WHERE relation_name = ''public.visit''') AS whole;
SELECT tamper('UPDATE dp_rdr.odometer SET head = ''\x'' WHERE relation_name = ''public.visit''') AS whole;
SELECT tamper('DELETE FROM dp_rdr.odometer WHERE relation_name = ''public.visit''') AS whole;
SELECT tamper('UPDATE dp_rdr.odometer_share SET public_epsilon = 0') AS whole;
SELECT tamper('DELETE FROM dp_rdr.odometer_share') AS whole;

-- Rows that were verified are not read again. What is behind them is, and the row that they end with must still be there.
SELECT dp_verify_ledger('visit');
SELECT v.row_id = (SELECT max(l.id) FROM dp_rdr.ledger_row l WHERE l.table_id = v.table_id) AS to_the_last, v.whole_at < v.at AS whole_before,
       (SELECT sum(c.row_count) FROM dp_rdr.charges(v.table_id, false) c) = (SELECT count(*) FROM dp_rdr.ledger_row l WHERE l.table_id = v.table_id) AS all_rows,
       (SELECT count(*) FROM dp_rdr.charges(v.table_id, false)) < (SELECT count(*) FROM dp_rdr.charges(v.table_id, true)) AS fewer
FROM dp_rdr.verified_ledger v JOIN dp_rdr.protected_table t ON t.domain = v.table_id WHERE t.relation = 'visit'::regclass;
SELECT tamper('UPDATE dp_rdr.ledger_row SET query = ''x'' WHERE id = 100003', false) AS quick, tamper('UPDATE dp_rdr.ledger_row SET query = ''x'' WHERE id = 100003') AS whole;
SELECT tamper('UPDATE dp_rdr.ledger_row SET hash = sha256(''x'') WHERE id = (SELECT max(id) FROM dp_rdr.ledger_row WHERE relation = ''public.visit'')', false) AS whole;
SELECT tamper('UPDATE dp_rdr.odometer SET public_epsilon = 0 WHERE relation_name = ''public.visit''', false) AS whole;
SELECT tamper($$UPDATE dp_rdr.verified_ledger SET charges = charges - 0 WHERE table_id = (SELECT domain FROM dp_rdr.protected_table WHERE relation = 'visit'::regclass)$$, false) AS whole;
SET ROLE regress_controller;
CREATE TABLE trusted AS SELECT 1 AS v;
SELECT dp_protect('trusted', 'trusted_dp');
SELECT dp_grant('trusted_dp', 'regress_analyst', tau => 0.99);
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM trusted_dp');
SET ROLE regress_controller;
SELECT dp_verify_ledger('trusted');
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM trusted_dp'), attempt('SELECT count(*) FROM trusted_dp');
RESET ROLE;
CREATE FUNCTION last_row() RETURNS bigint LANGUAGE sql AS $$ SELECT max(id) FROM dp_rdr.ledger_row WHERE relation = 'public.trusted' $$;
CREATE FUNCTION tamper_trusted(change text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    whole boolean;
BEGIN
    EXECUTE format('UPDATE dp_rdr.ledger_row SET %s', change);
    whole := dp_verify_ledger('trusted');
    RAISE EXCEPTION USING errcode = 'P0001', message = whole;
EXCEPTION WHEN raise_exception THEN
    RETURN sqlerrm;
END $$;
SELECT tamper_trusted(change) AS whole FROM unnest(ARRAY['query = ''x'' WHERE id = last_row()', 'epsilon = 0.001 WHERE id = last_row() - 1',
    'previous_hash = ''x'' WHERE id = last_row() - 1', 'hash = ''x'' WHERE id = last_row() - 2', 'query = query WHERE id = last_row()']) change;
SELECT dp_verify_ledger('trusted') AS quick, dp_verify_ledger('trusted', "full" => true) AS whole;
SELECT whole_at = at AS whole_now FROM dp_rdr.verified_ledger v JOIN dp_rdr.protected_table t ON t.domain = v.table_id WHERE t.relation = 'trusted'::regclass;
-- A publication of all tables takes none of what is written beside a charge: a denial that is counted again is an UPDATE.
SET client_min_messages = error; -- wal_level
CREATE PUBLICATION everything FOR ALL TABLES;
RESET client_min_messages;
SET ROLE regress_controller;
SELECT dp_set_odometer('trusted', 'filter', 0.03);
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM trusted_dp'), attempt('SELECT count(*) FROM trusted_dp'), attempt('SELECT count(*) FROM trusted_dp');
RESET ROLE;
DROP PUBLICATION everything;
SELECT role_name, times FROM dp_rdr.denials WHERE relation = 'public.trusted';
DROP TABLE trusted CASCADE;
DROP FUNCTION tamper_trusted, last_row;
-- Where nothing can be written it verifies all the same.
BEGIN TRANSACTION READ ONLY;
SELECT dp_verify_ledger('visit');
COMMIT;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT dp_verify_ledger('visit');
COMMIT;
SET ROLE regress_controller;
SELECT attempt('SELECT * FROM dp_rdr.verified_ledger'), attempt('SELECT * FROM dp_rdr.charges(gen_random_uuid(), true)');
RESET ROLE;

-- ---------------------------------------------------------------------------------------------------------------------
-- Each controller sees the charges of the own tables; an analyst none
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_second;
CREATE TABLE elsewhere AS SELECT 1 AS v;
SELECT dp_protect('elsewhere', 'elsewhere_dp');
SELECT dp_grant('elsewhere_dp', 'regress_analyst', tau => 0.95);
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM elsewhere_dp');
SET ROLE regress_second;
SELECT id > 100001 AS later, relation, view, role_name, account, epsilon FROM dp_rdr.ledger;
SELECT attempt($$SELECT * FROM dp_odometer('visit')$$), attempt($$SELECT dp_verify_ledger('visit')$$),
       attempt($$SELECT * FROM dp_odometer('visit_dp')$$);
SET ROLE regress_controller;
SELECT DISTINCT relation FROM dp_rdr.ledger WHERE relation ~ '^public\.(visit|fresh|healthy|outbreak|elsewhere)' ORDER BY 1;
SET ROLE regress_analyst;
SELECT count(*) AS of_others FROM dp_rdr.ledger;
SELECT attempt('SELECT * FROM dp_rdr.ledger_row'), attempt('SELECT * FROM dp_rdr.odometer'),
       attempt($$SELECT * FROM dp_odometer('visit')$$), attempt($$SELECT dp_verify_ledger('visit')$$);
RESET ROLE;
SELECT count(DISTINCT relation) >= 6 AS superuser_sees_all FROM dp_rdr.ledger;
-- By table, or by number, without reading the rest: what the view shows, and nothing of others.
SELECT count(*) > 10 AS many, count(*) = (SELECT count(*) FROM dp_rdr.ledger) AS all_rows FROM dp_ledger();
SELECT id, relation FROM dp_ledger(id => 100003);
SET ROLE regress_controller;
SELECT count(*) > 5 AS several FROM dp_ledger('visit');
SELECT count(*) AS more FROM (TABLE dp_rdr.ledger EXCEPT ALL SELECT * FROM dp_ledger()) x;
SELECT count(*) AS less FROM (SELECT * FROM dp_ledger('visit') EXCEPT ALL SELECT * FROM dp_rdr.ledger WHERE relation = 'public.visit') x;
SELECT count(*) AS more FROM (SELECT * FROM dp_rdr.ledger WHERE relation = 'public.visit' EXCEPT ALL SELECT * FROM dp_ledger('visit_dp')) x;
SELECT count(*) > 0 AS spent, count(*) = (SELECT count(*) FROM dp_rdr.spending WHERE relation = 'public.visit') AS the_same FROM dp_spending('visit');
SELECT id, relation FROM dp_ledger('visit', 100003) UNION ALL SELECT id, relation FROM dp_ledger('healthy', 100003);
SELECT id, relation FROM dp_ledger(id => 100003);
SET ROLE regress_analyst;
SELECT count(*) AS of_others FROM dp_ledger();
SELECT count(*) AS of_others FROM dp_ledger(id => 100003);
SELECT attempt($$SELECT * FROM dp_ledger('visit')$$), attempt($$SELECT * FROM dp_ledger('visit', 100003)$$), attempt($$SELECT * FROM dp_spending('visit')$$);
RESET ROLE;
SET ROLE regress_controller;
CREATE TABLE unprotected (v integer);
SELECT attempt($$SELECT * FROM dp_odometer('unprotected')$$);
SELECT attempt($$SELECT dp_verify_ledger('unprotected')$$), attempt($$SELECT * FROM dp_ledger('unprotected')$$);
SELECT attempt($$SELECT * FROM dp_odometer(1::oid)$$);

SELECT dp_unprotect('visit_dp'), dp_unprotect('fresh_dp'), dp_unprotect('fresher_dp'), dp_unprotect('freshest_dp'),
       dp_unprotect('healthy_dp'), dp_unprotect('outbreak_dp');
-- The ledger stays.
SELECT relation, sum(epsilon) AS epsilon, count(*) FROM dp_rdr.ledger GROUP BY relation HAVING relation IN ('public.visit', 'public.healthy') ORDER BY 1;
SELECT dp_verify_ledger('visit') AS visit;
DROP VIEW recorded;
DROP TABLE visit, fresh, fresher, freshest, healthy, outbreak, unprotected;
DROP FUNCTION spent, transcript;

-- A new table of an old name: its owner goes on with the totals; another owner starts afresh, and sees nothing of the old.
SET ROLE regress_second;
DROP TABLE elsewhere CASCADE;
CREATE TABLE elsewhere AS SELECT 1 AS v;
SELECT dp_protect('elsewhere', 'elsewhere_dp');
SELECT account, epsilon, releases FROM dp_odometer('elsewhere');
SELECT count(*) AS charges_shown FROM dp_rdr.ledger;
DROP TABLE elsewhere CASCADE;
SET ROLE regress_controller;
CREATE TABLE elsewhere AS SELECT 1 AS v;
SELECT dp_protect('elsewhere', 'elsewhere_dp');
SELECT account, epsilon, releases FROM dp_odometer('elsewhere');
SELECT count(*) AS charges_shown FROM dp_rdr.ledger WHERE relation = 'public.elsewhere';
DROP TABLE elsewhere CASCADE;
RESET ROLE;
DROP FUNCTION tamper;
