-- What is decided, and what its requester and others see of it, whatever the rows are.

-- Q04 CHARGED 1
SELECT dp_request('SELECT sex, count(*) AS n FROM person_dp WHERE age = 90 GROUP BY sex', 'x') > 0
  controller> SELECT state, epsilon FROM dp_approve((SELECT max(request) FROM dp_requests()), basis => 'public')
  SELECT count(*) FROM dp_fetch((SELECT max(request) FROM dp_requests(NULL))) AS (sex text, n bigint)

-- Q05 SAME
SELECT dp_request('SELECT count(*) AS n FROM person_dp WHERE age = 90', 'x') > 0
  controller> SELECT state, account FROM dp_approve((SELECT max(request) FROM dp_requests()), tau => 0.9, selection => 'within_data')
  SELECT state, epsilon, error95, basis, reason, approved_by FROM dp_requests(NULL) ORDER BY request DESC LIMIT 1
SELECT dp_request('SELECT count(*) AS n FROM person_dp WHERE age = 90', 'x') > 0
  controller> SELECT state, account FROM dp_approve((SELECT max(request) FROM dp_requests()), epsilon => 0.5, hold => true)
  SELECT state, epsilon, error95, basis, reason, approved_by FROM dp_requests(NULL) ORDER BY request DESC LIMIT 1
SELECT answers, reason FROM dp_remaining('SELECT count(*) FROM scarce_dp')

-- Q03 REFUSE 42501
SELECT dp_request('SELECT count(*) AS n FROM person_dp', 'x') > 0
  !colleague> SELECT dp_answer(1)
  !colleague> SELECT dp_approve(1)
  !SELECT dp_approve((SELECT max(request) FROM dp_requests()))
SET ROLE NONE
  !SELECT dp_approve(coalesce((SELECT max(request) FROM dp_requests()), 1))
