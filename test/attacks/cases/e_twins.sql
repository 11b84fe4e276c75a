-- A victim that equals other people in every key and looks different, first in the heap. Keys are compared as texts, since
-- numbers are taken for noise. `:database` tells where the victim is. Printed trees hold the bytes of the table's oid, which
-- differ as the table is made in each database: they are off.

-- C12 NOLEAK
controller> CREATE TABLE twin (id integer, n numeric, m numeric(6,2), f float8, r real, c char(6), t text, i integer, s smallint, b bigint, d date, ts timestamp, tz timestamptz, tm time, bo boolean, u uuid, mo mood, ip inet, mac macaddr, byt bytea, bits varbit, na name, cash money)
  controller> DO $d$ BEGIN INSERT INTO twin SELECT 4242, '7.000', '7', '-0', '-0', 'ab', 'Ab', '+7', ' 7', '007', '20200229', '2020-02-29 24:00', '2020-02-29 12:00+05', '12:00:00.000000', 'yes', '{A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11}', 'high', '10.0.0.7/32', '00-00-00-00-00-07', E'\\x4142', B'00000111', 'ab', '$7' WHERE ':database' = 'attack_with'; END $d$
  controller> INSERT INTO twin SELECT g, 7, 7.00, 0, 0, 'ab    ', 'Ab', 7, 7, 7, '2020-02-29', '2020-03-01', '2020-02-29 07:00+00', '12:00', true, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'high', '10.0.0.7', '00:00:00:00:00:07', 'AB', '00000111', 'ab', '7.00' FROM generate_series(1, 500) g
  controller> SELECT dp_protect('twin', 'twin_dp')
  controller> SELECT dp_set_odometer('twin', 'none')
  controller> SELECT dp_grant('twin_dp', 'attack_finder', tau => 0.5, delta => 0.000001)
  finder> SET debug_print_parse = off; SET debug_print_rewritten = off; SET debug_print_plan = off
  finder> SELECT n::text, count(*) FROM twin_dp GROUP BY n
  finder> SELECT m::text, count(*) FROM twin_dp GROUP BY m
  finder> SELECT f::text, count(*) FROM twin_dp GROUP BY f
  finder> SELECT r::text, count(*) FROM twin_dp GROUP BY r
  finder> SELECT c, count(*) FROM twin_dp GROUP BY c
  finder> SELECT i, s, b::text, count(*) FROM twin_dp GROUP BY i, s, b
  finder> SELECT t, na, count(*) FROM twin_dp GROUP BY t, na
  finder> SELECT d, ts, tz, tm, count(*) FROM twin_dp GROUP BY d, ts, tz, tm
  finder> SELECT bo, u, mo, count(*) FROM twin_dp GROUP BY bo, u, mo
  finder> SELECT ip, mac, byt, bits, cash, count(*) FROM twin_dp GROUP BY ip, mac, byt, bits, cash
  finder> SELECT (CASE WHEN id = 4242 THEN n ELSE m END)::text, count(*) FROM twin_dp GROUP BY CASE WHEN id = 4242 THEN n ELSE m END
  finder> SELECT (f * 0)::text, count(*) FROM twin_dp GROUP BY f * 0
  finder> SELECT (-r)::text, count(*) FROM twin_dp GROUP BY -r
  finder> SELECT round(n, 1)::text, count(*) FROM twin_dp GROUP BY round(n, 1)
  finder> SELECT (n + 0.00)::text, count(*) FROM twin_dp GROUP BY n + 0.00
  finder> SELECT n::text, count(*), count(t) IS NULL FROM twin_dp GROUP BY n
  finder> SELECT k::text, count(*) FROM (SELECT CASE WHEN id = 4242 THEN 1.00 ELSE 1.0 END AS k FROM twin_dp) q GROUP BY k
  finder> SELECT concat(n), format('%s', f), row_to_json(q) FROM (SELECT n, f, count(*) > -1000000 AS many FROM twin_dp GROUP BY n, f) q
  controller> DROP TABLE twin CASCADE
