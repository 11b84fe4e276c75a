-- What the library does to statements that have nothing to do with a restricted view, and to those that name a protected
-- table behind somebody's back.
LOAD 'dp_rdr';

-- In a parallel operation, where no new snapshot may be taken.
CREATE TABLE plain (x integer);
INSERT INTO plain SELECT generate_series(1, 10);
CREATE VIEW plain_view AS SELECT x FROM plain;
GRANT SELECT ON plain_view TO regress_stranger;
GRANT SELECT (x) ON plain TO regress_stranger; -- but not on the table
CREATE FUNCTION sum_of_view() RETURNS bigint LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
    RETURN (SELECT sum(x) FROM plain_view);
END $$;
CREATE FUNCTION sum_of_table() RETURNS bigint LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
    RETURN (SELECT sum(x) FROM plain);
END $$;
SELECT CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'debug_parallel_query' ELSE 'force_parallel_mode' END AS forced_parallel \gset
SET :forced_parallel = on;
SET ROLE regress_stranger;
SELECT sum_of_view();
SELECT sum_of_table();
RESET ROLE;
RESET :forced_parallel;

-- Whoever may not read a protected table, or a part of one, is told before the planner could print what it expects.
SET ROLE regress_controller;
CREATE TABLE part (x integer, y integer) PARTITION BY RANGE (x);
CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (0) TO (50);
CREATE TABLE part_2 PARTITION OF part FOR VALUES FROM (50) TO (100);
INSERT INTO part SELECT g % 100, g FROM generate_series(1, 1000) g;
SELECT dp_protect('part', 'part_dp');
CREATE TABLE own (x integer);
CREATE VIEW lent AS SELECT count(*) FROM part_1;
GRANT SELECT ON lent TO regress_stranger;
RESET ROLE;
CREATE FUNCTION inlined() RETURNS SETOF integer LANGUAGE sql STABLE AS 'SELECT x FROM part_1';
CREATE FUNCTION inlined_whole() RETURNS SETOF integer LANGUAGE sql STABLE AS 'SELECT x FROM part';
CREATE VIEW wrapped WITH (security_barrier) AS SELECT x FROM inlined() x;
GRANT SELECT ON wrapped TO regress_stranger;
ANALYZE part;
SET ROLE regress_stranger;
SET client_min_messages = log;
SET debug_print_plan = on;
SELECT x FROM part;
SELECT x FROM part_1;
SELECT x FROM part_1 TABLESAMPLE SYSTEM (10);
SELECT x FROM inlined() x;
SELECT x FROM inlined_whole() x WHERE x < 5;
SELECT x FROM wrapped;
SELECT (SELECT max(x) FROM inlined() x);
WITH hidden AS (SELECT x FROM part_2) SELECT count(*) FROM hidden;
EXPLAIN SELECT x FROM inlined() x;
CREATE TEMP TABLE copied AS SELECT x FROM part_2;
PREPARE later AS SELECT x FROM inlined() x;
EXECUTE later;
UPDATE part_1 SET y = 1;
DELETE FROM part_2 WHERE x = 60;
MERGE INTO part_1 USING (VALUES (1)) v (x) ON part_1.x = v.x WHEN MATCHED THEN DELETE;
RESET debug_print_plan;
-- What its owner lends through a view is his business.
SELECT * FROM lent;
RESET client_min_messages;
RESET ROLE;

-- A parent that is not protected itself, of a table that is.
SET ROLE regress_controller;
CREATE TABLE parent (x integer, y integer);
CREATE TABLE child (x integer, y integer);
INSERT INTO child SELECT g, g FROM generate_series(1, 100) g;
SELECT dp_protect('child', 'child_dp');
ALTER TABLE child INHERIT parent;
SET ROLE regress_stranger;
SET client_min_messages = log;
SET debug_print_plan = on;
SELECT x FROM parent;
RESET debug_print_plan;
RESET client_min_messages;
RESET ROLE;

-- With privileges on columns alone: as the executor says of a table that nobody has protected, and nothing else asks.
SET ROLE regress_controller;
CREATE TABLE twin (x integer, y integer);
CREATE TABLE guarded (x integer, y integer);
SELECT dp_protect('guarded', 'guarded_dp');
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY '{twin,guarded}'::text[] LOOP
        EXECUTE format('GRANT SELECT (x), INSERT (x), UPDATE (x) ON %I TO regress_stranger', name);
    END LOOP;
END $$;
RESET ROLE;
CREATE FUNCTION state_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    RETURN 'done';
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
SET ROLE regress_stranger;
SELECT statement, state_of(format(statement, 'guarded')) AS outcome, state_of(format(statement, 'twin')) = replace(state_of(format(statement, 'guarded')), 'guarded', 'twin') AS same
FROM unnest('{SELECT count(x) FROM %s,SELECT count(*) FROM %s,SELECT count(y) FROM %s,SELECT count(t) FROM %s t,SELECT tableoid FROM %s,
    INSERT INTO %s (x) VALUES (1),INSERT INTO %s (y) VALUES (1),INSERT INTO %s DEFAULT VALUES,INSERT INTO %s (x) VALUES (1) RETURNING y,
    UPDATE %s SET x = 1,UPDATE %s SET y = 1,UPDATE %s SET x = y,DELETE FROM %s,SELECT x FROM %s FOR UPDATE,SELECT 1 FROM %s a JOIN %1$s b USING (x),
    MERGE INTO %s t USING (VALUES (1)) v (n) ON t.x = v.n WHEN MATCHED THEN UPDATE SET x = 2}'::text[]) statement;
RESET ROLE;

-- The same of a restricted view, by the executor and by whoever answers.
SET ROLE regress_controller;
SELECT dp_set_odometer('guarded', epsilon_total => 100);
SELECT dp_grant('guarded_dp', 'regress_stranger', tau => 0.9);
REVOKE SELECT ON guarded_dp FROM regress_stranger;
GRANT SELECT (x) ON guarded_dp TO regress_stranger;
SET ROLE regress_stranger;
SELECT leaf, state_of(format(leaf, 'guarded_dp')) AS executor,
       state_of(format('SELECT * FROM dp_rdr.release(%L, NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)', format(leaf, 'public.guarded_dp'))) AS keeper
FROM unnest('{SELECT count(x) FROM %s,SELECT count(*) FROM %s,SELECT count(y) FROM %s,SELECT count(*) FROM %s WHERE y > 0,SELECT count(x) FROM %s WHERE y > 0}'::text[]) leaf;
RESET ROLE;

DROP FUNCTION state_of;
SELECT dp_unprotect('guarded_dp');
DROP TABLE twin, guarded;
DROP VIEW wrapped, plain_view, lent;
DROP FUNCTION inlined, inlined_whole, sum_of_view, sum_of_table;
SELECT dp_unprotect('child_dp'), dp_unprotect('part_dp');
DROP TABLE plain, part, own, child, parent;
