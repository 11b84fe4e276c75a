#include "catalog/ledger_rebuild.hpp"

#include "catalog/cells_of_ledger.hpp"
#include "catalog/parameters.hpp"

namespace dp::catalog {

// A row on the basis epsilon moves the sum of epsilon, one on the basis rho that of its epoch in rho. A charge on some cells of a
// partition moves sums by what it has raised. One under zcdp that raises what its epoch promises carries the totals in force: the promise is the largest of each, and the target of the first.
const char *const ledger_sums_sql = R"sql(
entry AS (
  SELECT c.*, c.kind IN ('pure', 'selection', 'bound') OR c.kind = 'increment' AND c.basis = 'epsilon' AS pure
  FROM now CROSS JOIN LATERAL dp_rdr.charges($1, now.whole) c),
-- Nobody has to look where no row is in a period; and a suspension is none.
entry_in_period AS (
  SELECT e.id, e.account, e.grantee AS role, e.epsilon, e.delta, e.basis, e.at, e.period, e.start, e.since FROM entry e
  WHERE e.kind <> 'suspension' AND (SELECT EXISTS (SELECT FROM entry WHERE period IS NOT NULL))),
-- A role's sums in rho are those of the last epoch in which it asked; '' is the table.
scope AS (
  SELECT '' AS grantee, epoch FROM now
  UNION ALL SELECT grantee, max(epoch) FROM entry WHERE grantee IS NOT NULL GROUP BY grantee),
moved AS (
  SELECT g.grantee AS scope, e.*, coalesce(e.raised[g.at], e.epsilon) AS by_epsilon, coalesce(e.raised[g.at + 1], e.delta) AS by_delta,
    coalesce(e.raised[g.at + 2], e.epsilon) AS in_epsilon, coalesce(e.raised[g.at + 3], e.delta) AS in_delta,
    coalesce(e.raised[g.at + 4], e.rho) AS by_rho, coalesce(e.raised[g.at + 5], e.epsilon) AS by_pure,
    coalesce(e.raised[g.at + 6], e.row_count) AS by_rho_only
  FROM entry e CROSS JOIN LATERAL (VALUES ('', 1), (e.grantee, 8)) g (grantee, at) WHERE g.grantee IS NOT NULL),
sums AS (
  SELECT s.grantee, s.epoch, a.name,
    coalesce(sum(e.by_epsilon) FILTER (WHERE e.basis = 'epsilon'), 0) AS epsilon,
    coalesce(sum(e.by_delta), 0) AS delta,
    (coalesce(sum(e.row_count) FILTER (WHERE e.kind NOT IN ('selection', 'increment', 'suspension', 'closing', 'join')), 0)
      + coalesce(sum(e.carried), 0))::bigint AS releases,
    coalesce(sum(e.by_epsilon) FILTER (WHERE e.basis = 'epsilon' AND e.epoch < s.epoch), 0) AS epsilon_before,
    coalesce(sum(e.by_delta) FILTER (WHERE e.epoch < s.epoch), 0) AS delta_before,
    coalesce(sum(e.by_rho) FILTER (WHERE e.basis = 'rho' AND e.epoch = s.epoch), 0) AS rho,
    coalesce(sum(e.by_pure) FILTER (WHERE e.basis = 'rho' AND e.epoch = s.epoch AND e.pure), 0) AS pure,
    coalesce(bool_or(NOT e.pure) FILTER (WHERE e.basis = 'rho' AND e.epoch = s.epoch), false) AS rho_only,
    coalesce(sum(e.in_epsilon) FILTER (WHERE e.basis = 'epsilon' AND e.epoch = s.epoch), 0) AS all_epsilon_epoch,
    coalesce(sum(e.in_delta) FILTER (WHERE e.epoch = s.epoch), 0) AS all_delta_epoch,
    coalesce(sum(e.by_rho_only) FILTER (WHERE e.basis = 'rho' AND e.epoch = s.epoch AND NOT e.pure), 0) AS all_rho_only,
    max((e.totals ->> 'epsilon_total')::numeric) FILTER (WHERE e.epoch = s.epoch) AS claim_epsilon,
    max((e.totals ->> 'delta_conversion')::numeric) FILTER (WHERE e.epoch = s.epoch) AS claim_conversion,
    max((e.totals ->> 'delta_mechanisms')::numeric) FILTER (WHERE e.epoch = s.epoch) AS claim_mechanisms,
    (array_agg((e.totals ->> 'rho_target')::numeric ORDER BY e.id)
      FILTER (WHERE e.epoch = s.epoch AND e.totals IS NOT NULL))[1] AS claim_target
  FROM scope s CROSS JOIN (VALUES ('public'), ('conditional')) a (name)
  LEFT JOIN moved e ON e.scope = s.grantee AND e.account = a.name
  GROUP BY s.grantee, s.epoch, a.name),
account AS (SELECT * FROM sums WHERE grantee = ''),
role AS (SELECT * FROM sums WHERE grantee <> ''),
-- Periods, as privacy::standing() goes from one charge to the next: what counts in the period of a row begins with the last row
-- that has a mark (0: with the first one there is).
scoped AS (
  SELECT '' AS grantee, e.* FROM entry_in_period e
  UNION ALL SELECT e.role, e.* FROM entry_in_period e WHERE e.role IS NOT NULL),
lagging AS (
  SELECT s.*, lag(period) OVER w AS last_period, lag(start) OVER w AS last_start
  FROM scoped s WINDOW w AS (PARTITION BY grantee, account ORDER BY id)),
marked AS (
  SELECT *, CASE
    WHEN period IS NULL OR period = last_period AND start <= date_trunc(period, last_start::timestamp)::date THEN NULL
    WHEN period = last_period OR date_trunc(period, at) > date_trunc(period, since::timestamp)
      AND (last_period IS NULL OR start > date_trunc(period, last_start::timestamp)::date) THEN id
    WHEN last_period IS NULL THEN 0 END AS mark
  FROM lagging),
final AS (
  SELECT DISTINCT ON (grantee, account) grantee, account, period, start FROM marked ORDER BY grantee, account, id DESC),
beginning AS (
  SELECT grantee, account, (max(ARRAY[id, mark]) FILTER (WHERE mark IS NOT NULL))[2] AS id
  FROM marked GROUP BY grantee, account),
in_period AS (
  SELECT f.grantee, f.account, f.period AS kind, timezone('UTC', f.start::timestamp) AS start,
    coalesce(sum(m.epsilon) FILTER (WHERE m.basis = 'epsilon'), 0) AS epsilon, coalesce(sum(m.delta), 0) AS delta
  FROM final f JOIN beginning b USING (grantee, account) JOIN marked m USING (grantee, account)
  WHERE f.period IS NOT NULL AND m.id >= b.id GROUP BY f.grantee, f.account, f.period, f.start))sql";

// The last epoch that has rows; the one after it, if it was closed.
static const char *const last_epoch_sql = R"sql(
now AS (
  SELECT coalesce(greatest(max(l.epoch), max(l.epoch) FILTER (WHERE l.kind = 'closing') + 1), 0) AS epoch, true AS whole
  FROM dp_rdr.ledger_row l WHERE l.table_id = $1),)sql";

// Columns of odometers and of shares, for each account (@), and what the rows make of them.
static const char *const columns =
    "@_epsilon, @_delta, @_rho, @_pure, @_rho_only, @_epsilon_before, @_period_kind, @_period_start, @_period_epsilon, "
    "@_period_delta";
static const char *const sums =
    "trim_scale(@.epsilon), trim_scale(@.delta), trim_scale(@.rho), trim_scale(@.pure), @.rho_only, "
    "trim_scale(@.epsilon_before), @_period.kind, @_period.start, trim_scale(coalesce(@_period.epsilon, 0)), "
    "trim_scale(coalesce(@_period.delta, 0))";

static const char *const odometer_sql = R"sql(
INSERT INTO dp_rdr.odometer (id, relation_name, owner, head, epoch, claim_epsilon, claim_conversion, claim_mechanisms,
  claim_target, conditional_conversion, all_epsilon_epoch, all_delta_epoch, all_rho_only, partition, begun, founded, %s, %s)
SELECT $1, $2, $3, coalesce((SELECT h.hash FROM dp_rdr.ledger_row h WHERE h.table_id = $1 ORDER BY h.id DESC LIMIT 1), '\x'),
  n.epoch, public.claim_epsilon, public.claim_conversion, public.claim_mechanisms, public.claim_target,
  conditional.claim_conversion, trim_scale(public.all_epsilon_epoch), trim_scale(public.all_delta_epoch), public.all_rho_only,
  coalesce(c.partition, 0), coalesce(c.begun, 0), coalesce(c.founded, 0), %s, %s
FROM now n CROSS JOIN account public CROSS JOIN account conditional
LEFT JOIN (
  SELECT (e.cells ->> 'partition')::integer AS partition, max((e.cells ->> 'begun')::bigint) AS begun,
    (array_agg((e.cells ->> 'begun')::bigint ORDER BY e.id))[1] AS founded
  FROM entry e WHERE e.cells IS NOT NULL GROUP BY 1 ORDER BY 1 DESC LIMIT 1) c ON true
LEFT JOIN in_period public_period ON (public_period.grantee, public_period.account) = ('', 'public')
LEFT JOIN in_period conditional_period ON (conditional_period.grantee, conditional_period.account) = ('', 'conditional')
WHERE public.name = 'public' AND conditional.name = 'conditional'
ON CONFLICT (id) DO NOTHING)sql";

// A new role with the number of one that was dropped owns nothing of its. What is locked waits for the next time.
static const char *const forget_owners_sql = R"sql(
UPDATE dp_rdr.odometer SET owner = (4026531840 | (owner::oid::bigint & 268435455))::oid
WHERE id = ANY (ARRAY(SELECT o.id FROM dp_rdr.odometer o WHERE o.owner::oid < 4026531840::oid
                      AND NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = o.owner) FOR UPDATE SKIP LOCKED)))sql";

// One that is locked gets its owner with the charge that locks it.
static const char *const owner_sql = R"sql(
UPDATE dp_rdr.odometer SET owner = $3
WHERE id IN (SELECT o.id FROM dp_rdr.odometer o WHERE o.id = $1 FOR UPDATE SKIP LOCKED))sql";

static const char *const shares_sql = R"sql(
INSERT INTO dp_rdr.odometer_share AS s (id, grantee, epoch, all_epsilon_epoch, all_delta_epoch, all_rho_only, %s)
SELECT $1, public.grantee, public.epoch, trim_scale(public.all_epsilon_epoch), trim_scale(public.all_delta_epoch), public.all_rho_only, %s
FROM role public JOIN role conditional ON conditional.grantee = public.grantee
LEFT JOIN in_period public_period ON (public_period.grantee, public_period.account) = (public.grantee, 'public')
LEFT JOIN in_period conditional_period
  ON (conditional_period.grantee, conditional_period.account) = (public.grantee, 'conditional')
WHERE public.name = 'public' AND conditional.name = 'conditional'
ON CONFLICT (id, grantee) DO UPDATE SET (epoch, all_epsilon_epoch, all_delta_epoch, all_rho_only, most_epsilon, most_delta,
    most_epsilon_epoch, most_delta_epoch, most_rho, most_pure, most_rho_only, %s) =
  (EXCLUDED.epoch, EXCLUDED.all_epsilon_epoch, EXCLUDED.all_delta_epoch, EXCLUDED.all_rho_only, 0, 0, 0, 0, 0, 0, 0, %s))sql";

// The largest sums count as what was charged to all cells: each has less beside it.
static const char *const cells_sql = "INSERT INTO dp_rdr.odometer_cell";

const char *for_accounts(const char *text, const char *prefix) {
    StringInfo both = makeStringInfo();
    for (const char *account : {"public", "conditional"}) {
        appendStringInfoString(both, both->len == 0 ? "" : ", ");
        for (const char *at = text; *at != '\0'; at++)
            if (*at == '@')
                appendStringInfo(both, "%s%s", prefix, account);
            else
                appendStringInfoChar(both, *at);
    }
    return both->data;
}

static uint64 run_rebuild(const border::Spi &spi, const char *sql, Parameters *parameters) {
    return spi.run(psprintf("WITH %s %s %s", last_epoch_sql, ledger_sums_sql, sql), false, parameters->n,
                   parameters->types, parameters->values, parameters->nulls);
}

void create_odometer_row(const border::Spi &spi, const Settings &settings) {
    (void)spi.run(forget_owners_sql, false);
    Parameters parameters = Parameters::of(Uuid{settings.id_text}, settings.relation_name, settings.owner);
    const char *sql = psprintf(odometer_sql, for_accounts(columns), for_accounts("@_releases, @_delta_before"),
                               for_accounts(sums), for_accounts("@.releases, trim_scale(@.delta_before)"));
    if (run_rebuild(spi, sql, &parameters) != 1) {
        (void)spi.run(owner_sql, false, parameters.n, parameters.types, parameters.values);
        return;
    }
    static border::Statement forget_cells("DELETE FROM dp_rdr.odometer_cell WHERE id = $1");
    Parameters id = Parameters::of(Uuid{settings.id_text});
    sql = psprintf(shares_sql, for_accounts(columns), for_accounts(sums), for_accounts(columns),
                   for_accounts(columns, "EXCLUDED."));
    (void)run_rebuild(spi, sql, &id);
    (void)run(spi, forget_cells, Uuid{settings.id_text});
    (void)spi.run(psprintf("WITH %s %s, %s %s %s", last_epoch_sql, ledger_sums_sql, cells_of_ledger_sql(), cells_sql,
                           rows_of_cells_sql()),
                  false, id.n, id.types, id.values, id.nulls);
}

} // namespace dp::catalog
