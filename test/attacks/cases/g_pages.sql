-- The pages: what an analyst is shown of his own is the same on both databases; what is the controller's is refused or empty.

-- A28 REFUSE 42501
SELECT * FROM dp_settings('person')
SELECT * FROM dp_settings('person_dp')
SELECT * FROM dp_settings('dp_rdr.denial')
SELECT * FROM dp_rdr.denial
SELECT * FROM dp_rdr.budget('person'::regclass)
DELETE FROM dp_rdr.denial
TRUNCATE dp_rdr.denial
SELECT * FROM dp_rdr.denials FOR UPDATE
BEGIN
  LOCK TABLE dp_rdr.denial
BEGIN
  LOCK TABLE dp_rdr.denials IN ROW EXCLUSIVE MODE
stranger> SELECT * FROM dp_about('person_dp')

-- A28 REFUSE 55000
SELECT * FROM dp_about('person')
SELECT * FROM dp_about('pg_class')

-- A28 REFUSE 42501|55000|42883|42809
UPDATE dp_rdr.denials SET times = 0
INSERT INTO dp_rdr.denials (reason) VALUES ('mine')

-- A28 SAME
SELECT count(*) FROM dp_rdr.denials
SELECT count(*) FROM dp_rdr.spending
!SELECT count(*) FROM scarce_dp, scarce_dp s
  SELECT count(*) FROM dp_rdr.denials
  SELECT count(*) FROM dp_rdr.spending WHERE role_name = current_user

-- Costs count the rows of the ledger, and a round writes as many as its noise has it. Costs and buffers count the pages of
-- pg_class as well, and when a page of a catalog is used again depends on when the transactions of all databases end.
-- C05 NOLEAK
EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, BUFFERS OFF) SELECT * FROM dp_rdr.denials
EXPLAIN (ANALYZE, VERBOSE, COSTS OFF) SELECT * FROM dp_rdr.spending

-- D10 SAME
SELECT * FROM dp_about('person_dp')
SELECT * FROM dp_about('scarce_dp')
colleague> SELECT * FROM dp_about('scarce_dp')
finder> SELECT * FROM dp_about('person_dp')
selector> SELECT * FROM dp_about('person_dp')
SELECT * FROM dp_remaining('SELECT count(*) FROM scarce_dp WHERE age = 90')
SELECT * FROM dp_remaining('SELECT count(*), avg(salary) FROM person_dp WHERE id = 4242')
SELECT * FROM dp_remaining('SELECT (SELECT count(*) FROM scarce_dp), (SELECT sum(salary) FROM person_dp WHERE note = ''x'')')
finder> SELECT * FROM dp_remaining('SELECT note, count(*) FROM person_dp WHERE id = 4242 GROUP BY note')
selector> SELECT * FROM dp_remaining('SELECT count(*) FROM person_dp WHERE id = 4242')
stranger> SELECT * FROM dp_remaining('SELECT count(*) FROM person_dp WHERE id = 4242')

-- A03 SAME
SELECT * FROM dp_remaining('SELECT * FROM person_dp WHERE id = 4242')
SELECT * FROM dp_remaining('SELECT note FROM person WHERE id = 4242')
SELECT * FROM dp_remaining('SELECT count(*) FROM person_dp; DELETE FROM person')
SELECT * FROM dp_remaining('SELECT count(*) FROM person_dp WHERE (SELECT salary FROM person WHERE id = 4242) > 1')

-- D10 NOCHARGE
SELECT * FROM dp_about('person_dp')
SELECT * FROM dp_remaining('SELECT count(*) FROM person_dp WHERE id = 4242')
