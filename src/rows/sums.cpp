#include "rows/sums.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "border/numeric.hpp"
#include "border/refuse.hpp"

namespace dp::rows {

ValueKind value_kind(Oid type) {
    switch (getBaseType(type)) {
    case INT2OID:
        return ValueKind::int2;
    case INT4OID:
        return ValueKind::int4;
    case INT8OID:
        return ValueKind::int8;
    case FLOAT4OID:
        return ValueKind::float4;
    case FLOAT8OID:
        return ValueKind::float8;
    case NUMERICOID:
        return ValueKind::numeric;
    default:
        refuse_form(psprintf("values of type %s cannot be summed", format_type_be(type)),
                    "Use smallint, integer, bigint, real, double precision or numeric.");
    }
}

Datum value_of_integer(Oid type, int64 number) {
    switch (type) {
    case INT2OID:
        return Int16GetDatum(static_cast<int16>(std::clamp<int64>(number, PG_INT16_MIN, PG_INT16_MAX)));
    case INT4OID:
    case DATEOID:
        return Int32GetDatum(static_cast<int32>(std::clamp<int64>(number, PG_INT32_MIN, PG_INT32_MAX)));
    default:
        return Int64GetDatum(number);
    }
}

// The server's own way is to print the number and to read the text, which takes longer than all the rest of a row. Its
// digits give the same double where they make an integer below 2^53 that one multiplication or division by a power of ten
// puts in place: both are exact then, so that the result is the nearest.
double numeric_value(Datum value) {
    static const double power_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                          1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    border::NumericDigits stored;
    if (border::read_numeric(value, &stored) && stored.count <= 4) {
        const int exponent = 4 * (stored.weight - stored.count + 1);
        int64 digits = 0;
        for (int i = 0; i < stored.count; i++)
            digits = 10000 * digits + stored.digit(i);
        if (std::abs(exponent) <= 22 && digits < int64{1} << 53) {
            const double magnitude = exponent < 0 ? digits / power_of_ten[-exponent] : digits * power_of_ten[exponent];
            return stored.negative ? -magnitude : magnitude;
        }
    }
    // The plain cast would raise for what a double cannot hold; an error would tell that such a value is there.
    return DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, value));
}

MemoryContext aggregate_context(FunctionCallInfo fcinfo) {
    MemoryContext context;
    switch (AggCheckCallContext(fcinfo, &context)) {
    case AGG_CONTEXT_AGGREGATE:
        return context;
    case AGG_CONTEXT_WINDOW: // every row of a window would be an answer of its own
        refuse_form("aggregate does not support use as a window function");
    default:
        refuse_form("function can only be called by an aggregation");
    }
}

privacy::int128 sum_of(Datum numeric) {
    border::NumericDigits digits;
    // 10 digits to the base 10000 hold every 128-bit integer.
    if (!border::read_numeric(numeric, &digits) || digits.count > digits.weight + 1 || digits.weight > 9)
        elog(ERROR, "unexpected result of an internal aggregate");
    privacy::int128 value = 0;
    for (int i = 0; digits.count > 0 && i <= digits.weight; i++)
        value = value * 10000 + (i < digits.count ? digits.digit(i) : 0);
    return digits.negative ? -value : value;
}

} // namespace dp::rows
