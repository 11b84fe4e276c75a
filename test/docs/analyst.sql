-- Tables and restricted views that the blocks of doc/analyst.md ask, in the database of doc/controller.md.
SET ROLE controller;
SELECT dp_set_odometer('adult', epsilon_total => 100, delta_total => 0.01);

-- Stays in a hospital, one person each.
CREATE TABLE stay (
    id integer, ward text, sex text, born date, admitted timestamp, discharged timestamp, diagnosis text,
    cost numeric(12, 2), paid numeric, age smallint, smoker boolean, length interval,
    month date GENERATED ALWAYS AS (make_date(extract(year FROM admitted)::integer, extract(month FROM admitted)::integer, 1)) STORED,
    days numeric GENERATED ALWAYS AS (extract(epoch FROM length) / 86400) STORED,
    cost_squared numeric GENERATED ALWAYS AS (cost * cost) STORED);
INSERT INTO stay
SELECT i, (ARRAY['icu', 'surgery', 'oncology', 'maternity'])[1 + i % 4], (ARRAY['f', 'm'])[1 + i / 4 % 2],
       date '1930-01-01' + i * 7 % 33000, timestamp '2025-01-01' + i % 365 * interval '1 day',
       timestamp '2025-01-04' + i % 365 * interval '1 day', 'D' || i % 300, i % 5000 + 0.25, i % 5000 * 1.005, i % 100,
       i % 3 = 0, i % 9 * interval '1 day'
FROM generate_series(1, 6000) i;
SELECT dp_protect('stay', 'stay_dp');
SELECT dp_set_bounds('stay', 'cost', 0, 5000), dp_set_bounds('stay', 'paid', 0, 5000), dp_set_bounds('stay', 'age', 0, 110),
       dp_set_bounds('stay', 'days', 0, 60), dp_set_bounds('stay', 'cost_squared', 0, 25000000),
       dp_set_groups('stay', 'ward', '{icu,surgery,oncology,maternity}'), dp_set_groups('stay', 'sex', '{f,m}'),
       dp_set_groups('stay', 'month', (SELECT array_agg(d::date::text)
                                       FROM generate_series('2025-01-01', '2025-12-01', interval '1 month') d)),
       dp_set_odometer('stay', 'none', delta_total => 0.9);

-- Counted in rho, for dp_refine().
CREATE TABLE checkup AS SELECT i AS id FROM generate_series(1, 3000) i;
SELECT dp_protect('checkup', 'checkup_dp');
SELECT dp_set_odometer('checkup', 'zcdp', epsilon_total => 1, delta_total => 1e-6, delta_conversion => 1e-6);

-- People with many rows.
CREATE TABLE appointment AS SELECT CASE WHEN i <= 2000 THEN i ELSE i % 100 END AS person, i % 50 AS cost FROM generate_series(1, 6000) i;
ALTER TABLE appointment ALTER person SET NOT NULL;
SELECT dp_protect('appointment', 'appointment_dp', unit => 'person', max_rows => 20);

-- Two tables of the same people.
CREATE TABLE member AS SELECT i AS person, CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END AS sex FROM generate_series(1, 2000) i;
ALTER TABLE member ADD PRIMARY KEY (person);
CREATE TABLE booking AS SELECT i AS booking, 1 + i % 1900 AS person, i % 60 AS price FROM generate_series(1, 5000) i;
ALTER TABLE booking ALTER person SET NOT NULL;
SELECT dp_protect('member', 'member_dp', unit => 'person');
SELECT dp_protect('booking', 'booking_dp', unit => 'person -> member(person)', max_rows => 20);
SELECT dp_set_bounds('booking', 'price', 0, 100), dp_set_groups('member', 'sex', '{f,m}');

SELECT dp_grant(view, 'analyst', tau => 0.95) FROM unnest('{stay_dp,checkup_dp,appointment_dp,member_dp,booking_dp}'::regclass[]) view;
RESET ROLE;
