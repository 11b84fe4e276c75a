-- The 50 values of the papers' Figure 7 from dp_risk(calibration => 'published'): for each query, mechanism and tau the
-- largest candidate whose RDR_min / RDR_max is at least tau (to 1e-12: eight of the 50 are ties in real arithmetic).
-- Bounds: those of the data (capital_gain 0..99999, hours_per_week 1..99), all 32,561 rows.

CREATE TABLE figure7 (query text, mechanism text, tau float8, epsilon numeric);
INSERT INTO figure7 VALUES
    ('Q1', 'laplace',  0.95, 0.05), ('Q1', 'laplace',  0.75, 0.3),  ('Q1', 'laplace',  0.5, 1),
    ('Q1', 'laplace',  0.25, 3),    ('Q1', 'laplace',  0.05, 10),
    ('Q1', 'gaussian', 0.95, 2),    ('Q1', 'gaussian', 0.75, 5),    ('Q1', 'gaussian', 0.5, 10),
    ('Q1', 'gaussian', 0.25, 10),   ('Q1', 'gaussian', 0.05, 10),
    ('Q2', 'laplace',  0.95, 0.3),  ('Q2', 'laplace',  0.75, 2),    ('Q2', 'laplace',  0.5, 6),
    ('Q2', 'laplace',  0.25, 10),   ('Q2', 'laplace',  0.05, 10),
    ('Q2', 'gaussian', 0.95, 5),    ('Q2', 'gaussian', 0.75, 10),   ('Q2', 'gaussian', 0.5, 10),
    ('Q2', 'gaussian', 0.25, 10),   ('Q2', 'gaussian', 0.05, 10),
    ('Q3', 'laplace',  0.95, 0.05), ('Q3', 'laplace',  0.75, 0.3),  ('Q3', 'laplace',  0.5, 1),
    ('Q3', 'laplace',  0.25, 3),    ('Q3', 'laplace',  0.05, 10),
    ('Q3', 'gaussian', 0.95, 2),    ('Q3', 'gaussian', 0.75, 5),    ('Q3', 'gaussian', 0.5, 10),
    ('Q3', 'gaussian', 0.25, 10),   ('Q3', 'gaussian', 0.05, 10),
    ('Q4', 'laplace',  0.95, 0.01), ('Q4', 'laplace',  0.75, 0.07), ('Q4', 'laplace',  0.5, 0.2),
    ('Q4', 'laplace',  0.25, 0.6),  ('Q4', 'laplace',  0.05, 4),
    ('Q4', 'gaussian', 0.95, 0.4),  ('Q4', 'gaussian', 0.75, 1),    ('Q4', 'gaussian', 0.5, 2),
    ('Q4', 'gaussian', 0.25, 5),    ('Q4', 'gaussian', 0.05, 10),
    ('Q5', 'laplace',  0.95, 0.05), ('Q5', 'laplace',  0.75, 0.3),  ('Q5', 'laplace',  0.5, 1),
    ('Q5', 'laplace',  0.25, 3),    ('Q5', 'laplace',  0.05, 10),
    ('Q5', 'gaussian', 0.95, 2),    ('Q5', 'gaussian', 0.75, 5),    ('Q5', 'gaussian', 0.5, 10),
    ('Q5', 'gaussian', 0.25, 10),   ('Q5', 'gaussian', 0.05, 10);

CREATE TABLE figure7_risk AS
SELECT q.id, m.mechanism, r.*
FROM paper_query q, (VALUES ('laplace'), ('gaussian')) m (mechanism),
     LATERAL dp_risk(q.query, mechanism => m.mechanism, calibration => 'published') r;

CREATE VIEW figure7_found AS
SELECT r.id AS query, r.mechanism, t.tau, max(r.epsilon) FILTER (WHERE r.ratio >= t.tau - 1e-12) AS epsilon
FROM figure7_risk r, (SELECT DISTINCT tau FROM figure7) t
GROUP BY r.id, r.mechanism, t.tau;

-- The cells that differ.
SELECT query, mechanism, tau, e.epsilon AS expected, f.epsilon AS found
FROM figure7 e FULL JOIN figure7_found f USING (query, mechanism, tau)
WHERE e.epsilon IS DISTINCT FROM f.epsilon;
SELECT count(*) AS cells_that_agree FROM figure7 JOIN figure7_found USING (query, mechanism, tau, epsilon);

SELECT query, mechanism,
       max(epsilon) FILTER (WHERE tau = 0.95) AS "0.95", max(epsilon) FILTER (WHERE tau = 0.75) AS "0.75",
       max(epsilon) FILTER (WHERE tau = 0.5) AS "0.5", max(epsilon) FILTER (WHERE tau = 0.25) AS "0.25",
       max(epsilon) FILTER (WHERE tau = 0.05) AS "0.05"
FROM figure7_found GROUP BY query, mechanism ORDER BY query, mechanism DESC;

-- The ties: the ratio is tau itself.
SELECT query, tau, f.epsilon
FROM figure7_found f JOIN figure7_risk r ON r.id = f.query AND r.mechanism = f.mechanism AND r.epsilon = f.epsilon
WHERE abs(r.ratio - f.tau) < 1e-9
ORDER BY query, tau DESC;

-- Looking costs nothing.
SELECT account, epsilon, releases FROM dp_odometer('adult');

DROP VIEW figure7_found;
DROP TABLE figure7, figure7_risk;
