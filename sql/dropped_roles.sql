-- A role that gets the number of a dropped one inherits nothing from it.

LOAD 'dp_rdr';
SET client_min_messages = warning;
DROP ROLE IF EXISTS dropped_owner, dropped_first, dropped_second;
RESET client_min_messages;
CREATE ROLE dropped_owner LOGIN;
CREATE ROLE dropped_first LOGIN;
GRANT CREATE ON SCHEMA public TO dropped_owner;
SET SESSION AUTHORIZATION dropped_owner;
CREATE TABLE dropped_plot AS SELECT id, id % 7 AS size FROM generate_series(1, 500) id;
SELECT dp_protect('dropped_plot', 'dropped_plot_dp');
SELECT dp_grant('dropped_plot_dp', 'dropped_first', tau => 0.9, replay => '1 day');
SET client_min_messages = error;
SELECT dp_set_review('dropped_plot', '{dropped_first}');
RESET client_min_messages;
SET SESSION AUTHORIZATION dropped_first;
SELECT count(*) > 0 AS answered FROM dropped_plot_dp;
SELECT dp_request('SELECT count(*) AS n FROM dropped_plot_dp', 'mine', decider => 'owner') AS mine \gset
SET SESSION AUTHORIZATION dropped_owner;
SELECT state FROM dp_approve(:mine, basis => 'public');
RESET SESSION AUTHORIZATION;
SELECT 'dropped_first'::regrole::oid AS number \gset
INSERT INTO dp_rdr.suspension VALUES ('dropped_plot_dp', 'dropped_first', 'dropped_first', 'dropped_first', now());
DROP OWNED BY dropped_first;
DROP ROLE dropped_first;

-- The audit tells, as long as nothing has touched it.
SET SESSION AUTHORIZATION dropped_owner;
SELECT severity, object, regexp_replace(finding, '\d+', 'N') AS finding FROM dp_audit() WHERE finding ~ 'does not exist' ORDER BY 3;
RESET SESSION AUTHORIZATION;
SELECT finding FROM dp_audit() WHERE finding ~ 'do not exist any more' AND object = 'dp_rdr' AND finding ~ 'roles';

-- Touched: what it has is kept, under a number that no role has.
CREATE ROLE dropped_second LOGIN;
SET SESSION AUTHORIZATION dropped_owner;
SELECT dp_grant('dropped_plot_dp', 'dropped_second', tau => 0.9, replay => '1 day');
SELECT dp_revoke('dropped_plot_dp', 'dropped_second');
RESET SESSION AUTHORIZATION;
SELECT 'policy' AS kept, count(*) FROM dp_rdr.policy WHERE view = 'dropped_plot_dp'::regclass AND grantee >= 4026531840::oid
UNION ALL SELECT 'reviewer', count(*) FROM dp_rdr.reviewer WHERE relation = 'dropped_plot'::regclass AND reviewer >= 4026531840::oid
UNION ALL SELECT 'request', count(*) FROM dp_rdr.request WHERE id = :mine AND requester >= 4026531840::oid AND session_role >= 4026531840::oid
UNION ALL SELECT 'suspension', count(*) FROM dp_rdr.suspension WHERE view = 'dropped_plot_dp'::regclass AND grantee >= 4026531840::oid;
SELECT count(*) AS answers_of_nobody FROM dp_rdr.stored_answer a WHERE NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = a.grantee);
SELECT finding FROM dp_audit() WHERE finding ~ 'do not exist any more' AND object = 'dp_rdr' AND finding ~ 'roles';

-- The number comes to another role.
SET allow_system_table_mods = on;
UPDATE pg_authid SET oid = :number WHERE rolname = 'dropped_second';
RESET allow_system_table_mods;
GRANT SELECT ON dropped_plot_dp TO dropped_second;
SET SESSION AUTHORIZATION dropped_second;
SELECT attempt('SELECT count(*) FROM dropped_plot_dp');
SELECT count(*) FROM dp_requests(NULL);
SELECT regexp_replace(attempt(format('SELECT * FROM dp_fetch(%s) AS (n bigint)', :mine)), '\d+ of', 'N of');
SELECT left(attempt('SELECT dp_requests_channel(''dropped_plot'')'), 5) AS sqlstate;
RESET SESSION AUTHORIZATION;
REVOKE SELECT ON dropped_plot_dp FROM dropped_second;

SET SESSION AUTHORIZATION dropped_owner;
SELECT dp_unprotect('dropped_plot_dp');
DROP TABLE dropped_plot;
RESET SESSION AUTHORIZATION;
DROP OWNED BY dropped_owner, dropped_second;
DROP ROLE dropped_owner, dropped_second;
