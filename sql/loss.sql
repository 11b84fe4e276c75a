-- What all answers so far came to for each person: dp_loss and dp_loss_records (formulas.md 5.8).
SET client_min_messages = warning;
SET ROLE regress_controller;
CREATE TABLE census AS SELECT row_number() OVER () AS id, age, sex, hours_per_week, capital_gain, marital_status FROM adult;
SELECT dp_protect('census', 'census_dp'), dp_set_odometer('census', epsilon_total => 20),
       dp_set_bounds('census', 'hours_per_week', 0, 100), dp_set_bounds('census', 'capital_gain', 0, 99999),
       dp_set_bounds('census', 'age', 0, 100), dp_set_groups('census', 'sex', '{Female}');
SELECT dp_grant('census_dp', 'regress_analyst', tau => 0.95), dp_grant('census_dp', 'regress_second', tau => 0.9);
RESET client_min_messages;

-- Nothing was asked.
SELECT * FROM dp_loss('census');
SELECT * FROM dp_loss_records('census', 2);

-- A hundred answers, of two roles.
CREATE FUNCTION ask(statement text, times integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    SET LOCAL client_min_messages = warning;
    FOR i IN 1 .. times LOOP EXECUTE statement; END LOOP;
END $$;
SET ROLE regress_analyst;
SELECT ask('SELECT count(*) FROM census_dp WHERE age > 40', 20), ask('SELECT sum(hours_per_week) FROM census_dp', 20),
       ask('SELECT avg(age), count(*) FROM census_dp WHERE sex = ''Male''', 10),
       ask('SELECT sex, count(*) FROM census_dp GROUP BY sex', 10);
SET ROLE regress_second;
SELECT ask('SELECT sum(capital_gain), count(*) FILTER (WHERE age < 30) FROM census_dp', 10),
       ask('SELECT count(DISTINCT age), percentile_disc(0.5) WITHIN GROUP (ORDER BY age) FROM census_dp WHERE hours_per_week >= 50', 10),
       ask('SELECT variance(age), corr(age, hours_per_week) FROM census_dp WHERE marital_status IS NOT NULL', 10),
       ask('SELECT count(hours_per_week) FROM census_dp WHERE capital_gain > 0 AND sex IN (''Female'', ''Male'')', 10);

-- The same from the table: for each charge the mean over its measures of what a row brings, by what anybody may bring.
SET ROLE regress_controller;
CREATE VIEW expected AS
WITH price AS (SELECT query, sum(epsilon)::float8 AS e FROM dp_rdr.ledger WHERE relation = 'public.census' GROUP BY query),
p AS (SELECT sum(e) FILTER (WHERE query LIKE '%> 40%') AS over_40, sum(e) FILTER (WHERE query LIKE '%sum("hours%' OR query LIKE '%sum(hours%') AS hours,
        sum(e) FILTER (WHERE query LIKE '%avg%') AS men, sum(e) FILTER (WHERE query LIKE '%GROUP BY%') AS women,
        sum(e) FILTER (WHERE query LIKE '%FILTER%') AS gain, sum(e) FILTER (WHERE query LIKE '%percentile%') AS median,
        sum(e) FILTER (WHERE query LIKE '%corr%') AS corr, sum(e) FILTER (WHERE query LIKE '%count(hours%') AS some FROM price)
SELECT c.id, round((p.over_40 * (age > 40)::int + p.hours * hours_per_week / 100 + p.men * (sex = 'Male')::int
       + p.women * (sex = 'Female')::int + p.gain * (capital_gain::float8 / 99999 + (age < 30)::int) / 2
       + p.median * (hours_per_week >= 50)::int + p.corr * (1 + (0.5 + (age * (100 - age) + hours_per_week * (100 - hours_per_week))::float8 / 20000) / 0.75) / 2
       + p.some * (capital_gain > 0)::int)::numeric, 6) AS epsilon
FROM census c, p;
SELECT query, count(*), sum(epsilon) FROM dp_rdr.ledger WHERE relation = 'public.census' GROUP BY query ORDER BY query COLLATE "C";
SELECT count(*), count(*) FILTER (WHERE round(l.epsilon::numeric, 6) <> e.epsilon) AS different
FROM dp_loss_records('census', 40000) l JOIN expected e ON e.id = (l.record ->> 'id')::int;
SELECT round(people::numeric, 3) AS people, round(epsilon::numeric, 6), rho, delta, round(posterior50::numeric, 4) AS posterior50,
       round(at_total::numeric, 3) AS at_total,
       (SELECT percentile_disc(people) WITHIN GROUP (ORDER BY e.epsilon) FROM expected e) AS expected
FROM dp_loss('census');
SELECT record ->> 'age' AS age, individuals, round(epsilon::numeric, 6) AS epsilon, answers, conditional FROM dp_loss_records('census', 3);

-- It is for the owner alone.
SET ROLE regress_analyst;
SELECT attempt('SELECT * FROM dp_loss(''census'')'), attempt('SELECT * FROM dp_loss_records(''census_dp'')');
SET ROLE regress_stranger;
SELECT attempt('SELECT * FROM dp_loss(''census_dp'')');
