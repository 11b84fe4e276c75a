// Whether the extension in this database is of the version of the library. An administrator who installs a new library
// updates his databases one by one, and until then its SQL functions are called with the arguments, and meet the
// tables, of an older version. What a caller meets first asks here (DP_CALL, the planner hook, the keeper) and gets an
// error that says so; what ALTER EXTENSION, DROP, dumps and pg_upgrade need never asks.
#pragma once

#include "border/postgres.hpp"

namespace dp::border {

constexpr char library_version[] = "0.2.0"; // default_version of dp_rdr.control

// 55000 with the two versions unless they are the same, or there is no such extension. One look at pg_extension for
// each process, and for each change of any relation's or function's definition that the process hears of: an update
// script changes some. Needs a transaction. Reads no table of the extension's.
void check_version();

} // namespace dp::border
