#include "rows/kept_values.hpp"

namespace dp::rows {

static ValueSet *set_at(const GroupEntry *entry, const MeasureShape &measure) {
    return static_cast<ValueSet *>(values_at(entry, measure));
}

static Size set_size(int32 capacity) {
    return offsetof(ValueSet, values) + sizeof(privacy::UnitValue) * capacity;
}

static void put_in_order(ValueSet *set, int32 limit) {
    set->n = set->kept = static_cast<int32>(privacy::keep_values(set->values, set->n, limit));
}

// A place behind what is there.
static ValueSet *with_room(UnitState *state, ValueSet *set, int32 limit) {
    constexpr int32 first_values = 2;
    if (set == nullptr) {
        set = static_cast<ValueSet *>(MemoryContextAlloc(GetMemoryChunkContext(state), set_size(first_values)));
        *set = {0, first_values, 0};
    }
    if (set->n < set->capacity)
        return set;
    put_in_order(set, limit);
    if (set->n > set->capacity / 2 || set->n == set->capacity) {
        set->capacity = Min(2 * set->capacity, 2 * limit);
        set = static_cast<ValueSet *>(repalloc(set, set_size(set->capacity)));
    }
    return set;
}

static pg_attribute_always_inline void keep_value(UnitState *state, GroupEntry *entry, const MeasureShape &measure,
                                                  const privacy::ValueDigest &value) {
    const int32 limit = measure.values;
    const Size i =
        (reinterpret_cast<char *>(entry) - reinterpret_cast<char *>(entry_at(state, 0))) / entry_size(state->shape);
    const uint64 hash = privacy::value_hash(state->hashes()[i], value);
    ValueSet *set = set_at(entry, measure);
    if (set != nullptr && set->kept == limit && hash > set->values[limit - 1].hash)
        return;
    set = with_room(state, set, limit);
    set->values[set->n++] = {hash, 0, value};
    memcpy(entry->values() + measure.first, &set, sizeof set);
}

// Returns the values in order, each once, and no more than are kept; null: there are none.
static const ValueSet *values_of(GroupEntry *entry, const MeasureShape &measure) {
    ValueSet *set = set_at(entry, measure);
    if (set != nullptr && set->kept < set->n)
        put_in_order(set, measure.values);
    return set;
}

static privacy::ValueDigest digest_of(Datum value) {
    privacy::ValueDigest digest;
    static_assert(sizeof digest == UUID_LEN, "a digest is a uuid");
    memcpy(digest.words, DatumGetUUIDP(value)->data, sizeof digest);
    return digest;
}

void keep_values_of_row(FunctionCallInfo fcinfo, const CellSite *site, UnitState *state, GroupEntry *entry) {
    for (int j = 0; j < site->nmeasures; j++) {
        const MeasureShape &measure = site->shape->measures[j];
        if (measure.values > 0 && !PG_ARGISNULL(site->first_measure + j))
            keep_value(state, entry, measure, digest_of(PG_GETARG_DATUM(site->first_measure + j)));
    }
}

void add_values(UnitState *state, GroupEntry *into, GroupEntry *from, const MeasureShape &measure) {
    const ValueSet *values = values_of(from, measure);
    for (int32 i = 0; values != nullptr && i < values->n; i++)
        keep_value(state, into, measure, values->values[i].value);
}

Size bytes_of_values(UnitState *state, const MeasureShape &measure) {
    Size size = 0;
    for (int32 i = 0; i < state->nentries; i++) {
        const ValueSet *values = values_of(entry_at(state, i), measure);
        size += sizeof(int32) + (values == nullptr ? 0 : sizeof(PackedValue) * values->n);
    }
    return size;
}

char *put_values(GroupEntry *entry, const MeasureShape &measure, char *at) {
    const ValueSet *values = values_of(entry, measure);
    const int32 n = values == nullptr ? 0 : values->n;
    at = put_bytes(at, &n, sizeof n);
    for (int32 i = 0; i < n; i++) {
        const PackedValue packed = {values->values[i].hash, values->values[i].value};
        at = put_bytes(at, &packed, sizeof packed);
    }
    return at;
}

void take_values(border::Reader *reader, UnitState *state, GroupEntry *entry, const MeasureShape &measure) {
    for (auto n = reader->take<int32>(); n > 0; n--) {
        const auto packed = reader->take<PackedValue>();
        if (entry != nullptr)
            keep_value(state, entry, measure, packed.value);
    }
}

} // namespace dp::rows
