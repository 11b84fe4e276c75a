-- How large a query may be, what the ledger keeps of a long one, and what a look leaves behind.
SET ROLE regress_controller;
SELECT dp_set_odometer('adult', 'none');
SELECT dp_grant('adult_dp', 'regress_analyst', tau => 0.9);
RESET ROLE;
LOAD 'dp_rdr';

-- The error of a statement with its detail and hint; 'accepted' if there is none.
CREATE FUNCTION refusal(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    detail text; hint text;
BEGIN
    EXECUTE statement;
    RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(' | ', sqlstate || ' ' || left(sqlerrm, 120), nullif(detail, ''), nullif(hint, ''));
END $$;
CREATE FUNCTION many(n integer, template text, separator text = ', ') RETURNS text LANGUAGE sql
AS $$ SELECT string_agg(replace(template, '#', g::text), separator ORDER BY g) FROM generate_series(1, n) g $$;
SET ROLE regress_analyst;

-- Group keys and distinct aggregates together: 1000. Wherever the aggregates stand, they are columns of the leaf; the same
-- aggregate twice is one.
SELECT n, refusal('SELECT cardinality(ARRAY[' || many(n, 'count(*) FILTER (WHERE age = #)') || ']) FROM adult_dp')
FROM unnest('{1000,1001,1664,1665,10000,70000}'::int[]) n;
SELECT refusal('SELECT count(*) FROM adult_dp HAVING ' || many(1001, 'count(*) FILTER (WHERE age = #) > 0', ' AND '));
SELECT refusal('SELECT count(*) FROM adult_dp ORDER BY ' || many(1001, 'count(*) FILTER (WHERE age = #)'));
SELECT refusal('SELECT marital_status, ' || many(1000, 'count(*) FILTER (WHERE age = #)') || ' FROM adult_dp GROUP BY 1');
SELECT refusal('SELECT 1 FROM adult_dp GROUP BY ' || many(1600, 'age < #'));
SELECT refusal('SELECT cardinality(ARRAY[' || many(30000, 'count(*)') || ']) FROM adult_dp');
-- GROUPING is a column of each set's answer. Keys of many sets are compared once, and too many of them not at all.
SELECT n, refusal('EXPLAIN SELECT ' || many(n, 'GROUPING((age < #))', ' + ') || ' FROM adult_dp GROUP BY GROUPING SETS ((' ||
                  many(600, 'age < #') || '), (' || many(599, 'age < #') || '))')
FROM unnest('{400,401}'::int[]) n;
SELECT refusal('SELECT cardinality(ARRAY[' || (SELECT string_agg(format('GROUPING((age < %s), (age < %s))', a, b), ', ') FROM generate_series(1, 100) a, generate_series(1, 100) b) ||
               ']) FROM adult_dp GROUP BY ROLLUP (' || many(60, 'age < #') || '), ' || (SELECT string_agg('age < ' || g, ', ') FROM generate_series(61, 100) g));
SELECT refusal(format('SELECT * FROM dp_rdr.release(%L, NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS r (%s)',
    'SELECT ' || many(1001, 'count(*)') || ' FROM public.adult_dp', many(1001, 'c# bigint')));

-- A text of 64 kB, and what would make one.
SELECT n, refusal(format('SELECT * FROM dp_rdr.release(%L, NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS r (n bigint)',
    rpad('SELECT count(*) FROM public.adult_dp', n)))
FROM unnest('{65536,65537}'::int[]) n;
SELECT n, refusal(format('SELECT * FROM dp_query(%L) AS (n bigint)',
    'SELECT count(*) FROM adult_dp WHERE workclass <> ''' || repeat('a', n) || ''''))
FROM unnest('{60000,65536,1000000}'::int[]) n;
SELECT refusal('SELECT count(*) FROM adult_dp WHERE workclass <> ''' || repeat('a', 70000) || '''');
SELECT refusal('SELECT count(*) FROM adult_dp WHERE age IN (' || many(100000, '#') || ')');
SELECT refusal('SELECT count(*) FROM adult_dp WHERE CASE ' || many(100000, 'WHEN age = # THEN true', ' ') || ' END');
SELECT refusal('SELECT count(*) FROM adult_dp WHERE ' || many(100000, 'age <> #', ' AND '));
SELECT accepted, reason FROM dp_explain('SELECT count(*) FROM adult_dp' || repeat(' ', 70000));

-- The rest of a statement may be of any size, and so may one that has no restricted view.
SELECT refusal('SELECT count(*) FROM adult_dp HAVING 1 IN (' || many(20000, '#') || ')');
SELECT refusal('SELECT 1 WHERE 1 IN (' || many(100000, '#') || ')');
SELECT refusal('SELECT ' || many(1600, '#::int'));

-- Deep ones end at the depth of the stack or at the parser's.
SELECT left(refusal(statement), 60) FROM (VALUES
    (1, 'SELECT count(*) FROM adult_dp WHERE ' || repeat('NOT ', 100000) || 'true'),
    (2, 'SELECT count(*) FROM adult_dp WHERE age > 0' || repeat(' + 1', 100000)),
    (3, 'SELECT count(*) FROM adult_dp WHERE ' || repeat('(', 9000) || 'true' || repeat(')', 9000)),
    (4, format('SELECT * FROM dp_query(%L) AS (n bigint)', 'SELECT count(*) FROM adult_dp WHERE age > 0' || repeat(' + 1', 16000)))
    ) s (id, statement) ORDER BY id;

-- Queries that name each other twice are looked at once each.
SET statement_timeout = '60s';
SELECT refusal('WITH c0 AS (SELECT 1 AS x), ' ||
    (SELECT string_agg(format('c%s AS (SELECT a.x FROM c%s a, c%s b)', g, g - 1, g - 1), ', ' ORDER BY g) FROM generate_series(1, 40) g) ||
    ' SELECT x FROM c40 WHERE false UNION ALL SELECT count(*) FROM adult_dp WHERE false LIMIT 0');
RESET statement_timeout;

-- Each leaf is a charge: at most 1000 in a statement; and at most 80 parameters in a leaf.
SELECT refusal('EXPLAIN ' || many(1001, 'SELECT count(*) FROM adult_dp WHERE age = #', ' UNION ALL '));
CREATE FUNCTION pg_temp.parameters(n integer) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('PREPARE p%s (%s) AS SELECT count(*) FROM adult_dp WHERE %s', n, public.many(n, 'integer'),
                   public.many(n, 'age <> $#', ' AND '));
    RETURN public.refusal(format('EXECUTE p%s (%s)', n, public.many(n, '#')));
END $$;
SELECT n, pg_temp.parameters(n) FROM unnest('{80,81,120}'::int[]) n;
RESET ROLE;

-- The ledger keeps the beginning of a long text, and the hash and the length of all of it.
SET ROLE regress_analyst;
SELECT count(*) FROM dp_rdr.release('SELECT count(*) FROM public.adult_dp WHERE workclass <> ''' || repeat('é', 10000) || '''',
                                    NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS r (n bigint);
SELECT count(*) FROM dp_query('SELECT count(*) FROM adult_dp') AS (n bigint);
RESET ROLE;
SELECT octet_length(query), right(query, 106) AS ends,
       substring(query FROM 'SHA-256 (\w+)\)$') = encode(sha256(convert_to('SELECT count(*) FROM public.adult_dp WHERE (workclass <> ''' ||
           repeat('é', 10000) || '''::text)', 'UTF8')), 'hex') AS hash
FROM dp_rdr.ledger_row WHERE view = 'public.adult_dp' ORDER BY id DESC LIMIT 2;
SELECT max(octet_length(query)) <= 8192 AS short_texts, max(octet_length(parameters::text)) < 8192 AS short_parameters
FROM dp_rdr.ledger_row;
SELECT dp_verify_ledger('adult');

-- The controller's calls have the same limits.
SET ROLE regress_controller;
SELECT left(refusal(statement), 160) FROM (VALUES
    (1, format('SELECT count(*) FROM dp_risk(%L, ARRAY[1.0])', 'SELECT ' || many(1001, 'count(*) FILTER (WHERE age = #)') || ' FROM adult_dp')),
    (2, format('SELECT count(*) FROM dp_risk(%L, ARRAY[1.0])', 'SELECT ' || many(1001, 'count(*) + #') || ' FROM adult_dp')),
    (3, format('SELECT count(*) FROM dp_risk(%L, ARRAY[1.0])', 'SELECT count(*) FROM adult_dp' || repeat(' ', 70000)))
    ) s (id, statement) ORDER BY id;

-- A look in a transaction that stays open keeps no lock on the table or the view.
RESET ROLE;
GRANT SELECT ON adult_dp TO regress_analyst;
BEGIN;
SET LOCAL ROLE regress_analyst;
SELECT accepted FROM dp_explain('SELECT count(*) FROM adult_dp');
SELECT accepted, reason FROM dp_explain('SELECT age FROM adult_dp');
SELECT relation::regclass FROM pg_locks WHERE pid = pg_backend_pid() AND relation IN ('adult'::regclass, 'adult_dp'::regclass);
COMMIT;
SET ROLE regress_controller;
BEGIN;
SELECT count(*) >= 0 FROM dp_audit();
SELECT relation::regclass FROM pg_locks WHERE pid = pg_backend_pid() AND relation IN ('adult'::regclass, 'adult_dp'::regclass);
COMMIT;
RESET ROLE;
DROP FUNCTION many, refusal;
SET client_min_messages = error;  -- what is spent by then depends on the files that ran before
SELECT dp_set_odometer('adult', 'filter', 1);
RESET client_min_messages;
