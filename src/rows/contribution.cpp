#include "rows/contribution.hpp"

#include <cmath>

#include "privacy/contribution.hpp"
#include "privacy/triple.hpp"

#include "rows/canonical.hpp"
#include "rows/shown.hpp"
#include "rows/sums.hpp"

namespace dp::rows {

namespace {

using privacy::int128;
using privacy::uint128;

constexpr int64 largest_contribution = int64{1} << 26; // bytes
constexpr int max_coordinates_of_group = 3 * FUNC_MAX_ARGS;

// ---- facts ---------------------------------------------------------------------------------------------------------

// The facts as bytes: a header, then the measures. All of it are words of 64 bits, in network order.
struct Header {
    int64 units, keys, measures;
    int64 limit; // groups that are kept
    uint64 seed; // of the domain
};

struct MeasureFacts {
    int64 kind;  // privacy::MeasureKind
    int64 once;  // a count of units
    int64 grain; // of a count
    privacy::SumLattice sum;
    privacy::PairLattice pair; // also of a triple
};

static_assert(sizeof(Header) == 5 * sizeof(uint64) && sizeof(MeasureFacts) == 8 * sizeof(uint64),
              "words, and nothing between them");

// From the order of this machine to that of the network, or back.
void turn_words(char *bytes, Size size) {
    for (Size i = 0; i < size; i += sizeof(uint64)) {
        uint64 word;
        memcpy(&word, bytes + i, sizeof word);
        word = pg_hton64(word);
        memcpy(bytes + i, &word, sizeof word);
    }
}

int coordinates_of(privacy::MeasureKind kind) {
    return kind == privacy::MeasureKind::triple ? 3 : kind == privacy::MeasureKind::pair ? 2 : 1;
}

MeasureFacts facts_of_measure(const Question *question, int j) {
    const privacy::Measure &measure = (*question->measures)[j];
    MeasureFacts facts = {};
    facts.kind = static_cast<int64>(measure.kind);
    facts.once = measure.of_units;
    facts.grain = static_cast<int64>(measure.grain);
    facts.sum.scale = facts.pair.range = 1;
    if (measure.kind == privacy::MeasureKind::sum)
        facts.sum = border::core([&] { return privacy::sum_lattice(*question->bounds[j]); });
    else if (measure.kind != privacy::MeasureKind::count)
        facts.pair = border::core([&] { return privacy::pair_lattice(*question->bounds[j]); });
    return facts;
}

// ---- states --------------------------------------------------------------------------------------------------------

// What all states of a call have in common.
struct Shape {
    int32 limit;                         // entries that are kept
    int32 ncoordinates;                  // of one entry
    bool once[max_coordinates_of_group]; // by coordinate: it says that something is there, and is not added up
};

constexpr uint32 inline_key = 24;

// One group of a unit; its values, ncoordinates of them, stand behind it.
struct Entry {
    uint64 hash;
    uint32 size; // of the key's bytes
    union {
        char here[inline_key]; // where they fit
        char *there;
    };

    const char *key() const { return size <= inline_key ? here : there; }
    int128 *values() { return reinterpret_cast<int128 *>(this + 1); }
    const int128 *values() const { return reinterpret_cast<const int128 *>(this + 1); }
};
static_assert(sizeof(Entry) % alignof(int128) == 0 && alignof(Entry) <= MAXIMUM_ALIGNOF, "palloc gives no more");

// Most units have one entry or few. From `few` on a table finds them; when there are as many as may be, a heap has the
// largest, which goes first.
constexpr int32 few = 8;

struct State {
    const Shape *shape;
    char *entries; // `capacity` of them; the first one behind the state
    uint32 *table; // 1 + index of an entry, by hash, open addressing; 0: free
    int32 *heap;   // indices, the largest first
    uint64 seed;   // of domain and unit
    int32 nentries, capacity;
    int32 last;  // the entry that was found last
    uint32 mask; // of the table: its size - 1
};

Size entry_size(const Shape *shape) {
    return sizeof(Entry) + sizeof(int128) * shape->ncoordinates;
}

Entry *entry_at(const State *state, int32 i) {
    return reinterpret_cast<Entry *>(state->entries + entry_size(state->shape) * i);
}

State *make_state(MemoryContext context, const Shape *shape, uint64 seed) {
    auto *state = static_cast<State *>(MemoryContextAlloc(context, sizeof(State) + entry_size(shape)));
    memset(state, 0, sizeof(State));
    state->shape = shape;
    state->seed = seed;
    state->entries = reinterpret_cast<char *>(state + 1);
    state->capacity = 1;
    return state;
}

State *state_at(FunctionCallInfo fcinfo, int i) {
    return PG_ARGISNULL(i) ? nullptr : reinterpret_cast<State *>(PG_GETARG_POINTER(i));
}

// Of a group's key.
struct Key {
    uint64 hash;
    const char *bytes;
    uint32 size;
};

// Total: by hash, ties by bytes.
int compare(const Key &a, const Entry *b) {
    if (a.hash != b->hash)
        return a.hash < b->hash ? -1 : 1;
    const int order = memcmp(a.bytes, b->key(), Min(a.size, b->size));
    return order != 0 ? order : a.size < b->size ? -1 : a.size > b->size;
}

Key key_of(const Entry *entry) {
    return {entry->hash, entry->key(), entry->size};
}

bool equals(const Key &key, const Entry *entry) {
    return key.hash == entry->hash && key.size == entry->size && memcmp(key.bytes, entry->key(), key.size) == 0;
}

// ---- the table -----------------------------------------------------------------------------------------------------

void insert_into_table(State *state, int32 i) {
    uint32 at = static_cast<uint32>(entry_at(state, i)->hash) & state->mask;
    while (state->table[at] != 0)
        at = (at + 1) & state->mask;
    state->table[at] = i + 1;
}

// Twice as large as there is room for entries.
void build_table(State *state) {
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

// What stands behind it moves up, so that no search ends too early.
void remove_from_table(State *state, int32 i) {
    uint32 at = static_cast<uint32>(entry_at(state, i)->hash) & state->mask;
    while (state->table[at] != static_cast<uint32>(i) + 1)
        at = (at + 1) & state->mask;
    for (uint32 next = (at + 1) & state->mask; state->table[next] != 0; next = (next + 1) & state->mask) {
        const uint32 home = static_cast<uint32>(entry_at(state, state->table[next] - 1)->hash) & state->mask;
        if (((next - home) & state->mask) >= ((next - at) & state->mask)) {
            state->table[at] = state->table[next];
            at = next;
        }
    }
    state->table[at] = 0;
}

// -1: there is none.
int32 find(const State *state, const Key &key) {
    if (state->table == nullptr) {
        for (int32 i = 0; i < state->nentries; i++)
            if (equals(key, entry_at(state, i)))
                return i;
        return -1;
    }
    for (uint32 at = static_cast<uint32>(key.hash) & state->mask; state->table[at] != 0; at = (at + 1) & state->mask)
        if (equals(key, entry_at(state, state->table[at] - 1)))
            return state->table[at] - 1;
    return -1;
}

// ---- the heap ------------------------------------------------------------------------------------------------------

bool is_larger(const State *state, int32 i, int32 j) {
    return compare(key_of(entry_at(state, i)), entry_at(state, j)) > 0;
}

void sink(State *state, int32 at) {
    int32 *heap = state->heap;
    const int32 moved = heap[at];
    for (int32 child = 2 * at + 1; child < state->nentries; child = 2 * at + 1) {
        if (child + 1 < state->nentries && is_larger(state, heap[child + 1], heap[child]))
            child++;
        if (!is_larger(state, heap[child], moved))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

void build_heap(State *state) {
    state->heap =
        static_cast<int32 *>(MemoryContextAlloc(GetMemoryChunkContext(state), sizeof(int32) * state->nentries));
    for (int32 i = 0; i < state->nentries; i++)
        state->heap[i] = i;
    for (int32 i = state->nentries / 2 - 1; i >= 0; i--)
        sink(state, i);
}

// ---- entries -------------------------------------------------------------------------------------------------------

void fill(State *state, int32 i, const Key &key) {
    Entry *entry = entry_at(state, i);
    entry->hash = key.hash;
    entry->size = key.size;
    char *bytes = entry->here;
    if (key.size > inline_key)
        bytes = entry->there = static_cast<char *>(MemoryContextAlloc(GetMemoryChunkContext(state), key.size));
    memcpy(bytes, key.bytes, key.size);
    memset(entry->values(), 0, sizeof(int128) * state->shape->ncoordinates);
}

// Doubles the room, up to what may be kept.
void grow(State *state) {
    const int32 capacity = Min(state->shape->limit, Max(few, 2 * state->capacity));
    const Size size = entry_size(state->shape) * capacity;
    if (state->capacity == 1) { // the first one stands behind the state
        auto *entries = static_cast<char *>(MemoryContextAlloc(GetMemoryChunkContext(state), size));
        memcpy(entries, state->entries, entry_size(state->shape));
        state->entries = entries;
    } else
        state->entries = static_cast<char *>(repalloc(state->entries, size));
    state->capacity = capacity;
    if (capacity > few)
        build_table(state);
}

int32 append(State *state, const Key &key) {
    if (state->nentries == state->capacity)
        grow(state);
    const int32 i = state->nentries++;
    fill(state, i, key);
    if (state->table != nullptr)
        insert_into_table(state, i);
    return i;
}

// The largest one goes, if the new one is smaller: -1 if it is not.
int32 replace_largest(State *state, const Key &key) {
    if (state->heap == nullptr)
        build_heap(state);
    const int32 i = state->heap[0];
    Entry *largest = entry_at(state, i);
    if (compare(key, largest) > 0)
        return -1;
    if (state->table != nullptr)
        remove_from_table(state, i);
    if (largest->size > inline_key)
        pfree(largest->there);
    fill(state, i, key);
    if (state->table != nullptr)
        insert_into_table(state, i);
    sink(state, 0);
    return i;
}

// The entry of a group that is among those that are kept; null: it is not.
Entry *keep(State *state, const Key &key) {
    int32 i = find(state, key);
    if (i < 0)
        i = state->nentries < state->shape->limit ? append(state, key) : replace_largest(state, key);
    if (i < 0)
        return nullptr;
    state->last = i;
    return entry_at(state, i);
}

// Sums that somebody forged may overflow, into some number.
void merge(const Shape *shape, int128 *into, const int128 *from) {
    for (int32 c = 0; c < shape->ncoordinates; c++)
        into[c] = shape->once[c] ? Max(into[c], from[c])
                                 : static_cast<int128>(static_cast<uint128>(into[c]) + static_cast<uint128>(from[c]));
}

// ---- what a row adds -----------------------------------------------------------------------------------------------

struct MeasureSite {
    MeasureFacts facts;
    int coordinate; // its first
    void (*add)(const MeasureSite *site, Datum value, int128 *values);
};

struct KeySite {
    int16 length; // as in pg_type
    bool by_value;
};

// What is known of a call before its first row.
struct Site {
    Shape shape;
    int first_unit, first_key, first_measure; // arguments
    int nkeys, nmeasures;
    uint64 seed;
    FmgrInfo *hash_units; // extended hash functions, by unit column
    KeySite *keys;
    char *key; // room for the longest one
    MeasureSite *measures;
};

void add_count(const MeasureSite *site, Datum, int128 *values) {
    values[0] += site->facts.grain;
}

void add_once(const MeasureSite *site, Datum, int128 *values) {
    values[0] = site->facts.grain;
}

template <ValueKind kind> void add_sum(const MeasureSite *site, Datum value, int128 *values) {
    if (const std::optional<std::int64_t> point = sum_point(site->facts.sum, kind, value))
        values[0] += *point;
}

template <ValueKind kind> void add_pair(const MeasureSite *site, Datum value, int128 *values) {
    if (const std::optional<std::int64_t> point = pair_point(site->facts.pair, kind, value)) {
        values[0] += *point;
        values[1] += privacy::pair_one - *point;
    }
}

template <ValueKind kind> void add_triple(const MeasureSite *site, Datum value, int128 *values) {
    if (const std::optional<privacy::TriplePoint> point =
            privacy::to_triple_point(site->facts.pair, double_value(kind, value))) {
        values[0] += point->squares;
        values[1] += privacy::pair_one - point->squares - point->rest;
        values[2] += point->rest;
    }
}

template <ValueKind kind> auto adder_of_kind(privacy::MeasureKind measure) {
    return measure == privacy::MeasureKind::sum    ? add_sum<kind>
           : measure == privacy::MeasureKind::pair ? add_pair<kind>
                                                   : add_triple<kind>;
}

auto adder(privacy::MeasureKind measure, ValueKind kind) {
    switch (kind) {
    case ValueKind::int2:
        return adder_of_kind<ValueKind::int2>(measure);
    case ValueKind::int4:
        return adder_of_kind<ValueKind::int4>(measure);
    case ValueKind::int8:
        return adder_of_kind<ValueKind::int8>(measure);
    case ValueKind::float4:
        return adder_of_kind<ValueKind::float4>(measure);
    case ValueKind::float8:
        return adder_of_kind<ValueKind::float8>(measure);
    case ValueKind::numeric:
        return adder_of_kind<ValueKind::numeric>(measure);
    }
    pg_unreachable();
}

// ---- reading the facts ---------------------------------------------------------------------------------------------

[[noreturn]] void refuse_facts() {
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("contribution is an internal function of dp_rdr")));
    pg_unreachable();
}

// Who calls the aggregate on rows of his own may tell it anything: whatever it is, sums have 128 bits.
bool plausible(const MeasureFacts &facts) {
    return facts.kind >= 0 && facts.kind <= static_cast<int64>(privacy::MeasureKind::triple) && facts.grain >= 1 &&
           facts.grain <= static_cast<int64>(privacy::fine_grain) &&
           (facts.once == 0 || facts.kind == static_cast<int64>(privacy::MeasureKind::count)) &&
           std::isfinite(facts.sum.scale) && facts.sum.scale > 0 && facts.sum.z_lower <= facts.sum.z_upper;
}

// Of one key's bytes: whether it is there, and the value, in front of one of variable length its length.
Size key_size(const KeySite &key) {
    return 1 + (key.length > 0 ? key.length : sizeof(uint16) + longest_key);
}

int64 largest_entry(Size keys, int ncoordinates) {
    return static_cast<int64>(sizeof(Entry) + keys + sizeof(int128) * ncoordinates);
}

void read_keys(FunctionCallInfo fcinfo, Site *site) {
    MemoryContext context = fcinfo->flinfo->fn_mcxt;
    Size size = 0;
    site->keys = static_cast<KeySite *>(MemoryContextAlloc(context, sizeof(KeySite) * (site->nkeys + 1)));
    for (int i = 0; i < site->nkeys; i++) {
        KeySite &key = site->keys[i];
        get_typlenbyval(get_fn_expr_argtype(fcinfo->flinfo, site->first_key + i), &key.length, &key.by_value);
        if (key.length == 0 || key.length < -1) // a literal without a type
            refuse_facts();
        size += key_size(key);
    }
    if (site->shape.limit > largest_contribution / largest_entry(size, site->shape.ncoordinates))
        refuse_facts();
    site->key = static_cast<char *>(MemoryContextAlloc(context, size + 1));
}

void read_measures(FunctionCallInfo fcinfo, Site *site, const char *bytes) {
    site->measures = static_cast<MeasureSite *>(
        MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(MeasureSite) * site->nmeasures));
    for (int j = 0; j < site->nmeasures; j++) {
        MeasureSite &measure = site->measures[j];
        memcpy(&measure.facts, bytes + sizeof(MeasureFacts) * j, sizeof(MeasureFacts));
        if (!plausible(measure.facts))
            refuse_facts();
        const auto kind = static_cast<privacy::MeasureKind>(measure.facts.kind);
        measure.coordinate = site->shape.ncoordinates;
        site->shape.once[measure.coordinate] = measure.facts.once != 0;
        site->shape.ncoordinates += coordinates_of(kind);
        measure.add = kind != privacy::MeasureKind::count
                          ? adder(kind, value_kind(get_fn_expr_argtype(fcinfo->flinfo, site->first_measure + j)))
                      : measure.facts.once != 0 ? add_once
                                                : add_count;
    }
}

// Equal values have the same hash, whatever they look like.
void read_units(FunctionCallInfo fcinfo, Site *site, int nunits) {
    MemoryContext context = fcinfo->flinfo->fn_mcxt;
    site->hash_units = static_cast<FmgrInfo *>(MemoryContextAlloc(context, sizeof(FmgrInfo) * (nunits + 1)));
    for (int i = 0; i < nunits; i++) {
        const Oid type = get_fn_expr_argtype(fcinfo->flinfo, site->first_unit + i);
        const TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_HASH_EXTENDED_PROC);
        if (!OidIsValid(entry->hash_extended_proc))
            refuse_facts();
        fmgr_info_cxt(entry->hash_extended_proc, &site->hash_units[i], context);
    }
}

Site *read_site(FunctionCallInfo fcinfo) {
    aggregate_context(fcinfo);
    if (PG_ARGISNULL(1))
        refuse_facts();
    const bytea *facts = PG_GETARG_BYTEA_PP(1);
    const Size size = VARSIZE_ANY_EXHDR(facts);
    Header header;
    if (size < sizeof header || size % sizeof(uint64) != 0)
        refuse_facts();
    auto *bytes = static_cast<char *>(palloc(size));
    memcpy(bytes, VARDATA_ANY(facts), size);
    turn_words(bytes, size);
    memcpy(&header, bytes, sizeof header);
    const int64 arguments = PG_NARGS() - 2;
    if (header.units < 0 || header.units > catalog::max_unit_columns || header.keys < 0 || header.keys > arguments ||
        header.measures < 1 || header.measures > arguments ||
        header.units + header.keys + header.measures != arguments || header.limit < 1 ||
        header.limit > largest_contribution || size != sizeof header + sizeof(MeasureFacts) * header.measures)
        refuse_facts();
    auto *site = static_cast<Site *>(MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(Site)));
    site->shape.limit = static_cast<int32>(header.limit);
    site->first_unit = 2;
    site->first_key = 2 + static_cast<int>(header.units);
    site->first_measure = site->first_key + static_cast<int>(header.keys);
    site->nkeys = static_cast<int>(header.keys);
    site->nmeasures = static_cast<int>(header.measures);
    site->seed = header.seed;
    read_measures(fcinfo, site, bytes + sizeof header);
    read_keys(fcinfo, site);
    read_units(fcinfo, site, static_cast<int>(header.units));
    fcinfo->flinfo->fn_extra = site;
    return site;
}

// ---- the transition ------------------------------------------------------------------------------------------------

// Text by its bytes: units are equal where these are.
uint64 seed_of_unit(FunctionCallInfo fcinfo, const Site *site) {
    uint64 seed = site->seed;
    for (int i = site->first_unit; i < site->first_key; i++)
        if (!PG_ARGISNULL(i))
            seed = DatumGetUInt64(FunctionCall2Coll(&site->hash_units[i - site->first_unit], C_COLLATION_OID,
                                                    PG_GETARG_DATUM(i), UInt64GetDatum(seed)));
    return seed;
}

// Of variable length, as it is stored: what is longer than a key may be is NULL, and is not fetched.
char *put_variable(Datum value, char *at) {
    char *mark = at++;
    *mark = 0;
    if (toast_raw_datum_size(value) - VARHDRSZ > longest_key)
        return at;
    const auto *stored = reinterpret_cast<const struct varlena *>(PG_DETOAST_DATUM_PACKED(value));
    const auto length = static_cast<uint16>(VARSIZE_ANY_EXHDR(stored));
    *mark = 1;
    memcpy(at, &length, sizeof length);
    memcpy(at + sizeof length, VARDATA_ANY(stored), length);
    return at + sizeof length + length;
}

char *put_by_value(const KeySite &key, Datum value, char *at) {
    *at++ = 1;
    switch (key.length) {
    case sizeof(char):
        *at = DatumGetChar(value);
        break;
    case sizeof(int16): {
        const int16 number = DatumGetInt16(value);
        memcpy(at, &number, sizeof number);
        break;
    }
    case sizeof(int32): {
        const int32 number = DatumGetInt32(value);
        memcpy(at, &number, sizeof number);
        break;
    }
    default:
        memcpy(at, &value, sizeof value);
    }
    return at + key.length;
}

Key read_key(FunctionCallInfo fcinfo, const Site *site) {
    char *at = site->key;
    for (int i = 0; i < site->nkeys; i++) {
        const int argument = site->first_key + i;
        const KeySite &key = site->keys[i];
        if (PG_ARGISNULL(argument))
            *at++ = 0;
        else if (key.by_value)
            at = put_by_value(key, PG_GETARG_DATUM(argument), at);
        else if (key.length < 0)
            at = put_variable(PG_GETARG_DATUM(argument), at);
        else {
            *at++ = 1;
            memcpy(at, DatumGetPointer(PG_GETARG_DATUM(argument)), key.length);
            at += key.length;
        }
    }
    return {0, site->key, static_cast<uint32>(at - site->key)};
}

// The rows of one person tend to be alike: the group of the last one is looked at first, without a hash.
Entry *entry_of_row(FunctionCallInfo fcinfo, const Site *site, State *state) {
    Key key = read_key(fcinfo, site);
    if (state->nentries > 0) {
        Entry *last = entry_at(state, state->last);
        if (key.size == last->size && memcmp(key.bytes, last->key(), key.size) == 0)
            return last;
    }
    key.hash = privacy::group_hash(state->seed, reinterpret_cast<const unsigned char *>(key.bytes), key.size);
    return keep(state, key);
}

} // namespace

DP_FUNCTION(dp_contribution_step) {
    auto *site = static_cast<const Site *>(fcinfo->flinfo->fn_extra);
    if (unlikely(site == nullptr))
        site = read_site(fcinfo);
    State *state = state_at(fcinfo, 0);
    if (unlikely(state == nullptr))
        state = make_state(aggregate_context(fcinfo), &site->shape, seed_of_unit(fcinfo, site));
    Entry *entry = entry_of_row(fcinfo, site, state);
    if (entry != nullptr)
        for (int j = 0; j < site->nmeasures; j++) {
            const MeasureSite *measure = &site->measures[j];
            if (!PG_ARGISNULL(site->first_measure + j))
                measure->add(measure, PG_GETARG_DATUM(site->first_measure + j), entry->values() + measure->coordinate);
        }
    PG_RETURN_POINTER(state);
}

// ---- partial states ------------------------------------------------------------------------------------------------

// The shape as long as the states that have it.
static const Shape *shape_of_call(FunctionCallInfo fcinfo, const Shape *other) {
    auto *shape = static_cast<Shape *>(fcinfo->flinfo->fn_extra);
    if (shape == nullptr) {
        shape = static_cast<Shape *>(MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof(Shape)));
        *shape = *other;
        fcinfo->flinfo->fn_extra = shape;
    }
    return shape;
}

static bool same_shape(const Shape *a, const Shape *b) {
    return a->limit == b->limit && a->ncoordinates == b->ncoordinates &&
           memcmp(a->once, b->once, sizeof(bool) * a->ncoordinates) == 0;
}

DP_FUNCTION(dp_contribution_combine) {
    MemoryContext context = aggregate_context(fcinfo);
    State *state = state_at(fcinfo, 0);
    const State *other = state_at(fcinfo, 1);
    if (other != nullptr) {
        if (state == nullptr) // a worker's state does not live as long as the aggregation
            state = make_state(context, shape_of_call(fcinfo, other->shape), other->seed);
        if (!same_shape(state->shape, other->shape) || state->seed != other->seed)
            elog(ERROR, "unexpected transition state");
        for (int32 i = 0; i < other->nentries; i++) {
            const Entry *entry = entry_at(other, i);
            if (Entry *into = keep(state, key_of(entry)))
                merge(state->shape, into->values(), entry->values());
        }
    }
    if (state == nullptr)
        PG_RETURN_NULL();
    PG_RETURN_POINTER(state);
}

static Size bytes_of_entries(const State *state) {
    Size size = 0;
    for (int32 i = 0; i < state->nentries; i++)
        size += sizeof(uint32) + entry_at(state, i)->size + sizeof(int128) * state->shape->ncoordinates;
    return size;
}

static char *put(char *at, const void *bytes, Size size) {
    memcpy(at, bytes, size);
    return at + size;
}

static char *put_entry(const State *state, const Entry *entry, char *at) {
    at = put(at, &entry->size, sizeof entry->size);
    at = put(at, entry->key(), entry->size);
    return put(at, entry->values(), sizeof(int128) * state->shape->ncoordinates);
}

static const char *take_bytes(const char **at, const char *end, Size size) {
    if (static_cast<Size>(end - *at) < size)
        elog(ERROR, "unexpected size of a transition state");
    const char *bytes = *at;
    *at += size;
    return bytes;
}

template <class T> static T take(const char **at, const char *end) {
    T value;
    memcpy(&value, take_bytes(at, end, sizeof value), sizeof value);
    return value;
}

static bytea *make_bytes(Size size) {
    auto *bytes = static_cast<bytea *>(palloc(VARHDRSZ + size));
    SET_VARSIZE(bytes, VARHDRSZ + size);
    return bytes;
}

namespace {
// In front of a state's entries.
struct Packed {
    uint64 seed;
    int32 nentries;
    int32 limit, ncoordinates;
};
} // namespace

DP_FUNCTION(dp_contribution_serialize) {
    aggregate_context(fcinfo);
    const State *state = state_at(fcinfo, 0);
    const Shape *shape = state->shape;
    const Packed packed = {state->seed, state->nentries, shape->limit, shape->ncoordinates};
    bytea *bytes = make_bytes(sizeof packed + sizeof(bool) * shape->ncoordinates + bytes_of_entries(state));
    char *at = put(VARDATA(bytes), &packed, sizeof packed);
    at = put(at, shape->once, sizeof(bool) * shape->ncoordinates);
    for (int32 i = 0; i < state->nentries; i++)
        at = put_entry(state, entry_at(state, i), at);
    PG_RETURN_BYTEA_P(bytes);
}

static const Shape *take_shape(const Packed &packed, const char **at, const char *end) {
    if (packed.limit < 1 || packed.limit > largest_contribution || packed.ncoordinates < 1 ||
        packed.ncoordinates > max_coordinates_of_group)
        elog(ERROR, "unexpected size of a transition state");
    auto *shape = static_cast<Shape *>(palloc0(sizeof(Shape)));
    shape->limit = packed.limit;
    shape->ncoordinates = packed.ncoordinates;
    for (int32 c = 0; c < packed.ncoordinates; c++)
        shape->once[c] = *take_bytes(at, end, 1) != 0;
    return shape;
}

DP_FUNCTION(dp_contribution_deserialize) {
    aggregate_context(fcinfo);
    const bytea *bytes = PG_GETARG_BYTEA_PP(0);
    const char *at = VARDATA_ANY(bytes), *end = at + VARSIZE_ANY_EXHDR(bytes);
    const auto packed = take<Packed>(&at, end);
    const Shape *shape = take_shape(packed, &at, end);
    State *state = make_state(CurrentMemoryContext, shape, packed.seed);
    for (int32 i = 0; i < packed.nentries; i++) {
        Key key;
        key.size = take<uint32>(&at, end);
        key.bytes = take_bytes(&at, end, key.size);
        key.hash = privacy::group_hash(state->seed, reinterpret_cast<const unsigned char *>(key.bytes), key.size);
        const char *values = take_bytes(&at, end, sizeof(int128) * shape->ncoordinates);
        if (Entry *entry = keep(state, key))
            memcpy(entry->values(), values, sizeof(int128) * shape->ncoordinates);
    }
    PG_RETURN_POINTER(state);
}

// Entries in their order, so that the same rows make the same bytes.
static int compare_entries(const void *a, const void *b) {
    return compare(key_of(*static_cast<const Entry *const *>(a)), *static_cast<const Entry *const *>(b));
}

DP_FUNCTION(dp_contribution_final) {
    aggregate_context(fcinfo);
    const State *state = state_at(fcinfo, 0);
    if (state == nullptr)
        PG_RETURN_NULL();
    auto **entries = static_cast<const Entry **>(palloc(sizeof(Entry *) * (state->nentries + 1)));
    for (int32 i = 0; i < state->nentries; i++)
        entries[i] = entry_at(state, i);
    if (state->nentries > 1)
        qsort(entries, state->nentries, sizeof(Entry *), compare_entries);
    bytea *bytes = make_bytes(sizeof(int32) + bytes_of_entries(state));
    char *at = put(VARDATA(bytes), &state->nentries, sizeof(int32));
    for (int32 i = 0; i < state->nentries; i++)
        at = put_entry(state, entries[i], at);
    PG_RETURN_BYTEA_P(bytes);
}

// ---- for the receiver ----------------------------------------------------------------------------------------------

int contribution_units(const Question *question) {
    return question->leaf->nkeys == 0 ? 0 : list_length(question->units->values);
}

static Size keys_size(const Question *question) {
    Size size = 0;
    for (int i = 0; i < question->leaf->nkeys; i++) {
        KeySite key;
        get_typlenbyval(exprType(question->keys[i]), &key.length, &key.by_value);
        size += key_size(key);
    }
    return size;
}

// Declared groups whose keys may look different in rows.
static bool has_spellings(const Question *question) {
    for (int i = 0; i < question->leaf->nkeys; i++) {
        const query::Key &key = question->leaf->keys[i];
        if (!is_one_spelling(key.type) || (OidIsValid(key.collation) && !get_collation_isdeterministic(key.collation)))
            return true;
    }
    return false;
}

// Groups of one unit that are kept. Where one declared group may come as several keys there is room for as many as a unit
// has rows, as far as states have.
static int64 kept_groups(const Question *question) {
    const Units *units = question->units;
    if (question->leaf->nkeys == 0 || units->one_group)
        return 1;
    if (question->thresholded)
        return units->max_groups;
    if (!has_spellings(question))
        return question->ngroups;
    const int64 room = largest_contribution / largest_entry(keys_size(question), question->ncoordinates);
    return Max(question->ngroups, Min(units->max_rows, room));
}

int64 contribution_size(const Question *question) {
    return kept_groups(question) * largest_entry(keys_size(question), question->ncoordinates);
}

void check_contribution_size(const Question *question) {
    // Behind the state and the facts.
    const int arguments = contribution_units(question) + question->leaf->nkeys + question->nmeasures;
    if (arguments > FUNC_MAX_ARGS - 2)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("more than %d keys and aggregates where a unit may have several rows",
                               FUNC_MAX_ARGS - 2 - contribution_units(question)),
                        errhint("Ask for fewer aggregates in one query.")));
    if (contribution_size(question) > largest_contribution)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("what one unit may bring to the query takes up to " INT64_FORMAT
                               " bytes: at most " INT64_FORMAT " are allowed",
                               contribution_size(question), largest_contribution),
                        errhint("Use a smaller max_groups, or group by fewer or shorter keys.")));
}

// The same in every session.
static uint64 seed_of_domain(const Question *question) {
    return DatumGetUInt64(hash_any_extended(question->settings->id.data, UUID_LEN, 0));
}

Datum contribution_facts(const Question *question) {
    Header header = {};
    header.units = contribution_units(question);
    header.keys = question->leaf->nkeys;
    header.measures = question->nmeasures;
    header.limit = kept_groups(question);
    header.seed = seed_of_domain(question);
    bytea *bytes = make_bytes(sizeof header + sizeof(MeasureFacts) * question->nmeasures);
    char *at = put(VARDATA(bytes), &header, sizeof header);
    for (int j = 0; j < question->nmeasures; j++) {
        const MeasureFacts facts = facts_of_measure(question, j);
        at = put(at, &facts, sizeof facts);
    }
    turn_words(VARDATA(bytes), VARSIZE(bytes) - VARHDRSZ);
    return PointerGetDatum(bytes);
}

static Datum take_by_value(int16 length, const char *bytes) {
    switch (length) {
    case sizeof(char):
        return CharGetDatum(*bytes);
    case sizeof(int16): {
        int16 number;
        memcpy(&number, bytes, sizeof number);
        return Int16GetDatum(number);
    }
    case sizeof(int32): {
        int32 number;
        memcpy(&number, bytes, sizeof number);
        return Int32GetDatum(number);
    }
    default: {
        Datum value;
        memcpy(&value, bytes, sizeof value);
        return value;
    }
    }
}

// A copy.
static Datum take_key(const KeySite &key, const char **at, const char *end, bool *isnull) {
    *isnull = *take_bytes(at, end, 1) == 0;
    if (*isnull)
        return Datum(0);
    if (key.by_value)
        return take_by_value(key.length, take_bytes(at, end, key.length));
    if (key.length > 0) {
        auto *value = static_cast<char *>(palloc(key.length));
        memcpy(value, take_bytes(at, end, key.length), key.length);
        return PointerGetDatum(value);
    }
    const auto length = take<uint16>(at, end);
    const char *data = take_bytes(at, end, length);
    bytea *value = make_bytes(length);
    memcpy(VARDATA(value), data, length);
    return PointerGetDatum(value);
}

static void take_keys(const Question *question, const KeySite *sites, const char **at, const char *end, Datum *keys,
                      bool *nulls) {
    const auto size = take<uint32>(at, end);
    const char *key = take_bytes(at, end, size), *key_end = key + size;
    for (int i = 0; i < question->leaf->nkeys; i++)
        keys[i] = take_key(sites[i], &key, key_end, &nulls[i]);
}

// -1: it is not in the answer.
static int declared_group(const Question *question, const Datum *keys, const bool *nulls) {
    int place = 0;
    for (int i = 0; i < question->leaf->nkeys; i++) {
        const int at = question->domains[i].find(keys[i], nulls[i]);
        if (at < 0)
            return -1;
        place = place * question->domains[i].count + at;
    }
    return group_at_place(question, place);
}

static void merge_values(const Question *question, int128 *into, const int128 *from) {
    int c = 0;
    for (int j = 0; j < question->nmeasures; j++) {
        const privacy::Measure &measure = (*question->measures)[j];
        for (int end = c + measure.coordinates(); c < end; c++)
            into[c] = measure.of_units ? Max(into[c], from[c]) : into[c] + from[c];
    }
}

namespace {
struct Placed {
    int group;
    int entry;
};
} // namespace

static int compare_placed(const void *a, const void *b) {
    auto *x = static_cast<const Placed *>(a), *y = static_cast<const Placed *>(b);
    return x->group != y->group ? (x->group < y->group ? -1 : 1) : x->entry < y->entry ? -1 : x->entry > y->entry;
}

// By the groups of the answer, ascending, each once.
static UnitContribution declared(const Question *question, const UnitContribution &read) {
    const int nkeys = question->leaf->nkeys, width = question->ncoordinates;
    auto *placed = static_cast<Placed *>(palloc(sizeof(Placed) * (read.ngroups + 1)));
    int n = 0;
    for (int i = 0; i < read.ngroups; i++) {
        placed[n] = {declared_group(question, read.keys + i * nkeys, read.nulls + i * nkeys), i};
        n += placed[n].group >= 0;
    }
    if (n > 1)
        qsort(placed, n, sizeof(Placed), compare_placed);
    UnitContribution unit = {};
    unit.groups = static_cast<int *>(palloc(sizeof(int) * (n + 1)));
    unit.keys = static_cast<Datum *>(palloc(sizeof(Datum) * (static_cast<Size>(n) * nkeys + 1)));
    unit.nulls = static_cast<bool *>(palloc(sizeof(bool) * (static_cast<Size>(n) * nkeys + 1)));
    unit.values = static_cast<int128 *>(palloc(sizeof(int128) * (static_cast<Size>(n) * width + 1)));
    for (int i = 0; i < n; i++) {
        const int128 *values = read.values + static_cast<Size>(placed[i].entry) * width;
        if (unit.ngroups > 0 && unit.groups[unit.ngroups - 1] == placed[i].group)
            merge_values(question, unit.values + static_cast<Size>(unit.ngroups - 1) * width, values);
        else {
            memcpy(unit.keys + unit.ngroups * nkeys, read.keys + placed[i].entry * nkeys, sizeof(Datum) * nkeys);
            memcpy(unit.nulls + unit.ngroups * nkeys, read.nulls + placed[i].entry * nkeys, sizeof(bool) * nkeys);
            memcpy(unit.values + static_cast<Size>(unit.ngroups) * width, values, sizeof(int128) * width);
            unit.groups[unit.ngroups++] = placed[i].group;
        }
    }
    return unit;
}

UnitContribution read_contribution(const Question *question, Datum result) {
    const bytea *bytes = DatumGetByteaPP(result);
    const char *at = VARDATA_ANY(bytes), *end = at + VARSIZE_ANY_EXHDR(bytes);
    const int nkeys = question->leaf->nkeys, width = question->ncoordinates;
    UnitContribution unit = {};
    unit.ngroups = take<int32>(&at, end);
    if (unit.ngroups < 0 || unit.ngroups > kept_groups(question))
        elog(ERROR, "unexpected result of an internal aggregate");
    auto *sites = static_cast<KeySite *>(palloc(sizeof(KeySite) * (nkeys + 1)));
    for (int i = 0; i < nkeys; i++)
        get_typlenbyval(exprType(question->keys[i]), &sites[i].length, &sites[i].by_value);
    const Size n = unit.ngroups;
    unit.keys = static_cast<Datum *>(palloc(sizeof(Datum) * (n * nkeys + 1)));
    unit.nulls = static_cast<bool *>(palloc(sizeof(bool) * (n * nkeys + 1)));
    unit.values = static_cast<int128 *>(palloc(sizeof(int128) * (n * width + 1)));
    for (Size i = 0; i < n; i++) {
        take_keys(question, sites, &at, end, unit.keys + i * nkeys, unit.nulls + i * nkeys);
        memcpy(unit.values + i * width, take_bytes(&at, end, sizeof(int128) * width), sizeof(int128) * width);
    }
    return question->thresholded ? unit : declared(question, unit);
}

void clip_contribution(const Question *question, UnitContribution *unit) {
    border::core([&] {
        int first = 0;
        for (int j = 0; j < question->nmeasures; j++) {
            const int coordinates = (*question->measures)[j].coordinates();
            privacy::clip(unit->values + first, unit->ngroups, question->ncoordinates, coordinates,
                          (*question->sensitivities)[j]);
            first += coordinates;
        }
    });
}

} // namespace dp::rows
