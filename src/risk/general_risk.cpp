#include "risk/general_risk.hpp"

#include <cmath>

#include "border/scope.hpp"
#include "border/spi.hpp"
#include "catalog/foreign_part.hpp"
#include "query/make.hpp"
#include "risk/closed_forms.hpp"
#include "risk/memory.hpp"
#include "risk/result.hpp"
#include "risk/scan_statement.hpp"
#include "rows/engine.hpp"
#include "rows/nodes.hpp"

namespace dp::risk {

// ---- the statement -------------------------------------------------------------------------------------------------

static Expr *same(Oid operator_, AttrNumber column, Oid type, int number) {
    return make_opclause(operator_, BOOLOID, false,
                         reinterpret_cast<Expr *>(makeVar(1, column, type, -1, InvalidOid, 0)),
                         reinterpret_cast<Expr *>(query::make_parameter(number, type, -1, get_typcollation(type))),
                         InvalidOid, InvalidOid);
}

// (tableoid = $1 AND ctid = $2) IS NOT TRUE: all rows when the parameters are NULL.
static Node *not_the_row() {
    Expr *table = same(lookup_type_cache(OIDOID, TYPECACHE_EQ_OPR)->eq_opr, TableOidAttributeNumber, OIDOID, 1);
    Expr *place = same(lookup_type_cache(TIDOID, TYPECACHE_EQ_OPR)->eq_opr, SelfItemPointerAttributeNumber, TIDOID, 2);
    return rows::truth_test(reinterpret_cast<Node *>(makeBoolExpr(AND_EXPR, list_make2(table, place), -1)), IS_NOT_TRUE);
}

// ---- results -------------------------------------------------------------------------------------------------------

namespace {
struct Run {
    const GeneralQuestion *question;
    privacy::Mechanism mechanism;
    const Order *order;
    PlannedStmt *plan;
    MemoryContext row; // for what comparing two rows leaves behind
};
} // namespace

static Run prepare_run(const GeneralQuestion *question, privacy::Mechanism mechanism, const Query *statement) {
    return Run{question, mechanism, order_of(question), rows::plan(expanded(statement), 0),
               AllocSetContextCreate(CurrentMemoryContext, "dp_rdr row", ALLOCSET_DEFAULT_SIZES)};
}

// Two rows, one of which may not be there: it has the null values.
static double add_row(const Run *run, const TupleTableSlot *here, const TupleTableSlot *there, double distance) {
    for (int i = 0; i < run->question->ncolumns; i++) {
        const ResultColumn &column = run->question->columns[i];
        if (!column.coordinate)
            continue;
        double part = std::fabs((here ? DatumGetFloat8(here->tts_values[i]) : column.z) -
                                (there ? DatumGetFloat8(there->tts_values[i]) : column.z));
        distance = run->mechanism == privacy::Mechanism::laplace ? distance + part : std::hypot(distance, part);
    }
    return distance;
}

// Full outer join of two results.
static double distance(const Run *run, const Result &whole, const Result &without) {
    double distance = 0;
    MemoryContext old = MemoryContextSwitchTo(run->row);
    read_from_start(whole);
    read_from_start(without);
    bool here = next_row(whole), there = next_row(without);
    while (here || there) {
        CHECK_FOR_INTERRUPTS();
        int order = !here ? 1 : !there ? -1 : compare_rows(run->order, whole, without);
        distance = add_row(run, order <= 0 ? whole.slot : nullptr, order >= 0 ? without.slot : nullptr, distance);
        here = order <= 0 ? next_row(whole) : here;
        there = order >= 0 ? next_row(without) : there;
        MemoryContextReset(run->row);
    }
    MemoryContextSwitchTo(old);
    return distance;
}

// ---- running -------------------------------------------------------------------------------------------------------

namespace {
// A row of the protected table.
struct Place {
    Oid table;
    ItemPointerData row;
};
struct Places {
    int column;                  // of the text of rows_query
    border::Spill<Place> places; // per record
};
} // namespace

// "16384(0,1)"
static void take_place(void *reader, int64, const Datum *values, const bool *) {
    auto *places = static_cast<Places *>(reader);
    char *rest;
    Place *place = places->places.append();
    place->table = strtoul(TextDatumGetCString(values[places->column]), &rest, 10);
    ItemPointerCopy(reinterpret_cast<ItemPointer>(DatumGetPointer(DirectFunctionCall1(tidin, CStringGetDatum(rest)))),
                    &place->row);
}

// place: of the row that is left out, or null: nobody's is. Its rows go into the sort one by one.
static Result execute(const Run *run, Place *place) {
    ParamListInfo params = makeParamList(2);
    params->params[0] = {place == nullptr ? Datum(0) : ObjectIdGetDatum(place->table), place == nullptr, 0, OIDOID};
    params->params[1] = {PointerGetDatum(place == nullptr ? nullptr : &place->row), place == nullptr, 0, TIDOID};
    ResultReader reader = begin_result(run->order);
    run_again(run->plan, params, take_row, &reader);
    return finish_result(&reader);
}

static void show_progress(const char *caller, int64 done, int64 all) {
    char text[NAMEDATALEN + 64];
    snprintf(text, sizeof text, "%s: " INT64_FORMAT " of " INT64_FORMAT " records", caller, done, all);
    pgstat_report_activity(STATE_RUNNING, text);
}

// Once for each distinct record: said beforehand where that may take minutes. Not to be called inside a SettingsScope, which
// prints no messages.
static void announce(TimestampTz start, int64 nrecords) {
    double seconds = static_cast<double>(TimestampDifferenceMilliseconds(start, GetCurrentTimestamp())) / 1000 *
                     static_cast<double>(nrecords);
    if (seconds < 60)
        return;
    ereport(
        NOTICE,
        (errmsg("the query is run again without each of " INT64_FORMAT " distinct records: about %.0f "
                "minutes",
                nrecords, Max(seconds / 60, 1)),
         errhint(
             "pg_stat_activity shows the progress. One run is enough for a query of one level with plain aggregates "
             "over the restricted view, alone or joined with tables of which each of its rows meets at most one "
             "row, unless an outer join may fill the columns of the view with NULL.")));
}

static void run_without_each(const Run *run, const Places &places, Memo *memo, const Result &whole,
                             const char *caller) {
    MemoryContext one = AllocSetContextCreate(CurrentMemoryContext, "dp_rdr run", ALLOCSET_DEFAULT_SIZES);
    MemoryContext old = MemoryContextSwitchTo(one);
    for (int64 i = 0; i < memo->nrecords; i++) {
        CHECK_FOR_INTERRUPTS();
        show_progress(caller, i, memo->nrecords);
        Place place = *places.places.at(i);
        Result without = execute(run, &place);
        memo->records.change(i)->pis = distance(run, whole, without);
        discard(without);
        MemoryContextReset(one);
    }
    MemoryContextSwitchTo(old);
    MemoryContextDelete(one);
}

static GeneralRisk rerun_risk(const GeneralQuestion *question, privacy::Mechanism mechanism, bool keep_records,
                       const char *caller) {
    RecordsQuery records = records_query(question);
    border::SettingsScope settings = border::SettingsScope::enter();
    border::RoleScope role = border::RoleScope::enter(question->settings->owner);
    PushActiveSnapshot(GetActiveSnapshot());
    const Query *statement = statement_of(question, not_the_row());
    border::Spi spi = border::Spi::connect();
    Places places = {records.identity_column, border::Spill<Place>::make(1, share_of_memory())};
    Memo *memo = begin_memo(&records, spi, keep_records);
    read_memo(question, &records, memo, take_place, &places);

    Run run = prepare_run(question, mechanism, statement);
    TimestampTz start = GetCurrentTimestamp();
    Result whole = execute(&run, nullptr);
    settings.leave();
    announce(start, memo->nrecords);
    settings = border::SettingsScope::enter();
    PG_TRY();
    { run_without_each(&run, places, memo, whole, caller); }
    PG_FINALLY();
    { pgstat_report_activity(STATE_RUNNING, debug_query_string); }
    PG_END_TRY();
    memo->groups_present = whole.nrows;
    discard(whole);
    profile_memo(spi, mechanism, memo);
    int64 coordinates = memo->groups_present * question->ncoordinates;
    GeneralRisk risk = {memo, coordinates, coordinates};
    spi.finish();
    PopActiveSnapshot();
    role.leave();
    settings.leave();
    return risk;
}

// A place in a file tells one row from others on one server alone.
static void check_rerun(const GeneralQuestion *question) {
    if (catalog::is_known_to_citus(question->settings->relation))
        ereport(ERROR,
                (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                 errmsg("rows of %s are kept on several nodes, and the query would be run without one of them",
                        question->settings->relation_name),
                 errhint("Ask for what needs no such run: one level of count, sum, avg, variance, stddev, min, max "
                         "and percentiles of columns, without HAVING.")));
}

GeneralRisk general_risk(const GeneralQuestion *question, privacy::Mechanism mechanism, bool keep_records,
                         const char *caller) {
    const ClosedForms *forms = find_closed_forms(question);
    if (forms != nullptr && at_most_once(question))
        return closed_forms_risk(question, forms, mechanism, keep_records);
    check_rerun(question);
    return rerun_risk(question, mechanism, keep_records, caller);
}

} // namespace dp::risk
