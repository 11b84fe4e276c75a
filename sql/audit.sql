-- dp_audit: every mistake is found once, by the controller and by a superuser alike, and is gone when its remedy was applied.

LOAD 'dp_rdr';
SET client_min_messages = error;
DROP ROLE IF EXISTS regress_keeper, regress_reader, regress_colleague, "regress Odd", regress_root;
CREATE ROLE regress_keeper;
CREATE ROLE regress_reader;       -- an analyst
CREATE ROLE regress_colleague;    -- has nothing
CREATE ROLE "regress Odd";
CREATE ROLE regress_root SUPERUSER;
GRANT CREATE ON SCHEMA public TO regress_keeper, "regress Odd";

SET ROLE regress_keeper;
CREATE TABLE patient (id integer PRIMARY KEY, age integer, note text, gone integer);
INSERT INTO patient SELECT i, i % 90, 'note ' || i, i FROM generate_series(1, 50) i;
CREATE TABLE "Odd table" AS TABLE patient;
CREATE TABLE patient_child () INHERITS (patient);
SELECT dp_protect('patient', 'patient_dp'), dp_protect('"Odd table"', '"Odd view"');
SELECT dp_grant('patient_dp', 'regress_reader', tau => 0.5), dp_grant('"Odd view"', 'regress_reader', tau => 0.5);
SELECT dp_set_bounds('patient', 'age', 0, 120);

-- Only controllers may ask, and they are told about their own tables.
SET ROLE regress_reader;
SELECT * FROM dp_audit();
SET ROLE regress_keeper;
SELECT object FROM dp_audit() WHERE object ~ 'adult';
RESET ROLE;

-- What the audit finds as the controller, and did not find before; a superuser must see it, too.
CREATE TABLE found_before (severity text, object text, finding text, remedy text);
CREATE FUNCTION news(compare boolean = true) RETURNS SETOF found_before LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
BEGIN
    RESET ROLE;
    CREATE TEMP TABLE seen_by_root AS SELECT a.* FROM (SELECT WHERE compare) x, LATERAL dp_audit() a;
    CREATE TEMP TABLE seen (n bigint GENERATED ALWAYS AS IDENTITY, severity text, object text, finding text, remedy text);
    GRANT ALL ON seen TO regress_keeper;
    SET LOCAL ROLE regress_keeper;
    INSERT INTO seen (severity, object, finding, remedy) SELECT * FROM dp_audit();
    RESET ROLE;
    SELECT count(*) INTO n FROM (SELECT severity, object, finding, remedy FROM seen EXCEPT TABLE seen_by_root) x;
    IF compare AND n > 0 THEN
        RAISE 'the superuser misses % findings', n;
    END IF;
    RETURN QUERY SELECT s.severity, s.object, s.finding, s.remedy FROM seen s
        WHERE (s.severity, s.object, s.finding) NOT IN (SELECT b.severity, b.object, b.finding FROM found_before b) ORDER BY s.n;
    DROP TABLE seen, seen_by_root;
END $$;

-- Makes a mistake, returns what is found, applies the remedies (and `undo`, for what they leave behind), and counts what is
-- found still.
CREATE FUNCTION trial(mistake text, undo text = '') RETURNS TABLE (severity text, object text, finding text, remedy text, remains bigint)
LANGUAGE plpgsql AS $$
DECLARE
    finds found_before[];
    f found_before;
BEGIN
    EXECUTE mistake;
    SELECT array_agg(x) INTO finds FROM news() x;
    FOREACH f IN ARRAY finds LOOP
        IF f.remedy !~ '^ALTER SYSTEM' THEN -- not inside of a function
            EXECUTE f.remedy;
        END IF;
    END LOOP;
    EXECUTE 'SELECT; ' || undo;
    SELECT count(*) INTO remains FROM news(false);
    FOREACH f IN ARRAY finds LOOP
        severity := f.severity;
        object := f.object;
        finding := regexp_replace(f.finding, '\m\d{5,}\M', 'NNNNN', 'g');
        remedy := regexp_replace(replace(f.remedy, current_database(), 'DATABASE'), '\m\d{5,}\M', 'NNNNN', 'g');
        RETURN NEXT;
    END LOOP;
END $$;
GRANT INSERT ON found_before TO regress_keeper;
SET ROLE regress_keeper;
INSERT INTO found_before SELECT * FROM dp_audit();
RESET ROLE;
\pset format unaligned
\pset footer off

-- ---------------------------------------------------------------------------------------------------------------------
-- Who reaches the rows (A32, A33, X04)
-- ---------------------------------------------------------------------------------------------------------------------

SELECT * FROM trial('GRANT SELECT, TRIGGER ON patient TO regress_reader');
SELECT * FROM trial('GRANT SELECT (age, note), REFERENCES (id), UPDATE (note) ON "Odd table" TO "regress Odd"');
SELECT * FROM trial('GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER ON patient_child TO PUBLIC');
SELECT * FROM trial('GRANT INSERT, DELETE ON patient TO regress_colleague');
SELECT * FROM trial('ALTER TABLE patient_child OWNER TO "regress Odd"');
SELECT * FROM trial('ALTER DEFAULT PRIVILEGES FOR ROLE regress_keeper IN SCHEMA public GRANT SELECT ON TABLES TO "regress Odd"');
SELECT * FROM trial('GRANT regress_keeper TO regress_reader');
SELECT * FROM trial('GRANT regress_keeper TO regress_colleague; GRANT regress_colleague TO "regress Odd"',
                    'REVOKE regress_colleague FROM "regress Odd"');
SELECT * FROM trial('GRANT pg_read_all_data TO regress_reader');
SELECT * FROM trial('GRANT pg_monitor, pg_write_all_data, pg_read_server_files TO regress_colleague');
SELECT * FROM trial('ALTER ROLE regress_reader REPLICATION; ALTER ROLE "regress Odd" BYPASSRLS');
SELECT * FROM trial($$SELECT dp_grant('patient_dp', 'regress_root', tau => 0.5)$$);

-- Views, also on top of each other, and copies.
SELECT * FROM trial('CREATE VIEW old_people AS SELECT id FROM patient WHERE age > 70; CREATE VIEW "Older" AS SELECT * FROM old_people;
                     GRANT SELECT ON "Older" TO "regress Odd", PUBLIC; GRANT SELECT (id) ON old_people TO regress_reader',
                    'REVOKE ALL (id) ON old_people FROM regress_reader; DROP VIEW IF EXISTS old_people, "Older"');
SELECT * FROM trial('CREATE MATERIALIZED VIEW copy AS SELECT * FROM patient_child; ALTER MATERIALIZED VIEW copy OWNER TO "regress Odd"',
                    'DROP MATERIALIZED VIEW copy');
SELECT * FROM trial('SET ROLE regress_keeper; CREATE MATERIALIZED VIEW copy AS SELECT * FROM patient; CREATE VIEW mine AS SELECT * FROM patient; RESET ROLE');
-- An analyst's view on the restricted view is none of these.
CREATE VIEW answers AS SELECT count(*) FROM patient_dp;
GRANT SELECT ON answers TO PUBLIC;
SELECT * FROM news();
DROP VIEW answers;
SELECT * FROM trial('CREATE TABLE log (n integer); CREATE RULE peek AS ON INSERT TO log DO ALSO UPDATE log SET n = (SELECT max(age) FROM patient);
                     CREATE RULE "to log" AS ON INSERT TO patient DO ALSO INSERT INTO log VALUES (new.age)', 'DROP TABLE log');

-- Functions: a parsed body says what it reads, a string only has the name.
SELECT * FROM trial('CREATE FUNCTION oldest() RETURNS integer LANGUAGE sql SECURITY DEFINER BEGIN ATOMIC SELECT max(age) FROM patient; END',
                    'DROP FUNCTION oldest');
SELECT * FROM trial('CREATE FUNCTION oldest(integer) RETURNS integer LANGUAGE sql SECURITY DEFINER AS ''SELECT max(age) FROM public.patient'';
                     REVOKE ALL ON FUNCTION oldest FROM PUBLIC; GRANT EXECUTE ON FUNCTION oldest TO "regress Odd"', 'DROP FUNCTION oldest');
SELECT * FROM trial('CREATE FUNCTION asks() RETURNS bigint LANGUAGE sql SECURITY DEFINER BEGIN ATOMIC SELECT count(*) FROM patient_dp; END',
                    'DROP FUNCTION asks');

-- Publications, foreign keys, triggers, row-level security.
SELECT * FROM trial('CREATE PUBLICATION "Odd pub" FOR TABLE patient_child, "Odd table"', 'DROP PUBLICATION "Odd pub"');
SELECT * FROM trial('CREATE SCHEMA apart; CREATE TABLE apart.child () INHERITS (patient); ALTER TABLE apart.child OWNER TO regress_keeper;
                     CREATE PUBLICATION all_of_it FOR TABLES IN SCHEMA apart', 'DROP TABLE apart.child; DROP SCHEMA apart');
CREATE PUBLICATION everything FOR ALL TABLES;
SELECT severity, object, finding, remedy FROM dp_audit() WHERE object = 'publication everything' AND finding ~ 'ledger';
DROP PUBLICATION everything;
SELECT * FROM trial('CREATE TABLE visit_of (id integer CONSTRAINT "Odd key" REFERENCES patient); GRANT INSERT ON visit_of TO regress_reader',
                    'DROP TABLE visit_of');
SELECT * FROM trial('CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS ''BEGIN RETURN new; END'';
                     CREATE TRIGGER "Look" BEFORE INSERT ON patient FOR EACH ROW EXECUTE FUNCTION look()', 'DROP FUNCTION look');
SELECT * FROM trial('ALTER TABLE patient ENABLE ROW LEVEL SECURITY');

-- ---------------------------------------------------------------------------------------------------------------------
-- Restricted views, declarations, policies, bounds (X06, X07, X12)
-- ---------------------------------------------------------------------------------------------------------------------

SELECT * FROM trial('CREATE OR REPLACE VIEW "Odd view" AS SELECT * FROM "Odd table"',
                    $$SET ROLE regress_keeper; SELECT dp_protect('"Odd table"', '"Odd view"'); SELECT dp_grant('"Odd view"', 'regress_reader', tau => 0.5);
                      RESET ROLE$$);
SELECT * FROM trial('ALTER VIEW "Odd view" OWNER TO "regress Odd"');
SELECT * FROM trial('ALTER TABLE "Odd table" ALTER age TYPE bigint');
SELECT * FROM trial('ALTER TABLE "Odd table" RENAME age TO years', 'ALTER TABLE "Odd table" RENAME years TO age;
                     SELECT dp_refresh(''"Odd view"'')');
SELECT * FROM trial('ALTER TABLE "Odd table" FORCE ROW LEVEL SECURITY', 'ALTER TABLE "Odd table" NO FORCE ROW LEVEL SECURITY');
SELECT * FROM trial('DROP VIEW "Odd view"', $$SET ROLE regress_keeper; SELECT dp_protect('"Odd table"', '"Odd view"'); RESET ROLE$$);
SELECT * FROM trial($$SELECT dp_set_groups('patient', 'note', '{a,b}'); ALTER TABLE patient RENAME note TO remark; SELECT dp_unprotect('patient_dp')$$,
                    $$ALTER TABLE patient RENAME remark TO note; SET ROLE regress_keeper; SELECT dp_protect('patient', 'patient_dp');
                      SELECT dp_grant('patient_dp', 'regress_reader', tau => 0.5); RESET ROLE$$);
SELECT * FROM trial($$CREATE ROLE regress_leaver; SELECT dp_grant('patient_dp', 'regress_leaver', tau => 0.5); DROP OWNED BY regress_leaver;
                      DROP ROLE regress_leaver$$);
SELECT * FROM trial($$CREATE ROLE regress_leaver; SELECT dp_grant('patient_dp', 'regress_leaver', tau => 0.5); DROP OWNED BY regress_leaver$$,
                    $$SELECT dp_revoke('patient_dp', 'regress_leaver'); DROP ROLE regress_leaver$$);
SELECT * FROM trial($$SELECT dp_grant('patient_dp', '"regress Odd"', tau => 0.5, selection => 'within_data')$$);
SELECT * FROM trial($$SELECT dp_grant('patient_dp', '"regress Odd"', tau => 0.5, epsilon_max => 20)$$);
SELECT * FROM trial($$SELECT dp_grant('patient_dp', '"regress Odd"', tau => 1)$$, $$SELECT dp_revoke('patient_dp', '"regress Odd"')$$);
SELECT * FROM trial($$SELECT dp_grant('patient_dp', '"regress Odd"', tau => 0.5); GRANT regress_reader, "regress Odd" TO regress_colleague$$,
                    $$SELECT dp_revoke('patient_dp', '"regress Odd"'), dp_revoke('patient_dp', 'regress_colleague');
                      REVOKE regress_reader, "regress Odd" FROM regress_colleague$$);
SELECT * FROM trial($$SELECT dp_set_odometer('patient', 'none', NULL)$$);
SELECT * FROM trial($$SELECT dp_set_odometer('patient', 'filter', 50)$$);
SELECT * FROM trial($$SELECT dp_set_odometer('patient', 'filter', 1, 0.01)$$);
SELECT * FROM trial($$SELECT dp_set_odometer('"Odd table"', 'dynamic', 'Infinity')$$, $$SELECT dp_set_odometer('"Odd table"', 'filter', 1)$$);
-- (This remedy leaves the numbers to be filled in.)
SELECT dp_set_bounds('patient', 'age', 1, 2e12);
SELECT * FROM news();
SELECT dp_set_bounds('patient', 'age', 0, 120);

-- ---------------------------------------------------------------------------------------------------------------------
-- The extension, its ledger, functions of its names
-- ---------------------------------------------------------------------------------------------------------------------

SELECT * FROM trial('GRANT CREATE ON SCHEMA dp_rdr TO regress_reader; GRANT CREATE ON SCHEMA pg_catalog TO "regress Odd"');
SELECT * FROM trial('CREATE TABLE dp_rdr."Odd one" (); ALTER TABLE dp_rdr.policy OWNER TO regress_reader;
                     CREATE FUNCTION dp_rdr.more() RETURNS integer LANGUAGE sql AS ''SELECT 1'';
                     ALTER TABLE dp_rdr."Odd one" OWNER TO "regress Odd"; ALTER FUNCTION dp_rdr.more() OWNER TO "regress Odd"');
SELECT * FROM trial('GRANT SELECT, UPDATE ON dp_rdr.odometer TO regress_keeper; GRANT INSERT ON dp_rdr.ledger TO PUBLIC');
SELECT * FROM trial($$UPDATE dp_rdr.odometer SET public_epsilon = 0.5 WHERE relation_name = 'public.patient'$$,
                    $$UPDATE dp_rdr.odometer SET public_epsilon = 0 WHERE relation_name = 'public.patient'$$);
SELECT * FROM trial('CREATE FUNCTION dp_audit(integer) RETURNS text LANGUAGE sql AS ''SELECT null'';
                     CREATE AGGREGATE dp_sum(text) (sfunc = textcat, stype = text)');
-- Everything runs as the owner of the schema.
BEGIN;
ALTER SCHEMA dp_rdr OWNER TO "regress Odd";
SELECT * FROM dp_audit();
ROLLBACK;
-- Whoever owns the extension may drop it, or take the ledger out of it. It moves to somebody else with all that its owner has.
BEGIN;
SELECT * FROM trial($$UPDATE pg_extension SET extowner = '"regress Odd"'::regrole WHERE extname = 'dp_rdr';
    INSERT INTO pg_shdepend SELECT d.oid, 'pg_extension'::regclass, e.oid, 0, 'pg_authid'::regclass, e.extowner, 'o'
    FROM pg_extension e, pg_database d WHERE e.extname = 'dp_rdr' AND d.datname = current_database()$$);
ROLLBACK;
-- What was taken out is put back, and not dropped.
SELECT * FROM trial('ALTER EXTENSION dp_rdr DROP TABLE dp_rdr.ledger_row; ALTER EXTENSION dp_rdr DROP FUNCTION dp_rdr.deny(regclass)');
-- ---------------------------------------------------------------------------------------------------------------------
-- Settings and statistics (C06, C08, C25, X11)
-- ---------------------------------------------------------------------------------------------------------------------

SELECT * FROM trial(format($$
    ALTER DATABASE %1$I SET log_statement = 'all'; ALTER DATABASE %1$I SET auto_explain.log_min_duration = '10ms';
    ALTER ROLE regress_reader SET log_min_duration_statement = 0; ALTER ROLE "regress Odd" IN DATABASE %1$I SET pg_stat_statements.track = 'all'
    $$, current_database()));

-- What this server has by default, and not after the remedies, which fit into a cell.
SELECT severity, object, finding, remedy FROM dp_audit()
WHERE object IN ('statistics functions', 'statistics views', 'size functions', 'pg_class', 'server') AND finding !~ 'pg_stat_io';
SELECT max(length(remedy)) < 350 AS short FROM dp_audit();
BEGIN;
DO $$
DECLARE
    remedy text;
BEGIN
    FOR remedy IN SELECT a.remedy FROM dp_audit() a WHERE a.object IN ('statistics functions', 'statistics views', 'size functions', 'pg_class') LOOP
        EXECUTE remedy;
    END LOOP;
END $$;
SELECT object FROM dp_audit() WHERE object IN ('statistics functions', 'statistics views', 'size functions', 'pg_class');
SET LOCAL ROLE regress_reader;
SELECT attempt(s) FROM unnest('{SELECT * FROM pg_stat_all_tables,SELECT buffers_alloc FROM pg_stat_bgwriter,SELECT pg_stat_get_buf_alloc(),SELECT * FROM pg_stat_database,
    SELECT pg_stat_get_live_tuples(1),SELECT pg_relation_size(1),SELECT pg_table_size(1),SELECT reltuples FROM pg_class,SELECT n_distinct FROM pg_stats}'::text[]) s;
SELECT pg_column_size(1), count(relname) > 0 AS named FROM pg_class;
ROLLBACK;

-- Without preloading a first statement is refused. Whether the server that runs this preloads is not known here.
SELECT current_database() AS database, current_setting('shared_preload_libraries') !~ 'dp_rdr' AS expected \gset
SELECT (count(*) = 1) = :'expected'::boolean AS told FROM dp_audit() WHERE object = 'session_preload_libraries';
ALTER DATABASE :"database" SET session_preload_libraries = 'dp_rdr';
SELECT count(*) FROM dp_audit() WHERE object = 'session_preload_libraries';
ALTER DATABASE :"database" SET session_preload_libraries = 'auto_explain';
SELECT count(*) = :'expected'::boolean::integer AS told, count(*) FILTER (WHERE remedy NOT LIKE '%SET session\_preload\_libraries = auto\_explain, dp\_rdr;') AS other
FROM dp_audit() WHERE object = 'session_preload_libraries';
ALTER DATABASE :"database" RESET session_preload_libraries;

-- Nothing is left of all this, and the order is always the same.
SELECT * FROM news();
SELECT array_agg(DISTINCT severity ORDER BY severity) AS severities FROM dp_audit();
ALTER DATABASE :"database" SET auto_explain.log_min_duration = '10ms'; -- a warning from the end of the list
SELECT count(*) FILTER (WHERE rank < before) AS out_of_order
FROM (SELECT rank, lag(rank) OVER (ORDER BY n) AS before
      FROM (SELECT n, array_position('{critical,warning,info}', severity) AS rank FROM dp_audit() WITH ORDINALITY a (severity, object, finding, remedy, n)) a) a;
ALTER DATABASE :"database" RESET auto_explain.log_min_duration;
DROP FUNCTION trial, news;
DROP TABLE found_before, patient, "Odd table" CASCADE;
DROP OWNED BY regress_keeper, regress_reader, regress_colleague, "regress Odd", regress_root;
DROP ROLE regress_keeper, regress_reader, regress_colleague, "regress Odd", regress_root;
