// Windows over the rows of one unit, in a sub-SELECT that keeps these rows (formulas.md, 9.18).
#pragma once

#include "query/leaf.hpp"

namespace dp::query {

// Whether some function over a window stands in what a level shows.
bool shows_window(const Query *level);

// Returns a call over a window as one over rows.
Aggref *call_of(const WindowFunc *call);

// Returns the window of a call.
const WindowClause *window_of(const Query *query, const WindowFunc *call);
// Checks the function, its arguments, and the frame. 0A000: another result than one of a person's rows as a set.
void check_window(const WindowFunc *call, const WindowClause *window, ParseState *source);

} // namespace dp::query
