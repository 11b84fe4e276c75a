-- Different values: with the canary there are 3,000 visits more of one person, to fifty wards, with a note of his own; 600 letters of
-- nobody; and in the table of people a row of which every value is its own.

-- C01 SHAPE
SELECT count(DISTINCT ward) FROM visit_dp
SELECT count(DISTINCT note), count(*), sum(cost) FROM visit_dp
SELECT ward, count(DISTINCT note), count(DISTINCT cost), count(DISTINCT pid) FROM visit_dp GROUP BY ward
SELECT count(DISTINCT pid + 0), count(DISTINCT vid) FROM visit_dp
SELECT count(DISTINCT vid) FROM bill_dp
SELECT count(DISTINCT price) FROM visit_dp WHERE price = 'NaN'
SELECT count(DISTINCT cost) FILTER (WHERE ward = 'Atlantis') FROM visit_dp
SELECT count(DISTINCT author || subject), count(DISTINCT subject) FROM letter_dp
SELECT count(DISTINCT length(author)) FROM letter_dp
SELECT subject, count(DISTINCT author || '') FROM letter_dp GROUP BY subject
SELECT count(DISTINCT city), count(DISTINCT salary), count(DISTINCT age * age) FROM person_dp
SELECT count(DISTINCT upper(city) || upper(city)) FROM person_dp
SELECT count(DISTINCT 1 / (age - 90)) FROM person_dp
SELECT count(DISTINCT age::text) FROM person_dp WHERE id = 4242
SELECT dp_low(count(DISTINCT ward)), dp_high(count(DISTINCT note)) FROM visit_dp
SELECT n FROM dp_query('SELECT count(DISTINCT note) FROM visit_dp', max_rows => 1) AS (n bigint)
SELECT n FROM dp_query('SELECT count(DISTINCT note) FROM visit_dp', max_rows => 100000) AS (n bigint)
SELECT n FROM dp_query('SELECT count(DISTINCT note) FROM visit_dp', within => 0.1) AS (n bigint)

-- A ward that one person fills is found by nobody, whatever is counted in it.
-- C12 NOLEAK
finder> SELECT note, count(DISTINCT ward) FROM visit_dp GROUP BY note
finder> SELECT ward || '', count(DISTINCT note) FROM visit_dp GROUP BY 1
finder> SELECT substr(note, 1, 4), count(DISTINCT cost), count(DISTINCT pid) FROM visit_dp GROUP BY 1
finder> SELECT part, count(DISTINCT vid) FROM bill_dp GROUP BY part
finder> SELECT subject || '', count(DISTINCT author || '') FROM letter_dp GROUP BY 1
finder> SELECT * FROM dp_query($$SELECT note, count(DISTINCT cost) FROM visit_dp GROUP BY note$$, max_rows => 200, max_groups => 200) AS (note text, n bigint)
finder> SELECT city, count(DISTINCT salary) FROM person_dp GROUP BY city

-- Which values, or what adds them up, is no count of them.
-- D12 REFUSE 0A000
SELECT sum(DISTINCT cost) FROM visit_dp
SELECT avg(DISTINCT salary) FROM person_dp
SELECT count(DISTINCT ward ORDER BY ward) FROM visit_dp
SELECT count(DISTINCT (ward, note)) FROM visit_dp
SELECT count(DISTINCT p) FROM person_dp p
selector> SELECT count(DISTINCT ward) FROM visit_dp
selector> SELECT count(DISTINCT city) FROM person_dp
selector> SELECT count(*), count(DISTINCT age) FROM person_dp

-- More than what one person may bring is allowed to take: said before anything is charged.
-- D14 REFUSE 54000
SELECT * FROM dp_query('SELECT ward, count(DISTINCT note) FROM visit_dp GROUP BY ward', max_rows => 1048576) AS (ward text, n bigint)
SELECT * FROM dp_query('SELECT count(DISTINCT note), count(DISTINCT cost) FROM visit_dp', max_rows => 1048576) AS (a bigint, b bigint)

-- The limit of rows is the owner's to choose, and what it reads is its own.
-- D14 REFUSE 42501
CALL dp_choose_contribution('visit', 1)
CALL dp_choose_contribution('visit_dp', 1)

-- The functions that digest and collect values, called by anybody on rows of his own.
-- D14 SAME
SELECT dp_rdr.value_digest(1) = dp_rdr.value_digest(1), dp_rdr.value_digest(1.0) = dp_rdr.value_digest(1.00), dp_rdr.value_digest('a'::text) = dp_rdr.value_digest('b'::text)
SELECT dp_rdr.value_digest(NULL::text) IS NULL, dp_rdr.value_digest(repeat('x', 1048577)) IS NULL
