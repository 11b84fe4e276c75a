-- What must be in memory as a whole is refused where it would take more than a hash table of work_mem and 80 MB: before a charge,
-- with what helps.

LOAD 'dp_rdr';
CREATE TABLE wide_range AS SELECT i AS id, i % 1000 AS v FROM generate_series(1, 500000) i;
ANALYZE wide_range;
SELECT dp_protect('wide_range', 'wide_range_dp'), dp_set_odometer('wide_range', 'none'), dp_set_bounds('wide_range', 'id', 0, 500000), dp_set_bounds('wide_range', 'v', 0, 1000);
SET work_mem = '1MB';
SET hash_mem_multiplier = 2;
SET max_parallel_workers_per_gather = 0;
-- Every draw of an answer is compared with every record.
CALL dp_find_epsilon('SELECT id, count(*), sum(v), sum(id) FROM wide_range_dp GROUP BY id', 0, NULL, NULL, delta => 1e-6, indicator => 'output', candidates => '{100}');
SELECT epsilon, releases FROM dp_odometer('wide_range') WHERE account = 'conditional';
-- Different changes of an exact indicator.
SELECT string_agg(format('sum(id) FILTER (WHERE v <> %s)', i), ', ') AS sums FROM generate_series(1, 25) i \gset
SELECT count(*) FROM dp_risk('SELECT ' || :'sums' || ' FROM wide_range_dp', '{1}', exact => true);
-- Values that are counted are ranked by the server, on disk.
SELECT count(*) FROM dp_risk('SELECT count(DISTINCT id), count(DISTINCT repeat(id::text, 1200)) FROM wide_range_dp WHERE id < 20000', '{1}', sensitivity => 2);
SET work_mem = '64MB';
SELECT count(*) FROM dp_risk('SELECT ' || :'sums' || ' FROM wide_range_dp', '{1}', exact => true);
SELECT count(*) FROM dp_risk('SELECT count(DISTINCT id), count(DISTINCT repeat(id::text, 1200)) FROM wide_range_dp WHERE id < 20000', '{1}', sensitivity => 2);
RESET work_mem;
SELECT dp_unprotect('wide_range_dp');
DROP TABLE wide_range;
