-- Hostile arguments, hostile settings, hostile owners: what one role could do to the server or to another role.

LOAD 'dp_rdr';
SET client_min_messages = warning;
DROP ROLE IF EXISTS regress_hostile, regress_asker;
CREATE ROLE regress_hostile; -- an owner of tables and types
CREATE ROLE regress_asker;   -- an analyst
CREATE SCHEMA hostile AUTHORIZATION regress_hostile;
GRANT USAGE ON SCHEMA hostile TO PUBLIC;

-- ---------------------------------------------------------------------------------------------------------------------
-- Functions that anybody may call, with values of types that they are not called with otherwise. The server ended.
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_asker;
SELECT dp_rdr.up_to_size(5, 0), dp_rdr.up_to_size(5::bigint, 0), dp_rdr.up_to_size('x'::name, 0),
       dp_rdr.up_to_size(1.5::float8, 0), dp_rdr.up_to_size('x'::"char", 0), dp_rdr.up_to_size(true, 0);
SELECT dp_rdr.up_to_size('x'::cstring, 0), dp_rdr.up_to_size('abc'::text, 3), dp_rdr.up_to_size('abc'::text, 2) IS NULL AS too_long,
       dp_rdr.up_to_size('abc'::text, -1) IS NULL AS no_size, dp_rdr.up_to_size(ARRAY[1, 2], 100);
SELECT dp_rdr.canonical(5, -2147483648), dp_rdr.canonical('x'::cstring, 3), dp_rdr.canonical('ab  '::char(4), 2147483647),
       dp_rdr.is_short(5), dp_rdr.is_short('x'::cstring);
RESET ROLE;

-- ---------------------------------------------------------------------------------------------------------------------
-- A type of a user's with a cast to json of his own: whoever looked at the risk ran it, a superuser too.
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_hostile;
CREATE TYPE hostile.mood AS ENUM ('low', 'high');
CREATE FUNCTION hostile.trap(hostile.mood) RETURNS json LANGUAGE plpgsql AS
    $$BEGIN RAISE EXCEPTION 'trapped %', CASE current_user WHEN 'regress_hostile' THEN current_user ELSE 'somebody else' END; END$$;
CREATE CAST (hostile.mood AS json) WITH FUNCTION hostile.trap(hostile.mood);
CREATE DOMAIN hostile.temper AS hostile.mood;
CREATE TABLE hostile.t (m hostile.mood, d hostile.temper, ms hostile.mood[], x integer);
INSERT INTO hostile.t VALUES ('low', 'low', '{low}', 1), ('high', 'low', '{low,high}', 2), (NULL, NULL, NULL, 3);
SELECT dp_protect('hostile.t', 'hostile.t_dp', columns => '{m,d,ms,x}');
SELECT dp_set_bounds('hostile.t', 'x', 0, 5), dp_set_odometer('hostile.t', 'none');
RESET ROLE;
SELECT record FROM dp_risk_records('SELECT m, d, sum(x) FROM hostile.t_dp GROUP BY m, d', 1) ORDER BY record;
SELECT record FROM dp_risk_records('SELECT m, ms, max(x) FROM hostile.t_dp GROUP BY m, ms', 1) ORDER BY record;
SELECT record FROM dp_risk_output('SELECT m, count(*) FROM hostile.t_dp GROUP BY m', '{1,1,1}', epsilon => 1) ORDER BY record;
DO $$
DECLARE
    epsilon numeric;
    answer jsonb;
BEGIN
    CALL dp_find_epsilon('SELECT m, count(*) FROM hostile.t_dp GROUP BY m', 0.5, epsilon, answer);
    RAISE WARNING '%', (SELECT jsonb_agg(g -> 'm') FROM jsonb_array_elements(answer) g);
    CALL dp_find_epsilon('SELECT m, max(x) FROM hostile.t_dp GROUP BY m', 0.5, epsilon, answer, sensitivity => 5);
    RAISE WARNING '%', (SELECT jsonb_agg(g -> 'm') FROM jsonb_array_elements(answer) g);
END $$;

-- A condition that names such a type as a function: accepted, and then no query could read it, which suspended its analyst.
SET ROLE regress_hostile;
CREATE DOMAIN hostile.checked AS integer CHECK (VALUE > 0);
SELECT dp_grant('hostile.t_dp', 'regress_asker', tau => 0.5, selection => 'within_data', group_b => 'x = 2',
                group_a => 'CASE WHEN x = 1 THEN hostile._checked(''{3}'') END IS NULL');
RESET ROLE;

-- ---------------------------------------------------------------------------------------------------------------------
-- Many declared groups: each query, and the process that charges it, took the square of their number in time.
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_hostile;
CREATE TABLE hostile.many (id integer);
SELECT dp_protect('hostile.many', 'hostile.many_dp');
SELECT dp_set_groups('hostile.many', 'id', array_agg(g::text)) FROM generate_series(1, 300000) g;
SELECT dp_grant('hostile.many_dp', 'regress_asker', tau => 0.5);
SET ROLE regress_asker;
SET statement_timeout = '20s';
SELECT count(*) IS NOT NULL AS answered FROM hostile.many_dp;
RESET statement_timeout;
RESET ROLE;
SELECT dp_unprotect('hostile.many_dp');

-- ---------------------------------------------------------------------------------------------------------------------
-- With exit_on_error an error about a row went to the client as FATAL: nothing caught it, nobody was suspended.
-- ---------------------------------------------------------------------------------------------------------------------

SELECT dp_grant('hostile.t_dp', 'regress_asker', tau => 0.5);
SELECT pg_get_functiondef('dp_rdr.int4pl(integer, integer)'::regprocedure) AS whole \gset
CREATE OR REPLACE FUNCTION dp_rdr.int4pl(integer, integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE STRICT AS
    $$BEGIN RAISE EXCEPTION 'the victim is %', $1; END$$;
-- The error about the row is in a keeper, where the setting is not; what the session hears of it ends the session, as it asked
-- for, and says what it says to everybody. The suspension is there before.
\setenv PGDATABASE :DBNAME
\! psql -X -q -c "LOAD 'dp_rdr'; SET ROLE regress_asker" -c "DO 'BEGIN PERFORM set_config(''exit_on_error'', ''on'', true); PERFORM count(*) FROM hostile.t_dp WHERE x + 1 > 0; EXCEPTION WHEN others THEN RAISE WARNING ''caught''; END'" -c "SELECT 'the session goes on'" 2>&1 | head -n 2
SELECT role FROM dp_rdr.suspension WHERE view = 'hostile.t_dp'::regclass;
:whole;

-- Called with NULLs by anybody, no function of dp_rdr comes to an error that nobody thought of (XX000).
SELECT x.name, attempt(x.call) FROM (
    SELECT p.oid::regprocedure AS name, format('SELECT dp_rdr.%I(%s)', p.proname, string_agg('NULL::' || CASE
        WHEN a.type IN ('"any"'::regtype, 'anyelement'::regtype, 'anyenum'::regtype) THEN 'integer' ELSE a.type::regtype::text END, ', '
        ORDER BY a.place)) AS call
    FROM pg_proc p, unnest(p.proargtypes) WITH ORDINALITY a (type, place)
    WHERE p.pronamespace = 'dp_rdr'::regnamespace AND has_function_privilege('regress_asker', p.oid, 'EXECUTE') GROUP BY p.oid) x
WHERE attempt(x.call) ~ '^XX';

SELECT dp_unprotect('hostile.t_dp');
DROP SCHEMA hostile CASCADE;
