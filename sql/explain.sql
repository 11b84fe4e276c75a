-- dp_explain: whether a query would be answered, what it would cost, how accurate it would be; from public facts alone, and
-- nothing is charged.

LOAD 'dp_rdr';
\pset null '-'
\set VERBOSITY terse
SET extra_float_digits = -9; -- six digits

SET ROLE regress_controller;
CREATE TYPE colour AS ENUM ('green', 'red');
CREATE TABLE parcel (id integer, weight numeric(6, 2), pieces smallint, note text, colour colour NOT NULL, fragile boolean);
INSERT INTO parcel SELECT i, i % 40, i % 9, 'note ' || i % 3, 'red', i % 2 = 0 FROM generate_series(1, 300) i;
-- The same without one parcel, the only one of its kind.
CREATE TABLE parcel_less AS TABLE parcel;
ALTER TABLE parcel_less ALTER colour SET NOT NULL;
INSERT INTO parcel VALUES (301, 777.77, 99, 'canary', 'green', NULL);
SELECT dp_protect('parcel', 'parcel_dp'), dp_protect('parcel_less', 'parcel_less_dp');
SELECT dp_set_bounds(t, 'weight', 0, 40), dp_set_bounds(t, 'pieces', -1, 9), dp_set_groups(t, 'note', '{note 0,note 1,note 2}'),
       dp_set_odometer(t, 'filter', 1, 0.001)
FROM unnest('{parcel,parcel_less}'::regclass[]) t;
SELECT dp_grant(v, 'regress_analyst', tau => 0.95), dp_grant(v, 'regress_member', tau => 0.5, mechanism => 'gaussian', delta => 1e-6)
FROM unnest('{parcel_dp,parcel_less_dp}'::regclass[]) v;
SELECT dp_grant('parcel_dp', 'regress_second', tau => 0.95, selection => 'within_data');
CREATE VIEW account AS SELECT r.relation, o.* FROM unnest('{parcel,parcel_less}'::regclass[]) r (relation), dp_odometer(r.relation) o;
CREATE TABLE before AS TABLE account;
SELECT count(*) AS charges_before FROM dp_rdr.ledger WHERE relation LIKE 'public.parcel%';

-- ---------------------------------------------------------------------------------------------------------------------
-- Accepted
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_analyst;
SELECT * FROM dp_explain('SELECT count(*) FROM parcel_dp');
SELECT * FROM dp_explain('SELECT count(*) AS n, count(note) FROM parcel_dp WHERE id > 100');
-- An average shares its price with the sum and the count of its column; how wide it is depends on the number of rows.
SELECT leaf, column_name, accepted, epsilon, round(error95::numeric, 3) AS error95
FROM dp_explain('SELECT avg(weight), sum(weight) / count(weight) AS ratio FROM parcel_dp');
-- Keys; what the rest of the statement computes with is called by what it is.
SELECT * FROM dp_explain($$SELECT note AS remark, colour, 2 * sum(pieces) FROM parcel_dp WHERE fragile
                           GROUP BY 1, 2 HAVING count(*) FILTER (WHERE weight > 5) > 3 ORDER BY 1$$);
-- A price is for the whole leaf: m counts and sums cost m times one, up to epsilon_max.
SELECT DISTINCT epsilon FROM dp_explain('SELECT count(*), count(id), count(note), sum(pieces), sum(weight) FROM parcel_dp');
SELECT * FROM dp_explain('SELECT dp_count(*) FROM parcel_dp WHERE false');

-- Several leaves: one each, also where one is scanned twice.
SELECT * FROM dp_explain('SELECT (SELECT count(*) FROM parcel_dp), s.total FROM (SELECT sum(pieces) AS total FROM parcel_dp) s');
SELECT * FROM dp_explain('WITH w AS (SELECT count(*) AS n FROM parcel_dp) SELECT * FROM w a, w b');

-- A query that nothing refers to is not executed.
SELECT * FROM dp_explain('WITH w AS (SELECT count(*) AS n FROM parcel_dp) SELECT 1');
SELECT * FROM dp_explain('WITH w AS (SELECT * FROM parcel_dp WHERE fragile) SELECT count(*) FROM w');

-- Views of the analyst's own.
CREATE TEMP VIEW fragile_parcel AS SELECT note, count(*) AS n FROM parcel_dp WHERE fragile GROUP BY note;
SELECT * FROM dp_explain('SELECT * FROM fragile_parcel ORDER BY n DESC');

-- ---------------------------------------------------------------------------------------------------------------------
-- Refused: the error's message becomes the reason, and the transaction goes on
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TEMP TABLE refused (n integer GENERATED ALWAYS AS IDENTITY, query text);
INSERT INTO refused (query) VALUES
    ('SELECT * FROM parcel_dp'), ('SELECT max(note) FROM parcel_dp'), ('SELECT sum(id) FROM parcel_dp'),
    ('SELECT note, id, count(*) FROM parcel_dp GROUP BY 1, 2'), ('SELECT count(*) FROM parcel_dp WHERE id > 1 / 0'),
    ('SELECT count(*) FROM parcel_dp, (SELECT count(*) FROM parcel_dp) s'), ('SELECT count(*) FROM parcel'),
    ('SELECT count(*) FROM parcel_dp WHERE id > $1'), ('SELECT count(*) FROM nowhere'), ('SELECT count(*) FROM parcel_dp WHERE'),
    ('SELECT EXISTS (SELECT FROM parcel_dp)'), ('SELECT 1; SELECT 2'), (''), ('DELETE FROM parcel_dp'), ('SELECT 1'), ('SELECT note FROM parcel_dp GROUP BY note');
BEGIN;
SELECT r.n, e.leaf, e.column_name, e.accepted, e.reason FROM refused r, dp_explain(r.query) e ORDER BY r.n, e.column_name;
-- The text that the statement itself would be refused with.
SELECT r.n, bool_and(starts_with(substr(attempt(r.query), 7), e.reason)) AS same_text FROM refused r, dp_explain(r.query) e
WHERE r.n <> 8 AND r.query ~ '_dp|nowhere' AND r.query ~ '^SELECT' GROUP BY r.n ORDER BY r.n;
COMMIT;
SELECT * FROM dp_explain(NULL);
-- What else the statement reads must be readable, too.
SELECT accepted, reason FROM dp_explain('SELECT n, (SELECT count(*) FROM parcel) FROM (SELECT count(*) AS n FROM parcel_dp) s');
-- Accepted, since a keeper reads.
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT accepted, reason FROM dp_explain('SELECT count(*) FROM parcel_dp');
COMMIT;
BEGIN READ ONLY;
SELECT accepted, reason FROM dp_explain('SELECT count(*) FROM parcel_dp');
COMMIT;
-- A cancel is not a reason.
SET statement_timeout = 1;
SELECT accepted FROM dp_explain('SELECT count(*) FROM parcel_dp'), pg_sleep(1);
RESET statement_timeout;

SET ROLE regress_stranger;
SELECT accepted, reason FROM dp_explain('SELECT count(*) FROM parcel_dp');
SET ROLE regress_controller;
SELECT accepted, reason FROM dp_explain('SELECT count(*) FROM parcel_dp');

-- ---------------------------------------------------------------------------------------------------------------------
-- Gaussian noise, groups that nobody declared, within_data, other preferences
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_member;
SELECT leaf, column_name, accepted, epsilon, delta, mechanism, error95 FROM dp_explain('SELECT count(*), sum(pieces) FROM parcel_dp');
SELECT leaf, column_name, accepted, epsilon, delta, mechanism, error95
FROM dp_explain('SELECT id, count(*), sum(pieces), avg(weight) FROM parcel_dp GROUP BY id');

-- Of the price nothing may be said; of the shape, what is said to everybody.
SET ROLE regress_second;
SELECT * FROM dp_explain('SELECT count(*), sum(weight) FROM parcel_dp');
SELECT * FROM dp_explain('SELECT sum(id) FROM parcel_dp');
SELECT * FROM dp_explain('SELECT min(id) FROM parcel_dp');

SET ROLE regress_controller;
SELECT dp_revoke('parcel_dp', 'regress_second'), dp_grant('parcel_dp', 'regress_second', tau => 0.5, epsilon_max => 0.3, candidates => '{0.7,0.25}', epsilon_total => 0.4, epsilon_min => 0.01);
SET ROLE regress_second;
SELECT accepted, epsilon, error95 FROM dp_explain('SELECT count(*) FROM parcel_dp');
-- The second of two is beyond the role's share.
SELECT leaf, accepted, reason, epsilon FROM dp_explain('SELECT (SELECT count(*) FROM parcel_dp), (SELECT count(id) FROM parcel_dp)');
-- What release() is asked for directly.
SELECT leaf, column_name, accepted, reason, epsilon
FROM dp_explain($$SELECT * FROM dp_rdr.release('SELECT count(*) FROM public.parcel_dp', 0.01, NULL, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)$$);
SELECT leaf, column_name, accepted, reason, epsilon
FROM dp_explain($$SELECT * FROM dp_rdr.release('SELECT count(*) FROM public.parcel_dp', 0.01, NULL, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint, m bigint)$$);
SELECT leaf, column_name, accepted, reason, epsilon
FROM dp_explain($$SELECT * FROM dp_rdr.release(current_setting('a.b'), 0.01, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)$$);
SET ROLE regress_controller;
SELECT dp_revoke('parcel_dp', 'regress_second'), dp_grant('parcel_dp', 'regress_second', tau => 1);
SET ROLE regress_second;
SELECT * FROM dp_explain('SELECT count(*) FROM parcel_dp');

-- ---------------------------------------------------------------------------------------------------------------------
-- Neighbouring tables: the same rows
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_analyst;
CREATE TEMP TABLE asked (query text);
INSERT INTO asked VALUES ('SELECT count(*), avg(weight) FROM %I'), ('SELECT note, colour, sum(pieces) FROM %I GROUP BY 1, 2'),
    ('SELECT count(*) FROM %I WHERE note = ''canary'''), ('SELECT id, count(*) FROM %I GROUP BY id'), ('SELECT avg(id) FROM %I'),
    ('SELECT count(*) FROM %I WHERE weight / (weight - 777.77) > 1'), ('SELECT note::int, count(*) FROM %I GROUP BY 1');
GRANT SELECT ON asked TO regress_member;
SELECT bool_or(accepted) AS accepted, bool_or(NOT accepted) AS refused FROM asked, dp_explain(format(query, 'parcel_dp'));
SELECT query, x.* FROM asked, LATERAL (
    (SELECT e::text FROM dp_explain(format(query, 'parcel_dp')) e
     EXCEPT ALL SELECT replace(e::text, 'parcel_less', 'parcel') FROM dp_explain(format(query, 'parcel_less_dp')) e)
    UNION ALL
    (SELECT replace(e::text, 'parcel_less', 'parcel') FROM dp_explain(format(query, 'parcel_less_dp')) e
     EXCEPT ALL SELECT e::text FROM dp_explain(format(query, 'parcel_dp')) e)) x;
SET ROLE regress_member;
SELECT query, x.* FROM pg_temp.asked, LATERAL (
    (SELECT e::text FROM dp_explain(format(query, 'parcel_dp')) e
     EXCEPT ALL SELECT replace(e::text, 'parcel_less', 'parcel') FROM dp_explain(format(query, 'parcel_less_dp')) e)
    UNION ALL
    (SELECT replace(e::text, 'parcel_less', 'parcel') FROM dp_explain(format(query, 'parcel_less_dp')) e
     EXCEPT ALL SELECT e::text FROM dp_explain(format(query, 'parcel_dp')) e)) x;

-- ---------------------------------------------------------------------------------------------------------------------
-- Nothing was charged; what a bound would deny now
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_controller;
SELECT count(*) AS charges_after FROM dp_rdr.ledger WHERE relation LIKE 'public.parcel%';
TABLE account EXCEPT TABLE before;
SELECT dp_set_odometer('parcel', 'filter', 0.1, 0);
SET ROLE regress_analyst;
SELECT leaf, column_name, accepted, reason, epsilon, error95
FROM dp_explain('SELECT count(*), count(*) FILTER (WHERE fragile), sum(pieces) FROM parcel_dp');
SELECT leaf, accepted, reason, epsilon FROM dp_explain('SELECT (SELECT count(*) FROM parcel_dp WHERE id = 1), (SELECT count(*) FROM parcel_dp WHERE id = 2),
    (SELECT count(*) FROM parcel_dp WHERE id = 3), (SELECT count(*) FROM parcel_less_dp)');
SELECT attempt('SELECT count(*) FROM parcel_dp'), attempt('SELECT count(*) FROM parcel_dp');
SELECT accepted, reason, epsilon, attempt('SELECT count(*) FROM parcel_dp') FROM dp_explain('SELECT count(*) FROM parcel_dp');
-- delta_total
SET ROLE regress_member;
SELECT accepted, reason, delta FROM dp_explain('SELECT count(*) FROM parcel_dp');
-- Under dynamic only more than all before together.
SET ROLE regress_controller;
SELECT dp_set_odometer('parcel', 'dynamic', 'Infinity');
SET ROLE regress_analyst;
SELECT accepted, reason, epsilon FROM dp_explain('SELECT count(*) FROM parcel_dp');
SELECT DISTINCT accepted, reason, epsilon FROM dp_explain('SELECT count(*), count(id), count(note), sum(pieces) FROM parcel_dp');
SELECT leaf, accepted, reason FROM dp_explain('SELECT (SELECT count(*) FROM parcel_dp), (SELECT count(id) FROM parcel_dp)');
-- Charges whose amount was chosen from the data do not move what is said.
SET ROLE regress_controller;
SELECT dp_set_odometer('parcel', 'filter', 1);
CALL dp_find_epsilon('SELECT count(*) FROM parcel_dp WHERE fragile', 0.05, candidates => '{0.5}') \gset
SELECT account, epsilon FROM dp_odometer('parcel');
SELECT dp_set_odometer('parcel', 'filter', 0.2);
SET ROLE regress_analyst;
SELECT accepted, epsilon FROM dp_explain('SELECT count(*) FROM parcel_dp');

-- As dp_query: what it would be for less epsilon, or another weight.
SELECT accepted, epsilon, reason FROM dp_explain('SELECT count(*) FROM parcel_dp', epsilon => 0.01);
SELECT accepted, epsilon, reason FROM dp_explain('SELECT count(*) FROM parcel_dp', weight => 0.5);
SELECT accepted FROM dp_explain('SELECT count(*) FROM parcel_dp', weight => 0);
SELECT accepted FROM dp_explain('SELECT count(*) FROM parcel_dp', epsilon => -1);

-- A column that changed.
SET ROLE regress_controller;
ALTER TABLE parcel ALTER pieces TYPE integer;
SET ROLE regress_analyst;
SELECT column_name, accepted, reason FROM dp_explain('SELECT count(*) FROM parcel_dp');

RESET ROLE;
SET client_min_messages = error;
DROP TABLE parcel, parcel_less, before CASCADE;
DROP TYPE colour;
