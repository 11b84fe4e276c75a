// Sums of a selection of epsilon (formulas.md, 3.4), in the place of those of its measures.
#pragma once

#include "rows/cell_site.hpp"

namespace dp::rows {

// Reads the candidates behind the measures: one measure takes the place of them all. False: the specification is not valid.
bool read_candidates(FunctionCallInfo fcinfo, CellSite *site, const SpecHeader &header, const char *bytes);
// Adds a row to the sums of a selection.
bool add_selection(FunctionCallInfo fcinfo, const CellSite *site, privacy::int128 *sums);

} // namespace dp::rows
