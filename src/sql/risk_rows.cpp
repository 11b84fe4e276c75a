// The rows of dp_risk_records and dp_risk_output: records, riskiest first.
#include "sql/risk_rows.hpp"

#include "border/stored_rows.hpp"
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
    const border::SortColumn columns[] = {{sort_third + by, InvalidOid, true}, {sort_fourth - by, InvalidOid, true}};
    return border::begin_sort(desc, columns, lengthof(columns));
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
    TupleTableSlot *slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
    int natts = memo->desc->natts;
    int64 i = 0;
    border::each_stored_row(memo->kept, memo->desc, [&](const TupleTableSlot *record) {
        ExecClearTuple(slot);
        slot->tts_values[sort_individuals] = Int64GetDatum(memo->records.at(i)->individuals);
        slot->tts_isnull[sort_individuals] = false;
        set_numbers(slot->tts_values + sort_third, slot->tts_isnull + sort_third, numbers, i++);
        for (int c = 0; c < natts; c++) {
            slot->tts_values[sort_fixed + c] = record->tts_values[c];
            slot->tts_isnull[sort_fixed + c] = record->tts_isnull[c];
        }
        ExecStoreVirtualTuple(slot);
        tuplesort_puttupleslot(sort, slot);
    });
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
    JsonColumns columns = json_columns(memo->desc);
    border::each_row_in_scratch(sort, desc, [&](const TupleTableSlot *slot) {
        Datum values[4] = {row_jsonb(columns, slot->tts_values + sort_fixed, slot->tts_isnull + sort_fixed),
                           slot->tts_values[sort_individuals], slot->tts_values[sort_third],
                           slot->tts_values[sort_fourth]};
        bool nulls[4] = {false, false, slot->tts_isnull[sort_third], slot->tts_isnull[sort_fourth]};
        tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
    });
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
