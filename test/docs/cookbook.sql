-- What the blocks of doc/cookbook.md ask: the tables and restricted views of test/questions, with the largest epsilon that there is.
SET ROLE controller;
SET client_min_messages = error;
\i test/questions/load.sql
\i test/questions/protect.sql
SELECT dp_set_odometer(t::regclass, 'none', delta_total => 0.9) FROM unnest('{hospital_rows.patients,shop_rows.customers,log_rows.users}'::text[]) t;
GRANT USAGE ON SCHEMA hospital, shop, log TO analyst;
GRANT SELECT ON ALL TABLES IN SCHEMA hospital, shop, log TO analyst;
SELECT dp_grant(c.oid, 'analyst', tau => 0, candidates => '{100}', epsilon_max => 100, delta => 1e-6)
FROM pg_class c WHERE relnamespace IN ('hospital'::regnamespace, 'shop'::regnamespace, 'log'::regnamespace) AND relkind = 'v';
RESET client_min_messages;
SET ROLE analyst;
SET search_path = hospital, shop, log, public;
