-- Answers redrawn, and signals: what an analyst lets run on the exact answer, row by row. Of the five ages that are declared, one has a
-- row in one database and none in the other.

-- Q06 CHARGED 5
-- Errors: a division by zero, an overflow, a cast that fails, a pattern; each for the one row that differs.
SELECT dp_request('SELECT age, count(*) AS n, sum(salary) AS s, sum(height) AS h, sum(rate) AS r, avg(salary) AS a FROM person_dp GROUP BY age', 'x') > 0
  controller> SELECT state, account FROM dp_approve((SELECT max(request) FROM dp_requests()), basis => 'public')
  SELECT count(dp_request_signal(r, 'mean', e, 'x', upper => 100)) FROM (SELECT max(request) FROM dp_requests('answered') WHERE kind = 'query') q (r), unnest(array['1/(answer.n - 1)', 'answer.n * 9223372036854775807 * 2', '(answer.n::text || ''x'')::int', 'CASE WHEN answer.n::text LIKE ''1%'' THEN 1/(answer.n - answer.n) ELSE 0 END']) e
  controller> SELECT a.state, a.epsilon, a.account FROM dp_requests() q, dp_approve(q.request, basis => 'public') a
  SELECT state, epsilon, error95, basis FROM dp_requests(NULL) ORDER BY request DESC LIMIT 4
SELECT dp_request('SELECT age, count(*) AS n, sum(salary) AS s, sum(height) AS h, sum(rate) AS r, avg(salary) AS a FROM person_dp GROUP BY age', 'x') > 0
  controller> SELECT state, account FROM dp_approve((SELECT max(request) FROM dp_requests()), basis => 'public')
  SELECT count(dp_request_signal(r, 'top', e, 'x', reference => 'dp.n', k => 1)) FROM (SELECT max(request) FROM dp_requests('answered') WHERE kind = 'query') q (r), unnest(array['answer.s / (answer.n - 1)', '1e308::float8 * answer.h * 1e308::float8', '(1 / nullif(answer.r, 0))::numeric * 10::numeric', 'CASE WHEN answer.n > 0 THEN ''NaN''::float8 ELSE ''Infinity'' END']) e
  controller> SELECT a.state, a.epsilon, a.account FROM dp_requests() q, dp_approve(q.request, basis => 'public') a
  SELECT count(*), count(dp_answer(request)) FROM (SELECT request FROM dp_requests(NULL) ORDER BY request DESC LIMIT 4) q
-- Time: a condition that is expensive where there is a row.
SELECT dp_request('SELECT age, count(*) AS n FROM person_dp GROUP BY age', 'x') > 0
  controller> SELECT state, account FROM dp_approve((SELECT max(request) FROM dp_requests()), basis => 'public')
  SELECT count(dp_request_signal(r, 'mean', e, 'x')) FROM (SELECT max(request) FROM dp_requests('answered') WHERE kind = 'query') q (r), unnest(array['CASE WHEN answer.n > 0 AND dp.age::text LIKE ''%9%'' THEN 1 ELSE 0 END', 'answer.n::text::numeric', 'CASE answer.age WHEN 90 THEN answer.n END', 'coalesce(nullif(answer.n, 1), dp.n)']) e
  controller> SELECT a.state, a.epsilon, a.account FROM dp_requests() q, dp_approve(q.request, basis => 'public') a
  SELECT state, epsilon, error95, basis, kind, query FROM dp_requests(NULL) ORDER BY request DESC LIMIT 4

-- Q06 CHARGED 1
-- What prints, waits, counts, or runs somebody's code is refused before it meets a row.
SELECT dp_request('SELECT age, count(*) AS n, sum(salary) AS s FROM person_dp GROUP BY age', 'signals') > 0
  controller> SELECT state, account FROM dp_approve((SELECT max(request) FROM dp_requests()), basis => 'public')
  ! SELECT dp_request_signal((SELECT max(request) FROM dp_requests('answered') WHERE purpose = 'signals'), 'mean', 'CASE WHEN answer.n > 0 THEN length(pg_sleep(5)::text) ELSE 0 END', '')
  ! SELECT dp_request_signal((SELECT max(request) FROM dp_requests('answered') WHERE purpose = 'signals'), 'mean', 'answer.n + nextval(''public.person'')', '')
  ! SELECT dp_request_signal((SELECT max(request) FROM dp_requests('answered') WHERE purpose = 'signals'), 'mean', 'length(set_config(''application_name'', answer.n::text, false))', '')
  ! SELECT dp_request_signal((SELECT max(request) FROM dp_requests('answered') WHERE purpose = 'signals'), 'mean', 'length(repeat(''x'', answer.n::int * 100000000))', '')
  ! SELECT dp_request_signal((SELECT max(request) FROM dp_requests('answered') WHERE purpose = 'signals'), 'mean', 'length(current_setting(answer.n::text))', '')
  ! SELECT dp_request_signal((SELECT max(request) FROM dp_requests('answered') WHERE purpose = 'signals'), 'mean', '(SELECT count(*) FROM person)', '')
  ! SELECT dp_request_signal((SELECT max(request) FROM dp_requests('answered') WHERE purpose = 'signals'), 'mean', 'answer.n FROM person', '')
  ! SELECT dp_request_signal((SELECT max(request) FROM dp_requests('answered') WHERE purpose = 'signals'), 'mean', 'pg_advisory_lock(answer.n)::text::int', '')
  ! SELECT dp_request_signal((SELECT max(request) FROM dp_requests('answered') WHERE purpose = 'signals'), 'mean', 'count(*)', '')
  ! SELECT dp_request_signal((SELECT max(request) FROM dp_requests('answered') WHERE purpose = 'signals'), 'median', 'answer.n', '')
  ! SELECT dp_request_signal((SELECT max(request) FROM dp_requests('answered') WHERE purpose = 'signals'), 'top', 'answer.n', '', reference => 'answer.n', k => 1)
  SELECT count(*) FROM dp_requests() WHERE kind = 'signal'

-- Q06 SAME
-- The price of a signal, and how accurate it will be, are public facts.
SELECT kind, query, state, epsilon, error95, basis FROM dp_requests(NULL) WHERE kind = 'signal' ORDER BY request
SELECT dp_request_signal((SELECT max(request) FROM dp_requests('answered') WHERE purpose = 'signals'), 'mean', 'answer.n', 'priced', upper => 1000) > 0
  SELECT query, epsilon, error95 FROM dp_requests() WHERE purpose = 'priced'
  SELECT count(dp_reject(request)) FROM dp_requests()

-- Q06 NOCHARGE
-- Redrawn: a thousand times at no charge, by who may fetch it.
SELECT count(*), min(draw), max(draw) FROM dp_redraw((SELECT max(request) FROM dp_requests('answered') WHERE purpose = 'signals'), 1000) AS r (draw int, age int, n bigint, s bigint)
BEGIN READ ONLY
  SELECT array_agg(age ORDER BY draw, age) FROM dp_redraw((SELECT max(request) FROM dp_requests('answered') WHERE purpose = 'signals'), 2) AS r (draw int, age int, n bigint, s bigint)
  COMMIT

-- Q06 REFUSE 42501|55000|42883|42804
SELECT * FROM dp_inspect_signal((SELECT max(request) FROM dp_requests(NULL) WHERE kind = 'signal'))
SELECT * FROM dp_inspect_signal(1)
SELECT * FROM dp_inspect_signal(0)
SELECT * FROM dp_redraw((SELECT max(request) FROM dp_requests('answered') WHERE kind = 'signal')) AS r (draw int, dp float8, exact float8, error95 float8)
SELECT * FROM dp_redraw((SELECT max(request) FROM dp_requests('answered') WHERE purpose = 'signals')) AS r (draw int, age int, n text, s bigint)
SELECT * FROM dp_redraw(0) AS r (draw int, n bigint)
SELECT dp_request_signal(0, 'mean', '1', '')
SELECT dp_approve((SELECT max(request) FROM dp_requests(NULL) WHERE kind = 'signal'), basis => 'public')
colleague> SELECT * FROM dp_redraw(1) AS r (draw int, n bigint)
colleague> SELECT dp_request_signal(1, 'mean', 'answer.n', '')
colleague> SELECT * FROM dp_inspect_signal(1)
stranger> SELECT dp_request_signal(1, 'mean', 'answer.n', '')

-- Q05 CHARGED 2
-- In sight of the rows: its width and its price are not told, and it is not redrawn.
SELECT dp_request('SELECT age, count(*) AS n FROM person_dp GROUP BY age', 'sighted') > 0
  controller> SELECT state, account FROM dp_approve((SELECT max(request) FROM dp_requests()), epsilon => 0.07)
  ! SELECT * FROM dp_redraw((SELECT max(request) FROM dp_requests('answered') WHERE purpose = 'sighted')) AS r (draw int, age int, n bigint)
  SELECT dp_request_signal((SELECT max(request) FROM dp_requests('answered') WHERE purpose = 'sighted'), 'mean', 'answer.n', 'sighted too') > 0
  controller> ! SELECT dp_approve((SELECT max(request) FROM dp_requests()), basis => 'public')
  controller> SELECT state, account FROM dp_approve((SELECT max(request) FROM dp_requests()), epsilon => 0.07)
  SELECT epsilon, error95, basis FROM dp_requests(NULL) WHERE purpose LIKE 'sighted%' ORDER BY request
  SELECT count(*), count(error95) FROM dp_fetch((SELECT max(request) FROM dp_requests('answered') WHERE purpose = 'sighted too')) AS f (dp float8, exact float8, error95 float8)
