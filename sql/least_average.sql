-- The least error of an average where the noise is much larger than the groups, and their averages lie close to the bounds: what
-- its parts are wrong by must not decide which groups are looked at (formulas.md, 1.2b).

LOAD 'dp_rdr';
CREATE TABLE edge AS
SELECT g, x FROM unnest(ARRAY[
    -0.999979606521, -0.999676304016, -0.999658944732, -0.999649757503, -0.999641067862, -0.999447686163,
    -0.999100219024, -0.998952230133, -0.998844979701, -0.998480600186, -0.997130405986, -0.996448393472,
    -0.991665875278, -0.9868089786, -0.986776716922, -0.984960312838, 0.399643805271, 0.43901343579, 0.442283712861,
    0.671135999812, 0.999999997539, 0.999999998784, 0.999999999572, 0.999999999683, 0.999999999744, 0.999999999853,
    0.999999999904, 0.999999999943, 0.999999999952, 0.999999999955, 0.9999999999555, 0.999999999982
]::float8[]) WITH ORDINALITY AS v (x, g), generate_series(1, 213);
INSERT INTO edge VALUES (0, 0);
SELECT dp_protect('edge', 'edge_dp'), dp_set_bounds('edge', 'x', -1, 1), dp_set_odometer('edge', 'none');
-- The row of group 0 is in no answer: its risk is what the noise alone makes.
CREATE FUNCTION noise_at_the_edge(condition text) RETURNS TABLE (epsilon numeric, noise float8) LANGUAGE sql AS $$
    SELECT epsilon, rdr_min FROM dp_risk(format('SELECT g, avg(x) FROM edge_dp WHERE g > 0 AND %s GROUP BY g', condition), '{1,0.02,0.002,0.0002,0.00002}', 'laplace', 1e-6)
$$;
SELECT a.epsilon, a.noise = e.noise AS is_the_least, round(a.noise::numeric, 6) AS noise
FROM noise_at_the_edge('true') a
     JOIN (SELECT n.epsilon, min(n.noise) AS noise FROM generate_series(1, 32) g, noise_at_the_edge('g + 0 = ' || g) n GROUP BY n.epsilon) e USING (epsilon)
ORDER BY epsilon;
SELECT dp_unprotect('edge_dp');
DROP TABLE edge;
DROP FUNCTION noise_at_the_edge;
