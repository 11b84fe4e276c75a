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
SET ROLE regress_controller;

-- Over joins: keys of the only table of which a guest has several rows, and columns that WHERE equates with them. Where keys of GROUP BY are those
-- of a public table that is joined by its key, the rooms that have them. A table without (guest, room) as its key says nothing.
ALTER TABLE auto.visit ALTER room SET NOT NULL;
CREATE TABLE auto.room (room text PRIMARY KEY, wing text, floor integer NOT NULL, free integer NOT NULL);
INSERT INTO auto.room VALUES ('r0', 'a', 1, 1), ('r1', 'a', 1, 2), ('r2', 'b', 1, 3), ('r3', NULL, 2, 4), ('r4', NULL, 2, 5), ('r5', NULL, 2, 6), ('r6', 'c', 2, 6);
CREATE TABLE auto.guest (guest integer PRIMARY KEY, sex text NOT NULL);
INSERT INTO auto.guest SELECT i, 'fm' FROM generate_series(0, 99) i;
SELECT dp_protect('auto.guest', 'auto.guest_dp', unit => 'guest -> auto.visit(guest)');
SELECT dp_set_groups('auto.guest', 'sex', '{fm}'), dp_set_public('auto.room', 'auto.visit'), dp_grant('auto.guest_dp', 'regress_analyst', tau => 0.95, mechanism => 'auto');
GRANT SELECT ON auto.room TO regress_analyst;
CREATE TABLE auto.question (place serial, rest text);
INSERT INTO auto.question (rest) VALUES
    ('visit_dp v WHERE EXISTS (SELECT FROM auto.guest_dp g WHERE g.guest = v.guest) GROUP BY v.room'),
    ('visit_dp v JOIN auto.guest_dp g USING (guest) GROUP BY v.room, g.sex'),
    ('visit_dp v JOIN auto.guest_dp g USING (guest) GROUP BY g.sex'),
    ('guest_dp g LEFT JOIN auto.visit_dp v USING (guest) GROUP BY v.room'),
    ('visit_dp v JOIN auto.room r USING (room) GROUP BY r.room'),
    ('visit_dp v JOIN auto.room r ON r.room = v.room GROUP BY r.wing'),
    ('visit_dp v JOIN auto.room r ON r.room = v.room GROUP BY r.floor'),
    ('visit_dp v JOIN auto.room r ON r.room = v.room GROUP BY r.floor, r.wing'),
    ('visit_dp v JOIN auto.room r ON r.room = v.room JOIN auto.guest_dp g ON g.guest = v.guest WHERE r.floor < 3 GROUP BY g.sex, r.floor'),
    ('visit_dp v JOIN auto.room r ON r.room = v.room JOIN auto.room s ON s.room = v.room GROUP BY r.floor, s.wing'),
    ('visit_dp v LEFT JOIN auto.room r ON r.room = v.room GROUP BY r.floor'),
    ('visit_dp v JOIN auto.room r ON r.free = v.price GROUP BY r.floor'),
    ('visit_dp v JOIN auto.room r ON r.room = v.room JOIN auto.room s ON s.free = r.free GROUP BY s.floor'),
    ('visit_dp v JOIN auto.visit_dp w USING (guest) GROUP BY v.room');
CREATE FUNCTION auto.rows_per_group(rest text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RETURN (SELECT max_rows || ', ' || coalesce(max_rows_per_group::text, '-')
            FROM dp_explain('SELECT count(*) FROM auto.' || rest) WHERE column_name = 'count');
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
GRANT SELECT ON auto.question TO regress_analyst;
SET ROLE regress_analyst;
SELECT rest, auto.rows_per_group(rest) FROM auto.question ORDER BY place;
-- Limits that somebody declared or asks for come first.
SELECT max_rows_per_group FROM dp_explain('SELECT floor, count(*) FROM auto.visit_dp v JOIN auto.room r ON r.room = v.room GROUP BY floor', max_rows_per_group => 7) WHERE column_name = 'count';
SELECT DISTINCT reason FROM dp_explain('SELECT floor, count(*) FROM auto.visit_dp v JOIN auto.room r ON r.room = v.room GROUP BY floor');
SET ROLE regress_controller;
DROP INDEX auto.keyed;
SET ROLE regress_analyst;
SELECT rest, auto.rows_per_group(rest) FROM auto.question WHERE place IN (1, 2, 5, 6) ORDER BY place;
-- Keys alone have no number to draw noise for.
SELECT count(*) AS rooms FROM (SELECT DISTINCT room FROM auto.visit_dp) d;
SELECT count(*) AS rooms FROM (SELECT room FROM auto.visit_dp GROUP BY room) d;
