-- Rows that a statement brings along from tables with dropped columns, under row security, and of which no column is read. The noise of a count of
-- people is 0 but once in 10^40 draws at epsilon 100.
LOAD 'dp_rdr';
CREATE SCHEMA dco AUTHORIZATION regress_analyst;
SET ROLE regress_controller;
CREATE TABLE dco_visit (pid integer PRIMARY KEY, amt integer NOT NULL, t text NOT NULL, i interval NOT NULL DEFAULT '1 day');
INSERT INTO dco_visit SELECT i, i % 10, 't' || i % 5 FROM generate_series(1, 100) i;
SELECT dp_protect('dco_visit', 'dco_visit_dp', unit => 'pid'), dp_set_odometer('dco_visit', 'none');
SELECT dp_set_bounds('dco_visit', 'amt', 0, 9), dp_grant('dco_visit_dp', 'regress_analyst', tau => 0, candidates => '{100}', epsilon_max => 100);
SET ROLE regress_analyst;
SET search_path = dco, public;
SET dp_rdr.noise = silent;
CREATE TABLE own (a integer, b integer, x integer, c integer, t text, y text);
INSERT INTO own VALUES (100, 5, 1, 3, 't1', 'y'), (200, 77, 2, 4, 't9', 'z');
CREATE FUNCTION rows_of_own() RETURNS SETOF own LANGUAGE sql VOLATILE AS 'SELECT * FROM own';
CREATE TABLE answer (n serial, number bigint);
-- The same before and after columns have gone, at the beginning, in the middle and at the end.
CREATE FUNCTION ask() RETURNS text LANGUAGE plpgsql AS $$
DECLARE query text; answers text[]; number bigint; one text;
BEGIN
    FOREACH query IN ARRAY ARRAY['SELECT count(*) FROM dco_visit_dp JOIN own ON own.b = amt', 'SELECT count(*) FROM dco_visit_dp JOIN own ON own.c = amt',
        'SELECT count(*) FROM dco_visit_dp v JOIN own ON own.t = v.t', 'SELECT count(*) FROM dco_visit_dp v JOIN own o ON o.b = amt AND o.c = 3', 'SELECT count(*) FROM dco_visit_dp v JOIN rows_of_own() o ON o.b = amt',
        'SELECT count(*) FROM dco_visit_dp v JOIN rows_of_own() WITH ORDINALITY o ON o.b = amt AND o.ordinality = 1', 'SELECT count(*) FROM dco_visit_dp v JOIN ROWS FROM (rows_of_own(), generate_series(1, 2)) o ON o.b = amt AND o.generate_series = 1',
        'SELECT count(*) FROM dco_visit_dp v WHERE amt IN (SELECT b FROM own)', 'SELECT count(*) FROM dco_visit_dp v JOIN (SELECT b, c FROM own) o ON o.c = amt',
        'WITH o AS (SELECT * FROM own) SELECT count(*) FROM dco_visit_dp v JOIN o ON o.c = amt', 'SELECT count(*) FROM (SELECT pid, own.b, count(*) FROM dco_visit_dp JOIN own ON own.c = amt GROUP BY pid, own.b) s WHERE b = 5',
        'SELECT count(*) FROM dco_visit_dp v, own'] LOOP
        EXECUTE query INTO number;
        answers := answers || number::text;
    END LOOP;
    FOR one IN SELECT own.b || ':' || count(*) FROM dco_visit_dp JOIN own ON own.c = amt GROUP BY own.b ORDER BY own.b LOOP
        answers := answers || one;
    END LOOP;
    RETURN array_to_string(answers, ' ');
END $$;
SELECT ask();
ALTER TABLE own DROP COLUMN a;
SELECT ask();
ALTER TABLE own DROP COLUMN x;
SELECT ask();
ALTER TABLE own DROP COLUMN y;
SELECT ask();

-- ---------------------------------------------------------------------------------------------------------------------
-- Row security of one's own table
-- ---------------------------------------------------------------------------------------------------------------------

RESET ROLE;
CREATE TABLE dco.guarded (a integer, b integer);
ALTER TABLE dco.guarded DROP COLUMN a;
INSERT INTO dco.guarded VALUES (3), (4), (77);
CREATE TABLE dco.limits (most integer);
INSERT INTO dco.limits VALUES (50);
ALTER TABLE dco.guarded ENABLE ROW LEVEL SECURITY;
CREATE POLICY low ON dco.guarded USING (b < 50 AND current_user = 'regress_analyst' AND EXISTS (SELECT FROM dco.limits WHERE b < most));
GRANT SELECT ON dco.guarded, dco.limits TO regress_analyst;
SET ROLE regress_analyst;
SELECT count(*) FROM dco_visit_dp v JOIN guarded ON guarded.b = amt;
SELECT count(*) FROM guarded g1 JOIN dco_visit_dp v ON g1.b = amt JOIN guarded g2 ON g2.b = amt;
SELECT count(*) FROM dco_visit_dp v, guarded;
SELECT count(*) FROM (SELECT pid, count(*) AS n FROM dco_visit_dp v, guarded GROUP BY pid) s WHERE n = 2;
SELECT count(*) FROM (SELECT v.amt FROM dco_visit_dp v JOIN guarded ON guarded.b = v.amt) s;

-- ---------------------------------------------------------------------------------------------------------------------
-- How many rows there are
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE lists (a integer[], b integer);
INSERT INTO lists VALUES ('{1}', 5), ('{2}', 6);
SELECT count(*) > 150 AS twice FROM dco_visit_dp, lists;
SELECT count(*) FROM dco_visit_dp JOIN lists ON b = amt;
CREATE TABLE lists_alone (a integer[]);
SELECT count(*) FROM dco_visit_dp, lists_alone;
-- A sub-SELECT counts no values of which equal ones look different.
SELECT count(*) FROM (SELECT pid, count(DISTINCT i) AS n FROM dco_visit_dp GROUP BY pid) s;

-- ---------------------------------------------------------------------------------------------------------------------
-- An enum of a schema that nobody else may use
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TYPE dco.mood AS ENUM ('low', 'high');
SELECT count(*) FROM dco_visit_dp v JOIN (VALUES ('low'::dco.mood), ('high'), ('high'), (NULL)) m (mood) ON CASE WHEN amt > 5 THEN 'high'::dco.mood ELSE 'low' END = m.mood;
SELECT m.mood, count(*) FROM dco_visit_dp v JOIN (VALUES ('low'::dco.mood), ('high'), ('high'), (NULL)) m (mood) ON CASE WHEN amt > 5 THEN 'high'::dco.mood ELSE 'low' END = m.mood GROUP BY m.mood ORDER BY m.mood;
SELECT count(*) FROM (SELECT pid, max(m.mood) AS mood FROM dco_visit_dp v JOIN (VALUES ('low'::dco.mood), ('high')) m (mood) ON amt > 5 GROUP BY pid) s WHERE mood = 'high';
