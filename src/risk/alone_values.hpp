// Finds the values that one person alone has (formulas.md 9.11): what count(DISTINCT x) loses with the person.
#pragma once

#include "risk/memo.hpp"

namespace dp::risk {

struct AloneValues;

AloneValues *begin_alone_values();
// digest: sixteen bytes. part: of the person who has it, among those of the memo; individuals: people who are the same.
void add_alone_value(AloneValues *values, int group, int coordinate, const void *digest, int64 part, int64 individuals);
// Adds values that nobody else has to the changes of their parts; count: and all different ones to the sums of their groups.
void finish_alone_values(AloneValues *values, Memo *memo, bool count);

} // namespace dp::risk
