// The rows of dp_risk_records and dp_risk_output: records, riskiest first.
#include "sql/risk_rows.hpp"
#include "sql/result_rows.hpp"

namespace dp::sql {

using risk::Memo;

void put_candidate(ReturnSetInfo *result, const Candidate &candidate) {
    const privacy::RiskRow &row = candidate.row;
    const Tested &tested = candidate.tested;
    Datum values[16] = {candidate.epsilon,
                        Float8GetDatum(row.rdr_min),
                        Float8GetDatum(row.rdr_max),
                        Float8GetDatum(row.ratio),
                        Float8GetDatum(row.variance),
                        Float8GetDatum(candidate.noise.stddev),
                        Float8GetDatum(candidate.noise.error95),
                        Float8GetDatum(tested.statistic),
                        Float8GetDatum(tested.sensitivity),
                        Float8GetDatum(tested.accept),
                        Float8GetDatum(candidate.noise.term),
                        candidate.rho,
                        Int32GetDatum(candidate.leaf),
                        Float8GetDatum(candidate.error),
                        Float8GetDatum(candidate.median_a),
                        Float8GetDatum(candidate.median_b)};
    bool nulls[16] = {};
    nulls[7] = !candidate.has_statistic;
    nulls[8] = nulls[9] = !tested.known;
    nulls[10] = nulls[12] = nulls[13] = candidate.general;
    nulls[11] = !candidate.has_rho;
    nulls[14] = nulls[15] = !candidate.has_medians;
    tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

void risks_of_record(void *context, int64 record, double *pis, double *rdr) {
    auto *indicator = static_cast<const Indicator *>(context);
    const Memo *memo = indicator->memo;
    *pis = record == memo->nrecords ? 0 : memo->records.at(record)->pis;
    *rdr = indicator->risks.excess.bytes != nullptr
               ? indicator->risks.noise + *indicator->risks.excess.at(record)
               : privacy::rdr_of(*pis, indicator->mechanism, indicator->term);
}

namespace {
// Columns in front of the record's own in what is sorted.
enum SortColumn { sort_individuals, sort_third, sort_fourth, sort_fixed };
} // namespace

static TupleDesc sorted_desc(const Memo *memo) {
    TupleDesc desc = CreateTemplateTupleDesc(sort_fixed + memo->desc->natts);
    TupleDescInitEntry(desc, sort_individuals + 1, "individuals", INT8OID, -1, 0);
    TupleDescInitEntry(desc, sort_third + 1, "third", FLOAT8OID, -1, 0);
    TupleDescInitEntry(desc, sort_fourth + 1, "fourth", FLOAT8OID, -1, 0);
    for (int c = 0; c < memo->desc->natts; c++)
        TupleDescCopyEntry(desc, sort_fixed + c + 1, memo->desc, c + 1);
    return desc;
}

static Tuplesortstate *begin_sort(TupleDesc desc, int by) {
    Oid greater = lookup_type_cache(FLOAT8OID, TYPECACHE_GT_OPR)->gt_opr;
    AttrNumber columns[2] = {static_cast<AttrNumber>(sort_third + by + 1),
                             static_cast<AttrNumber>(sort_fourth - by + 1)};
    Oid operators[2] = {greater, greater}, collations[2] = {InvalidOid, InvalidOid};
    bool nulls_first[2] = {false, false};
    return tuplesort_begin_heap(desc, 2, columns, operators, collations, nulls_first, work_mem, nullptr,
                                TUPLESORT_NONE);
}

static void set_numbers(Datum *values, bool *nulls, const RecordNumbers &numbers, int64 record) {
    double third = 0, fourth = 0;
    numbers.of(numbers.context, record, &third, &fourth);
    values[0] = Float8GetDatum(third);
    nulls[0] = false;
    values[1] = numbers.has_fourth ? Float8GetDatum(fourth) : Datum(0);
    nulls[1] = !numbers.has_fourth;
}

static void fill_sort(Tuplesortstate *sort, TupleDesc desc, const Memo *memo, const RecordNumbers &numbers) {
    TupleTableSlot *record = MakeSingleTupleTableSlot(memo->desc, &TTSOpsMinimalTuple);
    TupleTableSlot *slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
    int natts = memo->desc->natts;
    for (int64 i = 0; tuplestore_gettupleslot(memo->kept, true, false, record); i++) {
        CHECK_FOR_INTERRUPTS();
        slot_getallattrs(record);
        ExecClearTuple(slot);
        slot->tts_values[sort_individuals] = Int64GetDatum(memo->records.at(i)->individuals);
        slot->tts_isnull[sort_individuals] = false;
        set_numbers(slot->tts_values + sort_third, slot->tts_isnull + sort_third, numbers, i);
        for (int c = 0; c < natts; c++) {
            slot->tts_values[sort_fixed + c] = record->tts_values[c];
            slot->tts_isnull[sort_fixed + c] = record->tts_isnull[c];
        }
        ExecStoreVirtualTuple(slot);
        tuplesort_puttupleslot(sort, slot);
    }
    ExecDropSingleTupleTableSlot(record);
    ExecDropSingleTupleTableSlot(slot);
    tuplestore_end(memo->kept);
}

static void put_outside(ReturnSetInfo *result, const Memo *memo, const RecordNumbers &numbers) {
    Datum values[4] = {Datum(0), Int64GetDatum(memo->outside)};
    bool nulls[4] = {true};
    set_numbers(values + 2, nulls + 2, numbers, memo->nrecords);
    tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

static void put_sorted(ReturnSetInfo *result, const Memo *memo, Tuplesortstate *sort, TupleDesc desc) {
    TupleTableSlot *slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
    JsonColumns columns = json_columns(memo->desc);
    MemoryContext per_row = AllocSetContextCreate(CurrentMemoryContext, "dp_rdr record", ALLOCSET_DEFAULT_SIZES);
    MemoryContext old = MemoryContextSwitchTo(per_row);
    while (tuplesort_gettupleslot(sort, true, false, slot, nullptr)) {
        CHECK_FOR_INTERRUPTS();
        slot_getallattrs(slot);
        Datum values[4] = {row_jsonb(columns, slot->tts_values + sort_fixed, slot->tts_isnull + sort_fixed),
                           slot->tts_values[sort_individuals], slot->tts_values[sort_third],
                           slot->tts_values[sort_fourth]};
        bool nulls[4] = {false, false, slot->tts_isnull[sort_third], slot->tts_isnull[sort_fourth]};
        tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
        MemoryContextReset(per_row);
    }
    MemoryContextSwitchTo(old);
    MemoryContextDelete(per_row);
    ExecDropSingleTupleTableSlot(slot);
}

void put_records(ReturnSetInfo *result, const Memo *memo, const RecordNumbers &numbers, int by) {
    TupleDesc desc = sorted_desc(memo);
    Tuplesortstate *sort = begin_sort(desc, by);
    fill_sort(sort, desc, memo, numbers);
    tuplesort_performsort(sort);
    put_sorted(result, memo, sort, desc);
    tuplesort_end(sort);
    if (memo->outside > 0)
        put_outside(result, memo, numbers);
}

} // namespace dp::sql
