#include "rows/cell_site.hpp"

#include <cmath>

#include "privacy/contribution.hpp"
#include "privacy/joint.hpp"
#include "privacy/joint_points.hpp"

#include "border/refuse.hpp"
#include "catalog/domain.hpp"
#include "rows/cell_points.hpp"
#include "rows/kept_values.hpp"

namespace dp::rows {

using privacy::MeasureKind;

void refuse_spec() {
    refuse_value("specification of cells is not valid", "dp_rdr alone makes them, for statements of its own.");
}

template <class T> static T lattice_from(const MeasureWords &words) {
    T lattice;
    static_assert(sizeof lattice <= sizeof words.lattice, "it has a place there");
    memcpy(&lattice, words.lattice, sizeof lattice);
    return lattice;
}

static privacy::Grid grid_from(const MeasureWords &words) {
    const auto read = lattice_from<GridWords>(words);
    if (read.cells < 1 || read.cells > privacy::most_cells || read.first > read.last)
        refuse_spec();
    privacy::Grid grid;
    grid.cells = static_cast<int>(read.cells);
    grid.of_points = read.of_points != 0;
    grid.first = read.first;
    grid.last = read.last;
    grid.scale = read.scale;
    grid.low = read.low;
    grid.high = read.high;
    return grid;
}

static bool plausible(const MeasureWords &words) {
    const bool counts = words.kind == static_cast<int64>(MeasureKind::count);
    return words.kind >= 0 && words.kind <= static_cast<int64>(MeasureKind::moments) && words.grain >= 1 &&
           words.grain <= static_cast<int64>(privacy::fine_grain) &&
           ((words.once == 0 && words.values == 0) || counts) && words.values >= 0 &&
           words.values <= catalog::max_declared_rows && words.sensitivity >= 1 && std::isfinite(words.sensitivity);
}

// A sum has points between its bounds, whatever its scale is.
static bool plausible(const privacy::SumLattice &lattice) {
    return std::isfinite(lattice.scale) && lattice.scale > 0 && lattice.z_lower <= lattice.z_upper;
}

// Dates and timestamps have a place among others, but no sum.
static ValueKind kind_of_value(MeasureKind measure, Oid type) {
    const Oid base = getBaseType(type);
    if (measure == MeasureKind::quantile && base == DATEOID)
        return ValueKind::int4;
    if (measure == MeasureKind::quantile && (base == TIMESTAMPOID || base == TIMESTAMPTZOID))
        return ValueKind::int8;
    return value_kind(type);
}

static void read_measure(MeasureSite *site, const char *bytes, Oid type) {
    memcpy(&site->words, bytes, sizeof site->words);
    if (!plausible(site->words))
        refuse_spec();
    const auto kind = static_cast<MeasureKind>(site->words.kind);
    if (privacy::is_joint(kind) != (type == POINTOID && kind != MeasureKind::count) ||
        (site->words.values > 0 && type != UUIDOID))
        refuse_spec();
    if (kind != MeasureKind::count && !privacy::is_joint(kind))
        site->kind = kind_of_value(kind, type);
    site->sum = lattice_from<privacy::SumLattice>(site->words);
    site->pair = lattice_from<privacy::JointLattice>(site->words);
    if (kind == MeasureKind::sum && !plausible(site->sum))
        refuse_spec();
    if (kind == MeasureKind::quantile)
        site->grid = grid_from(site->words);
    set_adder(site);
}

// Where the next measure begins. What one has beyond its own coordinates is none of the vector.
static void add_shape(CellShape *shape, const MeasureSite &site) {
    const auto kind = static_cast<MeasureKind>(site.words.kind);
    const int coordinates = kind == MeasureKind::quantile ? site.grid.cells : privacy::coordinates_of(kind);
    shape->measures[shape->nmeasures++] = {shape->ncoordinates, coordinates, static_cast<int32>(site.words.once != 0),
                                           static_cast<int32>(site.words.values)};
    shape->ncoordinates += coordinates;
}

static void read_measures(FunctionCallInfo fcinfo, CellSite *site, const char *bytes) {
    MemoryContext context = fcinfo->flinfo->fn_mcxt;
    site->measures = static_cast<MeasureSite *>(MemoryContextAllocZero(context, sizeof(MeasureSite) * site->nmeasures));
    site->shape = static_cast<CellShape *>(MemoryContextAllocZero(context, shape_size(site->nmeasures)));
    for (int j = 0; j < site->nmeasures; j++) {
        MeasureSite *measure = &site->measures[j];
        read_measure(measure, bytes + sizeof(MeasureWords) * j,
                     get_fn_expr_argtype(fcinfo->flinfo, site->first_measure + j));
        measure->first = site->shape->ncoordinates;
        add_shape(site->shape, *measure);
        site->keeps_values |= measure->words.values > 0;
    }
}

static void read_keys(FunctionCallInfo fcinfo, CellSite *site) {
    MemoryContext context = fcinfo->flinfo->fn_mcxt;
    Size size = 0;
    int64 values = 0;
    for (int j = 0; j < site->shape->nmeasures; j++)
        values += site->shape->measures[j].values == 0 ? 0 : largest_value_set(site->shape->measures[j].values);
    site->keys = static_cast<KeySite *>(MemoryContextAlloc(context, sizeof(KeySite) * (site->nkeys + 1)));
    for (int i = 0; i < site->nkeys; i++) {
        KeySite &key = site->keys[i];
        get_typlenbyval(get_fn_expr_argtype(fcinfo->flinfo, site->first_key + i), &key.length, &key.by_value);
        if (key.length == 0 || key.length < -1) // a literal without a type
            refuse_spec();
        size += key_size(key);
    }
    if (site->shape->limit > largest_contribution / (largest_entry(size, site->shape->ncoordinates) + values))
        refuse_spec();
    site->key = static_cast<char *>(MemoryContextAlloc(context, size + 1));
}

// Equal values have the same hash, whatever they look like.
static void read_units(FunctionCallInfo fcinfo, CellSite *site) {
    MemoryContext context = fcinfo->flinfo->fn_mcxt;
    const int nunits = site->first_key - site->first_unit;
    site->hash_units = static_cast<FmgrInfo *>(MemoryContextAlloc(context, sizeof(FmgrInfo) * (nunits + 1)));
    for (int i = 0; i < nunits; i++) {
        const Oid type = get_fn_expr_argtype(fcinfo->flinfo, site->first_unit + i);
        const TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_HASH_EXTENDED_PROC);
        if (!OidIsValid(entry->hash_extended_proc))
            refuse_spec();
        fmgr_info_cxt(entry->hash_extended_proc, &site->hash_units[i], context);
    }
}

static SpecHeader read_header(const char *bytes, Size size, int64 arguments) {
    SpecHeader header;
    if (size < sizeof header || size % sizeof(uint64) != 0)
        refuse_spec();
    memcpy(&header, bytes, sizeof header);
    if (header.units < 0 || header.units > catalog::max_unit_columns || header.keys < 0 || header.keys > arguments ||
        header.measures < 1 || header.measures > arguments ||
        header.units + header.keys + header.measures != arguments || header.limit < 1 ||
        header.limit > largest_contribution || header.candidates < 0 || header.candidates > most_candidates ||
        size != sizeof header + sizeof(MeasureWords) * header.measures + sizeof(CandidateWords) * header.candidates)
        refuse_spec();
    return header;
}

CellSite *read_site(FunctionCallInfo fcinfo, int spec, int first) {
    if (PG_ARGISNULL(spec))
        refuse_spec();
    const bytea *given = PG_GETARG_BYTEA_PP(spec);
    const Size size = VARSIZE_ANY_EXHDR(given);
    auto *bytes = static_cast<char *>(palloc(size + 1));
    memcpy(bytes, VARDATA_ANY(given), size);
    turn_words(bytes, size - size % sizeof(uint64));
    const SpecHeader header = read_header(bytes, size, PG_NARGS() - first);
    auto *site = static_cast<CellSite *>(MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(CellSite)));
    site->first_unit = first;
    site->first_key = first + static_cast<int>(header.units);
    site->first_measure = site->first_key + static_cast<int>(header.keys);
    site->nkeys = static_cast<int>(header.keys);
    site->nmeasures = static_cast<int>(header.measures);
    site->seed = header.seed;
    const char *measures = bytes + sizeof header;
    read_measures(fcinfo, site, measures);
    if (header.candidates > 0 &&
        !read_candidates(fcinfo, site, header, measures + sizeof(MeasureWords) * site->nmeasures))
        refuse_spec();
    site->shape->limit = static_cast<int32>(header.limit);
    site->shape->keyed = static_cast<int32>(site->nkeys > 0 || site->keeps_values);
    site->shape->cell = header.cell != 0 ? static_cast<int32>(key_size(cell_key)) : 0;
    read_keys(fcinfo, site);
    read_units(fcinfo, site);
    if (header.units > 0 && site->shape->keyed == 0)
        refuse_spec();
    site->step = site->nmeasures > 1 || site->ncandidates > 0 || site->first_measure != 2 ? step_of_many
                                                                                          : site->measures[0].step;
    fcinfo->flinfo->fn_extra = site;
    return site;
}

} // namespace dp::rows
