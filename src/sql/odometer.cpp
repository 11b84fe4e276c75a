// The bound of a table's odometer (doc/reference.md).
#include "catalog/decimals.hpp"
#include "sql/arguments.hpp"
#include "sql/controller.hpp"

using dp::catalog::Visit;

namespace dp::sql {

namespace {
// Arguments of dp_set_odometer, by position.
enum OdometerArgument { odometer_relation, odometer_bound, odometer_epsilon_total, odometer_delta_total };

struct Bound {
    const char *name;
    bool has_total;
    Datum epsilon_total;
    Datum delta_total;
};
} // namespace

void check_epsilon_total(Datum total) {
    privacy::Epsilon value = catalog::to_epsilon(total, "epsilon_total");
    if (value.units() < 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("epsilon_total must not be negative"),
                        errhint("0 closes the table, 'Infinity' takes the total away.")));
}

// As it is set now. The lock makes setters of one table wait for each other: none undoes what another has just set.
static Bound lock_bound(const Visit &visit, Oid relation) {
    if (run_with_oid(visit,
                     "SELECT t.bound, t.epsilon_total, t.delta_total FROM dp_rdr.protected_table t "
                     "WHERE t.relation::oid = $1 FOR UPDATE",
                     relation) != 1)
        elog(ERROR, "%s is not protected any more", catalog::qualified_name(relation));
    const char *total = visit.spi.text(0, 2);
    return Bound{visit.spi.text(0, 1), total != nullptr, total == nullptr ? Datum(0) : catalog::text_numeric(total),
                 catalog::text_numeric(visit.spi.text(0, 3))};
}

// What is passed replaces what is set.
static void merge(FunctionCallInfo fcinfo, Bound *bound) {
    if (!PG_ARGISNULL(odometer_bound))
        bound->name = text_argument(fcinfo, odometer_bound);
    if (!PG_ARGISNULL(odometer_epsilon_total)) {
        bound->epsilon_total = PG_GETARG_DATUM(odometer_epsilon_total);
        bound->has_total = !takes_away(bound->epsilon_total);
    }
    if (!PG_ARGISNULL(odometer_delta_total))
        bound->delta_total = PG_GETARG_DATUM(odometer_delta_total);
}

static void check(const Bound &bound) {
    bool known = border::core([&] { return privacy::bound_from_name(bound.name).has_value(); });
    if (!known)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("unknown bound: \"%s\"", bound.name),
                        errhint("Use 'filter', 'dynamic' or 'none'.")));
    if (!bound.has_total && strcmp(bound.name, "filter") == 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("bound filter needs an epsilon_total"),
                        errhint("Pass epsilon_total => 1, or use the bound 'none'.")));
    if (bound.has_total)
        check_epsilon_total(bound.epsilon_total);
    catalog::checked_delta(bound.delta_total, "delta_total");
}

static void store(const Visit &visit, Oid relation, const Bound &bound) {
    Oid types[4] = {OIDOID, TEXTOID, NUMERICOID, NUMERICOID};
    Datum values[4] = {ObjectIdGetDatum(relation), CStringGetTextDatum(bound.name), bound.epsilon_total,
                       bound.delta_total};
    visit.run("UPDATE dp_rdr.protected_table t SET bound = $2, epsilon_total = $3, delta_total = $4 "
              "WHERE t.relation::oid = $1",
              4, types, values, bound.has_total ? "    " : "  n ");
}

// ---- totals that are spent already ---------------------------------------------------------------------------------

// Decisions of DP modes read the public account, those of others the sum of both (formulas.md 5.2).
const char *const spent_sql = R"sql(
SELECT x.total, x.amount, x.public, x.conditional, x.public > x.amount
FROM dp_rdr.protected_table t JOIN dp_rdr.odometer o ON o.id = t.id,
LATERAL (VALUES ('epsilon_total', t.epsilon_total, o.public_epsilon, o.conditional_epsilon),
                ('delta_total', t.delta_total, o.public_delta, o.conditional_delta)) x (total, amount, public, conditional)
WHERE t.relation::oid = $1 AND t.bound <> 'none' AND x.public + x.conditional > x.amount)sql";

// What there is to say is read under settings that print nothing, and said afterwards.
namespace {
struct Warning {
    const char *message, *detail, *hint;
};
} // namespace

static List *add_warning(List *warnings, const char *message, const char *detail, const char *hint) {
    auto *warning = static_cast<Warning *>(palloc(sizeof(Warning)));
    *warning = Warning{message, detail, hint};
    return lappend(warnings, warning);
}

static List *spent_warnings(Oid relation) {
    Visit visit = Visit::write();
    uint64 rows = run_with_oid(visit, spent_sql, relation);
    List *warnings = NIL;
    MemoryContext old = MemoryContextSwitchTo(visit.spi.caller);
    const char *name = catalog::qualified_name(relation);
    for (uint64 i = 0; i < rows; i++) {
        bool isnull;
        const char *total = visit.spi.text(i, 1);
        const char *effect = DatumGetBool(border::Spi::value(i, 5, &isnull))
                                 ? "no query will be answered"
                                 : "no query whose epsilon is chosen from the data will be answered";
        warnings = add_warning(
            warnings, psprintf("%s %s of %s is less than what is spent: %s", total, visit.spi.text(i, 2), name, effect),
            psprintf("The public account has spent %s, the conditional one %s.", visit.spi.text(i, 3),
                     visit.spi.text(i, 4)),
            psprintf("Raise it with dp_set_odometer('%s', %s => ...).", name, total));
    }
    MemoryContextSwitchTo(old);
    visit.leave();
    return warnings;
}

// Policies whose delta no answer can pay any more; their queries that need none go on.
const char *const policies_sql = R"sql(
SELECT t.delta_total, trim_scale(greatest(t.delta_total - o.public_delta, 0)),
       string_agg(format('%s on %s has delta %s', p.grantee, p.view, p.delta), '; ' ORDER BY p.view::oid, p.grantee::oid)
FROM dp_rdr.protected_table t JOIN dp_rdr.odometer o ON o.id = t.id
JOIN dp_rdr.restricted_view v ON v.relation = t.relation JOIN dp_rdr.policy p ON p.view = v.view
WHERE t.relation::oid = $1 AND t.bound <> 'none'
  AND p.delta > t.delta_total - o.public_delta - CASE p.selection WHEN 'within_data' THEN o.conditional_delta ELSE 0 END
GROUP BY t.delta_total, o.public_delta)sql";

static List *policy_warnings(Oid relation, List *warnings) {
    Visit visit = Visit::write();
    uint64 rows = run_with_oid(visit, policies_sql, relation);
    MemoryContext old = MemoryContextSwitchTo(visit.spi.caller);
    const char *name = catalog::qualified_name(relation);
    if (rows > 0)
        warnings =
            add_warning(warnings,
                        psprintf("delta_total %s of %s leaves %s, less than the delta of a policy",
                                 visit.spi.text(0, 1), name, visit.spi.text(0, 2)),
                        psprintf("Queries that need it will be denied: role %s.", visit.spi.text(0, 3)),
                        psprintf("Raise it with dp_set_odometer('%s', delta_total => ...), or lower the policy's with "
                                 "dp_grant(view, grantee, delta => ...).",
                                 name));
    MemoryContextSwitchTo(old);
    visit.leave();
    return warnings;
}

DP_CALL(dp_set_odometer) {
    require(fcinfo, odometer_relation, "relation");
    Oid relation = protected_relation(PG_GETARG_OID(odometer_relation));
    Visit visit = Visit::write();
    Bound bound = lock_bound(visit, relation);
    merge(fcinfo, &bound);
    check(bound);
    store(visit, relation, bound);
    visit.leave();
    ListCell *cell;
    foreach (cell, policy_warnings(relation, spent_warnings(relation))) {
        auto *warning = static_cast<const Warning *>(lfirst(cell));
        ereport(WARNING,
                (errmsg("%s", warning->message), errdetail("%s", warning->detail), errhint("%s", warning->hint)));
    }
    PG_RETURN_VOID();
}

} // namespace dp::sql
