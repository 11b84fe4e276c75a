-- Questions that somebody else permits: what an analyst does with requests of his own and of others, and what he, reviewers and
-- listeners see of decisions.

-- Q01 REFUSE 0A000
SELECT dp_request('SELECT count(*) FROM person_dp WHERE id = 4242 ORDER BY 1', 'x')
SELECT dp_request('SELECT count(*), (SELECT count(*) FROM person_dp) FROM person_dp', 'x')
SELECT dp_request('SELECT note FROM person_dp GROUP BY note LIMIT 1', 'x')
SELECT dp_request('SELECT max(note) FROM person_dp', 'x')
SELECT dp_request('SELECT count(*) FROM person_dp WHERE 1 / (id - 4242) > 0 LIMIT 1', 'x')

-- Q01 REFUSE 42501|55000
SELECT dp_request('SELECT * FROM person_dp', 'x')
SELECT dp_request('SELECT count(*) FROM person', 'x')

-- Q02 NOCHARGE
SELECT dp_request('SELECT count(*) FROM person_dp WHERE age = 90', 'x') > 0
SELECT dp_request('SELECT sex, count(*), sum(salary), avg(height) FROM person_dp WHERE age = 90 GROUP BY sex', 'x') > 0

-- Q02 SAME
SELECT state, epsilon, error95, basis, approved_by FROM dp_requests(NULL) WHERE state = 'pending' ORDER BY request LIMIT 1
SELECT count(dp_reject(request)) FROM dp_requests()

-- Q03 REFUSE 42501
SELECT dp_approve(coalesce(max(request), 1)) FROM dp_requests(NULL)
SELECT dp_approve(coalesce(max(request), 1), epsilon => 100, basis => 'public') FROM dp_requests(NULL)
SELECT dp_release(coalesce(max(request), 1)) FROM dp_requests(NULL)
SELECT dp_approve(1)
SELECT * FROM dp_fetch(0) AS (n bigint)
SELECT dp_answer(9223372036854775807)
SELECT dp_reject(-1)
SELECT dp_set_review('person', ARRAY[current_user::regrole])
SELECT * FROM dp_rdr.request
SELECT rows FROM dp_rdr.request
INSERT INTO dp_rdr.reviewer VALUES ('person', current_user::regrole)
SELECT currval('dp_rdr.request_id_seq')
colleague> SELECT dp_answer(1)
stranger> SELECT dp_request('SELECT count(*) FROM person_dp', 'x')
