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
CREATE INDEX by_hand ON supers (n);
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
