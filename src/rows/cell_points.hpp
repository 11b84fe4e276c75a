// Makes points of values: what a row adds to the coordinates that a specification names.
#pragma once

#include "rows/cell_site.hpp"

namespace dp::rows {

// Reads the candidates of a selection of epsilon (formulas.md, 3.4) behind the measures: sums of the selection take the place of theirs.
// False: the specification is not valid.
bool read_candidates(FunctionCallInfo fcinfo, CellSite *site, const SpecHeader &header, const char *bytes);
// Adds a row to the sums of a selection.
bool add_selection(FunctionCallInfo fcinfo, const CellSite *site, privacy::int128 *sums);
// Chooses add() and step for the measure and the kind of its values.
void set_adder(MeasureSite *site);
// Steps from one state without keys to the next.
Datum step_of_many(FunctionCallInfo fcinfo);
// Adds the measures of a row to its sums; no different values. Returns whether it brings anything.
inline bool add_row(FunctionCallInfo fcinfo, const CellSite *site, privacy::int128 *sums) {
    if (unlikely(site->ncandidates > 0))
        return add_selection(fcinfo, site, sums);
    bool added = false;
    for (int j = 0; j < site->nmeasures; j++) {
        const MeasureSite &measure = site->measures[j];
        if (!PG_ARGISNULL(site->first_measure + j))
            added |= measure.add(measure, PG_GETARG_DATUM(site->first_measure + j), sums + measure.first);
    }
    return added;
}
// Returns the cell of a value in the grid of the measure; none of a NaN.
std::optional<int> cell_of(const MeasureSite &site, Datum value);

} // namespace dp::rows
