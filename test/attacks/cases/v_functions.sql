-- Functions of dates, texts and documents on rows: whether one fails, prints its value or its size, or changes the process because of
-- one row. The canary: age 90, salary 73197319, born 1871, seen infinity, and a note that begins with xyzzy.

-- C01 SHAPE
SELECT sum(least(greatest(extract(year FROM age(seen)), 0), 100)), sum(least(greatest(extract(day FROM now() - seen), 0), 100)) FROM person_dp
SELECT sum(least(greatest(extract(epoch FROM age(timestamp '2024-01-01', born::timestamp)), 0), 100)) FROM person_dp
SELECT sum(least(greatest(extract(microseconds FROM seen - timestamp '2024-01-01'), 0), 100)) FROM person_dp
SELECT sum(extract(month FROM age(seen, timestamp '2024-01-01'))), sum(extract(minute FROM seen - timestamp '2024-01-01')) FROM person_dp
SELECT count(*) FROM person_dp WHERE date_bin('1 microsecond', seen, timestamp '1000-01-01') < '2024-01-01'
SELECT count(*) FROM person_dp WHERE date_bin('300000 days', born::timestamp, timestamp '280000-01-01') < '2024-01-01'
SELECT count(to_char(seen, 'FMMonth YYYY US')), count(to_char(born, 'IYYY-IW-ID')), count(to_char(seen, 'Q')::integer) FROM person_dp
SELECT count(*) FROM person_dp WHERE (strpos(note, 'xyzzy') - 1) * 1000000000 * 1000000000 > 0
SELECT count(*) FROM person_dp WHERE 1 / (strpos(note, 'xyzzy') - 1) = 0 OR position('' IN note) = 1
SELECT count(*) FROM person_dp WHERE split_part(note, ' ', 1000000)::integer > split_part(note, 'z', -1)::integer
SELECT count(*) FROM person_dp WHERE age(seen) > interval '1 year' OR age(born) < age(seen, born::timestamp)

-- C02 NOLEAK
SELECT sum(extract(hour FROM age(seen))), avg(extract(year FROM age(seen))) FROM person_dp
SELECT count(*) FROM person_dp WHERE to_char(seen, note) = 'a'
SELECT count(*) FROM person_dp WHERE to_char(seen, 'TMMonth') = 'a' AND id = 4242
SELECT count(*) FROM person_dp WHERE date_bin(age(seen), seen, seen) = seen
SELECT count(*) FROM person_dp WHERE date_bin('1 month', seen, timestamp '2024-01-01') = seen
SELECT count(*) FROM person_dp WHERE split_part(note, 'xyzzy', id - 4242) = ''
SELECT count(*) FROM person_dp WHERE note::jsonb ->> 'a' = 'b'
SELECT count(*) FROM person_dp WHERE concat(note, id) = 'b'
SELECT corr(age, salary), covar_pop(age, height), regr_slope(age, rate) FROM person_dp

-- C13 NOLEAK
SELECT count(*) FROM person_dp WHERE strpos(note, repeat('a', 101)) > 0
SELECT count(*) FROM person_dp WHERE strpos(note, repeat('a', 99)) + strpos(upper(note), repeat('b', 99)) + strpos(lower(note), repeat('c', 99)) > 0

-- D09 SHAPE
SELECT extract(month FROM age(seen, timestamp '2024-01-01')) AS k, count(*) FROM person_dp GROUP BY 1
SELECT extract(minute FROM seen - timestamp '2024-01-01') AS k, count(*) FROM person_dp GROUP BY 1
SELECT to_char(seen, 'Month') = 'May' AS k, count(*) FROM person_dp GROUP BY 1
SELECT strpos(sex, 'f') AS k, count(*) FROM person_dp GROUP BY 1

-- D09 NOLEAK
SELECT to_char(born, 'Month') AS k, count(*) FROM person_dp GROUP BY 1
SELECT date_bin('7 days', seen, timestamp '2024-01-01') AS k, count(*) FROM person_dp GROUP BY 1
SELECT split_part(note, ' ', 1) AS k, count(*) FROM person_dp GROUP BY 1

-- A29 NOCHARGE
SELECT dp_rdr.date_bin('1 month', timestamp 'infinity', timestamp '-infinity'), dp_rdr.date_bin('-1 day', timestamptz '4714-11-24 BC', timestamptz 'infinity')
SELECT dp_rdr.to_char(timestamp '2024-01-01', repeat('D', 100000)), dp_rdr.to_char(timestamp '2024-01-01', ''), dp_rdr.to_char(timestamptz 'infinity', '"')
SELECT dp_rdr.jsonb_object_field_text('[1]', 'a'), dp_rdr.jsonb_array_element_text('[1e100000]', -2147483648), dp_rdr.age(timestamp 'infinity', timestamp '-infinity')
