-- dp_rdr.max_rows and dp_rdr.max_groups: what the arguments of dp_query say, for statements that pass none. A role may have them.
\set VERBOSITY default
LOAD 'dp_rdr';
SET ROLE regress_controller;
CREATE TABLE ls_guest (id integer PRIMARY KEY);
CREATE TABLE ls_stay (guest integer NOT NULL, nights integer, room integer NOT NULL);
INSERT INTO ls_guest SELECT generate_series(1, 20);
INSERT INTO ls_stay SELECT i, 1, k FROM generate_series(1, 20) i, generate_series(1, 10) k;
SELECT dp_protect('ls_guest', 'ls_guest_dp'), dp_protect('ls_stay', 'ls_stay_dp', unit => 'guest', max_rows => 100) \g (tuples_only=on)
SELECT dp_set_bounds('ls_stay', 'nights', 0, 4), dp_set_odometer('ls_guest', 'none'), dp_set_odometer('ls_stay', 'none', delta_total => 0.5),
       dp_grant('ls_guest_dp', 'regress_analyst', tau => 0, epsilon_max => 100, candidates => '{100}'),
       dp_grant('ls_stay_dp', 'regress_analyst', tau => 0, epsilon_max => 100, candidates => '{100}', delta => 1e-6) \g (tuples_only=on)
SET ROLE regress_analyst;
CREATE FUNCTION pg_temp.limits(query text) RETURNS TABLE (max_rows integer, max_groups integer) LANGUAGE sql AS $$ SELECT max_rows, max_groups FROM dp_explain(query) LIMIT 1 $$;

-- A value that is none is refused where it is set.
SHOW dp_rdr.max_rows;
SHOW dp_rdr.max_groups;
SET dp_rdr.max_rows = -1;
SET dp_rdr.max_rows = 1048577;
SET dp_rdr.max_groups = 'many';
SELECT * FROM pg_temp.limits('SELECT count(*) FROM ls_stay_dp'), pg_temp.limits('SELECT room, count(*) FROM ls_stay_dp GROUP BY room') grouped;

-- Everywhere a statement is answered, or said what it would be.
SET dp_rdr.max_rows = 5;
SELECT * FROM pg_temp.limits('SELECT count(*) FROM ls_stay_dp'), pg_temp.limits('SELECT room, count(*) FROM ls_stay_dp GROUP BY room') grouped;
-- 5 of 10 rows of each of 20 people: noise of scale 0.05 is no 5 in 10^43 draws.
SELECT count AS scaled_down FROM (SELECT count(*) FROM ls_stay_dp) s;
BEGIN READ ONLY;
SELECT count AS scaled_down FROM (SELECT count(*) FROM ls_stay_dp) s;
COMMIT;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SELECT count AS scaled_down, guests FROM (SELECT count(*) FROM ls_stay_dp) s, (SELECT count(*) AS guests FROM ls_guest_dp) g;
RESET max_parallel_workers_per_gather;
-- A plan that was made before it was set.
PREPARE counted AS SELECT count(*) FROM ls_stay_dp;
EXECUTE counted;
SET dp_rdr.max_rows = 2;
EXECUTE counted;
RESET dp_rdr.max_rows;
EXECUTE counted \g /dev/null
SET dp_rdr.max_rows = 5;

-- What is passed is what counts; of groups no more than of rows that were passed.
SET dp_rdr.max_groups = 4;
SELECT * FROM pg_temp.limits('SELECT room, count(*) FROM ls_stay_dp GROUP BY room');
SELECT max_rows, max_groups FROM dp_explain('SELECT room, count(*) FROM ls_stay_dp GROUP BY room', max_rows => 3) LIMIT 1;
SELECT max_rows, max_groups FROM dp_explain('SELECT room, count(*) FROM ls_stay_dp GROUP BY room', max_groups => 2) LIMIT 1;
SELECT * FROM dp_query('SELECT count(*) FROM ls_stay_dp', max_rows => 1) AS s (scaled_down bigint);
SET dp_rdr.max_groups = 6;
SELECT count(*) FROM ls_stay_dp;
RESET dp_rdr.max_groups;

-- A table where a row is a person has no such limits: nothing is refused of it.
SELECT count(*) AS guests FROM ls_guest_dp;
SELECT * FROM dp_query('SELECT count(*) FROM ls_guest_dp') AS s (guests bigint);
SELECT * FROM dp_query('SELECT count(*) FROM ls_guest_dp', max_rows => 5) AS s (guests bigint);

-- Another limit is another question.
SET ROLE regress_controller;
SELECT dp_grant('ls_stay_dp', 'regress_analyst', replay => '1 day');
SET ROLE regress_analyst;
SELECT count(*) AS of_five FROM ls_stay_dp;
SET dp_rdr.max_rows = 4;
SELECT count(*) AS of_four FROM ls_stay_dp;
SET dp_rdr.max_rows = 5;
SELECT count(*) AS of_five FROM ls_stay_dp;
SET ROLE regress_controller;
SELECT parameters -> 'max_rows' AS max_rows, count(*) FROM dp_rdr.ledger WHERE relation = 'public.ls_stay' GROUP BY 1 ORDER BY 1;

-- A request is fixed when it is made.
SELECT dp_grant('ls_stay_dp', 'regress_analyst', replay => '0', on_request => true), dp_grant('ls_guest_dp', 'regress_analyst', on_request => true);
SET ROLE regress_analyst;
SET dp_rdr.max_rows = 3;
SELECT dp_request('SELECT count(*) FROM ls_stay_dp', 'planning') AS request \gset
SELECT dp_request('SELECT count(*) FROM ls_guest_dp', 'planning') AS other \gset
RESET dp_rdr.max_rows;
RESET ROLE;
SELECT view, parameters -> 'max_rows' AS max_rows FROM dp_rdr.request WHERE id IN (:request, :other) ORDER BY id;

-- A role's own.
RESET ROLE;
ALTER ROLE regress_analyst SET dp_rdr.max_rows = 7;
SELECT setting, context FROM pg_settings WHERE name IN ('dp_rdr.max_rows', 'dp_rdr.max_groups') ORDER BY name;
ALTER ROLE regress_analyst SET dp_rdr.max_rows = 9999999;
ALTER ROLE regress_analyst RESET dp_rdr.max_rows;
SET ROLE regress_controller;
SELECT dp_unprotect('ls_guest_dp'), dp_unprotect('ls_stay_dp');
DROP TABLE ls_guest, ls_stay;
