-- What one extreme row adds to a statement: the dearest statements that are accepted, on a table of one row whose text is
-- as long as their limit lets it be read, and on the same table with an ordinary text. Median of 21, in ms; at most 5.
\set QUIET on
SET client_min_messages = warning;
CREATE EXTENSION dp_rdr;
CREATE ROLE extreme_analyst;
CREATE TABLE extreme (t text);
SELECT dp_protect('extreme', 'extreme_dp') \g /dev/null
SELECT dp_set_odometer('extreme', 'none'), dp_grant('extreme_dp', 'extreme_analyst', tau => 0.95) \g /dev/null
CREATE FUNCTION milliseconds(condition text, bytes integer, sample text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
    took numeric[] := '{}';
    begun timestamptz;
BEGIN
    DELETE FROM extreme;
    INSERT INTO extreme SELECT left(repeat(sample, bytes), bytes);
    SET LOCAL ROLE extreme_analyst;
    FOR i IN 1..21 LOOP
        begun := clock_timestamp();
        EXECUTE format('SELECT * FROM dp_query(%L) AS (n bigint)', 'SELECT count(*) FROM extreme_dp WHERE ' || condition);
        took := took || round(extract(epoch FROM clock_timestamp() - begun) * 1000, 2);
    END LOOP;
    RESET ROLE;
    RETURN percentile_disc(0.5) WITHIN GROUP (ORDER BY x) FROM unnest(took) x;
END $$;
SELECT what, bytes, milliseconds(condition, bytes, sample) - milliseconds(condition, 10, sample) AS added_ms
FROM (VALUES ('one comparison', 't = t || ''x''', 1000000, 'a'), ('lower', 'lower(t) = ''x''', 60000, 'a'),
    ('upper, twelve deep', repeat('upper(lower(', 6) || 't' || repeat('))', 6) || ' = ''x''', 5400, 'a'),
    ('a long pattern', 't LIKE ''%' || repeat('a_', 400) || 'b''', 740, 'a'), ('twenty patterns', 't LIKE ''%a_a_a_a_b''' || repeat(' OR t LIKE ''%a_a_a_a_b%''', 19), 3100, 'a'),
    ('order of a library', 't < t || ''x''', 3600, 'a'), ('order of ICU', 't COLLATE "und-x-icu" < t || ''x''', 3600, E'\u0316\u0301'),
    ('trim', 'btrim(t, ''' || repeat('b', 99) || 'a'') = ''x''', 3700, 'a')) v (what, condition, bytes, sample);
