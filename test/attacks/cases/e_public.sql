-- Public tables beside people with several rows: the canary is the only one in Atlantis, with texts that nobody else has.

-- C01 SHAPE
SELECT count(*) FROM visit_dp v JOIN ward_name w ON w.ward = v.ward
SELECT count(*), count(DISTINCT pid), sum(cost), avg(price) FROM visit_dp v LEFT JOIN ward_name w ON w.ward = v.ward AND w.floor > 0
SELECT count(*) FROM visit_dp v JOIN ward_name w ON w.ward = v.note
SELECT count(*) FROM letter_dp l JOIN ward_name w ON w.ward = l.author
SELECT floor, count(*) FROM visit_dp v JOIN ward_name w ON w.ward = v.ward GROUP BY floor
SELECT floor, count(*), sum(cost) FROM visit_dp v LEFT JOIN ward_name w ON w.ward = v.ward GROUP BY floor
SELECT w.ward, count(DISTINCT pid) FROM visit_dp v JOIN ward_name w ON w.ward = v.ward GROUP BY w.ward
SELECT count(*) FROM bill_dp b JOIN part_name p ON p.part = b.part
SELECT count(*) FROM visit_dp v JOIN ward_name w ON w.ward = v.ward AND v.cost / nullif(w.floor, 0) > 3
SELECT sum(least(greatest(v.cost * w.floor, -100), 100)) FROM visit_dp v JOIN ward_name w ON w.ward = v.ward
SELECT sum(w.floor), avg(w.floor), sum(v.cost * w.floor) FROM visit_dp v JOIN ward_name w ON w.ward = v.ward
SELECT min(w.floor), max(w.floor) FROM visit_dp v LEFT JOIN ward_name w ON w.ward = v.ward
SELECT w.ward, w.name, w.floor, count(*) FROM visit_dp v JOIN ward_name w ON w.ward = v.ward GROUP BY w.ward, w.name, w.floor
SELECT w.floor, w.name, sum(w.floor) FROM visit_dp v LEFT JOIN ward_name w ON w.ward = v.ward GROUP BY w.floor, w.name

-- A group of the canary alone is there in both worlds, since the table says so; nobody's text becomes one.
-- C12 NOLEAK
finder> SELECT w.name, count(*) FROM visit_dp v JOIN ward_name w ON w.ward = v.ward GROUP BY w.name
finder> SELECT w.name, v.note, count(*) FROM visit_dp v JOIN ward_name w ON w.ward = v.ward GROUP BY w.name, v.note
finder> SELECT v.ward || w.name, count(*) FROM visit_dp v JOIN ward_name w ON w.ward = v.ward GROUP BY 1

-- D14 REFUSE 0A000
SELECT count(*) FROM ward_name w LEFT JOIN visit_dp v ON w.ward = v.ward
SELECT count(*) FROM visit_dp v RIGHT JOIN ward_name w ON w.ward = v.ward
SELECT count(*) FROM visit_dp v FULL JOIN ward_name w ON w.ward = v.ward
SELECT count(*) FROM visit_dp v, letter_dp l, ward_name w WHERE w.ward = v.ward AND w.ward = l.author
SELECT count(*) FROM visit_dp v, visit_dp o, ward_name w WHERE w.ward = v.ward AND w.ward = o.ward

-- A01 REFUSE 42501|0A000
SELECT count(*) FROM bill_dp b JOIN part_name p ON p.part = b.part WHERE p.name = 'pill'
SELECT p.name, count(*) FROM bill_dp b JOIN part_name p ON p.part = b.part GROUP BY p.name
SELECT count(p.name) FROM bill_dp b LEFT JOIN part_name p ON p.part = b.part
SELECT p.part, p.name, count(*) FROM bill_dp b JOIN part_name p ON p.part = b.part GROUP BY p.part, p.name
SELECT count(*) FROM visit_dp v JOIN visit w ON w.vid = v.vid
SELECT dp_set_public('public_city', 'visit')
SELECT dp_unset_public('ward_name', 'visit')
CREATE INDEX ON ward_name (floor)
CREATE STATISTICS s ON ward, floor FROM ward_name
SELECT * FROM dp_rdr.public_table

-- What he writes is a part of his question, and it is he who pays for how it is read.
-- C12 NOLEAK
INSERT INTO ward_name SELECT 'w0', g, g FROM generate_series(1, 300) g
  SELECT count(*) FROM visit_dp v JOIN ward_name w ON w.ward = v.ward
  SELECT floor, count(*) FROM visit_dp v JOIN ward_name w ON w.ward = v.ward WHERE v.ward = 'Atlantis' GROUP BY floor
  DELETE FROM ward_name WHERE floor > 9
  SELECT count(*) FROM visit_dp v JOIN ward_name w ON w.ward = v.ward WHERE v.ward = 'Atlantis'
  INSERT INTO ward_name VALUES ('w7', 77, 'seven')
  DELETE FROM ward_name WHERE floor = 77
BEGIN
  LOCK TABLE ward_name IN ACCESS EXCLUSIVE MODE
  !SELECT count(*) FROM visit_dp v JOIN ward_name w ON w.ward = v.ward
  ROLLBACK

-- Whether somebody has a row: of the same people, linked, or of public ones. Nothing of the others decides.
-- C01 SHAPE
SELECT count(*) FROM visit_dp v, patient_dp p WHERE v.pid = p.pid
SELECT count(*) FROM visit_dp WHERE pid IN (SELECT pid FROM patient_dp)
SELECT count(*) FROM patient_dp p WHERE EXISTS (SELECT FROM visit_dp v WHERE v.pid = p.pid AND v.ward = 'Atlantis')
SELECT count(*) FROM patient_dp p WHERE EXISTS (SELECT FROM visit_dp v WHERE v.pid = p.pid) IS NOT FALSE
SELECT count(*) FROM patient_dp p WHERE p.pid = ANY (SELECT pid FROM visit_dp) IS NULL
SELECT sum(CASE WHEN EXISTS (SELECT FROM visit_dp v WHERE v.pid = p.pid) THEN 1 ELSE 0 END) FROM patient_dp p
SELECT EXISTS (SELECT FROM visit_dp v WHERE v.pid = p.pid AND v.ward = 'Atlantis'), count(*) FROM patient_dp p GROUP BY 1
SELECT count(*) FROM patient_dp p WHERE EXISTS (SELECT FROM visit_dp v JOIN bill_dp b ON b.vid = v.vid WHERE v.pid = p.pid AND v.ward = 'Atlantis')
SELECT count(*) FROM patient_dp p WHERE NOT EXISTS (SELECT FROM visit_dp v WHERE v.pid = p.pid AND v.cost * v.cost > 100)
SELECT count(*), sum(age) FROM patient_dp p WHERE EXISTS (SELECT FROM visit_dp v WHERE v.pid = p.pid AND length(v.note) < 100)
SELECT ward, count(*) FROM visit_dp v WHERE EXISTS (SELECT FROM bill_dp b WHERE b.vid = v.vid AND b.cost > v.cost) GROUP BY ward
SELECT count(*) FROM letter_dp l WHERE EXISTS (SELECT FROM letter_dp o WHERE o.author = l.author AND o.subject <> l.subject)
SELECT count(*) FROM letter_dp l WHERE NOT EXISTS (SELECT FROM ward_name w WHERE w.ward = l.author)
SELECT count(*) FROM visit_dp v WHERE v.ward IN (SELECT ward FROM ward_name WHERE floor < 0)
SELECT count(*) FROM visit_dp v WHERE v.ward NOT IN (SELECT ward FROM ward_name)
SELECT count(*) FROM visit_dp v WHERE v.ward NOT IN (SELECT ward FROM ward_name WHERE ward IS NOT NULL)
SELECT count(*) FROM visit_dp v WHERE v.note NOT IN (SELECT part FROM part_name)

-- C12 NOLEAK
finder> SELECT note, count(*) FROM visit_dp v WHERE EXISTS (SELECT FROM patient_dp p WHERE p.pid = v.pid AND p.age > 80) GROUP BY note
finder> SELECT v.ward || '', count(*) FROM visit_dp v WHERE NOT EXISTS (SELECT FROM ward_name w WHERE w.ward = v.ward AND w.floor >= 0) GROUP BY 1

-- D14 REFUSE 0A000
SELECT count(*) FROM patient_dp p WHERE EXISTS (SELECT FROM visit_dp v WHERE v.ward = 'Atlantis')
SELECT count(*) FROM patient_dp p WHERE EXISTS (SELECT FROM visit_dp v WHERE v.vid = p.pid)
SELECT count(*) FROM patient_dp p WHERE EXISTS (SELECT FROM visit_dp v WHERE v.pid = p.pid + 0)
SELECT count(*) FROM patient_dp p WHERE EXISTS (SELECT FROM visit_dp v WHERE v.pid <> p.pid)
SELECT count(*) FROM patient_dp p WHERE p.age > (SELECT max(cost) FROM visit_dp v WHERE v.pid = p.pid)

-- D14 CHARGED 1
SELECT count(*) FROM visit_dp v, ward_name w
SELECT count(*) FROM visit_dp v, ward_name w WHERE v.ward > w.ward

-- A01 CHARGED 1
SELECT count(*) FROM visit_dp v JOIN pg_class c ON c.relname = v.ward
SELECT count(*) FROM visit_dp v LEFT JOIN dp_rdr.ledger l ON l.relation = v.ward
