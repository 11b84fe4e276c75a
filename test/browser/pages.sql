-- Reports as files of :pages, and what dp_find_epsilon chooses at 99 values of tau.
\set ON_ERROR_STOP 1
SET client_min_messages = warning;
CREATE EXTENSION dp_rdr;
CREATE ROLE browser_analyst;
\set data test/data
\i test/data/adult.sql
SELECT dp_protect('adult', 'adult_dp');
SELECT dp_set_bounds('adult', 'hours_per_week', 1, 99), dp_set_bounds('adult', 'capital_gain', 0, 99999);
SELECT dp_set_groups('adult', 'marital_status', '{Divorced,Married-AF-spouse,Married-civ-spouse,Married-spouse-absent,
    Never-married,Separated,Widowed}');
SELECT dp_grant('adult_dp', 'browser_analyst', 0.95);
CREATE TABLE paper_query (id text PRIMARY KEY, query text NOT NULL);
INSERT INTO paper_query VALUES
    ('Q1', $$SELECT count(*) FROM adult_dp WHERE income = '>50K' AND education_num = 13 AND age = 25$$),
    ('Q2', $$SELECT marital_status, count(*) FROM adult_dp
WHERE race = 'Asian-Pac-Islander' AND age BETWEEN 30 AND 40
GROUP BY marital_status$$),
    ('Q3', $$SELECT count(*) FROM adult_dp WHERE native_country <> 'United-States' AND sex = 'Female'$$),
    ('Q4', $$SELECT avg(hours_per_week) FROM adult_dp WHERE workclass IN ('Federal-gov', 'Local-gov', 'State-gov')$$),
    ('Q5', $$SELECT sum(capital_gain) FROM adult_dp$$);

-- Charges and denials to report on.
LOAD 'dp_rdr';
SET ROLE browser_analyst;
SELECT count(*) FROM adult_dp WHERE age > 30;
SELECT marital_status, count(*) FROM adult_dp WHERE age > 40 GROUP BY marital_status;
RESET ROLE;
-- One more is too much.
SELECT dp_set_odometer('adult', 'filter', 0.14);
SET ROLE browser_analyst;
\set ON_ERROR_STOP 0
SELECT count(*) FROM adult_dp WHERE age > 50;
\set ON_ERROR_STOP 1
RESET ROLE;
SELECT dp_set_odometer('adult', 'filter', 1);

-- A request, and one more that waits.
SET ROLE browser_analyst;
SELECT dp_request($$SELECT count(*) AS women FROM adult_dp WHERE sex = 'Female' AND income = '>50K'$$,
                  E'How many women earn so much?\nFor the equality report.') AS request \gset
SELECT dp_request($$SELECT marital_status, count(*) FROM adult_dp WHERE age > 60 GROUP BY marital_status$$, 'Housing plan') AS waits \gset
RESET ROLE;

\pset format unaligned
\pset tuples_only on
\o :pages/request.html
SELECT dp_report('adult', request => :request);
\o :pages/table.html
SELECT dp_report('adult');
\o :pages/Q1.html
SELECT dp_report('adult', (SELECT query FROM paper_query WHERE id = 'Q1'));
\o :pages/Q2.html
SELECT dp_report('adult', (SELECT query FROM paper_query WHERE id = 'Q2'));
\o :pages/Q3.html
SELECT dp_report('adult', (SELECT query FROM paper_query WHERE id = 'Q3'));
\o :pages/Q4.html
SELECT dp_report('adult', (SELECT query FROM paper_query WHERE id = 'Q4'));
\o :pages/Q5.html
SELECT dp_report('adult', (SELECT query FROM paper_query WHERE id = 'Q5'));
\o
CREATE TABLE hostile (
    "</title><script>document.documentElement.dataset.pwned=1</script>" text,
    "x"" onclick=""document.documentElement.dataset.pwned=1" text);
INSERT INTO hostile VALUES
    ('<img src=x onerror="document.documentElement.dataset.pwned=1">', E'\u202Eevil\u2066'),
    ('<svg onload="document.documentElement.dataset.pwned=1">', '"><script>document.documentElement.dataset.pwned=1</script>'),
    ('<style>*{display:none}</style>', repeat('wide', 100));
SELECT dp_protect('hostile', 'hostile_dp');
\o :pages/hostile.html
SELECT dp_report('hostile', $$SELECT count(*) FROM hostile_dp
WHERE "</title><script>document.documentElement.dataset.pwned=1</script>" <> '</pre><script>document.documentElement.dataset.pwned=1</script>'
  AND "x"" onclick=""document.documentElement.dataset.pwned=1" <> '<iframe src="https://example.org">'$$);
\o
CREATE ROLE "</dd><script>document.documentElement.dataset.pwned=1</script>";
SELECT dp_grant('hostile_dp', '"</dd><script>document.documentElement.dataset.pwned=1</script>"', 0.95);
SET ROLE "</dd><script>document.documentElement.dataset.pwned=1</script>";
SELECT dp_request($$SELECT count(*) AS "</pre><script>document.documentElement.dataset.pwned=1</script>" FROM hostile_dp
WHERE "x"" onclick=""document.documentElement.dataset.pwned=1" <> '<img src=x onerror="document.documentElement.dataset.pwned=1">' || (now() - now())::text$$,
    E'</pre><script>document.documentElement.dataset.pwned=1</script><img src=x onerror="document.documentElement.dataset.pwned=1">\n'
    '\u202Eevil\u2066 "><svg onload=document.documentElement.dataset.pwned=1> --> ]]>') AS hostile_request \gset
RESET ROLE;
\o :pages/hostile_request.html
SELECT dp_report('hostile', request => :hostile_request);
\o

-- What the server chooses. A bound of its own keeps nothing back.
SELECT dp_set_odometer('adult', 'none');
CREATE TABLE chosen (id text, tau float8, epsilon numeric);
DO $$
DECLARE
    q paper_query;
    epsilon numeric;
    answer jsonb;
    percent integer;
BEGIN
    FOR q IN SELECT * FROM paper_query ORDER BY id LOOP
        FOR percent IN 1..99 LOOP
            BEGIN
                CALL dp_find_epsilon(q.query, percent / 100.0::float8, epsilon, answer);
                INSERT INTO chosen VALUES (q.id, percent / 100.0::float8, epsilon);
            EXCEPTION WHEN configuration_limit_exceeded THEN
                INSERT INTO chosen VALUES (q.id, percent / 100.0::float8, NULL);
            END;
        END LOOP;
    END LOOP;
END $$;
\o :pages/chosen.json
SELECT json_agg(json_build_array(id, tau, trim_scale(epsilon)::text)) FROM chosen;
\o
