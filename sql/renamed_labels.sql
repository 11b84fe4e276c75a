-- Labels of an enum are renamed between two questions of one text: it means something else. No earlier answer is given for it again,
-- and none is refined by it.

LOAD 'dp_rdr';
SET client_min_messages = warning;
DROP ROLE IF EXISTS rl_owner, rl_asker;
RESET client_min_messages;
CREATE ROLE rl_owner;
CREATE ROLE rl_asker;
GRANT CREATE ON SCHEMA public TO rl_owner;
SET ROLE rl_owner;
CREATE TYPE rl_grade AS ENUM ('raw', 'ripe', 'rotten');
CREATE TABLE rl_pear AS SELECT id, (ARRAY['raw', 'ripe', 'ripe', 'rotten'])[1 + id % 4]::rl_grade AS grade FROM generate_series(1, 4000) id;
SELECT dp_protect('rl_pear', 'rl_pear_dp');
SELECT dp_set_odometer('rl_pear', 'zcdp', epsilon_total => 1000, delta_total => 0.00001);
SELECT dp_grant('rl_pear_dp', 'rl_asker', tau => 0, epsilon_max => 8, candidates => '{0.01,8}', epsilon_min => 0.01, delta => 0, replay => '1 day');
RESET ROLE;
CREATE FUNCTION rl_answers(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
    before bigint := (SELECT public_releases FROM dp_rdr.odometer WHERE relation_name = 'public.rl_pear');
BEGIN
    SET LOCAL ROLE rl_asker;
    EXECUTE statement INTO n;
    RESET ROLE;
    RETURN round(n, -3) || CASE (SELECT public_releases FROM dp_rdr.odometer WHERE relation_name = 'public.rl_pear') - before
                               WHEN 0 THEN ', given again' ELSE ', charged' END;
END $$;

-- Given again.
SELECT rl_answers($$SELECT count(*) FROM rl_pear_dp WHERE grade = 'raw'$$);
SELECT rl_answers($$SELECT count(*) FROM rl_pear_dp WHERE grade = 'raw'$$);
SET ROLE rl_owner;
ALTER TYPE rl_grade RENAME VALUE 'raw' TO 'green';
ALTER TYPE rl_grade RENAME VALUE 'ripe' TO 'raw';
RESET ROLE;
SELECT rl_answers($$SELECT count(*) FROM rl_pear_dp WHERE grade = 'raw'$$) AS means_others;

-- Refined.
SET ROLE rl_asker;
SELECT round(n, -3) AS n FROM dp_query($$SELECT count(*) FROM rl_pear_dp WHERE grade = 'rotten'$$, error95 => 100, replay => false) AS (n bigint);
SELECT round(n, -3) AS n FROM dp_refine(error95 => 20) AS (n bigint);
SELECT round(n, -3) AS n FROM dp_query($$SELECT count(*) FROM rl_pear_dp WHERE grade = 'rotten'$$, error95 => 100, replay => false) AS (n bigint);
SET ROLE rl_owner;
ALTER TYPE rl_grade RENAME VALUE 'rotten' TO 'brown';
ALTER TYPE rl_grade RENAME VALUE 'raw' TO 'rotten';
SET ROLE rl_asker;
SELECT n FROM dp_refine(error95 => 20) AS (n bigint);
RESET ROLE;
SELECT count(*) FILTER (WHERE public_releases > 0) AS charged FROM dp_rdr.odometer WHERE relation_name = 'public.rl_pear';

SET client_min_messages = error;
SELECT dp_unprotect('rl_pear_dp');
DROP FUNCTION rl_answers;
DROP TABLE rl_pear;
DROP TYPE rl_grade;
DROP OWNED BY rl_owner, rl_asker;
DROP ROLE rl_owner, rl_asker;
