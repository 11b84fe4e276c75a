-- Functions and operators on private rows: none can fail, whatever is stored (K3). The first part is made from the table of
-- total functions itself, so that no entry can be forgotten; the second lists expressions by shape, accepted and refused.

LOAD 'dp_rdr';
\set VERBOSITY terse

\pset format unaligned
SELECT call, replacement, constants, reason FROM dp_rdr.total_functions() ORDER BY call COLLATE "C";
\pset format aligned

-- ---------------------------------------------------------------------------------------------------------------------
-- A table of extremes: columns a_<type>, b_<type>, c_<type>, in all combinations of a and b
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_controller;
CREATE TYPE mood AS ENUM ('sad', 'happy');
ALTER TYPE mood ADD VALUE 'fine' BEFORE 'happy';
CREATE TABLE extreme (type text, list text[]);
INSERT INTO extreme VALUES
    ('smallint', '{-32768,-32767,-100,-1,0,1,2,3,7,32766,32767,NULL}'),
    ('integer', '{-2147483648,-2147483647,-65536,-10,-1,0,1,2,10,65536,2147483646,2147483647,NULL}'),
    ('bigint', '{-9223372036854775808,-9223372036854775807,-4294967296,-2147483649,-1,0,1,2,10,32768,2147483648,9223372036854775807,NULL}'),
    ('real', '{NaN,Infinity,-Infinity,-3.4028235e38,-1e20,-1,-0,0,1e-45,1e-20,0.5,2.5,32767.5,2147483648,9.223372e18,3.4028235e38,NULL}'),
    ('double precision', '{NaN,Infinity,-Infinity,-1.7976931348623157e308,-1e200,-32768.5,-1,-0,0,5e-324,1e-200,0.5,2147483647.5,9223372036854775807,1e40,1.7976931348623157e308,NULL}'),
    ('numeric', ARRAY['NaN', 'Infinity', '-Infinity', '0', '-0.5', '1', '0.000', '7.25', '1e-16383', '1e-400', '32767.5', '-2147483648.5',
                      '-9223372036854775808.4', '9223372036854775807.5', '1e400', '1e999', '1e1000', '1e131071',
                      repeat('9', 131072) || '.' || repeat('9', 16383), '-' || repeat('9', 131072) || '.5', repeat('3', 1900), NULL]),
    ('text', ARRAY['', ' ', 'a', '%', '\', 'ab\', '12', ' -7 ', '+', '.', '1e5', '-1.5e-3', '1e', '1e99999', '0x10', 'NaN', '-inf', 'true', 'off',
                   '2020-02-29', '2021-02-29', '2020-01-01 23:59:59.999999', '2020-01-01T00:00', '9999-12-31', 'infinity', '99999999999999999999',
                   'é', 'Ünï ß İ ﬀ 𝄞', E'\n', repeat('a', 100000), repeat('9', 2000), NULL]),
    ('character(5)', '{"",a,%,\\,"a b",12,éé,NULL}'),
    ('name', '{"",a,%,\\,é,NULL}'),
    ('boolean', '{t,f,NULL}'),
    ('date', '{infinity,-infinity,4714-11-24 BC,4713-01-01 BC,1700-01-01 BC,0001-01-01,1900-02-28,2000-02-29,9999-12-31,294276-12-31,294277-01-01,5874897-12-31,NULL}'),
    ('timestamp', '{infinity,-infinity,4714-11-24 00:00:00 BC,4714-11-25 12:00:00 BC,1700-06-01 00:00:00 BC,0001-01-01,1970-01-01,2000-02-29 23:59:59.999999,290000-01-01,294276-12-31 00:00:00,294276-12-31 23:59:59.999999,NULL}'),
    ('timestamp with time zone', '{infinity,-infinity,4714-11-24 00:00:00+00 BC,4714-11-25 12:00:00+00 BC,1700-06-01 00:00:00+00 BC,0001-01-01 00:00:00+00,1970-01-01 00:00:00+00,2000-02-29 23:59:59.999999+00,290000-01-01 00:00:00+00,294276-12-31 00:00:00+00,294276-12-31 23:59:59.999999+00,NULL}'),
    ('interval', '{0,1 day,-1 month,1 microsecond,2147483647 months,-2147483648 months,2147483647 days,-2147483648 days,2562047788:00:54.775807,-2562047788:00:54.775807,1000 years 365000 days 8760000 hours,2147483647 months 2147483647 days 2562047788:00:54.775807,NULL}'),
    ('mood', '{sad,fine,happy,NULL}'),
    ('uuid', '{00000000-0000-0000-0000-000000000000,ffffffff-ffff-ffff-ffff-ffffffffffff,NULL}'),
    ('bytea', ARRAY['', '\x00', '\xff', '\x' || repeat('00', 2000), NULL]),
    ('bit(1)', '{0,1,NULL}'),
    ('bit varying', ARRAY['', '0', '1', '10', repeat('01', 2000), NULL]),
    ('jsonb', ARRAY['{}', '[]', '5', '"a"', 'null', '[1, "a", null, true, {"a": 1}, [2], -7.50]', '{"a": 1, "": "x", "12": {"a": [1]}, "year": "2020", "YEAR": null}',
                    '{"year": 1e131071, "a": false, "UTC": "\u0001é"}', '[1e131071, 1e-16383, 5, 1e400, "a"]', '{"year": [' || repeat('1e131071, ', 2000) || '1]}',
                    '[1, 2, 3, ' || repeat('[', 500) || repeat(']', 500) || ']', '{"year": "' || repeat('a', 100000) || '", "month": 1.50}', NULL]),
    ('"char"', ARRAY['', 'a', NULL]),
    ('oid', '{0,1,4294967295,NULL}'),
    ('money', '{-92233720368547758.08,-0.01,0,92233720368547758.07,NULL}'),
    ('time without time zone', '{00:00,23:59:59.999999,24:00,NULL}'),
    ('time with time zone', '{00:00+15:59:59,00:00-15:59:59,24:00+00,NULL}'),
    ('inet', '{0.0.0.0/0,255.255.255.255,::/0,ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff,NULL}'),
    ('macaddr', '{00:00:00:00:00:00,ff:ff:ff:ff:ff:ff,NULL}'),
    ('macaddr8', '{00:00:00:00:00:00:00:00,ff:ff:ff:ff:ff:ff:ff:ff,NULL}');
CREATE FUNCTION column_of(prefix text, type text) RETURNS text LANGUAGE sql IMMUTABLE AS
    $$ SELECT quote_ident(prefix || '_' || type) $$;
-- No list is longer than 32: a and b run through all pairs.
DO $do$
BEGIN
    EXECUTE (SELECT format('CREATE TABLE extremes AS SELECT i AS id, %s FROM generate_series(0, 1023) i',
                           string_agg(format('(%L::text[])[1 + (%s) %% %s]::%s AS %s', list, n, cardinality(list), type,
                                             column_of(p, type)), ', '))
             FROM extreme, (VALUES ('a', 'i % 32'), ('b', 'i / 32'), ('c', 'i + i / 32')) v (p, n));
END $do$;
SELECT dp_protect('extremes', 'extremes_dp');
SELECT dp_set_odometer('extremes', 'none'), dp_grant('extremes_dp', 'regress_analyst', tau => 0.95, delta => 0.000001);
RESET ROLE;

-- Every call of the table: columns where columns may stand, constants of many kinds elsewhere.
CREATE TABLE total_entry AS
SELECT call AS entry, function, replacement, constants FROM dp_rdr.total_functions() WHERE function IS NOT NULL;
CREATE TABLE constant_argument (type text, value text);
INSERT INTO constant_argument VALUES
    ('text', '''year'''), ('text', '''MONTH'''), ('text', '''week'''), ('text', '''microseconds'''), ('text', '''epoch'''),
    ('text', '''julian'''), ('text', '''timezone'''), ('text', '''nonsense'''), ('text', ''''''),
    ('text', '''UTC'''), ('text', '''America/New_York'''), ('text', '''+14:00'''), ('text', '''%a%_'''), ('text', '''ab\'''), ('text', 'repeat(''a%'', 200)'), ('text', 'NULL'),
    ('text', '''YYYY-MM-DD HH24:MI:SS.US'''), ('text', '''fmMonth, FMDay mon DY "x%Y" Q/IYYY_IW;ID(ww)'''), ('text', '''MONTH Day dd ddd d hh12 HH MS"'''), ('text', '''FMMonth Day FMDDD D DD HH12.MS "é"'''),
    ('text', '''MONTH Day dd ddd D hh12 HH MS (ms) FMWW iw iyyy FMMI'''), ('text', '''SSSS'''), ('text', '''IDDD'''), ('text', '''DDTH'''), ('text', '''TMMonth'''),
    ('interval', '''15 minutes'''), ('interval', '''7 days 00:00:00.000001'''), ('interval', '''1 month'''), ('interval', '''0'''), ('interval', '''-1 day'''), ('interval', '''366000 days'''), ('interval', 'NULL'),
    ('timestamp without time zone', '''2000-01-01 01:02:03'''), ('timestamp without time zone', '''infinity'''), ('timestamp without time zone', '''4714-11-24 BC'''), ('timestamp without time zone', '''280000-01-01'''),
    ('timestamp with time zone', '''2000-01-01 01:02:03+05'''), ('timestamp with time zone', '''-infinity'''), ('timestamp with time zone', '''280000-01-01 00:00:00+00'''),
    ('name', '''a%'''), ('boolean', 'true'), ('boolean', 'false'),
    ('integer', '(-2147483648)'), ('integer', '(-3)'), ('integer', '0'), ('integer', '3'), ('integer', '10'), ('integer', '327684'), ('integer', 'NULL'), ('anycompatiblearray', '''{1,2}''::integer[]'), ('anycompatiblearray', '''{1,NULL}''::integer[]'), ('anycompatiblearray', '''{{1,2},{3,4}}''::integer[]');
CREATE FUNCTION stand_in(type oid) RETURNS text LANGUAGE sql STABLE AS
    $$ SELECT CASE format_type(type, NULL) WHEN 'anyenum' THEN 'mood' WHEN 'anynonarray' THEN 'integer' WHEN 'anycompatible' THEN 'integer' WHEN '"any"' THEN 'text'
              WHEN 'character' THEN 'character(5)' WHEN 'bit' THEN 'bit(1)' WHEN 'character varying' THEN 'text'
              WHEN 'timestamp without time zone' THEN 'timestamp' ELSE format_type(type, NULL) END $$;
CREATE FUNCTION has_column(type oid) RETURNS boolean LANGUAGE sql STABLE AS
    $$ SELECT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'extremes'::regclass
                      AND quote_ident(attname) = column_of('a', stand_in(type))) $$;
CREATE TABLE total_call AS
WITH RECURSIVE argument AS (
    SELECT e.entry, a.i, CASE WHEN a.i = ANY (e.constants) THEN c.value || '::' || format_type(a.type, NULL)
                              ELSE column_of(substr('abca', a.i::integer, 1), stand_in(a.type)) END AS value
    FROM total_entry e JOIN pg_proc p ON p.oid = e.function
    CROSS JOIN unnest(p.proargtypes::oid[]) WITH ORDINALITY a (type, i)
    LEFT JOIN constant_argument c ON a.i = ANY (e.constants) AND c.type = format_type(a.type, NULL)
    WHERE a.i = ANY (e.constants) OR has_column(a.type)
), list AS (
    SELECT entry, i, value AS arguments FROM argument WHERE i = 1
    UNION ALL
    SELECT l.entry, a.i, l.arguments || ', ' || a.value FROM list l JOIN argument a ON a.entry = l.entry AND a.i = l.i + 1
)
SELECT e.entry, format('pg_catalog.%I(%s)', p.proname, l.arguments) AS call,
       CASE WHEN e.replacement IS NOT NULL THEN format('dp_rdr.%I(%s)', p.proname, l.arguments) END AS replacement
FROM list l JOIN total_entry e ON e.entry = l.entry JOIN pg_proc p ON p.oid = e.function AND p.pronargs = l.i;
INSERT INTO total_call
SELECT call, format('CAST(%s AS %s)', column_of('a', stand_in(to_regtype(m[1]))), m[2]),
       format('%s(%s%s)', split_part(replacement::text, '(', 1), column_of('a', stand_in(to_regtype(m[1]))),
              CASE WHEN replacement::text LIKE '%,text)' THEN ', ''' || current_setting('DateStyle') || '''' END)
FROM dp_rdr.total_functions(), regexp_match(call, '^CAST\((.*) AS (.*)\)$') m WHERE function IS NULL;
ALTER TABLE total_call ADD n integer GENERATED ALWAYS AS IDENTITY, ADD all_rows text, ADD few_rows text, ADD no_rows text;
GRANT SELECT, UPDATE ON total_call TO regress_analyst;

-- None is left out.
SELECT call AS left_out FROM dp_rdr.total_functions() WHERE call NOT IN (SELECT entry FROM total_call);
SELECT count(DISTINCT entry) > 400 AS entries FROM total_call;

-- As an analyst, on all rows: accepted, or refused for a constant. Sixteen calls are keys of one statement; where one of them
-- is refused, its halves are tried. Then on a tenth of the rows, and on none: the same. An
-- interval is no key, nor a document; whether it is there is one.
CREATE FUNCTION try_keys(first integer, last integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    middle integer := (first + last) / 2;
    outcome text := attempt(format('SELECT count(*) FROM extremes_dp GROUP BY %s',
                                   (SELECT string_agg(CASE WHEN entry ~ '^(timestamp(tz)?_mi|"interval"|age|jsonb_object_field|jsonb_array_element)\(' THEN call || ' IS NULL' ELSE call END, ', ' ORDER BY n)
                                    FROM total_call WHERE n BETWEEN first AND last)));
BEGIN
    IF outcome = 'accepted' OR first = last THEN
        UPDATE total_call SET all_rows = outcome WHERE n BETWEEN first AND last;
    ELSE
        PERFORM try_keys(first, middle), try_keys(middle + 1, last);
    END IF;
END $$;
SET ROLE regress_analyst;
SELECT count(try_keys(g, least(g + 15, n))) > 50 AS tried FROM (SELECT max(n) AS n FROM total_call) c, generate_series(1, n, 16) g;
RESET ROLE;
SELECT call, all_rows FROM total_call WHERE all_rows !~ '^(accepted|0A000 |22023 )' ORDER BY n;
SELECT entry AS never_accepted FROM total_call GROUP BY entry HAVING NOT bool_or(all_rows = 'accepted') ORDER BY entry COLLATE "C";
SELECT left(all_rows, 5) AS outcome, count(*) > 20 AS often FROM total_call WHERE all_rows <> 'accepted' GROUP BY 1 ORDER BY 1;
CREATE VIEW total_batch AS
SELECT format('SELECT %s FROM extremes_dp', string_agg(format('count(%s)', call), ', ')) AS statement, all_rows AS outcome, count(*) AS calls
FROM total_call GROUP BY CASE WHEN all_rows = 'accepted' THEN n / 20 ELSE -n END, all_rows;
GRANT SELECT ON total_batch TO regress_analyst;
SET ROLE regress_analyst;
SELECT statement FROM total_batch WHERE attempt(statement) <> outcome;
RESET ROLE;
CREATE TABLE extremes_all AS SELECT * FROM extremes;
DELETE FROM extremes WHERE id % 10 <> 3;
SET ROLE regress_analyst;
SELECT statement FROM total_batch WHERE attempt(statement) <> outcome;
RESET ROLE;
DELETE FROM extremes;
SET ROLE regress_analyst;
SELECT statement FROM total_batch WHERE attempt(statement) <> outcome;
RESET ROLE;

-- A replacement has the value of the built-in; where that raises an error, and in few other cases, it is NULL.
SELECT CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'debug_parallel_query' ELSE 'force_parallel_mode' END AS forced_parallel \gset
CREATE FUNCTION values_of(builtin text, replacement text, arguments integer, OUT same bigint, OUT null_for_error bigint, OUT null_for_value bigint,
                          OUT wrong bigint) LANGUAGE plpgsql
SET :forced_parallel = off /* a process for each value would take many minutes */ AS $$
DECLARE
    r record;
    expected text;
    got text;
BEGIN
    same := 0; null_for_error := 0; null_for_value := 0; wrong := 0;
    FOR r IN EXECUTE format('SELECT id, (%s)::text AS value FROM extremes_all WHERE %L::integer > 1 OR id < 32', replacement, arguments) LOOP
        got := r.value;
        BEGIN
            EXECUTE format('SELECT (%s)::text FROM extremes_all WHERE id = $1', builtin) INTO expected USING r.id;
            IF got IS NOT DISTINCT FROM expected THEN same := same + 1;
            ELSIF got IS NULL THEN null_for_value := null_for_value + 1;
            ELSE wrong := wrong + 1; END IF;
        EXCEPTION WHEN OTHERS THEN
            IF got IS NULL THEN null_for_error := null_for_error + 1; ELSE wrong := wrong + 1; END IF;
        END;
    END LOOP;
END $$;
CREATE INDEX ON extremes_all (id);
CREATE TABLE total_value AS
SELECT c.entry, v.* FROM total_call c, values_of(call, replacement, 1 + (call ~ '\mb_')::integer) v /* without b_<type> the rows repeat */
WHERE replacement IS NOT NULL AND all_rows = 'accepted';
SELECT count(DISTINCT entry) AS replaced, sum(wrong) AS wrong, sum(same) > 10000 AS same, sum(null_for_error) > 10000 AS null_for_error FROM total_value;
SELECT DISTINCT entry AS null_a_little_earlier FROM total_value WHERE null_for_value > 0 ORDER BY 1;

-- ---------------------------------------------------------------------------------------------------------------------
-- Sizes: what is longer than a megabyte counts as NULL, and nothing waits for it
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_controller;
CREATE COLLATION ignores_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE giant (id integer, t text, n text COLLATE ignores_case);
-- One value at a time: more than a gigabyte at once would be a test of the machine.
INSERT INTO giant VALUES (0, 'small', 'small');
INSERT INTO giant VALUES (1, repeat('a', 140000000), 'a');
INSERT INTO giant VALUES (2, repeat('a', 270000000), 'a');
INSERT INTO giant VALUES (3, repeat('a', 600000000), 'a');
INSERT INTO giant VALUES (4, repeat('b', 1048576), 'b'), (5, repeat('b', 1048577), 'b');
SELECT dp_protect('giant', 'giant_dp');
SELECT dp_set_odometer('giant', 'none'), dp_grant('giant_dp', 'regress_analyst', tau => 0, epsilon_max => 100, candidates => '{100}');
RESET ROLE;
-- Every accepted call that takes a text, of the column and of an arm of CASE: the same outcome, long before the time is over.
CREATE TABLE giant_call AS
SELECT entry, call, regexp_replace(call, '\m[abc]_text\M', a.argument, 'g') AS giant
FROM total_call, (VALUES ('t'), ('CASE WHEN id = 3 THEN t ELSE ''b'' END')) a (argument)
WHERE all_rows = 'accepted' AND call ~ '\m[abc]_text\M' AND regexp_replace(call, '\m[abc]_text\M', '', 'g') !~ '\m[abc]_';
SELECT count(DISTINCT entry) > 40 AS entries FROM giant_call;
GRANT SELECT ON giant_call TO regress_analyst;
CREATE FUNCTION answered(statement text) RETURNS text LANGUAGE plpgsql SET statement_timeout = '10min' AS $$
BEGIN
    RETURN attempt(statement);
END $$;
SET ROLE regress_analyst;
SELECT n AS first_call, outcome
FROM (SELECT min(n) AS n, format('SELECT %s FROM giant_dp', string_agg(format('count(%s)', giant), ', ')) AS statement
      FROM (SELECT row_number() OVER () AS n, giant FROM giant_call) c GROUP BY n / 5) b, answered(statement) outcome
WHERE outcome <> 'accepted';
-- What such a text is: NULL for every function, and there all the same.
CREATE FUNCTION pg_temp.giants(condition text) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
BEGIN
    EXECUTE format('SELECT * FROM dp_query(%L) AS (n bigint)', 'SELECT count(*) FROM giant_dp WHERE ' || condition) INTO n;
    RETURN n;
END $$;
SELECT condition, pg_temp.giants(condition) FROM (VALUES ('t IS NOT NULL'), ('length(t) IS NULL'), ('length(t) > 1000'), ('t = t'), ('lower(t) IS NOT NULL'),
    ('t LIKE ''%b'''), ('t IN (''small'', ''b'')'), ('t < ''c'' COLLATE "C"'), ('t IS DISTINCT FROM t'), ('nullif(t, t) IS NULL')) v (condition);

-- Constants: 64 kB, a pattern of 1,000 bytes, written, computed or sent; nothing larger is made on the way.
SELECT left(condition, 70) AS condition, length(condition), answered('SELECT count(*) FROM giant_dp WHERE ' || condition) AS outcome
FROM (VALUES ('t = ''' || repeat('a', 65000) || ''''), ('t = ''' || repeat('a', 65537) || ''''), ('t = repeat(''a'', 65536)'), ('t = repeat(''a'', 65537)'),
    ('btrim(CASE WHEN id = 3 THEN repeat(''a'', 140000000) ELSE ''b'' END) = ''b'''), ('t = repeat(repeat(repeat(''a'', 1000), 1000), 1000)'), ('length(repeat(''a'', 10000000)) = id'),
    ('t = replace(repeat(''a'', 600), ''a'', repeat(''b'', 600))'), ('t = regexp_replace(repeat(''a'', 60000), ''.*'', ''\&\&\&'')'), ('t = lpad(''a'', 1000000000)'),
    ('t = repeat(CASE 1 WHEN 1 THEN ''a'' END, 1000000000)'), ('t = repeat(''a''::varchar, 1000000000)'), ('id = ANY (array_fill(1, ARRAY[100000000]))'),
    ('t = (1e131000::numeric)::text'), ('length(t) = length(jsonb_path_query_array(''[]'', ''$.**'')::text)'),
    ('t LIKE repeat(''a'', 1000)'), ('t LIKE repeat(''a'', 1001)'), ('t LIKE ''%'' || repeat(''a'', 999)')) v (condition);
PREPARE sent(text) AS SELECT count(*) FROM giant_dp WHERE t = $1;
EXECUTE sent(repeat('a', 65537));
-- What a statement may cost on one row: patterns, comparisons in a library's order, divisions, all of them together.
SELECT n, left(part, 40) AS times, answered('SELECT count(*) FROM giant_dp WHERE ' || repeat(part || ' OR ', n) || 'false') AS outcome
FROM (VALUES (20, 't LIKE ''%a_a_a_a_b%'''), (3, 't LIKE ''%' || repeat('a_', 400) || 'b%'''), (1000, 't < ''b'' COLLATE "en-x-icu"'), (50, 't::numeric / 7 = id'),
    (1000, 't::numeric / 7 = id'), (1000, 'lower(upper(lower(t))) = ''a'''), (1000, 't = ''a''')) v (n, part);
-- Sub-SELECTs that double a column are counted before they are opened.
SELECT n, answered(format('SELECT count(*) FROM %s(SELECT t AS a FROM giant_dp)%s WHERE a = ''b''', repeat('(SELECT a || a AS a FROM ', n), repeat(' q)', n) || ' q')) AS outcome
FROM unnest('{5,14,18,40}'::integer[]) n;

-- Nondeterministic collations meet no row: as a column's own, and written down. Casts compare nothing.
SELECT DISTINCT how, outcome
FROM (SELECT DISTINCT ON (entry, how) entry, how, regexp_replace(call, '\m[abc]_text\M', argument, 'g') AS call
      FROM giant_call, (VALUES ('column', 'n'), ('written', '(t COLLATE ignores_case)')) a (how, argument)
      WHERE entry !~ '^CAST' ORDER BY entry, how, call) c,
    LATERAL (SELECT left(attempt(format('SELECT count(%s) FROM giant_dp', call)), 54)) o (outcome)
ORDER BY 1, 2;
SELECT statement, left(attempt(statement), 60) AS outcome FROM (VALUES ('SELECT count(*) FROM giant_dp GROUP BY n'), ('SELECT count(*) FROM giant_dp WHERE n IN (''a'', ''b'')'),
    ('SELECT count(*) FROM giant_dp WHERE n IS DISTINCT FROM ''a'''), ('SELECT count(*) FROM giant_dp WHERE CASE n WHEN ''a'' THEN true END'),
    ('SELECT count(nullif(n, ''a'')) FROM giant_dp'), ('SELECT count(greatest(n, ''a'')) FROM giant_dp'), ('SELECT count(*) FROM giant_dp WHERE starts_with(n, ''a'')'),
    ('SELECT count(*) FROM giant_dp WHERE n LIKE ''a'''), ('SELECT count(*) FROM giant_dp WHERE n IS NULL'), ('SELECT count(n) FROM giant_dp')) v (statement);
RESET ROLE;
SET ROLE regress_controller;
SELECT attempt('SELECT dp_protect(''giant'', ''giant_filtered'', filter => ''n = ''''a'''''')');

-- Geometry: areas and lengths overflow with an error, so that nothing of it meets a row. Of constants it is evaluated before.
CREATE TABLE shapes (id integer, point point, lseg lseg, line line, box box, path path, polygon polygon, circle circle);
INSERT INTO shapes VALUES (1, '(1e308,-1e308)', '(-1e308,-1e308),(1e308,1e308)', '{1e308,1e-308,NaN}', '(1e308,1e308),(-1e308,-1e308)',
                           '((0,0),(1e308,1e308),(NaN,Infinity))', '((0,0),(1e308,0),(0,1e308))', '<(0,0),1e200>');
SELECT dp_protect('shapes', 'shapes_dp');
SELECT dp_set_odometer('shapes', 'none'), dp_grant('shapes_dp', 'regress_analyst', tau => 0.95);
RESET ROLE;
CREATE TABLE shape_call AS
SELECT format('%s OPERATOR(pg_catalog.%s) %s', l.typname, oprname, r.typname) AS call
FROM pg_operator o JOIN pg_type r ON r.oid = oprright LEFT JOIN pg_type l ON l.oid = oprleft
WHERE r.typname IN ('point', 'lseg', 'line', 'box', 'path', 'polygon', 'circle') AND (oprleft = 0 OR l.typname IN ('point', 'lseg', 'line', 'box', 'path', 'polygon', 'circle'));
GRANT SELECT ON shape_call TO regress_analyst;
SET ROLE regress_analyst;
SELECT count(*) > 100 AS calls, count(*) FILTER (WHERE attempt(format('SELECT count(%s) FROM shapes_dp', call)) !~ '^0A000 ') AS not_refused FROM shape_call;
SELECT call, left(attempt('SELECT count(*) FROM shapes_dp WHERE ' || call), 70) AS outcome FROM (VALUES
    ('circle ''<(0,0),1e200>'' < circle ''<(0,0),1>'''), ('CASE WHEN id = 1 THEN circle ''<(0,0),1e200>'' END < circle ''<(0,0),1>'''),
    ('lseg ''(-1e308,-1e308),(1e308,1e308)'' < lseg ''(0,0),(1,1)'''), ('CASE WHEN id = 1 THEN lseg ''(-1e308,-1e308),(1e308,1e308)'' END < lseg ''(0,0),(1,1)'''),
    ('circle = circle'), ('circle IS DISTINCT FROM ''<(0,0),1>'''), ('nullif(lseg, lseg) IS NULL'), ('CASE circle WHEN ''<(0,0),1>'' THEN true END'), ('greatest(circle, circle) IS NULL'),
    ('circle IS NULL')) v (call);
RESET ROLE;

-- ---------------------------------------------------------------------------------------------------------------------
-- Expressions by shape
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_controller;
CREATE TABLE checkup (id integer, age integer, weight double precision, price numeric(8, 2), note text, code varchar(10), kind mood, day date,
                    at timestamp, at_tz timestamptz, happy boolean);
INSERT INTO checkup
SELECT i, i % 90, CASE i % 3 WHEN 0 THEN 'NaN'::float8 ELSE i END, i / 7.0, CASE WHEN i % 2 = 0 THEN i::text ELSE 'note ' || i END, 'c' || i % 5,
       (ARRAY['sad', 'fine', 'happy'])[1 + i % 3]::mood, date '2020-01-01' + i, timestamp '2020-01-01' + i * interval '1 hour',
       timestamptz '2020-01-01 00:00:00+00' + i * interval '1 hour', i % 2 = 0
FROM generate_series(0, 999) i;
SELECT dp_protect('checkup', 'checkup_dp');
SELECT dp_set_odometer('checkup', 'none'), dp_set_groups('checkup', 'age', '{1,2,3}'), dp_set_bounds('checkup', 'age', 0, 100),
       dp_grant('checkup_dp', 'regress_analyst', tau => 1e-12, delta => 0.000001, epsilon_max => 100);
RESET ROLE;

-- With little noise the answers are the plain ones.
CREATE FUNCTION near(condition text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    noisy bigint;
    exact bigint;
BEGIN
    EXECUTE format('SELECT * FROM dp_query(%L, 100) AS (n bigint)', 'SELECT count(*) FROM checkup_dp WHERE ' || condition) INTO noisy;
    EXECUTE 'RESET ROLE';
    EXECUTE 'SELECT count(*) FROM checkup WHERE ' || condition INTO exact;
    EXECUTE 'SET ROLE regress_analyst';
    RETURN abs(noisy - exact) < 20;
END $$;
SET ROLE regress_analyst;
SELECT condition, near(condition) FROM (VALUES
    ('age + 1 > 30 AND age - 1 < 80 AND age * 2 <> 7 AND -age < 0'), ('age / 10 = 3'), ('age % 7 = 1'), ('abs(age - 45) < 10'),
    ('price * 1.19 > 50'), ('round(price) = 7'), ('floor(price) = ceil(price - 1)'), ('trunc(price, 1) > 3'), ('price::integer = 3'),
    ('weight / 2 > 100'), ('width_bucket(price, 0, 150, 10) = 3'),
    ('note LIKE ''note 1%'''), ('note ILIKE ''NOTE%'''), ('note NOT LIKE ''%\%%'''), ('note LIKE ''%x%'' ESCAPE ''x'' OR true'),
    ('code LIKE ''c_'''), ('lower(note) = upper(note)'), ('length(code) = 2'), ('left(note, 4) = ''note'''),
    ('substr(note, 6, 1) = ''1'''), ('substring(note from 6 for 1) = ''1'''), ('btrim(note, ''note '') = ''1'''),
    ('note || code LIKE ''%c1'''), ('concat(note, code) LIKE ''%c1'''), ('concat(note, nullif(age, 5), ''/'', nullif(kind, ''sad''), day, NULL, code) LIKE ''note 1%/%c2'''),
    ('concat_ws(''-'', nullif(age, 5), nullif(code, ''c1''), kind) LIKE ''%-c2-sad'''), ('concat_ws(''é%'', nullif(age, 5), nullif(code, ''c0'')) IN (''c1'', '''', ''6é%c1'')'), ('concat_ws(''-'' || ''/'', code, nullif(age, 5)) LIKE ''c_-/__'''), ('concat_ws(NULL, code, note) IS NULL'), ('concat(NULL, nullif(age, age)) = '''' AND length(concat_ws('''', code, age)) = 3'), ('age::text = ''30'''), ('age || ''x'' = ''30x'''), ('kind::text = ''sad'''), ('code::char(1) = ''c'''),
    ('kind > ''sad'''), ('kind IN (''sad'', ''happy'')'), ('day > timestamp ''2020-06-01'''), ('day + 30 > date ''2021-01-01'''),
    ('day - date ''2020-01-01'' < 100'), ('day + interval ''1 month'' > at'), ('at - at < interval ''1 day'''),
    ('at > day'), ('extract(year from day) = 2021'), ('extract(dow from at) IN (0, 6)'), ('date_part(''month'', day) = 2'),
    ('date_trunc(''month'', day) = ''2020-03-01'''), ('date_trunc(''hour'', at) = at'), ('at::date = day'), ('at_tz::date = ''2020-01-15'''),
    ('at_tz AT TIME ZONE ''UTC'' < ''2020-01-15'''), ('day < current_date AND at_tz < now() AND at < localtimestamp'),
    ('day > current_date - 36500'), ('CASE WHEN age > 60 THEN ''old'' WHEN age > 20 THEN ''grown'' ELSE ''young'' END = ''grown'''),
    ('CASE age WHEN 1 THEN true WHEN 2 THEN NULL ELSE happy END'), ('coalesce(nullif(age, 5), -1) = -1'), ('greatest(age, 50, id) = 50'),
    ('least(kind, ''fine'') = ''fine'''), ('age IS DISTINCT FROM 5'), ('nullif(age, 5) IS NULL'), ('(age > 5) IS NOT TRUE'),
    ('(age, id) = (5, 5)'), ('age BETWEEN 2 + 3 AND 10 * 5'), ('note COLLATE "C" < ''5'''), ('age & 1 = 1'), ('age = ANY (''{1,2}'')'),
    ('happy'), ('age::numeric(3, 1) > 5'), ('age::real * 2 > 50'), ('md5(note) < ''8''')) t (condition);

-- A query that fails on some rows in PostgreSQL: rows without a value satisfy nothing.
SELECT statement, attempt(statement) FROM (VALUES
    ('SELECT count(*) FROM checkup_dp WHERE 1 / (age - 30) = 0'), ('SELECT count(*) FROM checkup_dp WHERE note::integer = 4'),
    ('SELECT count(*) FROM checkup_dp WHERE age * 2000000000 > 0'), ('SELECT count(*) FROM checkup_dp WHERE weight::integer > 5'),
    ('SELECT count(*) FROM checkup_dp WHERE note::date IS NULL'), ('SELECT count(*) FROM checkup_dp WHERE note::numeric > 5'),
    ('SELECT count(*) FROM checkup_dp WHERE note::boolean'), ('SELECT count(*) FROM checkup_dp WHERE CASE WHEN age = 30 THEN 1 / (age - 30) END = 1'),
    ('SELECT age / 10, count(*) FROM checkup_dp GROUP BY age / 10'), ('SELECT 1 / (age - 30), count(*) FROM checkup_dp GROUP BY 1'),
    ('SELECT date_trunc(''month'', day), kind, avg(age) FROM checkup_dp GROUP BY 1, 2'),
    ('SELECT CASE WHEN age > 60 THEN ''old'' ELSE ''young'' END AS g, count(*) FROM checkup_dp GROUP BY g HAVING count(*) > 5 ORDER BY g'),
    ('SELECT age / 10 + 1, sum(age) FROM checkup_dp GROUP BY age / 10'), ('SELECT lower(note) FROM checkup_dp GROUP BY lower(note)'), ('SELECT age FROM checkup_dp GROUP BY age / 10, age'),
    ('SELECT age, note::integer, count(*) FROM checkup_dp GROUP BY age, note::integer'), ('SELECT count(*) FROM checkup_dp GROUP BY now()'),
    ('SELECT count(1 / age), count(CASE WHEN age > 5 THEN 1 END), count(age) FROM checkup_dp'),
    ('SELECT count(note::integer) FILTER (WHERE age / 10 = 2), sum(age) FILTER (WHERE price * 2 > 5) FROM checkup_dp'),
    ('SELECT dp_count(nullif(age, 5)) FROM checkup_dp')) t (statement);
-- A separator that is sent; more arguments than other functions have; what people see says what they wrote.
PREPARE separated(text) AS SELECT abs(count(*) - 800) < 100 AS near FROM checkup_dp WHERE concat_ws($1, code, code) <> 'c1|c1';
EXECUTE separated('|');
SELECT abs(count(*) - 200) < 100 AS near FROM checkup_dp WHERE concat_ws('', code, code, code, code, code, code, code, code, code, code, code, code, code, code, code, code, code, code, code,
    code, code, code, code, code, code, code, code, code, code, code, code, code, code, code, code, code, code, code, code, code, code, code) LIKE 'c1c1%';
SELECT avg(length(concat(code, age))) FROM checkup_dp;
PREPARE by_parameter(integer, text, date) AS
    SELECT count(*) FROM checkup_dp WHERE age / $1 = 2 AND note LIKE $2 AND day - $3 > 5;
EXECUTE by_parameter(10, '%', '2020-01-01') \gset answer_
EXECUTE by_parameter(0, '%', '2020-01-01') \gset answer_
EXECUTE by_parameter(10, 'a\', '2020-01-01');
-- A constant that is written down is refused with its place, also if it is not evaluated.
EXPLAIN SELECT count(*) FROM checkup_dp WHERE age > 5 AND note LIKE 'a\';
SELECT count(*) FROM checkup_dp WHERE extract(hour FROM day) = 1 LIMIT 0;
SELECT * FROM dp_query($$SELECT count(*) FROM checkup_dp WHERE left(note, -5) LIKE 'b\'$$) AS (n bigint);

-- Refused, with the part named; nothing is charged.
RESET ROLE;
SELECT count(*) AS charged FROM dp_rdr.ledger \gset
CREATE FUNCTION own(integer) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT $1';
CREATE DOMAIN small AS integer CHECK (VALUE < 50);
CREATE COLLATION own_collation (provider = icu, locale = 'und', deterministic = false);
GRANT USAGE ON TYPE small TO PUBLIC;
SET ROLE regress_analyst;
SELECT statement, attempt('SELECT count(*) FROM checkup_dp WHERE ' || statement) FROM (VALUES
    ('own(age) = 1'), ('age::small = 1'), ('small(age) = 1'), ('repeat(note, 100000) = note'), ('note ~ ''(a+)+$'''), ('note SIMILAR TO ''a'''),
    ('regexp_replace(note, ''a'', ''b'') = ''b'''), ('price ^ 100 > 1'), ('power(price, 1000) > 1'), ('power(weight, 2) > 1'), ('exp(weight) > 1'),
    ('ln(price) > 1'), ('sqrt(weight) > 1'), ('factorial(age) > 1'), ('lpad(note, 1000000) = ''a'''), ('rpad(note, age) = ''a'''),
    ('replace(note, ''a'', ''aa'') = ''a'''), ('format(''%s'', note) = ''a'''), ('concat(happy, note) = ''ta'''), ('concat(note, at_tz) = ''a'''), ('concat(VARIADIC ARRAY[note, code]) = ''a'''), ('concat_ws(note, code, code) = ''a'''), ('concat(age, code::char(5)) = ''a'''), ('concat(NULL, ROW(1)) = ''a'''), ('chr(age) = ''a'''), ('ascii(note) = 1'),
    ('to_char(age, ''999'') = ''1'''), ('to_char(day, note) = ''1'''), ('to_date(note, ''YYYY'') = day'), ('to_number(note, ''9'') = 1'),
    ('encode(note::bytea, ''hex'') = ''a'''), ('decode(note, ''hex'') = ''a'''), ('note::bytea IS NULL'), ('note::json IS NULL'), ('note::jsonb IS NULL'),
    ('note::xml IS NULL'), ('note::uuid IS NULL'), ('note::inet IS NULL'), ('note::regclass IS NULL'), ('note::oid = 1'), ('note::mood = ''sad'''),
    ('note::timestamptz = now()'), ('note::time IS NULL'), ('note::interval IS NULL'), ('at_tz::text = ''a'''), ('age::bit(8) IS NULL'), ('note::integer[] IS NULL'),
    ('note LIKE code'), ('note LIKE ''a\'''), ('note LIKE repeat(''%a'', 1000)'), ('note LIKE ANY (ARRAY[''a%'', ''b%''])'), ('left(note, age) = ''a'''),
    ('substr(note, 1, age) = ''a'''), ('substr(note, 1, -1) = ''a'''), ('date_trunc(note, day) = day'), ('date_trunc(''nonsense'', day) = day'),
    ('extract(hour from day) = 1'), ('extract(timezone from at_tz) = 1'), ('at AT TIME ZONE note = at_tz'), ('at AT TIME ZONE ''Nowhere'' = at_tz'),
    ('justify_days(at - at) > interval ''1 day'''), ('make_date(age, 1, 1) = day'), ('make_interval(age) > interval ''1 day'''), ('interval ''1 day'' * age > interval ''1 day'''),
    ('(day, day) OVERLAPS (day, day)'), ('ARRAY[age] = ARRAY[1]'), ('ROW(age, id) < ROW(1, 1)'), ('ROW(age, id) IS NULL'), ('checkup_dp IS NULL'), ('ctid IS NULL'),
    ('tableoid = 1'), ('random() < 0.5'), ('clock_timestamp() > at_tz'), ('pg_sleep(age) IS NULL'), ('nextval(note) > 1'), ('current_setting(note) IS NULL'),
    ('set_config(''a.b'', note, false) IS NULL'), ('pg_advisory_lock(age) IS NULL'), ('age = (SELECT 1)'), ('EXISTS (SELECT FROM checkup_dp)'), ('age IN (SELECT 1)'),
    ('generate_series(1, age) = 1'), ('hashtext(note) = 1'), ('note COLLATE own_collation = ''a'''), ('note = ''a'' COLLATE own_collation'),
    ('1 / 0 = 1'), ('age = 1 / 0'), ('age = ''x''::text::integer'), ('CASE WHEN age = 5 THEN 1 / 0 ELSE 1 END = 1'), ('note = current_setting(''nothing'')'),
    ('note = pg_read_file(''x'')'), ('note = (random())::text')) t (statement);
SELECT statement, attempt(statement) FROM (VALUES
    ('SELECT own(age), count(*) FROM checkup_dp GROUP BY 1'), ('SELECT note::json, count(*) FROM checkup_dp GROUP BY 1'), ('SELECT random(), count(*) FROM checkup_dp GROUP BY 1'),
    ('SELECT ARRAY[age], count(*) FROM checkup_dp GROUP BY 1'), ('SELECT (age, id), count(*) FROM checkup_dp GROUP BY 1'), ('SELECT checkup_dp, count(*) FROM checkup_dp GROUP BY 1'),
    ('SELECT sum(id + 1) FROM checkup_dp'), ('SELECT avg(id::numeric) FROM checkup_dp'), ('SELECT sum(CASE WHEN age > 5 THEN sqrt(age) END) FROM checkup_dp'),
    ('SELECT count(own(age)) FROM checkup_dp'), ('SELECT count((age, id)) FROM checkup_dp'), ('SELECT count(checkup_dp) FROM checkup_dp'),
    ('SELECT age, count(*) FROM checkup_dp GROUP BY age / 10'), ('SELECT 1 / 0, count(*) FROM checkup_dp GROUP BY 1')) t (statement);
RESET ROLE;
SELECT count(*) - :charged AS charged_for_refusals FROM dp_rdr.ledger;

-- ---------------------------------------------------------------------------------------------------------------------
-- What people see says what they wrote; the risk of expression keys; filters of restricted views
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_analyst;
SELECT attempt('SELECT age / 10, count(*) FROM checkup_dp WHERE note::integer > 5 GROUP BY age / 10');
RESET ROLE;
SELECT query FROM dp_rdr.ledger ORDER BY id DESC LIMIT 1;
SET ROLE regress_controller;
SELECT record, individuals, pis FROM dp_risk_records('SELECT age / 60, count(*) FROM checkup_dp WHERE id / 2 = 7 GROUP BY age / 60', 1, delta => 0.000001)
ORDER BY record;
SELECT rdr_max IS NOT NULL AS risk FROM dp_risk('SELECT note::integer / 100, avg(age) FROM checkup_dp GROUP BY 1', '{1}', delta => 0.000001);
SELECT attempt(format('SELECT dp_protect(''checkup'', ''checkup_filtered'', filter => %L)', filter)) AS outcome, filter FROM (VALUES
    ('1 / (age - 30) = 0'), ('day < current_date'), ('at_tz > ''2020-01-01'''), ('at_tz::date > ''2020-01-01'''), ('own(age) = 1'), ('note ~ ''a''')) t (filter);
RESET ROLE;
SELECT filter FROM dp_rdr.restricted_view WHERE view = to_regclass('checkup_filtered');
