-- What all answers so far came to for each person: dp_loss and dp_loss_records (formulas.md 5.8).
SET client_min_messages = warning;
SET ROLE regress_controller;
CREATE TABLE registered AS SELECT row_number() OVER () AS id, age, sex, hours_per_week, capital_gain, marital_status FROM adult;
SELECT dp_protect('registered', 'registered_dp'), dp_set_odometer('registered', epsilon_total => 20),
       dp_set_bounds('registered', 'hours_per_week', 0, 100), dp_set_bounds('registered', 'capital_gain', 0, 99999),
       dp_set_bounds('registered', 'age', 0, 100), dp_set_groups('registered', 'sex', '{Female}');
SELECT dp_grant('registered_dp', 'regress_analyst', tau => 0.95), dp_grant('registered_dp', 'regress_second', tau => 0.9);
RESET client_min_messages;

-- Nothing was asked.
SELECT * FROM dp_loss('registered');
SELECT * FROM dp_loss_records('registered', 2);

-- A hundred answers, of two roles.
CREATE FUNCTION ask(statement text, times integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    SET LOCAL client_min_messages = warning;
    FOR i IN 1 .. times LOOP EXECUTE statement; END LOOP;
END $$;
SET ROLE regress_analyst;
SELECT ask('SELECT count(*) FROM registered_dp WHERE age > 40', 20), ask('SELECT sum(hours_per_week) FROM registered_dp', 20),
       ask('SELECT avg(age), count(*) FROM registered_dp WHERE sex = ''Male''', 10),
       ask('SELECT sex, count(*) FROM registered_dp GROUP BY sex', 10);
SET ROLE regress_second;
SELECT ask('SELECT sum(capital_gain), count(*) FILTER (WHERE age < 30) FROM registered_dp', 10),
       ask('SELECT count(DISTINCT age), percentile_disc(0.5) WITHIN GROUP (ORDER BY age) FROM registered_dp WHERE hours_per_week >= 50', 10),
       ask('SELECT variance(age), corr(age, hours_per_week) FROM registered_dp WHERE marital_status IS NOT NULL', 10),
       ask('SELECT count(hours_per_week) FROM registered_dp WHERE capital_gain > 0 AND sex IN (''Female'', ''Male'')', 10);

-- The same from the table: for each charge the mean over its measures of what a row brings, by what anybody may bring.
SET ROLE regress_controller;
CREATE VIEW expected AS
WITH price AS (SELECT query, sum(epsilon)::float8 AS e FROM dp_rdr.ledger WHERE relation = 'public.registered' GROUP BY query),
p AS (SELECT sum(e) FILTER (WHERE query LIKE '%> 40%') AS over_40, sum(e) FILTER (WHERE query LIKE '%sum("hours%' OR query LIKE '%sum(hours%') AS hours,
        sum(e) FILTER (WHERE query LIKE '%avg%') AS men, sum(e) FILTER (WHERE query LIKE '%GROUP BY%') AS women,
        sum(e) FILTER (WHERE query LIKE '%FILTER%') AS gain, sum(e) FILTER (WHERE query LIKE '%percentile%') AS median,
        sum(e) FILTER (WHERE query LIKE '%corr%') AS corr, sum(e) FILTER (WHERE query LIKE '%count(hours%') AS some FROM price)
SELECT c.id, p.over_40 * (age > 40)::int + p.hours * hours_per_week / 100 + p.men * (sex = 'Male')::int
       + p.women * (sex = 'Female')::int + p.gain * (capital_gain::float8 / 99999 + (age < 30)::int) / 2
       + p.median * (hours_per_week >= 50)::int + p.corr * (1 + (0.5 + (age * (100 - age) + hours_per_week * (100 - hours_per_week))::float8 / 20000) / 0.75) / 2
       + p.some * (capital_gain > 0)::int AS epsilon
FROM registered c, p;
SELECT query, count(*), sum(epsilon) FROM dp_rdr.ledger WHERE relation = 'public.registered' GROUP BY query ORDER BY query COLLATE "C";
SELECT count(*), count(*) FILTER (WHERE abs(l.epsilon - e.epsilon) > 1e-7) AS different, count(*) FILTER (WHERE answers <> 20 + 20 * (age > 40)::int
         + 10 * ((sex = 'Male')::int + (sex = 'Female')::int + (hours_per_week >= 50)::int + (capital_gain > 0)::int + 1
                 + (capital_gain > 0 OR age < 30)::int)) AS miscounted
FROM dp_loss_records('registered', 2000) l JOIN expected e ON e.id = (l.record ->> 'id')::int JOIN registered c USING (id);
SELECT people, round(epsilon::numeric, 6) AS epsilon, rho, delta, round(posterior50::numeric, 6) AS posterior50,
       abs(epsilon - (SELECT percentile_disc(people) WITHIN GROUP (ORDER BY e.epsilon) FROM expected e)) < 1e-8 AS expected,
       abs(at_total - epsilon * 20 / 17.5) < 1e-8 AS goes_on FROM dp_loss('registered');
SELECT record, individuals, round(epsilon::numeric, 6) AS epsilon, answers, conditional FROM dp_loss_records('registered', 1);
SELECT round((at_total / epsilon)::numeric, 6) AS goes_on FROM dp_loss('registered', 35) WHERE people = 1;

-- The report draws it.
SELECT array_to_string(ARRAY(SELECT regexp_replace(m[1], '<[^>]*>', ' ', 'g') FROM regexp_matches(part, '<tr>(.*?)</tr>', 'g') m), E'\n') AS losses
FROM regexp_matches(dp_report('registered', losses => true), '<section id="losses">(.*?)</section>') s (s), LATERAL (SELECT s[1]) p (part);

-- Where a person has several rows what counts is what is left of them. NULLs are no numbers.
SET client_min_messages = warning;
CREATE TABLE bunk (person integer, cost integer, ward text, a integer, b integer);
INSERT INTO bunk VALUES (1, 100, 'a', NULL, 5), (1, 50, 'b', 5, NULL), (1, 0, 'a', 5, 5), (2, 100, 'c', 5, NULL), (3, NULL, 'd', NULL, 5), (NULL, 100, 'a', 5, 5);
SELECT dp_protect('bunk', 'bunk_dp', unit => 'person', max_rows => 2), dp_set_bounds('bunk', 'cost', 0, 100),
       dp_set_groups('bunk', 'ward', '{a,b}'), dp_set_odometer('bunk', epsilon_total => 50, delta_total => 0.01);
SELECT dp_protect('bunk', 'every_bunk_dp');
SELECT dp_grant('bunk_dp', 'regress_analyst', tau => 0.95), dp_grant('every_bunk_dp', 'regress_analyst', tau => 0.9, delta => 0.001),
       dp_grant('bunk_dp', 'regress_second', tau => 0.9, mechanism => 'gaussian', delta => 0.001);
RESET client_min_messages;
CREATE FUNCTION losses(relation regclass) RETURNS TABLE (person text, individuals bigint, epsilon numeric, rho numeric, delta numeric, answers bigint,
    conditional float8) LANGUAGE sql AS $$
    SELECT coalesce(record ->> 'person', record ->> 'id'), individuals, round(epsilon::numeric, 6), round(rho::numeric, 9), delta, answers, conditional
    FROM dp_loss_records(relation, 100) ORDER BY 1 $$;
SET ROLE regress_analyst;
SELECT ask('SELECT count(*) FROM bunk_dp', 1);  -- 2, 1, 1 of 2
SET ROLE regress_controller;
SELECT * FROM losses('bunk');
SET ROLE regress_analyst;
SELECT ask('SELECT sum(cost) FROM bunk_dp', 1), -- 150, 100, 0 of 200
       ask('SELECT count(*) FILTER (WHERE a IS NULL) FROM bunk_dp', 1), -- 1, 0, 1 of 2
       ask('SELECT * FROM dp_query(''SELECT count(*) FROM bunk_dp'', max_rows => 1) AS (n bigint)', 1); -- all of 1
SET ROLE regress_controller;
SELECT * FROM losses('bunk');
-- Groups that nobody declared: their delta is that of those who are in one.
SET ROLE regress_analyst;
SELECT ask('SELECT a, count(*) FROM every_bunk_dp WHERE cost > 60 GROUP BY a', 1);
SET ROLE regress_controller;
SELECT * FROM losses('bunk');
-- Gaussian noise: 1, 1/4 and 1/4 of rho, at a delta beside.
SET ROLE regress_second;
SELECT ask('SELECT count(*) FROM bunk_dp WHERE ward IS NOT NULL', 4);
SET ROLE regress_controller;
SELECT l.person, l.epsilon > 0.2 AS more, l.rho = round(r.rho * CASE person WHEN '1' THEN 1 ELSE 0.25 END, 9) AS rho, l.delta, l.answers
FROM losses('bunk') l, (SELECT sum(rho) AS rho FROM dp_rdr.ledger WHERE relation = 'public.bunk' AND mechanism = 'gaussian') r;
-- The conditional account is beside. What was asked under other declarations counts in full.
CALL dp_find_epsilon($$SELECT count(*) FROM bunk_dp WHERE ward = 'a'$$, 0.1, candidates => '{0.5}') \gset noise_
SELECT person, conditional, round(epsilon, 4) AS epsilon FROM losses('bunk');
SELECT dp_set_bounds('bunk', 'cost', 0, 1000);
SELECT person, answers FROM losses('bunk');

-- Rows: a NULL is another value than the one beside it, and a round is the sum of its steps.
SET client_min_messages = warning;
CREATE TABLE pairs AS SELECT * FROM (VALUES (1, NULL, 5), (2, 5, NULL), (3, 5, 5), (4, 0, 5)) v (id, a, b);
SELECT dp_protect('pairs', 'pairs_dp'), dp_set_bounds('pairs', 'a', 0, 10), dp_set_bounds('pairs', 'b', 0, 10), dp_set_odometer('pairs', epsilon_total => 100);
SELECT dp_grant('pairs_dp', 'regress_analyst', tau => 0.5), dp_grant('pairs_dp', 'regress_second', tau_var => 0.001, selection => 'released');
RESET client_min_messages;
SET ROLE regress_analyst;
SELECT ask('SELECT count(*) FILTER (WHERE a IS NULL AND b = 5), count(*) FROM pairs_dp', 1);
SET ROLE regress_controller;
SELECT person, round(l.epsilon / (SELECT sum(c.epsilon) FROM dp_rdr.ledger c WHERE relation = 'public.pairs'), 6) AS share FROM losses('pairs') l;
SET ROLE regress_analyst;
SELECT ask('SELECT sum(a) FROM pairs_dp', 1), ask('SELECT * FROM dp_query(''SELECT count(*) FROM pairs_dp WHERE b > 0'', within => 0.2) AS (n bigint)', 1);
SET ROLE regress_controller;
SELECT person, abs(l.epsilon - (c.first / 2 * (1 + (person = '1')::int) + c.sum * coalesce(p.a, 0) / 10 + c.round * (p.b > 0 IS TRUE)::int)) < 1e-5 AS same
FROM losses('pairs') l JOIN pairs p ON p.id::text = person,
     (SELECT sum(epsilon) FILTER (WHERE query ~ 'NULL') AS first, sum(epsilon) FILTER (WHERE query ~ 'sum') AS sum,
             sum(epsilon) FILTER (WHERE query ~ 'WHERE .b > 0') AS round FROM dp_rdr.ledger WHERE relation = 'public.pairs') c;
-- Columns that have changed their names; and have them back. How many charges a round makes is up to its noise.
SET client_min_messages = warning;
ALTER TABLE pairs RENAME a TO c;
ALTER TABLE pairs RENAME b TO a;
ALTER TABLE pairs RENAME c TO b;
SELECT count(DISTINCT l.epsilon) AS all_the_same, abs(max(l.epsilon) - (SELECT sum(c.epsilon) FROM dp_rdr.ledger c WHERE relation = 'public.pairs')) < 1e-5 AS in_full
FROM losses('pairs') l;
ALTER TABLE pairs RENAME a TO c;
ALTER TABLE pairs RENAME b TO a;
ALTER TABLE pairs RENAME c TO b;
SELECT count(DISTINCT epsilon) AS different FROM losses('pairs');
-- A selection counts in full.
CREATE TEMP TABLE before AS SELECT * FROM losses('pairs');
SET ROLE regress_second;
SELECT attempt('SELECT count(*) FROM pairs_dp WHERE a = 0') IS NOT NULL AS asked; -- noise says whether one is selected
SET ROLE regress_controller;
SELECT l.person, l.epsilon - b.epsilon AS more, l.answers - b.answers AS answers FROM losses('pairs') l JOIN before b USING (person) WHERE l.person <> '4';

-- Totals in rho.
SET client_min_messages = warning;
CREATE TABLE in_rho AS SELECT i AS id, i AS x FROM generate_series(0, 10) i;
SELECT dp_protect('in_rho', 'in_rho_dp'), dp_set_bounds('in_rho', 'x', 0, 10),
       dp_set_odometer('in_rho', bound => 'zcdp', epsilon_total => 20, delta_total => 1e-6, delta_conversion => 1e-6);
SELECT dp_grant('in_rho_dp', 'regress_analyst', tau => 0.5);
SET ROLE regress_analyst;
SELECT ask('SELECT sum(x), count(*) FROM in_rho_dp', 10);
SET ROLE regress_controller;
RESET client_min_messages;
SELECT count(*), sum(epsilon), round(sum(rho), 9) AS rho, min(basis) FROM dp_rdr.ledger WHERE relation = 'public.in_rho';
SELECT person, epsilon, rho, delta, answers FROM losses('in_rho');
SELECT people, round(l.epsilon::numeric, 6) AS epsilon, round(o.epsilon_anytime::numeric, 6) AS odometer
FROM dp_loss('in_rho') l, dp_odometer('in_rho') o WHERE account = 'public';

-- A function of the owner's that shows it to others is found.
CREATE FUNCTION show_losses() RETURNS SETOF float8 LANGUAGE sql SECURITY DEFINER AS $$ SELECT epsilon FROM dp_loss('registered') $$;
SELECT severity, object, finding, remedy FROM dp_audit() WHERE object ~ 'show_losses';
-- So is a copy of it, also through a view, and of what else is for the controller alone; worse where others may read it.
CREATE VIEW losses_now AS SELECT * FROM dp_loss('registered');
CREATE MATERIALIZED VIEW losses_kept AS SELECT people, epsilon FROM losses_now;
CREATE MATERIALIZED VIEW risks_kept AS SELECT * FROM dp_risk('SELECT count(*) FROM registered_dp');
CREATE FUNCTION show_risk() RETURNS SETOF float8 LANGUAGE sql SECURITY DEFINER BEGIN ATOMIC SELECT ratio FROM dp_risk('SELECT count(*) FROM registered_dp'); END;
GRANT SELECT ON risks_kept TO regress_analyst;
GRANT SELECT (people) ON losses_kept TO regress_second;
GRANT SELECT ON losses_now TO PUBLIC;
SELECT severity, object, finding, remedy FROM dp_audit() WHERE object ~ 'kept$|losses_now|show_risk' ORDER BY 1, 2, 3;
SET ROLE regress_analyst;
SELECT * FROM losses_now; -- a view stores nothing, and asks with the rights of who reads it
SET ROLE regress_controller;
DROP VIEW losses_now CASCADE;
DROP MATERIALIZED VIEW risks_kept;
DROP FUNCTION show_risk;

-- A charge is borne by the people in its cells alone, also where all of them bear it in full. Cells of an earlier partition are everybody's.
SET client_min_messages = warning;
CREATE TABLE berth AS SELECT i AS id, (ARRAY['a', 'b', 'c', 'd', NULL])[1 + i % 5] AS ward FROM generate_series(1, 50) i;
SELECT dp_protect('berth', 'berth_dp'), dp_set_groups('berth', 'ward', '{a,b,c}'), dp_set_odometer('berth', epsilon_total => 500);
SELECT dp_grant('berth_dp', 'regress_analyst', tau => 0.95), dp_grant('berth_dp', 'regress_second', tau_var => 0.2, epsilon_svt => 20, epsilon_max => 100, candidates => '{100,2,1,0.05}');
SET ROLE regress_analyst;
SELECT ask('SELECT count(*) FROM berth_dp', 1);
SET ROLE regress_controller;
SELECT dp_set_partition('berth', 'ward', guard => false);
SET ROLE regress_analyst;
SELECT ask('SELECT count(*) FROM berth_dp WHERE ward = ''a''', 2), ask('SELECT count(*) FROM berth_dp WHERE ward IN (''a'', ''b'') AND id > 25', 1),
       ask('SELECT count(*) FROM berth_dp', 1);
SET ROLE regress_second;
SELECT ask('SELECT count(*) FROM berth_dp WHERE ward <> ''c'' AND id < 0', 1); -- 20 for the selection, in all cells but one
SET ROLE regress_controller;
CREATE VIEW berth_losses AS
SELECT ward, id > 25 AS later, count(*) AS rows, round(coalesce(l.epsilon, o.epsilon)::numeric, 6) AS epsilon, coalesce(l.answers, o.answers) AS answers
FROM berth b LEFT JOIN dp_loss_records('berth', 100) l ON (l.record ->> 'id')::int = b.id LEFT JOIN dp_loss_records('berth', 100) o ON o.record IS NULL
GROUP BY 1, 2, 4, 5 ORDER BY 1, 2;
SELECT * FROM berth_losses;
SELECT dp_unset_partition('berth');
SELECT dp_set_groups('berth', 'ward', '{c,b,a}'), dp_set_partition('berth', 'ward', guard => false);
SELECT * FROM berth_losses;

RESET client_min_messages;
-- It is for the owner alone.
SET ROLE regress_analyst;
SELECT attempt('SELECT * FROM dp_loss(''registered'')'), attempt('SELECT * FROM dp_loss_records(''registered_dp'')');
SET ROLE regress_stranger;
SELECT attempt('SELECT * FROM dp_loss(''registered_dp'')');
SET ROLE regress_controller;
SELECT attempt('SELECT * FROM dp_loss(NULL)'), attempt('SELECT * FROM dp_loss(''registered'', delta => 0)'), attempt('SELECT * FROM dp_loss_records(''registered'', 0)'),
       attempt('SELECT * FROM dp_loss(''expected'')'), attempt('SELECT * FROM dp_loss(''registered'', -1)');
SET client_min_messages = warning;
DELETE FROM pairs;
SELECT attempt('SELECT * FROM dp_loss(''pairs'')');
SET client_min_messages = warning;
DROP FUNCTION show_losses(), ask, losses;
SELECT dp_unprotect(v::regclass) FROM unnest('{registered_dp,bunk_dp,every_bunk_dp,pairs_dp,in_rho_dp,berth_dp}'::text[]) v;
DROP TABLE registered, bunk, pairs, in_rho, berth CASCADE;
