-- What psql and other tools do for an analyst beside sending his statements: they describe, complete, repeat, fetch in parts
-- and pivot. Descriptions come from the catalogs and cost nothing; an answer costs once, however it is displayed. Noise is 0,
-- as epsilon is 50 for at most two measures (an error has probability below 1e-9), so answers are printed.

LOAD 'dp_rdr';
SET client_min_messages = warning;
DROP ROLE IF EXISTS regress_tool;
RESET client_min_messages;
CREATE ROLE regress_tool;
\set VERBOSITY terse

SET ROLE regress_controller;
CREATE TABLE stayover (id integer PRIMARY KEY, ward text NOT NULL, urgent boolean DEFAULT false, cost numeric(8,2), day date);
INSERT INTO stayover SELECT g, 'ward ' || g % 3, g % 2 = 0, g % 10, date '2024-01-01' + g % 100 FROM generate_series(1, 600) g;
COMMENT ON TABLE stayover IS 'one row for each patient';
SELECT dp_protect('stayover', 'stayover_dp');
COMMENT ON VIEW stayover_dp IS 'answers about visits';
COMMENT ON COLUMN stayover_dp.cost IS 'in euros';
SELECT dp_set_bounds('stayover', 'cost', 0, 10);
SELECT dp_set_groups('stayover', 'ward', '{ward 0,ward 1,ward 2}');
SELECT dp_set_odometer('stayover', 'none', NULL);
SELECT dp_grant('stayover_dp', 'regress_tool', tau => 0, epsilon_max => 100, candidates => '{50}');
CREATE FUNCTION charges() RETURNS numeric LANGUAGE sql SECURITY DEFINER AS
    $$ SELECT releases FROM dp_odometer('public.stayover') WHERE account = 'public' $$;
CREATE FUNCTION charges_since() RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
    before numeric := current_setting('tools.charges', true)::numeric;
BEGIN
    PERFORM set_config('tools.charges', charges()::text, false);
    RETURN charges() - before;
END $$;
SET ROLE regress_tool;
SELECT charges_since() IS NULL AS begun;

-- ---------------------------------------------------------------------------------------------------------------------
-- Descriptions: the view looks like a table that has the columns of the protected one
-- ---------------------------------------------------------------------------------------------------------------------

\d stayover_dp
\d+ stayover_dp
\sv stayover_dp
\d adult_dp
\dv+ stayover*
\dp stayover*
\df dp_query

SELECT table_name, table_type, is_insertable_into FROM information_schema.tables WHERE table_name ~ '^stayover';
SELECT column_name, ordinal_position AS n, data_type, numeric_precision AS precision, numeric_scale AS scale, is_nullable, column_default, is_updatable
FROM information_schema.columns WHERE table_name ~ '^stayover' ORDER BY table_name, ordinal_position;
SELECT table_name, view_definition, check_option, is_updatable, is_insertable_into FROM information_schema.views WHERE table_name ~ '^stayover';
SELECT table_name, grantee, privilege_type FROM information_schema.table_privileges WHERE table_name ~ '^stayover';
SELECT table_name, constraint_name FROM information_schema.table_constraints WHERE table_name ~ '^stayover';
SELECT view_name, table_name FROM information_schema.view_table_usage WHERE view_name ~ '^stayover';
SELECT has_table_privilege('stayover_dp', 'SELECT') AS may_ask, has_table_privilege('stayover', 'SELECT') AS may_read;

-- What psql 15 sends when the tab key is pressed after FROM vi, WHERE (where stayover_dp was named), and FROM dp_rdr.
SELECT c.relname, NULL::pg_catalog.text FROM pg_catalog.pg_class c WHERE c.relkind IN ('r', 'S', 'v', 'm', 'f', 'p') AND (c.relname) LIKE 'vi%' AND pg_catalog.pg_table_is_visible(c.oid) AND c.relnamespace <> (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = 'pg_catalog')
	UNION ALL
	SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE 'vi%' AND n.nspname NOT LIKE E'pg\\_%'
	LIMIT 1000;
SELECT a.attname, NULL::pg_catalog.text FROM pg_catalog.pg_attribute a, pg_catalog.pg_class c WHERE c.oid = a.attrelid and a.attnum > 0 and not a.attisdropped AND (a.attname) LIKE '%' AND c.relname = 'stayover_dp' AND pg_catalog.pg_table_is_visible(c.oid)
	LIMIT 1000;
SELECT c.relname, n.nspname FROM pg_catalog.pg_class c, pg_catalog.pg_namespace n WHERE c.relnamespace = n.oid AND c.relkind IN ('r', 'S', 'v', 'm', 'f', 'p') AND (c.relname) LIKE 'led%' AND n.nspname = 'dp_rdr'
	LIMIT 1000;
SELECT charges_since() AS described;

-- ---------------------------------------------------------------------------------------------------------------------
-- One answer, one charge
-- ---------------------------------------------------------------------------------------------------------------------

SELECT ward, urgent, count(*) FROM stayover_dp GROUP BY ward, urgent ORDER BY ward, urgent \crosstabview ward urgent count
SELECT charges_since() AS pivoted;
SELECT count(*) AS n, count(*) FILTER (WHERE urgent) AS urgent FROM stayover_dp \gset visits_
SELECT :visits_n - :visits_urgent AS not_urgent;
SELECT ward, count(*), round(avg(cost), 1) AS cost FROM stayover_dp GROUP BY ward ORDER BY ward LIMIT 1 \gx
SELECT charges_since() AS stored_and_expanded;
\copy (SELECT ward, count(*) FROM stayover_dp GROUP BY ward ORDER BY ward) TO PROGRAM 'cat' WITH (FORMAT csv, HEADER)
\copy stayover_dp TO STDOUT
\copy (SELECT * FROM stayover_dp) TO STDOUT
\copy stayover_dp FROM PROGRAM 'true'
SELECT charges_since() AS copied;
\pset format csv
SELECT ward, count(*) FROM stayover_dp WHERE urgent GROUP BY ward ORDER BY ward \g |cat
\pset format aligned
SELECT charges_since() AS piped;
-- The rows of one answer become statements, each of which costs for itself.
SELECT format('SELECT count(*) AS %I FROM stayover_dp WHERE ward = %1$L', ward) FROM stayover_dp GROUP BY ward HAVING count(*) > 5 ORDER BY ward \gexec
SELECT charges_since() AS one_and_three;

-- Fetched in parts, by a cursor of psql's; row by row also where the answer is that of a join.
\set FETCH_COUNT 1
SELECT ward, count(*) FROM stayover_dp GROUP BY ward ORDER BY ward;
SELECT charges_since() AS fetched;
SELECT ward, n, g FROM (SELECT ward, count(*) AS n FROM stayover_dp GROUP BY ward) q, generate_series(1, 2) g ORDER BY ward, g;
SELECT charges_since() AS joined;
SELECT * FROM stayover_dp;
SELECT charges_since() AS refused;
\unset FETCH_COUNT

-- Savepoints around statements; the transaction goes on after a refusal.
\set ON_ERROR_ROLLBACK on
BEGIN;
SELECT count(*) FROM stayover_dp;
SELECT mode() WITHIN GROUP (ORDER BY cost) FROM stayover_dp;
SELECT count(*) FROM stayover_dp WHERE urgent;
ROLLBACK;
\unset ON_ERROR_ROLLBACK
SELECT charges_since() AS rolled_back;

-- Repeated until it fails: the total is used up after two answers. The title, with the time, is not printed.
SET ROLE regress_controller;
SELECT dp_set_odometer('stayover', 'filter', epsilon_total => epsilon + 100) FROM dp_odometer('stayover') WHERE account = 'public';
SET ROLE regress_tool;
\pset tuples_only on
SELECT count(*) FROM stayover_dp \watch 0.01
\pset tuples_only off
SELECT charges_since() AS watched;

RESET ROLE;
DROP FUNCTION charges_since, charges;
SET ROLE regress_controller;
SELECT dp_unprotect('stayover_dp');
DROP TABLE stayover;
RESET ROLE;
DROP ROLE regress_tool;
