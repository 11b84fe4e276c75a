-- The report is the owner's: nobody else gets one, or learns from its refusal what depends on a row.

-- A28 REFUSE 42501
SELECT dp_report('person')
SELECT dp_report('person_dp')
SELECT dp_report('person', 'SELECT count(*) FROM person_dp WHERE id = 4242')
SELECT dp_report('person', 'SELECT sum(salary) FROM person_dp WHERE id = 4242', records => 1)
SELECT dp_report('person_few', 'SELECT id, count(*) FROM person_few GROUP BY id')
SELECT dp_report('person', request => 1)
SELECT dp_report('person', request => dp_request('SELECT count(*) FROM person_dp WHERE id = 4242', 'x'))
SELECT dp_report('person_dp', request => 9223372036854775807)
colleague> SELECT dp_report('person', 'SELECT count(*) FROM person_dp WHERE id = 4242')
stranger> SELECT dp_report('person')

-- A28 REFUSE 42501
SELECT dp_report(c.oid::regclass) FROM pg_class c WHERE relname = 'person'
SELECT dp_report('person', 'SELECT 1/0')
