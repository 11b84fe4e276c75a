-- By what ways a reviewer could see rows, or learn of them: each is refused with its name, and dp_audit has a remedy for those that are
-- grants. Those that are plainer are in requests.sql.

LOAD 'dp_rdr';
ALTER SEQUENCE dp_rdr.ledger_row_id_seq RESTART WITH 76001;
ALTER SEQUENCE dp_rdr.request_id_seq RESTART WITH 2001;
SET client_min_messages = warning;
DROP ROLE IF EXISTS blind_owner, blind_ann, blind_rita, blind_group;
RESET client_min_messages;
CREATE ROLE blind_owner LOGIN;
CREATE ROLE blind_ann LOGIN;
CREATE ROLE blind_rita LOGIN; -- reviews
CREATE ROLE blind_group;
GRANT CREATE ON SCHEMA public TO blind_owner;
\pset null -
\pset format unaligned
\pset tuples_only on
SET SESSION AUTHORIZATION blind_owner;
CREATE TABLE room (id integer PRIMARY KEY);
INSERT INTO room SELECT generate_series(0, 3);
CREATE TABLE stay AS SELECT id, id % 4 AS room, 20 + id % 60 AS age FROM generate_series(1, 1000) id;
CREATE SEQUENCE stay_id OWNED BY stay.id;
CREATE VIEW stay_copy AS SELECT age FROM stay;
CREATE TABLE history (age integer);
SELECT dp_protect('stay', 'stay_dp') IS NULL;
SELECT dp_set_odometer('stay', epsilon_total => 100), dp_grant('stay_dp', 'blind_ann', tau => 0.9);
SELECT dp_set_review('stay', '{blind_rita}');
RESET SESSION AUTHORIZATION;
CREATE FUNCTION seen(integer) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN true; END';
CREATE FOREIGN DATA WRAPPER blind_wrapper;
CREATE SERVER back FOREIGN DATA WRAPPER blind_wrapper OPTIONS (dbname 'contrib_regression');
SELECT format('ALTER SERVER back OPTIONS (SET dbname %L)', current_database()) \gexec
CREATE USER MAPPING FOR PUBLIC SERVER back OPTIONS (user 'blind_owner');
CREATE FOREIGN TABLE far (age integer) SERVER back OPTIONS (table_name 'stay');

CREATE TABLE ways (id serial, open text, close text);
INSERT INTO ways (open, close) VALUES
    -- keys that a lookup table has
    ('ALTER TABLE stay ADD CONSTRAINT stay_room FOREIGN KEY (room) REFERENCES room; GRANT DELETE ON room TO blind_rita', 'ALTER TABLE stay DROP CONSTRAINT stay_room; REVOKE ALL ON room FROM blind_rita'),
    ('ALTER TABLE stay ADD CONSTRAINT stay_room FOREIGN KEY (room) REFERENCES room; GRANT UPDATE (id) ON room TO blind_rita', 'ALTER TABLE stay DROP CONSTRAINT stay_room; REVOKE ALL ON room FROM blind_rita'),
    -- what she owns, and has taken her own rights on away
    ('CREATE MATERIALIZED VIEW kept AS SELECT * FROM stay; ALTER MATERIALIZED VIEW kept OWNER TO blind_rita; REVOKE ALL ON kept FROM blind_rita', 'DROP MATERIALIZED VIEW kept'),
    ('CREATE MATERIALIZED VIEW kept AS SELECT * FROM stay; CREATE VIEW of_kept AS SELECT age FROM kept; GRANT SELECT (age) ON of_kept TO blind_rita', 'DROP MATERIALIZED VIEW kept CASCADE'),
    -- functions that read with another's rights
    ('CREATE FUNCTION leak() RETURNS bigint SECURITY DEFINER LANGUAGE sql AS ''SELECT count(*) FROM public.stay_copy''; ALTER FUNCTION leak() OWNER TO blind_owner', 'DROP FUNCTION leak()'),
    ('CREATE FUNCTION within() RETURNS bigint BEGIN ATOMIC SELECT count(*) FROM stay; END; CREATE FUNCTION leak() RETURNS bigint SECURITY DEFINER BEGIN ATOMIC SELECT within(); END; ALTER FUNCTION leak() OWNER TO blind_owner', 'DROP FUNCTION leak(); DROP FUNCTION within()'),
    ('GRANT SELECT (age) ON stay TO blind_group; CREATE FUNCTION leak() RETURNS bigint SECURITY DEFINER LANGUAGE sql AS ''SELECT count(age) FROM public.stay''; ALTER FUNCTION leak() OWNER TO blind_group', 'DROP FUNCTION leak(); REVOKE ALL ON stay FROM blind_group'),
    ('CREATE FUNCTION leak() RETURNS trigger SECURITY DEFINER LANGUAGE plpgsql AS ''BEGIN PERFORM FROM public.stay; RETURN NEW; END''; ALTER FUNCTION leak() OWNER TO blind_owner; REVOKE ALL ON FUNCTION leak() FROM PUBLIC; CREATE TRIGGER t BEFORE INSERT ON history FOR EACH ROW EXECUTE FUNCTION leak(); GRANT INSERT ON history TO blind_rita', 'DROP TRIGGER t ON history; DROP FUNCTION leak(); REVOKE ALL ON history FROM blind_rita'),
    -- her own code, through which rows pass
    ('ALTER FUNCTION seen(integer) OWNER TO blind_rita; CREATE POLICY p ON stay USING (seen(age)); ALTER TABLE stay ENABLE ROW LEVEL SECURITY', 'DROP POLICY p ON stay; ALTER TABLE stay DISABLE ROW LEVEL SECURITY; ALTER FUNCTION seen(integer) OWNER TO CURRENT_USER'),
    ('ALTER FUNCTION seen(integer) OWNER TO blind_rita; CREATE VIEW of_seen AS SELECT age FROM stay WHERE seen(age); ALTER VIEW of_seen OWNER TO blind_owner', 'DROP VIEW of_seen; ALTER FUNCTION seen(integer) OWNER TO CURRENT_USER'),
    -- what a rule hands on, and what counts
    ('CREATE RULE r AS ON INSERT TO stay DO ALSO INSERT INTO history VALUES (NEW.age); GRANT SELECT ON history TO blind_rita', 'DROP RULE r ON stay; REVOKE ALL ON history FROM blind_rita'),
    ('GRANT SELECT ON SEQUENCE stay_id TO blind_rita', 'REVOKE ALL ON SEQUENCE stay_id FROM blind_rita'),
    -- what the server keeps from everybody
    ('GRANT EXECUTE ON FUNCTION pg_read_binary_file(text) TO blind_rita', 'REVOKE EXECUTE ON FUNCTION pg_read_binary_file(text) FROM blind_rita'),
    ('GRANT EXECUTE ON FUNCTION pg_ls_dir(text) TO PUBLIC', 'REVOKE EXECUTE ON FUNCTION pg_ls_dir(text) FROM PUBLIC'),
    ('GRANT SELECT ON pg_statistic TO blind_group; GRANT blind_group TO blind_rita', 'REVOKE SELECT ON pg_statistic FROM blind_group; REVOKE blind_group FROM blind_rita'),
    ('GRANT SELECT (stavalues1) ON pg_statistic TO blind_rita', 'REVOKE SELECT (stavalues1) ON pg_statistic FROM blind_rita'),
    ('GRANT ALTER SYSTEM ON PARAMETER archive_command TO blind_rita', 'REVOKE ALTER SYSTEM ON PARAMETER archive_command FROM blind_rita'),
    ('GRANT SET ON PARAMETER session_preload_libraries TO blind_rita', 'REVOKE SET ON PARAMETER session_preload_libraries FROM blind_rita'),
    -- and what the extension does
    ('GRANT SELECT ON dp_rdr.request TO blind_rita', 'REVOKE ALL ON dp_rdr.request FROM blind_rita'),
    ('GRANT SELECT (epsilon) ON dp_rdr.ledger_row TO blind_rita', 'REVOKE ALL ON dp_rdr.ledger_row FROM blind_rita'),
    ('GRANT CREATE ON SCHEMA dp_rdr TO blind_rita', 'REVOKE CREATE ON SCHEMA dp_rdr FROM blind_rita'),
    -- servers that lead back
    ('GRANT USAGE ON FOREIGN SERVER back TO blind_rita', 'REVOKE ALL ON FOREIGN SERVER back FROM blind_rita'),
    ('GRANT SELECT ON far TO blind_rita', 'REVOKE ALL ON far FROM blind_rita');
CREATE FUNCTION way(id bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    detail text; message text;
BEGIN
    PERFORM dp_approve(id);
    RETURN 'APPROVED';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL;
    RETURN sqlstate || CASE WHEN message ~ 'does not decide as a reviewer' THEN ' ' || detail ELSE ': ' || message END;
END $$;
CREATE TABLE found_before AS SELECT severity, object, finding FROM dp_audit() WHERE false;
GRANT ALL ON found_before TO blind_owner;
SET SESSION AUTHORIZATION blind_owner;
INSERT INTO found_before SELECT severity, object, finding FROM dp_audit();
SET SESSION AUTHORIZATION blind_ann;
SELECT dp_request('SELECT count(*) AS n FROM stay_dp', 'to be reviewed') AS last \gset
RESET SESSION AUTHORIZATION;
SET client_min_messages = error;
SELECT open, format('SET SESSION AUTHORIZATION blind_rita'), format('SELECT way(%s)', :last), 'SET SESSION AUTHORIZATION blind_owner',
    'SELECT severity, object, finding, remedy FROM dp_audit() WHERE (severity, object, finding) NOT IN (SELECT * FROM found_before)',
    'SET SESSION AUTHORIZATION DEFAULT', close FROM ways ORDER BY id \gexec
RESET client_min_messages;
-- Nothing is left that would refuse her.
SET SESSION AUTHORIZATION blind_rita;
SELECT way(:last);

RESET SESSION AUTHORIZATION;
DROP FOREIGN DATA WRAPPER blind_wrapper CASCADE;
SELECT dp_unprotect('stay_dp');
DROP TABLE ways, history, found_before;
DROP VIEW stay_copy;
DROP TABLE stay, room;
DROP FUNCTION way, seen;
REVOKE CREATE ON SCHEMA public FROM blind_owner;
DROP ROLE blind_ann, blind_rita, blind_group;
