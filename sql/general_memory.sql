-- What general queries of a controller keep of their records: columns wait on disk, not in memory.

LOAD 'dp_rdr';
CREATE TABLE wide AS SELECT i AS id, i % 7 AS g, repeat(md5(i::text), 20) AS note FROM generate_series(1, 80000) i;
SELECT dp_protect('wide', 'wide_dp');
-- The most that this process has ever had in memory, in MB.
CREATE FUNCTION peak() RETURNS numeric LANGUAGE sql AS $$
    SELECT substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s+(\d+)')::numeric / 1024
$$;
SELECT peak() AS before \gset
-- 51 MB of notes.
SELECT count(*), sum(individuals), sum(pis) FROM dp_risk_records('SELECT g, count(*), count(DISTINCT id) FROM wide_dp WHERE note <> ''x'' GROUP BY g', 1, sensitivity => 2);
SELECT peak() - :before < 90 AS no_notes_in_memory;
DROP FUNCTION peak;
SELECT dp_unprotect('wide_dp');
DROP TABLE wide;
