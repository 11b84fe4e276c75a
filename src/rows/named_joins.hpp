// Columns of joins. The internal statement names none: the server needs no list of them. Whoever prints a statement as SQL does, and
// wants each join behind what it joins.
#pragma once

#include "border/postgres.hpp"

namespace dp::rows {

// Gives each join of a statement, and of those in its FROM, its columns.
void name_join_columns(Query *query);

} // namespace dp::rows
