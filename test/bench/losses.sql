-- Times dp_loss: a thousand charges of as many questions, on eight sets of columns. Target on one processor: 0.5 s over 32,561 rows, 10 s over a
-- million, with work_mem of 4 MB. The rows come behind the questions: answers take no time, and what people bear is the same.
\set QUIET on
SET client_min_messages = error;
CREATE EXTENSION dp_rdr;
CREATE ROLE loss_analyst;
CREATE TABLE big (id bigint, age integer, hours integer, zip integer, ward integer, cost integer, kids integer, edu integer);
SELECT dp_protect('big', 'big_dp'), dp_set_bounds('big', 'cost', 0, 10000), dp_set_bounds('big', 'age', 0, 100),
       dp_set_odometer('big', epsilon_total => 1000) \g /dev/null
SELECT dp_grant('big_dp', 'loss_analyst', tau => 0.95) \g /dev/null
SET ROLE loss_analyst;
DO $$
DECLARE
    questions text[] := ARRAY['count(*) FROM big_dp WHERE age > %s', 'count(*) FROM big_dp WHERE age > %s AND hours < 40', 'sum(cost) FROM big_dp WHERE age < %s',
                              'avg(cost) FROM big_dp WHERE ward = %s', 'count(*) FROM big_dp WHERE zip = %s', 'count(*) FROM big_dp WHERE kids < %s AND ward > 10',
                              'avg(age) FROM big_dp WHERE edu <> %s', 'count(*) FILTER (WHERE hours > %s) FROM big_dp'];
BEGIN
    FOR i IN 0..999 LOOP EXECUTE 'SELECT ' || format(questions[1 + i % 8], i / 8); END LOOP;
END $$;
RESET ROLE;
CREATE FUNCTION seconds_of_losses(n bigint) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
    begun timestamptz;
BEGIN
    DELETE FROM big;
    INSERT INTO big SELECT i, i * 7919 % 100, i * 31 % 99, i * 104729 % 5000, i % 40, i * 7907 % 10000, i % 6, i * 3 % 17 FROM generate_series(1, n) i;
    begun := clock_timestamp();
    PERFORM dp_loss('big');
    RETURN round(extract(epoch FROM clock_timestamp() - begun)::numeric, 2);
END $$;
\set QUIET off
SELECT n AS rows, seconds_of_losses(n) AS seconds, target FROM (VALUES (32561, 0.5), (1000000, 10)) v (n, target);
