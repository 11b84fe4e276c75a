#include "risk/loss_sums.hpp"

#include <algorithm>

#include "border/stored_rows.hpp"

namespace dp::risk {

// ---- sorting -------------------------------------------------------------------------------------------------------

static void add_column(TupleDesc desc, int number, const char *name, Oid type, Oid collation) {
    TupleDescInitEntry(desc, static_cast<AttrNumber>(number), name, type, -1, 0);
    TupleDescInitEntryCollation(desc, static_cast<AttrNumber>(number), collation);
}

TupleDesc person_key(const rows::Question *question) {
    const rows::Units *units = question->units;
    TupleDesc desc = CreateTemplateTupleDesc(units == nullptr ? 2 : list_length(units->values));
    if (units == nullptr) {
        add_column(desc, 1, "tableoid", OIDOID, InvalidOid);
        add_column(desc, 2, "ctid", TIDOID, InvalidOid);
        return BlessTupleDesc(desc);
    }
    const catalog::UnitPath *path = units->path;
    while (!path->direct)
        path = path->parent;
    for (int i = 0; i < desc->natts; i++) {
        const Var *column = list_nth_node(Var, units->values, i);
        add_column(desc, i + 1, path->names[i], column->vartype, column->varcollid);
    }
    return BlessTupleDesc(desc);
}

LossSort begin_loss_sort(TupleDesc key, int nnumbers, bool by_key, int largest) {
    LossSort sort = {key->natts, nnumbers, CreateTemplateTupleDesc(key->natts + nnumbers), nullptr, nullptr, nullptr};
    for (int i = 1; i <= sort.desc->natts; i++)
        if (i <= sort.nkeys)
            TupleDescCopyEntry(sort.desc, static_cast<AttrNumber>(i), key, static_cast<AttrNumber>(i));
        else
            add_column(sort.desc, i, nullptr, FLOAT8OID, InvalidOid);
    const int n = by_key ? sort.nkeys : 2;
    auto *columns = static_cast<border::SortColumn *>(palloc(sizeof(border::SortColumn) * n));
    for (int i = 0; i < n; i++) {
        const int column = by_key ? i : i == 0 ? sort.nkeys : sort.desc->natts - 1;
        columns[i] = {column, TupleDescAttr(sort.desc, column)->attcollation, largest > 0, false};
    }
    sort.sort = border::begin_sort(sort.desc, columns, n, largest > 0 ? TUPLESORT_ALLOWBOUNDED : TUPLESORT_NONE);
    if (largest > 0)
        tuplesort_set_bound(sort.sort, largest);
    sort.in = MakeSingleTupleTableSlot(sort.desc, &TTSOpsVirtual);
    sort.out = MakeSingleTupleTableSlot(sort.desc, &TTSOpsMinimalTuple);
    return sort;
}

void put_in_sort(LossSort *sort, const Datum *key, const double *numbers) {
    ExecClearTuple(sort->in);
    for (int i = 0; i < sort->desc->natts; i++) {
        sort->in->tts_isnull[i] = i < sort->nkeys && key == nullptr;
        sort->in->tts_values[i] = i >= sort->nkeys ? Float8GetDatum(numbers[i - sort->nkeys])
                                  : key == nullptr ? Datum(0)
                                                   : key[i];
    }
    ExecStoreVirtualTuple(sort->in);
    tuplesort_puttupleslot(sort->sort, sort->in);
}

const Datum *next_of_sort(LossSort *sort, double *numbers, bool *nobody) {
    CHECK_FOR_INTERRUPTS();
    if (!tuplesort_gettupleslot(sort->sort, true, false, sort->out, nullptr))
        return nullptr;
    slot_getallattrs(sort->out);
    for (int i = 0; i < sort->nnumbers; i++)
        numbers[i] = DatumGetFloat8(sort->out->tts_values[sort->nkeys + i]);
    *nobody = sort->nkeys > 0 && sort->out->tts_isnull[0];
    return sort->out->tts_values;
}

// ---- sums ----------------------------------------------------------------------------------------------------------

static void give(LossSums *sums, const Datum *key, const privacy::PersonLoss &loss) {
    sums->people++;
    sums->take(sums->sink, key, loss);
}

void add_part_of_loss(LossSums *sums, const Datum *key, const privacy::PersonLoss &loss) {
    if (std::all_of(std::begin(loss.of), std::end(loss.of), [](double part) { return part <= 0; }))
        return;
    if (sums->sort == nullptr)
        give(sums, key, loss);
    else
        put_in_sort(sums->sort, key, loss.of);
}

static bool is_same_person(const LossSort *sort, const Datum *a, const Datum *b) {
    for (int i = 0; i < sort->nkeys; i++) {
        const Form_pg_attribute column = TupleDescAttr(sort->desc, i);
        FmgrInfo *compare = &lookup_type_cache(column->atttypid, TYPECACHE_CMP_PROC_FINFO)->cmp_proc_finfo;
        if (DatumGetInt32(FunctionCall2Coll(compare, column->attcollation, a[i], b[i])) != 0)
            return false;
    }
    return true;
}

static Datum *copy_of_key(const LossSort *sort, const Datum *from) {
    auto *key = static_cast<Datum *>(palloc(sizeof(Datum) * sort->nkeys));
    for (int i = 0; i < sort->nkeys; i++) {
        const Form_pg_attribute column = TupleDescAttr(sort->desc, i);
        key[i] = datumCopy(from[i], column->attbyval, column->attlen);
    }
    return key;
}

void end_losses(LossSums *sums) {
    if (sums->sort == nullptr)
        return;
    tuplesort_performsort(sums->sort->sort);
    MemoryContext person = AllocSetContextCreate(CurrentMemoryContext, "dp_rdr person", ALLOCSET_SMALL_SIZES);
    MemoryContext old = MemoryContextSwitchTo(person);
    const Datum *key = nullptr, *next;
    privacy::PersonLoss loss, part;
    bool nobody;
    while ((next = next_of_sort(sums->sort, part.of, &nobody)) != nullptr) {
        if (key == nullptr || !is_same_person(sums->sort, key, next)) {
            if (key != nullptr)
                give(sums, key, loss);
            MemoryContextReset(person);
            key = copy_of_key(sums->sort, next);
            loss = {};
        }
        privacy::add(&loss, part);
    }
    if (key != nullptr)
        give(sums, key, loss);
    MemoryContextSwitchTo(old);
    MemoryContextDelete(person);
    tuplesort_end(sums->sort->sort);
}

void add_measure(const AskedQuestion &asked, int measure, double norm, double square, privacy::Share *share) {
    const double sensitivity = static_cast<double>((*asked.question->measures)[measure].sensitivity),
                 n = static_cast<double>(asked.question->nmeasures), part = norm / sensitivity;
    const bool laplace = asked.mechanism == privacy::Mechanism::laplace;
    share->mean += part / n;
    share->square += (laplace ? part * part : square / (sensitivity * sensitivity)) / n;
}

} // namespace dp::risk
