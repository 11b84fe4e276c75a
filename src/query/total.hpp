// Which functions may touch a private row: those that cannot fail, have no effects and cost O(row) (K3; architecture.md, 5).
// An error, a notice or a delay that only some rows cause would be an answer without noise.
#pragma once

#include "border/postgres.hpp"

namespace dp::query {

// May the function be applied to columns: a built-in that is leakproof, or is in the table of total.cpp.
bool is_total(Oid function);
// May the function be applied to constants and parameters alone: a built-in, immutable one; it is folded before the charge.
bool is_harmless_on_constants(Oid function);

} // namespace dp::query
