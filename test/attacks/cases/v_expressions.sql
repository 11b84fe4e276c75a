-- Sums, averages and variances of expressions, and groups of key expressions: whether a statement fails, how large its noise is or
-- which groups it shows because of one row. The canary: age 90, salary 73197319, height NaN, rate Infinity, born 1871, seen infinity.

-- D02 SHAPE
SELECT sum(salary * salary) FROM person_dp
SELECT sum(salary * 1000) FROM person_dp
SELECT sum(CASE WHEN age = 90 THEN 1000000 ELSE 0 END) FROM person_dp
SELECT sum(salary * salary * salary * salary) FROM person_dp
SELECT avg(salary + 2147483647) FROM person_dp
SELECT sum(salary / (age - 90)) FROM person_dp
SELECT sum(100 / nullif(age - 90, 0)) FROM person_dp
SELECT sum(salary % (age - 90)) FROM person_dp
SELECT stddev(salary), var_pop(height), variance(rate) FROM person_dp
SELECT stddev_pop(height * height), count(height * height), avg(height * height) FROM person_dp
SELECT sex, stddev(salary), sum(salary) FROM person_dp GROUP BY sex

-- C01 SHAPE
SELECT avg(height::integer) FROM person_dp
SELECT avg(height::numeric) FROM person_dp
SELECT sum(rate::integer) FROM person_dp
SELECT sum(rate * rate), sum(round(rate, 2)), sum(rate / 3) FROM person_dp
SELECT sum(height * 1e290) FROM person_dp
SELECT sum(least(greatest(height * 1e308 * 1e308, -5), 5)) FROM person_dp
SELECT sum(least(greatest(note::integer, 0), 10)) FROM person_dp
SELECT sum(least(greatest(note::float8, 0), 10)), sum(least(greatest(substr(note, 6)::numeric, 0), 10)) FROM person_dp
SELECT avg(least(greatest(extract(year FROM seen), 0), 3000)) FROM person_dp
SELECT avg(least(greatest(extract(epoch FROM seen), 0), 3000)), avg(extract(month FROM seen)) FROM person_dp
SELECT avg(least(greatest(date '2024-01-01' - seen::date, 0), 36500)) FROM person_dp
SELECT avg(least(greatest(date '2024-01-01' - born, 0), 36500)) FROM person_dp
SELECT sum(length(left(note, 100))), sum(width_bucket(height, 50, 250, 4)), sum(width_bucket(rate, 0, 1, 4)) FROM person_dp
SELECT sum(member::integer), sum((salary > 5000)::integer), sum(coalesce(age, 0)) FROM person_dp
SELECT sum(CASE WHEN id = 4242 THEN 1 / (age - 90) ELSE 0 END) FROM person_dp

-- C02 NOLEAK
SELECT sum(born - date '2000-01-01') FROM person_dp
SELECT sum(height * 1e300) FROM person_dp
SELECT sum(id * 2) FROM person_dp
SELECT sum(height / (age - 90)) FROM person_dp
SELECT sum(1 / (rate - rate)) FROM person_dp
SELECT avg(extract(year FROM born)) FROM person_dp
SELECT sum(1 / 0) FROM person_dp WHERE id = 4242
SELECT sum(CASE WHEN note LIKE 'xyzzy%' THEN 1 / 0 ELSE 0 END) FROM person_dp

-- C13 NOLEAK
SELECT sum(CASE WHEN id = 4242 AND age > 21 THEN length(left(repeat('a', 60000), 60000)) ELSE 0 END) FROM person_dp
SELECT sum(CASE WHEN upper(lower(upper(lower(note)))) LIKE '%a_a_a_a_a_b%' THEN 1 ELSE 0 END), stddev(length(left(upper(note), 9))) FROM person_dp
SELECT stddev(round(rate / 7 / 7 / 7 / 7 / 7 / 7 / 7 / 7 / 7 / 7 / 7 / 7 / 7 / 7 / 7 / 7 / 7 / 7 / 7 / 7 / 7 / 7 / 7 / 7 / 7 / 7 / 7 / 7 / 7 / 7, 3)) FROM person_dp

-- D09 SHAPE
SELECT extract(month FROM born) AS k, count(*) FROM person_dp GROUP BY 1
SELECT extract(dow FROM seen) AS k, avg(salary) FROM person_dp GROUP BY 1
SELECT width_bucket(height, 50, 250, 4) AS k, count(*) FROM person_dp GROUP BY 1
SELECT width_bucket(rate, 0, 1, 4) AS k, count(height) FROM person_dp GROUP BY 1
SELECT 100 / (age - 90) AS k, count(*) FROM person_dp GROUP BY 1
SELECT CASE WHEN note LIKE 'xyzzy%' THEN 'a' WHEN id = 4242 THEN 'b' ELSE 'c' END AS k, count(*) FROM person_dp GROUP BY 1
SELECT id = 4242 AS k, count(*) FROM person_dp GROUP BY 1
SELECT note::integer > 5 AS k, count(*) FROM person_dp GROUP BY 1
SELECT upper(sex) AS k, count(*) FROM person_dp GROUP BY 1
SELECT mood::text || sex AS k, count(*) FROM person_dp GROUP BY 1
SELECT salary > 10000 AS k, sum(salary) FROM person_dp WHERE age = 90 GROUP BY 1
SELECT coalesce(sex, 'none') AS k, member, count(*) FROM person_dp GROUP BY 1, 2
SELECT id % 7 AS k, count(*) FROM person_dp GROUP BY 1

-- D09 NOLEAK
SELECT left(city, 3) AS k, count(*) FROM person_dp GROUP BY 1
SELECT date_trunc('year', born) AS k, count(*) FROM person_dp GROUP BY 1
SELECT salary / 1000 AS k, count(*) FROM person_dp GROUP BY 1
finder> SELECT left(city, 3) AS k, count(*) FROM person_dp GROUP BY 1

-- D04 NOCHARGE
SELECT id = 4242 AS k FROM person_dp GROUP BY 1
SELECT CASE WHEN note LIKE 'xyzzy%' THEN 'a' ELSE 'b' END AS k FROM person_dp GROUP BY 1
SELECT DISTINCT extract(month FROM born) FROM person_dp

-- B09 CHARGED 2
SELECT sum(salary * 3) FROM person_again WHERE age < 33
  SELECT sum(salary * 3) FROM person_again WHERE age < 33
  SELECT sum(salary * 4) FROM person_again WHERE age < 33
SELECT stddev(salary) FROM person_again WHERE age < 34
  SELECT variance(salary), avg(salary) FROM person_again WHERE age < 34
  SELECT stddev(salary + 1) FROM person_again WHERE age < 34

-- D08 REFUSE 0A000
selector> SELECT stddev(salary) FROM person_dp
SELECT * FROM dp_query('SELECT variance(salary) FROM person_dp', within => 0.5) AS (v numeric)
SELECT * FROM dp_query('SELECT variance(salary) FROM person_dp', error95 => 5) AS (v numeric)
