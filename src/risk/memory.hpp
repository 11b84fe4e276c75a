// Limits what a call keeps in memory for as long as it looks at it.
#pragma once

#include "border/postgres.hpp"

namespace dp::risk {

// Returns the part of work_mem for each of the arrays that are kept at the same time.
Size share_of_memory();

// Refuses what needs more bytes than work_mem times hash_mem_multiplier and 80 MB: 53200, which suspends no analyst. what: "the exact
// risks of 5 records". instead: what else helps, after "or "; or null.
void check_memory(double bytes, const char *what, const char *instead);

} // namespace dp::risk
