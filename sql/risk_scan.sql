-- How many rows the table has, as leave-one-out sees it: the statement that reads the records counts them on the way, where
-- the plan's scans tell, and count(*) must agree whatever the plan is: parts, parallel workers, conditions that are never
-- tried, joins.

LOAD 'dp_rdr';
CREATE TABLE whole (id integer, g integer, v integer);
CREATE TABLE parted (id integer, g integer, v integer) PARTITION BY RANGE (g);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (3);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (3) TO (6) PARTITION BY LIST (v);
CREATE TABLE parted_2a PARTITION OF parted_2 FOR VALUES IN (0, 1, 2);
CREATE TABLE parted_2b PARTITION OF parted_2 DEFAULT;
CREATE TABLE parted_3 PARTITION OF parted DEFAULT;
CREATE TABLE filtered (id integer, g integer, v integer);
CREATE TABLE nobody (id integer, g integer, v integer);
CREATE TABLE other (g integer PRIMARY KEY, name text);
INSERT INTO whole SELECT i, i % 9, i % 5 FROM generate_series(1, 3000) i;
INSERT INTO parted SELECT * FROM whole;
INSERT INTO filtered SELECT * FROM whole;
INSERT INTO other SELECT i, 'n' || i FROM generate_series(0, 4) i;
-- Rows that nobody sees are not counted.
DELETE FROM whole WHERE id % 10 = 3;
DELETE FROM parted WHERE id % 10 = 4;
ANALYZE whole, parted, filtered, nobody, other;
SELECT dp_protect('whole', 'whole_dp'), dp_protect('parted', 'parted_dp'), dp_protect('filtered', 'filtered_dp', filter => 'v <> 2'),
       dp_protect('nobody', 'nobody_dp');
SELECT dp_set_bounds(t::regclass, 'v', 0, 4), dp_set_groups(t::regclass, 'g', '{0,1,2,3,NULL}') FROM unnest('{whole,parted,filtered,nobody}'::text[]) t;

-- {} is the restricted view, or its condition is what the planner knows to be false, or true of some parts only.
CREATE TABLE asked (id integer GENERATED ALWAYS AS IDENTITY, query text, general boolean);
INSERT INTO asked (query, general) VALUES
    ('SELECT count(*) FROM {}', false),
    ('SELECT count(*) FROM {} WHERE v > 1', false),
    ('SELECT sum(v) FROM {} WHERE g = 1', false),
    ('SELECT sum(v) FROM {} WHERE g >= 3 AND g < 6 AND v = 3', false),
    ('SELECT g, count(*), avg(v) FROM {} WHERE v <> 0 GROUP BY g', false),
    ('SELECT v, count(*) FROM {} WHERE g > 100 GROUP BY v', false),
    ('SELECT v, count(*) FROM {} WHERE g IN (2, 7) GROUP BY v', false),
    ('SELECT count(*) FROM {} WHERE false', false),
    ('SELECT count(*) FROM {} WHERE 1 = 2 AND v = 1', false),
    ('SELECT count(*) FROM {} WHERE NULL', false),
    ('SELECT count(*) FROM {} WHERE g > 5 AND g < 3', false),
    ('SELECT count(*) FROM {} WHERE g IS NULL', false),
    ('SELECT g, sum(v) FILTER (WHERE id > 2500) FROM {} WHERE id <> 17 GROUP BY g', false),
    ('SELECT stddev(v) FROM {} WHERE g = 1', true),
    ('SELECT g, max(v) FROM {} WHERE v > 0 GROUP BY g', true),
    ('SELECT max(v) FROM {} WHERE false', true),
    ('SELECT max(v) FROM {} WHERE now() IS NULL', true),
    ('SELECT stddev(d.v) FROM {} d JOIN other o ON o.g = d.g', true),
    ('SELECT stddev(d.v) FROM {} d JOIN other o ON o.g = d.g WHERE o.g > 100', true),
    ('SELECT stddev(d.v) FROM {} d LEFT JOIN other o ON o.g = d.g WHERE d.v > 1', true),
    ('SELECT count(DISTINCT g) FROM {} WHERE g IN (SELECT g FROM other)', true);

-- Under each setting, of everybody that dp_risk_records knows: those who are not there, and how many there should be.
CREATE TABLE seen (shape text, query integer, relation text, individuals bigint, rows bigint);
CREATE PROCEDURE look(shape text) LANGUAGE plpgsql AS $$
DECLARE
    t text;
    n bigint;
BEGIN
    FOREACH t IN ARRAY '{whole,parted,filtered,nobody}'::text[] LOOP
        EXECUTE format('SELECT count(*) FROM %I', t) INTO n;
        INSERT INTO seen
        SELECT shape, a.id, t, (SELECT coalesce(sum(individuals), 0) FROM dp_risk_records(replace(a.query, '{}', t || '_dp'), 1, 'laplace', 1e-6,
                                                          sensitivity => CASE WHEN a.general THEN 100 END)), n
        FROM asked a;
    END LOOP;
END $$;
CALL look('as planned');
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
CALL look('parallel');
SET enable_parallel_append = off;
CALL look('parallel below append');
SET parallel_leader_participation = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
CALL look('nested loops');
RESET enable_hashjoin;
RESET enable_mergejoin;
SET max_parallel_workers = 0;
CALL look('no worker to be had');
RESET max_parallel_workers;
SET enable_partitionwise_aggregate = on;
SET constraint_exclusion = on;
CALL look('part by part');
RESET ALL;
SELECT CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'debug_parallel_query' ELSE 'force_parallel_mode' END AS forced_parallel \gset
SET :forced_parallel = on;
CALL look('forced');
RESET ALL;
SELECT shape, count(*) AS questions, count(*) FILTER (WHERE individuals IS DISTINCT FROM rows) AS wrong FROM seen GROUP BY shape ORDER BY shape;
SELECT s.shape, s.relation, a.query, s.individuals, s.rows FROM seen s JOIN asked a ON a.id = s.query WHERE individuals IS DISTINCT FROM rows ORDER BY 1, 2, 3;

SELECT dp_unprotect('whole_dp'), dp_unprotect('parted_dp'), dp_unprotect('filtered_dp'), dp_unprotect('nobody_dp');
DROP PROCEDURE look;
DROP TABLE asked, seen, whole, parted, filtered, nobody, other;
