#include "rows/unit_sums.hpp"

#include "rows/quantiles.hpp"
#include "rows/units.hpp"

namespace dp::rows {

// ---- declared groups -----------------------------------------------------------------------------------------------

namespace {
struct Totals {
    const Question *question;
    privacy::int128 *values; // groups x coordinates
    int64 *cells;            // groups x question->ncells
};
} // namespace

static void add_cells(const Totals *totals, const UnitContribution &brought) {
    const int cells = number_of_cells(totals->question);
    for (int i = 0; i < brought.ncells; i++)
        for (int q = 0; q < brought.nquantiles; q++)
            totals
                ->cells[int64{brought.cells[i].group} * totals->question->ncells + q * cells + brought.cells[i].cell] +=
                static_cast<int64>(brought.counts[int64{i} * brought.nquantiles + q]);
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

namespace {
// What all units bring, a row for each of a unit's groups; those of one group come one behind the other.
struct Groups {
    const Question *question;
    TupleDesc desc;
    Tuplesortstate *sort;
    TupleTableSlot *slot;
};
} // namespace

static void put_groups(void *sink, Unit *unit) {
    const auto *groups = static_cast<const Groups *>(sink);
    const Question *question = groups->question;
    UnitContribution *brought = &unit->contribution;
    clip_contribution(question, brought);
    int nkeys = question->leaf->nkeys;
    TupleTableSlot *slot = groups->slot;
    for (int i = 0; i < brought->ngroups; i++) {
        ExecClearTuple(slot);
        memset(slot->tts_isnull, false, sizeof(bool) * groups->desc->natts);
        memcpy(slot->tts_values, brought->keys + i * nkeys, sizeof(Datum) * nkeys);
        memcpy(slot->tts_isnull, brought->nulls + i * nkeys, sizeof(bool) * nkeys);
        set_coordinates(question, brought->values + int64{i} * question->ncoordinates, slot->tts_values);
        ExecStoreVirtualTuple(slot);
        tuplesort_puttupleslot(groups->sort, slot);
    }
}

// In canonical order: by the keys' default order, NULL last.
static Tuplesortstate *begin_sort(const Question *question, TupleDesc desc) {
    int nkeys = question->leaf->nkeys;
    auto *columns = static_cast<AttrNumber *>(palloc0(sizeof(AttrNumber) * nkeys));
    auto *operators = static_cast<Oid *>(palloc0(sizeof(Oid) * nkeys));
    auto *collations = static_cast<Oid *>(palloc0(sizeof(Oid) * nkeys));
    auto *nulls_first = static_cast<bool *>(palloc0(sizeof(bool) * nkeys));
    for (int i = 0; i < nkeys; i++) {
        columns[i] = static_cast<AttrNumber>(i + 1);
        operators[i] = lookup_type_cache(question->leaf->keys[i].type, TYPECACHE_LT_OPR)->lt_opr;
        collations[i] = question->leaf->keys[i].collation;
    }
    return tuplesort_begin_heap(desc, nkeys, columns, operators, collations, nulls_first, work_mem, nullptr,
                                TUPLESORT_NONE);
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
    TupleTableSlot *slot = MakeSingleTupleTableSlot(sums->desc, &TTSOpsMinimalTuple);
    MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "dp_rdr keys", ALLOCSET_DEFAULT_SIZES);
    MemoryContext old = MemoryContextSwitchTo(scratch);
    while (tuplesort_gettupleslot(groups->sort, true, false, slot, nullptr)) {
        CHECK_FOR_INTERRUPTS();
        slot_getallattrs(slot);
        if (!group.begun || !is_same(&group, slot->tts_values, slot->tts_isnull)) {
            end_group(&group, sums);
            begin_group(&group, sums->desc, slot->tts_values, slot->tts_isnull);
        }
        read_unit_sums(question, slot->tts_values, group.brought);
        for (int c = 0; c < question->ncoordinates; c++)
            group.sums[c] += group.brought[c];
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
                     static_cast<int64 *>(palloc0(sizeof(int64) * (question->ngroups * question->ncells + 1)))};
    if (!for_each_unit(question, checked, false, add_to_totals, &totals))
        return false;
    sums->values = totals.values;
    sums->cells = totals.cells;
    return true;
}

static bool sum_discovered(const Question *question, const List *checked, const Sums *sums) {
    Groups groups = {question, sums->desc, begin_sort(question, sums->desc),
                     MakeSingleTupleTableSlot(sums->desc, &TTSOpsVirtual)};
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
