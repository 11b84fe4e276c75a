-- Minimum, maximum and percentiles: whether a statement fails, or shows a number that is no draw, because of one row. The canary: age
-- 90, salary 73197319, height NaN, rate Infinity, beyond the bounds of the others.

-- A20 SHAPE
SELECT max(salary) FROM person_dp
SELECT min(salary), max(age) FROM person_dp
SELECT max(height) FROM person_dp
SELECT max(rate), min(rate) FROM person_dp
SELECT percentile_cont(1) WITHIN GROUP (ORDER BY salary) FROM person_dp
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY height) FROM person_dp
SELECT percentile_disc(0.999999999) WITHIN GROUP (ORDER BY rate DESC) FROM person_dp
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY height), count(*) FROM person_dp WHERE age = 90
SELECT max(salary) FILTER (WHERE age = 90) FROM person_dp
SELECT max(least(greatest(salary * 1000, 0), 1000)) FROM person_dp
SELECT max(least(greatest(100 / (age - 90), 0), 50)) FROM person_dp
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY least(greatest(note::integer, 0), 10)) FROM person_dp
SELECT sex, max(salary), percentile_cont(0.5) WITHIN GROUP (ORDER BY age) FROM person_dp GROUP BY sex
SELECT width_bucket(age, 0, 120, 4) AS bucket, max(age), min(salary) AS drawn FROM person_dp GROUP BY 1
SELECT max(cost), count(*) FROM visit_dp
SELECT ward, percentile_cont(0.5) WITHIN GROUP (ORDER BY price), percentile_disc(0) WITHIN GROUP (ORDER BY price) AS least FROM visit_dp GROUP BY ward
SELECT min(cost) FILTER (WHERE part <> 'x') FROM bill_dp
SELECT percentile_disc(ARRAY[0.5, NULL, 1]) WITHIN GROUP (ORDER BY salary), percentile_cont(ARRAY[0.1, 0.9]) WITHIN GROUP (ORDER BY height) FROM person_dp
SELECT sex, percentile_disc(ARRAY[0, 1]) WITHIN GROUP (ORDER BY rate) FROM person_dp WHERE age = 90 GROUP BY sex
SELECT avg(least(greatest(seen - born, interval '0'), interval '30000 days')), sum(least(greatest(seen - born, interval '0'), interval '1 day')) FROM person_dp
SELECT sex, dp_low(avg(CASE WHEN age = 90 THEN least(greatest(seen - born, interval '0'), interval '30000 days') END)) FROM person_dp GROUP BY sex
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY least(greatest(seen - born, interval '0'), interval '30000 days')) FROM person_dp WHERE age = 90

-- D02 SHAPE
SELECT max(salary) > 10000 AS beyond FROM person_dp
SELECT min(age) < 0 OR max(age) > 120 AS beyond FROM person_dp

-- C01 REFUSE 0A000|22003|22023|42501
SELECT percentile_disc(age / 100.0) WITHIN GROUP (ORDER BY salary) FROM person_dp GROUP BY age
SELECT max(cost), max(price) FROM visit_dp
SELECT percentile_disc(2) WITHIN GROUP (ORDER BY salary) FROM person_dp
SELECT percentile_disc(NULL) WITHIN GROUP (ORDER BY salary) FROM person_dp

-- A20 REFUSE 55000
SELECT city, max(salary) FROM person_dp GROUP BY city
