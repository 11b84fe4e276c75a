-- What the other files build on: the extension, roles, the Adult data of a controller, and its restricted view adult_dp.

-- Roles outlive the database that an earlier run has left behind.
SET client_min_messages = warning;
DROP ROLE IF EXISTS regress_controller, regress_analyst, regress_second, regress_stranger, regress_member, regress_team;
RESET client_min_messages;
CREATE ROLE regress_controller;
CREATE ROLE regress_analyst;   -- has policies
CREATE ROLE regress_second;    -- has policies, too
CREATE ROLE regress_stranger;  -- has none
CREATE ROLE regress_team;
CREATE ROLE regress_member IN ROLE regress_team;

CREATE EXTENSION dp_rdr;
GRANT CREATE ON SCHEMA public TO regress_controller;

-- SQLSTATE and message of a statement, for 55000 and 40003 the hint as well; 'accepted' if there is no error. The rows of an answer
-- are thrown away: they are noise. Schemas of temporary tables lose their number.
CREATE FUNCTION attempt(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    remedy text;
BEGIN
    EXECUTE statement;
    RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS remedy = PG_EXCEPTION_HINT;
    RETURN regexp_replace(sqlstate || ' ' || sqlerrm || CASE WHEN sqlstate IN ('55000', '40003') AND remedy <> '' THEN ' | ' || remedy ELSE '' END,
                          '\mpg_temp_\d+', 'pg_temp', 'g');
END $$;

-- What is told of an answer follows from its noise (sql/told).
DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET dp_rdr.noise = silent', current_database()); END $$;

-- Without preloading, a connection's first statement on a restricted view would only load the library.
LOAD 'dp_rdr';

SET ROLE regress_controller;
\getenv top PG_ABS_SRCDIR
\set data :top '/test/data'
\set adult :data '/adult.sql'
\i :adult
SELECT count(*) FROM adult;

SELECT dp_protect('adult', 'adult_dp');
SELECT dp_set_bounds('adult', 'hours_per_week', 1, 99), dp_set_bounds('adult', 'capital_gain', 0, 99999);
SELECT dp_set_groups('adult', 'marital_status', '{Divorced,Married-AF-spouse,Married-civ-spouse,Married-spouse-absent,
    Never-married,Separated,Widowed}');

-- A new table: a filter with a total of 1, nothing consumed.
SELECT * FROM dp_odometer('adult');

-- The papers' five queries.
CREATE TABLE paper_query (id text PRIMARY KEY, query text NOT NULL);
INSERT INTO paper_query VALUES
    ('Q1', $$SELECT count(*) FROM adult_dp WHERE income = '>50K' AND education_num = 13 AND age = 25$$),
    ('Q2', $$SELECT marital_status, count(*) FROM adult_dp
             WHERE race = 'Asian-Pac-Islander' AND age BETWEEN 30 AND 40 GROUP BY marital_status$$),
    ('Q3', $$SELECT count(*) FROM adult_dp WHERE native_country <> 'United-States' AND sex = 'Female'$$),
    ('Q4', $$SELECT avg(hours_per_week) FROM adult_dp WHERE workclass IN ('Federal-gov', 'Local-gov', 'State-gov')$$),
    ('Q5', $$SELECT sum(capital_gain) FROM adult_dp$$);
RESET ROLE;

-- Everything the extension brings has a comment, and nothing in dp_rdr is for PUBLIC but what a restricted view needs.
SELECT pg_describe_object(classid, objid, 0) AS without_a_comment
FROM pg_depend
WHERE refclassid = 'pg_extension'::regclass AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'dp_rdr')
  AND deptype = 'e' AND obj_description(objid, classid::regclass::name) IS NULL
  AND NOT (classid = 'pg_type'::regclass OR classid = 'pg_class'::regclass AND EXISTS
           (SELECT FROM pg_class WHERE oid = objid AND relkind NOT IN ('r', 'v')))
ORDER BY 1;
SELECT p.oid::regprocedure AS function_for_public
FROM pg_proc p
WHERE p.pronamespace = 'dp_rdr'::regnamespace AND has_function_privilege('regress_stranger', p.oid, 'EXECUTE')
  AND p.oid NOT IN (SELECT replacement FROM dp_rdr.total_functions() WHERE replacement IS NOT NULL)
ORDER BY p.oid::regprocedure::text COLLATE "C";
SELECT c.oid::regclass AS readable_by_the_stranger
FROM pg_class c
WHERE c.relnamespace = 'dp_rdr'::regnamespace AND
      CASE WHEN c.relkind IN ('r', 'v') THEN has_table_privilege('regress_stranger', c.oid,
                                                                 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
           WHEN c.relkind = 'S' THEN has_sequence_privilege('regress_stranger', c.oid, 'USAGE, SELECT, UPDATE') END;

-- The aggregate of the internal statement by hand: specifications (words of 64 bits in network order), and what comes back.
CREATE SCHEMA by_hand;
GRANT USAGE ON SCHEMA by_hand TO PUBLIC;
SET search_path = by_hand;
CREATE FUNCTION header(units integer, keys integer, measures integer, kept bigint = 1, candidates integer = 0, gaussian integer = 0)
RETURNS bytea IMMUTABLE PARALLEL SAFE
RETURN int8send(units) || int8send(keys) || int8send(measures) || int8send(candidates) || int8send(gaussian) || int8send(kept) || int8send(20261123) || int8send(0);
-- kind: 0 count, 1 sum, 2 pair, 3 triple, 4 quantile, 5 products, 6 moments.
CREATE FUNCTION measure(kind integer, lattice bytea = '', grain bigint = 1, once integer = 0, "values" bigint = 0, sensitivity float8 = 1)
RETURNS bytea IMMUTABLE PARALLEL SAFE
RETURN int8send(kind) || int8send(once) || int8send(grain) || int8send("values") || float8send(sensitivity) || lattice ||
       decode(repeat('00', 56 - length(lattice)), 'hex');
CREATE FUNCTION counts(grain bigint = 1, once integer = 0) RETURNS bytea IMMUTABLE PARALLEL SAFE RETURN measure(0, '', grain, once);
CREATE FUNCTION sums(lower bigint, upper bigint, scale float8 = 1, sensitivity float8 = 1) RETURNS bytea IMMUTABLE PARALLEL SAFE
RETURN measure(1, float8send(scale) || int8send(lower) || int8send(upper), sensitivity => sensitivity);
CREATE FUNCTION parts(kind integer, lower float8, upper float8) RETURNS bytea IMMUTABLE PARALLEL SAFE
RETURN measure(kind, float8send(lower) || float8send(upper - lower) || float8send(0) || float8send(1));
CREATE FUNCTION grid(cells bigint, first bigint, last bigint) RETURNS bytea IMMUTABLE PARALLEL SAFE
RETURN measure(4, int8send(1) || int8send(cells) || int8send(first) || int8send(last) || float8send(1) || float8send(first) || float8send(last));
CREATE FUNCTION candidate(noise float8, lowest bigint) RETURNS bytea IMMUTABLE PARALLEL SAFE RETURN float8send(noise) || int8send(lowest);
CREATE FUNCTION joined(VARIADIC parts bytea[]) RETURNS bytea IMMUTABLE PARALLEL SAFE
RETURN (SELECT string_agg(p, '' ORDER BY i) FROM unnest(parts) WITH ORDINALITY u (p, i));
CREATE FUNCTION spec(VARIADIC measures bytea[]) RETURNS bytea IMMUTABLE PARALLEL SAFE
RETURN header(0, 0, cardinality(measures)) || joined(VARIADIC measures);
CREATE FUNCTION spec_of_unit(units integer, keys integer, kept bigint, VARIADIC measures bytea[]) RETURNS bytea IMMUTABLE PARALLEL SAFE
RETURN header(units, keys, cardinality(measures), kept) || joined(VARIADIC measures);
-- Of sums without keys 16 bytes each, the lowest first. Nothing: 0.
CREATE FUNCTION number_at(bytes bytea, place integer, size integer) RETURNS numeric IMMUTABLE PARALLEL SAFE
RETURN trunc((SELECT sum(get_byte(bytes, place + i) * 256::numeric ^ i) FROM generate_series(0, size - 1) i)
             - CASE WHEN get_byte(bytes, place + size - 1) > 127 THEN 256::numeric ^ size ELSE 0 END);
CREATE FUNCTION numbers(result bytea) RETURNS numeric[] IMMUTABLE PARALLEL SAFE
RETURN (SELECT coalesce(array_agg(number_at(result, 16 * i, 16) ORDER BY i), '{}') FROM generate_series(0, length(result) / 16 - 1) i);
CREATE FUNCTION total(result bytea, place integer = 1) RETURNS numeric IMMUTABLE PARALLEL SAFE RETURN coalesce((numbers(result))[place], 0);
CREATE FUNCTION rows_of_pair(result bytea) RETURNS numeric IMMUTABLE PARALLEL SAFE
RETURN trunc((total(result) + total(result, 2)) / 1073741824);
RESET search_path;
