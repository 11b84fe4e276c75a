-- Answers as JSON, and lists of columns to write, lose no column: of several of one name each has a name of its own. The expected
-- objects are made here, in SQL, under names that are written out. At epsilon 5 for each number a count is off by 6 or more with a
-- probability below 1e-12.

LOAD 'dp_rdr';
SET client_min_messages = warning;
DROP ROLE IF EXISTS names_owner, names_ann;
RESET client_min_messages;
CREATE ROLE names_owner LOGIN;
CREATE ROLE names_ann LOGIN;
GRANT CREATE ON SCHEMA public TO names_owner;
SET SESSION AUTHORIZATION names_owner;
CREATE TABLE hall AS SELECT id, (ARRAY['a', 'b'])[1 + id % 2] AS wing, id % 100 AS age, id % 40 AS stay FROM generate_series(1, 4000) id;
SELECT dp_protect('hall', 'hall_dp'), dp_set_groups('hall', 'wing', '{a,b}'), dp_set_bounds('hall', 'age', 0, 100),
       dp_set_bounds('hall', 'stay', 0, 40), dp_set_odometer('hall', 'none');
SELECT dp_grant('hall_dp', 'names_ann', tau => 0.5, epsilon_max => 10);

CREATE FUNCTION found(query text, candidate numeric, sensitivity numeric = NULL, OUT epsilon numeric, OUT answer jsonb) LANGUAGE plpgsql AS $$
BEGIN
    CALL dp_find_epsilon(query, 0, epsilon, answer, candidates => ARRAY[candidate]::numeric[], sensitivity => sensitivity);
END $$;
-- Whether an answer has the objects of a table of the exact ones: the same keys, numbers that are off by 6 at most.
CREATE FUNCTION differences(answer jsonb, exact jsonb, within numeric = 6) RETURNS TABLE (row_number bigint, key text, difference text) LANGUAGE sql AS $$
    SELECT n, key, CASE WHEN a.value IS NULL THEN 'not in the answer' WHEN e.value IS NULL THEN 'not asked'
                        WHEN jsonb_typeof(e.value) = 'string' THEN concat(a.value, ' for ', e.value) ELSE 'too far off' END
    FROM (SELECT r.n, k.key, k.value FROM jsonb_array_elements(exact) WITH ORDINALITY r (object, n), jsonb_each(object) k) e
    FULL JOIN (SELECT r.n, k.key, k.value FROM jsonb_array_elements(answer) WITH ORDINALITY r (object, n), jsonb_each(object) k) a USING (n, key)
    WHERE a.value IS NULL OR e.value IS NULL OR CASE WHEN jsonb_typeof(e.value) = 'string' THEN a.value <> e.value
                                                     ELSE abs(a.value::text::numeric - e.value::text::numeric) > within END
    ORDER BY 1, 2
$$;

-- ---------------------------------------------------------------------------------------------------------------------
-- The controller's answers
-- ---------------------------------------------------------------------------------------------------------------------

SELECT d.* FROM found('SELECT count(*) FILTER (WHERE age > 60), count(*) FROM hall_dp', 10),
    differences(answer, (SELECT jsonb_build_array(jsonb_build_object('count', count(*) FILTER (WHERE age > 60), 'count_2', count(*))) FROM hall)) d;
-- With groups, and averages: off by 1 at most among 2,000 values (each sum by 500 with a probability below 1e-9).
SELECT d.* FROM found('SELECT wing, avg(age), avg(stay) FROM hall_dp GROUP BY wing', 10),
    differences(answer, (SELECT jsonb_agg(jsonb_build_object('wing', wing, 'avg', a, 'avg_2', stay) ORDER BY wing)
                         FROM (SELECT wing, avg(age) AS a, avg(stay) AS stay FROM hall GROUP BY wing) g), 1) d;
-- A name that another column has by itself is nobody's number; the first of a name keeps it.
SELECT d.* FROM found('SELECT count(*), count(*) FILTER (WHERE age > 9), count(*) FILTER (WHERE age > 19) AS count_2,
                              count(*) FILTER (WHERE age > 29), count(*) FILTER (WHERE age > 39) AS count_2 FROM hall_dp', 25),
    differences(answer, (SELECT jsonb_build_array(jsonb_build_object('count', count(*), 'count_3', count(*) FILTER (WHERE age > 9),
        'count_2', count(*) FILTER (WHERE age > 19), 'count_4', count(*) FILTER (WHERE age > 29), 'count_2_2', count(*) FILTER (WHERE age > 39)))
        FROM hall)) d;
-- One that has no room for its number is cut off between two characters: of 31 of two bytes, and an x, 30 stay.
SELECT d.* FROM found(format('SELECT count(*) AS %1$I, count(*) FILTER (WHERE age > 9) AS %1$I FROM hall_dp', repeat('ä', 31) || 'x'), 10),
    differences(answer, (SELECT jsonb_build_array(jsonb_build_object(repeat('ä', 31) || 'x', count(*),
                                                                     repeat('ä', 30) || '_2', count(*) FILTER (WHERE age > 9))) FROM hall)) d;
-- A general query, whose numbers are of no interest here.
SELECT k.key FROM found('SELECT max(age), max(stay), max(age) - max(stay) AS max_2 FROM hall_dp', 10, 1), jsonb_object_keys(answer -> 0) k (key) ORDER BY 1;
-- A selection, which a tau_var of 0.25 leaves no choice.
CREATE FUNCTION selected(query text, OUT epsilon numeric, OUT answer jsonb) LANGUAGE plpgsql AS $$
BEGIN
    CALL dp_find_and_release_epsilon(query, 0.25, 100, epsilon, answer, candidates => '{10}');
END $$;
SELECT d.* FROM selected('SELECT count(*) FILTER (WHERE age > 60), count(*) FROM hall_dp'),
    differences(answer, (SELECT jsonb_build_array(jsonb_build_object('count', count(*) FILTER (WHERE age > 60), 'count_2', count(*))) FROM hall)) d;

-- ---------------------------------------------------------------------------------------------------------------------
-- Requests, and what hints say to write
-- ---------------------------------------------------------------------------------------------------------------------

CREATE FUNCTION hint_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    hint text;
BEGIN
    EXECUTE statement;
    RETURN NULL;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    RETURN hint;
END $$;
SET SESSION AUTHORIZATION names_ann;
SELECT dp_request('SELECT count(*), wing, count(*) FILTER (WHERE age > 60) FROM hall_dp GROUP BY wing', 'beds') AS id \gset
SET SESSION AUTHORIZATION names_owner;
SELECT state FROM dp_approve(:id, epsilon => 10);
SET SESSION AUTHORIZATION names_ann;
CREATE TEMP TABLE fetched AS SELECT * FROM dp_fetch(:id) AS (n bigint, wing text, old bigint);
SELECT dp_answer(:id) = jsonb_agg(jsonb_build_object('count', n, 'wing', wing, 'count_2', old) ORDER BY wing) AS as_fetched FROM fetched;
SELECT hint_of(format('SELECT * FROM dp_fetch(%s) AS (n text)', :id)) AS hint \gset
\echo :hint
SELECT substr(:'hint', 7, length(:'hint') - 7) AS columns \gset
SELECT count(*) FROM dp_fetch(:id) :columns;
SELECT hint_of('SELECT * FROM dp_query(''SELECT count(*) FILTER (WHERE age > 60), count(*) FROM hall_dp'') AS (n text)') AS hint \gset
\echo :hint
SELECT substr(:'hint', 7, length(:'hint') - 7) AS columns \gset
SELECT count(*) FROM dp_query('SELECT count(*) FILTER (WHERE age > 60), count(*) FROM hall_dp') :columns;
-- A signal names the column that it means: the wings have 1,000 and 780 people, or so, of which the second is the older ones'.
SELECT dp_request_signal(:id, 'mean', 'dp.count_2', 'the older ones', upper => 4000) AS signal \gset
SET SESSION AUTHORIZATION names_owner;
SELECT dp, (SELECT avg(old) FROM (SELECT count(*) FILTER (WHERE age > 60) AS old FROM hall GROUP BY wing) w) AS truth
FROM dp_inspect_signal(:signal) \gset
SELECT abs(:dp - :truth) < 6 AS of_the_second;

-- ---------------------------------------------------------------------------------------------------------------------
-- Records of risk
-- ---------------------------------------------------------------------------------------------------------------------

-- The columns of a unit have the names that they have in its table, also those that the records have of their own.
CREATE TABLE sojourn (kept integer NOT NULL, groups integer NOT NULL, wing text NOT NULL);
INSERT INTO sojourn SELECT i, 100 + i % 3, (ARRAY['a', 'b'])[1 + i % 2] FROM generate_series(1, 6) i, generate_series(1, 2);
SELECT dp_protect('sojourn', 'sojourn_dp', unit => 'kept, groups', max_rows => 2), dp_set_groups('sojourn', 'wing', '{a,b}');
SELECT (record ->> 'kept')::int AS kept, (record ->> 'groups')::int AS groups, record -> 'kept_2' AS brought, record -> 'groups_2' AS groups_of_it
FROM dp_risk_records('SELECT wing, count(*) FROM sojourn_dp GROUP BY wing', 1)
EXCEPT SELECT kept, groups, to_jsonb(least(count(*), 2) / 2.0), to_jsonb(count(DISTINCT wing)) FROM sojourn GROUP BY kept, groups;
SELECT count(*) FROM dp_risk_records('SELECT wing, count(*) FROM sojourn_dp GROUP BY wing', 1);
DROP FUNCTION found, differences, selected, hint_of;
RESET SESSION AUTHORIZATION;

-- ---------------------------------------------------------------------------------------------------------------------
-- Names of columns as arguments: of a unit as in SQL, elsewhere as they are
-- ---------------------------------------------------------------------------------------------------------------------

\set VERBOSITY default
SET ROLE regress_controller;
CREATE TABLE named_rows ("Ausweis Nr" integer NOT NULL, "Größe [cm]" integer, plain integer);
SELECT dp_protect('named_rows', 'named_rows_dp', unit => 'Ausweis Nr', max_rows => 2);
SELECT dp_protect('named_rows', 'named_rows_dp', unit => 'Ausweis', max_rows => 2);
SELECT dp_protect('named_rows', 'named_rows_dp', columns => '{plain,NULL}');
SET client_min_messages = warning;
SELECT dp_protect('named_rows', 'named_rows_dp', unit => '"Ausweis Nr"', max_rows => 2);
SELECT dp_set_bounds('named_rows', '"Größe [cm]"', 0, 250);
SELECT dp_set_bounds('named_rows', 'Größe [cm]', 0, 250);
SELECT dp_unprotect('named_rows_dp');
RESET client_min_messages;
DROP TABLE named_rows;
RESET ROLE;
