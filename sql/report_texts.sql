-- dp_report whatever the texts of others are: bytes without an equivalent in UTF-8, as many findings as somebody cares to make.

LOAD 'dp_rdr';
\set ECHO none
SELECT current_database() AS first \gset
\set ECHO all
SET client_min_messages = warning;
DROP ROLE IF EXISTS texts_owner, texts_ann;
CREATE ROLE texts_owner LOGIN;
CREATE ROLE texts_ann LOGIN;
CREATE DATABASE regress_texts ENCODING 'WIN1252' LOCALE 'C' TEMPLATE template0;
\c regress_texts
SET client_min_messages = warning;
SET client_encoding = 'SQL_ASCII';
\pset tuples_only on
\pset format unaligned
CREATE EXTENSION dp_rdr;
GRANT CREATE ON SCHEMA public TO texts_owner;
GRANT CREATE ON DATABASE regress_texts TO texts_ann;
SET SESSION AUTHORIZATION texts_owner;
CREATE TABLE told AS SELECT id, 'row ' || chr(129) || id % 3 AS note FROM generate_series(1, 90) id;
SELECT dp_protect('told', 'told_dp');
SELECT dp_set_odometer('told', epsilon_total => 0.0001), dp_grant('told_dp', 'texts_ann', tau => 0.9);
-- What was denied is shown to its owner, who has to have his report.
SET SESSION AUTHORIZATION texts_ann;
DO $$
BEGIN
    EXECUTE format('SELECT count(*) FROM told_dp WHERE note = %L', chr(129) || '<b>' || chr(233));
EXCEPTION WHEN configuration_limit_exceeded THEN
    RAISE WARNING '%', SQLERRM;
END $$;
SET SESSION AUTHORIZATION texts_owner;
SELECT substring(dp_report('told') FROM 'note = [^:]*');
SELECT html !~ '[^\n -~]' AS ascii, substring(html FROM 'row <.{39}') AS value FROM dp_report('told', 'SELECT count(*) FROM told_dp WHERE note < ''s''') html;
-- Functions that could be taken for ours, by somebody who may create schemas.
SET SESSION AUTHORIZATION texts_ann;
DO $$
DECLARE
    name text;
BEGIN
    FOR i IN 1 .. 40 LOOP
        EXECUTE format('CREATE SCHEMA s%s', i);
        FOR name IN SELECT DISTINCT proname FROM pg_proc WHERE proname ~ '^dp_' AND pronamespace = 'pg_catalog'::regnamespace LOOP
            EXECUTE format('CREATE FUNCTION s%s.%I() RETURNS integer LANGUAGE sql AS ''SELECT 1''', i, name);
        END LOOP;
    END LOOP;
END $$;
SET SESSION AUTHORIZATION texts_owner;
SELECT count(*) > 1000 AS findings FROM dp_audit();
SELECT length(html) < 1000000 AS small, substring(html FROM 'The first 1000 of') AS said, (SELECT count(*) FROM regexp_matches(html, '<tr>', 'g')) < 1200 AS rows
FROM dp_report('told') html;
RESET SESSION AUTHORIZATION;
\c :first
SET client_min_messages = warning;
DROP DATABASE regress_texts;
DROP ROLE texts_owner, texts_ann;
