-- Values that one operator takes for equal and another one, or a print, tells apart: which person a row is of, and what is a key, is a matter of the
-- columns' own equality, and no row's spelling stands for its person. The noise of a count of people is 0 but once in 10^40 draws at epsilon 100.
\set VERBOSITY default
LOAD 'dp_rdr';
SET ROLE regress_controller;
CREATE TABLE eqv_text (vid integer PRIMARY KEY, pid text NOT NULL, g text NOT NULL, n integer NOT NULL);
INSERT INTO eqv_text SELECT i, 'k' || i % 100 || repeat(' ', i / 100), 'g' || repeat(' ', i % 2), i % 2 - 1 FROM generate_series(0, 199) i; -- 200 people: 'k1' and 'k1 '
CREATE TABLE eqv_number (vid integer PRIMARY KEY, pid numeric NOT NULL);
INSERT INTO eqv_number SELECT i, (i % 100 || CASE WHEN i < 100 THEN '.0' ELSE '.00' END)::numeric FROM generate_series(0, 199) i; -- 100 people: 1.0 and 1.00
CREATE TABLE eqv_code (name text UNIQUE, val integer NOT NULL);
INSERT INTO eqv_code SELECT 'g' || repeat(' ', i), i FROM generate_series(0, 9) i;
CREATE TABLE eqv_number_code (name numeric UNIQUE, val integer NOT NULL);
INSERT INTO eqv_number_code SELECT i, i FROM generate_series(0, 9) i;
SELECT dp_protect('eqv_text', 'eqv_text_dp', unit => 'pid', max_rows => 1), dp_protect('eqv_number', 'eqv_number_dp', unit => 'pid', max_rows => 2);
SELECT dp_set_groups('eqv_text', 'g', '{g,"g "}'), dp_set_bounds('eqv_text', 'n', -1, 0);
SELECT dp_set_public('eqv_code', 'eqv_text'), dp_set_public('eqv_number_code', 'eqv_text');
SELECT dp_set_odometer('eqv_text', 'none'), dp_set_odometer('eqv_number', 'none');
SELECT dp_grant(v, 'regress_analyst', tau => 0, candidates => '{100}', epsilon_max => 100) FROM unnest('{eqv_text_dp,eqv_number_dp}'::regclass[]) v;
GRANT SELECT ON eqv_code, eqv_number_code TO regress_analyst;
SET ROLE regress_analyst;
SET dp_rdr.noise = silent;

-- ---------------------------------------------------------------------------------------------------------------------
-- A cast behind which two people are equal names nobody
-- ---------------------------------------------------------------------------------------------------------------------

\set VERBOSITY terse
SELECT sum(n) FROM (SELECT pid, n FROM (SELECT pid::bpchar AS pid, count(*) AS n FROM eqv_text_dp GROUP BY pid) s GROUP BY pid, n) t;
SELECT g, count(*) FROM (SELECT pid::bpchar AS pid, g, vid FROM eqv_text_dp GROUP BY pid, g, vid) s GROUP BY g;
SELECT count(*) FROM (SELECT pid::bpchar, count(*) FROM eqv_text_dp GROUP BY 1) s;
SELECT count(*) FROM (SELECT pid::bpchar AS pid, count(*) AS n FROM eqv_text_dp GROUP BY pid) s JOIN eqv_text_dp v ON s.pid = v.pid::bpchar;
SELECT count(*) FROM eqv_text_dp a JOIN eqv_text_dp b ON a.pid::bpchar = b.pid::bpchar;
SELECT count(*) FROM eqv_text_dp a WHERE EXISTS (SELECT FROM eqv_text_dp b WHERE a.pid::bpchar = b.pid::bpchar);
\set VERBOSITY default
-- Casts that keep equal values equal do: as varchar he is the same.
SELECT count(*) FROM (SELECT pid::varchar AS pid, count(*) AS n FROM eqv_text_dp GROUP BY pid) s WHERE n = 1;
SELECT sum(n) FROM (SELECT pid, n FROM (SELECT pid::varchar AS pid, count(*) AS n FROM eqv_text_dp GROUP BY pid) s GROUP BY pid, n) t;
SELECT count(*) FROM eqv_text_dp a JOIN eqv_text_dp b ON a.pid::varchar = b.pid::varchar;
-- The sub-SELECT shows the cast beside the column.
SELECT count(*) FROM (SELECT pid, pid::bpchar AS p, count(*) AS n FROM eqv_text_dp GROUP BY pid) s WHERE p = 'k1';
-- Counted are people, values, values as they are cast.
SELECT count(DISTINCT pid), count(DISTINCT g), count(DISTINCT g::bpchar), count(DISTINCT g::varchar) FROM eqv_text_dp;
SELECT count(DISTINCT pid::bpchar) FROM eqv_text_dp;
-- Declared groups are those of the column; what is not told apart by a cast is one of them, and conditions on it leave both.
SELECT g, count(*) FROM eqv_text_dp WHERE g::bpchar = 'g' GROUP BY g ORDER BY g;
-- -1 is a large oid.
SELECT count(*) FROM eqv_text_dp WHERE n::oid > 5;
SELECT sum(n) FROM eqv_text_dp WHERE n::oid > 5;
SELECT sum(n::oid::bigint) FROM eqv_text_dp; -- its bounds say nothing of these
-- So it is in the cells of a partition.
RESET ROLE;
SET ROLE regress_controller;
CREATE TABLE eqv_cell (n integer PRIMARY KEY);
INSERT INTO eqv_cell SELECT generate_series(-10, 9);
SELECT dp_protect('eqv_cell', 'eqv_cell_dp'), dp_set_odometer('eqv_cell', epsilon_total => 100000);
SELECT dp_set_partition('eqv_cell', 'n', by => '10', since => '-10', until => '9'), dp_set_bounds('eqv_cell', 'n', -10, 9);
SELECT dp_grant('eqv_cell_dp', 'regress_analyst', tau => 0, candidates => '{100}', epsilon_max => 100);
SET ROLE regress_analyst;
SELECT count(*) FROM eqv_cell_dp WHERE n::oid > 5;
SELECT count(*) FROM eqv_cell_dp WHERE n > 5;
RESET ROLE;
SET ROLE regress_controller;
SELECT cells, epsilon FROM dp_cells('eqv_cell');
SET ROLE regress_analyst;

-- ---------------------------------------------------------------------------------------------------------------------
-- No row's spelling of a person stands above a sub-SELECT
-- ---------------------------------------------------------------------------------------------------------------------

SELECT count(*) FROM (SELECT pid, count(*) AS n FROM eqv_number_dp GROUP BY pid) s WHERE pid::text LIKE '%.%';
SELECT count(*) FROM (SELECT pid, count(*) AS n FROM eqv_number_dp GROUP BY pid HAVING pid::text LIKE '%.%') s;
SELECT count(*) FROM (SELECT pid::text AS p, count(*) AS n FROM eqv_number_dp GROUP BY pid) s WHERE p LIKE '%.%';
SELECT count(*) FROM (SELECT a.pid, count(*) AS n FROM eqv_number_dp a JOIN eqv_number_dp b ON a.pid = b.pid GROUP BY a.pid) s WHERE pid::text LIKE '%.%';
SELECT count(*) FROM (SELECT pid, vid, count(*) AS n FROM eqv_number_dp GROUP BY pid, vid) s WHERE pid::text LIKE '%.%';
SELECT count(*) FROM (SELECT pid, max(n) FROM (SELECT pid, vid, count(*) AS n FROM eqv_number_dp GROUP BY pid, vid) s GROUP BY pid) t WHERE pid::text LIKE '%.%';
-- What stands below is each row's own.
SELECT count(*) FROM (SELECT pid, max(pid::text) AS p FROM eqv_number_dp GROUP BY pid) s WHERE p LIKE '%.00';
SELECT count(*) FROM eqv_number_dp WHERE pid::text LIKE '%.00';

-- ---------------------------------------------------------------------------------------------------------------------
-- A key of a public table's column is none of what it is cast to
-- ---------------------------------------------------------------------------------------------------------------------

SELECT max_rows FROM dp_explain('SELECT count(*) FROM eqv_text_dp p JOIN eqv_code c ON c.name = p.g');
SELECT max_rows FROM dp_explain('SELECT count(*) FROM eqv_text_dp p JOIN eqv_code c ON c.name::varchar = p.g || ''''');
SELECT max_rows FROM dp_explain('SELECT count(*) FROM eqv_text_dp p JOIN eqv_code c ON c.name::bpchar = (p.g || '''')::bpchar');
SELECT max_rows FROM dp_explain('SELECT count(*) FROM eqv_text_dp p JOIN eqv_code c ON c.name::bpchar = p.g::bpchar');
-- Ten rows of the public table beside each of the two hundred, not one of them.
SELECT abs(count(*) - 2000) < 20 FROM eqv_text_dp p JOIN eqv_code c ON c.name::bpchar = (p.g || '')::bpchar;
SELECT abs(sum(val) - 9000) < 200 FROM (SELECT p.pid, c.val FROM eqv_text_dp p JOIN eqv_code c ON c.name::bpchar = (p.g || '')::bpchar GROUP BY p.pid, c.val) s;

-- ---------------------------------------------------------------------------------------------------------------------
-- Keys beside the person that no row may refuse: too many for a row that is sorted, or of a type without one spelling
-- ---------------------------------------------------------------------------------------------------------------------

DO $$ BEGIN
    EXECUTE (SELECT format('SELECT count(*) FROM (SELECT pid FROM eqv_number_dp WHERE pid = 99999 GROUP BY pid, %s HAVING count(DISTINCT vid) > 0) s',
        string_agg('vid=' || i, ',')) FROM generate_series(0, 1662) i);
EXCEPTION WHEN program_limit_exceeded THEN
    RAISE NOTICE '%', SQLERRM;
END $$;
RESET ROLE;
SET ROLE regress_controller;
CREATE TABLE eqv_stay (pid integer NOT NULL, came timestamp NOT NULL, went timestamp NOT NULL);
SELECT dp_protect('eqv_stay', 'eqv_stay_dp', unit => 'pid', max_rows => 2), dp_set_odometer('eqv_stay', 'none');
SELECT dp_grant('eqv_stay_dp', 'regress_analyst', tau => 0, candidates => '{100}', epsilon_max => 100);
SET ROLE regress_analyst;
SELECT count(*) FROM (SELECT pid, went - came AS stay, count(*) AS n FROM eqv_stay_dp GROUP BY pid, went - came) s WHERE n > 1;
SELECT count(*) FROM (SELECT pid, came, count(*) AS n FROM eqv_stay_dp GROUP BY pid, came) s WHERE n > 1;
