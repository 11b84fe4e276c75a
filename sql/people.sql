-- About how many people there are: kept with one digit, to be seen by everybody; taken back; what a join, a refresh and another unit do with it.
\set VERBOSITY default
LOAD 'dp_rdr';
SET ROLE regress_controller;
CREATE TABLE hp_guest (id integer PRIMARY KEY, age integer);
CREATE TABLE hp_bill (guest integer, price integer);
CREATE TABLE hp_other (guest integer);
SELECT dp_protect('hp_guest', 'hp_guest_dp', unit => 'id'), dp_protect('hp_bill', 'hp_bill_dp', unit => 'guest -> hp_guest(id)', max_rows => 4),
       dp_protect('hp_other', 'hp_other_dp', unit => 'guest', max_rows => 4) \g (tuples_only=on)
CREATE FUNCTION said() RETURNS TABLE (relation text, about text, call text) LANGUAGE sql AS $$
    SELECT r, value, call FROM unnest('{hp_bill,hp_guest,hp_other}'::text[]) r LEFT JOIN LATERAL (
        SELECT * FROM dp_settings(r::regclass) WHERE item = 'people') s ON true $$;

CREATE FUNCTION about_after(n text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT about FROM said() WHERE relation = 'hp_guest'); END $$;

-- One digit stays; it is of the domain, whatever table or view names it.
SELECT n, attempt(format('SELECT dp_set_people(''hp_bill_dp'', %L)', n)) AS outcome, about_after(n)
FROM unnest('{1,9,10,14,15,94,95,8432,1000000000000,0,-1,1000000000001,9223372036854775807,NULL}'::text[]) n;
SELECT dp_set_people('hp_guest', 8432);
SELECT * FROM said();
SELECT attempt('SELECT dp_set_people(NULL, 1)'), attempt('SELECT dp_set_people(''pg_class'', 1)');
SET ROLE regress_analyst;
SELECT attempt('SELECT dp_set_people(''hp_guest'', 1)');
SET ROLE regress_controller;

-- Nothing that is answered depends on it; analysts see it, where something was said.
SELECT dp_grant('hp_guest_dp', 'regress_analyst', tau => 0.9), dp_set_odometer('hp_guest', epsilon_total => 10);
SET ROLE regress_analyst;
SELECT * FROM dp_about('hp_guest_dp') WHERE item IN ('people', 'price');
SET ROLE regress_controller;
SELECT dp_set_people('hp_guest', 0);
SET ROLE regress_analyst;
SELECT * FROM dp_about('hp_guest_dp') WHERE item IN ('people', 'price');
SET ROLE regress_controller;

-- It is no secret, and no setting of an answer: who owns the table says it, and all tables of the domain are his.
RESET ROLE;
ALTER TABLE hp_bill OWNER TO regress_team;
SET ROLE regress_controller;
SELECT attempt('SELECT dp_set_people(''hp_guest'', 3)');
RESET ROLE;
ALTER TABLE hp_bill OWNER TO regress_controller;
SET ROLE regress_controller;

-- A join keeps that of the domain that stays; where it has none, that of the other. The NOTICE says which.
SELECT dp_set_people('hp_guest', 8000), dp_set_people('hp_other', 300);
SELECT dp_join_domains('hp_other', 'hp_guest');
SELECT * FROM said();
CREATE TABLE hp_third (guest integer);
CREATE TABLE hp_fourth (guest integer);
SELECT dp_protect('hp_third', 'hp_third_dp', unit => 'guest', max_rows => 4), dp_protect('hp_fourth', 'hp_fourth_dp', unit => 'guest', max_rows => 4) \g (tuples_only=on)
SELECT dp_set_people('hp_third', 20);
SELECT dp_join_domains('hp_third', 'hp_fourth');
SELECT value FROM dp_settings('hp_third') WHERE item = 'people';

-- A table that was made anew with its view.
ALTER TABLE hp_bill ADD COLUMN paid boolean;
SELECT dp_refresh('hp_bill_dp');
SELECT * FROM said();

-- A number of rows is none of people.
CREATE TABLE hp_row (id integer PRIMARY KEY, guest integer);
SELECT dp_protect('hp_row', 'hp_row_dp');
SELECT dp_set_people('hp_row', 7000);
SELECT value FROM dp_settings('hp_row') WHERE item = 'people';
SELECT dp_set_unit('hp_row', 'guest', max_rows => 3);
SELECT count(*) AS still_said FROM dp_settings('hp_row') WHERE item = 'people';
SELECT dp_set_people('hp_row', 500);
SELECT dp_set_unit('hp_row', 'guest', max_rows => 4);
SELECT value FROM dp_settings('hp_row') WHERE item = 'people';

-- Who sets a limit is told how right numbers will be, by the noise that the least accurate of the granted policies would draw: of none Laplace
-- noise at 0.95. A further view says nothing new; where a person has one row there is nothing to say but of sums.
SET dp_rdr.noise = show;
CREATE TABLE hp_stay (guest integer NOT NULL, room integer NOT NULL, price numeric(8,2), since date);
SELECT dp_protect('hp_stay', 'hp_stay_dp', unit => 'guest -> hp_guest(id)', max_rows => 20);
SELECT dp_protect('hp_stay', 'hp_again_dp');
SELECT dp_set_bounds('hp_stay', 'price', -20, 99.5), dp_set_bounds('hp_stay', 'since', date '2020-01-01', date '2020-02-01'), dp_set_bounds('hp_guest', 'age', 0, 100);
SELECT dp_set_odometer('hp_guest', 'zcdp', epsilon_total => 3, delta_total => 1e-6, delta_conversion => 1e-6);
SELECT dp_grant('hp_stay_dp', 'regress_analyst', tau => 0.95, mechanism => 'auto'), dp_grant('hp_again_dp', 'regress_second', tau => 0.5);
SELECT dp_set_contribution('hp_stay', max_rows => 10);
SELECT dp_set_bounds('hp_stay', 'price', 0, 50);
-- Laplace noise of the same tau is wider. Its candidates bound the price.
SELECT dp_grant('hp_stay_dp', 'regress_analyst', mechanism => 'laplace');
SELECT dp_set_contribution('hp_stay', max_rows => 8);
SELECT dp_grant('hp_again_dp', 'regress_second', candidates => '{0.01}');
SELECT dp_set_contribution('hp_stay', max_rows => 7);
-- A policy that denies every count says nothing of its noise.
SELECT dp_revoke('hp_again_dp', 'regress_second');
SELECT dp_grant('hp_stay_dp', 'regress_analyst', tau => 0.99999, mechanism => 'auto');
SELECT dp_set_contribution('hp_stay', max_rows => 6);
SELECT dp_revoke('hp_stay_dp', 'regress_analyst');
SET dp_rdr.noise = silent;
SELECT dp_set_contribution('hp_stay', max_rows => 5), dp_set_bounds('hp_stay', 'price', 0, 40);
SELECT dp_unprotect('hp_stay_dp'), dp_unprotect('hp_again_dp');
DROP TABLE hp_stay;

SELECT dp_unprotect(v) FROM unnest('{hp_guest_dp,hp_bill_dp,hp_other_dp,hp_third_dp,hp_fourth_dp,hp_row_dp}'::regclass[]) v \g (tuples_only=on)
DROP TABLE hp_guest, hp_bill, hp_other, hp_third, hp_fourth, hp_row;
DROP FUNCTION about_after, said;
