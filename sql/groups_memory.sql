-- What a release keeps of the groups of the data: beyond work_mem they wait on disk, however many there are.

LOAD 'dp_rdr';
-- Nearly a million groups of one row, and one that reaches the threshold.
CREATE TABLE crowd AS
SELECT CASE WHEN i <= 5000 THEN 'many' ELSE md5(i::text) END AS name, i::numeric / 5000 AS part, i % 50 AS v
FROM generate_series(1, 1000000) i;
ANALYZE crowd;
SELECT dp_protect('crowd', 'crowd_dp'), dp_set_bounds('crowd', 'v', 0, 50);
SELECT dp_set_odometer('crowd', 'none');
SELECT dp_grant('crowd_dp', 'regress_analyst', tau => 0, delta => 1e-6, epsilon_max => 50, candidates => '{50}'),
       dp_grant('crowd_dp', 'regress_second', tau_var => 1e-4, delta => 1e-6);
-- The most that this process has ever had in memory, in MB.
CREATE FUNCTION peak() RETURNS numeric LANGUAGE sql AS $$
    SELECT substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s+(\d+)')::numeric / 1024
$$;
GRANT EXECUTE ON FUNCTION peak() TO PUBLIC;
ALTER FUNCTION peak() SECURITY DEFINER;
-- Pages of the table count as memory once they have been read.
SELECT count(*) FROM crowd;
SET max_parallel_workers_per_gather = 0;
SET work_mem = '4MB';
SET hash_mem_multiplier = 1;
SELECT peak() AS before \gset

SET ROLE regress_analyst;
SELECT name, n > 4000 AS large FROM dp_query('SELECT name, count(*), sum(v), avg(v) FROM crowd_dp GROUP BY name') AS (name text, n bigint, s bigint, a numeric);
SELECT peak() - :before < 40 AS discovered_groups_wait_on_disk;
RESET ROLE;
SET ROLE regress_second;
SELECT count(*) >= 0 AS selected FROM dp_query('SELECT name, count(*) FROM crowd_dp GROUP BY name') AS (name text, n bigint);
SELECT peak() - :before < 40 AS so_they_do_for_a_selection;
RESET ROLE;
-- Almost nobody's group is declared; values are copied to be compared.
SELECT dp_set_groups('crowd', 'part', '{1,2,3}');
SET ROLE regress_analyst;
SELECT part, n < 20 AS small FROM dp_query('SELECT part, count(*), avg(v) FROM crowd_dp GROUP BY part') AS (part numeric, n bigint, a numeric);
SELECT peak() - :before < 40 AS and_with_declared_ones;
RESET ROLE;

SELECT dp_unprotect('crowd_dp');
DROP FUNCTION peak;
DROP TABLE crowd;
