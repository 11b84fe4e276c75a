// An answer as the controller's procedures return it.
#pragma once

#include "release/release.hpp"

namespace dp::sql {

// (epsilon, answer): a row of the procedure's result type; the answer's rows as a JSON array of objects; NULL where that
// would take too much memory: then they are in the cursor dp_answer. Ends their store.
Datum epsilon_and_answer(FunctionCallInfo fcinfo, const release::Answer *answer);

} // namespace dp::sql
