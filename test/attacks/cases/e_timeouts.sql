-- Time limits, sizes and counters of buffers as signals.

-- Cancelled long before a charge, long after an answer, not at all.
-- B06 CHARGED 0
SET statement_timeout = '300ms'
  ! DO $d$ BEGIN PERFORM pg_sleep(10); PERFORM count(*) FROM person_dp WHERE id = 4242; END $d$

-- Far behind a charge, however busy the machine is.
-- B06 CHARGED 1 @shared
SET statement_timeout = '6s'
  ! DO $d$ BEGIN PERFORM count(*) FROM person_dp WHERE id = 4242 AND age = 90; PERFORM pg_sleep(60); END $d$

-- B06 CHARGED 1 @shared
SET statement_timeout = '6s'
  ! SELECT n, pg_sleep(60) FROM (SELECT count(*) AS n FROM person_dp WHERE id = 4242) q

-- What only the victim's row would make slow, under a limit that an ordinary answer is far from.
-- C13 NOLEAK
SET statement_timeout = '3s'
  ? SELECT count(*) FROM person_dp WHERE CASE WHEN id = 4242 AND age > 21 THEN repeat('a', 900000) ELSE '' END LIKE ANY (SELECT '%a_a_a_a_a_a_a_a_b' || g || '%' FROM generate_series(1, 20) g)
SET statement_timeout = '3s'
  ? SELECT count(*) FROM person_dp WHERE CASE WHEN id = 4242 AND age > 21 THEN repeat('a', 60000) ELSE '' END LIKE '%a_a_a_a_b%' OR CASE WHEN id = 4242 AND age > 21 THEN repeat('a', 60000) ELSE '' END LIKE '%a_a_a_a_c%' OR CASE WHEN id = 4242 AND age > 21 THEN repeat('a', 60000) ELSE '' END LIKE '%a_a_a_a_d%'
SET statement_timeout = '3s'
  ? SELECT count(*) FROM person_dp WHERE lower(upper(lower(upper(lower(upper(lower(upper(CASE WHEN id = 4242 THEN repeat('a', 50000000) ELSE 'b' END)))))))) = 'b'
SET statement_timeout = '3s'
  ? SELECT count(*) FROM person_dp WHERE lower(upper(lower(upper(lower(upper(lower(upper(CASE WHEN id = 4242 THEN repeat('a', 60000) ELSE 'b' END)))))))) = 'b'
-- The same of texts that are stored.
-- C13 NOLEAK
controller> CREATE TABLE lengthy (id integer, t text)
  controller> DO $d$ BEGIN INSERT INTO lengthy SELECT 4242, repeat('aB', 20000000) WHERE ':database' = 'attack_with'; END $d$
  controller> DO $d$ BEGIN INSERT INTO lengthy SELECT 4243, repeat('aB', 500000) WHERE ':database' = 'attack_with'; END $d$
  controller> INSERT INTO lengthy SELECT g, 'a' FROM generate_series(1, 100) g
  controller> SELECT dp_protect('lengthy', 'lengthy_dp')
  controller> SELECT dp_set_odometer('lengthy', 'none'), dp_grant('lengthy_dp', 'attack_analyst', tau => 0.95)
  SET debug_print_parse = off; SET debug_print_rewritten = off; SET debug_print_plan = off
  SET statement_timeout = '3s'
  ? SELECT count(*) FROM lengthy_dp WHERE lower(upper(lower(upper(lower(upper(lower(upper(t)))))))) = 'b'
  ? SELECT count(*) FROM lengthy_dp WHERE t LIKE '%a_a_a_a_a_b%' OR t LIKE '%a_a_a_a_a_c%' OR t LIKE '%a_a_a_a_a_d%' OR t LIKE '%a_a_a_a_a_e%'
  ? SELECT count(*) FROM lengthy_dp WHERE btrim(t, 'aB') = '' OR rtrim(t, 'Ba') = '' OR ltrim(t, 'abcdefghB') = ''
  ? SELECT count(*) FROM lengthy_dp WHERE t || t || t || t ILIKE '%ab%'
  RESET statement_timeout
  controller> DROP TABLE lengthy CASCADE

-- Ten thousand aggregates, by count and by sum, with and without groups; the server lives and listens.
-- D26 REFUSE 54000
DO $d$ BEGIN EXECUTE (SELECT 'SELECT cardinality(ARRAY[' || string_agg('count(*) FILTER (WHERE id = ' || g || ')', ',') || ']) FROM person_dp' FROM generate_series(1, 10000) g); END $d$
DO $d$ BEGIN EXECUTE (SELECT 'SELECT 1 FROM person_dp HAVING ' || string_agg('count(*) FILTER (WHERE id = ' || g || ') > 0', ' AND ') FROM generate_series(1, 1700) g); END $d$
finder> DO $d$ BEGIN EXECUTE (SELECT 'SELECT note, cardinality(ARRAY[' || string_agg('count(*) FILTER (WHERE id = ' || g || ')', ',') || ']) FROM person_dp WHERE id = 4242 GROUP BY note' FROM generate_series(1, 10000) g); END $d$
stranger> DO $d$ BEGIN EXECUTE (SELECT 'SELECT cardinality(ARRAY[' || string_agg('sum(age) FILTER (WHERE id = ' || g || ')', ',') || ']) FROM person_dp' FROM generate_series(1, 10000) g); END $d$

-- Buffers that an error leaves counted: a function asks, fails and catches.
-- C05 SAME
CREATE FUNCTION pg_temp.caught() RETURNS integer LANGUAGE plpgsql AS 'BEGIN PERFORM count(*) FROM person_dp WHERE CASE WHEN id = 4242 THEN note = ''a'' END; RETURN 1 / 0; EXCEPTION WHEN division_by_zero THEN RETURN 0; END'
  SELECT pg_temp.caught()
  SELECT pg_temp.caught()
  EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT pg_temp.caught()
