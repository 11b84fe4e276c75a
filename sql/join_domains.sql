-- Two domains that turn out to hold the same people are joined: one odometer counts what was told in both.
\set VERBOSITY default
LOAD 'dp_rdr';
CREATE SCHEMA jd AUTHORIZATION regress_controller;
GRANT USAGE ON SCHEMA jd TO regress_analyst, regress_second, regress_member;
GRANT CREATE ON SCHEMA jd TO regress_second;
SET search_path = jd, public;
SET ROLE regress_controller;

-- What answers show is noise: only whether there was one.
CREATE FUNCTION asks(question text, epsilon numeric DEFAULT 0.1) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SELECT * FROM dp_query(%L, epsilon => %s) AS (n bigint)', question, epsilon);
    RETURN 'answered';
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
CREATE FUNCTION joins(relation text, other text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    more text;
    remedy text;
BEGIN
    PERFORM dp_join_domains(relation, other);
    RETURN 'joined';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS more = PG_EXCEPTION_DETAIL, remedy = PG_EXCEPTION_HINT;
    RETURN concat_ws(E'\n', SQLSTATE || ' ' || SQLERRM, nullif(more, ''), nullif(remedy, ''));
END $$;
-- A table of people, a table with rows of theirs, or a domain of them apart, with a policy for the analyst.
CREATE FUNCTION make(name text, type text, total numeric DEFAULT 1, rows integer DEFAULT NULL) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TABLE %I (k %s %s, v integer)', name, type, CASE WHEN rows IS NULL THEN 'PRIMARY KEY' ELSE '' END);
    EXECUTE format('INSERT INTO %I SELECT i::%s, i %% 9 FROM generate_series(1, 200) i', name, split_part(type, ' ', 1));
    PERFORM dp_protect(name, name || '_dp', unit => format('k -> jd.%I', name), max_rows => rows);
    PERFORM dp_set_odometer(name, epsilon_total => total);
    PERFORM dp_grant(name || '_dp', 'regress_analyst', 0, epsilon_max => 1, candidates => '{1, 0.1}', epsilon_min => 0.01);
END $$;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA jd TO PUBLIC;

-- ---------------------------------------------------------------------------------------------------------------------
-- Patients, and their events, which were protected apart
-- ---------------------------------------------------------------------------------------------------------------------

SELECT make('patient', 'integer'), make('event', 'integer', 2, 3), make('visit', 'integer', 1, 3);
CREATE TABLE note (k integer NOT NULL, w integer);
SELECT dp_protect('note', 'note_dp', unit => 'k -> event(k)', max_rows => 2);
CREATE TABLE code (v integer PRIMARY KEY, name text);
INSERT INTO code SELECT i, 'c' || i FROM generate_series(0, 8) i;
SELECT dp_set_public('code', 'event');
SELECT dp_grant('event_dp', 'regress_second', 0, epsilon_max => 0.5, candidates => '{0.5}', epsilon_total => 0.5);
SELECT dp_grant('event_dp', 'regress_controller', selection => 'within_data', tau => 0.5);
GRANT SELECT ON code TO regress_analyst;
SET ROLE regress_analyst;
SELECT asks('SELECT count(*) FROM patient_dp'), asks('SELECT count(*) FROM event_dp', 0.25), asks('SELECT count(*) FROM event_dp WHERE v = 1', 0.01);
SELECT asks('SELECT count(*) FROM patient_dp p JOIN event_dp e ON e.k = p.k') AS apart;
SELECT accepted, reason FROM dp_explain('SELECT count(*) FROM patient_dp p JOIN event_dp e ON e.k = p.k');
SELECT * FROM dp_remaining('SELECT count(*) FROM event_dp');
SET ROLE regress_second;
SELECT asks('SELECT count(*) FROM event_dp', 0.5);
SELECT asks('SELECT count(*) FROM event_dp WHERE v > 3', 0.6), asks('SELECT count(*) FROM event_dp', 0.5);
SET ROLE regress_controller;
SELECT relation, account, epsilon, releases, epsilon_total FROM unnest('{patient,event}'::text[]) relation, dp_odometer(relation);

-- In a transaction that is rolled back: it is not taken back, as a charge is not.
BEGIN READ ONLY;
SELECT dp_join_domains('event', 'patient');
ROLLBACK;
BEGIN;
SELECT dp_join_domains('event', 'patient') \g (tuples_only=on)
ROLLBACK;
SELECT * FROM dp_domain('patient');
SELECT relation, account, epsilon, delta, releases, denials, epsilon_total, epsilon_claim FROM unnest('{patient,event,note}'::text[]) relation, dp_odometer(relation);
SELECT dp_verify_ledger('patient'), dp_verify_ledger('event');
SELECT kind, relation, account, epsilon, delta, rho, mechanism, guarantee, query, outcome,
       parameters - 'head' ? 'from' AS carries, parameters ? 'into' AS ends
FROM dp_rdr.ledger WHERE relation IN ('jd.patient', 'jd.event') ORDER BY id;
-- The join says which chain it goes on from, and nobody's charges are lost or counted twice.
RESET ROLE;
SELECT count(*) AS named_end FROM dp_rdr.ledger_row j JOIN dp_rdr.ledger_row e ON encode(e.hash, 'hex') = j.parameters ->> 'head'
WHERE e.relation = 'jd.event' AND e.kind = 'join' AND j.relation = 'jd.patient';
SELECT o.relation_name, s.grantee, s.public_epsilon FROM dp_rdr.odometer_share s JOIN dp_rdr.odometer o USING (id)
JOIN dp_rdr.privacy_domain d USING (id) WHERE o.relation_name ~ 'jd\.(patient|event)' AND d.joined_into IS NULL ORDER BY 2;
SET ROLE regress_controller;
SELECT relation, role_name, sum(releases) AS releases, sum(epsilon) AS epsilon FROM dp_rdr.spending WHERE relation IN ('jd.patient', 'jd.event')
GROUP BY 1, 2 ORDER BY 1, 2;
SELECT relation, role_name, times, reason FROM dp_rdr.denials WHERE relation ~ 'jd\.' ORDER BY 2, 3;
SELECT severity, object, finding FROM dp_audit() WHERE finding ~ 'ledger|odometer' AND object ~ 'jd|patient|event';

SELECT item, name, value, call FROM dp_settings('event') WHERE item = 'unit';
-- What was told stays told: nothing leaves.
SELECT attempt($$SELECT dp_set_unit('event', 'k -> event', 3)$$), attempt($$SELECT dp_set_unit('patient', 'k -> patient')$$);

-- One question over both, charged once; under the total of patient, which is used up by 0.86 of 1.
SET ROLE regress_analyst;
SELECT accepted, reason, epsilon, unit, max_rows FROM dp_explain('SELECT count(*) FROM patient_dp p JOIN event_dp e ON e.k = p.k');
SELECT asks('SELECT count(*) FROM patient_dp p JOIN event_dp e ON e.k = p.k', 0.1) AS together;
SELECT * FROM dp_remaining('SELECT count(*) FROM event_dp');
SELECT relation, accepted, reason FROM unnest('{patient,event}'::text[]) relation, dp_explain(format('SELECT count(*) FROM %I_dp', relation));
SELECT asks('SELECT count(*) FROM event_dp e JOIN code c ON c.v = e.v WHERE c.name = ''c1''', 0.04) AS public_table;
SELECT asks('SELECT count(*) FROM event_dp', 0.01) AS spent, asks('SELECT count(*) FROM patient_dp', 0.01) AS spent_too;
SET ROLE regress_controller;
SELECT epsilon, releases FROM dp_odometer('event') WHERE account = 'public';
SELECT dp_verify_ledger('note');

-- Again, to itself, and the other way round.
SELECT joins('event', 'patient'), joins('patient', 'event'), joins('patient_dp', 'patient_dp');
-- What was told stays told: nothing goes back by its name.
SELECT dp_unprotect('event_dp');
SELECT dp_protect('event', 'event_dp');
DROP VIEW event_dp;
DROP TABLE event;
CREATE TABLE event (k integer, v integer);
SELECT attempt($$SELECT dp_protect('event', 'event_dp')$$);
SELECT dp_protect('event', 'event_dp', unit => 'k -> event', max_rows => 3);
SELECT epsilon FROM dp_odometer('event') WHERE account = 'public';
SELECT count(*) AS tables FROM dp_domain('patient');

-- A third domain: what was joined goes on with it.
SET ROLE regress_analyst;
SELECT asks('SELECT count(*) FROM visit_dp', 0.2);
SET ROLE regress_controller;
SELECT joins('patient', 'visit');
SELECT dp_set_odometer('visit', epsilon_total => 1.2);
SELECT joins('patient', 'visit');
SELECT account, epsilon, epsilon_total FROM dp_odometer('event');
SELECT dp_verify_ledger('event'), attempt($$SELECT dp_set_unit('patient', 'k -> patient')$$);
DROP VIEW event_dp;
DROP TABLE event;
CREATE TABLE event (k integer, v integer);
SELECT dp_protect('event', 'event_dp', unit => 'k -> event', max_rows => 3);
SELECT epsilon FROM dp_odometer('event') WHERE account = 'public';

-- ---------------------------------------------------------------------------------------------------------------------
-- What is refused
-- ---------------------------------------------------------------------------------------------------------------------

SELECT make('a', 'integer'), make('b', 'integer'), make('big', 'bigint'), make('text_b', 'text COLLATE "C"'), make('varchar_b', 'varchar');
CREATE TABLE pair (k integer, l integer, PRIMARY KEY (k, l));
SELECT dp_protect('pair', 'pair_dp', unit => 'k, l');
CREATE TABLE single (k integer PRIMARY KEY);
SELECT dp_protect('single', 'single_dp');
CREATE TABLE plain (k integer PRIMARY KEY);
SELECT joins(NULL, 'a'), joins('a', NULL), joins('plain', 'a'), joins('a', 'plain');
SELECT joins('single', 'a'), joins('a', 'single');
SELECT joins('a', 'big'), joins('pair', 'a'), joins('a', 'text_b'), joins('text_b', 'varchar_b');
-- Owners.
SET ROLE regress_second;
CREATE TABLE others (k integer PRIMARY KEY);
SELECT dp_protect('others', 'others_dp', unit => 'k');
SELECT joins('others', 'a'), joins('a', 'others');
SET ROLE regress_controller;
SELECT joins('others', 'a'), joins('a', 'others');
RESET ROLE;
SELECT joins('others', 'a');
SET ROLE regress_analyst;
SELECT joins('a', 'b'), joins('a_dp', 'b_dp');
SET ROLE regress_controller;
-- Rules.
CREATE FUNCTION under(of_a text, of_b text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SELECT dp_set_odometer(''a'', %s), dp_set_odometer(''b'', %s)', of_a, of_b);
    RETURN joins('a', 'b');
END $$;
SET client_min_messages = warning;
\x on
SELECT under($$bound => 'filter'$$, $$bound => 'none'$$) AS none, under($$bound => 'dynamic'$$, $$bound => 'filter'$$) AS dynamic;
SELECT under($$bound => 'zcdp', delta_total => 0.00001$$, $$bound => 'filter'$$) AS zcdp_and_filter;
SELECT under($$bound => 'zcdp', delta_total => 0.00001$$, $$bound => 'zcdp', delta_total => 0.00001$$) AS zcdp;
SELECT under($$bound => 'dynamic', delta_total => 0$$, $$bound => 'dynamic', delta_total => 0, epsilon_total => 'Infinity'$$) AS no_total,
       under($$epsilon_total => 'Infinity'$$, $$epsilon_total => 1$$) AS no_total_of_the_other;
SELECT under($$bound => 'filter', epsilon_total => 1, period => 'month'$$, $$bound => 'filter'$$) AS period,
       under($$period => ''$$, $$period => 'day'$$) AS period_of_the_other;
SELECT under($$profile => dp_profile('constant', relative => 1.5)$$, $$period => ''$$) AS profile;
\x off
SELECT dp_set_odometer('a', profile => '{}');
SELECT dp_grant('b_dp', 'regress_analyst', profile => dp_profile('constant', relative => 1.5));
SELECT joins('a', 'b') AS profile_of_a_role;
SELECT dp_grant('b_dp', 'regress_analyst', profile => '{}');
RESET client_min_messages;
-- Beyond the bound: of the domain that stays, and by the public account alone.
SELECT make('c', 'integer', 0.5), make('d', 'integer', 0.5);
SELECT dp_set_odometer('c', delta_total => 0.0001), dp_set_odometer('d', delta_total => 0.0001);
SELECT dp_grant('c_dp', 'regress_second', 0, delta => 0.00006, epsilon_max => 0.1, candidates => '{0.1}', mechanism => 'gaussian');
SELECT dp_grant('d_dp', 'regress_second', 0, delta => 0.00006, epsilon_max => 0.1, candidates => '{0.1}', mechanism => 'gaussian');
SET ROLE regress_second;
SELECT asks('SELECT count(*) FROM c_dp'), asks('SELECT count(*) FROM d_dp');
SET ROLE regress_analyst;
SELECT asks('SELECT count(*) FROM c_dp', 0.3), asks('SELECT count(*) FROM d_dp', 0.1);
SET ROLE regress_controller;
SELECT joins('c', 'd') AS epsilon;
SELECT dp_set_odometer('d', epsilon_total => 0.6);
SELECT joins('c', 'd') AS delta;
SELECT relation, epsilon, delta FROM unnest('{c,d}'::text[]) relation, dp_odometer(relation) WHERE account = 'public';
SELECT dp_verify_ledger('c'), dp_verify_ledger('d'), count(*) AS tables FROM dp_domain('c');
SELECT dp_set_odometer('d', delta_total => 0.00012);
SELECT joins('c', 'd') AS just;
SELECT account, epsilon, delta, epsilon_claim, delta_claim FROM dp_odometer('c');
SELECT dp_verify_ledger('c');
-- What was chosen from rows decides nothing here.
SELECT make('e', 'integer', 0.5), make('f', 'integer', 0.5);
SET client_min_messages = warning;
SELECT dp_set_odometer('e', bound => 'none');
CALL dp_find_epsilon('SELECT count(*) FROM e_dp WHERE v = 3', 0.05, NULL, NULL) \g /dev/null
SELECT dp_set_odometer('e', bound => 'filter', epsilon_total => 0.5);
RESET client_min_messages;
SELECT account, epsilon > 0.5 AS beyond FROM dp_odometer('e');
SELECT joins('e', 'f');
SELECT account, epsilon > 0.5 AS beyond FROM dp_odometer('f');
SELECT dp_verify_ledger('f');

-- ---------------------------------------------------------------------------------------------------------------------
-- What is set while nothing binds; epochs that have ended; a share that both have used
-- ---------------------------------------------------------------------------------------------------------------------

SELECT make('g', 'integer'), make('h', 'integer', 4);
SELECT dp_set_odometer('g', bound => 'zcdp', epsilon_total => 1, delta_total => 0.00001);
SELECT dp_grant('g_dp', 'regress_team', 0, epsilon_max => 0.3, candidates => '{0.3}', epsilon_total => 0.5, mechanism => 'laplace');
SELECT dp_grant('h_dp', 'regress_team', 0, epsilon_max => 0.3, candidates => '{0.3}', epsilon_total => 0.5, mechanism => 'laplace');
SET ROLE regress_member;
SELECT asks('SELECT count(*) FROM g_dp', 0.3), asks('SELECT count(*) FROM h_dp', 0.3);
SET ROLE regress_controller;
-- It ends with the join: what it promised is what is carried, the role's share without what was in rho.
SELECT dp_set_odometer('g', bound => 'filter', epsilon_total => 3);
SELECT epsilon, delta FROM dp_odometer('g') WHERE account = 'public';
SELECT dp_set_odometer('h', delta_total => 0.00001);
SELECT joins('g', 'h');
SELECT kind, account, epsilon, delta, epoch FROM dp_rdr.ledger WHERE relation IN ('jd.g', 'jd.h') ORDER BY id;
SELECT epsilon, delta FROM dp_odometer('g') WHERE account = 'public';
SELECT dp_verify_ledger('h');
-- An epoch of the domain that stays, likewise; and one that begins behind the join counts what was before.
SELECT make('g2', 'integer');
SELECT dp_set_odometer('g2', bound => 'zcdp', epsilon_total => 0.5, delta_total => 0.00001);
SELECT dp_grant('g2_dp', 'regress_second', 0, epsilon_max => 0.2, candidates => '{0.2}', mechanism => 'gaussian', delta => 0.000001);
SET ROLE regress_second;
SELECT asks('SELECT count(*) FROM g2_dp', 0.2);
SET ROLE regress_controller;
SELECT dp_set_odometer('g2', bound => 'filter', epsilon_total => 1, delta_total => 0.00002);
SELECT joins('h', 'g2');
SELECT dp_set_odometer('g2', epsilon_total => 1.1);
SELECT joins('h', 'g2');
SELECT dp_set_odometer('g2', bound => 'zcdp', epsilon_total => 2, delta_total => 0.00002);
SELECT epsilon, delta, epsilon_claim, delta_claim FROM dp_odometer('g') WHERE account = 'public';
SELECT dp_verify_ledger('g');
SET ROLE regress_member;
SELECT asks('SELECT count(*) FROM h_dp', 0.3) AS share_of_the_epoch;
SET ROLE regress_controller;
SELECT make('i', 'integer'), make('j', 'integer');
SELECT dp_grant(v, 'regress_team', 0, epsilon_max => 0.3, candidates => '{0.3}', epsilon_total => 0.5) FROM unnest('{i_dp,j_dp}'::regclass[]) v;
SET ROLE regress_member;
SELECT asks('SELECT count(*) FROM i_dp', 0.3), asks('SELECT count(*) FROM j_dp', 0.3);
SET ROLE regress_controller;
SELECT dp_join_domains('i', 'j');
SELECT attempt($$SELECT dp_set_unit('i', 'k -> i')$$);
SET ROLE regress_member;
SELECT asks('SELECT count(*) FROM i_dp', 0.3) AS share;
SET ROLE regress_controller;

-- A period that was set before the charges of both are added: all of them count until it turns.
SELECT make('k', 'integer'), make('l', 'integer');
SELECT dp_set_odometer('k', period => 'month'), dp_set_odometer('l', period => 'month');
SET ROLE regress_analyst;
SELECT asks('SELECT count(*) FROM k_dp', 0.3), asks('SELECT count(*) FROM l_dp', 0.4);
SET ROLE regress_controller;
SELECT dp_set_odometer('k', period => ''), dp_set_odometer('l', period => '');
SELECT joins('k', 'l');
SELECT dp_set_odometer('k', period => 'month');
SELECT epsilon, period_epsilon FROM dp_odometer('l') WHERE account = 'public';
SELECT dp_verify_ledger('l');
SET ROLE regress_analyst;
SELECT asks('SELECT count(*) FROM l_dp', 0.4) AS beyond, asks('SELECT count(*) FROM k_dp', 0.3) AS within;
SET ROLE regress_controller;
SELECT epsilon, period_epsilon FROM dp_odometer('k') WHERE account = 'public';
SELECT dp_verify_ledger('k');

-- ---------------------------------------------------------------------------------------------------------------------
-- Stored answers, requests, profiles, attacks: what looks back sees both histories
-- ---------------------------------------------------------------------------------------------------------------------

SELECT make('m', 'integer', 5), make('n', 'integer', 5);
SELECT dp_grant(v, 'regress_analyst', 0, epsilon_max => 1, candidates => '{1, 0.1}', replay => '1 day') FROM unnest('{m_dp,n_dp}'::regclass[]) v;
SELECT dp_grant(v, 'regress_second', 0, epsilon_max => 1, candidates => '{1, 0.1}', on_request => true) FROM unnest('{m_dp,n_dp}'::regclass[]) v;
SET ROLE regress_analyst;
SELECT asks('SELECT count(*) FROM m_dp'), asks('SELECT count(*) FROM m_dp'), asks('SELECT count(*) FROM n_dp');
SET ROLE regress_second;
SELECT dp_request('SELECT count(*) FROM m_dp', 'a question', epsilon => 0.1) IS NOT NULL AS asked;
SET ROLE regress_controller;
SELECT relation, epsilon FROM unnest('{m,n}'::text[]) relation, dp_odometer(relation) WHERE account = 'public';
SELECT joins('m', 'n');
SET ROLE regress_analyst;
SELECT asks('SELECT count(*) FROM m_dp') AS drawn_anew, asks('SELECT count(*) FROM n_dp') AS given_again;
SET ROLE regress_controller;
SELECT epsilon FROM dp_odometer('n') WHERE account = 'public';
SELECT view, state, query FROM dp_requests() WHERE view ~ 'm_dp';
SELECT dp_verify_ledger('m');
-- Nobody's answers are forgotten by the attack on them, nor counted twice.
SELECT round(max(posterior_max)::numeric, 4) AS joined FROM dp_attack_risk('m');
SELECT make('o', 'integer', 5);
SET ROLE regress_analyst;
SELECT asks('SELECT count(*) FROM o_dp'), asks('SELECT count(*) FROM o_dp'), asks('SELECT count(*) FROM o_dp');
SET ROLE regress_controller;
SELECT round(max(posterior_max)::numeric, 4) AS of_three FROM dp_attack_risk('o');
-- One question over both, at so little noise that it shows: 100 people are in both. The people whose risk is told are those of the unit table that stays
-- and of the question's own tables.
SELECT make('w', 'integer', 500), make('x', 'integer', 500);
INSERT INTO x SELECT i, i % 9 FROM generate_series(201, 300) i;
DELETE FROM x WHERE k <= 100;
SELECT dp_grant(v, 'regress_second', 0, epsilon_max => 100, candidates => '{100}') FROM unnest('{w_dp,x_dp}'::regclass[]) v;
SELECT sum(individuals) AS people FROM dp_risk_records('SELECT count(*) FROM x_dp WHERE v = 1', 1);
SELECT joins('x', 'w');
SELECT sum(individuals) AS people FROM dp_risk_records('SELECT count(*) FROM x_dp WHERE v = 1', 1);
SELECT sum(individuals) AS people FROM dp_risk_records('SELECT count(*) FROM w_dp WHERE v = 1', 1);
SELECT sum(individuals) AS people, sum(individuals) FILTER (WHERE pis > 0) AS in_both FROM dp_risk_records('SELECT count(*) FROM w_dp JOIN x_dp USING (k)', 1);
SET ROLE regress_second;
SELECT inner_join, left_join, only_right FROM dp_query('SELECT count(*) FROM w_dp JOIN x_dp USING (k)') AS a (inner_join bigint),
    dp_query('SELECT count(*) FROM w_dp LEFT JOIN x_dp USING (k)') AS b (left_join bigint),
    dp_query('SELECT count(*) FROM x_dp WHERE NOT EXISTS (SELECT FROM w_dp WHERE w_dp.k = x_dp.k)') AS c (only_right bigint);
SET ROLE regress_controller;
SELECT epsilon FROM dp_odometer('x') WHERE account = 'public';
-- A profile is refused to a role that had an answer with a delta before the join.
SELECT make('p', 'integer', 5), make('q', 'integer', 5);
SELECT dp_set_odometer('p', delta_total => 0.0001);
SELECT dp_set_odometer('q', delta_total => 0.0001);
SELECT dp_grant('p_dp', 'regress_second', 0, delta => 0.00001, epsilon_max => 0.1, candidates => '{0.1}', mechanism => 'gaussian');
SET ROLE regress_second;
SELECT asks('SELECT count(*) FROM p_dp');
SET ROLE regress_controller;
SELECT joins('p', 'q');
SELECT dp_revoke('p_dp', 'regress_second');
SELECT attempt($$SELECT dp_grant('q_dp', 'regress_second', 0, profile => dp_profile('constant', relative => 1.5))$$);

-- ---------------------------------------------------------------------------------------------------------------------
-- Random histories: what is joined is the sum, by account, by role, and after it was rebuilt from the rows
-- ---------------------------------------------------------------------------------------------------------------------

RESET ROLE;
SELECT setseed(0.7);
CREATE TABLE told (domain integer, role_name text, epsilon numeric);
GRANT INSERT, SELECT ON told TO PUBLIC;
CREATE PROCEDURE history(round integer, tables integer, INOUT said text DEFAULT NULL) LANGUAGE plpgsql AS $$
DECLARE
    it text;
    e numeric;
    who text;
    root integer[] := (SELECT array_agg(i) FROM generate_series(1, tables) i);
    one integer;
    two integer;
    wrong integer := 0;
BEGIN
    SET ROLE regress_controller;
    FOR i IN 1 .. tables LOOP
        PERFORM make(format('r%s_%s', round, i), 'integer', 50);
        PERFORM dp_grant(format('r%s_%s_dp', round, i)::regclass, 'regress_second', 0, epsilon_max => 1, candidates => '{1}', epsilon_min => 0.001);
    END LOOP;
    COMMIT;
    FOR step IN 1 .. 24 LOOP
        one := 1 + floor(random() * tables);
        IF step % 6 = 0 THEN -- join two
            two := 1 + floor(random() * tables);
            SET ROLE regress_controller;
            said := joins(format('r%s_%s', round, one), format('r%s_%s', round, two));
            IF (said = 'joined') <> (root[one] <> root[two]) THEN
                RETURN;
            END IF;
            root := (SELECT array_agg(CASE x WHEN root[one] THEN root[two] ELSE x END ORDER BY n) FROM unnest(root) WITH ORDINALITY u (x, n));
        ELSE
            who := (ARRAY['regress_analyst', 'regress_second'])[1 + floor(random() * 2)];
            e := round((0.01 + random() * 0.2)::numeric, 6);
            EXECUTE format('SET ROLE %I', who);
            said := asks(format('SELECT count(*) FROM r%s_%s_dp', round, one), e);
            IF said <> 'answered' THEN
                RETURN;
            END IF;
            INSERT INTO told VALUES (round * 100 + one, who, e);
        END IF;
        COMMIT;
    END LOOP;
    RESET ROLE;
    FOR i IN 1 .. tables LOOP
        it := format('r%s_%s', round, i);
        wrong := wrong + (SELECT count(*) FROM dp_odometer(it) o WHERE account = 'public' AND (o.epsilon, o.releases) <>
            (SELECT coalesce(sum(epsilon), 0), count(*) FROM told WHERE domain / 100 = round AND root[domain % 100] = root[i]));
        wrong := wrong + (SELECT count(*) FROM (SELECT role_name, sum(epsilon) AS epsilon FROM told
            WHERE domain / 100 = round AND root[domain % 100] = root[i] GROUP BY 1) x
            WHERE NOT EXISTS (SELECT FROM dp_rdr.odometer_share s JOIN dp_rdr.protected_table t ON t.domain = s.id
                              WHERE t.relation = it::regclass AND s.grantee = x.role_name AND s.public_epsilon = x.epsilon));
        wrong := wrong + CASE WHEN dp_verify_ledger(it) THEN 0 ELSE 1 END;
    END LOOP;
    said := format('%s wrong, domains: %s', wrong, root);
END $$;
SET client_min_messages = warning;
CALL history(1, 2);
CALL history(2, 3);
CALL history(3, 4);
CALL history(4, 5);
RESET client_min_messages;
-- The same from the rows alone.
CREATE TABLE kept AS SELECT o.* FROM dp_rdr.odometer o JOIN dp_rdr.privacy_domain d USING (id) WHERE d.joined_into IS NULL AND o.relation_name ~ 'jd\.r\d_';
CREATE TABLE kept_share AS SELECT s.* FROM dp_rdr.odometer_share s JOIN kept USING (id);
DELETE FROM dp_rdr.odometer o USING kept k WHERE k.id = o.id;
DELETE FROM dp_rdr.odometer_share s USING kept k WHERE k.id = s.id;
SET client_min_messages = error;
SELECT count(dp_protect(t.relation, format('jd.again_%s', t.n))) = (SELECT count(*) FROM kept) AS again
FROM (SELECT min(t.relation::oid)::regclass AS relation, row_number() OVER () AS n FROM dp_rdr.protected_table t JOIN kept k ON k.id = t.domain GROUP BY t.domain) t;
RESET client_min_messages;
SELECT count(*) AS different FROM (
  (SELECT id, public_epsilon, public_releases, head FROM kept EXCEPT SELECT id, public_epsilon, public_releases, head FROM dp_rdr.odometer)
  UNION ALL (SELECT NULL, s.public_epsilon, NULL, NULL FROM kept_share s WHERE NOT EXISTS (SELECT FROM dp_rdr.odometer_share o
             WHERE (o.id, o.grantee, o.public_epsilon, o.epoch) = (s.id, s.grantee, s.public_epsilon, s.epoch)))) x;

-- ---------------------------------------------------------------------------------------------------------------------
-- A ledger that was tampered with is not carried, and shows afterwards
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_controller;
SELECT make('s', 'integer', 5), make('t', 'integer', 5);
SET ROLE regress_analyst;
SELECT asks('SELECT count(*) FROM s_dp');
RESET ROLE;
UPDATE dp_rdr.odometer SET public_epsilon = 0 WHERE relation_name = 'jd.s';
SET ROLE regress_controller;
SELECT joins('s', 't');
RESET ROLE;
UPDATE dp_rdr.odometer SET public_epsilon = 0.1 WHERE relation_name = 'jd.s';
SET ROLE regress_controller;
SELECT joins('s', 't');
RESET ROLE;
CREATE FUNCTION tampered(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    said text;
BEGIN
    BEGIN
        EXECUTE statement;
        SELECT dp_rdr.ledger_fault(t.domain, true) INTO said FROM dp_rdr.protected_table t WHERE t.relation = 'jd.t'::regclass;
        RAISE EXCEPTION 'undo';
    EXCEPTION WHEN raise_exception THEN
        RETURN regexp_replace(said, '[0-9a-f]{8}-[-0-9a-f]{27}|row \d+', '..', 'g');
    END;
END $$;
SELECT tampered(format('DELETE FROM dp_rdr.ledger_row WHERE %s', x)) FROM unnest(ARRAY[
    'false', $$relation = 'jd.s'$$, $$relation = 'jd.s' AND kind = 'join'$$, $$relation = 'jd.s' AND kind = 'pure'$$]) x;
SELECT tampered($$UPDATE dp_rdr.ledger_row SET epsilon = 0.05 WHERE relation = 'jd.s' AND kind = 'pure'$$),
       tampered($$UPDATE dp_rdr.privacy_domain SET joined_into = NULL WHERE id = (SELECT table_id FROM dp_rdr.ledger_row WHERE relation = 'jd.s' LIMIT 1)$$);
SELECT tampered($$UPDATE dp_rdr.privacy_domain SET joined_into = NULL WHERE id = (SELECT table_id FROM dp_rdr.ledger_row WHERE relation = 'jd.s' LIMIT 1);
    UPDATE dp_rdr.protected_table SET domain = (SELECT table_id FROM dp_rdr.ledger_row WHERE relation = 'jd.s' LIMIT 1) WHERE relation = 'jd.t'::regclass$$);
-- Behind the end of a chain there may be a suspension, of a question that was charged before, and nothing else.
CREATE FUNCTION behind(as_kind text, cost numeric) RETURNS text LANGUAGE sql AS $$
    SELECT tampered(format($t$
        INSERT INTO dp_rdr.ledger_row (table_id, at, relation, relation_oid, view, view_oid, role_name, role_oid, session_role, query, account, kind,
          algorithm, mechanism, epsilon, epsilon_svt, epsilon_worst, delta, delta_noise, delta_groups, rho, parameters, guarantee, outcome,
          content_version, content, previous_hash, hash)
        SELECT table_id, at, relation, relation_oid, view, view_oid, role_name, role_oid, session_role, query, account, %L, algorithm, mechanism, %s,
          0, 0, 0, 0, 0, 0, '{}', guarantee, outcome, content_version, '', hash, ''
        FROM dp_rdr.ledger_row WHERE relation = 'jd.s' AND kind = 'join';
        UPDATE dp_rdr.ledger_row l SET content = dp_rdr.ledger_content(l) WHERE content = '';
        UPDATE dp_rdr.ledger_row l SET hash = dp_rdr.ledger_hash(content_version, previous_hash, content) WHERE hash = ''$t$, as_kind, cost)) $$;
SELECT behind('suspension', 0), behind('pure', 0.1), behind('suspension', 0.1);
-- A new chain that is whole by itself, with less in it.
SELECT tampered($$
    DELETE FROM dp_rdr.ledger_row WHERE relation = 'jd.s' AND kind = 'pure';
    UPDATE dp_rdr.ledger_row SET previous_hash = '' WHERE relation = 'jd.s' AND kind = 'join';
    UPDATE dp_rdr.ledger_row SET hash = dp_rdr.ledger_hash(content_version, previous_hash, content) WHERE relation = 'jd.s' AND kind = 'join'$$);

-- What is left behind.
SET client_min_messages = error;
SELECT count(dp_unprotect(v.view::oid::regclass)) > 0 AS unprotected FROM dp_rdr.restricted_view v JOIN pg_class c ON c.oid = v.view WHERE c.relnamespace = 'jd'::regnamespace;
DROP SCHEMA jd CASCADE;
