-- The exact indicator and that of one answer, of every kind of number, of rows and of people with several rows (formulas.md 1.2, 1.3).
-- No noisy number is printed.
CREATE TABLE rx_rows AS SELECT i AS id, substr('abc', 1 + i % 3, 1) AS g, CASE WHEN i % 11 = 4 THEN NULL ELSE i * i % 43 - 5 END AS y,
    (CASE WHEN i % 13 = 6 THEN NULL ELSE (i * 37 % 101) / 4.0 END)::numeric(6,2) AS x, i * 7 % 19 AS n FROM generate_series(1, 45) i;
CREATE TABLE rx_visits AS SELECT *, 1 + id * 5 % 23 AS pid FROM rx_rows;
CREATE TABLE rx_once AS SELECT *, id AS pid FROM rx_rows;
SELECT dp_protect('rx_rows', 'rx_rows_dp'), dp_protect('rx_visits', 'rx_visits_dp', unit => 'pid', max_rows => 3),
       dp_protect('rx_once', 'rx_once_dp', unit => 'pid', max_rows => 2);
SELECT dp_set_bounds(t, 'y', -5, 37), dp_set_bounds(t, 'x', 0, 26), dp_set_bounds(t, 'n', 0, 18), dp_set_groups(t, 'g', '{a,b,c}'),
       dp_set_odometer(t, 'none') FROM unnest('{rx_rows,rx_visits,rx_once}'::regclass[]) t;
CREATE TABLE rx_asked AS
SELECT view, asked, format(CASE WHEN by_group THEN 'SELECT g, %s FROM %s GROUP BY g' ELSE 'SELECT %s FROM %s' END, asked, view) AS query, by_group
FROM unnest(ARRAY['count(*)', 'sum(y)', 'avg(y)', 'avg(y), sum(y), count(y)', 'count(*), avg(x), variance(y)', 'stddev_pop(y)', 'covar_pop(y, x)', 'corr(y, x)',
                  'regr_slope(y, x)', 'count(DISTINCT n)', 'max(n)', 'percentile_disc(0.5) WITHIN GROUP (ORDER BY y)']) asked,
     unnest('{rx_rows_dp,rx_visits_dp,rx_once_dp}'::text[]) view, unnest('{f,t}'::boolean[]) by_group;
CREATE TABLE rx_noise (mechanism text, delta numeric);
INSERT INTO rx_noise VALUES ('laplace', NULL), ('gaussian', 1e-6);

-- A distance is a metric: whoever's indicator it is, it goes from the sensitivity by what the noise is wide at most, and is that of nobody
-- where nobody moves the answer. The points may be off by 5 %.
CREATE TABLE rx_risks AS
SELECT a.*, m.mechanism, e.epsilon, r.rdr_min, r.rdr_max, r.ratio, r.noise, b.ratio AS bound, p.*
FROM rx_asked a JOIN rx_noise m ON m.mechanism = 'laplace' OR asked !~ 'max|percentile', unnest('{100,3,0.3}'::numeric[]) e (epsilon),
     LATERAL dp_risk(a.query, ARRAY[e.epsilon], m.mechanism, m.delta, exact => true) r, LATERAL dp_risk(a.query, ARRAY[e.epsilon], m.mechanism, m.delta) b,
     LATERAL (SELECT min(rdr) AS least, max(rdr) AS most, max(abs(rdr - pis)) AS apart, max(rdr) FILTER (WHERE pis = 0) AS nobody
              FROM dp_risk_records(a.query, e.epsilon, m.mechanism, m.delta, exact => true)) p;
SELECT count(*), count(*) FILTER (WHERE (least, most) IS DISTINCT FROM (rdr_min, rdr_max)) AS other_records,
       count(*) FILTER (WHERE apart > 1e-12 + 1.05 * CASE mechanism WHEN 'laplace' THEN noise ELSE sqrt(noise) END) AS too_far,
       count(*) FILTER (WHERE nobody > 1.0001 * CASE mechanism WHEN 'laplace' THEN noise ELSE sqrt(noise) END) AS nobody_moves
FROM rx_risks;
-- Without noise it is the sensitivity.
SELECT count(*), count(*) FILTER (WHERE far) AS far
FROM rx_asked a, LATERAL (SELECT max(abs(rdr - pis)) > 0.02 AS far FROM dp_risk_records(a.query, 100, exact => true)) r WHERE asked IN ('count(*)', 'sum(y)', 'count(DISTINCT n)') AND NOT by_group;
-- Who has one row of the two that count is half as visible in counts and sums as who is a row, with the same noise; in an average three quarters.
SELECT count(*), count(*) FILTER (WHERE abs(w.rdr_max / o.rdr_max / CASE WHEN r.asked = 'avg(y)' THEN 0.75 ELSE 0.5 END - 1) > 1e-6) AS different
FROM rx_asked r JOIN rx_asked u USING (asked, by_group), LATERAL dp_risk(r.query, '{1,0.1}', exact => true) o,
     LATERAL dp_risk(u.query, ARRAY[2 * o.epsilon], exact => true) w
WHERE r.view = 'rx_rows_dp' AND u.view = 'rx_once_dp' AND r.asked IN ('count(*)', 'sum(y)', 'avg(y)') AND NOT r.by_group;

-- The search takes the largest candidate that the table shows.
CREATE FUNCTION rx_find(query text, tau float8, noise text, d numeric, kind text DEFAULT 'expected', OUT epsilon numeric, OUT answer jsonb) LANGUAGE plpgsql AS $$
BEGIN
    CALL dp_find_epsilon(query, tau, epsilon, answer, noise, d, candidates => '{10,1,0.1,0.01}', indicator => kind, exact => kind = 'expected');
EXCEPTION WHEN OTHERS THEN
    epsilon := NULL; -- none
END $$;
SET client_min_messages = error;
SELECT count(*), count(f.epsilon) > 20 AS found, count(*) FILTER (WHERE f.epsilon IS DISTINCT FROM e.epsilon) AS different
FROM rx_asked a JOIN rx_noise m ON m.mechanism = 'laplace' OR asked !~ 'max|percentile', LATERAL rx_find(a.query, 0.7, m.mechanism, m.delta) f,
     LATERAL (SELECT max(epsilon) AS epsilon FROM dp_risk(a.query, '{10,1,0.1,0.01}', m.mechanism, m.delta, exact => true) WHERE ratio >= 0.7) e
WHERE view <> 'rx_once_dp';

-- One answer: the distance of its numbers from those without each person.
SELECT count(*), count(*) FILTER (WHERE abs(o.rdr - e.rdr) > 1e-6) AS different
FROM dp_risk_output('SELECT g, count(*), max(n), avg(y) FROM rx_visits_dp GROUP BY g', '{12,17,9.5,20,18,8,15,16,17}') o
JOIN LATERAL (SELECT sum(abs(a.c - w.c) + abs(a.m - w.m) + abs(a.v - w.v)) AS rdr
              FROM (VALUES ('a', 12, 17, 9.5), ('b', 20, 18, 8), ('c', 15, 16, 17)) a (g, c, m, v)
              JOIN (SELECT g, count(*) AS c, max(n) AS m, avg(y) AS v FROM rx_visits
                    WHERE pid IS DISTINCT FROM (o.record ->> 'pid')::int GROUP BY g) w USING (g)) e ON true;
SELECT count(*), count(*) FILTER (WHERE o.rdr <> e.rdr) AS different
FROM dp_risk_output('SELECT count(DISTINCT n) FROM rx_visits_dp WHERE n > 3', '{11}') o
JOIN LATERAL (SELECT abs(11 - count(DISTINCT n)) AS rdr FROM rx_visits WHERE n > 3 AND pid IS DISTINCT FROM (o.record ->> 'pid')::int) e ON true;
-- Groups that nobody declared, and people in several.
SELECT dp_unset_groups('rx_visits', 'g');
SELECT count(*), count(*) FILTER (WHERE abs(o.rdr - e.rdr) > 1e-6) AS different
FROM dp_risk_output('SELECT g, count(*) FROM rx_visits_dp GROUP BY g', '{12,20,NULL}', delta => 1e-6) o
JOIN LATERAL (SELECT sum(abs(a.c - coalesce(w.c, 0))) AS rdr FROM (VALUES ('a', 12), ('b', 20), ('c', 0)) a (g, c)
              LEFT JOIN (SELECT g, count(*) AS c FROM rx_visits WHERE pid IS DISTINCT FROM (o.record ->> 'pid')::int GROUP BY g) w USING (g)) e ON true;
SELECT count(*) AS answered FROM dp_risk('SELECT g, avg(y), count(*) FROM rx_visits_dp GROUP BY g', '{1}', delta => 1e-6, exact => true);
SELECT dp_set_groups('rx_visits', 'g', '{a,b,c}');
-- Any draw meets no preference, so the first candidate is taken; a draw of each kind is looked at, and what was drawn is what is answered.
SELECT count(*), count(*) FILTER (WHERE f.epsilon = 10) AS largest, count(*) FILTER (WHERE jsonb_array_length(f.answer) <> CASE WHEN by_group THEN 3 ELSE 1 END) AS rows
FROM rx_asked a JOIN rx_noise m ON m.mechanism = 'laplace' OR asked !~ 'max|percentile', LATERAL rx_find(a.query, 0, m.mechanism, m.delta, 'output') f;
SELECT bool_and((f.answer -> 0 ->> 'max')::int BETWEEN 0 AND 18) AS between_bounds FROM rx_asked a, LATERAL rx_find(a.query, 0.2, 'laplace', NULL, 'output') f
WHERE asked = 'max(n)' AND NOT by_group;
DROP FUNCTION rx_find;

-- The report has each group: its exact numbers, and where the answers will be.
CREATE FUNCTION rx_groups(t regclass, query text) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT regexp_replace(regexp_replace(replace(m[1], '</td>', ' | '), '<[^>]*>', '', 'g'), ' [|] $', '')
    FROM regexp_matches(dp_report(t, query, delta => 1e-6, epsilons => '{1}'), '<section id="groups">(.*?)</section>') s (s),
         LATERAL regexp_matches(s[1], '<tr>(<td.*?)</tr>', 'g') m $$;
SELECT rx_groups('rx_rows', 'SELECT g, count(*), avg(y) FROM rx_rows_dp GROUP BY g');
SELECT g, count(*), avg(y) FROM rx_rows GROUP BY g ORDER BY g;
SELECT rx_groups('rx_visits', 'SELECT count(*), max(n) FROM rx_visits_dp');
SELECT rx_groups('rx_visits', 'SELECT count(*) FROM rx_visits_dp') AS one_number;
SELECT dp_unset_groups(t, 'g') FROM unnest('{rx_rows,rx_visits}'::regclass[]) t;
UPDATE rx_rows SET g = NULL WHERE g = 'b';
SELECT split_part(r, ':', 1) AS discovered FROM rx_groups('rx_rows', 'SELECT g, count(*) FROM rx_rows_dp GROUP BY g') r;
SELECT split_part(r, ':', 1) AS of_units FROM rx_groups('rx_visits', 'SELECT n, g, count(*) FROM rx_visits_dp WHERE n < 3 GROUP BY g, n') r;
SELECT g, n, count(*) FROM rx_visits WHERE n < 3 GROUP BY g, n ORDER BY g, n;
DROP FUNCTION rx_groups;
SELECT dp_unprotect(v::regclass) FROM unnest('{rx_rows_dp,rx_visits_dp,rx_once_dp}'::text[]) v;
DROP TABLE rx_rows, rx_visits, rx_once, rx_asked, rx_noise, rx_risks;
