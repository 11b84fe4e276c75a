// Asks the catalogs for dp_draft. $1 = the schema, $2 = the table of the people, $3 = how many they are, $4 = the preset, $5 = the caller.
//
// Names go into statements as literals and quoted identifiers alone, where psql looks for no variables; comments lose what ends a line
// (draft.cpp). Rows are counted nowhere: reltuples, pg_statistic and files depend on people.
#include "sql/draft.hpp"

namespace dp::sql {

const char *const units_sql = R"sql(
WITH line (place, comment, text, open) AS (
  SELECT 1, true, 'OPEN: whose data is it? Name the table with one row for each person, and run this again: it writes the draft.', 'unit_table'
  UNION ALL
  SELECT 2, true, 'A key tells, and foreign keys that lead there: most of them to the first. Do not look it up in the rows.', NULL
  UNION ALL
  (SELECT 3, true, format('\set unit_table %s',
            concat('''', replace(replace(replace(replace(t.name, '\', '\\'), '''', ''''''), chr(10), '\n'), chr(13), '\r'), '''')), NULL
   FROM (SELECT format('%I.%I', n.nspname, c.relname) AS name,
                (SELECT count(*) FROM pg_constraint k WHERE k.confrelid = c.oid AND k.contype = 'f' AND k.conparentid = 0
                 AND k.conrelid <> c.oid) AS keys
         FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE c.relnamespace = $1 AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND pg_has_role($5, c.relowner, 'USAGE')
           AND EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisunique)) t
   ORDER BY t.keys DESC, t.name COLLATE "C" LIMIT 10)
  UNION ALL
  SELECT 4, false, '\set ON_ERROR_STOP on', NULL
  UNION ALL
  SELECT 5, false, '\pset format unaligned', NULL
  UNION ALL
  SELECT 6, false, '\pset tuples_only on', NULL
  UNION ALL
  SELECT 7, false, format('SELECT statement FROM dp_draft(%L, unit_table => :''unit_table'', people => %s, preset => %L);',
                          quote_ident(n.nspname), coalesce($3::text, 'NULL'), $4), NULL
  FROM pg_namespace n WHERE n.oid = $1)
SELECT 'unit', l.comment, l.text, l.open FROM line l ORDER BY l.place)sql";

// The tables: which lead to the people, by which foreign keys, and which are only referred to. A unit is direct where the columns hold
// it, and single where a unique index on them lets each person have one row.
const char *const draft_sql =
    R"sql(
WITH RECURSIVE preset AS (
  SELECT p.epsilon_total AS epsilon, p.tau, p.error95, few.error95_rows AS of_few, many.error95_rows AS of_many
  FROM dp_plan(1e-6) p JOIN dp_plan(1e-6, 4) few USING (preset) JOIN dp_plan(1e-6, 20) many USING (preset) WHERE preset = $4),
root AS (
  SELECT c.relowner AS owner, format('%I.%I', n.nspname, c.relname) AS name,
         CASE WHEN octet_length(s.nspname) > 60 THEN left(s.nspname, 15) ELSE s.nspname END || '_dp' AS views, s.nspname AS schema,
         EXISTS (SELECT FROM dp_rdr.protected_table t WHERE t.relation = c.oid) AS already
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_namespace s ON s.oid = $1 WHERE c.oid = $2),
named AS (
  SELECT c.oid, format('%I.%I', n.nspname, c.relname) AS name, c.relname, p.relation IS NOT NULL AS already,
         dp_rdr.draft_fault(c.oid, r.owner) AS fault, obj_description(c.oid, 'pg_class') AS description
  FROM root r, pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN dp_rdr.protected_table p ON p.relation = c.oid
  WHERE (c.relnamespace = $1 OR c.oid = $2) AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND NOT EXISTS (SELECT FROM pg_inherits i WHERE i.inhrelid = c.oid)),
parent AS (SELECT DISTINCT i.inhparent AS oid FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhparent AND c.relkind = 'r'),
unique_index AS (
  SELECT i.indrelid, i.indexrelid, i.indisprimary, (i.indkey::int2[])[0:i.indnkeyatts - 1] AS columns,
         i.indpred IS NULL AND i.indexprs IS NULL AND i.indimmediate AND i.indisvalid AS key
  FROM pg_index i WHERE i.indisunique),
unit_type (type) AS (
  SELECT unnest('{smallint,integer,bigint,numeric,uuid,date,text,varchar}'::regtype[])),
every_key AS (
  SELECT k.conrelid, k.confrelid, k.conkey, k.confkey, min(k.conname::text COLLATE "C") AS name
  FROM pg_constraint k WHERE k.contype = 'f' AND k.conparentid = 0 GROUP BY 1, 2, 3, 4),
key AS (
  SELECT k.*, x.*, concat(x.columns, ' -> ', p.name, ' (', x.key, ')') AS way,
         EXISTS (SELECT FROM unique_index i WHERE i.indrelid = k.conrelid AND i.key AND i.columns <@ k.conkey)
           AND k.conrelid NOT IN (SELECT oid FROM parent) AS single
  FROM every_key k JOIN named t ON t.oid = k.conrelid AND t.fault IS NULL JOIN named p ON p.oid = k.confrelid
  CROSS JOIN LATERAL (
    SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY w.place) AS columns,
           string_agg(quote_ident(f.attname), ', ' ORDER BY w.place) AS key,
           string_agg(quote_ident(a.attname), ', ' ORDER BY w.place) FILTER (WHERE NOT a.attnotnull) AS nullable,
           bool_and(a.atttypid = f.atttypid AND a.atttypid IN (SELECT type FROM unit_type) AND coalesce(o.collisdeterministic, true))
             AND count(*) <= 4 AS usable
    FROM unnest(k.conkey, k.confkey) WITH ORDINALITY w (mine, theirs, place)
    JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = w.mine
    JOIN pg_attribute f ON f.attrelid = k.confrelid AND f.attnum = w.theirs
    LEFT JOIN pg_collation o ON o.oid = a.attcollation) x
  WHERE k.conrelid <> k.confrelid AND k.conrelid <> $2),
near (oid, steps) AS (
  SELECT $2, 0
  UNION SELECT k.conrelid, n.steps + 1 FROM near n JOIN key k ON k.confrelid = n.oid
  WHERE k.usable AND n.steps < 7 AND (k.confrelid = $2 OR k.confrelid NOT IN (SELECT oid FROM parent))),
led AS (SELECT n.oid, min(n.steps) AS steps FROM near n GROUP BY n.oid),
way AS (
  SELECT k.*, count(*) OVER (PARTITION BY k.conrelid) AS ways,
         row_number() OVER (PARTITION BY k.conrelid ORDER BY k.nullable NULLS FIRST, k.name) AS place
  FROM key k JOIN led t ON t.oid = k.conrelid JOIN led p ON p.oid = k.confrelid AND p.steps = t.steps - 1 WHERE k.usable),
unit AS (
  SELECT u.columns, (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY x.place) FROM unnest(u.columns) WITH ORDINALITY x (attnum, place)
                     JOIN pg_attribute a ON a.attrelid = $2 AND a.attnum = x.attnum) AS names
  FROM (SELECT coalesce(
      (SELECT array_agg(a.attnum ORDER BY x.place) FROM dp_rdr.protected_table t, unnest(t.unit) WITH ORDINALITY x (name, place)
       JOIN pg_attribute a ON a.attrelid = $2 AND a.attname = x.name WHERE t.relation = $2 AND t.parent_key IS NULL),
      (SELECT i.columns FROM unique_index i WHERE i.indrelid = $2 AND i.key AND cardinality(i.columns) <= 4 AND NOT EXISTS (
         SELECT FROM pg_attribute a WHERE a.attrelid = $2 AND a.attnum = ANY (i.columns)
         AND NOT (a.attnotnull AND a.atttypid IN (SELECT type FROM unit_type)))
       ORDER BY i.indisprimary DESC, cardinality(i.columns), i.indexrelid LIMIT 1)) AS columns) u),
direct (oid, columns) AS (
  SELECT $2, u.columns FROM unit u
  UNION SELECT w.conrelid, w.conkey FROM direct d JOIN way w ON w.confrelid = d.oid AND w.ways = 1
  WHERE w.confkey @> d.columns AND d.columns @> w.confkey),
known AS ( -- the tables that lead there
  SELECT t.*, l.steps, w.conkey, w.nullable, p.name AS parent,
         CASE WHEN l.steps = 0 THEN u.columns IS NULL ELSE w.ways > 1 END AS ask_unit,
         CASE WHEN l.steps = 0 THEN u.columns IS NULL OR t.oid IN (SELECT oid FROM parent)
              ELSE t.oid NOT IN (SELECT oid FROM direct) OR NOT w.single END AS ask_rows,
         CASE WHEN l.steps > 0 THEN w.way
              ELSE u.names || CASE WHEN EXISTS (SELECT FROM every_key k WHERE k.conrelid = $2 AND k.conkey @> u.columns AND u.columns @> k.conkey)
                                   THEN ' -> ' || t.name ELSE '' END END AS unit
  FROM led l JOIN named t ON t.oid = l.oid LEFT JOIN way w ON w.conrelid = t.oid AND w.place = 1
  LEFT JOIN named p ON p.oid = w.confrelid CROSS JOIN unit u),
referred (oid) AS (
  SELECT k.confrelid FROM every_key k JOIN led l ON l.oid = k.conrelid WHERE k.confrelid NOT IN (SELECT oid FROM led)
  UNION SELECT k.confrelid FROM referred r JOIN every_key k ON k.conrelid = r.oid WHERE k.confrelid NOT IN (SELECT oid FROM led)),
open_table AS ( -- those that are only referred to
  SELECT c.oid, format('%I.%I', n.nspname, c.relname) AS name, c.relname, n.nspname, obj_description(c.oid, 'pg_class') AS description,
         dp_rdr.public_fault(c.oid, $2) AS fault, pg_has_role($5, c.relowner, 'USAGE') AS mine, pg_has_role($5, n.nspowner, 'USAGE') AS schema_mine
  FROM referred r JOIN pg_class c ON c.oid = r.oid JOIN pg_namespace n ON n.oid = c.relnamespace),
stem AS ( -- of variables: what is written alike gets a number behind two underscores, which no other has
  SELECT s.oid, s.attnum, s.text || CASE WHEN count(*) OVER w > 1 THEN '__' || row_number() OVER (w ORDER BY s.oid, s.attnum) ELSE '' END AS text
  FROM (SELECT x.oid, x.attnum, coalesce(nullif(trim('_' FROM regexp_replace(lower(x.name COLLATE "C"), '[^a-z0-9]+', '_', 'g')), ''), 'x') AS text
        FROM (SELECT t.oid, 0 AS attnum, t.relname::text AS name FROM known t UNION ALL SELECT t.oid, 0, t.relname FROM open_table t
              UNION ALL SELECT t.oid, a.attnum, concat(t.relname, '_', a.attname) FROM known t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0
              ) x (oid, attnum, name)) s
  WINDOW w AS (PARTITION BY s.attnum > 0, s.text)),)sql"
    // The columns, and what CHECKs say of them. Hidden: those that name a person, or another than the one whose row it is, as rows of others
    // stay when a person is left out. No more is asked of a table than three things.
    R"sql(
base (type, oid, required) AS (
  SELECT y.oid, y.oid, false FROM pg_type y WHERE y.oid IN (SELECT a.atttypid FROM pg_attribute a JOIN known t ON t.oid = a.attrelid)
  UNION SELECT b.type, y.typbasetype, b.required OR y.typnotnull FROM base b JOIN pg_type y ON y.oid = b.oid AND y.typtype = 'd'),
said AS (
  SELECT a.attrelid, a.attnum, c.* FROM pg_attribute a JOIN known t ON t.oid = a.attrelid
  JOIN pg_constraint k ON k.contype = 'c' AND k.convalidated
    AND (k.conrelid = a.attrelid AND k.conkey = ARRAY[a.attnum] OR k.contypid <> 0 AND k.contypid IN (SELECT b.oid FROM base b WHERE b.type = a.atttypid))
  CROSS JOIN LATERAL dp_rdr.draft_check(k.oid) c),
columns AS (
  SELECT t.oid, a.attnum, a.attname, t.name AS table_name, t.steps, s.text AS stem, y.typcategory = 'N' AS number, b.oid AS type,
         format_type(a.atttypid, a.atttypmod) AS type_name, col_description(t.oid, a.attnum) AS description,
         NOT a.attnotnull AND NOT b.required AS nullable, says.*,
         CASE WHEN NOT dp_rdr.draft_shown(a.atttypid) THEN 'its type runs code'
              WHEN is_key.used THEN NULL
              WHEN EXISTS (SELECT FROM every_key k JOIN led p ON p.oid = k.confrelid WHERE k.conrelid = t.oid AND a.attnum = ANY (k.conkey))
                THEN 'may name another person'
              WHEN EXISTS (SELECT FROM unique_index i WHERE i.indrelid = t.oid AND cardinality(i.columns) = 1 AND (i.columns[1] = a.attnum
                     OR i.columns[1] = 0 AND EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = i.indexrelid
                        AND d.refobjid = t.oid AND d.refobjsubid = a.attnum)))
                THEN 'is unique' END AS hidden,
         is_key.used OR EXISTS (SELECT FROM every_key k WHERE k.conrelid = t.oid AND a.attnum = ANY (k.conkey))
           OR EXISTS (SELECT FROM unique_index i WHERE i.indrelid = t.oid AND i.indisprimary AND a.attnum = ANY (i.columns)) AS key
  FROM known t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
  JOIN stem s ON s.oid = t.oid AND s.attnum = a.attnum
  JOIN base b ON b.type = a.atttypid JOIN pg_type y ON y.oid = b.oid AND y.typtype <> 'd' CROSS JOIN unit u
  CROSS JOIN LATERAL (SELECT
    t.steps = 0 AND coalesce(a.attnum = ANY (u.columns), false)
    OR EXISTS (SELECT FROM way w WHERE w.conrelid = t.oid AND a.attnum = ANY (w.conkey))
    OR EXISTS (SELECT FROM way w WHERE w.confrelid = t.oid AND a.attnum = ANY (w.confkey)) AS used) is_key
  CROSS JOIN LATERAL (SELECT
    (SELECT i.groups FROM said i WHERE i.attrelid = t.oid AND i.attnum = a.attnum AND i.groups IS NOT NULL LIMIT 1) AS groups,
    (SELECT min(i.lower) FROM said i WHERE i.attrelid = t.oid AND i.attnum = a.attnum) AS lower,
    (SELECT min(i.upper) FROM said i WHERE i.attrelid = t.oid AND i.attnum = a.attnum) AS upper) says
  WHERE NOT t.already),
measure AS ( -- columns that may have bounds
  SELECT c.*, c.number AND c.lower IS NOT NULL AND c.upper IS NOT NULL OR NOT c.number AND c.lower IS NOT NULL AND c.upper IS NOT NULL AS bounded,
         row_number() OVER (PARTITION BY c.oid, c.number AND (c.lower IS NULL OR c.upper IS NULL)
                            ORDER BY c.type IN ('smallint'::regtype, 'integer'::regtype, 'bigint'::regtype), c.attnum) AS place
  FROM columns c WHERE c.hidden IS NULL AND NOT c.key AND c.groups IS NULL
    AND c.type IN (SELECT unnest('{smallint,integer,bigint,real,double precision,numeric,date,timestamp,timestamptz}'::regtype[]))),
asked AS (
  SELECT m.*, m.number AND NOT m.bounded AND m.place <= 3 - t.ask_unit::integer - t.ask_rows::integer AS ask
  FROM measure m JOIN known t ON t.oid = m.oid),)sql"
    // The lines of the script, in their order.
    R"sql(
line (place, steps, name, at, part, comment, text, open) AS (
  -- the head
  SELECT 1, 0, '', h.at, 'head', h.comment, h.text, NULL FROM root r, preset p, LATERAL (VALUES
    (1, true, format('dp_draft(%L, unit_table => %L, preset => %L): protects what leads to %s', quote_ident(r.schema), r.name, $4, r.name)),
    (2, true, 'An OPEN is what no catalog knows. Decide it by what the thing means. Do not look it up in the rows: what you write becomes public.'),
    (3, true, 'Write \set name value there, or psql -v name=value. A variable that is not set is a syntax error, and then nothing is kept.'),
    (4, true, format('Preset %s: epsilon %s for ever, tau %s; a count of people is right to %s (95 of 100). doc/start.md argues which to take.',
                     $4, p.epsilon, p.tau, p.error95)),
    (5, false, '\set ON_ERROR_STOP on'),
    (6, false, 'BEGIN;'),
    (7, false, 'SET LOCAL search_path = pg_catalog, pg_temp;'),
    (8, false, 'SET LOCAL dp_rdr.noise = silent;  -- how right numbers will be is said here, for the policies at the end')) h (at, comment, text)
  UNION ALL
  SELECT 2, 0, '', o.at, 'head', true, o.text, o.open FROM root r, LATERAL (VALUES
    (1, 'OPEN: which role asks? Others get the same by dp_grant().', 'analyst'),
    (2, '\set analyst analyst', NULL),
    (3, CASE WHEN $3 IS NULL AND NOT r.already THEN 'OPEN: about how many people are there, as far as that may be published? One digit is enough. Do not count the rows.' END, 'people'),
    (4, CASE WHEN $3 IS NULL AND NOT r.already THEN '\set people 1000' END, NULL)) o (at, text, open) WHERE o.text IS NOT NULL
  UNION ALL
  SELECT 3, 0, '', 1, 'schema', false, format('CREATE SCHEMA %I AUTHORIZATION %I;', r.views, pg_get_userbyid(r.owner)), NULL
  FROM root r WHERE NOT EXISTS (SELECT FROM pg_namespace n WHERE n.nspname = r.views)
  -- the tables
  UNION ALL
  SELECT 4, t.steps, t.name, 1, 'table', true, concat(t.name, ': ' || left(t.description, 200), CASE WHEN t.already THEN ' (is protected already)' END), NULL FROM known t
  UNION ALL
  SELECT 4, t.steps, t.name, 2, 'table', true, format('a row whose %s is NULL is nobody''s, and counts in no answer', t.nullable), NULL
  FROM known t WHERE t.nullable IS NOT NULL AND NOT t.ask_unit AND NOT t.already
  UNION ALL
  SELECT 4, t.steps, t.name, 3, 'table', true, CASE WHEN t.steps > 0
    THEN format('OPEN: whose row is it? Several foreign keys of %s lead to people. Noise hides the one that you choose, no other: take the columns of the others out below. Do not look it up in the rows.', t.name)
    ELSE format('OPEN: which column of %s names the person? It has no key that does. Do not look it up in the rows.', t.name) END, s.text || '_unit'
  FROM known t JOIN stem s ON s.oid = t.oid AND s.attnum = 0 WHERE t.ask_unit AND NOT t.already
  UNION ALL
  SELECT 4, t.steps, t.name, 4, 'table', true, concat('\set ', s.text, '_unit ',
           '''' || replace(replace(replace(replace(w.way, '\', '\\'), '''', ''''''), chr(10), '\n'), chr(13), '\r') || ''''), NULL
  FROM known t JOIN stem s ON s.oid = t.oid AND s.attnum = 0 LEFT JOIN way w ON w.conrelid = t.oid WHERE t.ask_unit AND NOT t.already
  UNION ALL
  SELECT 4, t.steps, t.name, 5, 'table', true, o.text, o.open
  FROM preset p, known t JOIN stem s ON s.oid = t.oid AND s.attnum = 0, LATERAL (VALUES
    (1, format('OPEN: how many rows of %s of one person count? With 4 a count of rows is right to %s, with 20 to %s. Do not look it up in the rows.',
               t.name, p.of_few, p.of_many), s.text || '_max_rows'),
    (2, format('\set %s_max_rows 4', s.text), NULL)) o (at, text, open) WHERE t.ask_rows AND NOT t.already
  UNION ALL
  SELECT 4, t.steps, t.name, 6, 'table', true, 'left out: ' || string_agg(format('%I %s', c.attname, c.hidden), ', ' ORDER BY c.attnum), NULL
  FROM known t JOIN columns c ON c.oid = t.oid WHERE c.hidden IS NOT NULL GROUP BY t.steps, t.name
  UNION ALL
  SELECT 4, t.steps, t.name, 7, 'table', false, format('SELECT dp_protect(%L, %L, unit => %s, columns => %L%s);', t.name,
           format('%I.%I', r.views, t.relname), CASE WHEN t.ask_unit THEN concat(':''', s.text, '_unit''') ELSE quote_literal(t.unit) END,
           (SELECT coalesce(array_agg(c.attname ORDER BY c.attnum), '{}') FROM columns c WHERE c.oid = t.oid AND c.hidden IS NULL),
           CASE WHEN t.ask_rows THEN concat(', max_rows => :', s.text, '_max_rows') END), NULL
  FROM root r, known t JOIN stem s ON s.oid = t.oid AND s.attnum = 0 WHERE NOT t.already
  -- what their columns hold
  UNION ALL
  SELECT 4, c.steps, c.table_name, 8, 'groups', false, format('SELECT dp_set_groups(%L, %L, %L);  -- by CHECK', c.table_name, c.attname,
           CASE WHEN c.nullable THEN array_append(c.groups, NULL) ELSE c.groups END), NULL
  FROM columns c WHERE c.groups IS NOT NULL AND c.hidden IS NULL AND NOT c.key
  UNION ALL
  SELECT 4, m.steps, m.table_name, 9, 'bounds', false, format('SELECT dp_set_bounds(%L, %L, %L::text, %L::text);  -- by CHECK', m.table_name, m.attname, m.lower, m.upper), NULL
  FROM asked m WHERE m.bounded
  UNION ALL
  SELECT 4, m.steps, m.table_name, 8 + 4 * m.place + o.at, 'bounds', o.comment, o.text, o.open FROM asked m, LATERAL (VALUES
    (0, true, concat(format('OPEN: from where to where are values of %I (%s)', m.attname, m.type_name), ', ' || left(m.description, 200),
                     '? What is beyond counts as the bound. Delete the call if nobody adds them up. Do not look it up in the rows.'), m.stem),
    (1, true, CASE WHEN m.lower IS NULL THEN format('\set %s_low 0', m.stem) END, NULL),
    (2, true, CASE WHEN m.upper IS NULL THEN format('\set %s_high', m.stem) END, NULL),
    (3, false, format('SELECT dp_set_bounds(%L, %L, %s::text, %s::text);', m.table_name, m.attname, coalesce(quote_literal(m.lower), concat(':''', m.stem, '_low''')),
                      coalesce(quote_literal(m.upper), concat(':''', m.stem, '_high'''))), NULL)) o (at, comment, text, open)
  WHERE m.ask AND o.text IS NOT NULL
  UNION ALL
  SELECT 4, m.steps, m.table_name, 100, 'bounds', true, 'later, where they are added up or grouped by: bounds of '
           || string_agg(format('%I (%s)', m.attname, m.type_name), ', ' ORDER BY m.attnum) || '. A WHERE bounds them as well.', NULL
  FROM asked m WHERE NOT m.ask AND NOT m.bounded GROUP BY m.steps, m.table_name
  -- totals, public tables, policies
  UNION ALL
  SELECT 5, 0, '', o.at, 'total', r.already, o.text, NULL FROM root r, preset p, LATERAL (VALUES
    (1, false, format('SELECT dp_set_people(%L, %s);', r.name, coalesce($3::text, ':people'))),
    (2, false, format('SELECT dp_set_odometer(%L, bound => ''zcdp'', epsilon_total => %s, delta_total => 1e-6, delta_conversion => 1e-6);', r.name, p.epsilon)),
    (3, true, format('the totals of %s and the number of people stay as they are: dp_settings(%L)', r.name, r.name))) o (at, again, text)
  WHERE o.again = r.already
  UNION ALL
  SELECT 6, 0, t.name, o.at, 'public', o.comment, o.text, o.open FROM root r, open_table t JOIN stem s ON s.oid = t.oid AND s.attnum = 0, LATERAL (VALUES
    (1, true, concat(format('OPEN: is %s public', t.name), ' (' || left(t.description, 200) || ')',
       '? It is false if anything in it comes from people: a person in it, a sum of theirs, a row that is there because of one. Do not look it up in the rows.'), s.text || '_is_public'),
    (2, true, format('\set %s_is_public false', s.text), NULL),
    (3, false, format('SELECT dp_set_public(%L, %L) WHERE :%s_is_public;', t.name, r.name, s.text), NULL),
    (4, NOT t.mine, format('SELECT %L || quote_ident(:''analyst'') WHERE :%s_is_public \gexec', format('GRANT SELECT (%s) ON %s TO ', (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FROM pg_attribute a WHERE a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped), t.name), s.text), NULL),
    (5, NOT t.schema_mine, format('SELECT %L || quote_ident(:''analyst'') WHERE :%s_is_public \gexec', format('GRANT USAGE ON SCHEMA %I TO ', t.nspname), s.text), NULL))
    o (at, comment, text, open) WHERE t.fault IS NULL
  UNION ALL
  SELECT 7, 0, '', 1, 'policy', false, format('GRANT USAGE ON SCHEMA %I TO :"analyst";', r.views), NULL FROM root r
  UNION ALL
  SELECT 7, t.steps, t.name, 2, 'policy', false, format('SELECT dp_grant(%L, quote_ident(:''analyst'')::regrole, tau => %s, mechanism => ''auto'');',
           format('%I.%I', r.views, t.relname), p.tau), NULL
  FROM root r, preset p, known t WHERE NOT t.already
  -- what nobody can ask about
  UNION ALL
  SELECT 8, 0, t.name, 1, 'left out', true, format('left out: %s. %s', t.name, coalesce(t.fault,
           CASE WHEN EXISTS (SELECT FROM every_key k JOIN led l ON l.oid = k.confrelid WHERE k.conrelid = t.oid)
             THEN 'Its foreign key leads to people, but its columns have other types than theirs, or types of no unit, or the way there is longer than 8 tables or leads through one with children.'
             ELSE format('No foreign key leads to %s. Where a column names the person: dp_protect(..., unit => ''column -> %s'', max_rows => ...).', r.name, r.name) END)), NULL
  FROM root r, named t WHERE t.oid NOT IN (SELECT oid FROM led) AND t.oid NOT IN (SELECT oid FROM open_table)
  UNION ALL
  SELECT 8, 0, t.name, 1, 'left out', true, format('left out: %s. %s', t.name, t.fault), NULL FROM open_table t WHERE t.fault IS NOT NULL
  UNION ALL
  SELECT 8, 0, c.relname, 2, 'left out', true, format('left out: %I.%I. It is %s: protect the tables that it shows.', r.schema, c.relname,
           CASE c.relkind WHEN 'f' THEN 'a foreign table' ELSE 'a view' END), NULL
  FROM root r, pg_class c WHERE c.relnamespace = $1 AND c.relkind IN ('v', 'm', 'f') AND NOT c.relispartition
    AND c.oid NOT IN (SELECT view FROM dp_rdr.restricted_view)
  UNION ALL
  SELECT 9, 0, '', o.at, 'end', o.comment, o.text, NULL FROM root r, LATERAL (VALUES
    (1, false, 'COMMIT;'),
    (2, true, format('Then: dp_settings(%L), dp_audit(), dp_report(%L)', r.name, r.name))) o (at, comment, text))
SELECT l.part, l.comment, l.text, l.open FROM line l
ORDER BY l.place, l.steps, l.name COLLATE "C", l.at, l.comment DESC, l.text COLLATE "C")sql";

} // namespace dp::sql
