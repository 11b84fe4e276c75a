#include "risk/loss_sums.hpp"

#include "border/versions.hpp"

namespace dp::risk {

// ---- people --------------------------------------------------------------------------------------------------------

static void add_column(TupleDesc desc, int number, const char *name, Oid type, Oid collation) {
    TupleDescInitEntry(desc, static_cast<AttrNumber>(number), name, type, -1, 0);
    TupleDescInitEntryCollation(desc, static_cast<AttrNumber>(number), collation);
}

static void add_key(const rows::Question *question, TupleDesc desc) {
    if (question->units == nullptr) {
        add_column(desc, 1, "tableoid", OIDOID, InvalidOid);
        add_column(desc, 2, "ctid", TIDOID, InvalidOid);
        return;
    }
    const catalog::UnitPath *path = question->units->path;
    while (!path->direct)
        path = path->parent;
    ListCell *cell;
    foreach (cell, question->units->values) {
        const Var *column = lfirst_node(Var, cell);
        const int i = foreach_current_index(cell);
        add_column(desc, i + 1, path->names[i], column->vartype, column->varcollid);
    }
}

static int number_of_keys(const rows::Question *question) {
    return question->units == nullptr ? 2 : list_length(question->units->values);
}

TupleDesc person_key(const rows::Question *question) {
    TupleDesc desc = CreateTemplateTupleDesc(number_of_keys(question));
    add_key(question, desc);
    return BlessTupleDesc(desc);
}

// ---- sums ----------------------------------------------------------------------------------------------------------

static Tuplesortstate *sort_by_key(TupleDesc desc, int nkeys) {
    auto *columns = static_cast<AttrNumber *>(palloc(sizeof(AttrNumber) * nkeys));
    auto *operators = static_cast<Oid *>(palloc(sizeof(Oid) * nkeys));
    auto *collations = static_cast<Oid *>(palloc(sizeof(Oid) * nkeys));
    auto *nulls_first = static_cast<bool *>(palloc0(nkeys));
    for (int i = 0; i < nkeys; i++) {
        columns[i] = static_cast<AttrNumber>(i + 1);
        operators[i] = lookup_type_cache(TupleDescAttr(desc, i)->atttypid, TYPECACHE_LT_OPR)->lt_opr;
        collations[i] = TupleDescAttr(desc, i)->attcollation;
    }
    return tuplesort_begin_heap(desc, nkeys, columns, operators, collations, nulls_first, work_mem, nullptr,
                                TUPLESORT_NONE);
}

LossSums begin_losses(const rows::Question *people, bool joined, TakeLoss take, void *sink) {
    LossSums sums = {nullptr, number_of_keys(people), nullptr, take, sink, 0};
    sums.desc = CreateTemplateTupleDesc(sums.nkeys + loss_numbers);
    add_key(people, sums.desc);
    for (int i = 1; i <= loss_numbers; i++)
        add_column(sums.desc, sums.nkeys + i, psprintf("loss%d", i), FLOAT8OID, InvalidOid);
    if (joined)
        sums.sort = sort_by_key(sums.desc, sums.nkeys);
    return sums;
}

static void give(LossSums *sums, const Datum *key, const privacy::PersonLoss &loss) {
    sums->people++;
    sums->take(sums->sink, key, loss);
}

void add_part_of_loss(LossSums *sums, const Datum *key, const privacy::PersonLoss &loss) {
    if (loss.answers <= 0 && loss.conditional <= 0)
        return;
    if (sums->sort == nullptr)
        return give(sums, key, loss);
    TupleTableSlot *slot = MakeSingleTupleTableSlot(sums->desc, &TTSOpsVirtual);
    memcpy(slot->tts_values, key, sizeof(Datum) * sums->nkeys);
    const double numbers[] = {loss.epsilon, loss.rho, loss.delta, loss.conditional, loss.answers};
    for (int i = 0; i < loss_numbers; i++)
        slot->tts_values[sums->nkeys + i] = Float8GetDatum(numbers[i]);
    memset(slot->tts_isnull, 0, sums->desc->natts);
    ExecStoreVirtualTuple(slot);
    tuplesort_puttupleslot(sums->sort, slot);
    ExecDropSingleTupleTableSlot(slot);
}

static bool is_same_person(const LossSums *sums, const Datum *a, const Datum *b) {
    for (int i = 0; i < sums->nkeys; i++) {
        const Form_pg_attribute column = TupleDescAttr(sums->desc, i);
        FmgrInfo *compare = &lookup_type_cache(column->atttypid, TYPECACHE_CMP_PROC_FINFO)->cmp_proc_finfo;
        if (DatumGetInt32(FunctionCall2Coll(compare, column->attcollation, a[i], b[i])) != 0)
            return false;
    }
    return true;
}

static privacy::PersonLoss loss_at(const LossSums *sums, const TupleTableSlot *slot) {
    const Datum *numbers = slot->tts_values + sums->nkeys;
    return {DatumGetFloat8(numbers[0]), DatumGetFloat8(numbers[1]), DatumGetFloat8(numbers[2]),
            DatumGetFloat8(numbers[3]), DatumGetFloat8(numbers[4])};
}

static void copy_key(const LossSums *sums, const Datum *from, Datum *to) {
    for (int i = 0; i < sums->nkeys; i++) {
        const Form_pg_attribute column = TupleDescAttr(sums->desc, i);
        to[i] = datumCopy(from[i], column->attbyval, column->attlen);
    }
}

void end_losses(LossSums *sums) {
    if (sums->sort == nullptr)
        return;
    tuplesort_performsort(sums->sort);
    TupleTableSlot *slot = MakeSingleTupleTableSlot(sums->desc, &TTSOpsMinimalTuple);
    MemoryContext person = AllocSetContextCreate(CurrentMemoryContext, "dp_rdr person", ALLOCSET_SMALL_SIZES);
    MemoryContext old = MemoryContextSwitchTo(person);
    Datum *key = nullptr;
    privacy::PersonLoss loss;
    while (tuplesort_gettupleslot(sums->sort, true, false, slot, nullptr)) {
        CHECK_FOR_INTERRUPTS();
        slot_getallattrs(slot);
        if (key == nullptr || !is_same_person(sums, key, slot->tts_values)) {
            if (key != nullptr)
                give(sums, key, loss);
            MemoryContextReset(person);
            key = static_cast<Datum *>(palloc(sizeof(Datum) * sums->nkeys));
            copy_key(sums, slot->tts_values, key);
            loss = {};
        }
        privacy::add_loss(&loss, loss_at(sums, slot));
    }
    if (key != nullptr)
        give(sums, key, loss);
    MemoryContextSwitchTo(old);
    MemoryContextDelete(person);
    ExecDropSingleTupleTableSlot(slot);
    tuplesort_end(sums->sort);
}

void add_measure(const AskedQuestion &asked, int measure, double norm, double square, privacy::Share *share) {
    const double sensitivity = static_cast<double>((*asked.question->sensitivities)[measure]),
                 n = static_cast<double>(asked.question->nmeasures), part = norm / sensitivity;
    const bool laplace = asked.mechanism == privacy::Mechanism::laplace;
    share->mean += part / n;
    share->square += (laplace ? part * part : square / (sensitivity * sensitivity)) / n;
}

} // namespace dp::risk
