// Numbers of columns as they are summed: their kinds, their points on a lattice, and exact sums that the server returns.
#pragma once

#include <cstdint>
#include <optional>

#include "privacy/lattice.hpp"

#include "border/postgres.hpp"

namespace dp::rows {

// Says how a column's values are read.
enum class ValueKind : std::uint8_t { int2, int4, int8, float4, float8, numeric };

// Looks through domains. Errors: 0A000 for types that are not numbers.
ValueKind value_kind(Oid type);
constexpr bool is_integer(ValueKind kind) {
    return kind <= ValueKind::int8;
}
inline int64 integer_value(ValueKind kind, Datum value) { // of an integer kind
    return kind == ValueKind::int2   ? DatumGetInt16(value)
           : kind == ValueKind::int4 ? DatumGetInt32(value)
                                     : DatumGetInt64(value);
}
// Returns a whole number as a value of an integer type, a date or a moment; beyond the ends of the type its end.
Datum value_of_integer(Oid type, int64 number);
double numeric_value(Datum value); // NaN and infinities as such; beyond double: infinity
inline double double_value(ValueKind kind, Datum value) {
    switch (kind) {
    case ValueKind::float4:
        return DatumGetFloat4(value);
    case ValueKind::float8:
        return DatumGetFloat8(value);
    case ValueKind::numeric:
        return numeric_value(value);
    default:
        return static_cast<double>(integer_value(kind, value));
    }
}

// Returns the context of transition states. Errors: 0A000 unless called by an aggregation (not as a window function).
MemoryContext aggregate_context(FunctionCallInfo fcinfo);

// Returns nothing where the value does not contribute.
inline std::optional<std::int64_t> sum_point(const privacy::SumLattice &lattice, ValueKind kind, Datum value) {
    if (is_integer(kind))
        return privacy::to_sum_point_integer(lattice, integer_value(kind, value));
    return privacy::to_sum_point(lattice, double_value(kind, value));
}
inline std::optional<std::int64_t> pair_point(const privacy::PairLattice &lattice, ValueKind kind, Datum value) {
    return privacy::to_pair_point(lattice, double_value(kind, value));
}

// Returns an integer that sum() returned as a numeric.
privacy::int128 sum_of(Datum numeric);

} // namespace dp::rows
