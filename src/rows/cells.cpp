// The aggregate dp_rdr.cells, and the points that it adds up one by one:
//
//   dp_rdr.cells(spec bytea, VARIADIC "any") -> bytea                      sums of the coordinates that the specification names
//   dp_rdr.cell(spec bytea, value "any") -> integer                        the cell of a grid that a value is in
//
// The arguments behind the specification are the unit's columns, the keys, and one for each measure: NULL where the row does not
// contribute to it. Without keys and different values a state is one vector, and the result its sums, 16 bytes each, the lowest
// byte first. Otherwise the rows are those of one unit, and a state has its groups, at most kappa of smallest hash, ties by bytes.
// An evicted group never returns, since kappa smaller ones stay; partial states merge exactly. Both are the same whatever the order
// of rows or the plan.
#include <algorithm>

#include "border/bytes.hpp"
#include "border/guard.hpp"
#include "catalog/domain.hpp"
#include "rows/cell_points.hpp"
#include "rows/kept_values.hpp"

namespace dp::rows {

using privacy::int128;

static CellState *state_argument(FunctionCallInfo fcinfo, int i) {
    return PG_ARGISNULL(i) ? nullptr : reinterpret_cast<CellState *>(PG_GETARG_POINTER(i));
}

static UnitState *unit_state(CellState *state) {
    return static_cast<UnitState *>(state);
}

// ---- the row of a unit ---------------------------------------------------------------------------------------------

// Hashes text by its bytes: units are equal where these are.
static uint64 seed_of_unit(FunctionCallInfo fcinfo, const CellSite *site) {
    uint64 seed = site->seed;
    for (int i = site->first_unit; i < site->first_key; i++)
        if (!PG_ARGISNULL(i))
            seed = DatumGetUInt64(FunctionCall2Coll(&site->hash_units[i - site->first_unit], C_COLLATION_OID,
                                                    PG_GETARG_DATUM(i), UInt64GetDatum(seed)));
    return seed;
}

// Writes a key of variable length, as it is stored. One that is longer than a key may be is NULL, and is not fetched.
static char *put_variable(Datum value, char *at) {
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

static char *put_by_value(const KeySite &key, Datum value, char *at) {
    Datum image = 0;
    store_att_byval(&image, value, key.length);
    *at++ = 1;
    return put_bytes(at, &image, key.length);
}

static GroupKey read_key(FunctionCallInfo fcinfo, const CellSite *site) {
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

static GroupEntry *entry_of_row(FunctionCallInfo fcinfo, const CellSite *site, UnitState **state) {
    if (site->nkeys == 0 && (*state)->nentries > 0)
        return entry_at(*state, 0);
    GroupKey key = read_key(fcinfo, site);
    key.hash = hash_of_group(*state, key);
    return keep_group(state, key);
}

static UnitState *add_to_unit(FunctionCallInfo fcinfo, const CellSite *site, UnitState *state) {
    if (unlikely(state == nullptr))
        state = make_unit_state(aggregate_context(fcinfo), site->shape, seed_of_unit(fcinfo, site));
    GroupEntry *entry = entry_of_row(fcinfo, site, &state);
    if (entry == nullptr)
        return state;
    (void)add_row(fcinfo, site, entry->values());
    if (site->keeps_values)
        keep_values_of_row(fcinfo, site, state, entry);
    return state;
}

// ---- the transition ------------------------------------------------------------------------------------------------

// The first row of a call makes its site. Where there are no keys it puts a function in the place of this one. Compiled
// expressions do not notice that (jit): they come by here each time.
DP_FUNCTION(dp_cells_step) {
    auto *site = static_cast<const CellSite *>(fcinfo->flinfo->fn_extra);
    if (unlikely(site == nullptr)) {
        aggregate_context(fcinfo);
        site = read_site(fcinfo, 1, 2);
        if (site->shape->keyed == 0)
            fcinfo->flinfo->fn_addr = site->step;
    }
    if (site->shape->keyed == 0)
        return site->step(fcinfo);
    PG_RETURN_POINTER(add_to_unit(fcinfo, site, unit_state(state_argument(fcinfo, 0))));
}

// Strict; NULL of a NaN.
DP_ROW_FUNCTION(dp_cell) {
    const auto *site = static_cast<const CellSite *>(fcinfo->flinfo->fn_extra);
    if (unlikely(site == nullptr))
        site = read_site(fcinfo, 0, 1);
    if (site->measures[0].words.kind != static_cast<int64>(privacy::MeasureKind::quantile))
        refuse_spec();
    const std::optional<int> cell = cell_of(site->measures[0], PG_GETARG_DATUM(site->first_measure));
    if (!cell)
        PG_RETURN_NULL();
    PG_RETURN_INT32(*cell);
}

// ---- partial states ------------------------------------------------------------------------------------------------

// The shape as long as the states that have it.
static const CellShape *shape_of_call(FunctionCallInfo fcinfo, const CellShape *other) {
    if (fcinfo->flinfo->fn_extra == nullptr) {
        fcinfo->flinfo->fn_extra = MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, shape_size(other->nmeasures));
        memcpy(fcinfo->flinfo->fn_extra, other, shape_size(other->nmeasures));
    }
    return static_cast<const CellShape *>(fcinfo->flinfo->fn_extra);
}

static bool same_shape(const CellShape *a, const CellShape *b) {
    return a->nmeasures == b->nmeasures && memcmp(a, b, shape_size(a->nmeasures)) == 0;
}

// Adds the groups of one part of a unit's rows to those of another. Only somebody's own statement has rows of several units.
static UnitState *combine_units(UnitState *state, UnitState *other) {
    if (state->seed != other->seed)
        refuse_spec();
    for (int32 i = 0; i < other->nentries; i++) {
        if (GroupEntry *into = keep_group(&state, key_at(other, i))) {
            add_sums(state->shape, into->values(), entry_at(other, i)->values());
            for (int32 j = 0; j < state->shape->nmeasures; j++)
                if (state->shape->measures[j].values > 0)
                    add_values(state, into, entry_at(other, i), state->shape->measures[j]);
        }
    }
    return state;
}

DP_FUNCTION(dp_cells_combine) {
    MemoryContext context = aggregate_context(fcinfo);
    CellState *state = state_argument(fcinfo, 0), *other = state_argument(fcinfo, 1);
    if (other != nullptr) {
        const bool keyed = other->shape->keyed != 0;
        if (state == nullptr) { // a worker's state does not live as long as the aggregation
            const CellShape *shape = shape_of_call(fcinfo, other->shape);
            state = keyed ? make_unit_state(context, shape, unit_state(other)->seed) : make_cell_state(context, shape);
        }
        if (!same_shape(state->shape, other->shape))
            refuse_spec();
        if (keyed)
            state = combine_units(unit_state(state), unit_state(other));
        else
            add_sums(state->shape, state->sums(), other->sums());
    }
    if (state == nullptr)
        PG_RETURN_NULL();
    PG_RETURN_POINTER(state);
}

// ---- states as bytes -----------------------------------------------------------------------------------------------

static Size bytes_of_entries(UnitState *state) {
    Size size = 0;
    for (int32 i = 0; i < state->nentries; i++)
        size += sizeof(uint32) + entry_at(state, i)->size + sizeof(int128) * state->shape->ncoordinates;
    for (int32 j = 0; j < state->shape->nmeasures; j++)
        if (state->shape->measures[j].values > 0)
            size += bytes_of_values(state, state->shape->measures[j]);
    return size;
}

// A measure that keeps values has no sum.
static char *put_entry(const CellShape *shape, const GroupEntry *entry, char *at) {
    at = put_bytes(at, &entry->size, sizeof entry->size);
    at = put_bytes(at, entry->bytes(), entry->size);
    char *sums = at;
    at = put_bytes(at, entry->values(), sizeof(int128) * shape->ncoordinates);
    for (int32 j = 0; j < shape->nmeasures; j++)
        if (shape->measures[j].values > 0)
            memset(sums + sizeof(int128) * shape->measures[j].first, 0, sizeof(int128));
    return at;
}

namespace {
struct Listed {
    GroupKey key;
    GroupEntry *entry;
};
} // namespace

// Entries in their order, so that the same rows make the same bytes. in_front: bytes that the caller fills.
static bytea *pack_unit(UnitState *state, Size in_front) {
    auto *list = array_of<Listed>(state->nentries + 1);
    for (int32 i = 0; i < state->nentries; i++)
        list[i] = {key_at(state, i), entry_at(state, i)};
    std::sort(list, list + state->nentries,
              [](const Listed &a, const Listed &b) { return compare_groups(a.key, b.key) < 0; });
    bytea *bytes = make_bytes(in_front + sizeof(int32) + bytes_of_entries(state));
    char *at = put_bytes(VARDATA(bytes) + in_front, &state->nentries, sizeof(int32));
    for (int32 i = 0; i < state->nentries; i++) {
        at = put_entry(state->shape, list[i].entry, at);
        for (int32 j = 0; j < state->shape->nmeasures; j++)
            if (state->shape->measures[j].values > 0)
                at = put_values(list[i].entry, state->shape->measures[j], at);
    }
    return bytes;
}

static bytea *pack_sums(CellState *state, Size in_front) {
    const Size size = sizeof(int128) * state->shape->ncoordinates;
    bytea *bytes = make_bytes(in_front + size);
    (void)put_bytes(VARDATA(bytes) + in_front, state->sums(), size);
    return bytes;
}

// The shape, then the sums, or the seed and the entries.
DP_FUNCTION(dp_cells_serialize) {
    aggregate_context(fcinfo);
    CellState *state = state_argument(fcinfo, 0);
    const Size size = shape_size(state->shape->nmeasures);
    const bool keyed = state->shape->keyed != 0;
    bytea *bytes = keyed ? pack_unit(unit_state(state), size + sizeof(uint64)) : pack_sums(state, size);
    char *at = put_bytes(VARDATA(bytes), state->shape, size);
    if (keyed)
        (void)put_bytes(at, &unit_state(state)->seed, sizeof(uint64));
    PG_RETURN_BYTEA_P(bytes);
}

// Nothing that was written becomes a place in memory unchecked.
static const CellShape *take_shape(border::Reader *reader) {
    const auto head = reader->take<CellShape>();
    bool fits =
        head.nmeasures >= 1 && head.nmeasures <= FUNC_MAX_ARGS && head.limit >= 1 && head.limit <= largest_contribution;
    auto *shape = static_cast<CellShape *>(palloc0(shape_size(fits ? head.nmeasures : 0)));
    *shape = head;
    int32 first = 0;
    for (int32 j = 0; fits && j < head.nmeasures; j++) {
        const auto measure = shape->measures[j] = reader->take<MeasureShape>();
        fits = measure.first == first && measure.coordinates >= 1 && measure.coordinates <= privacy::most_cells &&
               measure.values >= 0 && measure.values <= catalog::max_declared_rows &&
               (measure.values == 0 || (measure.coordinates == 1 && head.keyed != 0));
        first += measure.coordinates;
    }
    if (!fits || first != head.ncoordinates)
        elog(ERROR, "unexpected size of a transition state");
    return shape;
}

// Where values are kept there is a pointer: nothing that was written becomes one.
static void take_sums(const CellShape *shape, const char *sums, GroupEntry *entry) {
    for (int32 j = 0; j < shape->nmeasures; j++) {
        const MeasureShape &measure = shape->measures[j];
        if (measure.values == 0)
            memcpy(entry->values() + measure.first, sums + sizeof(int128) * measure.first,
                   sizeof(int128) * measure.coordinates);
    }
}

static UnitState *take_unit(border::Reader *reader, const CellShape *shape) {
    UnitState *state = make_unit_state(CurrentMemoryContext, shape, reader->take<uint64>());
    for (auto n = reader->take<int32>(); n > 0; n--) {
        GroupKey key;
        key.size = reader->take<uint32>();
        key.bytes = reader->take_bytes(key.size);
        key.hash = hash_of_group(state, key);
        const char *sums = reader->take_bytes(sizeof(int128) * shape->ncoordinates);
        GroupEntry *entry = keep_group(&state, key);
        if (entry != nullptr)
            take_sums(shape, sums, entry);
        for (int32 j = 0; j < shape->nmeasures; j++)
            if (shape->measures[j].values > 0)
                take_values(reader, state, entry, shape->measures[j]);
    }
    return state;
}

DP_FUNCTION(dp_cells_deserialize) {
    aggregate_context(fcinfo);
    const bytea *bytes = PG_GETARG_BYTEA_PP(0);
    border::Reader reader = {VARDATA_ANY(bytes), VARDATA_ANY(bytes) + VARSIZE_ANY_EXHDR(bytes)};
    const CellShape *shape = take_shape(&reader);
    if (shape->keyed != 0)
        PG_RETURN_POINTER(take_unit(&reader, shape));
    CellState *state = make_cell_state(CurrentMemoryContext, shape);
    const Size size = sizeof(int128) * shape->ncoordinates;
    memcpy(state->sums(), reader.take_bytes(size), size);
    PG_RETURN_POINTER(state);
}

// No bytes without rows: a NULL would tell an empty set from others.
DP_FUNCTION(dp_cells_final) {
    aggregate_context(fcinfo);
    CellState *state = state_argument(fcinfo, 0);
    if (state == nullptr)
        PG_RETURN_BYTEA_P(make_bytes(0));
    PG_RETURN_BYTEA_P(state->shape->keyed != 0 ? pack_unit(unit_state(state), 0) : pack_sums(state, 0));
}

} // namespace dp::rows
