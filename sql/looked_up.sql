-- Whoever explains a text of somebody else's runs none of his code: a warning would say so.
CREATE SCHEMA looked_up AUTHORIZATION regress_analyst;
GRANT USAGE ON SCHEMA looked_up TO regress_controller;
SET ROLE regress_controller;
CREATE TABLE looked_up_person (id integer PRIMARY KEY, age integer NOT NULL);
INSERT INTO looked_up_person SELECT i, 20 + i % 50 FROM generate_series(1, 200) i;
SELECT dp_protect('looked_up_person', 'looked_up_person_dp'), dp_set_bounds('looked_up_person', 'age', 20, 69);
SELECT dp_grant('looked_up_person_dp', 'regress_controller', tau => 0.9);
SET ROLE regress_analyst;
SET client_min_messages = error;
CREATE FUNCTION looked_up.trap() RETURNS integer LANGUAGE plpgsql AS $$BEGIN RAISE WARNING 'runs as %', current_user; RETURN 5; END$$;
CREATE FUNCTION looked_up.still(integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS $$BEGIN PERFORM looked_up.trap(); RETURN 5; END$$;
CREATE FUNCTION looked_up.holds(integer) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$BEGIN PERFORM looked_up.trap(); RETURN true; END$$;
CREATE VIEW looked_up.seen AS SELECT looked_up.trap() AS a;
CREATE DOMAIN looked_up.checked AS integer CHECK (looked_up.holds(VALUE));
CREATE TYPE looked_up.both AS (d looked_up.checked);
CREATE TABLE looked_up.indexed (a integer);
INSERT INTO looked_up.indexed VALUES (30);
CREATE INDEX ON looked_up.indexed ((looked_up.still(1)));
CREATE TABLE looked_up.plain AS SELECT 30 AS a;
GRANT SELECT, UPDATE ON looked_up.seen, looked_up.indexed, looked_up.plain TO regress_controller;
RESET client_min_messages;
SET ROLE regress_controller;
SELECT f.value, e.reason FROM (VALUES
    ($$SELECT length(table_to_xml('looked_up.seen'::regclass, true, true, '')::text)$$),
    ($$SELECT (('{1}' || '')::looked_up.checked[])[1]::integer$$),
    ($$SELECT (jsonb_populate_record(NULL::looked_up.both, jsonb_build_object('d', a))).d::integer FROM (SELECT 5 AS a) s$$),
    ($$SELECT d::integer FROM json_to_record(json_build_object('d', 5)) AS r (d looked_up.checked)$$),
    ($$SELECT a FROM looked_up.seen$$),
    ($$SELECT looked_up.still(1)$$),
    ($$SELECT max(a) FROM looked_up.indexed WHERE a > 3$$),
    ($$SELECT max(a) FROM (SELECT a FROM looked_up.plain FOR UPDATE) s$$),
    ($$SELECT max(a) FROM looked_up.plain$$),
    ($$SELECT 5 + extract(day FROM date '2025-01-07')::integer$$)) f (value),
    dp_explain(format('SELECT count(*) FROM public.looked_up_person_dp WHERE age < (%s)', f.value)) e;
SELECT dp_unprotect('looked_up_person_dp');
DROP TABLE looked_up_person;
RESET ROLE;
SET client_min_messages = error;
DROP SCHEMA looked_up CASCADE;
