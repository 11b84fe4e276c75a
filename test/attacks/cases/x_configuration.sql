-- The careless controller. What changes the fixture undoes it.

-- X01 REFUSE 42501
controller> UPDATE dp_rdr.odometer SET public_epsilon = 0
controller> DELETE FROM dp_rdr.ledger_row
controller> TRUNCATE dp_rdr.ledger_row
controller> INSERT INTO dp_rdr.ledger_row SELECT
controller> UPDATE dp_rdr.policy SET tau = 0
controller> ALTER TABLE dp_rdr.odometer DISABLE TRIGGER ALL
controller> DROP TABLE dp_rdr.ledger_row

-- X02 NOLEAK
ANALYZE (VERBOSE) person (note)
VACUUM (VERBOSE) person_dp

-- X02 REFUSE 42501|42809|42P16
CREATE TEMP TABLE fk (id integer REFERENCES person (id))
CREATE TEMP TABLE fk (id integer REFERENCES person_dp (id))
SELECT * FROM person
SELECT * FROM public.person WHERE false
SELECT count(*) FROM ONLY person
CREATE TEMP TABLE child () INHERITS (person)
CREATE TEMP TABLE copy (LIKE person INCLUDING ALL)
CREATE INDEX ON person (age)
BEGIN
  LOCK TABLE person IN ACCESS SHARE MODE
CREATE STATISTICS pg_temp.s ON age, city FROM person
CREATE RULE r AS ON SELECT TO person DO INSTEAD SELECT 1
CREATE TRIGGER t BEFORE INSERT ON person EXECUTE FUNCTION suppress_redundant_updates_trigger()
REFRESH MATERIALIZED VIEW person
CLUSTER person

SELECT currtid2('person', '(0,1)')
SELECT * FROM pg_get_publication_tables('p'), person

-- X03 REFUSE 42501|2BP01
DROP EXTENSION dp_rdr
DROP FUNCTION dp_rdr.deny(regclass)
DROP VIEW person_dp
controller> DROP EXTENSION dp_rdr CASCADE

-- X03 REFUSE 42P01
superuser> BEGIN
  superuser> DROP EXTENSION dp_rdr CASCADE
  superuser> SELECT note FROM person_dp

-- X04 NOLEAK
controller> SELECT * FROM person_dp LIMIT 0

-- Where the library is not loaded nothing stands behind a view that its owner has replaced: dp_audit() names it.
-- X06 REFUSE 42501|0A000|55000 @shared
controller> BEGIN
  controller> CREATE OR REPLACE VIEW person_dp AS SELECT * FROM person
  controller> SELECT count(*) FROM person_dp
controller> BEGIN
  controller> CREATE OR REPLACE VIEW person_dp AS SELECT * FROM person
  controller> SELECT note FROM person_dp LIMIT 1

-- A keeper sees what is committed, and waits for no lock: neither he who changes the table nor anybody else is answered.
-- X07 REFUSE 55P03
controller> BEGIN
  controller> ALTER TABLE person ALTER age TYPE bigint
  SELECT avg(age) FROM person_dp

-- X07 REFUSE 42501|55000
controller> BEGIN
  controller> ALTER TABLE person ALTER age TYPE bigint
  superuser> SELECT 1
  controller> SAVEPOINT s
  controller> SELECT avg(age) FROM person_dp

-- X12 REFUSE 22023
controller> SELECT dp_set_bounds('person', 'height', -1e308, 'Infinity')
controller> SELECT dp_set_bounds('person', 'height', 'NaN', 1)
controller> SELECT dp_set_bounds('person', 'height', 1, 1)
controller> SELECT dp_set_odometer('person', 'filter', 'Infinity')
controller> SELECT dp_set_odometer('person', 'filter', 'NaN')
