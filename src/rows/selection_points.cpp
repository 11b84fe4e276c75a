#include "rows/selection_points.hpp"

#include <cmath>

namespace dp::rows {

using privacy::int128;
using privacy::MeasureKind;

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
