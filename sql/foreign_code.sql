-- Code of a user's never runs with the rights of a table's owner in an analyst's session, nor with a superuser's in his.

LOAD 'dp_rdr';
SET client_min_messages = warning;
DROP ROLE IF EXISTS regress_keeper, regress_reader, regress_other;
CREATE ROLE regress_keeper;
CREATE ROLE regress_reader;       -- an analyst
CREATE ROLE regress_other;        -- another owner of tables, hostile
CREATE SCHEMA keep;
CREATE SCHEMA other;
GRANT ALL ON SCHEMA keep TO regress_keeper, regress_other;
GRANT ALL ON SCHEMA other TO regress_other;
GRANT USAGE ON SCHEMA keep, other TO PUBLIC;

-- ---------------------------------------------------------------------------------------------------------------------
-- The planner runs what stands in an index, a constraint, statistics, a partition key
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_keeper;
CREATE TABLE keep.cfg (k integer);
INSERT INTO keep.cfg VALUES (1);
CREATE TABLE keep.sec (id integer, secret text, born date);
INSERT INTO keep.sec SELECT g, 'secret ' || g, date '2000-01-01' + g FROM generate_series(1, 100) g;
CREATE FUNCTION keep.cut(integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS
    $$BEGIN IF current_setting('keep.building', true) = 'on' THEN RETURN 1; END IF; RETURN (SELECT min(k) FROM cfg); END$$;
CREATE FUNCTION keep.low(integer) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 < 1000';
SELECT dp_protect('keep.sec', 'keep.sec_dp');
SELECT dp_set_odometer('keep.sec', 'none'), dp_set_groups('keep.sec', 'secret', '{secret 1,secret 2}');
SELECT dp_grant('keep.sec_dp', 'regress_reader', tau => 0.5);

-- The analyst's temporary view waits under the name that the function looks up.
RESET ROLE;
SET search_path = keep, public;
CREATE TABLE public.loot (who name, t text);
GRANT INSERT, SELECT ON public.loot TO PUBLIC;
CREATE FUNCTION public.evil() RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO public.loot SELECT current_user, secret FROM keep.sec;
    RETURN 1;
END $$;
SET ROLE regress_reader;
CREATE TEMP VIEW cfg AS SELECT 1 AS k, public.evil() AS v;
RESET ROLE;

-- Each of these was answered, and ran the function. Now: refused, by the name of the object, before anything is charged.
-- (Committed: an analyst's question is checked and read by a keeper, which sees nothing else.)
CREATE TEMP TABLE said (n integer GENERATED ALWAYS AS IDENTITY, said text, hint text);
CREATE FUNCTION said_to(role name, query text, OUT said text, OUT hint text) LANGUAGE plpgsql AS $$
DECLARE
    state text;
BEGIN
    PERFORM set_config('role', role, true);
    EXECUTE query INTO said;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, said = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
    said := state || ' ' || said;
END $$;
CREATE PROCEDURE refuse(ddl text, undo text) LANGUAGE plpgsql AS $$
DECLARE
    one text[];
    answer record;
BEGIN
    TRUNCATE said;
    PERFORM set_config('role', 'regress_keeper', true), set_config('search_path', 'keep, public, pg_temp', true);
    SET LOCAL keep.building = on; -- from PostgreSQL 17 on an index is built under a search_path of its own
    EXECUTE ddl;
    COMMIT;
    FOREACH one SLICE 1 IN ARRAY ARRAY[
        ['regress_reader', $q$SELECT 'answered' FROM dp_query('SELECT count(*) FROM keep.sec_dp WHERE id > 5') AS (n bigint)$q$],
        ['regress_reader', $q$SELECT CASE WHEN accepted THEN 'accepted' ELSE reason END FROM dp_explain('SELECT count(*) FROM keep.sec_dp')$q$],
        ['regress_keeper', $q$SELECT 'answered' FROM dp_risk('SELECT count(*) FROM keep.sec_dp')$q$],
        ['regress_keeper', $q$SELECT 'answered' FROM dp_risk('SELECT max(id) FROM keep.sec_dp HAVING true')$q$],
        ['regress_keeper', $q$SELECT dp_protect('keep.sec', 'keep.another_dp')$q$]] LOOP
        answer := said_to(one[1], one[2]);
        RESET ROLE;
        INSERT INTO pg_temp.said (said, hint) VALUES (answer.said, answer.hint);
    END LOOP;
    INSERT INTO pg_temp.said (said, hint) SELECT a.finding, a.remedy FROM dp_audit() a WHERE a.finding LIKE 'answers no query%';
    PERFORM set_config('role', 'regress_keeper', true);
    EXECUTE undo;
    COMMIT;
END $$;
\pset format unaligned
\pset footer off
CALL refuse('CREATE INDEX i ON keep.sec (id) WHERE id > keep.cut(1)', 'DROP INDEX keep.i');
SELECT said, hint FROM said ORDER BY n;
CALL refuse('CREATE INDEX i ON keep.sec ((id + keep.cut(1)))', 'DROP INDEX keep.i');
SELECT said, hint FROM said ORDER BY n;
CALL refuse('ALTER TABLE keep.sec ADD CONSTRAINT c CHECK (keep.low(id) AND id > -keep.cut(1))', 'ALTER TABLE keep.sec DROP CONSTRAINT c');
SELECT said, hint FROM said ORDER BY n;
CALL refuse('CREATE STATISTICS keep.s ON (id + keep.cut(1)), secret FROM keep.sec', 'DROP STATISTICS keep.s');
SELECT said, hint FROM said ORDER BY n;
CALL refuse('CREATE DOMAIN keep.d AS integer CHECK (keep.cut(VALUE) > 0); CREATE INDEX i ON keep.sec ((id::keep.d))', 'DROP INDEX keep.i; DROP DOMAIN keep.d');
SELECT said, hint FROM said ORDER BY n;
-- So is a part of the table.
CALL refuse('CREATE TABLE keep.part () INHERITS (keep.sec); CREATE INDEX i ON keep.part (id) WHERE id > keep.cut(1)', 'DROP TABLE keep.part');
SELECT said, hint FROM said ORDER BY n;
CALL refuse('CREATE TABLE keep.part () INHERITS (keep.sec); RESET ROLE; ALTER TABLE keep.part OWNER TO regress_other', 'RESET ROLE; DROP TABLE keep.part');
SELECT said, hint FROM said ORDER BY n;
DROP VIEW cfg;
-- That of a superuser's is read like the rest, with the rights of the table's owner, who has none on it: maintenance makes such.
SET ROLE regress_keeper;
CREATE TABLE keep.monthly (id integer, month integer, note text) PARTITION BY RANGE (month);
CREATE TABLE keep.monthly_1 PARTITION OF keep.monthly FOR VALUES FROM (1) TO (2);
SELECT dp_protect('keep.monthly', 'keep.monthly_dp');
SELECT dp_set_odometer('keep.monthly', 'none');
SELECT dp_grant('keep.monthly_dp', 'regress_reader', tau => 0, epsilon_max => 100, candidates => '{100}');
RESET ROLE;
CREATE TABLE keep.monthly_2 PARTITION OF keep.monthly FOR VALUES FROM (2) TO (3);
CREATE INDEX ON keep.monthly (lower(note));
INSERT INTO keep.monthly SELECT g, 1 + g % 2, repeat('n' || g, 1000) FROM generate_series(1, 1000) g;
SELECT * FROM said_to('regress_keeper', 'SELECT count(*) FROM keep.monthly_2');
SELECT * FROM said_to('regress_keeper', 'SELECT abs(count(*) - 1000) < 9 FROM keep.monthly WHERE length(note) > 999');
SELECT * FROM said_to('regress_reader', $$SELECT abs(n - 1000) < 9 FROM dp_query('SELECT count(*) FROM keep.monthly_dp WHERE length(note) > 999') AS (n bigint)$$);
SELECT * FROM said_to('regress_reader', $$SELECT abs(n - 500) < 9 FROM dp_query('SELECT count(*) FROM keep.monthly_dp WHERE month = 2') AS (n bigint)$$);
SELECT severity, finding FROM dp_audit() WHERE object LIKE 'keep.monthly%' AND severity <> 'info';
-- His code is as foreign as anybody's, and named.
CREATE FUNCTION keep.part_of(integer) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT $1 / 10';
CREATE INDEX later ON keep.monthly_2 (keep.part_of(id));
SELECT * FROM said_to('regress_reader', $$SELECT n FROM dp_query('SELECT count(*) FROM keep.monthly_dp') AS (n bigint)$$);
DROP INDEX keep.later;
CREATE EXTENSION IF NOT EXISTS fuzzystrmatch;
CREATE INDEX later ON keep.monthly_2 (soundex(left(note, 10)));
SELECT * FROM said_to('regress_reader', $$SELECT n FROM dp_query('SELECT count(*) FROM keep.monthly_dp') AS (n bigint)$$);
SELECT finding, remedy FROM dp_audit() WHERE object = 'keep.monthly_dp';
DROP EXTENSION fuzzystrmatch CASCADE;
-- A superuser who is none any more is another role.
CREATE ROLE regress_maintainer SUPERUSER;
ALTER TABLE keep.monthly_2 OWNER TO regress_maintainer;
SELECT * FROM said_to('regress_reader', $$SELECT abs(n - 1000) < 9 FROM dp_query('SELECT count(*) FROM keep.monthly_dp') AS (n bigint)$$);
ALTER ROLE regress_maintainer NOSUPERUSER;
SELECT * FROM said_to('regress_reader', $$SELECT n FROM dp_query('SELECT count(*) FROM keep.monthly_dp') AS (n bigint)$$);
DROP TABLE keep.monthly CASCADE;
DROP ROLE regress_maintainer;
-- What the server brings is no foreign code, and what reading does not run is not either.
CREATE TYPE keep.mood AS ENUM ('low', 'high');
CREATE DOMAIN keep.short AS text CHECK (keep.low(length(VALUE)));
SET ROLE regress_keeper;
BEGIN;
ALTER TABLE keep.sec ADD CHECK (length(secret) > 3 AND id BETWEEN 0 AND 100000), ADD m keep.mood DEFAULT 'low', ADD w keep.short,
    ADD stamp integer DEFAULT keep.cut(1), ADD CHECK (m <> 'high' OR id > 0);
CREATE INDEX ON keep.sec (lower(secret)) WHERE born > '2000-01-01';
CREATE INDEX ON keep.sec (w, m);
CREATE STATISTICS keep.s ON lower(secret), born FROM keep.sec;
SELECT count(*) > 0 AS answered FROM dp_risk('SELECT count(*) FROM keep.sec_dp');
ROLLBACK;
-- A partition key by a function, and one by columns.
CREATE TABLE keep.by_code (id integer) PARTITION BY RANGE (keep.cut(id));
SELECT dp_protect('keep.by_code', 'keep.by_code_dp');
CREATE TABLE keep.by_column (id integer) PARTITION BY RANGE (id);
CREATE TABLE keep.by_column_1 PARTITION OF keep.by_column FOR VALUES FROM (0) TO (10);
SELECT dp_protect('keep.by_column', 'keep.by_column_dp');
RESET ROLE;
-- It never ran for the analyst.
SELECT * FROM public.loot;

-- ---------------------------------------------------------------------------------------------------------------------
-- A text that names a type of somebody's is read by others
-- ---------------------------------------------------------------------------------------------------------------------

CREATE FUNCTION other.trap(integer) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO public.loot VALUES (current_user, 'trapped');
    RETURN true;
END $$;
SET ROLE regress_other;
CREATE DOMAIN other.d AS integer CHECK (other.trap(VALUE));
CREATE TYPE other.pair AS (a other.d, b integer);
CREATE FUNCTION other.distance(integer, integer) RETURNS float8 LANGUAGE sql IMMUTABLE AS 'SELECT 0::float8';
CREATE TYPE other.span AS RANGE (SUBTYPE = integer, SUBTYPE_DIFF = other.distance);
CREATE TABLE other.t (x other.d, xs other.d[], p other.pair, s other.span, plain integer[]);
SELECT dp_protect('other.t', 'other.t_dp');
SELECT dp_protect('other.t', 'other.t_dp', columns => '{x,p}');
SELECT dp_protect('other.t', 'other.t_dp', columns => '{s}');
SELECT dp_protect('other.t', 'other.t_dp', columns => '{x,plain}');
-- The groups of a domain are values of its base type: its CHECK runs neither for its owner nor for a superuser who looks.
INSERT INTO other.t (x) VALUES (1);
SELECT DISTINCT * FROM public.loot;
SELECT dp_set_groups('other.t', 'x', '{1,2,3}'), dp_set_groups('other.t', 'plain', '{"{1,2}"}');
SELECT dp_set_groups('other.t', 'xs', '{"{1}"}');
SELECT dp_set_groups('other.t', 'p', '{"(1,2)"}');
SELECT dp_set_odometer('other.t', 'none');
SELECT dp_grant('other.t_dp', 'regress_reader', tau => 0.5);
RESET ROLE;
TRUNCATE public.loot;
SELECT count(*) FROM dp_explain('SELECT x, count(*) FROM other.t_dp GROUP BY x');
SELECT count(*) > 0 AS answered FROM dp_risk('SELECT x, count(*) FROM other.t_dp GROUP BY x');
SELECT dp_protect('other.t', 'other.u_dp', columns => '{x}', filter => 'xs = ''{7}''');
SELECT dp_protect('other.t', 'other.u_dp', columns => '{x}', filter => 'CASE WHEN x > 0 THEN ''{7}''::other.d[] END IS NULL');
SELECT dp_protect('other.t', 'other.u_dp', columns => '{x}', filter => 'x = 7');
TABLE public.loot;
-- A column that becomes such a type later answers no more.
ALTER DOMAIN other.d DROP CONSTRAINT d_check;
SET ROLE regress_other;
ALTER TABLE other.t ALTER plain TYPE other.d[] USING NULL;
RESET ROLE;
SELECT accepted, reason FROM dp_explain('SELECT count(*) FROM other.t_dp');

-- ---------------------------------------------------------------------------------------------------------------------
-- No DDL as the owner of the extension, and nobody's view stops another's table
-- ---------------------------------------------------------------------------------------------------------------------

CREATE FUNCTION public.on_ddl() RETURNS event_trigger LANGUAGE plpgsql AS
    $$BEGIN INSERT INTO public.loot VALUES (current_user, tg_tag); END$$;
CREATE EVENT TRIGGER on_ddl ON ddl_command_start EXECUTE FUNCTION public.on_ddl();
SET ROLE regress_keeper;
CREATE TABLE keep.fresh (id integer);
SET ROLE regress_other;
CREATE TABLE other.first (id integer);
SELECT dp_protect('other.first', 'other.first_dp');
SELECT dp_grant('other.first_dp', 'regress_reader', tau => 0.5);
SELECT dp_unprotect('other.first_dp');
RESET ROLE;
DROP EVENT TRIGGER on_ddl;
TABLE public.loot;

-- The ledger shows everybody his own tables.
SET ROLE regress_keeper;
CALL dp_find_epsilon('SELECT count(*) FROM keep.sec_dp', 0.5) \g /dev/null
SELECT DISTINCT relation FROM dp_rdr.ledger ORDER BY 1;
SET ROLE regress_reader;
SELECT count(*) FROM dp_rdr.ledger;

-- A view of somebody else's over deny() says nothing about the past of a table.
RESET ROLE;
SET ROLE regress_keeper;
CREATE TABLE keep.young (id integer);
SET ROLE regress_reader;
CREATE TEMP VIEW frozen AS SELECT * FROM dp_rdr.deny('keep.young') AS (id integer);
SET ROLE regress_keeper;
SELECT dp_protect('keep.young', 'keep.young_dp');
SELECT bound, epsilon_total FROM dp_odometer('keep.young') LIMIT 1;
RESET ROLE;

DROP PROCEDURE refuse;
DROP FUNCTION said_to, public.evil CASCADE;
DROP SCHEMA keep, other CASCADE;
DROP FUNCTION public.on_ddl;
DROP TABLE public.loot;
DROP OWNED BY regress_keeper, regress_reader, regress_other;
DROP ROLE regress_keeper, regress_reader, regress_other;
