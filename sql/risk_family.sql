-- The controller's other looks at the risk: the exact expectation, groups of people, concrete outputs, text plots, and what a
-- candidate would meet in the selection by tau_var. Checked against a brute force: leave each row out in turn, ask again.
-- No noisy number is printed.

LOAD 'dp_rdr';
\set VERBOSITY terse
SET ROLE regress_controller;

CREATE TABLE family (id integer, i integer, g text, h text, b boolean);
SELECT dp_protect('family', 'family_dp');
SELECT dp_set_bounds('family', 'i', -3, 7), dp_set_groups('family', 'g', '{a,b,empty,NULL}'),
       dp_set_odometer('family', 'none', NULL, 0.001);
CREATE VIEW clamped AS SELECT id, CASE WHEN i IS NOT NULL THEN least(greatest(i, -3), 7) END AS i, g, h, b FROM family;

CREATE PROCEDURE fill(rows integer) LANGUAGE sql AS $$
    DELETE FROM family;
    INSERT INTO family SELECT id, CASE WHEN random() < 0.8 THEN floor(random() * 16 - 5)::integer END,
                              ('{a,a,b,c,NULL}'::text[])[1 + floor(random() * 5)::integer], ('{x,y,NULL}'::text[])[1 + floor(random() * 3)::integer],
                              random() < 0.6
    FROM generate_series(1, rows) id $$;
SELECT setseed(0.5);

-- ---------------------------------------------------------------------------------------------------------------------
-- The exact expectation
-- ---------------------------------------------------------------------------------------------------------------------

-- What is released: the numbers of one group in lattice units, the measure that each belongs to, and per measure its
-- sensitivity; how many groups there are; who is in one.
CREATE TABLE asked (id integer GENERATED ALWAYS AS IDENTITY, query text, key text, condition text, numbers text[], measure integer[],
                    sensitivity float8[], groups integer);
INSERT INTO asked (query, key, condition, numbers, measure, sensitivity, groups) VALUES
    ('SELECT count(*) FROM family_dp WHERE b', NULL, 'b', '{count(*)}', '{1}', '{1}', 1),
    ('SELECT sum(i) FROM family_dp', NULL, 'true', '{sum(i)}', '{1}', '{7}', 1),
    ('SELECT g, count(*) FROM family_dp GROUP BY g', 'g', 'g IN (''a'', ''b'') OR g IS NULL', '{count(*)}', '{1}', '{1}', 4),
    ('SELECT g, sum(i) FROM family_dp WHERE b GROUP BY g', 'g', 'b AND (g IN (''a'', ''b'') OR g IS NULL)', '{sum(i)}', '{1}', '{7}', 4),
    ('SELECT count(*), sum(i), count(*) FILTER (WHERE b) FROM family_dp', NULL, 'true', '{count(*),sum(i),count(*) FILTER (WHERE b)}', '{1,2,3}', '{1,7,1}', 1),
    -- Discovered groups: k is that of one group.
    ('SELECT h, sum(i) FROM family_dp GROUP BY h', 'h', 'true', '{count(*),sum(i)}', '{1,2}', '{1,7}', 1);

-- |q(x) - q(x without the row)| of every row, over the numbers of a group (a row is in one group only).
CREATE FUNCTION change(asked asked) RETURNS TABLE (id integer, change float8[]) LANGUAGE plpgsql AS $$
DECLARE
    numbers text := (SELECT string_agg(format('(%s)::float8 AS c%s', n, j), ', ') FROM unnest(asked.numbers) WITH ORDINALITY u (n, j));
    key text := coalesce('coalesce(' || asked.key || ', ''NULL'')', '''all''');
    distances text := (SELECT string_agg(format('coalesce(sum(abs(coalesce(o.c%1$s, 0) - coalesce(w.c%1$s, 0))), 0)', j), ', ' ORDER BY j) FROM generate_subscripts(asked.numbers, 1) j);
BEGIN
    RETURN QUERY EXECUTE format(
        'SELECT f.id, (SELECT ARRAY[%1$s] FROM (SELECT %2$s AS k, %3$s FROM clamped x WHERE %4$s GROUP BY 1) o
                       FULL JOIN (SELECT %2$s AS k, %3$s FROM clamped x WHERE (%4$s) AND x.id <> f.id GROUP BY 1) w USING (k)) FROM family f',
        distances, key, numbers, asked.condition);
END $$;

-- E|d + Z| as a sum over the law of Z, P(z) ~ exp(-|z|/b); for the large b of an average its closed form.
CREATE FUNCTION mean_abs(d float8, b float8) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN b > 50 THEN abs(d) + exp(-abs(d) / b) / sinh(1 / b)
                ELSE (SELECT sum(abs(d + z) * tanh(0.5 / b) * exp(-abs(z) / b)) FROM generate_series(-30 * b::integer - 40, 30 * b::integer + 40) z) END $$;
CREATE FUNCTION exact_rdr(asked asked, epsilon float8) RETURNS TABLE (id integer, pis float8, rdr float8) LANGUAGE sql AS $$
    SELECT c.id, sum(c.change[j] / s), sum((mean_abs(c.change[j], m * s / epsilon) + (asked.groups - 1) * mean_abs(0, m * s / epsilon)) / s)
    FROM change(asked) c, generate_subscripts(asked.numbers, 1) j,
         LATERAL (SELECT asked.sensitivity[asked.measure[j]] AS s, cardinality(asked.sensitivity) AS m) x
    GROUP BY c.id $$;

CREATE TABLE verdict (asked integer, epsilon float8, rows bigint, wrong bigint, range boolean, variance boolean, not_above_the_bound boolean);
DO $$
BEGIN
    FOR round IN 1..4 LOOP
        CALL fill(round * 4 - 3);
        INSERT INTO verdict
        WITH e AS (SELECT a.id AS asked, e.epsilon, x.* FROM asked a, (VALUES (0.4), (1), (5)) e (epsilon), LATERAL exact_rdr(a, e.epsilon) x),
        expected AS (SELECT asked, epsilon, round(rdr::numeric, 7) AS rdr, count(*) AS n FROM e GROUP BY 1, 2, 3),
        found AS (SELECT a.id AS asked, e.epsilon, round(r.rdr::numeric, 7) AS rdr, sum(r.individuals) AS n
                  FROM asked a, (VALUES (0.4), (1), (5)) e (epsilon), LATERAL dp_risk_records(a.query, e.epsilon, 'laplace', 1e-6, exact => true) r GROUP BY 1, 2, 3),
        compared AS (SELECT asked, epsilon, sum(expected.n) AS rows, count(*) FILTER (WHERE expected.n IS DISTINCT FROM found.n) AS wrong
                     FROM expected FULL JOIN found USING (asked, epsilon, rdr) GROUP BY 1, 2)
        SELECT c.asked, c.epsilon, c.rows, c.wrong, abs(k.rdr_min - s.low) < 1e-7 AND abs(k.rdr_max - s.high) < 1e-7 AND abs(k.ratio - s.low / s.high) < 1e-7,
               abs(k.variance - s.variance) < 1e-7, k.rdr_max <= bound.rdr_max + 1e-9
        FROM compared c JOIN asked a ON a.id = c.asked
        JOIN (SELECT asked, epsilon, min(rdr) AS low, max(rdr) AS high, var_pop(rdr / high) AS variance
              FROM (SELECT *, max(rdr) OVER (PARTITION BY asked, epsilon) AS high FROM e) e GROUP BY asked, epsilon) s USING (asked, epsilon),
             LATERAL dp_risk(a.query, ARRAY[c.epsilon], 'laplace', 1e-6, exact => true) k, LATERAL dp_risk(a.query, ARRAY[c.epsilon], 'laplace', 1e-6) bound;
    END LOOP;
END $$;
SELECT count(*) AS compared, sum(rows) AS rows, sum(wrong) AS wrong, bool_and(range) AS range, bool_and(variance) AS variance, bool_and(not_above_the_bound) AS bound
FROM verdict;
SELECT asked, epsilon FROM verdict WHERE wrong > 0 OR NOT range OR NOT variance OR NOT not_above_the_bound;

-- The largest candidate whose exact ratio is at least tau; it may be larger than that of the bound, and pays in the same account.
CREATE FUNCTION find(query text, tau float8, is_exact boolean, a text = NULL, b text = NULL, kind text = 'expected', of numeric[] = NULL, noise text = 'laplace',
                     d numeric = 1e-6, OUT epsilon numeric, OUT answer jsonb) LANGUAGE plpgsql AS $$
BEGIN
    CALL dp_find_epsilon(query, tau, epsilon, answer, noise, d, candidates => of, indicator => kind, exact => is_exact, group_a => a, group_b => b);
END $$;
SELECT count(*) AS searches, count(*) FILTER (WHERE e.epsilon IS DISTINCT FROM f.epsilon) AS wrong
FROM asked a, (VALUES (0.1::float8), (0.5), (0.8)) t (tau), (VALUES ('laplace'), ('gaussian')) m (mechanism),
     LATERAL (SELECT max(epsilon) AS epsilon FROM dp_risk(a.query, mechanism => m.mechanism, delta => 1e-6, exact => true) WHERE ratio >= tau) e,
     LATERAL find(a.query, t.tau, true, noise => m.mechanism) f;
SELECT tau, exact, epsilon FROM (VALUES (0.95::float8), (0.5)) t (tau), (VALUES (false), (true)) x (exact),
    LATERAL find('SELECT count(*) FROM family_dp WHERE b', tau, exact) f ORDER BY 1, 2;
SELECT algorithm, account, epsilon, parameters -> 'exact' AS exact FROM dp_rdr.ledger ORDER BY id DESC LIMIT 1;

-- Discrete Gaussian noise on one and on two numbers, as sums over its law. Its parameter is read from the deviation shown,
-- which it equals to 1e-6 from 1 unit on.
CREATE FUNCTION gaussian(z float8, s float8) RETURNS float8 LANGUAGE sql IMMUTABLE AS 'SELECT exp(greatest(-300, -z * z / (2 * s * s))) / (s * sqrt(2 * pi()))';
SELECT epsilon, abs(rdr_min - e.low) < 1e-5 AND abs(rdr_max - e.high) < 1e-5 AS one_number
FROM dp_risk('SELECT count(*) FROM family_dp WHERE b', '{3,1,0.5}', 'gaussian', 1e-5, exact => true) k,
     LATERAL (SELECT sum(abs(z) * gaussian(z, k.noise_stddev)) AS low, sum(abs(1 + z) * gaussian(z, k.noise_stddev)) AS high FROM generate_series(-200, 200) z) e;
SELECT epsilon, abs(rdr_min - e.low) < 1e-4 AND abs(rdr_max - e.high) < 1e-4 AS two_numbers
FROM dp_risk('SELECT count(*), count(*) FILTER (WHERE i > 0) FROM family_dp WHERE b', '{3,1}', 'gaussian', 1e-5, exact => true) k,
     LATERAL (SELECT sum(sqrt(y * y + z * z) * gaussian(y, k.noise_stddev) * gaussian(z, k.noise_stddev)) AS low,
                     sum(sqrt((1 + y) * (1 + y) + (1 + z) * (1 + z)) * gaussian(y, k.noise_stddev) * gaussian(z, k.noise_stddev)) AS high
              FROM generate_series(-140, 140) y, generate_series(-140, 140) z) e;

-- published: continuous noise on the aggregates themselves. k counts the groups present.
SELECT abs(k.rdr_min - k.added / 1) < 1e-9 AS nobody_changed, abs(k.rdr_max - k.added + e.b - e.change - e.b * exp(-e.change / e.b)) < 1e-9 AS most_changed
FROM (SELECT *, noise_stddev / sqrt(2) * (SELECT count(DISTINCT coalesce(g, '')) FROM family WHERE b) AS added
      FROM dp_risk('SELECT g, sum(i) FROM family_dp WHERE b GROUP BY g', '{2}', calibration => 'published', exact => true)) k,
     (SELECT max(abs(i)) AS change, 7 / 2.0 AS b FROM clamped WHERE b) e;
SELECT abs(k.rdr_max - s * sqrt(2 / pi()) * exp(-(p.pis ^ 2) / (2 * s * s)) - p.pis * (2 * phi - 1)) < 1e-6 AS published_gaussian
FROM dp_risk('SELECT avg(i) FROM family_dp', '{2}', 'gaussian', calibration => 'published', exact => true) k,
     (SELECT max(pis) AS pis FROM dp_risk_records('SELECT avg(i) FROM family_dp', 2, 'gaussian', calibration => 'published')) p,
     LATERAL (SELECT k.noise_stddev AS s) x,
     LATERAL (SELECT 0.5 + sum(exp(-(((t + 0.5) / 20000 * p.pis / s) ^ 2) / 2)) * p.pis / s / 20000 / sqrt(2 * pi()) AS phi FROM generate_series(0, 19999) t) y;

-- ---------------------------------------------------------------------------------------------------------------------
-- Two groups of people: the ratio of the lower medians, whichever is the smaller, over all members
-- ---------------------------------------------------------------------------------------------------------------------

CALL fill(40);
INSERT INTO family VALUES (1001, 2, 'a', 'x', true), (1002, 2, 'a', 'y', true);
CREATE TABLE members (query text, m integer, d float8, k integer, pis text);
INSERT INTO members VALUES
    ('SELECT sum(i) FROM family_dp WHERE b', 1, 7, 1, 'CASE WHEN b THEN coalesce(abs(i) / 7.0, 0) ELSE 0 END'),
    ('SELECT sum(i), count(*) FROM family_dp WHERE i > 0', 2, NULL, 2, 'CASE WHEN i > 0 THEN abs(i) / 7.0 + 1 ELSE 0 END'),
    ('SELECT g, count(*) FROM family_dp WHERE b GROUP BY g', 1, 1, 4, 'CASE WHEN b AND g IS DISTINCT FROM ''c'' THEN 1 ELSE 0 END');
CREATE FUNCTION lower_median(pis text, condition text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
    median float8;
BEGIN
    EXECUTE format('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY (%s)::float8) FROM clamped WHERE %s', pis, condition) INTO median;
    RETURN median;
END $$;
-- k m / (D sinh(epsilon / (m D))), for the mixed query the sum over both lattices.
SELECT m.query, a, b, tau, f.epsilon = e.epsilon AS agrees, f.epsilon = swapped.epsilon AS symmetric
FROM members m, (VALUES ('h = ''x''', 'h = ''y'''), ('h IS NULL', 'h IS NOT NULL'), ('i < 3', 'i >= 3')) c (a, b), (VALUES (0.6::float8), (0.95)) t (tau),
     LATERAL (SELECT least(lower_median(m.pis, a), lower_median(m.pis, b)) AS low, greatest(lower_median(m.pis, a), lower_median(m.pis, b)) AS high) p,
     LATERAL (SELECT max(r.epsilon) AS epsilon
              FROM dp_risk(m.query) r,
                   LATERAL (SELECT CASE WHEN m.d IS NULL THEN 1 / sinh(r.epsilon / 2) + 1 / (7 * sinh(r.epsilon / 14)) ELSE m.k / (m.d * sinh(r.epsilon / m.d)) END AS n) x
              WHERE p.low + n >= tau * (p.high + n) - 1e-9) e,
     LATERAL find(m.query, tau, false, a, b) f, LATERAL find(m.query, tau, false, b, a) swapped;
-- With the exact expectation: medians of the exact indicator. Both columns of the conditions are in the records.
SELECT tau, f.epsilon = (
    SELECT max(c.epsilon)
    FROM dp_risk('SELECT sum(i) FROM family_dp WHERE b') c,
         LATERAL (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY r.rdr) FILTER (WHERE f.i < 3) AS x, percentile_disc(0.5) WITHIN GROUP (ORDER BY r.rdr) FILTER (WHERE f.i >= 3) AS y
                  FROM family f LEFT JOIN dp_risk_records('SELECT sum(i) FROM family_dp WHERE b', c.epsilon, exact => true) r
                  ON CASE WHEN f.b THEN r.record = jsonb_build_object('i', f.i, 'b', f.b) ELSE r.record IS NULL END) z
    WHERE least(x, y) >= tau * greatest(x, y) * (1 - 1e-12)) AS agrees
FROM (VALUES (0.6::float8), (0.95)) t (tau), LATERAL find('SELECT sum(i) FROM family_dp WHERE b', tau, true, 'i < 3', 'i >= 3') f;
SELECT parameters -> 'exact' AS exact, parameters ->> 'group_a' AS group_a, parameters ->> 'group_b' AS group_b FROM dp_rdr.ledger ORDER BY id DESC LIMIT 1;

-- Refused, and not charged.
CREATE TABLE before AS SELECT account, epsilon, delta, releases FROM dp_odometer('family');
SELECT arguments, attempt('CALL dp_find_epsilon(''SELECT count(*) FROM family_dp'', 0.5, ' || arguments || ')') FROM (VALUES
    ($$group_a => 'b'$$), ($$group_b => 'b'$$), ($$group_a => 'b', group_b => 'i > 3'$$), ($$group_a => 'i > 99', group_b => 'b'$$),
    ($$group_a => 'b', group_b => 'i > 99'$$), ($$group_a => 'b', group_b => ''$$), ($$group_a => 'b', group_b => 'true; SELECT 1'$$),
    ($$group_a => 'b', group_b => 'nobody'$$), ($$group_a => 'b', group_b => 'random() > 0.5'$$), ($$group_a => 'b', group_b => 'count(*) > 1'$$),
    ($$group_a => 'b', group_b => 'i IN (SELECT 1)'$$), ($$group_a => 'b', group_b => 'now() > ''2020-01-01'''$$), ($$group_a => 'i', group_b => 'b'$$),
    ($$group_a => 'b', group_b => 'NOT b', indicator => 'output'$$), ($$exact => true, indicator => 'output'$$), ($$exact => NULL$$), ($$indicator => NULL$$)) t (arguments);
SELECT * FROM before EXCEPT SELECT account, epsilon, delta, releases FROM dp_odometer('family');

-- In a policy: within_data only. The conditions are stored as they were understood, and are part of what a charge binds.
SELECT arguments, attempt('SELECT dp_grant(''family_dp'', ''regress_second'', ' || arguments || ')') FROM (VALUES
    ($$tau => 0.5, group_a => 'b', group_b => 'NOT b'$$), ($$tau => 0.5, selection => 'within_domain', group_a => 'b', group_b => 'NOT b'$$),
    ($$tau_var => 0.1, group_a => 'b', group_b => 'NOT b'$$), ($$tau => 0.5, selection => 'within_data', group_a => 'b'$$),
    ($$tau => 0.5, selection => 'within_data', group_a => 'b', group_b => 'nobody'$$)) t (arguments);
SELECT dp_grant('family_dp', 'regress_second', tau => 0.95, selection => 'within_data', group_a => $$h='x'$$, group_b => $$h='y'$$, epsilon_max => 10);
RESET ROLE;
SELECT group_a, group_b FROM dp_rdr.policy WHERE (view, grantee) = ('family_dp'::regclass, 'regress_second'::regrole);
SET ROLE regress_second;
SELECT count(*) AS answers FROM dp_query('SELECT sum(i) FROM family_dp WHERE b') AS (n bigint);
SELECT DISTINCT reason, epsilon FROM dp_explain('SELECT sum(i) FROM family_dp WHERE b');
SET ROLE regress_controller;
SELECT l.algorithm, l.account, l.guarantee, l.epsilon = f.epsilon AS as_the_controller_finds
FROM find('SELECT sum(i) FROM family_dp WHERE b', 0.95, false, $$h='x'$$, $$h='y'$$) f, LATERAL (SELECT * FROM dp_rdr.ledger WHERE role_name = 'regress_second' ORDER BY id DESC LIMIT 1) l;
-- A group without members, or with common ones, is found in the rows: the analyst is denied like for any other reason.
SELECT dp_revoke('family_dp', 'regress_second'), dp_grant('family_dp', 'regress_second', tau => 0.95, selection => 'within_data', group_a => 'b', group_b => 'i > 99');
SET ROLE regress_second;
SELECT attempt('SELECT sum(i) FROM family_dp');
SET ROLE regress_controller;
SELECT dp_revoke('family_dp', 'regress_second'), dp_grant('family_dp', 'regress_second', tau => 0.95, selection => 'within_data', group_a => 'b', group_b => 'i > 3');
SET ROLE regress_second;
SELECT attempt('SELECT sum(i) FROM family_dp');
SET ROLE regress_controller;
SELECT account, denials FROM dp_odometer('family');
SELECT dp_revoke('family_dp', 'regress_second');

-- ---------------------------------------------------------------------------------------------------------------------
-- Concrete outputs
-- ---------------------------------------------------------------------------------------------------------------------

-- Numbers of the answer as printed, what stands for an absent one; scale: sensitivity of the number's measure in its own unit.
CREATE TABLE answered (id integer GENERATED ALWAYS AS IDENTITY, query text, mentions text[], keys text[], key text, condition text, numbers text[], absent float8[],
                       scale float8[], output float8[]);
INSERT INTO answered (query, mentions, keys, key, condition, numbers, absent, scale, output) VALUES
    ('SELECT count(*) FROM family_dp WHERE b', '{b}', '{all}', NULL, 'b', '{count(*)}', '{0}', '{1}', '{3.5}'),
    ('SELECT sum(i) FROM family_dp', '{i}', '{all}', NULL, 'true', '{sum(i)}', '{0}', '{7}', '{-4}'),
    ('SELECT count(i), sum(i) FILTER (WHERE b) FROM family_dp', '{i,b}', '{all}', NULL, 'true', '{count(i),sum(i) FILTER (WHERE b)}', '{0,0}', '{1,7}', '{9,12}'),
    ('SELECT avg(i) FROM family_dp WHERE b', '{i,b}', '{all}', NULL, 'b', '{avg(i)}', '{2}', NULL, '{1.25}'),
    ('SELECT g, count(*), sum(i) FROM family_dp GROUP BY g', '{g,i}', '{a,b,empty,"NULL"}', 'g', 'g IN (''a'', ''b'') OR g IS NULL', '{count(*),sum(i)}', '{0,0}', '{1,7}',
     '{3,1,-2,0,5,9,1,1}'),
    ('SELECT avg(i), h, count(*) FROM family_dp WHERE i > -9 GROUP BY h', '{h,i}', '{x,y,"NULL"}', 'h', 'i > -9', '{avg(i),count(*)}', '{2,0}', NULL, '{1,2,3,4,NULL,NULL}');

CREATE FUNCTION said(a answered, gaussian boolean, epsilon float8, sigma float8[]) RETURNS TABLE (record jsonb, rdr float8, loss float8) LANGUAGE plpgsql AS $$
DECLARE
    columns text := (SELECT string_agg(format('(%s)::float8 AS c%s', n, j), ', ') FROM unnest(a.numbers) WITH ORDINALITY u (n, j));
    key text := coalesce('coalesce(' || a.key || ', ''NULL'')', '''all''');
    n integer := cardinality(a.numbers);
    numbers text := (SELECT string_agg(format('(%s, o.c%s, w.c%s, %L::float8)', j, j, j, a.absent[j]), ', ') FROM generate_subscripts(a.numbers, 1) j);
BEGIN
    RETURN QUERY EXECUTE format(
        'SELECT CASE WHEN coalesce(%1$s, false) THEN (SELECT jsonb_object_agg(e.key, e.value) FROM jsonb_each(to_jsonb(f)) e WHERE e.key = ANY (%2$L)) END,
                CASE WHEN $2 THEN sqrt(s.squares) ELSE s.distance END, CASE WHEN $2 THEN s.gaussian ELSE $3 * s.laplace END
         FROM family f, LATERAL (
             SELECT sum(abs(v.o - v.left_out)) AS distance, sum((v.o - v.left_out) ^ 2) AS squares,
                    sum((abs(v.o - v.left_out) - abs(v.o - v.present)) / ($1).scale[v.j]) / %7$s AS laplace,
                    sum(((v.o - v.left_out) ^ 2 - (v.o - v.present) ^ 2) / (2 * $4[v.j] ^ 2)) + CASE WHEN ($1).scale IS NOT NULL THEN 0 END AS gaussian
             FROM (SELECT x.j, coalesce(($1).output[(k.at - 1) * %7$s + x.j], x.z) AS o, coalesce(x.a, x.z) AS present, coalesce(x.b, x.z) AS left_out
                   FROM unnest(($1).keys) WITH ORDINALITY k (k, at)
                   LEFT JOIN (SELECT %3$s AS k, %4$s FROM clamped x WHERE %5$s GROUP BY 1) o USING (k)
                   LEFT JOIN (SELECT %3$s AS k, %4$s FROM clamped x WHERE (%5$s) AND x.id <> f.id GROUP BY 1) w USING (k),
                   LATERAL (VALUES %6$s) x (j, a, b, z)) v) s',
        regexp_replace(a.condition, 'g IN .*', 'true'), a.mentions, key, columns, a.condition, numbers, n) USING a, gaussian, epsilon, sigma;
END $$;

CREATE TABLE heard (round integer, asked integer, mechanism text, compared bigint, wrong bigint);
DO $$
BEGIN
    FOR round IN 1..6 LOOP
        CALL fill(8 + round);
        INSERT INTO family VALUES (101, 2, 'a', 'x', true), (102, -1, NULL, 'y', true), (103, 5, 'c', NULL, false);
        INSERT INTO heard
        SELECT round, a.id, m.mechanism, count(*),
               count(*) FILTER (WHERE e.individuals IS DISTINCT FROM r.individuals OR abs(e.rdr - r.rdr) > 1e-7 OR r.loss IS NULL <> (a.scale IS NULL)
                                   OR abs(e.loss - r.loss) > 1e-6 * (1 + abs(e.loss)))
        FROM answered a, (VALUES ('laplace'), ('gaussian')) m (mechanism),
             -- The deviation of the noise on a count and on a sum, alone and with another number.
             LATERAL (SELECT array_agg((SELECT noise_stddev FROM dp_risk('SELECT sum(i), count(*) FROM family_dp', '{0.5}', 'gaussian', 1e-6)) * s / 7 ORDER BY j) AS two,
                             array_agg((SELECT noise_stddev FROM dp_risk('SELECT ' || CASE s WHEN 7 THEN 'sum(i)' ELSE 'count(*)' END || ' FROM family_dp', '{0.5}', 'gaussian', 1e-6))
                                       ORDER BY j) AS one
                      FROM unnest(coalesce(a.scale, '{1,1}')) WITH ORDINALITY u (s, j)) sigma,
             LATERAL (SELECT coalesce(record, '"outside"') AS record, count(*) AS individuals, max(s.rdr) AS rdr, max(s.loss) AS loss
                      FROM said(a, m.mechanism = 'gaussian', 0.5, CASE WHEN cardinality(a.numbers) = 2 THEN two ELSE one END) s GROUP BY 1) e
             FULL JOIN LATERAL (SELECT coalesce(record, '"outside"') AS record, individuals, rdr, loss
                                FROM dp_risk_output(a.query, a.output, m.mechanism, 0.5, 1e-6)) r USING (record)
        GROUP BY a.id, m.mechanism;
    END LOOP;
END $$;
SELECT mechanism, count(*) AS calls, sum(compared) AS records, sum(wrong) AS wrong FROM heard GROUP BY 1 ORDER BY 1;
SELECT a.query, mechanism, sum(wrong) AS wrong FROM heard h JOIN answered a ON a.id = h.asked WHERE wrong > 0 GROUP BY 1, 2;

-- The papers' example: whom the output is farther from need not have the larger loss, but for its sign. Two people, A is counted.
DELETE FROM family;
INSERT INTO family VALUES (1, 1, 'a', 'x', true), (2, 2, 'a', 'x', false);
SELECT * FROM dp_risk_output('SELECT count(*) FROM family_dp WHERE b', '{0.3}', epsilon => 1);
-- Without epsilon there is no loss; why there is none for averages and discovered groups is said.
SELECT * FROM dp_risk_output('SELECT count(*) FROM family_dp', '{2}');
SELECT record, individuals, round(rdr::numeric, 7) AS rdr, loss FROM dp_risk_output('SELECT avg(i) FROM family_dp', '{1.5}', epsilon => 1) ORDER BY record;
SELECT * FROM dp_risk_output('SELECT h, count(*) FROM family_dp GROUP BY h', '{1}', epsilon => 1, delta => 1e-6);
-- The order of the numbers, and what is no answer.
SELECT arguments, attempt('SELECT * FROM dp_risk_output(' || arguments || ')') FROM (VALUES
    ($$'SELECT count(*) FROM family_dp', '{}'$$), ($$'SELECT count(*), sum(i) FROM family_dp', '{1}'$$), ($$'SELECT g, count(*) FROM family_dp GROUP BY g', '{1,2,3}'$$),
    ($$'SELECT h, count(*) FROM family_dp GROUP BY h', '{1,2}'$$), ($$'SELECT count(*) FROM family_dp', '{NULL}'$$), ($$'SELECT count(*) FROM family_dp', '{NaN}'$$),
    ($$'SELECT count(*) FROM family_dp', '{Infinity}'$$), ($$'SELECT count(*) FROM family_dp', NULL$$), ($$NULL, '{1}'$$), ($$'SELECT count(*) FROM family_dp', '{1}', 'uniform'$$),
    ($$'SELECT count(*) FROM family_dp', '{1}', 'gaussian', 1$$), ($$'SELECT count(*) FROM family_dp', '{1}', 'laplace', 0$$), ($$'SELECT i FROM family_dp', '{1}'$$),
    ($$'SELECT count(*) FROM family', '{1}'$$)) t (arguments);
\set VERBOSITY default
SELECT * FROM dp_risk_output('SELECT g, count(*) FROM family_dp GROUP BY g', '{1,2,3}');
\set VERBOSITY terse

-- ---------------------------------------------------------------------------------------------------------------------
-- Epsilon from an output: what is returned is what was accepted
-- ---------------------------------------------------------------------------------------------------------------------

-- The answer that comes back meets tau itself, at every draw; another draw of the same epsilon often would not.
CALL fill(30);
CREATE TABLE drawn (n integer, query text, tau float8, epsilon numeric, output float8[], mechanism text, ratio float8);
\set VERBOSITY default
CALL dp_find_epsilon('SELECT count(*) FROM family_dp WHERE b', 0, candidates => '{100}', indicator => 'output');
\set VERBOSITY terse
SET client_min_messages = error; -- the warning says the same each time
INSERT INTO drawn
SELECT n, q.query, t.tau, f.epsilon,
       (SELECT array_agg(value::text::float8 ORDER BY at, key) FROM jsonb_array_elements(f.answer) WITH ORDINALITY r (row, at), jsonb_each(r.row) WHERE jsonb_typeof(value) = 'number'), m.mechanism
FROM generate_series(1, 5) n, (VALUES ('SELECT count(*) FROM family_dp WHERE b'), ('SELECT sum(i) FROM family_dp'), ('SELECT g, count(*) FROM family_dp GROUP BY g')) q (query),
     (VALUES (0.5::float8), (0.95)) t (tau), (VALUES ('laplace'), ('gaussian')) m (mechanism), LATERAL find(q.query, t.tau, false, kind => 'output', noise => m.mechanism, d => 1e-6 + n * 0) f;
RESET client_min_messages;
UPDATE drawn SET ratio = (SELECT min(rdr) / max(rdr) FROM dp_risk_output(query, output, mechanism));
SELECT query, mechanism, count(*) AS draws, bool_and(ratio >= tau - 1e-9) AS accepted, bool_and(epsilon IN (SELECT epsilon FROM dp_risk('SELECT count(*) FROM family_dp'))) AS candidates
FROM drawn GROUP BY 1, 2 ORDER BY 1, 2;
-- Less noise leaves people more unequal: a stricter tau is met with a smaller epsilon, on the whole.
SELECT avg(epsilon) FILTER (WHERE tau = 0.95) < avg(epsilon) FILTER (WHERE tau = 0.5) AS stricter_is_smaller FROM drawn;
SELECT count(*) AS charges, count(DISTINCT algorithm) AS algorithms, min(account) AS account, min(guarantee) AS guarantee, sum(epsilon) = (SELECT sum(epsilon) FROM drawn) + 100 AS what_was_found
FROM dp_rdr.ledger WHERE algorithm = 'find_from_output';
-- Discovered groups: what does not appear counts as a group of nobody. Here some appear and some do not.
SET client_min_messages = error;
INSERT INTO family SELECT 2000 + n, 1, NULL, 'y', true FROM generate_series(1, 20) n;
TRUNCATE drawn;
INSERT INTO drawn
SELECT n, 'SELECT h, count(*) FROM family_dp WHERE b GROUP BY h', t.tau, f.epsilon,
       (SELECT array_agg((SELECT (row ->> 'count')::float8 FROM jsonb_array_elements(f.answer) row WHERE row ->> 'h' IS NOT DISTINCT FROM k.h) ORDER BY k.h)
        FROM (SELECT DISTINCT h FROM family WHERE b) k), m.mechanism
FROM generate_series(1, 6) n, (VALUES (0.5::float8), (0.9)) t (tau), (VALUES ('laplace'), ('gaussian')) m (mechanism),
     LATERAL find('SELECT h, count(*) FROM family_dp WHERE b GROUP BY h', t.tau, false, kind => 'output', noise => m.mechanism, d => 0.01 + n * 0) f;
UPDATE drawn SET ratio = (SELECT min(rdr) / max(rdr) FROM dp_risk_output(query, output, mechanism));
SELECT mechanism, bool_and(ratio >= tau - 1e-9) AS accepted, bool_or(array_position(output, NULL) IS NOT NULL) AS with_absent_groups FROM drawn GROUP BY 1 ORDER BY 1;
-- Nobody at all.
CREATE TABLE nobody_there (v integer);
SELECT dp_protect('nobody_there', 'nobody_there_dp');
SELECT dp_set_odometer('nobody_there', 'none', NULL);
SELECT epsilon FROM find('SELECT count(*) FROM nobody_there_dp', 0.95, false, kind => 'output');
SELECT dp_unprotect('nobody_there_dp');
DROP TABLE nobody_there;

-- No candidate's answer is accepted: |z| and |z + 1| differ. Nothing is charged.
TRUNCATE before;
INSERT INTO before SELECT account, epsilon, delta, releases FROM dp_odometer('family');
SELECT attempt($$CALL dp_find_epsilon('SELECT count(*) FROM family_dp WHERE b', 1, indicator => 'output')$$);
SELECT * FROM before EXCEPT SELECT account, epsilon, delta, releases FROM dp_odometer('family');
-- The bound denies what was accepted, and what was drawn is gone; nothing smaller is tried.
SELECT dp_set_odometer('family', 'filter', 10000, 0.9);
CREATE TABLE spent AS SELECT sum(epsilon) AS epsilon FROM dp_odometer('family');
SELECT dp_set_odometer('family', 'filter', (SELECT epsilon + 1 FROM spent), 0.9);
SELECT attempt($$CALL dp_find_epsilon('SELECT count(*) FROM family_dp WHERE b', 0, candidates => '{2,0.5}', indicator => 'output')$$);
SELECT epsilon FROM find('SELECT count(*) FROM family_dp WHERE b', 0, false, kind => 'output', of => '{1}', d => 0);
-- Under dynamic candidates up to what is consumed are not drawn at all.
SELECT dp_set_odometer('family', 'dynamic', 'Infinity', 0.9);
SELECT attempt(format($$CALL dp_find_epsilon('SELECT count(*) FROM family_dp WHERE b', 0, candidates => '{90,1}', indicator => 'output')$$));
CREATE TABLE family_fresh AS SELECT 1 AS v;
SELECT dp_protect('family_fresh', 'family_fresh_dp');
SELECT dp_set_odometer('family_fresh', 'dynamic', 'Infinity');
SELECT epsilon FROM find('SELECT count(*) FROM family_fresh_dp', 0, false, kind => 'output', of => '{1}', d => 0);
SELECT epsilon FROM find('SELECT count(*) FROM family_fresh_dp', 0, false, kind => 'output', of => '{2,1,0.5}', d => 0);
SELECT attempt($$CALL dp_find_epsilon('SELECT count(*) FROM family_fresh_dp', 0, candidates => '{3,1,0.5}', indicator => 'output')$$);
SELECT account, epsilon, releases, denials FROM dp_odometer('family_fresh');
SELECT dp_unprotect('family_fresh_dp');
RESET client_min_messages;
SELECT dp_verify_ledger('family');

-- ---------------------------------------------------------------------------------------------------------------------
-- Text plots, and the selection by tau_var
-- ---------------------------------------------------------------------------------------------------------------------

SELECT * FROM dp_risk_summary($$SELECT count(*) FROM adult_dp WHERE native_country <> 'United-States' AND sex = 'Female'$$);
SELECT * FROM dp_risk_summary('SELECT sum(capital_gain) FROM adult_dp') LIMIT 12;
SELECT * FROM dp_risk_summary('SELECT marital_status, avg(hours_per_week) FROM adult_dp WHERE age > 40 GROUP BY 1') LIMIT 3;
-- A row fits a line of 100 characters; the numbers are those of dp_risk, to four digits.
SELECT q.id, greatest(max(length(s.epsilon::text)), 7) + max(length(s.risk)) + greatest(max(length(s.error95::text)), 7) + greatest(max(length(s.answer_range)), 12)
       + greatest(max(length(s.ratio::text)), 5) + 14 <= 100 AS fits, bool_and(abs(s.ratio - r.ratio) <= 0.0005 * r.ratio AND abs(s.error95 - r.error95) <= 0.0005 * r.error95) AS numbers,
       count(*) AS candidates, bool_and(s.risk ~ '^ *([<|]|[<|]=*[|])$') AS bars
FROM paper_query q, LATERAL dp_risk_summary(q.query) s JOIN LATERAL dp_risk(q.query) r USING (epsilon) GROUP BY q.id ORDER BY q.id;
SELECT attempt($$SELECT * FROM dp_risk_summary('SELECT education, count(*) FROM adult_dp GROUP BY 1')$$);
SELECT attempt($$SELECT * FROM dp_risk_summary('SELECT count(*) FROM adult_dp', 'gaussian')$$);
SELECT count(*) FROM dp_risk_summary('SELECT education, count(*) FROM adult_dp GROUP BY 1', 'gaussian', 1e-6);

-- G = n Var(r) - n tau_var, r the RDRs divided by m + N; sensitivity max(tau_var, w^2 - tau_var), w = m / (m + N); the acceptance
-- probability of 1/eps1 = (1 + 2^(2/3)) / epsilon_svt, 2/eps2 = 2 (1 + 2^(-2/3)) / epsilon_svt.
CREATE TABLE selection AS
SELECT q.*, t.*, r.* FROM (VALUES ('SELECT count(*) FROM adult_dp WHERE age > 30', 1, 1), ('SELECT sum(capital_gain) FROM adult_dp', 1, 1), ('SELECT count(*), sum(capital_gain) FROM adult_dp WHERE age > 30', 2, 2)) q (query, m, k1),
     (VALUES (0.0001::float8, 0.1), (0.01, 1)) t (tau_var, epsilon_svt), LATERAL dp_risk(q.query, tau_var => t.tau_var, epsilon_svt => t.epsilon_svt) r;
SELECT query, bool_and(abs(svt_statistic - g) <= 1e-6 * (1 + abs(g))) AS statistic, bool_and(abs(svt_sensitivity - s) <= 1e-9 * s) AS sensitivity,
       bool_and(CASE WHEN w * w / 4 <= tau_var THEN svt_accept = 1 ELSE abs(svt_accept - CASE WHEN g >= 0 THEN p ELSE 1 - p END) <= 1e-6 END) AS accept,
       count(*) FILTER (WHERE svt_accept BETWEEN 0.001 AND 0.999) > 0 AS undecided, count(*) FILTER (WHERE svt_accept < 0.001) > 0 AS refused
FROM (SELECT s.*, m / (m + k1 / sinh(epsilon / m)) AS w FROM selection s) s,
     LATERAL (SELECT greatest(tau_var, w * w - tau_var) AS s, 32561 * (s.variance * (rdr_max / (m + k1 / sinh(epsilon / m))) ^ 2 - tau_var) AS g) x,
     LATERAL (SELECT (a * a * exp(-least(abs(g / x.s) / a, 700)) - b * b * exp(-least(abs(g / x.s) / b, 700))) / (2 * (a * a - b * b)) AS p
              FROM (SELECT (1 + 2 ^ (2 / 3.0)) / epsilon_svt AS a, 2 * (1 + 2 ^ (-2 / 3.0)) / epsilon_svt AS b) y) z
GROUP BY query ORDER BY query COLLATE "C";
SELECT bool_and(svt_statistic IS NULL AND svt_sensitivity IS NULL AND svt_accept IS NULL) AS not_asked FROM dp_risk('SELECT count(*) FROM adult_dp');
SELECT bool_and(svt_statistic = variance AND svt_sensitivity IS NULL AND svt_accept IS NULL) AS published FROM dp_risk('SELECT count(*) FROM adult_dp WHERE age > 30', calibration => 'published', tau_var => 0.1);
SELECT bool_and(svt_accept BETWEEN 0 AND 1) AS gaussian FROM dp_risk('SELECT count(*), sum(hours_per_week) FROM adult_dp WHERE age > 30', mechanism => 'gaussian', delta => 1e-5, tau_var => 0.001);
SELECT arguments, attempt('SELECT * FROM dp_risk(''SELECT count(*) FROM adult_dp'', ' || arguments || ')') FROM (VALUES
    ('tau_var => -1'), ('tau_var => 2'), ($$tau_var => 'NaN'$$), ('epsilon_svt => 0'), ('epsilon_svt => NULL'), ('tau_var => 0'), ('exact => NULL')) t (arguments);

-- Not the controller.
SET ROLE regress_analyst;
SELECT attempt($$SELECT * FROM dp_risk_output('SELECT count(*) FROM family_dp', '{1}')$$);
SELECT attempt($$SELECT * FROM dp_risk_summary('SELECT count(*) FROM family_dp')$$);
SELECT attempt($$SELECT * FROM dp_risk('SELECT count(*) FROM family_dp', exact => true)$$);
SELECT attempt($$CALL dp_find_epsilon('SELECT count(*) FROM family_dp', 0.5, indicator => 'output')$$);
SELECT attempt($$CALL dp_find_epsilon('SELECT count(*) FROM family_dp', 0.5, group_a => 'i > 99', group_b => 'b')$$);
SET ROLE regress_controller;

SELECT dp_unprotect('family_dp');
DROP FUNCTION find, change, exact_rdr, mean_abs, gaussian, lower_median, said;
DROP PROCEDURE fill;
DROP TABLE family, asked, verdict, before, members, answered, heard, drawn, spent, family_fresh, selection CASCADE;
RESET ROLE;
