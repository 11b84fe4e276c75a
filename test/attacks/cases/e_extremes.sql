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
