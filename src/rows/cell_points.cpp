#include "rows/cell_points.hpp"

#include <cmath>

#include "privacy/contribution.hpp"
#include "privacy/joint.hpp"

#include "catalog/domain.hpp"

namespace dp::rows {

using privacy::int128;
using privacy::MeasureKind;

void refuse_spec() {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("specification of cells is not valid"),
                    errhint("dp_rdr alone makes them, for statements of its own.")));
    pg_unreachable();
}

// ---- the measures of a row -----------------------------------------------------------------------------------------

using AddPoint = bool (*)(const MeasureSite &site, Datum value, int128 *sums);

Datum step_of_many(FunctionCallInfo fcinfo) {
    const auto *site = static_cast<const CellSite *>(fcinfo->flinfo->fn_extra);
    auto *state = PG_ARGISNULL(0) ? nullptr : reinterpret_cast<CellState *>(PG_GETARG_POINTER(0));
    if (unlikely(state == nullptr))
        state = make_cell_state(aggregate_context(fcinfo), site->shape);
    (void)add_row(fcinfo, site, state->sums());
    return PointerGetDatum(state);
}

static bool add_count(const MeasureSite &site, Datum, int128 *sums) {
    sums[0] += site.words.grain;
    return true;
}

static bool add_once(const MeasureSite &site, Datum, int128 *sums) {
    sums[0] = site.words.grain;
    return true;
}

// keep_value() keeps it: there is no sum.
static bool add_nothing(const MeasureSite &, Datum, int128 *) {
    return true;
}

template <ValueKind kind> static bool add_sum(const MeasureSite &site, Datum value, int128 *sums) {
    const std::optional<std::int64_t> point = sum_point(site.sum, kind, value);
    if (point)
        sums[0] += *point;
    return point.has_value();
}

template <ValueKind kind> static bool add_pair(const MeasureSite &site, Datum value, int128 *sums) {
    const std::optional<std::int64_t> point = pair_point(site.pair.y, kind, value);
    if (point) {
        sums[0] += *point;
        sums[1] += privacy::pair_one - *point;
    }
    return point.has_value();
}

template <ValueKind kind> static bool add_triple(const MeasureSite &site, Datum value, int128 *sums) {
    const std::optional<privacy::TriplePoint> point = privacy::to_triple_point(site.pair.y, double_value(kind, value));
    if (point) {
        sums[0] += point->squares;
        sums[1] += privacy::pair_one - point->squares - point->rest;
        sums[2] += point->rest;
    }
    return point.has_value();
}

// Of a point of the server's, y and x.
template <MeasureKind kind> static bool add_joint(const MeasureSite &site, Datum value, int128 *sums) {
    const Point *both = DatumGetPointP(value);
    const std::optional<privacy::JointPoint> point =
        privacy::to_joint_point(site.pair, both->x, both->y, privacy::joint_one(kind));
    if (!point)
        return false;
    sums[0] += point->both;
    sums[1] += point->y_alone;
    sums[2] += point->x_alone;
    sums[3] += point->neither;
    if (kind == MeasureKind::moments) {
        sums[4] += point->y_spread;
        sums[5] += point->x_spread;
    }
    return true;
}

// Integers, dates and timestamps are their own points.
std::optional<int> cell_of(const MeasureSite &site, Datum value) {
    if (is_integer(site.kind) && site.grid.of_points && site.grid.scale == 1)
        return privacy::cell_of_point(site.grid, integer_value(site.kind, value));
    return privacy::cell_of_number(site.grid, double_value(site.kind, value));
}

static bool add_cell(const MeasureSite &site, Datum value, int128 *sums) {
    const std::optional<int> cell = cell_of(site, value);
    if (cell)
        sums[*cell] += 1;
    return cell.has_value();
}

// Steps where the call has no other measure: every row of a table comes by here, and adds are inlined.
template <AddPoint add> static Datum step_of_one(FunctionCallInfo fcinfo) {
    const auto *site = static_cast<const CellSite *>(fcinfo->flinfo->fn_extra);
    if (unlikely(PG_ARGISNULL(0)))
        return step_of_many(fcinfo);
    if (likely(!PG_ARGISNULL(2)))
        (void)add(site->measures[0], PG_GETARG_DATUM(2),
                  reinterpret_cast<CellState *>(PG_GETARG_POINTER(0))->sums());
    return PG_GETARG_DATUM(0);
}

template <AddPoint add> static void set_adder(MeasureSite *site) {
    site->add = add;
    site->step = step_of_one<add>;
}

template <ValueKind kind> static void set_adder_of_kind(MeasureSite *site) {
    switch (static_cast<MeasureKind>(site->words.kind)) {
    case MeasureKind::sum:
        return set_adder<add_sum<kind>>(site);
    case MeasureKind::pair:
        return set_adder<add_pair<kind>>(site);
    default:
        return set_adder<add_triple<kind>>(site);
    }
}

static void set_adder_of_values(MeasureSite *site) {
    switch (site->kind) {
    case ValueKind::int2:
        return set_adder_of_kind<ValueKind::int2>(site);
    case ValueKind::int4:
        return set_adder_of_kind<ValueKind::int4>(site);
    case ValueKind::int8:
        return set_adder_of_kind<ValueKind::int8>(site);
    case ValueKind::float4:
        return set_adder_of_kind<ValueKind::float4>(site);
    case ValueKind::float8:
        return set_adder_of_kind<ValueKind::float8>(site);
    case ValueKind::numeric:
        return set_adder_of_kind<ValueKind::numeric>(site);
    }
}

static void set_adder(MeasureSite *site) {
    switch (static_cast<MeasureKind>(site->words.kind)) {
    case MeasureKind::count:
        return site->words.values > 0    ? set_adder<add_nothing>(site)
               : site->words.once != 0 ? set_adder<add_once>(site)
                                         : set_adder<add_count>(site);
    case MeasureKind::quantile:
        return set_adder<add_cell>(site);
    case MeasureKind::products:
        return set_adder<add_joint<MeasureKind::products>>(site);
    case MeasureKind::moments:
        return set_adder<add_joint<MeasureKind::moments>>(site);
    default:
        return set_adder_of_values(site);
    }
}

// ---- a selection of epsilon ----------------------------------------------------------------------------------------

// Returns the part of one measure in a record's scaled PIS, in [0, 1]. COUNT(x) counts NaN; a pair does not.
static double part_of(const MeasureSite &site, Datum value) {
    if (site.words.kind == static_cast<int64>(MeasureKind::count))
        return 1;
    if (site.words.kind != static_cast<int64>(MeasureKind::sum))
        return std::isnan(double_value(site.kind, value)) ? 0 : 1;
    const std::optional<std::int64_t> point = sum_point(site.sum, site.kind, value);
    return Min(std::fabs(static_cast<double>(point.value_or(0))) / site.words.sensitivity, 1.0);
}

static double pis_of(FunctionCallInfo fcinfo, const CellSite *site) {
    const bool gaussian = site->candidates[0].mechanism == privacy::Mechanism::gaussian;
    double sum = 0;
    for (int j = 0; j < site->nmeasures; j++) {
        if (PG_ARGISNULL(site->first_measure + j))
            continue;
        const double part = part_of(site->measures[j], PG_GETARG_DATUM(site->first_measure + j));
        sum += gaussian ? part * part : part;
    }
    return gaussian ? std::sqrt(sum) : sum;
}

// Adds 1, and of each candidate the point of the row and its square.
static bool add_selection(FunctionCallInfo fcinfo, const CellSite *site, int128 *sums) {
    const double pis = pis_of(fcinfo, site);
    *sums++ += 1;
    for (int j = 0; j < site->ncandidates; j++) {
        const int128 point = privacy::svt_point(site->candidates[j], pis);
        *sums++ += point;
        *sums++ += point * point;
    }
    return true;
}

bool add_row(FunctionCallInfo fcinfo, const CellSite *site, int128 *sums) {
    if (site->ncandidates > 0)
        return add_selection(fcinfo, site, sums);
    bool added = false;
    for (int j = 0; j < site->nmeasures; j++) {
        const MeasureSite &measure = site->measures[j];
        if (!PG_ARGISNULL(site->first_measure + j))
            added |= measure.add(measure, PG_GETARG_DATUM(site->first_measure + j), sums + measure.first);
    }
    return added;
}

// ---- reading a specification ---------------------------------------------------------------------------------------

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
           words.grain <= static_cast<int64>(privacy::fine_grain) && ((words.once == 0 && words.values == 0) || counts) &&
           words.values >= 0 && words.values <= catalog::max_declared_rows && words.sensitivity >= 1 &&
           std::isfinite(words.sensitivity);
}

// A sum has points between its bounds, whatever its scale is.
static bool plausible(const privacy::SumLattice &lattice) {
    return std::isfinite(lattice.scale) && lattice.scale > 0 && lattice.z_lower <= lattice.z_upper;
}

static bool plausible(const CandidateWords &words) {
    return std::isfinite(words.noise_term) && words.noise_term > 0 && words.least >= 0 &&
           words.least <= privacy::pair_one;
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
    shape->keyed |= static_cast<int32>(site.words.values > 0);
}

static void read_measures(FunctionCallInfo fcinfo, CellSite *site, const char *bytes) {
    MemoryContext context = fcinfo->flinfo->fn_mcxt;
    site->measures =
        static_cast<MeasureSite *>(MemoryContextAllocZero(context, sizeof(MeasureSite) * site->nmeasures));
    site->shape = static_cast<CellShape *>(MemoryContextAllocZero(context, shape_size(site->nmeasures)));
    for (int j = 0; j < site->nmeasures; j++) {
        MeasureSite *measure = &site->measures[j];
        read_measure(measure, bytes + sizeof(MeasureWords) * j,
                     get_fn_expr_argtype(fcinfo->flinfo, site->first_measure + j));
        measure->first = site->shape->ncoordinates;
        add_shape(site->shape, *measure);
    }
}

// One measure takes the place of them all.
static void read_candidates(FunctionCallInfo fcinfo, CellSite *site, const SpecHeader &header, const char *bytes) {
    if (header.candidates == 0)
        return;
    if (site->nkeys > 0)
        refuse_spec();
    site->ncandidates = static_cast<int>(header.candidates);
    site->candidates = static_cast<privacy::SvtCandidate *>(
        MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(privacy::SvtCandidate) * site->ncandidates));
    for (int j = 0; j < site->nmeasures; j++)
        if (site->measures[j].words.kind > static_cast<int64>(MeasureKind::triple) ||
            site->measures[j].words.values > 0)
            refuse_spec();
    for (int j = 0; j < site->ncandidates; j++) {
        CandidateWords words;
        memcpy(&words, bytes + sizeof words * j, sizeof words);
        if (!plausible(words))
            refuse_spec();
        privacy::SvtCandidate *candidate = &site->candidates[j];
        candidate->mechanism = header.gaussian != 0 ? privacy::Mechanism::gaussian : privacy::Mechanism::laplace;
        candidate->m = site->nmeasures;
        candidate->noise_term = words.noise_term;
        candidate->least = words.least;
    }
    site->shape->nmeasures = 1;
    site->shape->ncoordinates = 1 + 2 * site->ncandidates;
    site->shape->measures[0] = {0, site->shape->ncoordinates, 0, 0};
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
    read_candidates(fcinfo, site, header, measures + sizeof(MeasureWords) * site->nmeasures);
    site->shape->limit = static_cast<int32>(header.limit);
    site->shape->keyed |= static_cast<int32>(site->nkeys > 0);
    read_keys(fcinfo, site);
    read_units(fcinfo, site);
    site->sums = static_cast<int128 *>(
        MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof(int128) * site->shape->ncoordinates));
    site->step = site->nmeasures > 1 || site->ncandidates > 0 || first != 2 ? step_of_many : site->measures[0].step;
    fcinfo->flinfo->fn_extra = site;
    return site;
}

} // namespace dp::rows
