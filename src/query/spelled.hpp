// Functions that say what others say: the rest of the grammar knows only those.
#pragma once

#include "border/postgres.hpp"

namespace dp::query {

// On all levels, in place: concat(x, ...) becomes coalesce(x::text, '') || ..., and concat_ws('-', x, ...) the same with a constant
// before each that is there. Of values whose cast to text is what concat shows of them; other calls stay as they are.
void spell_out(Query *query);

} // namespace dp::query
