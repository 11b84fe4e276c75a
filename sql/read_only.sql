-- Setters in a read-only transaction, which all transactions of a standby are: 25006, and nothing of the statements inside. Then
-- rows of a view that was dropped, and whose name something else has.

LOAD 'dp_rdr';
SET client_min_messages = warning;
DROP ROLE IF EXISTS ro_owner, ro_asker;
RESET client_min_messages;
CREATE ROLE ro_owner;
CREATE ROLE ro_asker;
GRANT CREATE ON SCHEMA public TO ro_owner;
SET ROLE ro_owner;
CREATE TABLE ro_boat (id integer PRIMARY KEY, length integer, harbour text);
CREATE TABLE ro_sail (id integer PRIMARY KEY, boat integer REFERENCES ro_boat);
CREATE TABLE ro_harbour (harbour text PRIMARY KEY);
CREATE TABLE ro_new (id integer);
SELECT dp_protect('ro_boat', 'ro_boat_dp'), dp_protect('ro_sail', 'ro_sail_dp');
SELECT dp_grant('ro_boat_dp', 'ro_asker', tau => 0.9);

-- The functions that a call goes through, without lines of this file.
CREATE FUNCTION ro_error(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    context text;
BEGIN
    EXECUTE call;
    RETURN 'done';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS context = PG_EXCEPTION_CONTEXT;
    RETURN sqlstate || ' ' || sqlerrm || regexp_replace(context, '\s*(SQL statement "SELECT [^"]*"\s*)?PL/pgSQL function ro_error.*', '');
END $$;
BEGIN READ ONLY;
SELECT call, ro_error('SELECT ' || call) FROM unnest(ARRAY[
    $$dp_protect('ro_new', 'ro_new_dp')$$, $$dp_unprotect('ro_boat_dp')$$, $$dp_refresh('ro_boat_dp')$$,
    $$dp_set_bounds('ro_boat', 'length', 0, 40)$$, $$dp_set_groups('ro_boat', 'harbour', '{Kiel,Wismar}')$$,
    $$dp_set_odometer('ro_boat', epsilon_total => 3)$$, $$dp_grant('ro_boat_dp', 'ro_asker', tau => 0.8)$$,
    $$dp_revoke('ro_boat_dp', 'ro_asker')$$, $$dp_resume('ro_boat_dp', 'ro_asker')$$, $$dp_forget('ro_boat')$$,
    $$dp_set_unit('ro_sail', 'id', max_rows => 3)$$, $$dp_set_contribution('ro_boat', max_rows => 3)$$,
    $$dp_set_public('ro_harbour', 'ro_boat')$$, $$dp_unset_public('ro_harbour', 'ro_boat')$$,
    $$dp_set_review('ro_boat', '{ro_asker}')$$, $$dp_join_domains('ro_sail', 'ro_boat')$$]) call;
COMMIT;

-- Touched, what the view had is kept for dp_refresh() under a number of nothing, and nobody inherits it.
CREATE VIEW ro_boat_kept AS SELECT 1 AS nothing;
SELECT 'ro_boat_dp'::regclass::oid AS number \gset
DROP VIEW ro_boat_dp;
ALTER VIEW ro_boat_kept RENAME TO ro_boat_dp;
SELECT dp_protect('ro_new', 'ro_new_dp');
RESET ROLE;
SELECT count(*) AS policies, count(*) FILTER (WHERE view::oid >= 4026531840::oid) AS of_nothing FROM dp_rdr.policy
WHERE grantee = 'ro_asker'::regrole;
SELECT count(*) AS under_its_number FROM dp_rdr.restricted_view v WHERE v.view::oid = :number;
SELECT object, finding FROM dp_audit() WHERE finding ~ 'names it' AND object ~ 'ro_';

SET client_min_messages = error;
SELECT dp_unprotect('ro_sail_dp'), dp_unprotect('ro_new_dp');
DROP VIEW ro_boat_dp;
DROP TABLE ro_sail, ro_boat, ro_harbour, ro_new;
DROP FUNCTION ro_error;
DROP OWNED BY ro_owner, ro_asker;
DROP ROLE ro_owner, ro_asker;
