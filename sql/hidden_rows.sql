-- Rows of others in what everybody may read: neither a plan, nor EXPLAIN ANALYZE, nor an error depends on them. As a role that has
-- nothing, and as the owner of an empty protected table.

LOAD 'dp_rdr';
SET client_min_messages = warning;
DROP ROLE IF EXISTS hidden_owner, hidden_ann, hidden_other, hidden_nobody;
RESET client_min_messages;
CREATE ROLE hidden_owner LOGIN;
CREATE ROLE hidden_ann LOGIN;    -- asks
CREATE ROLE hidden_other LOGIN;  -- owns an empty table
CREATE ROLE hidden_nobody LOGIN;
GRANT CREATE ON SCHEMA public TO hidden_owner, hidden_other;

SET SESSION AUTHORIZATION hidden_owner;
CREATE TABLE hidden AS SELECT id, id % 4 AS room, 20 + id % 60 AS age FROM generate_series(1, 3000) id;
SELECT dp_protect('hidden', 'hidden_dp');
SELECT dp_set_groups('hidden', 'room', '{0,1,2,3}'), dp_set_bounds('hidden', 'age', 0, 100), dp_set_odometer('hidden', epsilon_total => 100);
SELECT dp_grant('hidden_dp', 'hidden_ann', tau => 0.9, epsilon_total => 1, replay => '1 day');
SET SESSION AUTHORIZATION hidden_other;
CREATE TABLE empty (id integer PRIMARY KEY);
SELECT dp_protect('empty', 'empty_dp');
RESET SESSION AUTHORIZATION;

-- ---------------------------------------------------------------------------------------------------------------------
-- What everybody may read: from the catalogs. Whatever comes to it has to come to the lists below.
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TEMP VIEW readable AS
SELECT 'relation' AS kind, c.oid, c.oid::regclass::text AS name FROM pg_class c
WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p', 'S') AND c.relnamespace = 'dp_rdr'::regnamespace
  AND CASE c.relkind WHEN 'S' THEN has_sequence_privilege('hidden_nobody', c.oid, 'SELECT')
                     ELSE has_any_column_privilege('hidden_nobody', c.oid, 'SELECT') END
UNION ALL -- what is IMMUTABLE reads nothing
SELECT 'function', p.oid, CASE n.nspname WHEN 'dp_rdr' THEN 'dp_rdr.' ELSE '' END || p.proname
FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'dp_rdr' AND d.refclassid = 'pg_extension'::regclass
WHERE p.provolatile <> 'i' AND p.prokind IN ('f', 'p') AND has_function_privilege('hidden_nobody', p.oid, 'EXECUTE');

CREATE TABLE hides (name text, how text, call text);
INSERT INTO hides VALUES -- columns are compared with values of hidden rows
    ('dp_rdr.ledger', 'columns', 'dp_rdr.ledger'), ('dp_rdr.spending', 'columns', 'dp_rdr.spending'),
    ('dp_rdr.denials', 'columns', 'dp_rdr.denials'), ('dp_rdr.own_ledger', 'columns', 'dp_rdr.own_ledger()'),
    ('dp_ledger', 'columns', 'dp_ledger()'), ('dp_spending', 'columns', 'dp_spending()'), ('dp_rdr.own_denials', 'columns', 'dp_rdr.own_denials()'), ('dp_requests', 'columns', 'dp_requests(NULL)'),
    ('dp_audit', 'value', 'dp_audit()'), ('dp_last_release', 'columns', 'dp_last_release()'),
    -- one of the caller's own tables is named: with another's it is refused
    ('dp_odometer', 'columns', 'dp_odometer(''hidden'')'), ('dp_domain', 'columns', 'dp_domain(''hidden'')'),
    ('dp_settings', 'columns', 'dp_settings(''hidden'')'), ('dp_attack_risk', 'columns', 'dp_attack_risk(''hidden'')'),
    ('dp_loss', 'columns', 'dp_loss(''hidden'')'), ('dp_loss_records', 'columns', 'dp_loss_records(''hidden'')'),
    ('dp_plan', 'value', 'dp_plan()'), ('dp_about', 'value', 'dp_about(''hidden_dp'')'),
    ('dp_explain', 'value', 'dp_explain(''SELECT count(*) FROM hidden_dp'')'),
    ('dp_risk', 'columns', 'dp_risk(''SELECT count(*) FROM hidden_dp'')'),
    ('dp_risk_records', 'columns', 'dp_risk_records(''SELECT count(*) FROM hidden_dp'', 1)'),
    ('dp_risk_output', 'columns', 'dp_risk_output(''SELECT count(*) FROM hidden_dp'', ''{7}'', epsilon => 1)'),
    ('dp_risk_summary', 'columns', 'dp_risk_summary(''SELECT count(*) FROM hidden_dp'')'),
    ('dp_requests_channel', 'value', 'dp_requests_channel(''hidden'')'), ('dp_verify_ledger', 'value', 'dp_verify_ledger(''hidden'')'), ('dp_forget', 'value', 'dp_forget(''hidden'')'),
    ('dp_report', 'value', 'dp_report(''hidden'')'), ('dp_report', 'request', 'dp_report(''hidden'', request => %s)'),
    ('dp_draft', 'value', 'dp_draft(''public'', ''hidden'')'),
    ('dp_remaining', 'value', 'dp_remaining(''SELECT count(*) FROM hidden_dp'')'),
    -- a request is named: whether there is one with this number does not show
    ('dp_fetch', 'request', 'dp_fetch(%s) o (n bigint)'), ('dp_answer', 'request', 'dp_answer(%s)'),
    ('dp_redraw', 'request', 'dp_redraw(%s) o (draw integer, n bigint)'), ('dp_approve', 'request', 'dp_approve(%s)'),
    ('dp_release', 'request', 'dp_release(%s)'), ('dp_reject', 'request', 'dp_reject(%s)'),
    ('dp_request_signal', 'request', 'dp_request_signal(%s, ''mean'', ''n'', ''why'')'),
    ('dp_inspect_signal', 'request', 'dp_inspect_signal(%s)'),
    -- a restricted view is asked: without SELECT on it, refused
    ('dp_query', 'value', 'dp_query(''SELECT count(*) FROM hidden_dp'') o (n bigint)'),
    ('dp_request', 'value', 'dp_request(''SELECT count(*) FROM hidden_dp'', ''why'')'),
    ('dp_refine', 'value', 'dp_refine(error95 => 1) o (n bigint)'),
    ('dp_rdr.deny', 'value', 'dp_rdr.deny(''hidden'') o (n bigint)'),
    ('dp_rdr.release', 'value', 'dp_rdr.release(''SELECT count(*) FROM hidden_dp'', 1, 1, NULL, NULL, 1, false, NULL, NULL, NULL) o (n bigint)'),
    -- declares, and charges for, what is the caller's
    ('dp_protect', 'value', 'dp_protect(''hidden'', ''again'')'), ('dp_unprotect', 'value', 'dp_unprotect(''hidden_dp'')'),
    ('dp_refresh', 'value', 'dp_refresh(''hidden_dp'')'), ('dp_set_unit', 'value', 'dp_set_unit(''hidden'', ''id'')'),
    ('dp_set_people', 'value', 'dp_set_people(''hidden'', 8000)'), ('dp_set_total', 'value', 'dp_set_total(''hidden'', ''age'', 1)'), ('dp_set_contribution', 'value', 'dp_set_contribution(''hidden'', 1)'),
    ('dp_join_domains', 'value', 'dp_join_domains(''hidden'', ''empty'')'),
    ('dp_set_public', 'value', 'dp_set_public(''empty'', ''hidden'')'), ('dp_unset_public', 'value', 'dp_unset_public(''empty'', ''hidden'')'),
    ('dp_unset_bounds', 'value', 'dp_unset_bounds(''hidden'', ''room'')'), ('dp_unset_groups', 'value', 'dp_unset_groups(''hidden'', ''age'')'),
    ('dp_set_bounds', 'value', 'dp_set_bounds(''hidden'', ''age'', 0, 1)'), ('dp_set_groups', 'value', 'dp_set_groups(''hidden'', ''age'', NULL)'),
    ('dp_set_partition', 'value', 'dp_set_partition(''hidden'', ''age'')'), ('dp_unset_partition', 'value', 'dp_unset_partition(''hidden'')'),
    ('dp_cells', 'value', 'dp_cells(''hidden'')'),
    ('dp_set_odometer', 'value', 'dp_set_odometer(''hidden'')'), ('dp_grant', 'value', 'dp_grant(''hidden_dp'', ''hidden_nobody'', tau => 0.9)'),
    ('dp_revoke', 'value', 'dp_revoke(''hidden_dp'', ''hidden_ann'')'), ('dp_resume', 'value', 'dp_resume(''hidden_dp'', ''hidden_ann'')'),
    ('dp_set_review', 'value', 'dp_set_review(''hidden'', ''{hidden_nobody}'')');
-- What reads nothing of ours, and procedures, which no plan has.
INSERT INTO hides SELECT n, 'nothing', NULL FROM unnest('{dp_rdr.total_functions,dp_low,dp_high,dp_profile,dp_profile_epsilon,
    dp_risk_profile,dp_profile_utility,dp_choose_contribution,dp_find_epsilon,dp_find_and_release_epsilon,
    dp_rdr.timestamptz_pl_interval,dp_rdr.timestamptz_mi_interval,dp_rdr.timestamptz,dp_rdr.timestamp,dp_rdr.date,
    dp_rdr.date_trunc,dp_rdr.extract,dp_rdr.date_part,dp_rdr.to_char,dp_rdr.text,dp_rdr.keep_cell}'::text[]) n;
SELECT DISTINCT r.kind, r.name AS not_in_the_list FROM readable r WHERE r.name NOT IN (SELECT name FROM hides) ORDER BY 1, 2;
SELECT DISTINCT h.name AS not_readable FROM hides h WHERE h.name NOT IN (SELECT name FROM readable) ORDER BY 1;
-- A view over a table has its statistics in the plan; so has a function in SQL, which is inlined.
SELECT DISTINCT r.name, d.refobjid::regclass AS reads FROM readable r JOIN pg_rewrite w ON w.ev_class = r.oid
JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> r.oid
WHERE r.kind = 'relation' AND d.refobjid::regclass::text NOT IN (SELECT name FROM readable);
SELECT r.name AS inlined FROM readable r JOIN pg_proc p ON p.oid = r.oid JOIN pg_language l ON l.oid = p.prolang
WHERE r.kind = 'function' AND l.lanname <> 'c';

-- ---------------------------------------------------------------------------------------------------------------------
-- Hidden rows, and conditions that they meet and do not meet
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE condition (name text, call text, place integer, meets text, misses text);
-- Equality with each column; the value is one that the owner sees, or one that nobody has.
CREATE FUNCTION conditions() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    object record; column_of record; seen text;
    other CONSTANT jsonb := '{"text": "zz", "bigint": -7, "integer": -7, "numeric": -7, "double precision": -7, "boolean": false,
        "timestamp with time zone": "1999-01-01", "date": "1999-01-01", "bytea": "\\x00", "jsonb": "{}", "regclass": "pg_class",
        "double precision[]": "{-7}", "regclass[]": "{}"}';
BEGIN
    FOR object IN SELECT * FROM hides WHERE how = 'columns' LOOP
        EXECUTE format('CREATE TEMP TABLE seen AS SELECT * FROM %s', object.call);
        FOR column_of IN SELECT attname, format_type(atttypid, atttypmod) AS type, attnum FROM pg_attribute
                         WHERE attrelid = 'seen'::regclass AND attnum > 0 LOOP
            EXECUTE format('SELECT %I::text FROM seen WHERE %I IS NOT NULL LIMIT 1', column_of.attname, column_of.attname) INTO seen;
            INSERT INTO condition VALUES (object.name, object.call, column_of.attnum,
                format('o.%I = %L::%s', column_of.attname, coalesce(seen, other ->> column_of.type), column_of.type),
                format('o.%I = %L::%s', column_of.attname, other ->> column_of.type, column_of.type));
            IF column_of.type = 'text' AND seen <> '' THEN
                INSERT INTO condition VALUES (object.name, object.call, 100 + column_of.attnum,
                    format('starts_with(o.%I, %L)', column_of.attname, left(seen, 2)), format('starts_with(o.%I, ''zz'')', column_of.attname));
            END IF;
        END LOOP;
        DROP TABLE seen;
    END LOOP;
END $$;

-- Plans without what they say of the condition itself. The first run fills caches.
CREATE FUNCTION shown(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    options text; line text; lines text;
BEGIN
    FOREACH options IN ARRAY '{"COSTS","VERBOSE","ANALYZE, BUFFERS, TIMING OFF, SUMMARY OFF","ANALYZE, BUFFERS, VERBOSE, TIMING OFF, SUMMARY OFF"}'::text[] LOOP
        lines := coalesce(lines, '') || options || E'\n';
        BEGIN
            FOR line IN EXECUTE format('EXPLAIN (%s) %s', options, statement) LOOP
                EXIT WHEN line ~ '^Planning';
                -- From 18 on rows have decimals.
                lines := lines || regexp_replace(regexp_replace(line, '^(\s+(Filter|Function Call|Output):) .*', '\1'), '(actual rows=\d+)\.00 ', '\1 ') || E'\n';
            END LOOP;
        EXCEPTION WHEN OTHERS THEN
            lines := lines || sqlstate || ' ' || regexp_replace(sqlerrm, '\d+', 'N', 'g') || E'\n';
        END;
    END LOOP;
    RETURN lines;
END $$;

CREATE TABLE plan (role text, run integer, name text, place integer, meets text, misses text);
CREATE FUNCTION look(turn integer, known text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    c record; warm text; met text; missed text;
BEGIN
    FOR c IN SELECT name, place, format('SELECT * FROM %s o WHERE %s', call, meets) AS meets,
                    format('SELECT * FROM %s o WHERE %s', call, misses) AS misses FROM condition
             UNION ALL SELECT name, 0, format('SELECT * FROM %s', call), format('SELECT * FROM %s', call) FROM hides WHERE how IN ('value', 'columns')
             UNION ALL SELECT name, 0, format('SELECT * FROM ' || call, known), format('SELECT * FROM ' || call, 987654321) FROM hides WHERE how = 'request'
             ORDER BY 1, 2 LOOP
        FOR i IN 1 .. 20 LOOP -- a cache that somebody else empties meanwhile costs buffers once; hidden rows would show each time
            warm := shown(c.meets);
            met := shown(c.meets);
            missed := shown(c.misses);
            EXIT WHEN met = missed;
        END LOOP;
        INSERT INTO plan VALUES (current_user, turn, c.name, c.place, met, missed);
    END LOOP;
END $$;
GRANT SELECT ON hides, condition TO PUBLIC;
GRANT INSERT, SELECT ON plan TO PUBLIC;
GRANT INSERT ON condition TO hidden_owner;
GRANT TEMP ON DATABASE :DBNAME TO hidden_owner;

-- Charges, one denied, a request, an answer that is given again.
SET SESSION AUTHORIZATION hidden_ann;
SELECT count(*) > 0 AS answered FROM hidden_dp;
SELECT dp_request('SELECT count(*) AS n FROM hidden_dp WHERE age < 50', 'beds') AS known \gset
SET client_min_messages = error;
SELECT attempt('SELECT count(*) FROM hidden_dp WHERE age > ' || n) ~ '^(accepted|53400 query denied)' AS asked, count(*) FROM generate_series(1, 60) n GROUP BY 1;
RESET client_min_messages;
SET SESSION AUTHORIZATION hidden_owner;
SET client_min_messages = warning;
SELECT conditions();
RESET client_min_messages;
SELECT name, count(*) AS conditions FROM condition WHERE name ~ 'ledger|spending|denials|requests' AND meets <> misses GROUP BY 1 ORDER BY 1;
RESET SESSION AUTHORIZATION;
ANALYZE dp_rdr.ledger_row, dp_rdr.denial, dp_rdr.request, dp_rdr.policy, dp_rdr.odometer;
SET SESSION AUTHORIZATION hidden_nobody;
SELECT look(1, :'known');
SET SESSION AUTHORIZATION hidden_other;
SELECT look(1, :'known');

-- More of them, and other statistics.
SET SESSION AUTHORIZATION hidden_owner;
SELECT dp_set_odometer('hidden', epsilon_total => 1000), dp_grant('hidden_dp', 'hidden_ann', epsilon_total => 1000);
SET SESSION AUTHORIZATION hidden_ann;
SELECT count(*) AS n, count(DISTINCT attempt('SELECT count(*) FROM hidden_dp WHERE age < ' || n)) AS outcomes FROM generate_series(1, 60) n;
SELECT count(dp_request('SELECT count(*) AS n FROM hidden_dp WHERE age < ' || n, 'beds')) AS asked FROM generate_series(50, 80) n;
RESET SESSION AUTHORIZATION;
ANALYZE dp_rdr.ledger_row, dp_rdr.denial, dp_rdr.request, dp_rdr.policy, dp_rdr.odometer;
SET SESSION AUTHORIZATION hidden_nobody;
SELECT look(2, :'known');
SET SESSION AUTHORIZATION hidden_other;
SELECT look(2, :'known');
RESET SESSION AUTHORIZATION;

-- A condition that hidden rows meet, and one that they do not meet: one plan.
SELECT role, run, name, place, meets, misses FROM plan WHERE meets <> misses ORDER BY 1, 2, 3, 4;
-- However many of them there are.
SELECT a.role, a.name, a.place, a.meets, b.meets FROM plan a JOIN plan b USING (role, name, place)
WHERE a.run = 1 AND b.run = 2 AND a.meets <> b.meets ORDER BY 1, 2, 3;
SELECT role, run, count(*) AS plans FROM plan GROUP BY 1, 2 ORDER BY 1, 2;
-- What they are: nothing of a hidden table is planned or counted.
SELECT DISTINCT meets FROM plan WHERE name IN ('dp_rdr.ledger', 'dp_rdr.denials') AND place = 5;

-- Nor do the counters of the own transaction, however much was looked at.
SET SESSION AUTHORIZATION hidden_owner;
BEGIN;
SELECT sum(seq_scan + coalesce(idx_scan, 0)) AS before FROM pg_stat_xact_all_tables WHERE schemaname = 'dp_rdr' AND relname <> 'restricted_view' \gset
SELECT (SELECT count(*) FROM dp_rdr.ledger) > 0 AS ledger, (SELECT count(*) FROM dp_rdr.denials) > 0 AS denials,
    (SELECT count(*) FROM dp_requests(NULL)) > 0 AS requests;
-- Views are looked up when a statement on one is planned.
SELECT sum(seq_scan + coalesce(idx_scan, 0)) - :before AS counted FROM pg_stat_xact_all_tables WHERE schemaname = 'dp_rdr' AND relname <> 'restricted_view';
COMMIT;
RESET SESSION AUTHORIZATION;

DROP TABLE plan, condition, hides;
DROP FUNCTION conditions(), look(integer, text), shown(text);
SET SESSION AUTHORIZATION hidden_owner;
SELECT dp_unprotect('hidden_dp');
DROP TABLE hidden;
SET SESSION AUTHORIZATION hidden_other;
SELECT dp_unprotect('empty_dp');
DROP TABLE empty;
RESET SESSION AUTHORIZATION;
DROP OWNED BY hidden_owner, hidden_ann, hidden_other, hidden_nobody CASCADE;
DROP ROLE hidden_owner, hidden_ann, hidden_other, hidden_nobody;
