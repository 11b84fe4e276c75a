-- Signals and who has looked: a look at rows for an answer, or for one signal on it, is a look for every signal on that answer. And what a
-- signal is does not depend on who computes it, or when.

LOAD 'dp_rdr';
ALTER SEQUENCE dp_rdr.ledger_row_id_seq RESTART WITH 330001;
ALTER SEQUENCE dp_rdr.request_id_seq RESTART WITH 3201;
SET client_min_messages = warning;
DROP ROLE IF EXISTS looks_owner, looks_ann, looks_rita;
RESET client_min_messages;
CREATE ROLE looks_owner LOGIN;
CREATE ROLE looks_ann LOGIN;  -- asks
CREATE ROLE looks_rita LOGIN; -- reviews
GRANT CREATE ON SCHEMA public TO looks_owner;
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
SET SESSION AUTHORIZATION looks_owner;
CREATE TABLE cot AS SELECT room, i % 100 AS age FROM generate_series(1, 3) room, generate_series(1, 100 * room) i;
SELECT dp_protect('cot', 'cot_dp');
SELECT dp_set_groups('cot', 'room', '{1,2,3}'), dp_set_odometer('cot', 'none', delta_total => 0.1), dp_grant('cot_dp', 'looks_ann', tau => 0.9);

-- One signal is looked at: so was what another says, asked before or after.
SET SESSION AUTHORIZATION looks_ann;
SELECT dp_request('SELECT room, count(*) AS n FROM cot_dp GROUP BY room', 'cots') AS first \gset
SELECT dp_request('SELECT room, count(*) AS n FROM cot_dp GROUP BY room', 'others') AS other \gset
SET SESSION AUTHORIZATION looks_owner;
SELECT a.* FROM unnest(array[:first, :other]) r, dp_approve(r, epsilon => 1, basis => 'public') a;
SET SESSION AUTHORIZATION looks_ann;
SELECT dp_request_signal(:first, 'mean', 'answer.n', 'one', upper => 1000) AS one \gset
SELECT dp_request_signal(:first, 'mean', 'answer.n', 'two', upper => 1000) AS two \gset
SELECT dp_request_signal(:other, 'mean', 'answer.n', 'apart', upper => 1000) AS apart \gset
SET SESSION AUTHORIZATION looks_owner;
SELECT exact FROM dp_inspect_signal(:one);
SET SESSION AUTHORIZATION looks_ann;
SELECT dp_request_signal(:first, 'mean', 'answer.n', 'three', upper => 1000) AS three \gset
SET SESSION AUTHORIZATION looks_owner;
SELECT told(format('SELECT dp_approve(%s, basis => ''public'')', r)) FROM unnest(array[:one, :two, :three, :apart]) r;
SELECT state, account FROM dp_approve(:two);

-- The page about an answer that was handed out is a look for the signals on it.
SET SESSION AUTHORIZATION looks_ann;
SELECT dp_request_signal(:other, 'mean', 'answer.n', 'before', upper => 1000) AS before \gset
SET SESSION AUTHORIZATION looks_owner;
SELECT length(dp_report('cot', request => :other)) > 0 AS page;
SELECT told(format('SELECT dp_approve(%s, basis => ''public'')', :before)) ~ '^55000 somebody has looked at rows for request' AS refused;
SELECT regexp_replace(substring(dp_report('cot', request => :other) FROM 'Signals on[^<]*'), '\s+', ' ', 'g') AS advice;

-- For reviewers: who has looked at the question leaves them the signals as well.
SELECT dp_set_review('cot', '{looks_rita}');
SET SESSION AUTHORIZATION looks_ann;
SELECT dp_request('SELECT room, count(*) AS n FROM cot_dp GROUP BY room', 'reviewed') AS reviewed \gset
SET SESSION AUTHORIZATION looks_owner;
SELECT length(dp_report('cot', request => :reviewed)) > 0 AS page;
SET SESSION AUTHORIZATION looks_rita;
SELECT state, account FROM dp_approve(:reviewed);
SET SESSION AUTHORIZATION looks_ann;
SELECT dp_request_signal(:reviewed, 'mean', 'answer.n', 'for reviewers', upper => 1000) AS decided \gset
SET SESSION AUTHORIZATION looks_owner;
SELECT told(format('SELECT dp_approve(%s, basis => ''public'')', :decided)), told(format('SELECT dp_reject(%s)', :decided));
SET SESSION AUTHORIZATION looks_rita;
SELECT state, account FROM dp_approve(:decided);
SET SESSION AUTHORIZATION looks_owner;
SELECT dp_set_review('cot', '{}');

-- What the owner inspects is what is released: an expression knows no user and no time. The text is shown as it was asked.
SET SESSION AUTHORIZATION looks_ann;
SELECT e, told(format('SELECT dp_request_signal(%s, ''mean'', %L, '''')', :first, e)) FROM unnest(array['CASE WHEN current_user = ''looks_ann'' THEN answer.n ELSE 0 END',
    'CASE current_role WHEN ''looks_ann'' THEN answer.n END', 'length(user)', 'CASE WHEN current_date > ''2030-01-01'' THEN 1 ELSE 0 END', 'extract(epoch FROM now() - localtimestamp)',
    'extract(epoch FROM statement_timestamp())', 'CASE WHEN ''now''::timestamptz > ''2030-01-01'' THEN 1 END', 'CASE WHEN date ''  ToMorrow '' > ''2030-01-01'' THEN 1 END', 'length(''now or never'')',
    'extract(epoch FROM lower(''{[now,)}''::tstzmultirange))', 'extract(epoch FROM (''no'' || ''w'')::timestamptz)', 'extract(epoch FROM ((''{'' || ''now}'')::timestamptz[])[1])',
    'extract(year FROM timestamptz ''2030-01-01'')']) e;
SELECT dp_request('SELECT room, count(*) AS n FROM cot_dp WHERE age < extract(day FROM current_date) + 100 GROUP BY room', 'values') AS valued \gset
SET SESSION AUTHORIZATION looks_owner;
SELECT state FROM dp_approve(:valued, basis => 'public');
SET SESSION AUTHORIZATION looks_ann;
SELECT dp_request_signal(:valued, 'mean', $$length('$1 \ "$2" ''$1') + answer.n$$, 'as asked', upper => 1000) AS asked \gset
SELECT regexp_replace(query, '\m' || :valued || '\M', 'valued') AS query FROM dp_requests() WHERE request = :asked;
SET SESSION AUTHORIZATION looks_owner;
SELECT count(dp_reject(request)) > 0 AS nothing_is_left FROM dp_requests();

RESET SESSION AUTHORIZATION;
DROP FUNCTION told;
SELECT dp_unprotect('cot_dp');
DROP TABLE cot;
