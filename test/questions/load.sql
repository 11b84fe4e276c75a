-- A hospital, a shop and an event log: test/data/questions, every person forty times, with all that is his. To be run by psql in the
-- root of the tree, as a role that may create schemas. Private rows are in the schemas hospital_rows, shop_rows and log_rows;
-- hospital, shop and log have what is public, and protect.sql puts restricted views there, under the names of the tables. So one
-- text is a question of an analyst and, on another search_path, the same question in plain SQL.
--
-- There is no foreign key where rows may lead nowhere: visits of people who are no patients, items of orders that are gone,
-- codes and products that nobody has listed.

CREATE SCHEMA hospital;
CREATE SCHEMA hospital_rows;
CREATE TABLE hospital.insurers (
    insurer_id integer PRIMARY KEY, name text NOT NULL, kind text NOT NULL);
\copy hospital.insurers FROM 'test/data/questions/insurers.csv' CSV
CREATE TABLE hospital.wards (
    ward_id integer PRIMARY KEY, name text NOT NULL, floor integer NOT NULL, beds integer NOT NULL);
\copy hospital.wards FROM 'test/data/questions/wards.csv' CSV
CREATE TABLE hospital.doctors (
    doctor_id integer PRIMARY KEY, name text NOT NULL, specialty text NOT NULL);
\copy hospital.doctors FROM 'test/data/questions/doctors.csv' CSV
CREATE TABLE hospital.icd_codes (
    icd text PRIMARY KEY, chapter text NOT NULL, title text NOT NULL, chronic boolean NOT NULL);
\copy hospital.icd_codes FROM 'test/data/questions/icd_codes.csv' CSV
CREATE TABLE hospital.lab_tests (
    test text PRIMARY KEY, name text NOT NULL, unit text NOT NULL, low numeric NOT NULL, high numeric NOT NULL);
\copy hospital.lab_tests FROM 'test/data/questions/lab_tests.csv' CSV
CREATE TABLE hospital.drugs (
    drug text PRIMARY KEY, class text NOT NULL, price numeric(10,2) NOT NULL);
\copy hospital.drugs FROM 'test/data/questions/drugs.csv' CSV
CREATE TABLE hospital_rows.patients (
    patient_id integer PRIMARY KEY, sex text, born date NOT NULL, region text NOT NULL, blood_group text,
    insurer_id integer, gp text, died date);
CREATE TEMP TABLE one_patients (LIKE hospital_rows.patients);
\copy one_patients FROM 'test/data/questions/patients.csv' CSV
INSERT INTO hospital_rows.patients
SELECT patient_id * 100 + copy, sex, born, region, blood_group, insurer_id, gp, died
FROM one_patients, generate_series(1, 40) copy;
CREATE TABLE hospital_rows.visits (
    visit_id integer PRIMARY KEY, patient_id integer, ward_id integer NOT NULL, doctor_id integer NOT NULL,
    admitted timestamp NOT NULL, discharged timestamp, reason text NOT NULL, cost numeric(10,2));
CREATE TEMP TABLE one_visits (LIKE hospital_rows.visits);
\copy one_visits FROM 'test/data/questions/visits.csv' CSV
INSERT INTO hospital_rows.visits
SELECT visit_id * 100 + copy, patient_id * 100 + copy, ward_id, doctor_id, admitted, discharged, reason, cost
FROM one_visits, generate_series(1, 40) copy;
CREATE TABLE hospital_rows.diagnoses (
    visit_id integer NOT NULL REFERENCES hospital_rows.visits, icd text NOT NULL, main boolean NOT NULL,
    PRIMARY KEY (visit_id, icd));
CREATE TEMP TABLE one_diagnoses (LIKE hospital_rows.diagnoses);
\copy one_diagnoses FROM 'test/data/questions/diagnoses.csv' CSV
INSERT INTO hospital_rows.diagnoses
SELECT visit_id * 100 + copy, icd, main
FROM one_diagnoses, generate_series(1, 40) copy;
CREATE TABLE hospital_rows.labs (
    lab_id integer PRIMARY KEY, visit_id integer NOT NULL, test text NOT NULL, taken timestamp NOT NULL, value numeric(10,1));
CREATE TEMP TABLE one_labs (LIKE hospital_rows.labs);
\copy one_labs FROM 'test/data/questions/labs.csv' CSV
INSERT INTO hospital_rows.labs
SELECT lab_id * 100 + copy, visit_id * 100 + copy, test, taken, value
FROM one_labs, generate_series(1, 40) copy;
CREATE TABLE hospital_rows.prescriptions (
    patient_id integer NOT NULL REFERENCES hospital_rows.patients, drug text NOT NULL, day date NOT NULL, days integer NOT NULL,
    dose numeric(4,1));
CREATE TEMP TABLE one_prescriptions (LIKE hospital_rows.prescriptions);
\copy one_prescriptions FROM 'test/data/questions/prescriptions.csv' CSV
INSERT INTO hospital_rows.prescriptions
SELECT patient_id * 100 + copy, drug, day, days, dose
FROM one_prescriptions, generate_series(1, 40) copy;

CREATE SCHEMA shop;
CREATE SCHEMA shop_rows;
CREATE TABLE shop.countries (
    country text PRIMARY KEY, name text NOT NULL, region text NOT NULL, vat numeric(3,2) NOT NULL);
\copy shop.countries FROM 'test/data/questions/countries.csv' CSV
CREATE TABLE shop.categories (
    category_id integer PRIMARY KEY, name text NOT NULL, department text NOT NULL);
\copy shop.categories FROM 'test/data/questions/categories.csv' CSV
CREATE TABLE shop.products (
    product_id integer PRIMARY KEY, name text NOT NULL, category_id integer NOT NULL REFERENCES shop.categories,
    list_price numeric(10,2) NOT NULL, discontinued boolean NOT NULL);
\copy shop.products FROM 'test/data/questions/products.csv' CSV
CREATE TABLE shop_rows.customers (
    customer_id integer PRIMARY KEY, email text NOT NULL, country text, joined date NOT NULL, newsletter boolean NOT NULL,
    birth_year integer, segment text NOT NULL, referred_by integer);
CREATE TEMP TABLE one_customers (LIKE shop_rows.customers);
\copy one_customers FROM 'test/data/questions/customers.csv' CSV
INSERT INTO shop_rows.customers
SELECT customer_id * 100 + copy, copy || email, country, joined, newsletter, birth_year, segment, referred_by * 100 + copy
FROM one_customers, generate_series(1, 40) copy;
CREATE TABLE shop_rows.orders (
    order_id integer PRIMARY KEY, customer_id integer REFERENCES shop_rows.customers, ordered_at timestamp NOT NULL, status text NOT NULL,
    channel text NOT NULL, coupon text, shipping numeric(10,2) NOT NULL, delivered_at timestamp);
CREATE TEMP TABLE one_orders (LIKE shop_rows.orders);
\copy one_orders FROM 'test/data/questions/orders.csv' CSV
INSERT INTO shop_rows.orders
SELECT order_id * 100 + copy, customer_id * 100 + copy, ordered_at, status, channel, coupon, shipping, delivered_at
FROM one_orders, generate_series(1, 40) copy;
CREATE TABLE shop_rows.items (
    order_id integer NOT NULL, line integer NOT NULL, product_id integer NOT NULL, quantity integer NOT NULL,
    price numeric(10,2) NOT NULL, discount numeric(3,2), PRIMARY KEY (order_id, line));
CREATE TEMP TABLE one_items (LIKE shop_rows.items);
\copy one_items FROM 'test/data/questions/items.csv' CSV
INSERT INTO shop_rows.items
SELECT order_id * 100 + copy, line, product_id, quantity, price, discount
FROM one_items, generate_series(1, 40) copy;
CREATE TABLE shop_rows.reviews (
    customer_id integer NOT NULL REFERENCES shop_rows.customers, product_id integer NOT NULL, stars integer NOT NULL,
    written date NOT NULL, body text, PRIMARY KEY (customer_id, product_id));
CREATE TEMP TABLE one_reviews (LIKE shop_rows.reviews);
\copy one_reviews FROM 'test/data/questions/reviews.csv' CSV
INSERT INTO shop_rows.reviews
SELECT customer_id * 100 + copy, product_id, stars, written, body
FROM one_reviews, generate_series(1, 40) copy;

CREATE SCHEMA log;
CREATE SCHEMA log_rows;
CREATE TABLE log.plans (
    plan text PRIMARY KEY, price numeric(10,2) NOT NULL);
\copy log.plans FROM 'test/data/questions/plans.csv' CSV
CREATE TABLE log.features (
    name text PRIMARY KEY, area text NOT NULL);
\copy log.features FROM 'test/data/questions/features.csv' CSV
CREATE TABLE log.campaigns (
    referrer text PRIMARY KEY, campaign text NOT NULL, cost numeric(10,2) NOT NULL);
\copy log.campaigns FROM 'test/data/questions/campaigns.csv' CSV
CREATE TABLE log.holidays (
    day date PRIMARY KEY, name text NOT NULL);
\copy log.holidays FROM 'test/data/questions/holidays.csv' CSV
CREATE TABLE log_rows.users (
    user_id bigint PRIMARY KEY, signed_up timestamp NOT NULL, plan text NOT NULL, country text NOT NULL, team_id integer,
    deleted_at timestamp);
CREATE TEMP TABLE one_users (LIKE log_rows.users);
\copy one_users FROM 'test/data/questions/users.csv' CSV
INSERT INTO log_rows.users
SELECT user_id * 100 + copy, signed_up, plan, country, team_id, deleted_at
FROM one_users, generate_series(1, 40) copy;
CREATE TABLE log_rows.sessions (
    session_id bigint PRIMARY KEY, user_id bigint NOT NULL REFERENCES log_rows.users, started timestamp NOT NULL, ended timestamp,
    device text NOT NULL, referrer text);
CREATE TEMP TABLE one_sessions (LIKE log_rows.sessions);
\copy one_sessions FROM 'test/data/questions/sessions.csv' CSV
INSERT INTO log_rows.sessions
SELECT session_id * 100 + copy, user_id * 100 + copy, started, ended, device, referrer
FROM one_sessions, generate_series(1, 40) copy;
CREATE TABLE log_rows.events (
    event_id bigint PRIMARY KEY, user_id bigint, session_id bigint, at timestamptz NOT NULL, name text NOT NULL, payload jsonb);
CREATE TEMP TABLE one_events (LIKE log_rows.events);
\copy one_events FROM 'test/data/questions/events.csv' CSV
INSERT INTO log_rows.events
SELECT event_id * 100 + copy, user_id * 100 + copy, session_id * 100 + copy, at, name, payload
FROM one_events, generate_series(1, 40) copy;

-- What answers are held against: rows of nobody, and rows whose way to a person leads nowhere, are in no answer (doc/analyst.md).
CREATE SCHEMA hospital_plain;
CREATE VIEW hospital_plain.patients AS SELECT * FROM hospital_rows.patients;
CREATE VIEW hospital_plain.visits AS SELECT * FROM hospital_rows.visits WHERE patient_id IS NOT NULL;
CREATE VIEW hospital_plain.diagnoses AS SELECT * FROM hospital_rows.diagnoses WHERE visit_id IN (SELECT visit_id FROM hospital_plain.visits);
CREATE VIEW hospital_plain.labs AS SELECT * FROM hospital_rows.labs WHERE visit_id IN (SELECT visit_id FROM hospital_plain.visits);
CREATE VIEW hospital_plain.prescriptions AS SELECT * FROM hospital_rows.prescriptions;
CREATE SCHEMA shop_plain;
CREATE VIEW shop_plain.customers AS SELECT * FROM shop_rows.customers;
CREATE VIEW shop_plain.orders AS SELECT * FROM shop_rows.orders WHERE customer_id IS NOT NULL;
CREATE VIEW shop_plain.items AS SELECT * FROM shop_rows.items WHERE order_id IN (SELECT order_id FROM shop_plain.orders);
CREATE VIEW shop_plain.reviews AS SELECT * FROM shop_rows.reviews;
CREATE SCHEMA log_plain;
CREATE VIEW log_plain.users AS SELECT * FROM log_rows.users;
CREATE VIEW log_plain.sessions AS SELECT * FROM log_rows.sessions;
CREATE VIEW log_plain.events AS SELECT * FROM log_rows.events WHERE user_id IS NOT NULL;
