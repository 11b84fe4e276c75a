-- Whether a statement fails, or how long it takes, because of one row.

-- C01 NOLEAK
SELECT count(*) FROM person_dp WHERE CASE WHEN id = 4242 AND salary > 7000 THEN circle '<(0,0),1e200>' END < circle '<(0,0),1>'
SELECT count(*) FROM person_dp WHERE CASE WHEN id = 4242 THEN lseg '(-1e308,-1e308),(1e308,1e308)' END < lseg '(0,0),(1,1)'
SELECT count(*) FROM person_dp WHERE btrim(CASE WHEN id = 4242 AND age = 90 THEN repeat('a', 140000000) ELSE 'b' END) = 'b'
SELECT count(*) FROM person_dp WHERE upper(CASE WHEN id = 4242 THEN repeat('a', 300000000) ELSE 'b' END) = 'B'
SELECT count(*) FROM person_dp WHERE CASE WHEN id = 4242 THEN note < 'a' COLLATE "en-x-icu" END

-- C13 NOLEAK
SELECT count(*) FROM person_dp WHERE CASE WHEN id = 4242 AND age > 21 THEN repeat('a', 900000) ELSE '' END LIKE '%a_a_a_a_a_b%'
SELECT count(*) FROM person_dp WHERE CASE WHEN id = 4242 THEN repeat('a', 60000) ELSE '' END LIKE '%a_a_a_a_a_b%'

-- C01 REFUSE 0A000
SELECT count(ARRAY[note, 'b']) FROM person_dp
SELECT count(*) FROM person_dp WHERE ARRAY[ARRAY[age], ARRAY[id, age]] IS NOT NULL
SELECT CASE WHEN id = 4242 THEN ARRAY[note, note] END IS NULL, count(*) FROM person_dp GROUP BY 1

-- C26 SHAPE
SET cpu_tuple_cost = 1e300
  SET gin_fuzzy_search_limit = 1
  SET work_mem = '64kB'
  SELECT sex, count(*) FROM person_dp WHERE city = 'Atlantis' GROUP BY sex

-- A29 NOCHARGE
SELECT dp_rdr.up_to_size(1, 5), dp_rdr.up_to_size('a'::name, 5), dp_rdr.up_to_size(1.5::float8, 5)
