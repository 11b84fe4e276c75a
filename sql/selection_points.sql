-- What a selection adds up: points and their squares, one candidate at a time (formulas.md 3.4).
\set VERBOSITY terse
CREATE FUNCTION spec_of_selection(gaussian integer, candidate bytea, VARIADIC measures bytea[]) RETURNS bytea
RETURN by_hand.header(0, 0, cardinality(measures), 1, 1, gaussian) || by_hand.joined(VARIADIC measures) || candidate;
CREATE TABLE point_values AS SELECT i AS id, i AS n, i::float8 AS d, i::numeric AS m FROM generate_series(-200, 200) i;
INSERT INTO point_values VALUES (1001, NULL, NULL, NULL), (1002, 2147483647, 'Infinity', 'Infinity'), (1003, 0, 'NaN', 'NaN');

-- A sum with bounds [-64, 128]: |clamped| / 128, in units of 2^-30.
SELECT count(*) AS rows, count(*) FILTER (WHERE sums[2] = expected) AS points, count(*) FILTER (WHERE sums[3] = sums[2] * sums[2]) AS squares
FROM point_values, LATERAL (SELECT spec_of_selection(0, by_hand.candidate(1, 0), by_hand.sums(-64, 128, 1, 128))) f (spec),
LATERAL (VALUES ((SELECT by_hand.numbers(dp_rdr.cells(spec, v)) FROM (VALUES (n)) one (v))),
                ((SELECT by_hand.numbers(dp_rdr.cells(spec, v)) FROM (VALUES (d)) one (v))),
                ((SELECT by_hand.numbers(dp_rdr.cells(spec, v)) FROM (VALUES (m)) one (v)))) p (sums),
LATERAL (SELECT CASE WHEN d IS NULL OR d = 'NaN' THEN 0 ELSE abs(greatest(least(d, 128), -64)) * 8388608 END) e (expected);

-- A count and a sum: half of each part. Who has no value counts nothing there.
SELECT id, (SELECT (by_hand.numbers(dp_rdr.cells(laplace, CASE WHEN id < 1003 THEN true END, v)))[2] FROM (VALUES (n)) one (v)) AS laplace,
       (SELECT (by_hand.numbers(dp_rdr.cells(gaussian, CASE WHEN id < 1003 THEN true END, v)))[2] FROM (VALUES (n)) one (v)) AS gaussian
FROM point_values, LATERAL (SELECT spec_of_selection(0, by_hand.candidate(3, 5), by_hand.counts(), by_hand.sums(0, 128, 1, 128)),
                                   spec_of_selection(1, by_hand.candidate(3, 5), by_hand.counts(), by_hand.sums(0, 128, 1, 128))) s (laplace, gaussian)
WHERE id IN (-5, 0, 64, 128, 200) OR id > 1000 ORDER BY id;

-- All rows together have the sums of each.
SELECT (SELECT by_hand.numbers(dp_rdr.cells(spec, n)) FROM point_values) = ARRAY[count(*), sum(sums[2]), sum(sums[3])] AS same
FROM (SELECT spec_of_selection(0, by_hand.candidate(1, 0), by_hand.sums(-64, 100, 1, 100))) f (spec), point_values,
LATERAL (SELECT by_hand.numbers(dp_rdr.cells(spec, v)) FROM (VALUES (n)) one (v)) x (sums) GROUP BY spec;

-- Nothing but the library's own specifications, whoever calls.
SET ROLE regress_analyst;
SELECT dp_rdr.cells('\x00', 1);
SELECT dp_rdr.cells(NULL, 1);
SELECT dp_rdr.cells(decode(repeat('00', 168), 'hex'), 1);
SELECT dp_rdr.cells(decode(repeat('01', 168), 'hex'), 1);
SELECT dp_rdr.cells(decode(repeat('ff', 168), 'hex'), 1);
RESET ROLE;
SELECT dp_rdr.cells(spec_of_selection(0, by_hand.candidate(1, 0), by_hand.sums(0, 128, 1, 128)), 1, 2);
SELECT dp_rdr.cells(spec_of_selection(0, by_hand.candidate(1, 0), by_hand.sums(0, 128, 1, 0.5)), 1);
SELECT dp_rdr.cells(spec_of_selection(0, by_hand.candidate(1, 0), by_hand.sums(128, 0, 1, 128)), 1);
SELECT dp_rdr.cells(spec_of_selection(0, by_hand.candidate('NaN', 0), by_hand.sums(0, 128, 1, 128)), 1);
SELECT dp_rdr.cells(spec_of_selection(0, by_hand.candidate(1, -1), by_hand.sums(0, 128, 1, 128)), 1);
SELECT dp_rdr.cells(spec_of_selection(0, by_hand.candidate(1, 0), by_hand.sums(0, 128, 1, 128)), 'text'::text);
SELECT dp_rdr.cells(spec_of_selection(0, by_hand.candidate(1, 0), by_hand.grid(3, 1, 3)), 1);

DROP TABLE point_values;
DROP FUNCTION spec_of_selection;
