// The bound of a table's odometer (doc/reference.md).
#include "sql/odometer.hpp"

#include "catalog/decimals.hpp"
#include "catalog/settings.hpp"
#include "sql/arguments.hpp"
#include "sql/controller.hpp"

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
    odometer_rho_target
};

// As it is stored: numbers as they were passed.
struct Bound {
    const char *name;
    Datum delta_total, epsilon_pure;
    bool has_total, has_conversion, has_target;
    Datum epsilon_total, delta_conversion, rho_target;
    const char *cap;
    int epoch;
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
    if (run_with_oid(visit,
                     "SELECT t.bound, t.epsilon_total, t.delta_total, t.delta_conversion, t.cap, t.epsilon_pure, "
                     "t.rho_target, t.epoch FROM dp_rdr.protected_table t WHERE t.relation::oid = $1 FOR UPDATE",
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
    return bound;
}

static bool is_zcdp(const Bound &bound) {
    return strcmp(bound.name, "zcdp") == 0;
}

// What is passed replaces what is set.
static void merge(FunctionCallInfo fcinfo, Bound *bound) {
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

static void check_bound(const Bound &bound) {
    bool known = border::core([&] { return privacy::bound_from_name(bound.name).has_value(); });
    if (!known)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("unknown bound: \"%s\"", bound.name),
                        errhint("Use 'filter', 'dynamic', 'zcdp' or 'none'.")));
    if (!bound.has_total && strcmp(bound.name, "filter") == 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("bound filter needs an epsilon_total"),
                        errhint("Pass epsilon_total => 1, or use the bound 'none'.")));
    if (bound.has_total)
        check_epsilon_total(bound.epsilon_total);
    catalog::checked_delta(bound.delta_total, "delta_total");
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
    Oid types[10] = {OIDOID,  TEXTOID,    NUMERICOID, NUMERICOID, NUMERICOID,
                     TEXTOID, NUMERICOID, NUMERICOID, NUMERICOID, INT4OID};
    Datum values[10] = {ObjectIdGetDatum(relation),
                        CStringGetTextDatum(bound.name),
                        bound.epsilon_total,
                        bound.delta_total,
                        bound.delta_conversion,
                        CStringGetTextDatum(bound.cap),
                        catalog::to_numeric(settings.epsilon_pure), // what decisions are made on
                        rho,
                        rho,
                        Int32GetDatum(bound.epoch)};
    char nulls[11] = "          ";
    nulls[2] = bound.has_total ? ' ' : 'n';
    nulls[4] = bound.has_conversion ? ' ' : 'n';
    nulls[7] = has_target ? ' ' : 'n';
    nulls[8] = has_rho_total ? ' ' : 'n';
    visit.run("UPDATE dp_rdr.protected_table t SET bound = $2, epsilon_total = $3, delta_total = $4, "
              "delta_conversion = $5, cap = $6, epsilon_pure = $7, rho_target = $8, rho_total = $9, epoch = $10 "
              "WHERE t.relation::oid = $1",
              10, types, values, nulls);
}

// What the role has used already in this epoch counts as a policy does that would use it.
void check_shares(const Visit &visit, Oid relation) {
    if (run_with_oid(
            visit,
            "SELECT p.grantee FROM dp_rdr.protected_table t "
            "JOIN dp_rdr.restricted_view v ON v.relation = t.relation JOIN dp_rdr.policy p ON p.view = v.view "
            "LEFT JOIN LATERAL (SELECT bool_or(l.basis = 'rho') AS rho, bool_or(l.basis = 'epsilon') AS epsilon "
            "  FROM dp_rdr.ledger_row l WHERE l.table_id = t.id AND l.epoch = t.epoch "
            "  AND l.kind <> 'suspension' AND l.grantee = pg_get_userbyid(p.grantee)) used ON true "
            "WHERE t.relation::oid = $1 AND t.bound = 'zcdp' AND t.epsilon_pure > 0 GROUP BY p.grantee "
            "HAVING count(p.epsilon_total) > 0 AND bool_or(p.mechanism = 'gaussian' OR used.rho) "
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

DP_CALL(dp_set_odometer) {
    require(fcinfo, odometer_relation, "relation");
    Oid relation = protected_relation(PG_GETARG_OID(odometer_relation));
    Visit visit = Visit::write();
    Bound bound = lock_bound(visit, relation);
    BoundState was = state_of(relation);
    merge(fcinfo, &bound);
    if (!is_zcdp(bound))
        leave_zcdp(fcinfo, &bound);
    privacy::BoundSettings settings = checked(fcinfo, bound);
    // (An odometer that is ahead of its table comes from a restore of a part.)
    int last = was.has_odometer ? Max(bound.epoch, was.odometer.epoch) : bound.epoch;
    if (begins_epoch(was.bound, settings) || last > bound.epoch)
        bound.epoch = last + 1;
    store(visit, relation, bound, settings);
    check_shares(visit, relation);
    visit.leave();
    tell_about_totals(relation, was, state_of(relation));
    PG_RETURN_VOID();
}

} // namespace dp::sql
