-- What depends on the version of PostgreSQL. Each line holds on all of them: where the server is older than the matter, it is
-- not tried.
LOAD 'dp_rdr';
SET client_min_messages = warning;
DROP ROLE IF EXISTS regress_keeper, regress_reader, regress_lender;
CREATE ROLE regress_keeper;
CREATE ROLE regress_reader;       -- an analyst
CREATE ROLE regress_lender;       -- another, who shares his views
CREATE SCHEMA age;
GRANT ALL ON SCHEMA age TO regress_keeper, regress_lender;
GRANT USAGE ON SCHEMA age TO PUBLIC;
SET search_path = age, public;

CREATE FUNCTION is_at_least(version integer) RETURNS boolean LANGUAGE sql STABLE AS
    $$SELECT current_setting('server_version_num')::integer >= version * 10000$$;
-- For a server of this version on.
CREATE FUNCTION since(version integer, statement text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF is_at_least(version) THEN
        EXECUTE statement;
    END IF;
END $$;
-- Whether a statement has this outcome, as its SQLSTATE and message, or 'accepted'; in case it has not, the outcome.
CREATE FUNCTION outcome(statement text, expected text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    hint text;
    got text := 'accepted';
BEGIN
    BEGIN
        EXECUTE statement;
    EXCEPTION WHEN OTHERS THEN
        GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
        got := sqlstate || ' ' || sqlerrm || coalesce(' | ' || nullif(hint, ''), '');
    END;
    RETURN CASE WHEN got ~ expected THEN 'as expected' ELSE got END;
END $$;
CREATE FUNCTION outcome(version integer, statement text, expected text) RETURNS text LANGUAGE sql AS
    $$SELECT CASE WHEN is_at_least(version) THEN outcome(statement, expected) ELSE 'as expected' END$$;

SET ROLE regress_keeper;
-- With epsilon = 50 counts are exact (an error has probability below 1e-9).
CREATE TABLE elder (id integer, years integer, sound boolean);
INSERT INTO elder SELECT g, g % 100, CASE g % 3 WHEN 0 THEN true WHEN 1 THEN false END FROM generate_series(1, 300) g;
SELECT dp_protect('elder', 'elder_dp'), dp_set_odometer('elder', 'none');
SELECT dp_grant('elder_dp', r, tau => 0, delta => 1e-6, epsilon_max => 100, candidates => '{50}') FROM unnest('{regress_reader,regress_lender}'::regrole[]) r;
CREATE FUNCTION charges() RETURNS numeric LANGUAGE sql AS $$SELECT sum(releases) FROM dp_odometer('age.elder') WHERE account <> 'public'$$;

-- A view of the same name as a table, which PostgreSQL refuses, or rewrites, earlier or later.
RESET ROLE;
CREATE TABLE other (id integer);
GRANT SELECT ON other TO regress_reader;
SET ROLE regress_reader;
SELECT outcome('MERGE INTO elder_dp USING other ON true WHEN MATCHED THEN DO NOTHING',
    CASE WHEN is_at_least(17) THEN '^42501 rows of a restricted view are private' ELSE '^0A000 cannot execute MERGE' END) AS merged;
SELECT outcome('CREATE MATERIALIZED VIEW pg_temp.m AS SELECT * FROM elder_dp',
    CASE WHEN is_at_least(17) THEN '^42501 rows of a restricted view are private' ELSE '^42501 cannot create temporary table' END) AS copied;

-- 16: permissions stand beside the range table, and views on the way have no entries of their own in it.
SET ROLE regress_lender;
CREATE VIEW inner_view AS SELECT id, years FROM elder_dp;
CREATE VIEW outer_view AS SELECT years AS y FROM inner_view WHERE id > 0;
GRANT SELECT ON outer_view TO regress_reader;
SET ROLE regress_reader;
SELECT outcome('SELECT count(*) FROM outer_view', 'accepted') AS through_two_views;
SELECT outcome('SELECT count(*) FROM inner_view', '^42501 permission denied for view inner_view') AS not_given;
PREPARE ask AS SELECT count(*) > 0 AS answered FROM outer_view;
EXECUTE ask;
SELECT accepted, reason FROM dp_explain('SELECT count(*) FROM age.outer_view');
RESET ROLE;
REVOKE SELECT ON outer_view FROM regress_reader;
SET ROLE regress_reader;
EXECUTE ask;
SELECT accepted, reason FROM dp_explain('SELECT count(*) FROM age.outer_view');
RESET ROLE;
GRANT SELECT ON outer_view TO regress_reader;
REVOKE SELECT ON elder_dp FROM regress_lender; -- in whose name the inner view reads
SET ROLE regress_reader;
EXECUTE ask;
RESET ROLE;
GRANT SELECT ON elder_dp TO regress_lender;
-- A plan dies with a view that it only passes.
SET ROLE regress_reader;
EXECUTE ask;
RESET ROLE;
SET ROLE regress_lender;
CREATE OR REPLACE VIEW outer_view AS SELECT years AS y FROM inner_view WHERE id > 100000;
SET ROLE regress_reader;
EXECUTE ask;
DEALLOCATE ask;

-- 16: pg_stat_io, and 18: the same of one backend, count what reading long values took. The audit's remedy closes them.
RESET ROLE;
BEGIN;
SET LOCAL client_min_messages = warning;
SELECT remedy FROM dp_audit() WHERE object = 'statistics functions' \gexec
SET ROLE regress_reader;
SELECT outcome(16, 'SELECT * FROM pg_stat_io', '^42501') AS server, outcome(18, 'SELECT * FROM pg_stat_get_backend_io(pg_backend_pid())', '^42501') AS backend,
       outcome(18, 'SELECT * FROM pg_stat_get_backend_wal(pg_backend_pid())', '^42501') AS wal;
ROLLBACK;

-- 17: who may have a table maintained may have its rows counted.
RESET ROLE;
SELECT since(17, 'GRANT MAINTAIN ON age.elder TO regress_reader');
SET ROLE regress_keeper;
SELECT count(*) = is_at_least(17)::integer AS told FROM dp_audit() WHERE severity = 'critical' AND finding = 'regress_reader has MAINTAIN'
    AND remedy = 'REVOKE MAINTAIN ON age.elder FROM regress_reader;';
RESET ROLE;
SELECT since(17, 'REVOKE MAINTAIN ON age.elder FROM regress_reader'), since(17, 'GRANT pg_maintain TO regress_reader');
SET ROLE regress_keeper;
SELECT count(*) = is_at_least(17)::integer AS told FROM dp_audit() WHERE severity = 'critical' AND object = 'regress_reader'
    AND finding ~ 'may have the rows of every table counted' AND remedy = 'REVOKE pg_maintain FROM regress_reader;';
RESET ROLE;
SELECT since(17, 'REVOKE pg_maintain FROM regress_reader');
-- Until 15 whoever may make roles could join any of them.
ALTER ROLE regress_reader CREATEROLE;
SET ROLE regress_keeper;
SELECT count(*) = 1 - is_at_least(16)::integer AS told FROM dp_audit() WHERE object = 'regress_reader' AND remedy = 'ALTER ROLE regress_reader NOCREATEROLE;';
RESET ROLE;
ALTER ROLE regress_reader NOCREATEROLE;

-- 18: a virtual generated column is computed when the row is read, and may fail on it.
SET ROLE regress_keeper;
SELECT since(18, 'CREATE TABLE young (id integer, inverse integer GENERATED ALWAYS AS (1 / id) VIRTUAL)');
SELECT outcome(18, 'SELECT dp_protect(''young'', ''young_dp'')', '^55000 age.young cannot be protected: column inverse is a virtual generated column'
    ' \| Make it a stored one \(GENERATED ALWAYS AS \(...\) STORED\), or drop it.$') AS protected;
SELECT since(18, 'ALTER TABLE elder ADD COLUMN inverse integer GENERATED ALWAYS AS (1 / (years - 50)) VIRTUAL');
SELECT charges() AS before \gset
SET ROLE regress_reader;
SELECT outcome(18, 'SELECT count(*) FROM elder_dp', '^55000 age.elder cannot be protected: column inverse is a virtual generated column') AS asked;
SET ROLE regress_keeper;
SELECT count(*) = is_at_least(18)::integer AS told FROM dp_audit() WHERE object = 'age.elder_dp' AND finding ~ '^answers no query: .* virtual generated';
SELECT outcome(18, 'SELECT * FROM dp_risk(''SELECT count(*) FROM age.elder_dp'')', '^55000 age.elder cannot be protected') AS risk;
SELECT since(18, 'ALTER TABLE elder DROP COLUMN inverse');
SELECT since(18, 'CREATE TABLE elder_child (inverse integer GENERATED ALWAYS AS (1 / (years - 50)) VIRTUAL) INHERITS (elder)');
SET ROLE regress_reader;
SELECT outcome(18, 'SELECT count(*) FROM elder_dp', '^55000 age.elder cannot be protected: column inverse of age.elder_child is a virtual generated column') AS asked;
SET ROLE regress_keeper;
SELECT since(18, 'DROP TABLE elder_child, young');
SELECT charges() - :before AS charged;

-- 18: a NOT NULL that is NOT VALID leaves the NULLs that are there, and they are a group.
SELECT since(18, 'ALTER TABLE elder ADD CONSTRAINT known NOT NULL sound NOT VALID');
SET ROLE regress_reader;
SELECT sound, count(*) FROM elder_dp GROUP BY sound ORDER BY sound;

-- 18: keys are columns of an entry of their own in the range table.
SELECT k + 1 AS next, sum(n) AS people FROM (SELECT years / 50 AS k, count(*) AS n FROM elder_dp WHERE years / 50 >= 0 GROUP BY years / 50) q
    GROUP BY ROLLUP (k) HAVING sum(n) > 0 ORDER BY k;
SELECT sound, count(*) AS n, (SELECT count(*) FROM other WHERE sound) AS others FROM elder_dp GROUP BY sound HAVING count(*) > 1 ORDER BY 1;
SELECT DISTINCT count(*) AS n FROM elder_dp GROUP BY sound ORDER BY n;
SELECT sound IS NULL AS unknown, n FROM dp_query('SELECT sound, count(*) AS n FROM age.elder_dp GROUP BY 1') AS (sound boolean, n bigint) ORDER BY 1, 2;
SET ROLE regress_keeper;
SELECT count(*) > 0 AS computed FROM dp_risk('SELECT sound, max(years) FROM age.elder_dp GROUP BY sound HAVING count(*) > 1 ORDER BY sound', sensitivity => 100);
SELECT count(*) > 0 AS computed FROM dp_risk('SELECT q.sound, q.m FROM (SELECT sound, max(years) AS m FROM age.elder_dp GROUP BY sound) q ORDER BY 1', sensitivity => 100);
SELECT count(*) > 0 AS computed FROM dp_risk('SELECT sound, max(years) FROM age.elder_dp WHERE sound IS NOT NULL GROUP BY ROLLUP (sound)', sensitivity => 100);

RESET ROLE;
DROP VIEW outer_view, inner_view;
SELECT dp_unprotect('elder_dp');
RESET ROLE;
RESET search_path;
DROP SCHEMA age CASCADE;
DROP ROLE regress_keeper, regress_reader, regress_lender;
