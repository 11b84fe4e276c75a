-- What follows from the rows of a public table: bounds of its columns, and the tuples of several of them as groups. Both are looked up
-- before the charge, as the role that asks.

LOAD 'dp_rdr';
CREATE SCHEMA pv AUTHORIZATION regress_controller;
GRANT USAGE ON SCHEMA pv TO regress_analyst, regress_second;
SET search_path = pv, public;
SET ROLE regress_controller;

CREATE TABLE person (person integer PRIMARY KEY, region text, born date);
CREATE TABLE sale (sale integer PRIMARY KEY, person integer NOT NULL, code text, n integer NOT NULL, day date, receipt text UNIQUE, till integer NOT NULL, shift integer NOT NULL, line integer NOT NULL,
    UNIQUE (till, shift, line));
INSERT INTO person SELECT i, 'r' || i % 3, date '1960-01-01' + i FROM generate_series(1, 500) i;
INSERT INTO sale SELECT i, 1 + i % 400, 'c' || i % 10, i % 3, date '2025-01-01' + i % 60, CASE WHEN i < 9 THEN 'r' || i END, i % 5, i / 5 % 10, i / 50 FROM generate_series(1, 2000) i;
SELECT dp_protect('person', 'person_dp', unit => 'person'), dp_protect('sale', 'sale_dp', unit => 'person -> person', max_rows => 5);
SELECT dp_set_bounds('sale', 'n', 0, 2), dp_set_groups('person', 'region', '{r0,r1,r2}');
SELECT dp_set_odometer('person', 'none', delta_total => 0.9);

-- ---------------------------------------------------------------------------------------------------------------------
-- Bounds. What a sum is charged for is the larger end: error95 of the sum is so many times that of the count.
-- ---------------------------------------------------------------------------------------------------------------------

CREATE DOMAIN share AS numeric CHECK (VALUE >= 0);
CREATE DOMAIN half AS share;
CREATE TABLE code (code text PRIMARY KEY, small smallint, whole integer, large bigint, single real, double double precision, exact numeric, money numeric(8, 2),
    part half, day date, moment timestamp,
    below numeric, zero integer, one integer, minus integer, low_big bigint, high_big bigint, digits numeric, tiny numeric, tinier double precision,
    gone integer, infinite double precision, nan real, vast double precision, huge numeric, inf numeric, one_day date, forever timestamp, label text,
    twice integer GENERATED ALWAYS AS (whole * 2) STORED);
INSERT INTO code SELECT 'c' || i, i, 10 * i, 1000 * i, i / 4.0, i / 8.0, i / 3.0, i + 0.25, i / 10.0, date '2025-01-01' + 10 * i, timestamp '2025-01-01' + i * interval '1 h',
    -i - 0.5, 0, 5, -5, -9223372036854775808, 9223372036854775807, (i || '.' || repeat('7', 9000))::numeric, ('0.' || repeat('0', 400) || '1')::numeric, 1e-300,
    NULL, CASE i WHEN 3 THEN 'Infinity'::float8 ELSE i END, CASE i WHEN 3 THEN 'NaN'::float8 ELSE i END, 1e300, ('1' || repeat('0', 20000))::numeric, '-Infinity',
    date '2025-06-01', CASE i WHEN 3 THEN 'infinity'::timestamp ELSE now()::timestamp END, 'x'
FROM generate_series(1, 8) i;
INSERT INTO code (code) VALUES ('c9');
CREATE TABLE nothing (code text PRIMARY KEY, n integer, m integer, day date);
CREATE TABLE hidden (code text PRIMARY KEY, n integer, secret integer, kind text);
INSERT INTO hidden VALUES ('c1', 1, 1000, 'k');
SELECT dp_set_public(t, 'person') FROM unnest('{code,nothing,hidden}'::regclass[]) t;
SELECT dp_grant(v, 'regress_analyst', tau => 0, candidates => '{100}', epsilon_max => 100, delta => 1e-6) FROM unnest('{person_dp,sale_dp}'::regclass[]) v;
SELECT dp_grant('sale_dp', 'regress_second', tau => 0, candidates => '{0.01}');
GRANT SELECT ON code, nothing TO regress_analyst, regress_second;
GRANT SELECT (code, n) ON hidden TO regress_analyst;
SET ROLE regress_second;

CREATE FUNCTION pg_temp.explained(query text, OUT accepted boolean, OUT reason text) LANGUAGE plpgsql AS $$
BEGIN
    SELECT e.accepted, e.reason INTO accepted, reason FROM dp_explain(query) e;
EXCEPTION WHEN OTHERS THEN
    reason := sqlerrm;
END $$;
CREATE FUNCTION pg_temp.times(argument text, OUT times numeric, OUT refused text) LANGUAGE plpgsql AS $$
DECLARE
    one float8 := (SELECT error95 FROM dp_explain('SELECT count(*) FROM sale_dp s JOIN code c ON c.code = s.code'));
BEGIN
    SELECT round((error95 / one)::numeric, 3), reason INTO times, refused
    FROM dp_explain(format('SELECT sum(%s) FROM sale_dp s JOIN code c ON c.code = s.code', argument));
EXCEPTION WHEN OTHERS THEN
    refused := sqlerrm;
END $$;
SELECT a AS argument, times, CASE WHEN times IS NULL THEN refused END AS refused
FROM unnest('{c.small,c.whole,c.large,c.single,c.double,c.exact,c.money,c.part,c.twice,c.below,c.zero,c.one,c.minus,c.low_big,c.high_big,c.digits,c.tiny,c.tinier,c.gone,c.infinite,c.nan,c.vast,c.huge,c.inf}'::text[])
     WITH ORDINALITY u(a, i), pg_temp.times(a) ORDER BY i;
-- In expressions, with declared ones and without.
SELECT a AS argument, times, CASE WHEN times IS NULL THEN refused END AS refused
FROM unnest(ARRAY['s.n * c.whole', 's.n * c.money * c.part', 'c.whole - c.minus', 'abs(c.below)', 'CASE WHEN s.n = 1 THEN c.whole ELSE c.small END', 'least(c.vast, 7)', 'c.vast', 'c.gone + 1', 's.n / nullif(c.one, 0)',
                  'greatest(c.nan, 1)', 'c.low_big::numeric + c.high_big']) WITH ORDINALITY u(a, i), pg_temp.times(a) ORDER BY i;
-- Who may not read a column is told so before anything that depends on its values.
SET ROLE regress_analyst;
SELECT query, attempt(query) FROM unnest(ARRAY[
'SELECT sum(h.secret) FROM sale_dp s JOIN hidden h ON h.code = s.code',
'SELECT sum(h.n) FROM sale_dp s JOIN hidden h ON h.code = s.code',
'SELECT max(h.secret + 1) FROM sale_dp s JOIN hidden h ON h.code = s.code',
'SELECT h.secret / 10, count(*) FROM sale_dp s JOIN hidden h ON h.code = s.code GROUP BY 1',
'SELECT h.code, h.kind, count(*) FROM sale_dp s JOIN hidden h ON h.code = s.code GROUP BY h.code, h.kind',
'SELECT sum(h.n) FROM sale_dp s JOIN hidden h ON h.code = s.code JOIN code c ON c.whole = h.secret']) query;
SELECT accepted, reason FROM pg_temp.explained('SELECT sum(h.secret) FROM sale_dp s JOIN hidden h ON h.code = s.code');
-- Minima, maxima and percentiles: cells between the least and the greatest value.
SELECT query, accepted, reason FROM unnest('{max(c.whole),min(c.day),max(c.moment),max(c.one),min(c.one_day),percentile_cont(0.5) WITHIN GROUP (ORDER BY c.money),min(c.low_big),max(c.high_big),max(c.vast),max(c.forever),max(c.label)}'::text[]) query,
    LATERAL (SELECT * FROM pg_temp.explained(format('SELECT %s FROM sale_dp s JOIN code c ON c.code = s.code', query))) e;
SELECT min(c.day), max(c.day) FROM sale_dp s JOIN code c ON c.code = s.code WHERE s.n < 2;
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY c.whole) BETWEEN 30 AND 50 AS median FROM sale_dp s JOIN code c ON c.code = s.code;
SELECT max(c.moment) FROM sale_dp s JOIN code c ON c.code = s.code;
SELECT max(c.one) FROM sale_dp s JOIN code c ON c.code = s.code;
SELECT min(c.one_day) BETWEEN '2025-06-01' AND '2025-06-02' AS near FROM sale_dp s JOIN code c ON c.code = s.code;
SELECT max(c.high_big) > 9e18 AS high, min(c.high_big) IS NOT NULL AS any FROM sale_dp s JOIN code c ON c.code = s.code;
SELECT attempt('SELECT max(c.forever) FROM sale_dp s JOIN code c ON c.code = s.code'), attempt('SELECT sum(c.nan) FROM sale_dp s JOIN code c ON c.code = s.code');
-- Groups that are expressions follow from them, as from declared bounds.
SELECT c.whole / 20 AS k, count(*) > 100 AS many FROM sale_dp s JOIN code c ON c.code = s.code GROUP BY 1 ORDER BY 1;
SELECT date_trunc('month', c.day)::date AS month, count(*) > 100 AS many FROM sale_dp s JOIN code c ON c.code = s.code GROUP BY 1 ORDER BY 1;
-- A table without rows: nothing follows.
SELECT attempt('SELECT sum(e.n) FROM sale_dp s JOIN nothing e ON e.code = s.code'), attempt('SELECT max(e.day) FROM sale_dp s LEFT JOIN nothing e ON e.code = s.code');

-- ---------------------------------------------------------------------------------------------------------------------
-- Tuples
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_controller;
CREATE TABLE item (code text PRIMARY KEY, chapter text, floor numeric, next text, weight integer);
INSERT INTO item SELECT 'c' || i, CASE WHEN i < 4 THEN 'heart' ELSE 'lung' END, CASE i WHEN 3 THEN NULL WHEN 4 THEN 'NaN' WHEN 5 THEN 1.0 WHEN 6 THEN 1.00 ELSE i END, 'c' || (i + 1) % 8, i
FROM generate_series(1, 8) i;
INSERT INTO item VALUES ('never', 'none', 7, NULL, 1), ('long', repeat('long', 1000), 7, NULL, 1);
CREATE TABLE thing (id integer PRIMARY KEY, name text, a integer, b integer, c integer);
INSERT INTO thing SELECT i, 'thing ' || i, -i, 2 * i, 3 * i FROM generate_series(1, 9000) i;
SELECT dp_set_public('thing', 'person');
GRANT SELECT ON thing TO regress_analyst;
CREATE TABLE wide (code text PRIMARY KEY, a integer, b integer, c integer, d integer);
INSERT INTO wide SELECT 'c' || i, i, 5000 - i, i % 101, i % 100 FROM generate_series(1, 1000) i;
CREATE TABLE mat AS SELECT code, chapter, weight FROM item;
CREATE TABLE paper AS SELECT code, '{}'::json AS papers FROM item;
ALTER TABLE paper ADD PRIMARY KEY (code);
DO $$ BEGIN EXECUTE (SELECT format('CREATE TABLE broad (%s, PRIMARY KEY (c1))', string_agg('c' || i || ' integer', ', ')) FROM generate_series(1, 1500) i); END $$;
SELECT dp_set_public(t, 'person') FROM unnest('{item,wide,mat,paper,broad}'::regclass[]) t;
GRANT SELECT ON item, wide, mat, paper, broad TO regress_analyst;
CREATE TABLE asked (name text PRIMARY KEY, query text, slack numeric);
INSERT INTO asked VALUES
('tuples', 'SELECT i.code, i.chapter, count(*) AS x FROM sale_dp s JOIN item i ON i.code = s.code GROUP BY i.code, i.chapter', 10),
('NULL and NaN in them', 'SELECT i.floor, i.chapter, count(*) AS x FROM sale_dp s JOIN item i ON i.code = s.code GROUP BY i.floor, i.chapter', 10),
('a condition on a key', 'SELECT i.code, i.chapter, count(*) AS x FROM sale_dp s JOIN item i ON i.code = s.code WHERE i.chapter = ''heart'' AND i.code <> ''c1'' GROUP BY i.code, i.chapter', 10),
('a condition on no key', 'SELECT i.code, i.chapter, count(*) AS x FROM sale_dp s JOIN item i ON i.code = s.code WHERE i.weight < 3 GROUP BY i.code, i.chapter', 10),
('the nullable side', 'SELECT i.code, i.chapter, count(*) AS x FROM sale_dp s LEFT JOIN item i ON i.code = s.code GROUP BY i.code, i.chapter', 10),
('the nullable side of some', 'SELECT i.code, i.chapter, count(*) AS x FROM sale_dp s LEFT JOIN item i ON i.code = s.code AND i.weight > 4 GROUP BY i.code, i.chapter', 10),
('beside a declared key', 'SELECT p.region, i.code, i.chapter, count(*) AS x FROM person_dp p JOIN sale_dp s ON s.person = p.person JOIN item i ON i.code = s.code WHERE i.weight < 3 AND i.code < ''d'' GROUP BY i.chapter, p.region, i.code', 10),
('beside a derived key', 'SELECT s.n * 2 AS k, i.chapter, i.floor, count(*) AS x FROM sale_dp s JOIN item i ON i.code = s.code GROUP BY 1, i.chapter, i.floor', 10),
('one table under two names', 'SELECT a.code, a.chapter, b.code AS next, b.chapter AS following, count(*) AS x FROM sale_dp s JOIN item a ON a.code = s.code JOIN item b ON b.code = a.next GROUP BY a.code, a.chapter, b.code, b.chapter', 10),
('two tables', 'SELECT i.code, i.floor, c.whole, c.twice, count(*) AS x FROM sale_dp s JOIN item i ON i.code = s.code JOIN code c ON c.code = i.code GROUP BY 1, 2, 3, 4', 10),
('sums and people', 'SELECT i.code, i.chapter, sum(s.n * i.weight) AS x, count(DISTINCT s.person) AS y FROM sale_dp s JOIN item i ON i.code = s.code GROUP BY i.code, i.chapter', 200),
('all of a row', 'SELECT i.code, i.chapter, i.floor, i.next, i.weight, count(*) AS x FROM sale_dp s JOIN item i ON i.code = s.code GROUP BY i.code, i.chapter, i.floor, i.next, i.weight', 10),
('follows from a key', 'SELECT i.code, upper(i.chapter) AS d, i.floor, count(*) AS x FROM sale_dp s JOIN item i ON i.code = s.code GROUP BY i.code', 10),
('follows, unseen', 'SELECT i.code, count(*) AS x FROM sale_dp s JOIN item i ON i.code = s.code GROUP BY i.code HAVING i.weight < 5 OR i.chapter IS NULL ORDER BY i.floor', 10),
('follows, nullable side', 'SELECT i.next, i.code, count(*) AS x FROM sale_dp s LEFT JOIN item i ON i.code = s.code GROUP BY i.code', 10),
('follows beside others', 'SELECT p.region, i.chapter, i.weight * 2 + 1 AS w, i.code, count(*) AS x FROM sale_dp s JOIN person_dp p ON p.person = s.person JOIN item i ON i.code = s.code GROUP BY i.code, p.region, i.weight * 2', 10),
('follows beside a part', 'SELECT i.code, i.chapter, t.id / 3000 AS t, sum(t.b) AS x FROM sale_dp s JOIN item i ON i.code = s.code JOIN thing t ON t.id = s.sale GROUP BY i.code, t.id / 3000', 200000),
('follows, DISTINCT', 'SELECT DISTINCT i.code, i.chapter, count(*) AS x FROM sale_dp s JOIN item i ON i.code = s.code GROUP BY i.code', 10),
('places without end', 'SELECT t.id, t.name, t.a, t.b, count(*) AS x FROM sale_dp s JOIN thing t ON t.id = s.sale GROUP BY t.id, t.name, t.a, t.b', 10),
('and other keys', 'SELECT p.region, t.name, t.id, sum(s.n) AS x FROM sale_dp s JOIN person_dp p ON p.person = s.person JOIN thing t ON t.id = s.sale WHERE t.id BETWEEN 1900 AND 2100 GROUP BY 1, 2, 3', 20),
('a million places', 'SELECT w.a, w.b, count(*) AS x FROM sale_dp s JOIN wide w ON w.code = s.code GROUP BY w.a, w.b', 10),
('eight sources', 'SELECT a.code, a.chapter, g.weight, count(*) AS x FROM sale_dp s JOIN person_dp p ON p.person = s.person JOIN item a ON a.code = s.code JOIN item b ON b.code = a.code
    JOIN item c ON c.code = b.code JOIN item d ON d.code = c.code JOIN item e ON e.code = d.code JOIN mat g ON g.code = e.code GROUP BY 1, 2, 3', 10),
('sums', 'SELECT sum(c.whole) AS x, sum(s.n * c.part) AS y FROM sale_dp s JOIN code c ON c.code = s.code', 1000),
('averages', 'SELECT avg(c.below) AS x, stddev_pop(c.small) AS y, avg(c.exact) AS z FROM sale_dp s JOIN code c ON c.code = s.code', 0.5);
GRANT SELECT ON asked TO regress_analyst;
-- A row as text without its numbers, and these.
CREATE FUNCTION split(answer json, OUT key text, OUT numbers numeric[]) LANGUAGE sql AS $$
    SELECT coalesce(string_agg(coalesce(regexp_replace(value, '\.0+$', ''), 'NULL'), ' ' ORDER BY key) FILTER (WHERE key NOT IN ('x', 'y', 'z')), ''), array_agg(value::numeric ORDER BY key) FILTER (WHERE key IN ('x', 'y', 'z'))
    FROM json_each_text(answer) $$;
CREATE TABLE answered (name text, answer json);
GRANT INSERT ON answered TO regress_analyst;
CREATE TABLE reference (name text, answer json);
CREATE FUNCTION ask(into_table regclass, plain boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    a pv.asked;
BEGIN
    FOR a IN SELECT * FROM pv.asked ORDER BY name LOOP
        EXECUTE format('INSERT INTO %s SELECT %L, row_to_json(q) FROM (%s) q', into_table, a.name, CASE WHEN plain THEN replace(a.query, '_dp', '') ELSE a.query END);
    END LOOP;
END $$;
SELECT ask('reference', true);
SET ROLE regress_analyst;
SELECT ask('answered', false);
SET ROLE regress_controller;
-- Each group of plain SQL is there, but for that of a long text and those with c8's and c9's NULL; and each number is near.
SELECT name, count(*) AS groups, count(r.key) AS with_rows,
       bool_and((SELECT bool_and(abs(x - y) <= slack) FROM unnest(a.numbers, coalesce(r.numbers, '{0,0,0}')) u(x, y) WHERE x IS NOT NULL)) AS near
FROM asked q JOIN (SELECT name, s.* FROM answered, split(answer) s) a USING (name) LEFT JOIN (SELECT name, s.* FROM reference, split(answer) s) r USING (name, key) GROUP BY name ORDER BY name COLLATE "C";
SELECT name, r.key AS in_plain_alone FROM (SELECT name, s.* FROM reference, split(answer) s) r WHERE NOT EXISTS (SELECT FROM answered, split(answer) s WHERE answered.name = r.name AND s.key = r.key) ORDER BY 1, 2;
SELECT name, a.key AS in_answer_alone FROM (SELECT name, s.* FROM answered, split(answer) s) a
WHERE name IN ('tuples', 'NULL and NaN in them', 'a condition on a key', 'the nullable side', 'the nullable side of some', 'all of a row', 'follows from a key', 'follows, nullable side', 'follows, DISTINCT')
  AND NOT EXISTS (SELECT FROM reference, split(answer) s WHERE reference.name = a.name AND s.key = a.key) ORDER BY 1, 2;
SET ROLE regress_analyst;
-- What follows from a key is one of the keys; not so where another statement would come of it.
SELECT left(statement, 150) AS statement, attempt(statement) FROM (VALUES
    ('SELECT i.chapter, count(*) FROM sale_dp s JOIN item i ON i.code = s.code GROUP BY i.code, ROLLUP (i.weight)'),
    ('SELECT DISTINCT upper(i.chapter), count(*) FROM sale_dp s JOIN item i ON i.code = s.code GROUP BY i.code'),
    ('SELECT (SELECT max(w.weight) FROM item w WHERE w.next = i.next), count(*) FROM sale_dp s JOIN item i ON i.code = s.code GROUP BY i.code'),
    ((SELECT 'SELECT ' || string_agg('b.c' || i, ', ') || ', count(*) FROM sale_dp s JOIN broad b ON b.c1 = s.n GROUP BY b.c1' FROM generate_series(1, 1500) i)),
    ('SELECT i.papers, count(*) FROM sale_dp s JOIN paper i ON i.code = s.code GROUP BY i.code'),
    ('SELECT i, count(*) FROM sale_dp s JOIN item i ON i.code = s.code GROUP BY i.code'),
    ('SELECT i.ctid, count(*) FROM sale_dp s JOIN item i ON i.code = s.code GROUP BY i.code'),
    ('SELECT i.chapter, count(*) FROM sale_dp s JOIN item i ON i.code = s.code GROUP BY s.code'),
    ('SELECT w.id, count(*) FROM sale_dp s JOIN item i ON i.code = s.code, (SELECT code AS id FROM item) w GROUP BY i.code')) v (statement);
-- As a list: it costs nothing.
SELECT DISTINCT i.chapter, i.floor FROM sale_dp s JOIN item i ON i.code = s.code ORDER BY 1, 2;
-- Limits, before the charge: places, tuples, numbers. With a derived key groups of that size are discovered.
SET ROLE regress_controller;
CREATE FUNCTION leaves(query text, OUT threshold boolean, OUT reason text) LANGUAGE sql AS $$ SELECT e.threshold IS NOT NULL, e.reason FROM dp_explain(query) e LIMIT 1 $$;
INSERT INTO wide SELECT 'd' || i, 1, 1, i % 101, i / 101 FROM generate_series(0, 10099) i;
SET ROLE regress_analyst;
SELECT query, attempt(query) FROM unnest(ARRAY[
'SELECT w.c, w.d, count(*) FROM sale_dp s JOIN wide w ON w.code = s.code GROUP BY w.c, w.d',
'SELECT w.c, w.d, count(*) FROM sale_dp s JOIN wide w ON w.code = s.code WHERE w.c = 1 GROUP BY w.c, w.d']) query;
SET ROLE regress_controller;
DELETE FROM wide WHERE d > 98 OR code = 'd0';
SET ROLE regress_analyst;
SELECT query, attempt(query) FROM unnest(ARRAY[
'SELECT w.c, w.d, count(*) FROM sale_dp s JOIN wide w ON w.code = s.code GROUP BY w.c, w.d',
'SELECT w.c, w.d, count(*), sum(s.n) FROM sale_dp s JOIN wide w ON w.code = s.code GROUP BY w.c, w.d',
'SELECT w.c, w.d, count(*), sum(s.n) FROM sale_dp s JOIN wide w ON w.code = s.code WHERE w.c < 20 GROUP BY w.c, w.d']) query;
SELECT leaves('SELECT w.c, w.d, count(*) FROM sale_dp s JOIN wide w ON w.code = s.code GROUP BY w.c, w.d') AS declared,
       leaves('SELECT w.c, w.d, s.n + 1, count(*) FROM sale_dp s JOIN wide w ON w.code = s.code GROUP BY 1, 2, 3') AS discovered;
SELECT c, d, k, n > 100 AS many FROM (SELECT c, d, k, count(*) AS n FROM (SELECT w.c, w.d, s.n + 1 AS k FROM sale_dp s JOIN wide w ON w.code = s.code) x GROUP BY c, d, k) y WHERE c = 1 ORDER BY 1, 2, 3;
SET ROLE regress_controller;
INSERT INTO wide SELECT 'e' || i, 10000 + i, 10000 + i, 0, 0 FROM generate_series(1, 100) i;
SET ROLE regress_analyst;
SELECT query, attempt(query) FROM unnest(ARRAY[
'SELECT w.a, w.b, count(*) FROM sale_dp s JOIN wide w ON w.code = s.code GROUP BY w.a, w.b',
'SELECT t.id, t.name, count(*) FROM sale_dp s JOIN thing t ON t.id = s.sale GROUP BY t.id, t.name',
'SELECT t.id, t.name, t.a, t.b, t.c, count(*) FROM sale_dp s JOIN thing t ON t.id = s.sale GROUP BY t.id, t.name, t.a, t.b, t.c',
'SELECT t.id, t.name, u.a, u.b, count(*) FROM sale_dp s JOIN thing t ON t.id = s.sale JOIN thing u ON u.id = t.id WHERE t.id < 10 AND u.a > -10 GROUP BY t.id, t.name, u.a, u.b']) query;
SELECT count(*) AS tuples FROM (SELECT DISTINCT t.id, t.name FROM sale_dp s JOIN thing t ON t.id = s.sale) x;
-- Without rows, and with all excluded.
SELECT e.n, count(*) FROM sale_dp s JOIN nothing e ON e.code = s.code GROUP BY e.n;
SELECT e.n, e.m, count(*) FROM sale_dp s JOIN nothing e ON e.code = s.code GROUP BY e.n, e.m;
SELECT e.n, e.m, count(*) > 1500 AS many FROM sale_dp s LEFT JOIN nothing e ON e.code = s.code GROUP BY e.n, e.m;
SELECT attempt('SELECT i.code, i.chapter, count(*) FROM sale_dp s JOIN item i ON i.code = s.code WHERE i.code = ''c1'' AND i.chapter = ''lung'' GROUP BY i.code, i.chapter');
-- A tuple that the table gets or loses makes another question, as does a value beyond the bounds; the same one is not charged twice.
RESET ROLE;
SELECT dp_grant(v, 'regress_analyst', replay => '1 day') FROM unnest('{person_dp,sale_dp}'::regclass[]) v;
CREATE FUNCTION charges() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS $$
    SELECT count(*) FROM dp_rdr.ledger_row r JOIN dp_rdr.protected_table t ON t.domain = r.table_id WHERE t.relation = 'pv.sale'::regclass $$;
GRANT EXECUTE ON FUNCTION charges() TO regress_analyst;
CREATE FUNCTION charged(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    before bigint := pv.charges();
BEGIN
    EXECUTE query;
    RETURN pv.charges() - before;
END $$;
CREATE TABLE again (query text);
INSERT INTO again VALUES ('SELECT i.code, i.chapter, count(*) FROM sale_dp s JOIN item i ON i.code = s.code GROUP BY i.code, i.chapter'),
('SELECT sum(i.weight) FROM sale_dp s JOIN item i ON i.code = s.code');
GRANT SELECT ON again TO regress_analyst;
SET ROLE regress_analyst;
SELECT charged(query) AS first, query FROM again;
SELECT charged(query) AS once_more, query FROM again;
SET ROLE regress_controller;
UPDATE item SET chapter = CASE code WHEN 'c1' THEN 'lung' ELSE 'heart' END WHERE code IN ('c1', 'c8'); -- the same values, the same number of tuples
SET ROLE regress_analyst;
SELECT charged(query) AS other_tuples, query FROM again;
SET ROLE regress_controller;
UPDATE item SET weight = 100 WHERE code = 'never';
SET ROLE regress_analyst;
SELECT charged(query) AS other_bounds, query FROM again;
-- Other values between the same bounds are not met until the answer is forgotten, or drawn anew.
SET ROLE regress_controller;
UPDATE item SET weight = 50 WHERE code = 'c2';
SET ROLE regress_analyst;
SELECT charged(query) AS other_values, query FROM again;
SELECT charged(format('SELECT * FROM dp_query(%L, replay => false) AS (x bigint)', query)) AS anew FROM again WHERE query ~ 'sum';
-- Neither is looked up where the table is no longer fit.
SET ROLE regress_controller;
ALTER TABLE item ENABLE ROW LEVEL SECURITY;
SET ROLE regress_analyst;
SELECT attempt(query) AS secured FROM again;
SET ROLE regress_controller;
ALTER TABLE item DISABLE ROW LEVEL SECURITY;
REVOKE SELECT ON item FROM regress_analyst;
GRANT SELECT (code, chapter) ON item TO regress_analyst;
SET ROLE regress_analyst;
SELECT attempt(query) AS of_some_columns FROM again;
SET ROLE regress_controller;
GRANT SELECT ON item TO regress_analyst;

-- What was measured before is refined where nothing of this has changed, and else not mixed with what is measured now.
SET ROLE regress_controller;
CREATE TABLE guest (guest integer PRIMARY KEY, code text);
INSERT INTO guest SELECT i, 'c' || i % 10 FROM generate_series(1, 5000) i;
SELECT dp_protect('guest', 'guest_dp', unit => 'guest'), dp_set_public('item', 'guest');
SELECT dp_set_odometer('guest', 'zcdp', epsilon_total => 50, delta_total => 1e-3), dp_grant('guest_dp', 'regress_analyst', tau => 0.5, delta => 1e-8);
SET ROLE regress_analyst;
CREATE FUNCTION pg_temp.refined(error95 integer, again boolean) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    IF again THEN
        PERFORM * FROM dp_refine(error95 => $1) AS (code text, chapter text, n bigint);
    ELSE
        PERFORM * FROM dp_query('SELECT i.code, i.chapter, sum(i.weight) FROM guest_dp g JOIN item i ON i.code = g.code GROUP BY i.code, i.chapter', error95 => $1) AS (code text, chapter text, n bigint);
    END IF;
    RETURN 'answered';
EXCEPTION WHEN OTHERS THEN
    RETURN sqlerrm;
END $$;
SELECT pg_temp.refined(30000, false) AS first, pg_temp.refined(25000, true) AS again;
SET ROLE regress_controller;
UPDATE item SET chapter = CASE code WHEN 'c2' THEN 'lung' ELSE 'heart' END WHERE code IN ('c1', 'c2');
SET ROLE regress_analyst;
SELECT pg_temp.refined(20000, true) AS other_tuples, pg_temp.refined(30000, false) AS anew;
SET ROLE regress_controller;
UPDATE item SET weight = 90 WHERE code = 'never';
SET ROLE regress_analyst;
SELECT pg_temp.refined(20000, true) AS other_bounds;

-- ---------------------------------------------------------------------------------------------------------------------
-- Keys of rows as groups: each would be of one person
-- ---------------------------------------------------------------------------------------------------------------------

SELECT query, attempt(query) FROM unnest(ARRAY[
'SELECT sale, count(*) FROM sale_dp GROUP BY sale',
'SELECT till, shift, line, sum(n) FROM sale_dp GROUP BY till, shift, line',
'SELECT sale, n, count(*) FROM sale_dp GROUP BY sale, n',
'SELECT avg(n) FROM (SELECT sale, sum(n) AS n FROM sale_dp GROUP BY sale) x',
'SELECT s.sale, p.region, count(*) FROM sale_dp s JOIN person_dp p ON p.person = s.person GROUP BY s.sale, p.region',
'SELECT s.sale, i.chapter, count(*) FROM sale_dp s JOIN item i ON i.code = s.code GROUP BY s.sale, i.chapter',
'SELECT * FROM dp_explain(''SELECT sale, count(*) FROM sale_dp GROUP BY sale'')',
-- Not those, where others are as well.
'SELECT till, shift, count(*) FROM sale_dp GROUP BY till, shift',
'SELECT receipt, count(*) FROM sale_dp GROUP BY receipt',
'SELECT sale / 1000, count(*) FROM sale_dp GROUP BY 1',
'SELECT s.sale, count(*) FROM person_dp p LEFT JOIN sale_dp s ON s.person = p.person GROUP BY s.sale']) query;
SELECT receipt, count(*) > 1900 AS many FROM sale_dp GROUP BY receipt;
SELECT s.sale, count(*) BETWEEN 90 AND 110 AS without FROM person_dp p LEFT JOIN sale_dp s ON s.person = p.person GROUP BY s.sale;
\set VERBOSITY default
SELECT sale, sum(n) FROM sale_dp GROUP BY sale;
SELECT till, shift, line, sum(n) FROM sale_dp GROUP BY till, shift, line;
SELECT sum(c.vast) FROM sale_dp s JOIN code c ON c.code = s.code;
SELECT max(c.forever) FROM sale_dp s JOIN code c ON c.code = s.code;
\set VERBOSITY terse
-- What is unique has no groups.
SET ROLE regress_controller;
SELECT dp_set_groups('sale', 'sale', '{1,2,3}');
SET ROLE regress_analyst;
