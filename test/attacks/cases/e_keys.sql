-- Keys that one row spells in its own way, and conditions on keys.

-- C12 NOLEAK
finder> SELECT CASE WHEN id = 4242 THEN 1.00 ELSE 1.0 END AS k, count(*) FROM person_dp GROUP BY 1
finder> SELECT CASE WHEN id = 4242 THEN 1.00 ELSE 1.0 END AS k, count(*) FROM person_dp WHERE id <= 1000 OR id >= 4242 GROUP BY 1
finder> SELECT CASE WHEN id = 4242 THEN '-0'::float8 ELSE 0 END AS k, count(*) FROM person_dp GROUP BY 1
finder> SELECT CASE WHEN id = 4242 THEN '-0'::real ELSE 0 END AS k, count(*) FROM person_dp GROUP BY 1
finder> SELECT CASE WHEN id = 4242 THEN 'a'::char(9) ELSE 'a'::char(1) END AS k, count(*) FROM person_dp GROUP BY 1
finder> SELECT CASE WHEN id = 4242 AND salary > 7000 THEN 1.0000 WHEN id = 4242 AND salary > 3000 THEN 1.000 WHEN id = 4242 THEN 1.00 ELSE 1 END AS k, count(*) FROM person_dp GROUP BY 1
finder> SELECT CASE WHEN id = 4242 THEN rate * 0 + 2.000 ELSE 2 END AS k, count(*) FROM person_dp GROUP BY 1
finder> SELECT round(rate, CASE WHEN id = 4242 THEN 9 ELSE 1 END) AS k, count(*) FROM person_dp GROUP BY 1
finder> SELECT CASE WHEN id = 4242 THEN 1.00 ELSE 1.0 END AS k, sex, count(*) FROM person_dp GROUP BY 1, 2
finder> SELECT CASE WHEN id = 4242 THEN '30 days'::interval ELSE '1 month' END AS k, count(*) FROM person_dp GROUP BY 1
finder> SELECT CASE WHEN id = 4242 THEN '[1.0]'::jsonb ELSE '[1]' END AS k, count(*) FROM person_dp GROUP BY 1
finder> SELECT CASE WHEN id = 4242 THEN '{1.0}'::numeric[] ELSE '{1}' END AS k, count(*) FROM person_dp GROUP BY 1
finder> SELECT CASE WHEN id = 4242 THEN '[1.0,2)'::numrange ELSE '[1,2)' END AS k, count(*) FROM person_dp GROUP BY 1
finder> SELECT CASE WHEN id = 4242 THEN repeat('a', 900) ELSE 'b' END AS k, CASE WHEN id = 4242 THEN repeat('c', 1100) END AS l, count(*) FROM person_dp GROUP BY 1, 2

-- The same keys as texts: a number is taken for noise and not compared.
-- C12 NOLEAK
finder> SELECT k::text, count(*) FROM (SELECT CASE WHEN id = 4242 THEN 1.00 ELSE 1.0 END AS k FROM person_dp) q GROUP BY k
finder> SELECT k::text, count(*) FROM (SELECT CASE WHEN id = 4242 THEN 1.00 ELSE 1.0 END AS k FROM person_dp WHERE id <= 1000 OR id >= 4242) q GROUP BY k
finder> SELECT k::text, count(*) FROM (SELECT CASE WHEN id = 4242 THEN '-0'::float8 ELSE 0 END AS k FROM person_dp) q GROUP BY k
finder> SELECT k::text, count(*) FROM (SELECT CASE WHEN id = 4242 THEN '-0'::real ELSE 0 END AS k FROM person_dp) q GROUP BY k
finder> SELECT k::text, count(*) FROM (SELECT CASE WHEN id = 4242 AND salary > 7000 THEN 1.0000 WHEN id = 4242 AND salary > 3000 THEN 1.000 WHEN id = 4242 THEN 1.00 ELSE 1 END AS k FROM person_dp) q GROUP BY k
finder> SELECT k::text, count(*) FROM (SELECT CASE WHEN id = 4242 THEN rate * 0 + 2.000 ELSE 2 END AS k FROM person_dp) q GROUP BY k

-- D09 NOLEAK
SELECT age, count(*) FROM person_dp WHERE age IN (89, 90) GROUP BY age
SELECT age, count(*) FROM person_dp WHERE age = 90 AND salary > 7000 GROUP BY age
SELECT age, sex, count(*) FROM person_dp WHERE age * 2 = 180 AND sex <> 'Other' GROUP BY age, sex
SELECT sex, count(*) FROM person_dp WHERE sex = 'Other' GROUP BY sex
SELECT mood, member, count(*) FROM person_dp WHERE mood > 'low' AND member IS NULL GROUP BY mood, member
