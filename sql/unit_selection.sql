-- Epsilon selected by the sparse vector technique where a person may have several rows (formulas.md, 9.6): one term for each of all people,
-- whoever of them is in the answer.
--
-- The selection is random. Here epsilon_svt is 20 and there are so many people that each candidate is more than 30 scales of the noise on its
-- comparison away from its threshold, which the file checks: a wrong selection has a chance of e^-30 each.

LOAD 'dp_rdr';
\set VERBOSITY terse
SET ROLE regress_controller;
CREATE TABLE us_people (pid integer PRIMARY KEY, born integer);
CREATE TABLE us_visits (vid integer PRIMARY KEY, pid integer, ward text, kind integer, amount integer);
CREATE TABLE us_items (vid integer, price integer);
CREATE TABLE us_cards (pid integer UNIQUE, points integer);
-- 24,000 people without a visit, 8,000 with 1 to 5, of whom 2,000 are no rows of the table of people. Some visits are nobody's.
INSERT INTO us_people SELECT i, i % 50 FROM generate_series(1, 30000) i;
INSERT INTO us_visits
SELECT 10 * i + v, CASE WHEN i % 997 > 0 THEN i + 24000 END, substr('abcx', 1 + (i + v) % 4, 1), v % 3, (i * 7 + v * 3) % 30 - 5
FROM generate_series(1, 8000) i, generate_series(1, 5) v WHERE v <= 1 + i % 5;
INSERT INTO us_items SELECT vid, vid % 12 FROM us_visits, generate_series(1, 2) WHERE vid % 3 > 0;
INSERT INTO us_cards SELECT 24000 + i, i % 10 FROM generate_series(1, 3000) i;
SELECT dp_protect('us_people', 'us_people_dp', unit => 'pid'),
       dp_protect('us_visits', 'us_visits_dp', unit => 'pid -> us_people(pid)', max_rows => 3),
       dp_protect('us_items', 'us_items_dp', unit => 'vid -> us_visits(vid)', max_rows => 4),
       dp_protect('us_cards', 'us_cards_dp', unit => 'pid -> us_people(pid)');
SELECT dp_set_bounds('us_visits', 'amount', -5, 20), dp_set_bounds('us_items', 'price', 0, 10), dp_set_bounds('us_cards', 'points', 0, 9),
       dp_set_groups('us_visits', 'ward', '{a,b,c}'), dp_set_odometer('us_people', 'filter', 6000, 0.001);

-- Terms of everybody, as they are brought. people: 32,000, but for those whose visits are nobody's and who are no rows of us_people.
CREATE VIEW us_everybody AS SELECT pid FROM us_people UNION SELECT pid FROM us_visits WHERE pid IS NOT NULL;
CREATE TABLE us_question (name text, query text, m integer, k1 integer, pis float8[], tau_vars float8[] DEFAULT '{1e-4,1e-3,0.03}');
INSERT INTO us_question
SELECT q.name, q.query, q.m, q.k1, (SELECT array_agg(coalesce(p.pis, 0)) FROM us_everybody e LEFT JOIN LATERAL (SELECT q.pis -> e.pid::text AS pis) x ON true,
                                    LATERAL (SELECT x.pis::text::float8) p (pis))
FROM (
    SELECT 'count' AS name, 'SELECT count(*) FROM us_visits_dp' AS query, 1 AS m, 1 AS k1,
           (SELECT jsonb_object_agg(pid, p) FROM (SELECT pid, least(count(*), 3) / 3.0 FROM us_visits WHERE pid > 0 GROUP BY pid) t (pid, p)) AS pis
    UNION ALL
    SELECT 'sum', 'SELECT sum(amount) FROM us_visits_dp WHERE amount > 0', 1, 1,
           (SELECT jsonb_object_agg(pid, p) FROM (SELECT pid, least(sum(least(amount, 20)), 60) / 60.0 FROM us_visits WHERE pid > 0 AND amount > 0 GROUP BY pid) t (pid, p))
    UNION ALL
    SELECT 'two measures', 'SELECT count(DISTINCT pid), sum(amount) FILTER (WHERE kind = 1) FROM us_visits_dp', 2, 2,
           (SELECT jsonb_object_agg(pid, 1 + p) FROM (SELECT pid, coalesce(least(abs(sum(least(amount, 20)) FILTER (WHERE kind = 1)), 60), 0) / 60.0
                                                      FROM us_visits WHERE pid > 0 GROUP BY pid) t (pid, p))
    UNION ALL
    SELECT 'declared groups', 'SELECT ward, count(*) FROM us_visits_dp GROUP BY ward', 1, 1,
           (SELECT jsonb_object_agg(pid, p) FROM (SELECT pid, least(count(*), 3) / 3.0 FROM us_visits WHERE pid > 0 AND ward <> 'x' GROUP BY pid) t (pid, p))
    UNION ALL
    SELECT 'path', 'SELECT count(*) FROM us_items_dp WHERE price > 4', 1, 1,
           (SELECT jsonb_object_agg(pid, p) FROM (SELECT pid, least(count(*), 4) / 4.0 FROM us_items JOIN us_visits USING (vid) WHERE pid > 0 AND price > 4 GROUP BY pid) t (pid, p))
    UNION ALL
    SELECT 'join', 'SELECT sum(points) FROM us_visits_dp v JOIN us_cards_dp c USING (pid) WHERE kind = 2', 1, 1,
           (SELECT jsonb_object_agg(pid, p) FROM (SELECT pid, least(sum(points), 27) / 27.0 FROM us_visits JOIN us_cards USING (pid) WHERE kind = 2 GROUP BY pid) t (pid, p))
    UNION ALL
    SELECT 'one row each', 'SELECT count(*) FROM us_cards_dp WHERE points > 6', 1, 1,
           (SELECT jsonb_object_agg(pid, 1) FROM us_cards WHERE points > 6)) q;
-- Here a measure that is not clipped would let another epsilon through.
INSERT INTO us_question
SELECT 'clipped', 'SELECT count(*), count(*) FILTER (WHERE kind = 1) FROM us_visits_dp', 2, 2, array_agg(coalesce(p, 0)), '{0.0039}'
FROM us_everybody LEFT JOIN (SELECT pid, least(count(*), 3) / 3.0 + count(*) FILTER (WHERE kind = 1) / 3.0 AS p FROM us_visits GROUP BY pid) v USING (pid);
SELECT name, cardinality(pis) AS people, round((SELECT var_pop(p) FROM unnest(pis) p)::numeric, 4) AS variance FROM us_question ORDER BY name;

CREATE FUNCTION us_expected(tau_var float8, m integer, k1 integer, pis float8[], OUT epsilon numeric, OUT nearest float8) LANGUAGE sql AS $$
    WITH candidate AS (
        SELECT c AS epsilon, k1 / sinh(c / m) AS noise, m / (m + k1 / sinh(c / m)) AS width FROM unnest('{9,5,2,1,0.5,0.2,0.1,0.05,0.02,0.01}'::numeric[]) c),
    tested AS (
        SELECT c.epsilon, (v.n * (v.variance / (m + c.noise) ^ 2) - v.n * tau_var) / greatest(tau_var, c.width ^ 2 - tau_var) AS gap
        FROM candidate c, (SELECT count(*) AS n, var_pop(p) AS variance FROM unnest(pis) p) v WHERE c.width ^ 2 / 4 > tau_var),
    passing AS (SELECT max(t.epsilon) AS epsilon FROM tested t WHERE t.gap <= 0)
    SELECT coalesce(p.epsilon, (SELECT max(c.epsilon) FROM candidate c WHERE c.width ^ 2 / 4 <= tau_var)),
           (SELECT min(abs(t.gap)) FROM tested t WHERE t.epsilon >= coalesce(p.epsilon, 0)) * 12.27 / 2
    FROM passing p $$;
CREATE TABLE us_selected (name text, tau_var float8, epsilon numeric, expected numeric, nearest float8);
DO $$
DECLARE
    q us_question;
    t float8;
    found numeric;
    answer jsonb;
BEGIN
    FOR q IN SELECT * FROM us_question ORDER BY name LOOP
        FOREACH t IN ARRAY q.tau_vars LOOP
            CALL dp_find_and_release_epsilon(q.query, t, 20, found, answer, candidates => '{9,5,2,1,0.5,0.2,0.1,0.05,0.02,0.01}');
            INSERT INTO us_selected SELECT q.name, t, found, e.* FROM us_expected(t, q.m, q.k1, q.pis) e;
        END LOOP;
    END LOOP;
END $$;
SELECT name, tau_var, epsilon, epsilon = expected AS as_expected FROM us_selected ORDER BY name, tau_var;
SELECT min(nearest) > 30 AS certain FROM us_selected;

-- dp_risk and the selection see the same people and the same terms, with either noise and groups that nobody declared.
CREATE TABLE us_asked (query text, mechanism text, epsilon numeric, expected numeric, certain boolean);
DO $$
DECLARE
    q text;
    law text;
    found numeric;
    answer jsonb;
BEGIN
    FOR q IN SELECT query FROM us_question UNION ALL VALUES ('SELECT kind, count(*) FROM us_visits_dp GROUP BY kind'), ('SELECT kind, sum(amount) FROM us_visits_dp WHERE ward = ''a'' GROUP BY kind'),
        ('SELECT count(*) FROM us_visits_dp v WHERE EXISTS (SELECT FROM us_cards_dp c WHERE c.pid = v.pid AND points > 3)'),
        ('SELECT count(*), sum(n) FROM (SELECT pid, count(*) AS n FROM us_visits_dp GROUP BY pid) t WHERE n > 1'), ('SELECT count(*) FROM us_people_dp WHERE born < 5') LOOP
        FOREACH law IN ARRAY '{laplace,gaussian}'::text[] LOOP
            CALL dp_find_and_release_epsilon(q, 0.0005, 50, found, answer, law, 1e-6, '{9,5,2,1,0.5,0.2,0.1,0.05,0.01}');
            INSERT INTO us_asked SELECT q, law, found, max(r.epsilon) FILTER (WHERE r.svt_statistic <= 0 OR r.svt_accept = 1),
                                        min(abs(r.svt_statistic / r.svt_sensitivity)) FILTER (WHERE r.svt_accept < 1) > 2
            FROM dp_risk(q, '{9,5,2,1,0.5,0.2,0.1,0.05,0.01}', law, 1e-6, tau_var => 0.0005, epsilon_svt => 50) r;
        END LOOP;
    END LOOP;
END $$;
-- Twice the sensitivity is 61 scales of the noise.
SELECT mechanism, count(*), count(*) FILTER (WHERE certain) AS certain, count(*) FILTER (WHERE epsilon IS DISTINCT FROM expected) AS wrong,
       string_agg(epsilon::text, ' ' ORDER BY query COLLATE "C") AS epsilons
FROM us_asked GROUP BY mechanism ORDER BY mechanism DESC;

-- An analyst, by a keeper, which locks the table of people with the others: groups that are read once, and written when both charges are durable.
SELECT dp_grant('us_visits_dp', 'regress_analyst', tau_var => 0.001, epsilon_svt => 20, epsilon_max => 10, delta => 1e-6, candidates => '{9,2,0.5,0.1,0.05}');
SET ROLE regress_analyst;
SELECT count(*) BETWEEN 17000 AND 21000 AS close FROM us_visits_dp;
SELECT kind, count(*) BETWEEN 2000 AND 11000 AS close FROM us_visits_dp GROUP BY kind ORDER BY kind;
SELECT column_name, epsilon, epsilon_svt FROM dp_last_release();
SET ROLE regress_controller;
BEGIN;
LOCK us_people IN ACCESS EXCLUSIVE MODE;
SET LOCAL ROLE regress_analyst;
SELECT count(*) FROM us_visits_dp;
ROLLBACK;
SELECT kind, algorithm, epsilon FROM dp_rdr.ledger WHERE relation = 'public.us_visits' AND algorithm = 'released' ORDER BY id;

-- Refused: what moves with other people, and what other servers or cells add up.
CREATE FUNCTION us_refusal(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    detail text;
BEGIN
    EXECUTE statement;
    RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
    RETURN SQLSTATE || ' ' || SQLERRM || coalesce(' / ' || nullif(detail, ''), '');
END $$;
SELECT q, us_refusal(format('CALL dp_find_and_release_epsilon(%L, 0.01)', q)) FROM unnest(ARRAY['SELECT avg(amount) FROM us_visits_dp', 'SELECT max(amount) FROM us_visits_dp',
    'SELECT count(DISTINCT kind) FROM us_visits_dp', 'SELECT stddev(amount) FROM us_visits_dp']) q;
-- A statement that is one question, however it is written, is cut as dp_find_epsilon and a role with tau_var cut it. Every candidate passes.
SELECT q, us_refusal(format('CALL dp_find_and_release_epsilon(%L, 0.25, candidates => ''{1}'')', q)) FROM unnest(ARRAY[
    'SELECT count(*) FROM (SELECT pid FROM us_visits_dp EXCEPT SELECT pid FROM us_cards_dp) u',
    'SELECT count(*) FROM (SELECT pid FROM us_visits_dp INTERSECT SELECT pid FROM us_cards_dp) u',
    'SELECT count(*) FROM (SELECT pid FROM us_visits_dp UNION SELECT pid FROM us_cards_dp) u',
    'SELECT count(*) FROM us_cards_dp WHERE pid NOT IN (SELECT pid FROM us_visits_dp WHERE pid IS NOT NULL)',
    'SELECT count(*) FROM us_cards_dp WHERE pid IN (SELECT pid FROM us_visits_dp GROUP BY pid HAVING count(*) > 1)',
    'SELECT count(*) FROM us_visits_dp WHERE kind IN (VALUES (1), (2))',
    'SELECT ward, count(*) FROM us_visits_dp GROUP BY ward HAVING count(*) > 5',
    'SELECT (SELECT count(*) FROM us_visits_dp) - (SELECT count(*) FROM us_cards_dp)']) q;
DROP VIEW us_everybody;
DROP TABLE us_question, us_selected, us_asked;
DROP FUNCTION us_expected, us_refusal;
RESET ROLE;
