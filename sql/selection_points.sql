-- What a selection adds up where other nodes keep the rows: points and their squares, one candidate at a time (formulas.md 3.4).
\set VERBOSITY terse
CREATE FUNCTION measure(is_sum integer, counts_nan integer, lower bigint, upper bigint, sensitivity float8) RETURNS bytea
RETURN int8send(is_sum) || int8send(counts_nan) || float8send(1) || int8send(lower) || int8send(upper) || float8send(sensitivity);
CREATE FUNCTION candidate(noise float8, lowest bigint) RETURNS bytea RETURN float8send(noise) || int8send(lowest);
CREATE FUNCTION facts(gaussian integer, measures integer) RETURNS bytea
RETURN int8send(gaussian) || int8send(measures) || int8send(1);
CREATE TABLE point_values AS SELECT i AS id, i AS n, i::float8 AS d, i::numeric AS m FROM generate_series(-200, 200) i;
INSERT INTO point_values VALUES (1001, NULL, NULL, NULL), (1002, 2147483647, 'Infinity', 'Infinity'), (1003, 0, 'NaN', 'NaN');

-- A sum with bounds [-64, 128]: |clamped| / 128, in units of 2^-30.
SELECT count(*) AS rows, count(*) FILTER (WHERE point = expected) AS points, count(*) FILTER (WHERE square = point * point) AS squares
FROM point_values, LATERAL (SELECT facts(0, 1) || measure(1, 0, -64, 128, 128) || candidate(1, 0)) f (facts),
LATERAL (VALUES (dp_rdr.selection_point(facts, n), dp_rdr.selection_square(facts, n)),
                (dp_rdr.selection_point(facts, d), dp_rdr.selection_square(facts, d)),
                (dp_rdr.selection_point(facts, m), dp_rdr.selection_square(facts, m))) p (point, square),
LATERAL (SELECT CASE WHEN d IS NULL OR d = 'NaN' THEN 0 ELSE abs(greatest(least(d, 128), -64)) * 8388608 END) e (expected);

-- A count and a sum: half of each part. Who has no value counts nothing there.
SELECT id, dp_rdr.selection_point(facts, CASE WHEN id < 1003 THEN true END, n) AS laplace,
       dp_rdr.selection_point(overlay(facts PLACING '\x01' FROM 8), CASE WHEN id < 1003 THEN true END, n) AS gaussian
FROM point_values, LATERAL (SELECT facts(0, 2) || measure(0, 1, 0, 0, 1) || measure(1, 0, 0, 128, 128) || candidate(3, 5)) f (facts)
WHERE id IN (-5, 0, 64, 128, 200) OR id > 1000 ORDER BY id;

-- The aggregate of one server has the same sums in its state: rows, width, sum, sum of squares, each number's lowest byte first.
CREATE FUNCTION number_at(state bytea, place integer, size integer) RETURNS numeric
RETURN (SELECT sum(get_byte(state, place + i) * 256::numeric ^ i) FROM generate_series(0, size - 1) i);
SELECT number_at(state, 0, 8) = rows AS rows, number_at(state, 16, 16) = s1 AS s1, number_at(state, 32, 16) = s2 AS s2
FROM (SELECT dp_rdr.selection_sums(facts, n), count(*), sum(dp_rdr.selection_point(facts, n)), sum(dp_rdr.selection_square(facts, n))
      FROM point_values, LATERAL (SELECT facts(0, 1) || measure(1, 0, -64, 100, 100) || candidate(1, 0)) f (facts)) x (state, rows, s1, s2);

-- Nothing but the library's own facts, whoever calls.
SET ROLE regress_analyst;
SELECT dp_rdr.selection_point('\x00', 1);
SELECT dp_rdr.selection_square(NULL, 1);
SELECT dp_rdr.selection_point(decode(repeat('00', 88), 'hex'), 1);
SELECT dp_rdr.selection_point(decode(repeat('01', 88), 'hex'), 1);
SELECT dp_rdr.selection_point(decode(repeat('ff', 88), 'hex'), 1);
RESET ROLE;
SELECT dp_rdr.selection_point(facts(0, 1) || measure(1, 0, 0, 128, 128) || candidate(1, 0), 1, 2);
SELECT dp_rdr.selection_point(facts(0, 1) || measure(1, 0, 0, 128, 0.5) || candidate(1, 0), 1);
SELECT dp_rdr.selection_point(facts(0, 1) || measure(1, 0, 128, 0, 128) || candidate(1, 0), 1);
SELECT dp_rdr.selection_point(facts(0, 1) || measure(1, 0, 0, 128, 128) || candidate('NaN', 0), 1);
SELECT dp_rdr.selection_point(facts(0, 1) || measure(1, 0, 0, 128, 128) || candidate(1, -1), 1);
SELECT dp_rdr.selection_point(facts(0, 1) || measure(1, 0, 0, 128, 128) || candidate(1, 0), 'text'::text);

DROP TABLE point_values;
DROP FUNCTION number_at(bytea, integer, integer), measure(integer, integer, bigint, bigint, float8), candidate(float8, bigint), facts(integer, integer);
