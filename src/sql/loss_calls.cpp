// Implements dp_loss and dp_loss_records (doc/reference.md).
#include <cmath>

#include "border/scope.hpp"
#include "sql/call_arguments.hpp"
#include "sql/loss_ledger.hpp"
#include "sql/result_rows.hpp"

namespace dp::sql {

// ---- sorting -------------------------------------------------------------------------------------------------------

namespace {
// Numbers that are sorted of a person: by epsilon, then by answers.
enum Number { epsilon, rho, delta, conditional, individuals, answers, numbers };

struct SortedLosses {
    LossTable terms;
    risk::LossSort sort;
    TupleDesc key; // of a person
    bool is_row;   // a person is a row
    double people;
};
} // namespace

// key: null for those who bear what counts for everybody, and no more.
static void put_loss(SortedLosses *sorted, const Datum *key, const privacy::PersonLoss &part, double people) {
    privacy::PersonLoss loss;
    const privacy::LossBound bound = bound_of_person(sorted->terms, part, &loss);
    const double row[numbers] = {bound.epsilon,
                                 loss.of[privacy::loss_rho] + loss.of[privacy::loss_of_pure],
                                 bound.delta,
                                 loss.of[privacy::loss_conditional],
                                 people,
                                 loss.of[privacy::loss_answers]};
    risk::put_in_sort(&sorted->sort, key, row);
    sorted->people += people;
}

static void take_loss(void *sink, const Datum *key, const privacy::PersonLoss &part) {
    put_loss(static_cast<SortedLosses *>(sink), key, part, 1);
}

// People in the order of the sort. largest: so many of them, with their keys; 0: all, the smallest first, without.
static void read_sorted(SortedLosses *sorted, const ProtectedTable &table, int largest) {
    const LossQuestions questions = read_losses_of(table, &sorted->terms);
    sorted->key = risk::person_key(questions.people);
    sorted->is_row = questions.people->units == nullptr;
    sorted->sort = risk::begin_loss_sort(largest > 0 ? sorted->key : CreateTemplateTupleDesc(0), numbers, false, largest);
    const int64 others = risk::read_losses(questions.people, questions.asked, take_loss, sorted);
    if (others > 0)
        put_loss(sorted, nullptr, {}, static_cast<double>(others));
    if (sorted->people <= 0)
        refuse_state(psprintf("%s has nobody whose loss could be shown", table.name), "Ask when it has rows.");
    tuplesort_performsort(sorted->sort.sort);
}

static void read_delta(FunctionCallInfo fcinfo, int argument, LossTable *terms) {
    terms->given = !PG_ARGISNULL(argument);
    if (terms->given)
        terms->delta = catalog::checked_delta(PG_GETARG_DATUM(argument), "delta");
}

static catalog::Typed as_numeric(double number) {
    return {NUMERICOID, DirectFunctionCall1(float8_numeric, Float8GetDatum(number))};
}

// ---- how it is spread ----------------------------------------------------------------------------------------------

static void put_quantile(const ResultRows &rows, const SortedLosses &sorted, double total, double people,
                         const double *row) {
    const double spent = sorted.terms.odometer.epsilon;
    const bool goes_on = total > 0 && spent > 0;
    rows.put(people, row[epsilon], row[rho], as_numeric(row[delta]), 1 / (1 + std::exp(-row[epsilon])),
             catalog::if_given(goes_on, goes_on ? row[epsilon] * total / spent : 0));
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
    read_sorted(&sorted, table, 0);
    total = total > 0 ? total : sorted.terms.total;
    double row[numbers], below = 0; // people up to the next of the sort
    bool nobody;
    std::size_t next = 0;
    while (next < std::size(shares) && risk::next_of_sort(&sorted.sort, row, &nobody) != nullptr) {
        below += row[individuals];
        for (; next < std::size(shares) && std::ceil(shares[next] * sorted.people) <= below; next++)
            put_quantile(rows, sorted, total, shares[next], row);
    }
    tuplesort_end(sorted.sort.sort);
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
    read_sorted(&sorted, table, records);
    const JsonColumns columns = json_columns(sorted.key);
    auto *nulls = static_cast<bool *>(palloc0(sorted.key->natts));
    MemoryContext one = AllocSetContextCreate(CurrentMemoryContext, "dp_rdr record", ALLOCSET_DEFAULT_SIZES);
    MemoryContext old = MemoryContextSwitchTo(one);
    const Datum *key;
    double row[numbers];
    bool nobody;
    for (int i = 0; i < records && (key = risk::next_of_sort(&sorted.sort, row, &nobody)) != nullptr; i++) {
        const Datum person = nobody          ? Datum(0)
                             : sorted.is_row ? row_at(DatumGetObjectId(key[0]), key[1])
                                             : row_jsonb(columns, key, nulls);
        rows.put(catalog::Typed{JSONBOID, person}, static_cast<int64>(row[individuals]), row[epsilon], row[rho],
                 as_numeric(row[delta]), static_cast<int64>(row[answers]), row[conditional]);
        MemoryContextReset(one);
    }
    MemoryContextSwitchTo(old);
    tuplesort_end(sorted.sort.sort);
    return Datum(0);
}

} // namespace dp::sql
