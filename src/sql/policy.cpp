// Who may ask, under which privacy preference (README.md).
#include "catalog/decimals.hpp"
#include "query/shape.hpp"
#include "sql/arguments.hpp"
#include "sql/controller.hpp"

using dp::catalog::Visit;

namespace dp::sql {

// ---- policies ------------------------------------------------------------------------------------------------------

namespace {
// Arguments of dp_grant, by position.
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
    arg_group_b
};
} // namespace

static const char *checked_selection(FunctionCallInfo fcinfo) {
    if (PG_ARGISNULL(arg_tau) == PG_ARGISNULL(arg_tau_var))
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("exactly one of tau and tau_var must be given"),
                 errhint("Pass tau => 0.95, for instance.")));
    const char *selection = text_argument(fcinfo, arg_selection);
    if (PG_ARGISNULL(arg_tau)) {
        checked_tau_var(PG_GETARG_FLOAT8(arg_tau_var));
        if (selection != nullptr && strcmp(selection, "released") != 0)
            ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                            errmsg("selection \"%s\" does not go with tau_var", selection),
                            errhint("Leave it out: with tau_var epsilon is selected by the sparse vector technique.")));
        return "released";
    }
    checked_tau(PG_GETARG_FLOAT8(arg_tau));
    if (selection == nullptr)
        return "within_domain";
    if (strcmp(selection, "within_domain") != 0 && strcmp(selection, "within_data") != 0)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("selection \"%s\" does not go with tau", selection),
                 errhint("Use 'within_domain' (differentially private) or 'within_data' (not).")));
    return selection;
}

static void check_weights(FunctionCallInfo fcinfo) {
    require(fcinfo, arg_weight_min, "weight_min");
    require(fcinfo, arg_weight_max, "weight_max");
    double least = checked_weight(PG_GETARG_FLOAT8(arg_weight_min), "weight_min");
    double most = checked_weight(PG_GETARG_FLOAT8(arg_weight_max), "weight_max");
    if (least > most)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("weight_min %s is larger than weight_max %s", float8out_internal(least),
                               float8out_internal(most)),
                        errhint("Pass weight_min => 0.25, weight_max => 4, for instance.")));
}

// A delta that no answer could ever pay is a mistake of the policy, not of the analyst.
static void check_delta_left(const catalog::Settings *settings, Datum delta, bool conditional) {
    Oid types[3] = {TEXTOID, NUMERICOID, BOOLOID};
    Datum values[3] = {CStringGetTextDatum(settings->id_text), delta, BoolGetDatum(conditional)};
    Visit visit = Visit::read();
    uint64 rows = visit.run("SELECT 1 FROM dp_rdr.protected_table t JOIN dp_rdr.odometer o ON o.id = t.id "
                            "WHERE t.id = $1::uuid AND t.bound <> 'none' AND $2 > t.delta_total - o.public_delta - "
                            "CASE WHEN $3 THEN o.conditional_delta ELSE 0 END",
                            3, types, values);
    visit.leave();
    if (rows == 1)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("delta exceeds what is left of the table's delta_total"),
                        errhint("Raise it with dp_set_odometer('%s', delta_total => ...), or grant a smaller delta.",
                                settings->relation_name)));
}

static void check_numbers(FunctionCallInfo fcinfo, const catalog::Settings *settings, const char *selection) {
    for (int i : {arg_mechanism, arg_delta, arg_epsilon_max, arg_epsilon_svt})
        require(fcinfo, i, "mechanism, delta, epsilon_max and epsilon_svt");
    privacy::Mechanism mechanism = mechanism_named(text_argument(fcinfo, arg_mechanism));
    privacy::Delta delta = catalog::checked_delta(PG_GETARG_DATUM(arg_delta), "delta");
    if (mechanism == privacy::Mechanism::gaussian && delta.units() == 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("mechanism gaussian needs a delta above 0"),
                        errhint("Pass delta => 1e-6, for instance.")));
    catalog::checked_epsilon(PG_GETARG_DATUM(arg_epsilon_max), "epsilon_max");
    checked_epsilon_svt(PG_GETARG_DATUM(arg_epsilon_svt));
    if (!PG_ARGISNULL(arg_epsilon_total))
        check_epsilon_total(PG_GETARG_DATUM(arg_epsilon_total));
    catalog::candidates_from_array(array_argument(fcinfo, arg_candidates));
    check_weights(fcinfo);
    check_delta_left(settings, PG_GETARG_DATUM(arg_delta), strcmp(selection, "within_data") == 0);
}

// Whose medians an epsilon from the data compares; a price from public facts has nobody in it.
static void check_groups(FunctionCallInfo fcinfo, const char *selection) {
    if (PG_ARGISNULL(arg_group_a) != PG_ARGISNULL(arg_group_b))
        refuse_half_of_groups();
    if (!PG_ARGISNULL(arg_group_a) && strcmp(selection, "within_data") != 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("group_a and group_b do not go with the selection \"%s\"", selection),
                        errhint("Leave them out, or use 'within_data', which is not differentially private.")));
}

static void store_policy(FunctionCallInfo fcinfo, const char *selection, Oid relation) {
    constexpr int n = 15;
    Oid types[n] = {OIDOID,     OIDOID,     FLOAT8OID,       FLOAT8OID, TEXTOID,   TEXTOID, NUMERICOID, NUMERICOID,
                    NUMERICOID, NUMERICOID, NUMERICARRAYOID, FLOAT8OID, FLOAT8OID, TEXTOID, TEXTOID};
    Datum values[n];
    char nulls[n + 1] = {};
    for (int i = 0; i < n; i++) {
        values[i] = fcinfo->args[i].value;
        nulls[i] = PG_ARGISNULL(i) ? 'n' : ' ';
    }
    values[arg_selection] = CStringGetTextDatum(selection);
    nulls[arg_selection] = ' ';
    if (!PG_ARGISNULL(arg_group_a)) {
        values[arg_group_a] =
            CStringGetTextDatum(query::canonical_condition(text_argument(fcinfo, arg_group_a), relation, "group_a"));
        values[arg_group_b] =
            CStringGetTextDatum(query::canonical_condition(text_argument(fcinfo, arg_group_b), relation, "group_b"));
    }
    Visit visit = Visit::write();
    visit.run("DELETE FROM dp_rdr.policy p WHERE p.view::oid = $1 AND p.grantee::oid = $2", 2, types, values);
    visit.run("INSERT INTO dp_rdr.policy (view, grantee, tau, tau_var, selection, mechanism, delta, epsilon_max, "
              "epsilon_total, epsilon_svt, candidates, weight_min, weight_max, group_a, group_b) "
              "VALUES ($1::regclass, $2::regrole, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
              n, types, values, nulls);
    visit.leave();
}

DP_FUNCTION(dp_grant) {
    require(fcinfo, arg_view, "view");
    require(fcinfo, arg_grantee, "grantee");
    catalog::Settings *settings = settings_of_view(PG_GETARG_OID(arg_view));
    const char *grantee = quote_identifier(GetUserNameFromId(PG_GETARG_OID(arg_grantee), false));
    const char *selection = checked_selection(fcinfo);
    check_numbers(fcinfo, settings, selection);
    check_groups(fcinfo, selection);
    store_policy(fcinfo, selection, settings->relation);
    run_as(catalog::relation_owner(settings->view), psprintf("GRANT SELECT ON %s TO %s", settings->view_name, grantee));
    if (strcmp(selection, "within_data") == 0)
        ereport(
            WARNING,
            (errmsg("answers to role %s will not be differentially private", grantee),
             errdetail("Under within_data epsilon is chosen from the private rows: an answer, its noise and a denial "
                       "can tell whether one person is there. What is shown to %s is outside the guarantee that "
                       "other roles' answers carry.",
                       grantee),
             errhint("selection => 'within_domain' is differentially private.")));
    PG_RETURN_VOID();
}

DP_FUNCTION(dp_revoke) {
    require(fcinfo, 0, "view");
    require(fcinfo, 1, "grantee");
    catalog::Settings *settings = settings_of_view(PG_GETARG_OID(0));
    const char *grantee = quote_identifier(GetUserNameFromId(PG_GETARG_OID(1), false));
    Oid types[2] = {OIDOID, OIDOID};
    Datum values[2] = {ObjectIdGetDatum(settings->view), PG_GETARG_DATUM(1)};
    Visit visit = Visit::write();
    uint64 rows =
        visit.run("DELETE FROM dp_rdr.policy p WHERE p.view::oid = $1 AND p.grantee::oid = $2", 2, types, values);
    visit.leave();
    run_as(catalog::relation_owner(settings->view),
           psprintf("REVOKE SELECT ON %s FROM %s", settings->view_name, grantee));
    if (rows == 0)
        ereport(WARNING, (errmsg("role %s had no policy on %s", grantee, settings->view_name)));
    PG_RETURN_VOID();
}

} // namespace dp::sql
