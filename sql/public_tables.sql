-- Public tables: what protected tables may be joined with. What they may be, who declares them, and what becomes of those that are
-- no longer fit.

LOAD 'dp_rdr';
CREATE SCHEMA pub AUTHORIZATION regress_controller;
GRANT USAGE ON SCHEMA pub TO regress_analyst;
GRANT USAGE, CREATE ON SCHEMA pub TO regress_second;
SET search_path = pub, public;
SET ROLE regress_controller;

CREATE TABLE patient (patient_id integer PRIMARY KEY, sex text NOT NULL, ward integer);
CREATE TABLE visit (visit_id integer PRIMARY KEY, patient_id integer NOT NULL REFERENCES patient, code text, cost numeric);
INSERT INTO patient SELECT i, CASE i % 2 WHEN 0 THEN 'f' ELSE 'm' END, i % 5 FROM generate_series(1, 1000) i;
INSERT INTO visit SELECT i, 1 + i % 800, 'c' || i % 10, i % 100 FROM generate_series(1, 4000) i;
CREATE TABLE code (code text PRIMARY KEY, chapter text NOT NULL, weight integer);
INSERT INTO code SELECT 'c' || i, CASE WHEN i < 5 THEN 'heart' ELSE 'lung' END, i FROM generate_series(0, 8) i;
SELECT dp_protect('patient', 'patient_dp', unit => 'patient_id');
SELECT dp_protect('visit', 'visit_dp', unit => 'patient_id', max_rows => 20);

-- ---------------------------------------------------------------------------------------------------------------------
-- Declared, shown, taken back
-- ---------------------------------------------------------------------------------------------------------------------

SELECT dp_set_public('code', 'visit');
SELECT dp_set_public('code', 'patient_dp') AS once_more;
SELECT relation, public FROM dp_domain('patient');
SELECT name, value, call FROM dp_settings('patient') WHERE item = 'public';
SELECT object, finding, remedy FROM dp_audit() WHERE object LIKE '%pub.code%';
GRANT INSERT, SELECT ON code TO regress_analyst;
SELECT object, finding, remedy FROM dp_audit() WHERE object LIKE '%pub.code%';
REVOKE INSERT ON code FROM regress_analyst;
SELECT dp_unset_public('code', 'patient');
SELECT attempt($$SELECT dp_unset_public('code', 'patient')$$);
SELECT relation, public FROM dp_domain('patient');
SELECT dp_set_public('code', 'visit');

-- NULL, nothing there, not protected, another's.
SELECT attempt('SELECT dp_set_public(NULL, ''visit'')'), attempt('SELECT dp_set_public(''code'', NULL)'),
       attempt('SELECT dp_unset_public(NULL, ''visit'')'), attempt('SELECT dp_set_public(''4000000000'', ''visit'')'),
       attempt('SELECT dp_set_public(''visit'', ''code'')');
SET ROLE regress_analyst;
SELECT attempt('SELECT dp_set_public(''pub.code'', ''pub.visit_dp'')'), attempt('SELECT dp_unset_public(''pub.code'', ''pub.visit'')');
RESET ROLE;
SELECT attempt('SELECT * FROM dp_rdr.public_table') AS superuser;
SET ROLE regress_controller;
SELECT attempt('SELECT * FROM dp_rdr.public_table'), attempt('INSERT INTO dp_rdr.public_table SELECT NULL, NULL');

-- ---------------------------------------------------------------------------------------------------------------------
-- What may be public: whatever is refused here is refused at the next query as well
-- ---------------------------------------------------------------------------------------------------------------------

-- Who owns it puts into it what runs with the rights of the owner of the private rows.
RESET ROLE;
CREATE TABLE seconds (code text);
ALTER TABLE seconds OWNER TO regress_second;
CREATE TABLE supers (code text PRIMARY KEY, n integer);
SET ROLE regress_controller;
SELECT attempt('SELECT dp_set_public(''seconds'', ''visit'')');
SELECT attempt('SELECT dp_set_public(''supers'', ''visit'')') AS a_superusers;
CREATE TABLE family (code text);
RESET ROLE;
CREATE TABLE family_child () INHERITS (family);
ALTER TABLE family_child OWNER TO regress_second;
SET ROLE regress_controller;
SELECT attempt('SELECT dp_set_public(''family'', ''visit'')') AS a_part_of_anothers;

-- Kinds.
CREATE VIEW code_view AS SELECT * FROM code;
CREATE SEQUENCE code_seq;
CREATE INDEX code_chapter ON code (chapter);
CREATE TEMP TABLE code_temp (code text);
CREATE UNLOGGED TABLE code_unlogged (code text);
CREATE TABLE code_parts (code text, n integer) PARTITION BY RANGE (n);
CREATE TABLE code_part PARTITION OF code_parts FOR VALUES FROM (0) TO (10);
CREATE MATERIALIZED VIEW code_mat AS SELECT chapter, count(*) AS n FROM code GROUP BY chapter;
CREATE MATERIALIZED VIEW code_empty AS SELECT * FROM code WITH NO DATA;
SELECT t, attempt(format('SELECT dp_set_public(%L, ''visit'')', t)) FROM unnest('{code_view,code_seq,code_chapter,code_temp,code_unlogged,code_parts,
    code_part,code_mat,code_empty,visit,visit_dp,patient,pg_class,pg_statistic,dp_rdr.ledger_row,information_schema.sql_features}'::text[]) t;
SELECT DISTINCT public FROM dp_domain('visit');

-- A materialized view over private rows, by way of others; over answers, which are nobody's secret.
CREATE VIEW below AS SELECT code FROM visit;
CREATE MATERIALIZED VIEW over_visit AS SELECT DISTINCT code FROM below;
CREATE MATERIALIZED VIEW over_over AS SELECT code FROM code WHERE EXISTS (SELECT FROM over_visit);
SELECT t, attempt(format('SELECT dp_set_public(%L, ''visit'')', t)) FROM unnest('{over_visit,over_over}'::text[]) t;
DROP VIEW below CASCADE;

-- Row-level security, foreign keys to people, parts of a protected table, protected parts.
CREATE TABLE secured (code text);
ALTER TABLE secured ENABLE ROW LEVEL SECURITY;
CREATE TABLE follows (visit_id integer REFERENCES visit, note text);
CREATE TABLE private (a integer);
CREATE TABLE private_child () INHERITS (private);
SELECT dp_protect('private', 'private_dp');
SELECT t, attempt(format('SELECT dp_set_public(%L, ''visit'')', t)) FROM unnest('{secured,follows,private,private_child}'::text[]) t;
CREATE TABLE above (a integer);
ALTER TABLE private INHERIT above;
SELECT attempt('SELECT dp_set_public(''above'', ''visit'')');
ALTER TABLE private NO INHERIT above;
SELECT attempt('SELECT dp_set_public(''above'', ''visit'')');
SELECT attempt('SELECT dp_protect(''code'', ''code_dp'')') AS public_is_not_private;
SELECT attempt('SELECT dp_protect(''code_parts'', ''code_parts_dp'')') AS nor_with_its_parts;
SELECT dp_unset_public('above', 'visit'), dp_unprotect('private_dp');

-- Code of a user's: in an index, a constraint, statistics, a partition key, a virtual column, a type that is read.
CREATE FUNCTION twice(n integer) RETURNS integer LANGUAGE sql IMMUTABLE RETURN n * 2;
CREATE DOMAIN small AS integer CHECK (twice(VALUE) < 100);
CREATE TYPE pair AS (a small, b integer);
CREATE TABLE by_index (n integer);
CREATE INDEX ON by_index (twice(n));
CREATE TABLE by_condition (n integer);
CREATE INDEX ON by_condition (n) WHERE twice(n) > 3;
CREATE TABLE by_check (n integer CHECK (twice(n) > 3));
CREATE TABLE by_statistics (n integer, m integer);
CREATE STATISTICS by_stat ON (twice(n)), m FROM by_statistics;
CREATE TABLE by_partition (n integer) PARTITION BY RANGE (twice(n));
CREATE TABLE by_type (p pair);
CREATE TABLE by_domain (n small, d integer DEFAULT twice(4)); -- reading runs neither
CREATE TABLE by_child (n integer);
CREATE TABLE by_child_1 () INHERITS (by_child);
CREATE INDEX ON by_child_1 (twice(n));
SELECT t, attempt(format('SELECT dp_set_public(%L, ''visit'')', t))
FROM unnest('{by_index,by_condition,by_check,by_statistics,by_partition,by_type,by_domain,by_child}'::text[]) t;

-- ---------------------------------------------------------------------------------------------------------------------
-- Gone, renamed, moved
-- ---------------------------------------------------------------------------------------------------------------------

DROP TABLE by_domain;
ALTER TABLE code_parts RENAME TO code_pieces;
SELECT DISTINCT public FROM dp_domain('visit');
RESET ROLE;
CREATE INDEX by_function ON supers (twice(n));
SET ROLE regress_controller;
SELECT object, finding, remedy FROM dp_audit() WHERE finding ~ 'public table';
RESET ROLE;
DROP INDEX by_function;
SET ROLE regress_controller;
SELECT object, finding, remedy FROM dp_audit() WHERE finding ~ 'public table';
-- A domain of its own takes none along.
CREATE TABLE alone (a integer PRIMARY KEY);
SELECT dp_protect('alone', 'alone_dp', unit => 'a');
SELECT dp_set_public('code', 'alone');
SELECT public FROM dp_domain('alone');
SELECT dp_set_unit('alone', 'a -> patient');
SELECT public FROM dp_domain('alone') WHERE relation = 'alone'::regclass;
RESET ROLE;
SELECT count(*) AS of_a_domain_that_is_gone FROM dp_rdr.public_table p WHERE NOT EXISTS (SELECT FROM dp_rdr.privacy_domain d WHERE d.id = p.domain);

-- ---------------------------------------------------------------------------------------------------------------------
-- Joined: 800 people have five visits each, nine in ten of them with a code that is in the table. Noise is small at epsilon 100: beyond
-- 25 times its scale, which is max_rows / 100, it is once in 10^10 draws.
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_controller;
CREATE TABLE label (code text, lang text, label text, PRIMARY KEY (code, lang));
INSERT INTO label SELECT 'c' || i, l, l || i FROM generate_series(0, 9) i, unnest('{de,en,fr}'::text[]) l;
CREATE TABLE chapter (chapter varchar(20) PRIMARY KEY, floor integer, open boolean NOT NULL);
INSERT INTO chapter VALUES ('heart', 1, true), ('lung', 2, true), ('brain', 3, false);
CREATE TABLE ward (ward bigint PRIMARY KEY, name text);
INSERT INTO ward SELECT i, 'w' || i FROM generate_series(0, 3) i;
CREATE TABLE hidden (code text PRIMARY KEY, chapter text);
CREATE TABLE stranger (code text PRIMARY KEY);
SELECT dp_set_public(t, 'patient') FROM unnest('{label,chapter,ward,hidden}'::regclass[]) t;
SELECT dp_set_odometer('patient', 'none', delta_total => 0.9);
SELECT dp_set_bounds('visit', 'cost', 0, 100);
SELECT dp_grant(v, 'regress_analyst', tau => 0, candidates => '{100}', epsilon_max => 100) FROM unnest('{patient_dp,visit_dp}'::regclass[]) v;
GRANT SELECT ON code, label, chapter, ward, stranger, code_mat TO regress_analyst;
GRANT SELECT (code) ON hidden TO regress_analyst;
SET ROLE regress_analyst;

-- Rows of the one column, rounded to tens or hundreds.
CREATE FUNCTION pg_temp.ask(query text, digits integer DEFAULT -1) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    r record;
BEGIN
    FOR r IN EXECUTE query LOOP
        RETURN NEXT (SELECT string_agg(CASE WHEN value ~ '^-?\d+(\.\d+)?$' AND key ~ '^n' THEN round(value::numeric, digits)::text
                                            ELSE coalesce(value, 'NULL') END, ' ') FROM json_each_text(row_to_json(r)));
    END LOOP;
END $$;
CREATE FUNCTION pg_temp.rows_of(query text) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(DISTINCT concat_ws('/', max_rows, max_groups), ' ') FROM dp_explain(query) $$;
CREATE TEMP TABLE asked (n serial, query text, digits integer DEFAULT -1);
INSERT INTO asked (query) VALUES
('SELECT count(*) AS n FROM visit_dp v JOIN code c ON c.code = v.code'),
('SELECT count(*) AS n FROM code c, visit_dp v WHERE v.code = c.code AND c.chapter = ''heart'''),
('SELECT count(*) AS n FROM visit_dp LEFT JOIN code USING (code)'),
('SELECT count(*) AS n FROM visit_dp v LEFT JOIN code c ON c.code = v.code AND c.weight > 3 WHERE c.code IS NULL'),
('SELECT chapter, count(*) AS n FROM visit_dp JOIN code USING (code) GROUP BY chapter'),
('SELECT chapter, count(*) AS n FROM visit_dp LEFT JOIN code USING (code) GROUP BY chapter'),
('SELECT chapter, count(*) AS n FROM visit_dp JOIN code USING (code) WHERE chapter <> ''lung'' GROUP BY chapter'),
('SELECT c.code, count(*) AS n FROM visit_dp v JOIN code c ON v.code = c.code WHERE c.weight IN (1, 2) GROUP BY c.code'),
('SELECT open, floor, count(*) AS n FROM visit_dp v JOIN code c ON c.code = v.code JOIN chapter x ON x.chapter = c.chapter GROUP BY open, floor'),
('SELECT floor, count(*) AS n FROM visit_dp v LEFT JOIN (code c JOIN chapter x ON x.chapter = c.chapter) ON c.code = v.code GROUP BY floor'),
('SELECT count(DISTINCT v.patient_id) AS n FROM visit_dp v JOIN code c ON c.code = v.code WHERE c.weight < 2'),
('SELECT name, count(*) AS n FROM patient_dp p JOIN ward w ON w.ward = p.ward GROUP BY name'),
('SELECT name, count(*) AS n FROM patient_dp p LEFT JOIN ward w ON w.ward = p.ward GROUP BY name'),
('SELECT count(*) AS n FROM patient_dp p JOIN visit_dp v ON v.patient_id = p.patient_id JOIN code c ON c.code = v.code JOIN ward w ON w.ward = p.ward'),
('SELECT n FROM (SELECT c.chapter, count(*) AS n FROM visit_dp v, (SELECT code AS id, chapter FROM code WHERE weight < 7) c WHERE c.id = v.code AND v.code = ''c1'' GROUP BY c.chapter) x');
INSERT INTO asked (query, digits) VALUES
('SELECT count(*) AS n, count(chapter) AS n2 FROM code RIGHT JOIN visit_dp USING (code)', -2),
('SELECT sum(least(greatest(c.weight, 0), 10)) AS n FROM visit_dp v JOIN code c ON c.code = v.code', -3),
('SELECT count(*) AS n FROM visit_dp v JOIN label l ON l.code = v.code', -2),
('SELECT lang, count(*) AS n FROM visit_dp v JOIN label l ON l.code = v.code GROUP BY lang', -2),
('SELECT count(*) AS n FROM visit_dp v JOIN label l ON l.code = v.code WHERE l.lang = ''de''', -2),
('SELECT count(*) AS n FROM visit_dp v JOIN label l ON l.code = v.code JOIN label m ON m.code = l.code AND m.lang = l.lang', -2),
('SELECT count(*) AS n FROM patient_dp p JOIN ward w ON w.ward = p.ward, code_mat m WHERE m.n = p.ward', -2);
SELECT a.n, pg_temp.rows_of(query), answer FROM asked a, pg_temp.ask(query, digits) answer ORDER BY a.n, answer;

RESET ROLE;
GRANT SELECT ON adult_dp TO regress_analyst;
SET ROLE regress_analyst;

-- A column that could be NULL, and is not: its groups are those of the public rows, and lack none. No NOTICE says so.
SELECT weight, count(*) > 200 AS there FROM visit_dp JOIN code USING (code) GROUP BY weight ORDER BY weight;

-- Refused: which table, which way of joining, who asks.
SELECT query, attempt(query) FROM unnest(ARRAY[
'SELECT count(*) FROM code c LEFT JOIN visit_dp v ON v.code = c.code',
'SELECT count(*) FROM visit_dp v RIGHT JOIN code c ON v.code = c.code',
'SELECT count(*) FROM visit_dp v FULL JOIN code c ON v.code = c.code',
'SELECT count(*) FROM visit_dp v, code c',
'SELECT count(*) FROM visit_dp v JOIN code c ON v.code < c.code',
'SELECT count(*) FROM visit_dp v JOIN code c ON v.code = c.code || ''''',
'SELECT count(*) FROM visit_dp v JOIN code c ON v.code = c.code OR c.weight = 3',
'SELECT count(*) FROM visit_dp v LEFT JOIN code c ON c.weight = 3',
'SELECT count(*) FROM visit_dp v JOIN ONLY code c ON v.code = c.code',
'SELECT * FROM dp_query(''SELECT count(*) FROM pub.visit_dp v JOIN ONLY pub.code c ON v.code = c.code'') AS (n bigint)',
'SELECT count(*) FROM visit_dp v JOIN stranger c ON v.code = c.code',
'SELECT count(*) FROM visit_dp v JOIN code_view c ON v.code = c.code',
'SELECT count(*) FROM adult_dp a JOIN ward w ON w.ward = a.age',
'SELECT sum(c.weight) FROM visit_dp v JOIN code c ON v.code = c.code',
'SELECT count(*) FROM visit_dp v JOIN hidden h ON v.code = h.code',
'SELECT count(h.chapter) FROM visit_dp v JOIN hidden h ON v.code = h.code',
'SELECT h.chapter, count(*) FROM visit_dp v JOIN hidden h ON v.code = h.code GROUP BY h.chapter',
'SELECT count(*) FROM patient_dp p JOIN ward w ON w.ward = p.ward JOIN visit_dp v ON v.patient_id = w.ward',
'SELECT count(*) FROM patient_dp p JOIN pg_class c ON c.oid = p.ward::oid']) query;

-- A view that only projects one public table stands for it: SELECT on the view is enough, where its owner has SELECT on the table. Replay
-- and ledger: both ways are one question, and the statement shows the table that was read.
RESET ROLE;
CREATE ROLE regress_librarian;
CREATE SCHEMA shelf AUTHORIZATION regress_librarian;
GRANT USAGE ON SCHEMA shelf TO regress_analyst;
GRANT USAGE ON SCHEMA pub TO regress_librarian;
GRANT SELECT (code, chapter, weight) ON code TO regress_librarian;
SET ROLE regress_librarian;
CREATE VIEW shelf.renamed AS SELECT c.weight AS heavy, c.chapter AS part, c.code AS id FROM code c;
CREATE VIEW shelf.light AS SELECT code, chapter FROM code WHERE weight < 7;
CREATE VIEW shelf.barrier WITH (security_barrier) AS SELECT code, chapter FROM code;
CREATE VIEW shelf.invoker WITH (security_invoker) AS SELECT code, chapter FROM code;
CREATE VIEW shelf.computed AS SELECT code, upper(chapter) AS chapter FROM code;
GRANT SELECT ON ALL TABLES IN SCHEMA shelf TO regress_analyst;
RESET ROLE;
REVOKE SELECT ON code FROM regress_analyst;
SET ROLE regress_analyst;
SELECT query, attempt(query) FROM unnest(ARRAY[
'SELECT count(*) FROM visit_dp v JOIN code c ON v.code = c.code',
'SELECT count(*) FROM visit_dp v JOIN shelf.renamed r ON v.code = r.id',
'SELECT part, count(*) FROM visit_dp v JOIN shelf.renamed r(h, part, i) ON v.code = r.i WHERE h < 7 GROUP BY part',
'SELECT sum(heavy) FROM visit_dp v LEFT JOIN shelf.renamed ON code = id',
'SELECT count(*) FROM visit_dp v WHERE EXISTS (SELECT FROM shelf.renamed r WHERE r.id = v.code AND r.part = ''lung'')',
'SELECT count(*) FILTER (WHERE v.code IN (SELECT id FROM shelf.renamed WHERE heavy > 3)) FROM visit_dp v',
'SELECT count(*) FROM (SELECT patient_id, count(*) AS n FROM visit_dp v JOIN shelf.renamed r ON v.code = r.id GROUP BY patient_id) p WHERE n > 2',
'SELECT * FROM dp_query(''SELECT count(*) FROM pub.visit_dp v JOIN shelf.renamed r ON v.code = r.id'') AS (n bigint)',
'SELECT count(*) FROM visit_dp v JOIN shelf.light r ON v.code = r.code',
'SELECT count(*) FROM visit_dp v JOIN shelf.barrier r ON v.code = r.code',
'SELECT count(*) FROM visit_dp v JOIN shelf.invoker r ON v.code = r.code',
'SELECT count(*) FROM visit_dp v JOIN shelf.computed r ON v.code = r.code']) query;
SELECT answer FROM pg_temp.ask('SELECT part, count(*) AS n FROM visit_dp v JOIN shelf.renamed r ON v.code = r.id GROUP BY part', -2) answer;
RESET ROLE;
SELECT DISTINCT query FROM dp_rdr.ledger_row WHERE query LIKE '%pub.code%' AND query ~ 'weight < 7|EXISTS' ORDER BY query;
-- An owner who may no longer read the table shows it to nobody, and one who may read no column that the view has.
REVOKE SELECT (weight) ON code FROM regress_librarian;
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM visit_dp v JOIN shelf.renamed r ON v.code = r.id') AS owner_may_not,
       attempt('SELECT count(*) FROM visit_dp v WHERE EXISTS (SELECT FROM shelf.renamed r WHERE r.id = v.code)') AS nor_below,
       attempt('SELECT * FROM dp_query(''SELECT count(*) FROM pub.visit_dp v JOIN shelf.renamed r ON v.code = r.id'') AS (n bigint)') AS nor_by_call;
RESET ROLE;
GRANT SELECT (weight) ON code TO regress_librarian;
REVOKE SELECT ON shelf.renamed FROM regress_analyst;
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM visit_dp v JOIN shelf.renamed r ON v.code = r.id') AS not_granted,
       attempt('SELECT count(*) FROM visit_dp v WHERE EXISTS (SELECT FROM shelf.renamed r WHERE r.id = v.code)') AS nor_below;
RESET ROLE;
GRANT SELECT ON code TO regress_analyst;
DROP OWNED BY regress_librarian CASCADE;
DROP ROLE regress_librarian;
SET ROLE regress_analyst;

-- A table that is no longer fit is refused at the next query, and public again when it is mended.
SET ROLE regress_controller;
CREATE INDEX unfit ON code (twice(weight));
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM visit_dp v JOIN code c ON c.code = v.code');
SET ROLE regress_controller;
DROP INDEX unfit;
ALTER TABLE code ENABLE ROW LEVEL SECURITY;
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM visit_dp v JOIN code c ON c.code = v.code');
SET ROLE regress_controller;
ALTER TABLE code DISABLE ROW LEVEL SECURITY;
CREATE TABLE code_child () INHERITS (code);
ALTER TABLE code_child ADD CHECK (twice(weight) < 100);
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM visit_dp v JOIN code c ON c.code = v.code');
SET ROLE regress_controller;
DROP TABLE code_child;
RESET ROLE;
ALTER TABLE code OWNER TO regress_second;
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM visit_dp v JOIN code c ON c.code = v.code');
RESET ROLE;
ALTER TABLE code OWNER TO regress_controller;
SET ROLE regress_controller;
ALTER TABLE code ADD person integer REFERENCES patient;
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM visit_dp v JOIN code c ON c.code = v.code');
SET ROLE regress_controller;
ALTER TABLE code DROP person; -- a column less
SET ROLE regress_analyst;
SELECT pg_temp.ask('SELECT chapter, count(*) AS n FROM visit_dp v JOIN code c ON c.code = v.code GROUP BY chapter');
-- Without its key a row may be several.
SELECT pg_temp.rows_of('SELECT count(*) FROM visit_dp v JOIN code c ON c.code = v.code') AS keyed;
SET ROLE regress_controller;
ALTER TABLE code DROP CONSTRAINT code_pkey, ALTER code DROP NOT NULL;
INSERT INTO code SELECT 'c1', 'heart', i FROM generate_series(1, 4) i;
INSERT INTO code VALUES (NULL, 'none', 0), (NULL, 'none', 0), (repeat('long', 1000), 'none', 0), (repeat('long', 1000), 'none', 0);
SET ROLE regress_analyst;
SELECT pg_temp.rows_of('SELECT count(*) FROM visit_dp v JOIN code c ON c.code = v.code') AS five_times;
SELECT pg_temp.ask('SELECT count(*) AS n FROM visit_dp v JOIN code c ON c.code = v.code', -2);
-- Where clocks are turned local times are out of the order of instants, and two of them are one: an error, or a second row of a key, if somebody is there.
SET ROLE regress_controller;
CREATE TABLE stop (person integer PRIMARY KEY, at timestamptz);
INSERT INTO stop SELECT i, timestamptz '2024-03-31 00:00+00' + i * interval '10 minutes' FROM generate_series(1, 30) i;
CREATE TABLE slot (t timestamp PRIMARY KEY, day date UNIQUE, instant timestamptz UNIQUE, label text);
INSERT INTO slot VALUES ('2024-03-31 02:30', '2024-03-30', '2024-03-31 01:30+00', 'gap'), ('2024-03-31 03:30', '2024-03-31', '2024-03-31 02:30+00', 'real');
SELECT dp_protect('stop', 'stop_dp', unit => 'person'), dp_set_public('slot', 'stop'), dp_set_odometer('stop', 'none', delta_total => 0.1);
SELECT dp_grant('stop_dp', 'regress_analyst', tau => 0, epsilon_max => 100, candidates => '{100}');
GRANT SELECT ON slot TO regress_analyst;
SET ROLE regress_analyst;
SET TimeZone = 'Europe/Berlin';
SELECT attempt('SELECT count(*) FROM stop_dp p JOIN slot c ON c.t = p.at'), attempt('SELECT count(*) FROM stop_dp p, slot c WHERE p.at = c.day'),
       attempt('SELECT label, count(*) FROM (SELECT p.person, c.label, count(*) AS n FROM stop_dp p JOIN slot c ON c.t = p.at GROUP BY 1, 2) t GROUP BY label');
SELECT attempt('SELECT count(*) FROM stop_dp p WHERE EXISTS (SELECT 1 FROM slot c WHERE c.t = p.at)'), attempt('SELECT count(*) FROM stop_dp WHERE at IN (SELECT t FROM slot)'),
       attempt('SELECT count(*) FROM stop_dp p JOIN slot c ON c.instant = p.at AND c.t = c.instant');
SELECT abs(count(*) - 2) <= 1 AS by_instant FROM stop_dp p JOIN slot c ON c.instant = p.at WHERE p.at > date '2024-01-01' AND c.t < p.at + interval '1 day';
RESET TimeZone;
-- More groups than an answer may have.
SET ROLE regress_controller;
CREATE TABLE many (code text PRIMARY KEY, k integer);
INSERT INTO many SELECT 'c' || i, i FROM generate_series(1, 10001) i;
SELECT dp_set_public('many', 'visit');
GRANT SELECT ON many TO regress_analyst;
SET ROLE regress_analyst;
SELECT attempt('SELECT k, count(*) FROM visit_dp v JOIN many m ON m.code = v.code GROUP BY k');
SET ROLE regress_controller;
DELETE FROM many WHERE k > 5000;
SET ROLE regress_analyst;
SELECT attempt('SELECT k, count(*), sum(cost) FROM visit_dp v JOIN many m ON m.code = v.code GROUP BY k'),
       attempt('SELECT k, count(*), sum(cost), avg(cost) FROM visit_dp v JOIN many m ON m.code = v.code GROUP BY k');
-- No longer public.
SET ROLE regress_controller;
SELECT dp_unset_public('many', 'visit');
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM visit_dp v JOIN many m ON m.code = v.code');
-- A foreign key marks what it finds: whoever sees system columns sees which codes somebody has.
SET ROLE regress_controller;
CREATE TABLE reason (code text PRIMARY KEY, note text);
CREATE TABLE call (patient_id integer REFERENCES patient, code text REFERENCES reason);
SELECT dp_protect('call', 'call_dp', unit => 'patient_id', max_rows => 5), dp_set_public('reason', 'patient');
GRANT SELECT, DELETE ON reason TO regress_analyst;
SELECT object, finding, remedy AS instead FROM dp_audit() WHERE severity = 'warning' AND finding ~ 'referred' \gx
REVOKE SELECT, DELETE ON reason FROM regress_analyst;
GRANT SELECT (code, note) ON reason TO regress_analyst;
SELECT object, finding, remedy AS instead FROM dp_audit() WHERE severity = 'warning' AND finding ~ 'referred';
-- What the ledger says of a join.
SET ROLE regress_controller;
SELECT query, parameters -> 'tables' AS tables FROM dp_rdr.ledger WHERE relation = 'pub.visit' AND query ~ 'label' ORDER BY id LIMIT 1;
