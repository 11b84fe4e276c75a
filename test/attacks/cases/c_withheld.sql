-- Warnings about discovered groups that are withheld: public facts, the same whoever is there. (All notices are compared.)

-- C11 NOLEAK
finder> SELECT count(*) FROM (SELECT note, count(*) FROM person_dp WHERE id >= 4230 GROUP BY note) t
finder> SELECT count(*) FROM (SELECT note FROM person_dp WHERE id = 4242 GROUP BY note) t
finder> SELECT note FROM person_dp WHERE id = 4242 GROUP BY note LIMIT 1
finder> SELECT 1 WHERE EXISTS (SELECT note FROM person_dp WHERE id = 4242 GROUP BY note)
finder> SELECT a.note FROM (SELECT note FROM person_dp WHERE id >= 4242 GROUP BY note) a JOIN generate_series(1, 9000) g ON a.note = 'note ' || g
finder> SELECT note, count(*) FROM person_dp WHERE id = 4242 GROUP BY note
finder> SELECT reason, threshold, error95 FROM dp_explain('SELECT count(*) FROM (SELECT note FROM person_dp WHERE id = 4242 GROUP BY note) t')
finder> SELECT count(*) FROM (SELECT note FROM person_dp WHERE id = 4242 GROUP BY note) t
  finder> SELECT column_name, error95, reason FROM dp_last_release()
-- What is told of an answer of which no row is shown; else it is as random as the answer.
finder> SET dp_rdr.noise = show
  finder> SELECT note, count(*) FROM person_dp WHERE id = 4242 GROUP BY note
  finder> SELECT count(*) FROM (SELECT note FROM person_dp WHERE id = 4242 GROUP BY note) t
  finder> RESET dp_rdr.noise
