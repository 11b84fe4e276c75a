-- What the ledger shows of a question: what was run, in one spelling, whatever its asker wrote beside it.

LOAD 'dp_rdr';
SET ROLE regress_controller;
CREATE TYPE shown_mood AS ENUM ('calm', 'wild');
CREATE TABLE shown AS SELECT id, id % 5 AS ward, 20 + id % 60 AS age, (id % 9)::numeric(8, 2) AS cost, 'town ' || id % 3 AS town,
    (array['calm', 'wild']::shown_mood[])[1 + id % 2] AS mood, id AS "Select", id AS U&"odd\202Ename",
    timestamptz '2026-01-01' + interval '1 hour' * (id % 700) AS seen
FROM generate_series(1, 3000) id;
SELECT dp_protect('shown', 'shown_dp');
SELECT dp_set_bounds('shown', 'age', 0, 100), dp_set_bounds('shown', 'cost', 0, 10), dp_set_bounds('shown', 'Select', 0, 3000),
       dp_set_groups('shown', 'ward', '{0,1,2,3,4}');
SELECT dp_set_odometer('shown', epsilon_total => 1000, delta_total => 1e-3);
SELECT dp_grant('shown_dp', 'regress_analyst', tau => 0.5, delta => 1e-6, replay => '1 day');
RESET ROLE;
-- What the ledger shows of these, in the order of their charges, each once: of two that are one question the second is not charged.
CREATE FUNCTION shown(VARIADIC queries text[]) RETURNS TABLE (query text) LANGUAGE plpgsql AS $$
DECLARE
    before bigint := (SELECT coalesce(max(id), 0) FROM dp_rdr.ledger_row);
    asked text;
BEGIN
    SET LOCAL ROLE regress_analyst;
    FOREACH asked IN ARRAY queries LOOP
        EXECUTE asked;
    END LOOP;
    RESET ROLE;
    RETURN QUERY SELECT r.query FROM dp_rdr.ledger_row r WHERE r.id > before ORDER BY r.id;
END $$;
\pset format unaligned
\pset tuples_only on

-- Comments, line breaks, names of columns and tables, order and spelling.
SELECT shown('SELECT count(*) AS "only an average" /* approved by the board */ FROM shown_dp', E'SELECT count(*) -- nothing\n FROM public.shown_dp AS "public.harmless_dp"');
SELECT shown('SELECT ward, avg(cost) a FROM shown_dp s WHERE s.age > 60 + 5 GROUP BY ward', 'SELECT avg(cost), ward FROM shown_dp WHERE (65 < age) IS NOT NULL AND age > 65 GROUP BY 2');
SELECT shown('SELECT sum(age), count(*), count(*) FILTER (WHERE mood = ''wild'') FROM shown_dp', 'SELECT count(*) FILTER (WHERE mood = ''wild''), count(*), sum(age) FROM shown_dp');
PREPARE parameters(int, text, shown_mood) AS SELECT count(*) FROM shown_dp WHERE age > $1 + 1 AND town = lower($2) AND mood = $3;
SELECT shown($$EXECUTE parameters(40, 'Town 1', 'calm')$$);
-- Characters that do not show or turn the text around, in constants and in names; names that are words.
SELECT shown(U&'SELECT count(*) FROM shown_dp WHERE town = ''a\202Eb\000Ac\200Bd\\e''''f''', 'SELECT sum("Select") FROM shown_dp', U&'SELECT count("odd\202Ename") FROM shown_dp');
-- Types, casts and collations.
SELECT shown('SELECT count(*) FROM shown_dp WHERE cost::numeric(5, 1) > 2', 'SELECT count(*) FROM shown_dp WHERE cost::numeric(5, 0) > 2', 'SELECT count(*) FROM shown_dp WHERE age / 7.0 = 4 AND age::smallint <> -3',
    'SELECT count(*) FROM shown_dp WHERE town COLLATE "POSIX" < ''c''', 'SELECT count(*) FROM shown_dp WHERE town::varchar(3) = ANY (ARRAY[''a'', ''b''])',
    'SELECT count(*) FROM shown_dp WHERE CASE ward WHEN 1 THEN true WHEN 2 THEN age > 30 END', 'SELECT count(*) FROM shown_dp WHERE CASE age > 30 WHEN true THEN ward = 1 WHEN false THEN ward = 2 ELSE NULL END');
-- What folding has made equal is one measure, charged once; and what is always true filters nothing.
SELECT shown('SELECT count(*) FILTER (WHERE age > 20 + 2), count(*) FILTER (WHERE age > 22), count(*), count(*) FILTER (WHERE 1 < 2), sum(age * (1 + 1)), sum(age * 2) FROM shown_dp');
SELECT parameters ->> 'k1' AS k1, parameters -> 'measures' FROM dp_rdr.ledger_row ORDER BY id DESC LIMIT 1;
SET ROLE regress_analyst;
SELECT a = b, c = d, e = f FROM (SELECT count(*) FILTER (WHERE age > 20 + 2) a, count(*) FILTER (WHERE age > 22) b, count(*) c, count(*) FILTER (WHERE 1 < 2) d,
    sum(age * (1 + 1)) e, sum(age * 2) f FROM shown_dp) s;
RESET ROLE;
-- Also of what folding makes the column itself.
SELECT shown('SELECT sum(age), avg(CASE WHEN 1 < 2 THEN age ELSE 0 END), max(cost), max(CASE WHEN 1 > 2 THEN 0 ELSE cost END) FROM shown_dp');
SELECT parameters ->> 'k1' AS k1, jsonb_path_query_array(parameters::jsonb, '$.measures[*].column') FROM dp_rdr.ledger_row ORDER BY id DESC LIMIT 1;
-- Measures are described as the text has them.
SELECT shown(U&'SELECT sum(CASE WHEN town = ''a\202Eb'' THEN age ELSE 2 * 3 END) FROM shown_dp');
SELECT parameters -> 'measures' -> 0 ->> 'expression' FROM dp_rdr.ledger_row ORDER BY id DESC LIMIT 1;
-- The time zone of an answer that may depend on it; a question that does not is the same one in all of them.
SET TimeZone TO 'Asia/Tokyo';
SELECT shown('SELECT count(*) FROM shown_dp WHERE seen < DATE ''2026-01-15''', 'SELECT count(*) FROM shown_dp WHERE seen < ''2026-01-15''',
    'SELECT count(*) FROM shown_dp WHERE age < 33');
SELECT query, parameters ->> 'time_zone' FROM dp_rdr.ledger_row ORDER BY id DESC LIMIT 3;
SET TimeZone TO 'Europe/Paris';
SELECT shown('SELECT count(*) FROM shown_dp WHERE seen < DATE ''2026-01-15''', 'SELECT count(*) FROM shown_dp WHERE age < 33');
-- Requests are shown likewise, to whoever asks and whoever decides.
SET SESSION AUTHORIZATION regress_analyst;
SELECT dp_request(U&'SELECT count(*) AS "only an average" /* approved by the board */ FROM shown_dp WHERE town = ''a\202Eb''', 'a text') AS text,
    dp_request('SELECT count(*) FROM shown_dp WHERE seen < DATE ''2026-01-15''', 'a time') AS time \gset
SET SESSION AUTHORIZATION regress_controller;
SELECT query, time_zone FROM dp_requests() WHERE request IN (:text, :time) ORDER BY request;
SELECT state FROM dp_approve(:text, epsilon => 1, basis => 'public');
SET SESSION AUTHORIZATION regress_analyst;
SELECT dp_request_signal(:text, 'mean', U&'answer."only an average" /* \202E */', 'what it is worth', upper => 3000) AS signal \gset
SET SESSION AUTHORIZATION regress_controller;
SELECT regexp_replace(query, '\m' || :text || '\M', 'text') FROM dp_requests() WHERE request = :signal;
-- What was shown is what is run, or nothing is.
RESET SESSION AUTHORIZATION;
UPDATE dp_rdr.request SET shown = 'SELECT count(*) FROM public.shown_dp' WHERE id = :time;
SET SESSION AUTHORIZATION regress_controller;
\set VERBOSITY sqlstate
SELECT dp_approve(:time, epsilon => 1, basis => 'public');
\set VERBOSITY default
SELECT state FROM dp_requests() WHERE request = :time;
SELECT dp_reject(:signal), dp_reject(:time);
RESET SESSION AUTHORIZATION;
RESET TimeZone;
SET ROLE regress_controller;
SELECT dp_unprotect('shown_dp');
DROP TABLE shown;
DROP TYPE shown_mood;
RESET ROLE;
DROP FUNCTION shown;
