// dp_attack_risk: what the answers so far can tell an attacker, in rates of hits and false alarms (doc/formulas.md 7.4).
#include "privacy/attack.hpp"

#include "sql/call_arguments.hpp"
#include "sql/controller.hpp"
#include "sql/had.hpp"
#include "sql/ledger_pages.hpp"
#include "sql/result_rows.hpp"

using dp::catalog::Visit;

namespace dp::sql {

namespace {

constexpr int ways = 3;

// Adds up charges in several ways.
struct Charged {
    int64 answers, conditional; // conditional: charges whose amount was chosen from the data
    bool whole;                 // the ledger adds up to the totals
    bool by_epsilon;            // every charge has an epsilon and a delta
    bool reads;                 // the role may act as the owner
    privacy::AttackedLoss losses[ways];
};

} // namespace

// Adds up the rows of the ledger. For a domain that others were joined into it reads their rows, not what the join has carried.
// There are three ways: all in epsilon; pure charges in epsilon and Gaussian noise in rho; all in rho but rounds of Laplace noise that
// were refined. A charge that is not in rho counts with its delta, else with that of the groups alone. Claims at the end of epochs are
// left out, as they stand for charges that are here themselves.
// With a partition each sum is the largest of any cell, or that of cell $3. A role counts what it can have had, whoever was charged for it; its owner's rights give it the rows themselves.
const char *const charged_sql = DP_HAD R"sql(
, entry AS (
  SELECT l.kind, l.algorithm, l.basis, l.epoch, l.epsilon, l.delta, l.delta_groups, l.rho,
    CASE l.kind WHEN 'join' THEN (l.parameters ->> 'releases')::bigint END AS releases, $2 IS NULL OR )sql" DP_HAS_HAD
                                       R"sql( AS mine, l.account = 'public' AS public, l.table_id = t.domain AS own, l.id, l.table_id,
    l.parameters -> 'cells' AS cells, l.parameters -> 'raised' AS raised,
    l.kind IN ('pure', 'selection', 'bound') OR l.kind = 'increment' AND l.basis = 'epsilon' AS pure
  FROM dp_rdr.protected_table t JOIN dp_rdr.privacy_domain d ON t.domain IN (d.id, d.joined_into)
  JOIN dp_rdr.ledger_row l ON l.table_id = d.id
  WHERE t.relation::oid = $1 AND l.kind <> 'suspension'),
mine AS (
  SELECT e.*, e.rho > 0 AND NOT e.pure AS second, e.rho > 0 AND NOT (e.pure AND e.algorithm = 'accuracy') AS third
  FROM entry e WHERE e.kind NOT IN ('closing', 'join') AND e.mine),
counted AS (
  SELECT m.*, r.first, r.last FROM mine m
  LEFT JOIN dp_rdr.partition p ON (p.domain, p.version) = (m.table_id, (m.cells ->> 'partition')::int) AND p.column_name IS NOT NULL,
  LATERAL (SELECT coalesce(m.cells -> 'ranges', '[[null, null]]'), (m.cells ->> 'begun')::bigint) c (ranges, begun),
  LATERAL (SELECT coalesce((x ->> 0)::bigint, -9223372036854775808) AS first, coalesce((x ->> 1)::bigint, c.begun, 9223372036854775807) AS last
           FROM jsonb_array_elements(CASE WHEN p.domain IS NOT NULL THEN c.ranges ELSE '[[null, 9223372036854775807]]' END) x) r
  WHERE m.public AND ($3 IS NULL OR $3 BETWEEN r.first AND r.last)),
moved AS (
  SELECT x.place, sum(x.sign * c.epsilon) AS all_epsilon, sum(x.sign * c.delta) AS all_delta,
    sum(x.sign * c.epsilon) FILTER (WHERE NOT c.second) AS second_epsilon, sum(x.sign * c.rho) FILTER (WHERE c.second) AS second_rho,
    sum(x.sign * CASE WHEN c.second THEN c.delta_groups ELSE c.delta END) AS second_delta,
    sum(x.sign * c.epsilon) FILTER (WHERE NOT c.third) AS third_epsilon, sum(x.sign * c.rho) FILTER (WHERE c.third) AS third_rho,
    sum(x.sign * CASE WHEN c.third THEN c.delta_groups ELSE c.delta END) AS third_delta
  FROM counted c, LATERAL (SELECT c.first, 1 UNION ALL SELECT c.last + 1, -1 WHERE c.last < 9223372036854775807) x (place, sign) GROUP BY x.place),
total AS (
  SELECT sum(all_epsilon) OVER w AS all_epsilon, sum(all_delta) OVER w AS all_delta, sum(second_epsilon) OVER w AS second_epsilon,
    sum(second_rho) OVER w AS second_rho, sum(second_delta) OVER w AS second_delta, sum(third_epsilon) OVER w AS third_epsilon,
    sum(third_rho) OVER w AS third_rho, sum(third_delta) OVER w AS third_delta
  FROM moved WINDOW w AS (ORDER BY place))
SELECT (SELECT count(DISTINCT id) FROM counted WHERE kind NOT IN ('selection', 'increment')),
  (SELECT count(*) FROM mine WHERE NOT public),
  coalesce((SELECT (o.public_epsilon, o.public_delta, o.public_rho, o.public_releases) =
                   (SELECT coalesce(sum(coalesce((raised ->> 0)::numeric, epsilon)) FILTER (WHERE basis = 'epsilon'), 0),
                      coalesce(sum(coalesce((raised ->> 1)::numeric, delta)), 0),
                      coalesce(sum(coalesce((raised ->> 4)::numeric, rho)) FILTER (WHERE basis = 'rho' AND epoch = o.epoch), 0),
                      count(*) FILTER (WHERE kind NOT IN ('selection', 'increment', 'closing', 'join')) + coalesce(sum(releases), 0)
                    FROM entry WHERE public AND own)
            FROM dp_rdr.odometer o JOIN dp_rdr.protected_table t ON t.domain = o.id WHERE t.relation::oid = $1), false),
  coalesce((SELECT bool_and(pure OR basis = 'epsilon') FROM counted), true),
  coalesce(max(all_epsilon), 0)::float8, coalesce(max(all_delta), 0)::float8, coalesce(max(second_epsilon), 0)::float8,
  coalesce(max(second_rho), 0)::float8, coalesce(max(second_delta), 0)::float8, coalesce(max(third_epsilon), 0)::float8,
  coalesce(max(third_rho), 0)::float8, coalesce(max(third_delta), 0)::float8,
  coalesce((SELECT pg_has_role($2, c.relowner, 'MEMBER') FROM pg_class c WHERE c.oid = $1), false)
FROM total)sql";

// Returns the cell of that name.
static int64 cell_named(const ProtectedTable &table, const char *name) {
    const catalog::Partition *partition = declared_partition(table);
    if (partition == nullptr)
        refuse_no_partition(table.name);
    const int64 last = catalog::last_cell(*partition, catalog::today());
    for (int64 cell = partition->others(); cell <= last; cell++)
        if (strcmp(catalog::name_of_cells(*partition, cell, cell), name) == 0)
            return cell;
    refuse_value(psprintf("%s has no cell \"%s\"", table.name, name), "dp_cells() has their names.");
}

// role: none for those of everybody. cell: those that were charged to it.
static Charged read_charged(Oid relation, Oid role, std::optional<int64> cell) {
    constexpr double up = 1 + 1e-9; // sums of decimals as doubles
    const auto sum = [](int column) { return catalog::value_at<double>(0, column) * up; };
    Visit visit = Visit::read();
    run(visit, charged_sql, relation, catalog::if_given(OidIsValid(role), role), cell);
    const Charged charged = {
        catalog::value_at<int64>(0, 1), catalog::value_at<int64>(0, 2),
        catalog::value_at<bool>(0, 3),  catalog::value_at<bool>(0, 4),
        catalog::value_at<bool>(0, 13), {{sum(5), 0, sum(6)}, {sum(7), sum(8), sum(9)}, {sum(10), sum(11), sum(12)}}};
    visit.leave();
    return charged;
}

static double tpr_of(const Charged &charged, double fpr) {
    double least = 1;
    for (int i = charged.by_epsilon ? 0 : 1; i < ways; i++)
        least = Min(least, privacy::largest_tpr(charged.losses[i], fpr));
    return least;
}

static double advantage_of(const Charged &charged) {
    double least = 1;
    for (int i = charged.by_epsilon ? 0 : 1; i < ways; i++)
        least = Min(least, privacy::largest_advantage(charged.losses[i]));
    return least;
}

static const char *percent(double rate) {
    return psprintf("%.3g %%", 100 * rate);
}

// Says it in words for a data protection officer.
static void tell(const Charged &charged, const char *seen, bool bounded) {
    if (!bounded) {
        const char *why = charged.reads ? "the role may act as the owner of the table, who reads its rows"
                                        : "the epsilon of some was chosen from the data";
        ereport(NOTICE,
                (errmsg("nothing bounds what answers %s tell: %s", seen, why),
                 errdetail("Charges whose epsilon was chosen from the data: " INT64_FORMAT ".", charged.conditional)));
        return;
    }
    constexpr double alarms = 0.01, prior = 0.1;
    const double hits = tpr_of(charged, alarms);
    ereport(
        NOTICE,
        (errmsg("somebody who has all answers %s (" INT64_FORMAT
                "), and is wrong about 1 %% of the people who are not in the "
                "table, recognizes at most %s of those who are",
                seen, charged.answers, percent(hits)),
         errdetail(
             "Without any answer it would be 1 %%. Of the people whom he names, at most %s are in the table, if 10 %% "
             "of all people are. %s",
             percent(privacy::largest_hit_rate(hits, alarms, prior)),
             charged.conditional == 0
                 ? "No attack is better, whatever else is known of the other people."
                 : psprintf("This does not hold for who is also shown answers whose epsilon was chosen from the "
                            "data (charges: " INT64_FORMAT ").",
                            charged.conditional))));
}

static void put_rates(const ResultRows &rows, const Charged &charged, bool bounded) {
    static const double rates[] = {0.001, 0.01, 0.05, 0.1, 0.25, 0.5}, priors[] = {0.01, 0.1, 0.5};
    const double advantage = bounded ? advantage_of(charged) : 1;
    for (double fpr : rates) {
        CHECK_FOR_INTERRUPTS();
        const double tpr = bounded ? tpr_of(charged, fpr) : 1;
        for (double prior : priors)
            rows.put(fpr, tpr, advantage, prior, bounded ? privacy::largest_hit_rate(tpr, fpr, prior) : 1);
    }
}

// Returns how many of 100 people are recognised, by answers of this loss, at one false alarm among 100 others.
DP_FUNCTION(dp_recognised) {
    const privacy::AttackedLoss loss = {PG_GETARG_FLOAT8(0), PG_GETARG_FLOAT8(1), PG_GETARG_FLOAT8(2)};
    PG_RETURN_FLOAT8(100 * border::core([&] { return privacy::largest_tpr(loss, 0.01); }));
}

DP_CALL(dp_attack_risk) {
    require(fcinfo, 0, "relation");
    Oid relation = protected_relation(PG_GETARG_OID(0));
    const Oid role = PG_ARGISNULL(1) ? InvalidOid : PG_GETARG_OID(1);
    const char *of_role = OidIsValid(role) ? quote_identifier(GetUserNameFromId(role, false)) : nullptr;
    const char *cell = text_argument(fcinfo, 2);
    std::optional<int64> number;
    if (cell != nullptr)
        number = cell_named(controlled_table(relation), cell);
    const Charged charged = read_charged(relation, role, number);
    const char *name = catalog::qualified_name(relation);
    if (!charged.whole)
        refuse_state(
            psprintf("the ledger of %s does not add up to its totals", name),
            psprintf("dp_verify_ledger(%s, \"full\" => true) tells where; after a restore of a part, dp_protect() on "
                     "the table.",
                     quote_literal_cstr(name)));
    // Under the public account answers of the other kind are nobody's; to a role they were given.
    const bool bounded = of_role == nullptr || (charged.conditional == 0 && !charged.reads);
    put_rates(ResultRows(fcinfo), charged, bounded);
    const char *about = cell == nullptr ? psprintf("about %s", name) : psprintf("about %s of %s", cell, name);
    tell(charged, of_role == nullptr ? about : psprintf("%s that role %s can have had", about, of_role), bounded);
    return Datum(0);
}

} // namespace dp::sql
