-- The second wall: a query that fails while it reads rows is the last one of its role, until the owner has looked.
LOAD 'dp_rdr';

SET ROLE regress_controller;
CREATE TABLE fragile (id integer, long_text text);
ALTER TABLE fragile ALTER long_text SET STORAGE EXTERNAL;
INSERT INTO fragile SELECT id, repeat(md5(id::text), 250) FROM generate_series(1, 20000) id;
SELECT dp_protect('fragile', 'fragile_dp'), dp_protect('fragile', 'other_dp');
SELECT dp_set_odometer('fragile', 'none'), dp_grant('fragile_dp', 'regress_analyst', tau => 0.95, delta => 1e-6),
       dp_grant('other_dp', 'regress_analyst', tau => 0.95), dp_grant('fragile_dp', 'regress_team', tau => 0.95);
RESET ROLE;

-- A hole that nobody knows of, made by the superuser: id + 1 fails for one row, as a committed table says and if it says so.
-- (Rows are read in a keeper: it sees no setting of the session that asks.)
CREATE TABLE hole (victim integer, code text, cancel boolean);
INSERT INTO hole VALUES (4242, 'XX001', false);
SELECT pg_get_functiondef('dp_rdr.int4pl(integer, integer)'::regprocedure) AS whole \gset
CREATE OR REPLACE FUNCTION dp_rdr.int4pl(integer, integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE STRICT SECURITY DEFINER AS $$
DECLARE
    hole public.hole = (SELECT h FROM public.hole h WHERE victim = $1);
    long_text text = CASE WHEN hole.cancel THEN repeat(repeat('x', 1000), 200000) END;
    asker integer = (SELECT pid FROM pg_stat_activity WHERE application_name = 'pg_regress/suspension' AND state = 'active' AND hole.cancel);
BEGIN
    IF hole.victim IS NOT NULL THEN
        -- A cancel that comes with the error is too late: whoever waits is told to go, while nothing here looks for interrupts.
        RAISE EXCEPTION 'the victim is %', $1 + CASE WHEN hole.cancel THEN pg_cancel_backend(asker)::integer + length(md5(long_text)) ELSE 0 END USING ERRCODE = hole.code;
    END IF;
    RETURN $1 + $2;
END $$;

-- Neither a rollback nor an exception block undoes it.
BEGIN;
SET LOCAL ROLE regress_analyst;
SELECT count(*) FROM fragile_dp WHERE id + 1 > 0;
ROLLBACK;
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM fragile_dp');
SELECT attempt('SELECT count(*) FROM fragile_dp WHERE id + 1 > 0');
SELECT accepted, reason FROM dp_explain('SELECT count(*) FROM fragile_dp');
SELECT attempt($$SELECT * FROM dp_query('SELECT count(*) FROM fragile_dp') AS (n bigint)$$);
-- Another view is another matter; another role is, but in the same session.
SELECT attempt('SELECT count(*) FROM other_dp');
SET ROLE regress_member;
SELECT attempt('SELECT count(*) FROM fragile_dp');
SET SESSION AUTHORIZATION regress_member;
SELECT attempt('SELECT count(*) FROM fragile_dp');

-- The ledger: the charge stays, the suspension has a row of its own and costs nothing.
RESET SESSION AUTHORIZATION;
SET ROLE regress_controller;
SELECT kind, outcome, role_name, session_role = session_user AS this_session, account, algorithm, mechanism, guarantee,
       epsilon, delta, rho, query FROM dp_rdr.ledger WHERE relation LIKE '%fragile' ORDER BY id LIMIT 2;
SELECT dp_verify_ledger('fragile');
SELECT account, releases FROM dp_odometer('fragile');
SELECT severity, object, replace(finding, session_user, 'session_user') AS finding, remedy FROM dp_audit() WHERE finding LIKE '%suspended%';
SET ROLE regress_stranger;
SELECT dp_resume('fragile_dp', 'regress_analyst');
SELECT * FROM dp_rdr.suspension;
SET ROLE regress_controller;
SELECT dp_resume('fragile_dp', 'regress_team');
SELECT dp_resume('fragile_dp', 'regress_analyst');
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM fragile_dp');

-- Lack of resources and locks suspend nobody.
RESET ROLE;
SELECT format('UPDATE hole SET code = %L', code), 'SET ROLE regress_analyst',
       format('SELECT %L AS code, attempt(%L)', code, 'SELECT count(*) FROM public.fragile_dp WHERE id + 1 > 0'), 'RESET ROLE'
FROM unnest('{53100,53200,53400,58030,08006,40P01,55P03}'::text[]) code \gexec
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM fragile_dp');
-- Everything else does: groups that nobody declared, FILTER, and the selection of an epsilon likewise.
RESET ROLE;
UPDATE hole SET code = '22012';
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM public.fragile_dp WHERE id + 1 > 0');
SELECT attempt('SELECT count(*) FROM fragile_dp');
SET ROLE regress_controller;
SELECT dp_resume('fragile_dp', 'regress_analyst');
-- He does not wait for the end of it: his role is suspended soon.
RESET ROLE;
UPDATE hole SET cancel = true;
SET ROLE regress_analyst;
SELECT id + 1, count(*) FROM fragile_dp GROUP BY 1;
RESET ROLE;
UPDATE hole SET cancel = false;
DO $$
BEGIN
    FOR i IN 1..1200 LOOP
        EXIT WHEN EXISTS (SELECT FROM dp_rdr.suspension);
        PERFORM pg_sleep(0.05);
    END LOOP;
END $$;
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM fragile_dp');
SET ROLE regress_controller;
SELECT dp_resume('fragile_dp', 'regress_analyst');
SELECT dp_grant('fragile_dp', 'regress_second', selection => 'within_data', tau => 0.5);
SET ROLE regress_second;
SELECT attempt('SELECT count(*) FROM fragile_dp WHERE id + 1 > 0');
SELECT attempt('SELECT count(*) FROM fragile_dp');
-- The controller's own calls are his.
SET ROLE regress_controller;
SELECT dp_resume('fragile_dp', 'regress_second');
CALL dp_find_epsilon('SELECT count(*) FROM fragile_dp WHERE id + 1 > 0', 0.5);
SELECT count(*) AS suspended FROM dp_audit() WHERE finding LIKE '%suspended%';
SELECT dp_revoke('fragile_dp', 'regress_analyst');

-- The third member of a group takes its policy along.
RESET ROLE;
CREATE ROLE regress_member_2 IN ROLE regress_team;
CREATE ROLE regress_member_3 IN ROLE regress_team;
CREATE ROLE regress_member_4 IN ROLE regress_team;
UPDATE hole SET code = 'XX000';
SET SESSION AUTHORIZATION regress_member;
SELECT attempt('SELECT count(*) FROM fragile_dp WHERE id + 1 > 0');
SET SESSION AUTHORIZATION regress_member_2;
SELECT attempt('SELECT count(*) FROM fragile_dp WHERE id + 1 > 0');
SET SESSION AUTHORIZATION regress_member_4;
SELECT attempt('SELECT count(*) FROM fragile_dp');
SET SESSION AUTHORIZATION regress_member_3;
SELECT attempt('SELECT count(*) FROM fragile_dp WHERE id + 1 > 0');
SET SESSION AUTHORIZATION regress_member_4;
SELECT attempt('SELECT count(*) FROM fragile_dp');
-- Lifted for one of them, it is two again.
RESET SESSION AUTHORIZATION;
SET ROLE regress_controller;
SELECT dp_resume('fragile_dp', 'regress_member_2');
RESET ROLE;
SET SESSION AUTHORIZATION regress_member_4;
SELECT attempt('SELECT count(*) FROM fragile_dp');
SET SESSION AUTHORIZATION regress_member_2;
SELECT attempt('SELECT count(*) FROM fragile_dp');
SET SESSION AUTHORIZATION regress_member_3;
SELECT attempt('SELECT count(*) FROM fragile_dp');
RESET SESSION AUTHORIZATION;
SET ROLE regress_controller;
SELECT dp_resume('fragile_dp', 'regress_team');
SELECT dp_verify_ledger('fragile');

-- ---------------------------------------------------------------------------------------------------------------------
-- How far a failing query came is not to be seen in the buffers of the function that catches its error, nor in the counters
-- of the database (an error that the owner's server makes, 53200, so that nobody is suspended).
-- ---------------------------------------------------------------------------------------------------------------------
SELECT dp_grant('fragile_dp', 'regress_analyst', tau => 0.95, delta => 1e-6);
RESET ROLE;
-- Of errors in two rows by turns, until as few were seen for both: what others do meanwhile costs buffers as well.
CREATE PROCEDURE buffers(query text, INOUT more bigint) LANGUAGE plpgsql AS $$
DECLARE
    plan json;
    least_so_far bigint[] = '{NULL,NULL}';
BEGIN
    FOR i IN 1..60 LOOP
        UPDATE hole SET victim = (ARRAY[10, 4242])[i % 2 + 1];
        COMMIT;
        SET ROLE regress_analyst;
        EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT attempt(' || quote_literal(query) || ')' INTO plan;
        RESET ROLE;
        least_so_far[i % 2 + 1] = least(least_so_far[i % 2 + 1], (plan->0->'Plan'->>'Shared Hit Blocks')::bigint +
                                                                 (plan->0->'Plan'->>'Shared Read Blocks')::bigint);
        more = least_so_far[2] - least_so_far[1];
        EXIT WHEN i > 6 AND more = 0;
    END LOOP;
END $$;
CREATE FUNCTION temporary_files() RETURNS bigint LANGUAGE sql
RETURN (SELECT temp_files FROM pg_stat_database WHERE datname = current_database());
UPDATE hole SET code = '53200';
CALL buffers($$SELECT count(*) FROM fragile_dp WHERE long_text > 'a' AND id + 1 > 0$$, NULL) \gset
SELECT :more AS buffers_of_a_later_error;

-- A keeper has the database's work_mem: with a small one it writes its groups out, and says what it counted when it ends.
UPDATE hole SET victim = 19999;
SELECT format('ALTER DATABASE %I SET work_mem = %L', current_database(), '64kB') AS small,
       format('ALTER DATABASE %I RESET work_mem', current_database()) AS usual \gset
:small;
SET client_min_messages = error; -- one that has just ended by itself is warned of
SELECT count(pg_terminate_backend(pid, 5000)) >= 0 AS others_start FROM pg_stat_activity
WHERE backend_type = 'dp_rdr keeper' AND datname = current_database();
RESET client_min_messages;
SELECT pg_stat_force_next_flush();
SELECT temporary_files() AS before \gset
SET ROLE regress_analyst;
SELECT attempt('SELECT id, id + 1, count(*) FROM fragile_dp GROUP BY 1, 2');
SELECT id, id + 1, count(*) FROM fragile_dp GROUP BY 1, 2;
RESET ROLE;
SET client_min_messages = error; -- one that has just ended by itself is warned of
SELECT count(pg_terminate_backend(pid, 5000)) >= 0 AS others_start FROM pg_stat_activity
WHERE backend_type = 'dp_rdr keeper' AND datname = current_database();
RESET client_min_messages;
SELECT pg_stat_force_next_flush();
SELECT temporary_files() - :before AS files_of_an_error;
:usual;

:whole;
DROP PROCEDURE buffers;
DROP FUNCTION temporary_files;
DROP TABLE hole;
SET ROLE regress_controller;
SELECT dp_unprotect('fragile_dp');
DROP TABLE fragile CASCADE;
RESET ROLE;
SELECT count(*) AS left_over FROM dp_rdr.suspension;
DROP ROLE regress_member_2, regress_member_3, regress_member_4;
