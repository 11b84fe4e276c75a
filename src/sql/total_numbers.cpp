// Total replacements of operations on numbers, and of casts between them.
#include "sql/total_values.hpp"

namespace dp::sql {

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

#define DP_INTEGER(name, R, A, B, Operation) DP_TOTAL(name, integer_operation<Operation, R, A, B>(fcinfo))
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
    DP_TOTAL(prefix##um, negated(fcinfo, argument<T>(fcinfo, 0)))                                                      \
    DP_TOTAL(prefix##abs, magnitude<T>(fcinfo))

DP_SIGNS(int2, int16)
DP_SIGNS(int4, int32)
DP_SIGNS(int8, int64)

// ---- floating point ------------------------------------------------------------------------------------------------

// Judges as the server does: an infinity out of finite operands has overflown, a zero out of others underflown (float.h).
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
    DP_TOTAL(name, operation<R>(fcinfo, argument<A>(fcinfo, 0), argument<B>(fcinfo, 1)))
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

Numeric numeric_of(const char *text) {
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

// Argument i, or null if it is long; what is long is not even fetched.
static Numeric short_numeric(FunctionCallInfo fcinfo, int i) {
    return toast_raw_datum_size(PG_GETARG_DATUM(i)) <= short_number ? PG_GETARG_NUMERIC(i) : nullptr;
}

// The value, or null if it is so large, so small or so long that an operation would overflow, or take long. NaN and infinities
// are small.
Numeric handy(FunctionCallInfo fcinfo, Numeric value) {
    constexpr int decimals = 300;
    if (value == nullptr || is_special(value))
        return value;
    bool is_handy = DatumGetInt32(DirectFunctionCall1(numeric_scale, NumericGetDatum(value))) <= decimals &&
                    within(limits(fcinfo, 0, "-1e300", "1e300"), value);
    return is_handy ? value : nullptr;
}

Numeric handy_numeric(FunctionCallInfo fcinfo, int i) {
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

#define DP_NUMERIC(name) DP_TOTAL(numeric_##name, numeric_operation(fcinfo, numeric_##name##_opt_error))

DP_NUMERIC(add)
DP_NUMERIC(sub)
DP_NUMERIC(mul)
DP_NUMERIC(div)
DP_NUMERIC(mod)

// Calls a function of one numeric, and of one more argument that is handed on.
static Datum of_handy(FunctionCallInfo fcinfo, PGFunction function) {
    return guarded(fcinfo, handy_numeric(fcinfo, 0) != nullptr, function);
}

DP_TOTAL(numeric_floor, of_handy(fcinfo, numeric_floor))
DP_TOTAL(numeric_ceil, of_handy(fcinfo, numeric_ceil))
DP_TOTAL(numeric_round, of_handy(fcinfo, numeric_round))
DP_TOTAL(numeric_trunc, of_handy(fcinfo, numeric_trunc))

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
    float8 low = PG_GETARG_FLOAT8(1), high = PG_GETARG_FLOAT8(2);
    return guarded(fcinfo,
                   !std::isnan(PG_GETARG_FLOAT8(0)) && std::isfinite(low) && std::isfinite(high) && low != high &&
                       is_bucket_count(PG_GETARG_INT32(3)),
                   width_bucket_float8);
}

DP_FUNCTION(dp_total_width_bucket_numeric) {
    Numeric value = handy_numeric(fcinfo, 0), low = handy_numeric(fcinfo, 1), high = handy_numeric(fcinfo, 2);
    const bool safe = value != nullptr && low != nullptr && high != nullptr && !numeric_is_nan(value) &&
                      !is_special(low) && !is_special(high) && is_bucket_count(PG_GETARG_INT32(3));
    return guarded(fcinfo,
                   safe && !DatumGetBool(DirectFunctionCall2(numeric_eq, NumericGetDatum(low), NumericGetDatum(high))),
                   width_bucket_numeric);
}

// ---- casts between numbers -----------------------------------------------------------------------------------------

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

DP_TOTAL(i4toi2, narrowed<int16>(fcinfo, PG_GETARG_INT32(0)))
DP_TOTAL(int82, narrowed<int16>(fcinfo, PG_GETARG_INT64(0)))
DP_TOTAL(int84, narrowed<int32>(fcinfo, PG_GETARG_INT64(0)))
DP_TOTAL(ftoi2, rounded<int16>(fcinfo, PG_GETARG_FLOAT4(0)))
DP_TOTAL(ftoi4, rounded<int32>(fcinfo, PG_GETARG_FLOAT4(0)))
DP_TOTAL(ftoi8, rounded<int64>(fcinfo, PG_GETARG_FLOAT4(0)))
DP_TOTAL(dtoi2, rounded<int16>(fcinfo, PG_GETARG_FLOAT8(0)))
DP_TOTAL(dtoi4, rounded<int32>(fcinfo, PG_GETARG_FLOAT8(0)))
DP_TOTAL(dtoi8, rounded<int64>(fcinfo, PG_GETARG_FLOAT8(0)))
DP_TOTAL(numeric_int2, integer_of_numeric<int16>(fcinfo, "-32768.5", "32767.5"))
DP_TOTAL(numeric_int4, integer_of_numeric<int32>(fcinfo, "-2147483648.5", "2147483647.5"))
DP_TOTAL(numeric_int8, integer_of_numeric<int64>(fcinfo, "-9223372036854775808.5", "9223372036854775807.5"))

DP_FUNCTION(dp_total_dtof) {
    float8 value = PG_GETARG_FLOAT8(0);
    return judged<float4>(fcinfo, static_cast<float4>(value), std::isinf(value), value == 0);
}

template <class T> static Datum float_of_numeric(FunctionCallInfo fcinfo) {
    Numeric value = handy_numeric(fcinfo, 0);
    if (value == nullptr)
        return null(fcinfo);
    return float_of_text<T>(fcinfo, DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(value))));
}

DP_TOTAL(numeric_float4, float_of_numeric<float4>(fcinfo))
DP_TOTAL(numeric_float8, float_of_numeric<float8>(fcinfo))

// ---- seconds as an interval -----------------------------------------------------------------------------------------

static bool is_less(Numeric a, Numeric b) {
    return DatumGetInt32(DirectFunctionCall2(numeric_cmp, NumericGetDatum(a), NumericGetDatum(b))) < 0;
}

// As many days as an interval holds, or fewer.
static Numeric clamped(Numeric seconds) {
    constexpr int64 most = static_cast<int64>(PG_INT32_MAX) * SECS_PER_DAY;
    Numeric highest = int64_to_numeric(most), lowest = int64_to_numeric(-most);
    return is_less(seconds, lowest) ? lowest : is_less(highest, seconds) ? highest : seconds;
}

// Days of 24 hours and the rest, as the difference of two timestamps has them.
DP_FUNCTION(dp_as_interval) {
    Numeric seconds = PG_GETARG_NUMERIC(0);
    if (numeric_is_nan(seconds))
        PG_RETURN_NULL();
    Datum scaled = DirectFunctionCall2(numeric_mul, NumericGetDatum(clamped(seconds)),
                                       NumericGetDatum(int64_to_numeric(USECS_PER_SEC)));
    Datum microseconds = DirectFunctionCall2(numeric_round, scaled, Int32GetDatum(0));
    Datum day = NumericGetDatum(int64_to_numeric(USECS_PER_DAY));
    auto *interval = static_cast<Interval *>(palloc(sizeof(Interval)));
    interval->month = 0;
    interval->day =
        DatumGetInt32(DirectFunctionCall1(numeric_int4, DirectFunctionCall2(numeric_div_trunc, microseconds, day)));
    interval->time =
        DatumGetInt64(DirectFunctionCall1(numeric_int8, DirectFunctionCall2(numeric_mod, microseconds, day)));
    PG_RETURN_INTERVAL_P(interval);
}

} // namespace dp::sql
