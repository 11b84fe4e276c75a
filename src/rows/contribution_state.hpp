// The states of the aggregate dp_rdr.cells: one vector of 128-bit sums, or of one unit its groups of smallest hash, each with
// such a vector. Memory is that of the context in which the state was made; what one state takes follows from its shape.
#pragma once

#include "privacy/decimal.hpp"

#include "border/postgres.hpp"
#include "rows/arrays.hpp"

namespace dp::rows {

// Describes the coordinates of one measure.
struct MeasureShape {
    int32 first, coordinates; // in the vector
    int32 once;               // they say that something is there, and are not added up
    int32 values;             // so many different values are kept, and no sum; 0: it is one
};

// Describes all states of a call.
struct CellShape {
    int32 limit; // groups that are kept
    int32 ncoordinates;
    int32 keyed; // whether a state is a UnitState
    int32 cell;  // bytes at the end of a key that are no part of its group's
    int32 nmeasures;
    MeasureShape measures[FLEXIBLE_ARRAY_MEMBER];
};

inline Size shape_size(int nmeasures) {
    return offsetof(CellShape, measures) + sizeof(MeasureShape) * nmeasures;
}

// Begins every state. One without keys has its sums behind it.
struct CellState {
    const CellShape *shape;

    privacy::int128 *sums() { return reinterpret_cast<privacy::int128 *>(this + 1); }
};

CellState *make_cell_state(MemoryContext context, const CellShape *shape);

// Names a group by the bytes of its key.
struct GroupKey {
    uint64 hash;
    const char *bytes;
    uint32 size;
};

// Begins one group of a unit. Its vector stands behind it. It is small, since the units of a table are many, and rows meet them in
// any order: what a row needs should be in few lines of the processor's memory.
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

// Begins the groups of one unit. Behind it there is room for `capacity` of them: their hashes, then entries. So it moves when it
// needs more.
struct UnitState : CellState {
    uint64 seed; // of domain and unit
    int32 nentries, capacity;
    uint32 *table; // 1 + index of an entry, by hash, open addressing; 0: free. Null: they are few
    int32 *heap;   // indices, the largest first. Null: there are not as many as may be
    uint32 mask;   // of the table: its size - 1

    uint64 *hashes() { return reinterpret_cast<uint64 *>(this + 1); }
    const uint64 *hashes() const { return reinterpret_cast<const uint64 *>(this + 1); }
};

inline Size entry_size(const CellShape *shape) {
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

UnitState *make_unit_state(MemoryContext context, const CellShape *shape, uint64 seed);

// Returns the entry of a group, made if there is none, where it is among those that are kept; null: it is not. The state may move.
GroupEntry *keep_group(UnitState **state, const GroupKey &key);
// Adds the sums of one part of the rows to those of another. Values stay as they are.
void add_sums(const CellShape *shape, privacy::int128 *into, const privacy::int128 *from);

// Returns where the values of a measure are kept that has no sum; null: there are none.
inline void *values_at(const GroupEntry *entry, const MeasureShape &measure) {
    void *values;
    memcpy(&values, entry->values() + measure.first, sizeof values);
    return values;
}

// Returns the hash of a key without its cell: all cells of a group are kept, or none (9.2).
uint64 hash_of_group(const UnitState *state, const GroupKey &key);
// Compares groups in the order in which they are kept: by hash, ties by bytes.
int compare_groups(const GroupKey &a, const GroupKey &b);

} // namespace dp::rows
