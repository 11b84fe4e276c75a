// Reads the specification of a call of dp_rdr.cells, dp_rdr.point or dp_rdr.cell.
#pragma once

#include "rows/cell_site.hpp"

namespace dp::rows {

// Reads the specification, once for each call, into fn_extra. first: the first argument behind it. Anybody may call the functions on
// rows of his own: whatever he gives, sums have 128 bits, and no state is larger than that of a question may be. Errors: 22023,
// 0A000 for values that are no numbers.
CellSite *read_site(FunctionCallInfo fcinfo, int spec, int first);
[[noreturn]] void refuse_spec();

} // namespace dp::rows
