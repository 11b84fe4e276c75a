-- What a statement costs: one execution of a leaf is one charge and one draw, whatever stands around it; a leaf that is not
-- executed is not charged (B09 to B11).

LOAD 'dp_rdr';
\set VERBOSITY terse

SET ROLE regress_controller;
CREATE TABLE meter (id integer PRIMARY KEY, kind text, v integer, f boolean);
INSERT INTO meter SELECT g, CASE g % 3 WHEN 0 THEN 'a' ELSE 'b' END, g % 10, g % 2 = 0 FROM generate_series(1, 300) g;
SELECT dp_protect('meter', 'meter_dp');
SELECT dp_set_odometer('meter', 'none', NULL), dp_set_bounds('meter', 'v', 0, 10), dp_set_groups('meter', 'kind', '{a,b}');
SELECT dp_grant('meter_dp', 'regress_analyst', tau => 0.95), dp_grant('meter_dp', 'regress_second', tau => 0.95);
RESET ROLE;

-- Charges since the last call.
CREATE SEQUENCE charges_seen MINVALUE 0;
CREATE FUNCTION charges_since() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    before bigint := (SELECT last_value FROM charges_seen);
    after bigint := (SELECT count(*) FROM dp_rdr.ledger WHERE relation = 'public.meter');
BEGIN
    PERFORM setval('charges_seen', after);
    RETURN after - before;
END $$;
-- Runs a statement to its end.
CREATE FUNCTION cost(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM charges_since();
    EXECUTE statement;
    RETURN charges_since();
EXCEPTION WHEN OTHERS THEN
    RETURN charges_since() || ', ' || sqlstate || ' ' || sqlerrm;
END $$;
SELECT setval('charges_seen', 0);

SET ROLE regress_analyst;
CREATE TEMP TABLE own (g bigint, kind text);
INSERT INTO own SELECT g, 'a' FROM generate_series(1, 4) g;
CREATE TEMP VIEW answers AS SELECT kind, count(*) AS n FROM meter_dp GROUP BY kind;
CREATE TEMP VIEW narrowed AS SELECT v AS w, kind FROM meter_dp WHERE f ORDER BY v;
CREATE FUNCTION pg_temp.text_body(x integer) RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM meter_dp WHERE v > x';
CREATE FUNCTION pg_temp.atomic_body(x integer) RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT count(*) FROM meter_dp WHERE v > x; END;
CREATE FUNCTION pg_temp.set_body(x integer) RETURNS TABLE (k text, n bigint) LANGUAGE sql AS 'SELECT kind, count(*) FROM meter_dp WHERE v > x GROUP BY kind';
CREATE FUNCTION pg_temp.block(x integer) RETURNS bigint LANGUAGE plpgsql AS 'DECLARE n bigint; BEGIN SELECT count(*) INTO n FROM meter_dp WHERE v > x; RETURN n; END';

-- ---------------------------------------------------------------------------------------------------------------------
-- Charged once
-- ---------------------------------------------------------------------------------------------------------------------

SELECT cost(statement), statement FROM (VALUES
    ('SELECT count(*) FROM meter_dp'),
    ('SELECT count(*), count(*) + 1, avg(v), sum(v) FILTER (WHERE f) FROM meter_dp'),
    ('SELECT kind FROM meter_dp GROUP BY kind HAVING count(*) > 5 ORDER BY avg(v)'),
    ('SELECT count(*) FROM (SELECT v AS w FROM meter_dp WHERE f) q WHERE w > 3'),
    ('SELECT count(*) FROM narrowed WHERE w > 3'),
    ('WITH q AS (SELECT v AS w FROM meter_dp WHERE f) SELECT count(*) FROM q WHERE w > 3'),
    ('WITH q AS MATERIALIZED (SELECT v AS w FROM meter_dp WHERE f), r AS (SELECT w FROM q) SELECT count(*) FROM r'),
    ('SELECT * FROM answers WHERE kind = ''a'''),
    ('SELECT EXISTS (SELECT count(*) FROM meter_dp)'),
    ('SELECT 1 WHERE EXISTS (SELECT FROM meter_dp HAVING count(*) > 5)'),
    ('SELECT 300 IN (SELECT count(*) FROM meter_dp)'),
    ('SELECT g FROM own WHERE g IN (SELECT count(*) FROM meter_dp GROUP BY kind)'),
    ('SELECT ARRAY(SELECT count(*) FROM meter_dp GROUP BY kind)'),
    ('SELECT g, (SELECT count(*) FROM meter_dp) FROM own'),
    ('SELECT g, (SELECT count(*) + g FROM meter_dp) FROM own'),
    ('SELECT g, (SELECT n FROM (SELECT kind, count(*) AS n FROM meter_dp GROUP BY kind) q WHERE q.kind = own.kind) FROM own'),
    ('SELECT * FROM own, LATERAL (SELECT count(*) + g FROM meter_dp) q'),
    ('SELECT * FROM own, LATERAL (SELECT count(*) + g FROM meter_dp HAVING count(*) > g OFFSET 0) q'),
    ('SELECT * FROM own LEFT JOIN (SELECT kind, count(*) AS n FROM meter_dp GROUP BY kind) q ON q.n > own.g'),
    ('SELECT kind, count(*), rank() OVER (ORDER BY count(*)), sum(count(*)) OVER () FROM meter_dp GROUP BY kind'),
    ('SELECT count(*), generate_series(1, 3) FROM meter_dp'),
    ('WITH q AS (SELECT count(*) AS n FROM meter_dp) SELECT * FROM q a, q b, q c'),
    ('WITH q AS NOT MATERIALIZED (SELECT count(*) AS n FROM meter_dp) SELECT * FROM q a, q b'),
    ('WITH q AS NOT MATERIALIZED (SELECT kind, count(*) AS n FROM meter_dp GROUP BY kind) SELECT * FROM own o JOIN q ON q.n > o.g'),
    ('WITH q AS (SELECT count(*) AS n FROM meter_dp) SELECT (SELECT n FROM q) + (SELECT n FROM q), EXISTS (SELECT FROM q) FROM own'),
    ('WITH q AS (SELECT v FROM meter_dp), r AS (SELECT count(*) AS n FROM q) SELECT * FROM r a, r b'),
    ('WITH RECURSIVE r (i, n) AS (SELECT 1, 0::bigint UNION ALL SELECT i + 1, q.n FROM r, (SELECT count(*) AS n FROM meter_dp) q WHERE i < 4) SELECT * FROM r'),
    ('SELECT count(*) FROM meter_dp UNION ALL SELECT count(*) FROM meter_dp WHERE f LIMIT 1'),
    ('SELECT count(*) FROM meter_dp HAVING count(*) < -1000000'),
    ('SELECT kind, count(*) FROM meter_dp GROUP BY kind OFFSET 5'),
    ('INSERT INTO own SELECT count(*), ''c'' FROM meter_dp'),
    ('UPDATE own SET g = (SELECT count(*) FROM meter_dp)'),
    ('UPDATE own SET g = n FROM (SELECT count(*) AS n FROM meter_dp) q'),
    ('UPDATE own SET (g, kind) = (SELECT count(*), ''d'' FROM meter_dp)'),
    ('DELETE FROM own USING (SELECT count(*) AS n FROM meter_dp) q WHERE own.g = q.n + 1000000'),
    ('MERGE INTO own USING (SELECT count(*) AS n FROM meter_dp) q ON own.g = q.n WHEN NOT MATCHED THEN DO NOTHING'),
    ('WITH i AS (INSERT INTO own SELECT count(*), ''e'' FROM meter_dp RETURNING *) SELECT * FROM i a, i b'),
    ('CREATE TEMP TABLE made AS SELECT kind, count(*) FROM meter_dp GROUP BY kind'),
    ('SELECT * FROM dp_query(''SELECT count(*) FROM meter_dp'') AS (n bigint), own'),
    ('SELECT pg_temp.text_body(3)'), ('SELECT pg_temp.atomic_body(3)'), ('SELECT * FROM pg_temp.set_body(3)'), ('SELECT pg_temp.block(3)'),
    ('SELECT query_to_xml(''SELECT count(*) FROM meter_dp'', true, true, '''')'),
    ('EXPLAIN (ANALYZE) SELECT count(*) FROM meter_dp')) t (statement);

-- Rescans on the inner side of a nested loop re-read the answer.
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SET enable_memoize = off;
-- Executes; from PostgreSQL 18 on plans say more of buffers, and of decimals.
CREATE FUNCTION pg_temp.explained(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, BUFFERS OFF, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
        RETURN NEXT regexp_replace(line, '(rows=\d+)\.\d+', '\1');
    END LOOP;
END $$;
SELECT * FROM pg_temp.explained('SELECT g, n > 0 FROM generate_series(1, 5) g LEFT JOIN LATERAL (SELECT count(*) AS n FROM meter_dp OFFSET 0) q ON q.n <> g') AS plan;
SELECT charges_since();
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;
RESET enable_memoize;

-- A scroll cursor that is read twice, and kept beyond its transaction.
BEGIN;
DECLARE c SCROLL CURSOR WITH HOLD FOR SELECT kind, count(*) AS n FROM meter_dp GROUP BY kind;
SELECT charges_since() AS declared;
MOVE ALL c;
MOVE ABSOLUTE 0 c;
MOVE ALL c;
MOVE BACKWARD 1 c;
SELECT charges_since() AS moved;
COMMIT;
MOVE ABSOLUTE 0 c;
MOVE ALL c;
CLOSE c;
SELECT charges_since() AS kept;
-- A held cursor is read at COMMIT; one that is never read costs nothing.
BEGIN;
DECLARE c CURSOR WITH HOLD FOR SELECT count(*) FROM meter_dp;
COMMIT;
SELECT charges_since() AS held;
CLOSE c;
BEGIN;
DECLARE c CURSOR FOR SELECT count(*) FROM meter_dp;
COMMIT;
SELECT charges_since() AS not_read;
-- The other ways out.
\o /dev/null
COPY (SELECT kind, count(*) FROM meter_dp GROUP BY kind) TO STDOUT;
\copy (SELECT count(*) FROM meter_dp) TO /dev/null
SELECT kind, count(*) INTO TEMP made_too FROM meter_dp GROUP BY kind;
\o
SELECT charges_since() AS copied_and_made;
SELECT count(*), kind FROM meter_dp GROUP BY kind \gdesc
SELECT charges_since() AS described;
DO $$ DECLARE r record; BEGIN FOR r IN SELECT kind, count(*) FROM meter_dp GROUP BY kind LOOP NULL; END LOOP; END $$;
SELECT charges_since() AS loop;

-- ---------------------------------------------------------------------------------------------------------------------
-- Charged more than once: several leaves, or one that is executed several times
-- ---------------------------------------------------------------------------------------------------------------------

SELECT cost(statement), statement FROM (VALUES
    ('SELECT (SELECT count(*) FROM meter_dp), (SELECT count(*) FROM meter_dp)'),
    ('SELECT * FROM (SELECT count(*) FROM meter_dp WHERE f) a, (SELECT count(*) FROM meter_dp) b'),
    ('SELECT count(*) FROM meter_dp UNION ALL SELECT count(*) FROM meter_dp WHERE f'),
    ('SELECT count(*) FROM meter_dp EXCEPT SELECT count(*) FROM narrowed'),
    ('SELECT * FROM answers a JOIN answers b USING (kind)'),
    ('WITH q AS MATERIALIZED (SELECT v, f FROM meter_dp) SELECT (SELECT count(*) FROM q WHERE f), (SELECT avg(v) FROM q), x.n FROM (SELECT count(*) AS n FROM q) x'),
    ('INSERT INTO own VALUES ((SELECT count(*) FROM meter_dp), ''f'') RETURNING (SELECT count(*) FROM meter_dp)'),
    ('SELECT pg_temp.text_body(g) FROM generate_series(1, 3) g'),
    ('SELECT pg_temp.atomic_body(g) FROM generate_series(1, 3) g'),
    ('SELECT pg_temp.block(g) FROM generate_series(1, 3) g'),
    ('SELECT * FROM generate_series(1, 3) g, LATERAL pg_temp.set_body(g)'),
    ('DO $do$ BEGIN FOR i IN 1..3 LOOP PERFORM count(*) FROM meter_dp WHERE v > i; END LOOP; END $do$')) t (statement);
PREPARE p (integer) AS SELECT count(*) FROM meter_dp WHERE v > $1;
SELECT charges_since() AS prepared;
SELECT cost(format('EXECUTE p(%s)', g)) FROM generate_series(1, 7) g;
SET plan_cache_mode = force_generic_plan;
SELECT cost('EXECUTE p(3)') FROM generate_series(1, 2);
RESET plan_cache_mode;

-- ---------------------------------------------------------------------------------------------------------------------
-- Not charged: not executed
-- ---------------------------------------------------------------------------------------------------------------------

SELECT cost(statement), statement FROM (VALUES
    ('SELECT count(*) FROM meter_dp LIMIT 0'),
    ('SELECT * FROM meter_dp LIMIT 0'),
    ('SELECT * FROM (SELECT kind, count(*) FROM meter_dp GROUP BY kind) q WHERE 1 = 2'),
    ('WITH q AS (SELECT count(*) FROM meter_dp) SELECT 1'),
    ('WITH q AS MATERIALIZED (SELECT v FROM meter_dp) SELECT 1'),
    ('SELECT CASE WHEN 1 = 2 THEN (SELECT count(*) FROM meter_dp) END'),
    ('SELECT CASE WHEN g < -1000000 THEN (SELECT count(*) FROM meter_dp) END FROM own'),
    ('SELECT coalesce(g, (SELECT count(*) FROM meter_dp)) FROM own'),
    ('SELECT count(*) FROM meter_dp HAVING false'),
    ('EXPLAIN SELECT count(*) FROM meter_dp'),
    ('EXPLAIN (VERBOSE) SELECT kind, avg(w) FROM narrowed GROUP BY kind'),
    ('CREATE TEMP TABLE made_of_nothing AS SELECT count(*) FROM meter_dp WITH NO DATA'),
    ('CREATE TEMP VIEW on_top AS SELECT count(*) FROM meter_dp'),
    ('PREPARE q AS SELECT count(*) FROM meter_dp')) t (statement);

-- ---------------------------------------------------------------------------------------------------------------------
-- Plans that outlive a permission, a policy, the view
-- ---------------------------------------------------------------------------------------------------------------------

-- Prepared and used, then revoked and granted again.
SELECT cost('EXECUTE p(3)') AS permitted;
SET ROLE regress_controller;
REVOKE SELECT ON meter_dp FROM regress_analyst;
SET ROLE regress_analyst;
SELECT cost('EXECUTE p(3)') AS revoked, cost('SELECT * FROM answers') AS view, cost('SELECT pg_temp.atomic_body(3)') AS function;
SET ROLE regress_controller;
GRANT SELECT ON meter_dp TO regress_analyst;
SELECT dp_revoke('meter_dp', 'regress_analyst');
SET ROLE regress_analyst;
SELECT cost('EXECUTE p(3)') AS no_policy;
SET ROLE regress_controller;
SELECT dp_grant('meter_dp', 'regress_analyst', tau => 0.95);
SET ROLE regress_analyst;
SELECT cost('EXECUTE p(3)') AS granted_again;
-- One column is enough, if nothing else is asked for.
SET ROLE regress_controller;
REVOKE SELECT ON meter_dp FROM regress_analyst;
GRANT SELECT (v) ON meter_dp TO regress_analyst;
SET ROLE regress_analyst;
SELECT cost('SELECT avg(v) FROM meter_dp WHERE v > 3') AS granted_column, cost('SELECT avg(v) FROM meter_dp WHERE f') AS other_column,
       cost('SELECT avg(w) FROM (SELECT v AS w, f FROM meter_dp) q') AS other_column_of_a_sub_select;
-- Another role, with a plan of this connection; and through a view on top, where it needs SELECT and a policy of its own.
GRANT SELECT ON answers TO regress_second, regress_stranger;
SET ROLE regress_controller;
GRANT SELECT ON meter_dp TO regress_analyst;
SET ROLE regress_stranger;
SELECT cost('EXECUTE p(3)') AS stranger, cost('SELECT * FROM answers') AS view;
SET ROLE regress_second;
SELECT cost('EXECUTE p(3)') AS other_analyst, cost('SELECT * FROM answers') AS view;
-- The view dropped and made again.
SET ROLE regress_analyst;
DROP VIEW answers, narrowed, on_top;
DROP FUNCTION pg_temp.atomic_body;
SET ROLE regress_controller;
SELECT dp_unprotect('meter_dp');
SET ROLE regress_analyst;
SELECT cost('EXECUTE p(3)') AS dropped;
SET ROLE regress_controller;
SELECT dp_protect('meter', 'meter_dp');
SET ROLE regress_analyst;
SELECT cost('EXECUTE p(3)') AS made_again;
SET ROLE regress_controller;
SELECT dp_grant('meter_dp', 'regress_analyst', tau => 0.95);
SET ROLE regress_analyst;
SELECT cost('EXECUTE p(3)') AS and_granted;
DEALLOCATE ALL;

-- ---------------------------------------------------------------------------------------------------------------------
-- Groups that nobody declared: they come in the order of their keys, NULL last, and their delta is added up.
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_controller;
SELECT dp_set_odometer('meter', delta_total => 0.1);
SELECT dp_grant('meter_dp', 'regress_second', tau => 0, epsilon_max => 50, candidates => '{50}', delta => 1e-6);
SET ROLE regress_second;
SELECT array_agg(k) AS in_order FROM (SELECT nullif((id * 7919 % 10)::text::integer, 5) AS k, count(*) FROM meter_dp GROUP BY 1) g;
SELECT array_agg(k) AS in_order FROM (SELECT (id % 10 * 7)::text AS k, count(*) FROM meter_dp GROUP BY 1) g;
SET ROLE regress_controller;
SELECT delta FROM dp_odometer('meter') WHERE account = 'public';
SET ROLE regress_analyst;
SELECT charges_since();

-- ---------------------------------------------------------------------------------------------------------------------
-- Rolled back, charged all the same. The ledger has a row for each charge, in the leaf's own words.
-- ---------------------------------------------------------------------------------------------------------------------

BEGIN;
SELECT count(*) IS NOT NULL AS answered FROM meter_dp;
ROLLBACK;
SELECT charges_since() AS rolled_back;
SET ROLE regress_controller;
SELECT query, count(*) FROM dp_rdr.ledger WHERE relation = 'public.meter' GROUP BY query ORDER BY query COLLATE "C";
SELECT dp_verify_ledger('meter');
SELECT dp_unprotect('meter_dp');
DROP TABLE meter;
RESET ROLE;
DROP FUNCTION cost, charges_since;
DROP SEQUENCE charges_seen;
DISCARD TEMP;
