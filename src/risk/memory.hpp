// What a call keeps in memory for as long as it looks at it: little beside a hash table of the server's, or refused.
#pragma once

#include "border/postgres.hpp"

namespace dp::risk {

// 53200 (which suspends no analyst) if so many bytes are more than work_mem times hash_mem_multiplier and 80 MB. what: "the exact risks of 5 records".
// instead: what else helps, after "or "; or null.
void check_memory(double bytes, const char *what, const char *instead);

} // namespace dp::risk
