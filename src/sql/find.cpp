// The epsilon that a controller's threshold permits, and the answer that goes with it (README.md).
#include "catalog/decimals.hpp"
#include "release/release.hpp"
#include "sql/answer.hpp"
#include "sql/arguments.hpp"
#include "sql/question.hpp"

namespace dp::sql {

namespace {
// Arguments of dp_find_epsilon, by position.
enum FindArgument {
    find_query,
    find_tau,
    find_epsilon,
    find_answer,
    find_mechanism,
    find_delta,
    find_candidates,
    find_indicator,
    find_exact,
    find_group_a,
    find_group_b,
    find_sensitivity
};
} // namespace

static void refuse_later_arguments(FunctionCallInfo fcinfo) {
    require(fcinfo, find_indicator, "indicator");
    const char *indicator = text_argument(fcinfo, find_indicator);
    if (strcmp(indicator, "output") == 0)
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("indicator \"output\" is not supported by this version"), errhint("Use 'expected'.")));
    if (strcmp(indicator, "expected") != 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("unknown indicator: \"%s\"", indicator),
                        errhint("Use 'expected'.")));
    refuse_if_true(fcinfo, find_exact, "exact");
    refuse_unless_null(fcinfo, find_group_a, "group_a");
    refuse_unless_null(fcinfo, find_group_b, "group_b");
    refuse_unless_null(fcinfo, find_sensitivity, "sensitivity");
}

DP_FUNCTION(dp_find_epsilon) {
    require(fcinfo, find_query, "query");
    require(fcinfo, find_tau, "tau");
    require(fcinfo, find_mechanism, "mechanism");
    refuse_later_arguments(fcinfo);
    release::Terms terms = {};
    terms.algorithm = release::Algorithm::find_epsilon;
    terms.mechanism = mechanism_named(text_argument(fcinfo, find_mechanism));
    terms.tau = checked_tau(PG_GETARG_FLOAT8(find_tau));
    terms.weight = 1;
    if (!PG_ARGISNULL(find_delta))
        terms.delta = catalog::checked_delta(PG_GETARG_DATUM(find_delta), "delta");
    terms.candidates = catalog::candidates_from_array(array_argument(fcinfo, find_candidates));
    catalog::check_can_charge();
    release::Question *question = controllers_question(text_argument(fcinfo, find_query));
    release::Answer answer = release::answer(question, terms);

    return epsilon_and_answer(fcinfo, &answer);
}

} // namespace dp::sql
