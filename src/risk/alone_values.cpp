#include "risk/alone_values.hpp"

#include "border/stored_rows.hpp"

namespace dp::risk {

namespace {
enum Column { column_group, column_coordinate, column_digest, column_part, column_individuals, ncolumns };
} // namespace

struct AloneValues {
    TupleDesc desc;
    Tuplesortstate *sort;
    TupleTableSlot *slot;
};

static TupleDesc describe() {
    TupleDesc desc = CreateTemplateTupleDesc(ncolumns);
    const Oid types[ncolumns] = {INT4OID, INT4OID, UUIDOID, INT8OID, INT8OID};
    for (int c = 0; c < ncolumns; c++)
        TupleDescInitEntry(desc, static_cast<AttrNumber>(c + 1), "value", types[c], -1, 0);
    return BlessTupleDesc(desc);
}

AloneValues *begin_alone_values() {
    auto *values = static_cast<AloneValues *>(palloc0(sizeof(AloneValues)));
    const border::SortColumn by[] = {{column_group}, {column_coordinate}, {column_digest}};
    values->desc = describe();
    values->sort = border::begin_sort(values->desc, by, lengthof(by));
    values->slot = MakeSingleTupleTableSlot(values->desc, &TTSOpsVirtual);
    return values;
}

static void put(const AloneValues *values, Tuplesortstate *sort, int group, int coordinate, const void *digest, int64 part,
                int64 individuals) {
    TupleTableSlot *slot = values->slot;
    ExecClearTuple(slot);
    memset(slot->tts_isnull, false, sizeof(bool) * ncolumns);
    slot->tts_values[column_group] = Int32GetDatum(group);
    slot->tts_values[column_coordinate] = Int32GetDatum(coordinate);
    slot->tts_values[column_digest] = PointerGetDatum(digest);
    slot->tts_values[column_part] = Int64GetDatum(part);
    slot->tts_values[column_individuals] = Int64GetDatum(individuals);
    ExecStoreVirtualTuple(slot);
    tuplesort_puttupleslot(sort, slot);
}

void add_alone_value(AloneValues *values, int group, int coordinate, const void *digest, int64 part, int64 individuals) {
    put(values, values->sort, group, coordinate, digest, part, individuals);
}

namespace {
// Equal values of one coordinate and group, which come one behind the other.
struct Run {
    int group, coordinate;
    pg_uuid_t digest;
    int64 part, individuals; // 0: there is none
};
} // namespace

static Run run_of(const TupleTableSlot *slot) {
    return {DatumGetInt32(slot->tts_values[column_group]), DatumGetInt32(slot->tts_values[column_coordinate]),
            *DatumGetUUIDP(slot->tts_values[column_digest]), DatumGetInt64(slot->tts_values[column_part]),
            DatumGetInt64(slot->tts_values[column_individuals])};
}

static bool is_same(const Run &a, const Run &b) {
    return a.individuals > 0 && a.group == b.group && a.coordinate == b.coordinate &&
           memcmp(&a.digest, &b.digest, sizeof a.digest) == 0;
}

// by_part: takes what one person alone has, in the order in which changes are kept.
static void end_run(const AloneValues *values, const Run &run, Memo *memo, bool count, Tuplesortstate *by_part) {
    if (run.individuals == 0)
        return;
    if (count)
        memo->sums.change(run.group)[run.coordinate] += 1;
    if (run.individuals == 1)
        put(values, by_part, run.group, run.coordinate, &run.digest, run.part, 1);
}

void finish_alone_values(AloneValues *values, Memo *memo, bool count) {
    const border::SortColumn by[] = {{column_part}};
    Tuplesortstate *by_part = border::begin_sort(values->desc, by, lengthof(by));
    Run run = {};
    tuplesort_performsort(values->sort);
    border::each_stored_row(values->sort, values->desc, [&](const TupleTableSlot *slot) {
        const Run next = run_of(slot);
        if (is_same(run, next)) {
            run.individuals += next.individuals;
            return;
        }
        end_run(values, run, memo, count, by_part);
        run = next;
    });
    end_run(values, run, memo, count, by_part);
    tuplesort_performsort(by_part);
    border::each_stored_row(by_part, values->desc, [&](const TupleTableSlot *slot) {
        const Run alone = run_of(slot);
        memo->changes.change(alone.part)[alone.coordinate] += 1;
    });
    ExecDropSingleTupleTableSlot(values->slot);
    tuplesort_end(values->sort);
    tuplesort_end(by_part);
}

} // namespace dp::risk
