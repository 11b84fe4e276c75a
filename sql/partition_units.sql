-- Partitions of units: by a column that is a part of what names them, or by one of a table that has one row for each.
\set SHOW_CONTEXT never
SET SESSION AUTHORIZATION regress_controller;
SET client_min_messages = warning;
-- A unit is a person in a month. Each has 4 visits, and 2 samples of each visit; there are 5 months and 20 people.
CREATE TABLE cu_visits (id integer PRIMARY KEY, pid integer, month date, cost integer);
INSERT INTO cu_visits SELECT i, i / 20, date '2024-01-01' + (i / 4 % 5) * interval '1 month', i % 10 FROM generate_series(0, 399) i;
CREATE TABLE cu_samples (visit integer REFERENCES cu_visits, level integer);
INSERT INTO cu_samples SELECT i / 2, i % 7 FROM generate_series(0, 799) i;
CREATE TABLE cu_notes (who integer, since date, words text);
INSERT INTO cu_notes SELECT DISTINCT pid, month, 'w' FROM cu_visits;
SELECT dp_protect('cu_visits', 'cu_visits_dp', unit => 'pid, month', max_rows => 4);
SELECT dp_protect('cu_samples', 'cu_samples_dp', unit => 'visit -> cu_visits(id)', max_rows => 8);
SELECT dp_protect('cu_notes', 'cu_notes_dp', unit => 'who, since -> cu_visits (pid, month)', max_rows => 1);
SELECT dp_grant(v::regclass, 'regress_analyst', tau => 1e-9, epsilon_max => 100) FROM unnest('{cu_visits_dp,cu_samples_dp,cu_notes_dp}'::text[]) v;
SELECT dp_set_odometer('cu_visits', epsilon_total => 10000000), dp_set_groups('cu_visits', 'cost', '{0,1,2,3}');
-- What no partition is of.
SELECT attempt(format('SELECT dp_set_partition(%L, %L, by => %L, since => %L%s)', t, c, b, s, more)) FROM (VALUES
    ('cu_visits', 'cost', '2', '0', ', until => ''9'''), ('cu_samples', 'level', '2', '0', ', until => ''9'''), ('cu_visits', 'nothing', 'month', '2024-01-01', '')) v (t, c, b, s, more);
RESET client_min_messages;
SELECT dp_set_partition('cu_visits', 'month', by => 'month', since => '2024-02-01');
SELECT tgname FROM pg_trigger WHERE tgrelid IN ('cu_visits'::regclass, 'cu_samples'::regclass) AND NOT tgisinternal;
SELECT finding FROM dp_audit() WHERE object ~ 'cu_' AND finding ~ 'partition|cell';
RESET SESSION AUTHORIZATION;
-- Which cells an answer was charged to, and whether it is that of the tables. Epsilon is large: in 10^8 runs no noise is 16 or more.
CREATE FUNCTION cu_asked(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    n numeric;
    exact numeric;
    last bigint = (SELECT max(id) FROM dp_rdr.ledger_row);
    cells jsonb;
BEGIN
    SET SESSION AUTHORIZATION regress_analyst;
    EXECUTE 'SELECT ' || query INTO n;
    RESET SESSION AUTHORIZATION;
    EXECUTE 'SELECT ' || replace(query, '_dp', '') INTO exact;
    SELECT l.parameters -> 'cells' INTO cells FROM dp_rdr.ledger_row l WHERE id > coalesce(last, 0) ORDER BY id DESC LIMIT 1;
    RETURN CASE WHEN abs(n - exact) < 16 THEN exact || ' of ' ELSE n || ' and not ' || exact || ' of ' END || CASE WHEN cells IS NULL OR cells ? 'to_come' THEN 'all, and to come' ELSE coalesce(CASE WHEN cells -> 'ranges' -> -1 -> 1 = cells -> 'begun'
        THEN regexp_replace(cells ->> 'names', ' \.\. [^,.]*$', ' .. now') ELSE cells ->> 'names' END, 'all') END;
EXCEPTION WHEN OTHERS THEN
    RESET SESSION AUTHORIZATION;
    RETURN sqlstate || ' ' || sqlerrm;
END $$;
SELECT q, cu_asked(q) FROM unnest(ARRAY[
    $$count(*) FROM cu_visits_dp$$,
    $$count(*) FROM cu_visits_dp WHERE month = '2024-03-01'$$,
    $$count(*) FROM cu_visits_dp WHERE month < '2024-02-01'$$,
    $$count(*) FROM cu_visits_dp WHERE month >= '2024-02-01' AND month < '2024-04-01' AND cost > 3$$,
    $$count(DISTINCT (pid, month)) FROM cu_visits_dp WHERE month >= '2024-04-01'$$,
    $$sum(n) FROM (SELECT cost, count(*) n FROM cu_visits_dp WHERE month = '2024-03-01' AND cost < 4 GROUP BY cost) g$$,
    -- by a path, whose own columns are not the month; and where the other table is joined
    $$count(*) FROM cu_samples_dp WHERE level > 2$$,
    $$count(*) FROM cu_samples_dp s JOIN cu_visits_dp v ON v.id = s.visit WHERE v.month = '2024-03-01'$$,
    $$count(*) FROM cu_visits_dp v JOIN cu_notes_dp n ON n.who = v.pid AND n.since = v.month WHERE n.since = '2024-03-01'$$,
    $$count(*) FROM cu_visits_dp v JOIN cu_notes_dp n ON n.who = v.pid AND n.since = v.month AND v.month > '2024-04-01'$$,
    -- the nullable side says nothing of the unit
    $$count(*) FROM cu_visits_dp v LEFT JOIN cu_notes_dp n ON n.who = v.pid AND n.since = v.month AND n.since = '2024-03-01'$$,
    $$count(*) FROM cu_visits_dp v LEFT JOIN cu_notes_dp n ON n.who = v.pid AND n.since = v.month WHERE n.since = '2024-03-01'$$,
    $$count(*) FROM cu_visits_dp v LEFT JOIN cu_notes_dp n ON n.who = v.pid AND n.since = v.month WHERE v.month = '2024-03-01'$$,
    $$count(*) FROM cu_visits_dp v WHERE EXISTS (SELECT FROM cu_notes_dp n WHERE n.who = v.pid AND n.since = v.month AND n.since = '2024-03-01')$$,
    $$count(*) FROM cu_visits_dp v WHERE v.month = '2024-03-01' AND EXISTS (SELECT FROM cu_notes_dp n WHERE n.who = v.pid AND n.since = v.month)$$,
    -- one row for each unit below
    $$count(*) FROM (SELECT pid, month, count(*) n FROM cu_visits_dp WHERE month = '2024-03-01' GROUP BY pid, month) u WHERE n > 3$$,
    $$count(*) FROM (SELECT pid, month, count(*) n FROM cu_visits_dp GROUP BY pid, month) u WHERE month = '2024-03-01' AND n > 3$$,
    $$count(*) FROM (SELECT pid, month, count(*) FILTER (WHERE month = '2024-03-01') n FROM cu_visits_dp GROUP BY pid, month) u WHERE n = 0$$,
    -- windows: what stands above says which units are read, and nothing of what a window sees
    $$count(*) FROM (SELECT row_number() OVER (PARTITION BY pid, month ORDER BY id) n FROM cu_visits_dp WHERE month = '2024-03-01') u WHERE n = 2$$,
    $$count(*) FROM (SELECT month, cost, lag(cost) OVER (PARTITION BY pid, month ORDER BY id) b FROM cu_visits_dp) u WHERE month = '2024-03-01' AND cost > b$$,
    $$count(*) FROM (SELECT lag(month) OVER (PARTITION BY pid, month ORDER BY id) b FROM cu_visits_dp) u WHERE b = '2024-03-01'$$,
    $$count(*) FROM (SELECT month, count(*) OVER (PARTITION BY month, pid) n FROM cu_visits_dp WHERE cost > 3) u WHERE month >= '2024-04-01' AND n > 1$$,
    -- each SELECT of a union has its own cells, and those that what stands above leaves
    $$count(*) FROM (SELECT pid, month, cost FROM cu_visits_dp WHERE month = '2024-03-01' UNION ALL SELECT pid, month, cost FROM cu_visits_dp WHERE month = '2024-05-01') u$$,
    $$count(*) FROM (SELECT pid, month, cost FROM cu_visits_dp UNION ALL SELECT who, since, 1 FROM cu_notes_dp) u WHERE month = '2024-03-01' AND cost > 3$$,
    $$count(*) FROM (SELECT pid, month, cost FROM cu_visits_dp WHERE month >= '2024-04-01' UNION ALL SELECT who, since, 1 FROM cu_notes_dp WHERE since > '2024-04-01') u WHERE month <= '2024-04-01'$$,
    $$count(*) FROM (SELECT month AS a, pid, month FROM cu_visits_dp UNION ALL SELECT date '2024-03-01', who, since FROM cu_notes_dp WHERE since = '2024-05-01') u WHERE a = '2024-03-01'$$,
    $$count(*) FROM (SELECT pid, month, cost FROM cu_visits_dp WHERE month = '2024-03-01' UNION SELECT pid, month, cost FROM cu_visits_dp WHERE month = '2024-05-01') u$$,
    $$count(*) FROM (SELECT pid, month FROM cu_visits_dp WHERE cost > 3 INTERSECT SELECT who, since FROM cu_notes_dp) u WHERE month = '2024-03-01'$$,
    $$count(*) FROM (SELECT pid, month FROM cu_visits_dp WHERE month = '2024-03-01' EXCEPT SELECT who, since FROM cu_notes_dp WHERE since = '2024-05-01') u$$,
    $$count(*) FROM (SELECT pid, month, count(*) n FROM cu_visits_dp WHERE month = '2024-03-01' GROUP BY pid, month UNION ALL SELECT who, since, 1 FROM cu_notes_dp WHERE since = '2024-05-01') u WHERE n > 3$$,
    $$count(*) FROM (SELECT pid, month, count(*) n FROM (SELECT pid, month FROM cu_visits_dp UNION ALL SELECT who, since FROM cu_notes_dp) s GROUP BY pid, month) u WHERE month = '2024-03-01' AND n > 4$$,
    $$count(*) FROM (SELECT v.pid, v.month FROM cu_visits_dp v JOIN cu_samples_dp s ON s.visit = v.id WHERE v.month = '2024-03-01' UNION ALL SELECT pid, month FROM cu_visits_dp WHERE month < '2024-02-01') u$$,
    $$count(*) FILTER (WHERE month = '2024-03-01') FROM (SELECT pid, month FROM cu_visits_dp UNION ALL SELECT who, since FROM cu_notes_dp) u$$,
    -- FILTER of all aggregates
    $$count(*) FILTER (WHERE month = '2024-03-01') FROM cu_visits_dp$$,
    $$a + b FROM (SELECT count(*) FILTER (WHERE month = '2024-03-01') a, count(*) FILTER (WHERE month = '2024-05-01') b FROM cu_visits_dp) o$$,
    $$a + b FROM (SELECT count(*) FILTER (WHERE month = '2024-03-01') a, count(*) b FROM cu_visits_dp) o$$]) WITH ORDINALITY o (q, n) ORDER BY n;
SELECT dp_verify_ledger('cu_visits', true);
-- Nobody who is dated ahead is read: neither by rows, nor below an aggregation, nor by a path.
CREATE FUNCTION cu_is_near(query text, expected integer) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    n numeric;
BEGIN
    SET SESSION AUTHORIZATION regress_analyst;
    EXECUTE 'SELECT ' || query INTO n;
    RESET SESSION AUTHORIZATION;
    RETURN abs(n - expected) < 20;
END $$;
INSERT INTO cu_visits SELECT 1000 + i, 100 + i, (now() + interval '3 months')::date, 1 FROM generate_series(1, 40) i;
INSERT INTO cu_samples SELECT 1000 + i, 1 FROM generate_series(1, 40) i;
SELECT q, cu_is_near(q, n) FROM (VALUES ('count(*) FROM cu_visits_dp', 400), ('count(*) FROM (SELECT pid, month, count(*) n FROM cu_visits_dp GROUP BY pid, month) u', 100),
    ('count(*) FROM cu_samples_dp', 800), ('count(*) FROM cu_samples_dp s JOIN cu_visits_dp v ON s.visit = v.id', 800),
    ('sum(n) FROM (SELECT cost, count(*) n FROM cu_visits_dp GROUP BY cost) g', 160),
    ('count(*) FROM (SELECT who, since FROM cu_notes_dp UNION ALL SELECT pid, month FROM cu_visits_dp) u', 500)) v (q, n);
-- Each of several groupings has its own cells. Groups that are shown leave the others out.
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_controller;
SELECT dp_set_groups('cu_visits', 'month', '{2024-03-01,2024-05-01}');
SET SESSION AUTHORIZATION regress_analyst;
SELECT count(*) FROM (SELECT month, cost, count(*) FROM cu_visits_dp GROUP BY GROUPING SETS ((month), (cost))) g;
RESET SESSION AUTHORIZATION;
SELECT parameters -> 'cells' ->> 'names' AS cells FROM (SELECT id, parameters FROM dp_rdr.ledger_row ORDER BY id DESC LIMIT 2) l ORDER BY id;
-- Parameters, and a time zone that changes between.
SET SESSION AUTHORIZATION regress_analyst;
PREPARE cu_prepared (date) AS SELECT abs(count(*) - 80) < 20 AS near FROM cu_visits_dp WHERE month >= $1 AND month < $1 + 31;
SET timezone = 'Asia/Tokyo';
EXECUTE cu_prepared('2024-03-01');
SET timezone = 'America/New_York';
SET plan_cache_mode = force_generic_plan;
EXECUTE cu_prepared('2024-05-01');
RESET plan_cache_mode;
RESET timezone;
DEALLOCATE cu_prepared;
RESET SESSION AUTHORIZATION;
SELECT parameters -> 'cells' ->> 'names' AS cells FROM (SELECT id, parameters FROM dp_rdr.ledger_row ORDER BY id DESC LIMIT 2) l ORDER BY id;
-- What was asked is counted for each person by what WHERE leaves, whatever cells there are now.
SET SESSION AUTHORIZATION regress_controller;
SELECT count(*) > 0 AS known FROM dp_loss('cu_visits');
RESET SESSION AUTHORIZATION;
-- A domain with a partition is not joined to another one.
SET SESSION AUTHORIZATION regress_controller;
CREATE TABLE cu_members (pid integer, month date);
SELECT dp_protect('cu_members', 'cu_members_dp', unit => 'pid, month', max_rows => 1);
SELECT attempt($$SELECT dp_join_domains('cu_members', 'cu_visits')$$), attempt($$SELECT dp_join_domains('cu_visits', 'cu_members')$$);
RESET SESSION AUTHORIZATION;
-- A cell is denied under the name that the view has for the column.
SET SESSION AUTHORIZATION regress_controller;
SET client_min_messages = warning;
SELECT dp_unset_partition('cu_samples');
SELECT dp_set_odometer('cu_visits', epsilon_total => 3000), dp_set_partition('cu_visits', 'month', by => 'month', since => '2024-02-01', fresh => true);
SET SESSION AUTHORIZATION regress_analyst;
\set VERBOSITY default
SELECT count(*) > 0 AS answered FROM cu_visits_dp WHERE month = '2024-03-01';
-- What is told of a union, and of several sub-SELECTs that are joined: nothing says which cells these read.
SELECT e.cells, e.accepted, r.* FROM unnest(ARRAY[
    $$SELECT count(*) FROM (SELECT pid, month FROM cu_visits_dp WHERE month = '2024-03-01' UNION ALL SELECT pid, month FROM cu_visits_dp WHERE month = '2024-05-01') u$$,
    $$SELECT count(*) FROM (SELECT pid, month, count(*) n FROM cu_visits_dp WHERE month = '2024-03-01' GROUP BY pid, month) a JOIN (SELECT pid, month, count(*) n FROM cu_visits_dp GROUP BY pid, month) b USING (pid, month)$$,
    $$SELECT count(*) FROM cu_samples_dp$$]) WITH ORDINALITY q (q, n), dp_explain(q) e, dp_remaining(q) r ORDER BY n;
SET SESSION AUTHORIZATION regress_controller;
SELECT dp_set_odometer('cu_visits', epsilon_total => 1);
SET SESSION AUTHORIZATION regress_analyst;
SELECT count(*) > 0 AS answered FROM cu_visits_dp WHERE month = '2024-03-01';
SELECT count(*) > 0 AS answered FROM (SELECT pid, month FROM cu_visits_dp WHERE month = '2024-03-01' UNION ALL SELECT who, since FROM cu_notes_dp WHERE since = '2024-03-01') u;
SELECT count(*) > 0 AS answered FROM (SELECT pid, month, count(*) n FROM cu_visits_dp WHERE month = '2024-03-01' GROUP BY pid, month) a JOIN (SELECT pid, month, count(*) n FROM cu_visits_dp GROUP BY pid, month) b USING (pid, month);
SET SESSION AUTHORIZATION regress_controller;
SELECT dp_unset_partition('cu_visits');

-- A person has a ward, in the one row that is his.
CREATE TABLE cu_people (pid integer PRIMARY KEY, ward text, card integer UNIQUE NOT NULL);
INSERT INTO cu_people SELECT i, (ARRAY['a', 'b', 'c', NULL])[i % 4 + 1], 100 + i FROM generate_series(0, 39) i;
CREATE TABLE cu_stays (person integer, days integer);
INSERT INTO cu_stays SELECT i / 3, i % 9 FROM generate_series(0, 119) i;
CREATE TABLE cu_scans (card integer, level integer);
INSERT INTO cu_scans SELECT 100 + i / 2, i % 5 FROM generate_series(0, 79) i;
SELECT dp_protect('cu_people', 'cu_people_dp', unit => 'pid');
SELECT dp_protect('cu_stays', 'cu_stays_dp', unit => 'person -> cu_people', max_rows => 3);
SELECT dp_protect('cu_scans', 'cu_scans_dp', unit => 'card -> cu_people (card)', max_rows => 2);
SELECT dp_grant(v::regclass, 'regress_analyst', tau => 1e-9, epsilon_max => 100) FROM unnest('{cu_people_dp,cu_stays_dp,cu_scans_dp}'::text[]) v;
SELECT dp_set_odometer('cu_people', epsilon_total => 10000000), dp_set_groups('cu_people', 'ward', '{a,b}'), dp_set_groups('cu_stays', 'days', '{1,2}');
SELECT attempt($$SELECT dp_set_partition('cu_stays', 'days')$$), attempt($$SELECT dp_set_partition('cu_people', 'ward', fresh => true)$$),
    attempt($$SELECT dp_set_partition('cu_people', 'ward')$$);
RESET client_min_messages;
SELECT dp_set_partition('cu_people', 'ward');
RESET SESSION AUTHORIZATION;
SELECT q, cu_asked(q) FROM unnest(ARRAY[
    $$count(*) FROM cu_people_dp$$,
    $$count(*) FROM cu_people_dp WHERE ward = 'a'$$,
    $$count(*) FROM cu_people_dp WHERE ward <> 'a'$$,
    -- without the table nobody can tell whose ward it is
    $$count(*) FROM cu_stays_dp$$,
    $$count(*) FROM cu_stays_dp s JOIN cu_people_dp p ON p.pid = s.person WHERE p.ward = 'a'$$,
    $$count(*) FROM cu_people_dp p LEFT JOIN cu_stays_dp s ON p.pid = s.person WHERE p.ward = 'a'$$,
    $$count(*) FROM cu_stays_dp s LEFT JOIN cu_people_dp p ON p.pid = s.person WHERE p.ward = 'a'$$,
    $$count(*) FROM cu_stays_dp s LEFT JOIN cu_people_dp p ON p.pid = s.person AND p.ward = 'a'$$,
    $$count(*) FROM cu_stays_dp s WHERE EXISTS (SELECT FROM cu_people_dp p WHERE p.pid = s.person AND p.ward = 'a')$$,
    $$count(*) FROM cu_people_dp p WHERE p.ward = 'b' AND EXISTS (SELECT FROM cu_stays_dp s WHERE p.pid = s.person)$$,
    $$count(*) FROM cu_people_dp p JOIN cu_people_dp o ON o.pid = p.pid WHERE o.ward = 'a' AND p.ward <> 'b'$$,
    -- by another key the way leads over the table
    $$count(*) FROM cu_scans_dp$$,
    $$count(*) FROM cu_scans_dp s JOIN cu_people_dp p ON p.card = s.card WHERE p.ward = 'a'$$,
    $$count(*) FROM (SELECT p.pid, count(*) n FROM cu_people_dp p JOIN cu_stays_dp s ON s.person = p.pid WHERE p.ward = 'b' GROUP BY p.pid) u WHERE n > 1$$,
    $$count(*) FROM (SELECT p.pid, p.ward, count(*) n FROM cu_people_dp p JOIN cu_stays_dp s ON s.person = p.pid GROUP BY p.pid, p.ward) u WHERE n > 1 AND ward = 'b'$$,
    $$sum(n) FROM (SELECT ward, count(*) n FROM cu_people_dp WHERE ward < 'c' COLLATE "C" GROUP BY ward) g$$]) WITH ORDINALITY o (q, n) ORDER BY n;
SELECT dp_verify_ledger('cu_people', true);
-- The trigger refuses another ward, and another person. A key that is gone ends it.
SET SESSION AUTHORIZATION regress_controller;
\set VERBOSITY default
UPDATE cu_people SET ward = 'b' WHERE pid = 0;
UPDATE cu_people SET pid = 1000 WHERE pid = 0;
UPDATE cu_people SET card = 1000 WHERE pid = 0;
ALTER TABLE cu_people DROP CONSTRAINT cu_people_pkey;
RESET SESSION AUTHORIZATION;
SELECT cu_asked($$count(*) FROM cu_people_dp WHERE ward = 'a'$$);
SET SESSION AUTHORIZATION regress_controller;
SELECT dp_unset_partition('cu_stays');
UPDATE cu_people SET ward = 'b' WHERE pid = 0;
-- Nothing stays that others count.
SET client_min_messages = error;
DROP TABLE cu_members, cu_samples, cu_notes, cu_visits, cu_stays, cu_scans, cu_people CASCADE;
RESET client_min_messages;
RESET SESSION AUTHORIZATION;

-- A list that grows: a value that is new was among others, and has what they have.
SET SESSION AUTHORIZATION regress_controller;
SET client_min_messages = warning;
CREATE TABLE cu_beds (id integer, ward text);
INSERT INTO cu_beds SELECT i, (ARRAY['a', 'b', 'c', 'd', NULL])[i % 5 + 1] FROM generate_series(0, 99) i;
SELECT dp_protect('cu_beds', 'cu_beds_dp'), dp_set_groups('cu_beds', 'ward', '{b}');
SELECT dp_grant('cu_beds_dp', 'regress_analyst', tau => 0.9), dp_set_odometer('cu_beds', epsilon_total => 10), dp_set_partition('cu_beds', 'ward');
SET SESSION AUTHORIZATION regress_analyst;
SELECT count(*) IS NOT NULL AS answered FROM cu_beds_dp;
SELECT count(*) IS NOT NULL AS answered FROM cu_beds_dp WHERE ward = 'b';
SELECT count(*) IS NOT NULL AS answered FROM cu_beds_dp WHERE ward = 'a';
SELECT count(*) IS NOT NULL AS answered FROM cu_beds_dp WHERE ward = 'a';
SET SESSION AUTHORIZATION regress_controller;
SELECT * FROM dp_cells('cu_beds');
SELECT dp_set_groups('cu_beds', 'ward', '{a,c}'), dp_set_partition('cu_beds', 'ward');
SELECT * FROM dp_cells('cu_beds');
SET SESSION AUTHORIZATION regress_analyst;
SELECT count(*) IS NOT NULL AS answered FROM cu_beds_dp WHERE ward = 'a';
SELECT count(*) IS NOT NULL AS answered FROM cu_beds_dp WHERE ward = 'z';
SET SESSION AUTHORIZATION regress_controller;
SELECT * FROM dp_cells('cu_beds');
SELECT dp_verify_ledger('cu_beds', true);
-- Taken away and declared anew it begins with what the fullest has.
SELECT dp_unset_partition('cu_beds'), dp_set_partition('cu_beds', 'ward');
SELECT * FROM dp_cells('cu_beds');
DROP TABLE cu_beds CASCADE;
RESET SESSION AUTHORIZATION;

-- Expressions that rise with the column, by the day. Rows stand where those that do not would leave them out.
CREATE TABLE cu_times (at timestamp, z timestamptz, v integer);
INSERT INTO cu_times SELECT d + interval '12 hours', (d + interval '12 hours') AT TIME ZONE 'UTC', i FROM generate_series(timestamp '2023-01-01', '2024-12-31', interval '1 day') WITH ORDINALITY t (d, i);
INSERT INTO cu_times SELECT '2023-01-31 10:00', '2024-11-03 00:35+00', 1 FROM generate_series(1, 40);
ALTER TABLE cu_times OWNER TO regress_controller;
SET SESSION AUTHORIZATION regress_controller;
SET client_min_messages = warning;
SELECT dp_protect('cu_times', 'cu_times_dp');
SELECT dp_grant('cu_times_dp', 'regress_analyst', tau => 1e-9, epsilon_max => 100), dp_set_odometer('cu_times', epsilon_total => 10000000);
SELECT dp_set_partition('cu_times', 'at', by => 'day', since => '2023-01-11');
RESET SESSION AUTHORIZATION;
SELECT q, cu_asked('count(*) FROM cu_times_dp WHERE ' || q) FROM unnest(ARRAY[
    $$date_trunc('month', at) = '2023-03-01'$$, $$date_trunc('month', at) <> '2023-01-01' AND at < '2023-03-01'$$, $$at::date = '2023-04-01'$$, $$at::date IN ('2023-04-01', '2024-04-01')$$,
    $$extract(year FROM at) = 2024 AND extract(month FROM at) = 2$$, $$extract(year FROM at) NOT IN (2024, 2025)$$, $$at + interval '3 days' BETWEEN '2023-02-01' AND '2023-02-02'$$,
    $$(at - interval '12 hours') + interval '1 month' > '2023-02-28 20:00' AND at < '2023-02-01'$$, $$NOT (date_trunc('year', at) >= '2024-01-01')$$, $$date_trunc('month', at) < '2023-01-01'$$,
    $$at + interval '12 hours' BETWEEN '2023-02-01 18:00' AND '2023-02-03 06:00'$$, $$(at < '2023-02-03') IS FALSE AND (at >= '2023-02-05') IS NOT TRUE$$,
    $$date_bin('7 days', at, '2023-01-02') = '2023-02-06'$$, $$at >= '2023-02-01 12:00:00.000001' AND at < '2023-02-02 12:00'$$, $$date_trunc('month', at) IS NULL$$]) WITH ORDINALITY o (q, n) ORDER BY n;
SET SESSION AUTHORIZATION regress_controller;
SELECT dp_set_partition('cu_times', 'z', by => 'day', since => '2023-01-01');
RESET SESSION AUTHORIZATION;
-- Clocks are turned from 1:30 back to 0:30, half an hour into the day in UTC.
SELECT zone, set_config('timezone', zone, false) IS NULL AS failed, cu_asked($$count(*) FROM cu_times_dp WHERE z::timestamp < '2024-11-03 00:40' AND z > '2024-10-30 00:00+00'$$),
    cu_asked($$count(*) FROM cu_times_dp WHERE z::date = '2024-10-03'$$)
FROM unnest('{UTC,"AAA0BBB-1,M3.2.0/0,M11.1.0/1:30"}'::text[]) zone;
SET timezone = 'UTC';
SET SESSION AUTHORIZATION regress_controller;
-- Keys: from the first group to the last one that is shown. FILTER of discovered groups cuts nothing.
SELECT dp_set_odometer('cu_times', delta_total => 0.9);
SELECT dp_grant('cu_times_dp', 'regress_analyst', tau => 1e-9, epsilon_max => 100, delta => 0.01);
RESET SESSION AUTHORIZATION;
SELECT cu_asked($$sum(n) FROM (SELECT extract(year FROM z), count(*) n FROM cu_times_dp WHERE extract(year FROM z) IN (2023, 2024) GROUP BY 1) g$$),
    cu_asked($$count(*) FROM (SELECT v / 365, count(*) FILTER (WHERE z < '2023-02-01 00:00+00') n FROM cu_times_dp GROUP BY 1) g$$),
    cu_asked($$count(*) FROM (SELECT v / 365, count(*) n FROM cu_times_dp WHERE z < '2023-02-01 00:00+00' GROUP BY 1) g$$);
SET SESSION AUTHORIZATION regress_controller;
DROP TABLE cu_times CASCADE;
RESET SESSION AUTHORIZATION;
DROP FUNCTION cu_asked, cu_is_near;
