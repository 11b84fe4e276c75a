-- Keys of groups: what is shown of a value that has several spellings, of a long one, and of a type that cannot be shown;
-- which declared groups a condition leaves.
LOAD 'dp_rdr';

SET ROLE regress_controller;
-- The first row spells every value in its own way, and the others in another.
CREATE TABLE spelled (id integer, free numeric, fixed numeric(8,2), wide float8, narrow real, padded char(5), vast char(1200),
                      long text, short varchar(20), bits bit varying(9), net inet, clock timetz, price money);
INSERT INTO spelled
SELECT id, CASE id WHEN 1 THEN 1.500 ELSE 1.5 END, 2.5, CASE id WHEN 1 THEN '-0' ELSE '0' END::float8,
       CASE id WHEN 1 THEN '-0' ELSE '0' END::real, 'ab', 'cd', repeat('x', 1000 + id % 2), 'short', '101', '10.0.0.1/8',
       '12:00+01', '3.50'
FROM generate_series(1, 2000) id;
SELECT dp_protect('spelled', 'spelled_dp');
SELECT dp_set_odometer('spelled', 'none'), dp_grant('spelled_dp', 'regress_analyst', tau => 0.1, delta => 1e-6);
CREATE DOMAIN half AS numeric(4,1);
CREATE TABLE domains AS SELECT id, 0.5::half AS half FROM generate_series(1, 1000) id;
SELECT dp_protect('domains', 'domains_dp');
SELECT dp_set_odometer('domains', 'none'), dp_grant('domains_dp', 'regress_analyst', tau => 0.1, delta => 1e-6);

SET ROLE regress_analyst;
SELECT free, count(*) > 1000 AS many FROM spelled_dp GROUP BY free;
SELECT fixed, wide, narrow, '[' || padded || ']' AS padded, octet_length(padded), count(*) > 1000 AS many
FROM spelled_dp GROUP BY fixed, wide, narrow, padded;
SELECT short, bits, net, clock, price::numeric, count(*) > 1000 AS many FROM spelled_dp GROUP BY short, bits, net, clock, price;
SELECT half, count(*) > 500 AS many FROM domains_dp GROUP BY half;
-- Of expressions, too: one spelling per value, whichever row comes first.
SELECT CASE WHEN id = 1 THEN 1.00 ELSE 1.0 END AS numeric, CASE WHEN id = 1 THEN '-0'::float8 ELSE 0 END AS double,
       CASE WHEN id = 1 THEN '-NaN'::real ELSE 'NaN' END AS real, count(*) > 1000 AS many
FROM spelled_dp GROUP BY 1, 2, 3;
SELECT CASE WHEN id = 1 THEN '1e3'::numeric WHEN id = 2 THEN 'NaN' WHEN id < 900 THEN 1000.000 WHEN id < 1500 THEN 'Infinity' ELSE '-Infinity' END AS numeric,
       count(*) > 300 AS many FROM spelled_dp GROUP BY 1;
-- A ladder of scales was a way to write a whole column into one key.
SELECT CASE WHEN free > 1 AND id = 1 THEN 1.0000000 WHEN id = 1 THEN 1.000 ELSE 1.0 END AS rung, count(*) > 1000 AS many
FROM spelled_dp GROUP BY 1;

-- Keys of more than 1,000 bytes are the NULL key; a wide char(n) is shown without its blanks.
SELECT length(long), count(*) BETWEEN 900 AND 1100 AS half FROM spelled_dp GROUP BY long;
SELECT octet_length(vast) < 1000 AS shown_without_blanks, vast, count(*) > 1000 AS many FROM spelled_dp GROUP BY vast;

-- The controller's instrument sees the same groups as the answer: one number for each.
SET ROLE regress_controller;
SELECT count(*) > 0 AS one_group FROM dp_risk_output('SELECT free, count(*) FROM spelled_dp GROUP BY free', '{2000}', 'laplace', 1, 1e-6);
SELECT count(*) > 0 AS two_groups FROM dp_risk_output('SELECT long, count(*) FROM spelled_dp GROUP BY long', '{1000,1000}', 'laplace', 1, 1e-6);

-- Equal values have one canonical spelling, and unequal ones have not: pairs for which that is false.
RESET ROLE;
CREATE FUNCTION misspelled(type text, spellings text[]) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM unnest($1) a, unnest($1) b WHERE (a::%1$s = b::%1$s) IS DISTINCT FROM
        (dp_rdr.canonical(a::%1$s, -1)::text = dp_rdr.canonical(b::%1$s, -1)::text)', type) USING spellings INTO n;
    RETURN n;
END $$;
SELECT t.type, misspelled(t.type, l.spellings) FROM (VALUES
    ('numeric', '{0,0.00,-0,1,1.0,1.000000000000000000000000,1e0,10,1e1,1e-9,1.0e-9,-1,-1.0,NaN,-Infinity,Infinity,12345678901234567890.10,12345678901234567890.1}'),
    ('float8', '{0,-0,0e10,1,1.0,NaN,-NaN,Infinity,-Infinity,5e-324,-5e-324}'), ('real', '{0,-0,1,1.0,NaN,-NaN,1e-45}'),
    ('bpchar', '{"a","a ","a   ",""," ","A","ab"," a"}'), ('text', '{"a","a ",""," ","ä","ä"}'),
    ('timetz', '{12:00+01,11:00+00,12:00:00+01:00,11:00Z,24:00+00,00:00+00}'),
    ('inet', '{10.0.0.1,10.0.0.1/32,10.0.0.1/8,10.0.0.0/8,::1,::1/128,0.0.0.1}'), ('cidr', '{10.0.0.0/8,10.0.0.0/9,10.0.0.1/32}'),
    ('varbit', '{"",0,00,1,10,100}'), ('bytea', '{"","\\x00","\\x0000"}'), ('money', '{0,-0,1,1.00,-1}'),
    ('"char"', '{"",a,b}'), ('name', '{"",a,"a "}'), ('macaddr', '{08:00:2b:01:02:03,08002b:010203,0800.2b01.0203,08:00:2b:01:02:04}'),
    ('timestamptz', '{"2020-01-01 12:00+00","2020-01-01 13:00+01","2020-01-01 12:00+01",infinity,-infinity}')) t (type, list), LATERAL (SELECT t.list::text[]) l (spellings);
DROP FUNCTION misspelled;
SET ROLE regress_controller;

-- What has several spellings, and no canonical one, is refused.
CREATE TABLE unspeakable (id integer, span interval, document jsonb, numbers numeric[], range numrange,
                          words tsvector, folded text);
CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
ALTER TABLE unspeakable ALTER folded TYPE text COLLATE any_case;
SELECT dp_protect('unspeakable', 'unspeakable_dp');
SELECT dp_grant('unspeakable_dp', 'regress_analyst', tau => 0.1);
SET ROLE regress_analyst;
SELECT attempt(format('SELECT %I, count(*) FROM unspeakable_dp GROUP BY 1', k))
FROM unnest('{span,document,numbers,range,words,folded}'::text[]) k;
SELECT attempt('SELECT id, folded COLLATE "C", count(*) FROM unspeakable_dp GROUP BY 1, 2');

-- ---------------------------------------------------------------------------------------------------------------------
-- Declared groups: what is shown is the declaration, and conditions on keys alone are evaluated on it.
-- ---------------------------------------------------------------------------------------------------------------------
SET ROLE regress_controller;
CREATE TYPE state AS ENUM ('new', 'open', 'done');
CREATE TABLE stop (id integer, ward text, state state, urgent boolean NOT NULL, cost numeric, note text);
INSERT INTO stop SELECT id, (ARRAY['icu', 'oncology', 'surgery', NULL, 'unheard of', repeat('y', 2000)])[1 + id % 6],
                        (ARRAY['new', 'open', 'done']::state[])[1 + id % 3], id % 2 = 0, CASE id % 2 WHEN 0 THEN 1.0 ELSE 1.00 END
FROM generate_series(1, 3000) id;
SELECT dp_protect('stop', 'stop_dp'), dp_protect('stop', 'icu_dp', filter => $$ward <> 'surgery' AND id > 0$$);
SELECT dp_set_odometer('stop', 'none'), dp_set_groups('stop', 'ward', '{icu,oncology,surgery,NULL}'),
       dp_set_groups('stop', 'cost', '{1.000}');
SELECT dp_grant('stop_dp', 'regress_analyst', tau => 0.1), dp_grant('icu_dp', 'regress_analyst', tau => 0.1);
SELECT dp_set_groups('stop', 'note', ARRAY[repeat('z', 1001)]);

SET ROLE regress_analyst;
SELECT ward, count(*) BETWEEN 400 AND 600 AS about_500 FROM stop_dp GROUP BY ward ORDER BY ward;
SELECT cost, count(*) > 2500 AS all FROM stop_dp GROUP BY cost;
SELECT ward, count(*) BETWEEN 400 AND 600 AS about_500 FROM stop_dp WHERE ward IN ('icu', 'oncology') GROUP BY ward ORDER BY ward;
SELECT ward, count(*) > 300 AS many FROM stop_dp WHERE ward IS NULL OR upper(ward) LIKE 'S%' GROUP BY ward ORDER BY ward;
SELECT ward, state, count(*) > -1000 AS answered FROM stop_dp
WHERE id > 10 AND (state >= 'open' AND (ward > 'm' OR state = 'done') AND ward IS NOT NULL) GROUP BY ward, state ORDER BY ward, state;
SELECT urgent, count(*) > 1000 AS many FROM stop_dp WHERE NOT urgent GROUP BY urgent;
-- Under a preference with tau_var, and of a char(n), too.
SET ROLE regress_controller;
SELECT dp_grant('stop_dp', 'regress_second', tau_var => 1, epsilon_svt => 20, candidates => '{1,0.5}');
ALTER TABLE spelled ALTER padded TYPE char(1100);
SELECT dp_unprotect('spelled_dp'), dp_protect('spelled', 'spelled_dp');
SELECT dp_set_groups('spelled', 'padded', '{ab,cd,ef}'), dp_grant('spelled_dp', 'regress_analyst', tau => 0.1);
SET ROLE regress_second;
SELECT ward, count(*) > 300 AS many FROM stop_dp WHERE ward <> 'icu' GROUP BY ward ORDER BY ward;
SET ROLE regress_analyst;
SELECT rtrim(padded) AS padded, count(*) > 1000 AS many FROM spelled_dp WHERE padded < 'e' GROUP BY spelled_dp.padded ORDER BY 1;
-- Not on keys alone, or on nothing: every group is there.
SELECT ward, count(*) > -1000 AS answered FROM stop_dp WHERE ward = 'icu' OR id > 5 GROUP BY ward ORDER BY ward;
SELECT ward, count(*) > -1000 AS answered FROM stop_dp WHERE false GROUP BY ward ORDER BY ward;
-- FILTER excludes no group.
SELECT ward, count(*) FILTER (WHERE ward = 'icu') > 300 AS many FROM stop_dp GROUP BY ward ORDER BY ward;
-- The filter of a view counts like the query's own condition.
SELECT ward, count(*) > 300 AS many FROM icu_dp GROUP BY ward ORDER BY ward;
-- Nothing is left: not charged.
SELECT attempt($$SELECT ward, count(*) FROM stop_dp WHERE ward = 'morgue' GROUP BY ward$$);
SELECT attempt($$SELECT ward, count(*) FROM icu_dp WHERE ward = 'surgery' GROUP BY ward$$);
PREPARE one_ward(text) AS SELECT ward, count(*) > 300 AS many FROM stop_dp WHERE ward = $1 GROUP BY ward;
EXECUTE one_ward('icu');
EXECUTE one_ward('surgery');

-- The price does not change, and the instrument counts the numbers that are shown.
SELECT DISTINCT epsilon FROM dp_explain($$SELECT ward, count(*) FROM stop_dp GROUP BY ward$$)
UNION ALL
SELECT DISTINCT epsilon FROM dp_explain($$SELECT ward, count(*) FROM stop_dp WHERE ward = 'icu' GROUP BY ward$$);
SET ROLE regress_controller;
SELECT attempt($$SELECT * FROM dp_risk_output('SELECT ward, count(*) FROM stop_dp WHERE ward IN (''icu'', ''oncology'') GROUP BY ward', '{1,2,3}', 'laplace', 1)$$);
SELECT count(*) > 0 AS two_numbers FROM dp_risk_output('SELECT ward, count(*) FROM stop_dp WHERE ward IN (''icu'', ''oncology'') GROUP BY ward', '{500,500}', 'laplace', 1);

DROP TABLE spelled, domains, unspeakable, stop CASCADE;
DROP DOMAIN half;
DROP TYPE state;
DROP COLLATION any_case;
RESET ROLE;
