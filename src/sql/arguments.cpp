#include "sql/arguments.hpp"

#include <cmath>

#include "privacy/sparse_vector.hpp"

#include "query/units.hpp"

namespace dp::sql {

void require(FunctionCallInfo fcinfo, int argument, const char *name) {
    if (PG_ARGISNULL(argument))
        ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("%s must not be null", name)));
}

char *text_argument(FunctionCallInfo fcinfo, int argument) {
    return PG_ARGISNULL(argument) ? nullptr : text_to_cstring(PG_GETARG_TEXT_PP(argument));
}

ArrayType *array_argument(FunctionCallInfo fcinfo, int argument) {
    return PG_ARGISNULL(argument) ? nullptr : PG_GETARG_ARRAYTYPE_P(argument);
}

static void refuse(const char *name) {
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("%s is not supported by this version", name),
                    errhint("Leave it at its default.")));
}

void refuse_unless_null(FunctionCallInfo fcinfo, int argument, const char *name) {
    if (!PG_ARGISNULL(argument))
        refuse(name);
}

void refuse_if_true(FunctionCallInfo fcinfo, int argument, const char *name) {
    if (!PG_ARGISNULL(argument) && PG_GETARG_BOOL(argument))
        refuse(name);
}

bool takes_away(Datum numeric) {
    return strcmp(catalog::numeric_text(numeric), "Infinity") == 0;
}

bool is_empty_text(Datum word) {
    return TextDatumGetCString(word)[0] == '\0';
}

void refuse_half_of_groups() {
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("group_a and group_b go together"),
             errhint("Pass two conditions, group_a => $$sex = 'Female'$$, group_b => $$sex = 'Male'$$, or none.")));
    pg_unreachable();
}

privacy::Mechanism mechanism_named(const char *name) {
    if (strcmp(name, "laplace") == 0)
        return privacy::Mechanism::laplace;
    if (strcmp(name, "auto") == 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("mechanism auto belongs to a policy"),
                        errdetail("It means Gaussian noise where the bound and the price make that the smaller one."),
                        errhint("Use 'laplace' or 'gaussian': dp_explain() of the analyst's says which is drawn.")));
    if (strcmp(name, "gaussian") != 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("unknown mechanism: \"%s\"", name),
                        errhint("Use 'laplace' or 'gaussian'.")));
    return privacy::Mechanism::gaussian;
}

privacy::Calibration calibration_named(const char *name) {
    if (strcmp(name, "sound") == 0)
        return privacy::Calibration::sound;
    if (strcmp(name, "published") != 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("unknown calibration: \"%s\"", name),
                        errhint("Use 'sound' or 'published'.")));
    return privacy::Calibration::published;
}

double checked_tau(double tau) {
    if (!(tau >= 0 && tau <= 1)) // NaN fails every comparison
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("tau must be between 0 and 1, not %s", float8out_internal(tau)),
                        errhint("tau is the smallest permitted RDR_min/RDR_max: 0.95 is strict, 0.05 is lax.")));
    return tau;
}

double checked_tau_var(double tau_var) {
    if (!(tau_var >= 0 && tau_var <= 1))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("tau_var must be between 0 and 1, not %s", float8out_internal(tau_var)),
                        errhint("tau_var is the largest permitted variance of the normalised RDRs: 1e-5 is strict, "
                                "0.25 permits everything.")));
    return tau_var;
}

privacy::Epsilon checked_epsilon_svt(Datum value) {
    privacy::Epsilon epsilon = catalog::checked_epsilon(value, "epsilon_svt");
    border::core([&] { (void)privacy::svt_split(epsilon); });
    return epsilon;
}

double checked_weight(double weight, const char *name) {
    if (!(weight > 0) || std::isinf(weight))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("%s must be positive and finite, not %s", name, float8out_internal(weight)),
                        errhint("1 is the weight of an ordinary query, 2 that of one twice as important.")));
    return weight;
}

// NaN fails every comparison, here and below.
static void check_within(double within) {
    if (!(within > 0 && within < 1))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("within must be above 0 and below 1, not %s", float8out_internal(within)),
                        errhint("It is a relative error: within => 0.1 asks for 10 percent.")));
}

static void check_error95(double error95) {
    if (!(error95 >= 0) || std::isinf(error95))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("error95 must be finite and not negative, not %s", float8out_internal(error95)),
                        errhint("It is half of the width of the 95 percent interval, in the unit of the answer.")));
}

static void check_deviations(double deviations) {
    if (!(deviations >= 1 && deviations <= 10))
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("deviations must be between 1 and 10, not %s", float8out_internal(deviations)),
                 errhint("1 is the published rule, which three of four answers keep; 2 is kept by 97 percent.")));
}

void check_wanted(const privacy::Wanted &wanted) {
    if (wanted.within)
        check_within(*wanted.within);
    if (wanted.error95)
        check_error95(*wanted.error95);
    check_deviations(wanted.deviations);
}

privacy::Wanted wanted_arguments(FunctionCallInfo fcinfo, int first) {
    privacy::Wanted wanted;
    if (!PG_ARGISNULL(first))
        wanted.within = PG_GETARG_FLOAT8(first);
    if (!PG_ARGISNULL(first + 1))
        wanted.error95 = PG_GETARG_FLOAT8(first + 1);
    require(fcinfo, first + 2, "deviations");
    wanted.deviations = PG_GETARG_FLOAT8(first + 2);
    check_wanted(wanted);
    if (wanted.deviations != 1 && !wanted.within) // it would be ignored, and a plain price charged
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("deviations goes with within"),
                        errhint("It says at how many standard deviations within has to hold: pass within => 0.1, for "
                                "instance, or leave deviations out.")));
    return wanted;
}

query::Limits asked_limits(FunctionCallInfo fcinfo, int first) {
    query::Limits limits = {};
    if (!PG_ARGISNULL(first))
        limits.max_rows = query::checked_limit(PG_GETARG_INT32(first), "max_rows");
    if (!PG_ARGISNULL(first + 1))
        limits.max_groups = query::checked_limit(PG_GETARG_INT32(first + 1), "max_groups");
    if (!PG_ARGISNULL(first + 2))
        limits.max_rows_per_group = query::checked_limit(PG_GETARG_INT32(first + 2), "max_rows_per_group");
    query::check_limits(limits);
    return limits;
}

} // namespace dp::sql
