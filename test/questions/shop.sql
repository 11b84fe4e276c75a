-- What people ask of the shop.

-- s01 marketing: How many customers are there in each country?
SELECT country, count(*) FROM customers GROUP BY country ORDER BY 2 DESC;

-- s02 marketing: What share of each segment reads the newsletter?
SELECT segment, avg(newsletter::int) AS share FROM customers GROUP BY segment ORDER BY segment;

-- s03 sales: Orders and customers by month
SELECT to_char(ordered_at, 'YYYY-MM') AS month, count(*) AS orders, count(DISTINCT customer_id) AS customers FROM orders GROUP BY 1 ORDER BY 1;

-- s04 sales: What is our turnover, after discounts?
SELECT sum(quantity * price * (1 - coalesce(discount, 0))) AS turnover FROM items;

-- s05 sales: Turnover by category
SELECT c.name, sum(i.quantity * i.price) AS turnover
FROM items i JOIN products p ON p.product_id = i.product_id JOIN categories c ON c.category_id = p.category_id
GROUP BY c.name ORDER BY turnover DESC;

-- s06 sales: Turnover by month, of orders that were not cancelled
SELECT date_trunc('month', o.ordered_at)::date AS month, sum(i.quantity * i.price) AS turnover
FROM orders o JOIN items i ON i.order_id = o.order_id WHERE o.status <> 'cancelled' GROUP BY 1 ORDER BY 1;

-- s07 sales: What is the average order worth?
SELECT avg(worth) FROM (SELECT o.order_id, sum(i.quantity * i.price) AS worth FROM orders o JOIN items i USING (order_id) GROUP BY o.order_id) t;

-- s08 sales: The same, by what can be added up
SELECT sum(i.quantity * i.price) / count(DISTINCT i.order_id) AS mean FROM items i;

-- s09 sales: The seven best products
SELECT p.name, sum(i.quantity) AS sold FROM items i JOIN products p USING (product_id) GROUP BY p.product_id, p.name ORDER BY sold DESC LIMIT 7;

-- s10 sales: How much do customers of each region spend, and how many are they?
SELECT n.region, count(DISTINCT c.customer_id) AS customers, sum(i.quantity * i.price) AS turnover
FROM customers c JOIN orders o ON o.customer_id = c.customer_id JOIN items i ON i.order_id = o.order_id JOIN countries n ON n.country = c.country
GROUP BY n.region ORDER BY turnover DESC;

-- s11 customer care: What share of delivered orders comes back, by channel?
SELECT channel, round(100.0 * count(*) FILTER (WHERE status = 'returned') / nullif(count(*), 0), 1) AS percent
FROM orders WHERE status IN ('delivered', 'returned') GROUP BY channel ORDER BY channel;

-- s12 customer care: How many days does a delivery take?
SELECT avg(delivered_at - ordered_at) AS mean FROM orders WHERE delivered_at IS NOT NULL;

-- s13 customer care: The same in days, by channel, with the deviation
SELECT channel, avg(extract(day FROM delivered_at - ordered_at)) AS mean, stddev_samp(extract(day FROM delivered_at - ordered_at)) AS deviation
FROM orders GROUP BY channel ORDER BY channel;

-- s14 customer care: Within how many days are nine of ten delivered?
SELECT percentile_cont(0.9) WITHIN GROUP (ORDER BY extract(epoch FROM delivered_at - ordered_at) / 86400) AS days FROM orders;

-- s15 customer care: Which stars do products get?
SELECT stars, count(*) FROM reviews GROUP BY stars ORDER BY stars;

-- s16 customer care: The two best rated products with at least 200 reviews
SELECT p.name, round(avg(r.stars), 2) AS mean, count(*) AS reviews
FROM reviews r JOIN products p ON p.product_id = r.product_id GROUP BY p.name HAVING count(*) >= 200 ORDER BY mean DESC LIMIT 2;

-- s17 customer care: How many reviews complain?
SELECT count(*) FROM reviews WHERE body ILIKE '%broken%' OR body ILIKE '%expensive%';

-- s18 customer care: Do those who return things write worse reviews?
SELECT r.customer_id IN (SELECT customer_id FROM orders WHERE status = 'returned') AS returned, avg(stars) AS mean FROM reviews r GROUP BY 1;

-- s19 marketing: How many customers bought once, how many came again?
SELECT count(*) FILTER (WHERE n = 1) AS once, count(*) FILTER (WHERE n > 1) AS again
FROM (SELECT customer_id, count(*) AS n FROM orders GROUP BY customer_id) t;

-- s20 marketing: How many customers of each segment have never bought anything?
SELECT c.segment, count(*) FROM customers c LEFT JOIN orders o ON o.customer_id = c.customer_id WHERE o.order_id IS NULL GROUP BY c.segment ORDER BY 1;

-- s21 marketing: In which month did they buy first?
SELECT date_trunc('month', first) AS month, count(*) AS customers
FROM (SELECT customer_id, min(ordered_at) AS first FROM orders GROUP BY customer_id) t GROUP BY 1 ORDER BY 1;

-- s22 marketing: Of those who joined in a month, how many bought within 30 days?
SELECT date_trunc('month', c.joined) AS cohort, count(DISTINCT c.customer_id) AS bought
FROM customers c JOIN orders o ON o.customer_id = c.customer_id
WHERE o.ordered_at < c.joined + interval '30 days' AND o.ordered_at >= c.joined GROUP BY 1 ORDER BY 1;

-- s23 marketing: Does the coupon bring larger baskets?
SELECT o.coupon, count(*)::numeric / count(DISTINCT o.order_id) AS lines FROM orders o JOIN items i ON i.order_id = o.order_id GROUP BY o.coupon ORDER BY 1;

-- s24 marketing: How many used a coupon and never came again?
SELECT count(*) FROM (SELECT customer_id FROM orders GROUP BY customer_id HAVING count(*) = 1 AND max(coupon) IS NOT NULL) t;

-- s25 marketing: What is bought together with product 3?
SELECT b.product_id, count(*) AS times FROM items a JOIN items b ON b.order_id = a.order_id AND b.product_id <> a.product_id
WHERE a.product_id = 3 GROUP BY b.product_id ORDER BY times DESC LIMIT 3;

-- s26 marketing: How many customers have been referred by somebody in another country?
SELECT count(*) FROM customers c JOIN customers r ON r.customer_id = c.referred_by WHERE r.country <> c.country;

-- s27 finance: Tax that is due by country
SELECT n.name, sum(i.quantity * i.price * n.vat) AS vat
FROM items i JOIN orders o USING (order_id) JOIN customers c USING (customer_id) JOIN countries n USING (country)
WHERE o.status NOT IN ('cancelled', 'returned') GROUP BY n.name ORDER BY n.name;

-- s28 finance: How do sums of order lines spread?
SELECT width_bucket(quantity * price, 0, 400, 8) AS bucket, count(*) FROM items GROUP BY 1 ORDER BY 1;

-- s29 finance: Which tenth of the customers makes which share of the turnover?
SELECT tenth, round(sum(spent) / sum(sum(spent)) OVER () * 100, 1) AS percent
FROM (SELECT spent, ntile(10) OVER (ORDER BY spent DESC) AS tenth
      FROM (SELECT o.customer_id, sum(i.quantity * i.price) AS spent FROM orders o JOIN items i USING (order_id) GROUP BY 1) c) t
GROUP BY tenth ORDER BY tenth;

-- s30 finance: Orders by month, and how they add up over the year
SELECT month, n, sum(n) OVER (ORDER BY month) AS so_far
FROM (SELECT extract(month FROM ordered_at) AS month, count(*) AS n FROM orders GROUP BY 1) m ORDER BY month;

-- s31 finance: Growth from month to month
WITH m AS (SELECT date_trunc('month', ordered_at) AS month, count(*) AS n FROM orders GROUP BY 1)
SELECT month, n, round(n * 100.0 / lag(n) OVER (ORDER BY month) - 100, 1) AS percent FROM m ORDER BY month;

-- s32 product: How many different products does a customer buy?
SELECT avg(kinds) FROM (SELECT o.customer_id, count(DISTINCT i.product_id) AS kinds FROM orders o JOIN items i USING (order_id) GROUP BY o.customer_id) t;

-- s33 product: How many of our products were sold at all, and how many were not?
SELECT count(DISTINCT i.product_id) AS sold, (SELECT count(*) FROM products) - count(DISTINCT i.product_id) AS never
FROM items i WHERE i.product_id IN (SELECT product_id FROM products);

-- s34 marketing: By the month of their first order: how many customers buy again after 60 days?
SELECT date_trunc('month', f.first)::date AS cohort, count(DISTINCT o.customer_id) AS again
FROM orders o JOIN (SELECT customer_id, min(ordered_at) AS first FROM orders GROUP BY customer_id) f USING (customer_id)
WHERE o.ordered_at > f.first + interval '60 days' GROUP BY 1 ORDER BY 1;

-- s35 sales: How many orders have products of several categories?
SELECT count(*) AS orders FROM (SELECT o.customer_id, o.order_id FROM orders o JOIN items i USING (order_id) JOIN products p USING (product_id)
    GROUP BY o.customer_id, o.order_id HAVING count(DISTINCT p.category_id) > 1) t;

-- s36 sales: What do customers with the newsletter order on average, compared with the others?
SELECT c.newsletter, avg(t.n) AS orders
FROM customers c LEFT JOIN (SELECT customer_id, count(*) AS n FROM orders GROUP BY customer_id) t USING (customer_id) GROUP BY c.newsletter;

-- s37 sales: Which share of the lines costs more than the middle product?
SELECT avg(CASE WHEN price > (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY list_price) FROM products) THEN 1.0 ELSE 0 END) AS share FROM items;

-- s38 marketing: How many customers are younger than the mean?
SELECT count(*) FROM customers WHERE birth_year > (SELECT avg(birth_year) FROM customers);

-- s39 sales: Sales by price class of the product
SELECT c.class, sum(i.quantity) AS sold
FROM items i JOIN (SELECT product_id, ntile(4) OVER (ORDER BY list_price, product_id) AS class FROM products) c USING (product_id)
GROUP BY c.class ORDER BY c.class;

-- s40 finance: Orders by month of a calendar
SELECT m.month, count(*) FROM orders o JOIN generate_series(timestamp '2025-01-01', timestamp '2025-12-01', interval '1 month') m (month)
ON m.month = date_trunc('month', o.ordered_at) GROUP BY m.month ORDER BY m.month;

-- s41 marketing: Customers by generation
SELECT g.name, count(*) FROM customers c JOIN (VALUES ('old', 1930, 1959), ('middle', 1960, 1989), ('young', 1990, 2010)) g (name, first, last)
ON c.birth_year BETWEEN g.first AND g.last GROUP BY g.name ORDER BY g.name;

-- s42 marketing: Where do customers order that have changed the channel?
SELECT channel, count(*) AS changes
FROM (SELECT channel, lag(channel) OVER (PARTITION BY customer_id ORDER BY ordered_at, channel) AS before FROM orders) o WHERE channel <> before GROUP BY channel ORDER BY channel;

-- s43 finance: What came of the last order of each customer?
SELECT status, count(*) AS customers
FROM (SELECT status, row_number() OVER (PARTITION BY customer_id ORDER BY ordered_at DESC, status) AS n FROM orders) o WHERE n = 1 GROUP BY status ORDER BY status;

-- s44 sales: How many lines does an order have on average?
SELECT avg(lines) AS lines, count(*) AS orders FROM (SELECT order_id, count(*) AS lines FROM items GROUP BY order_id) o;

-- s45 marketing: How many customers are active each month, by an order or a review?
SELECT date_trunc('month', at)::date AS month, count(DISTINCT customer_id) AS active
FROM (SELECT customer_id, ordered_at AS at FROM orders UNION ALL SELECT customer_id, written FROM reviews) a GROUP BY 1 ORDER BY 1;

-- s46 marketing: A funnel of how often: who ordered, and who more than twice?
SELECT count(*) AS customers, count(*) FILTER (WHERE customer_id IN (SELECT customer_id FROM orders GROUP BY customer_id)) AS ordered,
       count(*) FILTER (WHERE customer_id IN (SELECT customer_id FROM orders GROUP BY customer_id HAVING count(*) > 2)) AS often
FROM customers;
