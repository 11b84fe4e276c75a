-- dp_attack_risk of a role is about all that the role can have had, also what others were charged for: given again under the policy of a
-- group, fetched from a request of a role that it may become, and whatever it was called at the time. The references are sums that
-- this file keeps itself of what each role has in its hands.

LOAD 'dp_rdr';
SET extra_float_digits = -6;
SET client_min_messages = warning;
DROP ROLE IF EXISTS had_owner, had_team, had_ann, had_bob, had_cay, had_dan, had_eve, had_desk, had_bobby,
    had_crew, had_counter, had_eva, had_annie;
CREATE ROLE had_owner LOGIN;
CREATE ROLE had_team;                        -- has a policy with a replay
CREATE ROLE had_ann LOGIN IN ROLE had_team;
CREATE ROLE had_bob LOGIN IN ROLE had_team;
CREATE ROLE had_desk;                        -- asks for requests
CREATE ROLE had_cay LOGIN IN ROLE had_desk;
CREATE ROLE had_dan LOGIN NOINHERIT IN ROLE had_desk;
CREATE ROLE had_eve LOGIN;                   -- has a policy of her own, and nothing else
GRANT CREATE ON SCHEMA public TO had_owner;
-- What is in whose hands: an answer once, by its charge.
CREATE TABLE in_hand (role name, answer text, epsilon numeric, PRIMARY KEY (role, answer));
GRANT ALL ON in_hand TO PUBLIC;
CREATE FUNCTION hold(who name, what text, paid numeric) RETURNS void LANGUAGE sql AS 'INSERT INTO in_hand VALUES (who, what, paid)';
SET SESSION AUTHORIZATION had_owner;
CREATE TABLE pier AS SELECT id, id % 3 AS room FROM generate_series(1, 300) id;
SELECT dp_protect('pier', 'pier_dp'), dp_set_groups('pier', 'room', '{0,1,2}'), dp_set_odometer('pier', epsilon_total => 100, delta_total => 0.001);
SELECT dp_grant('pier_dp', 'had_team', tau => 0.1, epsilon_max => 1, replay => '1 year'), dp_grant('pier_dp', 'had_desk', tau => 0.1, on_request => true),
       dp_grant('pier_dp', 'had_eve', tau => 0.1, epsilon_max => 0.5);
-- The best attack on counts that the person is in, each of discrete Laplace noise of its own: a count is likelier by e^epsilon with him or
-- without him, nothing in between (8.1), so outcomes are signs. Named are those of the largest ratios, up to the false alarms.
CREATE FUNCTION best_attack(paid float8[], f float8) RETURNS float8 LANGUAGE sql AS $$
    WITH RECURSIVE outcome (n, p, q) AS (
        SELECT 0, 1::float8, 1::float8
        UNION ALL SELECT n + 1, p / (1 + exp(-s * paid[n + 1])), q / (1 + exp(s * paid[n + 1])) FROM outcome, unnest('{1,-1}'::int[]) s WHERE n < cardinality(paid)),
    ranked AS (SELECT p, q, sum(q) OVER (ORDER BY p / q DESC ROWS UNBOUNDED PRECEDING) - q AS before FROM outcome WHERE n = cardinality(paid))
    SELECT sum(p * least(1, greatest(0, (f - before) / q))) FROM ranked
$$;
-- What is shown is no less than that for what a role holds, and no more than the bound of differential privacy at the sum of its epsilons.
CREATE FUNCTION compared(who regrole, as_held_by name) RETURNS TABLE (no_less boolean, no_more boolean) LANGUAGE sql AS $$
    WITH held AS (SELECT coalesce(array_agg(epsilon::float8), '{}') AS paid, coalesce(sum(epsilon), 0)::float8 AS e FROM in_hand WHERE role = as_held_by)
    SELECT bool_and(tpr_max >= best_attack(paid, fpr) - 1e-9), bool_and(tpr_max <= least(exp(e) * fpr, 1 - exp(-e) * (1 - fpr)) + 1e-7)
    FROM held, dp_attack_risk('pier', who)
$$;

-- ---------------------------------------------------------------------------------------------------------------------
-- Given again
-- ---------------------------------------------------------------------------------------------------------------------

SET SESSION AUTHORIZATION had_ann;
SELECT count(*) AS n FROM pier_dp \gset
SELECT hold('had_ann', 'all', epsilon) FROM dp_last_release();
SELECT count(*) AS rooms, sum(n) AS sum FROM (SELECT room, count(*) AS n FROM pier_dp GROUP BY room) r \gset
SELECT hold('had_ann', 'rooms', epsilon) FROM dp_last_release() LIMIT 1;
SET SESSION AUTHORIZATION had_bob;
SELECT count(*) = :n AS the_same FROM pier_dp;
SELECT hold('had_bob', 'all', 1);
SELECT sum(n) = :sum AS the_same FROM (SELECT room, count(*) AS n FROM pier_dp GROUP BY room) r;
SELECT hold('had_bob', 'rooms', 1);
SET SESSION AUTHORIZATION had_eve;
SELECT count(*) <> -1 AS answered FROM pier_dp;
SELECT hold('had_eve', 'all', epsilon) FROM dp_last_release();
SET SESSION AUTHORIZATION had_owner;
SELECT * FROM in_hand ORDER BY role, answer;
SELECT role, c.* FROM unnest('{had_ann,had_bob,had_eve}'::name[]) role, compared(role::text::regrole, role) c;

-- ---------------------------------------------------------------------------------------------------------------------
-- Fetched
-- ---------------------------------------------------------------------------------------------------------------------

SET SESSION AUTHORIZATION had_cay;
SET ROLE had_desk;
SELECT dp_request('SELECT count(*) FROM pier_dp WHERE room = 1', 'one room') AS public \gset
SELECT dp_request('SELECT count(*) FROM pier_dp WHERE room = 2', 'another room') AS sighted \gset
SET SESSION AUTHORIZATION had_owner;
SELECT state, account, epsilon FROM dp_approve(:public, epsilon => 1, basis => 'public');
SET SESSION AUTHORIZATION had_dan;
SET ROLE had_desk;
SELECT count(*) AS fetched FROM dp_fetch(:public) AS (n bigint);
SELECT hold(role, 'one room', 1) FROM unnest('{had_cay,had_dan,had_desk}'::name[]) role;
SET SESSION AUTHORIZATION had_owner;
SELECT role, c.* FROM unnest('{had_cay,had_dan,had_desk,had_ann,had_eve}'::name[]) role, compared(role::text::regrole, role) c;

-- ---------------------------------------------------------------------------------------------------------------------
-- Renamed: what was had stays
-- ---------------------------------------------------------------------------------------------------------------------

RESET SESSION AUTHORIZATION;
ALTER ROLE had_bob RENAME TO had_bobby;
ALTER ROLE had_team RENAME TO had_crew;
ALTER ROLE had_desk RENAME TO had_counter;
ALTER ROLE had_eve RENAME TO had_eva;
SET SESSION AUTHORIZATION had_owner;
SELECT now, c.* FROM (VALUES ('had_ann', 'had_ann'), ('had_bobby', 'had_bob'), ('had_cay', 'had_cay'), ('had_counter', 'had_desk'), ('had_eva', 'had_eve')) r (now, was),
    compared(now::regrole, was::name) c;
-- The team's policy has paid for both answers of Ann's, and for nothing else.
SELECT c.* FROM compared('had_crew', 'had_ann') c;
-- Whoever has a name of before counts what was had under it: after a restore elsewhere names are all that is known.
RESET SESSION AUTHORIZATION;
CREATE ROLE had_team;
SET SESSION AUTHORIZATION had_owner;
SELECT c.* FROM compared('had_team', 'had_ann') c;

-- ---------------------------------------------------------------------------------------------------------------------
-- What nothing bounds
-- ---------------------------------------------------------------------------------------------------------------------

SELECT state, account FROM dp_approve(:sighted, epsilon => 0.01, basis => 'rows');
RESET client_min_messages;
SELECT r.role, min(tpr_max), min(advantage_max), min(posterior_max)
FROM unnest('{had_cay,had_dan,had_counter}'::name[]) WITH ORDINALITY r (role, n), dp_attack_risk('pier', role::text::regrole) GROUP BY r.role, n ORDER BY n;
SET client_min_messages = warning;
SELECT c.* FROM (VALUES ('had_ann', 'had_ann'), ('had_eva', 'had_eve')) r (now, was), compared(now::regrole, was::name) c;
RESET client_min_messages;
SELECT min(tpr_max) FROM dp_attack_risk('pier', 'had_owner');
SET client_min_messages = warning;

-- ---------------------------------------------------------------------------------------------------------------------
-- A risk profile is for a role that can have had pure answers alone
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE quay AS TABLE pier;
SELECT dp_protect('quay', 'quay_dp'), dp_set_odometer('quay', epsilon_total => 100, delta_total => 0.001);
SELECT dp_grant('quay_dp', 'had_crew', tau => 0.1, epsilon_max => 1, mechanism => 'gaussian', delta => 1e-6, replay => '1 year');
SET SESSION AUTHORIZATION had_ann;
SELECT count(*) AS n FROM quay_dp \gset
SET SESSION AUTHORIZATION had_bobby;
SELECT count(*) = :n AS the_same FROM quay_dp;
SET SESSION AUTHORIZATION had_owner;
SELECT dp_revoke('quay_dp', 'had_crew');
SELECT grantee, attempt(format('SELECT dp_grant(''quay_dp'', %L, profile => dp_profile(''constant'', relative => 3), epsilon_max => 0.5)', grantee))
FROM unnest('{had_bobby,had_ann,had_crew,had_counter,had_eva}'::text[]) WITH ORDINALITY g (grantee, n) ORDER BY n;
-- Also where the role that asked has another name now.
RESET SESSION AUTHORIZATION;
ALTER ROLE had_ann RENAME TO had_annie;
REVOKE had_crew FROM had_annie;
SET SESSION AUTHORIZATION had_owner;
SELECT attempt('SELECT dp_grant(''quay_dp'', ''had_annie'', profile => dp_profile(''constant'', relative => 3), epsilon_max => 0.5)');
RESET SESSION AUTHORIZATION;
ALTER ROLE had_annie RENAME TO had_ann;
DROP FUNCTION hold, compared, best_attack;
DROP TABLE in_hand;
