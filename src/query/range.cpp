#include "query/range.hpp"

#include <cfloat>
#include <cmath>

#include "border/each.hpp"
#include "border/guard.hpp"
#include "border/visit.hpp"
#include "catalog/decimals.hpp"
#include "query/make.hpp"
#include "query/thresholds.hpp"
#include "query/total_table.hpp"

namespace dp::query {

using privacy::Span;

namespace {
struct Walk {
    ColumnRange of_column;
    void *context;
    NarrowRange narrow; // or null
    int *again;         // how often arguments may be walked once more
};
} // namespace

constexpr int most_again = 64;
constexpr double day = 86400e6; // microseconds
constexpr double seconds_to_2000 = 946684800;

static Range unknown() {
    return Range{Span{}, true};
}

static Range walk(Node *node, const Walk *with);
static bool is_short(Node *value, int times);

// ---- constants -----------------------------------------------------------------------------------------------------

static Span whole(int64 value) {
    const auto nearest = static_cast<double>(value);
    return Span{nearest, nearest, 0};
}

static Span span_of_float(double value) {
    return std::isfinite(value) ? Span{value, value, value == std::floor(value) ? 0 : -1} : Span{};
}

Span span_of_constant(const Const *constant) {
    Datum value = constant->constvalue;
    switch (getBaseType(constant->consttype)) {
    case BOOLOID:
        return whole(int64{DatumGetBool(value)});
    case INT2OID:
        return whole(int64{DatumGetInt16(value)});
    case INT4OID:
        return whole(int64{DatumGetInt32(value)});
    case INT8OID:
        return whole(DatumGetInt64(value));
    case FLOAT4OID:
        return span_of_float(DatumGetFloat4(value));
    case FLOAT8OID:
        return span_of_float(DatumGetFloat8(value));
    case NUMERICOID: {
        const char *text = catalog::numeric_text(value);
        return border::core([&] { return privacy::span_of_number(text).value_or(Span{}); });
    }
    case DATEOID:
        return DATE_NOT_FINITE(DatumGetDateADT(value)) ? Span{} : whole(int64{DatumGetDateADT(value)});
    case TIMESTAMPOID:
    case TIMESTAMPTZOID:
        return TIMESTAMP_NOT_FINITE(DatumGetTimestamp(value)) ? Span{} : whole(DatumGetTimestamp(value));
    default:
        return Span{};
    }
}

// ---- types ---------------------------------------------------------------------------------------------------------

Span span_of_type(Oid type) {
    return getBaseType(type) == BOOLOID ? Span{0, 1, 0}
                                        : Span{-Span::nowhere, Span::nowhere, decimals_of_type(type, -1)};
}

// Unpacks a scale as numeric.c packs it; it may be below 0.
static int scale_of(int32 typmod) {
    return (((typmod - VARHDRSZ) & 0x7ff) ^ 1024) - 1024;
}

int decimals_of_type(Oid type, int32 typmod) {
    switch (getBaseTypeAndTypmod(type, &typmod)) {
    case BOOLOID:
    case INT2OID:
    case INT4OID:
    case INT8OID:
    case DATEOID:
    case TIMESTAMPOID:
    case TIMESTAMPTZOID:
        return 0;
    case NUMERICOID:
        return typmod < VARHDRSZ ? -1 : Max(0, scale_of(typmod));
    default:
        return -1;
    }
}

static bool is_integer(Oid type) {
    type = getBaseType(type);
    return type == INT2OID || type == INT4OID || type == INT8OID;
}

static bool is_float(Oid type) {
    type = getBaseType(type);
    return type == FLOAT4OID || type == FLOAT8OID;
}

// Results of a floating-point type are rounded once more.
static Range as_type(const Span &span, Oid type) {
    if (!is_float(type))
        return Range{span, true};
    return Range{privacy::as_float(span, getBaseType(type) == FLOAT4OID), true};
}

// ---- fields of dates -----------------------------------------------------------------------------------------------

namespace {
struct Field {
    const char *name;
    double low, high;
    int decimals;
};
} // namespace

// Bounds the fields of any date or time. Leap seconds are none in PostgreSQL.
static const Field fields[] = {
    {"month", 1, 12, 0},
    {"quarter", 1, 4, 0},
    {"week", 1, 53, 0},
    {"day", 1, 31, 0},
    {"dow", 0, 6, 0},
    {"isodow", 1, 7, 0},
    {"doy", 1, 366, 0},
    {"hour", 0, 23, 0},
    {"minute", 0, 59, 0},
    {"second", 0, 60, 6},
    {"milliseconds", 0, 60000, 3},
    {"microseconds", 0, 60000000, 0},
};

static double year_of(double days) {
    int year, month, of_month;
    j2date(static_cast<int>(days) + POSTGRES_EPOCH_JDATE, &year, &month, &of_month);
    return year;
}

// Years in what a field counts; 0: another field.
static double years_in(const char *field) {
    static const struct {
        const char *name;
        double years;
    } known[] = {{"year", 1}, {"decade", 10}, {"century", 100}, {"millennium", 1000}};
    for (const auto &one : known)
        if (pg_strcasecmp(field, one.name) == 0)
            return one.years;
    return 0;
}

// Fields that rise with the date; days: bounded.
static Span rising_field(const char *name, const Span &days) {
    constexpr double first_day = -730119, last_day = 10000000, decade = 10; // 0001-01-01, and far enough
    if (days.low < first_day || days.high > last_day)
        return Span{};
    const double from = year_of(days.low), to = year_of(days.high), years = years_in(name);
    if (pg_strcasecmp(name, "isoyear") == 0)
        return Span{from - 1, to + 1, 0};
    if (years == decade)
        return Span{std::floor(from / years), std::floor(to / years), 0};
    return years == 0 ? Span{} : Span{std::ceil(from / years), std::ceil(to / years), 0};
}

static Span floor_of_days(const Span &microseconds) {
    return Span{std::floor(microseconds.low / day), std::floor(microseconds.high / day), 0};
}

static Span field_of(const Const *name, Oid type, const Span &moments) {
    if (!IsA(name, Const) || name->constisnull)
        return Span{};
    const char *field = TextDatumGetCString(name->constvalue);
    for (const Field &known : fields)
        if (pg_strcasecmp(field, known.name) == 0)
            return Span{known.low, known.high, known.decimals};
    if (!moments.bounded())
        return Span{};
    const bool date = getBaseType(type) == DATEOID;
    if (pg_strcasecmp(field, "epoch") == 0) {
        const Span in_seconds = date ? Span{86400, 86400, 0} : Span{1e-6, 1e-6, 6};
        return privacy::plus(privacy::times(moments, in_seconds), Span{seconds_to_2000, seconds_to_2000, 0});
    }
    // The year of a timestamp with time zone is that of some zone.
    Span days = date ? moments : floor_of_days(moments);
    if (getBaseType(type) == TIMESTAMPTZOID)
        days = Span{days.low - 2, days.high + 2, 0};
    return rising_field(field, days);
}

// ---- intervals -----------------------------------------------------------------------------------------------------

// Bounds the fields of an interval between two moments. Other intervals may have anything there.
static const Field interval_fields[] = {
    {"month", -11, 11, 0},
    {"quarter", -4, 4, 0},
    {"hour", -23, 23, 0},
    {"minute", -59, 59, 0},
    {"second", -60, 60, 6},
    {"milliseconds", -60000, 60000, 3},
    {"microseconds", -60000000, 60000000, 0},
};

// Whole units in so many microseconds, cut towards 0: years are of 365 or 366 days.
static Span units_in(const Span &moments, double shortest, double longest) {
    return Span{std::trunc(moments.low / (moments.low < 0 ? shortest : longest)),
                std::trunc(moments.high / (moments.high < 0 ? longest : shortest)), 0};
}

// Years, months, days ... of age(a, b), whose a - b lies within `moments`.
static Span field_of_age(const char *field, const Span &moments) {
    constexpr double most_days = 30;
    const Span years = units_in(moments, 365 * day, 366 * day);
    if (const double n = years_in(field))
        return Span{std::floor(years.low / n), std::ceil(years.high / n), 0};
    if (pg_strcasecmp(field, "day") == 0)
        return Span{moments.low < 0 ? -most_days : 0, moments.high > 0 ? most_days : 0, 0};
    // Its years are taken to have 365.25 days, and its months 30.
    constexpr double error = 0.01, most_seconds = 12 * 86400;
    if (pg_strcasecmp(field, "epoch") == 0)
        return Span{(moments.low - error * std::fabs(moments.low)) / 1e6 - most_seconds,
                    (moments.high + error * std::fabs(moments.high)) / 1e6 + most_seconds, 6};
    return Span{};
}

// Days and hours of a - b.
static Span field_of_difference(const char *field, const Span &moments) {
    if (pg_strcasecmp(field, "day") == 0)
        return units_in(moments, day, day);
    if (pg_strcasecmp(field, "epoch") == 0)
        return Span{moments.low / 1e6 - 1, moments.high / 1e6 + 1, 6};
    return Span{};
}

static Span field_of_interval(const Const *name, Node *interval, const Span &moments) {
    if (!IsA(name, Const) || name->constisnull)
        return Span{};
    const char *field = TextDatumGetCString(name->constvalue);
    const Rule rule = rule_of(interval);
    const bool between = rule == Rule::age || rule == Rule::time_between;
    for (const Field &known : interval_fields)
        if (pg_strcasecmp(field, known.name) == 0 && (between || pg_strcasecmp(field, "hour") != 0))
            return Span{between && moments.low >= 0 ? 0 : known.low, between && moments.high <= 0 ? 0 : known.high,
                        known.decimals};
    if (!moments.bounded() || !between)
        return Span{};
    return rule == Rule::age ? field_of_age(field, moments) : field_of_difference(field, moments);
}

// ---- lengths -------------------------------------------------------------------------------------------------------

// Characters that a text has at most; -1: nobody knows.
static int most_characters(Node *node) {
    node = without_relabelings(node);
    if (IsA(node, Const)) {
        auto *value = castNode(Const, node);
        return value->constisnull || value->constlen != -1 ? -1
                                                           : static_cast<int>(toast_raw_datum_size(value->constvalue));
    }
    if (IsA(node, FuncExpr) && castNode(FuncExpr, node)->funcid == F_LEFT) {
        const Const *count = value_in(static_cast<Node *>(lsecond(castNode(FuncExpr, node)->args)));
        if (count != nullptr && DatumGetInt32(count->constvalue) >= 0)
            return DatumGetInt32(count->constvalue);
    }
    int32 typmod = exprTypmod(node);
    Oid type = getBaseTypeAndTypmod(exprType(node), &typmod);
    return (type == VARCHAROID || type == BPCHAROID) && typmod >= VARHDRSZ ? typmod - VARHDRSZ : -1;
}

static Span length_of(Node *text, int bytes_per_character) {
    const int most = most_characters(text);
    return most < 0 ? Span{} : Span{0, static_cast<double>(most) * bytes_per_character, 0};
}

// ---- calls ---------------------------------------------------------------------------------------------------------

static Node *argument(List *arguments, int i) {
    return static_cast<Node *>(list_nth(arguments, i));
}

// The integer of a constant argument; `otherwise` where it is none.
static int integer_of(List *arguments, int i, int otherwise) {
    const Const *value = value_in(argument(arguments, i));
    return value != nullptr ? DatumGetInt32(value->constvalue) : otherwise;
}

static Span combined(Rule rule, const Span &a, const Span &b, bool integers) {
    switch (rule) {
    case Rule::plus:
        return privacy::plus(a, b);
    case Rule::minus:
        return privacy::minus(a, b);
    case Rule::times:
        return privacy::times(a, b);
    case Rule::over:
        return integers ? privacy::whole_over(a, b) : privacy::over(a, b);
    case Rule::modulo:
        return privacy::modulo(a, b);
    case Rule::negated:
        return privacy::negated(a);
    default:
        return privacy::absolute(a);
    }
}

// A numeric's declared precision: rounded to its scale.
static Span to_typmod(const Span &a, int32 typmod) {
    return typmod < VARHDRSZ ? a : privacy::rounded(a, scale_of(typmod));
}

// Bins begin at most a stride before what lies in them.
static Span bins_of(const Const *stride, const Span &moments) {
    if (!IsA(stride, Const) || stride->constisnull)
        return Span{};
    const Interval *length = DatumGetIntervalP(stride->constvalue);
    return Span{moments.low - static_cast<double>(length->day) * day - static_cast<double>(length->time), moments.high,
                0};
}

// Returns the span of a function of one value, and of a constant behind it.
static Span mapped(Rule rule, const Span &a, int constant) {
    switch (rule) {
    case Rule::kept:
    case Rule::cast:
        return a;
    case Rule::floor:
        return privacy::floor_of(a);
    case Rule::ceiling:
        return privacy::ceiling_of(a);
    case Rule::round:
        return privacy::rounded(a, 0);
    case Rule::trunc:
        return privacy::truncated(a, 0);
    case Rule::round_to:
        return privacy::rounded(a, constant);
    case Rule::trunc_to:
        return privacy::truncated(a, constant);
    case Rule::typmod:
        return to_typmod(a, constant);
    case Rule::sign:
        return privacy::sign_of(a);
    case Rule::digits_of_float4:
        return privacy::as_decimal(a, FLT_DIG);
    case Rule::digits_of_float8:
        return privacy::as_decimal(a, DBL_DIG);
    case Rule::midnight:
        return privacy::times(a, Span{day, day, 0});
    case Rule::midnight_in_zone:
        return Span{a.low * day - day, a.high * day + day, 0};
    case Rule::other_clock:
        return Span{a.low - day, a.high + day, 0};
    case Rule::day:
        return floor_of_days(a);
    case Rule::day_in_zone:
        return floor_of_days(Span{a.low - day, a.high + day, 0});
    default:
        return Span{};
    }
}

// ---- where NULL can be ---------------------------------------------------------------------------------------------

static bool are_short(const List *values, int times) {
    for (auto *one : border::each<Node>(values))
        if (!is_short(one, times))
            return false;
    return true;
}

// Whether a numeric has at most 38 digits before and behind the point; or is arithmetic of such ones, a few times: then no total function
// takes it for too long or too large (sql/total_numbers).
static bool is_short(Node *value, int times) {
    constexpr int most_digits = 38;
    int32 typmod = exprTypmod(value);
    const Oid type = getBaseTypeAndTypmod(exprType(value), &typmod);
    if (IsA(value, Const))
        return castNode(Const, value)->constisnull || is_integer(type) ||
               (type == NUMERICOID && toast_raw_datum_size(castNode(Const, value)->constvalue) <= most_digits / 2);
    if (type != NUMERICOID)
        return is_integer(type);
    if (typmod >= VARHDRSZ)
        return ((typmod - VARHDRSZ) >> 16 & 0xffff) <= most_digits;
    if (IsA(value, CoalesceExpr) || IsA(value, MinMaxExpr))
        return are_short(
            IsA(value, MinMaxExpr) ? castNode(MinMaxExpr, value)->args : castNode(CoalesceExpr, value)->args, times);
    const Rule rule = rule_of(value);
    const List *arguments = called(value).arguments;
    return arguments != NIL && times > 0 && (is_arithmetic(rule) || rule == Rule::kept) &&
           are_short(arguments, times - 1);
}

constexpr int most_arithmetic = 2; // its results are below 10^152

// The size of what is stored decides whether it is looked at (query/cost): a long value may count as NULL.
static bool has_any_size(Node *value) {
    int32 typmod = exprTypmod(value);
    Oid type = getBaseTypeAndTypmod(exprType(value), &typmod);
    return !IsA(value, Const) && get_typlen(type) == -1 && !is_short(value, most_arithmetic) &&
           !(type == NUMERICOID && typmod >= VARHDRSZ);
}

static bool fits(const Span &span, Oid type) {
    const double end = type == INT2OID ? 0x1p15 : type == INT4OID ? 0x1p31 : 0x1p53;
    return is_integer(type) && span.low >= -end && span.high < end;
}

// NaN is above all numbers, so an upper bound keeps it out.
static bool may_be_nan(Node *value, const Walk *with) {
    return border::any(value, [=](Node *node) {
        const Oid type = IsA(node, Var) ? getBaseType(castNode(Var, node)->vartype) : BOOLOID;
        return (is_float(type) || type == NUMERICOID) && walk(node, with).span.high == Span::nowhere;
    });
}

static bool is_bucket(const List *arguments, const Walk *with) {
    constexpr double most = 1000000;
    Span ends[3];
    for (int i = 1; i <= 3; i++) {
        auto *end = static_cast<Node *>(list_nth(arguments, i));
        ends[i - 1] = walk(end, with).span;
        if (!IsA(end, Const) || ends[i - 1].low != ends[i - 1].high)
            return false;
    }
    return ends[0].low != ends[1].low && ends[2].low >= 1 && ends[2].low <= most;
}

// Tells whether a call gives a value wherever its arguments are values.
static bool has_always_value(Rule rule, List *arguments, Oid result, const Span &span, const Walk *with) {
    auto *first = static_cast<Node *>(linitial(arguments));
    const Span divisor = walk(static_cast<Node *>(llast(arguments)), with).span;
    switch (rule) {
    case Rule::over:
    case Rule::modulo:
        if (divisor.low <= 0 && divisor.high >= 0)
            return false;
        [[fallthrough]];
    case Rule::plus:
    case Rule::minus:
    case Rule::times:
    case Rule::negated:
    case Rule::absolute:
        return fits(span, result) || (result == NUMERICOID && are_short(arguments, most_arithmetic));
    case Rule::cast:
        return is_float(result) ? is_short(first, most_arithmetic) : fits(span, result) && !may_be_nan(first, with);
    case Rule::bucket:
        return is_bucket(arguments, with) && !has_any_size(first) && !may_be_nan(first, with);
    case Rule::place:
        return IsA(llast(arguments), Const) && !has_any_size(first);
    default:
        return false;
    }
}

// Arguments are walked once more here: not of long expressions, whose walks would double with each level.
static Range with_nulls(Range range, Oid function, List *arguments, Oid result, const Walk *with) {
    if (--*with->again < 0)
        return range;
    bool nullable = !range.nullable || arguments == NIL ||
                    !has_always_value(rule_of(function), arguments, getBaseType(result), range.span, with);
    for (auto *one : border::each<Node>(nullable ? NIL : arguments))
        nullable = nullable || walk(one, with).nullable;
    range.nullable = range.nullable && nullable;
    return range;
}

// Comparisons give NULL for NULL alone; of other functions nobody says.
static bool comparison_is_nullable(List *arguments, const Walk *with) {
    bool nullable = false;
    for (auto *one : border::each<Node>(arguments)) {
        nullable = nullable || has_any_size(one) || walk(one, with).nullable;
    }
    return nullable;
}

static Span span_of_difference(Rule rule, List *arguments, const Walk *with) {
    Span a = walk(argument(arguments, 0), with).span, b = walk(argument(arguments, 1), with).span;
    return rule == Rule::days_after ? privacy::plus(a, b) : privacy::minus(a, b);
}

// Returns the range of arithmetic, and of what maps one value to another.
static Range range_of_mapping(Rule rule, List *arguments, Oid result, const Walk *with) {
    const int n = list_length(arguments);
    if (n == 0)
        return unknown();
    Range first = walk(argument(arguments, 0), with);
    Span span;
    if (is_arithmetic(rule)) {
        Span second = n > 1 ? walk(argument(arguments, 1), with).span : Span{};
        span = combined(rule, first.span, second, is_integer(result));
        if (rule == Rule::times && equal(argument(arguments, 0), argument(arguments, 1)))
            span.low = Max(span.low, 0.0); // a square
    } else {
        int constant = n > 1 && exprType(argument(arguments, 1)) == INT4OID ? integer_of(arguments, 1, 0) : 0;
        span = mapped(rule, first.span, constant);
    }
    Range range = as_type(span, result);
    range.nullable = first.nullable || rule != Rule::kept; // whatever else is computed may have no value
    return range;
}

// From 0, of what lies below, to one above the last; none beyond where the values end.
static Span span_of_buckets(List *arguments, const Walk *with) {
    constexpr int most_buckets = 1000000;
    const double n = Min(integer_of(arguments, 3, most_buckets), most_buckets);
    const Span values = walk(argument(arguments, 0), with).span, from = walk(argument(arguments, 1), with).span,
               to = walk(argument(arguments, 2), with).span;
    if (!values.bounded() || from.low != from.high || to.low != to.high || from.low >= to.low)
        return Span{0, 1 + n, 0};
    const Span place = privacy::floor_of(
        privacy::over(privacy::times(privacy::minus(values, from), Span{n, n, 0}), privacy::minus(to, from)));
    return Span{Min(Max(place.low + 1, 0.0), n + 1), Min(Max(place.high + 1, 0.0), n + 1), 0};
}

static Range range_of_call(Oid function, List *arguments, Oid result, const Walk *with) {
    if (result == BOOLOID)
        return Range{Span{0, 1, 0}, comparison_is_nullable(arguments, with)};
    const Rule rule = rule_of(function);
    switch (rule) {
    case Rule::bucket:
        return Range{span_of_buckets(arguments, with), true};
    case Rule::place: {
        const Thresholds thresholds = thresholds_of(argument(arguments, 1), span_of_constant);
        Span places = span_of_places(thresholds, walk(argument(arguments, 0), with).span);
        if (may_be_nan(argument(arguments, 0), with))
            places.high = Max(places.high, thresholds.n);
        return Range{places, true};
    }
    case Rule::characters:
        return Range{length_of(argument(arguments, 0), 1), true};
    case Rule::bytes:
        return Range{length_of(argument(arguments, 0), pg_database_encoding_max_length()), true};
    case Rule::field:
        return as_type(field_of(reinterpret_cast<Const *>(argument(arguments, 0)), exprType(argument(arguments, 1)),
                                walk(argument(arguments, 1), with).span),
                       result);
    case Rule::field_of_interval:
        return as_type(field_of_interval(reinterpret_cast<Const *>(argument(arguments, 0)), argument(arguments, 1),
                                         walk(argument(arguments, 1), with).span),
                       result);
    case Rule::clock_of: {
        const Range moments = walk(argument(arguments, 1), with);
        return Range{Span{moments.span.low - day, moments.span.high + day, 0}, true};
    }
    case Rule::bin:
        return Range{
            bins_of(reinterpret_cast<Const *>(argument(arguments, 0)), walk(argument(arguments, 1), with).span), true};
    case Rule::time_between:
    case Rule::age:
    case Rule::days_between:
    case Rule::days_before:
    case Rule::days_after:
        return Range{span_of_difference(rule, arguments, with), true};
    default:
        return range_of_mapping(rule, arguments, result, with);
    }
}

// ---- choices -------------------------------------------------------------------------------------------------------

static bool is_null(const Node *node) {
    return node == nullptr || (IsA(node, Const) && value_in(node) == nullptr);
}

// Returns the range of either. any: the first is there.
static Range either(const Range &a, const Range &b, bool any) {
    return Range{any ? privacy::hull(a.span, b.span) : b.span, a.nullable || b.nullable};
}

static Range range_of_case(const CaseExpr *choice, const Walk *with) {
    Range range = {Span{}, false};
    bool any = false;
    List *results = NIL;
    for (auto *arm : border::each<CaseWhen>(choice->args))
        results = lappend(results, arm->result);
    for (auto *result : border::each<Node>(lappend(results, choice->defresult))) {
        if (is_null(result)) {
            range.nullable = true;
            continue;
        }
        range = either(range, walk(result, with), any);
        any = true;
    }
    return range;
}

// Up to the first that is never NULL.
static Range range_of_coalesce(const CoalesceExpr *choice, const Walk *with) {
    Range range = {Span{}, true};
    bool any = false;
    for (auto *arg : border::each<Node>(choice->args)) {
        if (is_null(arg))
            continue;
        const Range one = walk(arg, with);
        range = {either(range, one, any).span, one.nullable};
        any = true;
        if (!one.nullable)
            break;
    }
    return range;
}

// The result is one of the values that are there, and no larger than any of them (LEAST). A NaN is larger than all numbers, and
// contributes to no sum.
static Range range_of_extreme(const MinMaxExpr *extreme, const Walk *with) {
    const bool least = extreme->op == IS_LEAST;
    Range range = {Span{}, true};
    bool any = false;
    Span limit;
    for (auto *arg : border::each<Node>(extreme->args)) {
        if (is_null(arg))
            continue;
        const Range one = walk(arg, with);
        range = {either(range, one, any).span, range.nullable && one.nullable};
        any = true;
        if (!one.nullable && least)
            limit.high = Min(limit.high, one.span.high);
        if (!one.nullable && !least)
            limit.low = Max(limit.low, one.span.low);
    }
    range.span.high = Min(range.span.high, limit.high);
    range.span.low = Max(range.span.low, limit.low);
    return range;
}

// NULLIF(x, 0) of whole numbers begins beyond 0.
static Range range_of_nullif(const OpExpr *expr, const Walk *with) {
    Span span = walk(argument(expr->args, 0), with).span, other = walk(argument(expr->args, 1), with).span;
    if (span.decimals == 0 && other.low == other.high && span.high > span.low) {
        if (span.low == other.low)
            span.low += 1;
        else if (span.high == other.low)
            span.high -= 1;
    }
    return Range{span, true};
}

static Range range_of_condition(Node *node, const Walk *with) {
    Range range = {Span{0, 1, 0}, false};
    if (IsA(node, BoolExpr)) {
        for (auto *part : border::each<Node>(castNode(BoolExpr, node)->args))
            range.nullable = range.nullable || walk(part, with).nullable;
    } else if (IsA(node, ScalarArrayOpExpr)) {
        List *arguments = castNode(ScalarArrayOpExpr, node)->args;
        const Const *array = value_in(argument(arguments, 1));
        bool whole = array != nullptr && !ARR_HASNULL(DatumGetArrayTypeP(array->constvalue));
        range.nullable = !whole || comparison_is_nullable(list_make1(linitial(arguments)), with);
    }
    return range;
}

// ---- the walk ------------------------------------------------------------------------------------------------------

static Range range_of_node(Node *node, const Walk *with) {
    check_stack_depth();
    CHECK_FOR_INTERRUPTS();
    switch (nodeTag(node)) {
    case T_Var:
        return with->of_column(castNode(Var, node), with->context);
    case T_Const: {
        auto *constant = castNode(Const, node);
        return Range{constant->constisnull ? Span{} : span_of_constant(constant), constant->constisnull};
    }
    case T_RelabelType: {
        const Range below = walk(reinterpret_cast<Node *>(castNode(RelabelType, node)->arg), with);
        return Range{keeps_equality(castNode(RelabelType, node)) ? below.span : Span{}, below.nullable};
    }
    case T_CollateExpr:
        return walk(reinterpret_cast<Node *>(castNode(CollateExpr, node)->arg), with);
    case T_FuncExpr:
    case T_OpExpr: {
        const auto [function, arguments] = called(node);
        const Oid result = exprType(node);
        return with_nulls(range_of_call(function, arguments, result, with), function, arguments, result, with);
    }
    case T_NullIfExpr:
        return range_of_nullif(reinterpret_cast<OpExpr *>(node), with);
    case T_CaseExpr:
        return range_of_case(castNode(CaseExpr, node), with);
    case T_CoalesceExpr:
        return range_of_coalesce(castNode(CoalesceExpr, node), with);
    case T_MinMaxExpr:
        return range_of_extreme(castNode(MinMaxExpr, node), with);
    case T_BoolExpr:
    case T_BooleanTest:
    case T_NullTest:
    case T_DistinctExpr:
    case T_ScalarArrayOpExpr:
        return range_of_condition(node, with);
    default:
        return unknown();
    }
}

static Range walk(Node *node, const Walk *with) {
    Range range = range_of_node(node, with);
    if (with->narrow != nullptr)
        with->narrow(node, &range, with->context);
    return range;
}

Range range_of(Node *expression, ColumnRange of_column, void *context, NarrowRange narrow) {
    int again = most_again;
    const Walk with = {of_column, context, narrow, &again};
    return walk(expression, &with);
}

bool gives_nan(Node *expression, ColumnRange of_column, void *context, NarrowRange narrow) {
    int again = most_again;
    const Walk with = {of_column, context, narrow, &again};
    return may_be_nan(expression, &with);
}

} // namespace dp::query
