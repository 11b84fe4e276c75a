#include "risk/result.hpp"

#include <cmath>

#include "border/stored_rows.hpp"
#include "risk/records.hpp"
#include "risk/scan_statement.hpp"

namespace dp::risk {

double number_of(const ResultColumn &column, Datum datum, bool isnull) {
    double value = isnull ? column.z : rows::double_value(column.kind, datum);
    if (!std::isfinite(value))
        ereport(ERROR,
                (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("the result of the query is not a finite number"),
                 errhint("Declare bounds of the column with dp_set_bounds(), or leave out NaN and infinities.")));
    return value;
}

[[noreturn]] static void refuse_equal_rows() {
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("several rows of the result cannot be told apart"),
                    errhint("Select what tells them apart, the keys of GROUP BY for instance; numbers that are "
                            "not keys do not.")));
    pg_unreachable();
}

// ---- order ---------------------------------------------------------------------------------------------------------

namespace {
// Describes a column that tells rows apart and is no coordinate. Its text does where its type has no order.
struct Identity {
    int column; // of the question
    int place;  // among the sorted columns (0-based)
    Oid type, collation;
    FmgrInfo *compare;
    FmgrInfo output; // of the text
};

} // namespace

// The sorted columns are those of the question, then the texts.
struct Order {
    const GeneralQuestion *question;
    int n;
    Identity *identities;
    TupleDesc desc;
};

static Identity identity_of(const ResultColumn &column, int position, int *place_of_text) {
    Identity identity = {};
    identity.column = identity.place = position;
    identity.type = column.type;
    identity.collation = column.collation;
    TypeCacheEntry *type = lookup_type_cache(column.type, TYPECACHE_LT_OPR | TYPECACHE_CMP_PROC_FINFO);
    if (!OidIsValid(type->lt_opr) || !OidIsValid(type->cmp_proc_finfo.fn_oid)) {
        Oid output;
        bool varlena;
        getTypeOutputInfo(column.type, &output, &varlena);
        fmgr_info(output, &identity.output);
        identity.place = (*place_of_text)++;
        identity.type = TEXTOID;
        identity.collation = C_COLLATION_OID;
        type = lookup_type_cache(TEXTOID, TYPECACHE_CMP_PROC_FINFO);
    }
    if (!OidIsValid(identity.collation) && type_is_collatable(identity.type))
        identity.collation = C_COLLATION_OID;
    identity.compare = &type->cmp_proc_finfo;
    return identity;
}

const Order *order_of(const GeneralQuestion *question) {
    auto *made = static_cast<Order *>(palloc0(sizeof(Order)));
    Order &order = *made;
    order.question = question;
    order.identities = static_cast<Identity *>(palloc0(sizeof(Identity) * (question->ncolumns + 1)));
    int columns = question->ncolumns;
    for (int i = 0; i < question->ncolumns; i++)
        if (!question->columns[i].coordinate)
            order.identities[order.n++] = identity_of(question->columns[i], i, &columns);
    order.desc = CreateTemplateTupleDesc(columns);
    for (int i = 0; i < columns; i++)
        TupleDescInitEntry(order.desc, i + 1, "",
                           i >= question->ncolumns           ? TEXTOID
                           : question->columns[i].coordinate ? FLOAT8OID
                                                             : question->columns[i].type,
                           -1, 0);
    return made;
}

// Begins to sort the rows of a result. Without identities there is one row at most, and any order is right.
static Tuplesortstate *begin_sort(const Order *order) {
    const int n = Max(order->n, 1);
    auto *columns = static_cast<border::SortColumn *>(palloc0(sizeof(border::SortColumn) * n));
    for (int k = 0; k < order->n; k++)
        columns[k] = {order->identities[k].place, order->identities[k].collation};
    return border::begin_sort(order->desc, columns, n, TUPLESORT_RANDOMACCESS);
}

// ---- reading -------------------------------------------------------------------------------------------------------

ResultReader begin_result(const Order *order) {
    return ResultReader{order, begin_sort(order), MakeSingleTupleTableSlot(order->desc, &TTSOpsVirtual), 0};
}

void take_row(void *context, TupleTableSlot *row) {
    const Datum *values = row->tts_values;
    const bool *nulls = row->tts_isnull;
    auto *reader = static_cast<ResultReader *>(context);
    const Order *order = reader->order;
    TupleTableSlot *slot = reader->slot;
    ExecClearTuple(slot);
    for (int i = 0; i < order->question->ncolumns; i++) {
        const ResultColumn &column = order->question->columns[i];
        slot->tts_values[i] = column.coordinate ? Float8GetDatum(number_of(column, values[i], nulls[i])) : values[i];
        slot->tts_isnull[i] = !column.coordinate && nulls[i];
    }
    for (int k = 0; k < order->n; k++) {
        Identity &identity = order->identities[k];
        if (identity.place == identity.column)
            continue;
        slot->tts_isnull[identity.place] = nulls[identity.column];
        if (!nulls[identity.column])
            slot->tts_values[identity.place] =
                CStringGetTextDatum(OutputFunctionCall(&identity.output, values[identity.column]));
    }
    ExecStoreVirtualTuple(slot);
    tuplesort_puttupleslot(reader->sort, slot);
    reader->nrows++;
}

// In the order of the sort, NULL last.
static int compare_slots(const Order *order, TupleTableSlot *a, TupleTableSlot *b) {
    for (int k = 0; k < order->n; k++) {
        const Identity &identity = order->identities[k];
        bool null_a, null_b;
        Datum x = slot_getattr(a, identity.place + 1, &null_a), y = slot_getattr(b, identity.place + 1, &null_b);
        int result = null_a || null_b ? static_cast<int>(null_a) - static_cast<int>(null_b)
                                      : DatumGetInt32(FunctionCall2Coll(identity.compare, identity.collation, x, y));
        if (result != 0)
            return result;
    }
    return 0;
}

int compare_rows(const Order *order, const Result &a, const Result &b) {
    return compare_slots(order, a.slot, b.slot);
}

static void check_all_differ(const Order *order, Tuplesortstate *sort) {
    MemoryContext per_row = AllocSetContextCreate(CurrentMemoryContext, "dp_rdr row", ALLOCSET_DEFAULT_SIZES);
    TupleTableSlot *slots[2] = {MakeSingleTupleTableSlot(order->desc, &TTSOpsMinimalTuple),
                                MakeSingleTupleTableSlot(order->desc, &TTSOpsMinimalTuple)};
    for (int64 i = 0; tuplesort_gettupleslot(sort, true, true, slots[i % 2], nullptr); i++) {
        CHECK_FOR_INTERRUPTS();
        MemoryContext old = MemoryContextSwitchTo(per_row);
        if (i > 0 && compare_slots(order, slots[0], slots[1]) == 0)
            refuse_equal_rows();
        MemoryContextSwitchTo(old);
        MemoryContextReset(per_row);
    }
    ExecDropSingleTupleTableSlot(slots[0]);
    ExecDropSingleTupleTableSlot(slots[1]);
    MemoryContextDelete(per_row);
}

Result finish_result(ResultReader *reader) {
    ExecDropSingleTupleTableSlot(reader->slot);
    tuplesort_performsort(reader->sort);
    check_all_differ(reader->order, reader->sort);
    return Result{reader->sort, MakeSingleTupleTableSlot(reader->order->desc, &TTSOpsMinimalTuple), reader->nrows};
}

Query *statement_of(const GeneralQuestion *question, Node *condition) {
    ListCell *cell;
    foreach (cell, question->general->facades)
        put_rows(lfirst_node(RangeTblEntry, cell), rows_query(question, condition, false));
    return question->general->query;
}

Result run_once(const GeneralQuestion *question) {
    ResultReader reader = begin_result(order_of(question));
    Result result = {};
    as_owner(question->settings->owner, [&] {
        (void)run_query(expanded(statement_of(question, nullptr)), InvalidOid, take_row, &reader, NIL);
        result = finish_result(&reader);
    });
    return result;
}

void read_from_start(const Result &result) {
    tuplesort_rescan(result.rows);
}

bool next_row(const Result &result) {
    if (!tuplesort_gettupleslot(result.rows, true, false, result.slot, nullptr))
        return false;
    slot_getallattrs(result.slot);
    return true;
}

void discard(const Result &result) {
    ExecDropSingleTupleTableSlot(result.slot);
    tuplesort_end(result.rows);
}

} // namespace dp::risk
