// The epsilon that a controller's threshold permits, and the answer that goes with it (README.md).
#include "catalog/decimals.hpp"
#include "release/declared.hpp"
#include "release/release.hpp"
#include "sql/arguments.hpp"
#include "sql/general.hpp"
#include "sql/question.hpp"

namespace dp::sql {

// The rows of an answer as a JSON array of objects.
static Datum answer_json(const release::Answer *answer) {
    StringInfoData json;
    initStringInfo(&json);
    appendStringInfoChar(&json, '[');
    TupleTableSlot *slot = MakeSingleTupleTableSlot(answer->desc, &TTSOpsMinimalTuple);
    while (tuplestore_gettupleslot(answer->rows, true, false, slot)) {
        if (json.len > 1)
            appendStringInfoChar(&json, ',');
        Datum row = DirectFunctionCall1(row_to_json, ExecFetchSlotHeapTupleDatum(slot));
        appendStringInfoString(&json, TextDatumGetCString(row));
    }
    ExecDropSingleTupleTableSlot(slot);
    tuplestore_end(answer->rows);
    appendStringInfoChar(&json, ']');
    return DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data));
}

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
    const char *query = text_argument(fcinfo, find_query);
    double sensitivity = sensitivity_argument(fcinfo, find_sensitivity);
    release::GeneralQuestion *general = general_question(query, !PG_ARGISNULL(find_sensitivity));
    release::Answer answer = general != nullptr ? release::answer_declared(general, terms, sensitivity)
                                                : release::answer(controllers_question(query), terms);

    TupleDesc desc;
    if (get_call_result_type(fcinfo, nullptr, &desc) != TYPEFUNC_COMPOSITE)
        elog(ERROR, "dp_find_epsilon must return a row");
    Datum values[2] = {catalog::to_numeric(answer.epsilon), answer_json(&answer)};
    bool nulls[2] = {};
    PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}

} // namespace dp::sql
