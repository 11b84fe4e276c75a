#include "rows/unit_sums.hpp"

#include "border/stored_rows.hpp"
#include "rows/quantiles.hpp"
#include "rows/units.hpp"

namespace dp::rows {

constexpr Oid sixteen_bytes = UUIDOID; // a type of that size: nobody reads it as what it is

static_assert(sizeof(privacy::int128) == UUID_LEN, "a coordinate is one value");

// Lists nodes of the types of the store's columns.
static List *columns_of_store(const Question *question) {
    List *columns = keys_of(question);
    for (int c = 0; c < question->ncoordinates; c++)
        columns = lappend(columns, makeNullConst(sixteen_bytes, -1, InvalidOid));
    return has_quantile(question) ? lappend(columns, makeNullConst(BYTEAOID, -1, InvalidOid)) : columns;
}

TupleDesc describe_unit_sums(const Question *question) {
    return BlessTupleDesc(ExecTypeFromExprList(columns_of_store(question)));
}

void read_unit_sums(const Question *question, const Datum *columns, privacy::int128 *values, int64 *cells) {
    for (int c = 0; c < question->ncoordinates; c++)
        memcpy(values + c, DatumGetPointer(columns[question->leaf->nkeys + c]), sizeof(privacy::int128));
    if (cells != nullptr && question->ncells > 0)
        memcpy(cells, VARDATA_ANY(DatumGetPointer(columns[question->leaf->nkeys + question->ncoordinates])),
               sizeof(int64) * question->ncells);
}

static void set_coordinates(const Question *question, const privacy::int128 *values, Datum *columns) {
    for (int c = 0; c < question->ncoordinates; c++)
        columns[question->leaf->nkeys + c] = PointerGetDatum(values + c);
}

// ---- what is sorted ------------------------------------------------------------------------------------------------

namespace {
// Adds up what all units bring. Sums of declared groups are added in place. Sorted are, for discovered groups, a row for each of a
// unit's groups and one for each of its cells, and in any case one for each value that is counted: those of one group come one behind the
// other, equal values of it side by side.
struct Groups {
    const Question *question;
    const Sums *sums;
    const Selection *selection; // or null
    int nkeys; // columns that tell groups apart: the keys, or one with the number of a declared group
    TupleDesc desc;
    Tuplesortstate *sort; // null: nothing is sorted
    TupleTableSlot *slot;
};
} // namespace

// Behind the keys and the sums of discovered groups come a value that is counted, and for which coordinate; or how often a cell is there,
// and which. A row has the sums or one of these.
static TupleDesc describe_sorted(const Question *question) {
    Const *integer = makeNullConst(INT4OID, -1, InvalidOid), *value = makeNullConst(UUIDOID, -1, InvalidOid);
    List *groups = question->thresholded ? columns_of_store(question) : list_make1(integer);
    return BlessTupleDesc(ExecTypeFromExprList(list_concat(groups, list_make2(integer, value))));
}

static Oid type_of_key(const Groups *groups, int i) {
    return groups->question->thresholded ? groups->question->leaf->keys[i].type : INT4OID;
}

static Oid collation_of_key(const Groups *groups, int i) {
    return groups->question->thresholded ? groups->question->leaf->keys[i].collation : InvalidOid;
}

// In canonical order: by the keys' default order, NULL last. Within a group by what is counted, behind the sums.
static Tuplesortstate *begin_sort(const Groups *groups) {
    const int nkeys = groups->nkeys, behind = groups->desc->natts - 2;
    auto *columns = array_of<border::SortColumn>(nkeys + 2);
    for (int i = 0; i < nkeys; i++)
        columns[i] = {i, collation_of_key(groups, i)};
    for (int i = 0; i < 2; i++)
        columns[nkeys + i] = {behind + i, InvalidOid, false, true};
    return border::begin_sort(groups->desc, columns, counts_values(groups->question) ? nkeys + 2 : nkeys);
}

static Groups begin_groups(const Question *question, const Selection *selection, const Sums *sums) {
    Groups groups = {question, sums, selection, question->thresholded ? question->leaf->nkeys : 1, nullptr, nullptr, nullptr};
    if (!question->thresholded && !counts_values(question))
        return groups;
    groups.desc = describe_sorted(question);
    groups.sort = begin_sort(&groups);
    groups.slot = MakeSingleTupleTableSlot(groups.desc, &TTSOpsVirtual);
    return groups;
}

// The keys of a unit's group; nothing else is there.
static void begin_row(const Groups *groups, const UnitContribution *brought, int group) {
    const int nkeys = groups->nkeys;
    TupleTableSlot *slot = groups->slot;
    ExecClearTuple(slot);
    memset(slot->tts_values, 0, sizeof(Datum) * groups->desc->natts);
    memset(slot->tts_isnull, true, sizeof(bool) * groups->desc->natts);
    if (groups->question->thresholded) {
        memcpy(slot->tts_values, brought->keys + group * nkeys, sizeof(Datum) * nkeys);
        memcpy(slot->tts_isnull, brought->nulls + group * nkeys, sizeof(bool) * nkeys);
    } else {
        slot->tts_values[0] = Int32GetDatum(brought->groups[group]);
        slot->tts_isnull[0] = false;
    }
}

static void end_row(const Groups *groups) {
    ExecStoreVirtualTuple(groups->slot);
    tuplesort_puttupleslot(groups->sort, groups->slot);
}

// ---- one unit ------------------------------------------------------------------------------------------------------

static void put_one(const Groups *groups, const UnitContribution *brought, int group, int number, void *value) {
    const int last = groups->desc->natts - 1;
    begin_row(groups, brought, group);
    groups->slot->tts_isnull[last - 1] = groups->slot->tts_isnull[last] = false;
    groups->slot->tts_values[last - 1] = Int32GetDatum(number);
    groups->slot->tts_values[last] = PointerGetDatum(value);
    end_row(groups);
}

static void put_values(const Groups *groups, const UnitContribution *brought) {
    for (int k = 0; k < brought->ncounts; k++)
        for (int i = 0; i < brought->counts[k].n; i++) {
            privacy::UnitValue *pair = &brought->counts[k].pairs[i];
            put_one(groups, brought, static_cast<int>(pair->group), brought->counts[k].coordinate, &pair->value);
        }
}

// Returns where a cell of a quantile stands among those of a group.
static int place_of_cell(const Question *question, int quantile, int cell) {
    return quantile * number_of_cells(question) + cell;
}

static void put_sums(const Groups *groups, const UnitContribution *brought) {
    const Question *question = groups->question;
    for (int i = 0; i < brought->ncells; i++)
        for (int q = 0; q < brought->nquantiles; q++)
            if (privacy::int128 *count = &brought->cell_counts[int64{i} * brought->nquantiles + q]; *count > 0)
                put_one(groups, brought, brought->cells[i].group, place_of_cell(question, q, brought->cells[i].cell), count);
    for (int i = 0; i < brought->ngroups; i++) {
        begin_row(groups, brought, i);
        memset(groups->slot->tts_isnull + groups->nkeys, false, sizeof(bool) * question->ncoordinates);
        set_coordinates(question, brought->values + int64{i} * question->ncoordinates, groups->slot->tts_values);
        end_row(groups);
    }
}

static void add_sums(const Groups *groups, const UnitContribution *brought) {
    const Question *question = groups->question;
    const int width = question->ncoordinates;
    for (int i = 0; i < brought->ngroups; i++)
        for (int c = 0; c < width; c++)
            groups->sums->values[int64{brought->groups[i]} * width + c] += brought->values[int64{i} * width + c];
    for (int i = 0; i < brought->ncells; i++)
        for (int q = 0; q < brought->nquantiles; q++)
            groups->sums->cells[int64{brought->cells[i].group} * question->ncells +
                                place_of_cell(question, q, brought->cells[i].cell)] +=
                static_cast<int64>(brought->cell_counts[int64{i} * brought->nquantiles + q]);
}

static void take_unit(void *sink, Unit *unit) {
    const auto *groups = static_cast<const Groups *>(sink);
    UnitContribution *brought = unit->contribution;
    if (!groups->question->by_points)
        clip_contribution(groups->question, brought);
    if (groups->selection != nullptr)
        add_unit(groups->question, groups->selection, *brought);
    if (groups->question->thresholded)
        put_sums(groups, brought);
    else
        add_sums(groups, brought);
    put_values(groups, brought);
}

// ---- one group -----------------------------------------------------------------------------------------------------

namespace {
// The group whose rows are being read.
struct Group {
    const Groups *groups;
    FmgrInfo **equal; // per key
    MemoryContext memory;
    bool begun;
    Datum *columns; // its keys, copied, and its sums
    bool *nulls;
    privacy::int128 *sums, *brought;
    bytea *cells; // of quantiles, as in the store; else empty
    int coordinate; // of the value that was counted last; -1: none was
    pg_uuid_t value;
};
} // namespace

static Size size_of_cells(const Question *question) {
    return sizeof(int64) * question->ncells;
}

static Group no_group(const Groups *groups) {
    Group group = {};
    group.groups = groups;
    group.equal = array_of<FmgrInfo *>(groups->nkeys + 1);
    for (int i = 0; i < groups->nkeys; i++)
        group.equal[i] = &lookup_type_cache(type_of_key(groups, i), TYPECACHE_EQ_OPR_FINFO)->eq_opr_finfo;
    group.memory = AllocSetContextCreate(CurrentMemoryContext, "dp_rdr group", ALLOCSET_DEFAULT_SIZES);
    group.columns = zeroed<Datum>(groups->desc->natts);
    group.nulls = zeroed<bool>(groups->desc->natts);
    const Size size = sizeof(privacy::int128) * (groups->question->ncoordinates + 1);
    group.sums = static_cast<privacy::int128 *>(palloc0(size));
    group.brought = static_cast<privacy::int128 *>(palloc0(size));
    group.cells = static_cast<bytea *>(palloc0(VARHDRSZ + size_of_cells(groups->question)));
    SET_VARSIZE(group.cells, VARHDRSZ + size_of_cells(groups->question));
    return group;
}

static bool is_same(const Group *group, const Datum *keys, const bool *nulls) {
    for (int i = 0; i < group->groups->nkeys; i++) {
        if (group->nulls[i] != nulls[i])
            return false;
        if (!nulls[i] && !DatumGetBool(FunctionCall2Coll(group->equal[i], collation_of_key(group->groups, i),
                                                         group->columns[i], keys[i])))
            return false;
    }
    return true;
}

static void begin_group(Group *group, const Datum *keys, const bool *nulls) {
    MemoryContextReset(group->memory);
    MemoryContext old = MemoryContextSwitchTo(group->memory);
    for (int i = 0; i < group->groups->nkeys; i++) {
        const Form_pg_attribute column = TupleDescAttr(group->groups->desc, i);
        group->nulls[i] = nulls[i];
        group->columns[i] = nulls[i] ? Datum(0) : datumCopy(keys[i], column->attbyval, column->attlen);
    }
    MemoryContextSwitchTo(old);
    memset(group->sums, 0, sizeof(privacy::int128) * group->groups->question->ncoordinates);
    memset(VARDATA(group->cells), 0, size_of_cells(group->groups->question));
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

static void add_to_cell(Group *group, int place, const void *count) {
    char *at = VARDATA(group->cells) + sizeof(int64) * place;
    int64 so_far;
    memcpy(&so_far, at, sizeof so_far);
    memcpy(group->brought, count, sizeof(privacy::int128));
    so_far += static_cast<int64>(*group->brought);
    memcpy(at, &so_far, sizeof so_far);
}

static void add_row(Group *group, const TupleTableSlot *slot) {
    const Question *question = group->groups->question;
    const int last = group->groups->desc->natts - 1;
    if (!slot->tts_isnull[last] && question->ncells > 0)
        return add_to_cell(group, DatumGetInt32(slot->tts_values[last - 1]), DatumGetPointer(slot->tts_values[last]));
    if (!slot->tts_isnull[last])
        return count_value(group, DatumGetInt32(slot->tts_values[last - 1]), DatumGetUUIDP(slot->tts_values[last]));
    read_unit_sums(question, slot->tts_values, group->brought, nullptr);
    for (int c = 0; c < question->ncoordinates; c++)
        group->sums[c] += group->brought[c];
}

static void end_group(Group *group) {
    const Question *question = group->groups->question;
    const Sums *sums = group->groups->sums;
    if (!group->begun)
        return;
    if (question->thresholded) {
        set_coordinates(question, group->sums, group->columns);
        if (question->ncells > 0)
            group->columns[question->leaf->nkeys + question->ncoordinates] = PointerGetDatum(group->cells);
        tuplestore_putvalues(sums->store, sums->desc, group->columns, group->nulls);
        return;
    }
    privacy::int128 *values = sums->values + int64{DatumGetInt32(group->columns[0])} * question->ncoordinates;
    for (int c = 0; c < question->ncoordinates; c++)
        values[c] += group->sums[c];
}

static void merge_groups(const Groups *groups) {
    Group group = no_group(groups);
    border::each_row_in_scratch(groups->sort, groups->desc, [&](const TupleTableSlot *slot) {
        if (!group.begun || !is_same(&group, slot->tts_values, slot->tts_isnull)) {
            end_group(&group);
            begin_group(&group, slot->tts_values, slot->tts_isnull);
        }
        add_row(&group, slot);
    });
    end_group(&group);
    MemoryContextDelete(group.memory);
}

// ---- all of them ---------------------------------------------------------------------------------------------------

bool sum_units(const MayRead &right, const List *checked, const Selection *selection, Sums *sums) {
    const Question *question = right.question();
    if (!question->thresholded) {
        const Size n = Size(Max(question->ngroups, 1)) * Max(question->ncoordinates, 1);
        sums->values = zeroed<privacy::int128>(n);
        sums->cells = zeroed<int64>(question->ngroups * question->ncells + 1);
    }
    Groups groups = begin_groups(question, selection, sums);
    const bool read = question->by_points ? for_each_part(right, checked, take_unit, &groups)
                                          : for_each_unit(right, checked, false, take_unit, &groups);
    if (groups.sort == nullptr)
        return read;
    if (read) {
        tuplesort_performsort(groups.sort);
        merge_groups(&groups);
    }
    ExecDropSingleTupleTableSlot(groups.slot);
    tuplesort_end(groups.sort);
    return read;
}

} // namespace dp::rows
