-- Partitions: each cell has the totals of the table for itself. A question is charged to the cells that it can touch, and reads no others.
\set SHOW_CONTEXT never
SET SESSION AUTHORIZATION regress_controller;
CREATE TABLE ward_people (id integer, ward text, age integer, note text);
INSERT INTO ward_people SELECT i, (ARRAY['a', 'b', 'c', 'd', NULL])[i % 5 + 1], i % 60, 'n' FROM generate_series(1, 500) i;
SELECT dp_protect('ward_people', 'ward_people_dp');
SELECT dp_grant('ward_people_dp', 'regress_analyst', tau => 0.9);

-- What may be declared.
SELECT attempt(format('SELECT dp_set_partition(%L, %L%s)', 'ward_people', c, a)) FROM (VALUES
    ('nothing', ''), ('ward', ''), ('ward', ', by => ''month'', since => ''2025-01-01'''), ('ward', ', by => ''10'', since => ''1'', until => ''9'''),
    ('age', ', by => ''hour'''), ('age', ', by => ''0'', since => ''0'', until => ''9'''), ('age', ', by => ''1'', since => ''0'', until => ''10000'''),
    ('age', ', by => ''1'', since => ''9'', until => ''0'''), ('age', ', by => ''1'', since => ''9'''), ('age', ', by => ''1'''), ('age', ', by => ''1'', since => ''9007199254740990'', until => ''9007199254740999''')) v (c, a);
SELECT dp_set_groups('ward_people', 'ward', '{a,b,c}');
SELECT attempt($$SELECT dp_set_partition('ward_people', 'ward', since => '2025-01-01')$$);
SELECT attempt($$SELECT dp_cells('ward_people')$$), attempt($$SELECT dp_unset_partition('ward_people')$$);
SELECT dp_set_odometer('ward_people', period => 'month');
SELECT attempt($$SELECT dp_set_partition('ward_people', 'ward')$$);
SELECT dp_set_odometer('ward_people', period => '');

-- Declared: nothing is spent. Bounds that do not go with it are refused in either order.
SELECT dp_set_partition('ward_people', 'ward');
SELECT * FROM dp_cells('ward_people');
SELECT attempt($$SELECT dp_set_odometer('ward_people', period => 'month')$$);
SELECT attempt($$SELECT dp_set_odometer('ward_people', 'dynamic')$$);
SELECT attempt($$SELECT dp_set_unit('ward_people', 'id', max_rows => 1)$$);

-- What a question touches, as the ledger says.
RESET SESSION AUTHORIZATION;
CREATE FUNCTION cells_touched(condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    said text;
    cells jsonb;
BEGIN
    SET SESSION AUTHORIZATION regress_analyst;
    said := attempt('SELECT count(*) FROM ward_people_dp ' || condition);
    RESET SESSION AUTHORIZATION;
    SELECT l.parameters -> 'cells' INTO cells FROM dp_rdr.ledger_row l ORDER BY id DESC LIMIT 1;
    RETURN CASE WHEN said = 'accepted' THEN coalesce(cells ->> 'names', 'all') ELSE said END;
END $$;
SELECT dp_set_odometer('ward_people', epsilon_total => 1000);
SELECT condition, cells_touched(condition) FROM unnest(ARRAY[
    '', 'WHERE age > 30', $$WHERE ward = 'a'$$, $$WHERE ward IN ('a', 'c')$$, $$WHERE ward IN ('a', 'z')$$, $$WHERE ward = 'a' OR age > 3$$,
    $$WHERE (ward = 'a' AND age > 3) OR (ward = 'b' AND age < 3)$$, $$WHERE ward <> 'a'$$, $$WHERE NOT (ward = 'a')$$,
    $$WHERE NOT (ward = 'a' OR age > 3)$$, $$WHERE NOT (ward = 'a' AND age > 3)$$, $$WHERE ward IS NULL$$, $$WHERE ward IS NOT NULL$$,
    $$WHERE (ward = 'a') IS TRUE$$, $$WHERE (ward = 'a') IS NOT TRUE$$, $$WHERE NOT starts_with(ward, 'a')$$, $$WHERE NOT (starts_with(ward, 'a') AND age > 3)$$, $$WHERE upper(ward) = 'B'$$, $$WHERE ward < 'b'$$, $$WHERE ward LIKE 'c%'$$,
    $$WHERE ward = note$$, $$WHERE CASE ward WHEN 'a' THEN true ELSE false END$$, $$WHERE ward = 'a' AND ward = 'b'$$, $$WHERE ward NOT IN ('a', 'b')$$,
    $$WHERE ward IN ('a', NULL)$$, $$WHERE ward NOT IN ('a', NULL)$$, $$GROUP BY ward$$, $$WHERE ward <> 'c' GROUP BY ward$$]) WITH ORDINALITY c (condition, n)
ORDER BY n;
SELECT * FROM dp_cells('ward_people');

-- What is read is what was charged: nothing else is counted, whatever the condition says. (Epsilon is 50 here: noise is 0, but for once in 10^21.)
SET SESSION AUTHORIZATION regress_controller;
SELECT dp_grant('ward_people_dp', 'regress_second', tau => 0, candidates => '{50}', epsilon_max => 50);
SELECT dp_set_odometer('ward_people', epsilon_total => 1000000);
RESET SESSION AUTHORIZATION;
CREATE FUNCTION cells_counted(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
BEGIN
    SET SESSION AUTHORIZATION regress_second;
    EXECUTE query INTO n;
    RESET SESSION AUTHORIZATION;
    RETURN n;
END $$;
SELECT condition, cells_counted('SELECT count(*) FROM ward_people_dp ' || condition) AS answer,
    cells_counted(format('SELECT sum(n)::bigint FROM (SELECT ward, count(*) AS n FROM ward_people_dp %s GROUP BY ward) g', condition)) AS grouped
FROM unnest(ARRAY['', $$WHERE ward = 'a'$$, $$WHERE ward NOT IN ('a', 'b')$$, $$WHERE ward <> 'a'$$]) condition;
SELECT cells_counted('SELECT count(*) FROM ward_people_dp WHERE ward IS NULL') AS answer;

-- A cell that is used up denies what touches it, and says which. Others have their own.
SET SESSION AUTHORIZATION regress_controller;
SELECT dp_unset_partition('ward_people');
CREATE TABLE ward_stays AS SELECT * FROM ward_people;
SELECT dp_protect('ward_stays', 'ward_stays_dp'), dp_set_groups('ward_stays', 'ward', '{a,b,c}');
SELECT dp_grant('ward_stays_dp', 'regress_analyst', tau => 0.9), dp_set_odometer('ward_stays', epsilon_total => 0.2);
SELECT dp_set_partition('ward_stays', 'ward', guard => false);
\set VERBOSITY default
SET SESSION AUTHORIZATION regress_analyst;
SELECT count(*) IS NOT NULL AS answered FROM ward_stays_dp WHERE ward = 'a';
SELECT count(*) IS NOT NULL AS answered FROM ward_stays_dp WHERE ward = 'a';
SELECT count(*) FROM ward_stays_dp WHERE ward = 'a';
SELECT count(*) FROM ward_stays_dp WHERE ward IN ('a', 'b');
SELECT count(*) FROM ward_stays_dp;
SELECT count(*) IS NOT NULL AS answered FROM ward_stays_dp WHERE ward = 'b';
SELECT accepted, reason FROM dp_explain('SELECT count(*) FROM ward_stays_dp WHERE ward = ''b''');
SELECT accepted, reason FROM dp_explain('SELECT count(*) FROM ward_stays_dp WHERE ward = ''a''');
SELECT count(*) IS NOT NULL AS answered FROM ward_stays_dp WHERE ward <> 'a';
SELECT count(*) FROM ward_stays_dp WHERE ward IN ('b', 'c');
SELECT count(*) FROM ward_stays_dp WHERE age > 3;
SET SESSION AUTHORIZATION regress_controller;
SELECT * FROM dp_cells('ward_stays');
SELECT account, epsilon, epsilon_claim FROM dp_odometer('ward_stays');
SELECT dp_verify_ledger('ward_stays'), dp_verify_ledger('ward_stays', true), dp_verify_ledger('ward_people', true);
SELECT query, reason, times FROM dp_rdr.denials WHERE relation = 'public.ward_stays' ORDER BY query;
-- Where the view does not show the column nobody could name a cell.
SELECT dp_protect('ward_stays', 'ward_ages_dp', columns => '{id,age}');
SELECT dp_grant('ward_ages_dp', 'regress_analyst', tau => 0.9);
SET SESSION AUTHORIZATION regress_analyst;
SELECT count(*) FROM ward_ages_dp;
-- Taken away, all that the fullest cell had counts for everybody; declared anew as well.
SET SESSION AUTHORIZATION regress_controller;
SELECT dp_unset_partition('ward_stays');
SELECT dp_set_odometer('ward_stays', epsilon_total => 0.4);
SET SESSION AUTHORIZATION regress_analyst;
SELECT count(*) IS NOT NULL AS answered FROM ward_stays_dp WHERE ward = 'b';
SET SESSION AUTHORIZATION regress_controller;
SELECT account, epsilon FROM dp_odometer('ward_stays');
SELECT dp_set_partition('ward_stays', 'age', by => '10', since => '10', until => '49');
SET SESSION AUTHORIZATION regress_analyst;
SELECT count(*) IS NOT NULL AS answered FROM ward_stays_dp WHERE age BETWEEN 20 AND 34;
SELECT count(*) FROM ward_stays_dp WHERE age < 30;
SELECT count(*) IS NOT NULL AS answered FROM ward_stays_dp WHERE age >= 40;
SET SESSION AUTHORIZATION regress_controller;
SELECT * FROM dp_cells('ward_stays');
SELECT dp_verify_ledger('ward_stays', true);
UPDATE ward_stays SET age = 21 WHERE age = 29;
UPDATE ward_stays SET age = 60 WHERE age = 3;
UPDATE ward_stays SET age = 30 WHERE age = 29;
UPDATE ward_stays SET age = 31 WHERE age = 21;
UPDATE ward_stays SET age = NULL WHERE age = 31;
ALTER TABLE ward_stays RENAME COLUMN age TO years;
UPDATE ward_stays SET id = 1 WHERE id = 1;
SELECT dp_unset_partition('ward_stays');
UPDATE ward_stays SET id = 1 WHERE id = 1;

-- Months. Those that have not begun are in no answer.
CREATE TABLE cell_visits (id integer, at timestamptz, cost integer);
INSERT INTO cell_visits SELECT i, (date_trunc('month', now() AT TIME ZONE 'UTC') - (i % 6 - 1) * interval '1 month' + interval '1 day') AT TIME ZONE 'UTC', i % 10
FROM generate_series(1, 600) i;
INSERT INTO cell_visits VALUES (0, NULL, 1), (0, 'infinity', 1), (0, '-infinity', 1);
SELECT dp_protect('cell_visits', 'cell_visits_dp');
SELECT dp_grant('cell_visits_dp', 'regress_second', tau => 0, candidates => '{50}', epsilon_max => 50), dp_set_odometer('cell_visits', epsilon_total => 100000);
SELECT attempt($$SELECT dp_set_partition('cell_visits', 'at', by => 'month')$$), attempt($$SELECT dp_set_partition('cell_visits', 'at', by => 'month', since => 'never')$$),
    attempt($$SELECT dp_set_partition('cell_visits', 'at', by => 'month', since => '0044-03-15 BC')$$), regexp_replace(attempt($$SELECT dp_set_partition('cell_visits', 'at', by => 'day', since => '1900-01-01')$$), '[0-9]{5,} cells', 'N cells'),
    attempt($$SELECT dp_set_partition('cell_visits', 'at', by => 'month', since => '2025-01-01', until => '2026-01-01')$$),
    attempt($$SELECT dp_set_partition('cell_visits', 'at')$$);
SET client_min_messages = warning;
SELECT dp_set_partition('cell_visits', 'at', by => 'month', since => to_char(now() AT TIME ZONE 'UTC' - interval '4 months', 'YYYY-MM-DD'));
RESET client_min_messages;
RESET SESSION AUTHORIZATION;
-- How many months a condition touches, and how many rows it counts.
CREATE FUNCTION cells_months(condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
    cells jsonb;
BEGIN
    SET SESSION AUTHORIZATION regress_second;
    EXECUTE 'SELECT count(*) FROM cell_visits_dp ' || condition INTO n;
    RESET SESSION AUTHORIZATION;
    SELECT l.parameters -> 'cells' INTO cells FROM dp_rdr.ledger_row l ORDER BY id DESC LIMIT 1;
    RETURN n || ' rows of ' || coalesce((SELECT string_agg(format('%s..%s', (r ->> 0)::bigint - (cells ->> 'begun')::bigint, (r ->> 1)::bigint - (cells ->> 'begun')::bigint), ', ')
                                  FROM jsonb_array_elements(cells -> 'ranges') r), 'all');
END $$;
SELECT replace(condition, 'M', 'month') AS condition, cells_months(replace(condition, 'M', $$(date_trunc('month', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC')$$))
FROM unnest(ARRAY['', 'WHERE cost > 3', 'WHERE at >= M', 'WHERE at < M', $$WHERE at >= M - interval '2 months' AND at < M - interval '1 month'$$,
    $$WHERE NOT (at < M)$$, $$WHERE at < M OR at >= M - interval '1 month'$$, 'WHERE at IS NULL', 'WHERE at IS NOT NULL', 'WHERE at = M',
    $$WHERE at IN (M, M - interval '3 months')$$, $$WHERE at < M - interval '20 months'$$, 'WHERE at > M AND cost > 3', $$WHERE at BETWEEN M - interval '1 month' AND M$$,
    $$WHERE NOT (at >= M OR cost > 100)$$, $$WHERE at < M - interval '3 months' OR at >= M$$]) WITH ORDINALITY c (condition, n) ORDER BY n;
SELECT attempt($$SELECT count(*) FROM cell_visits_dp WHERE at > '2200-01-01'$$);
SET SESSION AUTHORIZATION regress_second;
SELECT attempt($$SELECT count(*) FROM cell_visits_dp WHERE at > '2200-01-01'$$);
SET SESSION AUTHORIZATION regress_controller;
SELECT dp_verify_ledger('cell_visits', true);
SELECT epsilon, "left" FROM dp_cells('cell_visits');

-- Another month begins: with nothing where `fresh` said so, else with what was spent before the declaration; of what was charged to all so
-- far it has nothing. The clock is set forward by taking the last month from the odometer.
CREATE TABLE cell_stays (id integer, at date);
INSERT INTO cell_stays SELECT i, (now() AT TIME ZONE 'UTC')::date - i FROM generate_series(0, 99) i;
SELECT dp_protect('cell_stays', 'cell_stays_dp');
SELECT dp_grant('cell_stays_dp', 'regress_analyst', tau => 0.9), dp_set_odometer('cell_stays', epsilon_total => 1);
SET SESSION AUTHORIZATION regress_analyst;
SELECT count(*) IS NOT NULL AS answered FROM cell_stays_dp;
SET SESSION AUTHORIZATION regress_controller;
SELECT dp_set_partition('cell_stays', 'at', by => 'day', since => ((now() AT TIME ZONE 'UTC')::date - 9)::text);
SET SESSION AUTHORIZATION regress_analyst;
SELECT count(*) IS NOT NULL AS answered FROM cell_stays_dp;
RESET SESSION AUTHORIZATION;
CREATE FUNCTION cells_turn(table_name text, days integer) RETURNS void LANGUAGE sql AS $$
    DELETE FROM dp_rdr.odometer_cell c USING dp_rdr.odometer o
    WHERE o.relation_name = 'public.' || table_name AND c.id = o.id AND c.first > o.begun - days AND c.first < 9223372036854775807;
    INSERT INTO dp_rdr.odometer_cell SELECT o.id, '', o.begun + 1, f.epsilon - o.public_epsilon + o.most_epsilon, f.delta, 0, 0, 0, 0, 0
    FROM dp_rdr.odometer o JOIN dp_rdr.odometer_cell f ON (f.id, f.grantee, f.first) = (o.id, '', 9223372036854775807)
    WHERE o.relation_name = 'public.' || table_name AND days < 0;
    UPDATE dp_rdr.odometer SET begun = begun - days WHERE relation_name = 'public.' || table_name $$;
SELECT cells_turn('cell_stays', 1);
SET SESSION AUTHORIZATION regress_analyst;
SELECT count(*) IS NOT NULL AS answered FROM cell_stays_dp WHERE id > 3;
SET SESSION AUTHORIZATION regress_controller;
SELECT epsilon, "left" FROM dp_cells('cell_stays');
SELECT dp_set_partition('cell_stays', 'at', by => 'day', since => ((now() AT TIME ZONE 'UTC')::date - 9)::text, fresh => true);
SET SESSION AUTHORIZATION regress_analyst;
SELECT count(*) IS NOT NULL AS answered FROM cell_stays_dp;
RESET SESSION AUTHORIZATION;
SELECT cells_turn('cell_stays', 1);
SET SESSION AUTHORIZATION regress_analyst;
SELECT accepted, reason FROM dp_explain(format('SELECT count(*) FROM cell_stays_dp WHERE at >= %L', (now() AT TIME ZONE 'UTC')::date));
SELECT count(*) IS NOT NULL AS answered FROM cell_stays_dp;
SET SESSION AUTHORIZATION regress_controller;
SELECT epsilon, "left" FROM dp_cells('cell_stays');
-- "All so far" of an older clock leaves out what has begun since.
RESET SESSION AUTHORIZATION;
SELECT cells_turn('cell_stays', -1);
SET SESSION AUTHORIZATION regress_analyst;
SELECT count(*) IS NOT NULL AS answered FROM cell_stays_dp;
SET SESSION AUTHORIZATION regress_controller;
SELECT epsilon, "left" FROM dp_cells('cell_stays');
RESET SESSION AUTHORIZATION;
SELECT cells_turn('cell_stays', 1);
SET SESSION AUTHORIZATION regress_controller;
SELECT account, epsilon FROM dp_odometer('cell_stays');

-- A share and a profile bind in each cell as well.
SELECT dp_set_partition('cell_stays', 'at', by => 'day', since => ((now() AT TIME ZONE 'UTC')::date - 9)::text, fresh => true);
SELECT dp_set_odometer('cell_stays', epsilon_total => 10);
SELECT dp_grant('cell_stays_dp', 'regress_second', tau => 0.9, epsilon_total => 0.1);
SET SESSION AUTHORIZATION regress_second;
SELECT count(*) IS NOT NULL AS answered FROM cell_stays_dp WHERE at = (now() AT TIME ZONE 'UTC')::date - 1;
SELECT attempt($$SELECT count(*) FROM cell_stays_dp WHERE at = (now() AT TIME ZONE 'UTC')::date - 1$$),
    attempt($$SELECT count(*) FROM cell_stays_dp WHERE at >= (now() AT TIME ZONE 'UTC')::date - 1$$);
SELECT count(*) IS NOT NULL AS answered FROM cell_stays_dp WHERE at = (now() AT TIME ZONE 'UTC')::date - 2;
SET SESSION AUTHORIZATION regress_controller;
SELECT dp_verify_ledger('cell_stays', true);

-- The trigger fires for replicated updates as well, and dp_audit says where it does not, or another one comes behind.
CREATE FUNCTION cells_moved() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.at := NEW.at - 5; RETURN NEW; END $$;
RESET SESSION AUTHORIZATION;
SET session_replication_role = replica;
UPDATE cell_stays SET at = at - 3 WHERE id = 0;
RESET session_replication_role;
SET SESSION AUTHORIZATION regress_controller;
SELECT finding FROM dp_audit() WHERE object = 'public.cell_stays' AND severity = 'critical' AND finding ~ 'cell|trigger';
CREATE TRIGGER "é" BEFORE UPDATE ON cell_stays FOR EACH ROW EXECUTE FUNCTION cells_moved();
SELECT finding, remedy FROM dp_audit() WHERE object = 'public.cell_stays' AND finding ~ 'behind';
DROP TRIGGER "é" ON cell_stays;
ALTER TABLE cell_stays DISABLE TRIGGER "~dp_rdr_cell";
SELECT finding, remedy FROM dp_audit() WHERE object = 'public.cell_stays' AND finding ~ 'always';
DROP TRIGGER "~dp_rdr_cell" ON cell_stays;
SELECT finding, remedy FROM dp_audit() WHERE object = 'public.cell_stays' AND finding ~ 'partition';

-- A child that comes later has rows of its own, which no trigger sees; and one partition may lose its trigger.
CREATE TABLE cell_stays_child () INHERITS (cell_stays);
SELECT object, finding, remedy FROM dp_audit() WHERE object ~ 'cell_stays_child' AND finding ~ 'no trigger keeps';
DROP TABLE cell_stays_child;
CREATE TABLE cell_parts (id integer, at date) PARTITION BY LIST (id);
CREATE TABLE cell_part_1 PARTITION OF cell_parts FOR VALUES IN (1);
CREATE TABLE cell_part_2 (id integer, at date);
SET client_min_messages = warning;
SELECT dp_protect('cell_parts', 'cell_parts_dp'), dp_set_partition('cell_parts', 'at', by => 'month', since => '2026-01-01');
ALTER TABLE cell_parts ATTACH PARTITION cell_part_2 FOR VALUES IN (2);
ALTER TABLE cell_part_1 DISABLE TRIGGER "~dp_rdr_cell";
SELECT object, finding, remedy FROM dp_audit() WHERE object ~ 'cell_part' AND finding ~ 'always' ORDER BY object;
DROP TABLE cell_parts CASCADE;
-- Texts: a long one is of others, also where NULL is listed. Equal is what the column's type takes for equal.
CREATE TABLE cell_texts (id integer, ward text);
INSERT INTO cell_texts SELECT i, (ARRAY['a', 'a ', repeat('x', 300), repeat('y', 100000), NULL])[i % 5 + 1] FROM generate_series(0, 499) i;
SELECT dp_protect('cell_texts', 'cell_texts_dp'), dp_set_groups('cell_texts', 'ward', '{a,NULL}');
SELECT dp_grant('cell_texts_dp', 'regress_second', tau => 1e-9, epsilon_max => 100), dp_set_odometer('cell_texts', epsilon_total => 1000000);
SELECT dp_set_partition('cell_texts', 'ward');
RESET client_min_messages;
RESET SESSION AUTHORIZATION;
CREATE FUNCTION cells_of_last() RETURNS text LANGUAGE sql AS $$ SELECT parameters -> 'cells' ->> 'names' FROM dp_rdr.ledger_row ORDER BY id DESC LIMIT 1 $$;
SELECT condition, cells_counted('SELECT count(*) FROM cell_texts_dp WHERE ' || condition) AS counted, cells_of_last() AS cells
FROM unnest(ARRAY['ward IS NULL', 'ward IS NOT NULL', $$ward <> 'a'$$, $$(ward = 'a') IS NULL$$, $$ward::bpchar = 'a'$$, $$ward::varchar = 'a'$$, $$ward = 'a'$$]) WITH ORDINALITY c (condition, n) ORDER BY n;
SET SESSION AUTHORIZATION regress_controller;
SET client_min_messages = warning;
DROP TABLE cell_texts CASCADE;
RESET client_min_messages;
-- A selection counts the rows of the touched cells, as if they were the table. All of these are counted, so that nobody stands out and the
-- largest epsilon passes. (Beside as many of another cell, whom the count leaves out, it would not.)
SET client_min_messages = warning;
CREATE TABLE cell_picked (id integer, ward text);
INSERT INTO cell_picked SELECT i, (ARRAY['a', 'b'])[i % 2 + 1] FROM generate_series(1, 1000) i;
SELECT dp_protect('cell_picked', 'cell_picked_dp'), dp_set_groups('cell_picked', 'ward', '{a,b}');
SELECT dp_grant('cell_picked_dp', 'regress_second', tau_var => 0.1, epsilon_svt => 20, epsilon_max => 20, candidates => '{20,1,0.1}'), dp_set_odometer('cell_picked', epsilon_total => 1000);
SELECT dp_set_partition('cell_picked', 'ward');
SET SESSION AUTHORIZATION regress_second;
SELECT count(*) > 400 AS answered FROM cell_picked_dp WHERE ward = 'a';
SELECT count(*) > 400 AS answered FROM cell_picked_dp WHERE id <= 500;
RESET SESSION AUTHORIZATION;
SELECT kind, epsilon, parameters -> 'cells' ->> 'names' AS cells FROM (SELECT * FROM dp_rdr.ledger_row ORDER BY id DESC LIMIT 4) l ORDER BY id;
SET SESSION AUTHORIZATION regress_controller;
DROP TABLE cell_picked CASCADE;
RESET client_min_messages;
-- What no partition is of.
CREATE TABLE cell_kept (id integer, half integer GENERATED ALWAYS AS (id / 2) STORED, name text, long text);
SELECT dp_protect('cell_kept', 'cell_kept_dp'), dp_set_groups('cell_kept', 'long', ARRAY[repeat('x', 201)]);
SELECT attempt($$SELECT dp_set_partition('cell_kept', 'half', by => '10', since => '0', until => '9')$$), attempt($$SELECT dp_set_partition('cell_kept', 'long')$$);
CREATE TABLE cell_kept_child () INHERITS (cell_kept);
SELECT attempt($$SELECT dp_set_partition('cell_kept', 'id', by => '10', since => '0', until => '9')$$);
CREATE TABLE cell_people (person integer, at date);
SELECT dp_protect('cell_people', 'cell_people_dp', unit => 'person', max_rows => 3);
SELECT attempt($$SELECT dp_set_partition('cell_people', 'at', by => 'day', since => '2025-01-01')$$);
-- Others' tables.
SET SESSION AUTHORIZATION regress_analyst;
SELECT attempt($$SELECT dp_set_partition('cell_stays', 'at', by => 'day', since => '2025-01-01')$$), attempt($$SELECT dp_cells('cell_stays')$$),
    attempt($$SELECT dp_unset_partition('cell_stays')$$);
SET SESSION AUTHORIZATION regress_controller;
SELECT dp_unset_partition('cell_stays'), dp_unset_partition('cell_visits');
-- Nothing stays that others count.
SET client_min_messages = error;
DROP TABLE ward_stays, cell_people CASCADE;
RESET client_min_messages;
RESET SESSION AUTHORIZATION;
DROP FUNCTION cells_of_last, cells_touched, cells_counted, cells_months, cells_turn;
