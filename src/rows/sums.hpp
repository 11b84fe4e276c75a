// The aggregates of the release's internal statement: exact integers whatever the order of rows or the plan.
//
//   dp_rdr.lattice_sum(value, scale float8, z_lower bigint, z_upper bigint) -> numeric    sum of z (formulas.md 8.2)
//   dp_rdr.lattice_pair(value, lower float8, range float8) -> numeric[]                   {sum of z1, contributing rows}
//   dp_rdr.collect(record) -> bigint                                                      rows into a tuplestore, always 0
//
// The clamp lives in the transition function: an SQL-level helper per row would be counted by track_functions (C17).
#pragma once

#include <cstdint>

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
int64 integer_value(ValueKind kind, Datum value); // of an integer kind
double double_value(ValueKind kind, Datum value); // NaN and infinities as such; numeric beyond double: infinity

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
inline Datum state_result(FunctionCallInfo fcinfo, LatticeState *state) {
    if (state == nullptr)
        PG_RETURN_NULL();
    PG_RETURN_POINTER(state);
}
// The state with one more value; made in `context` when the first value contributes, so that groups cost nothing before.
LatticeState *add_to_sum(LatticeState *state, MemoryContext context, const privacy::SumLattice &lattice, ValueKind kind,
                         Datum value);
LatticeState *add_to_pair(LatticeState *state, MemoryContext context, const privacy::PairLattice &lattice,
                          ValueKind kind, Datum value);

// What the two aggregates returned.
privacy::int128 sum_of(Datum lattice_sum);
struct PairSums {
    privacy::int128 s1 = 0, s0 = 0; // s0 = 2^30 rows - s1
    privacy::int128 rows = 0;
};
PairSums pair_of(Datum lattice_pair);

// Where dp_rdr.collect puts its rows. desc: the record's columns, one by one.
struct Collector {
    Tuplestorestate *store;
    TupleDesc desc;
    MemoryContext context; // for what collect keeps between rows
};
// Null ends it. After an error nothing needs to be done: a collector counts in its own subtransaction only.
void collect_into(Collector *collector);

} // namespace dp::rows
