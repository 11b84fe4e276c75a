-- How often the interval of dp_low and dp_high holds the truth: ten thousand numbers of each kind, as analysts get them.
-- Of n = 10,000 draws that are covered with probability 0.95, a share below 0.936 or above 0.964 has probability below 1e-8 (Chernoff:
-- n KL(0.936 || 0.95) = 19), above 0.964 at 0.9515, the count's, below 1e-7. What covers more by its law (averages, counts of few) is
-- asked for the lower side alone. All of it fails by chance with probability below 5e-7.

LOAD 'dp_rdr';
ALTER SEQUENCE dp_rdr.ledger_row_id_seq RESTART WITH 46001;
SET ROLE regress_controller;
CREATE TABLE herd AS SELECT i % 10000 AS pen, i % 2500 AS yard, i % 100 AS age, (i % 100)::bigint AS tag, (i % 100 + 0.25)::numeric(6,2) AS price,
                            (i % 100)::numeric / 8 AS share, (i % 100)::real / 8 AS weight, (i % 100)::float8 / 8 AS rate
                     FROM generate_series(0, 19999) i WHERE i % 2500 <> 7; -- one empty pen in 2,500
SELECT dp_protect('herd', 'herd_dp');
SELECT dp_set_groups('herd', 'pen', (SELECT array_agg(i::text) FROM generate_series(0, 9999) i)),
       dp_set_groups('herd', 'yard', (SELECT array_agg(i::text) FROM generate_series(0, 2499) i)),
       dp_set_bounds('herd', 'age', 0, 100), dp_set_bounds('herd', 'tag', -7, 100), dp_set_bounds('herd', 'price', 0, 100.50),
       dp_set_bounds('herd', 'share', -1, 13), dp_set_bounds('herd', 'weight', 0, 12.5), dp_set_bounds('herd', 'rate', -0.5, 12.5);
SELECT dp_set_odometer('herd', 'none', delta_total => 0.9);
SELECT dp_grant('herd_dp', 'regress_analyst', tau => 0.95);
SELECT dp_grant('herd_dp', 'regress_second', tau => 0.99, mechanism => 'gaussian', delta => 1e-6);
GRANT SELECT ON herd TO PUBLIC; -- the truth, in this test alone
RESET ROLE;

-- Of the noise of one statement, or of several: how many numbers were drawn, whether low <= number <= high in all, and the share that is covered.
CREATE FUNCTION covered(aggregate text, key text = 'pen', times int = 1, beside text = 'NULL') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    n bigint := 0;
    held bigint := 0;
    now record;
    ordered boolean := true;
    share float8;
BEGIN
    FOR i IN 1 .. times LOOP
        EXECUTE format('SELECT count(*) AS n, count(*) FILTER (WHERE coalesce(t.truth, 0) BETWEEN a.low AND a.high) AS held, bool_and(a.value BETWEEN a.low AND a.high) AS ordered
                        FROM (SELECT %2$I AS key, %1$s AS value, dp_low(%1$s) AS low, dp_high(%1$s) AS high, %3$s AS beside FROM herd_dp GROUP BY %2$I) a
                        LEFT JOIN (SELECT %2$I AS key, %1$s AS truth FROM herd GROUP BY %2$I) t USING (key)
                        WHERE t.truth IS NOT NULL OR %1$L NOT LIKE ''avg%%''', aggregate, key, beside) INTO now;
        n := n + now.n;
        held := held + now.held;
        ordered := ordered AND now.ordered;
    END LOOP;
    share := held::float8 / n;
    RAISE LOG 'covered: % beside %: %', aggregate, beside, share;
    RETURN concat_ws(' ', round(n, -3), CASE WHEN ordered THEN 'ordered' END,
                     CASE WHEN share BETWEEN 0.936 AND 0.964 THEN 'covered' WHEN share > 0.964 THEN 'more than covered' ELSE 'not covered' END);
END $$;

SET ROLE regress_analyst;
SELECT a AS aggregate, covered(a) FROM unnest(array['count(*)', 'count(age)', 'sum(age)', 'sum(tag)', 'sum(price)', 'sum(share)', 'sum(weight)', 'sum(rate)']) WITH ORDINALITY u (a, i) ORDER BY i;
-- Of pairs: two coordinates for each group.
SELECT a AS aggregate, covered(a, 'yard', 4, 'avg(age)') FROM unnest(array['count(age)', 'sum(age)']) WITH ORDINALITY u (a, i) ORDER BY i;
SELECT covered('sum(rate)', 'yard', 4, 'avg(rate)') AS rate, covered('sum(share)', 'yard', 4, 'avg(share)') AS share, covered('sum(price)', 'yard', 4, 'avg(price)') AS price;
SELECT a AS aggregate, replace(covered(a, 'yard', 4), 'more than covered', 'covered') AS covered FROM unnest(array['avg(age)', 'avg(tag)', 'avg(price)', 'avg(weight)', 'avg(rate)']) WITH ORDINALITY u (a, i) ORDER BY i;
RESET ROLE;
SET ROLE regress_second;
-- Gaussian noise.
SELECT replace(covered('count(*)'), 'more than covered', 'covered') AS count;
SELECT a AS aggregate, covered(a) FROM unnest(array['sum(age)', 'sum(price)', 'sum(rate)']) WITH ORDINALITY u (a, i) ORDER BY i;
SELECT a AS aggregate, replace(covered(a, 'yard', 4), 'more than covered', 'covered') AS covered FROM unnest(array['avg(age)', 'avg(rate)']) WITH ORDINALITY u (a, i) ORDER BY i;
SELECT covered('sum(age)', 'yard', 4, 'avg(age)') AS sum, covered('count(age)', 'yard', 4, 'avg(age)') AS count;
RESET ROLE;

DROP FUNCTION covered(text, text, int, text);
SET ROLE regress_controller;
SET client_min_messages = error;
SELECT dp_unprotect('herd_dp');
DROP TABLE herd;
