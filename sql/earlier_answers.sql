-- A statement with several answers: an error in a later one says what the earlier ones have cost.

LOAD 'dp_rdr';
SET client_min_messages = warning;
DROP ROLE IF EXISTS earlier_owner, earlier_asker;
RESET client_min_messages;
CREATE ROLE earlier_owner;
CREATE ROLE earlier_asker;
GRANT CREATE ON SCHEMA public TO earlier_owner;
SET ROLE earlier_owner;
CREATE TABLE earlier_pool AS SELECT id, id % 3 AS lane FROM generate_series(1, 400) id;
CREATE TABLE earlier_gym AS SELECT id, id % 5 AS floor FROM generate_series(1, 300) id;
SELECT dp_protect('earlier_pool', 'earlier_pool_dp'), dp_protect('earlier_gym', 'earlier_gym_dp');
SELECT dp_set_odometer('earlier_pool', epsilon_total => 100), dp_set_odometer('earlier_gym', epsilon_total => 0.15);
SELECT dp_grant('earlier_pool_dp', 'earlier_asker', tau => 0, epsilon_max => 0.1, candidates => '{0.1}', replay => '1 day'),
       dp_grant('earlier_gym_dp', 'earlier_asker', tau => 0, epsilon_max => 0.1, candidates => '{0.1}');
RESET ROLE;

-- SQLSTATE, message and DETAIL of a statement.
CREATE FUNCTION earlier_error(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    words text;
BEGIN
    EXECUTE statement;
    RETURN 'answered';
EXCEPTION WHEN OTHERS OR query_canceled THEN
    GET STACKED DIAGNOSTICS words = PG_EXCEPTION_DETAIL;
    RETURN sqlstate || ' ' || sqlerrm || ' | ' || words;
END $$;

-- A lock that this session has itself is in the way of every keeper.
BEGIN;
LOCK TABLE earlier_gym IN ACCESS EXCLUSIVE MODE;
SET LOCAL ROLE earlier_asker;
SELECT earlier_error('SELECT count(*) FROM earlier_gym_dp');
SELECT earlier_error('SELECT count(*) FROM earlier_pool_dp WHERE lane = 0 UNION ALL SELECT count(*) FROM earlier_gym_dp');
SELECT earlier_error('SELECT (SELECT count(*) FROM earlier_pool_dp WHERE lane = 1), (SELECT count(*) FROM earlier_pool_dp WHERE lane = 2),
                             (SELECT count(*) FROM earlier_gym_dp)');
SELECT earlier_error($$SELECT * FROM dp_query('SELECT count(*) FROM earlier_pool_dp WHERE id < 50') AS (n bigint) UNION ALL
                       SELECT * FROM dp_query('SELECT count(*) FROM earlier_gym_dp') AS (n bigint)$$);
-- Behind the DETAIL that a timeout has. (Whoever asks waits for the lock for two seconds.)
SAVEPOINT earlier;
DECLARE timed CURSOR FOR SELECT count(*) IS NOT NULL AS some FROM earlier_pool_dp WHERE id < 60 UNION ALL SELECT count(*) IS NOT NULL FROM earlier_gym_dp;
FETCH timed;
SET LOCAL statement_timeout = '1s';
FETCH timed;
ROLLBACK TO earlier;
-- An answer that is given again has cost nothing.
SELECT earlier_error('SELECT count(*) FROM earlier_pool_dp WHERE lane = 0 UNION ALL SELECT count(*) FROM earlier_gym_dp');
COMMIT;

-- From one FETCH to the next it is the same statement; the next statement is another one.
BEGIN;
LOCK TABLE earlier_gym IN ACCESS EXCLUSIVE MODE;
SET LOCAL ROLE earlier_asker;
DECLARE c CURSOR FOR SELECT count(*) IS NOT NULL AS some FROM earlier_pool_dp WHERE id < 70 UNION ALL SELECT count(*) IS NOT NULL FROM earlier_gym_dp;
FETCH c;
FETCH c;
ROLLBACK;
BEGIN;
LOCK TABLE earlier_gym IN ACCESS EXCLUSIVE MODE;
SET LOCAL ROLE earlier_asker;
SELECT count(*) IS NOT NULL AS some FROM earlier_pool_dp WHERE id < 80;
SELECT count(*) FROM earlier_gym_dp;
ROLLBACK;

-- A total that is used up by the first answer, and a suspension.
SET ROLE earlier_asker;
SELECT earlier_error('SELECT count(*) FROM earlier_gym_dp UNION ALL SELECT count(*) + 1 FROM earlier_gym_dp WHERE floor = 2');
RESET ROLE;
INSERT INTO dp_rdr.suspension VALUES ('earlier_gym_dp', 'earlier_asker', 'earlier_asker', 'earlier_asker', now());
SET ROLE earlier_asker;
SELECT earlier_error('SELECT count(*) FROM earlier_pool_dp WHERE id < 90 UNION ALL SELECT count(*) FROM earlier_gym_dp');
RESET ROLE;
-- All that was charged is in the ledger.
SELECT releases FROM dp_odometer('earlier_pool') WHERE account = 'public';

SET client_min_messages = error;
SELECT dp_unprotect('earlier_pool_dp'), dp_unprotect('earlier_gym_dp');
DROP TABLE earlier_pool, earlier_gym;
DROP FUNCTION earlier_error;
DROP OWNED BY earlier_owner, earlier_asker;
DROP ROLE earlier_owner, earlier_asker;
