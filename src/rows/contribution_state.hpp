// What the aggregate contribution knows of one unit: its groups of smallest hash with 128-bit sums (rows/contribution).
// Memory is that of the context in which the state was made; what one state takes follows from its shape.
#pragma once

#include "privacy/decimal.hpp"
#include "privacy/distinct_values.hpp"
#include "privacy/mechanism.hpp"

#include "border/postgres.hpp"

namespace dp::rows {

// Of as many measures as a call has arguments, whatever they are.
constexpr int max_group_coordinates = privacy::most_coordinates * FUNC_MAX_ARGS;

// What all states of a call have in common.
struct UnitShape {
    int32 limit;                         // entries that are kept
    int32 ncoordinates;                  // of one entry
    bool once[max_group_coordinates];    // by coordinate: it says that something is there, and is not added up
    int32 values[max_group_coordinates]; // by coordinate: so many different values are kept, and no sum; 0: it is one
};

// The values of a group that are kept: those of smallest hash. What comes is put behind them; when there is no room left they are
// put in order, and what is too much goes. The coordinate of an entry has its place.
struct ValueSet {
    int32 n, capacity;
    int32 kept; // of them are in order, and different
    privacy::UnitValue values[FLEXIBLE_ARRAY_MEMBER];
};

// Of a group's key.
struct GroupKey {
    uint64 hash;
    const char *bytes;
    uint32 size;
};

// One group of a unit; its values, ncoordinates of them, stand behind it. Small, since the units of a table are many, and rows
// meet them in any order: what a row needs should be in few lines of the processor's memory.
struct GroupEntry {
    static constexpr uint32 room = 12;
    uint32 size;     // of the key's bytes
    char here[room]; // the bytes where they fit, else where they are

    char *there() const {
        char *bytes;
        memcpy(&bytes, here, sizeof bytes);
        return bytes;
    }
    const char *bytes() const { return size <= room ? here : there(); }
    privacy::int128 *values() { return reinterpret_cast<privacy::int128 *>(this + 1); }
    const privacy::int128 *values() const { return reinterpret_cast<const privacy::int128 *>(this + 1); }
};
static_assert(sizeof(GroupEntry) % alignof(privacy::int128) == 0 && alignof(GroupEntry) <= MAXIMUM_ALIGNOF,
              "palloc gives no more");

// Behind it there is room for `capacity` groups: their hashes, then entries. So it moves when it needs more.
struct UnitState {
    const UnitShape *shape;
    uint64 seed; // of domain and unit
    int32 nentries, capacity;
    uint32 *table; // 1 + index of an entry, by hash, open addressing; 0: free. Null: they are few
    int32 *heap;   // indices, the largest first. Null: there are not as many as may be
    uint32 mask;   // of the table: its size - 1

    uint64 *hashes() { return reinterpret_cast<uint64 *>(this + 1); }
    const uint64 *hashes() const { return reinterpret_cast<const uint64 *>(this + 1); }
};

inline Size entry_size(const UnitShape *shape) {
    return sizeof(GroupEntry) + sizeof(privacy::int128) * shape->ncoordinates;
}

inline GroupEntry *entry_at(UnitState *state, int32 i) {
    return reinterpret_cast<GroupEntry *>(reinterpret_cast<char *>(state->hashes() + state->capacity) +
                                          entry_size(state->shape) * i);
}
inline const GroupEntry *entry_at(const UnitState *state, int32 i) {
    return entry_at(const_cast<UnitState *>(state), i);
}

inline GroupKey key_at(const UnitState *state, int32 i) {
    const GroupEntry *entry = entry_at(state, i);
    return {state->hashes()[i], entry->bytes(), entry->size};
}

UnitState *make_unit_state(MemoryContext context, const UnitShape *shape, uint64 seed);

// The entry of a group, made if there is none, where it is among those that are kept; null: it is not. The state may move.
GroupEntry *keep_group(UnitState **state, const GroupKey &key);
// Adds the sums of one part of a unit's rows to those of another; no values.
void add_sums(const UnitShape *shape, privacy::int128 *into, const privacy::int128 *from);

// Adds a value to what a coordinate of an entry keeps. The entry is one of the state's.
void keep_value(UnitState *state, GroupEntry *entry, int32 coordinate, const privacy::ValueDigest &value);
// In order, each once, and no more than are kept; null: there are none.
const ValueSet *values_of(const UnitState *state, GroupEntry *entry, int32 coordinate);
// Bytes that they take while rows are read, at most.
inline int64 largest_value_set(int32 limit) {
    return static_cast<int64>(offsetof(ValueSet, values)) + 2 * static_cast<int64>(sizeof(privacy::UnitValue)) * limit;
}

// The order in which they are kept: by hash, ties by bytes.
int compare_groups(const GroupKey &a, const GroupKey &b);

} // namespace dp::rows
