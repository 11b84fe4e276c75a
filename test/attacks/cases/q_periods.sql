-- Budgets that begin anew: what an analyst gets, and how often, follows from the clock and public charges, not from what was charged by
-- the rows (0.05 with the canary, 0.1 without). A period turns by moving the stored one back.

-- D11 CHARGED 7
controller> SELECT dp_set_odometer('scarce', 'filter', 0.1, period => 'day', epsilon_lifetime => 10000)
  superuser> UPDATE dp_rdr.privacy_domain SET period_since = period_since - 400 WHERE id = (SELECT domain FROM dp_rdr.protected_table WHERE relation = 'scarce'::regclass)
  controller> DO $$ DECLARE e numeric; a jsonb; BEGIN CALL dp_find_epsilon('SELECT count(*) FROM scarce_dp WHERE age = 90', 0.95, e, a, candidates => '{0.1,0.05}'); END $$
  SELECT accepted, reason FROM dp_explain('SELECT count(*) FROM scarce_dp')
  SELECT count(*) FROM scarce_dp
  colleague> SELECT count(*) FROM scarce_dp
  ! SELECT count(*) FROM scarce_dp WHERE age = 90
  SELECT accepted, reason FROM dp_explain('SELECT count(*) FROM scarce_dp')
  superuser> UPDATE dp_rdr.odometer SET public_period_start = public_period_start - interval '400 days', conditional_period_start = conditional_period_start - interval '400 days' WHERE relation_name = 'public.scarce'
  controller> DO $$ DECLARE e numeric; a jsonb; BEGIN CALL dp_find_epsilon('SELECT count(*) FROM scarce_dp WHERE age = 90', 0.95, e, a, candidates => '{0.1,0.05}'); END $$
  SELECT accepted, reason FROM dp_explain('SELECT count(*) FROM scarce_dp')
  SELECT count(*) FROM scarce_dp
  controller> SELECT dp_set_odometer('scarce', 'filter', (SELECT sum(epsilon) + 1 FROM dp_odometer('scarce')), period => '')
  SELECT count(*) FROM scarce_dp
  controller> DO $$ DECLARE e numeric; a jsonb; BEGIN CALL dp_find_epsilon('SELECT count(*) FROM scarce_dp WHERE age = 90', 0.95, e, a, candidates => '{0.1,0.05}'); END $$
