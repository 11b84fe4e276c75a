// dp_attack_risk: what the answers so far can tell an attacker, in rates of hits and false alarms (doc/formulas.md 7.4).
#include "privacy/attack.hpp"

#include "border/guard.hpp"
#include "catalog/access.hpp"
#include "catalog/decimals.hpp"
#include "catalog/settings.hpp"
#include "sql/arguments.hpp"
#include "sql/controller.hpp"

using dp::catalog::Visit;

namespace dp::sql {

namespace {

constexpr int ways = 3;

// What was charged, looked at in several ways.
struct Charged {
    int64 answers, conditional; // conditional: charges whose amount was chosen from the data
    bool whole;                 // the ledger adds up to the totals
    bool by_epsilon;            // every charge has an epsilon and a delta
    privacy::AttackedLoss losses[ways];
};

} // namespace

// Of a domain that others were joined into: of their rows, not of what the join has carried.
// Three ways: all in epsilon; what is pure in epsilon and Gaussian noise in rho; all in rho but rounds of Laplace noise that were
// refined. What is not in rho counts with its delta, else with that of the groups alone. Claims at the end of epochs are
// of what was charged before, which is here itself.
const char *const charged_sql = R"sql(
WITH entry AS (
  SELECT l.*, l.account = 'public' AS public, l.table_id = t.domain AS own,
    l.kind IN ('pure', 'selection', 'bound') OR l.kind = 'increment' AND l.basis = 'epsilon' AS pure
  FROM dp_rdr.protected_table t JOIN dp_rdr.privacy_domain d ON t.domain IN (d.id, d.joined_into)
  JOIN dp_rdr.ledger_row l ON l.table_id = d.id
  WHERE t.relation::oid = $1 AND l.kind <> 'suspension'),
mine AS (
  SELECT e.*, e.rho > 0 AND NOT e.pure AS second, e.rho > 0 AND NOT (e.pure AND e.algorithm = 'accuracy') AS third
  FROM entry e WHERE e.kind NOT IN ('closing', 'join') AND ($2 IS NULL OR $2 IN (e.grantee, e.role_name, e.session_role))),
counted AS (SELECT * FROM mine WHERE public)
SELECT (SELECT count(*) FROM counted WHERE kind NOT IN ('selection', 'increment')),
  (SELECT count(*) FROM mine WHERE NOT public),
  coalesce((SELECT (o.public_epsilon, o.public_delta, o.public_rho, o.public_releases) =
                   (SELECT coalesce(sum(epsilon) FILTER (WHERE basis = 'epsilon'), 0), coalesce(sum(delta), 0),
                      coalesce(sum(rho) FILTER (WHERE basis = 'rho' AND epoch = o.epoch), 0),
                      count(*) FILTER (WHERE kind NOT IN ('selection', 'increment', 'closing', 'join'))
                        + coalesce(sum((parameters ->> 'releases')::bigint) FILTER (WHERE kind = 'join'), 0)
                    FROM entry WHERE public AND own)
            FROM dp_rdr.odometer o JOIN dp_rdr.protected_table t ON t.domain = o.id WHERE t.relation::oid = $1), false),
  coalesce(bool_and(pure OR basis = 'epsilon'), true),
  coalesce(sum(epsilon), 0)::float8, coalesce(sum(delta), 0)::float8,
  coalesce(sum(epsilon) FILTER (WHERE NOT second), 0)::float8, coalesce(sum(rho) FILTER (WHERE second), 0)::float8,
  coalesce(sum(CASE WHEN second THEN delta_groups ELSE delta END), 0)::float8,
  coalesce(sum(epsilon) FILTER (WHERE NOT third), 0)::float8, coalesce(sum(rho) FILTER (WHERE third), 0)::float8,
  coalesce(sum(CASE WHEN third THEN delta_groups ELSE delta END), 0)::float8
FROM counted)sql";

static double number(int column) {
    bool isnull;
    return DatumGetFloat8(border::Spi::value(0, column, &isnull));
}

static Charged read_charged(Oid relation, const char *role) {
    Charged charged = {};
    Oid types[2] = {OIDOID, TEXTOID};
    Datum values[2] = {ObjectIdGetDatum(relation), role == nullptr ? Datum(0) : CStringGetTextDatum(role)};
    Visit visit = Visit::read();
    visit.run(charged_sql, 2, types, values, role == nullptr ? " n" : "  ");
    bool isnull;
    charged.answers = DatumGetInt64(border::Spi::value(0, 1, &isnull));
    charged.conditional = DatumGetInt64(border::Spi::value(0, 2, &isnull));
    charged.whole = DatumGetBool(border::Spi::value(0, 3, &isnull));
    charged.by_epsilon = DatumGetBool(border::Spi::value(0, 4, &isnull));
    // Sums of decimals as doubles: upwards.
    constexpr double up = 1 + 1e-9;
    charged.losses[0] = {number(5) * up, 0, number(6) * up};
    charged.losses[1] = {number(7) * up, number(8) * up, number(9) * up};
    charged.losses[2] = {number(10) * up, number(11) * up, number(12) * up};
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

// What a data protection officer reads.
static void tell(const Charged &charged, const char *seen, bool bounded) {
    if (!bounded) {
        ereport(NOTICE,
                (errmsg("nothing bounds what answers %s tell: the epsilon of some was chosen from the data", seen),
                 errdetail("Charges of that kind: " INT64_FORMAT ".", charged.conditional)));
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

static void put_rates(ReturnSetInfo *result, const Charged &charged, bool bounded) {
    static const double rates[] = {0.001, 0.01, 0.05, 0.1, 0.25, 0.5}, priors[] = {0.01, 0.1, 0.5};
    const double advantage = bounded ? advantage_of(charged) : 1;
    for (double fpr : rates) {
        CHECK_FOR_INTERRUPTS();
        const double tpr = bounded ? tpr_of(charged, fpr) : 1;
        for (double prior : priors) {
            Datum values[5] = {Float8GetDatum(fpr), Float8GetDatum(tpr), Float8GetDatum(advantage),
                               Float8GetDatum(prior),
                               Float8GetDatum(bounded ? privacy::largest_hit_rate(tpr, fpr, prior) : 1)};
            bool nulls[5] = {};
            tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
        }
    }
}

DP_CALL(dp_attack_risk) {
    require(fcinfo, 0, "relation");
    Oid relation = protected_relation(PG_GETARG_OID(0));
    const char *role = PG_ARGISNULL(1) ? nullptr : GetUserNameFromId(PG_GETARG_OID(1), false);
    Charged charged = read_charged(relation, role);
    const char *name = catalog::qualified_name(relation);
    if (!charged.whole)
        ereport(ERROR,
                (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                 errmsg("the ledger of %s does not add up to its totals", name),
                 errhint("dp_verify_ledger() tells where; after a restore of a part, dp_protect() on the table.")));
    // Under the public account answers of the other kind are nobody's; to a role they were given.
    const bool bounded = role == nullptr || charged.conditional == 0;
    InitMaterializedSRF(fcinfo, 0);
    put_rates(reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo), charged, bounded);
    tell(charged,
         role == nullptr ? psprintf("about %s", name) : psprintf("about %s to role %s", name, quote_identifier(role)),
         bounded);
    return Datum(0);
}

} // namespace dp::sql
