// Rows that are handed out by a cursor.
#pragma once

#include "border/postgres.hpp"

namespace dp::border {

// Whether a cursor may stay behind here: not where a table's owner has code run by others (maintenance).
bool can_hold_rows();

// Leaves an open cursor behind as DECLARE ... WITH HOLD does: it has these rows from their start, on disk beyond work_mem, and
// lives until it is closed or the session ends. One of the same name is closed. source: what pg_cursors shows.
void hold_rows(const char *name, const char *source, TupleDesc desc, Tuplestorestate *rows);

} // namespace dp::border
