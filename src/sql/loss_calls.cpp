// dp_loss and dp_loss_records: what the answers so far can have told about each person (doc/reference.md).
#include <cmath>

#include "border/scope.hpp"
#include "sql/call_arguments.hpp"
#include "sql/loss_ledger.hpp"
#include "sql/result_rows.hpp"
#include "sql/row_json.hpp"

namespace dp::sql {

// ---- sorting -------------------------------------------------------------------------------------------------------

namespace {
// Columns of what is sorted, in front of the person's.
enum LossColumn { loss_epsilon, loss_rho, loss_delta, loss_conditional, loss_answers, loss_individuals, loss_fixed };

// Sorts people by what they have lost.
struct SortedLosses {
    LossTerms terms;
    TupleDesc key;  // of a person; null: nobody is shown
    bool is_row;    // a person is a row
    TupleDesc desc;
    Tuplesortstate *sort;
    int64 people;
};
} // namespace

static TupleDesc describe(TupleDesc key) {
    const int nkeys = key == nullptr ? 0 : key->natts;
    TupleDesc desc = CreateTemplateTupleDesc(loss_fixed + nkeys);
    for (int i = 1; i <= loss_individuals; i++)
        TupleDescInitEntry(desc, static_cast<AttrNumber>(i), nullptr, FLOAT8OID, -1, 0);
    TupleDescInitEntry(desc, loss_individuals + 1, nullptr, INT8OID, -1, 0);
    for (int i = 0; i < nkeys; i++)
        TupleDescCopyEntry(desc, static_cast<AttrNumber>(loss_fixed + i + 1), key, static_cast<AttrNumber>(i + 1));
    return desc;
}

// bound: the first so many are wanted; 0: all.
static void begin_sort(SortedLosses *sorted, bool largest_first, int bound) {
    sorted->desc = describe(sorted->key);
    const TypeCacheEntry *type = lookup_type_cache(FLOAT8OID, TYPECACHE_GT_OPR | TYPECACHE_LT_OPR);
    AttrNumber columns[2] = {loss_epsilon + 1, loss_answers + 1};
    Oid op = largest_first ? type->gt_opr : type->lt_opr, operators[2] = {op, op}, collations[2] = {};
    bool nulls_first[2] = {};
    sorted->sort = tuplesort_begin_heap(sorted->desc, 2, columns, operators, collations, nulls_first, work_mem, nullptr,
                                        bound > 0 ? TUPLESORT_ALLOWBOUNDED : TUPLESORT_NONE);
    if (bound > 0)
        tuplesort_set_bound(sorted->sort, bound);
}

// key: null for those who bear what counts for everybody, and no more.
static void put_loss(SortedLosses *sorted, const Datum *key, const privacy::PersonLoss &loss, int64 individuals) {
    const LossRow row = row_of_loss(sorted->terms, loss);
    TupleTableSlot *slot = MakeSingleTupleTableSlot(sorted->desc, &TTSOpsVirtual);
    const double numbers[] = {row.epsilon, row.rho, row.delta, row.conditional, row.answers};
    memset(slot->tts_isnull, 0, sorted->desc->natts);
    for (int i = 0; i < loss_individuals; i++)
        slot->tts_values[i] = Float8GetDatum(numbers[i]);
    slot->tts_values[loss_individuals] = Int64GetDatum(individuals);
    for (int i = loss_fixed; i < sorted->desc->natts; i++) {
        slot->tts_isnull[i] = key == nullptr;
        slot->tts_values[i] = key == nullptr ? Datum(0) : key[i - loss_fixed];
    }
    ExecStoreVirtualTuple(slot);
    tuplesort_puttupleslot(sorted->sort, slot);
    ExecDropSingleTupleTableSlot(slot);
    sorted->people += individuals;
}

static void take_loss(void *sink, const Datum *key, const privacy::PersonLoss &loss) {
    auto *sorted = static_cast<SortedLosses *>(sink);
    put_loss(sorted, sorted->key == nullptr ? nullptr : key, loss, 1);
}

// People in the order of the sort. The terms: their delta, where the caller has passed one.
static void read_sorted(SortedLosses *sorted, const ProtectedTable &table, bool shown, int bound) {
    const LossQuestions questions = read_losses_of(table, &sorted->terms);
    sorted->key = shown ? risk::person_key(questions.people) : nullptr;
    sorted->is_row = questions.people->units == nullptr;
    begin_sort(sorted, shown, bound);
    const int64 others = risk::read_losses(questions.people, questions.asked, take_loss, sorted);
    if (others > 0)
        put_loss(sorted, nullptr, {}, others);
    if (sorted->people == 0)
        refuse_state(psprintf("%s has nobody whose loss could be shown", table.name), "Ask when it has rows.");
    tuplesort_performsort(sorted->sort);
}

static void read_delta(FunctionCallInfo fcinfo, int argument, LossTerms *terms) {
    terms->given = !PG_ARGISNULL(argument);
    if (terms->given)
        terms->delta = catalog::checked_delta(PG_GETARG_DATUM(argument), "delta");
}

static double number_at(const TupleTableSlot *slot, LossColumn column) {
    return DatumGetFloat8(slot->tts_values[column]);
}

static catalog::Typed delta_at(const TupleTableSlot *slot) {
    return {NUMERICOID, DirectFunctionCall1(float8_numeric, slot->tts_values[loss_delta])};
}

// ---- how it is spread ----------------------------------------------------------------------------------------------

static void put_quantile(const ResultRows &rows, const SortedLosses &sorted, double total, double people,
                         const TupleTableSlot *slot) {
    const double epsilon = number_at(slot, loss_epsilon), spent = sorted.terms.odometer;
    const bool goes_on = total > 0 && spent > 0;
    rows.put(people, epsilon, number_at(slot, loss_rho), delta_at(slot), 1 / (1 + std::exp(-epsilon)),
             catalog::if_given(goes_on, goes_on ? epsilon * total / spent : 0));
}

DP_CALL(dp_loss) {
    require(fcinfo, 0, "relation");
    static const double shares[] = {0.5, 0.9, 0.99, 0.999, 1};
    SortedLosses sorted = {};
    const ProtectedTable table = controlled_table(PG_GETARG_OID(0));
    double total = 0;
    if (!PG_ARGISNULL(1))
        total = catalog::checked_epsilon(PG_GETARG_DATUM(1), "epsilon_total").value();
    read_delta(fcinfo, 2, &sorted.terms);
    const ResultRows rows(fcinfo);
    read_sorted(&sorted, table, false, 0);
    total = total > 0 ? total : sorted.terms.total;
    TupleTableSlot *slot = MakeSingleTupleTableSlot(sorted.desc, &TTSOpsMinimalTuple);
    int64 below = 0; // people before the next of the sort
    std::size_t next = 0;
    while (next < std::size(shares) && tuplesort_gettupleslot(sorted.sort, true, false, slot, nullptr)) {
        CHECK_FOR_INTERRUPTS();
        slot_getallattrs(slot);
        below += DatumGetInt64(slot->tts_values[loss_individuals]);
        for (; next < std::size(shares) && std::ceil(shares[next] * static_cast<double>(sorted.people)) <= static_cast<double>(below); next++)
            put_quantile(rows, sorted, total, shares[next], slot);
    }
    ExecDropSingleTupleTableSlot(slot);
    tuplesort_end(sorted.sort);
    return Datum(0);
}

// ---- person by person ----------------------------------------------------------------------------------------------

// A row is shown with all of its columns. As its owner.
static Datum row_at(Oid table, Datum place) {
    const Oid owner = catalog::relation_owner(table);
    border::SettingsScope settings = border::SettingsScope::enter();
    border::RoleScope role = border::RoleScope::enter(owner);
    border::Spi spi = border::Spi::connect();
    Oid types[1] = {TIDOID};
    Datum values[1] = {place}, json = Datum(0);
    const char *sql = psprintf("SELECT * FROM ONLY %s WHERE ctid = $1", catalog::qualified_name(table));
    if (spi.run(sql, true, 1, types, values) > 0) {
        TupleDesc desc = SPI_tuptable->tupdesc;
        auto *all = static_cast<Datum *>(palloc(sizeof(Datum) * desc->natts));
        auto *nulls = static_cast<bool *>(palloc(desc->natts));
        heap_deform_tuple(SPI_tuptable->vals[0], desc, all, nulls);
        MemoryContext old = MemoryContextSwitchTo(spi.caller);
        json = row_jsonb(json_columns(desc), all, nulls);
        MemoryContextSwitchTo(old);
    }
    spi.finish();
    role.leave();
    settings.leave();
    return json;
}

static Datum person_at(bool is_row, const JsonColumns &columns, const TupleTableSlot *slot) {
    if (slot->tts_isnull[loss_fixed])
        return Datum(0);
    const Datum *key = slot->tts_values + loss_fixed;
    return is_row ? row_at(DatumGetObjectId(key[0]), key[1]) : row_jsonb(columns, key, slot->tts_isnull + loss_fixed);
}

DP_CALL(dp_loss_records) {
    require(fcinfo, 0, "relation");
    require(fcinfo, 1, "records");
    constexpr int most = 1000000;
    const int records = PG_GETARG_INT32(1);
    SortedLosses sorted = {};
    const ProtectedTable table = controlled_table(PG_GETARG_OID(0));
    if (records < 1 || records > most)
        refuse_value(psprintf("records must be between 1 and %d, not %d", most, records));
    read_delta(fcinfo, 2, &sorted.terms);
    const ResultRows rows(fcinfo);
    read_sorted(&sorted, table, true, records);
    const JsonColumns columns = json_columns(sorted.key);
    TupleTableSlot *slot = MakeSingleTupleTableSlot(sorted.desc, &TTSOpsMinimalTuple);
    MemoryContext one = AllocSetContextCreate(CurrentMemoryContext, "dp_rdr record", ALLOCSET_DEFAULT_SIZES);
    MemoryContext old = MemoryContextSwitchTo(one);
    for (int i = 0; i < records && tuplesort_gettupleslot(sorted.sort, true, false, slot, nullptr); i++) {
        CHECK_FOR_INTERRUPTS();
        slot_getallattrs(slot);
        const catalog::Typed person = {JSONBOID, person_at(sorted.is_row, columns, slot)};
        rows.put(person, DatumGetInt64(slot->tts_values[loss_individuals]), number_at(slot, loss_epsilon),
                 number_at(slot, loss_rho), delta_at(slot), static_cast<int64>(number_at(slot, loss_answers)),
                 number_at(slot, loss_conditional));
        MemoryContextReset(one);
    }
    MemoryContextSwitchTo(old);
    ExecDropSingleTupleTableSlot(slot);
    tuplesort_end(sorted.sort);
    return Datum(0);
}

} // namespace dp::sql
