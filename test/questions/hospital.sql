-- What people ask of the hospital. Each question is followed by the statement; where the same text in plain SQL is not what is meant,
-- "reference" and another statement follow.

-- h01 ward manager: How many patients do we have?
SELECT count(*) FROM patients;

-- h02 ward manager: How many visits were there each month?
SELECT date_trunc('month', admitted) AS month, count(*) AS visits FROM visits GROUP BY 1 ORDER BY 1;

-- h03 controlling: What did each kind of admission cost in all, and on average?
SELECT reason, sum(cost) AS total, round(avg(cost), 2) AS mean FROM visits GROUP BY reason ORDER BY total DESC;

-- h04 controlling: How many different people came in the first quarter?
SELECT count(DISTINCT patient_id) FROM visits WHERE admitted >= '2025-01-01' AND admitted < '2025-04-01';

-- h05 epidemiologist: How old are our patients, by decade and sex?
SELECT sex, extract(year FROM age(date '2025-07-01', born))::int / 10 * 10 AS decade, count(*) FROM patients GROUP BY 1, 2 ORDER BY 1, 2;

-- h06 epidemiologist: What share of the patients has had an emergency admission?
SELECT round(100.0 * count(DISTINCT patient_id) FILTER (WHERE reason = 'emergency') / count(DISTINCT patient_id), 1) AS percent FROM visits;

-- h07 bed planner: How long do people stay, by ward name?
SELECT w.name, avg(extract(epoch FROM v.discharged - v.admitted) / 86400) AS days
FROM visits v JOIN wards w ON w.ward_id = v.ward_id
GROUP BY w.name ORDER BY w.name;

-- h08 bed planner: How many are still in, by ward?
SELECT ward_id, count(*) FROM visits WHERE discharged IS NULL GROUP BY ward_id ORDER BY ward_id;

-- h09 quality: Which are the five most frequent main diagnoses?
SELECT icd, count(*) AS n FROM diagnoses WHERE main GROUP BY icd ORDER BY n DESC LIMIT 5;

-- h10 quality: The same with their titles.
SELECT c.title, count(*) AS n FROM diagnoses d JOIN icd_codes c USING (icd) WHERE d.main GROUP BY c.title ORDER BY n DESC LIMIT 5;

-- h11 quality: How many visits per chapter of the ICD, and of how many people?
SELECT c.chapter, count(*) AS diagnoses, count(DISTINCT v.patient_id) AS people
FROM diagnoses d JOIN visits v ON v.visit_id = d.visit_id JOIN icd_codes c ON c.icd = d.icd
GROUP BY c.chapter ORDER BY c.chapter;

-- h12 diabetologist: What does a visit with diabetes cost on average, compared with the others?
SELECT EXISTS (SELECT FROM diagnoses d WHERE d.visit_id = v.visit_id AND d.icd = 'E11') AS diabetic, avg(cost) AS mean, count(*) AS visits
FROM visits v GROUP BY 1;

-- h13 diabetologist: How many visits have a diagnosis of diabetes?
SELECT count(*) FROM visits v WHERE EXISTS (SELECT 1 FROM diagnoses d WHERE d.visit_id = v.visit_id AND d.icd = 'E11');

-- h14 diabetologist: How many patients get insulin, and how many of these metformin as well?
SELECT count(*) AS insulin, count(*) FILTER (WHERE metformin) AS both
FROM (SELECT patient_id, bool_or(drug = 'metformin') AS metformin FROM prescriptions GROUP BY patient_id HAVING bool_or(drug = 'insulin')) p;

-- h15 pharmacist: How many packs of each class of drugs, by quarter?
SELECT d.class, date_trunc('quarter', p.day) AS quarter, count(*) FROM prescriptions p JOIN drugs d ON d.drug = p.drug GROUP BY 1, 2 ORDER BY 1, 2;

-- h16 pharmacist: What do our prescriptions cost?
SELECT sum(p.days * p.dose * d.price) AS cost FROM prescriptions p JOIN drugs d USING (drug);

-- h17 pharmacist: What share of the prescriptions is of drugs that are not on our list?
SELECT avg(CASE WHEN drug NOT IN (SELECT drug FROM drugs) THEN 1.0 ELSE 0.0 END) AS share FROM prescriptions;

-- h18 laboratory: What share of each test is out of range?
SELECT t.name, count(*) FILTER (WHERE l.value NOT BETWEEN t.low AND t.high) * 100.0 / count(l.value) AS percent
FROM labs l JOIN lab_tests t ON t.test = l.test GROUP BY t.name ORDER BY t.name;

-- h19 laboratory: Mean, deviation and number of values of each test
SELECT test, avg(value) AS mean, stddev(value) AS deviation, count(value) AS n, count(*) - count(value) AS missing FROM labs GROUP BY test ORDER BY test;

-- h20 laboratory: The median of glucose
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY value) AS median FROM labs WHERE test = 'GLU';

-- h21 laboratory: Glucose by sex
SELECT p.sex, avg(l.value) AS glucose
FROM labs l JOIN visits v ON v.visit_id = l.visit_id JOIN patients p ON p.patient_id = v.patient_id
WHERE l.test = 'GLU' GROUP BY p.sex;

-- h22 general practice liaison: How many visits does a patient have, on average, those without any included?
SELECT count(v.visit_id)::numeric / count(DISTINCT p.patient_id) AS visits FROM patients p LEFT JOIN visits v ON v.patient_id = p.patient_id;

-- h23 general practice liaison: How many patients have never come?
SELECT count(*) FROM patients p WHERE NOT EXISTS (SELECT FROM visits v WHERE v.patient_id = p.patient_id);

-- h24 general practice liaison: How many patients have 0, 1, 2, ... visits?
SELECT visits, count(*) AS patients
FROM (SELECT p.patient_id, count(v.visit_id) AS visits FROM patients p LEFT JOIN visits v USING (patient_id) GROUP BY p.patient_id) t
GROUP BY visits ORDER BY visits;

-- h25 readmission nurse: How many visits are readmissions within 30 days of a discharge?
SELECT count(*) FROM visits v
WHERE EXISTS (SELECT FROM visits b WHERE b.patient_id = v.patient_id AND b.discharged <= v.admitted AND v.admitted < b.discharged + interval '30 days');

-- h26 readmission nurse: How many days lie between two visits of one person?
SELECT avg(gap) AS days
FROM (SELECT extract(epoch FROM admitted - lag(admitted) OVER (PARTITION BY patient_id ORDER BY admitted)) / 86400 AS gap FROM visits) g;

-- h27 insurer liaison: How many patients and how much cost, by kind of insurer?
SELECT i.kind, count(DISTINCT p.patient_id) AS patients, sum(v.cost) AS cost
FROM patients p JOIN visits v ON v.patient_id = p.patient_id JOIN insurers i ON i.insurer_id = p.insurer_id
GROUP BY i.kind ORDER BY i.kind;

-- h28 insurer liaison: Who is in which band of cost a year?
SELECT CASE WHEN cost < 2000 THEN 'a: below 2000' WHEN cost < 10000 THEN 'b: below 10000' ELSE 'c: more' END AS band, count(*) AS patients
FROM (SELECT patient_id, sum(cost) AS cost FROM visits GROUP BY patient_id) t GROUP BY 1 ORDER BY 1;

-- h29 controlling: What is the dearest visit, and the cheapest?
SELECT max(cost) AS dearest, min(cost) AS cheapest FROM visits;

-- h30 controlling: Quartiles of the cost by reason
SELECT reason, percentile_disc(ARRAY[0.25, 0.5, 0.75]) WITHIN GROUP (ORDER BY cost) AS quartiles FROM visits GROUP BY reason ORDER BY reason;

-- h31 medical director: How many doctors have seen more than 50 visits?
SELECT count(*) FROM (SELECT doctor_id FROM visits GROUP BY doctor_id HAVING count(*) > 50) d;

-- h32 medical director: Visits by specialty of the doctor, and what is not assigned to anybody on the list
SELECT coalesce(d.specialty, 'nobody') AS specialty, count(*) FROM visits v LEFT JOIN doctors d ON d.doctor_id = v.doctor_id GROUP BY 1 ORDER BY 1;

-- h33 medical director: Admissions by weekday and by part of the day
SELECT extract(isodow FROM admitted) AS weekday, CASE WHEN extract(hour FROM admitted) BETWEEN 7 AND 18 THEN 'day' ELSE 'night' END AS part, count(*)
FROM visits GROUP BY 1, 2 ORDER BY 1, 2;

-- h34 medical director: Visits by ward and reason, with totals
SELECT ward_id, reason, count(*) FROM visits GROUP BY ROLLUP (ward_id, reason) ORDER BY 1, 2;
