-- Texts that are dates, and dates that are texts, in the asker's DateStyle.

LOAD 'dp_rdr';
\set VERBOSITY terse

-- ---------------------------------------------------------------------------------------------------------------------
-- As the server reads them, or NULL where it raises an error
-- ---------------------------------------------------------------------------------------------------------------------

CREATE FUNCTION server_date(t text, style text) RETURNS date LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('DateStyle', style, true);
    RETURN t::date;
EXCEPTION WHEN OTHERS THEN
    RETURN NULL;
END $$;
CREATE FUNCTION server_timestamp(t text, style text) RETURNS timestamp LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('DateStyle', style, true);
    RETURN t::timestamp;
EXCEPTION WHEN OTHERS THEN
    RETURN NULL;
END $$;

-- Made of pieces, by a hash of their number: days, months, years, separators, times, zones, words, and slips of the pen.
CREATE FUNCTION piece(pieces text[], n integer, salt integer) RETURNS text LANGUAGE sql IMMUTABLE AS
    $$ SELECT pieces[1 + mod(hashint8extended(n, salt), 1000000007)::bigint % cardinality(pieces) + CASE WHEN mod(hashint8extended(n, salt), 1000000007) % cardinality(pieces) < 0 THEN cardinality(pieces) ELSE 0 END] $$;
CREATE TABLE fuzz AS
SELECT n, piece('{ISO\, YMD,ISO\, DMY,ISO\, MDY,German\, DMY,SQL\, MDY,Postgres\, DMY}', n, 0) AS style,
    CASE n % 3 WHEN 0 THEN
        piece('{2020,1999,99,20,0044,12,31,294276,5874897,294277,4714,0,"",2021,2024}', n, 1) || s.s ||
        piece('{1,01,12,13,jan,February,2,02,6,00,"",sept,Sat,J,doy}', n, 2) || s.s ||
        piece('{1,01,31,29,30,28,99,15,"",2020,99,Z,x}', n, 3)
    WHEN 1 THEN
        piece('{1,01,31,29,30,28,12,13,Jan,mar,"Sat ","Wed, ",January,"",0}', n, 1) || s.s ||
        piece('{1,01,12,13,jan,Feb,2,02,06,00,31,29}', n, 2) || s.s || piece('{2020,1999,99,20,0044,12,2021,2100,1900,""}', n, 3)
    ELSE
        piece('{20200131,200131,20210229,99999999,2020.366,2020366,J2451187,J2451187.5,infinity,-infinity,+infinity,epoch,now,today,tomorrow,yesterday,allballs,20200131T101112,"20200131 101112",2020-W01,2020-W01-1,1e5,"",-,2020-01-01}', n, 1)
    END || piece('{"","","","","",T," ","  "," at ",t}', n, 5) ||
    piece('{"","","","",10:00,10:00:00,23:59:59.999999,24:00:00,24:00:01,23:59:60,25:00,10,1000,101112,"10:00 pm","13:00 am","12 am",10:00:00.1234567,04:05:06.789-8,10:61}', n, 6) ||
    piece('{"","","","","",Z," Z"," UTC"," utc",+02,+02:00,-0530,"+15:59","+16:00"," EST"," Europe/Berlin",America/New_York," bc"," BC"," AD"," dst",z," GMT+3"," UTC+3"," on"," now",+1:2:3}', n, 7) ||
    piece('{"","","","","","","","",""," ","\t",x,é,"''",.,"-","/"}', n, 8) AS t
FROM generate_series(1, 30000) n, LATERAL (SELECT piece('{-,/,.," ","",_,",",-,-,/,.," "}', n, 4) AS s) s;
CREATE TABLE fuzzed AS
SELECT *, dp_rdr.date(t, style) AS d, server_date(t, style) AS server_d, dp_rdr.timestamp(t, style) AS ts, server_timestamp(t, style) AS server_ts FROM fuzz;
RESET DateStyle;
-- What the server reads by the clock, or looks for among the names of zones, is NULL.
SELECT count(*) FILTER (WHERE d IS DISTINCT FROM server_d) AS dates, count(*) FILTER (WHERE ts IS DISTINCT FROM server_ts) AS timestamps
FROM fuzzed WHERE t !~* 'now|today|tomorrow|yesterday|dst|adt|amt| est|berlin|america|(gmt|utc)\+3|[a-z][-/.][^ ]*[0-9][xz]';
SELECT count(*) FILTER (WHERE d <> server_d) AS other_dates, count(*) FILTER (WHERE ts <> server_ts) AS other_timestamps,
    count(*) FILTER (WHERE d IS NOT NULL AND server_d IS NULL) AS no_dates, count(*) FILTER (WHERE ts IS NOT NULL AND server_ts IS NULL) AS no_timestamps,
    count(d) > 1000 AS dates, count(ts) > 1000 AS timestamps FROM fuzzed;
SELECT n, style, t, d, server_d, ts, server_ts FROM fuzzed
WHERE t !~* 'now|today|tomorrow|yesterday|dst|adt|amt| est|berlin|america|(gmt|utc)\+3|[a-z][-/.][^ ]*[0-9][xz]' AND (d IS DISTINCT FROM server_d OR ts IS DISTINCT FROM server_ts) ORDER BY n LIMIT 10;
-- Printed: the same as by the server, in all styles. Another style, or none: NULL.
CREATE FUNCTION server_text(d anyelement, style text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('DateStyle', style, true);
    RETURN d::text;
END $$;
SELECT count(*) FILTER (WHERE dp_rdr.text(d, style) IS DISTINCT FROM server_text(d, style)) AS dates, count(*) FILTER (WHERE dp_rdr.text(ts, style) IS DISTINCT FROM server_text(ts, style)) AS timestamps,
    count(DISTINCT style) AS styles FROM fuzzed WHERE ts IS NOT NULL;
RESET DateStyle;
SELECT dp_rdr.date('2020-01-01', s) AS d, dp_rdr.timestamp('2020-01-01', s) AS ts, dp_rdr.text(date '2020-01-01', s) AS t, dp_rdr.text(timestamp '2020-01-01', s) AS tt
FROM unnest('{iso,ISO,"ISO, ydm","ISO, YMD "}'::text[] || repeat('ISO, YMD', 1000)) s;
DROP TABLE fuzz, fuzzed;

-- ---------------------------------------------------------------------------------------------------------------------
-- Of a view
-- ---------------------------------------------------------------------------------------------------------------------

CREATE ROLE regress_owner;
CREATE ROLE regress_reader;
GRANT CREATE ON SCHEMA public TO regress_owner;
SET ROLE regress_owner;
SET DateStyle = 'ISO, MDY';
CREATE TABLE crate (id integer PRIMARY KEY, sent text, due date NOT NULL, seen timestamp);
INSERT INTO crate SELECT i, (ARRAY['12/31/2020', '07/01/2020', '2020-08-01T10:00Z', '20200301', '13/01/2020', '2020-09-01 10:00+02', 'now', 'soon'])[1 + i % 8],
    date '2020-02-01' + i % 2, timestamp '2020-02-01 10:00' FROM generate_series(0, 7999) i;
SELECT dp_protect('crate', 'crate_late', filter => 'sent::date >= ''2020-07-01''');
SELECT dp_protect('crate', 'crate_dp'), dp_protect('crate', 'crate_late', filter => 'dp_rdr.date(sent, ''ISO, MDY'') >= ''2020-07-01''');
SELECT dp_set_odometer('crate', epsilon_total => 100), dp_grant('crate_dp', 'regress_reader', tau => 0.1, epsilon_max => 20, replay => '1 day'),
    dp_grant('crate_late', 'regress_reader', tau => 0.1, epsilon_max => 20);
SET ROLE regress_reader;
CREATE FUNCTION pg_temp.thousands(condition text, view text DEFAULT 'crate_dp') RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM %I WHERE %s', view, condition) INTO n;
    RETURN round(n / 1000.0);
END $$;
SELECT pg_temp.thousands('sent::date >= ''2020-07-01''') AS mdy, pg_temp.thousands('sent::date IS NULL') AS no_date, pg_temp.thousands('due::text = ''2020-02-01''') AS iso;
SELECT pg_temp.thousands('sent::date >= ''2020-07-01''') AS mdy, pg_temp.thousands('sent::date IS NULL') AS no_date, pg_temp.thousands('due::text = ''2020-02-01''') AS iso,
    pg_temp.thousands('sent::timestamp = ''2020-09-01 10:00''') AS zone_ignored;
SET DateStyle = 'German';
SELECT pg_temp.thousands('sent::date >= ''01.07.2020''') AS dmy, pg_temp.thousands('sent::date IS NULL') AS no_date, pg_temp.thousands('due::text = ''01.02.2020''') AS german,
    pg_temp.thousands('concat(''due '', due, ''!'') = ''due 01.02.2020!''') AS concat, pg_temp.thousands('''due '' || due = ''due 01.02.2020''') AS joined,
    pg_temp.thousands('seen::varchar = ''01.02.2020 10:00:00''') AS seen, pg_temp.thousands('due = ''01.02.2020''::text::date') AS constant;
-- A filter is read in the style that it names, whoever asks.
SELECT pg_temp.thousands('true', 'crate_late') AS german;
SET DateStyle = 'ISO, MDY';
SELECT pg_temp.thousands('true', 'crate_late') AS mdy;
-- The ledger says how it was read; a replay is of the same style.
SELECT reason FROM dp_explain('SELECT count(*) FROM crate_dp WHERE sent::date >= ''2020-07-01''');
SET DateStyle = 'ISO, YMD';
SELECT reason FROM dp_explain('SELECT count(*) FROM crate_dp WHERE sent::date >= ''2020-07-01''');
RESET DateStyle;
RESET ROLE;
SELECT DISTINCT substring(query FROM 'dp_rdr\..*') FROM dp_rdr.ledger WHERE view = 'public.crate_dp' AND query LIKE '%dp_rdr.%' ORDER BY 1;
-- Groups, and a style that is no constant or none.
SET ROLE regress_owner;
SELECT dp_set_groups('crate', 'due', '{2020-02-01,2020-02-02}');
SET ROLE regress_reader;
SET DateStyle = 'SQL, DMY';
SELECT due::text, round(count(*) / 1000.0) AS n FROM crate_dp GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM crate_dp WHERE dp_rdr.date(sent, sent) > '2020-01-01';
SELECT count(*) FROM crate_dp WHERE dp_rdr.date(sent, 'DMY') > '2020-01-01';
SELECT round(count(*) / 1000.0) AS n FROM crate_dp WHERE dp_rdr.date(sent, 'ISO, DMY') > '2020-01-01';
RESET DateStyle;
RESET ROLE;
SET ROLE regress_owner;
SELECT dp_unprotect('crate_late'), dp_unprotect('crate_dp');
DROP TABLE crate;
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM regress_owner;
DROP FUNCTION piece, server_text, server_date, server_timestamp;
DROP FUNCTION pg_temp.thousands;
DROP ROLE regress_owner, regress_reader;
