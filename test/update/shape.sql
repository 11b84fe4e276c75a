-- What the extension in this database consists of, one fact a line, without what differs between two databases anyway
-- (oids, files, statistics) or between a table that was made and one that was altered (numbers of columns that follow a
-- dropped one, values that old rows lack). For test/t/020_update.pl, which compares an update with a fresh
-- installation.
SET search_path = pg_catalog;

CREATE FUNCTION pg_temp.sorted(list jsonb) RETURNS jsonb LANGUAGE sql
    RETURN (SELECT jsonb_agg(x ORDER BY x::text) FROM jsonb_array_elements(nullif(list, 'null')) x);

CREATE TEMP VIEW member AS
SELECT d.classid, d.objid, i.type, i.identity
FROM pg_depend d JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid,
     pg_identify_object(d.classid, d.objid, d.objsubid) i
WHERE d.deptype = 'e' AND e.extname = 'dp_rdr';

-- Tables, views and sequences, and the indexes on them.
CREATE TEMP VIEW relation AS
SELECT c.oid, c.oid::regclass AS name FROM pg_class c
WHERE c.oid IN (SELECT objid FROM member WHERE classid = 'pg_class'::regclass)
   OR c.oid IN (SELECT i.indexrelid FROM pg_index i
                JOIN member m ON m.classid = 'pg_class'::regclass AND i.indrelid = m.objid);

CREATE TEMP VIEW fact AS
SELECT 'extension' AS kind, e.extname::text AS name,
       jsonb_build_array(e.extversion, e.extrelocatable, e.extnamespace::regnamespace)::text AS fact
FROM pg_extension e WHERE e.extname = 'dp_rdr'
UNION ALL
SELECT 'member', m.identity, m.type FROM member m
UNION ALL
SELECT 'schema', n.nspname, jsonb_build_array(n.nspowner::regrole, pg_temp.sorted(to_jsonb(n.nspacl)))::text
FROM pg_namespace n JOIN member m ON m.classid = 'pg_namespace'::regclass AND m.objid = n.oid
UNION ALL
SELECT 'function', p.oid::regprocedure::text,
       (to_jsonb(p) - string_to_array('oid pronamespace proowner prolang prorettype proargtypes proallargtypes '
                                       'proargdefaults prosqlbody proacl provariadic', ' ')
        || jsonb_build_object('arguments', pg_get_function_arguments(p.oid), 'result', pg_get_function_result(p.oid),
                              'owner', p.proowner::regrole, 'language', l.lanname,
                              'body', pg_get_function_sqlbody(p.oid), 'variadic', p.provariadic::regtype,
                              'acl', pg_temp.sorted(to_jsonb(p.proacl))))::text
FROM pg_proc p JOIN member m ON m.classid = 'pg_proc'::regclass AND m.objid = p.oid
JOIN pg_language l ON l.oid = p.prolang
UNION ALL
SELECT 'aggregate', a.aggfnoid::regprocedure::text,
       (to_jsonb(a) - '{aggfnoid,aggsortop,aggtranstype,aggmtranstype}'::text[]
        || jsonb_build_object('sort', a.aggsortop::regoperator, 'state', a.aggtranstype::regtype,
                              'moving state', a.aggmtranstype::regtype))::text
FROM pg_aggregate a JOIN member m ON m.classid = 'pg_proc'::regclass AND m.objid = a.aggfnoid
UNION ALL
SELECT 'relation', r.name::text,
       (to_jsonb(c) - string_to_array('oid relnamespace reltype reloftype relowner relam relfilenode relpages '
                                       'reltuples relallvisible relallfrozen reltoastrelid relnatts relrewrite '
                                       'relfrozenxid relminmxid relacl', ' ')
        || jsonb_build_object('owner', c.relowner::regrole, 'method', am.amname, 'toasted', c.reltoastrelid <> 0,
                              'acl', pg_temp.sorted(to_jsonb(c.relacl))))::text
FROM pg_class c JOIN relation r ON r.oid = c.oid LEFT JOIN pg_am am ON am.oid = c.relam
UNION ALL
SELECT 'column', a.attrelid::regclass || ' ' || row_number() OVER (PARTITION BY a.attrelid ORDER BY a.attnum),
       (to_jsonb(a) - string_to_array('attrelid attnum atttypid attcollation attcacheoff atthasmissing attmissingval '
                                       'attacl attoptions', ' ')
        || jsonb_build_object('type', format_type(a.atttypid, a.atttypmod),
                              -- Some servers stamp each table's columns with a number of their own.
                              'options', (SELECT jsonb_agg(o ORDER BY o) FROM unnest(a.attoptions) o
                                          WHERE o NOT LIKE 'pg\_attver=%'),
                              'collation', a.attcollation::regcollation,
                              'default', pg_get_expr(d.adbin, d.adrelid),
                              'acl', pg_temp.sorted(to_jsonb(a.attacl))))::text
FROM pg_attribute a JOIN relation r ON r.oid = a.attrelid
LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE a.attnum > 0 AND NOT a.attisdropped
UNION ALL
SELECT 'constraint', c.conrelid::regclass || ' ' || c.conname,
       jsonb_build_array(pg_get_constraintdef(c.oid), c.convalidated, c.connoinherit, c.condeferrable)::text
FROM pg_constraint c JOIN relation r ON r.oid = c.conrelid
UNION ALL
SELECT 'view', r.name::text, pg_get_viewdef(r.oid)
FROM relation r JOIN pg_class c ON c.oid = r.oid WHERE c.relkind IN ('v', 'm')
UNION ALL
SELECT 'index', r.name::text, pg_get_indexdef(r.oid)
FROM relation r JOIN pg_class c ON c.oid = r.oid WHERE c.relkind = 'i'
UNION ALL
SELECT 'sequence', s.seqrelid::regclass::text,
       (to_jsonb(s) - '{seqrelid,seqtypid}'::text[] || jsonb_build_object('type', s.seqtypid::regtype,
           'of', (SELECT jsonb_agg(pg_describe_object(d.refclassid, d.refobjid, d.refobjsubid)) FROM pg_depend d
                  WHERE d.classid = 'pg_class'::regclass AND d.objid = s.seqrelid AND d.refobjsubid > 0)))::text
FROM pg_sequence s JOIN relation r ON r.oid = s.seqrelid
UNION ALL
SELECT 'trigger', t.tgrelid::regclass || ' ' || t.tgname, pg_get_triggerdef(t.oid) || t.tgenabled::text
FROM pg_trigger t JOIN relation r ON r.oid = t.tgrelid
UNION ALL
SELECT 'rule', w.ev_class::regclass || ' ' || w.rulename, pg_get_ruledef(w.oid) || w.ev_enabled::text
FROM pg_rewrite w JOIN relation r ON r.oid = w.ev_class
UNION ALL
SELECT 'policy', p.polrelid::regclass || ' ' || p.polname, jsonb_build_array(p.polcmd, p.polroles::regrole[],
       pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid))::text
FROM pg_policy p JOIN relation r ON r.oid = p.polrelid
UNION ALL
SELECT 'type', t.oid::regtype::text,
       (to_jsonb(t) - string_to_array('oid typnamespace typowner typrelid typelem typarray typbasetype typcollation '
                                       'typdefaultbin typacl', ' ')
        || jsonb_build_object('owner', t.typowner::regrole, 'element', t.typelem::regtype,
                              'base', t.typbasetype::regtype, 'collation', t.typcollation::regcollation,
                              'acl', pg_temp.sorted(to_jsonb(t.typacl)),
                              'labels', (SELECT jsonb_agg(l.enumlabel ORDER BY l.enumsortorder) FROM pg_enum l
                                         WHERE l.enumtypid = t.oid),
                              'checks', (SELECT jsonb_agg(pg_get_constraintdef(c.oid) ORDER BY c.conname)
                                         FROM pg_constraint c WHERE c.contypid = t.oid)))::text
FROM pg_type t JOIN member m ON m.classid = 'pg_type'::regclass AND m.objid = t.oid
UNION ALL
SELECT 'cast', format('%s AS %s', c.castsource::regtype, c.casttarget::regtype), concat_ws(' ', c.castfunc::regproc, c.castcontext, c.castmethod)
FROM pg_cast c JOIN member m ON m.classid = 'pg_cast'::regclass AND m.objid = c.oid
UNION ALL
-- Comments of members and of their columns, constraints and the like.
SELECT 'comment', pg_describe_object(d.classoid, d.objoid, d.objsubid), d.description
FROM pg_description d
WHERE (d.classoid, d.objoid) IN (SELECT m.classid, m.objid FROM member m)
   OR (d.classoid = 'pg_class'::regclass AND d.objoid IN (SELECT r.oid FROM relation r))
   OR (d.classoid = 'pg_constraint'::regclass
       AND d.objoid IN (SELECT c.oid FROM pg_constraint c JOIN relation r ON r.oid = c.conrelid))
UNION ALL
-- What pg_dump takes for the privileges that the script gave.
SELECT 'privileges', pg_describe_object(i.classoid, i.objoid, i.objsubid),
       i.privtype::text || pg_temp.sorted(to_jsonb(i.initprivs))::text
FROM pg_init_privs i WHERE (i.classoid, i.objoid) IN (SELECT m.classid, m.objid FROM member m)
UNION ALL
SELECT 'dumped', c.relation::regclass::text, c.condition
FROM pg_extension e, unnest(e.extconfig, e.extcondition) c (relation, condition) WHERE e.extname = 'dp_rdr'
UNION ALL
-- Kinds of members that nothing above describes: a line here wants one there.
SELECT 'not described', m.identity, m.type FROM member m
WHERE m.classid NOT IN ('pg_namespace'::regclass, 'pg_proc'::regclass, 'pg_class'::regclass, 'pg_type'::regclass, 'pg_cast'::regclass);

SELECT concat_ws(': ', f.kind, f.name, regexp_replace(f.fact, '\s+', ' ', 'g')) FROM fact f ORDER BY 1;
