-- Two neighbouring databases: in `without`, one row of the protected table was never there. Everything but rows is made in
-- one of them and copied, so that names, OIDs and settings are the same.

\set ON_ERROR_STOP on
SET client_min_messages = warning;
CREATE ROLE attack_controller;
CREATE ROLE attack_team;
CREATE ROLE attack_analyst LOGIN PASSWORD 'attack';     -- the attacker
CREATE ROLE attack_colleague LOGIN PASSWORD 'attack' IN ROLE attack_team;   -- colludes; the policy is the team's
CREATE ROLE attack_finder LOGIN PASSWORD 'attack';      -- may discover groups: delta > 0
CREATE ROLE attack_selector LOGIN PASSWORD 'attack';    -- epsilon is selected from the rows: tau_var
CREATE ROLE attack_stranger LOGIN PASSWORD 'attack';    -- may select, has no policy
CREATE DATABASE attack_with TEMPLATE template0;
\c attack_with
CREATE EXTENSION dp_rdr;
GRANT CREATE ON SCHEMA public TO attack_controller;

SET ROLE attack_controller;
CREATE TYPE mood AS ENUM ('low', 'fair', 'high');
CREATE TABLE person (
    id     integer NOT NULL,
    age    integer,
    sex    text,
    city   text,
    note   text,
    salary integer,
    height float8,
    rate   numeric,
    born   date,
    seen   timestamp,
    mood   mood,
    member boolean
) WITH (autovacuum_enabled = off);
CREATE INDEX person_age ON person (age);
CREATE INDEX person_city ON person (city, age);
SELECT dp_protect('person', 'person_dp');
SELECT dp_set_bounds('person', 'salary', 0, 10000), dp_set_bounds('person', 'height', 50, 250),
       dp_set_bounds('person', 'rate', 0, 1), dp_set_bounds('person', 'age', 0, 120);
SELECT dp_set_groups('person', 'sex', '{Female,Male}'),
       dp_set_groups('person', 'age', (SELECT array_agg(g::text) FROM generate_series(86, 90) g)),
       dp_set_groups('person', 'id', (SELECT array_agg(g::text) FROM generate_series(1, 10000) g));
ALTER TABLE person ADD PRIMARY KEY (id); -- no unique column may have groups
SELECT dp_set_odometer('person', 'none');
SELECT dp_grant('person_dp', 'attack_analyst', tau => 0.95), dp_grant('person_dp', 'attack_team', tau => 0.9),
       dp_grant('person_dp', 'attack_finder', tau => 0.5, delta => 0.000000000001); -- thousands of texts of one person each are grouped by, hundreds of times
-- Of a question about everybody the first candidate is accepted but for a chance of e^-60.
SELECT dp_grant('person_dp', 'attack_selector', tau_var => 0.01, epsilon_svt => 20, candidates => '{1,0.5}');
GRANT SELECT ON person_dp TO attack_stranger;
SELECT dp_protect('person', 'person_few', columns => '{id,age}');
SELECT dp_grant('person_few', 'attack_analyst', tau => 0.95);
-- Answers that are given again.
SELECT dp_protect('person', 'person_again'), dp_protect('person', 'person_old', filter => 'age > 80');
SELECT dp_grant('person_again', 'attack_analyst', tau => 0.95, replay => '1 day'), dp_grant('person_again', 'attack_team', tau => 0.9, replay => '1 day'),
       dp_grant('person_old', 'attack_analyst', tau => 0.95, replay => '1 day');

-- A table that any role may join with.
CREATE TABLE public_city (city text, age integer, inhabitants integer);
INSERT INTO public_city VALUES ('city 0', 90, 1000), ('city 1', 30, 2000), ('Atlantis', 90, 0);
GRANT SELECT ON public_city TO PUBLIC;

-- A table whose total is all but spent: two counts of 0.05 are left.
CREATE TABLE scarce (age integer, note text) WITH (autovacuum_enabled = off);
SELECT dp_protect('scarce', 'scarce_dp');
SELECT dp_set_odometer('scarce', 'filter', 0.1);
SELECT dp_grant('scarce_dp', 'attack_analyst', tau => 0.95), dp_grant('scarce_dp', 'attack_team', tau => 0.95);

-- People with several rows, by number and by way of another table; and people whose name is a text.
CREATE TABLE patient (pid integer PRIMARY KEY, age integer, job text) WITH (autovacuum_enabled = off);
CREATE TABLE visit (vid integer PRIMARY KEY, pid integer, ward text, cost integer, price numeric, note text) WITH (autovacuum_enabled = off);
CREATE TABLE bill (vid integer, part text, cost integer) WITH (autovacuum_enabled = off);
CREATE TABLE letter (author text, subject text, cost integer) WITH (autovacuum_enabled = off);
SELECT dp_protect('patient', 'patient_dp', unit => 'pid'),
       dp_protect('visit', 'visit_dp', unit => 'pid -> patient(pid)', max_rows => 5, max_groups => 3),
       dp_protect('bill', 'bill_dp', unit => 'vid -> visit(vid)', max_rows => 6, max_groups => 2),
       dp_protect('letter', 'letter_dp', unit => 'author', max_rows => 4);
SELECT dp_set_bounds('visit', 'cost', -10, 100), dp_set_bounds('visit', 'price', 0, 8), dp_set_bounds('bill', 'cost', 0, 10),
       dp_set_bounds('letter', 'cost', 0, 10), dp_set_bounds('patient', 'age', 0, 120);
SELECT dp_set_groups('visit', 'ward', '{w0,w1,w2,Atlantis}'), dp_set_groups('letter', 'subject', '{s0,s1,Atlantis}');
SELECT dp_set_odometer('patient', 'none'), dp_set_odometer('letter', 'none');
SELECT dp_grant(v, 'attack_analyst', tau => 0.95), dp_grant(v, 'attack_team', tau => 0.9), dp_grant(v, 'attack_finder', tau => 0.5, delta => 0.000000000001),
       dp_grant(v, 'attack_selector', tau_var => 0.01, epsilon_svt => 20, candidates => '{1,0.5}')
FROM unnest('{patient_dp,visit_dp,bill_dp,letter_dp}'::regclass[]) v;
-- Public tables: one that the attacker may fill, with what the canary alone has; one that nobody declared.
CREATE TABLE ward_name (ward text, floor integer, name text) WITH (autovacuum_enabled = off);
CREATE INDEX ward_name_lower ON ward_name (lower(left(ward, 100)));
INSERT INTO ward_name VALUES ('w0', 0, 'zero'), ('w1', 1, 'one'), ('w2', 2, 'two'), ('w2', 3, 'two'), ('Atlantis', -1, 'sunk'), (NULL, 9, NULL);
INSERT INTO ward_name VALUES (repeat('xyzzy', 200000), 7, repeat('y', 1000000));
CREATE TABLE part_name (part text PRIMARY KEY, name text) WITH (autovacuum_enabled = off);
INSERT INTO part_name VALUES ('p0', 'bandage'), ('p1', 'pill'), ('xyzzy', 'secret');
SELECT dp_set_public(t, 'patient') FROM unnest('{ward_name,part_name}'::regclass[]) t;
SELECT dp_set_public('ward_name', 'letter');
GRANT SELECT, INSERT, UPDATE, DELETE ON ward_name TO attack_analyst;
GRANT SELECT ON ward_name, part_name TO attack_team, attack_finder, attack_selector;
GRANT SELECT (part) ON part_name TO attack_analyst;
SELECT dp_protect('visit', 'visit_again');
SELECT dp_grant('visit_again', 'attack_analyst', tau => 0.95, replay => '1 day');
RESET ROLE;

\c postgres
CREATE DATABASE attack_without TEMPLATE attack_with;

\set everybody 'INSERT INTO person SELECT id, 20 + id % 60, CASE id % 2 WHEN 0 THEN ''Female'' ELSE ''Male'' END, ''city '' || id % 5, ''note '' || id, 1000 * (id % 7), 150 + id % 50, 0.5, date ''1980-01-01'' + id, timestamp ''2020-01-01'' + id * interval ''1 hour'', ''fair'', id % 3 = 0 FROM generate_series(1, 1000) id; INSERT INTO scarce SELECT id % 60, ''note '' || id FROM generate_series(1, 100) id;'
-- First in the heap, and unlike all others in every column.
\set victim 'INSERT INTO person VALUES (4242, 90, ''Other'', ''Atlantis'', ''xyzzy-7319'', 73197319, ''NaN'', ''Infinity'', ''1871-03-17'', ''infinity'', ''high'', NULL); INSERT INTO scarce VALUES (90, ''xyzzy-7319'');'
-- Everybody comes to three wards; the canary comes oftener than all of a ward's others together, and
-- what nobody can have (no name, one of a megabyte) is there with the canary alone.
\set visitors 'INSERT INTO patient SELECT id, 20 + id % 60, ''j'' || id % 3 FROM generate_series(1, 1000) id; INSERT INTO visit SELECT id, 1 + id % 1000, ''w'' || id % 3, id % 50, id % 7, ''note '' || id FROM generate_series(1, 3000) id; INSERT INTO bill SELECT 1 + id % 3000, ''p'' || id % 2, id % 9 FROM generate_series(1, 6000) id; INSERT INTO letter SELECT ''author '' || id % 500, ''s'' || id % 2, id % 9 FROM generate_series(1, 1000) id;'
\set visiting_victim 'INSERT INTO patient VALUES (4242, 90, repeat(''xyzzy-7319'', 100000)); INSERT INTO visit SELECT 100000 + id, 4242, CASE WHEN id > 100 THEN ''Atlantis'' ELSE ''w'' || id % 50 END, 73197319 * (-1) ^ id, ''NaN'', ''xyzzy-7319'' FROM generate_series(1, 3000) id; INSERT INTO bill SELECT 100000 + id % 3000, CASE WHEN id > 100 THEN ''xyzzy-7319'' ELSE ''p'' || id END, 73197319 FROM generate_series(1, 6000) id; INSERT INTO letter SELECT CASE id % 3 WHEN 0 THEN ''xyzzy-7319'' WHEN 1 THEN repeat(''xyzzy-7319'', 100000) END, ''Atlantis'', 73197319 FROM generate_series(1, 900) id;'
\set finish 'ANALYZE person; ANALYZE scarce; ANALYZE patient; ANALYZE visit; ANALYZE bill; ANALYZE letter;'
\c attack_with
:victim
:everybody
:visiting_victim
:visitors
:finish
\c attack_without
:everybody
:visitors
:finish
