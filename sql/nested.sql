-- Sub-SELECTs with rows of one person below one another, and queries of WITH that are named several times: how often they are opened is limited before
-- anything is. The noise of a count of people is 0 but once in 10^40 draws at epsilon 100.
LOAD 'dp_rdr';
SET ROLE regress_controller;
CREATE TABLE nst_visit (vid integer PRIMARY KEY, pid integer NOT NULL);
INSERT INTO nst_visit SELECT i, i % 50 FROM generate_series(0, 99) i;
SELECT dp_protect('nst_visit', 'nst_visit_dp', unit => 'pid', max_rows => 2), dp_set_odometer('nst_visit', 'none');
CREATE TABLE nst_code (code integer PRIMARY KEY);
INSERT INTO nst_code SELECT generate_series(0, 9);
SELECT dp_set_public('nst_code', 'nst_visit');
GRANT SELECT ON nst_code TO regress_analyst;
SELECT dp_grant('nst_visit_dp', 'regress_analyst', tau => 0, candidates => '{100}', epsilon_max => 100);
SET ROLE regress_analyst;
SET dp_rdr.noise = silent;
-- A text that nests one query in another so many times. %s: the query below.
CREATE FUNCTION pg_temp.nested(outermost text, level text, times integer) RETURNS text LANGUAGE plpgsql AS $$
DECLARE query text := 'SELECT pid, count(*) AS n FROM nst_visit_dp GROUP BY pid';
BEGIN
    FOR i IN 1 .. times LOOP
        query := format(level, query);
    END LOOP;
    RETURN format(outermost, query);
END $$;
-- WITH w0 .. wn, each made of the one before.
CREATE FUNCTION pg_temp.chained(level text, times integer) RETURNS text LANGUAGE plpgsql AS $$
DECLARE asked text := 'WITH w0 AS (SELECT pid, count(*) AS n FROM nst_visit_dp GROUP BY pid)';
BEGIN
    FOR i IN 1 .. times LOOP
        asked := asked || format(', w%s AS (%s)', i, format(level, i - 1));
    END LOOP;
    RETURN asked || format(' SELECT count(*) FROM w%s', times);
END $$;
CREATE FUNCTION pg_temp.answer(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE number text;
BEGIN
    EXECUTE query INTO number;
    RETURN number;
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
SELECT times, pg_temp.answer(pg_temp.nested('SELECT count(*) FROM (%s) s', 'SELECT pid, max(n) AS n FROM (%s) s GROUP BY pid', times)) FROM unnest('{1,10,31,32,61,62,300}'::integer[]) times;
SELECT times, pg_temp.answer(pg_temp.nested('SELECT count(*) FROM (%s) s', 'SELECT pid, max(n+n) AS n FROM (SELECT pid, n+n AS n FROM (%s) z) s GROUP BY pid', times)) FROM unnest('{3,40,300}'::integer[]) times;
SELECT times, pg_temp.answer(pg_temp.nested('SELECT count(*) FROM (%s) s', 'SELECT pid, n + 1 AS n FROM (%s) s', times)) FROM unnest('{10,62,63,300}'::integer[]) times;
SELECT times, pg_temp.answer(pg_temp.chained('SELECT pid, count(*) AS n FROM w%s GROUP BY pid', times)) FROM unnest('{1,10,31,32,100}'::integer[]) times;
SELECT times, pg_temp.answer(pg_temp.chained('SELECT pid, count(*) AS n FROM w%1$s a JOIN w%1$s b USING (pid) GROUP BY pid', times)) FROM unnest('{1,2,4,5,7}'::integer[]) times;
-- Public tables likewise: each query of WITH is looked at once.
CREATE FUNCTION pg_temp.of_codes(times integer) RETURNS text LANGUAGE sql AS $$
    SELECT 'WITH w0 AS (SELECT code FROM nst_code)' || string_agg(format(', w%s AS (SELECT a.code FROM w%s a JOIN w%2$s b USING (code))', i, i - 1), '' ORDER BY i) ||
           format(' SELECT count(*) FROM nst_visit_dp v JOIN w%s ON code = pid', times) FROM generate_series(1, times) i
$$;
SET statement_timeout = '60s';
SELECT times, pg_temp.answer(pg_temp.of_codes(times)) FROM unnest('{1,2,3,40}'::integer[]) times;
RESET statement_timeout;
-- The text of a leaf likewise.
CREATE FUNCTION pg_temp.of_text(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE number text;
BEGIN
    SELECT n::text INTO number FROM dp_query(query) AS (n bigint);
    RETURN number;
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
SELECT times, pg_temp.of_text(pg_temp.nested('SELECT count(*) FROM (%s) s', 'SELECT pid, max(n) AS n FROM (%s) s GROUP BY pid', times)) FROM unnest('{1,31,32,300}'::integer[]) times;
-- What reads no restricted view may be as deep as it likes.
CREATE FUNCTION pg_temp.plain(times integer) RETURNS text LANGUAGE sql AS $$SELECT replace(pg_temp.nested('SELECT count(*) FROM (%s) s', 'SELECT pid, max(n) AS n FROM (%s) s GROUP BY pid', times), 'nst_visit_dp', 'generate_series(1, 3) pid')$$;
SELECT pg_temp.answer(pg_temp.plain(100));

-- ---------------------------------------------------------------------------------------------------------------------
-- A query of WITH that another one reads, which is named twice
-- ---------------------------------------------------------------------------------------------------------------------

WITH w0 AS (SELECT pid, count(*) c FROM nst_visit_dp GROUP BY pid), w1 AS (SELECT pid, count(*) c FROM w0 GROUP BY pid) SELECT count(*) FROM w1 a JOIN w1 b USING (pid);
WITH w0 AS (SELECT pid, count(*) c FROM nst_visit_dp GROUP BY pid), w1 AS (SELECT pid, count(*) c FROM w0 GROUP BY pid) SELECT (SELECT count(*) FROM w1), (SELECT count(*) FROM w1);
WITH w0 AS (SELECT pid, count(*) c FROM nst_visit_dp GROUP BY pid), w1 AS (SELECT pid, count(*) c FROM w0 GROUP BY pid) SELECT (SELECT count(*) FROM w0), (SELECT count(*) FROM w1), (SELECT count(*) FROM w1 a JOIN w0 b USING (pid));
WITH w0 AS (SELECT pid, count(*) c FROM nst_visit_dp GROUP BY pid), w1 AS (SELECT pid, c FROM w0 WHERE c > 1), w2 AS (SELECT pid, max(c) c FROM w1 GROUP BY pid) SELECT count(*) FROM w2 a JOIN w2 b USING (pid) JOIN w1 c USING (pid);
WITH w1 AS (WITH w0 AS (SELECT pid, count(*) c FROM nst_visit_dp GROUP BY pid) SELECT pid, count(*) c FROM w0 GROUP BY pid) SELECT count(*) FROM w1 a JOIN w1 b USING (pid);
