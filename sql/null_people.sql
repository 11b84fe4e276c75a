-- NOT IN, and IN as a value, where a key besides the person may be NULL; and keys of a step that hold the person.
\set VERBOSITY terse
SET ROLE regress_controller;
CREATE TABLE np_person (pid integer PRIMARY KEY, sex text NOT NULL);
CREATE TABLE np_visit (pid integer NOT NULL REFERENCES np_person, vno integer NOT NULL, k integer, n integer NOT NULL, PRIMARY KEY (pid, vno));
CREATE TABLE np_lab (id integer PRIMARY KEY, pid integer NOT NULL, vno integer NOT NULL, FOREIGN KEY (pid, vno) REFERENCES np_visit);
INSERT INTO np_person SELECT i, CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END FROM generate_series(1, 300) i;
INSERT INTO np_visit SELECT i, j, NULLIF((i + j) % 3, 0), j FROM generate_series(1, 300) i, generate_series(1, 3) j;
INSERT INTO np_lab SELECT 10 * i + j, i, j FROM generate_series(1, 300) i, generate_series(1, 3) j;
SELECT dp_protect('np_person', 'np_person_dp', unit => 'pid', max_rows => 1);
SELECT dp_protect('np_visit', 'np_visit_dp', unit => 'pid -> np_person(pid)', max_rows => 4), dp_protect('np_lab', 'np_lab_dp', unit => 'pid,vno -> np_visit(pid,vno)', max_rows => 4);
SELECT dp_set_odometer('np_person', 'none', delta_total => 0.9), dp_set_bounds('np_visit', 'n', 1, 3);
SELECT dp_grant(v, 'regress_analyst', tau => 0, epsilon_max => 100, candidates => '{100}', delta => 1e-6) FROM unnest('{np_person_dp,np_visit_dp,np_lab_dp}'::text[]) v;
SET ROLE regress_analyst;
SET client_min_messages = error;
-- A row whose k is NULL is in neither.
SELECT count(*) FROM np_visit_dp v WHERE (v.pid, v.k) NOT IN (SELECT pid, k FROM np_visit_dp WHERE k IS NOT NULL GROUP BY pid, k);
-- NOT NULL in its table, and not behind an outer join.
SELECT count(*) FROM np_visit_dp v WHERE (v.pid, v.n) NOT IN (SELECT p.pid, x.n FROM np_person_dp p LEFT JOIN np_visit_dp x ON x.pid = p.pid AND x.k = 2 GROUP BY p.pid, x.n);
-- NOT NULL in one part, and not in the other.
SELECT count(*) FROM np_visit_dp v WHERE (v.pid, v.n) NOT IN (SELECT pid, n FROM (SELECT pid, n FROM np_visit_dp WHERE k = 2 UNION ALL SELECT pid, k FROM np_visit_dp) z GROUP BY pid, n);
-- Where nothing is NULL it is answered: each person has one visit with k = 2.
SELECT abs(count(*) - 600) < 10 AS near FROM np_visit_dp v WHERE (v.pid, v.n) NOT IN (SELECT pid, n FROM np_visit_dp WHERE k = 2 GROUP BY pid, n);
-- A column of a step that is the person's.
SELECT avg(n) FROM (SELECT pid, count(*) AS n FROM np_lab_dp GROUP BY pid) t;
SELECT count(*) FROM np_person_dp WHERE pid IN (SELECT pid FROM np_lab_dp GROUP BY pid HAVING count(*) > 2);
SELECT abs(avg(n) - 3) < 0.5 AS near FROM (SELECT v.pid, count(*) AS n FROM np_lab_dp l JOIN np_visit_dp v ON v.pid = l.pid AND v.vno = l.vno GROUP BY v.pid) t;
RESET client_min_messages;
SET ROLE regress_controller;
SELECT dp_unprotect(v) FROM unnest('{np_lab_dp,np_visit_dp,np_person_dp}'::text[]) v;
DROP TABLE np_lab, np_visit, np_person;
RESET ROLE;
