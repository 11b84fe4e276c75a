// The epsilon that a controller's tau_var permits, selected under differential privacy, and the answer that goes with it
// (doc/reference.md).
#include "catalog/decimals.hpp"
#include "release/release.hpp"
#include "sql/answer.hpp"
#include "sql/call_arguments.hpp"
#include "sql/statement_leaves.hpp"

namespace dp::sql {

namespace {
// Arguments of dp_find_and_release_epsilon, by position.
enum FindAndReleaseArgument {
    arg_query,
    arg_tau_var,
    arg_epsilon_svt,
    arg_epsilon, // INOUT: ignored
    arg_answer,
    arg_mechanism,
    arg_delta,
    arg_candidates
};
} // namespace

DP_CALL(dp_find_and_release_epsilon) {
    require(fcinfo, arg_query, "query");
    require(fcinfo, arg_tau_var, "tau_var");
    require(fcinfo, arg_epsilon_svt, "epsilon_svt");
    require(fcinfo, arg_mechanism, "mechanism");
    release::Terms terms = {};
    terms.algorithm = release::Algorithm::find_and_release;
    terms.mechanism = mechanism_named(text_argument(fcinfo, arg_mechanism));
    terms.tau_var = checked_tau_var(PG_GETARG_FLOAT8(arg_tau_var));
    terms.epsilon_svt = checked_epsilon_svt(PG_GETARG_DATUM(arg_epsilon_svt));
    terms.weight = 1;
    if (!PG_ARGISNULL(arg_delta))
        terms.delta = catalog::checked_delta(PG_GETARG_DATUM(arg_delta), "delta");
    terms.candidates = catalog::candidates_from_array(array_argument(fcinfo, arg_candidates));
    catalog::check_can_charge();
    const Statement statement = cut_statement(text_argument(fcinfo, arg_query));
    release::Answer answer = release::answer(leaf_question(statement, terms.mechanism, 0), terms);
    return epsilon_and_answer(fcinfo, &answer);
}

} // namespace dp::sql
