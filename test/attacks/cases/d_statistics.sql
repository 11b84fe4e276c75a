-- Statements whose answer would move by more than one person's share, or that tell what noise was meant to hide.

-- D01 REFUSE 0A000|42501
SELECT count(*) FROM person_dp, generate_series(1, 1000)
SELECT count(*) FROM person_dp a, person_dp b
SELECT count(*) FROM person_dp a JOIN person_dp b USING (age)
SELECT count(*) FROM person_dp NATURAL JOIN public_city
SELECT count(*) FROM person_dp a FULL JOIN public_city b ON a.age = b.age
SELECT sum(salary) FROM person_dp CROSS JOIN unnest(ARRAY[1, 2, 3])
SELECT count(*) FROM (SELECT age FROM person_dp UNION ALL SELECT age FROM person_dp) u
SELECT count(*) FROM person_dp p, LATERAL generate_series(1, p.age) g
SELECT count(*) FROM person_dp p LEFT JOIN LATERAL (VALUES (1), (2)) v (x) ON true
SELECT count(*) FROM (SELECT p.age FROM person_dp p, generate_series(1, 10)) q
WITH w AS (SELECT age FROM person_dp) SELECT count(*) FROM w a, w b
SELECT count(*) FROM ROWS FROM (generate_series(1, 10), generate_series(1, 20)) r, person_dp

-- D02 NOLEAK
SELECT sum(CASE WHEN id = 4242 THEN 1e12 ELSE 0 END) FROM person_dp
SELECT sum(CASE WHEN id = 4242 THEN salary * 1000 END) FROM person_dp
SELECT sum(salary * salary) FROM person_dp
SELECT sum(x) FROM (SELECT salary * 1000 AS x FROM person_dp) q
SELECT sum(least(salary, 5)) FROM person_dp

-- D02 REFUSE 0A000|42501|55000
SELECT sum(unnest(ARRAY[salary, salary])) FROM person_dp
SELECT count(generate_series(1, 1000)) FROM person_dp
SELECT count(*) FROM (SELECT generate_series(1, 1000), age FROM person_dp) q
SELECT sum(g) FROM (SELECT unnest(ARRAY[salary, 1000000]) AS g FROM person_dp) q
SELECT count(*) FROM person_dp WHERE generate_series(1, 2) = 1
SELECT sum(id) FROM person_dp
SELECT generate_series(1, 1000), count(age) FROM person_dp GROUP BY age, generate_series(1, 3)

-- D03 CHARGED 2
SELECT (SELECT sum(salary) FROM person_dp) - (SELECT sum(salary) FROM person_dp WHERE id <> 4242)
SELECT sum(salary) FROM person_dp
  SELECT sum(salary) FROM person_dp WHERE id <> 4242

-- D03 SHAPE
SELECT sum(salary) - sum(salary) FILTER (WHERE id <> 4242) FROM person_dp

-- D04 SHAPE
SELECT count(*) FROM person_dp WHERE id = 4242
SELECT count(*), avg(salary) FROM person_dp WHERE note = 'note 4242' OR id = 4242
SELECT id, count(*) FROM person_dp WHERE id = 4242 GROUP BY id ORDER BY id OFFSET 4230 LIMIT 20
SELECT age, sum(salary) FROM person_dp GROUP BY age ORDER BY age

-- D05 FRESH 4
SELECT count(*) FROM person_dp WHERE id = 4242
  SELECT count(*) FROM person_dp WHERE id = 4242
  SELECT count(*) FROM person_dp WHERE 4242 = id
  SELECT count(*) FROM person_dp WHERE id IN (4242)

-- D06 CHARGED 1
SELECT count(*), count(*) FILTER (WHERE age = 90), count(note), count(city), count(born) FROM person_dp

-- D07 CHARGED 1
SELECT avg(salary) FROM person_dp WHERE id = 4242

-- D07 SAME
CREATE TEMP TABLE own AS SELECT avg(salary) BETWEEN 0 AND 10000 AS inside, avg(height) BETWEEN 50 AND 250 AS within FROM person_dp WHERE id = 4242
  SELECT * FROM own

-- D08 CHARGED 3
SELECT count(*) FROM person_dp UNION ALL SELECT count(*) FROM person_dp UNION ALL SELECT count(*) FROM person_dp

-- D09 CHARGED 4
SELECT sex, count(*) FROM person_dp GROUP BY CUBE (sex, mood)

-- D09 CHARGED 2
SELECT sex, count(*) FROM person_dp GROUP BY ROLLUP (sex), mood

-- D09 CHARGED 2
SELECT grouping(sex), count(*) FROM person_dp GROUP BY GROUPING SETS (sex, ())

-- D09 REFUSE 0A000
SELECT sex, count(*) FROM person_dp GROUP BY GROUPING SETS ((sex), (sex))
SELECT sex, count(*) FROM person_dp GROUP BY ROLLUP (sex), ROLLUP (sex)

-- D11 CHARGED 2
controller> SELECT dp_set_odometer('scarce', 'filter', (SELECT epsilon + 0.1 FROM dp_odometer('scarce') WHERE account = 'public'))
  SELECT count(*) FROM scarce_dp
  colleague> SELECT count(*) FROM scarce_dp
  ! SELECT count(*) FROM scarce_dp WHERE age = 90

-- D11 REFUSE 53400
controller> SELECT dp_set_odometer('scarce', 'filter', (SELECT epsilon + 0.04 FROM dp_odometer('scarce') WHERE account = 'public'))
  SELECT count(*) FROM scarce_dp
controller> SELECT dp_set_odometer('scarce', 'filter', (SELECT epsilon + 0.04 FROM dp_odometer('scarce') WHERE account = 'public'))
  colleague> SELECT count(*) FROM scarce_dp WHERE age IS NULL
controller> SELECT dp_set_odometer('scarce', 'filter', (SELECT epsilon + 0.04 FROM dp_odometer('scarce') WHERE account = 'public'))
  SELECT * FROM dp_query('SELECT count(*) FROM scarce_dp', 0.040000001) AS (n bigint)
controller> SELECT dp_set_odometer('scarce', 'filter', (SELECT epsilon + 0.04 FROM dp_odometer('scarce') WHERE account = 'public'))
  BEGIN
  SELECT count(*) FROM scarce_dp WHERE note = 'a'

-- D11 CHARGED 2
controller> SELECT dp_set_odometer('scarce', 'zcdp', 0.1, 0.000001)
  SELECT count(*) FROM scarce_dp
  colleague> SELECT count(*) FROM scarce_dp
  ! SELECT count(*) FROM scarce_dp WHERE age = 90
  SELECT accepted, reason FROM dp_explain('SELECT count(*) FROM scarce_dp WHERE age = 90')
  controller> SELECT dp_set_odometer('scarce', 'filter', 0, 0.01)
  ! SELECT count(*) FROM scarce_dp WHERE age = 90

-- D12 REFUSE 0A000|42501
SELECT count(DISTINCT (city, age)) FROM person_dp
SELECT avg(DISTINCT salary) FROM person_dp
SELECT sum(salary ORDER BY id) FROM person_dp
SELECT count(*) FROM person_dp WHERE EXISTS (SELECT FROM public_city c WHERE c.city = person_dp.city)
SELECT count(*) FROM (SELECT * FROM person_dp ORDER BY age DESC LIMIT 1) q WHERE id = 4242
SELECT count(*) FROM (SELECT * FROM person_dp OFFSET 1000) q
SELECT count(*) FROM (SELECT age FROM person_dp GROUP BY age HAVING bool_or(id = 4242)) q
SELECT (SELECT count(*) FROM person_dp p WHERE p.age = c.age) FROM public_city c

-- D13 REFUSE 0A000|42501
CREATE TEMP TABLE own AS SELECT 4242 AS id FROM generate_series(1, 1000)
  SELECT count(*) FROM person_dp JOIN own USING (id)
CREATE TEMP TABLE own AS SELECT 4242 AS id FROM generate_series(1, 1000)
  SELECT sum(p.salary) FROM own LEFT JOIN person_dp p USING (id)
CREATE TEMP TABLE own AS SELECT 4242 AS id
  SELECT count(*) FROM (SELECT p.* FROM person_dp p JOIN own o ON p.id = o.id) q

-- D15 REFUSE 55000
SELECT sum(id) FROM person_dp
SELECT avg(id) FROM person_dp

-- D17 REFUSE 22023
controller> SELECT dp_grant('person_dp', 'attack_stranger', tau => 0.5, candidates => '{0.1,Infinity}')
controller> SELECT dp_grant('person_dp', 'attack_stranger', tau => 0.5, candidates => '{0.1,NaN}')
controller> SELECT dp_grant('person_dp', 'attack_stranger', tau => 0.5, candidates => '{0.1,-1}')
controller> SELECT dp_grant('person_dp', 'attack_stranger', tau => 0.5, candidates => '{101}')
controller> SELECT dp_grant('person_dp', 'attack_stranger', tau => 0.5, candidates => '{0.1,0.1}')
controller> SELECT dp_grant('person_dp', 'attack_stranger', tau => 0.5, candidates => '{0.1,NULL}')
controller> SELECT dp_grant('person_dp', 'attack_stranger', tau => 0.5, candidates => (SELECT array_agg(g) FROM generate_series(1, 1000000) g))

-- D18 REFUSE 22023
controller> SELECT dp_grant('person_dp', 'attack_stranger', tau => 'NaN')
controller> SELECT dp_grant('person_dp', 'attack_stranger', tau => 1.1)
controller> SELECT dp_grant('person_dp', 'attack_stranger', tau => -0.1)
controller> SELECT dp_grant('person_dp', 'attack_stranger')
controller> SELECT dp_grant('person_dp', 'attack_stranger', tau => 0.5, tau_var => 0.1)

-- D20 CHARGED 2
SELECT count(*) FROM person_dp
  controller> BEGIN
  controller> INSERT INTO person SELECT 5000
  SELECT count(*) FROM person_dp
  controller> ROLLBACK

-- D21 SHAPE
SELECT count(*) FROM person_dp WHERE false
SELECT sum(salary), avg(height) FROM person_dp WHERE id IS NULL
SELECT sex, count(*) FROM person_dp WHERE NULL GROUP BY sex
SELECT count(*) FROM person_dp WHERE age > 1000000

-- D21 FRESH 4
SELECT count(*) FROM person_dp WHERE false
  SELECT count(*) FROM person_dp WHERE false
  SELECT count(*) FROM person_dp WHERE id IS NULL
  SELECT sum(salary) FROM person_dp WHERE 1 = 0

-- D22 SHAPE
SELECT count(*), count(member), count(note) FROM person_dp
SELECT member, count(*) FROM person_dp GROUP BY member

-- D22 NOLEAK
SELECT count(NULL), count(*) FROM person_dp
SELECT count(NULL::integer) FROM person_dp WHERE id = 4242
SELECT NULL, count(*) FROM person_dp GROUP BY 1
SELECT count(*) FROM person_dp GROUP BY ()

-- D23 SHAPE
SELECT greatest(count(*), 0) FROM person_dp WHERE id = 4242

-- D26 REFUSE 54000
SELECT id, age, count(*) FROM person_dp GROUP BY id, age
SELECT id, count(*), sum(salary), avg(height) FROM person_dp GROUP BY id

-- D10 REFUSE 0A000
selector> SELECT avg(salary), sum(height) FROM person_dp

-- D10 SHAPE
selector> SELECT count(*) FROM person_dp
selector> SELECT sum(salary), sum(height) FROM person_dp
selector> SELECT sex, count(*) FROM person_dp WHERE id = 4242 GROUP BY sex
selector> SELECT * FROM dp_query('SELECT count(*) FROM person_dp', epsilon => 0.6, weight => 2) AS (n bigint)
selector> EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT count(*) FROM person_dp

-- How many numbers are noise follows from what was released: the columns that do not are compared.
-- D10 SAME
selector> SELECT count(*) FROM person_dp
  selector> SELECT * FROM dp_last_release()
selector> SELECT * FROM dp_explain('SELECT count(*), sum(salary) FROM person_dp WHERE id = 4242')
selector> SELECT * FROM dp_last_release()
SELECT count(*), sum(salary) FROM person_dp WHERE id = 4242
  SELECT column_name, epsilon, epsilon_svt, delta, mechanism, error95, reason, rho, steps, reached, posterior50, numbers, rows_hidden FROM dp_last_release()
SELECT column_name, epsilon, epsilon_svt, delta, mechanism, error95, reason, rho, steps, reached, posterior50, numbers, rows_hidden FROM dp_last_release()

-- D10 NOCHARGE
selector> EXPLAIN SELECT count(*) FROM person_dp
selector> SELECT count(*) FROM person_dp LIMIT 0

-- D18 REFUSE 22023
SELECT * FROM dp_query('SELECT count(*) FROM person_dp', weight => 'NaN') AS (n bigint)
SELECT * FROM dp_query('SELECT count(*) FROM person_dp', weight => 'Infinity') AS (n bigint)
SELECT * FROM dp_query('SELECT count(*) FROM person_dp', weight => -1) AS (n bigint)

-- D18 SAME
SELECT count(*) FROM dp_query('SELECT count(*) FROM person_dp', weight => 1e300) AS (n bigint)
  SELECT column_name, epsilon, epsilon_svt, delta, mechanism, error95, reason, rho, steps, reached, posterior50, numbers, rows_hidden FROM dp_last_release()
SELECT count(*) FROM dp_query('SELECT count(*) FROM person_dp', weight => 1e-300) AS (n bigint)
  SELECT column_name, epsilon, epsilon_svt, delta, mechanism, error95, reason, rho, steps, reached, posterior50, numbers, rows_hidden FROM dp_last_release()

-- D12 CHARGED 1
SELECT count(*) FROM person_dp WHERE age > (SELECT avg(age) FROM public_city)
SELECT count(*) FROM person_dp WHERE city IN (SELECT city FROM public_city)

-- D12 CHARGED 2
SELECT count(*) FROM person_dp WHERE age = (SELECT max(age) FROM person_dp)

-- D13 CHARGED 1
CREATE TEMP TABLE own AS SELECT 4242 AS id
  SELECT count(*) FROM person_dp WHERE id IN (SELECT id FROM own)
