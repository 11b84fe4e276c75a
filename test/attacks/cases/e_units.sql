-- People with several rows: with the canary there are 3,000 visits, 6,000 bills and 600 letters more, all of one person or of nobody.

-- C01 SHAPE
SELECT count(*) FROM visit_dp
SELECT count(*), count(cost), sum(cost), avg(cost), sum(price), avg(price) FROM visit_dp
SELECT count(DISTINCT pid), count(*) FROM visit_dp
SELECT ward, count(*), count(DISTINCT pid), sum(cost) FROM visit_dp GROUP BY ward
SELECT ward, avg(price) FROM visit_dp WHERE cost * cost > 100 GROUP BY ward
SELECT count(DISTINCT pid) FROM visit_dp WHERE ward = 'Atlantis'
SELECT count(*), sum(cost) FROM bill_dp
SELECT count(*), sum(age), count(DISTINCT pid) FROM patient_dp
SELECT count(*), sum(cost), count(DISTINCT author) FROM letter_dp
SELECT subject, count(*), count(DISTINCT author) FROM letter_dp GROUP BY subject
SELECT count(*) FROM letter_dp WHERE author > 'xyz'
SELECT count(*) FROM letter_dp WHERE length(author) > 100000
SELECT sum(2 * cost * cost), sum(cost) FILTER (WHERE price > 3) FROM visit_dp
SELECT extract(year FROM date '2020-01-01' + cost) AS y, count(*) FROM visit_dp WHERE ward = 'w1' GROUP BY 1

-- A ward that one person fills is found by nobody, and the others are.
-- C12 NOLEAK
finder> SELECT note, count(*) FROM visit_dp GROUP BY note
finder> SELECT substr(note, 1, 4), count(*), sum(cost) FROM visit_dp GROUP BY 1
finder> SELECT substr(author, 1, 4), count(*), count(DISTINCT author) FROM letter_dp GROUP BY 1
finder> SELECT ward || '', count(*) FROM visit_dp GROUP BY 1
finder> SELECT ward || '', count(*), sum(cost), count(DISTINCT pid) FROM visit_dp GROUP BY 1
finder> SELECT upper(ward), count(DISTINCT pid) FROM visit_dp GROUP BY 1
finder> SELECT ward || '', count(*) FROM visit_dp WHERE cost > 1000 OR pid = 4242 GROUP BY 1
finder> SELECT part, count(*), sum(cost) FROM bill_dp GROUP BY part
finder> SELECT part, count(*) FROM bill_dp WHERE cost > 100 GROUP BY part
finder> SELECT subject || '', count(*) FROM letter_dp GROUP BY 1
finder> SELECT subject || '', count(DISTINCT author) FROM letter_dp WHERE author IS NULL OR length(author) > 1000 GROUP BY 1
finder> SELECT CASE WHEN pid = 4242 THEN 1.00 ELSE 1.0 END AS k, count(*) FROM visit_dp GROUP BY 1
finder> SELECT CASE WHEN pid = 4242 THEN repeat('a', 1100) ELSE 'b' END AS k, count(*) FROM visit_dp GROUP BY 1
finder> SELECT k::text, count(*) FROM (SELECT CASE WHEN pid = 4242 THEN '-0'::float8 ELSE 0 END AS k FROM visit_dp) q GROUP BY k
finder> SELECT * FROM dp_query($$SELECT note, count(*) FROM visit_dp GROUP BY note$$, max_rows => 1048576, max_groups => 1048576) AS (note text, n bigint)
finder> SELECT * FROM dp_query($$SELECT ward || '', count(*) FROM visit_dp GROUP BY 1$$, max_rows => 1) AS (ward text, n bigint)

-- C12 SHAPE
finder> DO $$ BEGIN ASSERT (SELECT string_agg(k, ',' ORDER BY k) FROM (SELECT substr(note, 1, 4) AS k, count(*) FROM visit_dp GROUP BY 1) q) = 'note'; END $$
finder> DO $$ BEGIN ASSERT (SELECT string_agg(k, ',' ORDER BY k) FROM (SELECT part AS k, count(*) FROM bill_dp GROUP BY 1) q) = 'p0,p1'; END $$
finder> DO $$ BEGIN ASSERT (SELECT string_agg(k, ',' ORDER BY k) FROM (SELECT ward || '' AS k, count(*) FROM visit_dp GROUP BY 1) q) = 'Atlantis,w0,w1,w2'; END $$

-- Whose rows they are, is no group; and who is counted, is the unit alone.
-- D14 REFUSE 0A000
SELECT pid, count(*) FROM visit_dp GROUP BY pid
finder> SELECT pid, count(*) FROM visit_dp GROUP BY pid
finder> SELECT author, count(*) FROM letter_dp GROUP BY author
finder> SELECT pid, ward, count(*) FROM visit_dp GROUP BY pid, ward
SELECT count(DISTINCT (pid, ward)) FROM visit_dp
SELECT sum(DISTINCT cost) FROM visit_dp

-- How much of a person counts, is the analyst's to say within what is possible.
-- D14 REFUSE 22023
SELECT * FROM dp_query('SELECT count(*) FROM visit_dp', max_rows => 0) AS (n bigint)
SELECT * FROM dp_query('SELECT count(*) FROM visit_dp', max_rows => 1048577) AS (n bigint)
SELECT * FROM dp_query('SELECT count(*) FROM visit_dp', max_rows => -2147483648) AS (n bigint)
SELECT * FROM dp_query('SELECT count(*) FROM visit_dp', max_groups => 0) AS (n bigint)
SELECT * FROM dp_query('SELECT count(*) FROM visit_dp', max_rows => 2, max_groups => 3) AS (n bigint)
SELECT * FROM dp_query('SELECT count(*) FROM visit_dp', max_rows_per_group => 0) AS (n bigint)
SELECT * FROM dp_query('SELECT count(*) FROM visit_dp', max_rows_per_group => 2147483647) AS (n bigint)
SELECT * FROM dp_query('SELECT count(*) FROM visit_dp', max_rows => 2, max_rows_per_group => 3) AS (n bigint)
SELECT * FROM dp_rdr.release('SELECT count(*) AS c1 FROM public.visit_dp', NULL, 1, NULL, NULL, 1, true, 2, NULL, -1) AS (n bigint)
SELECT * FROM dp_rdr.release('SELECT count(*) AS c1 FROM public.visit_dp', NULL, 1, NULL, NULL, 1, true, 0, NULL, NULL) AS (n bigint)
SELECT * FROM dp_rdr.release('SELECT count(*) AS c1 FROM public.visit_dp', NULL, 1, NULL, NULL, 1, true, 2, 2147483647, NULL) AS (n bigint)

-- D14 FRESH 3
SELECT * FROM dp_query('SELECT count(*) FROM visit_dp', max_rows => 1) AS (n bigint)
  SELECT * FROM dp_query('SELECT count(*) FROM visit_dp', max_rows => 1048576) AS (n bigint)
  SELECT * FROM dp_query('SELECT count(*) FROM visit_dp', max_rows => 1) AS (n bigint)

-- D14 SHAPE
SELECT * FROM dp_query('SELECT ward, count(*), sum(cost) FROM visit_dp GROUP BY ward', max_rows => 1048576, max_groups => 1048576) AS (ward text, n bigint, c bigint)
SELECT * FROM dp_query('SELECT ward, count(*) FROM visit_dp GROUP BY ward', max_rows => 3, max_groups => 1) AS (ward text, n bigint)
SELECT * FROM dp_query('SELECT count(*), sum(cost) FROM bill_dp', max_rows => 1) AS (n bigint, c bigint)

-- A selection asks what a row changes.
-- D14 REFUSE 0A000
selector> SELECT sum(cost), avg(cost) FROM visit_dp

-- D14 SHAPE
selector> SELECT count(*) FROM patient_dp

-- An answer of other limits is another answer.
-- D14 CHARGED 2
controller> SELECT dp_forget('visit') IS NULL
  SELECT * FROM dp_query('SELECT count(*) FROM visit_again WHERE cost > 3', max_rows => 2) AS (n bigint)
  SELECT * FROM dp_query('SELECT count(*) FROM visit_again WHERE cost > 3', max_rows => 2) AS (n bigint)
  SELECT * FROM dp_query('SELECT count(*) FROM visit_again WHERE cost > 3', max_rows => 3) AS (n bigint)
  SELECT * FROM dp_query('SELECT count(*) FROM visit_again WHERE cost > 3', max_rows => 2) AS (n bigint)

-- What is estimated depends on nobody.
-- C12 SAME
SELECT * FROM dp_explain('SELECT ward, count(*), sum(cost), count(DISTINCT pid) FROM visit_dp GROUP BY ward')
SELECT * FROM dp_explain('SELECT count(*) FROM bill_dp', max_rows => 4)
SELECT * FROM dp_explain('SELECT count(*) FROM letter_dp WHERE author > $$x$$')
EXPLAIN SELECT ward, count(*), sum(cost) FROM visit_dp GROUP BY ward

-- The tables on the path, and the functions that read what a person brings.
-- A01 REFUSE 42501
SELECT * FROM patient
SELECT count(*) FROM visit
SELECT dp_set_unit('visit', 'ward')
SELECT dp_set_contribution('visit', 1000, 1000)
SELECT * FROM dp_domain('visit')
SELECT dp_join_domains('visit', 'patient')
SELECT dp_join_domains('visit_dp', 'bill_dp')
SELECT dp_rdr.cells('\x00', vid) FROM visit GROUP BY pid

-- A29 NOLEAK
SELECT dp_rdr.cells('\x00', pid) FROM visit_dp
SELECT dp_rdr.cells('\x00', note) FROM visit_dp GROUP BY pid
SELECT dp_rdr.cells('\x'), dp_rdr.cells(NULL), dp_rdr.cells(decode(repeat('ff', 1000), 'hex'), 1, 'a'::text)
SELECT dp_rdr.cells(decode(repeat('00', 64), 'hex'), g) FROM generate_series(1, 10) g
SELECT dp_rdr.cells(decode(repeat('01', g), 'hex'), g, g::text) FROM generate_series(1, 300) g GROUP BY g
SELECT dp_rdr.cells_deserialize('\xffffffffffffffff', NULL)
SELECT dp_rdr.cells_final(NULL)

-- A person's rows in a ward: nothing of theirs is in an error, and none is raised.
-- C01 NOLEAK
SELECT count(*) FROM visit_dp WHERE CASE WHEN pid = 4242 THEN 1 / (cost - cost) ELSE 1 END = 1
SELECT sum(cost * 2000000000) FROM visit_dp
SELECT sum(price * 1e100) FROM visit_dp WHERE pid = 4242
SELECT count(*) FROM letter_dp WHERE author || author IS NOT NULL
SELECT count(*) FROM letter_dp WHERE author = note

-- Joins: what one person brings to them is his, and clipped behind them, however often his rows meet.
-- D01 SHAPE
SELECT count(*), sum(v.cost) FROM patient_dp p JOIN visit_dp v ON v.pid = p.pid
SELECT count(*) FROM patient_dp p LEFT JOIN visit_dp v ON v.pid = p.pid AND v.ward = 'Atlantis'
SELECT count(v.vid), count(DISTINCT v.pid) FROM visit_dp v RIGHT JOIN patient_dp p USING (pid)
SELECT ward, count(*), sum(b.cost) FROM visit_dp v JOIN bill_dp b ON b.vid = v.vid GROUP BY ward
SELECT v.ward, count(*) FROM visit_dp v JOIN visit_dp w ON v.pid = w.pid AND v.vid < w.vid AND v.ward = w.ward GROUP BY v.ward
SELECT ward, count(*) FROM patient_dp p LEFT JOIN (SELECT pid, ward FROM visit_dp WHERE cost > 0) v ON v.pid = p.pid WHERE age > 30 GROUP BY ward
SELECT count(*) FILTER (WHERE b.cost > v.cost), sum(b.cost * v.cost) FROM visit_dp v LEFT JOIN bill_dp b ON b.vid = v.vid
SELECT count(*) FROM bill_dp a JOIN bill_dp b ON a.vid = b.vid AND a.cost = b.cost AND a.part = b.part
SELECT count(*) FROM patient_dp p JOIN visit_dp v ON v.pid = p.pid AND v.note = v.ward
SELECT count(*) FROM letter_dp a JOIN letter_dp b ON a.author = b.author
SELECT count(*) FROM letter_dp a LEFT JOIN letter_dp b ON a.author = b.author AND b.subject = 'Atlantis' WHERE b.subject IS NULL
SELECT * FROM dp_query($$SELECT count(*) FROM patient_dp p JOIN visit_dp v ON v.pid = p.pid$$, max_rows => 1048576) AS (n bigint)

-- D01 NOLEAK
finder> SELECT v.note, count(*) FROM patient_dp p JOIN visit_dp v ON v.pid = p.pid GROUP BY v.note
finder> SELECT * FROM dp_query($$SELECT b.part || v.ward, count(*), count(DISTINCT v.pid) FROM visit_dp v JOIN bill_dp b ON b.vid = v.vid GROUP BY 1$$, max_rows => 6, max_groups => 1) AS (k text, n bigint, p bigint)
finder> SELECT * FROM dp_query($$SELECT substr(a.author, 1, 4), count(*) FROM letter_dp a JOIN letter_dp b ON a.author = b.author GROUP BY 1$$, max_rows => 4, max_groups => 1) AS (author text, n bigint)

-- Whose rows meet is not decided by what a row holds: refused before the charge.
-- D01 REFUSE 0A000
SELECT count(*) FROM visit_dp v, patient_dp p
SELECT count(*) FROM visit_dp v JOIN visit_dp w ON v.ward = w.ward
SELECT count(*) FROM visit_dp v JOIN patient_dp p ON v.pid = p.pid OR p.pid = 4242
SELECT count(*) FROM visit_dp v JOIN patient_dp p ON v.pid >= p.pid AND v.pid <= p.pid
SELECT count(*) FROM patient_dp p LEFT JOIN visit_dp v ON p.pid = 4242 WHERE v.pid = p.pid
SELECT count(*) FROM patient_dp p LEFT JOIN visit_dp v ON true WHERE v.pid IS NULL
SELECT count(*) FROM patient_dp p LEFT JOIN visit_dp v ON v.pid = p.pid AND v.cost > 0, bill_dp b WHERE b.vid = v.vid
SELECT count(*) FROM patient_dp p FULL JOIN visit_dp v ON v.pid = p.pid
SELECT count(*) FROM patient_dp p NATURAL JOIN bill_dp b
SELECT count(*) FROM patient_dp p JOIN letter_dp l ON l.cost = p.pid
SELECT count(*) FROM patient_dp p JOIN person_dp q ON q.id = p.pid
SELECT count(*) FROM patient_dp p JOIN LATERAL (SELECT * FROM visit_dp v WHERE v.pid = p.pid) v ON v.pid = p.pid

-- Policies that differ, one for each view.
-- D01 REFUSE 55000
SELECT count(*) FROM visit_dp v JOIN visit_again w ON v.pid = w.pid

-- One row for each person below an aggregation: the canary is one of them, whatever he has.
-- C01 SHAPE
SELECT count(*), sum(n), avg(n) FROM (SELECT pid, count(*) AS n FROM visit_dp GROUP BY pid) t
SELECT n, count(*) FROM (SELECT pid, count(*) AS n FROM visit_dp GROUP BY pid) t GROUP BY n
SELECT n, count(*) FROM (SELECT pid, count(*) AS n FROM visit_dp WHERE ward = 'Atlantis' GROUP BY pid) t GROUP BY n HAVING true
SELECT k, count(*), sum(c) FROM (SELECT pid, count(DISTINCT ward) AS k, sum(cost) AS c FROM visit_dp GROUP BY pid) t GROUP BY k
SELECT sum(c), avg(p), sum(lo), sum(hi) FROM (SELECT pid, sum(cost) AS c, avg(price) AS p, min(cost) AS lo, max(price) AS hi FROM visit_dp GROUP BY pid) t
SELECT CASE WHEN c > 1000000 THEN 'rich' WHEN c < 0 THEN 'poor' ELSE 'other' END, count(*) FROM (SELECT pid, sum(price) AS c FROM visit_dp GROUP BY pid) t GROUP BY 1
SELECT a, count(*) FROM (SELECT pid, bool_or(ward = 'Atlantis') AS a FROM visit_dp GROUP BY pid) t GROUP BY a
SELECT count(*), sum(n) FROM (SELECT author, count(*) AS n FROM letter_dp GROUP BY author) t
SELECT count(*) FROM (SELECT author FROM letter_dp GROUP BY author HAVING count(DISTINCT subject) > 1 AND max(cost) > 5) t
SELECT n, count(*) FROM (SELECT p.pid, count(b.cost) AS n FROM patient_dp p LEFT JOIN visit_dp v ON v.pid = p.pid LEFT JOIN bill_dp b ON b.vid = v.vid GROUP BY p.pid) t GROUP BY n
SELECT count(*) FROM (SELECT pid, count(*) AS n, max(cost) AS m FROM visit_dp GROUP BY pid) t WHERE 1 / (n - 5) > 0 OR m * m * m * m * m > 0 OR n / 0 = 1
SELECT count(*) FROM (SELECT DISTINCT pid FROM visit_dp) t
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY n) FROM (SELECT pid, count(*) AS n FROM visit_dp GROUP BY pid) t
SELECT * FROM dp_query($$SELECT sum(n) FROM (SELECT pid, count(*) AS n, sum(cost) AS c FROM visit_dp GROUP BY pid) t$$, max_rows => 1048576) AS (n numeric)
SELECT count(x) FROM (SELECT author, max(author) AS x FROM letter_dp GROUP BY author) t
SELECT count(*) FROM (SELECT pid FROM visit_dp GROUP BY pid HAVING max(note) IS NOT NULL AND min(ward) > 'x') t
SELECT count(a), count(b), count(DISTINCT a) FROM (SELECT pid, max(note) AS a, min(ward || note COLLATE "und-x-icu") AS b FROM visit_dp GROUP BY pid) t WHERE length(a) > 500 OR a LIKE '%xyzzy%' OR b IS NULL

-- Nor does it matter what stands in his own row beside that.
-- C01 SHAPE
SELECT age / 10, count(*), sum(n) FROM (SELECT v.pid, p.age, count(*) AS n FROM visit_dp v JOIN patient_dp p ON p.pid = v.pid GROUP BY 1, 2) t GROUP BY 1
SELECT count(*), sum(age * n), count(job), count(DISTINCT job) FROM (SELECT v.pid, p.age, p.job, count(*) AS n FROM visit_dp v JOIN patient_dp p ON p.pid = v.pid GROUP BY 1, 2, 3) t WHERE age > 30 OR job = 'j1' OR length(job) > 100000
SELECT n, count(*) FROM (SELECT p.pid, p.age, p.job, count(v.cost) AS n FROM patient_dp p LEFT JOIN visit_dp v ON v.pid = p.pid GROUP BY 1, 2, 3 HAVING p.age > 80 OR p.job LIKE 'xyzzy%' OR count(*) > 2) t GROUP BY n
SELECT count(*) FROM (SELECT v.pid, p.age, count(*) AS n FROM visit_dp v JOIN patient_dp p ON p.pid = v.pid GROUP BY 1, 2) t WHERE 1 / (age - 90) > 0 OR age / (n - 5) > 1 OR age * age * age * age * age * age > 0
SELECT length(job) > 1000, sum(x) FROM (SELECT v.pid, p.job, p.age * max(v.cost) AS x FROM visit_dp v JOIN patient_dp p ON p.pid = v.pid GROUP BY v.pid, p.age, p.job) t GROUP BY 1
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY age) FROM (SELECT pid, age FROM patient_dp GROUP BY pid, age) t
SELECT CASE WHEN far THEN 'far' ELSE 'near' END, count(*) FROM (SELECT v.pid, p.pid = 4242 AS far FROM visit_dp v JOIN patient_dp p ON p.pid = v.pid GROUP BY 1, 2) t GROUP BY 1

-- What he alone has is no group, and nothing of it is raised or printed.
-- C12 NOLEAK
finder> SELECT c, count(*) FROM (SELECT pid, sum(cost::numeric) AS c FROM visit_dp GROUP BY pid) t GROUP BY c
finder> SELECT c::text, count(*) FROM (SELECT pid, sum(price * cost * 1e300) AS c FROM visit_dp GROUP BY pid) t GROUP BY 1
finder> SELECT n * 1000003, count(*) FROM (SELECT pid, count(*) AS n FROM visit_dp GROUP BY pid) t GROUP BY 1
finder> SELECT * FROM dp_query($$SELECT n, count(*) FROM (SELECT pid, count(*) AS n FROM visit_dp GROUP BY pid) t GROUP BY n$$, max_rows => 1048576) AS (n bigint, people bigint)
finder> SELECT x, count(*) FROM (SELECT pid, max(length(note)) AS x FROM visit_dp GROUP BY pid) t GROUP BY x
finder> SELECT x, count(*) FROM (SELECT author, max(length(author)) + count(DISTINCT author) AS x FROM letter_dp GROUP BY author) t GROUP BY x
finder> SELECT x, count(*) FROM (SELECT pid, max(note) AS x FROM visit_dp GROUP BY pid) t GROUP BY x
finder> SELECT x, count(*) FROM (SELECT pid, min(ward) AS x FROM visit_dp GROUP BY pid) t GROUP BY x
finder> SELECT x, count(*) FROM (SELECT author, max(author) AS x FROM letter_dp GROUP BY author) t GROUP BY x

finder> SELECT job, count(*) FROM (SELECT v.pid, p.job FROM visit_dp v JOIN patient_dp p ON p.pid = v.pid GROUP BY 1, 2) t GROUP BY job
finder> SELECT substr(job, 1, 4), count(*) FROM (SELECT pid, job FROM patient_dp GROUP BY 1, 2) t GROUP BY 1
finder> SELECT age * 1000003, count(*) FROM (SELECT v.pid, p.age, count(*) AS n FROM visit_dp v JOIN patient_dp p ON p.pid = v.pid GROUP BY 1, 2) t WHERE n > 100 GROUP BY 1

-- Nobody's row is seen above, and nothing else is read below.
-- D14 REFUSE 0A000
SELECT pid FROM (SELECT pid, count(*) AS n FROM visit_dp GROUP BY pid) t WHERE n > 5
SELECT pid, sum(n) FROM (SELECT pid, count(*) AS n FROM visit_dp GROUP BY pid) t GROUP BY pid
SELECT n, lag(n) OVER (ORDER BY n) FROM (SELECT pid, count(*) AS n FROM visit_dp GROUP BY pid) t
SELECT count(x) FROM (SELECT author, string_agg(author, '') AS x FROM letter_dp GROUP BY author) t
SELECT count(x) FROM (SELECT author, max(cost * interval '1 day') AS x FROM letter_dp GROUP BY author) t
SELECT count(*) FROM (SELECT v.pid, count(*) FROM patient_dp p LEFT JOIN visit_dp v ON v.pid = p.pid GROUP BY v.pid) t
SELECT count(*) FROM (SELECT v.pid, count(*) AS n FROM visit_dp v JOIN visit_dp w ON v.ward = w.ward GROUP BY v.pid) t
SELECT (SELECT count(*) FROM (SELECT pid, sum(floor) AS x FROM visit_dp GROUP BY pid) t) FROM ward_name
SELECT (SELECT count(*) FROM (SELECT pid, count(*) + floor AS x FROM visit_dp GROUP BY pid) t WHERE x > 3) FROM ward_name

-- What the text of a leaf may read is no more than before.
-- A29 REFUSE 0A000|55000|42501
SELECT * FROM dp_rdr.release('SELECT count(*) AS n FROM (SELECT pid FROM public.visit GROUP BY pid) t', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)
SELECT * FROM dp_rdr.release('SELECT count(*) AS n FROM (SELECT pid FROM public.visit_dp, public.public_city GROUP BY pid) t', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)
SELECT * FROM dp_rdr.release('SELECT count(*) AS n FROM (SELECT pid, pg_sleep(3) FROM public.visit_dp, pg_sleep(3) GROUP BY pid) t', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)
SELECT * FROM dp_rdr.release('SELECT count(*) AS n FROM (SELECT pid FROM public.visit_dp) t', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)
SELECT * FROM dp_rdr.release('SELECT count(*) AS n FROM LATERAL (SELECT pid FROM public.visit_dp GROUP BY pid) t', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)
SELECT * FROM dp_rdr.release('SELECT count(*) AS n FROM (SELECT pid, (SELECT max(age) FROM public.public_city) FROM public.visit_dp GROUP BY pid) t', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)

-- Another question about his rows is another answer, also where a parameter alone tells them apart; the same one is the same.
-- D14 CHARGED 3
controller> SELECT dp_forget('visit') IS NULL
  PREPARE a(integer, integer) AS SELECT sum(x), sum(y) FROM (SELECT pid, count(*) FILTER (WHERE cost > $1) AS x, sum(cost) FILTER (WHERE cost > $2) AS y FROM visit_again GROUP BY pid) t
  PREPARE b(integer, integer) AS SELECT sum(y), sum(x) FROM (SELECT pid, count(*) FILTER (WHERE cost > $1) AS x, sum(cost) FILTER (WHERE cost > $2) AS y FROM visit_again GROUP BY pid) t
  EXECUTE a(1, 2)
  EXECUTE a(1, 2)
  EXECUTE b(2, 1)
  SELECT count(*) FROM (SELECT pid, count(DISTINCT ward) AS k FROM visit_again GROUP BY pid) t WHERE k > 1
  SELECT count(*) FROM (SELECT pid, count(DISTINCT ward) AS k FROM visit_again GROUP BY pid) t WHERE k > 1

-- What is said beforehand is the same.
-- C12 SAME
SELECT * FROM dp_explain('SELECT n, count(*), avg(c) FROM (SELECT pid, count(*) AS n, sum(cost) AS c FROM visit_dp GROUP BY pid) t GROUP BY n')
EXPLAIN SELECT n, count(*) FROM (SELECT pid, count(*) AS n FROM visit_dp GROUP BY pid) t GROUP BY n

-- D14 CHARGED 1
SELECT ward, count(*) FROM (SELECT v.pid, v.ward FROM visit_dp v JOIN patient_dp p ON p.pid = v.pid GROUP BY 1, 2) t GROUP BY ward
SELECT age, count(*) FROM (SELECT v.pid, p.age FROM visit_dp v LEFT JOIN patient_dp p ON p.pid = v.pid AND v.ward = 'Atlantis' GROUP BY 1, 2) t GROUP BY age
SELECT count(*) FROM (SELECT pid, count(*) AS n FROM visit_dp GROUP BY pid) t WHERE pid = 4242
SELECT count(*) FILTER (WHERE pid = 4242) FROM (SELECT pid, count(*) AS n FROM visit_dp GROUP BY pid) t
SELECT count(*) FROM (SELECT pid FROM visit_dp GROUP BY pid HAVING pid = 4242) t
SELECT count(*) FROM (SELECT pid, count(*) AS n FROM visit_dp GROUP BY pid) t JOIN patient_dp p ON p.pid = t.pid
SELECT count(*) FROM (SELECT pid, (SELECT max(floor) FROM ward_name) AS n FROM visit_dp GROUP BY pid) t WHERE n > 3

-- D14 REFUSE 55000
SELECT max(pid) FROM (SELECT pid, count(*) AS n FROM visit_dp GROUP BY pid) t

-- D14 REFUSE 22023
SELECT count(*) FROM (SELECT pid, count(*) AS n FROM visit_dp GROUP BY pid) t WHERE n > (SELECT max(floor) FROM ward_name)

-- D14 SHAPE
SELECT count(*) FROM visit_dp WHERE pid NOT IN (SELECT pid FROM patient_dp)
selector> SELECT count(*) FROM visit_dp
selector> SELECT count(*), count(DISTINCT author) FROM letter_dp
selector> SELECT count(*) FROM patient_dp p JOIN visit_dp v ON v.pid = p.pid
selector> SELECT count(*) FROM (SELECT pid, count(*) AS n FROM visit_dp GROUP BY pid) t
