#include "catalog/cells_of_ledger.hpp"

namespace dp::catalog {

const char *for_sums(const char *text) {
    StringInfo list = makeStringInfo();
    for (const char *sum : {"epsilon", "delta", "epsilon_epoch", "delta_epoch", "rho", "pure", "rho_only"}) {
        appendStringInfoString(list, list->len == 0 ? "" : ", ");
        for (const char *at = text; *at != '\0'; at++)
            if (*at == '@')
                appendStringInfoString(list, sum);
            else
                appendStringInfoChar(list, *at);
    }
    return list->data;
}

// A share says nothing of an epoch in which its role has not asked.
static const char *const known_sql = R"sql(
part AS (
  SELECT p.base, p.version, p.first - 1 AS others, p.cells IS NOT NULL AS grows, p.fresh, o.begun, o.founded, o.epoch
  FROM dp_rdr.odometer o JOIN dp_rdr.partition p ON p.domain = o.id AND o.partition BETWEEN p.base AND p.version
  WHERE o.id = $1 AND p.column_name IS NOT NULL),
known AS (
  SELECT k.grantee, ARRAY[k.epsilon - k.most_epsilon, k.delta - k.most_delta, k.here * k.all_epsilon_epoch, k.here * k.all_delta_epoch,
      k.here * (k.rho - k.most_rho), k.here * (k.pure - k.most_pure), k.here * k.all_rho_only] AS sums,
    ARRAY[k.most_epsilon, k.most_delta, k.here * k.most_epsilon_epoch, k.here * k.most_delta_epoch, k.here * k.most_rho,
      k.here * k.most_pure, k.here * k.most_rho_only] AS most
  FROM (
    SELECT '' AS grantee, 1 AS here, o.public_epsilon AS epsilon, o.public_delta AS delta, o.public_rho AS rho, o.public_pure AS pure,
      o.most_epsilon, o.most_delta, o.most_epsilon_epoch, o.most_delta_epoch, o.most_rho, o.most_pure, o.most_rho_only,
      o.all_epsilon_epoch, o.all_delta_epoch, o.all_rho_only FROM part, dp_rdr.odometer o WHERE o.id = $1
    UNION ALL SELECT s.grantee, (s.epoch = p.epoch)::integer, s.public_epsilon, s.public_delta, s.public_rho, s.public_pure,
      s.most_epsilon, s.most_delta, s.most_epsilon_epoch, s.most_delta_epoch, s.most_rho, s.most_pure, s.most_rho_only,
      s.all_epsilon_epoch, s.all_delta_epoch, s.all_rho_only FROM part p, dp_rdr.odometer_share s WHERE s.id = $1) k),)sql";

// Charges before the partition count for all cells as they moved the largest sums. In a list that grows, those on everything else count for
// each value that is new since.
static const char *const computed_sql = R"sql(
amount AS (
  SELECT g.grantee, e.cells, i.inside, %s
  FROM part p CROSS JOIN entry e
  CROSS JOIN LATERAL (SELECT coalesce((e.cells ->> 'partition')::integer BETWEEN p.base AND p.version, false) AS inside) i CROSS JOIN LATERAL (VALUES ('', 1), (e.grantee, 8)) g (grantee, at)
  CROSS JOIN LATERAL (
    SELECT (e.epoch = p.epoch)::integer AS here, (e.basis = 'epsilon')::integer AS epsilon, (e.basis = 'rho')::integer AS rho,
      CASE WHEN NOT i.inside THEN e.raised[g.at : g.at + 6] END AS raised) b
  CROSS JOIN LATERAL (
    SELECT coalesce(b.raised[1], b.epsilon * e.epsilon) AS epsilon, coalesce(b.raised[2], e.delta) AS delta,
      b.here * coalesce(b.raised[3], b.epsilon * e.epsilon) AS epsilon_epoch, b.here * coalesce(b.raised[4], e.delta) AS delta_epoch,
      b.here * coalesce(b.raised[5], b.rho * e.rho) AS rho,
      b.here * coalesce(b.raised[6], CASE WHEN e.pure THEN b.rho * e.epsilon ELSE 0 END) AS pure,
      b.here * coalesce(b.raised[7], CASE WHEN e.pure THEN 0 ELSE b.rho * e.row_count END) AS rho_only) m
  WHERE e.account = 'public' AND g.grantee IS NOT NULL GROUP BY g.grantee, e.cells, i.inside),
point AS (
  SELECT a.*, f.first, f.sign FROM amount a CROSS JOIN part p CROSS JOIN LATERAL (
    SELECT p.others, 1 WHERE NOT a.inside
    UNION ALL SELECT CASE WHEN p.grows THEN 9223372036854775807 ELSE p.founded + 1 END, -1 WHERE NOT a.inside AND p.fresh
    UNION ALL SELECT t.first, t.sign FROM jsonb_array_elements(coalesce(a.cells -> 'ranges', jsonb_build_array(jsonb_build_array(p.others,
        CASE WHEN a.cells ? 'to_come' THEN 9223372036854775807 ELSE (a.cells ->> 'begun')::bigint END)))) r
      CROSS JOIN LATERAL (
        SELECT (r ->> 0)::bigint AS first, 1 AS sign
        UNION ALL SELECT (r ->> 1)::bigint + 1, -1 WHERE (r ->> 1)::bigint < 9223372036854775807) t
      WHERE a.inside
    UNION ALL SELECT v.first, v.sign FROM (VALUES ((a.cells ->> 'begun')::bigint + 1, 1), (9223372036854775807, -1)) v (first, sign)
      WHERE a.inside AND p.grows AND NOT a.cells ? 'to_come'
      AND coalesce((a.cells #>> '{ranges,0,0}')::bigint = p.others, true)) f (first, sign)),
step AS (
  SELECT x.grantee, x.first, ARRAY[%s] AS sums
  FROM (SELECT grantee, first, %s FROM (
          SELECT grantee, first, sign, %s FROM point
          UNION ALL SELECT k.grantee, p.others, 1, 0, 0, 0, 0, 0, 0, 0 FROM known k, part p) y GROUP BY grantee, first) x
  WINDOW w AS (PARTITION BY x.grantee ORDER BY x.first)),
computed AS (
  SELECT s.grantee, s.first, s.sums FROM (
    SELECT s.*, lag(s.sums) OVER (PARTITION BY s.grantee ORDER BY s.first) AS before FROM step s) s, part p
  WHERE s.first <= p.begun AND s.sums IS DISTINCT FROM s.before),
coming AS (SELECT DISTINCT ON (grantee) grantee, sums FROM step ORDER BY grantee, first DESC))sql";

const char *cells_of_ledger_sql() {
    return psprintf("%s %s", known_sql,
                    psprintf(computed_sql, for_sums("sum(m.@) AS @"), for_sums("sum(x.@) OVER w"), for_sums("sum(sign * @) AS @"), for_sums("@")));
}

const char *rows_of_cells_sql() {
    return R"sql(
SELECT $1, r.grantee, r.first, trim_scale(r.sums[1]), trim_scale(r.sums[2]), trim_scale(r.sums[3]), trim_scale(r.sums[4]),
  trim_scale(r.sums[5]), trim_scale(r.sums[6]), r.sums[7]::bigint
FROM (
  SELECT c.grantee, c.first, ARRAY(SELECT a - b FROM unnest(c.sums, k.sums) WITH ORDINALITY u (a, b, i) ORDER BY i) AS sums
  FROM computed c JOIN known k USING (grantee)
  UNION ALL SELECT grantee, 9223372036854775807, sums FROM coming) r)sql";
}

} // namespace dp::catalog
