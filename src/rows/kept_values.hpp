// Different values that the groups of a unit keep in the place of a sum (formulas.md, 9.11).
#pragma once

#include "privacy/distinct_values.hpp"

#include "border/bytes.hpp"
#include "rows/cell_site.hpp"

namespace dp::rows {

// Keeps the values of a group that have the smallest hash. What comes is put behind them. When there is no room left they are put
// in order, and what is too much goes. An entry has its place in the coordinate of the measure.
struct ValueSet {
    int32 n, capacity;
    int32 kept; // of them are in order, and different
    privacy::UnitValue values[FLEXIBLE_ARRAY_MEMBER];
};

// Holds one of the values that a group keeps, in results and partial states. Their number stands in front of them.
struct PackedValue {
    uint64 hash;
    privacy::ValueDigest value;
};

// Adds the values of a row to what an entry keeps. The entry is one of the state's.
void keep_values_of_row(FunctionCallInfo fcinfo, const CellSite *site, UnitState *state, GroupEntry *entry);
// Adds those that a measure keeps in one entry to those of another.
void add_values(UnitState *state, GroupEntry *into, GroupEntry *from, const MeasureShape &measure);
// Returns the bytes that they take while rows are read, at most.
inline int64 largest_value_set(int32 limit) {
    return static_cast<int64>(offsetof(ValueSet, values)) + 2 * static_cast<int64>(sizeof(privacy::UnitValue)) * limit;
}

// Returns the size of the values of a measure in results and partial states, writes those of an entry, and reads them.
Size bytes_of_values(UnitState *state, const MeasureShape &measure);
char *put_values(GroupEntry *entry, const MeasureShape &measure, char *at);
void take_values(border::Reader *reader, UnitState *state, GroupEntry *entry, const MeasureShape &measure);

} // namespace dp::rows
