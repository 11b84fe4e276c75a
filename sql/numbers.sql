-- The digits of a numeric are read where they are stored. They make the same double as the server's own cast, whatever the
-- length of the number and however it is stored, and so the same point of a lattice.

CREATE FUNCTION numbers_spec(scale double precision) RETURNS bytea
    LANGUAGE sql IMMUTABLE RETURN by_hand.spec(by_hand.sums(-9223372036854775807, 9223372036854775807, scale));

CREATE TABLE numbers (v numeric);
ALTER TABLE numbers ALTER v SET STORAGE EXTERNAL;
INSERT INTO numbers
SELECT sign * digits * power(10::numeric, exponent)
FROM unnest('{1,-1}'::numeric[]) sign,
     unnest('{0,1,5,9,10,99,9999,10000,10001,99999999,123456789012,9007199254740991,9007199254740992,9007199254740993,
              9999999999999999,12345678901234567,123456789012345678901234567890,0.5,0.49999999999999994,2.5,1e-30}'::numeric[]) digits,
     generate_series(-40, 40) exponent;
SELECT setseed(0.25);
INSERT INTO numbers SELECT trunc(random()::numeric * power(10::numeric, i % 21), i % 9) FROM generate_series(1, 5000) i;
INSERT INTO numbers SELECT -trunc(random()::numeric * power(10::numeric, i % 21), i % 9) FROM generate_series(1, 5000) i;
-- Long ones: out of line, with a header of their own, and compressed.
INSERT INTO numbers SELECT ('1.' || repeat('7', n))::numeric FROM unnest('{20,300,3000,16000}'::integer[]) n;
ALTER TABLE numbers ALTER v SET STORAGE MAIN;
INSERT INTO numbers SELECT ('-1.' || repeat('7', n))::numeric FROM unnest('{20,300,3000,16000}'::integer[]) n;
SELECT count(*) AS numbers, count(*) FILTER (WHERE pg_column_size(v) > 2000) AS long FROM numbers;

SELECT scale, count(*) FILTER (WHERE (SELECT dp_rdr.cells(numbers_spec(scale), n) FROM (VALUES (v)) one (n))
                                     IS DISTINCT FROM (SELECT dp_rdr.cells(numbers_spec(scale), n) FROM (VALUES (v::double precision)) one (n))) AS different
FROM numbers, unnest('{1,1073741824,0.0009765625}'::double precision[]) scale GROUP BY scale ORDER BY scale;
SELECT left(v::text, 9) AS v, (SELECT by_hand.total(dp_rdr.cells(numbers_spec(1), n)) FROM (VALUES (v)) one (n)) AS point
FROM unnest('{NaN,Infinity,-Infinity,1e400,-1e400}'::numeric[]) v;

-- The aggregates return numerics as well, which are read in the same way. The noise of this answer is below one part in ten.
CREATE TABLE numbers_sums AS SELECT unnest('{1000000000000,1000000000000,1000000000000,-1000000000000}'::bigint[]) AS b;
SELECT dp_protect('numbers_sums', 'numbers_sums_dp'), dp_set_bounds('numbers_sums', 'b', -1000000000000, 1000000000000),
       dp_set_odometer('numbers_sums', 'none');
SELECT dp_grant('numbers_sums_dp', 'regress_analyst', tau => 0, epsilon_max => 100, candidates => '{100}');
SET ROLE regress_analyst;
SELECT round(s / 1e12) AS sum FROM dp_query('SELECT sum(b) FROM numbers_sums_dp') AS (s numeric);
SELECT round(2 * a / 1e12) AS twice_the_average FROM dp_query('SELECT avg(b) FROM numbers_sums_dp') AS (a numeric);
SELECT round(s / 1e12) AS negative FROM dp_query('SELECT sum(b) FILTER (WHERE b < 0) FROM numbers_sums_dp') AS (s numeric);
RESET ROLE;
SELECT dp_unprotect('numbers_sums_dp');

DROP TABLE numbers, numbers_sums;
DROP FUNCTION numbers_spec;
