-- min and max of one person's texts, moments, times and enums in a sub-SELECT with one row for each person. Limits are ample, and noise is
-- small at epsilon 100: answers are those of plain SQL over the tables (as in per_unit.sql).
\set VERBOSITY default
LOAD 'dp_rdr';
RESET ROLE;
CREATE COLLATION px_any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
SET ROLE regress_controller;
CREATE TYPE px_size AS ENUM ('small', 'large');
ALTER TYPE px_size ADD VALUE 'medium' BEFORE 'large'; -- in no order of oids
CREATE DOMAIN px_word AS text;
CREATE TABLE px_patient (pid integer PRIMARY KEY, sex text);
INSERT INTO px_patient SELECT i, CASE WHEN i % 3 = 0 THEN 'f' ELSE 'm' END FROM generate_series(1, 700) i;
CREATE TABLE px_order (oid integer PRIMARY KEY, pid integer, coupon text, channel varchar(20), word px_word, tag char(6), loose bpchar, name text COLLATE "und-x-icu",
                       folded text COLLATE px_any_case, size px_size, at timestamptz, tod time, zoned timetz, day date, note text, lines integer);
-- People of odd numbers have their rows in the reverse order: of values that compare equal, or nearly so, either comes first.
INSERT INTO px_order
SELECT p * 10 + k, p, (ARRAY[NULL, 'SPRING', 'SUMMER', 'VIP', NULL, ''])[1 + p * v % 6], (ARRAY['web', 'shop', 'phone'])[1 + (p + v) % 3], (ARRAY['x', 'y', NULL])[1 + (p * v) % 3],
       (ARRAY['a', 'b ', 'B'])[1 + (p + v) % 3], 'w' || repeat(' ', v % 3), (ARRAY['alpha', 'Beta', 'gamma', E'Zo\u00e9', E'Zoe\u0301'])[1 + (p / 2 + v) % 5], 'Ab' || v,
       (ARRAY['small', 'medium', 'large', NULL])[1 + (p / 3 * v) % 4]::px_size, CASE WHEN p % 50 = 1 THEN '-infinity' WHEN p % 50 = 2 AND v = 2 THEN 'infinity'
       ELSE timestamptz '2024-01-01 00:30:00+02' + interval '31 days' * v + interval '1 hour' * (p % 7) END, time '06:00' + interval '1 hour' * ((p + v) % 5),
       CASE WHEN v % 2 = 0 THEN timetz '12:00+00' ELSE timetz '14:00+02' END, date '2024-01-01' + (p * 13 + v * 31) % 360,
       CASE p % 4 WHEN 0 THEN repeat('x', 1000) WHEN 1 THEN repeat('y', 1001) WHEN 2 THEN CASE WHEN v = 1 THEN 'a' ELSE repeat('z', 500000) END END, v
FROM generate_series(1, 700) p, generate_series(1, 6) k, LATERAL (SELECT CASE WHEN p % 2 = 0 THEN k ELSE 7 - k END AS v) o WHERE v <= p % 7;
SELECT dp_protect('px_patient', 'px_patient_dp', unit => 'pid');
SELECT dp_protect('px_order', 'px_order_dp', unit => 'pid -> px_patient(pid)', max_rows => 10);
SELECT dp_set_bounds('px_order', 'lines', 0, 10), dp_set_bounds('px_order', 'day', date '2024-01-01', date '2024-12-31'), dp_set_groups('px_order', 'coupon', '{SPRING,SUMMER,VIP,""}'),
       dp_set_groups('px_order', 'channel', '{web,shop,phone}'), dp_set_groups('px_order', 'tag', '{a,b,B}'), dp_set_groups('px_order', 'name', E'{alpha,Beta,gamma,Zo\u00e9,Zoe\u0301}'),
       dp_set_groups('px_order', 'word', '{x,y}'), dp_set_groups('px_patient', 'sex', '{f,m}');
SELECT dp_set_odometer('px_patient', 'none', delta_total => 0.9);
-- With replay: questions that differ in a collation alone must be different ones.
SELECT dp_grant(v, 'regress_analyst', tau => 0, candidates => '{100}', epsilon_max => 100, delta => 1e-6, replay => '1 day') FROM unnest('{px_patient_dp,px_order_dp}'::regclass[]) v;

-- ---------------------------------------------------------------------------------------------------------------------
-- What plain SQL says
-- ---------------------------------------------------------------------------------------------------------------------

-- query: columns g and x, over the tables where _dp is taken away. measures: that share epsilon. groups: how many there are, where they are declared or derived.
CREATE TABLE px_query (name text PRIMARY KEY, query text, measures integer, groups integer);
INSERT INTO px_query VALUES
('some value below', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT pid FROM px_order_dp GROUP BY pid HAVING count(*) = 1 AND max(coupon) IS NOT NULL) t', 1, 1),
('which value below', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT pid FROM px_order_dp GROUP BY pid HAVING max(coupon) = ''VIP'') t', 1, 1),
('which value above', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT pid, min(coupon) AS first FROM px_order_dp GROUP BY pid) t WHERE first IN (''SPRING'', '''')', 1, 1),
('greatest', 'SELECT last AS g, count(*) AS x FROM (SELECT pid, max(coupon) AS last FROM px_order_dp GROUP BY 1) t GROUP BY last', 1, 5),
('least', 'SELECT first AS g, count(*) AS x FROM (SELECT pid, min(coupon) AS first FROM px_order_dp GROUP BY 1) t GROUP BY first', 1, 5),
('with a number', 'SELECT last AS g, sum(n) AS x FROM (SELECT pid, max(coupon) AS last, count(*) AS n FROM px_order_dp GROUP BY 1) t GROUP BY last', 1, 5),
('an expression of it', 'SELECT g, count(*) AS x FROM (SELECT pid, coalesce(lower(max(coupon)), ''none'') AS g FROM px_order_dp GROUP BY 1) t GROUP BY g', 1, 5),
('a test of it', 'SELECT g::text AS g, count(*) AS x FROM (SELECT pid, max(coupon) IS NULL AS g FROM px_order_dp GROUP BY 1) t GROUP BY g', 1, 2),
('shown where asked for', 'SELECT last AS g, count(*) AS x FROM (SELECT pid, max(coupon) AS last FROM px_order_dp GROUP BY 1) t WHERE last LIKE ''S%'' GROUP BY last', 1, 2),
('of some rows', 'SELECT last AS g, count(*) AS x FROM (SELECT pid, max(coupon) FILTER (WHERE lines > 3) AS last FROM px_order_dp GROUP BY 1) t GROUP BY last', 1, 5),
('both', 'SELECT NULL::text AS g, count(*) FILTER (WHERE a = b) AS x FROM (SELECT pid, min(coupon) AS a, max(coupon) AS b FROM px_order_dp GROUP BY 1) t', 1, 1),
('both as keys', 'SELECT a || ''-'' || b AS g, x FROM (SELECT a, b, count(*) AS x FROM (SELECT pid, min(channel) AS a, max(channel) AS b FROM px_order_dp GROUP BY 1) t GROUP BY a, b) q', 1, NULL),
('a domain', 'SELECT g, count(*) AS x FROM (SELECT pid, max(word) AS g FROM px_order_dp GROUP BY 1) t GROUP BY g', 1, 3),
('an expression below', 'SELECT g, count(*) AS x FROM (SELECT pid, max(left(channel, 1)) AS g FROM px_order_dp GROUP BY 1) t GROUP BY g', 1, NULL),
('nobody declared it', 'SELECT g, count(*) AS x FROM (SELECT pid, max(loose::text) AS g FROM px_order_dp GROUP BY 1) t GROUP BY g', 1, NULL),
('how many different', 'SELECT NULL::text AS g, count(DISTINCT last) * 1000 AS x FROM (SELECT pid, max(coupon) AS last FROM px_order_dp GROUP BY 1) t', 1, 1),
('joined', 'SELECT sex AS g, count(*) FILTER (WHERE last = ''web'') AS x FROM (SELECT p.pid, p.sex, max(o.channel) AS last FROM px_patient_dp p JOIN px_order_dp o ON o.pid = p.pid GROUP BY 1, 2) t GROUP BY sex', 1, 2),
('nothing to compare', 'SELECT last AS g, count(*) AS x FROM (SELECT p.pid, min(o.channel) AS last FROM px_patient_dp p LEFT JOIN px_order_dp o ON o.pid = p.pid GROUP BY 1) t GROUP BY last', 1, 4),
('padded', 'SELECT g::text AS g, count(*) AS x FROM (SELECT pid, max(tag::text) AS g FROM px_order_dp GROUP BY 1) t GROUP BY g', 1, NULL),
('padded by characters', 'SELECT NULL::text AS g, sum(least(greatest(octet_length(g), 0), 20)) AS x FROM (SELECT pid, max(tag::text) AS g FROM px_order_dp GROUP BY 1) t', 1, 1),
('enums', 'SELECT g::text AS g, count(*) AS x FROM (SELECT pid, max(size) AS g FROM px_order_dp GROUP BY 1) t GROUP BY g', 1, 4),
('enums compared', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT pid, min(size) AS g FROM px_order_dp GROUP BY 1) t WHERE g < ''large''', 1, 1),
('moments', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT pid, max(at) AS g FROM px_order_dp GROUP BY 1) t WHERE g >= ''2024-05-01 00:00:00+00''', 1, 1),
('moments in a zone', 'SELECT g::text AS g, count(*) AS x FROM (SELECT pid, extract(month FROM min(at) AT TIME ZONE ''Asia/Tokyo'') AS g FROM px_order_dp WHERE at BETWEEN ''2024-01-01'' AND ''2025-01-01'' GROUP BY 1) t GROUP BY g', 1, 13),
('days that nobody declared', 'SELECT g::text AS g, count(*) AS x FROM (SELECT pid, (max(at) AT TIME ZONE ''UTC'')::date AS g FROM px_order_dp GROUP BY 1) t GROUP BY g', 1, NULL),
('moments with ends', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT pid, max(day::timestamptz) AS g FROM px_order_dp GROUP BY 1) t WHERE g > ''2024-10-01 12:00:00+00''', 1, 1),
('how long', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT pid, max(at) - min(at) AS d FROM px_order_dp WHERE at BETWEEN ''2024-01-01'' AND ''2025-01-01'' GROUP BY 1) t WHERE d > ''100 days''', 1, 1),
('times', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT pid, min(tod) AS g FROM px_order_dp GROUP BY 1) t WHERE g <= ''08:00''', 1, 1),
('times that nobody declared', 'SELECT g::text AS g, count(*) AS x FROM (SELECT pid, max(tod) AS g FROM px_order_dp GROUP BY 1) t GROUP BY g', 1, NULL),
('times with zones', 'SELECT g::text AS g, count(*) AS x FROM (SELECT pid, max(zoned) AS g FROM px_order_dp GROUP BY 1) t GROUP BY g', 1, NULL),
('in the order of a language', 'SELECT g COLLATE "C" AS g, count(*) AS x FROM (SELECT pid, max(name) AS g FROM px_order_dp GROUP BY 1) t GROUP BY g', 1, 6),
('in the order of bytes', 'SELECT g, count(*) AS x FROM (SELECT pid, max(name COLLATE "C") AS g FROM px_order_dp GROUP BY 1) t GROUP BY g', 1, 6),
('one order', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT pid, min(name) AS g FROM px_order_dp GROUP BY 1) t WHERE g = ''Beta''', 1, 1),
('another order', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT pid, min(name COLLATE "C") AS g FROM px_order_dp GROUP BY 1) t WHERE g = ''Beta''', 1, 1),
('without a case that counts', 'SELECT NULL::text AS g, count(*) AS x FROM (SELECT pid, max(folded COLLATE "C") AS g FROM px_order_dp GROUP BY 1) t WHERE g = ''Ab3''', 1, 1);
CREATE TABLE px_reference (name text, g text, x numeric);
DO $$
DECLARE
    q px_query;
BEGIN
    FOR q IN SELECT * FROM px_query LOOP
        EXECUTE format('INSERT INTO px_reference SELECT %L, * FROM (%s) q', q.name, replace(q.query, '_dp', ''));
    END LOOP;
END $$;
GRANT SELECT ON px_query TO regress_analyst;
CREATE TABLE px_answer (name text, g text, x numeric);
GRANT INSERT ON px_answer TO regress_analyst;
SET ROLE regress_analyst;
DO $$
DECLARE
    q px_query;
BEGIN
    FOR q IN SELECT * FROM px_query LOOP
        EXECUTE format('INSERT INTO px_answer SELECT %L, * FROM (%s) q', q.name, q.query);
    END LOOP;
END $$;
SET ROLE regress_controller;
SELECT a.name, count(*) FILTER (WHERE r.x IS NOT NULL) AS groups, count(*) FILTER (WHERE r.x IS NULL) AS empty, count(*) = max(q.groups) AS all_groups,
       bool_and(abs(a.x - coalesce(r.x, 0)) <= CASE WHEN a.name ~ 'octet|padded by|with a number|different' THEN 45 ELSE 4 END * measures) AS agree
FROM px_query q NATURAL JOIN px_answer a LEFT JOIN px_reference r ON r.name = a.name AND r.g IS NOT DISTINCT FROM a.g GROUP BY 1 ORDER BY a.name COLLATE "C";
-- No group of the reference is missing, and they say something: what is counted is far more than the noise.
SELECT r.name, r.g FROM px_reference r LEFT JOIN px_answer a ON r.name = a.name AND r.g IS NOT DISTINCT FROM a.g WHERE a.name IS NULL;
SELECT count(*) AS queries, count(*) FILTER (WHERE most > 15) AS far FROM (SELECT name, max(x) AS most FROM px_reference GROUP BY name) r;
SELECT count(*) AS two_orders FROM (SELECT x FROM px_reference WHERE name ~ 'one order' INTERSECT SELECT x FROM px_reference WHERE name ~ 'another order') r;

-- ---------------------------------------------------------------------------------------------------------------------
-- What nobody declared, what is too long, what looks different
-- ---------------------------------------------------------------------------------------------------------------------

-- Whose greatest value nobody declared is in no group.
INSERT INTO px_order (oid, pid, coupon) SELECT 10000 + i, i, 'ZZ' || i % 2 FROM generate_series(1, 300) i;
SELECT count(*) AS declared FROM (SELECT pid FROM px_order GROUP BY pid HAVING max(coupon) !~ '^ZZ') t \gset
SET ROLE regress_analyst;
SELECT count(*) AS groups, abs(sum(x) FILTER (WHERE last IS NOT NULL) - :declared) < 16 AS people
FROM (SELECT last, count(*) AS x, sum(n) AS n FROM (SELECT pid, max(coupon) AS last, count(*) AS n FROM px_order_dp GROUP BY 1) t GROUP BY last) q;
SET ROLE regress_controller;
DELETE FROM px_order WHERE oid > 10000;
-- A text of more than a thousand bytes is as if it were not there, wherever it is stored; nobody has only such ones but those who have NULL.
SELECT p % 4 AS kind, count(*) FILTER (WHERE p % 7 > 0) AS people FROM generate_series(1, 700) p GROUP BY 1 ORDER BY 1;
SET ROLE regress_analyst;
SELECT abs(a - 150) < 4 AS thousand, abs(b - 150) < 4 AS short, abs(c - 300) < 4 AS nothing
FROM (SELECT count(*) FILTER (WHERE length(n) = 1000) AS a, count(*) FILTER (WHERE n = 'a') AS b, count(*) FILTER (WHERE n IS NULL) AS c FROM (SELECT pid, max(note) AS n FROM px_order_dp GROUP BY 1) t) q;
-- Many of them: people are sorted rather than hashed, and say the same.
SELECT abs(a - 300) < 4 AS many
FROM (SELECT count(*) FILTER (WHERE a || b || c || d || e || f IS NOT NULL) AS a
      FROM (SELECT pid, max(note) AS a, min(note) AS b, max(note || '') AS c, min(note || '') AS d, max(upper(note)) AS e, min(lower(note)) AS f FROM px_order_dp GROUP BY 1) t) q;
-- Under the rules of a language comparing takes longer, and fewer fit.
SELECT attempt(format('SELECT count(*) FROM (SELECT pid FROM px_order_dp GROUP BY pid HAVING %s) t', string_agg(format('max((coupon || %s) COLLATE "und-x-icu") > ''''', i), ' AND '))) FROM generate_series(1, 200) i;
-- Of equal char(n) in several spellings the first one that is met would be the answer: without blanks there is one.
SET ROLE regress_controller;
CREATE TABLE px_spelling (pid integer, place integer, t bpchar, w char(300));
INSERT INTO px_spelling SELECT i, k, 'same' || repeat(' ', CASE WHEN i % 2 = 0 THEN k ELSE 4 - k END), 'wide' FROM generate_series(1, 400) i, generate_series(1, 3) k ORDER BY i, k;
SELECT dp_protect('px_spelling', 'px_spelling_dp', unit => 'pid', max_rows => 5);
SELECT dp_set_odometer('px_spelling', 'none', delta_total => 0.9), dp_grant('px_spelling_dp', 'regress_analyst', tau => 0, candidates => '{100}', epsilon_max => 100, delta => 1e-6);
SET ROLE regress_analyst;
SELECT octet_length(t) AS bytes, abs(n - 400) < 4 AS people FROM (SELECT t, count(*) AS n FROM (SELECT pid, max(t::text) AS t FROM px_spelling_dp GROUP BY pid) s GROUP BY t) q;
SELECT attempt('SELECT count(*) FROM (SELECT pid, max(t) AS t FROM px_spelling_dp GROUP BY pid) s WHERE t IS NOT NULL'),
       attempt('SELECT count(*) FROM (SELECT pid FROM px_spelling_dp GROUP BY pid HAVING min(w) > ''a'') s');
SET ROLE regress_controller;

-- ---------------------------------------------------------------------------------------------------------------------
-- What is said beforehand
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_analyst;
SELECT column_name, accepted, reason, error95, unit, max_rows, max_groups
FROM unnest(ARRAY['SELECT last, count(*) FROM (SELECT pid, max(lower(coupon)) AS last FROM px_order_dp GROUP BY 1) t GROUP BY last',
                  'SELECT last, count(*) FROM (SELECT pid, max(coupon) AS last FROM px_order_dp WHERE lines > 1 GROUP BY 1) t GROUP BY last',
                  'SELECT g, count(*) FROM (SELECT pid, min(loose::text) AS g FROM px_order_dp GROUP BY 1) t GROUP BY g']) WITH ORDINALITY a (query, i), dp_explain(query) e
ORDER BY i;
PREPARE px_which(text, text) AS SELECT count(*) AS x FROM (SELECT pid FROM px_order_dp GROUP BY pid HAVING max(coupon) = $1 AND min(coalesce(coupon, $2)) = $2) t;
EXECUTE px_which('VIP', 'A') \gset
DEALLOCATE px_which;
SET ROLE regress_controller;
SELECT abs(count(*) - :x) < 4 AS parameters, count(*) > 20 AS some FROM (SELECT pid FROM px_order GROUP BY pid HAVING max(coupon) = 'VIP' AND min(coalesce(coupon, 'A')) = 'A') t;
-- Risks are those of people: each by himself, and a hundred together who have no row.
SELECT count(*) AS people, max(individuals) AS together FROM dp_risk_records('SELECT last, count(*) FROM (SELECT pid, max(coupon) AS last FROM px_order_dp GROUP BY 1) t GROUP BY last', 1);

-- ---------------------------------------------------------------------------------------------------------------------
-- Refused, before anything is charged
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_controller;
SELECT count(*) AS charged FROM dp_rdr.ledger \gset
SET ROLE regress_analyst;
SELECT count(x) FROM (SELECT pid, max(folded) AS x FROM px_order_dp GROUP BY pid) t;
SELECT count(x) FROM (SELECT pid, max(coalesce(name, folded)) AS x FROM px_order_dp GROUP BY pid) t;
SELECT count(*) FROM (SELECT pid FROM px_order_dp GROUP BY pid HAVING max(name) > max(folded)) t;
SELECT count(x) FROM (SELECT pid, max(coupon COLLATE px_any_case) AS x FROM px_order_dp GROUP BY pid) t;
SELECT count(x) FROM (SELECT pid, max(at - '2024-01-01'::timestamptz) AS x FROM px_order_dp GROUP BY pid) t;
SELECT count(x) FROM (SELECT pid, max(ARRAY[coupon]) AS x FROM px_order_dp GROUP BY pid) t;
SELECT count(x) FROM (SELECT pid, max(pid::oid) AS x FROM px_order_dp GROUP BY pid) t;
SELECT count(x) FROM (SELECT pid, max(coupon ORDER BY lines) AS x FROM px_order_dp GROUP BY pid) t;
SELECT count(x) FROM (SELECT pid, string_agg(coupon, ',') AS x FROM px_order_dp GROUP BY pid) t;
SELECT max(x) FROM (SELECT pid, max(coupon) AS x FROM px_order_dp GROUP BY pid) t;
SELECT max(x) FROM (SELECT pid, max(at) AS x FROM px_order_dp GROUP BY pid) t;
SELECT pid, x FROM (SELECT pid, max(coupon) AS x FROM px_order_dp GROUP BY pid) t;
SET ROLE regress_controller;
SELECT count(*) - :charged AS charged FROM dp_rdr.ledger;
RESET ROLE;
