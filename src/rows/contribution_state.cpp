#include "rows/contribution_state.hpp"

#include <algorithm>
#include <numeric>

#include "privacy/contribution.hpp"

namespace dp::rows {

using privacy::int128;
using privacy::uint128;

// Most units have one entry or few. From here on a table finds them; when there are as many as may be, a heap has the largest,
// which goes first.
constexpr int32 few = 16;
constexpr int32 first_growth = 4;

static Size state_size(const CellShape *shape, int32 capacity) {
    return sizeof(UnitState) + (sizeof(uint64) + entry_size(shape)) * capacity;
}

CellState *make_cell_state(MemoryContext context, const CellShape *shape) {
    const Size size = sizeof(CellState) + sizeof(int128) * shape->ncoordinates;
    auto *state = static_cast<CellState *>(MemoryContextAllocZero(context, size));
    state->shape = shape;
    return state;
}

UnitState *make_unit_state(MemoryContext context, const CellShape *shape, uint64 seed) {
    auto *state = static_cast<UnitState *>(MemoryContextAlloc(context, state_size(shape, 1)));
    *state = {{shape}, seed, 0, 1, nullptr, nullptr, 0};
    return state;
}

int compare_groups(const GroupKey &a, const GroupKey &b) {
    if (a.hash != b.hash)
        return a.hash < b.hash ? -1 : 1;
    const int order = memcmp(a.bytes, b.bytes, Min(a.size, b.size));
    return order != 0 ? order : a.size < b.size ? -1 : a.size > b.size;
}

uint64 hash_of_group(const UnitState *state, const GroupKey &key) {
    const uint32 size = key.size - Min(key.size, static_cast<uint32>(state->shape->cell));
    return privacy::group_hash(state->seed, reinterpret_cast<const unsigned char *>(key.bytes), size);
}

static bool is_at(const UnitState *state, int32 i, const GroupKey &key) {
    if (state->hashes()[i] != key.hash)
        return false;
    const GroupEntry *entry = entry_at(state, i);
    return key.size == entry->size && memcmp(key.bytes, entry->bytes(), key.size) == 0;
}

// ---- the table -----------------------------------------------------------------------------------------------------

// Returns the first place where a key is looked for: cells of one group far from each other.
static uint32 home_of(const UnitState *state, const GroupKey &key) {
    constexpr uint32 golden = 0x9e3779b1;
    uint32 cell = 0;
    if (state->shape->cell > 0 && key.size >= sizeof cell)
        memcpy(&cell, key.bytes + key.size - sizeof cell, sizeof cell);
    return (static_cast<uint32>(key.hash) + cell * golden) & state->mask;
}

static void insert_into_table(UnitState *state, int32 i) {
    uint32 at = home_of(state, key_at(state, i));
    while (state->table[at] != 0)
        at = (at + 1) & state->mask;
    state->table[at] = i + 1;
}

// Twice as large as there is room for entries.
static void build_table(UnitState *state) {
    uint32 size = 2 * few;
    while (size < 2 * static_cast<uint32>(state->capacity))
        size *= 2;
    if (state->table != nullptr)
        pfree(state->table);
    state->table = static_cast<uint32 *>(MemoryContextAllocZero(GetMemoryChunkContext(state), sizeof(uint32) * size));
    state->mask = size - 1;
    for (int32 i = 0; i < state->nentries; i++)
        insert_into_table(state, i);
}

// Moves up the entries that stand behind it, so that no search ends too early.
static void remove_from_table(UnitState *state, int32 i) {
    uint32 at = home_of(state, key_at(state, i));
    while (state->table[at] != static_cast<uint32>(i) + 1)
        at = (at + 1) & state->mask;
    for (uint32 next = (at + 1) & state->mask; state->table[next] != 0; next = (next + 1) & state->mask) {
        const uint32 home = home_of(state, key_at(state, static_cast<int32>(state->table[next]) - 1));
        if (((next - home) & state->mask) >= ((next - at) & state->mask)) {
            state->table[at] = state->table[next];
            at = next;
        }
    }
    state->table[at] = 0;
}

// -1: there is none.
static int32 find(const UnitState *state, const GroupKey &key) {
    if (state->table == nullptr) {
        for (int32 i = 0; i < state->nentries; i++)
            if (is_at(state, i, key))
                return i;
        return -1;
    }
    for (uint32 at = home_of(state, key); state->table[at] != 0; at = (at + 1) & state->mask)
        if (is_at(state, state->table[at] - 1, key))
            return state->table[at] - 1;
    return -1;
}

// ---- the heap ------------------------------------------------------------------------------------------------------

// Orders entries for the heap of the standard library, which has the largest in front.
static auto by_group(const UnitState *state) {
    return [state](int32 i, int32 j) { return compare_groups(key_at(state, i), key_at(state, j)) < 0; };
}

static void build_heap(UnitState *state) {
    const int32 n = state->nentries;
    state->heap = static_cast<int32 *>(MemoryContextAlloc(GetMemoryChunkContext(state), sizeof(int32) * n));
    std::iota(state->heap, state->heap + n, 0);
    std::make_heap(state->heap, state->heap + n, by_group(state));
}

// Keeps what else stands in the coordinates of a measure: sets of values (rows/kept_values).
static void forget_values(const UnitState *state, const GroupEntry *entry) {
    for (int32 j = 0; j < state->shape->nmeasures; j++)
        if (state->shape->measures[j].values > 0)
            if (void *set = values_at(entry, state->shape->measures[j]))
                pfree(set);
}

// ---- entries -------------------------------------------------------------------------------------------------------

static void fill(UnitState *state, int32 i, const GroupKey &key) {
    GroupEntry *entry = entry_at(state, i);
    state->hashes()[i] = key.hash;
    entry->size = key.size;
    char *bytes = entry->here;
    if (key.size > GroupEntry::room) {
        bytes = static_cast<char *>(MemoryContextAlloc(GetMemoryChunkContext(state), key.size));
        memcpy(entry->here, &bytes, sizeof bytes);
    }
    memcpy(bytes, key.bytes, key.size);
    memset(entry->values(), 0, sizeof(int128) * state->shape->ncoordinates);
}

// More room, up to what may be kept.
static UnitState *grow(UnitState *state) {
    const CellShape *shape = state->shape;
    const int32 capacity = Min(shape->limit, Max(first_growth, 2 * state->capacity));
    state = static_cast<UnitState *>(repalloc(state, state_size(shape, capacity)));
    memmove(static_cast<void *>(state->hashes() + capacity), entry_at(state, 0), entry_size(shape) * state->nentries);
    state->capacity = capacity;
    if (capacity > few)
        build_table(state);
    return state;
}

static int32 append(UnitState *state, const GroupKey &key) {
    const int32 i = state->nentries++;
    fill(state, i, key);
    if (state->table != nullptr)
        insert_into_table(state, i);
    return i;
}

// The largest one goes, if the new one is smaller: -1 if it is not.
static int32 replace_largest(UnitState *state, const GroupKey &key) {
    if (state->heap == nullptr)
        build_heap(state);
    const int32 i = state->heap[0];
    if (compare_groups(key, key_at(state, i)) > 0)
        return -1;
    std::pop_heap(state->heap, state->heap + state->nentries, by_group(state)); // it stands behind the others
    if (state->table != nullptr)
        remove_from_table(state, i);
    if (entry_at(state, i)->size > GroupEntry::room)
        pfree(entry_at(state, i)->there());
    forget_values(state, entry_at(state, i));
    fill(state, i, key);
    if (state->table != nullptr)
        insert_into_table(state, i);
    std::push_heap(state->heap, state->heap + state->nentries, by_group(state));
    return i;
}

GroupEntry *keep_group(UnitState **state, const GroupKey &key) {
    int32 i = find(*state, key);
    if (i >= 0)
        return entry_at(*state, i);
    if ((*state)->nentries == (*state)->shape->limit)
        i = replace_largest(*state, key);
    else {
        if ((*state)->nentries == (*state)->capacity)
            *state = grow(*state);
        i = append(*state, key);
    }
    return i < 0 ? nullptr : entry_at(*state, i);
}

// Sums that somebody forged may overflow, into some number.
void add_sums(const CellShape *shape, int128 *into, const int128 *from) {
    for (int32 j = 0; j < shape->nmeasures; j++) {
        const MeasureShape &measure = shape->measures[j];
        for (int32 c = measure.first; measure.values == 0 && c < measure.first + measure.coordinates; c++)
            into[c] = measure.once != 0
                          ? Max(into[c], from[c])
                          : static_cast<int128>(static_cast<uint128>(into[c]) + static_cast<uint128>(from[c]));
    }
}

} // namespace dp::rows
