-- What a selection adds up where other nodes keep the rows: points and their squares, one candidate at a time (formulas.md 3.4).
\set VERBOSITY terse
CREATE FUNCTION spec_of_selection(gaussian integer, candidate bytea, VARIADIC measures bytea[]) RETURNS bytea
RETURN by_hand.header(0, 0, cardinality(measures), 1, 1, gaussian) || by_hand.joined(VARIADIC measures) || candidate;
CREATE TABLE point_values AS SELECT i AS id, i AS n, i::float8 AS d, i::numeric AS m FROM generate_series(-200, 200) i;
INSERT INTO point_values VALUES (1001, NULL, NULL, NULL), (1002, 2147483647, 'Infinity', 'Infinity'), (1003, 0, 'NaN', 'NaN');

-- A sum with bounds [-64, 128]: |clamped| / 128, in units of 2^-30.
SELECT count(*) AS rows, count(*) FILTER (WHERE point = expected) AS points, count(*) FILTER (WHERE square = point * point) AS squares
FROM point_values, LATERAL (SELECT spec_of_selection(0, by_hand.candidate(1, 0), by_hand.sums(-64, 128, 1, 128))) f (spec),
LATERAL (VALUES (dp_rdr.point(spec, 1, n), dp_rdr.point(spec, 2, n)),
                (dp_rdr.point(spec, 1, d), dp_rdr.point(spec, 2, d)),
                (dp_rdr.point(spec, 1, m), dp_rdr.point(spec, 2, m))) p (point, square),
LATERAL (SELECT CASE WHEN d IS NULL OR d = 'NaN' THEN 0 ELSE abs(greatest(least(d, 128), -64)) * 8388608 END) e (expected);

-- A count and a sum: half of each part. Who has no value counts nothing there.
SELECT id, dp_rdr.point(laplace, 1, CASE WHEN id < 1003 THEN true END, n) AS laplace,
       dp_rdr.point(gaussian, 1, CASE WHEN id < 1003 THEN true END, n) AS gaussian
FROM point_values, LATERAL (SELECT spec_of_selection(0, by_hand.candidate(3, 5), by_hand.counts(), by_hand.sums(0, 128, 1, 128)),
                                   spec_of_selection(1, by_hand.candidate(3, 5), by_hand.counts(), by_hand.sums(0, 128, 1, 128))) s (laplace, gaussian)
WHERE id IN (-5, 0, 64, 128, 200) OR id > 1000 ORDER BY id;

-- The aggregate of one server has the same sums: how many rows, points, squares.
SELECT by_hand.numbers(sums) = ARRAY[rows, s1, s2] AS same
FROM (SELECT dp_rdr.cells(spec, n), count(*), sum(dp_rdr.point(spec, 1, n)), sum(dp_rdr.point(spec, 2, n))
      FROM point_values, LATERAL (SELECT spec_of_selection(0, by_hand.candidate(1, 0), by_hand.sums(-64, 100, 1, 100))) f (spec)) x (sums, rows, s1, s2);

-- Nothing but the library's own specifications, whoever calls.
SET ROLE regress_analyst;
SELECT dp_rdr.point('\x00', 1, 1);
SELECT dp_rdr.point(NULL, 1, 1);
SELECT dp_rdr.point(decode(repeat('00', 168), 'hex'), 1, 1);
SELECT dp_rdr.point(decode(repeat('01', 168), 'hex'), 1, 1);
SELECT dp_rdr.point(decode(repeat('ff', 168), 'hex'), 1, 1);
RESET ROLE;
SELECT dp_rdr.point(spec_of_selection(0, by_hand.candidate(1, 0), by_hand.sums(0, 128, 1, 128)), 1, 1, 2);
SELECT dp_rdr.point(spec_of_selection(0, by_hand.candidate(1, 0), by_hand.sums(0, 128, 1, 0.5)), 1, 1);
SELECT dp_rdr.point(spec_of_selection(0, by_hand.candidate(1, 0), by_hand.sums(128, 0, 1, 128)), 1, 1);
SELECT dp_rdr.point(spec_of_selection(0, by_hand.candidate('NaN', 0), by_hand.sums(0, 128, 1, 128)), 1, 1);
SELECT dp_rdr.point(spec_of_selection(0, by_hand.candidate(1, -1), by_hand.sums(0, 128, 1, 128)), 1, 1);
SELECT dp_rdr.point(spec_of_selection(0, by_hand.candidate(1, 0), by_hand.sums(0, 128, 1, 128)), 1, 'text'::text);
SELECT dp_rdr.point(spec_of_selection(0, by_hand.candidate(1, 0), by_hand.sums(0, 128, 1, 128)), 3, 1);
SELECT dp_rdr.point(spec_of_selection(0, by_hand.candidate(1, 0), by_hand.grid(3, 1, 3)), 1, 1);

DROP TABLE point_values;
DROP FUNCTION spec_of_selection;
