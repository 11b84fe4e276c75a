-- What other than an answer could show how many rows a query has read: buffers and scan counters of the same transaction, and
-- what a keeper, which reads, passes on to everybody when it is idle.
LOAD 'dp_rdr';

SET ROLE regress_controller;
-- A condition on the long column fetches it out of line: four buffers for each row that gets that far.
CREATE TABLE thick (id integer, long_text text);
ALTER TABLE thick ALTER long_text SET STORAGE EXTERNAL;
INSERT INTO thick SELECT id, repeat(md5(id::text), 250) FROM generate_series(1, 20) id;
SELECT dp_protect('thick', 'thick_dp');
SELECT dp_set_odometer('thick', 'none'), dp_grant('thick_dp', 'regress_analyst', tau => 0.95);

-- How many more buffers EXPLAIN shows for one query than for another, by turns, until as few were seen for both: what others do meanwhile
-- costs buffers as well.
CREATE FUNCTION more_buffers(query text, other text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    plan json;
    least_so_far bigint[] = '{NULL,NULL}';
BEGIN
    FOR i IN 1..60 LOOP
        EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ' || (ARRAY[query, other])[i % 2 + 1] INTO plan;
        least_so_far[i % 2 + 1] = least(least_so_far[i % 2 + 1], (plan->0->'Plan'->>'Shared Hit Blocks')::bigint +
                                                                 (plan->0->'Plan'->>'Shared Read Blocks')::bigint);
        EXIT WHEN i > 10 AND least_so_far[1] = least_so_far[2];
    END LOOP;
    RETURN least_so_far[1] - least_so_far[2];
END $$;

-- The table itself shows the rows (the test could fail).
SELECT more_buffers($$SELECT count(*) FROM thick WHERE id <= 10 AND long_text < 'a'$$,
                    $$SELECT count(*) FROM thick WHERE id <= 0 AND long_text < 'a'$$) >= 20 AS the_table_tells;

SET ROLE regress_analyst;
SELECT more_buffers($$SELECT count(*) FROM thick_dp WHERE id <= 10 AND long_text < 'a'$$,
                    $$SELECT count(*) FROM thick_dp WHERE id <= 0 AND long_text < 'a'$$) = 0 AS the_view_does_not;

-- Groups that nobody declared spill, and are read again after the scan: not to be seen either.
SET ROLE regress_controller;
CREATE TABLE many AS SELECT id, id AS other FROM generate_series(1, 20000) id;
SELECT dp_protect('many', 'many_dp');
SELECT dp_set_odometer('many', 'none'), dp_grant('many_dp', 'regress_analyst', tau => 0.95),
       dp_set_groups('many', 'id', '{1,2}');
CREATE FUNCTION temporary_blocks(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ' || query INTO plan;
    RETURN (plan->0->'Plan'->>'Temp Read Blocks')::bigint + (plan->0->'Plan'->>'Temp Written Blocks')::bigint;
END $$;
SET work_mem = '64kB';
SELECT temporary_blocks('SELECT id, count(*) FROM many GROUP BY id') > 0 AS the_table_tells;
SET ROLE regress_analyst;
SELECT temporary_blocks('SELECT id, count(*) FROM many_dp GROUP BY id') AS all_rows,
       temporary_blocks('SELECT id, count(*) FROM many_dp WHERE id <= 10 GROUP BY id') AS few_rows;

-- Nor are the files in which they waited for a selection that accepts nothing (C18).
RESET ROLE;
SELECT dp_grant('many_dp', 'regress_second', tau_var => 0, epsilon_svt => 20, delta => 1e-6);
CREATE FUNCTION temporary_files() RETURNS bigint LANGUAGE sql
RETURN (SELECT temp_files FROM pg_stat_database WHERE datname = current_database());
SELECT pg_stat_force_next_flush();
SELECT temporary_files() AS before \gset
SELECT count(*) FROM (SELECT other, count(*) FROM many GROUP BY 1) g;
SELECT pg_stat_force_next_flush();
SELECT temporary_files() - :before AS the_table_tells, temporary_files() AS before \gset
SELECT :the_table_tells > 0 AS the_table_tells;
SELECT format('ALTER DATABASE %I SET work_mem = %L', current_database(), '64kB') AS small,
       format('ALTER DATABASE %I RESET work_mem', current_database()) AS usual,
       -- One that has just ended by itself is warned of.
       'SET client_min_messages = error;
        SELECT count(pg_terminate_backend(pid, 5000)) >= 0 AS others_start FROM pg_stat_activity
        WHERE backend_type = ''dp_rdr keeper'' AND datname = current_database();
        RESET client_min_messages' AS new_keepers \gset
:small;
:new_keepers;
SET ROLE regress_second;
SELECT other, count(*) FROM many_dp WHERE id <= 10000 GROUP BY 1;
RESET ROLE;
:new_keepers;
SELECT pg_stat_force_next_flush();
SELECT temporary_files() - :before AS the_view_does_not;
:usual;
:new_keepers;
RESET work_mem;

-- Scan counters of this session (C07): those of the statements above are still in them, none is added. Nor to those of the
-- server, once the keeper has passed on what it has counted, at the latest when it ends; those of its ledger are there.
SELECT pg_stat_force_next_flush();
SELECT pg_stat_get_tuples_returned('thick'::regclass) AS returned, pg_stat_get_numscans('thick'::regclass) AS scans,
       pg_stat_get_tuples_inserted('dp_rdr.ledger_row'::regclass) AS charges \gset server_
SET ROLE regress_analyst;
SELECT pg_stat_get_xact_tuples_returned(oid) AS returned, pg_stat_get_xact_numscans(oid) AS scans
FROM pg_class WHERE relname = 'thick' \gset before_
BEGIN;
SELECT count(*) IS NOT NULL AS answered FROM thick_dp WHERE id <= 10;
SELECT pg_stat_get_xact_tuples_returned(oid) - :before_returned AS returned,
       pg_stat_get_xact_numscans(oid) - :before_scans AS scans
FROM pg_class WHERE relname = 'thick';
COMMIT;
RESET ROLE;
:new_keepers;
SELECT pg_stat_get_tuples_returned('thick'::regclass) - :server_returned AS returned,
       pg_stat_get_numscans('thick'::regclass) - :server_scans AS scans,
       pg_stat_get_tuples_inserted('dp_rdr.ledger_row'::regclass) - :server_charges AS charges;

SET ROLE regress_controller;
DROP FUNCTION more_buffers, temporary_blocks;
RESET ROLE;
DROP FUNCTION temporary_files;
SET ROLE regress_controller;
DROP TABLE thick, many CASCADE;
RESET ROLE;
