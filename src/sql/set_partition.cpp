// dp_set_partition and dp_unset_partition: cells of a table's units, each with the totals for itself.
#include "border/versions.hpp"
#include "catalog/facade.hpp"
#include "catalog/foreign_part.hpp"
#include "query/condition.hpp"
#include "sql/ledger_pages.hpp"
#include "sql/call_arguments.hpp"
#include "sql/domain_members.hpp"

using dp::catalog::Partition;
using dp::catalog::Visit;

namespace dp::sql {

using catalog::qualified_name;

// Named so that it sorts behind other triggers, which may change the row before.
static const char *const trigger_name = "\"~dp_rdr_cell\"";

// ---- what may be declared ------------------------------------------------------------------------------------------

static bool is_listed_type(Oid type) {
    return type == TEXTOID || type == VARCHAROID || type == INT2OID || type == INT4OID || type == INT8OID ||
           type == BOOLOID || type == DATEOID || type == UUIDOID || type_is_enum(type);
}

static bool is_moment_type(Oid type) {
    return type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID;
}

static void check_column(Oid relation, AttrNumber column, const Partition &partition) {
    const char *table = qualified_name(relation), *name = partition.column;
    if (partition.place == 0 && get_attgenerated(relation, column) != '\0')
        refuse_form(psprintf("column \"%s\" of %s is generated", name, table),
                    "A trigger could not see its value. Partition by a column that is written once.");
    Oid type, collation;
    int32 typmod;
    get_atttypetypmodcoll(relation, column, &type, &typmod, &collation);
    if (OidIsValid(collation) && !get_collation_isdeterministic(collation))
        refuse_form(psprintf("column \"%s\" of %s has a nondeterministic collation", name, table),
                    "Partition by a column that takes different texts for different.");
}

// Returns the place of the column among those that name a unit; 0: it is none, and each unit has one row of the table.
static int place_of_column(const catalog::UnitPath *path, Oid relation, AttrNumber column) {
    for (int i = 0; path != nullptr && path->direct && i < path->ncolumns; i++)
        if (path->columns[i] == column)
            return i + 1;
    if (path != nullptr && (!path->direct || !catalog::covers_key(relation, path->ncolumns, path->columns)))
        refuse_form(psprintf("a unit may have several rows of %s, and so several cells", qualified_name(relation)),
                    "Partition by a column that names the unit, as with unit => 'person, month', or by one of a table that has one row "
                    "for each unit, by a key.");
    return 0;
}

// Without children that have rows of their own, where a trigger is to see them.
static void check_table(Oid relation, int place) {
    const char *table = qualified_name(relation);
    if (place == 0 && get_rel_relkind(relation) == RELKIND_RELATION && has_subclass(relation) &&
        find_inheritance_children(relation, NoLock) != NIL)
        refuse_form(psprintf("%s has inheritance children", table), "A trigger on it would not see their rows.");
    if (catalog::is_on_other_nodes(relation))
        refuse_form(psprintf("Citus keeps rows of %s on other nodes", table),
                    "A partition is of tables whose rows this server keeps, or postgres_fdw reads.");
}

// The conjunct goes along to other servers, and the trigger stays here.
static void warn_of_servers(const Partition &partition) {
    if (partition.place == 0 && catalog::has_foreign_table(find_all_inheritors(partition.relation, AccessShareLock, nullptr)))
        ereport(WARNING, (errmsg("other servers keep rows of %s, where no trigger refuses updates of %s",
                                 qualified_name(partition.relation), quote_identifier(partition.column)),
                          errhint("Refuse them there as well. A row that moves to another cell counts in both.")));
}

static void check_bound(const Visit &visit, Oid relation) {
    refuse_first(visit,
                 "SELECT '22023', CASE WHEN d.period IS NOT NULL THEN 'a partition does not go with a period' "
                 "ELSE format('a partition does not go with the bound %s', d.bound) END, NULL, "
                 "CASE WHEN d.period IS NOT NULL THEN format('SELECT dp_set_odometer(%L, period => '''');', t.relation) "
                 "ELSE format('SELECT dp_set_odometer(%L, ''filter'', epsilon_total => 1);', t.relation) END "
                 "FROM dp_rdr.protected_table t JOIN dp_rdr.privacy_domain d ON d.id = t.domain "
                 "WHERE t.relation::oid = $1 AND (d.period IS NOT NULL OR d.bound = 'dynamic')",
                 relation);
}

// ---- cells ---------------------------------------------------------------------------------------------------------

[[noreturn]] static void refuse_type(const Partition &partition, const char *hint) {
    refuse_form(psprintf("column \"%s\" of %s is of type %s, which is not partitioned so", partition.column,
                         qualified_name(partition.relation), partition.type),
                hint);
}

static void check_number_of_cells(int64 n) {
    if (n < 1 || n > catalog::most_cells)
        refuse_value(psprintf("the partition would have " INT64_FORMAT " cells", n),
                     psprintf("It has from 1 to %d. Choose longer ones, or another beginning.", catalog::most_cells));
}

static void set_periods(Partition *partition, Oid type, const char *since, const char *until) {
    if (!is_moment_type(type))
        refuse_type(*partition, "Periods are of dates and of timestamps. Without by the cells are the declared groups.");
    if (since == nullptr)
        refuse_with(ERRCODE_NULL_VALUE_NOT_ALLOWED, "since must not be null where cells are periods",
                    "Pass the first day that has a cell of its own: since => '2025-01-01'.");
    if (until != nullptr)
        refuse_value("until goes with numbers", "The last period is that of the clock.");
    const DateADT day = DatumGetDateADT(DirectFunctionCall1(date_in, CStringGetDatum(since)));
    const privacy::Day first = privacy::day_of(-PG_INT64_MAX); // no date is before
    constexpr privacy::Day year_one = -730119, last_year = 2921939; // 0001-01-01 and 9999-12-31
    if (day < year_one || day > last_year || day < first)
        refuse_value(psprintf("since is %s, and must be from the year 1 to 9999", since));
    partition->first = privacy::place_of(*partition->period, day);
    check_number_of_cells(privacy::place_of(*partition->period, catalog::today()) - partition->first + 1);
}

static int64 number_of(const char *text, const char *name) {
    if (text == nullptr)
        refuse_with(ERRCODE_NULL_VALUE_NOT_ALLOWED, psprintf("%s must not be null where cells are of numbers", name),
                    "Pass the least and the largest number that has a cell of its own: since => '0', until => '99'.");
    const int64 number = DatumGetInt64(DirectFunctionCall1(int8in, CStringGetDatum(text)));
    constexpr int64 most = INT64CONST(1) << 53; // conditions are read as doubles
    if (number > most || number < -most)
        refuse_value(psprintf("%s is %s, and must be from " INT64_FORMAT " to " INT64_FORMAT, name, text, -most, most));
    return number;
}

static void set_stretches(Partition *partition, Oid type, const char *by, const char *since, const char *until) {
    const bool is_number = *by != '\0' && strspn(by, "0123456789") == strlen(by);
    partition->width = is_number ? number_of(by, "by") : 0;
    if (partition->width < 1)
        refuse_value(psprintf("by is %s, and must be a period or a number from 1 on", by),
                     "Use 'day', 'week', 'month', 'quarter', 'year', or how many numbers a cell has.");
    if (type != INT2OID && type != INT4OID && type != INT8OID)
        refuse_type(*partition, "Stretches of numbers are of integer columns.");
    const auto place = [&](int64 number) {
        return number / partition->width - (number % partition->width < 0 ? 1 : 0);
    };
    partition->first = place(number_of(since, "since"));
    partition->last = place(number_of(until, "until"));
    check_number_of_cells(partition->last - partition->first + 1);
}

// A text counts as NULL where a statement can afford no such length, which is never below 256 bytes (query/cost): so these are always read.
static void check_values(ArrayType *values) {
    refuse_by("SELECT '54000', 'a declared group of the column has more than 200 bytes, which no cell may have', NULL, "
              "'Declare shorter groups with dp_set_groups(), or partition by another column.' "
              "FROM unnest($1) g (value) WHERE octet_length(g.value) > 200 LIMIT 1",
              Typed::array(TEXTARRAYOID, values));
}

// A list only grows: the cells that there are stay, and the groups that are none of them come behind.
static ArrayType *with_cells_before(const Partition &partition, ArrayType *groups) {
    Visit visit = Visit::read();
    const bool grows =
        run(visit,
            "SELECT c.cells || ARRAY(SELECT g.value FROM unnest($4) WITH ORDINALITY g (value, n) "
            "WHERE NOT EXISTS (SELECT FROM unnest(c.cells) o WHERE o IS NOT DISTINCT FROM g.value) ORDER BY g.n) "
            "FROM dp_rdr.partition c JOIN dp_rdr.protected_table t ON t.domain = c.domain "
            "WHERE t.relation::oid = $1 AND c.relation::oid = $1 AND c.column_name = $2 AND c.column_type = $3 AND c.cells IS NOT NULL",
            partition.relation, partition.column, partition.type, Typed::array(TEXTARRAYOID, groups)) > 0;
    MemoryContextSwitchTo(visit.spi.caller);
    bool isnull;
    if (grows)
        groups = DatumGetArrayTypePCopy(border::Spi::value(0, 1, &isnull));
    visit.leave();
    return groups;
}

static void set_list(Partition *partition, Oid type, const char *since, const char *until) {
    if (!is_listed_type(type))
        refuse_type(*partition, "A list is of text, varchar, integers, boolean, date, uuid, or an enum.");
    if (since != nullptr || until != nullptr)
        refuse_value("since and until go with by", "Without by the cells are the declared groups of the column.");
    catalog::Reading reading = catalog::Reading::open();
    partition->values = catalog::column_groups(reading, partition->relation, partition->column);
    reading.close();
    partition->values = with_cells_before(*partition, partition->values);
    if (partition->values == nullptr)
        refuse_state(psprintf("no groups of column \"%s\" of %s are declared", partition->column,
                              qualified_name(partition->relation)),
                     "dp_set_groups() declares them, and dp_set_partition() with by => 'month' makes cells of periods.");
    check_values(partition->values);
    partition->first = 1;
    partition->last = ArrayGetNItems(ARR_NDIM(partition->values), ARR_DIMS(partition->values));
    check_number_of_cells(partition->last);
}

static void set_cells(Partition *partition, Oid type, const char *by, const char *since, const char *until) {
    partition->last = PG_INT64_MAX;
    if (by != nullptr)
        partition->period = border::core([&] { return privacy::period_from_name(by); });
    if (partition->period)
        set_periods(partition, type, since, until);
    else if (by != nullptr)
        set_stretches(partition, type, by, since, until);
    else
        set_list(partition, type, since, until);
}

// Refuses a column whose condition no internal statement could have.
static void check_condition(const Partition &partition) {
    catalog::Touched touched = {};
    touched.others = touched.begun = partition.others(); // one cell of several
    touched.n = 1;
    touched.first[0] = touched.last[0] = partition.first;
    (void)query::canonical_condition(catalog::condition_on(partition, touched, partition.column), partition.relation, "partition");
}

// ---- declaring it --------------------------------------------------------------------------------------------------

static void store(const Visit &visit, const Partition &partition) {
    const bool list = partition.values != nullptr;
    const char *grows = "p.cells = EXCLUDED.cells[:cardinality(p.cells)] AND (p.relation::oid, p.column_name, p.column_type) = "
                        "(EXCLUDED.relation::oid, EXCLUDED.column_name, EXCLUDED.column_type)";
    run(visit,
        psprintf("INSERT INTO dp_rdr.partition AS p (domain, version, relation, column_name, column_type, period, width, first, last, cells, fresh, place) "
        "SELECT t.domain, 1, t.relation, $2, $3, $4, $5, $6, $7, $8, $9, $10 FROM dp_rdr.protected_table t WHERE t.relation::oid = $1 "
        "ON CONFLICT (domain) DO UPDATE SET version = p.version + 1, relation = EXCLUDED.relation, column_name = EXCLUDED.column_name, "
        "column_type = EXCLUDED.column_type, period = EXCLUDED.period, width = EXCLUDED.width, first = EXCLUDED.first, "
        "last = EXCLUDED.last, cells = EXCLUDED.cells, place = EXCLUDED.place, "
        "fresh = CASE WHEN %s THEN p.fresh ELSE EXCLUDED.fresh END, base = CASE WHEN %s THEN p.base ELSE p.version + 1 END", grows, grows),
        partition.relation, partition.column, partition.type,
        partition.period ? privacy::name_of(*partition.period) : static_cast<const char *>(nullptr),
        if_given(partition.width > 0, partition.width), partition.first,
        if_given(!partition.period, partition.last),
        list ? Typed::array(TEXTARRAYOID, partition.values) : Typed{TEXTARRAYOID, Datum{0}}, partition.fresh,
        if_given(partition.place > 0, partition.place));
}

// The table that has it may be another one with data of the same units.
static void drop_trigger(Oid relation) {
    Visit visit = Visit::read();
    const bool is_there = run(visit,
                              "SELECT c.relation::oid FROM dp_rdr.partition c JOIN dp_rdr.protected_table t ON t.domain = c.domain "
                              "WHERE t.relation::oid = $1 AND c.column_name IS NOT NULL",
                              relation) > 0;
    const Oid table = is_there ? catalog::value_at<Oid>(0, 1) : InvalidOid;
    visit.leave();
    if (is_there && get_rel_name(table) != nullptr)
        run_as(catalog::relation_owner(table),
               psprintf("DROP TRIGGER IF EXISTS %s ON %s", trigger_name, qualified_name(table)));
}

// Its arguments say which cell a row is in, and what names its unit, so that it reads no catalog.
static void make_trigger(const Partition &partition, const catalog::UnitPath *path) {
    const char *by = partition.period      ? privacy::name_of(*partition.period)
                     : partition.width > 0 ? psprintf(INT64_FORMAT, partition.width)
                                           : "";
    const Oid owner = catalog::relation_owner(partition.relation);
    const char *table = qualified_name(partition.relation);
    StringInfoData names;
    initStringInfo(&names);
    for (int i = 0; path != nullptr && i < path->ncolumns; i++)
        appendStringInfo(&names, ", %s", quote_literal_cstr(path->names[i]));
    run_as(owner, psprintf("CREATE TRIGGER %s BEFORE UPDATE ON %s FOR EACH ROW EXECUTE FUNCTION "
                           "dp_rdr.keep_cell(%s, '%s', '" INT64_FORMAT "', '" INT64_FORMAT "'%s)",
                           trigger_name, table, quote_literal_cstr(partition.column), by, partition.first,
                           partition.last, names.data));
    run_as(owner, psprintf("ALTER TABLE %s ENABLE ALWAYS TRIGGER %s", table, trigger_name));
}

// Says what was spent before, and what the trigger does.
static void tell_partition(const Partition &partition, const char *kept) {
    const char *table = qualified_name(partition.relation), *column = quote_identifier(partition.column);
    const char *cells = partition.period ? psprintf("each %s of %s", privacy::name_of(*partition.period), column)
                                         : psprintf("each cell of %s", column);
    Budget budget;
    const bool spent = read_budget(partition.relation, &budget) && budget.odometer.totals.of_public.epsilon.units() > 0;
    const char *before =
        spent ? psprintf(" Epsilon %s, spent before, counts for all cells%s.",
                         printed(budget.odometer.totals.of_public.epsilon),
                         partition.fresh ? " so far" : "")
              : "";
    ereport(NOTICE,
            (errmsg("from now on %s has the totals of %s for itself", cells, table),
             errdetail("%s%s", kept, before),
             spent && partition.period && !partition.fresh
                 ? errhint("fresh => true lets cells to come begin with nothing. It is right if no row that was read before has "
                           "such a value.")
                 : 0));
}

static const char *text_of_kept(const Partition &partition, const catalog::UnitPath *path, bool guarded) {
    if (partition.place > 0)
        return "The column is a part of what names a unit, so no unit moves to another cell.";
    if (!guarded)
        return "Nothing refuses updates that move a row to another cell: it then counts in both.";
    return path == nullptr ? "A trigger refuses updates that move a row to another cell."
                           : "A trigger refuses updates that move a row to another cell, or to another unit. A query without this "
                             "table is charged to all cells, and to those to come.";
}

static void check_fresh(const Partition &partition, const catalog::UnitPath *path) {
    if (partition.fresh && path != nullptr && partition.place == 0)
        refuse_value("fresh does not go with a table of units",
                     "A query without this table may have read any of them, whatever cell they are in.");
}

DP_CALL(dp_set_partition) {
    require_first(fcinfo, 2);
    const Oid relation = protected_relation(PG_GETARG_OID(0)), caller = GetUserId();
    Partition partition = {};
    partition.relation = relation;
    partition.column = text_argument(fcinfo, 1);
    partition.fresh = !PG_ARGISNULL(5) && PG_GETARG_BOOL(5);
    const bool guarded = PG_ARGISNULL(6) || PG_GETARG_BOOL(6);
    LockRelationOid(relation, AccessShareLock);
    const AttrNumber column = checked_column(relation, partition.column);
    const catalog::UnitPath *path = declared_unit(relation);
    partition.place = place_of_column(path, relation, column);
    check_fresh(partition, path);
    check_table(relation, partition.place);
    check_column(relation, column, partition);
    partition.type = format_type_be(get_atttype(relation, column));
    set_cells(&partition, get_atttype(relation, column), text_argument(fcinfo, 2), text_argument(fcinfo, 3),
              text_argument(fcinfo, 4));
    check_condition(partition);
    drop_trigger(relation);
    if (guarded && partition.place == 0)
        make_trigger(partition, path);
    Visit visit = Visit::write();
    lock_declarations(visit, relation);
    check_owns_domain(visit, relation, caller);
    check_bound(visit, relation);
    store(visit, partition);
    visit.leave();
    tell_partition(partition, text_of_kept(partition, path, guarded));
    warn_of_servers(partition);
    PG_RETURN_VOID();
}

DP_CALL(dp_unset_partition) {
    require_first(fcinfo, 1);
    const Oid relation = protected_relation(PG_GETARG_OID(0));
    drop_trigger(relation);
    if (change(relation,
               "UPDATE dp_rdr.partition p SET version = p.version + 1, column_name = NULL, column_type = NULL, period = NULL, "
               "width = NULL, first = NULL, last = NULL, cells = NULL, fresh = false, place = NULL, base = p.version + 1 FROM dp_rdr.protected_table t "
               "WHERE t.relation::oid = $1 AND p.domain = t.domain AND p.column_name IS NOT NULL",
               relation) == 0)
        refuse_no_partition(qualified_name(relation));
    PG_RETURN_VOID();
}

void check_no_partition(const Visit &visit, Oid relation) {
    refuse_first(visit,
                 "SELECT '55000', format('%s has a partition', t.relation), NULL, "
                 "format('SELECT dp_unset_partition(%L); takes it away.', t.relation) "
                 "FROM dp_rdr.protected_table t JOIN dp_rdr.partition p ON p.domain = t.domain "
                 "WHERE t.relation::oid = $1 AND p.column_name IS NOT NULL",
                 relation);
}

} // namespace dp::sql
