-- dp_draft('gym', unit_table => 'gym.member', preset => 'team'): protects what leads to gym.member
-- An OPEN is what no catalog knows. Decide it by what the thing means. Do not look it up in the rows: what you write becomes public.
-- Write \set name value there, or psql -v name=value. A variable that is not set is a syntax error, and then nothing is kept.
-- Preset team: epsilon 3 for ever, tau 0.95; a count of people is right to 39 (95 of 100). doc/start.md argues which to take.
\set ON_ERROR_STOP on
BEGIN;
SET LOCAL search_path = pg_catalog, pg_temp;
-- OPEN: which role asks? Others get the same by dp_grant().
-- \set analyst analyst
CREATE SCHEMA gym_dp AUTHORIZATION gym_owner;
-- gym.member
-- left out: e_mail is unique
SELECT dp_protect('gym.member', 'gym_dp.member', unit => 'member_id', columns => '{member_id,born,plan}');
SELECT dp_set_groups('gym.member', 'plan', '{day,evening,all}');  -- by CHECK
-- later, where they are added up or grouped by: bounds of born (date). A WHERE bounds them as well.
-- gym.payment
-- a row whose member_id is NULL is nobody's, and counts in no answer
-- OPEN: how many rows of gym.payment of one person count? With 4 a count of rows is right to 157, with 20 to 784. Do not look it up in the rows.
-- \set payment_max_rows 4
SELECT dp_protect('gym.payment', 'gym_dp.payment', unit => 'member_id -> gym.member (member_id)', columns => '{member_id,amount}', max_rows => :payment_max_rows);
-- OPEN: from where to where are values of amount (numeric(8,2))? What is beyond counts as the bound. Delete the call if nobody adds them up. Do not look it up in the rows.
-- \set payment_amount_low 0
-- \set payment_amount_high
SELECT dp_set_bounds('gym.payment', 'amount', :'payment_amount_low'::text, :'payment_amount_high'::text);
-- gym.visit
-- OPEN: how many rows of gym.visit of one person count? With 4 a count of rows is right to 157, with 20 to 784. Do not look it up in the rows.
-- \set visit_max_rows 4
-- left out: visit_id is unique
SELECT dp_protect('gym.visit', 'gym_dp.visit', unit => 'member_id -> gym.member (member_id)', columns => '{member_id,class_id,minutes}', max_rows => :visit_max_rows);
SELECT dp_set_bounds('gym.visit', 'minutes', '1'::text, '300'::text);  -- by CHECK
SELECT dp_set_people('gym.member', 9000);
SELECT dp_set_odometer('gym.member', bound => 'zcdp', epsilon_total => 3, delta_total => 1e-6, delta_conversion => 1e-6);
-- OPEN: is gym.class public? It is false if anything in it comes from people: a person in it, a sum of theirs, a row that is there because of one. Do not look it up in the rows.
-- \set class_is_public false
SELECT dp_set_public('gym.class', 'gym.member') WHERE :class_is_public;
SELECT 'GRANT SELECT ON gym.class TO ' || quote_ident(:'analyst') WHERE :class_is_public \gexec
SELECT 'GRANT USAGE ON SCHEMA gym TO ' || quote_ident(:'analyst') WHERE :class_is_public \gexec
GRANT USAGE ON SCHEMA gym_dp TO :"analyst";
SELECT dp_grant('gym_dp.member', quote_ident(:'analyst')::regrole, tau => 0.95, mechanism => 'auto');
SELECT dp_grant('gym_dp.payment', quote_ident(:'analyst')::regrole, tau => 0.95, mechanism => 'auto');
SELECT dp_grant('gym_dp.visit', quote_ident(:'analyst')::regrole, tau => 0.95, mechanism => 'auto');
COMMIT;
-- Then: dp_settings('gym.member'), dp_audit(), dp_report('gym.member')
