-- Code of a user's in what the planner and the input functions of types look at. What changes the fixture undoes it.

-- The controller's own function in an index, a constraint, statistics; what it looks up is a temporary view of the attacker's.
-- A24 NOCHARGE
controller> CREATE TABLE cfg (k integer)
  controller> CREATE FUNCTION cut(integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS 'BEGIN IF current_setting(''cut.builds'', true) = ''on'' THEN RETURN 1; END IF; RETURN (SELECT min(k) FROM cfg); END'
  controller> SET cut.builds = on; CREATE INDEX planted ON person (id) WHERE id > cut(1); SET cut.builds = off
  CREATE FUNCTION pg_temp.evil() RETURNS integer LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''%'', (SELECT string_agg(note, '','') FROM public.person WHERE id = 4242); END'
  CREATE TEMP VIEW cfg AS SELECT pg_temp.evil() AS k
  ! SELECT * FROM dp_query('SELECT count(*) FROM person_dp WHERE id > 5') AS (n bigint)
  ! SELECT count(*) FROM person_dp WHERE id > 5
  SELECT * FROM dp_explain('SELECT count(*) FROM person_dp')
  selector> ! SELECT * FROM dp_query('SELECT count(*) FROM person_dp') AS (n bigint)
  controller> DROP INDEX planted
  controller> ALTER TABLE person ADD CONSTRAINT planted CHECK (id IS NULL OR cut(id) IS NULL OR id > cut(1)) NOT VALID
  ! SELECT * FROM dp_query('SELECT count(*) FROM person_dp WHERE id > 5') AS (n bigint)
  controller> ALTER TABLE person DROP CONSTRAINT planted
  controller> CREATE STATISTICS planted ON (id + cut(1)), age FROM person
  ! SELECT * FROM dp_query('SELECT count(*) FROM person_dp WHERE id > 5') AS (n bigint)
  controller> DROP STATISTICS planted
  controller> DROP FUNCTION cut(integer)
  controller> DROP TABLE cfg
  DROP VIEW cfg

-- A part of the table that is another's: his constraint would be planned with the rights of the table's owner.
-- A23 NOCHARGE
controller> CREATE TABLE part () INHERITS (person)
  superuser> ALTER TABLE part OWNER TO attack_analyst
  ! SELECT * FROM dp_query('SELECT count(*) FROM person_dp') AS (n bigint)
  superuser> DROP TABLE part

-- Printed trees hold the oids of tables that are made in each database: they are off.
-- A hostile owner of tables: neither a superuser who looks at them nor another owner runs his code with more than his rights.
-- A23 NOCHARGE
superuser> CREATE SCHEMA rival AUTHORIZATION attack_colleague
  superuser> SET debug_print_parse = off; SET debug_print_rewritten = off; SET debug_print_plan = off
  colleague> SET debug_print_parse = off; SET debug_print_rewritten = off; SET debug_print_plan = off; SET default_transaction_isolation = 'read committed'
  colleague> CREATE FUNCTION rival.trap(integer) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN IF current_user NOT IN (''attack_colleague'', ''attack_team'') THEN RAISE EXCEPTION ''trapped %'', current_user; END IF; RETURN true; END'
  colleague> CREATE DOMAIN rival.d AS integer CHECK (rival.trap(VALUE))
  colleague> CREATE TABLE rival.t (x rival.d, xs rival.d[])
  colleague> INSERT INTO rival.t VALUES (1)
  colleague> ! SELECT dp_protect('rival.t', 'rival.t_dp')
  colleague> SELECT dp_protect('rival.t', 'rival.t_dp', columns => '{x}')
  colleague> SELECT dp_set_groups('rival.t', 'x', '{1,2}')
  superuser> SELECT count(*) FROM dp_explain('SELECT x, count(*) FROM rival.t_dp GROUP BY x')
  superuser> SELECT count(*) FROM dp_risk('SELECT x, count(*) FROM rival.t_dp GROUP BY x')
  superuser> SELECT count(*) > 0 FROM dp_audit()
  superuser> ! SELECT dp_protect('rival.t', 'rival.u_dp', columns => '{x}', filter => 'xs = ''{1}''')
  superuser> DROP SCHEMA rival CASCADE

-- DDL of the extension's with more rights than its caller has, seen by an event trigger.
-- A24 NOCHARGE
superuser> CREATE FUNCTION public.watch() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN IF (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user) AND current_user <> session_user THEN RAISE EXCEPTION ''% as %'', tg_tag, current_user; END IF; END'
  superuser> CREATE EVENT TRIGGER watch ON ddl_command_start EXECUTE FUNCTION public.watch()
  superuser> CREATE SCHEMA rival AUTHORIZATION attack_colleague
  superuser> SET debug_print_parse = off; SET debug_print_rewritten = off; SET debug_print_plan = off
  colleague> SET debug_print_parse = off; SET debug_print_rewritten = off; SET debug_print_plan = off; SET default_transaction_isolation = 'read committed'
  colleague> CREATE TABLE rival.t (x integer)
  colleague> SELECT dp_protect('rival.t', 'rival.t_dp')
  colleague> SELECT dp_grant('rival.t_dp', 'attack_analyst', tau => 0.9)
  colleague> SELECT count(*) FROM dp_rdr.ledger
  superuser> DROP EVENT TRIGGER watch
  superuser> DROP FUNCTION public.watch
  superuser> DROP SCHEMA rival CASCADE

-- Somebody's view over a table that its owner has not protected yet does not freeze it.
-- X08 NOCHARGE
controller> CREATE TABLE fresh (id integer)
  CREATE TEMP VIEW frozen AS SELECT * FROM dp_rdr.deny('fresh') AS (id integer)
  controller> SELECT dp_protect('fresh', 'fresh_dp')
  controller> SELECT bound, epsilon_total FROM dp_odometer('fresh') WHERE epsilon_total = 1
  controller> DROP TABLE fresh CASCADE
  DROP VIEW IF EXISTS frozen

-- The ledger of others, and its length.
-- A28 SAME
SELECT * FROM dp_rdr.ledger
SELECT count(*) FROM dp_rdr.ledger

-- C30 SAME
SELECT epsilon FROM dp_rdr.ledger

-- C06 NOLEAK
EXPLAIN (ANALYZE, TIMING off, SUMMARY off, COSTS off) SELECT * FROM dp_rdr.ledger
