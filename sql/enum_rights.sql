-- Constants of an enum in a schema that the asker may not use: a view of PostgreSQL's answers, and a restricted view does.
-- A count at epsilon 50 is off by 1 or more with a probability below 1e-21.

LOAD 'dp_rdr';
SET client_min_messages = warning;
DROP ROLE IF EXISTS er_owner, er_asker;
RESET client_min_messages;
CREATE ROLE er_owner;
CREATE ROLE er_asker;
CREATE SCHEMA er_shop AUTHORIZATION er_owner;
CREATE SCHEMA er_shop_dp AUTHORIZATION er_owner;
GRANT USAGE ON SCHEMA er_shop_dp TO er_asker;
SET ROLE er_owner;
CREATE TYPE er_shop.kind AS ENUM ('a', 'b', 'Größe c');
CREATE FUNCTION er_shop.looked(text) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RAISE WARNING ''code was run''; RETURN true; END';
CREATE TABLE er_shop.client AS
SELECT id, (ARRAY['a', 'b', 'b', 'Größe c'])[1 + id % 4]::er_shop.kind AS kind, id % 10 AS age FROM generate_series(1, 4000) id;
SELECT dp_protect('er_shop.client', 'er_shop_dp.client', unit => 'id', max_rows => 1);
SELECT dp_protect('er_shop.client', 'er_shop_dp.some', unit => 'id', max_rows => 1, filter => $$kind IN ('a', 'b') AND CASE WHEN age > 4 THEN kind ELSE 'b' END = 'b'$$);
SELECT dp_set_odometer('er_shop.client', epsilon_total => 100000);
SELECT dp_set_groups('er_shop.client', 'kind', $${a,b,"Größe c"}$$), dp_set_bounds('er_shop.client', 'age', 0, 10);
SELECT dp_grant('er_shop_dp.client', 'er_asker', tau => 0, epsilon_max => 50, candidates => '{50}');
SELECT dp_grant('er_shop_dp.some', 'er_asker', tau => 0, epsilon_max => 50, candidates => '{50}');
RESET ROLE;
SELECT has_schema_privilege('er_asker', 'er_shop', 'USAGE') AS usage;
CREATE FUNCTION er_n(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    said text;
BEGIN
    EXECUTE query INTO said;
    RETURN CASE WHEN said ~ '^[0-9]+$' THEN round(said::numeric, -1)::text ELSE said END;
EXCEPTION WHEN OTHERS THEN
    RETURN sqlstate || ' ' || sqlerrm;
END $$;

SET ROLE er_asker;
SELECT er_n(q) AS n, q FROM (VALUES
    ($$SELECT count(*) FROM er_shop_dp.client WHERE kind = 'a'$$),
    ($$SELECT count(*) FROM er_shop_dp.client WHERE kind IN ('a', 'Größe c')$$),
    ($$SELECT count(*) FROM er_shop_dp.client WHERE kind = ANY ('{a,b}')$$),
    ($$SELECT count(*) FROM er_shop_dp.client WHERE kind > 'a' AND kind <> 'Größe c'$$),
    ($$SELECT count(*) FROM er_shop_dp.client WHERE kind::text = 'a'$$),
    ($$SELECT count(*) FILTER (WHERE kind = 'b') FROM er_shop_dp.client$$),
    ($$SELECT sum(CASE WHEN kind = 'a' THEN 10 ELSE 0 END) FROM er_shop_dp.client$$),
    ($$SELECT sum(CASE kind WHEN 'a' THEN 10 ELSE 0 END) FROM er_shop_dp.client$$),
    ($$SELECT count(*) FROM er_shop_dp.client WHERE coalesce(kind, 'a') = 'a'$$),
    ($$SELECT count(*) FROM er_shop_dp.client WHERE nullif(kind, 'a') IS NULL$$),
    ($$SELECT count(*) FROM er_shop_dp.client WHERE CASE WHEN age > 4 THEN kind ELSE 'a' END = 'a'$$),
    ($$SELECT n FROM (SELECT kind, count(*) AS n FROM er_shop_dp.client GROUP BY kind) x WHERE kind = 'a'$$),
    ($$SELECT n FROM (SELECT CASE WHEN kind = 'a' THEN kind ELSE 'b' END AS k, count(*) AS n FROM er_shop_dp.client GROUP BY 1) x WHERE k = 'b'$$),
    ($$SELECT count(*) FROM (SELECT id, max(CASE WHEN age > 4 THEN kind ELSE 'a' END) AS k FROM er_shop_dp.client GROUP BY id) x WHERE k = 'b'$$),
    ($$SELECT "?column?" FROM (SELECT CASE WHEN kind = 'a' THEN kind ELSE 'b' END AS "?column?", count(*) AS n FROM er_shop_dp.client GROUP BY 1) x ORDER BY 1 LIMIT 1$$),
    ($$SELECT count(*) FROM er_shop_dp.some$$),
    ($$SELECT count(*) FROM er_shop_dp.some WHERE kind = 'a'$$),
    ($$SELECT n FROM dp_query('SELECT count(*) FROM er_shop_dp.client WHERE kind = ''a''') AS (n bigint)$$),
    ($$SELECT count(*) FROM er_shop_dp.client WHERE kind = 'd'$$),
    ($$SELECT count(*) FROM er_shop_dp.client WHERE kind = 'a'::er_shop.kind$$)) x (q);
-- Parameters, whose type the server takes from the column.
PREPARE er_ask AS SELECT round(count(*), -1) AS n FROM er_shop_dp.client WHERE kind = $1;
EXECUTE er_ask('a');
EXECUTE er_ask('b');
DEALLOCATE er_ask;
SELECT bool_and(x::text NOT LIKE '%permission%') AS explained FROM dp_explain($$SELECT count(*) FROM er_shop_dp.client WHERE kind = 'a'$$) x;
EXPLAIN (COSTS OFF) SELECT count(*) FROM er_shop_dp.client WHERE kind = 'a';

-- An enum of the asker's own is of use as before; other types, and functions that his text or a filter would run, are not.
RESET ROLE;
CREATE SCHEMA er_own AUTHORIZATION er_asker;
SET ROLE er_asker;
CREATE TYPE er_own.kind AS ENUM ('a', 'z');
CREATE DOMAIN er_own.word AS text;
SELECT er_n(q) AS n, q FROM (VALUES
    ($$SELECT count(*) FROM er_shop_dp.client WHERE kind::text = 'a'::er_own.kind::text$$),
    ($$SELECT count(*) FROM er_shop_dp.client WHERE kind::text::er_own.kind = 'a'$$),
    ($$SELECT count(*) FROM er_shop_dp.client WHERE kind::text = 'a'::er_own.word$$)) x (q);
SET ROLE er_owner;
CREATE DOMAIN er_shop.word AS text CHECK (er_shop.looked(VALUE));
SELECT er_n($$SELECT count(*) FROM er_shop.client WHERE kind = 'a'$$);
SELECT dp_protect('er_shop.client', 'er_shop_dp.words', filter => $$kind::text = 'a'::er_shop.word$$);
SELECT dp_protect('er_shop.client', 'er_shop_dp.words', filter => $$kind IN (SELECT 'a'::er_shop.kind)$$);
SELECT dp_protect('er_shop.client', 'er_shop_dp.words', filter => $$kind IN (SELECT * FROM CAST('a' AS er_shop.kind))$$);
RESET ROLE;

SET client_min_messages = error;
SELECT dp_unprotect('er_shop_dp.client'), dp_unprotect('er_shop_dp.some');
DROP FUNCTION er_n;
DROP SCHEMA er_shop, er_shop_dp, er_own CASCADE;
DROP OWNED BY er_owner, er_asker;
DROP ROLE er_owner, er_asker;
