-- Risk profiles and what an answer or all answers tell: public facts, the same on both databases; the controller's alone where
-- charges are looked at.

-- A28 REFUSE 42501
SELECT * FROM dp_attack_risk('person_dp')
SELECT * FROM dp_attack_risk('person')
SELECT dp_set_odometer('person', profile => dp_profile('constant', relative => 1000))
SELECT dp_grant('person_dp', current_user::regrole, profile => dp_profile('constant', relative => 1000))

-- D10 SAME
SELECT posterior50, advantage_max FROM dp_explain('SELECT count(*), sum(salary) FROM person_dp WHERE id = 4242')
SELECT posterior50 FROM dp_last_release()
SELECT count(*), sum(salary) FROM person_dp WHERE id = 4242
  SELECT posterior50 FROM dp_last_release()
SELECT noise_stddev, error95, p_exact, p_switch FROM dp_profile_utility(ARRAY[dp_profile('both', relative => 3)], 'SELECT count(*), sum(salary) FROM person_dp WHERE id = 4242')

-- D10 NOCHARGE
SELECT * FROM dp_profile_utility(ARRAY[dp_profile('both', relative => 3)], 'SELECT count(*) FROM person_dp WHERE id = 4242')

-- A07 REFUSE 22023
SELECT dp_profile_epsilon('{"kind": "expression", "expression": "2 + (SELECT 1 FROM person WHERE id = 4242)"}')
