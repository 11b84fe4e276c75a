#include "sql/answer.hpp"

#include "catalog/decimals.hpp"
#include "sql/row_json.hpp"

namespace dp::sql {

// ---- the rows as one jsonb value -----------------------------------------------------------------------------------

// An array of objects is put together from the objects, byte for byte as jsonb_in would make it. That would first have all of
// them as one text and as one tree, many times as large. The layout is that of utils/jsonb.h: a header, an entry for each
// element, the elements, each behind padding that counts as its own. The first of each 32 entries says where its element
// ends, the others how long theirs are.
namespace {
struct JsonArray {
    StringInfoData bytes;
    uint32 count, size; // of the elements that are there
};
} // namespace

static JsonArray begin_array(int64 elements) {
    JsonArray array = {};
    initStringInfo(&array.bytes);
    if (elements > static_cast<int64>(MaxAllocSize / sizeof(JEntry) / 2))
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("an answer of " INT64_FORMAT " rows is too large for one jsonb value", elements)));
    uint32 header = static_cast<uint32>(elements) | JB_FARRAY;
    int size = static_cast<int>(VARHDRSZ + sizeof header + sizeof(JEntry) * elements);
    enlargeStringInfo(&array.bytes, size);
    memset(array.bytes.data, 0, size);
    memcpy(array.bytes.data + VARHDRSZ, &header, sizeof header);
    array.bytes.len = size;
    return array;
}

static void add_element(JsonArray *array, const Jsonb *element) {
    int before = array->bytes.len;
    while (array->bytes.len % sizeof(int32) != 0)
        appendStringInfoCharMacro(&array->bytes, '\0');
    appendBinaryStringInfo(&array->bytes, reinterpret_cast<const char *>(&element->root),
                           static_cast<int>(VARSIZE(element) - VARHDRSZ));
    auto size = static_cast<uint32>(array->bytes.len - before);
    if (static_cast<Size>(array->bytes.len) - VARHDRSZ > JENTRY_OFFLENMASK)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("the answer is larger than %d bytes, the most that a jsonb value may have",
                               JENTRY_OFFLENMASK)));
    array->size += size;
    JEntry entry = JENTRY_ISCONTAINER | size;
    if (array->count % JB_OFFSET_STRIDE == 0)
        entry = JENTRY_ISCONTAINER | array->size | JENTRY_HAS_OFF;
    memcpy(array->bytes.data + VARHDRSZ + sizeof(uint32) + sizeof entry * array->count++, &entry, sizeof entry);
}

// The rows of an answer as an array of objects.
static Datum answer_json(const release::Answer *answer) {
    JsonArray array = begin_array(tuplestore_tuple_count(answer->rows));
    JsonColumns columns = json_columns(answer->desc);
    TupleTableSlot *slot = MakeSingleTupleTableSlot(answer->desc, &TTSOpsMinimalTuple);
    MemoryContext per_row = AllocSetContextCreate(CurrentMemoryContext, "dp_rdr answer", ALLOCSET_DEFAULT_SIZES);
    while (tuplestore_gettupleslot(answer->rows, true, false, slot)) {
        CHECK_FOR_INTERRUPTS();
        MemoryContext old = MemoryContextSwitchTo(per_row);
        slot_getallattrs(slot);
        add_element(&array, DatumGetJsonbP(row_jsonb(columns, slot->tts_values, slot->tts_isnull)));
        MemoryContextSwitchTo(old);
        MemoryContextReset(per_row);
    }
    MemoryContextDelete(per_row);
    ExecDropSingleTupleTableSlot(slot);
    tuplestore_end(answer->rows);
    SET_VARSIZE(array.bytes.data, array.bytes.len);
    return PointerGetDatum(array.bytes.data);
}

Datum epsilon_and_answer(FunctionCallInfo fcinfo, const release::Answer *answer) {
    TupleDesc desc;
    if (get_call_result_type(fcinfo, nullptr, &desc) != TYPEFUNC_COMPOSITE)
        elog(ERROR, "the procedure must return a row");
    Datum values[2] = {catalog::to_numeric(answer->facts.paid.epsilon), answer_json(answer)};
    bool nulls[2] = {};
    HeapTuple row = heap_form_tuple(BlessTupleDesc(desc), values, nulls);
    pfree(DatumGetPointer(values[1])); // it may be large, and the row has a copy
    PG_RETURN_DATUM(HeapTupleGetDatum(row));
}

} // namespace dp::sql
