-- What to write where a question is refused as it was asked: the same numbers, in other words. The names are those of the questions.

-- h07
SELECT name, days
FROM (SELECT ward_id, avg(least(greatest(extract(epoch FROM discharged - admitted) / 86400, 0), 30)) AS days
      FROM visits WHERE discharged IS NOT NULL GROUP BY ward_id) v JOIN wards USING (ward_id)
ORDER BY name;

-- h10
SELECT title, n FROM (SELECT icd, count(*) AS n FROM diagnoses WHERE main GROUP BY icd) d JOIN icd_codes USING (icd) ORDER BY n DESC LIMIT 5;

-- h15
SELECT class, quarter, sum(n) AS count
FROM (SELECT drug, date_trunc('quarter', day) AS quarter, count(*) AS n FROM prescriptions GROUP BY 1, 2) p JOIN drugs USING (drug)
GROUP BY 1, 2 ORDER BY 1, 2;

-- h16
SELECT sum(doses * price) AS cost FROM (SELECT drug, sum(days * dose) AS doses FROM prescriptions GROUP BY drug) p JOIN drugs USING (drug);

-- h17
SELECT avg(CASE WHEN drug NOT IN ('metformin', 'insulin', 'ramipril', 'bisoprolol', 'ibuprofen', 'morphine', 'amoxicillin', 'sertraline') THEN 1.0 ELSE 0.0 END) AS share
FROM prescriptions;

-- h18
SELECT t.name, avg(CASE WHEN l.value NOT BETWEEN t.low AND t.high THEN 100.0 WHEN l.value IS NOT NULL THEN 0 END) AS percent
FROM labs l JOIN lab_tests t ON t.test = l.test GROUP BY t.name ORDER BY t.name;

-- s11
SELECT channel, round((100 * avg(CASE WHEN status = 'returned' THEN 1.0 ELSE 0 END))::numeric, 1) AS percent
FROM orders WHERE status IN ('delivered', 'returned') GROUP BY channel ORDER BY channel;

-- h20
SELECT min(at) AS median
FROM (SELECT at, sum(n) OVER (ORDER BY at) >= sum(n) OVER () / 2 AS half
      FROM (SELECT floor(value / 5) * 5 AS at, count(*) AS n FROM labs WHERE test = 'GLU' GROUP BY 1) h) s
WHERE half;

-- h22
SELECT visits::numeric / patients AS visits FROM (SELECT count(*) AS visits FROM visits WHERE patient_id < 90000) v, (SELECT count(*) AS patients FROM patients) p;

-- h23
SELECT p.n - v.n AS never FROM (SELECT count(*) AS n FROM patients) p, (SELECT count(DISTINCT patient_id) AS n FROM visits WHERE patient_id < 90000) v;

-- h30
SELECT reason, ARRAY[min(at) FILTER (WHERE part >= 0.25), min(at) FILTER (WHERE part >= 0.5), min(at) FILTER (WHERE part >= 0.75)] AS quartiles
FROM (SELECT reason, at, sum(n) OVER (PARTITION BY reason ORDER BY at) / sum(n) OVER (PARTITION BY reason) AS part
      FROM (SELECT reason, floor(cost / 250) * 250 AS at, count(*) AS n FROM visits WHERE cost IS NOT NULL GROUP BY 1, 2) h) s
GROUP BY reason ORDER BY reason;

-- h32
SELECT coalesce(specialty, 'nobody') AS specialty, sum(n) AS count
FROM (SELECT doctor_id, count(*) AS n FROM visits GROUP BY doctor_id) v LEFT JOIN doctors USING (doctor_id) GROUP BY 1 ORDER BY 1;

-- s05
SELECT c.name, sum(i.turnover) AS turnover
FROM (SELECT product_id, sum(quantity * price) AS turnover FROM items GROUP BY product_id) i
JOIN products p USING (product_id) JOIN categories c USING (category_id) GROUP BY c.name ORDER BY turnover DESC;

-- s07
SELECT sum(i.quantity * i.price) / count(DISTINCT o.order_id) AS avg FROM orders o JOIN items i USING (order_id);

-- s09
SELECT name, sold FROM (SELECT product_id, sum(quantity) AS sold FROM items GROUP BY product_id) i JOIN products USING (product_id) ORDER BY sold DESC LIMIT 7;

-- s12
SELECT avg(least(greatest(delivered_at - ordered_at, interval '0'), interval '30 days')) AS mean FROM orders WHERE delivered_at IS NOT NULL;

-- s13
SELECT channel, avg(days) AS mean, stddev_samp(days) AS deviation
FROM (SELECT channel, least(greatest(extract(day FROM delivered_at - ordered_at), 0), 30) AS days FROM orders WHERE delivered_at IS NOT NULL) o
GROUP BY channel ORDER BY channel;

-- s14
SELECT min(days) AS days
FROM (SELECT days, sum(n) OVER (ORDER BY days) >= 0.9 * sum(n) OVER () AS reached
      FROM (SELECT extract(day FROM delivered_at - ordered_at) AS days, count(*) AS n FROM orders WHERE delivered_at IS NOT NULL GROUP BY 1) h) s
WHERE reached;

-- s16
SELECT name, round(mean, 2) AS mean, reviews
FROM (SELECT product_id, avg(stars) AS mean, count(*) AS reviews FROM reviews GROUP BY product_id HAVING count(*) >= 200) r JOIN products USING (product_id)
ORDER BY mean DESC LIMIT 2;

-- s33
SELECT count(*) AS sold, (SELECT count(*) FROM products) - count(*) AS never
FROM (SELECT product_id FROM items WHERE product_id BETWEEN 1 AND 30 GROUP BY product_id HAVING count(*) > 5) i;

-- e05
SELECT max(n) FILTER (WHERE name = 'signup') AS signup, max(n) FILTER (WHERE name = 'trial') AS trial, max(n) FILTER (WHERE name = 'purchase') AS purchase
FROM (SELECT name, count(DISTINCT user_id) AS n FROM events GROUP BY name) e;

-- e14
SELECT CASE WHEN name IN ('signup', 'trial', 'purchase') THEN 'growth' WHEN name IN ('search', 'export') THEN 'product' WHEN name = 'view' THEN 'site' ELSE 'quality' END AS area,
       count(*) AS events, count(DISTINCT user_id) AS users
FROM events GROUP BY 1 ORDER BY events DESC;

-- e16
SELECT payload ->> 'page' AS page, avg(least(greatest((payload ->> 'ms')::int, 0), 3000)) AS ms FROM events WHERE name = 'view' GROUP BY 1 ORDER BY 1;

-- e22
SELECT device, avg(least(greatest(ended - started, interval '0'), interval '90 minutes')) AS mean
FROM sessions WHERE ended IS NOT NULL GROUP BY device ORDER BY device;

-- e23
SELECT device, count(*) AS sessions, avg(CASE WHEN ended IS NOT NULL THEN least(greatest(extract(epoch FROM ended - started), 0), 5400) END) / 60 AS minutes
FROM sessions GROUP BY device ORDER BY device;

-- e26
SELECT campaign, sessions, cost / nullif(sessions, 0) AS per_session
FROM (SELECT referrer, count(*) AS sessions FROM sessions GROUP BY referrer) s JOIN campaigns USING (referrer) ORDER BY sessions DESC;

-- e28
SELECT payload ->> 'currency' AS currency, sum(least(greatest((payload ->> 'amount')::numeric, 0), 120)) AS amount
FROM events WHERE name = 'purchase' GROUP BY 1 ORDER BY 1;

-- e29
SELECT plan, users, users * price AS monthly FROM (SELECT plan, count(*) AS users FROM users WHERE deleted_at IS NULL GROUP BY plan) u JOIN plans USING (plan) ORDER BY plan;

-- e31
SELECT extract(isodow FROM started) AS weekday, count(*) FROM sessions
WHERE started::date NOT IN ('2025-01-01', '2025-04-18', '2025-04-21', '2025-05-01') GROUP BY 1 ORDER BY 1;

-- e27
SELECT s.referrer, count(DISTINCT s.user_id) AS buyers FROM sessions s JOIN events e ON e.session_id = s.session_id AND e.user_id = s.user_id
WHERE e.name = 'purchase' GROUP BY s.referrer ORDER BY buyers DESC;

-- s24
SELECT count(*) FROM (SELECT customer_id FROM orders GROUP BY customer_id HAVING count(*) = 1 AND count(coupon) = 1) t;

-- e07
SELECT count(*) FROM (SELECT user_id FROM events GROUP BY user_id
    HAVING min(at AT TIME ZONE 'UTC') FILTER (WHERE name = 'trial') < max(at AT TIME ZONE 'UTC') FILTER (WHERE name = 'purchase')) t;

-- e08
SELECT avg(least(greatest(extract(epoch FROM first - signed_up) / 86400, 0), 400)) AS days
FROM (SELECT u.user_id, u.signed_up, min(e.at AT TIME ZONE 'UTC') AS first
      FROM users u JOIN events e ON e.user_id = u.user_id WHERE e.name = 'purchase' GROUP BY u.user_id, u.signed_up) t;
