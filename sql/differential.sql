-- 200 generated queries over Adult: the answer at the largest epsilon agrees with the same query on the table, its values
-- clamped to the declared bounds. Queries are drawn by a hash of their number, so that every run asks the same ones.
--
-- With m measures a noise has the scale m / 100, in units of the sensitivity, and exceeds t = 0.3 m with probability below
-- 2 exp(-30) = 2e-13. A count that has a measure of its own is off by t at most, which is nothing for m <= 3; a pair
-- releases two halves (formulas.md, 8.6): its count is off by 2 t and rounded, its sum by t (|lower| + |upper|), its average
-- by 2 t (upper - lower) / (n - 2 t). The 200 queries draw fewer than 20,000 noises: one of them exceeds its bound in fewer
-- than 4 of 1e9 runs.

LOAD 'dp_rdr';
SET client_min_messages = warning;
DROP ROLE IF EXISTS regress_exact;
RESET client_min_messages;
CREATE ROLE regress_exact;
\set VERBOSITY terse

SET ROLE regress_controller;
CREATE TABLE census AS SELECT * FROM adult;
SELECT dp_protect('census', 'census_dp');
SELECT dp_set_odometer('census', 'none', NULL);
CREATE TABLE census_bounds (column_name text PRIMARY KEY, lower numeric, upper numeric);
INSERT INTO census_bounds VALUES ('age', 20, 65), ('hours_per_week', 10, 60), ('capital_gain', 0, 20000), ('education_num', -5, 16);
SELECT count(dp_set_bounds('census', column_name, lower, upper)) FROM census_bounds;
SELECT dp_set_groups('census', 'sex', '{Female,Male}'), dp_set_groups('census', 'income', '{<=50K,>50K}'),
       dp_set_groups('census', 'race', '{White,Black,Asian-Pac-Islander,Amer-Indian-Eskimo,Other,Nobody}'),
       dp_set_groups('census', 'marital_status', (SELECT array_agg(DISTINCT marital_status) FROM census));
SELECT dp_grant('census_dp', 'regress_exact', tau => 0, epsilon_max => 100, candidates => '{100}');
GRANT SELECT ON census_bounds TO regress_exact;

-- ---------------------------------------------------------------------------------------------------------------------
-- The generator. @column stands for a column, #column for one that is aggregated.
-- ---------------------------------------------------------------------------------------------------------------------

-- One of the options, by the number of the query and what is being chosen.
CREATE FUNCTION pick(query integer, what text, VARIADIC options text[]) RETURNS text LANGUAGE sql IMMUTABLE AS
$$ SELECT options[1 + ('x' || left(md5(query || what), 7))::bit(28)::integer % cardinality(options)] $$;

CREATE FUNCTION simple_condition(query integer, what text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
SELECT pick(query, what || ' condition', '@age > 30', '@age BETWEEN 25 AND 45', '@age NOT BETWEEN 30 AND 60', '@sex = ''Male''', '@sex <> ''Male''',
    '@income = ''>50K''', '@race IN (''White'', ''Black'')', '@race NOT IN (''White'')', '@hours_per_week >= 40', '40 > @hours_per_week',
    '@education_num IN (9, 10, 13)', '@education_num = ANY (''{1,2,3,4,5}'')', '@marital_status IS DISTINCT FROM ''Divorced''',
    '@marital_status < ''N''', '@capital_gain > 0', '@capital_gain = 0', '@workclass = ''Private''', '@native_country <> ''United-States''',
    '@age IS NOT NULL', '@education_num > @hours_per_week', '@age > 2000 - 1970', '@workclass IS NULL', 'true') $$;
CREATE FUNCTION condition(query integer, what text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
SELECT format(pick(query, what || ' shape', '%1$s', '%1$s', '(%1$s AND %2$s)', '(%1$s OR %2$s)', 'NOT (%1$s AND %2$s)', '((%1$s) IS NOT TRUE AND %2$s)',
                   '((%1$s OR %2$s) AND %3$s)'),
              simple_condition(query, what || 1), simple_condition(query, what || 2), simple_condition(query, what || 3)) $$;

CREATE TABLE generated (n integer PRIMARY KEY, source text, keys text[], functions text[], arguments text[], filters text[], group_filter text,
                        inner_condition text, outer_condition text);
INSERT INTO generated
SELECT g, pick(g, 'source', 'view', 'sub-SELECT', 'CTE', 'nested CTEs', 'view on top', 'leaf below'),
       pick(g, 'keys', '{}', '{}', '{sex}', '{income}', '{race}', '{marital_status}', '{sex,income}', '{marital_status,sex}')::text[],
       array_agg(pick(g, 'function' || i, 'count(*)', 'count', 'sum', 'sum', 'avg') ORDER BY i),
       array_agg(pick(g, 'argument' || i, 'age', 'hours_per_week', 'capital_gain', 'education_num') ORDER BY i),
       array_agg(CASE WHEN pick(g, 'filtered' || i, 'no', 'no', 'yes') = 'yes' THEN condition(g, 'filter' || i) END ORDER BY i),
       pick(g, 'having', NULL, NULL, NULL, 'count(*) > 200'), condition(g, 'inner'), condition(g, 'outer')
FROM generate_series(1, 200) g, LATERAL generate_series(1, pick(g, 'aggregates', '1', '2', '3')::integer) i
GROUP BY g;
-- HAVING needs groups, and adds a measure: at most three in all.
UPDATE generated SET group_filter = NULL WHERE keys = '{}' OR cardinality(functions) = 3;

CREATE FUNCTION aggregate(function text, argument text, filter text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
SELECT CASE function WHEN 'count(*)' THEN function ELSE format('%s(#%s)', function, argument) END || coalesce(' FILTER (WHERE ' || filter || ')', '') $$;
-- Keys as k1, k2; aggregates as a1 to a3, the second in an expression; and the rows behind each, as n1 to n3, if wanted.
CREATE FUNCTION select_list(g generated, rows_too boolean) RETURNS text LANGUAGE sql STABLE AS $$
SELECT concat_ws(', ', (SELECT string_agg(format('@%s AS k%s', key, i), ', ' ORDER BY i) FROM unnest(g.keys) WITH ORDINALITY k (key, i)),
                 (SELECT string_agg(aggregate(f, a, c) || CASE WHEN i = 2 THEN ' + 1' ELSE '' END || ' AS a' || i, ', ' ORDER BY i)
                  FROM unnest(g.functions, g.arguments, g.filters) WITH ORDINALITY t (f, a, c, i)),
                 (SELECT string_agg(aggregate(CASE f WHEN 'count(*)' THEN f ELSE 'count' END, a, c) || ' AS n' || i, ', ' ORDER BY i)
                  FROM unnest(g.functions, g.arguments, g.filters) WITH ORDINALITY t (f, a, c, i) WHERE rows_too)) $$;
CREATE FUNCTION group_by(g generated) RETURNS text LANGUAGE sql STABLE AS $$
SELECT coalesce(' GROUP BY ' || (SELECT string_agg('@' || key, ', ') FROM unnest(g.keys) key), '') || coalesce(' HAVING ' || g.group_filter, '') $$;

-- What an analyst writes. Behind a sub-SELECT, a CTE and a view the columns have other names.
CREATE FUNCTION columns() RETURNS text LANGUAGE sql IMMUTABLE AS $$
SELECT string_agg(format('%s AS my_%1$s', c), ', ')
FROM unnest('{age,workclass,education_num,marital_status,race,sex,capital_gain,hours_per_week,native_country,income}'::text[]) c $$;
CREATE FUNCTION asked(g generated) RETURNS text LANGUAGE sql STABLE AS $$
SELECT translate(format(CASE g.source
        WHEN 'view' THEN 'SELECT %1$s FROM census_dp WHERE %3$s AND %2$s %4$s'
        WHEN 'leaf below' THEN 'SELECT * FROM (SELECT %1$s FROM census_dp c WHERE %3$s AND %2$s %4$s) q ORDER BY 1'
        WHEN 'sub-SELECT' THEN 'SELECT %1$s FROM (SELECT %5$s FROM census_dp WHERE %2$s) q WHERE %3$s %4$s'
        WHEN 'CTE' THEN 'WITH w AS (SELECT %5$s FROM census_dp WHERE %2$s) SELECT %1$s FROM w WHERE %3$s %4$s'
        WHEN 'nested CTEs' THEN 'WITH w AS MATERIALIZED (SELECT %5$s FROM census_dp), u AS (SELECT * FROM w AS z WHERE %6$s) SELECT * FROM (SELECT %1$s FROM u WHERE %3$s %4$s) q'
        WHEN 'view on top' THEN 'SELECT %1$s FROM census_on_top t WHERE %3$s AND %6$s %4$s' END,
        replace(translate(select_list(g, false), '#', '@'), '@', prefix), g.inner_condition, replace(g.outer_condition, '@', prefix), replace(group_by(g), '@', prefix),
        columns(), replace(g.inner_condition, '@', 'my_')), '@', '')
FROM (SELECT CASE WHEN g.source IN ('view', 'leaf below') THEN '' ELSE 'my_' END AS prefix) t $$;

-- The same on the table.
CREATE FUNCTION clamped(list text) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    b record;
BEGIN
    FOR b IN SELECT * FROM census_bounds LOOP
        list := replace(list, '#' || b.column_name, format('greatest(%s, least(%s, %s))', b.lower, b.upper, b.column_name));
    END LOOP;
    RETURN list;
END $$;
CREATE FUNCTION reference(g generated) RETURNS text LANGUAGE sql STABLE AS $$
SELECT translate(format('SELECT %s FROM census WHERE %s AND %s %s %s', clamped(select_list(g, true)), g.inner_condition, g.outer_condition,
                        CASE g.source WHEN 'view on top' THEN 'AND age < 70' ELSE '' END, group_by(g)), '@', '') $$;

-- ---------------------------------------------------------------------------------------------------------------------
-- Questions and answers
-- ---------------------------------------------------------------------------------------------------------------------

CREATE FUNCTION rows_of(query text) RETURNS jsonb LANGUAGE plpgsql AS
$$ DECLARE answer jsonb; BEGIN EXECUTE format('SELECT coalesce(jsonb_agg(q), ''[]'') FROM (%s) q', query) INTO answer; RETURN answer; END $$;
CREATE TABLE compared AS SELECT g.n, asked(g) AS query, rows_of(reference(g)) AS truth, NULL::jsonb AS answer FROM generated g;
GRANT SELECT, UPDATE ON compared TO regress_exact;
SELECT source, count(*) AS queries, count(*) FILTER (WHERE keys <> '{}') AS grouped, count(group_filter) AS having, sum(cardinality(functions)) AS aggregates,
       sum(cardinality(array_remove(filters, NULL))) AS filtered
FROM generated GROUP BY source ORDER BY source;
SELECT query FROM compared WHERE n IN (3, 17, 28, 30, 51, 90) ORDER BY n;

SET ROLE regress_exact;
SELECT format('CREATE TEMP VIEW census_on_top AS SELECT %s FROM census_dp WHERE age < 70', columns()) \gexec
UPDATE compared SET answer = rows_of(query);
SET ROLE regress_controller;

-- One line for each aggregate of each row: what was answered, what is true (of no row: 0), and how far apart they may be.
CREATE VIEW cell AS
SELECT n, k1, k2, i, f, value - one AS answered, CASE WHEN truth IS NULL THEN 0 ELSE true_value - one END AS true_value,
       coalesce(n_i, 0) AS rows, lower, upper, 0.3 * m AS t, pair
FROM (SELECT c.n, a ->> 'k1' AS k1, a ->> 'k2' AS k2, i, f, CASE i WHEN 2 THEN 1 ELSE 0 END AS one, (a ->> ('a' || i))::numeric AS value, t AS truth,
             (t ->> ('a' || i))::numeric AS true_value, (t ->> ('n' || i))::numeric AS n_i, lower, upper,
             cardinality(g.functions) + CASE WHEN g.group_filter IS NULL THEN 0 ELSE 1 END AS m,
             f <> 'count(*)' AND (SELECT bool_or(o.f = 'avg') OR bool_or(o.f = 'count') AND bool_or(o.f = 'sum')
                                  FROM unnest(g.functions, g.arguments, g.filters) o (f, x, c)
                                  WHERE o.f <> 'count(*)' AND o.x = x.x AND o.c IS NOT DISTINCT FROM x.c) AS pair
      FROM compared c JOIN generated g USING (n) CROSS JOIN jsonb_array_elements(c.answer) a
      CROSS JOIN LATERAL unnest(g.functions, g.arguments, g.filters) WITH ORDINALITY x (f, x, c, i)
      LEFT JOIN census_bounds b ON b.column_name = x.x
      LEFT JOIN LATERAL (SELECT t FROM jsonb_array_elements(c.truth) t
                         WHERE a ->> 'k1' IS NOT DISTINCT FROM t ->> 'k1' AND a ->> 'k2' IS NOT DISTINCT FROM t ->> 'k2') q ON true) q;
-- The lattice of a pair rounds each value, by the range / 2^31 at most. The average of nothing is anywhere within its bounds.
CREATE VIEW difference AS
SELECT *, CASE WHEN f LIKE 'count%' THEN CASE WHEN pair THEN 2 * t + 0.5 ELSE t END
               WHEN f = 'sum' THEN t * (abs(lower) + abs(upper)) + 1 + rows * (upper - lower) / 2 ^ 30
               WHEN rows > 0 THEN 2 * t * (upper - lower) / greatest(1, rows - 2 * t) + (upper - lower) / 2 ^ 29 END AS bound
FROM cell;
SELECT count(DISTINCT n) AS queries, count(*) AS cells, count(*) FILTER (WHERE answered IS NULL) AS nulls,
       count(*) FILTER (WHERE abs(answered - true_value) > bound) AS wrong, count(*) FILTER (WHERE f = 'avg' AND answered NOT BETWEEN lower AND upper) AS outside
FROM difference;
SELECT d.*, query FROM difference d JOIN compared USING (n) WHERE answered IS NULL OR abs(answered - true_value) > bound ORDER BY n, k1, k2, i;
-- Every group of the table is answered; without HAVING, and a condition on a key, every declared one is; with HAVING none
-- but those that meet it.
SELECT count(*) AS queries, count(*) FILTER (WHERE answered < there) AS too_few, count(*) FILTER (WHERE group_filter IS NOT NULL AND answered <> there) AS too_many,
       count(*) FILTER (WHERE group_filter IS NULL AND (answered > declared OR answered < declared AND NOT conditional)) AS not_declared
FROM (SELECT g.group_filter, EXISTS (SELECT FROM unnest(g.keys) key WHERE g.inner_condition || g.outer_condition ~ key) AS conditional, jsonb_array_length(answer) AS answered, jsonb_array_length(truth) AS there,
             (SELECT coalesce(round(exp(sum(ln(CASE key WHEN 'race' THEN 6 WHEN 'marital_status' THEN 7 ELSE 2 END)))), 1) FROM unnest(g.keys) key) AS declared
      FROM compared c JOIN generated g USING (n)) q;
-- There is noise: few sums are hit exactly.
SELECT count(*) FILTER (WHERE answered <> true_value) > 100 AS noisy FROM difference WHERE f = 'sum';
-- One charge each.
SELECT account, epsilon, releases, denials FROM dp_odometer('census') ORDER BY account DESC;

RESET ROLE;
DROP VIEW difference, cell, pg_temp.census_on_top;
DROP TABLE compared;
DROP FUNCTION rows_of, reference, clamped, asked, columns, group_by, select_list, aggregate, condition, simple_condition, pick;
DROP TABLE generated, census_bounds;
SET ROLE regress_controller;
SELECT dp_unprotect('census_dp');
DROP TABLE census;
RESET ROLE;
DROP ROLE regress_exact;
