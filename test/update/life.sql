-- A database in use: what an update of the extension must leave as it is. The roles are there; run it as a superuser.
CREATE EXTENSION dp_rdr;
GRANT CREATE ON SCHEMA public TO controller;
GRANT CREATE ON DATABASE :"DBNAME" TO controller;
SET ROLE controller;
CREATE TABLE people (age integer, pay integer, city text);
INSERT INTO people SELECT g * 7 % 90, g * 37 % 5000, (ARRAY['Oslo', 'Pisa', 'Rome'])[1 + g % 3] FROM generate_series(1, 200) g;
SELECT dp_protect('people', 'people_dp');
SELECT dp_protect('people', 'young_dp', columns => '{age,city}', filter => 'age < 30');
SELECT dp_set_bounds('people', 'pay', 0, 5000);
SELECT dp_set_groups('people', 'city', '{Oslo,Pisa,Rome}');
SELECT dp_set_odometer('people', epsilon_total => 3, delta_total => 1e-5);
SELECT dp_grant('people_dp', 'analyst', tau => 0.95);
SELECT dp_grant('young_dp', 'analyst', tau => 0.9, mechanism => 'gaussian', delta => 1e-7, epsilon_min => 0.002);
SELECT dp_grant('people_dp', 'sharer', tau => 0.95, epsilon_total => 0.1);
SELECT dp_grant('people_dp', 'chooser', tau_var => 0.0001, epsilon_svt => 0.05);
SELECT dp_grant('people_dp', 'leaver', tau => 0.9);
CREATE SCHEMA "Odd schema" CREATE TABLE "Ta""ble" (gone text, pay numeric(8,2), "Of age" boolean, city text);
ALTER TABLE "Odd schema"."Ta""ble" DROP COLUMN gone;
INSERT INTO "Odd schema"."Ta""ble" SELECT g, g % 2 = 0, 'Rome' FROM generate_series(1, 50) g;
SELECT dp_protect('"Odd schema"."Ta""ble"', '"Odd schema"."Vi""ew"');
SELECT dp_set_bounds('"Odd schema"."Ta""ble"', 'pay', -0.5, 99.5);
SELECT dp_set_odometer('"Odd schema"."Ta""ble"', 'none');
GRANT USAGE ON SCHEMA "Odd schema" TO analyst;
SELECT dp_grant('"Odd schema"."Vi""ew"', 'analyst', tau => 0.9);
CREATE TABLE passing (age integer);
SELECT dp_protect('passing', 'passing_dp');
SELECT dp_grant('passing_dp', 'analyst', tau => 0.9);
CREATE TABLE town (city text PRIMARY KEY);
INSERT INTO town VALUES ('Oslo'), ('Pisa'), ('Rome');
SELECT dp_set_public('town', 'people');
SELECT dp_set_review('people', '{reviewer}');
CREATE TABLE fare (traveller integer, price integer);
SELECT dp_protect('fare', 'fare_dp', unit => 'traveller', max_rows => 5), dp_set_bounds('fare', 'price', 0, 50), dp_set_total('fare', 'price', 90);
CREATE TABLE ticket (day date, price integer);
SELECT dp_protect('ticket', 'ticket_dp'), dp_set_odometer('ticket', epsilon_total => 5);
SELECT dp_grant('ticket_dp', 'analyst', tau => 0.9), dp_set_partition('ticket', 'day', by => 'month', since => '2025-01-01');

SET ROLE analyst;
SELECT dp_request('SELECT count(*) FROM people_dp', 'a purpose');
SELECT * FROM dp_query('SELECT count(*) FROM people_dp WHERE age > 40') AS (n bigint);
SELECT * FROM dp_query('SELECT city, sum(pay) FROM people_dp GROUP BY city') AS (city text, s bigint);
SELECT * FROM dp_query('SELECT age / 10, count(*) FROM young_dp GROUP BY 1') AS (a integer, n bigint);
SELECT * FROM dp_query('SELECT sum(pay) FROM "Odd schema"."Vi""ew"') AS (s numeric);
SELECT * FROM dp_query('SELECT count(*) FROM passing_dp') AS (n bigint);
SELECT * FROM dp_query('SELECT count(*) FROM ticket_dp WHERE day < ''2025-02-01''') AS (n bigint);
SET ROLE member;
SELECT * FROM dp_query('SELECT count(*) FROM people_dp') AS (n bigint);
SELECT * FROM dp_query('SELECT count(*) FROM people_dp') AS (n bigint);
\set ON_ERROR_STOP off
SELECT * FROM dp_query('SELECT count(*) FROM people_dp') AS (n bigint); -- denied: the share is used up
\set ON_ERROR_STOP on
SET ROLE chooser;
SELECT * FROM dp_query('SELECT count(*) FROM people_dp') AS (n bigint);
SET ROLE leaver;
SELECT * FROM dp_query('SELECT count(*) FROM people_dp') AS (n bigint);
SET ROLE controller;
CALL dp_find_epsilon('SELECT count(*) FROM people_dp WHERE age > 40', 0.95);
DROP TABLE passing CASCADE;
CREATE TABLE coming (age integer);
SELECT dp_protect('coming', 'coming_dp'); -- forgets what was declared of the other
RESET ROLE;
-- As the worker writes it when a query fails while it reads rows.
INSERT INTO dp_rdr.suspension VALUES ('people_dp', 'leaver', 'leaver', 'leaver', '2026-01-02 03:04:05Z');
