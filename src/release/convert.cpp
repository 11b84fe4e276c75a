#include "release/convert.hpp"

#include "privacy/scaled_numbers.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <string>

#include "catalog/decimals.hpp"

namespace dp::release {

using Int128 = privacy::int128;
using privacy::Direction;

static int64 saturated_bigint(Int128 value) {
    return value < PG_INT64_MIN ? PG_INT64_MIN : value > PG_INT64_MAX ? PG_INT64_MAX : static_cast<int64>(value);
}

// NaN cannot come out of a release; should one, zero tells nothing. The sum makes a negative zero positive.
static double finite(double value, double largest) {
    return std::isnan(value) ? 0 : std::clamp(value, -largest, largest) + 0.0;
}

static Datum exact_numeric(Int128 value, int exponent, Direction direction) {
    char text[1024]; // |value| <= 2^127, 2^-930 <= unit <= 2^970: below 340 digits before the point, 290 behind it
    border::core([&] { strlcpy(text, privacy::scaled_text(value, exponent, direction).c_str(), sizeof text); });
    return catalog::text_numeric(text);
}

static float4 rounded_float4(double value, Direction direction) {
    auto nearest = static_cast<float4>(finite(value, FLT_MAX));
    if (direction == Direction::down && nearest > value)
        nearest = std::nextafter(nearest, -FLT_MAX);
    if (direction == Direction::up && nearest < value)
        nearest = std::nextafter(nearest, FLT_MAX);
    return nearest;
}

static Datum float_result(Oid result_type, double value, Direction direction = Direction::nearest) {
    if (result_type == FLOAT4OID)
        return Float4GetDatum(rounded_float4(value, direction));
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

Datum count_result(Int128 noisy_count, int exponent, Direction direction) {
    return Int64GetDatum(privacy::scaled_integer(noisy_count, exponent, direction));
}

Datum sum_result(Oid result_type, Int128 noisy_sum, int exponent, Direction direction) {
    switch (result_type) {
    case INT8OID:
        return Int64GetDatum(privacy::scaled_integer(noisy_sum, exponent, direction));
    case NUMERICOID:
        return exact_numeric(noisy_sum, exponent, direction);
    default:
        return float_result(result_type, privacy::scaled_double(noisy_sum, exponent, direction), direction);
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

// A numeric cut to bounds as they were declared.
static Datum within_bounds(Datum number, const privacy::Bounds *bounds) {
    number = DirectFunctionCall2(numeric_larger, number, catalog::text_numeric(bounds->lower.c_str()));
    return DirectFunctionCall2(numeric_smaller, number, catalog::text_numeric(bounds->upper.c_str()));
}

Datum avg_result(Oid result_type, double noisy_mean, const privacy::Bounds *bounds) {
    Datum mean = double_as(result_type, noisy_mean);
    return result_type != NUMERICOID || bounds == nullptr ? mean : within_bounds(mean, bounds);
}

static Datum saturated(int64 point, int64 least, int64 most) {
    return Int64GetDatum(Min(Max(point, least), most));
}

static Datum numeric_of_cell(privacy::Aggregate fn, const privacy::Grid &grid, int cell,
                             const privacy::Bounds *bounds) {
    if (!grid.of_points)
        return within_bounds(double_as(NUMERICOID, privacy::number_of_cell(grid, fn, cell)), bounds);
    int decimals = static_cast<int>(std::lround(std::log10(grid.scale)));
    Datum point = NumericGetDatum(int64_to_numeric(privacy::point_of_cell(grid, fn, cell)));
    Datum shift = catalog::text_numeric(psprintf("1e-%d", decimals));
    return DirectFunctionCall2(numeric_round, DirectFunctionCall2(numeric_mul, point, shift), Int32GetDatum(decimals));
}

Datum quantile_result(Oid result_type, privacy::Aggregate fn, const privacy::Grid &grid, int cell,
                      const privacy::Bounds *bounds) {
    cell = Min(Max(cell, 0), grid.cells - 1);
    switch (result_type) {
    case INT2OID:
        return Int16GetDatum(
            DatumGetInt64(saturated(privacy::point_of_cell(grid, fn, cell), PG_INT16_MIN, PG_INT16_MAX)));
    case INT4OID:
        return Int32GetDatum(
            DatumGetInt64(saturated(privacy::point_of_cell(grid, fn, cell), PG_INT32_MIN, PG_INT32_MAX)));
    case DATEOID: // the ends of its type are infinite
        return DateADTGetDatum(
            DatumGetInt64(saturated(privacy::point_of_cell(grid, fn, cell), DATETIME_MIN_JULIAN - POSTGRES_EPOCH_JDATE,
                                    DATE_END_JULIAN - POSTGRES_EPOCH_JDATE - 1)));
    case INT8OID:
        return Int64GetDatum(privacy::point_of_cell(grid, fn, cell));
    case TIMESTAMPOID:
    case TIMESTAMPTZOID:
        return saturated(privacy::point_of_cell(grid, fn, cell), MIN_TIMESTAMP, END_TIMESTAMP - 1);
    case NUMERICOID:
        return numeric_of_cell(fn, grid, cell, bounds);
    default:
        return float_result(result_type, privacy::number_of_cell(grid, fn, cell));
    }
}

// ---- ends of intervals ---------------------------------------------------------------------------------------------

// A numeric to so many decimals, outwards.
static Datum rounded_outwards(Datum number, int decimals, Direction direction) {
    Datum nearest = DirectFunctionCall2(numeric_round, number, Int32GetDatum(decimals));
    bool less = DatumGetBool(DirectFunctionCall2(numeric_lt, nearest, number));
    bool more = DatumGetBool(DirectFunctionCall2(numeric_gt, nearest, number));
    if (direction == Direction::down ? !more : !less)
        return nearest;
    Datum place = catalog::text_numeric(psprintf("1e%d", -decimals));
    return direction == Direction::down ? DirectFunctionCall2(numeric_sub, nearest, place)
                                        : DirectFunctionCall2(numeric_add, nearest, place);
}

static Datum numeric_outwards(double value, int decimals, Direction direction) {
    Datum number = catalog::text_numeric(psprintf("%.17e", value));
    int digits = value == 0 ? 0 : static_cast<int>(std::floor(std::log10(std::fabs(value)))) + 1; // before the point
    Datum rounded = rounded_outwards(number, DBL_DIG - digits, direction);
    return decimals < 0 ? rounded : rounded_outwards(rounded, decimals, direction);
}

Datum real_end(Oid result_type, double value, int decimals, Direction direction) {
    double outwards = direction == Direction::down ? -HUGE_VAL : HUGE_VAL; // for the rounding of the sums behind it
    double end = finite(std::nextafter(finite(value, DBL_MAX), outwards), DBL_MAX);
    switch (result_type) {
    case INT8OID:
        return double_as(result_type, direction == Direction::down ? std::floor(end) : std::ceil(end));
    case NUMERICOID:
        return numeric_outwards(end, decimals, direction);
    default:
        return float_result(result_type, end, direction);
    }
}

Datum avg_end(Oid result_type, double value, int decimals, const privacy::Bounds *bounds, Direction direction) {
    if (result_type == NUMERICOID)
        return within_bounds(real_end(result_type, value, decimals, direction), bounds);
    double end = DatumGetFloat8(real_end(FLOAT8OID, value, decimals, direction));
    return float_result(result_type, std::clamp(end, bounds->low, bounds->high), direction);
}

Datum printed_end(Datum printed, double halfwidth, int decimals, Direction direction) {
    Datum width = catalog::text_numeric(psprintf("%.17e", finite(halfwidth, DBL_MAX)));
    width = DirectFunctionCall2(numeric_round, width, Int32GetDatum(decimals));
    return direction == Direction::down ? DirectFunctionCall2(numeric_sub, printed, width)
                                        : DirectFunctionCall2(numeric_add, printed, width);
}

} // namespace dp::release
