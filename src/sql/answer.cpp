#include "sql/answer.hpp"

#include "border/held.hpp"
#include "border/stored_rows.hpp"
#include "sql/result_rows.hpp"

namespace dp::sql {

// ---- the rows as one jsonb value -----------------------------------------------------------------------------------

// An array of objects is put together from the objects, byte for byte as jsonb_in would make it. That would first have all of
// them as one text and as one tree, many times as large. The layout is that of utils/jsonb.h: a header, an entry for each
// element, the elements, each behind padding that counts as its own. The first of each 32 entries says where its element
// ends, the others how long theirs are.
// It is put behind the head of the row that is returned, so that it need not be copied there.
namespace {
struct JsonArray {
    StringInfoData bytes;
    int start;          // of the value: what is before it is the row's
    uint32 count, size; // of the elements that are there
    Size shown;         // bytes of its text so far
    Size before;        // of answers that the value has beside it
};
} // namespace

// A row whose last column is a value that must begin where a large one does.
static JsonArray begin_array(TupleDesc desc, Datum epsilon, int64 elements) {
    auto *filler = static_cast<Jsonb *>(palloc0(VARATT_SHORT_MAX * 2));
    SET_VARSIZE(filler, VARATT_SHORT_MAX * 2);
    Datum values[2] = {epsilon, PointerGetDatum(filler)};
    bool nulls[2] = {};
    HeapTuple row = heap_form_tuple(desc, values, nulls);
    JsonArray array = {};
    array.start = static_cast<int>(row->t_len - VARSIZE(filler));
    initStringInfo(&array.bytes);
    uint32 header = static_cast<uint32>(elements) | JB_FARRAY;
    int size = static_cast<int>(array.start + VARHDRSZ + sizeof header + sizeof(JEntry) * elements);
    enlargeStringInfo(&array.bytes, size);
    memset(array.bytes.data, 0, size);
    memcpy(array.bytes.data, row->t_data, array.start);
    memcpy(array.bytes.data + array.start + VARHDRSZ, &header, sizeof header);
    array.bytes.len = size;
    return array;
}

static bool add_element(JsonArray *array, const Jsonb *element) {
    int before = array->bytes.len;
    while ((array->bytes.len - array->start) % sizeof(int32) != 0)
        appendStringInfoCharMacro(&array->bytes, '\0');
    appendBinaryStringInfo(&array->bytes, reinterpret_cast<const char *>(&element->root),
                           static_cast<int>(VARSIZE(element) - VARHDRSZ));
    auto size = static_cast<uint32>(array->bytes.len - before);
    if (array->bytes.len - array->start - VARHDRSZ > JENTRY_OFFLENMASK)
        return false;
    array->size += size;
    JEntry entry = JENTRY_ISCONTAINER | size;
    if (array->count % JB_OFFSET_STRIDE == 0)
        entry = JENTRY_ISCONTAINER | array->size | JENTRY_HAS_OFF;
    memcpy(array->bytes.data + array->start + VARHDRSZ + sizeof(uint32) + sizeof entry * array->count++, &entry,
           sizeof entry);
    return true;
}

// ---- how large it may be -------------------------------------------------------------------------------------------

// A call takes no more memory than the server lets a hash table have, and 100 MB; some of it is gone before the value is made.
constexpr Size room_beside = 72 * 1024 * 1024;

static Size room_for_answer() {
    return get_hash_memory_limit() + room_beside;
}

// On its way to the client the server copies the value, and then its text.
static bool is_small_enough(const JsonArray &array) {
    const Size value = array.before + array.bytes.len, shown = array.before + array.shown;
    return shown < MaxAllocSize / 2 && value <= JENTRY_OFFLENMASK && 2 * (value + shown) <= room_for_answer();
}

// The text of the row with the spaces that jsonb puts into it.
static Size shown_length(const char *text, int columns) {
    return strlen(text) + 2 * static_cast<Size>(columns);
}

// The rows of an answer as an array of objects, at the end of a row. False: they would take too much memory.
static bool add_rows(JsonArray *array, const release::Answer *answer) {
    JsonColumns columns = json_columns(answer->desc);
    bool fits = is_small_enough(*array);
    border::each_row_in_scratch(answer->rows, answer->desc, [&](const TupleTableSlot *slot) {
        if (!fits)
            return;
        char *text = row_json(columns, slot->tts_values, slot->tts_isnull);
        array->shown += shown_length(text, answer->desc->natts);
        fits = add_element(array, DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(text)))) &&
               is_small_enough(*array);
    });
    return fits;
}

// ---- a cursor in its place -----------------------------------------------------------------------------------------

// The answer is charged: it must not be lost for its size.
static void hold_answer(const release::Answer *answer, const char *answer_cursor) {
    const char *rows = psprintf(INT64_FORMAT, tuplestore_tuple_count(answer->rows));
    if (!border::can_hold_rows())
        refuse_size(psprintf("the answer of %s rows is too large for one jsonb value", rows),
                    "Call the procedure by itself: its rows are then in a cursor.",
                    psprintf("It is charged. As one value it would take more than %zu MB of memory.",
                             room_for_answer() / (1024 * 1024)));
    border::hold_rows(answer_cursor, "the answer of dp_rdr", answer->desc, answer->rows);
    ereport(
        WARNING,
        (errmsg("the answer of %s rows is in the cursor %s", rows, answer_cursor),
         errdetail("As one jsonb value it would take more than %zu MB of memory.", room_for_answer() / (1024 * 1024)),
         errhint("FETCH 1000 FROM %s gives the next of its rows; CLOSE %s when you have them. A larger work_mem "
                 "permits larger values.",
                 answer_cursor, answer_cursor)));
}

static Datum epsilon_alone(TupleDesc desc, Datum epsilon) {
    Datum values[2] = {epsilon, Datum(0)};
    bool nulls[2] = {false, true};
    return HeapTupleGetDatum(heap_form_tuple(desc, values, nulls));
}

static TupleDesc result_desc(FunctionCallInfo fcinfo) {
    TupleDesc desc;
    if (get_call_result_type(fcinfo, nullptr, &desc) != TYPEFUNC_COMPOSITE)
        elog(ERROR, "the procedure must return a row");
    return BlessTupleDesc(desc);
}

// before: bytes of answers beside it.
static Datum row_of_answer(TupleDesc desc, const release::Answer *answer, const char *cursor, Size before) {
    Datum epsilon = catalog::to_numeric(answer->facts.paid.epsilon);
    int64 elements = tuplestore_tuple_count(answer->rows);
    JsonArray array = {};
    if (elements * sizeof(JEntry) < Min(room_for_answer(), static_cast<Size>(JENTRY_OFFLENMASK)))
        array = begin_array(desc, epsilon, elements);
    array.before = before;
    if (array.bytes.data == nullptr || !add_rows(&array, answer)) {
        if (array.bytes.data != nullptr)
            pfree(array.bytes.data);
        hold_answer(answer, cursor);
        tuplestore_end(answer->rows);
        return epsilon_alone(desc, epsilon);
    }
    tuplestore_end(answer->rows);
    SET_VARSIZE(array.bytes.data + array.start, array.bytes.len - array.start);
    auto *row = reinterpret_cast<HeapTupleHeader>(array.bytes.data);
    HeapTupleHeaderSetDatumLength(row, array.bytes.len);
    return HeapTupleHeaderGetDatum(row);
}

Datum epsilon_and_answer(FunctionCallInfo fcinfo, const release::Answer *answer) {
    return row_of_answer(result_desc(fcinfo), answer, "dp_answer", 0);
}

// ---- several answers -----------------------------------------------------------------------------------------------

static void push_text(JsonbParseState **state, const char *text) {
    JsonbValue key;
    key.type = jbvString;
    key.val.string.val = const_cast<char *>(text);
    key.val.string.len = static_cast<int>(strlen(text));
    pushJsonbValue(state, WJB_KEY, &key);
}

// row: of an answer; or null.
static Size push_rows(JsonbParseState **state, HeapTupleHeader row) {
    bool is_null = true;
    const Datum rows = row == nullptr ? Datum(0) : GetAttributeByNum(row, 2, &is_null);
    JsonbValue value;
    value.type = jbvNull;
    if (!is_null) {
        Jsonb *array = DatumGetJsonbP(rows);
        value.type = jbvBinary;
        value.val.binary.data = &array->root;
        value.val.binary.len = static_cast<int>(VARSIZE(array) - VARHDRSZ);
    }
    pushJsonbValue(state, WJB_VALUE, &value);
    return is_null ? 0 : value.val.binary.len;
}

Datum epsilon_and_answers(FunctionCallInfo fcinfo, const release::Answer *answers, int n) {
    if (n == 1)
        return epsilon_and_answer(fcinfo, answers);
    TupleDesc desc = result_desc(fcinfo);
    JsonbParseState *state = nullptr;
    privacy::Epsilon sum;
    Size before = 0;
    pushJsonbValue(&state, WJB_BEGIN_OBJECT, nullptr);
    for (int i = 0; i < n; i++) {
        HeapTupleHeader row = nullptr;
        if (answers[i].rows != nullptr)
            row = DatumGetHeapTupleHeader(row_of_answer(desc, &answers[i], psprintf("dp_answer_%d", i + 1), before));
        sum = border::core([&] { return sum + answers[i].facts.paid.epsilon; });
        push_text(&state, psprintf("%d", i + 1));
        before += push_rows(&state, row);
    }
    JsonbValue *object = pushJsonbValue(&state, WJB_END_OBJECT, nullptr);
    Datum values[2] = {catalog::to_numeric(sum), JsonbPGetDatum(JsonbValueToJsonb(object))};
    bool nulls[2] = {};
    return HeapTupleGetDatum(heap_form_tuple(desc, values, nulls));
}

} // namespace dp::sql
