-- The tables of TPC-H, filled by ourselves: the sizes and the ranges of its specification, no text but what the questions look at.
-- Needs the psql variable "customers" (TPC-H has 150,000 times its scale factor). Private rows are in tpch_rows; tpch has what is
-- public, and the restricted views under the names of the tables.
CREATE SCHEMA tpch;
CREATE SCHEMA tpch_rows;
SELECT setseed(0.25) \g /dev/null

CREATE TABLE tpch.region (r_regionkey integer PRIMARY KEY, r_name text NOT NULL);
INSERT INTO tpch.region SELECT n - 1, name FROM unnest('{AFRICA,AMERICA,ASIA,EUROPE,"MIDDLE EAST"}'::text[]) WITH ORDINALITY r (name, n);
CREATE TABLE tpch.nation (n_nationkey integer PRIMARY KEY, n_name text NOT NULL, n_regionkey integer NOT NULL);
INSERT INTO tpch.nation SELECT n, 'NATION ' || chr(65 + n), n % 5 FROM generate_series(0, 24) n;
CREATE TABLE tpch.supplier (s_suppkey integer PRIMARY KEY, s_nationkey integer NOT NULL);
INSERT INTO tpch.supplier SELECT n, floor(random() * 25) FROM generate_series(1, greatest(:customers / 15, 10)) n;
CREATE TABLE tpch.part (p_partkey integer PRIMARY KEY, p_type text NOT NULL);
INSERT INTO tpch.part
SELECT n, (ARRAY['PROMO', 'STANDARD', 'SMALL', 'MEDIUM', 'LARGE', 'ECONOMY'])[1 + floor(random() * 6)] || ' ANODIZED TIN'
FROM generate_series(1, greatest(:customers * 4 / 3, 200)) n;

CREATE TABLE tpch_rows.customer (c_custkey integer PRIMARY KEY, c_nationkey integer NOT NULL, c_mktsegment text NOT NULL, c_acctbal numeric(10,2) NOT NULL);
INSERT INTO tpch_rows.customer
SELECT n, floor(random() * 25), (ARRAY['AUTOMOBILE', 'BUILDING', 'FURNITURE', 'MACHINERY', 'HOUSEHOLD'])[1 + floor(random() * 5)], random() * 11000 - 1000
FROM generate_series(1, :customers) n;
-- A third of the customers never orders.
CREATE TABLE tpch_rows.orders (
    o_orderkey integer PRIMARY KEY, o_custkey integer NOT NULL REFERENCES tpch_rows.customer, o_orderdate date NOT NULL,
    o_orderpriority text NOT NULL, o_shippriority integer NOT NULL);
INSERT INTO tpch_rows.orders
SELECT n, 1 + floor(random() * (:customers - 1) / 3) * 3 + n % 2, date '1992-01-01' + floor(random() * 2406)::integer,
       (ARRAY['1-URGENT', '2-HIGH', '3-MEDIUM', '4-NOT SPECIFIED', '5-LOW'])[1 + floor(random() * 5)], 0
FROM generate_series(1, :customers * 10) n;
CREATE TABLE tpch_rows.lineitem (
    l_orderkey integer NOT NULL REFERENCES tpch_rows.orders, l_linenumber integer NOT NULL, l_partkey integer NOT NULL, l_suppkey integer NOT NULL,
    l_quantity numeric(4,0) NOT NULL, l_extendedprice numeric(10,2) NOT NULL, l_discount numeric(3,2) NOT NULL, l_tax numeric(3,2) NOT NULL,
    l_returnflag text NOT NULL, l_linestatus text NOT NULL, l_shipdate date NOT NULL, l_commitdate date NOT NULL, l_receiptdate date NOT NULL,
    l_shipmode text NOT NULL, PRIMARY KEY (l_orderkey, l_linenumber));
INSERT INTO tpch_rows.lineitem
SELECT o_orderkey, line, 1 + floor(random() * greatest(:customers * 4 / 3, 200)), 1 + floor(random() * greatest(:customers / 15, 10)), quantity,
       quantity * (900 + random() * 1100), round((random() * 0.1)::numeric, 2), round((random() * 0.08)::numeric, 2),
       CASE WHEN shipped > date '1995-06-17' THEN 'N' WHEN random() < 0.5 THEN 'R' ELSE 'A' END, CASE WHEN shipped > date '1995-06-17' THEN 'O' ELSE 'F' END,
       shipped, o_orderdate + 30 + floor(random() * 60)::integer, shipped + 1 + floor(random() * 29)::integer,
       (ARRAY['AIR', 'FOB', 'MAIL', 'RAIL', 'REG AIR', 'SHIP', 'TRUCK'])[1 + floor(random() * 7)]
FROM (SELECT o_orderkey, o_orderdate, line, floor(random() * 50) + 1 AS quantity, o_orderdate + 1 + floor(random() * 120)::integer AS shipped
      FROM (SELECT *, 1 + floor(random() * 7)::integer AS lines FROM tpch_rows.orders) o, generate_series(1, lines) line) l;
CREATE INDEX ON tpch_rows.orders (o_custkey);
ANALYZE;

-- Nobody has ordered more than some sixty times; a customer's lines are cut at 200.
SELECT dp_protect('tpch_rows.customer', 'tpch.customer', unit => 'c_custkey'),
       dp_protect('tpch_rows.orders', 'tpch.orders', unit => 'o_custkey', max_rows => 60, max_groups => 20),
       dp_protect('tpch_rows.lineitem', 'tpch.lineitem', unit => 'l_orderkey', max_rows => 200, max_groups => 20) \g /dev/null
SELECT dp_set_bounds('tpch_rows.customer', 'c_acctbal', -1000, 10000),
       dp_set_bounds('tpch_rows.orders', 'o_orderdate', date '1992-01-01', date '1998-08-02'),
       dp_set_bounds('tpch_rows.lineitem', 'l_quantity', 1, 50), dp_set_bounds('tpch_rows.lineitem', 'l_extendedprice', 0, 100000),
       dp_set_bounds('tpch_rows.lineitem', 'l_discount', 0, 0.1), dp_set_bounds('tpch_rows.lineitem', 'l_tax', 0, 0.08),
       dp_set_bounds('tpch_rows.lineitem', 'l_shipdate', date '1992-01-01', date '1998-12-31'),
       dp_set_bounds('tpch_rows.lineitem', 'l_commitdate', date '1992-01-01', date '1998-12-31'),
       dp_set_bounds('tpch_rows.lineitem', 'l_receiptdate', date '1992-01-01', date '1998-12-31') \g /dev/null
SELECT dp_set_groups('tpch_rows.customer', 'c_mktsegment', '{AUTOMOBILE,BUILDING,FURNITURE,MACHINERY,HOUSEHOLD}'),
       dp_set_groups('tpch_rows.orders', 'o_orderpriority', '{1-URGENT,2-HIGH,3-MEDIUM,4-NOT SPECIFIED,5-LOW}'),
       dp_set_groups('tpch_rows.lineitem', 'l_returnflag', '{A,N,R}'), dp_set_groups('tpch_rows.lineitem', 'l_linestatus', '{O,F}'),
       dp_set_groups('tpch_rows.lineitem', 'l_shipmode', '{AIR,FOB,MAIL,RAIL,REG AIR,SHIP,TRUCK}') \g /dev/null
SELECT format('SELECT dp_set_public(%L, %L)', c.oid::regclass, 'tpch_rows.customer')
FROM pg_class c
WHERE c.relnamespace = 'tpch'::regnamespace AND c.relkind = 'r' AND EXISTS (SELECT FROM pg_proc WHERE proname = 'dp_set_public') \gexec
