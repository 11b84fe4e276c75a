// Total replacements of partial built-ins (query/total.hpp): the same value where the built-in has one, NULL where it would
// raise an error, and for a few NULL a little earlier, where the table says so. All are strict and cost O(row).
#include <cerrno>
#include <cmath>

#include "border/guard.hpp"
#include "border/versions.hpp"
#include "query/date_format.hpp"
#include "query/date_style.hpp"
#include "query/total.hpp"

namespace dp::sql {

// ---- arguments and results -----------------------------------------------------------------------------------------

template <class T> static T argument(FunctionCallInfo fcinfo, int i) {
    if constexpr (std::is_same_v<T, int16>)
        return PG_GETARG_INT16(i);
    else if constexpr (std::is_same_v<T, int32>)
        return PG_GETARG_INT32(i);
    else if constexpr (std::is_same_v<T, int64>)
        return PG_GETARG_INT64(i);
    else if constexpr (std::is_same_v<T, float4>)
        return PG_GETARG_FLOAT4(i);
    else if constexpr (std::is_same_v<T, float8>)
        return PG_GETARG_FLOAT8(i);
    else
        return PG_GETARG_NUMERIC(i);
}

static Datum datum(int16 value) {
    return Int16GetDatum(value);
}
static Datum datum(int32 value) {
    return Int32GetDatum(value);
}
static Datum datum(int64 value) {
    return Int64GetDatum(value);
}
static Datum datum(float4 value) {
    return Float4GetDatum(value);
}
static Datum datum(float8 value) {
    return Float8GetDatum(value);
}
static Datum datum(Numeric value) {
    return NumericGetDatum(value);
}

static Datum null(FunctionCallInfo fcinfo) {
    PG_RETURN_NULL();
}

// ---- integers ------------------------------------------------------------------------------------------------------

// Each returns false where the result does not exist.
namespace {
struct Plus {
    template <class A, class B, class R> static bool apply(A a, B b, R *r) { return !__builtin_add_overflow(a, b, r); }
};
struct Minus {
    template <class A, class B, class R> static bool apply(A a, B b, R *r) { return !__builtin_sub_overflow(a, b, r); }
};
struct Times {
    template <class A, class B, class R> static bool apply(A a, B b, R *r) { return !__builtin_mul_overflow(a, b, r); }
};
struct Divide {
    template <class A, class B, class R> static bool apply(A a, B b, R *r) {
        if (b == 0)
            return false;
        if (b == -1) // the one quotient that can be too large
            return !__builtin_sub_overflow(0, a, r);
        *r = static_cast<R>(static_cast<int64>(a) / static_cast<int64>(b));
        return true;
    }
};
struct Modulo {
    template <class A, class B, class R> static bool apply(A a, B b, R *r) {
        if (b == 0)
            return false;
        *r = b == -1 ? 0 : static_cast<R>(static_cast<int64>(a) % static_cast<int64>(b));
        return true;
    }
};
} // namespace

template <class Operation, class R, class A, class B> static Datum integer_operation(FunctionCallInfo fcinfo) {
    R result;
    return Operation::apply(argument<A>(fcinfo, 0), argument<B>(fcinfo, 1), &result) ? datum(result) : null(fcinfo);
}

#define DP_INTEGER(name, R, A, B, Operation)                                                                           \
    DP_FUNCTION(dp_total_##name) {                                                                                     \
        return integer_operation<Operation, R, A, B>(fcinfo);                                                          \
    }
#define DP_INTEGERS(prefix, R, A, B)                                                                                   \
    DP_INTEGER(prefix##pl, R, A, B, Plus)                                                                              \
    DP_INTEGER(prefix##mi, R, A, B, Minus)                                                                             \
    DP_INTEGER(prefix##mul, R, A, B, Times)                                                                            \
    DP_INTEGER(prefix##div, R, A, B, Divide)

DP_INTEGERS(int2, int16, int16, int16)
DP_INTEGERS(int4, int32, int32, int32)
DP_INTEGERS(int8, int64, int64, int64)
DP_INTEGERS(int24, int32, int16, int32)
DP_INTEGERS(int42, int32, int32, int16)
DP_INTEGERS(int28, int64, int16, int64)
DP_INTEGERS(int82, int64, int64, int16)
DP_INTEGERS(int48, int64, int32, int64)
DP_INTEGERS(int84, int64, int64, int32)
DP_INTEGER(int2mod, int16, int16, int16, Modulo)
DP_INTEGER(int4mod, int32, int32, int32, Modulo)
DP_INTEGER(int8mod, int64, int64, int64, Modulo)

template <class T> static Datum negated(FunctionCallInfo fcinfo, T value) {
    T result;
    return __builtin_sub_overflow(0, value, &result) ? null(fcinfo) : datum(result);
}

template <class T> static Datum magnitude(FunctionCallInfo fcinfo) {
    T value = argument<T>(fcinfo, 0);
    return value < 0 ? negated(fcinfo, value) : datum(value);
}

#define DP_SIGNS(prefix, T)                                                                                            \
    DP_FUNCTION(dp_total_##prefix##um) {                                                                               \
        return negated(fcinfo, argument<T>(fcinfo, 0));                                                                \
    }                                                                                                                  \
    DP_FUNCTION(dp_total_##prefix##abs) {                                                                              \
        return magnitude<T>(fcinfo);                                                                                   \
    }

DP_SIGNS(int2, int16)
DP_SIGNS(int4, int32)
DP_SIGNS(int8, int64)

// ---- floating point ------------------------------------------------------------------------------------------------

// As the server judges: an infinity out of finite operands has overflown, a zero out of others underflown (float.h).
template <class T> static Datum judged(FunctionCallInfo fcinfo, T result, bool may_be_infinite, bool may_be_zero) {
    if ((std::isinf(result) && !may_be_infinite) || (result == 0 && !may_be_zero))
        return null(fcinfo);
    return datum(result);
}

template <class R> static Datum float_sum(FunctionCallInfo fcinfo, R a, R b) {
    return judged<R>(fcinfo, a + b, std::isinf(a) || std::isinf(b), true);
}
template <class R> static Datum float_difference(FunctionCallInfo fcinfo, R a, R b) {
    return judged<R>(fcinfo, a - b, std::isinf(a) || std::isinf(b), true);
}
template <class R> static Datum float_product(FunctionCallInfo fcinfo, R a, R b) {
    return judged<R>(fcinfo, a * b, std::isinf(a) || std::isinf(b), a == 0 || b == 0);
}
template <class R> static Datum float_quotient(FunctionCallInfo fcinfo, R a, R b) {
    if (b == 0 && !std::isnan(a))
        return null(fcinfo);
    return judged<R>(fcinfo, a / b, std::isinf(a), a == 0 || std::isinf(b));
}

#define DP_FLOAT(name, R, A, B, operation)                                                                             \
    DP_FUNCTION(dp_total_##name) {                                                                                     \
        return operation<R>(fcinfo, argument<A>(fcinfo, 0), argument<B>(fcinfo, 1));                                   \
    }
#define DP_FLOATS(prefix, R, A, B)                                                                                     \
    DP_FLOAT(prefix##pl, R, A, B, float_sum)                                                                           \
    DP_FLOAT(prefix##mi, R, A, B, float_difference)                                                                    \
    DP_FLOAT(prefix##mul, R, A, B, float_product)                                                                      \
    DP_FLOAT(prefix##div, R, A, B, float_quotient)

DP_FLOATS(float4, float4, float4, float4)
DP_FLOATS(float8, float8, float8, float8)
DP_FLOATS(float48, float8, float4, float8)
DP_FLOATS(float84, float8, float8, float4)

// ---- numeric -------------------------------------------------------------------------------------------------------

static Numeric numeric_of(const char *text) {
    return DatumGetNumeric(
        DirectFunctionCall3(numeric_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1)));
}

namespace {
// Limits of a call site, made once: low < x < high.
struct Limits {
    int key;
    Numeric low, high;
};
} // namespace

static const Limits *limits(FunctionCallInfo fcinfo, int key, const char *low, const char *high) {
    auto *kept = static_cast<Limits *>(fcinfo->flinfo->fn_extra);
    if (kept != nullptr && kept->key == key)
        return kept;
    MemoryContext old = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
    kept = static_cast<Limits *>(palloc(sizeof(Limits)));
    *kept = Limits{key, numeric_of(low), numeric_of(high)};
    MemoryContextSwitchTo(old);
    fcinfo->flinfo->fn_extra = kept;
    return kept;
}

static bool within(const Limits *limits, Numeric value) {
    return DatumGetBool(DirectFunctionCall2(numeric_lt, NumericGetDatum(value), NumericGetDatum(limits->high))) &&
           DatumGetBool(DirectFunctionCall2(numeric_gt, NumericGetDatum(value), NumericGetDatum(limits->low)));
}

static bool is_special(Numeric value) {
    return numeric_is_nan(value) || numeric_is_inf(value);
}

constexpr Size short_number = 128; // bytes: four digits in two

// Argument i, or null if it is long; what is long is not even fetched.
static Numeric short_numeric(FunctionCallInfo fcinfo, int i) {
    return toast_raw_datum_size(PG_GETARG_DATUM(i)) <= short_number ? PG_GETARG_NUMERIC(i) : nullptr;
}

// The value, or null if it is so large, so small or so long that an operation would overflow, or take long. NaN and infinities
// are small.
static Numeric handy(FunctionCallInfo fcinfo, Numeric value) {
    constexpr int decimals = 300;
    if (value == nullptr || is_special(value))
        return value;
    bool is_handy = DatumGetInt32(DirectFunctionCall1(numeric_scale, NumericGetDatum(value))) <= decimals &&
                    within(limits(fcinfo, 0, "-1e300", "1e300"), value);
    return is_handy ? value : nullptr;
}

static Numeric handy_numeric(FunctionCallInfo fcinfo, int i) {
    return handy(fcinfo, short_numeric(fcinfo, i));
}

using NumericOperation = Numeric (*)(Numeric, Numeric, bool *);

static Datum numeric_operation(FunctionCallInfo fcinfo, NumericOperation operation) {
    Numeric a = handy_numeric(fcinfo, 0), b = handy_numeric(fcinfo, 1);
    if (a == nullptr || b == nullptr)
        return null(fcinfo);
    bool failed = false;
    Numeric result = operation(a, b, &failed);
    return failed ? null(fcinfo) : datum(result);
}

#define DP_NUMERIC(name)                                                                                               \
    DP_FUNCTION(dp_total_numeric_##name) {                                                                             \
        return numeric_operation(fcinfo, numeric_##name##_opt_error);                                                  \
    }

DP_NUMERIC(add)
DP_NUMERIC(sub)
DP_NUMERIC(mul)
DP_NUMERIC(div)
DP_NUMERIC(mod)

// A function of one numeric, and of one more argument that is handed on.
static Datum of_handy(FunctionCallInfo fcinfo, PGFunction function) {
    Numeric value = handy_numeric(fcinfo, 0);
    if (value == nullptr)
        return null(fcinfo);
    return DirectFunctionCall2(function, NumericGetDatum(value), PG_NARGS() > 1 ? PG_GETARG_DATUM(1) : Datum(0));
}

DP_FUNCTION(dp_total_numeric_floor) {
    return of_handy(fcinfo, numeric_floor);
}
DP_FUNCTION(dp_total_numeric_ceil) {
    return of_handy(fcinfo, numeric_ceil);
}
DP_FUNCTION(dp_total_numeric_round) {
    return of_handy(fcinfo, numeric_round);
}
DP_FUNCTION(dp_total_numeric_trunc) {
    return of_handy(fcinfo, numeric_trunc);
}

// numeric(precision, scale): the value rounded to the scale must be below 10^(precision - scale).
DP_FUNCTION(dp_total_numeric) {
    Numeric value = short_numeric(fcinfo, 0);
    int32 typmod = PG_GETARG_INT32(1), bits = typmod - VARHDRSZ;
    if (value == nullptr)
        return null(fcinfo);
    if (typmod < static_cast<int32>(VARHDRSZ) || numeric_is_nan(value))
        PG_RETURN_NUMERIC(value);
    if (numeric_is_inf(value))
        return null(fcinfo);
    int precision = (bits >> 16) & 0xffff, scale = ((bits & 0x7ff) ^ 1024) - 1024;
    const char *high = psprintf("1e%d", precision - scale);
    const Limits *bounds = limits(fcinfo, typmod, psprintf("-%s", high), high);
    // First as it is: rounding what is far too large could itself overflow.
    if (!within(bounds, value))
        return null(fcinfo);
    Datum rounded = DirectFunctionCall2(numeric_round, NumericGetDatum(value), Int32GetDatum(scale));
    if (!within(bounds, DatumGetNumeric(rounded)))
        return null(fcinfo);
    return DirectFunctionCall2(numeric, NumericGetDatum(value), Int32GetDatum(typmod));
}

// ---- buckets -------------------------------------------------------------------------------------------------------

static bool is_bucket_count(int32 count) {
    return count >= 1 && count <= 1000000;
}

DP_FUNCTION(dp_total_width_bucket_float8) {
    float8 value = PG_GETARG_FLOAT8(0), low = PG_GETARG_FLOAT8(1), high = PG_GETARG_FLOAT8(2);
    if (std::isnan(value) || !std::isfinite(low) || !std::isfinite(high) || low == high ||
        !is_bucket_count(PG_GETARG_INT32(3)))
        return null(fcinfo);
    return DirectFunctionCall4(width_bucket_float8, PG_GETARG_DATUM(0), PG_GETARG_DATUM(1), PG_GETARG_DATUM(2),
                               PG_GETARG_DATUM(3));
}

DP_FUNCTION(dp_total_width_bucket_numeric) {
    Numeric value = handy_numeric(fcinfo, 0), low = handy_numeric(fcinfo, 1), high = handy_numeric(fcinfo, 2);
    if (value == nullptr || low == nullptr || high == nullptr || numeric_is_nan(value) || is_special(low) ||
        is_special(high) || !is_bucket_count(PG_GETARG_INT32(3)) ||
        DatumGetBool(DirectFunctionCall2(numeric_eq, NumericGetDatum(low), NumericGetDatum(high))))
        return null(fcinfo);
    return DirectFunctionCall4(width_bucket_numeric, PG_GETARG_DATUM(0), PG_GETARG_DATUM(1), PG_GETARG_DATUM(2),
                               PG_GETARG_DATUM(3));
}

// ---- casts between numbers -----------------------------------------------------------------------------------------

template <class To, class From> static Datum narrowed(FunctionCallInfo fcinfo, From value) {
    To result;
    return __builtin_add_overflow(value, 0, &result) ? null(fcinfo) : datum(result);
}

// Halves go to even, as in the server. The limits are powers of two, hence exact.
template <class To> static Datum rounded(FunctionCallInfo fcinfo, float8 value) {
    constexpr float8 limit = static_cast<float8>(uint64{1} << (sizeof(To) * 8 - 1));
    value = std::rint(value);
    return value >= -limit && value < limit ? datum(static_cast<To>(value)) : null(fcinfo); // NaN is neither
}

template <class To> static Datum integer_of_numeric(FunctionCallInfo fcinfo, const char *low, const char *high) {
    Numeric value = short_numeric(fcinfo, 0);
    if (value == nullptr || is_special(value) || !within(limits(fcinfo, 1, low, high), value))
        return null(fcinfo);
    return narrowed<To>(fcinfo, DatumGetInt64(DirectFunctionCall1(numeric_int8, NumericGetDatum(value))));
}

DP_FUNCTION(dp_total_int4_int2) {
    return narrowed<int16>(fcinfo, PG_GETARG_INT32(0));
}
DP_FUNCTION(dp_total_int8_int2) {
    return narrowed<int16>(fcinfo, PG_GETARG_INT64(0));
}
DP_FUNCTION(dp_total_int8_int4) {
    return narrowed<int32>(fcinfo, PG_GETARG_INT64(0));
}
DP_FUNCTION(dp_total_float4_int2) {
    return rounded<int16>(fcinfo, PG_GETARG_FLOAT4(0));
}
DP_FUNCTION(dp_total_float4_int4) {
    return rounded<int32>(fcinfo, PG_GETARG_FLOAT4(0));
}
DP_FUNCTION(dp_total_float4_int8) {
    return rounded<int64>(fcinfo, PG_GETARG_FLOAT4(0));
}
DP_FUNCTION(dp_total_float8_int2) {
    return rounded<int16>(fcinfo, PG_GETARG_FLOAT8(0));
}
DP_FUNCTION(dp_total_float8_int4) {
    return rounded<int32>(fcinfo, PG_GETARG_FLOAT8(0));
}
DP_FUNCTION(dp_total_float8_int8) {
    return rounded<int64>(fcinfo, PG_GETARG_FLOAT8(0));
}
DP_FUNCTION(dp_total_numeric_int2) {
    return integer_of_numeric<int16>(fcinfo, "-32768.5", "32767.5");
}
DP_FUNCTION(dp_total_numeric_int4) {
    return integer_of_numeric<int32>(fcinfo, "-2147483648.5", "2147483647.5");
}
DP_FUNCTION(dp_total_numeric_int8) {
    return integer_of_numeric<int64>(fcinfo, "-9223372036854775808.5", "9223372036854775807.5");
}

DP_FUNCTION(dp_total_float8_float4) {
    float8 value = PG_GETARG_FLOAT8(0);
    return judged<float4>(fcinfo, static_cast<float4>(value), std::isinf(value), value == 0);
}

// Digits to the nearest float, as the server reads them. `text` is a number or one of the special words.
template <class T> static Datum float_of_text(FunctionCallInfo fcinfo, const char *text) {
    errno = 0;
    T value;
    if constexpr (std::is_same_v<T, float4>)
        value = strtof(text, nullptr);
    else
        value = strtod(text, nullptr);
    if (errno == ERANGE && (value == 0 || std::isinf(value)))
        return null(fcinfo);
    return datum(value);
}

template <class T> static Datum float_of_numeric(FunctionCallInfo fcinfo) {
    Numeric value = handy_numeric(fcinfo, 0);
    if (value == nullptr)
        return null(fcinfo);
    return float_of_text<T>(fcinfo, DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(value))));
}

DP_FUNCTION(dp_total_numeric_float4) {
    return float_of_numeric<float4>(fcinfo);
}
DP_FUNCTION(dp_total_numeric_float8) {
    return float_of_numeric<float8>(fcinfo);
}

// ---- dates and times -----------------------------------------------------------------------------------------------

static Datum moved_date(FunctionCallInfo fcinfo, DateADT date, int64 days) {
    if (DATE_NOT_FINITE(date))
        PG_RETURN_DATEADT(date);
    int64 result = date + days;
    if (!IS_VALID_DATE(result))
        return null(fcinfo);
    PG_RETURN_DATEADT(static_cast<DateADT>(result));
}

DP_FUNCTION(dp_total_date_pli) {
    return moved_date(fcinfo, PG_GETARG_DATEADT(0), PG_GETARG_INT32(1));
}
DP_FUNCTION(dp_total_date_mii) {
    return moved_date(fcinfo, PG_GETARG_DATEADT(0), -static_cast<int64>(PG_GETARG_INT32(1)));
}

DP_FUNCTION(dp_total_date_mi) {
    DateADT a = PG_GETARG_DATEADT(0), b = PG_GETARG_DATEADT(1);
    if (DATE_NOT_FINITE(a) || DATE_NOT_FINITE(b))
        return null(fcinfo);
    return narrowed<int32>(fcinfo, static_cast<int64>(a) - b);
}

DP_FUNCTION(dp_total_timestamp_mi) {
    Timestamp a = PG_GETARG_TIMESTAMP(0), b = PG_GETARG_TIMESTAMP(1), difference;
    if (TIMESTAMP_NOT_FINITE(a) || TIMESTAMP_NOT_FINITE(b) || __builtin_sub_overflow(a, b, &difference))
        return null(fcinfo);
    return DirectFunctionCall2(timestamp_mi, PG_GETARG_DATUM(0), PG_GETARG_DATUM(1));
}

using query::is_calm;

static bool is_short(const Interval *span) {
    constexpr int years = 1000;
    constexpr int64 longest = INT64CONST(365) * years * USECS_PER_DAY;
    return span->month >= -12 * years && span->month <= 12 * years && span->day >= -365 * years &&
           span->day <= 365 * years && span->time >= -longest && span->time <= longest;
}

// A built-in of a timestamp and an interval.
static Datum moved_timestamp(FunctionCallInfo fcinfo, PGFunction function) {
    if (!is_calm(PG_GETARG_TIMESTAMP(0)) || !is_short(PG_GETARG_INTERVAL_P(1)))
        return null(fcinfo);
    return DirectFunctionCall2(function, PG_GETARG_DATUM(0), PG_GETARG_DATUM(1));
}

DP_FUNCTION(dp_total_timestamp_pl_interval) {
    return moved_timestamp(fcinfo, timestamp_pl_interval);
}
DP_FUNCTION(dp_total_timestamp_mi_interval) {
    return moved_timestamp(fcinfo, timestamp_mi_interval);
}
DP_FUNCTION(dp_total_timestamptz_pl_interval) {
    return moved_timestamp(fcinfo, timestamptz_pl_interval);
}
DP_FUNCTION(dp_total_timestamptz_mi_interval) {
    return moved_timestamp(fcinfo, timestamptz_mi_interval);
}

static Datum moved_day(FunctionCallInfo fcinfo, PGFunction function) {
    int overflow = 0;
    Timestamp midnight = date2timestamp_opt_overflow(PG_GETARG_DATEADT(0), &overflow);
    if (overflow != 0 || !is_calm(midnight) || !is_short(PG_GETARG_INTERVAL_P(1)))
        return null(fcinfo);
    return DirectFunctionCall2(function, PG_GETARG_DATUM(0), PG_GETARG_DATUM(1));
}

DP_FUNCTION(dp_total_date_pl_interval) {
    return moved_day(fcinfo, date_pl_interval);
}
DP_FUNCTION(dp_total_date_mi_interval) {
    return moved_day(fcinfo, date_mi_interval);
}

static Datum converted(FunctionCallInfo fcinfo, Timestamp value, int overflow) {
    if (overflow != 0)
        return null(fcinfo);
    PG_RETURN_TIMESTAMP(value);
}

DP_FUNCTION(dp_total_date_timestamp) {
    int overflow = 0;
    Timestamp value = date2timestamp_opt_overflow(PG_GETARG_DATEADT(0), &overflow);
    return converted(fcinfo, value, overflow);
}
DP_FUNCTION(dp_total_date_timestamptz) {
    int overflow = 0;
    TimestampTz value = date2timestamptz_opt_overflow(PG_GETARG_DATEADT(0), &overflow);
    return converted(fcinfo, value, overflow);
}
DP_FUNCTION(dp_total_timestamp_timestamptz) {
    int overflow = 0;
    TimestampTz value = timestamp2timestamptz_opt_overflow(PG_GETARG_TIMESTAMP(0), &overflow);
    return converted(fcinfo, value, overflow);
}

// A built-in of one timestamp, which may shift it to another time zone.
static Datum of_calm(FunctionCallInfo fcinfo, PGFunction function) {
    return is_calm(PG_GETARG_TIMESTAMP(0)) ? DirectFunctionCall1(function, PG_GETARG_DATUM(0)) : null(fcinfo);
}

DP_FUNCTION(dp_total_timestamptz_timestamp) {
    return of_calm(fcinfo, timestamptz_timestamp);
}
DP_FUNCTION(dp_total_timestamptz_date) {
    return of_calm(fcinfo, timestamptz_date);
}

// A built-in of a constant (a field, a time zone), a timestamp and perhaps another constant. Some return NULL for infinities.
static Datum of_name_and_calm(FunctionCallInfo fcinfo, PGFunction function) {
    if (!is_calm(PG_GETARG_TIMESTAMP(1)))
        return null(fcinfo);
    LOCAL_FCINFO(call, 3);
    InitFunctionCallInfoData(*call, nullptr, PG_NARGS(), InvalidOid, nullptr, nullptr);
    for (int i = 0; i < PG_NARGS(); i++)
        call->args[i] = NullableDatum{PG_GETARG_DATUM(i), false};
    Datum result = function(call);
    fcinfo->isnull = call->isnull;
    return result;
}

DP_FUNCTION(dp_total_timestamp_trunc) {
    return of_name_and_calm(fcinfo, timestamp_trunc);
}
DP_FUNCTION(dp_total_timestamptz_trunc) {
    return of_name_and_calm(fcinfo, timestamptz_trunc);
}
DP_FUNCTION(dp_total_timestamptz_trunc_zone) {
    return of_name_and_calm(fcinfo, timestamptz_trunc_zone);
}
DP_FUNCTION(dp_total_timestamp_zone) {
    return of_name_and_calm(fcinfo, timestamp_zone);
}
DP_FUNCTION(dp_total_timestamptz_zone) {
    return of_name_and_calm(fcinfo, timestamptz_zone);
}
DP_FUNCTION(dp_total_extract_timestamptz) {
    return of_name_and_calm(fcinfo, extract_timestamptz);
}
DP_FUNCTION(dp_total_timestamptz_part) {
    return of_name_and_calm(fcinfo, timestamptz_part);
}

// ---- ages, bins and printed dates ----------------------------------------------------------------------------------

static Datum age_of(FunctionCallInfo fcinfo, PGFunction function) {
    for (int i = 0; i < 2; i++)
        if (TIMESTAMP_NOT_FINITE(PG_GETARG_TIMESTAMP(i)) || !is_calm(PG_GETARG_TIMESTAMP(i)))
            return null(fcinfo);
    return DirectFunctionCall2(function, PG_GETARG_DATUM(0), PG_GETARG_DATUM(1));
}

DP_FUNCTION(dp_total_timestamp_age) {
    return age_of(fcinfo, timestamp_age);
}
DP_FUNCTION(dp_total_timestamptz_age) {
    return age_of(fcinfo, timestamptz_age);
}

// Anybody may call it, with any stride and origin.
static Datum bin_of(FunctionCallInfo fcinfo, PGFunction function) {
    const Interval *stride = PG_GETARG_INTERVAL_P(0);
    Timestamp origin = PG_GETARG_TIMESTAMP(2);
    if (!is_short(stride) || stride->month != 0 || stride->day < 0 || stride->time < 0 ||
        (stride->day == 0 && stride->time == 0) || TIMESTAMP_NOT_FINITE(origin) || !is_calm(origin) ||
        !is_calm(PG_GETARG_TIMESTAMP(1)))
        return null(fcinfo);
    return DirectFunctionCall3(function, PG_GETARG_DATUM(0), PG_GETARG_DATUM(1), PG_GETARG_DATUM(2));
}

DP_FUNCTION(dp_total_timestamp_bin) {
    return bin_of(fcinfo, timestamp_bin);
}
DP_FUNCTION(dp_total_timestamptz_bin) {
    return bin_of(fcinfo, timestamptz_bin);
}

// The built-in reads names of days in the language of lc_time first, which may fail, so nothing of it is called.
static Datum printed_moment(FunctionCallInfo fcinfo, Timestamp moment) {
    char format[query::longest_date_format + 1];
    if (TIMESTAMP_NOT_FINITE(moment) || !is_calm(moment) ||
        toast_raw_datum_size(PG_GETARG_DATUM(1)) > query::longest_date_format + VARHDRSZ)
        return null(fcinfo);
    text_to_cstring_buffer(PG_GETARG_TEXT_PP(1), format, sizeof(format));
    struct pg_tm tm = {};
    fsec_t microseconds = 0;
    if (!query::is_date_format(format) || *format == '\0' ||
        timestamp2tm(moment, nullptr, &tm, &microseconds, nullptr, nullptr) != 0)
        return null(fcinfo);
    tm.tm_wday = j2day(date2j(tm.tm_year, tm.tm_mon, tm.tm_mday));
    tm.tm_yday = date2j(tm.tm_year, tm.tm_mon, tm.tm_mday) - date2j(tm.tm_year, 1, 1) + 1;
    PG_RETURN_TEXT_P(cstring_to_text(query::print_date(format, &tm, microseconds)));
}

DP_FUNCTION(dp_total_timestamp_to_char) {
    return printed_moment(fcinfo, PG_GETARG_TIMESTAMP(0));
}
DP_FUNCTION(dp_total_timestamptz_to_char) {
    TimestampTz moment = PG_GETARG_TIMESTAMPTZ(0);
    if (TIMESTAMP_NOT_FINITE(moment) || !is_calm(moment))
        return null(fcinfo);
    return printed_moment(fcinfo, DatumGetTimestamp(DirectFunctionCall1(timestamptz_timestamp, PG_GETARG_DATUM(0))));
}

// ---- values of variable length -------------------------------------------------------------------------------------

// Anybody may call it, with a type that has no header. Looked up once.
static bool has_header(FunctionCallInfo fcinfo) {
    static constexpr char with = 1, without = 0;
    if (fcinfo->flinfo->fn_extra == nullptr) {
        Oid type = get_fn_expr_argtype(fcinfo->flinfo, 0);
        const char *answer = OidIsValid(type) && get_typlen(type) == -1 ? &with : &without;
        fcinfo->flinfo->fn_extra = const_cast<char *>(answer);
    }
    return fcinfo->flinfo->fn_extra == &with;
}

// The value, or NULL if it is longer: read off its header, whether it is compressed, stored elsewhere or neither.
DP_FUNCTION(dp_total_up_to_size) {
    if (!has_header(fcinfo))
        return PG_GETARG_DATUM(0);
    if (static_cast<int64>(toast_raw_datum_size(PG_GETARG_DATUM(0))) >
        static_cast<int64>(PG_GETARG_INT32(1)) + VARHDRSZ)
        return null(fcinfo);
    return PG_GETARG_DATUM(0);
}

// ---- text ----------------------------------------------------------------------------------------------------------

DP_FUNCTION(dp_total_textcat) {
    constexpr Size longest = 1024 * 1024;
    if (toast_raw_datum_size(PG_GETARG_DATUM(0)) + toast_raw_datum_size(PG_GETARG_DATUM(1)) > longest + 2 * VARHDRSZ)
        return null(fcinfo);
    return DirectFunctionCall2(textcat, PG_GETARG_DATUM(0), PG_GETARG_DATUM(1));
}

// What the type prints; the output function is looked up once.
DP_FUNCTION(dp_total_text) {
    auto *output = static_cast<FmgrInfo *>(fcinfo->flinfo->fn_extra);
    if (output == nullptr) {
        Oid function;
        bool is_varlena;
        getTypeOutputInfo(get_fn_expr_argtype(fcinfo->flinfo, 0), &function, &is_varlena);
        output = static_cast<FmgrInfo *>(MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof(FmgrInfo)));
        fmgr_info_cxt(function, output, fcinfo->flinfo->fn_mcxt);
        fcinfo->flinfo->fn_extra = output;
    }
    PG_RETURN_TEXT_P(cstring_to_text(OutputFunctionCall(output, PG_GETARG_DATUM(0))));
}
DP_FUNCTION(dp_total_text_of_numeric) {
    Numeric value = handy_numeric(fcinfo, 0);
    if (value == nullptr)
        return null(fcinfo);
    char *digits = DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(value)));
    PG_RETURN_TEXT_P(cstring_to_text(digits));
}

// ---- documents -----------------------------------------------------------------------------------------------------

// What a document prints can be a thousand times as large as what is stored of it (a number of 12 bytes has 131,072 digits),
// so only single values are printed.
static Datum text_of_part(FunctionCallInfo fcinfo, const JsonbValue *part) {
    if (part == nullptr)
        return null(fcinfo);
    switch (part->type) {
    case jbvString:
        PG_RETURN_TEXT_P(cstring_to_text_with_len(part->val.string.val, part->val.string.len));
    case jbvBool:
        PG_RETURN_TEXT_P(cstring_to_text(part->val.boolean ? "true" : "false"));
    case jbvNumeric: {
        Numeric value = VARSIZE_ANY(part->val.numeric) <= short_number ? handy(fcinfo, part->val.numeric) : nullptr;
        if (value == nullptr)
            return null(fcinfo);
        PG_RETURN_TEXT_P(cstring_to_text(DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(value)))));
    }
    default:
        return null(fcinfo);
    }
}

DP_FUNCTION(dp_total_jsonb_object_field_text) {
    Jsonb *document = PG_GETARG_JSONB_P(0);
    text *key = PG_GETARG_TEXT_PP(1);
    JsonbValue room;
    if (!JB_ROOT_IS_OBJECT(document))
        return null(fcinfo);
    return text_of_part(fcinfo, getKeyJsonValueFromContainer(&document->root, VARDATA_ANY(key),
                                                             static_cast<int>(VARSIZE_ANY_EXHDR(key)), &room));
}

DP_FUNCTION(dp_total_jsonb_array_element_text) {
    Jsonb *document = PG_GETARG_JSONB_P(0);
    if (!JB_ROOT_IS_ARRAY(document))
        return null(fcinfo);
    const int64 count = JB_ROOT_COUNT(document);
    int64 place = PG_GETARG_INT32(1);
    place += place < 0 ? count : 0; // from the end
    if (place < 0 || place >= count)
        return null(fcinfo);
    return text_of_part(fcinfo, getIthJsonbValueFromContainer(&document->root, static_cast<uint32>(place)));
}

// The argument without white space around it; null when it is too long for any value.
static char *trimmed(FunctionCallInfo fcinfo) {
    constexpr Size longest = 1000;
    if (toast_raw_datum_size(PG_GETARG_DATUM(0)) > longest + VARHDRSZ)
        return nullptr;
    char *word = text_to_cstring(PG_GETARG_TEXT_PP(0));
    while (isspace(static_cast<unsigned char>(*word)))
        word++;
    for (char *end = word + strlen(word); end > word && isspace(static_cast<unsigned char>(end[-1]));)
        *--end = '\0';
    return word;
}

static const char *skip_digits(const char *c) {
    while (*c >= '0' && *c <= '9')
        c++;
    return c;
}

// [sign] digits [. digits] [e [sign] digits], with at most four digits behind the e.
static bool is_decimal(const char *c) {
    if (*c == '+' || *c == '-')
        c++;
    const char *whole = skip_digits(c), *end = whole;
    int64 digits = whole - c;
    if (*end == '.') {
        end = skip_digits(whole + 1);
        digits += end - (whole + 1);
    }
    if (digits == 0)
        return false;
    if (*end == 'e' || *end == 'E') {
        end += end[1] == '+' || end[1] == '-' ? 2 : 1;
        const char *exponent = end;
        end = skip_digits(exponent);
        if (end == exponent || end - exponent > 4)
            return false;
    }
    return *end == '\0';
}

static bool is_special(const char *text) {
    static const char *const words[] = {"nan", "inf", "+inf", "-inf", "infinity", "+infinity", "-infinity"};
    for (const char *word : words)
        if (pg_strcasecmp(text, word) == 0)
            return true;
    return false;
}

template <class T> static Datum integer_of_text(FunctionCallInfo fcinfo) {
    const char *text = trimmed(fcinfo);
    if (text == nullptr)
        return null(fcinfo);
    int64 value;
    return border::read_integer(text, &value) ? narrowed<T>(fcinfo, value) : null(fcinfo);
}

template <class T> static Datum float_of_any_text(FunctionCallInfo fcinfo) {
    const char *text = trimmed(fcinfo);
    return text != nullptr && (is_decimal(text) || is_special(text)) ? float_of_text<T>(fcinfo, text) : null(fcinfo);
}

DP_FUNCTION(dp_total_text_int2) {
    return integer_of_text<int16>(fcinfo);
}
DP_FUNCTION(dp_total_text_int4) {
    return integer_of_text<int32>(fcinfo);
}
DP_FUNCTION(dp_total_text_int8) {
    return integer_of_text<int64>(fcinfo);
}
DP_FUNCTION(dp_total_text_float4) {
    return float_of_any_text<float4>(fcinfo);
}
DP_FUNCTION(dp_total_text_float8) {
    return float_of_any_text<float8>(fcinfo);
}
DP_FUNCTION(dp_total_text_numeric) {
    const char *text = trimmed(fcinfo);
    // Four digits of exponent are more than the type has room for on the small side, and less on the large one.
    if (text == nullptr || !(is_decimal(text) || is_special(text)))
        return null(fcinfo);
    return NumericGetDatum(numeric_of(text));
}
DP_FUNCTION(dp_total_text_bool) {
    const char *text = trimmed(fcinfo);
    bool value;
    if (text == nullptr || !parse_bool(text, &value))
        return null(fcinfo);
    PG_RETURN_BOOL(value);
}

// ---- dates as texts ------------------------------------------------------------------------------------------------

static bool style_of(FunctionCallInfo fcinfo, query::DateSettings *style) {
    char name[16];
    if (toast_raw_datum_size(PG_GETARG_DATUM(1)) >= sizeof(name) + VARHDRSZ)
        return false;
    text_to_cstring_buffer(PG_GETARG_TEXT_PP(1), name, sizeof(name));
    return query::read_date_style(name, style);
}

// The moment that the argument says, in the order of the style.
static bool moment_of_text(FunctionCallInfo fcinfo, int *type, struct pg_tm *tm, fsec_t *microseconds) {
    query::DateSettings style;
    const char *text = trimmed(fcinfo);
    return text != nullptr && style_of(fcinfo, &style) && query::read_moment(text, style.order, type, tm, microseconds);
}

DP_FUNCTION(dp_total_text_date) {
    int type;
    struct pg_tm tm = {};
    fsec_t microseconds;
    if (!moment_of_text(fcinfo, &type, &tm, &microseconds))
        return null(fcinfo);
    if (type == DTK_EARLY || type == DTK_LATE)
        PG_RETURN_DATEADT(type == DTK_EARLY ? DATEVAL_NOBEGIN : DATEVAL_NOEND);
    if (type == DTK_EPOCH)
        PG_RETURN_DATEADT(UNIX_EPOCH_JDATE - POSTGRES_EPOCH_JDATE);
    if (!IS_VALID_JULIAN(tm.tm_year, tm.tm_mon, tm.tm_mday))
        return null(fcinfo);
    const DateADT date = date2j(tm.tm_year, tm.tm_mon, tm.tm_mday) - POSTGRES_EPOCH_JDATE;
    return IS_VALID_DATE(date) ? DateADTGetDatum(date) : null(fcinfo);
}

DP_FUNCTION(dp_total_text_timestamp) {
    int type;
    struct pg_tm tm = {};
    fsec_t microseconds;
    Timestamp value;
    if (!moment_of_text(fcinfo, &type, &tm, &microseconds))
        return null(fcinfo);
    if (type == DTK_EARLY || type == DTK_LATE)
        PG_RETURN_TIMESTAMP(type == DTK_EARLY ? DT_NOBEGIN : DT_NOEND);
    if (type == DTK_EPOCH)
        PG_RETURN_TIMESTAMP(SetEpochTimestamp());
    return tm2timestamp(&tm, microseconds, nullptr, &value) == 0 ? TimestampGetDatum(value) : null(fcinfo);
}

// date_out and timestamp_out, in a style that is no setting: nothing that can fail happens while the order is another one.
DP_FUNCTION(dp_total_date_text) {
    query::DateSettings style;
    const DateADT date = PG_GETARG_DATEADT(0);
    char text[MAXDATELEN + 1];
    struct pg_tm tm = {};
    if (!style_of(fcinfo, &style))
        return null(fcinfo);
    if (DATE_NOT_FINITE(date))
        EncodeSpecialDate(date, text);
    else {
        j2date(date + POSTGRES_EPOCH_JDATE, &tm.tm_year, &tm.tm_mon, &tm.tm_mday);
        const int own = DateOrder;
        DateOrder = style.order;
        EncodeDateOnly(&tm, style.style, text);
        DateOrder = own;
    }
    PG_RETURN_TEXT_P(cstring_to_text(text));
}

DP_FUNCTION(dp_total_timestamp_text) {
    query::DateSettings style;
    const Timestamp moment = PG_GETARG_TIMESTAMP(0);
    char text[MAXDATELEN + 1];
    struct pg_tm tm = {};
    fsec_t microseconds = 0;
    if (!style_of(fcinfo, &style))
        return null(fcinfo);
    if (TIMESTAMP_NOT_FINITE(moment))
        EncodeSpecialTimestamp(moment, text);
    else if (timestamp2tm(moment, nullptr, &tm, &microseconds, nullptr, nullptr) != 0)
        return null(fcinfo);
    else {
        const int own = DateOrder;
        DateOrder = style.order;
        EncodeDateTime(&tm, microseconds, false, 0, nullptr, style.style, text);
        DateOrder = own;
    }
    PG_RETURN_TEXT_P(cstring_to_text(text));
}

// ---- the list ------------------------------------------------------------------------------------------------------

static void put_row(ReturnSetInfo *result, Datum what, Oid function, Oid replacement, uint8 constants,
                    const char *why) {
    Datum positions[3];
    int n = 0;
    for (int i = 0; i < 3; i++)
        if ((constants & (1 << i)) != 0)
            positions[n++] = Int32GetDatum(i + 1);
    Datum values[5] = {what, ObjectIdGetDatum(function), ObjectIdGetDatum(replacement),
                       PointerGetDatum(construct_array(positions, n, INT4OID, sizeof(int32), true, TYPALIGN_INT)),
                       CStringGetTextDatum(why)};
    bool nulls[5] = {false, !OidIsValid(function), !OidIsValid(replacement), false, false};
    tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

DP_FUNCTION(dp_total_functions) {
    InitMaterializedSRF(fcinfo, 0);
    auto *result = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
    for (int i = 0; query::total_function(i) != nullptr; i++) {
        const query::TotalFunction *entry = query::total_function(i);
        bool replaced = entry->how == query::Total::replaced;
        put_row(result, CStringGetTextDatum(format_procedure(entry->function)), entry->function,
                replaced ? query::replacement_of(entry->function) : InvalidOid, entry->constants, entry->why.text);
    }
    for (int i = 0; query::total_cast(i) != nullptr; i++) {
        const query::TotalCast *cast = query::total_cast(i);
        char *what = psprintf("CAST(%s AS %s)", format_type_be(cast->from), format_type_be(cast->to));
        put_row(result, CStringGetTextDatum(what), InvalidOid, query::replacement_of(*cast), 0, cast->why);
    }
    return Datum(0);
}

} // namespace dp::sql
