#include "sql/general.hpp"

#include <cmath>

#include "border/versions.hpp"
#include "catalog/facade.hpp"
#include "query/grammar.hpp"
#include "release/general_answer.hpp"
#include "rows/unit_checks.hpp"
#include "sql/call_arguments.hpp"
#include "sql/refusal.hpp"
#include "sql/risk_rows.hpp"

namespace dp::sql {

using risk::GeneralQuestion;
using risk::GeneralRisk;

// ---- the question --------------------------------------------------------------------------------------------------

static void check_controller(const query::General *general) {
    for (Oid view : border::each_oid(general->views))
        if (!border::owns_relation(catalog::table_of_facade(view), GetUserId()))
            refuse_right(psprintf("must be owner of the table behind %s", catalog::qualified_name(view)),
                         "Only the controller may look at the risk; analysts ask through dp_query().");
}

// The papers' noise is known of counts, sums, averages and variances; elsewhere by how far the result moves.
static bool is_known_by_result(const query::Leaf *leaf) {
    bool counts_values = false;
    for (int i = 0; i < leaf->naggregates; i++)
        counts_values = counts_values || leaf->aggregates[i].fn == privacy::Aggregate::count_values;
    return counts_values || query::asks_quantile(leaf) || query::asks_joint(leaf);
}

// Returns why no analyst may ask the statement with this noise, or null.
static ErrorData *refusal_of_analyst(const Statement &statement, bool by_result, privacy::Mechanism mechanism) {
    if (!by_result)
        return statement.refusal;
    // Groups that nobody declared, rows that other servers keep, Gaussian noise.
    return refusal_by([&] { (void)leaf_question(statement, mechanism, 1); });
}

GeneralQuestion *general_question(const Statement &statement, privacy::Mechanism mechanism, bool declared,
                                  bool published) {
    query::TextScope scope;
    scope.enter(statement.text);
    query::Parsed parsed = query::parse_select(statement.text);
    query::General *general = query::find_facades(parsed.query, parsed.source);
    check_controller(general);
    const bool by_result = statement.whole && is_known_by_result(query::check_leaf(parsed.query, parsed.source));
    ErrorData *refusal = published ? statement.refusal : refusal_of_analyst(statement, by_result, mechanism);
    const bool asks = declared || refusal != nullptr || (published && (by_result || !statement.whole));
    if (asks && refusal != nullptr && !query::is_general(general))
        ReThrowError(refusal);
    GeneralQuestion *question = nullptr;
    if (asks) {
        catalog::Reading reading = catalog::Reading::open();
        question = risk::prepare_general(reading, general, statement.text, declared ? nullptr : refusal);
        reading.close();
    }
    scope.leave();
    return question;
}

double sensitivity_argument(FunctionCallInfo fcinfo, int argument) {
    if (PG_ARGISNULL(argument))
        return get_float8_nan();
    double value = DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, PG_GETARG_DATUM(argument)));
    border::core([&] { privacy::check_sensitivity(value); });
    return value;
}

// ---- what it is asked with -----------------------------------------------------------------------------------------

namespace {
// The arguments that dp_risk and dp_risk_records share; of a general query.
struct GeneralView {
    GeneralQuestion *question;
    privacy::Mechanism mechanism;
    privacy::Calibration calibration;
    bool has_delta;
    privacy::Delta delta;
    double sensitivity; // NaN: not declared
};

enum Argument { arg_query, arg_second, arg_mechanism, arg_delta, arg_calibration, arg_exact, arg_sensitivity, arg_group_a = 9 };
} // namespace

static bool read_view(FunctionCallInfo fcinfo, const Statement &statement, GeneralView *view) {
    *view = GeneralView{};
    view->sensitivity = sensitivity_argument(fcinfo, arg_sensitivity);
    require(fcinfo, arg_calibration, "calibration");
    view->calibration = calibration_named(text_argument(fcinfo, arg_calibration));
    require(fcinfo, arg_mechanism, "mechanism");
    view->mechanism = mechanism_named(text_argument(fcinfo, arg_mechanism));
    view->question = general_question(statement, view->mechanism, !std::isnan(view->sensitivity),
                                      view->calibration == privacy::Calibration::published);
    if (view->question == nullptr)
        return false;
    refuse_if_true(fcinfo, arg_exact, "exact for a general query");
    delta_argument(fcinfo, arg_delta, view);
    if (view->has_delta || view->calibration == privacy::Calibration::sound)
        rows::check_delta(view->question->table, view->mechanism, view->delta);
    release::check_declared(view->question, view->mechanism, view->sensitivity);
    if (view->question->refusal != nullptr)
        ereport(NOTICE, (errmsg("no analyst may ask this query: %s", view->question->refusal),
                         errhint("Shown is the risk of noise on its result, as the owner gets it with a sensitivity.")));
    return true;
}

static privacy::DeclaredNoise noise_of(const GeneralView &view, const GeneralRisk &risk, privacy::Epsilon epsilon) {
    privacy::DeclaredVector vector =
        release::declared_vector(view.question, risk, view.mechanism, view.calibration, view.sensitivity);
    return border::core([&] {
        privacy::Delta delta = view.delta;
        if (!view.has_delta && view.mechanism == privacy::Mechanism::gaussian) // the papers' 1/n^2
            delta = privacy::Delta::from_double(std::pow(static_cast<double>(risk.memo->rows), -2),
                                                privacy::Rounding::down);
        return privacy::declared_noise(vector, view.calibration, view.mechanism, epsilon, delta);
    });
}

// ---- dp_risk -------------------------------------------------------------------------------------------------------

bool general_risk(FunctionCallInfo fcinfo, const Statement &statement) {
    GeneralView view;
    if (!read_view(fcinfo, statement, &view))
        return false;
    bool infinite;
    const auto *candidates = candidates_argument(fcinfo, arg_second, &infinite);
    refuse_unless_null(fcinfo, arg_group_a, "group_a for a general query");
    InitMaterializedSRF(fcinfo, 0);
    auto *result = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
    GeneralRisk risk = risk::general_risk(view.question, view.mechanism, false, "dp_risk");
    release::check_somebody(risk);
    const auto put = [&](Datum epsilon, privacy::Epsilon at, const privacy::DeclaredNoise &noise) {
        Candidate candidate = {};
        candidate.epsilon = epsilon;
        candidate.general = true;
        candidate.row = border::core([&] { return privacy::risk_row(*risk.memo->profile, view.mechanism, at, noise.term); });
        candidate.noise = {noise.term, noise.stddev, noise.error95};
        put_candidate(result, candidate);
    };
    if (infinite)
        put(catalog::text_numeric("Infinity"), {}, {});
    for (std::size_t i = 0; i < candidates->size(); i++) {
        CHECK_FOR_INTERRUPTS();
        put(catalog::to_numeric((*candidates)[i]), (*candidates)[i], noise_of(view, risk, (*candidates)[i]));
    }
    return true;
}

// ---- dp_risk_records -----------------------------------------------------------------------------------------------

bool general_risk_records(FunctionCallInfo fcinfo, const Statement &statement) {
    GeneralView view;
    if (!read_view(fcinfo, statement, &view))
        return false;
    require(fcinfo, arg_second, "epsilon");
    const bool infinite = takes_away(PG_GETARG_DATUM(arg_second));
    const privacy::Epsilon epsilon =
        infinite ? privacy::Epsilon{} : catalog::checked_epsilon(PG_GETARG_DATUM(arg_second), "epsilon");
    InitMaterializedSRF(fcinfo, 0);
    auto *result = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
    GeneralRisk risk = risk::general_risk(view.question, view.mechanism, true, "dp_risk_records");
    risk::Memo *memo = risk.memo;
    double term = memo->rows == 0 || infinite ? 0 : noise_of(view, risk, epsilon).term;
    Indicator indicator = {memo, view.mechanism, term, {}};
    put_records(result, memo, RecordNumbers{risks_of_record, &indicator, true}, 0);
    return true;
}

} // namespace dp::sql
