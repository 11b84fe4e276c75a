// Who may ask, under which privacy preference (doc/reference.md).
#include "border/versions.hpp"
#include "catalog/decimals.hpp"
#include "query/shape.hpp"
#include "sql/arguments.hpp"
#include "sql/controller.hpp"
#include "sql/profile.hpp"
#include "sql/role_type.hpp"
extern "C" {
#include <commands/dbcommands.h>
}

using dp::catalog::Visit;

namespace dp::sql {

// ---- what is set, and what is passed -------------------------------------------------------------------------------

namespace {
// Arguments of dp_grant, by position; from arg_tau on also the columns of a policy.
enum GrantArgument {
    arg_view,
    arg_grantee,
    arg_tau,
    arg_tau_var,
    arg_selection,
    arg_mechanism,
    arg_delta,
    arg_epsilon_max,
    arg_epsilon_total,
    arg_epsilon_svt,
    arg_candidates,
    arg_weight_min,
    arg_weight_max,
    arg_group_a,
    arg_group_b,
    arg_epsilon_min,
    arg_profile,
    arg_replay,
    arg_on_request,
    narguments
};

Oid argument_types[narguments] = {OIDOID,     OIDOID,     FLOAT8OID,  FLOAT8OID,  TEXTOID,         TEXTOID,
                                  NUMERICOID, NUMERICOID, NUMERICOID, NUMERICOID, NUMERICARRAYOID, FLOAT8OID,
                                  FLOAT8OID,  TEXTOID,    TEXTOID,    NUMERICOID, JSONBOID,        INTERVALOID,
                                  BOOLOID};

// A policy as it is to be stored.
struct Row {
    Datum values[narguments];
    char nulls[narguments + 1]; // as SPI wants them
    bool has(int argument) const { return nulls[argument] == ' '; }
    const char *text_of(int argument) const { return has(argument) ? TextDatumGetCString(values[argument]) : nullptr; }
    void set(int argument, Datum value) {
        values[argument] = value;
        nulls[argument] = ' ';
    }
    void clear(int argument) {
        values[argument] = Datum(0);
        nulls[argument] = 'n';
    }
};
} // namespace

// The role's policy, or what a new one has: the profile is the role's on all views of the table.
const char *const stored_sql =
    "SELECT p.tau, p.tau_var, p.selection, coalesce(p.mechanism, 'laplace'), coalesce(p.delta, 0), "
    "p.epsilon_max, p.epsilon_total, coalesce(p.epsilon_svt, 0.1), p.candidates, "
    "coalesce(p.weight_min, 1), coalesce(p.weight_max, 1), p.group_a, p.group_b, p.epsilon_min, "
    "coalesce(p.profile, (SELECT s.profile FROM dp_rdr.restricted_view v JOIN dp_rdr.protected_table t ON t.relation = v.relation "
    "JOIN dp_rdr.protected_table o ON o.domain = t.domain JOIN dp_rdr.restricted_view w ON w.relation = o.relation "
    "JOIN dp_rdr.policy s ON s.view = w.view "
    "WHERE v.view::oid = $1 AND s.grantee::oid = $2 AND s.profile IS NOT NULL LIMIT 1)), p.replay, coalesce(p.on_request, false) "
    "FROM (SELECT) one LEFT JOIN dp_rdr.policy p ON p.view::oid = $1 AND p.grantee::oid = $2";

static Datum copy_of(Datum value, Oid type) {
    int16 length;
    bool by_value;
    get_typlenbyval(type, &length, &by_value);
    return length == -1 ? PointerGetDatum(PG_DETOAST_DATUM_COPY(value)) : datumCopy(value, by_value, length);
}

static Row stored_row(const Visit &visit, Oid view, Oid grantee) {
    Row row = {};
    row.set(arg_view, ObjectIdGetDatum(view));
    row.set(arg_grantee, ObjectIdGetDatum(grantee));
    visit.run(stored_sql, 2, argument_types, row.values);
    MemoryContext old = MemoryContextSwitchTo(visit.spi.caller);
    for (int i = arg_tau; i < narguments; i++) {
        bool isnull;
        Datum value = border::Spi::value(0, i - arg_tau + 1, &isnull);
        if (isnull)
            row.clear(i);
        else
            row.set(i, copy_of(value, argument_types[i]));
    }
    MemoryContextSwitchTo(old);
    return row;
}

// Whether an argument takes the option away: 'Infinity' for the share, '' for texts, '{}' for candidates and profiles, '0' for
// replay.
static bool is_no_time(Datum interval) {
    const Interval *span = DatumGetIntervalP(interval);
    return span->month == 0 && span->day == 0 && span->time == 0;
}

static bool takes_option_away(int argument, Datum value) {
    if (argument == arg_epsilon_total)
        return takes_away(value);
    if (argument == arg_candidates)
        return ArrayGetNItems(ARR_NDIM(DatumGetArrayTypeP(value)), ARR_DIMS(DatumGetArrayTypeP(value))) == 0;
    if (argument == arg_profile)
        return is_no_profile(value);
    if (argument == arg_replay)
        return is_no_time(value);
    return argument_types[argument] == TEXTOID && TextDatumGetCString(value)[0] == '\0';
}

// What is passed replaces what is set; NULL keeps it. Giving tau ends tau_var and the reverse, and either begins with the
// selection that goes with it. A profile stays beside either; selection => 'profile' makes it stand alone.
static void merge(FunctionCallInfo fcinfo, Row *row) {
    bool tau = !PG_ARGISNULL(arg_tau), tau_var = !PG_ARGISNULL(arg_tau_var);
    if (!PG_ARGISNULL(arg_selection) && strcmp(text_argument(fcinfo, arg_selection), "profile") == 0) {
        row->clear(arg_tau);
        row->clear(arg_tau_var);
    } else if ((tau || tau_var) && row->has(arg_selection) && strcmp(row->text_of(arg_selection), "profile") == 0)
        row->clear(arg_selection);
    if (tau && row->has(arg_tau_var)) {
        row->clear(arg_tau_var);
        row->clear(arg_selection);
    }
    if (tau_var && row->has(arg_tau)) {
        row->clear(arg_tau);
        row->clear(arg_selection);
    }
    for (int i = arg_tau; i < narguments; i++) {
        if (PG_ARGISNULL(i))
            continue;
        if (takes_option_away(i, PG_GETARG_DATUM(i)))
            row->clear(i);
        else
            row->set(i, PG_GETARG_DATUM(i));
    }
    if (!row->has(arg_mechanism))
        row->set(arg_mechanism, CStringGetTextDatum("laplace"));
}

// ---- checks --------------------------------------------------------------------------------------------------------

// Without tau and tau_var a policy is its profile.
static const char *checked_profile_selection(const Row &row, const char *selection) {
    if (selection != nullptr && strcmp(selection, "profile") != 0)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("selection \"%s\" needs tau or tau_var", selection),
                 errhint("Pass tau => 0.95, for instance; or leave the selection out, and the profile stands alone.")));
    return "profile";
}

static void check_stands_alone(const Row &row) {
    if (row.has(arg_tau) || row.has(arg_tau_var))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("selection \"profile\" does not go with %s", row.has(arg_tau) ? "tau" : "tau_var"),
                        errhint("Leave one of them out: a profile may also stand beside tau or tau_var.")));
    if (!row.has(arg_profile))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("selection \"profile\" needs a profile"),
                        errhint("Pass profile => dp_profile('inclusion', relative => 3), for instance.")));
}

static const char *checked_selection(const Row &row) {
    const char *selection = row.text_of(arg_selection);
    if (selection != nullptr && strcmp(selection, "profile") == 0)
        check_stands_alone(row);
    if (row.has(arg_profile) && !row.has(arg_tau) && !row.has(arg_tau_var))
        return checked_profile_selection(row, selection);
    if (row.has(arg_tau) == row.has(arg_tau_var))
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("exactly one of tau and tau_var must be given"),
                 errhint("Pass tau => 0.95, for instance, or a profile that stands alone.")));
    if (!row.has(arg_tau)) {
        checked_tau_var(DatumGetFloat8(row.values[arg_tau_var]));
        if (selection != nullptr && strcmp(selection, "released") != 0)
            ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                            errmsg("selection \"%s\" does not go with tau_var", selection),
                            errhint("Leave it out: with tau_var epsilon is selected by the sparse vector technique. Or "
                                    "pass tau.")));
        return "released";
    }
    checked_tau(DatumGetFloat8(row.values[arg_tau]));
    if (selection == nullptr)
        return "within_domain";
    if (strcmp(selection, "within_domain") != 0 && strcmp(selection, "within_data") != 0)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("selection \"%s\" does not go with tau", selection),
                 errhint("Use 'within_domain' (differentially private) or 'within_data' (not).")));
    return selection;
}

static void check_weights(const Row &row) {
    double least = checked_weight(DatumGetFloat8(row.values[arg_weight_min]), "weight_min");
    double most = checked_weight(DatumGetFloat8(row.values[arg_weight_max]), "weight_max");
    if (least > most)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("weight_min %s is larger than weight_max %s", float8out_internal(least),
                               float8out_internal(most)),
                        errhint("Pass weight_min => 0.25, weight_max => 4, for instance.")));
}

// A delta that no answer could ever pay is a mistake of the policy, not of the analyst.
static void check_delta_left(const Visit &visit, const catalog::Settings *settings, Datum delta, bool laplace,
                             bool conditional) {
    Oid types[3] = {TEXTOID, NUMERICOID, BOOLOID};
    Datum values[3] = {CStringGetTextDatum(settings->id_text), delta, BoolGetDatum(conditional)};
    uint64 rows = visit.run("SELECT 1 FROM dp_rdr.privacy_domain d JOIN dp_rdr.odometer o ON o.id = d.id "
                            "WHERE d.id = $1::uuid AND d.bound NOT IN ('none', 'zcdp') "
                            "AND $2 > CASE WHEN d.period IS NULL THEN d.delta_total - o.public_delta - "
                            "CASE WHEN $3 THEN o.conditional_delta ELSE 0 END "
                            "ELSE least(d.delta_total, d.delta_lifetime - o.public_delta - " // in a later one
                            "CASE WHEN $3 THEN o.conditional_delta ELSE 0 END) END AND $2 > 0",
                            3, types, values);
    // Under zcdp only groups that nobody declared need it, and with Laplace noise it is for nothing else.
    bool zcdp = rows == 0 && laplace;
    if (zcdp)
        rows = visit.run("SELECT 1 FROM dp_rdr.privacy_domain d JOIN dp_rdr.odometer o ON o.id = d.id "
                         "WHERE d.id = $1::uuid AND d.bound = 'zcdp' AND $2 > 0 "
                         "AND $2 > d.delta_total - coalesce(d.delta_conversion, trunc(d.delta_total * 0.5, 30)) - "
                         "CASE WHEN o.epoch = d.epoch THEN o.public_delta - o.public_delta_before + "
                         "CASE WHEN $3 THEN o.conditional_delta - o.conditional_delta_before ELSE 0 END ELSE 0 END",
                         3, types, values);
    if (rows == 1)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("delta exceeds what is left of the table's delta_total"),
                        zcdp ? errdetail("Under zcdp a part of delta_total is for the conversion of rho: half of it, "
                                         "or delta_conversion. Groups that nobody declared have the rest.")
                             : 0,
                        errhint("Raise it with dp_set_odometer('%s', delta_total => ...), or grant a smaller delta.",
                                settings->relation_name)));
}

static privacy::Epsilon smallest_candidate(const Row &row) {
    privacy::Epsilon smallest;
    for (privacy::Epsilon candidate : *catalog::candidates_from_array(
             row.has(arg_candidates) ? DatumGetArrayTypeP(row.values[arg_candidates]) : nullptr))
        if (smallest.units() == 0 || candidate < smallest)
            smallest = candidate;
    return smallest;
}

// An epsilon_min that leaves no candidate would deny every query.
static void check_candidates(const Row &row) {
    const auto *candidates = catalog::candidates_from_array(
        row.has(arg_candidates) ? DatumGetArrayTypeP(row.values[arg_candidates]) : nullptr);
    privacy::Epsilon most = catalog::checked_epsilon(row.values[arg_epsilon_max], "epsilon_max");
    if (!row.has(arg_epsilon_min))
        return;
    privacy::Epsilon least = catalog::checked_epsilon(row.values[arg_epsilon_min], "epsilon_min");
    for (privacy::Epsilon candidate : *candidates)
        if (least <= candidate && candidate <= most)
            return;
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("no candidate of epsilon is between epsilon_min %s and epsilon_max %s",
                           catalog::numeric_text(row.values[arg_epsilon_min]),
                           catalog::numeric_text(row.values[arg_epsilon_max])),
                    errhint("An answer is charged a candidate between the two, or what is asked for below it.")));
}

// Returns the epsilon that a profile allows in total, or epsilon_total beside it, if that is smaller.
static privacy::Epsilon share_of(const Row &row) {
    Datum field = DirectFunctionCall2(jsonb_object_field_text, row.values[arg_profile], CStringGetTextDatum("epsilon"));
    privacy::Epsilon share = catalog::to_epsilon(catalog::text_numeric(TextDatumGetCString(field)), "epsilon");
    return row.has(arg_epsilon_total) ? Min(share, catalog::to_epsilon(row.values[arg_epsilon_total], "epsilon_total"))
                                      : share;
}

// Where a new policy says nothing: 1. A profile that stands alone charges up to it, so there it is a tenth of what that allows, or the
// smallest candidate.
static void set_epsilon_max(Row *row, const char *selection) {
    if (row->has(arg_epsilon_max))
        return;
    privacy::Epsilon most = privacy::Epsilon::from_units(1000000000);
    if (strcmp(selection, "profile") == 0) {
        const privacy::Epsilon tenth = privacy::Epsilon::from_units(share_of(*row).units() / 10);
        most = Min(most, Max(tenth, smallest_candidate(*row)));
    }
    row->set(arg_epsilon_max, catalog::to_numeric(most));
}

// A thousand years, three times at most: no clock of the server's comes to an end before them.
constexpr int most_months = 12000, most_days = 365250;

// Of no part below 0: a month less a few days is a time or none, by the calendar. PostgreSQL 17 has infinite ones.
static void check_replay(const Row &row, const char *selection) {
    if (!row.has(arg_replay))
        return;
    const Interval *span = DatumGetIntervalP(row.values[arg_replay]);
    const char *text = DatumGetCString(DirectFunctionCall1(interval_out, row.values[arg_replay]));
    const char *const hint = "Pass replay => '1 month', for instance; '0' takes it away.";
    if (span->month < 0 || span->day < 0 || span->time < 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("replay must not be negative, not %s", text),
                        errhint("%s", hint)));
    if (span->month > most_months || span->day > most_days || span->time / USECS_PER_DAY > most_days)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("replay must not be infinite or longer than a thousand years, not %s", text), errhint("%s", hint)));
    if (strcmp(selection, "within_data") == 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("replay does not go with within_data"),
                        errdetail("What such an answer was charged depends on the rows, and so would its being given again."),
                        errhint("Take replay away with replay => '0', or grant a selection that is differentially private.")));
}

static privacy::Mechanism mechanism_of(const Row &row) {
    const char *name = row.text_of(arg_mechanism);
    return strcmp(name, "auto") == 0 ? privacy::Mechanism::automatic : mechanism_named(name);
}

// `selection`: of the policy.
static void check_mechanism(const Row &row, const char *selection) {
    if (mechanism_of(row) == privacy::Mechanism::automatic && strcmp(selection, "within_data") == 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("mechanism auto does not go with the selection \"within_data\""),
                        errdetail("Which noise is drawn would show the rows."),
                        errhint("Pass mechanism => 'laplace' or 'gaussian'.")));
}

static void tell_about_auto(const Row &row, const catalog::Settings *settings) {
    if (mechanism_of(row) != privacy::Mechanism::automatic)
        return;
    catalog::Reading reading = catalog::Reading::open();
    const catalog::Bound *bound = catalog::read_bound(reading, settings->relation);
    reading.close();
    if (bound != nullptr && (bound->settings.basis_of(false) != privacy::Basis::rho || bound->settings.splits_pure()))
        ereport(NOTICE, (errmsg("mechanism auto is Laplace noise under the bound \"%s\" of %s",
                                privacy::name_of(bound->settings.bound), settings->relation_name),
                         errhint("It is Gaussian where that is more accurate under dp_set_odometer('%s', 'zcdp', ...) "
                                 "without an epsilon_pure.",
                                 settings->relation_name)));
}

static void check_numbers(const Row &row) {
    privacy::Mechanism mechanism = mechanism_of(row);
    privacy::Delta delta = catalog::checked_delta(row.values[arg_delta], "delta");
    if (mechanism == privacy::Mechanism::gaussian && delta.units() == 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("mechanism gaussian needs a delta above 0"),
                        errhint("Pass delta => 1e-6, for instance.")));
    checked_epsilon_svt(row.values[arg_epsilon_svt]);
    if (row.has(arg_epsilon_total))
        check_epsilon_total(row.values[arg_epsilon_total]);
    check_candidates(row);
    check_weights(row);
}

// What a profile promises rests on pure epsilon, of charges that do not depend on the data.
static void check_profile(const Row &row, const char *selection) {
    if (!row.has(arg_profile))
        return;
    const char *const hint =
        "Take the profile away with profile => '{}', or grant mechanism => 'laplace', delta => 0 and "
        "a selection that is differentially private.";
    if (mechanism_of(row) == privacy::Mechanism::gaussian)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("a risk profile needs the mechanism laplace"),
                        errhint("%s", hint)));
    if (catalog::to_delta(row.values[arg_delta], "delta").units() > 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("a risk profile does not go with a delta"),
                        errhint("%s", hint)));
    if (strcmp(selection, "within_data") == 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("a risk profile does not go with the selection \"within_data\""), errhint("%s", hint)));
}

// Whose medians an epsilon from the data compares; a price from public facts has nobody in it.
static void check_groups(const Row &row, const char *selection) {
    if (row.has(arg_group_a) != row.has(arg_group_b))
        refuse_half_of_groups();
    if (row.has(arg_group_a) && strcmp(selection, "within_data") != 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("group_a and group_b do not go with the selection \"%s\"", selection),
                        errhint("Leave them out, or take them away with group_a => '', group_b => ''; or use "
                                "'within_data', which is not differentially private.")));
}

// ---- storing it ----------------------------------------------------------------------------------------------------

// Conditions that are passed are read now, under the caller's settings; those that are kept were read before.
static void canonical_groups(FunctionCallInfo fcinfo, Row *row, Oid relation) {
    const char *const names[] = {"group_a", "group_b"};
    for (int i : {arg_group_a, arg_group_b})
        if (!PG_ARGISNULL(i) && row->has(i))
            row->set(
                i, CStringGetTextDatum(query::canonical_condition(row->text_of(i), relation, names[i - arg_group_a])));
}

static void store_policy(const Visit &visit, Row *row) {
    visit.run(
        "INSERT INTO dp_rdr.policy AS p (view, grantee, tau, tau_var, selection, mechanism, delta, epsilon_max, "
        "epsilon_total, epsilon_svt, candidates, weight_min, weight_max, group_a, group_b, epsilon_min, profile, replay, "
        "on_request) VALUES ($1::regclass, $2::regrole, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, "
        "$17, $18, $19) "
        "ON CONFLICT (view, grantee) DO UPDATE SET (tau, tau_var, selection, mechanism, delta, epsilon_max, "
        "epsilon_total, epsilon_svt, candidates, weight_min, weight_max, group_a, group_b, epsilon_min, profile, replay, "
        "on_request) = "
        "(excluded.tau, excluded.tau_var, excluded.selection, excluded.mechanism, excluded.delta, "
        "excluded.epsilon_max, excluded.epsilon_total, excluded.epsilon_svt, excluded.candidates, "
        "excluded.weight_min, excluded.weight_max, excluded.group_a, excluded.group_b, excluded.epsilon_min, "
        "excluded.profile, excluded.replay, excluded.on_request)",
        narguments, argument_types, row->values, row->nulls);
}

// A profile is about all that a role's answers on the table tell: it goes for all its policies there, whose charges have one sum.
// Which those were, or null.
static const char *spread_profile(const Visit &visit, const catalog::Settings *settings, const Row &row) {
    Oid types[4] = {OIDOID, OIDOID, JSONBOID, UUIDOID};
    Datum values[4] = {row.values[arg_view], row.values[arg_grantee], row.values[arg_profile],
                       UUIDPGetDatum(&settings->id)};
    const char *nulls = row.has(arg_profile) ? "    " : "  n ";
    const char *others =
        "FROM dp_rdr.restricted_view v JOIN dp_rdr.protected_table t ON t.relation = v.relation "
        "WHERE v.view = p.view AND t.domain = $4 AND p.view::oid <> $1 "
        "AND p.grantee::oid = $2 AND p.profile IS DISTINCT FROM $3";
    if (!row.has(arg_profile) &&
        visit.run(psprintf("SELECT p.view FROM dp_rdr.policy p, %s AND p.selection = 'profile' LIMIT 1", others + 5), 4,
                  types, values, nulls) == 1)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("the policy of the role on %s is its risk profile", visit.spi.text(0, 1)),
                        errdetail("A profile goes for all policies of a role on a table, and is taken away from all."),
                        errhint("Grant it a tau there first, or revoke it with dp_revoke().")));
    bool moved =
        visit.run(psprintf("WITH moved AS (UPDATE dp_rdr.policy p SET profile = $3 %s RETURNING p.view::text) "
                           "SELECT string_agg(view, ', ' ORDER BY view COLLATE \"C\") FROM moved HAVING count(*) > 0",
                           others),
                  4, types, values, nulls) == 1;
    return moved ? visit.spi.text(0, 1) : nullptr;
}

static void tell_about_views(const char *views, bool set, const char *grantee, const catalog::Settings *settings) {
    if (views != nullptr)
        ereport(NOTICE, (errmsg("the risk profile of role %s was %s its policies on other views of %s, too: %s",
                                grantee, set ? "set for" : "taken from", settings->relation_name, views),
                         errdetail("It is about all that the role's answers on the table tell.")));
}

// A view that was refreshed or dropped while this call waited is another one, or none.
static void check_registered(const Visit &visit, const catalog::Settings *settings) {
    if (run_with_oid(visit, "SELECT 1 FROM dp_rdr.restricted_view v WHERE v.view::oid = $1", settings->view) != 1)
        ereport(ERROR, (errcode(ERRCODE_LOCK_NOT_AVAILABLE),
                        errmsg("%s is being changed by another call", settings->view_name), errhint("Try again.")));
}

// ---- what the controller should know -------------------------------------------------------------------------------

static void warn_of_data(const char *grantee) {
    ereport(WARNING,
            (errmsg("answers to role %s will not be differentially private", grantee),
             errdetail("Under within_data epsilon is chosen from the private rows: an answer, its noise and a denial "
                       "can tell whether one person is there. What is shown to %s is outside the guarantee that "
                       "other roles' answers carry.",
                       grantee),
             errhint("selection => 'within_domain' is differentially private.")));
}

// What lets a role read the table itself; null when nothing does.
static const char *reads_table(Oid role, Oid relation) {
    if (superuser_arg(role))
        return "it is a superuser";
    Oid owner = catalog::relation_owner(relation);
    if (has_privs_of_role(role, owner))
        return psprintf("it may act for %s, the owner", quote_identifier(GetUserNameFromId(owner, false)));
    if (pg_class_aclcheck(relation, role, ACL_SELECT) == ACLCHECK_OK)
        return has_privs_of_role(role, ROLE_PG_READ_ALL_DATA) ? "it has the privileges of pg_read_all_data"
                                                              : "it has SELECT on the table";
    if (pg_attribute_aclcheck_all(relation, role, ACL_SELECT, ACLMASK_ANY) == ACLCHECK_OK)
        return "it has SELECT on columns of the table";
    return nullptr;
}

static void warn_of_reader(Oid role, const char *grantee, const catalog::Settings *settings) {
    const char *reason = reads_table(role, settings->relation);
    if (reason != nullptr)
        ereport(WARNING, (errmsg("role %s can read %s itself: %s", grantee, settings->relation_name, reason),
                          errdetail("No answer's noise hides anything from who can read the rows."),
                          errhint("dp_audit() lists what to revoke.")));
}

void warn_of_schema(Oid role, Oid relation, const char *kind) {
    const Oid schema = get_rel_namespace(relation);
    if (border::may_use_schema(schema, role))
        return;
    const char *name = quote_identifier(get_namespace_name(schema));
    const char *grantee = quote_identifier(GetUserNameFromId(role, false));
    ereport(WARNING, (errmsg("role %s may not use the schema %s, where the %s is", grantee, name, kind),
                      errhint("GRANT USAGE ON SCHEMA %s TO %s;", name, grantee)));
}

// Without these rights the policy is there and every query fails.
static void warn_of_rights(Oid role, const char *grantee, Oid view) {
    warn_of_schema(role, view, "restricted view");
    // A role that cannot log in is there for its members, who connect with rights of their own.
    HeapTuple tuple = SearchSysCache1(AUTHOID, ObjectIdGetDatum(role));
    bool logs_in = HeapTupleIsValid(tuple) && ((Form_pg_authid)GETSTRUCT(tuple))->rolcanlogin;
    if (HeapTupleIsValid(tuple))
        ReleaseSysCache(tuple);
    if (logs_in && !border::may_connect(MyDatabaseId, role)) {
        const char *database = quote_identifier(get_database_name(MyDatabaseId));
        ereport(WARNING, (errmsg("role %s may not connect to the database %s", grantee, database),
                          errhint("GRANT CONNECT ON DATABASE %s TO %s;", database, grantee)));
    }
}

// Policies of other roles on views of the table, under which this one may ask as well; or null.
static const char *inherited_policies(const Visit &visit, Oid relation, Oid role) {
    Oid types[2] = {OIDOID, OIDOID};
    Datum values[2] = {ObjectIdGetDatum(relation), ObjectIdGetDatum(role)};
    bool some = visit.run("SELECT string_agg(p.grantee::text || ' on ' || p.view::text, ', ' "
                          "ORDER BY p.grantee::text COLLATE \"C\", p.view::text COLLATE \"C\") "
                          "FROM dp_rdr.protected_table t JOIN dp_rdr.protected_table o ON o.domain = t.domain "
                          "JOIN dp_rdr.restricted_view v ON v.relation = o.relation "
                          "JOIN dp_rdr.policy p ON p.view = v.view "
                          "WHERE t.relation::oid = $1 AND p.grantee::oid <> $2 "
                          "AND pg_has_role($2, p.grantee::oid, 'MEMBER') AND NOT EXISTS (SELECT FROM pg_roles r WHERE "
                          "r.oid = $2 AND r.rolsuper) HAVING count(*) > 0",
                          2, types, values) == 1;
    return some ? visit.spi.text(0, 1) : nullptr;
}

// A profile that stands alone chooses the largest candidate up to epsilon_max: one above the share denies every query.
static void warn_of_share(const Row &row, const char *selection) {
    if (strcmp(selection, "profile") != 0)
        return;
    const privacy::Epsilon share = share_of(row);
    privacy::Epsilon most = catalog::to_epsilon(row.values[arg_epsilon_max], "epsilon_max"), largest, affordable;
    for (privacy::Epsilon candidate : *catalog::candidates_from_array(
             row.has(arg_candidates) ? DatumGetArrayTypeP(row.values[arg_candidates]) : nullptr)) {
        if (candidate <= most && candidate > largest)
            largest = candidate;
        if (candidate <= most && candidate <= share && candidate > affordable)
            affordable = candidate;
    }
    if (largest <= share)
        return;
    const char *paid = catalog::numeric_text(catalog::to_numeric(share));
    ereport(WARNING, (errmsg("every query that does not ask for an epsilon of its own will be denied"),
                      errdetail("It is charged the largest candidate up to epsilon_max, %s, and the share is %s.",
                                catalog::numeric_text(catalog::to_numeric(largest)), paid),
                      affordable.units() > 0 ? errhint("Pass epsilon_max => %s, or less.",
                                                       catalog::numeric_text(catalog::to_numeric(affordable)))
                                             : errhint("Pass candidates of at most %s.", paid)));
}

template <int Places> static const char *printed(privacy::Decimal<Places> value) {
    return catalog::numeric_text(catalog::to_numeric(value));
}

static void warn_of_cap(privacy::Epsilon smallest, privacy::Epsilon most) {
    ereport(WARNING,
            (errmsg("every query will be denied: no candidate is within epsilon_max"),
             errdetail("The smallest candidate is %s, and epsilon_max is %s.", printed(smallest), printed(most)),
             errhint("Pass epsilon_max => %s or more, or smaller candidates.", printed(smallest))));
}

// A count of one group is what costs least. With Gaussian noise the price is at most what is said.
static void warn_of_tau(const Row &row, privacy::Epsilon smallest) {
    double tau = DatumGetFloat8(row.values[arg_tau]), weight = DatumGetFloat8(row.values[arg_weight_max]);
    privacy::Mechanism mechanism = mechanism_of(row);
    privacy::Delta delta = catalog::to_delta(row.values[arg_delta], "delta");
    double price = border::core([&] {
        return mechanism != privacy::Mechanism::gaussian
                   ? privacy::within_domain_eps_star(tau, weight, 1, 1)
                   : privacy::within_domain_eps_star_gaussian(tau, weight, 1, 1, delta.value());
    });
    if (smallest.value() <= price * (1 + privacy::price_slack))
        return;
    ereport(WARNING,
            (errmsg("a plain count will be denied: no candidate is small enough for tau %s", float8out_internal(tau)),
             errdetail("It may cost epsilon %.3g at most, and the smallest candidate is %s.", price, printed(smallest)),
             errhint("Pass a smaller tau, or smaller candidates.")));
}

// What could never be answered is granted all the same, as more may be set later.
static void warn_of_price(const Row &row, const char *selection) {
    privacy::Epsilon most = catalog::to_epsilon(row.values[arg_epsilon_max], "epsilon_max");
    privacy::Epsilon smallest = smallest_candidate(row);
    if (smallest > most)
        warn_of_cap(smallest, most);
    else if (strcmp(selection, "within_domain") == 0)
        warn_of_tau(row, smallest);
}

// Granted all the same, as the unit may be declared anew.
static void warn_of_selection(const catalog::Settings *settings, const char *selection) {
    if (strcmp(selection, "released") != 0)
        return;
    Visit visit = Visit::read();
    const bool several = run_with_oid(visit,
                                      "SELECT 1 FROM dp_rdr.protected_table t WHERE t.relation::oid = $1 "
                                      "AND t.max_rows IS NOT NULL",
                                      settings->relation) > 0;
    visit.leave();
    if (several)
        ereport(WARNING, (errmsg("queries of %s will be refused: epsilon cannot be selected by tau_var where a person "
                                 "may have several rows",
                                 settings->view_name),
                          errhint("Grant tau instead.")));
}

static void warn_of_inherited(const char *policies, const char *grantee, const catalog::Settings *settings) {
    if (policies != nullptr)
        ereport(WARNING, (errmsg("role %s may also ask under policies of other roles on views of %s: %s", grantee,
                                 settings->relation_name, policies),
                          errdetail("Answers under them are not counted in its risk profile."),
                          errhint("Revoke the membership, or the policies; or set a profile for the table with "
                                  "dp_set_odometer(), which counts everybody's answers.")));
}

DP_CALL(dp_grant) {
    require(fcinfo, arg_view, "view");
    require(fcinfo, arg_grantee, "grantee");
    catalog::Settings *settings = settings_of_view(PG_GETARG_OID(arg_view));
    Oid role = PG_GETARG_OID(arg_grantee);
    const char *grantee = quote_identifier(GetUserNameFromId(role, false));
    const Profile *profile = profile_argument(fcinfo, arg_profile); // as the caller, whose expression it may be
    Visit visit = Visit::write();
    lock_declarations(visit, settings->relation);
    check_registered(visit, settings);
    Row row = stored_row(visit, settings->view, role);
    visit.leave();

    merge(fcinfo, &row);
    if (profile != nullptr)
        row.set(arg_profile, profile_json(profile));
    const char *selection = checked_selection(row);
    row.set(arg_selection, CStringGetTextDatum(selection));
    set_epsilon_max(&row, selection);
    check_numbers(row);
    check_mechanism(row, selection);
    check_profile(row, selection);
    check_replay(row, selection);
    check_groups(row, selection);
    canonical_groups(fcinfo, &row, settings->relation);

    visit = Visit::write();
    forget_dropped_roles(visit);
    bool from_data = strcmp(selection, "within_data") == 0;
    bool laplace = mechanism_of(row) != privacy::Mechanism::gaussian;
    check_delta_left(visit, settings, row.values[arg_delta], laplace, from_data);
    store_policy(visit, &row);
    const char *other_views = spread_profile(visit, settings, row);
    check_shares(visit, settings->relation);
    check_profiles(visit, settings->relation, profile == nullptr ? InvalidOid : role);
    const char *inherited = profile == nullptr ? nullptr : inherited_policies(visit, settings->relation, role);
    visit.leave();
    run_as(catalog::relation_owner(settings->view), psprintf("GRANT SELECT ON %s TO %s", settings->view_name, grantee));
    tell_about_views(other_views, row.has(arg_profile), grantee, settings);
    warn_of_inherited(inherited, grantee, settings);
    tell_about_auto(row, settings);
    warn_of_selection(settings, selection);
    warn_of_price(row, selection);
    warn_of_share(row, selection);
    tell_about_search(profile);
    if (from_data)
        warn_of_data(grantee);
    warn_of_reader(role, grantee, settings);
    warn_of_rights(role, grantee, settings->view);
    PG_RETURN_VOID();
}

DP_CALL(dp_revoke) {
    require(fcinfo, 0, "view");
    require(fcinfo, 1, "grantee");
    catalog::Settings *settings = settings_of_view(PG_GETARG_OID(0));
    const char *grantee = quote_identifier(GetUserNameFromId(PG_GETARG_OID(1), false));
    Oid types[2] = {OIDOID, OIDOID};
    Datum values[2] = {ObjectIdGetDatum(settings->view), PG_GETARG_DATUM(1)};
    Visit visit = Visit::write();
    lock_declarations(visit, settings->relation);
    check_registered(visit, settings);
    uint64 rows =
        visit.run("DELETE FROM dp_rdr.policy p WHERE p.view::oid = $1 AND p.grantee::oid = $2", 2, types, values);
    visit.leave();
    run_as(catalog::relation_owner(settings->view),
           psprintf("REVOKE SELECT ON %s FROM %s", settings->view_name, grantee));
    if (rows == 0)
        ereport(WARNING, (errmsg("role %s had no policy on %s", grantee, settings->view_name)));
    PG_RETURN_VOID();
}

// ---- suspensions ---------------------------------------------------------------------------------------------------

// Lifts all suspensions under the policy of a role, and those of the role itself under whichever policy.
DP_CALL(dp_resume) {
    require(fcinfo, 0, "view");
    require(fcinfo, 1, "grantee");
    catalog::Settings *settings = settings_of_view(PG_GETARG_OID(0));
    const char *name = GetUserNameFromId(PG_GETARG_OID(1), false);
    Oid types[2] = {OIDOID, OIDOID};
    Datum values[2] = {ObjectIdGetDatum(settings->view), PG_GETARG_DATUM(1)};
    Visit visit = Visit::write();
    uint64 rows = visit.run("DELETE FROM dp_rdr.suspension s WHERE s.view::oid = $1 AND "
                            "$2 IN (s.grantee::oid, s.role::oid, s.session_role::oid)",
                            2, types, values);
    visit.leave();
    if (rows == 0)
        ereport(WARNING,
                (errmsg("nobody was suspended on %s as role %s", settings->view_name, quote_identifier(name))));
    PG_RETURN_VOID();
}

} // namespace dp::sql
