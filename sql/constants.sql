-- Constants: whoever asks evaluates what may take long, and what is sent to another process has their values. A request shows what that
-- is, at no charge.
LOAD 'dp_rdr';
SET client_min_messages = warning;
DROP ROLE IF EXISTS constants_owner, constants_ann;
RESET client_min_messages;
CREATE ROLE constants_owner LOGIN;
CREATE ROLE constants_ann LOGIN;
GRANT CREATE ON SCHEMA public TO constants_owner;
SET SESSION AUTHORIZATION constants_owner;
CREATE TYPE tone AS ENUM ('low', 'high');
CREATE TYPE mood AS ENUM ('low', 'high');
CREATE TABLE tune AS SELECT id, id % 4 AS room, (20 + id % 60)::numeric(6, 2) AS cost, id * 0.5::float8 AS weight, 'note ' || id AS note,
    (ARRAY['low', 'high'])[1 + id % 2]::tone AS tone, date '2020-01-01' + id % 300 AS day, now() AS at FROM generate_series(1, 3000) id;
SELECT dp_protect('tune', 'tune_dp');
SELECT dp_set_groups('tune', 'room', '{0,1,2,3}'), dp_set_bounds('tune', 'cost', 0, 100), dp_set_bounds('tune', 'weight', 0, 100);
SELECT dp_set_odometer('tune', epsilon_total => 100);
SELECT dp_grant('tune_dp', 'constants_ann', tau => 0.9);
RESET SESSION AUTHORIZATION;
\pset format unaligned
\pset tuples_only
-- What is stored of a request, behind it the values of its parameters.
CREATE FUNCTION stored(request bigint) RETURNS text LANGUAGE sql SECURITY DEFINER AS $$
    SELECT concat_ws(' ', r.query, nullif(r.parameters ->> 'values', '[]')) FROM dp_rdr.request r WHERE r.id = request
$$;
-- That of its condition, or the error.
CREATE FUNCTION sent(condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    id bigint; text text; detail text; hint text;
BEGIN
    id := dp_request('SELECT count(*) FROM tune_dp WHERE ' || condition, 'to see it');
    text := regexp_replace(stored(id), '^.* WHERE ', '');
    RETURN CASE WHEN length(text) > 200 THEN left(text, 60) || '... of ' || length(text) ELSE text END;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(' | ', sqlstate || ' ' || left(sqlerrm, 120), nullif(detail, ''), nullif(hint, ''));
END $$;
SET SESSION AUTHORIZATION constants_ann;
SET TimeZone = 'UTC';
SET DateStyle = 'German';

-- As they were written: literals, and what takes no longer than it is to write.
SELECT sent(condition) FROM (VALUES ('room = 1 + 1'), ('cost > 5'), ('cost < 5.5 * 2'), ('weight > 1.5'), ('room IN (1, 2)'), ('note IN (''a'', ''b'')'),
    ('day = date ''2020-01-01'' + 30'), ('day >= date_trunc(''month'', timestamp ''2020-05-05'')'), ('note = lower(''A'')'), ('tone = ''low'''),
    ('note = concat(note, ''-'', 5)'), ('CASE WHEN true THEN note ELSE ''b'' END = ''a'''), ('cost::numeric(4, 1) = 5.55::numeric(4, 1)')) v (condition);

-- Values of what may take longer, in their types.
SELECT sent(condition) FROM (VALUES ('note = translate(''abc'', ''b'', ''x'')'), ('note = upper(lower(''A''))'), ('''a'' || ''b'' || ''c'' = note'),
    ('cost = 2 ^ 3'), ('cost = (1.5 + 2.5) * 2'), ('weight = sqrt(2::float8)'), ('weight = ''-Infinity''::text::float8'), ('day = ''2020-05-05''::text::date'),
    ('at < ''2020-05-05 12:00+02''::text::timestamptz'), ('room = ANY (string_to_array(''1,2'', '','')::int[])'), ('tone = ''high''::text::tone'),
    ('room = length(repeat(''a'', 3))'), ('note = ''x''::char(3)'), ('note::char(2) = ''x''::char(40)'), ('note LIKE ''a'' || ''b%'''),
    ('note = repeat(''a'', 10) COLLATE "C"'), ('(''abc'' ~ ''^a.c$'')'), ('note = concat(''a'' || ''b'', note, upper(''c'' || ''d''), 7, NULL)'),
    ('note = concat_ws(repeat(''-'', 2), note, ''a'', ''b'')'), ('B''101'' = ''101''::text::bit(3)'), ('npoints(polygon(5, circle ''<(0,0),1>'')) = room')) v (condition);

-- What is computed from labels or names of a catalog: either may be another's when somebody else reads the text. A label beside a column
-- of its own enum says what it says.
SELECT sent(condition) FROM (VALUES ('''low''::tone < ''high''::tone OR room = 1'), ('room > CASE WHEN ''low''::mood = ''high'' THEN 1 ELSE 2 END'),
    ('room < ''pg_class''::regclass::oid::bigint'), ('(''low''::mood IS NULL OR ARRAY[''low''::mood] = ''{high}'') = (room = 1)'), ('tone IN (''low'', ''high'')'),
    ('CASE WHEN room > 1 THEN ''low''::tone ELSE ''high'' END < ''high'''), ('CASE WHEN room > 1 THEN ''low''::mood ELSE ''high'' END < ''high'''),
    ('CASE WHEN room > 1 THEN ''pg_class''::regclass ELSE ''pg_type'' END = ''pg_type''::regclass')) v (condition);

-- Where a constant decides what is computed, what it does not reach is not.
SELECT sent(condition) FROM (VALUES ('note = CASE WHEN 1 = 2 THEN repeat(''a'', -1 / 0) ELSE repeat(''b'', 2) END'),
    ('note = coalesce(repeat(''a'', 2), repeat(''b'', 1 / 0))'), ('CASE repeat(''a'', 2) WHEN ''aa'' THEN room = 1 ELSE room = 2 END'),
    ('CASE repeat(''a'', 2) WHEN note THEN room = 1 ELSE room = 2 END'), ('lower(CASE WHEN true THEN repeat(''A'', 2) ELSE note END) = note'),
    ('upper(coalesce(repeat(''a'', 2), note)) = note'), ('room = 1 / 0'), ('note = repeat(''a'', 1 / 0)'), ('note = repeat(''a'', 65537)'),
    ('cost < 1e131071'), ('cost IN (5, 1e131071)'), ('cost < 1e999'), ('1e131071 > 1e131070'), ('numrange(1, 2) @> 1.5'), ('''[1,2]''::numrange IS NOT NULL')) v (condition);

-- Literals whose reading compiles regular expressions, or opens entities, are not read by anybody else.
SELECT sent(condition) FROM (VALUES ('''$ ? (@ like_regex "(a*)*")''::jsonpath IS NULL'), ('jsonpath ''$'' IS NULL'), ('jsonpath(''$'') IS NULL'), ('''{$}''::jsonpath[] IS NULL'), ('''<a/>''::xml IS NULL'), ('''{}''::jsonb IS NULL')) v (condition);

SELECT count(n) FROM dp_rdr.release('SELECT count(*) AS n FROM public.tune_dp WHERE $1 IS NULL',
    NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL, '$'::jsonpath) AS r (n bigint);

-- In every part of a query.
RESET TimeZone;
SELECT dp_request('SELECT room, count(*) FILTER (WHERE note > repeat(''a'', 2)), sum(cost * (2 ^ 2)) AS s FROM tune_dp WHERE note <> repeat(''b'', 2) GROUP BY room', 'p') AS a,
    dp_request('SELECT count(*), CASE WHEN room > 1 THEN repeat(''x'', 2) ELSE repeat(''y'', 2) END AS k FROM tune_dp GROUP BY k', 'p') AS b,
    dp_request('SELECT percentile_cont(0.25::float8 + sqrt(0.25::float8)) WITHIN GROUP (ORDER BY weight) AS q FROM tune_dp', 'p') AS c \gset
SELECT stored(request) FROM dp_requests() WHERE request IN (:a, :b, :c) ORDER BY request;

-- Long ones become parameters where the text would be too long with them.
SELECT sent('note = repeat(''a'', 60000)'), sent('note IN (repeat(''a'', 60000)) OR note = repeat(''b'', 60000) COLLATE "C"');
SELECT count(*) FROM tune_dp WHERE note = repeat('a', 60000) OR note = repeat('b', 60000) OR room = 5 LIMIT 0;
SELECT count(n) FROM dp_query('SELECT count(*) FROM tune_dp WHERE note = repeat(''a'', 60000) OR note = repeat(''b'', 60000)') AS (n bigint);

-- Where no other process is asked they are evaluated as well.
SELECT accepted, column_name, epsilon FROM dp_explain('SELECT count(*) FROM tune_dp WHERE note <> translate(repeat(''a'', 2), ''a'', ''b'')');
SELECT accepted, reason FROM dp_explain('SELECT count(*) FROM tune_dp WHERE note <> repeat(''a'', 1 / 0)');
SET SESSION AUTHORIZATION constants_owner;
SELECT count(*) FROM dp_risk('SELECT count(*) FROM tune_dp WHERE note <> translate(repeat(''a'', 2), ''a'', ''b'')', ARRAY[1.0]);
SELECT dp_protect('tune', 'tuned_dp', filter => 'note <> repeat(''a'', 2) AND cost < 2 ^ 8 AND note::char(3) <> ''x''::char(3)');
SELECT dp_grant('tuned_dp', 'constants_ann', tau => 0.9);
SET SESSION AUTHORIZATION constants_ann;
SELECT count(n) FROM dp_query('SELECT count(*) FROM tuned_dp') AS (n bigint);

-- A long parameter may stand at many places, and not at as many as a text has room for.
PREPARE often (text) AS SELECT count(*) FROM tune_dp WHERE note IN ($1, $1) LIMIT 0;
EXECUTE often (repeat('a', 60000));
SELECT count(n) FROM dp_rdr.release('SELECT count(*) AS n FROM public.tune_dp WHERE note IN ($1' || repeat(', $1', 200) || ')',
    NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL, repeat('a', 60000)) AS r (n bigint);
SELECT count(n) FROM dp_rdr.release('SELECT count(*) AS n FROM public.tune_dp WHERE note IN ($1' || repeat(', $1', 2) || ')',
    NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL, repeat('a', 60000)) AS r (n bigint);
SELECT count(n) FROM dp_rdr.release('SELECT count(*) AS n FROM public.tune_dp WHERE cost < $1',
    NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL, 1e131071) AS r (n bigint);

-- A direct call has its own evaluated as well; the ledger has what was asked.
SELECT count(n) FROM dp_rdr.release('SELECT count(*) AS n FROM public.tune_dp WHERE note = repeat(''c'', 2 + $1) AND at < now() + interval ''1 day'' * $1',
    NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL, 1) AS r (n bigint);
RESET SESSION AUTHORIZATION;
SELECT regexp_replace(query, '''\d{4}[^'']*''', '''now''') FROM dp_rdr.ledger_row WHERE view = 'public.tune_dp' ORDER BY id DESC LIMIT 1;

-- So has it times that are read by a clock or a time zone, labels and names. A time as it would be printed stays as it is written.
SET SESSION AUTHORIZATION constants_ann;
SET TimeZone = 'Asia/Tokyo';
SELECT count(n) FROM dp_rdr.release('SELECT count(*) AS n FROM public.tune_dp WHERE day < ''today''::date AND at < TIMESTAMPTZ ''now'' AND at > ''2020-01-01''
        AND (date_part(''day'', ''yesterday''::timestamp) = 40 OR ''[now,)''::tstzrange IS NULL OR room = 1)',
    NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS r (n bigint);
SELECT count(n) FROM dp_rdr.release('SELECT count(*) AS n FROM public.tune_dp WHERE ''low''::public.tone < ''high''::public.tone AND room < ''pg_class''::regclass::oid::bigint',
    NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS r (n bigint);
SELECT count(n) FROM dp_rdr.release('SELECT count(*) AS n  FROM  public.tune_dp WHERE day < ''2020-02-02''::date', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS r (n bigint);
RESET TimeZone;
RESET SESSION AUTHORIZATION;
SELECT regexp_replace(query, '20(2[1-9]|[3-9]\d)[-\d :.+]*', 'then', 'g') FROM dp_rdr.ledger_row WHERE view = 'public.tune_dp' ORDER BY id DESC LIMIT 3;

-- Who decides on a request computes nothing for whoever made it, whatever is stored: a keeper refuses, and nothing is charged.
SET SESSION AUTHORIZATION constants_ann;
SELECT dp_request('SELECT count(*) AS count FROM tune_dp', 'to be forged') AS forged \gset
RESET SESSION AUTHORIZATION;
CREATE FUNCTION attempt(request bigint) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM dp_approve(request, basis => 'public');
    RETURN 'approved';
EXCEPTION WHEN OTHERS THEN
    RETURN sqlstate || ' ' || left(sqlerrm, 150);
END $$;
CREATE TABLE forged AS SELECT * FROM (VALUES (1, 'note = translate(repeat(''ab'', 30000), repeat(''x'', 60000), ''y'')'),
    (2, 'npoints(polygon(25000000, circle ''<(0,0),1>'')) = 1'), (3, 'note = ''x''::char(10485760)'), (4, 'cost < 1e131071'), (5, 'room = 2 ^ 3'),
    (6, 'note = lower(repeat(''A'', 2))'), (7, 'lower(CASE WHEN true THEN repeat(''a'', 60000) ELSE note END) = ''a'''),
    (8, 'CASE WHEN 1 = 1 THEN ''a'' || ''b'' || ''c'' ELSE note END LIKE ''%a'''), (9, 'day < current_date'), (10, 'at < now()'), (11, 'CASE lower(''A'' || ''B'') WHEN ''ab'' THEN true ELSE room = 1 END'),
    (12, 'note = concat(CASE WHEN true THEN ''a'' END, note)'), (13, 'room = ANY (''{1,2}''::text::int[])'), (14, 'note IN (''a''::text || ''b''::text || ''c'')'),
    (15, 'coalesce(upper(''a'' || ''b'' || ''c''), note) = ''ABC'''), (16, '(''aaaa'' ~ ''(a*)*b'')'), (17, 'cost = round(1e131071, -1000)'),
    (18, 'numrange ''[1,2]'' IS NOT NULL'), (19, 'cost IN (1, 1e131071)'), (20, 'note = greatest(''a'', ''b'' || ''c'' || ''d'')'), (21, 'B''1'' = ''1''::bit(83886080)'), (22, 'lower(CASE WHEN true THEN ''A'' ELSE note END) = ''a'''), (23, 'note::char(2) = ''x''::char(10485760)'), (24, '''$''::jsonpath IS NULL'), (25, 'jsonpath(''$'') IS NULL'),
    (-1, '''low''::public.tone < ''high''::public.tone OR room = 1'), (0, 'room < ''pg_class''::regclass::oid::bigint')) f (n, condition);
SELECT format('UPDATE dp_rdr.request SET query = %L WHERE id = %s', 'SELECT count(*) AS count FROM public.tune_dp WHERE ' || condition, :forged),
    'SET SESSION AUTHORIZATION constants_owner', format('SELECT %L, attempt(%s)', left(condition, 60), :forged), 'RESET SESSION AUTHORIZATION'
FROM forged ORDER BY n
\set ECHO none
\gexec
\set ECHO all
-- So does the page of the owner.
SET SESSION AUTHORIZATION constants_owner;
SELECT length(dp_report('tune', request => :forged));
RESET SESSION AUTHORIZATION;
UPDATE dp_rdr.request SET query = 'SELECT count(*) AS count FROM public.tune_dp WHERE room = 1 + 1',
    shown = 'SELECT count(*) FROM public.tune_dp WHERE (room = 2)' WHERE id = :forged;
SET SESSION AUTHORIZATION constants_owner;
SELECT attempt(:forged);
RESET SESSION AUTHORIZATION;
SELECT dp_verify_ledger('tune');
\pset tuples_only off
\pset format aligned
DROP FUNCTION sent, stored, attempt(bigint);
DROP TABLE forged;
SET SESSION AUTHORIZATION constants_owner;
SELECT dp_unprotect('tune_dp'), dp_unprotect('tuned_dp');
DROP TABLE tune;
DROP TYPE tone;
RESET SESSION AUTHORIZATION;
DROP OWNED BY constants_owner, constants_ann;
