-- A key of texts is one as long as the library that ordered them has not changed: equal values may be in it twice otherwise.
-- The version that is recorded for a collation of our own says what no library was.

SET client_min_messages = error; -- PostgreSQL warns as well, and names versions of this machine
CREATE SCHEMA texts;
GRANT ALL ON SCHEMA texts TO regress_controller;
GRANT USAGE ON SCHEMA texts TO regress_analyst;
CREATE COLLATION texts.now (provider = icu, locale = 'en');
CREATE COLLATION texts.then (provider = icu, locale = 'en', version = '1');
SET ROLE regress_controller;
CREATE TABLE texts.patient (id text COLLATE texts.then PRIMARY KEY, age integer);
CREATE TABLE texts.visit (id text COLLATE texts.then PRIMARY KEY, patient text COLLATE "C" NOT NULL, cost integer);
CREATE TABLE texts.drug (visit text COLLATE "C" NOT NULL, dose integer);
CREATE TABLE texts.fine (id text COLLATE texts.now PRIMARY KEY, age integer);
CREATE TABLE texts.bytes (id text COLLATE "C" PRIMARY KEY, age integer);
CREATE TABLE texts.limited (id text COLLATE texts.then UNIQUE, age integer);
RESET ROLE;
CREATE FUNCTION texts.record(version text) RETURNS void LANGUAGE sql AS
    $$UPDATE pg_collation SET collversion = version WHERE oid = 'texts.then'::regcollation$$;
SELECT texts.record(pg_collation_actual_version('texts.then'::regcollation));

-- As the library was when the tables were protected.
SET ROLE regress_controller;
INSERT INTO texts.patient SELECT 'p' || g, g FROM generate_series(1, 100) g;
INSERT INTO texts.visit SELECT 'v' || g, 'p' || 1 + g % 100, g FROM generate_series(1, 300) g;
INSERT INTO texts.drug SELECT 'v' || g, 1 FROM generate_series(1, 300) g;
INSERT INTO texts.fine TABLE texts.patient;
INSERT INTO texts.bytes TABLE texts.patient;
SELECT dp_protect('texts.patient', 'texts.patient_dp', unit => 'id');
SELECT dp_protect('texts.visit', 'texts.visit_dp', unit => 'patient -> texts.patient (id)', max_rows => 4);
SELECT dp_protect('texts.drug', 'texts.drug_dp', unit => 'visit -> texts.visit (id)', max_rows => 8);
SELECT dp_protect('texts.fine', 'texts.fine_dp', unit => 'id'), dp_protect('texts.bytes', 'texts.bytes_dp', unit => 'id');
SELECT dp_set_odometer(t::regclass, 'none') FROM unnest('{texts.patient,texts.fine,texts.bytes}'::text[]) t;
SELECT dp_grant(format('texts.%s_dp', v)::regclass, 'regress_analyst', tau => 0, epsilon_max => 100, candidates => '{100}')
FROM unnest('{patient,visit,drug,fine,bytes}'::text[]) v;
SET ROLE regress_analyst;
SELECT attempt(format('SELECT count(*) FROM texts.%s_dp', v)) FROM unnest('{patient,visit,drug,fine,bytes}'::text[]) v;

-- It has changed since: the index is no key, neither for one row of each person nor for a step to the person.
RESET ROLE;
SELECT texts.record('1');
SET ROLE regress_analyst;
SELECT attempt(format('SELECT count(*) FROM texts.%s_dp', v)) FROM unnest('{patient,visit,drug,fine,bytes}'::text[]) v;
SET ROLE regress_controller;
SELECT attempt($$SELECT dp_protect('texts.limited', 'texts.limited_dp', unit => 'id', max_rows => 2)$$);
SELECT object, severity, regexp_replace(finding, 'version \S+ now', 'version X now') AS finding, remedy FROM dp_audit() WHERE finding ~ 'is no key' ORDER BY 1;

-- The remedy.
RESET ROLE;
REINDEX INDEX texts.patient_pkey;
REINDEX INDEX texts.visit_pkey;
ALTER COLLATION texts.then REFRESH VERSION;
SET ROLE regress_analyst;
SELECT attempt(format('SELECT count(*) FROM texts.%s_dp', v)) FROM unnest('{patient,drug}'::text[]) v;
SET ROLE regress_controller;
SELECT count(*) FROM dp_audit() WHERE finding ~ 'is no key';

-- Another key beside it does.
RESET ROLE;
SELECT texts.record('1');
SET ROLE regress_controller;
CREATE UNIQUE INDEX ON texts.patient (id COLLATE "C");
CREATE UNIQUE INDEX ON texts.visit (id COLLATE "C");
SET ROLE regress_analyst;
SELECT attempt(format('SELECT count(*) FROM texts.%s_dp', v)) FROM unnest('{patient,drug}'::text[]) v;

-- Keys of two collations of columns cannot be compared: the hint says which column gets another one.
RESET ROLE;
CREATE COLLATION texts.loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
SET ROLE regress_controller;
CREATE TABLE texts.stay (patient text COLLATE texts.now NOT NULL, ward text COLLATE texts.loose, days integer);
SELECT dp_protect('texts.stay', 'texts.stay_dp', unit => 'patient -> texts.bytes (id)', max_rows => 4);
SELECT dp_grant('texts.stay_dp', 'regress_analyst', tau => 0, epsilon_max => 100, candidates => '{100}');
SET ROLE regress_analyst;
SELECT count(*) FROM texts.stay_dp s JOIN texts.bytes_dp b ON s.patient COLLATE "C" = b.id;
-- Nor can groups be declared where texts that differ are equal.
SET ROLE regress_controller;
SELECT dp_set_groups('texts.stay', 'ward', '{icu}');
-- Nothing is joined with rows that are nobody's.
CREATE TABLE texts.alone (id integer, ward text);
CREATE TABLE texts.ward (ward text PRIMARY KEY);
SELECT dp_protect('texts.alone', 'texts.alone_dp');
SET client_min_messages = warning;
SELECT dp_set_public('texts.ward', 'texts.alone');
-- A reviewer who may not use the schema finds nothing there.
SELECT dp_set_review('texts.alone', '{pg_monitor}');
SET client_min_messages = error;

RESET ROLE;
DROP SCHEMA texts CASCADE;
RESET client_min_messages;
