// The aggregates of the release's internal statement: exact integers whatever the order of rows or the plan.
//
//   dp_rdr.lattice_sum(value, facts bytea) -> numeric        sum of z (formulas.md 8.2)
//   dp_rdr.lattice_pair(value, facts bytea) -> numeric       sum of z1
//   dp_rdr.lattice_rows(value, facts bytea) -> bigint        rows that contributed to it: shares the state of lattice_pair
//   dp_rdr.lattice_square(value, facts bytea) -> numeric     sums of two parts of the triple (8.6), facts as those of a pair
//   dp_rdr.lattice_rest(value, facts bytea) -> numeric
//   dp_rdr.square_point, dp_rdr.rest_point                   the parts alone
//   dp_rdr.lattice_joint(point, facts bytea) -> numeric      sum of one part of two columns' products or moments (8.10)
//   dp_rdr.sum_point(value, facts bytea) -> bigint           z alone, where the server's own sum has to add (rows/engine)
//   dp_rdr.pair_point(value, facts bytea) -> bigint          z1 alone
//
// facts: the lattice, a public constant that is read once. The clamp lives in the transition function: an SQL-level helper
// per row would be counted by track_functions (C17).
#pragma once

#include <cstdint>
#include <optional>

#include "privacy/lattice.hpp"

#include "border/postgres.hpp"

namespace dp::rows {

// How a column's values are read.
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

// The context of transition states. Errors: 0A000 unless called by an aggregation (not as a window function).
MemoryContext aggregate_context(FunctionCallInfo fcinfo);

// Lattice points added up.
struct LatticeState {
    privacy::int128 sum;
    int64 rows; // that contributed
};
static_assert(alignof(LatticeState) <= MAXIMUM_ALIGNOF, "palloc gives no more");

inline LatticeState *new_state(MemoryContext context) {
    return static_cast<LatticeState *>(MemoryContextAllocZero(context, sizeof(LatticeState)));
}
inline LatticeState *state_argument(FunctionCallInfo fcinfo, int i) {
    return PG_ARGISNULL(i) ? nullptr : reinterpret_cast<LatticeState *>(PG_GETARG_POINTER(i));
}

// Nothing where the value does not contribute.
inline std::optional<std::int64_t> sum_point(const privacy::SumLattice &lattice, ValueKind kind, Datum value) {
    if (is_integer(kind))
        return privacy::to_sum_point_integer(lattice, integer_value(kind, value));
    return privacy::to_sum_point(lattice, double_value(kind, value));
}
inline std::optional<std::int64_t> pair_point(const privacy::PairLattice &lattice, ValueKind kind, Datum value) {
    return privacy::to_pair_point(lattice, double_value(kind, value));
}

// Of a point of the server's, y and x.
inline std::optional<privacy::JointPoint> joint_point(const privacy::JointLattice &lattice, std::int64_t one,
                                                      Datum value) {
    const Point *point = DatumGetPointP(value);
    return privacy::to_joint_point(lattice, point->x, point->y, one);
}

// The first argument, a state, with one point more. Made when the first one comes, so that groups cost nothing before; who
// calls a transition function outside of an aggregation has no state, so this alone has to look.
inline Datum add_point(FunctionCallInfo fcinfo, const std::optional<std::int64_t> &point) {
    LatticeState *state = state_argument(fcinfo, 0);
    if (point) {
        if (state == nullptr)
            state = new_state(aggregate_context(fcinfo));
        state->sum += *point;
        state->rows++;
    }
    fcinfo->isnull = state == nullptr;
    return PointerGetDatum(state);
}

// Constants of the two lattices, the same bytes on every architecture.
Datum sum_facts(const privacy::SumLattice &lattice);
Datum pair_facts(const privacy::PairLattice &lattice);
// Of a part of what two columns add: the part's number, and the lattice's unit.
Datum joint_facts(const privacy::JointLattice &lattice, std::int64_t one, int part);

// What lattice_sum or lattice_pair returned, or sum(bigint).
privacy::int128 sum_of(Datum numeric);

} // namespace dp::rows
