-- Answers that are given again, and lists of declared groups. The views person_again and person_old (those above 80) have policies
-- with replay; person_dp has none.

-- B01 CHARGED 1
BEGIN
  SELECT count(*) FROM person_again WHERE age = 90
  ROLLBACK
  SELECT count(*) FROM person_again WHERE age = 90
  SELECT * FROM dp_query('SELECT count(*) FROM person_again WHERE age = 90') AS (n bigint)
DO $$ BEGIN PERFORM count(*) FROM person_again WHERE age = 89; RAISE EXCEPTION 'gone'; EXCEPTION WHEN raise_exception THEN NULL; END $$
  DO $$ BEGIN PERFORM count(*) FROM person_again WHERE age = 89; RAISE EXCEPTION 'gone'; EXCEPTION WHEN raise_exception THEN NULL; END $$
SELECT count(*) FROM person_again WHERE age = 88
  ! SELECT 1 / (count(*) - count(*)) FROM person_again WHERE age = 88
  SELECT n FROM (SELECT count(*) AS n FROM person_again WHERE age = 88 UNION ALL SELECT count(*) FROM person_again WHERE age = 88) q

-- B08 CHARGED 1
BEGIN READ ONLY
  SELECT sum(salary) FROM person_again WHERE id = 4242
  SELECT sum(salary) FROM person_again WHERE id = 4242
  COMMIT

-- B09 FRESH 2
SELECT * FROM dp_query('SELECT sum(salary) FROM person_again', replay => false) AS (n bigint)
  SELECT * FROM dp_query('SELECT sum(salary) FROM person_again', replay => false) AS (n bigint)

-- B09 CHARGED 2
SELECT sum(salary) FROM person_again WHERE age < 21
  SELECT sum(salary) FROM person_again WHERE age < 22
SELECT sum(salary) FROM person_again WHERE age < 23
  SELECT sum(salary) FROM person_old WHERE age < 23
SELECT sum(salary) FROM person_again WHERE age < 24
  colleague> SELECT sum(salary) FROM person_again WHERE age < 24
SELECT sum(salary) FROM person_again WHERE age < 25
  SELECT * FROM dp_query('SELECT sum(salary) FROM person_again WHERE age < 25', epsilon => 0.01) AS (n bigint)
SELECT sum(salary) FROM person_again WHERE age < 26
  SELECT * FROM dp_query('SELECT sum(salary) FROM person_again WHERE age < 26', weight => 1, replay => false) AS (n bigint)
SELECT sum(salary) FROM person_again WHERE age < 27
  controller> SELECT dp_set_bounds('person', 'salary', 0, 10001)
  SELECT sum(salary) FROM person_again WHERE age < 27
  controller> SELECT dp_set_bounds('person', 'salary', 0, 10000)
SELECT sum(salary) FROM person_again WHERE age < 28
  controller> SELECT dp_grant('person_again', 'attack_analyst', tau => 0.94)
  SELECT sum(salary) FROM person_again WHERE age < 28
  controller> SELECT dp_grant('person_again', 'attack_analyst', tau => 0.95)
controller> SELECT dp_forget('person') IS NULL
  SELECT sum(salary) FROM person_again WHERE age < 29
  controller> SELECT dp_forget('person') IS NULL
  SELECT sum(salary) FROM person_again WHERE age < 29

-- B09 CHARGED 1
SELECT sum(salary) FROM person_again WHERE age < 31
  controller> ALTER VIEW person_again RENAME TO person_anew
  SELECT sum(salary) FROM person_anew WHERE age < 31
  controller> ALTER VIEW person_anew RENAME TO person_again

-- B10 SAME
CREATE TEMP TABLE own AS SELECT sex, sum(salary) AS s, avg(height) AS a FROM person_again WHERE age > 40 GROUP BY sex
  controller> INSERT INTO person SELECT 100000 + g, 90, 'Female', 'Atlantis', 'many', 10000, 250 FROM generate_series(1, 3000) g
  SELECT count(*) FROM (SELECT sex, sum(salary), avg(height) FROM person_again WHERE age > 40 GROUP BY sex EXCEPT TABLE own) q
  controller> DELETE FROM person WHERE id > 100000
  DROP TABLE own
  SELECT reason, epsilon FROM dp_last_release()

-- C02 SAME
SELECT count(*) FROM person_again WHERE 1 / (age - 90) > 0
  ! SELECT * FROM dp_refine() AS (n bigint)
  SELECT count(*) FROM person_again WHERE 1 / (age - 90) > 0
  SELECT column_name, epsilon, rho, reason, error95 FROM dp_last_release()

-- D01 SAME
SELECT DISTINCT sex FROM person_again
SELECT DISTINCT sex FROM person_again WHERE city = 'Atlantis'
SELECT sex FROM person_again WHERE note = 'xyzzy' || '-7319' GROUP BY sex
SELECT DISTINCT age FROM person_old WHERE 1 / (salary - 2 * 36598659.5) IS NULL ORDER BY age DESC LIMIT 3
SELECT count(*) FROM (SELECT DISTINCT sex, member, mood FROM person_dp WHERE id = 4242) q
SELECT count(*) FROM (SELECT DISTINCT age FROM person_dp) q
SELECT DISTINCT mood FROM person_dp WHERE mood IS NOT NULL AND rate = 'Infinity'
EXPLAIN (ANALYZE, BUFFERS OFF, TIMING OFF, SUMMARY OFF) SELECT DISTINCT sex FROM person_again WHERE age = 90
SELECT d.sex FROM (SELECT DISTINCT sex FROM person_again) d JOIN (SELECT sex, count(*) AS n FROM person_again GROUP BY sex) c USING (sex) WHERE n IS NOT NULL

-- D01 NOCHARGE
SELECT DISTINCT age, sex FROM person_again WHERE id = 4242
SELECT DISTINCT sex FROM (SELECT sex, age FROM person_dp WHERE age > 50) q
WITH w AS (SELECT DISTINCT sex FROM person_again WHERE salary > 10000) SELECT * FROM w CROSS JOIN w x

-- A01 REFUSE 42501|0A000|55000
SELECT DISTINCT note FROM person_again
SELECT DISTINCT ON (sex) sex, note FROM person_again
SELECT DISTINCT sex, (SELECT note FROM person_again p LIMIT 1) FROM person_again
SELECT DISTINCT sex FROM person_again WHERE pg_sleep(1) IS NULL
SELECT DISTINCT p.sex FROM person_again p JOIN public_city c USING (city)
SELECT DISTINCT person_again FROM person_again
stranger> SELECT DISTINCT sex FROM person_again
stranger> SELECT count(*) FROM person_again WHERE age = 90

-- A28 REFUSE 42501|0A000
SELECT * FROM dp_rdr.stored_answer
SELECT * FROM dp_rdr.forgotten
DELETE FROM dp_rdr.stored_answer
SELECT dp_forget('person')
colleague> SELECT dp_forget('person_again')

-- A01 NOCHARGE
SELECT DISTINCT sex FROM person_again WHERE EXISTS (SELECT FROM pg_class)
