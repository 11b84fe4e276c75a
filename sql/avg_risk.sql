-- The risk of averages: how far the printed average moves without a record, against how far its noise moves it. What is
-- noisy is not printed; exact numbers come from leaving each row out in turn.

LOAD 'dp_rdr';
\set VERBOSITY terse
SET ROLE regress_controller;

-- ---------------------------------------------------------------------------------------------------------------------
-- The papers' data: near the published ratios 0.092, 0.503 and 0.953, and a stricter preference costs more noise
-- ---------------------------------------------------------------------------------------------------------------------

-- A copy: other files look at the odometer of adult.
CREATE TABLE gain AS SELECT capital_gain FROM adult;
SELECT dp_protect('gain', 'gain_dp'), dp_set_bounds('gain', 'capital_gain', 0, 99999), dp_set_odometer('gain', 'none', NULL, 0.5);
SELECT epsilon, round(s.ratio::numeric, 4) AS ratio, round(p.ratio::numeric, 4) AS published
FROM dp_risk('SELECT avg(capital_gain) FROM gain_dp', '{10,1,0.05}') s
JOIN dp_risk('SELECT avg(capital_gain) FROM gain_dp', '{10,1,0.05}', calibration => 'published') p USING (epsilon);
SELECT epsilon, round(ratio::numeric, 4) AS gaussian FROM dp_risk('SELECT avg(capital_gain) FROM gain_dp', '{10,1}', 'gaussian', 1e-6);

CREATE FUNCTION find(query text, tau float8, noise text = 'laplace', is_exact boolean = false, a text = NULL, b text = NULL, OUT epsilon numeric, OUT answer jsonb)
LANGUAGE plpgsql AS $$
BEGIN
    CALL dp_find_epsilon(query, tau, epsilon, answer, noise, 1e-6, exact => is_exact, group_a => a, group_b => b);
EXCEPTION WHEN raise_exception OR configuration_limit_exceeded THEN
    epsilon := NULL;
END $$;
SELECT tau, laplace.epsilon AS laplace, gaussian.epsilon AS gaussian, is_exact.epsilon AS exact
FROM unnest('{0,0.05,0.25,0.5,0.75,0.95,0.999,1}'::float8[]) tau,
     LATERAL find('SELECT avg(capital_gain) FROM gain_dp', tau) laplace,
     LATERAL find('SELECT avg(capital_gain) FROM gain_dp', tau, 'gaussian') gaussian,
     LATERAL find('SELECT avg(capital_gain) FROM gain_dp', tau, is_exact => true) is_exact
ORDER BY tau;
CALL dp_find_epsilon('SELECT avg(capital_gain) FROM gain_dp', 1, NULL, NULL);

-- ---------------------------------------------------------------------------------------------------------------------
-- Every row left out in turn
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE pay (id integer, v float8, g text, h text);
SELECT dp_protect('pay', 'pay_dp');
SELECT dp_set_bounds('pay', 'v', -2, 6), dp_set_groups('pay', 'g', '{a,b,empty}'), dp_set_odometer('pay', 'none', NULL, 0.5);
INSERT INTO pay SELECT id, CASE WHEN id % 7 > 0 THEN (id * 37 % 100) / 10.0 - 3 END, ('{a,a,b,c}'::text[])[1 + id % 4], 'h' || id % 3
FROM generate_series(1, 60) id;
INSERT INTO pay VALUES (61, 9, 'b', 'alone'), (62, 'NaN', 'a', 'h1'), (63, NULL, 'empty', 'h2');
CREATE VIEW clamped AS SELECT id, CASE WHEN v <> 'NaN' THEN least(greatest(v, -2), 6) END AS v, g, h FROM pay;
CREATE FUNCTION clamped(record jsonb) RETURNS float8 LANGUAGE sql AS $$ SELECT CASE WHEN v <> 'NaN' THEN least(greatest(v, -2), 6) END FROM (SELECT (record ->> 'v')::float8 AS v) r $$;

-- The mean of abs(clamp((w + Z1 - Z0) / max(1, n + Z1 + Z0)) - p), Z of scale b: a midpoint sum over quantiles.
CREATE FUNCTION mean_error(n float8, w float8, b float8) RETURNS float8 LANGUAGE sql AS $$
    WITH z AS (SELECT CASE WHEN q < 0.5 THEN b * ln(2 * q) ELSE -b * ln(2 - 2 * q) END AS z FROM (SELECT (i + 0.5) / 500.0::float8 AS q FROM generate_series(0, 499) i) u)
    SELECT avg(abs(least(greatest((w + x.z - y.z) / greatest(1, n + x.z + y.z), -1), 1) - w / greatest(n, 1))) FROM z x, z y $$;

-- One average: moves divided by half of the range, 4.
SELECT bool_and(abs(r.pis - e.pis) < 1e-9) AS pis, bool_and(abs(r.rdr - r.pis - n.noise) < 0.003 * n.noise) AS noise, count(*) AS records
FROM (SELECT DISTINCT v FROM clamped) c
JOIN LATERAL (SELECT abs((SELECT avg(v) FROM clamped) - (SELECT avg(v) FROM clamped WHERE id <> (SELECT min(id) FROM clamped x WHERE x.v IS NOT DISTINCT FROM c.v))) / 4 AS pis) e ON true
JOIN dp_risk_records('SELECT avg(v) FROM pay_dp', 0.5) r ON clamped(r.record) IS NOT DISTINCT FROM c.v,
     (SELECT mean_error(count(v), sum(v - 2) / 4, 1 / 0.5) AS noise FROM clamped) n;

-- Declared groups: the noise of all of them counts, of the empty one too. Discovered ones: the least of any.
SELECT bool_and(abs(r.rdr - r.pis - n.noise) < 0.003 * n.noise) AS declared
FROM dp_risk_records('SELECT g, avg(v) FROM pay_dp GROUP BY g', 0.5) r,
     (SELECT sum(mean_error(n, w, 1 / 0.5)) AS noise
      FROM (SELECT count(c.v) AS n, coalesce(sum(c.v - 2) / 4, 0) AS w FROM unnest('{a,b,empty}'::text[]) g LEFT JOIN clamped c USING (g) GROUP BY g) q) n;
SELECT bool_and(abs(r.rdr - r.pis - n.noise) < 0.003 * n.noise) AS discovered
FROM dp_risk_records('SELECT h, avg(v) FROM pay_dp GROUP BY h', 0.5, delta => 1e-6) r,
     (SELECT min(mean_error(n, w, 2 / 0.5)) + 1 / sinh(0.5 / 2) AS noise FROM (SELECT count(v) AS n, sum(v - 2) / 4 AS w FROM clamped GROUP BY h) q) n;

-- A count and a sum of one pair count as what is printed, too: 1, and the value divided by the largest.
SELECT bool_and(abs(r.pis - CASE WHEN c.v IS NULL THEN 0 ELSE 1 + abs(c.v) / 6 END) < 1e-9) AS pis, min(r.pis) < max(r.pis) AS not_blind
FROM dp_risk_records('SELECT count(v), sum(v) FROM pay_dp', 1) r, LATERAL (SELECT clamped(r.record) AS v) c;

-- The ratio that dp_risk shows is that of the records; exact is not above the bound; the search finds what dp_risk shows.
CREATE TABLE looked AS
SELECT q.query, m.mechanism, x.is_exact, k.*
FROM (VALUES ('SELECT avg(v) FROM pay_dp'), ('SELECT g, avg(v), count(*) FROM pay_dp WHERE id < 40 GROUP BY g'), ('SELECT h, sum(v), avg(v) FROM pay_dp GROUP BY h'),
             ('SELECT count(v), sum(v) FROM pay_dp')) q (query), (VALUES ('laplace'), ('gaussian')) m (mechanism), (VALUES (false), (true)) x (is_exact),
     LATERAL dp_risk(q.query, '{8,3,1,0.3,0.05}', m.mechanism, 1e-6, exact => x.is_exact) k
WHERE NOT x.is_exact OR m.mechanism = 'laplace' OR q.query = 'SELECT avg(v) FROM pay_dp';
SELECT count(*) AS looks, bool_and(abs(k.rdr_min - r.low) < 1e-9 AND abs(k.rdr_max - r.high) < 1e-9) AS extremes, bool_and(abs(k.variance - r.variance) < 1e-9) AS variance
FROM looked k, LATERAL (SELECT min(rdr) AS low, max(rdr) AS high, sum(individuals * (rdr / high - mean) ^ 2) / sum(individuals) AS variance
                        FROM (SELECT *, sum(individuals * rdr / high) OVER () / sum(individuals) OVER () AS mean
                              FROM (SELECT *, max(rdr) OVER () AS high FROM dp_risk_records(k.query, k.epsilon, k.mechanism, 1e-6, exact => k.is_exact)) r) r) r
WHERE k.epsilon IN (3, 0.3);
SELECT count(*) AS compared, bool_and(e.rdr_max <= b.rdr_max + 1e-9) AS not_above
FROM looked e JOIN looked b USING (query, mechanism, epsilon) WHERE e.is_exact AND NOT b.is_exact AND mechanism = 'laplace';
SELECT bool_and(ratio > lag) AS ratio_falls FROM (SELECT ratio, lag(ratio) OVER (PARTITION BY query, mechanism ORDER BY epsilon DESC) AS lag FROM looked WHERE NOT is_exact) q;
SELECT count(*) AS searches, count(*) FILTER (WHERE f.epsilon IS DISTINCT FROM e.epsilon) AS wrong
FROM (SELECT DISTINCT query, mechanism, is_exact FROM looked) q, (VALUES (0.1::float8), (0.4), (0.8)) t (tau),
     LATERAL (SELECT max(epsilon) AS epsilon FROM dp_risk(q.query, mechanism => q.mechanism, delta => 1e-6, exact => q.is_exact) WHERE ratio >= tau) e,
     LATERAL find(q.query, t.tau, q.mechanism, q.is_exact) f;
SELECT attempt($$SELECT * FROM dp_risk('SELECT avg(v), count(*) FROM pay_dp', mechanism => 'gaussian', delta => 1e-6, exact => true)$$);

-- Two groups of people: the medians of what the average moves by.
SELECT tau, f.epsilon, e.epsilon AS by_hand
FROM (VALUES (0.2::float8), (0.5), (0.9)) t (tau), LATERAL find('SELECT avg(v) FROM pay_dp', tau, a => 'id <= 20', b => 'id > 20 AND v > 4') f,
     LATERAL (SELECT max(k.epsilon) AS epsilon
              FROM (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY pis) FILTER (WHERE id <= 20) AS a, percentile_disc(0.5) WITHIN GROUP (ORDER BY pis) FILTER (WHERE id > 20 AND raw > 4 AND raw <> 'NaN' OR id = 62) AS b
                    FROM (SELECT p.id, p.v AS raw, coalesce(abs((SELECT avg(v) FROM clamped) - (SELECT avg(v) FROM clamped o WHERE o.id <> p.id)), 0) / 4 AS pis FROM pay p) p) m,
                   LATERAL (SELECT epsilon, rdr_min AS noise FROM dp_risk('SELECT avg(v) FROM pay_dp')) k
              WHERE least(m.a, m.b) + k.noise - (SELECT min(pis) FROM dp_risk_records('SELECT avg(v) FROM pay_dp', 1)) >= tau * (greatest(m.a, m.b) + k.noise - (SELECT min(pis) FROM dp_risk_records('SELECT avg(v) FROM pay_dp', 1)))) e;

-- ---------------------------------------------------------------------------------------------------------------------
-- Equal risks, and the selection by tau_var
-- ---------------------------------------------------------------------------------------------------------------------

SELECT min(ratio) AS ratio FROM dp_risk_summary('SELECT count(*) FROM pay_dp');
SELECT min(ratio) < 1 AS ratio FROM dp_risk_summary('SELECT avg(v) FROM pay_dp');

\set VERBOSITY default
SELECT * FROM dp_risk('SELECT avg(v) FROM pay_dp', tau_var => 0.01);
CALL dp_find_and_release_epsilon('SELECT avg(v) FROM pay_dp', 0.01, 1, NULL, NULL);
CALL dp_find_and_release_epsilon('SELECT count(v), sum(v) FROM pay_dp', 0.01, 1, NULL, NULL);
\set VERBOSITY terse
GRANT SELECT ON pay_dp TO regress_analyst;
SELECT dp_grant('pay_dp', 'regress_analyst', tau_var => 0.01, selection => 'released', epsilon_svt => 0.1);
SELECT count(*) AS charges FROM dp_rdr.ledger WHERE relation = 'public.pay' AND algorithm IN ('released', 'find_and_release');
SET ROLE regress_analyst;
SELECT attempt('SELECT avg(v) FROM pay_dp'), attempt('SELECT g, sum(v), count(v) FROM pay_dp GROUP BY g');
SELECT attempt($$SELECT * FROM dp_explain('SELECT avg(v) FROM pay_dp')$$);
SELECT attempt('SELECT sum(v) FROM pay_dp'), attempt('SELECT count(v) FROM pay_dp');
-- A count of everybody: no variance, so the largest candidate up to epsilon_max (1 by default) is selected, and no more.
SELECT attempt('SELECT count(*) FROM pay_dp');
RESET ROLE;
SET ROLE regress_controller;
SELECT max(epsilon) <= 1 AS bounded_by_epsilon_max FROM dp_rdr.ledger WHERE relation = 'public.pay' AND algorithm = 'released';

-- Groups that nobody declared: the zCDP of the row holds but for an event of probability delta_groups.
SELECT dp_grant('pay_dp', 'regress_analyst', tau => 0.5, delta => 1e-6);
SET ROLE regress_analyst;
SELECT h, count(*) IS NULL AS n FROM pay_dp GROUP BY h HAVING count(*) < -1000;
SELECT count(*) IS NULL AS n FROM pay_dp;
RESET ROLE;
SET ROLE regress_controller;
SELECT delta_groups > 0 AS thresholded, rho > 0 AS rho, guarantee FROM dp_rdr.ledger WHERE relation = 'public.pay' AND algorithm = 'within_domain' ORDER BY id;

-- The papers' numbers need no delta, whatever nobody declared.
SELECT count(*) > 0 AS published FROM dp_risk('SELECT h, count(*) FROM pay_dp GROUP BY h', calibration => 'published');
SELECT count(*) > 0 AS published FROM dp_risk('SELECT h, avg(v) FROM pay_dp GROUP BY h', mechanism => 'gaussian', calibration => 'published', exact => true);
SELECT count(*) > 0 AS published FROM dp_risk_records('SELECT h, count(*) FROM pay_dp GROUP BY h', 1, calibration => 'published');

SELECT dp_unprotect('pay_dp'), dp_unprotect('gain_dp');
DROP FUNCTION find, mean_error, clamped;
DROP TABLE pay, gain, looked CASCADE;
RESET ROLE;
