-- Brute force: 500 random small tables, each asked a random question of rows, of people with several rows, of a join, of sub-SELECTs by person.
-- Everybody is left out in turn, and how far the answer moves without noise is compared with the sensitivities of dp_risk_records.

LOAD 'dp_rdr';
CREATE TABLE rr_row (id integer PRIMARY KEY, g text, y integer, x numeric(6,2), n integer);
CREATE TABLE rr_person (pid integer PRIMARY KEY, sex text, age integer);
CREATE TABLE rr_visit (vid integer PRIMARY KEY, pid integer NOT NULL REFERENCES rr_person, g text, y integer, x numeric(6,2), n integer);
SELECT dp_protect('rr_row', 'rr_row_dp', columns => '{g,y,x,n}'), dp_protect('rr_person', 'rr_person_dp', unit => 'pid'),
       dp_protect('rr_visit', 'rr_visit_dp', unit => 'pid', max_rows => 4);
SELECT dp_set_bounds(t, 'y', -5, 37), dp_set_bounds(t, 'x', 0, 26), dp_set_bounds(t, 'n', 0, 18), dp_set_groups(t, 'g', '{a,b,c}')
FROM unnest('{rr_row,rr_visit}'::regclass[]) t;
SELECT dp_set_bounds('rr_person', 'age', 18, 77), dp_set_groups('rr_person', 'sex', '{F,M}'),
       dp_set_odometer('rr_row', 'none'), dp_set_odometer('rr_visit', 'none'), dp_set_odometer('rr_person', 'none');

-- What is asked of y, x and n, the most that a person of r rows moves it by, and what NULL stands for. Values are rounded to less than 2^-28 of
-- the width, so roots of a variance are off by more, and what is divided by one may be.
CREATE TABLE rr_number (place serial, number text, scale text, z float8 DEFAULT 0, tolerance float8 DEFAULT 0, gaussian boolean DEFAULT true);
INSERT INTO rr_number (number, scale, z, tolerance) VALUES
('count(*)', 'r', 0, 0), ('count(y)', 'r', 0, 0), ('sum(y)', '37 * r', 0, 2 ^ -28), ('avg(y)', '42 * r / (r + 1)', 16, 2 ^ -28),
('var_pop(y)', '441', 0, 2 ^ -27), ('var_samp(y)', '882', 0, 2 ^ -27), ('stddev_pop(y)', '21', 0, 2 ^ -13), ('stddev_samp(y)', '42 / sqrt(2)', 0, 2 ^ -13),
('covar_pop(y, x)', '42 * 26 / 4', 0, 2 ^ -26), ('covar_samp(y, x)', '42 * 26 / 2', 0, 2 ^ -26), ('corr(y, x)', '1', 0, 1e-3), ('regr_r2(y, x)', '1', 0, 1e-3),
('regr_slope(y, x)', '42 / 26.0', 0, 1e-3), ('count(DISTINCT n)', 'r', 0, 0), ('sum(y + n)', '55 * r', 0, 2 ^ -28),
('sum(CASE WHEN g = ''a'' THEN y ELSE 0 END)', '37 * r', 0, 2 ^ -28), ('count(*) FILTER (WHERE n > 9)', 'r', 0, 0);
INSERT INTO rr_number (number, scale, z, gaussian) VALUES
('percentile_disc(0.5) WITHIN GROUP (ORDER BY n)', '18', 9, false), ('max(n)', '18', 9, false), ('min(n)', '18', 9, false);

-- Where it is asked: FROM and WHERE over views, with the key and the rows of a person; over tables %s stands for who is left out.
CREATE TABLE rr_from (place serial, kind text, people text, of_views text, of_tables text, r int, key text DEFAULT 'g', keys text[] DEFAULT '{a,b,c}');
INSERT INTO rr_from (kind, people, of_views, of_tables, r) VALUES
('rows', 'rr_row', 'FROM rr_row_dp WHERE true', 'FROM rr_row t WHERE t.id <> %s', 1),
('people of several rows', 'rr_visit', 'FROM rr_visit_dp WHERE true', 'FROM rr_visit t WHERE t.pid <> %s', 4),
('a join', 'rr_person', 'FROM rr_visit_dp JOIN rr_person_dp USING (pid) WHERE age > 30', 'FROM rr_visit t JOIN rr_person USING (pid) WHERE age > 30 AND t.pid <> %s', 4),
('EXISTS', 'rr_visit', 'FROM rr_visit_dp t WHERE EXISTS (SELECT FROM rr_person_dp p WHERE p.pid = t.pid AND sex = ''F'')',
 'FROM rr_visit t WHERE EXISTS (SELECT FROM rr_person p WHERE p.pid = t.pid AND sex = ''F'') AND t.pid <> %s', 4),
('a row by person', 'rr_person', 'FROM (SELECT pid, max(y) AS y, min(n) AS n, count(*) AS visits FROM rr_visit_dp GROUP BY pid) s WHERE true',
 'FROM (SELECT pid, max(y) AS y, min(n) AS n, count(*) AS visits FROM rr_visit GROUP BY pid) t WHERE t.pid <> %s', 1);

CREATE PROCEDURE rr_fill(people int) LANGUAGE sql AS $$
    DELETE FROM rr_row;
    DELETE FROM rr_visit;
    DELETE FROM rr_person;
    INSERT INTO rr_person SELECT i, (ARRAY['F', 'M'])[1 + floor(random() * 2)::int], 18 + floor(random() * 60) FROM generate_series(1, people) i;
    INSERT INTO rr_row SELECT i, (ARRAY['a', 'b', 'c', 'd', NULL])[1 + floor(random() * 5)::int], CASE WHEN random() < 0.8 THEN floor(random() * 43) - 5 END,
                              CASE WHEN random() < 0.8 THEN floor(random() * 105) / 4 END, floor(random() * 19) FROM generate_series(1, people) i;
    INSERT INTO rr_visit SELECT row_number() OVER (), i, (ARRAY['a', 'b', 'c', 'd', NULL])[1 + floor(random() * 5)::int], CASE WHEN random() < 0.8 THEN floor(random() * 43) - 5 END,
                                CASE WHEN random() < 0.8 THEN floor(random() * 105) / 4 END, floor(random() * 19)
    FROM generate_series(1, people) i, generate_series(1, 4) j WHERE random() < 0.5;
$$;
-- Sensitivities of everybody by definition, the largest first.
CREATE FUNCTION rr_expected(f rr_from, q rr_number[], by_group boolean, root boolean) RETURNS float8[] LANGUAGE plpgsql AS $$
DECLARE
    key text := CASE WHEN by_group THEN f.key ELSE '''''::text' END;
    numbers text := (SELECT string_agg(format('(%s)::float8 AS v%s', number, i), ', ') FROM unnest(q) WITH ORDINALITY u (place, number, scale, z, tolerance, gaussian, i));
    moved text := (SELECT string_agg(format('power(least(abs(coalesce(w.v%1$s, %2$s) - coalesce(o.v%1$s, %2$s)) / (%3$s), %4$s), %5$s)', i, z, regexp_replace(scale, '\mr\M', f.r || '.0', 'g'),
                                            CASE WHEN number ~ 'slope' THEN '1' ELSE '1e9' END, CASE WHEN root THEN 2 ELSE 1 END), ' + ')
                   FROM unnest(q) WITH ORDINALITY u (place, number, scale, z, tolerance, gaussian, i));
    found float8[];
BEGIN
    EXECUTE format('WITH people AS (SELECT %s AS person FROM %s),
                         cells AS (SELECT unnest($1) AS k),
                         everybody AS (SELECT %s AS k, %s %s GROUP BY 1),
                         others AS (SELECT person, a.* FROM people, LATERAL (SELECT %s AS k, %s %s GROUP BY 1) a)
                    SELECT array_agg(d ORDER BY d DESC) FROM
                    (SELECT power(sum(%s), %s) AS d FROM people CROSS JOIN cells LEFT JOIN everybody w USING (k) LEFT JOIN others o USING (person, k) GROUP BY person) s',
                   CASE f.people WHEN 'rr_row' THEN 'id' ELSE 'pid' END, CASE f.people WHEN 'rr_row' THEN 'rr_row' ELSE 'rr_person' END,
                   key, numbers, format(f.of_tables, '-1'), key, numbers, format(f.of_tables, 'person'), moved, CASE WHEN root THEN 0.5 ELSE 1 END)
    INTO found USING CASE WHEN by_group THEN f.keys ELSE '{""}' END;
    RETURN found;
END $$;
CREATE TABLE rr_seen (round int, kind text, number text, by_group boolean, mechanism text, people int, off float8, tolerance float8, largest float8, failed text);
CREATE PROCEDURE rr_round(round int) LANGUAGE plpgsql AS $$
DECLARE
    f rr_from := (SELECT t FROM rr_from t ORDER BY random() LIMIT 1);
    by_group boolean := random() < 0.4 AND f.kind <> 'a row by person';
    root boolean := random() < 0.3; -- of squares
    q rr_number[] := (SELECT array_agg(t) FROM (SELECT t FROM rr_number t WHERE (NOT root OR t.gaussian) AND (f.kind <> 'a row by person' OR t.number !~ '\mx\M|''a''|min|max|percentile')
                                                ORDER BY random() LIMIT 1 + floor(random() * 2)::int) u);
    asked text := (SELECT string_agg(number, ', ') FROM unnest(q));
    expected float8[];
    found float8[];
BEGIN
    CALL rr_fill(2 + floor(random() * 9)::int);
    expected := rr_expected(f, q, by_group, root);
    found := (SELECT array_agg(pis ORDER BY pis DESC)
              FROM dp_risk_records(format('SELECT %s%s %s %s', CASE WHEN by_group THEN f.key || ', ' ELSE '' END, asked, f.of_views, CASE WHEN by_group THEN 'GROUP BY ' || f.key ELSE '' END),
                                   1, CASE WHEN root THEN 'gaussian' ELSE 'laplace' END, CASE WHEN root THEN 1e-6 END), generate_series(1, individuals));
    INSERT INTO rr_seen SELECT round, f.kind, asked, by_group, CASE WHEN root THEN 'gaussian' ELSE 'laplace' END, cardinality(expected),
                               (SELECT max(abs(coalesce(expected[i], 0) - coalesce(found[i], 0))) FROM generate_series(1, greatest(cardinality(expected), cardinality(found))) i),
                               (SELECT 1e-12 + sum(tolerance) FROM unnest(q)), expected[1];
EXCEPTION WHEN OTHERS THEN
    INSERT INTO rr_seen (round, kind, number, by_group, failed) VALUES (round, f.kind, asked, by_group, sqlstate || ' ' || sqlerrm);
END $$;
SELECT setseed(0.26);
DO $$
BEGIN
    FOR round IN 1 .. 500 LOOP
        CALL rr_round(round);
    END LOOP;
END $$;
-- People of several rows are asked no percentile beside a count of values.
DELETE FROM rr_seen WHERE kind <> 'rows' AND failed = '0A000 a percentile, min or max in the same query, where people have several rows, is not supported for count(DISTINCT x) of values';
SELECT kind, count(*) > 50 AS many, count(*) FILTER (WHERE largest > 0) > 40 AS moved, count(*) FILTER (WHERE off <= tolerance) = count(*) AS as_expected FROM rr_seen GROUP BY kind ORDER BY kind;
SELECT count(DISTINCT n.number) AS numbers, count(DISTINCT n.number) FILTER (WHERE largest > 0) AS moved FROM rr_seen s JOIN rr_number n ON strpos(s.number, n.number) > 0;
SELECT * FROM rr_seen WHERE off > tolerance OR failed IS NOT NULL ORDER BY round LIMIT 10;
