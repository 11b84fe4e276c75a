#include "risk/rerun.hpp"

#include <cmath>

#include "border/scope.hpp"
#include "border/spi.hpp"
#include "risk/result.hpp"
#include "risk/room.hpp"

namespace dp::risk {

// ---- the statement -------------------------------------------------------------------------------------------------

static Node *parameter(int number, Oid type) {
    auto *param = makeNode(Param);
    param->paramkind = PARAM_EXTERN;
    param->paramid = number;
    param->paramtype = type;
    param->paramtypmod = -1;
    param->location = -1;
    return reinterpret_cast<Node *>(param);
}

static Expr *same(Oid operator_, AttrNumber column, Oid type, int number) {
    return make_opclause(operator_, BOOLOID, false,
                         reinterpret_cast<Expr *>(makeVar(1, column, type, -1, InvalidOid, 0)),
                         reinterpret_cast<Expr *>(parameter(number, type)), InvalidOid, InvalidOid);
}

// (tableoid = $1 AND ctid = $2) IS NOT TRUE: all rows when the parameters are NULL.
static Node *not_the_row() {
    Expr *table = same(lookup_type_cache(OIDOID, TYPECACHE_EQ_OPR)->eq_opr, TableOidAttributeNumber, OIDOID, 1);
    Expr *place = same(lookup_type_cache(TIDOID, TYPECACHE_EQ_OPR)->eq_opr, SelfItemPointerAttributeNumber, TIDOID, 2);
    auto *test = makeNode(BooleanTest);
    test->arg = makeBoolExpr(AND_EXPR, list_make2(table, place), -1);
    test->booltesttype = IS_NOT_TRUE;
    test->location = -1;
    return reinterpret_cast<Node *>(test);
}

// The query with the rows of the table, but one, in the place of the view. What it puts there stays in the question: not to
// be called in memory that goes before it does, that of SPI for instance.
static char *statement_of(const GeneralQuestion *question) {
    ListCell *cell;
    foreach (cell, question->general->facades)
        put_rows(lfirst_node(RangeTblEntry, cell), rows_query(question, not_the_row(), false));
    return deparse_internal(static_cast<Query *>(copyObject(question->general->query)));
}

// ---- results -------------------------------------------------------------------------------------------------------

namespace {
// Rows in the order of what tells them apart.
struct ResultRow {
    Datum *identities; // per column that is no coordinate, in order
    bool *nulls;
    double *values; // per coordinate, NULL replaced
};
struct Rows {
    int64 nrows;
    ResultRow *rows;
};

// How a column that is no coordinate is compared; without an order, by its text.
struct Identity {
    int column;
    FmgrInfo *compare;
    Oid collation;
    FmgrInfo output;
};

struct Run {
    const GeneralQuestion *question;
    SPIPlanPtr plan;
    int nidentities;
    Identity *identities;
};
} // namespace

static Run prepare_run(const GeneralQuestion *question, const char *statement) {
    Run run = {};
    run.question = question;
    run.identities = static_cast<Identity *>(palloc0(sizeof(Identity) * (question->ncolumns + 1)));
    for (int i = 0; i < question->ncolumns; i++) {
        const ResultColumn &column = question->columns[i];
        if (column.coordinate)
            continue;
        Identity *identity = &run.identities[run.nidentities++];
        identity->column = i;
        identity->collation = column.collation;
        TypeCacheEntry *type = lookup_type_cache(column.type, TYPECACHE_CMP_PROC_FINFO);
        identity->compare = OidIsValid(type->cmp_proc_finfo.fn_oid) ? &type->cmp_proc_finfo : nullptr;
        Oid output;
        bool varlena;
        getTypeOutputInfo(column.type, &output, &varlena);
        fmgr_info(output, &identity->output);
    }
    Oid types[2] = {OIDOID, TIDOID};
    run.plan = SPI_prepare(statement, 2, types);
    if (run.plan == nullptr)
        elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));
    return run;
}

static int compare_rows(const void *a, const void *b, void *context) {
    auto *run = static_cast<const Run *>(context);
    auto *x = static_cast<const ResultRow *>(a), *y = static_cast<const ResultRow *>(b);
    for (int k = 0; k < run->nidentities; k++) {
        const Identity &identity = run->identities[k];
        int result;
        if (x->nulls[k] || y->nulls[k])
            result = static_cast<int>(x->nulls[k]) - static_cast<int>(y->nulls[k]);
        else if (identity.compare != nullptr)
            result = DatumGetInt32(
                FunctionCall2Coll(identity.compare, identity.collation, x->identities[k], y->identities[k]));
        else
            result = strcmp(DatumGetCString(x->identities[k]), DatumGetCString(y->identities[k]));
        if (result != 0)
            return result;
    }
    return 0;
}

static ResultRow read_row(const Run *run, const Datum *datums, const bool *isnull) {
    const GeneralQuestion *question = run->question;
    ResultRow row;
    row.identities = static_cast<Datum *>(palloc(sizeof(Datum) * (run->nidentities + 1)));
    row.nulls = static_cast<bool *>(palloc(sizeof(bool) * (run->nidentities + 1)));
    row.values = static_cast<double *>(palloc(sizeof(double) * (question->ncoordinates + 1)));
    int coordinates = 0;
    for (int i = 0; i < question->ncolumns; i++)
        if (question->columns[i].coordinate)
            row.values[coordinates++] = number_of(question->columns[i], datums[i], isnull[i]);
    for (int k = 0; k < run->nidentities; k++) {
        Identity *identity = &run->identities[k];
        row.nulls[k] = isnull[identity->column];
        row.identities[k] = datums[identity->column];
        if (!row.nulls[k] && identity->compare == nullptr)
            row.identities[k] = CStringGetDatum(OutputFunctionCall(&identity->output, row.identities[k]));
    }
    return row;
}

// Sorted; the values point into SPI's result.
static Rows read_result(const Run *run) {
    Rows result = {static_cast<int64>(SPI_processed), nullptr};
    result.rows =
        static_cast<ResultRow *>(MemoryContextAllocHuge(CurrentMemoryContext, sizeof(ResultRow) * (result.nrows + 1)));
    int natts = SPI_tuptable->tupdesc->natts;
    auto *datums = static_cast<Datum *>(palloc0(sizeof(Datum) * natts));
    auto *isnull = static_cast<bool *>(palloc0(sizeof(bool) * natts));
    for (int64 i = 0; i < result.nrows; i++) {
        heap_deform_tuple(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, datums, isnull);
        result.rows[i] = read_row(run, datums, isnull);
    }
    qsort_arg(result.rows, result.nrows, sizeof(ResultRow), compare_rows, const_cast<Run *>(run));
    for (int64 i = 1; i < result.nrows; i++)
        if (compare_rows(&result.rows[i - 1], &result.rows[i], const_cast<Run *>(run)) == 0)
            refuse_equal_rows();
    return result;
}

// Full outer join of two results; a row that is not there has the null values.
static double distance(const Run *run, const Rows *whole, const Rows *without, privacy::Mechanism mechanism) {
    const GeneralQuestion *question = run->question;
    double distance = 0;
    for (int64 i = 0, j = 0; i < whole->nrows || j < without->nrows;) {
        int order = i == whole->nrows     ? 1
                    : j == without->nrows ? -1
                                          : compare_rows(&whole->rows[i], &without->rows[j], const_cast<Run *>(run));
        const double *here = order <= 0 ? whole->rows[i++].values : nullptr;
        const double *there = order >= 0 ? without->rows[j++].values : nullptr;
        int c = 0;
        for (int k = 0; k < question->ncolumns; k++) {
            if (!question->columns[k].coordinate)
                continue;
            double z = question->columns[k].z;
            double part = std::fabs((here ? here[c] : z) - (there ? there[c] : z));
            distance = mechanism == privacy::Mechanism::laplace ? distance + part : std::hypot(distance, part);
            c++;
        }
    }
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
    int column; // of the text of rows_query
    MemoryContext context;
    int64 room;
    Place *places; // per record
};
} // namespace

// "16384(0,1)"
static void take_place(void *reader, int64 record, const Datum *values, const bool *) {
    auto *places = static_cast<Places *>(reader);
    if (record >= places->room) {
        int64 room = Max(places->room * 2, int64{64});
        places->places = grown(places->context, places->places, places->room, room);
        places->room = room;
    }
    char *rest;
    Place *place = &places->places[record];
    place->table = strtoul(TextDatumGetCString(values[places->column]), &rest, 10);
    ItemPointerCopy(reinterpret_cast<ItemPointer>(DatumGetPointer(DirectFunctionCall1(tidin, CStringGetDatum(rest)))),
                    &place->row);
}

// place: of the row that is left out, or null: nobody's is.
static void execute(const Run *run, Place *place) {
    Datum values[2] = {};
    const char *nulls = place == nullptr ? "nn" : "  ";
    if (place != nullptr) {
        values[0] = ObjectIdGetDatum(place->table);
        values[1] = PointerGetDatum(&place->row);
    }
    int rc = SPI_execute_plan(run->plan, values, nulls, true, 0); // leaves SPI's own memory current
    if (rc != SPI_OK_SELECT)
        elog(ERROR, "SPI_execute_plan failed: %s", SPI_result_code_string(rc));
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

static void run_without_each(const Run *run, Place *places, Memo *memo, const Rows *whole, privacy::Mechanism mechanism,
                             const char *caller) {
    MemoryContext one = AllocSetContextCreate(CurrentMemoryContext, "dp_rdr run", ALLOCSET_DEFAULT_SIZES);
    for (int64 i = 0; i < memo->nrecords; i++) {
        CHECK_FOR_INTERRUPTS();
        show_progress(caller, i, memo->nrecords);
        execute(run, &places[i]);
        MemoryContext old = MemoryContextSwitchTo(one);
        Rows without = read_result(run);
        memo->records.change(i)->pis = distance(run, whole, &without, mechanism);
        SPI_freetuptable(SPI_tuptable);
        MemoryContextSwitchTo(old); // of SPI, which is left as it was
        MemoryContextReset(one);
    }
    MemoryContextDelete(one);
}

GeneralRisk rerun_risk(const GeneralQuestion *question, privacy::Mechanism mechanism, bool keep_records,
                       const char *caller) {
    RecordsQuery records = records_query(question);
    border::SettingsScope settings = border::SettingsScope::enter();
    border::RoleScope role = border::RoleScope::enter(question->settings->owner);
    PushActiveSnapshot(GetActiveSnapshot());
    const char *statement = statement_of(question);
    border::Spi spi = border::Spi::connect();
    Places places = {records.identity_column, CurrentMemoryContext, 0, nullptr};
    Memo *memo = begin_memo(&records, spi, keep_records);
    read_memo(question, &records, memo, take_place, &places);

    Run run = prepare_run(question, statement);
    TimestampTz start = GetCurrentTimestamp();
    execute(&run, nullptr);
    Rows whole = read_result(&run);
    settings.leave();
    announce(start, memo->nrecords);
    settings = border::SettingsScope::enter();
    PG_TRY();
    { run_without_each(&run, places.places, memo, &whole, mechanism, caller); }
    PG_FINALLY();
    { pgstat_report_activity(STATE_RUNNING, debug_query_string); }
    PG_END_TRY();
    memo->groups_present = whole.nrows;
    profile_memo(spi, memo);
    GeneralRisk risk = {memo, whole.nrows * question->ncoordinates, whole.nrows * question->ncoordinates};
    spi.finish();
    PopActiveSnapshot();
    role.leave();
    settings.leave();
    return risk;
}

} // namespace dp::risk
