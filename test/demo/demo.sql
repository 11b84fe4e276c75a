-- A tour of dp_rdr, run by "make demo". The statements are shown as they are executed; \echo lines tell why.

-- The stage, not shown: a database, two roles that log in with the password of the throwaway server, and the data.
\getenv password PGPASSWORD
CREATE ROLE controller LOGIN PASSWORD :'password';
CREATE ROLE analyst LOGIN PASSWORD :'password';
CREATE DATABASE demo OWNER controller;
ALTER DATABASE demo SET extra_float_digits = -11;
\c demo controller
\set data test/data
\i test/data/adult.sql
\c - postgres
\pset format wrapped
\pset columns 100
\pset footer off
\pset null '-'
\set ECHO queries

\echo
\echo '----------------------------------------------------------------------------------------------------'
\echo ' 1. Protect a table'
\echo '----------------------------------------------------------------------------------------------------'
\echo
\echo '-- A superuser installs the extension, once for each database.'
CREATE EXTENSION dp_rdr;
\echo
\echo '-- If every session has the library, analysts write ordinary SQL; otherwise they call dp_query().'
ALTER DATABASE demo SET session_preload_libraries = 'dp_rdr';

\c - controller
\echo
\echo '-- From here on the data controller: an ordinary role that owns the table of 32,561 people.'
SELECT age, education, marital_status, hours_per_week, capital_gain, income FROM adult LIMIT 3;

\echo '-- The restricted view has the columns of the table and no path to its rows.'
SELECT dp_protect('adult', 'adult_dp');

\echo '-- Sums and averages need bounds, and groups need names, that are public: chosen without the data.'
\t on
SELECT dp_set_bounds('adult', 'hours_per_week', 1, 99);
SELECT dp_set_bounds('adult', 'capital_gain', 0, 99999);
SELECT dp_set_groups('adult', 'marital_status',
    '{Divorced, Married-AF-spouse, Married-civ-spouse, Married-spouse-absent, Never-married,
      Separated, Widowed}');
\t off

\echo '-- For analysts the preference is a fixed price that no row moves: at tau = 0.95, 0.05 for a count.'
\t on
SELECT dp_grant('adult_dp', 'analyst', tau => 0.95);
\t off

\echo
\echo '----------------------------------------------------------------------------------------------------'
\echo ' 2. Look at the risk'
\echo '----------------------------------------------------------------------------------------------------'
\echo
\echo '-- How unequal are the disclosure risks of the people behind one count? Each bar runs from the'
\echo '-- smallest to the largest relative disclosure risk (RDR), ratio is the one by the other. The smaller'
\echo '-- epsilon, the more equal the risks, and the wider the noise. Looking costs the controller nothing.'
SELECT * FROM dp_risk_summary(
    $$SELECT count(*) FROM adult_dp WHERE income = '>50K' AND education_num = 13 AND age = 25$$)
WHERE epsilon IN (10, 1, 0.3, 0.1, 0.05, 0.01);

\echo '-- The same in numbers.'
SELECT epsilon, rdr_min, rdr_max, ratio, noise_stddev, error95
FROM dp_risk(
    $$SELECT count(*) FROM adult_dp WHERE income = '>50K' AND education_num = 13 AND age = 25$$,
    epsilons => '{10, 1, 0.3, 0.1, 0.05, 0.01}');

\echo '-- Who bears it, at epsilon = 1? One line for each distinct combination of the columns in question;'
\echo '-- the last one stands for everybody whom the condition leaves out.'
SELECT * FROM dp_risk_records(
    $$SELECT count(*) FROM adult_dp WHERE income = '>50K' AND education_num = 13 AND age = 25$$,
    epsilon => 1);

\echo '-- The largest epsilon that keeps the ratio at 0.95 or above, with the noisy answer. Both are the'
\echo '-- controller''s: epsilon was chosen from the data. The charge goes to an account of its own.'
CALL dp_find_epsilon(
    $$SELECT count(*) FROM adult_dp WHERE native_country <> 'United-States' AND sex = 'Female'$$,
    tau => 0.95);

\echo '-- A number that no analyst may ask for: what would publishing the median mean?'
SELECT epsilon, rdr_min, rdr_max, ratio, noise_stddev
FROM dp_risk($$SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY hours_per_week) FROM adult_dp$$,
    epsilons => '{10, 1, 0.1}');

\echo
\echo '----------------------------------------------------------------------------------------------------'
\echo ' 3. The analyst asks'
\echo '----------------------------------------------------------------------------------------------------'
\c - analyst
\echo
\echo '-- A count, as the argument of a function: this works in every session. Each execution is charged,'
\echo '-- and draws new noise.'
SELECT * FROM dp_query($$
    SELECT count(*) FROM adult_dp WHERE income = '>50K' AND education_num = 13$$) AS (n bigint);

\echo '-- Ordinary SQL. Groups: all that were declared, also empty ones, for the price of one count.'
SELECT marital_status, count(*) AS n
FROM adult_dp WHERE age BETWEEN 30 AND 40 GROUP BY marital_status ORDER BY n DESC;

\echo '-- Averages and sums, within the declared bounds. What is done with an answer is free.'
SELECT round(avg(hours_per_week), 1) AS hours
FROM adult_dp WHERE workclass IN ('Federal-gov', 'Local-gov', 'State-gov');
SELECT sum(capital_gain) AS gain, sum(capital_gain) / 1000 AS thousands FROM adult_dp;

\echo
\echo '----------------------------------------------------------------------------------------------------'
\echo ' 4. What the analyst cannot do'
\echo '----------------------------------------------------------------------------------------------------'
\set ON_ERROR_STOP off
\echo
\echo '-- Read a row, through the view, the table, or the back of an aggregate.'
SELECT * FROM adult_dp LIMIT 1;
\echo
SELECT * FROM adult LIMIT 1;
\echo
SELECT max(age) FROM adult_dp;

\echo
\echo '-- Look at the risk or the ledger.'
SELECT * FROM dp_risk('SELECT count(*) FROM adult_dp');
\echo
SELECT * FROM dp_odometer('adult');
\echo
SELECT * FROM dp_rdr.ledger;

\echo
\echo '-- Take the answer and give the charge back.'
\set ON_ERROR_STOP on
BEGIN;
SELECT count(*) FROM adult_dp WHERE age > 60;
ROLLBACK;

\echo
\echo '----------------------------------------------------------------------------------------------------'
\echo ' 5. The accounts'
\echo '----------------------------------------------------------------------------------------------------'
\c - controller
\echo
\echo '-- Every charge is in the ledger, also the one that was rolled back.'
SELECT id, role_name, account, algorithm, epsilon,
    left(query, 32) AS query
FROM dp_rdr.ledger ORDER BY id;

\echo '-- The total so far, and the bound on it.'
SELECT account, epsilon, releases, denials, bound, epsilon_total FROM dp_odometer('adult');

\echo '-- With the total lowered to what is nearly spent, the next answer is one too many.'
\t on
SELECT dp_set_odometer('adult', epsilon_total => 0.35);
\t off
\c - analyst
\set ON_ERROR_STOP off
SELECT count(*) FROM adult_dp;
SELECT count(*) FROM adult_dp;
\set ON_ERROR_STOP on

\c - controller
\echo
\echo '-- Another preference, another bound: tau_var, the largest variance of the risks. Which epsilon meets'
\echo '-- it is selected from the rows under differential privacy, for a charge of its own (0.1).'
\t on
SELECT dp_set_odometer('adult', epsilon_total => 2);
SELECT dp_grant('adult_dp', 'analyst', tau_var => 1e-5);
\t off
\c - analyst
SELECT count(*) FROM adult_dp WHERE native_country <> 'United-States' AND sex = 'Female';
\echo '-- What it was charged may be known, and so how accurate it is.'
SELECT column_name, epsilon, epsilon_svt, mechanism, error95 FROM dp_last_release();

\c - controller
\echo
\echo '-- The rows of the ledger are chained by hashes; this checks the chain, and the totals against it.'
SELECT dp_verify_ledger('adult');
