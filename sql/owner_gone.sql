-- Totals belong to a role by its number: it may be renamed, and where it was dropped nobody takes them over by a table's name.

LOAD 'dp_rdr';
\set VERBOSITY terse
SET client_min_messages = warning;
DROP ROLE IF EXISTS gone_boss, gone_chief, gone_heir, gone_mallory, gone_asker, gone_renamed;
RESET client_min_messages;
CREATE ROLE gone_boss LOGIN;
CREATE ROLE gone_heir LOGIN;
CREATE ROLE gone_mallory LOGIN;
CREATE ROLE gone_asker LOGIN;
CREATE SCHEMA gone AUTHORIZATION gone_boss;
GRANT ALL ON SCHEMA gone TO gone_mallory, gone_heir;
GRANT USAGE ON SCHEMA gone TO gone_asker;
-- The SQLSTATE and the message, or the number of rows.
CREATE FUNCTION gone.said(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE n bigint;
BEGIN
    EXECUTE statement;
    GET DIAGNOSTICS n = ROW_COUNT;
    RETURN n;
EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE || ': ' || SQLERRM;
END$$;
GRANT EXECUTE ON FUNCTION gone.said TO PUBLIC;

SET SESSION AUTHORIZATION gone_boss;
CREATE TABLE gone.person (pid int PRIMARY KEY);
CREATE TABLE gone.visit (pid int NOT NULL REFERENCES gone.person, cost int NOT NULL);
CREATE TABLE gone.single (v int);
INSERT INTO gone.person SELECT i FROM generate_series(1, 100) i;
INSERT INTO gone.visit SELECT i, i FROM generate_series(1, 100) i;
INSERT INTO gone.single SELECT generate_series(1, 100);
SELECT dp_protect('gone.person', 'gone.person_dp', unit => 'pid'), dp_protect('gone.visit', 'gone.visit_dp', unit => 'pid -> gone.person', max_rows => 5),
       dp_protect('gone.single', 'gone.single_dp');
SELECT dp_set_odometer('gone.person', 'none'), dp_set_odometer('gone.single', 'none');
SELECT dp_grant(v, 'gone_asker', tau => 0.5) FROM unnest('{gone.person_dp,gone.visit_dp,gone.single_dp}'::regclass[]) v;
SET SESSION AUTHORIZATION gone_asker;
SELECT count(*) > -1000 AS person FROM gone.person_dp;
SELECT count(*) > -1000 AS visit FROM gone.visit_dp;
SELECT count(*) > -1000 AS single FROM gone.single_dp;
RESET SESSION AUTHORIZATION;

-- Renamed: it is the same role, and nobody else.
ALTER ROLE gone_boss RENAME TO gone_chief;
SET SESSION AUTHORIZATION gone_chief;
SELECT count(*) AS shown FROM dp_rdr.ledger;
DROP TABLE gone.visit CASCADE;
SET SESSION AUTHORIZATION gone_mallory;
CREATE TABLE gone.visit (pid int NOT NULL, cost int NOT NULL);
SELECT gone.said($$SELECT dp_protect('gone.visit', 'gone.visit_tmp', unit => 'pid', max_rows => 5)$$);
SELECT gone.said($$SELECT dp_protect('gone.visit', 'gone.visit_tmp')$$);
SELECT count(*) AS shown FROM dp_rdr.ledger;
DROP TABLE gone.visit;
SET SESSION AUTHORIZATION gone_chief;
SELECT gone.said($$SELECT dp_set_odometer('gone.person', 'none')$$);
CREATE TABLE gone.visit (pid int NOT NULL REFERENCES gone.person, cost int NOT NULL);
SELECT dp_protect('gone.visit', 'gone.visit_dp', unit => 'pid -> gone.person', max_rows => 5);
DROP TABLE gone.single CASCADE;
CREATE TABLE gone.single (v int);
SELECT dp_protect('gone.single', 'gone.single_dp');
SELECT releases FROM dp_odometer('gone.single') WHERE account = 'public';

RESET SESSION AUTHORIZATION;

-- Whose tables are given away: who owns them now has the totals, though nothing was asked since.
REASSIGN OWNED BY gone_chief TO gone_heir;
DROP OWNED BY gone_chief;
SET SESSION AUTHORIZATION gone_heir;
DROP TABLE gone.single, gone.visit CASCADE;
RESET SESSION AUTHORIZATION;
DROP ROLE gone_chief;
SET SESSION AUTHORIZATION gone_mallory;
CREATE TABLE gone.visit (pid int NOT NULL, cost int NOT NULL);
SELECT gone.said($$SELECT dp_protect('gone.visit', 'gone.visit_tmp', unit => 'pid', max_rows => 5)$$);
CREATE TABLE gone.single (v int);
SELECT gone.said($$SELECT dp_protect('gone.single', 'gone.single_tmp')$$);
SELECT gone.said($$SELECT dp_protect('gone.single', 'gone.single_tmp', unit => 'v', max_rows => 5)$$);
SELECT count(*) AS shown FROM dp_rdr.ledger;
DROP TABLE gone.single, gone.visit;
SET SESSION AUTHORIZATION gone_heir;
CREATE TABLE gone.visit (pid int NOT NULL REFERENCES gone.person, cost int NOT NULL);
SELECT dp_protect('gone.visit', 'gone.visit_dp', unit => 'pid -> gone.person', max_rows => 5);
SELECT gone.said($$SELECT dp_set_odometer('gone.person', 'none')$$);
SELECT releases FROM dp_odometer('gone.person') WHERE account = 'public';

-- Of a table that stood alone nobody knows who may go on: a superuser says so, and it stays so.
CREATE TABLE gone.single (v int);
SELECT gone.said($$SELECT dp_protect('gone.single', 'gone.single_dp')$$);
RESET SESSION AUTHORIZATION;
SELECT o.owner::oid >= 4026531840::oid AS nobody FROM dp_rdr.odometer o WHERE o.relation_name = 'gone.single';
SELECT dp_protect('gone.single', 'gone.single_dp');
SET SESSION AUTHORIZATION gone_heir;
SELECT releases FROM dp_odometer('gone.single') WHERE account = 'public';
DROP TABLE gone.single CASCADE;
CREATE TABLE gone.single (v int);
SELECT dp_protect('gone.single', 'gone.single_dp');
SELECT releases FROM dp_odometer('gone.single') WHERE account = 'public';

-- dp_refresh() gives nobody what a view and a table of the same names had.
RESET SESSION AUTHORIZATION;
ALTER TABLE gone.single OWNER TO gone_mallory;
SELECT pg_get_viewdef('gone.single_dp'::regclass) AS definition \gset
UPDATE dp_rdr.odometer SET owner = '4026531841' WHERE relation_name = 'gone.single';
SET SESSION AUTHORIZATION gone_mallory;
DROP TABLE gone.single CASCADE;
CREATE TABLE gone.single (v int);
CREATE VIEW gone.single_dp AS :definition
SELECT gone.said($$SELECT dp_refresh('gone.single_dp')$$);
RESET SESSION AUTHORIZATION;
SELECT gone.said($$SELECT dp_refresh('gone.single_dp')$$) ~ '^1' AS superuser;
SELECT o.owner FROM dp_rdr.odometer o WHERE o.relation_name = 'gone.single';

-- Who is suspended stays so under another name, and is resumed by it.
SET SESSION AUTHORIZATION gone_heir;
SELECT dp_grant('gone.person_dp', 'gone_asker', tau => 0.5);
RESET SESSION AUTHORIZATION;
INSERT INTO dp_rdr.suspension VALUES ('gone.person_dp', 'gone_asker', 'gone_asker', 'gone_asker', now());
ALTER ROLE gone_asker RENAME TO gone_renamed;
SET SESSION AUTHORIZATION gone_renamed;
SELECT gone.said('SELECT count(*) FROM gone.person_dp');
SET SESSION AUTHORIZATION gone_heir;
SELECT name, value FROM dp_settings('gone.person') WHERE item = 'suspended';
SELECT dp_resume('gone.person_dp', 'gone_renamed');
SET SESSION AUTHORIZATION gone_renamed;
SELECT gone.said('SELECT count(*) FROM gone.person_dp');

RESET SESSION AUTHORIZATION;
SET client_min_messages = warning;
DROP SCHEMA gone CASCADE;
DROP OWNED BY gone_heir, gone_mallory, gone_renamed;
DROP ROLE gone_heir, gone_mallory, gone_renamed;
