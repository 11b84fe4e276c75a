-- What a question about rows of people comes to when constants are folded: what nothing shows any more is not asked, and what has become equal is
-- one. COLLATE of what names a person names that person. Where assertions are compiled in, each text is read again, and is the same question.

LOAD 'dp_rdr';
SET ROLE regress_controller;
CREATE TABLE fp_visit AS SELECT 'p' || p AS pid, p::numeric AS number, (ARRAY['a', 'b', 'c'])[1 + v % 3] AS reason, v AS days FROM generate_series(1, 300) p, generate_series(1, 1 + p % 5) v;
ALTER TABLE fp_visit ALTER pid SET NOT NULL;
SELECT dp_protect('fp_visit', 'fp_visit_dp', unit => 'pid', max_rows => 5);
SELECT dp_set_bounds('fp_visit', 'days', 1, 5), dp_set_groups('fp_visit', 'reason', '{a,b,c}'), dp_set_odometer('fp_visit', 'none', delta_total => 0.9);
SELECT dp_grant('fp_visit_dp', 'regress_analyst', tau => 0, candidates => '{100}', epsilon_max => 100, delta => 1e-6);
RESET ROLE;
CREATE FUNCTION fp_asked(query text) RETURNS TABLE (answer integer, asked text) LANGUAGE plpgsql AS $$
BEGIN
    SET LOCAL ROLE regress_analyst;
    EXECUTE query INTO answer;
    RESET ROLE;
    SELECT l.query INTO asked FROM dp_rdr.ledger l WHERE l.relation = 'public.fp_visit' ORDER BY l.id DESC LIMIT 1;
    RETURN NEXT;
END $$;
\pset format unaligned
\pset tuples_only on
SELECT fp_asked('SELECT count(DISTINCT pid COLLATE "C") FROM fp_visit_dp');
SELECT fp_asked('SELECT count(DISTINCT pid COLLATE "POSIX"), count(DISTINCT pid) FROM fp_visit_dp');
SELECT fp_asked('SELECT count(DISTINCT pid COLLATE "C") FILTER (WHERE days > 2) FROM fp_visit_dp');
SELECT fp_asked('SELECT count(DISTINCT reason COLLATE "C") FROM fp_visit_dp');
SELECT fp_asked('SELECT count(*) FROM (SELECT pid COLLATE "C" AS p, count(*) AS n FROM fp_visit_dp GROUP BY pid) s WHERE p > ''p2'' AND n > 1');
SELECT fp_asked('SELECT count(*) FROM fp_visit_dp WHERE pid IN (SELECT pid FROM fp_visit_dp GROUP BY pid HAVING count(*) > NULL)');
SELECT fp_asked('SELECT count(*) FROM fp_visit_dp WHERE pid IN (SELECT pid FROM fp_visit_dp GROUP BY pid HAVING count(*) > 2 OR 1 < 2)');
SELECT fp_asked('SELECT count(*) FROM fp_visit_dp v JOIN (SELECT pid, max(days) AS most FROM fp_visit_dp GROUP BY pid HAVING count(*) > 2 AND NULL) s USING (pid)');
SELECT fp_asked('SELECT sum(n) FROM (SELECT pid, count(days + (1 + 1)) AS n, count(days + 2) AS m FROM fp_visit_dp GROUP BY pid) s WHERE n BETWEEN 0 AND 5 AND m > 1');
SELECT fp_asked('SELECT sum(n) FROM (SELECT pid, CASE WHEN 1 < 2 THEN count(*) ELSE max(days) END AS n FROM fp_visit_dp GROUP BY pid) s WHERE n BETWEEN 0 AND 5');
SELECT fp_asked('SELECT count(*) FROM (SELECT pid, number::text AS t, count(*) FROM fp_visit_dp GROUP BY pid, number, number::text) s WHERE t LIKE ''1%''');
\pset tuples_only off
\pset format aligned
DROP FUNCTION fp_asked;
SET ROLE regress_controller;
SELECT dp_unprotect('fp_visit_dp');
DROP TABLE fp_visit;
RESET ROLE;
