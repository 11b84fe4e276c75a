-- Questions that somebody else permits: states, terms, bases, reviewers, who may do what. Sessions are of their own logins: nobody
-- decides in a session in which it could have been asked.

LOAD 'dp_rdr';
ALTER SEQUENCE dp_rdr.ledger_row_id_seq RESTART WITH 300001;
ALTER SEQUENCE dp_rdr.request_id_seq RESTART WITH 101;
SET client_min_messages = warning;
DROP ROLE IF EXISTS requests_owner, requests_ann, requests_bea, requests_both, requests_rita, requests_sly, requests_group,
    requests_other;
RESET client_min_messages;
CREATE ROLE requests_owner LOGIN;
CREATE ROLE requests_ann LOGIN;    -- has a policy
CREATE ROLE requests_bea LOGIN;    -- has one, too
CREATE ROLE requests_both LOGIN IN ROLE requests_owner, requests_ann;
CREATE ROLE requests_rita LOGIN;   -- reviews
CREATE ROLE requests_sly LOGIN NOINHERIT IN ROLE requests_owner; -- reviews, and may become the owner
CREATE ROLE requests_group;
CREATE ROLE requests_other LOGIN;
GRANT CREATE ON SCHEMA public TO requests_owner;
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
    RETURN concat_ws(' | ', state || ' ' || regexp_replace(message, 'pg_temp_\d+', 'pg_temp'), nullif(detail, ''), nullif(hint, ''));
END $$;
SET SESSION AUTHORIZATION requests_owner;
CREATE TABLE ward AS SELECT id, id % 4 AS room, 20 + id % 60 AS age FROM generate_series(1, 3000) id;
SELECT dp_protect('ward', 'ward_dp');
SELECT dp_set_groups('ward', 'room', '{0,1,2,3}'), dp_set_bounds('ward', 'age', 0, 100);
SELECT dp_set_odometer('ward', epsilon_total => 100);
SELECT dp_grant('ward_dp', 'requests_ann', tau => 0.9), dp_grant('ward_dp', 'requests_bea', tau => 0.9, on_request => true);

-- One thread: asked, permitted, fetched as often as wanted; a ROLLBACK of the approval undoes nothing.
SET SESSION AUTHORIZATION requests_ann;
SELECT dp_request('SELECT count(*) AS n, room FROM ward_dp WHERE age < 50 GROUP BY room', 'beds') AS first \gset
SELECT :first - :first AS shift, state, requester, view, kind, query, purpose, epsilon, error95, approved_by, basis, reason,
    expires_at - at AS lasts FROM dp_requests() WHERE request = :first;
SELECT told(format('SELECT * FROM dp_fetch(%s) AS (n bigint, room int)', :first)) ~ '^55000 there is nothing to fetch: request \d+ is pending';
SET SESSION AUTHORIZATION requests_owner;
BEGIN;
SELECT * FROM dp_approve(:first, basis => 'public');
ROLLBACK;
SELECT state, approved_by, basis, epsilon FROM dp_requests(NULL) WHERE request = :first;
SELECT account, algorithm, role_name, session_role, epsilon, guarantee, (parameters ->> 'request')::bigint = :first AS request,
    parameters ->> 'approved_by' AS approved_by, parameters ->> 'basis' AS basis FROM dp_rdr.ledger WHERE relation = 'public.ward';
SET SESSION AUTHORIZATION requests_ann;
CREATE TEMP TABLE fetched AS SELECT * FROM dp_fetch(:first) AS (n bigint, room int);
SELECT count(*), count(n), array_agg(room ORDER BY room) FROM fetched;
SELECT count(*) AS same FROM fetched JOIN dp_fetch(:first) AS f (n bigint, room int) USING (n, room);
SELECT jsonb_agg(to_jsonb(f)) = dp_answer(:first) AS as_json FROM fetched f;
SELECT told(format('SELECT * FROM dp_fetch(%s) AS (n bigint, room text)', :first));
SELECT told(format('SELECT dp_fetch(%s)', :first));

-- One leaf, and nothing else of the requester's.
CREATE TEMP TABLE mine AS SELECT 1 AS room;
SELECT q, told(format('SELECT dp_request(%L, %L)', q, '')) FROM unnest(array[
    'SELECT count(*) FROM ward_dp ORDER BY 1', 'SELECT count(*) + 1 FROM ward_dp', 'SELECT count(*) FROM ward_dp LIMIT 1',
    'SELECT room, count(*) FROM ward_dp GROUP BY room HAVING count(*) > 3', 'SELECT DISTINCT count(*) FROM ward_dp',
    'SELECT count(*) FROM ward_dp UNION ALL SELECT 1', 'SELECT count(*), pg_sleep(0) FROM ward_dp',
    'SELECT n FROM (SELECT count(*) AS n FROM ward_dp) s, mine', 'SELECT room FROM ward_dp GROUP BY room',
    'SELECT age FROM ward_dp', 'SELECT count(*) FROM ward', 'SELECT count(*) FROM mine', 'SELECT 1', 'SELECT count(*) FROM ward_dp; SELECT 1',
    'WITH w AS (SELECT * FROM ward_dp WHERE age > 30) SELECT count(*) FROM w', 'SELECT (SELECT count(*) FROM ward_dp)']) q;
SELECT count(dp_reject(request)) FROM dp_requests();

-- Arguments.
SELECT a, told(format('SELECT dp_request(%s)', a)) FROM unnest(array['NULL, NULL', '''SELECT count(*) FROM ward_dp'', NULL',
    '''SELECT count(*) FROM ward_dp'', '''', expires => NULL', '''SELECT count(*) FROM ward_dp'', '''', expires => ''0''',
    '''SELECT count(*) FROM ward_dp'', '''', expires => ''-1 day''', '''SELECT count(*) FROM ward_dp'', '''', expires => ''2000 years''',
    '''SELECT count(*) FROM ward_dp'', '''', decider => ''me''', '''SELECT count(*) FROM ward_dp'', '''', decider => ''review''',
    '''SELECT count(*) FROM ward_dp'', '''', epsilon => 0', '''SELECT count(*) FROM ward_dp'', '''', epsilon => 0.0001']) a;
SELECT told($$SELECT dp_request('SELECT count(*) FROM ward_dp', repeat('x', 2001))$$);
SELECT told($$SELECT dp_request('SELECT count(*) FROM ward_dp -- ' || repeat('x', 65536), '')$$);
SELECT told('SELECT dp_requests(''lost'')');
SET SESSION AUTHORIZATION requests_other;
SELECT told($$SELECT dp_request('SELECT count(*) FROM ward_dp', '')$$);
SELECT count(*) FROM dp_requests(NULL);

-- Another's request is none.
SELECT told(format('SELECT %s', f)) FROM unnest(array[format('* FROM dp_fetch(%s) AS (n bigint, room int)', :first), format('dp_answer(%s)', :first),
    format('dp_approve(%s)', :first), format('dp_release(%s)', :first), format('dp_reject(%s)', :first), 'dp_approve(0)', 'dp_answer(0)']) f
WHERE told(format('SELECT %s', f)) !~ '^42501 there is no request \d+ of role "requests_other", nor one on which it decides';
SET SESSION AUTHORIZATION requests_bea;
SELECT told(format('SELECT dp_answer(%s)', :first)) = replace(told('SELECT dp_answer(0)'), ' 0 ', ' ' || :first || ' ') AS same_words;

-- on_request: by requests only.
SELECT told('SELECT count(*) FROM ward_dp');
SELECT told('SELECT * FROM dp_query(''SELECT count(*) FROM ward_dp'') AS (n bigint)');
SELECT accepted, reason FROM dp_explain('SELECT count(*) FROM ward_dp');
SELECT dp_request('SELECT count(*) AS n FROM ward_dp', 'may I', epsilon => 0.05) AS second \gset
SET SESSION AUTHORIZATION requests_owner;
SELECT * FROM dp_approve(:second, epsilon => 0.5, basis => 'public');
SET SESSION AUTHORIZATION requests_bea;
SELECT count(*) FROM dp_fetch(:second) AS (n bigint);
SET SESSION AUTHORIZATION requests_owner;
SELECT dp_grant('ward_dp', 'requests_bea', on_request => false);
SET SESSION AUTHORIZATION requests_bea;
SELECT told('SELECT count(*) FROM ward_dp');

-- Parameters are those of the time at which it was asked, in the time zone of who asks.
SET TimeZone = 'Asia/Tokyo';
SELECT dp_request('SELECT count(*) AS n, avg(age) FROM ward_dp WHERE age < extract(year from current_date) - 2000', 'dated') AS third \gset
RESET TimeZone;
SET SESSION AUTHORIZATION requests_owner;
SELECT replace(query, (extract(year FROM current_date) - 2000)::text, 'years') AS query FROM dp_requests() WHERE request = :third;
-- Decided in sight of the rows, unless he declares otherwise: kept apart, and its price is his alone.
SELECT * FROM dp_approve(:third);
SELECT state, epsilon, error95[1], error95[2] IS NOT NULL, basis FROM dp_requests(NULL) WHERE request = :third;
SELECT account, guarantee FROM dp_rdr.ledger WHERE (parameters ->> 'request')::bigint = :third;
SET SESSION AUTHORIZATION requests_bea;
SELECT state, epsilon, error95, basis FROM dp_requests(NULL) WHERE request = :third;
SELECT jsonb_array_length(dp_answer(:third));

-- Terms.
SET SESSION AUTHORIZATION requests_ann;
SELECT string_agg(dp_request('SELECT sum(age) AS s FROM ward_dp', 'term ' || i)::text, ',' ORDER BY i) AS terms FROM generate_series(1, 7) i \gset
SET SESSION AUTHORIZATION requests_owner;
SELECT o, told(format('SELECT dp_approve(%s, %s)', (string_to_array(:'terms', ','))[1], o)) FROM unnest(array['tau => 0.9, epsilon => 1', 'tau => 0.9, tau_var => 1',
    'tau => 2', 'tau_var => 2', 'epsilon => 0', 'epsilon => 0.0001', 'selection => ''released''', 'selection => ''within_domain''', 'selection => ''profile''',
    'tau => 0.9, selection => ''released''', 'basis => ''none''', 'hold => NULL', 'hold => true, basis => ''public''',
    'tau => 0.9, selection => ''within_data'', basis => ''public''']) o;
SELECT told('SELECT dp_approve(NULL)');
SELECT a.* FROM (SELECT string_to_array(:'terms', ',')::bigint[] AS r) t, dp_approve(r[1], tau => 0.8, basis => 'public') a;
SELECT a.* FROM (SELECT string_to_array(:'terms', ',')::bigint[] AS r) t, dp_approve(r[2], epsilon => 3, basis => 'public') a;
SELECT a.state, a.account FROM (SELECT string_to_array(:'terms', ',')::bigint[] AS r) t, dp_approve(r[3], tau_var => 1e-2, basis => 'public') a;
SELECT a.state, a.account FROM (SELECT string_to_array(:'terms', ',')::bigint[] AS r) t, dp_approve(r[4], tau => 0.5, selection => 'within_data') a;
SELECT a.* FROM (SELECT string_to_array(:'terms', ',')::bigint[] AS r) t, dp_approve(r[5], epsilon => 0.2, hold => true) a;
-- Held back: its owner's until he releases it.
SELECT jsonb_array_length(dp_answer((string_to_array(:'terms', ',')::bigint[])[5]));
SET SESSION AUTHORIZATION requests_ann;
SELECT told(format('SELECT dp_answer(%s)', (string_to_array(:'terms', ','))[5])) ~ '^55000 .* is held';
SELECT told(format('SELECT dp_reject(%s)', (string_to_array(:'terms', ','))[5])) ~ '^55000 .* is held';
SELECT told(format('SELECT dp_release(%s)', (string_to_array(:'terms', ','))[5])) ~ '^42501 must be owner of the table';
SET SESSION AUTHORIZATION requests_owner;
SELECT dp_release((string_to_array(:'terms', ',')::bigint[])[5]);
SELECT told(format('SELECT dp_release(%s)', (string_to_array(:'terms', ','))[5])) ~ '^55000 .* is answered';
SELECT a.* FROM (SELECT string_to_array(:'terms', ',')::bigint[] AS r) t, dp_approve(r[6], hold => true) a;
SELECT dp_reject((string_to_array(:'terms', ',')::bigint[])[6], 'it shows too much');
SELECT dp_reject((string_to_array(:'terms', ',')::bigint[])[7], 'no');
SELECT state, basis, reason, approved_by FROM dp_requests(NULL) WHERE purpose LIKE 'term%' ORDER BY request;
SET SESSION AUTHORIZATION requests_ann;
SELECT jsonb_array_length(dp_answer((string_to_array(:'terms', ',')::bigint[])[5]));
SELECT told(format('SELECT dp_answer(%s)', (string_to_array(:'terms', ','))[6])) ~ '^55000 .* is rejected';
RESET SESSION AUTHORIZATION;
SELECT algorithm, kind, account, guarantee, parameters ->> 'basis' AS basis FROM dp_rdr.ledger_row WHERE relation = 'public.ward' AND (parameters ->> 'request')::bigint
    = ANY (string_to_array(:'terms', ',')::bigint[]) ORDER BY id;
SET SESSION AUTHORIZATION requests_owner;
SELECT dp_verify_ledger('ward');
SELECT object, finding, remedy FROM dp_audit() WHERE finding ~ 'in sight of the rows' ORDER BY finding COLLATE "C";

-- A selection that finds nothing: its own charge is spent.
SET SESSION AUTHORIZATION requests_ann;
SELECT dp_request('SELECT count(*) AS n FROM ward_dp WHERE age < 50', 'half') AS empty \gset
SET SESSION AUTHORIZATION requests_owner;
SELECT dp_grant('ward_dp', 'requests_ann', epsilon_svt => 20, candidates => '{1}');
SELECT state, trim_scale(epsilon) AS epsilon, account FROM dp_approve(:empty, tau_var => 1e-9, basis => 'public');
SELECT told(format('SELECT dp_answer(%s)', :empty)) ~ '^55000 there is nothing to fetch: request \d+ is denied';
SELECT dp_grant('ward_dp', 'requests_ann', epsilon_svt => 0.1, candidates => '{}');

-- Nobody decides on his own, in whichever role, and through whomever; only in a session of somebody else's.
SET SESSION AUTHORIZATION requests_ann;
SELECT dp_request('SELECT count(*) AS n FROM ward_dp', 'own') AS own \gset
SET SESSION AUTHORIZATION requests_owner;
CREATE FUNCTION approve_for_all(id bigint) RETURNS text SECURITY DEFINER LANGUAGE sql AS $$ SELECT dp_approve(id, basis => 'public')::text $$;
SET SESSION AUTHORIZATION requests_ann;
SELECT told(format('SELECT approve_for_all(%s)', :own)) ~ '^42501 request \d+ is one that you could have made yourself';
SET SESSION AUTHORIZATION requests_both; -- may act for the owner, and for who has asked
SELECT told(format('SELECT dp_approve(%s, basis => ''public'')', :own)) ~ '^42501 request \d+ is one that you could have made yourself';
SET ROLE requests_owner;
SELECT told(format('SELECT dp_approve(%s, basis => ''public'')', :own)) ~ '^42501 request \d+ is one that you could have made yourself';
SET SESSION AUTHORIZATION requests_both;
SET ROLE requests_ann;
SELECT dp_request('SELECT count(*) AS n FROM ward_dp', 'of a session') AS of_session \gset
SET ROLE requests_owner;
SELECT told(format('SELECT dp_approve(%s, basis => ''public'')', :of_session)) ~ '^42501 request \d+ is one that you could have made yourself';
SELECT told(format('SELECT dp_reject(%s)', :of_session)) AS rejects;
RESET ROLE;
RESET SESSION AUTHORIZATION;
SET ROLE requests_ann;
SELECT dp_request('SELECT count(*) AS n FROM ward_dp', 'of a superuser') AS of_super \gset
RESET ROLE;
SELECT told(format('SELECT dp_approve(%s, basis => ''public'')', :of_super)) ~ '^42501 request \d+ is one that you could have made yourself';
SET ROLE requests_owner;
SELECT told(format('SELECT dp_approve(%s, basis => ''public'')', :of_super)) ~ '^42501 request \d+ is one that you could have made yourself';
RESET ROLE;
SET SESSION AUTHORIZATION requests_owner;
SELECT state FROM dp_approve(:of_super, basis => 'public');

-- In the transaction that made or changed it.
SET SESSION AUTHORIZATION requests_owner;
BEGIN;
SELECT dp_reject(:own);
SELECT told(format('SELECT dp_approve(%s)', :own)) ~ '^55000 request \d+ was made or changed in a transaction that has not been committed';
ROLLBACK;
SELECT state FROM dp_requests(NULL) WHERE request = :own;
-- Withdrawn, rejected, expired: nobody decides any more.
SET SESSION AUTHORIZATION requests_ann;
SELECT dp_reject(:own, 'not needed');
SELECT told(format('SELECT dp_reject(%s)', :own)) ~ '^55000 .* is withdrawn';
SELECT dp_request('SELECT count(*) AS n FROM ward_dp', 'brief', expires => '1 microsecond') AS brief \gset
SELECT pg_sleep(0.01);
SELECT state, reason FROM dp_requests(NULL) WHERE request IN (:own, :brief) ORDER BY request;
SELECT count(*) FROM dp_requests('expired') WHERE request = :brief;
SELECT told(format('SELECT dp_reject(%s)', :brief)) ~ '^55000 .* is expired';
SET SESSION AUTHORIZATION requests_owner;
SELECT told(format('SELECT dp_approve(%s)', r)) ~ '^55000 request \d+ is (expired|withdrawn)' FROM unnest(array[:own, :brief]) r;
-- A denial by a bound leaves it pending; so does a policy that is gone.
SET SESSION AUTHORIZATION requests_ann;
SELECT dp_request('SELECT count(*) AS n FROM ward_dp', 'too much') AS dear \gset
SET SESSION AUTHORIZATION requests_owner;
SELECT told(format('SELECT dp_approve(%s, epsilon => 99)', :dear));
SELECT dp_revoke('ward_dp', 'requests_ann');
SELECT told(format('SELECT dp_approve(%s)', :dear));
SELECT state FROM dp_requests() WHERE request = :dear;
SELECT dp_grant('ward_dp', 'requests_ann', tau => 0.9);
SELECT state FROM dp_approve(:dear, basis => 'public');

-- A profile goes with no decision in sight of the rows.
SELECT dp_grant('ward_dp', 'requests_other', tau => 0.9, profile => dp_profile('constant', relative => 1000000));
SET SESSION AUTHORIZATION requests_other;
SELECT dp_request('SELECT count(*) AS n FROM ward_dp', 'profiled') AS profiled \gset
SET SESSION AUTHORIZATION requests_owner;
SELECT told(format('SELECT dp_approve(%s)', :profiled));
SELECT state FROM dp_approve(:profiled, basis => 'public');
SELECT dp_revoke('ward_dp', 'requests_other');

-- Reviewers.
SELECT dp_set_review('ward', '{requests_rita,requests_sly,requests_group}');
SET SESSION AUTHORIZATION requests_ann;
SELECT string_agg(dp_request('SELECT count(*) AS n FROM ward_dp', 'review ' || i)::text, ',' ORDER BY i) AS reviewed FROM generate_series(1, 4) i \gset
SELECT dp_request('SELECT count(*) AS n FROM ward_dp', 'for the owner', decider => 'owner') AS owners \gset
SET SESSION AUTHORIZATION requests_rita;
SELECT purpose, state, epsilon, basis FROM dp_requests(NULL) ORDER BY request;
SELECT told(format('SELECT dp_approve(%s)', :owners)) ~ '^42501 there is no request';
-- What the owner decides in sight of the rows shows to no reviewer, and to no other analyst.
SELECT md5(string_agg(r::text, ',' ORDER BY request)) AS seen FROM dp_requests(NULL) r \gset
SET SESSION AUTHORIZATION requests_bea;
SELECT md5(string_agg(r::text, ',' ORDER BY request)) AS seen_by_bea FROM dp_requests(NULL) r \gset
SELECT md5(e::text) AS explained FROM dp_explain('SELECT count(*) FROM ward_dp') e \gset
SET SESSION AUTHORIZATION requests_owner;
SELECT * FROM dp_approve(:owners, epsilon => 50);
SET SESSION AUTHORIZATION requests_bea;
SELECT md5(string_agg(r::text, ',' ORDER BY request)) = :'seen_by_bea' AS same FROM dp_requests(NULL) r;
SELECT md5(e::text) = :'explained' AS same, accepted FROM dp_explain('SELECT count(*) FROM ward_dp') e;
SET SESSION AUTHORIZATION requests_rita;
SELECT md5(string_agg(r::text, ',' ORDER BY request)) = :'seen' AS same FROM dp_requests(NULL) r;
SELECT o, told(format('SELECT dp_approve(%s, %s)', (string_to_array(:'reviewed', ','))[1], o)) FROM unnest(array['tau => 0.5', 'tau_var => 0.5', 'epsilon => 0.2', 'hold => true', 'basis => ''rows''']) o;
SELECT a.* FROM (SELECT string_to_array(:'reviewed', ',')::bigint[] AS r) t, dp_approve(r[1], epsilon => 0.05) a;
SELECT dp_reject((string_to_array(:'reviewed', ',')::bigint[])[2], 'not now');
SELECT told(format('SELECT dp_answer(%s)', (string_to_array(:'reviewed', ','))[1])) ~ '^42501 there is no request';
SELECT purpose, state, epsilon, basis, reason FROM dp_requests(NULL) ORDER BY request;
SET SESSION AUTHORIZATION requests_owner;
SELECT told(format('SELECT dp_approve(%s)', (string_to_array(:'reviewed', ','))[3]));
SELECT told(format('SELECT dp_approve(%s, basis => ''rows'')', (string_to_array(:'reviewed', ','))[3]));
RESET SESSION AUTHORIZATION;
UPDATE dp_rdr.request SET looked_at = now() WHERE id = (string_to_array(:'reviewed', ',')::bigint[])[3];
SET SESSION AUTHORIZATION requests_owner;
SELECT told(format('SELECT dp_approve(%s, basis => ''public'')', (string_to_array(:'reviewed', ','))[3])) ~ '^55000 somebody has looked at rows for request';
SELECT told(format('SELECT dp_reject(%s)', (string_to_array(:'reviewed', ','))[3])) ~ '^55000 somebody has looked at rows for request';
SET SESSION AUTHORIZATION requests_rita;
SELECT a.* FROM (SELECT string_to_array(:'reviewed', ',')::bigint[] AS r) t, dp_approve(r[3]) a;
-- What shows a reviewer rows, or may: each is refused, and named.
RESET SESSION AUTHORIZATION;
CREATE TABLE ways (id serial, open text, close text);
GRANT SELECT ON ways TO PUBLIC;
CREATE TABLE visits (ward_id integer);
CREATE VIEW ward_copy AS SELECT age FROM ward;
CREATE FUNCTION ward_trigger() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;
INSERT INTO ways (open, close) VALUES
    ('ALTER ROLE requests_rita SUPERUSER', 'ALTER ROLE requests_rita NOSUPERUSER'),
    ('ALTER ROLE requests_rita CREATEROLE', 'ALTER ROLE requests_rita NOCREATEROLE'),
    ('ALTER ROLE requests_rita REPLICATION', 'ALTER ROLE requests_rita NOREPLICATION'),
    ('ALTER ROLE requests_rita BYPASSRLS', 'ALTER ROLE requests_rita NOBYPASSRLS'),
    ('GRANT requests_owner TO requests_rita', 'REVOKE requests_owner FROM requests_rita'),
    ('ALTER ROLE requests_rita NOINHERIT; GRANT requests_owner TO requests_rita', 'REVOKE requests_owner FROM requests_rita; ALTER ROLE requests_rita INHERIT'),
    ('GRANT SELECT ON ward TO requests_rita', 'REVOKE ALL ON ward FROM requests_rita'),
    ('GRANT INSERT ON ward TO requests_rita', 'REVOKE ALL ON ward FROM requests_rita'),
    ('GRANT SELECT (age) ON ward TO requests_rita', 'REVOKE ALL ON ward FROM requests_rita'),
    ('GRANT SELECT ON ward TO PUBLIC', 'REVOKE ALL ON ward FROM PUBLIC'),
    ('GRANT SELECT ON ward TO requests_group; GRANT requests_group TO requests_rita', 'REVOKE ALL ON ward FROM requests_group; REVOKE requests_group FROM requests_rita'),
    ('GRANT SELECT ON ward_copy TO requests_rita', 'REVOKE ALL ON ward_copy FROM requests_rita'),
    ('GRANT pg_read_all_data TO requests_rita', 'REVOKE pg_read_all_data FROM requests_rita'),
    ('GRANT pg_write_all_data TO requests_rita', 'REVOKE pg_write_all_data FROM requests_rita'),
    ('GRANT pg_read_server_files TO requests_rita', 'REVOKE pg_read_server_files FROM requests_rita'),
    ('GRANT pg_execute_server_program TO requests_rita', 'REVOKE pg_execute_server_program FROM requests_rita'),
    ('GRANT pg_monitor TO requests_rita', 'REVOKE pg_monitor FROM requests_rita'),
    ('CREATE FUNCTION leak() RETURNS bigint SECURITY DEFINER LANGUAGE sql AS ''SELECT count(*) FROM public.ward''; ALTER FUNCTION leak() OWNER TO requests_owner', 'DROP FUNCTION leak()'),
    ('CREATE FUNCTION leak() RETURNS bigint SECURITY DEFINER BEGIN ATOMIC SELECT count(*) FROM public.ward; END; ALTER FUNCTION leak() OWNER TO requests_owner', 'DROP FUNCTION leak()'),
    ('ALTER FUNCTION ward_trigger() OWNER TO requests_rita; CREATE TRIGGER t BEFORE INSERT ON ward FOR EACH ROW EXECUTE FUNCTION ward_trigger()', 'DROP TRIGGER t ON ward; ALTER FUNCTION ward_trigger() OWNER TO CURRENT_USER'),
    ('ALTER TABLE ward ADD UNIQUE (id); ALTER TABLE visits ADD CONSTRAINT v FOREIGN KEY (ward_id) REFERENCES ward (id); GRANT INSERT ON visits TO requests_rita', 'ALTER TABLE visits DROP CONSTRAINT v; REVOKE ALL ON visits FROM requests_rita'),
    ('SELECT dp_grant(''ward_dp'', ''requests_rita'', tau => 0.5, selection => ''within_data'')', 'SELECT dp_revoke(''ward_dp'', ''requests_rita'')'),
    ('GRANT requests_bea TO requests_rita', 'REVOKE requests_bea FROM requests_rita');
SELECT (string_to_array(:'reviewed', ',')::bigint[])[4] AS last \gset
-- The session is another's each time: a keeper looks at what is committed.
SET client_min_messages = error;
\pset tuples_only on
CREATE FUNCTION way(id bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    detail text; message text;
BEGIN
    PERFORM dp_approve(id);
    RETURN 'APPROVED';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL;
    RETURN sqlstate || CASE WHEN message ~ 'does not decide as a reviewer' THEN ' ' || detail ELSE ': ' || message END;
END $$;
SELECT open, format('SET SESSION AUTHORIZATION requests_rita'), format('SELECT way(%s)', :last), 'SET SESSION AUTHORIZATION DEFAULT', close FROM ways ORDER BY id \gexec
\pset tuples_only off
RESET client_min_messages;
SET SESSION AUTHORIZATION requests_sly;
SELECT way(:last);
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION requests_owner;
SELECT dp_set_review('ward', '{requests_both}');
SET SESSION AUTHORIZATION requests_rita;
SELECT count(*) FROM dp_requests(NULL);
SELECT way(:last) ~ '^42501: there is no request';
SET SESSION AUTHORIZATION requests_owner;
-- The page of the owner has all of it, and its calls set it up again.
SELECT dp_grant('ward_dp', 'requests_bea', on_request => true);
SELECT item, name, value FROM dp_settings('ward') WHERE item IN ('reviewers', 'requests') OR item = 'policy' AND value ~ 'on request';
SELECT call AS review FROM dp_settings('ward') WHERE item = 'reviewers' \gset
SELECT call AS bea FROM dp_settings('ward') WHERE name ~ '^requests_bea' \gset
SELECT dp_set_review('ward', '{}'), dp_grant('ward_dp', 'requests_bea', on_request => false);
SELECT count(*) FROM dp_settings('ward') WHERE item = 'reviewers' OR value ~ 'on request';
:review
:bea
SELECT count(*) FROM dp_settings('ward') WHERE item = 'reviewers' OR item = 'policy' AND value ~ 'on request';
SELECT dp_set_review('ward', '{}'), dp_grant('ward_dp', 'requests_bea', on_request => false);
SELECT told('SELECT dp_set_review(''ward'', NULL)'), told('SELECT dp_set_review(''ward'', ''{NULL}'')');
SET SESSION AUTHORIZATION requests_other;
SELECT told('SELECT dp_set_review(''ward'', ''{requests_other}'')');
SELECT told('SELECT count(*) FROM dp_rdr.request'), told('SELECT count(*) FROM dp_rdr.reviewer');

-- At most a hundred that wait.
SET SESSION AUTHORIZATION requests_bea;
SELECT count(dp_request('SELECT count(*) AS n FROM ward_dp', 'many')) FROM generate_series(1, 100);
SELECT told($$SELECT dp_request('SELECT count(*) FROM ward_dp', '')$$);
SELECT count(dp_reject(request)) FROM dp_requests() WHERE purpose = 'many';

RESET SESSION AUTHORIZATION;
DROP TABLE ways, visits;
DROP VIEW ward_copy;
DROP FUNCTION approve_for_all, told, way, ward_trigger;
SELECT dp_unprotect('ward_dp');
DROP TABLE ward;
SELECT count(*) FROM dp_requests(NULL) WHERE view !~ '\.';
