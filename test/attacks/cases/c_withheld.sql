-- Warnings about discovered groups that are withheld: public facts, the same whoever is there. (All notices are compared.)

-- C11 NOLEAK
finder> SELECT count(*) FROM (SELECT id, count(*) FROM person_dp WHERE id >= 4230 GROUP BY id) t
finder> SELECT count(*) FROM (SELECT id FROM person_dp WHERE id = 4242 GROUP BY id) t
finder> SELECT id FROM person_dp WHERE id = 4242 GROUP BY id LIMIT 1
finder> SELECT 1 WHERE EXISTS (SELECT id FROM person_dp WHERE id = 4242 GROUP BY id)
finder> SELECT a.id FROM (SELECT id FROM person_dp WHERE id >= 4242 GROUP BY id) a JOIN generate_series(1, 9000) g ON g = a.id
finder> SELECT id, count(*) FROM person_dp WHERE id = 4242 GROUP BY id
finder> SELECT reason, threshold, error95 FROM dp_explain('SELECT count(*) FROM (SELECT id FROM person_dp WHERE id = 4242 GROUP BY id) t')
finder> SELECT count(*) FROM (SELECT id FROM person_dp WHERE id = 4242 GROUP BY id) t
  finder> SELECT column_name, error95, reason FROM dp_last_release()
