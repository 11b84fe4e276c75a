#include "risk/unit_changes.hpp"

#include <cmath>

#include "border/columns.hpp"
#include "border/permissions.hpp"
#include "border/refuse.hpp"
#include "border/scope.hpp"
#include "border/stored_rows.hpp"
#include "border/versions.hpp"
#include "catalog/facade.hpp"
#include "mb/pg_wchar.h"
#include "privacy/joint.hpp"
#include "privacy/pair_release.hpp"
#include "risk/memory.hpp"
#include "risk/people_read.hpp"
#include "risk/scan_statement.hpp"
#include "rows/aggregate_arguments.hpp"
#include "rows/canonical.hpp"
#include "rows/counted_values.hpp"
#include "rows/engine.hpp"
#include "rows/evaluate.hpp"
#include "rows/nodes.hpp"
#include "rows/people_sources.hpp"
#include "rows/population.hpp"
#include "rows/quantiles.hpp"
#include "rows/sources.hpp"
#include "rows/texts.hpp"
#include "rows/unit_sums.hpp"
#include "rows/selection_sums.hpp"
#include "rows/units.hpp"

namespace dp::risk {

// ---- what there is no risk of --------------------------------------------------------------------------------------

void check_units(const rows::Question *question, const Wanted &wanted) {
    const rows::Units *units = question->units;
    if (units == nullptr)
        return;
    if (wanted.groups && (units->clipped || units->path->unit_table != question->settings->relation))
        ereport(ERROR,
                (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                 errmsg("groups of people are compared in the table of people alone, with one row for each"),
                 errdetail("A condition over the rows of %s says nothing about a person.",
                           question->settings->relation_name),
                 errhint("Ask over a view of the table whose key is the unit, or join dp_risk_records() with it and "
                         "compare medians of pis + noise.")));
    if (!units->clipped)
        return;
    if (wanted.calibration == privacy::Calibration::published)
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("calibration \"published\" is not supported where a person may have several rows"),
                        errdetail_plural("Up to %d row of one person of %s counts in this answer.",
                                         "Up to %d rows of one person of %s count in this answer.", units->max_rows,
                                         units->max_rows, question->settings->relation_name),
                        errhint("Use 'sound': the papers know one row of each person.")));
}

// Whether each row of the table is a person, and each person a row of it.
static bool is_table_of_people(const catalog::Settings *settings) {
    const catalog::UnitPath *path = settings->unit;
    if (!path->keyed || path->unit_table != settings->relation)
        return false;
    Relation table = table_open(settings->relation, NoLock);
    bool there = true;
    for (int i = 0; i < path->ncolumns; i++)
        there &= border::is_never_null(RelationGetDescr(table), path->columns[i] - 1);
    table_close(table, NoLock);
    return there;
}

void check_general(const catalog::Settings *settings, ErrorData *refusal) {
    if (settings->unit == nullptr || is_table_of_people(settings))
        return;
    if (refusal != nullptr)
        ReThrowError(refusal);
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("a general query over %s is not supported: a person may have several rows, or none, in it",
                           settings->relation_name),
                    errdetail("Risks of general queries leave out one row at a time."),
                    errhint("Ask a query of the common form (count, sum, avg over one view), or over a table of "
                            "people with one row for each.")));
}

// ---- one unit ------------------------------------------------------------------------------------------------------

namespace {
// Keys of discovered groups, in canonical order: a group is found by them.
struct GroupKeys {
    MemoryContext memory;
    int room;
    Datum *values; // ngroups x nkeys
    bool *nulls;
};

struct Work {
    const rows::Question *question;
    Memo *memo;
    PeopleRead people;
    GroupKeys keys;
    double *brought; // sizes, per measure
    Datum *values;            // of memo->desc
    bool *nulls;
};
} // namespace

// Whether a count is shown of a measure, and whether a sum.
static bool shows_count(const privacy::Measure &measure) {
    return measure.kind != privacy::MeasureKind::sum;
}

static bool shows_sum(const privacy::Measure &measure) {
    return measure.kind == privacy::MeasureKind::sum || measure.kind == privacy::MeasureKind::pair ||
           measure.kind == privacy::MeasureKind::triple;
}

// Core region. How many rows, groups or different values a unit has in a measure; sums: of its coordinates over all groups.
static double count_of(const rows::Question *question, int j, const privacy::int128 *sums,
                       const rows::UnitContribution &unit) {
    const privacy::Measure &measure = (*question->measures)[j];
    if (measure.kind == privacy::MeasureKind::count && !measure.of_values)
        return static_cast<double>(*sums) * privacy::unit_of(measure, nullptr);
    if (measure.of_values || measure.kind == privacy::MeasureKind::quantile)
        return counted(question, j, unit) / static_cast<double>(measure.of_values ? 1 : measure.grain);
    double count = 0;
    const int parts = Min(measure.coordinates(), 4); // of moments the first four make 1 of each row
    for (int c = 0; c < parts; c++)
        count += static_cast<double>(sums[c]) / static_cast<double>(privacy::is_joint(measure.kind)
                                                                         ? privacy::joint_one(measure.kind)
                                                                         : privacy::pair_one);
    return count;
}

// Core region.
static double sum_of(const rows::Question *question, int j, const privacy::int128 *sums) {
    const privacy::Measure &measure = (*question->measures)[j];
    if (!measure.has_parts())
        return static_cast<double>(*sums) * privacy::unit_of(measure, question->bounds[j]);
    privacy::Halves halves = privacy::released_halves(measure.kind, sums);
    return privacy::release_pair(halves.s1, halves.s0, *question->bounds[j]).sum;
}

// Fills the sizes of what a unit brings to each measure.
static void measure_sizes(const rows::Question *question, const rows::UnitContribution &unit, double *sizes) {
    double squares = 0;
    for (int j = 0; j < question->nmeasures; j++)
        rows::add_sizes(question, j, unit, &(sizes[j] = 0), &squares);
}

// Returns the share that clipping leaves of a unit, in the measure that it takes most of; 1 where the unit brings nothing.
static double share_left(const Work *work, const rows::UnitContribution &kept) {
    auto *left = static_cast<double *>(palloc(sizeof(double) * (work->question->nmeasures + 1)));
    measure_sizes(work->question, kept, left);
    double share = 1;
    for (int j = 0; j < work->question->nmeasures; j++)
        if (work->brought[j] > 0)
            share = Min(share, left[j] / work->brought[j]);
    return share;
}

static void put_unit(Work *work, const rows::Unit *unit) {
    const rows::Question *question = work->question;
    const rows::UnitContribution &kept = *unit->contribution;
    int width = question->ncoordinates, at = list_length(question->units->values), first = 0;
    memcpy(work->values, unit->columns, sizeof(Datum) * at);
    auto *sums = static_cast<privacy::int128 *>(palloc0(sizeof(privacy::int128) * (width + 1)));
    for (int i = 0; i < kept.ngroups; i++)
        for (int c = 0; c < width; c++)
            sums[c] += kept.values[int64{i} * width + c];
    for (int j = 0; j < question->nmeasures; j++) {
        const privacy::Measure &measure = (*question->measures)[j];
        if (shows_count(measure))
            work->values[at++] =
                Float8GetDatum(border::core([&] { return count_of(question, j, sums + first, kept); }));
        if (shows_sum(measure))
            work->values[at++] = Float8GetDatum(border::core([&] { return sum_of(question, j, sums + first); }));
        first += measure.coordinates();
    }
    work->values[at++] = Int32GetDatum(kept.ngroups);
    work->values[at] = Float8GetDatum(share_left(work, kept));
    tuplestore_putvalues(work->memo->kept, work->memo->desc, work->values, work->nulls);
}

// Returns -1, 0 or 1: the order in which groups are shown.
static int compare_keys(const rows::Question *question, const Datum *a, const bool *a_nulls, const Datum *b,
                        const bool *b_nulls) {
    const query::Leaf *leaf = question->leaf;
    for (int k = 0; k < leaf->nkeys; k++) {
        if (a_nulls[k] || b_nulls[k]) {
            if (a_nulls[k] != b_nulls[k])
                return a_nulls[k] ? 1 : -1;
            continue;
        }
        FmgrInfo *compare = &lookup_type_cache(leaf->keys[k].type, TYPECACHE_CMP_PROC_FINFO)->cmp_proc_finfo;
        int order = DatumGetInt32(FunctionCall2Coll(compare, leaf->keys[k].collation, a[k], b[k]));
        if (order != 0)
            return order;
    }
    return 0;
}

static int find_group(const Work *work, const Datum *keys, const bool *nulls) {
    const int nkeys = work->question->leaf->nkeys;
    int low = 0, high = work->memo->ngroups;
    while (low < high) {
        int middle = low + (high - low) / 2;
        int order = compare_keys(work->question, work->keys.values + int64{middle} * nkeys,
                                 work->keys.nulls + int64{middle} * nkeys, keys, nulls);
        if (order == 0)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    elog(ERROR, "a group of a unit is missing among those of all");
}

// One quantile's cells after the other's, ascending.
static int cells_of(const rows::UnitContribution &brought, int group, int ncells, privacy::CellCount *cells) {
    int n = 0;
    for (int q = 0; q < brought.nquantiles; q++)
        for (int i = 0; i < brought.ncells; i++) {
            const auto count = static_cast<int64>(brought.cell_counts[int64{i} * brought.nquantiles + q]);
            if (brought.cells[i].group == group && count > 0)
                cells[n++] = {q * ncells + brought.cells[i].cell, count};
        }
    return n;
}

static void add_values(Work *work, const rows::UnitContribution &brought, int at, int group) {
    for (int k = 0; k < brought.ncounts; k++)
        for (int i = 0; i < brought.counts[k].n; i++)
            if (brought.counts[k].pairs[i].group == at)
                add_value(&work->people, group, brought.counts[k].coordinate, &brought.counts[k].pairs[i].value, 1);
}

static void add_parts(Work *work, const rows::UnitContribution &brought) {
    const rows::Question *question = work->question;
    const int nkeys = question->leaf->nkeys;
    auto *cells = static_cast<privacy::CellCount *>(
        palloc(sizeof(privacy::CellCount) * (static_cast<Size>(brought.ncells) * brought.nquantiles + 1)));
    for (int i = 0; i < brought.ngroups; i++) {
        int group = !question->thresholded ? brought.groups[i] : 0;
        if (work->keys.room > 0)
            group = find_group(work, brought.keys + int64{i} * nkeys, brought.nulls + int64{i} * nkeys);
        const int ncells = cells_of(brought, question->thresholded ? i : group, rows::number_of_cells(question), cells);
        add_part(&work->people, group, brought.values + int64{i} * question->ncoordinates, cells, ncells, 1);
        add_values(work, brought, i, group);
    }
}

static void take_unit(void *sink, rows::Unit *unit) {
    auto *work = static_cast<Work *>(sink);
    const rows::Question *question = work->question;
    rows::UnitContribution *brought = unit->contribution;
    bool shown = work->memo->kept != nullptr;
    if (shown)
        measure_sizes(question, *brought, work->brought);
    rows::clip_contribution(question, brought);
    add_parts(work, *brought);
    end_person(&work->people, 1, false, false);
    if (shown)
        put_unit(work, unit);
}

// ---- its columns ---------------------------------------------------------------------------------------------------

static const char *clipped_name(const char *name) {
    int length = static_cast<int>(strlen(name));
    return pnstrdup(name, pg_mbcliplen(name, length, NAMEDATALEN - 1));
}

// fn: what is shown of a measure. Two of one name are told apart by their number.
static const char *name_of(const rows::Question *question, int j, const char *fn) {
    const privacy::Measure &measure = (*question->measures)[j];
    if (measure.of_units)
        return clipped_name(measure.filter < 0 ? "groups counted" : psprintf("groups counted %d", j + 1));
    const char *what = measure.argument < 0 ? "*" : rows::argument_text(question, measure.calls.front());
    if (measure.filter < 0 && strlen(what) < NAMEDATALEN - 10)
        return psprintf("%s(%s)", fn, what);
    int room = pg_mbcliplen(what, static_cast<int>(strlen(what)), NAMEDATALEN - 24);
    return psprintf("%s(%.*s) %d", fn, room, what, j + 1);
}

static TupleDesc describe(const rows::Question *question) {
    const rows::Units *units = question->units;
    const catalog::UnitPath *at = units->path;
    while (!at->direct)
        at = at->parent;
    int columns = list_length(units->values) + 2; // and one number of each measure, or two
    for (const privacy::Measure &measure : *question->measures)
        columns += (shows_count(measure) ? 1 : 0) + (shows_sum(measure) ? 1 : 0);
    TupleDesc desc = CreateTemplateTupleDesc(columns);
    int n = 0;
    ListCell *cell;
    foreach (cell, units->values) {
        auto *value = static_cast<Node *>(lfirst(cell));
        const auto *column = castNode(Var, value);
        const rows::Source *source = rows::source_at(question, static_cast<int>(column->varno));
        const char *name = source != nullptr && source->people != nullptr
                               ? rows::column_name(question, query::column_number(column))
                               : get_attname(at->relation, at->columns[n], false);
        TupleDescInitEntry(desc, n + 1, name, exprType(value), exprTypmod(value), 0);
        TupleDescInitEntryCollation(desc, ++n, exprCollation(value));
    }
    for (int j = 0; j < question->nmeasures; j++) {
        const privacy::Measure &measure = (*question->measures)[j];
        if (shows_count(measure))
            TupleDescInitEntry(desc, ++n, name_of(question, j, measure.of_values ? "values of" : "count"), FLOAT8OID, -1, 0);
        if (shows_sum(measure))
            TupleDescInitEntry(desc, ++n, name_of(question, j, "sum"), FLOAT8OID, -1, 0);
    }
    TupleDescInitEntry(desc, ++n, "groups", INT4OID, -1, 0);
    TupleDescInitEntry(desc, ++n, "kept", FLOAT8OID, -1, 0);
    border::tell_columns_apart(desc);
    return BlessTupleDesc(desc);
}

// ---- groups of the answer ------------------------------------------------------------------------------------------

static void keep_keys(const rows::Question *question, GroupKeys *keys, int group, const TupleTableSlot *slot) {
    const int nkeys = question->leaf->nkeys;
    MemoryContext old = MemoryContextSwitchTo(keys->memory);
    if (group == keys->room) {
        keys->room = Max(64, keys->room * 2);
        const Size n = static_cast<Size>(keys->room) * nkeys + 1;
        keys->values = static_cast<Datum *>(group == 0 ? MemoryContextAllocHuge(keys->memory, sizeof(Datum) * n)
                                                       : repalloc_huge(keys->values, sizeof(Datum) * n));
        keys->nulls = static_cast<bool *>(group == 0 ? MemoryContextAllocHuge(keys->memory, n)
                                                     : repalloc_huge(keys->nulls, n));
        check_memory(static_cast<double>(MemoryContextMemAllocated(keys->memory, false)),
                     psprintf("the keys of more than %d groups", group), "declare the groups");
    }
    for (int k = 0; k < nkeys; k++) {
        const Form_pg_attribute column = TupleDescAttr(slot->tts_tupleDescriptor, k);
        const int64 at = int64{group} * nkeys + k;
        keys->nulls[at] = slot->tts_isnull[k];
        keys->values[at] =
            slot->tts_isnull[k] ? Datum(0) : datumCopy(slot->tts_values[k], column->attbyval, column->attlen);
    }
    MemoryContextSwitchTo(old);
}

static void raise_changed(const rows::Question *question) {
    ereport(ERROR, (errcode(ERRCODE_LOCK_NOT_AVAILABLE),
                    errmsg("partitions of %s changed while it was asked", question->settings->relation_name),
                    errhint("Ask again.")));
}

int64 count_units(const rows::Question *question) {
    int64 n = 0;
    if (!rows::count_units(question, question->checked, &n))
        raise_changed(question);
    return n;
}

// keys: where they are kept; or null.
static void read_groups(const rows::Uncharged &right, Memo *memo, GroupKeys *keys) {
    const rows::Question *question = right.question();
    rows::Sums sums = {};
    sums.desc = rows::describe_unit_sums(question);
    sums.store = tuplestore_begin_heap(false, false, work_mem);
    if (!rows::sum_units(right, question->checked, nullptr, &sums))
        raise_changed(question);
    border::empty_spill(memo->sums.bytes);
    border::each_stored_row(sums.store, sums.desc, [&](TupleTableSlot *slot) {
        rows::read_unit_sums(question, slot->tts_values, memo->sums.append(), nullptr);
        if (keys != nullptr)
            keep_keys(question, keys, memo->ngroups, slot);
        keep_group_keys(memo, memo->ngroups++, slot->tts_values, slot->tts_isnull);
    });
    rows::discard(&sums);
}

// ---- reading -------------------------------------------------------------------------------------------------------

void add_groups_of_units(const rows::Uncharged &right, Memo *memo) {
    if (right.question()->thresholded && memo->ngroups == 0)
        as_reader(right.question(), [&] { read_groups(right, memo, nullptr); });
}

static void prepare(Work *work, Detail detail) {
    const rows::Question *question = work->question;
    Memo *memo = work->memo;
    work->people.has_sums = question->thresholded;
    work->keys.memory = AllocSetContextCreate(CurrentMemoryContext, "dp_rdr groups", ALLOCSET_DEFAULT_SIZES);
    if (question->thresholded) // stands for groups that nobody needs
        memo->sums.append();
    else
        memo->ngroups = question->leaf->nkeys == 0 ? 1 : question->ngroups;
    if (detail < Detail::records)
        return;
    memo->desc = describe(question);
    work->brought = static_cast<double *>(palloc0(sizeof(double) * (question->nmeasures + 1)));
    work->values = static_cast<Datum *>(palloc0(sizeof(Datum) * memo->desc->natts));
    work->nulls = static_cast<bool *>(palloc0(sizeof(bool) * memo->desc->natts));
}

static void read_units(Work *work, const rows::Uncharged &right, Detail detail) {
    const rows::Question *question = work->question;
    Memo *memo = work->memo;
    // Where what moves an answer depends on other people, or somebody asks, the groups of each unit are known.
    if (question->thresholded && (depends_on_group(question) || rows::counts_values(question) ||
                                  detail == Detail::changes || detail == Detail::everything))
        read_groups(right, memo, &work->keys);
    if (!rows::for_each_unit(right, question->checked, memo->kept != nullptr, take_unit, work))
        raise_changed(question);
    // A unit that is deleted meanwhile is in neither: both are read under one snapshot.
    memo->rows = Max(count_units(question), work->people.inside);
    memo->outside = memo->rows - work->people.inside;
    finish_people(&work->people);
}

Memo *leave_one_unit_out(const rows::Uncharged &right, privacy::Mechanism mechanism, Detail detail) {
    const rows::Question *question = right.question();
    auto *memo = static_cast<Memo *>(palloc0(sizeof(Memo)));
    Work work = {};
    work.question = question;
    work.memo = memo;
    work.people = begin_people(question, mechanism, privacy::Calibration::sound, memo, detail,
                               Min(get_hash_memory_limit(), static_cast<Size>(MaxAllocSize)));
    prepare(&work, detail);
    as_reader(question, [&] { read_units(&work, right, detail); });
    return memo;
}

} // namespace dp::risk
