-- What a sensible controller declares of load.sql, from what the columns mean, before the analysts come. The limits are ample: nobody
-- has more rows. Policies are made by who uses this file.

-- ---------------------------------------------------------------------------------------------------------------------
-- The hospital: whose rows they are is said by keys, and where there is no foreign key by name.
-- ---------------------------------------------------------------------------------------------------------------------

SELECT dp_protect('hospital_rows.patients', 'hospital.patients', unit => 'patient_id');
SELECT dp_protect('hospital_rows.visits', 'hospital.visits', unit => 'patient_id -> hospital_rows.patients', max_rows => 16);
SELECT dp_protect('hospital_rows.diagnoses', 'hospital.diagnoses', unit => 'visit_id', max_rows => 32, max_groups => 12);
SELECT dp_protect('hospital_rows.labs', 'hospital.labs', unit => 'visit_id -> hospital_rows.visits', max_rows => 32, max_groups => 12);
SELECT dp_protect('hospital_rows.prescriptions', 'hospital.prescriptions', unit => 'patient_id', max_rows => 16);

SELECT dp_set_bounds('hospital_rows.patients', 'born', date '1925-01-01', date '2025-12-31');
SELECT dp_set_bounds('hospital_rows.visits', 'cost', 0, 10000),
       dp_set_bounds('hospital_rows.visits', 'admitted', timestamp '2025-01-01', timestamp '2025-12-31 23:59:59'),
       dp_set_bounds('hospital_rows.visits', 'discharged', timestamp '2025-01-01', timestamp '2026-01-31 23:59:59');
SELECT dp_set_bounds('hospital_rows.labs', 'value', 0, 200),
       dp_set_bounds('hospital_rows.labs', 'taken', timestamp '2025-01-01', timestamp '2026-01-31 23:59:59');
SELECT dp_set_bounds('hospital_rows.prescriptions', 'days', 1, 90), dp_set_bounds('hospital_rows.prescriptions', 'dose', 0, 4),
       dp_set_bounds('hospital_rows.prescriptions', 'day', date '2025-01-01', date '2025-12-31');
SELECT dp_set_groups('hospital_rows.patients', 'sex', '{f,m,NULL}'),
       dp_set_groups('hospital_rows.patients', 'region', '{north,east,south,west}'),
       dp_set_groups('hospital_rows.patients', 'blood_group', '{0,A,B,AB,NULL}'),
       dp_set_groups('hospital_rows.patients', 'insurer_id', '{1,2,3,NULL}');
SELECT dp_set_groups('hospital_rows.visits', 'ward_id', '{1,2,3,4,5}'),
       dp_set_groups('hospital_rows.visits', 'reason', '{planned,emergency,transfer}');
SELECT dp_set_groups('hospital_rows.labs', 'test', '{HB,GLU,CRP,K}');

-- ---------------------------------------------------------------------------------------------------------------------
-- The shop
-- ---------------------------------------------------------------------------------------------------------------------

SELECT dp_protect('shop_rows.customers', 'shop.customers', unit => 'customer_id', columns => '{customer_id,country,joined,newsletter,birth_year,segment,referred_by}');
SELECT dp_protect('shop_rows.orders', 'shop.orders', unit => 'customer_id', max_rows => 10);
SELECT dp_protect('shop_rows.items', 'shop.items', unit => 'order_id -> shop_rows.orders', max_rows => 24);
SELECT dp_protect('shop_rows.reviews', 'shop.reviews', unit => 'customer_id', max_rows => 6);

SELECT dp_set_bounds('shop_rows.customers', 'birth_year', 1930, 2010),
       dp_set_bounds('shop_rows.customers', 'joined', date '2024-07-01', date '2025-12-31');
SELECT dp_set_bounds('shop_rows.orders', 'shipping', 0, 10),
       dp_set_bounds('shop_rows.orders', 'ordered_at', timestamp '2025-01-01', timestamp '2025-12-31 23:59:59'),
       dp_set_bounds('shop_rows.orders', 'delivered_at', timestamp '2025-01-01', timestamp '2026-01-31 23:59:59');
SELECT dp_set_bounds('shop_rows.items', 'quantity', 1, 4), dp_set_bounds('shop_rows.items', 'price', 0, 100),
       dp_set_bounds('shop_rows.items', 'discount', 0, 0.5);
SELECT dp_set_bounds('shop_rows.reviews', 'stars', 1, 5), dp_set_bounds('shop_rows.reviews', 'written', date '2025-01-01', date '2025-12-31');
SELECT dp_set_groups('shop_rows.customers', 'country', '{DE,FR,IT,CH,GB,NULL}'),
       dp_set_groups('shop_rows.customers', 'segment', '{consumer,business,school}');
SELECT dp_set_groups('shop_rows.orders', 'status', '{paid,shipped,delivered,returned,cancelled}'),
       dp_set_groups('shop_rows.orders', 'channel', '{web,app,phone}'),
       dp_set_groups('shop_rows.orders', 'coupon', '{SPRING,WELCOME,VIP,NULL}');
SELECT dp_set_groups('shop_rows.reviews', 'stars', '{1,2,3,4,5}');

-- ---------------------------------------------------------------------------------------------------------------------
-- The event log
-- ---------------------------------------------------------------------------------------------------------------------

SELECT dp_protect('log_rows.users', 'log.users', unit => 'user_id');
SELECT dp_protect('log_rows.sessions', 'log.sessions', unit => 'user_id', max_rows => 16);
SELECT dp_protect('log_rows.events', 'log.events', unit => 'user_id -> log_rows.users', max_rows => 48, max_groups => 20);

SELECT dp_set_bounds('log_rows.users', 'signed_up', timestamp '2025-01-01', timestamp '2025-06-30 23:59:59'),
       dp_set_bounds('log_rows.users', 'deleted_at', timestamp '2025-01-01', timestamp '2025-12-31 23:59:59');
SELECT dp_set_bounds('log_rows.sessions', 'started', timestamp '2025-01-01', timestamp '2025-06-30 23:59:59'),
       dp_set_bounds('log_rows.sessions', 'ended', timestamp '2025-01-01', timestamp '2025-07-01 23:59:59');
SELECT dp_set_groups('log_rows.users', 'plan', '{free,pro,team}'),
       dp_set_groups('log_rows.users', 'country', '{DE,FR,IT,CH,GB}');
SELECT dp_set_groups('log_rows.sessions', 'device', '{desktop,mobile,tablet}'),
       dp_set_groups('log_rows.sessions', 'referrer', '{search,mail,ads,NULL}');
SELECT dp_set_groups('log_rows.events', 'name', '{view,signup,trial,purchase,search,export,error}');

-- ---------------------------------------------------------------------------------------------------------------------
-- What is public, and may be joined
-- ---------------------------------------------------------------------------------------------------------------------

SELECT format('SELECT dp_set_public(%L, %L)', p.relation, t.relation)
FROM (VALUES ('hospital', 'hospital_rows.patients'), ('shop', 'shop_rows.customers'), ('log', 'log_rows.users')) t (schema, relation),
     LATERAL (SELECT c.oid::regclass AS relation FROM pg_class c WHERE c.relnamespace = t.schema::regnamespace AND c.relkind = 'r') p
WHERE EXISTS (SELECT FROM pg_proc WHERE proname = 'dp_set_public') \gexec
