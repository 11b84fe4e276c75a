// The aggregate dp_rdr.contribution. Anybody may call it on rows of his own: whatever it is told, it refuses, or adds something
// up in the memory that a question may have.
#include <cmath>

#include "privacy/contribution.hpp"
#include "privacy/joint.hpp"
#include "privacy/triple.hpp"

#include "border/bytes.hpp"
#include "border/guard.hpp"
#include "catalog/domain.hpp"
#include "rows/contribution_facts.hpp"
#include "rows/sums.hpp"

namespace dp::rows {

namespace {

using privacy::int128;

UnitState *unit_state(FunctionCallInfo fcinfo, int i) {
    return PG_ARGISNULL(i) ? nullptr : reinterpret_cast<UnitState *>(PG_GETARG_POINTER(i));
}

// ---- what a row adds -----------------------------------------------------------------------------------------------

struct MeasureSite {
    MeasureWords facts;
    int coordinate; // its first
    void (*add)(const MeasureSite *site, Datum value, int128 *values);
};

// What is known of a call before its first row.
struct Site {
    UnitShape shape;
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

// Kept by keep_value: no sum.
void add_nothing(const MeasureSite *, Datum, int128 *) {}

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

template <privacy::MeasureKind kind> void add_joint(const MeasureSite *site, Datum value, int128 *values) {
    const privacy::JointLattice lattice = {site->facts.pair, site->facts.second};
    const std::optional<privacy::JointPoint> point = joint_point(lattice, privacy::joint_one(kind), value);
    if (!point)
        return;
    values[0] += point->both;
    values[1] += point->y_alone;
    values[2] += point->x_alone;
    values[3] += point->neither;
    if (kind == privacy::MeasureKind::moments) {
        values[4] += point->y_spread;
        values[5] += point->x_spread;
    }
}

template <ValueKind kind> auto adder_of_kind(privacy::MeasureKind measure) {
    return measure == privacy::MeasureKind::sum    ? add_sum<kind>
           : measure == privacy::MeasureKind::pair ? add_pair<kind>
                                                   : add_triple<kind>;
}

auto adder_of_values(privacy::MeasureKind measure, ValueKind kind) {
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

// Of the values of that type.
auto adder(privacy::MeasureKind measure, Oid type) {
    if (privacy::is_joint(measure) != (type == POINTOID))
        refuse_facts();
    return measure == privacy::MeasureKind::products  ? add_joint<privacy::MeasureKind::products>
           : measure == privacy::MeasureKind::moments ? add_joint<privacy::MeasureKind::moments>
                                                      : adder_of_values(measure, value_kind(type));
}

// Who calls the aggregate on rows of his own may tell it anything: whatever it is, sums have 128 bits.
bool plausible(const MeasureWords &facts) {
    return facts.kind >= 0 && facts.kind <= static_cast<int64>(privacy::MeasureKind::moments) &&
           facts.kind != static_cast<int64>(privacy::MeasureKind::quantile) && facts.grain >= 1 &&
           facts.grain <= static_cast<int64>(privacy::fine_grain) &&
           ((facts.once == 0 && facts.values == 0) || facts.kind == static_cast<int64>(privacy::MeasureKind::count)) &&
           facts.values >= 0 && facts.values <= catalog::max_declared_rows && std::isfinite(facts.sum.scale) &&
           facts.sum.scale > 0 && facts.sum.z_lower <= facts.sum.z_upper;
}

void read_keys(FunctionCallInfo fcinfo, Site *site) {
    MemoryContext context = fcinfo->flinfo->fn_mcxt;
    Size size = 0;
    int64 values = 0;
    for (int32 c = 0; c < site->shape.ncoordinates; c++)
        values += site->shape.values[c] == 0 ? 0 : largest_value_set(site->shape.values[c]);
    site->keys = static_cast<KeySite *>(MemoryContextAlloc(context, sizeof(KeySite) * (site->nkeys + 1)));
    for (int i = 0; i < site->nkeys; i++) {
        KeySite &key = site->keys[i];
        get_typlenbyval(get_fn_expr_argtype(fcinfo->flinfo, site->first_key + i), &key.length, &key.by_value);
        if (key.length == 0 || key.length < -1) // a literal without a type
            refuse_facts();
        size += key_size(key);
    }
    if (site->shape.limit > largest_contribution / (largest_entry(size, site->shape.ncoordinates) + values))
        refuse_facts();
    site->key = static_cast<char *>(MemoryContextAlloc(context, size + 1));
}

void read_measures(FunctionCallInfo fcinfo, Site *site, const char *bytes) {
    site->measures = static_cast<MeasureSite *>(
        MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(MeasureSite) * site->nmeasures));
    for (int j = 0; j < site->nmeasures; j++) {
        MeasureSite &measure = site->measures[j];
        memcpy(&measure.facts, bytes + sizeof(MeasureWords) * j, sizeof(MeasureWords));
        if (!plausible(measure.facts))
            refuse_facts();
        const auto kind = static_cast<privacy::MeasureKind>(measure.facts.kind);
        measure.coordinate = site->shape.ncoordinates;
        if (site->shape.ncoordinates + privacy::coordinates_of(kind) > max_group_coordinates)
            refuse_facts();
        site->shape.once[measure.coordinate] = measure.facts.once != 0;
        site->shape.values[measure.coordinate] = static_cast<int32>(measure.facts.values);
        if (measure.facts.values > 0 && get_fn_expr_argtype(fcinfo->flinfo, site->first_measure + j) != UUIDOID)
            refuse_facts();
        site->shape.ncoordinates += privacy::coordinates_of(kind);
        measure.add = kind != privacy::MeasureKind::count
                          ? adder(kind, get_fn_expr_argtype(fcinfo->flinfo, site->first_measure + j))
                      : measure.facts.values > 0 ? add_nothing
                      : measure.facts.once != 0  ? add_once
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
    ContributionHeader header;
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
        header.limit > largest_contribution || size != sizeof header + sizeof(MeasureWords) * header.measures)
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

GroupKey read_key(FunctionCallInfo fcinfo, const Site *site) {
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

uint64 hash_of(const UnitState *state, const GroupKey &key) {
    return privacy::group_hash(state->seed, reinterpret_cast<const unsigned char *>(key.bytes), key.size);
}

GroupEntry *entry_of_row(FunctionCallInfo fcinfo, const Site *site, UnitState **state) {
    if (site->nkeys == 0 && (*state)->nentries > 0)
        return entry_at(*state, 0);
    GroupKey key = read_key(fcinfo, site);
    key.hash = hash_of(*state, key);
    return keep_group(state, key);
}

privacy::ValueDigest digest_of(Datum value) {
    privacy::ValueDigest digest;
    static_assert(sizeof digest == UUID_LEN, "a digest is a uuid");
    memcpy(digest.words, DatumGetUUIDP(value)->data, sizeof digest);
    return digest;
}

} // namespace

DP_FUNCTION(dp_contribution_step) {
    auto *site = static_cast<const Site *>(fcinfo->flinfo->fn_extra);
    if (unlikely(site == nullptr))
        site = read_site(fcinfo);
    UnitState *state = unit_state(fcinfo, 0);
    if (unlikely(state == nullptr))
        state = make_unit_state(aggregate_context(fcinfo), &site->shape, seed_of_unit(fcinfo, site));
    GroupEntry *entry = entry_of_row(fcinfo, site, &state);
    if (entry != nullptr)
        for (int j = 0; j < site->nmeasures; j++) {
            const MeasureSite *measure = &site->measures[j];
            if (PG_ARGISNULL(site->first_measure + j))
                continue;
            if (measure->facts.values > 0)
                keep_value(state, entry, measure->coordinate, digest_of(PG_GETARG_DATUM(site->first_measure + j)));
            else
                measure->add(measure, PG_GETARG_DATUM(site->first_measure + j), entry->values() + measure->coordinate);
        }
    PG_RETURN_POINTER(state);
}

// ---- partial states ------------------------------------------------------------------------------------------------

// The shape as long as the states that have it.
static const UnitShape *shape_of_call(FunctionCallInfo fcinfo, const UnitShape *other) {
    auto *shape = static_cast<UnitShape *>(fcinfo->flinfo->fn_extra);
    if (shape == nullptr) {
        shape = static_cast<UnitShape *>(MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof(UnitShape)));
        *shape = *other;
        fcinfo->flinfo->fn_extra = shape;
    }
    return shape;
}

static bool same_shape(const UnitShape *a, const UnitShape *b) {
    return a->limit == b->limit && a->ncoordinates == b->ncoordinates &&
           memcmp(a->once, b->once, sizeof(bool) * a->ncoordinates) == 0 &&
           memcmp(a->values, b->values, sizeof(int32) * a->ncoordinates) == 0;
}

static void add_values(UnitState *state, GroupEntry *into, const UnitState *other, GroupEntry *from) {
    for (int32 c = 0; c < state->shape->ncoordinates; c++) {
        const ValueSet *values = state->shape->values[c] == 0 ? nullptr : values_of(other, from, c);
        for (int32 i = 0; values != nullptr && i < values->n; i++)
            keep_value(state, into, c, values->values[i].value);
    }
}

DP_FUNCTION(dp_contribution_combine) {
    MemoryContext context = aggregate_context(fcinfo);
    UnitState *state = unit_state(fcinfo, 0);
    UnitState *other = unit_state(fcinfo, 1);
    if (other != nullptr) {
        if (state == nullptr) // a worker's state does not live as long as the aggregation
            state = make_unit_state(context, shape_of_call(fcinfo, other->shape), other->seed);
        if (!same_shape(state->shape, other->shape) || state->seed != other->seed)
            elog(ERROR, "unexpected transition state");
        for (int32 i = 0; i < other->nentries; i++) {
            if (GroupEntry *into = keep_group(&state, key_at(other, i))) {
                add_sums(state->shape, into->values(), entry_at(other, i)->values());
                add_values(state, into, other, entry_at(other, i));
            }
        }
    }
    if (state == nullptr)
        PG_RETURN_NULL();
    PG_RETURN_POINTER(state);
}

// Of the values of one coordinate, entry by entry.
static Size bytes_of_values(UnitState *state, int32 coordinate) {
    Size size = 0;
    for (int32 i = 0; i < state->nentries; i++) {
        const ValueSet *values = values_of(state, entry_at(state, i), coordinate);
        size += sizeof(int32) + (values == nullptr ? 0 : sizeof(PackedValue) * values->n);
    }
    return size;
}

static Size bytes_of_entries(UnitState *state) {
    Size size = 0;
    for (int32 i = 0; i < state->nentries; i++)
        size += sizeof(uint32) + entry_at(state, i)->size + sizeof(int128) * state->shape->ncoordinates;
    for (int32 c = 0; c < state->shape->ncoordinates; c++)
        if (state->shape->values[c] > 0)
            size += bytes_of_values(state, c);
    return size;
}

// A coordinate that keeps values has no sum.
static char *put_entry(const UnitState *state, const GroupEntry *entry, char *at) {
    at = put_bytes(at, &entry->size, sizeof entry->size);
    at = put_bytes(at, entry->bytes(), entry->size);
    for (int32 c = 0; c < state->shape->ncoordinates; c++) {
        const int128 sum = state->shape->values[c] > 0 ? int128{0} : entry->values()[c];
        at = put_bytes(at, &sum, sizeof sum);
    }
    return at;
}

static char *put_values(const ValueSet *values, char *at) {
    const int32 n = values == nullptr ? 0 : values->n;
    at = put_bytes(at, &n, sizeof n);
    for (int32 i = 0; i < n; i++) {
        const PackedValue packed = {values->values[i].hash, values->values[i].value};
        at = put_bytes(at, &packed, sizeof packed);
    }
    return at;
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
    UnitState *state = unit_state(fcinfo, 0);
    const UnitShape *shape = state->shape;
    const Packed packed = {state->seed, state->nentries, shape->limit, shape->ncoordinates};
    bytea *bytes =
        make_bytes(sizeof packed + (sizeof(bool) + sizeof(int32)) * shape->ncoordinates + bytes_of_entries(state));
    char *at = put_bytes(VARDATA(bytes), &packed, sizeof packed);
    at = put_bytes(at, shape->once, sizeof(bool) * shape->ncoordinates);
    at = put_bytes(at, shape->values, sizeof(int32) * shape->ncoordinates);
    for (int32 i = 0; i < state->nentries; i++) {
        at = put_entry(state, entry_at(state, i), at);
        for (int32 c = 0; c < shape->ncoordinates; c++)
            if (shape->values[c] > 0)
                at = put_values(values_of(state, entry_at(state, i), c), at);
    }
    PG_RETURN_BYTEA_P(bytes);
}

static const UnitShape *take_shape(const Packed &packed, border::Reader *reader) {
    if (packed.limit < 1 || packed.limit > largest_contribution || packed.ncoordinates < 1 ||
        packed.ncoordinates > max_group_coordinates)
        elog(ERROR, "unexpected size of a transition state");
    auto *shape = static_cast<UnitShape *>(palloc0(sizeof(UnitShape)));
    shape->limit = packed.limit;
    shape->ncoordinates = packed.ncoordinates;
    for (int32 c = 0; c < packed.ncoordinates; c++)
        shape->once[c] = *reader->take_bytes(1) != 0;
    for (int32 c = 0; c < packed.ncoordinates; c++) {
        shape->values[c] = reader->take<int32>();
        if (shape->values[c] < 0 || shape->values[c] > catalog::max_declared_rows)
            elog(ERROR, "unexpected size of a transition state");
    }
    return shape;
}

// Where values are kept there is a pointer: nothing that was written becomes one.
static void take_sums(const UnitShape *shape, const char *values, GroupEntry *entry) {
    for (int32 c = 0; c < shape->ncoordinates; c++)
        if (shape->values[c] == 0)
            memcpy(entry->values() + c, values + sizeof(int128) * c, sizeof(int128));
}

static void take_values(border::Reader *reader, UnitState *state, GroupEntry *entry, int32 coordinate) {
    for (auto n = reader->take<int32>(); n > 0; n--) {
        const auto packed = reader->take<PackedValue>();
        if (entry != nullptr)
            keep_value(state, entry, coordinate, packed.value);
    }
}

DP_FUNCTION(dp_contribution_deserialize) {
    aggregate_context(fcinfo);
    const bytea *bytes = PG_GETARG_BYTEA_PP(0);
    border::Reader reader = {VARDATA_ANY(bytes), VARDATA_ANY(bytes) + VARSIZE_ANY_EXHDR(bytes)};
    const auto packed = reader.take<Packed>();
    const UnitShape *shape = take_shape(packed, &reader);
    UnitState *state = make_unit_state(CurrentMemoryContext, shape, packed.seed);
    for (int32 i = 0; i < packed.nentries; i++) {
        GroupKey key;
        key.size = reader.take<uint32>();
        key.bytes = reader.take_bytes(key.size);
        key.hash = hash_of(state, key);
        const char *values = reader.take_bytes(sizeof(int128) * shape->ncoordinates);
        GroupEntry *entry = keep_group(&state, key);
        if (entry != nullptr)
            take_sums(shape, values, entry);
        for (int32 c = 0; c < shape->ncoordinates; c++)
            if (shape->values[c] > 0)
                take_values(&reader, state, entry, c);
    }
    PG_RETURN_POINTER(state);
}

namespace {
struct Listed {
    GroupKey key;
    GroupEntry *entry;
};
} // namespace

static int compare_listed(const void *a, const void *b) {
    return compare_groups(static_cast<const Listed *>(a)->key, static_cast<const Listed *>(b)->key);
}

// Entries in their order, so that the same rows make the same bytes.
DP_FUNCTION(dp_contribution_final) {
    aggregate_context(fcinfo);
    UnitState *state = unit_state(fcinfo, 0);
    if (state == nullptr)
        PG_RETURN_NULL();
    auto *list = static_cast<Listed *>(palloc(sizeof(Listed) * (state->nentries + 1)));
    for (int32 i = 0; i < state->nentries; i++)
        list[i] = {key_at(state, i), entry_at(state, i)};
    if (state->nentries > 1)
        qsort(list, state->nentries, sizeof(Listed), compare_listed);
    bytea *bytes = make_bytes(sizeof(int32) + bytes_of_entries(state));
    char *at = put_bytes(VARDATA(bytes), &state->nentries, sizeof(int32));
    for (int32 i = 0; i < state->nentries; i++)
        at = put_entry(state, list[i].entry, at);
    for (int32 c = 0; c < state->shape->ncoordinates; c++)
        for (int32 i = 0; state->shape->values[c] > 0 && i < state->nentries; i++)
            at = put_values(values_of(state, list[i].entry, c), at);
    PG_RETURN_BYTEA_P(bytes);
}

} // namespace dp::rows
