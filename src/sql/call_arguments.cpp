#include "sql/call_arguments.hpp"

#include <cmath>

#include "privacy/sparse_vector.hpp"

#include "query/asked_limits.hpp"
#include "sql/controller.hpp"

namespace dp::sql {

void require(FunctionCallInfo fcinfo, int argument, const char *name) {
    if (PG_ARGISNULL(argument))
        refuse_with(ERRCODE_NULL_VALUE_NOT_ALLOWED, psprintf("%s must not be null", name));
}

static const char *name_of_argument(Oid function, int argument) {
    HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
    if (!HeapTupleIsValid(tuple))
        elog(ERROR, "cache lookup failed for function %u", function);
    Oid *types;
    char **names, *modes;
    (void)get_func_arg_info(tuple, &types, &names, &modes);
    ReleaseSysCache(tuple);
    return names[argument];
}

void require(FunctionCallInfo fcinfo, std::initializer_list<int> arguments) {
    for (int i : arguments)
        if (PG_ARGISNULL(i))
            require(fcinfo, i, name_of_argument(fcinfo->flinfo->fn_oid, i));
}

void require_first(FunctionCallInfo fcinfo, int n) {
    for (int i = 0; i < n; i++)
        require(fcinfo, {i});
}

char *text_argument(FunctionCallInfo fcinfo, int argument) {
    return PG_ARGISNULL(argument) ? nullptr : text_to_cstring(PG_GETARG_TEXT_PP(argument));
}

ArrayType *array_argument(FunctionCallInfo fcinfo, int argument) {
    return PG_ARGISNULL(argument) ? nullptr : PG_GETARG_ARRAYTYPE_P(argument);
}

void refuse_unless_null(FunctionCallInfo fcinfo, int argument, const char *name) {
    if (!PG_ARGISNULL(argument))
        refuse_form(psprintf("%s is not supported by this version", name), "Leave it at its default.");
}

void refuse_if_true(FunctionCallInfo fcinfo, int argument, const char *name) {
    if (!PG_ARGISNULL(argument) && PG_GETARG_BOOL(argument))
        refuse_unless_null(fcinfo, argument, name);
}

bool takes_away(Datum numeric) {
    return strcmp(catalog::numeric_text(numeric), "Infinity") == 0;
}

const std::vector<privacy::Epsilon> *candidates_argument(FunctionCallInfo fcinfo, int argument, bool *infinite) {
    *infinite = false;
    ArrayType *array = array_argument(fcinfo, argument);
    if (array == nullptr || ARR_NDIM(array) != 1)
        return catalog::candidates_from_array(array);
    ArrayType *finite = DatumGetArrayTypeP(OidFunctionCall2Coll(F_ARRAY_REMOVE, InvalidOid, PointerGetDatum(array),
                                                                catalog::text_numeric("Infinity")));
    const int kept = ArrayGetNItems(ARR_NDIM(finite), ARR_DIMS(finite));
    *infinite = kept < ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
    if (*infinite && kept == 0)
        return border::context_new<std::vector<privacy::Epsilon>>();
    return catalog::candidates_from_array(finite);
}

bool is_empty_text(Datum word) {
    return TextDatumGetCString(word)[0] == '\0';
}

void refuse_half_of_groups() {
    refuse_value("group_a and group_b go together",
                 "Pass two conditions, group_a => $$sex = 'Female'$$, group_b => $$sex = 'Male'$$, or none.");
}

privacy::Mechanism mechanism_named(const char *name) {
    if (strcmp(name, "laplace") == 0)
        return privacy::Mechanism::laplace;
    if (strcmp(name, "auto") == 0)
        refuse_value("mechanism auto belongs to a policy",
                     "Use 'laplace' or 'gaussian': dp_explain() of the analyst's says which is drawn.",
                     "It means Gaussian noise where the bound and the price make that the smaller one.");
    if (strcmp(name, "gaussian") != 0)
        refuse_value(psprintf("unknown mechanism: \"%s\"", name), "Use 'laplace' or 'gaussian'.");
    return privacy::Mechanism::gaussian;
}

privacy::Calibration calibration_named(const char *name) {
    if (strcmp(name, "sound") == 0)
        return privacy::Calibration::sound;
    if (strcmp(name, "published") != 0)
        refuse_value(psprintf("unknown calibration: \"%s\"", name), "Use 'sound' or 'published'.");
    return privacy::Calibration::published;
}

// NaN fits nothing, as it fails every comparison.
static void check_number(bool fits, const char *name, double value, const char *range, const char *hint) {
    if (!fits)
        refuse_value(psprintf("%s must be %s, not %s", name, range, float8out_internal(value)), hint);
}

double checked_tau(double tau) {
    check_number(tau >= 0 && tau <= 1, "tau", tau, "between 0 and 1",
                 "tau is the smallest permitted RDR_min/RDR_max: 0.95 is strict, 0.05 is lax.");
    return tau;
}

double checked_tau_var(double tau_var) {
    check_number(
        tau_var >= 0 && tau_var <= 1, "tau_var", tau_var, "between 0 and 1",
        "tau_var is the largest permitted variance of the normalised RDRs: 1e-5 is strict, 0.25 permits everything.");
    return tau_var;
}

privacy::Epsilon checked_epsilon_svt(Datum value) {
    privacy::Epsilon epsilon = catalog::checked_epsilon(value, "epsilon_svt");
    border::core([&] { (void)privacy::svt_split(epsilon); });
    return epsilon;
}

double checked_weight(double weight, const char *name) {
    check_number(weight > 0 && !std::isinf(weight), name, weight, "positive and finite",
                 "1 is the weight of an ordinary query, 2 that of one twice as important.");
    return weight;
}

static void check_wanted(const privacy::Wanted &wanted) {
    if (wanted.within)
        check_number(*wanted.within > 0 && *wanted.within < 1, "within", *wanted.within, "above 0 and below 1",
                     "It is a relative error: within => 0.1 asks for 10 percent.");
    if (wanted.error95)
        check_number(*wanted.error95 >= 0 && !std::isinf(*wanted.error95), "error95", *wanted.error95,
                     "finite and not negative",
                     "It is half of the width of the 95 percent interval, in the unit of the answer.");
    check_number(wanted.deviations >= 1 && wanted.deviations <= 10, "deviations", wanted.deviations, "between 1 and 10",
                 "1 is the published rule, which three of four answers keep; 2 is kept by 97 percent.");
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
        refuse_value("deviations goes with within",
                     "It says at how many standard deviations within has to hold: pass within => 0.1, for "
                     "instance, or leave deviations out.");
    return wanted;
}

query::Limits asked_limits(FunctionCallInfo fcinfo, int first) {
    auto asked = [&](int i, const char *name) {
        return PG_ARGISNULL(first + i) ? 0 : query::checked_limit(PG_GETARG_INT32(first + i), name);
    };
    query::Limits limits = {};
    limits.max_rows = asked(0, "max_rows");
    limits.max_groups = asked(1, "max_groups");
    limits.max_rows_per_group = asked(2, "max_rows_per_group");
    query::check_limits(limits);
    return limits;
}

} // namespace dp::sql
