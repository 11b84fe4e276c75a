#include "rows/unit_sums.hpp"

#include "rows/distinct_values.hpp"
#include "rows/quantiles.hpp"
#include "rows/units.hpp"

namespace dp::rows {

// ---- declared groups -----------------------------------------------------------------------------------------------

namespace {
struct Totals {
    const Question *question;
    privacy::int128 *values; // groups x coordinates
    ValueUnion counted;
    int64 *cells; // groups x question->ncells
};
} // namespace

static void add_cells(const Totals *totals, const UnitContribution &brought) {
    const int cells = number_of_cells(totals->question);
    for (int i = 0; i < brought.ncells; i++)
        for (int q = 0; q < brought.nquantiles; q++)
            totals
                ->cells[int64{brought.cells[i].group} * totals->question->ncells + q * cells + brought.cells[i].cell] +=
                static_cast<int64>(brought.cell_counts[int64{i} * brought.nquantiles + q]);
}

static void add_to_totals(void *sink, Unit *unit) {
    const auto *totals = static_cast<const Totals *>(sink);
    UnitContribution *brought = &unit->contribution;
    clip_contribution(totals->question, brought);
    int width = totals->question->ncoordinates;
    for (int i = 0; i < brought->ngroups; i++)
        for (int c = 0; c < width; c++)
            totals->values[int64{brought->groups[i]} * width + c] += brought->values[int64{i} * width + c];
    add_cells(totals, *brought);
    add_to_union(&totals->counted, brought);
}

// ---- discovered groups ---------------------------------------------------------------------------------------------

constexpr Oid sixteen_bytes = UUIDOID; // a type of that size: nobody reads it as what it is

static_assert(sizeof(privacy::int128) == UUID_LEN, "a coordinate is one value");

TupleDesc describe_unit_sums(const Question *question) {
    int nkeys = question->leaf->nkeys;
    TupleDesc desc = CreateTemplateTupleDesc(nkeys + question->ncoordinates);
    for (int i = 0; i < nkeys; i++) {
        TupleDescInitEntry(desc, static_cast<AttrNumber>(i + 1), "key", exprType(question->keys[i]),
                           exprTypmod(question->keys[i]), 0);
        TupleDescInitEntryCollation(desc, static_cast<AttrNumber>(i + 1), exprCollation(question->keys[i]));
    }
    for (int c = 1; c <= question->ncoordinates; c++)
        TupleDescInitEntry(desc, static_cast<AttrNumber>(nkeys + c), "sum", sixteen_bytes, -1, 0);
    return BlessTupleDesc(desc);
}

void read_unit_sums(const Question *question, const Datum *columns, privacy::int128 *values) {
    for (int c = 0; c < question->ncoordinates; c++)
        memcpy(values + c, DatumGetPointer(columns[question->leaf->nkeys + c]), sizeof(privacy::int128));
}

static void set_coordinates(const Question *question, const privacy::int128 *values, Datum *columns) {
    for (int c = 0; c < question->ncoordinates; c++)
        columns[question->leaf->nkeys + c] = PointerGetDatum(values + c);
}

// What is sorted: behind the sums a value that is counted, and for which coordinate. A row has the one or the other.
static TupleDesc describe_brought(TupleDesc sums) {
    const int n = sums->natts;
    TupleDesc desc = CreateTemplateTupleDesc(n + 2);
    for (int i = 1; i <= n; i++)
        TupleDescCopyEntry(desc, static_cast<AttrNumber>(i), sums, static_cast<AttrNumber>(i));
    TupleDescInitEntry(desc, static_cast<AttrNumber>(n + 1), "coordinate", INT4OID, -1, 0);
    TupleDescInitEntry(desc, static_cast<AttrNumber>(n + 2), "value", UUIDOID, -1, 0);
    return BlessTupleDesc(desc);
}

namespace {
// What all units bring, a row for each of a unit's groups, and for each value that is counted; those of one group come one behind
// the other, equal values of it side by side.
struct Groups {
    const Question *question;
    TupleDesc desc;
    Tuplesortstate *sort;
    TupleTableSlot *slot;
};
} // namespace

// The keys of a unit's group; nothing else is there.
static void begin_row(const Groups *groups, const UnitContribution *brought, int group) {
    const int nkeys = groups->question->leaf->nkeys;
    TupleTableSlot *slot = groups->slot;
    ExecClearTuple(slot);
    memset(slot->tts_values, 0, sizeof(Datum) * groups->desc->natts);
    memset(slot->tts_isnull, true, sizeof(bool) * groups->desc->natts);
    memcpy(slot->tts_values, brought->keys + group * nkeys, sizeof(Datum) * nkeys);
    memcpy(slot->tts_isnull, brought->nulls + group * nkeys, sizeof(bool) * nkeys);
}

static void put_values(const Groups *groups, const UnitContribution *brought) {
    const int last = groups->desc->natts - 1;
    TupleTableSlot *slot = groups->slot;
    for (int k = 0; k < brought->ncounts; k++)
        for (int i = 0; i < brought->counts[k].n; i++) {
            privacy::UnitValue *pair = &brought->counts[k].pairs[i];
            begin_row(groups, brought, static_cast<int>(pair->group));
            slot->tts_isnull[last - 1] = slot->tts_isnull[last] = false;
            slot->tts_values[last - 1] = Int32GetDatum(brought->counts[k].coordinate);
            slot->tts_values[last] = PointerGetDatum(&pair->value);
            ExecStoreVirtualTuple(slot);
            tuplesort_puttupleslot(groups->sort, slot);
        }
}

static void put_groups(void *sink, Unit *unit) {
    const auto *groups = static_cast<const Groups *>(sink);
    const Question *question = groups->question;
    UnitContribution *brought = &unit->contribution;
    clip_contribution(question, brought);
    TupleTableSlot *slot = groups->slot;
    for (int i = 0; i < brought->ngroups; i++) {
        begin_row(groups, brought, i);
        memset(slot->tts_isnull + question->leaf->nkeys, false, sizeof(bool) * question->ncoordinates);
        set_coordinates(question, brought->values + int64{i} * question->ncoordinates, slot->tts_values);
        ExecStoreVirtualTuple(slot);
        tuplesort_puttupleslot(groups->sort, slot);
    }
    put_values(groups, brought);
}

// In canonical order: by the keys' default order, NULL last. Within a group by what is counted, behind the sums.
static Tuplesortstate *begin_sort(const Question *question, TupleDesc desc) {
    const int nkeys = question->leaf->nkeys, n = nkeys + 2, behind = desc->natts - 2;
    auto *columns = static_cast<AttrNumber *>(palloc0(sizeof(AttrNumber) * n));
    auto *operators = static_cast<Oid *>(palloc0(sizeof(Oid) * n));
    auto *collations = static_cast<Oid *>(palloc0(sizeof(Oid) * n));
    auto *nulls_first = static_cast<bool *>(palloc0(sizeof(bool) * n));
    for (int i = 0; i < n; i++) {
        const int column = i < nkeys ? i : behind + i - nkeys;
        const Oid type = i < nkeys ? question->leaf->keys[i].type : TupleDescAttr(desc, column)->atttypid;
        columns[i] = static_cast<AttrNumber>(column + 1);
        operators[i] = lookup_type_cache(type, TYPECACHE_LT_OPR)->lt_opr;
        collations[i] = i < nkeys ? question->leaf->keys[i].collation : InvalidOid;
        nulls_first[i] = i >= nkeys;
    }
    return tuplesort_begin_heap(desc, counts_values(question) ? n : nkeys, columns, operators, collations, nulls_first,
                                work_mem, nullptr, TUPLESORT_NONE);
}

namespace {
// The group whose rows are being read.
struct Group {
    const Question *question;
    FmgrInfo **equal; // per key
    MemoryContext memory;
    bool begun;
    Datum *columns; // its keys, copied, and its sums
    bool *nulls;
    privacy::int128 *sums, *brought;
    int coordinate; // of the value that was counted last; -1: none was
    pg_uuid_t value;
};
} // namespace

static Group no_group(const Question *question, TupleDesc desc) {
    Group group = {};
    group.question = question;
    group.equal = static_cast<FmgrInfo **>(palloc(sizeof(FmgrInfo *) * (question->leaf->nkeys + 1)));
    for (int i = 0; i < question->leaf->nkeys; i++)
        group.equal[i] = &lookup_type_cache(question->leaf->keys[i].type, TYPECACHE_EQ_OPR_FINFO)->eq_opr_finfo;
    group.memory = AllocSetContextCreate(CurrentMemoryContext, "dp_rdr group", ALLOCSET_DEFAULT_SIZES);
    group.columns = static_cast<Datum *>(palloc0(sizeof(Datum) * desc->natts));
    group.nulls = static_cast<bool *>(palloc0(sizeof(bool) * desc->natts));
    group.sums = static_cast<privacy::int128 *>(palloc0(sizeof(privacy::int128) * (question->ncoordinates + 1)));
    group.brought = static_cast<privacy::int128 *>(palloc0(sizeof(privacy::int128) * (question->ncoordinates + 1)));
    return group;
}

static bool is_same(const Group *group, const Datum *keys, const bool *nulls) {
    for (int i = 0; i < group->question->leaf->nkeys; i++) {
        if (group->nulls[i] != nulls[i])
            return false;
        if (!nulls[i] && !DatumGetBool(FunctionCall2Coll(group->equal[i], group->question->leaf->keys[i].collation,
                                                         group->columns[i], keys[i])))
            return false;
    }
    return true;
}

static void begin_group(Group *group, TupleDesc desc, const Datum *keys, const bool *nulls) {
    MemoryContextReset(group->memory);
    MemoryContext old = MemoryContextSwitchTo(group->memory);
    for (int i = 0; i < group->question->leaf->nkeys; i++) {
        const Form_pg_attribute column = TupleDescAttr(desc, i);
        group->nulls[i] = nulls[i];
        group->columns[i] = nulls[i] ? Datum(0) : datumCopy(keys[i], column->attbyval, column->attlen);
    }
    MemoryContextSwitchTo(old);
    memset(group->sums, 0, sizeof(privacy::int128) * group->question->ncoordinates);
    group->begun = true;
    group->coordinate = -1;
}

// Values that several units have come one behind the other.
static void count_value(Group *group, int coordinate, const pg_uuid_t *value) {
    if (group->coordinate == coordinate && memcmp(&group->value, value, sizeof group->value) == 0)
        return;
    group->sums[coordinate] += 1;
    group->coordinate = coordinate;
    group->value = *value;
}

static void add_row(Group *group, const Groups *groups, const TupleTableSlot *slot) {
    const int last = groups->desc->natts - 1;
    if (!slot->tts_isnull[last])
        return count_value(group, DatumGetInt32(slot->tts_values[last - 1]), DatumGetUUIDP(slot->tts_values[last]));
    read_unit_sums(group->question, slot->tts_values, group->brought);
    for (int c = 0; c < group->question->ncoordinates; c++)
        group->sums[c] += group->brought[c];
}

static void end_group(Group *group, const Sums *sums) {
    if (!group->begun)
        return;
    set_coordinates(group->question, group->sums, group->columns);
    tuplestore_putvalues(sums->store, sums->desc, group->columns, group->nulls);
}

static void merge_groups(const Groups *groups, const Sums *sums) {
    const Question *question = groups->question;
    Group group = no_group(question, sums->desc);
    TupleTableSlot *slot = MakeSingleTupleTableSlot(groups->desc, &TTSOpsMinimalTuple);
    MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "dp_rdr keys", ALLOCSET_DEFAULT_SIZES);
    MemoryContext old = MemoryContextSwitchTo(scratch);
    while (tuplesort_gettupleslot(groups->sort, true, false, slot, nullptr)) {
        CHECK_FOR_INTERRUPTS();
        slot_getallattrs(slot);
        if (!group.begun || !is_same(&group, slot->tts_values, slot->tts_isnull)) {
            end_group(&group, sums);
            begin_group(&group, sums->desc, slot->tts_values, slot->tts_isnull);
        }
        add_row(&group, groups, slot);
        MemoryContextReset(scratch);
    }
    end_group(&group, sums);
    MemoryContextSwitchTo(old);
    ExecDropSingleTupleTableSlot(slot);
    MemoryContextDelete(scratch);
    MemoryContextDelete(group.memory);
}

// ---- both ----------------------------------------------------------------------------------------------------------

static bool sum_declared(const Question *question, const List *checked, Sums *sums) {
    Size n = Size(Max(question->ngroups, 1)) * Max(question->ncoordinates, 1);
    Totals totals = {question, static_cast<privacy::int128 *>(palloc0(sizeof(privacy::int128) * n)),
                     begin_union(question),
                     static_cast<int64 *>(palloc0(sizeof(int64) * (question->ngroups * question->ncells + 1)))};
    bool read = for_each_unit(question, checked, false, add_to_totals, &totals);
    if (read) {
        count_union(question, &totals.counted, totals.values);
        sums->values = totals.values;
        sums->cells = totals.cells;
    }
    end_union(&totals.counted);
    return read;
}

static bool sum_discovered(const Question *question, const List *checked, const Sums *sums) {
    TupleDesc desc = describe_brought(sums->desc);
    Groups groups = {question, desc, begin_sort(question, desc), MakeSingleTupleTableSlot(desc, &TTSOpsVirtual)};
    bool read = for_each_unit(question, checked, false, put_groups, &groups);
    if (read) {
        tuplesort_performsort(groups.sort);
        merge_groups(&groups, sums);
    }
    ExecDropSingleTupleTableSlot(groups.slot);
    tuplesort_end(groups.sort);
    return read;
}

bool sum_units(const Question *question, const List *checked, Sums *sums) {
    return question->thresholded ? sum_discovered(question, checked, sums) : sum_declared(question, checked, sums);
}

} // namespace dp::rows
