-- Questions that look alike: each that is another one is drawn and charged, whatever was stored before. And lists of declared groups
-- whose conditions name rows.

-- B09 CHARGED 2
SELECT count(*) FROM person_again WHERE city COLLATE "C" < 'b'
  SELECT count(*) FROM person_again WHERE city COLLATE "POSIX" < 'b'
SELECT count(*) FROM person_again WHERE lower(city COLLATE "C") < 'c'
  SELECT count(*) FROM person_again WHERE lower(city) < 'c'
SELECT count(*) FILTER (WHERE age / 7 = 12) FROM person_again
  SELECT count(*) FILTER (WHERE age / 7.0 = 12) FROM person_again

-- B09 CHARGED 1
SELECT sum(salary) FROM person_again WHERE city COLLATE "C" < 'd'
  SET search_path = pg_temp, public, pg_catalog
  SET default_transaction_isolation = serializable
  SET DateStyle = 'German, DMY'
  SET extra_float_digits = -15
  SET quote_all_identifiers = on
  SELECT sum(salary) FROM public.person_again WHERE (city COLLATE "C" < 'd')
  RESET ALL

-- B08 NOCHARGE
SELECT DISTINCT sex FROM person_again WHERE age = 90 AND salary = 10000 AND city = 'Atlantis'
SELECT EXISTS (SELECT DISTINCT sex FROM person_again WHERE id = 4242)
SELECT count(*) FROM (SELECT DISTINCT sex FROM person_again WHERE height / (age - 90) > 0) q
WITH q AS MATERIALIZED (SELECT sex FROM person_again WHERE age = 90 GROUP BY sex HAVING true) SELECT count(*) FROM q a, q b
BEGIN
  DECLARE c SCROLL CURSOR FOR SELECT DISTINCT sex FROM person_again WHERE age = 90
  FETCH ALL c
  FETCH BACKWARD ALL c
  COMMIT
SELECT answers, reason FROM dp_remaining('SELECT DISTINCT sex FROM person_again WHERE age = 90')
