-- What an answer is good for: redrawn, and as a signal of what the exact one would give. Sessions are of their own logins: nobody decides
-- in a session in which it could have been asked.

LOAD 'dp_rdr';
ALTER SEQUENCE dp_rdr.ledger_row_id_seq RESTART WITH 320001;
ALTER SEQUENCE dp_rdr.request_id_seq RESTART WITH 1001;
SET client_min_messages = warning;
DROP ROLE IF EXISTS signal_owner, signal_ann, signal_bea, signal_rita;
RESET client_min_messages;
CREATE ROLE signal_owner LOGIN;
CREATE ROLE signal_ann LOGIN;    -- asks
CREATE ROLE signal_bea LOGIN;    -- does, too; by Gaussian noise
CREATE ROLE signal_rita LOGIN;   -- reviews
GRANT CREATE ON SCHEMA public TO signal_owner;
\pset null -
\pset format unaligned
CREATE FUNCTION told(asked text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    message text; detail text; hint text; state text; answer text;
BEGIN
    EXECUTE asked INTO answer;
    RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(' | ', state || ' ' || message, nullif(detail, ''), nullif(hint, ''));
END $$;
SET SESSION AUTHORIZATION signal_owner;
CREATE TYPE signal_kind AS ENUM ('small', 'large');
-- 300 + 100 i in room i, and nobody in room 8.
CREATE TABLE signal_ward AS SELECT room, 'town ' || i % 40 AS town, i % 100 AS age, (i % 100)::float8 / 8 AS weight, (i % 100 + 0.25)::numeric(6,2) AS paid,
    (array['small', 'large']::signal_kind[])[1 + i % 2] AS kind
FROM generate_series(0, 7) room, generate_series(1, 300 + 100 * room) i;
SELECT dp_protect('signal_ward', 'signal_ward_dp');
SELECT dp_set_groups('signal_ward', 'room', '{0,1,2,3,4,5,6,7,8}'), dp_set_bounds('signal_ward', 'age', 0, 100), dp_set_bounds('signal_ward', 'weight', 0, 12.5), dp_set_bounds('signal_ward', 'paid', 0, 100.50);
SELECT dp_set_odometer('signal_ward', 'none', delta_total => 0.1);
SELECT dp_grant('signal_ward_dp', 'signal_ann', tau => 0.9, delta => 1e-6), dp_grant('signal_ward_dp', 'signal_bea', tau => 0.9, mechanism => 'gaussian', delta => 1e-6);

SET SESSION AUTHORIZATION signal_ann;
SELECT dp_request('SELECT room, count(*) AS n, sum(age) AS s, avg(paid) AS a, dp_low(count(*)) AS low, sum(weight) AS w FROM signal_ward_dp GROUP BY room', 'beds') AS first \gset
SELECT dp_request('SELECT count(*) AS n, town FROM signal_ward_dp GROUP BY town', 'towns') AS found \gset
SELECT dp_request('SELECT kind, count(*) AS n FROM signal_ward_dp GROUP BY kind', 'kinds') AS sighted \gset
SELECT dp_request('SELECT count(*) AS n FROM signal_ward_dp', 'all') AS waiting \gset
SET SESSION AUTHORIZATION signal_bea;
SELECT dp_request('SELECT room, count(*) AS n, sum(age) AS s FROM signal_ward_dp GROUP BY room', 'beds') AS normal \gset
SET SESSION AUTHORIZATION signal_owner;
SELECT a.* FROM unnest(array[:first, :found, :normal]) r, dp_approve(r, epsilon => 1, basis => 'public') a;
SELECT * FROM dp_approve(:sighted, epsilon => 1);

-- g(S): SQL over dp_fetch.
SET SESSION AUTHORIZATION signal_ann;
CREATE TEMP TABLE answer AS SELECT * FROM dp_fetch(:first) AS (room int, n bigint, s bigint, a numeric, low bigint, w float8);
SELECT count(*) FILTER (WHERE n > 500) BETWEEN 0 AND 9 AS large FROM answer;

-- Redrawn: the same groups, its own columns, fresh noise around the numbers of the answer.
CREATE TEMP TABLE drawn AS SELECT * FROM dp_redraw(:first, 1000) AS (draw int, room int, n bigint, s bigint, a numeric, low bigint, w float8);
SELECT count(*), min(draw), max(draw), count(DISTINCT draw), count(DISTINCT room), min(a) >= 0 AND max(a) <= 100.50 AS within, count(DISTINCT d.n - low) AS widths FROM drawn d;
SELECT array_agg(DISTINCT rooms) FROM (SELECT array_agg(room) AS rooms FROM drawn GROUP BY draw) r;
-- Laplace noise of scale 4 on a count, as there are four measures: of 9,000 draws the mean distance is within 10 %, and draws are on either side, but for a
-- chance below 1e-9.
SELECT avg(abs(d.n - o.n)) BETWEEN 3.5 AND 4.5 AS count_noise, avg(abs(d.s - o.s)) BETWEEN 350 AND 450 AS sum_noise, avg(abs(d.w - o.w)) BETWEEN 44 AND 56 AS real_noise,
    avg((d.n > o.n)::int) BETWEEN 0.39 AND 0.49 AS either_side, count(DISTINCT d.n - o.n) > 20 AS many FROM drawn d JOIN answer o USING (room);
SELECT abs(corr(d.n - o.n, d.s - o.s)) < 0.07 AS coordinates_apart FROM drawn d JOIN answer o USING (room);
SELECT abs(corr(d.n - o.n, e.n - p.n)) < 0.2 AS groups_apart FROM drawn d JOIN answer o USING (room) JOIN drawn e ON e.draw = d.draw AND e.room = d.room + 1 JOIN answer p ON p.room = e.room WHERE d.room % 2 = 0;
SELECT count(*) < 500 AS drawn_anew FROM drawn d JOIN dp_redraw(:first, 1000) AS r (draw int, room int, n bigint, s bigint, a numeric, low bigint, w float8) USING (draw, room, s);
SELECT count(*) AS hundred FROM dp_redraw(:first) AS r (draw int, room int, n bigint, s bigint, a numeric, low bigint, w float8);
-- Discovered groups: those that have appeared, and no others.
SELECT array_agg(DISTINCT town ORDER BY town) = (SELECT array_agg(town ORDER BY town) FROM dp_fetch(:found) AS (n bigint, town text)) AS same_groups, count(*) = 3 * count(DISTINCT town) AS all_of_them
    FROM dp_redraw(:found, 3) AS (draw int, n bigint, town text);
-- Gaussian noise: the standard deviation of 9,000 draws is within 5 %, but for a chance below 1e-9.
SET SESSION AUTHORIZATION signal_bea;
SELECT stddev_pop(d.n - o.n) / (error95[2] / 1.96) BETWEEN 0.92 AND 1.08 AS count_noise, stddev_pop(d.s - o.s) / (error95[3] / 1.96) BETWEEN 0.95 AND 1.05 AS sum_noise
    FROM dp_requests(NULL) q, dp_redraw(:normal, 1000) AS d (draw int, room int, n bigint, s bigint) JOIN dp_fetch(:normal) AS o (room int, n bigint, s bigint) USING (room)
    WHERE q.request = :normal GROUP BY error95;
-- It shows what was charged: not where nobody may know that.
SET SESSION AUTHORIZATION signal_ann;
SELECT told(format('SELECT * FROM dp_redraw(%s) AS (draw int, kind signal_kind, n bigint)', :sighted));
SELECT told(format('SELECT * FROM dp_redraw(%s) AS (draw int, n bigint)', :waiting)) ~ '^55000 there is nothing to fetch';
SELECT told(format('SELECT * FROM dp_redraw(%s, %s) AS (draw int, n bigint, town text)', :found, d)) FROM unnest(array['0', '1001', '-5', 'NULL', '1, 2']) d;
SELECT told(format('SELECT * FROM dp_redraw(%s) AS (%s)', :found, c)) FROM unnest(array['n bigint, town text', 'draw bigint, n bigint, town text', 'draw int, town text, n bigint']) c;
SELECT told(format('SELECT dp_redraw(%s)', :found)) ~ '^0A000 dp_redraw must be called in FROM';
SET SESSION AUTHORIZATION signal_bea;
SELECT told(format('SELECT * FROM dp_redraw(%s) AS (draw int, n bigint, town text)', :found)) ~ '^42501 there is no request';
SET SESSION AUTHORIZATION signal_owner;
SELECT count(*) > 0 AS by_the_owner FROM dp_redraw(:found, 1) AS (draw int, n bigint, town text);
-- Its law is that of the answer, whatever is declared since.
SELECT dp_set_bounds('signal_ward', 'age', 0, 10);
SET SESSION AUTHORIZATION signal_ann;
SELECT avg(abs(d.s - o.s)) BETWEEN 350 AND 450 AS sum_noise FROM dp_redraw(:first, 1000) AS d (draw int, room int, n bigint, s bigint, a numeric, low bigint, w float8) JOIN answer o USING (room);

-- A signal: asked for about an answer as it was declared.
SELECT told(format('SELECT dp_request_signal(%s, ''mean'', ''answer.n'', '''', upper => 1000)', :first));
SET SESSION AUTHORIZATION signal_owner;
SELECT dp_set_bounds('signal_ward', 'age', 0, 100);
SELECT dp_set_groups('signal_ward', 'room', '{0,1,2,3,4,5,6,7,9}');
SET SESSION AUTHORIZATION signal_ann;
SELECT told(format('SELECT dp_request_signal(%s, ''mean'', ''answer.n'', '''', upper => 1000)', :first)) ~ '^55000 what request \d+ was answered under has changed';
SET SESSION AUTHORIZATION signal_owner;
SELECT dp_set_groups('signal_ward', 'room', '{8,7,6,5,4,3,2,1,0}');
SET SESSION AUTHORIZATION signal_ann;
SELECT dp_request_signal(:first, 'mean', 'answer.n', 'how many in a room', upper => 1000) AS mean \gset
SELECT dp_request_signal(:first, 'top', 'answer.n', 'the largest rooms', reference => '-dp.room', k => 4) AS top \gset
SELECT dp_request_signal(:first, 'mean', 'CASE WHEN (answer.n > 500) = (dp.n > 500) THEN 1 ELSE 0 END', 'how many decisions stand', epsilon => 0.05) AS stands \gset
SELECT kind, regexp_replace(query, '\m' || :first || '\M', 'first') AS query, purpose, state, epsilon, error95, basis FROM dp_requests() WHERE kind = 'signal' ORDER BY request;

-- Arguments.
SELECT a, told(format('SELECT dp_request_signal(%s, %s)', :first, a)) FROM unnest(array[
    'NULL, ''1'', ''''', '''mean'', NULL, ''''', '''mean'', ''1'', NULL', '''mean'', ''1'', '''', lower => NULL', '''mean'', ''1'', '''', upper => NULL', '''mean'', ''1'', '''', expires => NULL',
    '''median'', ''1'', ''''', '''mean'', ''1'', '''', reference => ''1''', '''mean'', ''1'', '''', k => 1', '''mean'', ''1'', '''', lower => 1', '''mean'', ''1'', '''', upper => ''NaN''',
    '''mean'', ''1'', '''', lower => ''-Infinity''', '''mean'', ''1'', '''', lower => -1e308, upper => 1e308', '''top'', ''1'', ''''', '''top'', ''1'', '''', k => 3', '''top'', ''1'', '''', reference => ''1''',
    '''top'', ''1'', '''', reference => ''1'', k => 0', '''top'', ''1'', '''', reference => ''1'', k => 10', '''top'', ''1'', '''', reference => ''1'', k => 3, upper => 2', '''mean'', ''1'', '''', epsilon => 0',
    '''mean'', ''1'', '''', epsilon => 0.0001', '''mean'', ''1'', '''', expires => ''0''']) a;
SELECT told(format('SELECT dp_request_signal(%s, ''mean'', ''1'', repeat(''x'', 2001))', :first));
SELECT told(format('SELECT dp_request_signal(%s, ''mean'', ''1 /* '' || repeat(''x'', 65536) || ''*/'', '''')', :first)) ~ '^54000';
-- Expressions: numbers of the two answers, by functions that cannot fail.
CREATE FUNCTION pg_temp.mine(bigint) RETURNS bigint LANGUAGE sql AS 'SELECT $1';
SELECT e, told(format('SELECT dp_request_signal(%s, ''mean'', %L, '''')', :first, e)) FROM unnest(array[
    'answer.n, 1', '1 FROM pg_class', '1; SELECT 2', 'n', 'answer.nothing', 'signal_ward.n', 'answer', 'dp.*', 'answer.ctid', '''1''', 'NULL', 'answer.n > 3', 'answer.room::text', 'count(*)', 'sum(answer.n)',
    'row_number() OVER ()', 'generate_series(1, answer.n)', '(SELECT 1)', '(SELECT count(*) FROM signal_ward)', 'answer.n = ANY (SELECT 1)', 'random()', 'pg_sleep(answer.n)', 'nextval(''s'')', 'pg_temp.mine(answer.n)',
    'public.told(''x'')::int', '$1', '(answer.n)::signal_kind', 'exp(answer.n)', 'answer.n::text::int', 'length(repeat(''x'', answer.n::int))', '1/0', '', 'answer.n AS x', 'current_setting(''a'')::int',
    'length(lo_get(answer.n)::text)']) e;
SELECT e, told(format('SELECT dp_request_signal(%s, ''top'', ''answer.n'', '''', reference => %L, k => 2)', :first, e)) FROM unnest(array['answer.n', 'n', 'dp.room::text', '']) e;
SELECT e, told(format('SELECT dp_request_signal(%s, ''mean'', %L, '''')', :first, e)) FROM unnest(array['1/(answer.n - dp.n)', 'sqrt(answer.a - 1000)', 'ln(answer.w)', 'answer.n * answer.n * 9223372036854775807',
    'CASE answer.room WHEN 3 THEN 1 ELSE 0 END', 'NULL::int', '1.5', '''NaN''::float8', 'coalesce(nullif(answer.n, 0), dp.n)::numeric']) e;
SELECT count(dp_reject(request)) FROM dp_requests() WHERE purpose = '';
-- Requests that are none, of others, of groups that nobody declared; a signal on a signal.
SELECT told(format('SELECT dp_request_signal(%s, ''mean'', ''1'', '''')', r)) FROM unnest(array[:waiting::bigint, 0, :found]) WITH ORDINALITY u (r, i) ORDER BY i;
SET SESSION AUTHORIZATION signal_bea;
SELECT told(format('SELECT dp_request_signal(%s, ''mean'', ''1'', '''')', :first)) ~ '^42501 there is no request';
SET SESSION AUTHORIZATION signal_owner;
SELECT told(format('SELECT dp_request_signal(%s, ''mean'', ''1'', '''')', :first)) ~ '^42501 request \d+ was made by another role';
-- Exact numbers are for the owner.
SET SESSION AUTHORIZATION signal_ann;
SELECT told(format('SELECT dp_inspect_signal(%s)', :mean)) ~ '^42501 must be owner';
SET SESSION AUTHORIZATION signal_bea;
SELECT told(format('SELECT dp_inspect_signal(%s)', :mean)) ~ '^42501 there is no request';

-- Nothing was looked at: on public facts, at the price of a count. Noise of 2^30 / epsilon on the sum: of three numbers none is further off than ten times
-- its half-width, but for a chance of 1e-12.
SET SESSION AUTHORIZATION signal_owner;
SELECT told(format('SELECT dp_inspect_signal(%s)', r)) FROM unnest(array['NULL', '0', :'first']) r;
SELECT state, epsilon, account FROM dp_approve(:stands, basis => 'public');
SELECT state, epsilon, account FROM dp_approve(:mean, epsilon => 20, basis => 'public');
SELECT state, epsilon, account FROM dp_approve(:top, epsilon => 80, basis => 'public');
SET SESSION AUTHORIZATION signal_ann;
SELECT s.dp BETWEEN 500 AND 650 AS dp, abs(s.exact - 5200 / 9.0) < 10 * s.error95 AS exact, round(s.error95::numeric, 3) AS error95, abs(s.dp - (SELECT avg(greatest(0, least(1000, n))) FROM answer)) < 1e-5 AS of_the_answer
    FROM dp_fetch(:mean) AS s (dp float8, exact float8, error95 float8);
-- By number of row where they are alike: rooms 0, 1, 2, 3 by -room, and 7, 6, 5, 4 by number.
SELECT * FROM dp_fetch(:top) AS s (dp float8, exact float8, error95 float8);
SELECT jsonb_array_length(a) AS rows, a -> 0 ->> 'error95' AS error95, (a -> 0 ->> 'exact')::float8 BETWEEN 0 AND 1 AS exact FROM dp_answer(:stands) a;
SELECT told(format('SELECT * FROM dp_redraw(%s) AS (draw int, dp float8, exact float8, error95 float8)', :mean)) ~ '^55000 request \d+ is a signal';
SELECT state, epsilon, basis, error95[1], error95[3] FROM dp_requests(NULL) WHERE request IN (:mean, :top, :stands) ORDER BY request;
SET SESSION AUTHORIZATION signal_owner;
SELECT regexp_replace(query, '\d{4}', 'first') AS query, kind, epsilon, account, guarantee, parameters - 'request' - 'parent' - 'declared' AS parameters, (parameters ->> 'parent')::bigint = :first AS parent
    FROM dp_rdr.ledger WHERE relation = 'public.signal_ward' AND parameters ? 'task' ORDER BY id;

SET SESSION AUTHORIZATION signal_ann;
SELECT told(format('SELECT dp_request_signal(%s, ''mean'', ''1'', '''')', :mean)) ~ '^0A000 a signal on a signal is not supported' AS refused;

-- The terms are those of the policy, unless its price is found in the rows. tau_var of an approver would look at the rows, and is refused; tau is not.
SET SESSION AUTHORIZATION signal_ann;
SELECT dp_request_signal(:first, 'mean', 'answer.n', 'terms', upper => 1000) AS terms \gset
SET SESSION AUTHORIZATION signal_owner;
SELECT o, told(format('SELECT dp_approve(%s, %s)', :terms, o)) FROM unnest(array['tau_var => 0.1', 'tau => 0.9, selection => ''within_data''', 'epsilon => 0.0001']) o;
SELECT state, epsilon, account FROM dp_approve(:terms, tau => 0.5, basis => 'public');
SELECT dp_grant('signal_ward_dp', 'signal_ann', tau_var => 1e-3);
SET SESSION AUTHORIZATION signal_ann;
SELECT dp_request_signal(:first, 'mean', 'answer.n', 'terms', upper => 1000) AS terms \gset
SELECT epsilon, error95 FROM dp_requests() WHERE request = :terms;
SET SESSION AUTHORIZATION signal_owner;
SELECT told(format('SELECT dp_approve(%s)', :terms));
SELECT state, epsilon, account FROM dp_approve(:terms, epsilon => 0.3, basis => 'public');
SELECT dp_grant('signal_ward_dp', 'signal_ann', tau => 0.9);

-- A look is recorded: then it is a decision in sight of the rows, whose price and error nobody is told. (All signals on that answer are, so
-- it is an answer of its own.)
SET SESSION AUTHORIZATION signal_ann;
SELECT dp_request('SELECT room, count(*) AS n, sum(age) AS s, avg(paid) AS a, dp_low(count(*)) AS low, sum(weight) AS w FROM signal_ward_dp GROUP BY room', 'seen') AS seen \gset
SET SESSION AUTHORIZATION signal_owner;
SELECT state FROM dp_approve(:seen, epsilon => 1, basis => 'public');
SET SESSION AUTHORIZATION signal_ann;
SELECT dp_request_signal(:seen, 'mean', 'abs(answer.n - dp.n)', 'the true error', upper => 100) AS looked \gset
SET SESSION AUTHORIZATION signal_owner;
CREATE TEMP TABLE truth AS SELECT r.room, count(w.age) AS n, coalesce(sum(age), 0) AS s, coalesce(avg(paid), 50.25) AS a, coalesce(sum(weight), 0) AS w FROM generate_series(0, 8) r (room) LEFT JOIN signal_ward w USING (room) GROUP BY 1;
SELECT dp, abs(exact - (SELECT avg(abs(t.n - f.n)) FROM dp_fetch(:seen) AS f (room int, n bigint, s bigint, a numeric, low bigint, w float8) JOIN truth t USING (room))) < 1e-6 AS exact FROM dp_inspect_signal(:looked);
SELECT told(format('SELECT dp_approve(%s, basis => ''public'')', :looked)) ~ '^55000 somebody has looked at rows for request';
SELECT state, epsilon, account FROM dp_approve(:looked);
SET SESSION AUTHORIZATION signal_ann;
SELECT epsilon, error95, basis FROM dp_requests(NULL) WHERE request = :looked;
SELECT exact BETWEEN 0 AND 100 AS exact, error95 FROM dp_fetch(:looked) AS s (dp float8, exact float8, error95 float8);
-- So is one on an answer that was: no decision of a later day makes it public.
SELECT dp_request_signal(:sighted, 'mean', 'answer.n', 'half', upper => 10000) AS of_sighted \gset
SET SESSION AUTHORIZATION signal_owner;
SELECT told(format('SELECT dp_approve(%s, basis => ''public'')', :of_sighted));
SELECT state, epsilon, account FROM dp_approve(:of_sighted, hold => true);
SELECT jsonb_array_length(dp_answer(:of_sighted)) AS held;
SELECT dp_release(:of_sighted);
SET SESSION AUTHORIZATION signal_ann;
SELECT epsilon, error95, basis FROM dp_requests(NULL) WHERE request = :of_sighted;
SELECT error95 FROM dp_fetch(:of_sighted) AS s (dp float8, exact float8, error95 float8);

-- What the exact numbers are: of all answers together, by SQL; NULL and NaN count as the lower bound, or as the last.
SELECT count(dp_request_signal(:seen, t, e, e, lower => l, upper => u)) FROM (VALUES ('mean', 'answer.n', 0, 1000), ('mean', 'answer.s', -100, 1e5), ('mean', 'answer.a', 0, 100), ('mean', 'answer.low - answer.n', -1, 1),
    ('mean', '1/(answer.n - 300)', 0, 1), ('mean', 'CASE WHEN answer.room = 8 THEN ''NaN''::float8 ELSE 1 END', 0.5, 1.5), ('mean', 'CASE WHEN answer.room < 4 THEN ''Infinity''::float8 ELSE ''-Infinity'' END', 0, 1),
    ('mean', 'CASE WHEN answer.room < 4 THEN NULL ELSE 3 END', 2, 4), ('mean', 'answer.w', 0, 3e5), ('mean', 'answer.n', 400, 500)) v (t, e, l, u);
SET SESSION AUTHORIZATION signal_owner;
SELECT q.purpose, round(i.exact::numeric, 4) AS exact FROM dp_requests() q, dp_inspect_signal(q.request) i WHERE q.kind = 'signal' ORDER BY request;
SELECT round(avg(n), 4) AS n, round(avg(s), 4) AS s, round(avg(a), 4) AS a, 0 AS low, round(avg(coalesce(1 / nullif(n - 300, 0), 0)), 4) AS one, round(avg(CASE WHEN room = 8 THEN 0.5 ELSE 1 END), 4) AS nan, round(4 / 9.0, 4) AS infinite,
    round((4 * 2 + 5 * 3) / 9.0, 4) AS nothing, round(avg(w)::numeric, 4) AS w, round(avg(greatest(400, least(500, n))), 4) AS clamped FROM truth;
SELECT count(dp_reject(request)) FROM dp_requests() WHERE kind = 'signal';
SET SESSION AUTHORIZATION signal_ann;
SELECT count(dp_request_signal(:seen, 'top', e, e || ' by ' || r, reference => r, k => k)) FROM (VALUES ('answer.n', 'dp.room', 3), ('-answer.n', 'dp.room', 3), ('NULL::int', '-dp.room', 3), ('CASE WHEN answer.room < 5 THEN ''NaN''::float8 END', '-dp.room', 3),
    ('CASE WHEN answer.room = 8 THEN ''-Infinity''::float8 END', 'dp.room', 1), ('1/(answer.n - 300)', 'CASE WHEN dp.room = 1 THEN 1 END', 1)) v (e, r, k);
SET SESSION AUTHORIZATION signal_owner;
SELECT q.purpose, round(i.exact::numeric, 4) AS exact FROM dp_requests() q, dp_inspect_signal(q.request) i WHERE q.kind = 'signal' ORDER BY request;
SELECT count(dp_reject(request)) FROM dp_requests() WHERE kind = 'signal';

-- The noise of two hundred signals: the mean distance from the exact number is that of Laplace noise of the sensitivity, between 0.65 and 1.5 of it, and at most 32 are further off
-- than error95; a chance below 1e-6 for all.
SET SESSION AUTHORIZATION signal_ann;
SELECT count(dp_reject(request)) FROM dp_requests();
CREATE FUNCTION pg_temp.exact_mean() RETURNS float8 LANGUAGE sql AS $$ SELECT 5200 / 9.0 / 1000 $$;
SET SESSION AUTHORIZATION signal_ann;
SELECT count(dp_request_signal(:first, 'mean', 'answer.n / 1000.0', 'many', epsilon => 20)) FROM generate_series(1, 100);
SET SESSION AUTHORIZATION signal_owner;
SELECT count(*), count(DISTINCT a.epsilon) FROM dp_requests() q, dp_approve(q.request, epsilon => 20, basis => 'public') a WHERE q.purpose = 'many';
SET SESSION AUTHORIZATION signal_ann;
SELECT count(dp_request_signal(:first, 'mean', 'answer.n / 1000.0', 'many', epsilon => 20)) FROM generate_series(1, 100);
SET SESSION AUTHORIZATION signal_owner;
SELECT count(*), count(DISTINCT a.epsilon) FROM dp_requests() q, dp_approve(q.request, epsilon => 20, basis => 'public') a WHERE q.purpose = 'many';
SET SESSION AUTHORIZATION signal_ann;
SELECT count(*), avg(abs(s.exact - pg_temp.exact_mean())) * 9 * 20 BETWEEN 0.55 AND 1.6 AS of_the_sensitivity, count(*) FILTER (WHERE abs(s.exact - pg_temp.exact_mean()) > s.error95) <= 36 AS covered, count(DISTINCT s.exact) > 190 AS draws
    FROM dp_requests('answered') q, dp_fetch(q.request) AS s (dp float8, exact float8, error95 float8) WHERE q.purpose = 'many';
-- Of a top: whole numbers.
SELECT count(dp_request_signal(:first, 'top', 'answer.n', 'tops', reference => '-dp.room', k => 8, epsilon => 1)) FROM generate_series(1, 100);
SET SESSION AUTHORIZATION signal_owner;
SELECT count(*) FROM dp_requests() q, dp_approve(q.request, epsilon => 1, basis => 'public') a WHERE q.purpose = 'tops';
SET SESSION AUTHORIZATION signal_ann;
SELECT count(DISTINCT s.exact) > 2 AS varied, bool_and(s.exact * 8 = round(s.exact * 8)) AS whole, min(s.dp) = max(s.dp) AS dp FROM dp_requests('answered') q, dp_fetch(q.request) AS s (dp float8, exact float8, error95 float8) WHERE q.purpose = 'tops';

-- Reviewers: what a reviewer was asked about the answer he is asked about the signal.
SET SESSION AUTHORIZATION signal_owner;
SELECT dp_set_review('signal_ward', '{signal_rita}');
SET SESSION AUTHORIZATION signal_ann;
SELECT dp_request('SELECT kind, count(*) AS n FROM signal_ward_dp GROUP BY kind', 'kinds') AS kinds \gset
SET SESSION AUTHORIZATION signal_rita;
SELECT * FROM dp_approve(:kinds);
SET SESSION AUTHORIZATION signal_ann;
SELECT dp_request_signal(:kinds, 'top', 'answer.n', 'larger', reference => 'CASE dp.kind WHEN ''small'' THEN 1 ELSE 0 END', k => 1) AS larger \gset
SELECT dp_request_signal(:kinds, 'mean', 'answer.n', 'mean', upper => 10000) AS again \gset
SET SESSION AUTHORIZATION signal_rita;
SELECT kind, state, epsilon, error95[2] > 0 AS error95 FROM dp_requests() ORDER BY request;
SELECT told(format('SELECT dp_inspect_signal(%s)', :larger)) ~ '^42501 must be owner';
SELECT told(format('SELECT dp_approve(%s, epsilon => 2)', :larger));
SELECT * FROM dp_approve(:larger, epsilon => 0.05);
SET SESSION AUTHORIZATION signal_owner;
SELECT exact FROM dp_inspect_signal(:larger);
SELECT round(exact::numeric, 3) AS exact FROM dp_inspect_signal(:again);
SELECT told(format('SELECT dp_approve(%s, basis => ''public'')', :again)) ~ '^55000 somebody has looked';
SELECT dp_set_review('signal_ward', '{}');
SELECT dp_verify_ledger('signal_ward');

RESET SESSION AUTHORIZATION;
-- Recorded for the one that was looked at while it waited.
SELECT id = :again FROM dp_rdr.request WHERE looked_at IS NOT NULL AND state = 'pending' AND view = 'signal_ward_dp'::regclass;
DROP FUNCTION told;
SELECT dp_unprotect('signal_ward_dp');
DROP TABLE signal_ward, answer, truth;
DROP TYPE signal_kind;
