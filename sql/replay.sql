-- The same question again: the same numbers, at no charge. And questions that cost nothing from the start.

LOAD 'dp_rdr';
ALTER SEQUENCE dp_rdr.ledger_row_id_seq RESTART WITH 200001;
SET ROLE regress_controller;
CREATE TYPE inn_mood AS ENUM ('sad', 'well');
CREATE TABLE inn AS SELECT id, id % 4 AS room, 'town ' || id % 3 AS town, 20 + id % 60 AS age, (id % 7)::numeric(8, 2) AS paid,
    (array['sad', 'well']::inn_mood[])[1 + id % 2] AS felt, timestamptz '2026-01-01 UTC' + id * interval '1 hour' AS at,
    '1'::money * (id % 3) AS fee
FROM generate_series(1, 3000) id;
SELECT dp_protect('inn', 'inn_dp');
SELECT dp_set_bounds('inn', 'age', 0, 100), dp_set_bounds('inn', 'paid', 0, 10), dp_set_groups('inn', 'room', '{0,1,2,3}');
SELECT dp_set_odometer('inn', epsilon_total => 1000, delta_total => 1e-3);
\pset tuples_only on
\pset format unaligned

-- Setter rules: NULL keeps, '0' takes away; what is no length of time is refused, and so is within_data, in either order.
CREATE FUNCTION refused(asked text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    message text; detail text; hint text; state text;
BEGIN
    EXECUTE asked;
    RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(E'\n', state || ': ' || message, nullif(detail, ''), nullif(hint, ''));
END $$;
SELECT dp_grant('inn_dp', 'regress_analyst', tau => 0.5, delta => 1e-6);
SELECT i, refused(format('SELECT dp_grant(%L, %L, replay => %L)', 'inn_dp', 'regress_analyst', i))
FROM unnest(array['-1 day', '1 month -1 day', '-1 month 40 days', '1 day -1 second', '1001 years', '10000000 hours', '1000 years', '1 month', '1 microsecond']) i;
RESET ROLE;
CREATE FUNCTION replay() RETURNS interval LANGUAGE sql AS $$ SELECT replay FROM dp_rdr.policy WHERE view = 'inn_dp'::regclass AND grantee = 'regress_analyst'::regrole $$;
SELECT replay();
SET ROLE regress_controller;
SELECT dp_grant('inn_dp', 'regress_analyst', replay => '2 days');
SELECT dp_grant('inn_dp', 'regress_analyst', epsilon_max => 2);
RESET ROLE;
SELECT replay();
SET ROLE regress_controller;
SELECT dp_grant('inn_dp', 'regress_analyst', replay => '0');
RESET ROLE;
SELECT replay() IS NULL;
SET ROLE regress_controller;
SELECT refused($$SELECT dp_grant('inn_dp', 'regress_second', tau => 0.5, selection => 'within_data', replay => '1 day')$$);
SELECT dp_grant('inn_dp', 'regress_analyst', replay => '1 day');
SELECT refused($$SELECT dp_grant('inn_dp', 'regress_analyst', selection => 'within_data')$$);
RESET ROLE;

-- What an analyst sees: asked twice, drawn once.
CREATE FUNCTION charges() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS $$
    SELECT count(*) FROM dp_rdr.ledger_row r JOIN dp_rdr.protected_table t ON t.domain = r.table_id WHERE t.relation = 'inn'::regclass $$;
-- An answer as text, and how many charges it came to.
CREATE FUNCTION asked(query text, options text = '', columns text = 'n bigint', OUT answer text, OUT charged bigint) LANGUAGE plpgsql AS $$
DECLARE
    before bigint := charges();
BEGIN
    EXECUTE format('SELECT string_agg(a::text, %L) FROM dp_query(%L%s) AS a (%s)', ' ', query, options, columns) INTO answer;
    answer := coalesce(answer, 'no rows');
    charged := charges() - before;
END $$;
-- Twice: what each came to, and whether one that came to nothing is the same.
CREATE FUNCTION twice(query text, options text = '', columns text = 'n bigint', other text = NULL, other_columns text = NULL) RETURNS text LANGUAGE sql AS $$
    SELECT CASE WHEN a.charged = 0 THEN 'free' ELSE 'paid' END || ', ' ||
           CASE WHEN b.charged > 0 THEN 'paid again' WHEN a.answer = b.answer THEN 'the same' ELSE 'ANOTHER FOR NOTHING' END
    FROM asked(query, options, columns) a, LATERAL (SELECT * FROM asked(coalesce(other, query), options, coalesce(other_columns, columns)) WHERE a.charged IS NOT NULL) b $$;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO regress_analyst, regress_second;
SET ROLE regress_analyst;
SELECT twice('SELECT count(*) FROM inn_dp');
SELECT twice('SELECT count(*) FROM inn_dp', ', replay => false');
SELECT twice('SELECT room, count(*), sum(age), avg(paid) FROM inn_dp GROUP BY room', '', 'a int, b bigint, c bigint, d numeric');
SELECT twice('SELECT town, felt, count(*) FROM inn_dp GROUP BY town, felt', '', 'a text, b inn_mood, c bigint');
-- Small groups that were withheld are not in what is stored.
SELECT twice('SELECT age, count(*) FROM inn_dp WHERE id < 900 GROUP BY age', '', 'a int, b bigint');
SELECT twice('SELECT date_trunc(''month'', at), count(*) FROM inn_dp GROUP BY 1', '', 'a timestamptz, b bigint');
-- Keys whose texts do not stand for one value for ever are not stored.
SELECT twice('SELECT fee, count(*) FROM inn_dp GROUP BY fee', '', 'a money, b bigint');
-- Neither order, names nor what the statement does with the numbers matter; what is asked does.
SELECT twice('SELECT count(*) AS n, avg(age) AS m, sum(paid) FROM inn_dp', '', 'n bigint, m numeric, s numeric',
             'SELECT n, m, s FROM (SELECT sum(paid) AS s, avg(age) AS m, count(*) AS n FROM inn_dp) q', 'n bigint, m numeric, s numeric');
-- So do the ends of their intervals: they are those of the numbers.
SELECT twice('SELECT room, avg(paid), count(*) FROM inn_dp GROUP BY room', '', 'r int, m numeric, n bigint');
SELECT bool_and(n BETWEEN l AND h AND m BETWEEN a AND b) FROM (SELECT room, count(*) AS n, avg(paid) AS m FROM inn_dp GROUP BY room) v
JOIN (SELECT room, dp_low(count(*)) AS l, dp_high(count(*)) AS h, dp_low(avg(paid)) AS a, dp_high(avg(paid)) AS b FROM inn_dp GROUP BY room) w USING (room);
SELECT DISTINCT reason, epsilon FROM dp_last_release();
SELECT i, twice(q, '', 'n bigint', r) FROM (VALUES
    (1, 'SELECT count(*) FROM inn_dp WHERE age > 30', 'SELECT count(*) + 0 FROM inn_dp v WHERE (v.age > 30) HAVING true'),
    (2, 'SELECT count(*) FROM inn_dp WHERE age > 31', 'SELECT count(*) FROM inn_dp WHERE age > 32'),
    (3, 'SELECT count(*) FROM inn_dp WHERE age > 33', 'SELECT count(*) FROM inn_dp WHERE age >= 33'),
    (4, 'SELECT count(*) FROM inn_dp WHERE town = ''x''', 'SELECT count(*) FROM inn_dp WHERE town = ''x '''),
    (5, 'SELECT count(age) FROM inn_dp', 'SELECT count(room) FROM inn_dp'),
    (6, 'SELECT count(*) FILTER (WHERE age > 5) FROM inn_dp', 'SELECT count(*) FILTER (WHERE age > 6) FROM inn_dp')) t (i, q, r);
-- What an asker may choose is part of the question.
SELECT twice('SELECT count(*) FROM inn_dp', ', epsilon => 0.02');
SELECT o.i, twice('SELECT count(*) FROM inn_dp WHERE room = ' || o.i, o.o) FROM (VALUES (1, ', within => 0.2'), (2, ', error95 => 50'), (3, ', within => 0.2, deviations => 2')) o (i, o);
SELECT o.o, charged > 0 AS paid FROM (VALUES (1, ', epsilon => 0.02'), (2, ', epsilon => 0.03'), (3, ', within => 0.3'), (4, ', epsilon => 0.02')) o (i, o), LATERAL asked('SELECT count(*) FROM inn_dp WHERE room = 0', o.o) ORDER BY o.i;
RESET ROLE;
SELECT count(*) FROM dp_rdr.stored_answer WHERE charged ->> 'error95' IS NOT NULL;
SET ROLE regress_analyst;
-- Parameters are constants; the clock, where it is asked for, never is the same.
PREPARE older(int) AS SELECT count(*) FROM inn_dp WHERE age > $1;
SELECT charges() AS before \gset
EXECUTE older(40) \g /dev/null
EXECUTE older(40) \g /dev/null
EXECUTE older(41) \g /dev/null
SELECT charges() - :before;
SELECT charges() AS before \gset
SELECT count(*) FROM inn_dp WHERE at::date < current_date \g /dev/null
SELECT count(*) FROM inn_dp WHERE at::date < current_date \g /dev/null
SELECT count(*) FROM inn_dp WHERE at < now() \g /dev/null
SELECT count(*) FROM inn_dp WHERE at < now() \g /dev/null
SELECT charges() - :before;
-- A statement that asks twice asks once.
SELECT charges() AS before \gset
SELECT count(DISTINCT n) FROM (SELECT count(*) AS n FROM inn_dp WHERE age < 30 UNION ALL SELECT count(*) FROM inn_dp WHERE age < 30) q;
SELECT charges() - :before;
-- What is rolled back was drawn: asked again it is the same number.
BEGIN;
SELECT count(*) AS n FROM inn_dp WHERE age < 31 \gset first_
ROLLBACK;
SELECT count(*) = :first_n FROM inn_dp WHERE age < 31;
BEGIN READ ONLY;
SELECT count(*) AS n FROM inn_dp WHERE age < 32 \gset first_
SELECT count(*) = :first_n FROM inn_dp WHERE age < 32;
COMMIT;

-- dp_last_release and dp_explain say so; what was replayed is nothing to refine.
SELECT count(*), avg(age) FROM inn_dp WHERE room = 1 \g /dev/null
SELECT column_name, epsilon > 0, reason, steps FROM dp_last_release() ORDER BY 1;
CREATE TEMP TABLE was AS SELECT * FROM dp_last_release();
SELECT count(*), avg(age) FROM inn_dp WHERE room = 1 \g /dev/null
SELECT l.column_name, l.epsilon, l.epsilon_svt, l.delta, l.rho, l.mechanism, l.reason, l.steps, l.error95 = w.error95, l.posterior50 IS NULL
FROM dp_last_release() l JOIN was w USING (column_name) ORDER BY 1;
SELECT refused('SELECT * FROM dp_refine() AS (n bigint, m numeric)');
SELECT leaf, column_name, accepted, epsilon, rho, delta, reason, error95 IS NOT NULL FROM dp_explain('SELECT count(*), avg(age) FROM inn_dp WHERE room = 1');
SELECT leaf, accepted, epsilon > 0, reason FROM dp_explain('SELECT count(*) FROM inn_dp WHERE age < 99 UNION ALL SELECT count(*) FROM inn_dp WHERE age < 99 UNION ALL SELECT count(*) FROM inn_dp WHERE age < 98');

-- Whose answers they are: those of the policy. A member of the grantee is given what it has paid, another policy nothing.
RESET ROLE;
CREATE ROLE regress_third;
GRANT regress_analyst TO regress_third;
SET ROLE regress_controller;
SELECT dp_grant('inn_dp', 'regress_second', tau => 0.5, delta => 1e-6, epsilon_max => 2, replay => '1 day');
RESET ROLE;
SET ROLE regress_analyst;
SELECT answer AS n FROM asked('SELECT count(*) FROM inn_dp') \gset paid_
SET ROLE regress_third;
SELECT answer = :'paid_n' OR charged > 0 AS same, charged FROM asked('SELECT count(*) FROM inn_dp');
SET ROLE regress_second;
SELECT answer = :'paid_n' OR charged > 0 AS same, charged FROM asked('SELECT count(*) FROM inn_dp');
RESET ROLE;
REVOKE regress_analyst FROM regress_third;

-- Who may not ask is not given what is stored.
SET ROLE regress_controller;
REVOKE SELECT ON inn_dp FROM regress_analyst;
SET ROLE regress_analyst;
SELECT refused('SELECT count(*) FROM inn_dp');
SELECT refused('SELECT * FROM dp_query(''SELECT count(*) FROM inn_dp'') AS (n bigint)');
SELECT refused($$SELECT * FROM dp_rdr.release('SELECT count(*) FROM public.inn_dp', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)$$);
SET ROLE regress_controller;
GRANT SELECT ON inn_dp TO regress_analyst;
RESET ROLE;
INSERT INTO dp_rdr.suspension VALUES ('inn_dp', 'regress_analyst', 'regress_analyst', 'regress_controller', now());
SET ROLE regress_analyst;
SELECT refused('SELECT count(*) FROM inn_dp');
RESET ROLE;
DELETE FROM dp_rdr.suspension WHERE view = 'inn_dp'::regclass;
SET ROLE regress_controller;
SELECT dp_revoke('inn_dp', 'regress_analyst');
SET ROLE regress_analyst;
SELECT refused($$SELECT * FROM dp_rdr.release('SELECT count(*) FROM public.inn_dp', NULL, 1, NULL, NULL, 1, true, NULL, NULL, NULL) AS (n bigint)$$);
SET ROLE regress_controller;
SELECT dp_grant('inn_dp', 'regress_analyst', tau => 0.5, delta => 1e-6, epsilon_max => 2, replay => '1 day');
SET ROLE regress_analyst;
SELECT answer = :'paid_n' OR charged > 0 AS same, charged FROM asked('SELECT count(*) FROM inn_dp');

-- Another name is the same view; another view, another question.
SET ROLE regress_controller;
ALTER VIEW inn_dp RENAME TO inn_stays_dp;
SET ROLE regress_analyst;
SELECT answer = :'paid_n' OR charged > 0 AS same, charged FROM asked('SELECT count(*) FROM inn_stays_dp');
SET ROLE regress_controller;
ALTER VIEW inn_stays_dp RENAME TO inn_dp;
SELECT dp_protect('inn', 'inn_young_dp', filter => 'age < 1000');
SELECT dp_grant('inn_young_dp', 'regress_analyst', tau => 0.5, delta => 1e-6, epsilon_max => 2, replay => '1 day');
SET ROLE regress_analyst;
SELECT answer = :'paid_n' OR charged > 0 AS same, charged FROM asked('SELECT count(*) FROM inn_young_dp');
SELECT charged FROM asked('SELECT count(*) FROM inn_young_dp');
SET ROLE regress_controller;
SELECT dp_unprotect('inn_young_dp');
SELECT dp_protect('inn', 'inn_young_dp', filter => 'age < 999');
SELECT dp_grant('inn_young_dp', 'regress_analyst', tau => 0.5, delta => 1e-6, epsilon_max => 2, replay => '1 day');
SET ROLE regress_analyst;
SELECT answer = :'paid_n' OR charged > 0 AS same, charged FROM asked('SELECT count(*) FROM inn_young_dp');
-- Columns that have changed their names are other columns.
SELECT charged FROM asked('SELECT count(room) FILTER (WHERE room = 1) FROM inn_dp');
SET ROLE regress_controller;
ALTER TABLE inn RENAME room TO r;
ALTER TABLE inn RENAME id TO room;
ALTER TABLE inn RENAME r TO id;
SELECT refused($$SELECT dp_refresh('inn_dp')$$);
SET ROLE regress_analyst;
SELECT charged FROM asked('SELECT count(room) FILTER (WHERE room = 1) FROM inn_dp');
SET ROLE regress_controller;
ALTER TABLE inn RENAME id TO r;
ALTER TABLE inn RENAME room TO id;
ALTER TABLE inn RENAME r TO room;
SELECT refused($$SELECT dp_refresh('inn_dp')$$);
SELECT dp_set_groups('inn', 'room', '{0,1,2,3}');

-- Epsilon that was selected, Gaussian noise, steps of it, groups of many rows of answer; and what is too much to be stored.
SELECT dp_grant('inn_dp', 'regress_second', tau_var => 0.01, mechanism => 'gaussian', delta => 1e-6);
SET ROLE regress_second;
SELECT twice('SELECT sum(age) FROM inn_dp');
SELECT epsilon, epsilon_svt, reason FROM dp_last_release();
RESET ROLE;
CREATE TABLE inn_wide AS SELECT g, repeat('x', 980) || g % 1200 AS long, g % 3000 AS short, g % 100 AS v FROM generate_series(1, 48000) g;
ALTER TABLE inn_wide OWNER TO regress_controller;
SET ROLE regress_controller;
SELECT dp_protect('inn_wide', 'inn_wide_dp');
SELECT dp_set_bounds('inn_wide', 'v', 0, 100), dp_set_groups('inn_wide', 'short', (SELECT array_agg(g::text) FROM generate_series(0, 2999) g));
SELECT dp_set_odometer('inn_wide', bound => 'zcdp', epsilon_total => 1000, delta_total => 1e-3);
SELECT dp_grant('inn_wide_dp', 'regress_analyst', tau => 0.5, delta => 1e-6, epsilon_max => 10, replay => '1 day');
SET ROLE regress_analyst;
CREATE TEMP TABLE wide_was AS SELECT short, count(*), sum(v) FROM inn_wide_dp GROUP BY short;
SELECT reason FROM dp_last_release() LIMIT 1;
SELECT count(*) FROM (SELECT short, count(*), sum(v) FROM inn_wide_dp GROUP BY short INTERSECT ALL TABLE wide_was) q;
SELECT reason FROM dp_last_release() LIMIT 1;
SELECT count(*) AS n FROM (SELECT long, count(*) FROM inn_wide_dp GROUP BY long) q \gset
SELECT count(*) AS m FROM (SELECT long, count(*) FROM inn_wide_dp GROUP BY long) q \gset
SELECT :n > 1100, :m > 1100, epsilon > 0 FROM dp_last_release();
SELECT * FROM dp_query('SELECT count(*), sum(v) FROM inn_wide_dp', within => 0.01) AS (n bigint, s bigint) \gset first_
SELECT steps > 1, reached, reason FROM dp_last_release() LIMIT 1;
SELECT n = :first_n, s = :first_s FROM dp_query('SELECT count(*), sum(v) FROM inn_wide_dp', within => 0.01) AS (n bigint, s bigint);
SELECT steps, reached, rho, epsilon, reason, error95 > 0 FROM dp_last_release();
SET ROLE regress_controller;
SELECT count(*) > 0 FROM dp_rdr.ledger WHERE view = 'public.inn_wide_dp' AND kind = 'increment';

-- Data change nothing, declarations do.
SET ROLE regress_controller;
INSERT INTO inn SELECT 1, 1, 'town 1', 50, 5, 'sad', now(), '0' FROM generate_series(1, 5000);
SET ROLE regress_analyst;
SELECT answer = :'paid_n' OR charged > 0 AS same, charged FROM asked('SELECT count(*) FROM inn_dp');
SELECT charged FROM asked('SELECT sum(age) FROM inn_dp');
SELECT charged FROM asked('SELECT room, count(*) FROM inn_dp GROUP BY room', '', 'a int, n bigint');
SELECT charged FROM asked('SELECT sum(age) FROM inn_dp');
SELECT charged FROM asked('SELECT room, count(*) FROM inn_dp GROUP BY room', '', 'a int, n bigint');
SET ROLE regress_controller;
SELECT dp_set_bounds('inn', 'age', 0, 101), dp_set_groups('inn', 'room', '{0,1,2,3,4}');
SET ROLE regress_analyst;
SELECT charged FROM asked('SELECT sum(age) FROM inn_dp');
SELECT charged FROM asked('SELECT room, count(*) FROM inn_dp GROUP BY room', '', 'a int, n bigint');
SET ROLE regress_controller;
SELECT dp_set_groups('inn', 'room', '{0,1,2,3,9}');
SET ROLE regress_analyst;
SELECT charged FROM asked('SELECT room, count(*) FROM inn_dp GROUP BY room', '', 'a int, n bigint');
SET ROLE regress_controller;
SELECT dp_set_groups('inn', 'room', '{0,1,2,3,4}');
SET ROLE regress_analyst;
SELECT charged FROM asked('SELECT room, count(*) FROM inn_dp GROUP BY room', '', 'a int, n bigint');
SELECT charged FROM asked('SELECT count(*) FROM inn_dp');
-- A policy with other terms asks another question; one with other totals does not.
SET ROLE regress_controller;
SELECT dp_grant('inn_dp', 'regress_analyst', epsilon_total => 500);
SELECT dp_set_odometer('inn', epsilon_total => 2000);
SET ROLE regress_analyst;
SELECT charged FROM asked('SELECT count(*) FROM inn_dp');
SET ROLE regress_controller;
SELECT dp_grant('inn_dp', 'regress_analyst', tau => 0.6);
SET ROLE regress_analyst;
SELECT charged FROM asked('SELECT count(*) FROM inn_dp');
SET ROLE regress_controller;
SELECT dp_grant('inn_dp', 'regress_analyst', tau => 0.5);
SET ROLE regress_analyst;
SELECT charged FROM asked('SELECT count(*) FROM inn_dp');
-- The label of an enum that was renamed cannot be read any more: the answer is not there.
SET ROLE regress_controller;
ALTER TYPE inn_mood RENAME VALUE 'sad' TO 'blue';
SET ROLE regress_analyst;
SELECT twice('SELECT town, felt, count(*) FROM inn_dp GROUP BY town, felt', '', 'a text, b inn_mood, c bigint');

-- It ends by the clock, of the policy as it is now,
RESET ROLE;
SELECT bool_and(expires_at = at + interval '24 hours') FROM dp_rdr.stored_answer;
UPDATE dp_rdr.stored_answer SET at = at - interval '2 hours';
SET ROLE regress_controller;
SELECT dp_grant('inn_dp', 'regress_analyst', replay => '1 hour');
SET ROLE regress_analyst;
SELECT charged FROM asked('SELECT count(*) FROM inn_dp');
SET ROLE regress_controller;
SELECT dp_grant('inn_dp', 'regress_analyst', replay => '1 day');
-- (the oldest that is valid)
SET ROLE regress_analyst;
SELECT answer = :'paid_n' OR charged > 0 AS same, charged FROM asked('SELECT count(*) FROM inn_dp');
RESET ROLE;
SELECT count(*) > 10 FROM dp_rdr.stored_answer;
-- (what has expired goes a hundred at a time)
DELETE FROM dp_rdr.stored_answer WHERE ctid NOT IN (SELECT ctid FROM dp_rdr.stored_answer ORDER BY at DESC LIMIT 50);
UPDATE dp_rdr.stored_answer SET expires_at = clock_timestamp();
SET ROLE regress_analyst;
SELECT answer = :'paid_n' OR charged > 0 AS same, charged FROM asked('SELECT count(*) FROM inn_dp');
RESET ROLE;
SELECT count(*) FROM dp_rdr.stored_answer;
-- or as the owner says: after a load, also in the transaction of the load.
SET ROLE regress_analyst;
SELECT refused('SELECT dp_forget(''inn'')');
SELECT answer AS n FROM asked('SELECT count(*) FROM inn_dp') \gset paid_
SET ROLE regress_controller;
SELECT refused('SELECT dp_forget(NULL)');
BEGIN;
SELECT dp_forget('inn_dp');
ROLLBACK;
SET ROLE regress_analyst;
SELECT answer = :'paid_n' OR charged > 0 AS same, charged FROM asked('SELECT count(*) FROM inn_dp');
SET ROLE regress_controller;
SELECT dp_forget('inn');
SELECT dp_forget('inn');
SET ROLE regress_analyst;
SELECT answer = :'paid_n' OR charged > 0 AS same, charged FROM asked('SELECT count(*) FROM inn_dp');
-- An answer that was drawn before, and is stored behind it, is not found any more.
RESET ROLE;
CREATE TEMP TABLE late AS SELECT * FROM dp_rdr.stored_answer;
SET ROLE regress_controller;
SELECT dp_forget('inn');
RESET ROLE;
INSERT INTO dp_rdr.stored_answer SELECT * FROM late;
SET ROLE regress_analyst;
SELECT charged FROM asked('SELECT count(*) FROM inn_dp');

-- Also when nothing is left: a dashboard of eight questions, seen a thousand times in a month, costs what one view costs.
SET ROLE regress_controller;
SELECT dp_grant('inn_dp', 'regress_analyst', replay => '1 month'), dp_forget('inn');
RESET ROLE;
CREATE FUNCTION view_dashboard(times int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    first text; answer text; same int := 0; before bigint := charges();
BEGIN
    FOR i IN 1..times LOOP
        answer := (SELECT count(*) FROM inn_dp) || ' ' || (SELECT sum(age) FROM inn_dp) || ' ' || (SELECT avg(paid) FROM inn_dp)
            || (SELECT string_agg(q::text, '') FROM (SELECT room, count(*), avg(age) FROM inn_dp GROUP BY room) q)
            || (SELECT string_agg(q::text, '') FROM (SELECT town, count(*) FROM inn_dp GROUP BY town) q)
            || (SELECT count(*) FROM inn_dp WHERE age < 30) || (SELECT count(*) FILTER (WHERE age > 60) FROM inn_dp)
            || (SELECT sum(paid) FROM inn_dp WHERE room = 2);
        first := coalesce(first, answer);
        same := same + (answer = first)::int;
    END LOOP;
    RETURN times || ' views, ' || same || ' alike, ' || charges() - before || ' charges';
END $$;
GRANT EXECUTE ON FUNCTION view_dashboard(int) TO regress_analyst;
SET ROLE regress_analyst;
SELECT view_dashboard(1);
RESET ROLE;
SELECT epsilon AS epsilon, releases, denials FROM dp_odometer('inn') WHERE account = 'public' \gset before_
SET ROLE regress_controller;
SET client_min_messages = error; -- it is used up: how much that is, rounds have decided
SELECT dp_set_odometer('inn', epsilon_total => :before_epsilon);
RESET client_min_messages;
SET ROLE regress_analyst;
SELECT refused('SELECT count(*) FROM inn_dp WHERE age < 77');
SELECT view_dashboard(1000);
RESET ROLE;
SELECT epsilon = :before_epsilon, releases - :before_releases, denials - :before_denials FROM dp_odometer('inn') WHERE account = 'public';

-- Declared groups are public: GROUP BY or SELECT DISTINCT without an aggregate costs nothing, and reads nothing. A condition on
-- the keys prunes the list, all others change nothing, but are checked.
SET ROLE regress_analyst;
SELECT charges() AS before \gset
SELECT room FROM inn_dp GROUP BY room;
SELECT DISTINCT room FROM inn_dp ORDER BY room DESC LIMIT 2;
SELECT DISTINCT room, felt FROM inn_dp WHERE room > 2 AND age = -1;
SELECT room FROM inn_dp WHERE room = 17 GROUP BY room;
SELECT * FROM dp_query('SELECT DISTINCT felt AS feeling FROM inn_dp WHERE town = ''nowhere''') AS (feeling inn_mood);
SELECT count(*) FROM (SELECT DISTINCT room FROM inn_dp) q;
SELECT count(*) FROM (SELECT DISTINCT room, room AS again FROM inn_dp) q;
SELECT DISTINCT felt FROM (SELECT DISTINCT felt, room FROM inn_dp) q ORDER BY 1;
WITH rooms AS (SELECT DISTINCT room FROM inn_dp) SELECT r.room, d.n IS NOT NULL FROM rooms r LEFT JOIN (SELECT room, count(*) AS n, avg(age) FROM inn_dp GROUP BY room) d USING (room) ORDER BY 1;
SELECT column_name, epsilon, reason FROM dp_last_release();
SELECT * FROM dp_rdr.release('SELECT room FROM public.inn_dp GROUP BY room', NULL, 1, NULL, NULL, 1, false, NULL, NULL, NULL) AS (room int);
SELECT * FROM dp_last_release();
SELECT leaf, column_name, accepted, reason, epsilon, delta, rho FROM dp_explain('SELECT DISTINCT room FROM inn_dp');
SELECT refused('SELECT DISTINCT room FROM inn_dp WHERE pg_sleep(1) IS NULL');
SELECT refused('SELECT DISTINCT room FROM inn_dp WHERE age = (SELECT 1)');
SELECT refused('SELECT room FROM inn_dp GROUP BY room, id + 2');
SELECT refused('SELECT DISTINCT town FROM inn_dp');
SELECT refused('SELECT DISTINCT ON (room) room, town FROM inn_dp');
SELECT refused('SELECT DISTINCT room, row_number() OVER () FROM inn_dp');
SELECT refused('SELECT * FROM dp_refine() AS (room int)');
SELECT charges() - :before;
SET ROLE regress_third;
SELECT refused('SELECT DISTINCT room FROM inn_dp');
SET ROLE regress_controller;
SELECT refused($$SELECT * FROM dp_risk('SELECT room FROM inn_dp GROUP BY room')$$);

-- Nothing of it is for anybody but through the functions.
SET ROLE regress_analyst;
SELECT refused('SELECT * FROM dp_rdr.stored_answer');
SELECT refused('SELECT * FROM dp_rdr.forgotten');
SET ROLE regress_controller;
SELECT dp_unprotect('inn_dp'), dp_unprotect('inn_young_dp'), dp_unprotect('inn_wide_dp');
DROP TABLE inn, inn_wide;
DROP TYPE inn_mood;
RESET ROLE;
DROP ROLE regress_third;
DROP FUNCTION refused(text), replay(), charges(), asked(text, text, text), twice(text, text, text, text, text), view_dashboard(int);
\pset tuples_only off
\pset format aligned
