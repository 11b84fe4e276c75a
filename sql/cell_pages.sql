-- Pages about a table with a partition: what a question would be charged to, what is left of its cells, what attacks on each come to.
\set SHOW_CONTEXT never
LOAD 'dp_rdr';
SET SESSION AUTHORIZATION regress_controller;
CREATE TABLE cell_guests AS SELECT i AS id, date '2025-01-01' + i % 365 AS day, i % 90 AS age, (ARRAY['north', 'south', NULL])[1 + i % 3] AS site FROM generate_series(1, 3000) i;
SET client_min_messages = warning;
SELECT dp_protect('cell_guests', 'cell_guests_dp'), dp_protect('cell_guests', 'cell_ages_dp', columns => '{id,age}'), dp_set_groups('cell_guests', 'site', '{north,south}'), dp_set_bounds('cell_guests', 'age', 0, 90);
SELECT dp_grant('cell_guests_dp', 'regress_analyst', tau => 0.9), dp_grant('cell_ages_dp', 'regress_analyst', tau => 0.9), dp_grant('cell_guests_dp', 'regress_second', tau => 0.9, epsilon_total => 0.3);
RESET client_min_messages;
SELECT column_name, cells FROM dp_explain('SELECT count(*) FROM cell_guests_dp'); -- not the owner's to ask
-- The call, as it was made.
CREATE FUNCTION cell_call() RETURNS TABLE (name text, value text, call text) LANGUAGE sql AS $$
    SELECT name, value, call FROM dp_settings('cell_guests') WHERE item = 'partition' $$;
SELECT * FROM cell_call();
SET client_min_messages = warning;
SELECT dp_set_partition('cell_guests', 'age', by => '10', since => '0', until => '59', guard => false);
SELECT * FROM cell_call();
SELECT dp_set_partition('cell_guests', 'site', fresh => true);
SELECT * FROM cell_call();
SELECT dp_set_partition('cell_guests', 'day', by => 'week', since => '2025-01-08');
SELECT * FROM cell_call();
SELECT dp_set_partition('cell_guests', 'day', by => 'quarter', since => '2025-02-01');
SELECT * FROM cell_call();
DO $$ BEGIN EXECUTE (SELECT call FROM cell_call()); END $$;
SELECT * FROM cell_call();
SELECT dp_set_partition('cell_guests', 'day', by => 'month', since => '2025-01-15');
RESET client_min_messages;
SELECT * FROM cell_call();

-- What questions would be charged to. Where the view does not show the column nobody could name a cell.
SET SESSION AUTHORIZATION regress_analyst;
SELECT filter, cells, accepted FROM unnest(ARRAY[
    $$day >= '2025-03-01' AND day < '2025-04-01'$$, $$day BETWEEN '2025-03-01' AND '2025-04-01'$$, $$day IN ('2025-02-01', '2025-04-09', '2025-07-01')$$,
    $$day IN ('2025-01-01', '2025-03-09', '2025-05-01', '2025-07-07', '2025-09-07')$$, $$age > 3$$, $$extract(month FROM day) = 3$$, $$day IS NULL$$,
    $$day < '2025-01-01'$$]) WITH ORDINALITY f (filter, n), dp_explain('SELECT count(*) FROM cell_guests_dp WHERE ' || filter) ORDER BY n;
SELECT leaf, column_name, cells FROM dp_explain($$SELECT (SELECT count(*) FROM cell_guests_dp WHERE day = '2025-02-02') + count(*) AS n, avg(age) FROM cell_guests_dp WHERE day < '2025-03-01'$$);
SELECT cells FROM dp_explain('SELECT count(*) FROM cell_ages_dp');
SELECT cells FROM dp_explain('SELECT count(*) FROM adult_dp');

-- The least that is left of the touched cells.
CREATE TEMPORARY TABLE cell_asked (n bigint);
INSERT INTO cell_asked SELECT count(*) FROM cell_guests_dp WHERE day >= '2025-03-01' AND day < '2025-04-01';
INSERT INTO cell_asked SELECT count(*) FROM cell_guests_dp WHERE day >= '2025-03-01' AND day < '2025-05-01';
INSERT INTO cell_asked SELECT count(*) FROM cell_guests_dp;
SELECT filter, r.* FROM unnest(ARRAY['true', $$day = '2025-03-01'$$, $$day = '2025-04-01'$$, $$day = '2025-05-01'$$, $$day BETWEEN '2025-04-01' AND '2025-06-30'$$,
    $$day BETWEEN '2025-05-01' AND '2025-06-30'$$]) WITH ORDINALITY f (filter, n), dp_remaining('SELECT count(*) FROM cell_guests_dp WHERE ' || filter) r ORDER BY n;
SELECT * FROM dp_remaining('SELECT count(*) FROM cell_ages_dp');
SELECT name, value FROM dp_about('cell_guests_dp') WHERE item IN ('answers left', 'partition');
SELECT count(*) FROM dp_about('cell_ages_dp') WHERE item = 'partition';
SET SESSION AUTHORIZATION regress_second;
SELECT * FROM dp_remaining($$SELECT count(*) FROM cell_guests_dp WHERE day = '2025-03-01'$$);

-- The report has the poorest and the richest cell.
SET SESSION AUTHORIZATION regress_controller;
SELECT regexp_replace(substring(html FROM 'Cells have it each[^<]*'), '\d{4}-\d\d\.$', 'now.') AS said, html ~ 'by month since 2025-01-01' AS the_call FROM dp_report('cell_guests') html;
SELECT dp_report('adult') ~ 'Cells have it each' AS said;
-- Of attacks: the largest sums of any cell, or those of one.
SET SESSION AUTHORIZATION regress_controller;
SELECT account, epsilon, releases FROM dp_odometer('cell_guests') WHERE account = 'public';
CREATE FUNCTION cell_epsilon(cell text = NULL, role regrole = NULL) RETURNS numeric LANGUAGE sql AS $$
    SELECT round(2 * atanh(advantage_max)::numeric, 6) FROM dp_attack_risk('cell_guests', role, cell) LIMIT 1 $$;
SET client_min_messages = warning;
SELECT cell_epsilon() AS any_cell, cell_epsilon('2025-03') AS march, cell_epsilon('2025-04') AS april, cell_epsilon('2025-05') AS may,
       cell_epsilon('before 2025-01, NULL') AS before, cell_epsilon('2025-03', 'regress_analyst') AS of_analyst, cell_epsilon('2025-03', 'regress_second') AS of_second;
RESET client_min_messages;
\set VERBOSITY terse
SELECT attempt($$SELECT * FROM dp_attack_risk('cell_guests', cell => '2024-12')$$), attempt($$SELECT * FROM dp_attack_risk('cell_guests', cell => '2025-03 .. 2025-04')$$),
       attempt($$SELECT * FROM dp_attack_risk('adult', cell => '2025-03')$$);

-- Under zcdp: rho, cell by cell, and of each what the total leaves. dp_odometer has what the fullest cell has.
CREATE TABLE cell_zcdp AS SELECT * FROM cell_guests;
SET client_min_messages = warning;
SELECT dp_protect('cell_zcdp', 'cell_zcdp_dp'), dp_set_groups('cell_zcdp', 'site', '{north,south}'),
       dp_set_odometer('cell_zcdp', 'zcdp', epsilon_total => 3, delta_total => 1e-6, delta_conversion => 1e-6), dp_set_partition('cell_zcdp', 'site');
SELECT dp_grant('cell_zcdp_dp', 'regress_analyst', tau => 0, candidates => '{0.5}', mechanism => 'gaussian', delta => 1e-6);
RESET client_min_messages;
CREATE FUNCTION cell_sums() RETURNS TABLE (cells text, epsilon numeric, delta numeric, "left" numeric, rho numeric, rho_left numeric, as_odometer boolean) LANGUAGE sql AS $$
    SELECT c.cells, round(c.epsilon, 6), c.delta, round(c."left", 6), round(c.rho, 8), round(c.rho_left, 8),
           (c.epsilon, c.delta, c.rho) IS NOT DISTINCT FROM (o.epsilon, o.delta, o.rho) AND c.rho + c.rho_left IS NOT DISTINCT FROM o.rho_total
    FROM dp_cells('cell_zcdp') c, dp_odometer('cell_zcdp') o WHERE o.account = 'public' $$;
SELECT * FROM cell_sums();
SET SESSION AUTHORIZATION regress_analyst;
INSERT INTO cell_asked SELECT count(*) FROM cell_zcdp_dp WHERE site = 'north';
INSERT INTO cell_asked SELECT count(*) FROM cell_zcdp_dp WHERE site IN ('north', 'south');
SELECT reason ~ 'north$' AS in_north, reason FROM dp_remaining($$SELECT count(*) FROM cell_zcdp_dp WHERE site IN ('north', 'south')$$);
SET SESSION AUTHORIZATION regress_controller;
SELECT * FROM cell_sums();
SELECT substring(dp_report('cell_zcdp') FROM 'Cells have it each[^<]*') AS said;
-- Another bound: what the epoch comes to is charged by the next question, and counts at once.
SET client_min_messages = warning;
SELECT dp_set_odometer('cell_zcdp', 'filter', epsilon_total => 9, delta_total => 1e-5);
SELECT * FROM cell_sums();
SET SESSION AUTHORIZATION regress_analyst;
INSERT INTO cell_asked SELECT count(*) FROM cell_zcdp_dp WHERE site = 'south';
SET SESSION AUTHORIZATION regress_controller;
SELECT * FROM cell_sums();
SELECT dp_unprotect('cell_zcdp_dp');
DROP TABLE cell_zcdp;
DROP FUNCTION cell_sums();
SET client_min_messages = warning;
SELECT dp_unset_partition('cell_guests');
SELECT cell_epsilon() AS everybody;
SELECT dp_unprotect('cell_guests_dp'), dp_unprotect('cell_ages_dp');
DROP TABLE cell_guests;
DROP FUNCTION cell_call(), cell_epsilon(text, regrole);
RESET SESSION AUTHORIZATION;
