-- Requests: what who decides is shown, how much is kept for nothing, and the kinds of answers and bounds that requests.sql leaves out.

LOAD 'dp_rdr';
ALTER SEQUENCE dp_rdr.ledger_row_id_seq RESTART WITH 310001;
ALTER SEQUENCE dp_rdr.request_id_seq RESTART WITH 10001;
SET client_min_messages = warning;
DROP ROLE IF EXISTS asked_owner, asked_ann, asked_rita;
RESET client_min_messages;
CREATE ROLE asked_owner LOGIN;
CREATE ROLE asked_ann LOGIN;
CREATE ROLE asked_rita LOGIN; -- reviews
GRANT CREATE ON SCHEMA public TO asked_owner;
SET client_min_messages = warning;
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
SET SESSION AUTHORIZATION asked_owner;
CREATE TYPE shade AS ENUM ('light', 'dark');
CREATE TABLE bed AS SELECT id, id % 4 AS room, 20 + id % 60 AS age, 'bed ' || id % 3 AS note, (ARRAY['light', 'dark']::shade[])[1 + id % 2] AS shade
    FROM generate_series(1, 3000) id;
SELECT dp_protect('bed', 'bed_dp');
SELECT dp_set_groups('bed', 'room', '{0,1,2,3}'), dp_set_bounds('bed', 'age', 0, 100);
SELECT dp_set_odometer('bed', epsilon_total => 1000, delta_total => 0.01);
SELECT dp_grant('bed_dp', 'asked_ann', tau => 0.9, delta => 1e-6), dp_set_review('bed', '{asked_rita}');

-- Who decides sees the constants that the requester's session has computed, and cannot be led to take quoted texts for them.
SET SESSION AUTHORIZATION asked_ann;
SELECT set_config('asked.note', E'it''s $2 \\', false) AS note, set_config('asked.long', repeat('x', 40000), false) = '' AS long,
    set_config('asked.longer', repeat('x', 40001), false) = '' AS longer;
SELECT dp_request('SELECT count(*) AS "$1" FROM bed_dp WHERE age < length(current_setting(''asked.note'')) AND note <> ''$1''''$2'' AND note = current_setting(''asked.note'') '
    'AND shade = (ARRAY[''dark''::shade])[length(current_user) / 9] AND room < nullif(length(current_user), 9)', 'computed') AS computed \gset
SET SESSION AUTHORIZATION asked_rita;
SELECT query FROM dp_requests() WHERE request = :computed;
SELECT state FROM dp_approve(:computed);
-- What is computed has a limit as the text has.
SET SESSION AUTHORIZATION asked_ann;
SELECT told('SELECT dp_request(''SELECT count(*) FROM bed_dp WHERE note = current_setting(''''asked.long'''') AND note < current_setting(''''asked.longer'''')'', '''')');
SELECT told('SELECT dp_request(''SELECT count(*) FROM bed_dp WHERE note = current_setting(''''asked.long'''')'', '''')');
SELECT count(dp_reject(request)) FROM dp_requests();

-- The latest thousand that were withdrawn or have expired are kept.
SELECT count(dp_reject(dp_request('SELECT count(*) FROM bed_dp', 'withdrawn ' || i))) FROM generate_series(1, 1010) i;
SELECT count(dp_request('SELECT count(*) FROM bed_dp', 'brief', expires => '1 microsecond')) FROM generate_series(1, 20);
SELECT dp_request('SELECT count(*) FROM bed_dp', 'last') AS last \gset
SELECT state, count(*), min(purpose COLLATE "C") FROM dp_requests(NULL) GROUP BY state ORDER BY state;
SET SESSION AUTHORIZATION asked_rita;
SELECT dp_reject(:last, 'no');

-- Discovered groups, intervals, averages of them, enums.
SET SESSION AUTHORIZATION asked_ann;
SELECT dp_request('SELECT note, dp_low(count(*)) AS low, count(*) AS n, dp_high(count(*)) AS high, dp_low(avg(age)), avg(age) FROM bed_dp GROUP BY note', 'groups') AS groups,
    dp_request('SELECT shade, count(*) AS n FROM bed_dp GROUP BY shade', 'enum') AS enum, dp_request('SELECT sum(age) AS s FROM bed_dp', 'selection') AS selection \gset
SET SESSION AUTHORIZATION asked_rita;
SELECT state, account FROM dp_approve(:groups);
SELECT state, account FROM dp_approve(:enum, epsilon => 0.05);
SET SESSION AUTHORIZATION asked_ann;
SELECT note, low <= n AND n <= high AS around, low_avg <= avg AS below FROM dp_fetch(:groups) AS (note text, low bigint, n bigint, high bigint, low_avg numeric, avg numeric) ORDER BY note COLLATE "C";
SELECT shade, n IS NOT NULL AS n FROM dp_fetch(:enum) AS (shade shade, n bigint) ORDER BY shade;
SELECT array_agg(k ORDER BY k) FROM jsonb_array_elements(dp_answer(:enum)) e, jsonb_object_keys(e) k;
SELECT query, error95[1] IS NULL AS key, error95[2] = error95[3] AS same, error95[6] > 0 AS avg FROM dp_requests(NULL) WHERE request = :groups;
-- The width of an interval is a price, and who asked is not told one that was decided on in sight of the rows.
SELECT dp_request('SELECT dp_high(count(*)) AS high FROM bed_dp', 'wide', decider => 'owner') AS wide \gset
SET SESSION AUTHORIZATION asked_owner;
SELECT told(format('SELECT dp_approve(%s, epsilon => 3)', :wide));
SELECT state, epsilon, account FROM dp_approve(:wide, epsilon => 3, basis => 'public');
SET SESSION AUTHORIZATION asked_ann;
-- A selection on the owner's terms: its charge and that of the answer are one claim.
SET SESSION AUTHORIZATION asked_owner;
SELECT state, account FROM dp_approve(:selection, tau_var => 1e-2, selection => 'released', basis => 'public');
SELECT count(*), count(DISTINCT parameters ->> 'request'), string_agg(kind, ',' ORDER BY id), sum(epsilon) = (SELECT epsilon FROM dp_requests(NULL) WHERE request = :selection) AS whole
    FROM dp_rdr.ledger WHERE (parameters ->> 'request')::bigint = :selection;
SELECT dp_verify_ledger('bed');

-- Gaussian noise, totals in rho.
SELECT dp_set_odometer('bed', bound => 'zcdp', epsilon_total => 50, delta_total => 1e-5);
SELECT dp_grant('bed_dp', 'asked_ann', tau => 0.9, mechanism => 'gaussian', delta => 1e-7);
SET SESSION AUTHORIZATION asked_ann;
SELECT string_agg(dp_request('SELECT room, count(*) AS n, sum(age) AS a FROM bed_dp GROUP BY room', 'rho ' || i, decider => CASE WHEN i > 1 THEN 'owner' END)::text, ',' ORDER BY i) AS rho FROM generate_series(1, 5) i \gset
SET SESSION AUTHORIZATION asked_rita;
SELECT told(format('SELECT dp_approve(%s, epsilon => 90)', (string_to_array(:'rho', ','))[1])) ~ '^42501 epsilon 90 is above the price';
SELECT a.state, a.account FROM (SELECT string_to_array(:'rho', ',')::bigint[] AS r) t, dp_approve(r[1]) a;
SET SESSION AUTHORIZATION asked_owner;
SELECT a.state, a.account FROM (SELECT string_to_array(:'rho', ',')::bigint[] AS r) t, dp_approve(r[2], epsilon => 0.3, basis => 'public') a;
SELECT a.state, a.account FROM (SELECT string_to_array(:'rho', ',')::bigint[] AS r) t, dp_approve(r[3], tau_var => 1e-2, basis => 'public') a;
SELECT a.state, a.account FROM (SELECT string_to_array(:'rho', ',')::bigint[] AS r) t, dp_approve(r[4], tau => 0.9, selection => 'within_data', hold => true) a;
SELECT told(format('SELECT dp_approve(%s, epsilon => 90, basis => ''public'')', (string_to_array(:'rho', ','))[5])) ~ '^53400';
SELECT state, basis, epsilon IS NOT NULL AS priced FROM dp_requests(NULL) WHERE purpose LIKE 'rho%' ORDER BY request;
SELECT kind, account, basis, guarantee, rho > 0 AS rho FROM dp_rdr.ledger WHERE parameters ->> 'request' = ANY (string_to_array(:'rho', ',')) ORDER BY id;
SELECT dp_verify_ledger('bed');
SET SESSION AUTHORIZATION asked_ann;
SELECT count(*), count(n), count(a) FROM dp_fetch((string_to_array(:'rho', ',')::bigint[])[3]) AS (room integer, n bigint, a bigint);
-- What is fetched is nothing to refine, nor what dp_last_release tells of.
SELECT told('SELECT * FROM dp_refine(error95 => 1) AS (room integer, n bigint, a bigint)');
SELECT count(*) FROM dp_last_release();

-- A period: what is asked in one may be permitted in another, which pays.
SET SESSION AUTHORIZATION asked_owner;
SELECT dp_set_odometer('bed', bound => 'filter', epsilon_total => 110, delta_total => 0.01, period => 'month', epsilon_lifetime => 2000, delta_lifetime => 0.1);
SELECT dp_grant('bed_dp', 'asked_ann', tau => 0.9, mechanism => 'laplace', delta => 1e-6);
SET SESSION AUTHORIZATION asked_ann;
SELECT count(n) FROM (SELECT count(*) AS n FROM bed_dp) x;
SELECT dp_request('SELECT count(*) AS n FROM bed_dp', 'period') AS period \gset
SET SESSION AUTHORIZATION asked_owner;
SELECT told(format('SELECT dp_approve(%s, epsilon => 90, basis => ''public'')', :period)) ~ '^53400' AS denied;
RESET SESSION AUTHORIZATION;
UPDATE dp_rdr.odometer o SET public_period_start = public_period_start - interval '1 month' FROM dp_rdr.protected_table t
    WHERE o.id = t.domain AND t.relation = 'bed'::regclass;
SET SESSION AUTHORIZATION asked_owner;
SELECT * FROM dp_approve(:period, epsilon => 90, basis => 'public');

-- A table's risk profile goes with no decision in sight of the rows, as a role's does not.
CREATE TABLE bound_bed AS SELECT * FROM bed;
SELECT dp_protect('bound_bed', 'bound_dp');
SELECT dp_grant('bound_dp', 'asked_ann', tau => 0.9), dp_set_odometer('bound_bed', epsilon_total => 5, profile => dp_profile('constant', relative => 1000));
SET SESSION AUTHORIZATION asked_ann;
SELECT dp_request('SELECT count(*) AS n FROM bound_dp', 'bound') AS bound \gset
SET SESSION AUTHORIZATION asked_owner;
SELECT o, told(format('SELECT dp_approve(%s%s)', :bound, o)) FROM unnest(array['', ', epsilon => 0.5', ', hold => true', ', tau => 0.9, selection => ''within_data''']) o;
SELECT account, epsilon FROM dp_odometer('bound_bed') ORDER BY account;
SELECT * FROM dp_approve(:bound, basis => 'public');
SELECT dp_unprotect('bound_dp');
DROP TABLE bound_bed;

-- A weight is that of dp_query, within the policy's range, and it is charged.
SELECT dp_grant('bed_dp', 'asked_ann', weight_max => 3, epsilon_max => 10);
SET SESSION AUTHORIZATION asked_ann;
SELECT dp_request('SELECT count(*) AS n FROM bed_dp WHERE age > 21', 'light') AS light, dp_request('SELECT count(*) AS n FROM bed_dp WHERE age > 22', 'heavy', weight => 3) AS heavy,
       dp_request('SELECT count(*) AS n FROM bed_dp WHERE age > 23', 'too heavy', weight => 100) AS heaviest \gset
SELECT told($$SELECT dp_request('SELECT count(*) FROM bed_dp', 'none', weight => 0)$$) AS none, told($$SELECT dp_request('SELECT count(*) FROM bed_dp', 'null', weight => NULL)$$) AS "null";
SET SESSION AUTHORIZATION asked_owner;
CREATE TEMP TABLE weighed AS SELECT request, epsilon FROM dp_requests(NULL) WHERE request IN (:light, :heavy, :heaviest);
SELECT h.epsilon > l.epsilon AS dearer, m.epsilon = h.epsilon AS limited FROM weighed l, weighed h, weighed m WHERE l.request = :light AND h.request = :heavy AND m.request = :heaviest;
SET SESSION AUTHORIZATION asked_rita;
SELECT state FROM dp_approve(:heavy);
SET SESSION AUTHORIZATION asked_owner;
SELECT r.epsilon = w.epsilon AS as_said FROM dp_requests(NULL) r JOIN weighed w USING (request) WHERE request = :heavy;
DROP TABLE weighed;

-- What the requester's answer was is his when the view is not restricted any more, and nobody decides on what is left of it.
SELECT dp_unprotect('bed_dp');
SELECT told(format('SELECT dp_approve(%s)', (string_to_array(:'rho', ','))[5])) ~ '^42501 there is no request';
SELECT told(format('SELECT dp_answer(%s)', :period)) ~ '^42501 there is no request';
SET SESSION AUTHORIZATION asked_ann;
SELECT jsonb_array_length(dp_answer(:period)), (SELECT count(*) FROM dp_fetch(:enum) AS (shade shade, n bigint)) AS enum;
SELECT count(*) > 0 AS withdrawn FROM (SELECT dp_reject((string_to_array(:'rho', ',')::bigint[])[5])) x;
-- A type that is not there any more: its values are kept as texts.
SELECT told(format('SELECT * FROM dp_fetch(%s) AS (shade text, n bigint)', :enum)) AS told;
RESET SESSION AUTHORIZATION;
DROP TABLE bed;
DROP TYPE shade;
SET SESSION AUTHORIZATION asked_ann;
SELECT jsonb_path_query_array(dp_answer(:enum), '$[*].shade') AS shades;
SELECT shade FROM dp_fetch(:enum) AS (shade text, n bigint) ORDER BY shade;
SELECT told(format('SELECT * FROM dp_fetch(%s) AS (n bigint)', :enum)) AS told;
RESET SESSION AUTHORIZATION;
DROP FUNCTION told;
REVOKE CREATE ON SCHEMA public FROM asked_owner;
