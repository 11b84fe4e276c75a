-- GROUPING SETS, ROLLUP and CUBE: an answer for each set, those of plain SQL over the tables where noise is small (epsilon 100: beyond
-- 25 times its scale it is once in 10^10 draws).
\set VERBOSITY default
LOAD 'dp_rdr';
SET ROLE regress_controller;
CREATE TABLE gs_stay (id integer PRIMARY KEY, ward text NOT NULL, sex text, smoker boolean, days integer, code text);
INSERT INTO gs_stay
SELECT i, (ARRAY['icu', 'er', 'gyn'])[1 + i % 3], CASE WHEN i % 7 > 0 THEN (ARRAY['f', 'm'])[1 + i / 3 % 2] END, i % 5 = 0, i % 30, 'd' || i % 4
FROM generate_series(1, 9000) i;
CREATE TABLE gs_person (pid integer PRIMARY KEY, sex text NOT NULL);
INSERT INTO gs_person SELECT p, (ARRAY['f', 'm'])[1 + p % 2] FROM generate_series(1, 900) p;
CREATE TABLE gs_visit (vid integer PRIMARY KEY, pid integer NOT NULL, reason text, days integer);
INSERT INTO gs_visit SELECT v, 1 + v % 900, (ARRAY['heart', 'lung', 'bone'])[1 + v % 3], v % 12 FROM generate_series(1, 4500) v;
CREATE TABLE gs_reason (reason text PRIMARY KEY, organ text NOT NULL, part text NOT NULL);
INSERT INTO gs_reason VALUES ('heart', 'inner', 'chest'), ('lung', 'inner', 'chest'), ('bone', 'other', 'all');
SELECT dp_protect('gs_stay', 'gs_stay_dp'), dp_protect('gs_person', 'gs_person_dp', unit => 'pid'), dp_protect('gs_visit', 'gs_visit_dp', unit => 'pid -> gs_person(pid)', max_rows => 8);
SELECT dp_set_public('gs_reason', 'gs_person');
SELECT dp_set_groups('gs_stay', 'ward', '{icu,er,gyn}'), dp_set_groups('gs_stay', 'sex', '{f,m,NULL}'), dp_set_groups('gs_visit', 'reason', '{heart,lung,bone}'), dp_set_groups('gs_person', 'sex', '{f,m}'),
       dp_set_bounds('gs_stay', 'days', 0, 30), dp_set_bounds('gs_visit', 'days', 0, 12);
SELECT dp_set_odometer('gs_stay', 'none', delta_total => 0.9), dp_set_odometer('gs_person', 'none', delta_total => 0.9);
SELECT dp_grant(v, 'regress_analyst', tau => 0, candidates => '{100}', epsilon_max => 100, delta => 1e-6) FROM unnest('{gs_stay_dp,gs_person_dp,gs_visit_dp}'::regclass[]) v;
GRANT SELECT ON gs_reason TO regress_analyst;

-- ---------------------------------------------------------------------------------------------------------------------
-- What plain SQL says
-- ---------------------------------------------------------------------------------------------------------------------

-- query: columns g and x, over the tables where _dp is taken away. sets: how many are charged; room: how far noise may be off. What HAVING
-- shows no row of is not asked.
CREATE TABLE gs_query (name text PRIMARY KEY, query text, sets integer, room numeric);
INSERT INTO gs_query VALUES
('rollup', 'SELECT concat_ws(''|'', ward, coalesce(sex, ''-''), GROUPING(ward, sex)) AS g, count(*) AS x FROM gs_stay_dp GROUP BY ROLLUP (ward, sex)', 3, 1),
('cube', 'SELECT concat_ws(''|'', ward, coalesce(sex, ''-''), smoker, GROUPING(ward), GROUPING(sex, smoker, ward)) AS g, sum(days) AS x FROM gs_stay_dp GROUP BY CUBE (ward, sex, smoker)', 8, 30),
('sets', 'SELECT concat_ws(''|'', ward, coalesce(sex, ''-''), GROUPING(ward), GROUPING(sex)) AS g, count(*) AS x FROM gs_stay_dp WHERE days > 3 GROUP BY GROUPING SETS (ward, (sex), ())', 3, 1),
('one set', 'SELECT ward AS g, count(*) AS x FROM gs_stay_dp GROUP BY GROUPING SETS (ward)', 1, 1),
('no set', 'SELECT ward AS g, GROUPING(ward) + count(*) AS x FROM gs_stay_dp GROUP BY ward', 1, 1),
('all', 'SELECT NULL::text AS g, count(*) AS x FROM gs_stay_dp GROUP BY ()', 1, 1),
('product', 'SELECT concat_ws(''|'', ward, coalesce(sex, ''-''), smoker, GROUPING(ward, sex, smoker)) AS g, count(*) AS x FROM gs_stay_dp GROUP BY ward, ROLLUP (sex), GROUPING SETS (smoker, ())', 4, 1),
('composite', 'SELECT concat_ws(''|'', ward, coalesce(sex, ''-''), smoker, GROUPING(ward, sex, smoker)) AS g, count(*) AS x FROM gs_stay_dp GROUP BY ROLLUP ((ward, sex), smoker)', 3, 1),
('distinct', 'SELECT concat_ws(''|'', ward, coalesce(sex, ''-''), GROUPING(ward, sex)) AS g, count(*) AS x FROM gs_stay_dp GROUP BY DISTINCT ROLLUP (ward, sex), ROLLUP (ward)', 3, 1),
('named twice', 'SELECT concat_ws(''|'', ward, w, smoker, GROUPING(w, smoker)) AS g, count(*) AS x FROM (SELECT ward, ward AS w, smoker FROM gs_stay_dp) q GROUP BY ROLLUP ((ward, w), smoker)', 3, 1),
('expressions', 'SELECT concat_ws(''|'', ward || ''!'', ward, days > 10, GROUPING(ward || ''!'', ward, days > 10)) AS g, count(*) AS x FROM gs_stay_dp GROUP BY GROUPING SETS ((ward), (days > 10), (days > 10, ward || ''!''))', 3, 1),
('of keys', 'SELECT concat_ws(''|'', upper(ward), length(ward) + length(sex), (SELECT GROUPING(ward) + 10), CASE GROUPING(sex) WHEN 0 THEN sex ELSE ''all'' END) AS g, count(*) * 2 AS x FROM gs_stay_dp GROUP BY CUBE (ward, sex)', 4, 2),
('arguments', 'SELECT concat_ws(''|'', days > 10, GROUPING(days > 10)) AS g, sum(days) AS x FROM gs_stay_dp GROUP BY ROLLUP (days > 10)', 2, 30),
('having', 'SELECT concat_ws(''|'', ward, sex) AS g, count(*) AS x FROM gs_stay_dp GROUP BY CUBE (ward, sex) HAVING GROUPING(ward) = 0 AND count(*) > 2000 OR ward IS NULL AND sex IS NULL AND GROUPING(sex) = 1', 3, 1),
('filter', 'SELECT ward AS g, count(*) FILTER (WHERE smoker) - avg(days) AS x FROM gs_stay_dp GROUP BY ROLLUP (ward)', 2, 2),
('windows', 'SELECT concat_ws(''|'', ward, rank() OVER (PARTITION BY GROUPING(ward, smoker) ORDER BY ward)) AS g, sum(count(*)) OVER (PARTITION BY GROUPING(ward, smoker)) AS x FROM gs_stay_dp WHERE smoker GROUP BY GROUPING SETS (ward, smoker)', 2, 3),
('above', 'SELECT g, sum(n) AS x FROM (SELECT coalesce(ward, ''sum'') AS g, count(*) AS n FROM gs_stay_dp GROUP BY ROLLUP (ward)) q GROUP BY g', 2, 1),
('WITH', 'WITH q AS (SELECT ward, days FROM gs_stay_dp), r AS (SELECT ward, sum(days) AS x FROM q GROUP BY ROLLUP (ward)) SELECT a.ward AS g, a.x + b.x AS x FROM r a JOIN r b ON b.ward IS NULL', 2, 60),
('derived', 'SELECT concat_ws(''|'', CASE WHEN smoker THEN ''yes'' ELSE ''no'' END, width_bucket(days, 0, 30, 3), GROUPING(width_bucket(days, 0, 30, 3), CASE WHEN smoker THEN ''yes'' ELSE ''no'' END)) AS g, count(*) AS x FROM gs_stay_dp GROUP BY CUBE (CASE WHEN smoker THEN ''yes'' ELSE ''no'' END, width_bucket(days, 0, 30, 3))', 4, 1),
('constants', 'SELECT concat_ws(''|'', coalesce(ward, ''total''), label, GROUPING(label, ward)) AS g, count(*) AS x FROM (SELECT ''total''::text AS label, ward FROM gs_stay_dp) q GROUP BY ROLLUP (label, ward)', 3, 1),
('a constant', 'SELECT concat_ws(''|'', y, k, ward) AS g, count(*) AS x FROM (SELECT ''c''::text || ward AS y, ''c''::text AS k, ward FROM gs_stay_dp) q GROUP BY GROUPING SETS ((y, ward), (k, ward), ward)', 3, 1),
('another name', 'SELECT concat_ws(''|'', w, ward, ward || ''!'') AS g, count(*) AS x FROM (SELECT ward, ward || ''!'' AS w FROM gs_stay_dp) q GROUP BY GROUPING SETS ((w), (ward))', 2, 1),
('a cast below', 'SELECT concat_ws(''|'', k0, k1) AS g, count(*) AS x FROM (SELECT ward::varchar AS k0, ward::varchar::text AS k1 FROM gs_stay_dp) q GROUP BY GROUPING SETS (k0, k1) HAVING k0 > ''e''', 1, 1),
('in a sublink', 'SELECT concat_ws(''|'', w, (SELECT ward || ''?'' || coalesce(max(x), '''') FROM unnest(ARRAY[w, ''a'']) x)) AS g, count(*) AS x FROM (SELECT ward, upper(ward) AS w FROM gs_stay_dp) q GROUP BY GROUPING SETS ((w), (ward), (w, ward)) ORDER BY ward || ''!'', w', 3, 1),
('discovered', 'SELECT concat_ws(''|'', code, ward) AS g, count(*) AS x FROM gs_stay_dp GROUP BY ROLLUP (code, ward)', 3, 1),
('visits', 'SELECT concat_ws(''|'', reason, GROUPING(reason)) AS g, sum(days) AS x FROM gs_visit_dp GROUP BY ROLLUP (reason)', 2, 96),
('visits of people', 'SELECT concat_ws(''|'', sex, reason) AS g, count(DISTINCT pid) AS x FROM gs_visit_dp JOIN gs_person_dp USING (pid) GROUP BY CUBE (sex, reason)', 4, 8),
('public', 'SELECT concat_ws(''|'', part, organ) AS g, count(*) AS x FROM gs_visit_dp JOIN gs_reason USING (reason) GROUP BY ROLLUP (part, organ)', 3, 8),
('a row for each person', 'SELECT concat_ws(''|'', n, GROUPING(n)) AS g, count(*) AS x FROM (SELECT pid, count(*) AS n FROM gs_visit_dp GROUP BY pid) t GROUP BY ROLLUP (n)', 2, 1),
('the median', 'SELECT ward AS g, percentile_cont(0.55) WITHIN GROUP (ORDER BY days) AS x FROM gs_stay_dp GROUP BY ROLLUP (ward)', 2, 1);
CREATE TABLE gs_reference (name text, g text, x numeric);
DO $$
DECLARE
    q gs_query;
BEGIN
    FOR q IN SELECT * FROM gs_query LOOP
        EXECUTE format('INSERT INTO gs_reference SELECT %L, * FROM (%s) q', q.name, replace(q.query, '_dp', ''));
    END LOOP;
END $$;
CREATE TABLE gs_answer (name text, g text, x numeric);
GRANT SELECT ON gs_query TO regress_analyst;
GRANT INSERT ON gs_answer TO regress_analyst;
CREATE TABLE gs_charged (name text, releases bigint);
GRANT INSERT ON gs_charged TO regress_analyst;
CREATE FUNCTION gs_releases() RETURNS numeric LANGUAGE sql SECURITY DEFINER AS
    $$ SELECT sum(releases) FROM unnest('{gs_stay,gs_person}'::regclass[]) t, dp_odometer(t) WHERE account = 'public' $$;
SET ROLE regress_analyst;
DO $$
DECLARE
    q gs_query;
    before numeric;
BEGIN
    FOR q IN SELECT * FROM gs_query LOOP
        before := gs_releases();
        EXECUTE format('INSERT INTO gs_answer SELECT %L, * FROM (%s) q', q.name, q.query);
        INSERT INTO gs_charged VALUES (q.name, gs_releases() - before);
    END LOOP;
END $$;
SET ROLE regress_controller;
SELECT a.name, releases AS charged, releases = sets AS each, count(*) FILTER (WHERE r.x IS NOT NULL) AS groups, count(*) FILTER (WHERE r.x IS NULL) AS empty,
       bool_and(abs(a.x - coalesce(r.x, 0)) <= 25 * room / 100 + 1) AS agree
FROM gs_query NATURAL JOIN gs_charged NATURAL JOIN gs_answer a LEFT JOIN gs_reference r ON r.name = a.name AND r.g IS NOT DISTINCT FROM a.g GROUP BY 1, 2, 3 ORDER BY a.name COLLATE "C";
SELECT r.name, r.g FROM gs_reference r LEFT JOIN gs_answer a ON r.name = a.name AND r.g IS NOT DISTINCT FROM a.g WHERE a.name IS NULL;
-- No row is there twice.
SELECT name, g, count(*) FROM gs_answer GROUP BY 1, 2 HAVING count(*) > 1;

-- ---------------------------------------------------------------------------------------------------------------------
-- What is shown, and when
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_analyst;
-- One below the other, the finest first; each has a price, said before.
SELECT leaf, column_name, accepted, epsilon FROM dp_explain('SELECT ward, sex AS "is what", count(*) AS people, GROUPING(sex) FROM gs_stay_dp GROUP BY ROLLUP (ward, sex)');
EXPLAIN (COSTS OFF, VERBOSE) SELECT ward, count(*) FROM gs_stay_dp GROUP BY ROLLUP (ward) HAVING count(*) > 10;
-- Declared groups are free, and the row of all is no question.
SELECT ward, sex, GROUPING(ward, sex) FROM gs_stay_dp GROUP BY CUBE (ward, sex) ORDER BY 3, 1, 2;
SELECT 1 AS one FROM gs_stay_dp WHERE days > 5 GROUP BY ();
SELECT 1 AS one FROM gs_stay_dp GROUP BY () HAVING false;
-- Types of keys stay, also where there is no key.
SELECT pg_typeof(ward), pg_typeof(x), x IS NULL AS total FROM (SELECT ward::varchar(3) AS ward, 'a'::char(4) AS y, smoker AS x, count(*) FROM gs_stay_dp GROUP BY GROUPING SETS ((1, 2), (3))) q GROUP BY 1, 2, 3 ORDER BY 3;
-- Parameters are those of each.
PREPARE gs_prepared(integer, text) AS SELECT count(*) FILTER (WHERE abs(n - round(n, -2)) < 5) AS near, round(sum(n) FILTER (WHERE g = 1), -2) AS by_ward, round(sum(n) FILTER (WHERE g = 2), -2) AS by_smoker
FROM (SELECT ward, smoker, count(*) FILTER (WHERE days < $1) AS n, GROUPING(ward, smoker) AS g FROM gs_stay_dp WHERE ward <> $2 GROUP BY GROUPING SETS (ward, smoker)) q;
EXECUTE gs_prepared(10, 'er');
EXECUTE gs_prepared(20, 'icu');
DEALLOCATE gs_prepared;
-- Ends of intervals.
SELECT ward, low <= n AND n <= high AS inside FROM dp_query('SELECT ward, dp_low(count(*)), count(*), dp_high(count(*)) FROM gs_stay_dp GROUP BY ROLLUP (ward)') AS q (ward text, low bigint, n bigint, high bigint) ORDER BY 1;

-- ---------------------------------------------------------------------------------------------------------------------
-- What is refused, and costs nothing
-- ---------------------------------------------------------------------------------------------------------------------

SELECT gs_releases() AS before \gset
SELECT ward, count(*) FROM gs_stay_dp GROUP BY GROUPING SETS (ward, (ward));
SELECT ward, sex, count(*) FROM gs_stay_dp GROUP BY ROLLUP (ward), ROLLUP (sex, ward);
SELECT ward, count(*) FROM (SELECT ward, ward AS w FROM gs_stay_dp) q GROUP BY ROLLUP (ward, w);
SELECT ward, count(*) FROM (SELECT ward, ward AS w FROM gs_stay_dp) q GROUP BY DISTINCT ROLLUP (ward, w);
SELECT count(*) FROM gs_stay_dp GROUP BY CUBE (ward, sex, smoker, code, days > 1, days > 2, days > 3);
SELECT count(*) FROM gs_stay_dp GROUP BY CUBE (ward, sex, smoker, code), CUBE (days > 1, days > 2, days > 3);
SELECT count(*) FROM (SELECT pid, count(*) FROM gs_visit_dp GROUP BY ROLLUP (pid)) t;
SELECT ward, sum(days), string_agg(sex, ',') FROM gs_stay_dp GROUP BY ROLLUP (ward);
SELECT days, count(*) FROM gs_stay_dp GROUP BY ROLLUP (ward);
SELECT ward, count(*) FROM gs_stay_dp WHERE id = random() GROUP BY CUBE (ward);
SELECT ward, GROUPING(sex), count(*) FROM gs_stay_dp GROUP BY ROLLUP (ward);
SELECT dp_request('SELECT ward, count(*) FROM gs_stay_dp GROUP BY ROLLUP (ward)', 'for each ward');
-- A leaf has one set.
SELECT * FROM dp_rdr.release('SELECT ward AS ward, count(*) AS n FROM public.gs_stay_dp GROUP BY ROLLUP (ward)', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (ward text, n bigint);
SELECT gs_releases() - :before AS charged;
-- Of GROUPING SETS each set is a release, and all are shown.
CREATE TEMP TABLE gs_all AS SELECT ward, sex, count(*) FROM gs_stay_dp GROUP BY CUBE (ward, sex);
SELECT column_name, count(*), count(error95) AS of_noise FROM dp_last_release() GROUP BY 1;
SELECT count(*) AS ward FROM gs_stay_dp;
SELECT count(*) AS releases FROM dp_last_release();
-- More than one answer is nothing under the bound "dynamic".
SET ROLE regress_controller;
SELECT dp_set_odometer('gs_stay', 'dynamic');
SET ROLE regress_analyst;
SELECT ward, count(*) FROM gs_stay_dp GROUP BY ROLLUP (ward);
SET ROLE regress_controller;
SELECT dp_set_odometer('gs_stay', 'none', delta_total => 0.9);
-- What the controller's instruments are told is a query as it stands.
SELECT count(*) > 0 AS rerun FROM dp_risk('SELECT ward, count(*) FROM gs_stay_dp GROUP BY ROLLUP (ward)', sensitivity => 2);

DROP FUNCTION gs_releases();
SELECT dp_unprotect(v) FROM unnest('{gs_visit_dp,gs_person_dp,gs_stay_dp}'::regclass[]) v;
DROP TABLE gs_stay, gs_visit, gs_person, gs_reason, gs_query, gs_answer, gs_reference, gs_charged;
