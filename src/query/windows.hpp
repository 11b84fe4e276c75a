// Windows over the rows of one unit, in a sub-SELECT that keeps these rows (formulas.md, 9.18).
#pragma once

#include "query/leaf.hpp"

namespace dp::query {

// Whether a level keeps its rows, and has functions over windows.
bool keeps_rows(const Query *level);

// Returns a call over a window as one over rows.
Aggref *call_of(const WindowFunc *call);

// Returns the window of a call.
const WindowClause *window_of(const Query *query, const WindowFunc *call);
// Checks the function, its arguments, and the frame. 0A000: another result than one of a person's rows as a set.
void check_window(const WindowFunc *call, const WindowClause *window, ParseState *source);
// Refuses functions over windows that may hold rows of several people (0A000).
void refuse_window(const Query *query, ParseState *source);

} // namespace dp::query
