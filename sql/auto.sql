-- Mechanism auto, rho of several measures, and the l2 clip that nobody has to declare (doc/formulas.md 5.3, 6.5, 9.14).

LOAD 'dp_rdr';
\set VERBOSITY terse
\pset null '-'
SET ROLE regress_controller;
RESET ROLE;
CREATE SCHEMA auto AUTHORIZATION regress_controller;
SET ROLE regress_controller;
GRANT USAGE ON SCHEMA auto TO regress_analyst;
CREATE TABLE auto.visit (id integer PRIMARY KEY, guest integer NOT NULL, room text NOT NULL, price integer NOT NULL);
INSERT INTO auto.visit SELECT i, i % 100, 'r' || i % 3, i % 50 FROM generate_series(1, 3000) i;
SELECT dp_protect('auto.visit', 'auto.visit_dp', unit => 'guest', max_rows => 30);
SELECT dp_set_bounds('auto.visit', 'price', 0, 50), dp_set_groups('auto.visit', 'room', '{r0,r1,r2}');

-- Under filter it is Laplace, which is said; there it needs no delta.
SELECT dp_grant('auto.visit_dp', 'regress_analyst', tau => 0.95, mechanism => 'auto');
SET ROLE regress_analyst;
SELECT column_name, mechanism, epsilon, error95 FROM dp_explain('SELECT count(*) FROM auto.visit_dp');
SET ROLE regress_controller;
SELECT dp_grant('auto.visit_dp', 'regress_analyst', selection => 'within_data');
SELECT dp_set_odometer('auto.visit', 'zcdp', epsilon_total => 3, delta_total => 1e-6, delta_conversion => 1e-6);
SELECT dp_grant('auto.visit_dp', 'regress_analyst', mechanism => 'auto');

-- Under zcdp it is Gaussian at the rho of the Laplace answer, but for percentiles.
SET ROLE regress_analyst;
SELECT column_name, mechanism, epsilon, error95 FROM dp_explain('SELECT count(*), sum(price), avg(price) FROM auto.visit_dp');
SELECT column_name, mechanism, epsilon, error95 FROM dp_explain('SELECT room, count(*) FROM auto.visit_dp GROUP BY room');
SELECT column_name, mechanism FROM dp_explain('SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY price) FROM auto.visit_dp');
SELECT count(n) FROM (SELECT count(*) AS n, sum(price) FROM auto.visit_dp) a;
SELECT column_name, epsilon, delta, mechanism, rho, posterior50 FROM dp_last_release();
SELECT answers FROM dp_remaining('SELECT count(*) FROM auto.visit_dp');
SET ROLE regress_controller;
SELECT kind, mechanism, epsilon, delta, rho, basis, rho <= 0.1 * tanh(0.025) + 1e-15 AND rho > 0.0999 * tanh(0.025) AS as_charged
FROM dp_rdr.ledger WHERE view::text = 'auto.visit_dp' ORDER BY id;
SELECT dp_grant('auto.visit_dp', 'regress_analyst', mechanism => 'laplace');
SET ROLE regress_analyst;
SELECT count(n) FROM (SELECT count(*) AS n, sum(price) FROM auto.visit_dp) a;
SELECT epsilon, mechanism, rho FROM dp_last_release();
SET ROLE regress_controller;
SELECT kind, mechanism, rho FROM dp_rdr.ledger WHERE view::text = 'auto.visit_dp' ORDER BY id;
SELECT dp_verify_ledger('auto.visit', "full" => true);

-- By keys nobody has more than one row in a group; INCLUDE columns are no key, nor are columns that may be NULL.
SELECT dp_grant('auto.visit_dp', 'regress_analyst', mechanism => 'auto');
CREATE FUNCTION auto.error95() RETURNS SETOF float8 LANGUAGE sql AS
$$SELECT error95 FROM dp_explain('SELECT room, count(*) FROM auto.visit_dp GROUP BY room') WHERE column_name = 'count'$$;
DELETE FROM auto.visit WHERE id > 300; -- one row of a guest in each room
CREATE UNIQUE INDEX included ON auto.visit (id) INCLUDE (guest, room);
SET ROLE regress_analyst;
SELECT auto.error95() AS included;
SET ROLE regress_controller;
CREATE UNIQUE INDEX keyed ON auto.visit (room, guest);
SET ROLE regress_analyst;
SELECT auto.error95() AS keyed;
SET ROLE regress_controller;
ALTER TABLE auto.visit ALTER room DROP NOT NULL;
SELECT dp_set_groups('auto.visit', 'room', '{r0,r1,r2,NULL}');
SET ROLE regress_analyst;
SELECT auto.error95() AS may_be_null;
