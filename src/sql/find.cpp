// The epsilon that a controller's threshold permits, and the answer that goes with it (doc/reference.md).
#include "catalog/decimals.hpp"
#include "query/grammar.hpp"
#include "release/general_answer.hpp"
#include "release/release.hpp"
#include "sql/answer.hpp"
#include "sql/call_arguments.hpp"
#include "sql/general.hpp"
#include "sql/risk_calls.hpp"

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

static bool wants_output(FunctionCallInfo fcinfo) {
    require(fcinfo, find_indicator, "indicator");
    const char *indicator = text_argument(fcinfo, find_indicator);
    if (strcmp(indicator, "expected") != 0 && strcmp(indicator, "output") != 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("unknown indicator: \"%s\"", indicator),
                        errhint("Use 'expected' or 'output'.")));
    return strcmp(indicator, "output") == 0;
}

// Refuses arguments that go with the expectation only.
static void check_indicator(FunctionCallInfo fcinfo, const release::Terms &terms) {
    bool groups = has_groups(fcinfo, find_group_a);
    if (terms.algorithm == release::Algorithm::find_from_output && (terms.exact || groups))
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("%s does not go with the indicator \"output\"", terms.exact ? "exact" : "a pair of groups"),
                 errhint("Use the indicator 'expected'.")));
}

static release::Terms terms_of_call(FunctionCallInfo fcinfo) {
    release::Terms terms = {};
    terms.algorithm = wants_output(fcinfo) ? release::Algorithm::find_from_output : release::Algorithm::find_epsilon;
    terms.mechanism = mechanism_named(text_argument(fcinfo, find_mechanism));
    terms.tau = checked_tau(PG_GETARG_FLOAT8(find_tau));
    terms.weight = 1;
    if (!PG_ARGISNULL(find_delta))
        terms.delta = catalog::checked_delta(PG_GETARG_DATUM(find_delta), "delta");
    terms.candidates = catalog::candidates_from_array(array_argument(fcinfo, find_candidates));
    terms.exact = PG_GETARG_BOOL(find_exact);
    return terms;
}

static Datum answer_general(FunctionCallInfo fcinfo, const risk::GeneralQuestion *question,
                            const release::Terms &terms) {
    refuse_if_true(fcinfo, find_exact, "exact for a general query");
    refuse_unless_null(fcinfo, find_group_a, "group_a for a general query");
    if (terms.algorithm == release::Algorithm::find_from_output)
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("indicator \"output\" for a general query is not supported by this version"),
                        errhint("Use 'expected'.")));
    release::Answer answer = release::answer_declared(question, terms, sensitivity_argument(fcinfo, find_sensitivity));
    return epsilon_and_answer(fcinfo, &answer);
}

// The epsilons of all leaves are found before one is charged; tau holds for each.
static Datum answer_leaves(FunctionCallInfo fcinfo, const Statement &statement, const release::Terms &terms) {
    const int n = statement.leaves();
    const auto **questions = static_cast<const rows::Question **>(palloc(sizeof(rows::Question *) * n));
    auto *of_each = static_cast<release::Terms *>(palloc0(sizeof(release::Terms) * n));
    auto *answers = static_cast<release::Answer *>(palloc0(sizeof(release::Answer) * n));
    for (int i = 0; i < n; i++) {
        questions[i] = leaf_question(statement, terms.mechanism, i + 1);
        of_each[i] = terms;
        read_groups(fcinfo, find_group_a, questions[i], &of_each[i]);
    }
    tell_leaves(statement);
    release::answer_all(questions, of_each, n, answers);
    return epsilon_and_answers(fcinfo, answers, n);
}

static Datum answer_from_output(FunctionCallInfo fcinfo, const Statement &statement, const release::Terms &terms) {
    release::Answer answer = release::answer(leaf_question(statement, terms.mechanism, 0), terms);
    ereport(WARNING, (errmsg("the answer was accepted after a look at it and is for you alone"),
                      errdetail("Which answers are accepted depends on the private rows: no epsilon bounds what "
                                "this one tells about a person."),
                      errhint("Do not show it to analysts; they ask through dp_query().")));
    return epsilon_and_answer(fcinfo, &answer);
}

DP_CALL(dp_find_epsilon) {
    require(fcinfo, find_query, "query");
    require(fcinfo, find_tau, "tau");
    require(fcinfo, find_mechanism, "mechanism");
    require(fcinfo, find_exact, "exact");
    release::Terms terms = terms_of_call(fcinfo);
    check_indicator(fcinfo, terms);
    catalog::check_can_charge();
    const Statement statement = cut_statement(text_argument(fcinfo, find_query));
    risk::GeneralQuestion *general =
        general_question(statement, terms.mechanism, !PG_ARGISNULL(find_sensitivity), false);
    if (general != nullptr)
        return answer_general(fcinfo, general, terms);
    return terms.algorithm == release::Algorithm::find_from_output ? answer_from_output(fcinfo, statement, terms)
                                                                   : answer_leaves(fcinfo, statement, terms);
}

} // namespace dp::sql
