-- The risk of people with several rows (formulas.md, 9.6), against a reference in SQL that leaves out one person after the other.

LOAD 'dp_rdr';
CREATE TABLE ur_people (pid integer PRIMARY KEY, age integer);
CREATE TABLE ur_visits (vid integer PRIMARY KEY, pid integer, ward text, kind text, amount integer);
CREATE TABLE ur_items (vid integer, price integer);
CREATE TABLE ur_notes (pid integer, amount integer);
CREATE TABLE ur_more_notes () INHERITS (ur_notes);
CREATE TABLE ur_cards (pid integer UNIQUE, points integer);
-- Some people have no visit, one (90) is no row of the table of people, some visits are nobody's, some items of no visit.
INSERT INTO ur_people SELECT i, 20 + i FROM generate_series(1, 12) i;
INSERT INTO ur_visits
SELECT i, CASE WHEN i % 11 = 5 THEN NULL WHEN i % 13 = 7 THEN 90 ELSE 1 + (i * i + i / 5) % 9 END, substr('abcx', 1 + i % 4, 1),
       substr('pqr', 1 + i * 7 % 3, 1), CASE WHEN i % 7 = 3 THEN NULL ELSE i * 37 % 50 - 15 END
FROM generate_series(1, 40) i;
INSERT INTO ur_items SELECT CASE WHEN i % 9 = 4 THEN NULL ELSE i * 5 % 47 END, i % 12 FROM generate_series(1, 60) i;
INSERT INTO ur_notes SELECT 1 + i % 5, i FROM generate_series(1, 8) i;
INSERT INTO ur_cards VALUES (1, 5), (2, 3), (3, 8), (4, 4), (90, 6), (NULL, 9), (NULL, 2);
INSERT INTO ur_more_notes SELECT 4 + i % 4, i FROM generate_series(1, 8) i;
SELECT dp_protect('ur_people', 'ur_people_dp', unit => 'pid'),
       dp_protect('ur_visits', 'ur_visits_dp', unit => 'pid -> ur_people(pid)', max_rows => 3),
       dp_protect('ur_items', 'ur_items_dp', unit => 'vid -> ur_visits(vid)', max_rows => 4),
       dp_protect('ur_cards', 'ur_cards_dp', unit => 'pid -> ur_people(pid)'),
       dp_protect('ur_notes', 'ur_notes_dp', unit => 'pid -> ur_people(pid)', max_rows => 2);
SELECT dp_set_bounds('ur_visits', 'amount', -10, 22), dp_set_bounds('ur_items', 'price', 0, 10), dp_set_bounds('ur_notes', 'amount', 0, 8),
       dp_set_bounds('ur_people', 'age', 0, 100), dp_set_bounds('ur_cards', 'points', 0, 10);
SELECT dp_set_groups('ur_visits', 'ward', '{a,b,c}');
SELECT dp_set_odometer('ur_people', 'none');

-- What a query adds up, row by row: unit, group, measure, coordinate, lattice point. sensitivities: D by measure.
CREATE TABLE ur_query (name text PRIMARY KEY, query text, delta numeric, sensitivities numeric[], coordinates numeric[], points text);
INSERT INTO ur_query VALUES
('count', 'SELECT count(*) FROM ur_visits_dp', NULL, '{3}', '{1}',
 'SELECT pid AS unit, 0 AS g, 1 AS m, 1 AS c, 1 AS z FROM ur_visits'),
('sum', 'SELECT sum(amount) FROM ur_visits_dp WHERE amount > 0', NULL, '{66}', '{1}',
 'SELECT pid, 0, 1, 1, least(amount, 22) FROM ur_visits WHERE amount > 0'),
('filter', 'SELECT count(*) FILTER (WHERE amount > 5), count(*), count(DISTINCT pid) FROM ur_visits_dp', NULL, '{3,3,1}', '{1,1,1}',
 'SELECT pid, 0, 1, 1, 1 FROM ur_visits WHERE amount > 5 UNION ALL SELECT pid, 0, 2, 1, 1 FROM ur_visits
  UNION ALL SELECT DISTINCT pid, 0, 3, 1, 1 FROM ur_visits'),
('avg', 'SELECT avg(amount) FROM ur_visits_dp', NULL, '{3221225472}', '{2}',
 'SELECT pid, 0, 1, c, CASE c WHEN 1 THEN (v + 10) * 33554432::bigint ELSE 1073741824 - (v + 10) * 33554432::bigint END
  FROM (SELECT pid, greatest(least(amount, 22), -10) AS v FROM ur_visits WHERE amount IS NOT NULL) s, generate_series(1, 2) c'),
('groups', 'SELECT ward, count(*), sum(amount) FROM ur_visits_dp GROUP BY ward', NULL, '{3145728,2214592512}', '{3,3}',
 'SELECT pid, ascii(ward), 1, 1, 1048576 FROM ur_visits WHERE ward <> ''x'' UNION ALL
  SELECT pid, ascii(ward), 2, 1, greatest(least(amount, 22), -10) * 33554432::bigint FROM ur_visits WHERE ward <> ''x'' AND amount IS NOT NULL'),
('discovered', 'SELECT kind, count(*) FROM ur_visits_dp GROUP BY kind', 1e-6, '{3,3145728}', '{1,1}',
 'SELECT DISTINCT pid, ascii(kind), 1, 1, 1 FROM ur_visits UNION ALL SELECT pid, ascii(kind), 2, 1, 1048576 FROM ur_visits'),
('expression', 'SELECT sum(2 * amount - 1) FROM ur_visits_dp', NULL, '{129}', '{1}',
 'SELECT pid, 0, 1, 1, greatest(least(2 * amount - 1, 43), -21) FROM ur_visits WHERE amount IS NOT NULL'),
('path', 'SELECT count(*), sum(price) FROM ur_items_dp', NULL, '{4,40}', '{1,1}',
 'SELECT v.pid, 0, m, 1, CASE m WHEN 1 THEN 1 ELSE least(price, 10) END FROM ur_items i JOIN ur_visits v USING (vid), generate_series(1, 2) m'),
('children', 'SELECT sum(amount) FROM ur_notes_dp', NULL, '{16}', '{1}', 'SELECT pid, 0, 1, 1, amount FROM ur_notes'),
('card', 'SELECT count(*), sum(points) FROM ur_cards_dp WHERE points > 3', NULL, '{1,10}', '{1,1}',
 'SELECT pid, 0, m, 1, CASE m WHEN 1 THEN 1 ELSE points END FROM ur_cards, generate_series(1, 2) m WHERE points > 3'),
('key', 'SELECT count(*), sum(age) FROM ur_people_dp WHERE age > 25', NULL, '{1,100}', '{1,1}',
 'SELECT pid, 0, m, 1, CASE m WHEN 1 THEN 1 ELSE age END FROM ur_people, generate_series(1, 2) m WHERE age > 25');

-- Of an average what is printed counts (1.2a): the position between the bounds, divided by the most that three rows can move it by.
ALTER TABLE ur_query ADD printed boolean NOT NULL DEFAULT false;
UPDATE ur_query SET printed = true WHERE name = 'avg';
-- Of Gaussian noise other D, where a person is in several groups (9.14): the root of what people are in, and the same of rows.
ALTER TABLE ur_query ADD spread numeric[];
UPDATE ur_query SET spread = sensitivities WHERE name = 'groups';
UPDATE ur_query SET spread = '{2,3145728}' WHERE name = 'discovered';
-- Sums of what people bring, each clipped to D in every measure: by the l1 norm (9.2), or by the root of the squares of groups.
CREATE FUNCTION ur_sums(q ur_query, gaussian boolean) RETURNS TABLE (g int, m int, c int, f numeric) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format('WITH brought (unit, g, m, c, v) AS (SELECT unit, g, m, c, sum(z)::numeric FROM (%s) p (unit, g, m, c, z)
            WHERE unit IS NOT NULL AND z IS NOT NULL GROUP BY unit, g, m, c),
        of_groups AS (SELECT unit, m, g, sum(abs(v)) AS n FROM brought GROUP BY unit, m, g),
        of_units AS (SELECT unit, m, CASE WHEN $2 THEN ceil(sqrt(sum(n * n))) ELSE sum(n) END AS n FROM of_groups GROUP BY unit, m),
        norms AS (SELECT b.*, u.n, $1[m] AS d FROM brought b JOIN of_units u USING (unit, m))
        SELECT g::int, m::int, c::int, sum(CASE WHEN n <= d THEN v ELSE sign(v) * floor(abs(v) * d / n) END) FROM norms GROUP BY g, m, c', q.points)
    USING CASE WHEN gaussian AND q.spread IS NOT NULL THEN q.spread ELSE q.sensitivities END, gaussian AND q.spread IS NOT NULL;
END $$;
-- All rows of one person in all tables are gone, and what the sums move by is his.
CREATE TABLE ur_left_out (name text, unit int, pis float8, pis2 float8);
CREATE PROCEDURE ur_leave_out(q ur_query, person int) LANGUAGE plpgsql AS $$
DECLARE
    l float8;
    r float8;
    s numeric[] := coalesce(q.spread, q.sensitivities);
BEGIN
    CREATE TEMP TABLE ur_with AS SELECT false AS gaussian, * FROM ur_sums(q, false) UNION ALL SELECT true, * FROM ur_sums(q, true);
    BEGIN
        DELETE FROM ur_items WHERE vid IN (SELECT vid FROM ur_visits WHERE pid = person);
        DELETE FROM ur_visits WHERE pid = person;
        DELETE FROM ur_notes WHERE pid = person;
        DELETE FROM ur_cards WHERE pid = person;
        DELETE FROM ur_people WHERE pid = person;
        IF q.printed THEN
            SELECT abs(max(p) - min(p)) / (2 * 3.0 / 4) INTO l
            FROM (SELECT coalesce(sum(f) FILTER (WHERE c = 1) - sum(f) FILTER (WHERE c = 2), 0) / greatest(sum(f), 1073741824) AS p FROM ur_with WHERE NOT gaussian
                  UNION ALL SELECT coalesce(sum(f) FILTER (WHERE c = 1) - sum(f) FILTER (WHERE c = 2), 0) / greatest(sum(f), 1073741824) FROM ur_sums(q, false)) a;
            r := l;
            RAISE EXCEPTION 'undo';
        END IF;
        SELECT sum(n1) FILTER (WHERE NOT gaussian), sqrt(sum(n2 * n2) FILTER (WHERE gaussian)) INTO l, r
        FROM (SELECT gaussian, m, sum(abs(coalesce(w.f, 0) - coalesce(t.f, 0))) / max(q.sensitivities[m]) AS n1,
                     sqrt(sum((coalesce(w.f, 0) - coalesce(t.f, 0)) ^ 2)) / max(s[m]) AS n2
              FROM ur_with w FULL JOIN (SELECT false AS gaussian, * FROM ur_sums(q, false) UNION ALL SELECT true, * FROM ur_sums(q, true)) t USING (gaussian, g, m, c)
              GROUP BY gaussian, m) moved;
        RAISE EXCEPTION 'undo';
    EXCEPTION WHEN raise_exception THEN
    END;
    DROP TABLE ur_with;
    INSERT INTO ur_left_out VALUES (q.name, person, coalesce(l, 0), coalesce(r, 0));
END $$;
DO $$
DECLARE
    q ur_query;
    person int;
BEGIN
    FOR q IN SELECT * FROM ur_query LOOP
        FOR person IN SELECT pid FROM ur_people UNION SELECT 90 LOOP
            CALL ur_leave_out(q, person);
        END LOOP;
    END LOOP;
END $$;
-- A table whose key is the person knows no others: 90 is nobody there, and in ur_notes.
DELETE FROM ur_left_out WHERE name IN ('key', 'children') AND unit = 90;
SELECT name, count(*) AS people, count(*) FILTER (WHERE pis > 0) AS with_risk, round(max(pis)::numeric, 6) AS largest
FROM ur_left_out GROUP BY name ORDER BY name;

-- Records: one for each person with rows in the answer, the others in one line.
CREATE TABLE ur_records AS
SELECT q.name, m.mechanism, r.* FROM ur_query q, (VALUES ('laplace'), ('gaussian')) m (mechanism),
       dp_risk_records(q.query, 1, m.mechanism, CASE m.mechanism WHEN 'gaussian' THEN 1e-6 ELSE q.delta END) r;
SELECT name, mechanism, sum(individuals) AS people,
       sum(individuals) = (SELECT count(*) FROM ur_left_out l WHERE l.name = r.name) AS all_people,
       (SELECT count(*) FROM ur_left_out l FULL JOIN (SELECT * FROM ur_records WHERE name = r.name AND mechanism = r.mechanism AND record IS NOT NULL) t
            ON l.unit = (t.record ->> 'pid')::int
        WHERE (l.name = r.name OR l.name IS NULL) AND abs(coalesce(t.pis, 0) - CASE r.mechanism WHEN 'laplace' THEN l.pis ELSE l.pis2 END) <= 1e-12 IS NOT TRUE) AS different
FROM ur_records r WHERE name NOT IN ('key', 'card') GROUP BY name, mechanism ORDER BY name, mechanism;
-- With one row for each: its columns, and the same number of people.
SELECT record, individuals, round(pis::numeric, 6) AS pis FROM ur_records WHERE name = 'card' AND mechanism = 'laplace' ORDER BY pis DESC;
SELECT name, sum(individuals) = (SELECT count(*) FROM ur_left_out l WHERE l.name = r.name) AS all_people FROM ur_records r
WHERE mechanism = 'laplace' AND name IN ('key', 'card') GROUP BY name ORDER BY name;
SELECT record, individuals, round(pis::numeric, 6) AS pis FROM ur_records WHERE name = 'filter' AND mechanism = 'laplace'
ORDER BY pis DESC, (record ->> 'pid')::int;
SELECT record FROM ur_records WHERE name IN ('path', 'groups', 'avg') AND mechanism = 'laplace' AND record ->> 'pid' = '1' ORDER BY name;

-- The table of risks follows from those of the people: rdr = pis + N(epsilon).
CREATE TABLE ur_risk AS SELECT q.name, r.* FROM ur_query q, dp_risk(q.query, '{10,1,0.1}', delta => q.delta) r;
SELECT r.name, count(*) AS epsilons,
       bool_and(q.printed AND abs(rdr_max - rdr_min - p.most + p.least) < 1e-9 AND abs(r.variance - p.variance / rdr_max ^ 2) < 1e-9 OR abs(rdr_min / (n + p.least) - 1) < 1e-9 AND abs(rdr_max / (n + p.most) - 1) < 1e-9 AND abs(ratio / ((n + p.least) / (n + p.most)) - 1) < 1e-9
                AND abs(r.variance - p.variance / (n + p.most) ^ 2) < 1e-9) AS as_expected
FROM ur_risk r JOIN ur_query q USING (name)
     JOIN (SELECT name, min(pis) AS least, max(pis) AS most, var_pop(pis) AS variance FROM ur_left_out GROUP BY name) p USING (name),
     LATERAL (SELECT sum(k / (d * sinh(r.epsilon::float8 / (array_length(q.sensitivities, 1) * d)))) AS n
              FROM unnest(q.sensitivities::float8[], q.coordinates::float8[]) AS s (d, k)) noise
GROUP BY r.name ORDER BY r.name;

-- Find-epsilon: the largest candidate at which tau is met.
CREATE PROCEDURE ur_find(q ur_query, tau float8, INOUT chosen numeric) LANGUAGE plpgsql AS $$
DECLARE
    answer jsonb;
BEGIN
    CALL dp_find_epsilon(q.query, tau, chosen, answer, delta => q.delta);
EXCEPTION WHEN OTHERS THEN -- denied
    chosen := NULL;
END $$;
CREATE TABLE ur_found (name text, tau float8, epsilon numeric);
DO $$
DECLARE
    q ur_query;
    tau float8;
    chosen numeric;
BEGIN
    FOR q IN SELECT * FROM ur_query LOOP
        FOREACH tau IN ARRAY '{0.3,0.8,0.95}'::float8[] LOOP
            CALL ur_find(q, tau, chosen);
            INSERT INTO ur_found VALUES (q.name, tau, chosen);
        END LOOP;
    END LOOP;
END $$;
SELECT f.name, count(*) AS found,
       count(*) FILTER (WHERE f.epsilon IS NOT DISTINCT FROM (SELECT max(r.epsilon) FROM dp_risk(q.query, delta => q.delta) r WHERE r.ratio >= tau * (1 - 1e-8))) AS as_expected
FROM ur_found f JOIN ur_query q USING (name) GROUP BY f.name ORDER BY f.name;

-- An analyst under within_data is charged what the same search finds.
SELECT dp_grant('ur_visits_dp', 'regress_second', tau => 0.95, selection => 'within_data', epsilon_max => 10, delta => 1e-6);
SET ROLE regress_second;
SELECT attempt('SELECT ward, count(*), sum(amount) FROM ur_visits_dp GROUP BY ward');
RESET ROLE;
SELECT l.epsilon = f.epsilon AS as_found FROM (SELECT * FROM dp_rdr.ledger ORDER BY id DESC LIMIT 1) l, ur_found f WHERE f.name = 'groups' AND f.tau = 0.95;

-- Other things that look at risks.
SELECT epsilon, error95, answer_range FROM dp_risk_summary('SELECT count(*) FROM ur_visits_dp') WHERE epsilon IN (1, 0.01) ORDER BY epsilon;
SELECT count(*) FROM dp_risk_summary('SELECT kind, avg(amount) FROM ur_visits_dp GROUP BY kind', delta => 1e-6);
SELECT page ~ 'people in the table' AS people, page ~ 'sum\(amount\)' AND page ~ '>kept<' AS of_people, page ~ '<th[^>]*>vid<' AS of_visits
FROM dp_report('ur_visits', 'SELECT ward, count(*), sum(amount) FROM ur_visits_dp GROUP BY ward') page;
SELECT attempt($$SELECT dp_risk('SELECT count(*) FROM ur_visits_dp', calibration => 'published')$$);
SELECT attempt($$CALL dp_find_epsilon('SELECT count(*) FROM ur_visits_dp', 0.9, group_a => 'pid < 3', group_b => 'pid > 5')$$);
SELECT attempt($$CALL dp_find_epsilon('SELECT count(*) FROM ur_people_dp WHERE age > 25', 0.9, group_a => 'age < 23', group_b => 'age > 27')$$);
-- Elsewhere a join with that table compares them.
SELECT p.a = e.a AND p.b = e.b AS as_expected, p.a <> p.b AS differ
FROM (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY coalesce(pis, 0) + noise) FILTER (WHERE age < 26) AS a, percentile_disc(0.5) WITHIN GROUP (ORDER BY coalesce(pis, 0) + noise) FILTER (WHERE age >= 26) AS b
      FROM dp_risk('SELECT count(*) FROM ur_visits_dp', '{1}'), ur_people LEFT JOIN dp_risk_records('SELECT count(*) FROM ur_visits_dp', 1) ON (record ->> 'pid')::integer = pid) p,
     (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY l.pis + noise) FILTER (WHERE age < 26) AS a, percentile_disc(0.5) WITHIN GROUP (ORDER BY l.pis + noise) FILTER (WHERE age >= 26) AS b
      FROM dp_risk('SELECT count(*) FROM ur_visits_dp', '{1}'), ur_people JOIN ur_left_out l ON l.unit = pid AND l.name = 'count') e;

-- What a selection by tau_var compares: n times the variance among all people, less n tau_var. No person who is left out, here in fact, moves it
-- by more than its sensitivity; who has rows in other tables alone (77) does not move it at all.
INSERT INTO ur_cards VALUES (77, 1);
CREATE FUNCTION ur_excess(pis float8[], m integer, epsilon numeric, tau_var float8) RETURNS float8 LANGUAGE sql
RETURN (SELECT count(*) * (var_pop(p) / (m + m / sinh(epsilon / m)) ^ 2 - tau_var) FROM unnest(pis) p);
CREATE TABLE ur_without (name text, unit int, epsilon numeric, statistic float8, sensitivity float8);
CREATE PROCEDURE ur_select_without(person int) LANGUAGE plpgsql AS $$
DECLARE
    found ur_without[];
BEGIN
    BEGIN
        DELETE FROM ur_items WHERE vid IN (SELECT vid FROM ur_visits WHERE pid = person);
        DELETE FROM ur_visits WHERE pid = person;
        DELETE FROM ur_notes WHERE pid = person;
        DELETE FROM ur_cards WHERE pid = person;
        DELETE FROM ur_people WHERE pid = person;
        SELECT array_agg((q.name, person, r.epsilon, svt_statistic, svt_sensitivity)::ur_without) INTO found
        FROM ur_query q, dp_risk(q.query, '{10,1,0.1}', delta => q.delta, tau_var => 0.01) r WHERE NOT q.printed;
        RAISE EXCEPTION 'undo';
    EXCEPTION WHEN raise_exception THEN
    END;
    INSERT INTO ur_without SELECT * FROM unnest(found);
END $$;
DO $$ BEGIN FOR person IN 0..13 LOOP CALL ur_select_without(person); END LOOP; CALL ur_select_without(90); CALL ur_select_without(77); END $$;
SELECT w.name, count(*), bool_and(abs(w.statistic - ur_excess(ARRAY(SELECT l.pis FROM ur_left_out l WHERE l.name = w.name AND l.unit <> w.unit) ||
                                      CASE WHEN w.name = 'card' AND w.unit <> 77 THEN '{0}'::float8[] END, cardinality(q.sensitivities), w.epsilon, 0.01)) < 1e-5) AS as_expected,
       bool_and(abs(w.statistic - a.statistic) <= a.sensitivity * (1 + 1e-9)) AS within_sensitivity, bool_and(w.unit <> 77 OR w.name = 'card' OR w.statistic = a.statistic) AS elsewhere
FROM ur_without w JOIN ur_query q USING (name) JOIN ur_without a ON a.name = w.name AND a.epsilon = w.epsilon AND a.unit = 0 GROUP BY w.name ORDER BY w.name;
SELECT attempt($$SELECT dp_risk('SELECT avg(amount) FROM ur_visits_dp', tau_var => 0.01)$$);
DROP TABLE ur_records, ur_risk, ur_found, ur_left_out, ur_without;
