-- Which question it is: what two questions that look alike share, and what they do not; and whose answers are there no more.

LOAD 'dp_rdr';
SET ROLE regress_controller;
CREATE TYPE bookcase_state AS ENUM ('new', 'old', 'lost');
CREATE TABLE bookcase AS SELECT id, 'Book ' || id % 7 AS title, id % 50 AS pages, (id % 9)::float8 AS price, id % 4 AS floor,
    (array['new', 'old']::bookcase_state[])[1 + id % 2] AS state
FROM generate_series(1, 2000) id;
SELECT dp_protect('bookcase', 'bookcase_dp');
SELECT dp_protect('bookcase', 'bookcase_low_dp', filter => 'pages < 25');
SELECT dp_set_bounds('bookcase', 'pages', 0, 100), dp_set_bounds('bookcase', 'price', 0, 10);
SELECT dp_set_groups('bookcase', 'floor', '{0,1,2,3}'), dp_set_groups('bookcase', 'state', '{new,old}');
SELECT dp_set_odometer('bookcase', epsilon_total => 10000, delta_total => 1e-3);
-- Noise that is almost never 0: two draws are not the same by chance.
SELECT dp_grant('bookcase_dp', 'regress_analyst', tau => 0.99, delta => 1e-6, replay => '1 day');
SELECT dp_grant('bookcase_low_dp', 'regress_analyst', tau => 0.99, replay => '1 day');
SELECT dp_grant('bookcase_dp', 'regress_second', tau => 0.99, replay => '1 day');
RESET ROLE;
\pset tuples_only on
SET client_min_messages = warning;
\pset format unaligned
CREATE FUNCTION bookcase_charges() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS $$
    SELECT count(*) FROM dp_rdr.ledger_row r JOIN dp_rdr.protected_table t ON t.domain = r.table_id WHERE t.relation = 'bookcase'::regclass $$;
-- How many of these questions were charged: each one that is another question than those before it.
CREATE FUNCTION drawn(VARIADIC queries text[]) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    before bigint := bookcase_charges();
    query text;
BEGIN
    FOREACH query IN ARRAY queries LOOP
        EXECUTE query;
    END LOOP;
    RETURN bookcase_charges() - before;
END $$;
CREATE FUNCTION counted(VARIADIC conditions text[]) RETURNS bigint LANGUAGE sql AS $$
    SELECT drawn(VARIADIC array_agg('SELECT count(*) FROM bookcase_dp WHERE ' || c)) FROM unnest(conditions) c $$;

-- A collation that COLLATE names, on either side, below a function, in a filter and in a key; and casts that say little.
SET ROLE regress_analyst;
SELECT counted('title < ''c''', 'title COLLATE "C" < ''c''', 'title COLLATE "C.utf8" < ''c''', 'title COLLATE "POSIX" < ''c''', 'title COLLATE "ucs_basic" < ''c''');
SELECT counted('title < ''d'' COLLATE "POSIX"', 'title < ''d'' COLLATE "C"', 'starts_with(title COLLATE "C", ''B'')', 'starts_with(title COLLATE "POSIX", ''B'')');
SELECT counted('lower(title COLLATE "C") < ''c''', 'lower(title COLLATE "C.utf8") < ''c''', 'lower(title) < ''c''');
SELECT counted('title COLLATE "C" LIKE ''B%''', 'title LIKE ''B%''');
SELECT counted('title COLLATE "C" IN (''a'', ''b'')', 'title IN (''a'', ''b'')');
SELECT drawn('SELECT count(*) FILTER (WHERE title COLLATE "C" < ''d'') FROM bookcase_dp', 'SELECT count(*) FILTER (WHERE title COLLATE "POSIX" < ''d'') FROM bookcase_dp');
SELECT drawn('SELECT lower(title COLLATE "C"), count(*) FROM bookcase_dp GROUP BY 1', 'SELECT lower(title COLLATE "POSIX"), count(*) FROM bookcase_dp GROUP BY 1');
SELECT counted('pages / 7 = 4', 'pages / 7.0 = 4', 'pages / 7::float8 = 4', 'pages::smallint / 7::smallint = 4');
SELECT counted('price = 0.1::real', 'price = 0.1::float8', 'price::real = 0.1::real');
-- Asked again, whatever else is in the statement, none of them is drawn.
SELECT counted('title < ''c''', '  title COLLATE "C.utf8"   < ''c''', 'title COLLATE "C" < ''c''', '(pages/7.0) = 4', 'price = 0.1::float8');

-- The widths of a round go with their numbers, in whichever order they are asked for.
CREATE TEMP TABLE was AS SELECT * FROM dp_query('SELECT count(*) AS n, dp_low(count(*)) AS nl, dp_high(count(*)) AS nh, sum(pages) AS s, dp_low(sum(pages)) AS sl,
    dp_high(sum(pages)) AS sh, sum(price) AS p, dp_high(sum(price)) AS ph FROM bookcase_dp', within => 0.2)
    AS (n bigint, nl bigint, nh bigint, s bigint, sl bigint, sh bigint, p float8, ph float8);
CREATE TEMP TABLE widths AS SELECT column_name, error95 FROM dp_last_release();
SELECT count(DISTINCT error95) FROM widths;
SELECT count(*) FROM was JOIN dp_query('SELECT sum(price) AS p, dp_high(sum(price)) AS ph, dp_high(sum(pages)) AS sh, sum(pages) AS s, dp_high(count(*)) AS nh,
    dp_low(sum(pages)) AS sl, dp_low(count(*)) AS nl, count(*) AS n FROM bookcase_dp', within => 0.2)
    AS b (p float8, ph float8, sh bigint, s bigint, nh bigint, sl bigint, nl bigint, n bigint) USING (n, nl, nh, s, sl, sh, p, ph);
SELECT DISTINCT reason FROM dp_last_release();
SELECT count(*) FROM (SELECT column_name, error95 FROM dp_last_release() EXCEPT ALL SELECT * FROM widths) q;
-- And of groups, each with its own numbers.
CREATE TEMP TABLE grouped AS SELECT * FROM dp_query('SELECT floor, dp_low(sum(pages)) AS l, count(*) AS n, dp_high(count(*)) AS h FROM bookcase_dp GROUP BY floor', within => 0.9)
    AS (floor int, l bigint, n bigint, h bigint);
SELECT count(*) FROM grouped JOIN dp_query('SELECT dp_high(count(*)) AS h, floor, count(*) AS n, dp_low(sum(pages)) AS l FROM bookcase_dp GROUP BY floor', within => 0.9)
    AS b (h bigint, floor int, n bigint, l bigint) USING (floor, l, n, h);
RESET ROLE;

-- A label that means another value now is another question: in a condition, in declared groups and in those that were discovered.
\set asked 'SELECT drawn(''SELECT count(*) FROM bookcase_dp WHERE state = ''''old'''''', ''SELECT state, count(*) FROM bookcase_dp GROUP BY state'', ''SELECT state, floor + 0, count(*) FROM bookcase_dp GROUP BY 1, 2'')'
SET ROLE regress_analyst;
:asked;
:asked;
SET ROLE regress_controller;
ALTER TYPE bookcase_state RENAME VALUE 'old' TO 'spare';
ALTER TYPE bookcase_state RENAME VALUE 'new' TO 'old';
ALTER TYPE bookcase_state RENAME VALUE 'spare' TO 'new';
SET ROLE regress_analyst;
:asked;
:asked;
RESET ROLE;

-- What was paid outlives a policy that is taken away and granted again. With the last view of a role its answers go, those of others stay.
CREATE FUNCTION kept(role regrole) RETURNS bigint LANGUAGE sql AS $$
    SELECT count(*) FROM dp_rdr.stored_answer a JOIN dp_rdr.protected_table t ON t.domain = a.table_id
    WHERE t.relation = 'bookcase'::regclass AND a.grantee = role $$;
SET ROLE regress_second;
SELECT counted('pages = 1', 'pages = 2');
SET ROLE regress_analyst;
SELECT drawn('SELECT count(*) FROM bookcase_low_dp');
SET ROLE regress_controller;
SELECT dp_revoke('bookcase_dp', 'regress_second'), dp_grant('bookcase_dp', 'regress_second', tau => 0.99, replay => '1 day');
SET ROLE regress_second;
SELECT counted('pages = 1', 'pages = 2');
RESET ROLE;
SELECT kept('regress_analyst') AS before \gset
SELECT kept('regress_second');
SET ROLE regress_controller;
SELECT dp_unprotect('bookcase_low_dp');
RESET ROLE;
SELECT kept('regress_second'), kept('regress_analyst') = :before;
SET ROLE regress_controller;
SELECT dp_protect('bookcase', 'bookcase_all_dp');
SELECT dp_grant('bookcase_all_dp', 'regress_second', tau => 0.9);
SELECT dp_revoke('bookcase_dp', 'regress_second');
RESET ROLE;
SELECT kept('regress_second');
SET ROLE regress_controller;
SELECT dp_unprotect('bookcase_all_dp');
RESET ROLE;
SELECT kept('regress_second'), kept('regress_analyst') = :before;

-- A policy that could never answer is granted, and said to be one.
SET ROLE regress_controller;
\set SHOW_CONTEXT never
SELECT dp_grant('bookcase_dp', 'regress_second', tau => 1);
SELECT dp_grant('bookcase_dp', 'regress_second', tau => 0.999999);
SELECT dp_grant('bookcase_dp', 'regress_second', tau => 0.999999, candidates => '{0.0000001}');
SELECT dp_grant('bookcase_dp', 'regress_second', tau => 0.9, epsilon_max => 0.00000001);
SELECT dp_grant('bookcase_dp', 'regress_second', tau => 0.9, epsilon_max => 1, candidates => '{0.1}', mechanism => 'gaussian', delta => 1e-6);
SELECT dp_grant('bookcase_dp', 'regress_second', tau => 0.99999);
SELECT dp_unprotect('bookcase_dp');
DROP TABLE bookcase;
DROP TYPE bookcase_state;
RESET ROLE;
DROP FUNCTION bookcase_charges, drawn, counted, kept;
