#include "sql/answer.hpp"

#include "catalog/decimals.hpp"
#include "sql/row_json.hpp"

namespace dp::sql {

// The rows of an answer as a JSON array of objects.
static Datum answer_json(const release::Answer *answer) {
    StringInfoData json;
    initStringInfo(&json);
    appendStringInfoChar(&json, '[');
    JsonColumns columns = json_columns(answer->desc);
    TupleTableSlot *slot = MakeSingleTupleTableSlot(answer->desc, &TTSOpsMinimalTuple);
    while (tuplestore_gettupleslot(answer->rows, true, false, slot)) {
        if (json.len > 1)
            appendStringInfoChar(&json, ',');
        slot_getallattrs(slot);
        appendStringInfoString(&json, row_json(columns, slot->tts_values, slot->tts_isnull));
    }
    ExecDropSingleTupleTableSlot(slot);
    tuplestore_end(answer->rows);
    appendStringInfoChar(&json, ']');
    return DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data));
}

Datum epsilon_and_answer(FunctionCallInfo fcinfo, const release::Answer *answer) {
    TupleDesc desc;
    if (get_call_result_type(fcinfo, nullptr, &desc) != TYPEFUNC_COMPOSITE)
        elog(ERROR, "the procedure must return a row");
    Datum values[2] = {catalog::to_numeric(answer->facts.paid.epsilon), answer_json(answer)};
    bool nulls[2] = {};
    PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}

} // namespace dp::sql
