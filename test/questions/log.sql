-- What people ask of the event log.

-- e01 growth: How many users have signed up, by plan?
SELECT plan, count(*) FROM users GROUP BY plan ORDER BY plan;

-- e02 growth: Signups by week
SELECT date_trunc('week', signed_up)::date AS week, count(*) FROM users GROUP BY 1 ORDER BY 1;

-- e03 growth: How many users were active on each day in March?
SELECT at::date AS day, count(DISTINCT user_id) AS users FROM events WHERE at >= '2025-03-01' AND at < '2025-04-01' GROUP BY 1 ORDER BY 1;

-- e04 growth: Monthly active users
SELECT date_trunc('month', at) AS month, count(DISTINCT user_id) AS users FROM events GROUP BY 1 ORDER BY 1;

-- e05 growth: The funnel: how many users signed up, tried, bought?
SELECT count(DISTINCT user_id) FILTER (WHERE name = 'signup') AS signup, count(DISTINCT user_id) FILTER (WHERE name = 'trial') AS trial,
       count(DISTINCT user_id) FILTER (WHERE name = 'purchase') AS purchase
FROM events;

-- e06 growth: The funnel by event
SELECT name, count(DISTINCT user_id) AS users FROM events WHERE name IN ('signup', 'trial', 'purchase') GROUP BY name ORDER BY users DESC;

-- e07 growth: The funnel in its order: who bought after a trial?
SELECT count(*) FROM users u
WHERE EXISTS (SELECT FROM events t JOIN events p ON p.user_id = t.user_id AND p.at > t.at
              WHERE t.user_id = u.user_id AND t.name = 'trial' AND p.name = 'purchase');

-- e08 growth: How many days from signup to the first purchase?
SELECT avg(extract(epoch FROM p.at - u.signed_up) / 86400) AS days
FROM users u JOIN (SELECT user_id, min(at AT TIME ZONE 'UTC') AS at FROM events WHERE name = 'purchase' GROUP BY user_id) p ON p.user_id = u.user_id;

-- e09 growth: Retention: of the users of each month, how many had a session 30 days or more after they signed up?
SELECT date_trunc('month', u.signed_up)::date AS cohort, count(DISTINCT u.user_id) AS retained
FROM users u JOIN sessions s ON s.user_id = u.user_id WHERE s.started >= u.signed_up + interval '30 days' GROUP BY 1 ORDER BY 1;

-- e10 growth: Retention by month since signup
SELECT date_trunc('month', u.signed_up)::date AS cohort, extract(month FROM s.started) - extract(month FROM u.signed_up) AS later, count(DISTINCT u.user_id) AS users
FROM users u JOIN sessions s USING (user_id) GROUP BY 1, 2 ORDER BY 1, 2;

-- e11 growth: How many users have deleted their account, and after how many days?
SELECT count(deleted_at) AS deleted, avg(extract(day FROM deleted_at - signed_up)) AS days FROM users;

-- e12 growth: Churn by plan
SELECT plan, 100.0 * count(deleted_at) / count(*) AS percent FROM users GROUP BY plan ORDER BY plan;

-- e13 product: What do people do most?
SELECT name, count(*) AS n, round(100.0 * count(*) / sum(count(*)) OVER (), 1) AS percent FROM events GROUP BY name ORDER BY n DESC;

-- e14 product: Events by area of the product
SELECT f.area, count(*) AS events, count(DISTINCT e.user_id) AS users FROM events e JOIN features f ON f.name = e.name GROUP BY f.area ORDER BY events DESC;

-- e15 product: Which pages are viewed?
SELECT payload ->> 'page' AS page, count(*) FROM events WHERE name = 'view' GROUP BY 1 ORDER BY 2 DESC;

-- e16 product: How long do pages take to load?
SELECT payload ->> 'page' AS page, avg((payload ->> 'ms')::int) AS ms FROM events WHERE name = 'view' GROUP BY 1 ORDER BY 1;

-- e17 product: How many views take longer than two seconds?
SELECT count(*) FROM events WHERE name = 'view' AND (payload ->> 'ms')::int > 2000;

-- e18 product: What do people search in vain?
SELECT payload ->> 'q' AS term, count(*) AS times FROM events WHERE name = 'search' AND (payload ->> 'hits')::int = 0 GROUP BY 1 ORDER BY 2 DESC;

-- e19 product: How many events does a session have?
SELECT count(*)::numeric / count(DISTINCT session_id) AS events FROM events WHERE session_id IS NOT NULL;

-- e20 product: How many sessions does a user have, by plan?
SELECT u.plan, count(s.session_id)::numeric / count(DISTINCT u.user_id) AS sessions
FROM users u LEFT JOIN sessions s ON s.user_id = u.user_id GROUP BY u.plan ORDER BY u.plan;

-- e21 product: The median number of sessions of a user
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY n) AS median FROM (SELECT user_id, count(*) AS n FROM sessions GROUP BY user_id) t;

-- e22 product: How long is a session, by device?
SELECT device, avg(ended - started) AS mean FROM sessions GROUP BY device ORDER BY device;

-- e23 product: The same in minutes, with the number of sessions
SELECT device, count(*) AS sessions, avg(extract(epoch FROM ended - started)) / 60 AS minutes FROM sessions GROUP BY device ORDER BY device;

-- e24 product: How many users use both a desktop and a mobile?
SELECT count(*) FROM (SELECT user_id FROM sessions WHERE device IN ('desktop', 'mobile') GROUP BY user_id HAVING count(DISTINCT device) = 2) t;

-- e25 product: Who searches also exports?
SELECT count(DISTINCT e.user_id) FROM events e WHERE e.name = 'search' AND e.user_id IN (SELECT x.user_id FROM events x WHERE x.name = 'export');

-- e26 marketing: Sessions and cost of each campaign
SELECT c.campaign, count(*) AS sessions, c.cost / nullif(count(*), 0) AS per_session
FROM sessions s JOIN campaigns c ON c.referrer = s.referrer GROUP BY c.campaign, c.cost ORDER BY sessions DESC;

-- e27 marketing: By what did those who bought come first?
SELECT s.referrer, count(DISTINCT s.user_id) AS buyers FROM sessions s JOIN events e ON e.session_id = s.session_id
WHERE e.name = 'purchase' GROUP BY s.referrer ORDER BY buyers DESC;

-- e28 finance: What did we earn, by currency?
SELECT payload ->> 'currency' AS currency, sum((payload ->> 'amount')::numeric) AS amount FROM events WHERE name = 'purchase' GROUP BY 1 ORDER BY 1;

-- e29 finance: What do the plans of our users bring a month?
SELECT u.plan, count(*) AS users, sum(p.price) AS monthly FROM users u JOIN plans p USING (plan) WHERE u.deleted_at IS NULL GROUP BY u.plan ORDER BY u.plan;

-- e30 operations: Errors by code and hour of the day
SELECT payload ->> 'code' AS code, extract(hour FROM at) AS hour, count(*) FROM events WHERE name = 'error' GROUP BY 1, 2 ORDER BY 1, 2;

-- e31 operations: On which weekdays are people there, holidays left out?
SELECT extract(isodow FROM started) AS weekday, count(*) FROM sessions WHERE started::date NOT IN (SELECT day FROM holidays) GROUP BY 1 ORDER BY 1;

-- e32 operations: Sessions by device and referrer, with all totals
SELECT device, coalesce(referrer, 'direct') AS referrer, count(*) FROM sessions GROUP BY CUBE (1, 2) ORDER BY 1, 2;

-- e33 operations: How many users have had more than three errors or none?
SELECT count(*) FILTER (WHERE errors > 3) AS many, count(*) FILTER (WHERE errors = 0) AS none
FROM (SELECT u.user_id, count(e.event_id) AS errors FROM users u LEFT JOIN events e ON e.user_id = u.user_id AND e.name = 'error' GROUP BY u.user_id) t;

-- e34 growth: How many days are between two sessions of a user, on average?
SELECT avg(extract(epoch FROM started - before) / 86400) AS days
FROM (SELECT started, lag(started) OVER (PARTITION BY user_id ORDER BY started) AS before FROM sessions) s;

-- e35 product: How many visits of the site are there, where half an hour without an event ends one?
SELECT count(*) FILTER (WHERE before IS NULL OR at - before > interval '30 minutes') AS visits
FROM (SELECT at, lag(at) OVER (PARTITION BY user_id ORDER BY at) AS before FROM events) e;

-- e36 marketing: With which device do users come first?
SELECT device, count(*) AS users
FROM (SELECT device, row_number() OVER (PARTITION BY user_id ORDER BY started, device) AS n FROM sessions) s WHERE n = 1 GROUP BY device ORDER BY device;

-- e37 product: What do users do next, after a search?
SELECT next, count(*) FROM (SELECT name, lead(name) OVER (PARTITION BY user_id ORDER BY at, name) AS next FROM events) e WHERE name = 'search' GROUP BY next ORDER BY 2 DESC;

-- e38 growth: How many users have come back after a pause of 30 days?
SELECT count(*) FROM (SELECT user_id FROM (SELECT user_id, started - lag(started) OVER (PARTITION BY user_id ORDER BY started) AS pause FROM sessions) s
                      GROUP BY user_id HAVING bool_or(pause > interval '30 days')) t;
