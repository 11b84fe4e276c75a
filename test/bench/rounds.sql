-- How many counts within 10 percent a total of 1 pays for at tau 0.95, and what a round takes beside a plain count. Means of runs;
-- wanted: 60 of 1,000 and 180 of 3,000 under filter, 350 and 3,200 under zcdp (delta_total = delta_conversion = 1e-6). 50 runs, or as
-- many as -v runs=N says; a fifth of them where each has thousands of answers, which differ little from run to run.

\if :{?runs}
\else
\set runs 50
\endif
SET client_min_messages = error;
CREATE EXTENSION dp_rdr;
CREATE ROLE bench_analyst;
CREATE TABLE bench AS SELECT i FROM generate_series(1, 3000) i;
SELECT dp_protect('bench', 'bench_dp') \g /dev/null
SELECT dp_grant('bench_dp', 'bench_analyst', tau => 0.95) \g /dev/null
CREATE TABLE result (bound text, size int, answers int);
-- Each answer in a transaction of its own: in one alone, nothing that charges leave behind could be removed.
CREATE PROCEDURE ask(query text, INOUT answers int) LANGUAGE plpgsql AS $$
DECLARE
    reached boolean;
BEGIN
    answers := 0;
    LOOP
        BEGIN
            PERFORM * FROM dp_query(query, within => 0.1) AS (n bigint);
            SELECT l.reached INTO reached FROM dp_last_release() l;
        EXCEPTION WHEN configuration_limit_exceeded THEN
            reached := false;
        END;
        COMMIT;
        EXIT WHEN NOT reached;
        answers := answers + 1;
    END LOOP;
END $$;
CREATE PROCEDURE run(bound text, size int, times int) LANGUAGE plpgsql AS $$
DECLARE
    answers int;
BEGIN
    FOR i IN 1 .. times LOOP
        IF bound = 'filter' THEN
            PERFORM dp_set_odometer('bench', 'filter', epsilon_total => o.epsilon + 1) FROM dp_odometer('bench') o WHERE account = 'public';
        ELSE
            PERFORM dp_set_odometer('bench', 'filter', delta_total => 1e-6);
            PERFORM dp_set_odometer('bench', 'zcdp', epsilon_total => 1, delta_total => 1e-6, delta_conversion => 1e-6);
        END IF;
        COMMIT;
        SET ROLE bench_analyst;
        CALL ask('SELECT count(*) FROM bench_dp WHERE i <= ' || size, answers);
        RESET ROLE;
        INSERT INTO result VALUES (bound, size, answers);
        COMMIT;
    END LOOP;
END $$;
CALL run('filter', 1000, :runs);
CALL run('filter', 3000, :runs);
CALL run('zcdp', 1000, :runs);
CALL run('zcdp', 3000, (:runs + 4) / 5);
SELECT bound, size, round(avg(answers), 1) AS answers, round(stddev_samp(answers) / sqrt(count(*)::numeric), 1) AS "standard error", min(answers), max(answers),
    count(*) AS runs
FROM result GROUP BY 1, 2 ORDER BY 1, 2;

-- Milliseconds of one answer, the fastest of 100: a plain count, with one charge; rounds, with their charges.
SELECT dp_set_odometer('bench', 'none') \g /dev/null
CREATE TABLE speed (kind text, charges int, took float8);
GRANT INSERT ON speed TO bench_analyst;
CREATE FUNCTION measure(kind text, query text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    since timestamptz;
BEGIN
    FOR i IN 1 .. 100 LOOP
        since := clock_timestamp();
        EXECUTE query;
        INSERT INTO speed SELECT kind, steps, 1000 * extract(epoch FROM clock_timestamp() - since) FROM dp_last_release();
    END LOOP;
END $$;
SET ROLE bench_analyst;
SELECT measure('plain', $$SELECT * FROM dp_query('SELECT count(*) FROM bench_dp') AS (n bigint)$$) \g /dev/null
SELECT measure('within', $$SELECT * FROM dp_query('SELECT count(*) FROM bench_dp', within => 0.1) AS (n bigint)$$) \g /dev/null
SELECT measure('error95', $$SELECT * FROM dp_query('SELECT count(*) FROM bench_dp', error95 => 100) AS (n bigint)$$) \g /dev/null
RESET ROLE;
SELECT kind, charges, count(*) AS answers, round(min(took)::numeric, 2) AS fastest, round(percentile_cont(0.5) WITHIN GROUP (ORDER BY took)::numeric, 2) AS median
FROM speed GROUP BY 1, 2 ORDER BY 1 DESC, 2;
