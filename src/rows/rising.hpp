// Expressions that rise with the one column that they are over: of a larger value they are never less (formulas.md, 5.9).
#pragma once

#include "border/postgres.hpp"

namespace dp::rows {

// Tells whether an expression over dates, timestamps or whole numbers, whose constants are folded, is of a form that rises. Some forms do
// so in some time zones alone: that of the session is meant.
bool is_rising(Node *expression, const Var *column);
// Tells whether the session's time zone is UTC.
bool is_utc();

} // namespace dp::rows
