-- dp_report: a page of HTML for the owner, well-formed, closed to whatever its texts are, with the numbers of the other calls.

LOAD 'dp_rdr';
SET ROLE regress_controller;

-- A table of its own: nothing else is charged on it.
CREATE TABLE reported AS SELECT * FROM adult;
SELECT dp_protect('reported', 'reported_dp');
SELECT dp_set_bounds('reported', 'hours_per_week', 1, 99), dp_set_bounds('reported', 'capital_gain', 0, 99999);
SELECT dp_set_groups('reported', 'marital_status', '{Divorced,Married-AF-spouse,Married-civ-spouse,Married-spouse-absent,
    Never-married,Separated,Widowed}');
SELECT dp_grant('reported_dp', 'regress_analyst', 0.95);
CREATE TABLE question AS SELECT id, replace(query, 'adult_dp', 'reported_dp') AS query FROM paper_query;

-- ---------------------------------------------------------------------------------------------------------------------
-- Who may, and what is asked wrongly
-- ---------------------------------------------------------------------------------------------------------------------

SET ROLE regress_analyst;
SELECT attempt($$SELECT dp_report('reported')$$);
SELECT attempt($$SELECT dp_report('reported_dp')$$);
SELECT attempt($$SELECT dp_report('reported', 'SELECT count(*) FROM reported_dp')$$);
SET ROLE regress_stranger;
SELECT attempt($$SELECT dp_report('reported', 'SELECT count(*) FROM reported_dp')$$);
-- An owner, but of another table.
RESET ROLE;
CREATE SCHEMA strangers AUTHORIZATION regress_stranger;
SET ROLE regress_stranger;
CREATE TABLE strangers.own (a integer);
SELECT dp_protect('strangers.own', 'strangers.own_dp');
SELECT attempt($$SELECT dp_report('strangers.own', 'SELECT count(*) FROM reported_dp')$$);
SET ROLE regress_controller;
CREATE TABLE other (a integer);
SELECT dp_protect('other', 'other_dp');
SELECT dp_grant('other_dp', 'regress_analyst', 0.95);
SELECT attempt($$SELECT dp_report('reported', 'SELECT count(*) FROM other_dp')$$);
SELECT attempt($$SELECT dp_report('other', 'SELECT count(*) FROM other_dp')$$);
SELECT attempt($$SELECT dp_report('question')$$);
SELECT attempt($$SELECT dp_report(NULL)$$);
SELECT attempt($$SELECT dp_report('reported', tau => NULL)$$);
SELECT attempt($$SELECT dp_report('reported', tau => 1.5)$$);
SELECT attempt($$SELECT dp_report('reported', mechanism => 'cauchy')$$);
SELECT attempt($$SELECT dp_report('reported', records => -1)$$);
SELECT attempt($$SELECT dp_report('reported', records => 1001)$$);
SELECT attempt($$SELECT dp_report('reported', epsilons => '{1,1}')$$);
SELECT attempt($$SELECT dp_report('reported', 'SELECT age, count(*) FROM reported_dp GROUP BY age')$$);
SELECT attempt($$SELECT dp_report('reported', 'SELECT count(*) FROM reported_dp', mechanism => 'gaussian')$$);
SELECT attempt($$SELECT dp_report('reported', 'SELECT stddev(age) FROM reported_dp')$$);
SELECT attempt($$SELECT dp_report('reported', 'SELECT * FROM reported')$$);

-- ---------------------------------------------------------------------------------------------------------------------
-- The page
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE page AS SELECT id, dp_report('reported', query) AS html FROM question
UNION ALL SELECT 'table', dp_report('reported')
UNION ALL SELECT 'view', dp_report('reported_dp')
UNION ALL SELECT 'groups', dp_report('reported', 'SELECT age, count(*), avg(hours_per_week) FROM reported_dp GROUP BY age', delta => 1e-6)
UNION ALL SELECT 'gaussian', dp_report('reported', 'SELECT sum(capital_gain) FROM reported_dp', NULL, 0.9, 'gaussian', 1e-6);

-- Well-formed, in ASCII, of a size that can be sent.
SELECT id, xml_is_well_formed_document(html) AS well_formed, html !~ '[^\n -~]' AS ascii, length(html) <= 400000 AS small
FROM page ORDER BY id COLLATE "C";

-- The policy lets one style and one script in, by their hashes.
CREATE FUNCTION hash_of(html text, element text) RETURNS text LANGUAGE sql AS $$
    SELECT 'sha256-' || encode(sha256(convert_to(substring(html FROM '<' || element || '>(.*?)</' || element || '>'), 'UTF8')), 'base64')
$$;
SELECT id, substring(html FROM 'http-equiv="Content-Security-Policy" content="([^"]*)"') =
           format('default-src &#39;none&#39;; base-uri &#39;none&#39;; form-action &#39;none&#39;; style-src &#39;%s&#39;; script-src &#39;%s&#39;',
                  hash_of(html, 'style'), coalesce(hash_of(html, 'script'), substring(html FROM 'script-src &#39;([^&]*)&#39;'))) AS policy,
       (SELECT count(*) FROM regexp_matches(html, '<style', 'g')) AS styles,
       (SELECT count(*) FROM regexp_matches(html, '<script', 'g')) AS scripts
FROM page WHERE id IN ('Q1', 'table') ORDER BY id COLLATE "C";

CREATE FUNCTION found(html text, path text) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT x::text FROM unnest(xpath(path, html::xml, '{{h,http://www.w3.org/1999/xhtml}}')) x
$$;
-- No attribute holds a style or code, nothing is fetched.
SELECT DISTINCT found(html, '//@style | //@*[starts-with(local-name(), "on")] | //@src | //@href | //h:form | //h:img') FROM page;
-- In this order.
SELECT id, string_agg(title, ' | ' ORDER BY place) AS sections FROM page, LATERAL found(html, '//h:h2/text()') WITH ORDINALITY f (title, place)
WHERE id IN ('Q1', 'table') GROUP BY id ORDER BY id COLLATE "C";
SELECT found(html, '//h:p[@class="banner"]//text()') AS banner FROM page WHERE id IN ('Q1', 'table') ORDER BY id COLLATE "C";
-- ---------------------------------------------------------------------------------------------------------------------
-- Its numbers are those of the other calls
-- ---------------------------------------------------------------------------------------------------------------------

-- What a script reads, and what a person does.
CREATE TABLE candidate AS
SELECT id, n, epsilon::numeric, found::float8 AS tau_found, domain::float8 AS tau_domain, ratio::float8, error::float8, answer, left_
FROM page, LATERAL (SELECT * FROM found(html, '//@data-epsilon') WITH ORDINALITY a (epsilon, n)
    JOIN found(html, '//@data-found') WITH ORDINALITY b (found, n) USING (n)
    JOIN found(html, '//@data-domain') WITH ORDINALITY c (domain, n) USING (n)
    JOIN found(html, '//h:td[contains(@class, "ratio")]/text()') WITH ORDINALITY d (ratio, n) USING (n)
    JOIN found(html, '//h:table[@id="candidates"]//h:td[contains(@class, "error")]/text()') WITH ORDINALITY e (error, n) USING (n)
    JOIN found(html, '//h:td[contains(@class, "answer")]/text()') WITH ORDINALITY f (answer, n) USING (n)
    JOIN found(html, '//h:td[contains(@class, "left")]/text()') WITH ORDINALITY g (left_, n) USING (n)) c;
SELECT id, count(*), bool_and(epsilon = e.epsilons[n]) AS descending
FROM candidate, (SELECT array_agg(epsilon ORDER BY epsilon DESC) AS epsilons FROM dp_risk('SELECT count(*) FROM reported_dp')) e
GROUP BY id ORDER BY id COLLATE "C";
SELECT q.id, count(*), bool_and(abs(c.ratio - r.ratio) <= 1e-3 * r.ratio AND abs(c.error - r.error95) <= 1e-3 * r.error95) AS as_dp_risk
FROM question q, LATERAL dp_risk(q.query) r JOIN candidate c USING (epsilon) WHERE c.id = q.id GROUP BY q.id ORDER BY q.id;
SELECT bool_and(abs(c.ratio - r.ratio) <= 1e-3 * r.ratio) AS as_dp_risk FROM candidate c
JOIN dp_risk('SELECT sum(capital_gain) FROM reported_dp', mechanism => 'gaussian', delta => 1e-6) r USING (epsilon) WHERE c.id = 'gaussian';
-- The ratio is the tau that still permits it, but for the last digits.
SELECT bool_and(abs(tau_found - ratio) <= 1e-3 * ratio) AS ratio_is_tau FROM candidate;
SELECT bool_and(c.answer = s.answer_range) AS as_dp_risk_summary
FROM question q, LATERAL dp_risk_summary(q.query) s JOIN candidate c USING (epsilon) WHERE c.id = q.id;
-- A total of 1.
SELECT epsilon, left_ FROM candidate WHERE id = 'Q1' AND epsilon IN (2, 1, 0.3, 0.05, 0.001) ORDER BY epsilon DESC;

-- dp_find_epsilon's choice; in a browser (make browser) at 99 values of tau.
SELECT dp_set_odometer('reported', 'none');
CREATE TABLE chosen (id text, tau float8, epsilon numeric);
DO $$
DECLARE
    q question;
    epsilon numeric;
    answer jsonb;
    percent integer;
BEGIN
    FOR q IN SELECT * FROM question ORDER BY id LOOP
        FOREACH percent IN ARRAY '{1,5,10,15,20,25,30,35,40,45,50,55,60,65,70,75,80,85,90,95,98,99}'::integer[] LOOP
            BEGIN
                epsilon := NULL;
                CALL dp_find_epsilon(q.query, percent / 100.0::float8, epsilon, answer);
            EXCEPTION WHEN configuration_limit_exceeded THEN -- no candidate
                epsilon := NULL;
            END;
            INSERT INTO chosen VALUES (q.id, percent / 100.0::float8, epsilon);
        END LOOP;
    END LOOP;
END $$;
SELECT id, count(*), count(DISTINCT epsilon) AS different,
       count(*) FILTER (WHERE epsilon IS DISTINCT FROM
                              (SELECT max(c.epsilon) FROM candidate c WHERE c.id = chosen.id AND c.tau_found >= tau)) AS wrong
FROM chosen GROUP BY id ORDER BY id;
-- And the price within_domain, by its formula: m asinh(k1 (1 - tau) / (m tau)), of one measure; that of an average has two coordinates.
SELECT c.id, count(*) AS wrong FROM (SELECT DISTINCT id, tau FROM chosen) t JOIN candidate c USING (id)
WHERE (c.tau_domain >= tau) <> (epsilon <= asinh(CASE id WHEN 'Q4' THEN 2 ELSE 1 END * (1 - tau) / tau) * (1 + 1e-12)) GROUP BY 1;
-- The static table says the same.
SELECT bool_and(f.epsilon = coalesce(trim_scale(c.epsilon)::text, 'no candidate')) AS as_chosen, count(*)
FROM page p, LATERAL found(html, '//h:table[@id="five"]//h:td[@data-label="dp_find_epsilon"]/text()') WITH ORDINALITY f (epsilon, n)
JOIN chosen c ON c.tau = ('{0.5,0.8,0.9,0.95,0.99}'::float8[])[f.n] WHERE p.id = c.id AND p.id LIKE 'Q_';
-- Without a bound any number of answers is left.
SELECT DISTINCT found(dp_report('reported', query), '//h:td[contains(@class, "left")]/text()') AS "left" FROM question WHERE id = 'Q1';

-- The riskiest records, and the people of the histogram.
SELECT count(*), bool_and(abs(s.pis::float8 - r.pis) <= 1e-3 * r.pis) AS as_dp_risk_records
FROM page p, LATERAL found(html, '//h:section[@id="people"]//h:td[@data-label="sensitivity"]/text()') WITH ORDINALITY s (pis, n)
JOIN dp_risk_records('SELECT sum(capital_gain) FROM reported_dp', 1) WITH ORDINALITY r (record, individuals, pis, rdr, n) USING (n) WHERE p.id = 'Q5';
SELECT string_agg(btrim(f), ' ') FROM (SELECT found(html, '(//h:td[contains(@class, "record")])[1]//text()') AS f FROM page WHERE id = 'Q5') x;
SELECT (SELECT sum(n::bigint) FROM found(html, '//h:div[@class="histogram"]//h:td[@data-label="people"]/text()') n) AS people
FROM page WHERE id IN ('Q2', 'Q5', 'groups') ORDER BY id COLLATE "C";
SELECT count(*) AS records FROM found(dp_report('reported', 'SELECT sum(capital_gain) FROM reported_dp', records => 3),
                                      '//h:section[@id="people"]//h:tbody/h:tr');

-- Nothing is charged, nothing is counted.
SELECT account, epsilon = coalesce((SELECT sum(epsilon) FROM chosen), 0) AS as_charged FROM dp_odometer('reported') WHERE account = 'conditional';
SELECT account, epsilon, releases, denials FROM dp_odometer('reported') WHERE account = 'public';

-- ---------------------------------------------------------------------------------------------------------------------
-- The other parts
-- ---------------------------------------------------------------------------------------------------------------------

SELECT dp_set_odometer('reported', 'filter', 0.1);
SET ROLE regress_analyst;
SELECT attempt('SELECT count(*) FROM reported_dp');
SELECT attempt('SELECT count(*) FROM reported_dp WHERE age > 30');
SELECT attempt('SELECT count(*) FROM reported_dp WHERE age > 40');
SELECT attempt('SELECT count(*) FROM other_dp');
SET ROLE regress_controller;
CREATE TABLE later AS SELECT dp_report('reported') AS html;
CREATE FUNCTION cells(html text, section text) RETURNS TABLE (line bigint, cells text) LANGUAGE sql AS $$
    SELECT n, (SELECT string_agg(c, ' | ' ORDER BY m)
               FROM unnest(xpath('//h:td', r, '{{h,http://www.w3.org/1999/xhtml}}')) WITH ORDINALITY d (cell, m),
                    LATERAL (SELECT array_to_string(xpath('//text()', cell), '') AS c) t)
    FROM unnest(xpath(format('//h:section[@id="%s"]//h:tbody/h:tr', section), html::xml, '{{h,http://www.w3.org/1999/xhtml}}'))
         WITH ORDINALITY x (r, n)
$$;
SELECT regexp_replace(cells, '^\d{4}-\d\d ', 'month ') FROM later, cells(html, 'spending')
WHERE cells !~ 'conditional' ORDER BY line;
SELECT regexp_replace(cells, '^[-0-9: ]{16}', 'minute') FROM later, cells(html, 'denials') ORDER BY line;
SELECT bool_and(e.n IS NOT NULL) AS settings_shown
FROM later, (SELECT row_number() OVER () AS line, * FROM dp_settings('reported')) s
LEFT JOIN LATERAL (SELECT 1 AS n FROM cells(html, 'settings') c WHERE c.line = s.line AND c.cells LIKE '%' || s.name || '%') e ON true;
-- What an officer reads first, whether the table or a view of it is named.
SELECT regexp_replace(cells, 'read by .*;', 'read by ...;') AS sentences FROM later, cells(html, 'summary') ORDER BY line;
SELECT count(*) AS "same" FROM later, cells(html, 'summary') a JOIN cells(dp_report('reported_dp'), 'summary') b USING (line, cells);
SELECT (SELECT count(*) FROM cells(html, 'audit')) = (SELECT count(*) FROM dp_audit()) AS audit_shown FROM later;
SELECT DISTINCT found(dp_report('reported', query), '//h:td[contains(@class, "left")]/text()') AS "left" FROM question WHERE id = 'Q1';
-- A table that has another name now has still spent what it has.
ALTER TABLE reported RENAME TO renamed;
SELECT count(*) > 0 AS spent FROM cells(dp_report('renamed'), 'spending');
ALTER TABLE renamed RENAME TO reported;

-- ---------------------------------------------------------------------------------------------------------------------
-- Hostile texts
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE "</title><script>alert(1)</script>" ("x"" onclick=""alert(2)" text, "<b>&amp;'" text);
INSERT INTO "</title><script>alert(1)</script>" VALUES
    ('<img src=x onerror=alert(3)>', E'\u202Eevil\u2066\u0001'), (E'caf\u00e9 \U0001F600', repeat('&', 1000)), (']]>', '</script>');
SELECT dp_protect('"</title><script>alert(1)</script>"', 'hostile_dp');
CREATE TABLE hostile AS SELECT dp_report('"</title><script>alert(1)</script>"',
    $$SELECT count(*) FROM hostile_dp WHERE "x"" onclick=""alert(2)" <> '</pre><script>alert(4)</script>' AND "<b>&amp;'" <> '<!--'$$) AS html;
SELECT xml_is_well_formed_document(html) AS well_formed, html !~ '[^\n -~]' AS ascii, length(html) < 400000 AS small,
       (SELECT count(*) FROM regexp_matches(html, '<(script|img|b[ >])', 'g')) AS elements FROM hostile;
SELECT DISTINCT found(html, '//@style | //@*[starts-with(local-name(), "on")] | //@src | //@href | //h:img') FROM hostile;
SELECT found(html, '//h:h1//text()'), found(html, '//h:title/text()') FROM hostile;
SELECT found(html, '//h:b[@class="unseen"]/text()') FROM hostile;
SELECT left(cells, 150) AS cells FROM hostile, cells(html, 'people') ORDER BY left(cells, 150) COLLATE "C";

-- Column names, records and queries of any length make no page of any length.
DO $$ BEGIN
    EXECUTE format('CREATE TABLE wide (%s)', (SELECT string_agg(format('c%s text DEFAULT repeat(''<'', 10000)', i), ', ') FROM generate_series(1, 200) i));
    INSERT INTO wide SELECT 'x' || i FROM generate_series(1, 30) i;
END $$;
SELECT dp_protect('wide', 'wide_dp');
SELECT length(dp_report('wide', format('SELECT count(*) FROM wide_dp WHERE %s', (SELECT string_agg(format('c%s <> %L', i, repeat('&', 200)), ' AND ')
    FROM generate_series(1, 200) i)))) < 1500000 AS small;

DROP TABLE reported, other, wide, "</title><script>alert(1)</script>" CASCADE;
DROP TABLE question, page, candidate, chosen, later, hostile;
DROP FUNCTION hash_of, found, cells;
RESET ROLE;
SET client_min_messages = warning;
DROP SCHEMA strangers CASCADE;
