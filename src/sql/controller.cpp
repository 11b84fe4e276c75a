// What a controller declares of the columns of a protected table: bounds and groups (doc/reference.md).
#include "catalog/decimals.hpp"
#include "border/scope.hpp"
#include "border/versions.hpp"
#include "catalog/access.hpp"
#include "catalog/domain.hpp"
#include "catalog/facade.hpp"
#include "catalog/ledger.hpp"
#include "query/shape.hpp"
#include "rows/arguments.hpp"
#include "rows/groups.hpp"
#include "sql/arguments.hpp"
#include "sql/controller.hpp"
#include "sql/told.hpp"

using dp::catalog::Visit;

namespace dp::sql {

// ---- who and what --------------------------------------------------------------------------------------------------

void check_owner(Oid relation) {
    if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relation)))
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("relation with OID %u does not exist", relation)));
    if (!border::owns_relation(relation, GetUserId()))
        ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                        errmsg("must be owner of %s", catalog::qualified_name(relation)),
                        errhint("The controller of a table is its owner.")));
}

uint64 run_with_oid(const Visit &visit, const char *sql, Oid oid) {
    Oid types[1] = {OIDOID};
    Datum values[1] = {ObjectIdGetDatum(oid)};
    return visit.run(sql, 1, types, values);
}

static bool is_protected(Oid relation) {
    Visit visit = Visit::read();
    uint64 rows = run_with_oid(visit, "SELECT 1 FROM dp_rdr.protected_table t WHERE t.relation::oid = $1", relation);
    visit.leave();
    return rows == 1;
}

// The protected table that is meant: itself, or the table behind a restricted view.
Oid protected_relation(Oid relation) {
    check_owner(relation);
    Oid table = catalog::table_of_facade(relation);
    if (OidIsValid(table)) {
        check_owner(table);
        relation = table;
    }
    if (!is_protected(relation))
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("%s is not protected", catalog::qualified_name(relation)),
                        errhint("Protect it first with dp_protect().")));
    return relation;
}

// Who owns the table controls its views, also when they are still another's (ALTER TABLE ... OWNER TO).
catalog::Settings *settings_of_view(Oid view) {
    catalog::Reading reading = catalog::Reading::open();
    catalog::Settings *settings = catalog::read_settings(reading, view);
    reading.close();
    check_owner(settings == nullptr ? view : settings->relation);
    if (settings == nullptr)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("%s is not a restricted view", catalog::qualified_name(view)),
                        errhint("Restricted views are made with dp_protect().")));
    return settings;
}

void refuse_moving(Oid relation) {
    ereport(ERROR, (errcode(ERRCODE_LOCK_NOT_AVAILABLE),
                    errmsg("the domain of %s is being changed by another call", catalog::qualified_name(relation)),
                    errhint("Try again.")));
    pg_unreachable();
}

// Who has waited for a join finds a domain that has no tables any more. (A table whose domain was lost in a restore has none.)
void lock_declarations(const Visit &visit, Oid relation) {
    const char *const lock = "SELECT 1 FROM dp_rdr.protected_table t JOIN dp_rdr.privacy_domain d ON d.id = t.domain "
                             "WHERE t.relation::oid = $1 AND d.joined_into IS NULL FOR UPDATE OF d";
    if (run_with_oid(visit, lock, relation) == 0 && run_with_oid(visit, lock, relation) == 1)
        refuse_moving(relation);
}

void check_owns_domain(const Visit &visit, Oid relation, Oid role) {
    uint64 n =
        run_with_oid(visit,
                     "SELECT o.relation::oid FROM dp_rdr.protected_table t "
                     "JOIN dp_rdr.protected_table o ON o.domain = t.domain JOIN pg_class c ON c.oid = o.relation "
                     "WHERE t.relation::oid = $1 ORDER BY 1",
                     relation);
    for (uint64 i = 0; i < n; i++) {
        bool isnull;
        Oid other = DatumGetObjectId(border::Spi::value(i, 1, &isnull));
        if (!border::owns_relation(other, role))
            ereport(ERROR,
                    (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                     errmsg("must be owner of %s as well, whose totals these are", catalog::qualified_name(other)),
                     errhint("All tables with data of the same people have one owner.")));
    }
}

// Runs a utility statement with the rights of a role.
void run_as(Oid role, const char *sql) {
    border::SettingsScope settings = border::SettingsScope::enter();
    border::RoleScope scope = border::RoleScope::enter(role);
    border::Spi spi = border::Spi::connect();
    spi.run(sql, false);
    spi.finish();
    scope.leave();
    settings.leave();
}

// ---- bounds and groups ---------------------------------------------------------------------------------------------

static AttrNumber checked_column(Oid relation, const char *name) {
    AttrNumber attno = get_attnum(relation, name);
    if (attno <= 0)
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN),
                        errmsg("column \"%s\" of %s does not exist", name, catalog::qualified_name(relation))));
    return attno;
}

// Says how to write the bounds of a column that are moments; else null.
static const char *example_of_moments(Oid type) {
    switch (type) {
    case DATEOID:
        return "Write dates: date '2020-01-01', date '2029-12-31'.";
    case TIMESTAMPOID:
        return "Write timestamps without a zone: timestamp '2020-01-01', timestamp '2029-12-31 23:59:59.999999'.";
    case TIMESTAMPTZOID:
        return "Write moments with their zone: timestamptz '2020-01-01 00:00 UTC', timestamptz '2029-12-31 23:59 "
               "Europe/Paris'.";
    default:
        return nullptr;
    }
}

static bool is_integer_column(Oid relation, const char *name) {
    Oid type = getBaseType(get_atttype(relation, checked_column(relation, name)));
    bool integer = type == INT2OID || type == INT4OID || type == INT8OID;
    const char *example = example_of_moments(type);
    if (!integer && type != FLOAT4OID && type != FLOAT8OID && type != NUMERICOID)
        ereport(ERROR,
                (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                 errmsg(example != nullptr ? "column \"%s\" is of type %s, whose bounds are moments"
                                           : "column \"%s\" is of type %s, which cannot have bounds",
                        name, format_type_be(type)),
                 example != nullptr
                     ? errhint("%s", example)
                     : errhint("Bounds are for smallint, integer, bigint, real, double precision, numeric, date, "
                               "timestamp and timestamp with time zone.")));
    return integer;
}

static Oid relation_of_bounds(FunctionCallInfo fcinfo) {
    const char *const names[] = {"relation", "column_name", "lower", "upper"};
    for (int i = 0; i < 4; i++)
        require(fcinfo, i, names[i]);
    return protected_relation(PG_GETARG_OID(0));
}

static void store_bounds(Oid relation, const char *column, Datum lower, Datum upper) {
    Oid types[4] = {OIDOID, TEXTOID, NUMERICOID, NUMERICOID};
    Datum values[4] = {ObjectIdGetDatum(relation), CStringGetTextDatum(column), lower, upper};
    Visit visit = Visit::write();
    lock_declarations(visit, relation);
    visit.run(
        "INSERT INTO dp_rdr.column_bounds AS b (relation, column_name, lower, upper) VALUES ($1::regclass, $2, $3, $4) "
        "ON CONFLICT (relation, column_name) DO UPDATE SET lower = excluded.lower, upper = excluded.upper",
        4, types, values);
    visit.leave();
}

static void set_numbers(Oid relation, const char *column, Datum lower, Datum upper) {
    bool integer = is_integer_column(relation, column);
    const char *low = catalog::numeric_text(lower), *high = catalog::numeric_text(upper);
    border::core([&] { privacy::make_bounds(low, high, integer); }); // 22023
    store_bounds(relation, column, lower, upper);
}

DP_CALL(dp_set_bounds) {
    Oid relation = relation_of_bounds(fcinfo);
    set_numbers(relation, text_argument(fcinfo, 1), PG_GETARG_DATUM(2), PG_GETARG_DATUM(3));
    PG_RETURN_VOID();
}

// Between two moments, stored as days or microseconds from 2000-01-01 on.
static void set_moments(Oid relation, const char *column, int64 lower, int64 upper, bool finite) {
    if (!finite || lower >= upper)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        finite ? errmsg("the lower bound must be before the upper bound")
                               : errmsg("bounds must not be infinite")));
    store_bounds(relation, column, NumericGetDatum(int64_to_numeric(lower)), NumericGetDatum(int64_to_numeric(upper)));
}

static Oid moment_type(Oid relation, const char *column) {
    Oid type = getBaseType(get_atttype(relation, checked_column(relation, column)));
    if (example_of_moments(type) == nullptr)
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("column \"%s\" is of type %s, whose bounds are no dates", column, format_type_be(type)),
                        errhint("Dates and timestamps are bounds of columns of type date and timestamp.")));
    return type;
}

// A day begins at another moment in each zone, and a date has no time.
[[noreturn]] static void refuse_moments(const char *column, Oid type, const char *bounds) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("column \"%s\" is of type %s, and its bounds are %s", column, format_type_be(type), bounds),
                    errhint("%s", example_of_moments(type))));
    pg_unreachable();
}

static void set_dates(Oid relation, const char *column, DateADT lower, DateADT upper) {
    bool finite = !DATE_NOT_FINITE(lower) && !DATE_NOT_FINITE(upper);
    const Oid type = moment_type(relation, column);
    if (type == TIMESTAMPTZOID)
        refuse_moments(column, type, "dates without a zone");
    if (type == DATEOID || !finite)
        set_moments(relation, column, lower, upper, finite);
    else
        set_moments(relation, column, date2timestamp_opt_overflow(lower, nullptr),
                    date2timestamp_opt_overflow(upper, nullptr), true);
}

// type: of the bounds.
static void set_timestamps(Oid relation, const char *column, Oid type, Timestamp lower, Timestamp upper) {
    const Oid of_column = moment_type(relation, column);
    if (of_column != type)
        refuse_moments(column, of_column, type == TIMESTAMPOID ? "timestamps without a zone" : "moments with a zone");
    set_moments(relation, column, lower, upper, !TIMESTAMP_NOT_FINITE(lower) && !TIMESTAMP_NOT_FINITE(upper));
}

// A text that says its zone is the same moment wherever it is read.
static TimestampTz moment_of(const char *column, const char *text) {
    static const char *const zones[] = {"UTC", "Etc/GMT-5"};
    TimestampTz moments[2];
    for (int i = 0; i < 2; i++) {
        border::TimeZoneScope zone = border::TimeZoneScope::enter(zones[i]);
        moments[i] =
            DatumGetTimestampTz(OidInputFunctionCall(F_TIMESTAMPTZ_IN, const_cast<char *>(text), InvalidOid, -1));
        zone.leave();
    }
    if (moments[0] != moments[1])
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("the bound \"%s\" of column \"%s\" says no time zone", text, column),
                        errhint("%s", example_of_moments(TIMESTAMPTZOID))));
    return moments[0];
}

DP_CALL(dp_set_bounds_date) {
    Oid relation = relation_of_bounds(fcinfo);
    set_dates(relation, text_argument(fcinfo, 1), PG_GETARG_DATEADT(2), PG_GETARG_DATEADT(3));
    PG_RETURN_VOID();
}

DP_CALL(dp_set_bounds_timestamp) {
    Oid relation = relation_of_bounds(fcinfo);
    set_timestamps(relation, text_argument(fcinfo, 1), TIMESTAMPOID, PG_GETARG_TIMESTAMP(2), PG_GETARG_TIMESTAMP(3));
    PG_RETURN_VOID();
}

DP_CALL(dp_set_bounds_timestamptz) {
    Oid relation = relation_of_bounds(fcinfo);
    set_timestamps(relation, text_argument(fcinfo, 1), TIMESTAMPTZOID, PG_GETARG_TIMESTAMPTZ(2),
                   PG_GETARG_TIMESTAMPTZ(3));
    PG_RETURN_VOID();
}

// Literals without a type are read as what the column has.
DP_CALL(dp_set_bounds_text) {
    Oid relation = relation_of_bounds(fcinfo);
    const char *column = text_argument(fcinfo, 1), *lower = text_argument(fcinfo, 2), *upper = text_argument(fcinfo, 3);
    switch (getBaseType(get_atttype(relation, checked_column(relation, column)))) {
    case DATEOID: {
        Datum from = DirectFunctionCall1(date_in, CStringGetDatum(lower));
        set_dates(relation, column, DatumGetDateADT(from),
                  DatumGetDateADT(DirectFunctionCall1(date_in, CStringGetDatum(upper))));
        break;
    }
    case TIMESTAMPOID: {
        Datum from = OidInputFunctionCall(F_TIMESTAMP_IN, const_cast<char *>(lower), InvalidOid, -1);
        Datum to = OidInputFunctionCall(F_TIMESTAMP_IN, const_cast<char *>(upper), InvalidOid, -1);
        set_timestamps(relation, column, TIMESTAMPOID, DatumGetTimestamp(from), DatumGetTimestamp(to));
        break;
    }
    case TIMESTAMPTZOID: {
        const TimestampTz from = moment_of(column, lower);
        set_timestamps(relation, column, TIMESTAMPTZOID, from, moment_of(column, upper));
        break;
    }
    default: {
        Datum from = catalog::text_numeric(lower);
        set_numbers(relation, column, from, catalog::text_numeric(upper));
    }
    }
    PG_RETURN_VOID();
}

// Groups of a column that names one person or one row each would publish identifiers, and be of one person.
static void refuse_identifier(Oid relation, const char *column, AttrNumber attno) {
    catalog::Reading reading = catalog::Reading::open();
    StringInfoData versions;
    initStringInfo(&versions);
    const catalog::UnitPath *path = catalog::read_unit_path(reading, relation, &versions);
    reading.close();
    LockRelationOid(relation, AccessShareLock);
    const bool leads = path != nullptr && path->ncolumns == 1 && path->columns[0] == attno;
    if (!leads && !catalog::covers_key(relation, 1, &attno))
        return;
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg(leads ? "column %s of %s leads to the people whose rows they are, and cannot have groups"
                                 : "column %s of %s is unique, and cannot have groups",
                           quote_identifier(column), catalog::qualified_name(relation)),
                    errdetail("Each group would be of one person, and declared ones are public."),
                    errhint("Declare the groups of a column whose values many people share.")));
}

DP_CALL(dp_set_groups) {
    const char *const names[] = {"relation", "column_name", "groups"};
    for (int i = 0; i < 3; i++)
        require(fcinfo, i, names[i]);
    Oid relation = protected_relation(PG_GETARG_OID(0));
    const char *column = text_argument(fcinfo, 1);
    ArrayType *groups = PG_GETARG_ARRAYTYPE_P(2);
    Oid type, collation;
    int32 typmod;
    get_atttypetypmodcoll(relation, checked_column(relation, column), &type, &typmod, &collation);
    refuse_identifier(relation, column, get_attnum(relation, column));
    if (ArrayGetNItems(ARR_NDIM(groups), ARR_DIMS(groups)) == 0)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("the groups of column \"%s\" are empty", column),
                 errhint("List every group key that may be asked for.")));
    // Cast once, as the controller reads them; stored as the values that this gave.
    const rows::KeyDomain domain = rows::declared_domain(groups, type, typmod, collation, column);
    groups = rows::canonical_groups(domain, type);
    Oid types[3] = {OIDOID, TEXTOID, TEXTARRAYOID};
    Datum values[3] = {ObjectIdGetDatum(relation), CStringGetTextDatum(column), PointerGetDatum(groups)};
    Visit visit = Visit::write();
    lock_declarations(visit, relation);
    visit.run("INSERT INTO dp_rdr.column_groups AS g (relation, column_name, groups) VALUES ($1::regclass, $2, $3) "
              "ON CONFLICT (relation, column_name) DO UPDATE SET groups = excluded.groups",
              3, types, values);
    visit.leave();
    if (!is_silent() && domain.find(Datum{0}, true) < 0 && rows::is_nullable_column(relation, get_attnum(relation, column)))
        ereport(NOTICE, (errmsg("column %s of %s may be NULL, and its groups lack NULL: rows with NULL are in no group",
                                quote_identifier(column), catalog::qualified_name(relation))));
    PG_RETURN_VOID();
}

// Also of a column that was dropped or renamed since.
static void unset(FunctionCallInfo fcinfo, const char *sql, const char *what) {
    require(fcinfo, 0, "relation");
    require(fcinfo, 1, "column_name");
    const Oid relation = protected_relation(PG_GETARG_OID(0));
    const char *column = text_argument(fcinfo, 1);
    Oid types[2] = {OIDOID, TEXTOID};
    Datum values[2] = {ObjectIdGetDatum(relation), CStringGetTextDatum(column)};
    Visit visit = Visit::write();
    lock_declarations(visit, relation);
    const uint64 n = visit.run(sql, 2, types, values);
    visit.leave();
    const char *name = catalog::qualified_name(relation);
    if (n == 0)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("column %s of %s has no declared %s", quote_identifier(column), name, what),
                        errhint("dp_settings('%s') shows what is declared.", name)));
}

DP_CALL(dp_unset_bounds) {
    unset(fcinfo, "DELETE FROM dp_rdr.column_bounds WHERE relation::oid = $1 AND column_name = $2 RETURNING 1",
          "bounds");
    PG_RETURN_VOID();
}

DP_CALL(dp_unset_groups) {
    unset(fcinfo, "DELETE FROM dp_rdr.column_groups WHERE relation::oid = $1 AND column_name = $2 RETURNING 1",
          "groups");
    PG_RETURN_VOID();
}

} // namespace dp::sql
