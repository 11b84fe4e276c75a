#include "release/convert.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <string>

#include "catalog/decimals.hpp"

namespace dp::release {

using Int128 = privacy::int128;
using Uint128 = privacy::uint128;

static int64 saturated_bigint(Int128 value) {
    return value < PG_INT64_MIN ? PG_INT64_MIN : value > PG_INT64_MAX ? PG_INT64_MAX : static_cast<int64>(value);
}

// value * 2^exponent to the nearest bigint, half away from zero.
static int64 scaled_bigint(Int128 value, int exponent) {
    constexpr Uint128 beyond = Uint128{1} << 64; // any bigint; cut there before the sign goes on, so nothing overflows
    const Uint128 magnitude = value < 0 ? -static_cast<Uint128>(value) : static_cast<Uint128>(value);
    const int shift = exponent < 0 ? -exponent : exponent;
    Uint128 scaled = 0;
    if (exponent < 0 && shift <= 127)
        scaled = (magnitude >> shift) + (magnitude >> (shift - 1) & 1);
    else if (exponent >= 0 && magnitude != 0)
        scaled = shift < 64 && magnitude <= beyond >> shift ? magnitude << shift : beyond;
    if (scaled > beyond)
        scaled = beyond;
    return saturated_bigint(value < 0 ? -static_cast<Int128>(scaled) : static_cast<Int128>(scaled));
}

// NaN cannot come out of a release; should one, zero tells nothing. The sum makes a negative zero positive.
static double finite(double value, double largest) {
    return std::isnan(value) ? 0 : std::clamp(value, -largest, largest) + 0.0;
}

static Datum exact_numeric(Int128 value, int exponent) {
    char text[1024]; // |value| <= 2^127, 2^-930 <= unit <= 2^970: below 340 digits before the point, 290 behind it
    border::core([&] { strlcpy(text, privacy::scaled_text(value, exponent).c_str(), sizeof text); });
    return catalog::text_numeric(text);
}

static Datum float_result(Oid result_type, double value) {
    if (result_type == FLOAT4OID)
        return Float4GetDatum(static_cast<float4>(finite(value, FLT_MAX)));
    return Float8GetDatum(finite(value, DBL_MAX));
}

// 15 significant digits, as many as a double holds of any decimal.
static Datum numeric_of_double(double value) {
    return DirectFunctionCall1(float8_numeric, Float8GetDatum(finite(value, DBL_MAX)));
}

static Datum double_as(Oid result_type, double value) {
    switch (result_type) {
    case INT8OID: {
        const double nearest = std::round(finite(value, 0x1p64)); // 2^64 is beyond bigint and exact in 128 bits
        return Int64GetDatum(saturated_bigint(static_cast<Int128>(nearest)));
    }
    case NUMERICOID:
        return numeric_of_double(value);
    case FLOAT4OID:
    case FLOAT8OID:
        return float_result(result_type, value);
    default:
        elog(ERROR, "unexpected result type %u of a released number", result_type);
    }
}

Datum count_result(Int128 noisy_count) {
    return Int64GetDatum(saturated_bigint(noisy_count));
}

Datum sum_result(Oid result_type, Int128 noisy_sum, int exponent) {
    switch (result_type) {
    case INT8OID:
        return Int64GetDatum(scaled_bigint(noisy_sum, exponent));
    case NUMERICOID:
        return exact_numeric(noisy_sum, exponent);
    default:
        return double_as(result_type, std::ldexp(static_cast<double>(noisy_sum), exponent));
    }
}

Datum rounded_result(Oid result_type, Datum value, int decimals) {
    if (result_type != NUMERICOID || decimals < 0)
        return value;
    return DirectFunctionCall2(numeric_round, value, Int32GetDatum(decimals));
}

Datum real_sum_result(Oid result_type, double noisy_sum) {
    return double_as(result_type, noisy_sum);
}

Datum avg_result(Oid result_type, double noisy_mean, const privacy::Bounds *bounds) {
    Datum mean = double_as(result_type, noisy_mean);
    if (result_type != NUMERICOID || bounds == nullptr)
        return mean;
    mean = DirectFunctionCall2(numeric_larger, mean, catalog::text_numeric(bounds->lower.c_str()));
    return DirectFunctionCall2(numeric_smaller, mean, catalog::text_numeric(bounds->upper.c_str()));
}

} // namespace dp::release
