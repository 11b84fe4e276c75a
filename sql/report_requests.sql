-- The report about a request: who may, what it shows, that it is written down, and what may then be decided. Texts are a
-- requester's, and hostile.

LOAD 'dp_rdr';
ALTER SEQUENCE dp_rdr.request_id_seq RESTART WITH 4001;
SET client_min_messages = warning;
DROP ROLE IF EXISTS report_owner, report_ann, report_rita, report_other, "report""<script>";
RESET client_min_messages;
CREATE ROLE report_owner LOGIN;
CREATE ROLE report_ann LOGIN;      -- asks
CREATE ROLE report_rita LOGIN;     -- reviews
CREATE ROLE report_other LOGIN;    -- owns another table
CREATE ROLE "report""<script>" LOGIN; -- asks, too
GRANT CREATE ON SCHEMA public TO report_owner, report_other;
\pset format unaligned
\pset null -
CREATE FUNCTION told(asked text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    message text; detail text; hint text; state text; answer text;
BEGIN
    EXECUTE asked INTO answer;
    RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(' | ', state || ' ' || message, nullif(detail, ''), nullif(hint, ''));
END $$;
CREATE FUNCTION found(html text, path text) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT x::text FROM unnest(xpath(path, html::xml, '{{h,http://www.w3.org/1999/xhtml}}')) x
$$;
-- Names and values of a list of facts, times taken away.
CREATE FUNCTION facts(html text, section text) RETURNS TABLE (name text, value text) LANGUAGE sql AS $$
    SELECT array_to_string(xpath('//h:dt//text()', d, '{{h,http://www.w3.org/1999/xhtml}}'), ''),
           regexp_replace(array_to_string(xpath('//h:dd//text()', d, '{{h,http://www.w3.org/1999/xhtml}}'), ''),
                          '^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$', 'a time')
    FROM unnest(xpath(format('//h:section[@id="%s"]//h:dl/h:div', section), html::xml, '{{h,http://www.w3.org/1999/xhtml}}')) d
$$;
CREATE FUNCTION cells(html text, section text) RETURNS TABLE (line bigint, cells text) LANGUAGE sql AS $$
    SELECT n, (SELECT string_agg(c, ' | ' ORDER BY m)
               FROM unnest(xpath('//h:td', r, '{{h,http://www.w3.org/1999/xhtml}}')) WITH ORDINALITY d (cell, m),
                    LATERAL (SELECT array_to_string(xpath('//text()', cell), '') AS c) t)
    FROM unnest(xpath(format('//h:section[@id="%s"]//h:tbody/h:tr', section), html::xml, '{{h,http://www.w3.org/1999/xhtml}}'))
         WITH ORDINALITY x (r, n)
$$;

SET SESSION AUTHORIZATION report_owner;
CREATE TABLE bed AS
SELECT id, id % 4 AS room, 20 + id % 60 AS age, 'd' || id % 300 AS code, timestamptz '2026-01-01 00:00+00' + id * interval '1 minute' AS at
FROM generate_series(1, 2000) id;
SELECT dp_protect('bed', 'bed_dp');
SELECT dp_set_groups('bed', 'room', '{0,1,2,3}'), dp_set_bounds('bed', 'age', 0, 100), dp_set_odometer('bed', epsilon_total => 50, delta_total => 1e-3);
SELECT dp_grant('bed_dp', 'report_ann', tau => 0.8), dp_grant('bed_dp', 'report"<script>', tau => 0.9);

-- What a request of Ann's shows: parameters, her terms, what they mean. That it is shown is written down.
SET SESSION AUTHORIZATION report_ann;
SET TimeZone = 'Asia/Tokyo';
SELECT dp_request($$SELECT room, count(*) AS n FROM bed_dp WHERE at < timestamp '2026-01-01 10:00' AND age < extract(year FROM now()) - 1900
                     GROUP BY room$$,
    E'How full are the rooms?\nFor the board.') AS first \gset
RESET TimeZone;
SET SESSION AUTHORIZATION report_owner;
CREATE TABLE page AS SELECT 'first' AS id, dp_report('bed', request => :first) AS html;
SELECT f.name, f.value
FROM page, facts(html, 'request') f;
SELECT found(html, '//h:section[@id="request"]/h:pre//text()') AS purpose FROM page;
SELECT found(html, '//h:section[@id="request"]/h:p[@class="hint"]/text()') AS advice FROM page;
SELECT replace(found(html, '//h:section[@id="query"]/h:pre//text()'), (extract(year FROM now()) - 1900)::text, 'years') AS query FROM page;
-- As in Ann's time zone: 59 rows, not 599.
SELECT value FROM page, facts(html, 'query') WHERE name = 'of them in the answer';
-- The price is that of dp_requests, and what it means that of dp_risk.
SELECT found(html, '//h:div[@id="asked"]//h:output/text()') = (SELECT trim_scale(epsilon)::text FROM dp_requests() WHERE request = :first) AS price,
    abs(found(html, '//h:div[@id="asked"]//h:dd[@class="ratio"]/text()')::float8 - r.ratio) <= 1e-3 * r.ratio AS ratio,
    abs(found(html, '//h:div[@id="asked"]//h:dd[@class="error"]/text()')::float8 - r.error95) <= 1e-3 * r.error95 AS error95
FROM page, dp_risk($$SELECT room, count(*) FROM bed_dp WHERE at < '2026-01-01 01:00+00'::timestamptz GROUP BY room$$) r
WHERE r.epsilon = (SELECT epsilon FROM dp_requests() WHERE request = :first);
SELECT found(html, '//h:div[@id="asked"]/h:p[@class="lead"]/text()') AS lead FROM page;
SELECT found(html, '//h:tr[.//h:span[@class="mark asked"]/text()]/@data-epsilon') AS marked FROM page;
-- tau is the policy's where none is passed.
SELECT found(html, '//h:input[@id="tau"]/@value') AS tau FROM page;
SELECT found(dp_report('bed', request => :first, tau => 0.5), '//h:input[@id="tau"]/@value') AS tau;
SELECT string_agg(title, ' | ' ORDER BY place) AS sections FROM page, LATERAL found(html, '//h:h2/text()') WITH ORDINALITY f (title, place);
SELECT epsilon, releases, denials FROM dp_odometer('bed') WHERE account = 'public';

-- From now on nothing is public that the owner decides on it.
SELECT told(format('SELECT dp_approve(%s, basis => ''public'')', :first));
SELECT told(format('SELECT dp_approve(%s, tau => 0.9, basis => ''public'')', :first)) ~ '^55000 somebody has looked';
SELECT state FROM dp_requests(NULL) WHERE request = :first;
SELECT state, account FROM dp_approve(:first);
SELECT basis FROM dp_requests(NULL) WHERE request = :first;
SELECT f.* FROM facts(dp_report('bed', request => :first), 'request') f WHERE f.name !~ 'parameter';
SELECT count(*) AS advice FROM found(dp_report('bed', request => :first), '//h:section[@id="request"]/h:p[@class="hint"]');
-- One that nobody has looked at while it waited. A look at what is answered is one for the signals on it.
SET SESSION AUTHORIZATION report_ann;
SELECT dp_request('SELECT count(*) AS n FROM bed_dp', 'all') AS second \gset
SET SESSION AUTHORIZATION report_owner;
SELECT count(*) FROM found(dp_report('bed', 'SELECT count(*) FROM bed_dp'), '//h:section[@id="request"]');
SELECT state, account FROM dp_approve(:second, basis => 'public');
SELECT told(format('SELECT length(dp_report(''bed'', request => %s))', :second));
RESET SESSION AUTHORIZATION;
SELECT id = :first AS first, looked_at IS NOT NULL AS looked, looked_at < decided_at AS before FROM dp_rdr.request WHERE id IN (:first, :second) ORDER BY id;

-- The look is part of its transaction: nothing is decided before that ends, and what is rolled back has not been.
SET SESSION AUTHORIZATION report_ann;
SELECT dp_request('SELECT sum(age) AS s FROM bed_dp', 'sum') AS third \gset
SET SESSION AUTHORIZATION report_owner;
BEGIN;
SELECT length(dp_report('bed', request => :third)) > 1000 AS shown;
SELECT told(format('SELECT dp_approve(%s)', :third)) ~ '^55000 request \d+ was made or changed in a transaction that has not been committed';
ROLLBACK;
BEGIN READ ONLY;
SELECT told(format('SELECT dp_report(''bed'', request => %s)', :third));
COMMIT;
SELECT state, account FROM dp_approve(:third, basis => 'public');

-- Who may, and what is asked wrongly.
SET SESSION AUTHORIZATION report_ann;
SELECT dp_request('SELECT count(*) AS n FROM bed_dp', 'mine') AS fourth \gset
SELECT told(format('SELECT dp_report(''bed'', request => %s)', :fourth)) ~ '^42501';
SET SESSION AUTHORIZATION report_other;
CREATE TABLE others AS SELECT 1 AS a;
SELECT dp_protect('others', 'others_dp');
SELECT told(format('SELECT dp_report(''others'', request => %s)', :fourth)) = replace(told('SELECT dp_report(''others'', request => 0)'), ' 0 ', ' ' || :fourth || ' ') AS same_words;
SELECT told(format('SELECT dp_report(''bed'', request => %s)', :fourth)) ~ '^42501';
SET SESSION AUTHORIZATION report_owner;
CREATE TABLE second_bed AS SELECT * FROM bed LIMIT 10;
SELECT dp_protect('second_bed', 'second_dp');
SELECT told(format('SELECT dp_report(''second_bed'', request => %s)', :fourth)) ~ '^22023 request \d+ is about public.bed, and the report about public.second_bed';
SELECT told(format('SELECT dp_report(''bed'', ''SELECT count(*) FROM bed_dp'', %s)', :fourth));
SELECT told('SELECT dp_report(''bed'', request => 0)');
RESET SESSION AUTHORIZATION;
SELECT looked_at FROM dp_rdr.request WHERE id = :fourth; -- none of them was a look
SET SESSION AUTHORIZATION report_owner;

-- One that could not be permitted now is shown all the same, and why.
SELECT dp_revoke('bed_dp', 'report_ann');
SELECT f.* FROM facts(dp_report('bed', request => :fourth), 'request') f WHERE f.name = 'price now';
SELECT dp_grant('bed_dp', 'report_ann', tau => 0.9, selection => 'within_data');
SELECT f.* FROM facts(dp_report('bed', request => :fourth), 'request') f WHERE f.name = 'price now';
SELECT dp_grant('bed_dp', 'report_ann', tau_var => 0.01);
SELECT f.* FROM facts(dp_report('bed', request => :fourth), 'request') f WHERE f.name = 'price now';
-- Noise and delta are the policy's, too, where the call says nothing; other noise has no price of hers.
SELECT dp_grant('bed_dp', 'report_ann', tau => 0.9, mechanism => 'gaussian', delta => 1e-6);
SET SESSION AUTHORIZATION report_ann;
SELECT dp_request('SELECT code, count(*) AS n FROM bed_dp GROUP BY code', 'codes') AS fifth \gset
SET SESSION AUTHORIZATION report_owner;
SELECT f.* FROM facts(dp_report('bed', request => :fifth), 'query') f WHERE f.name IN ('noise', 'delta');
SELECT count(*) AS card FROM found(dp_report('bed', request => :fifth), '//h:div[@id="asked"]');
SELECT count(*) AS card FROM found(dp_report('bed', request => :fifth, mechanism => 'laplace'), '//h:div[@id="asked"]');
-- Asks for less.
SELECT dp_grant('bed_dp', 'report_ann', tau => 0.9, mechanism => 'laplace', delta => 0);
SET SESSION AUTHORIZATION report_ann;
SELECT dp_request('SELECT count(*) AS n FROM bed_dp', 'less', epsilon => 0.0123) AS sixth \gset
SET SESSION AUTHORIZATION report_owner;
SELECT found(dp_report('bed', request => :sixth), '//h:div[@id="asked"]//h:output/text()') AS price;
SELECT count(*) AS marked FROM found(dp_report('bed', request => :sixth), '//h:tr[.//h:span[@class="mark asked"]/text()]');

-- A signal is not reported on.
SET SESSION AUTHORIZATION report_ann;
SELECT dp_request('SELECT room, count(*) AS n FROM bed_dp GROUP BY room', 'parent') AS parent \gset
SET SESSION AUTHORIZATION report_owner;
SELECT state FROM dp_approve(:parent, basis => 'public');
SET SESSION AUTHORIZATION report_ann;
SELECT dp_request_signal(:parent, 'mean', 'answer.n', 'signal', upper => 1000) AS signal \gset
SET SESSION AUTHORIZATION report_owner;
SELECT told(format('SELECT dp_report(''bed'', request => %s)', :signal));
RESET SESSION AUTHORIZATION;
SELECT looked_at FROM dp_rdr.request WHERE id = :signal; -- nor is that a look
SET SESSION AUTHORIZATION report_owner;

-- For reviewers: who has looked leaves it to them.
SELECT dp_set_review('bed', '{report_rita}');
SET SESSION AUTHORIZATION report_ann;
SELECT dp_request('SELECT count(*) AS n FROM bed_dp WHERE age > 40', 'reviewed') AS reviewed \gset
SET SESSION AUTHORIZATION report_owner;
SELECT found(dp_report('bed', request => :reviewed), '//h:section[@id="request"]/h:p[@class="hint"]/text()') AS advice;
SELECT told(format('SELECT dp_approve(%s, basis => ''public'')', :reviewed)) ~ '^55000 somebody has looked', told(format('SELECT dp_reject(%s)', :reviewed)) ~ '^55000 somebody has looked';
SET SESSION AUTHORIZATION report_rita;
SELECT told(format('SELECT dp_report(''bed'', request => %s)', :reviewed)) ~ '^42501';
SELECT state, account FROM dp_approve(:reviewed);
SET SESSION AUTHORIZATION report_owner;
SELECT dp_set_review('bed', '{}');

-- Those that wait, on a page without a query; that is no look.
SET SESSION AUTHORIZATION report_ann;
SELECT dp_request('SELECT count(*) AS n FROM bed_dp', 'waits') AS waits \gset
SELECT dp_request('SELECT count(*) AS n FROM bed_dp', 'brief', expires => '1 microsecond') AS brief \gset
SET SESSION AUTHORIZATION report_owner;
SELECT regexp_replace(regexp_replace(cells, '\d{4}-\d\d-\d\d( \d\d:\d\d)?', 'time', 'g'), '^\d+', 'N') FROM cells(dp_report('bed'), 'requests') ORDER BY line;
SELECT state FROM dp_approve(:waits, basis => 'public');
SELECT dp_reject(request) FROM dp_requests();
SELECT found(dp_report('bed'), '//h:section[@id="requests"]/h:p[@class="nothing"]/text()');

-- A view that was dropped takes its requests out of their owner's hands; nothing falls over it.
SELECT dp_grant('second_dp', 'report_ann', tau => 0.9);
SET SESSION AUTHORIZATION report_ann;
SELECT dp_request('SELECT count(*) AS n FROM second_dp', 'dropped') AS dropped \gset
SET SESSION AUTHORIZATION report_owner;
DROP VIEW second_dp;
SELECT f, told(format('SELECT %s', f)) ~ '^42501 there is no request' AS none FROM unnest(array[format('dp_report(''second_bed'', request => %s)', :dropped),
    format('dp_approve(%s)', :dropped), format('dp_release(%s)', :dropped), format('dp_reject(%s)', :dropped), format('dp_answer(%s)', :dropped)]) f;
SET SESSION AUTHORIZATION report_ann;
SELECT purpose, view ~ '^\d+$' AS number, state FROM dp_requests() WHERE request = :dropped;
SELECT told(format('SELECT dp_approve(%s)', :dropped)) ~ '^42501' AS approve, told(format('SELECT dp_answer(%s)', :dropped)) ~ '^55000' AS answer, told(format('SELECT dp_reject(%s)', :dropped)) AS withdraw;

-- Who has a risk profile is given nothing that was decided in sight of the rows.
SET SESSION AUTHORIZATION report_owner;
SELECT dp_grant('bed_dp', 'report"<script>', profile => dp_profile('constant', relative => 1000000));
SET SESSION AUTHORIZATION "report""<script>";
SELECT dp_request('SELECT count(*) AS n FROM bed_dp', 'profiled') AS profiled \gset
SET SESSION AUTHORIZATION report_owner;
SELECT found(dp_report('bed', request => :profiled), '//h:section[@id="request"]/h:p[@class="hint"]/text()') AS advice;
SELECT told(format('SELECT dp_approve(%s)', :profiled)) ~ '^22023' AS sighted, told(format('SELECT dp_approve(%s, basis => ''public'')', :profiled)) ~ '^55000' AS public;
SELECT dp_reject(:profiled);

-- Hostile texts.
SET SESSION AUTHORIZATION "report""<script>";
SELECT dp_request($$SELECT count(*) AS "</td><script>alert(1)</script>" FROM bed_dp WHERE code <> '</pre><script>alert(2)</script>' || (now() - now())::text
                    AND code <> '--><img src=x onerror=alert(3)>'$$,
    E'</pre><script>alert(4)</script>\n"\'>]]><!-- \u202Eevil\u2066\u0007 &lt;') AS hostile \gset
SET SESSION AUTHORIZATION report_owner;
CREATE TABLE hostile AS SELECT 'request' AS id, dp_report('bed', request => :hostile) AS html UNION ALL SELECT 'table', dp_report('bed');
SELECT id, xml_is_well_formed_document(html) AS well_formed, html !~ '[^\n -~]' AS ascii,
    (SELECT count(*) FROM regexp_matches(html, '<(script|img|b[ >])', 'g')) AS elements,
    (SELECT count(*) FROM regexp_matches(html, 'alert\(', 'g')) > 2 AS shown FROM hostile ORDER BY id;
SELECT DISTINCT found(html, '//@style | //@*[starts-with(local-name(), "on")] | //@src | //@href | //h:img') FROM hostile;
SELECT found(html, '//h:section[@id="request"]/h:pre//text()') AS purpose FROM hostile WHERE id = 'request';
SELECT f.* FROM hostile, facts(html, 'request') f WHERE f.name = 'asked by' AND id = 'request';
SELECT length(html) < 400000 AS small FROM hostile WHERE id = 'request';
SELECT dp_reject(:hostile);

RESET SESSION AUTHORIZATION;
SET client_min_messages = warning;
DROP TABLE bed, second_bed, others, page, hostile CASCADE;
DROP FUNCTION told, found, facts, cells;
REVOKE CREATE ON SCHEMA public FROM report_owner, report_other;
