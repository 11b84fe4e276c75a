-- Times the pages about a table with a short and with a long ledger, whose rows were verified before. Medians of 7, in ms. A long
-- ledger may take at most twice as long as a short one. Verifying all rows is timed beside it. A long one has 200,000 rows, or as
-- many as -v rows=N says.

\if :{?rows}
\else
\set rows 200000
\endif
\set QUIET on
SET client_min_messages = warning;
CREATE EXTENSION dp_rdr;
CREATE ROLE ledger_analyst;
CREATE FUNCTION make(name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TABLE %I AS SELECT i AS id FROM generate_series(1, 1000) i', name);
    PERFORM dp_protect(name, name || '_dp'), dp_set_odometer(name, epsilon_total => 1000000), dp_grant((name || '_dp')::regclass, 'ledger_analyst', tau => 0.95);
END $$;
-- Writes n rows like the only one there is, with the sums that follow from them.
CREATE FUNCTION fill(name text, n integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    r dp_rdr.ledger_row;
BEGIN
    SELECT * INTO STRICT r FROM dp_rdr.ledger_row WHERE relation = 'public.' || name;
    FOR i IN 1..n LOOP
        r.id := nextval('dp_rdr.ledger_row_id_seq');
        r.at := r.at + interval '1 second';
        r.previous_hash := r.hash;
        r.content := dp_rdr.ledger_content(r);
        r.hash := dp_rdr.ledger_hash(r.content_version, r.previous_hash, r.content);
        INSERT INTO dp_rdr.ledger_row OVERRIDING SYSTEM VALUE VALUES (r.*);
    END LOOP;
    UPDATE dp_rdr.odometer SET head = r.hash, public_epsilon = public_epsilon + n * r.epsilon, public_releases = public_releases + n,
        all_epsilon_epoch = all_epsilon_epoch + n * r.epsilon WHERE id = r.table_id;
    UPDATE dp_rdr.odometer_share SET public_epsilon = public_epsilon + n * r.epsilon WHERE id = r.table_id;
END $$;
CREATE FUNCTION milliseconds(statement text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
    took numeric[] := '{}';
    begun timestamptz;
BEGIN
    FOR i IN 1..7 LOOP
        begun := clock_timestamp();
        EXECUTE statement;
        took := took || (extract(epoch FROM clock_timestamp() - begun) * 1000)::numeric;
    END LOOP;
    RETURN round((SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY t) FROM unnest(took) t)::numeric, 1);
END $$;
SELECT make('short'), make('long') \g /dev/null
SET ROLE ledger_analyst;
SELECT count(*) FROM short_dp \g /dev/null
SELECT count(*) FROM long_dp \g /dev/null
RESET ROLE;
SELECT fill('short', 1000), fill('long', :rows) \g /dev/null
VACUUM ANALYZE dp_rdr.ledger_row;
SELECT dp_verify_ledger('short'), dp_verify_ledger('long') \g /dev/null
\set QUIET off
SELECT call, milliseconds(format(call, 'short')) AS of_1000, milliseconds(format(call, 'long')) AS of_long, 'ratio at most 2' AS target
FROM unnest(ARRAY['SELECT dp_verify_ledger(%L)', 'SELECT dp_report(%1$L, ''SELECT count(*) FROM %1$I_dp'')', 'SELECT count(*) FROM dp_settings(%L)']) call
UNION ALL SELECT 'SELECT count(*) FROM dp_audit()', NULL, milliseconds('SELECT count(*) FROM dp_audit()'), NULL
UNION ALL SELECT 'dp_verify_ledger(full)', milliseconds($$SELECT dp_verify_ledger('short', true)$$), milliseconds($$SELECT dp_verify_ledger('long', true)$$), NULL;

-- What is looked up costs what its own rows cost, beside a long ledger: the view reads all of them.
SELECT id AS number FROM dp_ledger('short') LIMIT 1 \gset
SELECT call, milliseconds(call) AS ms, target
FROM (VALUES ('SELECT count(*) FROM dp_ledger(''short'')', 'at most 20'), ('SELECT * FROM dp_ledger(id => ' || :number || ')', 'at most 1'),
             ('SELECT count(*) FROM dp_spending(''short'')', 'at most 20'),
             ('SELECT count(*) FROM dp_rdr.ledger WHERE relation = ''public.short''', 'none: reads all')) x (call, target);
