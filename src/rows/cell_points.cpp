#include "rows/cell_points.hpp"

#include <cmath>

#include "privacy/joint.hpp"
#include "privacy/joint_points.hpp"

namespace dp::rows {

using privacy::int128;
using privacy::MeasureKind;

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

// Reads y and x from a point of the server's.
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
        (void)add(site->measures[0], PG_GETARG_DATUM(2), reinterpret_cast<CellState *>(PG_GETARG_POINTER(0))->sums());
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

void set_adder(MeasureSite *site) {
    switch (static_cast<MeasureKind>(site->words.kind)) {
    case MeasureKind::count:
        return site->words.values > 0  ? set_adder<add_nothing>(site)
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

// ---- a selection ---------------------------------------------------------------------------------------------------

static bool plausible(const CandidateWords &words) {
    return std::isfinite(words.noise_term) && words.noise_term > 0 && words.least >= 0 &&
           words.least <= privacy::pair_one;
}

bool read_candidates(FunctionCallInfo fcinfo, CellSite *site, const SpecHeader &header, const char *bytes) {
    if (site->nkeys > 0)
        return false;
    site->ncandidates = static_cast<int>(header.candidates);
    site->candidates = static_cast<privacy::SvtCandidate *>(
        MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(privacy::SvtCandidate) * site->ncandidates));
    for (int j = 0; j < site->nmeasures; j++)
        if (site->measures[j].words.kind > static_cast<int64>(MeasureKind::triple) ||
            site->measures[j].words.values > 0)
            return false;
    for (int j = 0; j < site->ncandidates; j++) {
        CandidateWords words;
        memcpy(&words, bytes + sizeof words * j, sizeof words);
        if (!plausible(words))
            return false;
        privacy::SvtCandidate *candidate = &site->candidates[j];
        candidate->mechanism = header.gaussian != 0 ? privacy::Mechanism::gaussian : privacy::Mechanism::laplace;
        candidate->m = site->nmeasures;
        candidate->noise_term = words.noise_term;
        candidate->least = words.least;
    }
    site->shape->nmeasures = 1;
    site->shape->ncoordinates = 1 + 2 * site->ncandidates;
    site->shape->measures[0] = {0, site->shape->ncoordinates, 0, 0};
    return true;
}

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
bool add_selection(FunctionCallInfo fcinfo, const CellSite *site, int128 *sums) {
    const double pis = pis_of(fcinfo, site);
    *sums++ += 1;
    for (int j = 0; j < site->ncandidates; j++) {
        const int128 point = privacy::svt_point(site->candidates[j], pis);
        *sums++ += point;
        *sums++ += point * point;
    }
    return true;
}

} // namespace dp::rows
