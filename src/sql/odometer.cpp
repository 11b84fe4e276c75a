// The bound of a table's odometer (doc/reference.md).
#include "sql/odometer.hpp"

#include "catalog/decimals.hpp"
#include "catalog/settings.hpp"
#include "sql/arguments.hpp"
#include "sql/carry_over.hpp"
#include "sql/controller.hpp"
#include "sql/had.hpp"
#include "sql/profile.hpp"

using dp::catalog::Visit;

namespace dp::sql {

namespace {
// Arguments of dp_set_odometer, by position.
enum OdometerArgument {
    odometer_relation,
    odometer_bound,
    odometer_epsilon_total,
    odometer_delta_total,
    odometer_delta_conversion,
    odometer_cap,
    odometer_epsilon_pure,
    odometer_rho_target,
    odometer_profile,
    odometer_period,
    odometer_epsilon_lifetime,
    odometer_delta_lifetime
};

// As it is stored: numbers as they were passed.
struct Bound {
    const char *name;
    Datum delta_total, epsilon_pure;
    bool has_total, has_conversion, has_target;
    Datum epsilon_total, delta_conversion, rho_target;
    const char *cap;
    const char *profile; // JSON, or null
    int epoch;
    const char *period; // or null
    privacy::Day since;
    bool has_epsilon_lifetime, has_delta_lifetime;
    Datum epsilon_lifetime, delta_lifetime;
};
} // namespace

void check_epsilon_total(Datum total) {
    privacy::Epsilon value = catalog::to_epsilon(total, "epsilon_total");
    if (value.units() < 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("epsilon_total must not be negative"),
                        errhint("0 closes the table, 'Infinity' takes the total away.")));
}

// ---- what is set now -----------------------------------------------------------------------------------------------

static Datum numeric_at(const Visit &visit, int column, bool *has) {
    const char *text = visit.spi.text(0, column);
    if (has != nullptr)
        *has = text != nullptr;
    return text == nullptr ? Datum{0} : catalog::text_numeric(text);
}

// The lock makes setters of one table wait for each other: none undoes what another has just set.
static Bound lock_bound(const Visit &visit, Oid relation) {
    lock_declarations(visit, relation);
    if (run_with_oid(visit,
                     "SELECT d.bound, d.epsilon_total, d.delta_total, d.delta_conversion, d.cap, d.epsilon_pure, "
                     "d.rho_target, d.epoch, d.profile, d.period, d.period_since, d.epsilon_lifetime, d.delta_lifetime "
                     "FROM dp_rdr.protected_table t JOIN dp_rdr.privacy_domain d ON d.id = t.domain "
                     "WHERE t.relation::oid = $1 FOR UPDATE OF d",
                     relation) != 1)
        elog(ERROR, "%s is not protected any more", catalog::qualified_name(relation));
    Bound bound = {};
    bool isnull;
    bound.name = visit.spi.text(0, 1);
    bound.epsilon_total = numeric_at(visit, 2, &bound.has_total);
    bound.delta_total = numeric_at(visit, 3, nullptr);
    bound.delta_conversion = numeric_at(visit, 4, &bound.has_conversion);
    bound.cap = visit.spi.text(0, 5);
    bound.epsilon_pure = numeric_at(visit, 6, nullptr);
    bound.rho_target = numeric_at(visit, 7, &bound.has_target);
    bound.epoch = DatumGetInt32(border::Spi::value(0, 8, &isnull));
    bound.profile = visit.spi.text(0, 9);
    bound.period = visit.spi.text(0, 10);
    Datum since = border::Spi::value(0, 11, &isnull);
    bound.since = isnull ? 0 : DatumGetDateADT(since);
    bound.epsilon_lifetime = numeric_at(visit, 12, &bound.has_epsilon_lifetime);
    bound.delta_lifetime = numeric_at(visit, 13, &bound.has_delta_lifetime);
    return bound;
}

static bool is_zcdp(const Bound &bound) {
    return strcmp(bound.name, "zcdp") == 0;
}

// What is passed replaces what is set.
static void merge(FunctionCallInfo fcinfo, const Profile *profile, Bound *bound) {
    auto take = [&](int argument, Datum *value, bool *has) {
        if (PG_ARGISNULL(argument))
            return;
        *value = PG_GETARG_DATUM(argument);
        if (has != nullptr)
            *has = true;
    };
    if (!PG_ARGISNULL(odometer_bound))
        bound->name = text_argument(fcinfo, odometer_bound);
    if (!PG_ARGISNULL(odometer_cap))
        bound->cap = text_argument(fcinfo, odometer_cap);
    if (!PG_ARGISNULL(odometer_profile))
        bound->profile = profile == nullptr ? nullptr : profile->json;
    bool had_total = bound->has_total;
    take(odometer_epsilon_total, &bound->epsilon_total, &bound->has_total);
    bound->has_total = bound->has_total && !takes_away(bound->epsilon_total);
    take(odometer_delta_total, &bound->delta_total, nullptr);
    take(odometer_epsilon_pure, &bound->epsilon_pure, nullptr);
    take(odometer_rho_target, &bound->rho_target, &bound->has_target);
    take(odometer_delta_conversion, &bound->delta_conversion, &bound->has_conversion);
    // A target goes with the lack of a total.
    if (bound->has_total && !had_total && PG_ARGISNULL(odometer_rho_target))
        bound->has_target = false;
}

// The day on which it is set counts until the period turns: what was spent before belongs to it. A clock that was ahead then
// would keep it from turning.
static void merge_period(FunctionCallInfo fcinfo, Bound *bound) {
    const char *was = bound->period;
    if (!PG_ARGISNULL(odometer_period)) {
        const char *name = text_argument(fcinfo, odometer_period);
        bound->period = *name == '\0' ? nullptr : name;
    }
    const bool same = was != nullptr && bound->period != nullptr && strcmp(was, bound->period) == 0;
    if (!same || bound->since > catalog::today())
        bound->since = catalog::today();
    auto take = [&](int argument, Datum *value, bool *has) {
        if (PG_ARGISNULL(argument))
            return;
        *value = PG_GETARG_DATUM(argument);
        *has = !takes_away(*value);
    };
    take(odometer_epsilon_lifetime, &bound->epsilon_lifetime, &bound->has_epsilon_lifetime);
    take(odometer_delta_lifetime, &bound->delta_lifetime, &bound->has_delta_lifetime);
}

// What goes with a period alone ends with it: the total binds over everything then, and was never more.
static void leave_period(FunctionCallInfo fcinfo, Bound *bound) {
    const char *const names[] = {"epsilon_lifetime", "delta_lifetime"};
    for (int i = odometer_epsilon_lifetime; i <= odometer_delta_lifetime; i++)
        if (!PG_ARGISNULL(i) && !takes_away(PG_GETARG_DATUM(i)))
            ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                            errmsg("%s goes with a period", names[i - odometer_epsilon_lifetime]),
                            errhint("Pass period => 'month' as well; without a period the totals bind over "
                                    "everything.")));
    bound->has_epsilon_lifetime = bound->has_delta_lifetime = false;
}

// What goes with zcdp alone ends with it.
static void leave_zcdp(FunctionCallInfo fcinfo, Bound *bound) {
    const char *const names[] = {"delta_conversion", "cap", "epsilon_pure", "rho_target"};
    for (int i = odometer_delta_conversion; i <= odometer_rho_target; i++)
        if (!PG_ARGISNULL(i))
            ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                            errmsg("%s goes with the bound zcdp", names[i - odometer_delta_conversion]),
                            errhint("Pass bound => 'zcdp' as well, or leave it out.")));
    bound->cap = "tight";
    bound->epsilon_pure = catalog::text_numeric("0");
    bound->has_conversion = bound->has_target = false;
}

// ---- checks --------------------------------------------------------------------------------------------------------

// What a profile promises rests on a total of pure epsilon.
static void check_profile(const Bound &bound) {
    if (strcmp(bound.name, "filter") != 0 && strcmp(bound.name, "dynamic") != 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("a risk profile does not go with the bound %s", bound.name),
                        errhint("Use 'filter' or 'dynamic', or take the profile away with profile => '{}'.")));
    if (catalog::to_delta(bound.delta_total, "delta_total").units() > 0)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("a risk profile does not go with a delta_total"),
                 errhint("Pass delta_total => 0, or take the profile away with profile => '{}'.")));
}

static void check_period(const Bound &bound) {
    const bool known = border::core([&] { return privacy::period_from_name(bound.period).has_value(); });
    if (!known)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("unknown period: \"%s\"", bound.period),
                        errhint("Use 'day', 'week', 'month', 'quarter' or 'year'; '' takes the period away.")));
    if (strcmp(bound.name, "filter") != 0)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("a period does not go with the bound %s", bound.name),
                 errhint("Use the bound 'filter', or take the period away with period => ''.")));
}

// Over all periods there is no less than in one.
template <class Number> static void check_lifetime(const char *name, Number lifetime, const char *of, Number total) {
    if (lifetime >= total && lifetime.units() >= 0)
        return;
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s must be at least %s", name, of),
                    errdetail("%s would be %s, and %s %s.", name, catalog::numeric_text(catalog::to_numeric(lifetime)),
                              of, catalog::numeric_text(catalog::to_numeric(total))),
                    errhint("It binds over all periods, and %s within each; 'Infinity' takes it away.", of)));
}

static void check_lifetimes(const Bound &bound, privacy::BoundSettings *settings) {
    if (bound.has_epsilon_lifetime) {
        settings->epsilon_lifetime = catalog::to_epsilon(bound.epsilon_lifetime, "epsilon_lifetime");
        check_lifetime("epsilon_lifetime", *settings->epsilon_lifetime, "epsilon_total",
                       settings->epsilon_total.value_or(privacy::Epsilon()));
    }
    if (bound.has_delta_lifetime) {
        settings->delta_lifetime = catalog::checked_delta(bound.delta_lifetime, "delta_lifetime");
        check_lifetime("delta_lifetime", *settings->delta_lifetime, "delta_total", settings->delta_total);
    }
}

static void check_bound(const Bound &bound) {
    bool known = border::core([&] { return privacy::bound_from_name(bound.name).has_value(); });
    if (!known)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("unknown bound: \"%s\"", bound.name),
                        errhint("Use 'filter', 'dynamic', 'zcdp' or 'none'.")));
    if (!bound.has_total && bound.profile == nullptr && strcmp(bound.name, "filter") == 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("bound filter needs an epsilon_total"),
                        errhint("Pass epsilon_total => 1, or use the bound 'none'.")));
    if (bound.has_total)
        check_epsilon_total(bound.epsilon_total);
    catalog::checked_delta(bound.delta_total, "delta_total");
    if (bound.profile != nullptr)
        check_profile(bound);
}

// A total is added to the sums at the end of its epoch: many must fit.
static void check_zcdp_total(const privacy::BoundSettings &settings) {
    constexpr int64 largest = 100000;
    if (settings.epsilon_total && settings.epsilon_total->units() > largest * int64{1000000000})
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("epsilon_total under zcdp must be at most 100000"),
                 errhint("Without any, epsilon_total => 'Infinity', everything is answered and counted.")));
}

static privacy::Delta checked_conversion(const Bound &bound, privacy::Delta total) {
    if (total.units() == 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("bound zcdp needs a delta_total above 0"),
                        errhint("Pass delta_total => 1e-6, for instance.")));
    privacy::Delta conversion = bound.has_conversion ? catalog::to_delta(bound.delta_conversion, "delta_conversion")
                                                     : privacy::default_conversion(total);
    if (conversion.units() <= 0 || conversion > total)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("delta_conversion must be above 0, and at most delta_total"),
                        errhint("Half of delta_total leaves as much for groups that nobody declared; all of it leaves "
                                "nothing for them.")));
    return conversion;
}

static privacy::Cap checked_cap(const char *name) {
    privacy::Cap cap = {};
    bool known = border::core([&] {
        const std::optional<privacy::Cap> parsed = privacy::cap_from_name(name);
        cap = parsed.value_or(privacy::Cap::tight);
        return parsed.has_value();
    });
    if (!known)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("unknown cap: \"%s\"", name),
                        errhint("Use 'tight' or 'classic'.")));
    return cap;
}

static privacy::Epsilon checked_pure(const Bound &bound, const privacy::BoundSettings &settings) {
    privacy::Epsilon pure = catalog::to_epsilon(bound.epsilon_pure, "epsilon_pure");
    if (pure.units() < 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("epsilon_pure must not be negative"),
                        errhint("0 charges Laplace noise in rho, as everything else.")));
    if (pure.units() > 0 && (!settings.epsilon_total || pure >= *settings.epsilon_total))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("epsilon_pure must be below epsilon_total"),
                        errhint("It is the part of the total that Laplace noise may use; pass epsilon_pure => 0 for "
                                "none.")));
    return pure;
}

// Only a bound without a total needs one: it is fixed in advance, and never follows another setting.
static privacy::Rho checked_target(FunctionCallInfo fcinfo, const Bound &bound,
                                   const privacy::BoundSettings &settings) {
    if (settings.epsilon_total && !PG_ARGISNULL(odometer_rho_target))
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("rho_target goes with a bound that has no total"),
                 errhint("Leave it out, or take the total away with epsilon_total => 'Infinity'.")));
    if (settings.epsilon_total)
        return privacy::Rho();
    if (!bound.has_target)
        return border::core([&] {
            return privacy::rho_cap(*privacy::Epsilon::parse("1"), settings.delta_conversion, privacy::Cap::tight);
        });
    privacy::Rho target = catalog::to_rho(bound.rho_target, "rho_target");
    if (target.units() <= 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("rho_target must be above 0"),
                        errhint("The bound that holds at all times is smallest near it: 0.03, for instance.")));
    return target;
}

// All numbers are in range; of the caller's own zcdp arguments nothing was checked before.
static privacy::BoundSettings checked(FunctionCallInfo fcinfo, const Bound &bound) {
    check_bound(bound);
    privacy::BoundSettings settings;
    border::core([&] { settings.bound = *privacy::bound_from_name(bound.name); });
    if (bound.has_total)
        settings.epsilon_total = catalog::to_epsilon(bound.epsilon_total, "epsilon_total");
    settings.delta_total = catalog::to_delta(bound.delta_total, "delta_total");
    if (bound.period != nullptr) {
        check_period(bound);
        check_lifetimes(bound, &settings);
    }
    if (!is_zcdp(bound))
        return settings;
    check_zcdp_total(settings);
    settings.delta_conversion = checked_conversion(bound, settings.delta_total);
    settings.cap = checked_cap(bound.cap);
    settings.epsilon_pure = checked_pure(bound, settings);
    settings.rho_target = checked_target(fcinfo, bound, settings);
    if (settings.epsilon_total)
        settings.rho_total = border::core([&] {
            return privacy::rho_cap(*settings.epsilon_total - settings.epsilon_pure, settings.delta_conversion,
                                    settings.cap);
        });
    return settings;
}

// ---- storing it ----------------------------------------------------------------------------------------------------

// Where the sums must begin anew, as what an epoch promises would not hold.
static bool begins_epoch(const privacy::BoundSettings &was, const privacy::BoundSettings &now) {
    constexpr auto zcdp = privacy::Bound::zcdp;
    if (was.bound != zcdp || now.bound != zcdp)
        return (was.bound == zcdp) != (now.bound == zcdp);
    if (was.epsilon_pure != now.epsilon_pure || was.epsilon_total.has_value() != now.epsilon_total.has_value())
        return true;
    return !now.epsilon_total && (was.rho_target != now.rho_target || was.delta_conversion != now.delta_conversion);
}

static void store(const Visit &visit, Oid relation, const Bound &bound, const privacy::BoundSettings &settings) {
    Datum rho = catalog::to_numeric(settings.epsilon_total ? settings.rho_total : settings.rho_target);
    bool has_rho_total = is_zcdp(bound) && bound.has_total, has_target = is_zcdp(bound) && !bound.has_total;
    Oid types[15] = {OIDOID,     TEXTOID, NUMERICOID, NUMERICOID, NUMERICOID, TEXTOID,    NUMERICOID, NUMERICOID,
                     NUMERICOID, INT4OID, TEXTOID,    TEXTOID,    DATEOID,    NUMERICOID, NUMERICOID};
    Datum values[15] = {ObjectIdGetDatum(relation),
                        CStringGetTextDatum(bound.name),
                        bound.epsilon_total,
                        bound.delta_total,
                        bound.delta_conversion,
                        CStringGetTextDatum(bound.cap),
                        catalog::to_numeric(settings.epsilon_pure), // what decisions are made on
                        rho,
                        rho,
                        Int32GetDatum(bound.epoch),
                        bound.profile == nullptr ? Datum(0) : CStringGetTextDatum(bound.profile),
                        bound.period == nullptr ? Datum(0) : CStringGetTextDatum(bound.period),
                        DateADTGetDatum(static_cast<DateADT>(bound.since)),
                        bound.epsilon_lifetime,
                        bound.delta_lifetime};
    char nulls[16] = "               ";
    nulls[2] = bound.has_total ? ' ' : 'n';
    nulls[4] = bound.has_conversion ? ' ' : 'n';
    nulls[7] = has_target ? ' ' : 'n';
    nulls[8] = has_rho_total ? ' ' : 'n';
    nulls[10] = bound.profile != nullptr ? ' ' : 'n';
    nulls[11] = nulls[12] = bound.period != nullptr ? ' ' : 'n';
    nulls[13] = bound.has_epsilon_lifetime ? ' ' : 'n';
    nulls[14] = bound.has_delta_lifetime ? ' ' : 'n';
    visit.run("UPDATE dp_rdr.privacy_domain d SET bound = $2, epsilon_total = $3, delta_total = $4, "
              "delta_conversion = $5, cap = $6, epsilon_pure = $7, rho_target = $8, rho_total = $9, epoch = $10, "
              "profile = $11::jsonb, period = $12, period_since = $13, epsilon_lifetime = $14, delta_lifetime = $15 "
              "FROM dp_rdr.protected_table t WHERE t.domain = d.id AND t.relation::oid = $1",
              15, types, values, nulls);
}

// What the role has used already in this epoch counts as a policy does that would use it.
void check_shares(const Visit &visit, Oid relation) {
    if (run_with_oid(
            visit,
            "SELECT p.grantee FROM dp_rdr.protected_table t "
            "JOIN dp_rdr.privacy_domain d ON d.id = t.domain JOIN dp_rdr.protected_table o ON o.domain = d.id "
            "JOIN dp_rdr.restricted_view v ON v.relation = o.relation JOIN dp_rdr.policy p ON p.view = v.view "
            "LEFT JOIN LATERAL (SELECT bool_or(l.basis = 'rho') AS rho, bool_or(l.basis = 'epsilon') AS epsilon "
            "  FROM dp_rdr.ledger_row l WHERE l.table_id = d.id AND l.epoch = d.epoch "
            "  AND l.kind <> 'suspension' AND l.grantee = pg_get_userbyid(p.grantee)) used ON true "
            "WHERE t.relation::oid = $1 AND d.bound = 'zcdp' AND d.epsilon_pure > 0 GROUP BY p.grantee "
            "HAVING count(p.epsilon_total) + count(p.profile) > 0 AND bool_or(p.mechanism = 'gaussian' OR used.rho) "
            "AND bool_or(p.mechanism = 'laplace' OR p.selection = 'released' OR used.epsilon) "
            "ORDER BY p.grantee LIMIT 1",
            relation) == 0)
        return;
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("role %s would have its share of the total twice", visit.spi.text(0, 1)),
             errdetail(
                 "With an epsilon_pure Laplace noise and selections are charged in epsilon, Gaussian noise "
                 "in rho, and its policies on the table use both, or one of them and its charges since the bound began "
                 "the other."),
             errhint("Grant it one mechanism without tau_var, or no share (epsilon_total => 'Infinity'); or set "
                     "epsilon_pure => 0 with dp_set_odometer().")));
}

// Why a role's answers are not all of pure epsilon.
const char *const profiles_sql = DP_HAD R"sql(
SELECT p.grantee, CASE
    WHEN d.bound = 'zcdp' AND d.epsilon_pure = 0 THEN 'the bound zcdp of the table charges its answers in rho'
    WHEN p.mechanism <> 'laplace' THEN format('its policy on %s has the mechanism %s', v.view, p.mechanism)
    WHEN p.delta > 0 THEN format('its policy on %s has a delta', v.view)
    WHEN p.selection = 'within_data' THEN format('its policy on %s has the selection within_data', v.view)
    ELSE 'it can have had answers with a delta, in rho, or with an epsilon chosen from the data' END
FROM dp_rdr.protected_table t
JOIN dp_rdr.privacy_domain d ON d.id = t.domain JOIN dp_rdr.protected_table o ON o.domain = d.id
JOIN dp_rdr.restricted_view v ON v.relation = o.relation JOIN dp_rdr.policy p ON p.view = v.view
WHERE t.relation::oid = $1
  AND EXISTS (SELECT FROM dp_rdr.protected_table q JOIN dp_rdr.restricted_view w ON w.relation = q.relation
              JOIN dp_rdr.policy s ON s.view = w.view WHERE q.domain = d.id AND s.grantee = p.grantee AND s.profile IS NOT NULL)
  AND ((d.bound = 'zcdp' AND d.epsilon_pure = 0) OR p.mechanism <> 'laplace' OR p.delta > 0
       OR p.selection = 'within_data'
       OR EXISTS (SELECT FROM dp_rdr.privacy_domain j JOIN dp_rdr.ledger_row l ON l.table_id = j.id
                  WHERE d.id IN (j.id, j.joined_into)
                    AND (l.grantee = pg_get_userbyid(p.grantee) OR l.grantee_oid = p.grantee
                         OR (p.grantee::oid = $2 AND )sql" DP_HAS_HAD R"sql())
                    AND (l.delta > 0 OR l.basis = 'rho' OR l.account = 'conditional')))
ORDER BY p.grantee, v.view LIMIT 1)sql";

// A total that is a profile's, beside answers that the total of DP modes does not count.
static void check_table_profile(const Visit &visit, Oid relation) {
    if (run_with_oid(visit,
                     "SELECT t.relation::text, p.grantee, v.view FROM dp_rdr.protected_table t "
                     "JOIN dp_rdr.privacy_domain d ON d.id = t.domain JOIN dp_rdr.protected_table o ON o.domain = d.id "
                     "JOIN dp_rdr.restricted_view v ON v.relation = o.relation JOIN dp_rdr.policy p ON p.view = v.view "
                     "WHERE t.relation::oid = $1 AND d.profile IS NOT NULL AND p.selection = 'within_data' "
                     "ORDER BY v.view, p.grantee LIMIT 1",
                     relation) == 0)
        return;
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("%s has a risk profile, and the policy of role %s on %s the selection within_data",
                           visit.spi.text(0, 1), visit.spi.text(0, 2), visit.spi.text(0, 3)),
                    errdetail("Nothing bounds what answers tell whose epsilon is chosen from the private rows."),
                    errhint("Grant selection => 'within_domain', or take the table's profile away with "
                            "dp_set_odometer(profile => '{}').")));
}

// All that a role can have had is looked at when it gets a profile. Later only what its own policies charge is, which is its share's.
void check_profiles(const Visit &visit, Oid relation, Oid profiled) {
    check_table_profile(visit, relation);
    Oid types[2] = {OIDOID, OIDOID};
    Datum values[2] = {ObjectIdGetDatum(relation), ObjectIdGetDatum(profiled)};
    if (visit.run(profiles_sql, 2, types, values) == 0)
        return;
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("role %s has a risk profile, and %s", visit.spi.text(0, 1), visit.spi.text(0, 2)),
             errdetail("A profile is about all that the role's answers on the table tell, and holds under pure "
                       "epsilon alone."),
             errhint("Take the profile away with profile => '{}'; or grant Laplace noise without delta on all views "
                     "of the table; under zcdp set an epsilon_pure with dp_set_odometer().")));
}

// What the keepers read: under this transaction's own snapshot, so with what it has just set.
static BoundState state_of(Oid relation) {
    BoundState state = {};
    catalog::Reading reading = catalog::Reading::open();
    const catalog::Bound *bound = catalog::read_bound(reading, relation);
    if (bound == nullptr)
        elog(ERROR, "%s is not protected any more", catalog::qualified_name(relation));
    state.bound = bound->settings;
    state.epoch = bound->epoch;
    state.has_odometer = catalog::read_odometer(reading, bound->id_text, &state.odometer);
    reading.close();
    return state;
}

// History counts in the total, and none of it may be of another kind: neither charges so far nor what the end of an epoch under
// zcdp will come to.
static void check_spent(Oid relation, const BoundState &now) {
    if (!now.has_odometer)
        return;
    privacy::Odometer odometer = now.odometer;
    border::core([&] { privacy::enter_epoch(&odometer, now.epoch); });
    if (odometer.totals.of_public.delta.units() > 0)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("%s has spent a delta of %s, under which no risk profile holds",
                               catalog::qualified_name(relation),
                               catalog::numeric_text(catalog::to_numeric(odometer.totals.of_public.delta))),
                        errhint("A profile is for a table whose answers were all of pure epsilon.")));
}

static void tell_about_profile(FunctionCallInfo fcinfo, Oid relation, const Bound &bound, const BoundState &now) {
    if (!bound.has_total || (PG_ARGISNULL(odometer_profile) && PG_ARGISNULL(odometer_epsilon_total)))
        return;
    privacy::Epsilon total = catalog::to_epsilon(bound.epsilon_total, "epsilon_total");
    if (total > *now.bound.epsilon_total)
        return;
    ereport(NOTICE, (errmsg("epsilon_total %s of %s is no more than its risk profile allows, and binds",
                            catalog::numeric_text(catalog::to_numeric(total)), catalog::qualified_name(relation)),
                     errhint("epsilon_total => 'Infinity' leaves the profile's alone.")));
}

DP_CALL(dp_set_odometer) {
    require(fcinfo, odometer_relation, "relation");
    Oid relation = protected_relation(PG_GETARG_OID(odometer_relation));
    const Profile *profile = profile_argument(fcinfo, odometer_profile); // as the caller, whose expression it may be
    Oid caller = GetUserId();
    Visit visit = Visit::write();
    Bound bound = lock_bound(visit, relation);
    check_owns_domain(visit, relation, caller);
    BoundState was = state_of(relation);
    MemoryContextSwitchTo(visit.spi.caller); // what is told below outlives the visit
    merge(fcinfo, profile, &bound);
    merge_period(fcinfo, &bound);
    if (bound.period == nullptr)
        leave_period(fcinfo, &bound);
    if (!is_zcdp(bound))
        leave_zcdp(fcinfo, &bound);
    privacy::BoundSettings settings = checked(fcinfo, bound);
    // (An odometer that is ahead of its table comes from a restore of a part.)
    int last = was.has_odometer ? Max(bound.epoch, was.odometer.epoch) : bound.epoch;
    if (begins_epoch(was.bound, settings) || last > bound.epoch)
        bound.epoch = last + 1;
    store(visit, relation, bound, settings);
    check_shares(visit, relation);
    check_profiles(visit, relation, InvalidOid);
    visit.leave();
    BoundState now = state_of(relation);
    if (bound.profile != nullptr) {
        check_spent(relation, now);
        tell_about_profile(fcinfo, relation, bound, now);
    }
    tell_about_search(profile);
    tell_about_totals(relation, was, now);
    refresh_owner(relation);
    PG_RETURN_VOID();
}

} // namespace dp::sql
