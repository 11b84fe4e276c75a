// Declares bounds and groups of columns of a protected table (doc/reference.md).
#include "rows/groups.hpp"
#include "sql/call_arguments.hpp"
#include "sql/domain_members.hpp"
#include "sql/refusal.hpp"
#include "sql/told.hpp"

namespace dp::sql {

// ---- bounds --------------------------------------------------------------------------------------------------------

// Says how to write the bounds of a column that are moments; else null.
static const char *example_of_moments(Oid type) {
    switch (type) {
    case DATEOID:
        return "Write dates: date '2020-01-01', date '2029-12-31'.";
    case TIMESTAMPOID:
        return "Write timestamps without a zone: timestamp '2020-01-01', timestamp '2029-12-31 23:59:59.999999'.";
    case TIMESTAMPTZOID:
        return "Write moments with their zone: timestamptz '2020-01-01 00:00 UTC', timestamptz '2029-12-31 23:59:59 "
               "Europe/Paris'.";
    default:
        return nullptr;
    }
}

namespace {
// Holds bounds of a type. Moments are days or microseconds from 2000-01-01 on.
struct Bounds {
    const char *column;
    Oid type;
    Datum lower, upper;
};
} // namespace

static bool is_integer(Oid type) {
    return type == INT2OID || type == INT4OID || type == INT8OID;
}

static void check_has_bounds(const char *column, Oid type) {
    if (!is_integer(type) && type != FLOAT4OID && type != FLOAT8OID && type != NUMERICOID && example_of_moments(type) == nullptr)
        refuse_form(psprintf("column \"%s\" is of type %s, which cannot have bounds", column, format_type_be(type)),
                    "Bounds are for smallint, integer, bigint, real, double precision, numeric, date, timestamp and "
                    "timestamp with time zone.");
}

// of_column: the base type of the column.
static void check_numbers(const Bounds &bounds, Oid of_column) {
    const char *example = example_of_moments(of_column), *of_type = format_type_be(of_column);
    if (example != nullptr)
        refuse_form(psprintf("column \"%s\" is of type %s, whose bounds are moments", bounds.column, of_type), example);
    const char *low = catalog::numeric_text(bounds.lower), *high = catalog::numeric_text(bounds.upper);
    border::core([&] { privacy::make_bounds(low, high, is_integer(of_column)); }); // 22023
}

static int64 moment_at(Datum moment, Oid type, bool *finite) {
    const int64 value = type == DATEOID ? DatumGetDateADT(moment) : DatumGetTimestamp(moment);
    *finite &= type == DATEOID ? !DATE_NOT_FINITE(value) : !TIMESTAMP_NOT_FINITE(value);
    return value;
}

// A day begins at another moment in each zone, and a date has no time. Dates may bound timestamps without a zone. Returns the bounds
// as numbers.
static Bounds numbers_of_moments(const Bounds &bounds, Oid of_column) {
    const char *example = example_of_moments(of_column), *of_type = format_type_be(of_column);
    if (example == nullptr)
        refuse_form(psprintf("column \"%s\" is of type %s, whose bounds are no dates", bounds.column, of_type),
                    "Dates and timestamps are bounds of columns of type date and timestamp.");
    const bool days = bounds.type == DATEOID && of_column == TIMESTAMPOID;
    if (bounds.type != of_column && !days)
        refuse_value(psprintf("column \"%s\" is of type %s, and its bounds are %s", bounds.column, of_type,
                              bounds.type == DATEOID        ? "dates without a zone"
                              : bounds.type == TIMESTAMPOID ? "timestamps without a zone"
                                                            : "moments with a zone"),
                     example);
    bool finite = true;
    int64 lower = moment_at(bounds.lower, bounds.type, &finite), upper = moment_at(bounds.upper, bounds.type, &finite);
    if (!finite)
        refuse_value("bounds must not be infinite", nullptr);
    if (lower >= upper)
        refuse_value("the lower bound must be before the upper bound", nullptr);
    if (days) {
        lower = date2timestamp_opt_overflow(static_cast<DateADT>(lower), nullptr);
        upper = date2timestamp_opt_overflow(static_cast<DateADT>(upper), nullptr);
    }
    return Bounds{bounds.column, NUMERICOID, NumericGetDatum(int64_to_numeric(lower)),
                  NumericGetDatum(int64_to_numeric(upper))};
}

static Datum read_as(const char *column, Oid type, const char *text) {
    Datum value = Datum{0};
    const ErrorData *fault = refusal_by([&] {
        Oid input, parameter;
        getTypeInputInfo(type, &input, &parameter);
        value = OidInputFunctionCall(input, const_cast<char *>(text), parameter, -1);
    });
    if (fault != nullptr)
        refuse_with(fault->sqlerrcode, psprintf("the bound \"%s\" of column \"%s\": %s", text, column, fault->message),
                    example_of_moments(type));
    return value;
}

// Reads a bound as what its type is. A text that says its zone is the same moment wherever it is read.
static Datum bound_of(const char *column, Oid type, const char *text) {
    if (type != TIMESTAMPTZOID)
        return read_as(column, type, text);
    static const char *const zones[] = {"UTC", "Etc/GMT-5"};
    TimestampTz moments[2];
    for (int i = 0; i < 2; i++) {
        border::TimeZoneScope zone = border::TimeZoneScope::enter(zones[i]);
        moments[i] = DatumGetTimestampTz(read_as(column, type, text));
        zone.leave();
    }
    if (moments[0] != moments[1])
        refuse_value(psprintf("the bound \"%s\" of column \"%s\" says no time zone", text, column),
                     example_of_moments(TIMESTAMPTZOID));
    return TimestampTzGetDatum(moments[0]);
}

// Literals without a type are read as what the column has.
DP_CALL(dp_set_bounds) {
    require_first(fcinfo, 4);
    const Oid relation = protected_relation(PG_GETARG_OID(0));
    Oid *types;
    int n;
    (void)get_func_signature(fcinfo->flinfo->fn_oid, &types, &n);
    Bounds bounds = {text_argument(fcinfo, 1), types[2], PG_GETARG_DATUM(2), PG_GETARG_DATUM(3)};
    const Oid of_column = getBaseType(get_atttype(relation, checked_column(relation, bounds.column)));
    check_has_bounds(bounds.column, of_column);
    if (bounds.type == TEXTOID) {
        bounds.type = example_of_moments(of_column) == nullptr ? NUMERICOID : of_column;
        bounds.lower = bound_of(bounds.column, bounds.type, text_argument(fcinfo, 2));
        bounds.upper = bound_of(bounds.column, bounds.type, text_argument(fcinfo, 3));
    }
    if (bounds.type == NUMERICOID)
        check_numbers(bounds, of_column);
    else
        bounds = numbers_of_moments(bounds, of_column);
    change(
        relation,
        "INSERT INTO dp_rdr.column_bounds AS b (relation, column_name, lower, upper) VALUES ($1::regclass, $2, $3, $4) "
        "ON CONFLICT (relation, column_name) DO UPDATE SET lower = excluded.lower, upper = excluded.upper",
        relation, bounds.column, Typed{NUMERICOID, bounds.lower}, Typed{NUMERICOID, bounds.upper});
    if (example_of_moments(of_column) == nullptr)
        tell_accuracy_of_sum(relation, bounds.column, bounds.lower, bounds.upper);
    PG_RETURN_VOID();
}

// ---- groups --------------------------------------------------------------------------------------------------------

// Groups of a column that names one person or one row each would publish identifiers, and be of one person.
static void refuse_identifier(Oid relation, const char *column, AttrNumber attno) {
    const catalog::UnitPath *path = declared_unit(relation);
    LockRelationOid(relation, AccessShareLock);
    const bool leads = path != nullptr && path->ncolumns == 1 && path->columns[0] == attno;
    if (!leads && !catalog::covers_key(relation, 1, &attno))
        return;
    refuse_value(psprintf(leads ? "column %s of %s leads to the people whose rows they are, and cannot have groups"
                                : "column %s of %s is unique, and cannot have groups",
                          quote_identifier(column), catalog::qualified_name(relation)),
                 "Declare the groups of a column whose values many people share.",
                 "Each group would be of one person, and declared ones are public.");
}

DP_CALL(dp_set_groups) {
    require_first(fcinfo, 3);
    Oid relation = protected_relation(PG_GETARG_OID(0));
    const char *column = text_argument(fcinfo, 1);
    ArrayType *groups = PG_GETARG_ARRAYTYPE_P(2);
    const AttrNumber attno = checked_column(relation, column);
    Oid type, collation;
    int32 typmod;
    get_atttypetypmodcoll(relation, attno, &type, &typmod, &collation);
    refuse_identifier(relation, column, attno);
    if (ArrayGetNItems(ARR_NDIM(groups), ARR_DIMS(groups)) == 0)
        refuse_value(psprintf("the groups of column \"%s\" are empty", column),
                     "List every group key that may be asked for.");
    // Cast once, as the controller reads them; stored as the values that this gave.
    const rows::KeyDomain domain = rows::declared_domain(groups, type, typmod, collation, column);
    groups = rows::canonical_groups(domain, type);
    change(relation,
           "INSERT INTO dp_rdr.column_groups AS g (relation, column_name, groups) VALUES ($1::regclass, $2, $3) "
           "ON CONFLICT (relation, column_name) DO UPDATE SET groups = excluded.groups",
           relation, column, Typed{TEXTARRAYOID, PointerGetDatum(groups)});
    if (!is_silent() && domain.find(Datum{0}, true) < 0 && rows::is_nullable_column(relation, attno))
        ereport(NOTICE, (errmsg("column %s of %s may be NULL, and its groups lack NULL: rows with NULL are in no group",
                                quote_identifier(column), catalog::qualified_name(relation))));
    PG_RETURN_VOID();
}

// Works also for a column that was dropped or renamed since. what: "bounds" or "groups".
static Datum unset(FunctionCallInfo fcinfo, const char *what) {
    require_first(fcinfo, 2);
    const Oid relation = protected_relation(PG_GETARG_OID(0));
    const char *column = text_argument(fcinfo, 1), *name = catalog::qualified_name(relation);
    if (change(relation, psprintf("DELETE FROM dp_rdr.column_%s WHERE relation::oid = $1 AND column_name = $2", what),
               relation, column) == 0)
        refuse_state(psprintf("column %s of %s has no declared %s", quote_identifier(column), name, what),
                     psprintf("dp_settings(%s) shows what is declared.", quote_literal_cstr(name)));
    PG_RETURN_VOID();
}

DP_CALL(dp_unset_bounds) {
    return unset(fcinfo, "bounds");
}

DP_CALL(dp_unset_groups) {
    return unset(fcinfo, "groups");
}

} // namespace dp::sql
