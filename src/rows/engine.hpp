// Who keeps a table's rows, where that decides how exact sums are asked for.
#pragma once

#include "border/postgres.hpp"

namespace dp::rows {

// Whether Citus keeps the table's rows on other nodes. It has partial sums computed there of aggregates that it knows, as
// sum(bigint). Others it calls for each row in a way that costs more than the row, or it gathers the rows.
bool is_on_other_nodes(Oid table);

} // namespace dp::rows
